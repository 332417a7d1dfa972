"""
What `ClaudeJudge` adds to the time that the service takes.

A server on the loopback interface, in a process of its own, answers every request after a fixed
time.  The lower bound of many judgements is the number of rounds times that time.

    python -m benchmarks.timings.bench_judge [--full]
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from benchmarks.machine import alone
from scorekit.claude import ClaudeJudge
from scorekit.correctness import aquery_correctness, query_correctness

VERDICT = json.dumps(
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-5",
        "content": [{"type": "text", "text": '{"reasons": "r", "choice": "partial"}'}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 700, "output_tokens": 120},
    }
).encode()


def answering(
    pipe: Any, seconds: float, decide: Callable[[], tuple[int, str]] | None = None
) -> None:
    """
    Answer each request after so many seconds, until the process is ended.

    *decide* gives the status of an answer and headers to add; those refused are answered at once.
    """
    refused = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "too many"}}'

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                headers = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = headers.partition(b"content-length: ")[2].partition(b"\r")[0]
                await reader.readexactly(int(length))
                status, more = (200, "") if decide is None else decide()
                body = VERDICT if status == 200 else refused
                if status == 200:
                    await asyncio.sleep(seconds)
                head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json{more}"
                writer.write(f"{head}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=256)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def judge(seconds: float, max_concurrency: int) -> Iterator[ClaudeJudge]:
    """Yield a judge whose service takes so many seconds, warmed up by one question."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=answering, args=(there, seconds), daemon=True)
    process.start()
    url = f"http://127.0.0.1:{here.recv()}"
    try:
        with ClaudeJudge(api_key="none", base_url=url, max_concurrency=max_concurrency) as judge:
            query_correctness("SELECT 1", "SELECT 2", judge=judge)  # imports count elsewhere
            yield judge
    finally:
        process.terminate()
        process.join()


async def many(asked: ClaudeJudge, n: int) -> float:
    """Return the seconds that n judgements take together."""
    queries = [f"SELECT {i}" for i in range(n)]
    started = time.perf_counter()
    results = await asyncio.gather(
        *(
            aquery_correctness(sql, "SELECT a FROM t", judge=asked, evidence="judge")
            for sql in queries
        )
    )
    assert all(result.score == 0.5 for result in results)
    return time.perf_counter() - started


def one(asked: ClaudeJudge) -> float:
    """Return the seconds that a single judgement takes."""
    started = time.perf_counter()
    assert query_correctness("SELECT 1 FROM t", "SELECT a FROM t", judge=asked).score == 0.5
    return time.perf_counter() - started


def main(*, full: bool = False) -> None:
    """Print the table."""
    print("| judgements | at once | service (s) | lower bound (s) | in all (s) |")
    print("|---|---|---|---|---|")
    many_runs = (*[(1000, 50, 0.2)] * 5, (1000, 16, 0.2))
    for n, at_once, seconds in (*(many_runs if full else [(200, 50, 0.2)]), (200, 50, 0.0)):
        with judge(seconds, at_once) as asked:
            taken = asyncio.run(many(asked, n))
        bound = -(-n // at_once) * seconds
        print(f"| {n} | {at_once} | {seconds} | {bound:.2f} | {taken:.2f} |")
    with judge(1.2, 1) as asked:
        print(f"| 1 | 1 | 1.2 | 1.20 | {one(asked):.3f} |")


if __name__ == "__main__":
    alone(main)
