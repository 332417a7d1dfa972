"""Tests for days that PostgreSQL computes of a day that is written out."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorekit._sql.meaning.moments import moved
from scorekit._sql.meaning.tree import Cast, Function, Literal, Scalar, integer


def cast(text: str, type_: str = "DATE") -> Cast:
    """Return a day that is written out."""
    return Cast(Literal("text", text), "time", type_, safe=False)


def interval(amount: str, unit: str) -> Function:
    """Return an interval as it is read."""
    return Function("interval", (Literal("text", amount),), f"unit={unit}", certain=False)


# What PostgreSQL 15 returns.
@pytest.mark.parametrize(("left", "sign", "right", "found"), [
    (cast("2020-01-31"), "+", interval("1", "MONTH"), ("TIMESTAMP", "2020-02-29")),
    (cast("2020-03-31"), "-", interval("1", "months"), ("TIMESTAMP", "2020-02-29")),
    (cast("2020-02-29"), "+", interval("1", "YEAR"), ("TIMESTAMP", "2021-02-28")),
    (cast("2020-01-31"), "+", interval("-1", "DAY"), ("TIMESTAMP", "2020-01-30")),
    (cast("2020-01-31", "TIMESTAMP"), "+", interval("2", "WEEKS"), ("TIMESTAMP", "2020-02-14")),
    (cast("2020-01-31"), "+", integer(1), ("DATE", "2020-02-01")),
    (cast("2020-03-01"), "-", integer(1), ("DATE", "2020-02-29")),
    (cast("2020-01-31", "TIMESTAMP"), "+", integer(1), None),
    (cast("2020-01-31"), "*", integer(1), None),
    (cast("2020-01-31"), "+", integer(100_000), None),
    (cast("2020-01-31"), "+", interval("36", "HOURS"), None),
    (cast("2020-01-31"), "+", interval("1.5", "DAYS"), None),
    (cast("2020-01-31"), "+", interval("1 month 2 days", ""), None),
    (cast("2020-01-31", "TIMESTAMPTZ"), "+", interval("1", "DAY"), None),
    (cast("2020-01-31 10:00:00", "TIMESTAMP"), "+", interval("1", "DAY"), None),
    (cast("2020-02-30"), "+", interval("1", "DAY"), None),
    (cast("9999-12-31"), "+", interval("1", "DAY"), None),
    (cast("0001-01-31"), "-", interval("1", "MONTH"), None),
    (Literal("text", "2020-01-31"), "+", interval("1", "DAY"), None),
    (cast("2020-01-31"), "+", cast("2020-01-31"), None),
])  # fmt: skip
def test_a_day_moves_as_in_postgresql(
    left: Scalar, sign: str, right: Scalar, found: tuple[str, str] | None
) -> None:
    """An interval makes a timestamp; what is not whole days, or of a calendar, stays as it is."""
    expected = None if found is None else cast(found[1], found[0])
    assert moved(sign, left, right) == expected


@given(
    st.dates(dt.date(1000, 1, 1), dt.date(3000, 1, 1)),
    st.integers(-500, 500),
    st.sampled_from(["DAY", "WEEKS", "MONTH", "YEARS"]),
    st.sampled_from("+-"),
)
def test_a_day_moves_as_in_duckdb(day: dt.date, n: int, unit: str, sign: str) -> None:
    """Oracle: DuckDB, which agrees with PostgreSQL about these."""
    duckdb = pytest.importorskip("duckdb")
    found = moved(sign, cast(str(day)), interval(str(n), unit))
    asked = f"SELECT DATE '{day}' {sign} INTERVAL '{n} {unit}'"
    (moment,) = duckdb.connect().execute(asked).fetchone()
    assert found == cast(str(moment.date()), "TIMESTAMP")
    assert moment.time() == dt.time()
