"""Queries as terms: nested tuples without names that matter, which compare by value."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, permutations, product
from typing import Final, NamedTuple, TypeVar


class Term(NamedTuple):
    """
    A piece of a query: an operator, the text that belongs to it, and its operands.

    A SELECT is ``select`` with six operands, see `Select`.  Tables in a FROM are numbered through
    a whole query (``src``), so that a column can be moved anywhere and still means the same.
    """

    op: str
    name: str = ""
    args: tuple[Term, ...] = ()


class UnsupportedError(Exception):
    """A query holds something whose meaning is not known well enough to reason about it."""


class ExhaustedError(UnsupportedError):
    """A search took more steps than it is allowed."""


MAX_STEPS: Final = 40_000
"""Terms visited for one query before it is given up."""

MAX_SPARE_STEPS: Final = 100_000
"""Steps of all questions about one query whose answer may be left open."""

MAX_PERMUTATIONS: Final = 24
"""Ways to name the tables of one SELECT, or to order the columns of a query, that are tried where
nothing tells them apart."""

TRUE, FALSE, NULL, NONE = Term("true"), Term("false"), Term("null"), Term("none")

# Operands of these may come in any order.
COMMUTATIVE: Final = frozenset(
    {"and", "or", "eq", "ne", "add", "mul", "from", "group", "full"}
    | {"union", "union all", "intersect"}
)


OPAQUE: Final = "as it stands"
"""Name of a query with LIMIT that is equal only to one that is written alike."""

IN_ORDER: Final = "in order"
"""Name of a set operation whose operands must stay where they are."""

RANKS: Final = ("row_number", "rank", "dense_rank")
"""Window functions that number the rows of a partition from 1."""

IN_TOTAL_ORDER: Final = "in a total order"
"""End of the name of a window function whose order leaves no ties."""

_T = TypeVar("_T")


class Steps:
    """Counts what one query costs."""

    def __init__(self, left: int = MAX_STEPS) -> None:
        self.left = left
        self.spare = MAX_SPARE_STEPS

    def take(self, n: int = 1) -> None:
        """Count *n* steps; raises `ExhaustedError` where there were too many."""
        self.left -= n
        if self.left < 0:
            raise ExhaustedError


class Select(NamedTuple):
    """The parts of one SELECT."""

    distinct: bool
    tables: Term
    """A tree of joins as written, or ``from`` with the tables that are joined by WHERE alone."""
    where: Term
    group: Term
    """``group`` with the keys, or ``none``."""
    having: Term
    outputs: tuple[Term, ...]
    order: tuple[Term, ...] = ()
    """Of the outermost SELECT only."""

    @classmethod
    def of_rows(
        cls,
        tables: Term,
        where: Term = TRUE,
        outputs: tuple[Term, ...] = (),
        *,
        distinct: bool = False,
    ) -> Select:
        """Return a SELECT that neither groups nor orders."""
        return cls(distinct, tables, where, NONE, TRUE, outputs)

    def term(self) -> Term:
        """Return it as one term."""
        outputs, order = Term("list", "", self.outputs), Term("list", "", self.order)
        name = "distinct" if self.distinct else ""
        parts = (self.tables, self.where, self.group, self.having, outputs, order)
        return Term("select", name, parts)

    @classmethod
    def of(cls, term: Term) -> Select:
        """Take a ``select`` apart."""
        tables, where, group, having, outputs, order = term.args
        distinct = term.name == "distinct"
        return cls(distinct, tables, where, group, having, outputs.args, order.args)

    @property
    def aggregates(self) -> bool:
        """Whether an aggregate function is taken over its rows."""
        return any(map(has_aggregate, (self.having, *self.outputs, *self.order)))

    @property
    def plain(self) -> bool:
        """Whether each of its rows is one row of the joined tables."""
        return not self.distinct and self.group == NONE and not self.aggregates


def derived_tables(select: Select, op: str) -> Iterator[tuple[Term, Term, Term]]:
    """Yield each derived table whose query is such a term, with its source and the query."""
    for part in select.tables.args:
        if part.op == "derived" and part.args[1].op == op:
            source, query = part.args
            yield part, source, query


def walk(term: Term) -> Iterator[Term]:
    """Yield *term* and all that is in it."""
    stack = [term]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.args)


def has_aggregate(term: Term) -> bool:
    """Say whether *term* takes an aggregate of the SELECT that it stands in."""
    if term.op == "agg":
        return True
    return term.op != "select" and any(map(has_aggregate, term.args))


def looks_at(term: Term, keys: Collection[Term], exact: Collection[Term]) -> bool:
    """
    Say whether equal values of *keys* give equal values of *term*.

    Which of several equal values stands for them (1 and 1.0, ``a`` and ``A`` where case does not
    matter), a comparison does not tell, but a function may.  Of *exact* keys equal is the same.
    """
    if term in keys:
        return True
    if term.op in ("fn", "like", "plus"):
        return not any(node in keys and node not in exact for node in walk(term))
    return all(looks_at(arg, keys, exact) for arg in term.args)


def outputs_of(query: Term) -> tuple[Term, ...]:
    """Return the outputs of a query; of a set operation those of its first arm."""
    while query.op not in ("select", "windowed"):
        query = query.args[0]
    if query.op == "windowed":
        return (*outputs_of(query.args[0]), *query.args[1].args)
    return Select.of(query).outputs


def least_of(window: Term) -> int | None:
    """Return the least value of a window function that gives whole numbers and no NULL."""
    name = window.name.removesuffix(f" {IN_TOTAL_ORDER}")
    if name in (*RANKS, "ntile"):
        return 1
    return 0 if name in ("agg count", "agg count distinct") else None


def outermost(term: Term, op: str) -> list[Term]:
    """Return the terms of an operator, but none inside another such term or a SELECT inside."""
    if term.op == op:
        return [term]
    if term.op == "select":
        return []
    return [found for arg in term.args for found in outermost(arg, op)]


def sources(term: Term) -> frozenset[Term]:
    """Return the tables that *term* defines or refers to."""
    return frozenset(node for node in walk(term) if node.op == "src")


def local_sources(tables: Term) -> list[Term]:
    """Return the tables that a FROM defines, in their order, not those inside of subqueries."""
    if tables.op in ("table", "derived"):
        return [tables.args[0]]
    parts = tables.args[: _TABLES_IN.get(tables.op, len(tables.args))]
    return [source for part in parts for source in local_sources(part)]


# How many of the operands are tables; those of the others all are.
_TABLES_IN = {"join": 2, "arm": 1, "side": 1, "outer": 1}


def is_boolean(term: Term) -> bool:
    """Say whether *term* can only be true, false or NULL."""
    if term.op == "fn":
        return term.name in _TESTS
    if term.op == "case" and len(term.args) > 1:
        values = (*term.args[1:-1:2], term.args[-1])
        return values[0] != NULL and all(v == NULL or is_boolean(v) for v in values)
    return term.op in _BOOLEAN


_BOOLEAN = frozenset(
    {"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "isnull", "exists", "in", "like"}
    | {"true", "false", "between", "among"}
)
_TESTS = frozenset({"Is", "NullSafeEQ", "NullSafeNEQ"})


def ordered(term: Term) -> Term:
    """Put the operands of *term* in order if the order does not matter."""
    if term.op in COMMUTATIVE and term.name != IN_ORDER:
        return term._replace(args=tuple(sorted(term.args)))
    if term.op == "left":
        return term._replace(args=(term.args[0], *sorted(term.args[1:])))
    return term


def replaced(term: Term, new: Mapping[Term, Term], steps: Steps) -> Term:
    """Return *term* with each part that is a key of *new* replaced."""
    steps.take()
    found = new.get(term) if term.op in ("src", "col") else None
    if found is not None:
        return found
    if not term.args:
        return term
    return term._replace(args=tuple(replaced(arg, new, steps) for arg in term.args))


def replaced_terms(term: Term, new: Mapping[Term, Term], steps: Steps) -> Term:
    """Return *term* with each part that is a key of *new* replaced, from the outside inwards."""
    steps.take()
    found = new.get(term)
    if found is not None:
        return found
    if not term.args:
        return term
    return term._replace(args=tuple(replaced_terms(arg, new, steps) for arg in term.args))


# Canonical names.


def with_canonical_names(term: Term, steps: Steps, depth: int = 0) -> Term:
    """
    Name the tables of each SELECT by their place in it, and order what has no order.

    A name for a row has no meaning of its own (alpha equivalence), so any consistent choice is
    sound.  Tables are told apart by how they are used; where that leaves several choices, at most
    `MAX_PERMUTATIONS` are tried and the least result is taken.
    """
    steps.take()
    if term.op != "select":
        args = tuple(with_canonical_names(arg, steps, depth) for arg in term.args)
        return _idempotent(ordered(term._replace(args=args)))
    candidates: list[Term] = []
    for names in _namings(term, steps):
        new = {source: Term("src", f"{depth}.{i}") for i, source in enumerate(names)}
        named = replaced(term, new, steps)
        args = tuple(with_canonical_names(arg, steps, depth + 1) for arg in named.args)
        candidates.append(named._replace(args=args))
    return min(candidates)


def _idempotent(term: Term) -> Term:
    """Drop operands that canonical names have made equal: ``p AND p`` is p, also with NULL."""
    if term.op in ("and", "or", "union", "intersect") and len(term.args) > 1:
        return term._replace(args=tuple(dict.fromkeys(term.args)))
    return term


def arrangements(
    query: Term, names: Mapping[Term, str], steps: Steps
) -> Iterator[tuple[Term, tuple[int, ...]]]:
    """
    Yield *query* with its columns in the order of how they are computed, and where each stood.

    Those that are computed alike come in all orders, or one where these are more than
    `MAX_PERMUTATIONS`.  *names* are those of the base tables.
    """
    arms = _arms(query)
    width = len(arms[0].outputs)
    stars = any(output.op == "star" for arm in arms for output in arm.outputs)
    if (stars and len(arms) > 1) or any(len(arm.outputs) != width for arm in arms):
        raise UnsupportedError  # which columns meet, only the tables tell
    colours = {source: Term("src", name) for source, name in names.items()}
    seen = [sorted(coloured(arm.outputs[i], colours, steps) for arm in arms) for i in range(width)]
    groups: dict[tuple[Term, ...], list[int]] = {}
    for i in sorted(range(width), key=seen.__getitem__):
        groups.setdefault(tuple(seen[i]), []).append(i)
    for places in _orders(list(groups.values())):
        yield _arranged(query, places), places


def _arms(query: Term) -> list[Select]:
    if query.op == "select":
        return [Select.of(query)]
    return [arm for part in query.args for arm in _arms(part)]


def _arranged(query: Term, places: tuple[int, ...]) -> Term:
    if query.op == "select":
        select = Select.of(query)
        return select._replace(outputs=tuple(select.outputs[i] for i in places)).term()
    return query._replace(args=tuple(_arranged(arm, places) for arm in query.args))


def _namings(select: Term, steps: Steps) -> list[tuple[Term, ...]]:
    """Return the orders of the tables of a SELECT that may be the canonical one."""
    locals_ = local_sources(select.args[0])
    colours = dict.fromkeys(locals_, Term("src", "!"))
    for _ in range(min(len(locals_) - 1, 3)):
        seen = {source: _use(select, source, colours, steps) for source in locals_}
        rank = {use: i for i, use in enumerate(sorted(set(seen.values())))}
        colours = {source: Term("src", f"!{rank[use]}") for source, use in seen.items()}
    groups: dict[Term, list[Term]] = {}
    for source in sorted(locals_, key=lambda source: colours[source]):
        groups.setdefault(colours[source], []).append(source)
    return _orders(list(groups.values()))


def _orders(groups: list[list[_T]]) -> list[tuple[_T, ...]]:
    """Return all ways to order what is in each group, or one if they are too many."""
    n_ways = math.prod(math.factorial(min(len(group), 9)) for group in groups)
    if n_ways > MAX_PERMUTATIONS:
        return [tuple(chain.from_iterable(groups))]
    return [tuple(chain.from_iterable(way)) for way in product(*map(permutations, groups))]


def _use(select: Term, source: Term, colours: Mapping[Term, Term], steps: Steps) -> Term:
    """Return how *source* is used in a SELECT, whatever the other tables are called."""
    return coloured(select, {**colours, source: Term("src", "!me")}, steps)


def coloured(term: Term, colours: Mapping[Term, Term], steps: Steps) -> Term:
    """Return *term* with its tables replaced by *colours*, and all others by one and the same."""
    steps.take()
    if term.op == "src":
        return colours.get(term) or (term if "." in term.name else Term("src", "!inner"))
    if not term.args:
        return term
    return ordered(term._replace(args=tuple(coloured(arg, colours, steps) for arg in term.args)))
