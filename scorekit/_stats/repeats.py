"""Repeats of a whole suite: the exact permutation test of their means, and its interval."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from scorekit._core.attempts import Attempts
from scorekit._core.sums import exact_mean
from scorekit._stats.changes import Change, agreeing, is_at_most
from scorekit._stats.exact_tests import permutation_p_value
from scorekit.intervals import t_quantile

NEAR = 1e-7
"""How well the ends of an interval by permutation are found."""


class Repeats(NamedTuple):
    """The mean scores of repeats, and how much they vary."""

    old: tuple[float, ...]
    new: tuple[float, ...]
    spread: float
    stderr: float
    """
    Of the difference of both sides' means.

    The standard deviation behind it is at least that of one case which is solved every other
    time: a few repeats can agree by chance, and even to the last digit."""

    @classmethod
    def of(cls, before: Attempts, after: Attempts, n_repeats: tuple[int, int]) -> Repeats:
        """Pool the variance of either side's repeats."""
        old, new = (
            tuple(exact_mean(column) for column in side.scores.reshape(-1, n).T)
            for side, n in zip((before, after), n_repeats, strict=True)
        )
        squares = sum(float(np.var(side)) * len(side) for side in (old, new))
        spread = math.sqrt(squares / (sum(n_repeats) - 2))
        error = max(spread, 0.5 / len(before)) * math.sqrt(sum(1.0 / n for n in n_repeats))
        return cls(old, new, spread, error)

    @property
    def least(self) -> float:
        """The least p value that so many repeats can have."""
        return 1.0 / math.comb(len(self.old) + len(self.new), len(self.old))

    def change(self, error: float) -> Change:
        """Test by permutation, at *error* on either side: each report could be of either side."""
        p_fall = permutation_p_value(self.old, self.new)
        p_rise = permutation_p_value(self.new, self.old)
        low, high = self._low(self.old, self.new, error), -self._low(self.new, self.old, error)
        return agreeing((low, high), (p_fall, p_rise), error)

    def detectable(self, error: float, power: float) -> float | None:
        """Return the fall that is found with this power; None where no change is."""
        if not is_at_most(self.least, error):
            return None
        df = len(self.old) + len(self.new) - 2.0
        attained = self.least * int(error / self.least + NEAR)  # p values come in such steps
        levels = 1.0 - 2.0 * attained, 2.0 * power - 1.0
        effect = sum(t_quantile(level, df) for level in levels) * self.stderr
        return effect if effect <= 1.0 else None

    @staticmethod
    def _low(old: tuple[float, ...], new: tuple[float, ...], error: float) -> float:
        """Return the least rise that permutation does not refute, up to *NEAR* too low."""

        def is_possible(step: int) -> int:
            shifted = tuple(one - (step * NEAR - 1.0) for one in new)
            return not is_at_most(permutation_p_value(shifted, old), error)

        found = bisect_left(range(round(2.0 / NEAR)), 1, key=is_possible)
        return max(found - 1, 0) * NEAR - 1.0


def enough_repeats(error: float) -> int:
    """Return the repeats of either side that can be significant at *error* on either side."""
    return next(n for n in range(2, 64) if math.comb(2 * n, n) * error >= 1.0 - NEAR)
