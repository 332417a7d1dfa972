"""Batches: the real SDK against a loopback service that breaks the Message Batches API."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic_server
import pytest
from anthropic_server import AnthropicServer, cases, requests
from outcomes import failure, present

from scorekit import (
    CachedJudge,
    ClaudeJudge,
    JudgeError,
    JudgeRequest,
    SqlCase,
    Verdict,
    VotingJudge,
    judge_from_function,
    score_sql_case,
    score_sql_cases,
)
from scorekit._claude import batch, connection
from scorekit._judge import claims, journal, pace
from scorekit._judge.shelf import Shelf
from scorekit._judge.store import TextStore

pytest.importorskip("anthropic")
pytest.importorskip("autoevals")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Poll at once; keep profiles of the machine away from the SDK."""
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr(batch, "FIRST_POLL_SECONDS", 0.01)
    monkeypatch.setattr(batch, "LONGEST_POLL_SECONDS", 0.05)
    monkeypatch.setattr(pace, "pause", lambda *_: 0.01)


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    """Start a service."""
    with AnthropicServer() as running:
        yield running


def judge_for(server: AnthropicServer, **options: Any) -> ClaudeJudge:
    """Return a judge that asks *server* in batches."""
    return ClaudeJudge(api_key="k", base_url=server.url, batch=True, **options)


def scores(answers: list[Verdict | Exception]) -> list[float | str]:
    """Return the scores, and the kinds of what failed."""
    return [
        answer.score if isinstance(answer, Verdict) else getattr(answer, "kind", repr(answer))
        for answer in answers
    ]


def test_a_batch_costs_half(server: AnthropicServer) -> None:
    """700 tokens at 2 USD and 120 at 10 USD a million are 0.0026 USD, in a batch 0.0013."""
    noted: list[tuple[int, int]] = []
    with judge_for(server) as judge:
        assert judge.judge_many([]) == []
        assert server.batches.n_steps.total() == 0
        answers = judge.judge_many(requests(3), progress=lambda *n: noted.append(n))
    found = {(a.score, a.cost_usd, a.reasoning) for a in answers if isinstance(a, Verdict)}
    assert (len(answers), found) == (3, {(0.5, 0.0013, "r")})
    assert (noted[-1], server.batches.n_steps["create"]) == ((3, 3), 1)


def test_without_batches_each_is_asked_by_itself(server: AnthropicServer) -> None:
    """At the full price."""
    noted: list[tuple[int, int]] = []
    with ClaudeJudge(api_key="k", base_url=server.url) as judge:
        answers = judge.judge_many(requests(3), progress=lambda *n: noted.append(n))
    assert (scores(answers), noted[-1]) == ([1.0] * 3, (3, 3))
    assert (len(server.requests), server.batches.n_steps.total()) == (3, 0)


def test_a_report_asks_in_one_batch(server: AnthropicServer) -> None:
    """All undecided pairs at once; what is decided without a judge is not in it."""
    two = ["SELECT a FROM t", "SELECT b FROM t"]
    items = [
        *cases(5),
        SqlCase(case_id="same", generated="SELECT 1", expected="SELECT 1"),
        SqlCase(case_id="broken", generated="SELECT (", expected="SELECT 1"),
        SqlCase(case_id="tables", generated="SELECT a FROM t", expected_tables=["t"]),
        SqlCase(case_id="two", generated="SELECT 0 FROM t", expected=two),
    ]
    noted: list[tuple[int, int | None]] = []
    with judge_for(server) as judge:
        report = score_sql_cases(items, judge=judge, progress=lambda *n: noted.append(n))
    assert (report.n_failed, dict(report.n_by_method)) == (0, {"judge": 6, "identical": 1})
    assert (noted[-1], server.batches.n_steps["create"]) == ((9, 9), 1)
    assert sorted(server.batches.paid.values()) == [1] * 6  # one pair stands in two cases


