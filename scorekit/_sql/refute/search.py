"""A database on which two queries have different results, if a few small ones show it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from sqlglot import exp

from scorekit._core.clock import check_time
from scorekit._core.rows import ResultRow, same_bag
from scorekit._core.text import ORDINALS
from scorekit._sql.databases.kinds import UNCASED, UNPADDED, WHOLE, Column
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.allowed import Allowed, kept
from scorekit._sql.refute.databases import Maker, in_turn, linked, parents_first
from scorekit._sql.refute.expressions import DESCRIBED, UnfaithfulError, is_text
from scorekit._sql.refute.faithful import (
    Reading,
    asks_time,
    check_reasonable,
    only_cased,
    readings,
)
from scorekit._sql.refute.hints import Hints, hints
from scorekit._sql.refute.inference import (
    Link,
    TablesRead,
    known_tables,
    linked_columns,
)
from scorekit._sql.refute.reading import Pair
from scorekit._sql.refute.runnable import Cut, Runnable, runnable
from scorekit._sql.refute.sandbox import (
    FUNCTIONS,
    NOW_TEXT,
    Cell,
    Database,
    NoResultError,
    QueryError,
    Sandbox,
)
from scorekit._sql.refute.statements import AFFINITY, made, spellings
from scorekit._sql.refute.ties import MAX_ORDERS, TooManyOrdersError
from scorekit._sql.schema.definitions import CheckRule

MAX_WORK: Final = 1_000_000
"""Instructions of SQLite that one reading of a pair may take in all."""

MAX_DELETIONS: Final = 300
"""Rows, and tables, that are left out on trial from a counterexample, if it is small."""
_ROWS_A_TRIAL: Final = 100
_STEPS_AN_ORDER: Final = 200
_WORK_A_ROW: Final = 400

_ROWS_ORDERED = 100
Cells: TypeAlias = tuple[Cell, ...]


class Difference(NamedTuple):
    """A database and the two results, with what was assumed."""

    tables: dict[str, tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]]
    """Names of columns, and rows."""
    results: tuple[tuple[ResultRow, ...], tuple[ResultRow, ...]]
    order_only: bool
    assumptions: tuple[str, ...]
    statements: tuple[str, ...] = ()
    """What makes the database, in the dialect of the queries."""


class NoDifference(NamedTuple):
    """Why there is no counterexample."""

    reason: str
    n_compared: int = 0
    """Databases on which the results are the same."""


def refute(
    pairs: Mapping[str, Pair], question: Question, *, trial: type[Trial] | None = None
) -> Difference | NoDifference:
    """
    Look for a small database on which two queries differ, however they may be understood.

    Args:
        pairs: Both queries as each dialect reads them in which they must differ.
        question: Where they run, and when two results are the same.
        trial: Decides whether they differ on a database; None for their results.
    """
    dialect = question.dialect
    try:
        pair = next(iter(pairs.values()))
        trees = pair.first, pair.second
        nodes = [list(tree.walk()) for tree in trees]
        for several in nodes:
            check_reasonable(several, dialect)
        read = [
            (reading, one)
            for name, one in pairs.items()
            for reading in readings(name, alone=dialect is not None)
        ]
        if only_cased([*nodes[0], *nodes[1]], pair.dialect) and dialect is not None:
            read = [(reading, one) for reading, one in read if not reading.folded]
        hint = hints(nodes)
        known = known_tables(trees, nodes, question.schema, hint, dialect=pair.dialect)
        plans = [(reading, runnables(one, known, reading)) for reading, one in read]
        if known.rules:
            known, hint = enforced(known, nodes, [reading for reading, _ in plans])
        if any(reading.dialect in DESCRIBED for reading, _ in plans):
            known = known._replace(rules=_castable(known, hint))
        moments, said = _moments(nodes)
        known = known._replace(assumptions=(*known.assumptions, *said))
    except UnfaithfulError as error:
        return NoDifference(str(error))
    with ExitStack() as stack:
        trials = [
            (trial or Trial)(reading, plan, known, question, stack, moments=moments)
            for reading, plan in plans
        ]
        holding = partial(holds, trials)
        maker = Maker(known, trees, hint, question.seed, holding, dialect=pair.dialect)
        most = int(question.effort * (MAX_WORK + _WORK_A_ROW * hint.n_rows))
        found = _search(trials, maker, question.n_databases, most)
        if isinstance(found, NoDifference):
            return found
        quality = _quality(trials, found)
        still = shrunk(lambda rows: _quality(trials, rows) >= quality, found, known.links)
        spelled = spellings(trees, question.schema)
        return _difference(trials, still, known, spelled, dialect or "")


def _moments(nodes: Sequence[Sequence[exp.Expr]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """
    Return the moments at which queries, each by its nodes, are run, and what they are said to be.

    Where only one of them asks for the time, results must differ whatever it is: also in years,
    and on days, that the queries name.
    """
    asking = [any(map(asks_time, several)) for several in nodes]
    if not any(asking):
        return ("",), ()
    if all(asking):
        return (NOW_TEXT,), (f"both queries run at {NOW_TEXT}",)
    named = [node.name for several in nodes for node in several if isinstance(node, exp.Literal)]
    found = [match for text in named if (match := _DATED.match(text))]
    days = [f"{day[1]}{day[2] or '-06-15'} 10:30:00" for day in found][:_MOST_MOMENTS]
    moments = tuple(dict.fromkeys((NOW_TEXT, *MOMENTS, *days)))
    return moments, (f"the results shown are those at {NOW_TEXT}; they differ at other times too",)


MOMENTS: Final = ("1969-07-20 20:17:40", "1996-02-29 00:00:00", "2031-12-31 23:59:59")
"""Further moments at which a query is run that asks for the time, and the other does not."""
_MOST_MOMENTS = 8
_DATED = re.compile(r"((?:19|20)\d\d)(-[01]\d-[0-3]\d)?(?!\d)")


def enforced(
    known: TablesRead, nodes: Sequence[Sequence[exp.Expr]], readings: Sequence[Reading]
) -> tuple[TablesRead, Hints]:
    """
    Keep the rules about rows that the sandbox can check as every reading does.

    Raises:
        UnfaithfulError: If it cannot check one, and the queries use a column of it.
    """
    used = known.used
    kept: dict[str, tuple[CheckRule, ...]] = {}
    conditions: list[exp.Expr] = []
    assumed: list[str] = []
    for table, rules in known.rules.items():
        keyed = linked_columns(known, table)
        for rule in rules:
            condition = rule.condition
            if condition is not None and _can_be_checked(condition, known, table, readings):
                unknown = exp.Is(this=condition.copy(), expression=exp.Null())
                passed = rule._replace(condition=exp.or_(condition, unknown))
                kept[table] = (*kept.get(table, ()), passed)
                conditions.append(condition)
            elif any(name in used or name in keyed for name in rule.columns):
                raise UnfaithfulError(f"rows of {table} must pass a check that is not looked into")
            else:
                assumed.append(f"some rows of {table} pass a check that is not looked into")
    assumptions = tuple(dict.fromkeys((*known.assumptions, *assumed)))
    further = (list(condition.walk()) for condition in conditions)
    return known._replace(rules=kept, assumptions=assumptions), hints((*nodes, *further))


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


def _can_be_checked(
    condition: exp.Expr, known: TablesRead, table: str, readings: Sequence[Reading]
) -> bool:
    """Say whether a condition is about a row alone, and means the same to SQLite."""
    called = [node.name.lower() for node in condition.find_all(exp.Anonymous)]
    if condition.find(exp.Query) is not None or not FUNCTIONS.issuperset(called):
        return False
    try:
        for reading in readings:
            _condition(table, condition, known, reading)
    except UnfaithfulError:
        return False
    return True


def _condition(table: str, condition: exp.Expr, known: TablesRead, reading: Reading) -> str:
    """Return a query that shows of each row of a table whether a condition is true."""
    query = exp.Select(expressions=[condition.copy()])
    query = query.from_(exp.Table(this=exp.to_identifier(table, quoted=True)))
    return runnable(query, {table: table}, reading, known.tables).sql


def holds(
    trials: Sequence[Conditions], table: str, condition: exp.Expr, rows: Sequence[Cells]
) -> list[bool]:
    """Say for each row whether a condition is true under every reading."""
    found = [trial.holds(table, condition, rows) for trial in trials]
    return [all(several) for several in zip(*found, strict=True)]


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


class Conditions:
    """What is true of the rows of a table under one reading."""

    def __init__(self, reading: Reading, known: TablesRead, stack: ExitStack) -> None:
        self._reading, self._known, self._stack = reading, known, stack
        self._made: Sandbox | None = None
        self._conditions: dict[tuple[str, int], str] = {}

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, made when it is first needed."""
        if self._made is None:
            tables = {
                name: [(column.name, self._affinity(column.kind)) for column in columns]
                for name, columns in self._known.tables.items()
            }
            like = not self._reading.is_sqlite and not self._reading.folded
            made = Sandbox(tables, case_sensitive_like=like, is_sqlite=self._reading.is_sqlite)
            self._made = self._stack.enter_context(made)
        return self._made

    def _affinity(self, kind: str) -> str:
        if self._reading.is_sqlite:
            return AFFINITY[kind]
        return {"number": "REAL", "time": "TEXT"}.get(kind, AFFINITY[kind])

    def holds(self, table: str, condition: exp.Expr, rows: Sequence[Cells]) -> list[bool]:
        """Say for each row of a table whether a condition is true."""
        place = table, id(condition)
        if place not in self._conditions:
            try:
                query = _condition(table, condition, self._known, self._reading)
            except UnfaithfulError:
                query = ""  # of a query, and no more than a hint
            self._conditions[place] = query
        query = self._conditions[place]
        if not query:
            return [True] * len(rows)
        try:
            return self._held(query, table, rows)
        except (NoResultError, QueryError):
            return [self._holds_alone(query, table, row) for row in rows]

    def _held(self, query: str, table: str, rows: Sequence[Cells]) -> list[bool]:
        self._load({table: rows})
        return [bool(row[0]) for row in self.sandbox.run(query)]

    def _holds_alone(self, query: str, table: str, row: Cells) -> bool:
        try:
            return self._held(query, table, [row])[0]
        except (NoResultError, QueryError):
            return False

    def _load(self, database: Database) -> None:
        self.sandbox.load(_folded(database) if self._reading.folded else database)


