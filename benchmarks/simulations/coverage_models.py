"""
How often ranks, strengths, agreement, differences, quantiles and costs hold the truth, at 95 %.

    python -m benchmarks.simulations.coverage_models [--seed 1] [--repetitions 100] [--full]

``--full`` takes 2000 repetitions of each, some hours; ``docs/accuracy.md`` has its tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import scorekit
from benchmarks.simulations.coverage_scores import Count, print_table

Floats = NDArray[np.float64]
Rng = np.random.Generator

N_RESAMPLES = 2000
"""Flips of the signs: a fifth of the default, for time."""


def scores_of(rng: Rng, means: Floats, n: int, kind: str) -> Floats:
    """Return scores of tasks that are hard or easy for all models, in columns of these means."""
    hard = rng.uniform(-0.3, 0.3, (n, 1))
    if kind == "0/1":
        return (rng.random((n, means.size)) < means + hard).astype(np.float64)
    if kind == "graded":
        return np.clip(means + hard + rng.normal(0.0, 0.15, (n, means.size)), -1.0, 2.0)
    scores = means + hard + rng.normal(0.0, 0.02, (n, means.size))  # skewed: few large losses
    odd = np.arange(means.size) % 2 == 1
    scores[:, odd] += 0.1 - (rng.random((n, int(odd.sum()))) < 0.2) * 0.5
    return scores


def ranks(rng: Rng, repetitions: int) -> None:
    """Whether the ranks of all models hold, and how many may be the best."""

    def row(m: int, n: int, kind: str, step: float) -> list[object]:
        means = np.full(m, 0.5)
        means[: m // 2] += step
        held, best = 0, 0
        for _ in range(repetitions):
            table = scores_of(rng, means, n, kind)
            scores = {f"m{j}": dict(enumerate(table[:, j].tolist())) for j in range(m)}
            found = scorekit.compare_models(scores, n_resamples=N_RESAMPLES)
            held += all(
                found.ranks[f"m{j}"].low <= 1 + np.count_nonzero(means > means[j])
                and found.ranks[f"m{j}"].high >= m - np.count_nonzero(means < means[j])
                for j in range(m)
            )
            best += len(found.best)
        truth = "all equal" if not step else f"half {step:g} better"
        return [m, n, kind, truth, held / repetitions, best / repetitions]

    print_table(
        ["models", "tasks", "scores", "truth", "all ranks hold", "may be the best"],
        (
            row(m, n, kind, step)
            for m in (3, 10, 30)
            for n in (20, 100)
            for kind in ("0/1", "graded", "skewed")
            for step in (0.0, 0.1)
        ),
    )


def strengths(rng: Rng, repetitions: int) -> None:
    """Strengths of models, each pair compared as often, from evenly spaced true ones."""

    def row(m: int, games: int, spread: float) -> list[object]:
        truth = np.linspace(-spread / 2.0, spread / 2.0, m)
        chances = 1.0 / (1.0 + np.exp(truth[None, :] - truth[:, None]))
        count, widths = Count(), Count()
        refused = unbounded = 0
        for _ in range(repetitions):
            wins = {}
            for i in range(m):
                for j in range(i):
                    won = int(rng.binomial(games, chances[i, j]))
                    wins[f"{i}", f"{j}"], wins[f"{j}", f"{i}"] = won, games - won
            try:
                found = scorekit.bradley_terry(wins)
            except scorekit.InputError:
                refused += 1
                continue
            middle = np.mean([truth[i] for i in range(m) if f"{i}" not in found.unbounded])
            for i in range(m):
                interval = found.intervals[f"{i}"]
                count.add(interval, float(truth[i] - middle))
                if f"{i}" not in found.unbounded:
                    widths.add(interval, 0.0)
            unbounded += len(found.unbounded)
        shares = unbounded / m / (repetitions - refused), refused / repetitions
        return [m, games, spread, count.coverage, widths.width, *shares]

    print_table(
        ["models", "games a pair", "spread", "coverage", "width", "unbounded", "refused"],
        (row(m, games, s) for m in (3, 10) for games in (2, 10, 50) for s in (0.0, 2.0, 5.0)),
    )


def raters(rng: Rng, repetitions: int) -> None:
    """Raters who give the true label or, with a chance, one drawn anew; a fifth is missing."""

    def row(n_raters: int, n: int, shares: tuple[float, ...], noise: float) -> list[object]:
        labels = np.arange(len(shares))
        truth = (1.0 - noise) ** 2
        counts = {scale: Count() for scale in ("nominal", "ordinal", "interval")}
        for _ in range(repetitions):
            right = rng.choice(labels, n, p=shares)
            drawn = rng.choice(labels, (n_raters, n), p=shares)
            given = np.where(rng.random((n_raters, n)) < noise, drawn, right).astype(np.float64)
            if n_raters > 2:
                given[rng.random((n_raters, n)) < 0.2] = np.nan
            for scale, count in counts.items():
                found = scorekit.rater_agreement(given, scale=scale)  # type: ignore[arg-type]
                count.add(found.interval, truth)
        cells = [count.coverage for count in counts.values()]
        return [n_raters, n, str(shares), round(truth, 3), *cells, counts["nominal"].width]

    print_table(
        ["raters", "items", "labels", "alpha", "nominal", "ordinal", "interval", "width"],
        (
            row(n_raters, n, shares, noise)
            for n_raters in (2, 3, 5)
            for n in (10, 20, 50, 200)
            for shares in ((0.5, 0.5), (0.9, 0.1), (0.25, 0.25, 0.25, 0.25))
            for noise in (0.05, 0.3)
        ),
    )


Draw = Callable[[int], Floats]


def groups(rng: Rng, repetitions: int) -> None:
    """Two groups: the difference of means, and Cliff's delta."""

    def normal(mean: float, spread: float) -> Draw:
        return lambda n: rng.normal(mean, spread, n)

    def grades(*shares: float) -> Draw:
        return lambda n: rng.choice(5, n, p=shares) / 4.0

    kinds: dict[str, tuple[Draw, Draw]] = {
        "N(0, 1), N(0, 1)": (normal(0, 1), normal(0, 1)),
        "N(0, 1), N(0, 3)": (normal(0, 1), normal(0, 3)),
        "N(0, 1), N(1, 1)": (normal(0, 1), normal(1, 1)),
        "N(0, 1), N(2.5, 1)": (normal(0, 1), normal(2.5, 1)),
        "N(0, 1), N(3.5, 1)": (normal(0, 1), normal(3.5, 1)),
        "grades, even": (grades(0.2, 0.2, 0.2, 0.2, 0.2),) * 2,
        "grades, low and high": (
            grades(0.5, 0.3, 0.1, 0.05, 0.05),
            grades(0, 0.05, 0.1, 0.3, 0.55),
        ),
        "grades, nearly all 0": (grades(0.9, 0.05, 0.02, 0.02, 0.01),) * 2,
    }

    def row(name: str, n: int, m: int) -> list[object]:
        first, second = kinds[name]
        old, new = np.sort(first(100_000)), second(100_000)
        below = np.searchsorted(old, new, "left") + np.searchsorted(old, new, "right")
        delta, mean = float(below.mean()) / old.size - 1.0, float(new.mean() - old.mean())
        bounds = (0.0, 1.0) if name.startswith("grades") else None
        cliff, means = Count(), Count()
        for _ in range(repetitions):
            found = scorekit.unpaired_difference(first(n), second(m), bounds=bounds)
            cliff.add(found.cliffs_delta_interval, delta)
            means.add(found.interval, mean)
        return [name, f"{n}, {m}", round(delta, 3), cliff.coverage, cliff.width, means.coverage]

    print_table(
        ["groups", "values", "Cliff's delta", "coverage", "width", "means: coverage"],
        (row(name, n, m) for name in kinds for n, m in ((5, 5), (20, 20), (10, 50), (100, 100))),
    )


