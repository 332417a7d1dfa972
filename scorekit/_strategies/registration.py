"""What Hypothesis loads as it starts: the strategy of each public type, made when asked for."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

_package = sys.modules["scorekit"].__dict__
STRATEGIES = {
    "BestAtK": "best_at_k_results",
    "CacheStatistics": "cache_statistics",
    "CalibrationBin": "calibration_bins",
    "CalibrationError": "calibration_errors",
    "CaseChange": "case_changes",
    "CaseStatistics": "case_statistics",
    "CodeReport": "code_reports",
    "CodeSample": "code_samples",
    "CodeScore": "code_score_results",
    "CodeTally": "code_tallies",
    "CodeWeights": "code_weights",
    "Comparison": "comparisons",
    "ConfidenceCalibration": "confidence_calibrations",
    "CorrectedMean": "corrected_means",
    "CostOfPass": "costs_of_pass",
    "Counterexample": "counterexamples",
    "CrossTier": "cross_tiers",
    "ExtrapolatedPassAtK": "extrapolated_pass_at_k_results",
    "GPassAtK": "g_pass_at_k_results",
    "Interval": "intervals",
    "Judge": "judges",
    "JudgeAgreement": "judge_agreements",
    "JudgeRequest": "judge_requests",
    "LetterGrade": "letter_grades",
    "LevelCalibration": "level_calibrations",
    "MajorityAtK": "majority_at_k_results",
    "MarginVerdict": "margin_verdicts",
    "McNemarTest": "mcnemar_tests",
    "MetricError": "metric_errors",
    "ModelPrice": "model_prices",
    "ModelStatistics": "model_statistics",
    "PairedDifference": "paired_differences",
    "PassAtK": "pass_at_k_results",
    "PassHatK": "pass_hat_k_results",
    "QueryCorrectness": "query_correctness_results",
    "ResultAccuracy": "result_accuracies",
    "Run": "runs",
    "RunScore": "run_scores",
    "SafetySummary": "safety_summaries",
    "SafetyValidation": "safety_validations",
    "SqlCase": "sql_cases",
    "SqlCaseScore": "sql_case_scores",
    "SqlEquivalence": "sql_equivalences",
    "SqlReport": "sql_reports",
    "Statistics": "statistics",
    "SuiteVerdict": "suite_verdicts",
    "TableAccuracy": "table_accuracies",
    "TableRows": "table_rows",
    "Tally": "tallies",
    "TierStatistics": "tier_statistics_results",
    "ValidationAccuracy": "validation_accuracies",
    "Verdict": "verdicts",
}
"""Public types that Hypothesis could not make from their annotations alone."""

_known: set[str] = set()


def register() -> None:
    """
    Register the types that are loaded already, and the others once they are.

    A type can be registered only when there is one, and loading scorekit's modules would cost
    every user of Hypothesis numpy and sqlglot.
    """
    _package["_on_load"] = register_loaded
    register_loaded()


def register_loaded() -> None:
    """Register each type whose module is loaded by now."""
    from hypothesis import strategies as st

    homes: dict[str, str] = _package["_HOME"]
    for name in [name for name in STRATEGIES if name not in _known]:
        found = getattr(sys.modules.get(homes[name]), name, None)
        if found is not None:  # its module is loaded, to the end
            _known.add(name)
            st.register_type_strategy(found, _strategy(STRATEGIES[name]))


def _strategy(function: str) -> Any:
    """Return what Hypothesis calls with the type; only then are the strategies loaded."""

    def resolve(_: object) -> Any:
        return getattr(import_module("scorekit.strategies"), function)()

    return resolve
