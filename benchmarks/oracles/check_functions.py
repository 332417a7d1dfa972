"""
Functions as the sandbox computes them, against the databases that have them.

    python -m benchmarks.oracles.check_functions [--postgres DSN] [--mysql HOST:PORT:USER]

Each row of `FUNCTIONS` in `scorekit._sql.databases.functions` that is computed is called with all
combinations of some edge values, in DuckDB and in the servers that are named.  A value must be
the database's; a call that the sandbox refuses may be anything.  The exit status is 1 if any
value differs.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import math
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from importlib import import_module
from typing import Any

from benchmarks.machine import machine
from scorekit._sql.databases.computed import NoValueError
from scorekit._sql.databases.functions import FUNCTIONS, Function, arity

VALUES: dict[str, tuple[Any, ...]] = {
    "text": ("", "a", "abc", "aXbXc", "  pad ", "2012-08-24", "10", None),
    "integer": (0, 1, 2, 3, 7, -1, None),
    "number": (
        0, 1, -3, Decimal("2.5"), Decimal("-2.567"), Decimal("1234.5678"), Decimal("0.05"), None,
    ),
    "real": (0, 4, Decimal("2.25"), -1, None),
    "boolean": (True, False, None),
    "time": (
        dt.date(2020, 2, 29), dt.date(2021, 12, 31), dt.date(1969, 7, 20), dt.date(2024, 1, 1),
        dt.datetime(2020, 3, 31, 23, 59, 58), None,  # noqa: DTZ001 - days without a zone
    ),
    "any": ("a", "b", "", None),
}  # fmt: skip
UNITS = ("year", "quarter", "month", "week", "day", "dow", "doy", "hour", "minute")
UNITED = ("date_trunc", "date_part", "datediff", "date_diff", "timestampdiff")
WINDOWS = ("ntile", "first_value", "last_value", "nth_value", "row_number", "rank", "dense_rank")
FORMATS = {
    "to_char": ("YYYY-MM-DD HH24:MI:SS", "%Y-%m-%d %H:%M:%S"),
    "date_format": ("%Y-%m-%d %H:%i:%S", "%Y-%m-%d %H:%M:%S"),
    "strftime": ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S"),
    "to_date": ("YYYY-MM-DD", "%Y-%m-%d"),
    "str_to_date": ("%Y-%m-%d", "%Y-%m-%d"),
}
"""Formats of times as a database has them, and as the sandbox does."""
MOST = 400
"""Calls of a function."""

Run = Callable[[str], Any]


def written(value: Any, dialect: str) -> str:
    """Write a value as a literal of a dialect."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{value}'"
    if isinstance(value, dt.date):
        return f"DATE '{value}'"
    if isinstance(value, str):
        return f"'{value}'"
    decimal = isinstance(value, Decimal) and dialect != "sqlite"
    return f"CAST({value} AS DECIMAL(20, 6))" if decimal else str(value)


