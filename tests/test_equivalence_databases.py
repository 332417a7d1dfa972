"""Databases that pairs are tried on: SQLite takes each, and rows are aimed at the queries."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Literal

import pytest
from sqlglot import transpile

from scorekit import Counterexample, sql_equivalence
from scorekit._sql.parsing import parse
from scorekit._sql.refute.aims import aim
from scorekit._sql.refute.databases import Maker
from scorekit._sql.refute.sandbox import Database

TABLES = {"t": ("id", "x", "name"), "u": ("id", "t_id", "y"), "v": ("y", "z")}


def united(sql: str) -> set[frozenset[str]]:
    """Return the columns, as row and name, that a query's rows must agree on."""
    (tree,) = parse(sql, "sqlite").statements
    found = aim(tree, {name: name for name in TABLES}, TABLES)
    groups: dict[object, set[str]] = {}
    for place, root in found.same.items():
        groups.setdefault(root, set()).add(f"{found.tables[place[0]]}{place[0]}.{place[1]}")
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def conditions(sql: str) -> list[tuple[str, str]]:
    """Return what single values are compared with."""
    (tree,) = parse(sql, "sqlite").statements
    found = aim(tree, {name: name for name in TABLES}, TABLES)
    return [(place[1], node.this.this.sql()) for place, node in found.conditions]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 FROM t JOIN u ON t.id = u.t_id", [{"t0.id", "u1.t_id"}]),
        ("SELECT 1 FROM t, u WHERE (t.id) = CAST(t_id AS INT)", [{"t0.id", "u1.t_id"}]),
        ("SELECT 1 FROM u JOIN v USING (y)", [{"u0.y", "v1.y"}]),
        ("SELECT 1 FROM u NATURAL JOIN v", [{"u0.y", "v1.y"}]),
        ("SELECT 1 FROM t WHERE id IN (SELECT t_id FROM u)", [{"t0.id", "u1.t_id"}]),
        ("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t_id = t.id)", [{"t0.id", "u1.t_id"}]),
        ("SELECT 1 FROM u WHERE y = (SELECT MAX(z) FROM v)", [{"u0.y", "v1.z"}]),
        ("WITH c AS (SELECT id AS k FROM t) SELECT 1 FROM c JOIN u ON k = t_id", [{"t0.id", "u1.t_id"}]),
        ("WITH c(k) AS (SELECT id FROM t) SELECT 1 FROM c a, c b, u WHERE b.k = t_id", [{"t0.id", "u1.t_id"}]),
        ("SELECT 1 FROM (SELECT * FROM t) d JOIN u ON d.id = t_id", [{"t0.id", "u1.t_id"}]),
        ("SELECT 1 FROM (SELECT u.*, t.x FROM t, u) d JOIN v ON d.y = z", [{"u1.y", "v2.z"}]),
        ("SELECT id FROM t INTERSECT SELECT t_id FROM u", [{"t0.id", "u1.t_id"}]),
        ("SELECT id FROM t UNION SELECT t_id FROM u", []),
        ("SELECT 1 FROM t JOIN nope ON t.id = nope.id", []),
        ("SELECT 1 FROM t, (VALUES (1)) AS w WHERE t.id = w.column1", []),
    ],
)  # fmt: skip
def test_rows_that_join(sql: str, expected: list[set[str]]) -> None:
    """Columns that a query equates hold one value, in whatever scope they are."""
    assert united(sql) == {frozenset(group) for group in expected}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1 FROM t WHERE x > 3 AND NOT name LIKE 'a%'", [("name", "NOT \"name\" LIKE 'a%'"), ("x", '"x" > 3')]),
        ("SELECT 1 FROM t GROUP BY id HAVING SUM(x) = 7 AND COUNT(*) > 2", [("x", '"x" = 7')]),
        ('SELECT 1 FROM t WHERE name = "Ann"', [("name", "\"name\" = 'Ann'")]),
        ("SELECT 1 FROM t, u WHERE t.x > u.y", []),
        ("SELECT 1 FROM t WHERE x > (SELECT AVG(x) FROM t)", []),
    ],
)  # fmt: skip
def test_what_values_are_compared_with(sql: str, expected: list[tuple[str, str]]) -> None:
    """A comparison of one column with constants is met by a choice of its value."""
    assert sorted(conditions(sql)) == expected


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
        *pair, schema=SCHEMAS[name], dialect="sqlite", n_databases=80, row_order="ignored"
    )
    assert result.verdict == "unknown"
    assert result.reason.startswith("no difference on")
    assert len(made) == 80
    assert sum(bool(rows) for one in made for rows in one.values()) > 80
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
JOINED = "b JOIN a ON a.id = b.a_id"
COUNTED = "SELECT COUNT(*) FROM (SELECT a_id, COUNT(*) AS n FROM b GROUP BY a_id) WHERE n"
AGE = "SELECT name FROM a WHERE STRFTIME('%Y', 'now') - STRFTIME('%Y', born)"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT id FROM a WHERE SUBSTR(born, 6, 2) = '09'", "SELECT id FROM a WHERE SUBSTR(born, 6, 2) = '10'"),
        (f"SELECT name FROM {JOINED} WHERE day = 'x'", "SELECT name FROM b LEFT JOIN a ON a.id = a_id WHERE day = 'x'"),
        (f"SELECT COUNT(*) FROM {JOINED} WHERE day = 'x' AND name = 'y'", f"SELECT COUNT(price) FROM {JOINED} WHERE day = 'x' AND name = 'y'"),
        (f"SELECT SUM(amount) FROM {JOINED} WHERE name = 'y'", f"SELECT SUM(amount) FROM {JOINED} WHERE name = 'y' AND price IS NOT NULL"),
        ("SELECT id FROM b WHERE price / amount > 29", "SELECT id FROM b WHERE price / amount >= 29"),
        ("SELECT SUM(pay) FROM a WHERE name = 'x'", "SELECT MAX(pay) FROM a WHERE name = 'x'"),
        ("SELECT id FROM a WHERE born LIKE '1991-10-%'", "SELECT id FROM a WHERE born LIKE '1991-1%'"),
        ("SELECT name FROM a ORDER BY born LIMIT 2 OFFSET 9", "SELECT name FROM a ORDER BY born LIMIT 2 OFFSET 8"),
        (f"{COUNTED} > 5", f"{COUNTED} >= 5"),
        ("SELECT DISTINCT name FROM a GROUP BY name ORDER BY COUNT(*) LIMIT 1", "SELECT name FROM a GROUP BY name ORDER BY COUNT(*) DESC LIMIT 1"),
        (f"{AGE} > 30", f"{AGE} >= 30"),
        ("SELECT SUM(CASE WHEN pay = 'x' THEN 1 ELSE 0 END) * 100 / COUNT(*) FROM a WHERE name = 'y'", "SELECT SUM(CASE WHEN pay = 'x' THEN 1 ELSE 0 END) * 100.0 / COUNT(*) FROM a WHERE name = 'y'"),
        ("SELECT MIN(amount) FROM b WHERE amount > 3000", "SELECT AVG(amount) FROM b WHERE amount > 3000"),
        ("SELECT day FROM b WHERE amount < 0 ORDER BY amount LIMIT 1", "SELECT day FROM b WHERE amount < 0 ORDER BY amount DESC LIMIT 1"),
        ("SELECT name FROM a ORDER BY born LIMIT 4", "SELECT name FROM a ORDER BY born DESC LIMIT 4"),
        ("SELECT day FROM b GROUP BY day ORDER BY COUNT(*) LIMIT 3", "SELECT day FROM b GROUP BY day ORDER BY COUNT(*) DESC LIMIT 3"),
        ("SELECT x FROM c GROUP BY x HAVING COUNT(*) > 10", "SELECT x FROM c GROUP BY x HAVING COUNT(*) >= 10"),
        ("SELECT name FROM a WHERE born < CURRENT_DATE", "SELECT DISTINCT name FROM a WHERE born < DATE('now')"),
    ],
)  # fmt: skip
def test_rows_reach_what_random_ones_do_not(first: str, second: str) -> None:
    """Values that an expression needs, rows that join nothing, NULLs, and groups of n rows."""
    for pair in ((first, second), (second, first)):
        assert sql_equivalence(*pair, schema=DDL, dialect="sqlite").verdict == "refuted"


