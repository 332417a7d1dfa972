"""
Texts that a database runs: does scorekit ever blame one?

    python -m benchmarks.oracles.check_refusals [FILE...] [--texts 200] [--seed 1]
        [--postgres DSN] [--mysql HOST:PORT:USER]

The expected queries of the FILEs, in the forms that `benchmarks.oracles.corpora` reads, run on
empty tables of their schemas.  Random texts, of forms that databases are known to take
differently, run on the tables below.  They run in SQLite, in DuckDB and in the servers that are
named; what runs there is scored as an answer in that dialect and without one, beside itself and
beside another query.  An error that lays the fault on the text is printed.
"""

# ruff: noqa: S608 - texts of our own names

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlglot import exp

from benchmarks.machine import machine
from benchmarks.oracles.audits import references
from benchmarks.oracles.check_counterexamples import Engine, engines
from scorekit import query_correctness
from scorekit._sql.databases.kinds import kind_of

TABLES: Final = {
    "t": {"id": "int primary key", "a": "int", "b": "varchar(20)", "c": "int", "d": "date"},
    "u": {"id": "int primary key", "t_id": "int", "a": "int", "x": "varchar(20)"},
    "v": {"a": "int", "y": "double precision"},
}
TYPES: Final = {
    "integer": "bigint", "natural": "bigint", "number": "numeric(18, 4)", "time": "timestamp",
    "real": "double precision", "boolean": "boolean",
}  # fmt: skip


