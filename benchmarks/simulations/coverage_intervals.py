"""
How often 95 % intervals hold the truth about tasks like these.

Every task has its own success rate, drawn from the distribution named in the table; the truth is
the mean over that distribution.  Where the attempts are scored on a scale, a score is ``u^(1/a)``
for a uniform *u*, with *a* the odds of the rate, so that its mean is the rate; where they vote,
two wrong answers share the failures 2 to 1.  Clustered tasks share one rate within a cluster.

    python -m benchmarks.simulations.coverage_intervals [--seed 1] [--repetitions 100] [--sweep]

The pages of the docs name the repetitions that their figures come from.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import scorekit
from benchmarks.machine import machine

Floats = NDArray[np.float64]
Rng = np.random.Generator
Rates = tuple[float, float] | float
"""Both parameters of a beta distribution, or the one rate that all tasks have."""
Estimate = (
    scorekit.PassAtK
    | scorekit.PassHatK
    | scorekit.GPassAtK
    | scorekit.BestAtK
    | scorekit.MajorityAtK
)

GRID = 20_000
CLUSTER = 5


def draw(rng: Rng, rates: Rates, size: int) -> Floats:
    """Return success rates of tasks."""
    return np.full(size, rates) if isinstance(rates, float) else rng.beta(*rates, size)


def named(rates: Rates) -> str:
    """Return what the table calls the rates."""
    return f"all {rates:g}" if isinstance(rates, float) else "Beta({:g}, {:g})".format(*rates)


def expected(rates: Rates, function: Callable[[Floats], Floats]) -> float:
    """Return the mean of *function* over the distribution of rates."""
    if isinstance(rates, float):
        return float(function(np.array([rates]))[0])
    points = stats.beta.ppf((np.arange(GRID) + 0.5) / GRID, *rates)
    return float(function(np.clip(points, 1e-300, 1 - 1e-16)).mean())


def pass_at_k(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Draw and estimate; the next ones likewise."""
    n_correct = rng.binomial(n, rates)
    return scorekit.pass_at_k(n_samples=np.full(rates.size, n), n_correct=n_correct, k=k)


