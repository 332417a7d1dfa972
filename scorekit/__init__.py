"""
Scores for what language models produce, with honest uncertainty.

Everything public is reached as ``scorekit.<name>``; a module is loaded when one of its names is
first used, so that ``import scorekit`` costs no more than attrs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorekit import strategies as strategies
    from scorekit._best import BestAtK as BestAtK
    from scorekit._best import best_at_k as best_at_k
    from scorekit._calibration_error import CalibrationBin as CalibrationBin
    from scorekit._calibration_error import CalibrationError as CalibrationError
    from scorekit._calibration_error import calibration_error as calibration_error
    from scorekit._changes import CaseChange as CaseChange
    from scorekit._code_statistics import CaseStatistics as CaseStatistics
    from scorekit._code_statistics import CodeReport as CodeReport
    from scorekit._code_statistics import ModelStatistics as ModelStatistics
    from scorekit._cost_of_pass import CostOfPass as CostOfPass
    from scorekit._cost_of_pass import cost_of_pass_from_columns as cost_of_pass_from_columns
    from scorekit._costs import PRICES as PRICES
    from scorekit._costs import ModelPrice as ModelPrice
    from scorekit._costs import cost_of_pass as cost_of_pass
    from scorekit._costs import token_cost as token_cost
    from scorekit._exact_tests import McNemarTest as McNemarTest
    from scorekit._exact_tests import mcnemar_test as mcnemar_test
    from scorekit._extrapolation import ExtrapolatedPassAtK as ExtrapolatedPassAtK
    from scorekit._extrapolation import extrapolate_pass_at_k as extrapolate_pass_at_k
    from scorekit._g_pass import GPassAtK as GPassAtK
    from scorekit._g_pass import g_pass_at_k as g_pass_at_k
    from scorekit._judges import Judge as Judge
    from scorekit._judges import JudgeRequest as JudgeRequest
    from scorekit._judges import Verdict as Verdict
    from scorekit._judges import judge_from_function as judge_from_function
    from scorekit._majority import MajorityAtK as MajorityAtK
    from scorekit._majority import majority_at_k as majority_at_k
    from scorekit._messages import ErrorCategory as ErrorCategory
    from scorekit._paired_difference import PairedDifference as PairedDifference
    from scorekit._paired_difference import paired_difference as paired_difference
    from scorekit._power import minimum_detectable_effect as minimum_detectable_effect
    from scorekit._power import required_tasks as required_tasks
    from scorekit._records import MetricError as MetricError
    from scorekit._records import Record as Record
    from scorekit._result_accuracy import ResultAccuracy as ResultAccuracy
    from scorekit._result_accuracy import result_accuracy as result_accuracy
    from scorekit._samples import CodeSample as CodeSample
    from scorekit._sql_case import SqlCase as SqlCase
    from scorekit._sql_case import SqlCaseScore as SqlCaseScore
    from scorekit._sql_case import ascore_sql_case as ascore_sql_case
    from scorekit._sql_case import score_sql_case as score_sql_case
    from scorekit._sql_columns import sql_cases_from_columns as sql_cases_from_columns
    from scorekit._sql_columns import table_accuracies as table_accuracies
    from scorekit._verdict import MarginVerdict as MarginVerdict
    from scorekit._verdict import SuiteVerdict as SuiteVerdict
    from scorekit._voting import VotingJudge as VotingJudge
    from scorekit.agreement import CorrectedMean as CorrectedMean
    from scorekit.agreement import JudgeAgreement as JudgeAgreement
    from scorekit.agreement import corrected_mean as corrected_mean
    from scorekit.agreement import judge_agreement as judge_agreement
    from scorekit.calibration import ConfidenceCalibration as ConfidenceCalibration
    from scorekit.calibration import LevelCalibration as LevelCalibration
    from scorekit.calibration import calibration_from_counts as calibration_from_counts
    from scorekit.calibration import confidence_calibration as confidence_calibration
    from scorekit.cases import SqlReport as SqlReport
    from scorekit.cases import ascore_sql_cases as ascore_sql_cases
    from scorekit.cases import score_sql_cases as score_sql_cases
    from scorekit.claude_judge import ClaudeJudge as ClaudeJudge
    from scorekit.coding import CodeScore as CodeScore
    from scorekit.coding import CodeWeights as CodeWeights
    from scorekit.coding import code_score as code_score
    from scorekit.coding import code_scores as code_scores
    from scorekit.comparison import Comparison as Comparison
    from scorekit.comparison import compare_reports as compare_reports
    from scorekit.equivalence import Counterexample as Counterexample
    from scorekit.equivalence import SqlEquivalence as SqlEquivalence
    from scorekit.equivalence import TableRows as TableRows
    from scorekit.equivalence import sql_equivalence as sql_equivalence
    from scorekit.errors import InputError as InputError
    from scorekit.errors import ItemError as ItemError
    from scorekit.errors import JudgeError as JudgeError
    from scorekit.errors import MissingExtraError as MissingExtraError
    from scorekit.errors import RegressionError as RegressionError
    from scorekit.errors import ScorekitError as ScorekitError
    from scorekit.errors import SqlError as SqlError
    from scorekit.errors import WorkerError as WorkerError
    from scorekit.intervals import Interval as Interval
    from scorekit.intervals import mean_interval as mean_interval
    from scorekit.intervals import proportion_interval as proportion_interval
    from scorekit.judge_cache import CachedJudge as CachedJudge
    from scorekit.judge_cache import CacheStatistics as CacheStatistics
    from scorekit.judge_cache import CacheWarning as CacheWarning
    from scorekit.judging import QueryCorrectness as QueryCorrectness
    from scorekit.judging import aquery_correctness as aquery_correctness
    from scorekit.judging import query_correctness as query_correctness
    from scorekit.parallel import map_scores as map_scores
    from scorekit.plots import plot_comparison as plot_comparison
    from scorekit.plots import plot_cost_quality as plot_cost_quality
    from scorekit.plots import plot_pass_at_k as plot_pass_at_k
    from scorekit.plots import plot_reliability as plot_reliability
    from scorekit.reports import CodeTally as CodeTally
    from scorekit.reports import code_report as code_report
    from scorekit.reports import code_report_from_columns as code_report_from_columns
    from scorekit.runs import CrossTier as CrossTier
    from scorekit.runs import Run as Run
    from scorekit.runs import RunScore as RunScore
    from scorekit.runs import TierStatistics as TierStatistics
    from scorekit.runs import composite_score as composite_score
    from scorekit.runs import cross_tier as cross_tier
    from scorekit.runs import score_run as score_run
    from scorekit.runs import tier_statistics as tier_statistics
    from scorekit.runs import tier_uplift as tier_uplift
    from scorekit.sampling import PassAtK as PassAtK
    from scorekit.sampling import PassHatK as PassHatK
    from scorekit.sampling import pass_at_k as pass_at_k
    from scorekit.sampling import pass_at_k_per_task as pass_at_k_per_task
    from scorekit.sampling import pass_at_ks as pass_at_ks
    from scorekit.sampling import pass_hat_k as pass_hat_k
    from scorekit.summary import LetterGrade as LetterGrade
    from scorekit.summary import Statistics as Statistics
    from scorekit.summary import Tally as Tally
    from scorekit.summary import describe as describe
    from scorekit.summary import letter_grade as letter_grade
    from scorekit.tables import TableAccuracy as TableAccuracy
    from scorekit.tables import extract_tables as extract_tables
    from scorekit.tables import table_accuracy as table_accuracy
    from scorekit.validation import SafetySummary as SafetySummary
    from scorekit.validation import SafetyValidation as SafetyValidation
    from scorekit.validation import ValidationAccuracy as ValidationAccuracy
    from scorekit.validation import categorize_error as categorize_error
    from scorekit.validation import safety_summary as safety_summary
    from scorekit.validation import safety_validation as safety_validation
    from scorekit.validation import validation_accuracy as validation_accuracy

_MODULES = {
    "_calibration_error": ("CalibrationBin", "CalibrationError", "calibration_error"),
    "_changes": ("CaseChange",),
    "_best": ("BestAtK", "best_at_k"),
    "_code_statistics": ("CaseStatistics", "CodeReport", "ModelStatistics"),
    "_cost_of_pass": ("CostOfPass", "cost_of_pass_from_columns"),
    "_costs": ("PRICES", "ModelPrice", "cost_of_pass", "token_cost"),
    "_exact_tests": ("McNemarTest", "mcnemar_test"),
    "_extrapolation": ("ExtrapolatedPassAtK", "extrapolate_pass_at_k"),
    "_g_pass": ("GPassAtK", "g_pass_at_k"),
    "_judges": ("Judge", "JudgeRequest", "Verdict", "judge_from_function"),
    "_majority": ("MajorityAtK", "majority_at_k"),
    "_messages": ("ErrorCategory",),
    "_paired_difference": ("PairedDifference", "paired_difference"),
    "_power": ("minimum_detectable_effect", "required_tasks"),
    "_records": ("MetricError", "Record"),
    "_result_accuracy": ("ResultAccuracy", "result_accuracy"),
    "_samples": ("CodeSample",),
    "_sql_case": ("SqlCase", "SqlCaseScore", "ascore_sql_case", "score_sql_case"),
    "_sql_columns": ("sql_cases_from_columns", "table_accuracies"),
    "_verdict": ("MarginVerdict", "SuiteVerdict"),
    "_voting": ("VotingJudge",),
    "agreement": ("CorrectedMean", "JudgeAgreement", "corrected_mean", "judge_agreement"),
    "calibration": (
        "ConfidenceCalibration",
        "LevelCalibration",
        "calibration_from_counts",
        "confidence_calibration",
    ),
    "cases": ("SqlReport", "ascore_sql_cases", "score_sql_cases"),
    "claude_judge": ("ClaudeJudge",),
    "coding": ("CodeScore", "CodeWeights", "code_score", "code_scores"),
    "comparison": ("Comparison", "compare_reports"),
    "equivalence": (
        "Counterexample",
        "SqlEquivalence",
        "TableRows",
        "sql_equivalence",
    ),
    "errors": (
        "InputError",
        "ItemError",
        "JudgeError",
        "MissingExtraError",
        "RegressionError",
        "ScorekitError",
        "SqlError",
        "WorkerError",
    ),
    "intervals": ("Interval", "mean_interval", "proportion_interval"),
    "judge_cache": ("CacheStatistics", "CacheWarning", "CachedJudge"),
    "judging": ("QueryCorrectness", "aquery_correctness", "query_correctness"),
    "parallel": ("map_scores",),
    "plots": ("plot_comparison", "plot_cost_quality", "plot_pass_at_k", "plot_reliability"),
    "reports": (
        "CodeTally",
        "code_report",
        "code_report_from_columns",
    ),
    "runs": (
        "CrossTier",
        "Run",
        "RunScore",
        "TierStatistics",
        "composite_score",
        "cross_tier",
        "score_run",
        "tier_statistics",
        "tier_uplift",
    ),
    "sampling": (
        "PassAtK",
        "PassHatK",
        "pass_at_k",
        "pass_at_k_per_task",
        "pass_at_ks",
        "pass_hat_k",
    ),
    "summary": ("LetterGrade", "Statistics", "Tally", "describe", "letter_grade"),
    "tables": ("TableAccuracy", "extract_tables", "table_accuracy"),
    "validation": (
        "SafetySummary",
        "SafetyValidation",
        "ValidationAccuracy",
        "categorize_error",
        "safety_summary",
        "safety_validation",
        "validation_accuracy",
    ),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}

_on_load: Callable[[], None] | None = None  # set by _hypothesis where Hypothesis is loaded

__all__ = list(_HOME)  # pyright: ignore[reportUnsupportedDunderAll] - checkers read the imports above


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("scorekit")
    if name == "strategies":  # not in __all__: importing * must not need Hypothesis
        return import_module(f"{__name__}.strategies")
    if name not in _HOME:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])  # "Did you mean"
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    if _on_load is not None:
        _on_load()
    return value


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # help() and tab completion fetch every name, and strategies cannot be had without Hypothesis
    own = {"__version__", *(name for name in globals() if name.startswith("__"))}
    return sorted({*own, *_HOME, *(["strategies"] if find_spec("hypothesis") else [])})
