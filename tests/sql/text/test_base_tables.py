"""Which parts of a WITH tables name: one resolution for tables, columns and what is run."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from scorekit import column_accuracy, extract_tables, sql_equivalence
from scorekit._sql.text.base_tables import common_tables
from scorekit._sql.text.parsing import parse

# What stands in place of each table of a text, in order: its WITH by number, or a dot for a table.
SCOPES = [
    ("WITH c AS (SELECT a FROM t) SELECT a FROM c", "postgres", ". 0"),
    ("WITH t AS (SELECT a FROM t) SELECT a FROM t", "postgres", ". 0"),
    ("WITH RECURSIVE t AS (SELECT a FROM t) SELECT a FROM t", "postgres", "0 0"),
    ("WITH c AS (SELECT 1 AS a UNION ALL SELECT a FROM c) SELECT a FROM c", "tsql", "0 0"),
    ("WITH c AS (SELECT 1 AS a UNION ALL SELECT a FROM c) SELECT a FROM c", "mysql", ". 0"),
    ("WITH c AS (SELECT a FROM d), d AS (SELECT a FROM c) SELECT a FROM d", "mysql", ". 0 1"),
    ("WITH c AS (SELECT a FROM t) SELECT a FROM public.c", "postgres", ". ."),
    ("SELECT a FROM (WITH c AS (SELECT a FROM t) SELECT a FROM c) AS x, c", "duckdb", ". 0 ."),
    ("WITH c AS (SELECT a FROM t) SELECT (WITH c AS (SELECT a FROM c) SELECT a FROM c)", "duckdb",
     ". 0 1"),
    ("WITH c AS (SELECT a FROM t) INSERT INTO c SELECT a FROM c", "postgres", ". . 0"),
    ("WITH C AS (SELECT a FROM t) SELECT a FROM c", "sqlite", ". 0"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "dialect", "scopes"), SCOPES)
def test_what_a_name_stands_for(sql: str, dialect: str, scopes: str) -> None:
    """By hand, in the order of the text."""
    [tree] = parse(sql, dialect).statements
    parts: list[exp.Expr] = sorted(tree.find_all(exp.CTE), key=_place)
    found = common_tables(tree, dialect)
    tables = sorted(tree.find_all(exp.Table), key=_place)
    read = [str(parts.index(found[id(t)])) if id(t) in found else "." for t in tables]
    assert read == scopes.split()
    names = {t.name.lower() for t in tables if id(t) not in found}
    assert {name.rpartition(".")[2] for name in extract_tables(sql, dialect=dialect)} == names


def _place(node: exp.Expr) -> int:
    """Return where the name of a table or a part of a WITH stands."""
    name = node.args["alias"].this if isinstance(node, exp.CTE) else node.this
    return int(name.meta["start"])


def test_columns_and_tables_are_of_the_same_scope() -> None:
    """A table that has the name of the part of a WITH that reads it is a base table."""
    sql = "WITH t AS (SELECT a, b FROM t WHERE c > 1) SELECT a FROM t"
    assert extract_tables(sql, dialect="postgres") == ("t",)
    found = column_accuracy(sql, ["t.a", "t.b", "t.c"], dialect="postgres")
    assert (found.extracted, found.score) == (("t.a", "t.b", "t.c"), 1.0)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql"])
def test_no_counterexample_takes_a_table_for_a_part_of_a_with(dialect: str) -> None:
    """Without its qualifier it would be one in SQLite, where the queries run."""
    schema = "CREATE TABLE s.t (a INT NOT NULL PRIMARY KEY)"
    one = "WITH t AS (SELECT 1 AS a) SELECT t.a FROM t UNION ALL SELECT x.a FROM s.t AS x"
    other = "SELECT x.a FROM s.t AS x WHERE x.a % 2 IN (-1, 0, 1) UNION ALL SELECT 1"
    given: Any = {"schema": schema, "dialect": dialect, "row_order": "ignored"}
    assert sql_equivalence(one, other, **given).verdict != "refuted"
