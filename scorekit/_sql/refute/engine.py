"""A database on which two queries have different results, as the caller's own engine runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeGuard

from sqlglot import exp

from scorekit._core.clock import check_time
from scorekit._core.rows import ResultRow, plain
from scorekit._core.text import ORDINALS
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.databases import Maker
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.faithful import Reading, asks_time, check_reasonable, check_stable
from scorekit._sql.refute.hints import hints
from scorekit._sql.refute.inference import TablesRead, known_tables
from scorekit._sql.refute.reading import Pair
from scorekit._sql.refute.runnable import written_name
from scorekit._sql.refute.sandbox import MAX_RESULT_ROWS, Database, NoResultError
from scorekit._sql.refute.search import (
    Conditions,
    Difference,
    NoDifference,
    counts_order,
    enforced,
    holds,
    misordered,
    places_of,
    shown_tables,
    shrunk,
    statements_of,
)
from scorekit._sql.refute.statements import made, spellings
from scorekit.errors import one_line

Engine: TypeAlias = Callable[[Sequence[str], str], Iterable[Sequence[object]]]
"""Makes an empty database, runs the statements in it, and returns the rows of the query."""

AnyEngine: TypeAlias = Engine | Literal["duckdb"]
"""A caller's engine, or the one that stands ready."""

MAX_FAILURES: Final = 3
"""Databases in turn on which an engine runs neither query before it is given up."""

MAX_DELETIONS: Final = 40
"""Rows, and tables, that are left out on trial where each costs a call."""


class Raised(NamedTuple):
    """One query alone that an engine does not run."""

    query: Literal[0, 1]
    reason: str
    statements: tuple[str, ...]


def engine_name(engine: Engine | str | None) -> str | None:
    """Return what an engine is called: by its name, or that of its class."""
    if engine is None or isinstance(engine, str):
        return engine
    inner: Any = getattr(engine, "func", engine)  # of a partial
    return str(getattr(inner, "__name__", None) or type(inner).__name__)


def refute_by(
    engine: Engine,
    texts: tuple[str, str],
    pair: Pair,
    question: Question,
    *,
    shown_in: str | None = None,
    check: Callable[[TablesRead], None] | None = None,
) -> Difference | NoDifference | Raised:
    """
    Look for a small database on which an engine returns different rows of two queries.

    Args:
        engine: What runs them.
        texts: The queries.
        pair: The same, parsed.
        question: Where they run, and when two results are the same; the statements that make a
            database are in its dialect.
        shown_in: The dialect of the statements that are shown; None for the same.
        check: Raises `UnfaithfulError` where the engine does not stand for the tables.
    """
    dialect = question.dialect
    reading = Reading(dialect or pair.dialect or "sqlite", folded=False)
    try:
        trees = pair.first, pair.second
        nodes = [list(tree.walk()) for tree in trees]
        for several in nodes:
            check_reasonable(several, dialect)
            check_stable(several)
        asking = [any(map(asks_time, several)) for several in nodes]
        hint = hints(nodes)
        known = known_tables(trees, nodes, question.schema, hint, dialect=pair.dialect)
        if known.rules:
            known, hint = enforced(known, nodes, [reading])
        if check is not None:
            check(known)
    except UnfaithfulError as error:
        return NoDifference(str(error))
    if any(asking) and not all(asking):
        return NoDifference("the time of day is not determined")
    said = ("both queries are run at one moment",) if any(asking) else ()
    known = known._replace(assumptions=(*known.assumptions, *said))
    with ExitStack() as stack:
        conditions = Conditions(reading, known, stack)
        holding = partial(holds, [conditions])
        maker = Maker(known, trees, hint, question.seed, holding, dialect=pair.dialect)
        runner = _Runner(engine, texts, pair, known, question, shown_in=shown_in)
        return runner.search(maker, question.n_databases)


class _RaisedError(Exception):
    """What an engine raised."""


class _EngineError(Exception):
    """What an engine returned, and is no result."""


