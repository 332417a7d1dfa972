"""Many models at once: `compare_models` by scores, `bradley_terry` by preferences."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, combinations
from operator import itemgetter
from typing import Any, Literal, NamedTuple, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.attempts import CaseScores
from scorekit._core.checks import (
    check_count,
    check_instance,
    check_items,
    check_number,
    check_text,
    is_ordered,
)
from scorekit._core.columns import by_id
from scorekit._core.gaffke import unseen_p_value
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.sums import exact_mean
from scorekit._sheet.model import ROWS_AT_MOST, Estimate, Sheet, Table
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.bounded import Floats
from scorekit._stats.exact import is_tuple
from scorekit._stats.sides import SCORE, read_mapping
from scorekit.errors import InputError, one_line, refuse, shown
from scorekit.intervals import (
    Interval,
    check_bounds,
    normal_quantile,
    t_quantile,
    unseen_interval,
)
from scorekit.records import UNKNOWN, Record, Report, ReportScores, SuiteKey, TableRecord, listing
from scorekit.verdicts import adjusted_p_values

MAX_VALUE = 1e100
"""Largest score taken: squares of such ones stay finite."""

NOISE = 1e-12
"""Share of the largest score below which two scores are equal but for rounding."""

SAME = 1e-9
"""Share by which two statistics differ only by rounding."""

EQUAL = 1.2
"""Ratio of attempts up to which the mean difference of equal models is hardly skewed."""

MAX_ENUMERATED = 60
"""Rows above which no one could count all signs; their number would not fit a float."""

MANY = 1000.0
"""Tasks from which on sums with random signs are drawn as the normal numbers that they are."""

MAX_WINS = 10**9
"""Largest count taken, so that strengths and their errors keep their digits."""

CONVERGED = 1e-11
"""Step of a strength at which the search for it ends."""

CELLS = 4_000_000
"""Numbers held at once while signs are drawn: 32 MB."""


@attrs.frozen(kw_only=True, repr=False)
class ModelPair(Record):
    """Two models of a `ModelComparison`, the one with the higher mean first."""

    first: str
    second: str
    delta: float
    """Mean of *first* minus that of *second*, at least 0."""
    interval: Interval | None
    """Interval of *delta*; those of all pairs hold at the same time. None if the difference is the
    same at all tasks, which does not show the error; with unequal attempts *bounds* do."""
    p_value: float
    """Two-sided, from flipped signs, for this pair alone."""
    adjusted_p_value: float
    """P value adjusted for all pairs, step by step, on which the verdict is based."""
    verdict: Literal["better", "inconclusive"]
    """``"better"`` where *first* is shown to be better than *second*."""

    def _line(self) -> str:
        return (
            f"{one_line(self.first)} - {one_line(self.second)}: {self.verdict}, "
            f"{estimate(self.delta, self.interval, '+')} "
            f"(adjusted p = {self.adjusted_p_value:.2g})"
        )


@attrs.frozen(kw_only=True, repr=False)
class ModelComparison(TableRecord):
    """Result of `compare_models`; ``str()`` shows the models with means and ranks, best first."""

    means: FrozenMapping[str, float]
    """Mean score of each model, the best first."""
    ranks: FrozenMapping[str, Interval]
    """The ranks that each model may have, 1 being the best; those of all models hold at once."""
    best: tuple[str, ...]
    """The models that may be the best. The best one is among them with the confidence level, and
    so is each of several that are equally good. They are fewer than those whose ranks include 1,
    which hold for all models at once."""
    pairs: tuple[ModelPair, ...] = attrs.field(converter=listing)
    """Every two models, the best first."""
    n_tasks: int
    """Tasks that all models have."""
    n_left_out: int
    """Tasks that only some models have, which do not count."""
    n_tasks_by_model: FrozenMapping[str, int] = attrs.field(factory=FrozenMapping[str, int])
    """Tasks of which each model has a known outcome, in the order given. A model that has none is
    not compared."""
    n_unknown: int = 0
    """Attempts with unknown outcomes, which do not count."""
    metric: str | None = None
    """What was taken from reports; None where numbers were given."""

    def _sheet(self) -> Sheet:
        sure = level_of(next(iter(self.ranks.values())))
        n, left_out = self.n_tasks, f", {self.n_left_out} left out" if self.n_left_out else ""
        known = {model: n for model, n in self.n_tasks_by_model.items() if n}
        if self.n_left_out and known:
            model, n_own = min(known.items(), key=itemgetter(1))
            short = f"{one_line(model, MAX_NAME)} has {n_own} of {n + self.n_left_out}"
            few = ": compare the others without it" if n_own == n < self.n_left_out else ""
            left_out += f" ({short}{few})"
        if self.n_unknown:
            left_out += f", {self.n_unknown} {UNKNOWN} left out"
        if lost := [one_line(m, MAX_NAME) for m, n in self.n_tasks_by_model.items() if not n]:
            left_out += f", without {', '.join(lost)} (no known outcome)"
        models = [
            {
                "model": one_line(name, MAX_NAME),
                "mean": mean,
                "rank": self.ranks[name],
            }
            for name, mean in self.means.items()
        ]
        pairs = [
            {
                "pair": f"{one_line(pair.first, MAX_NAME)} - {one_line(pair.second, MAX_NAME)}",
                "verdict": pair.verdict,
                "difference": Estimate(pair.delta, pair.interval, "+"),
                "p": pair.p_value,
                "p (adjusted)": pair.adjusted_p_value,
            }
            for pair in self.pairs[:ROWS_AT_MOST]
        ]
        specs = {"p": ".2g", "p (adjusted)": ".2g"}
        return Sheet(
            "ModelComparison",
            f"{self._said()} ({sure}, {counted(len(self.means), 'model')} over "
            f"{counted(n, 'task')}{left_out})",
            (
                Table(rows=models),
                Table(
                    rows=pairs,
                    title=f"Pairs: {len(self.pairs)}",
                    specs=specs,
                    n_rows=len(self.pairs),
                    most=MAX_PAIRS,
                ),
                f"All ranks and differences hold at once ({sure})",
                *([BOUNDED] if self.n_unknown else ()),
            ),
        )

    def _said(self) -> str:
        """Say which is the best, by how much it is ahead; or which may be."""
        what = "" if self.metric is None else f" in {self.metric}"
        best = ", ".join(one_line(name, MAX_NAME) for name in self.best)
        if self.ranks[self.best[0]].high > 1.0:
            return f"may be the best{what}: {best}"
        ahead = self.pairs[0]
        by = estimate(ahead.delta, ahead.interval, "+").partition(" ")[0]
        return f"the best{what}: {best}, {by} against {one_line(ahead.second, MAX_NAME)}"


MAX_NAME = 32
"""Characters of a model's name in a table."""

