"""SQL cases and reports: skipped metrics, failures kept apart, order, executors, comparison."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import math
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import failure, present
from refusals import Refusal, refusals

from scorekit import cases as cases_module
from scorekit import correctness
from scorekit._cases import runner
from scorekit.cases import (
    METRICS,
    SqlCase,
    SqlCaseScore,
    SqlReport,
    ascore_sql_case,
    ascore_sql_cases,
    score_sql_case,
    score_sql_cases,
    sql_cases_from_columns,
)
from scorekit.comparison import compare_reports
from scorekit.equivalence import sql_equivalence
from scorekit.errors import InputError, JudgeError, RegressionError
from scorekit.intervals import mean_interval
from scorekit.judges import CachedJudge, Judge, JudgeRequest, Verdict, judge_from_function
from scorekit.results import SqlOptions, result_accuracy
from scorekit.sampling import pass_at_k
from scorekit.validation import ErrorCategory, SafetyValidation, safety_validation

FULL = SqlCase(
    case_id="q1",
    generated="SELECT u.id FROM users u JOIN orders o ON o.uid = u.id",
    expected="SELECT id FROM users",
    expected_tables=["users", "orders"],
    is_valid=True,
    safety_valid=True,
    should_pass=True,
    confidence="high",
    schema="users(id int), orders(uid int)",  # for the judge to read: no evidence rests on it
    question="Which users?",
    generated_rows=((1,), (2,)),
    expected_rows=((2,), (1,)),
)


def judge_of(score: float | Exception) -> Judge:
    """Return a judge that always says *score*, or raises it."""

    def function(_: JudgeRequest) -> float:
        if isinstance(score, Exception):
            raise score
        return score

    return judge_from_function(function, identity="test")


def case(case_id: str = "q1", **changes: Any) -> SqlCase:
    """Return a case whose query gets its tables half right."""
    fields = {"generated": "SELECT id FROM users", "expected_tables": ["users", "orders"]}
    return SqlCase(case_id=case_id, **{**fields, **changes})


FOUR = ("query_correctness", "table_accuracy", "safety_validation", "validation_accuracy")


def test_every_metric_of_a_full_case() -> None:
    """All there are, each from its own inputs."""
    score = score_sql_case(FULL, judge=judge_of(0.5))
    scores = {name: result.score for name, result in score.metrics().items()}
    assert tuple(scores) == METRICS
    assert [scores[name] for name in FOUR] == [0.5, 1.0, 1.0, 1.0]
    assert (score.n_failed, score.confidence) == (0, "high")


@pytest.mark.parametrize(("fields", "metrics"), [
    ({}, set()),
    ({"expected_tables": ()}, {"table_accuracy"}),
    ({"expected": "SELECT 1"}, {"query_correctness"}),
    ({"is_valid": True}, set()),
    ({"is_valid": True, "should_pass": True}, {"validation_accuracy"}),
    ({"safety_valid": True, "should_pass": True}, {"safety_validation"}),
    ({"safety_valid": True, "expected_safe": True}, {"safety_validation"}),
])  # fmt: skip
def test_a_metric_without_its_inputs_is_skipped(fields: dict[str, Any], metrics: set[str]) -> None:
    """None, not 0; what is not among the four is tested with its metric."""
    score = score_sql_case(SqlCase(case_id="q", generated="SELECT 1", **fields))
    assert score.metrics().keys() & set(FOUR) == metrics


@pytest.mark.parametrize(
    ("stage", "category"),
    [
        ("syntax_valid", ErrorCategory.SYNTAX),
        ("schema_valid", ErrorCategory.SCHEMA),
        ("safety_valid", ErrorCategory.SAFETY),
    ],
)
def test_the_validator_may_say_which_stage_rejected(stage: str, category: ErrorCategory) -> None:
    """It is believed before the words of its messages are, in a single case and in columns."""
    fields: dict[str, Any] = {"is_valid": False, "should_pass": False, stage: False}
    one = SqlCase(case_id="q", generated="SELECT 1", errors=["no"], **fields)
    columns: dict[str, Any] = {name: [value] for name, value in fields.items()}
    (same,) = sql_cases_from_columns(
        case_id=["q"], generated=["SELECT 1"], errors=[["no"]], **columns
    )
    assert same == one
    result = present(score_sql_case(one).validation_accuracy)
    assert result.error_category is category


def test_safety_has_an_expectation_of_its_own() -> None:
    """An invalid query can be perfectly safe."""
    score = score_sql_case(
        SqlCase(
            case_id="q",
            generated="SELECT x FROM nowhere",
            is_valid=False,
            should_pass=False,
            safety_valid=True,
            expected_safe=True,
            errors=["no such table: nowhere"],
        )
    )
    assert present(score.safety_validation).classification == "true negative"
    assert present(score.validation_accuracy).validation_type == "correct rejection"


def test_failures_of_an_instrument_stay_out_of_means_and_those_of_the_output_count() -> None:
    """A judge that is down must not read as a bad model."""
    unreadable = case("broken", generated="SELECT (((", expected="SELECT 1")
    cases = [attrs.evolve(FULL, case_id=f"q{i}") for i in range(3)]
    down = score_sql_cases([*cases, unreadable], judge=judge_of(RuntimeError("down")))
    assert down.n_failed == 3
    assert down.query_correctness is not None
    assert (down.query_correctness.count, down.query_correctness.mean) == (1, 0.0)
    assert down.table_accuracy is not None
    assert (down.table_accuracy.count, down.table_accuracy.mean) == (4, 0.75)
    assert down.calibration is None
    assert (down.n_cases, len(down.n_by_method)) == (4, 0)
    rows = down.to_rows()
    assert [row["query_correctness"] for row in rows] == [None, None, None, 0.0]
    assert [row["query_correctness_error"] for row in rows] == ["judge_failure"] * 3 + ["parse"]


def test_a_metric_that_raises_is_a_result_of_that_metric_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong inside one metric, the others go on."""
    for name in METRICS[1:]:
        with monkeypatch.context() as patch, caplog.at_level(logging.ERROR, "scorekit"):
            caplog.clear()
            patch.setattr(cases_module, name, lambda *_, **__: 1 / 0)
            score = score_sql_case(FULL, judge=judge_of(1.0))
        results = score.metrics()
        assert results.pop(name).error.kind == "ZeroDivisionError"
        assert all(result.error is None for result in results.values())
        assert score.n_failed == 1
        assert len(caplog.records) == 1


def test_the_report() -> None:
    """Statistics under each metric's name, safety, calibration and counts of methods."""
    cases = [
        attrs.evolve(
            FULL,
            case_id=f"q{i}",
            confidence="high" if i % 2 else "low",
            expected=FULL.generated if i < 4 else "SELECT 1",
        )
        for i in range(24)
    ]
    report = score_sql_cases(cases, judge=judge_of(0.5))
    assert [score.case_id for score in report.cases] == [f"q{i}" for i in range(24)]
    assert present(report.query_correctness).mean == pytest.approx((4 + 20 * 0.5) / 24)
    assert report.n_by_method == {"identical": 4, "judge": 20}
    assert present(report.safety).n_true_negatives == 24
    assert [(level.level, level.n_cases) for level in present(report.calibration).levels] == [
        ("high", 12),
        ("medium", 0),
        ("low", 12),
    ]
    assert SqlReport.from_json(report.to_json()) == report
    assert pickle.loads(pickle.dumps(report)) == report
    json.loads(report.to_json(), parse_constant=pytest.fail)


GENERATED = st.sampled_from(
    ["SELECT id FROM users", "SELECT (", "", "sorry", "SELECT 1 FROM a JOIN b", "\x00", "\ud800"]
)
FLAGS = st.none() | st.booleans()
CASES = st.builds(
    SqlCase,
    case_id=st.sampled_from(["a", "b", "c"]),
    generated=GENERATED,
    expected=st.none() | st.sampled_from(["SELECT id FROM users", ("SELECT 2", "SELECT 1")]),
    expected_tables=st.none() | st.lists(st.sampled_from(["users", "A", "x.b"])),
    is_valid=FLAGS,
    safety_valid=FLAGS,
    should_pass=FLAGS,
    expected_safe=FLAGS,
    errors=st.lists(st.text(max_size=20), max_size=2),
    confidence=st.none() | st.sampled_from(["high", "medium", "low"]),
)


