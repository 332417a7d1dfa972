"""SQLite as the backend of a search: queries are made to mean there what their dialect says."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from typing import Final

from sqlglot import exp

from scorekit._core.rows import ResultRow
from scorekit._core.text import ORDINALS
from scorekit._sql.databases.kinds import UNCASED, UNPADDED, WHOLE, Column
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.allowed import Allowed, kept
from scorekit._sql.refute.asked import Asked, asked
from scorekit._sql.refute.backend import Backend, Results
from scorekit._sql.refute.expressions import DESCRIBED, UnfaithfulError, is_text
from scorekit._sql.refute.faithful import Reading, only_cased, readings
from scorekit._sql.refute.hints import Hints
from scorekit._sql.refute.inference import TablesRead
from scorekit._sql.refute.reading import Pair
from scorekit._sql.refute.runnable import Cut, Runnable, runnable
from scorekit._sql.refute.sandbox import NOW_TEXT, Database, NoResultError, QueryError
from scorekit._sql.refute.search import Difference, NoDifference, search
from scorekit._sql.refute.ties import MAX_ORDERS, TooManyOrdersError
from scorekit._sql.schema.definitions import CheckRule

MAX_WORK: Final = 1_000_000
"""Instructions of SQLite that one reading of a pair may take in all."""
_STEPS_AN_ORDER: Final = 200
_WORK_A_ROW: Final = 400


def refute(
    pairs: Mapping[str, Pair], question: Question, *, backend: type[InSQLite] | None = None
) -> Difference | NoDifference:
    """
    Look for a small database on which two queries differ, however they may be understood.

    Args:
        pairs: Both queries as each dialect reads them in which they must differ.
        question: Where they run, and when two results are the same.
        backend: Decides whether they differ on a database; None for their results.
    """
    alone = question.dialect is not None
    try:
        pair = next(iter(pairs.values()))
        found = asked(pair, question)
        is_cased = alone and only_cased(chain(*found.nodes), pair.dialect)
        plans = [
            (reading, runnables(one, found.known, reading))
            for name, one in pairs.items()
            for reading in readings(name, alone=alone)
            if not (is_cased and reading.folded)
        ]
        found = found.enforcing([reading for reading, _ in plans])
        if any(reading.dialect in DESCRIBED for reading, _ in plans):
            found = found.with_rules(_castable(found.known, found.hint))
        moments, said = _moments(found)
        found = found.assuming(*said)
    except UnfaithfulError as error:
        return NoDifference(str(error))
    with ExitStack() as stack:
        backends = [
            (backend or InSQLite)(reading, plan, found, question, stack, moments=moments)
            for reading, plan in plans
        ]
        return search(backends, found, question, shown_in=question.dialect or "")


def _moments(queries: Asked) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """
    Return the moments at which queries are run, and what they are said to be.

    Where only one of them asks for the time, results must differ whatever it is: also in years,
    and on days, that the queries name.
    """
    if not any(queries.asking):
        return ("",), ()
    if all(queries.asking):
        return (NOW_TEXT,), (f"both queries run at {NOW_TEXT}",)
    named = [node.name for node in chain(*queries.nodes) if isinstance(node, exp.Literal)]
    found = [match for text in named if (match := _DATED.match(text))]
    days = [f"{day[1]}{day[2] or '-06-15'} 10:30:00" for day in found][:_MOST_MOMENTS]
    moments = tuple(dict.fromkeys((NOW_TEXT, *MOMENTS, *days)))
    return moments, (f"the results shown are those at {NOW_TEXT}; they differ at other times too",)


MOMENTS: Final = ("1969-07-20 20:17:40", "1996-02-29 00:00:00", "2031-12-31 23:59:59")
"""Further moments at which a query is run that asks for the time, and the other does not."""
_MOST_MOMENTS = 8
_DATED = re.compile(r"((?:19|20)\d\d)(-[01]\d-[0-3]\d)?(?!\d)")


def _castable(known: TablesRead, hint: Hints) -> Mapping[str, tuple[CheckRule, ...]]:
    """
    Return the rules about rows, and that texts can be cast to what queries cast them to.

    A database may cast those of rows that another condition leaves out.
    """
    rules = dict(known.rules)
    for table, columns in known.tables.items():
        for column in columns:
            if column.kind == "text":
                strict = hint.strict.get(column.name, ())
                of = frozenset({column.name})
                casts = (CheckRule(table, of, condition) for condition in strict)
                rules[table] = (*rules.get(table, ()), *casts)
    return rules


def runnables(pair: Pair, known: TablesRead, reading: Reading) -> tuple[Runnable, Runnable]:
    """
    Return both queries as the sandbox runs them.

    Raises:
        UnfaithfulError: If SQLite would not do what one asks for.
    """
    for columns in known.tables.values():
        for column in columns:
            if column.kind == "enum" and reading.dialect not in UNCASED:
                _check_values(column, pair[:2])
            if column.kind == "collated" and any(map(_names(column.name), pair[:2])):
                raise UnfaithfulError(f"{column.name} is compared by a rule of its own")
            padded = column.limits.padded and reading.dialect not in UNPADDED
            if padded and any(
                _sees_spaces(tree) and _names(column.name)(tree) for tree in pair[:2]
            ):
                raise UnfaithfulError(f"spaces fill {column.name}, and LIKE may see them")
    if reading.dialect in _WIDE_SUMS:
        _check_sums(pair[:2], [c for columns in known.tables.values() for c in columns])
    first, second = (
        runnable(tree, known.names, reading, known.tables) for tree in (pair.first, pair.second)
    )
    return first, second


_PATTERNS: Final = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike, exp.Glob)


def _sees_spaces(tree: exp.Expr) -> bool:
    """Say whether a query has a pattern, or a text that ends in a space."""
    texts = tree.find_all(exp.Literal)
    return tree.find(*_PATTERNS) is not None or any(text.name.endswith(" ") for text in texts)


_WIDE_SUMS: Final = frozenset({"postgres", "materialize", "risingwave"})


def _check_sums(trees: Sequence[exp.Expr], columns: Sequence[Column]) -> None:
    """Refuse to divide sums of integers that may be large: they are decimals then."""
    unknown = {c.name for c in columns if c.kind in WHOLE and not c.limits.wide}
    wide = unknown - {c.name for c in columns if c.limits.most is not None}
    for tree in trees:
        named = {
            c.name.lower() for part in tree.find_all(exp.Sum) for c in part.find_all(exp.Column)
        }
        if tree.find(exp.Div) is not None and not wide.isdisjoint(named):
            raise UnfaithfulError("a sum of large integers is a decimal")


def _check_values(column: Column, trees: Sequence[exp.Expr]) -> None:
    """Refuse to compare an enumeration with what it lacks: an error where it is a type."""
    for tree in trees:
        for node in tree.find_all(exp.Predicate):
            parts = list(node.iter_expressions())
            if any(isinstance(p, exp.Column) and p.name.lower() == column.name for p in parts):
                for part in parts:
                    if is_text(part) and part.name not in column.limits.values:
                        raise UnfaithfulError(f"{column.name} has no value {part.name!r}")


def _names(column: str) -> Callable[[exp.Expr], bool]:
    """Return whether a query names a column, or stands for it by a star."""
    return lambda tree: any(
        isinstance(node, exp.Star) or node.name.lower() == column
        for node in tree.find_all(exp.Star, exp.Identifier)
    )


class InSQLite(Backend):
    """The two queries in SQLite: every order of tied rows is tried."""

    max_deletions = 300

    def __init__(
        self,
        reading: Reading,
        pair: tuple[Runnable, Runnable],
        queries: Asked,
        question: Question,
        stack: ExitStack,
        *,
        moments: Sequence[str] = ("",),
    ) -> None:
        sorts = [query.whole is not None for query in pair]
        super().__init__(reading, queries.known, question, stack, sorts=sorts, moments=moments)
        self._pair = pair
        self._widths: dict[str, int] = {}
        self._most = int(question.effort * (MAX_WORK + _WORK_A_ROW * queries.hint.n_rows))

    @property
    def spent(self) -> str:
        """Why no further database is tried, if none is."""
        is_over = self.sandbox.n_steps > self._most
        return f"more than {self._most} steps are too many to try out" if is_over else ""

    def load(self, database: Database) -> None:
        """Take the database on which the queries are run from now on."""
        self.fill(database)

    def results(self, moment: str) -> Results:
        """Return the results that SQLite has first."""
        self.sandbox.now = moment
        return self.run(0), self.run(1)

    def run(self, i: int) -> list[ResultRow]:
        """Return the result of a query that SQLite has first."""
        self.sandbox.ties.first()
        try:
            return self.sandbox.run(self._pair[i].sql)
        except QueryError as error:
            raise QueryError(f"SQLite cannot run the {ORDINALS[i]} query: {error}") from None

    def allowed(self, i: int) -> list[Allowed]:
        """Return the results that a query allows, over the orders of rows that tie inside."""
        query, found = self._pair[i], dict[Allowed, None]()
        if not (query.cut or query.chooses):
            return [_in_no_order(self.shown[i])]
        try:
            for n_orders, _ in enumerate(self.sandbox.ties.orders()):
                self.sandbox.n_steps += _STEPS_AN_ORDER * (n_orders > 0)
                if query.cut is None:
                    found[_in_no_order(self.sandbox.run(query.sql))] = None
                else:
                    found[self._kept(query.cut)] = None
        except TooManyOrdersError:
            raise NoResultError(f"tied rows leave more than {MAX_ORDERS} orders") from None
        return list(found)

    def _kept(self, cut: Cut) -> Allowed:
        """Return what a query may keep."""
        up, down = self._ranked(cut, tail=False)
        n = len(self.sandbox.run(cut.kept))
        passed = len(up) - len(self.sandbox.run(cut.behind)) if cut.offset else 0
        return kept(up, down, passed, n)

    def sorted_both_ways(self, i: int) -> list[list[ResultRow]]:
        """Return a sorted result twice, ties broken by all columns."""
        whole = self._pair[i].whole
        return [] if whole is None else self._ranked(whole, tail=True)

    def _ranked(self, cut: Cut, *, tail: bool) -> list[list[ResultRow]]:
        if cut.head not in self._widths:
            self._widths[cut.head] = self.sandbox.width(cut.uncut)
        width = self._widths[cut.head]
        return [self.sandbox.run(cut.sql(width, way, tail=tail)) for way in ("ASC", "DESC")]


def _in_no_order(rows: Sequence[ResultRow]) -> Allowed:
    return Allowed(tuple(sorted(rows, key=repr)))
