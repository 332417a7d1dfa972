"""Rewrites of one SELECT or set operation: each says why it is sound for bags."""

from __future__ import annotations

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.predicates import LITERALS, conjunction, conjuncts, strict_parts
from scorekit._sql.prove.terms import (
    IN_ORDER,
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    has_aggregate,
    local_sources,
    looks_at,
    ordered,
    outputs_of,
    replaced,
    walk,
)


def ordered_tables(select: Term) -> Term:
    """Put the tables of a FROM in order: products commute."""
    tables, *rest = select.args
    return select._replace(args=(ordered(tables), *rest))


def without_duplicates(query: Term) -> Term:
    """Drop a DISTINCT whose duplicates would not be seen: in IN, EXISTS, UNION, EXCEPT."""
    if query.op == "select" and query.name == "distinct":
        return query._replace(name="")
    if query.op == "union":
        return query._replace(op="union all")
    return query


def flat_set_operation(op: str, arms: tuple[Term, ...], *, in_order: bool = False) -> Term:
    """
    UNION, UNION ALL and INTERSECT are associative and commutative.

    What drops duplicates at the end makes dropping them in an arm needless.
    """
    if op in ("union", "intersect"):
        arms = tuple(map(without_duplicates, arms))
    same = {"union": ("union", "union all"), "union all": ("union all",)}.get(op, (op,))
    parts: list[Term] = []
    for arm in arms:
        parts.extend(arm.args if arm.op in same else (arm,))
    return ordered(Term(op, IN_ORDER if in_order else "", tuple(parts)))


def inner_for_outer_joins(select: Select) -> Select:
    """
    Make a left join an inner one if WHERE is never true of a row filled up with NULLs.

    ``a LEFT JOIN b ON p WHERE b.x = 1`` drops just the rows that the outer join adds.
    """
    strict = frozenset[Term]().union(*map(strict_parts, conjuncts(select.where)))
    rejected = frozenset(part.args[0] for part in strict if part.op == "col")
    parts: list[Term] = []
    conditions = list(conjuncts(select.where))
    for part in select.tables.args:
        if part.op != "left":
            parts.append(part)
            continue
        base, *arms = part.args
        kept: list[Term] = []
        for arm in arms:
            if rejected.intersection(local_sources(arm)):
                parts.extend(arm.args[0].args)
                conditions.extend(conjuncts(arm.args[1]))
            else:
                kept.append(arm)
        parts.extend([Term("left", "", (base, *kept))] if kept else base.args)
    tables = ordered(Term("from", "", tuple(parts)))
    return select._replace(tables=tables, where=conjunction(tuple(dict.fromkeys(conditions))))


def without_constant_keys(group: Term) -> Term:
    """A constant tells no rows apart; the last key stays, as without one no rows give a row."""
    keys = tuple(dict.fromkeys(key for key in group.args if key.op not in LITERALS))
    return ordered(group._replace(args=keys or (NULL,)))


def conditions_on_keys_first(select: Select, known: Known) -> Select:
    """A condition on the keys of a group holds for all of its rows or none: HAVING is WHERE."""
    if select.group == NONE:
        return select
    keys = frozenset(select.group.args)
    own = frozenset(local_sources(select.tables))
    exact = frozenset(filter(known.exact, keys))
    moved = [
        part
        for part in conjuncts(select.having)
        if not has_aggregate(part)
        and _only_of_keys(part, keys, own)
        and looks_at(part, keys, exact)
    ]
    if not moved:
        return select
    kept = [part for part in conjuncts(select.having) if part not in moved]
    where = conjunction(tuple(dict.fromkeys((*conjuncts(select.where), *moved))))
    return select._replace(where=where, having=conjunction(kept))


def _only_of_keys(term: Term, keys: frozenset[Term], own: frozenset[Term]) -> bool:
    if term in keys:
        return True
    if term.op in ("col", "col?", "quoted"):
        return not any(node in own for node in walk(term))
    return all(_only_of_keys(arg, keys, own) for arg in term.args)


def distinct_for_group(select: Select) -> Select:
    """GROUP BY without aggregates gives each key once; with all keys put out that is DISTINCT."""
    if select.group == NONE or select.aggregates or select.having != TRUE:
        return select
    if not set(select.group.args) <= {NULL, *select.outputs}:
        return select
    return select._replace(distinct=True, group=NONE)


