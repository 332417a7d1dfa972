"""What the mean of signed differences in [-1, 1] can be, also where only a few of them move."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorekit._core.sums import exact_mean
from scorekit.intervals import Interval, clustered_stderr, effective_groups, t_quantile, wilson

DECIMAL_NOISE = 1e-9
"""Two score changes closer than this are the same: 1.0 -> 0.95 is a drop of exactly 0.05."""

METHOD = "wilson on gains and losses"

Floats: TypeAlias = NDArray[np.float64]
Groups: TypeAlias = NDArray[np.int64]
"""The group of each value, numbered from 0."""


def mean_of(values: Floats) -> float:
    """Return the mean, its sum rounded once."""
    return exact_mean(values)


def grouped_error(values: Floats, groups: Groups) -> float:
    """Return `clustered_stderr`; 0 for a single group, which tells nothing, and for noise."""
    return clustered_stderr(values, groups, noise=DECIMAL_NOISE) or 0.0


def share_interval(values: Floats, groups: Groups, confidence_level: float) -> tuple[float, float]:
    """
    Bound the mean of *values* in [0, 1] by Wilson on the number of cases they are worth.

    That number is ``p (1 - p) / stderr^2``, or the number of groups where nothing varies.  There
    must be two groups at least.
    """
    n_groups = effective_groups(groups)
    mean, error = mean_of(values), grouped_error(values, groups)
    n = mean * (1.0 - mean) / (error * error) if error and 0.0 < mean < 1.0 else n_groups
    return wilson(mean, n, t_quantile(confidence_level, n_groups - 1))


def difference_interval(values: Floats, groups: Groups, confidence_level: float) -> Interval:
    """
    Bound the mean of *values* in [-1, 1] without supposing that their sum is normal.

    Rises and falls are bounded apart and put together again (MOVER): a run in which nothing fell
    does not show that nothing can fall.
    """
    rises, falls = np.maximum(values, 0.0), np.maximum(-values, 0.0)
    if not groups.any():
        return Interval(low=-1.0, high=1.0, confidence_level=confidence_level, method=METHOD)
    rise, fall = mean_of(rises), mean_of(falls)
    rise_low, rise_high = share_interval(rises, groups, confidence_level)
    fall_low, fall_high = share_interval(falls, groups, confidence_level)
    shared = shared_variance(rises, falls, values, groups)
    mean = rise - fall
    return Interval(
        low=max(-1.0, mean - joint_reach(rise - rise_low, fall_high - fall, shared)),
        high=min(1.0, mean + joint_reach(rise_high - rise, fall - fall_low, shared)),
        confidence_level=confidence_level,
        method=METHOD,
    )


def shared_variance(first: Floats, second: Floats, joint: Floats, groups: Groups) -> float:
    """Return twice the correlation of the means of two parts, its sign turned if *joint* adds."""
    one, other, both = (grouped_error(side, groups) for side in (first, second, joint))
    return (one * one + other * other - both * both) / (one * other) if one and other else 0.0


def joint_reach(first: float, second: float, shared: float) -> float:
    """Return how far what two parts make up reaches, from their reaches and `shared_variance`."""
    return math.sqrt(max(first * first + second * second - shared * first * second, 0.0))
