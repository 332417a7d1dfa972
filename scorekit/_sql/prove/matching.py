"""Whether two normal forms mean the same: their tables are paired, and what holds is compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias, TypeVar

import attrs

from scorekit._sql.databases.kinds import LOOSE_TYPES, NUMBERS
from scorekit._sql.meaning.tree import (
    TRUE,
    Aggregate,
    Column,
    Comparison,
    Derived,
    Exists,
    InQuery,
    IsNull,
    Node,
    Not,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    SetOperation,
    Star,
    Table,
    Windowed,
    conjuncts,
    integer,
    replaced,
)
from scorekit._sql.prove.logic import not_true
from scorekit._sql.prove.normal import Arm, FullJoin, LeftJoins, Sorted, is_open
from scorekit._sql.prove.rule import (
    Rows,
    View,
    aggregates_in,
    of_groups,
    uses,
    without_tables,
)
from scorekit._sql.prove.scalars import as_shown
from scorekit._sql.prove.scope import NOTHING, ExhaustedError, Premises, Steps

_N = TypeVar("_N", bound=Node)

_SOME_ROW: Final = Comparison("<=", integer(1), Aggregate("count"))
"""What is true of each group."""

MAX_PAIRINGS: Final = 200
"""Ways to pair the tables of two queries that are tried."""

PAIRS_A_STEP: Final = 4
"""Pairs of columns that are compared in one step."""

Columns: TypeAlias = "tuple[frozenset[int], ...]"
"""For each output of the second query, those of the first that are the same in each row."""

Names: TypeAlias = "dict[Node, Node]"
"""What the tables and columns of one query are in the other."""

Pairing: TypeAlias = "tuple[Names, list[tuple[Scalar, Scalar, tuple[Table, ...]]]]"
"""Names, and conditions of outer joins yet to be compared with the tables that are optional
there."""


class Matcher:
    """Compares queries whose tables have different names."""

    def __init__(self, steps: Steps, *, close: bool = False) -> None:
        self._steps = steps
        self.tries = MAX_PAIRINGS
        self._memo: dict[tuple[object, ...], tuple[Columns | None, Premises]] = {}
        self._depth = 0
        """Of the SELECT that is compared; the outermost is at depth 1."""
        self._sorting = frozenset[int]()
        """Outputs that the outermost queries sort by: those of the second as -1, -2 and so on."""
        self._converted = frozenset[int]()
        """Outputs whose values a set operation around may convert, as numbers beside texts."""
        self._close = close
        """Whether numbers are equal that differ by rounding."""

    def same(self, first: Query, second: Query, view: View) -> bool:
        """Say whether two queries give the same rows where they stand, column by column."""
        return self._queries(first, second, view, identity=True) is not None

    def permuted(self, first: Query, second: Query, view: View) -> bool:
        """Say whether two queries give the same rows if the columns of one are put in order."""
        if len(first.outputs) != len(second.outputs):
            return False
        columns = self._queries(first, second, view, identity=False)
        return columns is not None and _one_to_one(columns)

    # Queries.

    def _queries(
        self, first: Query, second: Query, view: View, *, identity: bool
    ) -> Columns | None:
        """Return which columns are the same if the rows are, else None."""
        self._steps.take()
        width = len(first.outputs)
        if identity and len(second.outputs) != width:
            return None
        if isinstance(first, Sorted) and isinstance(second, Sorted):
            return self._sorted(first, second, view, identity=identity)
        if isinstance(first, Select) and isinstance(second, Select):
            self._depth += 1
            found = self._selects(first, second, view, identity=identity)
            self._depth -= 1
            return found
        if isinstance(first, Windowed) and isinstance(second, Windowed):
            return self._windowed(first, second, view)
        if isinstance(first, SetOperation) and isinstance(second, SetOperation):
            return self._set_operations(first, second, view, identity=identity)
        return None

    def _sorted(
        self, first: Sorted, second: Sorted, view: View, *, identity: bool
    ) -> Columns | None:
        """Compare queries that sort, and take as many of the same rows in the same order."""
        bounds = (first.limit, first.offset) != (second.limit, second.offset)
        if bounds or len(first.items) != len(second.items):
            return None
        if self._depth == 0:
            self._sorting = frozenset((*first.places, *(-1 - place for place in second.places)))
        columns = self._queries(first.query, second.query, view, identity=False)
        if columns is None:
            return None
        for mine, other in zip(first.items, second.items, strict=True):
            if attrs.evolve(mine, value=other.value) != other:
                return None
            if mine.value.number not in columns[other.value.number]:  # type: ignore[attr-defined]
                return None
        shown = tuple(
            frozenset(i for i in places if i < first.width) for places in columns[: second.width]
        )
        in_place = all(i in places for i, places in enumerate(shown))
        return None if identity and not in_place else shown

    def _windowed(self, first: Windowed, second: Windowed, view: View) -> Columns | None:
        """Compare queries with windows over the same rows."""
        columns = self._queries(first.query, second.query, view, identity=False)
        if columns is None or not all(columns):
            return None
        places = {Place(j): Place(min(alike)) for j, alike in enumerate(columns)}
        theirs = [replaced(window, places) for window in second.windows]
        n = len(first.query.outputs)
        windows = (
            frozenset(n + k for k, mine in enumerate(first.windows) if mine == other)
            for other in theirs
        )
        return (*columns, *windows)

    def _set_operations(
        self, first: SetOperation, second: SetOperation, view: View, *, identity: bool
    ) -> Columns | None:
        if (first.operator, first.distinct) != (second.operator, second.distinct):
            return None
        if len(first.arms) != len(second.arms):
            return None
        both = first, second
        converted = frozenset(
            i for i in range(len(first.outputs)) if any(view.converts(one, i) for one in both)
        )
        wide = any(isinstance(one, Star) for arm in first.arms for one in arm.outputs)
        n_fixed = int(first.operator == "except")
        if converted and self._depth and view.dialect in LOOSE_TYPES:
            n_fixed = len(first.arms)  # the first one decides how SQLite compares a column
        if any(view.mixes_padding(first, i) for i in converted):
            n_fixed = len(first.arms)  # the first one decides how texts are shown
        around = self._converted, self._close
        self._close = self._close and first.operator == "union" and not first.distinct
        self._converted |= {
            i for i in converted if any(view.kind_of_output(one, i) not in NUMBERS for one in both)
        }
        found = self._arms(
            first.arms,
            second.arms,
            None,
            view,
            identity=identity or wide or first.operator != "union",
            n_fixed=n_fixed,
        )
        self._converted, self._close = around
        return found

    def _arms(
        self,
        ours: Sequence[Query],
        theirs: Sequence[Query],
        columns: Columns | None,
        view: View,
        *,
        identity: bool,
        n_fixed: int,
    ) -> Columns | None:
        """Pair arms, some in order, so that the same columns are the same in each pair."""
        if not ours:
            return columns
        before = view.rests
        for i, other in enumerate(theirs[:1] if n_fixed > 0 else theirs):
            view.rests = before  # a failed pairing leaves no facts behind
            found = self._queries(ours[0], other, view, identity=identity)
            if found is None:
                continue
            both = found if columns is None else _both(columns, found)
            if not all(both):
                continue
            left = [*theirs[:i], *theirs[i + 1 :]]
            rest = self._arms(ours[1:], left, both, view, identity=identity, n_fixed=n_fixed - 1)
            if rest is not None:
                return rest
        return None

    # SELECT.

    def _selects(self, a: Select, b: Select, view: View, *, identity: bool) -> Columns | None:
        if (a.keys is None) != (b.keys is None) or a.aggregates != b.aggregates:
            return None
        if a.distinct != b.distinct:
            return None
        before = view.rests
        inside = view.inside(a.tables)
        for new, pending in self._pairings(a.tables, b.tables, inside):
            self.tries -= 1
            if self.tries < 0:
                raise ExhaustedError
            found = self._compared(a, b, new, pending, view)
            in_place = not identity or (found and all(i in p for i, p in enumerate(found)))
            if found is not None and all(found) and in_place:
                return found
            view.rests = before  # a failed pairing leaves no facts behind
        return None

    def _pairings(
        self, ours: Sequence[Table], theirs: Sequence[Table], view: View
    ) -> Iterator[Pairing]:
        """Yield ways to pair tables that are joined alike."""
        if len(ours) != len(theirs) or sorted(map(_shape, ours)) != sorted(map(_shape, theirs)):
            return
        if not ours:
            yield {}, []
            return
        self._steps.take()
        first, rest = ours[0], ours[1:]
        for i, other in enumerate(theirs):
            left = [*theirs[:i], *theirs[i + 1 :]]
            for new, pending in self._parts(first, other, view):
                for more, others in self._pairings(rest, left, view):
                    yield {**new, **more}, [*pending, *others]

    def _parts(self, mine: Table, other: Table, view: View) -> Iterator[Pairing]:
        if isinstance(mine, Scan) and isinstance(other, Scan):
            if mine.source.table == other.source.table:
                yield {other.source: mine.source}, []
        elif isinstance(mine, Derived) and isinstance(other, Derived):
            columns = self._remembered(mine.query, other.query, view)
            if columns is not None and all(columns):
                new: Names = {other.source: mine.source}
                for j, places in enumerate(columns):  # columns that are alike: the first
                    new[Column(other.source, str(j))] = Column(mine.source, str(min(places)))
                yield new, []
        elif isinstance(mine, LeftJoins) and isinstance(other, LeftJoins):
            for new, pending in self._pairings(mine.base, other.base, view):
                for more, others in self._pairings(mine.arms, other.arms, view):
                    yield {**new, **more}, [*pending, *others]
        elif isinstance(mine, Arm) and isinstance(other, Arm):
            inside = view.inside(mine.tables)
            for new, pending in self._pairings(mine.tables, other.tables, inside):
                yield new, [*pending, (mine.condition, other.condition, mine.tables)]
        elif isinstance(mine, FullJoin) and isinstance(other, FullJoin):
            sides = other.first, other.second
            for first, second in (sides, sides[::-1]):
                for new, pending in self._sides(mine.first, first, view):
                    for more, others in self._sides(mine.second, second, view):
                        both = mine.condition, other.condition, ()
                        yield {**new, **more}, [*pending, *others, both]

    def _remembered(self, mine: Query, other: Query, view: View) -> Columns | None:
        """Compare the queries of two derived tables, once in each place."""
        before, key = view.rests, (mine, other, *view.place)
        if key not in self._memo:
            view.rests = NOTHING
            self._memo[key] = self._queries(mine, other, view, identity=False), view.rests
        columns, rests = self._memo[key]
        view.rests = before if columns is None else before | rests
        return columns

    def _sides(self, mine: Arm, other: Arm, view: View) -> Iterator[Pairing]:
        inside = view.inside(mine.tables)
        for new, pending in self._pairings(mine.tables, other.tables, inside):
            yield new, [*pending, (mine.condition, other.condition, ())]

    def _compared(
        self,
        a: Select,
        b: Select,
        new: Names,
        pending: Sequence[tuple[Scalar, Scalar, tuple[Table, ...]]],
        view: View,
    ) -> Columns | None:
        """Compare two SELECTs whose tables are paired."""
        inside = view.inside(a.tables)
        b = replaced(without_tables(b), new)
        b = self._unified(without_tables(a), b, inside)
        rows = view.rows(a.tables, conjuncts(a.where))
        if a.where != b.where and not _same_rows(a, b, rows, view):
            if any(mine != replaced(other, new) for mine, other, _ in pending):
                return None
            if not _same_counted_rows(a, b, view):
                return None
            rows = view.rows(a.tables, (*conjuncts(a.where), *conjuncts(b.where)))
        certain = [c for c in conjuncts(a.where) if not uses(c, rows.optional & rows.own)]
        for mine, condition, optional in pending:
            other = replaced(condition, new)
            if mine == other:
                continue
            around = certain if optional else []
            other = self._unified(mine, other, inside.inside(optional))
            first, second = (
                rows.inside(optional, (*around, *conjuncts(one))) for one in (mine, other)
            )
            if not (first.imply_all(conjuncts(other)) and second.imply_all(conjuncts(mine))):
                return None
        return self._compared_outputs(a, b, rows, view)

    def _compared_outputs(self, a: Select, b: Select, rows: Rows, view: View) -> Columns | None:
        a, b = rows.apart(a), rows.apart(b)
        b = _with_aggregates_of(a, b, rows)
        if a.keys is not None and b.keys is not None:
            ours, theirs = rows.determined(a.keys), rows.determined(b.keys)
            if not (all(map(ours, b.keys)) and all(map(theirs, a.keys))):
                return None
        base = (*conjuncts(a.where), _SOME_ROW) if a.keys is not None else ()
        if a.having != b.having:
            first = view.rows(a.tables, (*base, *conjuncts(a.having)))
            second = view.rows(a.tables, (*base, *conjuncts(b.having)))
            if not (
                first.imply_all(conjuncts(b.having)) and second.imply_all(conjuncts(a.having))
            ):
                return None
        if a.aggregates:
            rows = view.rows(a.tables, base)
        outermost = self._depth == 1
        self._steps.take(len(a.outputs) * len(b.outputs) // PAIRS_A_STEP)
        outputs = [
            [
                as_shown(output) if outermost and i not in self._converted else output
                for i, output in enumerate(one.outputs)
            ]
            for one in (a, b)
        ]
        close = outermost and self._close and not a.distinct

        def is_same(i: int, mine: Scalar, j: int, other: Scalar) -> bool:
            if rows.same(mine, other, as_result=outermost):
                return True
            free = self._sorting.isdisjoint((i, -1 - j)) and self._converted.isdisjoint((i, j))
            return close and free and rows.close(mine, other)

        in_place = outermost and not self._sorting and outputs[0] == outputs[1]
        columns = tuple(
            frozenset(
                (j,)
                if in_place  # what else is the same is asked for by no one
                else (i for i, mine in enumerate(outputs[0]) if is_same(i, mine, j, other))
            )
            for j, other in enumerate(outputs[1])
        )
        if a.distinct:  # outputs of only one query must not split rows
            shown, theirs = frozenset[int]().union(*columns), rows.determined(b.outputs)
            if not all(i in shown or theirs(mine) for i, mine in enumerate(a.outputs)):
                return None
        return columns

    # Subqueries.

    def _unified(self, mine: Node, theirs: _N, view: View) -> _N:
        """Write the subqueries of one term as those of the other that are the same there."""
        ours = list(dict.fromkeys(_subqueries(mine)))
        new: dict[Node, Node] = {}
        for other in dict.fromkeys(_subqueries(theirs)):
            for one in ours:
                if one == other or self._same_subquery(one, other, view):
                    new[other] = one
                    ours.remove(one)
                    if not is_open(one):  # if it is, another one like it may choose otherwise
                        ours.append(one)
                    break
        return replaced(theirs, new)

    def _same_subquery(self, first: Scalar, second: Scalar, view: View) -> bool:
        if isinstance(first, Exists) and isinstance(second, Exists):
            return self._queries(first.query, second.query, view, identity=False) is not None
        if isinstance(first, ScalarQuery) and isinstance(second, ScalarQuery):
            return self.same(first.query, second.query, view)
        if isinstance(first, InQuery) and isinstance(second, InQuery):
            return first.values == second.values and self.same(first.query, second.query, view)
        return False


def _same_rows(a: Select, b: Select, rows: Rows, view: View) -> bool:
    """Say whether the conditions of two SELECTs from the same tables are true of the same rows."""
    if not rows.imply_all(conjuncts(b.where)):
        return False
    return view.rows(a.tables, conjuncts(b.where)).imply_all(conjuncts(a.where))


def _same_counted_rows(a: Select, b: Select, view: View) -> bool:
    """
    Say whether aggregates over all rows ignore each row that only one WHERE lets through.

    They ignore NULLs: ``COUNT(CASE WHEN p THEN 1 END)`` is ``COUNT(*)`` of WHERE p.
    """
    if not a.aggregates or a.keys is not None:
        return False
    for one, other in ((a, b), (b, a)):
        dropped = view.rows(a.tables, (*conjuncts(one.where), not_true(other.where)))
        for agg in aggregates_in(one):
            nothing = IsNull(agg.operand) if agg.operand is not None else None
            if not (dropped.none() if nothing is None else dropped.implies(nothing)):
                return False
    return True


def _with_aggregates_of(a: Select, b: Select, rows: Rows) -> Select:
    """Write aggregates of *b* as those of *a* that are the same."""
    ours = aggregates_in(a)
    new: dict[Aggregate, Scalar] = {}
    for agg in aggregates_in(b):
        alike = (g for g in ours if _same_aggregate(g, agg, rows))
        new[agg] = next(alike, agg)
    return of_groups(b, new) if new else b


def _same_aggregate(first: Aggregate, second: Aggregate, rows: Rows) -> bool:
    """Say whether two aggregates over the same rows are the same; COUNT asks what is NULL."""
    several = first.function not in ("min", "max")
    if first.function != second.function or (several and first.distinct != second.distinct):
        return False
    if first.function == "count" and not first.distinct:
        return rows.same(_is_counted(first), _is_counted(second))
    if first.operand is None or second.operand is None:
        return first.operand == second.operand
    return rows.same(first.operand, second.operand, as_result=True)


def _is_counted(count: Aggregate) -> Scalar:
    return TRUE if count.operand is None else Not(IsNull(count.operand))


def _shape(table: Table) -> str:
    if isinstance(table, Scan):
        return f"table {table.source.table}"
    if isinstance(table, Derived):
        return f"derived {type(table.query).__name__}"
    return type(table).__name__


def _both(first: Columns, second: Columns) -> Columns:
    return tuple(ours & theirs for ours, theirs in zip(first, second, strict=True))


def _one_to_one(columns: Columns) -> bool:
    """Say whether each column can have one of its places to itself, by augmenting paths."""
    taken: dict[int, int] = {}

    def place(column: int, seen: set[int]) -> bool:
        for i in columns[column] - seen:
            seen.add(i)
            if i not in taken or place(taken[i], seen):
                taken[i] = column
                return True
        return False

    return all(place(column, set()) for column in range(len(columns)))


def _subqueries(node: Node) -> Iterator[Scalar]:
    """Yield the outermost subqueries in an expression."""
    if isinstance(node, Exists | ScalarQuery | InQuery):
        yield node
    elif not isinstance(node, Table):
        for child in node.children:
            yield from _subqueries(child)
