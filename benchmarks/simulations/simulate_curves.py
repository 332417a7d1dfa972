"""
Bands of pass@k that hold at all k at once, and where one model is ahead of another.

    python -m benchmarks.simulations.simulate_curves [--full]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from benchmarks.machine import alone
from benchmarks.simulations.coverage_scores import print_parts, print_table
from scorekit._stats.curves import chances_at, curve_band, difference_band
from scorekit._stats.passes import estimate_suite
from scorekit._stats.suites import Suite

SEED = 20261129
LEVEL = 0.95
KS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 65, 80, 100)
"""Numbers of attempts at which a curve is drawn; twice the largest is made."""

Floats = NDArray[np.float64]
Rng = np.random.Generator
Rates = Callable[[Rng, int], Floats]

RATES: dict[str, Rates] = {
    "spread": lambda rng, n: rng.beta(0.6, 0.6, n),
    "hard": lambda rng, n: rng.beta(0.3, 3.0, n),
    "nearly solved": lambda rng, n: rng.beta(3.0, 0.15, n),
    "alike": lambda rng, n: rng.beta(20.0, 30.0, n),
}
"""Success rates of tasks."""


def truths(rates: Floats, ks: tuple[int, ...]) -> Floats:
    """Return the chance of a success within each number of attempts, a column for each."""
    return -np.expm1(np.multiply.outer(np.log1p(-np.minimum(rates, 1 - 1e-16)), ks))


def bands(rng: Rng, repetitions: int) -> None:
    """Print how often a curve is held at all k at once: band, single intervals, Bonferroni."""

    def row(name: str, n_tasks: int) -> list[object]:
        ks, draw = KS, RATES[name]
        truth = truths(draw(rng, 1_000_000), ks).mean(axis=0)
        held, widths = np.zeros(3), np.zeros(3)
        for _ in range(repetitions):
            n = np.full(n_tasks, 2 * ks[-1])
            c = rng.binomial(n, draw(rng, n_tasks))
            several = [curve_band(n, c, ks, LEVEL)]
            for level in (LEVEL, 1 - (1 - LEVEL) / len(ks)):
                found = estimate_suite(Suite(n, level, "raise"), c, ks)
                several.append([(one["interval"].low, one["interval"].high) for one in found])
            for i, ends in enumerate(several):
                lows, highs = np.array(ends).T
                held[i] += bool(((lows <= truth) & (truth <= highs)).all())
                widths[i] += float((highs - lows).mean())
        held, widths = held / repetitions, widths / repetitions
        return [name, n_tasks, *(x for pair in zip(held, widths, strict=True) for x in pair)]

    print_table(
        ["rates", "tasks", "band", "width", "pointwise", "width", "Bonferroni", "width"],
        (row(name, n) for name in RATES for n in (20, 164)),
    )


def differences(rng: Rng, repetitions: int) -> None:
    """Print how often models are called apart, and from where on: band, pointwise, Holm."""

    def row(name: str, shift: float, n_tasks: int) -> list[object]:
        ks, draw = KS, RATES[name]

        def both(size: int) -> tuple[Floats, Floats]:
            """Return the rates of two models, which agree in part; equal on average at 0."""
            one, other, shared = draw(rng, size), draw(rng, size), draw(rng, size)
            same = rng.random(size) < 0.6
            old = np.where(same, shared, one)
            new = np.where(same, shared, other)
            return old, special.expit(special.logit(np.clip(new, 1e-9, 1 - 1e-9)) + shift)

        truth = np.subtract(*(truths(one, ks).mean(axis=0) for one in both(1_000_000)))
        if not shift:
            truth[:] = 0.0
        missed = np.zeros(3)
        called, points = np.zeros(3), np.zeros(3)
        for _ in range(repetitions):
            n = np.full(n_tasks, 2 * ks[-1])
            deltas = np.subtract(*(chances_at(n, rng.binomial(n, r), ks) for r in both(n_tasks)))
            band = difference_band(ks, deltas, deltas, deltas, LEVEL)
            errors = deltas.std(axis=0, ddof=1) / np.sqrt(n_tasks)
            with np.errstate(divide="ignore", invalid="ignore"):
                t = np.nan_to_num(abs(deltas.mean(axis=0)) / errors)
            p = 2 * stats.t.sf(t, n_tasks - 1)
            order = np.argsort(p)
            holm = np.empty(p.size)
            holm[order] = np.maximum.accumulate(p[order] * (p.size - np.arange(p.size)))
            wrong = np.sign(deltas.mean(axis=0)) != np.sign(truth)
            shown = (band.lows > 0) | (band.highs < 0)
            for i, one in enumerate((shown, p <= 1 - LEVEL, holm <= 1 - LEVEL)):
                called[i] += bool(one.any())
                missed[i] += bool((one & wrong).any())
                points[i] += float(one.mean())
        shares = (called, missed, points)
        return [name, shift, n_tasks, *(x for s in shares for x in (s / repetitions))]

    heads = ("called", "falsely", "share of k")
    ways = ("band", "pointwise", "Holm")
    print_table(
        ["rates", "shift", "tasks", *(f"{way} {head}" for head in heads for way in ways)],
        (row(name, shift, n) for name in RATES for shift in (0.0, 0.8) for n in (20, 164)),
    )


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 1000 if full else 20
    print_parts((bands, differences), repetitions, SEED)


if __name__ == "__main__":
    alone(main)
