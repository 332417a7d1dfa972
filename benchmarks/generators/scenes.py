"""Services that misbehave, in virtual time: for tests of the pace, and to time it."""

from __future__ import annotations

import asyncio
import math
import selectors
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from operator import gt, le
from random import Random

import attrs

from scorekit._judge.line import Passing, Question
from scorekit._judge.pace import Pace, limited
from scorekit.errors import JudgeError

BEGIN = 1000.0
REFUSAL_SECONDS = 0.02


class VirtualTime(asyncio.SelectorEventLoop):
    """An event loop in which nothing takes time but waiting, which is over at once."""

    def __init__(self) -> None:
        self.now = BEGIN
        super().__init__(self._Jump(self))

    def time(self) -> float:
        """Return the time in seconds."""
        return self.now

    class _Jump(selectors.SelectSelector):
        def __init__(self, loop: VirtualTime) -> None:
            super().__init__()
            self._loop = loop

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            """Let the time pass until the next task goes on."""
            assert timeout is not None, "nothing will ever happen"
            self._loop.now += timeout + 1e-7  # which rounding cannot lose
            return []


def now() -> float:
    """Return the seconds since the beginning."""
    return asyncio.get_running_loop().time() - BEGIN


Away = Callable[[float], str]
"""What is wrong at a time: a status, ``"refused"``, ``"cut"``, ``"silent"``, or nothing."""


def between(*spans: tuple[float, float], kind: str = "500") -> Away:
    """Return a service that is away in each of the spans."""
    return lambda at: kind if any(a <= at < b for a, b in spans) else ""


def every(period: float, seconds: float, kind: str) -> Away:
    """Return a service that is away again and again, after a first period."""
    return lambda at: kind if at >= period and at % period < seconds else ""


@attrs.define
class Service:
    """A service that takes so many requests, is away at times, and fails some pairs always."""

    rate: float = math.inf
    burst: int = 1
    wait: str | None = None
    """What it asks those to wait that it refuses."""
    counts_refused: bool = False
    """Whether a refused request uses up what is left: so many a second, in a sliding window."""
    seconds: float = 0.2
    """What an answer takes on average, half of it up to one and a half times as long."""
    away: Away = lambda _: ""
    bad: Callable[[int], bool] = lambda _: False
    answers_one_in: int = 1
    """One in so many requests is answered, the others fail."""
    random: Random = attrs.field(factory=lambda: Random(0))  # noqa: S311 - keeps no secret
    left: float = attrs.field(default=attrs.Factory(lambda self: self.burst, takes_self=True))
    at: float = 0.0
    asked: Counter[int] = attrs.field(factory=Counter)
    times: list[tuple[float, int]] = attrs.field(factory=list)
    window: deque[float] = attrs.field(factory=deque)

    async def answer(self, i: int) -> tuple[int, dict[str, str]]:
        """Return status and headers for the question number *i*; raise where the network fails."""
        self.asked[i] += 1
        self.times.append((now(), i))
        fault = self.away(now())
        if fault == "silent":
            await asyncio.sleep(1e9)
        if fault == "refused":
            raise ConnectionRefusedError
        if fault == "cut":
            await asyncio.sleep(REFUSAL_SECONDS / 2)
            raise ConnectionResetError
        if fault:
            await asyncio.sleep(REFUSAL_SECONDS / 2)
            return int(fault), {}
        if not self._takes():
            await asyncio.sleep(REFUSAL_SECONDS)
            return 429, {} if self.wait is None else {"retry-after": self.wait}
        if self.bad(i):
            await asyncio.sleep(REFUSAL_SECONDS / 2)
            return 500, {}
        if self.answers_one_in > 1 and self.random.randrange(self.answers_one_in):
            await asyncio.sleep(REFUSAL_SECONDS)
            return 500, {}
        ends_at = now() + self.seconds * self.random.uniform(0.5, 1.5)
        while now() < ends_at:
            await asyncio.sleep(min(0.01, ends_at - now()))
            if self.away(now()) == "cut":
                raise ConnectionResetError
        return 200, {}

    def _takes(self) -> bool:
        if self.rate == math.inf:
            return True
        if self.counts_refused:
            while self.window and self.window[0] <= now() - 1:
                self.window.popleft()
            is_taken = len(self.window) < self.rate
            self.window.append(now())
            return is_taken
        self.left = min(self.burst, self.left + (now() - self.at) * self.rate)
        self.at = now()
        is_taken = self.left >= 1 - 1e-9
        self.left -= is_taken
        return is_taken


