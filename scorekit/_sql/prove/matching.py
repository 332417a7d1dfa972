"""Whether two normal forms mean the same: their tables are paired, and what holds is compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from scorekit._sql.prove.dependencies import Rows, extended_within
from scorekit._sql.prove.groups import aggregates_of, replaced_aggregates
from scorekit._sql.prove.joins import uses
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.logic import Facts, not_true
from scorekit._sql.prove.predicates import conjuncts
from scorekit._sql.prove.terms import (
    NONE,
    OPAQUE,
    TRUE,
    ExhaustedError,
    Select,
    Term,
    coloured,
    local_sources,
    outputs_of,
    replaced,
    replaced_terms,
    walk,
)
from scorekit._sql.prove.windows import same_windows

MAX_PAIRINGS: Final = 200
"""Ways to pair the tables of two queries that are tried."""

Columns: TypeAlias = "tuple[frozenset[int], ...]"
"""For each output of the second query, those of the first that are the same in each row."""

Pairing: TypeAlias = "tuple[dict[Term, Term], list[tuple[Term, Term, Term]]]"
"""What the names of one query are in the other; conditions of outer joins yet to be compared,
with the tables that they are about."""


class Matcher:
    """Compares queries whose tables have different names."""

    def __init__(self, known: Known, extended: frozenset[Term]) -> None:
        self.known, self.extended = known, extended
        self.tries = MAX_PAIRINGS
        self.asked: set[str] = set()
        self._memo: dict[tuple[Term, Term], Columns | None] = {}
        self._depth = 0
        """Of the SELECT that is compared; the outermost is at depth 1."""

    def same(self, first: Term, second: Term) -> bool:
        """Say whether two queries give the same rows, column by column."""
        if first == second:
            return True
        if first.op == second.op == "sorted" and first.args[1:] == second.args[1:]:
            return self.same(first.args[0], second.args[0])
        if len(outputs_of(first)) != len(outputs_of(second)):
            return False
        return self.queries(first, second, identity=True) is not None

    def permuted(self, first: Term, second: Term) -> bool:
        """Say whether two queries give the same rows if the columns of one are put in order."""
        if first.op == "sorted" or len(outputs_of(first)) != len(outputs_of(second)):
            return False
        columns = self.queries(first, second, identity=False)
        return columns is not None and _one_to_one(columns)

    # Queries.

    def queries(  # noqa: C901, PLR0911 - one per kind of query
        self, first: Term, second: Term, *, identity: bool
    ) -> Columns | None:
        """Return which columns are the same if the rows are, else None."""
        self.known.steps.take()
        if first.op != second.op:
            return self._union_of_sets(first, second, identity=identity)
        if first.op == "select":
            self._depth += 1
            found = self._selects(Select.of(first), Select.of(second), identity=identity)
            self._depth -= 1
            return found
        if first.op in ("union all", "union"):
            found = self._arms(first.args, second.args, None, identity=identity)
            if found is None and first.op == "union":
                found = self._union_of_sets(first, second, identity=identity)
            return found
        if first.op == "windowed":
            columns = self.queries(first.args[0], second.args[0], identity=False)
            if columns is None or not all(columns):
                return None
            return (*columns, *same_windows(first, second, columns))
        if first.op == "limited":
            if OPAQUE in (first.name, second.name):
                width = len(outputs_of(first))
                return tuple(frozenset((i,)) for i in range(width)) if first == second else None
            if first.args[1:] != second.args[1:]:
                return None
            return self.queries(first.args[0], second.args[0], identity=identity)
        if len(first.args) == len(second.args) and first.op in _BY_PLACE:
            width = len(outputs_of(first))
            for mine, other in zip(first.args, second.args, strict=True):
                if self.queries(mine, other, identity=True) is None:
                    return None
            return tuple(frozenset((i,)) for i in range(width))
        return None

    def _arms(
        self,
        ours: Sequence[Term],
        theirs: Sequence[Term],
        columns: Columns | None,
        *,
        identity: bool,
    ) -> Columns | None:
        """Pair the arms of two unions so that the same columns are the same in each pair."""
        if len(ours) != len(theirs):
            return None
        if not ours:
            return columns
        for i, other in enumerate(theirs):
            found = self.queries(ours[0], other, identity=identity)
            if found is None:
                continue
            both = found if columns is None else _both(columns, found)
            if not all(both):
                continue
            rest = self._arms(ours[1:], [*theirs[:i], *theirs[i + 1 :]], both, identity=identity)
            if rest is not None:
                return rest
        return None

    def _union_of_sets(self, first: Term, second: Term, *, identity: bool) -> Columns | None:
        """Compare unions without duplicates: each arm of one is within an arm of the other."""
        if not (_is_set(first) and _is_set(second)) or not identity:
            return None
        width = len(outputs_of(first))
        if len(outputs_of(second)) != width:
            return None
        for ours, theirs in ((first, second), (second, first)):
            arms = [Select.of(a) for a in _set_arms(ours) if a.op == "select"]
            others = [Select.of(a) for a in _set_arms(theirs) if a.op == "select"]
            if len(arms) != len(_set_arms(ours)) or not all(
                any(self.within(arm, other, ()) for other in others) for arm in arms
            ):
                return None
        return tuple(frozenset((i,)) for i in range(width))

    # SELECT.

    def _selects(self, a: Select, b: Select, *, identity: bool) -> Columns | None:
        if (a.group == NONE) != (b.group == NONE) or a.aggregates != b.aggregates:
            return None
        if a.distinct != b.distinct or len(a.order) != len(b.order):
            return None
        for new, pending in self._pairings(a.tables.args, b.tables.args, (a, b)):
            self.tries -= 1
            if self.tries < 0:
                raise ExhaustedError
            found = self._compared(a, b, new, pending)
            if found is None or not all(found):
                continue
            if not identity or all(i in places for i, places in enumerate(found)):
                return found
        sets = a.distinct and a.group == NONE and not a.aggregates and identity
        if sets and self.within(a, b, ()) and self.within(b, a, ()):
            return tuple(frozenset((i,)) for i in range(len(a.outputs)))
        return None

    def _pairings(
        self, ours: Sequence[Term], theirs: Sequence[Term], selects: tuple[Select, Select] | None
    ) -> Iterator[Pairing]:
        """Yield ways to pair tables that are joined alike."""
        if len(ours) != len(theirs) or sorted(map(_shape, ours)) != sorted(map(_shape, theirs)):
            return
        if not ours:
            yield {}, []
            return
        self.known.steps.take()
        first, rest = ours[0], ours[1:]
        places = [i for i, other in enumerate(theirs) if _shape(other) == _shape(first)]
        if len(places) > 1 and selects is not None:
            places.sort(key=lambda i: -self._alike(first, theirs[i], selects))
        for i in places:
            left = [*theirs[:i], *theirs[i + 1 :]]
            for new, pending in self._parts(first, theirs[i]):
                for more, others in self._pairings(rest, left, selects):
                    yield {**new, **more}, [*pending, *others]

    def _alike(self, mine: Term, other: Term, selects: tuple[Select, Select]) -> int:
        """Return in how many conditions and outputs two tables stand alike."""
        seen: list[set[Term]] = []
        for part, select in zip((mine, other), selects, strict=True):
            me = dict.fromkeys(local_sources(part), Term("src", "!me"))
            terms = (*conjuncts(select.where), *select.outputs, *select.group.args)
            seen.append({coloured(term, me, self.known.steps) for term in terms if uses(term, me)})
        return len(seen[0] & seen[1])

    def _parts(  # noqa: C901, PLR0912 - a branch per kind of table
        self, mine: Term, other: Term
    ) -> Iterator[Pairing]:
        if mine.op == "table":
            yield {other.args[0]: mine.args[0]}, []
        elif mine.op == "derived":
            pair = (mine.args[1], other.args[1])
            if pair not in self._memo:
                self._memo[pair] = self.queries(*pair, identity=False)
            columns = self._memo[pair]
            if columns is not None:
                for choice in _choices(columns):
                    new = {other.args[0]: mine.args[0]}
                    for j, i in enumerate(choice):
                        new[Term("col", str(j), (other.args[0],))] = Term(
                            "col", str(i), (mine.args[0],)
                        )
                    yield new, []
        elif mine.op == "left":
            for new, pending in self._pairings(mine.args[0].args, other.args[0].args, None):
                for more, others in self._pairings(mine.args[1:], other.args[1:], None):
                    yield {**new, **more}, [*pending, *others]
        elif mine.op == "arm":
            for new, pending in self._pairings(mine.args[0].args, other.args[0].args, None):
                yield new, [*pending, (mine.args[1], other.args[1], mine.args[0])]
        elif mine.op == "outer":
            both, theirs = mine.args[0].args, other.args[0].args
            for sides in (theirs, theirs[::-1]):
                for new, pending in self._parts(both[0], sides[0]):
                    for more, others in self._parts(both[1], sides[1]):
                        yield (
                            {**new, **more},
                            [*pending, *others, (mine.args[1], other.args[1], NONE)],
                        )
        elif mine.op == "side":
            for new, pending in self._pairings(mine.args[0].args, other.args[0].args, None):
                yield new, [*pending, (mine.args[1], other.args[1], NONE)]

    def _rows(self, tables: Term, conditions: Iterable[Term]) -> Rows:
        rows = Rows(tables, conditions, self.known, self.extended)
        rows.asked = self.asked
        return rows

    def _compared(
        self,
        a: Select,
        b: Select,
        new: dict[Term, Term],
        pending: Sequence[tuple[Term, Term, Term]],
    ) -> Columns | None:
        """Compare two SELECTs whose tables are paired."""
        other = b._replace(tables=NONE).term()
        b = Select.of(replaced(other, new, self.known.steps))
        shared = [c for c in conjuncts(a.where) if c in set(conjuncts(b.where))]
        context = [c for c in shared if not any(node.op == "select" for node in walk(c))]
        b = self._with_queries_of(a, b, context)
        rows = self._rows(a.tables, conjuncts(a.where))
        if a.where != b.where and not self._same_rows(a.tables, rows, a.where, b.where):
            unlike = any(
                mine != replaced(other, new, self.known.steps) for mine, other, _ in pending
            )
            if unlike or not self._same_counted_rows(a, b):
                return None
            rows = self._rows(a.tables, (*conjuncts(a.where), *conjuncts(b.where)))
        optional = frozenset(
            source
            for part in a.tables.args
            for arm in (part.args[1:] if part.op == "left" else (part,) * (part.op == "outer"))
            for source in local_sources(arm)
        )
        certain = [c for c in conjuncts(a.where) if not uses(c, optional)]
        for mine, theirs, _ in pending:
            theirs_here = replaced(theirs, new, self.known.steps)
            if mine == theirs_here:
                continue
            around = certain if _ != NONE else []
            theirs_here = self._unified(mine, theirs_here, around)
            first = self._rows(a.tables, (*around, *conjuncts(mine)))
            second = self._rows(a.tables, (*around, *conjuncts(theirs_here)))
            if _ != NONE:
                first.extended = second.extended = extended_within(_, self.extended)
            if not (
                all(map(first.facts.implies, conjuncts(theirs_here)))
                and all(map(second.facts.implies, conjuncts(mine)))
            ):
                return None
        return self._compared_outputs(a, b, rows)

    def _same_rows(self, tables: Term, rows: Rows, first: Term, second: Term) -> bool:
        """Say whether two conditions are true of the same rows."""
        if all(map(rows.facts.implies, conjuncts(second))):
            others = self._rows(tables, conjuncts(second))
            return all(map(others.facts.implies, conjuncts(first)))
        return False

    def _same_counted_rows(self, a: Select, b: Select) -> bool:
        """
        Say whether aggregates over all rows ignore each row that only one WHERE lets through.

        They ignore NULLs: ``COUNT(CASE WHEN p THEN 1 END)`` is ``COUNT(*)`` of WHERE p.
        """
        if not a.aggregates or a.group != NONE:
            return False
        for one, other in ((a, b), (b, a)):
            dropped = (*conjuncts(one.where), not_true(other.where))
            facts = self._rows(a.tables, dropped).facts
            found = (
                g for part in (one.having, *one.outputs, *one.order) for g in aggregates_of(part)
            )
            if not all(
                facts.implies(Term("isnull", "", agg.args)) if agg.args else facts.contradictory
                for agg in found
            ):
                return False
        return True

    def _compared_outputs(self, a: Select, b: Select, rows: Rows) -> Columns | None:
        facts = rows.facts
        b = self._with_aggregates_of(a, b, facts)
        if a.group != NONE:
            ours, theirs = rows.determined(a.group.args), rows.determined(b.group.args)
            if not (all(map(ours, b.group.args)) and all(map(theirs, a.group.args))):
                return None
        if a.having != b.having:
            base = conjuncts(a.where) if a.group != NONE else ()
            first = self._rows(a.tables, (*base, *conjuncts(a.having)))
            second = self._rows(a.tables, (*base, *conjuncts(b.having)))
            if not (
                all(map(first.facts.implies, conjuncts(b.having)))
                and all(map(second.facts.implies, conjuncts(a.having)))
            ):
                return None
        if a.aggregates and a.group == NONE:
            facts = self._rows(a.tables, ()).facts
        for mine, other in zip(a.order, b.order, strict=True):
            if mine.name != other.name or not facts.same(
                mine.args[0], other.args[0], as_result=True
            ):
                return None
        columns = tuple(
            frozenset(
                i
                for i, mine in enumerate(a.outputs)
                if facts.same(mine, other, as_result=self._depth == 1)
            )
            for other in b.outputs
        )
        if a.distinct:
            ours, theirs = rows.determined(a.outputs), rows.determined(b.outputs)
            if not (all(map(ours, b.outputs)) and all(map(theirs, a.outputs))):
                return None
        return columns

    def _with_aggregates_of(self, a: Select, b: Select, facts: Facts) -> Select:
        """Write aggregates of *b* as those of *a* that are the same."""
        ours = [g for part in (a.having, *a.outputs, *a.order) for g in aggregates_of(part)]
        new: dict[Term, Term] = {}
        grouped = a.group != NONE
        for part in (b.having, *b.outputs, *b.order):
            for agg in aggregates_of(part):
                alike = (one for one in ours if _same_aggregate(one, agg, facts, grouped=grouped))
                new[agg] = next(alike, agg)
        if not new:
            return b
        return b._replace(
            having=replaced_aggregates(b.having, new),
            outputs=tuple(replaced_aggregates(output, new) for output in b.outputs),
            order=tuple(replaced_aggregates(item, new) for item in b.order),
        )

    # Subqueries.

    def _with_queries_of(self, a: Select, b: Select, context: Sequence[Term]) -> Select:
        mine, theirs = a._replace(tables=NONE).term(), b.term()
        return Select.of(self._unified(mine, theirs, context))

    def _unified(self, mine: Term, theirs: Term, context: Sequence[Term]) -> Term:
        """Write the subqueries of one term as those of the other that are the same."""
        ours = list(dict.fromkeys(_subqueries(mine)))
        new: dict[Term, Term] = {}
        for other in dict.fromkeys(_subqueries(theirs)):
            for one in ours:
                if (
                    one != other
                    and one.op == other.op
                    and self._same_subquery(one, other, context)
                ):
                    new[other] = one
                    break
        return replaced_terms(theirs, new, self.known.steps) if new else theirs

    def _same_subquery(self, first: Term, second: Term, context: Sequence[Term]) -> bool:
        if first.op == "exists":
            ours, theirs = first.args[0], second.args[0]
            if ours.op == theirs.op == "select":
                a, b = Select.of(ours), Select.of(theirs)
                if a.plain and b.plain:
                    pairs = (a, b), (b, a)
                    if all(self.within(*pair, context) for pair in pairs):
                        return True
            return self.queries(ours, theirs, identity=False) is not None
        if first.op == "scalar":
            return self.queries(first.args[0], second.args[0], identity=True) is not None
        return (
            first.args[0] == second.args[0]
            and self.queries(first.args[1], second.args[1], identity=True) is not None
        )

    def within(self, a: Select, b: Select, context: Sequence[Term]) -> bool:
        """
        Say whether each row of *a*, however often it comes, is one of *b*: b's tables find a row.

        The classical containment of conjunctive queries: each table of *b* is mapped to one of
        *a*, so that the conditions of *a* imply those of *b* and the outputs are the same.
        """
        if len(a.outputs) != len(b.outputs) or not (a._replace(distinct=False).plain):
            return False
        if not b._replace(distinct=False).plain or any(p.op != "table" for p in b.tables.args):
            return False
        rows = self._rows(a.tables, (*context, *conjuncts(a.where)))
        inside = [part for part in a.tables.args if part.op == "table"]
        for new in self._mappings(b.tables.args, inside):
            self.tries -= 1
            if self.tries < 0:
                raise ExhaustedError
            where = replaced(b.where, new, self.known.steps)
            where = self._unified(a.where, where, context)
            if all(map(rows.facts.implies, conjuncts(where))) and all(
                rows.facts.same(mine, replaced(other, new, self.known.steps))
                for mine, other in zip(a.outputs, b.outputs, strict=True)
            ):
                return True
        return False

    def _mappings(
        self, theirs: Sequence[Term], ours: Sequence[Term]
    ) -> Iterator[dict[Term, Term]]:
        if not theirs:
            yield {}
            return
        for mine in ours:
            if mine.name == theirs[0].name:
                for rest in self._mappings(theirs[1:], ours):
                    yield {theirs[0].args[0]: mine.args[0], **rest}


_BY_PLACE = ("except", "except all", "intersect", "intersect all")


def _same_aggregate(first: Term, second: Term, facts: Facts, *, grouped: bool) -> bool:
    """
    Say whether two aggregates over the same rows are the same.

    COUNT asks only which values are NULL, and a sum of ones and noughts counts the ones, but for
    the sum of nothing, which no group is.
    """
    if {first.name, second.name} == {"sum", "count"} and grouped:
        total, count = (first, second) if first.name == "sum" else (second, first)
        argument = total.args[0]
        values = {*argument.args[1:-1:2], argument.args[-1]} if argument.op == "case" else {NONE}
        if not values <= {Term("int", "0"), Term("int", "1")}:
            return False
        return facts.same(Term("eq", "", (argument, Term("int", "1"))), _is_counted(count))
    if first.name == second.name == "count":
        return facts.same(_is_counted(first), _is_counted(second))
    if first.name != second.name or len(first.args) != len(second.args):
        return False
    pairs = zip(first.args, second.args, strict=True)
    return all(facts.same(*pair, as_result=True) for pair in pairs)


def _is_counted(count: Term) -> Term:
    if not count.args:
        return TRUE
    return Term("not", "", (Term("isnull", "", count.args),))


def _is_set(query: Term) -> bool:
    return query.op == "union" or (query.op == "select" and query.name == "distinct")


def _set_arms(query: Term) -> tuple[Term, ...]:
    return query.args if query.op == "union" else (query,)


def _shape(part: Term) -> str:
    if part.op == "table":
        return f"table {part.name}"
    if part.op == "derived":
        return f"derived {part.args[1].op}"
    return part.op


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


def _choices(columns: Columns) -> Iterator[tuple[int, ...]]:
    """Yield a column of the first query for each of the second; columns that are alike first."""
    yield tuple(min(places) for places in columns)


def _subqueries(term: Term) -> Iterator[Term]:
    """Yield the outermost subqueries in an expression."""
    if term.op in ("exists", "scalar", "in"):
        yield term
        return
    if term.op in ("table", "derived"):
        return
    for arg in term.args:
        yield from _subqueries(arg)
