"""
Whether a suite fell: one test of its paired changes, and the interval that is that test turned.

Student's t over the changes of cases, or of groups of them.  A deeper fall of one case widens the
spread, and could so hide the falls of others: the lowest changes are therefore cut where the test
looks least significant, so that a worse outcome never makes it less so.  Away from 0 the interval
allows for cases that no sample showed (Gaffke's ends), and towards 0 it is the test.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit._core.attempts import Attempts
from scorekit._core.gaffke import sides_of
from scorekit._core.roots import root
from scorekit._core.sums import exact_mean
from scorekit.intervals import effective_groups, t_quantile

DECIMALS = 12
"""Decimals to which changes are taken: 0.7 - 1 is -0.3."""

LEVEL_NOISE = 1e-12
"""Relative distance within which a p value is the level itself."""

SAME = 1e-24
"""Squared error, relative to the squared mean, below which all changes are the same."""

NEAREST = 1e-12
"""How far from 0 an end that leaves it out lies at least."""


class Units:
    """The mean changes of independent units, cases or groups of them, and their sizes."""

    def __init__(self, deltas: Floats, groups: Groups | None = None) -> None:
        self.deltas = np.round(deltas, DECIMALS)
        self.groups = groups
        if groups is None:
            self.means, sizes = self.deltas, np.ones(deltas.size)
            self.n_effective = float(deltas.size)
        else:
            sizes = np.bincount(groups).astype(np.float64)
            self.means = np.bincount(groups, weights=self.deltas) / sizes
            self.n_effective = effective_groups(groups)
        n = sizes.size
        self.shares = sizes / deltas.size
        self.weights = np.ones(n)
        if n > 1:  # the jackknife's, so that the squared error is the weighted squares' sum
            self.weights = (1.0 - 1.0 / n) * (sizes / (deltas.size - sizes)) ** 2
        self.reaches = self.shares / self.weights

    @cached_property
    def mean(self) -> float:
        """The mean change over all cases."""
        return exact_mean(self.deltas)

    @property
    def least(self) -> float:
        """The least p value of a fall, that of all units falling."""
        return 0.5**self.means.size

    def error(self, extra: float = 0.0) -> float:
        """Return the standard error of the mean, *extra* added to its square."""
        off = self.means - self.mean
        return math.sqrt(float(self.weights @ (off * off)) + extra)

    def t_of_fall(self, shift: float = 0.0, extra: float = 0.0) -> float:
        """
        Return the least Student's t that any better changes would have, *shift* being no change.

        The least is a convex problem: the changes are scaled such that their mean is -1, and
        their squared error is least under the condition that none is lower than seen.
        """
        means, weights, reaches = self.means - shift, self.weights, self.reaches
        mean = self.mean - shift
        off = means - mean
        square = float(weights @ (off * off)) + extra
        if square <= SAME * mean * mean:
            return math.copysign(math.inf, mean) if mean else 0.0
        if mean >= 0.0:
            return mean / math.sqrt(square)
        t = mean / math.sqrt(square)
        level = mean + reaches * (square / mean + float(weights @ off))
        cut = means < level - NEAREST
        while cut.any():
            kept = ~cut
            w, m = weights[kept], means[kept]
            reach = float(self.shares[cut] @ reaches[cut])
            share, total = float(self.shares[kept].sum()), float(self.shares[kept] @ m)
            squares = float(w @ (m * m)) + extra + total * total / reach
            if squares <= SAME:
                break
            products = float(w @ m) + share * total / reach
            scale = -products / squares
            least = float(w.sum()) + share * share / reach - products * products / squares
            t = -1.0 / math.sqrt(least) if least > SAME else -math.inf
            further = cut | (
                scale * (means + NEAREST) < -reaches * (share + scale * total) / reach - 1.0
            )
            if (further == cut).all():
                break
            cut = further
        return t

    def p_of_fall(self, extra: float = 0.0) -> float:
        """Return the one-sided p value of a fall, never below that of all units falling."""
        from scipy.special import stdtr

        if self.means.size == 1:
            return 0.5 if self.mean < 0.0 else 1.0
        tail = float(stdtr(self.n_effective - 1.0, self.t_of_fall(extra=extra)))
        return max(tail, self.least)

    def high(self, error: float, extra: float = 0.0) -> float:
        """Return the highest mean change from which these did not fall, by a test at *error*."""
        if self.means.size == 1:
            return 1.0
        quantile = t_quantile(1.0 - 2.0 * error, self.n_effective - 1.0)
        most = self.mean + quantile * self.error(extra)
        if most <= self.mean:
            return self.mean

        def excess(end: float) -> float:  # finite, as t is not where all changes are cut to one
            return min(-quantile - self.t_of_fall(end, extra), quantile)

        return root(excess, self.mean, most)

    @property
    def turned(self) -> Units:
        """The same with every change reversed."""
        return Units(-self.deltas, self.groups)


class Change(NamedTuple):
    """What is found of a suite: both ends, and one-sided p values that agree with them."""

    low: float
    high: float
    p_fall: float
    p_rise: float

    def hull(self, other: Change) -> Change:
        """Return what holds whichever of the two is true."""
        return Change(
            min(self.low, other.low),
            max(self.high, other.high),
            max(self.p_fall, other.p_fall),
            max(self.p_rise, other.p_rise),
        )


def mean_change(units: Units, error: float, surplus: tuple[float, float] = (0.0, 0.0)) -> Change:
    """
    Test whether the suite fell or rose, at *error* on either side, and bound its mean change.

    An end leaves out 0 if, and only if, the p value on its side is at most *error*.
    """
    groups = np.arange(units.deltas.size) if units.groups is None else units.groups
    sides = sides_of(units.deltas, groups, (-1.0, 1.0))
    ends: list[float] = []
    p_values: list[float] = []
    for one, extra, unseen in zip((units, units.turned), surplus, sides[::-1], strict=True):
        p_value, end = one.p_of_fall(extra), one.high(error, extra)
        if not is_at_most(p_value, error):
            end = max(end, -unseen.end(error))
        p_values.append(p_value)
        ends.append(min(end, 1.0))
    return agreeing((-ends[1], ends[0]), (p_values[0], p_values[1]), error)


def agreeing(ends: tuple[float, float], p_values: tuple[float, float], error: float) -> Change:
    """Return what is found, rounding left out: an end leaves out 0 where its p value says so."""
    (low, high), (p_fall, p_rise) = ends, p_values
    return Change(
        max(low, NEAREST) if is_at_most(p_rise, error) else min(low, 0.0),
        min(high, -NEAREST) if is_at_most(p_fall, error) else max(high, 0.0),
        p_fall,
        p_rise,
    )


def is_at_most(p_value: float, level: float) -> bool:
    """Tell whether a p value is at most the level, but for rounding."""
    return p_value <= level * (1.0 + LEVEL_NOISE)


def surplus(fewer: Attempts, more: Attempts) -> float:
    """
    Return what is added to the squared error where cases have more attempts in *more*.

    The mean of few attempts is more skewed than that of many, and t would raise false alarms: the
    error is then the one that the few would have in both runs, one flip that none showed included.
    All of it comes from *fewer*, so that a worse outcome of the other run does not change it.
    """
    n = len(fewer)
    is_more = more.sizes > fewer.sizes
    if n < 2 or not is_more.any():  # noqa: PLR2004 - a spread
        return 0.0
    sizes = fewer.sizes.astype(np.float64)
    gaps = np.where(is_more, 1.0 / sizes - 1.0 / more.sizes, 0.0)
    off = fewer.scores - np.repeat(fewer.means, fewer.sizes)
    squares = np.add.reduceat(off * off, fewer.starts)
    rate = float(fewer.means.mean())
    variances = np.where(sizes > 1.0, squares / np.maximum(sizes - 1.0, 1.0), rate * (1.0 - rate))
    added = float(variances @ gaps) + float((gaps / sizes).max())
    return added / (n * n)
