"""
Whether two queries with LIMIT pick the same of the rows that tie.

Both sort the same rows by the same keys: that is proved elsewhere.  Engines sort stably, or by a
heap that is filled in the order of reading, so the same rows are picked where they are read in
the same order.  What that order is nobody says, and a proof names it as an assumption; but here
is what engines let it hang on, all of which must be the same in both queries:

- the tables, in the order in which they are joined, and how: a left join that the engine sees to
  be an inner one is run as one, and either side may then come first;
- with several tables, their names and what WHERE, ON and HAVING ask for as written: by these an
  engine chooses the table to begin with;
- with one table, the columns that conditions compare in a way that an index may serve, and those
  that nothing but conditions names: an engine may walk an index that has them;
- whether a subquery drops duplicates, for which it may sort;
- the keys of GROUP BY below the LIMIT in their order, by which rows may be sorted;
- the columns of ORDER BY, which an index may bring in order; no other ORDER BY is anywhere.
"""

from __future__ import annotations

from sqlglot import exp


def tie_alike(first: exp.Expr, second: exp.Expr) -> bool:
    """Say whether two queries read their rows alike, so that those which tie come alike."""
    sorts = [list(tree.find_all(exp.Order)) for tree in (first, second)]
    joined = _joined(first)
    return (
        max(map(len, sorts)) <= 1
        and list(map(_sorted_by, sorts[0])) == list(map(_sorted_by, sorts[1]))
        and joined == _joined(second)
        and (
            _conditions(first) == _conditions(second)
            if len(joined) > 1
            else _served(first) == _served(second)
        )
        and _deduplicated(first) == _deduplicated(second)
        and _grouped(first) == _grouped(second)
    )


def crossed(tree: exp.Expr) -> list[str]:
    """Return the tables of each CROSS JOIN or comma: SQLite keeps a CROSS JOIN in its place."""
    joins = (join for join in tree.find_all(exp.Join) if _kind(join) == "CROSS")
    return sorted(join.this.name.casefold() for join in joins)


def _filters(tree: exp.Expr) -> list[exp.Expr]:
    """Return the conditions of WHERE and HAVING, at whatever depth."""
    clauses = tree.find_all(exp.Where, exp.Having)
    return [part for clause in clauses for part in _conjuncts(clause.this)]


def _conditions(tree: exp.Expr) -> list[str]:
    """Return the names of the tables in their order, and the conditions as written."""
    names = [node.this.alias_or_name.casefold() for node in tree.find_all(exp.From, exp.Join)]
    joins = [join.args["on"] for join in tree.find_all(exp.Join) if join.args.get("on")]
    found = [*_filters(tree), *(part for one in joins for part in _conjuncts(one))]
    return [*names, *sorted(map(_shown, found))]


def _served(tree: exp.Expr) -> set[tuple[str, str]]:
    """Return what an index may see of the conditions on one table, and columns only they name."""
    inside: dict[bool, set[str]] = {True: set(), False: set()}
    for column in tree.find_all(exp.Column):
        inside[column.find_ancestor(exp.Where, exp.Having) is not None].add(_column(column))
    found = {(name, "") for name in inside[True] - inside[False]}
    for part in _filters(tree):
        if isinstance(part, exp.Or):  # an index for each side, one after the other
            found.add((part.sql().casefold(), "or"))
        elif isinstance(part, exp.Between):
            found.update((_column(part.this), bound) for bound in ("lower", "upper"))
        elif isinstance(part, exp.Predicate) and not isinstance(part, exp.NEQ):
            this, other = part.this, part.args.get("expression")
            kind = type(part).__name__
            found.add((_column(this), _BOUNDS.get(kind, kind)))
            if isinstance(other, exp.Column):
                found.add((_column(other), _BOUNDS.get(_FLIPPED.get(kind, ""), kind)))
    return {one for one in found if one[0]}


_BOUNDS = {"GT": "lower", "GTE": "lower", "LT": "upper", "LTE": "upper"}
_FLIPPED = {"GT": "LT", "GTE": "LTE", "LT": "GT", "LTE": "GTE"}


def _column(node: exp.Expr) -> str:
    """Return the name of a column, none for any other expression."""
    return node.name.casefold() if isinstance(node, exp.Column) else ""


