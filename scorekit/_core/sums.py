"""Sums of columns, rounded once: those of `math.fsum`, without a Python number for each entry."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

DIGITS = 53
"""Of a float."""

EXTREME = 900
"""Exponents beyond it could overflow, or lose digits, on the way."""


def exact_sum(values: Floats) -> float:
    """Return the sum of some values."""
    parts = _parts(values, values.size)
    if parts is None:
        return math.fsum(values.tolist())
    high, low, exponent = parts
    return math.ldexp(float(high.sum()) + float(low.sum()), exponent)


def exact_mean(values: Floats) -> float:
    """Return the mean of some values, as `statistics.fmean` does."""
    return exact_sum(values) / values.size


def exact_means(values: Floats, group_of: Counts, sizes: Counts) -> Floats:
    """Return the mean of each group; *group_of* numbers the groups, none of which is empty."""
    import numpy as np

    if sizes.size == values.size:  # each alone
        means = np.empty_like(values)
        means[group_of] = values
        return means
    parts = _parts(values, int(sizes.max()))
    if parts is None:
        ordered = np.split(values[np.argsort(group_of, kind="stable")], np.cumsum(sizes)[:-1])
        return np.array([math.fsum(group.tolist()) for group in ordered]) / sizes
    high, low, exponent = parts
    sums = np.bincount(group_of, weights=high) + np.bincount(group_of, weights=low)
    means: Floats = sums * math.ldexp(1.0, exponent) / sizes
    return means


def distinct(codes: Counts) -> tuple[Counts, Counts, Counts]:
    """Return distinct codes >= 0, rising; the place of each in them, and how often it occurs."""
    import numpy as np

    most = int(codes.max(initial=0))
    if most > 2 * codes.size:  # too many to count
        return np.unique(codes, return_inverse=True, return_counts=True)
    sizes = np.bincount(codes, minlength=1)
    if sizes.all():
        return np.arange(sizes.size), codes, sizes
    found = np.flatnonzero(sizes)
    place = np.cumsum(sizes > 0) - 1
    return found, place[codes], sizes[found]


def _parts(values: Floats, most: int) -> tuple[Floats, Floats, int] | None:
    """
    Cut values in two, such that *most* of either part add up without rounding.

    The sum of all is that of the two sums, which rounds once, times a power of 2.  None where the
    values differ so much in size that their digits do not fit.
    """
    import numpy as np

    sizes = np.abs(values)
    largest = float(sizes.max())
    top, bits = math.frexp(largest)[1], most.bit_length()
    least = float(sizes.min(initial=largest, where=sizes > 0.0))
    if abs(top) > EXTREME or math.frexp(least)[1] < top + 2 * bits - DIGITS:
        return None
    exponent = top + bits - DIGITS
    scaled = values * math.ldexp(1.0, -exponent)
    high = np.floor(scaled)
    return high, scaled - high, exponent
