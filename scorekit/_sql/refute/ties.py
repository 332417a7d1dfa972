"""Which of tied rows comes first: every order that a query leaves open, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

_RowCells: TypeAlias = tuple[object, ...]

MAX_ORDERS: Final = 200
"""Orders of tied rows that are tried of one query on one database."""


class TooManyOrdersError(Exception):
    """Tied rows leave more orders than are tried."""


class TieBreaker:
    """
    Breaks ties by numbers that rows are given when they are first met, in all ways in turn.

    Each row that ties with rows met before takes one of several places among them.  An order of
    all rows is a path of such places; `orders` walks all of them, the last place first.  Rows
    keep their numbers while several statements are run in one order.
    """

    def __init__(self) -> None:
        self._path: list[int] = []
        """The place that each choice in turn takes; the first one where there is none."""
        self._n_places: list[int] = []
        self._numbers: dict[_RowCells, dict[_RowCells, float]] = {}

    def orders(self) -> Iterator[None]:
        """
        Yield once for each order; what is run in between is run in that order.

        Raises:
            TooManyOrdersError: If there are more than `MAX_ORDERS`.
        """
        self._path = []
        for _ in range(MAX_ORDERS):
            self._n_places, self._numbers = [], {}
            yield
            taken = [*self._path, *[0] * (len(self._n_places) - len(self._path))]
            while taken and taken[-1] + 1 == self._n_places[len(taken) - 1]:
                taken.pop()
            if not taken:
                self.first()
                return
            taken[-1] += 1
            self._path = taken
        raise TooManyOrdersError

    def first(self) -> None:
        """Take the first order of the statements that follow."""
        self._path, self._n_places, self._numbers = [], [], {}

    def number(self, n_kept: int, group: _RowCells, row: _RowCells) -> float:
        """
        Return by what a row is sorted among those that tie with it.

        Args:
            n_kept: Rows that a LIMIT keeps, in no order; 0 if their order matters.
            group: What is alike in rows that tie: where, for which outer row, by what order.
            row: What tells one from another.
        """
        numbers = self._numbers.setdefault(group, {})
        if row not in numbers:
            numbers[row] = self._kept(numbers, n_kept) if n_kept else self._placed(numbers)
        return numbers[row]

    def _kept(self, numbers: dict[_RowCells, float], n: int) -> float:
        """Return a low number for a row that is kept, a high one for what others come before."""
        if n == 1:  # each row is first, or not, among those that were met
            return min(numbers.values()) + (1.0, -1.0)[self._choose(2)] if numbers else 0.0
        is_full = sum(number == 0.0 for number in numbers.values()) == n
        return 1.0 if is_full else float(self._choose(2))

    def _placed(self, numbers: dict[_RowCells, float]) -> float:
        """Return a number before, between or behind those of other rows."""
        held = sorted(numbers.values())
        place = len(held) - self._choose(len(held) + 1)
        if not held:
            return 0.0
        if place == 0:
            return held[0] - 1
        return held[-1] + 1 if place == len(held) else (held[place - 1] + held[place]) / 2

    def _choose(self, n_places: int) -> int:
        if n_places == 1:
            return 0
        self._n_places.append(n_places)
        at = len(self._n_places) - 1
        return self._path[at] if at < len(self._path) else 0
