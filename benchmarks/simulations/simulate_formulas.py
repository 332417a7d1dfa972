"""
What trackers and referees ask for: weighted kappas, answers that nobody reviews, the best model.

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


RATES: dict[str, tuple[float, ...]] = {
    "equal": (0.6, 0.6, 0.6, 0.6),
    "close": (0.66, 0.6, 0.58, 0.5),
    "closer": (0.64, 0.62, 0.61, 0.6),
    "clear": (0.8, 0.6, 0.55, 0.3),
}
"""Success rates of four models, the best first."""


def stories(rng: Rng, repetitions: int) -> None:
    """Print how often a printed report contradicts itself on the best model, or leaves it out."""

    def row(name: str, n_tasks: int, share_unknown: float) -> list[object]:
        rates = np.array(RATES[name])
        n_two, n_out, n_named = 0, 0, 0
        for _ in range(repetitions):
            skill = rng.normal(size=n_tasks)
            hard = stats.norm.ppf(rates)[:, None] * math.sqrt(2) + skill
            right = hard + rng.normal(size=hard.shape) > 0
            lost = (rng.random(right.shape) < share_unknown) & ~right  # failures are lost
            passed = [
                None if gone else int(one) for one, gone in zip(right.flat, lost.flat, strict=True)
            ]
            report = scorekit.code_report_from_columns(
                case_id=[*range(n_tasks)] * rates.size,
                model=np.repeat([f"m{i}" for i in range(rates.size)], n_tasks).tolist(),
                passed=passed,
            )
            first = str(report).splitlines()[0]
            found = scorekit.compare_models(report)
            words = first.partition(": ")[2].partition(" (")[0]
            named = words.partition(";")[0].replace(" or ", ", ").split(", ")
            n_named += len(found.best) == 1
            n_two += contradicts(first, named, found, report)
            n_out += not any(f"m{i}" in found.best for i in np.flatnonzero(rates == rates.max()))
        counts = (n_named, n_two, n_out)
        return [name, n_tasks, share_unknown, *(count / repetitions for count in counts)]

    print_table(
        ["rates", "tasks", "failures lost", "one named", "contradictions", "best left out"],
        (row(name, n, share) for name in RATES for n in (40, 150) for share in (0.0, 0.15)),
    )


def contradicts(
    first: str, named: list[str], found: scorekit.ModelComparison, report: scorekit.CodeReport
) -> bool:
    """Say whether the first line, the ranks, the pairs and the bounds tell two stories."""
    may_be = {name for name, rank in found.ranks.items() if rank.low == 1.0}
    if may_be != set(found.best):
        return True
    if len(found.best) > 1:
        return "not told apart" not in first or set(named) != may_be
    (best,) = found.best
    if named[0] != best or "not told apart" in first:
        return True
    pairs = [pair for pair in found.pairs if best in (pair.first, pair.second)]
    if any(pair.verdict != "better" or pair.first != best for pair in pairs):
        return True
    bounds = {
        one.model: one.unknown_bounds.get("pass@1", (one.pass_at_k[0].score,) * 2)
        for one in report.models
    }
    return any(high >= bounds[best][0] for name, (_, high) in bounds.items() if name != best)


LIMIT = 0.05
"""Share of wrong ones allowed among answers that nobody reviews."""


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    sizes = {weighted_kappas: 1000, thresholds: 2000, stories: 125}
    print(f"seed {SEED}, confidence level 0.95")
    for part, repetitions in sizes.items():
        n = repetitions if full else 20
        about = (part.__doc__ or "").split(":")[0].removeprefix("Print ")
        print(f"\n{about} ({n} repetitions)\n")
        part(np.random.default_rng(SEED), n)


if __name__ == "__main__":
    alone(main)