class Trial(Conditions):
    """The two queries under one reading, each with what it takes to run them."""

    def __init__(
        self,
        reading: Reading,
        pair: tuple[Runnable, Runnable],
        known: TablesRead,
        question: Question,
        stack: ExitStack,
        *,
        moments: Sequence[str] = ("",),
    ) -> None:
        super().__init__(reading, known, stack)
        self._pair, self.same = pair, question.same
        asking = [query.whole is not None for query in pair]
        self._ordered = counts_order(question.row_order, asking)
        any_columns = question.column_order == "ignored"
        self._identity: Callable[[ResultRow], Hashable] = cells_of if any_columns else tuple
        self._exact = question.semantics == "bag" and not any_columns
        self._widths: dict[str, int] = {}
        self._moments = moments
        self.tied = False
        """Whether tied rows left other results to the queries last compared."""
        self.allows: set[int] = set()
        """The queries that allowed, on some database, a result that the other does not."""
        self.shown: tuple[list[ResultRow], ...] = ()
        """The results last compared."""

    def _run(self, i: int) -> list[ResultRow]:
        """Return one result of a query, that of SQLite."""
        self.sandbox.ties.first()
        try:
            return self.sandbox.run(self._pair[i].sql)
        except QueryError as error:
            raise QueryError(f"SQLite cannot run the {ORDINALS[i]} query: {error}") from None

    def turned(self, database: Database, share: float) -> Database:  # noqa: ARG002
        """Return what is tried of a database, behind which such a share of all was tried."""
        return database

    def differs(self, database: Database) -> bool:
        """
        Say whether the results differ.

        Where ties leave several results to a query, neither may be one that the other allows.

        Raises:
            NoResultError: If that is not determined.
            QueryError: If SQLite cannot run a query.
        """
        self._load(database)
        return all(map(self._differs_at, reversed(self._moments)))

    def _differs_at(self, moment: str) -> bool:
        self.sandbox.now, self.tied = moment, False
        self.shown = first, second = self._run(0), self._run(1)
        if self.same(first, second):
            return self._ordered and self.order_differs() and self._are_settled()
        if not any(query.cut or query.chooses for query in self._pair):
            return True
        allowed = self._allowed(self._pair[0]), self._allowed(self._pair[1])
        self.tied = any(len(several) > 1 or several[0].open for several in allowed)
        if not self.tied:
            return True
        alone = {i for i, own in enumerate(self.shown) if not self._is_among(own, allowed[1 - i])}
        self.allows |= alone
        return len(alone) == len(allowed) and self._are_disjoint(*allowed)

    def _are_disjoint(self, first: Sequence[Allowed], second: Sequence[Allowed]) -> bool:
        """Say whether no result that one query allows is one that the other allows."""
        fewer, more = sorted((first, second), key=_n_results)
        found = (result for one in fewer for result in one.results())
        return not any(self._is_among(result, more) for result in found)

    def allowed(self, database: Database) -> tuple[list[Allowed], list[Allowed]]:
        """Return the results that each query allows on a database."""
        self._load(database)
        self.sandbox.now = self._moments[0]
        return self._allowed(self._pair[0]), self._allowed(self._pair[1])

    def _is_among(self, result: list[ResultRow], several: Sequence[Allowed]) -> bool:
        return any(one.holds(result, self.same, exact=self._exact) for one in several)

    def _are_settled(self) -> bool:
        """Say whether no tied rows leave a choice of results."""
        allowed = map(self._allowed, self._pair)
        return all(len(several) == 1 and not several[0].open for several in allowed)

    def _allowed(self, query: Runnable) -> list[Allowed]:
        """Return the results that a query allows, over the orders of rows that tie inside."""
        found: dict[Allowed, None] = {}
        try:
            for n_orders, _ in enumerate(self.sandbox.ties.orders()):
                self.sandbox.n_steps += _STEPS_AN_ORDER * (n_orders > 0)
                if query.cut is None:
                    found[Allowed(tuple(sorted(self.sandbox.run(query.sql), key=repr)))] = None
                else:
                    found[self._kept(query.cut)] = None
        except TooManyOrdersError:
            raise NoResultError(f"tied rows leave more than {MAX_ORDERS} orders") from None
        return list(found)

    def _kept(self, cut: Cut) -> Allowed:
        """Return what a query may keep."""
        up, down = (self._ranked(cut, way, tail=False) for way in ("ASC", "DESC"))
        n = len(self.sandbox.run(cut.kept))
        passed = len(up) - len(self.sandbox.run(cut.behind)) if cut.offset else 0
        return kept(up, down, passed, n)

    def _ranked(self, cut: Cut, direction: str, *, tail: bool) -> list[ResultRow]:
        if cut.head not in self._widths:
            self._widths[cut.head] = self.sandbox.width(cut.uncut)
        return self.sandbox.run(cut.sql(self._widths[cut.head], direction, tail=tail))

    @property
    def folded(self) -> bool:
        """Whether strings are compared whatever their case."""
        return self._reading.folded

    def order_differs(self) -> bool:
        """
        Say whether a row may come before another in the first result and must not in the second.

        A first query that asks for no order allows any; one is shown that the second does not.
        """
        orders = [
            [
                list(map(self._identity, self._ranked(whole, way, tail=True)))
                for way in ("ASC", "DESC")
            ]
            for whole in (query.whole for query in self._pair)
            if whole is not None
        ]
        *asked, settled = ([places_of(result) for result in results] for results in orders)
        if asked:
            return misordered(asked[0], settled)
        first, second = self.shown
        for shown in (first, first[::-1]):
            self.shown = shown, second
            if misordered([places_of(list(map(self._identity, shown)))], settled):
                return True
        return False