@settings(max_examples=20)
@given(st.lists(CASES, min_size=1, max_size=12))
def test_a_report_adds_up_and_round_trips(cases: list[SqlCase]) -> None:
    """Whatever the cases hold, counts agree with them and JSON loses nothing."""
    expected = {c.case_id: c.expected for c in cases}  # attempts at one question have one
    cases = [attrs.evolve(c, expected=expected[c.case_id]) for c in cases]
    report = score_sql_cases(cases)
    assert [score.case_id for score in report.cases] == [c.case_id for c in cases]
    assert report.n_failed == sum(score.n_failed for score in report.cases)
    assert SqlReport.from_json(report.to_json()) == report
    alone = [score_sql_case(c) for c in cases]
    if not report.scoring.asks_safety:  # where others say what a missing verdict is
        assert alone == [attrs.evolve(score, attempt=0) for score in report.cases]
    for name in METRICS:
        column = [row[name] for row in report.to_rows() if row[name] is not None]
        statistics = getattr(report, name)
        assert (statistics.count if statistics else 0) == len(column)


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Return clean interpreters, for the tests that leave them whole."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.fixture
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few cases be several parts of a run."""
    monkeypatch.setattr(runner, "SENT_AT_ONCE", 16)


@pytest.mark.usefixtures("_small_parts")
def test_both_forms_and_executors_agree(processes: Executor) -> None:
    """Threads, processes, a running event loop: the same report."""
    cases = [case(f"q{i}", generated=f"SELECT x FROM t{i % 7}") for i in range(70)]
    plain = score_sql_cases(cases)
    with ThreadPoolExecutor(2) as threads:
        assert score_sql_cases(cases, executor=threads) == plain
    assert score_sql_cases(cases, executor=processes) == plain

    async def in_a_notebook() -> tuple[SqlReport, SqlReport, SqlCaseScore]:
        # a notebook's cell runs inside an event loop, and calls the plain form all the same
        return (
            await ascore_sql_cases(cases),
            score_sql_cases(cases),
            await ascore_sql_case(cases[0], judge=judge_of(1.0)),
        )

    awaited, plain_in_loop, one = asyncio.run(in_a_notebook())
    assert awaited == plain_in_loop == plain
    assert one == plain.cases[0]


def test_the_judge_and_the_other_metrics_go_side_by_side() -> None:
    """Judgements wait for each other's threads only, never for their turn one by one."""
    together = threading.Barrier(8, timeout=120)

    def function(_: JudgeRequest) -> float:
        together.wait()  # passes only if eight judgements are under way at once
        return 1.0

    cases = [case(f"q{i}", generated=f"SELECT {i}", expected="SELECT x") for i in range(8)]
    report = score_sql_cases(cases, judge=judge_from_function(function, identity="barrier"))
    assert report.n_by_method == {"judge": 8}


def test_fifty_judgements_are_under_way_at_once() -> None:
    """And no more, however many cases wait."""
    under_way: list[int] = []
    release = asyncio.Event()

    async def function(_: JudgeRequest) -> float:
        under_way.append(len(under_way))
        if len(under_way) == 50:
            await asyncio.sleep(0.3)  # in which a further one would begin
            seen.append(len(under_way))
            release.set()
        await release.wait()
        return 1.0

    seen: list[int] = []
    cases = [case(f"q{i}", generated=f"SELECT {i}", expected="SELECT x") for i in range(120)]
    judge = judge_from_function(function, identity="counts")
    report = score_sql_cases(cases, judge=judge, evidence="judge", timeout_seconds=600)
    assert report.n_by_method == {"judge": 120}
    assert seen == [50]


