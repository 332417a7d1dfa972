"""Many models at once: `compare_models` by scores, `bradley_terry` by preferences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from operator import itemgetter
from typing import Any, Literal, NamedTuple, cast

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats
from scorekit._core.attempts import CaseScores
from scorekit._core.checks import (
    check_choice,
    check_count,
    check_instance,
    check_items,
    check_number,
    check_text,
    is_ordered,
)
from scorekit._core.columns import by_id
from scorekit._core.frames import scores_by_case
from scorekit._core.gaffke import unseen_p_value
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.sums import exact_mean
from scorekit._sheet.model import ROWS_AT_MOST, Estimate, Sheet, Table
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.exact import is_tuple
from scorekit._stats.sides import (
    SCORE,
    Side,
    SuiteScores,
    are_several_metrics,
    read_mapping,
    read_metrics,
)
from scorekit.errors import InputError, one_line, refuse, shown
from scorekit.intervals import (
    Interval,
    check_bounds,
    interval_of_mean,
    normal_quantile,
    t_quantile,
    unseen_interval,
)
from scorekit.records import (
    UNKNOWN,
    Record,
    Report,
    ReportScores,
    SuiteKey,
    TableRecord,
    listing,
)

MAX_VALUE = 1e100
"""Largest score taken: squares of such ones stay finite."""

WIDEST = -MAX_VALUE, MAX_VALUE

UNIT = 0.0, 1.0
"""Bounds of what a report holds, and of outcomes of 0 and 1."""

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
    """Mean of *first* minus that of *second*, at least 0, over known outcomes."""
    interval: Interval | None
    """Interval of *delta*, whichever way unknown outcomes went; those of all pairs hold at the
    same time. None if the difference is the same at all tasks, which does not show the error; with
    unequal attempts *bounds* do."""
    p_value: float
    """Two-sided, from flipped signs, for this pair alone; of unknown outcomes those of *first*
    count as failed and those of *second* as passed."""
    adjusted_p_value: float
    """P value adjusted for all pairs, on which the verdict is based: the interval then leaves out
    0."""
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
    """Mean score of each model over known outcomes, the best first."""
    intervals: FrozenMapping[str, Interval]
    """Interval of each mean, by itself, whichever way unknown outcomes went."""
    ranks: FrozenMapping[str, Interval]
    """The ranks that each model may have, 1 being the best; those of all models hold at once."""
    best: tuple[str, ...]
    """The models that may be the best, those whose ranks include 1. A single one is shown to be
    better than all others."""
    pairs: tuple[ModelPair, ...] = attrs.field(converter=listing)
    """Every two models, the best first."""
    n_tasks: int
    """Tasks that all models have."""
    n_left_out: int
    """Tasks that only some models have, which do not count."""
    n_tasks_by_model: FrozenMapping[str, int] = attrs.field(factory=FrozenMapping[str, int])
    """Tasks that each model has, in the order given; 0 for a model without a known outcome, which
    is not compared."""
    n_unknown: int = 0
    """Attempts with unknown outcomes, which may have gone either way."""
    n_more_tasks: int | None = None
    """Tasks more, like these, with which the first two of *best* would be told apart with 80 %
    power if they differ as much as here. None where one is the best, or where unknown outcomes
    decide, or the two are equal."""
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
            left_out += f", {counted(self.n_unknown, 'unknown outcome')}"
        if lost := [one_line(m, MAX_NAME) for m, n in self.n_tasks_by_model.items() if not n]:
            left_out += f", without {', '.join(lost)} (no known outcome)"
        models = [
            {
                "model": one_line(name, MAX_NAME),
                "mean": Estimate(mean, self.intervals[name]),
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
        how = _METHODS[next(iter(self.ranks.values())).method]
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
                *self._next(),
                f"All ranks and differences hold at once ({sure}, {how}), each mean by itself",
                *([EITHER_WAY] if self.n_unknown else ()),
            ),
        )

    def _said(self) -> str:
        """Say which is the best, by how much it is ahead; or which may be."""
        what = "" if self.metric is None else f" in {self.metric}"
        names = [one_line(name, MAX_NAME) for name in self.best]
        if len(names) > 1:
            n_others = len(names) - MAX_NAMED
            if n_others > 1:
                names[MAX_NAMED:] = [f"{n_others} others"]
            return f"best{what}: {', '.join(names[:-1])} or {names[-1]}; not told apart"
        ahead = self.pairs[0]
        by = estimate(ahead.delta, ahead.interval, "+").partition(" ")[0]
        return f"best{what}: {names[0]}, {by} against {one_line(ahead.second, MAX_NAME)}"

    def _next(self) -> Iterator[str]:
        """Say what would tell those that may be the best apart."""
        if len(self.best) > 1 and self.n_more_tasks is not None:
            first, second = (one_line(name, MAX_NAME) for name in self.best[:2])
            more = counted(self.n_more_tasks, "more task")
            yield f"to tell {first} from {second}: about {more} like these, at 80 % power"


_METHODS = {"max-t": "by flipped signs", "gaffke": "by Gaffke's bound"}
"""What the comparison of all pairs is called in a text."""

MAX_NAMED = 5
"""Models that may be the best, named in the first line."""

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
            `SqlReport` that name their models, or a mapping from model to report.  Of several
            metrics each model has a mapping from metric to its scores by task.  Models and
            tasks are strings or integers; tasks that a model lacks are left out for all, and a
            model of which nothing is known is not compared.
        metric: What to take from a report: ``"pass@1"``, right or wrong, or ``"code_score"``, with
            partial credit; a metric of a `SqlReport`. None for ``"pass@1"``, or
            ``"query_correctness"``, whose undecided pairs are unknown. Of several metrics of a
            mapping the one to compare; ignored for a mapping of numbers.
        bounds: The lowest and the highest score possible, needed for a mapping of unequal numbers
            of attempts, or with unknown outcomes. None for no bounds; those of a report, or where
            all scores are 0 or 1, are 0 and 1.
        confidence_level: Chance that all verdicts and all ranks hold, in (0, 1).
        n_resamples: Flips of the signs, at least 1000; an adjusted p value is at least
            ``1 / (n_resamples + 1)``.
        seed: For the flips; the same seed gives the same result.

    Returns:
        A frozen `ModelComparison`. Read *best*, *ranks* and *pairs* first.

    Raises:
        InputError: If fewer than two models have a known outcome, there is no task that all have,
            a report lacks *metric*, or a number is out of range or of *bounds*. Also if attempts
            are unequal, or outcomes unknown, and there are no *bounds*.
        TypeError: If *scores* is none of the above, or a score not a number.

    Examples:
        >>> scores = {
        ...     "large": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 0, "h": 1},
        ...     "small": {"a": 0, "b": 0, "c": 0, "d": 0, "e": 0, "f": 0, "g": 0, "h": 0},
        ...     "other": {"a": 1, "b": 1, "c": 0, "d": 1, "e": 1, "f": 1, "g": 1, "h": 0},
        ... }
        >>> result = compare_models(scores)
        >>> print(result)
        best: large or other; not told apart (95 %, 3 models over 8 tasks)
        model  mean               rank
        large  0.88 [0.47, 1.00]  [1, 2]
        other  0.75 [0.35, 0.97]  [1, 2]
        small  0 [0, 0.37]        [3, 3]
        Pairs: 3
          pair           verdict       difference                p  p (adjusted)
          large - other  inconclusive  +0.1 [-0.4, +0.7]         1             1
          large - small  better        +0.88 [+0.58, +1.17]  0.016         0.016
          other - small  better        +0.75 [+0.36, +1.14]  0.031         0.039
        to tell large from other: about 265 more tasks like these, at 80 % power
        All ranks and differences hold at once (95 %, by flipped signs), each mean by itself
        >>> compare_models({"large": scores["large"]})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: scores must be a mapping of at least two models, got 1

    Notes:
        If two models are equally good, the sign of their difference at a task is random. The test
        flips the signs of whole tasks at random, and compares the paired t statistic of each pair
        with the largest of all pairs (max-t of Westfall and Young). Scores may have any
        distribution, and models may resemble each other. If only a few tasks separate the models,
        all sign combinations are counted. An interval holds the differences that this test does
        not reject, so that a pair is decided exactly where its interval leaves out 0.

        A model's lowest rank is one more than the number of models shown to be better. Its highest
        rank leaves out those shown to be worse. All these intervals hold at the same time. Models
        with equal true means share their ranks, and each interval contains all of them. So the
        best model is missing from *best* in at most ``1 - confidence_level`` of comparisons.

        Unknown outcomes may have gone either way: a model is better than another one if it is even
        where all of its own failed and all of the other's passed.

        Where one model has more than 1.2 times as many attempts at a task as another, signs are
        not random: the mean of few attempts is more skewed than that of many. The pairs are then
        tested by Gaffke's bounds for differences within *bounds*, each at a level that holds for
        all together. This takes more tasks than equal attempts do.

    References:
        For ranks: Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks with Applications to
        Mobility across Neighbourhoods and Academic Achievement across Countries", Review of
        Economic Studies 91(1), 2024.

        Also for ranks: Klein, Wright and Wieczorek, "A Joint Confidence Region for an Overall
        Ranking of Populations", Journal of the Royal Statistical Society C 69(3), 2020.

        For the test: Westfall and Young, "Resampling-Based Multiple Testing", Wiley, 1993.
    """
    if metric is not None:
        check_text("metric", metric)
    limits = None if bounds is None else check_bounds(bounds)
    runs, metric, limits = _by_model(scores, metric, limits)
    known = {model: run for model, run in runs.items() if len(run.known)}
    if len(known) < 2:  # noqa: PLR2004 - to compare takes two
        refuse("scores", "those of at least two models with a known outcome", [*known])
    read = _read_scores(known)
    if limits is None and not read.are_equal:
        domain = "the lowest and the highest score possible, as models have unequal attempts"
        refuse("bounds", domain, bounds)
    level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    n_resamples = check_count("n_resamples", n_resamples, 1000)
    seed = check_count("seed", seed)
    order: list[int] = np.argsort(-read.means, kind="stable").tolist()
    names, means = [read.models[i] for i in order], read.means[order]
    lows, highs = read.lows[:, order], read.highs[:, order]
    intervals = {
        name: _interval_of(lows[:, i], highs[:, i], limits, level) for i, name in enumerate(names)
    }
    scale = 2.0 ** math.frexp(float(max(abs(lows).max(), abs(highs).max())))[1]
    both = _Pairs.of(lows / scale, highs / scale)  # scaled, no square can underflow
    if read.are_equal or limits is None:
        found = _flip_signs(both, n_resamples, np.random.default_rng(seed), level)
    else:
        found = _bounded_pairs(both, (limits[1] - limits[0]) / scale, level)
    n, m = len(lows), len(names)
    is_better = found.adjusted <= 1.0 - level
    n_worse, n_better = (
        [int(np.count_nonzero(side[is_better] == i)) for i in range(m)]
        for side in (both.first, both.second)
    )
    ranks = {
        name: Interval(
            low=1.0 + n_better[i],
            high=float(m - n_worse[i]),
            confidence_level=level,
            method=found.method,
        )
        for i, name in enumerate(names)
    }
    pairs = tuple(
        ModelPair(
            first=first,
            second=second,
            delta=delta,
            interval=Interval(
                low=scale * low, high=scale * high, confidence_level=level, method=found.method
            )
            if low == low and high == high  # noqa: PLR0124 - NaN where nothing varies
            else None,
            p_value=p_value,
            adjusted_p_value=adjusted,
            verdict="better" if adjusted <= 1.0 - level else "inconclusive",
        )
        for (first, second), delta, (low, high), p_value, adjusted in zip(
            combinations(names, 2),
            (means[both.first] - means[both.second]).tolist(),
            found.ends,
            found.p_values.tolist(),
            found.adjusted.tolist(),
            strict=True,
        )
    )
    best = [i for i in range(m) if not n_better[i]]
    return ModelComparison(
        means=FrozenMapping(dict(zip(names, means.tolist(), strict=True))),
        intervals=FrozenMapping(intervals),
        ranks=FrozenMapping(ranks),
        best=tuple(names[i] for i in best),
        pairs=pairs,
        n_tasks=n,
        n_left_out=read.n_left_out,
        n_tasks_by_model=FrozenMapping(
            {model: len(run.low) if len(run.known) else 0 for model, run in runs.items()}
        ),
        n_unknown=sum(run.n_unknown for run in runs.values()),
        n_more_tasks=_n_more(both, found, best[1] - 1) if len(best) > 1 else None,
        metric=metric,
    )


