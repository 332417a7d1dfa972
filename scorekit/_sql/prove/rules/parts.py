"""What the rules of several files use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Final

import attrs

from scorekit._sql.databases.kinds import LOOSE_TYPES, NUMBERS
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    Aggregate,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Derived,
    Exists,
    Function,
    IsNull,
    Like,
    Negative,
    Node,
    Not,
    Or,
    OrderItem,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    SetOperation,
    Source,
    Table,
    When,
    conjunction,
    conjuncts,
    found_in,
    integer,
    local_sources,
    replaced,
    rewritten,
    sorted_nodes,
    walk,
)
from scorekit._sql.prove.dependencies import is_equation
from scorekit._sql.prove.normal import Arm, As, LeftJoins, exactly_one
from scorekit._sql.prove.rule import (
    Rows,
    View,
    aggregates_in,
    aggregates_of,
    and_where,
    empty,
    parts_of_groups,
    uses,
    with_aggregates,
)
from scorekit._sql.prove.scalars import in_order
from scorekit._sql.schema.definitions import Reference

ONE: Final = integer(1)


ZERO: Final = integer(0)


ROWS: Final = Aggregate("count")


# Is there a row?


def is_empty(query: Query) -> bool:
    """Say whether a query is the one without rows."""
    return query == empty(len(query.outputs))


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
    # equivalent: a condition may stand twice
    return given, [replaced(c, known) for c in before if c not in given]


# What a SELECT reads.


def own_derived(select: Select) -> Iterator[Derived]:
    """Yield the derived tables of a FROM whose rows no other one has."""
    for table in select.tables:
        if isinstance(table, Derived) and not table.shared:
            yield table


def each_condition(
    select: Select, kind: type[Scalar] | None = None
) -> Iterator[tuple[Scalar, Select]]:
    """Yield the conditions of WHERE, all or those of a kind, each with the SELECT without it."""
    for condition in conjuncts(select.where):
        if kind is not None and not isinstance(condition, kind):
            continue
        rest = conjunction(one for one in conjuncts(select.where) if one != condition)
        yield condition, attrs.evolve(select, where=rest)


def in_place(select: Select, table: Table, new: Table) -> Select:
    """Return a SELECT with another table in the place of one."""
    return with_tables(select, (new if one is table else one for one in select.tables))


def with_tables(select: Select, tables: Iterable[Table]) -> Select:
    """Return a SELECT from other tables."""
    return attrs.evolve(select, tables=tuple(tables))


def respects_equality_of(node: Node, keys: Iterable[Scalar], exact: Iterable[Scalar]) -> bool:
    """
    Say whether equal values of *keys* give equal values of *node*.

    Which of several equal values stands for them (1 and 1.0, ``a`` and ``A`` where case does not
    matter), a comparison does not tell, but a function may.  Of *exact* keys equal is the same.
    """
    keys, exact = frozenset(keys), frozenset(exact)
    if node in keys:  # equivalent: a key that is a column passes below, too
        return True
    computes = isinstance(node, Arithmetic) and node.operator not in ("+", "*")
    if computes or isinstance(node, Function | Like | Cast | Negative):
        return not any(one in keys and one not in exact for one in walk(node))
    return all(respects_equality_of(child, keys, exact) for child in node.children)


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


def left_joined(left: list[Table], arm: Arm) -> list[Table]:
    """Return tables with an arm joined to those of them that its condition names."""
    used = arm.sources - {*local_sources((arm,))}
    # equivalent: more tables may stand on the left side
    needed = [table for table in left if not used.isdisjoint(local_sources((table,)))]
    rest = [table for table in left if table not in needed]
    if not needed:
        needed, rest = rest, []
    one = needed[0]
    # equivalent: left joins side by side may stand in one another
    if (
        len(needed) == 1
        and isinstance(one, LeftJoins)
        and used.isdisjoint(local_sources(one.arms))
    ):
        return [*rest, LeftJoins(one.base, (*one.arms, arm))]
    return [*rest, LeftJoins(tuple(needed), (arm,))]


def null_with_its_row(output: Scalar, own: list[Source]) -> bool:
    """Say whether an output of the optional side is NULL where its tables are all NULL."""
    return is_null(replaced(output, nulls_of(output, frozenset(own))))


def is_null(value: Scalar) -> bool:
    """Say whether an expression of constants is NULL."""
    if isinstance(value, Arithmetic | Comparison):
        return is_null(value.left) or is_null(value.right)
    if isinstance(value, Case):
        return is_null(value.default) and all(is_null(when.condition) for when in value.whens)
    return value == NULL


def inner_for_arm(select: Select, arm: Arm, rest: Iterable[Table]) -> Select:
    """Return a SELECT with the tables of an arm joined to the *rest* of its tables as inner."""
    return and_where(with_tables(select, (*rest, *arm.tables)), conjuncts(arm.condition))


def left_apart(
    select: Select, arm: Arm, rest: Iterable[Table], view: View
) -> tuple[Select, Select]:
    """Return the rows of a SELECT that an arm matches, and those that it does not."""
    alone = with_tables(select, rest)
    alone = replaced(alone, nulls_of(alone, frozenset(local_sources((arm,)))))
    nothing = Not(Exists(Select(arm.tables, arm.condition)))
    return inner_for_arm(select, arm, rest), view.copied(and_where(alone, (nothing,)))


# Optional sides.


def nulls_of(node: Node, own: frozenset[Source]) -> dict[Column, Scalar]:
    return {column: NULL for column in found_in(node, Column) if column.source in own}


def has_no_rows(table: Table) -> bool:
    return isinstance(table, Derived) and is_empty(table.query)


def repeats(select: Select, view: View) -> bool:
    """Say whether it matters how often the rows come that a SELECT reads."""
    if select.keys is None and not select.aggregates:
        return view.repeats and not select.distinct
    return not all(map(ignores_duplicates, aggregates_in(select)))


def ignores_duplicates(aggregate: Aggregate) -> bool:
    """Say whether an aggregate does not see how often a value comes."""
    return aggregate.distinct or aggregate.function in ("min", "max")


def link_of(condition: Scalar, source: Source) -> tuple[Column, Column] | None:
    """Return the column of a table and that of another one that a condition equates."""
    if not is_equation(condition):
        return None
    for mine, other in ((condition.left, condition.right), (condition.right, condition.left)):
        if isinstance(mine, Column) and isinstance(other, Column) and mine.source == source:
            return None if other.source == source else (mine, other)
    return None


def refers_to(target: Source, links: Sequence[tuple[Column, Column]], view: View) -> bool:
    """Say whether a foreign key finds a row of *target* where no column linked to it is NULL."""
    equal = {mine.name.lower(): other for mine, other in links}
    if len(equal) < len(links):
        return False  # it must equal two columns, of which the key is but one

    def finds(reference: Reference) -> bool:
        if reference.other != target.table.lower() or {*reference.others} != {*equal}:
            return False
        partners = [equal[column] for column in reference.others]
        home = partners[0].source
        return home.table.lower() == reference.table and all(
            other.source == home and other.name.lower() == column
            for other, column in zip(partners, reference.columns, strict=True)
        )

    return view.refers(finds)


# Derived tables.


def arms_of(query: Query) -> tuple[Query, ...]:
    """Return the arms of a UNION ALL; any other query is its own one."""
    union = isinstance(query, SetOperation) and query.operator == "union" and not query.distinct
    return query.arms if isinstance(query, SetOperation) and union else (query,)


def with_duplicates(select: Select, view: View) -> Select:
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
    return all(respects_equality_of(part, columns, exact) for part in seen)


# No rows.


def reads_no_rows(select: Select, view: View) -> bool:
    """Say whether no row passes the WHERE of a SELECT."""
    required = [
        table
        for one in select.tables
        for table in (one.base if isinstance(one, LeftJoins) else (one,))
    ]
    never = select.where == FALSE or any(map(has_no_rows, required))
    return never or view.rows_of(select).none()


# GROUP BY, DISTINCT and aggregates.


def of_one_row(agg: Aggregate, rows: Rows) -> Scalar | None:
    this = agg.operand
    # equivalent: of what is never NULL the CASE below is 1, too
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


# Aggregates of aggregates.


def operand_of(output: Scalar) -> Scalar:
    operand = output.operand if isinstance(output, Aggregate) else None
    return ONE if operand is None else operand


# Aggregates over the rows that share a key.


def per_row_subquery(part: Scalar, those: Select, view: View) -> Scalar:
    """Return an expression of aggregates with each as its value over *those* rows."""
    new: dict[Aggregate, Scalar] = {
        agg: ScalarQuery(view.copied(attrs.evolve(those, outputs=(agg,))))
        for agg in aggregates_of(part)
    }
    return with_aggregates(part, new)


def same_value(rows: Rows, first: Scalar, second: Scalar) -> Scalar:
    """Return the condition that a value of other rows, and one of these, are in one group."""
    equal = Comparison("=", first, second)
    # equivalent: what is never NULL may be asked whether it is
    if rows.never_null(second):
        return equal
    return Or((equal, And((IsNull(first), IsNull(second)))))


# Orders.


def comes_before(items: list[tuple[Scalar, Scalar, OrderItem]], *, ties: bool) -> Scalar:
    """Return the condition that other rows come before, or with *ties* beside, these."""
    (theirs, mine, item), *rest = items
    low, high = (mine, theirs) if item.descending else (theirs, mine)
    if not rest:
        return Comparison("<=" if ties else "<", low, high)
    later = And((Comparison("=", theirs, mine), comes_before(rest, ties=ties)))
    return Or((Comparison("<", low, high), later))


# Comparisons with such values.


def value_over(value: Scalar) -> tuple[Select, Aggregate] | None:
    """Return the rows that a scalar subquery aggregates, and how."""
    # equivalent: what is asked may be known to be a subquery
    if not isinstance(value, ScalarQuery) or not exactly_one(value.query):
        return None
    those, (output,) = attrs.evolve(value.query, outputs=()), value.query.outputs
    # equivalent: other outputs are taken apart before
    return (those, output) if isinstance(output, Aggregate) else None


def only_key(select: Select, view: View) -> list[Column]:
    """Return the key of the only table of a SELECT, if it is a base table with one."""
    (table,) = select.tables if len(select.tables) == 1 else (None,)
    if not isinstance(table, Scan):
        return []
    return [Column(table.source, name) for name in view.key(table.source) or ()]


def sides_of(condition: Scalar) -> tuple[tuple[Scalar, Scalar], ...]:
    """Return the sides of an equation, each as the first."""
    if not is_equation(condition):
        return ()
    return (condition.left, condition.right), (condition.right, condition.left)


def witness_of(
    found: Select, tables: Iterable[Table], known: Iterable[Scalar], view: View
) -> dict[Source, Source] | None:
    """Return tables whose row is one of those that a query finds, by those of the query."""
    tables = tuple(tables)
    # equivalent: a bound of work
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


# Set operations, orders and LIMIT.


MAX_WITNESSES: Final = 3
"""Tables of an EXISTS of which it is seen that their rows are there."""


# Set operations.


def converted(query: SetOperation, view: View) -> set[int]:
    """Return the outputs of which a set operation may convert values to a type of its own."""
    return {i for i in range(len(query.outputs)) if view.converts(query, i)}


def as_distinct(query: Query) -> Query:
    """Return a query without its duplicates."""
    if isinstance(query, Select):
        return attrs.evolve(query, distinct=True)
    if isinstance(query, SetOperation) and (query.distinct or query.operator == "union"):
        return attrs.evolve(query, distinct=True)
    return SetOperation("union", distinct=True, arms=(query,))