@pytest.mark.parametrize(
    ("step", "fault"),
    [
        (step, fault)
        for step in ("create", "retrieve", "results", "list")
        for fault in ("api_error", "reset", "rate_limit=0.01", "overloaded", "gateway")
    ]
    + [
        (f"{step} done", fault)
        for step in ("create", "retrieve", "results")
        for fault in ("api_error", "reset", "gateway")
    ],
)
def test_faults_of_every_step_cost_nothing(server: AnthropicServer, step: str, fault: str) -> None:
    """Refused before or lost after it took effect: every pair is answered, and paid for once."""
    server.batches.fault = lambda which, n: fault if which == step and n <= 2 else None
    with judge_for(server) as judge:
        assert scores(judge.judge_many(requests(5))) == [0.5] * 5
    assert sorted(server.batches.paid.values()) == [1] * 5


@pytest.mark.parametrize("step", ["retrieve", "results"])
@pytest.mark.parametrize("numbers", [{1}, {2}, {1, 2, 3}], ids=str)
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_batch_may_be_unknown_for_a_while(
    server: AnthropicServer, tmp_path: Path, step: str, numbers: set[int], *, is_kept: bool
) -> None:
    """Just after it was made, or between two polls: it is asked for again, and never ordered."""
    server.batches.n_polls = 3
    server.batches.fault = lambda which, n: "unknown" if which == step and n in numbers else None
    with judge_for(server) as judge:
        asked: Any = CachedJudge(judge, directory=tmp_path / "c") if is_kept else judge
        assert scores(asked.judge_many(requests(6))) == [0.5] * 6
    assert (server.batches.n_steps["create"], server.batches.paid.total()) == (1, 6)


def test_a_noted_batch_that_is_unknown_though_listed_is_not_ordered_again(
    server: AnthropicServer, tmp_path: Path
) -> None:
    """Its pairs fail once the wait is over, and the next run collects it."""
    with judge_for(server, max_wait_seconds=0.1) as judge:
        with CachedJudge(judge, directory=tmp_path / "a") as cached:
            cached.judge_many(requests(3))
        noted(tmp_path / "c", judge, 3, batch="msgbatch_1")
        with CachedJudge(judge, directory=tmp_path / "c") as cached:
            server.batches.fault = lambda step, _: "unknown" if step == "retrieve" else None
            assert scores(cached.judge_many(requests(3))) == ["not_found_error"] * 3
            server.batches.fault = lambda _, __: None
            assert scores(cached.judge_many(requests(3))) == [0.5] * 3
    assert (server.batches.n_steps["create"], server.batches.paid.total()) == (1, 3)


@pytest.mark.parametrize("step", ["create", "list"])
def test_an_unknown_address_while_ordering_fails(server: AnthropicServer, step: str) -> None:
    """It is no batch that is not there."""
    server.batches.fault = lambda which, _: "unknown" if which == step else None
    with judge_for(server) as judge:
        assert scores(judge.judge_many(requests(3))) == ["not_found_error"] * 3
    assert (server.batches.n_steps[step], server.batches.paid.total()) == (1, 0)


def test_results_that_were_dropped_are_ordered_again_by_a_later_run(
    server: AnthropicServer, tmp_path: Path
) -> None:
    """Without a wait: 410 is final.  In the run that ordered them they fail."""
    with judge_for(server) as judge:
        judge.judge_many(requests(3))
        server.batches.fault = lambda step, n: "gone" if (step, n) == ("results", 2) else None
        noted(tmp_path / "c", judge, 3, batch="msgbatch_1")
        with CachedJudge(judge, directory=tmp_path / "c") as cached:
            assert scores(cached.judge_many(requests(3))) == [0.5] * 3
        server.batches.fault = lambda step, _: "gone" if step == "results" else None
        assert scores(judge.judge_many(requests(3, 10))) == ["not_found_error"] * 3
    assert server.batches.n_steps["create"] == 3


def test_a_batch_that_is_refused_whole_is_not_ordered_again(server: AnthropicServer) -> None:
    """A bad request stays one; where a budget parts the questions, the first part tells."""
    server.batches.entry = lambda _, __: "errored=invalid_request_error"
    with judge_for(server, max_cost_usd=0.65) as judge:
        found = judge.judge_many(requests(400))
    assert scores(found) == ["invalid_request_error"] * 400
    assert (server.batches.n_steps["create"], set(server.batches.asked.values())) == (1, {1})


