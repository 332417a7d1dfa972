"""Columns that SQL reads: worked cases, what cannot be attributed, hostile text, an oracle."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import json
import logging
import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import failure, present
from refusals import Refusal, refusals
from small_stack import survives

from scorekit import SqlCase, score_sql_case, score_sql_cases, strategies
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import read_query
from scorekit._sql.meaning.tree import Column, found_in
from scorekit._sql.schema.tables import read_schema
from scorekit._sql.text.parsing import parse
from scorekit.columns import ColumnAccuracy, column_accuracy
from scorekit.sqlreports import SqlReport

SCHEMA = {
    "users": {"id": "int", "name": "text", "age": "int"},
    "orders": {"id": "int", "user_id": "int", "total": "real"},
    "items": {"order_id": "int", "sku": "text"},
}
DEFINITIONS = """
CREATE TABLE users (id int PRIMARY KEY, name text, age int);
CREATE TABLE orders (id int, user_id int REFERENCES users (id), total real);
CREATE TABLE items (order_id int, sku text);
"""


def read(sql: str, dialect: str | None = None, schema: Any = SCHEMA) -> tuple[str, ...]:
    """Return the columns that a query reads."""
    result = column_accuracy(sql, ["x"], schema=schema, dialect=dialect)
    assert result.error is None, result.error
    return result.extracted


RECURSIVE = """
WITH RECURSIVE c AS (
    SELECT id FROM users UNION ALL SELECT c.id FROM c JOIN orders o ON o.user_id = c.id
) SELECT id FROM c
"""
MERGE = """
MERGE INTO users u USING orders o ON u.id = o.user_id
WHEN MATCHED THEN UPDATE SET u.name = o.total WHEN NOT MATCHED THEN INSERT (id) VALUES (o.id)
"""
UPSERT = """
INSERT INTO users (id) VALUES (1)
ON CONFLICT (id) DO UPDATE SET name = excluded.name WHERE users.age > 1
"""

# Each worked out by hand, from how standard SQL resolves a name.
WORKED = [
    ("SELECT name FROM users u JOIN orders o ON o.user_id = u.id WHERE total > 1", "orders.total orders.user_id users.id users.name"),
    ("SELECT COUNT(*) FROM users", ""),
    ("SELECT 1", ""),
    ("SELECT a.id, b.id FROM users a, orders b", "orders.id users.id"),
    ("SELECT a.id, b.id FROM users a, users b", "users.id"),
    ('SELECT "Name" FROM "Users"', "users.name"),
    ("SELECT public.users.id FROM public.users", "public.users.id"),
    ("SELECT users.id FROM public.users", "public.users.id"),
    ("SELECT public.users.id FROM users", "users.id"),
    ("SELECT SUM(total) OVER (PARTITION BY user_id ORDER BY id) FROM orders", "orders.id orders.total orders.user_id"),
    ("SELECT COUNT(u.*), COUNT(users.*) FROM users u", ""),
    ("SELECT users FROM users", "users.age users.id users.name"),
    ("SELECT u.id FROM (users) AS u", "users.id"),
    ("SELECT * FROM generate_series(1, 3)", ""),
    ("VALUES (1) UNION ALL SELECT id FROM users", "users.id"),
    ("SELECT v.x FROM ((VALUES (1))) AS v(x)", ""),
    ("SELECT name FROM users WHERE id IN ((VALUES (1)))", "users.id users.name"),
    # derived tables, common table expressions, set operations
    ("SELECT x.a FROM (SELECT name AS a FROM users) x", "users.name"),
    ("SELECT x.b FROM (SELECT name FROM users) AS x(b)", "users.name"),
    ("WITH users AS (SELECT id AS k FROM orders) SELECT k FROM users", "orders.id"),
    ("WITH users AS (SELECT id FROM users WHERE age > 1) SELECT id FROM users", "users.age users.id"),
    ("WITH a AS (SELECT id FROM users), b AS (SELECT id i FROM a) SELECT i, sku FROM b, items", "items.sku users.id"),
    ("WITH RECURSIVE c(n) AS (SELECT id FROM users UNION SELECT n + 1 FROM c) SELECT n FROM c", "users.id"),
    (RECURSIVE, "orders.user_id users.id"),
    ("WITH d AS (DELETE FROM users WHERE age > 1 RETURNING id) SELECT id FROM d", "users.age users.id"),
    ("SELECT id FROM users UNION SELECT user_id FROM orders ORDER BY id", "orders.user_id users.id"),
    ("(SELECT id FROM users)", "users.id"),
    ("SELECT v.a FROM (VALUES (1, 2)) AS v(a, b)", ""),
    # subqueries, correlated ones too
    ("SELECT name FROM users WHERE EXISTS (SELECT * FROM orders WHERE user_id = users.id)", "orders.user_id users.id users.name"),
    ("SELECT name FROM users WHERE EXISTS (SELECT o.* FROM orders o)", "users.name"),
    ("SELECT name FROM users WHERE id IN (SELECT user_id FROM orders WHERE total > age)", "orders.total orders.user_id users.age users.id users.name"),
    ("SELECT (SELECT MAX(total) FROM orders WHERE id = u.id) FROM users u", "orders.id orders.total users.id"),
    ("SELECT name FROM users u, LATERAL (SELECT total FROM orders WHERE user_id = u.id) l", "orders.total orders.user_id users.id users.name"),
    # joins
    ("SELECT id FROM users JOIN orders USING (id)", "orders.id users.id"),
    ("SELECT name FROM users NATURAL JOIN orders", "orders.id users.id users.name"),
    ("SELECT id FROM users JOIN orders USING (id) JOIN orders o2 USING (id)", "orders.id users.id"),
    ("SELECT users.id FROM users JOIN orders USING (nothing)", "orders.nothing users.id users.nothing"),
    ("SELECT name FROM (users JOIN orders ON users.id = user_id) JOIN items ON sku = name", "items.sku orders.user_id users.id users.name"),
    # aliases of outputs
    ("SELECT name AS n FROM users ORDER BY n", "users.name"),
    ("SELECT COUNT(*) AS c, name FROM users GROUP BY name HAVING c > 1 ORDER BY c", "users.name"),
    ("SELECT name AS id FROM users GROUP BY id", "users.id users.name"),
    ("SELECT name AS id FROM users ORDER BY id", "users.name"),
    ("SELECT total * 2 AS double, double + 1 FROM orders WHERE double > 3", "orders.total"),
    # fields of a struct
    ("SELECT u.name.first FROM users u", "users.name"),
    ("SELECT name.first FROM users", "users.name"),
    ("SELECT u.name.first.letter.code FROM users u", "users.name"),
    # columns that no table has
    ("SELECT foo FROM users", "users.foo"),
    ("SELECT users.foo FROM users, orders", "users.foo"),
    ("SELECT foo FROM users, orders", "foo"),
    ("SELECT x.foo FROM (SELECT id FROM users) x", "foo users.id"),
    ("SELECT t3.name FROM users t1, orders t2", "t3.name"),
    ("SELECT t3.* FROM users t1", "t3.*"),
    ("SELECT sku, foo FROM items, nowhere", "items.sku nowhere.foo"),
    ("SELECT * FROM nowhere", "nowhere.*"),
    ("SELECT * FROM nowhere, items", "items.order_id items.sku nowhere.*"),
    # what changes or makes data reads some, too
    ("INSERT INTO users (id) SELECT user_id FROM orders", "orders.user_id"),
    ("UPDATE users SET name = 'x', age = id WHERE age > 3", "users.age users.id"),
    ("DELETE FROM users WHERE id = 1", "users.id"),
    ("DELETE FROM users USING orders WHERE users.id = user_id", "orders.user_id users.id"),
    (MERGE, "orders.id orders.total orders.user_id users.id"),
    ("CREATE TEMP TABLE z AS SELECT id AS q FROM users; SELECT q FROM z", "users.id"),
    ("DROP TABLE users", ""),
    # stars
    ("SELECT * FROM users", "users.age users.id users.name"),
    ("TABLE users", "users.age users.id users.name"),
    ("SELECT COUNT(DISTINCT u.*) FROM users u", "users.age users.id users.name"),
    ("SELECT o.* FROM users u, orders o", "orders.id orders.total orders.user_id"),
    ("SELECT * FROM (SELECT * FROM users) x JOIN orders ON x.id = user_id", "orders.id orders.total orders.user_id users.age users.id users.name"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "columns"), WORKED, ids=range(len(WORKED)))
def test_worked_cases(sql: str, columns: str) -> None:
    """Names by scope, each table's columns apart."""
    assert read(sql) == read(sql, schema=DEFINITIONS) == tuple(columns.split())


