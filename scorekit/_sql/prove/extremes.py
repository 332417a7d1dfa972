"""Steps that read correlated aggregates, and rows that have an extreme, as joins with groups."""

from __future__ import annotations

from scorekit._sql.prove.dependencies import Rows
from scorekit._sql.prove.groups import aggregates_of, replaced_aggregates
from scorekit._sql.prove.joins import uses
from scorekit._sql.prove.predicates import conjunction, conjuncts, strict_parts
from scorekit._sql.prove.terms import (
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    derived_tables,
    local_sources,
    ordered,
    outermost,
    replaced,
    replaced_terms,
    sources,
    walk,
)


def groups_for_scalars(select: Select, rows: Rows) -> Select:
    """
    Join groups where a subquery aggregates the rows that equal the current one in some columns.

    ``x = (SELECT MAX(y) FROM u WHERE u.g = t.g)`` is a join with ``SELECT g, MAX(y) ... GROUP BY
    g``: at most one group is found, as its keys compare as they do in WHERE.  Where none is, the
    aggregate of no rows is NULL, or 0 if it counts, which no row that passes WHERE may find; or
    the current row is itself one of those that are aggregated.
    """
    known = rows.known
    if not known.joining:
        return select
    strict = frozenset[Term]().union(*map(strict_parts, conjuncts(select.where)))
    shown = (select.where, *(select.outputs if select.plain else ()))
    for part in shown:
        for scalar in outermost(part, "scalar"):
            found = _grouped(scalar, rows, certain=_finds_rows(scalar, strict, select, rows))
            if found is None:
                continue
            group, pairs = found
            if not select.plain and any(
                scalar in walk(one) for one in (select.having, *select.outputs, select.group)
            ):
                continue
            source = known.fresh()
            new = {scalar: Term("col", str(len(pairs)), (source,))}
            joined = [
                Term("eq", "", (outer, Term("col", str(i), (source,))))
                for i, (_, outer) in enumerate(pairs)
            ]
            known.note("correlated aggregate as a join with groups", rows.asked)
            rest = Select.of(replaced_terms(select._replace(tables=NONE).term(), new, known.steps))
            return rest._replace(
                tables=Term(
                    "from",
                    "",
                    (*select.tables.args, Term("derived", "", (source, group.term()))),
                ),
                where=conjunction((*conjuncts(rest.where), *joined)),
            )
    return select


def _finds_rows(scalar: Term, strict: frozenset[Term], select: Select, rows: Rows) -> bool:
    """Say whether WHERE refuses what a subquery gives of no rows."""
    query = scalar.args[0]
    output = Select.of(query).outputs[0] if query.op == "select" else scalar
    if output.op != "agg" or not output.name.startswith("count"):
        return scalar in strict
    none = {scalar: Term("int", "0")}
    facts = rows.with_only(()).facts
    return any(
        facts.excludes(replaced_terms(condition, none, rows.known.steps))
        for condition in conjuncts(select.where)
        if scalar in walk(condition)
    )


def _grouped(  # noqa: C901, PLR0911 - one per guard
    scalar: Term, rows: Rows, *, certain: bool
) -> tuple[Select, list[tuple[Term, Term]]] | None:
    """Return a subquery by groups, with the pairs of its keys and what they equal outside."""
    query = scalar.args[0]
    if query.op != "select":
        return None
    inner = Select.of(query)
    if inner.group != NONE or inner.having != TRUE or inner.distinct or inner.order:
        return None
    (output,) = inner.outputs
    if output.op != "agg" or (output.name.startswith("count") and not certain):
        return None
    own = frozenset(local_sources(inner.tables))
    inside = own | {n.args[0] for n in walk(query) if n.op in ("table", "derived")}
    pairs: list[tuple[Term, Term]] = []
    rest: list[Term] = []
    for condition in conjuncts(inner.where):
        if sources(condition) <= inside:
            rest.append(condition)
            continue
        if condition.op != "eq" or condition.name or not rows.alike(*condition.args):
            return None
        for mine, outer in (condition.args, condition.args[::-1]):
            if sources(mine) <= own and sources(outer) <= rows.own:
                if mine in [key for key, _ in pairs]:
                    return None
                pairs.append((mine, outer))
                break
        else:
            return None
    if not pairs or not sources(output) <= inside or not sources(inner.tables) <= inside:
        return None
    if not certain and not _itself(inner, pairs, rest, rows):
        return None
    keys = tuple(mine for mine, _ in pairs)
    group = inner._replace(
        where=conjunction(tuple(rest)),
        group=ordered(Term("group", "", keys)),
        outputs=(*keys, output),
    )
    return group, pairs


