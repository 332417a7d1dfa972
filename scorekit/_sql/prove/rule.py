"""
What a rule is, what it may know, and how the facts that its rewriting rests on are recorded.

A `Rule` is a pure function from a node to an equal one, or to None where it does not apply.  It
sees only the node and a `View`: what is known where the node stands.  A view answers questions by
yes or no and records the facts behind each yes.  Applying a rule returns the new node together
with these facts, so that no rule can omit them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final, TypeVar

import attrs

from scorekit._sql.databases.kinds import UNPADDED
from scorekit._sql.databases.kinds import Column as Declared
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    Aggregate,
    Cast,
    Column,
    Derived,
    Node,
    Query,
    Scalar,
    Select,
    SetOperation,
    Source,
    Table,
    conjunction,
    conjuncts,
    defined_in,
    found_in,
    has_aggregate,
    replaced,
    sorted_nodes,
)
from scorekit._sql.prove.arithmetic import NOTHING_SUMMED
from scorekit._sql.prove.dependencies import Determined, Relation, at_most_one
from scorekit._sql.prove.logic import Mode
from scorekit._sql.prove.normal import Arm, Sorted
from scorekit._sql.prove.scope import NOTHING, Premises, Scope
from scorekit._sql.schema.definitions import Reference

_N = TypeVar("_N", bound=Node)

UNKNOWN: Final = Declared("", "unknown", nullable=True)
"""A column of which nothing is known."""


@attrs.frozen(eq=False)
class Rule:
    """One way to rewrite a node so that it means the same."""

    name: str
    """As it stands in a proof."""
    why: str
    """Why it is sound."""
    on: tuple[type[Node], ...]
    """The kinds of nodes that it is for."""
    rewrite: Callable[[Any, View], Node | None]
    shown: bool = True
    """Whether a proof names it.  Rules that only normalize a query are not named."""

    def __call__(self, node: Node, view: View) -> tuple[Node, Premises] | None:
        """Return an equal node and what that rests on, None where the rule does not apply."""
        new = self.rewrite(node, view)
        return None if new is None or new == node else (new, view.rests)


def rule(
    name: str, *on: type[Node], shown: bool = True
) -> Callable[[Callable[[Any, View], Node | None]], Rule]:
    """Make a rule of a function, whose docstring says why it is sound."""

    def made(function: Callable[[Any, View], Node | None]) -> Rule:
        return Rule(name, " ".join((function.__doc__ or "").split()), on, function, shown)

    return made


@attrs.define
class Answers:
    """The facts behind the answers of yes."""

    rests: Premises = NOTHING


class View:
    """What is known where a node stands.  It records what its answers rest on."""

    def __init__(
        self,
        scope: Scope,
        *,
        repeats: bool = True,
        mode: Mode = "value",
        arm: bool = False,
        names: Iterator[str] | None = None,
        answers: Answers | None = None,
    ) -> None:
        self._scope: Final = scope
        self.place: Final = scope.key
        """Its position: a stored answer is valid for this position only."""
        self.repeats: Final = repeats
        """Whether duplicate rows of the query matter."""
        self.mode: Final[Mode] = mode
        """What matters of the value of an expression."""
        self.arm: Final = arm
        """Whether the query may decide the types of a union's columns."""
        self.dialect: Final = scope.dialect
        self._answers: Final = answers or Answers()
        self._names = names or map("f{}".format, count())

    @property
    def rests(self) -> Premises:
        """The facts behind every yes of this view and of the views inside it."""
        return self._answers.rests

    @rests.setter
    def rests(self, rests: Premises) -> None:
        self._answers.rests = rests

    def inside(self, tables: Iterable[Table]) -> View:
        """Return the view of a query nested in one that reads *tables*."""
        scope = self._scope.inside(tables)
        return View(scope, names=self._names, answers=self._answers)

    def rely(self, found: Premises | None) -> bool:
        """Say whether an answer is yes, and remember what it rests on."""
        if found is None:
            return False
        self.rests |= found
        return True

    def rows(self, tables: Iterable[Table], conditions: Iterable[Scalar] = ()) -> Rows:
        """Return the rows of tables that fulfil conditions."""
        return Rows(self, Relation.of(tables, conditions, self._scope))

    def rows_of(self, select: Select) -> Rows:
        """Return the rows that pass the WHERE of a SELECT."""
        return self.rows(select.tables, conjuncts(select.where))

    def never_null(self, value: Scalar, tables: Iterable[Table] = ()) -> bool:
        """Say whether a value is never NULL, by constraints alone."""
        return self.rely(Relation.of(tables, (), self._scope).never_null(value))

    def kind(self, value: Scalar, tables: Iterable[Table] = ()) -> str:
        """Return the kind of values of an expression over some tables."""
        return self._scope.inside(tables).kind(value)

    def kind_of_output(self, query: Query, place: int) -> str:
        """Return the kind of an output of a query."""
        return self._scope.kind_of_output(query, place)

    def declared(self, value: Scalar) -> Declared:
        """Return what the schema says of a column of a base table, or that it is not known."""
        return self._scope.column(value) or UNKNOWN

    def holds(self, column: Column, what: str) -> bool:
        """Take for granted that a column of a base table holds what its type leaves open."""
        return self.rely(frozenset((f"{column.source.table}.{column.name} holds {what}",)))

    def converts(self, query: SetOperation, place: int) -> bool:
        """Say whether a set operation may convert values of an output to the type of others."""
        types = self._types(query, place)
        return None in types or len(types) > 1

    def mixes_padding(self, query: SetOperation, place: int) -> bool:
        """Say whether the first arm may decide if spaces fill the texts of an output."""
        if self.dialect in UNPADDED:
            return False
        filled = {one for arm in query.arms for one in self._filled(arm, place)}
        return len(filled) > 1

    def _filled(self, query: Query, place: int) -> set[bool]:
        """Return whether spaces may fill the texts of an output, and whether they may not."""
        if isinstance(query, SetOperation):
            return {one for arm in query.arms for one in self._filled(arm, place)}
        if isinstance(query, Sorted):
            return self._filled(query.query, place)
        if not isinstance(query, Select) or place >= len(query.outputs):
            return {True, False}
        output = query.outputs[place]
        if output == NULL:
            return set()
        if any(cast.kind == "text" for cast in found_in(output, Cast)):
            return {True, False}
        derived = {one.source: one.query for one in found_in(query, Derived)}
        found: set[bool] = set()
        for column in found_in(output, Column):
            inner = derived.get(column.source)
            if inner is not None and column.name.isdigit():
                found |= self._filled(inner, int(column.name))
            else:
                found.add(self.declared(column).limits.padded)
        return found if isinstance(output, Column) else found | {False}

    def _types(self, query: Query, place: int) -> set[object]:
        if isinstance(query, SetOperation):
            return {one for arm in query.arms for one in self._types(arm, place)}
        if isinstance(query, Sorted):
            return self._types(query.query, place)
        if not isinstance(query, Select) or place >= len(query.outputs):
            return {None}
        output = query.outputs[place]
        facts = Relation.of(query.tables, (), self._scope).facts
        return set() if output == NULL else {facts.unconverted_type(output)}

    def exact(self, value: Scalar, tables: Iterable[Table] = ()) -> bool:
        """Say whether equal values of an expression are the same to every function."""
        return self._scope.inside(tables).exact(value)

    def key(
        self, source: Source, wanted: Callable[[tuple[str, ...]], bool] = lambda _: True
    ) -> tuple[str, ...] | None:
        """Return the first key of a base table that is as wanted, if there is one."""
        for key in self._scope.keys(source):
            if wanted(key):
                self.rely(frozenset((f"{source.table} ({', '.join(key)}) is a key",)))
                return key
        return None

    def refers(self, wanted: Callable[[Reference], bool]) -> bool:
        """Say whether there is a foreign key that is as wanted."""
        schema = self._scope.schema
        for one in schema.references if schema is not None else ():
            if wanted(one):
                mine, others = ", ".join(one.columns), ", ".join(one.others)
                fact = f"{one.table} ({mine}) refers to {one.other} ({others})"
                return self.rely(frozenset((fact,)))
        return False

    def fresh(self, like: Source | None = None) -> Source:
        """Return a table with a new name, another one of the same base table as *like*."""
        return Source(next(self._names), like.table if like is not None else "")

    def copied(self, node: _N) -> _N:
        """Return *node* with other names for the tables that it defines."""
        return replaced(node, {one: self.fresh(one) for one in sorted_nodes(defined_in(node))})


