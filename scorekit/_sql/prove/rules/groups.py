"""Rules for GROUP BY, DISTINCT and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import attrs

from scorekit._sql.meaning.tree import (
    NULL,
    TRUE,
    Aggregate,
    Arithmetic,
    Case,
    Column,
    Derived,
    Function,
    Literal,
    Node,
    Query,
    Scalar,
    Select,
    SetOperation,
    Table,
    conjunction,
    conjuncts,
    found_in,
    has_aggregate,
    integer,
    walk,
)
from scorekit._sql.meaning.unsettled import bare_columns
from scorekit._sql.prove.normal import As
from scorekit._sql.prove.rule import (
    View,
    aggregates_in,
    and_where,
    of_groups,
    parts_of_groups,
    rule,
    with_aggregates,
)
from scorekit._sql.prove.rules.parts import (
    ONE,
    ROWS,
    arms_of,
    converted,
    ignores_duplicates,
    of_one_row,
    operand_of,
    own_derived,
    respects_equality_of,
    with_duplicates,
    with_tables,
)
from scorekit._sql.prove.scalars import is_literal
from scorekit._sql.prove.texts import part_of_date

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
        if not has_aggregate(part) and respects_equality_of(part, keys, exact)
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
        elif select.keys is not None and ignores_duplicates(agg):
            value = of_one_row(agg, rows) if rows.determined(keys)(this) else None
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
    if not select.distinct:  # equivalent: without DISTINCT nothing changes
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
        value = of_one_row(agg, rows)
        if value is None:
            return None
        found[agg] = value
    whole = of_groups(select, found)
    return and_where(attrs.evolve(whole, keys=None, having=TRUE), conjuncts(whole.having))


@rule("DISTINCT moved out of a derived table", Select)
def distinct_moved_out(select: Select, view: View) -> Node | None:
    """After a join with distinct rows, duplicates are dropped where they are the only ones there
    are.
    """
    if not select.plain:
        return None
    whole = attrs.evolve(select, distinct=True)
    moved = with_duplicates(whole, view)
    if moved == whole or not view.rows_of(select).determined(select.outputs).everything():
        return None
    return moved


@rule("sign of a key dropped", Select)
def keys_by_sign(select: Select, view: View) -> Node | None:
    """Two differences are equal where those the other way round are, and no key is seen."""
    parts = {node for part in parts_of_groups(select) for node in walk(part)}
    keys = tuple(
        attrs.evolve(key, left=key.right, right=key.left)
        if isinstance(key, Arithmetic)
        and key.operator == "-"
        and key not in parts
        and key.right.order < key.left.order
        else key
        for key in select.keys or ()
    )
    signed = view.dialect in (
        "sqlite",
        "postgres",
        "duckdb",
    )  # elsewhere a number may have no sign
    return attrs.evolve(select, keys=keys) if signed and select.keys else None


@rule("year and month as one key", Select)
def months_for_parts(select: Select, view: View) -> Node | None:
    """Rows are of one year and of one month of it where they are of one month of a year; the keys
    themselves are not seen.
    """
    parts = {node for part in parts_of_groups(select) for node in walk(part)}
    found: dict[Column, dict[str, Scalar]] = {}
    for key in select.keys or ():
        column, written, _ = part_of_date(key, view) or (None, "", "")
        if column is not None and key not in parts:
            found.setdefault(column, {})[written] = key
    for column, its in found.items():
        months = [its[one] for one in ("%Y", "%m") if one in its]
        months = months if len(months) > 1 else [its[one] for one in ("%Y-%m",) if one in its]
        if not months or not view.holds(column, "ISO dates"):
            continue
        month = Function("timetostr", (column, Literal("text", "%Y-%m")))
        if view.dialect == "sqlite":
            month = Function("substring", (column, ONE, integer(len("2020-01"))))
        kept = [key for key in select.keys or () if key not in months]
        return attrs.evolve(select, keys=(*kept, month))
    return None


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


class _Below(NamedTuple):
    """What an aggregate of aggregates looks at."""

    table: Derived
    arms: list[Select]
    """One SELECT with groups, or the arms of a set operation that keeps every row."""
    kinds: list[str]
    """Of each output: a key, the name of an aggregate, or neither."""
    left: tuple[Column, ...]
    """Keys in which the groups that share outer keys may differ."""
    alone: bool
    """Whether nothing else takes or repeats its rows."""


def _merged(select: Select, table: Derived, view: View) -> Select | None:
    """Take the aggregates over one derived table from its rows, which other tables may join."""
    others = [other for other in select.tables if other is not table]
    below = _below(select, table, others, view)
    if below is None:
        return None
    found: dict[Aggregate, Scalar] = {}
    for agg in aggregates_in(select):
        whole = _over_rows(agg, select, below, view)
        if whole is None:
            return None
        if whole != agg:
            found[agg] = whole
    if not _looks_at_keys_alone(select, others, below, view):
        return None
    query: Query = _without_groups(below.arms[0], below.kinds)
    if isinstance(below.table.query, SetOperation):
        arms = tuple(_without_groups(arm, below.kinds) for arm in below.arms)
        query = attrs.evolve(below.table.query, arms=arms)
    return with_tables(of_groups(select, found), (*others, Derived(table.source, query)))


def _below(select: Select, table: Derived, others: list[Table], view: View) -> _Below | None:
    """Return what is below, None where its groups do not stand for their rows."""
    arms = [arm for arm in arms_of(table.query) if isinstance(arm, Select)]
    several = table.query if isinstance(table.query, SetOperation) else None
    if len(arms) != len(arms_of(table.query)):
        return None
    if not several:
        arms = [*map(_grouped, arms)]
        table = attrs.evolve(table, query=arms[0])
    # Other tables and conditions may look at keys only: they take and repeat whole groups.
    alone = not others and select.where == TRUE
    if several and (not alone or converted(several, view)):
        return None
    for arm in arms:
        if arm.distinct or arm.having != TRUE:
            return None
        if arm.keys is None and select.keys is not None:
            return None
    kinds = [_kind(outputs) for outputs in zip(*(arm.outputs for arm in arms), strict=True)]
    left = () if others or several else _own_keys(arms[0], table, select)
    return _Below(table, arms, kinds, left, alone)


def _over_rows(agg: Aggregate, select: Select, below: _Below, view: View) -> Scalar | None:
    """Return an aggregate of groups as one of the rows in them."""
    this = agg.operand
    if this is None and len(below.left) == 1 and view.never_null(below.left[0], (below.table,)):
        this = below.left[0]
    if not isinstance(this, Column) or this.source != below.table.source:
        return None
    place = int(this.name)
    if below.kinds[place] == "key":
        if ignores_duplicates(agg):
            return agg
        # Groups that differ in one key only are the different values of that.
        return attrs.evolve(agg, operand=this, distinct=True) if below.left == (this,) else None
    name = None if agg.distinct else _THROUGH.get((agg.function, below.kinds[place]))
    if name is None or not (below.alone or select.keys is not None):
        return None
    if name == "sum" and any(
        view.kind(arm.outputs[place], arm.tables) == "real" for arm in below.arms
    ):
        return None  # sums of floats depend on their order
    # Without keys an arm has a row even if there is none below it.
    some_row = any(arm.keys is None for arm in below.arms)
    if name == "count" and select.keys is None and not some_row:
        return None  # a sum of no counts is NULL
    whole: Scalar = Aggregate(name, this)
    # equivalent: a least value as a sum is only of another type
    return As("sum", whole) if agg.function == "sum" else whole


def _looks_at_keys_alone(select: Select, others: list[Table], below: _Below, view: View) -> bool:
    """Say whether all but the aggregates looks at keys, and does not tell apart a group's rows."""
    aggregates: dict[Aggregate, Scalar] = dict.fromkeys(aggregates_in(select), NULL)
    rest = [with_aggregates(part, aggregates) for part in parts_of_groups(select)]
    seen = (*rest, *(select.keys or ()), select.where, *others)
    own = (column for part in seen for column in found_in(part, Column))
    columns = {column for column in own if column.source == below.table.source}
    if any(below.kinds[int(column.name)] != "key" for column in columns):
        return False
    alike = frozenset(column for column in columns if view.exact(column, (below.table,)))
    return all(respects_equality_of(part, columns, alike) for part in seen)


def _without_groups(arm: Select, kinds: list[str]) -> Select:
    """Return the rows of the groups: each puts out what its group put out, or aggregated."""
    outputs = zip(arm.outputs, kinds, strict=True)
    values = tuple(output if kind == "key" else operand_of(output) for output, kind in outputs)
    return attrs.evolve(arm, keys=None, outputs=values)


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


def _kind(outputs: Sequence[Scalar]) -> str:
    if not any(map(has_aggregate, outputs)):
        return "key"
    names = {
        output.function if isinstance(output, Aggregate) and not output.distinct else ""
        for output in outputs
    }
    return names.pop() if len(names) == 1 else ""
