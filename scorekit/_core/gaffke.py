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
from typing import NamedTuple, TypeAlias

import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit._core.roots import root
from scorekit._core.sums import distinct, exact_mean

FEW = 200
"""Different groups up to which none are taken together."""

NEAR = 1e-3
"""How well a saddle point is found, relatively."""

FAR, EPSILON = 1e-6, 2.0**-53
"""Chances so much smaller than the one looked for, or so near to 1, are all alike."""

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

    def chance(self, mean: float) -> float:
        """Return the chance that the groups weigh less than *mean*: small where it lies higher."""
        return _chance_below(self.sums - mean * self.sizes, self.counts)

    def end(self, error: float) -> float:
        """Return the mean below which they weigh with probability *error*, at most that seen."""
        is_alone = self.counts.size == 2 and self.counts[0] == 1.0  # noqa: PLR2004
        if is_alone or not error:  # one group says nothing, and nothing is certain
            return self.lowest
        if self.mean <= self.lowest:
            return self.mean
        from scipy.special import ndtri

        def excess(mean: float) -> float:  # quantiles of the chance are nearly a line
            chance = min(max(self.chance(mean), FAR * error), 1.0 - EPSILON)
            return float(ndtri(chance) - ndtri(error))

        return root(excess, self.lowest, self.mean)


def mean_ends(
    values: Floats, groups: Groups, confidence_level: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Bound the mean of *values* within *bounds*, also where groups unseen are all at an end."""
    low, high = sides_of(values, groups, bounds)
    error = (1.0 - confidence_level) / 2.0
    return low.end(error), -high.end(error)


def weighted_ends(
    values: Floats, shares: Floats, confidence_level: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Bound a mean in which the values have these shares, as groups of such sizes would."""
    sizes = shares * values.size
    kinds = _together(np.round(sizes * values, 12), sizes, np.ones(values.size))
    low, high = _sides(kinds, values.size, math.fsum(shares * values), bounds)
    low = low._replace(lowest=min(low.lowest, values.min()))
    high = high._replace(lowest=min(high.lowest, -values.max()))
    error = (1.0 - confidence_level) / 2.0
    return max(low.end(error), bounds[0]), min(-high.end(error), bounds[1])


def unseen_p_value(
    values: Floats, groups: Groups, bounds: tuple[float, float] = (-1.0, 1.0)
) -> float:
    """Return 1 less the greatest level at which `mean_ends` leaves out 0."""
    if not groups.any():
        return 1.0
    return min(1.0, 2.0 * min(side.chance(0.0) for side in sides_of(values, groups, bounds)))


def sides_of(values: Floats, groups: Groups, bounds: tuple[float, float]) -> tuple[Lower, Lower]:
    """Return what bounds the mean from below, and what bounds that of the values turned."""
    return _sides(_kinds(values, groups), values.size, exact_mean(values), bounds)


_Kinds: TypeAlias = tuple[Floats, Floats, Floats]
"""Sum and size of each different group, and how often it occurs."""


def _sides(kinds: _Kinds, n: int, mean: float, bounds: tuple[float, float]) -> tuple[Lower, Lower]:
    sums, sizes, counts = kinds
    unseen = float(counts @ sizes**2) / n  # groups weigh so many values each
    sizes, counts = np.append(sizes, unseen), np.append(counts, 1.0)
    return (
        Lower(np.append(sums, bounds[0] * unseen), sizes, counts, mean, bounds[0]),
        Lower(np.append(-sums, -bounds[1] * unseen), sizes, counts, -mean, -bounds[1]),
    )


def _kinds(values: Floats, groups: Groups) -> _Kinds:
    """Return sum and size of each different group, and how often it occurs, near ones as one."""
    _, group_of, n_each = distinct(groups)
    if n_each.size == values.size:
        sums, times = np.unique(np.round(values, 12), return_counts=True)
        sizes = np.ones(sums.size)
    else:
        totals = np.round(np.bincount(group_of, weights=values), 12)
        rows, times = np.unique(
            np.column_stack([totals, n_each]).astype(np.float64), axis=0, return_counts=True
        )
        sums, sizes = rows.T
    return _together(sums, sizes, times.astype(np.float64))


def _together(sums: Floats, sizes: Floats, counts: Floats) -> _Kinds:
    """
    Put groups of near means together where there are too many.

    What stands for several keeps their mean, and the sums of their sizes and of the squares of
    these: as many groups, not always a whole number, as have so much weight and so much error.
    """
    if sums.size <= FEW:
        return sums, sizes, counts
    order = np.argsort(sums / sizes, kind="stable")
    parts = np.arange(FEW) * sums.size // FEW
    total, weight, squares = (
        np.add.reduceat((part * counts)[order], parts) for part in (sums, sizes, sizes * sizes)
    )
    sizes = np.asarray(squares / weight)
    return np.asarray(total / weight) * sizes, sizes, np.asarray(weight / sizes)


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
