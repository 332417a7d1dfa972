"""Dates and texts: which conditions are one in which dialect, and by what that rests on."""

# ruff: noqa: E501 - a list of conditions stands on one line

from __future__ import annotations

import random
import sqlite3
from itertools import pairwise

import pytest

from scorekit import SqlEquivalence, sql_equivalence

SCHEMA = {
    "t": {
        "id": "INTEGER PRIMARY KEY", "n": "VARCHAR(20)", "c": "CHAR(5)", "x": "INTEGER",
        "d": "DATE", "at": "TIMESTAMP", "day": "VARCHAR(20)",
    },
}  # fmt: skip


def verdict(first: str, second: str, dialect: str | None) -> str:
    """Return the verdict on two conditions."""
    return _decided(first, second, dialect).verdict


def _decided(first: str, second: str, dialect: str | None) -> SqlEquivalence:
    one, two = (f"SELECT id FROM t WHERE {condition}" for condition in (first, second))
    return sql_equivalence(one, two, schema=SCHEMA, dialect=dialect, n_databases=1)


# Conditions that are all one.
EQUAL = [
    ("sqlite", ["strftime('%Y', {}) = '2014'", "SUBSTR({}, 1, 4) = '2014'", "{} LIKE '2014-%'", "{} BETWEEN '2014-01-01' AND '2014-12-31'", "{} >= '2014-01-01' AND {} < '2015-01-01'", "CAST(strftime('%Y', {}) AS INTEGER) = 2014", "NOT strftime('%Y', {}) <> '2014'"], ("d", "day")),
    ("sqlite", ["strftime('%Y-%m', {}) = '2014-02'", "{} BETWEEN '2014-02-01' AND '2014-02-28'", "strftime('%Y', {}) = '2014' AND strftime('%m', {}) = '02'", "SUBSTR({}, 1, 7) = '2014-02'", "{} LIKE '2014-02%'"], ("d", "day")),
    ("sqlite", ["strftime('%Y', {}) > '2013'", "{} >= '2014-01-01'", "{} > '2013-12-31'", "2014 <= CAST(strftime('%Y', {}) AS INTEGER)"], ("d", "day")),
    ("sqlite", ["strftime('%m', {}) = '05'", "CAST(strftime('%m', {}) AS INTEGER) = 5", "SUBSTR({}, 6, 2) = '05'", "{} LIKE '%-05-%'"], ("d", "day")),
    ("sqlite", ["date({}) = '2014-05-05'", "{} = '2014-05-05'", "strftime('%Y-%m-%d', {}) = '2014-05-05'"], ("d", "day")),
    ("sqlite", ["date({}) = '2014-05-05'", "{} >= '2014-05-05' AND {} < '2014-05-06'"], ("at",)),
    ("postgres", ["EXTRACT(YEAR FROM {}) = 2014", "date_part('year', {}) = 2014", "to_char({}, 'YYYY') = '2014'", "date_trunc('year', {}) = '2014-01-01'", "{} >= '2014-01-01' AND {} < '2015-01-01'"], ("d", "at")),
    ("postgres", ["d BETWEEN DATE '2014-01-01' AND DATE '2014-12-31'", "EXTRACT(YEAR FROM d) = 2014", "CAST(d AS TEXT) LIKE '2014-%'"], ("",)),
    ("postgres", ["EXTRACT(YEAR FROM {}) = 2014 AND EXTRACT(MONTH FROM {}) = 12", "to_char({}, 'YYYY-MM') = '2014-12'", "date_trunc('month', {}) = '2014-12-01'"], ("d", "at")),
    ("mysql", ["YEAR({}) = 2014", "EXTRACT(YEAR FROM {}) = 2014", "DATE_FORMAT({}, '%Y') = '2014'", "{} >= '2014-01-01' AND {} < '2015-01-01'"], ("d", "at")),
    ("duckdb", ["YEAR({}) = 2014", "EXTRACT(YEAR FROM {}) = 2014", "strftime({}, '%Y') = '2014'", "{} >= '2014-01-01' AND {} < '2015-01-01'"], ("d", "at")),
    ("duckdb", ["SUBSTR(day, 1, 4) = '2014'", "LEFT(day, 4) = '2014'", "day LIKE '2014-%'", "day BETWEEN '2014-01-01' AND '2014-12-31'"], ("",)),
    ("sqlite", ["INSTR(LOWER(n), 'hey') > 0", "n LIKE '%hey%'", "INSTR(UPPER(n), 'HEY') >= 1", "UPPER(n) LIKE '%HEY%'", "INSTR(LOWER(n), LOWER('Hey')) <> 0"], ("",)),
    ("sqlite", ["n LIKE 'A%'", "SUBSTR(n, 1, 1) IN ('A', 'a')", "LOWER(SUBSTR(n, 1, 1)) = 'a'", "SUBSTR(UPPER(n), 1, 1) = 'A'"], ("",)),
    ("sqlite", ["LOWER(n) = 'us'", "n = 'US' COLLATE NOCASE", "n COLLATE NOCASE = 'us'", "UPPER(n) = UPPER('us')", "n LIKE 'Us'"], ("",)),
    ("sqlite", ["INSTR(n, '12') > 0", "n LIKE '%12%'"], ("",)),
    ("postgres", ["STRPOS(n, 'hey') > 0", "POSITION('hey' IN n) >= 1", "n LIKE '%hey%'"], ("",)),
    ("postgres", ["SUBSTR(n, 1, 2) = 'Us'", "LEFT(n, 2) = 'Us'", "n LIKE 'Us%'"], ("",)),
    ("postgres", ["STRPOS(LOWER(n), 'hey') > 0", "LOWER(n) LIKE '%hey%'"], ("",)),
    ("duckdb", ["n = 'us'", "n LIKE 'us'"], ("",)),
    ("mysql", ["LEFT(n, 2) = 'us'", "SUBSTR(n, 1, 2) = 'us'"], ("",)),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "ways", "columns"), EQUAL)
