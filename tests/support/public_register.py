"""
The one register of public names: what every sweep tries each of them with.

A new function, or a new record, needs an entry here and nowhere else.  The entry of a function
holds what there is of the record that it returns; `hostile_results`, `drawn_results` and
`copied_data` hold what is too long for the table.
"""
# mypy: disable-error-code="arg-type, list-item, call-overload, dict-item, union-attr"
# What NumPy, `decimal` and `fractions` have for numbers is taken, beyond what the hints say.

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter
from typing import Any, get_args, get_type_hints

import attrs
import copied_data as copies
import drawn_results as drawn
import hostile_results as hostile
import numpy as np
from hostile_results import HOSTILE
from hypothesis import strategies as st
from record_types import RECORDS

import scorekit
from scorekit import CodeSample, Run, SqlCase, code_report, strategies, tier_statistics
from scorekit._cases.metrics import OTHER_METRICS
from scorekit._core.checks import is_ordered
from scorekit._core.mappings import FrozenMapping
from scorekit._strategies.fields import COUNTS, TEXTS, UNIT, records
from scorekit.cases import METRICS, SqlScoring
from scorekit.claude import JudgeUsage
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


@attrs.frozen(kw_only=True)
class Entry:
    """What a public name is tried with."""

    call: dict[str, Any] | None = None
    """Arguments by name, with which each is tried in all forms: of what takes data."""
    made: tuple[scorekit.Record, ...] = ()
    """Records that awkward calls make: they must travel, print and render."""
    drawn: Callable[[], st.SearchStrategy[Any]] | None = None
    """Records as Hypothesis draws them; for those that users make, `scorekit.strategies` does."""
    groups: Callable[[int, list[int] | None], object] | str | None = None
    """Of a statistic: that of *n* copies of the data, with the group of each or as if all were
    new; or what it says of its units, where it takes no groups."""


RUNS = [
    Run(run_id=i, passed=i > 1, impl_rate=0.5, cost_usd=0.1 * (i + 1), duration_seconds=9)
    for i in range(4)
]
SAMPLES = [
    CodeSample(case_id=i % 3, model=model, compiled=True, passed=i % 2, failed=1 - i % 2)
    for i in range(6)
    for model in "ab"
]
REPORT = code_report(SAMPLES)
CASES = [SqlCase(case_id=i, generated="SELECT 1", expected="SELECT 1") for i in range(3)]
SAFE = [scorekit.safety_validation(safety_valid=True, should_pass=True)] * 2
ATTEMPTS: dict[str, Any] = {"n_samples": [4, 5, 6], "n_correct": [1, 3, 6]}
CODE: dict[str, Any] = {"compiled": [True, True], "passed": [1, 2], "failed": [1, 0]}
SCORES = [0.5, 1.0, 0.25, 0.75]
SQL: dict[str, Any] = {"generated": "SELECT 1", "expected": "SELECT 1"}
PRICE = next(iter(scorekit.PRICES.values()))


def parts(kind: type[Any], field: str) -> Callable[[], st.SearchStrategy[Any]]:
    """Draw what stands in a field of results of a kind, of several one."""

    def draw() -> st.SearchStrategy[Any]:
        found: st.SearchStrategy[Any] = results(kind).map(attrgetter(field))
        return found.filter(bool).flatmap(_one_of)

    return draw


def _one_of(found: object) -> st.SearchStrategy[Any]:
    return st.sampled_from([*found]) if is_ordered(found) else st.just(found)


