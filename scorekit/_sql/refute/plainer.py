"""What SQLite lacks, or gets wrong, in words that it has: joins, sets, rows and groups."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from sqlglot import exp

from scorekit._sql.refute.expressions import UnfaithfulError

NUMBERED: Final = "scorekit_numbered"
"""Marks row numbers of equal rows, which any order may put first."""

_SIDE, _SIDES, _ROWS = "scorekit_side", "scorekit_sides", "scorekit_rows"
_MOST_FULL: Final = 3
"""FULL joins of a SELECT: each makes its text five times as long."""
_OTHER_ARMS: Final = ("order", "limit", "offset", "with_")


def plainer(tree: exp.Expr) -> exp.Expr:
    """Return a query, which may be changed by it, in such words where that is easy."""
    for values in list(tree.find_all(exp.Values)):
        _write_rows(values)
    for comparison in list(tree.find_all(*_COMPARISONS)):
        _ask_each(comparison)
    for select in list(tree.find_all(exp.Select)):
        _turn(select)
    for select in list(tree.find_all(exp.Select)):
        new = _first_of_each(select) or _united(select)
        if new is not None and select is tree:
            tree = new
        elif new is not None:
            select.replace(new)
    return _without_counts(tree)


def _without_counts(tree: exp.Expr) -> exp.Expr:
    """Write INTERSECT ALL and EXCEPT ALL with numbers of rows."""
    for node in reversed(list(tree.find_all(exp.Intersect, exp.Except))):
        if node.args.get("distinct") is False:
            counted = _counted(node)
            if counted is not None and node is tree:
                return counted
            if counted is not None:
                node.replace(counted)
    return tree


# Joins.


def _turn(select: exp.Select) -> None:
    """
    Write RIGHT and FULL joins as LEFT joins.

    Raises:
        UnfaithfulError: If there are more FULL joins than can be written so.
    """
    joins: list[exp.Join] = select.args.get("joins") or []
    first = select.args.get("from_")
    turned = [join for join in joins if join.side in ("RIGHT", "FULL")]
    if first is None or not turned:
        return
    if any(join.args.get("method") or not join.args.get("on") for join in turned):
        return
    if sum(join.side == "FULL" for join in turned) > _MOST_FULL:
        raise UnfaithfulError(f"more than {_MOST_FULL} FULL joins are too many to try out")
    tables = [first.this, *(other.this for other in joins)]
    if any(isinstance(item, exp.Star) for item in select.expressions):
        if not all(table.alias_or_name for table in tables):
            return
        _write_star(select, tables)
    is_row: exp.Expr | None = None
    for i, join in enumerate(turned):
        left, right = _nested(select, join), join.this
        if is_row is not None:  # so that no row is met by what is none
            join.set("on", exp.and_(join.args["on"], is_row))
        if join.side == "RIGHT":
            first.set("this", right)
            join.set("this", left)
            is_row = None
        else:
            is_row = _make_full(
                select, join, left, right, sides_name=f"{_SIDES}{i}", of_left=is_row
            )
        join.set("side", "LEFT")
    if is_row is not None:
        select.where(is_row, copy=False)


def _nested(select: exp.Select, join: exp.Join) -> exp.Expr:
    """Return what stands before a join, which is the first from now on, in brackets."""
    joins: list[exp.Join] = select.args["joins"]
    place = next(i for i, other in enumerate(joins) if other is join)
    left: exp.Expr = select.args["from_"].this
    if place:
        left.set("joins", [*(left.args.get("joins") or ()), *joins[:place]])
        left = exp.Subquery(this=left)
        select.set("joins", joins[place:])
    return left


def _write_star(select: exp.Select, tables: list[exp.Expr]) -> None:
    """Name the tables that a star is of, in their order."""
    named = [
        exp.Column(this=exp.Star(), table=exp.to_identifier(table.alias_or_name, quoted=True))
        for table in tables
    ]
    shown = [
        part
        for item in select.expressions
        for part in (named if isinstance(item, exp.Star) else [item])
    ]
    select.set("expressions", [part.copy() for part in shown])


def _make_full(
    select: exp.Select,
    join: exp.Join,
    left: exp.Expr,
    right: exp.Expr,
    *,
    sides_name: str,
    of_left: exp.Expr | None,
) -> exp.Expr:
    """
    Write a FULL join as two LEFT joins behind a table of two rows.

    On the first side are the rows of the left table with their partners, on the second the rows
    of the right table that have none.  A side without rows is one row of NULLs.

    Returns:
        Of which rows that is not so.  *of_left* says the same of those of the left table.
    """
    side = exp.column(_SIDE, sides_name)
    met = join.args["on"]
    alone = exp.Not(this=_exists(left, met))
    pairs = exp.and_(side.eq(0), met.copy())
    others = exp.and_(side.eq(1), alone.copy())
    sides = exp.Union(
        this=exp.select(exp.alias_("0", _SIDE)), expression=exp.select("1"), distinct=False
    )
    select.args["from_"].set("this", sides.subquery(sides_name))
    join.set("on", exp.or_(pairs, others))
    on_side = side.eq(0) if of_left is None else exp.and_(side.eq(0), of_left)
    select.set("joins", [exp.Join(this=left, side="LEFT", on=on_side), *select.args["joins"]])
    is_pair = exp.and_(side.eq(0), _exists(left, of_left))
    is_other = exp.and_(side.eq(1), _exists(right, alone))
    return exp.or_(is_pair, is_other)


def _exists(table: exp.Expr, condition: exp.Expr | None) -> exp.Exists:
    query = exp.Select(expressions=[exp.Literal.number(1)], from_=exp.From(this=table.copy()))
    if condition is not None:
        query.set("where", exp.Where(this=condition.copy()))
    return exp.Exists(this=query)


# Set operations.


def _counted(node: exp.SetOperation) -> exp.Select | None:
    """
    Return INTERSECT ALL or EXCEPT ALL as a set operation over rows with numbers.

    Equal rows of an arm are numbered from 1 on: as many numbers are in both arms as in the one
    that has fewer.
    """
    arms = [node.this.unnest(), node.expression.unnest()]
    if not all(
        isinstance(arm, exp.Select)
        and not arm.is_star
        and not any(arm.args.get(name) for name in _OTHER_ARMS)
        for arm in arms
    ):
        return None
    names = [item.alias_or_name for item in arms[0].expressions]
    operation = type(node)(this=_numbered(arms[0]), expression=_numbered(arms[1]), distinct=True)
    shown = [
        exp.alias_(exp.column(f"c{i}", _ROWS), name, quoted=True) if name else exp.column(f"c{i}")
        for i, name in enumerate(names)
    ]
    rows = exp.From(this=operation.subquery(_ROWS))
    kept = {name: node.args.get(name) for name in _OTHER_ARMS if node.args.get(name)}
    return exp.Select(expressions=shown, from_=rows, **kept)


def _numbered(arm: exp.Expr) -> exp.Select:
    own = arm.copy()
    items = [exp.alias_(item.unalias(), f"c{i}") for i, item in enumerate(own.expressions)]
    own.set("expressions", items)
    columns = [exp.column(f"c{i}", _ROWS) for i in range(len(items))]
    number = exp.Window(
        this=exp.RowNumber(), partition_by=[column.copy() for column in columns], over="OVER"
    )
    number.meta[NUMBERED] = True
    named = exp.alias_(number, "scorekit_number")
    return exp.Select(
        expressions=[*columns, named],
        from_=exp.From(
            this=exp.Subquery(this=own, alias=exp.TableAlias(this=exp.to_identifier(_ROWS)))
        ),
    )


# Rows that are written out.


def _write_rows(values: exp.Values) -> None:
    """Write VALUES in a FROM, whose columns have names, as a union of SELECTs."""
    alias = values.args.get("alias")
    rows = [row.expressions for row in values.expressions if isinstance(row, exp.Tuple)]
    if (
        alias is None
        or len(rows) < len(values.expressions)
        or not isinstance(values.parent, exp.From | exp.Join)
    ):
        return
    names = list(alias.args.get("columns") or ())
    if not rows or any(len(row) != len(names) for row in rows):
        return
    arms = [
        exp.Select(
            expressions=[
                exp.Alias(this=cell.copy(), alias=name.copy())
                for cell, name in zip(row, names, strict=True)
            ]
        )
        for row in rows
    ]
    union: exp.Query = arms[0]
    for arm in arms[1:]:
        union = exp.Union(this=union, expression=arm, distinct=False)
    values.replace(exp.Subquery(this=union, alias=exp.TableAlias(this=alias.this.copy())))


# Comparisons with all rows, or with any.


_COMPARISONS: Final = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_EACH: Final = "scorekit_each"


def _ask_each(comparison: exp.Expr) -> None:
    """Ask for a row that fulfils a comparison, or does not, where NULL is as good as false."""
    several = comparison.args["expression"]
    if not isinstance(several, exp.Any | exp.All) or not _is_filter(comparison):
        return
    query = (
        several.this.unnest()
        if isinstance(several.this, exp.Paren | exp.Subquery)
        else several.this
    )
    if not isinstance(query, exp.Select) or len(query.expressions) != 1 or query.is_star:
        return
    if comparison.this.find(exp.AggFunc, exp.Window) is not None:
        return  # which would be one of the rows asked for
    query = query.copy()
    query.set("expressions", [exp.alias_(query.expressions[0].unalias(), _EACH)])
    met = type(comparison)(
        this=comparison.this.copy(), expression=exp.column(_EACH, f"{_EACH}_row")
    )
    rows = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(f"{_EACH}_row")))
    asked: exp.Expr = met
    if isinstance(several, exp.All):
        failed = exp.Case().when(met, exp.Literal.number(0)).else_(exp.Literal.number(1))
        asked = exp.EQ(this=failed, expression=exp.Literal.number(1))
    found: exp.Expr = _exists(rows, asked)
    comparison.replace(exp.Not(this=found) if isinstance(several, exp.All) else found)


def _is_filter(node: exp.Expr) -> bool:
    """Say whether all that matters of a condition is whether it is true."""
    parent = node.parent
    while isinstance(parent, exp.And | exp.Or | exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Where | exp.Having | exp.Join)


# The first row of each.


def _first_of_each(select: exp.Select) -> exp.Select | None:
    """Write DISTINCT ON as the rows with number 1, in the same order."""
    distinct = select.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None or select.is_star:
        return None
    on = distinct.args["on"]
    keys = on.expressions if isinstance(on, exp.Tuple) else [on]
    named = {item.alias.lower() for item in select.expressions if item.alias}
    if any(isinstance(key, exp.Literal) or _is_output(key, named) for key in keys):
        return None
    order = select.args.get("order")
    items: list[exp.Expr] = []
    for item in order.expressions if order else ():
        value = item.this
        if isinstance(value, exp.Literal) or item.find(exp.Collate) is not None:
            return None
        if _is_output(value, named):
            return None
        items.append(item)
    inner = select.copy()
    for name in ("distinct", "order", "limit", "offset", "with_"):
        inner.set(name, None)
    number = exp.Window(
        this=exp.RowNumber(),
        partition_by=[key.copy() for key in keys],
        order=exp.Order(expressions=[item.copy() for item in items]) if items else None,
        over="OVER",
    )
    shown = [exp.alias_(item.unalias(), f"c{i}") for i, item in enumerate(inner.expressions)]
    sorts = [exp.alias_(item.this.copy(), f"o{i}") for i, item in enumerate(items)]
    inner.set("expressions", [*shown, *sorts, exp.alias_(number, "scorekit_number")])
    names = [item.alias_or_name for item in select.expressions]
    outputs = [
        exp.alias_(exp.column(f"c{i}", _ROWS), name, quoted=True) if name else exp.column(f"c{i}")
        for i, name in enumerate(names)
    ]
    kept = {name: select.args.get(name) for name in _OTHER_ARMS if select.args.get(name)}
    if items:
        ordered = [item.copy() for item in items]
        for i, item in enumerate(ordered):
            item.set("this", exp.column(f"o{i}", _ROWS))
        kept["order"] = exp.Order(expressions=ordered)
    first = exp.EQ(this=exp.column("scorekit_number", _ROWS), expression=exp.Literal.number(1))
    return exp.Select(
        expressions=outputs,
        from_=exp.From(this=inner.subquery(_ROWS)),
        where=exp.Where(this=first),
        **kept,
    )


# Groups by several sets of keys.


MAX_SETS: Final = 16
"""Sets of keys that are written out."""


def _united(select: exp.Select) -> exp.Expr | None:
    """Write GROUPING SETS, ROLLUP and CUBE as a union of groups, NULL for keys that one lacks."""
    group = select.args.get("group")
    listed: list[exp.Expr] = group.expressions if group is not None else []
    found = [one for one in listed if isinstance(one, _SEVERAL)]
    sets = _sets(found[0]) if len(found) == 1 and _can_be_united(select) else []
    if not 1 <= len(sets) <= MAX_SETS:
        return None
    plain = [one for one in listed if one is not found[0]]
    keys = {key.sql(): key for one in [*sets, plain] for key in one}
    if not _are_told(select, keys):
        return None
    arms: list[exp.Select] = []
    for one in sets:
        own = {key.sql() for key in (*plain, *one)}
        arm = select.copy()
        for name in _OTHER_ARMS:
            arm.set(name, None)
        absent = {text for text in keys if text not in own}
        arm.set("expressions", [_without(item, absent) for item in arm.expressions])
        if arm.args.get("having"):
            arm.args["having"].set("this", _without(arm.args["having"].this, absent))
        kept = [keys[text].copy() for text in keys if text in own]
        arm.set("group", exp.Group(expressions=kept) if kept else None)
        arms.append(arm)
    union: exp.Query = arms[0]
    for arm in arms[1:]:
        union = exp.Union(this=union, expression=arm, distinct=False)
    for name in _OTHER_ARMS:
        if select.args.get(name):
            union.set(name, select.args[name])
    return union


_SEVERAL: Final = (exp.GroupingSets, exp.Rollup, exp.Cube)


def _can_be_united(select: exp.Select) -> bool:
    """Say whether a group of a SELECT shows aggregates, and its order is one of its outputs."""
    if select.args.get("distinct") or select.find(exp.Window, exp.Grouping) is not None:
        return False
    order, having = select.args.get("order"), select.args.get("having")
    names = {item.alias_or_name.lower() for item in select.expressions}
    sorts = [item.this for item in (order.expressions if order else ())]
    by_name = all(
        isinstance(one, exp.Column) and not one.table and one.name.lower() in names
        for one in sorts
    )
    parts = [*select.expressions, *([having.this] if having else [])]
    aggregated = any(part.find(exp.AggFunc) is not None for part in select.expressions)
    return by_name and aggregated and all(part.find(exp.Query) is None for part in parts)


def _is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc)


def _are_told(select: exp.Select, keys: Mapping[str, exp.Expr]) -> bool:
    """Say whether keys are columns, written alike wherever they are shown or asked for."""
    having = select.args.get("having")
    parts = [*select.expressions, *([having.this] if having else [])]
    named = {one.alias.lower() for one in select.expressions if one.alias}
    if any(not isinstance(key, exp.Column) or _is_output(key, named) for key in keys.values()):
        return False
    names = {key.name.lower() for key in keys.values()}
    return all(
        node.sql() in keys
        for part in parts
        for node in part.walk(prune=_is_aggregate)
        if isinstance(node, exp.Column) and node.name.lower() in names
    )


def _is_output(value: exp.Expr, named: Container[str]) -> bool:
    """Say whether a name alone may stand for an output."""
    return isinstance(value, exp.Column) and not value.table and value.name.lower() in named


def _sets(node: exp.Expr) -> list[list[exp.Expr]]:
    """Return the sets of keys of a clause, none if it is not understood."""
    parts = node.expressions
    if isinstance(node, exp.GroupingSets):
        if any(isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets) for part in parts):
            return []
        return [_keys(part) for part in parts]
    several = [_keys(part) for part in parts]
    if isinstance(node, exp.Rollup):
        return [[key for one in several[:n] for key in one] for n in range(len(several), -1, -1)]
    if 1 << len(several) > MAX_SETS:
        return []
    return [
        [key for i, one in enumerate(several) if not n >> i & 1 for key in one]
        for n in range(1 << len(several))
    ]


def _keys(part: exp.Expr) -> list[exp.Expr]:
    if isinstance(part, exp.Tuple):
        return list(part.expressions)
    return [part.this] if isinstance(part, exp.Paren) else [part]


def _without(part: exp.Expr, absent: set[str]) -> exp.Expr:
    """Return an expression with NULL for some keys, but for what is aggregated."""
    if part.sql() in absent:
        return exp.Null()
    if isinstance(part, exp.Alias):
        return exp.Alias(this=_without(part.this, absent), alias=part.args["alias"])
    nodes = list(part.walk(prune=lambda node: isinstance(node, exp.AggFunc)))
    for node in nodes[1:]:
        if not isinstance(node, exp.AggFunc) and node.sql() in absent:
            node.replace(exp.Null())
    return part
