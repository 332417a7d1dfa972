"""
Time to decide whether two queries are equivalent, beside plain execution of the pair.

    python -m benchmarks.timings.bench_equivalence [--full]

The pairs are drawn as for the tests of proofs: three of five are two ways to write one query.
The peers run both queries once on one empty database, which they create: SQLite, and DuckDB if
it is installed.
"""

from __future__ import annotations

import contextlib
import sqlite3
import statistics
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

from benchmarks.generators.queries import TABLES, pairs
from benchmarks.machine import alone
from scorekit import sql_equivalence

Schema = dict[str, dict[str, str]]


def in_sqlite(a: str, b: str, schema: Schema) -> None:
    """Run a pair in SQLite."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        for statement in (*definitions(schema), a, b):
            connection.execute(statement)


def in_duckdb(a: str, b: str, schema: Schema) -> None:
    """Run a pair in DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        for statement in (*definitions(schema), a, b):
            connection.execute(statement)


def definitions(schema: Schema) -> list[str]:
    """Return the statements that make the tables."""
    listed = {
        table: ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        for table, columns in schema.items()
    }
    return [f"CREATE TABLE {table} ({columns})" for table, columns in listed.items()]


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes, also where it fails."""
    started = time.perf_counter()
    with contextlib.suppress(Exception):  # a query may be wrong
        call()
    return time.perf_counter() - started


def main(*, full: bool = False) -> None:
    """Print one Markdown table and the verdicts."""
    drawn = list(pairs(500 if full else 50))
    verdicts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()

    def decide(a: str, b: str, schema: Schema) -> None:
        result = sql_equivalence(a, b, schema=schema, dialect="sqlite")
        verdicts[result.verdict] += 1
        if result.verdict == "unknown":
            reasons[result.reason] += 1

    peers: dict[str, Callable[[str, str, Schema], None]] = {
        "scorekit": decide,
        "sqlite3": in_sqlite,
    }
    if find_spec("duckdb") is not None:
        peers["duckdb"] = in_duckdb
    times: dict[str, list[float]] = {name: [] for name in peers}
    for a, b in drawn:
        for name, peer in peers.items():
            times[name].append(seconds(partial(peer, a, b, TABLES)))
    print(f"{len(drawn)} pairs: {', '.join(f'{n} {v}' for v, n in verdicts.most_common())}\n")
    print("| | median | slowest | median / scorekit's |\n|---|---:|---:|---:|")
    base = statistics.median(times["scorekit"])
    for name, column in times.items():
        middle = statistics.median(column)
        print(
            f"| {name} | {1e3 * middle:.2f} ms | {1e3 * max(column):.0f} ms | "
            f"{middle / base:.2f} |"
        )
    print("\nUnknown because:")
    for reason, n in reasons.most_common():
        print(f"- {n}: {reason}")


if __name__ == "__main__":
    alone(main)
