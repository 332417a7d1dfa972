"""
How often the suite verdict cries wolf, and how often it sees a real loss.

Every task has its own success rate, drawn from Beta(1/2, 1/2): most tasks are nearly always or
nearly never solved.  For false alarms both runs draw from the same rates; for power a fifth of
the tasks, drawn from those that have them, loses 25 points.  Attempts are scored 0 or 1
(Cochran-Mantel-Haenszel); for the paired t test each case is given as the mean of its attempts.

    python benchmarks/bench_verdict.py [repetitions] [seed]
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
from numpy.typing import NDArray

import scorekit

DESIGNS = ((100, 1), (100, 5), (164, 10))
LOSS = 0.25

Counts = NDArray[np.int64]


def draw(
    rng: np.random.Generator, n_tasks: int, n_attempts: int, *, loss: bool
) -> tuple[Counts, Counts]:
    """Return successes per task of the baseline and of the current run."""
    rates = rng.beta(0.5, 0.5, n_tasks)
    current = rates.copy()
    if loss:
        able = np.flatnonzero(rates >= LOSS)
        current[rng.choice(able, n_tasks // 5, replace=False)] -= LOSS
    return rng.binomial(n_attempts, rates), rng.binomial(n_attempts, current)


def verdict(before: Counts, after: Counts, n_attempts: int, *, binary: bool) -> str:
    """Return the verdict on one pair of runs, from attempts or from means."""
    sides = [
        {
            f"task-{i}": [1] * c + [0] * (n_attempts - c) if binary else c / n_attempts
            for i, c in enumerate(side.tolist())
        }
        for side in (before, after)
    ]
    return scorekit.compare_reports(sides[0], sides[1]).suite.verdict


def main() -> None:
    """Print one Markdown table."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261120
    print(f"{repetitions} repetitions, seed {seed}, confidence 0.95\n")
    print("| tasks x attempts | test | false alarms (worse + better) | power |")
    print("|---|---|---|---|")
    for n_tasks, n_attempts in DESIGNS:
        for binary in (True, False):
            if n_attempts == 1 and not binary:
                continue  # a single 0/1 score per case is binary either way
            rng = np.random.default_rng(seed)
            counts: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
            for loss, counter in counts.items():
                for _ in range(repetitions):
                    before, after = draw(rng, n_tasks, n_attempts, loss=loss)
                    counter[verdict(before, after, n_attempts, binary=binary)] += 1
            worse, better = (counts[False][v] / repetitions for v in ("regressed", "improved"))
            power = counts[True]["regressed"] / repetitions
            test = "Cochran-Mantel-Haenszel" if binary else "paired t"
            print(
                f"| {n_tasks} x {n_attempts} | {test} | "
                f"{worse + better:.4f} ({worse:.4f} + {better:.4f}) | {power:.3f} |"
            )


if __name__ == "__main__":
    main()
