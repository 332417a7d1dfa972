"""
How time per item and peak memory grow from a thousand items to a million.

Each measurement runs in a process of its own; its peak is what the call took above the memory
that its input held already (Linux only).

    python -m benchmarks.timings.growth [--full]
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import scorekit
from benchmarks.machine import alone

SIZES = (10**3, 10**4, 10**5, 10**6)
FEW = (10**3, 10**4)


def memory(field: str) -> float:
    """Return a memory figure of this process in MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    return 0.0


def pass_at_k(n: int) -> Callable[[], object]:
    """Prepare a suite of tasks of mixed sizes."""
    rng = np.random.default_rng(0)
    n_samples = rng.integers(100, 10**4, n)
    n_correct = rng.integers(0, n_samples + 1)
    return lambda: scorekit.pass_at_k(n_samples=n_samples, n_correct=n_correct, k=(1, 10, 100))


def describe(n: int) -> Callable[[], object]:
    """Prepare distinct values."""
    values = np.random.default_rng(0).random(n)
    return lambda: scorekit.describe(values)


def code_scores(n: int) -> Callable[[], object]:
    """Prepare outcomes as columns."""
    rng = np.random.default_rng(0)
    passed, failed, warnings = rng.integers(0, 9, (3, n))
    compiled = rng.random(n) < 0.8
    return lambda: scorekit.code_scores_from_columns(
        compiled=compiled, passed=passed, failed=failed, warnings=warnings
    )


def table_accuracy(n: int) -> Callable[[], object]:
    """Prepare queries that are all different, so that nothing is remembered."""
    sql = "SELECT u.name FROM users u JOIN orders_{0} o ON o.uid = u.id WHERE o.total > {1}"
    queries = [sql.format(i, n) for i in range(n)]
    return lambda: [scorekit.table_accuracy(query, ["users", "orders"]) for query in queries]


def samples_of(n: int, n_attempts: int) -> list[scorekit.CodeSample]:
    """Return outcomes, so many to a case."""
    return [
        scorekit.CodeSample(
            case_id=f"case-{i // n_attempts}",
            model="m",
            compiled=i % 7 > 0,
            passed=i % 5,
            failed=i % 3,
            warnings=i % 4,
            cost_usd=0.01 * (i % 11),
            latency_seconds=(i % 97) / 7,
        )
        for i in range(n)
    ]


def code_report(n: int) -> Callable[[], object]:
    """Prepare samples, ten to a case."""
    samples = samples_of(n, 10)
    return lambda: scorekit.code_report(samples)


def code_report_single(n: int) -> Callable[[], object]:
    """Prepare samples, each a case of its own."""
    samples = samples_of(n, 1)
    return lambda: scorekit.code_report(samples)


def compare_reports(n: int) -> Callable[[], object]:
    """Prepare two reports of so many cases; a tenth of them changed."""
    rows = np.arange(n)

    def report(shift: int) -> scorekit.CodeReport:
        return scorekit.code_report_from_columns(
            case_id=[f"case-{i}" for i in range(n)],
            model="m",
            compiled=rows % 7 > 0,
            passed=(rows + np.where(rows % 10 == 0, shift, 0)) % 5,
            failed=rows % 3,
            warnings=rows % 4,
        )

    before, after = report(0), report(1)
    return lambda: scorekit.compare_reports(before, after)


CALLS: dict[str, Callable[[int], Callable[[], object]]] = {
    "`pass_at_k`, 3 ks, tasks": pass_at_k,
    "`describe`, values": describe,
    "`code_scores_from_columns`, rows": code_scores,
    "`table_accuracy`, queries": table_accuracy,
    "`code_report`, samples, 10 to a case": code_report,
    "`code_report`, samples, 1 to a case": code_report_single,
    "`compare_reports`, cases": compare_reports,
}


def measure(name: str, n: int) -> tuple[float, float]:
    """Return seconds and peak MB of one call, in this process."""
    call = CALLS[name](n)
    CALLS[name](100)()  # imports and first-time work
    ctypes.CDLL(None).malloc_trim(0)  # what preparing freed would hide a peak
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    started = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - started
    del result
    return seconds, memory("VmHWM") - before


def rows(*, full: bool) -> Iterator[tuple[Any, ...]]:
    """Measure everything; the quickest of three runs counts."""
    for name in CALLS:
        for n in SIZES if full else FEW:
            if n == 10**6 and name.startswith("`table_accuracy`"):
                continue  # it would take minutes
            runs: list[tuple[float, float]] = []
            for _ in range(3):
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    runs.append(pool.submit(measure, name, n).result())
            seconds, peak = min(runs)
            yield (
                name,
                f"{n:,}",
                f"{seconds:.3f} s",
                f"{seconds / n * 1e6:.2f} us",
                f"{peak:.0f} MB",
            )


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    print("| | n | time | per item | peak above the input |\n|---|---:|---:|---:|---:|")
    for row in rows(full=full):
        print("|", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    alone(main)
