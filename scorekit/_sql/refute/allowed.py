"""What a LIMIT may keep: every choice that an order leaves open among tied rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, NamedTuple

from scorekit._core.rows import ResultRow
from scorekit._sql.meaning.question import Same
from scorekit._sql.refute.sandbox import NoResultError

MAX_RESULTS: Final = 1_000
"""Results of a query that are listed one by one."""


class Allowed(NamedTuple):
    """The results that a query may have: some rows, and so many of each of some groups."""

    fixed: tuple[ResultRow, ...]
    open: tuple[tuple[tuple[ResultRow, ...], int], ...] = ()
    """Tied rows, and how many of them are kept."""

    def n_results(self) -> int:
        """Return how many results there are, rows of a result in no order."""
        return prod(_n_parts(Counter(rows), n) for rows, n in self.open)

    def results(self) -> Iterator[list[ResultRow]]:
        """
        Yield the results.

        Raises:
            NoResultError: If there are more than `MAX_RESULTS`.
        """
        if self.n_results() > MAX_RESULTS:
            raise NoResultError(f"more than {MAX_RESULTS} results of a LIMIT are possible")
        found: list[tuple[ResultRow, ...]] = [self.fixed]
        for rows, n in self.open:
            parts = list(_parts(list(Counter(rows).items()), n))
            found = [(*kept, *part) for kept in found for part in parts]
        return map(list, found)

    def holds(self, result: list[ResultRow], same: Same, *, exact: bool) -> bool:
        """
        Say whether a result is one of these, to which *same* compares it.

        Args:
            result: The result.
            same: Whether two results hold the same rows.
            exact: Whether that means rows equally often, columns in their order.

        Raises:
            NoResultError: If there are too many to compare, and more than equality counts.
        """
        if self.n_results() <= MAX_RESULTS:
            return any(same(result, other) for other in self.results())
        cells = (cell for rows, _ in self.open for row in rows for cell in row)
        if not exact or any(isinstance(cell, float) for cell in cells):
            raise NoResultError(f"more than {MAX_RESULTS} results of a LIMIT are possible")
        left = Counter(result)
        left.subtract(self.fixed)
        if min(left.values(), default=0) < 0 or left.total() != sum(n for _, n in self.open):
            return False
        # at most the groups at both ends are open: each row comes from one or the other
        first, second = (*(Counter(rows) for rows, _ in self.open), Counter[ResultRow]())[:2]
        least = sum(max(0, n - second[row]) for row, n in left.items())
        most = sum(min(n, first[row]) for row, n in left.items())
        within = all(n <= first[row] + second[row] for row, n in left.items())
        return within and least <= self.open[0][1] <= most


def kept(
    ascending: Sequence[ResultRow], descending: Sequence[ResultRow], first: int, n: int
) -> Allowed:
    """
    Return what may be kept of rows: *n* of them from place *first* on.

    Args:
        ascending: The rows in an order, ties broken by all columns.
        descending: The same, ties broken the other way round.
        first: Rows that are passed over.
        n: Rows that are kept.
    """
    if list(ascending) == list(descending):
        return Allowed(tuple(ascending[first : first + n]))
    fixed: list[ResultRow] = []
    open_: list[tuple[tuple[ResultRow, ...], int]] = []
    start = 0
    for end in _ends(ascending, descending):
        inside = min(end, first + n) - max(start, first)
        if inside == end - start:
            fixed += ascending[start:end]
        elif inside > 0:
            open_.append((tuple(ascending[start:end]), inside))
        start = end
    return Allowed(tuple(fixed), tuple(open_))


def _ends(ascending: Sequence[ResultRow], descending: Sequence[ResultRow]) -> Iterator[int]:
    """Yield where a group of tied rows ends: so far both orders have shown the same rows."""
    ahead: Counter[ResultRow] = Counter()
    n_apart = 0
    for i, (one, other) in enumerate(zip(ascending, descending, strict=True), 1):
        for row, step in ((one, 1), (other, -1)):
            before = abs(ahead[row])
            ahead[row] += step
            n_apart += abs(ahead[row]) - before
        if not n_apart:
            yield i


def _n_parts(rows: Counter[ResultRow], n: int) -> int:
    """Return in how many ways *n* rows can be taken, equal rows alike."""
    ways = [1, *[0] * n]
    for most in rows.values():
        ways = [sum(ways[max(0, size - most) : size + 1]) for size in range(n + 1)]
    return ways[n]


def _parts(rows: Sequence[tuple[ResultRow, int]], n: int) -> Iterator[tuple[ResultRow, ...]]:
    if not n:
        yield ()
    elif rows:
        (row, most), *others = rows
        for taken in range(min(n, most) + 1):
            for part in _parts(others, n - taken):
                yield (*(row,) * taken, *part)
