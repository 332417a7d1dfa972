"""Hypothesis strategies for SQL: schemas, and queries that are valid over a schema."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from string import ascii_lowercase, digits
from typing import NamedTuple

from scorekit._core.checks import check_count, check_text
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit.errors import MissingExtraError, refuse

try:
    from hypothesis import strategies as st
except ImportError:
    raise MissingExtraError("testing", "hypothesis") from None

__all__ = ["SHOP", "Schema", "sql_queries", "sql_schemas", "st"]

Schema = Mapping[str, Mapping[str, str]]

SHOP = FrozenMapping(
    {
        "users": FrozenMapping({"id": "INTEGER", "name": "TEXT", "age": "INTEGER"}),
        "orders": FrozenMapping({"id": "INTEGER", "user_id": "INTEGER", "total": "REAL"}),
        "products": FrozenMapping({"id": "INTEGER", "title": "TEXT", "price": "REAL"}),
    }
)
"""The schema that queries are drawn over unless another is given."""

NUMERIC = re.compile(
    r"(?!INTERV|.*RANGE)(U?(TINY|SMALL|MEDIUM|BIG|HUGE)?INT|REAL|NUM|DEC|FLOAT|DOUBLE)"
)
"""How the names of types of numbers begin."""

TEXT = re.compile(r"(N?(VAR)?CHAR|(TINY|MEDIUM|LONG|CI)?TEXT|STRING)")
"""How those of text do; what is neither is only asked whether it is NULL."""

MOST_TABLES = 3
"""Tables that one SELECT joins."""


class _DrawnColumn(NamedTuple):
    sql: str
    numeric: bool | None
    """Whether it holds numbers or else text; None is neither."""


def sql_schemas(*, max_tables: int = 3, max_columns: int = 4) -> st.SearchStrategy[Schema]:
    """
    Draw schemas: table -> column -> type, with names that no database reserves.

    Args:
        max_tables: Most tables (count, at least 1).
        max_columns: Most columns of a table (count, at least 1).

    Returns:
        A strategy for frozen mappings, as `scorekit.SqlCase` takes them.

    Raises:
        InputError: If a count is below 1.
        TypeError: If a count is not an integer.
    """
    first = st.text(ascii_lowercase, min_size=1, max_size=4)
    second = st.text(ascii_lowercase + digits, min_size=1, max_size=4)
    names = st.tuples(first, second).map("_".join)  # shrinks sooner than a regular expression
    columns = st.dictionaries(
        names,
        st.sampled_from(["INTEGER", "REAL", "TEXT"]),
        min_size=1,
        max_size=check_count("max_columns", max_columns, 1),
    )
    return st.dictionaries(
        names,
        columns.map(FrozenMapping),
        min_size=1,
        max_size=check_count("max_tables", max_tables, 1),
    ).map(FrozenMapping)


def sql_queries(schema: Schema = SHOP, *, max_depth: int = 2) -> st.SearchStrategy[str]:
    """
    Draw SELECT statements that are valid over *schema* in standard SQL.

    They join, filter, group, sort and limit, nest subqueries, name some of them in a WITH, and
    put two together with UNION; numbers are compared with numbers and text with text, and columns
    of other types (dates, booleans, arrays) with nothing but NULL.  They run on SQLite, DuckDB and
    PostgreSQL.  Names are quoted, so that any name will do.

    Args:
        schema: Table -> column -> type; each table has a column.
        max_depth: How deep queries nest (count); 0 gives plain ones.

    Returns:
        A strategy for SQL text without a semicolon.

    Raises:
        InputError: If *schema* is empty, or *max_depth* is negative.
        TypeError: If *schema* is not a mapping of mappings of strings.
    """
    tables = {_quoted(table): _checked_columns(table, schema[table]) for table in _checked(schema)}
    return _queries(tables, check_count("max_depth", max_depth))


def _checked(schema: object) -> Schema:
    if not is_mapping(schema):
        refuse("schema", "a mapping from table to columns", schema, TypeError)
    if not schema:
        refuse("schema", "a mapping of at least one table", schema)
    return schema


def _checked_columns(table: object, columns: object) -> tuple[_DrawnColumn, ...]:
    name = f"schema[{check_text('a table of schema', table)!r}]"
    if not is_mapping(columns):
        refuse(name, "a mapping from column to type", columns, TypeError)
    if not columns:
        refuse(name, "a mapping of at least one column", columns)
    return tuple(
        _DrawnColumn(
            _quoted(check_text(f"a column of {name}", column)),
            _numeric(check_text(f"{name}[{column!r}]", kind).upper()),
        )
        for column, kind in columns.items()
    )


def _numeric(kind: str) -> bool | None:
    if kind.endswith("]"):  # an array
        return None
    return True if NUMERIC.match(kind) else False if TEXT.match(kind) else None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_DrawnTables = Mapping[str, tuple[_DrawnColumn, ...]]


@st.composite
def _queries(draw: st.DrawFn, tables: _DrawnTables, depth: int) -> str:
    shape = draw(st.sampled_from(["plain", "with", "union"])) if depth else "plain"
    if shape == "with":
        kinds = draw(st.lists(st.booleans(), min_size=1, max_size=2))
        part = draw(_selects(tables, depth - 1, kinds))
        name = '"part"'
        while name in map(str.lower, tables):  # a table of that name would be hidden
            name = name[:-1] + '_"'
        named = {name: tuple(_DrawnColumn(f'"c{i}"', kind) for i, kind in enumerate(kinds))}
        return f"WITH {name} AS ({part}) {draw(_selects({**tables, **named}, depth - 1))}"
    if shape == "union":
        kinds = draw(st.lists(st.booleans(), min_size=1, max_size=2))
        word = draw(st.sampled_from(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]))
        sides = [draw(_selects(tables, depth - 1, kinds)) for _ in range(2)]
        return f" {word} ".join(sides)
    query = draw(_selects(tables, depth))
    if draw(st.booleans()):
        query += " ORDER BY 1" + draw(st.sampled_from(["", " DESC"]))
    if draw(st.booleans()):
        query += f" LIMIT {draw(st.integers(0, 10))}"
    return query


@st.composite
def _selects(
    draw: st.DrawFn, tables: _DrawnTables, depth: int, kinds: Sequence[bool] | None = None
) -> str:
    """Draw a SELECT whose columns are of *kinds* (True is a number), named c0, c1 and so on."""
    chosen = draw(st.lists(st.sampled_from(list(tables)), min_size=1, max_size=MOST_TABLES))
    sources: list[str] = []
    columns: list[_DrawnColumn] = []
    for i, table in enumerate(chosen):
        own = [_DrawnColumn(f"t{i}.{column.sql}", column.numeric) for column in tables[table]]
        if i:
            join = draw(st.sampled_from(["JOIN", "LEFT JOIN"]))
            left, right = _pair(draw, columns, own)
            sources.append(f"{join} {table} AS t{i} ON {left} = {right}")
        else:
            sources.append(f"FROM {table} AS t{i}")
        columns += own
    where = f"WHERE {draw(_conditions(tuple(columns), tables, depth))}"
    if kinds is None:
        kinds = draw(st.lists(st.booleans(), min_size=1, max_size=3))
    groups = [column for column in columns if column.numeric is not None]
    group = draw(st.none() | st.sampled_from(groups)) if groups else None
    items = [_item(draw, columns, group, numeric=kind) for kind in kinds]
    named = ", ".join(f'{item} AS "c{i}"' for i, item in enumerate(items))
    parts = [f"SELECT {draw(st.sampled_from(['', 'DISTINCT ']))}{named}", *sources]
    parts += [where] if draw(st.booleans()) else []
    if group:
        parts.append(f"GROUP BY {group.sql}")
        if draw(st.booleans()):
            parts.append(f"HAVING COUNT(*) > {draw(st.integers(0, 3))}")
    return " ".join(parts)


def _pair(draw: st.DrawFn, left: list[_DrawnColumn], right: list[_DrawnColumn]) -> tuple[str, str]:
    """Draw two columns that can be compared, or else what joins everything."""
    pairs = [
        (a.sql, b.sql)
        for a in left
        for b in right
        if a.numeric == b.numeric and a.numeric is not None
    ]
    return draw(st.sampled_from(pairs or [("1", "1")]))


def _item(
    draw: st.DrawFn, columns: list[_DrawnColumn], group: _DrawnColumn | None, *, numeric: bool
) -> str:
    """Draw one expression to select: a column or a constant, or what a group has one of."""
    alike = [column.sql for column in columns if column.numeric == numeric]
    if group is None:
        return draw(st.sampled_from(alike) if alike else _literals(numeric=numeric))
    choices = [group.sql] if group.numeric == numeric else []
    choices += ["COUNT(*)"] if numeric else []
    words = ("SUM", "MIN", "MAX") if numeric else ("MIN", "MAX")
    choices += [f"{word}({column})" for word in words for column in alike]
    return draw(st.sampled_from(choices) if choices else _literals(numeric=numeric))


def _literals(*, numeric: bool) -> st.SearchStrategy[str]:
    if numeric:
        return st.integers(-9, 100).map(str)
    return st.text("abz' %_é", max_size=4).map(lambda text: "'" + text.replace("'", "''") + "'")


@st.composite
def _conditions(
    draw: st.DrawFn, columns: tuple[_DrawnColumn, ...], tables: _DrawnTables, depth: int
) -> str:
    column = draw(st.sampled_from(columns))
    shape = draw(st.sampled_from(["simple", *(["both", "not", "subquery"] if depth else [])]))
    if shape == "subquery" and column.numeric is not None:
        return f"{column.sql} IN ({draw(_selects(tables, depth - 1, [column.numeric]))})"
    if shape in ("simple", "subquery"):
        return draw(_comparisons(column, [c.sql for c in columns if c.numeric == column.numeric]))
    inner = _conditions(columns, tables, depth - 1)
    if shape == "not":
        return f"NOT ({draw(inner)})"
    return f"({draw(inner)} {draw(st.sampled_from(['AND', 'OR']))} {draw(inner)})"


@st.composite
def _comparisons(draw: st.DrawFn, column: _DrawnColumn, alike: list[str]) -> str:
    """Draw a condition on *column*, perhaps with one of the columns *alike*."""
    shapes = ["IS NULL", "IS NOT NULL"]
    if column.numeric is not None:
        shapes = ["=", "<>", "<", ">=", *shapes, "BETWEEN", "IN"]
    shape = draw(st.sampled_from([*shapes, "LIKE"] if column.numeric is False else shapes))
    if column.numeric is None or shape in ("IS NULL", "IS NOT NULL"):
        return f"{column.sql} {shape}"
    value = _literals(numeric=column.numeric)
    if shape == "BETWEEN":
        return f"{column.sql} BETWEEN {draw(value)} AND {draw(value)}"
    if shape == "IN":
        return f"{column.sql} IN ({', '.join(draw(st.lists(value, min_size=1, max_size=3)))})"
    other = draw(value if shape == "LIKE" else value | st.sampled_from(alike))
    return f"{column.sql} {shape} {other}"
