"""
How often 95 % intervals hold the truth where data are ugly: grades, costs, judges, horizons.

- Grades that lie close together, but for a few zeros: their mean, and the one a judge corrects.
- Kappa and AC1 where nearly all items have one label, by enumeration of all tables.
- Calibration of several attempts a task, and attempts until the first pass.
- Costs with long tails, of runs and of tasks run several times, also within bounds; their ratio
  over common tasks.
- Tasks that are tried again where they failed, and labels that are no random sample.
- Tiers whose tasks were run unequally often, compared over common tasks.
- Corrected differences, time horizons and rubrics, with the power to see a difference.

    python -m benchmarks.simulations.simulate_intervals [--full]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

import scorekit
from benchmarks.machine import alone
from benchmarks.simulations.coverage_scores import Count, print_parts, print_table
from scorekit._core.mappings import FrozenMapping

SEED = 20261124

Floats = NDArray[np.float64]
Rng = np.random.Generator

TAIL = math.exp(0.125) * (0.95 + 0.05 * 20)
AMOUNTS: dict[str, tuple[Callable[[Rng, int], Floats], float]] = {
    "gamma(4)": (lambda rng, n: rng.gamma(4.0, 0.25, n), 1.0),
    "lognormal, sigma 1": (lambda rng, n: np.exp(rng.normal(0, 1, n)), math.exp(0.5)),
    "lognormal, sigma 1.5": (lambda rng, n: np.exp(rng.normal(0, 1.5, n)), math.exp(1.125)),
    "5 % cost 20 times as much": (
        lambda rng, n: np.exp(rng.normal(0, 0.5, n)) * np.where(rng.random(n) < 0.05, 20, 1),
        TAIL,
    ),
    "30 % cost nothing": (
        lambda rng, n: np.where(rng.random(n) < 0.3, 0.0, np.exp(rng.normal(0, 0.7, n))),
        0.7 * math.exp(0.245),
    ),
    "lognormal, sigma 2": (lambda rng, n: np.exp(rng.normal(0, 2, n)), math.exp(2)),
    "lognormal, sigma 2.5": (lambda rng, n: np.exp(rng.normal(0, 2.5, n)), math.exp(3.125)),
    "80 % cost nothing": (
        lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, np.exp(rng.normal(0, 0.7, n))),
        0.2 * math.exp(0.245),
    ),
}
"""How costs are drawn, and their mean."""

RATE = 0.7
ATTEMPTS = 5
MOST = 100.0
"""What a run may cost, where there is a limit."""


GRADES: dict[str, Callable[[Rng, int], Floats]] = {
    "N(.9, .02), 3 % zeros": lambda rng, n: np.where(
        rng.random(n) < 0.03, 0.0, np.clip(rng.normal(0.9, 0.02, n), 0, 1)
    ),
    "80 % ones, the others uniform": lambda rng, n: np.where(
        rng.random(n) < 0.8, 1, rng.random(n)
    ),
    "99 % ones, the others 0": lambda rng, n: (rng.random(n) < 0.99).astype(np.float64),
    "Beta(9, 1)": lambda rng, n: rng.beta(9, 1, n),
}
"""How grades are drawn."""


def grades(rng: Rng, repetitions: int) -> None:
    """Print how often the mean of grades is held, with bounds and without."""

    def row(name: str, n: int) -> list[object]:
        truth = float(GRADES[name](rng, 4_000_000).mean())
        bounded, plain = Count(), Count()
        for _ in range(repetitions):
            values = GRADES[name](rng, n)
            bounded.add(scorekit.mean_interval(values, bounds=(0, 1)), truth)
            plain.add(scorekit.mean_interval(values), truth)
        return [name, n, bounded.coverage, bounded.width, plain.coverage, plain.width]

    print_table(
        ["grades", "values", "bounded", "width", "t", "width"],
        (row(name, n) for name in GRADES for n in (10, 30, 100)),
    )


def corrected_grades(rng: Rng, repetitions: int) -> None:
    """Print how often a corrected mean of grades is held: a judge sees seven zeros in ten."""

    def row(name: str, n: int) -> list[object]:
        truth = float(GRADES[name](rng, 4_000_000).mean())
        counts = Count(), Count(), Count()
        for _ in range(repetitions):
            human = GRADES[name](rng, n + 500)
            seen = np.where((human < 0.5) & (rng.random(human.size) < 0.3), 0.9, human)
            judge = np.clip(seen + rng.normal(0.02, 0.03, human.size), 0, 1)
            columns: dict[str, Any] = {
                "judge_labeled": judge[:n],
                "human": human[:n],
                "judge_unlabeled": judge[n:],
            }
            plain = scorekit.corrected_mean(**columns)
            tuned = scorekit.corrected_mean(**columns, power_tuned=True)
            counts[0].add(tuned.interval, truth)
            counts[1].add(plain.interval, truth)
            counts[2].add(plain.human_interval, truth)
        return [name, n, *(part for one in counts for part in (one.coverage, one.width))]

    print_table(
        ["grades", "labels", "tuned", "width", "plain", "width", "labels alone", "width"],
        (row(name, n) for name in GRADES for n in (10, 20, 30, 50)),
    )


def agreements(rng: Rng, repetitions: int) -> None:
    """Print how often kappa and AC1 are held: all tables of two labels, by their chance."""
    del rng

    def row(share: float, other: float, kappa: float, n: int) -> list[object]:
        both = share * other + kappa * (share * (1 - other) + other * (1 - share)) / 2
        cells = np.array([both, share - both, other - both, 1 - share - other + both])
        guess = (share + other) / 2
        truths = kappa, 1 - (cells[1] + cells[2]) / (1 - 2 * guess * (1 - guess))
        least = min(1e-7, 1.0 / repetitions**2)  # tables that are rarer together do not count
        held, known, narrow = np.zeros(2), np.zeros(2), np.zeros(2)
        for a in range(n + 1):
            for b in range(n + 1 - a):
                for c in range(n + 1 - a - b):
                    table = [a, b, c, n - a - b - c]
                    chance = float(stats.multinomial.pmf(table, n, cells))
                    if chance < least:
                        continue
                    judge = np.repeat([1, 1, 0, 0], table)
                    human = np.repeat([1, 0, 1, 0], table)
                    found = scorekit.judge_agreement(judge, human)
                    for i, ends in enumerate((found.interval, found.gwet_interval)):
                        if ends is not None:
                            known[i] += chance
                            held[i] += chance * (ends.low <= truths[i] <= ends.high)
                            narrow[i] += chance * (ends.high - ends.low)
        cells_of = (part for i in (0, 1) for part in (held[i] / known[i], narrow[i] / known[i]))
        return [
            f"{share:g} / {other:g}",
            round(kappa, 3),
            n,
            *map(float, cells_of),
            float(known[0]),
        ]

    designs = (
        (0.9, 0.9, 0.0),
        (0.9, 0.9, 0.4),
        (0.9, 0.9, 0.7),
        (0.9, 0.8, 0.4),
        (0.97, 0.97, 0.5),
        (0.5, 0.5, 0.6),
    )
    print_table(
        ["shares", "kappa", "items", "kappa held", "mean width", "AC1 held", "width", "defined"],
        (row(*design, n) for design in designs for n in (10, 20, 30)),
    )


def calibration(rng: Rng, repetitions: int) -> None:
    """Print how often bias and area under the curve are held of five attempts at each task."""

    def row(n_tasks: int, spread: float) -> list[object]:
        tasks = np.repeat(np.arange(n_tasks), ATTEMPTS)

        def draw(tasks: NDArray[np.intp], n: int) -> tuple[Floats, NDArray[np.bool_]]:
            hard = rng.normal(1.0, spread, n)[tasks]
            rate = 1 / (1 + np.exp(-hard))
            noted = 1 / (1 + np.exp(-0.5 * hard - 0.8 + rng.normal(0, 0.5, tasks.size)))
            return noted, rng.random(tasks.size) < rate

        noted, right = draw(np.arange(400_000), 400_000)
        ranks = stats.rankdata(noted)
        n_right = np.count_nonzero(right)
        area = (
            (ranks[right].sum() - n_right * (n_right + 1) / 2) / n_right / (right.size - n_right)
        )
        truths = float(noted.mean() - right.mean()), float(area)
        counts = [Count() for _ in range(4)]
        for _ in range(repetitions):
            noted, right = draw(tasks, n_tasks)
            for i, clusters in enumerate((tasks, None)):
                found = scorekit.calibration_error(noted, right, clusters=clusters)
                counts[2 * i].add(found.bias_interval, truths[0])
                counts[2 * i + 1].add(found.auroc_interval, truths[1])
        return [f"{n_tasks} x {ATTEMPTS}", spread, *(count.coverage for count in counts)]

    print_table(
        ["tasks", "spread, logits", "bias", "AUROC", "bias without clusters", "AUROC without"],
        (row(n, spread) for n in (10, 30, 100) for spread in (0.5, 2.0)),
    )


def stopped(rng: Rng, repetitions: int) -> None:
    """Print how often attempts until the first pass are refused, and what is read otherwise."""

    def row(n: int, rate: float, most: int, *, honest: bool = False) -> list[object]:
        refused, read = 0, []
        for _ in range(repetitions):
            if honest:
                n_samples = rng.integers(1, most + 1, n)
                n_correct = rng.binomial(n_samples, rate)
            else:
                tries = rng.geometric(rate, n)
                n_samples, n_correct = np.minimum(tries, most), (tries <= most) * 1
            try:
                read.append(scorekit.pass_at_k(n_samples=n_samples, n_correct=n_correct).score)
            except scorekit.InputError:
                refused += 1
        kind = "1 to " if honest else "until a pass, at most "
        seen = float(np.mean(read)) if read else "-"
        return [n, rate, f"{kind}{most}", refused / repetitions, seen]

    print_table(
        ["tasks", "pass rate", "attempts", "refused", "mean score read otherwise"],
        (
            row(n, rate, most, honest=honest)
            for n in (10, 20, 50)
            for rate in (0.1, 0.5, 0.9)
            for most, honest in ((3, False), (10, False), (3, True), (10, True))
        ),
    )


def costs(rng: Rng, repetitions: int) -> None:
    """Print how often the mean cost and the cost of a pass are held."""

    def row(name: str, n: int, *, by_task: bool, bounded: bool) -> list[object]:
        draw, mean = AMOUNTS[name]
        means, passes, noted = Count(), Count(), 0
        for i in range(repetitions):
            usd, rates = draw(rng, n), np.full(n, RATE)
            tasks = None
            if by_task:  # hard tasks are run at their own cost and rate
                tasks = np.repeat(np.arange(n), ATTEMPTS)
                usd, rates = usd[tasks], rng.beta(2 * RATE, 2 * (1 - RATE), n)[tasks]
            if bounded:
                usd = np.minimum(usd, MOST)
            passed = rng.random(usd.size) < rates
            limits = (0.0, MOST if bounded else math.inf)
            ends = scorekit.mean_interval(usd, bounds=limits, clusters=tasks, seed=i)
            means.add(ends, mean)
            noted += ends.note is not None
            found = scorekit.cost_of_pass_from_columns(
                cost_usd=usd,
                passed=passed,
                clusters=tasks,
                bounds=limits if bounded else None,
                seed=i,
            )
            passes.add(found.interval, mean / RATE)
        kind = f"{n} tasks x {ATTEMPTS}" if by_task else f"{n} runs"
        limit = f", bounds (0, {MOST:g})" if bounded else ""
        share = noted / repetitions
        return [f"{name}{limit}", kind, means.coverage, passes.coverage, means.width / mean, share]

    def rows() -> Iterator[list[object]]:
        for n in (10, 30, 100, 300):
            for name in list(AMOUNTS)[5 if n > 100 else 2 if n > 30 else 0 :]:
                yield row(name, n, by_task=False, bounded=False)
            if n <= 100:
                yield row("lognormal, sigma 1.5", n, by_task=True, bounded=False)
                yield row("5 % cost 20 times as much", n, by_task=False, bounded=True)

    header = ["costs", "data", "mean cost", "cost of a pass", "width / mean", "with a note"]
    print_table(header, rows())


def common_costs(rng: Rng, repetitions: int) -> None:
    """Print how often the ratio of two costs of a pass is held, over tasks that both ran."""

    def row(n: int, attempts: int, sigma: float, rate: float, gain: float) -> list[object]:
        def columns(scale: float, base: Floats, rates: Floats) -> dict[str, Any]:
            tasks = np.repeat(np.arange(base.size), attempts)
            return {
                "cost_usd": scale * base[tasks] * np.exp(rng.normal(0, 0.3, tasks.size)),
                "passed": rng.random(tasks.size) < rates[tasks],
                "clusters": tasks,
            }

        def rates_of(size: int) -> Floats:
            return np.minimum(rng.beta(3 * rate, 3 * (1 - rate), size), 1 - gain)

        mean = float(rates_of(1_000_000).mean())
        truth, held, wide = 1.5 * mean / (mean + gain), Count(), []
        for _ in range(repetitions):
            base, rates = np.exp(rng.normal(0, sigma, n)), rates_of(n)
            first = scorekit.cost_of_pass_from_columns(**columns(1.0, base, rates))
            found = scorekit.cost_of_pass_from_columns(
                **columns(1.5, base, rates + gain), baseline=first
            )
            held.add(found.cost_ratio_interval, truth)
            second = columns(1.5, base, rates + gain)
            second["clusters"] = second["clusters"] + n  # as if they were other tasks
            apart = scorekit.cost_of_pass_from_columns(**second, baseline=first)
            reach = [
                math.log(ends.high / ends.low)
                for ends in (found.cost_ratio_interval, apart.cost_ratio_interval)
                if ends is not None and ends.low
            ]
            wide.append(reach[0] / reach[1])
        return [f"{n} x {attempts}", sigma, rate, gain, held.coverage, float(np.median(wide))]

    print_table(
        ["tasks x attempts", "sigma of costs", "pass rate", "gain", "held", "width, times apart"],
        (
            row(*design)
            for design in (
                (6, 5, 1.0, 0.7, 0.0),
                (10, 3, 1.0, 0.6, 0.0),
                (10, 5, 1.0, 0.9, 0.05),
                (30, 1, 1.0, 0.7, 0.0),
                (30, 3, 1.0, 0.6, 0.2),
                (30, 3, 2.0, 0.6, 0.0),
                (30, 5, 0.7, 0.95, 0.03),
                (100, 3, 1.0, 0.6, 0.0),
            )
        ),
    )


def retries(rng: Rng, repetitions: int) -> None:
    """Print how often the mean pass rate is held, hard tasks run 8 times and others twice."""

    def row(n: int, a: float, b: float) -> list[object]:
        counts = Count(), Count()
        for _ in range(repetitions):
            rates = rng.beta(a, b, n)
            tasks = np.repeat(np.arange(n), np.where(rng.random(n) < rates, 2, 8))
            passed = rng.random(tasks.size) < rates[tasks]
            same = scorekit.mean_interval(passed, bounds=(0, 1), clusters=tasks)
            pooled = scorekit.mean_interval(
                passed, bounds=(0, 1), clusters=tasks, weights="attempts"
            )
            for count, ends in zip(counts, (same, pooled), strict=True):
                count.add(ends, a / (a + b))
        cells = (cell for count in counts for cell in (count.coverage, count.width))
        return [n, f"Beta({a:g}, {b:g})", *cells]

    print_table(
        ["tasks", "rates", "each task the same", "width", "each attempt the same", "width"],
        (row(n, a, b) for n in (10, 30, 100) for a, b in ((0.5, 0.5), (2, 1), (4.5, 0.5))),
    )


def shifted_labels(rng: Rng, repetitions: int) -> None:
    """Print what holds where labeled items are right more or less often than the others."""

    def row(truth: float, labeled: float, n: int) -> list[object]:
        mean, corrected, preferred, flagged = Count(), Count(), Count(), 0
        for _ in range(repetitions):
            human = rng.random(n + 500) < np.where(np.arange(n + 500) < n, labeled, truth)
            judged = rng.random(human.size) < np.where(human, 0.9, 0.2)
            found = scorekit.corrected_mean(
                judge_labeled=judged[:n], human=human[:n], judge_unlabeled=judged[n:]
            )
            mean.add(found.interval, truth)
            corrected.add(found.rogan_gladen_interval, truth)
            flagged += found.preferred != "score"
            use_mean = found.preferred == "score"
            preferred.add(found.interval if use_mean else found.rogan_gladen_interval, truth)
        return [
            truth,
            labeled,
            n,
            *(c for one in (mean, corrected) for c in (one.coverage, one.width)),
            preferred.coverage,
            flagged / repetitions,
        ]

    header = ["truth", "of labels", "labels", "mean held", "width", "Rogan-Gladen held", "width"]
    print_table(
        [*header, "preferred held", "shift seen"],
        (
            row(*design, n)
            for design in ((0.7, 0.7), (0.7, 0.6), (0.9, 0.5), (0.5, 0.8))
            for n in (50, 100, 200)
        ),
    )


def tiers(rng: Rng, repetitions: int) -> None:
    """Print how often the uplift of a tier is held, its attempts and tasks unlike the other's."""
    whole = scorekit.tier_statistics(
        "T0",
        scorekit.runs_from_columns(
            run_id=[0, 1], passed=True, impl_rate=1, cost_usd=1, duration_seconds=1, task_id=[0, 1]
        ),
    )

    def tier(name: str, rates: Floats, attempts: NDArray[np.intp]) -> scorekit.TierStatistics:
        scores = {
            f"{task}": tuple((rng.random(n) < rate).astype(np.float64).tolist())
            for task, (rate, n) in enumerate(zip(rates.tolist(), attempts.tolist(), strict=True))
            if n
        }
        return attrs.evolve(whole, tier_id=name, task_scores=FrozenMapping(scores))

    def pooled(tier: scorekit.TierStatistics) -> float:
        return float(
            np.mean([score for own in (tier.task_scores or {}).values() for score in own])
        )

    def row(what: str, gain: float) -> list[object]:
        held, above, ratios = Count(), 0, []
        for _ in range(repetitions):
            easy = np.arange(24) < 12
            rates = np.where(easy, 0.8, 0.3) + rng.uniform(-0.1, 0.1, 24)
            base = np.full(24, 5)
            own = np.where(easy, 2, 10) if what == "attempts" else np.where(easy, 5, 0)
            if what == "equal":
                own = base
            first = tier("T0", rates, base)
            second = tier("T1", np.minimum(rates + gain, 1.0), own)
            result = scorekit.cross_tier([first, second])
            interval = result.uplift_intervals["T1"]
            held.add(interval, gain / (0.8 if what == "tasks" else 0.55))
            above += interval is not None and interval.low > 0.0
            ratios.append(pooled(second) / pooled(first) - 1.0)
        title = {
            "equal": "24 tasks x 5 each",
            "attempts": "2 attempts at the easy half, 10 at the hard one",
            "tasks": "only the easy half",
        }[what]
        return [title, gain, held.coverage, above / repetitions, float(np.mean(ratios))]

    print_table(
        ["second tier", "gain on each task", "uplift held", "seen as better", "pooled uplift"],
        (row(what, gain) for what in ("equal", "attempts", "tasks") for gain in (0.0, 0.1)),
    )


