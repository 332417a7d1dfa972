"""How far one group of values lies above another, by their ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit.intervals import design_effect, effective_groups, group_sums, t_quantile, wilson

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Errors below it are those of rounding."""


class Superiority(NamedTuple):
    """The chance that a value of the second group is above one of the first, ties counted half."""

    chance: float
    error: float
    df: float
    """Degrees of freedom of the error; 0 where it is not known."""
    sizes: tuple[int, int]
    design: float = 1.0
    """How many values tell as much as one, where they are in groups."""

    def ends(self, confidence_level: float) -> tuple[float, float]:
        """Bound the chance by Wilson on the values that the error means, or Newcombe's formula."""
        if not self.df:
            return 0.0, 1.0
        (n, m), theta = self.sizes, self.chance
        spread = 1.0 + ((n + m) / 2.0 - 1.0) * (
            (1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta)
        )
        n_effective = (
            n * m / spread / self.design
        )  # few values, or many ties, can show too little variance
        if self.error and 0.0 < theta < 1.0:
            n_effective = min(n_effective, theta * (1.0 - theta) / (self.error * self.error))
        return wilson(theta, n_effective, t_quantile(confidence_level, self.df))


def superiority(
    first: Floats, second: Floats, groups: tuple[Groups, Groups] | None = None
) -> Superiority:
    """
    Return by how much *second* lies above *first*, values of one of the *groups* being dependent.

    From the number of values of the other group below each, DeLong, Brunner and Munzel, and with
    groups Obuchowski take the variance.
    """
    sizes = first.size, second.size
    if groups is None:  # in whatever order; of sorted values places are found sooner
        first, second = np.sort(first), np.sort(second)
    below = [_share_below(first, second), _share_below(second, first)]
    theta = min(max(float(below[1].mean()), 0.0), 1.0)
    worths = sizes if groups is None else tuple(map(effective_groups, groups))
    if min(worths) == 1.0:
        return Superiority(theta, 0.0, 0.0, sizes)
    errors = [math.sqrt(float(np.var(side, ddof=1)) / side.size) for side in below]
    error, df = math.hypot(*errors), min(worths) - 1.0
    if error > ROUNDING:
        df = max(satterthwaite(errors, worths), df)
    if groups is None:
        return Superiority(theta, error if error > ROUNDING else 0.0, df, sizes)
    shifts = [
        (side - side.mean()) / side.size * math.sqrt(n / (n - 1.0))
        for side, n in zip(below, worths, strict=True)
    ]
    sums = group_sums(np.concatenate([-shifts[0], shifts[1]]), np.concatenate(groups))
    grouped = math.sqrt(float(sums @ sums))
    df = min(df, effective_groups(np.concatenate(groups)) - 1.0)
    return Superiority(theta, grouped, df, sizes, design_effect(grouped, error))


def _share_below(values: Floats, others: Floats) -> Floats:
    """Return the share of *others* below each of *values*, ties counted half."""
    ordered = np.sort(others)
    below, up_to = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return (below + up_to) / (2.0 * others.size)


def midranks(values: Floats) -> tuple[Floats, Floats]:
    """Return the ranks of *values* from 1, ties sharing theirs, and how many share each."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2.0)[group], counts.astype(np.float64)


def satterthwaite(errors: Sequence[float], sizes: Sequence[float]) -> float:
    """Return the degrees of freedom of the sum of two independent squared errors."""
    most = max(errors)
    squares = [(error / most) ** 2 for error in errors]  # their own squares could underflow
    parts = (square**2 / (n - 1) for square, n in zip(squares, sizes, strict=True))
    return sum(squares) ** 2 / sum(parts)
