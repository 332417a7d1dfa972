"""Rules for UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from typing import Final

import attrs

from scorekit._sql.meaning.tree import (
    NULL,
    TRUE,
    And,
    Column,
    Comparison,
    Derived,
    Exists,
    IsNull,
    Node,
    Not,
    Or,
    Query,
    Scalar,
    Select,
    SetOperation,
    found_in,
    local_sources,
    replaced,
)
from scorekit._sql.prove.logic import with_canonical_names
from scorekit._sql.prove.normal import is_open
from scorekit._sql.prove.rule import View, and_where, empty, rule
from scorekit._sql.prove.rules.parts import (
    as_distinct,
    converted,
    in_place,
    left_apart,
    left_arms,
    own_derived,
    reads_no_rows,
    with_tables,
)

# Set operations, orders and LIMIT.


MAX_ARMS: Final = 12
"""Arms of a UNION ALL that a SELECT is pushed into."""


# Set operations.


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
    """Say whether an arm adds no row to a union, and its columns keep their types without it."""
    if not isinstance(arm, Select) or (arm.keys is None and arm.aggregates):
        return False
    if not reads_no_rows(arm, view):
        return False
    return not converted(union, view)


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
        # equivalent: a bound of work
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
