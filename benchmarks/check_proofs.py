"""
Random pairs of queries: is anything proved that a database contradicts, and how much is proved?

    python -m benchmarks.check_proofs [--pairs 500] [--databases 20] [--seed 1]

Pairs are drawn until the given number has been proved; each of these is run on every database.
An interrupt ends it early, with the figures so far.  The exit status is 1 if one of them gave
different rows.
"""

from __future__ import annotations

import argparse
import logging
import random
import signal
import sqlite3
import statistics
import sys
import time
from collections import Counter

from benchmarks.machine import machine
from benchmarks.queries import contradicts, database, pair, schemas
from scorekit._sql.parsing import parse
from scorekit._sql.prove.canonical import prove
from scorekit.errors import SqlError


def main() -> int:
    """Print the counts as a Markdown table, then what was contradicted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--databases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=0, help="sound pairs without a proof to show")
    options = parser.parse_args()
    print(f"{machine()}\n")
    logging.disable(logging.CRITICAL)
    rng = random.Random(options.seed)  # noqa: S311 - for tests, not for secrets
    known = schemas()
    databases = {
        keys: [database(rng, keys=keys) for _ in range(options.databases)]
        for keys in (False, True)
    }
    counts: Counter[tuple[str, bool, str]] = Counter()
    wrong: list[str] = []
    seconds: list[float] = []
    n_proved = 0
    stopped: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    while n_proved < options.pairs and not stopped:
        sound, knowledge = rng.random() < 0.6, rng.choice(list(known))
        first, second = pair(rng, sound=sound)
        try:
            trees = [parse(sql, "sqlite").statements[0] for sql in (first, second)]
        except SqlError as error:
            counts[knowledge, sound, f"not read: {error.kind}"] += 1
            continue
        started = time.perf_counter()
        proof = prove(*trees, schema=known[knowledge], dialect="sqlite", semantics="bag")
        seconds.append(time.perf_counter() - started)
        counts[knowledge, sound, "proved" if proof else "unknown"] += 1
        if proof is None:
            if sound and options.show:
                options.show -= 1
                print(f"not proved ({knowledge}):\n  {first}\n  {second}")
            continue
        n_proved += 1
        try:
            contradicted = contradicts(first, second, databases[knowledge == "keys"])
        except sqlite3.Error as error:
            counts[knowledge, sound, f"error: {error}"[:60]] += 1
            continue
        if contradicted:
            wrong.append(f"{knowledge}, {proof.assumptions}:\n  {first}\n  {second}")
    print("| known | pairs made to be equal | outcome | n |\n|---|---|---|---:|")
    for (knowledge, sound, outcome), count in sorted(counts.items()):
        print(f"| {knowledge} | {'yes' if sound else 'no'} | {outcome} | {count} |")
    median, slowest = 1e3 * statistics.median(seconds), 1e3 * max(seconds)
    print(f"\n{n_proved} proofs run on {options.databases} databases each")
    print(f"time of one attempt: median {median:.2f} ms, slowest {slowest:.0f} ms")
    print(f"contradicted: {len(wrong)}", *wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
