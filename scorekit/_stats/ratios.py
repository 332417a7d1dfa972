"""Means of amounts with long tails, such as costs, and ratios of two means."""

from __future__ import annotations

import math
from operator import mul

import numpy as np

from scorekit._stats.bounded import Floats, Groups, joint_reach, mean_of, widened
from scorekit.intervals import effective_groups, group_sums, t_quantile

RESAMPLES = 4000

MOST_GROUPS = 500
"""Groups that are drawn one by one; more are put together, which keeps the skew of their mean."""

ROUNDING = 1e-12
"""Amounts that differ by a smaller share are equal, but for the order of their sums."""

MAX_LOG = 600.0
"""Logarithm beyond which a bound says nothing."""

Ends = tuple[float, float]

Side = tuple[float, float, float]
"""A mean, and the ends of its interval."""


def log_mean_ends(values: Floats, groups: Groups, confidence_level: float, seed: int) -> Ends:
    """
    Bound the mean of *values* >= 0 by a bootstrap-t of its logarithm, which draws whole groups.

    Resamples without any spread are left out, and the ends are never closer than Student's t puts
    them: few values, or few different ones, have too few resamples.  They are `widened`, as the
    mean comes from the values that are drawn from.
    """
    scale = float(values.max()) or 1.0  # scaled, no square can overflow
    sums, sizes = group_sums(values / scale, groups), group_sums(np.ones(values.size), groups)
    order = np.lexsort((sizes, sums))  # the same in whatever order they come
    sums, sizes = sums[order], sizes[order]
    mean = math.fsum(sums) / values.size
    if not mean or sums.size == 1:
        return 0.0, math.inf if mean else 0.0
    (_,), (error,) = _means(sums[None], sizes[None])
    low, high, n_groups = 0.0, 0.0, effective_groups(groups)
    if error > ROUNDING:
        rng = np.random.RandomState(seed)  # the one stream that NumPy promises to keep
        high = t_quantile(confidence_level, n_groups - 1.0)
        low = -high
        if sums.size > MOST_GROUPS:
            part = rng.permutation(sums.size) % MOST_GROUPS
            sums, sizes = group_sums(sums, part), group_sums(sizes, part)
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
        scale * mean * math.exp(-high * reach),
        scale * mean * math.exp(most) if most < MAX_LOG else math.inf,
    )


def _means(sums: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each row of groups, and the relative standard error of it."""
    n_groups, n = sums.shape[1], sizes.sum(axis=1)
    means = sums.sum(axis=1) / n
    with np.errstate(invalid="ignore"):  # where all drawn are 0
        rest = sums / (means * n)[:, None] - sizes / n[:, None]
    return means, np.sqrt(n_groups / (n_groups - 1.0) * (rest * rest).sum(axis=1))


def ratio_ends(ratio: float, top: Side, bottom: Side, correlation: float = 0.0) -> Ends:
    """
    Bound the *ratio* of two means from the intervals of both, on the logarithmic scale (MOVER).

    None is negative, and the mean of *bottom* is above 0.
    """
    (mean, low, high), (other, least, most) = top, bottom
    if not mean:
        return 0.0, (high / least if least else math.inf) if high else 0.0

    def reach(first: float, second: float) -> float:
        """Return the distance between two values, of which one may be 0 or infinite."""
        if first <= second:  # by rounding
            return 0.0
        return math.log(first / second) if second > 0.0 and first < math.inf else math.inf

    def together(one: float, two: float) -> float:
        return joint_reach(one, two, 2.0 * correlation) if one + two < MAX_LOG else math.inf

    down = math.exp(-together(reach(mean, low), reach(most, other)))
    up = together(reach(high, mean), reach(other, least))
    return ratio * down if down else 0.0, ratio * math.exp(up) if up < MAX_LOG else math.inf


def shared_error(first: Floats, second: Floats, groups: Groups) -> float:
    """Return the correlation of two means over the same groups; 0 where one is certain."""
    parts = [group_sums(side - mean_of(side), groups) for side in (first, second)]
    sizes = math.hypot(*parts[0]) * math.hypot(*parts[1])
    return math.fsum(map(mul, *parts)) / sizes if sizes else 0.0
