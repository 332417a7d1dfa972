"""When a judge calls and when it makes no more calls: its pace, its use, its budget."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

import attrs

from scorekit.errors import JudgeError

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0
"""Bounds on the pause where the service does not say how long it should be."""

JITTER = 0.1
"""Share by which a pause is longer than asked for, at most: programs must not return together."""

ENOUGH = 20
"""Questions taken before a pace is measured: one refusal in ten leaves a fast pace alone."""

GROWTH = 0.0003
"""
Share by which a question that was taken raises the pace.

At the pace that a service allows, a burst of 50 then lasts for 570 questions, so that pauses are
rare; where it allows more than before, the pace doubles within 2,500.
"""

CATCHING_UP = 0.0065
"""Share added to `GROWTH` where nearly all the time went by in pauses: 110 questions double it."""

WORSE = 0.9
"""Share of the expected pace below which it was wrong to slow down: pauses vary by a tenth."""

REFILLED = 0.6
"""Share of a pause for which the next questions make up, since little by little more are taken."""

RETURN = 2.0
"""How many times the earlier pace is tried then, as it had been slowed down by chance, too."""

LONGEST_ROW = 4
"""Refusals in a row that tell of the pace; more of them are an outage, which tells nothing."""

SLOWEST = 0.5
"""Questions a second below which only pauses slow down: a pace cannot be measured on so few."""

FIRST_AT_ONCE = 32
"""
Questions under way at first; each answer lets one more go, so that they double.