def differences(rng: Rng, repetitions: int) -> None:
    """Print how often `corrected_difference` holds the truth, and how often it sees a gain."""

    def row(n: int, gain: float, flip: float) -> list[object]:
        plain, corrected, seen = Count(), Count(), 0
        for _ in range(repetitions):
            hard = rng.uniform(0.4, 0.9, 400)
            human = [(rng.random(400) < np.minimum(hard + d, 1)) * 1.0 for d in (0.0, gain)]
            judge = [np.where(rng.random(400) < flip, 1.0 - y, y) for y in human]
            labels = [[*y[:n].tolist(), *[None] * (400 - n)] for y in human]
            found = scorekit.corrected_difference(
                *judge, human_baseline=labels[0], human_current=labels[1]
            )
            corrected.add(found.interval, gain)
            seen += found.interval.low > 0.0
            alone = human[1][:n] - human[0][:n]
            plain.add(scorekit.mean_interval(alone, bounds=(-1, 1)), gain)
        return [
            n,
            flip,
            gain,
            corrected.coverage,
            seen / repetitions,
            corrected.width,
            plain.width,
        ]

    print_table(
        ["labels", "judge errs", "gain", "held", "seen", "width", "width of labels alone"],
        (
            row(n, gain, flip)
            for n in (20, 25, 50, 100)
            for gain, flip in ((0.0, 0.2), (0.1, 0.05))
        ),
    )


