"""A judge made of a function: its pace, retries, budget, and what a function may do."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import math
import pickle
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from anthropic_server import cases, requests
from refusals import Refusal, refusals

from scorekit import (
    ClaudeJudge,
    InputError,
    Judge,
    JudgeError,
    JudgeRequest,
    ModelPrice,
    Verdict,
    aquery_correctness,
    judge_from_function,
    query_correctness,
    score_sql_cases,
)
from scorekit._judge import pace
from scorekit._judge.failures import wait_of

PAIR = JudgeRequest(generated="SELECT a FROM t", expected="SELECT b FROM t")
PRICE = ModelPrice(input_usd_per_million=1.0, output_usd_per_million=10.0)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pauses be short."""
    monkeypatch.setattr(pace, "pause", lambda *_: 0.01)


def judge_of(function: Callable[[JudgeRequest], Any], **options: Any) -> Judge:
    """Return a judge."""
    return judge_from_function(function, identity="x", **{"timeout_seconds": 60.0, **options})


def both(function: Callable[[JudgeRequest], Any]) -> list[Callable[[JudgeRequest], Any]]:
    """Return a function in its plain and in its async form."""

    async def awaited(request: JudgeRequest) -> Any:
        return function(request)

    return [function, awaited]


class StatusError(Exception):
    """What clients of HTTP services raise."""

    def __init__(self, status: int, **headers: str) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.response = type("Response", (), {"headers": headers})()


@pytest.mark.parametrize("n_at_once", [1, 3, 8])
def test_no_more_calls_are_under_way_than_allowed(n_at_once: int) -> None:
    """In threads and on any number of event loops together."""
    lock, n_now, most, loops = threading.Lock(), Counter[str](), Counter[str](), set[int]()

    async def answer(_: JudgeRequest) -> float:
        loops.add(id(asyncio.get_running_loop()))
        with lock:
            n_now["all"] += 1
            most["all"] = max(most["all"], n_now["all"])
        await asyncio.sleep(0.01)
        with lock:
            n_now["all"] -= 1
        return 0.5

    judge = judge_of(answer, max_concurrency=n_at_once)

    async def gathered(first: int) -> list[Verdict]:
        return await asyncio.gather(*map(judge.ajudge, requests(10, first)))

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda first: asyncio.run(gathered(first)), (0, 10, 20)))
    assert {verdict.score for verdicts in found for verdict in verdicts} == {0.5}
    assert (most["all"], len(loops)) == (n_at_once, 3)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("slow"),
        ConnectionResetError("cut"),
        StatusError(500),
        StatusError(429, **{"retry-after": "0.01"}),
        StatusError(529),
        StatusError(503),
        StatusError(408),
    ],
    ids=repr,
)
def test_what_passes_is_asked_again(error: Exception, *, is_async: bool) -> None:
    """By its type, what it was raised from, or its HTTP status."""
    numbers = itertools.count(1)

    def answer(_: JudgeRequest) -> float:
        n = next(numbers)
        if n == 1:
            raise error
        if n == 2:
            raise RuntimeError("of a client") from ConnectionError("below")
        return 0.5

    assert judge_of(both(answer)[is_async]).judge(PAIR).score == 0.5
    assert next(numbers) == 4


@pytest.mark.parametrize(
    ("transient", "n_calls"),
    [(None, 1), (ValueError, 3), ((KeyError, ValueError), 3), (lambda e: "odd" in str(e), 3)],
)
def test_which_failures_pass_is_the_callers_to_say(transient: Any, n_calls: int) -> None:
    """Types or a predicate; then only these; the error says what was raised."""
    asked: list[JudgeRequest] = []

    def answer(request: JudgeRequest) -> float:
        asked.append(request)
        raise ValueError("odd")

    result = query_correctness("SELECT a", "SELECT b", judge=judge_of(answer, transient=transient))
    assert len(asked) == n_calls
    assert result.error is not None
    assert "odd" in result.error.message


def test_what_is_not_transient_is_not_asked_again() -> None:
    """A time-out of the function is still one."""
    asked: list[JudgeRequest] = []

    def answer(request: JudgeRequest) -> float:
        asked.append(request)
        raise TimeoutError("slow")

    result = query_correctness("SELECT a", "SELECT b", judge=judge_of(answer, transient=()))
    assert len(asked) == 1
    assert result.error is not None
    assert (result.error.kind, "slow" in result.error.message) == ("timeout", True)


