"""The tree of a query: what is read, what it means, and that engines mean the same."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from sql_queries import Maker as JoinMaker
from sql_queries import Writer
from tree_interpreter import Database, Interpreter, MeaninglessError, Result, Row, TooManyError

from scorekit._sql.catalog import Catalog
from scorekit._sql.parsing import parse
from scorekit._sql.read import Reading, UnreadError, read_query
from scorekit._sql.schema import read_schema
from scorekit._sql.tree import (
    FALSE,
    NULL,
    TRUE,
    And,
    Column,
    Comparison,
    Derived,
    Exists,
    Function,
    IsNull,
    Literal,
    Node,
    OpenName,
    Ordered,
    Scan,
    Select,
    Source,
    conjunction,
    conjuncts,
    defined_in,
    found_in,
    free_sources,
    has_aggregate,
    integer,
    replaced,
    rewritten,
    sorted_nodes,
    walk,
)

COLUMNS = {
    "t": (("a", "int"), ("b", "int"), ("c", "text")),
    "u": (("a", "int"), ("d", "int"), ("e", "text")),
}
SHOP = "CREATE TABLE t (a int, b int, c text); CREATE TABLE u (a int, d int, e text)"
NUMBERS = (-1, 0, 1, 2)
WORDS = ("a", "B", "ab", "")


def read(text: str, dialect: str | None = "sqlite", schema: str | None = SHOP) -> Reading:
    """Read a query."""
    known = read_schema(schema, None, dialect) if schema else None
    return read_query(parse(text, dialect).statements[0], Catalog(known, dialect))


class QueryMaker:
    """Makes queries over t and u with windows, limits, groups and subqueries of all kinds."""

    def __init__(self, rng: random.Random, dialect: str) -> None:
        self.rng, self.dialect = rng, dialect
        self.n, self.left = 0, 4

    def one(self, *choices: str) -> str:
        """Return one of some texts."""
        return self.rng.choice(choices)

    def chance(self, probability: float) -> bool:
        """Toss a coin."""
        return self.rng.random() < probability

    def query(self) -> str:
        """Make a query, perhaps in an order, of which only a part is wanted."""
        kinds = [self.one("int", "text") for _ in range(self.rng.choice((1, 2, 2, 3)))]
        head, text = "", self.select(kinds, [])
        if self.chance(0.1):
            head = f"WITH w AS ({self.limited(kinds[:1])}) "
            text = "SELECT x.c0 FROM w AS x, w AS y WHERE x.c0 = y.c0 OR x.c0 IS NULL"
            kinds = kinds[:1]
        elif self.chance(0.2):
            operator = self.one("UNION", "UNION ALL", "INTERSECT", "EXCEPT")
            text = f"{text} {operator} {self.select(kinds, [])}"
        if self.chance(0.4):
            text += f" ORDER BY {self.one('1', f'{len(kinds)}', '1, 2'[: 3 * len(kinds) - 2])}"
            text += self.one("", " DESC", " DESC NULLS LAST", " NULLS FIRST")
            text += self.one("", "", " LIMIT 1", " LIMIT 2", " LIMIT 2 OFFSET 1", " LIMIT 0")
        return head + text

    def limited(self, kinds: Sequence[str]) -> str:
        """Make a query with ORDER BY and LIMIT."""
        table = self.one("t", "u")
        shown = [self.column([(table, COLUMNS[table])], kind) for kind in kinds]
        listed = ", ".join(f"{value} AS c{i}" for i, value in enumerate(shown))
        by = self.column([(table, COLUMNS[table])], self.one("int", "text"))
        order = f"ORDER BY {by} {self.one('', 'DESC')} LIMIT {self.one('1', '1', '2', '3')}"
        return f"SELECT {listed} FROM {table} {order}"

    def select(self, kinds: Sequence[str], outer: list[Any]) -> str:
        """Make a SELECT; *outer* are the tables that it may refer to besides its own."""
        self.left -= 1
        sources, from_ = self.tables(outer)
        where = f" WHERE {self.condition(sources, outer)}" if self.chance(0.7) or outer else ""
        style = self.rng.random()
        tail, distinct = "", "DISTINCT " * self.chance(0.2)
        if style < 0.05 and self.dialect == "sqlite":  # it takes any row's value
            shown = ["COUNT(*)" if kind == "int" else self.column(sources, kind) for kind in kinds]
        elif style < 0.2:
            shown = [self.aggregate(sources, kind) for kind in kinds]
        elif style < 0.45:
            keys = [self.column(sources, kind) for kind in kinds]
            tail = f" GROUP BY {self.keys([key for key in keys if '.' in key])}"
            tail += f" HAVING {self.aggregate(sources, 'int')} >= 1" * self.chance(0.3)
            shown = [
                key if "." in key and self.chance(0.6) else self.aggregate(sources, kind)
                for key, kind in zip(keys, kinds, strict=True)
            ]
        elif style < 0.65 and not outer:
            shown = [
                self.window(sources) if kind == "int" else self.column(sources, kind)
                for kind in kinds
            ]
        else:
            shown = [self.value(sources, outer, kind) for kind in kinds]
        listed = ", ".join(f"{value} AS c{i}" for i, value in enumerate(shown))
        return f"SELECT {distinct}{listed} FROM {from_}{where}{tail}"

    def keys(self, keys: list[str]) -> str:
        """Make a GROUP BY, of several sets where the engine has them."""
        listed = ", ".join(dict.fromkeys(keys)) or "1 + 1"
        if not keys or self.dialect == "sqlite" or self.chance(0.7):
            return listed
        return self.one(f"ROLLUP ({listed})", f"CUBE ({listed})", f"GROUPING SETS (({listed}), ())")

    def tables(self, outer: list[Any]) -> tuple[list[Any], str]:
        """Make a FROM."""
        sources, text = [], ""
        for i in range(1 if outer else self.rng.choice((1, 1, 2, 2, 3))):
            self.n += 1
            alias = f"x{self.n}"
            if self.left > 0 and not outer and self.chance(0.2):
                kinds = [self.one("int", "text") for _ in range(2)]
                query = self.limited(kinds) if self.chance(0.6) else self.select(kinds, [])
                columns: Any = [(f"c{j}", kind) for j, kind in enumerate(kinds)]
                table = f"({query}) AS {alias}"
            else:
                name = self.one("t", "u")
                columns, table = COLUMNS[name], f"{name} AS {alias}"
            before = list(sources)
            sources.append((alias, columns))
            if i == 0:
                text = table
            elif self.chance(0.1):
                text += f" JOIN {table} ON 1 = 1"
            elif self.chance(0.1) and self.dialect == "duckdb":
                named = f"{self.column(before, 'int')} AS c0, d AS c1"
                text += f" JOIN LATERAL (SELECT {named} FROM u) AS {alias} ON TRUE"
                sources[-1] = (alias, [("c0", "int"), ("c1", "int")])
            else:
                kind = self.one("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
                on = f"{self.column(before, 'int')} = {self.column(sources[-1:], 'int')}"
                text += f" {kind} {table} ON {on}"
        return sources, text

    def column(self, sources: Sequence[Any], kind: str) -> str:
        """Return a column of a kind, or a literal."""
        found = [f"{alias}.{name}" for alias, columns in sources for name, k in columns if k == kind]
        return self.rng.choice(found) if found else self.literal(kind)

    def literal(self, kind: str) -> str:
        """Return a constant."""
        return str(self.rng.choice(NUMBERS)) if kind == "int" else f"'{self.rng.choice(WORDS)}'"

    def value(self, sources: Sequence[Any], outer: Sequence[Any], kind: str) -> str:
        """Make an expression."""
        column, style = self.column(sources, kind), self.rng.random()
        if style < 0.5:
            return column
        if style < 0.6:
            condition = self.condition(sources, outer)
            return f"CASE WHEN {condition} THEN {column} ELSE {self.literal(kind)} END"
        if style < 0.7:
            return f"{self.one('COALESCE', 'NULLIF')}({column}, {self.literal(kind)})"
        if style < 0.85 and self.left > 0 and not outer:
            return f"({self.scalar(kind, sources)})"
        if kind == "int":
            other = self.one(self.column(sources, "int"), self.literal("int"))
            return f"({column} {self.one('+', '-', '*')} {other})"
        return self.one(f"UPPER({column})", f"{column} || 'x'", f"SUBSTR({column}, 1, 1)")

    def scalar(self, kind: str, outer: Sequence[Any]) -> str:
        """Make a query for one value."""
        self.left -= 1
        sources, from_ = self.tables(list(outer))
        if self.chance(0.7):
            shown = self.aggregate(sources, kind)
            return f"SELECT {shown} FROM {from_} WHERE {self.condition(sources, outer)}"
        by = self.column(sources, "int")
        shown = self.column(sources, kind)
        where = f"WHERE {self.condition(sources, outer)} ORDER BY {by} LIMIT 1"
        return f"SELECT {shown} FROM {from_} {where}"

    def aggregate(self, sources: Sequence[Any], kind: str) -> str:
        """Make an aggregate."""
        if kind == "text":
            return f"{self.one('MIN', 'MAX')}({self.column(sources, 'text')})"
        name = self.one("COUNT", "SUM", "AVG", "MIN", "MAX")
        distinct = "DISTINCT " * self.chance(0.2)
        return self.one("COUNT(*)", f"{name}({distinct}{self.column(sources, 'int')})")

    def window(self, sources: Sequence[Any]) -> str:
        """Make a window function."""
        value = self.column(sources, "int")
        name = self.one("ROW_NUMBER()", "RANK()", "DENSE_RANK()", f"SUM({value})", "COUNT(*)",
                        f"LAG({value})", f"FIRST_VALUE({value})", "NTILE(2)")  # fmt: skip
        part = f"PARTITION BY {self.column(sources, 'text')} " * self.chance(0.5)
        order = f"ORDER BY {self.column(sources, self.one('int', 'text'))}"
        frame = ""
        if name.startswith(("SUM", "COUNT", "FIRST")):
            frame = self.one("", "", " ROWS UNBOUNDED PRECEDING",
                             " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING")  # fmt: skip
            order = order if self.chance(0.7) else ""
        return f"{name} OVER ({part}{order}{frame if order else ''})"

    def condition(self, sources: Sequence[Any], outer: Sequence[Any], depth: int = 1) -> str:
        """Make a condition."""
        kind, style = self.one("int", "text"), self.rng.random()
        left = self.column(sources, kind)
        if outer and style < 0.5:
            return f"{left} {self.one('=', '=', '<')} {self.column(outer, kind)}"
        if depth and style < 0.2:
            parts = [self.condition(sources, outer, depth - 1) for _ in range(2)]
            return f"{self.one('', 'NOT ')}({self.one(' AND ', ' OR ').join(parts)})"
        if style < 0.3 and self.left > 0 and not outer:
            inner = self.select([kind], [] if self.chance(0.4) else list(sources))
            negated = self.one("", "NOT ")
            return self.one(f"{left} {negated}IN ({inner})", f"{negated}EXISTS ({inner})")
        if style < 0.4:
            return f"{left} IS {self.one('', 'NOT ')}NULL"
        if style < 0.5:
            return f"{left} {self.one('', 'NOT ')}IN ({self.literal(kind)}, {self.literal(kind)})"
        if style < 0.55:
            return f"{self.column(sources, 'text')} {self.one('', 'NOT ')}LIKE '{self.one('a%', '_', '%B')}'"
        if style < 0.6:
            return f"{left} BETWEEN {self.literal(kind)} AND {self.literal(kind)}"
        operator = self.one("=", "=", "<>", "<", "<=", ">", ">=")
        return f"{left} {operator} {self.one(self.literal(kind), self.column(sources, kind))}"


def random_database(rng: random.Random) -> Database:
    """Make rows with NULLs and copies."""
    return {
        table: (
            [name for name, _ in columns],
            [
                tuple(
                    None if rng.random() < 0.2 else rng.choice(NUMBERS if kind == "int" else WORDS)
                    for _, kind in columns
                )
                for _ in range(rng.choice((0, 1, 2, 3, 3, 4)))
            ],
        )
        for table, columns in COLUMNS.items()
    }


def filled(connection: Any, database: Database) -> Any:
    """Put rows into an engine in the place of those that are there."""
    for table, (columns, rows) in database.items():
        connection.execute(f"DELETE FROM {table}")
        for row in rows:
            places = ", ".join("?" * len(columns))
            connection.execute(f"INSERT INTO {table} VALUES ({places})", list(row))
    return connection


def agrees(rows: Sequence[Row], allowed: frozenset[Result]) -> bool:
    """Say whether rows are a result that is allowed: those that tie may come in any order."""
    for result in allowed:
        at = 0
        for group in result:
            if Counter(rows[at : at + len(group)]) != Counter(group):
                break
            at += len(group)
        else:
            if at == len(rows):
                return True
    return False


def engine(dialect: str) -> Any:
    """Return an engine with empty tables."""
    if dialect == "sqlite":
        connection: Any = sqlite3.connect(":memory:")
    else:
        connection = pytest.importorskip("duckdb").connect(":memory:")
    for table, columns in COLUMNS.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, columns))})")
    return connection


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_engines_agree_with_what_random_trees_mean(dialect: str, seed: int) -> None:
    """Each result of an engine is one that the tree allows; few queries are left out."""
    rng = random.Random(seed)
    connection = engine(dialect)
    n_compared = 0
    for _ in range(100):
        database = random_database(rng)
        text = QueryMaker(rng, dialect).query()
        reading = read(text, dialect)
        try:
            allowed = Interpreter(database, dialect).allowed(reading.query)
        except TooManyError:
            continue
        rows = filled(connection, database).execute(text).fetchall()
        assert agrees([*map(tuple, rows)], allowed), (text, database, rows, allowed)
        n_compared += 1
    assert n_compared >= 90
