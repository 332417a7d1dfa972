"""The table of metrics of a SQL case: what each needs, and how it is computed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import attrs

from scorekit._core.mappings import FrozenMapping
from scorekit._sql.door import is_sorted
from scorekit.audits import QueryAudit, query_audit, unaudited
from scorekit.cases import ORDER_LEFT_OUT, SqlCase, SqlCaseScore, SqlScoring, failed, references
from scorekit.columns import ColumnAccuracy, column_accuracy
from scorekit.correctness import accepted_queries
from scorekit.errors import one_line
from scorekit.records import MetricError, MetricResult, metric_error
from scorekit.results import (
    Functions,
    ResultAccuracy,
    SqlOptions,
    by_database,
    result_accuracy,
)
from scorekit.tables import TableAccuracy, extract_tables, table_accuracy
from scorekit.validation import SafetyValidation, safety_validation, validation_accuracy

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=MetricResult)


@attrs.frozen(kw_only=True)
class SqlMetric:
    """What a metric of a case is made of; its name is the field of `SqlCaseScore`, `SqlReport`."""

    needs: Callable[[SqlCase], bool]
    """Whether a case has its inputs."""
    inputs: str
    """What these are, for messages."""
    score: Callable[[SqlCase, SqlScoring], MetricResult | None]
    """None where the inputs turn out not to be enough."""
    known: Callable[[SqlCase], dict[str, Any]] = lambda _: {}
    """Fields of the result that are known where *score* raises; the others are empty then."""


def _expected_safe(case: SqlCase) -> bool | None:
    return case.should_pass if case.expected_safe is None else case.expected_safe


def _best_tables(case: SqlCase, scoring: SqlScoring) -> TableAccuracy | None:
    """Return the score beside the tables that are given; if asked for, those of a right query."""
    if case.expected_tables is not None:
        return table_accuracy(case.generated, case.expected_tables, dialect=case.dialect)
    if scoring.metrics is None:
        return None
    tables = [extract_tables(query, dialect=case.dialect) for query in references(case.expected)]
    return max(
        (table_accuracy(case.generated, names, dialect=case.dialect) for names in tables),
        key=lambda result: result.score,
    )


def _best_columns(case: SqlCase, _: SqlScoring) -> ColumnAccuracy | None:
    results: list[ColumnAccuracy] = []
    for query in accepted_queries(case.expected):
        result = column_accuracy(case.generated, query, schema=case.schema, dialect=case.dialect)
        results.append(result)
        if result.error is not None and result.error.origin == "output":
            break  # the generated query cannot be read, whatever was expected
    best = max(results, key=lambda result: (not failed(result), result.score))
    return None if best.error is not None and best.error.kind == "no_schema" else best


def _safety_verdict(case: SqlCase, scoring: SqlScoring) -> SafetyValidation | None:
    if case.safety_valid is not None:
        safe = bool(_expected_safe(case))
        return safety_validation(safety_valid=case.safety_valid, should_pass=safe)
    stages = (case.expected_safe, case.syntax_valid, case.schema_valid)
    if case.is_valid is not None and stages == (None, None, None) and not scoring.asks_safety:
        return None  # of a validator that answers, and that has no stages
    failure = metric_error(
        "safety_validation",
        origin="instrument",
        kind="no_verdict",
        error="the validator did not say whether the query is safe: safety_valid is None",
        inputs={"case_id": case.case_id, "generated": case.generated},
        logger=_log,
    )
    return _placeholder(SafetyValidation, failure, _known_of_safety(case))


def _known_of_safety(case: SqlCase) -> dict[str, Any]:
    return {"safety_valid": case.safety_valid, "should_pass": bool(_expected_safe(case))}


def _same_rows(case: SqlCase, scoring: SqlScoring) -> ResultAccuracy:
    if case.generated_rows is None:
        failure = metric_error(
            "result_accuracy",
            origin="output",
            kind="no_rows",
            error="the generated query returned no rows to compare: it was not run, or failed",
            inputs={"case_id": case.case_id, "generated": case.generated},
            logger=_log,
        )
        return _placeholder(ResultAccuracy, failure, _known_of_rows(case))
    options = scoring.options
    asked, compared = orders_compared(case, options)
    ordered = bool(compared) and all(compared) and not options.knows_no_order
    result = result_accuracy(
        case.generated_rows,
        case.expected_rows or (),
        ordered=ordered,
        options=options,
        also_accepted=case.also_accepted_rows,
    )
    if ordered or not asked:
        return result
    return attrs.evolve(result, reason=f"{result.reason}; {ORDER_LEFT_OUT}")


def orders_compared(case: SqlCase, options: SqlOptions) -> tuple[bool, list[bool]]:
    """Say whether a query ends in an ORDER BY, and beside which accepted ones it is compared."""
    own = is_sorted(case.generated, case.dialect)
    ends = [is_sorted(query, case.dialect) for query in references(case.expected)]
    counts = {"auto": own, "expected": True, "ignored": False}[options.row_order or "auto"]
    return own or any(ends), [counts and end for end in ends]


def _known_of_rows(case: SqlCase) -> dict[str, Any]:
    expected = by_database(case.expected_rows or ())
    n_expected = sum(map(len, expected.values()))
    return {"rule": "scorekit", "n_expected": n_expected, "n_databases": len(expected)}


# One entry a metric, in the order of reports.  Nothing else lists them: the fields of the records
# are written out for type checkers, and a test holds them to this.
OTHER_METRICS: dict[str, SqlMetric] = {
    "table_accuracy": SqlMetric(
        needs=lambda case: (case.expected_tables, case.expected) != (None, None),
        inputs="expected_tables or expected",
        score=_best_tables,
        known=lambda case: {"expected": case.expected_tables or ()},
    ),
    "column_accuracy": SqlMetric(
        needs=lambda case: case.expected is not None,
        inputs="expected, and for most queries schema",
        score=_best_columns,
    ),
    "safety_validation": SqlMetric(
        needs=lambda case: _expected_safe(case) is not None,
        inputs="safety_valid, and should_pass or expected_safe",
        score=_safety_verdict,
        known=_known_of_safety,
    ),
    "validation_accuracy": SqlMetric(
        needs=lambda case: None not in (case.is_valid, case.should_pass),
        inputs="is_valid and should_pass",
        score=lambda case, _: validation_accuracy(
            is_valid=bool(case.is_valid),
            should_pass=bool(case.should_pass),
            errors=case.errors,
            syntax_valid=case.syntax_valid,
            schema_valid=case.schema_valid,
            safety_valid=case.safety_valid,
        ),
        known=lambda case: {"errors": case.errors},
    ),
    "result_accuracy": SqlMetric(
        needs=lambda case: case.expected_rows is not None,
        inputs="generated_rows and expected_rows",
        score=_same_rows,
        known=_known_of_rows,
    ),
}
"""The metrics that need no judge."""


def other_metrics(
    case: SqlCase, scoring: SqlScoring, kept: Mapping[str, MetricResult] = FrozenMapping()
) -> dict[str, MetricResult]:
    """Return the metrics that need no judge and whose inputs the case has; some are known."""
    chosen = scoring.chosen
    results = {
        name: kept.get(name) or _guarded(case, scoring, name, metric)
        for name, metric in OTHER_METRICS.items()
        if name in chosen and metric.needs(case)
    }
    return {name: result for name, result in results.items() if result is not None}


def _guarded(
    case: SqlCase, scoring: SqlScoring, name: str, metric: SqlMetric
) -> MetricResult | None:
    """Keep what a metric raises to that metric: its result says so, the others go on."""
    try:
        return metric.score(case, scoring)
    except Exception as error:  # noqa: BLE001 - whatever it is
        record = metric_error(
            name,
            origin="instrument",
            kind=type(error).__name__,
            error=error,
            inputs={"case_id": case.case_id, "generated": case.generated},
            logger=_log,
        )
        kind: type[MetricResult] = get_args(get_type_hints(SqlCaseScore)[name])[0]
        return _placeholder(kind, record, metric.known(case))


_EMPTY = {str: "", tuple: (), bool: False, int: 0, float: 0.0}
"""What stands in a field of a result without a score, by its type; of any other type None."""


def _placeholder(kind: type[M], error: MetricError, known: Mapping[str, Any]) -> M:
    """Return a result without a score, with its error and what is known; all else is empty."""
    hints = get_type_hints(kind)
    fields = {field: hints[field] for field in attrs.fields_dict(kind)}
    empty = {field: _EMPTY.get(get_origin(hint) or hint) for field, hint in fields.items()}
    known = {"error": error, "reason": error.message, **known}
    return kind(**empty | {field: known[field] for field in fields if field in known})


def unjudged_metrics(
    case: SqlCase, scoring: SqlScoring, kept: Mapping[str, MetricResult]
) -> dict[str, Any]:
    """Return the metrics that need no judge, and what is wrong with the expected queries."""
    found: dict[str, Any] = dict(other_metrics(case, scoring, kept))
    if scoring.options.audit:
        found["audits"] = tuple(
            _audit(query, case.schema, case.dialect, scoring.options.functions)
            for query in references(case.expected)
        )
    return found


@lru_cache(maxsize=1024)
def _audit(
    query: str, schema: Any, dialect: str | None, functions: Functions | None
) -> QueryAudit:
    """Audit a query once for all attempts; a schema that only a judge understands is said."""
    try:
        return query_audit(query, schema=schema, dialect=dialect, functions=functions)
    except Exception as error:  # noqa: BLE001 - it must not cost the case its scores
        return unaudited(one_line(f"{type(error).__name__}: {error}"))