def test_a_service_that_is_away_loses_nothing() -> None:
    """As of `ClaudeJudge`: one at a time asks whether it is back."""
    numbers = itertools.count()

    def answer(_: JudgeRequest) -> float:
        n = next(numbers)
        if 20 <= n < 60:
            raise ConnectionRefusedError
        return 0.5

    report = score_sql_cases(cases(60), judge=judge_of(answer, max_retries=0), evidence="judge")
    assert report.n_failed == 0


@pytest.mark.parametrize(
    ("status", "n_calls"), [(400, 5), (401, 5), (402, 5), (403, 5), (404, 5), (405, 30)]
)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_route_that_refuses_all_is_asked_few_times(
    status: int, n_calls: int, *, is_async: bool
) -> None:
    """As by `ClaudeJudge`: one more than are asked at once; a refused call costs nothing."""
    asked: list[JudgeRequest] = []

    def function(request: JudgeRequest) -> float:
        asked.append(request)
        raise StatusError(status)

    judge = judge_of(both(function)[is_async], max_concurrency=4, price=0.5, max_cost_usd=40.0)
    report = score_sql_cases(cases(60), judge=judge, evidence="judge")
    assert (report.n_failed, len(asked)) == (60, n_calls)
    if status != 405:
        with pytest.raises(
            JudgeError, match=f"no more calls are made after: StatusError.*{status}"
        ):
            judge.judge(PAIR)
        assert report.cost_usd == 0.0


def test_pairs_that_are_refused_stop_nobody_else() -> None:
    """Half of the prompts are too long, each said in the same words."""
    numbers = itertools.count()

    def function(_: JudgeRequest) -> float:
        if next(numbers) % 2:
            raise StatusError(400)
        return 0.5

    report = score_sql_cases(cases(100), judge=judge_of(function), evidence="judge")
    assert (report.n_failed, next(numbers)) == (50, 100)


@pytest.mark.parametrize("answer", [None, {"score": 1.0}, 2, "1.0", [1.0]], ids=repr)
@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_that_never_returns_a_verdict_ends(answer: Any, *, is_async: bool) -> None:
    """After thirty pairs."""
    asked: list[JudgeRequest] = []

    def function(request: JudgeRequest) -> Any:
        asked.append(request)
        return answer

    judge = judge_of(both(function)[is_async])
    report = score_sql_cases(cases(100), judge=judge, evidence="judge")
    assert (report.n_failed, len(asked)) == (100, 30)
    messages = [case.query_correctness.error.message for case in report.cases]  # type: ignore[union-attr]
    assert sum("no answer could be read; the last: a judge must" in one for one in messages) == 70


@pytest.mark.parametrize("answer", [1, True, 0.5, Verdict(score=0.0)], ids=repr)
def test_a_score_will_do(answer: Any) -> None:
    """Or a verdict."""
    wanted = answer.score if isinstance(answer, Verdict) else float(answer)
    assert judge_of(lambda _: answer).judge(PAIR).score == wanted


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_that_hangs_ends_at_its_time_limit(*, is_async: bool) -> None:
    """The others go on."""
    release = threading.Event()

    def plain(request: JudgeRequest) -> float:
        if "SELECT 0 " in request.generated:
            release.wait(60)
        return 0.5

    async def awaited(request: JudgeRequest) -> float:
        while "SELECT 0 " in request.generated:  # noqa: ASYNC110 - it hangs
            await asyncio.sleep(0.01)
        return 0.5

    judge = judge_of(awaited if is_async else plain, timeout_seconds=1.0, max_retries=0)
    report = score_sql_cases(cases(4), judge=judge, evidence="judge")
    release.set()
    (failed,) = [case for case in report.cases if case.n_failed]
    assert failed.case_id == "0"


