"""Whether two queries allow the same results on a database, ties at a LIMIT broken either way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from scorekit._core.rows import ResultRow, same_bag
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.asked import asked
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.faithful import Reading
from scorekit._sql.refute.reading import read_pair
from scorekit._sql.refute.sandbox import Cell, NoResultError, QueryError
from scorekit._sql.refute.sqlite import InSQLite, runnables
from scorekit._sql.schema.tables import SqlSchema


def allowed_alike(
    texts: tuple[str, str],
    schema: SqlSchema,
    rows: Mapping[str, Sequence[Sequence[Cell]]],
    dialect: str | None,
) -> bool:
    """
    Say whether each query allows all results of the other, in SQLite.

    Args:
        texts: The queries.
        schema: The tables.
        rows: The rows of each, cells in the order of its columns.
        dialect: What the queries are written in.
    """
    try:
        pair = read_pair(texts, dialect or "sqlite")
        question = Question(schema, dialect, row_order="ignored")
        queries = asked(pair, question)
        reading = Reading("sqlite", folded=False)
        plans = runnables(pair, queries.known, reading)
        with ExitStack() as stack:
            backend = InSQLite(reading, plans, queries, question, stack)
            backend.load(
                {name: [tuple(row) for row in rows[name]] for name in queries.known.tables}
            )
            backend.shown = backend.results("")
            results = [[r for one in backend.allowed(i) for r in one.results()] for i in (0, 1)]
    except (UnfaithfulError, NoResultError, QueryError, KeyError):
        return False
    return all(
        any(_same(own, other) for other in results[1 - i])
        for i, several in enumerate(results)
        for own in several
    )


def _same(first: list[ResultRow], second: list[ResultRow]) -> bool:
    return same_bag(first, second, 1e-9)
