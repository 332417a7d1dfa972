"""
What trackers and referees ask for: weighted kappas, and answers that nobody reviews.

    python -m benchmarks.simulations.simulate_formulas [--full]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import scorekit
from benchmarks.machine import alone
from benchmarks.simulations.coverage_scores import print_table

SEED = 20261128

Floats = NDArray[np.float64]
Rng = np.random.Generator
World = Callable[[int], tuple[Floats, Floats]]

WEIGHTS: tuple[Literal["linear", "quadratic"], ...] = ("linear", "quadratic")


def weighted_kappas(rng: Rng, repetitions: int) -> None:
    """Print how often weighted kappas of ten grades are held, beside the delta method."""

    def row(
        weights: Literal["linear", "quadratic"], correlation: float, share: float, n: int
    ) -> list[object]:
        k = 10
        edges = stats.norm.ppf(np.cumsum([share, *[(1 - share) / (k - 1)] * (k - 1)])[:-1])

        def draw(size: int) -> tuple[Floats, Floats]:
            judge = rng.normal(size=size)
            other = correlation * judge + math.sqrt(1 - correlation**2) * rng.normal(size=size)
            first, second = (np.searchsorted(edges, one) for one in (judge, other))
            return first.astype(np.float64), second.astype(np.float64)

        big = draw(1_000_000)
        truth = scorekit.judge_agreement(*big, weights=weights).score or 0.0
        held, widths = np.zeros(2), np.zeros(2)
        n_defined = 0
        for _ in range(repetitions):
            found = scorekit.judge_agreement(*draw(n), weights=weights)
            if found.score is None or found.interval is None or found.stderr is None:
                continue
            reach = stats.norm.ppf(0.975) * found.stderr
            lows = np.array([found.interval.low, found.score - reach])
            highs = np.array([found.interval.high, min(found.score + reach, 1.0)])
            n_defined += 1
            held += (lows <= truth) & (truth <= highs)
            widths += highs - lows
        (ours, delta), (width, other) = held / n_defined, widths / n_defined
        return [weights, f"{truth:.2f}", f"{share:g}", n, *map(float, (ours, width, delta, other))]

    print_table(
        ["weights", "kappa", "one label", "items", "held", "width", "delta method", "width"],
        (
            row(weights, correlation, share, n)
            for weights in WEIGHTS
            for correlation in (0.7, 0.95)
            for share in (0.1, 0.5, 0.8, 0.95)
            for n in (30, 50, 100, 200, 400)
        ),
    )


def worlds(rng: Rng) -> Iterator[tuple[str, World]]:
    """Yield how sure answers are, and how often right, in twelve worlds."""

    def of(sure: Callable[[int], Floats], rate: Callable[[Floats], Floats]) -> World:
        def draw(n: int) -> tuple[Floats, Floats]:
            found = sure(n)
            return found, rate(found)

        return draw

    def high(n: int) -> Floats:
        return rng.beta(5, 1, n)

    def low(n: int) -> Floats:
        return rng.beta(1, 3, n)

    yield "calibrated, high", of(high, lambda f: f)
    yield "calibrated, uniform", of(rng.random, lambda f: f)
    yield "calibrated, low", of(low, lambda f: f)
    yield "overconfident", of(high, lambda f: f**2)
    yield "underconfident", of(rng.random, np.sqrt)
    yield "nearly all right", of(rng.random, lambda f: 0.9 + 0.1 * f)
    yield "no signal, just too bad", of(rng.random, lambda f: np.full(f.size, 0.949))
    yield "no signal, good", of(rng.random, lambda f: np.full(f.size, 0.98))
    yield "worst at the top", of(high, lambda f: np.where(f > 0.9, 0.9, 0.97))
    yield "a dip", of(rng.random, lambda f: np.where(abs(f - 0.7) < 0.1, 0.8, 0.99))
    yield (
        "three words",
        of(
            lambda n: rng.integers(0, 3, n) / 2,
            lambda f: np.select([f > 0.7, f > 0.2], [0.98, 0.9], 0.6),
        ),
    )
    yield "one cliff", of(rng.random, lambda f: np.where(f > 0.5, 0.97, 0.6))


def thresholds(rng: Rng, repetitions: int) -> None:
    """Print how often what goes out unreviewed is wrong more often than asked, pointwise too."""

    def row(name: str, draw: World, n: int) -> list[object]:
        sure, rates = draw(400_000)
        places = np.argsort(-sure)
        sure, errors = sure[places], np.cumsum(1 - rates[places]) / np.arange(1.0, sure.size + 1)
        errors = errors[np.searchsorted(-sure, -sure, side="right") - 1]
        possible = np.flatnonzero(errors <= LIMIT)
        above, above_pointwise, passed, passed_pointwise = 0, 0, 0.0, 0.0
        for _ in range(repetitions):
            own, right = draw(n)
            outcomes = rng.random(n) < right

            def true_error(threshold: float) -> float:
                return float(errors[np.searchsorted(-sure, -threshold, side="right") - 1])

            found = scorekit.review_threshold(own, outcomes, max_error=LIMIT)
            if found.threshold is not None:
                passed += found.share
                above += true_error(float(found.threshold)) > LIMIT
            order = np.argsort(-own)
            wrong, sizes = np.cumsum(~outcomes[order]), np.arange(1.0, n + 1)
            ends = stats.beta.ppf(0.95, wrong + 1, np.maximum(sizes - wrong, 1e-9))
            shown = np.flatnonzero(ends <= LIMIT)
            if shown.size:
                passed_pointwise += (shown[-1] + 1) / n
                above_pointwise += true_error(float(own[order[shown[-1]]])) > LIMIT
        ideal = (possible[-1] + 1) / sure.size if possible.size else 0.0
        shares = (above, passed, above_pointwise, passed_pointwise)
        return [name, n, ideal, *(share / repetitions for share in shares)]

    print_table(
        ["world", "answers", "could pass", "above", "passes", "pointwise above", "passes"],
        (row(*world, n) for world in worlds(rng) for n in (200, 1000)),
    )


LIMIT = 0.05
"""Share of wrong ones allowed among answers that nobody reviews."""


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 1000 if full else 20
    print(f"{repetitions} repetitions, seed {SEED}, confidence level 0.95")
    for part in (weighted_kappas, thresholds):
        print(f"\n{(part.__doc__ or '').split(':')[0].removeprefix('Print ')}\n")
        part(np.random.default_rng(SEED), repetitions)


if __name__ == "__main__":
    alone(main)
