"""
How much of a service's rate limit `ClaudeJudge` uses, and whether a verdict is lost to it.

A server on the loopback interface keeps a token bucket: so many requests at once, and so many a
second after them. It refuses the others with 429 and the time to wait, shorter or longer than the
judge's time limit, and tells what is left in headers, or does not. The share is the pace that was
reached, divided by the lower of the allowed one and the one reached without any limit.

    python -m benchmarks.bench_pace [--full]
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from benchmarks.bench_judge import answering
from benchmarks.machine import alone
from scorekit.cases import SqlCase, score_sql_cases
from scorekit.claude import ClaudeJudge
from scorekit.correctness import query_correctness

BURST = 50
ANSWER_SECONDS = 0.02
LIMIT_SECONDS = 1.0
LONG_WAIT_SECONDS = 1.5
"""Longer than `LIMIT_SECONDS`."""


@attrs.define
class Bucket:
    """What the server takes."""

    rate: float
    """Requests a second."""
    wait: float | None
    """How long to wait after a refusal, None for as long as it takes."""
    tells: bool
    """Whether headers say what is left."""
    left: float = BURST
    at: float = attrs.field(factory=time.monotonic)
    n_refused: int = 0

    def answer(self) -> tuple[int, str]:
        """Take a request or refuse it: status and further headers."""
        now = time.monotonic()
        self.left = min(BURST, self.left + (now - self.at) * self.rate)
        self.at = now
        status, headers = 200, ""
        if self.left >= 1:
            self.left -= 1
        else:
            self.n_refused += 1
            wait = (1 - self.left) / self.rate if self.wait is None else self.wait
            status, headers = 429, f"\r\nretry-after: {wait:.3f}"
        if self.tells:
            for name, value in (("limit", 60 * self.rate), ("remaining", self.left)):
                headers += f"\r\nanthropic-ratelimit-requests-{name}: {int(value)}"
        return status, headers


def serve(pipe: Any, bucket: Bucket | None) -> None:
    """Answer until the process is ended."""
    answering(pipe, ANSWER_SECONDS, bucket.answer if bucket is not None else None)


@contextmanager
def service(bucket: Bucket | None) -> Iterator[str]:
    """Yield the address of a server in a process of its own."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=serve, args=(there, bucket), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.terminate()
        process.join()


def reached(n: int, at_once: int, bucket: Bucket | None) -> float:
    """Return the judgements a second; none may be lost."""
    cases = [
        SqlCase(case_id=f"q{i}", generated=f"SELECT {i}", expected="SELECT a FROM t")
        for i in range(n)
    ]
    with (
        service(bucket) as url,
        ClaudeJudge(
            api_key="none", base_url=url, max_concurrency=at_once, timeout_seconds=LIMIT_SECONDS
        ) as judge,
    ):
        query_correctness("SELECT 1", "SELECT 2", judge=judge)  # imports count elsewhere
        time.sleep(0 if bucket is None else 2 / bucket.rate)
        started = time.perf_counter()
        report = score_sql_cases(cases, judge=judge, evidence="judge", timeout_seconds=600)
        seconds = time.perf_counter() - started
    assert report.n_by_method["judge"] == n, report.n_failed
    return n / seconds


def main(*, full: bool = False) -> None:
    """Print the table."""
    print(
        "| allowed (1/s) | cases | at once | `retry-after` | headers | reached (1/s) "
        "| without limit (1/s) | share |"
    )
    print("|---|---|---|---|---|---|---|---|")
    sizes = (200, 2000) if full else (200,)
    for n in sizes:
        for at_once in (1, 16, 64):
            for rate in (50, 500):
                for wait in (None, LONG_WAIT_SECONDS):
                    unlimited = reached(n, at_once, None)  # again and again: its speed varies
                    for tells in (True, False):
                        pace = reached(n, at_once, Bucket(rate, wait, tells))
                        words = "short" if wait is None else "long"
                        share = pace / min(rate, unlimited)
                        print(
                            f"| {rate} | {n} | {at_once} | {words} | {'yes' if tells else 'no'} "
                            f"| {pace:.0f} | {unlimited:.0f} | {share:.2f} |",
                            flush=True,
                        )


if __name__ == "__main__":
    alone(main)
