"""A database on which two queries have different results, if a few small ones show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property, partial
from typing import Final, NamedTuple, TypeAlias

from sqlglot import exp

from scorekit._sql.definitions import CheckRule
from scorekit._sql.kinds import UNCASED, Column
from scorekit._sql.refute.databases import Maker, linked
from scorekit._sql.refute.faithful import (
    Reading,
    UnfaithfulError,
    asks_time,
    check_reasonable,
    is_text,
    only_cased,
    readings,
    refuse_time,
)
from scorekit._sql.refute.hints import Hints, hints
from scorekit._sql.refute.inference import (
    Link,
    TablesRead,
    known_tables,
    linked_columns,
)
from scorekit._sql.refute.reading import ORDINALS, Pair, read_pair
from scorekit._sql.refute.runnable import Limited, Runnable, runnable
from scorekit._sql.refute.sandbox import (
    FUNCTIONS,
    NOW_TEXT,
    Cell,
    CopiesError,
    Database,
    NoResultError,
    QueryError,
    Sandbox,
)
from scorekit._sql.rows import ResultRow, same_bag
from scorekit._sql.schema import SqlSchema

MAX_WORK: Final = 1_000_000
"""Instructions of SQLite that one reading of a pair may take in all."""

MAX_DELETIONS: Final = 300
"""Rows, and tables, that are left out on trial from a counterexample."""

Same: TypeAlias = Callable[[list[ResultRow], list[ResultRow]], bool]
_ROWS_ORDERED = 100
_MOST_RESTORED = 20
"""Databases on which rows are stored in another order."""
Cells: TypeAlias = tuple[Cell, ...]

_AFFINITY: Final = {
    "integer": "INTEGER",
    "natural": "INTEGER",
    "number": "NUMERIC",
    "real": "REAL",
    "text": "TEXT",
    "boolean": "NUMERIC",
    "time": "NUMERIC",
    "enum": "TEXT",
    "collated": "TEXT",
    "unknown": "",
}


class ByStoring(NamedTuple):
    """
    That one query alone returns the rows that happen to come first, and they are others.

    Its LIMIT has no order that counts, or it orders distinct rows by what differs in copies.
    """

    which: int
    """The query: 0 or 1."""
    results: tuple[list[ResultRow], list[ResultRow]]
    """Those of both where rows are stored in the order shown."""
    reverse: tuple[ResultRow, ...]
    """What the one query returns where the rows of each table are stored in reverse order."""


class Difference(NamedTuple):
    """A database and the two results, with what was assumed."""

    tables: dict[str, tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]]
    """Names of columns, and rows."""
    results: tuple[tuple[ResultRow, ...], tuple[ResultRow, ...]]
    order_only: bool
    assumptions: tuple[str, ...]
    by_storing: ByStoring | None = None


class NoDifference(NamedTuple):
    """Why there is no counterexample."""

    reason: str


def refute(
    texts: tuple[str, str],
    pair: Pair,
    *,
    schema: SqlSchema | None,
    dialect: str | None,
    same: Same,
    ordered: bool,
    any_columns: bool,
    n_databases: int,
    seed: int,
) -> Difference | NoDifference:
    """
    Look for a small database on which two queries differ, however they may be understood.

    Args:
        texts: The queries.
        pair: The same, parsed.
        schema: What is known of the tables.
        dialect: Their dialect; None for a difference that several dialects have in common.
        same: Whether two results hold the same rows.
        ordered: Whether the order of results counts where both queries ask for one.
        any_columns: Whether columns may come in any order.
        n_databases: Databases to try.
        seed: What their rows depend on.
    """
    try:
        trees = pair.first, pair.second
        nodes = [list(tree.walk()) for tree in trees]
        for tree, several in zip(trees, nodes, strict=True):
            check_reasonable(tree, several)
        pairs = _pairs(texts, pair, [*nodes[0], *nodes[1]], dialect)
        told = hints(nodes)
        known = known_tables(trees, nodes, schema, told)
        plans = [(reading, _runnables(read, known, reading)) for reading, read in pairs]
        if known.rules:
            known, told = _enforced(known, nodes, [reading for reading, _ in pairs])
        timed = _asks_time(nodes)
        if timed:
            assumed = f"both queries run at {NOW_TEXT}"
            known = known._replace(assumptions=(*known.assumptions, assumed))
    except UnfaithfulError as error:
        return NoDifference(str(error))
    with ExitStack() as stack:
        trials = [
            _Trial(
                reading,
                plan,
                known,
                same,
                stack,
                ordered=ordered,
                any_columns=any_columns,
                timed=timed,
            )
            for reading, plan in plans
        ]
        maker = Maker(known, trees, told, seed, partial(_holds, trials))
        found, unsettled = _search(trials, maker, n_databases)
        if not isinstance(found, NoDifference):
            uncased = _still(trials, found, uncased=True)
            found = _shrunk(partial(_still, trials, uncased=uncased), found, known.links)
            return _difference(trials[0], found, known, uncased=uncased)
        stored = _stored(trials, unsettled, known)
        if stored is None:
            return found
        return _difference(trials[0], stored, known, by_storing=trials[0].by_storing(stored))


def _asks_time(nodes: Sequence[Sequence[exp.Expr]]) -> bool:
    """
    Say whether both queries, each by its nodes, ask for the time.

    Raises:
        UnfaithfulError: If only one does: the other may have the right answer for some time.
    """
    first, second = (next(filter(asks_time, several), None) for several in nodes)
    asking = first or second
    if asking is not None and (first is None or second is None):
        refuse_time(asking)
    return asking is not None


def _pairs(
    texts: tuple[str, str], pair: Pair, nodes: Sequence[exp.Expr], dialect: str | None
) -> list[tuple[Reading, Pair]]:
    """Return the pair, with its nodes, under each reading that can parse it."""
    if dialect is not None:
        cased = only_cased(nodes, dialect)
        return [(reading, pair) for reading in readings(dialect) if not (cased and reading.folded)]
    found: list[tuple[Reading, Pair]] = []
    for reading in readings(None):
        with suppress(UnfaithfulError):
            found.append((reading, read_pair(texts, reading.dialect)))
    return found or [(reading, pair) for reading in readings(pair.dialect)]


def _enforced(
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
                kept[table] = (*kept.get(table, ()), rule)
                conditions.append(condition)
            elif any(name in used or name in keyed for name in rule.columns):
                raise UnfaithfulError(f"rows of {table} must pass a check that is not looked into")
            else:
                assumed.append(f"some rows of {table} pass a check that is not looked into")
    assumptions = tuple(dict.fromkeys((*known.assumptions, *assumed)))
    further = (list(condition.walk()) for condition in conditions)
    return known._replace(rules=kept, assumptions=assumptions), hints((*nodes, *further))


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
    """Return a query that shows of each row of a table whether a condition is not false."""
    query = exp.select(exp.or_(condition, exp.Is(this=condition.copy(), expression=exp.Null())))
    query = query.from_(exp.Table(this=exp.to_identifier(table, quoted=True)))
    kinds = {column.name: column.kind for column in known.tables[table]}
    return runnable(query, {table: table}, kinds, reading, {}).sql


def _holds(
    trials: Sequence[_Trial], table: str, condition: exp.Expr, rows: Sequence[Cells]
) -> list[bool]:
    """Say for each row whether a condition is not false under any reading."""
    found = [trial.holds(table, condition, rows) for trial in trials]
    return [all(several) for several in zip(*found, strict=True)]


def _runnables(pair: Pair, known: TablesRead, reading: Reading) -> tuple[Runnable, Runnable]:
    kinds: dict[str, str] = {}
    for columns in known.tables.values():
        for column in columns:
            same = kinds.get(column.name, column.kind) == column.kind
            kinds[column.name] = column.kind if same else ""
            if column.kind == "enum" and reading.dialect not in UNCASED:
                _check_values(column, pair[:2])
            if column.kind == "collated" and any(map(_names(column.name), pair[:2])):
                raise UnfaithfulError(f"{column.name} is compared by a rule of its own")
            padded = column.limits.padded and reading.dialect not in _UNPADDED
            if padded and any(
                tree.find(*_PATTERNS) and _names(column.name)(tree) for tree in pair[:2]
            ):
                raise UnfaithfulError(f"spaces fill {column.name}, and LIKE may see them")
    listed = {name: [column.name for column in of] for name, of in known.tables.items()}
    first, second = (
        runnable(tree, known.names, kinds, reading, listed) for tree in (pair.first, pair.second)
    )
    return first, second


_PATTERNS: Final = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike, exp.Glob)
_UNPADDED: Final = frozenset({"sqlite", "duckdb", "mysql"})
"""Dialects in which texts of a CHAR(n) are read without the spaces that fill them."""


def _check_values(column: Column, trees: Sequence[exp.Expr]) -> None:
    """Refuse to compare an enumeration with what it lacks: an error where it is a type."""
    for tree in trees:
        for node in tree.find_all(exp.Predicate):
            parts = list(node.iter_expressions())
            if any(isinstance(p, exp.Column) and p.name.casefold() == column.name for p in parts):
                for part in parts:
                    if is_text(part) and part.name not in column.limits.values:
                        raise UnfaithfulError(f"{column.name} has no value {part.name!r}")


def _names(column: str) -> Callable[[exp.Expr], bool]:
    """Return whether a query names a column, or stands for it by a star."""
    return lambda tree: any(
        isinstance(node, exp.Star) or node.name.casefold() == column
        for node in tree.find_all(exp.Star, exp.Identifier)
    )


class _Trial:
    """The two queries under one reading, each with what it takes to run them."""

    def __init__(
        self,
        reading: Reading,
        pair: tuple[Runnable, Runnable],
        known: TablesRead,
        same: Same,
        stack: ExitStack,
        *,
        ordered: bool,
        any_columns: bool,
        timed: bool,
    ) -> None:
        self._reading, self._pair, self._known, self.same = reading, pair, known, same
        self._stack = stack
        self._made: Sandbox | None = None
        self._keyed: Sandbox | None = None
        self._ordered = ordered and all(query.whole is not None for query in pair)
        self._identity: Callable[[ResultRow], Hashable] = _cells if any_columns else tuple
        self._widths: dict[str, int] = {}
        self._timed = timed
        self.one_unsettled = False
        """Whether the result of one query alone was not determined."""
        self.shown: tuple[list[ResultRow], ...] = ()
        """The results last compared; none where only their numbers of rows were."""
        self._conditions: dict[int, str] = {}

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, made when it is first needed."""
        if self._made is None:
            self._made = self._sandbox({})
        return self._made

    def _sandbox(self, keys: Mapping[str, Sequence[Sequence[str]]]) -> Sandbox:
        tables = {
            name: [(column.name, self._affinity(column.kind)) for column in columns]
            for name, columns in self._known.tables.items()
        }
        like = not self._reading.is_sqlite and not self._reading.folded
        made = Sandbox(tables, keys, case_sensitive_like=like, timed=self._timed)
        return self._stack.enter_context(made)

    def _affinity(self, kind: str) -> str:
        if self._reading.is_sqlite:
            return _AFFINITY[kind]
        return {"number": "REAL", "time": "TEXT"}.get(kind, _AFFINITY[kind])

    def holds(self, table: str, condition: exp.Expr, rows: Sequence[Cells]) -> list[bool]:
        """Say for each row of a table whether a condition is not false."""
        if id(condition) not in self._conditions:
            try:
                query = _condition(table, condition, self._known, self._reading)
            except UnfaithfulError:
                query = ""  # of a query, and no more than a hint
            self._conditions[id(condition)] = query
        query = self._conditions[id(condition)]
        if not query:
            return [True] * len(rows)
        try:
            return self._held(query, table, rows)
        except (NoResultError, QueryError):
            return [self._holds_alone(query, table, row) for row in rows]

    def _held(self, query: str, table: str, rows: Sequence[Cells]) -> list[bool]:
        database = {table: rows}
        self.sandbox.load(_folded(database) if self._reading.folded else database)
        return [bool(row[0]) for row in self.sandbox.run(query)]

    def _holds_alone(self, query: str, table: str, row: Cells) -> bool:
        try:
            return self._held(query, table, [row])[0]
        except (NoResultError, QueryError):
            return False

    def results(self, database: Database) -> tuple[list[ResultRow], list[ResultRow]]:
        """Return both results; raises where one is not determined."""
        self._load(database)
        first, second = (self._result(i) for i in (0, 1))
        return first, second

    def _result(self, i: int) -> list[ResultRow]:
        try:
            return self._checked(self._pair[i].sql, self._pair[i].limited)
        except QueryError as error:
            raise QueryError(f"SQLite cannot run the {ORDINALS[i]} query: {error}") from None

    def _checked(self, sql: str, limited: Sequence[Limited]) -> list[ResultRow]:
        for query in limited:
            if not same_bag(self._run(query, "ASC"), self._run(query, "DESC"), 0.0):
                raise NoResultError("which rows a LIMIT keeps")
        return self.sandbox.run(sql)

    def _run(self, limited: Limited, direction: str) -> list[ResultRow]:
        if limited.head not in self._widths:
            self._widths[limited.head] = self.sandbox.width(limited.head + limited.tail)
        return self.sandbox.run(limited.sql(self._widths[limited.head], direction))

    def _load(self, database: Database, sandbox: Sandbox | None = None) -> None:
        loaded = _folded(database) if self._reading.folded else database
        (sandbox or self.sandbox).load(loaded)

    def differs(self, database: Database) -> bool:
        """Say whether the results differ; raises where that is not determined."""
        self.one_unsettled, self.shown = False, ()
        try:
            self.shown = first, second = self.results(database)
        except NoResultError:
            if self.may_hang_on_storing:
                self.one_unsettled = sum(map(self._is_settled, (0, 1))) == 1
            if not any(query.counted for query in self._pair):
                raise
            with suppress(QueryError):
                return not self.same(*map(self._numbered, self._pair))
            raise
        if not self.same(first, second):
            return True
        return self._ordered and self.order_differs()

    def _numbered(self, query: Runnable) -> list[ResultRow]:
        """Return as many rows as a query has, all the same; raises where the number is open."""
        rows = self._checked(query.counted or query.sql, query.limited[query.is_cut :])
        return [(0,)] * len(rows)

    @property
    def folded(self) -> bool:
        """Whether strings are compared whatever their case."""
        return self._reading.folded

    def possible(self, database: Database) -> tuple[list[ResultRow], list[ResultRow]]:
        """Return one result of each query, of those that are possible."""
        self._load(database)
        with self.sandbox.lenient():
            first, second = (self.sandbox.run(query.sql) for query in self._pair)
        return first, second

    # Rows that only the order of storing decides.

    @cached_property
    def may_hang_on_storing(self) -> bool:
        """Whether a query cuts its result, but leaves the order open that it asks for, if any."""
        return any(
            query.as_written is not None or any(not cut.orders for cut in query.limited)
            for query in self._pair
        )

    def _is_settled(self, i: int) -> bool:
        try:
            self._result(i)
        except NoResultError:
            return False
        return True

    def by_storing(self, database: Database) -> ByStoring | None:
        """
        Say which query alone may return any rows, and in fact does not return the other's.

        Both are run on the rows as they come, in reverse order, and as they come in tables with
        keys, in whose order a database may store or find rows.
        """
        self._load(database)
        unsettled = [self._is_unsettled(i) for i in (0, 1)]
        if unsettled[0] == unsettled[1]:
            return None
        which = int(unsettled[1])
        if self._keyed is None:
            keys = {name: [*known] for name, known in self._known.keys.items()}
            for name, several in self._known.unique.items():
                keys[name] = [*keys.get(name, []), *(one.columns for one in several)]
            self._keyed = self._sandbox(keys)
        reverse = {name: rows[::-1] for name, rows in database.items()}
        listed = self._run_both(self.sandbox, database)
        turned = self._run_both(self.sandbox, reverse)
        keyed = self._run_both(self._keyed, database)
        shown, settled = listed[which], listed[1 - which]
        same = (
            *(self.same(settled, results[1 - which]) for results in (turned, keyed)),
            self.same(shown, keyed[which]),
        )
        if not all(same) or self.same(shown, settled):
            return None
        return ByStoring(which, listed, tuple(turned[which]))

    def _is_unsettled(self, i: int) -> bool:
        """Say whether a query keeps any rows of several; raises where an order leaves ties."""
        query, unsettled = self._pair[i], False
        if query.as_written is not None:
            try:
                self.sandbox.run(query.sql)
            except CopiesError:
                query, unsettled = query.as_written, True
        for cut in query.limited:
            if not same_bag(self._run(cut, "ASC"), self._run(cut, "DESC"), 0.0):
                if cut.orders:
                    raise NoResultError("which of tied rows a LIMIT keeps")
                unsettled = True
        return unsettled

    def _run_both(
        self, sandbox: Sandbox, database: Database
    ) -> tuple[list[ResultRow], list[ResultRow]]:
        self._load(database, sandbox)
        first, second = (sandbox.run((query.as_written or query).sql) for query in self._pair)
        return first, second

    def order_differs(self) -> bool:
        """Say whether a row must come before another in one result and after it in the other."""
        orders = [
            [list(map(self._identity, self._run(whole, way))) for way in ("ASC", "DESC")]
            for whole in (query.whole for query in self._pair)
            if whole is not None
        ]
        rows = list(dict.fromkeys(orders[0][0]))[:_ROWS_ORDERED]
        places = [[_places(result) for result in results] for results in orders]
        return any(
            all(_precedes(x, y, found) for found in places[0])
            and all(_precedes(y, x, found) for found in places[1])
            for x in rows
            for y in rows
            if x != y
        )


