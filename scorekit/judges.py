"""What a judge is, and judges around a judge: `CachedJudge`, `VotingJudge`."""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import math
import os
import re
import threading
import time
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final, Literal, Protocol, Self, TypeAlias, cast, runtime_checkable

import attrs

from scorekit._core.checks import (
    check_callable,
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_text,
    is_flag,
    store,
)
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.progress import reporting
from scorekit._core.text import key_of
from scorekit._judge.asking import (
    MAX_WAIT_SECONDS,
    TIMEOUT_MESSAGE,
    Asking,
    Limits,
    Reply,
    known_cost,
)
from scorekit._judge.failures import check_transient, passing_of, say_waits
from scorekit._judge.journal import journal
from scorekit._judge.ledger import Ledger, ledger
from scorekit._judge.memo import Memo, memo_of
from scorekit._judge.shelf import SCHEMA, Shelf
from scorekit._judge.single_flight import SingleFlight
from scorekit._judge.waiting import (
    Caller,
    Queue,
    at_a_pace,
    caller,
    in_thread,
    is_sync,
    places_at,
    queue_of,
    renew_in_forks,
    run_to_end,
)
from scorekit._sheet.values import counted
from scorekit.errors import InputError, JudgeError, refuse, shown
from scorekit.prices import DEFAULT_ANSWER, ModelPrice, Pricing, token_cost
from scorekit.records import Record

METRIC = "query_correctness"
SCORES = (1.0, 0.5, 0.0)
"""What a judge may say: equivalent, partial, incorrect."""

TIE_SCORE = 0.5
"""The score of a tie that counts as half."""


@attrs.frozen(kw_only=True)
class JudgeRequest(Record):
    """What a judge sees of one pair of queries; all of it is untrusted text."""

    generated: str
    expected: str
    question: str | None = None
    """What the query should answer, in the user's words."""
    schema: str | None = None
    dialect: str | None = None
    counterexample: str | None = None
    """
    A small database on which the two queries give different results, as text with the lines
    ``The generated query returns: ...`` and ``The expected query returns: ...``.
    """
    trial: int = 0
    """Number of the question, if the same is asked several times; a cache keeps these separate."""


@attrs.frozen(kw_only=True)
class Verdict(Record):
    """
    What a judge says about a pair, and what asking cost.

    Raises:
        InputError: If *score* is none of 1.0, 0.5 and 0.0.
        TypeError: If *score* is not a number or *reasoning* not a string.

    Examples:
        >>> Verdict(score=0.5, reasoning="The filter on status is missing.").score
        0.5
        >>> Verdict(score=0.7)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: score must be 1.0, 0.5 or 0.0, got 0.7
    """

    score: float
    """1.0 equivalent, 0.5 partly right, 0.0 incorrect."""
    reasoning: str = ""
    model: str | None = None
    usage: FrozenMapping[str, int] | None = None
    """Tokens by kind, for instance ``input_tokens`` and ``output_tokens``."""
    cost_usd: float | None = None
    """None where the price is not known."""
    response_id: str | None = None
    cached: bool = False
    """Whether the verdict comes from a cache."""
    votes: tuple[float, ...] = ()
    """The single scores of a `VotingJudge`."""

    def __attrs_post_init__(self) -> None:
        """Refuse scores between the three; store numbers as builtins."""
        score = float(self.score) if is_flag(self.score) else check_number("score", self.score)
        store(self, "score", score)
        if self.score not in SCORES:
            refuse("score", "1.0, 0.5 or 0.0", self.score)
        if self.cost_usd is not None:
            store(self, "cost_usd", check_number("cost_usd", self.cost_usd, 0.0))
        check_text("reasoning", self.reasoning, empty=True)


@runtime_checkable
class Judge(Protocol):
    """
    Anything that can say whether two queries mean the same.

    A judge needs an `identity` and `judge`, `ajudge` or both; a class that inherits from `Judge`
    has the other one of the two from there.  A judge that cannot answer raises; `JudgeError` says
    what kind of failure it was.

    In the sync forms of scorekit all judges of a process are awaited on one event loop, so that a
    client which belongs to a loop can be kept; the async forms stay on the loop of their caller.
    """

    @property
    def identity(self) -> str:
        """Everything about the judge that can change a verdict, as text."""
        ...

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair."""
        return run_to_end(lambda: ask(self, request))

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair, without blocking the event loop."""
        return await ask(self, request)


class SyncJudge(Protocol):
    """A judge of its own with `judge` alone."""

    @property
    def identity(self) -> str: ...  # noqa: D102 - as of `Judge`

    def judge(self, request: JudgeRequest, /) -> Verdict | float: ...  # noqa: D102


class AsyncJudge(Protocol):
    """A judge of its own with `ajudge` alone."""

    @property
    def identity(self) -> str: ...  # noqa: D102 - as of `Judge`

    async def ajudge(self, request: JudgeRequest, /) -> Verdict | float: ...  # noqa: D102


AnyJudge: TypeAlias = SyncJudge | AsyncJudge
"""What every function takes as a judge; a `Judge` is both."""