def _itself(inner: Select, pairs: list[tuple[Term, Term]], rest: list[Term], rows: Rows) -> bool:
    """Say whether the current row is one of the rows of a subquery over the same table."""
    if len(inner.tables.args) != 1 or inner.tables.args[0].op != "table":
        return False
    (mine,) = inner.tables.args[0].args
    outer = pairs[0][1]
    if outer.op != "col" or outer.args[0] in rows.extended:
        return False
    other = outer.args[0]
    if rows.known.tables.get(other, "") != rows.known.tables.get(mine, " "):
        return False
    return (
        all(
            key == Term("col", value.name, (mine,))
            and value.args == (other,)
            and rows.facts.never_null(value)
            for key, value in pairs
            if value.op == "col" or key.op != "col"
        )
        and all(value.op == "col" for _, value in pairs)
        and all(rows.facts.implies(replaced(one, {mine: other}, rows.known.steps)) for one in rest)
    )


def scalars_for_left_joins(select: Select, rows: Rows) -> Select:
    """
    Read what is aggregated of an optional side for each row as correlated subqueries.

    If the keys of GROUP BY tell the other rows apart, a group is one of them with its partners, or
    with NULLs that no aggregate sees.  So it is with the aggregates of a grouped optional side
    whose keys are all compared; of no group these are NULL, also a count unless COALESCE makes
    it 0.
    """
    if not rows.known.joining:
        return select
    for part in select.tables.args:
        if part.op != "left" or len(part.args) != 2:  # noqa: PLR2004 - one optional side
            continue
        base, arm = part.args
        others = [other for other in select.tables.args if other is not part]
        found = _values_of_groups(select, arm, rows) or _values_of_arm(select, arm, rows)
        if found is None:
            continue
        rows.known.note("optional side to correlated aggregates", rows.asked)
        having = replaced_terms(select.having, found, rows.known.steps)
        kept = select._replace(
            group=NONE,
            having=TRUE,
            tables=NONE,
            where=conjunction((*conjuncts(select.where), *conjuncts(having))),
        )
        kept = Select.of(replaced_terms(kept.term(), found, rows.known.steps))
        return kept._replace(tables=Term("from", "", (*others, *base.args)))
    return select


def _values_of_groups(select: Select, arm: Term, rows: Rows) -> dict[Term, Term] | None:
    """Return the subquery that each aggregate over an optional side is, if all are."""
    own = frozenset(local_sources(arm))
    if select.group == NONE:
        return None
    if not rows.determined(select.group.args).sources >= rows.own - own:
        return None
    found: dict[Term, Term] = {}
    parts = (select.having, *select.outputs, *select.order)
    for part in parts:
        for agg in aggregates_of(part):
            if not agg.args or agg.args[0].op != "col" or agg.args[0].args[0] not in own:
                return None
            query = Select.of_rows(arm.args[0], arm.args[1], (agg,))
            found[agg] = Term("scalar", "", (_copied(query.term(), rows),))
    rest = (replaced_aggregates(part, dict.fromkeys(found, NULL)) for part in parts)
    if not found or any(uses(one, own) for one in (*rest, select.where, select.group)):
        return None
    return found