@pytest.mark.parametrize("how", ["errored", "expired", "canceled", "missing"])
def test_what_was_not_answered_is_asked_once_more(server: AnthropicServer, how: str) -> None:
    """And then no more."""
    server.batches.entry = lambda name, n: "succeeded" if n > 1 or name[0] < "8" else how
    with judge_for(server) as judge:
        assert scores(judge.judge_many(requests(40))) == [0.5] * 40
    assert set(server.batches.paid.values()) == {1}
    server.batches.entry = lambda _, __: how
    with judge_for(server) as judge:
        kinds = set(scores(judge.judge_many(requests(5, 100))))
    assert kinds == {{"errored": "api_error", "missing": "no_result"}.get(how, how)}
    assert max(server.batches.asked.values()) == 2


@pytest.mark.parametrize(
    "mangle",
    [
        lambda lines: lines[::-1],
        lambda lines: lines + lines,
        lambda lines: [b"{}", b"", b"[1]", b"\xff", b'{"custom_id": 1}', *lines],
        lambda lines: [
            line.replace(b'"custom_id"', b'"custom_id": "x", "custom_id"') for line in lines
        ],
    ],
    ids=["out of order", "twice", "junk", "doubled names"],
)
def test_results_are_matched_by_their_name(
    server: AnthropicServer, mangle: Callable[[list[bytes]], list[bytes]]
) -> None:
    """Whatever else stands in the file."""
    server.batches.mangle = mangle
    with judge_for(server) as judge:
        answers = judge.judge_many(requests(5))
    names = [answer.response_id for answer in answers if isinstance(answer, Verdict)]
    assert len(set(names)) == 5
    assert len(server.batches.made) == 1


