"""
Rules for aggregates over the rows that share a key.

However it is written, such an aggregate is a scalar subquery over the rows that belong to the
row around it, and whether there are any is EXISTS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import eq, le, lt, ne
from typing import Any, Final, TypeVar

import attrs

from scorekit._sql.databases.kinds import NUMBERS
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    TRUE,
    Aggregate,
    And,
    Arithmetic,
    Case,
    Column,
    Comparison,
    Derived,
    Exists,
    Function,
    IsNull,
    Literal,
    Node,
    Not,
    Or,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    Source,
    Star,
    When,
    conjunction,
    conjuncts,
    found_in,
    free_sources,
    has_aggregate,
    local_sources,
    replaced,
    rewritten,
    sorted_nodes,
)
from scorekit._sql.prove.dependencies import is_equation
from scorekit._sql.prove.logic import negated, with_canonical_names
from scorekit._sql.prove.normal import Arm, As, Sorted, exactly_one, is_open, unconverted
from scorekit._sql.prove.rule import (
    Rows,
    View,
    aggregates_in,
    aggregates_of,
    and_where,
    of_groups,
    parts_of_groups,
    rule,
    uses,
    with_aggregates,
)
from scorekit._sql.prove.rules.parts import (
    ONE,
    ROWS,
    ZERO,
    each_condition,
    in_place,
    is_null,
    left_arms,
    left_joined,
    null_with_its_row,
    of_one_row,
    of_row_around,
    only_key,
    operand_of,
    own_derived,
    per_row_subquery,
    repeats,
    respects_equality_of,
    same_value,
    sides_of,
    value_over,
    with_tables,
    witness_of,
)
from scorekit._sql.prove.scalars import against_number, in_order, is_literal, number_of
from scorekit._sql.prove.scope import never_null_alone

_N = TypeVar("_N", bound=Node)


# Aggregates over the rows that share a key.


def outside_aggregates(part: Scalar) -> Scalar:
    """Return an expression with NULL for what it aggregates."""
    return with_aggregates(part, dict.fromkeys(aggregates_of(part), NULL))


@rule("aggregates of a subquery taken apart", ScalarQuery)
def single_aggregates(node: ScalarQuery, view: View) -> Node | None:
    """A query that aggregates all of its rows has one row always, so that each of its aggregates
    is a subquery of its own; of at most one row it is the value there, or says if there is one.
    """
    query = node.query
    if not exactly_one(query) or is_open(query):
        return None
    (output,) = query.outputs
    apart = view.rows_of(query).apart(query)
    if not isinstance(output, Aggregate) or apart != query:
        return per_row_subquery(apart.outputs[0], apart, view)
    given, inside = of_row_around(query, view)
    if {*given, *inside} != {rewritten(c, in_order) for c in conjuncts(query.where)}:
        return ScalarQuery(attrs.evolve(query, where=conjunction((*given, *inside))))
    rows = view.rows_of(query)
    value = of_one_row(output, rows)
    if value is None or not rows.determined(()).everything():
        return None
    if output.function == "count":
        one = [Not(IsNull(output.operand))] if output.operand is not None else []
        those = and_where(attrs.evolve(query, outputs=()), one)
        return Case((When(Exists(those), ONE),), ZERO)
    single = ScalarQuery(attrs.evolve(query, outputs=(unconverted(value),)))
    return As(value.type, single) if isinstance(value, As) else single


@rule("condition of a subquery known around it removed", Select)
def known_around(select: Select, view: View) -> Node | None:
    """What a subquery asks of the row around it is true of each row that it is asked of, or is
    not, as a column is never NULL there.
    """
    conditions = conjuncts(select.where)
    for part in (*select.outputs, *conditions):
        for query in outermost(part, Query):
            if not isinstance(query, Select):
                continue
            own = local_sources(query.tables)
            rows = view.rows(select.tables, (c for c in conditions if c is not part))
            for condition, rest in each_condition(query):
                # equivalent: of other conditions nothing is known here
                if not uses(condition, own) and rows.implies(condition):
                    return replaced(select, {query: rest})
                for test in outermost(condition, IsNull):
                    # equivalent: of other tests nothing is known here
                    if not uses(test, own) and rows.never_null(test.operand):
                        return replaced(select, {query: replaced(query, {test: FALSE})})
    return None


@rule("single-row subquery to left join", Select)
def arms_for_scalars(select: Select, view: View) -> Node | None:
    """A subquery of at most one row is an optional side, NULL where it finds none."""
    parts = (select.where, *(() if select.keys or select.aggregates else select.outputs))
    found = dict.fromkeys(one for part in parts for one in outermost(part, ScalarQuery))
    for scalar in found:
        query, inside = scalar.query, view.inside(select.tables)
        if not isinstance(query, Select) or not query.plain or is_open(query):
            continue
        own, its = local_sources(select.tables), local_sources(query.tables)
        if not its or not uses(scalar, own) or not null_with_its_row(query.outputs[0], its):
            continue
        if inside.rows_of(query).determined(()).everything():
            tables = left_joined([*select.tables], Arm(query.tables, query.where))
            where, *outputs = (
                replaced(part, {scalar: query.outputs[0]})
                for part in (select.where, *select.outputs)
            )
            return attrs.evolve(select, tables=tuple(tables), where=where, outputs=tuple(outputs))
    return None


def outermost(node: Node, kind: type[_N]) -> Iterator[_N]:
    """Yield the nodes of a kind in an expression, but for those inside of subqueries."""
    if isinstance(node, kind):
        yield node
    elif not isinstance(node, Query):
        for child in node.children:
            yield from outermost(child, kind)


@rule("grouped derived table to scalar subqueries", Select)
def values_for_derived(select: Select, view: View) -> Node | None:
    """A row outside that names all keys of a derived table's groups meets one group at most: its
    aggregates are values of the rows with these keys, and it is there where they are.
    """
    rows = None
    for table in own_derived(select) if len(select.tables) > 1 else ():
        rows = rows or view.rows_of(select)
        rest = with_tables(select, (other for other in select.tables if other is not table))
        found = _single_group(
            table, conjuncts(select.where), (attrs.evolve(rest, where=TRUE),), rows
        )
        if found is not None:
            tests, left, new = found
            return replaced(attrs.evolve(rest, where=conjunction((*left, *tests))), new)
    for arm, others in left_arms(select):
        rows = rows or view.rows_of(select)
        rest = with_tables(select, others)
        side, *more = arm.tables
        if more or not isinstance(side, Derived) or side.shared:
            continue
        found = _single_group(side, conjuncts(arm.condition), (rest,), rows.matching(arm))
        if found is not None:
            tests, left, new = found
            there = replaced(conjunction((*left, *tests)), new)
            filled = {c: Case((When(there, value),)) for c, value in new.items()}
            # equivalent: CASE WHEN TRUE is its value
            return replaced(rest, filled if there != TRUE else new)
    return None


def _single_group(
    table: Derived, conditions: Iterable[Scalar], around: Iterable[Node], rows: Rows
) -> tuple[list[Scalar], list[Scalar], dict[Column, Scalar]] | None:
    """
    Read the one group that conditions on all of its keys let through.

    Returned are the conditions that it is there, those of *conditions* that are left to ask, and
    what its columns are.
    """
    inner, view = table.query, rows.view
    if not isinstance(inner, Select) or inner.plain or is_open(table):
        return None
    alone = inner.keys is None and inner.aggregates
    keys = inner.outputs if not alone and inner.keys is None else inner.keys or ()
    given: dict[Scalar, Scalar] = {}
    left = [*conditions]
    inexact: set[Column] = set()
    for key in keys:
        if is_literal(key):
            continue
        if key not in inner.outputs:
            return None
        column = Column(table.source, str(inner.outputs.index(key)))
        equal = (
            other
            for other in sorted_nodes(rows.equals(column))
            if all(source.table for source in other.sources)
        )
        value = next(equal, None)
        if value is None:
            return None
        given[key] = value
        pair = {column, value}
        left = [c for c in left if not (is_equation(c) and {c.left, c.right} == pair)]
        if not rows.same(column, value):
            inexact.add(column)
    those = and_where(
        Select(inner.tables, inner.where), [Comparison("=", *pair) for pair in given.items()]
    )
    parts = [inner.having, *inner.outputs]
    if inexact and (
        uses(outside_aggregates(inner.having), local_sources(inner.tables))
        or not inexact.isdisjoint(c for part in (*left, *around) for c in found_in(part, Column))
        or any(
            not isinstance(output, Aggregate) and output not in given for output in inner.outputs
        )
    ):
        return None
    moved = [replaced(per_row_subquery(part, those, view), given) for part in parts]
    # equivalent: a column is a key or aggregated
    if any(uses(part, local_sources(inner.tables)) for part in moved):
        return None
    tests = [*([] if alone else [Exists(view.copied(those))]), *conjuncts(moved[0])]
    return tests, left, {Column(table.source, str(i)): one for i, one in enumerate(moved[1:])}


@rule("GROUP BY to scalar subqueries", Select)
def values_for_groups(select: Select, view: View) -> Node | None:
    """The keys tell the rows of some tables apart, so that each of these has one group at most:
    aggregates over the rows of the other tables are values of it, and of these tables it is asked
    whether they have a row.  DISTINCT is GROUP BY without aggregates.
    """
    keys = select.keys
    if keys is None and not select.aggregates and select.distinct:
        keys = select.outputs
    if keys is None:
        return None
    rows = view.rows_of(select)
    given = rows.determined(keys)
    shown = [t for t in select.tables if given.sources.issuperset(local_sources((t,)))]
    hidden = [t for t in select.tables if t not in shown]
    alone = select.keys and not view.arm  # an arm may yet be merged with the groups around it
    if not hidden or not (shown or alone):
        return None
    sources = frozenset(local_sources(hidden))
    new: dict[Column, Scalar] = {}
    split = [key for key in keys if all(uses(one, sources) for one in rows.equals(key))]
    for part in (*split, *map(outside_aggregates, parts_of_groups(select))):
        if any(star.source in sources for star in found_in(part, Star)):
            return None
        for node in found_in(part, Column):
            if node.source in sources and node not in new:
                others = sorted_nodes(rows.equals(node))
                same = (o for o in others if not uses(o, sources) and rows.same(node, o))
                other = next(same, None)
                if other is None:
                    return None
                new[node] = other
    given.rely_on(local_sources(shown))
    # equivalent: what is asked of other rows may be asked there
    inside = [c for c in conjuncts(select.where) if uses(c, sources)]
    outside = [c for c in conjuncts(select.where) if c not in inside]
    those = Select(tuple(hidden), conjunction(inside))
    if any(uses(table, sources) for table in shown) or (select.aggregates and is_open(those)):
        return None
    having, *outputs = (
        replaced(per_row_subquery(part, those, view), new) for part in parts_of_groups(select)
    )
    return attrs.evolve(
        select,
        distinct=select.distinct and select.keys is not None,
        tables=tuple(shown),
        where=conjunction((*outside, Exists(those), *conjuncts(having))),
        keys=None,
        having=TRUE,
        outputs=tuple(outputs),
    )


@rule("GROUP BY over an optional side to scalar subqueries", Select)
def values_of_arms(select: Select, view: View) -> Node | None:
    """Likewise where the other tables are an optional side: no row of it makes aggregates of what
    is NULL there what they are of no rows, and COUNT(*) 1.
    """
    if select.keys is None:
        return None
    for arm, rest in left_arms(select):
        own, given = local_sources((arm,)), view.rows_of(select).determined(select.keys)
        others = [one for one in local_sources(select.tables) if one not in own]
        if is_open(arm) or not given.rely_on(others):
            continue
        those = Select(arm.tables, arm.condition)
        found: dict[Aggregate, Scalar] = {}
        for agg in aggregates_in(select):
            value = per_row_subquery(agg, those, view)
            if agg.operand is None:
                found[agg] = Case((When(Exists(view.copied(those)), value),), ONE)
            elif null_with_its_row(agg.operand, own):
                found[agg] = value
        without = of_groups(with_tables(select, rest), found)
        if without.aggregates or uses(without, own):
            continue
        whole = attrs.evolve(without, keys=None, having=TRUE)
        return and_where(whole, conjuncts(without.having))
    return None


# Comparisons with such values.


def counted(node: Node) -> tuple[str, Select, Aggregate, int] | None:
    """Read a comparison of a count: ``=``, ``<>``, ``<=`` or ``>=`` a number."""
    sign, value, n = against_number(node) or ("", NULL, 0)
    if isinstance(value, Arithmetic) and value.operator == "+" and ONE in value.children:
        n, value = n - 1, value.right if value.left == ONE else value.left
    found = value_over(value)
    return (sign, *found, n) if found is not None and found[1].function == "count" else None


@rule("comparison with an aggregate to EXISTS", Comparison)
def exists_for_value(node: Comparison, view: View) -> Node | None:
    """A count is at least 1 where there is a row, a greatest value is more than another one where
    some value is, and less where there are values and none is not, and likewise the least; and
    what is one of n values comes with n different ones where it comes with each.
    """
    found = counted(node)
    if found is not None:
        return exists_for_count(*found, view)
    return exists_for_extreme(node, view) if view.mode == "filter" else None


def exists_for_count(
    sign: str, those: Select, agg: Aggregate, n: int, view: View
) -> Scalar | None:
    """Return a comparison of a count of rows with a number as a question for rows."""
    if sign == ">=" and n <= 0:
        return TRUE
    if agg.operand is not None:
        those = and_where(those, (Not(IsNull(agg.operand)),))
    if (sign, n) in ((">=", 1), ("<>", 0)):
        return Exists(those)
    if (sign, n) in (("<=", 0), ("=", 0)):
        return Not(Exists(those))
    return _each_of(those, agg, n, view) if sign in ("=", ">=") else None


def exists_for_extreme(node: Scalar, view: View) -> Scalar | None:
    """Return a comparison with a least or greatest value as a question for rows."""
    if not isinstance(node, Comparison) or node.operator not in ("<", "<="):
        return None
    for value, other in ((node.right, node.left), (node.left, node.right)):
        read = value_over(value)
        if read is None or has_aggregate(other):
            continue
        those, operand = read[0], read[1].operand
        more = "max" if value is node.right else "min"
        if operand is None or read[1].function not in ("min", "max"):
            continue
        kinds = {view.kind(operand, those.tables), view.kind(other)}
        if not (kinds <= NUMBERS or kinds == {"time"}):
            continue
        new = {value: operand}
        if read[1].function == more:
            return Exists(and_where(those, (replaced(node, new),)))
        some = Exists(and_where(those, (Not(IsNull(operand)),)))
        beyond = Exists(view.copied(and_where(those, (replaced(negated(node), new),))))
        return conjunction((some, Not(beyond), Not(IsNull(other))))
    return None


def _each_of(those: Select, agg: Aggregate, n: int, view: View) -> Scalar | None:
    """Return the condition that a value comes as each of the *n* that it may be."""
    for condition in conjuncts(those.where):
        parts = condition.parts if isinstance(condition, Or) else ()
        found = {
            literal: value
            for one in parts
            for value, literal in sides_of(one)
            if isinstance(literal, Literal)
        }
        values, kinds = {*found.values()}, {literal.kind for literal in found}
        if len(values) != 1 or not len(parts) == len(found) == n:
            continue
        (value,) = values
        kind = view.kind(value, those.tables)
        numbers = kinds == {"integer"} and kind in NUMBERS
        texts = kinds == {kind} == {"text"} and view.exact(value, those.tables)
        if agg.distinct:
            once = agg.operand == value
        else:
            once = view.rows_of(those).determined((value,)).everything()
        if once and (numbers or texts):
            # equivalent: the condition may be asked again
            rest = conjunction(c for c in conjuncts(those.where) if c != condition)
            return conjunction(
                Exists(view.copied(and_where(attrs.evolve(those, where=rest), (part,))))
                for part in parts
            )
    return None


@rule("first value of an order to MIN or MAX", Comparison)
def extremes_for_first(node: Comparison, view: View) -> Node | None:
    """The first of some values in their order is the least or the greatest one of them, unless
    NULLs come first.
    """
    for value, other in ((node.left, node.right), (node.right, node.left)):
        query = value.query if isinstance(value, ScalarQuery) else None
        if not isinstance(query, Sorted) or (query.width, query.limit, query.offset) != (1, 1, 0):
            continue
        inner = query.query
        if not isinstance(inner, Select) or query.places[:1] != (0,):
            continue
        plain = attrs.evolve(inner, distinct=False, outputs=inner.outputs[:1])
        (output,), item, rows = plain.outputs, query.items[0], view.rows_of(inner)
        kinds = {view.kind(output, inner.tables), view.kind(other)}
        if not plain.plain or not (kinds <= NUMBERS or kinds == {"time"}):
            continue
        if item.nulls_first is False or rows.never_null(output):
            aggregate = Aggregate("max" if item.descending else "min", output)
            new = ScalarQuery(attrs.evolve(plain, outputs=(aggregate,)))
            return replaced(node, {value: new})
    return None


@rule("redundant EXISTS removed", Select)
def asked_by_value(select: Select, view: View) -> Node | None:
    """Of no rows a count is 0 and another aggregate NULL; where the other conditions are not true
    of that, there are rows, and what is compared with them is not NULL.
    """
    for condition, rest in each_condition(select):
        query = condition.query if isinstance(condition, Exists) else None
        if isinstance(query, Select):
            new = values_of_nothing(query, (rest.where,))
        else:
            new = _without_rows((rest.where,), partial(_compares, condition))
        if new and view.rows_of(attrs.evolve(rest, where=replaced(rest.where, new))).none():
            return rest
    return None


def _compares(condition: Scalar, those: Select) -> bool:
    """Say whether it is that something is not NULL with which a query compares its rows."""
    return condition in _compared_outside(those)


def values_of_nothing(those: Select, parts: Iterable[Node]) -> dict[Scalar, Scalar]:
    """Return what is computed of *those* rows in some expressions if there are none."""
    form = with_canonical_names(attrs.evolve(those, outputs=()))
    width = len(those.tables)
    return _without_rows(
        parts, lambda one: len(one.tables) == width and with_canonical_names(one) == form
    )


def _without_rows(
    parts: Iterable[Node], are_none: Callable[[Select], bool]
) -> dict[Scalar, Scalar]:
    """Return what EXISTS and aggregates are in some expressions if certain rows are none."""
    found: dict[Scalar, Scalar] = {}
    for part in parts:
        for scalar in found_in(part, ScalarQuery):
            read = value_over(scalar)
            if read is not None and are_none(read[0]):
                found[scalar] = ZERO if read[1].function == "count" else NULL
        for test in found_in(part, Exists):
            if isinstance(test.query, Select) and test.query.plain and are_none(test.query):
                found[test] = FALSE
    return found


@rule("row that is there anyway", Select)
def found_rows(select: Select, view: View) -> Node | None:
    """EXISTS need not ask for a row that is another one of the query, or that another EXISTS
    finds, but that what is compared with it is not NULL.
    """
    conditions = conjuncts(select.where)
    for output in () if select.keys or select.aggregates else select.outputs:
        for test in outermost(output, Exists):
            found = test.query
            if not isinstance(found, Select) or not found.plain:
                continue
            if witness_of(found, select.tables, conditions, view):
                return replaced(select, {test: TRUE})
    for condition, rest in each_condition(select, Exists):
        query = condition.query if isinstance(condition, Exists) else None
        if not isinstance(query, Select) or not query.plain:
            continue
        others = [*conjuncts(rest.where), *_compared_outside(query)]
        around = [(select.tables, others)]
        for other in conjuncts(rest.where):
            there = other.query if isinstance(other, Exists) else None
            if isinstance(there, Select) and there.plain:
                both = [*others, *conjuncts(there.where)]
                around.append(((*select.tables, *there.tables), both))
        if any(witness_of(query, *one, view) for one in around):
            return and_where(rest, others)
    return None


@rule("two rows to EXISTS", Select)
def found_twice(select: Select, view: View) -> Node | None:
    """Two rows are two with different keys, of which a row of the query itself may be one."""
    for condition, rest in each_condition(select):
        these = rows_of_two(condition)
        key = only_key(these, view) if these is not None else []
        if these is None or not key:
            continue
        if not all(view.never_null(one, these.tables) for one in key):
            continue
        copy, found = (
            view.copied(these),
            witness_of(these, select.tables, conjuncts(rest.where), view),
        )
        if found is None:
            tables = *these.tables, *copy.tables
            these = and_where(with_tables(these, tables), conjuncts(copy.where))
        (one,) = found.values() if found is not None else local_sources(copy.tables)
        same = conjunction(Comparison("=", mine, Column(one, mine.name)) for mine in key)
        return and_where(rest, (Exists(and_where(these, (Not(same),))),))
    return None


@rule("least or greatest value to NOT EXISTS", Select)
def extreme_rows(select: Select, view: View) -> Node | None:
    """A row has the greatest value of some rows, of which it is one, where none has a greater."""
    for condition, rest in each_condition(select):
        for value, other in sides_of(condition):
            read = value_over(value)
            if read is None or read[1].function not in ("min", "max"):
                continue
            those, operand = read[0], operand_of(read[1])
            known = (*conjuncts(rest.where), Not(IsNull(other)), *_compared_outside(those))
            found = witness_of(those, select.tables, known, view)
            if found is None:
                continue
            if view.rows_of(select).same(replaced(operand, found), other):
                pair = (other, operand) if read[1].function == "max" else (operand, other)
                beyond = Not(Exists(and_where(those, (Comparison("<", *pair),))))
                return and_where(rest, (*known, beyond))
    return None


def rows_of_two(condition: Scalar) -> Select | None:
    """Return the rows of which a condition wants two at least."""
    sign, those, *count = counted(condition) or ("", None)
    return those if (sign, *count) == (">=", ROWS, 2) else None


def _compared_outside(found: Select) -> list[Scalar]:
    """Return that nothing around a query is NULL with which it compares all rows that it finds."""
    own = local_sources(found.tables)
    sides = (
        side
        for condition in conjuncts(found.where)
        if isinstance(condition, Comparison)
        for side in (condition.left, condition.right)
    )
    return [Not(IsNull(side)) for side in sides if not uses(side, own)]


@rule("CASE of a subquery without rows removed", Case, Function)
def plain_value(node: Case | Function, _: View) -> Node | None:
    """``CASE WHEN EXISTS (...) THEN v ELSE d END`` is v where v of no rows is d; COALESCE gives a
    CASE its other value.
    """
    if isinstance(node, Function):
        case, *rest = node.operands if node.name == "coalesce" else (NULL,)
        if not isinstance(case, Case) or case.default != NULL or len(rest) != 1:
            return None
        if not all(never_null_alone(when.value) for when in case.whens):
            return None
        return attrs.evolve(case, default=rest[0])
    condition, value = node.whens[0].condition, node.whens[0].value
    if condition == TRUE:
        return value
    those = condition.query if isinstance(condition, Exists) else None
    if len(node.whens) > 1 or not isinstance(those, Select):
        return None
    nothing = replaced(value, values_of_nothing(those, (value,)))
    alike = nothing == node.default or (node.default == NULL and is_null(nothing))
    return value if alike else None


@rule("default of an aggregate compared", Comparison)
def without_default(node: Comparison, view: View) -> Node | None:
    """Where NULL counts as false, a default that does not fulfil a comparison is as good as NULL;
    one that does leaves it to the values, none of which may be beyond.
    """
    for side, other in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(side, Function) or side.name != "coalesce" or len(side.operands) != 2:  # noqa: PLR2004 - a value and its default
            continue
        value, default = side.operands
        numbers = number_of(default), number_of(other)
        if view.mode != "filter" or None in numbers or not isinstance(value, ScalarQuery):
            continue
        if view.kind(value) not in NUMBERS:
            continue
        bare = replaced(node, {side: value})
        pair = numbers if side is node.left else numbers[::-1]
        if not _HOLDS[node.operator](*pair):
            return bare
        read = value_over(value)
        greatest = {"max": node.left, "min": node.right}
        if read is None or read[1].operand is None or node.operator not in ("<", "<="):
            continue
        if greatest.get(read[1].function) is side:
            beyond = replaced(negated(bare), {value: read[1].operand})
            return Not(Exists(and_where(read[0], (beyond,))))
    return None


_HOLDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": eq, "<>": ne, "<": lt, "<=": le,
}  # fmt: skip


@rule("CASE of two values to LEAST or GREATEST", Case, Function)
def least_for_case(node: Case | Function, view: View) -> Node | None:
    """The one of two values that is less is the least one, whichever stands first."""
    if isinstance(node, Function):
        name, both = node.name, node.operands
    else:
        first, *others = node.whens
        asked = first.condition
        if others or not isinstance(asked, Comparison) or asked.may_be_nan:
            return None
        shown, both = (first.value, node.default), (asked.left, asked.right)
        name = {both: "least", both[::-1]: "greatest"}.get(shown, "")
        if asked.operator not in ("<", "<="):
            return None
    if name not in ("least", "greatest") or not all(map(view.never_null, both)):
        return None
    kinds = {view.kind(one) for one in both}
    if len(kinds) > 1 or not (kinds <= {"integer", "time"} and all(map(view.exact, both))):
        return None
    return Function(name, sorted_nodes(both))


# One pass over rows, and values beside it.


@rule("values of the same rows to one pass", Select)
def one_pass(select: Select, _: View) -> Node | None:
    """What several subqueries compute of the same rows is computed in one pass over them, in which
    what an aggregate leaves out is NULL to it.
    """
    alone = select.plain and not select.tables and select.where == TRUE
    if not (alone or exactly_one(select)) or select.distinct or is_open(select):
        return None
    scalars = dict.fromkeys(one for part in select.outputs for one in outermost(part, ScalarQuery))
    found = {one: one.query for one in scalars if exactly_one(one.query) and not free_sources(one)}
    first = next(iter(found.values()), None) if alone else select
    if first is None or not first.tables or not found:
        return None
    form = with_canonical_names(Select(first.tables))
    same: dict[Node, Select] = {}
    for scalar, query in found.items():
        if with_canonical_names(Select(query.tables)) == form:
            names = dict(zip(*(local_sources(q.tables) for q in (query, first)), strict=True))
            same[scalar] = replaced(query, names)
    if not same:
        return None
    asked = [conjuncts(one.where) for one in (first, *same.values())]
    common = [c for c in asked[0] if all(c in others for others in asked)]
    new = {scalar: _of_part(q.outputs[0], q, common) for scalar, q in same.items()}
    shown = (one if alone else _of_part(one, first, common) for one in select.outputs)
    outputs = tuple(replaced(one, new) for one in shown)
    return Select(first.tables, conjunction(common), outputs=outputs)


def _of_part(value: Scalar, select: Select, common: Iterable[Scalar]) -> Scalar:
    """Return what is computed of those of more rows that a SELECT keeps."""
    further = [c for c in conjuncts(select.where) if c not in common]
    new: dict[Aggregate, Scalar] = {}
    for agg in aggregates_of(value) if further else ():
        operand, met = ONE if agg.operand is None else agg.operand, further
        if isinstance(operand, Case) and len(operand.whens) == 1 and operand.default == NULL:
            met = [*conjuncts(operand.whens[0].condition), *further]
            operand = operand.whens[0].value
        new[agg] = attrs.evolve(agg, operand=Case((When(conjunction(met), operand),)))
    return with_aggregates(value, new)


# The rows of a group, from the rows of a table.


@rule("HAVING to EXISTS", Select)
def exists_for_having(select: Select, view: View) -> Node | None:
    """What is only asked of a group is asked of the rows with its keys."""
    keys = select.keys
    if keys is None or any(map(has_aggregate, select.outputs)) or is_open(select):
        return None
    exact = [key for key in keys if view.exact(key, select.tables)]
    if not respects_equality_of(outside_aggregates(select.having), keys, exact):
        return None
    rows = view.rows_of(select)
    found: list[Scalar] = []
    for part in conjuncts(select.having):
        new: dict[Aggregate, Scalar] = {}
        for agg in aggregates_of(part):
            copy = view.copied(
                Select(select.tables, select.where, outputs=(*keys, _as_count(agg)))
            )
            *theirs, value = copy.outputs
            same = map(partial(same_value, rows), theirs, keys)
            new[agg] = ScalarQuery(and_where(attrs.evolve(copy, outputs=(value,)), same))
        asked = with_aggregates(part, new)
        there: Scalar | None = asked
        if rows_of_two(asked) is None or not only_key(select, view):
            count = counted(asked)
            there = exists_for_count(*count, view) if count else exists_for_extreme(asked, view)
        if there is None:
            return None
        found.append(there)
    return and_where(attrs.evolve(select, having=TRUE), found)


def _as_count(agg: Aggregate) -> Aggregate:
    """Return a sum of ones and zeros over a group, which has a row, as a count of the ones."""
    one = agg.operand if agg.function == "sum" and not agg.distinct else None
    if not isinstance(one, Case) or [when.value for when in one.whens] != [ONE]:
        return agg
    return Aggregate("count", attrs.evolve(one, default=NULL)) if one.default == ZERO else agg


@rule("values of its own groups to GROUP BY", Select)
def groups_for_values(select: Select, view: View) -> Node | None:
    """Rows without duplicates that show only keys, and aggregates over the rows with these keys,
    are groups.
    """
    if not select.distinct or select.keys is not None or select.aggregates:
        return None
    parts = (*conjuncts(select.where), *select.outputs)
    own = local_sources(select.tables)
    new: dict[Node, Node] = {}
    found: set[frozenset[Scalar]] = set()
    base = [
        c for c in conjuncts(select.where) if not any(map(value_over, found_in(c, ScalarQuery)))
    ]
    for scalar in dict.fromkeys(one for part in parts for one in found_in(part, ScalarQuery)):
        read = value_over(scalar)
        tables = read[0].tables if read is not None else ()
        names = dict(zip(local_sources(tables), own, strict=False))
        if read is None or tuple(replaced(one, names) for one in tables) != select.tables:
            continue
        rows = view.rows(select.tables, base)
        keys = {c: _own_key(c, names, rows) for c in conjuncts(read[0].where)}
        known = frozenset(key for key in keys.values() if key is not None)
        if not known:
            continue
        others = [c for c, key in keys.items() if key is None]
        inside = [replaced(c, names) for c in others]
        if any(uses(c, own) for c in others) or not all(c in base for c in inside):
            return None
        exact = [key for key in known if view.exact(key, select.tables)]
        if not all(c in inside or _looks_only_at(c, known, exact) for c in base):
            return None
        new[scalar] = replaced(read[1], names)
        found.add(known)
    if len(found) != 1:
        return None
    (known,) = found
    exact = [key for key in known if view.exact(key, select.tables)]
    having, *outputs = (
        replaced(part, new)
        for part in (
            conjunction(c for c in conjuncts(select.where) if c not in base),
            *select.outputs,
        )
    )
    if not all(
        _looks_only_at(outside_aggregates(part), known, exact) for part in (having, *outputs)
    ):
        return None
    return attrs.evolve(
        select,
        where=conjunction(base),
        keys=sorted_nodes(known),
        having=having,
        outputs=tuple(outputs),
    )


def _looks_only_at(part: Scalar, keys: Iterable[Scalar], exact: Iterable[Scalar]) -> bool:
    """Say whether equal keys, which are columns, make an expression the same."""
    keys = frozenset(keys)
    sources = {source for key in keys for source in key.sources}
    return respects_equality_of(part, keys, exact) and all(
        column in keys for column in found_in(part, Column) if column.source in sources
    )


def _own_key(condition: Scalar, names: dict[Source, Source], rows: Rows) -> Scalar | None:
    """Return the column that a condition wants a row to share with the row around."""
    asked = rewritten(condition, in_order)
    for column in found_in(condition, Column):
        if column.source in names:
            mine = Column(names[column.source], column.name)
            equal = Comparison("=", column, mine)
            either = Or((equal, And((IsNull(column), IsNull(mine)))))
            if asked == rewritten(either, in_order):
                return mine
            if asked == rewritten(equal, in_order) and rows.never_null(mine):
                return mine
    return None


@rule("joined table folded into another", Select)
def folded_tables(select: Select, view: View) -> Node | None:
    """Where it does not matter how often rows come, a table adds none if the row of another one
    meets all that is asked of its row.
    """
    scans = [table for table in select.tables if isinstance(table, Scan)]
    if len({one.source.table for one in scans}) == len(scans) or repeats(select, view):
        return None
    rows = view.rows_of(select)
    shown = (*parts_of_groups(select), *(select.keys or ()))
    for first in scans:
        one, rest = first.source, tuple(other for other in select.tables if other is not first)
        if any(uses(table, (one,)) for table in rest):
            continue
        columns = {c for part in shown for c in found_in(part, Column) if c.source == one}
        if any(star.source == one for part in shown for star in found_in(part, Star)):
            continue
        for second in scans:
            other = second.source
            if other == one or other.table != one.table:
                continue
            if not all(rows.same(c, Column(other, c.name)) for c in columns):
                continue
            folded = replaced(with_tables(select, rest), {one: other})
            if rows.imply_all(conjuncts(folded.where)):
                return folded
    return None


@rule("condition on keys moved out of a derived table", Select)
def conditions_pulled_up(select: Select, view: View) -> Node | None:
    """A condition on the keys of a group, or on distinct columns, holds for all of its rows or
    none, so that it may filter before or after; outside it meets what is known there.
    """
    if len(select.tables) == 1 and select.keys is None and not select.aggregates:
        return None
    for table in own_derived(select):
        inner = table.query
        if not isinstance(inner, Select) or inner.plain:
            continue
        keys = inner.outputs if inner.keys is None else inner.keys
        own = frozenset(local_sources(inner.tables))
        new = {
            output: Column(table.source, str(i))
            for i, output in enumerate(inner.outputs)
            if output in keys and not is_literal(output)
        }
        exact = frozenset(value for value in new if view.exact(value, inner.tables))
        out: dict[Scalar, Scalar] = {}
        for condition in conjuncts(inner.where):
            if any(found_in(condition, Query)) or not uses(condition, own):
                continue
            outside = replaced(condition, new)
            if respects_equality_of(condition, new, exact) and not uses(outside, own):
                out[condition] = outside
        if out:
            left = conjunction(c for c in conjuncts(inner.where) if c not in out)
            moved = Derived(table.source, attrs.evolve(inner, where=left))
            return and_where(in_place(select, table, moved), out.values())
    return None
