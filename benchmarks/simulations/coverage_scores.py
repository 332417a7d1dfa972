"""
How often 95 % intervals of scores hold the truth: means, tiers, uplifts, corrected means.

    python -m benchmarks.simulations.coverage_scores [--seed 1] [--repetitions 100] [--full]

``--full`` takes 4000 repetitions of each, a quarter of an hour; ``docs/accuracy.md`` has its
tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import scorekit
from scorekit import Interval, Run

Floats = NDArray[np.float64]
Rng = np.random.Generator
Rates = tuple[float, float] | float
"""Both parameters of a beta distribution, or the one rate that all tasks have."""

N_TASKS = 20
MANY = 400_000
"""Draws behind a truth that has no formula."""


def draw(rng: Rng, rates: Rates, size: int) -> Floats:
    """Return success rates of tasks."""
    return np.full(size, rates) if isinstance(rates, float) else rng.beta(*rates, size)


def mean_rate(rates: Rates) -> float:
    """Return the mean of such rates."""
    return rates if isinstance(rates, float) else rates[0] / sum(rates)


def named(rates: Rates) -> str:
    """Return what the tables call the rates."""
    return f"all {rates:g}" if isinstance(rates, float) else "Beta({:g}, {:g})".format(*rates)


class Count:
    """How often intervals hold a truth, and how wide they are."""

    def __init__(self) -> None:
        self._held: list[bool] = []
        self._widths: list[float] = []

    def add(self, interval: Interval | None, truth: float) -> None:
        """Count one; where there is none, as for the cost of a pass without a pass, none errs."""
        if interval is not None:
            self._held.append(interval.low <= truth <= interval.high)
            self._widths.append(interval.high - interval.low)

    @property
    def coverage(self) -> float:
        """Share of intervals that held the truth."""
        return float(np.mean(self._held))

    @property
    def width(self) -> float:
        """Median width."""
        return float(np.median(self._widths))


def print_table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a Markdown table row by row."""
    names = list(header)
    print("| " + " | ".join(names) + " |")
    print("|" + "---|" * len(names))
    for row in rows:
        cells = [f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row]
        print("| " + " | ".join(cells) + " |", flush=True)
    print()


def print_parts(
    parts: Iterable[Callable[[Rng, int], None]], repetitions: int, seed: int, level: float = 0.95
) -> None:
    """Print the tables of some simulations, each below the first words of its docstring."""
    print(f"{repetitions} repetitions, seed {seed}, confidence level {level}")
    for part in parts:
        print(f"\n{(part.__doc__ or '').split(':')[0].removeprefix('Print ')}\n")
        part(np.random.default_rng(seed), repetitions)


def means(rng: Rng, repetitions: int) -> None:
    """Scores of independent cases: a share of them 1, the rest 0, or 0 and 0.5 half and half."""

    def row(values: tuple[float, ...], share: float, n: int) -> list[object]:
        others = [(1.0 - share) / (len(values) - 1)] * (len(values) - 1)
        shares = [*others, share]
        truth = float(np.dot(values, shares))
        bounded, plain = Count(), Count()
        counts, times = np.unique(
            rng.multinomial(n, shares, repetitions * 10), axis=0, return_counts=True
        )
        for count, weight in zip(counts, times, strict=True):
            scores = np.repeat(values, count)
            found = scorekit.mean_interval(scores, bounds=(0, 1))
            student = scorekit.mean_interval(scores)
            for _ in range(weight):
                bounded.add(found, truth)
                plain.add(student, truth)
        scale = "/".join(f"{value:g}" for value in values)
        return [scale, n, share, bounded.coverage, bounded.width, plain.coverage]

    print_table(
        ["scores", "values", "share of 1", "coverage", "width", "Student's t covers"],
        (
            row(values, share, n)
            for values in ((0.0, 1.0), (0.0, 0.5, 1.0))
            for n in (20, 30, 100, 300)
            for share in (0.5, 0.9, 0.97, 0.99, 0.999)
        ),
    )


