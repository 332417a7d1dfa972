"""Means of amounts with long tails, such as costs and seconds: how large they can be."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats

RESAMPLES = 4000

MOST_GROUPS = 500
"""Groups that are drawn one by one; more are put together, which keeps the skew of their mean."""

BLOCK = 100
"""Resamples that are drawn and summed at a time: products so small are no work for threads."""

CANCELED = 1e-6
"""Share of the squares about the mean of all, up to which those about its own are rounding."""

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
        low, high = -student, student
        part, times = _draws(sums.size, seed)
        if part is not None:
            sums, sizes = (
                np.asarray(np.bincount(part, side), np.float64) for side in (sums, sizes)
            )
        means, errors = _resampled(sums, sizes, mean, times)
        varied = (errors > ROUNDING) & (means > 0.0)  # 0 where it is too small for a float
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


@lru_cache(maxsize=2)
def _draws(n_groups: int, seed: int) -> tuple[NDArray[np.int64] | None, NDArray[np.uint16]]:
    """
    Draw the resamples of so many groups: how often each one is in each of them.

    Groups that are put together have the number of their part.  Where several columns are of as
    many groups, as those of a report often are, they are the same.
    """
    rng = np.random.RandomState(seed)  # the one stream that NumPy promises to keep
    part = rng.permutation(n_groups) % MOST_GROUPS if n_groups > MOST_GROUPS else None
    n = min(n_groups, MOST_GROUPS)
    times = np.empty((RESAMPLES, n), np.uint16)
    for rows in _blocks():
        drawn = rng.randint(0, n, (rows.stop - rows.start, n))
        places = drawn + n * np.arange(len(drawn))[:, None]
        times[rows] = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape)
    times.setflags(write=False)
    return part, times


def _blocks() -> list[slice]:
    return [slice(first, first + BLOCK) for first in range(0, RESAMPLES, BLOCK)]


def _resampled(
    sums: Floats, sizes: Floats, mean: float, times: NDArray[np.uint16]
) -> tuple[Floats, Floats]:
    """
    Return what `_means` does of each resample, from sums over the groups that it holds.

    Sums of squares about *mean* cancel where a resample has next to no spread of its own: such
    ones, which are few, are drawn out.
    """
    n_groups = sums.size
    rest = sums - mean * sizes
    parts = np.stack([sizes, rest, rest * rest, rest * sizes, sizes * sizes], axis=1)
    totals = np.concatenate([times[rows].astype(np.float64) @ parts for rows in _blocks()])
    n, shift, squares, crossed, of_sizes = totals.T
    shift = shift / n  # of the mean
    spread = squares - 2.0 * shift * crossed + shift * shift * of_sizes
    means = mean + shift
    with np.errstate(invalid="ignore", divide="ignore"):  # where all drawn are 0
        errors = np.sqrt(n_groups / (n_groups - 1.0) * np.maximum(spread, 0.0)) / (means * n)
    for i in np.flatnonzero(spread <= CANCELED * squares):
        drawn = np.repeat(np.arange(n_groups), times[i])
        means[i : i + 1], errors[i : i + 1] = _means(sums[drawn][None], sizes[drawn][None])
    return means, errors


def _means(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each row of groups, and the relative standard error of it."""
    n_groups, n = sums.shape[1], sizes.sum(axis=1)
    totals = sums.sum(axis=1)
    with np.errstate(invalid="ignore"):  # where all drawn are 0
        rest = sums / totals[:, None] - sizes / n[:, None]
    return totals / n, np.sqrt(n_groups / (n_groups - 1.0) * (rest * rest).sum(axis=1))


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
