"""What is read of syntax trees, and how it is said that one cannot be read."""

from __future__ import annotations

from sqlglot import exp

from scorekit._sql.meaning.tree import Literal, OrderItem, Scalar


class UnreadError(Exception):
    """A query holds something whose meaning is not known well enough to reason about it."""


class RefusedError(UnreadError):
    """A query that no database plans: it names what is not there, or what may not stand there."""


class InvalidError(RefusedError):
    """A query that no version of a database plans, whatever its schema has besides."""


class TooLargeError(UnreadError):
    """A query is too large to be read, or to be looked into."""


def parts_of(node: exp.Expr) -> list[str]:
    """Return the keys of the arguments that are there."""
    return [key for key, value in node.args.items() if value not in (None, False, [])]


def check_arguments(node: exp.Expr, *known: str) -> None:
    """Raise `UnreadError` if *node* has an argument that is not known."""
    for key in parts_of(node):
        if key not in known:
            raise UnreadError(f"{key.strip('_')} of {type(node).__name__} is not known")


def type_name(node: exp.Expr) -> str:
    """Return the name of a type: two have the same only where they are the same."""
    if not isinstance(node, exp.DataType) or not isinstance(node.this, exp.DType):
        return node.sql()
    others = sorted({*parts_of(node)} - {"this", "expressions"})
    listed = [*map(type_name, node.expressions), *(f"{key}={node.args[key]}" for key in others)]
    return node.this.name + (f"({', '.join(listed)})" if listed else "")


def chain_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a chain of the same connector, in their order."""
    found: list[exp.Expr] = []
    stack = [node]
    while stack:
        part = stack.pop()
        bare = part
        while isinstance(bare, exp.Paren):
            bare = bare.this
        if type(bare) is type(node):
            stack += [bare.expression, bare.this]
        else:
            found.append(part)
    return found


def is_bare(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not node.table


_INT_DIGITS = 18


def literal_of(node: exp.Literal) -> Literal:
    text: str = node.this
    if node.is_string:
        return Literal("text", text)
    if text.isascii() and text.isdigit() and len(text) <= _INT_DIGITS:
        return Literal("integer", str(int(text)))
    return Literal("number", text)


def ordered_nodes(tree: exp.Expr) -> list[exp.Expr]:
    """Return the items of an ORDER BY."""
    order = tree.args.get("order")
    if order is None:
        return []
    check_arguments(order, "expressions")
    for node in order.expressions:
        if not isinstance(node, exp.Ordered):
            raise UnreadError("an ORDER BY that is not known")
        check_arguments(node, "this", "desc", "nulls_first")
    return list(order.expressions)


def order_item(node: exp.Expr, value: Scalar) -> OrderItem:
    return OrderItem(value, bool(node.args.get("desc")), node.args.get("nulls_first") or False)
