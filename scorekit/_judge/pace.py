"""Which question is asked next, and whose fault a failure is, by the clock of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator
from typing import Any, Final, TypeVar

import attrs

from scorekit._judge.rate import Rate
from scorekit.errors import JudgeError

T = TypeVar("T")

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 8.0
LONGEST_PROBE_SECONDS: Final = 4.0
"""Longest pause between two probes of a service that is away."""

JITTER: Final = 0.25
"""Share by which a pause is shorter, at most: programs must not return together."""

REST_SECONDS: Final = 10.0
"""Time without questions after which a `Pace` forgets how long the service has been away."""

LAST_SECONDS = 1.0
"""The end of a time limit, which a process that stood still is given at least."""

_random = random.Random()  # noqa: S311 - spreads pauses, keeps no secret


def pause(n: int, longest: float = LONGEST_PAUSE_SECONDS) -> float:
    """Return how long to wait after the failure number *n*, from 0."""
    seconds = min(longest, FIRST_PAUSE_SECONDS * 2.0 ** min(n, 10))
    return seconds * (1 - JITTER * _random.random())


@contextlib.asynccontextmanager
async def limited(seconds: float) -> AsyncGenerator[None]:
    """
    Raise TimeoutError after so many seconds.

    Where the process stood still meanwhile, what has arrived is read first.
    """
    loop = asyncio.get_running_loop()
    last = min(LAST_SECONDS, seconds / 2)
    async with asyncio.timeout(None) as scope:
        nearly = loop.call_later(seconds - last, lambda: scope.reschedule(loop.time() + last))
        try:
            yield
        finally:
            nearly.cancel()


class Passing(Exception):  # noqa: N818 - never leaves this package
    """A failure that may be over when asked again."""

    is_passing = True
    is_busy = False
    """Whether the service refuses for its load, not for a fault."""
    wait: float | None = None
    """Seconds that the service asks to wait."""
    was_sent = True
    """Whether the service may have seen the request."""
    cost_usd: float | None = None
    """What the call cost; None if that is not known."""
    was_taken = True
    """Whether the service has, or may have, taken the request."""

    def __init__(self, failure: JudgeError | TimeoutError, cause: BaseException | None) -> None:
        super().__init__(failure)
        self.failure = failure
        self.cause = cause

    def because(self, why: str = "") -> JudgeError | TimeoutError:
        """Return the error to raise when the question is given up."""
        error = self.failure
        if why and isinstance(error, JudgeError):
            kind = "rate limit" if self.is_busy else error.kind
            error = JudgeError(kind, f"{error.message} ({why})")
        error.__cause__ = self.cause
        return error


@attrs.define(eq=False)
class Question:
    """What is asked, in one request or several."""

    limit_seconds: float
    """How long it may take where nobody else asks."""
    max_retries: float
    """Infinite for a call that is about no pair, which never checks the service."""
    asked_at: float
    turn: asyncio.Future[None]
    """What it waits for."""
    is_alone: bool = False
    """Whether no other question has been there since it was asked."""
    sent_at: float = -math.inf
    ready_at: float = -math.inf
    """The end of its pause."""
    failed_at: float = math.inf
    """When it failed, while it is open whose fault that was; else infinite."""
    n_charged: int = 0
    """Failures of its own: others were answered."""
    crowd: Collection[Question] = ()
    """The questions that failed with it, with no answer between."""
    is_check: bool = False
    """Whether its turn is for a question that was answered before, in place of its own."""
    is_sent: bool = False
    """Whether a request of its turn is on its way."""
    is_model: bool = False
    """Whether checks may ask what it asked: it was answered with a verdict."""
    last: Passing | None = None
    """Why it was not answered."""


class Pace:
    """
    Gives turns to questions, and decides what a failure means.

    - No more are under way than *max_concurrency*, no faster than the `Rate`.
    - A question that is refused for load keeps its turn.
    - A question that fails pauses, and waits until another one that was sent later is answered:
      that charges the failure to it. More than *max_retries* charges are the end. If more than a
      quarter of *max_concurrency* questions failed between two that were answered, by the times
      when they were sent or when they ended, it was the service: they are forgiven.
    - Where nothing is answered for twice *max_concurrency* questions in a row, the service is
      away: all are forgiven, and one question at a time is sent as a probe.  A probe that takes
      longer than those that failed lets another one go, and its answer ends the absence.
    - Where all that are left have failed, a question that was answered before is asked again, as
      a check: its answer charges the failures, its failure shows that the service is away.  What
      fails meanwhile decides nothing.
    - A question that nobody else was there with is charged with each failure.

    Args:
        max_concurrency: Questions under way at once.
        per_minute: Most requests a minute, evenly spaced.
        max_wait_seconds: How long nothing may be answered.
        timeout_seconds: The same where nothing ever has been, and no connection can be made.
        on_change: Called when the service is away (with the reason), and when it is back (None).
    """

    def __init__(
        self,
        *,
        max_concurrency: int,
        per_minute: float | None,
        max_wait_seconds: float,
        timeout_seconds: float,
        on_change: Callable[[Passing | None], object] = lambda _: None,
    ) -> None:
        self.rate = Rate(per_minute)
        self._n_at_once = max_concurrency
        self._max_wait = max_wait_seconds
        self._timeout = timeout_seconds
        self._on_change = on_change
        self._fresh: OrderedDict[Question, None] = OrderedDict()
        """Who waits for the first turn, or for another after a busy answer, in order."""
        self._again: dict[Question, None] = {}
        """Who has failed, and waits."""
        self.under_way: dict[Question, None] = {}
        self._crowd: set[Question] = set()
        """Who has failed since the last answer."""
        self._was_again = self._can_check = self._is_away = False
        self._shut_at = math.inf
        """Since when one is sent at a time."""
        self._n_probes = 0
        self._probe_at = 0.0
        self._patience = math.inf
        self._heard_at = self._good_at = self._began_at = self._left_at = -math.inf
        self._last: Passing | None = None
        self._timer: asyncio.Handle | None = None

    def __len__(self) -> int:
        """Return the number of questions that have no answer yet."""
        return len(self._fresh) + len(self._again) + len(self.under_way)

    @staticmethod
    def now() -> float:
        """Return the time by which turns are given."""
        return asyncio.get_running_loop().time()

    # What a question does.

    @contextlib.asynccontextmanager
    async def turn(self, limit_seconds: float, max_retries: float) -> AsyncGenerator[Question]:
        """Wait for the first turn of a question; it is forgotten at the end."""
        turn = asyncio.get_running_loop().create_future()
        question = Question(limit_seconds, max_retries, self.now(), turn)
        self._add(question, self.now())
        try:
            await turn
            yield question
        finally:
            self._remove(question)
            self._left_at = self.now()
            self._look_soon()

    async def ask(
        self,
        question: Question,
        send: Callable[[Question], Awaitable[T]],
        *,
        once: bool = False,
    ) -> T:
        """
        Return what *send* brings in the turn that the question has, or in later ones.

        With *once* only what the service has refused for its load is sent again.
        """
        while True:
            question.is_sent = False
            answer: Any = None
            error: Exception | None = None
            try:
                answer = await send(question)
            except Exception as raised:  # noqa: BLE001 - raised again, unless it passes
                error = raised
            passing = error if isinstance(error, Passing) else None
            passes = passing is not None and passing.is_passing
            if passing is not None and passing.is_busy:
                self._note_busy(question, passing, self.now())
            elif passing is not None and passes and not once:
                self._note_failure(question, passing, self.now())
            elif error is not None and (passes or not (question.is_sent or passing)):
                raise error
            else:
                self._note_answer(question, self.now())
                if not question.is_check:
                    if error is not None:
                        raise error
                    return answer  # type: ignore[no-any-return]
            question.turn = asyncio.get_running_loop().create_future()
            self._look_soon()
            await question.turn

    async def ask_once(
        self,
        send: Callable[[Question], Awaitable[T]],
        limit_seconds: float,
        *,
        once: bool = False,
    ) -> T:
        """Return what *send* brings, whose failures are the service's alone."""
        async with self.turn(limit_seconds, math.inf) as question:
            return await self.ask(question, send, once=once)

    def seconds_for(self, question: Question, seconds: float) -> float:
        """Return how much of a time limit is left for a request: alone, waiting counts as well."""
        if not question.is_alone:
            return seconds
        return max(0.0, min(seconds, question.asked_at + question.limit_seconds - self.now()))

    # Turns.

    def _add(self, question: Question, now: float) -> None:
        question.is_alone = not len(self)
        if question.is_alone and now > self._left_at + REST_SECONDS:
            self._began_at = now
            self._probe_at = min(self._probe_at, now)
        if len(self) == 1:
            for other in (*self._fresh, *self._again, *self.under_way):
                other.is_alone = False
        self._fresh[question] = None
        self._look_soon()

    def _remove(self, question: Question) -> None:
        for group in (self._fresh, self._again, self.under_way):
            group.pop(question, None)

    def _look_soon(self) -> None:
        """Look for the next question, once for everything that happens now."""
        if self._timer is None or isinstance(self._timer, asyncio.TimerHandle):
            self._set_timer(asyncio.get_running_loop().call_soon(self._look))

    def _set_timer(self, timer: asyncio.Handle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    def _look(self) -> None:
        """Give the turns that can be given, and the answer to those who wait in vain."""
        now = self.now()
        question, at = self._next(now)
        while question is not None and at <= now:
            self._was_again = question in self._again
            question.is_check = (
                self._shut_at < math.inf and self._was_again and self._checks(question)
            )
            self._remove(question)
            self.under_way[question] = None
            question.sent_at = now
            self.rate.note_sent(now)
            if not question.turn.done():
                question.turn.set_result(None)
            question, at = self._next(now)
        for given_up, error in self._given_up(now):
            if not given_up.turn.done():
                given_up.turn.set_exception(error)
        at = min(at, self._limit()[0])
        is_later = now < at < math.inf
        self._set_timer(asyncio.get_running_loop().call_at(at, self._look) if is_later else None)

    def _next(self, now: float) -> tuple[Question | None, float]:
        """Return the next question, and the time from which it may be asked."""
        if len(self.under_way) >= self._n_at_once or not (self._fresh or self._again):
            return None, math.inf
        if not self._fresh and not self.under_way:
            self._look_at_the_rest(now)
        if self._shut_at < math.inf:
            question = min(
                self._again, key=lambda q: (not self._checks(q), q.sent_at), default=None
            )
            if question is None or self._is_away or not self._checks(question):
                question = next(reversed(self._fresh), question)  # neighbors fail alike
            at = max(self._probe_at, self._outlived_at())
        else:
            known = (q for q in self._again if q.failed_at == math.inf)
            question = min(known, key=lambda q: q.ready_at, default=None)
            at = math.inf if question is None else question.ready_at
            # In turns: what is asked for the first time tells whether others fail by themselves.
            if self._fresh and (self._was_again or at > now):
                question, at = next(iter(self._fresh)), now
        if question is not None and question.is_alone and now >= self._limit()[0]:
            return None, math.inf  # no time is left for an answer
        return question, max(at, self.rate.opens_at())

    def _look_at_the_rest(self, now: float) -> None:
        """Check the service where all that are left have failed."""
        is_open = self._shut_at == math.inf
        if is_open and all(question.failed_at < math.inf for question in self._again):
            self._shut(now)

    def _checks(self, question: Question) -> bool:
        """Return whether another question can be asked in a turn of this one."""
        is_first = self._can_check and not any(other.is_check for other in self.under_way)
        return is_first and question.max_retries < math.inf

    def _outlived_at(self) -> float:
        """Return when the last probe will have taken longer than those that failed."""
        probes = [q.sent_at for q in self.under_way if q.sent_at >= self._shut_at]
        return max(probes) + self._patience if probes else -math.inf

    # What becomes of requests.

    def _note_answer(self, question: Question, now: float) -> None:
        """The service has answered, whatever it said."""
        self.rate.note_answer(question.sent_at, now)
        self._heard_at, self._last = now, None
        self._remove(question)
        if question.is_check:
            self._again[question] = None
        self._decide(question)
        if question.sent_at >= self._shut_at:
            if question.is_check and not self._is_away:  # go on together, to be checked once
                at = min(other.ready_at for other in self._again)
                for other in self._again:
                    other.ready_at = at
            self._shut_at = math.inf
            self._tell(None)
        self._crowd = set()
        self._good_at = max(self._good_at, question.sent_at)
        self._can_check |= question.is_model

    def _decide(self, answered: Question) -> None:
        """Charge or forgive the failures before a question was sent that has been answered."""
        failed = [q for q in self._again if q.failed_at <= answered.sent_at]
        are_few = self._are_few(q for q in failed if q.sent_at > self._good_at)
        for question in failed:
            is_checked = answered.is_check and question.crowd is self._crowd
            question.n_charged += is_checked or (are_few and self._are_few(question.crowd))
        for question in failed:
            question.failed_at = math.inf

    def _are_few(self, questions: Iterable[Question]) -> bool:
        """Return whether so few failed that each may have failed by itself."""
        return sum(not q.n_charged for q in questions) <= max(1, self._n_at_once // 4)

    def _note_busy(self, question: Question, failure: Passing, now: float) -> None:
        """The service has refused for its load: the question is the next to be asked."""
        self._last = question.last = failure
        self.rate.note_busy(question.sent_at, failure.wait, now)
        if self._shut_at < math.inf:
            self._probe_later(now)
        self.under_way.pop(question)
        if question.is_check:
            self._again[question] = None
        else:
            self._fresh[question] = None
            self._fresh.move_to_end(question, last=False)

    def _note_failure(self, question: Question, failure: Passing, now: float) -> None:
        """The service, or the way to it, has failed."""
        self._last = failure
        self.under_way.pop(question)
        self._again[question] = None
        if not question.is_check:
            question.last = failure
            question.ready_at = now + pause(question.n_charged)
        if question.is_alone:
            question.n_charged += 1
        elif self._shut_at == math.inf or any(other.is_check for other in self.under_way):
            question.failed_at, question.crowd = now, self._crowd
            self._crowd.add(question)
            n_new = sum(not q.n_charged for q in self._crowd)
            if self._shut_at == math.inf and n_new >= 2 * self._n_at_once:
                self._shut(now)
        elif question.sent_at >= self._shut_at:
            seconds = 2 * (now - question.sent_at)
            is_first = self._patience == math.inf
            self._patience = seconds if is_first else max(seconds, self._patience)
            self._lose(now)

    def _shut(self, now: float) -> None:
        self._shut_at = self._probe_at = now
        self._n_probes, self._patience = 0, math.inf
        if not self._can_check:
            self._lose(now)

    def _lose(self, now: float) -> None:
        """The service is away, and no failure is anybody's own."""
        for question in self._again:
            question.failed_at = math.inf
        self._probe_later(now)
        self._tell(self._last)

    def _tell(self, away: Passing | None) -> None:
        if self._is_away != (away is not None):
            self._is_away = not self._is_away
            self._on_change(away)

    def _probe_later(self, now: float) -> None:
        if now >= self._probe_at:
            self._probe_at = now + pause(self._n_probes, LONGEST_PROBE_SECONDS)
            self._n_probes += 1

    # The end.

    def _given_up(self, now: float) -> Iterator[tuple[Question, JudgeError | TimeoutError]]:
        """Yield each question that is given up, and why."""
        at, why = self._limit()
        for question in [*self._again, *self._fresh]:
            last = question.last or self._last
            if last is not None and now >= at:
                yield question, last.because(why)
            elif last is not None and question.n_charged > question.max_retries:
                yield question, last.because()

    def _limit(self) -> tuple[float, str]:
        """Return when the wait of all questions ends, and by which limit; at most one is alone."""
        seconds, name = self._max_wait, "max_wait_seconds"
        since, short = max(self._heard_at, self._began_at), math.inf
        waiting = next(iter(self._again or self._fresh), None)
        if waiting is None or self._last is None:
            return math.inf, ""
        if waiting.is_alone:
            since, short = waiting.asked_at, waiting.limit_seconds
        elif self._heard_at == -math.inf and not self._last.was_sent:
            short = self._timeout
        if short < seconds:
            seconds, name = short, "timeout_seconds"
        return since + seconds, f"no answer within {name}={seconds:g}"
