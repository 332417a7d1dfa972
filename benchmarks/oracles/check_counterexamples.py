"""
Verdicts on random pairs of queries, run in the databases that the dialects name.

    python -m benchmarks.oracles.check_counterexamples [--pairs 400] [--seed 1]
        [--dialects duckdb sqlite] [--pairs-of computed_sql mixed_kinds] [--unnamed]
        [--postgres DSN] [--mysql HOST:PORT:USER]

The pairs are those of a generator in `benchmarks.generators`.  What is refuted is run again: the
tables that the counterexample shows are made, and both queries must return the rows that it
shows.  Where an assumption says that a LIMIT may keep other rows, the results need only differ.
What is proved is run on random rows, on which results must be equal, and must run at all on empty
tables.  With *--unnamed* the pairs are compared without a dialect, which must hold in each
database that takes both queries.  The exit status is 1 if anything is contradicted.
"""

from __future__ import annotations

import argparse
import datetime as dt
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any

from benchmarks.machine import machine
from scorekit import Counterexample, SqlEquivalence, sql_equivalence

TIES = "a LIMIT may keep"
CHOSEN = ("ties", "may be taken", "may be shown")
"""Words of assumptions under which a query has several results."""
ROWS_TRIED = 12
Run = Callable[[str], list[tuple[Any, ...]]]