@pytest.mark.parametrize(("sql", "dialect", "columns"), [
    ('SELECT id FROM users WHERE name = "Bob"', "sqlite", "users.id users.name"),
    ('SELECT id, "Ann" FROM users', "sqlite", "users.id"),
    ("SELECT `Ann` FROM users", "sqlite", "users.ann"),
    ("SELECT [Ann] FROM users", "sqlite", "users.ann"),
    ('SELECT id FROM users WHERE name = "Bob"', "postgres", "users.bob users.id users.name"),
    ("SELECT name FROM items WHERE sku IN users", "duckdb", "items.name items.sku items.users"),
    ("WITH c AS (SELECT id FROM users) SELECT sku FROM items WHERE sku IN c", "sqlite", "items.sku users.id"),
    ("SELECT sku FROM items WHERE sku IN users", "sqlite", "items.sku users.age users.id users.name"),
    ("SELECT x, y FROM users u, UNNEST(u.name) AS x, u.age AS y", "bigquery", "users.age users.name"),
    ("SELECT x, o FROM users u, UNNEST(name) AS x WITH OFFSET AS o", "bigquery", "users.name"),
    ("SELECT c FROM users LATERAL VIEW explode(name) e AS c", "hive", "users.name"),
    ("SELECT g, name FROM users, generate_series(1, age) AS g", "postgres", "users.age users.name"),
    ("SELECT * EXCLUDE (name) FROM users", "duckdb", "users.age users.id"),
    ("SELECT u FROM users, unnest(name) AS u", "postgres", "users.name"),
    ("SELECT * EXCEPT (name) REPLACE (age + 1 AS id) FROM users", "bigquery", "users.age users.id"),
    ("SELECT list_transform(name, x -> x + id) FROM users", "duckdb", "users.id users.name"),
    ("UPDATE x SET v = 1 FROM users AS x JOIN orders o ON o.id = x.age", "tsql", "orders.id users.age"),
    ("DELETE x FROM users AS x JOIN orders o ON o.id = x.age", "mysql", "orders.id users.age"),
    (UPSERT, "postgres", "users.age"),
    ("INSERT ALL WHEN i > 1 THEN INTO a VALUES (i) ELSE INTO b VALUES (age) SELECT id AS i, age FROM users", "oracle", "users.age users.id"),
    ("WITH c AS (SELECT id FROM users UNION ALL SELECT id FROM c) SELECT id FROM c", "tsql", "users.id"),
])  # fmt: skip
def test_dialects_differ(sql: str, dialect: str, columns: str) -> None:
    """What is a column in one dialect is a text, a table or an array in another."""
    assert set(read(sql, dialect)) == set(columns.split())