def _n_results(several: Sequence[Allowed]) -> int:
    return sum(one.n_results() for one in several)


def cells_of(row: ResultRow) -> Hashable:
    """Return what is left of a row if its columns may come in any order."""
    return frozenset(Counter(row).items())


def places_of(rows: Sequence[Hashable]) -> Places:
    """Return where each row comes first and last."""
    found: Places = {}
    for i, row in enumerate(rows):
        found[row] = (found.get(row, (i, i))[0], i)
    return found


Places: TypeAlias = dict[Hashable, tuple[int, int]]
"""Where each row of a result comes first and last."""


def counts_order(row_order: str, asking: Sequence[bool]) -> bool:
    """Say whether the order of rows counts, where these of two queries ask for one."""
    return {"auto": all(asking), "expected": asking[1], "ignored": False}[row_order]


def misordered(others: Sequence[Places], settled: Sequence[Places]) -> bool:
    """Say whether a row comes before another in all of some results, and behind it in others."""
    rows = list(settled[0])[:_ROWS_ORDERED]
    return any(
        all(_precedes(x, y, found) for found in others)
        and all(_precedes(y, x, found) for found in settled)
        for x in rows
        for y in rows
        if x != y
    )


def _precedes(first: Hashable, second: Hashable, places: Places) -> bool:
    if first not in places or second not in places:
        return False
    return places[first][1] < places[second][0]