def quantiles(rng: Rng, repetitions: int) -> None:
    """Quantiles of a distribution with a long tail, lognormal."""

    def row(q: float, n: int) -> list[object]:
        truth = float(np.quantile(rng.normal(0.0, 1.0, 1_000_000), q))
        count = Count()
        for _ in range(repetitions):
            count.add(scorekit.quantile_interval(np.exp(rng.normal(0, 1, n)), q), np.exp(truth))
        return [q, n, count.coverage, count.width]

    print_table(
        ["quantile", "values", "coverage", "width"],
        (row(q, n) for q in (0.5, 0.95) for n in (10, 30, 100, 1000)),
    )


def clustered_quantiles(rng: Rng, repetitions: int) -> None:
    """Quantiles of normal values, half of whose variance lies between clusters, or all."""

    def row(n_clusters: int, n_values: int, between: float, q: float) -> list[object]:
        truth = float(stats.norm.ppf(q))
        clusters = np.repeat(np.arange(n_clusters), n_values)
        count, without = Count(), Count()
        for _ in range(repetitions):
            values = np.sqrt(between) * rng.normal(size=n_clusters)[clusters]
            values += np.sqrt(1.0 - between) * rng.normal(size=clusters.size)
            count.add(scorekit.quantile_interval(values, q, clusters=clusters), truth)
            without.add(scorekit.quantile_interval(values, q), truth)
        name = f"{n_clusters} x {n_values}"
        return [q, name, between, count.coverage, count.width, without.coverage]

    print_table(
        ["quantile", "clusters x values", "between", "coverage", "width", "without clusters"],
        (
            row(*design, between, q)
            for q in (0.5, 0.9)
            for design in ((10, 10), (20, 20), (100, 3))
            for between in (0.5, 1.0)
        ),
    )


