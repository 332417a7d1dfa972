"""
Window functions: how they are read, and the steps on them.

A SELECT with window functions is read as one over a derived table whose query is ``windowed``: a
query without them, and a list of windows over its rows.  The columns of that query come first, one
for each window after them; a window names its operands by their place (``position``).  All that
is said of a window is so said of all rows that it ranges over, and what filters or joins after it
cannot be mistaken for what it sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sqlglot import exp

from scorekit._sql.prove.dependencies import Rows
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.predicates import LITERALS, conjunction, conjuncts
from scorekit._sql.prove.terms import (
    IN_TOTAL_ORDER,
    NONE,
    NULL,
    RANKS,
    TRUE,
    Select,
    Term,
    UnsupportedError,
    derived_tables,
    has_aggregate,
    local_sources,
    looks_at,
    ordered,
    outputs_of,
    replaced,
    replaced_terms,
    sources,
    walk,
)

_ARBITRARY: Final = frozenset(
    {"row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"}
)
"""Functions whose values rows that tie in the order may swap."""

_FUNCTIONS: Final[dict[type[exp.Expr], str]] = {
    exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank", exp.CumeDist: "cume_dist", exp.Ntile: "ntile",
    exp.Lag: "lag", exp.Lead: "lead", exp.FirstValue: "first_value",
    exp.LastValue: "last_value", exp.NthValue: "nth_value",
}  # fmt: skip

_FRAMED: Final = frozenset({"first_value", "last_value", "nth_value"})

WHOLE, RUNNING, BY_ROWS = Term("frame", "whole"), Term("frame", "range"), Term("frame", "rows")
"""All rows of the partition; those up to the current one, with or without those that tie."""

_KINDS: Final = ("integer", "natural", "number", "real", "text", "time")
"""Kinds of values that ORDER BY and MAX put in the same order; MySQL does not for ENUM."""


# Reading.


def function_of(node: exp.Expr) -> str | None:
    """Return the name of a window function that is no aggregate."""
    return _FUNCTIONS.get(type(node))


def operands_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a window function that is no aggregate, in their order."""
    keys = ("this", "offset", "default")
    if set(node.args) - {*keys} and any(node.args[key] for key in set(node.args) - {*keys}):
        raise UnsupportedError
    found = [node.args[key] for key in keys if node.args.get(key)]
    if not all(isinstance(one, exp.Expr) for one in found):
        raise UnsupportedError
    if isinstance(node, (exp.Lag, exp.Lead)) and len(found) == 1:
        found.append(exp.Literal.number(1))
    return found


