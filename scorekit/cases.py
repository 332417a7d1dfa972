"""Many SQL cases: scores in input order and a report over them (`score_sql_cases`)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from typing import Any, ClassVar, TypeVar

import attrs

from scorekit._checks import (
    check_callable,
    check_choice,
    check_count,
    check_instance,
    check_records,
)
from scorekit._judges import Judge, check_timeout, in_thread, optional_judge
from scorekit._records import FrozenMapping, Report
from scorekit._sql_case import (
    METRICS,
    SqlCase,
    SqlCaseScore,
    acorrectness,
    ascore_sql_case,
    case_score,
    failed,
    other_metrics,
    run_to_end,
    score_sql_case,
)
from scorekit.calibration import ConfidenceCalibration, confidence_calibration
from scorekit.equivalence import SqlEquivalence
from scorekit.judge_cache import CachedJudge
from scorekit.judging import Evidence, evidence_of, recall_evidence
from scorekit.parallel import map_scores
from scorekit.summary import Statistics, describe
from scorekit.validation import SafetySummary, safety_summary

CHUNK_SIZE = 500
"""Cases that are computed before the event loop and the progress hear of them."""

PREPARED_AT_ONCE = 50
"""Cases that workers prepare before the judge hears of them."""

MAX_CONCURRENCY = 50
"""Judgements under way at once."""

MAX_KINDS = 3
"""Kinds of failures that a report's text names, the most frequent first."""

R = TypeVar("R")
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

    def __str__(self) -> str:
        """Return a line for each metric, numbers rounded for display."""
        found = [(name, getattr(self, name)) for name in METRICS]
        lines = [f"{name}: {s.mean:.4g} (mean of {s.count})" for name, s in found if s is not None]
        kinds = Counter(
            f"{name}: {result.error.kind}"
            for case in self.cases
            for name, result in case.metrics().items()
            if failed(result)
        )
        why = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common(MAX_KINDS))
        last = f"cases: {self.n_cases}, failed results: {self.n_failed}"
        return "\n".join([*lines, f"{last} ({why})" if why else last])

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
    evidence: Evidence = "auto",
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
        evidence: ``"auto"`` looks for a proof or a counterexample before the judge is asked,
            ``"judge"`` does not.
        timeout_seconds: Bound on each judgement (``> 0``).

    Returns:
        A frozen `SqlReport`.

    Raises:
        InputError: If there are no cases, *evidence* is neither word, *timeout_seconds* is not
            positive, or *executor* is shut down.
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
            evidence=evidence,
            timeout_seconds=timeout_seconds,
        )
    )


async def ascore_sql_cases(
    cases: Iterable[SqlCase],
    *,
    judge: Judge | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
) -> SqlReport:
    """
    Do what `score_sql_cases` does without blocking the event loop while judges think.

    Args:
        cases: The cases; the report keeps their order.
        judge: Whom `query_correctness` asks, through ``ajudge``, several pairs at a time.
        executor: Computes what needs no judge, through `map_scores`.
        progress: Called with the number of cases done and of all cases, from time to time.
        evidence: ``"auto"`` looks for a proof or a counterexample before the judge is asked,
            ``"judge"`` does not.
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
    optional_judge(judge)
    check_timeout(timeout_seconds)
    if executor is not None:
        check_instance("executor", executor, Executor)
    if progress is not None:
        check_callable("progress", progress)
    if judge is not None and not isinstance(judge, CachedJudge):
        judge = CachedJudge(judge)  # repeated pairs of this run are asked about once
    check_choice("evidence", evidence, ("auto", "judge"))
    run = _Run(items, judge, executor, progress, evidence, timeout_seconds)
    return _report(await run.scores())


Prepared = tuple[SqlCaseScore, tuple[SqlEquivalence, ...]]


@attrs.define
class _Run:
    """Cases on their way: the judge is asked here, the rest may be computed elsewhere."""

    cases: tuple[SqlCase, ...]
    judge: Judge | None
    executor: Executor | None
    progress: Progress | None
    evidence: Evidence
    timeout_seconds: float
    ready: asyncio.Queue[int | None] = attrs.field(factory=asyncio.Queue)
    """Cases to ask the judge about; None is the end."""
    prepared: list[Prepared] = attrs.field(factory=list)
    n_done: int = 0

    async def scores(self) -> tuple[SqlCaseScore, ...]:
        """Return the scores in input order."""
        if self.judge is None:
            score = partial(
                score_sql_case, evidence=self.evidence, timeout_seconds=self.timeout_seconds
            )
            computed: list[SqlCaseScore] = []
            async for part in self._computed(score, CHUNK_SIZE):
                computed += part
                self._tell(len(part))
            return tuple(computed)
        scores: dict[int, SqlCaseScore] = {}
        n_askers = min(MAX_CONCURRENCY, len(self.cases))
        tasks = [asyncio.ensure_future(self._ask(scores)) for _ in range(n_askers)]
        tasks.append(asyncio.ensure_future(self._prepare(n_askers)))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return tuple(scores[position] for position in range(len(self.cases)))

    async def _prepare(self, n_askers: int) -> None:
        """Hand out the cases as soon as workers have done what needs no judge."""
        if self.executor is None:
            for position in range(len(self.cases)):
                self.ready.put_nowait(position)
        else:
            prepare = partial(_prepared, evidence=self.evidence)
            async for part in self._computed(prepare, PREPARED_AT_ONCE):
                first = len(self.prepared)
                self.prepared += part
                for position in range(first, len(self.prepared)):
                    self.ready.put_nowait(position)
        for _ in range(n_askers):
            self.ready.put_nowait(None)

    async def _ask(self, scores: dict[int, SqlCaseScore]) -> None:
        """Take one case after another."""
        while (position := await self.ready.get()) is not None:
            case = self.cases[position]
            if self.executor is None:
                scores[position] = await ascore_sql_case(
                    case,
                    judge=self.judge,
                    evidence=self.evidence,
                    timeout_seconds=self.timeout_seconds,
                )
            else:
                scores[position] = await self._together(case, *self.prepared[position])
            self._tell(1)

    async def _together(
        self, case: SqlCase, computed: SqlCaseScore, known: tuple[SqlEquivalence, ...]
    ) -> SqlCaseScore:
        started = time.perf_counter()
        if case.expected is not None:
            recall_evidence(case.generated, case.expected, case.dialect, case.schema, known)
        correctness = await acorrectness(case, self.judge, self.evidence, self.timeout_seconds)
        return attrs.evolve(
            computed,
            query_correctness=correctness,
            duration_seconds=max(computed.duration_seconds, time.perf_counter() - started),
            n_failed=computed.n_failed + (correctness is not None and failed(correctness)),
        )

    async def _computed(self, function: Callable[[SqlCase], R], n: int) -> AsyncIterator[list[R]]:
        """Yield results, some at a time, taken in a thread so that the event loop goes on."""
        results = map_scores(function, self.cases, executor=self.executor, chunk_size=n)
        while part := await asyncio.wrap_future(in_thread(lambda: list(islice(results, n)))):
            yield part

    def _tell(self, n_more: int) -> None:
        self.n_done += n_more
        if self.progress is not None:
            self.progress(self.n_done, len(self.cases))


def _prepared(case: SqlCase, *, evidence: Evidence) -> Prepared:
    """Compute what needs no judge."""
    started = time.perf_counter()
    score = case_score(case, None, other_metrics(case), started)
    if case.expected is None or evidence == "judge":
        return score, ()
    known = evidence_of(case.generated, case.expected, case.dialect, case.schema)
    return attrs.evolve(score, duration_seconds=time.perf_counter() - started), known


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
