"""
What limits, outages and pairs that always fail cost, for `ClaudeJudge` and the SDK beside it.

Each row is a scene of `benchmarks/generators/scenes.py`, in virtual time: its ideal, then
seconds, pairs lost that the service would answer, and requests, of the judge and of sixteen
workers that retry as `anthropic.AsyncAnthropic` does with 2 and with 50 retries.

    python -m benchmarks.timings.bench_pace [--full]
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import httpx2

from benchmarks.generators.scenes import Asker, Service, VirtualTime, faults, limits, now
from benchmarks.machine import alone

AT_ONCE = 16
TIMEOUT = 30.0
CLIENT = anthropic.AsyncAnthropic(api_key="none", max_retries=10**6)


async def by_sdk(service: Service, n: int, n_retries: int) -> set[int]:
    """Wait as the SDK does, and return which pairs are lost."""
    options = anthropic._models.FinalRequestOptions(method="post", url="/")  # noqa: SLF001
    waiting: Any = CLIENT._calculate_retry_timeout  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    todo = iter(range(n))
    lost: set[int] = set()

    async def worker() -> None:
        for i in todo:
            for n_failed in itertools.count():
                status, headers = 0, dict[str, str]()
                try:
                    async with asyncio.timeout(TIMEOUT):
                        status, headers = await service.answer(i)
                except (ConnectionError, TimeoutError):
                    pass
                if status == 200:
                    break
                if n_failed >= n_retries:
                    lost.add(i)
                    break
                await asyncio.sleep(waiting(10**6 - n_failed, options, httpx2.Headers(headers)))

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return lost


async def by_judge(service: Service, n: int) -> set[int]:
    """Wait as `ClaudeJudge` does, and return which pairs are lost."""
    asker = Asker(service, max_concurrency=AT_ONCE, timeout_seconds=TIMEOUT)
    await asyncio.gather(*(asker.ask(i) for i in range(n)))
    return set(asker.errors)


def measured(
    ask: Callable[[Service], Awaitable[set[int]]], service: Service
) -> tuple[float, int, int]:
    """Return seconds, lost pairs that the service would answer, and requests."""

    async def timed() -> tuple[float, set[int]]:
        lost = await ask(service)
        return now(), lost

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        seconds, lost = runner.run(timed())
    return seconds, sum(not service.bad(i) for i in lost), len(service.times)


def main(*, full: bool = False) -> None:
    """Print the table; in full with the SDK that retries 50 times."""
    names = ["judge", "SDK, 2 retries", *(["SDK, 50 retries"] if full else [])]
    print("| scene | pairs | ideal (s) |" + "".join(f" {name} |" for name in names))
    print("|---|---|---|" + "---|" * len(names))
    for scene in [*limits(), *faults()]:
        cells: list[str] = []
        for n_retries in (None, 2, 50)[: len(names)]:

            async def ask(
                service: Service, *, n: int = scene.n, n_retries: int | None = n_retries
            ) -> set[int]:
                if n_retries is None:
                    return await by_judge(service, n)
                return await by_sdk(service, n, n_retries)

            seconds, n_lost, n_requests = measured(ask, scene.service())
            cells.append(f"{seconds:.1f} s, {n_lost} lost, {n_requests} requests")
        row = " | ".join(cells)
        print(f"| {scene.name} | {scene.n} | {scene.ideal:.1f} | {row} |", flush=True)


if __name__ == "__main__":
    alone(main)
