"""Judges of a user's own: which form they have, on which loop they are asked, what that costs."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from anthropic_server import cases
from outcomes import failure, present

from scorekit import (
    CachedJudge,
    Judge,
    JudgeError,
    JudgeRequest,
    SqlCase,
    SqlReport,
    Verdict,
    VotingJudge,
    aquery_correctness,
    judge_from_function,
    query_correctness,
    score_sql_cases,
)

PAIR = JudgeRequest(generated="SELECT a FROM t", expected="SELECT b FROM t")
PRICE = 0.25


class Sync:
    """A judge that can only be called."""

    identity = "sync"

    def __init__(self) -> None:
        self.asked: list[JudgeRequest] = []

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return a verdict that has cost something."""
        self.asked.append(request)
        return Verdict(score=0.5, cost_usd=PRICE)


class Async:
    """A judge that can only be awaited, and keeps a client of the loop that it is asked on."""

    identity = "async"

    def __init__(self) -> None:
        self.loops: set[asyncio.AbstractEventLoop] = set()
        self.lock: asyncio.Lock | None = None

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return a verdict, unless the client belongs to another loop or to one that is closed."""
        del request
        loop = asyncio.get_running_loop()
        self.loops.add(loop)
        assert not any(one.is_closed() for one in self.loops), "Event loop is closed"
        assert len(self.loops) == 1, "attached to a different loop"
        await asyncio.sleep(0.001)
        return Verdict(score=0.5, cost_usd=PRICE)


class Inheriting(Judge):
    """A judge that has one form from `Judge`."""

    identity = "inheriting"

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return a verdict."""
        await asyncio.sleep(0)
        return Verdict(score=0.5, reasoning=request.generated)


def of(kind: Any) -> Any:
    """Return a judge that type checkers would have inherit from `Judge`."""
    return kind()


WRAPS: list[Callable[[Any], Any]] = [lambda judge: judge, CachedJudge, VotingJudge]


@pytest.mark.parametrize("wrap", WRAPS, ids=["plain", "cached", "votes"])
@pytest.mark.parametrize("kind", [Sync, Async])
def test_a_judge_may_have_one_form(kind: Any, wrap: Callable[[Any], Any]) -> None:
    """Whichever it has serves both forms of scorekit."""
    assert query_correctness("SELECT 1", "SELECT 2", judge=wrap(kind())).score == 0.5
    assert score_sql_cases(cases(3), judge=wrap(kind())).n_by_method == {"judge": 3}
    asking = aquery_correctness("SELECT 1", "SELECT 2", judge=wrap(kind()))
    assert asyncio.run(asking).score == 0.5


def test_the_other_form_comes_from_judge() -> None:
    """For those who call a judge themselves."""
    judge = Inheriting()
    assert judge.judge(PAIR) == Verdict(score=0.5, reasoning="SELECT a FROM t")
    assert query_correctness("SELECT 1", "SELECT 2", judge=judge).score == 0.5

    class Neither(Judge):
        identity = "neither"

    wanted = r"^judge must be a Judge \(see judge_from_function\), got "
    with pytest.raises(TypeError, match=wanted):
        query_correctness("SELECT 1", "SELECT 2", judge=Neither())


@pytest.mark.parametrize("wrap", WRAPS, ids=["plain", "cached", "votes"])
def test_the_sync_forms_of_a_process_ask_on_one_event_loop(wrap: Callable[[Any], Any]) -> None:
    """So that a client which belongs to a loop answers the second call, too, from any thread."""
    judge: Any = Async()

    def score(i: int) -> float:
        asked: Any = {"judge": wrap(judge), "evidence": "judge"}
        return query_correctness(f"SELECT {i}", "SELECT a", **asked).score

    for i in range(5):
        assert score(i) == 0.5
        report = score_sql_cases(cases(20, 20 * i), judge=wrap(judge), evidence="judge")
        assert report.n_failed == 0
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(score, range(40))} == {0.5}

    async def notebook() -> float:
        return score(99)

    assert asyncio.run(notebook()) == 0.5
    assert len(judge.loops) == 1


def test_the_async_forms_stay_on_the_loop_of_their_caller() -> None:
    """Whose clients are those of the judge."""
    judge: Any = Async()

    async def run() -> None:
        assert (await aquery_correctness("SELECT 1", "SELECT 2", judge=judge)).score == 0.5
        assert judge.loops == {asyncio.get_running_loop()}

    asyncio.run(run())


@pytest.mark.parametrize("wrap", WRAPS[:2], ids=["plain", "cached"])
def test_an_async_judge_may_ask_in_the_sync_form(wrap: Callable[[Any], Any]) -> None:
    """Which blocks the loop that it runs on: another one answers."""
    inner = wrap(judge_from_function(lambda _: 0.5, identity="inner"))

    async def outer(request: JudgeRequest) -> float:
        return query_correctness(request.generated, "SELECT z", judge=inner).score

    judge = wrap(judge_from_function(outer, identity="outer"))
    assert query_correctness("SELECT 1", "SELECT 2", judge=judge).score == 0.5
    assert score_sql_cases(cases(3), judge=judge).n_failed == 0


