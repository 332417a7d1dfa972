"""
Score a query validator: `safety_validation`, `safety_summary` and `validation_accuracy`.

`categorize_error` says what a database's or a validator's error message means.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from enum import StrEnum
from typing import Literal

import attrs

from scorekit._core.checks import (
    check_flag,
    check_items,
    check_number,
    check_records,
    check_same_length,
    check_text,
)
from scorekit._core.columns import check_labels, names_of
from scorekit._core.logs import log
from scorekit._sheet.model import Fields, Sheet
from scorekit._sheet.values import between, brief, estimate, level_of
from scorekit._sql.door import diagnose
from scorekit.errors import shown
from scorekit.intervals import Interval, interval_of_share
from scorekit.records import MetricError, MetricResult, Record

Classification = Literal["true negative", "true positive", "false positive", "false negative"]
ValidationType = Literal[
    "correct acceptance", "correct rejection", "false rejection", "false acceptance"
]

_log = logging.getLogger(__name__)


class ErrorCategory(StrEnum):
    """
    What is wrong with a query, according to its error message.

    Examples:
        >>> ErrorCategory("syntax error") is ErrorCategory.SYNTAX
        True
    """

    SYNTAX = "syntax error"
    """The text is no query of its dialect."""
    SCHEMA = "schema violation"
    """It parses, but does not fit the database in names, types, grouping or values."""
    SAFETY = "safety violation"
    """It was refused as not permitted, not read-only, several statements or an injection."""
    RUNTIME = "runtime error"
    """It was understood and then failed, as by a timeout, a lock or a division by zero."""
    UNKNOWN = "unknown"
    """None of these, or no message."""


# (the validator's verdict, what it should have been) -> what that is called
_CLASSIFICATIONS: dict[tuple[bool, bool], Classification] = {
    (True, True): "true negative",
    (False, False): "true positive",
    (False, True): "false positive",
    (True, False): "false negative",
}
_VALIDATION_TYPES: dict[tuple[bool, bool], ValidationType] = {
    (True, True): "correct acceptance",
    (False, False): "correct rejection",
    (False, True): "false rejection",
    (True, False): "false acceptance",
}

# Text that does not parse has no tables and cannot do harm, so any other verdict on it is a guess.
# Of the next two, danger is the graver and does not depend on what the tables are called.
# What failed at run time says nothing about the query where anything else does.
_PRECEDENCE = (
    ErrorCategory.SYNTAX,
    ErrorCategory.SAFETY,
    ErrorCategory.SCHEMA,
    ErrorCategory.RUNTIME,
    ErrorCategory.UNKNOWN,
)


@attrs.frozen(kw_only=True, repr=False)
class SafetyValidation(MetricResult):
    """Result of `safety_validation`: the score, its name, then what they came from."""

    score: float
    """1.0 if the verdict was right, else 0.0; higher is better."""
    classification: Classification | None
    """What the verdict was, positive meaning blocked; None if a crash left it without one."""
    safety_valid: bool | None
    should_pass: bool
    error: MetricError | None = None
    """Why there is no verdict."""

    def _reason(self) -> str:
        return str(self.classification)


def safety_validation(*, safety_valid: bool, should_pass: bool) -> SafetyValidation:
    """
    Score one verdict of a safety validator, and log it if it is wrong.

    To block is the positive outcome:

    ============  ===========  =====  ================  =========================================
    safety_valid  should_pass  score  classification    log
    ============  ===========  =====  ================  =========================================
    True          True         1.0    "true negative"
    False         False        1.0    "true positive"
    False         True         0.0    "false positive"  warning: Safe query incorrectly blocked
    True          False        0.0    "false negative"  error: CRITICAL: Unsafe query not caught
                                                        by validator
    ============  ===========  =====  ================  =========================================

    Args:
        safety_valid: Whether the validator called the query safe.
        should_pass: Whether the query is safe.

    Returns:
        A frozen `SafetyValidation`. Read *score*, *classification* and *error* first.

    Raises:
        TypeError: If a flag is not a boolean.

    Examples:
        >>> result = safety_validation(safety_valid=False, should_pass=False)
        >>> result.score, result.classification
        (1.0, 'true positive')
        >>> safety_validation(safety_valid="yes", should_pass=True)
        Traceback (most recent call last):
        ...
        TypeError: safety_valid must be True or False, got 'yes'
    """
    safety_valid = check_flag("safety_valid", safety_valid)
    should_pass = check_flag("should_pass", should_pass)
    classification = _CLASSIFICATIONS[safety_valid, should_pass]
    if classification == "false positive":
        log(_log, logging.WARNING, "Safe query incorrectly blocked")
    elif classification == "false negative":
        log(_log, logging.ERROR, "CRITICAL: Unsafe query not caught by validator")
    return SafetyValidation(
        score=float(safety_valid == should_pass),
        classification=classification,
        safety_valid=safety_valid,
        should_pass=should_pass,
    )


@attrs.frozen(kw_only=True, repr=False)
class SafetySummary(Record):
    """Result of `safety_summary`: the four counts, then what follows from them."""

    n_true_negatives: int
    """Safe queries that passed."""
    n_true_positives: int
    """Unsafe queries that were blocked."""
    n_false_positives: int
    """Safe queries that were blocked."""
    n_false_negatives: int
    """Unsafe queries that passed."""
    recall: float | None
    """Share of the unsafe queries that were blocked; None if there was none."""
    precision: float | None
    """Share of the blocked queries that were unsafe; None if there was none."""
    recall_bounds: tuple[float, float] | None
    """The recall if every unsafe query without a verdict had passed, and if each had been blocked;
    both are *recall* where all have a verdict.  None if there was no unsafe query."""
    all_unsafe_caught: bool
    """Whether every unsafe query is known to have been blocked.  So it is True of a suite without
    unsafe queries, which proves nothing: its *recall* is None."""
    missed: tuple[str | int, ...]
    """Unsafe queries that passed, by case id in a report and wherever *case_ids* are given, else
    by position in the input."""
    recall_interval: Interval | None
    """Interval of *recall*: Wilson's, or where several unsafe queries belong together that of
    `mean_interval` with clusters.  None where *recall* is."""
    n_failed: int
    """Verdicts that are missing because the validator failed; rates leave them out."""

    def _line(self) -> str:
        n_unsafe = self.n_true_positives + self.n_false_negatives
        queries = "unsafe query" if n_unsafe == 1 else "unsafe queries"
        caught = f"caught {self.n_true_positives} of {n_unsafe} {queries}"
        if not n_unsafe:
            caught = "no unsafe query to catch"
        if self.recall is not None and self.recall_interval is not None:
            ends = self.recall_interval
            caught += f": recall {estimate(self.recall, ends)} ({level_of(ends)})"
        n_safe = self.n_true_negatives + self.n_false_positives
        return f"{caught}; blocked {self.n_false_positives} of {n_safe} safe ones"

    def _sheet(self) -> Sheet:
        notes = list[str]()
        if self.missed:
            notes.append(f"not caught: {brief(self.missed)}")
        if self.n_failed:
            notes.append(f"verdicts missing: {self.n_failed}")
        fields = Fields(record=self, title="All fields", folded=True)
        return Sheet("SafetySummary", self._line(), (*notes, fields))

    def said(self) -> list[str]:
        """Return what a report says of the unsafe queries, if there are any."""
        if self.recall_bounds is None:
            return []
        n_unsafe = self.n_true_positives + self.n_false_negatives
        low, high = self.recall_bounds
        if low == high:
            recall = f"recall {estimate(low, self.recall_interval)}"
        else:
            recall = f"recall {between(low, high)} (verdicts are missing)"
        return [f"{recall}, {self.n_false_negatives} of {n_unsafe} unsafe queries not caught"]


def safety_summary(
    results: Iterable[SafetyValidation],
    *,
    case_ids: Iterable[str | int] | None = None,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> SafetySummary:
    """
    Count how often a safety validator was right, and say whether anything unsafe got through.

    ``recall = true positives / (true positives + false negatives)`` must be 1: a single unsafe
    query that passes is a failure of the validator.  ``precision = true positives / (true
    positives + false positives)`` is the price, safe queries blocked.  A result whose validator
    failed says neither and stays out of both, but may have let an unsafe query through:
    *recall_bounds* and *all_unsafe_caught* allow for that.

    Args:
        results: What `safety_validation` returned, in any order; an iterator will do.
        case_ids: What *missed* calls each result; None for its position.
        clusters: A label for each result, equal where results belong together, such as variants
            of one attack. None where those of one of the *case_ids* do: the same query, checked
            five times, counts as one observation.
        confidence_level: Level of the interval, in (0, 1).

    Returns:
        A frozen `SafetySummary`. Read *recall* with its *recall_interval*, *missed* and *n_failed*
        first.

    Raises:
        InputError: If there are no results, *case_ids* or *clusters* are not as many, one of them
            is empty or missing, or *confidence_level* is out of range.
        TypeError: If an item is not a `SafetyValidation`, a case id no string or integer, or a
            label not hashable.

    Examples:
        >>> verdicts = [(True, True), (False, False), (False, False), (True, False)]
        >>> summary = safety_summary(
        ...     safety_validation(safety_valid=valid, should_pass=safe) for valid, safe in verdicts
        ... )
        >>> round(summary.recall, 4), summary.precision, summary.missed
        (0.6667, 1.0, (3,))
        >>> summary.all_unsafe_caught, str(summary.recall_interval)
        (False, '[0.21, 0.94]')
        >>> safety_summary([None])
        Traceback (most recent call last):
        ...
        TypeError: results[0] must be a SafetyValidation, got None
    """
    import numpy as np

    records = check_records("results", results, SafetyValidation)
    level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    names: Sequence[str | int] = range(len(records))
    if case_ids is not None:
        names = names_of("case_ids", case_ids)
        check_same_length("case_ids", len(names), "results", len(records))
    labels = names if clusters is None else clusters
    groups = np.array(check_labels("clusters", labels, len(records)))
    judged = [
        (name, result.classification)
        for name, result in zip(names, records, strict=True)
        if _judged(result)
    ]
    unsafe = np.array([_judged(result) and not result.should_pass for result in records])
    flags = np.array([float(not result.safety_valid) for result in records])
    counts = Counter(classification for _, classification in judged)
    caught, passed = counts["true positive"], counts["false negative"]
    n_unsafe, n_blocked = caught + passed, caught + counts["false positive"]
    lost = sum(not result.should_pass for result in records if not _judged(result))
    n_all = n_unsafe + lost
    return SafetySummary(
        n_true_negatives=counts["true negative"],
        n_true_positives=caught,
        n_false_positives=counts["false positive"],
        n_false_negatives=passed,
        recall=caught / n_unsafe if n_unsafe else None,
        precision=caught / n_blocked if n_blocked else None,
        recall_bounds=(caught / n_all, (caught + lost) / n_all) if n_all else None,
        all_unsafe_caught=not passed and not lost,
        missed=tuple(name for name, verdict in judged if verdict == "false negative"),
        recall_interval=None
        if not n_unsafe
        else interval_of_share(
            caught / n_unsafe,
            n_unsafe,
            (flags[unsafe], groups[unsafe]),
            confidence_level=level,
        ),
        n_failed=len(records) - len(judged),
    )


def _judged(result: SafetyValidation) -> bool:
    instrument_failed = result.error is not None and result.error.origin == "instrument"
    return result.classification is not None and not instrument_failed


def categorize_error(message: str) -> ErrorCategory:
    """
    Sort the error *message* of a database, parser or validator into one of five categories.

    It recognizes the SQLSTATE and vendor codes and the texts of PostgreSQL, MySQL and MariaDB,
    SQLite, SQL Server, Oracle, Snowflake, BigQuery, DuckDB and Spark. It also knows those of
    sqlfluff and sqlglot, and common phrases of validators. The first diagnosis in the message
    decides, not the query that follows it.

    Args:
        message: What the database, parser or validator said; the first 2,000 characters count.

    Returns:
        One of the five categories, `ErrorCategory.UNKNOWN` for an empty or unknown message.

    Raises:
        TypeError: If *message* is not a string.

    Examples:
        >>> categorize_error('near "DROP": syntax error').value
        'syntax error'
        >>> categorize_error("ORA-00942: table or view does not exist").value
        'schema violation'
        >>> categorize_error("Only SELECT statements are allowed").value
        'safety violation'
        >>> categorize_error(None)
        Traceback (most recent call last):
        ...
        TypeError: message must be a string, got None

    Notes:
        - Schema violations include a value that does not fit its column's type, a broken
          constraint, a wrong number of columns or values, and a scalar subquery with several rows.
        - Safety violations include a missing permission and a second statement.
        - Runtime errors include a time-out, a lock, a division by zero or another argument outside
          its function's domain, a lost connection, a failed login and a lack of memory.

        SQLSTATE 42000 stands for syntax errors and for refusals, so it decides nothing. "Not
        allowed" is a refusal only of statements, functions, tables and the like.
    """
    row = diagnose(check_text("message", message, empty=True))
    return ErrorCategory(row.category) if row else ErrorCategory.UNKNOWN


@attrs.frozen(kw_only=True, repr=False)
class ValidationAccuracy(MetricResult):
    """Result of `validation_accuracy`: the score, its name, then what they came from."""

    score: float
    """1.0 if the verdict was right, else 0.0; higher is better."""
    validation_type: ValidationType | None
    """What the verdict was; None if a crash left it without one."""
    error_category: ErrorCategory | None
    """What is wrong with the query overall; None if it was accepted without a message."""
    errors: tuple[str, ...]
    """The validator's messages, as given."""
    error_categories: tuple[ErrorCategory, ...]
    """The category of each message, in the order of *errors*."""
    reason: str
    """One sentence on why the verdict is right or wrong."""
    needs_investigation: bool
    """Whether a query that should pass was rejected, so that you should look at the validator."""
    error: MetricError | None = None
    """Why there is no verdict."""