def test_a_schema_with_qualified_tables() -> None:
    """A table may be qualified more or less than in the schema, unless two go with it."""
    schema = {"shop.users": {"id": "int"}, "hr.users": {"pay": "int"}, "db.logs": {"at": "time"}}
    assert read("SELECT * FROM logs", schema=schema) == ("logs.at",)
    assert read("SELECT * FROM main.shop.users", schema=schema) == ("main.shop.users.id",)
    assert read("SELECT * FROM users", schema=schema) == ("users.*",)


@pytest.mark.parametrize(("generated", "expected", "score", "missing", "unexpected"), [
    ("SELECT id FROM Users", ["ID"], 1.0, (), ()),
    ("SELECT id FROM users", ["public.users.id"], 1.0, (), ()),
    ("SELECT id, age FROM users", ['"Users"."Id"', "`users`.[Age]"], 1.0, (), ()),
    ("SELECT id FROM users", ["orders.id"], 0.0, ("orders.id",), ("users.id",)),
    ("SELECT u.id, o.id FROM users u, orders o", ["id"], 0.5, (), ("users.id",)),
    ("SELECT id, name FROM users", "SELECT name FROM users", 0.5, (), ("users.id",)),
    ("SELECT 1", [], 1.0, (), ()),
    ("SELECT COUNT(*) FROM users", "SELECT COUNT(*) FROM orders", 1.0, (), ()),
    ("SELECT 1", ["a"], 0.0, ("a",), ()),
    # a name that no table has is not the column of another table
    ("SELECT foo FROM users, orders", ["x.foo"], 0.0, ("x.foo",), ("foo",)),
    ("SELECT foo FROM users, orders", ["foo"], 1.0, (), ()),
    ("SELECT id FROM users", "SELECT users.id, foo FROM users, orders", 0.5, ("foo",), ()),
    ("SELECT sku FROM users, orders", "SELECT sku FROM items", 0.0, ("items.sku",), ("sku",)),
])  # fmt: skip
def test_accuracy(
    generated: str,
    expected: Any,
    score: float,
    missing: tuple[str, ...],
    unexpected: tuple[str, ...],
) -> None:
    """Jaccard similarity after matching by suffix, one to one."""
    result = column_accuracy(generated, expected, schema=SCHEMA)
    assert (result.score, result.missing) == (score, missing)
    assert len(result.unexpected) == len(unexpected)
    assert result.error is None


