"""
Summarise values exactly and grade a score: `describe`, `Tally`, `letter_grade`.

Every statistic is a rational number, or the root of one, until the single rounding at the end.
That makes it correct for any finite input and independent of the order of the values.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from numbers import Rational
from operator import mul
from typing import TYPE_CHECKING, Any, TypeGuard

import attrs

from scorekit._checks import (
    check_instance,
    check_items,
    check_number,
    check_text,
    is_ordered,
)
from scorekit._records import Record
from scorekit.errors import InputError, refuse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NUMBERS = "a non-empty sequence of numbers"

FEW = 200
"""Values up to which Python's integers are faster than the first call into arrays."""

PLAIN = frozenset({bool, int, float})
"""Types whose exact value is an integer over a power of two."""

EXACT_IN_FLOAT = 2**53
"""Every integer below it is a float."""

SMALLEST_DECIMAL = -1000
"""Exponent below which the exact ratio behind a `Decimal` could fill the memory."""

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


@attrs.frozen(kw_only=True)
class Statistics(Record):
    """Result of `describe` and of `Tally.result`."""

    median: float
    """Middle value, the mean of the middle two for an even count; correctly rounded."""
    mean: float
    """Arithmetic mean, correctly rounded."""
    mode: float
    """Most frequent value, the smallest of them where several are."""
    min: float
    max: float
    std_dev: float
    """Population standard deviation (divided by the count), correctly rounded."""
    count: int


def describe(values: Iterable[float | Decimal | Fraction]) -> Statistics:
    """
    Summarise values by median, mean, mode, range and population standard deviation.

    ``mean = sum(x) / n`` and ``std_dev = sqrt(sum((x - mean)**2) / n)`` are those of the exact
    values, rounded once: ``1e16 + {0, 2, 4}``, ``1e308`` and subnormal numbers, integers beyond
    ``2**53``, `Decimal` and `Fraction` lose nothing, and the order does not matter.

    Args:
        values: Finite numbers, shape ``(N,)``, at least one: any ordered iterable, or a NumPy,
            pandas, polars or Arrow column.  Booleans count as 0 and 1.

    Returns:
        A frozen `Statistics`.

    Raises:
        InputError: If there is no value, or one is NaN, infinite, beyond the range of floats or
            a `Decimal` other than 0 of a size below 1e-1000.
        TypeError: If *values* is not an ordered iterable, or holds anything but real numbers.

    Examples:
        >>> describe([1, 1, 0, 1])
        Statistics(median=1.0, mean=0.75, mode=1.0, min=0.0, max=1.0, std_dev=0.4330127018922193, count=4)
        >>> describe([0.5, float("nan")])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: values[1] must be a finite number, got nan

    .. versionadded:: 0.1.0
    """  # noqa: E501 - a repr is one line
    column = _column(values)
    if _is_tuple(column) and len(column) <= FEW:
        statistics = _describe_few(column)
        if statistics is not None:
            return statistics
    tally = Tally()
    tally.add(column)
    return tally.result()


class Tally:
    """
    Collect values in pieces, to describe them as if they had come at once.

    A tally keeps each distinct value with its number of occurrences, exactly, so any split into
    pieces, any order and any tree of merges gives the identical `Statistics`, that of `describe`
    on everything.  Workers can fill one each and send it back: a tally pickles.

    Examples:
        >>> first, second = Tally(), Tally()
        >>> first.add([0.1, 0.2])
        >>> second.add([0.3])
        >>> first.merge(second).result() == describe([0.3, 0.2, 0.1])
        True
        >>> Tally().result()
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: values must be a non-empty sequence of numbers, got ()

    .. versionadded:: 0.1.0
    """

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        # Runs of falling length, each at least twice the next: many small pieces stay cheap.
        self._stack: tuple[_Runs, ...] = ()

    def add(self, values: Iterable[float | Decimal | Fraction]) -> None:
        """
        Add a piece, which may be empty; a piece with a bad value changes nothing.

        Args:
            values: As for `describe`.

        Raises:
            InputError: If a value is one that `describe` refuses.
            TypeError: If *values* is not an ordered iterable, or holds anything but real numbers.
        """
        numbers = _exact_array(_column(values))
        if numbers.size:
            self._push(_sorted_runs(numbers))

    def merge(self, other: Tally) -> Tally:
        """
        Return a new tally of the values of both; neither of the two changes.

        Args:
            other: The tally to merge with.

        Raises:
            TypeError: If *other* is not a `Tally`.
        """
        check_instance("other", other, Tally)
        merged = Tally()
        merged._stack = self._stack
        for runs in other._stack:
            merged._push(runs)
        return merged

    def result(self) -> Statistics:
        """
        Describe everything added so far.

        Raises:
            InputError: If nothing was added.
        """
        if not self._stack:
            refuse("values", NUMBERS, ())
        runs = reduce(_join, reversed(self._stack))
        self._stack = (runs,)
        return _describe_runs(runs)

    def _push(self, runs: _Runs) -> None:
        stack = self._stack
        while stack and stack[-1].values.size < 2 * runs.values.size:
            runs = _join(stack[-1], runs)
            stack = stack[:-1]
        self._stack = (*stack, runs)


