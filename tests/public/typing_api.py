"""What users write, as type checkers see it: checked by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import Generator
from typing import assert_type

import numpy as np
import pandas as pd
import polars as pl
from matplotlib.axes import Axes
from numpy.typing import NDArray

import scorekit
from scorekit import (
    CachedJudge,
    ClaudeJudge,
    CodeReport,
    CodeSample,
    CodeScore,
    Comparison,
    Interval,
    Judge,
    JudgeRequest,
    LetterGrade,
    PassAtK,
    QueryAudit,
    QueryCorrectness,
    ResultAccuracy,
    SqlCase,
    SqlEquivalence,
    SqlReport,
    Statistics,
    TierStatistics,
    VotingJudge,
    judge_from_function,
)


def tables_of_runs() -> None:
    """Hold that tiers make a mapping of runs."""
    price = scorekit.ModelPrice(input_usd_per_million=1, output_usd_per_million=2)
    runs = scorekit.runs_from_columns(run_id=[1], passed=[True], impl_rate=0.5)
    assert_type(runs, tuple[scorekit.Run, ...])
    tiers = scorekit.runs_from_columns(
        run_id=[1],
        passed=True,
        impl_rate=0.5,
        tier=["T0"],
        input_tokens=[1],
        output_tokens=np.array([1]),
        price=[price],
    )
    assert_type(tiers["T0"], tuple[scorekit.Run, ...])


def estimates() -> None:
    """Hold the types of estimates."""
    assert_type(scorekit.code_score(compiled=True, passed=1), CodeScore)
    assert_type(scorekit.code_scores_from_columns(compiled=[True, False]), NDArray[np.float64])
    scorekit.code_scores_from_columns(compiled=np.array([True]), passed=np.array([1]))
    scorekit.code_scores_from_columns(compiled=pd.Series([True]), passed=pl.Series([1]))
    assert_type(scorekit.pass_at_k(n_samples=10, n_correct=3, k=5), PassAtK)
    assert_type(scorekit.pass_at_k(n_samples=[10, 10], n_correct=np.array([3, 4])), PassAtK)
    assert_type(scorekit.pass_at_k(n_samples=[10], n_correct=[3], k=(1, 5)), tuple[PassAtK, ...])
    assert_type(scorekit.pass_hat_k(n_samples=4, n_correct=3, k=2), scorekit.PassHatK)
    assert_type(scorekit.pass_hat_k(n_samples=[3, 3], n_correct=[1, 2], k=2), scorekit.PassHatK)
    assert_type(scorekit.g_pass_at_k(n_samples=4, n_correct=3, tau=0.5), scorekit.GPassAtK)
    several = scorekit.g_pass_at_k(n_samples=4, n_correct=3, k=2, tau=(0.5, "mean"))
    assert_type(several, tuple[scorekit.GPassAtK, ...])
    assert_type(scorekit.best_at_k([0.5, 1.0]), scorekit.BestAtK)
    low, high = scorekit.mean_interval([1, 0.5])
    assert_type(low + high, float)
    scorekit.best_at_k([0.5, 1.0]).value  # type: ignore[attr-defined] # noqa: B018 # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    scorekit.best_at_k([0.5, 1.0], alpha=0.1)  # type: ignore[call-overload] # pyright: ignore[reportCallIssue, reportArgumentType]
    scorekit.best_at_k([np.array([0.5, 1.0]), np.array([0.25])], clusters=["a", 1])
    scorekit.best_at_k([[0.5, 1], (0.25, 0.5)])
    assert_type(scorekit.majority_at_k(["a", "b"], correct="a"), scorekit.MajorityAtK)
    scorekit.majority_at_k([{"a": 3}, ["b"]], correct=["a", "b"], k=1)
    assert_type(scorekit.mean_interval([1, 0.5], clusters=pd.Series(["a", "b"])), Interval)
    assert_type(scorekit.mean_interval([1, 0.5], bounds=(0, 1)), Interval)
    assert_type(scorekit.required_tasks(effect=0.05, attempts=(1, 5)), scorekit.RequiredTasks)
    assert_type(scorekit.required_tasks(effect=0.05, discordant=0.2).n_tasks, int)
    assert_type(scorekit.required_tasks(effect=0.05, pilot=({1: 1}, {1: [0]})).power, float)
    parts = scorekit.variance_components({"a": [1, 0], "b": [1]})
    assert_type(parts, scorekit.VarianceComponents)
    plan = parts.plan(prices={"task": 1, "attempt": 0.1}, budget=10)
    assert_type(plan, scorekit.EvaluationPlan)
    assert_type(scorekit.minimum_detectable_effect(n_tasks=164), float)
    changed = scorekit.mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=3)
    assert_type(changed.p_value, float)
    assert_type(changed.corrected_p_value, float | None)
    paired = scorekit.paired_difference([1, 0.5], pd.Series([True, False]), clusters=["a", 1])
    assert_type(paired.sign_flip_p_value, float | None)
    assert_type(paired.interval, Interval | None)
    cost = scorekit.cost_of_pass_from_columns(cost_usd=np.array([0.5]), passed=pl.Series([True]))
    assert_type(cost.interval, Interval | None)
    assert_type(scorekit.describe([1, 2.0]), Statistics)
    assert_type(scorekit.letter_grade(0.9), LetterGrade)


def reports() -> None:
    """Hold the types of reports and what is made of them."""
    sample = CodeSample(case_id="a", model="m", compiled=True)
    assert_type(scorekit.code_report([sample], k=(1,)), CodeReport)
    assert_type(scorekit.code_report([sample]).models[0].pass_at_k[0].score, float)
    assert_type(CodeReport.from_json(""), CodeReport)
    by_column = scorekit.code_report_from_columns(
        case_id=pd.Series(["a"]), model="m", compiled=pl.Series([True]), cost_usd=[None]
    )
    assert_type(by_column, CodeReport)
    rows = scorekit.sql_cases_from_columns(
        case_id=pd.Series(["a"]), generated=["SELECT 1"], is_valid=[None], dialect="sqlite"
    )
    assert_type(rows, tuple[SqlCase, ...])
    accuracies = scorekit.table_accuracies_from_columns(
        pl.Series(["SELECT 1"]), [["t"]], progress=print
    )
    assert_type(accuracies, NDArray[np.float64])
    lengths = scorekit.map_scores(len, ["a", "bc"], progress=True)
    scorekit.result_accuracy({"db": [(1, None)]}, {"db": [[1, "a"]]}, rule="soft-f1")
    assert_type(lengths, Generator[int, None, None])
    assert_type(
        scorekit.compare_from_columns(
            case_id=["a", 2], version=["v", "w"], score=[True, None], baseline="v", margin=0.1
        ),
        Comparison,
    )
    assert_type(scorekit.compare_reports({"a": 0.5}, {"a": [True, False]}), Comparison)
    scorekit.compare_reports({"a": 1}, {"a": np.array([0.5])}, clusters={"a": 1}, margin=0.1)
    scorekit.compare_reports({1: 1}, {1: [0, 1]}, clusters={1: "x"}, metrics=["score"])

    run = scorekit.Run(run_id="r", passed=True, impl_rate=0.9, cost_usd=0.5, duration_seconds=1.0)
    assert_type(scorekit.tier_statistics("T0", [run]), TierStatistics)

    assert_type(scorekit.plot_pass_at_k(scorekit.code_report([sample])), Axes)
    scorekit.plot_pass_at_k({"m": scorekit.pass_at_k(n_samples=2, n_correct=1, k=(1, 2))})
    drawn: CodeSample = scorekit.strategies.code_samples().example()
    assert_type(scorekit.code_report([drawn]), CodeReport)


def evidence() -> None:
    """Hold the types of metrics of SQL and of judges."""
    cached = CachedJudge(ClaudeJudge(model="claude-haiku-5-5"), directory="verdicts")
    judges: list[Judge] = [cached, VotingJudge(cached), judge_from_function(abs_, identity="x")]
    assert_type(scorekit.query_correctness("a", ["b"], judge=judges[0]), QueryCorrectness)
    keys = {"t": [("a", "b")]}
    assert_type(scorekit.sql_equivalence("a", "b", schema="x", keys=keys), SqlEquivalence)
    scorekit.sql_equivalence(
        "a", "b", schema={"t": {"a": "int"}}, keys={"t": "a"}, semantics="set"
    )
    assert_type(scorekit.query_audit("a", schema={"t": {"a": "int"}}), QueryAudit)
    assert_type(scorekit.result_accuracy([(1, None)], [["a", 2.5]]), ResultAccuracy)
    case = SqlCase(case_id="q", generated="a", expected=["b"], expected_tables=["t"])
    assert_type(scorekit.score_sql_cases([case], judge=cached), SqlReport)
    assert_type(scorekit.compare_reports(report_of(case), report_of(case)), Comparison)
    assert_type(scorekit.extract_tables("SELECT 1"), tuple[str, ...])
    assert_type(scorekit.confidence_calibration(["high"], correct=[True]).score, float | None)
    assert_type(scorekit.calibration_error(np.array([0.5]), [True]).score, float)
    review = scorekit.review_threshold(["high"], [True], max_error=0.1, order=["low", "high"])
    assert_type(review.threshold, float | str | None)
    assert_type(scorekit.judge_agreement([1, 0.5], np.array([1, 0])).score, float | None)
    mean = scorekit.corrected_mean(
        judge_labeled=[True], human=pd.Series([1.0]), judge_unlabeled=[0.5], power_tuned=True
    )
    assert_type(mean.interval, Interval)


def abs_(request: JudgeRequest) -> float:
    """Judge by length."""
    return float(len(request.generated) == len(request.expected))


def report_of(case: SqlCase) -> SqlReport:
    """Report on one case."""
    return scorekit.score_sql_cases([case])


class Alone:
    """A judge with one form of its own."""

    identity = "alone"

    def judge(self, request: JudgeRequest) -> float:
        """Judge all alike."""
        del request
        return 1.0


class Awaited:
    """A judge with the other form."""

    identity = "awaited"

    async def ajudge(self, request: JudgeRequest) -> scorekit.Verdict:
        """Judge all alike."""
        del request
        return scorekit.Verdict(score=1.0)


def judges_of_ones_own(case: SqlCase) -> None:
    """Whichever form it has."""
    for judge in (Alone(), Awaited()):
        scorekit.query_correctness("SELECT 1", "SELECT 2", judge=judge, row_order="expected")
        scorekit.score_sql_cases([case], judge=scorekit.CachedJudge(judge), rule="spider")
        scorekit.VotingJudge(judge)
