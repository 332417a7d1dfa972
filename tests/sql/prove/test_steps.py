"""Each step of a proof: pairs that it proves, and near misses, all run on random databases."""

# ruff: noqa: S311 - a pair of queries stands on one line, over tables of our own

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest

from benchmarks.generators.stored_pairs import DIFFERENT, EQUAL, pairs
from benchmarks.generators.stored_pairs import STEPS_SCHEMA as SCHEMA
from scorekit import sql_equivalence


def _databases() -> Iterator[sqlite3.Connection]:
    """Yield small random databases, whose rows SQLite holds against the constraints."""
    rng = random.Random(7)
    for _ in range(60):
        found = sqlite3.connect(":memory:")
        found.execute("PRAGMA foreign_keys = ON")
        found.executescript(SCHEMA)
        numbers = (None, 0, 1, 2, 3)
        ids = rng.sample(range(5), rng.randrange(1, 5))
        for i in ids:
            found.execute(
                "INSERT INTO d VALUES (?, ?, ?)", (i, rng.choice("xy"), rng.choice(numbers))
            )
        known: list[int | None] = [None]
        for i in rng.sample(range(6), rng.randrange(6)):
            row = (i, rng.choice(ids), rng.choice(known), rng.choice(numbers), rng.randrange(4))
            found.execute("INSERT INTO e VALUES (?, ?, ?, ?, ?)", row)
            known.append(i)
        for _ in range(rng.choice((0, 1, 4, 7))):
            cells = (rng.choice(numbers), rng.randrange(4), rng.choice((None, "x", "y")))
            found.execute("INSERT INTO n VALUES (?, ?, ?)", cells)
        yield found


@lru_cache(maxsize=1)
def _all_databases() -> tuple[sqlite3.Connection, ...]:
    return tuple(_databases())


def _differ(first: str, second: str) -> bool:
    """Say whether some database gives two queries different rows."""
    return any(
        Counter(one.execute(first).fetchall()) != Counter(one.execute(second).fetchall())
        for one in _all_databases()
    )


REFUSED = (
    ("FULL JOIN", "postgres"),
    ("GROUP BY e.d_id", "sqlite"),
    ("ORDER BY COUNT(*) LIMIT 2) x", "duckdb"),
    ("IN (SELECT a FROM n ORDER BY b LIMIT 1)", "sqlite"),
)
"""Words of queries that not each database takes, and a dialect whose database does."""


@pytest.mark.parametrize(("step", "first", "second"), EQUAL)
def test_a_step_proves_what_no_database_contradicts(step: str, first: str, second: str) -> None:
    """Oracle: SQLite, over random databases that keep to the constraints."""
    dialect = next((one for words, one in REFUSED if words in first), None)
    for pair in ((first, second), (second, first)):
        result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect, n_databases=1)
        assert result.verdict == "proved", result
        names = [name.split(": ", 1)[-1] for name in result.proof]
        assert step in names, result.proof
    assert not _differ(first, second)


SUMS = pairs(
    "rows that add nothing to a sum: one of noughts is 0, one of nothing is NULL", "different"
)


@pytest.mark.parametrize(("step", "first", "second"), [*DIFFERENT, *SUMS])
def test_a_near_miss_of_a_step_is_not_proved(step: str, first: str, second: str) -> None:
    """Where the condition of the step fails, some database shows it."""
    assert any(step == name for name, *_ in EQUAL)
    assert _differ(first, second), "no database tells them apart: no near miss"
    for dialect in (None, "sqlite", "mysql"):
        found = sql_equivalence(first, second, schema=SCHEMA, dialect=dialect, n_databases=1)
        assert found.verdict != "proved", dialect