def _interval_of(
    low: Floats, high: Floats, limits: tuple[float, float] | None, confidence_level: float
) -> Interval:
    """Bound the mean of one model, whichever way its unknown outcomes went."""
    first, last = (
        interval_of_mean(one, None, limits, confidence_level=confidence_level)
        for one in (low, high)
    )
    return attrs.evolve(first, high=last.high)


EITHER_WAY = f"ranks, differences and intervals hold whichever way {UNKNOWN} went"

_USUAL = ("pass@1", "query_correctness")
"""Metrics of which the first that a report has is compared."""


class _GivenRuns(NamedTuple):
    runs: dict[str, SuiteScores]
    metric: str | None
    """What was taken from reports."""
    bounds: tuple[float, float] | None


def _by_model(
    scores: object, metric: str | None, bounds: tuple[float, float] | None
) -> _GivenRuns:
    """Read the scores of each model, the metric of reports, and the bounds of scores if known."""
    runs, taken = _read_models(scores, metric, bounds or WIDEST)
    if bounds is not None or (taken is not None and not _has_metrics(scores)):
        return _GivenRuns(runs, taken, bounds or UNIT)
    if all(np.isin(run.known.attempts.scores, UNIT).all() for run in runs.values()):
        return _GivenRuns({model: run.within(UNIT) for model, run in runs.items()}, taken, UNIT)
    if any(run.n_unknown for run in runs.values()):
        domain = "the lowest and the highest score possible, as outcomes are unknown"
        refuse("bounds", domain, bounds)
    return _GivenRuns(runs, taken, bounds)


