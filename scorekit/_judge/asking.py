"""Asking a judge: turns, time limits, retries, budget and breaker around one call."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar, cast

import attrs

from scorekit._core.checks import check_count, check_number
from scorekit._judge.ledger import Ledger
from scorekit._judge.limits import Breaker, Budget
from scorekit._judge.line import Passing, Question
from scorekit._judge.pace import Pace, limited
from scorekit._judge.prompt import most_tokens
from scorekit._judge.waiting import Caller, check_timeout
from scorekit.errors import JudgeError

T = TypeVar("T")

TIMEOUT_MESSAGE: Final = "LLM judge timeout"

MAX_WAIT_SECONDS: Final = 600.0
"""How long nobody may get an answer, unless the caller says otherwise."""

SERVER_ERROR: Final = 500
_PASSING: Final = {408, 409}
_BUSY: Final = {429, 529}
_UNAVAILABLE: Final = 503


def checked(check: Callable[..., Any], name: str, *more: Any, **options: Any) -> Any:
    """Return a field that is checked when it is given; None stands for no bound, or no choice."""
    is_optional = options.pop("optional", False)

    def converted(value: object) -> Any:
        return None if value is None and is_optional else check(name, value, *more, **options)

    field: Callable[..., Any] = attrs.field
    return field(converter=converted)


def _check_seconds(_: str, seconds: object) -> float:
    return check_timeout(seconds)


def _check_calls(name: str, value: object) -> int:
    """Return how many of so many calls at once leave files for everything else."""
    n_calls = check_count(name, value, 1)
    if sys.platform == "win32":
        return n_calls
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = most == resource.RLIM_INFINITY
    return n_calls if is_enough else max(1, min(n_calls, most // 2))


@attrs.frozen(kw_only=True)
class Limits:
    """How fast, how long, how often and for how much a judge may be asked."""

    timeout_seconds: float = checked(_check_seconds, "timeout_seconds")
    max_concurrency: int = checked(_check_calls, "max_concurrency")
    max_retries: int = checked(check_count, "max_retries")
    max_calls: int | None = checked(check_count, "max_calls", optional=True)
    max_cost_usd: float | None = checked(check_number, "max_cost_usd", 0.0, optional=True)
    requests_per_minute: float | None = checked(
        check_number, "requests_per_minute", 0.0, open_ends=True, optional=True
    )
    max_wait_seconds: float = checked(check_number, "max_wait_seconds", 0.0)


class Refusal(Passing):
    """What a service, or something before it, answered in place of a verdict."""

    def __init__(
        self, failure: JudgeError, status: int, *, wait: float | None, asks_to_wait: bool
    ) -> None:
        super().__init__(failure, sys.exception())
        self.failure: JudgeError
        self.wait = wait
        self.status = status
        self.is_busy = status in _BUSY or (status == _UNAVAILABLE and asks_to_wait)
        self.is_passing = status >= SERVER_ERROR or status in _PASSING or self.is_busy
        self.is_own = True
        """Whether the service gave the type of the error, and not a firewall in between."""
        self.cost_usd = 0.0
        self.was_taken = not self.is_passing


@attrs.frozen
class Reply(Generic[T]):
    """What one call has brought, read, and what it cost."""

    value: T
    cost_usd: float | None
    usage: Mapping[str, int] | None


def known_cost(cost: object, usage: object) -> tuple[float | None, Mapping[str, int] | None]:
    """Return what a stranger says about the cost of a call, as far as it is a number."""
    known = isinstance(cost, int | float) and not isinstance(cost, bool)
    found = cast("Mapping[str, int] | None", usage if isinstance(usage, Mapping) else None)
    return (cast("float", cost) if known else None), found


class Asking:
    """
    The questions of one judge in one process; everything happens in one event loop.

    Args:
        limits: How fast, how long, how often and for how much.
        most_of: Returns the highest cost of a call with at most so many tokens.
        on_change: Hears when nothing is answered any more (why), and when it is again (None).
        time_outs_pass: Whether a call that takes too long is made again.
    """

    def __init__(
        self,
        limits: Limits,
        most_of: Callable[[int], float],
        on_change: Callable[[Passing | None], object] = lambda _: None,
        *,
        time_outs_pass: bool = True,
    ) -> None:
        self.limits = limits
        self._most_of = most_of
        self.time_outs_pass = time_outs_pass
        self.breaker = Breaker(limits.max_concurrency)
        self.budget = Budget(limits.max_calls, limits.max_cost_usd)
        self.pace = Pace(
            max_concurrency=limits.max_concurrency,
            per_minute=limits.requests_per_minute,
            max_wait_seconds=limits.max_wait_seconds,
            timeout_seconds=limits.timeout_seconds,
            on_change=on_change,
        )
        self._n_under_way = 0
        self._has_ended = asyncio.Event()
        self.answered: tuple[Any, float] = None, 0.0
        """What a check asks, and what it costs at most."""

    def most(self, texts: Iterable[str]) -> float:
        """Return the highest cost of a call with these texts, 0.0 where money has no bound."""
        if self.limits.max_cost_usd is None:
            return 0.0
        return self._most_of(most_tokens(*texts))

    @contextlib.asynccontextmanager
    async def turn(
        self, pair: str, most: float, who: Caller | None, whole: Ledger | None = None
    ) -> AsyncGenerator[Turn]:
        """
        Wait for the turn of a pair.

        Args:
            pair: Tells pairs apart.
            most: The highest cost of a call.
            who: Waits for the answer, within a time limit as well.
            whole: Where the cost is written down as well.
        """
        self._check(most)
        seconds = self.limits.timeout_seconds
        seconds = seconds if who is None else min(who.timeout_seconds, seconds)
        async with self.pace.turn(seconds, self.limits.max_retries) as question:
            self._check(most)  # of a thousand prompts, only the next ones are written
            paid = Ledger(self.budget, whole)
            yield Turn(self, question, paid, pair=pair, most=most, seconds=seconds, who=who)

    def _check(self, most: float) -> None:
        self.breaker.check()
        self.budget.check(most)

    async def room(self, most: float) -> None:
        """Wait until it is known whether a call of at most this cost may be made."""
        while not (self.budget.has_room(most) and self.breaker.has_room(self._n_under_way)):
            self._check(most)
            await self._has_ended.wait()
        self.breaker.check()

    @contextlib.contextmanager
    def call(self) -> Generator[None]:
        """Count a call; its end wakes those who wait for room."""
        self._n_under_way += 1
        try:
            yield
        finally:
            self._n_under_way -= 1
            self._has_ended.set()
            self._has_ended = asyncio.Event()


class Turn:
    """The turn of one pair, whose calls are counted together."""

    def __init__(
        self,
        asking: Asking,
        question: Question,
        paid: Ledger,
        *,
        pair: str,
        most: float,
        seconds: float,
        who: Caller | None,
    ) -> None:
        self._asking = asking
        self._question = question
        self._pair = pair
        self._most = most
        self._seconds = seconds
        self._who = who
        self._paid = paid

    async def ask(self, subject: Any, send: Callable[[Any], Awaitable[Reply[T]]]) -> T:
        """
        Return what *send* makes of *subject*, or of what was answered before in a check.

        It raises `Passing` for what may be over later, and any other error for an answer that
        cannot be read.
        """
        asking = self._asking

        async def call(question: Question) -> T:
            if self._who is not None and self._who.has_left:
                raise asyncio.CancelledError
            what = asking.answered if question.is_check else (subject, self._most)
            await asking.room(what[1])
            with asking.call():
                reply = await self._call(question, *what, send)
            asking.answered, question.is_model = what, True
            return reply.value

        try:
            return await asking.pace.ask(self._question, call)
        except JudgeError as error:
            if error.cost_usd is None:
                error.cost_usd = self._paid.cost_usd
            raise

    async def _call(
        self,
        question: Question,
        subject: Any,
        most: float,
        send: Callable[[Any], Awaitable[Reply[T]]],
    ) -> Reply[T]:
        asking = self._asking
        self._paid.begin(most)
        question.is_sent = True
        cost: float | None = None  # unknown
        usage: Mapping[str, int] | None = None
        was_taken = True
        left = asking.pace.seconds_for(question, self._seconds)
        try:
            async with limited(left):
                reply = await send(subject)
            cost, usage = reply.cost_usd, reply.usage
        except TimeoutError as error:
            failure = TimeoutError(f"{TIMEOUT_MESSAGE}: no verdict within {self._seconds:g} s")
            raise Passing(failure, error) if asking.time_outs_pass else failure from None
        except Passing as passing:
            cost, was_taken = passing.cost_usd, passing.was_taken
            if passing.is_passing or not isinstance(passing, Refusal):
                raise
            refused = passing.failure
            asking.breaker.note_refusal(refused, passing.status, self._pair, is_own=passing.is_own)
            raise refused from passing.cause
        except Exception as error:
            if isinstance(error, JudgeError):
                unread, cost, usage = error, error.cost_usd, error.usage
            else:
                unread = JudgeError("judge_failure", f"{type(error).__name__}: {error}")
            asking.breaker.note_answer(self._pair, unread)
            raise
        finally:
            cost, usage = known_cost(cost, usage)
            self._paid.end(cost, usage, was_taken=was_taken, most=most)
        asking.breaker.note_answer(self._pair)
        return reply
