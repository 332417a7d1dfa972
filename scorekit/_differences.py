"""What the mean of signed differences in [-1, 1] can be, also where only a few of them move."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import fmean

from scorekit.intervals import Interval, t_quantile, wilson

DECIMAL_NOISE = 1e-9
"""Two score changes closer than this are the same: 1.0 -> 0.95 is a drop of exactly 0.05."""

METHOD = "wilson on gains and losses"


def grouped_error(values: Sequence[float], groups: Sequence[Hashable]) -> float:
    """
    Return the standard error of the mean, values of one group being dependent.

    It is the jackknife's over groups (CR3): the usual CR1 where they are equally large,
    ``s / sqrt(n)`` where each value is its own group, and larger than CR1, which is then too
    small, where a few groups hold most values.  A single group tells nothing and gives 0, as
    groups do whose deviations are all decimal noise.
    """
    n, mean, sizes = len(values), fmean(values), Counter(groups)
    sums = dict.fromkeys(sizes, 0.0)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value - mean
    if len(sizes) == 1 or max(map(abs, sums.values())) < DECIMAL_NOISE:
        return 0.0
    square = math.fsum((total / (n - sizes[group])) ** 2 for group, total in sums.items())
    return math.sqrt(square * (1.0 - 1.0 / len(sizes)))


def effective_groups(groups: Sequence[Hashable]) -> float:
    """Return the number of equally large groups that would tell as much as these."""
    return len(groups) ** 2 / sum(size * size for size in Counter(groups).values())


def share_interval(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float
) -> tuple[float, float]:
    """
    Bound the mean of *values* in [0, 1] by Wilson on the number of cases they are worth.

    That number is ``p (1 - p) / stderr^2``, or the number of groups where nothing varies.  There
    must be two groups at least.
    """
    n_groups = effective_groups(groups)
    mean, error = fmean(values), grouped_error(values, groups)
    n = mean * (1.0 - mean) / (error * error) if error and 0.0 < mean < 1.0 else n_groups
    return wilson(mean, n, t_quantile(confidence, n_groups - 1))


def difference_interval(
    values: Sequence[float], groups: Sequence[Hashable], confidence: float
) -> Interval:
    """
    Bound the mean of *values* in [-1, 1] without supposing that their sum is normal.

    Rises and falls are bounded apart and put together again (MOVER): a run in which nothing fell
    does not show that nothing can fall.
    """
    rises, falls = [max(v, 0.0) for v in values], [max(-v, 0.0) for v in values]
    if len(set(groups)) == 1:
        return Interval(low=-1.0, high=1.0, confidence=confidence, method=METHOD)
    rise, fall = fmean(rises), fmean(falls)
    rise_low, rise_high = share_interval(rises, groups, confidence)
    fall_low, fall_high = share_interval(falls, groups, confidence)
    together, up, down = (grouped_error(side, groups) for side in (values, rises, falls))
    shared = (up * up + down * down - together * together) / (up * down) if up and down else 0.0
    mean = rise - fall
    return Interval(
        low=max(-1.0, mean - _reach(rise - rise_low, fall_high - fall, shared)),
        high=min(1.0, mean + _reach(rise_high - rise, fall - fall_low, shared)),
        confidence=confidence,
        method=METHOD,
    )


def _reach(first: float, second: float, shared: float) -> float:
    """Return the root of the variance of a difference, *shared* twice the correlation."""
    return math.sqrt(max(first * first + second * second - shared * first * second, 0.0))
