"""Two queries where they run: what each returns, may return, and in which order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from typing import ClassVar, TypeAlias

from scorekit._core.rows import ResultRow
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.allowed import Allowed
from scorekit._sql.refute.conditions import Conditions
from scorekit._sql.refute.faithful import Reading
from scorekit._sql.refute.inference import TablesRead
from scorekit._sql.refute.sandbox import Database

Results: TypeAlias = tuple[list[ResultRow], list[ResultRow]]
Places: TypeAlias = dict[Hashable, tuple[int, int]]
"""Where each row of a result comes first and last."""

_ROWS_ORDERED = 100


class Backend(Conditions, ABC):
    """
    What runs two queries under one reading; the search asks it whether they differ.

    Its methods raise `NoResultError` where a database does not determine what is asked, and
    `QueryError` where no further one would.
    """

    max_deletions: ClassVar[int]
    """Rows, and tables, that are left out on trial from a counterexample, if it is small."""

    def __init__(
        self,
        reading: Reading,
        known: TablesRead,
        question: Question,
        stack: ExitStack,
        *,
        sorts: Sequence[bool],
        moments: Sequence[str] = ("",),
    ) -> None:
        super().__init__(reading, known, stack)
        self.same = question.same
        self._sorts, self._moments = sorts, moments
        counts = {"auto": all(sorts), "expected": sorts[1], "ignored": False}
        self._ordered = counts[question.row_order]
        any_columns = question.column_order == "ignored"
        self._identity: Callable[[ResultRow], Hashable] = _cells_of if any_columns else tuple
        self._exact = question.semantics == "bag" and not any_columns
        self.tied = False
        """Whether tied rows left other results to the queries last compared."""
        self.allows: set[int] = set()
        """The queries that allowed, on some database, a result that the other does not."""
        self.shown: Results = [], []
        """The results last compared."""

    @property
    def folded(self) -> bool:
        """Whether strings are compared whatever their case."""
        return self._reading.folded

    @property
    def spent(self) -> str:
        """Why no further database is tried, if none is."""
        return ""

    def turned(self, database: Database, share: float) -> Database:  # noqa: ARG002
        """Return what is tried of a database, behind which such a share of all was tried."""
        return database

    @abstractmethod
    def load(self, database: Database) -> None:
        """Take the database on which the queries are run from now on."""

    @abstractmethod
    def results(self, moment: str) -> Results:
        """Return one result of each query, at a moment if they ask for the time."""

    @abstractmethod
    def allowed(self, i: int) -> list[Allowed]:
        """Return all results that ties leave to a query whose result is shown."""

    @abstractmethod
    def sorted_both_ways(self, i: int) -> list[list[ResultRow]]:
        """Return a sorted result twice, ties broken by all columns; nothing if that cannot be."""

    def differs(self, database: Database) -> bool:
        """
        Say whether the results differ.

        Where ties leave several results to a query, neither may be one that the other allows.
        """
        self.load(database)
        return all(map(self._differs_at, reversed(self._moments)))

    def _differs_at(self, moment: str) -> bool:
        self.shown, self.tied = self.results(moment), False
        order_only = self.same(*self.shown)
        if order_only and not (self._ordered and self._order_differs()):
            return False
        allowed = self.allowed(0), self.allowed(1)
        self.tied = any(len(several) > 1 or several[0].open for several in allowed)
        if order_only or not self.tied:
            return not self.tied
        alone = {i for i, own in enumerate(self.shown) if not self._is_among(own, allowed[1 - i])}
        self.allows |= alone
        return len(alone) == len(allowed) and self._are_disjoint(*allowed)

    def _are_disjoint(self, first: Sequence[Allowed], second: Sequence[Allowed]) -> bool:
        """Say whether no result that one query allows is one that the other allows."""
        fewer, more = sorted((first, second), key=_n_results)
        found = (result for one in fewer for result in one.results())
        return not any(self._is_among(result, more) for result in found)

    def _is_among(self, result: list[ResultRow], several: Sequence[Allowed]) -> bool:
        return any(one.holds(result, self.same, exact=self._exact) for one in several)

    def _order_differs(self) -> bool:
        """
        Say whether a row may come before another in the first result and must not in the second.

        A first query that asks for no order allows any; one is shown that the second does not.
        """
        first, second = self.shown
        if self._sorts[0] and first == second:
            return False
        sorted_ones = [self.sorted_both_ways(i) for i in (0, 1) if self._sorts[i]]
        if not all(sorted_ones):
            return False
        *others, settled = ([*map(self._places, both)] for both in sorted_ones)
        if others:
            return _misordered(others[0], settled)
        for shown in (first, first[::-1]):
            self.shown = shown, second
            if _misordered([self._places(shown)], settled):
                return True
        return False

    def _places(self, rows: Sequence[ResultRow]) -> Places:
        found: Places = {}
        for i, row in enumerate(map(self._identity, rows)):
            found[row] = (found.get(row, (i, i))[0], i)
        return found


def _n_results(several: Sequence[Allowed]) -> int:
    return sum(one.n_results() for one in several)


def _cells_of(row: ResultRow) -> Hashable:
    """Return what is left of a row if its columns may come in any order."""
    return frozenset(Counter(row).items())


def _misordered(others: Sequence[Places], settled: Sequence[Places]) -> bool:
    """Say whether a row comes before another in all of some results, and behind it in others."""
    rows = list(settled[0])[:_ROWS_ORDERED]
    return any(
        all(_precedes(x, y, found) for found in others)
        and all(_precedes(y, x, found) for found in settled)
        for x in rows
        for y in rows
        if x != y
    )


def _precedes(first: Hashable, second: Hashable, places: Places) -> bool:
    if first not in places or second not in places:
        return False
    return places[first][1] < places[second][0]