@pytest.mark.parametrize("slow", ["judge", "metrics"])
@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)], ids=["here", "threads"])
def test_a_case_lasts_as_long_as_its_slowest_part(
    slow: str, executor: ThreadPoolExecutor | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever computes that part."""
    compute = cases_module.other_metrics

    def other_metrics(*arguments: Any) -> Any:
        time.sleep(0.1 if slow == "metrics" else 0)
        return compute(*arguments)

    monkeypatch.setattr(cases_module, "other_metrics", other_metrics)

    def function(_: JudgeRequest) -> float:
        time.sleep(0.1 if slow == "judge" else 0)
        return 1.0

    judge = judge_from_function(function, identity=slow)
    report = score_sql_cases([FULL], judge=judge, executor=executor, evidence="judge")
    assert report.cases[0].duration_seconds > 0.09
    if slow == "metrics":
        assert score_sql_case(FULL).duration_seconds > 0.09


def test_a_judgement_has_half_a_minute() -> None:
    """Unless the caller says otherwise."""
    for function in (score_sql_case, ascore_sql_case, score_sql_cases, ascore_sql_cases):
        assert inspect.signature(function).parameters["timeout_seconds"].default == 30.0


def test_a_repeated_pair_is_asked_about_once_in_a_run() -> None:
    """The judge of a run is remembered, whoever made it."""
    asked: list[JudgeRequest] = []

    def function(request: JudgeRequest) -> float:
        asked.append(request)
        return 0.5

    cases = [attrs.evolve(FULL, case_id=f"q{i}") for i in range(20)]
    report = score_sql_cases(cases, judge=judge_from_function(function, identity="counts"))
    assert (len(asked), dict(report.n_by_method)) == (1, {"judge": 20})
    results = [score.query_correctness for score in report.cases]
    assert sum(result is not None and result.cached for result in results) == 19


def test_the_limit_bounds_every_judgement() -> None:
    """A judge that hangs costs its cases that metric and nobody anything else."""
    release, answered = threading.Event(), threading.Event()

    def function(_: JudgeRequest) -> float:
        release.wait(120)
        answered.set()
        return 1.0

    judge = judge_from_function(function, identity="hangs")
    report = score_sql_cases(
        [attrs.evolve(FULL, case_id=f"q{i}") for i in range(5)], judge=judge, timeout_seconds=0.1
    )
    single = score_sql_case(FULL, judge=judge, timeout_seconds=0.1)
    assert not answered.is_set()
    release.set()
    assert (report.n_failed, single.n_failed) == (5, 1)


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("judge", [None, judge_of(1.0)])
def test_progress_counts_every_case(judge: Judge | None) -> None:
    """What a progress bar needs: it rises, and ends with all of them."""
    cases = [case(f"q{i}", expected="SELECT x") for i in range(40)]
    with ThreadPoolExecutor(1) as threads:
        for executor in (None, threads):
            seen: list[tuple[int, int]] = []
            noted = seen.append
            options: dict[str, Any] = {"judge": judge, "executor": executor}
            score_sql_cases(cases, progress=lambda *at, noted=noted: noted(at), **options)
            assert seen == sorted(seen)
            assert seen[-1] == (40, 40)


def whoever_asked(report: SqlReport) -> SqlReport:
    """Return the report without which of several equal pairs was the one asked about."""
    return SqlReport.from_json(report.to_json().replace('"cached": true', '"cached": false'))


@pytest.mark.usefixtures("_small_parts")
def test_the_judge_stays_here_and_the_rest_goes_to_the_workers(processes: Executor) -> None:
    """Whatever the executor, the same report; a judge needs not pickle."""
    here = threading.get_ident()
    cases = [case(f"q{i % 61}", generated=f"SELECT x FROM t{i % 7}") for i in range(100)]
    for i in range(0, 60, 3):  # no pair twice: which of two is answered from memory is chance
        generated = f"SELECT x FROM t WHERE x = {i}"
        cases[i] = attrs.evolve(cases[i], generated=generated, expected="SELECT x FROM t")
    judge = judge_from_function(lambda _: 0.5 if here else 1.0, identity="local")
    plain = score_sql_cases(cases, judge=judge)
    parted = score_sql_cases(cases, judge=judge, executor=processes)
    failing = judge_of(RuntimeError("down"))
    report = score_sql_cases(cases[:30], judge=failing, executor=processes)
    assert whoever_asked(parted) == whoever_asked(plain)
    assert report == score_sql_cases(cases[:30], judge=failing)
    assert report.n_failed == 10


def test_evidence_is_looked_for_by_the_workers(
    processes: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Proofs are work like any other; the judge, who stays here, is shown what they found."""
    monkeypatch.setattr(correctness, "sql_equivalence", None)
    seen: list[str | None] = []

    def judge(request: JudgeRequest) -> float:
        seen.append(request.counterexample)
        return 1.0

    queries = ["SELECT t.x FROM t", "SELECT x FROM t WHERE x > 1", "SELECT ("]
    cases = [
        SqlCase(case_id=sql, generated=sql, expected=["SELECT x FROM t", "SELECT y FROM t"])
        for sql in queries
    ]
    judged = judge_from_function(judge, identity="lenient")
    report = score_sql_cases(cases, judge=judged, executor=processes)
    assert report.n_by_method == {"proved": 1, "judge": 1}
    assert (report.n_contested, report.n_failed) == (1, 0)
    assert ["t(x)" in str(counterexample) for counterexample in seen] == [True]


def test_evidence_on_equal_attempts_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run remembers what it has found, also where nobody is asked."""
    looked: list[str] = []

    def look(generated: str, *arguments: Any, **options: Any) -> Any:
        looked.append(generated)
        return sql_equivalence(generated, *arguments, **options)

    monkeypatch.setattr(correctness, "sql_equivalence", look)
    cases = [
        SqlCase(case_id=0, generated=f"SELECT {i % 2}", expected="SELECT 9") for i in range(6)
    ]
    report = score_sql_cases(cases)
    assert report.n_failed == 6
    assert looked == ["SELECT 0", "SELECT 1"]


def test_evidence_can_be_turned_off() -> None:
    """Then only the judge decides what is not the same text."""
    case = SqlCase(case_id="q", generated="SELECT t.x FROM t", expected="SELECT x FROM t")
    judge = judge_of(0.5)
    for executor in (None, ThreadPoolExecutor(1)):
        report = score_sql_cases([case], judge=judge, executor=executor, evidence="judge")
        assert report.n_by_method == {"judge": 1}
    assert score_sql_case(case, judge=judge, evidence="judge").query_correctness is not None
    assert score_sql_cases([case], judge=judge).n_by_method == {"proved": 1}
    with pytest.raises(InputError, match=r"^evidence must be one of 'auto', 'judge', got 'none'$"):
        score_sql_cases([case], evidence="none")  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="signals go to threads on POSIX only")
def test_an_interrupt_in_a_notebook_ends_the_judgements() -> None:
    """The prompt is back, and nothing goes on behind it and pays."""
    started, cancelled = threading.Event(), threading.Event()

    async def function(_: JudgeRequest) -> float:
        started.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return 1.0

    def interrupt() -> None:
        started.wait(120)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    async def cell() -> None:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            score_sql_cases([FULL], judge=judge_from_function(function, identity="slow"))
        thread.join()

    loop = asyncio.new_event_loop()  # unlike asyncio.run, a notebook leaves the signal alone
    # a process that was started in the background ignores it
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        loop.run_until_complete(cell())
    finally:
        signal.signal(signal.SIGINT, handler)
        loop.close()
    assert cancelled.wait(120)


def test_a_judge_that_cancels_itself_fails_its_own_case_only() -> None:
    """The run was not cancelled, so it goes on."""

    def function(request: JudgeRequest) -> float:
        if request.question is None:
            raise asyncio.CancelledError
        return 1.0

    judge = judge_from_function(function, identity="cancels")
    odd = case("odd", expected="SELECT 1")
    report = score_sql_cases([FULL, odd], judge=judge)
    assert (report.n_failed, dict(report.n_by_method)) == (1, {"judge": 1})
    for score in (report.cases[1], score_sql_case(odd, judge=judge)):
        assert present(present(score.query_correctness).error).kind == "cancelled"


def test_an_executor_that_fails_ends_the_run_and_its_judgements() -> None:
    """Nothing hangs, and the reason is said."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    asked: list[JudgeRequest] = []
    release = threading.Event()

    def function(request: JudgeRequest) -> float:
        asked.append(request)
        release.wait(120)
        return 1.0

    judge = judge_from_function(function, identity="slow")
    cases = [case(f"q{i}", generated=f"SELECT {i}", expected="SELECT x") for i in range(500)]
    for asks in (None, judge):
        with pytest.raises(InputError, match=r"^executor must be open for work"):
            score_sql_cases(cases, executor=pool, judge=asks)
    release.set()
    assert len(asked) < 200


def test_a_notebook_shows_scores_and_whose_failure_there_was() -> None:
    """One short cell for each metric of a case."""
    page = score_sql_cases([FULL, case("q2", generated="SELECT (")])._repr_html_()
    assert "<td>no&nbsp;score&nbsp;(instrument:&nbsp;no_judge)</td>" in page
    assert "<td>1</td>" in page
    assert "<td>0&nbsp;(output:&nbsp;parse)</td>" in page


def test_a_notebook_shows_of_a_case_what_print_does() -> None:
    """Scores with their reasons, the SQL in blocks, the counterexample as tables; all escaped."""
    score = score_sql_case(
        SqlCase(
            case_id="<count>",
            generated="SELECT COUNT(age)\nFROM users",
            expected=["SELECT COUNT(*) FROM users", "SELECT COUNT(*) FROM users WHERE 1 < 2"],
            expected_tables=["users", "pets"],
            schema={"users": {"id": "int primary key", "age": "int"}},
        )
    )
    page = score._repr_html_()
    assert "Case &lt;count&gt;" in page
    for reason in ("refuted; generated returns (0), expected (1)", "missing pets"):
        assert f">{reason}</td>" in page
        assert reason in score.to_text(all=True)
    for query in ("SELECT COUNT(age)\nFROM users", "SELECT COUNT(*) FROM users WHERE 1 &lt; 2"):
        assert f'<pre style="white-space: pre-wrap; margin: 0">{query}</pre>' in page
    assert "<b>The generated query returns</b>" in page
    assert "The generated query returns: (0)" in score.to_text(all=True)
    assert str(score).splitlines()[1:] == [
        "  generated: SELECT COUNT(age) FROM users",
        "  expected: SELECT COUNT(*) FROM users",
        "  query_correctness: refuted; generated returns (0), expected (1)",
        "  counterexample: users(age): (NULL) (to_text(all=True) has 1 more reference, 2 more reasons)",
    ]
    assert ">NULL</td>" in page
    empty = score_sql_case(SqlCase(case_id="none", generated="SELECT 1"))._repr_html_()
    assert "counterexample" not in empty.partition("<details>")[0]
    lacking = SqlCase(
        case_id="rows",
        generated="SELECT name FROM users LIMIT 1",
        expected="SELECT MIN(name) FROM users",
        schema={"users": {"name": "text"}},
    )
    assert "<b>users: no rows</b>" in score_sql_case(lacking)._repr_html_()


def test_an_undecided_case_says_why_wherever_it_is_shown() -> None:
    """Print, rows for a data frame, the notebook; also where a judge failed."""
    odd = SqlCase(
        case_id="today",
        generated="SELECT id, DATE('now') FROM users",
        expected="SELECT id, CURRENT_DATE FROM users",
        schema={"users": {"id": "int primary key"}},
        dialect="sqlite",
    )
    why = "no difference on 40 small databases"
    for judge in (None, judge_of(RuntimeError("down"))):
        report = score_sql_cases([odd], judge=judge)
        failures: Any = report.failures(origin="instrument")
        for text in (str(failures), failures._repr_html_(), report.to_rows()[0]["reason"]):
            assert why in text
        assert ("judge_failure: down; without a judge: unknown: " in str(failures)) == bool(judge)


def test_reports_compare_metric_by_metric() -> None:
    """Regressions, and apart from them what the instrument failed to measure."""
    cases = [attrs.evolve(FULL, case_id=f"q{i}") for i in range(30)]
    before = score_sql_cases(cases, judge=judge_of(1.0))
    worse = [attrs.evolve(c, expected_tables=["elsewhere"]) for c in cases]
    after = score_sql_cases(worse, judge=judge_of(RuntimeError("down")))
    result = compare_reports(before, after)
    assert {(c.metric, c.current) for c in result.regressions} == {("table_accuracy", 0.0)}
    assert {(c.metric, c.current) for c in result.newly_failing} == {("query_correctness", None)}
    assert (len(result.newly_failing), result.removed_cases) == (30, ())
    assert result.suites["table_accuracy"].verdict == "regressed"
    assert "query_correctness" not in result.suites
    assert result.suite == result.suites["table_accuracy"]
    message = (
        r"; 30 cases newly unscored\n(.*\n)*  newly unscored \(judge_failure\): q0, q1, q2, q3, "
        r"q4 and 25 more\n"
        r"  Unscored, left out: query_correctness of 0 cases in the baseline, 30 now\n"
        r"  case .*\n  q0 "
    )
    with pytest.raises(RegressionError, match=message):
        result.raise_for_regressions()
    assert "Suite, table_accuracy: regressed" in result.to_text()
    assert "Newly unscored: 30" in result.to_markdown()
    back = compare_reports(after, before)
    assert (back.new_cases, back.newly_failing, back.has_regressions) == ((), (), False)


@refusals("""
    case_id="" -> InputError: case_id must be a non-empty string or an integer, got ''
    generated=b"x" -> TypeError: generated must be a string, got b'x'
    expected="" -> InputError: expected must be a non-empty string, got ''
    expected=[] -> InputError: expected must be a non-empty sequence of accepted queries, got ()
    expected_tables="users" -> TypeError: expected_tables must be a sequence of strings, got 'users'
    expected_tables=0 -> TypeError: expected_tables must be a sequence of strings, got 0
    expected_tables=[1] -> TypeError: expected_tables[0] must be a non-empty string, got 1
    errors="bad" -> TypeError: errors must be a sequence of strings, got 'bad'
    errors=[None] -> TypeError: errors[0] must be a string, got None
    is_valid=2 -> TypeError: is_valid must be True or False, got 2
    safety_valid="yes" -> TypeError: safety_valid must be True or False, got 'yes'
    syntax_valid=2 -> TypeError: syntax_valid must be True or False, got 2
    schema_valid="no" -> TypeError: schema_valid must be True or False, got 'no'
    confidence="sure" -> InputError: confidence must be one of 'high', 'medium', 'low', got 'sure'
    confidence=0.84 -> TypeError: confidence must be one of 'high', 'medium', 'low' (for numbers calibration_error), got 0.84
    schema=3 -> TypeError: schema must be text or a mapping from table to column to type, got 3
    schema={"shop": {"users": {"id": "int"}}, "zoo": {"pets": {"id": "int"}}} -> TypeError: schema
      must be the tables of one database, table -> column -> type; of several pick one:
      schema=schemas['shop'], got {'shop': {'users': {'id': 'int'}}, 'zoo': {'pets': {'id': 'int'}}}
    schema={"users": ["id"]} -> TypeError: schema['users'] must be a non-empty mapping from column
      to type, got ['id']
    schema={"users": {"id": None}} -> TypeError: schema['users']['id'] must be a string, got None
    question=3 -> TypeError: question must be a string, got 3
""")
def test_case_errors(wrong: Refusal) -> None:
    """A bad field is refused where it enters, under its own name."""
    wrong.by(SqlCase, case_id="q", generated="SELECT 1")


@refusals("""
    cases=[] -> InputError: cases must be a non-empty sequence of SqlCase, got ()
    cases=[FULL, 3] -> TypeError: cases[1] must be a SqlCase
      (of a table: sql_cases_from_columns(**table)), got 3
    judge="me" -> TypeError: judge must be a Judge (see judge_from_function), got 'me'
    progress=1 -> TypeError: progress must be a callable, True or False, got 1
    executor=2 -> TypeError: executor must be an Executor of concurrent.futures, got 2
    timeout_seconds=-1 -> InputError: timeout_seconds must be a finite number > 0, got -1
    deadline_seconds=0 -> InputError: deadline_seconds must be a finite number > 0, got 0
    resume={} -> TypeError: resume must be a SqlReport (of stored JSON: SqlReport.from_json(text)), got {}
""")
def test_report_errors(wrong: Refusal) -> None:
    """As everywhere."""
    wrong.by(score_sql_cases, cases=[FULL])


def test_printed_it_has_a_line_for_each_metric() -> None:
    """Those that no case has are left out."""
    cases = [
        case("a", expected_tables=["t"]),
        case("b", generated="SELECT (", expected_tables=["t"]),
    ]
    lines = str(score_sql_cases(cases)).splitlines()
    assert lines[-1] == "cases: 2, results not scored: 0"
    assert str(score_sql_case(attrs.evolve(FULL, case_id="c")).query_correctness).startswith("no")
    unjudged = score_sql_cases([attrs.evolve(FULL, case_id=name) for name in "ab"])
    assert str(unjudged).splitlines()[-2] == (
        "cases: 2, results not scored: 2 (2 query_correctness: no_judge); 2 right by accident"
    )
    reason = str(unjudged).splitlines()[-1]
    assert reason.startswith("not scored, first a: a counterexample is known, but it counts only")
    assert reason.endswith(
        "; no judge to ask; pass judge=ClaudeJudge() or judge=judge_from_function(...)"
    )
    verdicts = [(True, False), (False, False), (None, False), (True, True)]
    safety = score_sql_cases(
        case(str(i), safety_valid=valid, should_pass=safe, expected_tables=None)
        for i, (valid, safe) in enumerate(verdicts)
    )
    assert (
        str(safety)
        .splitlines()[0]
        .endswith(
            "; recall between 0.33 and 0.67 (verdicts are missing), "
            "1 of 2 unsafe queries not caught"
        )
    )
    known = score_sql_cases([case("a", safety_valid=True, should_pass=False)])
    assert "; recall 0 [0, 0.79], 1 of 1 unsafe queries not caught" in str(known)
    assert "table_accuracy: mean 0 [0, 0.84] (95 %, 2 cases)" in lines


SHOP = {"users": {"id": "int primary key", "age": "int"}}
UNJUDGED = {
    "same": ("SELECT id FROM users", "SELECT id FROM users"),
    "proved": ("SELECT id FROM users WHERE NOT age < 3", "SELECT id FROM users WHERE age >= 3"),
    "refuted": ("SELECT id FROM users WHERE age > 3", "SELECT id FROM users WHERE age >= 3"),
    "absent": ("SELECT id FROM people", "SELECT id FROM users"),
    "cut": ("SELECT (", "SELECT id FROM users"),
    "time": ("SELECT id, DATE('now') FROM users", "SELECT id, CURRENT_DATE FROM users"),
    "broken": ("SELECT id FROM users", "SELECT id FROM people"),
}


def unjudged(*names: str) -> list[SqlCase]:
    """Return cases for which no judge is there."""
    return [
        SqlCase(case_id=name, generated=UNJUDGED[name][0], expected=UNJUDGED[name][1], schema=SHOP)
        for name in names
    ]


SWAPPED = "no generated query is broken: are expected and generated swapped?"
FEW = "different expected queries: 7 for 12 cases; give answers to one question one case_id, or"


@pytest.mark.parametrize(("n", "expected", "options", "said"), [
    (1, None, {}, "no metric has its inputs: a case needs expected, expected_tables, "),
    (1, None, {"metrics": ["table_accuracy"]},
     "table_accuracy: not computed, as no case has its inputs (expected_tables)"),
    (5, "SELECT (", {}, SWAPPED),
    (12, "SELECT {}", {}, FEW),
    (11, "SELECT {}", {}, ""),  # 7 for 11 cases repeat too few
])  # fmt: skip
def test_a_report_says_what_is_odd_about_its_cases(
    n: int, expected: str | None, options: dict[str, Any], said: str
) -> None:
    """Not only that nothing has a score, or in silence intervals that are too narrow."""
    golds = [expected and expected.format(i % 7) for i in range(n)]
    cases = sql_cases_from_columns(
        case_id=range(n), generated=["SELECT 1"] * n, expected=golds, dialect="sqlite"
    )
    text = str(score_sql_cases(cases, **options))
    assert any(line.startswith(said) for line in text.splitlines())
    assert ("swapped" in text, "different" in text) == (said == SWAPPED, said == FEW)


def test_a_report_without_a_judge_bounds_what_is_undecided() -> None:
    """The mean is over the five that are decided, the bounds are over all seven."""
    report = score_sql_cases(unjudged(*UNJUDGED))
    rows = {row["case_id"]: row for row in report.to_rows()}
    assert {name: row["query_correctness"] for name, row in rows.items()} == {
        "same": 1.0,
        "proved": 1.0,
        "refuted": 0.0,
        "absent": 0.0,
        "cut": 0.0,
        "time": None,
        "broken": None,
    }
    kinds = {name: row["query_correctness_error"] for name, row in rows.items()}
    assert kinds["time"] == "no_judge"
    assert (kinds["absent"], kinds["broken"]) == ("unknown_table", "bad_reference")
    assert report.n_by_method == {"identical": 1, "proved": 1, "refuted": 1}
    assert report.query_correctness is not None
    assert (report.query_correctness.mean, report.query_correctness.count) == (2 / 5, 5)
    assert report.query_correctness_bounds == (2 / 7, 4 / 7)
    first, second = str(report).splitlines()[:2]
    assert second == (
        "decided: 1 proved, 1 identical, 1 refuted (1 by a counterexample), "
        "2 broken (1 unknown_table, 1 parse)"
    )
    mean = f"mean 0.40 {report.intervals['query_correctness']} (95 %, the 5 decided)"
    bounds = "between 0.29 and 0.57 (2 of 7 undecided)"
    assert first == f"query_correctness: {bounds}; {mean}"
    page = report._repr_html_()
    assert report.n_undecided == 2
    parts = [bounds, "query_correctness, 2 undecided", ">between 0.29 and 0.57<", "decided alone"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert SqlReport.from_json(report.to_json()) == report


@pytest.mark.parametrize(("names", "judge", "bounds", "line"), [
    (["same", "refuted"], None, (0.5, 0.5), "mean 0.50 [0.01, 0.99] (95 %, 2 cases)"),
    (["time", "broken"], None, (0.0, 1.0), "between 0 and 1 (2 of 2 undecided)"),
    (["time", "same"], 1.0, (1.0, 1.0), "mean 1 [0.16, 1] (95 %, 2 cases)"),
    (["time"], RuntimeError("down"), (0.0, 1.0), "between 0 and 1 (1 of 1 undecided)"),
])  # fmt: skip
def test_bounds_of_all_and_of_nothing(
    names: list[str], judge: Any, bounds: tuple[float, float], line: str
) -> None:
    """With everything decided both are the mean; a judge that is down leaves a pair undecided."""
    report = score_sql_cases(unjudged(*names), judge=None if judge is None else judge_of(judge))
    assert report.query_correctness_bounds == bounds
    assert str(report).splitlines()[0] == f"query_correctness: {line}"


def test_bounds_need_a_pair() -> None:
    """None where nothing was expected; a file edited by hand is refused."""
    report = score_sql_cases([case()])
    assert report.query_correctness_bounds is None
    data = {**report.to_dict(), "query_correctness_bounds": [0.0, 0.5, 1.0]}
    with pytest.raises(InputError, match=r"length of query_correctness_bounds must be .* got 3$"):
        SqlReport.from_dict(data)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1, max_size=30))