NO_SCHEMA = "is unknown without a schema"


@pytest.mark.parametrize(("sql", "message"), [
    ("SELECT * FROM t", "which columns 't' has is not known"),
    ("SELECT a FROM (SELECT * FROM t)", "which columns 't' has is not known"),
    ("SELECT a FROM t, u", f"the table of 'a' {NO_SCHEMA}"),
    ("SELECT t.a FROM t WHERE t.b IN (SELECT c FROM u)", f"the table of 'c' {NO_SCHEMA}"),
    ("SELECT t.a FROM t NATURAL JOIN u", f"the columns of a NATURAL JOIN {NO_SCHEMA}"),
])  # fmt: skip
def test_what_needs_a_schema_is_never_guessed(sql: str, message: str) -> None:
    """On either side: the model is not to blame, so that there is no score."""
    for generated, expected, side in ((sql, ["t.a"], "generated"), ("SELECT 1", sql, "expected")):
        result = column_accuracy(generated, expected)
        assert (result.score, result.missing, result.unexpected) == (0.0, (), ())
        assert failure(result.error) == "instrument: no_schema"
        assert present(result.error).message == f"{side}: {message}"


@pytest.mark.parametrize(("sql", "columns"), [
    ("SELECT a FROM t WHERE b > 1 ORDER BY c", "t.a t.b t.c"),
    ("SELECT x.a, y.b FROM t AS x, u AS y", "t.a u.b"),
    ("SELECT a FROM t JOIN u USING (a)", "t.a u.a"),
    ("SELECT t.col.field FROM t", "t.col"),
    ("SELECT a FROM (SELECT a, b FROM t) x", "t.a t.b"),
    ("SELECT COUNT(*) FROM t", ""),
    ("SELECT a FROM t WHERE EXISTS (SELECT * FROM u WHERE u.a = t.a)", "t.a u.a"),
    ("SELECT n FROM (SELECT a AS n FROM t) x, (SELECT u.b FROM u) y", "t.a u.b"),
    ("SELECT x.n FROM (SELECT a AS n FROM t) x WHERE 1 IN (SELECT c FROM u)", "t.a u.c"),
])  # fmt: skip
def test_what_needs_no_schema(sql: str, columns: str) -> None:
    """One table, or qualified names."""
    assert read(sql, schema=None) == tuple(columns.split())


