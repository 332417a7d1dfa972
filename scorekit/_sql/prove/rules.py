"""
The rules: ways to rewrite a node so that it means the same, in the order in which they are tried.

SQL's AND, OR and NOT are minimum, maximum and reflection on false < NULL < true, so whatever
holds in that lattice holds for them.  Where only truth matters (``filter``: WHERE, HAVING, ON,
WHEN), NULL and false are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from typing import Final, TypeVar

import attrs

from scorekit._sql.databases.kinds import LOOSE_TYPES, NUMBERS
from scorekit._sql.meaning.read import bare_columns
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    RUNNING,
    TRUE,
    WHOLE,
    Aggregate,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Derived,
    Exists,
    Frame,
    Function,
    InQuery,
    IsNull,
    Join,
    Like,
    Literal,
    Negative,
    Node,
    Not,
    Or,
    OrderItem,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    SetOperation,
    Source,
    Star,
    Table,
    When,
    Window,
    Windowed,
    conjunction,
    conjuncts,
    found_in,
    free_sources,
    has_aggregate,
    integer,
    local_sources,
    replaced,
    rewritten,
    sorted_nodes,
    walk,
)
from scorekit._sql.prove.dependencies import is_equation
from scorekit._sql.prove.logic import negated, with_canonical_names
from scorekit._sql.prove.normal import (
    Arm,
    As,
    FullJoin,
    LeftJoins,
    Sorted,
    exactly_one,
    is_open,
    unconverted,
)
from scorekit._sql.prove.rule import (
    Rows,
    Rule,
    View,
    aggregates_in,
    aggregates_of,
    and_where,
    empty,
    of_groups,
    parts_of_groups,
    rule,
    uses,
    with_aggregates,
    without_tables,
)
from scorekit._sql.prove.scalars import against_number, in_order, is_boolean, is_literal
from scorekit._sql.prove.scope import derived_in, never_null_alone
from scorekit._sql.prove.texts import (
    CUTS,
    FOLDED,
    ISO_MONTH,
    ISO_START,
    compared_part,
    dated,
    days_of,
    holds_dates,
    is_text,
    looked_for,
    month_of,
    part_of_date,
    text_of,
    within,
)
from scorekit._sql.schema.definitions import Reference

ONE: Final = integer(1)
ZERO: Final = integer(0)
ROWS: Final = Aggregate("count")
_N = TypeVar("_N", bound=Node)


# Conditions and values.


@rule("operands sorted", And, Or, Comparison, Arithmetic, shown=False)
def operands_in_order(node: Scalar, _: View) -> Node | None:
    """AND, OR, =, <>, * and the + of numbers are commutative."""
    return in_order(node)


# Is there a row?


def is_empty(query: Query) -> bool:
    """Say whether a query is the one without rows."""
    return query == empty(len(query.outputs))


def is_certain(condition: Node) -> bool:
    """Say whether a condition is never NULL, whatever the tables hold."""
    # spelling: that a condition is true may be asked of what is never NULL, too
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
        # spelling: what follows may be said again
        if not around.implies(c)
    ]
    return conjunction((*outside, *map(Exists, parts)))


def of_row_around(query: Select, view: View) -> tuple[list[Scalar], list[Scalar]]:
    """Return what equates columns with the row around, and the rest of WHERE in terms of that."""
    own, rows = frozenset(local_sources(query.tables)), view.rows_of(query)
    known: dict[Scalar, Scalar] = {}
    for column in dict.fromkeys(found_in(query.where, Column)):
        if column.source in own:
            equal = (one for one in rows.equals(column) if not uses(one, own) and one.sources)
            first = next(iter(sorted_nodes(equal)), None)
            if first is not None and rows.same(column, first):
                known[column] = first
    given: list[Scalar] = [rewritten(Comparison("=", *pair), in_order) for pair in known.items()]
    before = (rewritten(c, in_order) for c in conjuncts(query.where))
    # spelling: a condition may stand twice
    return given, [replaced(c, known) for c in before if c not in given]


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
        # spelling: others may be turned, too
        return negated(inner) if any(map(value_over, (inner.left, inner.right))) else None
    known = isinstance(inner, Not) and (view.mode != "value" or is_boolean(inner.operand))
    return inner.operand if isinstance(inner, Not) and known else None


# Dates and texts.


@rule("part of a date cut out", Function)
def cut_out_dates(node: Function, view: View) -> Node | None:
    """What SQLite writes of an ISO text is a part of it."""
    if view.dialect != "sqlite" or node.name not in ("date", "timetostr"):
        return None
    # spelling: without operands it is of the time of day
    column = dated(node.operands[0], view) if node.operands else None
    written = "%Y-%m-%d" if len(node.operands) == 1 else text_of(node.operands[-1])
    places = next((one for one, its in CUTS.items() if its == written), None)
    if column is None or places is None or not holds_dates(column, view):
        return None
    # spelling: the first ten letters of a day are the day
    if written == "%Y-%m-%d" and not view.declared(column).limits.timed:
        return column
    return Function("substring", (column, *map(integer, places)))


@rule("part of a date compared", Comparison)
def ranges_for_parts(node: Comparison, view: View) -> Node | None:
    """A date is of a year, or of a month of it, just where it is none before its first day and
    before the first one after it; months of any year come in one order as texts and as numbers.
    """
    for one, other in ((node.left, node.right), (node.right, node.left)):
        column, written, kind = part_of_date(one, view) or (None, "", "")
        text = compared_part(other, written, kind) if column is not None else ""
        days = days_of(written, text)
        if column is None or days is None or not holds_dates(column, view, in_text=kind == "text"):
            continue
        if written.startswith("%Y"):
            return within(node.operator, column, days, swapped=one is node.right)
        name = "month" if written == "%m" else "day"
        both = Function(name, (column,)), integer(int(text))
        left, right = both if one is node.left else both[::-1]
        return attrs.evolve(node, left=left, right=right)
    return None


@rule("month of a year compared", And)
def ranges_for_months(node: And, _: View) -> Node | None:
    """The days of a month and of a year are those of the month of that year."""
    parts = conjuncts(conjunction(node.parts))
    for part in parts:
        column, month = month_of(part) or (None, "")
        for since in parts if column is not None else ():  # spelling: for type checkers
            # spelling: only a comparison has a left side
            first = text_of(since.left)[:4] if isinstance(since, Comparison) else ""
            year, days = days_of("%Y", first), days_of("%Y-%m", f"{first}-{month}")
            # spelling: for type checkers
            if column is None or year is None or days is None:
                continue
            both = conjuncts(within("=", column, year))
            if {*both} <= {*parts}:
                # spelling: what follows may be said again
                rest = (one for one in parts if one not in (part, *both))
                return conjunction((*rest, within("=", column, days)))
    return None


@rule("LIKE of a date compared", Like)
def ranges_for_patterns(node: Like, view: View) -> Node | None:
    """A pattern of the beginning, or of the middle, of ISO dates asks for that part of them."""
    pattern = text_of(node.pattern)
    part = ISO_START.match(pattern) or ISO_MONTH.match(pattern)
    if part is None or node.escape is not None or node.operator != "like":
        return None
    first = ONE if pattern.startswith(part[1]) else integer(6)
    cut = Function("substring", (node.operand, first, integer(len(part[1]))))
    return ranges_for_parts.rewrite(Comparison("=", cut, Literal("text", part[1])), view)


@rule("last day of a range", Comparison, shown=False)
def half_open_days(node: Comparison, view: View) -> Node | None:
    """No date lies between a day and the next."""
    column, last = (node.left, node.right) if node.operator == "<=" else (node.right, node.left)
    if node.operator not in ("<", "<=") or not isinstance(column, Column):
        return None
    if isinstance(last, Cast) and last.kind == "time":
        last = last.operand
    days, declared = days_of("%Y-%m-%d", text_of(last)), view.declared(column)
    timed = declared.kind == "time" and declared.limits.timed
    if days is None or timed or dated(column, view) is None or not holds_dates(column, view):
        return None
    if node.operator == "<=":
        return Comparison("<", column, days[1])
    return Comparison("<=", days[1], column)


@rule("test of a text as LIKE", Comparison)
def patterns_for_tests(node: Comparison, view: View) -> Node | None:
    """Whether a text holds, begins with or is another one LIKE says as well, if it tells upper
    from lower case as the test does: in SQLite never, for ASCII letters.
    """
    value, text = looked_for(node) or (NULL, "")
    before = after = folded = ""
    whole = value
    while isinstance(whole, Function) and whole.operands:
        this, *places = whole.operands
        if whole.name in FOLDED:
            if view.dialect != "sqlite" or folded:
                break
            folded = whole.name
        elif whole.name == "strposition" and whole is value:
            before = after = "%"
        elif whole.name == "substring" and not after and places == [ONE, integer(len(text))]:
            after = "%"
        else:
            return None
        whole = this
    if not (folded or after) or not text.isascii() or not text or {*"%_\\"} & {*text}:
        return None
    if view.dialect == "sqlite":
        read = FOLDED[folded] if folded else str.swapcase
        if read(text) != text:
            return None
        text = text.lower()
    pattern = Literal("text", f"{before}{text}{after}")
    return Like("like", whole, pattern) if is_text(whole, view) else None


@rule("case of a text dropped", Function, Like, shown=False)
def without_case(node: Function | Like, view: View) -> Node | None:
    """A text without capital letters is its own in lower case, and LIKE in SQLite sees no case."""
    if isinstance(node, Function):
        text = text_of(node.operands[0]) if node.name in FOLDED else ""
        return Literal("text", FOLDED[node.name](text)) if text and text.isascii() else None
    this = node.operand
    # spelling: no other node has such a name
    if view.dialect != "sqlite" or node.operator != "like" or not isinstance(this, Function):
        return None
    folded = this.name in FOLDED and is_text(this.operands[0], view)
    return attrs.evolve(node, operand=this.operands[0]) if folded else None


@rule("LIKE without a wildcard", Like)
def equation_for_like(node: Like, view: View) -> Node | None:
    """A text that is like a pattern without wildcards is the pattern, where case matters."""
    pattern = text_of(node.pattern)
    plain = node.operator == "like" and node.escape is None and not {*"%_\\"} & {*pattern}
    if view.dialect == "sqlite" or not (plain and pattern and is_text(node.operand, view)):
        return None
    return Comparison("=", node.operand, node.pattern)


@rule("LIKE of a letter taken apart", Like)
def cases_of_a_letter(node: Like, view: View) -> Node | None:
    """In SQLite what begins with a letter by LIKE begins with it in upper or in lower case."""
    pattern = text_of(node.pattern)
    letter = pattern[:1]
    if view.dialect != "sqlite" or node.operator != "like" or node.escape is not None:
        return None
    if pattern != f"{letter}%" or not (letter.isascii() and letter.isalpha()):
        return None
    if not is_text(node.operand, view):
        return None
    first = Function("substring", (node.operand, ONE, ONE))
    texts = [Literal("text", one) for one in (letter.lower(), letter.upper())]
    return Or(tuple(Comparison("=", first, one) for one in texts))


# What a SELECT reads.


def own_derived(select: Select) -> Iterator[Derived]:
    """Yield the derived tables of a FROM whose rows no other one has."""
    for table in select.tables:
        if isinstance(table, Derived) and not table.shared:
            yield table


def each_condition(select: Select) -> Iterator[tuple[Scalar, Select]]:
    """Yield the conditions of WHERE, each with the SELECT without it."""
    for condition in conjuncts(select.where):
        rest = conjunction(one for one in conjuncts(select.where) if one != condition)
        yield condition, attrs.evolve(select, where=rest)


def in_place(select: Select, table: Table, new: Table) -> Select:
    """Return a SELECT with another table in the place of one."""
    return with_tables(select, (new if one is table else one for one in select.tables))


def with_tables(select: Select, tables: Iterable[Table]) -> Select:
    """Return a SELECT from other tables."""
    return attrs.evolve(select, tables=tuple(tables))


def looks_at(node: Node, keys: Iterable[Scalar], exact: Iterable[Scalar]) -> bool:
    """
    Say whether equal values of *keys* give equal values of *node*.

    Which of several equal values stands for them (1 and 1.0, ``a`` and ``A`` where case does not
    matter), a comparison does not tell, but a function may.  Of *exact* keys equal is the same.
    """
    keys, exact = frozenset(keys), frozenset(exact)
    if node in keys:  # spelling: a key that is a column passes below, too
        return True
    computes = isinstance(node, Arithmetic) and node.operator not in ("+", "*")
    if computes or isinstance(node, Function | Like | Cast | Negative):
        return not any(one in keys and one not in exact for one in walk(node))
    return all(looks_at(child, keys, exact) for child in node.children)


def left_arms(select: Select) -> Iterator[tuple[Arm, tuple[Table, ...]]]:
    """Yield each arm of the left joins of a SELECT, and all tables without that arm."""
    for table in select.tables:
        if isinstance(table, LeftJoins):
            rest = [other for other in select.tables if other is not table]
            for arm in table.arms:
                others = tuple(other for other in table.arms if other is not arm)
                base = (LeftJoins(table.base, others),) if others else table.base
                yield arm, (*rest, *base)


# Normal form.


@rule("joins flattened", Select, shown=False)
def flat_joins(select: Select, _: View) -> Node | None:
    """An inner join is a product and a filter, and products commute.  A left join needs of its
    left side only the tables that its condition names: the rest is multiplied in before or after,
    and left joins to the same tables commute where no condition names the other's side.
    """
    parts, conditions = _flat(select.tables)
    return and_where(with_tables(select, parts), conditions)


def _flat(tables: Iterable[Table]) -> tuple[list[Table], list[Scalar]]:
    parts: list[Table] = []
    conditions: list[Scalar] = []
    for table in tables:
        if not isinstance(table, Join):
            parts.append(table)
            continue
        left, left_where = _flat((table.left,))
        right, right_where = _flat((table.right,))
        if table.kind == "inner":
            parts += [*left, *right]
            conditions += [*left_where, *right_where, *conjuncts(table.condition)]
        elif table.kind == "left":
            condition = conjunction((*right_where, table.condition))
            parts += left_joined(left, Arm(tuple(right), condition))
            conditions += left_where
        else:
            sides = (
                Arm(tuple(left), conjunction(left_where)),
                Arm(tuple(right), conjunction(right_where)),
            )
            parts.append(FullJoin(*sides, table.condition))
    return parts, conditions


def left_joined(left: list[Table], arm: Arm) -> list[Table]:
    """Return tables with an arm joined to those of them that its condition names."""
    used = arm.sources - {*local_sources((arm,))}
    # spelling: more tables may stand on the left side
    needed = [table for table in left if not used.isdisjoint(local_sources((table,)))]
    rest = [table for table in left if table not in needed]
    if not needed:
        needed, rest = rest, []
    one = needed[0]
    # spelling: left joins side by side may stand in one another
    if (
        len(needed) == 1
        and isinstance(one, LeftJoins)
        and used.isdisjoint(local_sources(one.arms))
    ):
        return [*rest, LeftJoins(one.base, (*one.arms, arm))]
    return [*rest, LeftJoins(tuple(needed), (arm,))]


@rule("derived table inlined", Select, shown=False)
def inlined(select: Select, _: View) -> Node | None:
    """A derived table that only filters and computes has a row for each row of its own tables,
    and its columns are pure functions of that row.  So it stands for these tables; moved out of
    an optional side, a column must be NULL where the row is.
    """
    new: dict[Column, Scalar] = {}
    parts, conditions = _inlined(select.tables, new, optional=False, only=False)
    whole = and_where(with_tables(select, parts), conditions)
    before = None
    while before != whole:  # what is put in place may name others
        before, whole = whole, replaced(whole, new)
    return whole


def _inlined(
    tables: Iterable[Table], new: dict[Column, Scalar], *, optional: bool, only: bool
) -> tuple[list[Table], list[Scalar]]:
    parts: list[Table] = []
    conditions: list[Scalar] = []
    for table in tables:
        if isinstance(table, LeftJoins):
            base, where = _inlined(table.base, new, optional=optional, only=True)
            found: list[Table] = base
            for arm in table.arms:
                found = left_joined(found, _arm(arm, new))
            parts += found
            conditions += where
        elif isinstance(table, FullJoin):
            first, second = (_arm(arm, new) for arm in (table.first, table.second))
            parts.append(FullJoin(first, second, table.condition))
        elif isinstance(table, Derived):
            columns = _columns_in_place(table, optional=optional, only=only)
            if columns is None:
                parts.append(table)
                continue
            assert isinstance(table.query, Select)
            new.update(columns)
            parts += table.query.tables
            conditions += conjuncts(table.query.where)
        else:
            parts.append(table)
    return parts, conditions


def _arm(arm: Arm, new: dict[Column, Scalar]) -> Arm:
    inner, more = _inlined(arm.tables, new, optional=True, only=True)
    return Arm(tuple(inner), conjunction((*more, arm.condition)))


def _columns_in_place(
    table: Derived, *, optional: bool, only: bool
) -> dict[Column, Scalar] | None:
    """Return what the columns of a derived table are where its tables stand in its place."""
    query = table.query
    if not isinstance(query, Select) or not query.plain or table.shared:
        return None
    own = local_sources(query.tables)
    if not own and only:  # a join of something must stay
        return None
    if optional and not all(_null_with_its_row(output, own) for output in query.outputs):
        return None
    return {Column(table.source, str(i)): output for i, output in enumerate(query.outputs)}


def _null_with_its_row(output: Scalar, own: list[Source]) -> bool:
    """Say whether an output of the optional side is NULL where its tables are all NULL."""
    return _is_null(replaced(output, _nulls(output, frozenset(own))))


def _is_null(value: Scalar) -> bool:
    """Say whether an expression of constants is NULL."""
    if isinstance(value, Arithmetic | Comparison):
        return _is_null(value.left) or _is_null(value.right)
    if isinstance(value, Case):
        return _is_null(value.default) and all(_is_null(when.condition) for when in value.whens)
    return value == NULL


@rule("derived table merged into its query", Select, shown=False)
def collapsed(select: Select, _: View) -> Node | None:
    """A SELECT that only filters and computes over one derived table is part of that: over groups
    WHERE is HAVING; a set operation gives just its own columns in order.
    """
    if len(select.tables) != 1 or select.keys is not None or select.aggregates:
        return None
    (table,) = select.tables
    if not isinstance(table, Derived) or table.shared:
        return None
    source, inner = table.source, table.query
    columns = [Column(source, str(i)) for i in range(len(inner.outputs))]
    if isinstance(inner, SetOperation):
        identity = select.outputs == tuple(columns) and select.where == TRUE
        return inner if identity and not select.distinct else None
    if not isinstance(inner, Select) or inner.distinct:
        return None
    new = dict(zip(columns, inner.outputs, strict=True))
    parts = (select.where, *select.outputs)
    aggregated = {column for column, output in new.items() if has_aggregate(output)}
    if any(
        not aggregated.isdisjoint(walk(query)) for part in parts for query in found_in(part, Query)
    ):
        return None  # an aggregate must not move into another query
    where = replaced(select.where, new)
    outputs = tuple(replaced(output, new) for output in select.outputs)
    result = attrs.evolve(inner, outputs=outputs, distinct=select.distinct)
    result = attrs.evolve(result, having=conjunction((*conjuncts(inner.having), where)))
    return None if inner.keys is None and not result.aggregates else result


@rule("left join to inner join", Select)
def inner_for_left_joins(select: Select, view: View) -> Node | None:
    """WHERE is never true of a row that the outer join has filled up with NULLs, or there is none:
    a foreign key finds a match for each row, or the optional side is one row always.
    """
    for arm, rest in left_arms(select):
        single = arm.condition == TRUE and all(
            isinstance(table, Derived) and exactly_one(table.query) for table in arm.tables
        )
        if single or _refused(arm, select, view) or _always_matches(select, arm, view):
            return inner_for_arm(select, arm, rest)
    return None


def inner_for_arm(select: Select, arm: Arm, rest: Iterable[Table]) -> Select:
    """Return a SELECT with the tables of an arm joined to the *rest* of its tables as inner."""
    return and_where(with_tables(select, (*rest, *arm.tables)), conjuncts(arm.condition))


@rule("full join to left join", Select)
def outer_for_full_joins(select: Select, view: View) -> Node | None:
    """WHERE is never true of the rows in which a full join has filled one side up, as it asks
    something of a column that NULL does not pass; or a foreign key finds all rows of that side.
    """
    for table in select.tables:
        sides = _sides(table)
        for (kept, arm), (other, back) in zip(sides, sides[::-1], strict=True):
            found = _always_matches(Select(other.tables, other.condition), back, view)
            if found or _refused(kept, select, view):
                rest = [one for one in select.tables if one is not table]
                left = LeftJoins(kept.tables, (arm,))
                return and_where(with_tables(select, (*rest, left)), conjuncts(kept.condition))
    return None


def _sides(table: Table) -> list[tuple[Arm, Arm]]:
    """Return either side of a full join, with the other one as what it is joined to."""
    if not isinstance(table, FullJoin):
        return []
    both = table.first, table.second
    return [
        (kept, Arm(other.tables, conjunction((other.condition, table.condition))))
        for kept, other in (both, both[::-1])
    ]


@rule("full join to UNION ALL", Select)
def apart_for_full_join(select: Select, view: View) -> Node | None:
    """A full join has the pairs that match, and the rows of either side without a match beside
    NULLs.
    """
    if not select.plain or is_open(select):
        return None
    for table in select.tables:
        if isinstance(table, FullJoin):
            rest = [other for other in select.tables if other is not table]
            arms: list[Select] = []
            for kept, arm in _sides(table):
                alone = with_tables(select, (*rest, *kept.tables))
                whole = and_where(alone, conjuncts(kept.condition))
                arms += left_apart(whole, arm, whole.tables, view)
            matched, first_alone, _, second_alone = arms
            return SetOperation("union", False, (matched, first_alone, second_alone))  # noqa: FBT003
    return None


def left_apart(
    select: Select, arm: Arm, rest: Iterable[Table], view: View
) -> tuple[Select, Select]:
    """Return the rows of a SELECT that an arm matches, and those that it does not."""
    alone = with_tables(select, rest)
    alone = replaced(alone, _nulls(alone, frozenset(local_sources((arm,)))))
    nothing = Not(Exists(Select(arm.tables, arm.condition)))
    return inner_for_arm(select, arm, rest), view.copied(and_where(alone, (nothing,)))


def _refused(side: Arm, select: Select, view: View) -> bool:
    """Say whether WHERE is never true of a row in which *side* is filled up with NULLs."""
    nulls = _nulls(select.where, frozenset(local_sources((side,))))
    filled = replaced(select.where, nulls)
    return bool(nulls) and view.rows(select.tables, conjuncts(filled)).none()


# Optional sides.


def _nulls(node: Node, own: frozenset[Source]) -> dict[Column, Scalar]:
    return {column: NULL for column in found_in(node, Column) if column.source in own}


def _has_no_rows(table: Table) -> bool:
    return isinstance(table, Derived) and is_empty(table.query)


@rule("unused outer join removed", Select)
def without_unused_arm(select: Select, view: View) -> Node | None:
    """An optional side that nothing uses adds no row where it matches at most once, or where it
    does not matter how often a row comes.
    """
    rows = view.rows_of(select)
    for arm, rest in left_arms(select):
        without = with_tables(select, rest)
        if not uses(without, local_sources((arm,))) and (
            not repeats(select, view) or rows.at_most_one(arm)
        ):
            return without
    return None


def repeats(select: Select, view: View) -> bool:
    """Say whether it matters how often the rows come that a SELECT reads."""
    if select.keys is None and not select.aggregates:
        return view.repeats and not select.distinct
    return not all(map(is_blind, aggregates_in(select)))


def is_blind(aggregate: Aggregate) -> bool:
    """Say whether an aggregate does not see how often a value comes."""
    return aggregate.distinct or aggregate.function in ("min", "max")


@rule("IS NULL of an outer join to NOT EXISTS", Select)
def tested_arm(select: Select, view: View) -> Node | None:
    """A column that no match leaves NULL says whether an optional side matches.  That is asked of
    what matches at most once, or where WHERE wants rows without a match, all NULL there.
    """
    rows = view.rows_of(select)
    for arm, rest in left_arms(select):
        own = frozenset(local_sources((arm,)))
        if any(uses(table, own) for table in rest) or is_open(arm):
            continue
        inner = rows.matching(arm)
        without = with_tables(select, rest)
        nothing = Not(Exists(Select(arm.tables, arm.condition)))
        tests: dict[Node, Node] = {}
        for test in found_in(without, IsNull):
            column = test.operand
            if isinstance(column, Column) and column.source in own and inner.never_null(column):
                tests[test] = nothing
        if any(part in tests for part in conjuncts(select.where)):
            return replaced(without, {**_nulls(without, own), **tests})
        bare = replaced(without, dict.fromkeys(tests, TRUE))
        if not uses(bare, own) and rows.at_most_one(arm):
            return replaced(without, tests)
    return None


def _always_matches(select: Select, arm: Arm, view: View) -> bool:
    """Say whether a foreign key finds a row for each row of the base."""
    if len(arm.tables) != 1 or not isinstance(arm.tables[0], Scan):
        return False
    source, rows = arm.tables[0].source, view.rows_of(select)
    links = [_link(condition, source) for condition in conjuncts(arm.condition)]
    found = [link for link in links if link is not None]
    there = len(found) == len(links) and all(rows.never_null(other) for _, other in found)
    return there and _refers(source, found, view)


def _link(condition: Scalar, source: Source) -> tuple[Column, Column] | None:
    """Return the column of a table and that of another one that a condition equates."""
    if not is_equation(condition):
        return None
    for mine, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if isinstance(mine, Column) and isinstance(other, Column) and mine.source == source:
            return None if other.source == source else (mine, other)
    return None


def _refers(target: Source, links: Sequence[tuple[Column, Column]], view: View) -> bool:
    """Say whether a foreign key finds a row of *target* where no column linked to it is NULL."""
    equal = {mine.name.casefold(): other for mine, other in links}
    if len(equal) < len(links):
        return False  # it must equal two columns, of which the key is but one

    def finds(reference: Reference) -> bool:
        if reference.other != target.table.casefold() or {*reference.others} != {*equal}:
            return False
        partners = [equal[column] for column in reference.others]
        home = partners[0].source
        return home.table.casefold() == reference.table and all(
            other.source == home and other.name.casefold() == column
            for other, column in zip(partners, reference.columns, strict=True)
        )

    return view.refers(finds)


# Inner joins.


@rule("foreign key join removed", Select)
def without_referenced(select: Select, view: View) -> Node | None:
    """Each row has just one partner along a foreign key to the other table's own key, unless it
    is NULL; so a table of which nothing but that key is used is not needed.
    """
    rows = view.rows_of(select)
    for table in select.tables:
        if not isinstance(table, Scan):
            continue
        source = table.source
        links = {
            condition: link
            for condition in conjuncts(select.where)
            if (link := _link(condition, source)) is not None
        }
        key = dict(links.values())
        columns = {column.name.casefold() for column in key}
        if view.key(source, lambda names: {*names} == columns) is None:  # noqa: B023 - called at once
            continue
        rest = conjunction(c for c in conjuncts(select.where) if c not in links)
        others = [other for other in select.tables if other is not table]
        without = attrs.evolve(with_tables(select, others), where=rest)
        if uses(without, (source,)):
            if not all(rows.same(*both) for both in key.items()):
                continue
            without = replaced(without, key)
            if uses(without, (source,)):
                continue
        outer = view.rows_of(without)
        if _refers(source, [*links.values()], view):
            # spelling: that what is never NULL is not NULL may be said again
            tests = [Not(IsNull(one)) for one in key.values() if not outer.never_null(one)]
            return and_where(without, tests)
    return None


@rule("self join on a key removed", Select)
def without_self_joins(select: Select, view: View) -> Node | None:
    """Two tables whose rows have the same key are the same row of the same table, and so is an
    optional side that finds just that row.
    """
    rows = view.rows_of(select)
    scans = [table for table in select.tables if isinstance(table, Scan)]
    for i, first in enumerate(scans):
        for second in scans[i + 1 :]:
            mine, other = first.source, second.source
            if mine.table != other.table:
                continue

            def alike(name: str, mine: Source = mine, other: Source = other) -> bool:
                return Column(other, name) in rows.equals(Column(mine, name))

            if view.key(mine, lambda key: all(map(alike, key))):
                parts = [table for table in select.tables if table is not second]
                return replaced(with_tables(select, parts), {other: mine})
    for arm, rest in left_arms(select):
        found = _witness(Select(arm.tables, arm.condition), rest, (), view)
        if found is not None and rows.at_most_one(arm):
            return replaced(with_tables(select, rest), found)
    return None


@rule("EXISTS to join", Select)
def joins_for_exists(select: Select, view: View) -> Node | None:
    """A row for which EXISTS finds at most one row is there once in the join with that, and how
    often it is there does not matter where repeated rows do not, or where keys are counted.
    """
    rows = view.rows_of(select)
    for condition, rest in each_condition(select):
        inner = condition.query if isinstance(condition, Exists) else None
        if not isinstance(inner, Select) or not inner.plain:
            continue
        arm = Arm(inner.tables, inner.where)
        if rows.at_most_one(arm):
            return inner_for_arm(rest, arm, select.tables)
        once = _without_repeats(rest, view)
        if once is not None:
            return inner_for_arm(once, arm, select.tables)
    return None


def _without_repeats(select: Select, view: View) -> Select | None:
    """Return a SELECT to which repeated rows do not matter: what counts rows may count a key."""
    if not repeats(select, view):
        return select
    aggregates = aggregates_in(select)
    keys = _only_key(select, view) if aggregates else []
    if len(keys) != 1 or not all(agg == ROWS or is_blind(agg) for agg in aggregates):
        return None
    (key,) = keys
    once = Aggregate("count", key, distinct=True)
    return of_groups(select, {ROWS: once}) if view.never_null(key, select.tables) else None


# Derived tables.


def arms_of(query: Query) -> tuple[Query, ...]:
    """Return the arms of a UNION ALL; any other query is its own one."""
    union = isinstance(query, SetOperation) and query.operator == "union" and not query.distinct
    return query.arms if isinstance(query, SetOperation) and union else (query,)


@rule("unused columns removed", Select)
def pruned(select: Select, _: View) -> Node | None:
    """What nothing reads of a derived table goes, unless it distinguishes duplicates, or the table
    would no longer be one row; of columns that are computed alike the first is read.
    """
    used = {*found_in(select, Column)}
    parts: dict[Derived, Derived] = {}
    new: dict[Column, Column] = {}
    for table in derived_in(select.tables):
        columns = [Column(table.source, str(i)) for i in range(len(table.query.outputs))]
        first = _first_alike(table.query)
        kept = sorted({first[i] for i, one in enumerate(columns) if one in used})
        narrowed = _narrowed(table.query, kept)
        if narrowed is None or table.shared or not (kept or isinstance(narrowed, Select)):
            narrowed, kept = table.query, [*range(len(columns))]
        parts[table] = attrs.evolve(table, query=narrowed)
        both = zip(columns, first, strict=True)
        new |= {column: columns[kept.index(one)] for column, one in both if one in kept}
    tables = tuple(replaced(table, parts) for table in select.tables)
    return replaced(with_tables(select, tables), new)


def _first_alike(query: Query) -> list[int]:
    """Return, for each output of a query, the first one that is computed alike."""
    arms = arms_of(query)
    if not all(isinstance(arm, Select) for arm in arms):
        return [*range(len(query.outputs))]
    alike = [*zip(*(arm.outputs for arm in arms), strict=False)]
    return [alike.index(one) for one in alike]


def _narrowed(query: Query, kept: list[int]) -> Query | None:
    """Return a query with only some of its outputs, None where they cannot be left out."""
    if isinstance(query, SetOperation):
        arms = [_narrowed(arm, kept) for arm in query.arms]
        plain = query.operator == "union" and not query.distinct
        some = tuple(arm for arm in arms if arm is not None)
        return attrs.evolve(query, arms=some) if plain and len(some) == len(arms) else None
    if not isinstance(query, Select) or query.distinct:
        return None
    narrowed = attrs.evolve(query, outputs=tuple(query.outputs[i] for i in kept))
    alone = query.keys is None and query.aggregates and not narrowed.aggregates
    return None if alone else narrowed


@rule("redundant DISTINCT in a derived table removed", Select)
def plain_for_distinct(select: Select, view: View) -> Node | None:
    """Where repeated rows do not matter outside, they do not inside, as long as it does not
    matter which of equal rows is kept.
    """
    return None if repeats(select, view) else _with_duplicates(select, view)


def _with_duplicates(select: Select, view: View) -> Select:
    """Return a SELECT whose derived tables drop no duplicates, where nothing tells equal rows."""
    whole = select
    for table in own_derived(select):
        query = table.query
        if isinstance(query, SetOperation) and query.operator != "union":
            continue
        if isinstance(query, Select | SetOperation) and sees_equals_alike(select, table, view):
            plain = attrs.evolve(query, distinct=False)
            whole = in_place(whole, table, Derived(table.source, plain))
    return whole


def sees_equals_alike(select: Select, table: Derived, view: View) -> bool:
    """Say whether it does not matter which of equal rows a DISTINCT keeps."""
    query = table.query
    arms = query.arms if isinstance(query, SetOperation) else (query,)
    columns = [Column(table.source, str(i)) for i in range(len(query.outputs))]
    exact = {
        column
        for i, column in enumerate(columns)
        if all(isinstance(arm, Select) and view.exact(arm.outputs[i], arm.tables) for arm in arms)
    }
    seen = (select.where, *parts_of_groups(select), *(select.keys or ()), *select.tables)
    return all(looks_at(part, columns, exact) for part in seen)


# No rows.


@rule("query without rows emptied", Select)
def without_rows(select: Select, view: View) -> Node | None:
    """Where WHERE is never true, or a table that must match has no rows, there are none; what is
    aggregated of no rows without groups is 0 if it counts, and NULL if not.
    """
    if view.arm or not reads_no_rows(select, view):
        return None
    if any(isinstance(output, Star) for output in select.outputs):
        return None
    if select.keys is not None or not select.aggregates:
        return empty(len(select.outputs))
    new: dict[Aggregate, Scalar] = {
        agg: ZERO if agg.function == "count" else NULL for agg in aggregates_in(select)
    }
    nothing = of_groups(select, new)
    return Select((), nothing.having, outputs=nothing.outputs)


def reads_no_rows(select: Select, view: View) -> bool:
    """Say whether no row passes the WHERE of a SELECT."""
    required = [
        table
        for one in select.tables
        for table in (one.base if isinstance(one, LeftJoins) else (one,))
    ]
    never = select.where == FALSE or any(map(_has_no_rows, required))
    return never or view.rows_of(select).none()


# GROUP BY, DISTINCT and aggregates.


@rule("dependent column added to GROUP BY", Select)
def determined_keys(select: Select, view: View) -> Node | None:
    """A column that the keys of a group determine makes no more groups as a key."""
    bare = bare_columns(select) if select.keys is not None else []
    given = view.rows_of(select).determined(select.keys or ())
    found = tuple(dict.fromkeys(one for one in bare if given.exactly(one)))
    return attrs.evolve(select, keys=(*(select.keys or ()), *found)) if found else None


@rule("HAVING on keys moved to WHERE", Select, shown=False)
def conditions_on_keys_first(select: Select, view: View) -> Node | None:
    """A condition on the keys of a group holds for all of its rows or none: HAVING is WHERE."""
    if select.keys is None:
        return None
    keys = frozenset(select.keys)
    exact = frozenset(key for key in keys if view.exact(key, select.tables))
    moved = [
        part
        for part in conjuncts(select.having)
        if not has_aggregate(part) and looks_at(part, keys, exact)
    ]
    kept = conjunction(part for part in conjuncts(select.having) if part not in moved)
    return and_where(attrs.evolve(select, having=kept), moved)


@rule("aggregate simplified", Select)
def plain_aggregates(select: Select, view: View) -> Node | None:
    """``COUNT(DISTINCT x)`` counts each x once anyway where no two rows of a group share it; COUNT
    of what is never NULL counts rows; and what the keys determine is its own least value.
    """
    rows, keys = view.rows_of(select), select.keys or ()
    found: dict[Aggregate, Scalar] = {}
    for agg in aggregates_in(select):
        this = agg.operand
        if this is None:
            continue
        if agg.distinct and rows.determined((*keys, _counted(this))).everything():
            found[agg] = attrs.evolve(agg, distinct=False)
        elif select.keys is not None and is_blind(agg):
            value = _of_one_row(agg, rows) if rows.determined(keys)(this) else None
            if value is not None:
                found[agg] = value
        elif agg.function == "count" and not agg.distinct and rows.never_null(this):
            found[agg] = ROWS
    return of_groups(select, found)


def _counted(operand: Scalar) -> Scalar:
    """Return x of ``CASE WHEN p THEN x END``, which is equal to it where it is not NULL."""
    if isinstance(operand, Case) and operand.default == NULL and len(operand.whens) == 1:
        return operand.whens[0].value
    return operand


@rule("GROUP BY to DISTINCT", Select, shown=False)
def distinct_for_group(select: Select, _: View) -> Node | None:
    """GROUP BY without aggregates gives each key once; with all keys put out that is DISTINCT."""
    if select.keys is None or select.aggregates or select.having != TRUE:
        return None
    if not {*select.keys} <= {NULL, *select.outputs}:
        return None
    return attrs.evolve(select, distinct=True, keys=None)


@rule("DISTINCT removed where duplicates do not matter", Select, shown=False)
def without_duplicates(select: Select, view: View) -> Node | None:
    """How often a row comes does not matter in IN, EXISTS, or where a set operation drops
    duplicates.
    """
    return None if view.repeats else attrs.evolve(select, distinct=False)


@rule("redundant DISTINCT removed", Select)
def without_needless_distinct(select: Select, view: View) -> Node | None:
    """DISTINCT drops nothing where the outputs tell all rows, or all groups, apart."""
    if not select.distinct:  # spelling: without DISTINCT nothing changes
        return None
    given = view.rows_of(select).determined(select.outputs)
    if select.keys is not None:
        unique = all(map(given, select.keys))
    else:
        unique = select.aggregates or given.everything()
    return attrs.evolve(select, distinct=False) if unique else None


@rule("GROUP BY of single rows removed", Select)
def rows_for_single_groups(select: Select, view: View) -> Node | None:
    """Where the keys of GROUP BY tell all rows apart a group is its one row: COUNT(*) is 1, and
    the sum, mean, least and greatest value are the value itself, a sum or a mean as one of
    their type.
    """
    rows = view.rows_of(select)
    if select.keys is None or not rows.determined(select.keys).everything():
        return None
    found: dict[Aggregate, Scalar] = {}
    for agg in aggregates_in(select):
        value = _of_one_row(agg, rows)
        if value is None:
            return None
        found[agg] = value
    whole = of_groups(select, found)
    return and_where(attrs.evolve(whole, keys=None, having=TRUE), conjuncts(whole.having))


def _of_one_row(agg: Aggregate, rows: Rows) -> Scalar | None:
    this = agg.operand
    # spelling: of what is never NULL the CASE below is 1, too
    if this is None or (agg.function == "count" and rows.never_null(this)):
        return ONE
    if agg.function == "count":
        return Case((When(IsNull(this), ZERO),), ONE)
    loose = rows.view.dialect in LOOSE_TYPES
    if agg.function in ("min", "max"):
        # what SQLite compares to a column it converts, but not what it compares to an aggregate
        return As(agg.function, this) if loose else this
    if agg.function not in ("sum", "avg") or rows.kind(this) not in NUMBERS:
        return None
    columns = {*found_in(this, Column)}
    if loose:  # text that a column of numbers holds is summed as one
        if rows.view.dialect == "sqlite" and columns:
            return None
        names = (f"{c.source.table}.{c.name}" if c.source.table else "" for c in columns)
        rows.view.rely(
            frozenset(f"{n or 'a column of a derived table'} holds numbers" for n in names)
        )
    return As(agg.function, this)


@rule("DISTINCT moved out of a derived table", Select)
def distinct_moved_out(select: Select, view: View) -> Node | None:
    """After a join with distinct rows, duplicates are dropped where they are the only ones there
    are.
    """
    if not select.plain:
        return None
    whole = attrs.evolve(select, distinct=True)
    moved = _with_duplicates(whole, view)
    if moved == whole or not view.rows_of(select).determined(select.outputs).everything():
        return None
    return moved


# Aggregates of aggregates.

_THROUGH: Final = {
    ("sum", "count"): "count", ("sum", "sum"): "sum", ("min", "min"): "min", ("max", "max"): "max",
}  # fmt: skip


@rule("nested aggregates merged", Select)
def merged_groups(select: Select, view: View) -> Node | None:
    """The sum of the counts of finer groups is the count of the coarser one, and likewise for
    sums, least and greatest values, also over several arms of a UNION ALL; without groups
    outside, a sum of no counts is NULL where a count is 0, so that an arm must always have a
    row.  Groups that differ in one key only are the different values of that.
    """
    if select.keys is None and not select.aggregates:
        return None
    for table in own_derived(select):
        found = _merged(select, table, view)
        if found is not None:
            return found
    return None


def _merged(select: Select, table: Derived, view: View) -> Select | None:
    """Take the aggregates over one derived table from its rows, which other tables may join."""
    others = [other for other in select.tables if other is not table]
    arms = [arm for arm in arms_of(table.query) if isinstance(arm, Select)]
    several = table.query if isinstance(table.query, SetOperation) else None
    if len(arms) != len(arms_of(table.query)):
        return None
    if not several:
        arms = [*map(_grouped, arms)]
        table = attrs.evolve(table, query=arms[0])
    alone = not others and select.where == TRUE
    if several and (not alone or converted(several, view)):
        return None
    for arm in arms:
        if arm.distinct or arm.having != TRUE:
            return None
        if arm.keys is None and select.keys is not None:
            return None
    some_row = any(arm.keys is None for arm in arms)
    kinds = [_kind(outputs) for outputs in zip(*(arm.outputs for arm in arms), strict=True)]
    left = () if others or several else _own_keys(arms[0], table, select)
    found: dict[Aggregate, Scalar] = {}
    for agg in aggregates_in(select):
        this = agg.operand
        if this is None and len(left) == 1 and view.never_null(left[0], (table,)):
            this = left[0]
        if not isinstance(this, Column) or this.source != table.source:
            return None
        place = int(this.name)
        if kinds[place] == "key":
            if not is_blind(agg):
                if left != (this,):
                    return None
                found[agg] = attrs.evolve(agg, operand=this, distinct=True)
            continue
        name = None if agg.distinct else _THROUGH.get((agg.function, kinds[place]))
        if name is None or not (alone or select.keys is not None):
            return None
        if name == "sum" and any(
            view.kind(arm.outputs[place], arm.tables) == "real" for arm in arms
        ):
            return None  # sums of floats depend on their order
        if name == "count" and select.keys is None and not some_row:
            return None
        whole: Scalar = Aggregate(name, this)
        # spelling: a least value as a sum is only of another type
        found[agg] = As("sum", whole) if agg.function == "sum" else whole
    aggregates: dict[Aggregate, Scalar] = dict.fromkeys(aggregates_in(select), NULL)
    rest = [with_aggregates(part, aggregates) for part in parts_of_groups(select)]
    seen = (*rest, *(select.keys or ()), select.where, *others)
    columns = {c for part in seen for c in found_in(part, Column) if c.source == table.source}
    if any(kinds[int(column.name)] != "key" for column in columns):
        return None
    alike = frozenset(column for column in columns if view.exact(column, (table,)))
    if not all(looks_at(part, columns, alike) for part in seen):
        return None
    plain = [
        attrs.evolve(
            arm,
            keys=None,
            outputs=tuple(
                _operand(output) if kind != "key" else output
                for output, kind in zip(arm.outputs, kinds, strict=True)
            ),
        )
        for arm in arms
    ]
    query: Query = plain[0]
    if isinstance(table.query, SetOperation):
        query = attrs.evolve(table.query, arms=tuple(plain))
    return with_tables(of_groups(select, found), (*others, Derived(table.source, query)))


def _grouped(select: Select) -> Select:
    """Return a SELECT with DISTINCT as one with groups, all of whose keys it puts out."""
    if select.distinct and select.keys is None and not select.aggregates:
        select = attrs.evolve(select, distinct=False, keys=select.outputs)
    more = [key for key in select.keys or () if key not in select.outputs]
    return attrs.evolve(select, outputs=(*select.outputs, *more))


def _own_keys(inner: Select, table: Derived, select: Select) -> tuple[Column, ...]:
    """Return the keys of a derived table in which the groups that share outer keys may differ."""
    places = (inner.outputs.index(key) for key in inner.keys or () if not is_literal(key))
    columns = (Column(table.source, str(place)) for place in dict.fromkeys(places))
    return tuple(one for one in columns if one not in (select.keys or ()))


def _operand(output: Scalar) -> Scalar:
    operand = output.operand if isinstance(output, Aggregate) else None
    return ONE if operand is None else operand


def _kind(outputs: Sequence[Scalar]) -> str:
    if not any(map(has_aggregate, outputs)):
        return "key"
    names = {
        output.function if isinstance(output, Aggregate) and not output.distinct else ""
        for output in outputs
    }
    return names.pop() if len(names) == 1 else ""


# Aggregates over the rows that share a key.
#
# However it is written, such an aggregate is a scalar subquery over the rows that belong to the
# row around it, and whether there are any is EXISTS.


def of_each(part: Scalar, those: Select, view: View) -> Scalar:
    """Return an expression of aggregates with each as its value over *those* rows."""
    new: dict[Aggregate, Scalar] = {
        agg: ScalarQuery(view.copied(attrs.evolve(those, outputs=(agg,))))
        for agg in aggregates_of(part)
    }
    return with_aggregates(part, new)


def outside_aggregates(part: Scalar) -> Scalar:
    """Return an expression with NULL for what it aggregates."""
    return with_aggregates(part, dict.fromkeys(aggregates_of(part), NULL))


def same_value(rows: Rows, first: Scalar, second: Scalar) -> Scalar:
    """Return the condition that a value of other rows, and one of these, are in one group."""
    equal = Comparison("=", first, second)
    # spelling: what is never NULL may be asked whether it is
    if rows.never_null(second):
        return equal
    return Or((equal, And((IsNull(first), IsNull(second)))))


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
        return of_each(apart.outputs[0], apart, view)
    given, inside = of_row_around(query, view)
    if {*given, *inside} != {rewritten(c, in_order) for c in conjuncts(query.where)}:
        return ScalarQuery(attrs.evolve(query, where=conjunction((*given, *inside))))
    rows = view.rows_of(query)
    value = _of_one_row(output, rows)
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
                # spelling: of other conditions nothing is known here
                if not uses(condition, own) and rows.implies(condition):
                    return replaced(select, {query: rest})
                for test in outermost(condition, IsNull):
                    # spelling: of other tests nothing is known here
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
        if not its or not uses(scalar, own) or not _null_with_its_row(query.outputs[0], its):
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
        found = _met(table, conjuncts(select.where), (attrs.evolve(rest, where=TRUE),), rows)
        if found is not None:
            tests, left, new = found
            return replaced(attrs.evolve(rest, where=conjunction((*left, *tests))), new)
    for arm, others in left_arms(select):
        rows = rows or view.rows_of(select)
        rest = with_tables(select, others)
        side, *more = arm.tables
        if more or not isinstance(side, Derived) or side.shared:
            continue
        found = _met(side, conjuncts(arm.condition), (rest,), rows.matching(arm))
        if found is not None:
            tests, left, new = found
            there = replaced(conjunction((*left, *tests)), new)
            filled = {c: Case((When(there, value),)) for c, value in new.items()}
            # spelling: CASE WHEN TRUE is its value
            return replaced(rest, filled if there != TRUE else new)
    return None


def _met(
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
    moved = [replaced(of_each(part, those, view), given) for part in parts]
    # spelling: a column is a key or aggregated
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
    # spelling: what is asked of other rows may be asked there
    inside = [c for c in conjuncts(select.where) if uses(c, sources)]
    outside = [c for c in conjuncts(select.where) if c not in inside]
    those = Select(tuple(hidden), conjunction(inside))
    if any(uses(table, sources) for table in shown) or (select.aggregates and is_open(those)):
        return None
    having, *outputs = (
        replaced(of_each(part, those, view), new) for part in parts_of_groups(select)
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
            value = of_each(agg, those, view)
            if agg.operand is None:
                found[agg] = Case((When(Exists(view.copied(those)), value),), ONE)
            elif _null_with_its_row(agg.operand, own):
                found[agg] = value
        without = of_groups(with_tables(select, rest), found)
        if without.aggregates or uses(without, own):
            continue
        whole = attrs.evolve(without, keys=None, having=TRUE)
        return and_where(whole, conjuncts(without.having))
    return None


# Comparisons with such values.


def value_over(value: Scalar) -> tuple[Select, Aggregate] | None:
    """Return the rows that a scalar subquery aggregates, and how."""
    # spelling: what is asked may be known to be a subquery
    if not isinstance(value, ScalarQuery) or not exactly_one(value.query):
        return None
    those, (output,) = attrs.evolve(value.query, outputs=()), value.query.outputs
    # spelling: other outputs are taken apart before
    return (those, output) if isinstance(output, Aggregate) else None


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
            # spelling: the condition may be asked again
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
            if _witness(found, select.tables, conditions, view):
                return replaced(select, {test: TRUE})
    for condition, rest in each_condition(select):
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
        if any(_witness(query, *one, view) for one in around):
            return and_where(rest, others)
    return None


def _only_key(select: Select, view: View) -> list[Column]:
    """Return the key of the only table of a SELECT, if it is a base table with one."""
    (table,) = select.tables if len(select.tables) == 1 else (None,)
    if not isinstance(table, Scan):
        return []
    return [Column(table.source, name) for name in view.key(table.source) or ()]


@rule("two rows to EXISTS", Select)
def found_twice(select: Select, view: View) -> Node | None:
    """Two rows are two with different keys, of which a row of the query itself may be one."""
    for condition, rest in each_condition(select):
        these = rows_of_two(condition)
        key = _only_key(these, view) if these is not None else []
        if these is None or not key:
            continue
        if not all(view.never_null(one, these.tables) for one in key):
            continue
        copy, found = (
            view.copied(these),
            _witness(these, select.tables, conjuncts(rest.where), view),
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
            those, operand = read[0], _operand(read[1])
            known = (*conjuncts(rest.where), Not(IsNull(other)), *_compared_outside(those))
            found = _witness(those, select.tables, known, view)
            if found is None:
                continue
            if view.rows_of(select).same(replaced(operand, found), other):
                pair = (other, operand) if read[1].function == "max" else (operand, other)
                beyond = Not(Exists(and_where(those, (Comparison("<", *pair),))))
                return and_where(rest, (*known, beyond))
    return None


def sides_of(condition: Scalar) -> tuple[tuple[Scalar, Scalar], ...]:
    """Return the sides of an equation, each as the first."""
    if not is_equation(condition):
        return ()
    return (condition.left, condition.right), (condition.right, condition.left)


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


def _witness(
    found: Select, tables: Iterable[Table], known: Iterable[Scalar], view: View
) -> dict[Source, Source] | None:
    """Return tables whose row is one of those that a query finds, by those of the query."""
    tables = tuple(tables)
    # spelling: a bound of work
    if len(found.tables) > MAX_WITNESSES:
        return None
    own = [table.source for table in tables if isinstance(table, Scan)]
    alike = [
        [one for one in own if isinstance(table, Scan) and one.table == table.source.table]
        for table in found.tables
    ]
    names = local_sources(found.tables)
    rows = view.rows(tables, known)
    for some in product(*alike):
        new = dict(zip(names, some, strict=True))
        if rows.imply_all(conjuncts(replaced(found.where, new))):
            return new
    return None


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
    alike = nothing == node.default or (node.default == NULL and _is_null(nothing))
    return value if alike else None


# The rows of a group, from the rows of a table.


@rule("HAVING to EXISTS", Select)
def exists_for_having(select: Select, view: View) -> Node | None:
    """What is only asked of a group is asked of the rows with its keys."""
    keys = select.keys
    if keys is None or any(map(has_aggregate, select.outputs)) or is_open(select):
        return None
    exact = [key for key in keys if view.exact(key, select.tables)]
    if not looks_at(outside_aggregates(select.having), keys, exact):
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
        if rows_of_two(asked) is None or not _only_key(select, view):
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
    return looks_at(part, keys, exact) and all(
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
            if looks_at(condition, new, exact) and not uses(outside, own):
                out[condition] = outside
        if out:
            left = conjunction(c for c in conjuncts(inner.where) if c not in out)
            moved = Derived(table.source, attrs.evolve(inner, where=left))
            return and_where(in_place(select, table, moved), out.values())
    return None


# Set operations, orders and LIMIT.

MAX_WITNESSES: Final = 3
"""Tables of an EXISTS of which it is seen that their rows are there."""

MAX_ARMS: Final = 12
"""Arms of a UNION ALL that a SELECT is pushed into."""


# Set operations.


def converted(query: SetOperation, view: View) -> set[int]:
    """Return the outputs of which a set operation may convert values to a type of its own."""
    return {i for i in range(len(query.outputs)) if view.converts(query, i)}


@rule("nested set operations flattened", SetOperation)
def flat_set_operation(query: SetOperation, view: View) -> Node | None:
    """UNION, UNION ALL and INTERSECT are associative where an arm converts no values before the
    others do; what drops duplicates at the end makes dropping them in an arm needless.
    """
    if query.operator == "except":
        return None
    arms: list[Query] = []
    for arm in query.arms:
        inner = arm if isinstance(arm, SetOperation) and arm.operator == query.operator else None
        if inner and (query.distinct or not inner.distinct) and not converted(inner, view):
            arms += inner.arms
        else:
            arms.append(arm)
    return attrs.evolve(query, arms=tuple(arms))


@rule("left join of a UNION ALL taken apart", SetOperation)
def apart_for_left_join(query: SetOperation, view: View) -> Node | None:
    """A left join has the pairs that match, and the rows without a match beside NULLs: beside an
    arm with NULLs of its own it may be part of a full join.
    """
    if query.operator != "union" or not any(NULL in arm.outputs for arm in query.arms):
        return None
    arms: list[Query] = []
    for one in query.arms:
        found = next(left_arms(one), None) if isinstance(one, Select) and one.plain else None
        arms += (one,) if found is None or is_open(one) else left_apart(one, *found, view)  # type: ignore[arg-type]
    return attrs.evolve(query, arms=tuple(arms))


@rule("EXCEPT of a query from itself emptied", SetOperation)
def without_itself(query: SetOperation, _: View) -> Node | None:
    """What is taken away from itself leaves nothing."""
    if query.operator != "except":
        return None
    first, *others = map(with_canonical_names, query.arms)
    return empty(len(query.outputs)) if first in others else None


@rule("empty UNION arm removed", SetOperation)
def without_empty_arms(query: SetOperation, view: View) -> Node | None:
    """An arm without rows adds none to a union; it stays where the types of the columns may hang
    on it.
    """
    if query.operator != "union":
        return None
    kept = [arm for arm in query.arms if not _adds_nothing(arm, query, view)]
    if len(kept) > 1:
        return attrs.evolve(query, arms=tuple(kept))
    if not kept:
        return empty(len(query.outputs))
    return as_distinct(kept[0]) if query.distinct and view.repeats else kept[0]


def _adds_nothing(arm: Query, union: SetOperation, view: View) -> bool:
    """Say whether an arm adds no row to a union, and the types of its columns hang not on it."""
    if not isinstance(arm, Select) or (arm.keys is None and arm.aggregates):
        return False
    if not reads_no_rows(arm, view):
        return False
    return not converted(union, view)


def as_distinct(query: Query) -> Query:
    """Return a query without its duplicates."""
    if isinstance(query, Select):
        return attrs.evolve(query, distinct=True)
    if isinstance(query, SetOperation) and (query.distinct or query.operator == "union"):
        return attrs.evolve(query, distinct=True)
    return SetOperation("union", distinct=True, arms=(query,))


@rule("UNION arms over the same tables merged", SetOperation)
def merged_arms(query: SetOperation, _: View) -> Node | None:
    """A row is in a union of arms that differ in WHERE only if it meets one of these."""
    if query.operator != "union" or not query.distinct:
        return None
    merged: dict[Node, Select] = {}
    for arm in query.arms:
        if not isinstance(arm, Select) or arm.aggregates or is_open(arm):
            return None
        alike = with_canonical_names(attrs.evolve(arm, where=TRUE, distinct=False))
        first = merged.setdefault(alike, arm)
        if first is not arm:
            names = dict(zip(*(local_sources(one.tables) for one in (arm, first)), strict=True))
            either = Or((first.where, replaced(arm.where, names)))
            merged[alike] = attrs.evolve(first, where=either)
    return attrs.evolve(query, arms=tuple(merged.values()))


@rule("INTERSECT or EXCEPT to EXISTS", SetOperation)
def semi_for_set_operation(query: SetOperation, view: View) -> Node | None:
    """``a EXCEPT b`` is the distinct rows of a for which b has no row that is the same, and of
    INTERSECT those for which it has one; two NULLs are the same here.
    """
    if query.operator not in ("intersect", "except") or not query.distinct:
        return None
    first, *others = query.arms
    if not isinstance(first, Select) or converted(query, view):
        return None
    source, width = view.fresh(), len(first.outputs)
    mine = tuple(Column(source, str(i)) for i in range(width))
    select = Select((Derived(source, first),), outputs=mine, distinct=True)
    for other in others:
        inside = view.fresh()
        both = Derived(source, first), Derived(inside, other)
        same: list[Scalar] = []
        for i in range(width):
            theirs = Column(inside, str(i))
            equal: Scalar = Comparison("=", mine[i], theirs)
            if not (view.never_null(mine[i], both) or view.never_null(theirs, both)):
                equal = Or((equal, And((IsNull(mine[i]), IsNull(theirs)))))
            same.append(equal)
        test: Scalar = Exists(and_where(Select((Derived(inside, other),)), same))
        select = and_where(select, (test if query.operator == "intersect" else Not(test),))
    return select


@rule("UNION ALL moved out of a derived table", Select)
def pushed_into_union(select: Select, view: View) -> Node | None:
    """Joins, filters and outputs treat each row by itself: ``(a UNION ALL b) JOIN c`` is ``a JOIN
    c UNION ALL b JOIN c``; a DISTINCT comes last.  What is converted to one type for all arms is
    only put out.
    """
    if select.keys is not None or select.aggregates:
        return None
    for table in own_derived(select):
        query = table.query
        if not isinstance(query, SetOperation):
            continue
        if query.operator != "union" or query.distinct:
            continue
        # spelling: a bound of work
        if len(query.arms) > MAX_ARMS:
            continue
        rest = with_tables(select, (other for other in select.tables if other is not table))
        if is_open(rest):
            continue
        shown = tuple(one for one in select.outputs if not isinstance(one, Column))
        seen = {*found_in(attrs.evolve(rest, outputs=shown), Column)}
        if any(Column(table.source, str(i)) in seen for i in converted(query, view)):
            continue
        plain = attrs.evolve(select, distinct=False)
        arms = (
            view.copied(in_place(plain, table, Derived(table.source, arm))) for arm in query.arms
        )
        return SetOperation("union", select.distinct, tuple(arms))
    return None


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
        those = and_where(those, (_comes_before(items, ties=not ranks),))
    if ranks:
        operand = items[0][0] if window.function == "dense_rank" and len(items) == 1 else None
        fits = operand is not None or window.function == "rank"
        if not items or not (fits or total.everything()):
            return None
        value: Scalar = Aggregate("count", operand, distinct=operand is not None)
        return Arithmetic("+", ONE, of_each(value, those, view))
    before = window.frame == Frame("rows", None, 0) and total.everything()
    if window.function not in AGGREGATES or not (window.frame in {WHOLE, RUNNING} or before):
        return None
    operand = at(window.operands[0], copy) if window.operands else None
    return of_each(Aggregate(window.function, operand, window.distinct), those, view)


def _comes_before(items: list[tuple[Scalar, Scalar, OrderItem]], *, ties: bool) -> Scalar:
    """Return the condition that other rows come before, or with *ties* beside, these."""
    (theirs, mine, item), *rest = items
    low, high = (mine, theirs) if item.descending else (theirs, mine)
    if not rest:
        return Comparison("<=" if ties else "<", low, high)
    later = And((Comparison("=", theirs, mine), _comes_before(rest, ties=ties)))
    return Or((Comparison("<", low, high), later))


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
        mine, theirs = _link(condition, other.source) or (None, None)
        own = theirs is not None and theirs.source == table.source
        value = inner.outputs[int(theirs.name)] if theirs is not None and own else None
        if mine is None or not isinstance(value, Column):
            return False
        found.append((mine, value))
    rows, columns = view.rows_of(inner), {mine.name.casefold() for mine, _ in found}
    unique = view.key(other.source, lambda key: {*key} == columns) is not None
    there = unique and all(rows.never_null(one) for _, one in found)
    return there and _refers(other.source, found, view)


RULES: Final = tuple(one for one in tuple(globals().values()) if isinstance(one, Rule))
"""All rules, in the order in which they stand here and are tried."""
