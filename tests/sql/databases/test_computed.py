"""Functions of databases as the sandbox computes them: values that three databases gave."""

# ruff: noqa: E501 - a value stands beside others of its function

from __future__ import annotations

from typing import Any

import pytest

from scorekit._sql.databases import computed
from scorekit._sql.databases.computed import NoValueError
from scorekit._sql.databases.functions import FUNCTIONS, arity

# fmt: off
VALUES: list[tuple[str, tuple[Any, ...], Any]] = [
    ("substr", ("abcd", 2, 2), "bc"), ("substr", ("abcd", 3), "cd"), ("substr", ("ab", 5, 1), ""),
    ("left", ("abcd", 2), "ab"), ("right", ("abcd", 3), "bcd"), ("right", ("ab", 0), ""),
    ("right", ("ab", 9), "ab"), ("trim", ("  a ",), "a"), ("trim", ("xax", "x"), "a"),
    ("trim", (" a ", ""), " a "), ("ltrim", ("  a ",), "a "), ("ltrim", ("xxa", "x"), "a"),
    ("ltrim", ("a", ""), "a"), ("rtrim", (" a  ",), " a"), ("rtrim", ("axx", "x"), "a"),
    ("rtrim", ("a", ""), "a"), ("replace", ("aba", "a", "c"), "cbc"), ("replace", ("a", "", "b"), "a"),
    ("replace", ("a", "a", None), None),
    ("lpad", ("7", 3, "0"), "007"), ("lpad", ("abcd", 2), "ab"),
    ("concat", ("a", None, 1), "a1"),
    ("concat_ws", ("-", "a", None, "b"), "a-b"), ("concat_ws", (None, "a"), None),
    ("position", ("abc", "c"), 3), ("position", ("abc", ""), 1), ("position", ("abc", "x"), 0),
    ("locate", ("a", "aba", 2), 3), ("split_part", ("a-b", "-", 2), "b"),
    ("split_part", ("a-b", "-", 3), ""), ("substring_index", ("a-b-c", "-", 2), "a-b"),
    ("substring_index", ("a-b-c", "-", -1), "c"), ("substring_index", ("a", "", 1), ""),

    ("round_", (2.567, 1), 2.6), ("round_", (2.4,), 2.0),
    ("ceil", (2.1,), 3.0), ("floor", (-2.1,), -3.0), ("trunc", (-2.567, 1), -2.5),
    ("to_whole", (2.6,), 3), ("power", (2, 3), 8.0), ("sqrt", (9,), 3.0),
    ("greatest", (1, None, 3), 3), ("least", ("b", "a"), "a"),
    ("greatest", (None, None), None), ("as_date", ("2020-01-31 10:00:00",), "2020-01-31"),
    ("date_part", ("year", "2020-02-29"), 2020.0), ("date_part", ("dow", "2020-03-01"), 0.0),
    ("date_part", ("isodow", "2020-03-01"), 7.0), ("date_part", ("week", "2021-01-01"), 53.0),
    ("year", ("2020-02-29",), 2020), ("quarter", ("2020-04-01",), 2), ("month", ("2020-04-01",), 4),
    ("day", ("2020-04-09",), 9),
    ("hour", ("2020-01-01 23:59:58",), 23), ("minute", ("2020-01-01 23:59:58",), 59),
    ("second", ("2020-01-01 23:59:58",), 58), ("monthname", ("2020-04-01",), "April"),
    ("dayname", ("2020-03-01",), "Sunday"),
    ("date_trunc", ("year", "2020-05-17 10:11:12"), "2020-01-01"),
    ("date_trunc", ("quarter", "2020-05-17"), "2020-04-01"),
    ("date_trunc", ("month", "2020-05-17"), "2020-05-01"),
    ("date_trunc", ("week", "2020-05-17"), "2020-05-11"),
    ("date_trunc", ("day", "2020-05-17 10:11:12"), "2020-05-17"),
    ("date_trunc", ("hour", "2020-05-17 10:11:12"), "2020-05-17 10:00:00"),
    ("date_trunc", ("minute", "2020-05-17 10:11:12"), "2020-05-17 10:11:00"),
    ("format_time", ("1969-07-20 20:17:40", "%Y-%m %H:%M"), "1969-07 20:17"),
    ("datediff", ("2020-03-01", "2020-02-28"), 2),
    ("boundaries", ("day", "2020-02-28", "2020-03-01"), 2),
    ("boundaries", ("month", "2020-01-31", "2020-02-01"), 1),
    ("boundaries", ("year", "2019-12-31", "2020-01-01"), 1),
    ("whole_units", ("month", "2020-01-31", "2020-02-29"), 0),
    ("whole_units", ("year", "2020-02-29", "2024-02-29"), 4),
    ("whole_units", ("quarter", "2020-05-01", "2020-01-01"), -1),
    ("whole_units", ("hour", "2020-01-01", "2020-01-02"), 24),
    ("add_time", ("2020-01-31", 1, "month"), "2020-02-29"),
    ("add_time", ("2020-02-29", -1, "year"), "2019-02-28"),
    ("add_time", ("2020-01-01", 90, "minute"), "2020-01-01 01:30:00"),
    ("add_time", ("2020-01-01", -1, "quarter"), "2019-10-01"),
    ("as_decimal", (2.567, 5, 1), 2.6), ("text_number", ("-1.50",), -1.5), ("text_whole", ("201208",), 201208),
    ("text_date", ("2020-02-29 10:00",), "2020-02-29"), ("text_moment", ("2020-02-29",), "2020-02-29"),
    ("text_moment", ("2020-02-29 10:00",), "2020-02-29 10:00:00"), ("to_date", (None, "%Y"), None),
    ("to_date", ("201208", "%Y%m"), "2012-08-01"), ("str_to_date", ("20120809", "%Y%m%d"), "2012-08-09"),
]
REFUSED: list[tuple[str, tuple[Any, ...]]] = [
    ("substr", ("abc", 0, 2)), ("left", ("abc", -1)), ("lpad", ("a", 2, "")),
    ("concat", (1.5,)), ("locate", ("", "a")), ("split_part", ("a", "-", -1)),
    ("replace", ("a", "", None)), ("round_", (2.5,)), ("round_", (0.25, 1)), ("round_", (1, 99)),
    ("ceil", (3.00000000001,)), ("trunc", (0.29999999999, 1)), ("power", (-1, 0.5)),
    ("power", (0, -1)), ("sqrt", (-1,)), ("greatest", (1, "a")),
    ("as_date", ("abc",)), ("date_part", ("century", "2020-01-01")), ("year", ("2020-02-30",)),
    ("date_trunc", ("decade", "2020-01-01")),
    ("boundaries", ("week", "2020-01-01", "2020-02-01")),
    ("whole_units", ("decade", "2020-01-01", "2020-02-01")), ("add_time", ("2020-01-01", 1, "eon")),
    ("add_time", ("9999-12-31", 1, "day")), ("add_time", ("9999-12-31", 1, "month")),
    ("as_decimal", (1e6, 8, 2)), ("to_whole", (3e9,)), ("text_number", ("1e5",)), ("text_number", (" 1",)), ("text_whole", ("1.0",)),
    ("text_moment", ("20200229",)), ("text_date", ("2020-02-30",)), ("to_date", ("2012", "%Y")),
    ("to_date", ("2012-8-1", "%Y-%m-%d")), ("to_date", ("a", "%Y-%m-%d")),
    ("str_to_date", ("201208", "%Y%m")),
]
# fmt: on


