"""Traps found by attacking the proofs and the refutations: one line for each way to be wrong."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import pytest

from scorekit import sql_equivalence

SCHEMA = {
    "t": {
        "id": "int primary key", "x": "int", "y": "int", "name": "text", "f": "real", "n": "numeric",
        "any": "",
    },
    "u": {"id": "int", "x": "int", "y": "int", "name": "text"},
}  # fmt: skip
COLLATED = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE); CREATE TABLE u (id INTEGER, name TEXT)"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT t.id FROM t, u WHERE t.name = u.name", "SELECT t.id FROM t, u WHERE u.name = t.name"),
        ("SELECT id FROM t WHERE name = 'a'", "SELECT id FROM t WHERE name = 'A'"),
        ("SELECT DISTINCT * FROM t", "SELECT * FROM t GROUP BY 1, 2, 'a'"),
    ],
)  # fmt: skip
def test_a_collation_of_its_own_decides_nothing(first: str, second: str) -> None:
    """Which strings are equal then depends on which column stands first."""
    for dialect in ("sqlite", None):
        result = sql_equivalence(first, second, schema=COLLATED, dialect=dialect)
        assert str(result) == "unknown: name is compared by a rule of its own"
    other = sql_equivalence("SELECT id FROM u", "SELECT u.id FROM u", schema=COLLATED)
    assert other.verdict == "proved"


@pytest.mark.parametrize("rule", [
    "x INT GENERATED ALWAYS AS (id) STORED",
    "x INT CHECK (my_own(x))",
    "x INT, CHECK (id > (SELECT MAX(x) FROM t))",
    "x INT, EXCLUDE USING gist (x WITH =)",
])  # fmt: skip
def test_rows_that_must_pass_what_cannot_be_checked_are_not_made_up(rule: str) -> None:
    """No row is known to pass; a query that does not use the column is decided all the same."""
    schema = f"CREATE TABLE t (id INT PRIMARY KEY, y INT, {rule})"
    result = sql_equivalence("SELECT x FROM t", "SELECT y FROM t", schema=schema)
    assert str(result) == "unknown: rows of t must pass a check that is not looked into"


@pytest.mark.parametrize(("dialect", "unclear", "read"), [
    ("sqlite", "name LIKE '1' <= 3", "(name LIKE '1') <= 3"),
    ("sqlite", "x BETWEEN 1 AND y < 5", "(x BETWEEN 1 AND y) < 5"),
    ("sqlite", "name LIKE 'a' ESCAPE 'b' < 1", "(name LIKE 'a' ESCAPE 'b') < 1"),
    ("duckdb", "~x * 3 = 6", "(~x) * 3 = 6"),
    ("duckdb", "name || x & 1 = 'a'", "(name || x) & 1 = 'a'"),
    ("postgres", "x | y & 1 = 1", "x | (y & 1) = 1"),
])  # fmt: skip
def test_what_databases_bracket_otherwise_needs_brackets(
    dialect: str, unclear: str, read: str
) -> None:
    """The parser brackets these as the named database does not."""
    pair = (f"SELECT id FROM t WHERE {condition}" for condition in (unclear, read))
    result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect)
    assert (result.verdict, result.reason) == (
        "unknown",
        "brackets must say which operator comes first",
    )


MERGED = "FROM t JOIN u USING (id) JOIN u AS w ON w.y = t.y"


def test_a_column_that_using_merges_is_that_of_its_tables_alone() -> None:
    """A third table that has the name too keeps its column, and makes the bare name ambiguous."""
    shown = 't.id, t.x, t.y, t.name, f, n, "any", u.x, u.y, u.name, w.id, w.x, w.y, w.name'
    pair = f"SELECT * {MERGED}", f"SELECT {shown} {MERGED}"
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "proved"
    fewer = f"SELECT * {MERGED}", f"SELECT {shown.replace('w.id, ', '')} {MERGED}"
    assert sql_equivalence(*fewer, schema=SCHEMA, dialect="sqlite").verdict == "refuted"
    for dialect in ("sqlite", "duckdb", "postgres"):
        result = sql_equivalence(
            f"SELECT id {MERGED}", f"SELECT t.id {MERGED}", schema=SCHEMA, dialect=dialect
        )
        assert result.reason.endswith("several tables have a column id")


def test_a_text_in_double_quotes_gives_its_output_no_name() -> None:
    """SQLite finds no column of that name in ORDER BY."""
    pair = 'SELECT "zz" FROM t ORDER BY zz', "SELECT 'zz' FROM t ORDER BY 1"
    result = sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite")
    assert result.reason.endswith("no table has a column zz")