# From exact integers to rounded floats: the one place where anything is rounded.


def _round(n: int, total: int, squares: int, unit: int, picked: Sequence[int]) -> Statistics:
    """
    Return the statistics of *n* integers over the denominator *unit*.

    Given are their sum, the sum of their squares, and the smallest, the two in the middle, the
    largest and the mode.  Python divides integers with one correct rounding.
    """
    lowest, below, above, highest, mode = picked
    return Statistics(
        median=(below + above) / (2 * unit),
        mean=total / (n * unit),
        mode=mode / unit,
        min=lowest / unit,
        max=highest / unit,
        std_dev=_root(n * squares - total * total, (n * unit) ** 2),
        count=n,
    )


def _root(numerator: int, denominator: int) -> float:
    """Return the square root of a ratio, correctly rounded."""
    # Scaled by 4**shift the quotient has at least 110 bits and its root 55, two more than a float.
    # Setting the last of them for whatever was cut off makes the rounding to 53 bits correct.
    shift = (112 + denominator.bit_length() - numerator.bit_length()) // 2
    up, down = max(shift, 0), max(-shift, 0)
    quotient, rest = divmod(numerator << 2 * up, denominator << 2 * down)
    root = math.isqrt(quotient)
    if rest or root * root != quotient:
        root |= 1
    return (root << down) / (1 << up)


