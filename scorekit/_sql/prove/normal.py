"""
The normal form of a query: what the prover looks at.

It is the tree of `scorekit._sql.meaning.tree` but for joins and orders.  Tables stand side by
side, and optional sides beside what they belong to, so that neither order nor brackets are left.
What ORDER BY sorts by is among the outputs, so that whatever keeps the outputs keeps the order.
"""

from __future__ import annotations

from typing import TypeGuard, cast

import attrs

from scorekit._sql.meaning.tree import (
    TRUE,
    Derived,
    Node,
    OrderItem,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    Table,
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
    def outputs(self) -> tuple[Scalar, ...]:
        """The first outputs of its query."""
        return self.query.outputs[: self.width]

    @property
    def places(self) -> tuple[int, ...]:
        """The outputs that it sorts by, in the order of its items."""
        return tuple(cast("Place", item.value).number for item in self.items)

    @property
    def bounded(self) -> bool:
        """Whether it takes but a part of the rows."""
        return self.limit is not None or self.offset > 0


@attrs.frozen(eq=False)
class As(Scalar):
    """
    A value as one of the type of an aggregate of it.

    It equals the value but has another type: dividing a mean is not dividing a whole number.
    """

    type: str
    value: Scalar


def unconverted(value: Scalar) -> Scalar:
    """Return what equals a value, of its own type."""
    return unconverted(value.value) if isinstance(value, As) else value


def exactly_one(query: Query) -> TypeGuard[Select]:
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
