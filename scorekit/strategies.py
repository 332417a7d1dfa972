"""
Hypothesis strategies for everything scorekit takes and returns.

With the ``testing`` extra installed, ``st.from_type(scorekit.CodeSample)`` works too: Hypothesis
finds these strategies by itself.  Every value drawn is one that scorekit would make: results come
from the metrics themselves.
"""

from __future__ import annotations

from typing import Any, Literal

from scorekit._strategies.estimates import (
    best_at_k_results,
    calibration_bins,
    calibration_errors,
    corrected_means,
    costs_of_pass,
    counterexamples,
    extrapolated_pass_at_k_results,
    g_pass_at_k_results,
    judge_agreements,
    majority_at_k_results,
    margin_verdicts,
    mcnemar_tests,
    paired_differences,
    pass_hat_k_results,
    result_accuracies,
    sql_equivalences,
    table_rows,
)
from scorekit._strategies.inputs import (
    CONFIDENCES,
    COUNTS,
    FLAGS,
    NAMES,
    UNIT,
    code_samples,
    code_weights,
    confidence_outcomes,
    judge_requests,
    judges,
    model_prices,
    run_lists,
    runs,
    sample_counts,
    sql_cases,
    suite_counts,
    verdicts,
)
from scorekit._strategies.queries import SHOP, sql_queries, sql_schemas, st
from scorekit.calibration import ConfidenceCalibration, LevelCalibration, confidence_calibration
from scorekit.cases import SqlCaseScore, SqlReport, score_sql_case, score_sql_cases
from scorekit.coding import CodeSample, CodeScore, code_score
from scorekit.comparison import CaseChange, Comparison, compare_reports
from scorekit.correctness import QueryCorrectness, query_correctness
from scorekit.intervals import Interval, proportion_interval
from scorekit.judges import CacheStatistics
from scorekit.records import FrozenMapping, MetricError
from scorekit.reports import CaseStatistics, CodeReport, CodeTally, ModelStatistics, code_report
from scorekit.runs import (
    CrossTier,
    RunScore,
    TierStatistics,
    cross_tier,
    score_run,
    tier_statistics,
)
from scorekit.sampling import PassAtK, pass_at_k
from scorekit.summary import LetterGrade, Statistics, Tally, describe, letter_grade
from scorekit.tables import TableAccuracy, table_accuracy
from scorekit.validation import (
    SafetySummary,
    SafetyValidation,
    ValidationAccuracy,
    safety_summary,
    safety_validation,
    validation_accuracy,
)
from scorekit.verdicts import SuiteVerdict