def test_both_queries_are_run_at_one_moment() -> None:
    """The time is one for both, and named; a query that does not ask for it may be right."""
    result = sql_equivalence(f"{AGE} > 30", f"{AGE} > 31", schema=DDL, dialect="sqlite")
    assert result.assumptions[-1] == "both queries run at 2022-06-15 10:30:00"
    for other, dialect in (("SELECT name FROM a", "sqlite"), (f"{AGE} > 31", None)):
        result = sql_equivalence(f"{AGE} > 30", other, schema=DDL, dialect=dialect)
        assert (result.verdict, result.assumptions) == ("unknown", ())


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", None])
@pytest.mark.parametrize("column_order", ["significant", "ignored"])
def test_more_rows_are_more_whichever_they_are(
    dialect: str | None, column_order: Literal["significant", "ignored"]
) -> None:
    """A LIMIT that picks among ties still keeps a number of rows."""
    pairs = {
        ("SELECT name FROM a LIMIT 4", "SELECT name FROM a"): "refuted",
        ("SELECT pay FROM a ORDER BY 1 LIMIT 3", "SELECT name FROM a ORDER BY 1 LIMIT 4"): "refuted",
        ("SELECT id FROM a ORDER BY pay LIMIT 1", "SELECT id FROM a ORDER BY pay, id LIMIT 1"): "unknown",
        ("SELECT id FROM a WHERE id IN (SELECT a_id FROM b LIMIT 1)", "SELECT id FROM a WHERE id IN (SELECT a_id FROM b ORDER BY id LIMIT 1)"): "unknown",
    }  # fmt: skip
    for pair, verdict in pairs.items():
        result = sql_equivalence(*pair, schema=DDL, dialect=dialect, column_order=column_order)
        assert result.verdict == verdict, pair


