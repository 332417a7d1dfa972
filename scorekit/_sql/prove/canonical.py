"""Whether two queries give the same rows on every database, by comparing canonical forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, cast

import attrs
from sqlglot import exp

from scorekit._sql.prove.dependencies import extended_sources
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.matching import Matcher
from scorekit._sql.prove.names import CASE_MATTERS
from scorekit._sql.prove.resolution import Resolved, resolve
from scorekit._sql.prove.rewrites import ALIKE, TIES, normalized
from scorekit._sql.prove.selects import flat_set_operation
from scorekit._sql.prove.terms import (
    ExhaustedError,
    Select,
    Steps,
    Term,
    UnsupportedError,
    arrangements,
    replaced,
    sources,
    walk,
    with_canonical_names,
)
from scorekit._sql.prove.ties import crossed, tie_alike
from scorekit._sql.prove.trees import check_tree
from scorekit._sql.prove.windows import is_settled
from scorekit._sql.schema import SqlSchema


@attrs.frozen
class Proof:
    """Two queries give the same rows wherever the assumptions hold."""

    assumptions: tuple[str, ...] = ()
    """Sentences, each of what the proof rests upon; sorted."""
    reordered: bool = False
    """Whether the columns are the same in another order."""
    steps: tuple[str, ...] = ("same canonical form",)
    """Names of the steps that lead from one query to the other."""
    canonical: bool = True
    """Whether both have the same canonical form."""


@attrs.frozen
class Unproved:
    """That two queries give the same rows was not seen."""

    exhausted: bool
    """Whether the search ended for want of steps."""


MATCHING_STEPS: Final = 150_000
"""Terms visited to match two queries whose canonical forms differ."""

COMPARED: Final = "tables paired, conditions and columns compared"

PERMUTED: Final = "columns put in order"

UNORDERED = "order is not compared, as only one query has ORDER BY"


def search(
    first: exp.Expr,
    second: exp.Expr,
    *,
    schema: SqlSchema | None,
    dialect: str | None,
    semantics: Literal["bag", "set"],
    column_order: Literal["significant", "ignored"] = "significant",
    deep: bool = True,
) -> Proof | Unproved:
    """
    Look for a proof that two queries are equivalent.

    The rows are compared as bags or sets, column by column and whatever the columns are called,
    and in order if both queries have an outermost ORDER BY.  If *column_order* is ``"ignored"``,
    one may have the columns of the other in another order.  Where the tables do not decide the
    rows (LIMIT, the clock, functions that are not known) the queries must say the same word for
    word, except for case, spaces, and what tables and outputs are called.  Unless *deep*, only
    canonical forms are compared, which costs least.
    """
    known = Known(schema, dialect), Known(schema, dialect)
    exhausted = False
    try:
        reorder = column_order == "ignored"
        proof = _proof((first, second), known, semantics, reorder=reorder, deep=deep)
        return proof or Unproved(exhausted=known[0].steps.spare < 0)
    except (UnsupportedError, RecursionError) as error:
        exhausted = isinstance(error, ExhaustedError)
    except Exception:  # noqa: BLE001 - trees of any origin; without a proof nothing is lost
        return Unproved(exhausted=False)
    try:
        alike = _spelled(first, dialect) == _spelled(second, dialect)
    except (UnsupportedError, RecursionError):
        alike = False
    return Proof((ALIKE,)) if alike else Unproved(exhausted=exhausted)


def canonical(
    tree: exp.Expr,
    *,
    schema: SqlSchema | None = None,
    dialect: str | None = None,
    semantics: Literal["bag", "set"] = "bag",
    ordered: bool = True,
) -> Term:
    """Return the canonical form of a query whose rows are determined."""
    known = Known(schema, dialect)
    query = resolve(tree, known)
    if not query.findings.determined or query.findings.conditional:
        raise UnsupportedError
    return _named(*_normal(query, known, semantics, ordered=ordered), known)


def _proof(  # noqa: C901 - a branch per way to prove
    trees: tuple[exp.Expr, exp.Expr],
    known: tuple[Known, Known],
    semantics: Literal["bag", "set"],
    *,
    reorder: bool,
    deep: bool = True,
) -> Proof | None:
    queries = resolve(trees[0], known[0]), resolve(trees[1], known[1])
    ordered = all(query.order for query in queries)
    extra = {UNORDERED} if any(query.order for query in queries) and not ordered else set[str]()
    reordered = False
    findings = [query.findings for query in queries]
    steps: list[str] = []
    if queries[0] == queries[1]:
        if not findings[0].determined or findings[0].conditional:
            extra.add(ALIKE)
    elif any(one.conditional for one in findings) and all(one.determined for one in findings):
        steps = (
            _matched(queries, known, semantics, ordered=ordered, reorder=reorder) if deep else []
        )
        if not steps:
            return None
    elif all(one.determined for one in findings):
        normal = [
            _normal(query, one, semantics, ordered=ordered)
            for query, one in zip(queries, known, strict=True)
        ]
        if _named(*normal[0], known[0]) != _named(*normal[1], known[1]):
            if reorder:
                first, second = map(_rearranged, normal, known)
                reordered = next(first) in second
            if not reordered:
                steps = (
                    _matched(queries, known, semantics, ordered=ordered, reorder=reorder)
                    if deep
                    else []
                )
                if not steps:
                    return None
    else:
        return None
    assumptions = known[0].assumptions | known[1].assumptions | extra
    if (TIES in assumptions and not tie_alike(*trees)) or (
        ALIKE in assumptions and crossed(trees[0]) != crossed(trees[1])
    ):
        return None
    if not steps:
        return Proof(tuple(sorted(assumptions)), reordered)
    reordered = PERMUTED in steps
    return Proof(tuple(sorted(assumptions)), reordered, tuple(steps), canonical=False)


def _matched(
    queries: tuple[Resolved, Resolved],
    known: tuple[Known, Known],
    semantics: Literal["bag", "set"],
    *,
    ordered: bool,
    reorder: bool,
) -> list[str]:
    """
    Return the steps by which two queries are the same; none if that was not seen.

    Windows and correlated subqueries are left as they are at first, and then read as joins.
    """
    steps = _compared(queries, known, semantics, ordered=ordered, reorder=reorder)
    if not steps and any(map(_may_join, (query.term for query in queries))):
        for one in known:
            one.joining = True
        steps = _compared(queries, known, semantics, ordered=ordered, reorder=reorder)
    return steps


def _may_join(query: Term) -> bool:
    """Say whether a query has aggregates that a join with groups may give."""
    ops = {node.op for node in walk(query)}
    return not ops.isdisjoint(("window", "scalar")) or (
        "agg" in ops and any(n.op == "join" and n.name in ("left", "right") for n in walk(query))
    )


def _compared(
    queries: tuple[Resolved, Resolved],
    known: tuple[Known, Known],
    semantics: Literal["bag", "set"],
    *,
    ordered: bool,
    reorder: bool,
) -> list[str]:
    """Bring two queries to their normal forms and compare these."""
    normal: list[Term] = []
    steps: list[str] = []
    both = Known(known[0].schema, known[0].dialect, Steps(MATCHING_STEPS))
    for query, one, letter in zip(queries, known, "ab", strict=True):
        one.steps = both.steps
        one.notes.clear()
        term, order = query.term, query.order if ordered else ()
        if semantics == "set":
            term = _as_set(term)
        if term.op == "select":
            term = Select.of(term)._replace(order=order).term()
        elif order and term.op != "limited":
            term = Term("sorted", "", (term, *order))
        term = normalized(term, one, deep=True, bare=query.findings.bare)
        if semantics == "set":
            term = _as_set(term)
        new = {
            source: Term("src", f"{letter}{source.name}")
            for source in sources(term)
            if "." not in source.name
        }
        both.tables.update({new[s]: name for s, name in one.tables.items() if s in new})
        if not is_settled(term):
            return []
        normal.append(replaced(term, new, both.steps))
        steps.extend(
            f"{'first' if letter == 'a' else 'second'} query: {note}" for note in one.notes
        )
    tables = extended_sources(Term("list", "", tuple(normal)))
    for first, second in (normal, reversed(normal)):  # one may be read in terms of the other
        matcher = Matcher(both, tables)
        if matcher.same(first, second):
            known[0].assumptions.update(both.assumptions | matcher.asked)
            return [*dict.fromkeys(steps), COMPARED]
        if reorder and matcher.permuted(first, second):
            known[0].assumptions.update(both.assumptions | matcher.asked)
            return [*dict.fromkeys(steps), COMPARED, PERMUTED]
    return []


def _rearranged(normal: tuple[Term, tuple[Term, ...]], known: Known) -> Iterator[Term]:
    """Yield the canonical form with the columns in orders that do not hang on where they stood."""
    term, order = normal
    for arranged, places in arrangements(term, known.tables, known.steps):
        new = {
            Term("position", str(old)): Term("position", str(place))
            for place, old in enumerate(places)
        }
        moved = tuple(item._replace(args=(new[item.args[0]],)) for item in order)
        yield _named(arranged, moved, known)


def _normal(
    query: Resolved, known: Known, semantics: Literal["bag", "set"], *, ordered: bool
) -> tuple[Term, tuple[Term, ...]]:
    """Return a query rewritten, and the order of what is no SELECT."""
    term, order = query.term, query.order if ordered else ()
    if semantics == "set":
        term = _as_set(term)
    if term.op == "select":
        term = Select.of(term)._replace(order=order).term()
        order = ()
    term = normalized(term, known)
    return _as_set(term) if semantics == "set" else term, order


def _named(term: Term, order: tuple[Term, ...], known: Known) -> Term:
    term = with_canonical_names(term, known.steps)
    return Term("sorted", "", (term, *order)) if order else term


def _as_set(term: Term) -> Term:
    """Drop duplicates at the end."""
    if term.op == "select":
        return term._replace(name="distinct")
    if term.op == "union all":
        return flat_set_operation("union", term.args)
    return term


def _spelled(node: exp.Expr, dialect: str | None) -> object:
    """Return a syntax tree without the case of names that are not quoted."""
    check_tree(node)
    return _spelling(node, folding=dialect not in CASE_MATTERS)


def _spelling(value: object, *, folding: bool) -> object:
    if isinstance(value, exp.Identifier):
        text: str = value.this
        marks = tuple(sorted(key for key, mark in value.args.items() if mark is True))
        return (
            text.lower() if folding and text.isascii() and "quoted" not in marks else text,
            marks,
        )
    if isinstance(value, exp.Expr):
        parts = tuple(
            (key, _spelling(part, folding=folding))
            for key, part in sorted(value.args.items())
            if part
        )
        return (type(value).__name__, parts)
    if isinstance(value, list):
        items = cast("list[object]", value)
        return tuple(_spelling(part, folding=folding) for part in items)
    return value
