"""Outcomes that are missing: whether a run lost more of them than the other, and hid them."""

from __future__ import annotations

import numpy as np

from scorekit._core.arrays import Counts, Floats
from scorekit._core.attempts import Attempts

A_TENTH = 0.1
"""Share of the cases that have the number of attempts which was planned, at least."""

NEARLY_ALL = 0.95
"""Share of the cases that end with their first pass where attempts went on until it."""

FEW_RETRIED = 5
"""Cases with failures before their only pass that show where attempts end."""


def planned_attempts(sizes: Counts) -> int:
    """Return the largest number of attempts that a tenth of the cases have, or more."""
    ordered = np.sort(sizes)[::-1]
    return int(ordered[max(int(np.ceil(A_TENTH * ordered.size)) - 1, 0)])


def missing_shares(worst: Attempts, best: Attempts, planned: int) -> Floats:
    """Return the share of each case's outcomes that are unknown, or that were never made."""
    sizes = worst.sizes
    n_unknown = np.add.reduceat((worst.scores < best.scores).astype(np.float64), worst.starts)
    full = np.maximum(sizes, planned)
    return np.asarray((n_unknown + full - sizes) / full)


def padded(attempts: Attempts, planned: int, score: float) -> Attempts:
    """Return the attempts with those that are missing, each with this score."""
    if int(attempts.sizes.min()) >= planned:
        return attempts
    sizes = np.maximum(attempts.sizes, planned)
    scores = np.full(int(sizes.sum()), score)
    starts = np.cumsum(sizes) - sizes
    within = np.arange(attempts.scores.size) - np.repeat(attempts.starts, attempts.sizes)
    scores[np.repeat(starts, attempts.sizes) + within] = attempts.scores
    return Attempts(scores, sizes)


def are_until_first_pass(attempts: Attempts) -> bool:
    """Tell whether nearly every case was tried until it passed: a pass at the end, or none."""
    n, c = attempts.sizes, attempts.totals()
    if attempts.are_single or not np.isin(attempts.scores, (0.0, 1.0)).all():
        return False
    ends = (c == 1.0) | ((c == 0.0) & (n == n.max()))
    retried = (c == 1.0) & (n > 1)
    return bool(
        np.count_nonzero(retried) >= FEW_RETRIED
        and np.unique(n[c == 1.0]).size > 1
        and ends.mean() >= NEARLY_ALL
    )