def _folded(database: Database) -> Database:
    return {
        name: [
            tuple(cell.lower() if isinstance(cell, str) else cell for cell in row) for row in rows
        ]
        for name, rows in database.items()
    }


def _search(
    trials: Sequence[Trial], maker: Maker, n_databases: int, most: int
) -> Database | NoDifference:
    """Return a database on which they differ: the first that leaves the least open."""
    unclear, n_compared, n_further = "", 0, 0
    found: dict[int, Database] = {}
    for i in range(n_databases):
        check_time()
        n_further += bool(found)
        database = trials[0].turned(maker.database(i), i / n_databases)
        try:
            if all(trial.differs(database) for trial in trials):
                found.setdefault(_quality_of(trials), database)
            n_compared += 1
        except NoResultError as error:
            unclear = str(error)
        except QueryError as error:
            return found[max(found)] if found else NoDifference(str(error))
        if _BEST in found or n_further >= _MOST_FURTHER or trials[0].sandbox.n_steps > most:
            break
    if found:
        return found[max(found)]
    if trials[0].sandbox.n_steps > most and not trials[0].allows:
        return NoDifference(f"more than {most} steps are too many to try out")
    return NoDifference(_nothing_found(n_compared, unclear, trials[0].allows), n_compared)


def _nothing_found(n_compared: int, unclear: str, allows: set[int]) -> str:
    """Say why there is no difference, and which query alone ties leave more results."""
    if not n_compared:
        return f"not determined: {unclear}"
    more = ""
    if len(allows) == 1:
        (one,) = allows
        more = (
            f", but for tied rows at a LIMIT: they allow the {ORDINALS[one]} query results that "
            f"the {ORDINALS[1 - one]} query does not allow"
        )
    return f"no difference on {n_compared} small databases{more}"


