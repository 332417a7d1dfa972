"""What `progress=True` shows, with tqdm and without it."""

from __future__ import annotations

import asyncio
import io
import sys
from typing import Any

import pytest

from scorekit import (
    CachedJudge,
    JudgeRequest,
    SqlCase,
    VotingJudge,
    judge_from_function,
    map_scores,
    score_sql_cases,
    table_accuracies_from_columns,
)
from scorekit._core.progress import reporting

CASES = [SqlCase(case_id=f"q{i}", generated="SELECT 1", expected_tables=[]) for i in range(3)]
JUDGE = judge_from_function(lambda _: 1.0, identity="yes")
REQUESTS = [JudgeRequest(generated=f"SELECT {i}", expected="SELECT 9") for i in range(3)]


RUNS: dict[str, Any] = {
    "3 of 3 cases": lambda: score_sql_cases(CASES, progress=True),
    "3 of 3 items": lambda: list(map_scores(abs, [1, 2, 3], progress=True)),
    "3 items": lambda: list(map_scores(abs, iter([1, 2, 3]), progress=True)),
    "2 of 2 items": lambda: table_accuracies_from_columns(
        ["SELECT 1"] * 2, [[], []], progress=True
    ),
    "3 of 3 requests": lambda: CachedJudge(JUDGE).judge_many(REQUESTS, progress=True),
    "2 of 2 requests": lambda: VotingJudge(CachedJudge(JUDGE)).judge_many(
        REQUESTS[:2], progress=True
    ),
}


@pytest.mark.parametrize("line", RUNS)
def test_a_line_of_text_without_tqdm(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is rewritten on the error stream and ended; nothing is shown unasked."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    RUNS[line]()
    shown = stream.getvalue()
    assert shown.endswith(f"\r{line}\n")
    asyncio.run(VotingJudge(CachedJudge(JUDGE)).ajudge_many(REQUESTS, progress=False))
    assert stream.getvalue() == shown


def test_a_bar_of_tqdm(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands at the end and is closed, also where the run is cut short."""
    tqdm = pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    RUNS["3 of 3 cases"]()
    assert "3/3" in stream.getvalue()
    results = map_scores(abs, [1, 2, 3], chunk_size=1, progress=True)
    next(results)
    next(results)
    results.close()
    assert not tqdm.tqdm._instances
    with reporting(True, "case") as bar:  # noqa: FBT003
        assert bar is not None
        for n_done in (1, 2, 2):
            bar(n_done, 3)
        (shown,) = tqdm.tqdm._instances
        assert (shown.n, shown.total) == (2, 3)


def test_without_a_console_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A windowed program has no error stream."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert RUNS["3 of 3 cases"]().n_cases == 3