class Rows:
    """The rows that a SELECT reads, as a view answers questions about them."""

    def __init__(self, view: View, relation: Relation) -> None:
        self.view, self._relation = view, relation
        self.own, self.optional = relation.own, relation.scope.optional

    def implies(self, condition: Scalar) -> bool:
        """Say whether a condition is true of each row."""
        return self.view.rely(self._relation.facts.implies(condition))

    def imply_all(self, conditions: Iterable[Scalar]) -> bool:
        """Say whether all conditions are true of each row."""
        return all(map(self.implies, conditions))

    def never_null(self, value: Scalar) -> bool:
        """Say whether a value is not NULL in any row."""
        return self.view.rely(self._relation.facts.never_null(value))

    def same(self, first: Scalar, second: Scalar, *, as_result: bool = False) -> bool:
        """Say whether two values are the same in each row."""
        return self.view.rely(self._relation.facts.same(first, second, as_result=as_result))

    def close(self, first: Scalar, second: Scalar) -> bool:
        """Say whether two numbers are the same in each row, but for rounding."""
        return self.view.rely(self._relation.facts.close(first, second))

    def apart(self, select: Select) -> Select:
        """Return a SELECT with its sums and means as sums and counts of terms."""
        new: dict[Aggregate, Scalar] = {}
        for agg in aggregates_in(select):
            if agg.function in ("sum", "avg") and agg not in new:
                found, rests = self._relation.facts.canonical(agg)
                if select.keys is not None:  # a group has a row
                    found = replaced(found, {NOTHING_SUMMED: Aggregate("count")})
                if found != agg and self.view.rely(rests):
                    new[agg] = found
        return of_groups(select, new) if new else select

    def none(self) -> bool:
        """Say whether there are none."""
        return self.view.rely(self._relation.facts.contradictory())

    def determined(self, given: Iterable[Scalar]) -> Given:
        """Return what some expressions determine in each row."""
        return Given(self.view, self._relation.determined(given))

    def equals(self, value: Scalar) -> frozenset[Scalar]:
        """Return the expressions that equal a value in each row, as GROUP BY compares."""
        found, rests = self._relation.equals(value)
        self.view.rely(rests)
        return found

    def matching(self, arm: Arm) -> Rows:
        """Return the rows of an optional side that match."""
        scope = self._relation.scope
        return Rows(self.view, Relation.of(arm.tables, conjuncts(arm.condition), scope))

    def inside(self, tables: tuple[Table, ...], conditions: Iterable[Scalar]) -> Rows:
        """Return rows of which other conditions hold, *tables* among them not filled up."""
        scope, others = self._relation.scope, () if tables else self._relation.tables
        return Rows(self.view, Relation.of(others, conditions, scope.inside(tables)))

    def kind(self, value: Scalar) -> str:
        """Return the kind of values of an expression."""
        return self._relation.scope.kind(value)

    def at_most_one(self, arm: Arm) -> bool:
        """Say whether an optional side has at most one row for each row around it."""
        return self.view.rely(at_most_one(arm, self._relation.scope))


