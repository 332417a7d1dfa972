"""Means of amounts with long tails, such as costs and seconds: how large they can be."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

RESAMPLES = 4000

MOST_GROUPS = 500
"""Groups that are drawn one by one; more are put together, which keeps the skew of their mean."""

FEW = 6
"""Amounts above 0, fewer of which among mostly zeros leave their mean uncovered too often."""

SPREAD, MANY = 1.5, 1000
"""Standard deviation of the logarithms of a long tail, and values that make up for it."""

ROUNDING = 1e-12
"""Amounts that differ by a smaller share are equal, but for the order of their sums."""

MAX_LOG = 600.0
"""Logarithm beyond which a bound says nothing."""


def log_mean_ends(
    sums: Floats, sizes: Floats, student: float, confidence_level: float, seed: int
) -> tuple[float, float]:
    """
    Bound the mean of amounts >= 0 by a bootstrap-t of its logarithm, which draws whole groups.

    *sums* and *sizes* are those of the groups, of amounts up to 1, and *student* is the quantile
    of Student's t.  Resamples without any spread are left out, and the ends are never closer than
    Student's t puts them: few values, or few different ones, have too few resamples.  They are
    `widened`, as the mean comes from the values that are drawn from.
    """
    order = np.lexsort((sizes, sums))  # the same in whatever order they come
    sums, sizes = sums[order], sizes[order]
    mean = math.fsum(sums) / float(sizes.sum())
    if not mean or sums.size == 1:
        return 0.0, math.inf if mean else 0.0
    (_,), (error,) = _means(sums[None], sizes[None])
    low, high, n_groups = 0.0, 0.0, float(sizes.sum() ** 2 / (sizes @ sizes))
    if error > ROUNDING:
        rng = np.random.RandomState(seed)  # the one stream that NumPy promises to keep
        low, high = -student, student
        if sums.size > MOST_GROUPS:
            part = rng.permutation(sums.size) % MOST_GROUPS
            sums, sizes = (
                np.asarray(np.bincount(part, side), np.float64) for side in (sums, sizes)
            )
        drawn = rng.randint(0, sums.size, (RESAMPLES, sums.size))
        means, errors = _means(sums[drawn], sizes[drawn])
        varied = errors > ROUNDING
        if varied.any():
            shifts = np.log(means[varied] / mean) / errors[varied]
            tail = (1.0 - confidence_level) / 2.0
            first, last = np.quantile(shifts, (tail, 1.0 - tail)).tolist()
            low, high = min(low, first), max(high, last)
    reach = widened(n_groups, 1) * float(error)
    most = -low * reach
    return (
        mean * math.exp(-high * reach),
        mean * math.exp(most) if most < MAX_LOG else math.inf,
    )


def _means(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each row of groups, and the relative standard error of it."""
    n_groups, n = sums.shape[1], sizes.sum(axis=1)
    means = sums.sum(axis=1) / n
    with np.errstate(invalid="ignore"):  # where all drawn are 0
        rest = sums / (means * n)[:, None] - sizes / n[:, None]
    return means, np.sqrt(n_groups / (n_groups - 1.0) * (rest * rest).sum(axis=1))


def widened(n: float, fitted: int) -> float:
    """
    Return by how much an interval from *n* values widens for numbers *fitted* to the same ones.

    They lie closer to these than others would: Akaike's final prediction error makes up for that.
    """
    return math.sqrt((n + fitted) / max(n - fitted, 1.0))


LONG_TAIL = "with such long tails, 0.78 to 0.94 of simulated 95 % intervals held the mean"
MOSTLY_ZEROS = "with so few values above 0, 0.66 to 0.94 of simulated 95 % intervals held the mean"


def trouble(values: Floats) -> str | None:
    """Say how many intervals for such a mean were found to contain it, where that is too few."""
    above = values[values > 0.0]
    if 0 < above.size < min(FEW, values.size / 2.0):
        return MOSTLY_ZEROS
    if above.size < 2 or above.size > MANY:  # noqa: PLR2004 - one amount has no tail
        return None
    logs = np.sort(np.log(above))
    tail = (logs - logs[(above.size - 1) // 2])[above.size // 2 :]
    return LONG_TAIL if math.sqrt(float(tail @ tail) / tail.size) > SPREAD else None