def _has(judge: object, name: str) -> bool:
    """Tell whether a judge has a form of its own, which is not the one that `Judge` lends it."""
    return callable(getattr(judge, name, None)) and (
        getattr(type(judge), name, None) is not getattr(Judge, name)
    )


def check_judge(judge: object) -> Judge:
    """Return *judge* if it is one; `isinstance` would read the identity at each question."""
    has_identity = hasattr(type(judge), "identity") or "identity" in getattr(judge, "__dict__", ())
    has_form = _has(judge, "judge") or _has(judge, "ajudge")
    if isinstance(judge, type) or not (has_form and (has_identity or hasattr(judge, "identity"))):
        see = "see judge_from_function"
        see = f"{judge.__name__}(...) makes one" if isinstance(judge, type) else see
        refuse("judge", f"a Judge ({see})", judge, TypeError)
    return cast("Judge", judge)


def is_ours(judge: object) -> bool:
    """Tell whether a judge writes down by itself what it pays, and may be awaited on any loop."""
    return isinstance(judge, CachedJudge | VotingJudge) or queue_of(judge) is not None


async def ask(judge: Judge, request: JudgeRequest) -> Verdict:
    """Return what a judge says, in the form that it has, and write down what it costs."""
    if is_ours(judge):
        return as_verdict(await judge.ajudge(request))
    paid = Ledger(ledger.get())
    token = ledger.set(paid)
    cost: object = None
    usage: object = None
    is_new = True
    try:
        if _has(judge, "ajudge") and not (is_sync.get() and _has(judge, "judge")):
            answer = as_verdict(await judge.ajudge(request))
        else:
            answer = as_verdict(await asyncio.wrap_future(in_thread(lambda: judge.judge(request))))
        cost, usage, is_new = answer.cost_usd, answer.usage, not answer.cached
    except JudgeError as error:
        cost, usage = error.cost_usd, error.usage
        raise
    finally:
        ledger.reset(token)
        if is_new and not paid.n_calls:  # else a judge of ours inside it has written that down
            paid.begin()
            paid.end(
                cost if isinstance(cost, int | float) else None,
                usage if is_mapping(usage) else None,
            )
    return answer


def pricing_of(judge: AnyJudge) -> Pricing:
    """Return what the questions to a judge cost, as far as it says so."""
    found = getattr(check_judge(judge), "_pricing", None)
    return found if isinstance(found, Pricing) else Pricing(price=None)


def optional_judge(judge: object) -> Judge | None:
    """Return *judge* if it is one, or None."""
    return None if judge is None else check_judge(judge)


JudgeFunction: TypeAlias = Callable[[JudgeRequest], Any]

Transient: TypeAlias = (
    type[Exception] | tuple[type[Exception], ...] | Callable[[Exception], bool] | None
)
"""Which exceptions of a function pass: types, or a predicate; None for the usual ones."""

_inside: ContextVar[tuple[object, ...]] = ContextVar("_inside", default=())
"""The judges whose functions the running code is part of."""


@attrs.frozen
class _Price:
    """What a question to a function costs: USD a question, or USD a token and most tokens."""

    price: ModelPrice | float | None
    max_tokens: int | None

    @property
    def pricing(self) -> Pricing:
        """The price of each question, for who asks what they would cost."""
        return Pricing(price=self.price, max_tokens=self.max_tokens or DEFAULT_ANSWER)

    def of(self, verdict: Verdict) -> Verdict:
        """Return a verdict with its cost, if it has none and that is known."""
        cost = verdict.cost_usd
        if cost is None and isinstance(self.price, float):
            cost = self.price
        elif cost is None and isinstance(self.price, ModelPrice) and is_mapping(verdict.usage):
            n_in, n_out = map(verdict.usage.get, ("input_tokens", "output_tokens"))
            if n_in is not None and n_out is not None:
                cost = token_cost(input_tokens=n_in, output_tokens=n_out, price=self.price)
        return attrs.evolve(verdict, cost_usd=cost)


