"""
Time of table extraction per query, beside the parser alone and two other libraries.

    python -m benchmarks.bench_tables [--full]

The queries are drawn over three tables with joins, subqueries, groups and set operations, as for
the tests of proofs.  Caches are bypassed.
"""

from __future__ import annotations

import contextlib
import logging
import statistics
import time
from collections.abc import Callable

import sqlglot

from benchmarks.machine import alone
from benchmarks.queries import pairs
from scorekit._sql.base_tables import tables_of
from scorekit._sql.parsing import parse

ROUNDS = 5


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


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    logging.disable(logging.CRITICAL)
    queries = [query for pair in pairs(500 if full else 50) for query in pair]
    calls: dict[str, Callable[[str], object]] = {
        "sqlglot.parse_one": lambda sql: sqlglot.parse_one(sql, read="sqlite"),
        "scorekit": lambda sql: tables_of(parse(sql, "sqlite")),
        **others(),
    }
    times = {name: [seconds(call, sql) for sql in queries] for name, call in calls.items()}
    base = statistics.median(times["scorekit"])
    build = "pure Python" if sqlglot.tokens.__file__.endswith(".py") else "compiled"
    print(f"{len(queries)} queries, sqlglot in its {build} build\n")
    print("| | median | mean | slowest | median / scorekit's |\n|---|---:|---:|---:|---:|")
    for name, column in times.items():
        middle, mean, worst = statistics.median(column), statistics.fmean(column), max(column)
        print(
            f"| {name} | {1e6 * middle:.0f} us | {1e6 * mean:.0f} us | {1e3 * worst:.1f} ms | "
            f"{middle / base:.2f} |"
        )


if __name__ == "__main__":
    alone(main)
