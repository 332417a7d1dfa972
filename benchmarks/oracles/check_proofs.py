"""
Random pairs of queries: is anything proved, or refuted, that databases contradict?

    python -m benchmarks.oracles.check_proofs [--pairs 300] [--seed 1] [--processes 1] [--equal]
        [--only SHAPE] [--postgres DSN] [--mysql HOST:PORT:USER]

Pairs are drawn until the given number has been proved: a random query over a random schema, and
the same after rewrites that keep its meaning, or nearly do.  Long queries take most of the time
and seldom show a difference, so only some of them are kept.  Other pairs are drawn by theme: ways
to write one query that NULLs, ties or keys may tell apart; with ``--only`` all pairs are of one
shape: correlated subqueries over outer joins, or aggregates over the rows that share a key.  Each
proof is run on databases that keep to the schema, in SQLite and, if it is installed, in DuckDB,
and in the servers of PostgreSQL and MySQL or MariaDB that are named, as far as these speak the
dialect.  With ``--equal`` there are only rewrites that keep the meaning, the number is one of
pairs, and none of them may be refuted.
An interrupt ends it early, with the figures so far.
The exit status is 1 if anything was contradicted.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import itertools
import logging
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, TypeAlias

import attrs
from sqlglot import exp, parse_one

from benchmarks.generators import correlated, grouped
from benchmarks.generators.random_sql import (
    Cell,
    Column,
    Rows,
    Schema,
    random_queries,
    random_rows,
    random_schema,
    schema_text,
)
from benchmarks.generators.rewrites import rewritten
from benchmarks.generators.themes import ways
from benchmarks.machine import machine
from benchmarks.oracles.allowed import allowed_alike
from scorekit import sql_equivalence
from scorekit._core.rows import plain, same_bag, same_sequence
from scorekit._sql.meaning.question import Question
from scorekit._sql.prove.search import Proof, search
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.reading import read_pair
from scorekit._sql.schema.tables import SqlSchema, read_schema

DIALECTS: Final = (None, None, "sqlite", "sqlite", "postgres", "duckdb", "mysql")
IN_SQLITE: Final = (None, "sqlite", "mysql")
IN_DUCKDB: Final = (None, "postgres", "duckdb")
IN_POSTGRES: Final = (None, "postgres")
IN_MYSQL: Final = (None, "mysql")
LOOSE: Final = (None, "sqlite")
"""Dialects in which a column may hold what its type does not allow."""
LOOSE_SHARE: Final = 0.3
"""Databases of which some columns do."""
SHAPES: Final = {"correlated": correlated.ways, "grouped": grouped.ways}
PAIRS_A_BATCH: Final = 60
REWRITES_A_QUERY: Final = 5
THEMED_SHARE: Final = 0.4
"""Batches of pairs by theme."""
EQUAL_WAYS: Final = (1, 2, 3)
"""Pairs by theme of one query that no database tells apart."""
NEAR_WAYS: Final = 2
"""Pairs by theme of one query that fewest databases tell apart; others are drawn from all."""
REWRITTEN_SHARE: Final = 0.3
"""Pairs by theme of which one query is rewritten, or is the other one after some rewrites."""
LONG: Final = 200
"""Characters of a query of which only some are kept."""
LONG_SHARE: Final = 0.03
SIZES: Final = ((12,), (0, 5, 5, 8), (6, 9), (12,), (0, 1, 2, 3), (2, 3, 4, 6))
"""Rows of a table, for one database after the other: full ones tell most pairs apart."""
ASSUMED: Final[Mapping[str, tuple[type, ...]]] = {
    " holds numbers": (str,),
    " holds whole numbers": (str, float),
}
"""What a proof may take for granted of a column of numbers, and what SQLite lets it hold, too."""
DERIVED: Final = "a column of a derived table"
"""The name of a column of which it is not said where its values come from."""
OBJECTS_BETWEEN_COLLECTIONS: Final = 300_000
"""Trees are cyclic garbage: looking for it as often as is usual takes a quarter of the time."""

Answer: TypeAlias = list[tuple[Any, ...]] | Exception


class Job(NamedTuple):
    """Some pairs over one schema."""

    seed: int
    equal: bool
    n_sqlite: int
    n_duckdb: int
    show: bool
    only: str = ""
    postgres: str = ""
    mysql: str = ""


class Pair(NamedTuple):
    """Two queries, and the names of the rewrites that lead from one to the other."""

    first: str
    second: str
    rewrites: tuple[str, ...]
    reordered: bool = False
    """Whether the columns may come in another order."""


class Verdict(NamedTuple):
    """The verdict on a pair."""

    verdict: str
    reason: str
    steps: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    reordered: bool = False
    """Whether it is said that the columns come in another order."""


class Answers(NamedTuple):
    """What one database answers to queries."""

    engine: str
    rows: Rows
    of: dict[str, Answer]


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
    """Proofs by the steps they took."""
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

    def count(self, pair: Pair, dialect: str | None, verdict: Verdict, seconds: float) -> None:
        """Take in the verdict on a pair."""
        self.n_pairs += 1
        self.n_proved += verdict.verdict == "proved"
        self.outcomes[dialect or "None", verdict.verdict] += 1
        self.rewrites.update((name, verdict.verdict) for name in set(pair.rewrites))
        self.steps.update(set(verdict.steps))
        self.slowest = max(self.slowest, seconds)


def in_sqlite(
    schema: Schema, several: Iterable[Rows], texts: Mapping[str, str]
) -> Iterator[Answers]:
    """Run queries on databases in SQLite, which refuses rows that break a constraint."""
    with contextlib.closing(
        sqlite3.connect(":memory:", isolation_level=None, cached_statements=1_000)
    ) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.executescript(schema_text(schema))
        for rows in several:
            for table in reversed(schema):
                connection.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our names
            for table in schema:
                marks = ", ".join("?" * len(table.columns))
                insert = f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608 - our names
                connection.executemany(insert, rows[table.name])
            yield Answers(
                "SQLite", rows, {name: answer(connection, text) for name, text in texts.items()}
            )


def in_duckdb(
    schema: Schema, several: Iterable[Rows], texts: Mapping[str, str]
) -> Iterator[Answers]:
    """
    Run queries on databases in DuckDB, without constraints, since its are not quite others'.

    Each query is planned once for all databases, without what its optimizer knows of their rows.
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET threads = 1; PRAGMA disable_optimizer")
        for table in schema:
            listed = ", ".join(Column(c.name, c.kind).text() for c in table.columns)
            connection.execute(f"CREATE TABLE {table.name} ({listed})")
        planned: dict[str, Answer | str] = {}
        for i, (name, text) in enumerate(texts.items()):
            made = answer(connection, f"PREPARE q{i} AS {text}")
            planned[name] = made if isinstance(made, Exception) else f"EXECUTE q{i}"
        for rows in several:
            for table in schema:
                connection.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our names
                listed = ", ".join(f"({', '.join(map(literal, row))})" for row in rows[table.name])
                if listed:
                    insert = f"INSERT INTO {table.name} VALUES {listed}"  # noqa: S608 - our names
                    connection.execute(insert)
            found = {
                text: answer(connection, plan) if isinstance(plan, str) else plan
                for text, plan in planned.items()
            }
            yield Answers("DuckDB", rows, found)


