"""Rules for windows, orders and LIMIT."""

from __future__ import annotations

from typing import Final

import attrs

from scorekit._sql.meaning.tree import (
    NULL,
    RUNNING,
    TRUE,
    WHOLE,
    Aggregate,
    Arithmetic,
    Column,
    Comparison,
    Derived,
    Frame,
    Node,
    OrderItem,
    Place,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    Star,
    Table,
    Window,
    Windowed,
    conjunction,
    conjuncts,
    free_sources,
    walk,
)
from scorekit._sql.prove.normal import Sorted, is_open
from scorekit._sql.prove.rule import View, and_where, empty, rule, without_tables
from scorekit._sql.prove.rules.parts import (
    ONE,
    comes_before,
    each_condition,
    in_place,
    is_empty,
    link_of,
    own_derived,
    per_row_subquery,
    refers_to,
    same_value,
    sides_of,
    with_tables,
)
from scorekit._sql.prove.scalars import against_number

# Windows.


AGGREGATES: Final = frozenset({"count", "sum", "avg", "min", "max"})


_BEFORE: Final = frozenset({"row_number", "rank", "dense_rank"})


@rule("ROW_NUMBER to LIMIT", Select)
def limit_for_row_number(select: Select, _: View) -> Node | None:
    """The rows with the numbers up to n are the first n, and number n is the one behind n - 1."""
    for table in own_derived(select):
        query = table.query
        if not isinstance(query, Windowed) or len(query.windows) != 1:
            continue
        window = query.windows[0]
        if (window.function, window.keys) != ("row_number", ()):
            continue
        number = Column(table.source, str(len(query.query.outputs)))
        asked = [c for c in conjuncts(select.where) if number in walk(c)]
        where = conjunction(c for c in conjuncts(select.where) if c not in asked)
        rest = attrs.evolve(select, where=where)
        bounds = _bounds(asked[0], number) if len(asked) == 1 else None
        if bounds is not None and number not in walk(rest):
            inner = query.query
            limited = Sorted(inner, len(inner.outputs), window.items, *bounds)
            return in_place(rest, table, Derived(table.source, limited))
    return None


def _bounds(condition: Scalar, number: Scalar) -> tuple[int, int] | None:
    """Return the LIMIT and OFFSET of the rows whose *number* a condition lets through."""
    sign, value, n = against_number(condition) or ("", NULL, 0)
    bounds = {"=": (1, n - 1), "<=": (n, 0)}.get(sign)
    return bounds if value == number and n > 0 else None


@rule("window function to scalar subquery", Windowed, Select)
def values_for_windows(query: Windowed | Select, view: View) -> Node | None:
    """An aggregate over a partition is that over the rows with its keys, and a rank counts the
    rows before.
    """
    if isinstance(query, Windowed):
        numbered = any((one.function, one.keys) == ("row_number", ()) for one in query.windows)
        return None if numbered else computed_windows(query, view)  # or it may be a LIMIT
    for table in own_derived(query):
        inner = table.query
        if not isinstance(inner, Windowed):
            continue
        widths = len(inner.query.outputs), len(inner.outputs)
        asked = {Column(table.source, str(i)) for i in range(*widths)}
        numbered = not asked.isdisjoint(walk(query.where))
        computed = computed_windows(inner, view) if numbered else None
        if computed is not None:
            return in_place(query, table, Derived(table.source, computed))
    return None


def computed_windows(query: Windowed, view: View) -> Select | None:
    """Return a query whose window functions are scalar subqueries."""
    inner = query.query
    if not isinstance(inner, Select) or not inner.plain or is_open(inner):
        return None
    values: list[Scalar] = []
    for window in query.windows:
        value = _over_partition(window, inner, view)
        if value is None:
            return None
        values.append(value)
    return attrs.evolve(inner, outputs=(*inner.outputs, *values))


def _over_partition(window: Window, inner: Select, view: View) -> Scalar | None:
    """Return the value of a window function over the rows of a SELECT."""
    rows, copy = view.rows_of(inner), view.copied(inner)

    def at(term: Node, select: Select) -> Scalar:
        if isinstance(term, Place):
            return select.outputs[term.number]
        assert isinstance(term, Scalar)
        return term

    same = [same_value(rows, at(key, copy), at(key, inner)) for key in window.keys]
    those = and_where(attrs.evolve(copy, outputs=()), same)
    items = [(at(item.value, copy), at(item.value, inner), item) for item in window.items]
    ranks = window.function in _BEFORE
    terms = *window.keys, *(item.value for item in window.items)
    total = rows.determined(at(term, inner) for term in terms)
    if items and (ranks or window.frame != WHOLE):
        if not all(rows.never_null(mine) for _, mine, _ in items):
            return None
        those = and_where(those, (comes_before(items, ties=not ranks),))
    if ranks:
        operand = items[0][0] if window.function == "dense_rank" and len(items) == 1 else None
        fits = operand is not None or window.function == "rank"
        if not items or not (fits or total.everything()):
            return None
        value: Scalar = Aggregate("count", operand, distinct=operand is not None)
        return Arithmetic("+", ONE, per_row_subquery(value, those, view))
    before = window.frame == Frame("rows", None, 0) and total.everything()
    if window.function not in AGGREGATES or not (window.frame in {WHOLE, RUNNING} or before):
        return None
    operand = at(window.operands[0], copy) if window.operands else None
    return per_row_subquery(Aggregate(window.function, operand, window.distinct), those, view)


