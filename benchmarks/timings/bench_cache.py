"""
What a remembered verdict costs: raw stores, `CachedJudge.peek`, and `query_correctness`.

Medians over batches of lookups of different keys, all in one run, on a fresh directory.

    python -m benchmarks.timings.bench_cache [--full]
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]  # it ships no types

from benchmarks.machine import alone
from scorekit._judge import store
from scorekit.correctness import query_correctness
from scorekit.judges import CachedJudge, JudgeRequest, Verdict, judge_from_function

BATCH = 100
VERDICT = Verdict(score=0.5, reasoning="The filter on status is missing. " * 6, model="m")


def microseconds(look_up: Callable[[Any], object], keys: Sequence[Any]) -> float:
    """Return the median over batches of the time of one lookup."""
    times: list[float] = []
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        began = time.perf_counter()
        for key in batch:
            assert look_up(key) is not None
        times.append((time.perf_counter() - began) / len(batch) * 1e6)
    return statistics.median(times)


def expected(n: int) -> str:
    """Return one of many queries."""
    sql = "SELECT id, name FROM users WHERE status = 'active' AND region = "
    return sql + str(n)


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    n_entries = 2000 if full else 500
    judge = judge_from_function(lambda _: VERDICT, identity="bench")
    requests = [JudgeRequest(generated="SELECT 1", expected=expected(n)) for n in range(n_entries)]
    queries = list(map(expected, range(n_entries)))
    rows: list[tuple[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        first = CachedJudge(judge, directory=directory / "ours")
        began = time.perf_counter()
        for request in requests:
            first.judge(request)
        rows.append(("first ask and write", (time.perf_counter() - began) / n_entries * 1e6))

        keys = [first._key(request) for request in requests]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        text_store = store.TextStore(directory / "ours")
        texts = {key: text_store.get(key) for key in keys}
        settings = {"disk": store.TextDisk, **store.SETTINGS}
        raw = {
            "diskcache, default": diskcache.Cache(str(directory / "default")),
            "diskcache, our settings": diskcache.Cache(str(directory / "set"), **settings),
        }
        for cache in raw.values():
            for key, text in texts.items():
                cache.set(key, text)
        rows.append(("dict", microseconds(texts.get, keys)))
        rows += [(f"{kind}: text", microseconds(c.get, keys)) for kind, c in raw.items()]
        rows.append(("our store: text", microseconds(text_store.get, keys)))

        def fresh() -> CachedJudge:
            return CachedJudge(judge, directory=directory / "ours")

        rows.append(("peek, from disk", microseconds(fresh().peek, requests)))
        rows.append(("peek, from memory", microseconds(first.peek, requests)))
        for query in queries:  # evidence is looked for once as well, and part of what is asked
            query_correctness("SELECT 1", query, judge=first)
        for kind, cached in (("disk", fresh()), ("memory", first)):

            def ask(query: str, cached: CachedJudge = cached) -> bool | None:
                return query_correctness("SELECT 1", query, judge=cached).cached or None

            rows.append((f"query_correctness, from {kind}", microseconds(ask, queries)))
        first.close()
    print(f"{n_entries} entries\n\n| lookup | microseconds |\n|---|---|")
    for what, value in rows:
        print(f"| {what} | {value:.1f} |")


if __name__ == "__main__":
    alone(main)
