"""Rewrites of whole queries: each says why it is sound for bags and what it rests upon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from scorekit._sql.prove.averages import means_of_quotients
from scorekit._sql.prove.dependencies import Rows, extended_sources
from scorekit._sql.prove.extremes import (
    groups_for_scalars,
    scalars_for_left_joins,
    without_keys_of_extremes,
)
from scorekit._sql.prove.groups import (
    blind_to_repeats,
    distinct_into_aggregates,
    distinct_moved_out,
    exists_for_distinct,
    groups_moved_out,
    groups_with_partners,
    having_of_every_group,
    merged_groups,
    nothing_aggregated,
    plain_aggregates,
    rows_for_single_groups,
    rows_that_count,
    without_dependent_keys,
    without_distinct_over_keys,
)
from scorekit._sql.prove.joins import (
    conditions_pulled_up,
    constants_read,
    inner_for_full_joins,
    inner_for_strict_joins,
    is_empty,
    joins_for_exists,
    plain_for_distinct,
    pruned,
    scalars_for_single_rows,
    semi_joins,
    without_arms,
    without_referenced,
    without_self_joins,
)
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.logic import Facts
from scorekit._sql.prove.predicates import (
    Mode,
    conjunction,
    conjuncts,
    never_null,
    rewritten,
    without_implied_null_tests,
)
from scorekit._sql.prove.selects import (
    collapsed,
    conditions_on_keys_first,
    distinct_for_group,
    flat_set_operation,
    inner_for_outer_joins,
    ordered_tables,
    projected_first,
    without_constant_keys,
    without_duplicates,
    without_needless_distinct,
)
from scorekit._sql.prove.sums import rows_that_add
from scorekit._sql.prove.terms import (
    FALSE,
    NONE,
    NULL,
    OPAQUE,
    TRUE,
    Select,
    Term,
    UnsupportedError,
    has_aggregate,
    local_sources,
    ordered,
    outputs_of,
    replaced,
    sources,
    walk,
    with_canonical_names,
)
from scorekit._sql.prove.unions import (
    as_distinct,
    empty,
    grouped_over_union,
    pushed_into_union,
    semi_for_set_operation,
    typed_arms,
    without_empty_arms,
)
from scorekit._sql.prove.windows import (
    extremes_for_first_ranks,
    filtered_before_windows,
    groups_for_distinct_windows,
    groups_for_windows,
    simplified,
    without_unused_windows,
)

MAX_ROUNDS: Final = 8
"""Passes over a query before it is taken as it is."""

_SET_OPS = ("union", "union all", "intersect", "except", "intersect all", "except all")


def normalized(query: Term, known: Known, *, deep: bool = False, bare: bool = False) -> Term:
    """
    Rewrite *query* until nothing changes any more.

    The *deep* steps change which tables there are; they cost more.  If columns are *bare*, neither
    grouped by nor aggregated, the keys of their groups must determine them.
    """
    for i in range(MAX_ROUNDS * (1 + deep)):
        before = query
        if deep:
            query = projected_first(query, known)
        one_pass = _Pass(known, extended_sources(query), deep=deep)
        one_pass.ties, one_pass.bare = query.op == "limited", bare and i == 0
        query = one_pass.query(query, outermost=True)
        if query == before:
            break
    return query


class _Joined:
    """A tree of joins, taken apart."""

    def __init__(self, parts: Iterable[Term], conditions: Iterable[Term]) -> None:
        self.parts = list(parts)
        self.conditions = list(conditions)


class _Pass:
    """One pass over a query."""

    def __init__(self, known: Known, extended: frozenset[Term], *, deep: bool = False) -> None:
        self.known = known
        self.extended = extended
        self.deep = deep
        self.sets = False
        """Whether repeated rows of the query that is read next do not matter."""
        self.ties = False
        """Whether the query that is read next may pick any of the rows that tie at its LIMIT."""
        self.bare = False
        """Whether some column is neither grouped by nor aggregated."""

    # Expressions.

    def term(  # noqa: C901 - a branch per kind of term
        self, term: Term, mode: Mode = "value"
    ) -> Term:
        """Rewrite an expression, operands first."""
        self.known.steps.take()
        op = term.op
        if op in ("select", "limited", *_SET_OPS):
            return self.query(term)
        if self.deep and op == "exists" and term.args[0].op == "limited":
            term = term._replace(args=(without_limit(term.args[0]),))
        if self.deep and op == "isnull" and term.args[0].op == "scalar":
            term = self.test_of_scalar(term)
        if self.deep and op in ("eq", "ne", "lt", "le", "gt", "ge"):
            tested = self.test_of_count(term)
            if tested.op != op:
                return self.term(tested, mode)
        if not term.args:
            return rewritten(term, mode)
        if op == "exists":
            self.sets = True
            term = term._replace(args=(self.query(term.args[0]),))
            return self.with_assumptions(term, mode)
        if op == "scalar" and self.deep:
            return self.scalar(term)
        inner = mode if op in ("and", "or") else "value"
        if op == "not" or (op in ("and", "or") and mode == "value"):
            inner = "bool"
        if op == "case":
            n = len(term.args)
            modes: list[Mode] = [
                "filter" if i % 2 == 0 and i < n - 1 else "value" for i in range(n)
            ]
            args = tuple(map(self.term, term.args, modes))
        else:
            args = tuple(self.term(arg, inner) for arg in term.args)
        term = without_implied_null_tests(rewritten(term._replace(args=args), mode), mode)
        return self.with_assumptions(term, mode)

    def with_assumptions(  # noqa: PLR0911 - one per operator
        self, term: Term, mode: Mode
    ) -> Term:
        """Apply the rewrites of expressions that may need an assumption."""
        if term.op == "isnull":
            return self.null_test_of_never_null(term)
        if term.op == "agg":
            return self.count_of_never_null(term)
        if term.op == "in":
            return self.membership(term, mode)
        if term.op == "exists":
            return self.shorter_existence(self.existence(term), mode)
        if term.op == "plus" and any(self.known.kind(arg) in NUMBERS for arg in term.args):
            return ordered(term._replace(op="add"))
        if term.op == "case" and term.args[1:] == (TRUE, FALSE) and _two_valued(term.args[0]):
            return term.args[0]
        return term

    def test_of_scalar(self, term: Term) -> Term:
        """A scalar subquery of what is never NULL is NULL just where it finds no row."""
        query = without_limit(term.args[0].args[0])
        if query.op != "select":
            return term
        select = Select.of(query)
        if select.aggregates or select.group != NONE or len(select.outputs) != 1:
            return term
        limited = query != term.args[0].args[0]
        rows = Rows.of(select, self.known, self.extended)
        if not (limited or rows.determined(()).everything):
            return term
        if not rows.facts.never_null(select.outputs[0]):
            return term
        self.known.note("test of a scalar subquery to EXISTS", rows.asked)
        return Term("not", "", (Term("exists", "", (query,)),))

    def test_of_count(self, term: Term) -> Term:
        """``(SELECT COUNT(*) ...) > 0`` asks whether there is a row; a count is never NULL."""
        turned = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
        left, right = term.args
        op = term.op
        if left.op == "int":
            left, right, op = right, left, turned.get(op, op)
        if left.op != "scalar" or left.args[0].op != "select" or right.op != "int":
            return term
        positive = {("gt", "0"): True, ("ge", "1"): True, ("ne", "0"): True}
        negative = {("eq", "0"): False, ("lt", "1"): False, ("le", "0"): False}
        wanted = {**positive, **negative}.get((op, right.name))
        select = Select.of(left.args[0])
        if wanted is None or term.name or select.group != NONE or select.having != TRUE:
            return term
        (output,) = select.outputs
        if output.op != "agg" or not output.name.startswith("count"):
            return term
        tests = [Term("not", "", (Term("isnull", "", (value,)),)) for value in output.args]
        where = conjunction((*conjuncts(select.where), *tests))
        self.known.note("test of a count to EXISTS")
        exists = Term("exists", "", (Select.of_rows(select.tables, where).term(),))
        return exists if wanted else Term("not", "", (exists,))

    def shorter_existence(self, term: Term, mode: Mode) -> Term:
        """EXISTS of no rows is false; of a row without tables it is its condition."""
        if not self.deep or term.op != "exists":
            return term
        query = term.args[0]
        if query.op in ("union", "union all"):
            self.known.note("EXISTS of a union is OR")
            tests = tuple(self.existence(Term("exists", "", (arm,))) for arm in query.args)
            return Term("or", "", tests)
        if is_empty(query):
            self.known.note("no rows")
            return FALSE
        if query.op == "select":
            select = Select.of(query)
            if select.plain and not select.tables.args:
                if select.where == TRUE or mode == "filter":
                    return select.where
                return Term("case", "", (select.where, TRUE, FALSE))
        return term

    def scalar(self, term: Term) -> Term:
        """Rewrite a subquery that stands for a value, unless it may find several rows."""
        query = term.args[0]
        try:
            return self.shorter_scalar(term._replace(args=(self.query(query),)))
        except UnsupportedError:
            if query.op != "select":
                raise
            return self.as_it_stands(query)

    def as_it_stands(self, query: Term) -> Term:
        """
        Return the value of a subquery, equal only to that of one that is written alike.

        Which of several rows it takes, or whether that is a mistake, engines say each time alike.
        """
        own = [node.args[0] for node in walk(query) if node.op in ("table", "derived")]
        names = {source: Term("src", f"w.{i}") for i, source in enumerate(own)}
        if not sources(query) <= names.keys():
            raise UnsupportedError
        self.known.note("subquery taken as it stands", (ALIKE,))
        whole = replaced(query, names, self.known.steps)
        return Term("fn", f"Scalar {whole}")

    def shorter_scalar(self, term: Term) -> Term:
        """
        A scalar subquery of no rows is NULL; without tables it is what it puts out.

        Where it may find several rows, engines differ in what they do.
        """
        query = term.args[0]
        if is_empty(query):
            self.known.note("no rows")
            return NULL
        if query.op == "limited" and ("limit", "1") in {
            (b.name, b.args[0].name) for b in query.args[2:]
        }:
            return term
        if query.op != "select":
            raise UnsupportedError
        select = Select.of(query)
        if select.group == NONE and select.aggregates:
            return term
        if select.plain and not select.tables.args:
            self.known.note("scalar subquery without tables")
            (output,) = select.outputs
            return (
                output if select.where == TRUE else Term("case", "", (select.where, output, NULL))
            )
        rows = Rows.of(select, self.known, self.extended)
        if not rows.determined(()).everything:
            raise UnsupportedError
        self.known.assumptions.update(rows.asked)
        return term

    def null_test_of_never_null(self, term: Term) -> Term:
        """``x IS NULL`` is false if x is never NULL; needs NOT NULL or a key."""
        this = term.args[0]
        if self.deep and this.op == "case" and len(this.args) == 3:  # noqa: PLR2004 - one branch
            condition, value, default = this.args
            never = never_null(value, self.known, self.extended) == ()
            if default == NULL and never and _two_valued(condition):
                return rewritten(Term("not", "", (condition,)), "bool")
        assumptions = never_null(term.args[0], self.known, self.extended)
        if assumptions is None:
            return term
        self.known.assumptions.update(assumptions)
        return Term("false")

    def count_of_never_null(self, term: Term) -> Term:
        """``COUNT(x)`` counts rows if x is never NULL; needs NOT NULL or a key."""
        if term.name != "count" or not term.args:
            return term
        assumptions = never_null(term.args[0], self.known, self.extended)
        if assumptions is None:
            return term
        self.known.assumptions.update(assumptions)
        return Term("agg", "count")

    def membership(self, term: Term, mode: Mode) -> Term:
        """
        ``x IN (SELECT y ... WHERE p)`` is true just where EXISTS (SELECT ... WHERE p AND y = x).

        They differ where IN is NULL: no row with y = x, but x or some y is NULL.  So it is done
        where only truth matters, or where neither is ever NULL (NOT NULL, keys, or y by p).
        """
        *these, query = term.args
        query = without_duplicates(query)
        term = term._replace(args=(*these, query))
        if query.op != "select":
            return self.membership_in_union(term, mode)
        select = Select.of(query)
        if not select.plain or any(map(has_aggregate, these)):  # that must stay with its rows
            return self.membership_in_groups(term, mode)
        if mode != "filter":
            nulls = [never_null(value, self.known, self.extended) for value in these]
            rows = Rows.of(select, self.known, self.extended)
            if None in nulls or not all(map(rows.facts.never_null, select.outputs)):
                return term
            self.known.assumptions.update(rows.asked, *filter(None, nulls))
        equal = [
            ordered(Term("eq", "", (value, this)))
            for value, this in zip(select.outputs, these, strict=True)
        ]
        where = self.term(conjunction((*conjuncts(select.where), *equal)), "filter")
        return Term("exists", "", (select._replace(where=where, outputs=()).term(),))

    def membership_in_union(self, term: Term, mode: Mode) -> Term:
        """``x IN (a UNION b)`` is ``x IN (a) OR x IN (b)``, also where one of them is NULL."""
        *these, query = term.args
        if not self.deep:
            return term
        if query.op == "limited":
            return term
        if query.op not in ("union", "union all"):
            return term
        self.known.note("IN of a union is OR")
        arms = [term._replace(args=(*these, arm)) for arm in query.args]
        return Term("or", "", tuple(self.membership(arm, mode) for arm in arms))

    def membership_in_groups(self, term: Term, mode: Mode) -> Term:
        """``x IN (SELECT k ... GROUP BY ...)`` is EXISTS over groups where it may be NULL."""
        *these, query = term.args
        if not self.deep or mode != "filter" or any(map(has_aggregate, these)):
            return term
        self.known.note("IN to EXISTS")
        source = self.known.fresh()
        tables = Term("from", "", (Term("derived", "", (source, query)),))
        equal = [
            ordered(Term("eq", "", (Term("col", str(i), (source,)), this)))
            for i, this in enumerate(these)
        ]
        select = Select.of_rows(tables, conjunction(equal), ())
        return Term("exists", "", (select.term(),))

    def existence(self, term: Term) -> Term:
        """
        EXISTS asks for rows, not for their values or their number.

        So outputs and DISTINCT go, and GROUP BY without HAVING: a group has a row.  Aggregates
        without GROUP BY give one row always, unless HAVING drops it.
        """
        query = without_duplicates(term.args[0])
        if query.op != "select":
            return term._replace(args=(query,))
        select = Select.of(query)
        if select.group == NONE and select.aggregates:
            if select.having == TRUE:
                return TRUE
            return term._replace(args=(query,))
        if select.group != NONE and select.having == TRUE:
            select = select._replace(group=NONE)
        return Term("exists", "", (select._replace(outputs=(), distinct=False).term(),))

    # Queries.

    def query(  # noqa: C901, PLR0911 - one per kind of query
        self, query: Term, *, outermost: bool = False
    ) -> Term:
        """Rewrite a query, what is inside of it first."""
        self.known.steps.take()
        sets, self.sets = self.sets, False
        if query.op == "limited" and self.deep:
            return self.limited(query, inside=not outermost)
        if query.op == "select":
            return self.select(Select.of(query), sets=sets)
        if query.op == "sorted" and self.deep:
            inner, *order = query.args
            return query._replace(args=(self.query(inner, outermost=True), *order))
        if query.op == "windowed":
            inner, windows = query.args
            query = query._replace(args=(self.query(inner), windows))
            return simplified(query, self.known, self.extended, deep=self.deep)
        if query.op not in _SET_OPS:
            raise UnsupportedError
        arms = tuple(self.query(arm, outermost=outermost) for arm in query.args)
        if self.deep and query.op in ("union", "union all"):
            arms = typed_arms(query.args, arms, self.known)
        if self.deep:
            changed = self.set_operation(query._replace(args=arms))
            if changed.op != query.op:
                return changed
            arms = changed.args
        if query.op == "except":
            return Term("except", "", tuple(map(without_duplicates, arms)))
        if query.op in ("union", "union all", "intersect"):
            whole = flat_set_operation(query.op, arms, in_order=True)
            return (
                ordered(whole._replace(name=""))
                if outermost or self.of_one_kind(whole.args)
                else whole
            )
        return query._replace(args=arms)

    def set_operation(self, query: Term) -> Term:
        """Apply the deep steps to a set operation."""
        query = without_empty_arms(query, self.known)
        if query.op in ("except", "intersect"):
            query = semi_for_set_operation(query, self.known, self.extended)
        if query.op == "union" and len(set(query.args)) == 1:
            return as_distinct(query.args[0])
        return query

    def limited(self, query: Term, *, inside: bool) -> Term:
        """
        Rewrite a query with LIMIT, whose rows are determined if ties in its order are alike.

        LIMIT 0 has no rows, and LIMIT of at most one row is not needed.
        """
        if query.name == OPAQUE:
            return query
        inner, order, *bounds = query.args
        if inner.op == "select" and order.args:
            inner = Select.of(inner)._replace(order=order.args).term()
            query = query._replace(args=(inner, Term("list"), *bounds))
        try:
            return self.determined_limit(query)
        except UnsupportedError:
            whole = with_canonical_names(query, self.known.steps)
            free = {source for source in sources(whole) if "." not in source.name}
            if free or not inside:
                raise
            self.known.note("subquery taken as it stands", (ALIKE,))
            return whole._replace(name=OPAQUE)

    def determined_limit(self, query: Term) -> Term:
        """
        Rewrite a query with LIMIT whose rows are determined, or picked among ties at the very end.

        As the same rows are sorted by the same keys, any that one query may pick the other may.
        That both do is taken for granted only where they read their rows alike.
        """
        ties, self.ties = self.ties, False
        inner, order, *bounds = query.args
        inner = self.query(inner, outermost=True)
        limits = {bound.name: int(bound.args[0].name) for bound in bounds}
        if limits.get("limit") == 0 and not any(o.op == "star" for o in outputs_of(inner)):
            self.known.note("LIMIT 0 has no rows")
            return empty(len(outputs_of(inner)))
        if is_empty(inner):
            return inner
        if inner.op != "select":
            raise UnsupportedError
        select = Select.of(inner)
        rows = Rows.of(select, self.known, self.extended)
        one_row = select.group == NONE and (
            select.aggregates or (not select.aggregates and rows.determined(()).everything)
        )
        if one_row and "offset" not in limits and limits.get("limit") != 0:
            self.known.note("LIMIT of one row dropped", rows.asked)
            return select._replace(order=()).term()
        of_outputs = rows.determined(select.outputs)
        shown = (
            not select.distinct
            or all(of_outputs(item.args[0]) for item in select.order)
            or all(map(rows.determined(()), select.outputs))  # the one row there may be
        )
        if select.distinct and shown and limits == {"limit": 1}:
            self.known.note("DISTINCT at LIMIT 1 dropped", rows.asked)
            return query._replace(args=(select._replace(distinct=False).term(), order, *bounds))
        if not shown:  # DISTINCT takes any copy of a row, and each may be sorted elsewhere
            raise UnsupportedError
        given = rows.determined(item.args[0] for item in select.order)
        groups = select.group == NONE or not all(map(given, select.group.args))
        if all(
            given.exactly(output) or (not groups and output.op == "agg")
            for output in select.outputs
        ):
            self.known.note("LIMIT in a total order", rows.asked)
        elif ties and select.order:
            self.known.note("LIMIT of the same rows in the same order", (TIES, *rows.asked))
        else:
            raise UnsupportedError
        return query._replace(args=(inner, order, *bounds))

    def deepened(self, select: Select, *, sets: bool) -> Term:
        """Apply the deep steps to a SELECT; each is tried again until nothing changes."""
        known, extended = self.known, self.extended
        if any(output.op == "star" for output in select.outputs):
            return select.term()
        rows = Rows.of(select, known, extended)
        if (
            select.where == FALSE
            or rows.facts.contradictory
            or any(is_empty(part.args[1]) for part in select.tables.args if part.op == "derived")
            or any(
                is_empty(part.args[1])
                for one in select.tables.args
                if one.op == "left"
                for part in one.args[0].args
                if part.op == "derived"
            )
        ):
            if select.group == NONE and select.aggregates:
                known.note("aggregates of no rows", rows.asked)
                return nothing_aggregated(select).term()
            if not is_empty(select.term()) or select.tables.args:
                known.note("no rows", rows.asked)
            return empty(len(select.outputs))
        rows.repeats = self.repeats(select, sets=sets)
        for step in _STEPS:
            known.steps.take(5)
            changed = step(select, rows)
            if changed != select:
                select = changed
                extended = self.extended = self.extended | extended_sources(select.term())
                rows = Rows.of(select, known, extended)
                rows.repeats = self.repeats(select, sets=sets)
        if select.order:
            select = self.shorter_order(select, rows)
        return pushed_into_union(select, known)

    def repeats(self, select: Select, *, sets: bool) -> bool:
        """Say whether it matters how often the rows come that a SELECT reads."""
        grouped = select.group != NONE or select.aggregates
        return not ((sets and not grouped) or blind_to_repeats(select))

    def shorter_order(self, select: Select, rows: Rows) -> Select:
        """Drop from ORDER BY what those before it determine."""
        kept: list[Term] = []
        for item in select.order:
            if not rows.determined(one.args[0] for one in kept)(item.args[0]):
                kept.append(item)
        if len(kept) == len(select.order):
            return select
        self.known.note("dependent item of ORDER BY dropped", rows.asked)
        return select._replace(order=tuple(kept))

    def of_one_kind(self, arms: tuple[Term, ...]) -> bool:
        """
        Say whether the columns of *arms* are of the same known kind in each.

        Otherwise SQLite takes the affinity of the columns from one of the arms by its place, and
        of two equal values, such as 1 and 1.0, the one that comes first.
        """
        if self.known.dialect not in (None, "sqlite"):
            return True
        if any(arm.op != "select" for arm in arms):
            return False
        kinds = [tuple(map(self.known.kind, Select.of(arm).outputs)) for arm in arms]
        return len(set(kinds)) == 1 and set(kinds[0]) <= {"integer", "text"}

    def select(self, select: Select, *, sets: bool = False) -> Term:
        select = self.inlined(select)
        self.check_of_groups(select)
        where = self.term(select.where, "filter")
        having = self.term(select.having, "filter")
        if select.group != NONE:
            having = self.having_of_groups(having)
        outputs = tuple(map(self.term, select.outputs))
        one_group = select.group == NONE and select.aggregates
        if one_group and not any(map(has_aggregate, (having, *outputs))):
            raise UnsupportedError  # it would give a row for each row instead of one
        order = tuple(
            dict.fromkeys(item._replace(args=(self.term(item.args[0]),)) for item in select.order)
        )
        group = select.group
        if group != NONE:
            group = without_constant_keys(group._replace(args=tuple(map(self.term, group.args))))
        select = select._replace(
            where=where, having=having, outputs=outputs, order=order, group=group
        )
        select = inner_for_outer_joins(select)
        select = self.group_without_dependent_keys(select)
        select = conditions_on_keys_first(select, self.known)
        select = distinct_for_group(select)
        select = without_needless_distinct(select)
        select = self.distinct_over_keys(select)
        term = collapsed(select, self.known)
        if self.deep and term.op == "select":
            return self.deepened(Select.of(term), sets=sets)
        return term

    def check_of_groups(self, select: Select) -> None:
        """
        Refuse a column that is neither grouped by nor aggregated, unless the keys determine it.

        They do through equalities and keys of other tables, too; then each row of a group has it.
        """
        if not self.bare or select.group == NONE:
            return
        keys, own = select.group.args, frozenset(local_sources(select.tables))
        parts = (select.having, *select.outputs, *(item.args[0] for item in select.order))
        bare = [node for part in parts for node in _bare(part, keys) if node.args[0] in own]
        rows = Rows.of(select, self.known, self.extended)
        given = rows.determined(keys)
        if not all(map(given.exactly, bare)):
            raise UnsupportedError
        if bare:
            self.known.note("column that the keys of GROUP BY determine", rows.asked)

    def having_of_groups(self, having: Term) -> Term:
        """A group has a row: its COUNT(*) is at least 1."""
        if not has_aggregate(having):
            return having
        counted = Term("le", "", (Term("int", "1"), Term("agg", "count")))
        facts = Facts((counted,), known=self.known, never_null=lambda _: False)
        parts = conjuncts(having)
        kept = [part for part in parts if not facts.implies(part)]
        if len(kept) < len(parts):
            self.known.note("what HAVING says of each group goes")
        return FALSE if any(map(facts.excludes, kept)) else conjunction(kept)

    # Tables.

    def inlined(self, select: Select) -> Select:
        """
        Put what a derived table or CTE selects in the place of its name.

        Sound where it only filters and computes: each of its rows is one row of its own tables,
        and its columns are pure functions of that row.  What is moved out of an outer join's
        optional side must be bare columns, which become NULL with the rest of the row.
        """
        new: dict[Term, Term] = {}
        joined = self.joined(select.tables, new, optional=False)
        where = conjunction((*conjuncts(select.where), *joined.conditions))
        whole = select._replace(tables=Term("from", "", tuple(joined.parts)), where=where).term()
        return Select.of(ordered_tables(substituted(whole, new, self.known)))

    def joined(  # noqa: C901, PLR0911 - a branch per kind of join
        self, tree: Term, new: dict[Term, Term], *, optional: bool
    ) -> _Joined:
        """
        Take a tree of joins apart into tables joined by conditions alone.

        An inner join is a product and a filter, and products commute (rows are bags, outputs are
        named).  Conditions of the kept side of an outer join filter its rows before or after.
        """
        self.known.steps.take()
        if tree.op == "table":
            return _Joined([tree], [])
        if tree.op == "derived":
            return self.derived(tree, new, optional=optional)
        if tree.op == "from":
            parts = [self.joined(part, new, optional=optional) for part in tree.args]
            return _Joined(
                (part for one in parts for part in one.parts),
                (condition for one in parts for condition in one.conditions),
            )
        if tree.op == "left":
            left = self.joined(tree.args[0], new, optional=optional)
            for arm in tree.args[1:]:
                right = self.joined(arm.args[0], new, optional=True)
                left = self.left_joined(left, right, arm.args[1], new)
            return left
        if tree.op == "outer":
            both, condition = tree.args
            sides = [self.joined(side.args[0], new, optional=True) for side in both.args]
            for side, one in zip(both.args, sides, strict=True):
                one.conditions.extend(conjuncts(side.args[1]))
            return self.full_joined(sides, condition)
        first, second, condition = tree.args
        if tree.name == "full":
            sides = [self.joined(side, new, optional=True) for side in (first, second)]
            return self.full_joined(sides, condition)
        if tree.name == "right":  # a right join is a left join seen from the other side
            first, second = second, first
        left = self.joined(first, new, optional=optional)
        right = self.joined(second, new, optional=optional or tree.name != "inner")
        if tree.name == "inner":
            conditions = [*left.conditions, *right.conditions, *conjuncts(condition)]
            return _Joined([*left.parts, *right.parts], conditions)
        return self.left_joined(left, right, condition, new)

    def left_joined(
        self, left: _Joined, right: _Joined, condition: Term, new: dict[Term, Term]
    ) -> _Joined:
        """
        Join the optional *right* to those tables of *left* that the condition names.

        The rest of the left side is multiplied in before or after, and left joins to the same
        tables commute, as long as neither condition names the other's optional side.
        """
        condition = conjunction((*right.conditions, *conjuncts(condition)))
        condition = self.term(substituted(condition, new, self.known), "filter")
        used = sources(condition) - sources(Term("from", "", tuple(right.parts)))
        needed = [part for part in left.parts if used.intersection(local_sources(part))]
        rest = [part for part in left.parts if part not in needed]
        if not needed:
            needed, rest = rest, []
        arm = Term("arm", "", (ordered(Term("from", "", tuple(right.parts))), condition))
        if len(needed) == 1 and needed[0].op == "left":
            base, *arms = needed[0].args
            optional = frozenset(source for other in arms for source in local_sources(other))
            if not used & optional:
                return _Joined(
                    [*rest, ordered(Term("left", "", (base, *arms, arm)))], left.conditions
                )
        base = ordered(Term("from", "", tuple(needed)))
        return _Joined([*rest, Term("left", "", (base, arm))], left.conditions)

    def full_joined(self, sides: list[_Joined], condition: Term) -> _Joined:
        """Keep a full join whole; which side is which does not matter."""
        args = tuple(
            Term(
                "side",
                "",
                (
                    ordered(Term("from", "", tuple(side.parts))),
                    self.term(conjunction(side.conditions), "filter"),
                ),
            )
            for side in sides
        )
        full = ordered(Term("full", "", args))
        return _Joined([Term("outer", "", (full, self.term(condition, "filter")))], [])

    def derived(self, tree: Term, new: dict[Term, Term], *, optional: bool) -> _Joined:
        """Take a derived table apart if it only filters and computes."""
        source, query = tree.args
        query = self.query(query)
        kept = _Joined([Term("derived", "", (source, query))], [])
        if query.op != "select":
            return kept
        select = Select.of(query)
        own = local_sources(select.tables)
        if not select.plain or (not own and (optional or not self.deep)) or select.order:
            return kept
        outputs = list(select.outputs)
        for i, output in enumerate(outputs):
            if optional and not self.extends(output, own):
                present = self.presence(own)
                if present is None:
                    return kept
                outputs[i] = Term("case", "", (present, output, NULL))
        for i, output in enumerate(outputs):
            new[Term("col", str(i), (source,))] = output
        inner = self.joined(select.tables, new, optional=optional)
        return _Joined(inner.parts, [*inner.conditions, *conjuncts(select.where)])

    def extends(self, output: Term, own: list[Term]) -> bool:
        """Say whether an output of the optional side is NULL where its tables are all NULL."""
        if output.op == "col" and output.args[0] in own:
            return True
        if not self.deep or any(node.op in ("select", "star") for node in walk(output)):
            return False
        nulls = {node: NULL for node in walk(output) if node.op == "col" and node.args[0] in own}
        if not nulls:
            return False
        return self.null_value(replaced(output, nulls, self.known.steps))

    def presence(self, own: list[Term]) -> Term | None:
        """Return a condition that is true of rows of some tables and false of NULLs for them."""
        if not self.deep:
            return None
        for source in own:
            table = self.known.tables.get(source, "")
            keys = self.known.keys(source)
            names = keys[0] if keys else self.known.columns(table) or ()
            for name in names:
                column = Term("col", name, (source,))
                assumption = self.known.not_null(column)
                if assumption is not None:
                    self.known.assumptions.add(assumption)
                    return Term("not", "", (Term("isnull", "", (column,)),))
        return None

    def null_value(self, term: Term) -> bool:
        """Say whether an expression of constants is NULL."""
        if term.op in ("add", "mul", "plus", "eq", "ne", "lt", "le", "gt", "ge"):
            return any(map(self.null_value, term.args))
        if term.op == "case":
            *branches, default = term.args
            conditions = branches[::2]
            return self.null_value(default) and all(map(self.null_value, conditions))
        return term == NULL

    # Groups and duplicates.

    def group_without_dependent_keys(self, select: Select) -> Select:
        """``GROUP BY id, name`` makes the groups of ``GROUP BY id`` if id is a key."""
        if select.group == NONE:
            return select
        keys = select.group.args
        for source in local_sources(select.tables):
            mine = [key for key in keys if key.op == "col" and key.args == (source,)]
            assumption = self.known.key_within(source, mine)
            if assumption is None:
                continue
            minimal = self.minimal_key(source, mine)
            if len(minimal) < len(mine):
                self.known.assumptions.add(assumption)
                keys = tuple(key for key in keys if key not in mine or key in minimal)
        return select._replace(group=ordered(Term("group", "", keys)))

    def minimal_key(self, source: Term, columns: list[Term]) -> list[Term]:
        """Return the fewest of *columns*, the first by name, that are still a key."""
        kept = sorted(columns, reverse=True)
        for column in list(kept):
            fewer = [other for other in kept if other != column]
            if self.known.key_within(source, fewer):
                kept = fewer
        return kept

    def distinct_over_keys(self, select: Select) -> Select:
        """DISTINCT drops nothing where the outputs hold a key of each table."""
        if not select.distinct or select.group != NONE or select.aggregates:
            return select
        found: list[str] = []
        for source in local_sources(select.tables):
            assumption = self.known.key_within(source, select.outputs)
            if assumption is None:
                return select
            found.append(assumption)
        if not found or any(node.op == "outer" for node in walk(select.tables)):
            return select
        self.known.assumptions.update(found)
        return select._replace(distinct=False)


def substituted(term: Term, new: dict[Term, Term], known: Known) -> Term:
    """Put what derived tables select in the place of their columns, however deeply nested."""
    while new:
        term, before = replaced(term, new, known.steps), term
        if term == before:
            break
    return term


_STEPS: Final[tuple[Callable[[Select, Rows], Select], ...]] = (
    pruned,
    without_unused_windows,
    filtered_before_windows,
    extremes_for_first_ranks,
    groups_for_distinct_windows,
    groups_for_windows,
    scalars_for_left_joins,
    groups_for_scalars,
    without_keys_of_extremes,
    plain_for_distinct,
    constants_read,
    inner_for_full_joins,
    inner_for_strict_joins,
    rows_that_count,
    rows_that_add,
    groups_with_partners,
    having_of_every_group,
    without_arms,
    scalars_for_single_rows,
    semi_joins,
    joins_for_exists,
    without_self_joins,
    without_referenced,
    conditions_pulled_up,
    groups_moved_out,
    distinct_moved_out,
    merged_groups,
    distinct_into_aggregates,
    grouped_over_union,
    without_dependent_keys,
    rows_for_single_groups,
    without_distinct_over_keys,
    exists_for_distinct,
    means_of_quotients,
    plain_aggregates,
)


def _bare(term: Term, keys: tuple[Term, ...]) -> Iterator[Term]:
    """Yield the columns outside of aggregates that no key stands for."""
    if term in keys or term.op == "agg":
        return
    if term.op in ("col", "star"):
        yield term
    for arg in term.args:
        yield from _bare(arg, keys)


def without_limit(query: Term) -> Term:
    """Drop a LIMIT that leaves a row if there is one."""
    if query.op != "limited":
        return query
    inner, _, *bounds = query.args
    limits = {bound.name: bound.args[0].name for bound in bounds}
    return inner if set(limits) == {"limit"} and limits["limit"] != "0" else query


ALIKE: Final = "the same query gives the same rows each time"

TIES: Final = "of rows that tie at LIMIT both queries pick the same"

NUMBERS: Final = frozenset({"integer", "natural", "number", "real"})
"""Kinds of columns that + adds."""


def _two_valued(condition: Term) -> bool:
    """Say whether a condition is never NULL."""
    if condition.op == "not":
        return _two_valued(condition.args[0])
    return condition.op in ("exists", "isnull", "true", "false")