class _FunctionJudge:
    """A judge made of one callable, plain or async, that is asked at a pace."""

    judge = Judge.judge

    def __init__(
        self,
        function: JudgeFunction,
        identity: str,
        limits: Limits,
        price: _Price,
        transient: Transient,
    ) -> None:
        self._function = function
        self.identity = identity
        self._limits = limits
        self._price = price
        self._transient = transient
        self._queue = Queue(limits.max_concurrency)
        self._pricing = price.pricing
        self._begin()
        renew_in_forks(self, _FunctionJudge._begin)

    def _begin(self) -> None:
        passes = passing_of(TimeoutError(), self._transient) is not None
        self._asking = Asking(self._limits, self._pricing.most, say_waits, time_outs_pass=passes)

    def __repr__(self) -> str:
        return f"judge_from_function({shown(self._function)}, identity={self.identity!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        options = attrs.asdict(self._limits)
        del options["max_wait_seconds"]
        options |= attrs.asdict(self._price, recurse=False)
        options |= {"identity": self.identity, "transient": self._transient}
        return functools.partial(judge_from_function, **options), (self._function,)

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Wait for a turn; an async function is awaited on this loop, a plain one in a thread."""
        loop = asyncio.get_running_loop()
        if self in _inside.get():  # what it asks itself must not wait for those that wait for it
            reply = await self._called(loop, request)
            return reply.value
        return await asyncio.wrap_future(at_a_pace(lambda: self._ask(loop, request, caller.get())))

    async def _ask(
        self, loop: asyncio.AbstractEventLoop, request: JudgeRequest, who: Caller | None
    ) -> Verdict:
        pair = key_of(*parts_asked(request))
        most = self._asking.most(part for part in parts_asked(request) if isinstance(part, str))
        async with self._asking.turn(pair, most, who) as turn:
            return await turn.ask(request, functools.partial(self._called, loop))

    async def _called(
        self, loop: asyncio.AbstractEventLoop, request: JudgeRequest
    ) -> Reply[Verdict]:
        """Call the function, and write down what that costs."""
        paid = Ledger(ledger.get())
        cost: object = None
        usage: object = None
        is_new = True
        try:
            verdict = self._price.of(as_verdict(await self._answer(loop, request, paid)))
            cost, usage, is_new = verdict.cost_usd, verdict.usage, not verdict.cached
            return Reply(verdict, verdict.cost_usd, verdict.usage)
        except JudgeError as error:
            cost, usage = error.cost_usd, error.usage
            raise
        except Exception as error:
            passing = passing_of(error, self._transient)
            if passing is not None:
                cost, is_new = passing.cost_usd, passing.was_taken
                raise passing from error
            if isinstance(error, TimeoutError):  # else it would be taken for that of the judge
                raise JudgeError("timeout", f"{TIMEOUT_MESSAGE}: {error}") from error
            raise
        finally:
            if is_new and not paid.n_calls:  # else a judge inside it has written that down
                paid.begin()
                paid.end(*known_cost(cost, usage))

    async def _answer(
        self, loop: asyncio.AbstractEventLoop, request: JudgeRequest, paid: Ledger
    ) -> Any:
        def enter() -> None:
            _inside.set((*_inside.get(), self))
            ledger.set(paid)

        def called() -> Any:
            enter()
            return self._function(request)

        async def awaited(answer: Awaitable[Any] | None) -> tuple[Any, Exception | None]:
            enter()
            try:
                return await (self._function(request) if answer is None else answer), None
            except Exception as error:  # noqa: BLE001 - which nobody may be there to see
                return None, error

        answer = None
        if not inspect.iscoroutinefunction(self._function):
            answer = await asyncio.wrap_future(in_thread(called))
            if not inspect.isawaitable(answer):
                return answer
        there = asyncio.run_coroutine_threadsafe(awaited(answer), loop)
        answer, failure = await asyncio.wrap_future(there)
        if failure is not None:
            raise failure
        return answer


def as_verdict(answer: object) -> Verdict:
    """Return a judge's answer as a verdict, which may be only its score."""
    if isinstance(answer, Verdict):
        return answer
    try:
        return Verdict(score=cast("float", answer))
    except (TypeError, InputError):
        wanted = "a judge must return a Verdict or a score of 1.0, 0.5 or 0.0"
        raise JudgeError("invalid_response", f"{wanted}, got {shown(answer)}") from None


def judge_from_function(
    function: JudgeFunction,
    *,
    identity: str,
    max_concurrency: int = 8,
    requests_per_minute: float | None = None,
    max_calls: int | None = None,
    max_retries: int = 2,
    timeout_seconds: float = 30.0,
    price: ModelPrice | float | None = None,
    max_tokens: int | None = None,
    max_cost_usd: float | None = None,
    transient: Transient = None,
) -> Judge:
    """
    Make a judge from a function that takes a `JudgeRequest`, with the pace of `ClaudeJudge`.

    The function is called at a rate that is learned from refusals for load, and called again about
    a pair where a failure passes; while nobody is answered, one question at a time asks whether
    the service is back, for ten minutes at most. A plain function runs in threads, an async one on
    the caller's event loop, and one pace holds for all of them. Where nothing that it returns can
    ever be used, it is not called again after 30 pairs, or three times *max_concurrency*, and
    where the HTTP status of its exceptions is 400 to 404, after *max_concurrency* pairs.

    Args:
        function: Returns a `Verdict`, or just a score of 1.0, 0.5 or 0.0; it may be ``async``.
            `judge_prompt` is what to ask a model, `verdict_from_text` reads its answer.
        identity: Everything about it that can change a verdict: a cache tells judges apart by it.
        max_concurrency: Calls under way at once (count, ``>= 1``).
        requests_per_minute: Most calls in a minute, evenly spaced (``> 0``); None for no bound.
        max_calls: Budget of calls, retries included; None for no bound.
        max_retries: Further calls about a pair after failures that pass (count).
        timeout_seconds: Bound on each call (``> 0``); of a pair that is asked alone, on all of it,
            waits and retries included.
        price: What a call costs in USD (``>= 0``; 0 is free), or a `ModelPrice`, by which the
            tokens in *usage* of a verdict are priced.
        max_tokens: Bound on the tokens of an answer (count, ``>= 1``), for a `ModelPrice`.
        max_cost_usd: Budget of money; a call that could exceed it is not made.
        transient: Which exceptions pass, as a type, types or a predicate; None for time-outs,
            connection errors and the HTTP statuses 408, 409, 429 and 5xx; ``()`` for none. 429 and
            529 are always taken for load.

    Returns:
        A `Judge`.

    Raises:
        InputError: If *identity* is empty, an argument outside its domain, or *max_cost_usd* given
            without a *price*, or a `ModelPrice` without *max_tokens*.
        TypeError: If *function* does not take one argument, or an argument has the wrong type.

    Examples:
        >>> judge = judge_from_function(lambda pair: "users" in pair.generated, identity="naive")
        >>> judge.judge(JudgeRequest(generated="SELECT 1 FROM users", expected="SELECT 1")).score
        1.0
        >>> judge_from_function("users", identity="naive")
        Traceback (most recent call last):
        ...
        TypeError: function must be a callable, got 'users'
    """
    check_callable("function", function)
    try:
        inspect.signature(function).bind(None)
    except ValueError:  # one of C, of which nothing is known
        pass
    except TypeError:
        refuse("function", "a callable of one argument, the request", function, TypeError)
    if isinstance(price, ModelPrice):
        if max_tokens is None:
            raise InputError("max_tokens must be given where price is a ModelPrice")
    elif price is not None:
        price = check_number("price", price, 0.0)
    elif max_cost_usd is not None:
        raise InputError("price must be given where max_cost_usd is (0 for a free judge)")
    if max_tokens is not None:
        check_count("max_tokens", max_tokens, 1)
    limits = Limits(
        timeout_seconds=timeout_seconds,
        max_concurrency=max_concurrency,
        max_retries=max_retries,
        max_calls=max_calls,
        max_cost_usd=max_cost_usd,
        requests_per_minute=requests_per_minute,
        max_wait_seconds=MAX_WAIT_SECONDS,
    )
    check_transient(transient)
    checked = check_text("identity", identity)
    return _FunctionJudge(function, checked, limits, _Price(price, max_tokens), transient)