def _read_models(
    scores: object, metric: str | None, bounds: tuple[float, float]
) -> tuple[dict[str, SuiteScores], str | None]:
    """Read the scores of each model, and the metric of reports."""
    given, taken = scores, None
    if isinstance(scores, Report):
        return _of_report("scores", scores, metric)
    if is_ordered(scores):
        scores = _by_name(check_items("scores", scores, what="reports"))
    if not is_mapping(scores):
        domain = "a mapping from model to its scores by task, or reports of several models"
        if hasattr(given, "columns"):
            domain += " (of a table: code_report_from_columns(case_id=, model=, passed=))"
        refuse("scores", domain, given, TypeError)
    runs: dict[str, SuiteScores] = {}
    for model, run in by_id("a model of scores", scores).items():
        name = f"scores[{shown(model)}]"
        run = scores_by_case(name, run)  # noqa: PLW2901 - the same in another form
        if isinstance(run, Report):
            found, taken = _of_report(name, run, metric)
            if len(found) != 1:
                refuse(name, "a report of one model", ", ".join(found))
        elif is_mapping(run):
            found, taken = _of_mapping(name, run, metric, bounds)
        else:
            refuse(name, "a mapping from task to score, a Series, or a report", run, TypeError)
        runs[model] = next(iter(found.values()), SuiteScores.of(CaseScores.of({}), {}))
    if len(runs) < 2:  # noqa: PLR2004 - to compare takes two
        refuse("scores", "a mapping of at least two models", len(runs))
    return runs, taken


