"""An agreement beyond chance, and what it may be: the likelihood of a table of counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from scorekit._core.arrays import Floats
from scorekit._core.roots import root
from scorekit.intervals import Interval, interval_around, t_quantile

Expected: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""The disagreement that chance gives under the shares of a table, and its derivatives."""

NEAR = 1e-5
"""Agreements that differ less are the same."""

STEPS = 60
"""Most steps to a multiplier; about six are taken."""

DIGITS = 1e-10
"""Share of a multiplier's range that a last step may be."""


def agreement(
    counts: Floats, cost: Floats, expected: Expected, confidence_level: float
) -> tuple[float, float | None, Interval]:
    """
    Return ``1 - D / E``, *D* being the mean of *cost* over the items and *E* what is *expected*.

    And its standard error, and its interval: every agreement that some table of shares has under
    which the counts are likely enough, twice the log of the likelihood ratio being at most the
    square of Student's quantile.  *E* is taken as linear around the table seen.
    """
    n, error, low, high = float(counts.sum()), None, -1.0, 1.0
    start = counts / n
    by_chance, slopes = expected(start)
    ratio = float(np.sum(start * cost)) / by_chance
    agreement = 1.0 - ratio
    if n > 1.0:
        influence = cost - ratio * slopes
        influence -= float(np.sum(start * influence))
        error = math.sqrt(float(np.sum(start * influence * influence)) / n) / by_chance
        most = t_quantile(confidence_level, n - 1.0)
        held, empty = counts > 0.0, counts == 0.0
        by_chance_of = slopes - (float(np.sum(start * slopes)) - by_chance)
        # the largest disagreement seen, or the next above it: a sample shows about that much
        largest = float(cost[held].max())
        beyond = cost[empty & (cost > largest)]
        ends = {0.0, float(beyond.min() if beyond.size else cost.max(initial=0.0, where=empty))}
        groups = [group for end in sorted(ends) if (group := empty & (cost == end)).any()]
        pairs = [
            (float(cost[group].mean()), float(by_chance_of[group].mean())) for group in groups
        ]
        seen, own, others = counts[held], cost[held], by_chance_of[held]

        def excess(target: float) -> float:
            if abs(target - agreement) <= NEAR:
                return -most
            offsets = own - (1.0 - target) * others
            unseen = [first - (1.0 - target) * second for first, second in pairs]
            deviance = _deviance(seen, offsets, unseen)
            return min(math.sqrt(max(deviance, 0.0)), 2.0 * most) - most  # nearly a line

        if excess(-1.0 + NEAR) > 0.0:
            low = -root(lambda target: excess(-target), -agreement, 1.0 - NEAR, NEAR)
        if excess(1.0 - NEAR) > 0.0:
            high = root(excess, agreement, 1.0 - NEAR, NEAR)
    method = "linearized likelihood"
    return agreement, error, interval_around(agreement, (low, high), confidence_level, method)


def _deviance(counts: Floats, offsets: Floats, unseen: list[float]) -> float:
    """
    Return by how much the likeliest shares with mean *offsets* of 0 explain the counts less well.

    Cells without an item, of which *unseen* are the offsets, may have a share for nothing.  Twice
    the greatest sum of ``log(1 + m h)`` over the items: Newton's steps find the multiplier *m*,
    which leaves no share below 0.  Infinite where there are no such shares.
    """
    if not offsets.any():
        return 0.0
    every = [float(offsets.min()), float(offsets.max()), *unseen]
    least, most = min(every), max(every)
    if not least < 0.0 < most:
        return math.inf
    low, high = -1.0 / most, -1.0 / least
    at = 0.0
    for _ in range(STEPS):
        terms = offsets / (1.0 + at * offsets)
        slope = float(counts @ terms)
        low, high = (at, high) if slope > 0.0 else (low, at)
        step = slope / float(counts @ (terms * terms))
        moved = at + step
        if not low < moved < high:
            moved = (low + high) / 2.0
        done = abs(moved - at) <= DIGITS * (high - low + abs(at))
        at = moved
        if done:
            break
    return 2.0 * float(counts @ np.log1p(at * offsets))