def test_results_that_are_no_messages(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Failures of the instrument, asked about once more; what has no end is cut off."""
    monkeypatch.setattr(connection, "MAX_RESULTS", 10_000)
    odd = '{"custom_id": "%s", "result": {"type": "succeeded"}}'
    with judge_for(server) as judge:
        server.batches.mangle = lambda lines: [
            (odd % json.loads(line)["custom_id"]).encode() for line in lines
        ]
        assert scores(judge.judge_many(requests(2))) == ["invalid_response"] * 2
        server.batches.mangle = lambda _: [b" " * 200_000]
        assert scores(judge.judge_many(requests(1, 9))) == ["invalid_response"]


def test_batches_are_split(server: AnthropicServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """By number, by size, and where the service takes less than it says."""
    monkeypatch.setattr(batch, "MAX_QUESTIONS", 4)
    with judge_for(server) as judge:
        assert scores(judge.judge_many(requests(10))) == [0.5] * 10
        assert sorted(made["n"] for made in server.batches.made.values()) == [2, 4, 4]
        monkeypatch.setattr(batch, "MAX_QUESTIONS", 100)
        monkeypatch.setattr(batch, "MAX_BYTES", 10_000)
        assert scores(judge.judge_many(requests(5, 100))) == [0.5] * 5
        assert len(server.batches.made) > 4
        monkeypatch.setattr(batch, "MAX_BYTES", 1 << 20)
        server.batches.max_requests = 3
        assert scores(judge.judge_many(requests(10, 200))) == [0.5] * 10
    assert set(server.batches.paid.values()) == {1}


def test_a_budget_is_not_exceeded_in_batches(server: AnthropicServer) -> None:
    """What does not fit is not asked; where one question fits, they are ordered one by one."""
    with judge_for(server, max_calls=3) as judge:
        assert scores(judge.judge_many(requests(5))) == [0.5] * 3 + ["budget"] * 2
    with judge_for(server, max_cost_usd=0.05) as judge:
        answers = scores(judge.judge_many(requests(40, 10)))
        assert 0.02 < (judge.usage.cost_usd or 0) <= 0.05
    assert answers.count("budget") == 40 - (server.batches.paid.total() - 3)


def test_the_budget_is_spent_in_several_batches(server: AnthropicServer) -> None:
    """As many as fit at their highest cost; the others once it is known what these have cost."""
    with judge_for(server, max_cost_usd=0.65) as judge:
        assert scores(judge.judge_many(requests(400))) == [0.5] * 400
        assert judge.usage.cost_usd == pytest.approx(400 * 0.0013)
        assert judge.usage.n_calls == 400
        answers = scores(judge.judge_many(requests(400, 400)))
        assert 315 <= answers.count("budget") <= 325  # the highest cost of one is left
    assert 20 <= server.batches.n_steps["create"] <= 90


def test_a_budget_holds_where_later_answers_cost_more(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others cost does not bound the next: each is reserved at its highest cost."""
    with judge_for(server, max_cost_usd=0.65) as judge:
        assert scores(judge.judge_many(requests(100))) == [0.5] * 100
        most = {"input_tokens": 2000, "output_tokens": 4096}
        monkeypatch.setattr(anthropic_server, "USAGE", most)
        answers = scores(judge.judge_many(requests(400, 400)))
        assert 0.60 < (judge.usage.cost_usd or 0) <= 0.65
    assert answers.count("budget") == 400 - (server.batches.paid.total() - 100)


@pytest.mark.parametrize("n_votes", [1, 3])
@pytest.mark.parametrize("limit", [0.02, 5.0])
@pytest.mark.parametrize("way", ["one by one", "batch", "both"])
def test_what_is_reported_is_what_is_paid(
    server: AnthropicServer, way: str, limit: float, n_votes: int
) -> None:
    """To the cent, and never more than the limit."""
    server.fault = "partial"
    options: dict[str, Any] = {"api_key": "k", "base_url": server.url, "max_cost_usd": limit}
    with ClaudeJudge(**options, batch=way != "one by one") as judge:
        voting = VotingJudge(judge, n_votes=n_votes)
        report = score_sql_cases(cases(15), judge=voting, evidence="judge")
        reported = report.cost_usd or 0.0
        if way == "both":
            single = score_sql_case(cases(16)[-1], judge=voting, evidence="judge")
            if single.query_correctness is not None:
                reported += single.query_correctness.cost_usd or 0.0
    paid = 0.0026 * len(server.requests) + 0.0013 * server.batches.paid.total()
    assert reported == pytest.approx(paid, abs=1e-9)
    assert judge.usage.cost_usd == pytest.approx(paid, abs=1e-9)
    assert paid <= limit
    assert report.n_calls == server.batches.paid.total() or way != "batch"


def test_a_request_that_is_too_long_fails_alone(server: AnthropicServer) -> None:
    """Before anything is sent."""
    long = JudgeRequest(generated="x" * 300_000, expected="SELECT 1")
    with judge_for(server) as judge:
        assert scores(judge.judge_many([*requests(1), long])) == [0.5, "too_long"]


@pytest.mark.parametrize("fault", ["authentication", "unknown_model", "payment"])
def test_a_refusal_of_the_judge_fails_all(server: AnthropicServer, fault: str) -> None:
    """And later questions at once: it stands for more pairs than are asked at once."""
    server.batches.fault = lambda step, _: fault if step == "create" else None
    with judge_for(server) as judge:
        first = judge.judge_many(requests(20))
        second = judge.judge_many(requests(20))
    assert all(isinstance(answer, JudgeError) for answer in [*first, *second])
    assert server.batches.n_steps["create"] == 1


def test_a_service_that_stays_away_fails_in_the_end(server: AnthropicServer) -> None:
    """What was ordered is kept: the next call collects it."""
    server.batches.fault = lambda step, _: "api_error" if step == "retrieve" else None
    with judge_for(server, max_wait_seconds=0.05) as judge:
        assert scores(judge.judge_many(requests(3))) == ["api_error"] * 3
        server.batches.fault = lambda _, __: None
        assert scores(judge.judge_many(requests(3))) == [0.5] * 3
    assert set(server.batches.paid.values()) == {1}


def noted(directory: Path, judge: ClaudeJudge, n: int, **fields: Any) -> journal.Journal:
    """Note that *n* requests are to be asked."""
    ids = [batch._id_of(judge.identity, request) for request in requests(n)]
    notes = journal.Journal(TextStore(directory))
    notes.write("x", {"ids": ids, "batch": None, "after": None, **fields})
    return notes


def test_a_batch_that_the_service_does_not_know_is_asked_anew(
    server: AnthropicServer, tmp_path: Path
) -> None:
    """Results are kept for a month, notes as well; the service may also know it in a moment."""
    with (
        judge_for(server, max_wait_seconds=0.05) as judge,
        CachedJudge(judge, directory=tmp_path / "c") as cached,
    ):
        notes = noted(tmp_path / "c", judge, 3, batch="msgbatch_gone")
        assert scores(cached.judge_many(requests(3))) == [0.5] * 3
        assert notes.notes() == {}


@pytest.mark.parametrize("after", [None, "msgbatch_1"])
def test_a_batch_that_was_not_noted_is_found(
    server: AnthropicServer, tmp_path: Path, after: str | None
) -> None:
    """By the names of its questions, among those of others, on any page of the list."""
    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        judge.judge_many(requests(2, 90))
        judge.judge_many(requests(3))
        for i in range(4):
            judge.judge_many(requests(3 - i % 2, 10 * i + 10))
        noted(tmp_path / "c", judge, 3, after=after)
        n_made = len(server.batches.made)
        assert scores(cached.judge_many(requests(3))) == [0.5] * 3
    assert len(server.batches.made) == n_made


def test_an_intent_without_a_batch_is_asked(server: AnthropicServer, tmp_path: Path) -> None:
    """Older batches than the intent are not looked at."""
    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        judge.judge_many(requests(3, 10))
        notes = noted(tmp_path / "c", judge, 3, after="msgbatch_1")
        assert scores(cached.judge_many(requests(3))) == [0.5] * 3
        assert notes.notes() == {}
    assert server.batches.n_steps["results"] == 2


@pytest.mark.parametrize("is_noted", [True, False])
def test_another_process_has_time_to_note_its_batch(
    server: AnthropicServer, tmp_path: Path, is_noted: Any
) -> None:
    """It may be about to; then it is waited for, as long as it orders and lives."""
    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        judge.judge_many(requests(3))
        server.batches.made["msgbatch_9"] = server.batches.made.pop("msgbatch_1")
        store = TextStore(tmp_path / "c")
        held = claims.Claims(store.path)
        assert held.take(journal.CLAIM)
        notes = noted(tmp_path / "c", judge, 3, after="msgbatch_9")
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(cached.judge_many, requests(3))
            threading.Event().wait(0.3)
            assert not asked.done()
            if is_noted:
                note = notes.notes()["x"]
                notes.write("x", {**note, "batch": "msgbatch_9"})
            held.close()  # as the system does for a process that ends
            assert scores(asked.result(60)) == [0.5] * 3
    assert server.batches.n_steps["create"] == (1 if is_noted else 2)


@pytest.mark.parametrize(
    ("step", "fault", "kind"),
    [
        ("create", "no_message", "invalid_response"),
        ("create", "bad_json", "invalid_response"),
        ("list", "authentication", "authentication_error"),
        ("retrieve", "permission", "permission_error"),
        ("results", "permission", "permission_error"),
        ("results", "unknown_model", "not_found_error"),
        ("create", "invalid_request", "invalid_request_error"),
    ],
)
def test_what_cannot_be_mended_fails_every_question(
    server: AnthropicServer, step: str, fault: str, kind: str
) -> None:
    """And is not tried again."""
    server.batches.fault = lambda which, _: fault if which == step else None
    with judge_for(server, max_wait_seconds=0.05) as judge:
        assert scores(judge.judge_many(requests(3))) == [kind] * 3
    assert server.batches.n_steps["create"] <= 1


def test_a_key_that_fails_while_collecting_loses_no_batch(
    server: AnthropicServer, tmp_path: Path
) -> None:
    """The note stays for a judge with a key that works."""
    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        judge.judge_many(requests(3))
        notes = noted(tmp_path / "c", judge, 3, batch="msgbatch_1")
        server.batches.fault = lambda step, _: "permission" if step == "retrieve" else None
        assert scores(cached.judge_many(requests(3))) == ["permission_error"] * 3
        assert list(notes.notes()) == ["x"]
    server.batches.fault = lambda _, __: None
    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        assert scores(cached.judge_many(requests(3))) == [0.5] * 3
    assert set(server.batches.paid.values()) == {1}


@pytest.mark.parametrize("step", ["list", "results"])
def test_a_call_without_an_answer_is_made_again(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """After a time that is far longer than any answer takes; a download is a call as well."""
    with judge_for(server) as judge:
        judge.judge_many(requests(1))
        monkeypatch.setattr(batch, "CALL_SECONDS", 0.5)
        server.batches.fault = lambda which, n: "slow" if (which, n) == (step, 2) else None
        assert scores(judge.judge_many(requests(3, 5))) == [0.5] * 3
    assert sorted(server.batches.paid.values()) == [1] * 4


@pytest.mark.parametrize("text", ["{", "[1]", "5"])
def test_notes_that_cannot_be_read_are_none(tmp_path: Path, text: str) -> None:
    """As after a crash of the machine."""
    store = TextStore(tmp_path / "c")
    notes = journal.Journal(store)
    notes.write("a", {"ids": [], "batch": None})
    store.put(journal.PREFIX + "a", text, expires_at=1e12)
    assert notes.notes() == {}


def test_nothing_is_noted_once_it_is_kept(server: AnthropicServer, tmp_path: Path) -> None:
    """The verdicts are in the cache; a repeated question is shared, and costs once."""
    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        answers = cached.judge_many([*requests(2), *requests(2)])
        again = cached.judge_many(requests(3))
        assert journal.Journal(TextStore(tmp_path / "c")).notes() == {}
    assert [a.cached for a in answers if isinstance(a, Verdict)] == [False, False, True, True]
    assert [a.cached for a in again if isinstance(a, Verdict)] == [True, True, False]
    assert (cached.stats.n_misses, cached.stats.n_hits, cached.stats.n_shared) == (3, 2, 2)
    assert sum(server.batches.paid.values()) == 3


def test_votes_are_asked_in_one_batch(server: AnthropicServer, tmp_path: Path) -> None:
    """Each is a question of its own, whichever of the two is outside; its error is that of all."""
    noted: list[tuple[int, int]] = []
    with judge_for(server) as judge:
        outer = VotingJudge(CachedJudge(judge, directory=tmp_path / "c"))
        answers = outer.judge_many(requests(4), progress=lambda *n: noted.append(n))
        assert score_sql_cases(cases(4), judge=CachedJudge(VotingJudge(judge))).n_failed == 0
        assert len(server.batches.made) == 2
        server.batches.entry = lambda _, __: "expired"
        assert scores(VotingJudge(judge).judge_many(requests(2, 10))) == ["expired"] * 2
    assert {a.votes for a in answers if isinstance(a, Verdict)} == {(0.5,) * 4}
    assert noted[-1] == (4, 4)


class Many:
    """A judge of somebody else's that takes many requests."""

    identity = "many"

    def __init__(self, answer: Callable[[list[JudgeRequest]], Any]) -> None:
        self.answer = answer

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Answer one."""
        raise AssertionError(request)

    ajudge: Any = judge

    def judge_many(self, requests: list[JudgeRequest]) -> Any:
        """Answer many."""
        return self.answer(requests)


def test_any_judge_may_take_many() -> None:
    """Scores will do; failures stand in their place; a cache in memory asks for many, too."""
    judge = Many(lambda asked: [1.0, ValueError("no"), 0.7][: len(asked)])
    report = score_sql_cases(cases(3), judge=judge)
    first, *others = (present(score.query_correctness) for score in report.cases)
    assert first.score == 1.0
    kinds = ["instrument: judge_failure", "instrument: invalid_response"]
    assert [failure(result.error) for result in others] == kinds
    kept = CachedJudge(Many(lambda asked: [0.5] * len(asked)))
    assert scores(kept.judge_many(requests(2))) == [0.5] * 2


@pytest.mark.parametrize("answer", [lambda _: [1.0], lambda _: 1 / 0], ids=["too few", "raises"])
def test_many_answers_that_are_no_answers(answer: Any) -> None:
    """The run goes on; every pair says that the judge failed."""
    report = score_sql_cases(cases(3), judge=Many(answer))
    assert report.n_failed == 3


def test_several_accepted_queries_the_best_counts() -> None:
    """A failure counts only where nothing else was equivalent."""
    b, c, d = (f"SELECT {name} FROM t" for name in "bcd")
    wanted = {b: 0.5, c: ValueError("x"), d: 1.0}
    judge = Many(lambda asked: [wanted[request.expected] for request in asked])
    items = [
        SqlCase(case_id=i, generated="SELECT 1", expected=accepted)
        for i, accepted in enumerate([[b, d, c], [b, c]])
    ]
    report = score_sql_cases(items, judge=judge)
    assert [present(score.query_correctness).score for score in report.cases] == [1.0, 0.0]
    assert report.n_failed == 1


def _die(*_: object) -> object:
    os._exit(9)


def _run(url: str, directory: Path, step: str | None, results: Any) -> None:
    """Ask in a process of its own, which dies in a step."""
    write, take, keep = journal.Journal.write, batch.Batches._take, Shelf.keep_all

    def dying_write(self: Any, name: str, note: dict[str, Any]) -> None:
        is_intent = note["batch"] is None
        if step == ("before the intent" if is_intent else "before the id"):
            _die()
        write(self, name, note)
        if step == ("after the intent" if is_intent else "after the id"):
            _die()

    async def dying_keep(*arguments: Any) -> None:
        await keep(*arguments)
        _die()

    patches: dict[str | None, Any] = {
        "while reading": (batch.Batches, "_take", lambda *given: (take(*given), _die())),
        "before keeping": (Shelf, "keep_all", _die),
        "after keeping": (Shelf, "keep_all", dying_keep),
    }
    setattr(*patches.get(step, (journal.Journal, "write", dying_write)))
    with ClaudeJudge(api_key="k", base_url=url, batch=True) as judge:
        cached = CachedJudge(judge, directory=directory)
        results.put(scores(cached.judge_many(requests(7))))


def codes(
    server: AnthropicServer, directory: Path, step: str | None, results: Any, n: int = 1
) -> list[int | None]:
    """
    Return how processes that ask ended, side by side.

    A fork of a process with threads may find a lock held for ever: then another one is started.
    """
    context = multiprocessing.get_context("fork")
    arguments = (server.url, directory, step, results)
    found: list[int | None] = []
    for _ in range(4):
        started = [context.Process(target=_run, args=arguments) for _ in range(n - len(found))]
        for process in started:
            process.start()
        for process in started:
            process.join(25)
            if process.exitcode is None:
                process.kill()
                process.join()
            else:
                found.append(process.exitcode)
    return found


@pytest.fixture
def results() -> Iterator[Any]:
    """Return a queue between processes."""
    queue = multiprocessing.get_context("fork").Queue()
    yield queue
    queue.close()
    queue.join_thread()


def forking(test: Any) -> Any:
    """Mark a test that forks."""
    test = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")(test)
    return pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")(test)


@forking
@pytest.mark.parametrize(
    "step",
    [
        f"{when} {what}"
        for when in ("before", "after")
        for what in ("the intent", "the id", "keeping")
    ]
    + ["while reading"],
)
def test_a_process_that_dies_loses_nothing_and_pays_nothing_twice(
    server: AnthropicServer, tmp_path: Path, step: str, results: Any
) -> None:
    """The next one matches what the service has by the names of the questions."""
    with judge_for(server) as judge:  # somebody else's batches, of the same size and of another
        judge.judge_many(requests(7, 50))
        judge.judge_many(requests(5, 60))
    assert codes(server, tmp_path / "c", step, results) == [9]
    assert codes(server, tmp_path / "c", None, results) == [0]
    assert results.get(timeout=60) == [0.5] * 7
    assert set(server.batches.paid.values()) == {1}
    assert len(server.batches.paid) == 19


@forking
@pytest.mark.parametrize("died_at", ["before the id", "after the id", None])
def test_two_processes_that_resume_pay_once(
    server: AnthropicServer, tmp_path: Path, died_at: str | None, results: Any
) -> None:
    """They share the directory, hence the notes: one orders, both collect."""
    server.batches.n_polls = 20
    if died_at is not None:
        assert codes(server, tmp_path / "c", died_at, results) == [9]
    assert codes(server, tmp_path / "c", None, results, n=2) == [0, 0]
    assert [results.get(timeout=60) for _ in range(2)] == [[0.5] * 7] * 2
    assert set(server.batches.paid.values()) == {1}


def test_two_threads_that_ask_alike_pay_once(server: AnthropicServer, tmp_path: Path) -> None:
    """The notes of a process are its own as well."""
    server.batches.n_polls = 5
    with (
        judge_for(server) as judge,
        CachedJudge(judge, directory=tmp_path / "c") as cached,
        ThreadPoolExecutor(4) as pool,
    ):
        found = list(pool.map(lambda _: scores(cached.judge_many(requests(7))), range(4)))
    assert found == [[0.5] * 7] * 4
    assert set(server.batches.paid.values()) == {1}


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_an_interrupt_cancels_the_batch_and_keeps_its_answers(
    server: AnthropicServer, tmp_path: Path, where: str
) -> None:
    """What was answered is collected by the next call, and the rest asked anew."""
    server.batches.n_polls = 10**9
    judge = judge_for(server)
    asked: Any = judge if where == "memory" else CachedJudge(judge, directory=tmp_path / "c")
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:

        def interrupt() -> None:
            while server.batches.n_steps["retrieve"] < 3:
                threading.Event().wait(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            asked.judge_many(requests(7))
        thread.join()
    finally:
        signal.signal(signal.SIGINT, old)
    assert server.batches.n_steps["cancel"] == 1
    assert scores(asked.judge_many(requests(7))) == [0.5] * 7
    assert len(server.batches.made) == 1
    judge.close()


def test_a_run_that_reaches_its_deadline_cancels_the_batch(server: AnthropicServer) -> None:
    """The report says so, and the next run collects what was answered."""
    server.batches.n_polls = 10**9
    with judge_for(server) as judge:
        report = score_sql_cases(cases(4), judge=judge, deadline_seconds=0.5)
        errors = {present(score.query_correctness).error for score in report.cases}
        assert {present(error).kind for error in errors} == {"deadline"}
        server.batches.n_polls = 0  # on a busy machine the first run may have ordered nothing
        report = score_sql_cases(cases(4), judge=judge, resume=report)
    assert report.n_failed == 0
    assert set(server.batches.paid.values()) == {1}


def test_notes_outlive_a_disk_that_fails(tmp_path: Path) -> None:
    """The notes are in memory then."""
    plain = judge_from_function(lambda _: 1.0, identity="x")
    with CachedJudge(plain, directory=tmp_path / "c"):
        pass
    store = TextStore(tmp_path / "c")
    store.close()
    notes = journal.Journal(store)
    store._database += "x"  # as one that has been moved away
    notes.write("a", {"ids": [], "batch": None})
    assert list(notes.notes()) == ["a"]
    notes.finish("a")
    notes.settle()
    assert notes.notes() == {}


def test_what_another_process_collected_meanwhile_is_not_ordered(
    server: AnthropicServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking for a verdict and looking for its order both steps of the other may fall."""
    order = batch.Batches._order

    async def late(batches: batch.Batches) -> None:
        monkeypatch.undo()
        with judge_for(server) as other, CachedJudge(other, directory=tmp_path / "c") as first:
            assert scores(await first.ajudge_many(requests(4))) == [0.5] * 4
        await order(batches)

    with judge_for(server) as judge, CachedJudge(judge, directory=tmp_path / "c") as cached:
        monkeypatch.setattr(batch.Batches, "_order", late)
        monkeypatch.setattr(journal.Journal, "turn", lambda _: contextlib.nullcontext())
        found = cached.judge_many(requests(7))
    assert scores(found) == [0.5] * 7
    assert [one.cached for one in found if isinstance(one, Verdict)] == [True] * 4 + [False] * 3
    assert set(server.batches.paid.values()) == {1}
