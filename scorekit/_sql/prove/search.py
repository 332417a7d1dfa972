"""Whether two queries give the same rows on every database: the search for a proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final

import attrs
from sqlglot import exp
from sqlglot.serde import dump

from scorekit._sql.databases.kinds import UNCASED
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.names import CASE_MATTERS
from scorekit._sql.meaning.question import Question
from scorekit._sql.meaning.read import Reading, read_query
from scorekit._sql.meaning.syntax import UnreadError
from scorekit._sql.meaning.tree import (
    RUNNING,
    WHOLE,
    Aggregate,
    Derived,
    Function,
    Node,
    Ordered,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    Source,
    Window,
    Windowed,
    conjuncts,
    defined_in,
    found_in,
    free_sources,
    replaced,
    rewritten,
)
from scorekit._sql.meaning.tree import Literal as Constant
from scorekit._sql.meaning.unsettled import is_settled
from scorekit._sql.prove.dependencies import Relation
from scorekit._sql.prove.logic import with_canonical_names
from scorekit._sql.prove.matching import Matcher
from scorekit._sql.prove.normal import Sorted, exactly_one
from scorekit._sql.prove.rewriting import Rewriting
from scorekit._sql.prove.rule import View, aggregates_of
from scorekit._sql.prove.rules.order import FURTHER, LAST, RULES
from scorekit._sql.prove.rules.parts import as_distinct, respects_equality_of
from scorekit._sql.prove.scalars import in_order
from scorekit._sql.prove.scope import (
    NOTHING,
    ExhaustedError,
    Premises,
    Scope,
    Steps,
    UnsupportedError,
    every,
)

ROUNDING: Final = 1e-12
"""The least tolerance in which two ways to compute a fraction are taken to differ."""

COMPARED: Final = "tables paired, conditions and columns compared"
PERMUTED: Final = "columns put in order"

ALIKE: Final = "the same query gives the same rows each time"
TIES: Final = "of rows that tie at LIMIT any may be taken"
EQUAL_TEXTS: Final = "of equal texts that differ in case or the like any may be shown"
UNORDERED: Final = "order is not compared, as only one query has ORDER BY"
IGNORED: Final = "order is not compared, as row_order is 'ignored'"


@attrs.frozen
class Proof:
    """Two queries give the same rows wherever the assumptions hold."""

    assumptions: tuple[str, ...] = ()
    """Sentences, each of what the proof rests upon; sorted."""
    steps: tuple[str, ...] = (COMPARED,)
    """Names of the rules that lead from one query to the other."""

    @property
    def reordered(self) -> bool:
        """Whether the columns are the same in another order."""
        return PERMUTED in self.steps


@attrs.frozen
class Within:
    """
    The first query gives only what the second may give, wherever the assumptions hold.

    Both take as many of the same rows, but the second leaves more ties.
    """

    assumptions: tuple[str, ...] = ()
    flipped: bool = False
    """Whether it is the second query that gives only what the first may give."""


@attrs.frozen
class Unproved:
    """That two queries give the same rows was not seen."""

    exhausted: bool
    """Whether the search ended for want of steps."""


def search(
    first: exp.Expr,
    second: exp.Expr,
    question: Question,
    *,
    readings: tuple[Reading, ...] = (),
) -> Proof | Within | Unproved:
    """
    Look for a proof that two queries are equivalent.

    The rows are compared as bags or sets, column by column and whatever the columns are called,
    and in order if both queries have an outermost ORDER BY; if *row_order* is ``"expected"`` the
    second decides, and if it is ``"ignored"`` they never are.  If *column_order* is ``"ignored"``,
    one may have the columns of the other in another order.  Where an order leaves ties at a LIMIT,
    a query has several results; both must have the same ones.  Where the tables do not decide the
    rows (the clock, functions that are not known) the queries must say the same.  Fractions that
    differ by rounding are equal if the *tolerance* of results allows that.  What the queries mean,
    where it is known, is given as *readings*.
    """
    steps = Steps(question.effort)
    exhausted = False
    try:
        catalog = partial(Catalog, question.schema, question.dialect)
        readings = readings or tuple(read_query(tree, catalog()) for tree in (first, second))
        found = _proof(readings, question, steps)
        return found or Unproved(exhausted=steps.spare < 0)
    except (UnsupportedError, UnreadError, RecursionError) as error:
        exhausted = isinstance(error, ExhaustedError)
    try:
        alike = _spelled(first, question.dialect) == _spelled(second, question.dialect)
    except RecursionError:
        alike = False
    return Proof((ALIKE,)) if alike else Unproved(exhausted=exhausted)


def _proof(
    readings: tuple[Reading, ...], question: Question, steps: Steps
) -> Proof | Within | None:
    schema, dialect, row_order = question.schema, question.dialect, question.row_order
    rests = readings[0].assumptions | readings[1].assumptions
    queries = [reading.query for reading in readings]
    if queries[0] == queries[1]:
        return Proof(tuple(sorted(rests if is_settled(queries[0]) else rests | {ALIKE})))
    if any(not one.certain for query in queries for one in found_in(query, Function)):
        return None
    ordered = [isinstance(query, Ordered) and bool(query.items) for query in queries]
    if not {"auto": all(ordered), "expected": ordered[1], "ignored": False}[row_order]:
        for i, query in enumerate(queries):
            if isinstance(query, Ordered) and not _is_limited(query):
                queries[i] = query.query
                rests |= {IGNORED if row_order == "ignored" else UNORDERED}
    names: list[str] = []
    normal: list[Query] = []
    settled: list[_Settled] = []
    for query, letter in zip(queries, "ab", strict=True):
        scope = Scope(schema, dialect, steps=steps)
        view = View(scope)
        found = normal_form(_renamed(query, letter), view)
        found = _as_set(found) if question.semantics == "set" else found
        _check_groups(found, scope)
        rewriting = Rewriting(scope, letter)
        found = rewriting.run(found)
        found = _as_set(found) if question.semantics == "set" else found
        settled.append(_Settled(found, scope))
        rests |= rewriting.rests | view.rests | settled[-1].rests
        which = "first" if letter == "a" else "second"
        names += [f"{which} query: {name}" for name in rewriting.steps]
        normal.append(found)
    if any(one.ties for one in settled) and any(map(_sorts_inside, queries)):
        return None  # the inner order may decide which of the tied rows an engine takes
    if any(one.several for one in settled) and _values(queries[0]) != _values(queries[1]):
        return None
    flips = [False, True]
    if (
        queries[0].order > queries[1].order
    ):  # so that the answer does not depend on which comes first
        flips.reverse()
    pair = _RewrittenPair(normal[0], normal[1], frozenset(rests), tuple(names))
    proof = _matched(pair, question, flips, steps)
    if proof is None:
        further = _further(pair, question, steps)
        proof = None if further is None else _matched(further, question, flips, steps)
    if proof is not None:
        return proof
    for flipped in flips:
        view = View(Scope(schema, dialect, steps=steps))
        if _is_within(normal[flipped], normal[not flipped], Matcher(steps), view):
            return Within(tuple(sorted(rests | view.rests)), flipped=flipped)
    return None


@attrs.frozen
class _RewrittenPair:
    """Two queries in a form, what these rest on, and the names of the rules that made them."""

    first: Query
    second: Query
    rests: Premises
    steps: tuple[str, ...]


def _matched(
    pair: _RewrittenPair, question: Question, flips: Sequence[bool], steps: Steps
) -> Proof | None:
    """Return the proof that the forms of two queries are the same, if they are."""
    shown = tuple(dict.fromkeys((*pair.steps, COMPARED)))
    close = question.tolerance >= ROUNDING
    queries = pair.first, pair.second
    for flipped in flips:  # one may be read in terms of the other
        both = queries[flipped], queries[not flipped]
        view = View(Scope(question.schema, question.dialect, steps=steps))
        if Matcher(steps, close=close).same(*both, view):
            return Proof(tuple(sorted(pair.rests | view.rests)), shown)
        view = View(Scope(question.schema, question.dialect, steps=steps))
        if question.column_order == "ignored" and Matcher(steps, close=close).permuted(
            *both, view
        ):
            return Proof(tuple(sorted(pair.rests | view.rests)), (*shown, PERMUTED))
    return None


def _further(pair: _RewrittenPair, question: Question, steps: Steps) -> _RewrittenPair | None:
    """Return two queries as the further rules leave them, None where none of these applies."""
    found: list[Query] = []
    rests, names = pair.rests, [*pair.steps]
    for query, letter in zip((pair.first, pair.second), "cd", strict=True):
        which = "first" if letter == "c" else "second"
        scope = Scope(question.schema, question.dialect, steps=steps)
        before = query
        for i, rules in enumerate((FURTHER, LAST, RULES)):
            if i > 1 and query == before:
                break
            rewriting = Rewriting(scope, f"{letter}{i}", rules=rules)
            query = rewriting.run(query)  # noqa: PLW2901 - step by step
            rests |= rewriting.rests
            names += [f"{which} query: {name}" for name in rewriting.steps]
        found.append(query)
    if found == [pair.first, pair.second]:
        return None
    return _RewrittenPair(found[0], found[1], frozenset(rests), tuple(names))


def _sorts_inside(query: Query) -> bool:
    """Say whether a table in a FROM is sorted, though no LIMIT asks for it."""
    return any(
        isinstance(one.query, Ordered) and not _is_limited(one.query)
        for one in found_in(query, Derived)
    )


def _values(query: Query) -> Counter[Query]:
    """Return the subqueries that stand for a value and name nothing around them."""
    return Counter(
        with_canonical_names(one.query)
        for one in found_in(query, ScalarQuery)
        if not free_sources(one) and not exactly_one(one.query)
    )


def _is_limited(query: Query) -> bool:
    return isinstance(query, Ordered) and not (query.limit is None and query.offset is None)


def _is_within(narrow: Query, wide: Query, matcher: Matcher, view: View) -> bool:
    """
    Say whether a query takes at each LIMIT what another may take that sorts by fewer columns.

    What is computed of some of the choices that a LIMIT leaves is among what is computed of all.
    """
    ours, theirs = (
        [one for one in found_in(query, Sorted) if one.bounded] for query in (narrow, wide)
    )
    lengths = [len(one.items) for one in theirs]
    if len(ours) != len(theirs) or all(
        len(one.items) <= n for one, n in zip(ours, lengths, strict=True)
    ):
        return False
    shorter = {
        one: _shortened(one, n) for one, n in zip(ours, lengths, strict=True) if n < len(one.items)
    }
    fewer = rewritten(narrow, lambda node: shorter.get(node, node))  # type: ignore[call-overload]
    return matcher.same(fewer, wide, view)


def _shortened(query: Sorted, n: int) -> Sorted:
    """Return a query that sorts by its first columns only, without outputs for the others."""
    items, inner = query.items[:n], query.query
    if isinstance(inner, Select):
        kept = max([query.width, *(item.value.number + 1 for item in items)])  # type: ignore[attr-defined]
        inner = attrs.evolve(inner, outputs=inner.outputs[:kept])
    return attrs.evolve(query, query=inner, items=items)


def _renamed(query: Query, letter: str) -> Query:
    new = {source: Source(f"{letter}{source.name}", source.table) for source in defined_in(query)}
    return replaced(query, new)


def _as_set(query: Query) -> Query:
    """Drop duplicates at the end."""
    plain = isinstance(query, Select) or (
        isinstance(query, SetOperation) and query.operator == "union"
    )
    return as_distinct(query) if plain else query


# Normal form.


def normal_form(query: Query, view: View) -> Query:
    """Return a query whose orders name its outputs; only the outermost needs no LIMIT."""
    inside = view.inside(query.tables) if isinstance(query, Select) else view
    children = [_with_orders_inside(child, inside) for child in query.children]
    query = query.with_children(children)
    return _as_sorted(query, view) if isinstance(query, Ordered) else query


def _with_orders_inside(node: Node, view: View) -> Node:
    if isinstance(node, Ordered) and node.limit is None and node.offset is None:
        return _with_orders_inside(node.query, view)
    if isinstance(node, Query):
        return normal_form(node, view)
    children = [_with_orders_inside(child, view) for child in node.children]
    return node.with_children(children) if children else node


def _as_sorted(query: Ordered, view: View) -> Sorted:
    inner, items = query.query, query.items
    width = len(inner.outputs)
    bounds = [_number(query.limit), _number(query.offset) or 0]
    if isinstance(inner, Select) and items:
        outputs = list(inner.outputs)
        given = None
        places: list[int] = []
        for item in items:
            if item.value not in outputs:
                given = given or view.rows_of(inner).determined(inner.outputs)
                unique = inner.keys is not None and all(map(given, inner.keys))
                unique = unique or all(map(_is_constant, inner.outputs))
                if inner.distinct and not (unique or given.exactly(item.value)):
                    raise UnsupportedError  # each copy of a row may be sorted elsewhere
                outputs.append(item.value)
            places.append(outputs.index(item.value))
        if inner.distinct and all(map(_is_constant, inner.outputs)):
            return Sorted(inner, width, (), bounds[0], bounds[1] or 0)
        inner = attrs.evolve(inner, outputs=tuple(outputs))
        items = tuple(
            attrs.evolve(item, value=Place(place))
            for item, place in zip(items, places, strict=True)
        )
    elif not all(isinstance(item.value, Place) for item in items):
        raise UnsupportedError
    return Sorted(inner, width, items, bounds[0], bounds[1] or 0)


def _is_constant(value: Scalar) -> bool:
    return isinstance(value, Constant)


def _number(bound: Scalar | None) -> int | None:
    """Return a LIMIT or OFFSET of a plain number of rows."""
    if bound is None:
        return None
    if not isinstance(bound, Constant) or bound.kind != "integer" or int(bound.text) < 0:
        raise UnsupportedError
    return int(bound.text)


# What must be so for the rows to be determined.


def _check_groups(query: Query, scope: Scope) -> None:
    """Refuse what looks closely at a key of groups of which there are several equal values."""
    for select in found_in(query, Select):
        if select.keys is None:
            continue
        keys = [rewritten(key, in_order) for key in select.keys]
        derived = {one.source: one.query for one in found_in(query, Derived)}
        exact = [*filter(attrs.evolve(scope, derived=derived).exact, keys)]
        parts = (rewritten(part, in_order) for part in (select.having, *select.outputs))
        if not all(respects_equality_of(part, keys, exact) for part in parts):
            raise UnsupportedError


class _Settled:
    """Whether the tables decide the rows of a query, but for ties at a LIMIT."""

    def __init__(self, query: Query, scope: Scope) -> None:
        self.rests: Premises = NOTHING
        self.ties = False
        """Whether rows may tie at a LIMIT."""
        self.several = False
        """Whether a subquery that stands for a value may find several rows."""
        self._look_at(query, scope)

    def _look_at(self, node: Node, scope: Scope) -> None:
        if isinstance(node, Select):
            scope = scope.inside(node.tables)
        if isinstance(node, Derived) and node.shared:
            raise UnsupportedError  # chosen once for several tables
        if isinstance(node, Windowed):
            self.rests |= _check_windows(node, scope)
        if isinstance(node, Sorted) and node.bounded and not _in_total_order(node, scope):
            self.ties = True
            self.rests |= {TIES}
        if scope.dialect in UNCASED and isinstance(node, Select | SetOperation):
            shown = _chosen(node)
            if any(scope.kind_of_output(node, i) in ("text", "unknown") for i in shown):
                self.rests |= {EQUAL_TEXTS}
        if isinstance(node, ScalarQuery):
            self._look_at_value(node.query, scope)
        for child in node.children:
            self._look_at(child, scope)

    def _look_at_value(self, query: Query, scope: Scope) -> None:
        if isinstance(query, Sorted) and query.limit == 1:
            return
        if isinstance(query, Select):
            if query.keys is None and query.aggregates:
                return
            relation = Relation.of(query.tables, conjuncts(query.where), scope)
            one = relation.determined(()).everything()
            if one is not None:
                self.rests |= one
                return
        if free_sources(query):
            raise UnsupportedError
        self.several = True
        self.rests |= {ALIKE}


def _chosen(query: Select | SetOperation) -> list[int]:
    """Return the outputs of a query that show one of several equal values."""
    outputs = query.outputs
    if query.distinct:
        return [i for i, one in enumerate(outputs) if not _is_constant(one)]
    if isinstance(query, SetOperation):
        return []
    return [
        i
        for i, one in enumerate(outputs)
        if one in (query.keys or ())
        or any(a.function in ("min", "max") for a in aggregates_of(one))
    ]


def _in_total_order(query: Sorted, scope: Scope) -> bool:
    inner = query.query
    if not isinstance(inner, Select):
        return False
    relation = Relation.of(inner.tables, conjuncts(inner.where), scope)
    given = relation.determined(
        inner.outputs[item.value.number] for item in query.items if isinstance(item.value, Place)
    )
    of_groups = inner.keys is not None and every(map(given, inner.keys)) is not None
    return all(
        given.exactly(output) is not None or (of_groups and isinstance(output, Aggregate))
        for output in inner.outputs[: query.width]
    )


_ARBITRARY: Final = frozenset(
    {"row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"}
)
"""Window functions whose values rows that tie in the order may swap."""


def is_total(window: Window, inner: Select, view: View) -> bool:
    """Say whether the order of a window leaves no ties."""
    given = view.rows_of(inner).determined(
        inner.outputs[term.number]
        for term in (*window.keys, *(item.value for item in window.items))
        if isinstance(term, Place)
    )
    if inner.keys is not None:
        return all(map(given, inner.keys))
    if inner.aggregates:
        return True
    return all(map(given, inner.outputs)) if inner.distinct else given.everything()


def _check_windows(query: Windowed, scope: Scope) -> Premises:
    view = View(scope)
    for window in query.windows:
        settled = window.function not in _ARBITRARY and window.frame in (WHOLE, RUNNING)
        if settled:
            continue
        if not isinstance(query.query, Select) or not is_total(window, query.query, view):
            raise UnsupportedError
    return view.rests


# Queries that are not read.


def _spelled(tree: exp.Expr, dialect: str | None) -> object:
    """Return a syntax tree without comments and the case of names that are not quoted."""
    tree = tree.copy()
    for node in tree.walk():
        node.comments = None
        node.meta.clear()
        if isinstance(node, exp.Identifier) and dialect not in CASE_MATTERS:
            plain = node.this.isascii() and not node.args.get("quoted")
            node.set("this", node.this.lower() if plain else node.this)
    return dump(tree)
