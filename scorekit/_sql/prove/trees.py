"""What is asked of a syntax tree before it is read: its size, and that each part is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from scorekit._sql.prove.terms import UnsupportedError

MAX_NODES: Final = 3_000
"""Nodes of the largest syntax tree that is looked into."""

MAX_DEPTH: Final = 80
"""Depth of the deepest one; a chain of AND, OR or set operations counts as one level."""


def check_tree(tree: exp.Expr) -> None:
    """Raise `UnsupportedError` if a syntax tree is too large or too deep."""
    stack, n_nodes = [(tree, 0)], 0
    while stack:
        node, depth = stack.pop()
        n_nodes += 1
        if n_nodes > MAX_NODES or depth > MAX_DEPTH:
            raise UnsupportedError
        chained = isinstance(node, (exp.And, exp.Or, exp.SetOperation))
        stack += [
            (child, depth + (not chained or type(child) is not type(node)))
            for child in _children(node)
        ]


def _children(node: exp.Expr) -> Iterator[exp.Expr]:
    for value in node.args.values():
        for child in value if isinstance(value, list) else (value,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(child, exp.Expr):
                yield child


def parts_of(node: exp.Expr) -> list[str]:
    """Return the keys of the arguments that are there."""
    return [key for key, value in node.args.items() if value not in (None, False, [])]


def check_parts(node: exp.Expr, known: frozenset[str]) -> None:
    """Raise `UnsupportedError` if *node* has an argument that the prover does not know."""
    if not known.issuperset(parts_of(node)):
        raise UnsupportedError
