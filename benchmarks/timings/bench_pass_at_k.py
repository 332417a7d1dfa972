"""
Time and check pass@k beside the loop of its authors.

Prints Markdown tables: medians of repeated runs on this machine, which are to be read as ratios,
and the largest errors against exact rationals.

    python -m benchmarks.timings.bench_pass_at_k [--full]
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.machine import alone
from scorekit import PassAtK, pass_at_k, pass_at_k_per_task

KS = (1, 5, 10, 100)
SHARE = 100
"""One in so many tasks is given to the original loop, whose time is scaled up to all of them."""


def original(*, n_samples: Any, n_correct: Any, k: int) -> list[float]:
    """Estimate as Chen et al. publish it, task by task."""
    return [
        1.0 if n - c < k else float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))
        for n, c in zip(n_samples, n_correct, strict=True)
    ]


def median_seconds(function: Callable[[], object], repeats: int = 7) -> float:
    """Return the median time of a call."""
    times: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def time_suites(n_tasks: int) -> None:
    """Compare on tasks of equal and of mixed sizes."""
    n_few = n_tasks // SHARE
    rng = np.random.default_rng(0)
    print(f"## {n_tasks:,} tasks, ks = {KS}\n")
    print(f"The original loop ran once on {n_few:,} of them; its time is scaled to all.\n")
    print("| samples per task | original | `pass_at_k` | ratio | `pass_at_k_per_task`, k = 10 |")
    print("|---|---|---|---|---|")
    for label, n in (
        ("200", np.full(n_tasks, 200)),
        ("100 to 100,000", rng.integers(100, 10**5 + 1, n_tasks)),
    ):
        c = rng.integers(0, n + 1)
        columns: dict[str, Any] = {"n_samples": n, "n_correct": c}
        few: dict[str, Any] = {"n_samples": n[:n_few], "n_correct": c[:n_few]}
        loops = [median_seconds(partial(original, **few, k=k), repeats=1) for k in KS]
        loop = sum(loops) * n_tasks / n_few
        suite = median_seconds(partial(pass_at_k, **columns, k=KS))
        per_task = median_seconds(partial(pass_at_k_per_task, **columns, k=10))
        print(
            f"| {label} | {loop:.1f} s (scaled) | {suite * 1e3:.1f} ms "
            f"| {loop / suite:.0f} | {per_task * 1e3:.1f} ms |"
        )
        ours = pass_at_k_per_task(**few, k=10)
        assert np.allclose(ours, original(**few, k=10), rtol=1e-9, atol=1e-12)


def time_single_tasks() -> None:
    """Time whole calls: checks, both numbers, the standard error and the interval."""
    print("\n## One task\n\n| n | c | k | `pass_at_k` |\n|---|---|---|---|")
    for n, c, k in (
        (10, 3, 5),
        (200, 60, 100),
        (10**6, 5 * 10**5, 1000),
        (10**6, 10, 5 * 10**5),
        (2**53, 10**9, 10**6),
    ):

        def calls(n: int = n, c: int = c, k: int = k) -> list[PassAtK]:
            return [pass_at_k(n_samples=n, n_correct=c, k=k) for _ in range(1000)]

        print(f"| {n} | {c} | {k} | {median_seconds(calls) * 1e3:.1f} us |")


def corners(rng: np.random.Generator, k: int) -> Iterator[tuple[str, int, int]]:
    """Yield kind, n up to 1e6, and c from the corners where other forms lose their digits."""
    for _ in range(4):
        n = min(10**6, k + int((10**6 + 1 - k) ** rng.random()))
        for kind, c in (
            ("any c", int(rng.integers(n + 1))),
            ("c near 0", int(n ** rng.random())),
            ("c near n", n - int(n ** rng.random())),
            ("k near n - c", n - k - int(n ** rng.random()) + 1),
            ("c k near n", int(n / k * rng.uniform(0.01, 3.0))),
            ("tiny failure", int(n / k * rng.uniform(50.0, 740.0))),
        ):
            if 0 < c <= n - k and c * k <= 740 * n:  # else the answers are 0 and 1
                yield kind, n, c
    if k > 1:
        yield "k near n", k + 1, 1
        yield "k near n", k + int(k ** rng.random()), int(rng.integers(1, 4))


def relative_error(value: float, top: int, bottom: int) -> float:
    """Return how far *value* is from ``top / bottom``, in exact integers."""
    a, b = value.as_integer_ratio()
    return abs(a * bottom - top * b) / (top * b)


def check_accuracy(n_ks: int) -> None:
    """Compare scalars and columns with exact rationals over a seeded grid."""
    rng = np.random.default_rng(1)
    worst: dict[str, list[float]] = {}
    n_cases = 0
    ks = [*range(1, 30), *(int(10 ** rng.uniform(1.0, 6.0)) for _ in range(n_ks))]
    for k in ks:
        for kind, n, c in corners(rng, k):
            if c > n - k:
                continue
            few, many = sorted((c, k))
            top, bottom = math.perm(n - many, few), math.perm(n, few)
            if top / bottom < sys.float_info.min:
                continue
            one = pass_at_k(n_samples=n, n_correct=c, k=k)
            column = pass_at_k(n_samples=[n, n], n_correct=[c, c], k=k)
            errors = [
                error
                for result in (one, column)
                for error in (
                    relative_error(result.score, bottom - top, bottom),
                    relative_error(result.failure, top, bottom),
                )
            ]
            worst[kind] = [max(pair) for pair in zip(worst.get(kind, errors), errors, strict=True)]
            n_cases += 1
    print(f"\n## Largest relative error against exact rationals, {n_cases:,} cases, n <= 1e6\n")
    print(
        "| corner | score, one task | failure | score, column | failure |\n|---|---|---|---|---|"
    )
    for kind, errors in worst.items():
        print(f"| {kind} | " + " | ".join(f"{error:.1e}" for error in errors) + " |")


def main(*, full: bool = False) -> None:
    """Print three Markdown tables."""
    time_suites(10**6 if full else 10**5)
    time_single_tasks()
    check_accuracy(500 if full else 50)


if __name__ == "__main__":
    alone(main)
