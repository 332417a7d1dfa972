"""What is known of the tables that queries read: columns, kinds, NOT NULL and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias, TypeGuard

import attrs
from sqlglot import exp

from scorekit._core.checks import check_text
from scorekit._sql.parsing import parse
from scorekit.errors import SqlError, refuse
from scorekit.records import FrozenMapping, is_mapping

Schema: TypeAlias = str | Mapping[str, Mapping[str, str]]
Key: TypeAlias = str | tuple[str, ...]
Keys: TypeAlias = Mapping[str, Key | Iterable[tuple[str, ...]]]

UNCASED: Final = frozenset(
    {"mysql", "tsql", "fabric", "doris", "starrocks", "singlestore", "teradata"}
)
"""Dialects in which strings that differ in case are equal, or may be, by their collation."""

_KINDS: Final = {
    "natural": r"u(?:tiny|small|medium|big|huge)?int(?:eger)?\d*"
    r"|(?:tiny|small|medium|big)?int(?:eger)?\s*(?:\(\d+\)\s*)?unsigned|unsigned",
    "integer": r"(?:tiny|small|medium|big|huge)?int(?:eger)?\d*|(?:small|big)?serial\d*|byteint"
    r"|long|short|signed",
    "number": r"num(?:ber|eric)|dec(?:imal)?|bignumeric|(?:small)?money",
    "real": r"float\d*|real|double",
    "text": r"n?(?:var)?char(?:acter|2)?|bpchar|(?:tiny|medium|long|n)?text|string|n?clob|uuid"
    r"|name",
    "boolean": r"bool(?:ean)?",
    "time": r"date(?:time)?\d*|time(?:stamp)?(?:_?n?l?tz)?\d*|smalldatetime|datetimeoffset",
}
_KIND = {kind: re.compile(rf"\s*(?:{words})(?![a-z0-9_])") for kind, words in _KINDS.items()}


@attrs.frozen
class Column:
    """A column: its name in case-folded form, and what it holds."""

    name: str
    kind: str
    """``integer``, ``natural`` (never negative), ``number`` (decimal), ``real``, ``text``,
    ``boolean``, ``time``, ``collated`` (text that is compared by a rule of its own), or else
    ``unknown``."""
    nullable: bool


@attrs.frozen
class Reference:
    """A foreign key: its columns are NULL or found together in the other table."""

    table: str
    columns: tuple[str, ...]
    other: str
    others: tuple[str, ...]


@attrs.frozen
class SqlSchema:
    """What is known of some tables; names are case-folded."""

    tables: FrozenMapping[str, tuple[Column, ...]]
    keys: FrozenMapping[str, tuple[tuple[str, ...], ...]]
    """Columns that are unique together and never NULL; tables without a known key are left out."""
    given: bool
    """Whether the tables are the caller's; otherwise there are none, or they were inferred."""
    references: tuple[Reference, ...] = ()
    checked: frozenset[str] = frozenset()
    """Tables whose rows must pass a CHECK or are partly computed, which is not looked into."""


_COLLATED = re.compile(r"\b(?:citext|enum)\b|\bcollate\b(?!\s+binary\b)")


def read_schema(schema: object, keys: object, dialect: str | None) -> SqlSchema | None:
    """
    Read what a caller knows of the tables.

    Args:
        schema: A mapping from table to column to type, whose types may end in ``NOT NULL``,
            ``PRIMARY KEY`` and ``UNIQUE``, or a text with CREATE TABLE statements.
        keys: A mapping from table to its key: a column, a tuple of columns, or a list of tuples.
        dialect: The dialect of the text.

    Returns:
        None where nothing is known: without arguments, or with a text that defines no table.

    Raises:
        InputError: If a table has no columns, or *keys* names what the schema does not have.
        TypeError: If an argument has the wrong type.
    """
    tables: dict[str, tuple[Column, ...]] | None = None
    rules = _Rules()
    found: dict[str, list[tuple[str, ...]]] = {}
    if isinstance(schema, str):
        tables = _read_definitions(schema, dialect, found, rules)
    elif schema is not None:
        tables = _read_mapping(schema, found)
    if keys is not None:
        _read_keys(keys, tables, found)
    if tables is None and not found:
        return None
    unique = {table: tuple(dict.fromkeys(several)) for table, several in found.items()}
    known = {
        table: tuple(
            attrs.evolve(column, nullable=column.nullable and column.name not in in_key)
            for column in columns
        )
        for table, columns in (tables or {}).items()
        for in_key in [{name for key in unique.get(table, ()) for name in key}]
    }
    return SqlSchema(
        FrozenMapping(known),
        FrozenMapping(unique),
        tables is not None,
        tuple(rules.references),
        frozenset(rules.checked),
    )