@pytest.mark.parametrize(("time", "dialect", "assumed"), [
    ("c", "sqlite", ("n.c holds ISO dates",)),
    ("'now'", "sqlite", ("both queries are run at one moment",)),
    ("'now'", "mysql", None),
    ("'now', 'localtime'", "sqlite", None),
])  # fmt: skip
def test_the_time_of_day_is_one(time: str, dialect: str, assumed: tuple[str, ...] | None) -> None:
    """In SQLite the clock stands still while a query is run; no clock tells a given time."""
    query = "SELECT a FROM n WHERE STRFTIME('%Y', {}) > '2000' AND {}"
    pair = query.format(time, "a > 1"), query.format(time, "a > 1 AND a > 0")
    result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect, n_databases=1)
    assert (result.assumptions if result.verdict == "proved" else None) == assumed


def test_more_ties_are_told_from_fewer() -> None:
    """What sorts by more columns allows a part of what sorts by fewer; neither is refuted."""
    few, many = (f"SELECT pay FROM e ORDER BY rank{more} LIMIT 1" for more in (", pay", ""))
    for pair, wide in (((few, many), "b"), ((many, few), "a")):
        result = sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite")
        assert (result.verdict, result.includes) == ("unknown", wide)
        assert result.reason.endswith(
            "they allow the second query results that the first query does not allow"
            if wide == "b"
            else "they allow the first query results that the second query does not allow"
        )


def test_sums_of_one_row_depend_on_columns_that_hold_numbers() -> None:
    """SQLite stores text in any column, and sums it as a number."""
    pair = "SELECT SUM(pay) FROM e GROUP BY id", "SELECT pay FROM e"
    database = sqlite3.connect(":memory:")
    database.executescript("CREATE TABLE e (id INT, pay INT); INSERT INTO e VALUES (1, 'a')")
    assert [database.execute(one).fetchall() for one in pair] == [[(0.0,)], [("a",)]]
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "unknown"
    assert "e.pay holds numbers" in sql_equivalence(*pair, schema=SCHEMA).assumptions
    strict = sql_equivalence(*pair, schema=SCHEMA, dialect="postgres")
    assert (strict.verdict, strict.assumptions) == ("proved", ("e (id) is a key",))


def test_a_proof_names_its_steps() -> None:
    """Nothing else does: what is refuted or unknown has no proof."""
    joined = "SELECT e.pay FROM e JOIN d ON e.d_id = d.id"
    result = sql_equivalence(joined, "SELECT pay FROM e", schema=SCHEMA)
    assert result.proof == (
        "first query: foreign key join removed",
        "tables paired, conditions and columns compared",
    )
    assert "e (d_id) refers to d (id)" in result.assumptions
    first, *_ = str(result).splitlines()
    assert first == "proved: both queries have the same tables, conditions and columns"
    assert sql_equivalence("SELECT a FROM n", "SELECT x.a FROM n x").proof == (
        "tables paired, conditions and columns compared",
    )
    assert sql_equivalence("SELECT a FROM n", "SELECT a FROM n").proof == ("identical text",)
    assert sql_equivalence("SELECT a FROM n", "SELECT b FROM n", schema=SCHEMA).proof == ()


@pytest.mark.parametrize("n", [8, 40])
def test_a_search_that_explodes_ends(n: int) -> None:
    """Tables that nothing tells apart have too many pairings; steps are bounded."""
    tables = ", ".join(f"n n{i}" for i in range(n))
    chain = " AND ".join(f"n{i}.a = n{i + 1}.b" for i in range(n - 1))
    first = f"SELECT n0.a FROM {tables} WHERE {chain}"
    result = sql_equivalence(first, f"{first} AND n3.a > 1 - 1", schema=SCHEMA, n_databases=1)
    assert result.verdict == "unknown"
    assert result.reason.endswith("; the search for a proof ended after too many steps")


def test_a_query_that_grows_as_it_is_put_together_ends() -> None:
    """Each table of the WITH names the one before three times: the whole has 3 ** 12 columns."""
    tables = ", ".join(f"w{i} AS (SELECT a * a + a AS a FROM w{i - 1})" for i in range(1, 13))
    query = f"WITH w0 AS (SELECT a FROM n), {tables} SELECT a FROM w12"
    result = sql_equivalence(query, f"{query} WHERE 1 = 1", schema=SCHEMA, n_databases=1)
    assert result.reason.endswith("; the search for a proof ended after too many steps")