def _of_mapping(
    name: str, run: Mapping[Any, Any], metric: str | None, bounds: tuple[float, float]
) -> tuple[dict[str, SuiteScores], str | None]:
    """Return the scores of a model by task, or those of one of several metrics and its name."""
    if not are_several_metrics(run):
        tasks = by_id(f"a task of {name}", run)
        return _of_metric(read_mapping(name, tasks, bounds), SCORE[0]), None
    read = read_metrics(name, run, bounds)
    check_choice("metric", metric, tuple(dict.fromkeys(own for own, _ in _suites(read))))
    return _of_metric(read, str(metric)), metric


def _has_metrics(scores: object) -> bool:
    """Tell whether models have numbers of several metrics, which need not lie in [0, 1]."""
    runs = scores.values() if is_mapping(scores) else ()
    return any(is_mapping(run) and are_several_metrics(run) for run in runs)


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
) -> tuple[dict[str, SuiteScores], str]:
    """Return the scores of each model of a report, and the metric."""
    read = report.scores_by_case()
    if read is None:
        refuse(name, "a CodeReport or a SqlReport", report, TypeError)
    metrics = dict.fromkeys(one for one, _ in _suites(read))
    if metric is None:
        metric = next((one for one in (*_USUAL, read.own_metric) if one in metrics), None)
    if metric is None or metric not in metrics:
        refuse("metric", f"one of {', '.join(map(repr, metrics))}", metric)
    found = _of_metric(read, metric)
    if name == "scores" and len(found) < 2:  # noqa: PLR2004 - to compare takes two
        domain = (
            "a report of at least two models (compare_reports() takes two reports of one each)"
        )
        refuse(name, domain, ", ".join(found))
    return found, metric