def given(value: Any) -> Any:
    """Return a value as the sandbox holds it."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.datetime | dt.date):
        return str(value).removesuffix(" 00:00:00")
    return int(value) if isinstance(value, bool) else value


def calls(row: Function) -> Iterator[tuple[Any, ...]]:
    """Yield arguments for a function."""
    least, most = arity(row.arguments)
    words = [word.strip("[]") for word in row.arguments.split() if word != "..."]
    for n in range(max(least, 0), min(most, 3) + 1):
        kinds = (words + words[-1:] * 3)[:n] if words else []
        pools = [VALUES.get(kind, VALUES["any"]) for kind in kinds]
        if row.name in UNITED and n > 1 and kinds[0] in ("text", "any"):
            pools[0] = UNITS
        if row.name in FORMATS and n > 1:
            pools = [VALUES["text" if row.returns == "time" else "time"], FORMATS[row.name][:1]]
        yield from itertools.islice(itertools.product(*pools), MOST)


def computed(row: Function, arguments: tuple[Any, ...]) -> Any:
    """Return what the sandbox computes."""
    values = [given(value) for value in arguments]
    if isinstance(row.compute, str):
        connection = sqlite3.connect(":memory:")
        marks = [written(value, "sqlite") for value in values]
        marks += ["NULL"] * 4
        return connection.execute("SELECT " + row.compute.format(*marks)).fetchone()[0]
    if row.null == "any" and None in values:
        return None
    if row.name in FORMATS:
        values[1] = FORMATS[row.name][1]
    assert row.compute is not None
    return row.compute(*values)


def call(row: Function, dialect: str, arguments: tuple[Any, ...]) -> str:
    """Write a call."""
    listed = [written(value, dialect) for value in arguments]
    if row.name == "timestampdiff":
        listed[0] = arguments[0]
    if row.name in ("extract", "date_part") and dialect == "mysql":
        return f"SELECT EXTRACT({arguments[0]} FROM {listed[1]})"  # noqa: S608 - our own values
    return f"SELECT {row.name}({', '.join(listed)})"


def same(own: Any, other: Any) -> bool:
    """Say whether two values are alike."""
    if isinstance(other, dt.datetime):
        other = str(other.replace(tzinfo=None)).removesuffix(" 00:00:00")
    elif isinstance(other, dt.date):
        other = str(other)
    if isinstance(other, bool):
        other = int(other)
    if isinstance(own, int | float) and isinstance(other, int | float | Decimal):
        return math.isclose(own, float(other), rel_tol=1e-9, abs_tol=1e-9)
    return bool(own == other)


def engines(options: argparse.Namespace) -> Iterator[tuple[str, Run]]:
    """Yield what runs a query in each database."""
    duckdb = import_module("duckdb").connect()
    yield "duckdb", lambda text: duckdb.execute(text).fetchone()[0]
    if options.postgres:
        postgres = import_module("psycopg2").connect(options.postgres)
        postgres.autocommit = True
        yield "postgres", lambda text: _fetched(postgres.cursor(), text)
    if options.mysql:
        host, port, user = options.mysql.split(":")
        mysql = import_module("pymysql").connect(host=host, port=int(port), user=user)
        yield "mysql", lambda text: _fetched(mysql.cursor(), text)


def _fetched(cursor: Any, text: str) -> Any:
    cursor.execute(text)
    return cursor.fetchone()[0]


def compare(row: Function, dialect: str, run: Run, counts: Counter[str], wrong: list[str]) -> None:
    """Call a function in a database and as the sandbox does."""
    if row.name in WINDOWS or row.arguments == "":
        return
    for arguments in calls(row):
        text = call(row, dialect, arguments)
        try:
            own = computed(row, arguments)
        except (NoValueError, TypeError, ArithmeticError, sqlite3.Error):
            counts["refused"] += 1
            continue
        try:
            other = run(text)
        except Exception as error:  # noqa: BLE001 - of three engines, each with its own
            counts["not run"] += 1
            if own is not None and not counts[f"shown {row.name}"]:
                counts[f"shown {row.name}"] += 1
                print(f"not run in {dialect}: {text}: {str(error).splitlines()[0]}")
            continue
        counts["compared"] += 1
        if not same(own, other):
            wrong.append(f"{dialect}: {text} is {other!r}, computed {own!r}")


def main() -> int:
    """Print how many calls were compared, then the differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--postgres", default="")
    parser.add_argument("--mysql", default="")
    print(f"{machine()}\n")
    wrong: list[str] = []
    for dialect, run in engines(parser.parse_args()):
        counts: Counter[str] = Counter()
        for row in FUNCTIONS:
            if dialect in row.dialects.split() and row.compute and not row.aggregate:
                compare(row, dialect, run, counts, wrong)
        print(dialect, {name: n for name, n in counts.items() if not name.startswith("shown")})
    print(f"different: {len(wrong)}", *wrong[:80], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