def kind_of(type_text: str) -> str:
    """Return what kind of values a column of this type holds."""
    words = type_text.casefold()
    if _COLLATED.search(words):
        return "collated"
    return next((kind for kind, pattern in _KIND.items() if pattern.match(words)), "unknown")


# A mapping.

_TABLES = "text or a mapping from table to column to type"
_COLUMNS = "a non-empty mapping from column to type"


def _read_mapping(
    schema: object, keys: dict[str, list[tuple[str, ...]]]
) -> dict[str, tuple[Column, ...]]:
    if not is_mapping(schema):
        refuse("schema", _TABLES, schema, TypeError)
    tables: dict[str, tuple[Column, ...]] = {}
    for table, columns in schema.items():
        path = f"schema[{check_text('table of schema', table)!r}]"
        if not is_mapping(columns):
            refuse(path, _COLUMNS, columns, TypeError)
        if not columns:
            refuse(path, _COLUMNS, columns)
        _add_table(tables, path, table, [_typed(path, *item) for item in columns.items()], keys)
    return tables


def _typed(path: str, name: object, kind: object) -> tuple[str, str]:
    column = check_text(f"column of {path}", name)
    return column, check_text(f"{path}[{column!r}]", kind, empty=True)


def _add_table(
    tables: dict[str, tuple[Column, ...]],
    path: str,
    table: str,
    typed: list[tuple[str, str]],
    keys: dict[str, list[tuple[str, ...]]],
) -> None:
    name = table.casefold()
    if name in tables:
        refuse("schema", "a mapping whose tables differ in more than case", table)
    columns: dict[str, Column] = {}
    primary: list[str] = []
    for column, text in typed:
        folded, words = column.casefold(), " ".join(text.casefold().split())
        if folded in columns:
            refuse(path, "a mapping whose columns differ in more than case", column)
        in_key = "primary key" in words
        nullable = not in_key and "not null" not in words
        columns[folded] = Column(folded, kind_of(words), nullable)
        if in_key:
            primary.append(folded)
        elif re.search(r"\bunique\b", words) and not nullable:
            keys.setdefault(name, []).append((folded,))
    if primary:  # several columns marked so are one key
        keys.setdefault(name, []).append(tuple(primary))
    tables[name] = tuple(columns.values())


# A text.


@attrs.frozen
class _Rules:
    """What rows must keep to besides keys."""

    references: list[Reference] = attrs.Factory(list[Reference])
    checked: set[str] = attrs.Factory(set[str])


def _read_definitions(
    text: str, dialect: str | None, keys: dict[str, list[tuple[str, ...]]], rules: _Rules
) -> dict[str, tuple[Column, ...]] | None:
    if "create" not in text.casefold():
        return None
    for name in dict.fromkeys((dialect, None)):
        with suppress(SqlError):
            return _read_statements(parse(text, name).statements, keys, rules)
    return None


def _read_statements(
    statements: tuple[exp.Expr, ...], keys: dict[str, list[tuple[str, ...]]], rules: _Rules
) -> dict[str, tuple[Column, ...]] | None:
    tables: dict[str, tuple[Column, ...]] = {}
    for statement in statements:
        target = statement.this
        if isinstance(statement, exp.Alter | exp.Drop):
            return None  # what is left of the tables is unclear
        if not isinstance(statement, exp.Create) or not isinstance(target, exp.Schema):
            continue
        defined = [item for item in target.expressions if isinstance(item, exp.ColumnDef)]
        name = table_name(target.this)
        if not defined or name in tables:
            return None
        not_null: set[str] = set()
        unique: list[tuple[str, ...]] = []
        for item in target.find_all(*_CONSTRAINTS):
            _read_constraint(item, not_null, unique)
        columns = tuple(
            Column(
                column.name.casefold(),
                _kind_of_column(column),
                column.name.casefold() not in not_null,
            )
            for column in defined
        )
        if len({column.name for column in columns}) < len(columns):
            return None
        tables[name] = columns
        if target.find(*_CHECKS) is not None:
            rules.checked.add(name)
        rules.references.extend(_reference(name, item) for item in target.find_all(exp.Reference))
        sure = [key for key in unique if key and not_null.issuperset(key)]
        if sure:
            keys[name] = sure
    return tables or None


