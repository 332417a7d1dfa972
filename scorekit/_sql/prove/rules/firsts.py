"""
Rules for the first row of a group, and for the first value of an order.

However it is asked for, by a LIMIT, a number of a row or a least value, such a row is the one that
no other one comes before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from scorekit._sql.databases.kinds import NUMBERS
from scorekit._sql.meaning.tree import (
    NULL,
    TRUE,
    Aggregate,
    Case,
    Column,
    Comparison,
    Derived,
    Exists,
    IsNull,
    Node,
    Not,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    Source,
    Window,
    Windowed,
    conjunction,
    conjuncts,
    found_in,
    has_aggregate,
    local_sources,
    replaced,
    rewritten,
    walk,
)
from scorekit._sql.prove.normal import Arm, LeftJoins, Sorted, is_open
from scorekit._sql.prove.rule import (
    View,
    aggregates_in,
    and_where,
    of_groups,
    rule,
    uses,
    with_aggregates,
)
from scorekit._sql.prove.rules.parts import (
    ROWS,
    comes_before,
    each_condition,
    in_place,
    of_one_row,
    only_key,
    own_derived,
    same_value,
    value_over,
    witness_of,
)
from scorekit._sql.prove.scalars import against_number, in_order, is_literal

MAX_PLACES: Final = 3
"""Values that an OFFSET passes over, each of which is a subquery more."""


# The first value of an order.


@rule("value at a place of an order to MIN or MAX", ScalarQuery)
def extremes_for_places(node: ScalarQuery, view: View) -> Node | None:
    """The first of some values in their order is the least or the greatest one of them, and of
    different values the next one is the first beyond it, unless NULLs come first.
    """
    query = node.query
    if not isinstance(query, Sorted) or (query.width, query.limit) != (1, 1):
        return None
    inner, item = query.query, query.items[0] if query.items else None
    if item is None or item.value != Place(0) or query.offset > MAX_PLACES:
        return None
    if not isinstance(inner, Select) or is_open(inner):
        return None
    output, rows = inner.outputs[0], view.rows_of(inner)
    counts = isinstance(output, Aggregate) and output.function == "count"
    if has_aggregate(output) and not counts:
        return None
    if query.offset and not (
        len(inner.outputs) == 1 and (inner.distinct or inner.keys == inner.outputs)
    ):
        return None
    kind = view.kind(output, inner.tables)
    if not (_has_order(kind) and (counts or kind == "time" or view.exact(output, inner.tables))):
        return None
    if not (counts or item.nulls_first is False or rows.never_null(output)):
        return None
    # The values, one a row: what groups them stays below.
    values = attrs.evolve(inner, distinct=False, outputs=(output,))
    if not values.plain:
        table = Derived(view.fresh(), values)
        values = Select((table,), outputs=(Column(table.source, "0"),))
    return ScalarQuery(_extreme(values, query.offset, descending=item.descending, view=view))


def _extreme(values: Select, n_passed: int, *, descending: bool, view: View) -> Select:
    """Return the greatest of some values, or the least, without so many that are beyond it."""
    (value,) = values.outputs
    if n_passed:
        beyond = ScalarQuery(
            _extreme(view.copied(values), n_passed - 1, descending=descending, view=view)
        )
        pair = (value, beyond) if descending else (beyond, value)
        values = and_where(values, (Comparison("<", *pair),))
    name = "max" if descending else "min"
    return attrs.evolve(values, outputs=(Aggregate(name, value),))


def _has_order(kind: str) -> bool:
    """Say whether of two values of a kind one is less, or both are the same."""
    return kind == "time" or (kind in NUMBERS and kind != "real")


@rule("not the least or greatest value to EXISTS", Select)
def rows_below_extremes(select: Select, view: View) -> Node | None:
    """A row does not have the greatest value of some rows, of which it is one, where one of them
    has a greater.
    """
    for condition, rest in each_condition(select):
        equal = condition.operand if isinstance(condition, Not) else condition
        sign = "=" if isinstance(condition, Not) else "<>"
        if not isinstance(equal, Comparison) or equal.operator != sign:
            continue
        for value, other in ((equal.left, equal.right), (equal.right, equal.left)):
            read = value_over(value)
            if read is None or read[1].function not in ("min", "max") or not read[1].operand:
                continue
            those, operand = read[0], read[1].operand
            if not _has_order(view.kind(operand, those.tables)):
                continue
            known = (*conjuncts(rest.where), Not(IsNull(other)))
            found = witness_of(those, select.tables, known, view)
            if found is None:
                continue
            if view.rows_of(select).same(replaced(operand, found), other):
                pair = (other, operand) if read[1].function == "max" else (operand, other)
                beyond = Exists(and_where(those, (Comparison("<", *pair),)))
                return and_where(rest, (Not(IsNull(other)), beyond))
    return None


# The first row of a query.


@rule("first row of a total order to NOT EXISTS", Sorted)
def row_for_first(query: Sorted, view: View) -> Node | None:
    """The first row of an order without ties is the one that no other one comes before."""
    inner = query.query
    if (query.limit, query.offset) != (1, 0) or not isinstance(inner, Select):
        return None
    if not inner.plain or is_open(inner):
        return None
    rows, copy = view.rows_of(inner), view.copied(inner)
    mine = [inner.outputs[place] for place in query.places]
    if not mine or not all(map(rows.never_null, mine)):
        return None
    if not rows.determined(mine).everything():
        return None
    theirs = [copy.outputs[place] for place in query.places]
    before = comes_before(list(zip(theirs, mine, query.items, strict=True)), ties=False)
    other = Exists(and_where(attrs.evolve(copy, outputs=()), (before,)))
    shown = attrs.evolve(inner, outputs=inner.outputs[: query.width])
    return and_where(shown, (Not(other),))


# The first row of each group.


@rule("first row of a partition to MIN or MAX", Select)
def groups_for_numbers(select: Select, view: View) -> Node | None:
    """The row with number 1 in its partition has the first value of the order, which is the least
    or the greatest one unless NULLs come first; all else that is looked at is of the partition.
    """
    for table in own_derived(select):
        asked = _first_of(select, table)
        if asked is None:
            continue
        window, inner, rest = asked
        item = window.items[0] if window.items else None
        if window.function != "row_number" or item is None or not window.keys:
            continue
        keys = [key.number for key in window.keys if isinstance(key, Place)]
        if len(keys) < len(window.keys) or not isinstance(item.value, Place):
            continue
        place = item.value.number
        parts = (*rest.outputs, rest.where, rest.having, *(rest.keys or ()), *rest.tables)
        seen = {
            int(column.name)
            for part in parts
            for column in found_in(part, Column)
            if column.source == table.source
        }
        if not seen <= {*keys, place}:
            continue
        below = Derived(view.fresh(), inner)
        columns = [Column(below.source, str(i)) for i in range(len(inner.outputs))]
        kind = view.kind(columns[place], (below,))
        alike = keys if kind == "time" else (*keys, place)
        if not (_has_order(kind) and all(view.exact(columns[i], (below,)) for i in alike)):
            continue
        if item.nulls_first is not False and not view.never_null(columns[place], (below,)):
            continue
        terms = (*window.keys, *(one.value for one in window.items))
        given = (columns[one.number] for one in terms if isinstance(one, Place))
        if view.rows((below,)).determined(given).everything():
            continue  # such a number counts the rows before
        first = Aggregate("max" if item.descending else "min", columns[place])
        outputs = tuple(
            columns[i] if i in keys else first if i == place else NULL
            for i in range(len(inner.outputs))
        )
        groups = Select((below,), keys=tuple(columns[i] for i in keys), outputs=outputs)
        return in_place(rest, table, Derived(table.source, groups))
    return None


@rule("first rank of a partition to MIN or MAX", Select)
def extremes_for_ranks(select: Select, view: View) -> Node | None:
    """A row of a partition has the rank 1 if what orders it is the least or greatest value."""
    for table in own_derived(select):
        asked = _first_of(select, table)
        if asked is None:
            continue
        window, inner, rest = asked
        if window.function not in ("rank", "dense_rank") or len(window.items) != 1:
            continue
        (item,) = window.items
        terms = (*window.keys, item.value)
        places = [term.number for term in terms if isinstance(term, Place)]
        if len(places) < len(terms) or is_open(inner):
            continue
        below, other = Derived(table.source, inner), Derived(view.fresh(), view.copied(inner))
        *keys, value = (Column(table.source, str(i)) for i in places)
        *others, theirs = (Column(other.source, str(i)) for i in places)
        kind = view.kind(value, (below,))
        if not (_has_order(kind) and view.never_null(value, (below,))):
            continue
        rows = view.rows((below,))
        same = [same_value(rows, *pair) for pair in zip(others, keys, strict=True)]
        extreme = Aggregate("max" if item.descending else "min", theirs)
        found = ScalarQuery(Select((other,), conjunction(same), outputs=(extreme,)))
        equal = Comparison("=", value, found)
        return and_where(in_place(rest, table, below), (equal,))
    return None


def _first_of(select: Select, table: Derived) -> tuple[Window, Query, Select] | None:
    """Return the only window of a derived table whose first rows are asked for, and the rest."""
    query = table.query
    if not isinstance(query, Windowed) or len(query.windows) != 1 or is_open(query.query):
        return None
    number = Column(table.source, str(len(query.query.outputs)))
    for condition, rest in each_condition(select):
        sign, value, n = against_number(condition) or ("", NULL, 0)
        if value == number and (sign, n) in (("=", 1), ("<=", 1)) and number not in walk(rest):
            return query.windows[0], query.query, rest
    return None


@rule("row of the least or greatest value of a group to NOT EXISTS", Select)
def rows_for_extremes(select: Select, view: View) -> Node | None:
    """The least or greatest value of a group is that of the rows of which there is none beyond
    them: of one row if no two share a value, of one behind DISTINCT if the keys are shown.
    """
    keys, aggregates = select.keys, [*dict.fromkeys(aggregates_in(select))]
    if not keys or len(aggregates) != 1 or is_open(select):
        return None
    (agg,) = aggregates
    value = agg.operand
    if value is None or agg.function not in ("min", "max"):
        return None
    if any(is_literal(key) for key in keys) or not _has_order(view.kind(value, select.tables)):
        return None
    rows = view.rows_of(select)
    if not rows.never_null(value) or not all(view.exact(key, select.tables) for key in keys):
        return None
    alone = of_one_row(agg, rows)
    if not rows.determined((*keys, value)).everything():
        if not {*keys} <= {*select.outputs}:
            return None
        select = attrs.evolve(select, distinct=True)  # equal rows of a group are one
    copy = view.copied(Select(select.tables, select.where, outputs=(*keys, value)))
    *theirs, other = copy.outputs
    same = [same_value(rows, *pair) for pair in zip(theirs, keys, strict=True)]
    pair = (value, other) if agg.function == "max" else (other, value)
    beyond = and_where(attrs.evolve(copy, outputs=()), (*same, Comparison("<", *pair)))
    return None if alone is None else _ungrouped(select, {agg: alone}, (Not(Exists(beyond)),))


@rule("groups of one row to NOT EXISTS", Select)
def rows_for_lone_groups(select: Select, view: View) -> Node | None:
    """A group of one row is a row beside which there is no other one with its keys."""
    keys = select.keys
    asked = [c for c in conjuncts(select.having) if _is_one_row(c)]
    if not keys or not asked or is_open(select) or any(map(is_literal, keys)):
        return None
    key, rows = only_key(select, view), view.rows_of(select)
    if not key or not all(map(rows.never_null, key)):
        return None
    having = conjunction(c for c in conjuncts(select.having) if c not in asked)
    rest = attrs.evolve(select, having=having)
    new: dict[Aggregate, Scalar] = {}
    for agg in aggregates_in(rest):
        alone = of_one_row(agg, rows)
        if alone is None:
            return None
        new[agg] = alone
    copy = view.copied(Select(select.tables, select.where, outputs=(*keys, *key)))
    theirs, others = copy.outputs[: len(keys)], copy.outputs[len(keys) :]
    same = [same_value(rows, *pair) for pair in zip(theirs, keys, strict=True)]
    itself = conjunction(Comparison("=", *pair) for pair in zip(key, others, strict=True))
    beside = and_where(attrs.evolve(copy, outputs=()), (*same, Not(itself)))
    return _ungrouped(rest, new, (Not(Exists(beside)),))


def _is_one_row(condition: Scalar) -> bool:
    sign, value, n = against_number(condition) or ("", NULL, 0)
    return value == ROWS and (sign, n) in (("=", 1), ("<=", 1))


def _ungrouped(
    select: Select, new: dict[Aggregate, Scalar], conditions: Iterable[Scalar]
) -> Select:
    """Return a SELECT whose groups are a row each of which some conditions hold."""
    whole = of_groups(select, new)
    whole = and_where(attrs.evolve(whole, keys=None, having=TRUE), conditions)
    return and_where(whole, conjuncts(of_groups(select, new).having))


@rule("groups of cases to left joins", Select)
def joins_for_cases(select: Select, view: View) -> Node | None:
    """A case that at most one row of a group meets is an optional side of the group's keys."""
    keys, aggregates = select.keys, [*dict.fromkeys(aggregates_in(select))]
    if not keys or not aggregates or select.having != TRUE or is_open(select):
        return None
    rows = view.rows_of(select)
    if not all(rows.never_null(key) and view.exact(key, select.tables) for key in keys):
        return None
    groups = Select(select.tables, select.where, outputs=keys, distinct=True)
    base = Derived(view.fresh(), groups)
    columns = [Column(base.source, str(i)) for i in range(len(keys))]
    arms: list[Arm] = []
    new: dict[Aggregate, Scalar] = {}
    for agg in aggregates:
        case = agg.operand
        if not isinstance(case, Case) or len(case.whens) != 1 or case.default != NULL:
            return None
        met = (*conjuncts(select.where), *conjuncts(case.whens[0].condition))
        if not view.rows(select.tables, met).determined(keys).everything():
            return None
        alone = of_one_row(attrs.evolve(agg, operand=case.whens[0].value), rows)
        if alone is None or agg.function == "count":
            return None
        side = view.copied(Select(select.tables, conjunction(met), outputs=(*keys, alone)))
        *theirs, new[agg] = side.outputs
        equal = [Comparison("=", *pair) for pair in zip(theirs, columns, strict=True)]
        arms.append(Arm(side.tables, conjunction((*conjuncts(side.where), *equal))))
    names: dict[Scalar, Node] = dict(zip(keys, columns, strict=True))
    outputs = tuple(replaced(with_aggregates(one, new), names) for one in select.outputs)
    whole = Select((LeftJoins((base,), tuple(arms)),), outputs=outputs, distinct=select.distinct)
    return None if any(uses(one, local_sources(select.tables)) for one in outputs) else whole