def test_ways_to_ask_for_the_same_are_one(
    dialect: str, ways: list[str], columns: tuple[str, ...]
) -> None:
    """Each is proved equal to the next one."""
    for column in columns:
        for first, second in pairwise(way.replace("{}", column) for way in ways):
            assert verdict(first, second, dialect) == "proved", (first, second)


@pytest.mark.parametrize(("dialect", "first", "second", "rests"), [
    ("sqlite", "strftime('%Y', d) = '2014'", "d LIKE '2014-%'", ("t.d holds ISO dates",)),
    ("sqlite", "strftime('%Y', at) = '2014'", "SUBSTR(at, 1, 4) = '2014'", ("t.at holds ISO times",)),
    ("postgres", "EXTRACT(YEAR FROM d) = 2014", "d >= '2014-01-01' AND d <= '2014-12-31'", ()),
    ("postgres", "EXTRACT(YEAR FROM d) = 2014", "to_char(d, 'YYYY') = '2014'", ("t.d holds ISO dates",)),  # no year of five digits
    ("postgres", "SUBSTR(day, 1, 4) = '2014'", "day < '2015-01-01' AND day >= '2014-01-01'", ("t.day holds ISO dates",)),
    ("mysql", "d > '2013-12-31'", "d >= '2014-01-01'", ()),
    ("sqlite", "LOWER(n) = 'us'", "n = 'us' COLLATE NOCASE", ("t.n holds text",)),
    ("postgres", "LEFT(n, 1) = 'a'", "n LIKE 'a%'", ()),
])  # fmt: skip
def test_what_columns_hold_is_an_assumption(
    dialect: str, first: str, second: str, rests: tuple[str, ...]
) -> None:
    """By name, where a type leaves it open."""
    assert _decided(first, second, dialect).assumptions == rests


def _condition(rng: random.Random) -> str:
    """Return a condition on a day or a text."""
    year, month = rng.choice((2013, 2014)), rng.choice(("01", "02", "12"))
    sign, last = rng.choice(("=", "<", "<=", ">", ">=", "<>")), rng.choice(("28", "31", "01"))
    text = rng.choice(("a", "us", "1", "A", "ab"))
    return rng.choice(
        (
            f"strftime('%Y', d) {sign} '{year}'", f"CAST(strftime('%Y', d) AS INTEGER) {sign} {year}",
            f"SUBSTR(d, 1, 7) {sign} '{year}-{month}'", f"d {sign} '{year}-{month}-{last}'",
            f"d LIKE '{year}-%'", f"d LIKE '{year}-{month}-%'", f"strftime('%m', d) {sign} '{month}'",
            f"d BETWEEN '{year}-01-01' AND '{year}-12-{last}'", f"date(d) {sign} '{year}-01-01'",
            f"strftime('%Y', d) = '{year}' AND strftime('%m', d) = '{month}'",
            f"d >= '{year}-{month}-01' AND d <= '{year}-{month}-{last}'", f"CAST(SUBSTR(d, 6, 2) AS INTEGER) {sign} {int(month)}",
            f"n LIKE '{text}%'", f"n LIKE '%{text}%'", f"n LIKE '{text}'", f"LOWER(n) = '{text}'", f"UPPER(n) = UPPER('{text}')",
            f"INSTR(LOWER(n), '{text}') {sign} 0", f"INSTR(n, '{text}') > 0", f"SUBSTR(n, 1, {len(text)}) = '{text}'",
            f"LOWER(SUBSTR(n, 1, {len(text)})) = '{text}'", f"SUBSTR(n, 1, 1) IN ('{text[0]}', '{text[0].upper()}')", f"n = '{text}' COLLATE NOCASE",
        )
    )  # fmt: skip


def test_conditions_that_are_proved_equal_choose_the_same_rows_in_sqlite() -> None:
    """Oracle: days around each bound, and texts in upper and lower case."""
    rng = random.Random(43)  # noqa: S311 - for tests
    days = [None, *(f"{y}-{m}-{d}" for y in (2012, 2013, 2014, 2015) for m in ("01", "02", "03", "11", "12") for d in ("01", "02", "27", "28", "29", "30", "31") if (m, d) not in {("02", "29"), ("02", "30"), ("02", "31"), ("11", "31")})]  # fmt: skip
    names = [None, "", "a", "A", "us", "US", "Us", "xus", "1", "a1", "ab", "Ab", "AB", "b", "é"]
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, d DATE, n VARCHAR(20))")
    rows = [(day, names[i % len(names)]) for i, day in enumerate(days * 3)]
    connection.executemany("INSERT INTO t (d, n) VALUES (?, ?)", rows)
    texts = [_condition(rng) for _ in range(200)]
    chosen = {
        text: tuple(connection.execute(f"SELECT id FROM t WHERE {text}").fetchall())
        for text in texts
    }
    alike: dict[object, list[str]] = {}
    for text in dict.fromkeys(texts):
        alike.setdefault(chosen[text], []).append(text)
    n_proved = 0
    for _ in range(120):
        first = rng.choice(texts)
        second = rng.choice(alike[chosen[first]] if rng.random() < 0.5 else texts)
        if first != second and verdict(first, second, "sqlite") == "proved":
            assert chosen[first] == chosen[second], (first, second)
            n_proved += 1
    assert n_proved > 15