STORED = [
    ("SELECT name FROM a LIMIT 1", "SELECT name FROM a ORDER BY name LIMIT 1"),
    ("SELECT name FROM a LIMIT 4", "SELECT name FROM a ORDER BY pay LIMIT 4"),
    (f"SELECT name FROM {JOINED} LIMIT 2", f"SELECT name FROM {JOINED} ORDER BY amount LIMIT 2"),
    ("SELECT DISTINCT name FROM a LIMIT 2", "SELECT DISTINCT name FROM a ORDER BY name DESC LIMIT 2"),
    ("SELECT id FROM a WHERE id IN (SELECT a_id FROM b LIMIT 1)", "SELECT id FROM a WHERE id IN (SELECT a_id FROM b ORDER BY price DESC LIMIT 1)"),
    ("SELECT name, COUNT(*) FROM a GROUP BY name LIMIT 1", "SELECT name, COUNT(*) FROM a GROUP BY name ORDER BY COUNT(*) DESC LIMIT 1"),
    ("WITH c AS (SELECT pay FROM a LIMIT 2) SELECT COUNT(pay) FROM c", "WITH c AS (SELECT pay FROM a ORDER BY born LIMIT 2) SELECT COUNT(pay) FROM c"),
]  # fmt: skip


# What distinct rows are ordered by differs in copies of them: SQLite takes that of any.
COPIES = [
    ("SELECT DISTINCT name FROM a ORDER BY born DESC LIMIT 1", "SELECT name FROM a ORDER BY born DESC LIMIT 1"),
    ("SELECT DISTINCT name FROM a ORDER BY pay LIMIT 3", "SELECT name FROM a GROUP BY name ORDER BY MIN(pay) LIMIT 3"),
    (f"SELECT DISTINCT name FROM {JOINED} ORDER BY price DESC LIMIT 1", f"SELECT name FROM {JOINED} ORDER BY price DESC LIMIT 1"),
    ("SELECT DISTINCT a_id FROM b WHERE day = 'x' ORDER BY amount LIMIT 1", "SELECT a_id FROM b WHERE day = 'x' ORDER BY amount LIMIT 1"),
    ("SELECT id FROM b WHERE day IN (SELECT DISTINCT name FROM a ORDER BY born LIMIT 1)", "SELECT id FROM b WHERE day IN (SELECT name FROM a ORDER BY born LIMIT 1)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cut", "ordered", "dialect"),
    [
        *((*pair, dialect) for pair in STORED for dialect in ("sqlite", "postgres", None)),
        *((*pair, "sqlite") for pair in COPIES),
    ],
)
def test_rows_that_hang_on_how_they_are_stored(
    cut: str, ordered: str, dialect: str | None
) -> None:
    """Oracle: SQLite on the same rows stored in both orders, in tables with their keys or not."""
    for pair in ((cut, ordered), (ordered, cut)):
        result = sql_equivalence(*pair, schema=DDL, dialect=dialect)
        assert result.verdict == "refuted"
        assert result.assumptions[-1] == "rows are stored in the order shown"
        found = result.counterexample
        assert found is not None
        which = pair.index(cut)
        assert f"of the {('first', 'second')[which]} query" in result.reason
        shown = [set(found.rows_of_a), set(found.rows_of_b)]
        assert shown[0] != shown[1]
        for keyed, turned in ((False, False), (True, False), (False, True)):
            queries = [transpile(query, dialect or "sqlite", "sqlite")[0] for query in pair]
            stored = [_stored(found, query, keyed=keyed, turned=turned) for query in queries]
            assert stored[1 - which] == shown[1 - which]
            if not turned:
                assert stored[which] == shown[which]
            elif "reverse" in result.reason:
                assert stored[which] != shown[which]