# Two rows of which one is at hand.


@rule("two rows of which one is there anyway", Select)
def found_beside(select: Select, view: View) -> Node | None:
    """Of rows that are asked for in pairs with different keys, a row of the query itself may be
    one, so that there is a pair just where there is one with another key than that.
    """
    for condition, rest in each_condition(select):
        query = condition.query if isinstance(condition, Exists) else None
        if not isinstance(query, Select) or not query.plain:
            continue
        pair = [one.source for one in query.tables if isinstance(one, Scan)]
        if len(pair) != 2 or len(query.tables) > 2 or pair[0].table != pair[1].table:  # noqa: PLR2004 - a pair
            continue
        first, second = (Select((one,)) for one in query.tables)
        between: list[Scalar] = []
        for one in (rewritten(c, in_order) for c in conjuncts(query.where)):
            if uses(one, pair[:1]) and uses(one, pair[1:]):
                between.append(one)
            elif uses(one, pair[:1]):
                first = and_where(first, (one,))
            else:
                second = and_where(second, (one,))
        turned = rewritten(replaced(first.where, {pair[0]: pair[1]}), in_order)
        key = only_key(first, view)
        if not key or not all(view.never_null(one, first.tables) for one in key):
            continue
        if {*conjuncts(turned)} != {*conjuncts(second.where)} or len(between) != 1:
            continue
        if between[0] not in _apart(key, *pair):
            continue
        found = witness_of(first, select.tables, conjuncts(rest.where), view)
        if found is not None:
            other = _apart(key, found[pair[0]], pair[1])[0]
            return and_where(rest, (Exists(and_where(second, (other,))),))
    return None


def _apart(key: list[Column], first: Source, second: Source) -> list[Scalar]:
    """Return how it is said that two rows have different keys."""
    mine, theirs = ([Column(source, one.name) for one in key] for source in (first, second))
    equal = [Comparison("=", *pair) for pair in zip(mine, theirs, strict=True)]
    said: list[Scalar] = [Not(conjunction(equal))]
    if len(key) == 1:
        (one,), (other,) = mine, theirs
        said += [Comparison("<>", one, other)]
        said += [Comparison("<", one, other), Comparison("<", other, one)]
    return [rewritten(one, in_order) for one in said]