def _values_of_arm(  # noqa: C901, PLR0911, PLR0912 - one per guard
    select: Select, arm: Term, rows: Rows
) -> dict[Term, Term] | None:
    """Return the subquery that each column of a grouped optional side is, if all are."""
    tables, condition = arm.args
    if not select.plain or len(tables.args) != 1 or tables.args[0].op != "derived":
        return None
    source, query = tables.args[0].args
    if query.op != "select":
        return None
    inner = Select.of(query)
    if inner.group == NONE or inner.distinct or inner.order or inner.having != TRUE:
        return None
    columns = {Term("col", str(i), (source,)): output for i, output in enumerate(inner.outputs)}
    equal: dict[Term, Term] = {}
    for one in conjuncts(condition):
        if one.op != "eq" or one.name or not rows.alike(*one.args):
            return None
        for mine, outer in (one.args, one.args[::-1]):
            if columns.get(mine) in inner.group.args and not uses(outer, (source,)):
                equal[columns[mine]] = outer
                break
        else:
            return None
    if len(equal) != len(conjuncts(condition)) or equal.keys() != {*inner.group.args}:
        return None
    found: dict[Term, Term] = {}
    joined = [Term("eq", "", pair) for pair in equal.items()]
    seen = (select.where, *select.outputs, *select.order)
    for column, output in columns.items():
        if output.op != "agg" or not any(column in walk(part) for part in seen):
            continue
        value = inner._replace(
            where=conjunction((*conjuncts(inner.where), *joined)), group=NONE, outputs=(output,)
        )
        scalar = Term("scalar", "", (_copied(value.term(), rows),))
        if output.name.startswith("count"):
            zero = Term("part", "expressions", (Term("int", "0"),))
            found[Term("fn", "Coalesce", (zero, Term("part", "this", (column,))))] = scalar
        else:
            found[column] = scalar
    rest = [replaced_terms(part, found, rows.known.steps) for part in seen]
    if not found or any(uses(part, (source,)) for part in rest):
        return None
    return found


def _copied(query: Term, rows: Rows) -> Term:
    """Return a query over tables of its own."""
    known = rows.known
    defined = [node.args[0] for node in walk(query) if node.op in ("table", "derived")]
    return replaced(query, {one: known.fresh(one) for one in defined}, known.steps)


def without_keys_of_extremes(select: Select, rows: Rows) -> Select:  # noqa: C901 - one per guard
    """
    Drop the join by the keys of a group that has the current row's own id as its extreme.

    A row with ``t.id = MAX(id)`` of some group is the row of that group that has this id, where id
    is a key.  So it has the keys of this group, which need not be compared; only that they are
    not NULL, where the comparison asked for that.
    """
    known = rows.known
    for _, source, query in derived_tables(select, "select"):
        inner = Select.of(query)
        found = extreme_of(inner, rows)
        if found is None:
            continue
        place, extreme = found
        column = Term("col", str(place), (source,))
        where = conjuncts(select.where)
        for condition in where:
            if condition.op != "eq" or condition.name or column not in condition.args:
                continue
            (other,) = [one for one in condition.args if one != column] or [column]
            table = inner.tables.args[0]
            if (
                other.op != "col"
                or other.name != extreme.name
                or other.args[0] not in rows.own
                or known.tables.get(other.args[0], "") != table.name
            ):
                continue
            mine, theirs = other.args[0], table.args[0]
            new: dict[Term, list[Term]] = {}
            for i, output in enumerate(inner.outputs):
                if output.op != "col" or output not in inner.group.args:
                    continue
                pair = (Term("col", output.name, (mine,)), Term("col", str(i), (source,)))
                tests = [Term("isnull", "", (one,)) for one in pair]
                for equal in (Term("eq", "", pair), Term("eq", "", pair[::-1])):
                    new[equal] = [Term("not", "", (Term("isnull", "", pair[:1]),))]
                    for both in (tests, tests[::-1]):
                        nulls = Term("and", "", tuple(both))
                        for either in ((equal, nulls), (nulls, equal)):
                            new[Term("or", "", either)] = []
            kept: list[Term] = []
            for one in where:
                kept.extend(new.get(one, [one]))
            if len(kept) == len(where) and not any(one in new for one in where):
                continue
            known.note(
                "group told by its extreme", (*rows.asked, _key_named(theirs, extreme, rows))
            )
            return select._replace(where=conjunction(tuple(kept)))
    return select


def _key_named(source: Term, column: Term, rows: Rows) -> str:
    return f"{rows.known.tables[source]} ({column.name.casefold()}) is a key"


def extreme_of(inner: Select, rows: Rows) -> tuple[int, Term] | None:
    """Return the output of groups of one table that is the MAX or MIN of its key, and that."""
    if inner.group == NONE or len(inner.tables.args) != 1 or inner.having != TRUE:
        return None
    (table,) = inner.tables.args
    if table.op != "table":
        return None
    for i, output in enumerate(inner.outputs):
        if output.op == "agg" and output.name in ("min", "max"):
            (value,) = output.args
            if value.op == "col" and value.args == table.args:
                keys = rows.known.keys(table.args[0])
                if (value.name.casefold(),) in keys:
                    return i, value
    return None