def clustered_means(rng: Rng, repetitions: int) -> None:
    """Scores of 0 and 1 of 20 tasks that were run several times."""

    def row(rates: Rates, n_runs: int) -> list[object]:
        tasks = np.repeat(np.arange(N_TASKS), n_runs)
        clustered, pooled = Count(), Count()
        for _ in range(repetitions):
            scores = (rng.random(tasks.size) < draw(rng, rates, N_TASKS)[tasks]).astype(float)
            found = scorekit.mean_interval(scores, bounds=(0, 1), clusters=tasks)
            clustered.add(found, mean_rate(rates))
            pooled.add(scorekit.mean_interval(scores, bounds=(0, 1)), mean_rate(rates))
        return [
            f"{N_TASKS} x {n_runs}",
            named(rates),
            clustered.coverage,
            clustered.width,
            pooled.coverage,
        ]

    print_table(
        ["tasks x runs", "rates", "coverage", "width", "without clusters"],
        (row(rates, n_runs) for rates in TIERS for n_runs in (3, 10)),
    )


TIERS: tuple[Rates, ...] = (0.7, 0.95, (0.5, 0.5), (2.0, 1.0), (4.5, 0.5))


def attempts(rng: Rng, rates: Floats, skills: Floats, n_runs: int) -> list[Run]:
    """Run each task several times; a run that fails costs double and has less done."""
    passed = rng.random((rates.size, n_runs)) < rates[:, None]
    impl_rates = done(rng, passed, skills[:, None])
    costs = rng.gamma(2, np.where(passed, 0.1, 0.2))
    return [
        Run(
            run_id=f"{task}/{i}",
            passed=bool(passed[task, i]),
            impl_rate=float(impl_rates[task, i]),
            cost_usd=float(costs[task, i]),
            duration_seconds=60,
            task_id=f"{task}",
        )
        for task in range(rates.size)
        for i in range(n_runs)
    ]


def done(rng: Rng, passed: NDArray[np.bool_], skills: Floats) -> Floats:
    """Return the judge's score of runs."""
    return np.clip(np.where(passed, 0.9, 0.5) + skills + rng.normal(0, 0.1, passed.shape), 0, 1)


def tiers(rng: Rng, repetitions: int) -> None:
    """Two tiers on the same 20 tasks; in the second a task fails half as often, more or less."""

    def composite(rates: Floats) -> tuple[float, float]:
        passed = rng.random(rates.size) < rates
        impl_rate = float(done(rng, passed, rng.normal(0, 0.08, rates.size)).mean())
        return impl_rate, (float(rates.mean()) + impl_rate) / 2

    def row(rates: Rates, n_runs: int) -> list[object]:
        many = draw(rng, rates, MANY)
        pass_rate = mean_rate(rates)
        impl_rate, score = composite(many)
        uplift = composite(np.sqrt(many))[1] / score - 1
        truths = {
            "pass_rate_interval": pass_rate,
            "impl_rate_interval": impl_rate,
            "composite_interval": score,
            "cost_of_pass_interval": (0.2 * pass_rate + 0.4 * (1 - pass_rate)) / pass_rate,
        }
        counts = {name: Count() for name in truths}
        uplifts, pooled = Count(), Count()
        for _ in range(repetitions):
            own, skills = draw(rng, rates, N_TASKS), rng.normal(0, 0.08, N_TASKS)
            runs = attempts(rng, own, skills, n_runs)
            base = scorekit.tier_statistics("T0", runs)
            other = scorekit.tier_statistics("T1", attempts(rng, np.sqrt(own), skills, n_runs))
            for name, truth in truths.items():
                counts[name].add(getattr(base, name), truth)
            uplifts.add(scorekit.cross_tier([base, other]).uplift_intervals["T1"], uplift)
            alone = scorekit.cost_of_pass_from_columns(
                cost_usd=[run.cost_usd or 0.0 for run in runs], passed=[run.passed for run in runs]
            )
            pooled.add(alone.interval, truths["cost_of_pass_interval"])
        held = [count.coverage for count in (*counts.values(), uplifts, pooled)]
        return [f"{N_TASKS} x {n_runs}", named(rates), *held]

    print_table(
        [
            "tasks x runs",
            "rates",
            "pass rate",
            "impl rate",
            "composite",
            "cost of a pass",
            "uplift",
            "cost without tasks",
        ],
        (row(rates, n_runs) for rates in TIERS for n_runs in (3, 10)),
    )


