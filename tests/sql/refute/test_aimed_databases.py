"""Databases that pairs are tried on: SQLite takes each, and rows are aimed at the queries."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from itertools import combinations_with_replacement, permutations
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_turn import in_turn
from outcomes import present
from sqlglot import exp, transpile

from benchmarks.generators.stored_pairs import pairs
from scorekit import Counterexample, sql_equivalence
from scorekit._core.rows import ResultRow, Rows
from scorekit._sql.databases.kinds import fitted, typed_column
from scorekit._sql.meaning.catalog import catalog_of
from scorekit._sql.meaning.read import Names, read_names
from scorekit._sql.refute import allowed, runnable
from scorekit._sql.refute.aims import Aim, aim
from scorekit._sql.refute.allowed import Allowed, kept
from scorekit._sql.refute.databases import Maker
from scorekit._sql.refute.expressions import kind_of, note_kinds
from scorekit._sql.refute.hints import hints
from scorekit._sql.refute.sandbox import Database, NoResultError, Sandbox
from scorekit._sql.text.parsing import parse

DIALECTS = ("sqlite", "postgres", None)
TABLES = {"t": ("id", "x", "name"), "u": ("id", "t_id", "y"), "v": ("y", "z")}


def aims(sql: str) -> Aim:
    """Return what rows are aimed at."""
    (tree,) = parse(sql, "sqlite").statements
    tables = {
        name: [typed_column(column, "", "sqlite", nullable=True) for column in columns]
        for name, columns in TABLES.items()
    }
    return aim(tree, {name: name for name in TABLES}, tables, "sqlite")


@pytest.mark.parametrize(("sql", "expected"), [
    ("SELECT 1 FROM t JOIN u ON t.id = u.t_id", [{"t0.id", "u1.t_id"}]),
    ("SELECT 1 FROM t, u WHERE (t.id) = CAST(t_id AS INT)", [{"t0.id", "u1.t_id"}]),
    ("SELECT 1 FROM u JOIN v USING (y)", [{"u0.y", "v1.y"}]),
    ("SELECT 1 FROM u NATURAL JOIN v", [{"u0.y", "v1.y"}]),
    ("SELECT 1 FROM t WHERE id IN (SELECT t_id FROM u)", [{"t0.id", "u1.t_id"}]),
    ("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t_id = t.id)", [{"t0.id", "u1.t_id"}]),
    ("SELECT 1 FROM u WHERE y = (SELECT MAX(z) FROM v)", [{"u0.y", "v1.z"}]),
    ("WITH c AS (SELECT id AS k FROM t) SELECT 1 FROM c JOIN u ON k = t_id", [{"t0.id", "u1.t_id"}]),
    ("WITH c(k) AS (SELECT id FROM t) SELECT 1 FROM c a, c b, u WHERE b.k = t_id", [{"t1.id", "u2.t_id"}]),
    ("SELECT 1 FROM (SELECT * FROM t) d JOIN u ON d.id = t_id", [{"t0.id", "u1.t_id"}]),
    ("SELECT 1 FROM (SELECT u.*, t.x FROM t, u) d JOIN v ON d.y = z", [{"u1.y", "v2.z"}]),
    ("SELECT id FROM t INTERSECT SELECT t_id FROM u", [{"t0.id", "u1.t_id"}]),
    ("SELECT id FROM t UNION SELECT t_id FROM u", []),
    ("SELECT 1 FROM t JOIN nope ON t.id = nope.id", []),
    ("SELECT 1 FROM t, (VALUES (1)) AS w WHERE t.id = w.column1", []),
])  # fmt: skip
def test_rows_that_join(sql: str, expected: list[set[str]]) -> None:
    """Columns that a query equates hold one value, in whatever scope they are."""
    found, groups = aims(sql), dict[object, set[str]]()
    for place, root in found.same.items():
        groups.setdefault(root, set()).add(f"{found.tables[place[0]]}{place[0]}.{place[1]}")
    assert [group for group in groups.values() if len(group) > 1] == expected


@pytest.mark.parametrize(("sql", "expected"), [
    ("SELECT 1 FROM t WHERE x > 3 AND NOT name LIKE 'a%'", [("name", "NOT \"name\" LIKE 'a%'"), ("x", '"x" > 3')]),
    ("SELECT 1 FROM t GROUP BY id HAVING SUM(x) = 7 AND COUNT(*) > 2", [("x", '"x" = 7')]),
    ('SELECT 1 FROM t WHERE name = "Ann"', [("name", "\"name\" = 'Ann'")]),
    ("SELECT 1 FROM t, u WHERE t.x > u.y", []),
    ("SELECT 1 FROM t WHERE x > (SELECT AVG(x) FROM t)", []),
])  # fmt: skip
def test_what_values_are_compared_with(sql: str, expected: list[tuple[str, str]]) -> None:
    """A comparison of one column with constants is met by a choice of its value."""
    found = [(place[1], node.this.sql()) for place, node in aims(sql).conditions]
    assert sorted(found) == expected


SCHEMAS = {
    "keys": """
        CREATE TABLE a (id int PRIMARY KEY, x int UNIQUE, y varchar(3), CHECK (x < 9 OR y = 'b'));
        CREATE TABLE b (a_id int NOT NULL REFERENCES a (id), n int CHECK (n > 2), m smallint,
                        d decimal(3, 1) CHECK (d >= 0.5), PRIMARY KEY (a_id, m));
        CREATE TABLE c (a_id int, m int, k text NOT NULL CHECK (k IN ('p', 'q', 'r')),
                        FOREIGN KEY (a_id, m) REFERENCES b (a_id, m), UNIQUE (k, m))""",
    "cycles": """
        CREATE TABLE a (id int PRIMARY KEY, x int, y text, up int REFERENCES a (id), b int NOT NULL REFERENCES b (m));
        CREATE TABLE b (m int PRIMARY KEY, n int, a_id int NOT NULL REFERENCES a (id), d real);
        CREATE TABLE c (a_id int REFERENCES a (id), m int NOT NULL REFERENCES b (m), k text)""",
    "forms": """
        CREATE TABLE a (id uuid PRIMARY KEY, x year, y char(1), t time NOT NULL, e date UNIQUE);
        CREATE TABLE b (a_id uuid REFERENCES a (id), m date, n float PRIMARY KEY, d boolean NOT NULL UNIQUE);
        CREATE TABLE c (a_id uuid UNIQUE, m date, k char(1) PRIMARY KEY, w int CHECK (10 / w > 1))""",
}  # fmt: skip
QUERIES = [
    "SELECT a.x, c.k FROM a JOIN b ON a.id = b.a_id JOIN c ON c.a_id = a.id WHERE {}",
    "SELECT a.id FROM a JOIN b ON a.id = b.a_id GROUP BY a.id HAVING COUNT(b.n) > 4 AND {}",
    "SELECT b.d FROM b JOIN c ON b.m = c.m WHERE {} ORDER BY b.n LIMIT 4",
]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", SCHEMAS)
def test_sqlite_takes_every_database(
    name: str, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Oracle: SQLite's own constraints, foreign keys among them, on each database that is made."""
    made: list[Database] = []
    database = Maker.database

    def recorded(self: Maker, i: int) -> Database:
        made.append(database(self, i))
        return made[-1]

    monkeypatch.setattr(Maker, "database", recorded)
    pair = query.format("1 = 1"), query.format("coalesce(length(b.m), 0) >= 0")
    result = sql_equivalence(
        *pair, schema=SCHEMAS[name], dialect="sqlite", n_databases=40, row_order="ignored"
    )
    assert result.verdict == "unknown"
    assert result.reason.startswith("no difference on")
    assert len(made) == 40
    assert sum(bool(rows) for one in made for rows in one.values()) > 40
    for one in made:
        check(SCHEMAS[name], one)


