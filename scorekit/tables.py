"""Which tables a query touches, and whether they are the right ones: `table_accuracy`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import partial
from itertools import islice
from typing import Any, TypeGuard

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import check_generated, check_items, check_same_length, check_text
from scorekit._core.columns import as_builtins
from scorekit._core.mappings import is_mapping
from scorekit._sql.door import check_dialect, match_names, read_tables
from scorekit.errors import SqlError, refuse
from scorekit.parallel import Progress, map_scores
from scorekit.records import MetricError, MetricResult, metric_error

_log = logging.getLogger(__name__)

MAX_EXPECTED = 10_000
"""Most names that `table_accuracy` compares with."""


@attrs.frozen(kw_only=True, repr=False)
class TableAccuracy(MetricResult):
    """Result of `table_accuracy`: the score, the two sets of names, and where they differ."""

    score: float
    """Jaccard similarity of the two sets in ``[0, 1]``; higher is better."""
    extracted: tuple[str, ...]
    """Tables that the SQL touches, sorted; empty if it does not parse."""
    expected: tuple[str, ...]
    """Tables that it should touch, in lower case, without repetitions, sorted."""
    missing: tuple[str, ...]
    """Expected tables that match no extracted one."""
    unexpected: tuple[str, ...]
    """Extracted tables that match no expected one."""
    unread: tuple[str, ...] = ()
    """Statements that could not be read, so that their tables are not in *extracted*."""
    error: MetricError | None = None
    """Why the SQL could not be read; its score of 0.0 counts."""


def extract_tables(sql: str, *, dialect: str | None = None) -> tuple[str, ...]:
    """
    Return the base tables that a SQL script reads or writes.

    Names are resolved by scope: common table expressions, aliases, table functions, files, and
    temporary tables and views that the script itself creates are no base tables.  A table that
    ``CREATE TABLE ... AS`` makes is one.  Bodies of procedures and blocks, and queries in SET and
    DECLARE, are read.  A statement that cannot be read is left out, and `table_accuracy` lists it
    in *unread*.  Text in Markdown fences is read as SQL, and EXPLAIN is ignored; other text around
    the SQL is an error.

    Args:
        sql: One or more statements, of at most 200,000 characters and 32 levels of nesting.
        dialect: The dialect, by sqlglot's name for it; None for the default one and, where that
            cannot parse a text of up to 20,000 characters, several others in turn.

    Returns:
        The names as written, qualified or not, in lower case, sorted.  A part that would be
        read as something else without them, such as ``x..y``, is in double quotes.

    Raises:
        InputError: If *dialect* is not one that sqlglot knows.
        SqlError: If *sql* is empty, too long or too deeply nested, or no statement can be read.
        TypeError: If *sql* is not a string.

    Examples:
        >>> extract_tables("WITH u AS (SELECT * FROM Users) SELECT * FROM u, hr.staff AS s")
        ('hr.staff', 'users')
        >>> extract_tables("SELECT (1")
        Traceback (most recent call last):
        ...
        scorekit.errors.SqlError: parse: Expecting ). Line 1, column 9.
    """
    text = check_text("sql", sql, empty=True)
    return read_tables(text, check_dialect(dialect)).tables


def table_accuracy(
    generated: str, expected_tables: Iterable[str], *, dialect: str | None = None
) -> TableAccuracy:
    """
    Score whether generated SQL touches the right tables.

    Jaccard similarity ``matched / (extracted + expected - matched)``, 1.0 where both sides are
    empty.  Two names match if one ends with the other, in whole parts and whatever the case:
    ``users`` matches ``public.users``, ``a.users`` does not match ``b.users``.  Each name is
    matched at most once, as many as possible.

    Args:
        generated: The SQL, as `extract_tables` takes it.
        expected_tables: Names of the right tables, qualified or not, in quotes, backticks or
            brackets or not; repetitions count once.
        dialect: The dialect of *generated*, by sqlglot's name for it; None to try several.

    Returns:
        A frozen `TableAccuracy`; SQL that does not parse scores 0.0 and says why in its *error*.
        Read *score*, *missing* and *unexpected* first.

    Raises:
        InputError: If *dialect* is not one that sqlglot knows, a name is empty, or there are
            more than 10,000.
        TypeError: If *generated* or an expected name is not a string, or *expected_tables* is a
            single string or a mapping.

    Examples:
        >>> result = table_accuracy("SELECT * FROM Users JOIN logs USING (id)", ["public.users"])
        >>> result.score, result.unexpected
        (0.5, ('logs',))
        >>> table_accuracy("SELECT 1", "users")
        Traceback (most recent call last):
        ...
        TypeError: expected_tables must be an iterable of strings, got 'users'

    References:
        Jaccard, "Étude comparative de la distribution florale dans une portion des Alpes et des
        Jura", Bulletin de la Société Vaudoise des Sciences Naturelles 37, 1901.
    """
    check_generated("generated", generated)
    dialect = check_dialect(dialect)
    named = check_names("expected_tables", expected_tables)
    try:
        extracted, unread, read_as = read_tables(generated, dialect)
    except SqlError as error:
        expected = match_names((), named, dialect or "").expected
        return TableAccuracy(
            score=0.0,
            extracted=(),
            expected=expected,
            missing=expected,
            unexpected=(),
            error=metric_error(
                "table_accuracy",
                origin="output",
                kind=error.kind,
                error=error,
                inputs={"generated": generated},
                logger=_log,
            ),
        )
    partners = match_names(extracted, named, read_as)
    n_names = len(extracted) + len(partners.expected) - partners.n_pairs
    return TableAccuracy(
        score=partners.n_pairs / n_names if n_names else 1.0,
        extracted=extracted,
        expected=partners.expected,
        missing=tuple(partners.only_expected),
        unexpected=tuple(partners.only_extracted),
        unread=unread,
    )


def check_names(name: str, names: object) -> tuple[str, ...]:
    """Return names of tables or columns in lower case, each once, sorted."""
    if not _is_iterable(names) or isinstance(names, str | bytes) or is_mapping(names):
        refuse(name, "an iterable of strings", names, TypeError)
    items = tuple(islice(names, MAX_EXPECTED + 1))
    if len(items) > MAX_EXPECTED:
        refuse(name, f"at most {MAX_EXPECTED} names", items)
    checked = (check_text(f"{name}[{i}]", item) for i, item in enumerate(items))
    return tuple(sorted({item.lower() for item in checked}))


def _is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(value, Iterable)


def table_accuracies_from_columns(
    generated: Iterable[str],
    expected_tables: Iterable[Iterable[str]],
    *,
    dialect: str | None = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
) -> NDArray[np.float64]:
    """
    Score a column of queries; entry *i* is the score `table_accuracy` gives to row *i*.

    SQL that does not parse scores 0.0; ask `table_accuracy` why.

    Args:
        generated: The SQL, shape ``(N,)``: a list, or a NumPy, pandas, polars or Arrow column.
        expected_tables: Names of the right tables of each, shape ``(N,)``: a column of lists.
        dialect: The dialect of all, by sqlglot's name for it; None to try several.
        executor: Computes in chunks, through `map_scores`; None computes here.
        progress: Called with the number of queries done and of all queries, from time to time;
            True shows a bar.

    Returns:
        The scores in ``[0, 1]``, float64, shape ``(N,)``.

    Raises:
        InputError: If the columns differ in length or are empty, *dialect* is not one that sqlglot
            knows, a name is empty, or *executor* is shut down.
        TypeError: If an entry is not a string, or not an iterable of strings.
        WorkerError: If a worker died and *executor* does not replace it.

    Examples:
        >>> table_accuracies_from_columns(
        ...     ["SELECT * FROM users JOIN logs USING (id)", "SELECT ("], [["users"], ["users"]]
        ... ).tolist()
        [0.5, 0.0]
        >>> table_accuracies_from_columns(["SELECT 1"], [[], []])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: expected_tables and generated must be equally long, got 2 and 1
    """
    check_dialect(dialect)
    queries = check_items("generated", as_builtins(generated), what="strings")
    columns = check_items("expected_tables", as_builtins(expected_tables), what="lists of strings")
    check_same_length("expected_tables", len(columns), "generated", len(queries))
    pairs = [
        (
            check_generated(f"generated[{i}]", query),
            check_names(f"expected_tables[{i}]", as_builtins(names)),
        )
        for i, (query, names) in enumerate(zip(queries, columns, strict=True))
    ]
    score = partial(_score, dialect=dialect)
    scores = map_scores(score, pairs, executor=executor, progress=progress)
    return np.fromiter(scores, np.float64)


def _score(pair: tuple[str, tuple[str, ...]], *, dialect: str | None) -> float:
    return table_accuracy(*pair, dialect=dialect).score
