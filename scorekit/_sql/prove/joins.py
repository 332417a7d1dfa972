"""Steps that remove a table or change the kind of its join: each says when that is sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scorekit._sql.prove.dependencies import (
    Rows,
    at_most_one,
    exactly_one,
    extended_within,
    sources_in,
)
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.predicates import LITERALS, conjunction, conjuncts
from scorekit._sql.prove.terms import (
    FALSE,
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    derived_tables,
    has_aggregate,
    local_sources,
    looks_at,
    outputs_of,
    replaced,
    replaced_terms,
    walk,
)


def uses(term: Term, sources: Iterable[Term]) -> bool:
    """Say whether *term* names one of *sources*."""
    wanted = frozenset(sources)
    return any(node in wanted for node in walk(term))


def parts_used(select: Select) -> Term:
    """Return all of a SELECT but its FROM, as one term."""
    return select._replace(tables=NONE).term()


def with_parts(select: Select, parts: Iterable[Term]) -> Select:
    """Return a SELECT from other tables."""
    return select._replace(tables=Term("from", "", tuple(parts)))


def left_arms(select: Select) -> Iterator[tuple[Term, list[Term]]]:
    """Yield each arm of the left joins of a SELECT, and its tables without that arm."""
    for part in select.tables.args:
        for arm in part.args[1:] if part.op == "left" else ():
            rest = [other for other in select.tables.args if other is not part]
            others = [other for other in part.args[1:] if other is not arm]
            base = [Term("left", "", (part.args[0], *others))] if others else part.args[0].args
            yield arm, [*rest, *base]


def inner_for_arm(select: Select, arm: Term, rest: Iterable[Term]) -> Select:
    """Return a SELECT with the tables of an arm joined to the *rest* of its tables as inner."""
    return and_where(with_parts(select, (*rest, *arm.args[0].args)), conjuncts(arm.args[1]))


def renamed(select: Select, new: Mapping[Term, Term], known: Known) -> Select:
    """Return a SELECT with its columns replaced."""
    return Select.of(replaced(select.term(), new, known.steps))


def rebuilt(select: Select, new: Mapping[Term, Term], known: Known) -> Select:
    """Return a SELECT with any terms replaced."""
    return Select.of(replaced_terms(select.term(), new, known.steps))


def and_where(select: Select, conditions: Iterable[Term]) -> Select:
    """Return a SELECT with more conditions."""
    both = (*conjuncts(select.where), *conditions)
    return select._replace(where=conjunction(tuple(dict.fromkeys(both))))


# Outer joins.


def inner_for_full_joins(select: Select, rows: Rows) -> Select:
    """
    Make a full join a left join, or an inner one, where WHERE refuses what it fills up.

    WHERE is true only of rows in which some column is not NULL; a row of a full join without a
    partner on the other side has only NULLs there.
    """
    parts: list[Term] = []
    conditions: list[Term] = []
    for part in select.tables.args:
        if part.op != "outer":
            parts.append(part)
            continue
        both, condition = part.args
        kept = [_refused(side, select.where, rows) for side in both.args]
        if not any(kept):
            parts.append(part)
            continue
        rows.known.note("full join to outer or inner join")
        first, second = both.args if kept[0] else both.args[::-1]
        if all(kept):
            parts.extend((*first.args[0].args, *second.args[0].args))
            conditions.extend((first.args[1], second.args[1], condition))
        else:  # rows of `first` stay, with those of `second` where there are any
            arm = Term("arm", "", (second.args[0], conjunction((second.args[1], condition))))
            parts.append(Term("left", "", (first.args[0], arm)))
            conditions.append(first.args[1])
    whole = with_parts(select, parts)
    return and_where(whole, (c for one in conditions for c in conjuncts(one)))


def _refused(side: Term, where: Term, rows: Rows) -> bool:
    """Say whether WHERE is never true of a row in which *side* is filled up with NULLs."""
    own = sources_in(side)
    nulls = {node: NULL for node in walk(where) if node.op == "col" and node.args[0] in own}
    if any(map(rows.facts.never_null, nulls)):
        return True
    filled = replaced(where, nulls, rows.known.steps) if len(nulls) > 1 else where
    return filled != where and rows.with_only(conjuncts(filled)).facts.contradictory


def inner_for_strict_joins(select: Select, rows: Rows, *others: Rows) -> Select:
    """
    Make a left join an inner one where a row without a partner does not pass WHERE.

    As the step on written conditions, but with all that follows from WHERE.  Of several views
    of the rows each must refuse them.
    """
    known, views = rows.known, (rows, *others)
    parts: list[Term] = []
    conditions: list[Term] = []
    for part in select.tables.args:
        if part.op != "left":
            parts.append(part)
            continue
        base, *arms = part.args
        kept: list[Term] = []
        for arm in arms:
            if all(_refused(arm, rows_where(view), view) for view in views):
                known.note("left join to inner join", (a for view in views for a in view.asked))
                parts.extend(arm.args[0].args)
                conditions.extend(conjuncts(arm.args[1]))
            else:
                kept.append(arm)
        parts.extend([Term("left", "", (base, *kept))] if kept else base.args)
    return and_where(with_parts(select, parts), conditions)


def without_arms(select: Select, rows: Rows) -> Select:
    """
    Remove the optional side of a left join where its rows are not needed.

    - No row of it can match: its columns are NULL.
    - Nothing uses it, and it matches at most once, or repeated rows do not matter.
    - WHERE wants it without a match (``b.id IS NULL`` of what is never NULL): NOT EXISTS.
    - Only whether it matches is asked, and it matches at most once: EXISTS.
    - It matches always, as a foreign key says, or it is one row always: the join is inner.
    """
    known = rows.known
    for place, part in enumerate(select.tables.args):
        if part.op != "left":
            continue
        base, *arms = part.args
        for arm in arms:
            others = [other for other in arms if other is not arm]
            rest = [Term("left", "", (base, *others))] if others else list(base.args)
            parts = (*select.tables.args[:place], *rest, *select.tables.args[place + 1 :])
            without = with_parts(select, parts)
            own = sources_in(arm)
            found = _without_arm(select, without, arm, own, rows)
            if found is not None:
                return found
            inside = list(arm.args[0].args)
            if (
                arm.args[1] == TRUE
                and all(one.op == "derived" and exactly_one(one.args[1]) for one in inside)
            ) or _always_matches(base, arm, rows):
                known.note("left join that always matches to inner join")
                joined = with_parts(select, (*parts, *inside))
                return and_where(joined, conjuncts(arm.args[1]))
    return select


def _without_arm(  # noqa: PLR0911 - one per case, and what it looks at
    select: Select, without: Select, arm: Term, own: frozenset[Term], rows: Rows
) -> Select | None:
    known = rows.known
    tables, condition = arm.args
    inner = Rows(tables, conjuncts(condition), known, extended_within(tables, rows.extended))
    inner.asked = rows.asked
    nulls = {
        node: NULL
        for node in walk(select.term())
        if node.op in ("col", "star") and node.args[0] in own
    }
    if any(node.op == "star" for node in nulls):
        return None
    if inner.facts.contradictory or any(_empty(part) for part in tables.args):
        known.note("optional side without rows removed")
        return rebuilt(without, nulls, known)
    used = parts_used(select)
    if not uses(used, own) and not uses(without.tables, own):
        if not rows.repeats or at_most_one(tables, conjuncts(condition), rows):
            known.note("outer join that is not used removed", rows.asked)
            return without
        return None
    if uses(without.tables, own):
        return None
    exists = Term("exists", "", (Select.of_rows(tables, condition).term(),))
    for part in conjuncts(select.where):
        if part.op == "isnull" and part.args[0] in nulls and inner.facts.never_null(part.args[0]):
            known.note("anti join to NOT EXISTS", rows.asked)
            left = [other for other in conjuncts(without.where) if other != part]
            plain = rebuilt(without._replace(where=conjunction(left)), nulls, known)
            return and_where(plain, (Term("not", "", (exists,)),))
    if any(map(has_aggregate, (tables, condition))):
        return None
    tests = {
        Term("isnull", "", (node,)): Term("not", "", (exists,))
        for node in nulls
        if inner.facts.never_null(node)
    }
    tested = rebuilt(without, tests, known)
    only_tests = not any(node in nulls for node in walk(_outside(tested, exists)))
    if only_tests and at_most_one(tables, conjuncts(condition), rows):
        known.note("test of an outer join to EXISTS", rows.asked)
        return tested
    return None


def _outside(select: Select, exists: Term) -> Term:
    """Return a SELECT as one term, with what has just been put in left out."""

    def cut(term: Term) -> Term:
        if term == exists:
            return TRUE
        return term._replace(args=tuple(map(cut, term.args))) if term.args else term

    return cut(select.term())


def _empty(part: Term) -> bool:
    return part.op == "derived" and is_empty(part.args[1])


def is_empty(query: Term) -> bool:
    """Say whether a query is the one without rows."""
    if query.op != "select":
        return False
    select = Select.of(query)
    return select.where == FALSE and not (select.group == NONE and select.aggregates)


def _always_matches(base: Term, arm: Term, rows: Rows) -> bool:
    """Say whether a foreign key finds a row for each row of the base."""
    tables, condition = arm.args
    if len(tables.args) != 1 or tables.args[0].op != "table":
        return False
    conditions = [c for c in conjuncts(rows_where(rows)) if not uses(c, sources_in(arm))]
    outer = Rows(base, conditions, rows.known, rows.extended)
    outer.asked = rows.asked
    found = _reference(tables.args[0].args[0], conjuncts(condition), outer, nullable=False)
    if found is None:
        return False
    rows.known.assumptions.update((found, *rows.asked))
    return True


def rows_where(rows: Rows) -> Term:
    """Return the conditions of rows as one."""
    return conjunction(rows.conditions)


def _reference(
    target: Term, conditions: Iterable[Term], outer: Rows, *, nullable: bool
) -> str | None:
    """Return the foreign key by which a row of *target* with the given equalities exists."""
    known = outer.known
    schema, name = known.schema, known.tables.get(target)
    if schema is None or name is None:
        return None
    equal: dict[str, Term] = {}
    for condition in conditions:
        if condition.op != "eq" or condition.name or not outer.alike(*condition.args):
            return None
        for mine, other in (condition.args, condition.args[::-1]):
            if mine.op == "col" and mine.args == (target,) and other.op == "col":
                if mine.name.casefold() in equal:
                    return None  # it must equal two columns, of which the key is but one
                equal[mine.name.casefold()] = other
                break
        else:
            return None
    for reference in schema.references:
        if reference.other != name.casefold() or set(reference.others) != set(equal):
            continue
        partners = [equal[column] for column in reference.others]
        home = partners[0].args[0]
        if (
            known.tables.get(home, "").casefold() == reference.table
            and home in outer.own
            and home not in outer.extended
            and all(
                other.args == (home,) and other.name.casefold() == column
                for other, column in zip(partners, reference.columns, strict=True)
            )
            and (nullable or all(map(outer.facts.never_null, partners)))
        ):
            mine_names, others = ", ".join(reference.columns), ", ".join(reference.others)
            return f"{reference.table} ({mine_names}) refers to {reference.other} ({others})"
    return None


# Inner joins.


def without_referenced(select: Select, rows: Rows) -> Select:
    """
    Remove a table that is joined along a foreign key to its own key, if nothing else is used.

    Each row of the other table has just one partner, unless its foreign key is NULL; its key is
    read there.
    """
    known = rows.known
    for place, part in enumerate(select.tables.args):
        if part.op != "table":
            continue
        source = part.args[0]
        mine = [c for c in conjuncts(select.where) if _links(c, source)]
        ends = [c.args if c.args[0].args == (source,) else c.args[::-1] for c in mine]
        key = {end[0]: end[1] for end in ends}
        rest = [c for c in conjuncts(select.where) if c not in mine]
        others = (*select.tables.args[:place], *select.tables.args[place + 1 :])
        without = with_parts(select, others)._replace(where=conjunction(rest))
        if uses(without.term(), (source,)):
            if not all(rows.facts.same(*both) for both in key.items()):
                continue
            without = renamed(without, key, known)
            if uses(without.term(), (source,)):
                continue
        columns = {column.name.casefold() for column in key}
        if not any(set(names) == columns for names in known.keys(source)):
            continue
        outer = Rows(without.tables, conjuncts(without.where), known, rows.extended)
        found = _reference(source, mine, outer, nullable=True)
        if found is None:
            continue
        known.note("join along a foreign key removed", (found, *rows.asked))
        tests = [
            Term("not", "", (Term("isnull", "", (one,)),))
            for one in key.values()
            if not outer.facts.never_null(one)
        ]
        known.assumptions.update(outer.asked)
        return and_where(without, tests)
    return select


def _links(condition: Term, source: Term) -> bool:
    """Say whether a condition equates a column of a table to a column of another one."""
    if condition.op != "eq" or condition.name or any(a.op != "col" for a in condition.args):
        return False
    return sum(a.args == (source,) for a in condition.args) == 1


def without_self_joins(select: Select, rows: Rows) -> Select:
    """
    Make two tables one where WHERE says that their rows have the same key.

    Both are then the same row of the same table.
    """
    known = rows.known
    tables = [part for part in select.tables.args if part.op == "table"]
    for i, first in enumerate(tables):
        for second in tables[i + 1 :]:
            if first.name != second.name:
                continue
            mine, other = first.args[0], second.args[0]
            for key in known.keys(other):
                pairs = [(Term("col", n, (mine,)), Term("col", n, (other,))) for n in key]
                if all(b in rows.equals(a) for a, b in pairs):
                    known.note(
                        "self join on a key removed",
                        (f"{known.tables[mine]} ({', '.join(key)}) is a key",),
                    )
                    parts = [part for part in select.tables.args if part is not second]
                    return renamed(with_parts(select, parts), {other: mine}, known)
    return select


# One row, semi joins.


def scalars_for_single_rows(select: Select, rows: Rows) -> Select:
    """A derived table of exactly one row, such as ``(SELECT MAX(x) FROM t)``, is a value."""
    parts = select.tables.args
    if len(parts) < 2:  # noqa: PLR2004 - then that row is all there is
        return select
    for part in parts:
        if part.op == "derived" and exactly_one(part.args[1]):
            source, query = part.args
            inner = Select.of(query)
            if not all(map(has_aggregate, inner.outputs)):
                continue
            new = {
                Term("col", str(i), (source,)): Term(
                    "scalar", "", (inner._replace(outputs=(output,)).term(),)
                )
                for i, output in enumerate(inner.outputs)
            }
            rows.known.note("single row to scalar subquery")
            rest = with_parts(select, (other for other in parts if other is not part))
            return renamed(rest, new, rows.known)
    return select


def semi_joins(select: Select, rows: Rows) -> Select:
    """
    Make a join to distinct rows an EXISTS where WHERE equates each of their columns.

    At most one of those rows then joins each other row, and what it holds is known.
    """
    known = rows.known
    for part, source, query in derived_tables(select, "select"):
        inner = Select.of(query)
        if not inner.distinct or inner.group != NONE or inner.aggregates:
            continue
        rest = [other for other in select.tables.args if other is not part]
        found = _equated(inner, source, select, rows)
        if found is None:
            continue
        new, equalities = found
        where = conjunction([c for c in conjuncts(select.where) if c not in equalities])
        others = renamed(with_parts(select, rest)._replace(where=where), new, known)
        inside = [
            Term("eq", "", (inner.outputs[int(column.name)], value))
            for column, value in new.items()
            if inner.outputs[int(column.name)] != value
        ]
        test = and_where(inner._replace(distinct=False, outputs=()), inside)
        known.note("join with distinct rows to EXISTS", rows.asked)
        return and_where(others, (Term("exists", "", (test.term(),)),))
    return select


def _equated(
    inner: Select, source: Term, select: Select, rows: Rows
) -> tuple[dict[Term, Term], list[Term]] | None:
    """Return what each column of a derived table equals, and the conditions that say so."""
    new: dict[Term, Term] = {}
    conditions: list[Term] = []
    parts = conjuncts(select.where)
    for i, output in enumerate(inner.outputs):
        column = Term("col", str(i), (source,))
        if output.op in ("int", "str", "true", "false"):
            new[column] = output
            continue
        for condition in parts:
            if condition.op == "eq" and not condition.name and column in condition.args:
                first, second = condition.args
                value = second if first == column else first
                if not uses(value, (source,)):
                    break
        else:
            return None
        rest = [c for c in parts if c != condition]
        elsewhere = any(
            column in walk(c) for c in (parts_used(select._replace(where=TRUE)), *rest)
        )
        if elsewhere and not rows.facts.same(column, value):
            return None
        new[column] = value
        conditions.append(condition)
    return new, conditions


def joins_for_exists(select: Select, rows: Rows) -> Select:
    """Make EXISTS a join where it finds at most one row, or where repeated rows do not matter."""
    for condition in conjuncts(select.where):
        if condition.op != "exists" or condition.args[0].op != "select":
            continue
        inner = Select.of(condition.args[0])
        if not inner.plain or not inner.tables.args or inner.order:
            continue
        if not rows.repeats or at_most_one(inner.tables, conjuncts(inner.where), rows):
            rows.known.note("EXISTS to join", rows.asked)
            rest = [c for c in conjuncts(select.where) if c != condition]
            both = with_parts(select, (*select.tables.args, *inner.tables.args))
            return and_where(both._replace(where=conjunction(rest)), conjuncts(inner.where))
    return select


def pruned(select: Select, rows: Rows) -> Select:
    """Drop the outputs of derived tables that nothing uses, unless duplicates are told by them."""
    known = rows.known
    alike = {
        Term("col", str(j), part.args[:1]): Term("col", str(i), part.args[:1])
        for part in walk(select.tables)
        if part.op == "derived"
        for j, i in _repeated(part.args[1])
    }
    if any(node in alike for node in walk(select.term())):
        known.note("equal columns read as one")
        select = renamed(select, alike, known)
    used = {node for node in walk(select.term()) if node.op == "col"}
    parts: dict[Term, Term] = {}
    new: dict[Term, Term] = {}
    for part in walk(select.tables):
        if part.op != "derived" or not _prunable(part.args[1]):
            continue
        source, query = part.args
        width = len(outputs_of(query))
        kept = [i for i in range(width) if Term("col", str(i), (source,)) in used]
        if (not kept and query.op != "select") or not _still_aggregates(query, kept):
            kept = list(range(width))
        if len(kept) == width:
            continue
        parts[part] = Term("derived", "", (source, _narrowed(query, kept)))
        for i, old in enumerate(kept):
            new[Term("col", str(old), (source,))] = Term("col", str(i), (source,))
    if not parts:
        return select
    known.note("unused columns dropped")
    tables = replaced_terms(select.tables, parts, known.steps)
    return renamed(select._replace(tables=tables), new, known)


def _prunable(query: Term) -> bool:
    if query.op == "union all":
        return all(map(_prunable, query.args))
    if query.op != "select":
        return False
    select = Select.of(query)
    return not select.distinct and not any(output.op == "star" for output in select.outputs)


def _repeated(query: Term) -> Iterator[tuple[int, int]]:
    """Yield the columns of a query that are the same as one before them, with that."""
    arms = query.args if query.op == "union all" else (query,)
    if any(arm.op != "select" for arm in arms):
        return
    seen: dict[tuple[Term, ...], int] = {}
    for place, outputs in enumerate(zip(*(Select.of(arm).outputs for arm in arms), strict=False)):
        first = seen.setdefault(outputs, place)
        if first != place:
            yield place, first


def _still_aggregates(query: Term, kept: list[int]) -> bool:
    """Say whether a query that aggregates without groups would still do so."""
    if query.op == "union all":
        return all(_still_aggregates(arm, kept) for arm in query.args)
    select = Select.of(query)
    if select.group != NONE or not select.aggregates:
        return True
    return any(map(has_aggregate, (select.having, *(select.outputs[i] for i in kept))))


def _narrowed(query: Term, kept: list[int]) -> Term:
    if query.op == "union all":
        return query._replace(args=tuple(_narrowed(arm, kept) for arm in query.args))
    select = Select.of(query)
    return select._replace(outputs=tuple(select.outputs[i] for i in kept)).term()


def plain_for_distinct(select: Select, rows: Rows) -> Select:
    """Drop DISTINCT and UNION in a derived table where repeated rows do not matter outside."""
    if rows.repeats:
        return select
    known = rows.known
    parts: list[Term] = []
    for part in select.tables.args:
        if part.op == "derived" and sees_equals_alike(select, part, known):
            source, query = part.args
            if query.op == "union":
                known.note("needless DISTINCT dropped")
                part = Term("derived", "", (source, query._replace(op="union all")))  # noqa: PLW2901
            elif query.op == "select" and query.name == "distinct":
                known.note("needless DISTINCT dropped")
                part = Term("derived", "", (source, query._replace(name="")))  # noqa: PLW2901
        parts.append(part)
    return with_parts(select, parts)


def sees_equals_alike(select: Select, part: Term, known: Known) -> bool:
    """Say whether it does not matter which of equal rows a DISTINCT keeps."""
    source, query = part.args
    arms = [
        Select.of(arm)
        for arm in (query.args if query.op == "union" else (query,))
        if arm.op == "select"
    ]
    width = len(arms[0].outputs) if arms else 0
    columns = [Term("col", str(i), (source,)) for i in range(width)]
    exact = {
        column
        for i, column in enumerate(columns)
        if all(len(arm.outputs) == width and known.exact(arm.outputs[i]) for arm in arms)
    }
    others = (other for other in select.tables.args if other is not part)
    seen = (select.where, select.having, *select.outputs, *select.order, *others)
    return all(looks_at(term, columns, exact) for term in seen)


def conditions_pulled_up(select: Select, rows: Rows) -> Select:
    """
    Move conditions on the keys of a grouped or distinct derived table out of it.

    They hold for all rows of a group or none, so that they may filter before or after; outside
    they meet what is known there.
    """
    if len(select.tables.args) == 1 and select.group == NONE and not select.aggregates:
        return select
    known = rows.known
    parts: list[Term] = []
    moved: list[Term] = []
    for part in select.tables.args:
        parts.append(part)
        if part.op != "derived" or part.args[1].op != "select":
            continue
        source, query = part.args
        inner = Select.of(query)
        if inner.plain or (inner.group == NONE and inner.aggregates) or inner.order:
            continue
        keys = inner.outputs if inner.group == NONE else inner.group.args
        own = frozenset(local_sources(inner.tables))
        new = {
            output: Term("col", str(i), (source,))
            for i, output in enumerate(inner.outputs)
            if output in keys and output.op not in LITERALS
        }
        exact = frozenset(filter(known.exact, new))
        out: dict[Term, Term] = {}
        for condition in conjuncts(inner.where):
            if any(node.op == "select" for node in walk(condition)):
                continue
            if not looks_at(condition, new, exact) or not uses(condition, own):
                continue
            outside = replaced_terms(condition, new, known.steps)
            if not uses(outside, own):
                out[condition] = outside
        if out:
            known.note("condition on keys moved out of a derived table")
            left = [c for c in conjuncts(inner.where) if c not in out]
            parts[-1] = Term(
                "derived", "", (source, inner._replace(where=conjunction(left)).term())
            )
            moved.extend(out.values())
    return and_where(with_parts(select, parts), moved) if moved else select


def constants_read(select: Select, rows: Rows) -> Select:
    """Read a constant that a derived table puts out as it stands there."""
    known = rows.known
    new: dict[Term, Term] = {}
    for _, source, query in derived_tables(select, "select"):
        for i, output in enumerate(Select.of(query).outputs):
            if output.op in LITERALS and output != NULL:
                new[Term("col", str(i), (source,))] = output
    rest = parts_used(select)
    if not new or not any(node in new for node in walk(rest)):
        return select
    known.note("constant column")
    tables = select.tables
    return renamed(select._replace(tables=NONE), new, known)._replace(tables=tables)