_CHECKS = (
    exp.Check,
    exp.CheckColumnConstraint,
    exp.ComputedColumnConstraint,
    exp.GeneratedAsRowColumnConstraint,
)


def _reference(table: str, item: exp.Reference) -> Reference:
    """Read a foreign key; without columns of the other table its primary key is meant."""
    owner = item.find_ancestor(exp.ForeignKey, exp.ColumnDef)
    mine = owner.expressions if isinstance(owner, exp.ForeignKey) else [owner]
    other = item.this
    theirs = other.expressions if isinstance(other, exp.Schema) else []
    return Reference(
        table,
        tuple(part.name.casefold() for part in mine if part),
        table_name(other.this if isinstance(other, exp.Schema) else other),
        tuple(part.name.casefold() for part in theirs),
    )


def _kind_of_column(column: exp.ColumnDef) -> str:
    parts = [column.kind, *column.find_all(exp.CollateColumnConstraint)]
    return kind_of(" ".join(part.sql() for part in parts if part))


_CONSTRAINTS = (
    exp.NotNullColumnConstraint,
    exp.PrimaryKeyColumnConstraint,
    exp.UniqueColumnConstraint,
    exp.PrimaryKey,
)


def _read_constraint(item: exp.Expr, not_null: set[str], unique: list[tuple[str, ...]]) -> None:
    column = item.find_ancestor(exp.ColumnDef)
    if column is not None:
        names: tuple[str, ...] = (column.name.casefold(),)
    else:
        listed = item.this.expressions if isinstance(item.this, exp.Schema) else item.expressions
        parts = (part.this if isinstance(part, exp.Ordered) else part for part in listed)
        names = tuple(part.name.casefold() for part in parts)
    if isinstance(item, exp.NotNullColumnConstraint):
        if not item.args.get("allow_null"):
            not_null.update(names)
        return
    if isinstance(item, exp.PrimaryKey | exp.PrimaryKeyColumnConstraint):
        not_null.update(names)
    unique.append(names)


def table_name(table: exp.Expr) -> str:
    """Return the name of a table as the schema has it: dotted as written, case-folded."""
    parts = table.parts if isinstance(table, exp.Table) else [table]
    return ".".join(part.name for part in parts).casefold()


# Keys.

_KEY = "a column, a tuple of columns, or a list of such tuples"


def _read_keys(
    keys: object,
    tables: dict[str, tuple[Column, ...]] | None,
    found: dict[str, list[tuple[str, ...]]],
) -> None:
    if not is_mapping(keys):
        refuse("keys", "a mapping from table to key", keys, TypeError)
    for table, key in keys.items():
        name = check_text("table of keys", table).casefold()
        path = f"keys[{table!r}]"
        if tables is not None and name not in tables:
            refuse("keys", "a mapping from tables of the schema", table)
        known = None if tables is None else {column.name for column in tables[name]}
        for columns in _several(path, key):
            for column in columns:
                if known is not None and column not in known:
                    refuse(path, f"made of columns of {table}", column)
            found.setdefault(name, []).append(columns)


def _several(path: str, key: object) -> list[tuple[str, ...]]:
    if isinstance(key, str):
        return [(check_text(path, key).casefold(),)]
    if not _is_sequence(key):
        refuse(path, _KEY, key, TypeError)
    if not key:
        refuse(path, _KEY, key)
    if isinstance(key, tuple) and all(isinstance(part, str) for part in key):
        key = [key]
    several: list[tuple[str, ...]] = []
    for columns in key:
        if not _is_sequence(columns) or not isinstance(columns, tuple):
            refuse(path, _KEY, key, TypeError)
        if not columns:
            refuse(path, _KEY, key)
        several.append(tuple(check_text(path, column).casefold() for column in columns))
    return several


def _is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)


def schema_text(schema: object) -> str:
    """Return a schema as a judge is shown it: one table a line."""
    if isinstance(schema, str):
        return schema
    if not is_mapping(schema):
        refuse("schema", _TABLES, schema, TypeError)
    return "\n".join(
        f"{table}({', '.join(f'{column} {kind}' for column, kind in columns.items())})"
        for table, columns in schema.items()
    )