def _cells(row: ResultRow) -> Hashable:
    """Return what is left of a row if its columns may come in any order."""
    return frozenset(Counter(row).items())


def _places(rows: Sequence[Hashable]) -> dict[Hashable, tuple[int, int]]:
    """Return where each row comes first and last."""
    found: dict[Hashable, tuple[int, int]] = {}
    for i, row in enumerate(rows):
        found[row] = (found.get(row, (i, i))[0], i)
    return found


def _precedes(first: Hashable, second: Hashable, places: dict[Hashable, tuple[int, int]]) -> bool:
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
    trials: Sequence[_Trial], maker: Maker, n_databases: int
) -> tuple[Database | NoDifference, list[Database]]:
    """
    Return a database that tells, and some on which a result is not determined.

    The first is taken on which both results are the same whether or not the case of strings
    counts, or else the first.
    """
    reason, n_compared = "", 0
    cased: Database | None = None
    unsettled: list[Database] = []
    for i in range(n_databases):
        database = maker.database(i)
        try:
            if all(trial.differs(database) for trial in trials):
                if _agree(trials):
                    return database, []
                cased = cased or database
            n_compared += 1
        except NoResultError as error:
            reason = str(error)
        except QueryError as error:
            return cased or NoDifference(str(error)), []
        if trials[0].one_unsettled and len(unsettled) < _MOST_RESTORED:
            unsettled.append(database)
        if any(trial.sandbox.n_steps > MAX_WORK for trial in trials[:1]):
            break
    if cased is not None:
        return cased, []
    if trials[0].sandbox.n_steps > MAX_WORK:
        return NoDifference(f"more than {MAX_WORK} steps are too many to try out"), []
    found = f"no difference on {n_compared} small databases" if n_compared else ""
    return NoDifference(found or f"not determined: {reason}"), unsettled