def test_bounds_hold_whatever_a_judge_would_say(scores: list[float | None]) -> None:
    """The mean of what is decided lies between them, each within one undecided share."""
    answers = iter(scores)

    def answer(_: JudgeRequest) -> float:
        score = next(answers)
        if score is None:
            raise RuntimeError("down")
        return score

    cases = [
        SqlCase(case_id=f"q{i}", generated=f"SELECT {i}", expected="SELECT x")
        for i in range(len(scores))
    ]
    judge = judge_from_function(answer, identity="script")
    report = score_sql_cases(cases, judge=judge, evidence="judge")
    known = [score for score in scores if score is not None]
    bounds = present(report.query_correctness_bounds)
    n_open = len(scores) - len(known)
    assert bounds == (sum(known) / len(scores), (sum(known) + n_open) / len(scores))
    if report.query_correctness is not None:
        assert bounds[0] <= report.query_correctness.mean <= bounds[1]


class Together:
    """A judge that takes all pairs at once."""

    identity = "together"

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Answer one."""
        return self.judge_many([request])[0]

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Answer one."""
        return self.judge(request)

    def judge_many(self, requests: Iterable[JudgeRequest]) -> list[Verdict]:
        """Answer all."""
        return [Verdict(score=0.5) for _ in requests]


@pytest.mark.parametrize("n_workers", [0, 2])
@pytest.mark.parametrize("inner", [judge_of(0.5), Together()], ids=["one by one", "together"])
def test_what_a_cache_on_disk_knows_is_not_looked_for_again(
    n_workers: int, inner: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Evidence and verdicts of an earlier process are taken, with workers and batches too."""
    cases = unjudged("refuted", "time")
    looked: list[str] = []

    def look(generated: str, *arguments: Any, **options: Any) -> Any:
        looked.append(generated)
        return sql_equivalence(generated, *arguments, **options)

    monkeypatch.setattr(correctness, "sql_equivalence", look)
    reports: list[SqlReport] = []
    for _ in range(2):
        with (
            CachedJudge(inner, directory=tmp_path) as judge,
            ThreadPoolExecutor(2) as executor,
        ):
            pool = executor if n_workers else None
            reports.append(score_sql_cases(cases, judge=judge, executor=pool))
    assert sorted(looked) == sorted(one.generated for one in cases)
    results = [[case.query_correctness for case in report.cases] for report in reports]
    first, second = (
        [attrs.evolve(result, cached=True) for result in column if result] for column in results
    )
    assert first == second


def test_a_report_that_contradicts_itself_is_refused() -> None:
    """A file edited by hand."""
    report = score_sql_cases([case()])
    with pytest.raises(InputError, match=r"n_cases must be an integer in \[1, 1\], got 2$"):
        SqlReport.from_dict({**report.to_dict(), "n_cases": 2})
    assert isinstance(score_sql_case(FULL).safety_validation, SafetyValidation)


TROUBLE = [
    case("fine", expected_tables=["t"]),
    case("cut", generated="SELECT (", expected_tables=["t"]),
    case("asked", generated="SELECT b FROM t", expected="SELECT a FROM t WHERE b > random()"),
    case("drop\n", is_valid=True, safety_valid=True, should_pass=False),
    case("harmless", is_valid=False, safety_valid=False, should_pass=True),
]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["no_judge", "judge_failure"])
def test_a_report_logs_one_warning_and_names_its_cases(
    kind: str, workers: int, caplog: pytest.LogCaptureFixture
) -> None:
    """One record sums up; each failure has one of its own at DEBUG, after the name of its case."""
    judge = judge_of(RuntimeError("down")) if kind == "judge_failure" else None
    with caplog.at_level(logging.DEBUG, "scorekit"), ExitStack() as stack:
        executor = stack.enter_context(ThreadPoolExecutor(workers)) if workers else None
        score_sql_cases(TROUBLE, judge=judge, executor=executor)
    (loud,) = [one for one in caplog.records if one.levelno > logging.DEBUG]
    assert loud.levelname == "WARNING"
    assert loud.getMessage() == (
        f"report on 5 cases: 1 table_accuracy parse (cut); 1 query_correctness {kind} (asked); "
        r"1 CRITICAL: unsafe query not caught (drop\n); 1 safe query blocked (harmless)"
    )
    details = [one.getMessage() for one in caplog.records if one.levelno == logging.DEBUG]
    assert sum(one.startswith("case 'cut': table_accuracy: ") for one in details) == 1
    assert sum(one.startswith("case 'asked': query_correctness: ") for one in details) == 1
    assert r"case 'drop\n': CRITICAL: Unsafe query not caught by validator" in details
    assert "case 'harmless': Safe query incorrectly blocked" in details
    assert all(one.startswith("case '") for one in details)
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "scorekit"):
        score_sql_cases(TROUBLE, judge=judge, model="big\n")  # one of several in a program
    *details, last = [one.getMessage() for one in caplog.records]
    assert last.startswith(r"report on 5 cases of model 'big\n': 1 table_accuracy parse (cut); ")
    assert details
    assert all(re.match(r"case '.*' of model 'big\\n': ", one) for one in details)


def test_a_single_case_logs_as_loud_as_ever(caplog: pytest.LogCaptureFixture) -> None:
    """With the name of the case in front; a metric that is called by itself knows none."""
    with caplog.at_level(logging.DEBUG, "scorekit"):
        score_sql_case(TROUBLE[3])
        score_sql_case(TROUBLE[4], judge=judge_of(1.0))
        safety_validation(safety_valid=True, should_pass=False)
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [
        ("ERROR", r"case 'drop\n': CRITICAL: Unsafe query not caught by validator"),
        ("WARNING", "case 'harmless': Safe query incorrectly blocked"),
        ("ERROR", "CRITICAL: Unsafe query not caught by validator"),
    ]


def test_the_summary_of_a_report_stays_short(caplog: pytest.LogCaptureFixture) -> None:
    """Where all fails one record says so, without an interval of nothing; else there is none."""
    cases = [attrs.evolve(TROUBLE[2], case_id=f"q{i}", expected_tables=None) for i in range(8)]
    report = score_sql_cases(cases)
    assert (report.query_correctness, report.n_failed) == (None, 8)
    assert "query_correctness" not in report.intervals
    assert [one.getMessage() for one in caplog.records] == [
        "report on 8 cases: 8 query_correctness no_judge (q0, q1, q2, q3, q4 and 3 more)"
    ]
    caplog.clear()
    score_sql_cases([case("fine", expected_tables=["t"])])
    assert not caplog.records


def test_missed_queries_go_by_their_case() -> None:
    """Not by their place among the cases that have a safety result."""
    report = score_sql_cases(TROUBLE)
    assert present(report.safety).missed == ("drop\n",)


def test_means_of_a_report_have_intervals() -> None:
    """Oracle: `mean_interval` of the scores there are, results of one case together."""
    generated = ["SELECT a FROM t", "SELECT a FROM t, u", "SELECT a FROM u", "SELECT a FROM t"]
    cases = [
        case("q" if i > 1 else f"q{i}", generated=sql, expected_tables=["t"])
        for i, sql in enumerate(generated)
    ]
    other = case("other", expected_tables=None, safety_valid=True, should_pass=True)
    report = score_sql_cases([*cases, other])
    expected = mean_interval(
        [1, 0.5, 0, 1], bounds=(0, 1), clusters=["q0", "q1", "q", "q"], weights="attempts"
    )
    assert report.intervals["table_accuracy"] == expected
    assert set(report.intervals) == {"table_accuracy", "safety_validation"}
    distinct = score_sql_cases(cases[:3]).intervals["table_accuracy"]
    assert distinct == mean_interval([1, 0.5, 0], bounds=(0, 1))
    assert SqlReport.from_dict(report.to_dict()) == report


# Going on with an earlier report.


class Moody:
    """A judge that fails until it is mended, and counts what it is asked."""

    identity = "moody"

    def __init__(self) -> None:
        self.fails: Callable[[JudgeRequest], bool] = lambda _: False
        self.asked: list[str] = []

    def judge(self, request: JudgeRequest, /) -> float:
        """Answer, or fail."""
        self.asked.append(request.generated)
        if self.fails(request):
            raise JudgeError("overloaded", "not now")
        return 0.5

    async def ajudge(self, request: JudgeRequest, /) -> float:
        """Do the same."""
        return self.judge(request)


def undecided(n: int, **fields: Any) -> list[SqlCase]:
    """Return cases that need a judge, with all other metrics."""
    given = {"expected": "SELECT x FROM t", "expected_tables": ["t"], **fields}
    return [case(f"q{i}", generated=f"SELECT {i} FROM t", **given) for i in range(n)]


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(2)], ids=["here", "threads"])
def test_only_what_failed_is_asked_again(executor: Executor | None) -> None:
    """The others are taken over, bit by bit; the report is that of a run without failures."""
    judge: Any = Moody()
    judge.fails = lambda request: request.generated in {"SELECT 1 FROM t", "SELECT 3 FROM t"}
    cases = undecided(5)
    options: dict[str, Any] = {"judge": judge, "executor": executor, "evidence": "judge"}
    first = score_sql_cases(cases, **options)
    assert first.n_failed == 2
    judge.asked.clear()
    judge.fails = lambda _: False
    second = score_sql_cases(cases, resume=first, **options)
    assert sorted(judge.asked) == ["SELECT 1 FROM t", "SELECT 3 FROM t"]
    assert second == score_sql_cases(cases, **options)
    for i in (0, 2, 4):
        assert second.cases[i].query_correctness is first.cases[i].query_correctness
    for before, after in zip(first.cases, second.cases, strict=True):
        assert after.table_accuracy is before.table_accuracy
    judge.asked.clear()
    assert asyncio.run(ascore_sql_cases(cases, resume=second, **options)) == second
    assert judge.asked == []


def test_a_report_without_a_judge_goes_on_with_one() -> None:
    """What was missing is computed, and the other way round nothing is lost."""
    judge: Any = Moody()
    cases = undecided(3)
    first = score_sql_cases(cases, evidence="judge")
    assert first.n_failed == 3
    second = score_sql_cases(cases, judge=judge, evidence="judge", resume=first)
    assert (second.n_failed, len(judge.asked)) == (0, 3)
    assert score_sql_cases(cases, evidence="judge", resume=second) == second


def test_a_metric_that_failed_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each metric by itself."""
    cases = undecided(2)
    half = judge_from_function(lambda _: 0.5, identity="half")

    def broken(*_: object, **__: object) -> Any:
        raise RuntimeError("odd")

    with monkeypatch.context() as patch:
        patch.setattr(cases_module, "table_accuracy", broken)
        first = score_sql_cases(cases, judge=half)
    assert first.n_failed == 2
    assert score_sql_cases(cases, judge=half, resume=first) == score_sql_cases(cases, judge=half)


@pytest.mark.parametrize("change", [
    {"generated": "SELECT 9 FROM t"},
    {"expected": "SELECT y FROM t"},
    {"expected": ("SELECT x FROM t",)},
    {"schema": "CREATE TABLE t (x int)"},
    {"question": "Which?"},
    {"dialect": "sqlite"},
    {"case_id": "other"},
    {"expected_tables": ["u"]},
    {"is_valid": True},
    {"confidence": "high"},
    {"keys": {"t": "x"}},
    {"options": SqlOptions(locate=True)},
])  # fmt: skip
def test_a_case_that_changed_is_judged_anew_where_that_matters(
    change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """By what the judge sees; the log names the input that differs."""
    judge: Any = Moody()
    old = undecided(2)
    new = [old[0], attrs.evolve(old[1], **change)]
    first = score_sql_cases(old, judge=judge, evidence="judge")
    judge.asked.clear()
    second = score_sql_cases(new, judge=judge, evidence="judge", resume=first)
    (name,) = change
    is_seen = name in ("generated", "expected", "schema", "question", "dialect", "case_id")
    assert judge.asked == [new[1].generated] * is_seen
    assert second == score_sql_cases(new, judge=judge, evidence="judge")
    said = f"1 there with another {name}"
    said = {"case_id": "1 not in the report to resume", "options": ""}.get(name, said)
    assert (f"of 2 cases {said}" if said else "") in caplog.text
    assert bool(caplog.text) == bool(said)


def test_attempts_at_one_case_are_told_apart() -> None:
    """By their order, so that a repeated id is no mix-up."""
    judge: Any = Moody()
    cases = [
        case("q", generated=f"SELECT {i} FROM t", expected="SELECT x FROM t") for i in (1, 2, 3)
    ]
    first = score_sql_cases(cases[:2], judge=judge, evidence="judge")
    assert [(score.attempt, score.generated) for score in first.cases] == [
        (0, "SELECT 1 FROM t"),
        (1, "SELECT 2 FROM t"),
    ]
    assert first.cases[0].expected == "SELECT x FROM t"
    judge.asked.clear()
    second = score_sql_cases(cases, judge=judge, evidence="judge", resume=first)
    assert (judge.asked, second.cases[2].attempt) == (["SELECT 3 FROM t"], 2)
    stored = SqlReport.from_json(second.to_json())
    assert score_sql_cases(cases, judge=judge, evidence="judge", resume=stored) == second
    assert len(judge.asked) == 1


def test_a_deadline_bounds_the_judge() -> None:
    """What it was not asked in time fails as such; what is known or needs no judge is there."""
    release = threading.Event()

    async def slow(request: JudgeRequest) -> float:
        if "0" not in request.generated and not release.is_set():
            await asyncio.sleep(3600)
        return 0.5

    options: Any = {"judge": judge_from_function(slow, identity="slow"), "evidence": "judge"}
    cases = [*undecided(3), case("same", generated="SELECT 1", expected="SELECT 1")]
    report = score_sql_cases(cases[:1], **options)
    report = score_sql_cases(cases, resume=report, deadline_seconds=0.1, **options)
    release.set()
    results = [score.query_correctness for score in report.cases]
    kinds = [r and (r.error.kind if r.error else r.method) for r in results]
    assert kinds == ["judge", "deadline", "deadline", "identical"]
    assert present(report.table_accuracy).count == 4
    assert score_sql_cases(cases, resume=report, **options).n_failed == 0


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(2)], ids=["here", "threads"])
def test_evidence_decides_what_the_judge_had_no_time_for(executor: Executor | None) -> None:
    """A proof, a counterexample or a DELETE needs no judge, so no deadline loses it."""

    async def slow(_: JudgeRequest) -> float:
        await asyncio.sleep(3600)
        return 1.0

    schema = {"users": {"id": "int", "age": "int"}}
    queries = {
        "refuted": "SELECT COUNT(age) FROM users",
        "proved": "SELECT COUNT(*) FROM users u",
        "unknown": "SELECT COUNT(CURRENT_DATE) FROM users",
        "deleted": "DELETE FROM users",
    }
    cases = [
        case(name, generated=sql, expected="SELECT COUNT(*) FROM users", schema=schema)
        for name, sql in queries.items()
    ]
    judge = judge_from_function(slow, identity="slow")
    bounds: list[dict[str, Any]] = [{"deadline_seconds": 0.01}, {"timeout_seconds": 0.01}]
    for bound in bounds:
        report = score_sql_cases(cases, judge=judge, executor=executor, **bound)
        assert report.n_by_method == {"refuted": 2, "proved": 1}
        names = [one.case_id for one in report.failures(origin="instrument")]
        assert sorted(names) == ["refuted", "unknown"]
        assert "; 1 refuted without the judge, which failed" in str(report)
        half = judge_from_function(lambda _: 0.5, identity="half")
        done = score_sql_cases(cases, judge=half, resume=SqlReport.from_json(report.to_json()))
        assert done.n_by_method == {"judge": 2, "refuted": 1, "proved": 1}
        assert done.failures(origin="instrument") == ()


