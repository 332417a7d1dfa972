"""
The false-alarm rate of each suite verdict, and its power.

Every task has its own success rate, drawn from Beta(1/2, 1/2): most tasks are nearly always or
nearly never solved.  For false alarms both runs draw from the same rates; for power a fifth of
the tasks, drawn from those that have them, loses 25 points.

- One suite, of attempts scored 0 or 1.
- Two models: each has a strength of its own at each task, equal on average.
- Clusters: five attempts a task, and a shift of each group of its own, 0 on average for false
  alarms and -0.1 for power.
- Several: four models on 100 x 5, of which none, one or all lose.
- Margin: one attempt a task, a share of the tasks falls and another rises; the loss is exactly the
  margin (a false claim) or 0 (a true one).  Then several attempts at tasks of rates from
  Beta(2, 1), and tasks of which a few fall wholly, each with an eighth of the repetitions.

    python -m benchmarks.simulations.simulate_verdicts [--full]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import scorekit
from benchmarks.machine import alone

DESIGNS = ((100, 1), (100, 5), (164, 10))
GROUPS: dict[str, list[int]] = {
    "5 x 20": [20] * 5,
    "10 x 10": [10] * 10,
    "40 x 4": [4] * 40,
    "1 x 40 + 20 x 3": [40] + [3] * 20,
}
SPREAD = 0.1
OWN = 0.2
"""Spread of a model's rate at a task about the task's."""
ATTEMPTS = 5
LOSS = 0.25
MARGIN = 0.05
SEED = 20261120

Counts = NDArray[np.int64]
Scores = dict[str, list[int] | float]


def draw(
    rng: np.random.Generator, n_tasks: int, n_attempts: int, *, loss: bool
) -> tuple[Counts, Counts]:
    """Return successes per task of the baseline and of the current run."""
    rates = rng.beta(0.5, 0.5, n_tasks)
    current = rates.copy()
    if loss:
        able = np.flatnonzero(rates >= LOSS)
        current[rng.choice(able, n_tasks // 5, replace=False)] -= LOSS
    return rng.binomial(n_attempts, rates), rng.binomial(n_attempts, current)


def named(counts: Counts, n_attempts: int, *, binary: bool = True) -> Scores:
    """Return successes as scores of attempts, or as their mean."""
    return {
        f"task-{i}": [1] * c + [0] * (n_attempts - c) if binary else c / n_attempts
        for i, c in enumerate(counts.tolist())
    }


def shares(
    repetitions: int, seed: int, once: Callable[[np.random.Generator], str]
) -> dict[str, float]:
    """Return how often *once* gave each answer."""
    rng = np.random.default_rng(seed)
    counts = Counter(once(rng) for _ in range(repetitions))
    return {answer: n / repetitions for answer, n in counts.items()}


def alarms(found: dict[str, float]) -> str:
    """Return the share of alarms on either side."""
    worse, better = found.get("regressed", 0.0), found.get("improved", 0.0)
    return f"{worse + better:.4f} ({worse:.4f} + {better:.4f})"


def one_suite(repetitions: int, seed: int) -> None:
    """Print false alarms and power."""
    print("| tasks x attempts | false alarms (worse + better) | power |")
    print("|---|---|---|")
    for n_tasks, n_attempts in DESIGNS:

        def once(rng: np.random.Generator, *, loss: bool) -> str:
            sides = draw(rng, n_tasks, n_attempts, loss=loss)  # noqa: B023 - used at once
            before, after = (named(side, n_attempts) for side in sides)  # noqa: B023 - as above
            return scorekit.compare_reports(before, after).suite.verdict

        null = shares(repetitions, seed, lambda rng: once(rng, loss=False))
        real = shares(repetitions, seed, lambda rng: once(rng, loss=True))
        row = f"{alarms(null)} | {real.get('regressed', 0.0):.3f}"
        print(f"| {n_tasks} x {n_attempts} | {row} |")


def two_models(repetitions: int, seed: int) -> None:
    """Print false alarms about models that differ from task to task and not on average."""
    print("\n| tasks x attempts | false alarms (worse + better) |")
    print("|---|---|")
    for n_tasks, n_attempts in DESIGNS:

        def once(rng: np.random.Generator) -> str:
            rates = rng.uniform(0.3, 0.7, n_tasks)  # noqa: B023 - used at once
            own = np.clip(rates + rng.normal(0.0, OWN, (2, n_tasks)), 0.0, 1.0)  # noqa: B023 - as above
            before, after = (named(side, n_attempts) for side in rng.binomial(n_attempts, own))  # noqa: B023 - as above
            return scorekit.compare_reports(before, after).suite.verdict

        null = alarms(shares(repetitions, seed, once))
        print(f"| {n_tasks} x {n_attempts} | {null} |", flush=True)


def clustered(repetitions: int, seed: int) -> None:
    """Print false alarms with and without the groups, and the power with them."""
    print("\n| groups x tasks | false alarms without clusters | with clusters | power with |")
    print("|---|---|---|---|")
    for title, sizes in GROUPS.items():
        groups = np.repeat(np.arange(len(sizes)), sizes)
        clusters = {f"task-{i}": int(group) for i, group in enumerate(groups)}

        def once(rng: np.random.Generator, mean: float, known: dict[str, int] | None) -> str:
            rates = rng.uniform(0.3, 0.7, groups.size)  # noqa: B023 - used at once
            shift = mean + rng.normal(0.0, SPREAD, len(sizes))[groups]  # noqa: B023 - as above
            current = np.clip(rates + shift, 0.0, 1.0)
            sides = (rng.binomial(ATTEMPTS, side) for side in (rates, current))
            before, after = (named(side, ATTEMPTS) for side in sides)
            return scorekit.compare_reports(before, after, clusters=known).suite.verdict

        blind = shares(repetitions, seed, lambda rng: once(rng, 0.0, None))
        null = shares(repetitions, seed, lambda rng: once(rng, 0.0, clusters))  # noqa: B023 - as above
        real = shares(repetitions, seed, lambda rng: once(rng, -0.1, clusters))  # noqa: B023 - as above
        print(f"| {title} | {alarms(blind)} | {alarms(null)} | {real.get('regressed', 0.0):.3f} |")


def several(repetitions: int, seed: int) -> None:
    """Print how often any of four models is called worse, and how often those that are."""
    names = "abcd"
    print("\n| adjustment | any false alarm | one worse: seen | all worse: share seen |")
    print("|---|---|---|---|")

    def report(columns: list[Counts]) -> scorekit.CodeReport:
        return scorekit.code_report(
            scorekit.CodeSample(case_id=f"t{i}", model=name, compiled=True, passed=c, failed=5 - c)
            for name, column in zip(names, columns, strict=True)
            for i, c in enumerate(column.tolist())
        )

    adjustments: tuple[Literal["none", "all"], ...] = ("none", "all")
    found: dict[tuple[str, int], list[list[str]]] = {}
    for n_worse in (0, 1, 4):
        rng = np.random.default_rng(seed)
        for _ in range(repetitions):
            pairs = [draw(rng, 100, ATTEMPTS, loss=i < n_worse) for i in range(len(names))]
            before, after = (report([pair[side] for pair in pairs]) for side in (0, 1))
            for adjustment in adjustments:
                suites = scorekit.compare_reports(
                    before, after, metrics=["code_score"], adjustment=adjustment
                ).suites
                verdicts = [str(suite.verdict) for suite in suites.values()]
                found.setdefault((adjustment, n_worse), []).append(verdicts)
    for adjustment in adjustments:
        false_alarms = np.mean(
            [bool({"regressed", "improved"} & {*row}) for row in found[adjustment, 0]]
        )
        one = np.mean([row[0] == "regressed" for row in found[adjustment, 1]])
        every = np.mean([[v == "regressed" for v in row] for row in found[adjustment, 4]])
        print(f"| {adjustment} | {false_alarms:.4f} | {one:.3f} | {every:.3f} |")


def claimed(before: Scores, after: Scores, margin: float) -> str:
    """Return ``"claimed"`` where a run is said to be no worse than by the margin."""
    suite = scorekit.compare_reports(before, after, margin=margin).suite
    assert suite.within_margin is not None
    return "claimed" if suite.within_margin in ("not worse", "equivalent") else ""


@cache
def claimed_of_changes(n_tasks: int, n_risen: int, n_fallen: int) -> str:
    """Return the verdict on tasks that rose or fell wholly."""
    before = np.repeat([0, 1, 0], [n_risen, n_fallen, n_tasks - n_risen - n_fallen])
    after = np.repeat([1, 0, 0], [n_risen, n_fallen, n_tasks - n_risen - n_fallen])
    return claimed(named(before, 1), named(after, 1), MARGIN)


def margin(repetitions: int, seed: int) -> None:
    """Print false and true claims to be no worse than by the margin."""
    print(f"\n| tasks | rise / fall | false claims at a loss of {MARGIN} | true claims at 0 |")
    print("|---|---|---|---|")
    for n_tasks in (100, 200, 400):
        for rise in (0.0, 0.02, 0.1):

            def once(rng: np.random.Generator, rise: float, fall: float) -> str:
                risen, fallen, _ = rng.multinomial(n_tasks, [rise, fall, 1 - rise - fall]).tolist()  # noqa: B023 - used at once
                return claimed_of_changes(n_tasks, risen, fallen)  # noqa: B023 - as above

            fall = rise + MARGIN
            wrong = shares(repetitions, seed, lambda rng: once(rng, rise, fall))  # noqa: B023 - as above
            right = shares(repetitions, seed, lambda rng: once(rng, rise, rise))  # noqa: B023 - as above
            claims = [side.get("claimed", 0.0) for side in (wrong, right)]
            print(f"| {n_tasks} | {rise:g} / {fall:g} | {claims[0]:.4f} | {claims[1]:.3f} |")


def margin_of_attempts(repetitions: int, seed: int) -> None:
    """Print the same for several attempts, every task losing the same share of its rate."""
    print("\n| tasks x attempts | margin | false claims | true claims at 0 |")
    print("|---|---|---|---|")
    for n_tasks, most in ((20, 0.2), (50, 0.1), (100, 0.1), (200, 0.05)):
        for k in (1, 4, 10):

            def once(rng: np.random.Generator, loss: float) -> str:
                rates = rng.beta(2, 1, n_tasks)  # noqa: B023 - used at once
                before, after = rng.binomial(k, rates), rng.binomial(k, rates * (1 - 1.5 * loss))  # noqa: B023
                return claimed(
                    named(before, k, binary=False),  # noqa: B023
                    named(after, k, binary=False),  # noqa: B023
                    most,  # noqa: B023
                )

            claims = [
                shares(repetitions // 8, seed, lambda rng: once(rng, loss)).get("claimed", 0.0)  # noqa: B023
                for loss in (most, 0.0)
            ]
            print(f"| {n_tasks} x {k} | {most} | {claims[0]:.4f} | {claims[1]:.3f} |", flush=True)


def rare_falls(repetitions: int, seed: int) -> None:
    """Print false claims where a few tasks fall wholly, and others by one of four attempts."""
    print("\n| tasks | fall wholly (= margin) | move by 0.25 | false claims |")
    print("|---|---|---|---|")
    for n_tasks, fall, move in (
        (20, 0.1, 0.3),
        (20, 0.12, 0.3),
        (40, 0.07, 0.2),
        (100, 0.03, 0.3),
        (200, 0.02, 0.3),
    ):

        def once(rng: np.random.Generator) -> str:
            chances = [fall, move / 2, move / 2, 1 - fall - move]  # noqa: B023 - used at once
            kinds = rng.choice(4, n_tasks, p=chances)  # noqa: B023 - as above
            before, after = np.array([4, 3, 4, 4])[kinds], np.array([0, 4, 3, 4])[kinds]
            return claimed(named(before, 4, binary=False), named(after, 4, binary=False), fall)  # noqa: B023

        claims = shares(repetitions // 8, seed, once).get("claimed", 0.0)
        print(f"| {n_tasks} | {fall} | {move} | {claims:.4f} |", flush=True)


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 4000 if full else 40
    print(f"{repetitions} repetitions, seed {SEED}, confidence 0.95\n")
    for part in (
        one_suite,
        two_models,
        clustered,
        several,
        margin,
        margin_of_attempts,
        rare_falls,
    ):
        part(repetitions, SEED)


if __name__ == "__main__":
    alone(main)
