"""
The framework: it alone applies rules, everywhere in a query, and keeps what they rest on.

A query is rewritten from the inside outwards, each node by the rules for its kind in the order of
`rules/order.py`, and all over again until nothing changes or it has cost too many steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import count
from typing import Final, cast

from scorekit._sql.meaning.tree import (
    And,
    Node,
    Not,
    Or,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    Table,
    When,
    Windowed,
    has_aggregate,
)
from scorekit._sql.meaning.unsettled import bare_columns
from scorekit._sql.prove.logic import Mode
from scorekit._sql.prove.normal import Arm, Sorted
from scorekit._sql.prove.rule import Rule, View
from scorekit._sql.prove.rules.groups import determined_keys
from scorekit._sql.prove.rules.joins import flat_joins, inlined
from scorekit._sql.prove.rules.order import USUAL
from scorekit._sql.prove.scope import ExhaustedError, Scope, UnsupportedError

_FIRST: Final = (inlined, determined_keys)
"""Rules after which no column may be neither grouped by nor aggregated."""

MAX_ROUNDS: Final = 16
"""Passes over a query before it is taken as it is."""

NODES_A_STEP: Final = 64
"""Size of a query that takes one step more to be looked at by a rule."""

MAX_SIZE: Final = 6_000
"""Nodes of the largest query that is rewritten any further."""


@cache
def _by_kind(rules: tuple[Rule, ...]) -> dict[type[Node], list[Rule]]:
    """Return the rules for each kind of node, in their order."""
    found: dict[type[Node], list[Rule]] = {}
    for one in rules:
        for kind in one.on:
            found.setdefault(kind, []).append(one)
    return found


class Rewriting:
    """Rewrites one query, and keeps what that rests on and the names of the rules that applied."""

    def __init__(self, scope: Scope, letter: str = "", rules: Iterable[Rule] = USUAL) -> None:
        self._scope = scope
        self._names = (f"f{letter}{i}" for i in count())
        rules = tuple(rules)
        self._rules = _by_kind(rules)
        names = {one.name for one in _FIRST}
        self._flat = [one for one in rules if one.name == flat_joins.name]
        self._first = [one for one in rules if one.name in names]
        self.rests: set[str] = set()
        self.steps: list[str] = []
        self._settled: set[tuple[object, ...]] = set()
        """What no rule has changed, and where it stands."""

    def run(self, query: Query) -> Query:
        """Return a query rewritten until nothing changes any more."""
        for _ in range(MAX_ROUNDS):
            before, query = query, self._query(query, self._scope)
            if query == before:
                break
        return query

    def _applied(self, node: Node, view: View, rules: Iterable[Rule] | None = None) -> Node:
        """Return *node* after the rules for its kind, up to one that makes another kind of it."""
        for one in self._rules.get(type(node), ()) if rules is None else rules:
            self._scope.steps.take(1 + node.size // NODES_A_STEP)
            view.rests = frozenset()
            found = one(node, view)
            if found is None:
                continue
            new, rests = found
            if new.size > MAX_SIZE:
                raise ExhaustedError
            self.rests |= rests
            if one.shown:
                self.steps.append(one.name)
            if type(new) is not type(node):
                return new
            node = new
        return node

    # Queries.

    def _query(
        self,
        query: Query,
        scope: Scope,
        *,
        repeats: bool = True,
        arm: bool = False,
    ) -> Query:
        key = query, repeats, arm, *scope.key
        if key in self._settled:
            return query
        view = View(scope, repeats=repeats, arm=arm, names=self._names)
        new: Query
        if isinstance(query, Select):
            new = self._select(query, scope, view)
        elif isinstance(query, SetOperation):
            matters = repeats if query.operator == "union" and not query.distinct else True
            matters = matters and not query.distinct
            arms = (
                self._query(one, scope, repeats=matters, arm=query.operator == "union")
                for one in query.arms
            )
            new = cast("Query", self._applied(query.with_children(arms), view))
        elif isinstance(query, Sorted):
            first = (query.limit, query.offset) == (1, 0)  # which does not hang on how many follow
            matters = (repeats or query.bounded) and not first
            inner = self._query(query.query, scope, repeats=matters)
            new = cast("Query", self._applied(query.with_children((inner, *query.items)), view))
        else:
            assert isinstance(query, Windowed)
            inner = self._query(query.query, scope)
            new = cast("Query", self._applied(query.with_children((inner, *query.windows)), view))
        if new == query:
            self._settled.add(key)
        return new

    def _select(self, select: Select, scope: Scope, view: View) -> Query:
        select = cast("Select", self._applied(select, view, self._flat))
        inside = scope.inside(select.tables)
        tables = tuple(self._table(table, inside) for table in select.tables)
        having = self._scalar(select.having, inside, "filter")
        outputs = tuple(self._scalar(output, inside, "value") for output in select.outputs)
        if select.aggregates and not any(map(has_aggregate, (having, *outputs))):
            having, outputs = select.having, select.outputs  # or a row for each row, not one
        keys = select.keys
        if keys is not None:
            keys = tuple(self._scalar(key, inside, "value") for key in keys)
        where = self._scalar(select.where, inside, "filter")
        new: Node = Select(tables, where, keys, having, outputs, select.distinct)
        new = self._applied(new, view, self._first)
        if isinstance(new, Select) and bare_columns(new):
            raise UnsupportedError  # any row of a group may give its value
        return cast("Query", self._applied(new, view))

    def _table(self, table: Table, scope: Scope) -> Table:
        if isinstance(table, Arm):
            scope = scope.inside(table.tables)
        parts = tuple(self._part(child, scope) for child in table.children)
        return table if parts == table.children else table.with_children(parts)

    def _part(self, part: Node, scope: Scope) -> Node:
        if isinstance(part, Query):
            return self._query(part, scope)
        if isinstance(part, Table):
            return self._table(part, scope)
        return self._scalar(part, scope, "filter") if isinstance(part, Scalar) else part

    # Expressions.

    def _scalar(self, node: Scalar, scope: Scope, mode: Mode) -> Scalar:
        if not node.children:
            return node
        key = node, mode, *scope.key
        if key in self._settled:
            return node
        scope.steps.take()
        parts = tuple(self._inside(child, node, scope, mode) for child in node.children)
        new = node if parts == node.children else node.with_children(parts)
        new = cast("Scalar", self._applied(new, View(scope, mode=mode, names=self._names)))
        if new == node:
            self._settled.add(key)
        elif type(new) is not type(node):
            return self._scalar(new, scope, mode)
        return new

    def _inside(self, child: Node, node: Node, scope: Scope, mode: Mode) -> Node:
        """Return an operand rewritten, by what matters of it."""
        if isinstance(child, Query):
            return self._query(child, scope, repeats=isinstance(node, ScalarQuery))
        if isinstance(child, When):
            condition = self._scalar(child.condition, scope, "filter")
            return When(condition, self._scalar(child.value, scope, "value"))
        if not isinstance(child, Scalar):
            return child
        if isinstance(node, And | Or):
            return self._scalar(child, scope, "bool" if mode == "value" else mode)
        return self._scalar(child, scope, "bool" if isinstance(node, Not) else "value")
