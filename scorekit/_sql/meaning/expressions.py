"""Expressions: what each computes, or that it is only equal to one written alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

import attrs
from sqlglot import exp

from scorekit._sql.databases.kinds import kind_of
from scorekit._sql.meaning.conditions import COMPARISONS, ConditionReader
from scorekit._sql.meaning.moments import moved
from scorekit._sql.meaning.names import ROW_CLAUSES, Ctes, NameScope, Resolver
from scorekit._sql.meaning.notes import NamedQuery, Notes
from scorekit._sql.meaning.syntax import (
    InvalidError,
    RefusedError,
    UnreadError,
    chain_of,
    check_arguments,
    literal_of,
    order_item,
    ordered_nodes,
    parts_of,
    type_name,
)
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    TRUE,
    Aggregate,
    And,
    Arithmetic,
    Case,
    Cast,
    Comparison,
    Exists,
    Function,
    Literal,
    Negative,
    Not,
    Or,
    Over,
    Query,
    Scalar,
    ScalarQuery,
    When,
    Window,
    has_aggregate,
    integer,
)
from scorekit._sql.meaning.windows import WINDOW_FUNCTIONS, frame_of, window_operands
from scorekit._sql.text.dialect_neutral import ask

ONE_MOMENT: Final = "both queries are run at one moment"


_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
}  # fmt: skip


_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip


_PLUS_IS_SUM = frozenset({"sqlite", "mysql", "postgres", "duckdb", "bigquery"})
"""Dialects in which + does not join texts."""


_PURE = (
    exp.IntDiv, exp.DPipe, exp.Upper, exp.Lower, exp.Length, exp.Abs, exp.Coalesce, exp.Nullif,
    exp.Round, exp.Floor, exp.Ceil, exp.Substring, exp.Trim, exp.Concat, exp.Replace, exp.Like,
    exp.ILike, exp.Escape, exp.Glob, exp.Cast, exp.DataType, exp.Is, exp.In, exp.Distinct,
    exp.Between, exp.Filter, exp.Where, exp.Extract, exp.Var, exp.Least, exp.Greatest,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Tuple, exp.BitwiseAnd, exp.BitwiseOr,
    exp.DataTypeParam, exp.Year, exp.Month, exp.Day, exp.StrPosition, exp.EQ, exp.NEQ, exp.LT,
    exp.LTE, exp.GT, exp.GTE, exp.Min, exp.Max, exp.Right, exp.TimestampTrunc,
)  # fmt: skip


_OPAQUE = (exp.Lambda, exp.Lateral, exp.Unnest, exp.Table, exp.Values, exp.Command, exp.Identifier)


_WITHOUT_VALUE = (
    exp.Distinct, exp.DataType, exp.DataTypeParam, exp.Where, exp.Order, exp.Ordered,
    exp.WindowSpec, exp.Tuple, exp.Interval, exp.Any, exp.All,
)  # fmt: skip


_PLAIN = (
    exp.Literal, exp.Null, exp.Boolean, exp.And, exp.Or, exp.Not, exp.Neg, exp.Add, exp.Mul,
    exp.Sub, exp.Mod, exp.Between, exp.Case, exp.If, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT,
    exp.GTE,
)  # fmt: skip


_OPERANDS = (
    "this", "expression", "is_string", "low", "high", "symmetric", "ifs", "default", "true",
    "false",
)  # fmt: skip


_CLOCKS = frozenset({"date", "time", "datetime", "julianday", "strftime", "unixepoch"})
"""SQLite's functions of times, all of which stand still while a query is run."""


_OF_TIMES = (exp.TimeToStr, exp.TsOrDsToTimestamp, exp.TsOrDsToDate, exp.Date)


_ZONES = frozenset({"localtime", "utc"})


def of_given_time(node: exp.Expr) -> bool:
    """Say whether a function of a time looks at no clock, as SQLite's do for ``'now'``."""
    if not isinstance(node, _OF_TIMES):
        return False
    texts = [literal.this.lower() for literal in node.find_all(exp.Literal)]
    return "now" not in texts and node.find(exp.Column) is not None


def of_one_moment(node: exp.Expr) -> bool:
    """Say whether the value of a function of times is given by the time of day, in SQLite."""
    if isinstance(node, (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)):
        return not parts_of(node)
    if isinstance(node, exp.Anonymous):
        if str(node.this).lower() not in _CLOCKS:
            return False
    elif not isinstance(node, _OF_TIMES):
        return False
    return _ZONES.isdisjoint(text.this.lower() for text in node.find_all(exp.Literal))