class Given:
    """What some expressions determine, as a view answers questions about it."""

    def __init__(self, view: View, determined: Determined) -> None:
        self._view, self._determined = view, determined

    @property
    def sources(self) -> frozenset[Source]:
        """Tables whose row is determined."""
        return frozenset(self._determined.sources)

    def rely_on(self, sources: Iterable[Source]) -> bool:
        """Say whether the rows of some tables are determined."""
        found = self._determined.sources
        return all(self._view.rely(found.get(source)) for source in sources)

    def everything(self) -> bool:
        """Say whether no two rows are alike in what is given."""
        return self._view.rely(self._determined.everything())

    def __call__(self, value: Scalar) -> bool:
        """Say whether equal values of what is given make equal values of this one."""
        return self._view.rely(self._determined(value))

    def exactly(self, value: Scalar) -> bool:
        """Say whether what is given makes a value the same to every function."""
        return self._view.rely(self._determined.exactly(value))


# What rules have in common.


def and_where(select: Select, conditions: Iterable[Scalar]) -> Select:
    """Return a SELECT with more conditions."""
    both = dict.fromkeys((*conjuncts(select.where), *conditions))
    return attrs.evolve(select, where=conjunction(both))


def without_tables(select: Select) -> Select:
    """Return all of a SELECT but its FROM."""
    return attrs.evolve(select, tables=())


def uses(node: Node, sources: Iterable[Source]) -> bool:
    """Say whether *node* names one of *sources*."""
    return not node.sources.isdisjoint(sources)


def parts_of_groups(select: Select) -> tuple[Scalar, ...]:
    """Return what a SELECT computes of its groups."""
    return (select.having, *select.outputs)


def aggregates_of(node: Node) -> list[Aggregate]:
    """Return the aggregates of the SELECT that *node* stands in."""
    if isinstance(node, Aggregate):
        return [node]
    if isinstance(node, Query):
        return []
    return [found for child in node.children for found in aggregates_of(child)]


def aggregates_in(select: Select) -> list[Aggregate]:
    """Return the aggregates over the groups of a SELECT."""
    return [found for part in parts_of_groups(select) for found in aggregates_of(part)]


def with_aggregates(node: _N, new: Mapping[Aggregate, Scalar]) -> _N:
    """Return an expression with aggregates of its own SELECT replaced."""

    def read(part: Node) -> Node:
        if isinstance(part, Aggregate):
            return new.get(part, part)
        if isinstance(part, Query) or not has_aggregate(part):
            return part
        return part.with_children(map(read, part.children))

    return read(node)  # type: ignore[return-value]


def of_groups(select: Select, new: Mapping[Aggregate, Scalar]) -> Select:
    """Return a SELECT with aggregates over its groups replaced."""
    return attrs.evolve(
        select,
        having=with_aggregates(select.having, new),
        outputs=tuple(with_aggregates(output, new) for output in select.outputs),
    )


def empty(width: int) -> Select:
    """Return the query without rows."""
    return Select((), FALSE, outputs=(NULL,) * width)