def test_pass_at_k_over_questions() -> None:
    """Oracle: `pass_at_k` of the counts; what an instrument failed at is no attempt."""
    right, wrong = "SELECT x FROM t", "SELECT y FROM u"
    attempts = {"q1": [right, wrong, right], "q2": [wrong, wrong]}
    cases = [
        SqlCase(case_id=name, generated=sql, expected_tables=["t"], expected=right)
        for name, queries in attempts.items()
        for sql in queries
    ]
    report = score_sql_cases(cases)
    assert report.pass_at_k["table_accuracy"] == pass_at_k(
        n_samples=[3, 2], n_correct=[2, 0], k=(1, 2)
    )
    decided, twice = report.pass_at_k["query_correctness"]
    assert (decided.score, decided.n_tasks, decided.n_tasks_used, twice.score) == (1.0, 2, 1, 1.0)
    assert (decided.interval.low, decided.interval.high) == (0.0, 1.0)
    assert SqlReport.from_json(report.to_json()) == report
    many = score_sql_cases([cases[0]] * 30)
    assert [found.k for found in many.pass_at_k["table_accuracy"]] == list(range(1, 11))
    assert "safety_validation" not in report.pass_at_k


# Rows that the queries returned.


def with_rows(case_id: str = "q", **changes: Any) -> SqlCase:
    """Return a case whose rows agree, of queries that differ."""
    fields: dict[str, Any] = {
        "generated": "SELECT id FROM users",
        "expected": "SELECT id FROM users WHERE id > 0",
        "schema": {"users": {"id": "int"}},
        "generated_rows": [(1,), (2,)],
        "expected_rows": [(2,), (1,)],
    }
    return SqlCase(case_id=case_id, **{**fields, **changes})


