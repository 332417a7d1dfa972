"""Sums of columns, rounded once: those of `math.fsum`, without a Python number for each entry."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.int64]

DIGITS = 53
"""Of a float."""

FEW = 100
"""Values that `math.fsum` adds faster than arrays."""

EXTREME = 700
"""Exponents beyond it could overflow, or lose digits, on the way."""


def exact_sum(values: Floats) -> float:
    """Return the sum of some values."""
    parts = None if values.size <= FEW else _parts(values, values.size, 4)
    if parts is None:
        return math.fsum(values.tolist())
    return math.fsum(math.ldexp(float(part.sum()), exponent) for part, exponent in parts)


def exact_mean(values: Floats) -> float:
    """Return the mean of some values, as `statistics.fmean` does."""
    return exact_sum(values) / values.size


def mean_rounded_once(values: Floats) -> float | None:
    """Return the float nearest to the mean, the division included; None where that takes more."""
    parts = _parts(values, values.size, 4)
    if parts is None:
        return None
    total = sum(Fraction(float(part.sum())) * Fraction(2) ** exponent for part, exponent in parts)
    return float(total / values.size)


def exact_means(values: Floats, group_of: Counts, sizes: Counts) -> Floats:
    """Return the mean of each group; *group_of* numbers the groups, none of which is empty."""
    import numpy as np

    if sizes.size == values.size:  # each alone
        alone = np.empty_like(values)
        alone[group_of] = values
        return alone
    parts = _parts(values, int(sizes.max()), 2)  # whose sum rounds once
    if parts is None:
        ordered = np.split(values[np.argsort(group_of, kind="stable")], np.cumsum(sizes)[:-1])
        return np.array([math.fsum(group.tolist()) for group in ordered]) / sizes
    sums = np.zeros(sizes.size)
    for part, exponent in parts:
        sums += np.bincount(group_of, weights=part) * math.ldexp(1.0, exponent)
    means: Floats = sums / sizes
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


def _parts(values: Floats, most: int, n_parts: int) -> list[tuple[Floats, int]] | None:
    """
    Cut values into integers times a power of 2, such that *most* of a part add up exactly.

    None where so many parts do not hold all their digits.
    """
    import numpy as np

    room = DIGITS - most.bit_length()
    top = math.frexp(float(np.abs(values).max()))[1]
    if abs(top) > EXTREME:
        return None
    exponent = top - room
    parts: list[tuple[Floats, int]] = []
    rest = values * math.ldexp(1.0, -exponent)
    for _ in range(n_parts):
        part = np.floor(rest)
        rest -= part
        parts.append((part, exponent))
        if not rest.any():
            return parts
        exponent -= room
        rest *= math.ldexp(1.0, room)
    return None
