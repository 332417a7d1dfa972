"""
What the mean of bounded values can be if groups that no sample showed may be all at one end.

Gaffke's bound: one group at the end of the scale comes to those seen, and all are weighed by
chance, ``sum(E_i x_i) / sum(E_i)`` with exponential ``E_i``.  The lower end of the interval is a
quantile of that.  It never falls where a value rises, is Clopper and Pearson's where all values
are at either end, and comes close to Student's for many.  That it always holds its level is a
conjecture without a counterexample.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scorekit._stats.betting import root
from scorekit._stats.bounded import Floats, Groups, mean_of
from scorekit.intervals import Interval, effective_groups

METHOD = "gaffke"

FEW = 200
"""Different groups up to which none are taken together."""

NEAR = 1e-3
"""How well a saddle point is found, relatively."""

NODES: Floats = np.linspace(0.0, 12.0, 121)
"""Where the integral is taken, as inverse hyperbolic sines of standard deviations."""


class Lower(NamedTuple):
    """How far down the mean may lie of which some groups were seen, those alike taken together."""

    sums: Floats
    sizes: Floats
    counts: Floats
    mean: float
    lowest: float
    """The least value there is; the last of *sums* is a group of which all values have it."""

    @classmethod
    def of(cls, values: Floats, groups: Groups, lowest: float) -> Lower:
        """Gather the sums of groups, *groups* numbering that of each value."""
        sizes = np.bincount(groups).astype(np.float64)
        sums = np.asarray(np.bincount(groups, weights=values), np.float64)
        unseen = groups.size / effective_groups(groups)
        kinds, counts = _kinds(np.column_stack([sums, sizes]))
        return cls(
            np.append(kinds[:, 0], lowest * unseen),
            np.append(kinds[:, 1], unseen),
            np.append(counts, 1.0),
            mean_of(values),
            lowest,
        )

    def chance(self, mean: float) -> float:
        """Return the chance that the groups weigh less than *mean*: small where it lies higher."""
        return _chance_below(self.sums - mean * self.sizes, self.counts)

    def end(self, error: float) -> float:
        """Return the mean below which they weigh with probability *error*, at most that seen."""
        if self.counts.size == 2 and self.counts[0] == 1.0:  # noqa: PLR2004 - one group says nothing
            return self.lowest
        if self.mean <= self.lowest or self.chance(self.mean) <= error:
            return self.mean
        return root(lambda mean: self.chance(mean) - error, self.lowest, self.mean)


def unseen_interval(
    values: Floats,
    groups: Groups,
    confidence_level: float,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """Bound the mean of *values* within *bounds*, also where groups unseen are all at an end."""
    low, high = _sides(values, groups, bounds)
    error = (1.0 - confidence_level) / 2.0
    return Interval(
        low=low.end(error),
        high=-high.end(error),
        confidence_level=confidence_level,
        method=METHOD,
    )


def unseen_p_value(
    values: Floats, groups: Groups, bounds: tuple[float, float] = (-1.0, 1.0)
) -> float:
    """Return 1 less the greatest level at which `unseen_interval` leaves out 0."""
    if not groups.any():
        return 1.0
    return min(1.0, 2.0 * min(side.chance(0.0) for side in _sides(values, groups, bounds)))


def least_share(values: Floats, groups: Groups, error: float) -> float:
    """
    Return the share of groups that must fall wholly for the bounds to leave out 0; inf for none.

    The others vary as *values* do about their mean; of falling and rising the harder counts.
    """
    rest = values - mean_of(values)
    sides = [Lower.of(sign * rest, groups, -1.0) for sign in (1.0, -1.0)]

    def excess(share: float) -> float:
        found: list[float] = []
        for side in sides:
            n = float(side.counts[:-1] @ side.sizes[:-1]) / side.sizes[-1]
            sums = np.append(side.sums, side.sizes[-1])
            counts = np.append(side.counts, share * n)
            counts[:-2] *= 1.0 - share
            found.append(_chance_below(sums, counts))
        return error - max(found)

    return root(excess, 0.0, 1.0) if excess(1.0) > 0.0 else math.inf


def _sides(values: Floats, groups: Groups, bounds: tuple[float, float]) -> tuple[Lower, Lower]:
    return Lower.of(values, groups, bounds[0]), Lower.of(-values, groups, -bounds[1])


def _kinds(groups: Floats) -> tuple[Floats, Floats]:
    """Return the different rows of *groups* and how often each occurs, near ones taken as one."""
    rows, times = np.unique(np.round(groups, 12), axis=0, return_counts=True)
    kinds, counts = np.asarray(rows, np.float64), times.astype(np.float64)
    if len(kinds) <= FEW:
        return kinds, counts
    order = np.argsort(kinds[:, 0] / kinds[:, 1], kind="stable")
    kinds, counts = kinds[order], counts[order]
    parts = np.arange(FEW) * len(kinds) // FEW
    weights = np.add.reduceat(counts, parts)
    totals = np.add.reduceat(kinds * counts[:, np.newaxis], parts)
    return np.asarray(totals / weights[:, np.newaxis]), np.asarray(weights)


def _chance_below(weights: Floats, counts: Floats) -> float:
    """
    Return the chance that a sum of exponential variables with these *weights* is not above 0.

    Its Laplace transform ``prod(1 / (1 - w s))`` over ``-s`` is integrated along the line through
    its saddle point, where it does not oscillate.
    """
    largest = float(abs(weights).max())
    if float(weights.max()) <= 0.0:
        return 1.0
    if float(weights.min()) >= 0.0:
        return 0.0
    weights = weights / largest
    point = _saddle(weights, counts)
    parts = np.append(weights / (1.0 - weights * point), -1.0 / point)
    times = np.append(counts, 1.0)
    width = 1.0 / math.sqrt(float(parts * parts @ times))
    turns = np.outer(width * np.sinh(NODES), parts)
    logs = np.log(np.cosh(NODES)) - np.log1p(turns * turns) @ times / 2.0
    heights = np.exp(logs) * np.cos(np.arctan(turns) @ times)
    area = (float(np.sum(heights)) - float(heights[0]) / 2.0) * float(NODES[1]) * width
    height = math.exp(-float(np.log1p(-weights * point) @ counts)) / -point
    return min(max(height * area / math.pi, 0.0), 1.0)


def _saddle(weights: Floats, counts: Floats) -> float:
    """Return about where the transform is least to the left of 0; any point there would do."""
    left, right = 1.0 / float(weights.min()), 0.0
    while right - left > NEAR * -left:
        point = (left + right) / 2.0
        slope = float(weights / (1.0 - weights * point) @ counts) - 1.0 / point
        left, right = (left, point) if slope > 0.0 else (point, right)
    return (left + right) / 2.0