def test_execution_accuracy_is_a_metric_of_the_report() -> None:
    """Rows that agree by accident are distinguished from those of equal queries."""
    report = score_sql_cases(
        [
            with_rows("accident"),
            with_rows("proved", expected="SELECT users.id FROM users"),
            with_rows("other rows", generated_rows=[(1,)]),
            with_rows("not run", generated_rows=None),
            with_rows("no rows known", expected_rows=None),
        ]
    )
    assert report.result_accuracy is not None
    assert (report.result_accuracy.mean, report.result_accuracy.count) == (0.5, 4)
    assert "result_accuracy" in report.intervals
    assert report.n_right_by_accident == 1
    assert [score.right_by_accident for score in report.cases] == [True, *[False] * 4]
    reasons = [score.result_accuracy and score.result_accuracy.reason for score in report.cases]
    not_run = "the generated query returned no rows to compare: it was not run, or failed"
    assert reasons == ["the same rows", "the same rows", "1 rows instead of 2", not_run, None]
    failed = present(report.cases[3].result_accuracy)
    error = failed.error
    assert failure(error) == "output: no_rows"
    assert SqlReport.from_json(report.to_json()) == report
    assert report.scores_by_case().suites["result_accuracy", None].keys() == {
        "accident",
        "proved",
        "other rows",
        "not run",
    }


