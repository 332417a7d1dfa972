"""What a schema says of the columns in a tree, and what kinds of values expressions have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Final, cast

import attrs
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from scorekit._core.mappings import FrozenMapping
from scorekit._sql.databases.functions import returned
from scorekit._sql.databases.kinds import ADAPTING, CLASSES, LOOSE_TYPES, NUMBERS, WHOLE, widest
from scorekit._sql.databases.kinds import Column as Declared
from scorekit._sql.meaning.tree import (
    NULL,
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Exists,
    Function,
    InQuery,
    IsNull,
    Like,
    Literal,
    Negative,
    Node,
    Not,
    Or,
    Ordered,
    Over,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    Source,
    Table,
    Window,
    Windowed,
)
from scorekit._sql.schema.tables import SqlSchema
from scorekit._sql.text.dialect_neutral import ask


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
        return self.schema.tables.get(table.lower(), ())

    def names(self, table: str) -> tuple[str, ...] | None:
        """Return the names of its columns as the dialect reads an identifier without quotes."""
        names = tuple(c.name for c in self.columns(table))
        return ask(self.dialect, partial(_as_identifiers, names)) or None

    def column(self, column: Scalar) -> Declared | None:
        """Return what the schema says of a column of a base table."""
        if not isinstance(column, Column) or not column.source.table:
            return None
        name = column.name.lower()
        return next((c for c in self.columns(column.source.table) if c.name == name), None)

    def kind(self, value: Node) -> str:
        """
        Return the kind of the values of an expression in this dialect, as far as it is known.

        Kinds are those of `scorekit._sql.databases.kinds.Column`.  What a database would make of
        values of unlike kinds is ``unknown``.
        """
        found = self._kinds.get(value)
        if found is None:
            for one in reversed(_terms(value)):  # a long sum is no deep one
                found = self._kinds[one] = self._kind(one)
            found = self._kinds[value] = found or self._kind(value)
        return found

    def _kind(self, value: Node) -> str:  # noqa: C901, PLR0911 - one per kind of node
        if isinstance(value, Column):
            return self._kind_of_column(value)
        if isinstance(value, Literal):
            return _kind_of_literal(value)
        if isinstance(value, Aggregate):
            return self._kind_of_aggregate(value.function, value.operand)
        if isinstance(value, Arithmetic):
            return self._kind_of_arithmetic(value)
        if isinstance(value, Negative):
            kind = self.kind(value.operand)
            return "integer" if kind == "natural" else kind
        if isinstance(value, Cast):
            loose = self.dialect in LOOSE_TYPES and value.kind in ("time", "boolean")
            return "unknown" if loose or value.kind not in CLASSES else value.kind
        if isinstance(value, Case):
            return self.common([*(when.value for when in value.whens), value.default])
        if isinstance(value, ScalarQuery):
            return self.kind_of_output(value.query, 0)
        if isinstance(value, Over):
            return self._kind_of_window(value.window, value.window.operands)
        if isinstance(value, Function):
            return self._kind_of_call(value)
        return _TRUTH.get(self.dialect, "unknown") if isinstance(value, CONDITIONS) else "unknown"

    def _kind_of_column(self, value: Column) -> str:
        query = self.derived.get(value.source)
        if query is not None:
            known = value.name.isdigit()
            return self.kind_of_output(query, int(value.name)) if known else "unknown"
        declared = self.column(value)
        return "unknown" if declared is None else declared.kind

    def _kind_of_aggregate(self, function: str, operand: Scalar | None) -> str:
        """Return the kind of an aggregate: a sum may be of a wider type than what is summed."""
        of = "integer" if operand is None else self.kind(operand)
        if function == "count":
            return "integer"
        if function in ("min", "max"):
            return of
        if of not in NUMBERS:
            return "unknown"
        if function == "avg":
            return "number" if of != "real" and self.dialect in _EXACT_MEANS else "real"
        wide = self.dialect in LOOSE_TYPES or (
            self.dialect in _WIDE_SUMS and operand is not None and self.is_wide(operand)
        )
        return "number" if wide and of in WHOLE else of

    def is_wide(self, value: Scalar) -> bool:
        """Say whether whole numbers may be larger than an INT holds, so that sums are decimals."""
        if isinstance(value, Aggregate):
            return value.function in ("count", "sum")
        if isinstance(value, Column):
            query = self.derived.get(value.source)
            if query is not None and value.name.isdigit():
                outputs = query.outputs
                return int(value.name) >= len(outputs) or self.is_wide(outputs[int(value.name)])
            declared = self.column(value)
            return declared is not None and declared.limits.wide
        return any(isinstance(part, Scalar) and self.is_wide(part) for part in value.children)

    def _kind_of_arithmetic(self, value: Arithmetic) -> str:
        operands = value.left, value.right
        if isinstance(value.right, Function) and value.right.name == "interval":
            kind = self.kind(value.left)
            return kind if kind == "time" else "unknown"
        kind = self.common(operands)
        if kind not in NUMBERS or value.operator not in ("+", "-", "*", "/", "%"):
            return "unknown"
        if value.operator == "/":
            if kind in WHOLE and self.dialect in ("postgres", "sqlite"):
                return "integer"
            return "number" if kind != "real" and self.dialect in _EXACT_MEANS else "real"
        return "integer" if kind == "natural" and value.operator == "-" else kind

    def _kind_of_call(self, value: Function) -> str:
        name = value.name
        if name == "anonymous":
            name = value.form.removeprefix("this=").partition(" ")[0]
        if name in _CHOICES:
            return self.common(value.operands)
        if name == "nullif" and value.operands:
            return self.common(
                value.operands if self.dialect == "postgres" else value.operands[:1]
            )
        returns = returned(name, self.dialect)
        if name in _TESTS:
            returns = _TRUTH.get(self.dialect, "unknown")
        elif name == "extract":
            returns = "number" if self.dialect == "postgres" else "integer"
        if not returns.isdecimal():
            return returns if returns in CLASSES else "unknown"
        kind = self.kind(value.operands[int(returns)]) if value.operands else "unknown"
        if name not in _ROUNDED or kind not in WHOLE:
            return kind
        return "real" if self.dialect in LOOSE_TYPES else "number"

    def _kind_of_window(self, window: Window, operands: Sequence[Scalar]) -> str:
        if window.function in ("lag", "lead"):
            return self.common((*operands[:1], *operands[2:]))
        if window.function in ("count", "sum", "avg", "min", "max"):
            return self._kind_of_aggregate(window.function, operands[0] if operands else None)
        returns = returned(window.function, self.dialect)
        if not returns.isdecimal():
            return returns or "unknown"
        return self.kind(operands[0]) if operands else "unknown"

    def common(self, values: Iterable[Scalar]) -> str:
        """Return the kind of what is one of several values, where no database converts one."""
        known = [value for value in values if value != NULL]
        typed = [value for value in known if not self.adapts(value)]
        return widest(set(map(self.kind, typed))) if typed or not known else "text"

    def adapts(self, value: Node) -> bool:
        """Say whether a value is a text that takes the type of what it stands beside."""
        text = isinstance(value, Literal) and value.kind == "text"
        return text and self.dialect in ADAPTING

    def kind_of_output(self, query: Query, place: int) -> str:
        """Return the kind of an output of a query."""
        if isinstance(query, SetOperation):
            arms = [arm for arm in query.arms if self._counts(arm, place)]
            kinds = {self.kind_of_output(arm, place) for arm in arms}
            of_texts = self.dialect in _TEXTUAL_ARMS and "text" in kinds
            return (
                "text"
                if not kinds or (of_texts and kinds <= {"text", *NUMBERS})
                else widest(kinds)
            )
        if isinstance(query, Windowed):
            n = place - len(query.query.outputs)
            if n < 0:
                return self.kind_of_output(query.query, place)
            window = query.windows[n]
            inside = self.inside(query.query.tables if isinstance(query.query, Select) else ())
            return inside._kind_of_window(window, query.operands(window))  # noqa: SLF001 - its own
        if isinstance(query, Select):
            known = place < len(query.outputs)
            return self.inside(query.tables).kind(query.outputs[place]) if known else "unknown"
        return self.kind_of_output(cast("Ordered", query).query, place)

    def _counts(self, arm: Query, place: int) -> bool:
        """Say whether an arm of a set operation has a type of its own."""
        output = arm.outputs[place] if place < len(arm.outputs) else NULL
        return output != NULL and not (self.dialect == "postgres" and self.adapts(output))

    def inside(self, tables: Iterable[Table]) -> Catalog:
        """Return what is known where *tables* may be named too."""
        del tables  # who fills this knows them all
        return self


CONDITIONS: Final = (Comparison, And, Or, Not, IsNull, Among, InQuery, Exists, Like)


def _terms(value: Node) -> list[Node]:
    """Return arithmetic, and what its first operands are computed of."""
    found: list[Node] = []
    while isinstance(value, Arithmetic):
        found.append(value)
        value = value.children[0]
    return found


_TRUTH: Final[dict[str | None, str]] = {
    "sqlite": "integer", "mysql": "integer", "postgres": "boolean", "duckdb": "boolean",
}  # fmt: skip
"""What conditions are as values."""
_CHOICES: Final = frozenset({"coalesce", "ifnull", "greatest", "least"})
_TESTS: Final = frozenset(
    {"is", "nullsafeeq", "nullsafeneq", "between", "similarto", "regexplike", "regexpilike"}
)
_ROUNDED: Final = frozenset({"round", "ceil", "ceiling", "floor", "trunc", "truncate"})
_TEXTUAL_ARMS: Final = frozenset({"mysql", "duckdb"})
"""Dialects in which numbers become texts in a set operation with texts."""
_EXACT_MEANS: Final = frozenset({"postgres", "mysql"})
"""Dialects in which quotients and means of what is exact are decimals."""
_WIDE_SUMS: Final = frozenset({"postgres", "materialize", "risingwave"})
"""Dialects in which the sum of large integers is a decimal."""


def _kind_of_literal(value: Literal) -> str:
    if value.kind == "number":
        return "real" if "e" in value.text.lower() else "number"
    return "unknown" if value.kind == "null" else value.kind


def catalog_of(tables: Mapping[str, Sequence[Declared]], dialect: str) -> Catalog:
    """Return what is known where tables have these columns, and no others."""
    known = FrozenMapping({table: tuple(columns) for table, columns in tables.items()})
    return Catalog(SqlSchema(known, FrozenMapping({}), given=True, complete=True), dialect)


@lru_cache(maxsize=256)
def rules_of(dialect: str | None) -> Dialect:
    """Return how sqlglot has a dialect."""
    return Dialect.get_or_raise(dialect or "")


@lru_cache(maxsize=4096)
def normal_name(text: str, dialect: str | None, *, quoted: bool) -> str:
    """Return an identifier as its dialect compares it."""
    if not text.isascii():
        return _normal_letters(text, dialect, quoted=quoted)
    identifier = exp.to_identifier(text, quoted=quoted)
    return str(rules_of(dialect).normalize_identifier(identifier).this)


def _normal_letters(text: str, dialect: str | None, *, quoted: bool) -> str:
    """Return an identifier letter by letter: each has one of the other case, or keeps its own."""
    small, capital = (normal_name(letter, dialect, quoted=quoted) for letter in "Aa")
    fold = str.lower if small == "a" else str.upper if capital == "A" else str
    letters = (
        letter if dialect in ASCII_CASE and not letter.isascii() else fold(letter)
        for letter in text
    )
    return "".join(new if len(new) == 1 else old for old, new in zip(text, letters, strict=True))


ASCII_CASE: Final = frozenset({"sqlite", "postgres", "duckdb"})
"""Dialects in which names that differ in the case of other letters than a to z are two names."""


@lru_cache(maxsize=4096)
def _as_identifiers(names: tuple[str, ...], dialect: str | None) -> tuple[str, ...]:
    return tuple(normal_name(name, dialect, quoted=False) for name in names)
