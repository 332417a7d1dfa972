"""Whether the attempts at a case contradict that they are independent, as copies of one do."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorekit._core.attempts import Attempts
from scorekit._stats.bounded import DECIMAL_NOISE, Floats
from scorekit._stats.exact_tests import fall_p_values
from scorekit.intervals import normal_quantile

ERROR = 0.05
"""Chance that independent attempts are found to differ more between the runs than within."""


def are_contradicted(before: Attempts, after: Attempts, weakest: float, n_suites: int) -> bool:
    """
    Tell whether attempts vary less within a run than between the two runs.

    *weakest* is the largest p value of the falls that are significant.  Either some case rose as
    far as that, or the cases that did not fall beyond every rise differ between the runs by more
    than exchanging their attempts explains.  What all cases share is no sign, and a fall beyond
    every rise is none: a regression does that too.
    """
    farthest_rise = float(fall_p_values(after, before).min())
    if farthest_rise <= weakest * (1.0 + DECIMAL_NOISE):
        return True
    kept = fall_p_values(before, after) >= farthest_rise * (1.0 - DECIMAL_NOISE)
    return _dispersion(before, after, kept) > normal_quantile(1.0 - 2.0 * ERROR / n_suites)


def _dispersion(before: Attempts, after: Attempts, kept: NDArray[np.bool_]) -> float:
    """
    Return how far the squared changes of the cases *kept* lie above their mean, standardized.

    Each change is one of a sample without replacement, of both runs' attempts at the case.  What
    all share is taken out, and both moments are exact.
    """
    sizes = (before.sizes + after.sizes).astype(np.float64)
    mean = (before.totals() + after.totals()) / sizes
    off = [one.scores - np.repeat(mean, one.sizes) for one in (before, after)]
    moved = np.add.reduceat(off[1], after.starts)
    squares, fourths = (
        np.add.reduceat(off[0] ** power, before.starts)
        + np.add.reduceat(off[1] ** power, after.starts)
        for power in (2, 4)
    )
    variance, fourth = _moments(after.sizes.astype(np.float64), sizes, squares, fourths)
    kept = kept & (variance > DECIMAL_NOISE)
    if np.count_nonzero(kept) < 2:  # noqa: PLR2004 - one change is what it shares
        return 0.0
    variance, moved = variance[kept], moved[kept]
    spreads = fourth[kept] / variance**2 - 1.0  # of the squared standardized changes
    shares = variance / variance.sum()
    excess = float(np.sum(moved**2 / variance) - moved.sum() ** 2 / variance.sum())
    excess -= variance.size - 1.0
    own = float(spreads.sum() - 2.0 * (shares @ spreads))
    shared = 2.0 + float(shares**2 @ (spreads - 2.0))
    error = math.sqrt(max(own + shared, 0.0))
    return excess / error if error > DECIMAL_NOISE else 0.0


def _moments(
    taken: Floats, sizes: Floats, squares: Floats, fourths: Floats
) -> tuple[Floats, Floats]:
    """Return the second and the fourth moment of a sum over some of a case's centered scores."""
    n, shares = sizes, [np.ones(sizes.size)]
    for i in range(4):  # the chance that so many of them are all among those taken
        shares.append(shares[-1] * np.maximum(taken - i, 0.0) / np.maximum(n - i, 1.0))
    _, one, two, three, four = shares
    fourth = fourths * (one - 7.0 * two + 12.0 * three - 6.0 * four)
    fourth = fourth + squares * squares * (3.0 * two - 6.0 * three + 3.0 * four)
    return squares * (one - two), fourth