def test_rows_of_several_databases() -> None:
    """A case is right only if its rows are on all of them."""
    rows = {"small": [(1,)], "large": [(1,), (2,)]}
    right = score_sql_case(with_rows(generated_rows=rows, expected_rows=rows))
    wrong = score_sql_case(with_rows(generated_rows={**rows, "small": []}, expected_rows=rows))
    assert right.result_accuracy is not None
    assert (right.result_accuracy.score, right.result_accuracy.n_databases) == (1.0, 2)
    assert present(wrong.result_accuracy).score == 0.0
    failed = score_sql_case(with_rows(generated_rows=None, expected_rows=rows))
    assert failed.result_accuracy is not None
    assert (failed.result_accuracy.n_databases, failed.result_accuracy.n_expected) == (2, 3)


def test_cells_of_a_case_survive_json_and_compare_as_they_were() -> None:
    """What JSON has no form for is kept as its kind and text, equal where the cells were."""
    zone = timezone(timedelta(hours=2))
    cells: list[Any] = [
        None,
        True,
        10**30,
        10**5000,
        0.5,
        "nan",
        math.nan,
        -math.inf,
        Decimal("1.50"),
        b"\x00",
        date(2020, 1, 1),
        datetime(2020, 1, 1, 2, tzinfo=zone),
        datetime.min.replace(tzinfo=zone),
        datetime(2020, 1, 1),  # noqa: DTZ001 - as a database may return it
        UUID(int=1),
        ("a", "b"),
        (1, "b"),
        np.int64(3),
        np.float64("nan"),
    ]
    made = with_rows(generated_rows=[[c] for c in cells], expected_rows=[(c,) for c in cells])
    again = SqlCase.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False)))
    assert again == made == attrs.evolve(made, case_id="q") == pickle.loads(pickle.dumps(made))
    assert score_sql_case(again).result_accuracy == result_accuracy(
        made.generated_rows or (), made.expected_rows or ()
    )
    same_time = datetime(2020, 1, 1, tzinfo=UTC)
    pairs: list[tuple[Any, Any, float]] = [
        (datetime(2020, 1, 1, 2, tzinfo=zone), same_time, 1.0),
        (date(2020, 1, 1), "2020-01-01", 0.0),
        (b"a", "a", 0.0),
        (math.nan, "nan", 0.0),
        (np.int64(3), 3.0, 1.0),
    ]
    for ours, theirs, score in pairs:
        scored = score_sql_case(with_rows(generated_rows=[(ours,)], expected_rows=[(theirs,)]))
        assert present(scored.result_accuracy).score == score
        assert result_accuracy([(ours,)], [(theirs,)]).score == score


def test_rows_in_columns() -> None:
    """Each entry is the rows of one query, or missing; mistakes name the row of the table."""
    columns: dict[str, Any] = {"case_id": ["a", "b"], "generated": ["SELECT 1"] * 2}
    rows: dict[str, Any] = {
        "generated_rows": [[(1,)], math.nan],
        "expected_rows": [[[1.0]], [(1,)]],
    }
    cases = sql_cases_from_columns(**columns, **rows)
    assert [score_sql_case(c).result_accuracy.score for c in cases] == [1.0, 0.0]  # type: ignore[union-attr]
    assert "generated_rows=<1 rows>" in repr(cases[0])
    assert "generated_rows=None, expected_rows=<1 rows>" in repr(cases[1])
    with pytest.raises(
        InputError, match=r"^row 1: expected_rows\[1\] must be as wide as expected"
    ):
        sql_cases_from_columns(**columns, expected_rows=[None, [(1,), (1, 2)]])
    with pytest.raises(InputError, match=r"^generated_rows must be a mapping from database to"):
        with_rows(expected_rows={"db": []})


def test_rows_are_part_of_what_identifies_a_case() -> None:
    """`resume=` scores a case anew whose rows changed."""
    first = score_sql_cases([with_rows()])
    again = score_sql_cases([with_rows(generated_rows=[(1,)])], resume=first)
    assert present(again.result_accuracy).mean == 0.0


# What failed, for people.


def three_that_failed() -> SqlReport:
    """Report on a case that is right and three that are not, a missed unsafe one among them."""
    return score_sql_cases(
        [
            case("half", expected_tables=["users", "orders"]),
            case("right", expected_tables=["users"]),
            case("unsafe", expected_tables=["users"], safety_valid=True, should_pass=False),
            case("<b>worst</b>", generated="SELECT\n(", expected="SELECT 1"),
            case(
                "undecided",
                expected_tables=["users"],
                generated="SELECT id FROM users ORDER BY random() LIMIT 1",
                expected="SELECT id FROM users ORDER BY random() LIMIT 2",
                schema={"users": {"id": "int"}},
            ),
        ]
    )


def test_a_pair_undecided_of_one_model_is_not_missing() -> None:
    """Whatever the sides are called, and it is no failure: nothing broke."""
    sure, unsure = (
        score_sql_cases(
            [
                SqlCase(case_id=f"q{i}", generated=sql, expected="SELECT id FROM users")
                for i, sql in enumerate(("SELECT id FROM users", last))
            ],
            model=model,
        )
        for model, last in (("large", "SELECT id FROM users"), ("small", "SELECT name FROM users"))
    )
    for result in (
        compare_reports(sure, unsure, metrics=["query_correctness"]),
        compare_reports(unsure, sure, metrics=["query_correctness"]),
    ):
        assert (result.newly_failing, result.removed_cases, result.new_cases) == ((), (), ())


def test_two_models_are_told_apart() -> None:
    """A comparison names them, and asks about questions like these, as of code."""
    right, wrong = "SELECT id FROM users", "SELECT id FROM orders"
    reports = [
        score_sql_cases([case(f"q{i}", generated=sql) for i, sql in enumerate(both)], model=model)
        for model, both in (("large", (right, wrong)), (7, (wrong, wrong)), ("large", (wrong,)))
    ]
    large, small, again = reports
    assert (large.model, small.model) == ("large", "7")
    assert "model: large, cases: 2" in str(large)
    assert "SqlReport of 2 cases of 7<" in small._repr_html_()
    assert [row["model"] for row in small.to_rows()] == ["7", "7"]
    assert SqlReport.from_json(small.to_json()) == small
    two = compare_reports(large, small)
    assert str(two).splitlines()[0].endswith("(7 compared with large)")
    assert two.suite.question == "cases like these"
    assert compare_reports(large, again).baseline_name == "the baseline"
    assert score_sql_cases([case()]).model is None
    assert "model" not in score_sql_cases([case()]).to_rows()[0]
    with pytest.raises(
        InputError, match=r"^model must be a non-empty string or an integer, got ''$"
    ):
        score_sql_cases([case()], model="")


def test_failures_come_worst_first() -> None:
    """A missed unsafe query is worse than any score; an instrument's failure is none of them."""
    report = three_that_failed()
    failures = report.failures()
    assert [one.case_id for one in failures] == ["unsafe", "<b>worst</b>", "half"]
    assert [one.case_id for one in report.failures(metric="table_accuracy")] == [
        "<b>worst</b>",
        "half",
    ]
    failed = report.failures(origin="instrument")
    assert [one.case_id for one in failed] == ["undecided"]
    assert isinstance(failures, tuple)
    assert pickle.loads(pickle.dumps(failures)) == failures
    with pytest.raises(InputError, match=r"^metric must be one of 'query_correctness', "):
        report.failures(metric="tables")
    with pytest.raises(
        InputError, match=r"^origin must be one of 'output', 'instrument', got 'x'$"
    ):
        report.failures(origin="x")  # type: ignore[arg-type]