def total_usage(usages: Iterable[object]) -> FrozenMapping[str, int] | None:
    """Add tokens up by kind; None where none is known, and nothing where it is no count."""
    known = [usage for usage in usages if is_mapping(usage)]
    total: dict[str, int] = {}
    for usage in known:
        for kind, n_tokens in usage.items():
            if isinstance(n_tokens, int):
                total[str(kind)] = total.get(str(kind), 0) + n_tokens
    return FrozenMapping(total) if known else None


def total_cost(costs: Iterable[object]) -> float | None:
    """Add costs up; None if one is not known."""
    known: list[float] = []
    for cost in costs:
        if not isinstance(cost, int | float):
            return None
        known.append(cost)
    return math.fsum(known)


Answers = list[Verdict | Exception]
"""For each request a verdict, or why there is none."""

Tell = Callable[[int, int], object]
"""Hears how many requests are done, and of how many."""


def asks_together(judge: object) -> bool:
    """Return whether *judge* wants many requests at once: it has `judge_many` and uses it."""
    has_many = callable(getattr(judge, "judge_many", None))
    return has_many and getattr(judge, "asks_together", True) is True


async def ask_each(judge: Judge, requests: Sequence[JudgeRequest], tell: Tell | None) -> Answers:
    """Ask about each request by itself, several at a time."""
    places = asyncio.Semaphore(places_at(judge))
    n_done = 0

    async def answer_to(request: JudgeRequest) -> Verdict | Exception:
        nonlocal n_done
        async with places:
            try:
                answer: Verdict | Exception = await ask(judge, request)
            except Exception as error:  # noqa: BLE001 - whatever a judge raises
                answer = error
        n_done += 1
        if tell is not None:
            tell(n_done, len(requests))
        return answer

    return list(await asyncio.gather(*map(answer_to, requests)))


async def ask_many(judge: Judge, requests: Sequence[JudgeRequest], tell: Tell | None) -> Answers:
    """Ask about all requests, at once if *judge* wants them so."""
    if not asks_together(judge):
        return await ask_each(judge, requests, tell)
    ours: Any = judge
    if hasattr(judge, "ajudge_many"):
        answers = await ours.ajudge_many(requests, progress=tell)
    else:
        answers = await asyncio.wrap_future(in_thread(lambda: list(ours.judge_many(requests))))
    if len(answers) != len(requests):
        message = f"judge_many must return {len(requests)} answers, got {len(answers)}"
        return [JudgeError("invalid_response", message)] * len(requests)
    found = [_answer(answer) for answer in answers]
    paid = None if is_ours(judge) else ledger.get()
    for answer in found:
        if paid is not None and not getattr(answer, "cached", False):
            paid.begin()
            paid.end(getattr(answer, "cost_usd", None), getattr(answer, "usage", None))
    return found


def _answer(answer: object) -> Verdict | Exception:
    try:
        return answer if isinstance(answer, Exception) else as_verdict(answer)
    except JudgeError as error:
        return error


def _in_sync(start: Callable[[], Coroutine[Any, Any, Verdict]]) -> Verdict:
    """Ask about one pair in the sync form."""
    token = is_sync.set(True)
    try:
        return run_to_end(start)
    finally:
        is_sync.reset(token)


