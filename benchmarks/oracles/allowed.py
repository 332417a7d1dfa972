"""Whether two queries allow the same results on a database, ties at a LIMIT broken either way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from scorekit._core.rows import ResultRow, same_bag
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.faithful import Reading
from scorekit._sql.refute.hints import hints
from scorekit._sql.refute.inference import known_tables
from scorekit._sql.refute.reading import read_pair
from scorekit._sql.refute.sandbox import Cell, NoResultError, QueryError
from scorekit._sql.refute.search import Trial, runnables
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
        trees = pair.first, pair.second
        nodes = [list(tree.walk()) for tree in trees]
        known = known_tables(trees, nodes, schema, hints(nodes), dialect=pair.dialect)
        reading = Reading("sqlite", folded=False)
        with ExitStack() as stack:
            question = Question(schema, dialect, row_order="ignored")
            trial = Trial(reading, runnables(pair, known, reading), known, question, stack)
            database = {name: [tuple(row) for row in rows[name]] for name in known.tables}
            first, second = trial.allowed(database)
            results = [
                [r for one in several for r in one.results()] for several in (first, second)
            ]
    except (UnfaithfulError, NoResultError, QueryError, KeyError):
        return False
    return all(
        any(_same(own, other) for other in results[1 - i])
        for i, several in enumerate(results)
        for own in several
    )


def _same(first: list[ResultRow], second: list[ResultRow]) -> bool:
    return same_bag(first, second, 1e-9)
