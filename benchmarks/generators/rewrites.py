"""
Rewrites of queries over random schemas: those that keep the meaning, and those that nearly do.

Each takes a query apart in place and says whether it found something to do.  A prover that
believes in one of the second kind is contradicted by rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, TypeVar

from sqlglot import exp

Rewrite: TypeAlias = Callable[[exp.Expr, random.Random], bool]

SOUND: Final[dict[str, Rewrite]] = {}
"""Rewrites that keep the meaning on every database."""
ALMOST: Final[dict[str, Rewrite]] = {}
"""Rewrites that keep it on some databases only, or where a constraint helps."""

_T = TypeVar("_T")
_FLIPPED: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.EQ: exp.EQ, exp.NEQ: exp.NEQ, exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}  # fmt: skip
_OPPOSITE: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.EQ: exp.NEQ, exp.NEQ: exp.EQ, exp.GT: exp.LTE, exp.LT: exp.GTE, exp.GTE: exp.LT,
    exp.LTE: exp.GT,
}  # fmt: skip
_NEAR: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.GT: exp.GTE,
    exp.GTE: exp.GT,
    exp.LT: exp.LTE,
    exp.LTE: exp.LT,
}


def _sound(rewrite: Rewrite) -> Rewrite:
    SOUND[rewrite.__name__.strip("_")] = rewrite
    return rewrite


def _almost(rewrite: Rewrite) -> Rewrite:
    ALMOST[rewrite.__name__.strip("_")] = rewrite
    return rewrite


def rewritten(
    tree: exp.Expr, rng: random.Random, *, sound: bool
) -> tuple[exp.Expr, tuple[str, ...]] | None:
    """Return a query after one to four rewrites, with their names."""
    tree = exp.Subquery(this=tree.copy())
    done: list[str] = []
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        known = SOUND if sound or rng.random() < 0.6 else ALMOST
        for name in rng.sample(list(known), len(known)):
            if known[name](tree, rng):
                done.append(name)
                break
    if not done:
        return None
    found: exp.Expr = tree.this.pop()
    return found, tuple(done)


def _pick(found: Iterable[_T], rng: random.Random) -> _T | None:
    listed = list(found)
    return rng.choice(listed) if listed else None


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    condition = condition.unnest()
    if not isinstance(condition, exp.And):
        return [condition]
    return [*_conjuncts(condition.left), *_conjuncts(condition.right)]


def _and(parts: Iterable[exp.Expr]) -> exp.Expr:
    return exp.and_(*(part.copy() for part in parts))


def _aggregates(select: exp.Select) -> bool:
    parts = [*select.expressions, *([having] if (having := select.args.get("having")) else [])]
    return any(
        isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window)
        for part in parts
        for node in part.walk(prune=lambda n: isinstance(n, exp.Query))
    )


def _plain(select: exp.Select) -> bool:
    """Say whether each row of the FROM makes one row of the result."""
    return not (
        select.args.get("group")
        or select.args.get("distinct")
        or select.args.get("limit")
        or _aggregates(select)
    )


def _compare(node: exp.Expr) -> bool:
    return type(node) in _FLIPPED


def _name(tree: exp.Expr, letter: str) -> str:
    taken = {node.alias_or_name for node in tree.find_all(exp.Table, exp.Subquery, exp.CTE)}
    return next(f"{letter}{i}" for i in range(1000) if f"{letter}{i}" not in taken)


def _where(select: exp.Select, rng: random.Random) -> exp.Expr | None:
    where = select.args.get("where")
    return _pick(_conjuncts(where.this), rng) if where is not None else None


# Conditions.


@_sound
def _flip(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(filter(_compare, tree.walk()), rng)
    if node is None:
        return False
    node.replace(_FLIPPED[type(node)](this=node.expression.copy(), expression=node.this.copy()))
    return True


@_sound
def _negate(tree: exp.Expr, rng: random.Random) -> bool:
    """Write a comparison as the opposite of its opposite."""
    node = _pick(filter(_compare, tree.walk()), rng)
    if node is None:
        return False
    opposite = _OPPOSITE[type(node)](this=node.this.copy(), expression=node.expression.copy())
    node.replace(exp.Not(this=exp.Paren(this=opposite)))
    return True


@_sound
def _push_not(tree: exp.Expr, rng: random.Random) -> bool:
    found = [n for n in tree.find_all(exp.Not) if isinstance(n.this.unnest(), exp.And | exp.Or)]
    node = _pick(found, rng)
    if node is None:
        return False
    inner = node.this.unnest()
    joined = exp.Or if isinstance(inner, exp.And) else exp.And
    arms = [exp.Not(this=exp.Paren(this=part.copy())) for part in (inner.left, inner.right)]
    node.replace(exp.Paren(this=joined(this=arms[0], expression=arms[1])))
    return True


@_sound
def _split_between(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.Between), rng)
    if node is None:
        return False
    low = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    high = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    node.replace(exp.Paren(this=exp.And(this=low, expression=high)))
    return True


@_sound
def _spell_out_list(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick((n for n in tree.find_all(exp.In) if n.expressions), rng)
    if node is None:
        return False
    arms = [exp.EQ(this=node.this.copy(), expression=item.copy()) for item in node.expressions]
    node.replace(exp.Paren(this=exp.or_(*arms)))
    return True


@_sound
def _absorb(tree: exp.Expr, rng: random.Random) -> bool:
    """Write p as p AND (p OR q), or as p OR (p AND q)."""
    node = _pick(filter(_compare, tree.walk()), rng)
    other = _pick(filter(_compare, tree.walk()), rng)
    if (
        node is None
        or other is None
        or node.find_ancestor(exp.Select) is not (other.find_ancestor(exp.Select))
    ):
        return False
    if {type(n.find_ancestor(exp.Where, exp.Having, exp.Join)) for n in (node, other)} != {
        exp.Where
    } or other.find(exp.AggFunc, exp.Query):
        return False
    outer, inner = rng.choice(((exp.And, exp.Or), (exp.Or, exp.And)))
    both = exp.Paren(this=inner(this=node.copy(), expression=other.copy()))
    node.replace(exp.Paren(this=outer(this=node.copy(), expression=both)))
    return True


@_sound
def _repeat(tree: exp.Expr, rng: random.Random) -> bool:
    where = _pick(tree.find_all(exp.Where), rng)
    if where is None:
        return False
    part = _pick(_conjuncts(where.this), rng)
    assert part is not None
    where.set("this", exp.and_(where.this.copy(), part.copy()))
    return True


@_sound
def _say_not_null(tree: exp.Expr, rng: random.Random) -> bool:
    """Add IS NOT NULL to a comparison that no NULL passes."""
    selects = [s for s in tree.find_all(exp.Select) if s.args.get("where")]
    select = _pick(selects, rng)
    part = _where(select, rng) if select is not None else None
    if select is None or part is None or not _compare(part):
        return False
    column = _pick((c for c in (part.this, part.expression) if isinstance(c, exp.Column)), rng)
    if column is None:
        return False
    test = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
    select.where(test, copy=False)
    return True


@_almost
def _say_another_not_null(tree: exp.Expr, rng: random.Random) -> bool:
    column = _pick((c for w in tree.find_all(exp.Where) for c in w.find_all(exp.Column)), rng)
    where = column.find_ancestor(exp.Where) if column is not None else None
    if column is None or where is None or column.find_ancestor(exp.Query) is not where.parent:
        return False
    test = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
    where.set("this", exp.and_(where.this.copy(), test))
    return True


@_sound
def _say_nothing(tree: exp.Expr, rng: random.Random) -> bool:
    select = _pick(tree.find_all(exp.Select), rng)
    if select is None:
        return False
    select.where(rng.choice(("1 = 1", "2 > 1", "NOT (1 = 2)", "1 = 1 OR 1 = 2")), copy=False)
    return True


@_almost
def _compare_with_itself(tree: exp.Expr, rng: random.Random) -> bool:
    select = _pick((s for s in tree.find_all(exp.Select) if s.find(exp.Column)), rng)
    column = select.find(exp.Column) if select is not None else None
    if select is None or column is None or column.find_ancestor(exp.Query) is not select:
        return False
    select.where(exp.EQ(this=column.copy(), expression=column.copy()), copy=False)
    return True


@_sound
def _contradict(tree: exp.Expr, rng: random.Random) -> bool:
    """Write what is never true in another way."""
    never = ("1 = 2", "1 > 2", "NULL = 1", "1 = 2 AND 1 = 1", "0 = 1", "NOT (1 = 1)")
    found = [n for n in tree.find_all(exp.EQ) if n.sql() in ("1 = 2", "3 = -1", "0 = 1")]
    found = [n for n in found if isinstance(n.parent, exp.Where | exp.And)]
    node = _pick(found, rng)
    if node is None:
        return False
    node.replace(exp.condition(rng.choice(never)))
    return True


@_almost
def _empty_it(tree: exp.Expr, rng: random.Random) -> bool:
    """Let nothing through, in one of many ways: columns may be NULL or bounded."""
    select = _pick((s for s in tree.find_all(exp.Select) if s.find(exp.Column)), rng)
    column = select.find(exp.Column) if select is not None else None
    if select is None or column is None or column.find_ancestor(exp.Query) is not select:
        return False
    name = column.sql()
    ways = (f"{name} <> {name}", f"{name} = NULL", f"NOT ({name} = {name})", "1 = 2")
    select.where(rng.choice((*ways, f"{name} IS NULL AND {name} = {name}")), copy=False)
    return True


@_sound
def _follow_equality(tree: exp.Expr, rng: random.Random) -> bool:
    """Add what two equalities of a conjunction imply."""
    found = [
        (select, [c for c in _conjuncts(where.this) if isinstance(c, exp.EQ)])
        for select in tree.find_all(exp.Select)
        if (where := select.args.get("where")) is not None
    ]
    picked = _pick((pair for pair in found if len(pair[1]) > 1), rng)
    if picked is None:
        return False
    select, equal = picked
    one, other = rng.sample(equal, 2)
    ends = [{side.sql(): side for side in (node.this, node.expression)} for node in (one, other)]
    shared = ends[0].keys() & ends[1].keys()
    if len(shared) != 1 or any(len(two) != 2 or one.find(exp.Query, exp.Null) for two in ends):
        return False
    first, second = (next(s for name, s in two.items() if name not in shared) for two in ends)
    if second.find(exp.Query, exp.Null):
        return False
    select.where(exp.EQ(this=first.copy(), expression=second.copy()), copy=False)
    return True


@_almost
def _put_constant(tree: exp.Expr, rng: random.Random) -> bool:
    """Put the constant for a column wherever the query names it: groups and OR are other."""
    found = [
        n
        for n in tree.find_all(exp.EQ)
        if isinstance(n.this, exp.Column) and isinstance(n.expression, exp.Literal)
    ]
    node = _pick(found, rng)
    if node is None:
        return False
    others = [c for c in tree.find_all(exp.Column) if c == node.this and c is not node.this]
    other = _pick((c for c in others if not c.find_ancestor(exp.Group)), rng)
    if other is None:
        return False
    other.replace(node.expression.copy())
    return True


@_almost
def _near_comparison(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick((n for n in tree.walk() if type(n) in _NEAR), rng)
    if node is None:
        return False
    node.replace(_NEAR[type(node)](this=node.this.copy(), expression=node.expression.copy()))
    return True


@_almost
def _next_number(tree: exp.Expr, rng: random.Random) -> bool:
    """Write x > 1 as x >= 2."""
    found = [n for n in tree.find_all(exp.GT, exp.LT) if isinstance(n.expression, exp.Literal)]
    node = _pick((n for n in found if n.expression.is_int), rng)
    if node is None:
        return False
    more = isinstance(node, exp.GT)
    number = exp.Literal.number(int(node.expression.name) + (1 if more else -1))
    node.replace((exp.GTE if more else exp.LTE)(this=node.this.copy(), expression=number))
    return True


@_sound
def _spell_out_coalesce(tree: exp.Expr, rng: random.Random) -> bool:
    """Write COALESCE(x, 1) = 1 as x = 1 OR x IS NULL."""
    found = [
        n
        for n in tree.find_all(exp.EQ)
        if isinstance(n.this, exp.Coalesce) and n.this.expressions == [n.expression]
    ]
    found = [n for n in found if n.find_ancestor(exp.Where, exp.Select, exp.Not, exp.Join)]
    node = _pick((n for n in found if isinstance(n.parent, exp.Where | exp.And)), rng)
    if node is None:
        return False
    value = node.this.this
    null = exp.Is(this=value.copy(), expression=exp.Null())
    same = exp.EQ(this=value.copy(), expression=node.expression.copy())
    node.replace(exp.Paren(this=exp.Or(this=same, expression=null)))
    return True


@_almost
def _forget_coalesce(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.Coalesce), rng)
    if node is None:
        return False
    node.replace(node.this.copy())
    return True


@_almost
def _swap_case(tree: exp.Expr, rng: random.Random) -> bool:
    """Swap the arms of a CASE and negate its condition: NULL takes the other arm."""
    node = _pick((c for c in tree.find_all(exp.Case) if len(c.args["ifs"]) == 1), rng)
    if node is None or node.args.get("default") is None:
        return False
    one = node.args["ifs"][0]
    swapped = exp.If(
        this=exp.Not(this=exp.Paren(this=one.this.copy())), true=node.args["default"].copy()
    )
    node.replace(exp.Case(ifs=[swapped], default=one.args["true"].copy()))
    return True


@_sound
def _case_as_condition(tree: exp.Expr, rng: random.Random) -> bool:
    """Write a condition of a WHERE as a CASE of it."""
    where = _pick(tree.find_all(exp.Where), rng)
    if where is None or where.find(exp.Query):
        return False
    case = exp.Case(
        ifs=[exp.If(this=where.this.copy(), true=exp.Literal.number(1))],
        default=exp.Literal.number(0),
    )
    where.set("this", exp.EQ(this=case, expression=exp.Literal.number(1)))
    return True


@_almost
def _drop_condition(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.And), rng)
    if node is None:
        return False
    node.replace(rng.choice((node.left, node.right)).copy())
    return True


@_almost
def _or_for_and(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.And), rng)
    if node is None:
        return False
    either = exp.Or(this=node.left.copy(), expression=node.right.copy())
    node.replace(exp.Paren(this=either))
    return True


# Duplicates and groups.


@_sound
def _group_for_distinct(tree: exp.Expr, rng: random.Random) -> bool:
    found = [
        s
        for s in tree.find_all(exp.Select)
        if s.args.get("distinct")
        and not s.args.get("group")
        and not _aggregates(s)
        and all(isinstance(part.unalias(), exp.Column) for part in s.expressions)
        and not s.find(exp.Window)
    ]
    select = _pick(found, rng)
    if select is None:
        return False
    select.set("distinct", None)
    parts = {part.unalias().sql(): part.unalias().copy() for part in select.expressions}
    select.set("group", exp.Group(expressions=list(parts.values())))
    return True


@_almost
def _toggle_distinct(tree: exp.Expr, rng: random.Random) -> bool:
    select = _pick(tree.find_all(exp.Select), rng)
    if select is None:
        return False
    select.set("distinct", None if select.args.get("distinct") else exp.Distinct())
    return True


@_sound
def _distinct_of_groups(tree: exp.Expr, rng: random.Random) -> bool:
    """Say DISTINCT where the groups are shown, or where there is one row."""
    found = [
        s
        for s in tree.find_all(exp.Select)
        if not s.args.get("distinct")
        and (
            {part.sql() for part in group.expressions}
            <= {part.unalias().sql() for part in s.expressions}
            and group.expressions
            if (group := s.args.get("group"))
            else _aggregates(s)
        )
    ]
    select = _pick(found, rng)
    if select is None:
        return False
    select.set("distinct", exp.Distinct())
    return True


@_sound
def _distinct_below_in(tree: exp.Expr, rng: random.Random) -> bool:
    queries = [n.args["query"].this for n in tree.find_all(exp.In) if n.args.get("query")]
    queries += [n.this for n in tree.find_all(exp.Exists)]
    selects = [q for q in queries if isinstance(q, exp.Select) and not q.args.get("limit")]
    select = _pick(selects, rng)
    if select is None:
        return False
    select.set("distinct", None if select.args.get("distinct") else exp.Distinct())
    return True


@_almost
def _change_groups(tree: exp.Expr, rng: random.Random) -> bool:
    """Group by one column more, or one less that is not shown."""
    select = _pick((s for s in tree.find_all(exp.Select) if s.args.get("group")), rng)
    if select is None:
        return False
    parts = select.args["group"].expressions
    shown = {c.sql() for e in select.expressions for c in e.find_all(exp.Column)}
    having = select.args.get("having")
    shown |= {c.sql() for c in having.find_all(exp.Column)} if having else set()
    spare = [part for part in parts if part.sql() not in shown]
    if spare and len(parts) > 1 and rng.random() < 0.5:
        rng.choice(spare).pop()
        return True
    table = _pick((t for t in select.find_all(exp.Table) if t.parent_select is select), rng)
    if not parts or table is None or table.name == "w":
        return False
    select.args["group"].append("expressions", exp.column("id", table.alias_or_name))
    return True


@_almost
def _group_by_key(tree: exp.Expr, rng: random.Random) -> bool:
    """Group what has no groups by what may be a key."""
    found = [s for s in tree.find_all(exp.Select) if _plain(s) and not s.find(exp.Window)]
    select = _pick(found, rng)
    if select is None or any(e.find(exp.Query, exp.Literal) for e in select.expressions):
        return False
    tables = [t for t in select.find_all(exp.Table) if t.parent_select is select]
    if any(t.name == "w" for t in tables) or not tables or select.find(exp.Subquery):
        return False
    parts = [exp.column("id", t.alias_or_name) for t in tables]
    parts += [c.copy() for e in select.expressions for c in e.find_all(exp.Column)]
    unique = {part.sql(): part for part in parts}
    select.set("group", exp.Group(expressions=list(unique.values())))
    return True


@_sound
def _where_for_having(tree: exp.Expr, rng: random.Random) -> bool:
    found = [
        s
        for s in tree.find_all(exp.Select)
        if (having := s.args.get("having"))
        and (group := s.args.get("group"))
        and group.expressions
        and not having.find(exp.AggFunc, exp.Query)
    ]
    select = _pick(found, rng)
    if select is None:
        return False
    select.where(select.args["having"].this.copy(), copy=False)
    select.set("having", None)
    return True


@_almost
def _having_for_where(tree: exp.Expr, rng: random.Random) -> bool:
    """Filter groups rather than rows: the same only for what is grouped by."""
    found = [
        s
        for s in tree.find_all(exp.Select)
        if (where := s.args.get("where"))
        and (group := s.args.get("group"))
        and not where.find(exp.Query)
        and {c.sql() for c in where.find_all(exp.Column)} <= {e.sql() for e in group.expressions}
    ]
    select = _pick(found, rng)
    if select is None:
        return False
    select.having(select.args["where"].this.copy(), copy=False)
    select.set("where", None)
    return True


@_sound
def _count_one(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick((c for c in tree.find_all(exp.Count) if isinstance(c.this, exp.Star)), rng)
    if node is None:
        return False
    node.set("this", exp.Literal.number(rng.choice((1, 0))))
    return True


@_almost
def _count_column(tree: exp.Expr, rng: random.Random) -> bool:
    """Count a column rather than rows, rows rather than a column, or what is distinct."""
    node = _pick(tree.find_all(exp.Count), rng)
    select = node.find_ancestor(exp.Select) if node is not None else None
    if node is None or select is None or isinstance(node.parent, exp.Window):
        return False
    if isinstance(node.this, exp.Distinct):
        node.set("this", node.this.expressions[0].copy())
    elif not isinstance(node.this, exp.Column):
        column = select.find(exp.Column)
        if column is None or column.find_ancestor(exp.Select) is not select:
            return False
        node.set("this", column.copy())
    elif rng.random() < 0.5:
        node.set("this", exp.Distinct(expressions=[node.this.copy()]))
    else:
        node.set("this", exp.Star())
    return True


@_sound
def _distinct_extreme(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick((n for n in tree.find_all(exp.Min, exp.Max)), rng)
    if node is None:
        return False
    inner = node.this
    plain = isinstance(inner, exp.Distinct)
    node.set("this", inner.expressions[0].copy() if plain else exp.Distinct(expressions=[inner]))
    return True


@_almost
def _another_aggregate(tree: exp.Expr, rng: random.Random) -> bool:
    """Take the sum for the extreme of a group and the like: equal where there is one row."""
    found = [n for n in tree.find_all(exp.Sum, exp.Min, exp.Max) if not n.find(exp.Distinct)]
    node = _pick((n for n in found if n.find(exp.Column)), rng)
    if node is None or isinstance(node.parent, exp.Window):
        return False
    if isinstance(node, exp.Sum) and rng.random() < 0.5:
        zero = exp.Literal.number(0)
        node.replace(exp.Coalesce(this=node.copy(), expressions=[zero]))
        return True
    node.replace((exp.Min if isinstance(node, exp.Max) else exp.Max)(this=node.this.copy()))
    return True


@_almost
def _sum_of_counts(tree: exp.Expr, rng: random.Random) -> bool:
    """Count in two steps: the sum of no counts is NULL."""
    found = [
        s
        for s in tree.find_all(exp.Select)
        if not s.args.get("group")
        and not s.args.get("having")
        and not s.args.get("distinct")
        and len(s.expressions) == 1
        and isinstance(s.expressions[0].unalias(), exp.Count)
        and not s.find(exp.Window)
        and not s.find(exp.Subquery)
    ]
    select = _pick(found, rng)
    column = select.find(exp.Column) if select is not None else None
    if select is None or column is None or column.find_ancestor(exp.Select) is not select:
        return False
    counted = select.expressions[0].unalias()
    if isinstance(counted.this, exp.Distinct):
        return False
    inner = select.copy()
    inner.set("expressions", [exp.alias_(counted.copy(), "k")])
    inner.set("group", exp.Group(expressions=[column.copy()]))
    name = _name(tree, "g")
    total: exp.Expr = exp.Sum(this=exp.column("k", name))
    if rng.random() < 0.5:
        total = exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])
    shown = (
        exp.alias_(total, select.expressions[0].alias) if select.expressions[0].alias else total
    )
    for key in ("where", "joins"):
        select.set(key, None)
    select.set("expressions", [shown])
    select.set("from_", exp.From(this=inner.subquery(name)))
    return True


@_almost
def _average_as_ratio(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick((n for n in tree.find_all(exp.Avg) if not n.find(exp.Distinct)), rng)
    if node is None:
        return False
    counted = node.this.copy() if rng.random() < 0.6 else exp.Star()
    total = exp.Mul(this=exp.Literal.number("1.0"), expression=exp.Sum(this=node.this.copy()))
    node.replace(exp.Paren(this=exp.Div(this=total, expression=exp.Count(this=counted))))
    return True


# Joins.


def _joins(tree: exp.Expr, side: str = "") -> list[exp.Join]:
    return [
        join
        for join in tree.find_all(exp.Join)
        if (join.side or "").upper() == side and join.args.get("on") and not join.args.get("using")
    ]


def _all_inner(select: exp.Select) -> bool:
    return not any(join.side for join in select.args.get("joins") or ())


@_sound
def _on_to_where(tree: exp.Expr, rng: random.Random) -> bool:
    found = [j for j in _joins(tree) if j.kind != "CROSS"]
    join = _pick((j for j in found if isinstance(j.parent, exp.Select)), rng)
    if join is None or not isinstance(join.parent, exp.Select) or not _all_inner(join.parent):
        return False
    join.parent.where(join.args["on"].copy(), copy=False)
    join.set("on", None)
    join.set("kind", "CROSS")
    return True


@_sound
def _where_to_on(tree: exp.Expr, rng: random.Random) -> bool:
    lasts = [s.args["joins"][-1] for s in tree.find_all(exp.Select) if s.args.get("joins")]
    join = _pick((j for j in _joins(tree) if any(j is last for last in lasts)), rng)
    if join is None or not isinstance(join.parent, exp.Select) or not _all_inner(join.parent):
        return False
    where = join.parent.args.get("where")
    if where is None:
        return False
    join.set("on", exp.and_(join.args["on"].copy(), where.this.copy()))
    join.parent.set("where", None)
    return True


@_almost
def _where_to_outer_on(tree: exp.Expr, rng: random.Random) -> bool:
    """Move a condition into an outer join, or out of one."""
    join = _pick((j for s in ("LEFT", "RIGHT", "FULL") for j in _joins(tree, s)), rng)
    select = join.parent if join is not None else None
    if join is None or not isinstance(select, exp.Select) or select.args["joins"][-1] is not join:
        return False
    where = select.args.get("where")
    if where is not None and rng.random() < 0.5:
        if where.find(exp.Query) or join.side == "FULL":
            return False
        join.set("on", exp.and_(join.args["on"].copy(), where.this.copy()))
        select.set("where", None)
        return True
    parts = _conjuncts(join.args["on"])
    if len(parts) < 2:
        return False
    moved = rng.choice(parts)
    join.set("on", _and(part for part in parts if part is not moved))
    select.where(moved.copy(), copy=False)
    return True


@_sound
def _swap_sources(tree: exp.Expr, rng: random.Random) -> bool:
    """Let the first two tables change places; LEFT becomes RIGHT."""
    found = [s for s in tree.find_all(exp.Select) if s.args.get("joins")]
    found = [s for s in found if len(s.args["joins"]) == 1]
    select = _pick(found, rng)
    if select is None:
        return False
    join, first = select.args["joins"][0], select.args["from_"].this
    second = join.this
    select.args["from_"].set("this", second.copy())
    join.set("this", first.copy())
    if join.side in ("LEFT", "RIGHT"):
        join.set("side", "RIGHT" if join.side == "LEFT" else "LEFT")
    return True


@_almost
def _another_side(tree: exp.Expr, rng: random.Random) -> bool:
    """Make a join an inner or an outer one: equal where a condition or a key says so."""
    join = _pick((j for s in ("", "LEFT", "RIGHT", "FULL") for j in _joins(tree, s)), rng)
    if join is None or join.kind == "CROSS":
        return False
    sides = [s for s in ("", "LEFT", "RIGHT", "FULL") if s != (join.side or "")]
    join.set("side", rng.choice(sides[:2]) or None)
    return True


@_almost
def _drop_join(tree: exp.Expr, rng: random.Random) -> bool:
    """Leave out a table that nothing else names: equal along a foreign key, or a key."""
    found: list[exp.Join] = []
    for join in (*_joins(tree), *_joins(tree, "LEFT")):
        name, select = join.this.alias_or_name, join.parent
        inside = {id(c) for c in join.find_all(exp.Column)}
        if isinstance(select, exp.Select) and not any(
            c.table == name and id(c) not in inside for c in select.find_all(exp.Column)
        ):
            found.append(join)
    join_ = _pick(found, rng)
    if join_ is None:
        return False
    join_.pop()
    return True


@_almost
def _join_itself(tree: exp.Expr, rng: random.Random) -> bool:
    """Join a table with itself by what may be a key."""
    found = [
        t
        for t in tree.find_all(exp.Table)
        if isinstance(t.parent, exp.From | exp.Join) and t.name != "w"
    ]
    table = _pick(found, rng)
    select = table.find_ancestor(exp.Select) if table is not None else None
    if table is None or select is None or not _all_inner(select):
        return False
    alias = _name(tree, "k")
    on = f"{table.alias_or_name}.id = {alias}.id"
    select.join(f"{table.name} AS {alias}", on=on, copy=False)
    return True


@_almost
def _join_parent(tree: exp.Expr, rng: random.Random) -> bool:
    """Join what a foreign key may point to."""
    table = _pick((t for t in tree.find_all(exp.Table) if t.name in ("t1", "t2", "t3")), rng)
    select = table.find_ancestor(exp.Select) if table is not None else None
    if table is None or select is None or not _all_inner(select):
        return False
    place = rng.choice((0, 0, 1))
    column = exp.column(f"p{place}", table.alias_or_name)
    alias = _name(tree, "k")
    kind = rng.choice(("inner", "left"))
    other = f"t{place}" if rng.random() < 0.8 else rng.choice(("t0", "t1", "t2"))
    select.join(
        f"{other} AS {alias}", on=f"{column.sql()} = {alias}.id", join_type=kind, copy=False
    )
    return True


# Queries in queries.


@_sound
def _derive(tree: exp.Expr, rng: random.Random) -> bool:
    """Read a table through a derived one."""
    found = [t for t in tree.find_all(exp.Table) if isinstance(t.parent, exp.From | exp.Join)]
    table = _pick(found, rng)
    if table is None:
        return False
    inner = exp.select("*").from_(exp.to_table(table.name))
    table.replace(inner.subquery(table.alias_or_name))
    return True


@_almost
def _push_down(tree: exp.Expr, rng: random.Random) -> bool:
    """Filter a table before it is joined: not the side that an outer join fills with NULL."""
    found = [t for t in tree.find_all(exp.Table) if isinstance(t.parent, exp.From | exp.Join)]
    table = _pick(found, rng)
    select = table.find_ancestor(exp.Select) if table is not None else None
    if table is None or select is None:
        return False
    where = select.args.get("where")
    parts = _conjuncts(where.this) if where is not None else []
    own = [
        p
        for p in parts
        if p.find(exp.Column)
        and not p.find(exp.Query)
        and all(c.table == table.alias_or_name for c in p.find_all(exp.Column))
    ]
    part = _pick(own, rng)
    if part is None:
        return False
    name = _name(tree, "q")
    pushed = part.copy()
    for column in pushed.find_all(exp.Column):
        column.set("table", exp.to_identifier(name))
    inner = exp.select("*").from_(exp.alias_(exp.to_table(table.name), name, table=True))
    table.replace(inner.where(pushed).subquery(table.alias_or_name))
    kept = [p for p in parts if p is not part]
    select.set("where", exp.Where(this=_and(kept)) if kept else None)
    return True


@_sound
def _wrap(tree: exp.Expr, _: random.Random) -> bool:
    """Select all of a query from a derived table."""
    if not isinstance(tree.this, exp.Select) or tree.this.args.get("order"):
        return False
    names = [part.alias for part in tree.this.expressions]
    if not all(names):
        return False
    with_ = tree.this.args.get("with_")
    inner = tree.this.copy()
    inner.set("with_", None)
    alias = _name(tree, "z")
    outer = exp.select(*(exp.column(name, alias) for name in names)).from_(inner.subquery(alias))
    if with_ is not None:
        outer.set("with_", with_.copy())
    tree.set("this", outer)
    return True


@_sound
def _name_derived(tree: exp.Expr, rng: random.Random) -> bool:
    """Give a derived table a name in a WITH."""
    found = [
        s
        for s in tree.find_all(exp.Subquery)
        if isinstance(s.parent, exp.From | exp.Join) and s.alias
    ]
    derived = _pick(found, rng)
    top = tree.this
    if derived is None or not isinstance(top, exp.Select) or top.args.get("with_"):
        return False
    name = _name(tree, "w")
    cte = exp.CTE(this=derived.this.copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))
    derived.replace(exp.alias_(exp.to_table(name), derived.alias, table=True))
    top.set("with_", exp.With(expressions=[cte]))
    return True


@_sound
def _exists_for_in(tree: exp.Expr, rng: random.Random) -> bool:
    return _to_exists(tree, rng, negated=False)


@_almost
def _not_exists_for_not_in(tree: exp.Expr, rng: random.Random) -> bool:
    """Write NOT IN as NOT EXISTS: NULLs on either side are treated otherwise."""
    return _to_exists(tree, rng, negated=True)


def _to_exists(tree: exp.Expr, rng: random.Random, *, negated: bool) -> bool:
    found = [
        n
        for n in tree.find_all(exp.In)
        if n.args.get("query")
        and isinstance(n.args["query"].this, exp.Select)
        and _plain(n.args["query"].this)
        and not n.find(exp.Window)
        and isinstance(n.parent, exp.Not) is negated
        and (negated or isinstance(n.parent, exp.Where | exp.And))
    ]
    node = _pick(found, rng)
    if node is None:
        return False
    inner = node.args["query"].this.copy()
    shown = inner.expressions[0].unalias()
    inner.where(exp.EQ(this=shown.copy(), expression=node.this.copy()), copy=False)
    inner.set("expressions", [exp.Literal.number(1)])
    node.replace(exp.Exists(this=inner))
    return True


@_almost
def _join_for_in(tree: exp.Expr, rng: random.Random) -> bool:
    """Join a subquery rather than look into it: rows repeat, unless it is distinct."""
    found = [
        s
        for s in tree.find_all(exp.Select)
        if (where := s.args.get("where")) and _all_inner(s)
        for part in _conjuncts(where.this)
        if isinstance(part, exp.In)
        and part.args.get("query")
        and isinstance(part.args["query"].this, exp.Select)
        and part.args["query"].this.expressions[0].alias
    ]
    select = _pick(found, rng)
    if select is None:
        return False
    parts = _conjuncts(select.args["where"].this)
    node = next(
        p
        for p in parts
        if isinstance(p, exp.In)
        and p.args.get("query")
        and isinstance(p.args["query"].this, exp.Select)
        and p.args["query"].this.expressions[0].alias
    )
    inner = node.args["query"].this.copy()
    own = {source.alias_or_name for source in inner.find_all(exp.Table, exp.Subquery)}
    if any(c.table and c.table not in own for c in inner.find_all(exp.Column)):
        return False
    if rng.random() < 0.7:
        inner.set("distinct", exp.Distinct())
    name = _name(tree, "j")
    on = exp.EQ(this=node.this.copy(), expression=exp.column(inner.expressions[0].alias, name))
    kept = [p for p in parts if p is not node]
    select.set("where", exp.Where(this=_and(kept)) if kept else None)
    select.join(inner.subquery(name), on=on, copy=False)
    return True


@_almost
def _in_for_join(tree: exp.Expr, rng: random.Random) -> bool:
    """Look into a table rather than join it: rows no longer repeat."""
    found = [
        s
        for s in tree.find_all(exp.Select)
        if len(s.args.get("joins") or ()) == 1 and _all_inner(s)
    ]
    select = _pick(found, rng)
    if select is None:
        return False
    join = select.args["joins"][0]
    on, name = join.args.get("on"), join.this.alias_or_name
    inside = {id(c) for c in join.find_all(exp.Column)}
    if not isinstance(on, exp.EQ) or any(
        c.table == name and id(c) not in inside for c in select.find_all(exp.Column)
    ):
        return False
    sides = [on.this, on.expression]
    own = [s for s in sides if isinstance(s, exp.Column) and s.table == name]
    if len(own) != 1:
        return False
    other = next(s for s in sides if s is not own[0])
    inner = exp.select(own[0].copy()).from_(join.this.copy())
    select.where(exp.In(this=other.copy(), query=exp.Subquery(this=inner)), copy=False)
    join.pop()
    return True


@_almost
def _toggle_not(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.Exists, exp.In), rng)
    if node is None:
        return False
    if isinstance(node.parent, exp.Not):
        node.parent.replace(node.copy())
    else:
        node.replace(exp.Not(this=node.copy()))
    return True


# Set operations.


@_sound
def _swap_arms(tree: exp.Expr, rng: random.Random) -> bool:
    found = tree.find_all(exp.Union, exp.Intersect)
    node = _pick((n for n in found if isinstance(n.this, exp.Select)), rng)
    if node is None:
        return False
    first, second = node.this.copy(), node.expression.copy()
    if [p.alias for p in first.selects] != [p.alias for p in second.selects] or first.args.get(
        "with_"
    ):
        return False
    node.set("this", second)
    node.set("expression", first)
    return True


@_almost
def _toggle_all(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.Union), rng)
    if node is None:
        return False
    node.set("distinct", not node.args.get("distinct"))
    return True


@_almost
def _another_operation(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.Intersect, exp.Except), rng)
    if node is None:
        return False
    other = exp.Except if isinstance(node, exp.Intersect) else exp.Intersect
    node.replace(other(**{**node.copy().args, "distinct": True}))
    return True


@_sound
def _distinct_union(tree: exp.Expr, rng: random.Random) -> bool:
    """Say DISTINCT in an arm of what removes copies anyway."""
    node = _pick((n for n in tree.find_all(exp.SetOperation) if n.args.get("distinct")), rng)
    arm = rng.choice((node.this, node.expression)) if node is not None else None
    if not isinstance(arm, exp.Select):
        return False
    arm.set("distinct", None if arm.args.get("distinct") else exp.Distinct())
    return True


@_sound
def _add_empty_arm(tree: exp.Expr, rng: random.Random) -> bool:
    select = _pick((s for s in tree.find_all(exp.Select) if _splits(s)), rng)
    if select is None:
        return False
    empty = select.copy()
    for key in ("having", "group", "where"):
        empty.set(key, None)
    if _aggregates(select):
        return False
    empty.where("1 = 2", copy=False)
    select.replace(exp.Union(this=select.copy(), expression=empty, distinct=False))
    return True


@_almost
def _split_rows(tree: exp.Expr, rng: random.Random) -> bool:
    """Take the rows that pass a condition, those that fail it, and at times those between."""
    select = _pick((s for s in tree.find_all(exp.Select) if _splits(s) and _plain(s)), rng)
    if select is None or select.find(exp.Window):
        return False
    column = select.find(exp.Column)
    if column is None or column.find_ancestor(exp.Select) is not select:
        return False
    name = column.sql()
    ways = [
        (f"{name} = {name}", f"{name} IS NULL"),
        (f"{name} IS NULL", f"NOT {name} IS NULL"),
        (f"{name} = {name}", f"NOT ({name} = {name})"),
        (f"{name} IS NULL", f"{name} IS NULL"),
    ]
    arms = [select.copy().where(part) for part in rng.choice(ways)]
    select.replace(exp.Union(this=arms[0], expression=arms[1], distinct=rng.random() < 0.2))
    return True


def _splits(select: exp.Select) -> bool:
    """Say whether two arms can stand where a SELECT does."""
    parent = select.parent
    return (
        (isinstance(parent, exp.Subquery | exp.Exists) or parent is None)
        and not any(select.args.get(key) for key in ("order", "limit", "with_", "distinct"))
        and not isinstance(parent.parent if parent else None, exp.Condition)
    )


@_sound
def _order_by_name(tree: exp.Expr, _: random.Random) -> bool:
    order = tree.this.args.get("order")
    if order is None or isinstance(tree.this, exp.SetOperation):
        return False
    for part in order.expressions:
        if isinstance(part.this, exp.Literal):
            part.set("this", exp.column(tree.this.selects[int(part.this.name) - 1].alias))
    return True


# Windows.


@_almost
def _another_rank(tree: exp.Expr, rng: random.Random) -> bool:
    node = _pick(tree.find_all(exp.Rank, exp.DenseRank), rng)
    if node is None:
        return False
    node.replace((exp.DenseRank if isinstance(node, exp.Rank) else exp.Rank)())
    return True


@_almost
def _change_window(tree: exp.Expr, rng: random.Random) -> bool:
    """Leave out what a window is partitioned or ordered by."""
    node = _pick(tree.find_all(exp.Window), rng)
    if node is None:
        return False
    ranked = isinstance(node.this, exp.Rank | exp.DenseRank)
    if node.args.get("partition_by") and (ranked or rng.random() < 0.5):
        node.set("partition_by", None)
    elif node.args.get("order") and not ranked:
        node.set("order", None)
    else:
        return False
    return True
