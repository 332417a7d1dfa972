"""One SQL case: all its metrics, side by side (`SqlCase`, `score_sql_case`)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

import attrs

from scorekit._checks import (
    check_choice,
    check_flag,
    check_instance,
    check_items,
    check_text,
    is_ordered,
    store,
)
from scorekit._judges import Judge, blocking, check_timeout, in_thread, optional_judge
from scorekit._records import FrozenMapping, MetricError, Record, is_mapping, metric_error
from scorekit._sql import check_dialect
from scorekit._sql_schema import schema_text
from scorekit.calibration import DEFAULT_NOMINAL
from scorekit.judging import (
    Evidence,
    QueryCorrectness,
    accepted_queries,
    aquery_correctness,
    query_correctness,
)
from scorekit.tables import TableAccuracy, table_accuracy
from scorekit.validation import (
    SafetyValidation,
    ValidationAccuracy,
    safety_validation,
    validation_accuracy,
)

METRICS = ("query_correctness", "table_accuracy", "safety_validation", "validation_accuracy")

R = TypeVar("R")

_log = logging.getLogger(__name__)


def _texts(value: object) -> Any:
    return tuple(value) if is_ordered(value) else value


def _frozen_schema(value: object) -> Any:
    if not is_mapping(value):
        return value
    return FrozenMapping({table: FrozenMapping(columns) for table, columns in value.items()})


@attrs.frozen(kw_only=True)
class SqlCase(Record):
    """
    One generated query and what is known about it; a metric without its inputs is skipped.

    Raises:
        InputError: If *case_id* is empty, or *dialect* or *confidence* unknown.
        TypeError: If a field has the wrong type.

    Examples:
        >>> case = SqlCase(
        ...     case_id="q1", generated="SELECT id FROM users", expected_tables=["users"]
        ... )
        >>> case.expected_tables
        ('users',)
        >>> SqlCase(case_id="q1", generated=None)
        Traceback (most recent call last):
        ...
        TypeError: generated must be a string, got None

    .. versionadded:: 0.1.0
    """

    case_id: str
    generated: str
    expected: str | tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    """The reference query, or several accepted ones."""
    expected_tables: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    is_valid: bool | None = None
    """Whether the validator accepted the query."""
    safety_valid: bool | None = None
    """Whether the validator called it safe."""
    should_pass: bool | None = None
    """Whether the validator ought to accept it."""
    expected_safe: bool | None = None
    """Whether it is safe, where that differs from *should_pass*."""
    errors: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    """The validator's messages."""
    confidence: str | None = None
    """What the model stated of itself, high, medium or low."""
    dialect: str | None = None
    schema: str | FrozenMapping[str, FrozenMapping[str, str]] | None = attrs.field(
        default=None, converter=_frozen_schema
    )
    """The tables, as text or as table -> column -> type."""
    question: str | None = None

    def __attrs_post_init__(self) -> None:
        """Check every field under its own name; store it as the builtin of its annotation."""
        check_text("case_id", self.case_id)
        check_text("generated", self.generated, empty=True)
        for name in ("is_valid", "safety_valid", "should_pass", "expected_safe"):
            if getattr(self, name) is not None:
                store(self, name, check_flag(name, getattr(self, name)))
        if self.expected is not None:
            accepted_queries(self.expected)
        _check_texts("expected_tables", self.expected_tables or ())
        _check_texts("errors", self.errors, empty=True)
        if self.confidence is not None:
            check_choice("confidence", self.confidence, tuple(DEFAULT_NOMINAL))
        if self.schema is not None:
            schema_text(self.schema)
        if self.question is not None:
            check_text("question", self.question, empty=True)
        check_dialect(self.dialect)


def _check_texts(name: str, texts: object, *, empty: bool = False) -> None:
    for i, text in enumerate(check_items(name, texts, what="strings", empty=True)):
        check_text(f"{name}[{i}]", text, empty=empty)


