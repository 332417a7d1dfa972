"""Ratios of means, and their bounds."""

from __future__ import annotations

import math
from operator import mul

import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit._core.sums import exact_mean
from scorekit._core.tails import MAX_LOG, ROUNDING
from scorekit.intervals import group_sums, t_quantile

Ends = tuple[float, float]

Side = tuple[float, float, float]
"""A mean, and the ends of its interval."""


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
    parts = [group_sums(side - exact_mean(side), groups) for side in (first, second)]
    sizes = math.hypot(*parts[0]) * math.hypot(*parts[1])
    return math.fsum(map(mul, *parts)) / sizes if sizes else 0.0


def paired_price_ends(
    top: tuple[Floats, Floats], bottom: tuple[Floats, Floats], confidence_level: float
) -> Ends | None:
    """
    Bound the ratio of two prices, each the mean of costs over that of passes in the same groups.

    The jackknife of its logarithm, which leaves out one group at a time, with Student's t: what
    makes a group expensive on both sides cancels.  Where no pass rate differs from another, half
    a group more counts as failed, as failures too rare to appear have no spread.  None where this
    says nothing: of a single group, or where one holds all the cost or all passes of a side.
    """
    n = top[0].size
    at, logs, unseen = 0.0, np.zeros(n), 0.0
    for (costs, passes), sign in ((top, 1.0), (bottom, -1.0)):
        for column, way in ((costs, sign), (passes, -sign)):
            scaled = column / (float(column.max()) or 1.0)  # scaled, no sum can overflow
            total = math.fsum(scaled)
            rest = total - scaled
            if n == 1 or float(rest.min()) <= ROUNDING:
                return None
            at += way * (math.log(total) + math.log(float(column.max())))
            logs += way * np.log(rest)
        if float(np.ptp(passes)) <= ROUNDING:
            share = (math.fsum(passes) + 0.5) / (n + 1.0)
            unseen += (1.0 - share) / (share * n)
    offsets = logs - math.fsum(logs) / n
    error = math.sqrt((n - 1.0) / n * math.fsum(offsets * offsets) + unseen)
    reach = t_quantile(confidence_level, n - 1.0) * error
    return (
        math.exp(at - reach) if reach - at < MAX_LOG else 0.0,
        math.exp(at + reach) if at + reach < MAX_LOG else math.inf,
    )


def joint_reach(first: float, second: float, shared: float) -> float:
    """Return the half-width of the sum of two parts; *shared* is twice their correlation."""
    return math.sqrt(max(first * first + second * second - shared * first * second, 0.0))
