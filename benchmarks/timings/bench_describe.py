"""
What exactness costs: `describe` beside NumPy's seven calls, `statistics`, and plain `fsum`.

Each figure is the median of several runs; read them as ratios.  The values are uniform in
[0, 1], all distinct, or rounded to three digits so that they repeat; at 10 they are a list, from
10 000 on an array.

    python -m benchmarks.timings.bench_describe [--full]
"""

from __future__ import annotations

import math
import statistics
import timeit
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.machine import alone
from scorekit import describe

FEW = (10, 10**4, 10**5)
SIZES = (10, 10**4, 10**6, 10**7)
SEED = 20261120
SLOW = 10**4
"""Largest size for the paths that work value by value in Python."""


def with_numpy(values: Any) -> tuple[Any, ...]:
    """Make the seven calls that `describe` replaces."""
    array = np.asarray(values)
    distinct, counts = np.unique(array, return_counts=True)
    return (
        np.median(array),
        array.mean(),
        distinct[counts.argmax()],
        array.min(),
        array.max(),
        array.std(),
        array.size,
    )


def with_statistics(values: list[float]) -> tuple[Any, ...]:
    """Do the same with the standard library."""
    return (
        statistics.median(values),
        statistics.mean(values),
        min(statistics.multimode(values)),
        min(values),
        max(values),
        statistics.pstdev(values),
        len(values),
    )


def with_fsum(values: list[float]) -> tuple[Any, ...]:
    """Do the least that plain Python can, without checks and with several roundings."""
    ordered = sorted(values)
    n = len(ordered)
    mean = math.fsum(ordered) / n
    counts: dict[float, int] = {}
    for x in ordered:
        counts[x] = counts.get(x, 0) + 1
    return (
        (ordered[(n - 1) // 2] + ordered[n // 2]) / 2,
        mean,
        max(counts, key=counts.__getitem__),
        ordered[0],
        ordered[-1],
        math.sqrt(math.fsum([(x - mean) ** 2 for x in ordered]) / n),
        n,
    )


def seconds(call: Callable[[], object]) -> float:
    """Return the median time of one call."""
    timer = timeit.Timer(call)
    number = max(1, timer.autorange()[0] // 4)
    return statistics.median(timer.repeat(repeat=7, number=number)) / number


def shown(time: float | None) -> str:
    """Return a time with its unit."""
    if time is None:
        return "-"
    return f"{time * 1e6:.1f} us" if time < 1e-3 else f"{time * 1e3:.1f} ms"


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    rng = np.random.default_rng(SEED)
    print("| n | values | describe | NumPy | describe / NumPy | statistics | fsum |")
    print("|---|---|---|---|---|---|---|")
    for n in SIZES if full else FEW:
        for kind, digits in (("distinct", None), ("repeated", 3 if n > 10 else 1)):
            array = rng.random(n)
            if digits is not None:
                array = array.round(digits)
            values: Any = array.tolist() if n <= 10 else array
            as_list: list[float] = array.tolist() if n <= SLOW else []
            ours, numpys = (seconds(partial(f, values)) for f in (describe, with_numpy))
            slow = [
                seconds(partial(f, as_list)) if as_list else None
                for f in (with_statistics, with_fsum)
            ]
            cells = (
                n,
                kind,
                shown(ours),
                shown(numpys),
                f"{ours / numpys:.2f}",
                *map(shown, slow),
            )
            print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    alone(main)
