"""
Time of table extraction per query, beside the parser alone and two other libraries.

    python benchmarks/bench_tables.py [queries.jsonl ...]

Each line of a file is a JSON object; its texts under "generated" and "expected" are taken.
Without a file a few built-in queries are timed.  Caches are bypassed.
"""

from __future__ import annotations

import contextlib
import json
import logging
import statistics
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import sqlglot

from scorekit._sql.base_tables import tables_of
from scorekit._sql.parsing import parse

BUILT_IN = [
    "SELECT name FROM users WHERE age > 30",
    "SELECT u.name, COUNT(*) FROM users u JOIN orders o ON o.uid = u.id GROUP BY u.name",
    "WITH t AS (SELECT * FROM a.b) SELECT * FROM t WHERE x IN (SELECT x FROM c)",
]
ROUNDS = 5


def read(paths: list[str]) -> list[str]:
    """Return the queries of all files."""
    lines = [line for path in paths for line in Path(path).read_text().splitlines()]
    rows = [json.loads(line) for line in lines]
    return [row[key] for row in rows for key in ("generated", "expected") if key in row]


def others() -> dict[str, Callable[[str], object]]:
    """Return the peers that are installed."""
    found: dict[str, Callable[[str], object]] = {}
    try:
        import sql_metadata

        found["sql-metadata"] = lambda sql: sql_metadata.Parser(sql).tables
    except ImportError:
        pass
    try:
        from sqllineage.runner import LineageRunner

        found["sqllineage"] = lambda sql: LineageRunner(sql, dialect="ansi").source_tables
    except ImportError:
        pass
    return found


def seconds(call: Callable[[str], object], sql: str) -> float:
    """Return the best of some rounds, also where the call fails."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.perf_counter()
        with contextlib.suppress(Exception):  # a refusal takes time too
            call(sql)
        best = min(best, time.perf_counter() - started)
    return best


def main() -> None:
    """Print one Markdown table."""
    logging.disable(logging.CRITICAL)
    queries = read(sys.argv[1:]) or BUILT_IN
    calls: dict[str, Callable[[str], object]] = {
        "sqlglot.parse_one": lambda sql: sqlglot.parse_one(sql, read="sqlite"),
        "scorekit": lambda sql: tables_of(parse(sql, "sqlite")),
        **others(),
    }
    times = {name: [seconds(call, sql) for sql in queries] for name, call in calls.items()}
    base = statistics.median(times["scorekit"])
    build = "pure Python" if sqlglot.tokens.__file__.endswith(".py") else "compiled"
    print(f"{len(queries)} queries, sqlglot {version('sqlglot')}, {build}\n")
    print("| | median | mean | slowest | median / scorekit's |\n|---|---:|---:|---:|---:|")
    for name, column in times.items():
        middle, mean, worst = statistics.median(column), statistics.fmean(column), max(column)
        print(
            f"| {name} | {1e6 * middle:.0f} us | {1e6 * mean:.0f} us | {1e3 * worst:.1f} ms | "
            f"{middle / base:.2f} |"
        )


if __name__ == "__main__":
    main()