class _Around:
    """What a judge around a judge has from the one inside."""

    def __init__(self, judge: AnyJudge) -> None:
        self._judge = check_judge(judge)

    @property
    def _queue(self) -> Queue | None:
        return queue_of(self._judge)

    @property
    def _pricing(self) -> Pricing:
        return pricing_of(self._judge)

    @property
    def asks_together(self) -> bool:
        """Whether the judge wants many requests at once."""
        return asks_together(self._judge)

    @property
    def _memo(self) -> Memo | None:
        return memo_of(self._judge)

    async def _ask_all(
        self, requests: Sequence[JudgeRequest], *, progress: Tell | bool | None, n_each: int = 1
    ) -> Answers:
        """Ask the judge inside; *n_each* requests are one for whoever hears of the progress."""
        with reporting(progress, "request") as tell:

            def hear(n_done: int, n: int) -> None:
                if tell is not None:
                    tell(n_done // n_each, n // n_each)

            return await ask_many(self._judge, requests, hear)


Ties: TypeAlias = Literal["undecided", "half"]
"""What becomes of votes of which none wins."""

_TIES: Final = ("undecided", "half")


class VotingJudge(_Around):
    """
    Ask a judge several times about each pair, in both orders, and take the majority of each.

    A language model may favor the query it is shown first, so every second time the two queries
    are exchanged. A score wins that has most votes in each of the two orders. If the orders differ
    there is no verdict: a `JudgeError` of kind ``"order"``, which counts as undecided, or 0.5 with
    ``ties="half"``. If several scores have most votes in both, the median of all votes wins, and
    without one there is no verdict either (kind ``"tie"``).

    `Verdict.votes` holds the single scores in the order asked. If they differ, look at the pair
    yourself. Reasoning, model and response id are those of the first vote for the winning score.
    Tokens and cost are sums over all votes; the cost is None if that of one vote is unknown.

    Each vote is a request with its own *trial*, so a `CachedJudge` remembers each separately.
    All are asked at once. If a vote fails there is no verdict, and the error contains tokens and
    cost of all votes.

    Args:
        judge: The judge to ask.
        n_votes: Asks for each pair (count, ``>= 1``); of an even number each order has half.
        swap_order: Whether every second ask has *generated* and *expected* exchanged.
        ties: ``"undecided"``, or ``"half"`` for a score of 0.5 where no score wins.

    Raises:
        InputError: If *n_votes* is below 1, or *ties* neither word.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from scorekit import judge_from_function, query_correctness
        >>> votes = 0.5, 0.5, 1.0, 0.5
        >>> moody = judge_from_function(lambda pair: votes[pair.trial], identity="moody")
        >>> pair = "SELECT a FROM t", "SELECT b FROM t"
        >>> result = query_correctness(*pair, judge=VotingJudge(moody))
        >>> result.score, result.votes
        (0.5, (0.5, 0.5, 1.0, 0.5))
        >>> first = judge_from_function(lambda asked: asked.generated == pair[0], identity="first")
        >>> print(query_correctness(*pair, judge=VotingJudge(first)).error.message)
        order: the verdict depends on which query comes first: votes 1, 0, 1, 0
        >>> query_correctness(*pair, judge=VotingJudge(first, ties="half")).score
        0.5
        >>> VotingJudge(moody, n_votes=0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_votes must be an integer >= 1, got 0
    """

    def __init__(
        self,
        judge: AnyJudge,
        *,
        n_votes: int = 4,
        swap_order: bool = True,
        ties: Ties = "undecided",
    ) -> None:
        super().__init__(judge)
        self._n_votes = check_count("n_votes", n_votes, 1)
        self._swap_order = check_flag("swap_order", swap_order)
        check_choice("ties", ties, _TIES)
        self._ties: Ties = ties

    def __repr__(self) -> str:
        """Show the arguments."""
        arguments = f"n_votes={self._n_votes}, swap_order={self._swap_order}, ties={self._ties!r}"
        return f"VotingJudge({self._judge!r}, {arguments})"

    @property
    def identity(self) -> str:
        """The judge's own, the number of votes, their order, and what a tie is."""
        order = "each of two orders" if self._swap_order else "one order"
        return f"{self._n_votes} votes in {order}, ties {self._ties}: {self._judge.identity}"

    @property
    def _pricing(self) -> Pricing:
        inner = pricing_of(self._judge)
        return attrs.evolve(inner, n_votes=self._n_votes * inner.n_votes)

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return the majority verdict, asking all at once."""
        return _in_sync(lambda: self.ajudge(request))

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return the majority verdict, asking all at once."""
        asks = [ask(self._judge, ballot) for ballot in self._ballots(request)]
        # The others are paid for when one fails: they are waited for, a cache may keep them.
        return self._elected(await asyncio.gather(*asks, return_exceptions=True))

    def judge_many(
        self, requests: Iterable[JudgeRequest], *, progress: Tell | bool | None = None
    ) -> Answers:
        """Return the majority verdict, or why there is none, for each request."""
        return run_to_end(lambda: self.ajudge_many(requests, progress=progress))

    async def ajudge_many(
        self, requests: Iterable[JudgeRequest], *, progress: Tell | bool | None = None
    ) -> Answers:
        """Do the same without blocking the event loop."""
        ballots = [ballot for request in requests for ballot in self._ballots(request)]
        n = self._n_votes
        votes = await self._ask_all(ballots, progress=progress, n_each=n)
        return [self._election(votes[i : i + n]) for i in range(0, len(votes), n)]

    def peek(self, request: JudgeRequest, /) -> Verdict | None:
        """Return the majority verdict if the judge remembers every vote; never raises."""
        peek: Any = getattr(self._judge, "peek", None)
        if peek is None:
            return None
        votes: list[Verdict | None] = [peek(ballot) for ballot in self._ballots(request)]
        known = [vote for vote in votes if vote is not None]
        found = self._election(known) if len(known) == len(votes) else None
        return found if isinstance(found, Verdict) else None

    def _election(self, votes: Sequence[Verdict | Exception]) -> Verdict | Exception:
        try:
            return self._elected(votes)
        except Exception as error:  # noqa: BLE001 - that of a vote
            return error

    def _elected(self, votes: Sequence[Verdict | BaseException]) -> Verdict:
        """Return the verdict of the majority, or raise why there is none."""
        usage = total_usage(getattr(vote, "usage", None) for vote in votes)
        costs = [getattr(vote, "cost_usd", None) for vote in votes]
        if not all(isinstance(vote, Verdict) for vote in votes):  # what is known has been paid
            costs = [cost for cost in costs if cost is not None] or [None]
        cost_usd = total_cost(costs)
        verdicts = _check_votes(votes, usage, cost_usd)
        scores = tuple(verdict.score for verdict in verdicts)
        n_orders = 2 if self._swap_order and len(scores) > 1 else 1
        score = _winner([scores[i::n_orders] for i in range(n_orders)])
        if not isinstance(score, str):
            first = verdicts[scores.index(score)]
        else:
            why = "no score has most votes"
            if score == "order":
                why = "the verdict depends on which query comes first"
            why = f"{why}: votes {', '.join(format(one, 'g') for one in scores)}"
            if self._ties == "undecided":
                raise JudgeError(score, why, usage, cost_usd)
            first = attrs.evolve(verdicts[0], score=TIE_SCORE, reasoning=why, response_id=None)
        return attrs.evolve(
            first,
            usage=usage,
            cost_usd=cost_usd,
            cached=all(verdict.cached for verdict in verdicts),
            votes=scores,
        )

    def _ballots(self, request: JudgeRequest) -> Iterable[JudgeRequest]:
        """Return the requests; those of one trial of the whole differ from those of another."""
        for i in range(self._n_votes):
            ballot = attrs.evolve(request, trial=request.trial * self._n_votes + i)
            if self._swap_order and i % 2:
                ballot = _exchanged(ballot)
            yield ballot


_RETURNED = re.compile(r"^The (generated|expected) (?=query returns)", re.MULTILINE)


def _exchanged(request: JudgeRequest) -> JudgeRequest:
    """Return the request with each query in the other's place, and with the other's results."""
    example = request.counterexample
    if example is not None:
        other = {"generated": "The expected ", "expected": "The generated "}
        example = _RETURNED.sub(lambda found: other[found[1]], example)
    return attrs.evolve(
        request,
        generated=request.expected,
        expected=request.generated,
        counterexample=example,
    )


def _check_votes(
    votes: Sequence[Verdict | BaseException],
    usage: FrozenMapping[str, int] | None,
    cost_usd: float | None,
) -> list[Verdict]:
    """Return the votes, or raise the first failure among them with what all have cost."""
    for vote in votes:
        is_told = isinstance(vote, JudgeError) or usage is not None or cost_usd is not None
        if isinstance(vote, Exception) and is_told:
            kind, message = "judge_failure", f"{type(vote).__name__}: {vote}"
            if isinstance(vote, JudgeError):
                kind, message = vote.kind, vote.message
            elif isinstance(vote, TimeoutError):
                kind, message = "timeout", f"{TIMEOUT_MESSAGE}: a vote is missing"
            raise JudgeError(kind, message, usage, cost_usd) from vote
        if not isinstance(vote, Verdict):
            raise vote
    return [vote for vote in votes if isinstance(vote, Verdict)]


def _winner(orders: Sequence[Sequence[float]]) -> float | Literal["order", "tie"]:
    """Return the score that wins in each order, or why there is none."""
    leading: list[set[float]] = []
    for scores in orders:
        counts = Counter(scores)
        leading.append({score for score in counts if counts[score] == max(counts.values())})
    common = {score for score in leading[0] if all(score in others for others in leading)}
    if not common:
        return "order"
    scores = sorted(score for order in orders for score in order)
    middle = {scores[(len(scores) - 1) // 2], scores[len(scores) // 2]}
    (winner, *others) = common if len(common) == 1 else middle
    return winner if winner in common and not others else "tie"


_log = logging.getLogger(__name__)


class CacheWarning(UserWarning):
    """
    A cache on disk cannot be used (any more); verdicts are kept in memory.

    Given at most once by each `CachedJudge`.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", CacheWarning)  # raise rather than go on
    """


@attrs.frozen(kw_only=True, repr=False)
class CacheStatistics(Record):
    """What a `CachedJudge` has been asked since it was made."""

    n_hits: int
    """Requests answered from memory or disk."""
    n_disk_hits: int
    """Those of them that came from disk."""
    n_misses: int
    """Calls to the judge, failed ones included."""
    n_shared: int
    """Requests answered by a call that another request had started."""
    n_calls_saved: int
    """*n_hits* + *n_shared*."""

    def _line(self) -> str:
        asked = counted(self.n_calls_saved + self.n_misses, "request")
        parts = {"calls": self.n_misses, "from disk": self.n_disk_hits, "shared": self.n_shared}
        more = ", ".join(f"{n} {what}" for what, n in parts.items() if n)
        return f"{self.n_calls_saved} of {asked} answered without a call" + (more and f" ({more})")


def parts_asked(request: JudgeRequest) -> tuple[str | int | None, ...]:
    """Return all of a request that can change its verdict, in an order that keys rest upon."""
    return (
        request.generated,
        request.expected,
        request.question,
        request.schema,
        request.dialect,
        request.counterexample,
        request.trial,
    )


class CachedJudge(_Around):
    """
    Ask a judge once about each pair, and remember the verdict.

    Verdicts are kept in memory and, with a *directory*, on disk: as text in one SQLite database
    that processes may share. A verdict is reused for the same request (every field of
    `JudgeRequest`) to a judge of the same `identity`, and has ``cached=True``. If several threads
    or tasks ask about a pair at the same time, the judge is asked once. Errors are raised to all
    of them and never stored.

    If the directory cannot be used safely, or fails later, you get one `CacheWarning`, and
    verdicts are kept in memory only. A cache can be used from threads, event loops and after a
    fork. A pickle contains the arguments, not the verdicts.

    Args:
        judge: The judge to ask.
        directory: Where to keep verdicts; None keeps them in memory only.  It is made if it does
            not exist, for its owner alone.
        ttl_seconds: How long a verdict is used (``> 0``); a day by default.
        clock: Returns the time in seconds since the epoch.
        max_entries: Verdicts held in memory (count, ``>= 1``); the one unused for longest goes
            first.

    Raises:
        InputError: If *directory* is empty, or *ttl_seconds* or *max_entries* out of range.
        MissingExtraError: If *directory* is given and diskcache is not installed.
        TypeError: If *judge* is not a `Judge`, or another argument has the wrong type.

    Examples:
        >>> from scorekit import judge_from_function, query_correctness
        >>> judge = CachedJudge(judge_from_function(lambda pair: 0.5, identity="always half"))
        >>> pair = ("SELECT a FROM t", "SELECT b FROM t")
        >>> [query_correctness(*pair, judge=judge).cached for _ in range(3)]
        [False, True, True]
        >>> judge.stats.n_misses, judge.stats.n_calls_saved
        (1, 2)
        >>> CachedJudge("claude")
        Traceback (most recent call last):
        ...
        TypeError: judge must be a Judge (see judge_from_function), got 'claude'
    """

    def __init__(
        self,
        judge: AnyJudge,
        *,
        directory: str | os.PathLike[str] | None = None,
        ttl_seconds: float = 86_400,
        clock: Callable[[], float] = time.time,
        max_entries: int = 100_000,
    ) -> None:
        super().__init__(judge)
        self._directory = None if directory is None else _checked_directory(directory)
        self._ttl = check_number("ttl_seconds", ttl_seconds, 0.0, open_ends=True)
        check_callable("clock", clock)
        self._clock = clock
        self._max_entries = check_count("max_entries", max_entries, 1)
        self._shelf = Shelf(self._directory, self._ttl, clock, self._max_entries, _warn)
        self._identity: str | None = None
        self._counts: Counter[str] = Counter()
        self._renew()
        renew_in_forks(self, CachedJudge._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._flight = SingleFlight(self._recall)
        self._shelf.renew()

    def __reduce__(self) -> tuple[Callable[[Judge], CachedJudge], tuple[Judge]]:
        """Pickle the arguments."""
        make = functools.partial(
            CachedJudge,
            directory=self._directory,
            ttl_seconds=self._ttl,
            clock=self._clock,
            max_entries=self._max_entries,
        )
        return make, (self._judge,)

    def __repr__(self) -> str:
        """Show the arguments that matter."""
        return f"CachedJudge({self._judge!r}, directory={self._directory!r})"

    @property
    def identity(self) -> str:
        """That of the judge, since remembering does not change verdicts."""
        return self._judge.identity if self._identity is None else self._identity

    @property
    def _pricing(self) -> Pricing:
        return attrs.evolve(pricing_of(self._judge), asks_once=True)

    @property
    def stats(self) -> CacheStatistics:
        """Hits, misses and calls saved so far."""
        counts = self._counts.copy()
        return CacheStatistics(
            n_hits=counts["hits"],
            n_disk_hits=counts["disk_hits"],
            n_misses=counts["misses"],
            n_shared=counts["shared"],
            n_calls_saved=counts["hits"] + counts["shared"],
        )

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair, asking the judge if it is not known."""
        try:
            known = self._look(self._key(request))
        finally:
            self._shelf.leave()
        return _in_sync(lambda: self.ajudge(request)) if known is None else known

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair without blocking the loop while the judge thinks."""
        key = self._key(request)
        known = self._look(key)
        if known is not None:
            return known
        verdict, how = await self._flight.ado(key, functools.partial(self._ask, key, request))
        if how == "shared":
            self._count("shared")
            return attrs.evolve(verdict, cached=True)  # its cost is another result's
        return verdict

    async def _ask(self, key: str, request: JudgeRequest) -> Verdict:
        async with self._shelf.turn(key):
            known = self._read(key)  # others may have asked, and memory let it go, since
            if known is not None:
                return known
            self._count("misses")
            verdict = await ask(self._judge, request)
            await self._keep({key: verdict})
            return verdict

    def judge_many(
        self, requests: Iterable[JudgeRequest], *, progress: Tell | bool | None = None
    ) -> Answers:
        """
        Return a verdict, or why there is none, for each request; ask about what is not known.

        Where there is a directory, it holds what has been ordered and not yet collected.
        """
        return run_to_end(lambda: self.ajudge_many(requests, progress=progress))

    async def ajudge_many(
        self, requests: Iterable[JudgeRequest], *, progress: Tell | bool | None = None
    ) -> Answers:
        """Do the same without blocking the event loop."""
        items = list(requests)
        if not asks_together(self._judge):
            with reporting(progress, "request") as tell:
                return await ask_each(self, items, tell)
        keys = [self._key(request) for request in items]
        answers: dict[str, Verdict | Exception] = {}
        unknown: dict[str, JudgeRequest] = {}
        for key, request in zip(keys, items, strict=True):
            known = None if key in unknown else self._look(key)
            if known is not None:
                answers[key] = known
            else:
                unknown[key] = request
        if unknown:
            notes = self._shelf.journal()
            if notes is not None and not isinstance(self._judge, _Around):
                notes.kept = lambda request: self._shelf.read(self._key(request), _decoded)
            token = journal.set(notes or journal.get())
            try:
                found = await self._ask_all(list(unknown.values()), progress=progress)
            finally:
                journal.reset(token)
            new = dict(zip(unknown, found, strict=True))
            self._count("misses", len(new))
            await self._keep(new)
            if notes is not None:
                await asyncio.to_thread(notes.settle)
            answers |= new
        return [self._in_turn(key, answers, unknown) for key in keys]

    def _in_turn(
        self, key: str, answers: dict[str, Verdict | Exception], unknown: dict[str, JudgeRequest]
    ) -> Verdict | Exception:
        """Return the answer under *key*; of two that are alike the second cost nothing."""
        answer = answers[key]
        if unknown.pop(key, None) is None and isinstance(answer, Verdict) and not answer.cached:
            self._count("shared")
            return attrs.evolve(answer, cached=True)
        return answer

    async def _keep(self, answers: Mapping[str, Verdict | Exception]) -> None:
        """Keep verdicts where another program's lock on the disk keeps no event loop waiting."""
        verdicts = {
            key: attrs.evolve(answer, cached=True)
            for key, answer in answers.items()
            if isinstance(answer, Verdict)
        }
        await self._shelf.keep_all(verdicts, lambda verdict: {"r": verdict.to_dict()})

    def peek(self, request: JudgeRequest, /) -> Verdict | None:
        """Return the verdict if it is known; asks nobody, waits for nobody, never raises."""
        try:
            return self._look(self._key(request))
        except Exception:  # noqa: BLE001 - what is wrong comes out when the judge is asked
            return None

    @property
    def _memo(self) -> Memo:
        return Memo(self._shelf, memo_of(self._judge) if self._directory is None else None)

    def close(self) -> None:
        """Close the disk; verdicts are kept in memory from then on.  The judge stays open."""
        self._shelf.close()

    def __enter__(self) -> Self:
        """Return the judge itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the disk."""
        self.close()

    # Looking up, in memory and on disk.

    def _key(self, request: JudgeRequest) -> str:
        """Return a digest of everything that can change the verdict."""
        if self._identity is None:  # which may have to be looked for, and must not change
            self._identity = check_text("identity of the judge", self._judge.identity)
        return key_of(SCHEMA, self._identity, *parts_asked(request))

    def _look(self, key: str) -> Verdict | None:
        verdict = self._recall(key)
        return self._read(key) if verdict is None else verdict

    def _recall(self, key: str) -> Verdict | None:
        return self._hit(self._shelf.recall(key), "hits")

    def _read(self, key: str) -> Verdict | None:
        return self._hit(self._shelf.read(key, _decoded), "hits", "disk_hits")

    def _hit(self, verdict: Verdict | None, *kinds: str) -> Verdict | None:
        for kind in kinds if verdict is not None else ():
            self._count(kind)
        return verdict

    def _count(self, what: str, n: int = 1) -> None:
        with self._lock:
            self._counts[what] += n


def _warn(message: str) -> None:
    _log.info(message)
    warnings.warn(message, CacheWarning, stacklevel=7)


def _decoded(row: dict[str, Any]) -> Verdict:
    return Verdict.from_dict(row["r"])


def _checked_directory(directory: object) -> Path:
    if not isinstance(directory, str | os.PathLike):
        refuse("directory", "a path", directory, TypeError)
    path = check_text("directory", os.fspath(cast("os.PathLike[str]", directory)))
    return Path(path).expanduser().absolute()
