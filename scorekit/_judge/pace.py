"""Which question is asked next, and whose fault a failure is, by the clock of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterable, Iterator
from enum import Enum
from typing import Any, Final, TypeVar

from scorekit._judge.line import Line, Passing, Question
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


class State(Enum):
    """Whom the door lets through."""

    OPEN = "as many as there may be"
    CHECKED = "one at a time: all that are left have failed, and a check shows whose fault that is"
    AWAY = "one probe at a time: the service answers nobody"


class Door:
    """
    What questions go through, one at a time where nobody is answered.

    Args:
        on_change: Hears when the service is away (with the reason), and when it is back (None).
    """

    def __init__(self, on_change: Callable[[Passing | None], object]) -> None:
        self._on_change = on_change
        self.state = State.OPEN
        self.shut_at = math.inf
        """Since when one is sent at a time; infinite where the door is open."""
        self._n_probes = 0
        self._probe_at = 0.0
        self._patience = math.inf
        """How long a probe may take until another one goes, as those take that fail."""

    @property
    def is_open(self) -> bool:
        """Whether more than one may go."""
        return self.state is State.OPEN

    @property
    def is_away(self) -> bool:
        """Whether the service answers nobody."""
        return self.state is State.AWAY

    def shut(self, now: float) -> None:
        """Let one go at a time, from now on."""
        self.state = State.CHECKED
        self.shut_at = self._probe_at = now
        self._n_probes, self._patience = 0, math.inf

    def lose(self, now: float, why: Passing | None) -> None:
        """Take the service for away."""
        self.probe_later(now)
        if not self.is_away:
            self.state = State.AWAY
            self._on_change(why)

    def open(self) -> None:
        """Let all go: one that was sent since the door is shut has been answered."""
        was_away, self.state = self.is_away, State.OPEN
        self.shut_at = math.inf
        if was_away:
            self._on_change(None)

    def probe_now(self, now: float) -> None:
        """Let nobody wait who asks after a rest."""
        self._probe_at = min(self._probe_at, now)

    def probe_later(self, now: float) -> None:
        """Wait longer before each probe."""
        if not self.is_open and now >= self._probe_at:
            self._probe_at = now + pause(self._n_probes, LONGEST_PROBE_SECONDS)
            self._n_probes += 1

    def note_probe(self, sent_at: float, now: float) -> None:
        """Learn how long a probe takes that fails."""
        seconds = 2 * (now - sent_at)
        is_first = self._patience == math.inf
        self._patience = seconds if is_first else max(seconds, self._patience)

    def opens_at(self, under_way: Iterable[Question]) -> float:
        """Return when the next one may go: the last has failed, or takes longer than those did."""
        probes = [question.sent_at for question in under_way if question.sent_at >= self.shut_at]
        return max(self._probe_at, max(probes) + self._patience if probes else -math.inf)


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
        self._door = Door(on_change)
        self._line = Line()
        self._crowd: set[Question] = set()
        """Who has failed since the last answer."""
        self._can_check = False
        """Whether a question was answered that a check may ask."""
        self._heard_at = self._good_at = self._began_at = self._left_at = -math.inf
        self._last: Passing | None = None
        self._timer: asyncio.Handle | None = None

    def __len__(self) -> int:
        """Return the number of questions that have no answer yet."""
        return len(self._line)

    @property
    def under_way(self) -> Collection[Question]:
        """Return the questions that have their turn."""
        return self._line.under_way

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
            self._line.leave(question)
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
        self._line.enter(question)
        if question.is_alone and now > self._left_at + REST_SECONDS:
            self._began_at = now
            self._door.probe_now(now)
        self._look_soon()

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
            is_checked = not self._door.is_open and question in self._line.again
            question.is_check = is_checked and self._checks(question)
            self._line.start(question)
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
        line = self._line
        if len(line.under_way) >= self._n_at_once or not (line.fresh or line.again):
            return None, math.inf
        if self._door.is_open and line.is_stuck:
            self._shut(now)
        is_open = self._door.is_open
        question, at = self._in_turns(now) if is_open else self._through_the_door()
        if question is not None and question.is_alone and now >= self._limit()[0]:
            return None, math.inf  # no time is left for an answer
        return question, max(at, self.rate.opens_at())

    def _in_turns(self, now: float) -> tuple[Question | None, float]:
        """Return the next of all, and when its pause ends."""
        line = self._line
        question = min(line.decided(), key=lambda q: q.ready_at, default=None)
        at = math.inf if question is None else question.ready_at
        # In turns: what is asked for the first time tells whether others fail by themselves.
        if line.fresh and (line.was_again or at > now):
            return next(iter(line.fresh)), now
        return question, at

    def _through_the_door(self) -> tuple[Question | None, float]:
        """Return the next check or probe, and when it may go."""
        line = self._line
        question = min(line.again, key=lambda q: (not self._checks(q), q.sent_at), default=None)
        if question is None or self._door.is_away or not self._checks(question):
            question = next(reversed(line.fresh), question)  # neighbors fail alike
        return question, self._door.opens_at(line.under_way)

    def _checks(self, question: Question) -> bool:
        """Return whether another question can be asked in a turn of this one."""
        can_check = self._can_check and not self._line.has_check
        return can_check and question.max_retries < math.inf

    # What becomes of requests.

    def _note_answer(self, question: Question, now: float) -> None:
        """The service has answered, whatever it said."""
        self.rate.note_answer(question.sent_at, now)
        self._heard_at, self._last = now, None
        self._line.leave(question)
        if question.is_check:
            self._line.put_again(question)
        self._decide(question)
        if question.sent_at >= self._door.shut_at:
            if question.is_check and not self._door.is_away:  # go on together, to be checked once
                at = min(other.ready_at for other in self._line.again)
                for other in self._line.again:
                    other.ready_at = at
            self._door.open()
        self._crowd = set()
        self._good_at = max(self._good_at, question.sent_at)
        self._can_check |= question.is_model

    def _decide(self, answered: Question) -> None:
        """Charge or forgive the failures before a question was sent that has been answered."""
        failed = [q for q in self._line.again if q.failed_at <= answered.sent_at]
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
        self._door.probe_later(now)
        self._line.put_first(question)

    def _note_failure(self, question: Question, failure: Passing, now: float) -> None:
        """The service, or the way to it, has failed."""
        self._last = failure
        line, door = self._line, self._door
        line.put_again(question)
        if not question.is_check:
            question.last = failure
            question.ready_at = now + pause(question.n_charged)
        if question.is_alone:
            question.n_charged += 1
        elif door.is_open or line.has_check:
            question.failed_at, question.crowd = now, self._crowd
            self._crowd.add(question)
            n_new = sum(not q.n_charged for q in self._crowd)
            if door.is_open and n_new >= 2 * self._n_at_once:
                self._shut(now)
        elif question.sent_at >= door.shut_at:
            door.note_probe(question.sent_at, now)
            self._lose(now)

    def _shut(self, now: float) -> None:
        """Let one go at a time; where there is nothing to check by, the service is away."""
        self._door.shut(now)
        if not self._can_check:
            self._lose(now)

    def _lose(self, now: float) -> None:
        """The service is away, and no failure is anybody's own."""
        self._line.forgive()
        self._door.lose(now, self._last)

    # The end.

    def _given_up(self, now: float) -> Iterator[tuple[Question, JudgeError | TimeoutError]]:
        """Yield each question that is given up, and why."""
        at, why = self._limit()
        for question in [*self._line.again, *self._line.fresh]:
            last = question.last or self._last
            if last is not None and now >= at:
                yield question, last.because(why)
            elif last is not None and question.n_charged > question.max_retries:
                yield question, last.because()

    def _limit(self) -> tuple[float, str]:
        """Return when the wait of all questions ends, and by which limit; at most one is alone."""
        seconds, name = self._max_wait, "max_wait_seconds"
        since, short = max(self._heard_at, self._began_at), math.inf
        waiting = next(iter(self._line.again or self._line.fresh), None)
        if waiting is None or self._last is None:
            return math.inf, ""
        if waiting.is_alone:
            since, short = waiting.asked_at, waiting.limit_seconds
        elif self._heard_at == -math.inf and not self._last.was_sent:
            short = self._timeout
        if short < seconds:
            seconds, name = short, "timeout_seconds"
        return since + seconds, f"no answer within {name}={seconds:g}"