def _agree(trials: Sequence[_Trial]) -> bool:
    """Say whether the results last compared are the same whatever the case of strings."""
    folded = [trial.shown for trial in trials if trial.folded]
    return not folded or _same_uncased(trials[0].shown, folded[0])


def _same_uncased(shown: Sequence[list[ResultRow]], folded: Sequence[list[ResultRow]]) -> bool:
    return all(
        same_bag([_lower(row) for row in first], [_lower(row) for row in second], 0.0)
        for first, second in zip(shown, folded, strict=False)
    )


def _lower(row: ResultRow) -> ResultRow:
    return tuple(cell.lower() if isinstance(cell, str) else cell for cell in row)


def _shrunk(
    still: Callable[[Database], bool], database: Database, links: Sequence[Link]
) -> Database:
    """Leave out tables and rows, and what points to them, as long as the results still differ."""
    left = MAX_DELETIONS
    rows = {name: list(table) for name, table in database.items()}
    for whole_tables in (True, False, False):
        for name, table in list(rows.items()):
            size = len(table) if whole_tables else 1
            i = 0
            while i < len(rows[name]) and left:
                left -= 1
                cut = {**rows, name: rows[name][:i] + rows[name][i + size :]}
                cut = {key: list(part) for key, part in linked(cut, links).items()}
                if still(cut):
                    rows = cut
                else:
                    i += size
    return rows