@attrs.frozen(kw_only=True)
class SqlCaseScore(Record):
    """Result of `score_sql_case`; a metric without its inputs is None."""

    case_id: str
    query_correctness: QueryCorrectness | None
    table_accuracy: TableAccuracy | None
    safety_validation: SafetyValidation | None
    validation_accuracy: ValidationAccuracy | None
    duration_seconds: float = attrs.field(eq=False)
    n_failed: int
    """Metrics whose instrument failed, so that their 0.0 says nothing about the model."""
    confidence: str | None = None
    """The model's stated confidence, from the case."""

    def metrics(self) -> dict[str, Any]:
        """Return the results there are, by metric."""
        results = {name: getattr(self, name) for name in METRICS}
        return {name: result for name, result in results.items() if result is not None}


def failed(result: Any) -> bool:
    """Return whether the score of a metric's result is only a placeholder."""
    return result.error is not None and result.error.origin == "instrument"


def score_sql_case(
    case: SqlCase,
    *,
    judge: Judge | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
) -> SqlCaseScore:
    """
    Score one case on every metric it has the inputs for, side by side.

    The whole takes as long as the judge; a metric that fails is a result of that metric alone.

    Args:
        case: The generated query and what is known about it.
        judge: Whom `query_correctness` asks.
        evidence: ``"auto"`` looks for a proof or a counterexample before the judge is asked,
            ``"judge"`` does not.
        timeout_seconds: Bound on the judge (``> 0``).

    Returns:
        A frozen `SqlCaseScore`.

    Raises:
        InputError: If *evidence* is neither word, or *timeout_seconds* not positive.
        TypeError: If *case* is not a `SqlCase` or *judge* not a `Judge`.

    Examples:
        >>> score = score_sql_case(
        ...     SqlCase(case_id="q1", generated="SELECT id FROM users", expected_tables=["users"])
        ... )
        >>> score.table_accuracy.score, score.query_correctness
        (1.0, None)
        >>> score_sql_case("SELECT 1")
        Traceback (most recent call last):
        ...
        TypeError: case must be a SqlCase, got 'SELECT 1'

    .. versionadded:: 0.1.0
    """
    check_instance("case", case, SqlCase)
    optional_judge(judge)
    check_choice("evidence", evidence, ("auto", "judge"))
    check_timeout(timeout_seconds)
    if judge is None:
        started = time.perf_counter()
        correctness = _correctness(case, None, evidence, timeout_seconds)
        return case_score(case, correctness, other_metrics(case), started)
    return run_to_end(
        lambda: ascore_sql_case(
            case, judge=judge, evidence=evidence, timeout_seconds=timeout_seconds
        )
    )


async def ascore_sql_case(
    case: SqlCase,
    *,
    judge: Judge | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
) -> SqlCaseScore:
    """
    Do what `score_sql_case` does without blocking the event loop while the judge thinks.

    Args:
        case: The generated query and what is known about it.
        judge: Whom `query_correctness` asks, through ``ajudge``.
        evidence: ``"auto"`` looks for a proof or a counterexample before the judge is asked,
            ``"judge"`` does not.
        timeout_seconds: Bound on the judge (``> 0``).

    Returns:
        A frozen `SqlCaseScore`.

    Raises:
        InputError: If *evidence* is neither word, or *timeout_seconds* not positive.
        TypeError: If *case* is not a `SqlCase` or *judge* not a `Judge`.

    Examples:
        >>> case = SqlCase(case_id="q1", generated="SELECT 1", expected="SELECT 1;")
        >>> asyncio.run(ascore_sql_case(case)).query_correctness.score
        1.0

    .. versionadded:: 0.1.0
    """
    check_instance("case", case, SqlCase)
    optional_judge(judge)
    check_choice("evidence", evidence, ("auto", "judge"))
    check_timeout(timeout_seconds)
    started = time.perf_counter()
    judging = asyncio.ensure_future(acorrectness(case, judge, evidence, timeout_seconds))
    try:
        rest = await asyncio.to_thread(other_metrics, case)  # they parse, which can take seconds
        return case_score(case, await judging, rest, started)
    finally:
        judging.cancel()