def _suites(read: ReportScores) -> dict[SuiteKey, None]:
    """Return the suites, those included that failed throughout."""
    return dict.fromkeys((*read.suites, *(suite for suite, _ in read.failing)))


def _of_metric(read: ReportScores, metric: str) -> dict[str, SuiteScores]:
    """Return the scores of each model."""
    side = Side.of(read)
    return {
        str(suite[1]): SuiteScores.of(
            CaseScores.of(side.suites.get(suite, {})), side.ends.get(suite, {})
        )
        for suite in _suites(read)
        if suite[0] == metric
    }


class _ModelScores(NamedTuple):
    models: list[str]
    means: Floats
    """Of known outcomes, over the tasks that all models have."""
    lows: Floats
    """A row for each task that all models have, what is unknown at its lowest."""
    highs: Floats
    n_left_out: int
    are_equal: bool
    """Whether models have as many attempts at a task as others."""


def _read_scores(runs: Mapping[str, SuiteScores]) -> _ModelScores:
    """Return the scores over the tasks that all models have."""
    first, *others = (run.low for run in runs.values())
    tasks: tuple[str, ...] | list[str] = first.case_ids
    if any(run.case_ids != tasks for run in others):
        tasks = [task for task in tasks if all(task in run for run in others)]
    n_left_out = len(set(chain(first, *others))) - len(tasks)
    means = [_known_mean(run, tasks) for run in runs.values()]
    if not tasks or None in means:
        domain = "a mapping of models that share a task"
        refuse("scores", domain, {model: list(run.known) for model, run in runs.items()})
    lows = [run.low.take(tasks) for run in runs.values()]
    highs = [run.high.take(tasks) for run in runs.values()]
    harmonic = [float(np.mean(1.0 / column.sizes)) for column in lows]
    return _ModelScores(
        models=list(runs),
        means=np.array(means),
        lows=np.stack([column.means for column in lows], axis=1),
        highs=np.stack([column.means for column in highs], axis=1),
        n_left_out=n_left_out,
        are_equal=max(harmonic) <= EQUAL * min(harmonic),
    )


def _known_mean(run: SuiteScores, tasks: Sequence[str]) -> float | None:
    """Return the mean over the tasks of which an outcome is known; None without any."""
    own = tasks if run.known is run.low else [task for task in tasks if task in run.known]
    return exact_mean(run.known.take(own).means) if own else None


