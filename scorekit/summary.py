"""Summarize values exactly and grade a score: `describe`, `Tally`, `letter_grade`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Self

import attrs

from scorekit._core.checks import check_instance, check_items, check_number, check_text
from scorekit._core.mappings import FrozenMapping
from scorekit._core.text import as_decimal
from scorekit._sheet.values import counted, number
from scorekit._stats.exact import (
    NUMBERS,
    SortedRuns,
    Sums,
    as_column,
    exact_array,
    is_tuple,
    quantile_of_runs,
    root,
    sorted_runs,
    sums_of_few,
    sums_of_runs,
)
from scorekit.errors import refuse
from scorekit.records import Record

FEW = 200
"""Values up to which Python's integers are faster than the first call into arrays."""


@attrs.frozen(kw_only=True, repr=False)
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
    quantiles: FrozenMapping[float, float] = attrs.field(factory=FrozenMapping[float, float])
    """The quantiles asked for, by share; 0.95 is the key of the value that 95 % do not exceed."""

    def _line(self) -> str:
        quantiles = [f"{100 * q:.4g} % below {number(one)}" for q, one in self.quantiles.items()]
        return ", ".join(
            (
                f"mean {number(self.mean)}",
                f"median {number(self.median)}",
                f"from {number(self.min)} to {number(self.max)}",
                f"standard deviation {number(self.std_dev)}",
                *quantiles,
                counted(self.count, "value"),
            )
        )


def describe(
    values: Iterable[float | Decimal | Fraction], *, quantiles: Iterable[float] = ()
) -> Statistics:
    """
    Summarize values by median, mean, mode, range, population standard deviation and quantiles.

    ``mean = sum(x) / n`` and ``std_dev = sqrt(sum((x - mean)**2) / n)`` are computed exactly and
    rounded once, and the order does not matter. Nothing is lost in ``1e16 + {0, 2, 4}``,
    ``1e308``, subnormal numbers, integers beyond ``2**53``, `Decimal` or `Fraction`. Quantiles are
    exact too. The one of a share *q* lies ``(n - 1) * q`` steps above the smallest value,
    interpolated between two values as NumPy and pandas do by default.

    Args:
        values: Finite numbers, shape ``(N,)``, at least one: any ordered iterable, or a NumPy,
            pandas, polars or Arrow column.  Booleans count as 0 and 1.
        quantiles: Shares in ``[0, 1]``, such as ``(0.5, 0.95)``.

    Returns:
        A frozen `Statistics`. Read *median*, *mean* and *std_dev* first.

    Raises:
        InputError: If there is no value, a quantile lies outside [0, 1], or a value is NaN,
            infinite, beyond the range of floats, or a `Decimal` other than 0 of a size below
            1e-1000.
        TypeError: If *values* or *quantiles* is not an ordered iterable, or holds anything but
            real numbers.

    Examples:
        >>> describe([1, 1, 0, 1])
        Statistics(median=1, mean=0.75, mode=1, min=0, max=1, std_dev=0.433, count=4, ...)
        >>> describe([0.8, 1.2, 0.9, 7.0, 1.1], quantiles=(0.5, 0.95)).quantiles
        {0.5: 1.1, 0.95: 5.84}
        >>> describe([0.5, float("nan")])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: values[1] must be a finite number, got nan
    """
    column, shares = as_column(values), check_quantiles(quantiles)
    if is_tuple(column) and len(column) <= FEW and not shares:
        sums = sums_of_few(column)
        if sums is not None:
            return _round(sums)
    tally = Tally()
    tally.add(column)
    return tally.result(quantiles=shares)


def check_quantiles(quantiles: object) -> tuple[float, ...]:
    """Return shares in [0, 1], of which there may be none."""
    return tuple(
        check_number(f"quantiles[{i}]", share, 0.0, 1.0)
        for i, share in enumerate(
            check_items("quantiles", quantiles, what="shares in [0, 1]", empty=True)
        )
    )


