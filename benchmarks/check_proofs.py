"""
Random pairs of queries: is anything proved, or refuted, that databases contradict?

    python -m benchmarks.check_proofs [--pairs 300] [--seed 1] [--processes 1] [--equal]

Pairs are drawn until the given number has been proved: a random query over a random schema, and
the same after rewrites that keep its meaning, or nearly do.  Each proof is run on databases that
keep to the schema, in SQLite and, if it is installed, in DuckDB, as far as these speak the
dialect.  With ``--equal`` there are only rewrites that keep the meaning, the number is one of
pairs, and none of them may be refuted.  An interrupt ends it early, with the figures so far.
The exit status is 1 if anything was contradicted.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from importlib.util import find_spec
from typing import Any, Final, NamedTuple
from unittest import mock

import attrs
from sqlglot import parse_one

from benchmarks import queries
from benchmarks.machine import machine
from benchmarks.random_sql import (
    Column,
    Rows,
    Schema,
    random_queries,
    random_rows,
    random_schema,
    schema_text,
)
from benchmarks.rewrites import rewritten
from scorekit import sql_equivalence
from scorekit._sql.refute.search import NoDifference
from scorekit._sql.rows import plain, same_bag, same_sequence

DIALECTS: Final = (None, None, "sqlite", "sqlite", "postgres", "duckdb", "mysql")
IN_SQLITE: Final = (None, "sqlite", "mysql")
IN_DUCKDB: Final = (None, "postgres", "duckdb")
PAIRS_A_BATCH: Final = 60
REWRITES_A_QUERY: Final = 4
OLD_SHARE: Final = 0.15
"""Batches drawn as for the tests of proofs, over their tables and in SQLite alone."""


class Job(NamedTuple):
    """Some pairs over one schema."""

    seed: int
    equal: bool
    n_sqlite: int
    n_duckdb: int
    show: bool


@attrs.define
class Found:
    """What came out of some pairs."""

    n_pairs: int = 0
    n_proved: int = 0
    n_runs: int = 0
    outcomes: Counter[tuple[str, str]] = attrs.Factory(Counter[tuple[str, str]])
    """Pairs by dialect and verdict."""
    rewrites: Counter[tuple[str, str]] = attrs.Factory(Counter[tuple[str, str]])
    """Pairs by rewrite and verdict."""
    steps: Counter[str] = attrs.Factory(Counter[str])
    """Proofs by the steps they took, where the result names them."""
    errors: Counter[str] = attrs.Factory(Counter[str])
    wrong: list[str] = attrs.Factory(list[str])
    unproved: list[str] = attrs.Factory(list[str])
    slowest: float = 0.0

    def add(self, other: Found) -> None:
        """Take in what came out of others."""
        self.n_pairs += other.n_pairs
        self.n_proved += other.n_proved
        self.n_runs += other.n_runs
        for name in ("outcomes", "rewrites", "steps", "errors"):
            getattr(self, name).update(getattr(other, name))
        self.wrong += other.wrong
        self.unproved += other.unproved
        self.slowest = max(self.slowest, other.slowest)


Runner = Callable[[str], list[tuple[Any, ...]]]


class Engine(NamedTuple):
    """A database system that holds one database."""

    name: str
    run: Runner
    rows: Rows


def in_sqlite(schema: Schema, rows: Rows, stack: contextlib.ExitStack) -> Engine:
    """Fill a database in SQLite, which refuses rows that break a constraint."""
    connection = stack.enter_context(contextlib.closing(sqlite3.connect(":memory:")))
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(schema_text(schema))
    for table in schema:
        marks = ", ".join("?" * len(table.columns))
        insert = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608 - our names
        connection.executemany(insert, rows[table.name])
    return Engine("SQLite", lambda text: connection.execute(text).fetchall(), rows)


def in_duckdb(
    schema: Schema, several: Sequence[Rows], stack: contextlib.ExitStack
) -> Iterator[Engine]:
    """Fill databases in DuckDB, without constraints, since its are not quite those of others."""
    import duckdb

    connection = stack.enter_context(duckdb.connect())
    connection.execute("SET threads = 1")
    for i, rows in enumerate(several):
        connection.execute(f"CREATE SCHEMA d{i}; SET schema = 'd{i}'")
        for table in schema:
            listed = ", ".join(Column(c.name, c.kind).text() for c in table.columns)
            connection.execute(f"CREATE TABLE {table.name} ({listed})")
            marks = ", ".join("?" * len(table.columns))
            insert = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608 - our names
            if rows[table.name]:
                connection.executemany(insert, rows[table.name])

        def run(text: str, i: int = i) -> list[tuple[Any, ...]]:
            connection.execute(f"SET schema = 'd{i}'")
            return connection.execute(text).fetchall()

        yield Engine("DuckDB", run, rows)


def differ(first: str, second: str, engine: Engine) -> bool:
    """Say whether two queries have different results; raises what the engine raises."""
    rows = [
        [tuple(plain(cell) for cell in row) for row in engine.run(text)]
        for text in (first, second)
    ]
    ordered = all(" ORDER BY " in text.rpartition(")")[2] for text in (first, second))
    return not (same_sequence if ordered else same_bag)(rows[0], rows[1], 1e-9)


def errs(first: str, second: str, schema: Schema | None, engine: Engine) -> bool:
    """Say whether a difference is SQLite's mistake: its newer joins have some."""
    outer = any(f" {side} JOIN " in text for side in ("RIGHT", "FULL") for text in (first, second))
    if schema is None or not outer or engine.name != "SQLite" or find_spec("duckdb") is None:
        return False
    with contextlib.ExitStack() as stack:
        (other,) = in_duckdb(schema, [engine.rows], stack)
        with contextlib.suppress(Exception):
            return not differ(first, second, other)
    return False


