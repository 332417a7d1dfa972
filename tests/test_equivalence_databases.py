"""Databases that pairs are tried on: SQLite takes each, and rows are aimed at the queries."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import pytest

from scorekit import sql_equivalence
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
