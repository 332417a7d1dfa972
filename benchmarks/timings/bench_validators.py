"""
Time per call of the metrics on validators, and of calibration over a large suite.

Calibration stands beside the least that any implementation must do: group the outcomes by level
with pandas and take the means.

    python -m benchmarks.timings.bench_validators [--full]
"""

from __future__ import annotations

import logging
import random
import statistics
import timeit
from collections.abc import Callable

import numpy as np
import pandas as pd

import scorekit
from benchmarks.machine import alone

MESSAGE = 'relation "public.orders_2024" does not exist'
UNKNOWN = "something went wrong while the query was being looked at " * 3


def median_seconds(call: Callable[[], object], number: int) -> float:
    """Return the median over seven rounds of the time of one call."""
    return statistics.median(timeit.repeat(call, number=number, repeat=7)) / number


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    logging.getLogger("scorekit").addHandler(logging.NullHandler())
    n_cases = 100_000 if full else 10_000
    rng = random.Random(0)  # noqa: S311 - no secret
    levels = rng.choices(["high", "medium", "low"], k=n_cases)
    correct = [rng.random() < 0.7 for _ in levels]
    arrays = np.array(levels), np.array(correct)
    frame = pd.DataFrame({"level": levels, "correct": correct})
    rows: list[tuple[str, Callable[[], object], int]] = [
        (
            "`safety_validation`",
            lambda: scorekit.safety_validation(safety_valid=True, should_pass=True),
            2000,
        ),
        (
            "`validation_accuracy`, known message",
            lambda: scorekit.validation_accuracy(
                is_valid=False, should_pass=True, errors=[MESSAGE]
            ),
            2000,
        ),
        (
            "`validation_accuracy`, unknown message",
            lambda: scorekit.validation_accuracy(
                is_valid=False, should_pass=True, errors=[UNKNOWN]
            ),
            2000,
        ),
        (
            f"`confidence_calibration`, {n_cases} cases, lists",
            lambda: scorekit.confidence_calibration(levels, correct=correct),
            3,
        ),
        (
            f"`confidence_calibration`, {n_cases} cases, arrays",
            lambda: scorekit.confidence_calibration(arrays[0], correct=arrays[1]),
            3,
        ),
        (
            f"pandas groupby mean, {n_cases} cases",
            lambda: frame.groupby("level")["correct"].agg(["mean", "size"]),
            3,
        ),
    ]
    print("| call | median |\n|---|---:|")
    for name, call, number in rows:
        print(f"| {name} | {1e6 * median_seconds(call, number):.1f} us |")


if __name__ == "__main__":
    alone(main)