def corrected_means(rng: Rng, repetitions: int) -> None:
    """A few labels, 500 judged answers; the judge passes right and wrong answers so often."""

    def row(truth: float, n: int, judge: tuple[float, float]) -> list[object]:
        tuned, plain, labels = Count(), Count(), Count()
        for _ in range(repetitions):
            right = rng.random(n + 500) < truth
            judged = rng.random(n + 500) < np.where(right, *judge)
            columns: dict[str, Any] = {
                "judge_labeled": judged[:n],
                "human": right[:n],
                "judge_unlabeled": judged[n:],
            }
            result = scorekit.corrected_mean(**columns, power_tuned=True)
            tuned.add(result.interval, truth)
            plain.add(scorekit.corrected_mean(**columns).interval, truth)
            labels.add(result.human_interval, truth)
        held = [tuned.coverage, tuned.width, plain.coverage, plain.width, labels.width]
        return [truth, n, "{:g} / {:g}".format(*judge), *held]

    print_table(
        ["truth", "labels", "judge passes", "tuned", "width", "plain", "width", "labels alone"],
        (
            row(truth, n, judge)
            for truth in (0.95, 0.9, 0.7, 0.5)
            for n in (10, 20, 50)
            for judge in ((0.95, 0.2), (0.9, 0.1), (0.8, 0.7))
        ),
    )


def best_scores(rng: Rng, repetitions: int) -> None:
    """Tasks of 5 attempts with normal scores; beside it `mean_interval` of the tasks' means."""

    def row(mean: float, spread: float, n_tasks: int, k: int) -> list[object]:
        def scores(n: int) -> Floats:
            tasks = rng.normal(mean, spread, (n, 1))
            return np.clip(tasks + rng.normal(0, spread, (n, 5)), 0, 1)

        truth = float(scores(MANY // 5)[:, :k].max(axis=1).mean())
        best, means_only = Count(), Count()
        for _ in range(repetitions):
            sample = scores(n_tasks)
            best.add(scorekit.best_at_k(list(sample), k=k).interval, truth)
            means_only.add(scorekit.mean_interval(sample.mean(axis=1)), truth)
        ratio = best.width / means_only.width if k == 1 else "-"
        return [f"N({mean:g}, {spread:g})", f"{n_tasks} x 5", k, best.coverage, best.width, ratio]

    print_table(
        ["scores", "tasks x attempts", "k", "coverage", "width", "times mean_interval's"],
        (
            row(mean, spread, n_tasks, k)
            for mean, spread in ((0.7, 0.05), (0.5, 0.1), (0.9, 0.03))
            for n_tasks in (10, 30, 100)
            for k in (1, 3)
        ),
    )


SECTIONS: tuple[Callable[[Rng, int], None], ...] = (
    means,
    clustered_means,
    tiers,
    corrected_means,
    best_scores,
)


def main() -> None:
    """Print a Markdown table for each kind of interval."""
    parser = argparse.ArgumentParser(description="Simulate the coverage of intervals of scores.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--full", action="store_true", help="4000 repetitions")
    options = parser.parse_args()
    repetitions = 4000 if options.full else options.repetitions
    print(f"{repetitions} repetitions of each, seed {options.seed}, confidence level 0.95\n")
    for section in SECTIONS:
        print(f"{section.__doc__}\n")
        section(np.random.default_rng(options.seed), repetitions)


if __name__ == "__main__":
    main()
