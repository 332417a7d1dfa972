"""Whether two results are the same rows: as sequences, bags or sets, floats within a tolerance."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from decimal import Decimal
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, cast

ResultRow: TypeAlias = tuple[Hashable, ...]
Rows: TypeAlias = Sequence[ResultRow]
SameRows: TypeAlias = Callable[[Rows, Rows, float], bool]

NAN: Final = "not a number", math.nan
"""What stands for NaN in a row: one object, equal to itself."""

_MISSING: Final = ("NAType", "NaTType")  # pandas' NULL, equal to nothing
_NUMBER: Final = object()
_STRUCT: Final = "{}"
_Placing: TypeAlias = tuple[int, tuple[int, ...], Rows]
_BySkeleton: TypeAlias = dict[ResultRow, list[ResultRow]]
_MATCHED_BY_SEARCH = 200
_MAX_DIGITS = 40


def plain(value: object, *, exact: bool = False, nan: Hashable = NAN) -> Hashable:
    """
    Return a cell in the form that cells are compared in, one that hashes where it can.

    Decimals become int or float unless *exact*; arrays and lists tuples, structs tuples of their
    sorted items.  *nan* stands for NaN, and None for NaN that comes from NumPy, whose NULL it is.
    """
    if type(value).__module__ == "numpy":
        value, nan = _builtin(value), None
    if isinstance(value, Decimal) and not (exact and value.is_finite()):
        value = _number(value)
    if isinstance(value, float):
        return nan if math.isnan(value) else value
    if isinstance(value, bytearray | memoryview):
        return bytes(cast("bytearray", value))
    if isinstance(value, list | tuple | set | frozenset | dict):
        return _nested(cast("Collection[object]", value), partial(plain, exact=exact, nan=nan))
    return None if type(value).__name__ in _MISSING else value


def _number(value: Decimal) -> int | float:
    if not value.is_finite():
        return math.nan if value.is_nan() else math.copysign(math.inf, value)
    whole = abs(value.adjusted()) < _MAX_DIGITS and value == value.to_integral_value()
    return int(value) if whole else float(value)


def _nested(value: Collection[object], form: Callable[[object], Hashable]) -> Hashable:
    """Return a list, a set or a struct in a form that hashes."""
    if isinstance(value, dict):
        items = cast("dict[object, object]", value).items()
        return _STRUCT, *sorted(((str(key), form(cell)) for key, cell in items), key=itemgetter(0))
    return (frozenset if isinstance(value, set | frozenset) else tuple)(map(form, value))


def _builtin(value: Any) -> object:
    """Return what NumPy holds as Python holds it; times lose what is below a microsecond."""
    if value.dtype.kind in "mM":
        value = value.astype(f"{value.dtype.name.partition('[')[0]}[us]")
    return value.tolist()


def close(first: object, second: object, tolerance: float) -> bool:
    """Say whether two cells are equal, or two numbers differ by rounding only."""
    if first == second:
        return True
    if isinstance(first, tuple) and isinstance(second, tuple):
        return _close_rows(cast("ResultRow", first), cast("ResultRow", second), tolerance)
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        return False
    if isinstance(first, int) and isinstance(second, int):
        return False
    try:
        a, b = float(first), float(second)
    except OverflowError:
        return False
    return math.isfinite(a - b) and abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def same_sequence(first: Rows, second: Rows, tolerance: float) -> bool:
    """Say whether the same rows come in the same order."""
    return len(first) == len(second) and all(
        _close_rows(*rows, tolerance) for rows in zip(first, second, strict=True)
    )


def same_bag(first: Rows, second: Rows, tolerance: float) -> bool:
    """Say whether the same rows come equally often, in any order."""
    if len(first) != len(second):
        return False
    more, less = _unpaired(first, second)
    if more and not any(map(_has_fraction, (*first, *second))):
        return False  # whole numbers are close only where they are equal
    return more.keys() == less.keys() and all(
        len(rows) == len(less[skeleton])
        and len(rows) == _n_more(skeleton, (rows, less[skeleton]), (first, second), tolerance)
        for skeleton, rows in more.items()
    )


def same_set(first: Rows, second: Rows, tolerance: float) -> bool:
    """Say whether the same rows come at least once."""
    a, b = set(first), set(second)
    if a == b:
        return True
    in_first, in_second = _by_skeleton(list(a)), _by_skeleton(list(b))
    return in_first.keys() == in_second.keys() and all(
        _covers(rows, in_second[skeleton], tolerance)
        and _covers(in_second[skeleton], rows, tolerance)
        for skeleton, rows in in_first.items()
    )


def first_apart(first: Rows, second: Rows, tolerance: float) -> tuple[ResultRow | None, ...]:
    """Return, of each result, the first row that has no equal left in the other, if any."""
    a, b = Counter(first), Counter(second)
    left = [*(a - b)][:_MATCHED_BY_SEARCH], [*(b - a)][:_MATCHED_BY_SEARCH]
    return tuple(
        next((row for row in own if not any(_close_rows(row, o, tolerance) for o in others)), None)
        for own, others in (left, left[::-1])
    )


def n_alike(first: Rows, second: Rows, tolerance: float) -> int:
    """
    Count the rows of one result that have a row of their own in the other, close to it.

    Equal rows pair off first, then those of one skeleton, unless that leaves more without a row.
    """
    more, less = _unpaired(first, second)
    equal = len(first) - sum(map(len, more.values()))
    if tolerance == 0.0:
        return equal
    return equal + sum(
        _n_more(skeleton, (rows, less[skeleton]), (first, second), tolerance)
        for skeleton, rows in more.items()
        if skeleton in less and _numbers(rows[0])
    )


def _n_more(
    skeleton: ResultRow,
    left: tuple[list[ResultRow], list[ResultRow]],
    results: tuple[Rows, Rows],
    tolerance: float,
) -> int:
    """Count the rows of a skeleton that pair off beyond those that are equal, at most."""
    found = _n_matched(*left, tolerance)
    if found == min(map(len, left)):
        return found
    ours, theirs = ([row for row in rows if _skeleton(row) == skeleton] for rows in results)
    n_equal = len(ours) - len(left[0])
    return max(found, _n_matched(ours, theirs, tolerance) - n_equal)


def _unpaired(first: Rows, second: Rows) -> tuple[_BySkeleton, _BySkeleton]:
    """Return the rows of each result that have no equal row of their own in the other."""
    count = Counter(first)
    count.subtract(second)
    more = _by_skeleton([row for row, n in count.items() for _ in range(n)])
    return more, _by_skeleton([row for row, n in count.items() for _ in range(-n)])


def _n_matched(first: list[ResultRow], second: list[ResultRow], tolerance: float) -> int:
    """
    Count the rows of one skeleton that pair off, each pair close.

    Rows in order of their numbers pair off where there is one column of them; where there are
    several and near-equal numbers hide the order, few enough rows are matched by search.
    """
    a, b = sorted(first, key=_numbers), sorted(second, key=_numbers)
    if same_sequence(a, b, tolerance):
        return len(a)
    if max(len(a), len(b)) <= _MATCHED_BY_SEARCH:
        return most_pairs([[_close_rows(row, other, tolerance) for other in b] for row in a])
    n_found = i = j = 0
    while i < len(a) and j < len(b):
        if _close_rows(a[i], b[j], tolerance):
            n_found, i, j = n_found + 1, i + 1, j + 1
        elif _numbers(a[i]) < _numbers(b[j]):
            i += 1
        else:
            j += 1
    return n_found


def n_alike_columns(
    first: list[ResultRow], second: list[ResultRow], tolerance: float, *, in_order: bool
) -> int:
    """Count the columns of one result that have one of their own in the other, cells alike."""
    if in_order:
        return most_pairs([[_close_rows(a, b, tolerance) for b in second] for a in first])
    ours, theirs = list(map(Counter, first)), list(map(Counter, second))
    left: list[int] = []
    for i, cells in enumerate(ours):
        if cells in theirs:
            theirs.remove(cells)
        else:
            left.append(i)
    others = [_ColumnCells.of(cells) for cells in theirs]
    mine = [_ColumnCells.of(ours[i]) for i in left]
    near = [[a.is_close(b, tolerance) for b in others] for a in mine]
    return len(ours) - len(left) + most_pairs(near)


class _ColumnCells(NamedTuple):
    """The cells of a column, in no order."""

    numbers: list[int | float]
    others: Counter[Hashable]
    exact: bool

    @classmethod
    def of(cls, cells: Counter[Hashable]) -> _ColumnCells:
        numbers = sorted(c for c in cells.elements() if isinstance(c, int | float))
        others = Counter({c: n for c, n in cells.items() if not isinstance(c, int | float)})
        return cls(numbers, others, not any(isinstance(c, float) for c in numbers))

    def is_close(self, other: _ColumnCells, tolerance: float) -> bool:
        if len(self.numbers) != len(other.numbers) or (self.exact and other.exact):
            return False  # equal columns are not asked
        pairs = zip(self.numbers, other.numbers, strict=True)
        return self.others == other.others and all(close(*pair, tolerance) for pair in pairs)


def most_pairs(near: list[list[bool]]) -> int:
    """Return how many pairs can be made at most, each of a row and a column that is true in it."""
    if not near or not near[0]:
        return 0
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return int((maximum_bipartite_matching(csr_array(np.array(near))) >= 0).sum())


def same_in_some_column_order(
    first: Rows, second: Rows, tolerance: float, same: SameRows, budget: int = 2_000
) -> bool | None:
    """
    Say whether *same* holds for some order of the second's columns.

    Columns are placed one after the other, and given up as soon as the rows cut to the columns
    placed so far differ.

    Returns:
        None if that has taken *budget* comparisons without an answer.
    """
    if not first or not second:
        return len(first) == len(second)
    width = len(first[0])
    if width != len(second[0]):
        return False
    left = budget
    columns = list(zip(*second, strict=True))
    stack: list[_Placing] = [(0, (), [()] * len(second))]
    while stack:
        placed, used, rows = stack.pop()
        if placed == width:
            return True
        cut = [row[: placed + 1] for row in first]
        fitting: list[_Placing] = []
        tried: set[ResultRow] = set()
        for column in range(width):
            if column in used or columns[column] in tried:
                continue
            tried.add(columns[column])
            left -= 1
            if left < 0:
                return None
            longer = [(*row, whole[column]) for row, whole in zip(rows, second, strict=True)]
            if same(cut, longer, tolerance):
                fitting.append((placed + 1, (*used, column), longer))
        stack.extend(reversed(fitting))
    return False


def _close_rows(first: ResultRow, second: ResultRow, tolerance: float) -> bool:
    return len(first) == len(second) and all(
        close(*cells, tolerance) for cells in zip(first, second, strict=True)
    )


def _by_skeleton(rows: list[ResultRow]) -> _BySkeleton:
    """Group rows by everything but their numbers: only rows of one group can be close."""
    groups: defaultdict[ResultRow, list[ResultRow]] = defaultdict(list)
    for row in rows:
        groups[_skeleton(row)].append(row)
    return groups


def _skeleton(row: ResultRow) -> ResultRow:
    return tuple(map(_kind, row))


def _kind(cell: Hashable) -> Hashable:
    if isinstance(cell, int | float):
        return _NUMBER
    if isinstance(cell, tuple) and cell is not NAN:
        return _skeleton(cast("ResultRow", cell))
    return cell  # pyright: ignore[reportUnknownVariableType]


def _numbers(row: ResultRow) -> list[int | float]:
    found: list[int | float] = []
    for cell in row:
        if isinstance(cell, int | float):
            found.append(cell)
        elif isinstance(cell, tuple) and cell is not NAN:
            found += _numbers(cast("ResultRow", cell))
    return found


def _has_fraction(row: ResultRow) -> bool:
    return any(isinstance(number, float) for number in _numbers(row))


def _covers(first: list[ResultRow], second: list[ResultRow], tolerance: float) -> bool:
    """Say whether each of the second rows has a close one among the first."""
    known = set(first)
    return all(
        row in known or any(_close_rows(row, other, tolerance) for other in first)
        for row in second
    )
