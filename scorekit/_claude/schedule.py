"""Which question is asked next, and whose fault a failure is: no loop, no clock of its own."""

from __future__ import annotations

import itertools
import math
import random
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from scorekit._claude.rate import Rate
from scorekit.errors import JudgeError

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 8.0
LONGEST_PROBE_SECONDS: Final = 4.0
"""Longest pause between two questions that find out whether the service is back."""

JITTER: Final = 0.25
"""Share by which a pause is shorter, at most: programs must not return together."""

REST_SECONDS: Final = 10.0
"""Time without questions after which it counts anew how long the service has been away."""

_random = random.Random()  # noqa: S311 - spreads pauses, keeps no secret


def pause(n: int, longest: float = LONGEST_PAUSE_SECONDS) -> float:
    """Return how long to wait after the failure number *n* in a row, from 0."""
    seconds = min(longest, FIRST_PAUSE_SECONDS * 2.0 ** min(n, 10))
    return seconds * (1 - JITTER * _random.random())


class Passing(Exception):  # noqa: N818 - never leaves this package
    """A failure that may be over when asked again."""

    is_passing = True
    is_busy = False
    """Whether the service refuses for its load, not for a fault."""
    wait: float | None = None
    """Seconds that the service asks to wait."""
    was_sent = True
    """Whether the service may have seen the request, and charge for it."""

    def __init__(self, failure: JudgeError | TimeoutError, cause: BaseException | None) -> None:
        super().__init__(failure)
        self.failure = failure
        self.cause = cause

    def because(self, why: str = "") -> JudgeError | TimeoutError:
        """Return what to raise where no more is tried."""
        error = self.failure
        if why and isinstance(error, JudgeError):
            kind = "rate limit" if self.is_busy else error.kind
            error = JudgeError(kind, f"{error.message} ({why})")
        error.__cause__ = self.cause
        return error


@attrs.define(eq=False)
class Question:
    """What is asked, as often as it takes."""

    limit_seconds: float
    """How long it may take where nobody else asks."""
    max_retries: float
    asked_at: float
    sent_at: float = -math.inf
    ready_at: float = -math.inf
    """The end of its pause."""
    failed_at: float = math.inf
    """When it was sent that it failed for the first time."""
    n_failed: int = 0
    n_charged: int = 0
    """Failures of its own: others were answered."""
    is_sent: bool = False
    """Whether a request of its turn is on its way."""
    last: Passing | None = None
    """Why it was not answered."""


@attrs.frozen(eq=False)
class _Failure:
    """One that has been neither charged nor forgiven."""

    question: Question
    sent_at: float
    at: float