MAX_PAIRS = 10
"""Pairs that a text shows."""

Scores = Report | Iterable[Report] | Mapping[Any, Any]
"""Reports; or of each model a report, or its scores by task, for which mypy would want a cast."""


def compare_models(
    scores: Scores,
    *,
    metric: str | None = None,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> ModelComparison:
    """
    Compare several models: which differ, which ranks are possible, and which may be the best.

    Models are paired by task. A task counts once, with the mean of its attempts. All pairs are
    tested together, so the chance of any false verdict is at most ``1 - confidence_level``,
    however many models there are.

    Args:
        scores: For each model its score at each task, or the scores of its attempts: finite
            numbers, higher is better, booleans as 0 and 1, None or NaN where missing. Or a
            `CodeReport` of two models or more, or reports of one model each: a list of
            `SqlReport` that name their models, or a mapping from model to report.  Models and
            tasks are strings or integers; tasks that a model lacks, or of which nothing is known,
            are left out for all, and a model of which nothing is known is not compared.
        metric: What to take from a report: ``"pass@1"``, right or wrong, or ``"code_score"``, with
            partial credit; a metric of a `SqlReport`. None for ``"pass@1"``, or
            ``"query_correctness"``, whose undecided pairs are unknown. Ignored for a mapping
            of numbers.
        bounds: The lowest and the highest score possible, needed for a mapping of unequal numbers
            of attempts; None for no bounds. Those of a report are 0 and 1, as of scores that are
            all 0 or 1.
        confidence_level: Chance that all verdicts and all ranks hold, in (0, 1).
        n_resamples: Flips of the signs, at least 1000; an adjusted p value is at least
            ``1 / (n_resamples + 1)``.
        seed: For the flips; the same seed gives the same result.

    Returns:
        A frozen `ModelComparison`. Read *best*, *ranks* and *pairs* first.

    Raises:
        InputError: If fewer than two models have a known outcome, there is no task that all have,
            a report lacks *metric*, or a number is out of range or of *bounds*. Also if attempts
            are unequal and there are no *bounds*.
        TypeError: If *scores* is none of the above, or a score not a number.

    Examples:
        >>> scores = {
        ...     "large": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 0, "h": 1},
        ...     "small": {"a": 0, "b": 0, "c": 0, "d": 0, "e": 0, "f": 0, "g": 0, "h": 0},
        ...     "other": {"a": 1, "b": 1, "c": 0, "d": 1, "e": 1, "f": 1, "g": 1, "h": 0},
        ... }
        >>> result = compare_models(scores)
        >>> print(result)
        may be the best: large, other (95 %, 3 models over 8 tasks)
        model   mean  rank
        large  0.875  [1, 2]
        other   0.75  [1, 2]
        small      0  [3, 3]
        Pairs: 3
          pair           verdict       difference                p  p (adjusted)
          large - other  inconclusive  +0.1 [-0.4, +0.7]         1             1
          large - small  better        +0.88 [+0.58, +1.17]  0.016         0.016
          other - small  better        +0.75 [+0.36, +1.14]  0.031         0.031
        All ranks and differences hold at once (95 %)
        >>> compare_models({"large": scores["large"]})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: scores must be a mapping of at least two models, got 1

    Notes:
        If two models are equally good, the sign of their difference at a task is random. The test
        flips the signs of whole tasks at random, and compares the paired t statistic of each pair
        with the largest of all pairs, step by step (max-t of Westfall and Young, Romano and Wolf).
        Scores may have any distribution, and models may resemble each other. If only a few tasks
        separate the models, all sign combinations are counted.

        A model's lowest rank is one more than the number of models shown to be better. Its highest
        rank leaves out those shown to be worse. All these intervals hold at the same time. Models
        with equal true means share their ranks, and each interval contains all of them.

        *best* asks less, and so names fewer. Each model that may still be the best is compared
        with the other ones: it is left out if the largest of these one-sided statistics is too
        large under the same flipped signs. That is repeated with those that are left. The best
        model is left out in at most ``1 - confidence_level`` of comparisons. Of 30 models that are
        all alike, each is left out so often, and so some of them in most comparisons.

        Where one model has more than 1.2 times as many attempts at a task as another, signs are
        not random: the mean of few attempts is more skewed than that of many. The pairs are then
        tested by Gaffke's bounds for differences within *bounds*, with Holm's adjustment, and
        their intervals are at a level that holds for all together. This takes more tasks than
        equal attempts do.

    References:
        For ranks: Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks with Applications to
        Mobility across Neighbourhoods and Academic Achievement across Countries", Review of
        Economic Studies 91(1), 2024.

        Also for ranks: Klein, Wright and Wieczorek, "A Joint Confidence Region for an Overall
        Ranking of Populations", Journal of the Royal Statistical Society C 69(3), 2020.

        For *best*: Hsu, "Simultaneous Confidence Intervals for all Distances from the 'Best'",
        Annals of Statistics 9(5), 1981, and Hansen, Lunde and Nason, "The Model Confidence Set",
        Econometrica 79(2), 2011, for steps.

        For the test: Romano and Wolf, "Exact and Approximate Stepdown Methods for Multiple
        Hypothesis Testing", Journal of the American Statistical Association 100(469), 2005.
    """
    if metric is not None:
        check_text("metric", metric)
    limits = None if bounds is None else check_bounds(bounds)
    runs, n_unknown, metric = _by_model(scores, metric, limits or (-MAX_VALUE, MAX_VALUE))
    limits = (0.0, 1.0) if metric is not None and limits is None else limits
    models, table, n_left_out, equal, flags = _read_scores(runs)
    limits = (0.0, 1.0) if flags and limits is None else limits
    if limits is None and not equal:
        domain = "the lowest and the highest score possible, as models have unequal attempts"
        refuse("bounds", domain, bounds)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    n_resamples = check_count("n_resamples", n_resamples, 1000)
    seed = check_count("seed", seed)
    means = np.array([exact_mean(column) for column in table.T])
    order: list[int] = np.argsort(-means, kind="stable").tolist()
    names, means, table = [models[i] for i in order], means[order], table[:, order]
    scale = 2.0 ** math.frexp(float(abs(table).max()))[1]  # no square can underflow
    table /= scale
    pairs = _Pairs.of(table)
    if equal or limits is None:
        generator = np.random.default_rng(seed)
        found = _flip_signs(table, pairs, n_resamples, generator, confidence_level)
    else:
        found = _bounded_pairs(table, pairs, (limits[1] - limits[0]) / scale, confidence_level)
    n, m = len(table), len(names)
    is_better = found.adjusted <= 1.0 - confidence_level
    n_worse, n_better = (
        [int(np.count_nonzero(side[is_better] == i)) for i in range(m)]
        for side in (pairs.first, pairs.second)
    )
    ranks = {
        name: Interval(
            low=1.0 + n_better[i],
            high=float(m - n_worse[i]),
            confidence_level=confidence_level,
            method=found.method,
        )
        for i, name in enumerate(names)
    }
    return ModelComparison(
        means=FrozenMapping(dict(zip(names, means.tolist(), strict=True))),
        ranks=FrozenMapping(ranks),
        best=tuple(names[i] for i in _best(found, means, n_better, 1.0 - confidence_level)),
        pairs=tuple(
            ModelPair(
                first=first,
                second=second,
                delta=delta,
                interval=Interval(
                    low=scale * low,
                    high=scale * high,
                    confidence_level=confidence_level,
                    method=found.method,
                )
                if low == low  # noqa: PLR0124 - NaN where nothing varies
                else None,
                p_value=p_value,
                adjusted_p_value=adjusted,
                verdict="better" if adjusted <= 1.0 - confidence_level else "inconclusive",
            )
            for (first, second), delta, (low, high), p_value, adjusted in zip(
                combinations(names, 2),
                (means[pairs.first] - means[pairs.second]).tolist(),
                found.ends,
                found.p_values.tolist(),
                found.adjusted.tolist(),
                strict=True,
            )
        ),
        n_tasks=n,
        n_left_out=n_left_out,
        n_tasks_by_model=FrozenMapping({model: len(run) for model, run in runs.items()}),
        n_unknown=n_unknown,
        metric=metric,
    )


BOUNDED = f"compare_reports() says what holds whichever way {UNKNOWN} went"

_USUAL = ("pass@1", "query_correctness")
"""Metrics of which the first that a report has is compared."""


def _by_model(
    scores: object, metric: str | None, bounds: tuple[float, float]
) -> tuple[dict[str, CaseScores], int, str | None]:
    """Return known scores by model, how many outcomes are missing, and the metric of reports."""
    given, taken = scores, None
    if isinstance(scores, Report):
        return _of_report("scores", scores, metric)
    if is_ordered(scores):
        scores = _by_name(check_items("scores", scores, what="reports"))
    if not is_mapping(scores):
        domain = "a mapping from model to its scores by task, or reports of several models"
        refuse("scores", domain, given, TypeError)
    runs: dict[str, CaseScores] = {}
    n_unknown = 0
    for model, run in by_id("a model of scores", scores).items():
        name = f"scores[{shown(model)}]"
        if isinstance(run, Report):
            found, n, taken = _of_report(name, run, metric)
            if len(found) != 1:
                refuse(name, "a report of one model", ", ".join(found))
        elif is_mapping(run):
            tasks = by_id(f"a task of {name}", run)
            found, n = _of_metric(read_mapping(name, tasks, bounds), SCORE[0])
        else:
            refuse(name, "a mapping from task to score, or a report", run, TypeError)
        runs[model] = next(iter(found.values()), CaseScores.of({}))
        n_unknown += n
    if len(runs) < 2:  # noqa: PLR2004 - to compare takes two
        refuse("scores", "a mapping of at least two models", len(runs))
    return runs, n_unknown, taken


def _by_name(reports: Iterable[object]) -> dict[str, Report]:
    found: dict[str, Report] = {}
    for i, report in enumerate(reports):
        name = getattr(check_instance(f"scores[{i}]", report, Report), "model", None)
        if name is None or name in found:
            refuse(f"scores[{i}]", "a report that names a model of its own", name)
        found[name] = cast("Report", report)
    return found


def _of_report(
    name: str, report: Report, metric: str | None
) -> tuple[dict[str, CaseScores], int, str]:
    """Return the known scores of each model of a report, how many are missing, and the metric."""
    read = report.scores_by_case()
    if read is None:
        refuse(name, "a CodeReport or a SqlReport", report, TypeError)
    metrics = dict.fromkeys(one for one, _ in _suites(read))
    if metric is None:
        metric = next((one for one in _USUAL if one in metrics), None)
    if metric is None or metric not in metrics:
        refuse("metric", f"one of {', '.join(map(repr, metrics))}", metric)
    found, n_unknown = _of_metric(read, metric)
    if name == "scores" and len(found) < 2:  # noqa: PLR2004 - to compare takes two
        domain = (
            "a report of at least two models (compare_reports() takes two reports of one each)"
        )
        refuse(name, domain, ", ".join(found))
    return found, n_unknown, metric


def _suites(read: ReportScores) -> dict[SuiteKey, None]:
    """Return the suites, those included that failed throughout."""
    return dict.fromkeys((*read.suites, *(suite for suite, _ in read.failing)))


def _of_metric(read: ReportScores, metric: str) -> tuple[dict[str, CaseScores], int]:
    """Return the known scores of each model, and how many are missing."""
    suites = [suite for suite in _suites(read) if suite[0] == metric]
    found = {suite: CaseScores.of(read.suites.get(suite, {})) for suite in suites}
    n_unknown = sum(
        len(low) - len(found[suite].get(case_id, ()))
        for suite in suites
        for case_id, (low, _) in read.ends.get(suite, {}).items()
    )
    n_unknown += sum(
        suite in found and case_id not in read.ends.get(suite, {})
        for suite, case_id in read.failing
    )
    return {str(model): cases for (_, model), cases in found.items()}, n_unknown


class _Scores(NamedTuple):
    models: list[str]
    table: Floats
    """A row for each task that all models have."""
    n_left_out: int
    are_equal: bool
    """Whether models have as many attempts at a task as others."""
    are_flags: bool
    """Whether every score is 0 or 1."""


def _read_scores(runs: Mapping[str, CaseScores]) -> _Scores:
    """Return the scores over the tasks that all models have, but for those that have none."""
    known = {model: run for model, run in runs.items() if len(run)}
    if len(known) < 2:  # noqa: PLR2004 - to compare takes two
        refuse("scores", "those of at least two models with a known outcome", [*known])
    first, *others = known.values()
    tasks: tuple[str, ...] | list[str] = first.case_ids
    if any(run.case_ids != tasks for run in others):
        tasks = [task for task in tasks if all(task in run for run in others)]
    n_left_out = len(set(chain.from_iterable(known.values()))) - len(tasks)
    if not tasks:
        domain = "a mapping of models that share a task"
        refuse("scores", domain, {model: list(run) for model, run in known.items()})
    columns = [run.take(tasks) for run in known.values()]
    harmonic = [float(np.mean(1.0 / column.sizes)) for column in columns]
    equal = max(harmonic) <= EQUAL * min(harmonic)
    table = np.stack([column.means for column in columns], axis=1)
    flags = all(((one.scores == 0.0) | (one.scores == 1.0)).all() for one in columns)
    return _Scores(list(known), table, n_left_out, equal, flags)


class _Pairs(NamedTuple):
    """Every two columns of a table, by their places, the first before the second."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    sums: Floats
    """Of the differences."""
    squares: Floats
    """Of their squares."""
    n_worth: Floats
    """The effective number of tasks, as if each differed as much as the one that differs most."""
    alike: NDArray[np.bool_]
    """Whether all differences of the pair are alike."""

    @classmethod
    def of(cls, table: Floats) -> _Pairs:
        first, second = np.triu_indices(table.shape[1], 1)
        sums: list[Floats] = []
        squares: list[Floats] = []
        worth: list[Floats] = []
        alike: list[NDArray[np.bool_]] = []
        for i in range(table.shape[1] - 1):
            deltas = table[:, i, np.newaxis] - table[:, i + 1 :]
            deltas[abs(deltas) <= NOISE] = 0.0
            sums.append(deltas.sum(axis=0))
            squares.append(np.einsum("ij,ij->j", deltas, deltas))
            tops, bottoms = deltas.max(axis=0), deltas.min(axis=0)
            most = np.maximum(tops, -bottoms)
            worth.append(squares[-1] / np.where(most > 0.0, most, np.inf) ** 2)
            alike.append(tops - bottoms <= NOISE)
        return cls(
            first=first,
            second=second,
            sums=np.concatenate(sums),
            squares=np.concatenate(squares),
            n_worth=np.concatenate(worth),
            alike=np.concatenate(alike),
        )

    def sizes(self, sums: Floats) -> Floats:
        """Return *sums* over the root of the sum of squares: what rises with t."""
        return abs(sums) / np.sqrt(np.where(self.squares > 0.0, self.squares, np.inf))

    def stderrs(self, n: int) -> Floats:
        """Return the standard error of each mean difference; NaN where nothing varies."""
        variances = (self.squares - self.sums * self.sums / n) / max(n - 1, 1) / n
        return np.where(self.alike, np.nan, np.sqrt(np.maximum(variances, 0.0)))


class _Found(NamedTuple):
    p_values: Floats
    adjusted: Floats
    ends: list[tuple[float, float]]
    """Of the interval of each difference, all of which hold at once; NaN where nothing varies."""
    method: str
    shown_worse: Callable[[int, list[int]], float]
    """One-sided p value of the hypothesis that a model is as good as all of some others."""


def _best(found: _Found, means: Floats, n_better: list[int], error: float) -> list[int]:
    """Return the models that one-sided tests against the others leave, in steps."""
    left = [i for i, n in enumerate(n_better) if not n]
    while True:
        top = max(left, key=means.__getitem__)
        kept = [
            i
            for i in left
            if i == top or found.shown_worse(i, [j for j in left if j != i]) > error
        ]
        if len(kept) == len(left):
            return left
        left = kept


def _bounded_pairs(table: Floats, pairs: _Pairs, span: float, confidence_level: float) -> _Found:
    """Bound the differences within *span* of each pair, whatever the numbers of attempts."""
    groups, n_pairs = np.arange(len(table)), pairs.first.size
    level = 1.0 - (1.0 - confidence_level) / n_pairs
    p_values: list[float] = []
    ends: list[tuple[float, float]] = []
    worse = np.ones((table.shape[1], table.shape[1]))
    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        deltas = table[:, first] - table[:, second]
        p_values.append(unseen_p_value(deltas, groups, (-span, span)))
        worse[second, first] = p_values[-1] / 2.0 if float(deltas.sum()) > 0.0 else 1.0
        interval = unseen_interval(deltas, groups, level, (-span, span))
        ends.append((interval.low, interval.high))
    adjusted = np.array(adjusted_p_values(p_values, "holm"))

    def shown_worse(model: int, others: list[int]) -> float:
        return len(others) * float(worse[model, others].min())

    return _Found(np.array(p_values), adjusted, ends, "gaffke", shown_worse)


def _flip_signs(
    table: Floats,
    pairs: _Pairs,
    n_resamples: int,
    rng: np.random.Generator,
    confidence_level: float,
) -> _Found:
    """Compare what each pair shows with the largest of all, under flipped signs of the tasks."""
    n = table.shape[0]
    moved = table - table[:, :1]  # signs flip the differences of models, not what they share
    moved = moved[(abs(moved) > NOISE).any(axis=1)]
    seen = pairs.sizes(pairs.sums)
    order = np.argsort(-seen, kind="stable")
    least = seen * (1.0 - SAME)
    n_single, n_step = np.zeros(seen.size), np.zeros(seen.size)
    largest: list[Floats] = []
    all_ways = len(moved) <= MAX_ENUMERATED and 2 ** max(len(moved) - 1, 0) <= n_resamples
    if all_ways:
        flipped = _all_flips(moved)
    elif pairs.n_worth[pairs.squares > 0.0].min() >= MANY:
        values, vectors = np.linalg.eigh(moved.T @ moved)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        flipped = rng.standard_normal((n_resamples, len(root))) @ root.T
    else:
        flipped = _random_flips(moved, n_resamples, rng)
    rows = max(1, CELLS // seen.size)
    for start in range(0, len(flipped), rows):
        sums = flipped[start : start + rows]
        sizes = pairs.sizes(sums[:, pairs.first] - sums[:, pairs.second])
        n_single += np.count_nonzero(sizes >= least, axis=0)
        tops = np.maximum.accumulate(sizes[:, order[::-1]], axis=1)[:, ::-1]
        n_step += np.count_nonzero(tops >= least[order], axis=0)
        largest.append(tops[:, 0])
    itself = 0 if all_ways else 1  # the signs seen are among all ways, not among those drawn
    total = len(flipped) + itself
    adjusted = np.empty(seen.size)
    adjusted[order] = np.maximum.accumulate((n_step + itself) / total)
    n_beyond = math.floor((1.0 - confidence_level) * total + SAME) - itself
    top = np.sort(np.concatenate(largest))[::-1]
    share = (1.0 + SAME) * float(top[min(max(n_beyond, 0), top.size - 1)]) ** 2 / n
    critical = math.sqrt((n - 1) * share / (1.0 - share)) if share < 1.0 - SAME else math.inf
    if n_beyond <= 0 and n > 1:  # too few signs for a verdict: all that there is may be too near
        critical = max(critical, t_quantile(1.0 - (1.0 - confidence_level) / seen.size, n - 1.0))
    deltas, reaches = pairs.sums / n, critical * pairs.stderrs(n)
    ends: list[tuple[float, float]] = np.stack(
        [deltas - reaches, deltas + reaches], axis=1
    ).tolist()
    alone = (n_single + itself) / (2 * len(flipped) + itself)
    shown_worse = _one_sided(table, pairs, flipped, alone, 1.0 - confidence_level)
    return _Found((n_single + itself) / total, adjusted, ends, "max-t", shown_worse)


def _one_sided(
    table: Floats, pairs: _Pairs, flipped: Floats, alone: Floats, error: float
) -> Callable[[int, list[int]], float]:
    """
    Return the test of a model against several others by the *flipped* sums, of both signs.

    *alone* are the one-sided p values of the pairs: that of the pair that differs most is a lower
    bound, with which the test is done if it is above *error*.
    """
    m, n, totals = table.shape[1], len(flipped), table.sum(axis=0)
    scales, single = np.zeros((m, m)), np.zeros((m, m))
    for matrix, values in ((scales, pairs.sizes(np.ones(pairs.sums.size))), (single, alone)):
        matrix[pairs.first, pairs.second] = matrix[pairs.second, pairs.first] = values
    rows = max(1, CELLS // m)

    def shown_worse(model: int, others: list[int]) -> float:
        own = scales[model, others]
        statistics = (totals[others] - totals[model]) * own
        least = float(single[model, others[int(statistics.argmax())]])
        if least > error:
            return least
        most = float(statistics.max()) * (1.0 - SAME)
        n_beyond = 0
        for start in range(0, n, rows):
            part = flipped[start : start + rows]
            sizes = (part[:, others] - part[:, [model]]) * own
            tops, bottoms = sizes.max(axis=1), sizes.min(axis=1)
            n_beyond += int(np.count_nonzero(tops >= most) + np.count_nonzero(-bottoms >= most))
        return max(n_beyond / (2 * n), least)

    return shown_worse


def _all_flips(moved: Floats) -> Floats:
    """Return the sums of the columns under all ways to sign the rows, but for a common sign."""
    sums = np.zeros((1, moved.shape[1]))
    for i, row in enumerate(moved):
        sums = np.concatenate([sums + row, sums - row]) if i else sums + row
    return sums


def _random_flips(moved: Floats, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Return the sums of the columns under random signs of the rows."""
    sums = np.zeros((n_resamples, moved.shape[1]))
    n_rows = max(8, CELLS // n_resamples // 8 * 8)
    for start in range(0, len(moved), n_rows):
        part = moved[start : start + n_rows]
        drawn = rng.integers(0, 256, (n_resamples, -(-len(part) // 8)), dtype=np.uint8)
        bits = np.unpackbits(drawn, axis=1, count=len(part)).astype(np.float64)
        sums += 2.0 * (bits @ part) - part.sum(axis=0)
    return sums


@attrs.frozen(kw_only=True, repr=False)
class BradleyTerry(TableRecord):
    """Result of `bradley_terry`; ``str()`` shows the models with their strengths, best first."""

    strengths: FrozenMapping[str, float]
    """
    Strength of each model on the scale of log odds, the strongest first.

    A model beats another with odds ``exp(strength - strength of the other)``.  The mean is 0 over
    the models whose strength is finite.  ``inf`` and ``-inf`` are the *unbounded* ones.
    """
    intervals: FrozenMapping[str, Interval]
    """Interval of each strength separately; for *unbounded* ones one end is infinite."""
    unbounded: tuple[str, ...]
    """Models without a finite strength, those who lost no comparison, directly or by way of
    others, to the models of finite strength, and those who won none."""
    n_comparisons: float
    """Sum of the counts."""

    def _sheet(self) -> Sheet:
        rows = [
            {
                "model": one_line(name, MAX_NAME),
                "strength": Estimate(strength, self.intervals[name], "+"),
            }
            for name, strength in self.strengths.items()
        ]
        first = next(iter(self.intervals))
        best = [n for n, ends in self.intervals.items() if ends.high >= self.intervals[first].low]
        names = ", ".join(one_line(name, MAX_NAME) for name in best)
        leads = (
            f"strongest: {names}" if len(best) == 1 else f"not distinguished at the top: {names}"
        )
        of = f"{counted(len(rows), 'model')}, {self.n_comparisons:g} comparisons"
        stands_on = f"each strength by its own {level_of(self.intervals[first])} interval, {of}"
        return Sheet("BradleyTerry", f"{leads} ({stands_on})", (Table(rows=rows),))


def bradley_terry(
    wins: Mapping[tuple[str, str], float], *, confidence_level: float = 0.95
) -> BradleyTerry:
    """
    Estimate the strengths of models from pairwise preferences.

    In the model of Bradley and Terry *a* beats *b* with chance ``1 / (1 + exp(s_b - s_a))``. The
    strengths *s* are estimated by maximum likelihood. Not all pairs need be compared, and cycles
    of wins are allowed. Leave ties out: strengths then describe the comparisons that were
    decided, whatever the share of ties. As half a win each, ties would shrink all strengths: with
    40 % of them a strength of 1 would read 0.57. Multiply a difference of strengths by ``400 / log(10)``,
    about 174, for Elo points.

    Args:
        wins: How often the first model of each pair ``(winner, loser)`` was preferred to the
            second: whole numbers from 0 to 10**9, ties left out.
        confidence_level: Level of each interval, in (0, 1).

    Returns:
        A frozen `BradleyTerry`. Read *strengths*, *intervals* and *unbounded* first.

    Raises:
        InputError: If *wins* is empty, a model is compared with itself, a count is negative or
            no whole number, no strength has a bound, or the comparisons do not connect a model with
            the others.
        TypeError: If *wins* is not a mapping from pairs of strings to numbers.

    Examples:
        >>> wins = {("a", "b"): 12, ("b", "a"): 8, ("b", "c"): 16, ("c", "b"): 4, ("c", "a"): 9}
        >>> print(bradley_terry({**wins, ("a", "c"): 11}))
        not distinguished at the top: b, a, c (each strength by its own 95 % interval, 3 models, 60 comparisons)
        model  strength
        b      +0.28 [-0.15, +0.71]
        a      +0.21 [-0.22, +0.63]
        c      -0.49 [-0.93, -0.05]
        >>> bradley_terry({("a", "b"): 3})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: wins must be such that two models have each beaten the other, directly or through others: no strength has a bound else, got {('a', 'b'): 3}

    Notes:
        Intervals are Wald's from the Fisher information, for the strength relative to the mean.

        A model that won all its comparisons has the strength ``inf``. Its interval has a finite
        lower end if its wins were too unlikely for less. A model that lost them all has ``-inf``.
        Both are named in *unbounded* and left out of the mean. If no two models have beaten each
        other, directly or through others, every strength would be infinite, and you get an
        `InputError`.

    References:
        Bradley and Terry, "Rank Analysis of Incomplete Block Designs: I. The Method of Paired
        Comparisons", Biometrika 39(3/4), 1952.
        Ford, "Solution of a Ranking Problem from Binary Comparisons", American Mathematical
        Monthly 64(8), 1957, for when a strength has a bound.
    """  # noqa: E501 - a message is one line
    models, table = _read_wins(wins)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    quantile = normal_quantile(confidence_level)
    beats = _reachable(table)
    inside = _core(table, beats)
    if np.count_nonzero(inside) == 1:
        domain = (
            "such that two models have each beaten the other, directly or through others: "
            "no strength has a bound else"
        )
        refuse("wins", domain, wins)
    places: list[int] = np.flatnonzero(inside).tolist()
    core = table[np.ix_(places, places)]
    k = len(places)
    fit = _fit(core, np.zeros(k), 0.0)
    scale = float(fit.information.max())  # beside large counts 1 / k would lose its digits
    inverse = np.linalg.inv(fit.information / scale + 1.0 / k) - 1.0 / k
    errors = np.sqrt(np.diag(inverse) / scale)
    ends: dict[str, tuple[float, float, float]] = {}
    for place, strength, error in zip(places, fit.strengths, errors, strict=True):
        middle, reach = float(strength), quantile * float(error)
        ends[models[place]] = middle, middle - reach, middle + reach
    outside: list[int] = np.flatnonzero(~inside).tolist()
    for i in outside:
        ahead, behind = bool(beats[i, places[0]]), bool(beats[places[0], i])
        if not (ahead or behind):
            other = models[places[0]]
            raise InputError(
                "wins must be comparisons that connect all models, got no chain of wins between "
                f"{shown(models[i])} and {shown(other)}"
            )
        games = table[i, places] + table[places, i]  # all won, or all lost
        bound = -math.inf
        if games.any():
            drop = -math.log((1.0 - confidence_level) / 2.0)
            bound = _profile_bound(core if ahead else core.T, games, drop)
        ends[models[i]] = (math.inf, bound, math.inf) if ahead else (-math.inf, -math.inf, -bound)
    ranked: list[str] = sorted(ends, key=lambda name: -ends[name][0])
    return BradleyTerry(
        strengths=FrozenMapping({name: ends[name][0] for name in ranked}),
        intervals=FrozenMapping(
            {
                name: Interval(
                    low=ends[name][1],
                    high=ends[name][2],
                    confidence_level=confidence_level,
                    method="profile likelihood" if math.isinf(ends[name][0]) else "wald",
                )
                for name in ranked
            }
        ),
        unbounded=tuple(name for name in ranked if math.isinf(ends[name][0])),
        n_comparisons=float(table.sum()),
    )


def _read_wins(wins: object) -> tuple[list[str], Floats]:
    """Return the models, and how often that of a row beat that of a column."""
    if not is_mapping(wins):
        refuse("wins", "a mapping from (winner, loser) to a count", wins, TypeError)
    if not wins:
        refuse("wins", "a mapping with at least one pair", wins)
    place: dict[str, int] = {}
    found: list[tuple[int, int, float]] = []
    for pair, count in wins.items():
        if not is_tuple(pair) or len(pair) != 2:  # noqa: PLR2004 - a pair
            refuse("a key of wins", "a pair (winner, loser)", pair, TypeError)
        winner, loser = (check_text("a model of wins", name) for name in pair)
        if winner == loser:
            refuse("a key of wins", "a pair of two models", pair)
        number = check_number(f"wins[{shown(pair)}]", count, 0.0, float(MAX_WINS))
        if number != math.floor(number):  # half wins for ties shrink all strengths
            refuse(f"wins[{shown(pair)}]", "a whole number, ties left out", count)
        i, j = (place.setdefault(name, len(place)) for name in (winner, loser))
        found.append((i, j, number))
    table = np.zeros((len(place), len(place)))
    for i, j, number in found:
        table[i, j] = number
    return list(place), table


def _reachable(table: Floats) -> NDArray[np.bool_]:
    """Tell from which model a chain of wins leads to which, itself included."""
    reach = (table > 0.0) | np.eye(len(table), dtype=np.bool_)
    while True:
        further = (reach.astype(np.float64) @ reach.astype(np.float64)) > 0.0
        if (further == reach).all():
            return reach
        reach = further


def _core(table: Floats, beats: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the largest group in which each beat each, of equals the one with most games."""
    both = beats & beats.T
    games = [float(table[np.ix_(group, group)].sum()) for group in both]
    sizes = both.sum(axis=1).tolist()
    largest = max(range(len(table)), key=lambda i: (sizes[i], games[i]))
    group: NDArray[np.bool_] = both[largest]
    return group


class _Fit(NamedTuple):
    strengths: Floats
    """Of maximum likelihood; their mean is 0."""
    log_likelihood: float
    information: Floats


def _fit(core: Floats, lost: Floats, to: float) -> _Fit:
    """
    Fit strengths to the wins of *core* by Newton's steps, halved where they go too far.

    *lost* is how often each model was beaten by one more, of the fixed strength *to*.
    """
    from scipy.special import expit

    k = len(core)
    games: Floats = core + core.T

    def log_likelihood(strengths: Floats) -> float:
        behind = strengths[np.newaxis, :] - strengths[:, np.newaxis]
        inside = float(np.sum(core * np.logaddexp(0.0, behind)))
        return -inside - float(lost @ np.logaddexp(0.0, strengths - to))

    strengths = np.zeros(k)
    reached = log_likelihood(strengths)
    while True:
        ahead = strengths[:, np.newaxis] - strengths[np.newaxis, :]
        chances, upsets = expit(ahead), expit(-ahead)  # 1 - chances would lose what is rare
        last = lost * expit(strengths - to)
        slope = np.sum(core * upsets - core.T * chances, axis=1) - last
        weights: Floats = games * chances * upsets
        information = np.diag(weights.sum(axis=1) + last * expit(to - strengths)) - weights
        bordered = np.ones((k + 1, k + 1))  # the last row holds the mean at 0
        bordered[:k, :k], bordered[k, k] = information, 0.0
        step = np.linalg.solve(bordered, np.append(slope, 0.0))[:k]
        found = log_likelihood(strengths + step)
        while found < reached and abs(step).max() > CONVERGED:
            step /= 2.0
            found = log_likelihood(strengths + step)
        if abs(step).max() <= CONVERGED * (1.0 + abs(strengths).max()):
            return _Fit(strengths, reached, information)
        strengths, reached = strengths + step, found


def _profile_bound(core: Floats, lost: Floats, drop: float) -> float:
    """
    Bound the strength of a model which won all its games, *lost* by those of *core*.

    At the bound the logarithm of the likelihood lies lower by *drop*: with that of half of
    ``1 - confidence_level`` the chance to win them all was no larger.
    """
    from scipy.optimize import brentq

    most = _fit(core, np.zeros(len(core)), 0.0).log_likelihood

    def excess(strength: float) -> float:
        return most - _fit(core, lost, strength).log_likelihood - drop

    low = high = 0.0
    step = 1.0
    while excess(low) < 0.0:
        low, step = low - step, 2.0 * step
    while excess(high) > 0.0:
        high, step = high + step, 2.0 * step
    return float(brentq(excess, low, high, xtol=1e-9))