def without_needless_distinct(select: Select) -> Select:
    """Groups differ in their keys, so rows that hold all keys differ; one row has no double."""
    if not select.distinct or not (select.group != NONE or select.aggregates):
        return select
    if select.group != NONE and not set(select.group.args) <= set(select.outputs):
        return select
    return select._replace(distinct=False)


def collapsed(  # noqa: C901, PLR0911 - one per guard
    select: Select, known: Known
) -> Term:
    """
    Let a SELECT that only filters and computes over one derived table become part of that.

    Over groups WHERE is HAVING; over DISTINCT it is WHERE, and the outputs must keep all columns
    or drop duplicates again; a set operation takes nothing but its own columns in order.
    """
    tables = select.tables.args
    if len(tables) != 1 or tables[0].op != "derived":
        return select.term()
    if select.group != NONE or select.aggregates:
        return select.term()
    source, query = tables[0].args
    if query.op != "select":
        if query.op == "windowed":
            return select.term()
        own = tuple(Term("col", str(i), (source,)) for i in range(len(select.outputs)))
        identity = select.outputs == own and len(own) == len(outputs_of(query))
        if identity and select.where == TRUE and not select.distinct and not select.order:
            return query
        return select.term()
    inner = Select.of(query)
    parts = (select.where, *select.outputs, *select.order)
    aggregates = {
        Term("col", str(i), (source,))
        for i, output in enumerate(inner.outputs)
        if has_aggregate(output)
    }
    if aggregates and any(
        node.op == "select" and not aggregates.isdisjoint(walk(node))
        for part in parts
        for node in walk(part)
    ):
        return select.term()  # an aggregate must not move into another query
    new = {Term("col", str(i), (source,)): output for i, output in enumerate(inner.outputs)}
    where = replaced(select.where, new, known.steps)
    outputs = tuple(replaced(output, new, known.steps) for output in select.outputs)
    order = tuple(replaced(item, new, known.steps) for item in select.order)
    result = inner._replace(outputs=outputs, order=order, distinct=select.distinct)
    if inner.distinct:
        exact = {column for column, output in new.items() if known.exact(output)}
        if not all(looks_at(part, new, exact) for part in parts):
            return select.term()
        whole = set(inner.outputs) <= set(outputs) or select.distinct
        if inner.group != NONE or inner.aggregates or not whole:
            return select.term()
        both = conjunction((*conjuncts(inner.where), *conjuncts(where)))
        return result._replace(where=both, distinct=True).term()
    result = result._replace(having=conjunction((*conjuncts(inner.having), *conjuncts(where))))
    if inner.group == NONE and not result.aggregates:
        return select.term()
    return result.term()


def projected_first(query: Term, known: Known) -> Term:  # noqa: PLR0911 - one per guard
    """
    Let ``SELECT x FROM (SELECT ... LIMIT n)`` limit what it selects itself.

    It only computes, row by row, so that it may do so before: neither the rows nor their order
    change.  DISTINCT inside would look at other columns, and must be needless; outside it must be
    of one row.  Without an order a LIMIT is better taken as it stands.
    """
    if query.op != "select":
        return query
    select = Select.of(query)
    if not select._replace(distinct=False).plain or select.where != TRUE or select.order:
        return query
    part = select.tables
    if part.op == "from" and len(part.args) == 1:
        (part,) = part.args
    if part.op != "derived" or part.args[1].op != "limited" or part.args[1].name:
        return query
    source, limited = part.args
    rows, *rest = limited.args
    single = Term("bound", "limit", (Term("int", "1"),)) in rest
    if (select.distinct and not single) or not rest[0].args:
        return query
    inside = (node.op for output in select.outputs for node in walk(output))
    if rows.op != "select" or not {"select", "star"}.isdisjoint(inside):
        return query
    inner = without_needless_distinct(Select.of(rows))
    new = {Term("col", str(i), (source,)): output for i, output in enumerate(inner.outputs)}
    outputs = tuple(replaced(output, new, known.steps) for output in select.outputs)
    one_row = inner.group == NONE and inner.aggregates and not any(map(has_aggregate, outputs))
    if inner.distinct or one_row:
        return query
    known.note("columns chosen before LIMIT")
    return limited._replace(args=(inner._replace(outputs=outputs).term(), *rest))