__all__ = [
    "SHOP",
    "best_at_k_results",
    "cache_statistics",
    "calibration_bins",
    "calibration_errors",
    "case_changes",
    "case_statistics",
    "code_reports",
    "code_samples",
    "code_score_results",
    "code_tallies",
    "code_weights",
    "comparisons",
    "confidence_calibrations",
    "confidence_outcomes",
    "corrected_means",
    "costs_of_pass",
    "counterexamples",
    "cross_tiers",
    "extrapolated_pass_at_k_results",
    "g_pass_at_k_results",
    "intervals",
    "judge_agreements",
    "judge_requests",
    "judges",
    "letter_grades",
    "level_calibrations",
    "majority_at_k_results",
    "margin_verdicts",
    "mcnemar_tests",
    "metric_errors",
    "model_prices",
    "model_statistics",
    "paired_differences",
    "pass_at_k_results",
    "pass_hat_k_results",
    "query_correctness_results",
    "result_accuracies",
    "run_lists",
    "run_scores",
    "runs",
    "safety_summaries",
    "safety_validations",
    "sample_counts",
    "sql_case_scores",
    "sql_cases",
    "sql_equivalences",
    "sql_queries",
    "sql_reports",
    "sql_schemas",
    "statistics",
    "suite_counts",
    "suite_verdicts",
    "table_accuracies",
    "table_rows",
    "tallies",
    "tier_statistics_results",
    "validation_accuracies",
    "verdicts",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


METHODS: tuple[Literal["wilson", "jeffreys", "clopper-pearson"], ...] = (
    "wilson",
    "jeffreys",
    "clopper-pearson",
)


def code_score_results() -> st.SearchStrategy[CodeScore]:
    """Draw results of `scorekit.code_score`."""
    return st.builds(
        code_score,
        compiled=st.booleans(),
        passed=COUNTS,
        failed=COUNTS,
        warnings=COUNTS,
        weights=code_weights(),
    )


@st.composite
def pass_at_k_results(draw: st.DrawFn) -> PassAtK:
    """Draw results of `scorekit.pass_at_k`, of one task and of suites."""
    counts: dict[str, Any] = draw(sample_counts() | suite_counts())
    k: int = counts.pop("k")
    return pass_at_k(**counts, k=k, confidence_level=draw(CONFIDENCES))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Draw intervals of a share, by each method of `scorekit.proportion_interval`."""
    n = draw(st.integers(1, 60))
    return proportion_interval(
        draw(st.integers(0, n)),
        n,
        confidence_level=draw(CONFIDENCES),
        method=draw(st.sampled_from(METHODS)),
    )


def statistics() -> st.SearchStrategy[Statistics]:
    """Draw results of `scorekit.describe`."""
    return st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=10).map(describe)


def tallies() -> st.SearchStrategy[Tally]:
    """Draw tallies with values in them, and empty ones."""
    return st.lists(st.floats(-1e9, 1e9), max_size=10).map(_tally)


def _tally(values: list[float]) -> Tally:
    tally = Tally()
    if values:
        tally.add(values)
    return tally


def letter_grades() -> st.SearchStrategy[LetterGrade]:
    """Draw results of `scorekit.letter_grade`."""
    return UNIT.map(letter_grade)


def code_reports(
    *, max_cases: int = 4, max_models: int = 2, max_samples: int = 12
) -> st.SearchStrategy[CodeReport]:
    """
    Draw results of `scorekit.code_report` at pass@1 and pass@2.

    Args:
        max_cases: Most cases (count, at least 1).
        max_models: Most models (count, at least 1).
        max_samples: Most samples in all (count, at least 1).
    """
    names = st.tuples(
        st.lists(NAMES, min_size=1, max_size=max_cases),
        st.lists(NAMES, min_size=1, max_size=max_models),
    )
    samples = names.flatmap(
        lambda pair: st.lists(
            code_samples(case_ids=pair[0], models=pair[1]), min_size=1, max_size=max_samples
        )
    )
    return samples.map(lambda items: code_report(items, ks=(1, 2), insufficient="nan"))


def code_tallies() -> st.SearchStrategy[CodeTally]:
    """Draw tallies with samples in them, and empty ones."""
    return st.lists(code_samples(), max_size=6).map(_code_tally)


def _code_tally(samples: list[CodeSample]) -> CodeTally:
    tally = CodeTally()
    tally.add(samples)
    return tally


def case_statistics() -> st.SearchStrategy[CaseStatistics]:
    """Draw the cases of reports."""
    return code_reports().flatmap(lambda report: st.sampled_from(report.cases))


def model_statistics() -> st.SearchStrategy[ModelStatistics]:
    """Draw the models of reports."""
    return code_reports().flatmap(lambda report: st.sampled_from(report.models))


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    """Draw results of `scorekit.compare_reports`, with cases that only one side has."""
    attempts = UNIT | st.lists(st.booleans(), min_size=1, max_size=4)
    cases = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    n_before = draw(st.integers(1, len(cases)))
    before = {case: draw(attempts) for case in cases[:n_before]}
    after = {case: draw(attempts) for case in cases[draw(st.integers(0, n_before - 1)) :]}
    return compare_reports(before, after, threshold=draw(st.floats(0, 0.5)))


def suite_verdicts() -> st.SearchStrategy[SuiteVerdict]:
    """Draw verdicts on suites."""
    return comparisons().map(lambda comparison: comparison.suite)


@st.composite
def case_changes(draw: st.DrawFn) -> CaseChange:
    """Draw single changes, with both sides or one."""
    left, right = draw(st.tuples(st.none() | UNIT, UNIT) | st.tuples(UNIT, st.none()))
    return CaseChange(
        case_id=draw(NAMES),
        model=draw(st.none() | NAMES),
        metric=draw(st.sampled_from(["score", "code_score", "table_accuracy"])),
        baseline=left,
        current=right,
        delta=None if left is None or right is None else right - left,
        p_value=None if left is None or right is None else draw(st.none() | UNIT),
    )


def run_scores() -> st.SearchStrategy[RunScore]:
    """Draw results of `scorekit.score_run`."""
    return runs().map(score_run)


def tier_statistics_results(
    *, tier_ids: st.SearchStrategy[str] = NAMES
) -> st.SearchStrategy[TierStatistics]:
    """
    Draw results of `scorekit.tier_statistics`.

    Args:
        tier_ids: What their ids are drawn from.
    """
    return st.builds(tier_statistics, tier_ids, run_lists())


def cross_tiers() -> st.SearchStrategy[CrossTier]:
    """Draw results of `scorekit.cross_tier` over one to four tiers, the baseline among them."""
    tiers = st.lists(run_lists(max_runs=4), min_size=1, max_size=4).map(
        lambda groups: [tier_statistics(f"T{i}", group) for i, group in enumerate(groups)]
    )
    return tiers.map(cross_tier)


def table_accuracies() -> st.SearchStrategy[TableAccuracy]:
    """Draw results of `scorekit.table_accuracy`, some for text that is not SQL."""
    tables = st.lists(st.sampled_from([*SHOP, "elsewhere"]), max_size=3)
    return st.builds(table_accuracy, sql_queries(max_depth=1) | st.text(max_size=20), tables)


def query_correctness_results() -> st.SearchStrategy[QueryCorrectness]:
    """Draw results of `scorekit.query_correctness`, some of them failed for want of a judge."""
    queries = sql_queries(max_depth=1)
    return st.builds(
        query_correctness,
        queries,
        queries,
        judge=st.none() | judges(),
        evidence=st.sampled_from(["judge", "auto"]),
    )


def safety_validations() -> st.SearchStrategy[SafetyValidation]:
    """Draw results of `scorekit.safety_validation`."""
    return st.builds(safety_validation, safety_valid=st.booleans(), should_pass=st.booleans())


def safety_summaries() -> st.SearchStrategy[SafetySummary]:
    """Draw results of `scorekit.safety_summary`."""
    return st.lists(safety_validations(), min_size=1, max_size=12).map(safety_summary)


def validation_accuracies() -> st.SearchStrategy[ValidationAccuracy]:
    """Draw results of `scorekit.validation_accuracy`."""
    return st.builds(
        validation_accuracy,
        is_valid=st.booleans(),
        should_pass=st.booleans(),
        errors=st.lists(st.text(max_size=20), max_size=2),
        syntax_valid=FLAGS,
        schema_valid=FLAGS,
        safety_valid=FLAGS,
    )


def confidence_calibrations() -> st.SearchStrategy[ConfidenceCalibration]:
    """Draw results of `scorekit.confidence_calibration`, with and without enough cases."""
    return confidence_outcomes().map(lambda columns: confidence_calibration(*columns))


def level_calibrations() -> st.SearchStrategy[LevelCalibration]:
    """Draw single levels of calibrations."""
    return confidence_calibrations().flatmap(lambda result: st.sampled_from(result.levels))


def sql_case_scores() -> st.SearchStrategy[SqlCaseScore]:
    """Draw results of `scorekit.score_sql_case`."""
    return st.builds(score_sql_case, sql_cases(), judge=st.none() | judges())


def sql_reports(*, max_cases: int = 4) -> st.SearchStrategy[SqlReport]:
    """
    Draw results of `scorekit.score_sql_cases`.

    Args:
        max_cases: Most cases (count, at least 1).
    """
    cases = st.lists(sql_cases(), min_size=1, max_size=max_cases)
    return st.builds(score_sql_cases, cases, judge=st.none() | judges())


def metric_errors() -> st.SearchStrategy[MetricError]:
    """Draw what a failed metric says of itself."""
    return st.builds(
        MetricError,
        metric=st.sampled_from(["query_correctness", "table_accuracy"]),
        origin=st.sampled_from(["output", "instrument"]),
        kind=NAMES,
        message=st.text(max_size=20),
        inputs=st.dictionaries(NAMES, st.text(max_size=20), max_size=3).map(FrozenMapping),
        traceback=st.text(max_size=20),
        timestamp=st.datetimes(timezones=st.timezones()),
    )


def cache_statistics() -> st.SearchStrategy[CacheStatistics]:
    """Draw what a `scorekit.CachedJudge` says of itself."""
    return st.tuples(COUNTS, COUNTS, COUNTS, COUNTS).map(
        lambda n: CacheStatistics(
            n_hits=n[0] + n[1],
            n_disk_hits=n[1],
            n_misses=n[2],
            n_shared=n[3],
            n_calls_saved=n[0] + n[1] + n[3],
        )
    )
