"""Many SQL cases: scores in input order and a report over them (`score_sql_cases`)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import attrs

from scorekit._checks import check_count, check_instance, check_records
from scorekit._judges import Judge, check_timeout, in_thread
from scorekit._records import FrozenMapping, Report
from scorekit._sql_case import (
    METRICS,
    SqlCase,
    SqlCaseScore,
    acorrectness,
    ascore_sql_case,
    case_score,
    check_judge,
    failed,
    other_metrics,
    run_to_end,
    score_sql_case,
)
from scorekit.calibration import ConfidenceCalibration, confidence_calibration
from scorekit.judge_cache import CachedJudge
from scorekit.parallel import map_scores
from scorekit.summary import Statistics, describe
from scorekit.validation import SafetySummary, safety_summary

CHUNK_SIZE = 500
"""Cases that are computed before the event loop and the progress hear of them."""

MAX_CONCURRENCY = 50
"""Judgements under way at once."""

Progress = Callable[[int, int], object]


@attrs.frozen(kw_only=True)
class SqlReport(Report):
    """
    Result of `score_sql_cases`: statistics per metric, then the cases in input order.

    Where an instrument failed (a judge that timed out, say) the case is left out of that
    metric's statistics and counted in *n_failed*; unreadable SQL counts as 0.0.
    """

    version: ClassVar[int] = 1

    query_correctness: Statistics | None
    """None where no case has a score, as for the other metrics."""
    table_accuracy: Statistics | None
    safety_validation: Statistics | None
    validation_accuracy: Statistics | None
    safety: SafetySummary | None
    calibration: ConfidenceCalibration | None
    """Of stated confidence against query correctness, over the cases that have both."""
    n_cases: int
    n_failed: int
    """Metric results that are only placeholders."""
    n_by_method: FrozenMapping[str, int]
    """How many pairs were decided by each method of `query_correctness`."""
    n_contested: int
    cases: tuple[SqlCaseScore, ...]

    def __attrs_post_init__(self) -> None:
        """Refuse counts that contradict the cases."""
        check_count("n_cases", self.n_cases, len(self.cases), len(self.cases))

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat dict per case, ready for a data frame; None is no score."""
        return [_row(case) for case in self.cases]


def _row(case: SqlCaseScore) -> dict[str, Any]:
    row: dict[str, Any] = {"case_id": case.case_id, "confidence": case.confidence}
    for name in METRICS:
        result = getattr(case, name)
        error = None if result is None else result.error
        row[name] = None if result is None or failed(result) else result.score
        row[f"{name}_error"] = None if error is None else error.kind
    row["method"] = case.query_correctness and case.query_correctness.method
    return {**row, "duration_seconds": case.duration_seconds, "n_failed": case.n_failed}


def score_sql_cases(
    cases: Iterable[SqlCase],
    *,
    judge: Judge | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    timeout_seconds: float = 30.0,
) -> SqlReport:
    """
    Score many cases and report statistics per metric, safety and calibration.

    Args:
        cases: The cases; the report keeps their order.
        judge: Whom `query_correctness` asks, several pairs at a time; verdicts are kept in memory
            for the run, so that a repeated pair is asked about once (see `CachedJudge`).
        executor: Computes what needs no judge, through `map_scores`; the judge stays here.
        progress: Called with the number of cases done and of all cases, from time to time.
        timeout_seconds: Bound on each judgement (``> 0``).

    Returns:
        A frozen `SqlReport`.

    Raises:
        InputError: If there are no cases, *timeout_seconds* is not positive, or *executor* is shut
            down.
        TypeError: If an item is not a `SqlCase` or *judge* not a `Judge`.
        WorkerError: If a worker died and *executor* does not replace it.

    Examples:
        >>> report = score_sql_cases(
        ...     SqlCase(case_id=f"q{i}", generated=sql, expected_tables=["users"])
        ...     for i, sql in enumerate(["SELECT id FROM users", "SELECT id FROM orders"])
        ... )
        >>> report.table_accuracy.mean, report.n_failed
        (0.5, 0)
        >>> score_sql_cases([])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cases must be a non-empty sequence of SqlCase, got ()

    .. versionadded:: 0.1.0
    """
    items = check_records("cases", cases, SqlCase)
    return run_to_end(
        lambda: ascore_sql_cases(
            items,
            judge=judge,
            executor=executor,
            progress=progress,
            timeout_seconds=timeout_seconds,
        )
    )