class Asker:
    """
    Ask a service as `ClaudeJudge` does.

    Args:
        service: Which service.
        places: How many questions the judge is given at a time.
    """

    def __init__(
        self,
        service: Service,
        *,
        max_concurrency: int = 16,
        per_minute: float | None = None,
        max_wait_seconds: float = 600.0,
        timeout_seconds: float = 30.0,
        max_retries: int = 2,
        places: int = 50,
    ) -> None:
        self._service = service
        self._timeout = timeout_seconds
        self._max_retries = max_retries
        self._places = asyncio.Semaphore(places)
        self._answered = 0
        self.n_checks = 0
        self.errors: dict[int, Exception] = {}
        self.changes: list[bool] = []
        self.pace = Pace(
            max_concurrency=max_concurrency,
            per_minute=per_minute,
            max_wait_seconds=max_wait_seconds,
            timeout_seconds=timeout_seconds,
            on_change=lambda failure: self.changes.append(failure is None),
        )

    async def ask(self, i: int) -> None:
        """Ask the question number *i*, and keep its error."""

        async def send(question: Question) -> None:
            question.is_sent = True
            self.n_checks += question.is_check
            left = self.pace.seconds_for(question, self._timeout)
            try:
                async with limited(left):
                    asked = self._answered if question.is_check else i
                    status, headers = await self._service.answer(asked)
            except TimeoutError as error:
                raise Passing(TimeoutError("late"), error) from error
            except ConnectionError as error:
                passing = Passing(JudgeError("connection", repr(error)), error)
                passing.was_sent = not isinstance(error, ConnectionRefusedError)
                raise passing from error
            if status != 200:
                passing = Passing(JudgeError("refused", str(status)), None)
                passing.is_busy = status in {429, 529}
                passing.wait = float(headers["retry-after"]) if headers else None
                raise passing
            self._answered = asked
            question.is_model = True

        async with self._places:
            try:
                async with self.pace.turn(self._timeout, self._max_retries) as question:
                    await self.pace.ask(question, send)
            except (JudgeError, TimeoutError) as error:
                self.errors[i] = error


@attrs.frozen
class Scene:
    """So many pairs, a service, and what must come of it."""

    name: str
    n: int
    service: Callable[[], Service]
    ideal: float
    """Seconds that it takes at least."""


def some(share: float, n: int, seed: int = 0) -> Callable[[int], bool]:
    """Return which of *n* pairs fail always."""
    bad = set(Random(seed).sample(range(n), round(share * n)))  # noqa: S311 - keeps no secret
    return bad.__contains__


def limits() -> list[Scene]:
    """Return services with a limit."""
    gateways = [(5, 1, 40), (5, 10, 40), (20, 10, 150), (20, 1, 150)]
    gateways += [(100, 50, 400), (2, 5, 30), (1, 1, 20)]
    found = [
        Scene(
            f"{rate} a second, burst {burst}, retry-after {wait}",
            n,
            partial(Service, rate=rate, burst=burst, wait=wait),
            max(n / 80, (n - burst) / rate),
        )
        for rate, burst, n in gateways
        for wait in (None, "1", "30", "inf")
    ]
    found += [
        Scene(
            f"{rate} in a second, refused ones counted",
            n,
            partial(Service, rate=rate, counts_refused=True),
            n / rate,
        )
        for rate, n in ((5, 40), (20, 150))
    ]
    return [*found, Scene("no limit", 400, Service, 400 / 80)]


def faults(n: int = 300) -> list[Scene]:
    """Return services that fail."""
    found = [
        Scene(
            f"{share:.0%} always 500 (seed {seed})",
            n_pairs,
            partial(Service, bad=some(share, n_pairs, seed)),
            n_pairs / 80,
        )
        for share, n_pairs in ((0.01, 300), (0.05, 300), (0.25, 80), (0.25, 300), (0.5, 300))
        for seed in range(3)
    ]
    found += [
        Scene(f"the last {k} always 500", 100, partial(Service, bad=partial(le, 100 - k)), 1.25)
        for k in (1, 2, 4, 20)
    ]
    found += [
        Scene("the first 40 always 500", 200, partial(Service, bad=partial(gt, 40)), 2.5),
        Scene(
            "60 in the middle always 500",
            260,
            partial(Service, bad=range(100, 160).__contains__),
            3.25,
        ),
        Scene("500 for 5 s when 20 are left", 100, partial(Service, away=between((1, 6))), 6.25),
    ]
    bad = some(0.25, 80)
    limited = partial(Service, rate=5, bad=bad)
    found.append(Scene("25 % always 500, 5 a second, burst 1", 80, limited, 16))
    limited = partial(Service, rate=20, burst=10, bad=some(0.05, 300))
    found.append(Scene("5 % always 500, 20 a second, burst 10", 300, limited, 14.5))
    kinds = ("500", "cut", "refused", "529")
    found += [
        Scene(
            f"{kind} from {start} to {end} s",
            n,
            partial(Service, away=between((start, end), kind=kind)),
            n / 80 + end - start,
        )
        for kind in (*kinds, "silent")
        for start, end in ((0, 8), (2, 7), (2, 32), (2, 92))
    ]
    found += [
        Scene(
            f"{kind} for {away} s in {period} s, answers {seconds} s, {share:.0%} always 500",
            n,
            partial(Service, seconds=seconds, away=every(period, away, kind), bad=some(share, n)),
            n / 80 * seconds / 0.2 * period / (period - away),
        )
        for kind in kinds
        for share in (0.0, 0.05)
        for period, away, seconds in ((2, 0.05, 0.2), (2, 0.5, 0.2), (3, 1, 0.2), (3, 1, 1.0))
    ]
    return [
        *found,
        Scene("one request in 100 answered", 50, partial(Service, answers_one_in=100), 1),
    ]
