"""The caller's own engine, or DuckDB, as the backend of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, TypeGuard

from sqlglot import exp

from scorekit._core.rows import ResultRow, plain
from scorekit._core.text import ORDINALS
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.allowed import Allowed
from scorekit._sql.refute.asked import Asked, asked
from scorekit._sql.refute.backend import Backend, Results
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.faithful import Reading, check_stable
from scorekit._sql.refute.inference import TablesRead
from scorekit._sql.refute.reading import Pair
from scorekit._sql.refute.runnable import written_name
from scorekit._sql.refute.sandbox import MAX_RESULT_ROWS, Database, NoResultError, QueryError
from scorekit._sql.refute.search import Difference, NoDifference, search
from scorekit._sql.refute.statements import made, spellings
from scorekit.errors import one_line

Engine: TypeAlias = Callable[[Sequence[str], str], Iterable[Sequence[object]]]
"""Makes an empty database, runs the statements in it, and returns the rows of the query."""

AnyEngine: TypeAlias = Engine | Literal["duckdb"]
"""A caller's engine, or the one that stands ready."""

MAX_FAILURES: Final = 3
"""Databases in turn on which an engine runs neither query before it is given up."""


def engine_name(engine: Engine | str | None) -> str | None:
    """Return what an engine is called: by its name, or that of its class."""
    if engine is None or isinstance(engine, str):
        return engine
    inner: Any = getattr(engine, "func", engine)  # of a partial
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def refute_by(
    engine: Engine,
    pair: Pair,
    question: Question,
    *,
    shown_in: str | None = None,
    check: Callable[[TablesRead], None] | None = None,
) -> Difference | NoDifference:
    """
    Look for a small database on which an engine returns different rows of two queries.

    Args:
        engine: What runs them.
        pair: The queries of the question, parsed.
        question: Where they run, and when two results are the same; the statements that make a
            database are in its dialect.
        shown_in: The dialect of the statements that are shown; None for the same.
        check: Raises `UnfaithfulError` where the engine does not stand for the tables.
    """
    dialect = question.dialect or pair.dialect or "sqlite"
    reading = Reading(dialect, folded=False)
    try:
        found = asked(pair, question)
        for several in found.nodes:
            check_stable(several)
        found = found.enforcing([reading])
        if check is not None:
            check(found.known)
    except UnfaithfulError as error:
        return NoDifference(str(error))
    if any(found.asking):
        if not all(found.asking):
            return NoDifference("the time of day is not determined")
        found = found.assuming("both queries are run at one moment")
    with ExitStack() as stack:
        backend = _InEngine(engine, reading, found, question, stack)
        return search([backend], found, question, shown_in=shown_in or dialect)


class _RaisedError(Exception):
    """What an engine raised."""


class _InEngine(Backend):
    """The two queries in an engine: what it returns counts if it returns it again."""

    max_deletions = 40

    def __init__(
        self,
        engine: Engine,
        reading: Reading,
        queries: Asked,
        question: Question,
        stack: ExitStack,
    ) -> None:
        sorts = [bool(tree.args.get("order")) for tree in queries.trees]
        super().__init__(reading, queries.known, question, stack, sorts=sorts)
        self._engine = engine
        trees = queries.trees
        self._spelled = spellings(trees, None)
        bare = [_unqualified(tree, queries.known.names) for tree in trees]
        self._trees = [tree if one is None else one for tree, one in zip(trees, bare, strict=True)]
        self._texts = [
            text if one is None else self._written(one)
            for text, one in zip(question.texts, bare, strict=True)
        ]
        self._database: Database = {}
        self._n_failed, self._has_run = 0, False

    def _written(self, tree: exp.Expr) -> str:
        return tree.sql(self._reading.dialect)

    def load(self, database: Database) -> None:
        """Take the database on which the queries are run from now on."""
        self._database = database

    def _statements(self, *, turned: bool = False) -> tuple[str, ...]:
        read = frozenset(self._known.names.values())
        tables = {
            name: (columns, self._database[name][:: -1 if turned else 1])
            for name, columns in self._known.tables.items()
            if name in read
        }
        return made(tables, self._spelled, self._reading.dialect)

    def _run(self, text: str, *, turned: bool = False) -> list[ResultRow]:
        statements = self._statements(turned=turned)
        try:
            rows = self._engine(list(statements), text)
            if isinstance(rows, Iterator):
                rows = list(islice(rows, MAX_RESULT_ROWS + 1))
        except Exception as error:  # noqa: BLE001 - a stranger's
            raise _RaisedError(one_line(f"{type(error).__name__}: {error}")) from None
        return _read(rows)

    def results(self, moment: str) -> Results:  # noqa: ARG002 - all are run at one
        """Return both results, where the engine runs both queries."""
        results: list[list[ResultRow] | str] = []
        for text in self._texts:
            try:
                results.append(self._run(text))
            except _RaisedError as error:
                results.append(str(error))
        first, second = results
        if isinstance(first, str) and isinstance(second, str):
            self._n_failed += 1
            is_given_up = self._n_failed == MAX_FAILURES and not self._has_run
            kind = QueryError if is_given_up else NoResultError
            raise kind(f"the engine runs neither query: {first}")
        if isinstance(first, str) or isinstance(second, str):
            raise self._refused(0 if isinstance(first, str) else 1)
        self._has_run = True
        return first, second

    def _refused(self, i: Literal[0, 1]) -> Exception:
        """Return that one query alone is refused: of the first that decides."""
        try:  # a connection that was lost is not the query's fault
            self._run(self._texts[1 - i])
            self._run(self._texts[i])
        except _RaisedError as error:
            self._has_run = True
            reason = f"the engine does not run the {ORDINALS[i]} query: {error}"
            return NoResultError(reason, "b") if i else QueryError(reason, "a")
        return NoResultError("the engine raised, and not when it was asked again")

    def allowed(self, i: int) -> list[Allowed]:
        """
        Return the one result of a query, where the tables alone decide it.

        It is run again, on tables filled in the other order, and with ties at each LIMIT broken
        by the columns in either way.
        """
        result = self.shown[i]
        texts = [self._texts[i], *self._broken(i, result)]
        runs = [(turned, text) for text in texts for turned in (False, True)]
        for turned, text in runs:
            try:
                again = self._run(text, turned=turned)
            except _RaisedError:
                if text != self._texts[i]:
                    continue  # an engine that cannot sort by such a column
                raise NoResultError(
                    "the engine raised, and not when it was asked before"
                ) from None
            if not self.same(result, again):
                raise NoResultError(f"the {ORDINALS[i]} query returns other rows when run again")
        return [Allowed(tuple(result))]

    def _broken(self, i: int, result: list[ResultRow]) -> list[str]:
        """Return a query that cuts its rows with ties broken, upwards and downwards."""
        tree = self._trees[i]
        if not any(map(_cuts, tree.find_all(exp.Query))):
            return []
        width = len(result[0]) if result else 0
        return [self._written(_with_ties_broken(tree, width, desc=desc)) for desc in (False, True)]

    def sorted_both_ways(self, i: int) -> list[list[ResultRow]]:
        """Return a sorted result twice, ties broken by all columns; nothing if that cannot be."""
        tree, result = self._trees[i], self.shown[i]
        width = len(result[0]) if result else 0
        broken = (
            _with_ties_broken(tree, width, desc=desc, inside=False) for desc in (False, True)
        )
        try:
            return [self._run(self._written(one)) for one in broken]
        except _RaisedError:
            return []


