"""
Constructs of all dialects in each of four, against the databases: is credit given for what fails?

    python -m benchmarks.oracles.check_dialects [--sqlite FILE] [--duckdb]
        [--postgres "host=... dbname=..."] [--mysql "host=... port=... user=..."] [--show]

Each construct stands in a query and in the same query with its conditions in another order, some
also beside a query that means the same in plain words; each function that any of the four
dialects has is called, too. Each query runs on empty tables of each database that is named (SQLite
is Python's own). The exit status is 1 if a pair is proved of which a query fails, or if a query is
said not to parse that runs. A failure of both of two queries that read alike counts, too.
"""

from __future__ import annotations

import argparse
import logging
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product, starmap
from pathlib import Path
from typing import Any

from scorekit import sql_equivalence
from scorekit._sql.databases.functions import MANY, VERSIONS, arities
from scorekit._sql.text.parsing import parse
from scorekit.errors import SqlError

CONSTRUCTS = Path(__file__).parents[2] / "tests" / "data" / "dialect_constructs.txt"
CONDITIONS = ("t.a > 1 AND t.c < 5", "t.c < 5 AND t.a > 1")
TABLES = (
    "CREATE TABLE t (a int, b varchar(20), c int, d date, f double precision)",
    "CREATE TABLE u (a int, x varchar(20), y int)",
)
SCHEMA = ";\n".join(TABLES)
ARGUMENTS = ("a", "b", "d", "f", "1", "'x'")
Runs = Callable[[str], str | None]
"""Returns why a query fails, None if it runs."""


def sqlite(path: str) -> Runs:
    """Return how to run a query in SQLite: Python's, or that of a build of apsw."""
    connection: Any = sqlite3.connect(":memory:")
    if path == "apsw":
        import apsw

        connection = apsw.Connection(":memory:")
    return _runs(lambda sql: list(connection.execute(sql)))


def duckdb() -> Runs:
    """Return how to run a query in DuckDB."""
    import duckdb as module

    connection = module.connect()
    return _runs(lambda sql: connection.execute(sql).fetchall())


def postgres(dsn: str) -> Runs:
    """Return how to run a query in PostgreSQL, in a schema of its own that is rolled back."""
    import psycopg2  # type: ignore[import-untyped]

    connection = psycopg2.connect(dsn)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("CREATE TEMP TABLE here (a int); SET search_path = pg_temp, pg_catalog")
    return _runs(cursor.execute)


def mysql(dsn: str) -> Runs:
    """Return how to run a query in MySQL or MariaDB, in temporary tables of its test database."""
    import pymysql  # type: ignore[import-untyped]

    options: dict[str, Any] = dict(part.split("=", 1) for part in dsn.split())
    options["port"] = int(options.get("port", 3306))
    connection = pymysql.connect(**options, autocommit=True)
    cursor = connection.cursor()
    for table in "tu":
        cursor.execute(f"DROP TABLE IF EXISTS {table}")
    return _runs(cursor.execute)


def _runs(execute: Callable[[str], object]) -> Runs:
    for statement in TABLES:
        execute(statement)

    def run(sql: str) -> str | None:
        try:
            execute(sql)
        except Exception as error:  # noqa: BLE001 - of any driver
            return str(error).partition("\n")[0] or type(error).__name__
        return None

    return run


def pairs() -> Iterator[tuple[str, str]]:
    """Yield pairs of queries that mean the same where both run."""
    for line in CONSTRUCTS.read_text().splitlines():
        sql, _, plain = line.partition(" ")[2].partition(" ==> ")
        first, second = (sql.replace("{w}", where) for where in CONDITIONS)
        wrapped = f"SELECT * FROM ({second}) AS s"  # noqa: S608 - from our own file
        yield first, second if first != second else wrapped
        if plain:
            yield first, plain.replace("{w}", CONDITIONS[1])


def calls(runs: Runs, dialect: str) -> Iterator[tuple[str, str]]:
    """Yield a pair for each function that some dialect has, with arguments that fit if any do."""
    names: dict[str, tuple[int, int]] = {}
    for other in VERSIONS:
        names |= {name: counts for name, counts in arities(other).items() if name not in names}
    own = arities(dialect)
    for name, (least, most) in sorted(names.items()):
        low, high = own.get(name, (least, most))
        counts = sorted({low, min(high, low + 1)} if high < MANY else {max(low, 1), low + 2})
        first = None
        for count in counts:
            for given in product(ARGUMENTS, repeat=min(count, 3)):
                written = ", ".join(given + ("1",) * (count - 3))
                query = f"SELECT {name}({written}) FROM t WHERE "  # noqa: S608 - a table of our own
                first = first or query
                if runs(query + CONDITIONS[0]) is None:
                    first = query
                    break
            else:
                continue
            break
        if first is not None:
            yield first + CONDITIONS[0], first + CONDITIONS[1]


def check(dialect: str, runs: Runs, *, show: bool) -> bool:
    """Print what becomes of each pair in a dialect, and say whether nothing is wrong."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for first, second in (*pairs(), *calls(runs, dialect)):
        failures = [runs(sql) for sql in (first, second)]
        found = sql_equivalence(first, second, schema=SCHEMA, dialect=dialect, n_databases=5)
        verdict: str = found.verdict
        for sql, failure in zip((first, second), failures, strict=True):
            try:
                parse(sql, dialect)
            except SqlError as error:
                verdict = "broken"
                if failure is None:
                    wrong.append(f"runs, but is called broken ({error.message}): {sql}")
        fails = next(filter(None, failures), None)
        counts[f"{verdict}, {'fails' if fails else 'runs'}"] += 1
        if verdict == "proved" and fails and not any(map(_is_version, found.assumptions)):
            wrong.append(f"proved, but fails ({fails[:90]}): {first}")
        elif show:
            sys.stdout.write(f"  {verdict:8} {(fails or 'runs')[:60]:60} {first}\n")
            if verdict in ("unknown", "broken") and not fails:
                sys.stdout.write(f"           {found.reason[:150]}\n")
    sys.stdout.write(f"{dialect}: {sum(counts.values())} pairs\n")
    for what, n in sorted(counts.items()):
        sys.stdout.write(f"  {n:5} {what}\n")
    for text in wrong:
        sys.stdout.write(f"  WRONG {text}\n")
    return not wrong


def _is_version(assumption: str) -> bool:
    return assumption.endswith("or later")


def main() -> int:
    """Check each database that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sqlite", nargs="?", const="python", choices=("python", "apsw"))
    parser.add_argument("--duckdb", action="store_true")
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--mysql", metavar="OPTIONS")
    parser.add_argument("--show", action="store_true", help="print each pair")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    databases: dict[str, Runs] = {}
    if given.sqlite:
        databases["sqlite"] = sqlite(given.sqlite)
    if given.duckdb:
        databases["duckdb"] = duckdb()
    if given.postgres:
        databases["postgres"] = postgres(given.postgres)
    if given.mysql:
        databases["mysql"] = mysql(given.mysql)
    return int(not all(list(starmap(partial(check, show=given.show), databases.items()))))


if __name__ == "__main__":
    sys.exit(main())