# Orders.


@rule("LIMIT 0 emptied", Sorted)
def no_rows_by_limit(query: Sorted, _: View) -> Node | None:
    """A query of no rows has none, and none are taken by LIMIT 0."""
    if any(isinstance(output, Star) for output in query.outputs):
        return None
    if query.limit == 0 or is_empty(query.query):
        return empty(query.width)
    return None


@rule("LIMIT of a single row removed", Sorted)
def one_row_limited(query: Sorted, view: View) -> Node | None:
    """Of at most one row a LIMIT takes all, and nothing sorts it."""
    inner = query.query
    if query.offset or query.limit == 0:
        return None
    if isinstance(inner, Sorted) and inner.limit == 1 and inner.width == query.width:
        return inner
    if not isinstance(inner, Select):
        return None
    if inner.keys is not None or (query.limit is None and not query.items):
        return None
    if not (inner.aggregates or view.rows_of(inner).determined(()).everything()):
        return None
    narrowed = attrs.evolve(inner, outputs=inner.outputs[: query.width])
    return narrowed if narrowed.aggregates == inner.aggregates else None


@rule("redundant ORDER BY item removed", Sorted)
def shorter_order(query: Sorted, view: View) -> Node | None:
    """What those before it determine, and a column that they sort by already, sorts nothing."""
    inner = query.query
    if not isinstance(inner, Select):
        return None
    rows = view.rows_of(inner)
    kept: list[OrderItem] = []
    given: list[Scalar] = []
    for item, place in zip(query.items, query.places, strict=True):
        if not rows.determined(given)(inner.outputs[place]):
            kept.append(item)
            given.append(inner.outputs[place])
    return attrs.evolve(query, items=tuple(kept))


@rule("value of a single row to join", Select)
def join_for_single(select: Select, view: View) -> Node | None:
    """What must equal the value of a query with at most one row is joined to that row."""
    for condition, rest in each_condition(select):
        for value, other in sides_of(condition):
            query = value.query if isinstance(value, ScalarQuery) else None
            single = isinstance(query, Sorted) and query.limit == 1 and not free_sources(query)
            if isinstance(query, Select) and query.plain and not is_open(query):
                rows = view.inside(select.tables).rows_of(query)
                single = rows.determined(()).everything()
            if single and query is not None:
                table = Derived(view.fresh(), query)
                equal = Comparison("=", Column(table.source, "0"), other)
                return and_where(with_tables(rest, (*select.tables, table)), (equal,))
    return None


@rule("LIMIT moved out of a derived table", Select)
def limited_last(select: Select, view: View) -> Node | None:
    """A SELECT that keeps each row once may be taken before a LIMIT, as neither the rows nor their
    order change: it computes row by row, and a table that it joins has just one partner for each
    row, along a foreign key that is not NULL.  An outer DISTINCT is allowed only for one row.
    """
    if select.keys is not None or select.aggregates:
        return None
    for table in own_derived(select):
        query, others = table.query, [one for one in select.tables if one is not table]
        inner = query.query if isinstance(query, Sorted) else None
        if not isinstance(query, Sorted) or not isinstance(inner, Select):
            continue
        if select.distinct and query.limit != 1:
            continue
        if is_open(without_tables(select)) or not _each_joined(select, table, inner, others, view):
            continue
        width = len(select.outputs)
        sorts = (Column(table.source, str(number)) for number in query.places)
        whole = in_place(select, table, Derived(table.source, inner))
        whole = attrs.evolve(whole, outputs=(*select.outputs, *sorts), distinct=False)
        items = tuple(
            attrs.evolve(item, value=Place(number))
            for number, item in enumerate(query.items, width)
        )
        return Sorted(whole, width, items, query.limit, query.offset)
    return None


def _each_joined(
    select: Select, table: Derived, inner: Select, others: list[Table], view: View
) -> bool:
    """Say whether each row of a derived table has just one partner in the only other table."""
    if not others:
        return select.where == TRUE
    other = others[0]
    if len(others) > 1 or not isinstance(other, Scan):
        return False
    found: list[tuple[Column, Column]] = []
    for condition in conjuncts(select.where):
        mine, theirs = link_of(condition, other.source) or (None, None)
        own = theirs is not None and theirs.source == table.source
        value = inner.outputs[int(theirs.name)] if theirs is not None and own else None
        if mine is None or not isinstance(value, Column):
            return False
        found.append((mine, value))
    rows, columns = view.rows_of(inner), {mine.name.lower() for mine, _ in found}
    unique = view.key(other.source, lambda key: {*key} == columns) is not None
    there = unique and all(rows.never_null(one) for _, one in found)
    return there and refers_to(other.source, found, view)
