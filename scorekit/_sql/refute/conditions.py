"""Conditions about rows, as SQLite computes them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from sqlglot import exp

from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.faithful import Reading
from scorekit._sql.refute.inference import TablesRead
from scorekit._sql.refute.runnable import runnable
from scorekit._sql.refute.sandbox import (
    FUNCTIONS,
    Cell,
    Database,
    NoResultError,
    QueryError,
    Sandbox,
)
from scorekit._sql.refute.statements import AFFINITY


def can_be_checked(
    condition: exp.Expr, known: TablesRead, table: str, readings: Sequence[Reading]
) -> bool:
    """Say whether a condition is about a row alone, and means the same to SQLite."""
    called = [node.name.lower() for node in condition.find_all(exp.Anonymous)]
    if condition.find(exp.Query) is not None or not FUNCTIONS.issuperset(called):
        return False
    try:
        for reading in readings:
            _condition(table, condition, known, reading)
    except UnfaithfulError:
        return False
    return True


def _condition(table: str, condition: exp.Expr, known: TablesRead, reading: Reading) -> str:
    """Return a query that shows of each row of a table whether a condition is true."""
    query = exp.Select(expressions=[condition.copy()])
    query = query.from_(exp.Table(this=exp.to_identifier(table, quoted=True)))
    return runnable(query, {table: table}, reading, known.tables).sql


class Conditions:
    """What is true of the rows of a table under one reading."""

    def __init__(self, reading: Reading, known: TablesRead, stack: ExitStack) -> None:
        self._reading, self._known, self._stack = reading, known, stack
        self._made: Sandbox | None = None
        self._conditions: dict[tuple[str, int], str] = {}

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, made when it is first needed."""
        if self._made is None:
            tables = {
                name: [(column.name, self._affinity(column.kind)) for column in columns]
                for name, columns in self._known.tables.items()
            }
            like = not self._reading.is_sqlite and not self._reading.folded
            made = Sandbox(tables, case_sensitive_like=like, is_sqlite=self._reading.is_sqlite)
            self._made = self._stack.enter_context(made)
        return self._made

    def _affinity(self, kind: str) -> str:
        if self._reading.is_sqlite:
            return AFFINITY[kind]
        return {"number": "REAL", "time": "TEXT"}.get(kind, AFFINITY[kind])

    def holds(
        self, table: str, condition: exp.Expr, rows: Sequence[tuple[Cell, ...]]
    ) -> list[bool]:
        """Say for each row of a table whether a condition is true."""
        place = table, id(condition)
        if place not in self._conditions:
            try:
                query = _condition(table, condition, self._known, self._reading)
            except UnfaithfulError:
                query = ""  # of a query, and no more than a hint
            self._conditions[place] = query
        query = self._conditions[place]
        if not query:
            return [True] * len(rows)
        try:
            return self._held(query, table, rows)
        except (NoResultError, QueryError):
            return [self._holds_alone(query, table, row) for row in rows]

    def _held(self, query: str, table: str, rows: Sequence[tuple[Cell, ...]]) -> list[bool]:
        self.fill({table: rows})
        return [bool(row[0]) for row in self.sandbox.run(query)]

    def _holds_alone(self, query: str, table: str, row: tuple[Cell, ...]) -> bool:
        try:
            return self._held(query, table, [row])[0]
        except (NoResultError, QueryError):
            return False

    def fill(self, database: Database) -> None:
        """Replace all rows of the sandbox."""
        self.sandbox.load(_folded(database) if self._reading.folded else database)


def _folded(database: Database) -> Database:
    return {
        name: [
            tuple(cell.lower() if isinstance(cell, str) else cell for cell in row) for row in rows
        ]
        for name, rows in database.items()
    }