def rubrics(rng: Rng, repetitions: int) -> None:
    """Print how often the mean of rubrics is held, of which some criteria take points away."""

    def row(n: int, rate: float) -> list[object]:
        held = Count()
        points = [5.0, 3.0, 2.0, -4.0]
        truth = rate - 0.4 * 0.1
        for _ in range(repetitions):
            met = np.column_stack([rng.random((n, 3)) < rate, rng.random(n) < 0.1])
            found = scorekit.rubric_score([points] * n, met.tolist())
            held.add(found.interval, truth)
        return [n, rate, held.coverage, held.width]

    print_table(
        ["answers", "criteria met", "held", "width"],
        (row(n, rate) for n in (10, 30) for rate in (0.5, 0.9)),
    )


def time_horizons(rng: Rng, repetitions: int) -> None:
    """Print how often a horizon of 60 minutes is held, tasks of a family being alike."""

    def row(n_families: int, each: int, slope: float, spread: float, share: float) -> list[object]:
        shifts = stats.norm.ppf(np.arange(0.5, 200) / 200) * spread
        truth = brentq(
            lambda at: np.mean(stats.logistic.cdf(slope * at + shifts)) - share, -40, 40
        )
        held, none = Count(), 0
        for _ in range(repetitions):
            family = np.repeat(np.arange(n_families), each)
            lengths = rng.uniform(0, 9.5, family.size)
            shift = rng.normal(0, spread, n_families)[family]
            chance = stats.logistic.cdf(slope * (lengths - math.log2(60)) + shift)
            passed = rng.random(family.size) < chance
            found = scorekit.time_horizon(2.0**lengths, passed, families=family, share=share)
            none += found.score is None
            held.add(found.interval, 60.0 * 2.0**truth)
        return [n_families, each, slope, spread, share, held.coverage, none / repetitions]

    print_table(
        ["families", "tasks each", "slope", "spread, logits", "share", "held", "no horizon"],
        (row(*design) for design in HORIZONS),
    )


HORIZONS = [
    *((n, 1, -0.6, 0.0, 0.5) for n in (8, 12, 20, 40)),
    (40, 1, -0.6, 0.0, 0.8),
    *((n, 1, -3.0, 0.0, 0.5) for n in (12, 20, 40, 100)),
    (40, 1, -3.0, 0.0, 0.8),
    (10, 5, -0.6, 0.0, 0.5),
    (10, 5, -0.6, 1.0, 0.5),
    (30, 3, -0.6, 1.0, 0.5),
]
"""Families, tasks of each, change of the log odds by a doubling, spread of families, share."""


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 2000 if full else 20
    print_parts(
        (
            grades,
            corrected_grades,
            agreements,
            calibration,
            stopped,
            costs,
            common_costs,
            retries,
            tiers,
            shifted_labels,
            differences,
            rubrics,
            time_horizons,
        ),
        repetitions,
        SEED,
    )


if __name__ == "__main__":
    alone(main)
