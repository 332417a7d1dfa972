"""Rewrites of whole queries: each says why it is sound for bags and what it rests upon."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scorekit._sql.prove.known import Known
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
    without_constant_keys,
    without_duplicates,
    without_needless_distinct,
)
from scorekit._sql.prove.terms import (
    NONE,
    TRUE,
    Select,
    Term,
    UnsupportedError,
    has_aggregate,
    local_sources,
    ordered,
    replaced,
    sources,
    walk,
)

MAX_ROUNDS: Final = 8
"""Passes over a query before it is taken as it is."""

_SET_OPS = ("union", "union all", "intersect", "except", "intersect all", "except all")


def normalized(query: Term, known: Known) -> Term:
    """Rewrite *query* until nothing changes any more."""
    for _ in range(MAX_ROUNDS):
        before = query
        query = _Pass(known, extended_sources(query)).query(query, outermost=True)
        if query == before:
            break
    return query


def extended_sources(term: Term) -> frozenset[Term]:
    """Return the tables that an outer join may fill up with NULLs, and all inside of them."""
    found = frozenset[Term]()
    for node in walk(term):
        if node.op == "join" and node.name in ("left", "full"):
            found |= sources(node.args[1])
        if node.op == "join" and node.name in ("right", "full"):
            found |= sources(node.args[0])
        if node.op in ("arm", "side"):
            found |= sources(node)
    return found


class _Joined:
    """A tree of joins, taken apart."""

    def __init__(self, parts: Iterable[Term], conditions: Iterable[Term]) -> None:
        self.parts = list(parts)
        self.conditions = list(conditions)


class _Pass:
    """One pass over a query."""

    def __init__(self, known: Known, extended: frozenset[Term]) -> None:
        self.known = known
        self.extended = extended

    # Expressions.

    def term(self, term: Term, mode: Mode = "value") -> Term:
        """Rewrite an expression, operands first."""
        self.known.steps.take()
        op = term.op
        if op in ("select", *_SET_OPS):
            return self.query(term)
        if not term.args:
            return rewritten(term, mode)
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

    def with_assumptions(self, term: Term, mode: Mode) -> Term:
        """Apply the rewrites of expressions that may need an assumption."""
        if term.op == "isnull":
            return self.null_test_of_never_null(term)
        if term.op == "agg":
            return self.count_of_never_null(term)
        if term.op == "in":
            return self.membership(term, mode)
        if term.op == "exists":
            return self.existence(term)
        return term

    def null_test_of_never_null(self, term: Term) -> Term:
        """``x IS NULL`` is false if x is never NULL; needs NOT NULL or a key."""
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
        where only truth matters, or where neither is ever NULL (NOT NULL or keys).
        """
        this, query = term.args
        query = without_duplicates(query)
        if query.op != "select":
            return term._replace(args=(this, query))
        select = Select.of(query)
        value = select.outputs[0]
        if not select.plain or has_aggregate(this):  # that must stay where its rows are
            return term._replace(args=(this, query))
        if mode != "filter":
            mine = never_null(this, self.known, self.extended)
            theirs = never_null(value, self.known, self.extended)
            if mine is None or theirs is None:
                return term._replace(args=(this, query))
            self.known.assumptions.update((*mine, *theirs))
        equal = ordered(Term("eq", "", (value, this)))
        where = self.term(conjunction((*conjuncts(select.where), equal)), "filter")
        return Term("exists", "", (select._replace(where=where, outputs=()).term(),))

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

    def query(self, query: Term, *, outermost: bool = False) -> Term:
        """Rewrite a query, what is inside of it first."""
        self.known.steps.take()
        if query.op == "select":
            return self.select(Select.of(query))
        if query.op not in _SET_OPS:
            raise UnsupportedError
        arms = tuple(self.query(arm, outermost=outermost) for arm in query.args)
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

    def select(self, select: Select) -> Term:
        select = self.inlined(select)
        where = self.term(select.where, "filter")
        having = self.term(select.having, "filter")
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
        return collapsed(select, self.known)

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
        if not select.plain or not own:
            return kept
        if optional and not all(
            output.op == "col" and output.args[0] in own for output in select.outputs
        ):
            return kept
        for i, output in enumerate(select.outputs):
            new[Term("col", str(i), (source,))] = output
        inner = self.joined(select.tables, new, optional=optional)
        return _Joined(inner.parts, [*inner.conditions, *conjuncts(select.where)])

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