def test_a_right_query_has_not_failed_for_what_it_reads() -> None:
    """Unless that is what is asked about; the least correct queries come first."""
    schema = {"t": {"id": "int not null", "n": "int"}}
    report = score_sql_cases(
        SqlCase(case_id=case_id, generated=sql, expected=expected, schema=schema)
        for case_id, sql, expected in (
            ("right", "SELECT COUNT(id) FROM t", "SELECT COUNT(*) FROM t"),
            ("wrong", "SELECT MAX(id) FROM t", "SELECT MIN(id) FROM t"),
            ("lost", "SELECT MAX(n) FROM t", "SELECT MIN(id) FROM t"),
        )
    )
    assert [one.case_id for one in report.failures()] == ["lost", "wrong"]
    failures = report.failures(metric="column_accuracy")
    assert [one.case_id for one in failures] == ["lost", "right"]


def test_failures_print_what_a_person_needs() -> None:
    """SQL, reasons and counterexample; one below the other, and in rows for a data frame."""
    accident = score_sql_case(with_rows("by accident"))
    report = score_sql_cases([with_rows("by accident"), case("half")])
    assert [one.case_id for one in report.failures()[:1]] == ["by accident"]
    assert str(report.failures()).count("\n\n") == 2
    text = str(accident)
    example = accident.counterexample.splitlines()
    assert text.splitlines()[1:3] == [
        "  generated: SELECT id FROM users",
        "  expected: SELECT id FROM users WHERE id > 0",
    ]
    assert "  result_accuracy: right by accident: the rows agree, the queries differ" in text
    assert f"  counterexample: {example[0]} (to_text(all=True) has 1 more reason)" in text
    assert f"  counterexample: {example[0]}\n    {example[1]}" in accident.to_text(all=True)
    rows = report.to_rows()
    assert rows[0]["right_by_accident"] is True
    assert rows[0]["counterexample"] == accident.counterexample
    assert rows[1]["reason"] == "table_accuracy: missing orders"
    assert (rows[1]["generated"], rows[1]["expected"]) == ("SELECT id FROM users", None)
    several = score_sql_cases([case("q", expected=["SELECT 1", "SELECT 2"])] * 2)
    assert [row["attempt"] for row in several.to_rows()] == [0, 1]
    assert several.to_rows()[0]["expected"] == "SELECT 1\nSELECT 2"
    assert str(several.cases[1]).startswith("q (attempt 1): ")
    assert str(report.failures(metric="safety_validation")) == "none"


def test_failures_say_in_which_clauses_they_are_wrong() -> None:
    """Only where it was asked for; above the cases, the most frequent first, and in rows."""
    schema = {"t": {"id": "int", "n": "int"}}
    right = "SELECT id FROM t WHERE n > 1"
    wrong = ["SELECT n FROM t WHERE n > 1", "SELECT id FROM t WHERE n > 2", "SELECT id FROM t"]
    cases = [
        SqlCase(case_id=str(i), generated=sql, expected=right, schema=schema)
        for i, sql in enumerate([*wrong, "SELECT n FROM t", right])
    ]
    report = score_sql_cases(cases, locate=True)
    head, *_ = str(report.failures()).split("\n\n")
    assert head.splitlines() == [
        "4 failed cases, the worst first",
        "2 of 4: wrong in WHERE and nowhere else",
        "1 of 4: wrong in SELECT and nowhere else",
        "1 of 4: wrong in SELECT, WHERE and nowhere else",
    ]
    listing: Any = report.failures()
    assert "2 of 4: wrong in WHERE and nowhere else" in listing._repr_html_()
    noted = [row["differs_in"] for row in report.to_rows()]
    assert noted == ["SELECT", "WHERE", "WHERE", "SELECT, WHERE", None]
    assert SqlReport.from_json(report.to_json()) == report
    plain = score_sql_cases(cases)
    assert "nowhere else" not in str(plain.failures())
    again = score_sql_cases(cases, locate=True, resume=plain)
    assert [case.differs_in for case in again.cases][:2] == [("SELECT",), ("WHERE",)]
    blamed = score_sql_cases(cases, locate=True, judge=judge_of(1.0))
    assert "nowhere else" not in str(blamed.failures())
    with pytest.raises(TypeError, match=r"^locate must be True or False, got 'x'$"):
        score_sql_cases(cases, locate="x")  # type: ignore[arg-type]


def test_failures_count_the_clauses_that_are_seldom_wrong() -> None:
    """A report of many cases has many ways to be wrong."""
    clauses = ["SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT"]
    options: Any = {"expected": "SELECT id FROM t", "schema": {"t": {"id": "int", "n": "int"}}}
    report = score_sql_cases([SqlCase(case_id="q", generated="SELECT n FROM t", **options)])
    (case,) = report.cases
    assert case.query_correctness is not None
    known = present(case.query_correctness.equivalence)
    wrong = (
        attrs.evolve(case.query_correctness, equivalence=attrs.evolve(known, differs_in=(clause,)))
        for clause in clauses
    )
    cases = tuple(attrs.evolve(case, query_correctness=one) for one in wrong)
    listing = attrs.evolve(report, cases=cases, n_cases=7).failures()
    lines = str(listing).split("\n\n")[0].splitlines()
    assert (len(lines), lines[-1]) == (7, "2 of 7: wrong in other clauses")


def test_the_page_of_a_report_begins_with_what_matters() -> None:
    """Headline, a row for each metric there is, the worst cases; everything else is folded."""
    page = three_that_failed()._repr_html_()
    parts = [
        "SqlReport of 5 cases",
        ">metric</th>",
        ">query_correctness, 1 undecided</td>",
        "<svg",
        "unsafe and not caught: unsafe",
        "Worst of 3 cases that failed",
        ">unsafe</td>",
        "&lt;b&gt;worst&lt;/b&gt;",
        "<summary>All 5 cases</summary>",
        "<summary>safety</summary>",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "result_accuracy" not in page.split("<summary>")[0]  # nobody gave rows
    for foreign in ("<script", "<style", "http", "<b>worst"):
        assert foreign not in page
    failures = three_that_failed().failures()
    assert "missing orders" in failures._repr_html_()  # type: ignore[attr-defined]
    undecided = score_sql_cases([SqlCase(case_id="q", generated="SELECT 1", expected="SELECT 2")])
    assert "SqlReport of 1 cases" in undecided._repr_html_()


def test_a_reason_that_cases_share_stands_once() -> None:
    """Of an instrument's failure, above the cases; what is wrong in a query stays with it."""
    cases = [
        SqlCase(case_id=f"q{i}", generated=f"SELECT {i}", expected=f"SELECT {i} + 0")
        for i in range(7)
    ]
    report = score_sql_cases(cases, judge=judge_of(RuntimeError("down")), evidence="judge")
    listing: Any = report.failures(origin="instrument")
    head, first, *others = str(listing).split("\n\n")
    common = head.splitlines()[1]
    assert common.startswith("7 cases (q0, q1, q2, q3, q4 and 2 more): query_correctness: ")
    assert len(others) == 5
    assert "down" in head
    assert "down" not in first
    assert "down" in str(listing[0])
    assert listing._repr_html_().count("down") == 1
    assert report._repr_html_().count("down") == 1
    assert "7 cases" not in str(listing[:1])
    assert "7 cases" not in listing[:1]._repr_html_()
    wrong = score_sql_cases(
        SqlCase(case_id=name, generated="SELECT (", expected_tables=["t"]) for name in "ab"
    )
    assert wrong.failures().to_text(all=True).count("table_accuracy: parse") == 2  # type: ignore[attr-defined]


def _row_score(case: SqlCase) -> float:
    result = present(score_sql_case(case).result_accuracy)
    return result.score


def test_further_right_rows_of_a_case() -> None:
    """The best of the accepted results counts; rows of arrays and structs are kept as well."""
    rows: Any = {"generated_rows": [([1], {"k": 2})], "expected_rows": [([2], None)]}
    more: Any = [[([3], None)], [([1], {"k": 2.0})]]
    case = SqlCase(case_id="q", generated="SELECT 1", also_accepted_rows=more, **rows)
    assert _row_score(case) == 1.0
    assert SqlCase.from_dict(json.loads(json.dumps(case.to_dict()))) == case
    fewer = attrs.evolve(case, also_accepted_rows=more[:1])
    assert _row_score(fewer) == 0.0
    assert score_sql_case(fewer).input_digests != score_sql_case(case).input_digests
    made = sql_cases_from_columns(
        case_id=["q"],
        generated=["SELECT 1"],
        also_accepted_rows=[more],
        generated_rows=[rows["generated_rows"]],
        expected_rows=[rows["expected_rows"]],
    )
    assert made == (case,)
    with pytest.raises(
        InputError, match=r"^generated_rows must have the databases of also_accepted_rows"
    ):
        SqlCase(
            case_id="q",
            generated="SELECT 1",
            generated_rows={"a": []},
            expected_rows={"a": []},
            also_accepted_rows=({"b": []},),
        )
    with pytest.raises(TypeError, match=r"^also_accepted_rows must be a sequence of results"):
        SqlCase(case_id="q", generated="SELECT 1", also_accepted_rows={"a": []})
