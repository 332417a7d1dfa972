"""
Exact sums behind `describe` and `Tally`: whatever numbers there are, as integers over one unit.

Every statistic is a rational number, or the root of one, until its single rounding at the end.
That makes it correct for any finite input and independent of the order of the values: sums of
floats, NumPy's or `math.fsum`, put the mean of three times 0.1 above all three.  `statistics` is
as exact and six times as slow.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import attrs

from scorekit._core.checks import check_number, is_flag, is_ordered
from scorekit._core.columns import is_masked
from scorekit._core.sums import BLOCK, FLOAT_BITS, float_sums
from scorekit.errors import InputError, refuse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NUMBERS = "a non-empty sequence of numbers"

PLAIN = frozenset({bool, int, float})
"""Types whose exact value is an integer over a power of two."""

EXACT_IN_FLOAT = 2**53
"""Every integer below it is a float."""

SMALLEST_DECIMAL = -1000
"""Exponent below which the exact ratio behind a `Decimal` could fill the memory."""


class Sums(NamedTuple):
    """What every statistic of *n* values follows from: integers over the denominator *unit*."""

    n: int
    total: int
    squares: int
    """Sum of the squares, over the square of *unit*."""
    unit: int
    picked: Sequence[int]
    """The smallest, the two in the middle, the largest, and the mode."""


def root(numerator: int, denominator: int) -> float:
    """Return the square root of a ratio, correctly rounded."""
    # Scaled by 4**shift the quotient has at least 110 bits and its root 55, two more than a float.
    # Setting the last of them for whatever was cut off makes the rounding to 53 bits correct.
    shift = (112 + denominator.bit_length() - numerator.bit_length()) // 2
    up, down = max(shift, 0), max(-shift, 0)
    quotient, rest = divmod(numerator << 2 * up, denominator << 2 * down)
    whole = math.isqrt(quotient)
    if rest or whole * whole != quotient:
        whole |= 1
    return (whole << down) / (1 << up)


def sums_of_few(items: Sequence[Any]) -> Sums | None:
    """
    Sum some everyday numbers in Python; None for those that take more care.

    It is here for speed alone: ten values pass through arrays in 60 us, through this in 8.
    """
    if not items or not PLAIN.issuperset(map(type, items)):
        return None
    ordered: list[float] = sorted(items)
    if not -EXACT_IN_FLOAT < ordered[0] <= ordered[-1] < EXACT_IN_FLOAT:
        return None
    if ordered[0] < 0:
        smallest = min([abs(value) for value in ordered if value])
    else:
        positive = ordered[bisect_right(ordered, 0) :]
        smallest = positive[0] if positive else 1
    try:
        scale = 2.0 ** (53 - math.frexp(smallest)[1])  # makes an integer of each value
        scaled = [int(value * scale) for value in ordered]
    except (OverflowError, ValueError):  # too wide a range for one scale, or NaN
        return None
    n = len(scaled)
    mode = scaled[0] if len(set(scaled)) == n else _mode_of_sorted(scaled)
    picked = (scaled[0], scaled[(n - 1) // 2], scaled[n // 2], scaled[-1], mode)
    return Sums(n, sum(scaled), sum(map(mul, scaled, scaled)), int(scale), picked)


def _mode_of_sorted(values: list[int]) -> int:
    mode, most, start = values[0], 0, 0
    while start < len(values):
        end = bisect_right(values, values[start], start)
        if end - start > most:
            mode, most = values[start], end - start
        start = end
    return mode


# From whatever the caller has to an array without loss.


def is_tuple(values: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(values, tuple)


def as_column(values: Iterable[Any]) -> Any:
    """Return a column that NumPy understands as it is, any other ordered iterable as a tuple."""
    if type(values) not in (list, tuple):
        if hasattr(values, "__array__"):
            return values
        if not is_ordered(values):
            refuse("values", NUMBERS, values, TypeError)
    return tuple(values)


def exact_array(column: Any) -> NDArray[Any]:
    """Return finite numbers as float64 where that loses nothing, else as objects."""
    import numpy as np

    if is_tuple(column):
        return _exact_items(column)
    array = np.asarray(column)
    kind = array.dtype.kind
    if kind not in "biufO":
        refuse("values", NUMBERS, column, TypeError)
    if array.ndim != 1:
        raise InputError(f"values must be one-dimensional, got shape {array.shape}")
    if is_masked(column):
        return _exact_items(column.tolist())  # None where masked, to be refused by name
    if kind == "O" or array.dtype.itemsize > np.dtype(np.float64).itemsize:
        return _exact_items(array.tolist())
    if kind in "bf" or not array.size:
        return array.astype(np.float64, copy=False)
    is_exact = max(-int(array.min()), int(array.max())) <= EXACT_IN_FLOAT
    return array.astype(np.float64 if is_exact else object)


def _exact_items(items: Sequence[Any]) -> NDArray[Any]:
    import numpy as np

    kinds = set(map(type, items))
    if kinds <= PLAIN:
        with suppress(OverflowError):  # an integer too large, to be named below
            array = np.array(items, dtype=np.float64)
            if int not in kinds or np.abs(array).max() < EXACT_IN_FLOAT:
                return array
    numbers = [_exact_number(f"values[{i}]", item) for i, item in enumerate(items)]
    dtype = np.float64 if all(type(number) is float for number in numbers) else object
    return np.array(numbers, dtype=dtype)


def _exact_number(name: str, value: Any) -> float | int | Fraction:
    """Return a finite number as a float if it is one, else as what Python compares exactly."""
    if is_flag(value):
        return float(value)
    rounded = check_number(name, value)
    if isinstance(value, float):  # NumPy's float64 among them
        return rounded
    if isinstance(value, Decimal) and value and value.adjusted() < SMALLEST_DECIMAL:
        refuse(name, f"0 or a number of size >= 1e{SMALLEST_DECIMAL}", value)
    if isinstance(value, Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))
    else:
        exact = Fraction(*getattr(value, "as_integer_ratio", rounded.as_integer_ratio)())
    if exact == rounded:
        return rounded
    return exact.numerator if exact.denominator == 1 else exact


# The state of a tally: distinct values and their counts.


@attrs.frozen(eq=False)
class SortedRuns:
    n: int
    values: NDArray[Any]
    """Distinct, rising; float64, or Python's exact numbers as objects."""
    counts: NDArray[Any]
    """Occurrences of each; int64, or Python's integers once *n* outgrows it."""

    @property
    def size(self) -> int:
        """Return how many different values there are."""
        return self.values.size

    def join(self, later: SortedRuns) -> SortedRuns:
        """Return the runs of the values of both."""
        import numpy as np

        n = self.n + later.n
        dtype = self.values.dtype if self.values.dtype == later.values.dtype else object
        values = np.concatenate([x.values.astype(dtype, copy=False) for x in (self, later)])
        counts = np.concatenate([self.counts, later.counts])
        if n >= 2**63:
            counts = counts.astype(object)
        order = np.argsort(values, kind="stable")  # merges two sorted runs in linear time
        values = values[order]
        starts = _starts(values)
        return SortedRuns(n, values[starts], np.add.reduceat(counts[order], starts))


