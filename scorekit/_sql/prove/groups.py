"""Steps on GROUP BY, DISTINCT and aggregates: each says when that is sound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scorekit._sql.prove.dependencies import Rows, sources_in, unique_outputs
from scorekit._sql.prove.joins import (
    and_where,
    inner_for_arm,
    inner_for_strict_joins,
    left_arms,
    plain_for_distinct,
    sees_equals_alike,
    uses,
)
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.logic import Facts
from scorekit._sql.prove.predicates import conjunction, conjuncts
from scorekit._sql.prove.scalars import LOOSE_TYPES
from scorekit._sql.prove.selects import distinct_for_group
from scorekit._sql.prove.terms import (
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    derived_tables,
    has_aggregate,
    local_sources,
    looks_at,
    ordered,
    outermost,
    replaced,
    walk,
)

BLIND: Final = frozenset({"min", "max"})
"""Aggregates that do not see how often a value comes, beside those of DISTINCT values."""

_NUMBERS = ("integer", "natural", "number", "real")


def aggregates_of(term: Term) -> list[Term]:
    """Return the aggregates of the SELECT that *term* stands in."""
    return outermost(term, "agg")


def replaced_aggregates(term: Term, new: dict[Term, Term]) -> Term:
    """Return *term* with aggregates of its own SELECT replaced."""
    if term.op == "agg":
        return new.get(term, term)
    if term.op == "select" or not term.args:
        return term
    return term._replace(args=tuple(replaced_aggregates(arg, new) for arg in term.args))


def blind_to_repeats(select: Select) -> bool:
    """Say whether it does not matter how often a row comes, only whether it does."""
    if select.group == NONE and not select.aggregates:
        return select.distinct
    return all(
        agg.name in BLIND or agg.name.endswith(" distinct")
        for part in (select.having, *select.outputs, *select.order)
        for agg in aggregates_of(part)
    )


def without_dependent_keys(select: Select, rows: Rows) -> Select:
    """Drop what the other keys of GROUP BY determine: it makes no more groups."""
    if select.group == NONE:
        return select
    keys = list(dict.fromkeys(select.group.args))
    for key in sorted(keys, reverse=True):
        others = [other for other in keys if other != key]
        if others and rows.determined(others)(key):
            keys = others
    if len(keys) == len(select.group.args):
        return select
    rows.known.note("dependent key of GROUP BY dropped", rows.asked)
    return select._replace(group=ordered(Term("group", "", tuple(keys))))


def rows_for_single_groups(select: Select, rows: Rows) -> Select:
    """
    Make each group its one row where the keys of GROUP BY tell all rows apart.

    Then ``COUNT(*)`` is 1 and the sum, mean, least and greatest value are the value itself.  A
    sum or a mean may be of another type, so that these are looked through only where a value is
    compared or put out, and only of numbers.
    """
    if select.group == NONE or not rows.determined(select.group.args).everything:
        return select
    parts = (select.having, *select.outputs, *select.order)
    found: dict[Term, Term] = {}
    for part in parts:
        for agg in aggregates_of(part):
            value = _of_one_row(agg, rows)
            if value is None or (
                agg.name.split()[0] in ("sum", "avg") and not only_compared(part, agg)
            ):
                return select
            found[agg] = value
    rows.known.note("groups of one row", rows.asked)
    having = replaced_aggregates(select.having, found)
    return and_where(
        select._replace(
            group=NONE,
            having=TRUE,
            outputs=tuple(replaced_aggregates(output, found) for output in select.outputs),
            order=tuple(replaced_aggregates(item, found) for item in select.order),
        ),
        conjuncts(having),
    )


def _of_one_row(agg: Term, rows: Rows) -> Term | None:
    name = agg.name.split()[0]
    if name == "count":
        if not agg.args or rows.facts.never_null(agg.args[0]):
            return Term("int", "1")
        test = Term("isnull", "", agg.args)
        return Term("case", "", (test, Term("int", "0"), Term("int", "1")))
    this = agg.args[0]
    if name in BLIND:
        return this
    if name not in ("sum", "avg") or rows.known.kind(this) not in _NUMBERS:
        return None
    columns = [node for node in walk(this) if node.op == "col"]
    if rows.known.dialect in LOOSE_TYPES:  # text that a column of numbers holds is summed as one
        if rows.known.dialect == "sqlite" and columns:
            return None
        rows.asked.update(f"{_column(c, rows.known)} holds numbers" for c in columns)
    return this


def _column(term: Term, known: Known) -> str:
    table = known.tables.get(term.args[0])
    return "a column of a derived table" if table is None else f"{table}.{term.name}"


_COMPARES = ("eq", "ne", "lt", "le", "and", "or", "not", "order", "isnull", "list", "case")


def only_compared(term: Term, part: Term) -> bool:
    """Say whether *part* is but put out or compared in *term*, so that its type is not seen."""
    if term == part or not has_aggregate(term):
        return True
    return term.op in _COMPARES and all(only_compared(arg, part) for arg in term.args)


def without_distinct_over_keys(select: Select, rows: Rows) -> Select:
    """DISTINCT drops nothing where the outputs tell all rows, or all groups, apart."""
    if not select.distinct:
        return select
    given = rows.determined(output for output in select.outputs)
    if select.group != NONE:
        unique = all(map(given, select.group.args))
    else:
        unique = select.aggregates or given.everything
    if not unique:
        return select
    rows.known.note("needless DISTINCT dropped", rows.asked)
    return select._replace(distinct=False)


def plain_aggregates(select: Select, rows: Rows) -> Select:
    """``COUNT(DISTINCT x)`` counts each x once anyway where no two rows of a group share it."""
    if select.group == NONE and not select.aggregates:
        return select
    keys = () if select.group == NONE else select.group.args
    found: dict[Term, Term] = {}
    for part in (select.having, *select.outputs, *select.order):
        for agg in aggregates_of(part):
            distinct = agg.name in ("count distinct", "sum distinct", "avg distinct")
            if distinct and rows.determined((*keys, _counted(agg.args[0]))).everything:
                found[agg] = agg._replace(name=agg.name.split()[0])
            if agg not in found and select.group != NONE and _of_set(agg):
                value = _of_one_row(agg, rows) if rows.determined(keys)(agg.args[0]) else None
                if value is not None and (agg.name in BLIND or only_compared(part, agg)):
                    found[agg] = value
            elif agg.name == "count" and agg.args and rows.facts.never_null(agg.args[0]):
                found[agg] = agg._replace(args=())
            elif agg.name == "sum" and select.group != NONE and _is_indicator(agg.args[0]):
                condition = agg.args[0].args[0]
                one = Term("int", "1")
                found[agg] = Term("agg", "count", (Term("case", "", (condition, one, NULL)),))
    if not found:
        return select
    rows.known.note("simpler aggregate", rows.asked)
    return _with_aggregates(select, found)


def rows_that_count(select: Select, rows: Rows) -> Select:
    """
    Drop a condition, or make a left join an inner one, where other rows would not be aggregated.

    Every aggregate leaves out NULLs, so that it does not matter whether rows come for which all
    operands are NULL.  Without GROUP BY there is one row in any case; with it, HAVING must refuse
    a group of such rows only.
    """
    aggregates = [
        agg
        for part in (select.having, *select.outputs, *select.order)
        for agg in aggregates_of(part)
    ]
    if not aggregates or not all(agg.args for agg in aggregates):
        return select
    if select.group != NONE:
        nothing = dict.fromkeys(aggregates, NULL)
        nothing.update((a, Term("int", "0")) for a in aggregates if a.name.startswith("count"))
        having = replaced_aggregates(select.having, nothing)
        if not rows.facts.excludes(having):
            return select
    operands = dict.fromkeys(agg.args[0] for agg in aggregates)
    tests = [Term("not", "", (Term("isnull", "", (one,)),)) for one in operands]
    seen = [rows.with_conditions((test,)) for test in tests]
    inner = inner_for_strict_joins(select, *seen)
    if inner != select:
        return inner
    parts = conjuncts(select.where)
    for part in parts:
        others = [other for other in parts if other != part]
        if any(node.op == "select" for node in walk(part)):
            continue
        if all(rows.with_only((*others, test)).facts.implies(part) for test in tests):
            rows.known.note("condition on what is not aggregated dropped", rows.asked)
            return select._replace(where=conjunction(others))
    return select


def having_of_every_group(select: Select, rows: Rows) -> Select:
    """Drop of HAVING what holds for each group: it counts 1 at least of what is never NULL."""
    counts = [
        agg
        for agg in aggregates_of(select.having)
        if agg.name.startswith("count") and (not agg.args or rows.facts.never_null(agg.args[0]))
    ]
    if select.group == NONE or not counts:
        return select
    least = [Term("le", "", (Term("int", "1"), agg)) for agg in counts]
    facts = Facts(least, known=rows.known, never_null=lambda _: False)
    kept = [part for part in conjuncts(select.having) if not facts.implies(part)]
    if len(kept) == len(conjuncts(select.having)):
        return select
    rows.known.note("what HAVING says of each group goes", rows.asked)
    return distinct_for_group(select._replace(having=conjunction(kept)))


def groups_with_partners(select: Select, rows: Rows) -> Select:
    """
    Make a left join an inner one where HAVING refuses the groups of rows without a partner.

    The keys of GROUP BY tell the rows of the other tables apart, so that a row without a partner
    is a group by itself.
    """
    if select.group == NONE or not has_aggregate(select.having):
        return select
    known = rows.known
    for arm, rest in left_arms(select):
        own = sources_in(arm)
        if uses(select.group, own):
            continue
        alone = Rows(Term("from", "", tuple(rest)), (), known, rows.extended)
        alone.asked = rows.asked
        if not alone.determined(select.group.args).everything:
            continue
        nulls = {
            node: NULL for node in walk(select.having) if node.op == "col" and node.args[0] in own
        }
        having = replaced(select.having, nulls, known.steps)
        values = {agg: _of_one_row(agg, alone) for agg in aggregates_of(having)}
        found = {agg: value for agg, value in values.items() if value is not None}
        if len(found) == len(values) and alone.facts.excludes(replaced_aggregates(having, found)):
            known.note("left join to inner join", rows.asked)
            return inner_for_arm(select, arm, rest)
    return select


def _counted(argument: Term) -> Term:
    """Return x of ``CASE WHEN p THEN x END``, which is equal to it where it is not NULL."""
    if argument.op != "case" or argument.args[-1] != NULL or len(argument.args) != 3:  # noqa: PLR2004 - one branch
        return argument
    return argument.args[1]


def _of_set(agg: Term) -> bool:
    """Say whether an aggregate does not see how often a value comes."""
    return bool(agg.args) and (agg.name in BLIND or agg.name.endswith(" distinct"))


def _is_indicator(term: Term) -> bool:
    """Say whether *term* is ``CASE WHEN p THEN 1 ELSE 0 END``, whose sum counts."""
    if term.op != "case" or len(term.args) != 3:  # noqa: PLR2004 - one condition, two values
        return False
    return term.args[1:] == (Term("int", "1"), Term("int", "0"))


def _with_aggregates(select: Select, found: dict[Term, Term]) -> Select:
    return select._replace(
        having=replaced_aggregates(select.having, found),
        outputs=tuple(replaced_aggregates(output, found) for output in select.outputs),
        order=tuple(replaced_aggregates(item, found) for item in select.order),
    )


def exists_for_distinct(select: Select, rows: Rows) -> Select:
    """
    Ask of a table that DISTINCT does not show only whether it has a row: EXISTS.

    The outputs tell the rows of the other tables apart, so that each of these gives one row.
    """
    if not select.distinct or select.group != NONE or select.aggregates or select.order:
        return select
    given = rows.determined(select.outputs)
    shown = [p for p in select.tables.args if given.sources.issuperset(local_sources(p))]
    hidden = [p for p in select.tables.args if p not in shown]
    if not shown or not hidden:
        return select
    sources = frozenset(source for part in hidden for source in local_sources(part))
    new: dict[Term, Term] = {}
    for output in select.outputs:
        for node in walk(output):
            if node.op in ("col", "star") and node.args[0] in sources:
                for other in sorted(rows.equals(node)):
                    if not uses(other, sources) and rows.facts.same(node, other):
                        new[node] = other
                        break
                else:
                    return select
    inside = [c for c in conjuncts(select.where) if uses(c, sources)]
    outside = [c for c in conjuncts(select.where) if c not in inside]
    hidden_tables = Term("from", "", tuple(hidden))
    test = Select.of_rows(hidden_tables, conjunction(inside), ())
    rows.known.note("DISTINCT to EXISTS", rows.asked)
    return select._replace(
        distinct=False,
        tables=Term("from", "", tuple(shown)),
        where=conjunction((*outside, Term("exists", "", (test.term(),)))),
        outputs=tuple(replaced(output, new, rows.known.steps) for output in select.outputs),
    )


def distinct_moved_out(select: Select, rows: Rows) -> Select:
    """Drop duplicates after a join with distinct rows, where they are the only ones there are."""
    if not select.plain or select.order:
        return select
    repeated = any(
        part.op == "derived" and (part.args[1].op == "union" or part.args[1].name == "distinct")
        for part in select.tables.args
    )
    if not repeated or not rows.determined(select.outputs).everything:
        return select
    rows.known.note("DISTINCT moved out of a derived table", rows.asked)
    rows.repeats = False
    return plain_for_distinct(select._replace(distinct=True), rows)


def groups_moved_out(select: Select, rows: Rows) -> Select:
    """
    Join before grouping where a query groups before it joins.

    The rows of a group are then joined to each row that the group was joined to, so that the keys
    of the other tables become keys of GROUP BY, and a condition on an aggregate becomes HAVING.
    """
    if select.group != NONE or select.aggregates or len(select.tables.args) == 1:
        return select
    known = rows.known
    for part, source, query in derived_tables(select, "select"):
        inner = Select.of(query)
        if inner.group == NONE or inner.distinct or inner.order or not inner.aggregates:
            continue
        others = [other for other in select.tables.args if other is not part]
        keys = _keys_of(others, rows)
        if keys is None:
            continue
        new = {Term("col", str(i), (source,)): output for i, output in enumerate(inner.outputs)}
        exact = frozenset(column for column, output in new.items() if known.exact(output))
        if not all(
            looks_at(term, new, exact) for term in (select.where, *select.outputs, *select.order)
        ):
            continue  # which of several equal keys stands for a group is not known
        counted = {column for column, output in new.items() if has_aggregate(output)}
        if any(
            node.op == "select" and not counted.isdisjoint(walk(node))
            for term in (select.where, *select.outputs, *select.order)
            for node in walk(term)
        ):
            continue
        late = [c for c in conjuncts(select.where) if not counted.isdisjoint(walk(c))]
        early = [c for c in conjuncts(select.where) if c not in late]
        known.note("join before GROUP BY", rows.asked)
        moved = Select(
            select.distinct,
            Term("from", "", (*others, *inner.tables.args)),
            conjunction((*conjuncts(inner.where), *early)),
            ordered(Term("group", "", (*inner.group.args, *keys))),
            conjunction((*conjuncts(inner.having), *late)),
            select.outputs,
            select.order,
        )
        return Select.of(replaced(moved.term(), new, known.steps))
    return select


def _keys_of(parts: Sequence[Term], rows: Rows) -> list[Term] | None:
    """Return columns that tell the rows of joined tables apart, None where none are known."""
    found: list[Term] = []
    for part in parts:
        if part.op == "table":
            keys = rows.known.keys(part.args[0])
            names = keys[0] if keys else None
            rows.asked.update(
                f"{rows.known.tables[part.args[0]]} ({', '.join(key)}) is a key"
                for key in keys[:1]
            )
        elif part.op == "derived":
            unique = unique_outputs(part.args[1], rows)
            names = tuple(map(str, unique[0])) if unique else None
        else:
            names = None
        if names is None:
            return None
        found.extend(Term("col", name, part.args[:1]) for name in names)
    return found


# Aggregates of aggregates.

_THROUGH = {
    ("sum", "count"): "count",
    ("sum", "sum"): "sum",
    ("min", "min"): "min",
    ("max", "max"): "max",
}


def merged_groups(select: Select, rows: Rows) -> Select:
    """
    Take aggregates over grouped rows from the rows themselves.

    The sum of the counts of finer groups is the count of the coarser one, and likewise for sums,
    least and greatest values; so also for groups of several arms of a UNION ALL.  Without groups
    outside, a sum of no counts is NULL where a count is 0, so that an arm must always have a row.
    """
    if select.group == NONE and not select.aggregates:
        return select
    derived = [part for part in select.tables.args if part.op == "derived"]
    alone = len(select.tables.args) == 1 and select.where == TRUE
    for part in derived:
        if alone or (part.args[1].op == "select" and select.group != NONE):
            found = _merged(select, part, rows)
            if found != select:
                return found
    return select


def _merged(  # noqa: C901, PLR0911, PLR0912 - one per guard
    select: Select, derived: Term, rows: Rows
) -> Select:
    """Take the aggregates over one derived table from its rows, which other tables may join."""
    known = rows.known
    source, query = derived.args
    arms = [
        Select.of(arm)
        for arm in (query.args if query.op == "union all" else (query,))
        if arm.op == "select"
    ]
    if len(arms) != (len(query.args) if query.op == "union all" else 1):
        return select
    for arm in arms:
        if arm.distinct or arm.having != TRUE or arm.order or arm.plain:
            return select
        if arm.group == NONE and select.group != NONE:
            return select
    some_row = any(arm.group == NONE for arm in arms)
    kinds = [_kind([arm.outputs[i] for arm in arms]) for i in range(len(arms[0].outputs))]
    found: dict[Term, Term] = {}
    outer = (select.having, *select.outputs, *select.order)
    for part in outer:
        for agg in aggregates_of(part):
            this = agg.args[0] if agg.args else NONE
            if this.op != "col" or this.args != (source,):
                return select
            kind = kinds[int(this.name)]
            if kind == "key":
                if agg.name not in BLIND and not agg.name.endswith(" distinct"):
                    return select
                continue
            name = _THROUGH.get((agg.name, kind))
            exact = name in BLIND or _exact_sum([a.outputs[int(this.name)] for a in arms], known)
            if name is None or not exact or (agg.name == "sum" and not only_compared(part, agg)):
                return select
            if name == "count" and select.group == NONE and not some_row:
                return select
            found[agg] = Term("agg", name, (this,))
    rest = [replaced_aggregates(part, dict.fromkeys(aggregates_of(part), NULL)) for part in outer]
    keys = () if select.group == NONE else select.group.args
    others = [part for part in select.tables.args if part is not derived]
    seen = (*rest, *keys, select.where, *others)
    for part in seen:
        for node in walk(part):
            if node.op == "col" and node.args == (source,) and kinds[int(node.name)] != "key":
                return select
    columns = {node for part in seen for node in walk(part) if node.args == (source,)}
    alike = frozenset(filter(known.exact, columns))
    if not all(looks_at(part, columns, alike) for part in seen):
        return select
    known.note("aggregate of aggregates is one aggregate")
    plain = [
        arm._replace(
            group=NONE,
            outputs=tuple(
                output if kind == "key" else (output.args[0] if output.args else Term("int", "1"))
                for output, kind in zip(arm.outputs, kinds, strict=True)
            ),
        ).term()
        for arm in arms
    ]
    inner = plain[0] if query.op != "union all" else query._replace(args=tuple(plain))
    tables = Term("from", "", (*others, Term("derived", "", (source, inner))))
    return _with_aggregates(select, found)._replace(tables=tables)


def _kind(outputs: list[Term]) -> str:
    if not any(map(has_aggregate, outputs)):
        return "key"
    names = {output.name if output.op == "agg" else "" for output in outputs}
    return names.pop() if len(names) == 1 else ""


def _exact_sum(outputs: list[Term], known: Known) -> bool:
    """Say whether sums may be taken in any order: not so of floating point."""
    return all(
        output.name == "count" or not output.args or known.kind(output.args[0]) != "real"
        for output in outputs
    )


def distinct_into_aggregates(select: Select, rows: Rows) -> Select:
    """
    Aggregate the distinct values of a column where a derived table holds each but once.

    ``COUNT(x)`` over ``SELECT DISTINCT k, x`` counts for each k the distinct x, where it groups by
    k and the derived table has no other column.  ``COUNT(*)`` does if x is never NULL.
    """
    parts = select.tables.args
    if len(parts) != 1 or parts[0].op != "derived":
        return select
    source, query = parts[0].args
    if query.op != "select" or query.name != "distinct":
        return select
    inner = Select.of(query)
    keys = () if select.group == NONE else select.group.args
    columns = {Term("col", str(i), (source,)) for i in range(len(inner.outputs))} - {*keys}
    if len(columns) != 1 or inner.aggregates or inner.order:
        return select
    (column,) = columns
    found: dict[Term, Term] = {}
    for part in (select.having, *select.outputs, *select.order):
        for agg in aggregates_of(part):
            if agg.args != (column,) and (agg.args or not rows.facts.never_null(column)):
                return select
            if agg.name in ("count", "sum", "avg"):
                found[agg] = Term("agg", f"{agg.name} distinct", (column,))
    if not found or not sees_equals_alike(select, parts[0], rows.known):
        return select
    rows.known.note("DISTINCT moved into an aggregate", rows.asked)
    plain = Term("derived", "", (source, inner._replace(distinct=False).term()))
    return _with_aggregates(select, found)._replace(tables=Term("from", "", (plain,)))


def nothing_aggregated(select: Select) -> Select:
    """Return what a SELECT without groups gives of no rows: counts are 0, all else is NULL."""
    found = {
        agg: Term("int", "0") if agg.name.startswith("count") else NULL
        for part in (select.having, *select.outputs, *select.order)
        for agg in aggregates_of(part)
    }
    return Select(
        distinct=False,
        tables=Term("from"),
        where=replaced_aggregates(select.having, found),
        group=NONE,
        having=TRUE,
        outputs=tuple(replaced_aggregates(output, found) for output in select.outputs),
    )
