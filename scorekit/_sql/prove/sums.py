"""Rows that add nothing to any aggregate, and what is left of an expression without them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import Final

from scorekit._sql.prove.dependencies import Rows, extended_sources, sources_in
from scorekit._sql.prove.groups import aggregates_of, replaced_aggregates
from scorekit._sql.prove.joins import inner_for_arm, left_arms
from scorekit._sql.prove.logic import Facts, not_true
from scorekit._sql.prove.predicates import conjunction, conjuncts, rewritten
from scorekit._sql.prove.scalars import number_of, parts_of
from scorekit._sql.prove.terms import (
    FALSE,
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    replaced,
    walk,
)

MAX_SUMS: Final = 4
"""Sums that may be of nothing in the largest query that is looked into."""

_NULL_BY_NOUGHT: Final = frozenset({"sqlite", "mysql"})
"""Dialects in which a number divided by 0 is NULL."""

_NOUGHT = Term("int", "0")
_BRANCHES = 3


def rows_that_add(select: Select, rows: Rows) -> Select:
    """
    Drop a condition, or make a left join an inner one, where the other rows add nothing.

    Aggregates leave out NULLs, and noughts do not change a sum.  But a sum of noughts is 0 and one
    of no values NULL, so that what is put out must be the same for both, whichever sums lose all
    of their values at once: ``SUM(x) / SUM(y)`` is NULL if both are 0, where 0 divides to NULL.
    """
    aggregates = [agg for output in select.outputs for agg in aggregates_of(output)]
    if (
        rows.known.dialect not in _NULL_BY_NOUGHT
        or not any(agg.name.startswith("sum") for agg in aggregates)
        or not all(agg.args for agg in aggregates)
        or (select.group, select.having, select.order) != (NONE, TRUE, ())
    ):
        return select
    for arm, rest in left_arms(select):
        own = sources_in(arm)
        nulls = {
            node: NULL
            for node in walk(select.term())
            if node.op in ("col", "star") and node.args[0] in own
        }
        where = replaced(select.where, nulls, rows.known.steps)
        dropped = rows.with_only(conjuncts(where))
        inner = inner_for_arm(select, arm, rest)
        extended = (rows.extended - own) | extended_sources(inner.tables)
        kept = Rows(inner.tables, conjuncts(inner.where), rows.known, extended)
        if _nothing_added(select, kept, dropped, nulls):
            rows.known.note("left join to inner join", (*rows.asked, *kept.asked))
            return inner
    parts = conjuncts(select.where)
    for part in parts:
        if any(node.op == "select" for node in walk(part)):
            continue
        others = [other for other in parts if other != part]
        dropped = rows.with_only((*others, not_true(part)))
        if _nothing_added(select, rows, dropped, {}):
            rows.known.note("condition on what adds nothing dropped", rows.asked)
            return select._replace(where=conjunction(others))
    return select


def _nothing_added(select: Select, kept: Rows, dropped: Rows, nulls: dict[Term, Term]) -> bool:
    """Say whether the *dropped* rows change no output that is computed of the *kept* ones."""
    return all(
        _same_output(output, kept, dropped.facts, nulls)
        for output in dict.fromkeys(select.outputs)
    )


def _same_output(output: Term, kept: Rows, dropped: Facts, nulls: dict[Term, Term]) -> bool:
    aggregates = dict.fromkeys(aggregates_of(output))
    noughts: list[Term] = []
    for agg in aggregates:
        found = _values(replaced(agg.args[0], nulls, kept.known.steps), dropped)
        if found == {NULL}:
            continue
        if not agg.name.startswith("sum") or not found <= {NULL, _NOUGHT}:
            return False
        noughts.append(agg)
    if len(noughts) > MAX_SUMS:
        return False
    nothing = {agg: _NOUGHT if agg.name.startswith("count") else NULL for agg in aggregates}
    for some in _subsets(noughts):
        of_nothing = dict.fromkeys(some, _NOUGHT)
        if not _alike(output, nothing, {**nothing, **of_nothing}):
            return False
        without = kept.with_conditions(_is_null(agg.args[0]) for agg in some).facts
        if without.contradictory:  # then no rows are kept
            continue
        others = {
            agg: value
            for agg in aggregates
            if agg not in some and (value := _of_all(agg, without)) is not None
        }
        none = {**others, **dict.fromkeys(some, NULL)}
        if not _alike(output, none, {**others, **of_nothing}):
            return False
    return True


def _subsets(noughts: list[Term]) -> Iterator[tuple[Term, ...]]:
    return chain.from_iterable(combinations(noughts, n) for n in range(1, len(noughts) + 1))


def _values(value: Term, facts: Facts) -> set[Term]:
    """Return the values that an expression may have: NULL, 0, or itself for any other."""
    if value.op == "case" and len(value.args) >= _BRANCHES:
        found: set[Term] = set()
        for condition, one in zip(value.args[:-1:2], value.args[1:-1:2], strict=True):
            if not facts.excludes(condition):
                found |= _values(one, facts)
        return found | _values(value.args[-1], facts)
    if value == _NOUGHT:
        return {_NOUGHT}
    return {NULL} if facts.implies(Term("isnull", "", (value,))) else {value}


def _of_all(agg: Term, facts: Facts) -> Term | None:
    """Return what an aggregate of some rows is, None where that is not known."""
    found = _values(agg.args[0], facts)
    if found == {NULL}:
        return _NOUGHT if agg.name.startswith("count") else NULL
    return _NOUGHT if found == {_NOUGHT} and agg.name.startswith("sum") else None


def _is_null(value: Term) -> Term:
    """Return the condition that a value is NULL, branch by branch of a CASE."""
    if value.op != "case" or len(value.args) < _BRANCHES:
        return Term("isnull", "", (value,))
    before: list[Term] = []
    found: list[Term] = []
    for condition, one in zip(value.args[:-1:2], value.args[1:-1:2], strict=True):
        found.append(conjunction((*before, condition, _is_null(one))))
        before.append(not_true(condition))
    found.append(conjunction((*before, _is_null(value.args[-1]))))
    return Term("or", "", tuple(found))


def _alike(output: Term, first: dict[Term, Term], second: dict[Term, Term]) -> bool:
    """Say whether an output is the same for two sets of values of its aggregates."""
    mine, other = (folded(replaced_aggregates(output, values)) for values in (first, second))
    return mine == other


def folded(term: Term) -> Term:  # noqa: PLR0911 - one an operator
    """Work out NULL and 0 in an expression; a number divided by 0 is NULL."""
    if not term.args:
        return term
    if term.op == "case":
        return _folded_case(term)
    term = term._replace(args=tuple(map(folded, term.args)))
    name = term.name.partition(" ")[0] if term.op == "fn" else ""
    operands = term.args if term.op != "fn" else tuple(v for p in term.args for v in p.args)
    if term.op in ("add", "mul") or name in ("Sub", "Neg", "Div"):
        if NULL in operands:
            return NULL
        if name == "Div":
            return NULL if _is_nought(parts_of(term)["expression"][0]) else term
        return _folded_noughts(term, operands)
    if name == "Coalesce":
        parts = parts_of(term)
        values = (*parts["this"], *parts.get("expressions", ()))
        first = next((value for value in values if value != NULL), NULL)
        return first if first.op in ("int", "null") else term
    if name == "Cast":
        (this,) = parts_of(term)["this"]
        if this == NULL:
            return NULL
        return Term("num", "0.0") if _is_nought(this) and _to_real(term) else term
    if term.op in ("eq", "ne", "lt", "le", "gt", "ge"):
        return rewritten(term, "bool")
    return term


def _folded_noughts(term: Term, operands: tuple[Term, ...]) -> Term:
    numbers = [number_of(operand) for operand in operands]
    if None in numbers or (any(numbers) and not (term.op == "mul" and 0 in numbers)):
        return term
    if all(operand.op == "int" for operand in operands):
        return _NOUGHT
    return term if term.op == "fn" else Term("num", "0.0")


def _folded_case(term: Term) -> Term:
    kept: list[Term] = []
    for condition, value in zip(term.args[:-1:2], term.args[1:-1:2], strict=True):
        test = folded(condition)
        if test == TRUE:
            return term._replace(args=(*kept, folded(value))) if kept else folded(value)
        if test not in (FALSE, NULL):
            kept += [test, folded(value)]
    default = folded(term.args[-1])
    return term._replace(args=(*kept, default)) if kept else default


def _is_nought(term: Term) -> bool:
    return number_of(term) == 0


def _to_real(cast: Term) -> bool:
    """Say whether a CAST is to a number with a binary fraction."""
    (to,) = parts_of(cast)["to"]
    return to.name.endswith((".FLOAT", ".DOUBLE", ".REAL"))
