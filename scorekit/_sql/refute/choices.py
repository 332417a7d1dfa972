"""Databases on which one query has several results: what is compared is the query with itself."""

from __future__ import annotations

from itertools import islice
from typing import Final

from scorekit._sql.refute.sandbox import (
    AT_LEAST,
    AT_MOST,
    JOINED,
    OF_COPIES,
    ONLY,
    UNTIED,
    Database,
    QueryError,
)
from scorekit._sql.refute.search import Trial
from scorekit._sql.rows import ResultRow

NO_CHOICE: Final = "nothing in the query leaves a choice"
_CHOOSING: Final = (ONLY, AT_LEAST, AT_MOST, OF_COPIES, UNTIED, JOINED)


class Ties(Trial):
    """Tells whether rows that tie at a LIMIT leave several results to a query."""

    def differs(self, database: Database) -> bool:
        query = self._pair[0]
        if not (query.cut or query.sites):
            raise QueryError(NO_CHOICE)
        self._load(database)
        self.sandbox.now = self._moments[0]
        allowed = self._allowed(query)
        results = (result for one in allowed for result in one.results())
        first = next(results)
        for other in islice(results, _MOST_COMPARED):
            if not self.same(first, other):
                self.shown = first, other
                return True
        return False


_MOST_COMPARED: Final = 20


class ReadingOrder(Trial):
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
                self._load(rows)
                shown.append(self._run(0))
        finally:
            self.sandbox.chosen = None
        self.shown = tuple(shown)
        return bool(chosen) and not self.same(*self.shown)
