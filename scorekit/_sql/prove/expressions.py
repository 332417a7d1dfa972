"""
Rules on expressions.

SQL's AND, OR and NOT are minimum, maximum and reflection on false < NULL < true, so whatever
holds in that lattice holds for them.  Where only truth matters (``filter``: WHERE, HAVING, ON,
WHEN), NULL and false are one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import attrs

from scorekit._sql.prove.logic import Mode, negated
from scorekit._sql.prove.normal import Sorted
from scorekit._sql.prove.rule import View, aggregates_of, and_where, rule
from scorekit._sql.prove.scalars import folded, in_order, is_boolean, is_literal
from scorekit._sql.prove.scope import NUMBERS, never_null_alone
from scorekit._sql.tree import (
    FALSE,
    NULL,
    TRUE,
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Derived,
    Exists,
    InQuery,
    IsNull,
    Like,
    Literal,
    Negative,
    Node,
    Not,
    Or,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    When,
    has_aggregate,
)

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


@rule("operands in order", And, Or, Comparison, Arithmetic, told=False)
def operands_in_order(node: Scalar, view: View) -> Node | None:
    """AND, OR, =, <>, + and * are commutative; + is where it does not join texts."""
    if isinstance(node, Arithmetic) and node.operator == "+?":
        kinds = {view.kind(node.left), view.kind(node.right)}
        return attrs.evolve(node, operator="+") if kinds & NUMBERS else None
    return in_order(node)


@rule("AND and OR shortened", And, Or, told=False)
def shorter_connective(node: And | Or, view: View) -> Node | None:
    """Both are associative and idempotent; true, or false, is neutral or decides, NULL included;
    ``p AND (p OR q)`` is p: the laws of a lattice.
    """
    kind, other = type(node), Or if isinstance(node, And) else And
    neutral, deciding = (TRUE, FALSE) if kind is And else (FALSE, TRUE)
    parts: dict[Scalar, None] = {}
    for part in node.parts:
        parts.update(dict.fromkeys(part.parts if isinstance(part, kind) else (part,)))
    if deciding in parts or (view.mode == "filter" and kind is And and NULL in parts):
        return deciding
    parts.pop(neutral, None)
    if view.mode == "filter" and kind is Or:
        parts.pop(NULL, None)
    kept = [
        part
        for part in parts
        if not (isinstance(part, other) and any(one in parts for one in part.parts))
    ]
    if not kept:
        return neutral
    if len(kept) == 1 and (view.mode != "value" or is_boolean(kept[0])):
        return kept[0]
    return kind(tuple(kept))


@rule("NOT moved inward", Not, told=False)
def without_not(node: Not, view: View) -> Node | None:
    """De Morgan's laws hold in the lattice; ``NOT a < b`` is ``b <= a``, as both are NULL for the
    same operands and values are totally ordered; ``NOT NOT p`` is p if p is a condition.
    """
    return _negated(node.operand, view.mode)


def _negated(term: Scalar, mode: Mode) -> Scalar:
    if isinstance(term, And | Or):
        parts = tuple(_negated(part, "bool") for part in term.parts)
        return Or(parts) if isinstance(term, And) else And(parts)
    if isinstance(term, Comparison) and (not term.may_be_nan or term.operator in ("=", "<>")):
        return negated(term)
    if isinstance(term, Not) and (mode != "value" or is_boolean(term.operand)):
        return term.operand
    constants = {TRUE: FALSE, FALSE: TRUE, NULL: NULL}
    return constants[term] if isinstance(term, Literal) and term in constants else Not(term)


@rule("comparison of constants", Comparison, told=False)
def folded_comparison(node: Comparison, view: View) -> Node | None:
    """Two whole numbers compare exactly; a comparison with NULL is NULL, hence never true."""
    left, right = node.left, node.right
    if NULL in (left, right):
        return FALSE if view.mode == "filter" else NULL
    if not (isinstance(left, Literal) and isinstance(right, Literal)):
        return None
    if not left.kind == right.kind == "integer":
        return None
    return TRUE if _COMPARE[node.operator](int(left.text), int(right.text)) else FALSE


@rule("comparison of a column with itself", Comparison, told=False)
def reflexive(node: Comparison, view: View) -> Node | None:
    """Where only truth matters ``x = x`` says that x is not NULL, and ``x < x`` is never true."""
    same = node.left == node.right and isinstance(node.left, Column)
    if view.mode != "filter" or not same or node.may_be_nan:
        return None
    return Not(IsNull(node.left)) if node.operator in ("=", "<=") else FALSE


@rule("sum of constants", Arithmetic, Negative, told=False)
def folded_sum(node: Scalar, view: View) -> Node | None:
    """Whole numbers too small to overflow anywhere are added and multiplied exactly."""
    del view
    return folded(node)


@rule("shorter list", Among, told=False)
def shorter_list(node: Among, view: View) -> Node | None:
    """A value that is in a list twice is in it."""
    del view
    return attrs.evolve(node, values=tuple(dict.fromkeys(node.values)))


@rule("CASE shortened", Case, told=False)
def shorter_case(node: Case, view: View) -> Node | None:
    """A branch that is never taken goes, and so do those after one that always is, where another
    one is of its type; a column stays in CASE, as alone it would lend SQLite its affinity.
    """
    if (
        len(node.whens) == 1
        and (node.whens[0].value, node.default) == (TRUE, FALSE)
        and _two_valued(node.whens[0].condition)
    ):
        return node.whens[0].condition
    del view
    default, kept = node.default, list[When]()
    for when in node.whens:
        if when.condition == TRUE:
            default = when.value
            break
        if when.condition not in (FALSE, NULL):
            kept.append(when)
    values = [*(when.value for when in kept), default]
    of_one_type = all(
        value in values
        or value == NULL
        or (
            isinstance(value, Literal)
            and value.kind in ("integer", "text")
            and any(is_literal(other, value.kind) for other in values)
        )
        for value in (*(when.value for when in node.whens), node.default)
    )
    if not of_one_type or not (kept or is_literal(default) or is_boolean(default)):
        return None
    return Case(tuple(kept), default) if kept else default


@rule("simplest form of an aggregate", Aggregate, told=False)
def simpler_aggregate(node: Aggregate, view: View) -> Node | None:
    """What is aggregated needs no affinity, so ``CASE WHEN TRUE THEN x END`` is x; COUNT of what
    is never NULL counts rows; the least and the greatest value of a bag are those of its set.
    """
    this = node.operand
    if isinstance(this, Case) and this.whens[0].condition == TRUE:
        rest = [*(when.value for when in this.whens[1:]), this.default]
        if all(value == NULL for value in rest):
            return attrs.evolve(node, operand=this.whens[0].value)
    if node.function in ("min", "max") and node.distinct:
        return attrs.evolve(node, distinct=False)
    if (
        node.function == "count"
        and this is not None
        and not node.distinct
        and view.never_null(this)
    ):
        return Aggregate("count")
    return None


@rule("test of what is never NULL", IsNull, told=False)
def folded_null_test(node: IsNull, view: View) -> Node | None:
    """``x IS NULL`` is false if x is never NULL: a literal, a count, a test, or by NOT NULL or a
    key, unless an outer join fills its row up.
    """
    this = node.operand
    if this == NULL:
        return TRUE
    if isinstance(this, Case) and len(this.whens) == 1 and this.default == NULL:
        when = this.whens[0]
        if _two_valued(when.condition) and never_null_alone(when.value):
            return Not(when.condition)
    return FALSE if view.never_null(this) else None


def _two_valued(condition: Scalar) -> bool:
    """Say whether a condition is never NULL."""
    if isinstance(condition, Not):
        return _two_valued(condition.operand)
    return isinstance(condition, Exists | IsNull) or condition in (TRUE, FALSE)


# What must not be NULL for a condition to be true.


def strict_parts(condition: Scalar) -> frozenset[Scalar]:
    """
    Return expressions that cannot be NULL where *condition* is true.

    Comparisons, sums and products are NULL if an operand is.
    """
    none = frozenset[Scalar]()
    if isinstance(condition, And):
        return none.union(*map(strict_parts, condition.parts))
    if isinstance(condition, Or):
        return frozenset[Scalar].intersection(*map(strict_parts, condition.parts))
    if isinstance(condition, Comparison):
        return _null_makers(condition.left) | _null_makers(condition.right)
    if isinstance(condition, InQuery):
        return none.union(*map(_null_makers, condition.values))
    if isinstance(condition, Among):
        return _null_makers(condition.operand)
    if isinstance(condition, Not):
        inner = condition.operand
        if isinstance(inner, IsNull):
            return _null_makers(inner.operand)
        return _null_makers(inner) if isinstance(inner, Like) else none
    return _null_makers(condition) if isinstance(condition, Like) else none


def _null_makers(value: Scalar) -> frozenset[Scalar]:
    """Return the parts of *value*, itself included, that make it NULL if they are."""
    found = frozenset({value})
    if isinstance(value, Like) or (isinstance(value, Arithmetic) and value.operator in "+?*-"):
        parts = (child for child in value.children if isinstance(child, Scalar))
        found = found.union(*map(_null_makers, parts))
    return found


@rule("implied null test dropped", And, told=False)
def without_implied_null_tests(node: And, view: View) -> Node | None:
    """``x IS NOT NULL AND x > 1`` is true where ``x > 1`` is: a comparison with NULL is not."""
    if view.mode != "filter":
        return None

    def tested(part: Scalar) -> Scalar | None:
        test = isinstance(part, Not) and isinstance(part.operand, IsNull)
        return part.operand.operand if test else None  # type: ignore[attr-defined]

    strict = frozenset[Scalar]().union(
        *(strict_parts(part) for part in node.parts if tested(part) is None)
    )
    kept = [part for part in node.parts if tested(part) is None or tested(part) not in strict]
    return And(tuple(kept)) if len(kept) > 1 else kept[0]


# Is there a row?


def is_empty(query: Query) -> bool:
    """Say whether a query is the one without rows."""
    return (
        isinstance(query, Select)
        and query.where == FALSE
        and not (query.keys is None and query.aggregates)
    )


@rule("EXISTS of no more than is asked", Exists)
def existence(node: Exists, view: View) -> Node | None:
    """EXISTS asks for rows, not for their values, number or order: so outputs, DISTINCT and a
    LIMIT go, and GROUP BY without HAVING, as a group has a row; an aggregate without GROUP BY
    gives a row always; a row without tables is there if its condition is true.
    """
    query = node.query
    if isinstance(query, Sorted):
        return Exists(query.query) if query.limit != 0 and not query.offset else None
    if not isinstance(query, Select):
        return None
    if is_empty(query):
        return FALSE
    if query.keys is None and query.aggregates:
        return TRUE if query.having == TRUE else None
    if not query.tables and query.plain:
        if query.where == TRUE or view.mode == "filter":
            return query.where
        return Case((When(query.where, TRUE),), FALSE)
    keys = None if query.having == TRUE else query.keys
    return Exists(attrs.evolve(query, keys=keys, outputs=(), distinct=False))


@rule("EXISTS of a union is OR", Exists)
def existence_in_union(node: Exists, view: View) -> Node | None:
    """A union has a row if one of its arms has."""
    del view
    query = node.query
    if isinstance(query, SetOperation) and query.operator == "union":
        return Or(tuple(map(Exists, query.arms)))
    return None


@rule("IN of a union is OR", InQuery)
def membership_in_union(node: InQuery, view: View) -> Node | None:
    """``x IN (a UNION b)`` is ``x IN (a) OR x IN (b)``, also where one of them is NULL."""
    del view
    query = node.query
    if isinstance(query, SetOperation) and query.operator == "union":
        return Or(tuple(attrs.evolve(node, query=arm) for arm in query.arms))
    return None


@rule("IN to EXISTS", InQuery)
def membership(node: InQuery, view: View) -> Node | None:
    """``x IN (SELECT y ...)`` is true just where EXISTS (SELECT ... WHERE y = x) is; they differ
    only where IN is NULL: no row has y = x, but x or some y is NULL.
    """
    query, these = node.query, node.values
    if any(map(has_aggregate, these)):  # that must stay with its rows
        return None
    if isinstance(query, Select) and query.plain:
        rows = view.rows_of(query)
        if view.mode != "filter" and not (
            all(map(view.never_null, these)) and all(map(rows.never_null, query.outputs))
        ):
            return None
        equal = [
            Comparison("=", value, this) for value, this in zip(query.outputs, these, strict=True)
        ]
        return Exists(and_where(attrs.evolve(query, outputs=()), equal))
    if view.mode != "filter" or isinstance(query, SetOperation):
        return None
    source = view.fresh()
    equal = [Comparison("=", Column(source, str(i)), this) for i, this in enumerate(these)]
    return Exists(and_where(Select((Derived(source, query),)), equal))


@rule("test of a scalar subquery to EXISTS", IsNull)
def test_of_scalar(node: IsNull, view: View) -> Node | None:
    """A scalar subquery of what is never NULL is NULL just where it finds no row."""
    if not isinstance(node.operand, ScalarQuery):
        return None
    query, limited = node.operand.query, False
    if isinstance(query, Sorted) and query.limit == 1 and not query.offset:
        query, limited = query.query, True
    if not isinstance(query, Select) or query.aggregates or query.keys is not None:
        return None
    rows = view.rows_of(query)
    if not (limited or rows.determined(()).everything()):
        return None
    return Not(Exists(query)) if rows.never_null(query.outputs[0]) else None


_SOME_ROW = {("<", 0, "right"): True, ("<=", 1, "right"): True, ("<>", 0, ""): True}
_NO_ROW = {("=", 0, ""): False, ("<", 1, "left"): False, ("<=", 0, "left"): False}


@rule("test of a count to EXISTS", Comparison)
def test_of_count(node: Comparison, view: View) -> Node | None:
    """``(SELECT COUNT(*) ...) > 0`` asks whether there is a row; a count is never NULL."""
    del view
    for scalar, number, side in (
        (node.left, node.right, "left"),
        (node.right, node.left, "right"),
    ):
        if not isinstance(scalar, ScalarQuery) or not isinstance(number, Literal):
            continue
        query = scalar.query
        if not isinstance(query, Select) or number.kind != "integer" or query.keys is not None:
            continue
        key = node.operator, int(number.text), "" if node.operator in ("=", "<>") else side
        wanted = {**_SOME_ROW, **_NO_ROW}.get(key)
        (output,) = query.outputs
        counts = isinstance(output, Aggregate) and output.function == "count"
        if wanted is None or not counts or query.having != TRUE:
            continue
        tests = [Not(IsNull(agg.operand)) for agg in aggregates_of(output) if agg.operand]
        exists = Exists(and_where(attrs.evolve(query, outputs=()), tests))
        return exists if wanted else Not(exists)
    return None


@rule("scalar subquery of one row or none", ScalarQuery)
def shorter_scalar(node: ScalarQuery, view: View) -> Node | None:
    """A scalar subquery of no rows is NULL; without tables it is what it puts out, if WHERE is
    true.
    """
    del view
    query = node.query
    if is_empty(query):
        return NULL
    if isinstance(query, Select) and query.plain and not query.tables:
        (output,) = query.outputs
        return output if query.where == TRUE else Case((When(query.where, output),))
    return None


@rule("first value in an order to MAX or MIN", ScalarQuery)
def extreme_for_first(node: ScalarQuery, view: View) -> Node | None:
    """The first of values in their own order is the greatest or the least, where none is NULL."""
    query = node.query
    if not isinstance(query, Sorted) or query.limit != 1 or query.offset or len(query.items) != 1:
        return None
    (item,), inner = query.items, query.query
    if item.value != Place(0) or not isinstance(inner, Select) or not inner.plain:
        return None
    value = inner.outputs[0]
    fits = view.kind(value, inner.tables) in (*NUMBERS, "text", "time")
    if not (fits and view.exact(value, inner.tables) and view.rows_of(inner).never_null(value)):
        return None
    extreme = Aggregate("max" if item.descending else "min", value)
    return ScalarQuery(attrs.evolve(inner, outputs=(extreme,)))