def test_a_judge_that_blocks_the_loop_keeps_its_time_limit_and_nobody_else() -> None:
    """It is left the loop, and the others get another."""
    release = threading.Event()

    async def blocking(_: JudgeRequest) -> float:
        release.wait(60)
        return 1.0

    judge = judge_from_function(blocking, identity="blocking")
    try:
        result = query_correctness("SELECT 1", "SELECT 2", judge=judge, timeout_seconds=0.1)
        assert failure(result.error) == "instrument: timeout"
        assert query_correctness("SELECT 1", "SELECT 2", judge=of(Async)).score == 0.5
    finally:
        release.set()


@pytest.mark.parametrize("wrap", WRAPS, ids=["plain", "cached", "votes"])
def test_a_judge_that_leaves_takes_its_caller_along_and_nobody_else(
    wrap: Callable[[Any], Any],
) -> None:
    """SystemExit passes; the loop of the others goes on."""

    async def leave(_: JudgeRequest) -> float:
        sys.exit(3)

    judge = wrap(judge_from_function(leave, identity="leave"))
    with pytest.raises(SystemExit):
        query_correctness("SELECT 1", "SELECT 2", judge=judge)
    assert query_correctness("SELECT 1", "SELECT 2", judge=of(Async)).score == 0.5


@pytest.mark.parametrize(
    "answer", [True, False, 1, np.True_, np.False_, np.int64(1), np.float32(0.5)]
)
def test_an_outcome_may_be_the_answer(answer: Any) -> None:
    """True and False, 1 and 0, and numpy's."""
    judge = judge_from_function(lambda _: answer, identity="outcome")
    assert query_correctness("SELECT 1", "SELECT 2", judge=judge).score == float(answer)


@pytest.mark.parametrize("answer", ["1", None, 0.7, np.nan, np.array([1.0, 0.0]), 1j, "yes"])
def test_what_is_no_outcome_is_no_answer(answer: Any) -> None:
    """Nothing is guessed."""
    judge = judge_from_function(lambda _: answer, identity="odd")
    result = query_correctness("SELECT 1", "SELECT 2", judge=judge)
    assert failure(result.error) == "instrument: invalid_response"


# What it cost.


def costs(report: SqlReport) -> set[float | None]:
    """Return what the verdicts have cost, then."""
    return {case.query_correctness.cost_usd for case in report.cases if case.query_correctness}


def test_a_report_says_what_the_run_has_paid() -> None:
    """With votes; what a cache had costs nothing now, and keeps what it cost then."""
    judge: Any = Sync()
    cached = CachedJudge(judge)
    first = score_sql_cases(cases(4), judge=VotingJudge(cached, n_votes=3))
    assert (first.n_calls, first.cost_usd) == (12, 12 * PRICE)
    assert "12 calls of the judge for 3 USD" in str(first)
    again = score_sql_cases(cases(5), judge=VotingJudge(cached, n_votes=3))
    assert (again.n_calls, again.cost_usd) == (3, 3 * PRICE)
    assert costs(again) == {3 * PRICE}
    assert len(judge.asked) == 15
    rest = score_sql_cases(cases(4), judge=cached)
    assert (rest.n_calls, rest.cost_usd) == (0, 0.0)
    one, two = (score_sql_cases(cases(n, 50 * n), judge=judge) for n in (1, 2))
    merged = one.merge(two)
    assert (merged.n_calls, merged.cost_usd) == (3, 3 * PRICE)
    assert SqlReport.from_json(merged.to_json()).cost_usd == 3 * PRICE
    plain = score_sql_cases(cases(2))
    assert (plain.n_calls, plain.cost_usd) == (0, 0.0)


def test_what_failed_has_been_paid_too() -> None:
    """Also where only one of three votes did; a cost that nobody gave is not known."""

    def answer(request: JudgeRequest) -> Verdict:
        if request.trial == 1:
            raise JudgeError("refusal", "no", {"input_tokens": 10}, 0.125)
        return Verdict(score=0.5, cost_usd=PRICE)

    judge = judge_from_function(answer, identity="votes")
    report = score_sql_cases(cases(2), judge=VotingJudge(judge, n_votes=3))
    assert report.n_failed == 2
    assert (report.n_calls, report.cost_usd) == (6, 2 * (2 * PRICE + 0.125))
    assert costs(report) == {2 * PRICE + 0.125}
    silent = judge_from_function(lambda _: 0.5, identity="silent")
    report = score_sql_cases(cases(2), judge=silent)
    assert (report.n_calls, report.cost_usd) == (2, None)
    assert "2 calls of the judge" in str(report)


