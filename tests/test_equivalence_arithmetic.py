"""Arithmetic in one form: what is proved of numbers in which dialect, and by what it rests on."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import random
import sqlite3

import pytest

from scorekit import SqlEquivalence, sql_equivalence
from scorekit._sql.prove.arithmetic import NO_ZERO, OVERFLOW, ROUNDED
from scorekit._sql.rows import same_bag

SCHEMA = {
    "t": {
        "id": "INTEGER PRIMARY KEY", "x": "INTEGER", "y": "INTEGER", "z": "INTEGER NOT NULL",
        "big": "BIGINT", "n": "DECIMAL(8,2)", "f": "DOUBLE PRECISION", "r": "REAL", "s": "VARCHAR(9)",
    },
}  # fmt: skip
ALL = ("sqlite", "duckdb", "postgres", "mysql")
DOUBLES = ("sqlite", "duckdb", "postgres")
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


EQUAL = [
    ("WHERE x * 12 > 360", "WHERE x > 30", ALL),
    ("WHERE x - 18 >= 0", "WHERE 18 <= x", ALL),
    ("WHERE -x < -5", "WHERE x > 5", ALL),
    ("WHERE (x + 1) + 2 = y", "WHERE x = y - 3", ALL),
    ("WHERE 2 * x - y = y - 2 * z", "WHERE x + z = y", ALL),
    ("WHERE x * 0.5 > 10", "WHERE x > 20", ALL),
    ("WHERE n * 3 <= 4.5", "WHERE n <= 1.5", ("duckdb", "postgres", "mysql")),
    ("WHERE x + 0 IS NULL", "WHERE x IS NULL", ALL),
    ("WHERE x - x = 0", "WHERE x IS NOT NULL", ALL),
    ("WHERE NULL + 1 IS NULL", "WHERE 1 = 1", ALL),
    ("WHERE 7 / 2 = 3", "WHERE 1 = 1", ("sqlite", "postgres")),
    ("WHERE -7 / 2 = -3", "WHERE 1 = 1", ("sqlite", "postgres")),
    ("WHERE 1 / 0 IS NULL", "WHERE 1 = 1", ("sqlite",)),
    ("(x + 1) + 2", "x + 3", ALL),
    ("2 * (x + y)", "y * 2 + 2 * x", ALL),
    ("(x + y) * (x - y)", "x * x - y * y", ALL),
    ("2014 - x", "-(x - 2014)", ALL),
    ("x - x", "0 * x", ALL),
    ("x + 3, COUNT(*) FROM t GROUP BY x + 3", "x + 1 + 2, COUNT(*) FROM t GROUP BY x + 1 + 2", ALL),
    ("COUNT(*) * 2", "COUNT(*) + COUNT(*)", ALL),
    ("SUM(x + 1)", "SUM(x) + COUNT(x)", ALL),
    ("SUM(id + z)", "SUM(id) + SUM(z)", ALL),
    ("SUM(2 * x)", "2 * SUM(x)", ALL),
    ("SUM(f * 2)", "2 * SUM(f)", ALL),
    ("s, SUM(1) FROM t GROUP BY s", "s, COUNT(*) FROM t GROUP BY s", ALL),
    ("s, SUM(CASE WHEN x > 1 THEN 1 WHEN x < 0 THEN -1 ELSE 0 END) FROM t GROUP BY s", "s, COUNT(CASE WHEN x > 1 THEN id END) - COUNT(CASE WHEN x < 0 THEN 1 END) FROM t GROUP BY s", ALL),
    ("AVG(x)", "SUM(x) * 1.0 / COUNT(x)", DOUBLES),
    ("AVG(x)", "CAST(SUM(x) AS REAL) / COUNT(x)", ("sqlite",)),
    ("AVG(x)", "CAST(SUM(x) AS DOUBLE PRECISION) / COUNT(x)", DOUBLES),
    ("AVG(x)", "SUM(x) / COUNT(x)", ("duckdb", "mysql")),
    ("AVG(f)", "SUM(f) / COUNT(f)", ALL),
    ("AVG(x + 1)", "AVG(x) + 1", DOUBLES),
    ("100.0 * SUM(x) / COUNT(*)", "SUM(x) * 1.0 / COUNT(*) * 100", DOUBLES),
    ("AVG(CASE WHEN x > 1 THEN 1.0 ELSE 0 END) * 100", "SUM(CASE WHEN 1 < x THEN 1 ELSE 0 END) * 100.0 / COUNT(*)", DOUBLES),
    ("COUNT(CASE WHEN x > 1 THEN 1 END) * 100.0 / COUNT(*)", "SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END) * 100.0 / COUNT(*)", ("sqlite", "postgres", "mysql")),
    ("ROUND(COUNT(CASE WHEN x > 1 THEN 1 END) * 100.0 / COUNT(*), 2)", "ROUND(100.0 * SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END) / COUNT(*), 2)", ("sqlite", "postgres", "mysql")),
    ("s FROM t GROUP BY s HAVING AVG(x) > 3", "s FROM t GROUP BY s HAVING SUM(x) * 1.0 / COUNT(x) > 3", DOUBLES),
    ("s FROM t GROUP BY s ORDER BY AVG(x) DESC, s LIMIT 3", "s FROM t GROUP BY s ORDER BY 1.0 * SUM(x) / COUNT(x) DESC, s LIMIT 3", DOUBLES),
    ("MAX(x) IS NULL", "COUNT(x) = 0", ALL),
    ("WHERE f - y > 0", "WHERE f > y", ("sqlite",)),
    ("WHERE x > (SELECT AVG(f) FROM t)", "WHERE x > (SELECT SUM(f) * 1.0 / COUNT(f) FROM t)", ("sqlite",)),
    ("SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END) * 1.0 / SUM(CASE WHEN x < 1 THEN 1 ELSE 0 END)", "COUNT(CASE WHEN x > 1 THEN 1 END) * 1.0 / COUNT(CASE WHEN x < 1 THEN 1 END)", ("sqlite", "postgres", "mysql")),
]  # fmt: skip

DIFFERENT = [
    ("WHERE x * 12 > 365", "WHERE x > 31", ALL),
    ("WHERE x * -2 > 4", "WHERE x > -2", ALL),
    ("WHERE x + y > 5", "WHERE x > 5", ALL),
    ("WHERE x + 1 > 5", "WHERE x > 5", ALL),
    ("WHERE x / 2 = 1", "WHERE x = 2", ALL),
    ("WHERE x * 0.1 > 0.3", "WHERE x > 3", ("sqlite",)),  # 3 * 0.1 is more than 0.3
    ("WHERE f * 3 > 0.3", "WHERE f > 0.1", ALL),
    ("WHERE f + 1 > 1", "WHERE f > 0", ALL),
    ("WHERE f - 5 > 1", "WHERE f > 6", ALL),
    ("WHERE n * 3 > 0.3", "WHERE n > 0.1", ("sqlite",)),
    ("WHERE s + 1 > 1", "WHERE s > 0", ("sqlite", "mysql")),
    ("WHERE x * y > 0", "WHERE x > 0", ALL),
    ("WHERE 2147483647 + 1 > 0", "WHERE 1 = 1", ALL),
    ("WHERE 7 / 2 = 3", "WHERE 1 = 1", ("duckdb", "mysql")),
    ("WHERE 1 / 0 IS NULL", "WHERE 1 = 1", ("duckdb", "postgres")),
    ("(x + 1) / 2", "x / 2 + 0.5", ("sqlite", "postgres", "mysql")),
    ("x / 2 * 2", "x", ("sqlite", "postgres")),
    ("x - x", "0", ALL),
    ("x * 1.0 / 2", "x / 2", ("sqlite", "postgres")),
    ("CAST(x AS REAL) / y", "x * 1.0 / y", ("duckdb", "postgres")),
    ("r * 2 / 3", "r / 3 * 2", ("duckdb", "postgres")),
    ("n / 2", "n * 1.0 / 2", ("sqlite",)),  # a NUMERIC may hold a whole number
    ("ROUND(x * 1.0 / y * 100, 2)", "ROUND(x * 100.0 / y, 2)", ALL),
    ("SUM(x + y)", "SUM(x) + SUM(y)", ALL),
    ("SUM(x + 1)", "SUM(x) + COUNT(*)", ALL),
    ("SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END)", "COUNT(CASE WHEN x > 1 THEN 1 END)", ALL),
    ("s, SUM(CASE WHEN x > 1 THEN 1 END) FROM t GROUP BY s", "s, COUNT(CASE WHEN x > 1 THEN 1 END) FROM t GROUP BY s", ALL),
    ("s, SUM(CASE WHEN x > 1 THEN 2 ELSE 0 END) FROM t GROUP BY s", "s, COUNT(CASE WHEN x > 1 THEN 2 END) FROM t GROUP BY s", ALL),
    ("SUM(DISTINCT x + 1)", "SUM(DISTINCT x) + COUNT(x)", ALL),
    ("COUNT(CASE WHEN x > 1 THEN 1 END) * 100.0 / COUNT(*)", "SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END) * 100.0 / COUNT(*)", ("duckdb",)),  # 0 / 0 is NaN, NULL / 0 is NULL
    ("AVG(x)", "SUM(x) * 1.0 / COUNT(x)", ("mysql",)),  # 0.3333 is not 0.33333
    ("AVG(x)", "SUM(x) * 1.0 / COUNT(*)", ALL),
    ("AVG(x)", "SUM(x) / COUNT(x)", ("sqlite", "postgres")),  # which drop the remainder
    ("100.0 * SUM(CASE WHEN x > 1 THEN 1 ELSE 0 END) / COUNT(*)", "100 * COUNT(*) FILTER (WHERE x > 1) / COUNT(*)", ("sqlite",)),
    ("AVG(x > 1)", "COUNT(*) FILTER (WHERE x > 1) * 1.0 / COUNT(*)", ("sqlite",)),
    ("SUM(x > 1)", "COUNT(CASE WHEN x > 1 THEN 1 END)", ("sqlite",)),
    ("AVG(CASE WHEN x > 1 THEN 1 ELSE 0 END)", "COUNT(*) FILTER (WHERE x > 1) / COUNT(*)", ("duckdb",)),  # NaN of 0 / 0
    ("AVG(x) * 3", "AVG(x * 3)", ("mysql",)),
    ("AVG(r)", "SUM(r) / COUNT(r)", ("duckdb", "postgres")),
    ("SUM(big) / 2", "SUM(big + 0.0) / 2", ("sqlite",)),
    ("DISTINCT f / 3 * 3", "DISTINCT f * 3 / 3", ALL),
    ("id FROM t ORDER BY f / 3 * 3, id", "id FROM t ORDER BY f * 3 / 3, id", ALL),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "dialects"), EQUAL)
def test_what_is_computed_alike_is_proved(
    first: str, second: str, dialects: tuple[str, ...]
) -> None:
    """In these dialects, and in either order."""
    for dialect in dialects:
        assert decided(first, second, dialect).verdict == "proved", dialect
        assert decided(second, first, dialect).verdict == "proved", dialect


@pytest.mark.parametrize(("first", "second", "dialects"), DIFFERENT)
def test_what_is_computed_otherwise_is_not_proved(
    first: str, second: str, dialects: tuple[str, ...]
) -> None:
    """Truncation, rounding, NULL, nothing that is summed: each tells them apart."""
    for dialect in dialects:
        assert decided(first, second, dialect).verdict != "proved", dialect
        assert decided(second, first, dialect).verdict != "proved", dialect


def test_without_a_dialect_a_form_holds_in_all() -> None:
    """MySQL cuts quotients off, and SQLite has no decimals."""
    assert decided("WHERE x * 12 > 360", "WHERE x > 30", None).verdict == "proved"
    assert decided("SUM(x) * 1.0 / COUNT(*)", "SUM(x) / COUNT(*)", None).verdict != "proved"
    assert decided("AVG(x)", "SUM(x) * 1.0 / COUNT(x)", None).verdict != "proved"
    assert decided("WHERE n * 3 <= 4.5", "WHERE n <= 1.5", None).verdict != "proved"
    assert decided("SUM(1)", "COUNT(*)", None).verdict != "proved"


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