class _Runner:
    """Two queries, and the engine that runs them."""

    def __init__(
        self,
        engine: Engine,
        texts: tuple[str, str],
        pair: Pair,
        known: TablesRead,
        question: Question,
        *,
        shown_in: str | None,
    ) -> None:
        self._engine, self._known = engine, known
        self._dialect = question.dialect or pair.dialect or "sqlite"
        self._shown_in = shown_in or self._dialect
        self._same = question.same
        trees = pair.first, pair.second
        self._asks = [bool(tree.args.get("order")) for tree in trees]
        self._ordered = counts_order(question.row_order, self._asks)
        self._spelled = spellings(trees, None)
        self._shown_as = spellings(trees, question.schema)
        bare = [_unqualified(tree, known.names) for tree in trees]
        self._trees = [tree if one is None else one for tree, one in zip(trees, bare, strict=True)]
        self._texts = [
            text if one is None else one.sql(self._dialect)
            for text, one in zip(texts, bare, strict=True)
        ]

    def search(self, maker: Maker, n_databases: int) -> Difference | NoDifference | Raised:
        """Try databases until they differ on one."""
        n_compared, n_failed, unclear = 0, 0, ""
        raised: list[Raised] = []
        for i in range(n_databases):
            check_time()
            database = maker.database(i)
            try:
                found = self._compared(database)
            except _EngineError as error:
                return NoDifference(str(error))
            except _RaisedError as error:
                unclear, n_failed = f"the engine runs neither query: {error}", n_failed + 1
                if n_failed == MAX_FAILURES and not n_compared:
                    break
                continue
            except NoResultError as error:
                unclear = str(error)
                continue
            if isinstance(found, Raised):
                if found.query == 0:
                    return found
                raised.append(found)
                continue
            n_compared += 1
            if found is not None:
                return self._least(database, found)
        if n_compared:
            return NoDifference(f"no difference on {n_compared} small databases", n_compared)
        return raised[0] if raised else NoDifference(unclear)

    def _statements(self, database: Database, *, turned: bool = False) -> tuple[str, ...]:
        read = frozenset(self._known.names.values())
        tables = {
            name: (columns, list(reversed(database[name])) if turned else database[name])
            for name, columns in self._known.tables.items()
            if name in read
        }
        return made(tables, self._spelled, self._dialect)

    def _run(self, statements: tuple[str, ...], text: str) -> list[ResultRow]:
        try:
            rows = self._engine(list(statements), text)
            if isinstance(rows, Iterator):
                rows = list(islice(rows, MAX_RESULT_ROWS + 1))
        except Exception as error:  # noqa: BLE001 - a stranger's
            raise _RaisedError(one_line(f"{type(error).__name__}: {error}")) from None
        return _read(rows)

    def _both(self, database: Database) -> tuple[list[ResultRow], list[ResultRow]] | Raised:
        """Return both results; raises `_RaisedError` where neither query runs."""
        statements = self._statements(database)
        results: list[list[ResultRow] | str] = []
        for text in self._texts:
            try:
                results.append(self._run(statements, text))
            except _RaisedError as error:
                results.append(str(error))
        first, second = results
        if isinstance(first, str) and isinstance(second, str):
            raise _RaisedError(first)
        if not isinstance(first, str) and not isinstance(second, str):
            return first, second
        wrong: Literal[0, 1] = 0 if isinstance(first, str) else 1
        try:  # a connection that was lost is not the query's fault
            self._run(statements, self._texts[1 - wrong])
            self._run(statements, self._texts[wrong])
        except _RaisedError as error:
            reason = f"the engine does not run the {ORDINALS[wrong]} query: {error}"
            return Raised(wrong, reason, statements)
        raise NoResultError("the engine raised, and not when it was asked again")

    def _compared(self, database: Database) -> Difference | Raised | None:
        """Return how the results differ, if they do and the tables alone decide them."""
        results = self._both(database)
        if isinstance(results, Raised):
            return results
        order_only = self._same(*results)
        if order_only and not (self._ordered and self._order_differs(database, results)):
            return None
        for i, result in enumerate(results):
            self._check_settled(i, database, result)
        return self._shown(database, results, order_only=order_only)

    def _check_settled(self, i: int, database: Database, result: list[ResultRow]) -> None:
        """
        Stop where the tables do not decide what a query returns.

        It is run again, on tables filled in the other order, and with ties at each LIMIT broken
        by the columns in either way.
        """
        texts = [self._texts[i], *self._broken(i, result)]
        runs = [(turned, text) for text in texts for turned in (False, True)]
        for turned, text in runs:
            try:
                again = self._run(self._statements(database, turned=turned), text)
            except _RaisedError:
                if text != self._texts[i]:
                    continue  # an engine that cannot sort by such a column
                raise NoResultError(
                    "the engine raised, and not when it was asked before"
                ) from None
            if not self._same(result, again):
                raise NoResultError(f"the {ORDINALS[i]} query returns other rows when run again")

    def _broken(self, i: int, result: list[ResultRow]) -> list[str]:
        """Return a query that cuts its rows with ties broken, upwards and downwards."""
        tree = self._trees[i]
        if not any(map(_cuts, tree.find_all(exp.Query))):
            return []
        return [
            _with_ties_broken(tree, len(result[0]) if result else 0, desc=desc).sql(self._dialect)
            for desc in (False, True)
        ]

    def _order_differs(
        self, database: Database, results: tuple[list[ResultRow], list[ResultRow]]
    ) -> bool:
        """
        Say whether a row may come before another in the first result and must not in the second.

        A first query that asks for no order allows any, such as the one that it has.
        """
        if results[0] == results[1]:
            return False
        statements = self._statements(database)
        places = [] if self._asks[0] else [[places_of(results[0])]]
        for tree, result in list(zip(self._trees, results, strict=True))[len(places) :]:
            width = len(result[0]) if result else 0
            try:
                found = [
                    self._run(
                        statements,
                        _with_ties_broken(tree, width, desc=desc, inside=False).sql(self._dialect),
                    )
                    for desc in (False, True)
                ]
            except _RaisedError:
                return False
            places.append([places_of(rows) for rows in found])
        return misordered(*places)

    def _shown(
        self,
        database: Database,
        results: tuple[list[ResultRow], list[ResultRow]],
        *,
        order_only: bool,
    ) -> Difference:
        shown = shown_tables(database, self._known)
        return Difference(
            tables={n: (tuple(c.name for c in own), rows) for n, (own, rows) in shown.items()},
            results=(tuple(results[0]), tuple(results[1])),
            order_only=order_only,
            assumptions=self._known.assumptions,
            statements=statements_of(database, self._known, self._shown_as, self._shown_in),
        )

    def _least(self, database: Database, found: Difference) -> Difference:
        """Leave out rows as long as the results still differ, and are settled in the end."""

        def differs(rows: Database) -> bool:
            try:
                results = self._both(rows)
            except (_RaisedError, NoResultError):
                return False
            return not isinstance(results, Raised) and not self._same(*results)

        if found.order_only:
            return found
        least = shrunk(differs, database, self._known.links, MAX_DELETIONS)
        try:
            smaller = self._compared(least)
        except (_RaisedError, NoResultError):
            smaller = None
        return smaller if isinstance(smaller, Difference) else found


def _read(rows: Any) -> list[ResultRow]:
    """
    Return what an engine returned as rows that compare.

    Raises:
        NoResultError: If there are too many.
        _EngineError: If it is no rows: None, a text, records, rows of several widths.
    """
    found: list[ResultRow] = []
    for row in _items(rows):
        try:
            found.append(tuple(map(plain, _items(row))))
            hash(found[-1])
        except (TypeError, ValueError, RecursionError) as error:
            raise _EngineError(
                f"the engine returned a cell that does not compare: {error}"
            ) from None
        if len(found[-1]) != len(found[0]):
            raise _EngineError("the engine returned rows of several widths")
        if len(found) > MAX_RESULT_ROWS:
            raise NoResultError(f"more than {MAX_RESULT_ROWS} rows")
    return found


def _items(several: object) -> Iterable[Any]:
    if not _is_listed(several):
        kind = type(several).__name__
        raise _EngineError(f"the engine must return rows of cells, not {kind}")
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
