"""
How much of a service's rate limit `ClaudeJudge` uses, and what outages cost, in virtual time.

A service keeps a token bucket: so many requests at once, and so many a second after them. It
refuses the others with 429, says how long to wait or does not, and tells in headers what is left
or does not. The share is the answers a second, divided by the lower of the allowed rate and the
requests at once by the time that an answer takes. The SDK is measured beside it: as many workers
that each retry for ever, waiting as `anthropic.AsyncAnthropic` does.

    python -m benchmarks.bench_pace [--full]
"""

from __future__ import annotations

import asyncio
import itertools
import selectors
import statistics
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from random import Random
from typing import Any

import anthropic
import attrs
import httpx2

from benchmarks.machine import alone
from scorekit._claude import pace
from scorekit._claude.pace import Pace, Passing, Question
from scorekit.errors import JudgeError

AT_ONCE = 16
BEGIN = 1000.0
REFUSAL_SECONDS = 0.02
CLIENT = anthropic.AsyncAnthropic(api_key="none", max_retries=10**6)
RATES = {"2/s": 2.0, "20/s": 20.0, "50/s": 50.0, "50/min": 50 / 60}
BURSTS = (5, 10, 50)
WAITS = (None, 2.0, 30.0)
LATENCIES = (0.2, 1.0)


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
    """Return the virtual time in seconds."""
    return asyncio.get_running_loop().time()


@attrs.define
class Gateway:
    """A service that takes so many requests."""

    rate: float = float("inf")
    burst: float = 1.0
    wait: float | None = None
    """What it asks those to wait that it refuses."""
    seconds: float = 0.2
    """What an answer takes on average, half of it up to one and a half times as long."""
    tells: bool = False
    """Whether headers say what is left."""
    away: Callable[[float], str] = lambda _: ""
    """What is wrong at a time."""
    random: Random = attrs.field(factory=lambda: Random(0))  # noqa: S311 - keeps no secret
    left: float = attrs.field(default=attrs.Factory(lambda self: self.burst, takes_self=True))
    at: float = BEGIN
    n_refused: int = 0
    n_answered: int = 0

    async def answer(self) -> tuple[int, dict[str, str]]:
        """Return status and headers; raise where the network fails."""
        fault = self.away(now())
        if fault == "refused":
            raise ConnectionRefusedError
        if fault == "silent":
            await asyncio.sleep(1e9)
        if fault:
            await asyncio.sleep(REFUSAL_SECONDS)
            if fault == "reset":
                raise ConnectionResetError
            return int(fault), {}
        self.left = min(self.burst, self.left + (now() - self.at) * self.rate)
        self.at = now()
        is_taken = self.rate == float("inf") or self.left >= 1
        self.left -= is_taken
        headers = {}
        if self.tells:
            told = {"limit": 60 * self.rate, "remaining": self.left}
            headers = {f"anthropic-ratelimit-requests-{k}": str(int(v)) for k, v in told.items()}
        if not is_taken:
            self.n_refused += 1
            await asyncio.sleep(REFUSAL_SECONDS)
            return 429, headers if self.wait is None else {
                **headers,
                "retry-after": f"{self.wait}",
            }
        await asyncio.sleep(self.seconds * self.random.uniform(0.5, 1.5))
        if self.away(now()) == "reset":
            self.n_answered += 1  # paid, and lost on the way
            raise ConnectionResetError
        self.n_answered += 1
        return 200, headers


Ask = Callable[[Gateway, int], Awaitable[int]]
"""Asks so many questions and returns how many verdicts were lost."""


async def by_sdk(gateway: Gateway, n: int) -> int:
    """Wait as the SDK does that may retry for ever."""
    options = anthropic._models.FinalRequestOptions(method="post", url="/")  # noqa: SLF001
    waiting: Any = CLIENT._calculate_retry_timeout  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    todo = iter(range(n))

    async def worker() -> None:
        for _ in todo:
            for n_failed in itertools.count():
                status, headers = await gateway.answer()
                if status == 200:
                    break
                await asyncio.sleep(waiting(10**6 - n_failed, options, httpx2.Headers(headers)))

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return 0


async def by_judge(
    gateway: Gateway,
    n: int,
    *,
    per_minute: float | None = None,
    timeout_seconds: float = 30.0,
    max_wait_seconds: float = 600.0,
) -> int:
    """Wait as `ClaudeJudge` does."""
    paced = Pace(AT_ONCE, per_minute, max_wait_seconds, 2)
    n_lost = 0

    async def send(question: Question) -> None:
        try:
            async with asyncio.timeout(timeout_seconds):
                status, headers = await gateway.answer()
        except ConnectionError as error:
            raise Passing(JudgeError("connection", repr(error)), error) from error
        if status != 200:
            failure = Passing(JudgeError("refused", str(status)), None)
            failure.is_busy = status == 429
            failure.wait = float(headers["retry-after"]) if "retry-after" in headers else None
            raise failure
        paced.note_headers(question, headers)

    async def ask() -> None:
        nonlocal n_lost
        async with paced.places:
            try:
                await paced.ask(send)
            except (JudgeError, TimeoutError):
                n_lost += 1

    await asyncio.gather(*(ask() for _ in range(n)))
    return n_lost


