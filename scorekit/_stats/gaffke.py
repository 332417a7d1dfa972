"""
What the mean of values in [-1, 1] can be if groups that no sample showed may be all at one end.

Gaffke's bound: one group at the end of the scale comes to those seen, and all are weighed by
chance, ``sum(E_i x_i) / sum(E_i)`` with exponential ``E_i``.  The lower end of the interval is a
quantile of that.  It never falls where a value rises, is Clopper and Pearson's where all values
are -1 or 1, and comes close to Student's for many.  That it always holds its level is a conjecture
without a counterexample.
"""

from __future__ import annotations

import math

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


def unseen_interval(values: Floats, groups: Groups, confidence_level: float) -> Interval:
    """Bound the mean of *values* in [-1, 1], also where groups unseen would move all the way."""
    if not groups.any():
        return Interval(low=-1.0, high=1.0, confidence_level=confidence_level, method=METHOD)
    sizes = np.bincount(groups).astype(np.float64)
    sums = np.asarray(np.bincount(groups, weights=values), np.float64)
    unseen = groups.size / effective_groups(groups)
    mean, error = mean_of(values), (1.0 - confidence_level) / 2.0
    return Interval(
        low=_lowest(sums, sizes, unseen, mean, error),
        high=-_lowest(-sums, sizes, unseen, -mean, error),
        confidence_level=confidence_level,
        method=METHOD,
    )


def _lowest(sums: Floats, sizes: Floats, unseen: float, mean: float, error: float) -> float:
    """Return the mean below which chance weighs with probability *error*, at most *mean*."""
    kinds, counts = _kinds(np.column_stack([sums, sizes]))
    ends, amounts = np.append(kinds[:, 0], -unseen), np.append(kinds[:, 1], unseen)
    counts = np.append(counts, 1.0)

    def excess(bound: float) -> float:
        return _chance_below(ends - bound * amounts, counts) - error

    if mean <= -1.0 or excess(mean) <= 0.0:
        return mean
    return root(excess, -1.0, mean)


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
