"""Whether two queries give the same rows on every database, by comparing canonical forms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, cast

import attrs
from sqlglot import exp

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.matching import Matcher
from scorekit._sql.prove.names import CASE_MATTERS
from scorekit._sql.prove.resolution import Resolved, resolve
from scorekit._sql.prove.rewrites import ALIKE, TIES, extended_sources, normalized
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
    if TIES in assumptions and not _tie_alike(*trees):
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


def _tie_alike(first: exp.Expr, second: exp.Expr) -> bool:
    """
    Say whether two queries read their rows alike, so that those which tie come in the same order.

    They join the same tables in the same order and under the same conditions, by which engines
    choose the table to begin with.  They group by the same keys in the same order, by which rows
    may be sorted, and sort at the end alone, by the same columns, which an index may
    bring in order.
    """
    sorts = [list(tree.find_all(exp.Order)) for tree in (first, second)]
    joined = _joined(first)
    return (
        max(map(len, sorts)) <= 1
        and list(map(_sorted_by, sorts[0])) == list(map(_sorted_by, sorts[1]))
        and joined == _joined(second)
        and (len(joined) == 1 or _conditions(first) == _conditions(second))
        and _grouped(first) == _grouped(second)
    )


def _conditions(tree: exp.Expr) -> list[str]:
    """Return the names of the tables in their order, and what WHERE and ON ask for as written."""
    names = [node.this.alias_or_name.casefold() for node in tree.find_all(exp.From, exp.Join)]
    found = [node.this for node in tree.find_all(exp.Where)]
    found += [join.args["on"] for join in tree.find_all(exp.Join) if join.args.get("on")]
    return [*names, *sorted(_shown(part) for one in found for part in _conjuncts(one))]


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


def _grouped(tree: exp.Expr) -> list[list[str]]:
    """Return the keys of each GROUP BY at or below a LIMIT, in their order."""
    limited = [node.parent for node in tree.find_all(exp.Limit, exp.Fetch) if node.parent]
    groups = [group for query in limited for group in query.find_all(exp.Group)]
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
