"""Rules for conditions, and for whether there is a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from scorekit._sql.meaning.tree import (
    TRUE,
    And,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Derived,
    Exists,
    Function,
    InQuery,
    IsNull,
    Node,
    Not,
    Or,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    Table,
    When,
    conjunction,
    conjuncts,
    has_aggregate,
    local_sources,
    rewritten,
)
from scorekit._sql.prove.logic import negated
from scorekit._sql.prove.normal import Sorted
from scorekit._sql.prove.rule import View, and_where, rule, uses
from scorekit._sql.prove.rules.parts import of_row_around, value_over
from scorekit._sql.prove.scalars import in_order, is_boolean, is_literal

# Conditions and values.


@rule("operands sorted", And, Or, Comparison, Arithmetic, shown=False)
def operands_in_order(node: Scalar, _: View) -> Node | None:
    """AND, OR, =, <>, * and the + of numbers are commutative."""
    return in_order(node)


# Is there a row?


def is_certain(condition: Node) -> bool:
    """Say whether a condition is never NULL, whatever the tables hold."""
    # equivalent: that a condition is true may be asked of what is never NULL, too
    if isinstance(condition, And | Or | Not):
        return all(map(is_certain, condition.children))
    return isinstance(condition, IsNull | Exists) or is_literal(condition, "boolean")


@rule("EXISTS subquery simplified", Exists)
def existence(node: Exists, _: View) -> Node | None:
    """EXISTS asks for rows, not for their values, number or order: so outputs, DISTINCT and a
    LIMIT go, and GROUP BY without HAVING, as a group has a row; an aggregate without GROUP BY
    gives a row always.
    """
    query = node.query
    if isinstance(query, Sorted):
        return Exists(query.query) if query.limit != 0 and not query.offset else None
    if not isinstance(query, Select):
        return None
    if query.keys is None and query.aggregates:
        return TRUE if query.having == TRUE else None
    keys = None if query.having == TRUE else query.keys
    return Exists(attrs.evolve(query, keys=keys, outputs=(), distinct=False))


@rule("EXISTS taken apart", Exists)
def exists_apart(node: Exists, view: View) -> Node | None:
    """What only asks of the row around is asked there, and tables that have nothing to do with
    each other have rows each by themselves.
    """
    query = node.query
    if not isinstance(query, Select) or not query.plain:
        return None
    given, inside = of_row_around(query, view)
    own = local_sources(query.tables)
    outside = [c for c in inside if not uses(c, own)]
    inside = [*given, *(c for c in inside if uses(c, own))]
    parts = _independent(query.tables, inside)
    if len(parts) == 1 and {*inside} == {rewritten(c, in_order) for c in conjuncts(query.where)}:
        return None
    around = view.rows(query.tables, given)
    outside = [
        c if view.mode == "filter" or is_certain(c) else Function("is", (c, TRUE))
        for c in outside
        # equivalent: what follows may be said again
        if not around.implies(c)
    ]
    return conjunction((*outside, *map(Exists, parts)))


def _independent(tables: Iterable[Table], conditions: Sequence[Scalar]) -> list[Select]:
    """Return SELECTs of the tables that conditions, or themselves, connect."""
    parts: list[tuple[Table, ...]] = [(table,) for table in tables]
    for one in (*tables, *conditions):
        met = [part for part in parts if uses(one, local_sources(part))]
        if len(met) > 1:
            parts = [part for part in parts if part not in met]
            parts.append(tuple(table for part in met for table in part))
    return [
        Select(part, conjunction(c for c in conditions if uses(c, local_sources(part))))
        for part in parts
    ]


@rule("IN of one row to an equation", InQuery)
def equation_for_first(node: InQuery, view: View) -> Node | None:
    """What is among the values of one row at most is equal to its value, where NULL is as good as
    false.
    """
    query = node.query
    if view.mode != "filter" or not isinstance(query, Sorted) or len(node.values) != 1:
        return None
    one = (query.limit, query.width) == (1, 1) and bool(query.items)
    return Comparison("=", node.values[0], ScalarQuery(query)) if one else None


@rule("IN to EXISTS", InQuery)
def membership(node: InQuery, view: View) -> Node | None:
    """``x IN (SELECT y ...)`` is true just where EXISTS (SELECT ... WHERE y = x) is; they differ
    only where IN is NULL: no row has y = x, but x or some y is NULL.
    """
    query, these = node.query, node.values
    if any(map(has_aggregate, these)) or isinstance(query, SetOperation):
        return None  # an aggregate must stay with its rows, and arms with their types
    table = Derived(view.fresh(), query)
    columns = [Column(table.source, str(i)) for i in range(len(these))]
    if view.mode != "filter" and not (
        all(map(view.never_null, these)) and all(view.never_null(one, (table,)) for one in columns)
    ):
        return None
    equal = [Comparison("=", *both) for both in zip(columns, these, strict=True)]
    return Exists(and_where(Select((table,)), equal))


@rule("IS NULL of a scalar subquery to NOT EXISTS", IsNull)
def test_of_scalar(node: IsNull, view: View) -> Node | None:
    """A scalar subquery of what is never NULL is NULL just where it finds no row."""
    if not isinstance(node.operand, ScalarQuery):
        return None
    query, limited = node.operand.query, False
    if isinstance(query, Sorted) and query.limit == 1 and not query.offset:
        query, limited = query.query, True
    if not isinstance(query, Select):
        return None
    rows = view.rows_of(query)
    if not (limited or rows.determined(()).everything()):
        return None
    return Not(Exists(query)) if rows.never_null(query.outputs[0]) else None


@rule("scalar subquery without tables replaced by its value", ScalarQuery)
def shorter_scalar(node: ScalarQuery, _: View) -> Node | None:
    """A scalar subquery of no rows is NULL; without tables it is what it puts out, if WHERE is
    true.
    """
    query = node.query
    if isinstance(query, Select) and query.plain and not query.tables:
        (output,) = query.outputs
        return output if query.where == TRUE else Case((When(query.where, output),))
    return None


@rule("NOT of a comparison or of NOT removed", Not, shown=False)
def without_not(node: Not, view: View) -> Node | None:
    """``NOT NOT p`` is p, if p is a condition or only its truth matters, and what is not less than
    another value is at least that, unless one is NULL or NaN.
    """
    inner = node.operand
    if isinstance(inner, Comparison) and not inner.may_be_nan:
        # equivalent: others may be turned, too
        return negated(inner) if any(map(value_over, (inner.left, inner.right))) else None
    known = isinstance(inner, Not) and (view.mode != "value" or is_boolean(inner.operand))
    return inner.operand if isinstance(inner, Not) and known else None
