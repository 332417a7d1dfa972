"""Sums of columns, rounded once: those of `math.fsum`, without a Python number for each entry."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scorekit._core.arrays import Counts, Floats


DIGITS = 53
"""Of a float."""

FEW = 100
"""Values that `math.fsum` adds faster than arrays."""

EXTREME = 700
"""Exponents beyond it could overflow, or lose digits, on the way."""

LIMB_BITS = 20
BLOCK = 2**13
"""
Values summed at once: 2**13 products of two 20-bit limbs stay below 2**53, so they add up exactly.

BLAS sums so short a block in one thread; waiting for a second one costs more on a busy machine.
"""
MAX_LIMBS = 6
BAND_BITS = 60
"""Exponents that a block with too wide a range is cut into: 60 and the 53 of a float fit."""

FLOAT_BITS = 1200
"""
Sums of floats are kept in units of ``2**-1200``.

The smallest float is ``2**-1074``; the lowest limb may reach 71 bits further down.
"""


def exact_sum(values: Floats) -> float:
    """Return the sum of some finite values, rounded once."""
    return math.fsum(values.tolist()) if values.size <= FEW else _total(values) / 2**FLOAT_BITS


def exact_mean(values: Floats) -> float:
    """Return the mean of some values, as `statistics.fmean` does."""
    return exact_sum(values) / values.size


def exact_fraction(values: Floats) -> Fraction:
    """Return the sum of some finite values, not rounded."""
    return Fraction(_total(values), 2**FLOAT_BITS)


def mean_rounded_once(values: Floats) -> float:
    """Return the float nearest to the mean, the division included."""
    return _total(values) / (values.size << FLOAT_BITS)


def _total(values: Floats) -> int:
    blocks = (values[start : start + BLOCK] for start in range(0, values.size, BLOCK))
    return sum(float_sums(block)[0] for block in blocks)


def float_sums(values: NDArray[np.float64]) -> tuple[int, int]:
    import numpy as np

    sizes = np.abs(values[values != 0.0])
    if not sizes.size:
        return 0, 0
    top, bottom = np.frexp([sizes.max(), sizes.min()])[1].tolist()
    n_limbs = -(-(top - bottom + 53) // LIMB_BITS)
    if n_limbs > MAX_LIMBS:
        bands = np.frexp(values)[1] // BAND_BITS
        parts = [float_sums(values[bands == band]) for band in np.unique(bands)]
        return sum(first for first, _ in parts), sum(second for _, second in parts)
    shift = LIMB_BITS - top
    rest = values * 2.0 ** (shift // 2) * 2.0 ** (shift - shift // 2)  # 2.0**shift can overflow
    limbs = np.empty((n_limbs, values.size))
    for limb in limbs:
        np.trunc(rest, out=limb)
        rest -= limb
        rest *= 2.0**LIMB_BITS
    scale = FLOAT_BITS + top - LIMB_BITS * n_limbs
    total, squares = limb_sums(limbs)
    return total << scale, squares << 2 * scale


def limb_sums(limbs: NDArray[np.float64]) -> tuple[int, int]:
    """Sum integers, and their squares, given as rows of limbs, the highest first."""
    total = squares = 0
    rows = limbs[::-1]
    for i, a in enumerate(rows):
        total += int(a.sum()) << LIMB_BITS * i
        squares += int(a @ a) << 2 * LIMB_BITS * i
        for j in range(i):
            squares += int(a @ rows[j]) << LIMB_BITS * (i + j) + 1
    return total, squares


def exact_means(values: Floats, group_of: Counts, sizes: Counts) -> Floats:
    """Return the mean of each group; *group_of* numbers the groups, none of which is empty."""
    import numpy as np

    if sizes.size == values.size:  # each alone
        alone = np.empty_like(values)
        alone[group_of] = values
        return alone
    parts = _parts(values, int(sizes.max()))
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


def _parts(values: Floats, most: int) -> list[tuple[Floats, int]] | None:
    """
    Cut values into two integers times a power of 2, such that *most* of either add up exactly.

    None where two do not hold all their digits.
    """
    import numpy as np

    room = DIGITS - most.bit_length()
    top = math.frexp(float(np.abs(values).max()))[1]
    if abs(top) > EXTREME:
        return None
    rest = values * math.ldexp(1.0, room - top)
    first = np.floor(rest)
    rest = (rest - first) * math.ldexp(1.0, room)
    second = np.floor(rest)
    parts = [(first, top - room), (second, top - 2 * room)]
    again = first * math.ldexp(1.0, top - room) + second * math.ldexp(1.0, top - 2 * room)
    return parts if np.array_equal(again, values) else None