def in_postgres(
    dsn: str, schema: Schema, several: Iterable[Rows], texts: Mapping[str, str]
) -> Iterator[Answers]:
    """Run queries on databases in a PostgreSQL server, in temporary tables."""
    connection = import_module("psycopg2").connect(dsn)
    connection.autocommit = True
    with contextlib.closing(connection), connection.cursor() as cursor:
        yield from in_server("PostgreSQL", cursor, schema, several, texts)


def in_mysql(
    server: str, schema: Schema, several: Iterable[Rows], texts: Mapping[str, str]
) -> Iterator[Answers]:
    """Run queries on databases in a MySQL or MariaDB server; texts are equal if they are alike."""
    host, port, user = server.split(":")
    connection = import_module("pymysql").connect(host=host, port=int(port), user=user)
    with contextlib.closing(connection), connection.cursor() as cursor:
        name = f"scorekit_{os.getpid()}"
        cursor.execute(f"CREATE DATABASE IF NOT EXISTS {name} COLLATE utf8mb4_bin")
        connection.select_db(name)
        yield from in_server("MySQL", cursor, schema, several, texts)


def in_server(
    engine: str, cursor: Any, schema: Schema, several: Iterable[Rows], texts: Mapping[str, str]
) -> Iterator[Answers]:
    """Run queries in a server, without constraints: rows keep to them as they are drawn."""
    temporary = "TEMPORARY " if engine == "PostgreSQL" else ""  # MySQL reads such a table once
    for table in schema:
        listed = ", ".join(Column(c.name, c.kind).text() for c in table.columns)
        if not temporary:
            cursor.execute(f"DROP TABLE IF EXISTS {table.name}")
        cursor.execute(f"CREATE {temporary}TABLE {table.name} ({listed})")
    for rows in several:
        for table in schema:
            cursor.execute(f"DELETE FROM {table.name}")  # noqa: S608 - our names
            listed = ", ".join(f"({', '.join(map(literal, row))})" for row in rows[table.name])
            if listed:
                cursor.execute(f"INSERT INTO {table.name} VALUES {listed}")  # noqa: S608 - our names
        yield Answers(engine, rows, {name: fetched(cursor, text) for name, text in texts.items()})


