"""What a schema says of the columns in a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

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
    Ordered,
    Place,
    Query,
    Scalar,
    Select,
    SetOperation,
    Source,
    Windowed,
    outputs_of,
)
from scorekit.records import FrozenMapping

_KINDS = {"integer": "integer", "text": "text", "boolean": "boolean"}
_COUNTING = frozenset({"count", "row_number", "rank", "dense_rank", "ntile"})


@attrs.frozen(eq=False)
class Catalog:
    """What is known of base tables in one dialect, and the queries that derived tables are."""

    schema: SqlSchema | None = None
    dialect: str | None = None
    derived: dict[Source, Query] = attrs.Factory(dict[Source, Query])
    """Filled by who reads or looks at a tree."""
    kinds: dict[Scalar, str] = attrs.Factory(dict[Scalar, str])
    """Those that were asked for: a value may stand in many others."""

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

    def kind(self, value: Scalar) -> str:
        """Return the kind of the values of an expression, as far as the schema says it."""
        found = self.kinds.get(value)
        if found is None:
            found = self.kinds[value] = self._kind(value)
        return found

    def _kind(self, value: Scalar) -> str:  # noqa: PLR0911 - one per kind of node
        if isinstance(value, Literal):
            return _KINDS.get(value.kind, "unknown")
        if isinstance(value, Aggregate):
            if value.function == "count" or value.operand is None:
                return "integer"
            return self.kind(value.operand)
        if isinstance(value, Arithmetic) and value.operator in "+*":
            kinds = {self.kind(value.left), self.kind(value.right)}
            return kinds.pop() if len(kinds) == 1 else "unknown"
        if not isinstance(value, Column):
            return "unknown"
        if value.source.table:
            declared = self.column(value)
            return declared.kind if declared is not None else "unknown"
        query = self.derived.get(value.source)
        if query is None or not value.name.isdigit():
            return "unknown"
        kinds = set(self._kinds_of_output(query, int(value.name)))
        return kinds.pop() if len(kinds) == 1 else "unknown"

    def _kinds_of_output(self, query: Query, place: int) -> Iterable[str]:
        if isinstance(query, Ordered):
            yield from self._kinds_of_output(query.query, place)
        elif isinstance(query, SetOperation):
            for arm in query.arms:
                yield from self._kinds_of_output(arm, place)
        elif isinstance(query, Windowed):
            k = place - len(outputs_of(query.query))
            if k < 0:
                yield from self._kinds_of_output(query.query, place)
            else:
                counting = k < len(query.windows) and query.windows[k].function in _COUNTING
                yield "integer" if counting else "unknown"
        elif isinstance(query, Select):
            output = query.outputs[place] if place < len(query.outputs) else Place(place)
            yield self.kind(output)


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