def _deduplicated(tree: exp.Expr) -> list[str]:
    """Return the queries below a LIMIT that drop duplicates, in their order."""
    found = [
        node for query in _limited(tree) for node in query.find_all(exp.Query) if node is not query
    ]
    return [type(node).__name__ for node in found if node.args.get("distinct")]


def _shown(condition: exp.Expr) -> str:
    """Return a condition as text, an equation whichever side comes first."""
    if isinstance(condition, exp.EQ):
        return " = ".join(sorted(side.sql().casefold() for side in _sides(condition)))
    return condition.sql().casefold()


def _sorted_by(order: exp.Expr) -> list[tuple[str, bool]]:
    """Return the columns by which an ORDER BY sorts, no name for other expressions, and how."""
    select = order.parent
    shown: list[exp.Expr] = select.expressions if isinstance(select, exp.Select) else []
    named = {one.alias.casefold(): one for one in shown if one.alias}
    found: list[tuple[str, bool]] = []
    for item in order.expressions:
        this: exp.Expr = item.this
        if isinstance(this, exp.Literal) and this.name.isdigit() and int(this.name) <= len(shown):
            this = shown[int(this.name) - 1]
        elif isinstance(this, exp.Column) and not this.table:
            this = named.get(this.name.casefold(), this)
        this = this.unalias()
        name = this.name.casefold() if isinstance(this, exp.Column) else ""
        found.append((name, bool(item.args.get("desc"))))
    return found


def _limited(tree: exp.Expr) -> list[exp.Expr]:
    """Return the queries that have a LIMIT."""
    return [node.parent for node in tree.find_all(exp.Limit, exp.Fetch) if node.parent]


def _grouped(tree: exp.Expr) -> list[list[str]]:
    """Return the keys of each GROUP BY at or below a LIMIT, in their order."""
    groups = [group for query in _limited(tree) for group in query.find_all(exp.Group)]
    return [[key.name.casefold() for key in group.expressions] for group in groups]


def _joined(tree: exp.Expr) -> list[tuple[str, str]]:
    """Return the tables that a query reads, in the order in which they are joined, and how."""
    found: list[tuple[str, str]] = []
    for node in tree.find_all(exp.From, exp.Join):
        name = node.this.name.casefold() if isinstance(node.this, exp.Table) else ""
        kind = _kind(node)
        found.append((name, _kind_as_run(node) if kind == "LEFT" else kind))
    return found


def _kind(node: exp.Expr) -> str:
    kinds = (node.text(key).upper() for key in ("method", "side", "kind"))
    return " ".join(kind for kind in kinds if kind not in ("", "INNER", "OUTER"))


def _kind_as_run(join: exp.Expr) -> str:
    """
    Return how engines run a left join: as the inner join that it is if they see that.

    They do where WHERE, or the condition of an inner join, compares a column of the table to
    something.  Into a null test or a function some look, and only the same ones they read alike.
    """
    select, table = join.parent, join.this.alias_or_name.casefold()
    if not isinstance(select, exp.Select) or not table:
        return "LEFT"
    joins: list[exp.Expr] = select.args.get("joins") or []
    conditions: list[exp.Expr | None] = [o.args.get("on") for o in joins if not _kind(o)]
    where: exp.Expr | None = select.args.get("where")
    conditions.append(where.this if where is not None else None)
    parts = [part for one in conditions if one is not None for part in _conjuncts(one)]
    outer = any("RIGHT" in _kind(other) or "FULL" in _kind(other) for other in joins)
    for part in () if outer else parts:
        if isinstance(part, _COMPARISONS) and any(_is_of(side, table) for side in _sides(part)):
            return ""
    seen = (
        part.sql()
        for part in parts
        if any(column.table.casefold() in ("", table) for column in part.find_all(exp.Column))
    )
    return " ".join(("LEFT", *sorted(seen)))


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    if isinstance(condition, exp.Paren):
        return _conjuncts(condition.this)
    if not isinstance(condition, exp.And):
        return [condition]
    return [*_conjuncts(condition.this), *_conjuncts(condition.expression)]


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


def _sides(comparison: exp.Expr) -> list[exp.Expr]:
    other: exp.Expr | None = comparison.args.get("expression")
    return [comparison.this] if other is None else [comparison.this, other]


def _is_of(side: exp.Expr, table: str) -> bool:
    return isinstance(side, exp.Column) and side.table.casefold() == table
