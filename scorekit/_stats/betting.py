"""
What a mean of values in [-1, 1] can be, at however many looks: wealth won by betting against it.

Were the mean *m*, to put a share *s* of one's wealth on each value at the price ``1 + m`` would be
a fair bet: the wealth ``prod(1 - s + s (1 + x) / (1 + m))`` is then a martingale, and exceeds
``1 / a`` at any time with chance *a* at most (Ville).  So is the mean of it over many *s*, and the
order of the values does not matter to that.  Half of the error goes to bets on larger values, half
to those on smaller ones.  Where all values are -1, 0 or 1 and *m* is 0, this is the mixture
martingale of the sign test, its prior nearly uniform.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Floats
from scorekit._core.roots import PRECISION, root

SHARES: Floats = np.concatenate([0.25 ** np.arange(8.0, 3.0, -1.0), (np.arange(64) + 0.5) / 64])
"""Shares of the wealth that are bet side by side; the smallest find small effects in long runs."""

DECIMALS = 12
"""Values that agree to so many are one."""

FEW = 1000
"""Different values up to which the logarithm of each factor is taken."""

FACTORS = 16
"""Factors of more values that are multiplied before it is taken, too few to overflow."""

STEPS = 100
"""Steps to a boundary at most; it takes about six."""

LOOKS = 100
"""Looks at a run that is planned; more of them change little."""

POINTS_OF_STEP = 3.0
"""Points of the grid within the standard deviation of a step."""

LEAST_STEP = 0.01
"""Least standard deviation of a step, as a share of the last boundary: it keeps the grid small."""

FARTHEST = 35.0
"""Logarithm of the odds beyond which an end counts as that of the scale."""


class Bets(NamedTuple):
    """Values that are bet on, in rising order, each with how often it occurs."""

    values: Floats
    counts: Floats

    @classmethod
    def on(cls, values: Floats) -> Bets:
        """Gather equal *values*."""
        found, counts = np.unique(np.round(values, DECIMALS), return_counts=True)
        return cls(found, counts.astype(np.float64))

    @property
    def mirrored(self) -> Bets:
        """Return the same values with their signs turned."""
        return Bets(-self.values[::-1], self.counts[::-1])

    def log_wealth(self, mean: float) -> float:
        """Return the logarithm of the wealth that was won on values larger than *mean*."""
        gains = (self.values - mean) / (1.0 + mean)
        is_single = (self.counts == 1.0) & (gains.size > FEW)
        single = gains[is_single]
        logs: Floats = np.log1p(np.outer(SHARES, gains[~is_single])) @ self.counts[~is_single]
        if single.size:
            table = np.zeros((FACTORS, -(-single.size // FACTORS)))
            table.flat[: single.size] = single
            logs += [float(np.log((1.0 + s * table).prod(axis=0)).sum()) for s in SHARES]
        most = float(logs.max())
        return most + math.log(float(np.exp(logs - most).mean()))

    def lowest(self, enough: float) -> float:
        """Return the lower end of the means on which less than *enough* was won, a logarithm."""

        def excess(log_odds: float) -> float:
            return self.log_wealth(math.exp(-log_odds) - 1.0) - enough

        if self.values[-1] <= -1.0:
            return -1.0
        inside = -math.log1p(math.fsum(self.values * self.counts) / math.fsum(self.counts))
        outside = inside + 1.0 / math.fsum(self.counts)
        while excess(outside) < 0.0:
            inside, outside = outside, 3.0 * outside - 2.0 * inside
            if outside > FARTHEST:
                return -1.0
        return math.exp(-root(excess, inside, outside)) - 1.0


def betting_interval(
    values: Floats, confidence_level: float
) -> tuple[float, float, tuple[float, float]]:
    """Return the ends for the mean, and the p values of fall and rise; all hold at any time."""
    enough = _enough(confidence_level)
    sides = Bets.on(values), Bets.on(values).mirrored
    low, high = (side.lowest(enough) for side in sides)
    rise, fall = (math.exp(min(0.0, -side.log_wealth(0.0))) for side in sides)
    return low, -high, (fall, rise)


def boundary(squares: Floats, confidence_level: float) -> Floats:
    """
    Return the sums of values at which the wealth refutes a mean of 0, given those of *squares*.

    Of many small values the logarithm of the wealth is ``s sum - s^2 squares / 2``.
    """
    enough = _enough(confidence_level)
    drag = np.outer(squares, SHARES * SHARES) / 2.0
    sums = ((enough + math.log(SHARES.size) + drag) / SHARES).min(axis=1)
    for _ in range(STEPS):  # Newton's, from above: the logarithm is convex
        logs = np.outer(sums, SHARES) - drag
        most = logs.max(axis=1)
        parts = np.exp(logs - most[:, np.newaxis])
        total = parts.sum(axis=1)
        excess = np.asarray(most + np.log(total / SHARES.size) - enough)
        sums = sums - excess * total / (parts @ SHARES)
        if abs(excess).max() <= PRECISION:
            break
    return np.asarray(sums)


class Course(NamedTuple):
    """The course of a run that is looked at until it is decided or ends."""

    power: float
    """Chance that a mean of 0 is refuted on the way."""
    share: float
    """Mean share of the whole run after which it is over."""


def course(n: int, mean: float, square: float, confidence_level: float) -> Course:
    """
    Follow the sum of *n* values, of this *mean* and mean *square*, as a walk of normal steps.

    Between one look and the next its density moves on, and loses what is beyond the boundary
    (Armitage, McPherson and Rowe 1969).
    """
    n_looks = min(n, LOOKS)
    step = n / n_looks
    squares = np.linspace(step, n, n_looks, dtype=np.float64) * square
    sums = boundary(np.asarray(squares, np.float64), confidence_level)
    spread = math.sqrt(step * max(square - mean * mean, 0.0))
    spread = max(spread, LEAST_STEP * float(sums[-1]))
    width = spread / POINTS_OF_STEP
    n_points = math.ceil(sums[-1] / width)
    points = np.arange(-n_points, n_points + 1, dtype=np.float64) * width
    moves = np.exp(-(((points[:, np.newaxis] - points - step * mean) / spread) ** 2) / 2.0)
    moves *= width / (spread * math.sqrt(2.0 * math.pi))
    density = np.where(points == 0.0, 1.0 / width, 0.0)
    running, looks = 1.0, 0.0
    for most in sums:
        looks += running
        density = (moves @ density) * np.clip((most - abs(points)) / width + 0.5, 0.0, 1.0)
        running = min(float(density.sum()) * width, running)
    return Course(1.0 - running, looks / n_looks)


def _enough(confidence_level: float) -> float:
    """Return the logarithm of the wealth, on either side, that a true mean rarely brings."""
    return math.log(2.0) - math.log1p(-confidence_level)
