"""Steps on UNION ALL, INTERSECT and EXCEPT, and on queries without rows."""

from __future__ import annotations

from typing import Final

from scorekit._sql.prove.dependencies import Rows
from scorekit._sql.prove.groups import aggregates_of, replaced_aggregates
from scorekit._sql.prove.joins import and_where, is_empty
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.predicates import LITERALS
from scorekit._sql.prove.terms import (
    FALSE,
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    has_aggregate,
    outputs_of,
    replaced,
    replaced_terms,
    walk,
    with_canonical_names,
)

MAX_ARMS: Final = 12
"""Arms of a UNION ALL that a SELECT is pushed into."""


def empty(width: int) -> Term:
    """Return the query without rows."""
    return Select.of_rows(Term("from"), FALSE, (NULL,) * width).term()


def defined(term: Term) -> list[Term]:
    """Return the tables that *term* defines, at any depth."""
    return [node.args[0] for node in walk(term) if node.op in ("table", "derived")]


def copied(term: Term, known: Known) -> Term:
    """Return *term* with other names for the tables that it defines."""
    new = {source: known.fresh(source) for source in defined(term)}
    return replaced(term, new, known.steps)


def arms_of(query: Term) -> tuple[Term, ...]:
    """Return the arms of a UNION ALL; any other query is its own one."""
    return query.args if query.op == "union all" else (query,)


def pushed_into_union(select: Select, known: Known) -> Term:
    """
    Take a SELECT over a UNION ALL apart: joins, filters and outputs treat each row by itself.

    ``(a UNION ALL b) JOIN c`` is ``a JOIN c UNION ALL b JOIN c``; a DISTINCT comes last.
    """
    if not select._replace(distinct=False).plain or select.order:
        return select.term()
    for place, part in enumerate(select.tables.args):
        if part.op != "derived" or part.args[1].op != "union all":
            continue
        source, query = part.args
        if len(query.args) > MAX_ARMS:
            continue
        found: list[Term] = []
        for i, arm in enumerate(query.args):
            inside = Term("derived", "", (source, arm))
            tables = list(select.tables.args)
            tables[place] = inside
            one = select._replace(distinct=False, tables=Term("from", "", tuple(tables))).term()
            found.append(one if i == 0 else copied(one, known))
        known.note("UNION ALL moved outwards")
        return Term("union" if select.distinct else "union all", "", tuple(found))
    return select.term()


def grouped_over_union(select: Select, rows: Rows) -> Select:
    """Compute keys and operands of aggregates in the arms of a UNION ALL, joined or filtered."""
    known = rows.known
    parts = select.tables.args
    unions = [p for p in parts if p.op == "derived" and p.args[1].op == "union all"]
    if not unions or (select.group == NONE and not select.aggregates):
        return select
    aggregates = [
        a for part in (select.having, *select.outputs, *select.order) for a in aggregates_of(part)
    ]
    keys = () if select.group == NONE else select.group.args
    needed = [*keys, *(a.args[0] for a in aggregates if a.args)]
    own = frozenset(part.args[0] for part in unions)
    bare = all(n.op in LITERALS or (n.op == "col" and n.args[0] in own) for n in needed)
    if len(parts) == 1 and select.where == TRUE and bare:
        return select
    if any(node.op == "select" for n in needed for node in walk(n)):
        return select
    needed = list(dict.fromkeys(n for n in needed if n.op not in LITERALS))
    source = known.fresh()
    new = {n: Term("col", str(i), (source,)) for i, n in enumerate(needed)}
    swapped = {a: a._replace(args=tuple(new.get(n, n) for n in a.args)) for a in aggregates}

    def outside(term: Term) -> Term:
        marked = replaced_aggregates(term, swapped)
        marks = {a: Term("mark", str(i)) for i, a in enumerate(aggregates_of(marked))}
        plain = replaced_terms(replaced_aggregates(marked, marks), new, known.steps)
        return replaced_terms(plain, {m: a for a, m in marks.items()}, known.steps)

    inner = Select.of_rows(select.tables, select.where, tuple(needed) or (Term("int", "1"),))
    pushed = pushed_into_union(inner, known)
    result = select._replace(
        tables=Term("from", "", (Term("derived", "", (source, pushed)),)),
        where=TRUE,
        group=NONE
        if select.group == NONE
        else Term("group", "", tuple(new.get(k, k) for k in keys)),
        having=outside(select.having),
        outputs=tuple(map(outside, select.outputs)),
        order=tuple(map(outside, select.order)),
    )
    left = frozenset(defined(select.tables))
    rest = result._replace(tables=NONE).term()
    return select if any(node in left for node in walk(rest)) else result