class _Pairs(NamedTuple):
    """Every two columns of a table, by their places, the first before the second."""

    lows: Floats
    highs: Floats
    """The scores of each task and model, what is unknown at its lowest and its highest."""
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    sums: Floats
    """Of the least differences: what is unknown of the first failed, of the second passed."""
    squares: Floats
    """Of their squares."""
    n_worth: Floats
    """The effective number of tasks, as if each differed as much as the one that differs most."""
    alike: NDArray[np.bool_]
    """Whether all differences of the pair are alike."""

    @classmethod
    def of(cls, lows: Floats, highs: Floats) -> _Pairs:
        first, second = np.triu_indices(lows.shape[1], 1)
        sums: list[Floats] = []
        squares: list[Floats] = []
        worth: list[Floats] = []
        alike: list[NDArray[np.bool_]] = []
        for i in range(lows.shape[1] - 1):
            deltas = lows[:, i, np.newaxis] - highs[:, i + 1 :]
            deltas[abs(deltas) <= NOISE] = 0.0
            sums.append(deltas.sum(axis=0))
            squares.append(np.einsum("ij,ij->j", deltas, deltas))
            tops, bottoms = deltas.max(axis=0), deltas.min(axis=0)
            most = np.maximum(tops, -bottoms)
            worth.append(squares[-1] / np.where(most > 0.0, most, np.inf) ** 2)
            alike.append(tops - bottoms <= NOISE)
        return cls(
            lows=lows,
            highs=highs,
            first=first,
            second=second,
            sums=np.concatenate(sums),
            squares=np.concatenate(squares),
            n_worth=np.concatenate(worth),
            alike=np.concatenate(alike),
        )

    @property
    def are_known(self) -> bool:
        """Whether nothing is unknown."""
        return bool((self.lows == self.highs).all())

    @property
    def turned(self) -> _Pairs:
        """The greatest differences in place of the least."""
        return self if self.are_known else _Pairs.of(self.highs, self.lows)

    def sizes(self, sums: Floats) -> Floats:
        """Return *sums* over the root of the sum of squares: what rises with t."""
        return abs(sums) / np.sqrt(np.where(self.squares > 0.0, self.squares, np.inf))

    def stderrs(self) -> Floats:
        """Return the standard error of each mean difference; NaN where nothing varies."""
        n = len(self.lows)
        variances = (self.squares - self.sums * self.sums / n) / max(n - 1, 1) / n
        return np.where(self.alike, np.nan, np.sqrt(np.maximum(variances, 0.0)))


class _PairTests(NamedTuple):
    p_values: Floats
    adjusted: Floats
    ends: list[tuple[float, float]]
    """Of the interval of each difference, all of which hold at once; NaN where nothing varies."""
    method: str = "max-t"


def _n_more(pairs: _Pairs, found: _PairTests, i: int) -> int | None:
    """Return how many tasks more would tell a pair apart with the power of `POWER`."""
    n = len(pairs.lows)
    delta, error = float(pairs.sums[i]) / n, float(pairs.stderrs()[i])
    if not delta > NOISE or not error > 0.0 or not math.isfinite(found.ends[i][0]):
        return None
    quantiles = (delta - found.ends[i][0]) / error + normal_quantile(2.0 * POWER - 1.0)
    return max(1, math.ceil(n * (quantiles * error / delta) ** 2) - n)


POWER = 0.8
"""Chance with which a plan of further tasks tells two models apart, as in `required_tasks`."""


def _bounded_pairs(pairs: _Pairs, span: float, confidence_level: float) -> _PairTests:
    """Bound the differences within *span* of each pair, whatever the numbers of attempts."""
    groups, n_pairs = np.arange(len(pairs.lows)), pairs.first.size
    level = 1.0 - (1.0 - confidence_level) / n_pairs
    p_values: list[float] = []
    ends: list[tuple[float, float]] = []
    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        least, most = (
            one[:, first] - other[:, second]
            for one, other in ((pairs.lows, pairs.highs), (pairs.highs, pairs.lows))
        )
        is_ahead = float(least.sum()) > 0.0
        p_values.append(unseen_p_value(least, groups, (-span, span)) if is_ahead else 1.0)
        low, high = (unseen_interval(one, groups, level, (-span, span)) for one in (least, most))
        ends.append((low.low, high.high))
    found = np.array(p_values)
    return _PairTests(found, np.minimum(n_pairs * found, 1.0), ends, "gaffke")


