"""Whether generated SQL means what was expected: `query_correctness`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Literal, cast

import attrs

from scorekit._checks import (
    check_choice,
    check_instance,
    check_items,
    check_text,
)
from scorekit._judges import (
    Judge,
    JudgeRequest,
    Remembering,
    Verdict,
    as_verdict,
    check_timeout,
    in_thread,
)
from scorekit._records import FrozenMapping, MetricError, MetricResult, metric_error
from scorekit._sql import check_dialect, check_sql
from scorekit.errors import JudgeError, SqlError, refuse

METRIC = "query_correctness"

TIMEOUT_MESSAGE = "LLM judge timeout"

Schema = str | Mapping[str, Mapping[str, str]]
Evidence = Literal["auto", "judge"]

_log = logging.getLogger(__name__)


@attrs.frozen(kw_only=True)
class QueryCorrectness(MetricResult):
    """Result of `query_correctness`."""

    score: float
    """1.0 equivalent, 0.5 partly right, 0.0 incorrect or failed (see *error*)."""
    reasoning: str
    method: Literal["identical", "proved", "judge"] | None
    """What decided; None if nothing could."""
    cached: bool = False
    """Whether the judge's verdict came from a cache."""
    contested: bool = False
    """Whether the judge says equivalent in the face of a counterexample."""
    votes: tuple[float, ...] = ()
    """The single scores, where several asks were put to the vote; they may disagree."""
    instructions_found: bool = False
    """Whether the SQL, schema or question carries text that looks like instructions to a judge."""
    usage: FrozenMapping[str, int] | None = None
    """Tokens that the verdict cost when it was first given."""
    cost_usd: float | None = None
    model: str | None = None
    response_id: str | None = None
    error: MetricError | None = None


def query_correctness(
    generated: str,
    expected: str | Iterable[str],
    *,
    judge: Judge | None = None,
    dialect: str | None = None,
    schema: Schema | None = None,
    question: str | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
) -> QueryCorrectness:
    """
    Score whether a generated query answers what the expected one does: 1.0, 0.5 or 0.0.

    In this order: identical text (outer space and final ``;`` aside) is right without asking
    anyone; SQL that does not parse is wrong; everything else is the judge's to decide.  Without a
    judge an undecided pair is a failure of the instrument, not a guess.

    Args:
        generated: The model's SQL.
        expected: The reference SQL, or several accepted queries of which the best counts.
        judge: Whom to ask; see `judge_from_function`.
        dialect: SQL dialect of both, as sqlglot names it; None tries several.
        schema: The tables, as text or as a mapping from table to column to type.
        question: What the query should answer, in the user's words.
        evidence: ``"auto"`` or ``"judge"``; what may decide before the judge is asked.
        timeout_seconds: Bound on the judge, retries included (``> 0``).

    Returns:
        A frozen `QueryCorrectness`.  A judge that fails or takes too long gives 0.0 with an
        *error* whose origin is ``"instrument"``; unreadable SQL gives 0.0 with the origin
        ``"output"``.

    Raises:
        InputError: If *expected* is empty, *dialect* unknown, *evidence* neither word, or
            *timeout_seconds* not positive.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> result = query_correctness("SELECT 1 ", "SELECT 1;")
        >>> result.score, result.reasoning, result.method
        (1.0, 'Queries are identical', 'identical')
        >>> query_correctness("SELECT 1", "")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: expected must be a non-empty string, got ''

    .. versionadded:: 0.1.0
    """
    pair = _Pair.checked(
        generated, expected, judge, dialect, schema, question, evidence, timeout_seconds
    )
    decided = pair.without_judge() or pair.remembered()
    if decided is not None:
        return decided
    answer = in_thread(pair.ask)
    try:
        return pair.judged(answer.result(pair.timeout_seconds))
    except Exception as error:  # noqa: BLE001 - whatever a judge raises is a failed judgement
        return pair.failed(error)


async def aquery_correctness(
    generated: str,
    expected: str | Iterable[str],
    *,
    judge: Judge | None = None,
    dialect: str | None = None,
    schema: Schema | None = None,
    question: str | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
) -> QueryCorrectness:
    """
    Do what `query_correctness` does without blocking the event loop while the judge thinks.

    Args:
        generated: As for `query_correctness`, like all that follow.
        expected: The reference SQL, or several accepted queries.
        judge: Whom to ask, through ``ajudge``.
        dialect: SQL dialect of both.
        schema: The tables.
        question: What the query should answer.
        evidence: What may decide before the judge is asked.
        timeout_seconds: Bound on the judge.

    Returns:
        A frozen `QueryCorrectness`.

    Raises:
        InputError: As `query_correctness`.
        TypeError: As `query_correctness`.

    Examples:
        >>> asyncio.run(aquery_correctness("SELECT 1", "SELECT 1")).score
        1.0

    .. versionadded:: 0.1.0
    """
    pair = _Pair.checked(
        generated, expected, judge, dialect, schema, question, evidence, timeout_seconds
    )
    decided = pair.without_judge() or pair.remembered()
    if decided is not None:
        return decided
    task = asyncio.ensure_future(pair.aask())
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, if too late
    try:
        # Not wait_for: that waits on for a judge which ignores its cancellation.
        await asyncio.wait({task}, timeout=pair.timeout_seconds)
        return pair.judged(task.result()) if task.done() else pair.failed(TimeoutError())
    except Exception as error:  # noqa: BLE001 - as above
        return pair.failed(error)
    finally:
        task.cancel()