def seconds_taken(ask: Ask, gateway: Gateway, n: int) -> tuple[float, int]:
    """Return how long *n* questions take, and how many are lost."""
    with asyncio.Runner(loop_factory=VirtualTime) as runner:

        async def timed() -> tuple[float, int]:
            started = now()
            n_lost = await ask(gateway, n)
            return now() - started, n_lost

        return runner.run(timed())


def share(ask: Ask, cell: dict[str, Any], n: int, n_runs: int) -> tuple[float, int]:
    """Return the share of the possible pace, the mean of some runs, and the verdicts lost."""
    shares: list[float] = []
    n_lost = 0
    for seed in range(n_runs):
        pace._random.seed(seed)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        gateway = Gateway(**cell, random=Random(seed))  # noqa: S311 - keeps no secret
        seconds, lost = seconds_taken(ask, gateway, n)
        possible = min(gateway.rate, AT_ONCE / gateway.seconds)
        shares.append(n / seconds / possible)
        n_lost += lost
    return statistics.fmean(shares), n_lost


def cells() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the gateways with a name for each."""
    for (name, rate), burst, wait, seconds in itertools.product(
        RATES.items(), BURSTS, WAITS, LATENCIES
    ):
        words = f"{name} | {burst} | {'-' if wait is None else f'{wait:g}'} | {seconds:g}"
        yield words, {"rate": rate, "burst": burst, "wait": wait, "seconds": seconds}


def gateways(sizes: tuple[int, ...], n_runs: int) -> None:
    """Print the share at each gateway."""
    print("| allowed | burst | `retry-after` (s) | answer (s) | pairs | SDK | judge | lost |")
    print("|---|---|---|---|---|---|---|---|")
    ratios: list[float] = []
    for n in sizes:
        for words, cell in cells():
            sdk, _ = share(by_sdk, cell, n, n_runs)
            ours, n_lost = share(by_judge, cell, n, n_runs)
            ratios.append(ours / sdk)
            print(f"| {words} | {n} | {sdk:.2f} | {ours:.2f} | {n_lost} |", flush=True)
    good = statistics.fmean(ratio >= 0.9 for ratio in ratios)
    print(
        f"\nat least 0.9 of the SDK's share: {good:.1%} of {len(ratios)}; least {min(ratios):.2f}"
    )


def told(n: int) -> None:
    """Print the share of the rate with headers, and with ``requests_per_minute``."""
    print("\n| allowed | burst | answer (s) | headers | `requests_per_minute` |")
    print("|---|---|---|---|---|")
    for (name, rate), burst, seconds in itertools.product(RATES.items(), BURSTS, LATENCIES):
        cell = {"rate": rate, "burst": burst, "seconds": seconds}
        by_headers, _ = share(by_judge, {**cell, "tells": True}, n, 1)
        paced, _ = share(partial(by_judge, per_minute=60 * rate), cell, n, 1)
        print(f"| {name} | {burst} | {seconds:g} | {by_headers:.2f} | {paced:.2f} |", flush=True)


OUTAGES: dict[str, Callable[[float], bool]] = {
    "5 s": lambda at: 10 <= at < 15,
    "30 s": lambda at: 10 <= at < 40,
    "300 s": lambda at: 10 <= at < 310,
    "5 s every 20 s": lambda at: at % 20 < 5 and at > 10,
}


def outages(n: int) -> None:
    """Print what is lost while the service is away, and how soon the run goes on."""
    print("\n| outage | kind | lost | answered twice | seconds longer than without |")
    print("|---|---|---|---|---|")
    least, _ = seconds_taken(by_judge, Gateway(), n)
    for name, is_away in OUTAGES.items():
        for kind in ("refused", "reset", "502", "silent"):

            def away(
                at: float, *, is_away: Callable[[float], bool] = is_away, kind: str = kind
            ) -> str:
                return kind if is_away(at - BEGIN) else ""

            gateway = Gateway(away=away)
            ask = partial(by_judge, timeout_seconds=10.0)
            seconds, n_lost = seconds_taken(ask, gateway, n)
            twice = gateway.n_answered - n + n_lost
            print(f"| {name} | {kind} | {n_lost} | {twice} | {seconds - least:.1f} |", flush=True)


def main(*, full: bool = False) -> None:
    """Print the tables."""
    gateways((200, 2000) if full else (200,), 5 if full else 1)
    told(2000 if full else 200)
    outages(4000)


if __name__ == "__main__":
    alone(main)
