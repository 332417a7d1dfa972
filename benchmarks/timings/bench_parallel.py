"""
How much faster two workers are than none, and what the driver holds while results stream.

Sequential and parallel runs alternate; the ratio is the median over the pairs of runs.  What a
bare loop gains on the same processes says how much of two processors there was to be had.

    python -m benchmarks.timings.bench_parallel [--full]
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import count, islice
from multiprocessing import get_context
from statistics import median
from typing import Any

import scorekit
from benchmarks.machine import alone
from benchmarks.timings.growth import memory

N_WORKERS = 2
GENERATED = (
    "SELECT u.name, COUNT(*) FROM users u JOIN orders_{0} o ON o.uid = u.id GROUP BY u.name"
)


_numbers = count()


def cases(n: int) -> Iterator[scorekit.SqlCase]:
    """Make cases unlike all before, since what was parsed once is remembered."""
    for i in islice(_numbers, n):
        yield scorekit.SqlCase(
            case_id=f"q{i}",
            generated=GENERATED.format(i),
            expected_tables=["users", f"orders_{i}"],
        )


def seconds(n: int, executor: Executor | None) -> float:
    """Return the time of scoring so many."""
    items = list(cases(n))
    started = time.perf_counter()
    scorekit.score_sql_cases(items, executor=executor)
    return time.perf_counter() - started


def loop(n: int) -> int:
    """Keep a processor busy for about as long as so many cases would."""
    return sum(i & 1 for i in range(4000 * n))


def loop_seconds(n: int, executor: Executor | None) -> float:
    """Return the time of a loop, or of its halves on two workers."""
    started = time.perf_counter()
    if executor is None:
        loop(n)
    else:
        deque(executor.map(loop, [n // N_WORKERS] * N_WORKERS), maxlen=0)
    return time.perf_counter() - started


def speed(
    name: str,
    executor: Executor,
    n: int,
    n_pairs: int,
    timed: Callable[[int, Executor | None], float] = seconds,
) -> None:
    """Print one row: the median ratio of interleaved runs."""
    timed(2000, executor)  # workers start and import
    pairs = [(timed(n, None), timed(n, executor)) for _ in range(n_pairs)]
    ratio = median(alone / shared for alone, shared in pairs)
    alone, shared = (median(column) for column in zip(*pairs, strict=True))
    print(f"| {name} | {n:,} | {alone:.2f} s | {shared:.2f} s | {ratio:.2f} |", flush=True)


def streamed(name: str, executor: Executor, n: int) -> None:
    """Print what the driver holds above its start while *n* results stream past."""
    warm_up = scorekit.map_scores(scorekit.score_sql_case, cases(n // 10), executor=executor)
    deque(warm_up, maxlen=0)
    start = most = memory("VmRSS")
    results = scorekit.map_scores(scorekit.score_sql_case, cases(n), executor=executor)
    for i, _ in enumerate(results):
        if i % 500 == 0:
            most = max(most, memory("VmRSS"))
    print(f"| {name} | {n:,} | {most - start:.1f} MB |", flush=True)


@contextmanager
def executors() -> Iterator[dict[str, Executor]]:
    """Start processes, and a Dask cluster where it is installed."""
    with ProcessPoolExecutor(N_WORKERS, mp_context=get_context("spawn")) as pool:
        if find_spec("distributed") is None:
            yield {"processes": pool}
            return
        distributed: Any = import_module("distributed")  # it has types for parts of itself only
        with (
            distributed.LocalCluster(
                n_workers=N_WORKERS,
                threads_per_worker=1,
                protocol="tcp://",
                dashboard_address=None,
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            dask = client.get_executor(pure=False, retries=2)
            yield {"processes": pool, "Dask over TCP": dask}


def main(*, full: bool = False) -> None:
    """Print two Markdown tables."""
    with executors() as found:
        print(f"`score_sql_cases` on {N_WORKERS} workers:\n")
        print("| executor | cases | alone | on workers | ratio |\n|---|---:|---:|---:|---:|")
        n, n_pairs = (20_000, 5) if full else (5000, 3)
        speed("bare loop, processes", found["processes"], n // 4, n_pairs, loop_seconds)
        for name, executor in found.items():
            speed(name, executor, n, n_pairs)
        print("\n`map_scores`, results let go one by one:\n")
        print("| executor | cases | driver above its start |\n|---|---:|---:|")
        for name, executor in found.items():
            streamed(name, executor, 100_000 if full else 5000)


if __name__ == "__main__":
    alone(main)