def check(job: Job) -> Found:
    """Draw pairs over one schema, and run those that are proved."""
    logging.disable(logging.CRITICAL)
    rng = random.Random(job.seed)  # noqa: S311 - for tests, not for secrets
    with contextlib.ExitStack() as stack:
        if not job.equal:
            nothing = NoDifference("not looked for")
            stack.enter_context(mock.patch("scorekit.equivalence.refute", return_value=nothing))
        if not job.equal and rng.random() < OLD_SHARE:
            return check_old(job, rng)
        schema = random_schema(rng)
        if rng.random() < 0.3:  # nothing but columns is known
            schema = tuple(
                table._replace(
                    key=(), columns=tuple(Column(c.name, c.kind) for c in table.columns)
                )
                for table in schema
            )
        dialect = rng.choice(DIALECTS)
        engines: list[Engine] = []
        if dialect in IN_SQLITE:
            filled = [random_rows(schema, rng) for _ in range(job.n_sqlite)]
            engines += [in_sqlite(schema, rows, stack) for rows in filled]
        if dialect in IN_DUCKDB and job.n_duckdb:
            several = [random_rows(schema, rng) for _ in range(job.n_duckdb)]
            engines += in_duckdb(schema, several, stack)
        pairs = drawn(job, schema, dialect, rng)
        text = schema_text(schema)
        return decide(job, pairs, dialect, engines, schema=schema, known=text)


