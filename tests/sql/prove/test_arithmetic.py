"""Arithmetic in one form: what is proved of numbers in which dialect, and by what it rests on."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import random
import sqlite3

import pytest

from scorekit import SqlEquivalence, sql_equivalence
from scorekit._core.rows import same_bag
from scorekit._sql.prove.arithmetic import NO_ZERO, OVERFLOW, ROUNDED

SCHEMA = {
    "t": {
        "id": "INTEGER PRIMARY KEY", "x": "INTEGER", "y": "INTEGER", "z": "INTEGER NOT NULL",
        "big": "BIGINT", "n": "DECIMAL(8,2)", "f": "DOUBLE PRECISION", "r": "REAL", "s": "VARCHAR(9)",
    },
}  # fmt: skip
"""Where quotients are not cut off after a few places."""


def decided(
    first: str, second: str, dialect: str | None, tolerance: float = 1e-9
) -> SqlEquivalence:
    """Decide two queries over ``t``, of which the outputs or the WHERE are given."""
    texts: list[str] = []
    for one in (first, second):
        rest = f"id FROM t {one}" if one.startswith("WHERE ") else one
        texts.append(f"SELECT {rest}" if " FROM " in rest else f"SELECT {rest} FROM t")
    return sql_equivalence(
        texts[0], texts[1], schema=SCHEMA, dialect=dialect, n_databases=1, tolerance=tolerance
    )


@pytest.mark.parametrize(("first", "second", "dialect", "rests"), [
    ("WHERE x > 5 AND x > 3", "WHERE x > 5", "sqlite", ()),
    ("WHERE x - 1 > 5", "WHERE x > 6", "sqlite", (OVERFLOW, "t.x holds whole numbers")),
    ("WHERE x - 1 > 5", "WHERE x > 6", "duckdb", (OVERFLOW,)),
    ("WHERE n - 1 > 5", "WHERE n > 6", "postgres", (OVERFLOW, "t.n holds numbers")),  # not NaN
    ("WHERE n - 1 > 5", "WHERE n > 6", "mysql", (OVERFLOW,)),
    ("WHERE x > 2 + 3", "WHERE x > 5", "postgres", ()),
    ("f", "f * 1.0", "sqlite", (ROUNDED, OVERFLOW, "t.f holds numbers")),
    ("SUM(f) / 3", "SUM(f / 3)", "postgres", (ROUNDED, OVERFLOW)),
    ("COUNT(CASE WHEN x > 1 THEN 1 END) * 1.0 / COUNT(*)", "AVG(CASE WHEN x > 1 THEN 1 ELSE 0 END)", "postgres", (NO_ZERO, OVERFLOW)),
    ("COUNT(CASE WHEN x > 1 THEN 1 END) * 1.0 / COUNT(*)", "AVG(CASE WHEN x > 1 THEN 1 ELSE 0 END)", "sqlite", (OVERFLOW,)),
])  # fmt: skip
def test_a_form_says_what_it_rests_on(
    first: str, second: str, dialect: str, rests: tuple[str, ...]
) -> None:
    """What is computed does not overflow, and columns hold what their types say."""
    assert sorted(decided(first, second, dialect).assumptions) == sorted(rests)


def test_what_differs_by_rounding_is_equal_only_within_a_tolerance() -> None:
    """A tolerance of zero leaves nothing but what is computed exactly."""
    for pair in (("SUM(f * 3)", "3 * SUM(f)"), ("x / 3.0 * 3", "x * 1.0")):
        assert decided(*pair, "sqlite").verdict == "proved"
        assert decided(*pair, "sqlite", tolerance=0).verdict != "proved"
    assert decided("AVG(x)", "SUM(x) * 1.0 / COUNT(x)", "sqlite", tolerance=0).verdict == "proved"


def _written(rng: random.Random, depth: int) -> str:
    """Return an expression of whole numbers."""
    if depth == 0:
        return rng.choice(("x", "y", "z", "1", "2", "3", "0", "-1"))
    if rng.random() < 0.15:
        return f"-({_written(rng, depth - 1)})"
    sign = rng.choice("+-**/%" if rng.random() < 0.2 else "+-*")
    return f"({_written(rng, depth - 1)} {sign} {_written(rng, depth - 1)})"


def test_random_forms_are_what_sqlite_computes() -> None:
    """Oracle: expressions of one form have one value in every row, and comparisons one truth."""
    rng = random.Random(43)  # noqa: S311 - for tests
    connection = sqlite3.connect(":memory:")
    connection.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, y INTEGER, z INTEGER NOT NULL)"
    )
    values = [
        (x, y, z)
        for x in (None, 0, 1, 2, -3, 7)
        for y in (None, 0, 1, -2, 5)
        for z in (0, 1, 4, -5)
    ]
    connection.executemany("INSERT INTO t (x, y, z) VALUES (?, ?, ?)", values)
    by_form: dict[object, list[str]] = {}
    texts = list(dict.fromkeys(_written(rng, rng.choice((1, 2))) for _ in range(600)))
    rows = {text: connection.execute(f"SELECT {text} FROM t").fetchall() for text in texts}
    for text in texts:
        by_form.setdefault(tuple(rows[text]), []).append(text)
    proved = 0
    for _ in range(100):
        first = rng.choice(texts)
        second = rng.choice(by_form[tuple(rows[first])] if rng.random() < 0.6 else texts)
        verdict = decided(first, second, "sqlite").verdict
        assert verdict != "proved" or same_bag(rows[first], rows[second], 0)
        proved += verdict == "proved" and first != second
    assert proved > 24