@attrs.frozen
class _Pair:
    """The checked arguments of one question, and how its answer becomes a result."""

    generated: str
    accepted: tuple[str, ...]
    judge: Judge | None
    dialect: str | None
    schema: str | None
    question: str | None
    timeout_seconds: float

    @classmethod
    def checked(  # noqa: PLR0917 - one caller each way, in the order of the public signature
        cls,
        generated: object,
        expected: object,
        judge: object,
        dialect: str | None,
        schema: Schema | None,
        question: str | None,
        evidence: object,
        timeout_seconds: object,
    ) -> _Pair:
        check_choice("evidence", evidence, ("auto", "judge"))
        if judge is not None:
            check_instance("judge", judge, Judge)  # type: ignore[type-abstract]
        if question is not None:
            check_text("question", question, empty=True)
        check_dialect(dialect)
        return cls(
            generated=check_text("generated", generated, empty=True),
            accepted=accepted_queries(expected),
            judge=cast("Judge | None", judge),
            dialect=dialect,
            schema=None if schema is None else schema_text(schema),
            question=question,
            timeout_seconds=check_timeout(timeout_seconds),
        )

    def without_judge(self) -> QueryCorrectness | None:
        """Return the result where no judge is needed, or none can be asked."""
        if _bare(self.generated) in map(_bare, self.accepted):
            return QueryCorrectness(
                score=1.0, reasoning="Queries are identical", method="identical"
            )
        try:
            check_sql(self.generated, self.dialect)
        except SqlError as error:
            return self._failure("output", error.kind, error)
        if self.judge is None:
            message = (
                "the queries differ in text and there is no judge to ask; "
                "pass judge=ClaudeJudge() or judge=judge_from_function(...)"
            )
            return self._failure("instrument", "no_judge", message)
        return None

    def remembered(self) -> QueryCorrectness | None:
        """Return the result where the judge knows all it needs, without waiting for anything."""
        if not isinstance(self.judge, Remembering) or len(self.accepted) > 1:
            return None  # of several, those that are known would be looked up and counted twice
        request = self._requests()[0]
        verdict = self.judge.peek(request)
        return None if verdict is None else self.judged((request, verdict))

    def ask(self) -> tuple[JudgeRequest, Verdict]:
        """Ask the judge about each accepted query until one is equivalent."""
        assert self.judge is not None  # noqa: S101 - for the type checkers
        best = None
        for request in self._requests():
            best = _better(best, request, self.judge.judge(request))
            if best[1].score == 1.0:
                break
        return cast("tuple[JudgeRequest, Verdict]", best)

    async def aask(self) -> tuple[JudgeRequest, Verdict]:
        """Do the same through ``ajudge``."""
        assert self.judge is not None  # noqa: S101 - for the type checkers
        best = None
        for request in self._requests():
            best = _better(best, request, await self.judge.ajudge(request))
            if best[1].score == 1.0:
                break
        return cast("tuple[JudgeRequest, Verdict]", best)

    def _requests(self) -> list[JudgeRequest]:
        return [
            JudgeRequest(
                generated=self.generated,
                expected=expected,
                question=self.question,
                schema=self.schema,
                dialect=self.dialect,
            )
            for expected in self.accepted
        ]

    def judged(self, answer: tuple[JudgeRequest, Verdict]) -> QueryCorrectness:
        """Return the result of a verdict."""
        _, verdict = answer
        return QueryCorrectness(
            score=verdict.score,
            reasoning=verdict.reasoning,
            method="judge",
            cached=verdict.cached,
            votes=verdict.votes,
            instructions_found=verdict.instructions_found,
            usage=verdict.usage,
            cost_usd=verdict.cost_usd,
            model=verdict.model,
            response_id=verdict.response_id,
        )

    def failed(self, error: Exception) -> QueryCorrectness:
        """Return the result of a judge that raised or ran out of time."""
        if isinstance(error, TimeoutError):
            return self._failure("instrument", "timeout", TIMEOUT_MESSAGE)
        if isinstance(error, JudgeError):
            cause = error.message if error.kind == "timeout" else error  # whose text begins so too
            result = self._failure("instrument", error.kind, cause)
            usage = None if error.usage is None else FrozenMapping(error.usage)
            return attrs.evolve(result, usage=usage, cost_usd=error.cost_usd)
        return self._failure("instrument", "judge_failure", error)

    def _failure(
        self, origin: Literal["output", "instrument"], kind: str, error: Exception | str
    ) -> QueryCorrectness:
        inputs = {"generated": self.generated, "expected": " | ".join(self.accepted)}
        record = metric_error(
            METRIC, origin=origin, kind=kind, error=error, inputs=inputs, logger=_log
        )
        return QueryCorrectness(score=0.0, reasoning=record.message, method=None, error=record)


def _better(
    best: tuple[JudgeRequest, Verdict] | None, request: JudgeRequest, answer: object
) -> tuple[JudgeRequest, Verdict]:
    verdict = as_verdict(answer)
    return best if best is not None and best[1].score >= verdict.score else (request, verdict)


def accepted_queries(expected: object) -> tuple[str, ...]:
    """Return one or several reference queries as a tuple, or refuse them."""
    if isinstance(expected, str):
        return (check_text("expected", expected),)
    queries = check_items("expected", expected, what="accepted queries")
    return tuple(check_text(f"expected[{i}]", query) for i, query in enumerate(queries))


def _bare(sql: str) -> str:
    return sql.strip().rstrip("; \t\r\n")


def schema_text(schema: object) -> str:
    """Return a schema as a judge is shown it: one table a line."""
    if isinstance(schema, str):
        return schema
    if not isinstance(schema, Mapping):
        refuse("schema", "text or a mapping from table to column to type", schema, TypeError)
    tables = cast("Mapping[str, Mapping[str, str]]", schema)
    return "\n".join(
        f"{table}({', '.join(f'{column} {kind}' for column, kind in columns.items())})"
        for table, columns in tables.items()
    )
