"""
Does a database take a text? What scorekit says of broken texts beside what databases say.

    python -m benchmarks.oracles.check_gate FILE... [--refused 200] [--taken 500] [--seed 1]
        [--dialects sqlite duckdb] [--postgres DSN] [--mysql HOST:PORT:USER] [--syntax]

The expected queries of the FILEs, in the forms that `benchmarks.oracles.corpora` reads, stand for
real texts, on empty tables of their schemas.  `benchmarks.generators.broken_sql` breaks them, or
alters them lightly.  What a database refuses must be an error of the output: the rest is counted
as credit, undecided, or refuted.  What it takes must not be blamed.  Faults are printed.

The parsers of the databases stand beside, where they are installed (pglast, DuckDB's own), and
none of them is needed.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.generators.broken_sql import altered, broken
from benchmarks.machine import machine
from benchmarks.oracles.audits import references
from benchmarks.oracles.check_counterexamples import Engine, engines
from benchmarks.oracles.check_refusals import TABLES, Writer, runs, types_of
from scorekit import query_correctness

_SYNTAX = ("syntax", "1064", "unrecognized token", "incomplete input", "Parser Error")


def texts_of(files: list[Path]) -> dict[str, list[str]]:
    """Return the expected queries by their schemas, each schema as JSON of its columns."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for path in files:
        for _, text, schema, _ in references(path):
            if isinstance(schema, dict):
                found[json.dumps(types_of(schema))][text] = None
    return {key: [*texts] for key, texts in found.items()}


def refusal(engine: Engine, text: str) -> str:
    """Return what a database says against a text, nothing where it takes it."""
    try:
        engine.run(text)
    except Exception as error:  # noqa: BLE001 - of four databases, each with its own
        return f"{getattr(error, 'pgcode', '') or ''} {type(error).__name__} {error}"
    return ""


def verdict(text: str, expected: str, schema: Any, dialect: str) -> tuple[str, str]:
    """Return what becomes of a text as an answer, and why."""
    found = query_correctness(text, expected, schema=schema, dialect=dialect)
    if found.error is None:
        return ("credit" if found.score == 1.0 else "refuted"), found.reasoning
    return ("output" if found.error.origin == "output" else "undecided"), found.error.message


def pairs(
    engine: Engine, texts: dict[str, list[str]], rng: random.Random
) -> Iterator[tuple[str, str, Any]]:
    """Yield texts without end, each with a query that runs and the schema; tables are there."""
    while True:
        key = rng.choice([*texts])
        columns = json.loads(key)
        if engine.dialect == "postgres":  # where names without quotes have no capital letters
            columns = {
                table.lower(): {name.lower(): kind for name, kind in kinds.items()}
                for table, kinds in columns.items()
            }
        engine = Engine(engine.dialect, engine.run, columns)
        right = [text for text in texts[key] if runs(engine, text)]
        for _ in range(20 * len(right)):
            text = rng.choice(right)
            yield rng.choice((broken, broken, altered))(text, rng), text, columns
        for text in right:
            yield text, f"{text} LIMIT 1", columns
        engine.drop()


def random_pairs(dialect: str, rng: random.Random) -> Iterator[tuple[str, str, Any]]:
    """Yield random texts of the writer, on its own tables."""
    writer = Writer(rng, dialect)
    while True:
        yield writer.query(), "SELECT COUNT(*) FROM t", TABLES


def check(engine: Engine, options: argparse.Namespace, texts: dict[str, list[str]]) -> int:
    """Print what becomes of texts in one database; return how many are judged falsely."""
    rng = random.Random(f"{options.seed} {engine.dialect}")  # noqa: S311 - nothing secret
    refused: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    seen: set[str] = set()
    faults: list[str] = []
    start = time.process_time()
    several = pairs(engine, texts, rng) if texts else random_pairs(engine.dialect, rng)
    for text, expected, columns in several:
        if refused.total() >= options.refused and taken.total() >= options.taken:
            break
        if text in seen:
            continue
        seen.add(text)
        why = refusal(engine, text)
        if why and (
            refused.total() >= options.refused
            or (options.syntax and not any(one in why for one in _SYNTAX))
        ):
            continue
        if not why and taken.total() >= options.taken:
            continue
        kind, said = verdict(text, expected, columns, engine.dialect)
        (refused if why else taken)[kind] += 1
        if (kind != "output") if why else (kind == "output"):
            faults.append(f"  {kind}: {said[:200]}\n    {why[:150]!r}\n    {text}")
    seconds = time.process_time() - start
    print(f"{engine.dialect}: refused {dict(refused)}; taken {dict(taken)}; {seconds:.0f} s")
    print(*faults, sep="\n", flush=True)
    return refused["credit"] + taken["output"]


def main() -> int:
    """Print, for each database, what becomes of the texts that it refuses and takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--refused", type=int, default=200, help="texts of each database")
    parser.add_argument("--taken", type=int, default=500, help="texts of each database")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dialects", nargs="*", default=["duckdb", "sqlite"])
    parser.add_argument("--postgres", default="")
    parser.add_argument("--mysql", default="")
    parser.add_argument("--syntax", action="store_true", help="only what is refused as syntax")
    options = parser.parse_args()
    print(f"{machine()}\n")
    logging.disable()
    texts = texts_of(options.files)
    n_false = sum(check(engine, options, texts) for engine in engines(options, TABLES))
    return 1 if n_false else 0


if __name__ == "__main__":
    sys.exit(main())