REGISTER: dict[str, Entry] = {
    # functions, with the record of the same name
    "aquery_correctness": Entry(call=SQL),
    "ascore_sql_case": Entry(call={"case": CASES[0], "metrics": ["query_correctness"]}),
    "ascore_sql_cases": Entry(
        call={"cases": CASES, "metrics": ["query_correctness"]},
        groups="is score_sql_cases",
    ),
    "best_at_k": Entry(
        call={"scores": SCORES, "k": 2},
        made=(scorekit.best_at_k([[0.5, np.float32(1.0)], [Fraction(1, 3)]], k=2,
            insufficient="nan"), scorekit.best_at_k([0.5, Decimal("0.25")], k=2)),
        drawn=lambda: st.builds(scorekit.best_at_k, drawn.attempts(UNIT), k=drawn.UP_TO_FOUR),
        groups=lambda n, g: scorekit.best_at_k([[s, 1 - s] for s in copies.SCORES * n], k=1,
            clusters=g),
    ),
    "bradley_terry": Entry(
        call={"wins": {("a", "b"): 3, ("b", "a"): 1}},
        made=(scorekit.bradley_terry({("a", HOSTILE): 3, (HOSTILE, "a"): 1}),
            scorekit.bradley_terry({("a", HOSTILE): 3, (HOSTILE, "a"): 1, (HOSTILE, "last"): 2})),
        drawn=drawn.bradley_terries,
        groups="takes counts of contests, which are independent",
    ),
    "calibration_error": Entry(
        call={"confidences": [0.9, 0.4, 0.6, 0.2], "outcomes": [True, True, False, False]},
        made=(hostile.CALIBRATION,),
        drawn=lambda: drawn.called(scorekit.calibration_error, drawn.columns(UNIT, st.booleans()),
            n_bins=st.integers(1, 12)),
        groups=lambda n, g: scorekit.calibration_error(copies.SCORES * n, copies.FLAGS * n,
            clusters=g),
    ),
    "categorize_error": Entry(call={"message": "syntax error"}),
    "code_report": Entry(
        call={"samples": SAMPLES, "quantiles": [0.5]},
        made=(hostile.REPORT,),
        groups=copies.code,
    ),
    "code_report_from_columns": Entry(
        call={"case_id": ["x", "y"], "model": ["m", "n"], **CODE, "warnings": [0, 1],
            "cost_usd": [0.5, 1.0], "latency_seconds": [1.0, 2.0], "input_tokens": [5, 6],
            "output_tokens": [7, 8], "cache_read_tokens": [1, 2], "cache_write_tokens": [3, 4],
            "quantiles": [0.5]},
        groups="is code_report",
    ),
    "code_score": Entry(
        call={"compiled": True, "passed": 1},
        made=(scorekit.code_score(compiled=True, passed=1, failed=2, weights=hostile.WEIGHTS),),
        drawn=lambda: drawn.called(scorekit.code_score, passed=COUNTS, failed=COUNTS,
            warnings=COUNTS, weights=code_weights()),
    ),
    "code_scores_from_columns": Entry(call={**CODE, "warnings": [0, 1]}),
    "column_accuracy": Entry(call={"generated": "SELECT x FROM t", "expected": ["x"]}),
    "compare_from_columns": Entry(
        call={"case_id": ["a", "a", "b", "b"], "version": ["v", "w", "v", "w"], "score": [1.0, 0.5,
            0.25, 1.0], "baseline": "v"},
        groups="is compare_reports",
    ),
    "compare_models": Entry(
        call={"scores": REPORT},
        made=(hostile.MODELS,),
        drawn=drawn.model_comparisons,
        groups="takes attempts by task: tasks are its groups",
    ),
    "compare_reports": Entry(
        call={"baseline": REPORT, "current": REPORT, "metrics": ["pass@1"]},
        groups=copies.compared,
    ),
    "confidence_calibration": Entry(
        call={"levels": ["high", "low", "low"], "correct": [True, False, True]},
        made=(scorekit.confidence_calibration({"high": (18, 20), "low": (3, 10)}),),
        drawn=lambda: confidence_outcomes().map(lambda both:
            scorekit.confidence_calibration(both[0], correct=both[1])),
        groups=lambda n, g: scorekit.confidence_calibration(copies.LEVELS * n,
            correct=copies.FLAGS * n, clusters=g),
    ),
    "corrected_difference": Entry(
        call={"judge_baseline": [0.5, 1.0, 0.0, 1.0], "judge_current": [1.0, 0.5, 0.0, 1.0],
            "human_baseline": [0.5, 1.0, 0.25, None], "human_current": [1.0, 1.0, 0.0, None]},
        made=(scorekit.corrected_difference([1, 0, 1], [1, 1, 1], human_baseline=[1, 0, None],
            human_current=[1, 1, None]),),
        drawn=drawn.corrected_differences,
        groups=lambda n, g: scorekit.corrected_difference(copies.SCORES * n,
            copies.SCORES[::-1] * n, human_baseline=[float(one) for one in copies.FLAGS] * n,
            human_current=[float(one) for one in copies.OTHERS] * n, clusters=g),
    ),
    "corrected_mean": Entry(
        call={"judge_labeled": [0.5, 1.0, 0.0], "human": [1.0, 1.0, 0.0], "judge_unlabeled": [0.5,
            0.25]},
        made=(scorekit.corrected_mean(judge_labeled=[1, 0], human=[1, 1],
            judge_unlabeled=np.array([1, 0])),),
        drawn=lambda: st.builds(drawn.corrected_mean, drawn.columns(drawn.JUDGED, UNIT, min_size=2,
            max_size=10), judge_unlabeled=st.lists(drawn.JUDGED, min_size=2, max_size=20),
            power_tuned=st.booleans()),
        groups="takes items that were judged, each by itself",
    ),
    "cost_of_pass": Entry(
        call={"cost_usd": 0.5, "pass_rate": 0.5},
        made=(scorekit.cost_of_pass_from_columns(cost_usd=[Decimal("0.5"), 1], passed=[np.True_,
            0], seed=1), scorekit.cost_of_pass_from_columns(cost_usd=[0.5], passed=[False])),
        drawn=drawn.costs_of_pass,
    ),
    "cost_of_pass_from_columns": Entry(
        call={"cost_usd": [0.5, 0.25, 1.0], "passed": [True, False, True]},
        groups=lambda n, g: scorekit.cost_of_pass_from_columns(cost_usd=[0.5 + s for s in
            copies.SCORES] * n, passed=copies.FLAGS * n, clusters=g),
    ),
    "cross_tier": Entry(
        call={"tiers": [tier_statistics("T0", RUNS)]},
        made=(scorekit.cross_tier(hostile.TIERS), scorekit.cross_tier(hostile.TIERS[1:2])),
        drawn=lambda: st.lists(run_lists(max_runs=4), min_size=1,
            max_size=4).map(drawn.cross_tier),
        groups=copies.tiers,
    ),
    "describe": Entry(
        call={"values": SCORES, "quantiles": [0.5]},
        made=(scorekit.describe([Fraction(1, 3), 2**70]),),
        drawn=lambda: st.builds(scorekit.describe, st.lists(st.floats(-1e9, 1e9), min_size=1,
            max_size=10), quantiles=st.lists(UNIT, max_size=2)),
    ),
    "extract_tables": Entry(call={"sql": "SELECT x FROM t"}),
    "extrapolate_pass_at_k": Entry(
        call={**ATTEMPTS, "k": 20},
        groups="takes counts of the attempts at each task: tasks are its groups",
    ),
    "g_pass_at_k": Entry(
        call={**ATTEMPTS, "k": 2},
        made=(scorekit.g_pass_at_k(n_samples=np.int64(10), n_correct=3, k=4, tau=Fraction(1, 3)),
            scorekit.g_pass_at_k(n_samples=[3], n_correct=[3], k=4, insufficient="nan"),
            *scorekit.g_pass_at_k(n_samples=[4, 4], n_correct=[3, 2], k=2, tau=[np.float32(0.5),
            "mean"])),
        drawn=lambda: drawn.called(scorekit.g_pass_at_k, sample_counts() | suite_counts(),
            tau=UNIT),
        groups=lambda n, g: scorekit.g_pass_at_k(n_samples=[5] * copies.N * n,
            n_correct=copies.COUNTS * n, k=2, clusters=g),
    ),
    "judge_agreement": Entry(
        call={"judge_scores": [0.0, 1.0, 1.0, 0.5], "human_scores": [0.0, 1.0, 0.5, 0.5]},
        made=(scorekit.judge_agreement([1, 0.5, True], [1, 0, 0.5], weights="quadratic"),
            scorekit.judge_agreement([1, 1], [True, True])),
        drawn=lambda: drawn.called(scorekit.judge_agreement, drawn.columns(drawn.JUDGED,
            drawn.JUDGED)),
        groups="takes items that were judged, each by itself",
    ),
    "judge_from_function": Entry(call={"function": lambda _: 1.0, "identity": "x"}),
    "judge_prompt": Entry(
        call={"request": scorekit.JudgeRequest(**SQL)},
        made=(scorekit.judge_prompt(scorekit.JudgeRequest(generated=HOSTILE, expected=HOSTILE)),),
        drawn=lambda: strategies.judge_requests().map(scorekit.judge_prompt),
    ),
    "letter_grade": Entry(
        call={"score": 0.9},
        made=(scorekit.letter_grade(0.9, scale=[(HOSTILE, HOSTILE, 0.5), ("b", "", 0)]),),
        drawn=lambda: UNIT.map(scorekit.letter_grade),
    ),
    "majority_at_k": Entry(
        call={"answers": ["a", "b", "a"], "correct": "a"},
        made=(scorekit.majority_at_k([HOSTILE, 0, HOSTILE], correct=HOSTILE, k=np.int64(2)),),
        drawn=lambda: st.builds(drawn.majority_at_k, drawn.attempts(st.sampled_from("abc")),
            drawn.UP_TO_FOUR),
        groups=lambda n, g: scorekit.majority_at_k([list("ba"[flag] + "ba") for flag in
            copies.FLAGS] * n, correct=["a"] * copies.N * n, k=1, clusters=g),
    ),
    "map_scores": Entry(call={"function": abs, "items": [1, 2]}),
    "mcnemar_test": Entry(
        call={"n_pass_to_fail": 1, "n_fail_to_pass": 3},
        made=(scorekit.mcnemar_test(n_pass_to_fail=np.int64(12), n_fail_to_pass=3),
            scorekit.mcnemar_test(n_pass_to_fail=0, n_fail_to_pass=0)),
        drawn=lambda: st.builds(scorekit.mcnemar_test, n_pass_to_fail=st.integers(0, 200),
            n_fail_to_pass=st.integers(0, 200)),
        groups="takes counts of tasks that changed side",
    ),
    "mean_interval": Entry(
        call={"values": SCORES},
        groups=lambda n, g: scorekit.mean_interval(copies.SCORES * n, clusters=g),
    ),
    "minimum_detectable_effect": Entry(call={"n_tasks": 100}),
    "paired_difference": Entry(
        call={"baseline": SCORES, "current": SCORES[::-1]},
        made=(scorekit.paired_difference([1, np.float64(0.5), True], [0, 0.3, 1], clusters=[1, 1,
            HOSTILE]), scorekit.paired_difference([1], [0])),
        drawn=lambda: drawn.called(drawn.paired_difference, drawn.columns(UNIT, UNIT,
            st.integers(0, 2), max_size=8)),
        groups=lambda n, g: scorekit.paired_difference(copies.SCORES * n, copies.SCORES[::-1] * n,
            clusters=g),
    ),
    "pass_at_k": Entry(
        call=ATTEMPTS,
        made=(scorekit.pass_at_k(n_samples=10, n_correct=3, k=5), scorekit.pass_at_k(n_samples=[10,
            4], n_correct=[3, 4], k=5, insufficient="nan"), scorekit.pass_at_k(n_samples=[10, 4],
            n_correct=[3, 4], k=5, insufficient="drop")),
        drawn=lambda: drawn.called(scorekit.pass_at_k, sample_counts() | suite_counts()),
        groups=lambda n, g: scorekit.pass_at_k(n_samples=[5] * copies.N * n,
            n_correct=copies.COUNTS * n, k=2, clusters=g),
    ),
    "pass_at_k_per_task": Entry(call=ATTEMPTS),
    "pass_hat_k": Entry(
        call=ATTEMPTS,
        made=(scorekit.pass_hat_k(n_samples=[10, 4], n_correct=[3, 4], k=4, clusters=[HOSTILE,
            HOSTILE]),),
        drawn=lambda: drawn.called(scorekit.pass_hat_k, sample_counts() | suite_counts()),
        groups=lambda n, g: scorekit.pass_hat_k(n_samples=[5] * copies.N * n,
            n_correct=copies.COUNTS * n, k=2, clusters=g),
    ),
    "proportion_interval": Entry(
        call={"n_successes": 3, "n_trials": 5},
        groups="takes a count of independent trials",
    ),
    "quantile_interval": Entry(
        call={"values": SCORES, "q": 0.5},
        groups=lambda n, g: scorekit.quantile_interval(copies.SCORES * n, 0.5, clusters=g),
    ),
    "query_audit": Entry(
        call={"sql": "SELECT 1"},
        made=(hostile.AUDITED,),
        drawn=lambda: st.builds(scorekit.query_audit, sql_queries(max_depth=1),
            schema=st.sampled_from([None, SHOP])),
    ),
    "query_correctness": Entry(
        call=SQL,
        made=(*hostile.SQL_REPORT.cases[0].metrics().values(),
            scorekit.query_correctness("SELECT a", "SELECT b", judge=hostile.JUDGE),
            scorekit.query_correctness("SELECT a", "SELECT b")),
        drawn=lambda: st.builds(scorekit.query_correctness, sql_queries(max_depth=1),
            sql_queries(max_depth=1), schema=st.sampled_from([None, SHOP]),
            judge=st.none() | judges(), evidence=st.sampled_from(["judge", "auto"])),
    ),
    "rater_agreement": Entry(
        call={"ratings": [["a", "b"], ["a", "a"], ["b", "b"]], "scale": "nominal"},
        made=(scorekit.rater_agreement([[HOSTILE, "b", None], [HOSTILE, "b", "b"]],
            scale="nominal"),),
        drawn=drawn.rater_agreements,
        groups="takes items that were rated, each by itself",
    ),
    "required_tasks": Entry(
        call={"effect": 0.1},
        made=(scorekit.required_tasks(effect=Fraction(1, 5), anytime=np.True_),),
        drawn=lambda: records(scorekit.RequiredTasks, n_tasks=drawn.TASKS,
            attempts=st.tuples(drawn.TASKS, drawn.TASKS), effect=st.floats(0.01, 1),
            power=st.floats(0.5, 1), confidence_level=drawn.CONFIDENCES,
            n_tasks_pilot=st.none() | drawn.TASKS,
            n_tasks_bounds=st.none() | st.tuples(drawn.TASKS, st.none() | drawn.TASKS),
            n_tasks_expected=st.none() | st.floats(1, 1e6), n_tasks_fixed=st.none() | drawn.TASKS),
    ),
    "rescore": Entry(
        call={"report": scorekit.score_sql_cases(CASES[:1]), "cases": CASES[:1]},
        groups="is score_sql_cases",
    ),
    "result_accuracy": Entry(
        call={"generated_rows": [(1,)], "expected_rows": [(1,)]},
        made=(scorekit.result_accuracy([(HOSTILE, math.nan)], [(b"\xff", None)]),),
        drawn=lambda: st.builds(scorekit.result_accuracy, *[st.lists(st.tuples(st.integers(0, 2),
            st.none() | UNIT), max_size=3)] * 2, ordered=st.booleans()),
    ),
    "review_threshold": Entry(
        call={"confidences": [0.9, 0.4, 0.6, 0.2], "outcomes": [True, True, False, False],
            "max_error": 0.5},
        made=(scorekit.review_threshold([0.9] * 80, [True] * 80, max_error=0.05),),
        drawn=lambda: drawn.called(scorekit.review_threshold, drawn.columns(UNIT, st.booleans()),
            max_error=st.floats(0.05, 0.95)),
        groups="takes answers, one to each question",
    ),
    "rubric_score": Entry(
        call={"points": [1, 2, 3], "met": [True, False, True]},
        made=(scorekit.rubric_score([[5, -4], [3]], [[True, None], [False]]),),
        drawn=lambda: drawn.called(scorekit.rubric_score, rubrics()),
        groups=lambda n, g: scorekit.rubric_score([[1, 2]] * copies.N * n,
            [list(pair) for pair in zip(copies.FLAGS, copies.OTHERS, strict=True)] * n,
            clusters=g),
    ),
    "runs_from_columns": Entry(
        call={"run_id": ["a", "b"], "passed": [True, False], "impl_rate": [0.5, 0.5],
            "cost_usd": [0.5, 1.0], "duration_seconds": [9.0, 8.0], "task_id": ["x", "y"]},
    ),
    "safety_summary": Entry(
        call={"results": SAFE, "case_ids": ["a", "b"]},
        made=(scorekit.safety_summary([scorekit.safety_validation(safety_valid=True,
            should_pass=False)]),),
        drawn=lambda: st.lists(results(scorekit.SafetyValidation), min_size=1,
            max_size=12).map(scorekit.safety_summary),
        groups=lambda n, g: scorekit.safety_summary(copies.VERDICTS * n,
            case_ids=None if g is None else [str(one) for one in g]),
    ),
    "safety_validation": Entry(
        call={"safety_valid": True, "should_pass": True},
        made=(scorekit.safety_validation(safety_valid=np.True_, should_pass=False),),
        drawn=lambda: drawn.called(scorekit.safety_validation),
    ),
    "score_run": Entry(
        call={"run": RUNS[0]},
        made=(scorekit.score_run(hostile.FAILED),),
        drawn=lambda: runs().map(scorekit.score_run),
    ),
    "score_sql_case": Entry(
        call={"case": CASES[0], "metrics": ["query_correctness"]},
        made=(*hostile.SQL_REPORT.cases,),
        drawn=lambda: st.builds(scorekit.score_sql_case, sql_cases(), judge=st.none() | judges()),
    ),
    "score_sql_cases": Entry(
        call={"cases": CASES, "metrics": ["query_correctness"]},
        groups=copies.suite,
    ),
    "sql_cases_from_columns": Entry(
        call={"case_id": ["a", "b"], "generated": ["SELECT 1", "SELECT 2"],
            "expected": ["SELECT 1", "SELECT 1"], "is_valid": [True, False], "safety_valid": [True,
            True], "syntax_valid": [True, True], "schema_valid": [True, True],
            "should_pass": [True, True], "expected_safe": [True, True], "confidence": ["high",
            "low"], "dialect": ["sqlite", "mysql"], "question": ["a?", "b?"]},
    ),
    "sql_equivalence": Entry(
        call={"a": "SELECT 1", "b": "SELECT 1"},
        made=(hostile.REFUTED, scorekit.sql_equivalence(HOSTILE, HOSTILE)),
        drawn=lambda: st.builds(scorekit.sql_equivalence, sql_queries(max_depth=1),
            sql_queries(max_depth=1), schema=st.just(SHOP), dialect=st.just("sqlite"),
            n_databases=st.just(5)),
    ),
    "table_accuracies_from_columns": Entry(
        call={"generated": ["SELECT 1", "SELECT x FROM t"], "expected_tables": [["t"], ["t"]]},
    ),
    "table_accuracy": Entry(
        call={"generated": "SELECT x FROM t", "expected_tables": ["t"]},
        made=(scorekit.table_accuracy("SELECT 1 FROM t", ["u"]), hostile.UNREAD),
        drawn=lambda: st.builds(scorekit.table_accuracy, sql_queries(max_depth=1) | TEXTS,
            st.lists(st.sampled_from([*SHOP, "elsewhere"]), max_size=3)),
    ),
    "tier_statistics": Entry(
        call={"tier_id": "T0", "runs": RUNS, "quantiles": [0.5]},
        made=(*hostile.TIERS,),
        drawn=lambda: st.builds(scorekit.tier_statistics, drawn.NAMES, run_lists()),
        groups=lambda n, g: scorekit.tier_statistics("T0", copies.runs(n, g)),
    ),
    "time_horizon": Entry(
        call={"minutes": [1, 2, 4, 8, 16, 32], "passed": [True, True, True, False, True, False]},
        made=(scorekit.time_horizon([1, 60, 600], [True, True, False]),),
        drawn=lambda: drawn.called(scorekit.time_horizon, drawn.columns(st.floats(0.1, 1e4),
            st.booleans(), max_size=12), share=st.floats(0.1, 0.9)),
        groups=lambda n, g: scorekit.time_horizon(copies.MINUTES * n, copies.SOLVED * n, tasks=g),
    ),
    "token_cost": Entry(call={"input_tokens": 10, "output_tokens": 5, "price": PRICE}),
    "tool_call_accuracy": Entry(
        call={"generated": [("f", {})], "expected": [("f", {})]},
        made=(scorekit.tool_call_accuracy([("search", {"q": "a<b>"})], [("search", {})]),),
        drawn=lambda: drawn.called(scorekit.tool_call_accuracy, st.tuples(tool_calls(),
            tool_calls())),
    ),
    "unpaired_difference": Entry(
        call={"baseline": SCORES, "current": SCORES[::-1]},
        made=(scorekit.unpaired_difference([np.float32(1), Fraction(1, 2), 0], [True, 0]),),
        drawn=lambda: drawn.called(scorekit.unpaired_difference,
            st.tuples(*[st.lists(UNIT | drawn.JUDGED, min_size=1, max_size=8)] * 2),
            bounds=st.none() | st.just((0.0, 1.0))),
        groups="takes values of two groups of tasks, each by itself",
    ),
    "validation_accuracy": Entry(
        call={"is_valid": True, "should_pass": True},
        made=(scorekit.validation_accuracy(is_valid=False, should_pass=True, errors=[HOSTILE]),),
        drawn=lambda: drawn.called(scorekit.validation_accuracy, errors=st.lists(TEXTS,
            max_size=2)),
    ),
    "variance_components": Entry(
        call={"scores": {"a": [1, 0], "b": [1, 1]}},
        made=(hostile.PILOT, scorekit.variance_components({HOSTILE: [[np.float32(0.5), 1]],
            "b": [[1], [Fraction(1, 3)]]})),
        drawn=drawn.variance_components,
    ),
    "verdict_from_text": Entry(call={"text": '{"choice": "partial"}'}, made=(hostile.VERDICT,)),
    # records that users make, that are parts of others, or that several functions return
    "AuditFinding": Entry(
        made=(*hostile.AUDITED.findings,),
        drawn=parts(scorekit.QueryAudit, "findings"),
    ),
    "CacheStatistics": Entry(
        made=(scorekit.CachedJudge(hostile.JUDGE).stats,),
        drawn=lambda: st.builds(drawn.cache_statistics, *[COUNTS] * 4),
    ),
    "CalibrationBin": Entry(
        made=(*hostile.CALIBRATION.bins[-2:],),
        drawn=parts(scorekit.CalibrationError, "bins"),
    ),
    "CaseChange": Entry(
        made=(*scorekit.compare_reports(hostile.REPORT, hostile.LATER).removed_cases,
            *scorekit.compare_reports({"a": [1, 1]}, {"a": [0, 0]}).regressions),
        drawn=drawn.case_changes,
    ),
    "CaseStatistics": Entry(
        made=(*hostile.REPORT.cases,),
        drawn=parts(scorekit.CodeReport, "cases"),
    ),
    "CodeSample": Entry(
        call={"case_id": "a", "model": "m", "compiled": True, "passed": 1, "failed": 0},
        made=(*hostile.SAMPLES[:2],),
    ),
    "CodeWeights": Entry(made=(hostile.WEIGHTS,)),
    "Comparison": Entry(
        made=(scorekit.compare_reports(hostile.SQL_REPORT, hostile.SQL_REPORT),
            scorekit.compare_reports(hostile.REPORT, hostile.LATER),
            scorekit.compare_reports({"only": 0.5, "gone": 1}, {"only": 0.25, "new": [True, 0]}),
            scorekit.compare_reports({"a": [1, 0.5], "b": 1}, {"a": 0, HOSTILE: 1}, margin=0.5,
            anytime=True)),
    ),
    "Counterexample": Entry(
        made=(hostile.REFUTED.counterexample,),
        drawn=lambda: st.integers(0, 9).map(drawn.counterexample),
    ),
    "EvaluationPlan": Entry(
        made=(hostile.PILOT.plan(prices={"task": Decimal("0.5"), "attempt": np.int64(1)},
            budget=20),),
        drawn=lambda: (drawn.variance_components().filter(lambda parts: parts.between_tasks >
            0).map(drawn.plan)),
    ),
    "ExtrapolatedPassAtK": Entry(
        made=(scorekit.extrapolate_pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=50),),
        drawn=lambda: st.sampled_from(drawn.extrapolated()),
    ),
    "HarnessRun": Entry(
        made=(scorekit.readers.json_lines([{"id": HOSTILE, "s": 0.5, "m": HOSTILE}, {"id": "b",
            "s": None, "m": HOSTILE}], case_id="id", score="s", model="m",
            published={"mean": 0.5}),),
        drawn=lambda: st.lists(st.fixed_dictionaries({"id": st.sampled_from("abc"),
            "s": st.none() | UNIT}), min_size=1,
            max_size=3).map(lambda rows: scorekit.readers.json_lines(rows, case_id="id",
            score="s")),
    ),
    "Interval": Entry(
        made=(scorekit.Interval(low=-math.inf, high=math.inf, confidence_level=0.5, method="none"),
            scorekit.Interval(**{**hostile.NUMBERS, "method": "by hand"})),
        drawn=lambda: drawn.called(scorekit.proportion_interval, st.integers(1,
            60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))),
    ),
    "JudgeCost": Entry(
        made=(scorekit.score_sql_cases([scorekit.SqlCase(case_id=HOSTILE,
            generated="SELECT a FROM t",
            expected="SELECT b FROM t")]).judge_cost(price=scorekit.PRICES["gpt-4o"]),),
        drawn=lambda: records(scorekit.JudgeCost),
    ),
    "JudgeRequest": Entry(
        made=(scorekit.JudgeRequest(generated=HOSTILE, expected=HOSTILE, schema=HOSTILE),),
    ),
    "JudgeUsage": Entry(
        made=(scorekit.ClaudeJudge(api_key="k").usage,),
        drawn=lambda: records(JudgeUsage),
    ),
    "LevelCalibration": Entry(
        made=(*scorekit.confidence_calibration({"high": (18, 20), "low": (3, 10)}).levels,),
        drawn=parts(scorekit.ConfidenceCalibration, "levels"),
    ),
    "MetricError": Entry(
        made=(hostile.UNREAD.error,),
        drawn=lambda: records(scorekit.MetricError, inputs=st.dictionaries(drawn.NAMES, TEXTS,
            max_size=3).map(FrozenMapping), timestamp=st.datetimes(timezones=st.timezones())),
    ),
    "ModelPair": Entry(
        made=(*hostile.MODELS.pairs,),
        drawn=parts(scorekit.ModelComparison, "pairs"),
    ),
    "ModelPrice": Entry(
        made=(scorekit.ModelPrice(input_usd_per_million=Decimal("0.1"),
            output_usd_per_million=0),),
    ),
    "ModelStatistics": Entry(
        made=(*hostile.REPORT.models,),
        drawn=parts(scorekit.CodeReport, "models"),
    ),
    "Ruler": Entry(
        made=(hostile.SQL_REPORT.ruler,),
        drawn=lambda: results(scorekit.SqlReport).map(attrgetter("ruler")),
    ),
    "RulerChange": Entry(made=(hostile.RULED,), drawn=drawn.rulers),
    "RulerEffect": Entry(
        made=(*hostile.RULED.effects.values(),),
        drawn=lambda: drawn.rulers().map(lambda found: found.effects["score"]),
    ),
    "Run": Entry(
        call={"run_id": "a", "passed": True, "impl_rate": 0.5, "cost_usd": 0.1,
            "duration_seconds": 1.0, "task_id": "t"},
        made=(hostile.FAILED, hostile.PASSED),
    ),
    "SqlCase": Entry(
        call={"case_id": "a", "generated": "x", "is_valid": True, "should_pass": True},
        made=(*hostile.CASES,),
    ),
    "SqlOptions": Entry(made=(hostile.SQL_REPORT.scoring.options,)),
    "SqlReport": Entry(made=(hostile.SQL_REPORT,)),
    "SqlScoring": Entry(
        made=(hostile.SQL_REPORT.scoring,),
        drawn=lambda: records(SqlScoring, options=sql_options(),
            metrics=st.none() | st.lists(st.sampled_from(METRICS), min_size=1, unique=True),
            confidence_level=drawn.CONFIDENCES),
    ),
    "SuiteVerdict": Entry(
        made=(scorekit.compare_reports({"only": 0.5}, {"only": 0.25}).suite, hostile.MARGIN),
        drawn=parts(scorekit.Comparison, "suite"),
    ),
    "TableRows": Entry(
        made=(*hostile.REFUTED.counterexample.tables,),
        drawn=parts(scorekit.Counterexample, "tables"),
    ),
    "Tally": Entry(
        drawn=lambda: st.builds(drawn.filled, st.builds(scorekit.Tally), st.lists(st.floats(-1e9,
            1e9), max_size=10)),
    ),
}  # fmt: skip


CALLS = {name: entry.call for name, entry in REGISTER.items() if entry.call is not None}
MADE = [record for entry in REGISTER.values() for record in entry.made]
GROUPED = {name: entry.groups for name, entry in REGISTER.items() if callable(entry.groups)}
INDEPENDENT = {name for name, entry in REGISTER.items() if isinstance(entry.groups, str)}


def _record_of(name: str) -> Any:
    """Return the class whose records an entry draws."""
    if name in RECORDS:
        return RECORDS[name]
    value = getattr(scorekit, name)
    if isinstance(value, type):
        return value
    named = "".join(part.title() for part in name.split("_"))
    return RECORDS.get(named) or get_type_hints(value)["return"]


RESULTS = {_record_of(name): entry.drawn for name, entry in REGISTER.items() if entry.drawn}
"""By type."""


def results(kind: Any) -> Any:
    """Return what values of a type are drawn from."""
    if kind in RESULTS:
        return RESULTS[kind]()
    hints = get_type_hints(scorekit.SqlCaseScore)
    for name in OTHER_METRICS:
        if kind in get_args(hints[name]):
            return drawn.metric_results(name)
    return strategies.for_type(kind)