def _describe_few(items: Sequence[Any]) -> Statistics | None:
    """
    Describe some everyday numbers in Python; None for those that take more care.

    It is here for speed alone: ten values pass through arrays in 60 us, through this in 8.
    """
    if not items or not PLAIN.issuperset(map(type, items)):
        return None
    ordered: list[float] = sorted(items)
    if not -EXACT_IN_FLOAT < ordered[0] <= ordered[-1] < EXACT_IN_FLOAT:
        return None
    smallest = min([abs(value) for value in ordered if value], default=1)
    try:
        scale = 2.0 ** (53 - math.frexp(smallest)[1])  # makes an integer of each value
        scaled = [int(value * scale) for value in ordered]
    except (OverflowError, ValueError):  # too wide a range for one scale, or NaN
        return None
    n = len(scaled)
    mode = scaled[0] if len(set(scaled)) == n else _mode_of_sorted(scaled)
    picked = (scaled[0], scaled[(n - 1) // 2], scaled[n // 2], scaled[-1], mode)
    return _round(n, sum(scaled), sum(map(mul, scaled, scaled)), int(scale), picked)


def _mode_of_sorted(values: list[int]) -> int:
    mode, most, start = values[0], 0, 0
    while start < len(values):
        end = bisect_right(values, values[start], start)
        if end - start > most:
            mode, most = values[start], end - start
        start = end
    return mode


# From whatever the caller has to an array without loss.


def _is_tuple(values: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(values, tuple)


def _column(values: Iterable[Any]) -> Any:
    """Return a column that NumPy understands as it is, any other ordered iterable as a tuple."""
    if type(values) not in (list, tuple):
        if hasattr(values, "__array__"):
            return values
        if not is_ordered(values):
            refuse("values", NUMBERS, values, TypeError)
    return tuple(values)


def _exact_array(column: Any) -> NDArray[Any]:
    """Return finite numbers as float64 or int64 where that loses nothing, else as objects."""
    import numpy as np

    if _is_tuple(column):
        return _exact_items(column)
    array = np.asarray(column)
    kind = array.dtype.kind
    if kind not in "biufO":
        refuse("values", NUMBERS, column, TypeError)
    if array.ndim != 1:
        raise InputError(f"values must be one-dimensional, got shape {array.shape}")
    if _has_mask(column):
        return _exact_items(column.tolist())  # None where masked, to be refused by name
    if kind == "O" or array.dtype.itemsize > np.dtype(np.float64).itemsize:
        return _exact_items(array.tolist())
    if kind in "bf" or not array.size:
        return array.astype(np.float64, copy=False)
    low, high = int(array.min()), int(array.max())
    if max(-low, high) <= EXACT_IN_FLOAT:
        return array.astype(np.float64)
    return array.astype(np.int64 if high < 2**63 else object, copy=False)


def _has_mask(column: object) -> bool:
    masked = sys.modules.get("numpy.ma")  # without it loaded nothing can be masked
    return masked is not None and isinstance(column, masked.MaskedArray)


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
    import numpy as np

    if isinstance(value, bool) or type(value) is np.bool_:
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
class _Runs:
    n: int
    values: NDArray[Any]
    """Distinct, rising; float64, int64, or Python's exact numbers as objects."""
    counts: NDArray[Any]
    """Occurrences of each; int64, or Python's integers once *n* outgrows it."""


def _sorted_runs(numbers: NDArray[Any]) -> _Runs:
    import numpy as np

    values = np.sort(numbers)
    if values.dtype.kind == "f" and not (math.isfinite(values[0]) and math.isfinite(values[-1])):
        first = int(np.argmin(np.isfinite(numbers)))
        check_number(f"values[{first}]", float(numbers[first]))
    starts = _starts(values)
    if starts.size == values.size:
        return _Runs(values.size, values, np.ones(values.size, dtype=np.int64))
    return _Runs(values.size, values[starts], np.diff(starts, append=values.size))


def _starts(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each run of equal values begins."""
    import numpy as np

    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def _join(a: _Runs, b: _Runs) -> _Runs:
    import numpy as np

    n = a.n + b.n
    dtype = a.values.dtype if a.values.dtype == b.values.dtype else object
    values = np.concatenate([x.values.astype(dtype, copy=False) for x in (a, b)])
    counts = np.concatenate([a.counts, b.counts])
    if n >= 2**63:
        counts = counts.astype(object)
    order = np.argsort(values, kind="stable")  # merges two sorted runs in linear time
    values = values[order]
    starts = _starts(values)
    return _Runs(n, values[starts], np.add.reduceat(counts[order], starts))


def _describe_runs(runs: _Runs) -> Statistics:
    import numpy as np

    ends = np.cumsum(runs.counts)
    below = int(np.searchsorted(ends, (runs.n - 1) // 2, "right"))
    above = int(np.searchsorted(ends, runs.n // 2, "right"))
    places = [0, below, above, -1, int(np.argmax(runs.counts))]
    total, squares, unit = _power_sums(runs)
    ratios = [value.as_integer_ratio() for value in runs.values[places].tolist()]
    return _round(runs.n, total, squares, unit, [x * (unit // y) for x, y in ratios])


# Exact sums.


def _power_sums(runs: _Runs) -> tuple[int, int, int]:
    """Return the sum over a unit, the sum of squares over its square, and the unit."""
    if runs.values.dtype == object:
        return _object_sums(runs)
    is_float = runs.values.dtype.kind == "f"
    sums = _float_sums if is_float else _integer_sums
    total = squares = 0
    for block, weight in _blocks(runs):
        first, second = sums(block)
        total += first * weight
        squares += second * weight
    return total, squares, 2**FLOAT_BITS if is_float else 1


def _blocks(runs: _Runs) -> Iterator[tuple[NDArray[Any], int]]:
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


def _object_sums(runs: _Runs) -> tuple[int, int, int]:
    ratios = [value.as_integer_ratio() for value in runs.values.tolist()]
    counts: list[int] = runs.counts.tolist()
    unit = math.lcm(*{ratio[1] for ratio in ratios})
    scaled = [above * (unit // below) for above, below in ratios]
    weighted = list(map(mul, scaled, counts))
    return sum(weighted), sum(map(mul, weighted, scaled)), unit


def _float_sums(values: NDArray[np.float64]) -> tuple[int, int]:
    import numpy as np

    sizes = np.abs(values[values != 0.0])
    if not sizes.size:
        return 0, 0
    top, bottom = np.frexp([sizes.max(), sizes.min()])[1].tolist()
    n_limbs = -(-(top - bottom + 53) // LIMB_BITS)
    if n_limbs > MAX_LIMBS:
        bands = np.frexp(values)[1] // BAND_BITS
        parts = [_float_sums(values[bands == band]) for band in np.unique(bands)]
        return sum(first for first, _ in parts), sum(second for _, second in parts)
    shift = LIMB_BITS - top
    rest = values * 2.0 ** (shift // 2) * 2.0 ** (shift - shift // 2)  # 2.0**shift can overflow
    limbs = np.empty((n_limbs, values.size))
    for limb in limbs:
        np.trunc(rest, out=limb)
        rest -= limb
        rest *= 2.0**LIMB_BITS
    scale = FLOAT_BITS + top - LIMB_BITS * n_limbs
    total, squares = _limb_sums(limbs)
    return total << scale, squares << 2 * scale


def _integer_sums(values: NDArray[np.int64]) -> tuple[int, int]:
    import numpy as np

    low = [(values >> LIMB_BITS * i) & (2**LIMB_BITS - 1) for i in (2, 1, 0)]
    return _limb_sums(np.array([values >> 3 * LIMB_BITS, *low], dtype=np.float64))


def _limb_sums(limbs: NDArray[np.float64]) -> tuple[int, int]:
    """Sum integers, and their squares, given as rows of limbs, the highest first."""
    total = squares = 0
    rows = limbs[::-1]
    for i, a in enumerate(rows):
        total += int(a.sum()) << LIMB_BITS * i
        squares += int(a @ a) << 2 * LIMB_BITS * i
        for j in range(i):
            squares += int(a @ rows[j]) << LIMB_BITS * (i + j) + 1
    return total, squares


# Grades.


LETTER_SCALE = (
    ("A", "Excellent", 0.95),
    ("B", "Good", 0.85),
    ("C", "Satisfactory", 0.75),
    ("D", "Marginal", 0.65),
    ("F", "Failing", 0.0),
)
"""Letter, meaning and lowest score of each grade, as the metric's source defines them."""

GRADE_TOLERANCE = 1e-9
"""How far below a threshold still counts as on it: more than any decimal noise, no real gap."""


@attrs.frozen(kw_only=True)
class LetterGrade(Record):
    """Result of `letter_grade`; as text it is its letter."""

    letter: str
    meaning: str
    threshold: float
    """Lowest score of this grade."""
    score: float
    """The score that was graded, in ``[0, 1]``."""

    def __str__(self) -> str:
        """Return the letter."""
        return self.letter


def letter_grade(
    score: float, *, scale: Sequence[tuple[str, str, float]] = LETTER_SCALE
) -> LetterGrade:
    """
    Grade a score with the first letter of a scale whose threshold it reaches.

    A score that misses a threshold by no more than 1e-9 reaches it, so that a composite of 0.85
    that arithmetic made 0.8499999999999999 is still a B.

    Args:
        score: Score in ``[0, 1]``.
        scale: Rows ``(letter, meaning, threshold)`` from best to worst, with thresholds that fall
            from at most 1 to exactly 0.

    Returns:
        A frozen `LetterGrade`.

    Raises:
        InputError: If *score* or a threshold is outside ``[0, 1]``, or the thresholds do not fall
            to 0.
        TypeError: If *score* is not a number, or a row is not two strings and a number.

    Examples:
        >>> letter_grade(0.925)
        LetterGrade(letter='B', meaning='Good', threshold=0.85, score=0.925)
        >>> str(letter_grade(0.4, scale=[("pass", "Good enough", 0.5), ("fail", "Not yet", 0)]))
        'fail'
        >>> letter_grade(85)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: score must be a number in [0, 1], got 85

    .. versionadded:: 0.1.0
    """
    score = check_number("score", score, 0.0, 1.0)
    rows = scale if scale is LETTER_SCALE else _check_scale(scale)
    letter, meaning, threshold = next(row for row in rows if score >= row[2] - GRADE_TOLERANCE)
    return LetterGrade(letter=letter, meaning=meaning, threshold=threshold, score=score)


def _check_scale(scale: object) -> list[tuple[str, str, float]]:
    rows: list[tuple[str, str, float]] = []
    for i, row in enumerate(check_items("scale", scale, what="grades")):
        name = f"scale[{i}]"
        if not _is_tuple(row) or len(row) != 3:  # noqa: PLR2004 - the three things named
            refuse(name, "a tuple (letter, meaning, threshold)", row, TypeError)
        letter = check_text(f"{name}[0]", row[0])
        meaning = check_text(f"{name}[1]", row[1], empty=True)
        threshold = check_number(f"{name}[2]", row[2], 0.0, 1.0)
        if rows and threshold >= rows[-1][2]:
            refuse(f"{name}[2]", f"below the threshold before it, {rows[-1][2]}", row[2])
        rows.append((letter, meaning, threshold))
    if rows[-1][2] > 0:
        refuse(f"scale[{len(rows) - 1}][2]", "0, so that every score has a grade", rows[-1][2])
    return rows
