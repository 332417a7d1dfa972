"""
The normal form of a query: what the prover looks at, and how that reads as SQL again.

It is the tree of `scorekit._sql.tree` but for joins and orders.  Tables stand side by side, and
optional sides beside what they belong to, so that neither order nor brackets are left.  What
ORDER BY sorts by is among the outputs, so that whatever keeps the outputs keeps the order.
"""

from __future__ import annotations

import attrs

from scorekit._sql.tree import (
    TRUE,
    Derived,
    Join,
    Node,
    Ordered,
    OrderItem,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    Source,
    Table,
    Windowed,
    integer,
    rewritten,
    walk,
)


@attrs.frozen(eq=False)
class Arm(Table):
    """The optional side of a left join, or either side of a full one: tables and a condition."""

    tables: tuple[Table, ...]
    condition: Scalar


@attrs.frozen(eq=False)
class LeftJoins(Table):
    """Tables, and for each of their rows those of each arm that match it, or NULLs."""

    base: tuple[Table, ...]
    arms: tuple[Arm, ...]


@attrs.frozen(eq=False)
class FullJoin(Table):
    """Two arms; what is of neither's rows matched by the condition stays, beside NULLs."""

    first: Arm
    second: Arm
    condition: Scalar


@attrs.frozen(eq=False)
class Sorted(Query):
    """The rows of a query in the order of some of its outputs, of which the first are put out."""

    query: Query
    width: int
    items: tuple[OrderItem, ...]
    """Each by a `Place`."""
    limit: int | None = None
    offset: int = 0

    @property
    def bounded(self) -> bool:
        """Whether it takes but a part of the rows."""
        return self.limit is not None or self.offset > 0


def outputs_of(query: Query) -> tuple[Scalar, ...]:
    """Return the outputs of a query; of a set operation those of its first arm."""
    if isinstance(query, Select):
        return query.outputs
    if isinstance(query, SetOperation):
        return outputs_of(query.arms[0])
    if isinstance(query, Sorted):
        return outputs_of(query.query)[: query.width]
    assert isinstance(query, Windowed)
    n = len(outputs_of(query.query))
    windows = tuple(Place(n + i) for i in range(len(query.windows)))
    return (*outputs_of(query.query), *windows)


def exactly_one(query: Query) -> bool:
    """Say whether a query gives one row always: it aggregates and does not group."""
    return (
        isinstance(query, Select)
        and query.keys is None
        and query.aggregates
        and query.having == TRUE
    )


def is_open(node: Node) -> bool:
    """Say whether *node* holds a query that may choose among rows: a copy is another one."""
    return any(
        (isinstance(one, Sorted) and one.bounded)
        or (isinstance(one, Derived) and one.shared)
        or (isinstance(one, ScalarQuery) and not exactly_one(one.query))
        for one in walk(node)
    )


# As SQL writes it.


def as_written(node: Node) -> Node:
    """Return *node* with joins and orders as SQL writes them."""
    return rewritten(node, _as_written)


def _as_written(node: Node) -> Node:
    if isinstance(node, LeftJoins):
        left = _product(node.base)
        for arm in node.arms:
            left = Join("left", left, _product(arm.tables), arm.condition)
        return left
    if isinstance(node, FullJoin):
        first, second = (_filtered(arm) for arm in (node.first, node.second))
        return Join("full", first, second, node.condition)
    if isinstance(node, Sorted):
        bounds = (
            None if node.limit is None else integer(node.limit),
            integer(node.offset) if node.offset else None,
        )
        query, items = node.query, node.items
        if isinstance(query, Select):
            places = [item.value.number for item in items if isinstance(item.value, Place)]
            items = tuple(
                attrs.evolve(item, value=query.outputs[place])
                for item, place in zip(items, places, strict=True)
            )
            query = attrs.evolve(query, outputs=query.outputs[: node.width])
        return Ordered(query, items, *bounds)
    return node


def _filtered(arm: Arm) -> Table:
    """Return the rows of a side that its condition keeps."""
    if arm.condition == TRUE:
        return _product(arm.tables)
    one = Derived(Source(f"one of {arm.order!r}"), Select(()))
    return Join("inner", one, _product(arm.tables), arm.condition)


def _product(tables: tuple[Table, ...]) -> Table:
    first, *others = tables
    for other in others:
        first = Join("inner", first, other, TRUE)
    return first