class Schedule:
    """
    Gives turns to questions, and takes note of what becomes of them.

    - No more are under way than *max_concurrency*, no faster than the `Rate`.
    - A question that is refused for load keeps its turn.
    - A question that fails pauses by itself.  Once another that was sent later is answered, the
      failure is charged to it; more than *max_retries* charges are the end.  Where more than a
      quarter of *max_concurrency* questions failed between two that were answered, the service was
      away, and all of them are forgiven.
    - Where nothing is answered for twice *max_concurrency* questions in a row, or nobody is left
      who has not failed, one question at a time finds out whether the service is back.
    - Where nobody could tell, because one question is asked alone or only few of a run are left,
      each failure is charged.

    Args:
        max_concurrency: Questions under way at once.
        per_minute: Most requests a minute, evenly spaced.
        max_wait_seconds: How long nothing may be answered.
        timeout_seconds: The same where nothing ever has been, and no connection can be made.
        on_change: Hears that the service is away (why), or back (None).
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
        self._n_few = max(1, max_concurrency // 4)
        self._max_wait = max_wait_seconds
        self._timeout = timeout_seconds
        self._on_change = on_change
        self._fresh: OrderedDict[Question, None] = OrderedDict()
        """Who waits for the first turn, or for another after a busy answer, in order."""
        self._again: dict[Question, None] = {}
        """Who has failed, and waits."""
        self.under_way: dict[Question, None] = {}
        self._failures: list[_Failure] = []
        self._n_probes = 0
        self._was_again = False
        self._shut_at: float | None = None
        self._probe_at = 0.0
        self._heard_at = self._good_at = self._began_at = self._left_at = (
            self._alone_at
        ) = -math.inf
        self._last: Passing | None = None

    def __len__(self) -> int:
        """Return the number of questions that have no answer yet."""
        return len(self._fresh) + len(self._again) + len(self.under_way)

    @property
    def is_away(self) -> bool:
        """Whether the service is taken to be away."""
        return self._shut_at is not None

    # Turns.

    def seconds_for(self, question: Question, seconds: float, now: float) -> float:
        """Return how much of a time limit is left for a request: alone, waiting counts as well."""
        if len(self) > 1:
            return seconds
        spent = now - max(self._alone_at, question.asked_at)
        return max(0.0, min(seconds, question.limit_seconds - spent))

    def add(self, question: Question, now: float) -> None:
        """Let a question wait for its turn."""
        if not len(self):
            self._alone_at = now
            if now > self._left_at + REST_SECONDS:
                self._began_at = now
                self._probe_at = min(self._probe_at, now)
        self._fresh[question] = None

    def next(self, now: float) -> Question | None:
        """Return who has the turn, and count it as sent; None if nobody may ask now."""
        question = self._candidate(now)
        if (
            question is None
            or len(self.under_way) >= self._n_at_once
            or now < self.rate.opens_at()
        ):
            return None
        self._was_again = question in self._again
        self._fresh.pop(question, None)
        self._again.pop(question, None)
        self.under_way[question] = None
        self.note_sent(question, now)
        return question

    def note_sent(self, question: Question, now: float) -> None:
        """Take a turn as the beginning of a request."""
        question.sent_at = now
        self.rate.note_sent(now)

    def _candidate(self, now: float) -> Question | None:
        if self._shut_at is not None:
            if self._is_probing() or now < self._probe_at:
                return None
            waiting = min(self._again, key=lambda q: q.n_failed, default=None)
            return next(iter(self._fresh), waiting)
        ready = (q for q in self._again if q.ready_at <= now and not self._is_held(q))
        fresh = next(iter(self._fresh), None)
        # In turns: what is asked for the first time tells whether the others failed by themselves.
        return fresh if self._was_again and fresh else next(ready, fresh)

    def _is_probing(self) -> bool:
        return any(q.sent_at >= (self._shut_at or 0.0) for q in self.under_way)

    def _is_held(self, question: Question) -> bool:
        """Return whether what is open must be decided before it is asked again."""
        n_open = sum(failure.question is question for failure in self._failures)
        return n_open + question.n_charged > question.max_retries

    def wakes_at(self, now: float) -> float:
        """Return when to look again, if nothing happens before."""
        times = [self._limit()[0]]
        if len(self.under_way) < self._n_at_once and (self._fresh or self._again):
            if self._shut_at is not None:
                at = math.inf if self._is_probing() else self._probe_at
            elif self._fresh:
                at = now
            else:
                ready = [q.ready_at for q in self._again if not self._is_held(q)]
                at = min(ready, default=math.inf)
            times.append(max(at, self.rate.opens_at()))
        return min(times, default=math.inf)

    # What becomes of requests.

    def note_answer(self, question: Question, now: float) -> None:
        """The service has answered, whatever it said."""
        self.rate.note_answer(question.sent_at, now)
        self._heard_at, self._last = now, None
        if self._shut_at is not None and question.sent_at >= self._shut_at:
            self._shut_at = None
            self._on_change(None)
        self._failures = [f for f in self._failures if f.question is not question]
        before = [failure for failure in self._failures if failure.at <= question.sent_at]
        self._failures = [failure for failure in self._failures if failure.at > question.sent_at]
        sent = {f.question for f in before if f.sent_at > self._good_at}
        if sum(not failed.n_charged for failed in sent) <= self._n_few:
            for failed in {failure.question for failure in before}:
                failed.n_charged += 1
        self._good_at = max(self._good_at, question.sent_at)
        self.remove(question, now)

    def _n_new(self) -> int:
        """Return how many questions failed for the first time since the last good one was sent."""
        failed = {failure.question for failure in self._failures}
        return sum(question.failed_at > self._good_at for question in failed)

    def note_busy(self, question: Question, failure: Passing, now: float) -> None:
        """The service has refused for its load: the question is the next to be asked."""
        self._last = question.last = failure
        self.rate.note_busy(question.sent_at, failure.wait, now)
        if self._shut_at is not None:
            self._probe_at = now + pause(self._n_probes, LONGEST_PROBE_SECONDS)
            self._n_probes += 1
        self.under_way.pop(question)
        self._fresh[question] = None
        self._fresh.move_to_end(question, last=False)

    def note_failure(self, question: Question, failure: Passing, now: float) -> None:
        """The service, or the way to it, has failed."""
        self._last = question.last = failure
        self.under_way.pop(question)
        self._again[question] = None
        question.ready_at = now + pause(question.n_failed)
        question.n_failed += 1
        question.failed_at = min(question.failed_at, question.sent_at)
        if self._shut_at is not None:
            if question.sent_at >= self._shut_at:
                self._probe_at = now + pause(self._n_probes, LONGEST_PROBE_SECONDS)
                self._n_probes += 1
            question.n_charged += len(self) == 1
            return
        self._failures.append(_Failure(question, question.sent_at, now))
        if self._is_rest():
            self._failures.pop().question.n_charged += 1
        elif self._n_new() >= 2 * self._n_at_once:
            self._shut(now)

    def _is_rest(self) -> bool:
        """Return whether nobody who is left could tell an outage from a fault of each."""
        if len(self) == 1:
            return True
        left = [*self._again, *self.under_way]
        if self._fresh or not all(q.n_failed for q in left):
            return False
        n_new = self._n_new()
        if len(left) > self._n_at_once:  # no more can come before some of these are done
            return 2 * n_new <= len(left)
        return n_new <= self._n_few and all(q.asked_at <= self._heard_at for q in left)

    def _shut(self, now: float) -> None:
        self._shut_at, self._n_probes = now, 1
        self._probe_at = now + pause(0)
        self._failures.clear()
        self._on_change(self._last)

    def remove(self, question: Question, now: float) -> None:
        """Forget a question, answered or not."""
        n_before = len(self)
        for group in (self._fresh, self._again, self.under_way):
            group.pop(question, None)
        self._failures = [f for f in self._failures if f.question is not question]
        if len(self) == 1 < n_before:
            self._alone_at = now
        self._left_at = now

    # The end.

    def given_up(self, now: float) -> Iterator[tuple[Question, JudgeError | TimeoutError]]:
        """Yield who is not asked any more, and why."""
        if not self.under_way and not self._fresh and self._shut_at is None:
            self._decide(now)
        at, why = self._limit()
        for question in [*self._again, *self._fresh] if now >= at else ():
            last = question.last or self._last
            if last is not None:
                yield question, last.because(why)
        for question in list(self._again):
            if question.n_charged > question.max_retries and question.last is not None:
                yield question, question.last.because()

    def _decide(self, now: float) -> None:
        """End the waiting for witnesses who cannot come: all who are left have failed."""
        if self._failures and all(map(self._is_held, self._again)):
            if self._is_rest():
                for asked in {failure.question for failure in self._failures}:
                    asked.n_charged += 1
                self._failures.clear()
            else:
                self._shut(now)

    def _limit(self) -> tuple[float, str]:
        """Return until when all wait who wait, and which limit that is; at most one is alone."""
        seconds, name = self._max_wait, "max_wait_seconds"
        since, short = max(self._heard_at, self._began_at), math.inf
        waiting = [*self._again] or [*itertools.islice(self._fresh, 1)]
        if not waiting or self._last is None:
            return math.inf, ""
        if len(self) == 1:
            since, short = max(self._alone_at, waiting[0].asked_at), waiting[0].limit_seconds
        elif self._heard_at == -math.inf and not self._last.was_sent:
            short = self._timeout
        if short <= seconds:
            seconds, name = short, "timeout_seconds"
        return since + seconds, f"no answer within {name}={seconds:g}"