def fetched(cursor: Any, text: str) -> Answer:
    """Return the rows of a query that a server runs, or what is raised instead."""
    try:
        cursor.execute(text.replace("%", "%%"))
        return [tuple(map(plain, row)) for row in cursor.fetchall()]
    except Exception as error:  # noqa: BLE001 - of two servers, each with its own
        return error


def literal(cell: Cell) -> str:
    """Write a cell."""
    return "NULL" if cell is None else repr(cell)


def answer(connection: Any, text: str) -> Answer:
    """Return the rows of a query, or what is raised instead."""
    try:
        return [tuple(map(plain, row)) for row in connection.execute(text).fetchall()]
    except Exception as error:  # noqa: BLE001 - of two engines, each with its own
        return error


def same(pair: Pair, rows: Sequence[list[tuple[Any, ...]]]) -> bool:
    """Say whether two results are the same, in order if both queries ask for one."""
    ordered = all(" ORDER BY " in text.rpartition(")")[2] for text in (pair.first, pair.second))
    return (same_sequence if ordered else same_bag)(rows[0], rows[1], 1e-9)


def reorders(
    pair: Pair,
    rows: Sequence[list[tuple[Any, ...]]],
    orders: dict[Pair, list[tuple[int, ...]]],
) -> bool:
    """Say whether results are the same in an order of columns that fit all results before."""
    width = len((rows[0] or rows[1])[0])
    known = orders.get(pair) or list(itertools.permutations(range(width)))
    fitting = [
        order
        for order in known
        if same(pair, (rows[0], [tuple(row[i] for i in order) for row in rows[1]]))
    ]
    orders[pair] = fitting
    return bool(fitting)


def errs(pair: Pair, schema: Schema, given: Answers) -> bool:
    """
    Say whether a difference is SQLite's mistake: its newer joins have some.

    Where DuckDB cannot hold the rows, as a column holds what its type does not allow, a difference
    at such a join is not counted either.
    """
    texts = pair.first, pair.second
    outer = any(f" {side} JOIN " in text for side in ("RIGHT", "FULL") for text in texts)
    if not outer or given.engine != "SQLite" or find_spec("duckdb") is None:
        return False
    try:
        (other,) = in_duckdb(schema, [given.rows], {text: text for text in texts})
    except Exception:  # noqa: BLE001 - DuckDB's, which is imported only where it is used
        return True
    rows = [found for text in texts if not isinstance(found := other.of[text], Exception)]
    return len(rows) == len(texts) and (
        same(pair, rows) or (pair.reordered and reorders(pair, rows, {}))
    )