def drawn(
    job: Job, schema: Schema, dialect: str | None, rng: random.Random
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Draw pairs with the names of the rewrites that lead from one to the other."""
    made = random_queries(schema, rng, grouping_sets=dialect in ("postgres", "duckdb"))
    for _ in range(PAIRS_A_BATCH // REWRITES_A_QUERY):
        tree = parse_one(next(made), read=dialect)
        query = tree.sql(dialect, comments=False)
        for _ in range(REWRITES_A_QUERY):
            found = rewritten(tree, rng, sound=job.equal)
            if found is None:
                continue
            other, names = found[0].sql(dialect, comments=False), found[1]
            if other != query:
                yield (query, other, names) if rng.random() < 0.5 else (other, query, names)


def check_old(job: Job, rng: random.Random) -> Found:
    """Draw pairs as for the tests of proofs."""
    known, tables = rng.choice((("columns", False), ("keys", True)))
    schema = {
        table: {
            name: kind + (" NOT NULL" if tables and name in queries.NOT_NULL[table] else "")
            for name, kind in columns.items()
        }
        for table, columns in queries.TABLES.items()
    }
    with contextlib.ExitStack() as stack:
        engines: list[Engine] = []
        for _ in range(job.n_sqlite):
            connection = stack.enter_context(
                contextlib.closing(queries.database(rng, keys=known == "keys"))
            )
            engines.append(Engine("SQLite", connection_runner(connection), {}))
        pairs = (
            (*queries.pair(rng, sound=sound), ("drawn equal" if sound else "drawn alike",))
            for sound in (rng.random() < 0.6 for _ in range(PAIRS_A_BATCH))
        )
        keys = queries.KEYS if tables else None
        return decide(job, pairs, "sqlite", engines, schema=None, known=schema, keys=keys)


def connection_runner(connection: sqlite3.Connection) -> Runner:
    """Return what runs a query on a connection."""
    return lambda text: connection.execute(text).fetchall()


def decide(
    job: Job,
    pairs: Iterator[tuple[str, str, tuple[str, ...]]],
    dialect: str | None,
    engines: Sequence[Engine],
    *,
    schema: Schema | None,
    known: Any,
    keys: Any = None,
) -> Found:
    """Decide pairs with what is *known* of a schema, and hold the verdicts against databases."""
    found = Found()
    for first, second, names in pairs:
        started = time.perf_counter()
        result = sql_equivalence(
            first,
            second,
            schema=known,
            keys=keys,
            dialect=dialect,
        )
        found.slowest = max(found.slowest, time.perf_counter() - started)
        identical = result.reason == "the queries are identical"
        verdict = "identical" if identical else result.verdict
        found.n_pairs += 1
        found.outcomes[dialect or "None", verdict] += 1
        found.rewrites.update((name, verdict) for name in set(names))
        shown = f"{dialect}: {', '.join(names)}\n  {known}\n  {first}\n  {second}"
        if result.verdict == "refuted" and job.equal:
            assert result.counterexample is not None
            found.wrong.append(f"refuted, {shown}\n{result.counterexample.to_text()}")
        if result.verdict == "unknown" and job.show and job.equal:
            found.unproved.append(f"unknown ({result.reason}), {shown}")
        if verdict != "proved":
            continue
        found.n_proved += 1
        found.steps.update(set(getattr(result, "proof", ())))
        for engine in engines:
            try:
                contradicted = differ(first, second, engine)
            except Exception as error:  # noqa: BLE001 - of two engines, each with its own
                found.errors[f"{engine.name}: {error}"[:100].splitlines()[0]] += 1
                continue
            found.n_runs += 1
            if contradicted and errs(first, second, schema, engine):
                found.errors["SQLite: errs in RIGHT and FULL joins, as DuckDB shows"] += 1
                continue
            if contradicted:
                reason = f"{result.reason} {getattr(result, 'proof', '')} {result.assumptions}"
                found.wrong.append(f"proved, {engine.name}, {shown}\n  {reason}\n  {engine.rows}")
                break
    return found


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield what to do, without end."""
    n_duckdb = options.duckdb_databases if find_spec("duckdb") is not None else 0
    i = 0
    while True:
        seed = options.seed * 1_000_003 + i
        yield Job(seed, options.equal, options.databases, n_duckdb, options.show > 0)
        i += 1


def main() -> int:
    """Print the counts as Markdown tables, then what was contradicted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", type=int, default=12, help="in SQLite")
    parser.add_argument("--duckdb-databases", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--equal", action="store_true", help="only pairs that are equal")
    parser.add_argument("--show", type=int, default=0, help="equal pairs without proof to show")
    options = parser.parse_args()
    print(f"{machine()}\n")
    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    total, started = Found(), time.perf_counter()
    for found in results(jobs(options), options.processes):
        total.add(found)
        if stopped or (total.n_pairs if options.equal else total.n_proved) >= options.pairs:
            break
    report(total, time.perf_counter() - started, options.show)
    return 1 if total.wrong else 0


def results(waiting: Iterator[Job], n_processes: int) -> Iterator[Found]:
    """Yield what comes out of jobs, as it comes."""
    if n_processes == 1:
        yield from map(check, waiting)
        return
    with ProcessPoolExecutor(n_processes) as pool:
        running: set[Future[Found]] = set()
        try:
            while True:
                while len(running) < 2 * n_processes:
                    running.add(pool.submit(check, next(waiting)))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            for future in running:
                future.cancel()


def report(found: Found, seconds: float, n_shown: int) -> None:
    """Print what came out."""
    verdicts = ("proved", "refuted", "unknown", "identical")
    for title, counts in (("dialect", found.outcomes), ("rewrite", found.rewrites)):
        print(f"| {title} | {' | '.join(verdicts)} |\n|---|{'---:|' * len(verdicts)}")
        for name in sorted({name for name, _ in counts}):
            row = " | ".join(f"{counts[name, verdict]}" for verdict in verdicts)
            print(f"| {name.replace('_', ' ')} | {row} |")
        print()
    if found.steps:
        print("| step of a proof | proofs |\n|---|---:|")
        for name, n in found.steps.most_common():
            print(f"| {name} | {n} |")
        print()
    for error, n in found.errors.most_common(8):
        print(f"not run, {n} times: {error}")
    print(
        f"{found.n_pairs} pairs in {seconds:.0f} s, {found.n_proved} proved, "
        f"{found.n_runs} times run on a database; slowest verdict {1e3 * found.slowest:.0f} ms"
    )
    for text in found.unproved[:n_shown]:
        print(text)
    print(f"contradicted: {len(found.wrong)}", *found.wrong[:20], sep="\n")


if __name__ == "__main__":
    sys.exit(main())
