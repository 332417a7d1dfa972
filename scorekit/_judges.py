"""What a judge is, what it is asked and answers, and how to make one: `judge_from_function`."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import math
import threading
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import attrs

from scorekit._checks import check_callable, check_number, check_text, store
from scorekit._records import FrozenMapping, Record, is_mapping
from scorekit.errors import JudgeError, refuse, shown

T = TypeVar("T")

SCORES = (1.0, 0.5, 0.0)
"""What a judge may say: equivalent, partial, incorrect."""


@attrs.frozen(kw_only=True)
class JudgeRequest(Record):
    """What a judge is shown of one pair of queries; all of it is untrusted text."""

    generated: str
    expected: str
    question: str | None = None
    """What the query should answer, in the user's words."""
    schema: str | None = None
    dialect: str | None = None
    counterexample: str | None = None
    """A small database on which the two queries give different results, as text."""
    trial: int = 0
    """Which of several independent asks this is; a cache keeps them apart."""


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
    """Whether it was given earlier and kept."""
    votes: tuple[float, ...] = ()
    """The single scores, where several asks were put to the vote."""
    instructions_found: bool = False
    """Whether the SQL, schema or question carries text that looks like instructions to a judge."""

    def __attrs_post_init__(self) -> None:
        """Refuse scores between the three; store numbers as builtins."""
        store(self, "score", check_number("score", self.score))
        if self.score not in SCORES:
            refuse("score", "1.0, 0.5 or 0.0", self.score)
        if self.cost_usd is not None:
            store(self, "cost_usd", check_number("cost_usd", self.cost_usd, 0.0))
        check_text("reasoning", self.reasoning, empty=True)


@runtime_checkable
class Judge(Protocol):
    """
    Anything that can say whether two queries mean the same.

    A judge that cannot answer raises; `JudgeError` says what kind of failure it was.
    """

    @property
    def identity(self) -> str:
        """Everything about the judge that can change a verdict, as text."""
        ...

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair."""
        ...

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair, without blocking the event loop."""
        ...


def check_judge(judge: object) -> Judge:
    """Return *judge* if it is one; `isinstance` would take the protocol apart at each question."""
    parts = ("identity", "judge", "ajudge")
    if isinstance(judge, type) or not all(hasattr(judge, part) for part in parts):
        refuse("judge", "a Judge (see judge_from_function)", judge, TypeError)
    return cast("Judge", judge)


def optional_judge(judge: object) -> Judge | None:
    """Return *judge* if it is one, or None."""
    return None if judge is None else check_judge(judge)


class Caller:
    """Who waits for a judge: for how long, and whether still."""

    def __init__(self, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        self.has_left = False
        """Whether nobody would read the answer: what has not been asked need not be."""


caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Whom the running code works for."""

blocked_loops: ContextVar[tuple[asyncio.AbstractEventLoop, ...]] = ContextVar(
    "blocked_loops", default=()
)
"""Event loops that stand still until the running code is done."""


def keeps_limit(judge: object) -> bool:
    """
    Return whether *judge* keeps the limit of its `Caller` by itself.

    One with a queue of its own does: only it knows when a question's turn has come, and waiting
    for that is no fault.
    """
    return getattr(judge, "keeps_limit", False) is True


def blocking(function: Callable[[], T]) -> Callable[[], T]:
    """Return *function* knowing of the event loop, if any, whose thread will wait for it."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return function

    def run() -> T:
        token = blocked_loops.set((*blocked_loops.get(), loop))
        try:
            return function()
        finally:
            blocked_loops.reset(token)

    return run


JudgeFunction = Callable[[JudgeRequest], Any]


@attrs.frozen
class _FunctionJudge:
    """A judge made of one callable, plain or async."""

    function: JudgeFunction
    identity: str

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Call the function; an async one runs in an event loop of its own."""
        answer = self.function(request)
        return as_verdict(asyncio.run(_wait(answer)) if inspect.isawaitable(answer) else answer)

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Await an async function; a plain one runs in a thread."""
        if inspect.iscoroutinefunction(self.function):
            return as_verdict(await self.function(request))
        return await asyncio.wrap_future(in_thread(lambda: self.judge(request)))


async def _wait(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def as_verdict(answer: object) -> Verdict:
    """Return a judge's answer as a verdict, which may be only its score."""
    if isinstance(answer, Verdict):
        return answer
    if isinstance(answer, bool | int | float) and answer in SCORES:
        return Verdict(score=float(answer))
    wanted = "a judge must return a Verdict or a score of 1.0, 0.5 or 0.0"
    raise JudgeError("invalid_response", f"{wanted}, got {shown(answer)}")


def judge_from_function(function: JudgeFunction, *, identity: str) -> Judge:
    """
    Make a judge of a callable that takes a `JudgeRequest`.

    Args:
        function: Returns a `Verdict`, or just a score of 1.0, 0.5 or 0.0; it may be ``async``.
        identity: Everything about it that can change a verdict: a cache tells judges apart by it.

    Returns:
        A `Judge`.

    Raises:
        InputError: If *identity* is empty.
        TypeError: If *function* is not callable or *identity* not a string.

    Examples:
        >>> judge = judge_from_function(lambda pair: "users" in pair.generated, identity="naive")
        >>> judge.judge(JudgeRequest(generated="SELECT 1 FROM users", expected="SELECT 1")).score
        1.0
        >>> judge_from_function("users", identity="naive")
        Traceback (most recent call last):
        ...
        TypeError: function must be a callable, got 'users'

    .. versionadded:: 0.1.0
    """
    check_callable("function", function)
    return _FunctionJudge(function, check_text("identity", identity))


def check_timeout(timeout_seconds: object) -> float:
    """Return a time limit in seconds, or refuse it."""
    seconds = check_number("timeout_seconds", timeout_seconds, 0.0, open_ends=True)
    return min(seconds, threading.TIMEOUT_MAX)  # more than which no lock can wait


def in_thread(function: Callable[[], Any]) -> Future[Any]:
    """
    Run *function* in a thread that nobody has to wait for.

    Not a pool: one hanging judge would keep a worker, and the interpreter from leaving.
    """
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # a waiter that gives up must not cancel it
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result = context.run(function)
        except StopIteration as error:  # which no future of an event loop can carry
            future.set_exception(RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is taken
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="scorekit-judge", daemon=True).start()
    return future


def total_usage(usages: Iterable[object]) -> FrozenMapping[str, int] | None:
    """Add tokens up by kind; None where none is told, and nothing where it is no count."""
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