def _still(trials: Sequence[_Trial], database: Database, *, uncased: bool) -> bool:
    try:
        if not all(trial.differs(database) for trial in trials):
            return False
        return not uncased or _agree(trials)
    except (NoResultError, QueryError):
        return False


def _stored(
    trials: Sequence[_Trial], databases: Sequence[Database], known: TablesRead
) -> Database | None:
    """Return a database on which the order of storing decides what one query alone returns."""
    if not trials[0].may_hang_on_storing:
        return None
    still = partial(_hangs_on_storing, trials)
    for database in databases:
        rows = {name: _by_key(name, table, known) for name, table in database.items()}
        if still(rows):
            return _shrunk(still, rows, known.links)
    return None


def _hangs_on_storing(trials: Sequence[_Trial], database: Database) -> bool:
    if trials[0].sandbox.n_steps > MAX_WORK:
        return False
    try:
        found = [trial.by_storing(database) for trial in trials]
    except (NoResultError, QueryError):
        return False
    several = [one for one in found if one is not None]
    return len(several) == len(found) and all(
        one.which == several[0].which and _same_uncased(several[0].results, one.results)
        for one in several
    )


def _by_key(name: str, rows: Sequence[Cells], known: TablesRead) -> list[Cells]:
    """Sort rows by their key, in whose order some databases store them anyway."""
    names = [column.name for column in known.tables[name]]
    places = [names.index(column) for key in known.keys.get(name, ())[:1] for column in key]
    return sorted(
        rows, key=lambda r: [(r[i] is not None, isinstance(r[i], str), r[i]) for i in places]
    )


def _difference(
    trial: _Trial,
    database: Database,
    known: TablesRead,
    *,
    uncased: bool = True,
    by_storing: ByStoring | None = None,
) -> Difference:
    assumed = () if uncased else ("the case of strings counts in the results shown",)
    try:
        first, second = by_storing.results if by_storing else trial.results(database)
    except NoResultError:
        first, second = trial.possible(database)
        assumed = (
            *assumed,
            "of several results that a query may have one is shown: all have as many rows",
        )
    if by_storing:
        assumed = ("rows are stored in the order shown",)
    tables: dict[str, tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]] = {}
    read = frozenset(known.names.values())
    for name, columns in known.tables.items():
        looked_at = known.used if name in read else linked_columns(known, name)
        if name not in read and not database[name]:
            continue  # it is there for foreign keys only
        shown = [i for i, column in enumerate(columns) if column.name in looked_at] or [0]
        rows = tuple(tuple(row[i] for i in shown) for row in database[name])
        tables[name] = tuple(columns[i].name for i in shown), rows
    return Difference(
        tables=tables,
        results=(tuple(first), tuple(second)),
        order_only=trial.same(first, second),
        assumptions=(*known.assumptions, *assumed),
        by_storing=by_storing,
    )
