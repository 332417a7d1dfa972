"""Strategies for every record that a metric returns: they call it on what users could pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

import scorekit
from scorekit import strategies
from scorekit._cases.metrics import OTHER_METRICS, other_metrics
from scorekit._core.checks import is_ordered
from scorekit._core.mappings import FrozenMapping
from scorekit._strategies.fields import AMOUNTS, COUNTS, TEXTS, UNIT, of_type, records
from scorekit.audits import AuditFinding
from scorekit.calibration import CalibrationBin, LevelCalibration
from scorekit.cases import METRICS, SqlScoring
from scorekit.claude import JudgeUsage
from scorekit.comparison import CaseChange
from scorekit.equivalence import TableRows
from scorekit.judges import CacheStatistics
from scorekit.ranking import ModelPair
from scorekit.reports import CaseStatistics
from scorekit.strategies import (
    SHOP,
    code_weights,
    confidence_outcomes,
    judges,
    rubrics,
    run_lists,
    runs,
    sample_counts,
    sql_cases,
    sql_options,
    sql_queries,
    suite_counts,
    tool_calls,
)
from scorekit.verdicts import SuiteVerdict

T = TypeVar("T")

_NO_COLUMNS = st.tuples()
_NAMES = st.text(min_size=1, max_size=12)
_JUDGED = st.sampled_from([0.0, 0.5, 1.0])
_CONFIDENCES = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def _columns(
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


def _called(
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
        options["confidence_level"] = _CONFIDENCES
    return st.builds(call, columns, **options)


@st.composite
def _case_changes(draw: st.DrawFn) -> CaseChange:
    """Draw single changes, with both sides or one."""
    left, right = draw(st.tuples(st.none() | UNIT, UNIT) | st.tuples(UNIT, st.none()))
    both = draw(st.tuples(UNIT, UNIT).map(sorted))
    p_value, adjusted_p_value = (None, None) if left is None or right is None else both
    return CaseChange(
        case_id=draw(_NAMES),
        model=draw(st.none() | _NAMES),
        metric=draw(st.sampled_from(["score", "code_score", "table_accuracy"])),
        baseline=left,
        current=right,
        delta=None if left is None or right is None else right - left,
        p_value=p_value,
        adjusted_p_value=adjusted_p_value,
    )


@st.composite
def _variance_components(draw: st.DrawFn) -> scorekit.VarianceComponents:
    """Draw components of the variance of a pilot, with judgements or without."""
    cell = draw(st.sampled_from([UNIT, st.lists(UNIT, min_size=2, max_size=3)]))
    tasks = draw(st.lists(st.lists(cell, min_size=2, max_size=4), min_size=2, max_size=6))
    return scorekit.variance_components(dict(enumerate(tasks)))


def _plan(parts: scorekit.VarianceComponents) -> scorekit.EvaluationPlan:
    judged = {} if parts.between_judgements is None else {"judgement": 0.1}
    return parts.plan(prices={"task": 2, "attempt": 0.5, **judged}, budget=20)


@st.composite
def _corrected_differences(draw: st.DrawFn) -> scorekit.CorrectedDifference:
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
def _rater_agreements(draw: st.DrawFn) -> scorekit.RaterAgreement:
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
def _model_comparisons(draw: st.DrawFn) -> scorekit.ModelComparison:
    """Draw results of `scorekit.compare_models`, tasks that a model lacks among them."""
    models = draw(st.lists(_NAMES, min_size=2, max_size=4, unique=True))
    tasks = st.dictionaries(st.integers(0, 9), UNIT | _JUDGED, max_size=8)
    shared = draw(st.integers(0, 9))
    scores = {model: {**draw(tasks), shared: draw(UNIT)} for model in models}
    return scorekit.compare_models(scores, n_resamples=1000, confidence_level=draw(_CONFIDENCES))


@st.composite
def _bradley_terries(draw: st.DrawFn) -> scorekit.BradleyTerry:
    """Draw results of `scorekit.bradley_terry`, models that won or lost all among them."""
    first, second, *others = draw(st.lists(_NAMES, min_size=2, max_size=4, unique=True))
    count = st.integers(1, 20)
    wins = {(first, second): draw(count), (second, first): draw(count)}
    for name in others:
        pair = draw(st.sampled_from([(first, name), (name, second)]))
        wins[pair] = draw(count)
        if draw(st.booleans()):
            wins[pair[1], pair[0]] = draw(count)
    return scorekit.bradley_terry(wins, confidence_level=draw(_CONFIDENCES))


def _cost_of_pass(columns: list[list[Any]], **options: Any) -> scorekit.CostOfPass:
    cost, passed = columns
    return scorekit.cost_of_pass_from_columns(cost_usd=cost, passed=passed, **options)


@st.composite
def _costs_of_pass(draw: st.DrawFn) -> scorekit.CostOfPass:
    """Draw what a pass costs, alone and beside a baseline."""
    level = draw(_CONFIDENCES)
    tables = _columns(AMOUNTS, st.booleans(), max_size=8)
    baseline = _cost_of_pass(draw(tables), confidence_level=level)
    if draw(st.booleans()):
        return baseline
    return _cost_of_pass(draw(tables), confidence_level=level, baseline=baseline)


def _counterexample(age: int) -> scorekit.Counterexample | None:
    older = f"SELECT id FROM users WHERE age > {age}"
    return scorekit.sql_equivalence("SELECT id FROM users", older).counterexample


def _filled(tally: Any, values: list[Any]) -> Any:
    if values:
        tally.add(values)
    return tally


@cache
def _extrapolated() -> tuple[scorekit.ExtrapolatedPassAtK, ...]:
    """Make a few once: each takes a tenth of a second, more than Hypothesis allows for a draw."""
    suites = (((2, 2), (1, 1), 1), ((2, 6, 5), (1, 3, 0), 20), ((4, 4, 6, 3), (4, 1, 6, 0), 7))
    return tuple(
        scorekit.extrapolate_pass_at_k(n_samples=n, n_correct=c, k=k) for n, c, k in suites
    )


def _cross_tier(groups: list[list[scorekit.Run]]) -> scorekit.CrossTier:
    return scorekit.cross_tier(
        [scorekit.tier_statistics(f"T{i}", group) for i, group in enumerate(groups)]
    )


def _paired_difference(
    before: list[Any],
    after: list[Any],
    labels: list[Any],
    *,
    clustered: bool,
    confidence_level: float,
) -> scorekit.PairedDifference:
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


def _rulers() -> st.SearchStrategy[scorekit.RulerChange]:
    scores = st.lists(UNIT, min_size=8, max_size=8)
    return st.builds(_ruled, scores, scores, st.lists(UNIT, min_size=6, max_size=8))


def _cache_statistics(memory: int, disk: int, misses: int, shared: int) -> CacheStatistics:
    return CacheStatistics(
        n_hits=memory + disk,
        n_disk_hits=disk,
        n_misses=misses,
        n_shared=shared,
        n_calls_saved=memory + disk + shared,
    )


def _parts(kind: type[Any], field: str) -> Callable[[], st.SearchStrategy[Any]]:
    """Draw what stands in a field of results of a kind, of several one."""

    def draw() -> st.SearchStrategy[Any]:
        found: st.SearchStrategy[Any] = results(kind).map(attrgetter(field))
        return found.filter(bool).flatmap(_one_of)

    return draw


def _one_of(found: object) -> st.SearchStrategy[Any]:
    return st.sampled_from([*found]) if is_ordered(found) else st.just(found)


def _majority_at_k(tasks: list[list[str]], k: int) -> scorekit.MajorityAtK:
    return scorekit.majority_at_k(tasks, correct=["a"] * len(tasks), k=k)


def _corrected_mean(labeled: list[list[float]], **options: Any) -> scorekit.CorrectedMean:
    return scorekit.corrected_mean(judge_labeled=labeled[0], human=labeled[1], **options)


def _attempts(cell: st.SearchStrategy[T]) -> st.SearchStrategy[list[list[T]]]:
    """Draw four attempts or more at each task of a suite."""
    return st.lists(st.lists(cell, min_size=4, max_size=6), min_size=1, max_size=5)


_TASKS = st.integers(2, 10**6)
_UP_TO_FOUR = st.integers(1, 4)

RESULTS: dict[Any, Callable[[], st.SearchStrategy[Any]]] = {
    # code, agents and what they cost
    scorekit.CodeScore: lambda: _called(scorekit.code_score, passed=COUNTS, failed=COUNTS,
        warnings=COUNTS, weights=code_weights()),
    CaseStatistics: _parts(scorekit.CodeReport, "cases"),
    scorekit.ModelStatistics: _parts(scorekit.CodeReport, "models"),
    scorekit.PassAtK: lambda: _called(scorekit.pass_at_k, sample_counts() | suite_counts()),
    scorekit.PassHatK: lambda: _called(scorekit.pass_hat_k, sample_counts() | suite_counts()),
    scorekit.GPassAtK: lambda: _called(scorekit.g_pass_at_k, sample_counts() | suite_counts(),
        tau=UNIT),
    scorekit.BestAtK: lambda: st.builds(scorekit.best_at_k, _attempts(UNIT), k=_UP_TO_FOUR),
    scorekit.MajorityAtK: lambda: st.builds(_majority_at_k, _attempts(st.sampled_from("abc")),
        _UP_TO_FOUR),
    scorekit.ExtrapolatedPassAtK: lambda: st.sampled_from(_extrapolated()),
    scorekit.RunScore: lambda: runs().map(scorekit.score_run),
    scorekit.TierStatistics: lambda: st.builds(scorekit.tier_statistics, _NAMES, run_lists()),
    scorekit.CrossTier: lambda: st.lists(run_lists(max_runs=4), min_size=1,
        max_size=4).map(_cross_tier),
    scorekit.CostOfPass: _costs_of_pass,
    scorekit.TimeHorizon: lambda: _called(scorekit.time_horizon,
        _columns(st.floats(0.1, 1e4), st.booleans(), max_size=12), share=st.floats(0.1, 0.9)),
    scorekit.ToolCallAccuracy: lambda: _called(scorekit.tool_call_accuracy,
        st.tuples(tool_calls(), tool_calls())),
    scorekit.RubricScore: lambda: _called(scorekit.rubric_score, rubrics()),
    scorekit.RulerChange: _rulers,
    scorekit.RulerEffect: lambda: _rulers().map(lambda found: found.effects["score"]),
    # SQL
    scorekit.Ruler: lambda: results(scorekit.SqlReport).map(attrgetter("ruler")),
    scorekit.SqlCaseScore: lambda: st.builds(scorekit.score_sql_case, sql_cases(),
        judge=st.none() | judges()),
    SqlScoring: lambda: records(SqlScoring, options=sql_options(),
        metrics=st.none() | st.lists(st.sampled_from(METRICS), min_size=1, unique=True),
        confidence_level=_CONFIDENCES),
    scorekit.QueryCorrectness: lambda: st.builds(scorekit.query_correctness,
        sql_queries(max_depth=1), sql_queries(max_depth=1), schema=st.sampled_from([None, SHOP]),
        judge=st.none() | judges(), evidence=st.sampled_from(["judge", "auto"])),
    scorekit.QueryAudit: lambda: st.builds(scorekit.query_audit, sql_queries(max_depth=1),
        schema=st.sampled_from([None, SHOP])),
    AuditFinding: _parts(scorekit.QueryAudit, "findings"),
    scorekit.SqlEquivalence: lambda: st.builds(scorekit.sql_equivalence, sql_queries(max_depth=1),
        sql_queries(max_depth=1), schema=st.just(SHOP), dialect=st.just("sqlite"),
        n_databases=st.just(5)),
    scorekit.Counterexample: lambda: st.integers(0, 9).map(_counterexample),
    TableRows: _parts(scorekit.Counterexample, "tables"),
    scorekit.ResultAccuracy: lambda: st.builds(scorekit.result_accuracy,
        *[st.lists(st.tuples(st.integers(0, 2), st.none() | UNIT), max_size=3)] * 2,
        ordered=st.booleans()),
    scorekit.TableAccuracy: lambda: st.builds(scorekit.table_accuracy,
        sql_queries(max_depth=1) | TEXTS, st.lists(st.sampled_from([*SHOP, "elsewhere"]),
        max_size=3)),
    scorekit.SafetyValidation: lambda: _called(scorekit.safety_validation),
    scorekit.SafetySummary: lambda: st.lists(results(scorekit.SafetyValidation), min_size=1,
        max_size=12).map(scorekit.safety_summary),
    scorekit.ValidationAccuracy: lambda: _called(scorekit.validation_accuracy,
        errors=st.lists(TEXTS, max_size=2)),
    scorekit.MetricError: lambda: records(scorekit.MetricError,
        inputs=st.dictionaries(_NAMES, TEXTS, max_size=3).map(FrozenMapping),
        timestamp=st.datetimes(timezones=st.timezones())),
    # judges
    CacheStatistics: lambda: st.builds(_cache_statistics, *[COUNTS] * 4),
    JudgeUsage: lambda: records(JudgeUsage),
    scorekit.JudgeCost: lambda: records(scorekit.JudgeCost),
    scorekit.JudgePrompt: lambda: strategies.judge_requests().map(scorekit.judge_prompt),
    scorekit.JudgeAgreement: lambda: _called(scorekit.judge_agreement, _columns(_JUDGED, _JUDGED)),
    scorekit.RaterAgreement: _rater_agreements,
    scorekit.CorrectedMean: lambda: st.builds(_corrected_mean,
        _columns(_JUDGED, UNIT, min_size=2, max_size=10),
        judge_unlabeled=st.lists(_JUDGED, min_size=2, max_size=20), power_tuned=st.booleans()),
    scorekit.CorrectedDifference: _corrected_differences,
    # numbers
    scorekit.Statistics: lambda: st.builds(scorekit.describe,
        st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=10),
        quantiles=st.lists(UNIT, max_size=2)),
    scorekit.Tally: lambda: st.builds(_filled, st.builds(scorekit.Tally),
        st.lists(st.floats(-1e9, 1e9), max_size=10)),
    scorekit.LetterGrade: lambda: UNIT.map(scorekit.letter_grade),
    scorekit.Interval: lambda: _called(scorekit.proportion_interval,
        st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))),
    scorekit.ConfidenceCalibration: lambda: confidence_outcomes().map(
        lambda both: scorekit.confidence_calibration(both[0], correct=both[1])
    ),
    LevelCalibration: _parts(scorekit.ConfidenceCalibration, "levels"),
    scorekit.CalibrationError: lambda: _called(scorekit.calibration_error,
        _columns(UNIT, st.booleans()), n_bins=st.integers(1, 12)),
    CalibrationBin: _parts(scorekit.CalibrationError, "bins"),
    scorekit.ReviewThreshold: lambda: _called(scorekit.review_threshold,
        _columns(UNIT, st.booleans()), max_error=st.floats(0.05, 0.95)),
    # comparisons and plans
    CaseChange: _case_changes,
    SuiteVerdict: _parts(scorekit.Comparison, "suite"),
    scorekit.McNemarTest: lambda: st.builds(scorekit.mcnemar_test,
        n_pass_to_fail=st.integers(0, 200), n_fail_to_pass=st.integers(0, 200)),
    scorekit.PairedDifference: lambda: _called(_paired_difference,
        _columns(UNIT, UNIT, st.integers(0, 2), max_size=8)),
    scorekit.UnpairedDifference: lambda: _called(scorekit.unpaired_difference,
        st.tuples(*[st.lists(UNIT | _JUDGED, min_size=1, max_size=8)] * 2),
        bounds=st.none() | st.just((0.0, 1.0))),
    scorekit.ModelComparison: _model_comparisons,
    ModelPair: _parts(scorekit.ModelComparison, "pairs"),
    scorekit.BradleyTerry: _bradley_terries,
    scorekit.VarianceComponents: _variance_components,
    scorekit.readers.HarnessRun: lambda: st.lists(
        st.fixed_dictionaries({"id": st.sampled_from("abc"), "s": st.none() | UNIT}), min_size=1,
        max_size=3,
    ).map(lambda rows: scorekit.readers.json_lines(rows, case_id="id", score="s")),
    scorekit.EvaluationPlan: lambda: (
        _variance_components().filter(lambda parts: parts.between_tasks > 0).map(_plan)
    ),
    scorekit.RequiredTasks: lambda: records(scorekit.RequiredTasks, n_tasks=_TASKS,
        attempts=st.tuples(_TASKS, _TASKS), effect=st.floats(0.01, 1), power=st.floats(0.5, 1),
        confidence_level=_CONFIDENCES, n_tasks_pilot=st.none() | _TASKS,
        n_tasks_bounds=st.none() | st.tuples(_TASKS, st.none() | _TASKS),
        n_tasks_expected=st.none() | st.floats(1, 1e6), n_tasks_fixed=st.none() | _TASKS),
}  # fmt: skip
"""By type."""


def _metric_results(name: str) -> st.SearchStrategy[Any]:
    """Draw results of one metric of SQL cases."""
    cases = sql_cases().filter(OTHER_METRICS[name].needs)
    results = cases.map(lambda case: other_metrics(case, SqlScoring()))
    return results.filter(lambda found: name in found).map(lambda found: found[name])


def results(kind: Any) -> Any:
    """Return what values of a type are drawn from."""
    if kind in RESULTS:
        return RESULTS[kind]()
    hints = get_type_hints(scorekit.SqlCaseScore)
    for name in OTHER_METRICS:
        if kind in get_args(hints[name]):
            return _metric_results(name)
    return strategies.for_type(kind)
