"""
Single cases that fell: their p values, counted for all that could have shown as much.

Cases that rose are the yardstick.  A case that got worse leaves it and never enters it, so a worse
outcome of the current run makes no other fall less significant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats
from scorekit._core.attempts import Attempts
from scorekit._stats.exact_tests import DECIMAL_NOISE, fall_p_values

FEWEST = 3
"""Attempts at a case in either run from which on it is tested."""

EXCESS = 2.0
"""Variance of the rises, over that of independent attempts, beyond which these are in doubt."""


class SuitePair(NamedTuple):
    """A suite before and after, and its cases that are tested and did not fall."""

    before: Attempts
    after: Attempts

    @property
    def are_tested(self) -> NDArray[np.bool_]:
        """Whether each case has enough attempts."""
        return np.minimum(self.before.sizes, self.after.sizes) >= FEWEST

    @property
    def rises(self) -> NDArray[np.intp]:
        """The cases that are tested and rose."""
        rose = self.after.means > self.before.means + DECIMAL_NOISE
        return np.flatnonzero(self.are_tested & rose)

    def p_values(self, places: NDArray[np.intp]) -> Floats:
        """Return the one-sided p value of a fall of each of these cases."""
        return fall_p_values(self.before.take(places), self.after.take(places))

    def rival_least(self) -> Floats:
        """
        Return the least p value that each case which did not fall could have shown.

        It is that of as many passes as such a case has, in both runs, or of any number between
        these and those of the baseline's rate.  Of graded scores it is 0 if they differ at all.
        """
        before, after = self.before, self.after
        fell = after.means < before.means - DECIMAL_NOISE
        places = np.flatnonzero(self.are_tested & ~fell)
        old, new = before.take(places), after.take(places)
        if not places.size:
            return np.empty(0)
        flags = are_flags(old) & are_flags(new)
        graded = (_lowest(old, new) < _highest(old, new) - DECIMAL_NOISE) & ~flags
        passes, others = old.totals(), new.totals()
        alike = np.floor(new.sizes * passes / old.sizes + DECIMAL_NOISE)
        pooled = np.clip(old.sizes, passes + np.minimum(alike, others), passes + others)
        least = np.exp(_log_least(pooled.astype(np.float64), old.sizes, new.sizes))
        return np.where(flags, least, np.where(graded, 0.0, 1.0))

    def are_in_doubt(self) -> bool:
        """
        Tell whether attempts may depend on each other: none varied, or rises differ too much.

        Both come from the baseline and from cases that rose.
        """
        tested = np.flatnonzero(self.are_tested)
        if not tested.size:
            return True
        old, new = self.before.take(tested), self.after.take(tested)
        if not old.are_mixed.any():
            return True
        off = old.scores - np.repeat(old.means, old.sizes)
        variances = np.add.reduceat(off * off, old.starts) / (old.sizes - 1.0)
        runs = 1.0 / old.sizes + 1.0 / new.sizes
        rises = np.maximum(new.means - old.means, 0.0)
        by_chance = float(variances @ runs) + 0.25 * float(runs.max())
        return 2.0 * float(rises @ rises) > EXCESS * by_chance


class Counting(NamedTuple):
    """What the p values of falls are held against, over all suites."""

    rivals: Floats
    """The least p value of each case that did not fall, in rising order."""
    farthest_rise: float
    """The least p value of a rise."""

    @classmethod
    def of(cls, pairs: Sequence[SuitePair]) -> Counting:
        """Gather what all suites show."""
        rivals = [pair.rival_least() for pair in pairs]
        rises = [
            fall_p_values(pair.after.take(pair.rises), pair.before.take(pair.rises))
            for pair in pairs
            if pair.rises.size
        ]
        farthest = min((float(found.min()) for found in rises), default=1.0)
        return cls(np.sort(np.concatenate([*rivals, np.empty(0)])), farthest)

    def adjusted(self, p_values: Floats) -> Floats:
        """Return p values times the number of cases that could have shown as much, either way."""
        able = np.searchsorted(self.rivals, p_values * (1.0 + DECIMAL_NOISE), side="right")
        return np.minimum(p_values * (1.0 + 2.0 * able), 1.0)

    def are_beyond_rises(self, p_values: Floats) -> NDArray[np.bool_]:
        """Tell which falls no rise comes up to."""
        return np.asarray(p_values < self.farthest_rise * (1.0 - DECIMAL_NOISE))


def are_flags(attempts: Attempts) -> NDArray[np.bool_]:
    """Tell which cases are scored 0 and 1 only."""
    odd = (attempts.scores != 0.0) & (attempts.scores != 1.0)
    return ~np.logical_or.reduceat(odd, attempts.starts)


def _lowest(old: Attempts, new: Attempts) -> Floats:
    return np.minimum(*(np.minimum.reduceat(one.scores, one.starts) for one in (old, new)))


def _highest(old: Attempts, new: Attempts) -> Floats:
    return np.maximum(*(np.maximum.reduceat(one.scores, one.starts) for one in (old, new)))


def _log_least(passes: Floats, n_old: NDArray[np.int64], n_new: NDArray[np.int64]) -> Floats:
    """Return the logarithm of the chance that, of so many passes, the new run has the fewest."""
    kept = np.maximum(passes - n_old, 0.0)  # in the new run, as the old one has no more room
    ways = _log_ways(n_old, passes - kept) + _log_ways(n_new, kept)
    return ways - _log_ways(n_old + n_new, passes)


def _log_ways(n: NDArray[np.int64], k: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0), np.float64)