def without_empty_arms(query: Term, known: Known) -> Term:
    """Drop the arms of a set operation that have no rows, if the types of columns stay."""
    op, arms = query.op, query.args
    if op.startswith("except"):
        first, *others = (with_canonical_names(arm, known.steps) for arm in arms)
        if first in others:
            known.note("rows without themselves are none")
            return empty(len(outputs_of(query)))
    empties = [arm for arm in arms if is_empty(arm)]
    if not empties or op in ("union", "union all"):
        return _without_empty(query, empties, known)
    width = len(outputs_of(query))
    if op.startswith("intersect") or is_empty(arms[0]):
        known.note("no rows")
        return empty(width)
    known.note("arm without rows dropped")
    return as_distinct(arms[0]) if op == "except" else arms[0]


def typed_arms(old: tuple[Term, ...], new: tuple[Term, ...], known: Known) -> tuple[Term, ...]:
    """Keep an arm that has turned out to have no rows where the types of columns hang on it."""
    rest = [arm for arm, found in zip(old, new, strict=True) if not is_empty(found)]
    return tuple(
        arm
        if is_empty(found)
        and arm != found
        and not all(_of_one_type(arm, one, known) for one in rest)
        else found
        for arm, found in zip(old, new, strict=True)
    )


def _of_one_type(first: Term, second: Term, known: Known) -> bool:
    ours, theirs = outputs_of(first), outputs_of(second)
    return len(ours) == len(theirs) and all(
        NULL in pair or _alike(*pair, known) for pair in zip(ours, theirs, strict=True)
    )


def _alike(first: Term, second: Term, known: Known) -> bool:
    kinds = {known.kind(first), known.kind(second)}
    if "unknown" not in kinds:
        return len(kinds) == 1 or kinds == {"integer", "natural"}
    columns = first.op == second.op == "col" and first.name == second.name
    tables = [known.tables.get(one.args[0]) for one in (first, second)] if columns else [None]
    return tables[0] is not None and tables[0] == tables[1]


def _without_empty(query: Term, empties: list[Term], known: Known) -> Term:
    """Drop the arms of a union that have no rows."""
    kept = [arm for arm in query.args if arm not in empties]
    if not empties:
        return query
    if not kept:
        known.note("no rows")
        return empty(len(outputs_of(query)))
    known.note("arm without rows dropped")
    if len(kept) > 1:
        return query._replace(args=tuple(kept))
    return kept[0] if query.op == "union all" else as_distinct(kept[0])


def as_distinct(query: Term) -> Term:
    """Return a query without its duplicates."""
    if query.op == "select":
        return query._replace(name="distinct")
    if query.op in ("union", "except", "intersect"):
        return query
    return (
        Term("union", "", (query, query))
        if query.op != "union all"
        else query._replace(op="union")
    )


def semi_for_set_operation(query: Term, known: Known, extended: frozenset[Term]) -> Term:
    """
    ``a EXCEPT b`` is the distinct rows of a for which b has no row that is the same.

    And INTERSECT, for which it has one.  Two NULLs are the same here.  Only of columns of one
    known type: what else an engine converts before it compares is not known.
    """
    first, *others = query.args
    if first.op != "select" or any(o.op not in ("select", "union", "union all") for o in others):
        return query
    if not _of_known_kinds(query.args, known):
        return query
    source = known.fresh()
    width = len(outputs_of(first))
    tables = Term("from", "", (Term("derived", "", (source, first)),))
    mine = tuple(Term("col", str(i), (source,)) for i in range(width))
    select = Select.of_rows(tables, TRUE, mine, distinct=True)
    for other in others:
        inside = known.fresh()
        rows = Rows(
            Term(
                "from",
                "",
                (Term("derived", "", (source, first)), Term("derived", "", (inside, other))),
            ),
            (),
            known,
            extended,
        )
        same: list[Term] = []
        for i in range(width):
            theirs = Term("col", str(i), (inside,))
            equal = Term("eq", "", (mine[i], theirs))
            if not (rows.never_null(mine[i]) or rows.never_null(theirs)):
                nulls = tuple(Term("isnull", "", (one,)) for one in (mine[i], theirs))
                equal = Term("or", "", (equal, Term("and", "", nulls)))
            same.append(equal)
        known.assumptions.update(rows.asked)
        table = Term("from", "", (Term("derived", "", (inside, other)),))
        test = and_where(Select.of_rows(table, TRUE, ()), same)
        exists = Term("exists", "", (test.term(),))
        if query.op == "except":
            exists = Term("not", "", (exists,))
        select = and_where(select, (exists,))
    known.note(f"{query.op.upper()} to EXISTS")
    return select.term()


def _of_known_kinds(arms: tuple[Term, ...], known: Known) -> bool:
    rows: list[tuple[str, ...]] = []
    for arm in arms:
        for one in arm.args if arm.op in ("union", "union all") else (arm,):
            if one.op != "select" or any(map(has_aggregate, outputs_of(one))):
                return False
            rows.append(tuple(known.kind(output) for output in outputs_of(one)))
    same = all(row == rows[0] for row in rows)
    fits = {"integer", "natural", "text", "boolean", "time", "number"}
    return same and fits.issuperset(rows[0])
