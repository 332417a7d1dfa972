"""What follows from comparisons: a system of differences in total orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Final, TypeAlias

Number: TypeAlias = int | Fraction
Bound: TypeAlias = tuple[Number, int]
"""At most this number, or less where the second part is 0.  The lower bound is stronger."""

TOUCHING: Final = (0, 1)
"""The bound of equal values."""

ZERO: Final = 0
"""The node from which numbers are counted."""


class Order:
    """
    Bounds of differences between nodes, closed under addition.

    A node stands for a value, known or not.  Nodes that no chain of bounds connects may hold
    values of different types.
    """

    def __init__(self, is_whole: Callable[[int], bool]) -> None:
        self._is_whole = is_whole
        self._out: dict[int, dict[int, Bound]] = {}
        self._into: dict[int, dict[int, Bound]] = {}
        self._unequal: dict[tuple[int, int], frozenset[Number]] = {}

    def copy(self) -> Order:
        """Return one that can be added to."""
        new = Order(self._is_whole)
        new._out = {node: dict(row) for node, row in self._out.items()}
        new._into = {node: dict(row) for node, row in self._into.items()}
        new._unequal = dict(self._unequal)
        return new

    def bound(self, first: int, second: int) -> Bound | None:
        """Return what *first* - *second* is at most, None where that is not known."""
        return TOUCHING if first == second else self._out.get(first, {}).get(second)

    def at_most(self, first: int, second: int, bound: Bound) -> bool:
        """Add ``first - second <= bound``; False if nothing satisfies all that was added."""
        agenda = [(first, second, bound)]
        while agenda:
            a, b, limit = agenda.pop()
            limit = self._tightened(a, b, limit)
            if a == b:
                if limit < TOUCHING:
                    return False
                continue
            back, known = self.bound(b, a), self.bound(a, b)
            if known is not None and known <= limit:
                continue
            if back is not None and _sum(limit, back) < TOUCHING:
                return False
            before = [(a, TOUCHING), *self._into.get(a, {}).items()]
            after = [(b, TOUCHING), *self._out.get(b, {}).items()]
            for start, to_a in before:
                for end, from_b in after:
                    if start == end:
                        continue
                    new = _sum(_sum(to_a, limit), from_b)
                    old = self.bound(start, end)
                    if old is not None and old <= new:
                        continue
                    if self._tightened(start, end, new) < new:
                        agenda.append((start, end, new))
                        continue
                    self._set(start, end, new)
                    if (start, end) in self._unequal or (end, start) in self._unequal:
                        agenda += self._strict(start, end)
        return True

    def equal(self, first: int, second: int, number: Number) -> bool:
        """Add ``first - second = number``; False if nothing satisfies all that was added."""
        there = self.at_most(first, second, (number, 1))
        return there and self.at_most(second, first, (-number, 1))

    def differ(self, first: int, second: int, number: Number) -> bool:
        """Add ``first - second <> number``; False if nothing satisfies all that was added."""
        if first == second:
            return number != 0
        known = self._unequal.get((first, second), frozenset[Number]())
        self._unequal[first, second] = known | {number}
        return all(self.at_most(*edge) for edge in list(self._strict(first, second)))

    def holds(self, first: int, second: int, bound: Bound) -> bool:
        """Say whether ``first - second <= bound`` follows."""
        known = self.bound(first, second)
        return known is not None and known <= self._tightened(first, second, bound)

    def fails(self, first: int, second: int, bound: Bound) -> bool:
        """Say whether ``first - second <= bound`` is excluded."""
        back = self.bound(second, first)
        return back is not None and _sum(self._tightened(first, second, bound), back) < TOUCHING

    def known_to_differ(self, first: int, second: int, number: Number) -> bool:
        """Say whether ``first - second <> number`` was added."""
        return number in self._unequal.get((first, second), ()) or -number in self._unequal.get(
            (second, first), ()
        )

    def difference(self, first: int, second: int) -> Number | None:
        """Return what *first* - *second* is, None where that is not known."""
        there, back = self.bound(first, second), self.bound(second, first)
        if there is None or back is None or _sum(there, back) != TOUCHING:
            return None
        return there[0]

    def nodes(self) -> Iterator[int]:
        """Yield the nodes of which something is known."""
        return iter(self._out)

    def _set(self, first: int, second: int, bound: Bound) -> None:
        self._out.setdefault(first, {})[second] = bound
        self._out.setdefault(second, {})
        self._into.setdefault(second, {})[first] = bound

    def _tightened(self, first: int, second: int, bound: Bound) -> Bound:
        """Return a bound as the difference of whole numbers obeys it."""
        if not (self._is_whole(first) and self._is_whole(second)):
            return bound
        number, closed = bound
        return (floor(number) if closed else ceil(number) - 1), 1

    def _strict(self, first: int, second: int) -> Iterator[tuple[int, int, Bound]]:
        """Yield the bounds of two nodes that are not reached, as the nodes differ by another."""
        for a, b in ((first, second), (second, first)):
            known = self.bound(a, b)
            if known is not None and known[1] and self.known_to_differ(a, b, known[0]):
                yield a, b, (known[0], 0)


def _sum(first: Bound, second: Bound) -> Bound:
    return first[0] + second[0], first[1] & second[1]