def _read(rows: Any) -> list[ResultRow]:
    """
    Return what an engine returned as rows that compare.

    Raises:
        NoResultError: If there are too many.
        QueryError: If it is no rows: None, a text, records, rows of several widths.
    """
    found: list[ResultRow] = []
    for row in _items(rows):
        try:
            found.append(tuple(map(plain, _items(row))))
            hash(found[-1])
        except (TypeError, ValueError, RecursionError) as error:
            raise QueryError(
                f"the engine returned a cell that does not compare: {error}"
            ) from None
        if len(found[-1]) != len(found[0]):
            raise QueryError("the engine returned rows of several widths")
        if len(found) > MAX_RESULT_ROWS:
            raise NoResultError(f"more than {MAX_RESULT_ROWS} rows")
    return found


def _items(several: object) -> Iterable[Any]:
    if not _is_listed(several):
        kind = type(several).__name__
        raise QueryError(f"the engine must return rows of cells, not {kind}")
    return several


_UNLISTED: Final[tuple[type[Any], ...]] = (str, bytes, dict)


def _is_listed(several: object) -> TypeGuard[Iterable[Any]]:
    return isinstance(several, Iterable) and not isinstance(several, _UNLISTED)


def _unqualified(tree: exp.Expr, names: Mapping[str, str]) -> exp.Expr | None:
    """Return a query whose tables go by their last names; None where all of them do."""
    if not any(table.args.get("db") for table in tree.find_all(exp.Table)):
        return None
    bare = tree.copy()
    nodes = list(bare.walk())
    for node in nodes:
        is_other = isinstance(node, exp.Table) and written_name(node) not in names
        if isinstance(node, exp.Table | exp.Column) and not is_other:
            node.set("db", None)
            node.set("catalog", None)
    return bare


def _cuts(query: exp.Expr) -> bool:
    """Say whether a query keeps but some of rows that tie: by LIMIT or DISTINCT ON."""
    distinct = query.args.get("distinct")
    kept = isinstance(distinct, exp.Distinct) and distinct.args.get("on") is not None
    return kept or any(query.args.get(name) for name in ("limit", "offset"))


def _with_ties_broken(tree: exp.Expr, width: int, *, desc: bool, inside: bool = True) -> exp.Expr:
    """Return a query with all of its columns behind each ORDER BY that a LIMIT cuts by."""
    tree = tree.copy()
    for query in list(tree.find_all(exp.Query)):
        cut = _cuts(query)
        whole = query is tree
        if not (whole or (inside and cut)) or (whole and inside and not cut):
            continue
        n = width if whole else 0 if query.is_star else len(query.selects)
        order = query.args.get("order") or exp.Order(expressions=[])
        for i in range(1, n + 1):
            order.append("expressions", exp.Ordered(this=exp.Literal.number(i), desc=desc))
        if order.expressions:
            query.set("order", order)
    return tree