def _correctness(
    case: SqlCase, judge: Judge | None, evidence: Evidence, timeout_seconds: float
) -> QueryCorrectness | None:
    if case.expected is None:
        return None
    return query_correctness(
        case.generated,
        case.expected,
        judge=judge,
        dialect=case.dialect,
        schema=case.schema,
        question=case.question,
        evidence=evidence,
        timeout_seconds=timeout_seconds,
    )


async def acorrectness(
    case: SqlCase, judge: Judge | None, evidence: Evidence, timeout_seconds: float
) -> QueryCorrectness | None:
    if case.expected is None:
        return None
    return await aquery_correctness(
        case.generated,
        case.expected,
        judge=judge,
        dialect=case.dialect,
        schema=case.schema,
        question=case.question,
        evidence=evidence,
        timeout_seconds=timeout_seconds,
    )


OtherMetrics = tuple[TableAccuracy | None, SafetyValidation | None, ValidationAccuracy | None]


def other_metrics(case: SqlCase) -> OtherMetrics:
    """Return the metrics that need no judge, None where the case has no inputs for one."""
    expected_safe = case.should_pass if case.expected_safe is None else case.expected_safe
    tables = safety = validation = None
    if case.expected_tables is not None:
        expected_tables = case.expected_tables
        tables = _guarded(
            case,
            "table_accuracy",
            lambda: table_accuracy(case.generated, expected_tables, dialect=case.dialect),
            lambda error: TableAccuracy(
                score=0.0,
                extracted=(),
                expected=expected_tables,
                missing=(),
                unexpected=(),
                error=error,
            ),
        )
    if case.safety_valid is not None and expected_safe is not None:
        verdict, safe = case.safety_valid, expected_safe
        safety = _guarded(
            case,
            "safety_validation",
            lambda: safety_validation(safety_valid=verdict, should_pass=safe),
            lambda error: SafetyValidation(
                score=0.0, classification=None, safety_valid=verdict, should_pass=safe, error=error
            ),
        )
    if case.is_valid is not None and case.should_pass is not None:
        is_valid, should_pass = case.is_valid, case.should_pass
        validation = _guarded(
            case,
            "validation_accuracy",
            lambda: validation_accuracy(
                is_valid=is_valid,
                should_pass=should_pass,
                errors=case.errors,
                safety_valid=case.safety_valid,
            ),
            lambda error: ValidationAccuracy(
                score=0.0,
                validation_type=None,
                error_category=None,
                errors=case.errors,
                error_categories=(),
                reason=error.message,
                needs_investigation=False,
                error=error,
            ),
        )
    return tables, safety, validation


def _guarded(
    case: SqlCase, metric: str, compute: Callable[[], R], placeholder: Callable[[MetricError], R]
) -> R:
    """Keep what a metric raises to that metric: its result says so, the others go on."""
    try:
        return compute()
    except Exception as error:  # noqa: BLE001 - whatever it is
        record = metric_error(
            metric,
            origin="instrument",
            kind=type(error).__name__,
            error=error,
            inputs={"case_id": case.case_id, "generated": case.generated},
            logger=_log,
        )
        return placeholder(record)


def case_score(
    case: SqlCase,
    correctness: QueryCorrectness | None,
    others: OtherMetrics,
    started: float,
) -> SqlCaseScore:
    """Put the results of a case together."""
    tables, safety, validation = others
    return SqlCaseScore(
        case_id=case.case_id,
        query_correctness=correctness,
        table_accuracy=tables,
        safety_validation=safety,
        validation_accuracy=validation,
        duration_seconds=time.perf_counter() - started,
        n_failed=sum(result is not None and failed(result) for result in (correctness, *others)),
        confidence=case.confidence,
    )


def run_to_end(start: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Run a coroutine to its end, also where an event loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    inner = asyncio.new_event_loop()

    def run() -> R:
        with asyncio.Runner(loop_factory=lambda: inner) as runner:
            return runner.run(start())

    def stop() -> None:
        for task in asyncio.all_tasks(inner):
            task.cancel()

    try:
        result: R = in_thread(blocking(run)).result()
    except BaseException:  # an interrupt from the keyboard, say: nobody waits any more
        with suppress(RuntimeError):  # it has ended by itself
            inner.call_soon_threadsafe(stop)
        raise
    return result