async def ascore_sql_cases(
    cases: Iterable[SqlCase],
    *,
    judge: Judge | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    timeout_seconds: float = 30.0,
) -> SqlReport:
    """
    Do what `score_sql_cases` does without blocking the event loop while judges think.

    Args:
        cases: The cases; the report keeps their order.
        judge: Whom `query_correctness` asks, through ``ajudge``, several pairs at a time.
        executor: Computes what needs no judge, through `map_scores`.
        progress: Called with the number of cases done and of all cases, from time to time.
        timeout_seconds: Bound on each judgement (``> 0``).

    Returns:
        A frozen `SqlReport`.

    Raises:
        InputError: As `score_sql_cases`.
        TypeError: As `score_sql_cases`.
        WorkerError: As `score_sql_cases`.

    Examples:
        >>> case = SqlCase(case_id="q1", generated="SELECT 1", expected="SELECT 1;")
        >>> asyncio.run(ascore_sql_cases([case])).n_by_method
        {'identical': 1}

    .. versionadded:: 0.1.0
    """
    items = check_records("cases", cases, SqlCase)
    check_judge(judge)
    check_timeout(timeout_seconds)
    if executor is not None:
        check_instance("executor", executor, Executor)
    if judge is not None and not isinstance(judge, CachedJudge):
        judge = CachedJudge(judge)  # repeated pairs of this run are asked about once
    run = _Run(items, judge, executor, progress, timeout_seconds)
    return _report(await run.scores())


class _Run:
    """Cases on their way: the judge is asked here while the rest is computed elsewhere."""

    def __init__(
        self,
        cases: tuple[SqlCase, ...],
        judge: Judge | None,
        executor: Executor | None,
        progress: Progress | None,
        timeout_seconds: float,
    ) -> None:
        self._cases = cases
        self._judge = judge
        self._executor = executor
        self._progress = progress
        self._timeout_seconds = timeout_seconds
        self._asked: dict[int, SqlCaseScore] = {}
        self._computed: list[SqlCaseScore] = []

    async def scores(self) -> tuple[SqlCaseScore, ...]:
        """Return the scores in input order."""
        if self._judge is None:
            await self._compute(partial(score_sql_case, timeout_seconds=self._timeout_seconds))
            return tuple(self._computed)
        waiting = iter(enumerate(self._cases))
        n_askers = min(MAX_CONCURRENCY, len(self._cases))
        tasks = [asyncio.ensure_future(self._ask(waiting)) for _ in range(n_askers)]
        if self._executor is not None:
            tasks.append(asyncio.ensure_future(self._compute(_score_without_judge)))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        asked = (self._asked[position] for position in range(len(self._cases)))
        if self._executor is None:
            return tuple(asked)
        return tuple(map(_together, self._computed, asked))

    async def _ask(self, waiting: Iterator[tuple[int, SqlCase]]) -> None:
        """Take one case after another; without an executor the rest is computed meanwhile."""
        for position, case in waiting:
            if self._executor is None:
                score = await ascore_sql_case(
                    case, judge=self._judge, timeout_seconds=self._timeout_seconds
                )
            else:
                started = time.perf_counter()
                correctness = await acorrectness(case, self._judge, self._timeout_seconds)
                score = case_score(case, correctness, (None, None, None), started)
            self._asked[position] = score
            self._tell(len(self._asked))

    async def _compute(self, score: Callable[[SqlCase], SqlCaseScore]) -> None:
        """Take results in a thread, some at a time, so that the event loop goes on."""
        results = map_scores(score, self._cases, executor=self._executor)

        def take() -> list[SqlCaseScore]:
            return list(islice(results, CHUNK_SIZE))

        while part := await asyncio.wrap_future(in_thread(take)):
            self._computed += part
            self._tell(len(self._computed))

    def _tell(self, n_done: int) -> None:
        if self._judge is not None and self._executor is not None:
            n_done = min(len(self._asked), len(self._computed))
        if self._progress is not None:
            self._progress(n_done, len(self._cases))


def _score_without_judge(case: SqlCase) -> SqlCaseScore:
    started = time.perf_counter()
    return case_score(case, None, other_metrics(case), started)


def _together(computed: SqlCaseScore, asked: SqlCaseScore) -> SqlCaseScore:
    return attrs.evolve(
        computed,
        query_correctness=asked.query_correctness,
        duration_seconds=max(computed.duration_seconds, asked.duration_seconds),
        n_failed=computed.n_failed + asked.n_failed,
    )


def _report(scores: tuple[SqlCaseScore, ...]) -> SqlReport:
    results = {name: [getattr(score, name) for score in scores] for name in METRICS}
    means = {
        name: _describe([r.score for r in column if r is not None and not failed(r)])
        for name, column in results.items()
    }
    correctness = [result for result in results["query_correctness"] if result is not None]
    safety = [result for result in results["safety_validation"] if result is not None]
    stated = [
        (score.confidence, score.query_correctness.score)
        for score in scores
        if score.confidence is not None
        and score.query_correctness is not None
        and not failed(score.query_correctness)
    ]
    return SqlReport(
        query_correctness=means["query_correctness"],
        table_accuracy=means["table_accuracy"],
        safety_validation=means["safety_validation"],
        validation_accuracy=means["validation_accuracy"],
        safety=safety_summary(safety) if safety else None,
        calibration=confidence_calibration(*zip(*stated, strict=True)) if stated else None,
        n_cases=len(scores),
        n_failed=sum(score.n_failed for score in scores),
        n_by_method=FrozenMapping(Counter(r.method for r in correctness if r.method is not None)),
        n_contested=sum(result.contested for result in correctness),
        cases=scores,
    )


def _describe(scores: list[float]) -> Statistics | None:
    return describe(scores) if scores else None