class Writer:
    """Draws a text."""

    def __init__(self, rng: random.Random, dialect: str) -> None:
        self.rng, self.dialect = rng, dialect

    def pick(self, *choices: str) -> str:
        """Return one of them."""
        return self.rng.choice(choices)

    def name(self, table: str) -> str:
        """Return a column of a table, or a word that may be one or be none."""
        column = self.rng.choice([*TABLES.get(table, {"a": ""})])
        forms = (column, f"{table}.{column}", column.upper(), f'"{column}"', f"`{column}`", "k")
        return self.rng.choices(forms, (9, 9, 1, 1, 1, 1))[0]

    def value(self, tables: tuple[str, ...], depth: int = 2) -> str:
        """Return an expression."""
        table = self.rng.choice(tables)
        if depth == 0 or self.rng.random() < 0.35:
            return self.pick(self.name(table), self.name(table), "1", "0", "'x'", "NULL", '"q"')
        one, other = (self.value(tables, depth - 1) for _ in range(2))
        return self.pick(
            f"{one} {self.pick('+', '-', '*', '/', '%', '||', '|', '&')} {other}",
            f"({one})", f"-{one}", f"COALESCE({one}, {other})", f"NULLIF({one}, {other})",
            f"CASE WHEN {self.test(tables, depth - 1)} THEN {one} ELSE {other} END",
            f"CASE {one} WHEN {other} THEN 1 END", f"({self.query(tables, 1, depth - 1)})",
            f"CAST({one} AS {self.pick('INT', 'INTEGER', 'VARCHAR(9)', 'CHAR', 'SIGNED')})",
            f"{self.pick('UPPER', 'LENGTH', 'ABS', 'ROUND', 'LOWER', 'TRIM')}({one})",
            f"{self.pick('MAX', 'MIN', 'SUM', 'COUNT', 'AVG')}({self.pick('', 'DISTINCT ')}{one})",
            f"{self.pick('MAX', 'SUM')}({one}) OVER ({self.pick('', f'ORDER BY {other}')})",
            f"ROW_NUMBER() OVER (PARTITION BY {one} ORDER BY {other})",
            f"{self.pick('MAX', 'MIN', 'GREATEST', 'LEAST')}({one}, {other})", "COUNT(*)",
            f"SUM({one}) FILTER (WHERE {self.test(tables, 0)})", self.test(tables, depth - 1),
            f"SUBSTR({one}, 1, 2)", f"{one}::int", f"{one} IS NULL",
        )  # fmt: skip

    def test(self, tables: tuple[str, ...], depth: int = 1) -> str:
        """Return a condition."""
        one, other = self.value(tables, depth), self.value(tables, 0)
        inner = self.query(tables, 1, max(depth - 1, 0)) if depth else "SELECT 1"
        compare = self.pick("=", "<>", "!=", "<", ">=", "==", "IS", "IS NOT DISTINCT FROM", "<=>")
        forms = [
            f"{one} {compare} {other}", f"{one} {compare} {other}", f"{one} IS NOT NULL",
            f"{one} IN ({other}, 2)", f"{one} NOT IN ({inner})", f"EXISTS ({inner})",
            f"{one} BETWEEN {other} AND 3", f"{one} LIKE '%x'", f"NOT {one} = {other}",
            f"{one} {self.pick('=', '>')} {self.pick('ANY', 'ALL')} ({inner})",
            f"({one}, 1) IN (SELECT a, a FROM v)", f"({one}, 1) = ({other}, 2)", one,
            f"({one} = {other}) IS TRUE", f"{one} LIKE 'a' ESCAPE '!'",
        ]  # fmt: skip
        first = self.rng.choice(forms)
        if depth and self.rng.random() < 0.25:
            return f"{first} {self.pick('AND', 'OR')} {self.test(tables, depth - 1)}"
        return first

    def source(self) -> tuple[str, tuple[str, ...]]:
        """Return a FROM, and the tables in it."""
        first, second = self.rng.sample([*TABLES], 2)
        both = (first, second)
        form = self.rng.randrange(9)
        if form < 4:
            return first, (first,)
        if form == 4:
            return f"{first}, {second}", both
        if form == 5:
            aliased = (f"{first}", self.pick("q", "z"))
            inner = f"(SELECT {self.pick('*', 'a', 'a AS k', 'MAX(a) AS a')} FROM {second})"
            return f"{first} JOIN {inner} {self.pick('AS ', '')}{aliased[1]} ON 1 = 1", aliased
        kind = self.pick(
            "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "INNER JOIN"
        )
        if kind == "CROSS JOIN":
            return f"{first} {kind} {second}", both
        how = self.pick("USING (a)", f"ON {first}.a = {second}.a", f"ON {self.test(both, 0)}")
        if self.rng.random() < 0.1:
            return f"{first} NATURAL {kind.replace('INNER ', '')} {second}", both
        return f"{first} {kind} {second} {how}", both

    def query(self, around: tuple[str, ...] = (), width: int = 0, depth: int = 2) -> str:
        """Return a query of some columns, which may name tables around it."""
        rng = self.rng
        if depth > 1 and rng.random() < 0.1:
            operator = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
            arms = [self.query(around, width or 1, 1) for _ in range(rng.choice((2, 2, 3)))]
            return f" {operator} ".join(arms) + self.pick("", "", " ORDER BY 1", " LIMIT 2")
        source, tables = self.source()
        seen = tables + (around if rng.random() < 0.4 else ())
        outputs = [self.value(seen, min(depth, 1)) for _ in range(width or rng.choice((1, 2)))]
        names = ("", "", "", "", " AS k", " k", " AS a", ' AS "k"', " AS 'k'")
        outputs = [one + self.pick(*names) for one in outputs]
        if not width and rng.random() < 0.1:
            outputs[0] = self.pick("*", f"{tables[0]}.*")
        text = f"SELECT {self.pick('', '', '', 'DISTINCT ')}{', '.join(outputs)} FROM {source}"
        if rng.random() < 0.5:
            where = self.test(seen, min(depth, 1))
            text += (
                f" WHERE {self.pick(where, where, where, 'k > 1', 'a > 1', where + ' OR k = 2')}"
            )
        if rng.random() < 0.35:
            key = self.pick("1", "k", "a", self.value(tables, 0), self.value(tables, 1))
            text += f" GROUP BY {key}"
        if rng.random() < 0.2:
            text += f" HAVING {self.pick('COUNT(*) > 1', 'k > 1', 'a > 1', self.test(seen, 1))}"
        if not around and rng.random() < 0.4:
            key = self.pick("1", "k", "a", "k + 1", "COUNT(*)", self.value(tables, 1))
            text += f" ORDER BY {key}{self.pick('', ' DESC', ' NULLS LAST')}"
        if rng.random() < 0.15:
            text += self.pick(
                " LIMIT 2", " LIMIT 1, 2", " LIMIT 2 OFFSET 1", " FETCH FIRST 1 ROW ONLY"
            )
        if not around and rng.random() < 0.08:
            text = f"WITH w AS ({text}) SELECT {self.pick('*', 'k', 'COUNT(*)', 'a')} FROM w"
        return text