_BEST: Final = 4
_MOST_FURTHER: Final = 12
"""Databases that are tried for a better difference than the first."""


def _quality_of(trials: Sequence[Trial]) -> int:
    """Return how little a difference leaves open, from 1 to 4: ties count more than case."""
    settled = not any(trial.tied for trial in trials)
    return 1 + 2 * settled + _agree(trials)


def _quality(trials: Sequence[Trial], database: Database) -> int:
    """Return how little the difference on a database leaves open, 0 if there is none."""
    try:
        return _quality_of(trials) if all(trial.differs(database) for trial in trials) else 0
    except (NoResultError, QueryError):
        return 0


def _agree(trials: Sequence[Trial]) -> bool:
    """Say whether the results last compared are the same whatever the case of strings."""
    folded = [trial for trial in trials if trial.folded]
    if not folded:
        return True
    return _same_uncased(trials[0].shown, folded[0].shown)


def _same_uncased(shown: Sequence[list[ResultRow]], folded: Sequence[list[ResultRow]]) -> bool:
    return all(
        same_bag([_lower(row) for row in first], [_lower(row) for row in second], 0.0)
        for first, second in zip(shown, folded, strict=False)
    )


def _lower(row: ResultRow) -> ResultRow:
    return tuple(cell.lower() if isinstance(cell, str) else cell for cell in row)