def pass_at_k_clustered(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Give each cluster the rate of its first task."""
    labels = np.arange(rates.size) // CLUSTER
    n_correct = rng.binomial(n, rates[labels * CLUSTER])
    n_samples = np.full(rates.size, n)
    return scorekit.pass_at_k(n_samples=n_samples, n_correct=n_correct, k=k, clusters=labels)


def pass_at_k_uneven(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Let the first cluster hold two tasks in five, each other one three tasks."""
    head = rates.size * 2 // 5
    labels = np.maximum(np.arange(rates.size) - head, -1) // 3
    n_correct = rng.binomial(n, rates[labels])
    n_samples = np.full(rates.size, n)
    return scorekit.pass_at_k(n_samples=n_samples, n_correct=n_correct, k=k, clusters=labels)


def pass_hat_k(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Draw and estimate."""
    n_correct = rng.binomial(n, rates)
    return scorekit.pass_hat_k(n_samples=np.full(rates.size, n), n_correct=n_correct, k=k)


def g_pass_at_k(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Draw and estimate."""
    n_correct = rng.binomial(n, rates)
    return scorekit.g_pass_at_k(n_samples=np.full(rates.size, n), n_correct=n_correct, k=k)


def best_at_k(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Draw and estimate."""
    odds = rates / np.maximum(1.0 - rates, 1e-16)
    return scorekit.best_at_k(list(rng.random((rates.size, n)) ** (1.0 / odds[:, None])), k=k)


def majority_at_k(rng: Rng, rates: Floats, n: int, k: int) -> Estimate:
    """Draw and estimate."""
    shares = np.column_stack([rates, (1 - rates) * 2 / 3, (1 - rates) / 3])
    votes = [dict(enumerate(rng.multinomial(n, share).tolist())) for share in shares]
    return scorekit.majority_at_k(votes, correct=[0] * rates.size, k=k)


def vote(rates: Floats, k: int) -> Floats:
    """Return the chance that the first of three answers wins, ties broken at random."""
    total = np.zeros_like(rates)
    for a in range(1, k + 1):
        for b in range(min(a, k - a) + 1):
            c = k - a - b
            if c <= a:
                ways = math.comb(k, a) * math.comb(k - a, b) / (1 + (a == b) + (a == c))
                total += ways * rates**a * ((1 - rates) * 2 / 3) ** b * ((1 - rates) / 3) ** c
    return total


class Row(NamedTuple):
    """One configuration."""

    name: str
    estimate: Callable[[Rng, Floats, int, int], Estimate]
    truth: Callable[[Floats, int], Floats]
    n_tasks: int
    n: int
    k: int
    rates: Rates


def one_of(r: Floats, k: int) -> Floats:
    """Return the chance of a success in *k* attempts."""
    chance: Floats = -np.expm1(k * np.log1p(-r))
    return chance


def enough_of(r: Floats, k: int) -> Floats:
    """Return the chance of half of *k* attempts."""
    return np.asarray(stats.binom.sf(math.ceil(k / 2) - 1, k, r))


def best_of(r: Floats, k: int) -> Floats:
    """Return the expected best of *k* scores."""
    return r * k / (r * k + 1 - r)


HALVES = (0.5, 0.5)
MEANS = (0.002, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.998)
SPREADS = (0.5, 1.0, 2.0, 4.0, 20.0, math.inf)
"""Sums of both parameters of the beta distribution."""
DESIGNS = ((10, 10, 3), (164, 10, 3), (30, 4, 1), (20, 1, 1), (10, 10, 10))
ROWS = [
    *(
        Row("pass_at_k", pass_at_k, one_of, *design, rates)
        for rates in (HALVES, (1.0, 1.0), (2.0, 2.0), (1.0, 3.0), 0.5)
        for design in DESIGNS
    ),
    *(
        Row("pass_at_k", pass_at_k, one_of, 30, 5, 1, rates)
        for rates in (0.02, (1.0, 49.0), (0.1, 4.9))
    ),
    *(
        Row("pass_at_k", pass_at_k, one_of, *design, rates)
        for design, rates in (
            ((10, 10, 10), (5.0, 5.0)),
            ((20, 1, 1), 0.02),
            ((164, 1, 1), 0.02),
            ((164, 10, 3), (0.49, 0.01)),
        )
    ),
    *(
        Row("pass_at_k, clusters of 5", pass_at_k_clustered, one_of, *design, HALVES)
        for design in ((50, 5, 1), (150, 5, 1), (150, 10, 3))
    ),
    *(
        Row("pass_at_k, uneven clusters", pass_at_k_uneven, one_of, *design, HALVES)
        for design in ((50, 5, 1), (150, 5, 1))
    ),
    *(
        Row(name, estimate, truth, *design, HALVES)
        for name, estimate, truth in (
            ("pass_hat_k", pass_hat_k, lambda r, k: r**k),
            ("g_pass_at_k, tau 0.5", g_pass_at_k, enough_of),
            ("best_at_k", best_at_k, best_of),
            ("majority_at_k", majority_at_k, vote),
        )
        for design in ((10, 10, 5), (30, 10, 5), (10, 10, 10))
    ),
]


def covered(row: Row, repetitions: int, seed: int) -> tuple[float, float, float]:
    """Return how often intervals lie too high and too low, and their mean width."""
    rng = np.random.default_rng(seed)
    truth = expected(row.rates, lambda r: row.truth(r, row.k))
    ends = np.empty((repetitions, 2))
    for i in range(repetitions):
        rates = draw(rng, row.rates, row.n_tasks)
        interval = row.estimate(rng, rates, row.n, row.k).interval
        ends[i] = interval.low, interval.high
    high = float((ends[:, 0] > truth + 1e-9).mean())
    low = float((ends[:, 1] < truth - 1e-9).mean())
    return high, low, float(np.diff(ends).mean())


def sweep(repetitions: int, seed: int) -> None:
    """Print the lowest coverage over rates of many means, from all or nothing to all alike."""
    print("| tasks x samples | k | lowest | at rates | below 0.94 | of |")
    print("|---|---|---|---|---|---|")
    for design in (*DESIGNS, (30, 5, 1)):
        found = []
        for mean in MEANS:
            for spread in SPREADS:
                rates = (mean * spread, (1 - mean) * spread) if spread < math.inf else mean
                row = Row("", pass_at_k, one_of, *design, rates)
                high, low, _ = covered(row, repetitions, seed)
                found.append((1 - high - low, named(rates)))
        worst, where = min(found)
        below = sum(coverage < 0.94 for coverage, _ in found)
        print(
            f"| {design[0]} x {design[1]} | {design[2]} | {worst:.4f} | {where} | {below} | "
            f"{len(found)} |",
            flush=True,
        )


def table(repetitions: int, seed: int) -> None:
    """Print the coverage of every kind of estimate."""
    print("| estimate | tasks x samples | k | rates | coverage | too high | too low | width |")
    print("|---|---|---|---|---|---|---|---|")
    for row in ROWS:
        high, low, width = covered(row, repetitions, seed)
        print(
            f"| {row.name} | {row.n_tasks} x {row.n} | {row.k} | {named(row.rates)} | "
            f"{1 - high - low:.4f} | {high:.4f} | {low:.4f} | {width:.3f} |",
            flush=True,
        )


def main() -> None:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description="Simulate the coverage of intervals.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--sweep", action="store_true", help="many rates, the lowest coverage")
    options = parser.parse_args()
    print(f"{machine()}\n")
    print(f"{options.repetitions} repetitions of each, seed {options.seed}, confidence 0.95\n")
    part = sweep if options.sweep else table
    part(options.repetitions, options.seed)


if __name__ == "__main__":
    main()