def _flip_signs(
    pairs: _Pairs, n_resamples: int, rng: np.random.Generator, confidence_level: float
) -> _PairTests:
    """Compare what each pair shows with the largest of all, under flipped signs of the tasks."""
    m, are_known = pairs.lows.shape[1], pairs.are_known
    table = pairs.lows if are_known else np.concatenate([pairs.lows, pairs.highs], axis=1)
    moved = table - table[:, :1]  # signs flip the differences of models, not what they share
    moved = moved[(abs(moved) > NOISE).any(axis=1)]
    all_ways = len(moved) <= MAX_ENUMERATED and 2 ** max(len(moved) - 1, 0) <= n_resamples
    if all_ways:
        flipped = _all_flips(moved)
    elif pairs.n_worth.min(initial=math.inf, where=pairs.squares > 0.0) >= MANY:
        values, vectors = np.linalg.eigh(moved.T @ moved)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        flipped = rng.standard_normal((n_resamples, len(root))) @ root.T
    else:
        flipped = _random_flips(moved, n_resamples, rng)
    if are_known:
        least = most = _flipped(pairs, flipped, flipped, confidence_level, all_ways=all_ways)
    else:
        low, high = flipped[:, :m], flipped[:, m:]
        least = _flipped(pairs, low, high, confidence_level, all_ways=all_ways)
        most = _flipped(pairs.turned, high, low, confidence_level, all_ways=all_ways)
    return _PairTests(
        least.p_values, least.adjusted, list(zip(least.lows, most.highs, strict=True))
    )


class _Flipped(NamedTuple):
    p_values: Floats
    adjusted: Floats
    lows: list[float]
    """Of the interval of each difference."""
    highs: list[float]


def _flipped(
    pairs: _Pairs, firsts: Floats, seconds: Floats, confidence_level: float, *, all_ways: bool
) -> _Flipped:
    """Test the *pairs* by flipped sums of their *firsts* and *seconds*, those of one sign."""
    n, n_flips = len(pairs.lows), len(firsts)
    seen = np.where(pairs.sums > 0.0, pairs.sizes(pairs.sums), 0.0)
    least = seen * (1.0 - SAME)
    n_single, n_all = np.zeros(seen.size), np.zeros(seen.size)
    largest: list[Floats] = []
    rows = max(1, CELLS // seen.size)
    for start in range(0, n_flips, rows):
        first, second = (sums[start : start + rows] for sums in (firsts, seconds))
        sizes = pairs.sizes(first[:, pairs.first] - second[:, pairs.second])
        tops = sizes.max(axis=1)
        n_single += np.count_nonzero(sizes >= least, axis=0)
        n_all += np.count_nonzero(tops[:, np.newaxis] >= least, axis=0)
        largest.append(tops)
    itself = 0 if all_ways else 1  # the signs seen are among all ways, not among those drawn
    total = n_flips + itself
    n_beyond = math.floor((1.0 - confidence_level) * total + SAME) - itself
    top = np.sort(np.concatenate(largest))[::-1]
    # beyond what the verdict takes for equal, so that its interval holds 0
    share = (1.0 + 4.0 * SAME) * float(top[min(max(n_beyond, 0), top.size - 1)]) ** 2 / n
    critical = math.sqrt((n - 1) * share / (1.0 - share)) if share < 1.0 - SAME else math.inf
    if n_beyond <= 0 and n > 1:  # too few signs for a verdict: all that there is may be too near
        critical = max(critical, t_quantile(1.0 - (1.0 - confidence_level) / seen.size, n - 1.0))
    deltas, reaches = pairs.sums / n, critical * pairs.stderrs()
    alone, together = ((count + itself) / total for count in (n_single, n_all))
    return _Flipped(alone, together, (deltas - reaches).tolist(), (deltas + reaches).tolist())


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


class _StrengthFit(NamedTuple):
    strengths: Floats
    """Of maximum likelihood; their mean is 0."""
    log_likelihood: float
    information: Floats


def _fit(core: Floats, lost: Floats, to: float) -> _StrengthFit:
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
            return _StrengthFit(strengths, reached, information)
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
