"""What is known where an expression stands, and what each of these facts rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final, TypeAlias

import attrs

from scorekit._core.clock import check_time
from scorekit._sql.databases.kinds import UNCASED
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.tree import (
    TRUE,
    Aggregate,
    Column,
    Derived,
    Exists,
    IsNull,
    Join,
    Literal,
    Node,
    Scalar,
    ScalarQuery,
    Select,
    Source,
    Table,
    local_sources,
)
from scorekit._sql.prove.normal import Arm, As

Premises: TypeAlias = frozenset[str]
"""What an answer rests on, in sentences; an answer that is no is None instead."""

NOTHING: Final[Premises] = frozenset()


class UnsupportedError(Exception):
    """A query holds something whose meaning is not known well enough to reason about it."""


class ExhaustedError(UnsupportedError):
    """A search took more steps than it is allowed."""


MAX_STEPS: Final = 40_000
"""Nodes visited for one pair of queries, large ones counted more, before it is given up."""

MAX_SPARE_STEPS: Final = 100_000
"""Steps of all questions about one pair whose answer may be left open."""


class Steps:
    """Counts what one pair of queries costs."""

    def __init__(self, effort: float = 1.0) -> None:
        self.left, self.spare = int(MAX_STEPS * effort), int(MAX_SPARE_STEPS * effort)

    def take(self, n: int = 1) -> None:
        """Count *n* steps; raises `ExhaustedError` where there were too many."""
        check_time()
        self.left -= n
        if self.left < 0:
            raise ExhaustedError


def optional_in(tables: Iterable[Table]) -> frozenset[Source]:
    """Return the tables of a FROM that an outer join of it may fill up with NULLs."""
    found = frozenset[Source]()
    for table in tables:
        if isinstance(table, Arm):
            found |= frozenset(local_sources(table.tables))
            continue
        if isinstance(table, Join) and table.kind in ("left", "full"):
            filled = (table.right,) if table.kind == "left" else (table.left, table.right)
            found |= frozenset(local_sources(filled))
        found |= optional_in(child for child in table.children if isinstance(child, Table))
    return found


def derived_in(tables: Iterable[Table]) -> Iterator[Derived]:
    """Yield the derived tables of a FROM, however they are joined."""
    for table in tables:
        if isinstance(table, Derived):
            yield table
        else:
            yield from derived_in(child for child in table.children if isinstance(child, Table))


@attrs.frozen(eq=False)
class Scope(Catalog):
    """What is known where an expression stands: only given facts, no derived ones."""

    steps: Steps = attrs.Factory(Steps)
    optional: frozenset[Source] = frozenset()
    """Tables whose row may be all NULLs, as an outer join found no other."""
    reach: frozenset[Source] = frozenset()
    """Tables that an expression here may name; columns of all others are unknown."""
    memo: dict[object, object] = attrs.field(factory=dict[object, object])
    """Answers found so far, by their question."""

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What an answer depends on, beside what all scopes of a query share."""
        return self.optional, self.reach, frozenset(self.derived.items())

    def inside(self, tables: Iterable[Table]) -> Scope:
        """Return the scope of what may name *tables* too."""
        tables = tuple(tables)
        derived = {table.source: table.query for table in derived_in(tables)}
        own = frozenset(local_sources(tables))
        return attrs.evolve(
            self,
            derived={**self.derived, **derived} if derived else self.derived,
            optional=(self.optional - own) | optional_in(tables),
            reach=self.reach | own,
        )

    def _kind(self, value: Node) -> str:
        if isinstance(value, As):
            return self._kind_of_aggregate(value.type, value.value)
        return super()._kind(value)

    # Base tables.

    def keys(self, source: Source) -> tuple[tuple[str, ...], ...]:
        """Return the keys of a base table."""
        if self.schema is None or not source.table:
            return ()
        return self.schema.keys.get(source.table.lower(), ())

    def not_null(self, column: Scalar) -> Premises | None:
        """Say whether a column of a base table is declared never to be NULL."""
        if not isinstance(column, Column):
            return None
        table, name = column.source.table, column.name.lower()
        if any(name in key for key in self.keys(column.source)):
            return frozenset((f"{table}.{name} is never NULL (key)",))
        declared = self.column(column)
        if declared is not None and not declared.nullable:
            return frozenset((f"{table}.{name} is never NULL (schema)",))
        return None

    def exact(self, value: Scalar) -> bool:
        """Say whether equal values of an expression are the same to every function."""
        kind = self.kind(value)
        if kind == "text":
            return self.dialect is not None and self.dialect not in UNCASED
        literal = isinstance(value, Literal) and value.kind in ("integer", "text", "null")
        return kind in ("integer", "natural", "boolean") or literal


def never_null_alone(value: Node) -> bool:
    """Say whether a value is never NULL, whatever the tables hold."""
    if isinstance(value, Literal):
        return value.kind != "null"
    return isinstance(value, IsNull | Exists) or is_count(value)


def aggregate_of(value: Node) -> Aggregate | None:
    """Return what a scalar subquery that aggregates all of its rows takes of them."""
    query = value.query if isinstance(value, ScalarQuery) else None
    if not isinstance(query, Select) or query.keys is not None or query.having != TRUE:
        return None
    (output,) = query.outputs
    return output if isinstance(output, Aggregate) else None


def is_count(value: Node) -> bool:
    """Say whether a value counts rows."""
    aggregate = value if isinstance(value, Aggregate) else aggregate_of(value)
    return aggregate is not None and aggregate.function == "count"


def every(answers: Iterable[Premises | None]) -> Premises | None:
    """Return what it rests on that all *answers* are yes; None if one of them is no."""
    found = NOTHING
    for answer in answers:
        if answer is None:
            return None
        found |= answer
    return found
