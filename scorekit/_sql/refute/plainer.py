"""Joins and set operations that SQLite lacks, or gets wrong, in words that it has."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

NUMBERED: Final = "scorekit_numbered"
"""Marks row numbers of equal rows, which any order may put first."""

_SIDE, _SIDES, _ROWS = "scorekit_side", "scorekit_sides", "scorekit_rows"
_OTHER_ARMS: Final = ("order", "limit", "offset", "with_")


def plainer(tree: exp.Expr) -> exp.Expr:
    """Return a query, which may be changed by it, with LEFT joins and sets where that is easy."""
    for select in list(tree.find_all(exp.Select)):
        _turn(select)
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
    """Write RIGHT and FULL joins as LEFT joins."""
    joins: list[exp.Join] = select.args.get("joins") or []
    first = select.args.get("from_")
    turned = [join for join in joins if join.side in ("RIGHT", "FULL")]
    if first is None or not turned:
        return
    if any(join.args.get("method") or not join.args.get("on") for join in turned):
        return
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