def runs(engine: Engine, text: str) -> bool:
    """Say whether a database takes a text."""
    try:
        engine.run(text)
    except Exception:  # noqa: BLE001 - of four databases, each with its own
        return False
    return True


def blamed(text: str, other: str, schema: object, dialect: str) -> Iterator[tuple[str, str]]:
    """Yield how a text that runs is blamed, as an answer and as the reference."""
    for named in (dialect, None):
        for expected, of in ((text, "itself"), (other, "another")):
            found = query_correctness(text, expected, schema=schema, dialect=named)  # type: ignore[arg-type]
            error = found.error
            if error is None or error.kind == "no_judge":
                continue
            if named is None and of == "itself" and error.origin == "instrument":
                continue  # another of the four may not take it
            yield f"{named or 'no dialect'}, beside {of}", f"{error.kind}: {error.message}"


def random_texts(engine: Engine, n: int, seed: int) -> Iterator[tuple[str, str, object]]:
    """Yield texts that run, each with another query and the schema."""
    rng = random.Random(f"{seed} {engine.dialect}")  # noqa: S311 - nothing secret
    engine.fill({})
    writer, found = Writer(rng, engine.dialect), set[str]()
    while len(found) < n:
        text = writer.query()
        if text not in found and runs(engine, text):
            found.add(text)
            yield text, "SELECT COUNT(*) FROM t", TABLES


def expected_texts(
    files: list[Path], made: Callable[[dict[str, dict[str, str]]], Engine]
) -> Iterator[tuple[str, str, object]]:
    """Yield the expected queries that run on empty tables of their schemas."""
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    columns: dict[str, dict[str, dict[str, str]]] = {}
    for path in files:
        for _, text, schema, _ in references(path):
            if isinstance(schema, dict):
                key = json.dumps(schema)
                columns[key] = types_of(schema)
                texts[key][text] = None
    for key, several in texts.items():
        engine = made(columns[key])
        first = exp.to_identifier(next(iter(columns[key])), quoted=True)
        other = exp.select(exp.Count(this=exp.Star())).from_(exp.Table(this=first))
        for text in several:
            if runs(engine, text):
                yield text, other.sql(engine.dialect), columns[key]


def types_of(schema: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the columns of tables with types that each database has."""
    return {
        table: {
            column: TYPES.get(kind_of(kind), "varchar(200)")
            for column, kind in described.get("columns", described).items()
        }
        for table, described in schema.items()
        if not table.startswith("sqlite_")
    }


def main() -> int:
    """Print how many texts run, and those that are blamed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--texts", type=int, default=200, help="random ones of each database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dialects", nargs="*", default=["duckdb", "sqlite"])
    parser.add_argument("--postgres", default="")
    parser.add_argument("--mysql", default="")
    options = parser.parse_args()
    print(f"{machine()}\n")
    logging.disable()
    n_blamed = 0
    for engine in engines(options, TABLES):
        dialect = engine.dialect
        kinds = {
            "random": random_texts(engine, options.texts, options.seed),
            "expected": expected_texts(options.files, partial(Engine, engine.dialect, engine.run)),
        }
        for kind, several in kinds.items():
            counts: Counter[str] = Counter()
            start, found = time.process_time(), list[str]()
            for text, other, schema in several:
                counts["texts"] += 1
                for how, why in blamed(text, other, schema, dialect):
                    counts[how] += 1
                    found.append(f"  {how}: {why}\n    {text}")
            seconds = time.process_time() - start
            print(
                f"{dialect}, {kind}: {dict(counts)}; {seconds:.0f} s", *found, sep="\n", flush=True
            )
            n_blamed += len(found)
    return 1 if n_blamed else 0


if __name__ == "__main__":
    sys.exit(main())
