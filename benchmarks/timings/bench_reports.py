"""
Reports on large tables beside the same group-by in pandas: time, memory, JSON, comparisons.

Times are of the processor, the best of three taken in turns; memory is the peak of a process of
its own above what its input holds (Linux only).

    python -m benchmarks.timings.bench_reports [--full]
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd

import scorekit
from benchmarks.machine import alone
from benchmarks.timings.growth import memory, samples_of


def table(n: int, n_attempts: int, *, costs: bool, shift: int = 0) -> pd.DataFrame:
    """Return outcomes, so many to a case; a *shift* changes a tenth of them."""
    rng, rows = np.random.default_rng(0), np.arange(n)
    columns: dict[str, Any] = {
        "case_id": [f"case-{i // n_attempts}" for i in range(n)],
        "model": "m",
        "compiled": rng.random(n) < 0.9,
        "passed": (rng.integers(0, 5, n) + np.where(rows % 10 == 0, shift, 0)) % 5,
        "failed": rng.integers(0, 3, n) * (rng.random(n) < 0.4),
    }
    return pd.DataFrame(columns | ({"cost_usd": rng.random(n)} if costs else {}))


def group_by(frame: pd.DataFrame) -> object:
    """Compute counts, passes and mean scores of cases as one would without scorekit."""
    tests = frame.passed / (frame.passed + frame.failed).clip(lower=1)
    frame = frame.assign(
        score=np.where(frame.compiled, 0.4 + 0.5 * tests + 0.1, 0.0),
        correct=frame.compiled & (frame.passed > 0) & (frame.failed == 0),
    )
    found = {"n": ("score", "size"), "c": ("correct", "sum"), "mean": ("score", "mean")}
    if "cost_usd" in frame:
        found["cost"] = ("cost_usd", "sum")
    return frame.groupby(["case_id", "model"], sort=False).agg(**found)


def best(*calls: Callable[[], object]) -> list[float]:
    """Return the least processor time of each call, in three rounds."""
    times = [[0.0] * 3 for _ in calls]
    for i in range(3):
        for own, call in zip(times, calls, strict=True):
            gc.collect()
            start = time.process_time()
            call()
            own[i] = time.process_time() - start
    return list(map(min, times))


def peak(n: int, n_attempts: int) -> float:
    """Return what `code_report` takes above its samples, in MB, in this process."""
    scorekit.code_report(samples_of(10, 1))
    samples = samples_of(n, n_attempts)
    gc.collect()
    before = memory("VmRSS")
    report = scorekit.code_report(samples)
    assert len(report.cases) == n // n_attempts
    return memory("VmHWM") - before


def rows(n: int, n_attempts: int, *, costs: bool) -> list[str]:
    """Measure one table."""
    frame = table(n, n_attempts, costs=costs)
    plain, own = best(lambda: group_by(frame), lambda: scorekit.code_report_from_columns(**frame))
    report = scorekit.code_report_from_columns(**frame)
    other = scorekit.code_report_from_columns(**table(n, n_attempts, costs=costs, shift=1))
    text = report.to_json()
    write, read, compare = best(
        report.to_json,
        lambda: scorekit.CodeReport.from_json(text),
        lambda: scorekit.compare_reports(report, other),
    )
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        above = executor.submit(peak, n, n_attempts).result()
    return [
        f"{n:,}",
        f"{n_attempts}",
        "yes" if costs else "no",
        f"{plain:.2f} s",
        f"{own:.2f} s",
        f"{own / plain:.1f}",
        f"{write:.2f} + {read:.2f} s",
        f"{len(text) / 1e6:.0f} MB",
        f"{compare:.2f} s",
        f"{above:.0f} MB",
    ]


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    print(
        "| samples | to a case | costs | pandas | report | ratio | JSON there and back | size ",
        end="",
    )
    print("| compare | `code_report` above its samples |\n|---:|---:|---|" + "---:|" * 7)
    for n_attempts in (1, 10):
        for costs in (False, True):
            row = rows(10**6 if full else 10**5, n_attempts, costs=costs)
            print("|", " | ".join(row), "|", flush=True)


if __name__ == "__main__":
    alone(main)