@pytest.mark.parametrize(("sql", "kind", "origin", "message"), [
    ("SELECT id FROM users, orders", "ambiguous", "output", "'id' is a column of users and orders"),
    ("SELECT id FROM (SELECT id FROM users), (SELECT id FROM orders)", "ambiguous", "output", "'id' is a column of a subquery and a subquery"),
    ("SELECT foo FROM nowhere, nada", "unknown_table", "output", "the table of 'foo' is unknown: the schema has no 'nowhere'"),
    ("SELECT * FROM users PIVOT (SUM(age) FOR name IN ('x'))", "unsupported_clause", "instrument", "PIVOT and UNPIVOT are not looked into"),
    ("SELECT id FROM users AS u(a, b)", "unsupported_clause", "instrument", "a table's columns are renamed"),
    ("SELECT a FROM (users) AS u(a, b)", "unsupported_clause", "instrument", "a table's columns are renamed"),
    ("SELECT x.id FROM (users JOIN items ON id = order_id) AS x", "unsupported_clause", "instrument", "a table's columns are renamed"),
    ("SELECT foo FROM users, f(1) AS a, f(2) AS b", "unsupported_clause", "instrument", "the table of 'foo' is unknown beside a function that returns a table"),
    ("SELECT * FROM users MATCH_RECOGNIZE (PATTERN (a+) DEFINE a AS age > 1)", "unsupported_clause", "instrument", "MATCH_RECOGNIZE is not looked into"),
    ("SELECT (1", "parse", "output", "Expecting ). Line 1, column 9."),
    ("", "empty", "output", "there is no SQL to parse"),
])  # fmt: skip
def test_what_cannot_be_told_has_a_kind(
    sql: str, kind: str, origin: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    """And an origin, which says whether its 0.0 counts; it is logged once."""
    with caplog.at_level(logging.DEBUG):
        result = column_accuracy(sql, ["users.id"], schema=SCHEMA)
    assert (result.score, failure(result.error)) == (0.0, f"{origin}: {kind}")
    assert present(result.error).message == f"generated: {message}"
    assert result.missing == (("users.id",) if origin == "output" else ())
    assert len(caplog.records) == 1


def test_quoted_text_of_sqlite_without_a_schema() -> None:
    """It is a column or a text: only the schema says which."""
    sql = 'SELECT a FROM t WHERE b = "Bob"'
    assert read(sql, schema=None) == ("t.a", "t.b", "t.bob")
    result = column_accuracy(sql, [], dialect="sqlite")
    assert (
        present(result.error).message
        == "generated: the table of 'bob' is unknown without a schema"
    )


@refusals("""
    generated=None -> TypeError: generated must be a string ('' scores 0: a model without an answer), got None
    expected="users.id" -> InputError: expected must be SQL, or names in a list, got 'users.id'
    expected="" -> InputError: expected must be SQL, or names in a list, got ''
    expected=["SELECT a"] -> InputError: expected must be SQL, or names in a list, got ('select a',)
    expected=map(str, range(10_001)) -> InputError: expected must be at most 10000 names, got ...
    expected=3 -> TypeError: expected must be an iterable of strings, got 3
    expected={"a": 1} -> TypeError: expected must be an iterable of strings, got {'a': 1}
    expected=[1] -> TypeError: expected[0] must be a non-empty string, got 1
    expected=[""] -> InputError: expected[0] must be a non-empty string, got ''
    dialect=3 -> TypeError: dialect must be a non-empty string, got 3
    schema=3 -> TypeError: schema must be text, a list of texts, or a mapping ...
    schema={"t": {}} -> InputError: schema['t'] must be a non-empty mapping from column to type, got {}
    schema={"t": "a"} -> TypeError: schema['t'] must be a non-empty mapping from column to type, got 'a'
    schema={"t": {"a": []}} -> TypeError: schema['t']['a'] must be a string, got []
    schema={"t": {"a": "int", "A": "int"}} -> InputError: schema['t'] must be a mapping whose columns differ in more than case, got 'A'
""")
def test_errors(wrong: Refusal) -> None:
    """The caller's own mistakes raise."""
    wrong.by(column_accuracy, generated="x", expected=[])


SHOP_QUERIES = strategies.sql_queries(max_depth=2)


@given(SHOP_QUERIES, SHOP_QUERIES)
def test_properties_of_the_score(one: str, two: str) -> None:
    """In [0, 1], the same from either side, 1 with itself; lists of names say what SQL says."""
    forward = column_accuracy(one, two, schema=strategies.SHOP)
    back = column_accuracy(two, one, schema=strategies.SHOP)
    assert forward.error is None
    assert 0.0 <= forward.score <= 1.0
    assert forward.score == back.score
    assert (forward.missing, forward.unexpected) == (back.unexpected, back.missing)
    assert column_accuracy(one, one, schema=strategies.SHOP).score == 1.0
    assert column_accuracy(one, forward.expected, schema=strategies.SHOP).score == forward.score


@given(SHOP_QUERIES)
def test_columns_are_those_that_sqlite_reads(query: str) -> None:
    """Oracle: SQLite's authorizer, which is asked for each column; the tree has the same ones."""
    connection = sqlite3.connect(":memory:")
    for table, columns in strategies.SHOP.items():
        connection.execute(f'CREATE TABLE "{table}" ({", ".join(map(json.dumps, columns))})')
    asked: set[str] = set()

    def note(action: int, table: str | None, column: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_READ and column:
            asked.add(f"{table}.{column}".lower())
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    connection.execute(f"EXPLAIN {query}")
    found = set(read(query, "sqlite", strategies.SHOP))
    if query.count('"part"') == 1:  # a WITH that nothing names, which SQLite leaves out
        assert asked <= found
        return
    catalog = Catalog(read_schema(strategies.SHOP, None, "sqlite"), "sqlite")
    tree = read_query(parse(query, "sqlite").statements[0], catalog).query
    meant = (column for column in found_in(tree, Column) if column.source.table)
    assert found == asked == {f"{column.source.table}.{column.name}" for column in meant}


@given(st.sampled_from(["u", "orders", "name", '"Ü b"']), st.sampled_from(["o", "users", "id"]))
def test_aliases_of_tables_do_not_matter(u: str, o: str) -> None:
    """Not even one that is the name of another table or of a column."""
    sql = f"SELECT {u}.name, total FROM users {u} JOIN orders {o} ON {o}.user_id = {u}.id"
    assert read(sql) == ("orders.total", "orders.user_id", "users.id", "users.name")


@pytest.mark.sampled
@pytest.mark.parametrize("dialect", ["tsql", None])
def test_nesting_bombs_in_a_small_thread(dialect: str | None) -> None:
    """Names are looked up through nested and many queries, or the text is said to be too deep."""
    bombs = [
        "SELECT * FROM (" * 1500 + "SELECT 1" + ")" * 1500,
        "SELECT * FROM (" * 30 + "SELECT a FROM t" + ")" * 30,
        "SELECT a FROM t WHERE a IN (" * 30 + "SELECT a FROM t" + ")" * 30,
        "WITH RECURSIVE c AS (" * 28
        + "SELECT a FROM t UNION ALL TABLE c"
        + ") SELECT a FROM c" * 28,
        "SELECT 1 WHERE " + " OR ".join(f"a = {i}" for i in range(10_000)),
        " UNION ALL ".join(["SELECT a FROM t"] * 1500),
        "SELECT 1 FROM t" + ", t" * 1500,
        f"SELECT {', '.join('*' * 1500)} FROM t",
        "WITH " + ", ".join(f"c{i} AS (SELECT a FROM t)" for i in range(4000)) + " SELECT 1",
        "SELECT " + "x." * 1500 + "x",
    ]
    call = "scorekit.column_accuracy(text, ['t.a'], schema={'t': {'a': 'int'}}, dialect=dialect)"
    survives(call, [bomb[:190_000] for bomb in bombs], (dialect,))


def test_a_metric_of_cases() -> None:
    """With the best of several accepted queries, and the case's schema and dialect."""
    case = SqlCase(
        case_id="q",
        generated='SELECT id FROM users WHERE name = "Bob"',
        expected=[
            "SELECT x FROM nowhere, nada",
            "SELECT name FROM users",
            "SELECT name, id FROM users",
        ],
        schema=SCHEMA,
        dialect="sqlite",
    )
    result = score_sql_case(case).column_accuracy
    assert isinstance(result, ColumnAccuracy)
    assert (result.score, result.error) == (1.0, None)
    assert score_sql_case(SqlCase(case_id="q", generated="SELECT 1")).column_accuracy is None
    unreadable = SqlCase(case_id="r", generated="SELECT (", expected=case.expected)
    report = score_sql_cases([case, unreadable])
    assert report.column_accuracy is not None
    assert (report.column_accuracy.mean, report.column_accuracy.count) == (0.5, 2)
    assert SqlReport.from_json(report.to_json()) == report


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM users",
        "SELECT name FROM users JOIN logs ON user_id = id",
        "SELECT * FROM users NATURAL JOIN logs",
    ],
)
def test_a_query_reads_the_columns_that_it_reads(sql: str) -> None:
    """The same text scores 1.0 without a schema, and text that does not parse does not."""
    assert column_accuracy(sql, f" {sql}\n").score == 1.0
    assert column_accuracy(sql, sql.replace("users", "people")).error is not None
    assert column_accuracy("SELECT (", "SELECT (").score == 0.0


@pytest.mark.parametrize("generated", ["SELECT (", "SELECT id FROM users", "SELECT FROM ("])
def test_an_expected_query_that_cannot_be_read_is_no_ones_score(generated: str) -> None:
    """Whatever was generated, there is nothing to measure it against; some of Spider's are so."""
    for expected in ("SELECT (", "SELECT id FROM users WHERE id ! = 3"):
        error = column_accuracy(generated, expected).error
        assert failure(error) == "instrument: parse"
        assert present(error).message.startswith("expected: ")
    ambiguous = column_accuracy("SELECT 1", "SELECT id FROM users, orders", schema=SCHEMA)
    assert failure(ambiguous.error) == "instrument: ambiguous"