def cost_ratios(rng: Rng, repetitions: int) -> None:
    """Ratios of two tiers' costs of a pass; costs are lognormal, those of the second double."""

    def tier(name: str, scale: float, n: int, rate: float) -> scorekit.TierStatistics:
        runs = scorekit.runs_from_columns(
            run_id=range(n),
            passed=rng.random(n) < rate,
            impl_rate=0.5,
            cost_usd=scale * rng.lognormal(0.0, 0.7, n),
            duration_seconds=1.0,
        )
        return scorekit.tier_statistics(name, runs)

    def row(n: int, rates: tuple[float, float]) -> list[object]:
        count, n_open = Count(), 0
        for _ in range(repetitions):
            tiers = [tier("T0", 1.0, n, rates[0]), tier("T1", 2.0, n, rates[1])]
            interval = scorekit.cross_tier(tiers).cost_ratio_intervals["T1"]
            if interval is not None:  # where no run passed there is no ratio
                count.add(interval, 2.0 * rates[0] / rates[1])
                n_open += interval.high == np.inf
        return [n, f"{rates[0]}, {rates[1]}", count.coverage, f"{n_open / repetitions:.3f}"]

    print_table(
        ["runs", "pass rates", "coverage", "unbounded"],
        (row(n, rates) for n in (10, 30, 100) for rates in ((0.3, 0.3), (0.5, 0.9), (0.8, 0.8))),
    )


SECTIONS = {
    "Ranks of many models": ranks,
    "Strengths from preferences": strengths,
    "Agreement of raters": raters,
    "Two groups": groups,
    "Quantiles": quantiles,
    "Quantiles of clusters": clustered_quantiles,
    "Ratios of costs of a pass": cost_ratios,
}


def main() -> None:
    """Print a table for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--full", action="store_true", help="2000 repetitions, some hours")
    parser.add_argument("--only", choices=[simulate.__name__ for simulate in SECTIONS.values()])
    options = parser.parse_args()
    repetitions = 2000 if options.full else options.repetitions
    for title, simulate in SECTIONS.items():
        if options.only in (None, simulate.__name__):
            print(f"### {title}\n")
            simulate(np.random.default_rng(options.seed), repetitions)


if __name__ == "__main__":
    main()
