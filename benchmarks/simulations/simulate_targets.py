"""
Means of cases that do not all weigh the same: how often intervals of `mean_interval` hold them.

    python -m benchmarks.simulations.simulate_targets [--full]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import scorekit
from benchmarks.machine import alone
from benchmarks.simulations.coverage_scores import print_parts, print_table

SEED = 20261130
LEVEL = 0.95
REACH = float(stats.norm.ppf((1 + LEVEL) / 2))

Floats = NDArray[np.float64]
Rng = np.random.Generator

SIZES: dict[str, tuple[int, ...]] = {
    "3 of 30": (30, 30, 30),
    "3 of 5, 20, 80": (5, 20, 80),
    "12 of 4": (4,) * 12,
    "12 of 2 to 40": (2, 2, 3, 3, 4, 5, 6, 8, 12, 20, 30, 40),
}
"""Cases of each of some strata."""


def scores(rng: Rng, rates: Floats, *, graded: bool) -> Floats:
    """Return outcomes of cases with these rates, or scores of the same means."""
    if graded:
        return rng.beta(8 * rates + 1e-9, 8 * (1 - rates) + 1e-9)
    return (rng.random(rates.size) < rates).astype(np.float64)


def strata(rng: Rng, repetitions: int) -> None:
    """Print how often means of fixed strata are held: bounds, t, normal errors, one sample."""

    def row(name: str, level: float, kind: str) -> list[object]:
        sizes = np.array(SIZES[name])
        labels = np.repeat(np.arange(sizes.size), sizes)
        spread = np.linspace(-1, 1, sizes.size) * min(level, 1 - level) * 0.9
        rates = (level + spread)[labels]
        truth = float((level + spread).mean())
        held, widths = np.zeros(4), np.zeros(4)
        for _ in range(repetitions):
            values = scores(rng, rates, graded=kind == "graded")
            bounded = scorekit.mean_interval(values, bounds=(0, 1), strata=labels)
            student = scorekit.mean_interval(values, strata=labels)
            means = np.bincount(labels, weights=values) / sizes
            squares = np.bincount(labels, weights=(values - means[labels]) ** 2)
            error = np.sqrt((squares / (sizes - 1) / sizes).sum()) / sizes.size
            published = means.mean() - REACH * error, means.mean() + REACH * error
            pooled = scorekit.mean_interval(values, bounds=(0, 1))
            ends = [(i.low, i.high) for i in (bounded, student)]
            ends += [published, (pooled.low, pooled.high)]
            for i, (low, high) in enumerate(ends):
                held[i] += low <= truth <= high
                widths[i] += high - low
        held, widths = held / repetitions, widths / repetitions
        return [name, level, kind, *(x for pair in zip(held, widths, strict=True) for x in pair)]

    ways = ("bounds", "t", "normal", "as one sample")
    print_table(
        ["strata", "mean", "scores", *(head for way in ways for head in (way, "width"))],
        (
            row(name, level, kind)
            for name in SIZES
            for level in (0.5, 0.95)
            for kind in ("flags", "graded")
        ),
    )


def weights(rng: Rng, repetitions: int) -> None:
    """Print how often weighted means are held: bounds, t, normal errors."""

    def row(n: int, sigma: float, level: float, kind: str) -> list[object]:
        own = np.exp(sigma * rng.normal(size=n))
        shares = own / own.sum()
        held, widths = np.zeros(3), np.zeros(3)
        for _ in range(repetitions):
            rates = rng.beta(2 * level, 2 * (1 - level), n)
            values = scores(rng, rates, graded=kind == "graded")
            found = [
                scorekit.mean_interval(values, bounds=bounds, case_weights=own)
                for bounds in ((0, 1), None)
            ]
            mean = float(shares @ values)
            reach = REACH * float(np.sqrt(shares**2 @ (values - mean) ** 2))
            ends = [*((i.low, i.high) for i in found), (mean - reach, mean + reach)]
            for i, (low, high) in enumerate(ends):
                held[i] += low <= level <= high
                widths[i] += high - low
        held, widths = held / repetitions, widths / repetitions
        n_effective = 1 / float(shares @ shares)
        pairs = (x for pair in zip(held, widths, strict=True) for x in pair)
        return [n, f"{n_effective:.0f}", level, kind, *pairs]

    ways = ("bounds", "t", "normal")
    print_table(
        ["cases", "effective", "mean", "scores", *(h for way in ways for h in (way, "width"))],
        (
            row(n, sigma, level, kind)
            for n in (20, 100, 300)
            for sigma in (0.5, 1.2)
            for level in (0.5, 0.95)
            for kind in ("flags", "graded")
        ),
    )


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 1000 if full else 20
    print_parts((strata, weights), repetitions, SEED)


if __name__ == "__main__":
    alone(main)
