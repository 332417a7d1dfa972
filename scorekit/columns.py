"""Which columns a query reads, and whether they are the right ones: `column_accuracy`."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

import attrs

from scorekit._core.checks import check_generated
from scorekit._sql.door import ColumnReader, Schema, check_dialect, match_names
from scorekit.errors import refuse
from scorekit.records import MetricError, MetricResult, metric_error
from scorekit.tables import check_names

_log = logging.getLogger(__name__)


@attrs.frozen(kw_only=True, repr=False)
class ColumnAccuracy(MetricResult):
    """Result of `column_accuracy`: the score, the two sets of names, and where they differ."""

    score: float
    """Jaccard similarity of the two sets in ``[0, 1]``; higher is better."""
    extracted: tuple[str, ...]
    """Columns that the generated SQL reads, as ``table.column`` in lower case, sorted.  A column
    that no table in reach has stands without a table."""
    expected: tuple[str, ...]
    """Columns that it should read, in lower case, without repetitions, sorted."""
    missing: tuple[str, ...]
    """Expected columns that match no extracted one."""
    unexpected: tuple[str, ...]
    """Extracted columns that match no expected one."""
    error: MetricError | None = None
    """Why there is no score.  With the origin ``"output"`` the generated SQL is at fault and its
    0.0 counts; with ``"instrument"`` a schema is missing, or a construct is not supported."""


def column_accuracy(
    generated: str,
    expected: str | Iterable[str],
    *,
    schema: Schema | None = None,
    dialect: str | None = None,
) -> ColumnAccuracy:
    """
    Score whether generated SQL reads the right columns.

    Jaccard similarity ``matched / (extracted + expected - matched)``, 1.0 where both sides are
    empty.  A query reads each column that it names anywhere: selected, joined on, filtered,
    grouped or sorted by, and in subqueries.  Aliases, common table expressions and derived tables
    are resolved to the base tables behind them; a star reads every column of its tables.  Names
    match as those of `table_accuracy` do: ``id`` and ``users.id`` match ``public.users.id``, and
    ``users.id`` does not match ``orders.id``.

    Args:
        generated: The SQL, as `extract_tables` takes it.
        expected: The SQL that reads the right columns, or an iterable of their names, qualified
            or not; repetitions count once.
        schema: The tables, as a mapping from table to column to type or as CREATE TABLE
            statements.  Stars and unqualified columns of several tables need it.
        dialect: The dialect of the SQL, by sqlglot's name for it; None to try several.

    Returns:
        A frozen `ColumnAccuracy`. Where a column cannot be attributed to a table the score is 0.0
        and *error* says why; see its kinds in the documentation. The same text twice scores 1.0,
        also where the names of its columns are not known. Read *score*, *missing* and *unexpected*
        first.

    Raises:
        InputError: If sqlglot does not know the *dialect*, *expected* is a string that is not SQL
            or a list of queries, a name is empty, there are more than 10,000 names, or the schema
            contradicts itself.
        TypeError: If *generated* or an expected name is not a string, or *expected* or *schema*
            has the wrong type.

    Examples:
        >>> schema = {"users": {"id": "int", "name": "text"}, "logs": {"user_id": "int"}}
        >>> result = column_accuracy(
        ...     "SELECT name FROM users AS u JOIN logs ON user_id = u.id",
        ...     "SELECT name FROM users",
        ...     schema=schema,
        ... )
        >>> round(result.score, 3), result.unexpected
        (0.333, ('logs.user_id', 'users.id'))
        >>> column_accuracy("SELECT * FROM users", ["users.id"]).error.kind
        'no_schema'
        >>> column_accuracy("SELECT id FROM users", "users.id")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: expected must be SQL, or names in a list, got 'users.id'

    References:
        Jaccard, "Étude comparative de la distribution florale dans une portion des Alpes et des
        Jura", Bulletin de la Société Vaudoise des Sciences Naturelles 37, 1901.
    """
    check_generated("generated", generated)
    reader = ColumnReader(schema, check_dialect(dialect))
    found = reader.read(generated)
    if isinstance(expected, str):
        wanted = reader.read(expected)
        if wanted.error is not None and wanted.error.kind in ("empty", "not_sql"):
            refuse("expected", "SQL, or names in a list", expected)
    else:
        given = check_names("expected", expected)
        if any(map(_QUERY.match, given)):
            refuse("expected", "SQL, or names in a list", given)
        wanted = reader.named(given, found.dialect)
    is_same = isinstance(expected, str) and expected.strip() == generated.strip()
    if is_same and found.error is not None and found.error.kind in _LACKING:
        found = wanted = found._replace(error=None)  # the same columns, whichever they are
    sides = [(found, "generated"), (wanted, "expected")]
    if wanted.error is not None and wanted.error.kind not in _LACKING:
        sides.reverse()  # nothing can be measured against it, whatever was generated
    for columns, side in sides:
        if columns.error is not None:
            is_output = side == "generated" and columns.error.kind not in _LACKING
            error = metric_error(
                "column_accuracy",
                origin="output" if is_output else "instrument",
                kind=columns.error.kind,
                error=f"{side}: {columns.error.message}",
                inputs={"generated": generated, "expected": expected},
                logger=_log,
            )
            return ColumnAccuracy(
                score=0.0,
                extracted=found.names,
                expected=wanted.names,
                missing=wanted.names if is_output else (),
                unexpected=(),
                error=error,
            )
    same = found.nowhere & wanted.nowhere
    partners = match_names(tuple(found.read), tuple(wanted.read - same))
    n_pairs = len(same) + partners.n_pairs
    n_names = len(found.names) + len(wanted.names) - n_pairs
    return ColumnAccuracy(
        score=n_pairs / n_names if n_names else 1.0,
        extracted=found.names,
        expected=wanted.names,
        missing=tuple(sorted({*partners.only_expected, *(wanted.nowhere - wanted.read - same)})),
        unexpected=tuple(sorted({*partners.only_extracted, *(found.nowhere - same)})),
    )


_QUERY = re.compile(r"\s*(?:select|with)\s")

_LACKING = ("no_schema", "unsupported_clause")
"""Kinds of errors that are not the model's."""