def _stored(
    found: Counterexample,
    query: str,
    *,
    keyed: bool = False,
    turned: bool = False,
    collation: str = "BINARY",
) -> set[tuple[str, ...]]:
    """Return what a query returns where rows are stored as they are shown, or in reverse."""
    connection = sqlite3.connect(":memory:")
    for table in found.tables:
        columns = ", ".join(
            "id INTEGER PRIMARY KEY" if keyed and name == "id" else f"{name} COLLATE {collation}"
            for name in table.columns
        )
        connection.execute(f"CREATE TABLE {table.table} ({columns})")
        for row in table.rows[:: -1 if turned else 1]:
            connection.execute(f"INSERT INTO {table.table} VALUES ({', '.join(row)})")
    rows = connection.execute(query).fetchall()
    return {tuple("NULL" if c is None else repr(c) for c in row) for row in rows}


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", None])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT name FROM a LIMIT 1", "SELECT name FROM a ORDER BY id LIMIT 1"),
        ("SELECT name FROM a LIMIT 1", "SELECT name FROM (SELECT name FROM a) x LIMIT 1"),
        ("SELECT name FROM a LIMIT 1", "SELECT name FROM a WHERE id > 0 OR id <= 0 LIMIT 1"),
        ("SELECT id FROM a WHERE id IN (SELECT a_id FROM b LIMIT 1)", "SELECT id FROM a WHERE id IN (SELECT a_id FROM b ORDER BY id LIMIT 1)"),
        ("SELECT name FROM a WHERE name > '' GROUP BY name LIMIT 1", "SELECT name FROM a WHERE name > '' GROUP BY name ORDER BY name LIMIT 1"),
        ("SELECT name FROM a ORDER BY pay LIMIT 1", "SELECT name FROM a ORDER BY pay, id LIMIT 1"),
        ("SELECT name FROM a ORDER BY pay LIMIT 1", "SELECT name FROM a ORDER BY pay, born, id DESC LIMIT 1"),
        ("SELECT id FROM (SELECT id FROM a ORDER BY pay) x LIMIT 1", "SELECT id FROM a ORDER BY pay, id LIMIT 1"),
        ("WITH c AS (SELECT id FROM a ORDER BY pay) SELECT id FROM c LIMIT 1", "SELECT id FROM a ORDER BY pay, id LIMIT 1"),
        ("SELECT id FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY pay) AS n FROM a) x WHERE n = 1 LIMIT 1", "SELECT id FROM a ORDER BY pay, id LIMIT 1"),
        ("SELECT name, COUNT(*) FROM a", "SELECT MIN(name), COUNT(*) FROM a"),
        ("SELECT 1 FROM a LIMIT 1", "SELECT 1 FROM a ORDER BY name LIMIT 1"),
        ("SELECT COUNT(*) FROM (SELECT name FROM a LIMIT 2) x", "SELECT COUNT(*) FROM (SELECT pay FROM a ORDER BY pay LIMIT 2) x"),
        ("SELECT group_concat(name) FROM a", "SELECT group_concat(name) FROM (SELECT name FROM a ORDER BY name) x"),
        ("SELECT SUM(price) FROM b", "SELECT SUM(price) FROM (SELECT price FROM b ORDER BY price) x"),
        ("SELECT DISTINCT id FROM a ORDER BY pay LIMIT 1", "SELECT id FROM a ORDER BY pay LIMIT 1"),
        ("SELECT DISTINCT name FROM a ORDER BY born", "SELECT name FROM a GROUP BY name"),
        ("SELECT DISTINCT name FROM a ORDER BY born LIMIT 1", "SELECT name FROM a GROUP BY name ORDER BY born LIMIT 1"),
        ("SELECT DISTINCT name FROM a ORDER BY born LIMIT 1", "SELECT name FROM (SELECT DISTINCT name, born FROM a) x GROUP BY name ORDER BY born LIMIT 1"),
        ("SELECT DISTINCT name FROM a ORDER BY COUNT(*)", "SELECT name FROM a GROUP BY name, pay"),
        ("SELECT name FROM a ORDER BY RANDOM() LIMIT 1", "SELECT name FROM a ORDER BY name LIMIT 1"),
    ],
)  # fmt: skip
def test_rows_that_a_query_may_keep_refute_nothing(
    first: str, second: str, dialect: str | None
) -> None:
    """Not rows in the order of a key, ties that another order breaks, or sums in any order."""
    for pair in ((first, second), (second, first)):
        assert sql_equivalence(*pair, schema=DDL, dialect=dialect).verdict != "refuted"


