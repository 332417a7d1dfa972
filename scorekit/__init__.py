"""
Scores for what language models produce, with honest uncertainty.

Everything public is reached as ``scorekit.<name>``; a module is loaded when one of its names is
first used, so that ``import scorekit`` costs no more than attrs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module

__version__ = "0.2.0"

_TOPICS = {
    "agreement": (
        "CorrectedDifference CorrectedMean JudgeAgreement RaterAgreement corrected_difference "
        "corrected_mean judge_agreement rater_agreement"
    ),
    "audits": "QueryAudit query_audit",
    "calibration": (
        "CalibrationError ConfidenceCalibration ReviewThreshold calibration_error "
        "confidence_calibration review_threshold"
    ),
    "cases": "SqlCase SqlCaseScore sql_cases_from_columns",
    "claude": "ClaudeJudge",
    "coding": "CodeSample CodeScore CodeWeights code_score code_scores_from_columns",
    "columns": "ColumnAccuracy column_accuracy",
    "comparison": "Comparison compare_from_columns compare_reports",
    "correctness": "QueryCorrectness aquery_correctness query_correctness",
    "costs": "CostOfPass cost_of_pass cost_of_pass_from_columns",
    "differences": (
        "McNemarTest PairedDifference UnpairedDifference mcnemar_test paired_difference "
        "unpaired_difference"
    ),
    "equivalence": "Counterexample SqlEquivalence sql_equivalence",
    "errors": (
        "CannotSeeError InputError ItemError JudgeError MissingExtraError RegressionError "
        "ScorekitError SqlError WorkerError"
    ),
    "horizons": "TimeHorizon time_horizon",
    "intervals": "Interval mean_interval proportion_interval quantile_interval",
    "judges": (
        "CachedJudge CacheWarning Judge JudgeRequest Verdict VotingJudge judge_from_function"
    ),
    "parallel": "map_scores",
    "planning": (
        "EvaluationPlan RequiredTasks VarianceComponents minimum_detectable_effect "
        "required_tasks variance_components"
    ),
    "plots": (
        "plot_comparison plot_cost_quality plot_pass_at_k plot_reliability plot_time_horizon"
    ),
    "prices": "PRICES JudgeCost ModelPrice token_cost",
    "prompts": "JudgePrompt judge_prompt verdict_from_text",
    "ranking": "BradleyTerry ModelComparison bradley_terry compare_models",
    "records": "MetricError Record",
    "reports": "CodeReport ModelStatistics code_report code_report_from_columns",
    "results": "ResultAccuracy SqlOptions result_accuracy",
    "rubrics": "RubricScore rubric_score",
    "rulers": "Ruler RulerChange RulerEffect",
    "runs": (
        "CrossTier Run RunScore TierStatistics cross_tier runs_from_columns "
        "score_run tier_statistics"
    ),
    "sampling": (
        "BestAtK ExtrapolatedPassAtK GPassAtK MajorityAtK PassAtK PassHatK best_at_k "
        "extrapolate_pass_at_k g_pass_at_k majority_at_k pass_at_k pass_at_k_per_task "
        "pass_hat_k"
    ),
    "scoring": "ascore_sql_case ascore_sql_cases rescore score_sql_case score_sql_cases",
    "sqlreports": "SqlReport",
    "summary": "LetterGrade Statistics Tally describe letter_grade",
    "tables": "TableAccuracy extract_tables table_accuracies_from_columns table_accuracy",
    "toolcalls": "ToolCallAccuracy tool_call_accuracy",
    "validation": (
        "ErrorCategory SafetySummary SafetyValidation ValidationAccuracy categorize_error "
        "safety_summary safety_validation validation_accuracy"
    ),
}
"""The public names of each topic: the one list, from which the stub for type checkers is made."""

_HOME = {name: f"{__name__}.{topic}" for topic, names in _TOPICS.items() for name in names.split()}
"""The module of each public name."""

_on_load: Callable[[], None] | None = None  # set where Hypothesis is loaded

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll] - checkers read the stub

logging.getLogger(__name__).addHandler(logging.NullHandler())  # quiet until a user sets up logs


def __getattr__(name: str) -> object:
    from scorekit._core import near

    if name in ("readers", "strategies"):  # not in __all__: * must not need Hypothesis
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        message = near.missing_name(name, __all__)
        raise AttributeError(message, name=name)
    value = near.at_the_door(getattr(import_module(_HOME[name]), name))
    globals()[name] = value
    if _on_load is not None:
        _on_load()
    return value


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # help() and tab completion fetch every name, and strategies cannot be had without Hypothesis
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *_HOME, "readers", *(["strategies"] if find_spec("hypothesis") else [])})