The service asks for traffic that rises gradually, and answers may tell how many it takes.
"""

REST_SECONDS = 10.0
"""Time without questions after which they rise from `FIRST_AT_ONCE` again."""

LOOK_AGAIN_SECONDS = 0.25
"""Longest rest for want of requests left: other answers may tell of more."""

_HEADER = "anthropic-ratelimit-requests-"
_NO_LIMIT = 1e12

_FOR_ALL = {401, 402, 403}
"""Refusals of the key, its permissions or its account, which every other call would meet."""

_MODEL = 404

_SAME_REFUSALS = 3
"""Times in a row after which a refusal is no longer one of the single pair."""

_OF_ACCOUNT = re.compile(r"credit balance|billing|spend(?:ing)? limit|organization", re.IGNORECASE)
_OF_PAIR = re.compile(
    r"too (?:long|large|many tokens)|maximum (?:length|context)|context (?:window|length)"
    r"|content filter|blocked|flagged|polic(?:y|ies)|harmful",
    re.IGNORECASE,
)
"""Words that the service documents; where it changes them, refusals are counted."""


def backoff(n: int, first: float = FIRST_PAUSE_SECONDS) -> float:
    """Return the pause after the failure number *n* in a row, from 0."""
    return min(LONGEST_PAUSE_SECONDS, first * 2.0 ** min(n, 10))


class Breaker:
    """Whether later calls would meet what an earlier one met."""

    def __init__(self) -> None:
        self._broken: JudgeError | None = None
        self._has_succeeded = False
        self._last = ""
        self._n_same = 0

    def check(self) -> None:
        """Refuse to ask where an earlier answer said that it is no use."""
        if self._broken is not None:
            told = f"no more calls are made after: {self._broken.message}"
            raise JudgeError(self._broken.kind, f"{told}; mend that and make a new judge")

    def note_refusal(self, error: JudgeError, status: int) -> None:
        """Remember a refusal that is not about the one pair that was asked about."""
        of_pair = _OF_PAIR.search(error.message) is not None
        for_all = status in _FOR_ALL or (status == _MODEL and not self._has_succeeded)
        if for_all or (_OF_ACCOUNT.search(error.message) and not of_pair):
            self._broken = error
        elif not of_pair:
            self._n_same = self._n_same + 1 if error.message == self._last else 1
            self._last = error.message
            if self._n_same >= _SAME_REFUSALS:
                self._broken = error

    def note_success(self) -> None:
        """Remember an answer, whatever it says: the configuration is one that works."""
        self._has_succeeded = True
        self._n_same = 0


@attrs.define(eq=False)
class Turn:
    """A request that is sent."""

    at: float
    number: int
    """Its place among all that were sent."""
    is_taken: bool = False
    """Whether the service has answered it."""


class Allowance:
    """How many requests the service will still take, by the headers of its answers."""

    def __init__(self) -> None:
        self._most = self._left = math.inf
        self._per_second = 0.0
        self._at = 0.0

    def note(self, headers: Mapping[str, str], n_later: int, at: float) -> None:
        """Remember what was told at a time, before *n_later* requests were counted."""
        try:
            limit, left = (int(headers[_HEADER + name]) for name in ("limit", "remaining"))
        except (KeyError, ValueError):
            return
        if 0 <= left <= limit and 0 < limit < _NO_LIMIT:
            self._most, self._left, self._at = limit, left - n_later, at
            self._per_second = limit / 60  # what is used up comes back little by little

    def seconds_until_next(self, now: float) -> float:
        """Return how long none is left."""
        self._left = min(self._most, self._left + (now - self._at) * self._per_second)
        self._at = now
        return 0.0 if self._left >= 1 else (1 - self._left) / self._per_second

    def take(self) -> None:
        """Count a request that is sent."""
        self._left -= 1


class Pace:
    """
    When the next question may be sent, to a service that takes only so many.

    No more are sent than the headers of its answers say are left.  A refusal for load pauses all
    questions.  As many as were taken, over the time with its pauses, are a pace that the service
    keeps up: they go on at it, after as many at once as most of the pause had room for, and it
    grows with each question taken, quickly if most of the time went by in pauses.  Where slowing
    down brought less, the service refuses for another reason, and the pace is what it was.
    Used within one event loop.
    """

    def __init__(
        self, max_concurrency: int, per_minute: float | None, max_wait_seconds: float
    ) -> None:
        self._slots = asyncio.Semaphore(max_concurrency)
        self._max_wait = max_wait_seconds
        self._fastest = math.inf if per_minute is None else per_minute / 60
        self._rate = self._fastest
        self._growth = 0.0
        self._kept_up = self._tried = 0.0
        self._made_up, self._behind = REFILLED, 0.0
        self._next = self._paused_until = self._refused_at = -math.inf
        self._asking = self._pausing = 0.0
        self._asking_since = self._asked_until = 0.0
        self._refused_since = math.inf
        self._refusal = ""
        self._n_taken = self._n_refused = 0
        self._n_measured, self._measured_at = 0, -math.inf
        self._is_measured = True
        self._n_under_way = self._n_sent = 0
        self._n_at_once = FIRST_AT_ONCE
        self._heard = asyncio.Event()
        self._allowance = Allowance()
        self._gate = asyncio.Lock()
        self._random = random.Random()  # noqa: S311 - spreads pauses, keeps no secret

    @contextlib.asynccontextmanager
    async def turn(self, check: Callable[[], object] = lambda: None) -> AsyncGenerator[Turn]:
        """
        Hold one of the places once a question may be sent, in the order of asking.

        What *check* refuses takes no turn: of a thousand that wait, each is told at once.
        """
        async with self._gate:  # behind which the others wait, so that a pause is one of all
            self._check_pause()
            await self._slots.acquire()
            try:
                check()
                turn = await self._begin()
            except BaseException:
                self._slots.release()
                raise
        try:
            yield turn
        finally:
            if not turn.is_taken:
                self._take_back(turn)
            self._n_under_way -= 1
            self._heard.set()
            self._asked_until = asyncio.get_running_loop().time()
            self._slots.release()

    async def _begin(self) -> Turn:
        while self._n_under_way >= self._n_at_once:
            self._heard.clear()
            await self._heard.wait()
        clock = asyncio.get_running_loop().time
        if not self._n_under_way:  # time in which nobody asks says nothing about the pace
            idle = max(0.0, clock() - max(self._asked_until, self._paused_until))
            self._asking_since += idle
            self._asked_until = clock()
            if idle > REST_SECONDS:
                self._n_at_once = FIRST_AT_ONCE
        while True:
            now = clock()
            rest = max(self._paused_until, self._next) - now
            if rest <= 0:
                rest = min(self._allowance.seconds_until_next(now), LOOK_AGAIN_SECONDS)
                if rest <= 0:
                    break
            self._check_pause()
            await asyncio.sleep(rest)
        if not self._is_measured:  # only now, as others that were under way are refused, too
            self._measure(now)
        self._n_taken += 1
        self._n_under_way += 1
        self._n_sent += 1
        self._allowance.take()
        self._next = max(self._next, now - self._behind) + 1 / self._rate
        return Turn(now, self._n_sent)

    def _check_pause(self) -> None:
        pause = self._paused_until - self._refused_since
        if pause > self._max_wait and asyncio.get_running_loop().time() < self._paused_until:
            raise JudgeError(
                "rate limit",
                f"the service wants no questions for {pause:.6g} s in all, longer than "
                f"max_wait_seconds={self._max_wait:g} ({self._refusal})",
            )

    def note_headers(self, turn: Turn, headers: Mapping[str, str]) -> None:
        """Remember what the answer to a request says of those to come."""
        now = asyncio.get_running_loop().time()
        told_at = (turn.at + now) / 2  # about halfway between the question and its answer
        self._allowance.note(headers, self._n_sent - turn.number, told_at)

    def note_taken(self, turn: Turn) -> None:
        """Remember that the service answered."""
        turn.is_taken = True
        if self._n_under_way > self._n_at_once // 4:  # one after the other, they are no step
            self._n_at_once += 1
        if self._n_refused > LONGEST_ROW:
            self._count_anew(0, asyncio.get_running_loop().time())
        self._n_refused = 0
        self._refused_since = math.inf
        self._rate = min(self._fastest, self._rate * (1 + self._growth))

    def _take_back(self, turn: Turn) -> None:
        """Count a question no more that was sent and not taken."""
        if turn.at >= self._measured_at:
            self._n_taken -= 1
        elif self._n_measured > 1:
            share = 1 - 1 / self._n_measured
            self._n_measured -= 1
            self._kept_up *= share
            self._rate = min(self._fastest, max(SLOWEST, self._rate * share))

    def note_refused(self, turn: Turn, wait: float | None, message: str) -> None:
        """Remember that the service was too busy for a question, and how long it asked to wait."""
        now = asyncio.get_running_loop().time()
        self._refusal = message
        jitter = 0.0
        if turn.at >= self._refused_at:  # else it was on its way when an earlier one came back
            self._refused_at = now
            self._n_refused += 1
            self._is_measured = False
            if self._next < turn.at:  # still making up for a pause: that was too much at once
                self._made_up /= 2
            jitter = JITTER * self._random.random()
        self._refused_since = min(self._refused_since, now)
        pause = max(wait or 0.0, backoff(self._n_refused - 1, wait or FIRST_PAUSE_SECONDS))
        self._paused_until = max(self._paused_until, now + pause * (1 + jitter))
        self._asking += max(0.0, now - self._asking_since)
        self._pausing += self._paused_until - max(now, self._asking_since)
        self._asking_since = self._paused_until

    def _count_anew(self, n_measured: int, now: float) -> None:
        self._is_measured = True
        self._asking = self._pausing = 0.0
        self._n_taken, self._n_measured, self._measured_at = 0, n_measured, now

    def _measure(self, now: float) -> None:
        self._is_measured = True
        if self._n_refused > LONGEST_ROW:
            self._count_anew(0, now)
        if self._n_taken < ENOUGH:  # the pauses slow down, and the next refusal counts all of it
            return
        tried = self._n_taken / max(self._asking, 1e-9)
        kept_up = self._n_taken / (self._asking + self._pausing)
        if kept_up < WORSE * self._kept_up:
            self._rate, self._growth, self._kept_up = RETURN * self._tried, GROWTH, 0.0
        else:
            self._rate, self._kept_up, self._tried = kept_up, kept_up, tried
            self._growth = GROWTH + CATCHING_UP * (1 - kept_up / tried) ** 3
        self._rate = min(self._fastest, max(SLOWEST, self._rate))
        self._behind = self._made_up * (now - self._refused_at)
        self._count_anew(self._n_taken if self._kept_up else 0, now)


class Budget:
    """Calls and money: what is spent, and what calls under way may still cost."""

    def __init__(self, max_calls: int | None, max_cost_usd: float | None) -> None:
        self._max_calls = max_calls
        self._max_cost = math.inf if max_cost_usd is None else max_cost_usd
        self._n_calls = 0
        self._spent = self._assumed = 0.0
        self._reserved: list[float] = []
        self._settled = asyncio.Event()

    async def take(self, most: float) -> None:
        """Reserve a call, once it is known whether it fits."""
        self.check(most)
        while self._sum(most, self._reserved) > self._max_cost:
            await self._settled.wait()
            self.check(most)
        self._reserve(most)

    def take_now(self, most: float) -> None:
        """Reserve a call that fits beside all that are under way."""
        self.check(most, self._reserved)
        self._reserve(most)

    def check(self, most: float, others: Sequence[float] = ()) -> None:
        """Refuse a call that costs at most so much where it does not fit beside *others*."""
        if self._n_calls == self._max_calls:
            told = f"max_calls={self._max_calls} calls have been made"
            raise JudgeError("budget", f"{told}; a new judge may make more")
        if self._sum(most, others) > self._max_cost:
            message = f"{self._spent:.6f} of max_cost_usd={self._max_cost:g} are spent"
            if self._assumed:
                message += f" ({self._assumed:.6f} of it at most, on calls without an answer)"
            raise JudgeError("budget", f"{message}, the next call may cost {most:.6f}")

    def _sum(self, most: float, others: Sequence[float]) -> float:
        return math.fsum([self._spent, *others, most])

    def _reserve(self, most: float) -> None:
        self._n_calls += 1
        self._reserved.append(most)

    def settle(self, most: float, cost: float | None) -> None:
        """Replace a reservation by what the call did cost; what is not known is all of it."""
        self._reserved.remove(most)
        self._spent += most if cost is None else cost
        self._assumed += most if cost is None else 0.0
        self._settled.set()
        self._settled = asyncio.Event()
