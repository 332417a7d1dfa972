"""What a database may choose: the value of a column of a group, rows behind a LIMIT."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from scorekit._sql.meaning.tree import (
    Aggregate,
    Column,
    Function,
    Node,
    OpenName,
    Ordered,
    Query,
    Scalar,
    Select,
    Star,
    Windowed,
    local_sources,
    walk,
)


def is_settled(query: Query) -> bool:
    """Say whether a query has the same rows in each run, as far as can be seen in it."""
    for node in walk(query):
        if isinstance(node, (Windowed, OpenName)) or (
            isinstance(node, Function) and not node.certain
        ):
            return False
        if isinstance(node, Ordered) and (node.limit is not None or node.offset is not None):
            return False
        if isinstance(node, Select) and bare_columns(node):
            return False
    return True


def bare_columns(
    select: Select, aggregates: Callable[[Function], bool] = lambda _: False
) -> list[Scalar]:
    """
    Return the columns of a group that are neither grouped by nor aggregated.

    The engine takes any row's value, unless the keys of the group determine them.  *aggregates*
    says which other functions may be of all rows.
    """
    if select.keys is None and not select.aggregates:
        return []
    found: list[Scalar] = []
    own, keys = frozenset(local_sources(select.tables)), frozenset(select.keys or ())
    stack = [(part, False) for part in (select.having, *select.outputs)]
    while stack:
        node, inner = cast("tuple[Node, bool]", stack.pop())
        if node in keys or (isinstance(node, Aggregate) and not inner):
            continue
        if isinstance(node, Function) and aggregates(node):
            continue
        if isinstance(node, (Column, Star, OpenName)):
            if not node.sources.isdisjoint(own):
                found.append(node)
            continue
        inner = inner or isinstance(node, Query)
        stack += [(cast("Scalar", child), inner) for child in node.children]
    return found
