"""
Which expressions identify the rows of a FROM: functional dependencies.

All here is a pure answer: what it rests on where it is yes, None where it is no.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeGuard

from scorekit._sql.meaning.tree import (
    Aggregate,
    And,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Derived,
    IsNull,
    Negative,
    Node,
    Not,
    OpenName,
    Or,
    Query,
    Scalar,
    Select,
    SetOperation,
    Source,
    Star,
    Table,
    When,
    Windowed,
    conjuncts,
    local_sources,
    sorted_nodes,
    walk,
)
from scorekit._sql.prove.logic import Facts
from scorekit._sql.prove.normal import Arm, LeftJoins, Sorted, unconverted
from scorekit._sql.prove.scalars import is_literal
from scorekit._sql.prove.scope import (
    NOTHING,
    Premises,
    Scope,
    every,
    never_null_alone,
)

_WHOLE = frozenset({"integer", "natural", "number"})


class Relation:
    """
    The rows of the tables that one SELECT joins, and what is known of each of them.

    A row is determined by some expressions if it is the only one that has their values.  That is
    so where they hold a key of a table, where an equality of the WHERE leads there, or where a
    derived table differs in them.  Values are compared as GROUP BY compares them.
    """

    def __init__(
        self, tables: tuple[Table, ...], conditions: tuple[Scalar, ...], scope: Scope
    ) -> None:
        self.tables, self.conditions = tables, conditions
        self.scope = scope.inside(tables)
        self.own = frozenset(local_sources(tables))
        self._facts: Facts | None = None
        self._classes: dict[Scalar, frozenset[Scalar]] | None = None
        self._rests = NOTHING

    @classmethod
    def of(cls, tables: Iterable[Table], conditions: Iterable[Scalar], scope: Scope) -> Relation:
        """Return the rows of *tables* that fulfil *conditions*."""
        tables, conditions = tuple(tables), tuple(conditions)
        key = tables, conditions, *scope.key
        found = scope.memo.get(key)
        if not isinstance(found, Relation):
            found = scope.memo[key] = cls(tables, conditions, scope)
        return found

    @property
    def facts(self) -> Facts:
        """What is known of each row."""
        if self._facts is None:
            self._facts = Facts(self.conditions, self.scope, self.never_null)
        return self._facts

    def never_null(self, term: Scalar) -> Premises | None:
        """Say whether an expression is never NULL, by constraints alone."""
        if never_null_alone(term):
            return NOTHING
        if not isinstance(term, Column) or term.source not in self.scope.reach:
            return None
        if term.source in self.scope.optional:
            return None
        query = self.scope.derived.get(term.source)
        if query is None:
            return self.scope.not_null(term)
        return _never_null_in(query, int(term.name), self.scope)

    def equals(self, term: Scalar) -> tuple[frozenset[Scalar], Premises]:
        """
        Return the expressions that equal *term* in each row, as GROUP BY compares.

        Of one kind of values only: a text and the number that it may be read as are equal too,
        but so are several texts and one number.
        """
        if self._classes is None:
            self._classes = {}
            groups, self._rests = self.facts.classes()
            for group in groups:
                self._join(group)
            for condition in self.conditions:
                for part in conjuncts(condition):
                    if is_equation(part) and self.alike(part.left, part.right):
                        self._join((part.left, part.right))
        return self._classes.get(term, frozenset((term,))), self._rests

    def _join(self, terms: Iterable[Scalar]) -> None:
        assert self._classes is not None
        members = frozenset[Scalar]().union(
            *(self._classes.get(term, frozenset((term,))) for term in terms)
        )
        self._classes.update(dict.fromkeys(members, members))

    def alike(self, first: Scalar, second: Scalar) -> bool:
        """Say whether two values are compared without being converted."""
        kinds = self.scope.kind(first), self.scope.kind(second)
        if "unknown" not in kinds:
            return kinds[0] == kinds[1] or _WHOLE.issuperset(kinds)
        return (
            isinstance(first, Column)
            and isinstance(second, Column)
            and first.name == second.name
            and first.source.table == second.source.table != ""
        )

    def determined(self, given: Iterable[Scalar]) -> Determined:
        """Return what some expressions determine."""
        return Determined(self, given)


def is_equation(condition: Node) -> TypeGuard[Comparison]:
    """Say whether a condition is an equality, NaN apart."""
    return (
        isinstance(condition, Comparison)
        and condition.operator == "="
        and not condition.may_be_nan
    )


def _never_null_in(query: Query, place: int, scope: Scope) -> Premises | None:
    if isinstance(query, Sorted):
        return _never_null_in(query.query, place, scope)
    if isinstance(query, SetOperation):
        arms = query.arms if query.operator == "union" else query.arms[:1]
        return every(_never_null_in(arm, place, scope) for arm in arms)
    if isinstance(query, Windowed):
        computed = place >= len(query.query.outputs)
        return None if computed else _never_null_in(query.query, place, scope)
    assert isinstance(query, Select)
    output = query.outputs[place]
    if never_null_alone(output):
        return NOTHING
    if query.keys is None and query.aggregates:
        return None
    facts = Relation.of(query.tables, conjuncts(query.where), scope).facts
    if isinstance(output, Aggregate):
        return None if output.operand is None else facts.never_null(output.operand)
    return facts.never_null(output)


class Determined:
    """What some expressions determine in each row."""

    def __init__(self, relation: Relation, given: Iterable[Scalar]) -> None:
        self.relation = relation
        self.given = dict(map(self._in_one_form, given))
        """What is given, each with what its form rests on."""
        self.sources: dict[Source, Premises] = {}
        """Tables whose row is determined, each with what that rests on."""
        self._grow()

    def _grow(self) -> None:
        scope, before = self.relation.scope, -1
        while before < len(self.sources):
            before = len(self.sources)
            for table in self.relation.tables:
                self._look_at(table)
            for source in sorted_nodes(self.relation.own - self.sources.keys()):
                scope.steps.take()
                for key in scope.keys(source):
                    found = every(self(Column(source, name)) for name in key)
                    if found is not None:
                        is_key = f"{source.table} ({', '.join(key)}) is a key"
                        self.sources[source] = found | {is_key}
                        break

    def _look_at(self, table: Table) -> None:
        """Look at derived tables, and at outer joins that find at most one row."""
        if isinstance(table, Derived) and table.source not in self.sources:
            for key, rests in unique_outputs(table.query, self.relation.scope):
                found = every(self(Column(table.source, str(i))) for i in key)
                if found is not None:
                    self.sources[table.source] = rests | found
                    break
        if isinstance(table, LeftJoins):
            for inner in table.base:
                self._look_at(inner)
            base = self._all(local_sources(table.base))
            for arm in table.arms if base is not None else ():
                own = local_sources((arm,))
                if not self.sources.keys() >= {*own}:
                    found = at_most_one(arm, self.relation.scope)
                    if found is not None and base is not None:
                        self.sources.update(dict.fromkeys(own, found | base))

    def _all(self, sources: Iterable[Source]) -> Premises | None:
        return every(self.sources.get(source) for source in sources)

    def everything(self) -> Premises | None:
        """Say whether no two rows are alike in what is given."""
        return self._all(self.relation.own)

    def __call__(self, term: Scalar) -> Premises | None:
        """Say whether equal values of what is given make equal values of *term*."""
        self.relation.scope.steps.take()
        term, form = self._in_one_form(term)
        equal, rests = self.relation.equals(term)
        if term in self.given:
            return self.given[term] | form
        for other in sorted_nodes(equal) if len(equal) > 1 else equal:
            found = self.given[other] if other in self.given else self._constant(other)
            if found is not None:
                return found | rests
        if isinstance(term, Column | Aggregate | Star | OpenName) or not term.children:
            return self._constant(term)
        if isinstance(term, And | Or | Not | Comparison | IsNull | Case | Arithmetic | Negative):
            return every(
                self(child) if isinstance(child, Scalar) else every(map(self, _values(child)))
                for child in term.children
            )
        return every(self.exactly(n) for n in walk(term) if isinstance(n, _NAMES))

    def _in_one_form(self, term: Scalar) -> tuple[Scalar, Premises]:
        term = unconverted(term)
        computed = isinstance(term, Arithmetic | Negative)
        return self.relation.facts.canonical(term) if computed else (term, NOTHING)

    def _constant(self, term: Scalar) -> Premises | None:
        return NOTHING if is_literal(term) else self._column(term)

    def _column(self, term: Scalar) -> Premises | None:
        if not isinstance(term, Column | Star):
            return None
        if term.source not in self.relation.own:
            return NOTHING
        return self.sources.get(term.source)

    def exactly(self, term: Scalar) -> Premises | None:
        """Say whether what is given makes *term* the same to every function."""
        found = self._constant(term)
        if found is not None:
            return found
        if isinstance(term, Column) and self.relation.scope.exact(term):
            return self(term)
        if isinstance(term, _NAMES) or not term.children:
            return None
        return every(self.exactly(n) for n in walk(term) if isinstance(n, _NAMES))


_NAMES = (Column, Star, OpenName, Aggregate)


def _values(node: Node) -> tuple[Scalar, ...]:
    return (node.condition, node.value) if isinstance(node, When) else ()


def at_most_one(arm: Arm, scope: Scope) -> Premises | None:
    """Say whether an optional side has at most one row for each row around it."""
    relation = Relation.of(arm.tables, conjuncts(arm.condition), scope)
    return relation.determined(()).everything()


def unique_outputs(query: Query, scope: Scope) -> list[tuple[tuple[int, ...], Premises]]:
    """Return sets of outputs, by number, in which the rows of a query differ."""
    if isinstance(query, Sorted):
        if query.limit == 1:
            return [((), NOTHING)]
        inner = unique_outputs(query.query, scope)
        return [(key, rests) for key, rests in inner if all(i < query.width for i in key)]
    if isinstance(query, Windowed):
        return unique_outputs(query.query, scope)  # no window repeats a row
    whole = tuple(range(len(query.outputs)))
    if isinstance(query, SetOperation):
        return [(whole, NOTHING)] if query.distinct else []
    assert isinstance(query, Select)
    whole = tuple(i for i in whole if not is_literal(query.outputs[i]))
    if query.keys is None and query.aggregates:
        return [((), NOTHING)]
    relation = Relation.of(query.tables, conjuncts(query.where), scope)
    if query.keys is not None:
        if {*query.keys} <= {*query.outputs}:
            return [(tuple(query.outputs.index(key) for key in query.keys), NOTHING)]
        given = relation.determined(o for o in query.outputs if not isinstance(o, Aggregate))
        found = every(map(given, query.keys))
        if found is not None:
            return [(whole, found)]
        return [(whole, NOTHING)] * query.distinct
    keys: list[tuple[tuple[int, ...], Premises]] = []
    for i, output in enumerate(query.outputs):
        if isinstance(output, Column):
            found = relation.determined((output,)).everything()
            if found is not None:
                keys.append(((i,), found))
    if query.distinct:
        keys.append((whole, NOTHING))
    elif not keys:
        found = relation.determined(query.outputs).everything()
        keys += [] if found is None else [(whole, found)]
    return keys
