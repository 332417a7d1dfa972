"""
How often a change of the ruler is taken for one of the system, and how often each is found.

    python -m benchmarks.simulations.simulate_rulers [--full] [--repetitions 1000]

Two runs of the same tasks, the second measured by another judge, and some answers of the first
measured anew by it.  Judges are noisy, and the more so the harder a task is.  All goes through
`compare_reports` as a user calls it; beside it stand the paired t of the anchors alone and of
both runs as they are, whoever judged them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.machine import machine
from scorekit import compare_reports

Floats: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator
Runs: TypeAlias = tuple[Floats, Floats, Floats]
"""Scores of the baseline, of the current run, and of the baseline by today's judge."""

RULERS = {"judge": "x"}, {"judge": "y"}
CELLS = [(50, 20), (50, 50), (200, 40), (200, 100), (1000, 40), (1000, 100)]
"""Tasks, and anchors."""


def graded(rng: Rng, n: int, k: int, *, loss: float, stricter: float) -> Runs:
    """Draw scores in steps of a hundredth."""
    difficulty = rng.random(n)[:, None]
    usual = 1.0 - 0.6 * difficulty
    old, new = (np.clip(usual - lost + rng.normal(0, 0.12, (n, k)), 0, 1) for lost in (0, loss))
    noise = 0.05 * (0.5 + difficulty)

    def said(quality: Floats, less: float) -> Floats:
        judged = quality - less + rng.normal(size=(n, k)) * noise
        return np.asarray(np.clip(np.round(judged, 2), 0, 1))

    return said(old, 0.0), said(new, stricter), said(old, stricter)


def yes_or_no(rng: Rng, n: int, k: int, *, loss: float, stricter: float) -> Runs:
    """Draw outcomes of 0 and 1; a stricter judge calls some right answers wrong."""
    difficulty = rng.random(n)[:, None]
    rate = 1.0 - 0.8 * difficulty**1.5
    old, new = (rng.random((n, k)) < np.clip(rate - lost, 0, 1) for lost in (0, loss))

    def said(right: NDArray[np.bool_], less: float) -> Floats:
        turned = right ^ (rng.random((n, k)) < 0.03 * (0.5 + difficulty))
        kept = rng.random((n, k)) >= less * (0.5 + difficulty)
        return (turned & kept).astype(np.float64)

    return said(old, 0.0), said(new, stricter), said(old, stricter)


class Found(NamedTuple):
    """What a comparison says of the system and of the ruler, and simpler tests of the system."""

    fell: bool
    rose: bool
    stricter: bool
    lenient: bool
    by_anchors_alone: bool
    by_both_runs: bool


def fell(deltas: Floats) -> bool:
    """Say whether a paired t finds a fall."""
    if not deltas.any():
        return False
    return bool(stats.ttest_1samp(deltas, 0.0, alternative="less").pvalue <= 0.025)


def found(runs: Runs, n_anchors: int) -> Found:
    """Compare two runs, the first cases being anchors."""
    old, new, again = (dict(enumerate(one.tolist())) for one in runs)
    anchors = {i: again[i] for i in range(n_anchors)}
    result = compare_reports(old, new, rulers=RULERS, rescored=anchors, attempts="fixed")
    assert result.ruler is not None
    verdict, effect = result.suite.verdict, result.ruler.effects["score"].verdict
    means = [one.mean(axis=1) for one in runs]
    return Found(
        verdict == "regressed",
        verdict == "improved",
        effect == "stricter",
        effect == "more lenient",
        fell((means[1] - means[2])[:n_anchors]),
        fell(means[1] - means[0]),
    )


WORLDS: dict[str, Callable[[Rng, int, int], Runs]] = {
    "nothing changed": partial(graded, loss=0.0, stricter=0.0),
    "judge stricter by .03": partial(graded, loss=0.0, stricter=0.03),
    "loss of .05, judge more lenient by .05": partial(graded, loss=0.05, stricter=-0.05),
    "yes or no: nothing changed": partial(yes_or_no, loss=0.0, stricter=0.0),
    "yes or no: 6 % of right answers called wrong": partial(yes_or_no, loss=0.0, stricter=0.06),
    "yes or no: loss of .1": partial(yes_or_no, loss=0.1, stricter=0.0),
}


def rows(repetitions: int, seed: int) -> Iterator[tuple[str, int, int, int, Any]]:
    """Yield the shares of each cell."""
    for name, world in WORLDS.items():
        for n, n_anchors in CELLS:
            for k in (1, 5):
                rng = np.random.default_rng(seed)
                all_found = [found(world(rng, n, k), n_anchors) for _ in range(repetitions)]
                yield name, n, k, n_anchors, np.mean(all_found, axis=0)


def main(*, full: bool = False, repetitions: int | None = None, seed: int = 1) -> None:
    """Print the table."""
    print(
        "| world | tasks | attempts | anchors | system fell | rose | judge stricter | more lenient"
    )
    print("| anchors alone | both runs |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, n, k, n_anchors, shares in rows(repetitions or (1000 if full else 20), seed):
        numbers = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| {name} | {n} | {k} | {n_anchors} | {numbers} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(f"{machine()}\n")
    main(full=options.full, repetitions=options.repetitions, seed=options.seed)
