"""Strategies for records that metrics return: they call them on what users could pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import scorekit
from scorekit._cases.metrics import OTHER_METRICS, other_metrics
from scorekit._strategies.fields import AMOUNTS, UNIT, of_type
from scorekit.cases import SqlScoring
from scorekit.comparison import CaseChange
from scorekit.judges import CacheStatistics
from scorekit.strategies import (
    sql_cases,
)

T = TypeVar("T")

_NO_COLUMNS = st.tuples()
NAMES = st.text(min_size=1, max_size=12)
JUDGED = st.sampled_from([0.0, 0.5, 1.0])
CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def columns(
    *cells: st.SearchStrategy[Any], min_size: int = 1, max_size: int = 20
) -> st.SearchStrategy[list[list[Any]]]:
    """Draw columns whose entries go together."""
    rows = st.lists(st.tuples(*cells), min_size=min_size, max_size=max_size)
    return rows.map(lambda some: [list(column) for column in zip(*some, strict=True)])


def _is_choice(hint: Any) -> bool:
    """Tell flags, words to choose from, and these or None."""
    if hint in (bool, type(None)) or get_origin(hint) is Literal:
        return True
    return isinstance(hint, UnionType) and all(map(_is_choice, get_args(hint)))


def called(
    function: Callable[..., T],
    columns: st.SearchStrategy[Any] = _NO_COLUMNS,
    **options: st.SearchStrategy[Any],
) -> st.SearchStrategy[T]:
    """Draw what *function* makes of *columns*, in their order or by name, with any options."""

    def call(given: Any, **chosen: Any) -> T:
        if isinstance(given, Mapping):
            return function(**given, **chosen)
        return function(*given, **chosen)

    hints = {name: hint for name, hint in get_type_hints(function).items() if name != "return"}
    options = {name: of_type(hint) for name, hint in hints.items() if _is_choice(hint)} | options
    if "confidence_level" in hints:
        options["confidence_level"] = CONFIDENCES
    return st.builds(call, columns, **options)


@st.composite
def case_changes(draw: st.DrawFn) -> CaseChange:
    """Draw single changes, with both sides or one."""
    left, right = draw(st.tuples(st.none() | UNIT, UNIT) | st.tuples(UNIT, st.none()))
    both = draw(st.tuples(UNIT, UNIT).map(sorted))
    p_value, adjusted_p_value = (None, None) if left is None or right is None else both
    return CaseChange(
        case_id=draw(NAMES),
        model=draw(st.none() | NAMES),
        metric=draw(st.sampled_from(["score", "code_score", "table_accuracy"])),
        baseline=left,
        current=right,
        delta=None if left is None or right is None else right - left,
        p_value=p_value,
        adjusted_p_value=adjusted_p_value,
    )


@st.composite
def variance_components(draw: st.DrawFn) -> scorekit.VarianceComponents:
    """Draw components of the variance of a pilot, with judgements or without."""
    cell = draw(st.sampled_from([UNIT, st.lists(UNIT, min_size=2, max_size=3)]))
    tasks = draw(st.lists(st.lists(cell, min_size=2, max_size=4), min_size=2, max_size=6))
    return scorekit.variance_components(dict(enumerate(tasks)))


def plan(parts: scorekit.VarianceComponents) -> scorekit.EvaluationPlan:
    """Return the plan of a pilot."""
    judged = {} if parts.between_judgements is None else {"judgement": 0.1}
    return parts.plan(prices={"task": 2, "attempt": 0.5, **judged}, budget=20)


@st.composite
def corrected_differences(draw: st.DrawFn) -> scorekit.CorrectedDifference:
    """Draw results of `scorekit.corrected_difference`, with few labels and with enough."""
    n_labeled, n_others = draw(st.integers(2, 40)), draw(st.integers(0, 20))
    scores = st.lists(UNIT, min_size=n_labeled + n_others, max_size=n_labeled + n_others)
    baseline, current, human_baseline, human_current = (draw(scores) for _ in range(4))
    none = [None] * n_others
    return scorekit.corrected_difference(
        baseline,
        current,
        human_baseline=[*human_baseline[:n_labeled], *none],
        human_current=[*human_current[:n_labeled], *none],
    )


@st.composite
def rater_agreements(draw: st.DrawFn) -> scorekit.RaterAgreement:
    """Draw results of `scorekit.rater_agreement`, with ratings missing and without."""
    n_items = draw(st.integers(1, 8))
    ratings = st.integers(1, 4) | (st.none() if draw(st.booleans()) else st.just(1))
    rows = st.lists(ratings, min_size=n_items, max_size=n_items)
    first = draw(st.lists(st.integers(1, 4), min_size=n_items, max_size=n_items))
    others = draw(st.lists(rows, min_size=1, max_size=3))
    others[0][0] = first[0]  # one item at least that two rated
    scale: Any = draw(st.sampled_from(["nominal", "ordinal", "interval"]))
    return scorekit.rater_agreement([first, *others], scale=scale)


@st.composite
def model_comparisons(draw: st.DrawFn) -> scorekit.ModelComparison:
    """Draw results of `scorekit.compare_models`, tasks that a model lacks among them."""
    models = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    tasks = st.dictionaries(st.integers(0, 9), UNIT | JUDGED, max_size=8)
    shared = draw(st.integers(0, 9))
    scores = {model: {**draw(tasks), shared: draw(UNIT)} for model in models}
    return scorekit.compare_models(scores, n_resamples=1000, confidence_level=draw(CONFIDENCES))


@st.composite
def bradley_terries(draw: st.DrawFn) -> scorekit.BradleyTerry:
    """Draw results of `scorekit.bradley_terry`, models that won or lost all among them."""
    first, second, *others = draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    count = st.integers(1, 20)
    wins = {(first, second): draw(count), (second, first): draw(count)}
    for name in others:
        pair = draw(st.sampled_from([(first, name), (name, second)]))
        wins[pair] = draw(count)
        if draw(st.booleans()):
            wins[pair[1], pair[0]] = draw(count)
    return scorekit.bradley_terry(wins, confidence_level=draw(CONFIDENCES))


def _cost_of_pass(columns: list[list[Any]], **options: Any) -> scorekit.CostOfPass:
    cost, passed = columns
    return scorekit.cost_of_pass_from_columns(cost_usd=cost, passed=passed, **options)


@st.composite
def costs_of_pass(draw: st.DrawFn) -> scorekit.CostOfPass:
    """Draw what a pass costs, alone and beside a baseline."""
    level = draw(CONFIDENCES)
    tables = columns(AMOUNTS, st.booleans(), max_size=8)
    baseline = _cost_of_pass(draw(tables), confidence_level=level)
    if draw(st.booleans()):
        return baseline
    return _cost_of_pass(draw(tables), confidence_level=level, baseline=baseline)


def counterexample(age: int) -> scorekit.Counterexample | None:
    """Return a database that tells two queries apart."""
    older = f"SELECT id FROM users WHERE age > {age}"
    return scorekit.sql_equivalence("SELECT id FROM users", older).counterexample


def filled(tally: Any, values: list[Any]) -> Any:
    """Return a tally with the values in it."""
    if values:
        tally.add(values)
    return tally


@cache
def extrapolated() -> tuple[scorekit.ExtrapolatedPassAtK, ...]:
    """Make a few once: each takes a tenth of a second, more than Hypothesis allows for a draw."""
    suites = (((2, 2), (1, 1), 1), ((2, 6, 5), (1, 3, 0), 20), ((4, 4, 6, 3), (4, 1, 6, 0), 7))
    return tuple(
        scorekit.extrapolate_pass_at_k(n_samples=n, n_correct=c, k=k) for n, c, k in suites
    )


def cross_tier(groups: list[list[scorekit.Run]]) -> scorekit.CrossTier:
    """Compare tiers of runs."""
    return scorekit.cross_tier(
        [scorekit.tier_statistics(f"T{i}", group) for i, group in enumerate(groups)]
    )


def paired_difference(
    before: list[Any],
    after: list[Any],
    labels: list[Any],
    *,
    clustered: bool,
    confidence_level: float,
) -> scorekit.PairedDifference:
    """Compare two columns, with their labels or without."""
    clusters = labels if clustered else None
    return scorekit.paired_difference(
        before, after, clusters=clusters, confidence_level=confidence_level
    )


def _ruled(old: list[float], new: list[float], again: list[float]) -> scorekit.RulerChange:
    """Compare runs that two judges measured, with some answers measured by both."""
    runs = [dict(enumerate(one)) for one in (old, new, again)]
    rulers = {"judge": "x"}, {"judge": "y"}
    found = scorekit.compare_reports(
        *runs[:2], rulers=rulers, rescored=runs[2], attempts="fixed"
    ).ruler
    assert found is not None
    return found


def rulers() -> st.SearchStrategy[scorekit.RulerChange]:
    """Draw changes of a ruler."""
    scores = st.lists(UNIT, min_size=8, max_size=8)
    return st.builds(_ruled, scores, scores, st.lists(UNIT, min_size=6, max_size=8))


def cache_statistics(memory: int, disk: int, misses: int, shared: int) -> CacheStatistics:
    """Return statistics whose counts agree."""
    return CacheStatistics(
        n_hits=memory + disk,
        n_disk_hits=disk,
        n_misses=misses,
        n_shared=shared,
        n_calls_saved=memory + disk + shared,
    )


def majority_at_k(tasks: list[list[str]], k: int) -> scorekit.MajorityAtK:
    """Let attempts vote, of which those that say a are right."""
    return scorekit.majority_at_k(tasks, correct=["a"] * len(tasks), k=k)


def corrected_mean(labeled: list[list[float]], **options: Any) -> scorekit.CorrectedMean:
    """Correct the mean of a judge by labels."""
    return scorekit.corrected_mean(judge_labeled=labeled[0], human=labeled[1], **options)


def attempts(cell: st.SearchStrategy[T]) -> st.SearchStrategy[list[list[T]]]:
    """Draw four attempts or more at each task of a suite."""
    return st.lists(st.lists(cell, min_size=4, max_size=6), min_size=1, max_size=5)


TASKS = st.integers(2, 10**6)
UP_TO_FOUR = st.integers(1, 4)


def metric_results(name: str) -> st.SearchStrategy[Any]:
    """Draw results of one metric of SQL cases."""
    cases = sql_cases().filter(OTHER_METRICS[name].needs)
    results = cases.map(lambda case: other_metrics(case, SqlScoring()))
    return results.filter(lambda found: name in found).map(lambda found: found[name])
