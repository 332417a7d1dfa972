"""Signs that the attempts at a case depend on each other, as copies of one answer do."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorekit._core.attempts import Attempts
from scorekit._stats.bounded import DECIMAL_NOISE, Floats

Flags: TypeAlias = NDArray[np.bool_]

FEW_MIXED = 6
"""Cases with unlike attempts in one run below which nothing shows that attempts vary by chance;
of few cases it is half of them."""

FAR = 2.6
"""Standard deviations beyond which a case went far: all of four attempts are 2.65."""

LIMIT = 1.15
"""Standard deviations of dispersion beyond which it is a sign: 1 in 8 of independent runs."""


def seem_dependent(before: Attempts, after: Attempts, error: float) -> bool:
    """
    Tell whether attempts vary less within a run than between the two runs.

    If attempts are independent and nothing changed, each of them could as well be of the other
    run.  Three signs speak against it: hardly any case has unlike attempts in one run; the runs
    differ by more than such exchanges explain; or one case fell and another rose by more, *error*
    being the chance that one does.  Neither a change that all cases share nor cases that went far
    in one direction are held against them: a regression does that too.
    """
    if before.are_single and after.are_single:
        return False
    n_cases = len(before)
    sizes = (before.sizes + after.sizes).astype(np.float64)
    mean = (before.totals() + after.totals()) / sizes
    off = [one.scores - np.repeat(mean, one.sizes) for one in (before, after)]
    moved = np.add.reduceat(off[1], after.starts)
    off = [one * one for one in off]
    squares = _totals(off, before, after)
    taken = after.sizes.astype(np.float64)
    variance, fourth = _moments(
        taken, sizes, squares, _totals([one * one for one in off], before, after)
    )
    n_mixed = np.count_nonzero(_are_mixed(before) | _are_mixed(after))
    if n_mixed < min(FEW_MIXED, (n_cases + 1) // 2):
        return True
    varies = variance > DECIMAL_NOISE
    n_varying = max(int(np.count_nonzero(varies)), 1)
    z = moved / np.sqrt(np.where(varies, variance, np.inf))
    beyond = _upper_quantile(error / n_varying)
    down, up = -float(z.min()), float(z.max())
    if up < down - DECIMAL_NOISE:  # the direction in which a case went farthest is the accused one
        kept = varies & (z >= -FAR)
    else:
        kept = varies & (z <= FAR) if down < up - DECIMAL_NOISE else varies
    if not kept.any():
        return False
    shared = float(moved[kept].sum()) ** 2 / float(variance[kept].sum())
    excess = float(z[kept] @ z[kept]) - shared - (np.count_nonzero(kept) - 1)
    spread = float(np.sum(fourth[kept] / variance[kept] ** 2 - 1.0))
    limit = DECIMAL_NOISE + LIMIT * math.sqrt(max(spread, 0.0))
    return bool(excess > limit or min(down, up) > beyond)


def _totals(values: list[Floats], before: Attempts, after: Attempts) -> Floats:
    """Return the sum over each case's attempts in both runs."""
    first, second = values
    return np.add.reduceat(first, before.starts) + np.add.reduceat(second, after.starts)


def _are_mixed(attempts: Attempts) -> Flags:
    """Return whether the attempts at each case differ."""
    highest, lowest = (
        one.reduceat(attempts.scores, attempts.starts) for one in (np.maximum, np.minimum)
    )
    return np.asarray(highest - lowest > DECIMAL_NOISE, np.bool_)


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


def _upper_quantile(tail: float) -> float:
    from scipy.special import ndtri

    return -float(ndtri(tail))