def check(schema: str, database: Mapping[str, object]) -> None:
    """Raise if SQLite refuses rows."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(schema)
    for table, rows in database.items():
        assert isinstance(rows, list)
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
    assert not connection.execute("PRAGMA foreign_key_check").fetchall()
    connection.close()


DDL = """
    CREATE TABLE a (id int PRIMARY KEY, name text, born date, pay text);
    CREATE TABLE b (id int PRIMARY KEY, a_id int REFERENCES a, day text, price real, amount int);
    CREATE TABLE c (x int REFERENCES a, y int, PRIMARY KEY (x, y))
"""


PIECES = (
    "SELECT", "DISTINCT", "name", "id", "*", "COUNT(*)", "MIN(pay)", "STRFTIME('%Y', 'now')",
    "STRFTIME('%Y', 'utc')", '"now"', "DATE(born)", "/ 0", "% id", "- 1", "FROM a", "FROM b, a",
    "WHERE", "pay = 'now'", "id / 0 > 1", "GROUP BY name", "HAVING", "ORDER BY", "LIMIT 1",
    "LIMIT 0", "OFFSET 2", "LIMIT -1", "(SELECT id FROM b LIMIT 1)", "(SELECT MAX(id) FROM c)",
    "=", ",", "UNION", "UNION ALL", "ROUND(id, 2)", "SUBSTR(name, 1, 2)", "CAST(pay AS REAL)",
    "ROW_NUMBER() OVER (ORDER BY pay)", "CURRENT_DATE", "RANDOM()", "SUM(id)", "||", "NULL",
    "INTERVAL '1 day'", "DATE '2020-01-31'", "EXTRACT(YEAR FROM born)", "FILTER (WHERE id > 1)",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=9),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=9),
    st.sampled_from(["sqlite", "postgres", "mysql", "duckdb", None]),
)
def test_whatever_two_texts_are_there_is_a_verdict(
    first: list[str], second: list[str], dialect: str | None
) -> None:
    """Texts that are made of pieces of queries raise nothing, whether or not they parse."""
    pair = (f"SELECT {' '.join(parts)}" for parts in (first, second))
    result = sql_equivalence(*pair, schema=DDL, dialect=dialect, n_databases=4)
    assert result.verdict in {"proved", "refuted", "unknown"}


def test_a_column_that_is_computed_with_gets_texts_of_numbers() -> None:
    """A cast to a text computes nothing."""
    trees = [parse(f"SELECT CAST(a AS {kind}) FROM t").statements[0] for kind in ("INT", "TEXT")]
    found = ["2.5" in hints([list(tree.walk())]).values["a"] for tree in trees]
    assert found == [True, False]


def test_a_day_is_one_that_there_is() -> None:
    """Databases refuse others in a column of dates; years become days."""
    values = (
        "2020-02-29", "2021-02-29", "2020-02-29z", "2020-13-05", "2020-02-20200", 1987, "1999-12-31 10:00:00",
    )  # fmt: skip
    for type_, moment in (("date", None), ("timestamp", "1999-12-31 10:00:00")):
        column = typed_column("x", type_, "postgres", nullable=True)
        assert [fitted(value, column) for value in values] == [
            "2020-02-29", None, None, None, None, "1987-05-05", moment,
        ]  # fmt: skip


@pytest.mark.parametrize("zone", ["localtime", "utc", "LocalTime"])
def test_the_sandbox_is_in_no_time_zone(zone: str) -> None:
    """A zone among other arguments stops a query, whatever day it is given."""
    with Sandbox({"t": [("x", "TEXT")]}, case_sensitive_like=False) as sandbox:
        sandbox.load({"t": [("2020-05-05",)]})
        assert sandbox.run("SELECT DATE(x, '+1 day') FROM t") == [("2020-05-06",)]
        with pytest.raises(NoResultError, match="time of day"):
            sandbox.run(f"SELECT DATETIME(x, '{zone}') FROM t")


@pytest.mark.parametrize(("expression", "kind"), [
    ("'a'", "text"), ("1", "integer"), ("1.5", "number"), ("n", "integer"), ("s", "text"),
    ("n + 1", "integer"), ("-n", "integer"), ("n * 1.5", "number"), ("LOWER(s)", "text"),
    ("s || s", "text"), ("LENGTH(s)", "integer"), ("(n)", "integer"), ("MAX(s)", "text"),
    ("CAST(n AS TEXT)", "text"), ("CAST(s AS INTEGER)", "integer"), ("1e3", "real"),
    ("CAST(n AS REAL)", "real"), ("SUM(n)", "number"), ("COUNT(*)", "integer"),
    ("SUM(n + b)", "number"), ("AVG(n)", "real"), ("AVG(f)", "real"), ("n > 1", "integer"),
    ("f + n", "real"), ("f * 1.5", "real"), ("COALESCE(n, 0)", "integer"), ("n / n", "integer"),
    ("CASE WHEN n > 1 THEN 1 ELSE 0.5 END", "number"), ("COALESCE(n, 'a')", ""),
    ("IIF(n > 1, s, NULL)", "text"), ("SUBSTR(s, 1, 2)", "text"), ("(SELECT n FROM t)", "integer"),
    ("SUM(n) FILTER (WHERE n > 1)", "number"), ("CURRENT_DATE", ""), ("ROUND(n, 1)", "real"),
    ("NULLIF(n, 'a')", "integer"), ("LAG(n, 1, 'a') OVER ()", ""), ("RANK() OVER ()", "integer"),
])  # fmt: skip
def test_what_an_expression_holds(expression: str, kind: str) -> None:
    """Oracle: the type of the value that SQLite computes."""
    (tree,) = parse(f"SELECT {expression} AS x FROM t", "sqlite").statements
    assert isinstance(tree, exp.Select)
    types = {"n": "integer", "s": "text", "b": "bigint", "f": "real"}
    columns = [typed_column(name, text, "sqlite", nullable=True) for name, text in types.items()]
    catalog = catalog_of({"t": columns}, "sqlite")
    note_kinds(tree.walk(), read_names(tree, catalog), catalog)
    assert kind_of(tree.selects[0]) == kind
    if kind:
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE t (n INTEGER, s TEXT, b INTEGER, f REAL)")
        connection.execute("INSERT INTO t VALUES (3, 'a', 3, 3)")
        (own,) = connection.execute(f"SELECT typeof({expression}) FROM t").fetchone()
        allowed = {"number": ("integer", "real"), "integer": ("integer", "null")}
        assert own in allowed.get(kind, (kind,))


@pytest.mark.parametrize(
    ("dialect", "more", "less"),
    in_turn(pairs("the first query allows more", "allowing"), DIALECTS),
)
def test_one_query_allows_only_some_of_the_results_of_the_other(
    dialect: str | None, more: str, less: str
) -> None:
    """Nothing is refuted, and the reason says which of the two allows more."""
    for pair, which in (((more, less), "first"), ((less, more), "second")):
        result = sql_equivalence(*pair, schema=DDL, dialect=dialect)
        assert result.verdict == "unknown"
        assert f"they allow the {which} query results" in result.reason


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    in_turn(pairs("neither query allows only results of the other", "apart"), DIALECTS),
)
def test_neither_query_allows_only_results_of_the_other(
    first: str, second: str, dialect: str | None
) -> None:
    """Oracle: SQLite returns both results shown, and no order of storing gives one for both."""
    for pair in ((first, second), (second, first)):
        result = sql_equivalence(*pair, schema=DDL, dialect=dialect)
        assert result.verdict == "refuted"
        found = present(result.counterexample)
        shown = [sorted(found.rows_of_a), sorted(found.rows_of_b)]
        queries = [transpile(query, dialect or "sqlite", "sqlite")[0] for query in pair]
        assert [_stored(found, query) for query in queries] == shown
        for turned in (False, True):
            assert _stored(found, queries[0], turned=turned) != shown[1]
            assert _stored(found, queries[1], turned=turned) != shown[0]


def test_a_result_among_ties_is_shown_as_such() -> None:
    """Where no database leaves each query one result, one of several is shown, and named so."""
    pair = "SELECT id FROM a LIMIT 1", "SELECT id FROM a LIMIT 2"
    result = sql_equivalence(*pair, schema=DDL, dialect="sqlite")
    said = "a LIMIT may keep any of tied rows: one result of each query is shown"
    assert result.assumptions[-1] == said
    pair = "SELECT id FROM a ORDER BY born LIMIT 1", "SELECT id FROM a ORDER BY born DESC LIMIT 1"
    assert said not in sql_equivalence(*pair, schema=DDL, dialect="sqlite").assumptions


@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=6),
    first=st.integers(0, 3),
    n=st.integers(0, 5),
)
def test_what_a_limit_may_keep(rows: list[tuple[int, int]], first: int, n: int) -> None:
    """Oracle: every order of all rows that sorts them by the first of two numbers."""
    orders = [sorted(rows, key=lambda row: (row[0], way * row[1])) for way in (1, -1)]
    up, down = ([(row[1],) for row in order] for order in orders)
    n_kept = max(0, min(len(rows), first + n) - first)
    found = kept(up, down, first, n_kept)
    results = {tuple(sorted(result)) for result in found.results()}
    assert results == {
        tuple(sorted((row[1],) for row in sorted(order, key=itemgetter(0))[first : first + n]))
        for order in permutations(rows)
    }
    assert found.n_results() == len(list(found.results()))
    assert found.n_results() >= len(results)
    for most in (allowed.MAX_RESULTS, 0) if found.open else (allowed.MAX_RESULTS,):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(allowed, "MAX_RESULTS", most)  # with a list of the results, and without
            for size in (n_kept, n_kept + 1):
                for cells in combinations_with_replacement(range(5), size):
                    own: list[ResultRow] = [(cell,) for cell in cells]
                    assert found.holds(own, same_exactly, exact=True) == (tuple(own) in results)


def test_many_full_joins_are_too_many() -> None:
    """Each is written in five times as many words."""
    joins = [f"FULL JOIN t AS q{i} ON q{i}.id = t.id" for i in range(30)]
    for n in (2, 30):
        first = f"SELECT COUNT(*) FROM t {' '.join(joins[:n])}"
        found = sql_equivalence(first, f"{first} WHERE t.a > 1", dialect="sqlite")
        assert (found.verdict == "refuted") is (n == 2)
        assert n == 2 or "more than 3 FULL joins" in found.reason


def test_of_many_tables_one_row_each_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each database, although a LIMIT would keep more: they would join to too many."""
    calls: list[int] = []
    witness = Maker._witness

    def recorded(self: Maker, *args: Any, **named: Any) -> Any:
        calls.append(1)
        return witness(self, *args, **named)

    monkeypatch.setattr(Maker, "_witness", recorded)
    joins = " ".join(f"JOIN t{i} ON t{i}.id = t0.id" for i in range(1, 30))
    query = f"SELECT t0.id FROM t0 {joins} WHERE t1.a > {{}} ORDER BY t0.id LIMIT 100"
    tables = {f"t{i}": {"id": "int primary key", "a": "int"} for i in range(30)}
    found = sql_equivalence(
        query.format(1), query.format(2), schema=tables, dialect="sqlite", n_databases=20
    )
    example = present(found.counterexample)
    assert {len(table.rows) for table in example.tables} == {1}
    assert 1 <= len(calls) <= 20