def shrunk(
    still: Callable[[Database], bool],
    database: Database,
    links: Sequence[Link],
    left: int = MAX_DELETIONS,
) -> Database:
    """Leave out tables and rows, and what points to them, as long as the results still differ."""
    rows = {name: list(table) for name, table in database.items()}
    for share in (1.0, 0.5, 0.25, 0.0, 0.0):
        for name, table in sorted(rows.items(), key=lambda named: len(named[1])):
            size = max(1, math.ceil(len(table) * share))
            i = 0
            while i < len(rows[name]) and left > 0:
                left -= 1 + sum(map(len, rows.values())) // _ROWS_A_TRIAL
                cut = {**rows, name: rows[name][:i] + rows[name][i + size :]}
                cut = {key: list(part) for key, part in linked(cut, links).items()}
                if still(cut):
                    rows = cut
                else:
                    i += size
    return rows


def shown_tables(
    database: Database, known: TablesRead
) -> dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]]:
    """Return what of a database the queries look at: columns and rows by table."""
    tables: dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]] = {}
    read = frozenset(known.names.values())
    for name, columns in known.tables.items():
        looked_at = known.used if name in read else linked_columns(known, name)
        if name not in read and not database[name]:
            continue  # it is there for foreign keys only
        shown = [i for i, column in enumerate(columns) if column.name in looked_at] or [0]
        rows = tuple(tuple(row[i] for i in shown) for row in database[name])
        tables[name] = tuple(columns[i] for i in shown), rows
    return tables


def statements_of(
    database: Database, known: TablesRead, spelled: Mapping[str, exp.Identifier], dialect: str
) -> tuple[str, ...]:
    """Return statements that make a database in a dialect, as the schema demands it."""
    to_itself = {link.table for link in known.links if link.table == link.other}
    return made(_loaded_tables(database, known), spelled, dialect, to_itself)


def _loaded_tables(
    database: Database, known: TablesRead
) -> dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]]:
    """
    Return what the schema asks for of a database, parents first: columns and rows by table.

    Left out are columns that may be NULL, where neither the queries nor a constraint looks.
    """
    read = frozenset(known.names.values())
    tables: dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]] = {}
    for name in parents_first(known.tables, known.links):
        if name not in read and not database[name]:
            continue
        columns = known.tables[name]
        looked_at = linked_columns(known, name).union(
            *(rule.columns for rule in known.rules.get(name, ())), *known.keys.get(name, ())
        )
        kept = [
            i
            for i, column in enumerate(columns)
            if not column.nullable
            or column.name in looked_at
            or (name in read and column.name in known.used)
        ] or [0]
        own = [link for link in known.links if link.table == link.other == name]
        rows = tuple(tuple(row[i] for i in kept) for row in in_turn(database[name], own))
        tables[name] = tuple(columns[i] for i in kept), rows
    return tables


def _difference(
    trials: Sequence[Trial],
    database: Database,
    known: TablesRead,
    spelled: Mapping[str, exp.Identifier],
    dialect: str,
) -> Difference:
    assumed: list[str] = []
    _quality(trials, database)
    trial = trials[0]
    if not _agree(trials):
        assumed.append("the case of strings counts in the results shown")
    first, second = trial.shown
    if any(one.tied for one in trials):
        assumed.append("a LIMIT may keep any of tied rows: one result of each query is shown")
    shown = shown_tables(database, known)
    return Difference(
        tables={name: (tuple(c.name for c in own), rows) for name, (own, rows) in shown.items()},
        results=(tuple(first), tuple(second)),
        order_only=trial.same(first, second),
        assumptions=(*known.assumptions, *assumed),
        statements=statements_of(database, known, spelled, dialect),
    )
