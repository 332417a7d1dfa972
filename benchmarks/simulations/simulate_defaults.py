"""
How often defaults err on data as they come: through the public functions, nothing worked out here.

- Gates on unchanged runs with missing cases, unknown outcomes, unequal attempts, rare failures,
  few cases, partial credit, uneven clusters and repeats.
- Verdicts while a run grows in random order, and margins of such runs.
- Ten equal models, also of scores with ties and of uneven attempts.
- Corrected differences and rubrics of clusters.
- Power at the numbers of tasks that `required_tasks` plans.

    python -m benchmarks.simulations.simulate_defaults [--full]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import scorekit
from benchmarks.machine import alone
from benchmarks.simulations.coverage_scores import Count, print_parts, print_table

SEED = 20261125

Array = NDArray[Any]
Rng = np.random.Generator
Run = Any
"""A mapping from case to the scores of its attempts, a report, or several of them."""
Pair = Callable[[Rng], tuple[Run, Run]]


def mapping(rng: Rng, rates: Array, sizes: int | Array) -> dict[str, list[int]]:
    """Draw attempts at each case."""
    counts = np.broadcast_to(sizes, rates.shape).tolist()
    return {
        f"{i}": (rng.random(n) < rate).astype(int).tolist()
        for i, (rate, n) in enumerate(zip(rates.tolist(), counts, strict=True))
    }


def grades(rng: Rng, n: int, attempts: int) -> dict[str, list[float]]:
    """Draw scores of which four in five are 1."""
    values = np.where(rng.random((n, attempts)) < 0.8, 1.0, rng.random((n, attempts)))
    return {f"{i}": row for i, row in enumerate(values.tolist())}


def report(
    rng: Rng, rates: Array, attempts: int, unknown: float, *, of_failures: bool = False
) -> scorekit.CodeReport:
    """Draw a report in which the outcome of a share of the attempts, or failures, is unknown."""
    case = np.repeat(np.arange(rates.size), attempts)
    right = rng.random(case.size) < rates[case]
    lost = rng.random(case.size) < unknown
    if of_failures:
        lost &= ~right
    passed = [None if none else int(one) for none, one in zip(lost, right, strict=True)]
    return scorekit.code_report_from_columns(
        case_id=case.tolist(),
        model="m",
        compiled=True,
        passed=passed,
        failed=(~right * 1).tolist(),
    )


def drifted(rng: Rng, rates: Array, spread: float = 0.2) -> Array:
    """Move all cases of a run together, by so many logits."""
    inside = np.clip(rates, 1e-9, 1 - 1e-9)
    return np.asarray(1 / (1 + np.exp(-(np.log(inside / (1 - inside)) + rng.normal(0, spread)))))


def both(make: Callable[[Array], Run], rates: Array) -> tuple[Run, Run]:
    """Return two runs of the same rates."""
    return make(rates), make(rates)


def without(rng: Rng, run: dict[str, Any], share: float) -> dict[str, Any]:
    """Leave out cases by chance."""
    return {case: scores for case, scores in run.items() if rng.random() >= share} or run


def designs() -> Iterator[tuple[str, str, Any, dict[str, Any]]]:  # noqa: C901 - a table
    """Yield unchanged runs: what is odd about them, their size, how they are drawn, options."""
    for n, k in ((20, 3), (100, 3)):
        yield (
            "a tenth of the cases missing on either side",
            f"{n} x {k}",
            lambda rng, n=n, k=k: tuple(
                without(rng, run, 0.1)
                for run in both(lambda rates: mapping(rng, rates, k), rng.random(n))
            ),
            {},
        )
        for title, share, of_failures in (
            ("a tenth of the outcomes unknown", 0.1, False),
            ("half of the failures unknown", 0.5, True),
        ):
            yield (
                title,
                f"{n} x {k}",
                lambda rng, n=n, k=k, share=share, of_failures=of_failures: both(
                    lambda rates: report(rng, rates, k, share, of_failures=of_failures),
                    rng.random(n),
                ),
                {},
            )
        yield (
            "half of the failures unknown in the baseline alone",
            f"{n} x {k}",
            lambda rng, n=n, k=k: tuple(
                report(rng, rates, k, share, of_failures=True)
                for rates in [rng.random(n)]
                for share in (0.5, 0.0)
            ),
            {},
        )
    for n in (10, 20, 100):
        for title, rate in (("uniform", None), ("all .95", 0.95)):
            yield (
                f"1 to 5 attempts at each case, {title}",
                f"{n}",
                lambda rng, n=n, rate=rate: both(
                    lambda rates: mapping(rng, rates, rng.integers(1, 6, n)),
                    rng.random(n) if rate is None else np.full(n, rate),
                ),
                {},
            )
    for n, k in ((20, 1), (20, 5), (164, 1), (164, 5)):
        yield (
            "all .99",
            f"{n} x {k}",
            lambda rng, n=n, k=k: both(lambda rates: mapping(rng, rates, k), np.full(n, 0.99)),
            {},
        )
    yield (
        "all pass",
        "100 x 5",
        lambda rng: both(lambda rates: mapping(rng, rates, 5), np.ones(100)),
        {},
    )
    for n in (4, 6, 8, 10):
        for k in (1, 3, 10):
            yield (
                "few cases, uniform",
                f"{n} x {k}",
                lambda rng, n=n, k=k: both(lambda rates: mapping(rng, rates, k), rng.random(n)),
                {},
            )
    for n, k in ((10, 1), (20, 1), (20, 5), (100, 1)):
        yield (
            "scores of which 80 % are 1",
            f"{n} x {k}",
            lambda rng, n=n, k=k: (grades(rng, n, k), grades(rng, n, k)),
            {},
        )
    for sizes in ([40] + [3] * 20, [1, 2, 4, 8, 16], [2, 2, 2, 30]):
        of = np.repeat(np.arange(len(sizes)), sizes)
        clusters = {f"{i}": int(one) for i, one in enumerate(of)}
        yield (
            "clusters that move by .1",
            "+".join(map(str, sizes)) if len(sizes) < 9 else "40 + 20 x 3",
            lambda rng, of=of: tuple(
                mapping(rng, np.clip(rates + shift, 0, 1), 5)
                for rates in [rng.uniform(0.3, 0.7, of.size)]
                for shift in (0.0, rng.normal(0, 0.1, of.max() + 1)[of])
            ),
            {"clusters": clusters},
        )
    for n_old, n_new in ((3, 3), (2, 1), (1, 2), (2, 2)):
        for title, size in (("5 attempts", 5), ("1 to 5 attempts", None)):
            yield (
                f"repeats that drift by .2 logits, {title}",
                f"{n_old} v {n_new}, 30 cases",
                lambda rng, n_old=n_old, n_new=n_new, size=size: tuple(
                    [
                        mapping(rng, drifted(rng, rates), size or rng.integers(1, 6, 30))
                        for _ in range(n)
                    ]
                    for rates in [rng.random(30)]
                    for n in (n_old, n_new)
                ),
                {},
            )
    for share in (0.1, 0.3):
        yield (
            f"repeats with {share:.0%} of the outcomes unknown",
            "3 v 3, 30 x 5",
            lambda rng, share=share: tuple(
                [report(rng, rates, 5, share) for _ in range(3)]
                for rates in [rng.random(30)]
                for _ in range(2)
            ),
            {},
        )


def gates(rng: Rng, repetitions: int) -> None:
    """Print how often unchanged runs stop a job, and how often a verdict says they changed."""

    def row(title: str, size: str, draw: Pair, options: dict[str, Any]) -> list[object]:
        stops = changed = 0
        for _ in range(repetitions):
            found = scorekit.compare_reports(*draw(rng), **options)
            verdicts = {str(suite.verdict) for suite in found.suites.values()}
            changed += bool(verdicts & {"regressed", "improved"})
            try:
                found.raise_for_regressions(allow_missing=True)
            except (scorekit.RegressionError, scorekit.CannotSeeError):
                stops += 1
        return [title, size, stops / repetitions, changed / repetitions]

    print_table(
        ["unchanged runs", "cases", "stopped", "changed"], (row(*one) for one in designs())
    )


def growing(rng: Rng, repetitions: int) -> None:
    """Print how often a run in random order is said to have changed, or to hold a margin of .1."""

    def row(kind: str, n: int, loss: float) -> list[object]:
        changed = claimed = 0
        for _ in range(repetitions):
            rates = rng.random(n)
            old: Run
            new: Run
            if kind == "80 % ones":
                old, new = grades(rng, n, 1), grades(rng, n, 1)
            else:
                lower = np.where(rng.random(n) < loss / 0.5, 0.0, rates)  # a few cases are lost
                old, new = mapping(rng, rates, 3), mapping(rng, lower, 3)
            order = rng.permutation(n)
            seen = [False, False]
            for look in range(n // 10, n + 1, n // 10):
                part = {f"{i}": new[f"{i}"] for i in order[:look].tolist()}
                suite = scorekit.compare_reports(
                    old, part, anytime=True, random_order=True, margin=0.1
                ).suite
                assert suite.within_margin is not None
                seen[0] |= suite.verdict in ("regressed", "improved")
                seen[1] |= suite.within_margin in ("not worse", "equivalent")
            changed += seen[0]
            claimed += seen[1]
        return [kind, n, loss, changed / repetitions, claimed / repetitions]

    print_table(
        ["scores", "cases", "true loss", "changed at a look", "margin of .1 claimed"],
        (
            row(kind, n, loss)
            for kind, loss in (("80 % ones", 0.0), ("uniform", 0.0), ("uniform", 0.1))
            for n in (50, 200)
        ),
    )


def equal_models(rng: Rng, repetitions: int) -> None:
    """Print how often ten equal models get a false verdict, and how many may be the best."""

    def row(kind: str, n: int) -> list[object]:
        apart, best = 0, []
        for _ in range(repetitions):
            hard = rng.random(n)
            scores: dict[str, Any] = {}
            for j in range(10):
                if kind == "one attempt":
                    own: Any = rng.binomial(1, hard) * 1.0
                elif kind == "mostly ties":
                    own = rng.binomial(1, np.where(hard < 0.9, 1.0, 0.5)) * 1.0
                else:
                    own = [rng.binomial(1, rate, 1 + 9 * (j % 2)).tolist() for rate in hard]
                scores[f"{j}"] = dict(enumerate(own if isinstance(own, list) else own.tolist()))
            bounds = (0.0, 1.0) if kind.startswith("1 or") else None
            found = scorekit.compare_models(scores, bounds=bounds, n_resamples=1000)
            apart += any(pair.verdict == "better" for pair in found.pairs)
            best.append(len(found.best))
        return [kind, n, apart / repetitions, float(np.mean(best))]

    print_table(
        ["ten equal models", "tasks", "some false verdict", "may be the best, mean"],
        (
            row(kind, n)
            for kind in ("one attempt", "mostly ties", "1 or 10 attempts")
            for n in (20, 100)
        ),
    )


def clustered_scores(rng: Rng, repetitions: int) -> None:
    """Print how often corrected differences and rubrics of clusters are held."""

    def difference(n_clusters: int, each: int) -> list[object]:
        held, seen = Count(), 0
        for _ in range(repetitions):
            of = np.repeat(np.arange(n_clusters), each)
            shift = rng.normal(0.0, 0.15, n_clusters)[of]
            rates = rng.uniform(0.3, 0.7, of.size)
            human = [(rng.random(of.size) < np.clip(rates + d, 0, 1)) * 1.0 for d in (0.0, shift)]
            judge = [np.where(rng.random(of.size) < 0.1, 1.0 - y, y) for y in human]
            labeled = rng.permutation(n_clusters)[: n_clusters // 3]
            known = np.isin(of, labeled)
            columns = [
                [one if has else None for one, has in zip(y.tolist(), known, strict=True)]
                for y in human
            ]
            found = scorekit.corrected_difference(
                *judge, human_baseline=columns[0], human_current=columns[1], clusters=of
            )
            held.add(found.interval, 0.0)
            seen += found.interval.low > 0.0 or found.interval.high < 0.0
        size = f"{n_clusters} x {each}"
        return ["corrected difference", size, held.coverage, seen / repetitions, held.width]

    def rubric(n_clusters: int, each: int) -> list[object]:
        held, points = Count(), [5.0, 3.0, 2.0, -4.0]
        for _ in range(repetitions):
            of = np.repeat(np.arange(n_clusters), each)
            rate = rng.beta(4.5, 0.5, n_clusters)[of]
            met = np.column_stack(
                [*(rng.random(of.size) < rate for _ in range(3)), rng.random(of.size) < 0.1]
            )
            found = scorekit.rubric_score([points] * of.size, met.tolist(), clusters=of)
            held.add(found.interval, 0.9 - 0.04)
        return ["rubric", f"{n_clusters} x {each}", held.coverage, "-", held.width]

    print_table(
        ["score", "clusters x tasks", "held", "false differences", "width"],
        (
            kind(n, each)
            for kind in (difference, rubric)
            for n, each in ((12, 10), (40, 5), (150, 2))
        ),
    )


def planned(rng: Rng, repetitions: int) -> None:  # noqa: C901 - what is drawn stands inside
    """Print the power that a planned number of tasks has."""

    def verdict(both: Iterator[Array], k: int) -> bool:
        runs = (
            {f"{i}": [1] * c + [0] * (k - c) for i, c in enumerate(side.tolist())} for side in both
        )
        found = scorekit.compare_reports(*runs, attempts="independent")
        return found.suite.verdict == "regressed"

    def row(
        title: str, n: int, k: int, draw: Callable[[int], tuple[Array, Array]]
    ) -> list[object]:
        power = np.mean(
            [verdict((rng.binomial(k, side) for side in draw(n)), k) for _ in range(repetitions)]
        )
        return [title, n, k, float(power)]

    def defaults(effect: float) -> Callable[[int], tuple[Array, Array]]:
        def draw(n: int) -> tuple[Array, Array]:
            old = rng.random(n)
            new = np.where(rng.random(n) < 1 / 3, old, rng.random(n))  # a correlation of 1/3
            return old, new * (1 - 2 * effect)

        return draw

    def changing(share: float, effect: float) -> Callable[[int], tuple[Array, Array]]:
        def draw(n: int) -> tuple[Array, Array]:
            u = rng.random(n)
            falls, rises = u < (share + effect) / 2, u > 1 - (share - effect) / 2
            old = np.where(falls, 1.0, np.where(rises, 0.0, rng.random(n) < 0.5))
            return old, np.where(falls, 0.0, np.where(rises, 1.0, old))

        return draw

    def rows() -> Iterator[list[object]]:
        for effect, k in ((0.1, 1), (0.1, 5), (0.2, 1), (0.2, 5)):
            n = scorekit.required_tasks(effect=effect, attempts=k).n_tasks
            yield row(f"defaults, {effect:g}", n, k, defaults(effect))
        for effect, share in ((0.05, 0.15), (0.1, 0.2), (0.2, 0.5), (0.1, 0.1)):
            n = scorekit.required_tasks(effect=effect, discordant=share).n_tasks
            yield row(f"{share:.0%} change, {effect:g}", n, 1, changing(share, effect))
        for rate, effect in ((0.95, 0.05), (0.8, 0.1), (0.5, 0.1)):
            n = scorekit.required_tasks(
                effect=effect, task_variance=0, sampling_variance=rate * (1 - rate)
            ).n_tasks
            yield row(
                f"all {rate:g}, {effect:g}",
                n,
                1,
                lambda n, rate=rate, effect=effect: (  # type: ignore[misc]
                    np.full(n, rate),
                    np.full(n, rate - effect),
                ),
            )
        for share, effect in ((0.15, 0.1), (0.3, 0.1)):
            plan = scorekit.required_tasks(effect=effect, discordant=share, anytime=True)
            draw = changing(share, effect)
            stopped = []
            for _ in range(max(repetitions // 5, 1)):
                old, new = draw(plan.n_tasks)
                looks = np.linspace(plan.n_tasks / 20, plan.n_tasks, 20).astype(int).tolist()
                sides = ({f"{i}": s for i, s in enumerate(side.tolist())} for side in (old, new))
                first, second = sides
                stopped.append(
                    any(
                        scorekit.compare_reports(
                            first,
                            {f"{i}": second[f"{i}"] for i in range(look)},
                            anytime=True,
                            random_order=True,
                        ).suite.verdict
                        == "regressed"
                        for look in looks
                    )
                )
            yield [f"{share:.0%} change, {effect:g}, anytime", plan.n_tasks, 1, np.mean(stopped)]

    print_table(["plan", "tasks", "attempts", "power"], rows())


def main(*, full: bool = False) -> None:
    """Print the Markdown tables."""
    repetitions = 2000 if full else 10
    print_parts((gates, growing, equal_models, clustered_scores, planned), repetitions, SEED)


if __name__ == "__main__":
    alone(main)
