"""Databases on which one query has several results: what is compared is the query with itself."""

from __future__ import annotations

from itertools import chain, islice
from typing import Final

from scorekit._core.rows import ResultRow
from scorekit._sql.databases.kinds import NUMBERS
from scorekit._sql.refute.inference import TablesRead, linked_columns
from scorekit._sql.refute.sandbox import (
    AT_LEAST,
    AT_MOST,
    JOINED,
    OF_COPIES,
    ONLY,
    TIE,
    Cell,
    Database,
    QueryError,
)
from scorekit._sql.refute.sqlite import InSQLite

NO_CHOICE: Final = "nothing in the query leaves a choice"
_CHOOSING: Final = (ONLY, AT_LEAST, AT_MOST, OF_COPIES, TIE, JOINED)


class Ties(InSQLite):
    """Tells whether rows that tie at a LIMIT leave several results to a query."""

    def turned(self, database: Database, share: float) -> Database:
        """Give all rows one number where nothing keeps them apart, in later databases."""
        return database if share < _LEVEL_FROM else levelled(database, self._known)

    def differs(self, database: Database) -> bool:
        query = self._pair[0]
        if not (query.cut or query.chooses):
            raise QueryError(NO_CHOICE)
        self.sandbox.breaks_windows = False
        self.load(database)
        self.sandbox.now = self._moments[0]
        results = (result for one in self.allowed(0) for result in one.results())
        first = next(results)
        for other in islice(results, _MOST_COMPARED):
            if not self.same(first, other):
                self.shown = first, other
                return True
        return False


_MOST_COMPARED: Final = 20
_LEVEL_FROM: Final = 0.5
"""Share of the databases behind which numbers repeat."""


def levelled(database: Database, known: TablesRead) -> Database:
    """Return a database with one number in each column that no key, link or rule looks at."""
    found: dict[str, list[tuple[Cell, ...]]] = {}
    for name, rows in database.items():
        keys = *known.keys.get(name, ()), *(one.columns for one in known.unique.get(name, ()))
        rules = (rule.columns for rule in known.rules.get(name, ()))
        held = {*chain(*keys, *rules), *linked_columns(known, name)}
        free = [c.kind in NUMBERS and c.name not in held for c in known.tables[name]]
        found[name] = [
            tuple(rows[0][i] if free[i] else cell for i, cell in enumerate(row)) for row in rows
        ]
    return found


class ReadingOrder(InSQLite):
    """Tells whether a query returns something else where tables are read from their ends."""

    def differs(self, database: Database) -> bool:
        written = self._pair[0].sql.lower()
        if not any(name in written for name in _CHOOSING):
            raise QueryError(NO_CHOICE)
        turned = {name: list(reversed(rows)) for name, rows in database.items()}
        self.sandbox.now = self._moments[0]
        self.sandbox.chosen = chosen = list[str]()
        try:
            shown: list[list[ResultRow]] = []
            for rows in (database, turned):
                self.load(rows)
                shown.append(self.run(0))
        finally:
            self.sandbox.chosen = None
        self.shown = shown[0], shown[1]
        return bool(chosen) and not self.same(*self.shown)
