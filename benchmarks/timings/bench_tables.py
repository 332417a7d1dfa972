"""
Time of table extraction per query, beside the parser, the tree of a query and two other libraries.

    python -m benchmarks.timings.bench_tables [--full]

The queries are drawn over three tables with joins, subqueries, groups and set operations, as for
the tests of proofs.  Caches are bypassed.  Last come statements that the scan of tables reads and
the tree, which must know what each part means, does not: why both are there.
"""

from __future__ import annotations

import contextlib
import logging
import statistics
import time
from collections.abc import Callable

import sqlglot

from benchmarks.generators.queries import pairs
from benchmarks.machine import alone
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import read_query
from scorekit._sql.meaning.syntax import UnreadError
from scorekit._sql.text.base_tables import tables_of
from scorekit._sql.text.parsing import parse

ROUNDS = 5
STATEMENTS = (
    "INSERT INTO logs SELECT id FROM users",
    "UPDATE users SET age = 1 WHERE id IN (SELECT uid FROM orders)",
    "CREATE TABLE old AS SELECT id FROM users",
    "WITH RECURSIVE w AS (SELECT id FROM users UNION ALL SELECT id + 1 FROM w) SELECT id FROM w",
    "SELECT name FROM users, UNNEST(tags) AS tag",
    "SELECT id FROM users, orders",
    "SELECT total FROM orders PIVOT (SUM(total) FOR status IN ('a', 'b'))",
)


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


def tables_in_tree(sql: str) -> set[str]:
    """Return the base tables of a query by its tree."""
    (statement,) = parse(sql, "sqlite").statements
    query = read_query(statement, Catalog(dialect="sqlite")).query
    return {source.table.lower() for source in query.sources if source.table}


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
        "by the tree": tables_in_tree,
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
    print("\n| statement | scan | tree |\n|---|---|---|")
    for sql in STATEMENTS:
        scanned = ", ".join(sorted(tables_of(parse(sql, None))))
        try:
            found = ", ".join(sorted(tables_in_tree(sql)))
        except UnreadError as error:
            found = f"not read: {error}"
        print(f"| `{sql}` | {scanned} | {found} |")


if __name__ == "__main__":
    alone(main)
