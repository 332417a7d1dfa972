"""SQL cases scored side by side: judges, executors, deadlines, and what an earlier report has."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import asyncio
import inspect
import logging
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import attrs
import pytest
from outcomes import failure, present
from refusals import Refusal, refusals
from sql_suites import (
    FULL,
    TROUBLE,
    case,
    judge_of,
    undecided,
    unjudged,
)

from scorekit import correctness
from scorekit._cases import metrics as table
from scorekit._cases import runner
from scorekit.cases import SqlCase, SqlCaseScore
from scorekit.equivalence import sql_equivalence
from scorekit.errors import InputError, JudgeError
from scorekit.judges import CachedJudge, Judge, JudgeRequest, Verdict, judge_from_function
from scorekit.results import SqlOptions
from scorekit.scoring import ascore_sql_case, ascore_sql_cases, score_sql_case, score_sql_cases
from scorekit.sqlreports import SqlReport
from scorekit.validation import safety_validation


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
    """Where a judge may have so many, and no more, however many cases wait."""
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
    judge = judge_from_function(function, identity="counts", max_concurrency=50)
    report = score_sql_cases(cases, judge=judge, evidence="judge", timeout_seconds=600)
    assert report.n_by_method == {"judge": 120}
    assert seen == [50]


@pytest.mark.parametrize("slow", ["judge", "metrics"])
@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)], ids=["here", "threads"])
def test_a_case_lasts_as_long_as_its_slowest_part(
    slow: str, executor: ThreadPoolExecutor | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever computes that part."""
    compute = table.other_metrics

    def other_metrics(*arguments: Any) -> Any:
        time.sleep(0.1 if slow == "metrics" else 0)
        return compute(*arguments)

    monkeypatch.setattr(table, "other_metrics", other_metrics)

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


@refusals("""
    cases=[] -> InputError: cases must be a non-empty sequence of SqlCase, got ()
    cases=[FULL, 3] -> TypeError: cases[1] must be a SqlCase
      (of a table: sql_cases_from_columns(**table), of a mapping: SqlCase(**mapping)), got 3
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
        patch.setattr(table, "table_accuracy", broken)
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
    judge = judge_from_function(slow, identity="slow", transient=())
    bounds: list[dict[str, Any]] = [{"deadline_seconds": 0.01}, {"timeout_seconds": 2.0}]
    for bound in bounds:
        report = score_sql_cases(cases, judge=judge, executor=executor, **bound)
        assert report.n_by_method == {"refuted": 1, "proved": 1}
        wrong = [failure(present(one.query_correctness).error) for one in report.cases[3:]]
        assert wrong == ["output: changes_data"]
        names = [one.case_id for one in report.failures(origin="instrument")]
        assert sorted(names) == ["refuted", "unknown"]
        assert "; 1 refuted without the judge, which failed" in str(report)
        half = judge_from_function(lambda _: 0.5, identity="half")
        done = score_sql_cases(cases, judge=half, resume=SqlReport.from_json(report.to_json()))
        assert done.n_by_method == {"judge": 2, "proved": 1}
        assert done.failures(origin="instrument") == ()
