"""Tables of generated SQL, as columns: `table_accuracies`, `sql_cases_from_columns`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorekit._checks import check_items, check_same_length, check_text, is_missing
from scorekit._columns import as_builtins, check_same_order
from scorekit._records import is_mapping
from scorekit._sql import check_dialect
from scorekit._sql_case import SqlCase
from scorekit.parallel import Progress, map_scores
from scorekit.tables import check_tables, table_accuracy

_ONE_FOR_ALL = ("dialect", "schema")
"""Columns that may be one value."""


def table_accuracies(
    generated: Iterable[str],
    expected_tables: Iterable[Iterable[str]],
    *,
    dialect: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """
    Score a column of queries; entry *i* is the score `table_accuracy` gives to row *i*.

    SQL that does not parse scores 0.0; ask `table_accuracy` why.

    Args:
        generated: The SQL, shape ``(N,)``: a list, or a NumPy, pandas, polars or Arrow column.
        expected_tables: Names of the right tables of each, shape ``(N,)``: a column of lists.
        dialect: The dialect of all, by sqlglot's name for it; None to try several.
        executor: Computes in chunks, through `map_scores`; None computes here.
        progress: Called with the number of queries done and of all queries, from time to time.

    Returns:
        The scores in ``[0, 1]``, float64, shape ``(N,)``.

    Raises:
        InputError: If the columns differ in length or are empty, *dialect* is not one that sqlglot
            knows, a name is empty, or *executor* is shut down.
        TypeError: If an entry is not a string, or not an iterable of strings.
        WorkerError: If a worker died and *executor* does not replace it.

    Examples:
        >>> table_accuracies(
        ...     ["SELECT * FROM users JOIN logs USING (id)", "SELECT ("], [["users"], ["users"]]
        ... ).tolist()
        [0.5, 0.0]
        >>> table_accuracies(["SELECT 1"], [[], []])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: expected_tables and generated must be equally long, got 2 and 1

    .. versionadded:: 0.1.0
    """
    check_dialect(dialect)
    queries = check_items("generated", as_builtins(generated), what="strings")
    columns = check_items("expected_tables", as_builtins(expected_tables), what="lists of strings")
    check_same_length("expected_tables", len(columns), "generated", len(queries))
    pairs = [
        (
            check_text(f"generated[{i}]", query, empty=True),
            check_tables(f"expected_tables[{i}]", as_builtins(names)),
        )
        for i, (query, names) in enumerate(zip(queries, columns, strict=True))
    ]
    score = partial(_score, dialect=dialect)
    scores = map_scores(score, pairs, executor=executor, progress=progress)
    return np.fromiter(scores, np.float64, len(pairs))


def _score(pair: tuple[str, tuple[str, ...]], *, dialect: str | None) -> float:
    return table_accuracy(*pair, dialect=dialect).score


def sql_cases_from_columns(
    *,
    case_id: Iterable[str],
    generated: Iterable[str],
    expected: Iterable[str | Iterable[str] | None] | None = None,
    expected_tables: Iterable[Iterable[str] | None] | None = None,
    is_valid: Iterable[bool | None] | None = None,
    safety_valid: Iterable[bool | None] | None = None,
    should_pass: Iterable[bool | None] | None = None,
    expected_safe: Iterable[bool | None] | None = None,
    errors: Iterable[Iterable[str] | None] | None = None,
    confidence: Iterable[str | None] | None = None,
    dialect: str | Iterable[str | None] | None = None,
    schema: str
    | Mapping[str, Mapping[str, str]]
    | Iterable[str | Mapping[str, Mapping[str, str]] | None]
    | None = None,
    question: Iterable[str | None] | None = None,
) -> tuple[SqlCase, ...]:
    """
    Make a `SqlCase` of each row of a table, for `score_sql_cases`.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``.  In all
    but the first two an entry that is missing (None, NaN, ``pd.NA``) is not known of that case,
    as a column that is not given is not known of any.

    Args:
        case_id: The name of each case.
        generated: The query that was generated.
        expected: The reference query, or a list of several accepted ones.
        expected_tables: Lists of the right tables.
        is_valid: Whether the validator accepted each query.
        safety_valid: Whether the validator called it safe.
        should_pass: Whether the validator ought to accept it.
        expected_safe: Whether it is safe, where that differs from *should_pass*.
        errors: Lists of the validator's messages.
        confidence: What the model stated of itself: high, medium or low.
        dialect: The dialect of each query, or one for all.
        schema: The tables of each, as text or as table -> column -> type, or one for all.
        question: What was asked.

    Returns:
        The cases, in the order of the rows.

    Raises:
        InputError: If the columns differ in length or are empty, or as `SqlCase`.
        TypeError: If a column is none, or as `SqlCase`.

    Examples:
        >>> cases = sql_cases_from_columns(
        ...     case_id=["q1", "q2"],
        ...     generated=["SELECT 1", "SELECT x FROM t"],
        ...     expected=["SELECT 1", None],
        ...     dialect="sqlite",
        ... )
        >>> cases[1].expected, cases[1].dialect
        (None, 'sqlite')
        >>> sql_cases_from_columns(case_id=["q1"], generated=["SELECT 1"], is_valid=["yes"])
        Traceback (most recent call last):
        ...
        TypeError: row 0: is_valid must be True or False, got 'yes'

    .. versionadded:: 0.1.0
    """
    case_ids = check_items("case_id", as_builtins(case_id), what="strings")

    def entries(name: str, values: Any) -> tuple[Any, ...]:
        if name in _ONE_FOR_ALL and (isinstance(values, str) or is_mapping(values)):
            return (values,) * len(case_ids)
        items = check_items(name, as_builtins(values), what="entries")
        check_same_length(name, len(items), "case_id", len(case_ids))
        check_same_order("case_id", case_id, name, values)
        return items

    columns = {
        "case_id": case_ids,
        "generated": generated,
        "expected": expected,
        "expected_tables": expected_tables,
        "is_valid": is_valid,
        "safety_valid": safety_valid,
        "should_pass": should_pass,
        "expected_safe": expected_safe,
        "errors": errors,
        "confidence": confidence,
        "dialect": dialect,
        "schema": schema,
        "question": question,
    }
    given = {name: entries(name, values) for name, values in columns.items() if values is not None}
    rows = zip(*given.values(), strict=True)
    return tuple(_case(i, dict(zip(given, row, strict=True))) for i, row in enumerate(rows))


def _case(i: int, row: dict[str, Any]) -> SqlCase:
    case: dict[str, Any] = {"case_id": None, "generated": None}  # refused unless known
    case |= {name: as_builtins(value) for name, value in row.items() if not is_missing(value)}
    try:
        return SqlCase(**case)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {i}: {error}") from None