class Outer:
    """A user's judge around one that keeps its own books."""

    identity = "outer"

    def __init__(self, inner: Judge) -> None:
        self.inner = inner

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Pass the question on."""
        return self.inner.judge(request)


def test_what_a_judge_inside_a_judge_has_paid_counts_once() -> None:
    """The outer one tells the same cost again; several accepted queries are several calls."""
    judge: Any = Outer(CachedJudge(of(Sync)))
    for n, cost in ((3, 3 * PRICE), (0, 0.0)):
        report = score_sql_cases(cases(3), judge=judge)
        assert (report.n_calls, report.cost_usd) == (n, cost)
    case = SqlCase(case_id="q", generated="SELECT a FROM t", expected=["SELECT b", "SELECT c"])
    report = score_sql_cases([case], judge=of(Sync))
    assert (report.n_calls, report.cost_usd) == (2, 2 * PRICE)


def test_two_runs_at_once_have_books_of_their_own() -> None:
    """Of one judge, in two threads."""
    judge: Any = Sync()
    with ThreadPoolExecutor(2) as pool:
        reports = pool.map(lambda i: score_sql_cases(cases(20, 100 * i), judge=judge), range(2))
        paid = [(report.n_calls, report.cost_usd) for report in reports]
    assert paid == [(20, 20 * PRICE)] * 2


# Two processes, one directory.


def paying(directory: Path, log: Path) -> CachedJudge:
    """Return a judge that notes in a file what it is paid for."""

    async def answer(request: JudgeRequest) -> float:
        await asyncio.sleep(0.05)
        with log.open("a") as file:
            file.write(request.generated + "\n")
        return 0.5

    return CachedJudge(judge_from_function(answer, identity="paying"), directory=directory)


def run_all(directory: Path, log: Path, start: Any, found: Any) -> None:
    """Score all pairs when asked to."""
    judge = paying(directory, log)
    start.wait()
    report = score_sql_cases(cases(60), judge=judge, evidence="judge")
    found.put((report.n_failed, report.n_calls))
    judge.close()


def test_two_processes_pay_a_pair_once(tmp_path: Path) -> None:
    """Though they start together."""
    spawn = multiprocessing.get_context("spawn")
    start, found = spawn.Barrier(2), spawn.Queue()
    log = tmp_path / "log"
    arguments = (tmp_path / "c", log, start, found)
    workers = [spawn.Process(target=run_all, args=arguments) for _ in range(2)]
    for worker in workers:
        worker.start()
    results = [found.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join()
    assert [n_failed for n_failed, _ in results] == [0, 0]
    assert sum(n_calls for _, n_calls in results) == len(log.read_text().splitlines()) == 60


def hang(directory: Path, started: Any) -> None:
    """Ask a judge that never answers."""

    def answer(_: JudgeRequest) -> float:
        started.set()
        time.sleep(600)
        return 0.5

    judge = CachedJudge(judge_from_function(answer, identity="paying"), directory=directory)
    judge.judge(PAIR)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_what_a_killed_process_claimed_is_free_again(tmp_path: Path) -> None:
    """At once; while it lives, the others wait."""
    spawn = multiprocessing.get_context("spawn")
    started = spawn.Event()
    worker = spawn.Process(target=hang, args=(tmp_path / "c", started))
    worker.start()
    assert started.wait(120)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(paying(tmp_path / "c", tmp_path / "log").judge, PAIR)
        time.sleep(0.5)
        assert not asked.done()
        os.kill(worker.pid or 0, signal.SIGKILL)
        assert asked.result(timeout=120).score == 0.5
    worker.join()


@pytest.mark.parametrize("error", [JudgeError("overloaded", "529"), ValueError("x")])
def test_what_failed_is_claimed_no_more(tmp_path: Path, error: Exception) -> None:
    """Another process asks at once."""

    def fail(_: JudgeRequest) -> float:
        raise error

    failing = CachedJudge(judge_from_function(fail, identity="paying"), directory=tmp_path / "c")
    with pytest.raises(type(error)):
        failing.judge(PAIR)
    other = paying(tmp_path / "c", tmp_path / "log")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(other.judge, PAIR).result(timeout=120).score == 0.5
    assert other.stats.n_misses == 1


@pytest.mark.parametrize("owner", ["../../../etc/passwd", "x" * 32, 5, None])
def test_a_claim_that_nobody_of_ours_made_holds_nobody_up(tmp_path: Path, owner: object) -> None:
    """Whoever writes into the store, no file outside it is looked at."""
    judge = paying(tmp_path / "c", tmp_path / "log")
    disk, claim = present(judge._shelf._disk), json.dumps({"claim": owner})
    disk.put(judge._key(PAIR), claim, expires_at=time.time() + 60)
    assert judge.judge(PAIR).score == 0.5