def frame_of(spec: exp.Expr | None, name: str, *, in_order: bool) -> Term | None:  # noqa: PLR0911 - one per kind of frame
    """
    Return the rows of a partition that a function sees, None where they are not known.

    Those that rank, and LAG and LEAD, see the partition whatever is written.  Without a frame it
    is that up to the current row and those that tie with it; without an order all rows tie.
    """
    if name not in _FRAMED and name in _FUNCTIONS.values():
        return WHOLE
    if spec is None:
        return RUNNING if in_order else WHOLE
    if {key for key, value in spec.args.items() if value} - {
        "kind", "start", "start_side", "end", "end_side",
    }:  # fmt: skip
        return None
    kind = str(spec.args.get("kind") or "RANGE").upper()
    start = _bound(spec.args.get("start"), spec.args.get("start_side"))
    end = _bound(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"))
    if start is None or end is None:
        return None
    if start == "UNBOUNDED PRECEDING" and end == "UNBOUNDED FOLLOWING":
        return WHOLE
    if (start, end) == ("UNBOUNDED PRECEDING", "CURRENT ROW") and kind in ("RANGE", "ROWS"):
        if kind == "ROWS":
            return BY_ROWS
        return RUNNING if in_order else WHOLE
    return Term("frame", f"{kind} {start} {end}") if kind in ("ROWS", "RANGE") else None


def _bound(value: object, side: object) -> str | None:
    if isinstance(value, str):
        return f"{value.upper()} {str(side or '').upper()}".strip()
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return f"{int(value.this)} {str(side or '').upper()}"
    return None


def has_window(term: Term) -> bool:
    """Say whether *term* takes a window function of the SELECT that it stands in."""
    if term.op == "over":
        return True
    return term.op != "select" and any(map(has_window, term.args))


def isolated(select: Select, kept: Term, known: Known) -> Select:
    """
    Return a SELECT with window functions as one over a derived table that has them as columns.

    *kept* is what QUALIFY says.  Windows see the rows after WHERE, GROUP BY and HAVING, and before
    DISTINCT and ORDER BY.
    """
    if any(map(has_window, (select.where, select.having, *select.group.args))):
        raise UnsupportedError
    own = frozenset(local_sources(select.tables))
    parts = (*select.outputs, *select.order, kept)
    whole = Term("list", "", (select.term(), kept))
    defined = {n.args[0] for n in walk(whole) if n.op in ("table", "derived")}
    if not sources(whole) <= defined:
        raise UnsupportedError  # a column of a query around it
    columns: dict[Term, int] = {}
    windows: list[Term] = []
    source = known.fresh()
    moved = _Moved(source, own, select.group.args, columns, windows)
    new = [moved.read(part) for part in parts]
    n = len(columns)
    columns_after = {
        Term("col", f"w{k}", (source,)): Term("col", str(n + k), (source,))
        for k in range(len(windows))
    }
    new = [replaced_terms(part, columns_after, known.steps) for part in new]
    inner = select._replace(distinct=False, outputs=tuple(columns), order=())
    query = Term("windowed", "", (inner.term(), Term("list", "", tuple(windows))))
    width = len(select.outputs)
    return Select(
        select.distinct,
        Term("derived", "", (source, query)),
        new[-1],
        NONE,
        TRUE,
        tuple(new[:width]),
        tuple(new[width:-1]),
    )


class _Moved:
    """Moves what a SELECT computes out of the derived table that computes its windows."""

    def __init__(
        self,
        source: Term,
        own: frozenset[Term],
        keys: tuple[Term, ...],
        columns: dict[Term, int],
        windows: list[Term],
    ) -> None:
        self.source, self.own, self.keys = source, own, keys
        self.columns, self.windows = columns, windows

    def place(self, term: Term) -> str:
        """Return the place of a column of the derived table."""
        return str(self.columns.setdefault(term, len(self.columns)))

    def read(self, term: Term, *, inside: bool = False) -> Term:
        """Return an expression over the columns of the derived table."""
        if term.op == "over" and not inside:
            return Term("col", f"w{self._window(term)}", (self.source,))
        if term.op in ("over", "star"):
            raise UnsupportedError
        if term in self.keys or (term.op == "agg" and not inside):
            return Term("col", self.place(term), (self.source,))
        if term.op in ("col", "col?", "quoted"):
            if not any(node in self.own for node in walk(term)):
                return term
            return Term("col", self.place(term), (self.source,))
        inside = inside or term.op == "select"
        return term._replace(args=tuple(self.read(arg, inside=inside) for arg in term.args))

    def _window(self, term: Term) -> int:
        operands, keys, order, frame = term.args
        if any(map(has_window, (*operands.args, *keys.args, *order.args))):
            raise UnsupportedError
        args = tuple(self._operand(one) for one in operands.args)
        partition = tuple(dict.fromkeys(self._operand(one) for one in keys.args))
        items = tuple(item._replace(args=(self._operand(item.args[0]),)) for item in order.args)
        window = Term(
            "window",
            term.name,
            (
                Term("list", "", args),
                ordered(Term("group", "", partition)),
                Term("list", "", items),
                frame,
            ),
        )
        if window not in self.windows:
            self.windows.append(window)
        return self.windows.index(window)

    def _operand(self, term: Term) -> Term:
        return term if term.op in LITERALS else Term("position", self.place(term))


def is_settled(query: Term) -> bool:
    """Say whether no window leaves open how rows that tie are numbered."""
    return all(
        is_determined(node) or node.name.endswith(IN_TOTAL_ORDER)
        for node in walk(query)
        if node.op == "window"
    )


def is_determined(window: Term) -> bool:
    """Say whether it does not matter in which order rows come that tie."""
    frame = window.args[3]
    return window.name not in _ARBITRARY and frame in (WHOLE, RUNNING)


# Steps on the windows of one query.


def simplified(query: Term, known: Known, extended: frozenset[Term], *, deep: bool) -> Term:
    """
    Bring the windows over a query to one form.

    - Constants, and what other keys determine, tell no rows of PARTITION BY or ORDER BY apart.
    - An aggregate of the whole partition has no order.
    - ``COUNT(x)`` counts rows if x is never NULL.
    - In an order without ties the ranks are the row number, and so is a running COUNT(*).
    """
    inner, windows = query.args
    if not windows.args:
        return inner
    if inner.op != "select":
        new = tuple(_shorter(window, outputs_of(inner), None) for window in windows.args)
        return query._replace(args=(inner, windows._replace(args=new)))
    select = Select.of(inner)
    rows = Rows.of(select, known, extended) if deep else None
    new = tuple(_shorter(window, select.outputs, rows) for window in windows.args)
    if rows is not None:
        new = tuple(_numbered(window, select, rows) for window in new)
        if new != windows.args:
            known.note("window in its simplest form", rows.asked)
    return query._replace(args=(inner, windows._replace(args=new)))


def _shorter(window: Term, outputs: tuple[Term, ...], rows: Rows | None) -> Term:  # noqa: C901 - one per part of OVER
    operands, keys, order, frame = window.args

    def value(term: Term) -> Term:
        return outputs[int(term.name)] if term.op == "position" else term

    kept = [key for key in keys.args if value(key).op not in LITERALS]
    items = [item for item in order.args if value(item.args[0]).op not in LITERALS]
    if rows is not None:
        for key in sorted(kept, reverse=True):
            others = [other for other in kept if other != key]
            if rows.determined(map(value, others))(value(key)):
                kept = others
        shorter: list[Term] = []
        for item in items:
            given = [*kept, *(one.args[0] for one in shorter)]
            if not rows.determined(map(value, given))(value(item.args[0])):
                shorter.append(item)
        # RANGE with a distance looks at the values of its one key
        items = shorter if frame in (WHOLE, RUNNING, BY_ROWS) else items
        counts = window.name == "agg count" and operands.args
        if counts and rows.facts.never_null(value(operands.args[0])):
            operands = Term("list")
    elif window.name == "agg count" and operands.args and value(operands.args[0]).op in LITERALS:
        operands = Term("list") if value(operands.args[0]).op != "null" else operands
    if window.name.startswith("agg"):
        if frame == RUNNING and not items:
            frame = WHOLE
        if frame == WHOLE:
            items = []
    return window._replace(
        args=(
            operands,
            ordered(Term("group", "", tuple(kept))),
            Term("list", "", tuple(items)),
            frame,
        )
    )


def _numbered(window: Term, select: Select, rows: Rows) -> Term:
    operands, keys, order, frame = window.args
    given = rows.determined(
        select.outputs[int(term.name)]
        for term in (*keys.args, *(item.args[0] for item in order.args))
        if term.op == "position"
    )
    if select.group != NONE:
        total = all(map(given, select.group.args))
    elif select.aggregates:
        total = True
    elif select.distinct:
        total = all(map(given, select.outputs))
    else:
        total = given.everything
    if not total:
        return window
    name = window.name.removesuffix(f" {IN_TOTAL_ORDER}")
    if frame == BY_ROWS:
        frame = RUNNING if order.args else WHOLE
    if name in RANKS or (name, operands.args, frame) == ("agg count", (), RUNNING):
        name, frame = "row_number", WHOLE
    if name in _ARBITRARY or frame not in (WHOLE, RUNNING):
        name = f"{name} {IN_TOTAL_ORDER}"
    return window._replace(name=name, args=(operands, keys, order, frame))


# Steps on a SELECT from a query with windows.


def _windowed(tables: Term) -> Iterator[Term]:
    """Yield the derived tables with windows, however they are joined."""
    stack = [tables]
    while stack:
        node = stack.pop()
        if node.op == "derived" and node.args[1].op == "windowed":
            yield node
        elif node.op in ("from", "left", "full"):
            stack.extend(node.args)
        elif node.op in ("arm", "side", "outer"):
            stack.append(node.args[0])


def without_unused_windows(select: Select, rows: Rows) -> Select:
    """Drop windows and columns that nothing uses: a window neither adds nor drops a row."""
    known = rows.known
    used = {node for node in walk(select.term()) if node.op == "col"}
    parts: dict[Term, Term] = {}
    new: dict[Term, Term] = {}
    for part in _windowed(select.tables):
        source, query = part.args
        inner, windows = query.args
        n = len(outputs_of(inner))
        kept = [k for k in range(len(windows.args)) if Term("col", str(n + k), (source,)) in used]
        first = {window: k for k, window in reversed([*enumerate(windows.args)])}
        alone = sorted({first[windows.args[k]] for k in kept})
        needed = {
            int(term.name)
            for k in alone
            for term in walk(windows.args[k])
            if term.op == "position"
        }
        needed |= {i for i in range(n) if Term("col", str(i), (source,)) in used}
        if inner.op != "select" or inner.name == "distinct":
            needed = set(range(n))
        outputs = outputs_of(inner)
        places = {i: min(j for j in needed if outputs[j] == outputs[i]) for i in needed}
        columns = sorted(set(places.values()))
        if len(columns) == n and len(alone) == len(windows.args):
            continue
        select_inner = Select.of(inner) if inner.op == "select" else None
        if select_inner is not None:
            narrowed = select_inner._replace(outputs=tuple(outputs[i] for i in columns))
            if select_inner.aggregates != narrowed.aggregates and select_inner.group == NONE:
                continue
            inner = narrowed.term()
        moved = {
            Term("position", str(i)): Term("position", str(columns.index(places[i])))
            for i in needed
        }
        shown = tuple(
            ordered_window(replaced_terms(windows.args[k], moved, known.steps)) for k in alone
        )
        parts[part] = Term(
            "derived", "", (source, Term("windowed", "", (inner, Term("list", "", shown))))
        )
        for i in needed:
            new[Term("col", str(i), (source,))] = Term(
                "col", str(columns.index(places[i])), (source,)
            )
        for k in kept:
            place = len(columns) + alone.index(first[windows.args[k]])
            new[Term("col", str(n + k), (source,))] = Term("col", str(place), (source,))
    if not parts:
        return select
    known.note("unused window or column dropped")
    tables = replaced_terms(select.tables, parts, known.steps)
    return Select.of(replaced(select._replace(tables=tables).term(), new, known.steps))


def ordered_window(window: Term) -> Term:
    """Put the keys of PARTITION BY in order."""
    operands, keys, order, frame = window.args
    return window._replace(args=(operands, ordered(keys), order, frame))


def filtered_before_windows(select: Select, rows: Rows) -> Select:
    """
    Filter before a window what is a condition on the keys of every PARTITION BY.

    It holds for all rows of a partition or none, so that the others keep all that they see.
    """
    known = rows.known
    parts: list[Term] = []
    where = list(conjuncts(select.where))
    moved = False
    for part in select.tables.args:
        parts.append(part)
        if part.op != "derived" or part.args[1].op != "windowed":
            continue
        source, query = part.args
        inner_query, windows = query.args
        if inner_query.op != "select" or inner_query.name == "distinct" or not windows.args:
            continue
        inner = Select.of(inner_query)
        keys = frozenset[Term].intersection(*(frozenset(w.args[1].args) for w in windows.args))
        columns = {Term("col", key.name, (source,)): inner.outputs[int(key.name)] for key in keys}
        exact = frozenset(c for c, output in columns.items() if known.exact(output))
        taken = [
            c
            for c in where
            if sources(c) == frozenset((source,))
            and not any(node.op == "select" for node in walk(c))
            and all(node in columns for node in walk(c) if node.op == "col")
            and looks_at(c, columns, exact)
        ]
        if not taken or (inner.group == NONE and inner.aggregates):
            continue
        moved = True
        where = [c for c in where if c not in taken]
        conditions = [replaced(c, columns, known.steps) for c in taken]
        if inner.group == NONE:
            both = conjunction(tuple(dict.fromkeys((*conjuncts(inner.where), *conditions))))
            inner = inner._replace(where=both)
        else:
            inner = inner._replace(having=conjunction((*conjuncts(inner.having), *conditions)))
        parts[-1] = Term("derived", "", (source, query._replace(args=(inner.term(), windows))))
    if not moved:
        return select
    known.note("filter on PARTITION BY keys before the window")
    return select._replace(tables=Term("from", "", tuple(parts)), where=conjunction(where))


def extremes_for_first_ranks(select: Select, rows: Rows) -> Select:
    """
    Read a rank that must be 1 as the test that the row has the greatest or least value.

    RANK and DENSE_RANK are 1 just where no row of the partition comes before, so that they are
    alike there.  If the order has one key that is never NULL, whose place databases differ about,
    these are the rows whose key is the MAX or MIN of the partition.
    """
    known = rows.known
    for part, source, query in derived_tables(select, "windowed"):
        inner, windows = query.args
        n = len(outputs_of(inner))
        for k, window in enumerate(windows.args):
            name = window.name.removesuffix(f" {IN_TOTAL_ORDER}")
            if name not in RANKS or (name == "row_number" and name == window.name):
                continue
            column = Term("col", str(n + k), (source,))
            tests = [c for c in conjuncts(select.where) if column in walk(c)]
            others = (*(p for p in select.tables.args if p is not part), *select.outputs)
            rest = (*others, *select.order, *select.group.args, select.having)
            if len(tests) != 1 or any(column in walk(one) for one in rest):
                continue
            first = Term("le", "", (column, Term("int", "1")))
            facts = rows.with_only(()).facts
            if not (facts.entails(tests[0], first) and facts.entails(first, tests[0])):
                continue
            changed = _extreme(window, inner, known, rows)
            if changed is None:
                if name != "dense_rank":
                    continue
                changed, test = window._replace(name="rank"), tests[0]
            else:
                order = window.args[2].args[0]
                key = Term("col", order.args[0].name, (source,))
                test = Term("eq", "", (key, column))
            known.note("first rank as the extreme of the partition", rows.asked)
            shown = (*windows.args[:k], changed, *windows.args[k + 1 :])
            new = Term(
                "derived", "", (source, query._replace(args=(inner, windows._replace(args=shown))))
            )
            where = [test if c == tests[0] else c for c in conjuncts(select.where)]
            tables = tuple(new if p is part else p for p in select.tables.args)
            return select._replace(tables=Term("from", "", tables), where=conjunction(where))
    return select


def _extreme(window: Term, inner: Term, known: Known, around: Rows) -> Term | None:
    """Return the MAX or MIN that the first row of a window has."""
    _, keys, order, _ = window.args
    if len(order.args) != 1 or inner.op != "select":
        return None
    (item,) = order.args
    select = Select.of(inner)
    inside = Rows.of(select, known, around.extended)
    inside.asked = around.asked
    if item.args[0].op != "position":
        return None
    value = select.outputs[int(item.args[0].name)]
    if known.kind(value) not in _KINDS:
        return None
    if has_aggregate(value) and not (value.op == "agg" and value.name.startswith("count")):
        return None
    if not inside.facts.never_null(value):
        return None
    name = "agg max" if item.name.startswith("desc") else "agg min"
    return Term("window", name, (Term("list", "", item.args), keys, Term("list"), WHOLE))


def groups_for_windows(select: Select, rows: Rows) -> Select:
    """
    Join what is aggregated by the keys of a partition instead of computing a window.

    Each row of the query is in just one group of the same rows.  NULL is a group too, so that
    keys that may be NULL are compared as GROUP BY compares them.
    """
    known = rows.known
    if not known.joining:
        return select
    for part, source, query in derived_tables(select, "windowed"):
        inner, windows = query.args
        if inner.op != "select":
            continue
        n = len(outputs_of(inner))
        chosen = [
            k
            for k, w in enumerate(windows.args)
            if w.name.startswith("agg") and w.args[3] == WHOLE
        ]
        if not chosen:
            continue
        keys = windows.args[chosen[0]].args[1].args
        chosen = [k for k in chosen if windows.args[k].args[1].args == keys]
        grouped = known.fresh()
        group = _by_partition(inner, [windows.args[k] for k in chosen], known)
        inside = Rows.of(Select.of(inner), known, rows.extended)
        inside.asked = rows.asked
        conditions = list(conjuncts(select.where))
        for i, key in enumerate(keys):
            mine, theirs = _column(key, source), Term("col", str(i), (grouped,))
            equal = Term("eq", "", (mine, theirs))
            if not inside.facts.never_null(outputs_of(inner)[int(key.name)]):
                nulls = tuple(Term("isnull", "", (one,)) for one in (mine, theirs))
                equal = Term("or", "", (equal, Term("and", "", nulls)))
            conditions.append(equal)
        new: dict[Term, Term] = {}
        left = [k for k in range(len(windows.args)) if k not in chosen]
        for place, k in enumerate(chosen):
            new[Term("col", str(n + k), (source,))] = Term(
                "col", str(len(keys) + place), (grouped,)
            )
        for place, k in enumerate(left):
            new[Term("col", str(n + k), (source,))] = Term("col", str(n + place), (source,))
        rest = Term("list", "", tuple(windows.args[k] for k in left))
        base = inner if not left else query._replace(args=(inner, rest))
        tables = [p for p in select.tables.args if p is not part]
        tables.append(Term("derived", "", (grouped, group.term())))
        known.note("window as a join with groups", rows.asked)
        whole = select._replace(tables=NONE, where=conjunction(tuple(conditions)))
        moved = Select.of(replaced(whole.term(), new, known.steps))
        below = Select.of(inner)
        if left or not below.plain:
            tables.append(Term("derived", "", (source, base)))
        else:
            new = {Term("col", str(i), (source,)): out for i, out in enumerate(below.outputs)}
            moved = Select.of(replaced(moved.term(), new, known.steps))
            both = (*conjuncts(moved.where), *conjuncts(below.where))
            moved = moved._replace(where=conjunction(both))
            tables.extend(below.tables.args)
        return moved._replace(tables=Term("from", "", tuple(tables)))
    return select


def _column(operand: Term, source: Term) -> Term:
    """Return an operand of a window as a column of a derived table."""
    return Term("col", operand.name, (source,)) if operand.op == "position" else operand


def _by_partition(inner: Term, windows: Sequence[Term], known: Known) -> Select:
    """Return what windows with the same keys aggregate, over a copy of *inner*."""
    copied = known.fresh()
    defined = [node.args[0] for node in walk(inner) if node.op in ("table", "derived")]
    copy = replaced(inner, {one: known.fresh(one) for one in defined}, known.steps)
    by = tuple(_column(key, copied) for key in windows[0].args[1].args)
    aggregates = [
        Term(
            "agg",
            window.name.removeprefix("agg "),
            tuple(_column(one, copied) for one in window.args[0].args),
        )
        for window in windows
    ]
    group = Select(
        distinct=False,
        tables=Term("from", "", (Term("derived", "", (copied, copy)),)),
        where=TRUE,
        group=ordered(Term("group", "", by)) if by else NONE,
        having=TRUE,
        outputs=(*by, *aggregates),
    )
    plain = Select.of(copy)
    if plain.plain and not plain.order:
        values = {Term("col", str(i), (copied,)): out for i, out in enumerate(plain.outputs)}
        group = Select.of(replaced(group.term(), values, known.steps))
        group = group._replace(tables=plain.tables, where=plain.where)
    return group


def groups_for_distinct_windows(select: Select, rows: Rows) -> Select:  # noqa: PLR0911 - one per guard
    """
    Group by the keys of a partition where DISTINCT shows but these and what is aggregated.

    All rows of a partition are then alike, and of each partition one is kept.
    """
    known = rows.known
    if not select.distinct or select.group != NONE or select.aggregates:
        return select
    if len(select.tables.args) != 1 or select.tables.args[0].op != "derived":
        return select
    source, query = select.tables.args[0].args
    if query.op != "windowed" or not query.args[1].args:
        return select
    inner, windows = query.args
    n = len(outputs_of(inner))
    keys = windows.args[0].args[1]
    if not all(
        w.name.startswith("agg") and w.args[3] == WHOLE and w.args[1] == keys for w in windows.args
    ):
        return select

    by = tuple(_column(key, source) for key in keys.args)
    new = {
        Term("col", str(n + k), (source,)): Term(
            "agg",
            w.name.removeprefix("agg "),
            tuple(_column(one, source) for one in w.args[0].args),
        )
        for k, w in enumerate(windows.args)
    }
    parts = (select.where, *select.outputs, *select.order)
    shown = frozenset((*by, *new))
    if any(node.op in ("select", "star") for part in parts for node in walk(part)):
        return select
    if any(node not in shown for part in parts for node in walk(part) if node.op == "col"):
        return select
    exact = frozenset(one for one in by if known.exact(one)) | new.keys()
    if not all(looks_at(part, shown, exact) for part in parts):
        return select
    known.note("DISTINCT over windows to GROUP BY", rows.asked)

    def read(term: Term) -> Term:
        return replaced(term, new, known.steps)

    return select._replace(
        tables=Term("from", "", (Term("derived", "", (source, inner)),)),
        where=TRUE,
        group=ordered(Term("group", "", by or (NULL,))),
        having=read(select.where),
        outputs=tuple(map(read, select.outputs)),
        order=tuple(map(read, select.order)),
    )


# Matching.


def same_windows(
    first: Term, second: Term, columns: tuple[frozenset[int], ...]
) -> tuple[frozenset[int], ...]:
    """Return for each window of *second* those of *first* that are the same in each row."""
    inner, windows = first.args
    n = len(outputs_of(inner))
    return tuple(
        frozenset(n + k for k, mine in enumerate(windows.args) if _alike(mine, other, columns))
        for other in second.args[1].args
    )


def _alike(mine: Term, other: Term, columns: tuple[frozenset[int], ...]) -> bool:
    def same(one: Term, two: Term) -> bool:
        if one.op == two.op == "position":
            return int(one.name) in columns[int(two.name)]
        return one == two

    def paired(ours: Iterable[Term], theirs: Iterable[Term]) -> bool:
        ours, theirs = tuple(ours), tuple(theirs)
        return len(ours) == len(theirs) and all(map(same, ours, theirs))

    (args, keys, order, frame), (others, by, items, within) = mine.args, other.args
    return (
        mine.name == other.name
        and frame == within
        and paired(args.args, others.args)
        and all(any(same(key, one) for one in by.args) for key in keys.args)
        and all(any(same(key, one) for key in keys.args) for one in by.args)
        and [item.name for item in order.args] == [item.name for item in items.args]
        and paired((i.args[0] for i in order.args), (i.args[0] for i in items.args))
    )