class Engine:
    """A database that makes the tables of a generator and runs queries."""

    def __init__(
        self, dialect: str, execute: Run, columns: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.dialect, self.run, self.columns = dialect, execute, columns
        self._quote = "`" if dialect == "mysql" else '"'
        for name in columns:
            self._create(name)

    def _create(self, name: str) -> None:
        kinds = self.columns[name]
        self.run(f"DROP TABLE IF EXISTS {self._quoted(name)}")
        listed = ", ".join(f"{self._quoted(c)} {self._type(k)}" for c, k in kinds.items())
        self.run(f"CREATE TABLE {self._quoted(name)} ({listed})")

    def _empty(self, name: str) -> None:
        if self.dialect == "duckdb":  # 2.0: of a table emptied often, LIMIT 1 may find no row
            self._create(name)
        else:
            self.run(f"DELETE FROM {self._quoted(name)}")  # noqa: S608 - our own names

    def _type(self, kind: str) -> str:
        kind = kind.replace(" not null", "")  # a counterexample shows what the queries use
        if self.dialect != "mysql":
            return kind
        return kind.replace("real", "float").replace("timestamp", "datetime")

    def drop(self) -> None:
        """Drop the tables."""
        for name in self.columns:
            self.run(f"DROP TABLE {self._quoted(name)}")

    def make(self, tables: Mapping[str, Sequence[Mapping[str, str]]]) -> None:
        """Let the tables hold these rows, cells as literals; what is left out is NULL."""
        for name in self.columns:
            self._empty(name)
            for i, row in enumerate(tables.get(name, ())):
                own = {"id": str(i), **row}
                named, cells = ", ".join(map(self._quoted, own)), ", ".join(own.values())
                self.run(f"INSERT INTO {self._quoted(name)} ({named}) VALUES ({cells})")  # noqa: S608

    def _quoted(self, name: str) -> str:
        return f"{self._quote}{name}{self._quote}"

    def show(self, found: Counterexample) -> None:
        """Make the tables of a counterexample."""
        self.make(
            {
                table.table: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
                for table in found.tables
            }
        )

    def fill(self, rows: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        """Make the tables with rows of values."""
        self.make(
            {
                name: [
                    dict(zip(self.columns[name], map(_literal, row), strict=True))
                    for row in several
                ]
                for name, several in rows.items()
            }
        )


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else str(value)


def plain(value: Any) -> Any:
    """Return a value as counterexamples show it, fractions to the digits that all types have."""
    if isinstance(value, Decimal | float | int):
        return float(f"{value:.9g}" if value == int(value) else f"{value:.4g}") + 0.0
    if isinstance(value, dt.datetime):
        value = value.replace(tzinfo=None)
    if isinstance(value, dt.date):
        return str(value).removesuffix(" 00:00:00")
    return value


def shown(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    """Return the rows of a counterexample, sorted."""
    return sorted(repr([_read(cell) for cell in row]) for row in rows)


def _read(cell: str) -> Any:
    if cell == "NULL":
        return None
    if cell.startswith("'"):
        return cell[1:-1].replace("''", "'")
    return plain(float(cell))


def engines(
    options: argparse.Namespace, columns: Mapping[str, Mapping[str, str]]
) -> Iterator[Engine]:
    """Yield the databases that are named."""
    if "sqlite" in options.dialects:
        lite = sqlite3.connect(":memory:")
        yield Engine("sqlite", lambda text: list(lite.execute(text)), columns)
    if "duckdb" in options.dialects:
        duck = import_module("duckdb").connect()
        yield Engine("duckdb", lambda text: _fetched(duck, text), columns)
    if options.postgres:
        postgres = import_module("psycopg2").connect(options.postgres)
        postgres.autocommit = True
        cursor = postgres.cursor()
        yield Engine("postgres", lambda text: _fetched(cursor, text), columns)
    if options.mysql:
        host, port, user = options.mysql.split(":")
        mysql = import_module("pymysql").connect(host=host, port=int(port), user=user)
        with mysql.cursor() as first:
            first.execute("CREATE DATABASE IF NOT EXISTS scorekit_check")
            first.execute("SET default_storage_engine = MEMORY")
        mysql.select_db("scorekit_check")
        mysql.autocommit(True)  # noqa: FBT003 - as it is named there
        other = mysql.cursor()
        yield Engine("mysql", lambda text: _fetched(other, text), columns)


def _fetched(cursor: Any, text: str) -> list[tuple[Any, ...]]:
    cursor.execute(text)
    return list(cursor.fetchall()) if cursor.description else []


def result(engine: Engine, query: str) -> list[str] | str:
    """Return the rows of a query, sorted, or why it does not run."""
    try:
        return sorted(repr([plain(cell) for cell in row]) for row in engine.run(query))
    except Exception as error:  # noqa: BLE001 - of four databases, each with its own
        return (str(error).splitlines() or [type(error).__name__])[0]


def contradiction(
    engine: Engine, pair: tuple[str, str], found: SqlEquivalence, rows: Callable[[int], Any]
) -> str | None:
    """Return how a database contradicts a verdict, None if it does not."""
    example = found.counterexample
    if example is not None:
        engine.show(example)
        own = shown(example.rows_of_a), shown(example.rows_of_b)
        theirs = tuple(result(engine, query) for query in pair)
        if any(isinstance(one, str) for one in theirs):
            return f"not run: {theirs}"
        loose = any(text.startswith(TIES) for text in found.assumptions) or example.order_only
        wrong = theirs[0] == theirs[1] and not example.order_only if loose else own != theirs
        return f"{example.to_text()}\n  {theirs}\n  {found.assumptions}" if wrong else None
    if found.verdict == "proved":
        chosen = any(word in text for text in found.assumptions for word in CHOSEN)
        for i in range(ROWS_TRIED):
            filled = rows(i) if i else {}
            engine.fill(filled)
            both = [result(engine, query) for query in pair]
            failed = [one for one in both if isinstance(one, str)]
            if failed and (i == 0 or len(failed) == 1):
                return f"not run: {both}"
            if not failed and both[0] != both[1] and not chosen:
                return f"proved, but on {filled}\n  {both}\n  {found.assumptions}"
    return None


def main() -> int:
    """Print counts by dialect, then what is contradicted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=400, help="of each dialect")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs-of", nargs="*", default=["computed_sql", "mixed_kinds"])
    parser.add_argument("--unnamed", action="store_true")
    parser.add_argument("--dialects", nargs="*", default=["duckdb", "sqlite"])
    parser.add_argument("--postgres", default="")
    parser.add_argument("--mysql", default="")
    options = parser.parse_args()
    print(f"{machine()}\n")
    wrong: list[str] = []
    for name in options.pairs_of:
        generator = import_module(f"benchmarks.generators.{name}")
        for engine in engines(options, generator.COLUMNS):
            if name == "computed_sql" and engine.dialect == "sqlite":
                continue  # its functions are those of the others
            counts: Counter[str] = Counter()
            reasons: Counter[str] = Counter()
            for i in range(options.pairs):
                pair = generator.drawn(options.seed * 1_000_003 + i, engine.dialect)
                dialect = None if options.unnamed else engine.dialect
                found = sql_equivalence(*pair, schema=generator.COLUMNS, dialect=dialect)
                counts[found.verdict] += 1
                if found.verdict == "unknown":
                    reasons[re.sub(r"\d+", "N", found.reason)[:90]] += 1
                if options.unnamed and any(engine.dialect in one for one in found.assumptions):
                    continue
                problem = contradiction(engine, pair, found, generator.rows)
                if problem is not None:
                    wrong.append(f"{engine.dialect} {i}: {pair[0]}\n  {pair[1]}\n  {problem}")
            print(name, engine.dialect, dict(counts), flush=True)
            for reason, n in reasons.most_common(8):
                print(f"  {n}: {reason}")
    print(f"contradicted or not run: {len(wrong)}", *wrong[:60], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