def test_what_tells_rows_apart_is_looked_for_once_a_select(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not for each of its windows, whose orders grow by it."""
    asked: list[exp.Select] = []
    real = runnable._telling

    def counted(select: exp.Select, read: Names) -> list[exp.Expr]:
        asked.append(select)
        return real(select, read)

    monkeypatch.setattr(runnable, "_telling", counted)
    sums = ", ".join(f"SUM(a) OVER (ORDER BY b ROWS {i} PRECEDING)" for i in range(4))
    first = f"SELECT {sums} FROM t"
    found = sql_equivalence(first, f"{first} WHERE a > 1", schema={"t": {"a": "int", "b": "int"}})
    assert found.verdict == "refuted"
    assert 0 < len(asked) == len({id(select) for select in asked})


def test_too_many_results_decide_nothing_where_more_than_equality_counts() -> None:
    """Of 40 tied rows 10 may be kept: only equal rows are looked for among all choices."""
    tied = tuple((i,) for i in range(40))
    many = Allowed((), ((tied, 10),))
    rows: list[ResultRow] = [(i,) for i in range(10)]
    assert many.holds(rows, same_exactly, exact=True)
    assert not many.holds([*rows[:9], (50,)], same_exactly, exact=True)
    assert not many.holds([*rows[:9], rows[0]], same_exactly, exact=True)
    fractions = Allowed((), (((*tied, (0.5,)), 10),))
    for one, exact in ((many, False), (fractions, True)):
        with pytest.raises(NoResultError, match="more than 1000 results"):
            one.holds(rows, same_exactly, exact=exact)
    with pytest.raises(NoResultError, match="more than 1000 results"):
        many.results()


def same_exactly(first: Rows, second: Rows) -> bool:
    """Say whether rows are equal."""
    return sorted(map(repr, first)) == sorted(map(repr, second))


def _stored(
    found: Counterexample,
    query: str,
    *,
    turned: bool = False,
    collation: str = "BINARY",
) -> list[tuple[str, ...]]:
    """Return what a query returns where rows are stored as they are shown, or in reverse."""
    connection = sqlite3.connect(":memory:")
    for table in found.tables:
        columns = ", ".join(f"{name} COLLATE {collation}" for name in table.columns)
        connection.execute(f"CREATE TABLE {table.table} ({columns})")
        for row in table.rows[:: -1 if turned else 1]:
            connection.execute(f"INSERT INTO {table.table} VALUES ({', '.join(row)})")
    rows = connection.execute(query).fetchall()
    return sorted(tuple("NULL" if c is None else repr(c) for c in row) for row in rows)


@pytest.mark.parametrize(
    ("dialect", "first", "second"),
    in_turn(pairs("rows that do not hang on case", "refuted"), ("mysql", None)),
)
def test_rows_are_shown_that_do_not_hang_on_case(
    first: str, second: str, dialect: str | None
) -> None:
    """Oracle: SQLite with and without a collation that takes no notice of case."""
    for seed in range(2):
        result = sql_equivalence(first, second, schema=DDL, dialect=dialect, seed=seed)
        found = present(result.counterexample)
        assert not any("case" in assumption for assumption in result.assumptions)
        for collation in ("BINARY", "NOCASE"):
            rows = [_stored(found, query, collation=collation) for query in (first, second)]
            assert rows == [sorted(found.rows_of_a), sorted(found.rows_of_b)]


def test_rows_that_hang_on_case_are_shown_as_such() -> None:
    """No other row tells: as MySQL compares strings, the first query finds one."""
    schema = "CREATE TABLE t (x varchar(3) PRIMARY KEY CHECK (x = 'aB'))"
    result = sql_equivalence(
        "SELECT 1 FROM t WHERE x = 'Ab'", "SELECT 2 FROM t WHERE x IN ('Ab', 'aB')",
        schema=schema, dialect="mysql",
    )  # fmt: skip
    assert present(result.counterexample).rows_of_a == ()
    assert result.assumptions[-1] == "the case of strings counts in the results shown"


# What the sandbox computes for other databases.


LOADED = """
    CREATE TABLE d (id INT PRIMARY KEY, name VARCHAR(9) NOT NULL);
    CREATE TABLE e (id INT PRIMARY KEY, d_id INT NOT NULL REFERENCES d (id), boss INT REFERENCES e (id),
        born DATE NOT NULL, pay DECIMAL(6, 2) NOT NULL CHECK (pay > 1), note VARCHAR(9), UNIQUE (d_id, born));
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT id FROM e WHERE pay > 3", "SELECT id FROM e WHERE pay >= 3"),
        ("SELECT id FROM e WHERE boss IS NULL", "SELECT id FROM e"),
        ("SELECT a.id FROM e a JOIN e b ON a.boss = b.id", "SELECT a.id FROM e a JOIN e b ON a.id = b.boss"),
        ("SELECT COUNT(note) FROM e", "SELECT COUNT(*) FROM e"),
    ],
)  # fmt: skip
def test_a_counterexample_loads_into_the_schema_it_is_about(first: str, second: str) -> None:
    """All columns and parents that constraints ask for are there, and both queries differ."""
    example = present(
        sql_equivalence(first, second, schema=LOADED, dialect="sqlite").counterexample
    )
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(LOADED)
        connection.executescript(example.to_sql(data_only=True))
        shown = [sorted(connection.execute(query)) for query in (first, second)]
    assert shown[0] != shown[1]
    assert "born" not in example.tables[0].columns
    assert "CREATE" in example.to_sql()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT id FROM x WHERE price > 0.3", "SELECT id FROM x WHERE price >= 0.3"),
        (
            "SELECT id FROM x WHERE day > '2020-01-01'",
            "SELECT id FROM x WHERE day >= '2020-01-01'",
        ),
        ("SELECT id FROM x WHERE name = 'a'", "SELECT id FROM x WHERE name <> 'b'"),
        ("SELECT id FROM x WHERE rate < 0.5", "SELECT id FROM x WHERE rate <= 0.5"),
        ("SELECT id FROM x WHERE share > 1.5", "SELECT id FROM x WHERE share >= 1.5"),
    ],
)
def test_without_a_dialect_tables_have_types_of_all_databases(first: str, second: str) -> None:
    """A NUMERIC of SQLite keeps days and fractions; that of others does not."""
    schema = """CREATE TABLE x (id INT PRIMARY KEY, price DECIMAL(6, 2) NOT NULL, day DATE NOT NULL,
        name VARCHAR(9) NOT NULL, rate DOUBLE PRECISION NOT NULL, share DECIMAL(38, 30) NOT NULL)"""
    example = present(sql_equivalence(first, second, schema=schema).counterexample)
    for module in (sqlite3, pytest.importorskip("duckdb")):
        with closing(module.connect(":memory:")) as connection:
            for statement in example.statements:
                connection.execute(statement)
            shown = [sorted(connection.execute(query).fetchall()) for query in (first, second)]
        assert shown[0] != shown[1], module
