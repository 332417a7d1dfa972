"""Means of scores in groups, and their error."""

from __future__ import annotations

import math

from scorekit._core.arrays import Floats, Groups
from scorekit.intervals import clustered_stderr

DECIMAL_NOISE = 1e-9
"""Two score changes closer than this are the same: 1.0 -> 0.95 is a drop of exactly 0.05."""


def grouped_error(values: Floats, groups: Groups) -> float:
    """Return `clustered_stderr`; 0 for a single group, which has no spread, and for noise."""
    return clustered_stderr(values, groups, noise=DECIMAL_NOISE) or 0.0


def joint_reach(first: float, second: float, shared: float) -> float:
    """Return the half-width of the sum of two parts; *shared* is twice their correlation."""
    return math.sqrt(max(first * first + second * second - shared * first * second, 0.0))