class ExpressionReader:
    """Reads the expressions of one query."""

    def __init__(
        self,
        notes: Notes,
        names: Resolver,
        query: Callable[[exp.Expr, NameScope | None, Ctes], NamedQuery],
    ) -> None:
        self._notes, self._names, self._query = notes, names, query
        self._dialect = notes.dialect
        self._conditions = ConditionReader(notes, self.value, self.inner, self.function)

    def value(self, node: exp.Expr, scope: NameScope) -> Scalar:
        """Return an expression."""
        self._notes.count()
        found = self._value(node, scope)
        self._notes.values.setdefault(id(node), []).append(found)
        return found

    def _value(self, node: exp.Expr, scope: NameScope) -> Scalar:  # noqa: C901, PLR0911, PLR0912 - a branch per kind of node
        if isinstance(node, exp.Column):
            return self._names.column(node, scope)
        if isinstance(node, exp.Paren):
            check_arguments(node, "this")
            return self.value(node.this, scope)
        if isinstance(node, _PLAIN):
            check_arguments(node, *_OPERANDS)
        if isinstance(node, (exp.Literal, exp.Null, exp.Boolean)):
            return self._constant(node)
        if isinstance(node, (exp.And, exp.Or)):
            parts = tuple(self.value(part, scope) for part in chain_of(node))
            return And(parts) if isinstance(node, exp.And) else Or(parts)
        if isinstance(node, exp.Not):
            return Not(self.value(node.this, scope))
        if type(node) in COMPARISONS:
            return self._conditions.comparison(node, scope)
        if isinstance(node, exp.Neg):
            operand = self.value(node.this, scope)
            if isinstance(operand, Literal) and operand.kind == "integer" and operand.text > "0":
                return Literal("integer", f"-{operand.text}")
            return Negative(operand)
        if type(node) in _ARITHMETIC:
            return self._arithmetic(node, scope)
        if type(node) is exp.Cast and not {*parts_of(node)} - {"this", "to"}:
            to: exp.Expr = node.args["to"]
            name, plain = type_name(to), not {*parts_of(to)} - {"this", "expressions"}
            kind = kind_of(name.partition("(")[0]) if plain else "unknown"
            return Cast(self.value(node.this, scope), kind, name)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self._conditions.null_test(node, scope)
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            return self._conditions.between(node, scope)
        if isinstance(node, exp.In):
            return self._conditions.membership(node, scope)
        if isinstance(node, exp.Exists):
            check_arguments(node, "this")
            return Exists(self.inner(node.this, scope))
        if isinstance(node, (exp.Subquery, exp.Select, exp.SetOperation)):
            return ScalarQuery(self.inner(node, scope, width=1))
        if isinstance(node, (exp.Case, exp.If)):
            return self._case(node, scope)
        if type(node) in _AGGREGATES and not (
            isinstance(node, (exp.Min, exp.Max)) and node.expressions
        ):
            return self._aggregate(node, scope)
        if isinstance(node, exp.Filter) and type(node.this) in _AGGREGATES:
            return self._filtered(node, scope)
        if isinstance(node, exp.Window):
            return self._window(node, scope)
        if isinstance(node, (exp.Like, exp.ILike, exp.Glob, exp.Escape)):
            return self._conditions.like(node, scope)
        if isinstance(node, exp.Left) and isinstance(node.expression, exp.Literal):
            this, length = self.value(node.this, scope), self.value(node.expression, scope)
            return Function("substring", (this, integer(1), length))
        return self.function(node, scope)

    def _constant(self, node: exp.Expr) -> Scalar:
        if isinstance(node, exp.Literal):
            empty = node.is_string and not node.this and self._dialect == "oracle"
            return NULL if empty else literal_of(node)
        return (TRUE if node.this else FALSE) if isinstance(node, exp.Boolean) else NULL

    def inner(self, tree: exp.Expr, scope: NameScope, *, width: int | None = None) -> Query:
        """Read a query inside of an expression, which must have *width* columns if it is given."""
        query = self._query(tree, scope, scope.ctes).query
        if width is not None and len(query.outputs) != width:
            error = UnreadError if tree.find(exp.Star) else InvalidError
            raise error("a subquery has more or fewer columns than it may")
        return query

    def _arithmetic(self, node: exp.Expr, scope: NameScope) -> Scalar:
        left, right = self.value(node.this, scope), self.value(node.expression, scope)
        operator = _ARITHMETIC[type(node)]
        computed = moved(operator, left, right) if self._dialect == "postgres" else None
        if computed is not None:
            return computed
        if operator == "+" and not (self._is_number(left) or self._is_number(right)):
            operator = ask(self._dialect, lambda one: "+" if one in _PLUS_IS_SUM else "+?")
        return Arithmetic(operator, left, right)

    def _is_number(self, value: Scalar) -> bool:
        if isinstance(value, Literal):
            return value.kind in ("integer", "number")
        if isinstance(value, Arithmetic):
            return value.operator in "+*"
        return self._notes.catalog.kind(value) in ("integer", "natural", "number", "real")

    def _case(self, node: exp.Case | exp.If, scope: NameScope) -> Scalar:
        if isinstance(node, exp.If):
            ifs, operand, default = [node], None, node.args.get("false")
        else:
            ifs, operand, default = node.args["ifs"], node.this, node.args.get("default")
        whens: list[When] = []
        for branch in ifs:
            condition = self.value(branch.this, scope)
            if operand is not None:
                condition = Comparison("=", self.value(operand, scope), condition)
            whens.append(When(condition, self.value(branch.args["true"], scope)))
        return Case(tuple(whens), self.value(default, scope) if default is not None else NULL)

    def _aggregate(self, node: exp.Expr, scope: NameScope) -> Scalar:
        if {*parts_of(node)} - {"this", "expressions", "big_int"} or node.expressions:
            raise UnreadError(f"{type(node).__name__} of several values")
        name, this, distinct = _AGGREGATES[type(node)], node.this, False
        if this is None and name == "count" and self._dialect in ("sqlite", "duckdb"):
            return Aggregate(name)
        if isinstance(this, exp.Star):
            check_arguments(this)
            if name != "count":
                raise UnreadError(f"{name} of a star")
            return Aggregate(name)
        if isinstance(this, exp.Distinct):
            check_arguments(this, "expressions")
            if len(this.expressions) != 1:
                raise UnreadError(f"{name} of several values")
            distinct, this = True, this.expressions[0]
        operand = self.value(cast("exp.Expr", this), scope)
        used = operand.sources
        if used and used.isdisjoint(table.source for table in scope.tables):
            around = node.parent_select and node.parent_select.find_ancestor(
                *ROW_CLAUSES, exp.Select
            )
            is_refused = isinstance(around, ROW_CLAUSES) and self._dialect != "mysql"
            error = RefusedError if is_refused else UnreadError
            raise error("an aggregate of an outer query")
        if has_aggregate(operand) and not isinstance(node.parent, exp.Window):
            raise InvalidError("an aggregate of another aggregate")
        return Aggregate(name, operand, distinct)

    def _filtered(self, node: exp.Filter, scope: NameScope) -> Scalar:
        """``SUM(x) FILTER (WHERE p)`` is ``SUM(CASE WHEN p THEN x END)``: NULLs are not summed."""
        found = self.value(node.this, scope)
        condition = self.value(node.expression.this, scope)
        if not isinstance(found, Aggregate) or has_aggregate(condition):
            raise UnreadError("FILTER of what is no aggregate")
        value = found.operand or integer(1)
        return attrs.evolve(found, operand=Case((When(condition, value),)))

    def function(self, node: exp.Expr, scope: NameScope) -> Function:
        """Read a node whose meaning is not looked into: equal only to one written alike."""
        self._notes.count()
        if isinstance(node, _OPAQUE):
            raise UnreadError(f"{type(node).__name__} in an expression")
        certain = isinstance(node, _PURE) or of_given_time(node)
        if not certain and self._dialect == "sqlite" and of_one_moment(node):
            self._notes.assumptions.add(ONE_MOMENT)
            certain = True
        operands: list[Scalar] = []
        form: list[str] = []
        keys = list(type(node).arg_types)
        several = False
        for place, key in enumerate(keys):
            value = node.args.get(key)
            if isinstance(value, (exp.Identifier, exp.Var)):
                form.append(f"{key}={value.this}")
            elif isinstance(value, exp.Expr) or (isinstance(value, list) and value):
                parts = cast("list[object]", value) if isinstance(value, list) else [value]
                nodes = [part for part in parts if isinstance(part, exp.Expr)]
                if len(nodes) < len(parts):
                    raise UnreadError(f"{key} of {type(node).__name__} is not known")
                if several or any(not node.args.get(before) for before in keys[:place]):
                    form.append(f"{key}*{len(nodes)}")  # its place alone is not enough
                several = several or isinstance(value, list)
                operands += [self._operand(part, scope) for part in nodes]
            elif value not in (None, False, []):
                form.append(
                    f"{key}={str(cast('object', value)).lower() if key == 'this' else value}"
                )
        if {*parts_of(node)} - {*keys}:
            raise UnreadError(f"{type(node).__name__} says more than is known")
        return Function(type(node).__name__.lower(), tuple(operands), " ".join(form), certain)

    def _operand(self, node: exp.Expr, scope: NameScope) -> Scalar:
        if isinstance(node, (exp.Identifier, exp.Var)):
            return Function("word", (), str(node.this))
        if isinstance(node, _WITHOUT_VALUE):
            return self.function(node, scope)
        return self.value(node, scope)

    def _window(self, node: exp.Window, scope: NameScope) -> Scalar:
        """Read a window function with its PARTITION BY, ORDER BY and frame."""
        check_arguments(node, "this", "partition_by", "order", "spec", "over")
        keys = tuple(self.value(key, scope) for key in node.args.get("partition_by") or ())
        items = tuple(
            order_item(item, self.value(item.this, scope)) for item in ordered_nodes(node)
        )
        function: exp.Expr = node.this
        distinct = False
        operands: tuple[Scalar, ...]
        name = WINDOW_FUNCTIONS.get(type(function))
        if name is not None:
            operands = tuple(self.value(one, scope) for one in window_operands(function))
        else:
            found = self.value(function, scope)
            if not isinstance(found, Aggregate):
                raise UnreadError(f"{type(function).__name__} is no window function that is known")
            name, distinct = found.function, found.distinct
            operands = () if found.operand is None else (found.operand,)
        frame = frame_of(node.args.get("spec"), name, in_order=bool(items))
        return Over(Window(name, operands, keys, items, frame, distinct))
