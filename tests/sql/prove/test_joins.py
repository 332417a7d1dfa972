"""Tests for joins and set operations that SQLite lacks or gets wrong: DuckDB runs each again."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest

from benchmarks.generators.random_sql import random_schema, schema_text
from benchmarks.generators.stored_pairs import pairs
from benchmarks.oracles.check_proofs import Job
from benchmarks.oracles.check_proofs import drawn as drawn_pairs
from scorekit import Counterexample, sql_equivalence

SCHEMA = {
    "t": {"id": "int primary key", "a": "int", "s": "varchar"},
    "u": {"id": "int primary key", "t_id": "int", "b": "int"},
    "v": {"b": "int", "s": "varchar"},
}


def run(example: Counterexample, query: str) -> list[tuple[str, ...]]:
    """Run a query in DuckDB on the database of a counterexample, in its form of cells."""
    duckdb: Any = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute(example.to_sql())
        rows = connection.execute(query).fetchall()
    return sorted(tuple(map(written, row)) for row in rows)


def written(cell: object) -> str:
    """Write a cell as counterexamples do."""
    return "NULL" if cell is None else f"'{cell}'" if isinstance(cell, str) else str(cell)


def agrees(a: str, b: str, schema: Any = SCHEMA) -> bool:
    """Say whether a pair is refuted, by results that DuckDB returns too."""
    found = sql_equivalence(a, b, schema=schema, dialect="duckdb")
    example = found.counterexample
    if schema is SCHEMA and found.verdict == "unknown":
        assert found.reason.startswith("no difference on "), found.reason
    if example is None:
        return False
    shown = [sorted(rows) for rows in (example.rows_of_a, example.rows_of_b)]
    assert [run(example, query) for query in (a, b)] == shown
    return True


@pytest.mark.parametrize(
    ("a", "b"), pairs("joins and set operations that SQLite lacks, run by DuckDB", "shown")
)
def test_what_sqlite_lacks_is_run_and_refuted(a: str, b: str) -> None:
    """With other tables, nested queries, groups and orders around it."""
    assert agrees(a, b)


def drawn(rng: random.Random) -> str:
    """Return a query with a RIGHT or FULL join or a set operation of all rows."""
    side = rng.choice(["RIGHT", "FULL", "LEFT"])
    first, second = rng.sample(["t", "u"], 2)
    on = rng.choice(["t.id = u.t_id", "t.a = u.b", "t.id = u.t_id AND t.a > 1", "t.a < u.b"])
    where = rng.choice(
        ["", " WHERE t.a IS NULL", " WHERE u.b > 1 OR t.a = 2",
         " WHERE EXISTS (SELECT 1 FROM v WHERE v.b = t.a)", " WHERE t.a NOT IN (SELECT b FROM v)"]
    )  # fmt: skip
    shown = rng.choice(["*", "t.a, u.b", "COUNT(*), SUM(u.b)", "t.id, COUNT(u.id)"])
    group = " GROUP BY t.id" if shown.startswith("t.id") else ""
    if rng.random() < 0.6:
        third = rng.choice(["", f" {rng.choice(['RIGHT', 'FULL', 'LEFT'])} JOIN v ON v.b = t.a"])
        return f"SELECT {shown} FROM {first} {side} JOIN {second} ON {on}{third}{where}{group}"
    how = rng.choice(["EXCEPT ALL", "INTERSECT ALL", "EXCEPT", "INTERSECT"])
    return f"SELECT a FROM t {how} SELECT b FROM {rng.choice('uv')}"


@pytest.mark.parametrize("seed", range(3))
def test_counterexamples_are_what_duckdb_returns(seed: int) -> None:
    """Of random pairs with as many columns, in a row of drawn queries."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    queries = [drawn(rng) for _ in range(25)]
    alike = [pair for pair in pairwise(queries) if pair[0] != pair[1]]
    assert sum(agrees(a, b) for a, b in alike) > len(alike) / 2


@pytest.mark.parametrize("seed", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in range(3))])
def test_counterexamples_of_near_misses_are_what_duckdb_returns(seed: int) -> None:
    """Of random queries and rewrites of them that nearly keep the meaning."""
    rng = random.Random(seed)  # noqa: S311 - nothing secret
    schema = random_schema(rng)
    pairs = drawn_pairs(Job(seed, False, 0, 0, False), schema, "duckdb", rng)  # noqa: FBT003
    texts = ((a, b) for a, b, *_ in pairs if " LIMIT " not in a + b)
    assert sum(agrees(a, b, schema_text(schema)) for a, b in texts) > 5
