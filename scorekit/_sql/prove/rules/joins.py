"""Rules for joins and derived tables."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from scorekit._sql.meaning.tree import (
    NULL,
    TRUE,
    Aggregate,
    Column,
    Derived,
    Exists,
    IsNull,
    Join,
    Node,
    Not,
    Query,
    Scalar,
    Scan,
    Select,
    SetOperation,
    Source,
    Star,
    Table,
    conjunction,
    conjuncts,
    found_in,
    has_aggregate,
    local_sources,
    replaced,
    walk,
)
from scorekit._sql.prove.normal import Arm, FullJoin, LeftJoins, exactly_one, is_open
from scorekit._sql.prove.rule import View, aggregates_in, and_where, empty, of_groups, rule, uses
from scorekit._sql.prove.rules.parts import (
    ROWS,
    ZERO,
    arms_of,
    each_condition,
    ignores_duplicates,
    inner_for_arm,
    left_apart,
    left_arms,
    left_joined,
    link_of,
    null_with_its_row,
    nulls_of,
    only_key,
    reads_no_rows,
    refers_to,
    repeats,
    with_duplicates,
    with_tables,
    witness_of,
)
from scorekit._sql.prove.scope import derived_in

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
    if optional and not all(null_with_its_row(output, own) for output in query.outputs):
        return None
    return {Column(table.source, str(i)): output for i, output in enumerate(query.outputs)}


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


def _refused(side: Arm, select: Select, view: View) -> bool:
    """Say whether WHERE is never true of a row in which *side* is filled up with NULLs."""
    nulls = nulls_of(select.where, frozenset(local_sources((side,))))
    filled = replaced(select.where, nulls)
    return bool(nulls) and view.rows(select.tables, conjuncts(filled)).none()


# Optional sides.


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
            return replaced(without, {**nulls_of(without, own), **tests})
        bare = replaced(without, dict.fromkeys(tests, TRUE))
        if not uses(bare, own) and rows.at_most_one(arm):
            return replaced(without, tests)
    return None


def _always_matches(select: Select, arm: Arm, view: View) -> bool:
    """Say whether a foreign key finds a row for each row of the base."""
    if len(arm.tables) != 1 or not isinstance(arm.tables[0], Scan):
        return False
    source, rows = arm.tables[0].source, view.rows_of(select)
    links = [link_of(condition, source) for condition in conjuncts(arm.condition)]
    found = [link for link in links if link is not None]
    there = len(found) == len(links) and all(rows.never_null(other) for _, other in found)
    return there and refers_to(source, found, view)


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
            if (link := link_of(condition, source)) is not None
        }
        key = dict(links.values())
        columns = {column.name.lower() for column in key}
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
        if refers_to(source, [*links.values()], view):
            # equivalent: that what is never NULL is not NULL may be said again
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
        found = witness_of(Select(arm.tables, arm.condition), rest, (), view)
        if found is not None and rows.at_most_one(arm):
            return replaced(with_tables(select, rest), found)
    return None


@rule("EXISTS to join", Select)
def joins_for_exists(select: Select, view: View) -> Node | None:
    """A row for which EXISTS finds at most one row is there once in the join with that, and how
    often it is there does not matter where repeated rows do not, or where keys are counted.
    """
    rows = view.rows_of(select)
    for condition, rest in each_condition(select, Exists):
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
    keys = only_key(select, view) if aggregates else []
    if len(keys) != 1 or not all(agg == ROWS or ignores_duplicates(agg) for agg in aggregates):
        return None
    (key,) = keys
    once = Aggregate("count", key, distinct=True)
    return of_groups(select, {ROWS: once}) if view.never_null(key, select.tables) else None


# Derived tables.


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
    return None if repeats(select, view) else with_duplicates(select, view)


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