def test_a_function_that_blocks_its_loop_ends_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the sync form, whose loop is left to it."""
    from scorekit._judge import waiting

    monkeypatch.setattr(waiting, "LATE_SECONDS", 0.2)
    release = threading.Event()

    async def blocking(_: JudgeRequest) -> float:
        release.wait(60)
        return 0.5

    result = query_correctness(
        "SELECT a", "SELECT b", judge=judge_of(blocking), timeout_seconds=0.2
    )
    release.set()
    assert result.error is not None
    assert result.error.kind == "timeout"


@pytest.mark.parametrize("is_async", [False, True])
def test_base_exceptions_pass(*, is_async: bool) -> None:
    """And the pace goes on for others."""

    def stop(_: JudgeRequest) -> float:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        judge_of(both(stop)[is_async]).judge(PAIR)
    assert judge_of(lambda _: 0.5).judge(PAIR).score == 0.5


def test_a_function_may_ask_its_own_judge() -> None:
    """What it asks does not wait for those that wait for it."""

    async def answer(request: JudgeRequest) -> float:
        if request.generated.startswith("SELECT"):
            inner = await aquery_correctness(
                "VALUES (1)", "VALUES (2)", judge=judge, dialect="sqlite", evidence="judge"
            )
            return inner.score
        return 0.5

    judge = judge_of(answer, max_concurrency=2)
    report = score_sql_cases(cases(6), judge=judge, evidence="judge")
    assert {case.query_correctness.score for case in report.cases} == {0.5}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "usage", "cost"),
    [
        ({"price": 0.25}, None, 0.25),
        ({"price": 0}, None, 0.0),
        ({"price": PRICE, "max_tokens": 100}, {"input_tokens": 1000, "output_tokens": 100}, 0.002),
        ({"price": PRICE, "max_tokens": 100}, {"tokens": 1}, None),
        ({"price": PRICE, "max_tokens": 100}, None, None),
        ({}, {"input_tokens": 1}, None),
    ],
)
def test_what_a_call_costs(options: dict[str, Any], usage: Any, cost: float | None) -> None:
    """A price a question, or by the tokens that the verdict names; a verdict's own cost wins."""
    judge = judge_of(lambda _: Verdict(score=0.5, usage=usage), **options)
    assert judge.judge(PAIR).cost_usd == cost
    own = judge_of(lambda _: Verdict(score=0.5, usage=usage, cost_usd=9.0), **options)
    assert own.judge(PAIR).cost_usd == 9.0


@pytest.mark.parametrize("n_at_once", [1, 8])
@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({"price": 0.25, "max_cost_usd": 2.6}, 10),
        ({"max_calls": 7}, 7),
        ({"price": PRICE, "max_tokens": 10_000, "max_cost_usd": 0.11 * 5}, 5),
    ],
)
def test_a_budget_is_a_bound(options: dict[str, Any], most: int, n_at_once: int) -> None:
    """Also where all are asked at once; the report's cost is what was paid."""
    asked: list[JudgeRequest] = []

    def answer(request: JudgeRequest) -> Verdict:
        asked.append(request)
        return Verdict(score=0.5, usage={"input_tokens": 5000, "output_tokens": 10_000})  # type: ignore[arg-type]

    judge = judge_of(answer, max_concurrency=n_at_once, **options)
    report = score_sql_cases(cases(30), judge=judge, evidence="judge")
    assert (len(asked), report.n_failed, report.n_calls) == (most, 30 - most, most)
    errors = {c.query_correctness.error.kind for c in report.cases if c.n_failed}  # type: ignore[union-attr]
    assert errors == {"budget"}


def test_calls_are_evenly_spaced() -> None:
    """1200 a minute are 50 ms apart."""
    times: list[float] = []

    def answer(_: JudgeRequest) -> float:
        times.append(time.monotonic())
        return 0.5

    judge = judge_of(answer, requests_per_minute=1200)
    score_sql_cases(cases(8), judge=judge, evidence="judge")
    assert max(times) - min(times) >= 7 * 0.05 * 0.9


def always_half(_: JudgeRequest) -> float:
    """Return half."""
    return 0.5


def test_a_pickle_has_the_arguments() -> None:
    """And a judge of its own pace."""
    judge = judge_of(always_half, price=PRICE, max_tokens=5, transient=(KeyError,), max_calls=1)
    copy = pickle.loads(pickle.dumps(judge))
    assert (copy.judge(PAIR).score, copy.identity, repr(copy)) == (0.5, "x", repr(judge))
    with pytest.raises(JudgeError, match="max_calls=1"):
        copy.judge(PAIR)
    assert judge.judge(PAIR).score == 0.5