@pytest.mark.parametrize("dialect", ["mysql", None])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT name FROM a WHERE pay <> 'Asia'", "SELECT name FROM a WHERE pay = 'Asia'"),
        ("SELECT pay FROM a WHERE name = 'Tom'", "SELECT * FROM a WHERE pay = 'North America'"),
        ("SELECT pay FROM a WHERE pay = 'Ben Jones'", "SELECT pay FROM a WHERE name = 'Ben Jones'"),
        ("SELECT COUNT(*) FROM a WHERE name = 'Left' AND pay <> 'Low'", "SELECT COUNT(*) FROM a WHERE name = 'Left' AND pay = 'Low'"),
        (f"SELECT day FROM {JOINED} WHERE name = 'Eighth' OR day = 'Chinese'", f"SELECT day FROM {JOINED} WHERE name = 'Eighth' AND day = 'Chinese'"),
        ("SELECT COUNT(DISTINCT name) FROM a WHERE pay = 'X'", "SELECT COUNT(name) FROM a WHERE pay = 'X'"),
        ("SELECT MIN(name) FROM a WHERE name > 'K'", "SELECT MIN(name) FROM a WHERE name >= 'K'"),
    ],
)  # fmt: skip
def test_rows_are_shown_that_do_not_hang_on_case(
    first: str, second: str, dialect: str | None
) -> None:
    """Oracle: SQLite with and without a collation that takes no notice of case."""
    for seed in range(3):
        result = sql_equivalence(first, second, schema=DDL, dialect=dialect, seed=seed)
        found = result.counterexample
        assert found is not None
        assert not any("case" in assumption for assumption in result.assumptions)
        for collation in ("BINARY", "NOCASE"):
            rows = [_stored(found, query, collation=collation) for query in (first, second)]
            assert rows == [set(found.rows_of_a), set(found.rows_of_b)]


def test_rows_that_hang_on_case_are_shown_as_such() -> None:
    """No other row tells: as MySQL compares strings, the first query finds one."""
    schema = "CREATE TABLE t (x varchar(3) PRIMARY KEY CHECK (x = 'aB'))"
    result = sql_equivalence(
        "SELECT 1 FROM t WHERE x = 'Ab'", "SELECT 2 FROM t WHERE x IN ('Ab', 'aB')",
        schema=schema, dialect="mysql",
    )  # fmt: skip
    assert result.counterexample is not None
    assert result.counterexample.rows_of_a == ()
    assert result.assumptions[-1] == "the case of strings counts in the results shown"


def test_one_of_several_results_is_shown() -> None:
    """The counterexample is one of those that are possible, and the result says so."""
    result = sql_equivalence(
        "SELECT id, name FROM a GROUP BY pay", "SELECT id, name FROM a GROUP BY pay, born",
        schema=DDL, dialect="sqlite",
    )  # fmt: skip
    assert result.counterexample is not None
    sizes = len(result.counterexample.rows_of_a), len(result.counterexample.rows_of_b)
    assert sizes[0] < sizes[1]
    assert result.assumptions[-1].startswith("of several results that a query may have one is")


def test_what_sqlite_gets_wrong_refutes_nothing() -> None:
    """SQLite 3.40 lets a condition on a derived table pass rows of a FULL JOIN that fail it."""
    inner = (
        "SELECT CASE WHEN p.amount IS NULL THEN p.day ELSE '' END AS c FROM b AS p FULL JOIN "
        "(SELECT a.id FROM a JOIN b ON a.name = b.day) AS q ON p.amount = q.id WHERE p.id <> 0"
    )
    arms = f"{inner} UNION ALL {inner.replace('p.id <> 0', '1 = 2')}"
    first = f"SELECT UPPER(c) FROM ({inner}) AS x WHERE c = 'b'"
    second = f"SELECT UPPER(c) FROM ({arms}) AS x WHERE CASE WHEN c = 'b' THEN 1 ELSE 0 END = 1"
    result = sql_equivalence(first, second, schema=DDL, dialect="sqlite")
    assert result.reason == "SQLite errs at times in RIGHT and FULL joins of nested queries"
