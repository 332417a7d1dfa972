"""
How often 95 % intervals hold the truth about tasks like these.

Every task has its own success rate, drawn from the distribution named in the table; the truth is
the mean over that distribution.  Where the attempts are scored on a scale, a score is ``u^(1/a)``
for a uniform *u*, with *a* the odds of the rate, so that its mean is the rate; where they vote,
two wrong answers share the failures 2 to 1.  Clustered tasks share one rate within a cluster.

    python benchmarks/coverage_intervals.py [--seed 1] [--repetitions 10000]
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

Floats = NDArray[np.float64]
Rng = np.random.Generator
Estimate = (
    scorekit.PassAtK
    | scorekit.PassHatK
    | scorekit.GPassAtK
    | scorekit.BestAtK
    | scorekit.MajorityAtK
)

RATES: dict[str, tuple[float, float] | float] = {
    "Beta(1/2, 1/2)": (0.5, 0.5),
    "Beta(1, 1)": (1.0, 1.0),
    "Beta(2, 2)": (2.0, 2.0),
    "Beta(5, 5)": (5.0, 5.0),
    "all 1/2": 0.5,
    "all 2 %": 0.02,
    "Beta(1, 49)": (1.0, 49.0),
    "Beta(0.1, 4.9)": (0.1, 4.9),
}
GRID = 20_000
CLUSTER = 5


def draw(rng: Rng, rates: str, size: int) -> Floats:
    """Return success rates of tasks."""
    shape = RATES[rates]
    return np.full(size, shape) if isinstance(shape, float) else rng.beta(*shape, size)


def expected(rates: str, function: Callable[[Floats], Floats]) -> float:
    """Return the mean of *function* over the distribution of rates."""
    shape = RATES[rates]
    if isinstance(shape, float):
        return float(function(np.array([shape]))[0])
    points = stats.beta.ppf((np.arange(GRID) + 0.5) / GRID, *shape)
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
    rates: str


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


DESIGNS = ((10, 10, 3), (164, 10, 3), (30, 4, 1), (20, 1, 1), (10, 10, 10))
ROWS = [
    *(
        Row("pass_at_k", pass_at_k, one_of, *design, rates)
        for rates in ("Beta(1/2, 1/2)", "Beta(1, 1)", "Beta(2, 2)", "all 1/2")
        for design in DESIGNS
    ),
    *(
        Row("pass_at_k", pass_at_k, one_of, 30, 5, 1, rates)
        for rates in ("all 2 %", "Beta(1, 49)", "Beta(0.1, 4.9)")
    ),
    Row("pass_at_k", pass_at_k, one_of, 10, 10, 10, "Beta(5, 5)"),
    *(
        Row("pass_at_k, clusters of 5", pass_at_k_clustered, one_of, *design, "Beta(1/2, 1/2)")
        for design in ((50, 5, 1), (150, 5, 1), (150, 10, 3))
    ),
    *(
        Row("pass_at_k, uneven clusters", pass_at_k_uneven, one_of, *design, "Beta(1/2, 1/2)")
        for design in ((50, 5, 1), (150, 5, 1))
    ),
    *(
        Row(name, estimate, truth, *design, "Beta(1/2, 1/2)")
        for name, estimate, truth in (
            ("pass_hat_k", pass_hat_k, lambda r, k: r**k),
            ("g_pass_at_k, tau 0.5", g_pass_at_k, enough_of),
            ("best_at_k", best_at_k, best_of),
            ("majority_at_k", majority_at_k, vote),
        )
        for design in ((10, 10, 5), (30, 10, 5), (10, 10, 10))
    ),
]


def main() -> None:
    """Print one Markdown table."""
    parser = argparse.ArgumentParser(description="Simulate the coverage of intervals.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=10_000)
    options = parser.parse_args()
    print(f"{options.repetitions} repetitions of each, seed {options.seed}, confidence 0.95\n")
    print("| estimate | tasks x samples | k | rates | coverage | too high | too low | width |")
    print("|---|---|---|---|---|---|---|---|")
    for row in ROWS:
        rng = np.random.default_rng(options.seed)
        truth = expected(row.rates, lambda r, row=row: row.truth(r, row.k))  # type: ignore[misc]
        ends = np.empty((options.repetitions, 2))
        for i in range(options.repetitions):
            rates = draw(rng, row.rates, row.n_tasks)
            interval = row.estimate(rng, rates, row.n, row.k).interval
            ends[i] = interval.low, interval.high
        high = float((ends[:, 0] > truth + 1e-9).mean())
        low = float((ends[:, 1] < truth - 1e-9).mean())
        print(
            f"| {row.name} | {row.n_tasks} x {row.n} | {row.k} | {row.rates} | "
            f"{1 - high - low:.4f} | {high:.4f} | {low:.4f} | {np.diff(ends).mean():.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
