"""
Mutated queries in every dialect: does anything but a result come out, and how slow can it get?

    python -m benchmarks.oracles.fuzz_sql [-n 4000] [--seed 0] [--processes 2] [queries.jsonl ...]

Each line of a file is a JSON object; its texts under "generated" and "expected" are mutated.
Without a file a few built-in queries are.  The exit status is 1 if `table_accuracy` raised.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sqlglot.dialects.dialect import Dialect

from benchmarks.machine import machine
from scorekit import table_accuracy

BUILT_IN = [
    "SELECT u.name, COUNT(*) FROM users u JOIN orders o ON o.uid = u.id GROUP BY u.name",
    "WITH t AS (SELECT * FROM a.b) SELECT * FROM t WHERE x IN (SELECT x FROM c) OR NOT y = 'z'",
    "SELECT CASE WHEN a > 1 THEN CAST(b AS INT) ELSE -c END FROM t UNION ALL SELECT d[1] FROM u",
    "INSERT INTO a (x) SELECT y FROM b; UPDATE c SET x = 1 FROM d; DELETE FROM e USING f",
    "MERGE INTO a USING b ON a.x = b.x WHEN MATCHED THEN UPDATE SET y = 2",
    "CREATE TABLE a AS SELECT SUM(x) OVER (PARTITION BY y ORDER BY z) FROM b, LATERAL c",
]
PIECES = """
( ) [ ] { } < > , ; : . :: -> ->> => := = != <> + - * / % || ! ~ @ @@ # $ $$ ? ' " ` ``` -- /* */
SELECT FROM WHERE JOIN LEFT ON USING UNION ALL EXCEPT WITH RECURSIVE AS NOT AND OR IS NULL IN LIKE
BETWEEN CASE WHEN THEN ELSE END CAST EXISTS ANY OVER PARTITION BY ORDER GROUP HAVING LIMIT INTERVAL
ARRAY STRUCT MAP TABLE LATERAL UNNEST PIVOT VALUES INSERT INTO UPDATE SET DELETE MERGE CREATE DROP
ALTER EXPLAIN REPLACE TRUNCATE BEGIN IF WHILE DECLARE RETURNING DISTINCT TOP QUALIFY TABLESAMPLE
0 1e9 0x1F NaN t a.b #tmp dual 'x' "y" `z` é 表 \0 \ufeff \ud800
""".split()  # noqa: SIM905 - a list would take a page
CHUNK = 2000


class Outcome(NamedTuple):
    """What became of some mutants."""

    kinds: Counter[str]
    raised: list[str]
    slowest: tuple[float, str, str]


def mutated(queries: list[str], rng: random.Random) -> str:
    """Return a query with one to three changes to its words or characters."""
    query = rng.choice(queries)
    separator = rng.choice((" ", " ", ""))
    parts = query.split(" ") if separator else list(query)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, to = sorted(rng.randrange(len(parts) + 1) for _ in range(2))
        match rng.randrange(7):
            case 0:
                del parts[at : rng.choice((at + 1, at + 1, to))]
            case 1:
                parts[at:at] = [rng.choice(PIECES)]
            case 2:
                parts[at : at + 1] = [rng.choice(PIECES)]
            case 3:
                parts[at:to] = rng.sample(parts[at:to], to - at)
            case 4:
                parts[at:at] = parts[at:to][:200] * rng.choice((1, 2, 3, 10, 40))
            case 5:
                parts[at:at] = [rng.choice(PIECES)] * rng.choice((2, 10, 40, 200))
            case _:
                parts[at:to] = rng.choice(queries).split(" ")
    return separator.join(parts)


def run(seed: int, queries: list[str], n_mutants: int) -> Outcome:
    """Score some mutants, each in a random dialect or in none."""
    logging.disable(logging.CRITICAL)
    rng = random.Random(seed)  # noqa: S311 - for tests, not for secrets
    dialects = [None, *sorted(filter(None, Dialect.classes))]
    kinds: Counter[str] = Counter()
    raised: list[str] = []
    slowest = (0.0, "", "")
    for dialect in dialects:
        table_accuracy("SELECT 1", [], dialect=dialect)  # warm, so that only queries are timed
    for _ in range(n_mutants):
        query, dialect = mutated(queries, rng), rng.choice(dialects)
        started = time.perf_counter()
        try:
            result = table_accuracy(query, ["t"], dialect=dialect)
        except Exception as error:  # noqa: BLE001 - what this program looks for
            raised.append(f"{dialect}: {error!r}: {query!r}")
            continue
        slowest = max(slowest, (time.perf_counter() - started, dialect or "none", query))
        kinds[result.error.kind if result.error else "scored"] += 1
    return Outcome(kinds, raised, slowest)


def main() -> int:
    """Print the counts as a Markdown table, then what raised and what was slowest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    print(f"{machine()}\n")
    rows = [json.loads(line) for path in options.files for line in path.read_text().splitlines()]
    queries = [row[key] for row in rows for key in ("generated", "expected") if key in row]
    seeds = [options.seed * 1_000_003 + i for i in range(-(-options.n // CHUNK))]
    score = partial(run, queries=queries or BUILT_IN, n_mutants=CHUNK)
    with ProcessPoolExecutor(options.processes) as pool:
        outcomes = list(pool.map(score, seeds))
    kinds = sum((outcome.kinds for outcome in outcomes), Counter[str]())
    raised = [line for outcome in outcomes for line in outcome.raised]
    print(f"{len(seeds) * CHUNK} mutants of {len(queries or BUILT_IN)} queries\n")
    print("| outcome | n |\n|---|---:|")
    for kind, count in kinds.most_common():
        print(f"| {kind} | {count} |")
    print(f"\nraised: {len(raised)}", *raised[:10], sep="\n")
    for seconds, dialect, query in sorted((o.slowest for o in outcomes), reverse=True)[:5]:
        shown = f"{dialect}, {len(query)} characters: {query[:300]!r}"
        print(f"\nslow: {1e3 * seconds:.0f} ms, {shown}")
    return 1 if raised else 0


if __name__ == "__main__":
    sys.exit(main())