@pytest.mark.parametrize(("name", "arguments", "value"), VALUES)
def test_values(name: str, arguments: tuple[Any, ...], value: object) -> None:
    """As DuckDB, PostgreSQL and MariaDB have them, those of the three that have the function."""
    found = getattr(computed, name)(*arguments)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("name", "arguments"), REFUSED)
def test_what_databases_do_not_agree_on_is_refused(name: str, arguments: tuple[Any, ...]) -> None:
    """Halves, numbers that are whole but for rounding, places before a text, days out of range."""
    with pytest.raises(NoValueError):
        getattr(computed, name)(*arguments)


def test_all_that_is_computed_is_tested() -> None:
    """Each function of the table stands above with a value."""
    tested = {name for name, _, _ in VALUES}
    used = {row.compute for row in FUNCTIONS if callable(row.compute)}
    assert {getattr(computed, name) for name in tested} >= used


# fmt: off
ROWS = [
    ("substr", ("abcd", 2, 2)), ("left", ("abcd", 2)), ("right", ("abcd", 3)), ("lpad", ("7", 3, "0")),
    ("split_part", ("a-b", "-", 2)), ("round", (2.567, 1)), ("trunc", (2.567,)), ("ceil", (2.1,)),
    ("date_part", ("week", "2021-01-01")), ("date_trunc", ("month", "2020-05-17")),
    ("monthname", ("2020-04-01",)), ("greatest", (1, None, 3)),
    ("date_diff", ("month", "2020-01-31", "2020-02-01")), ("strpos", ("abc", "c")),
    ("concat_ws", ("-", "a", None, "b")), ("replace", ("aba", "a", "c")),
]
# fmt: on


@pytest.mark.parametrize(("name", "arguments"), ROWS)
def test_values_of_duckdb(name: str, arguments: tuple[Any, ...]) -> None:
    """Oracle: DuckDB, as benchmarks/oracles/check_functions.py asks it and two servers about all rows."""
    duckdb = pytest.importorskip("duckdb")
    (row,) = (one for one in FUNCTIONS if one.name == name and "duckdb" in one.dialects)
    least, most = arity(row.arguments)
    assert least <= len(arguments) <= most
    assert callable(row.compute)
    listed = [
        "NULL" if part is None else f"DATE '{part}'" if str(part)[:2] == "20" else repr(part)
        for part in arguments
    ]
    (value,) = duckdb.connect().execute(f"SELECT {name}({', '.join(listed)})").fetchone()
    own: Any = row.compute(*arguments)
    number = isinstance(own, int | float)
    assert own == (pytest.approx(float(value)) if number else str(value).removesuffix(" 00:00:00"))
