"""Window functions: what they see, and the derived table that computes them."""

from __future__ import annotations

from typing import Final, TypeVar, cast

import attrs
from sqlglot import exp

from scorekit._sql.meaning.notes import Notes
from scorekit._sql.meaning.syntax import InvalidError, UnreadError, check_arguments
from scorekit._sql.meaning.tree import (
    RUNNING,
    WHOLE,
    Aggregate,
    Column,
    Derived,
    Frame,
    Literal,
    Node,
    OpenName,
    OrderItem,
    Over,
    Place,
    Query,
    Scalar,
    Select,
    Source,
    Star,
    Window,
    Windowed,
    defined_in,
    free_sources,
    local_sources,
    replaced,
    sorted_nodes,
)


def has_window(node: Node) -> bool:
    if isinstance(node, Over):
        return True
    return not isinstance(node, Query) and any(map(has_window, node.children))


def isolated(
    select: Select, items: tuple[OrderItem, ...], kept: Scalar, notes: Notes
) -> tuple[Select, tuple[OrderItem, ...]]:
    """
    Return a SELECT with window functions as one over a derived table that has them as columns.

    *kept* is what QUALIFY says.  Windows see the rows after WHERE, GROUP BY and HAVING, and
    before DISTINCT and ORDER BY.
    """
    if any(map(has_window, (select.where, select.having, *(select.keys or ())))):
        raise InvalidError("a window function in WHERE, GROUP BY or HAVING")
    whole = (select, kept, *items)
    if not frozenset[Source]().union(*map(free_sources, whole)) <= defined_in(select):
        raise UnreadError("a window function in a subquery that names columns around it")
    moved = _MovedColumns(notes.source(), select)
    outputs = [moved.read(output) for output in select.outputs]
    order = [moved.read(item) for item in items]
    where = moved.read(kept)
    n = len(moved.columns)
    new = {
        Column(moved.source, f"w{k}"): Column(moved.source, str(n + k))
        for k in range(len(moved.windows))
    }
    inner = attrs.evolve(select, distinct=False, outputs=tuple(moved.columns))
    query = Windowed(inner, tuple(moved.windows))
    notes.catalog.derived[moved.source] = query
    outer = Select(
        (Derived(moved.source, query),),
        replaced(where, new),
        outputs=tuple(replaced(output, new) for output in outputs),
        distinct=select.distinct,
    )
    return outer, tuple(replaced(item, new) for item in order)


_N = TypeVar("_N", bound=Node)


class _MovedColumns:
    """Moves what a SELECT computes out of the derived table that computes its windows."""

    def __init__(self, source: Source, select: Select) -> None:
        self.source, self._own = source, frozenset(local_sources(select.tables))
        self._keys = select.keys or ()
        self.columns: dict[Scalar, int] = {}
        self.windows: list[Window] = []

    def _place(self, value: Scalar) -> int:
        return self.columns.setdefault(value, len(self.columns))

    def read(self, node: _N, *, inside: bool = False) -> _N:
        """Return an expression over the columns of the derived table."""
        return cast("_N", self._read(node, inside=inside))

    def _read(self, node: Node, *, inside: bool) -> Node:
        if isinstance(node, Over) and not inside:
            return Column(self.source, f"w{self._window(node.window)}")
        if isinstance(node, (Over, Star)):
            raise UnreadError("a star beside a window function, or a window inside another")
        if node in self._keys or (isinstance(node, Aggregate) and not inside):
            return Column(self.source, str(self._place(cast("Scalar", node))))
        if isinstance(node, (Column, OpenName)):
            if node.sources.isdisjoint(self._own):
                return node
            return Column(self.source, str(self._place(node)))
        if not node.children:
            return node
        inside = inside or isinstance(node, Query)
        return node.with_children([self._read(child, inside=inside) for child in node.children])

    def _window(self, window: Window) -> int:
        if any(map(has_window, window.children)):
            raise UnreadError("a window function inside another")
        found = attrs.evolve(
            window,
            operands=tuple(map(self._operand, window.operands)),
            keys=sorted_nodes(dict.fromkeys(map(self._operand, window.keys))),
            items=tuple(
                attrs.evolve(item, value=self._operand(item.value)) for item in window.items
            ),
        )
        if found not in self.windows:
            self.windows.append(found)
        return self.windows.index(found)

    def _operand(self, value: Scalar) -> Scalar:
        return value if isinstance(value, Literal) else Place(self._place(value))


WINDOW_FUNCTIONS: Final[dict[type[exp.Expr], str]] = {
    exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank", exp.CumeDist: "cume_dist", exp.Ntile: "ntile",
    exp.Lag: "lag", exp.Lead: "lead", exp.FirstValue: "first_value",
    exp.LastValue: "last_value", exp.NthValue: "nth_value",
}  # fmt: skip


_FRAMED: Final = frozenset({"first_value", "last_value", "nth_value"})


def window_operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a window function that is no aggregate, in their order."""
    keys = ("this", "offset", "default")
    check_arguments(node, *keys)
    found = [node.args[key] for key in keys if node.args.get(key)]
    if not all(isinstance(one, exp.Expr) for one in found):
        raise UnreadError(f"{type(node).__name__} of what is no value")
    if isinstance(node, (exp.Lag, exp.Lead)) and len(found) == 1:
        found.append(exp.Literal.number(1))
    return found


def frame_of(spec: exp.Expr | None, name: str, *, in_order: bool) -> Frame:
    """
    Return the rows of a partition that a function sees.

    Those that rank, and LAG and LEAD, see the partition whatever is written.  Without a frame it
    is that up to the current row and those that tie with it; without an order all rows tie.
    """
    if name not in _FRAMED and name in WINDOW_FUNCTIONS.values():
        return WHOLE
    if spec is None:
        return RUNNING if in_order else WHOLE
    check_arguments(spec, "kind", "start", "start_side", "end", "end_side")
    unit = str(spec.args.get("kind") or "RANGE").lower()
    start = _distance(spec.args.get("start"), spec.args.get("start_side"))
    end = _distance(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"))
    if unit not in ("rows", "range") or start == _UNBOUNDED[1] or end == _UNBOUNDED[0]:
        raise UnreadError("a frame of a window that is not known")
    low = None if start == _UNBOUNDED[0] else int(start)
    high = None if end == _UNBOUNDED[1] else int(end)
    if low is None and high is None:
        return WHOLE
    if unit == "range" and not in_order and low in (None, 0) and high in (None, 0):
        return WHOLE
    return Frame(unit, low, high)


_UNBOUNDED: Final = ("unbounded preceding", "unbounded following")


def _distance(value: object, side: object) -> str:
    text = f"{value} {side or ''}".strip().lower() if isinstance(value, str) else ""
    if text in _UNBOUNDED:
        return text
    if text == "current row":
        return "0"
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return f"{'-' * (str(side).upper() == 'PRECEDING')}{int(value.this)}"
    raise UnreadError("a frame of a window that is not known")