def prepare() -> None:
    """Let a process do nothing but check."""
    logging.disable(logging.CRITICAL)
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


def check(job: Job) -> Found:
    """Draw pairs over one schema, and run those that are proved."""
    rng = random.Random(job.seed)  # noqa: S311 - for tests, not for secrets
    themed = bool(job.only) or (not job.equal and rng.random() < THEMED_SHARE)
    schema = random_schema(rng, unique=0.3 if themed else 0.12)
    if not job.only and rng.random() < 0.3:  # nothing but columns is known
        schema = tuple(
            table._replace(key=(), columns=tuple(Column(c.name, c.kind) for c in table.columns))
            for table in schema
        )
    dialect = rng.choice(DIALECTS)
    pairs = list((by_theme if themed else drawn)(job, schema, dialect, rng))
    text = schema_text(schema)
    if job.equal:
        return decided_whole(job, pairs, text, dialect)
    known = read_schema(text, None, dialect)
    return decided(job, pairs, known, schema, dialect, shown=text)


def kept(text: str, rng: random.Random) -> bool:
    """Say whether to go on with a query, as it is short or one of a few long ones."""
    return len(text) <= LONG or rng.random() < LONG_SHARE


def drawn(job: Job, schema: Schema, dialect: str | None, rng: random.Random) -> Iterator[Pair]:
    """Draw pairs."""
    made = random_queries(schema, rng)
    for _ in range(PAIRS_A_BATCH // REWRITES_A_QUERY):
        tree = parse_one(next(text for text in made if kept(text, rng)), read=dialect)
        query = tree.sql(dialect, comments=False)
        seen = {query}
        for _ in range(REWRITES_A_QUERY):
            found = rewritten(tree, rng, sound=job.equal)
            if found is None:
                continue
            other, names = found[0].sql(dialect, comments=False, copy=False), found[1]
            if other not in seen:
                seen.add(other)
                first, second = (query, other) if rng.random() < 0.5 else (other, query)
                yield Pair(first, second, names)


def by_theme(job: Job, schema: Schema, dialect: str | None, rng: random.Random) -> Iterator[Pair]:
    """
    Draw pairs of ways to write one query, some of them rewritten further.

    All are run first: a pair is drawn among those that few databases tell apart, as a proof of it
    would be wrong, or among those that none does, as it may have a proof.
    """
    draw = SHAPES.get(job.only, ways)
    drawn = [draw(schema, rng, dialect) for _ in range(PAIRS_A_BATCH // REWRITES_A_QUERY)]
    texts = {text: spoken(text, dialect) for one in drawn for text in one.queries}
    several = databases(schema, rng, job.n_sqlite, dialect)
    answers = [
        {
            text: None if isinstance(rows, Exception) else sorted(map(repr, rows))
            for text, rows in given.of.items()
        }
        for given in in_sqlite(schema, several, texts)
    ]
    for theme, written, reordered in drawn:
        pairs = list(itertools.combinations(written, 2))
        rng.shuffle(pairs)
        apart = {(a, b): sum(of[a] != of[b] for of in answers) for a, b in pairs}
        near = sorted((pair for pair in pairs if apart[pair]), key=apart.__getitem__)
        if len(near) > NEAR_WAYS:
            near[NEAR_WAYS:] = rng.sample(near[NEAR_WAYS:], len(near) - NEAR_WAYS)
        never = [pair for pair in pairs if not apart[pair]]
        n_never = min(len(never), rng.choice(EQUAL_WAYS))
        chosen = [*never[:n_never], *near[: REWRITES_A_QUERY - n_never]]
        for first, second in pairs[:REWRITES_A_QUERY] if reordered else chosen:
            other: str = second
            names: tuple[str, ...] = (theme,)
            if rng.random() < REWRITTEN_SHARE:
                tree = parse_one(rng.choice((first, second)), read=dialect)
                found = rewritten(tree, rng, sound=False)
                if found is not None:
                    other, names = found[0].sql(dialect), (theme, *found[1])
            two = (first, other) if rng.random() < 0.5 else (other, first)
            yield Pair(*two, names, reordered)


def decided(
    job: Job,
    pairs: Sequence[Pair],
    known: SqlSchema | None,
    schema: Schema,
    dialect: str | None,
    *,
    shown: str,
) -> Found:
    """Prove pairs with what is *known* of a schema, and hold the proofs against databases."""
    found = Found()
    trees = read(pairs, dialect)
    proved: dict[Pair, Verdict] = {}
    for pair in pairs:
        started = time.perf_counter()
        verdict = proof_of(pair, trees, known, dialect)
        found.count(pair, dialect, verdict, time.perf_counter() - started)
        if verdict.verdict == "proved":
            proved[pair] = verdict
    rng = random.Random(job.seed)  # noqa: S311 - for tests, not for secrets
    texts = {text: spoken(text, dialect) for pair in proved for text in pair[:2]}
    for run, n, dialects in (
        (in_sqlite, job.n_sqlite, IN_SQLITE),
        (in_duckdb, job.n_duckdb, IN_DUCKDB),
        (partial(in_postgres, job.postgres), job.n_duckdb * bool(job.postgres), IN_POSTGRES),
        (partial(in_mysql, job.mysql), job.n_duckdb * bool(job.mysql), IN_MYSQL),
    ):
        if dialect in dialects and n and texts:
            several = databases(schema, rng, n, dialect if run is in_sqlite else "duckdb")
            answers = run(schema, several, texts)
            cross_run(found, proved, answers, schema, dialect=dialect, shown=shown)
    return found


def databases(schema: Schema, rng: random.Random, n: int, dialect: str | None) -> list[Rows]:
    """Make the rows of some databases, loose ones among them where the dialect has such."""
    share = LOOSE_SHARE if dialect in LOOSE else 0
    return [
        random_rows(schema, rng, SIZES[i % len(SIZES)], loose=rng.random() < share)
        for i in range(n)
    ]


def spoken(text: str, dialect: str | None) -> str:
    """Return a query as it is run: MySQL divides whole numbers exactly."""
    return text.replace(" / ", " * 1.0 / ") if dialect == "mysql" else text


def read(pairs: Sequence[Pair], dialect: str | None) -> dict[str, exp.Expr]:
    """Parse each query once; what cannot be read is left out."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
    trees: dict[str, exp.Expr] = {}
    for i in range(0, len(texts), 2):
        two = texts[i], texts[min(i + 1, len(texts) - 1)]
        for one in (two, (two[0], two[0]), (two[1], two[1])):
            with contextlib.suppress(UnfaithfulError):
                trees.update(zip(one, read_pair(one, dialect)[:2], strict=True))
            if two[0] in trees and two[1] in trees:
                break
    return trees


def proof_of(
    pair: Pair, trees: dict[str, exp.Expr], known: SqlSchema | None, dialect: str | None
) -> Verdict:
    """Say whether `sql_equivalence` proves a pair that it does not refute."""
    first, second = trees.get(pair.first), trees.get(pair.second)
    if first is None or second is None:
        return Verdict("unknown", "a query cannot be read")
    if first == second:
        return Verdict("identical", "the queries are identical")
    proof = search(
        first,
        second,
        Question(known, dialect, column_order="ignored" if pair.reordered else "significant"),
    )
    if not isinstance(proof, Proof):
        return Verdict("unknown", "not proved")
    reason = "matched" if len(proof.steps) == 1 else "rewritten"
    return Verdict("proved", reason, proof.steps, proof.assumptions, proof.reordered)


def cross_run(
    found: Found,
    proved: dict[Pair, Verdict],
    several: Iterable[Answers],
    schema: Schema,
    *,
    dialect: str | None,
    shown: str,
) -> None:
    """Hold proofs against what databases answer."""
    wrong: set[Pair] = set()
    orders: dict[Pair, list[tuple[int, ...]]] = {}
    for given in several:
        for pair, verdict in proved.items():
            answers = (given.of[pair.first], given.of[pair.second])
            rows = [rows for rows in answers if not isinstance(rows, Exception)]
            if len(rows) < len(answers):
                error = next(error for error in answers if isinstance(error, Exception))
                found.errors[f"{given.engine}: {error}"[:100].splitlines()[0]] += 1
                continue
            if pair in wrong:
                continue
            if not keeps_to(given.rows, schema, verdict.assumptions):
                continue
            found.n_runs += 1
            if same(pair, rows):
                continue
            if verdict.reordered and reorders(pair, rows, orders):
                continue
            if tied(pair, shown, dialect, given.rows):
                found.errors["LIMIT: another choice among ties that both queries allow"] += 1
                continue
            if errs(pair, schema, given):
                found.errors["SQLite: errs in RIGHT and FULL joins, as DuckDB shows"] += 1
                continue
            wrong.add(pair)
            why = f"{verdict.reason} {verdict.steps} {verdict.assumptions}"
            text = described(pair, dialect, shown)
            found.wrong.append(f"proved, {given.engine}, {text}\n  {why}\n  {given.rows}")


def tied(pair: Pair, schema: str, dialect: str | None, rows: Rows) -> bool:
    """Say whether results differ in which of tied rows a LIMIT keeps, and may do so."""
    if not any(" LIMIT " in text for text in (pair.first, pair.second)):
        return False
    known = read_schema(schema, None, dialect)
    return known is not None and allowed_alike((pair.first, pair.second), known, rows, dialect)


def keeps_to(rows: Rows, schema: Schema, assumptions: Iterable[str]) -> bool:
    """Say whether columns of numbers hold what a proof takes them to hold."""
    for said, others in ASSUMED.items():
        named = {text.removesuffix(said) for text in assumptions if text.endswith(said)}
        places = [
            (table.name, i)
            for table in schema
            for i, column in enumerate(table.columns)
            if column.kind == "int"
            and not named.isdisjoint((DERIVED, f"{table.name}.{column.name}"))
        ]
        if any(isinstance(row[i], others) for table, i in places for row in rows[table]):
            return False
    return True


def described(pair: Pair, dialect: str | None, shown: str) -> str:
    """Return a pair as it is printed."""
    rewrites = ", ".join(pair.rewrites)
    return f"{dialect}: {rewrites}\n  {shown}\n  {pair.first}\n  {pair.second}"


def decided_whole(job: Job, pairs: Sequence[Pair], shown: str, dialect: str | None) -> Found:
    """Decide pairs that are equal, none of which may be refuted."""
    found = Found()
    for pair in pairs:
        started = time.perf_counter()
        result = sql_equivalence(pair.first, pair.second, schema=shown, dialect=dialect)
        identical = result.reason == "the queries are identical"
        verdict = Verdict("identical" if identical else result.verdict, result.reason)
        found.count(pair, dialect, verdict, time.perf_counter() - started)
        text = described(pair, dialect, shown)
        if result.counterexample is not None:
            found.wrong.append(f"refuted, {text}\n{result.counterexample.to_text()}")
        if result.verdict == "unknown" and job.show:
            found.unproved.append(f"unknown ({result.reason}), {text}")
    return found


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield what to do, without end."""
    n_duckdb = options.duckdb_databases if find_spec("duckdb") is not None else 0
    i = 0
    while True:
        seed = options.seed * 1_000_003 + i
        yield Job(
            seed,
            options.equal,
            options.databases,
            n_duckdb,
            options.show > 0,
            options.only,
            options.postgres,
            options.mysql,
        )
        i += 1


def main() -> int:
    """Print the counts as Markdown tables, then what was contradicted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", type=int, default=8, help="in SQLite")
    parser.add_argument("--duckdb-databases", type=int, default=3)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--equal", action="store_true", help="only pairs that are equal")
    parser.add_argument("--only", choices=sorted(SHAPES), default="", help="pairs of one shape")
    parser.add_argument("--postgres", default="", help="the DSN of a server")
    parser.add_argument("--mysql", default="", help="the HOST:PORT:USER of a server")
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
        prepare()
        yield from map(check, waiting)
        return
    with ProcessPoolExecutor(n_processes, initializer=prepare) as pool:
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