@refusals("""
function=two
    -> TypeError: function must be a callable of one argument, the request, got <function two...
max_concurrency=0 -> InputError: max_concurrency must be an integer >= 1, got 0
requests_per_minute=0 -> InputError: requests_per_minute must be ...
max_calls=-1 -> InputError: max_calls must be an integer >= 0, got -1
max_retries=-1 -> InputError: max_retries must be an integer >= 0, got -1
timeout_seconds=0 -> InputError: timeout_seconds must be ...
price=-1 -> InputError: price must be a finite number >= 0, got -1
price="free" -> TypeError: price must be a finite number >= 0, got 'free'
price=PRICE -> InputError: max_tokens must be given where price is a ModelPrice
max_tokens=0 -> InputError: max_tokens must be an integer >= 1, got 0
max_cost_usd=1.0 -> InputError: price must be given where max_cost_usd is (0 for a free judge)
price=0, max_cost_usd=-1.0 -> InputError: max_cost_usd must be a finite number >= 0, got -1.0
transient="no" -> TypeError: transient must be exception types, a predicate or None, got 'no'
transient=int
    -> TypeError: transient must be exception types, a predicate or None, got <class 'int'>
transient=(1,) -> TypeError: transient must be exception types, a predicate or None, got (1,)
""")
def test_what_is_refused(wrong: Refusal) -> None:
    """At once, not at the first question."""
    wrong.by(judge_from_function, function=always_half, identity="x")


def limits() -> Iterator[tuple[str, str, str]]:
    """Yield each parameter that takes a number: by whom, its name and its annotation."""
    for function in (ClaudeJudge, judge_from_function):
        for name, parameter in inspect.signature(function).parameters.items():
            if re.search(r"\b(int|float)\b", str(parameter.annotation)):
                yield function.__name__, name, str(parameter.annotation)


FROM_NOUGHT = {"max_calls", "max_cost_usd", "max_retries", "max_wait_seconds", "price"}
"""Limits that may be 0."""

NO_NUMBERS: list[Any] = [True, np.True_, "1", b"1", [1], 1j]


@pytest.mark.parametrize(("made_by", "name", "kind"), list(limits()))
def test_a_limit_that_is_none_is_refused_by_name(made_by: str, name: str, kind: str) -> None:
    """Each of them, whatever is added: what is out of its domain, and what is no number."""
    wrong: list[Any] = [-1, -0.5, math.nan, math.inf, -math.inf, np.float64("nan"), np.int64(-1)]
    wrong += [Decimal("NaN"), Decimal(-1), Fraction(-1, 2)]
    domain = "an integer" if "int" in kind else "a finite number"
    if name in FROM_NOUGHT:
        domain += " >= 0"
    else:
        domain += " >= 1" if "int" in kind else " > 0"
        wrong += [0, 0.0]
    if "int" in kind:
        wrong += [0.5, Decimal("1.5")]
    options: dict[str, Any] = {"function": always_half, "identity": "x", "price": 0.0}
    make: Any = judge_from_function
    if made_by == "ClaudeJudge":
        pytest.importorskip("anthropic")
        pytest.importorskip("autoevals")
        make, options = ClaudeJudge, {}
    for value in wrong:
        with pytest.raises((InputError, TypeError)) as caught:
            make(**{**options, name: value})
        assert str(caught.value) == f"{name} must be {domain}, got {value!r}"
    for value in [*NO_NUMBERS, *([] if "None" in kind else [None])]:
        with pytest.raises(TypeError) as caught:
            make(**{**options, name: value})
        assert str(caught.value) == f"{name} must be {domain}, got {value!r}"
    for value in [1, np.int64(1), *([0] if name in FROM_NOUGHT else [])]:
        make(**{**options, name: value})


def two(_: JudgeRequest, __: object) -> float:
    """Take two parameters."""
    return 0.5


def test_what_asks_to_wait() -> None:
    """Seconds, whatever else stands there."""
    assert wait_of({"retry-after": "2"}) == 2.0
    assert wait_of({"retry-after": "soon"}) is None
    assert wait_of({}) is None