def sorted_runs(numbers: NDArray[Any]) -> SortedRuns:
    import numpy as np

    values = np.sort(numbers)
    if values.dtype.kind == "f" and not (math.isfinite(values[0]) and math.isfinite(values[-1])):
        first = int(np.argmin(np.isfinite(numbers)))
        check_number(f"values[{first}]", float(numbers[first]))
    starts = _starts(values)
    if starts.size == values.size:
        return SortedRuns(values.size, values, np.ones(values.size, dtype=np.int64))
    return SortedRuns(values.size, values[starts], np.diff(starts, append=values.size))


def _starts(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each run of equal values begins."""
    import numpy as np

    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def sums_of_runs(runs: SortedRuns) -> Sums:
    import numpy as np

    ends = np.cumsum(runs.counts)
    below = int(np.searchsorted(ends, (runs.n - 1) // 2, "right"))
    above = int(np.searchsorted(ends, runs.n // 2, "right"))
    places = [0, below, above, -1, int(np.argmax(runs.counts))]
    total, squares, unit = _power_sums(runs)
    ratios = [value.as_integer_ratio() for value in runs.values[places].tolist()]
    return Sums(runs.n, total, squares, unit, [x * (unit // y) for x, y in ratios])


def quantile_of_runs(runs: SortedRuns, share: Fraction) -> float:
    """Return the quantile at *share* of the way through the values, rounded once."""
    import numpy as np

    below, part = divmod(share * (runs.n - 1), 1)
    ends = np.cumsum(runs.counts)
    places = [
        int(np.searchsorted(ends, rank, "right")) for rank in (below, min(below + 1, runs.n - 1))
    ]
    low, high = (Fraction(*value.as_integer_ratio()) for value in runs.values[places].tolist())
    return float(low + part * (high - low))


# Exact sums.


def _power_sums(runs: SortedRuns) -> tuple[int, int, int]:
    """Return the sum over a unit, the sum of squares over its square, and the unit."""
    if runs.values.dtype == object:
        return _object_sums(runs)
    total = squares = 0
    for block, weight in _blocks(runs):
        first, second = float_sums(block)
        total += first * weight
        squares += second * weight
    return total, squares, 2**FLOAT_BITS


def _blocks(runs: SortedRuns) -> Iterator[tuple[NDArray[Any], int]]:
    """Cut the values into blocks that occur as often as a power of two says."""
    for start in range(0, runs.values.size, BLOCK):
        values = runs.values[start : start + BLOCK]
        counts = runs.counts[start : start + BLOCK]
        most = int(counts.max())
        if most == 1:
            yield values, 1
            continue
        for bit in range(most.bit_length()):
            yield values[(counts >> bit) & 1 == 1], 1 << bit


def _object_sums(runs: SortedRuns) -> tuple[int, int, int]:
    ratios = [value.as_integer_ratio() for value in runs.values.tolist()]
    counts: list[int] = runs.counts.tolist()
    unit = math.lcm(*{ratio[1] for ratio in ratios})
    scaled = [above * (unit // below) for above, below in ratios]
    weighted = list(map(mul, scaled, counts))
    return sum(weighted), sum(map(mul, weighted, scaled)), unit