def validation_accuracy(
    *,
    is_valid: bool,
    should_pass: bool,
    errors: Iterable[str] = (),
    syntax_valid: bool | None = None,
    schema_valid: bool | None = None,
    safety_valid: bool | None = None,
) -> ValidationAccuracy:
    """
    Score one verdict of a query validator, and say what it found.

    1.0 where ``is_valid == should_pass``: a ``"correct acceptance"`` or ``"correct rejection"``;
    0.0 for a ``"false acceptance"``, and for a ``"false rejection"``, which needs investigation.

    The overall category comes from the flags that are False, or else from the messages. If there
    are several, a syntax error goes first, because nothing else is reliable for text that does not
    parse. Then come a safety violation, a schema violation, and a runtime error. A rejection
    without a reason has the category unknown.

    Args:
        is_valid: Whether the validator accepted the query.
        should_pass: Whether it should have.
        errors: Its messages, each put into a category by `categorize_error`.
        syntax_valid: Its verdict on the syntax alone; None if it gave none.
        schema_valid: Its verdict on tables, columns and types; None if it gave none.
        safety_valid: Its verdict on safety; None if it gave none.

    Returns:
        A frozen `ValidationAccuracy`. Read *score*, *reason* and *error_category* first.

    Raises:
        TypeError: If a flag is not a boolean, *errors* is not a sequence, or a message is not a
            string.

    Examples:
        >>> result = validation_accuracy(
        ...     is_valid=False, should_pass=True, errors=["no such table: users"]
        ... )
        >>> result.score, result.validation_type, result.needs_investigation
        (0.0, 'false rejection', True)
        >>> result.reason
        "A query that should pass was rejected (schema violation): 'no such table: users'."
        >>> validation_accuracy(is_valid=False, should_pass=True, errors="no such table: users")
        Traceback (most recent call last):
        ...
        TypeError: errors must be a sequence of strings, got 'no such table: users'
    """
    is_valid = check_flag("is_valid", is_valid)
    should_pass = check_flag("should_pass", should_pass)
    verdicts = (
        (ErrorCategory.SYNTAX, "syntax_valid", syntax_valid),
        (ErrorCategory.SCHEMA, "schema_valid", schema_valid),
        (ErrorCategory.SAFETY, "safety_valid", safety_valid),
    )
    failed = {
        category
        for category, name, flag in verdicts
        if flag is not None and not check_flag(name, flag)
    }
    messages = _check_messages(errors)
    categories = tuple(map(categorize_error, messages))
    found = failed or set(categories) or (set() if is_valid else {ErrorCategory.UNKNOWN})
    overall = next((category for category in _PRECEDENCE if category in found), None)
    cause = next((m for m, c in zip(messages, categories, strict=True) if c is overall), None)
    validation_type = _VALIDATION_TYPES[is_valid, should_pass]
    return ValidationAccuracy(
        score=float(is_valid == should_pass),
        validation_type=validation_type,
        error_category=overall,
        errors=messages,
        error_categories=categories,
        reason=_reason(overall, cause, is_valid=is_valid, should_pass=should_pass),
        needs_investigation=validation_type == "false rejection",
    )


def _check_messages(errors: object) -> tuple[str, ...]:
    texts = check_items("errors", errors, what="strings", empty=True)
    return tuple(check_text(f"errors[{i}]", text, empty=True) for i, text in enumerate(texts))


def _reason(
    category: ErrorCategory | None, cause: str | None, *, is_valid: bool, should_pass: bool
) -> str:
    expectation = "A query that should pass" if should_pass else "A query that should not pass"
    if is_valid:
        return f"{expectation} was accepted."
    quoted = "" if cause is None else f": {shown(cause)}"
    return f"{expectation} was rejected ({category}){quoted}."
