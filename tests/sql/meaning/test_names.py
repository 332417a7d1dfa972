"""Names with capital letters: in quotes, and beyond ASCII, as each database compares them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
from outcomes import failure

from scorekit import query_audit, query_correctness, sql_equivalence

NAMES = [
    "ÜBER", "Über", "über", "Größe", "größe", "GRÖßE", '"ÜBER"', '"über"', "x.ÜBER", "x.Größe",
]  # fmt: skip
TABLES = [
    "CREATE TABLE t (ÜBER INT, Größe INT, a INT)",
    "CREATE TABLE t (über INT, größe INT, a INT)",
]


@pytest.mark.parametrize("schema", TABLES)
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_no_name_that_the_database_takes_is_blamed(dialect: str, schema: str) -> None:
    """Oracle: the database, which knows the case of the letters of ASCII only."""
    module: Any = sqlite3 if dialect == "sqlite" else pytest.importorskip("duckdb")
    n_taken = 0
    with closing(module.connect(":memory:")) as connection:
        connection.execute(schema)
        for name in NAMES:
            query = f"SELECT {name} FROM t AS x"
            try:
                connection.execute(query).fetchall()
            except module.Error:
                continue
            n_taken += 1
            given: Any = {"schema": schema, "dialect": dialect}
            found = query_correctness(query, "SELECT a FROM t", **given)
            assert (found.score, found.method) == (0.0, "refuted"), query
            assert query_correctness(query, query.replace(" AS", ""), **given).score == 1.0, query
            assert not query_audit(query, **given).findings, query
    assert n_taken >= len(NAMES) // 2


OF_SERVERS = {
    ("postgres", 0): ["ÜBER", "Über", "Größe", "größe", "x.ÜBER", "x.Größe"],
    ("postgres", 1): ["über", "Größe", "größe", '"über"', "x.Größe"],
    ("mysql", 0): ["ÜBER", "Über", "über", "Größe", "größe", "GRÖßE", "x.ÜBER", "x.Größe"],
    ("mysql", 1): ["ÜBER", "Über", "über", "Größe", "größe", "GRÖßE", "x.ÜBER", "x.Größe"],
}
"""What PostgreSQL 15 (UTF8) and MariaDB 10.11 take, by the place of the tables above."""


@pytest.mark.parametrize(("dialect", "place"), OF_SERVERS)
def test_no_name_that_a_server_takes_is_blamed(dialect: str, place: int) -> None:
    """PostgreSQL folds ASCII where it is not in quotes, MySQL the columns wholly."""
    given: Any = {"schema": TABLES[place], "dialect": dialect}
    for name in OF_SERVERS[dialect, place]:
        query = f"SELECT {name} FROM t AS x"
        error = query_correctness(query, "SELECT a FROM t", **given).error
        assert error is None or error.origin == "instrument", query
        assert query_correctness(query, query.replace(" AS", ""), **given).score == 1.0, query


@pytest.mark.parametrize("name", ["Name", "ÜBER"])
def test_a_name_in_quotes_has_the_capital_letters_of_the_schema(name: str) -> None:
    """Also where the other query does not use it."""
    for schema in (f'CREATE TABLE t ("{name}" TEXT, a TEXT)', {"t": {name: "text", "a": "text"}}):
        given: Any = {"schema": schema, "dialect": "postgres"}
        query = f'SELECT "{name}" FROM t'
        found = query_correctness(query, "SELECT a FROM t", **given)
        assert (found.score, found.method) == (0.0, "refuted")
        assert query_correctness("SELECT a FROM t", query, **given).method == "refuted"
        assert not query_audit(query, **given).findings
        lacking = query_correctness('SELECT "Nome" FROM t', "SELECT a FROM t", **given)
        assert failure(lacking.error) == "output: unknown_column"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb", "mysql", "tsql", None])
def test_names_that_differ_beyond_ascii_are_one_where_the_database_says_so(
    dialect: str | None,
) -> None:
    """In MySQL and T-SQL; elsewhere they are two, and of no dialect that is not known."""
    pair = "SELECT Änderung FROM t", "SELECT änderung FROM t"
    is_one = dialect in ("mysql", "tsql")
    found = sql_equivalence(*pair, dialect=dialect)
    assert (found.verdict == "proved") is is_one
    schema = "CREATE TABLE t (Änderung INT)"
    for name in ("Änderung", "ÄNDERUNG"):
        other = f"SELECT x.{name} FROM t x"
        same = sql_equivalence(pair[0], other, schema=schema, dialect=dialect)
        assert same.verdict == "proved"
