"""What a schema says of the columns in a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, cast

import attrs
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from scorekit._sql.kinds import Column as Declared
from scorekit._sql.schema import SqlSchema
from scorekit._sql.tree import (
    Aggregate,
    Arithmetic,
    Column,
    Literal,
    Node,
    Ordered,
    Query,
    Scalar,
    Select,
    SetOperation,
    Source,
    Table,
    Windowed,
)
from scorekit.records import FrozenMapping


@attrs.frozen(eq=False)
class Catalog:
    """What is known of base tables in one dialect, and the queries that derived tables are."""

    schema: SqlSchema | None = None
    dialect: str | None = None
    derived: dict[Source, Query] = attrs.Factory(dict[Source, Query])
    """Filled by who reads or looks at a tree."""
    _kinds: dict[Node, str] = attrs.field(factory=dict[Node, str], init=False)

    def columns(self, table: str) -> tuple[Declared, ...]:
        """Return the columns of a base table, none where they are not known for sure."""
        if self.schema is None or not self.schema.given:
            return ()
        return self.schema.tables.get(table.casefold(), ())

    def names(self, table: str) -> tuple[str, ...] | None:
        """Return the names of its columns as the dialect reads an identifier without quotes."""
        return _as_identifiers(tuple(c.name for c in self.columns(table)), self.dialect) or None

    def column(self, column: Scalar) -> Declared | None:
        """Return what the schema says of a column of a base table."""
        if not isinstance(column, Column) or not column.source.table:
            return None
        name = column.name.casefold()
        return next((c for c in self.columns(column.source.table) if c.name == name), None)

    def kind(self, value: Node) -> str:
        """Return the kind of the values of an expression, as far as the schema says it."""
        found = self._kinds.get(value)
        if found is None:
            found = self._kinds[value] = self._kind(value)
        return found

    def _kind(self, value: Node) -> str:
        if isinstance(value, Literal):
            return value.kind if value.kind in ("integer", "text", "boolean") else "unknown"
        if isinstance(value, Aggregate):
            of = "integer" if value.operand is None else self.kind(value.operand)
            return kind_of_aggregate(value.function, of)
        if isinstance(value, Arithmetic) and value.operator in "+*":
            return _one({self.kind(value.left), self.kind(value.right)})
        if not isinstance(value, Column):
            return "unknown"
        query = self.derived.get(value.source)
        if query is not None:
            return (
                self.kind_of_output(query, int(value.name)) if value.name.isdigit() else "unknown"
            )
        declared = self.column(value)
        return "unknown" if declared is None else declared.kind

    def kind_of_output(self, query: Query, place: int) -> str:
        """Return the kind of an output of a query."""
        if isinstance(query, SetOperation):
            return _one({self.kind_of_output(arm, place) for arm in query.arms})
        if isinstance(query, Windowed):
            computed = place >= len(query.query.outputs)
            return "unknown" if computed else self.kind_of_output(query.query, place)
        if isinstance(query, Select):
            known = place < len(query.outputs)
            return self.inside(query.tables).kind(query.outputs[place]) if known else "unknown"
        return self.kind_of_output(cast("Ordered", query).query, place)

    def inside(self, tables: Iterable[Table]) -> Catalog:
        """Return what is known where *tables* may be named too."""
        del tables  # who fills this knows them all
        return self


NUMBERS: Final = frozenset({"integer", "natural", "number", "real"})


def kind_of_aggregate(function: str, of: str) -> str:
    """Return the kind of an aggregate of values of one kind: a sum may be of a wider type."""
    if function == "count":
        return "integer"
    if function in ("min", "max"):
        return of
    if of not in NUMBERS:
        return "unknown"
    return "real" if of == "real" or function == "avg" else "number"


def _one(kinds: set[str]) -> str:
    return kinds.pop() if len(kinds) == 1 else "unknown"


def catalog_of(columns: Mapping[str, Iterable[str]], dialect: str) -> Catalog:
    """Return what is known where tables have these columns, and no others."""
    tables = {
        table: tuple(Declared(name, "unknown", nullable=True) for name in names)
        for table, names in columns.items()
    }
    schema = SqlSchema(FrozenMapping(tables), FrozenMapping({}), given=True)
    return Catalog(schema, dialect)


@lru_cache(maxsize=256)
def rules_of(dialect: str | None) -> Dialect:
    """Return how sqlglot has a dialect."""
    return Dialect.get_or_raise(dialect or "")


@lru_cache(maxsize=4096)
def normal_name(text: str, dialect: str | None, *, quoted: bool) -> str:
    """Return an identifier as its dialect compares it."""
    identifier = exp.to_identifier(text, quoted=quoted)
    return str(rules_of(dialect).normalize_identifier(identifier).this)


@lru_cache(maxsize=4096)
def _as_identifiers(names: tuple[str, ...], dialect: str | None) -> tuple[str, ...]:
    return tuple(normal_name(name, dialect, quoted=False) for name in names)