class Tally:
    """
    Collect values in pieces, and describe all of them together.

    A tally keeps each distinct value with its count. The result is identical to `describe` on all
    values, including quantiles, for any split into pieces and any order of merges. A tally
    pickles, so each worker can fill one and send it back.

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
    """

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        # Of falling size, each at least twice the next: many small parts stay cheap.
        self._stack: tuple[SortedRuns, ...] = ()

    def add(self, values: Iterable[float | Decimal | Fraction]) -> None:
        """
        Add a piece, which may be empty; a piece with a bad value changes nothing.

        Args:
            values: As for `describe`.

        Raises:
            InputError: If a value is one that `describe` refuses.
            TypeError: If *values* is not an ordered iterable, or holds anything but real numbers.
        """
        numbers = exact_array(as_column(values))
        if numbers.size:
            self._stack = _push(self._stack, sorted_runs(numbers))

    def merge(self, other: Self) -> Self:
        """
        Return a new tally of what both hold; neither of the two changes.

        Args:
            other: The tally to merge with.

        Raises:
            TypeError: If *other* is not a tally.
        """
        check_instance("other", other, Tally)
        merged = type(self)()
        merged._stack = reduce(_push, other._stack, self._stack)  # noqa: SLF001 - of this class
        return merged

    def result(self, *, quantiles: Iterable[float] = ()) -> Statistics:
        """
        Describe everything added so far.

        Args:
            quantiles: As for `describe`.

        Raises:
            InputError: If nothing was added, or a quantile lies outside [0, 1].
            TypeError: If *quantiles* is not an ordered iterable of numbers.
        """
        shares = check_quantiles(quantiles)
        if not self._stack:
            refuse("values", NUMBERS, ())
        runs = reduce(lambda later, earlier: earlier.join(later), reversed(self._stack))
        self._stack = (runs,)
        found = {share: quantile_of_runs(runs, as_decimal(share)) for share in shares}
        return attrs.evolve(_round(sums_of_runs(runs)), quantiles=FrozenMapping(found))


def _push(stack: tuple[SortedRuns, ...], part: SortedRuns) -> tuple[SortedRuns, ...]:
    while stack and stack[-1].size < 2 * part.size:
        part, stack = stack[-1].join(part), stack[:-1]
    return (*stack, part) if part.size else stack


def _round(sums: Sums) -> Statistics:
    """Round exact sums to statistics; Python divides integers with one correct rounding."""
    n, total, squares, unit, (lowest, below, above, highest, mode) = sums
    return Statistics(
        median=(below + above) / (2 * unit),
        mean=total / (n * unit),
        mode=mode / unit,
        min=lowest / unit,
        max=highest / unit,
        std_dev=root(n * squares - total * total, (n * unit) ** 2),
        count=n,
    )


# Grades.


LETTER_SCALE = (
    ("A", "Excellent", 0.95),
    ("B", "Good", 0.85),
    ("C", "Satisfactory", 0.75),
    ("D", "Marginal", 0.65),
    ("F", "Failing", 0.0),
)
"""Letter, meaning and lowest score of each grade, as ProjectScylla defined them first."""


@attrs.frozen(kw_only=True, repr=False)
class LetterGrade(Record):
    """Result of `letter_grade`; as text it is its letter."""

    letter: str
    meaning: str
    threshold: float
    """Lowest score of this grade."""
    score: float
    """The score that was graded, in ``[0, 1]``."""

    def _line(self) -> str:
        return self.letter


def letter_grade(
    score: float, *, scale: Sequence[tuple[str, str, float]] = LETTER_SCALE
) -> LetterGrade:
    """
    Grade a score with the first letter of a scale whose threshold it reaches.

    The score is graded as it is: 0.9499999999999998 does not reach 0.95.

    Args:
        score: Score in ``[0, 1]``.
        scale: Rows ``(letter, meaning, threshold)`` from best to worst, with thresholds that fall
            from at most 1 to exactly 0.

    Returns:
        A frozen `LetterGrade`. Read *letter*, *meaning* and *threshold* first.

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
        scorekit.errors.InputError: score must be a number in [0, 1] (a share: 0.85 for 85 %), got 85
    """  # noqa: E501 - a message is one line
    score = check_number("score", score, 0.0, 1.0)
    rows = scale if scale is LETTER_SCALE else _check_scale(scale)
    letter, meaning, threshold = next(row for row in rows if score >= row[2])
    return LetterGrade(letter=letter, meaning=meaning, threshold=threshold, score=score)


def _check_scale(scale: object) -> list[tuple[str, str, float]]:
    rows: list[tuple[str, str, float]] = []
    for i, row in enumerate(check_items("scale", scale, what="grades")):
        name = f"scale[{i}]"
        if not is_tuple(row) or len(row) != 3:  # noqa: PLR2004 - the three things named
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
