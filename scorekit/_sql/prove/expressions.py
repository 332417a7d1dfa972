"""From the syntax tree of an expression to a term."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias, cast

import attrs
from sqlglot import exp

from scorekit._sql.prove.names import Ctes, Names, Scope
from scorekit._sql.prove.terms import (
    NONE,
    NULL,
    Select,
    Term,
    UnsupportedError,
    has_aggregate,
    outputs_of,
    sources,
)
from scorekit._sql.prove.trees import check_parts, parts_of
from scorekit._sql.prove.windows import frame_of, function_of, is_determined, operands_of


class Query(NamedTuple):
    """A query whose names are resolved, with the names of its outputs."""

    term: Term
    names: tuple[str, ...]
    order: tuple[Term, ...] = ()


ReadQuery: TypeAlias = Callable[[exp.Expr, "Scope | None", Ctes], Query]
"""Reads a query inside of another: its tree, the scope around it and what WITH defines there."""


@attrs.define
class Findings:
    """What reading a query brings to light beside its term."""

    determined: bool
    """Whether the tables alone decide the rows: no LIMIT, no clock, no unknown function."""
    conditional: bool = False
    """Whether that hangs on keys, as for LIMIT, or a subquery that must find one row."""
    bare: bool = False
    """Whether a column is neither grouped by nor aggregated, as far as one table's keys say."""
    orders: list[tuple[Term, ...]] = attrs.Factory(list[tuple[Term, ...]])
    """Every ORDER BY, also those that do not matter where the rows are determined."""
    shared: list[tuple[Term, Term]] = attrs.Factory(list[tuple[Term, Term]])
    """Tables that are the same common table expression as one before them: where the rows are
    not determined, both have the same."""


# Functions of their operands alone, in every dialect.
_PURE = (
    exp.Sub, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Upper, exp.Lower, exp.Length,
    exp.Abs, exp.Coalesce, exp.Nullif, exp.Round, exp.Floor, exp.Ceil, exp.Substring, exp.Trim,
    exp.Concat, exp.Replace, exp.Like, exp.ILike, exp.Escape, exp.Glob, exp.Cast, exp.DataType,
    exp.Is, exp.In, exp.Distinct, exp.Between, exp.Filter, exp.Where, exp.Extract, exp.Var,
    exp.Least, exp.Greatest, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Tuple, exp.BitwiseAnd,
    exp.BitwiseOr, exp.DataTypeParam, exp.Year, exp.Month, exp.Day, exp.StrPosition,
)  # fmt: skip

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}

_COMPARISON_OPS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge",
}  # fmt: skip


_NOT_A_NUMBER = frozenset({"bigquery", "clickhouse", "presto", "trino", "athena", "dune"})
"""Dialects in which NaN is neither less, equal nor greater."""

_PLUS_IS_SUM = frozenset({"sqlite", "mysql", "postgres", "duckdb", "bigquery"})
"""Dialects in which + does not join texts."""

_OPAQUE = (exp.Lambda, exp.Lateral, exp.Unnest, exp.Table, exp.Values, exp.Command, exp.Identifier)

_WITHOUT_VALUE = (
    exp.Distinct, exp.DataType, exp.DataTypeParam, exp.Where, exp.Order, exp.Ordered,
    exp.WindowSpec, exp.Tuple, exp.Interval, exp.Any, exp.All,
)  # fmt: skip

_PLAIN = (
    exp.Literal, exp.Null, exp.Boolean, exp.And, exp.Or, exp.Not, exp.Neg, exp.Add, exp.Mul,
    exp.Between, exp.Case, exp.If, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE,
)  # fmt: skip

_OPERANDS = frozenset(
    {"this", "expression", "is_string", "low", "high", "symmetric", "ifs", "default"}
    | {"true", "false"}
)

_OPS: dict[type[exp.Expr], str] = {exp.Like: "like", exp.ILike: "like", exp.Glob: "like"}

_WINDOW_PARTS = frozenset({"this", "partition_by", "order", "spec", "alias", "over"})

_MEMBERSHIPS = ((exp.EQ, exp.Any), (exp.NEQ, exp.All))

_INT_DIGITS = 18

NO_ROW_VALUES: Final = "no column holds a row of several values"

ONE_MOMENT: Final = "both queries are run at one moment"

_CLOCKS = frozenset({"date", "time", "datetime", "julianday", "strftime", "unixepoch"})
"""SQLite's functions of times, all of which stand still while a query is run."""

_ZONES = frozenset({"localtime", "utc"})


class ExpressionReader:
    """Reads expressions; the queries in them are read by *read_query*."""

    def __init__(self, names: Names, findings: Findings, read_query: ReadQuery) -> None:
        self._names, self._findings, self._read_query = names, findings, read_query
        self._known, self._dialect = names.known, names.dialect

    def read(self, node: exp.Expr, scope: Scope) -> Term:  # noqa: C901, PLR0911, PLR0912 - a branch per kind of node
        """Return an expression as a term."""
        self._known.steps.take()
        if isinstance(node, exp.Column):
            return self._names.column(node, scope)
        if isinstance(node, exp.Paren):
            check_parts(node, frozenset({"this"}))
            return self.read(node.this, scope)
        if isinstance(node, _PLAIN):
            check_parts(node, _OPERANDS)
        if isinstance(node, exp.Literal):
            empty = node.is_string and not node.this and self._dialect == "oracle"
            return NULL if empty else _literal(node)
        if isinstance(node, exp.Null):
            return NULL
        if isinstance(node, exp.Boolean):
            return Term("true" if node.this else "false")
        if isinstance(node, (exp.And, exp.Or)):
            op = "and" if isinstance(node, exp.And) else "or"
            parts = [self.read(part, scope) for part in _chain(node)]
            return Term(op, "", tuple(parts))
        if isinstance(node, exp.Not):
            return Term("not", "", (self.read(node.this, scope),))
        if type(node) in _COMPARISON_OPS:
            return self._comparison(node, scope)
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
            number = _literal(node.this)
            if number.op == "int" and number.name != "0":
                return Term("int", f"-{number.name}")
        if isinstance(node, (exp.Add, exp.Mul)):
            operands = (self.read(node.this, scope), self.read(node.expression, scope))
            commutes = (
                isinstance(node, exp.Mul)
                or self._dialect in _PLUS_IS_SUM
                or any(self._is_number(operand) for operand in operands)
            )
            return Term(type(node).__name__.lower() if commutes else "plus", "", operands)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self._null_test(node, scope)
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            this, low, high = (self.read(node.args[key], scope) for key in ("this", "low", "high"))
            if self._dialect in _NOT_A_NUMBER and self._known.kind(this) in ("real", "unknown"):
                return self.generic(node, scope)
            return Term("between", "", (this, low, high))
        if isinstance(node, exp.In):
            return self._in(node, scope)
        if isinstance(node, exp.Exists):
            check_parts(node, frozenset({"this"}))
            return Term("exists", "", (self._query(node.this, scope),))
        if isinstance(node, (exp.Subquery, exp.Select, exp.SetOperation)):
            return self._scalar(node, scope)
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
        return self.generic(node, scope)

    def _window(self, node: exp.Window, scope: Scope) -> Term:
        """Read a window function with its PARTITION BY, ORDER BY and frame."""
        check_parts(node, _WINDOW_PARTS)
        keys, order, spec = self._over(node, scope)
        function: exp.Expr = node.this
        name = function_of(function)
        if name is not None:
            operands = tuple(self.read(one, scope) for one in operands_of(function))
        elif type(function) in _AGGREGATES or (
            isinstance(function, exp.Filter) and type(function.this) in _AGGREGATES
        ):
            agg = self.read(function, scope)
            if agg.op != "agg":
                raise UnsupportedError
            name, operands = f"agg {agg.name}", agg.args
        else:
            raise UnsupportedError
        frame = frame_of(spec, name, in_order=bool(order))
        if frame is None:
            raise UnsupportedError
        over = Term(
            "over",
            name,
            (Term("list", "", operands), Term("group", "", keys), Term("list", "", order), frame),
        )
        if not is_determined(over):
            self._findings.conditional = True
        return over

    def _over(
        self, node: exp.Window, scope: Scope, depth: int = 0
    ) -> tuple[tuple[Term, ...], tuple[Term, ...], exp.Expr | None]:
        """Return the keys, the order and the frame of a window, which may be that of another."""
        keys = tuple(self.read(key, scope) for key in node.args.get("partition_by") or ())
        order = tuple(
            order_term(item, self.read(item.this, scope)) for item in ordered_nodes(node)
        )
        spec = node.args.get("spec")
        alias = node.args.get("alias")
        if alias is not None:
            named = scope.windows.get(self._names.name(alias))
            if named is None or depth > len(scope.windows):
                raise UnsupportedError
            more, before, frame = self._over(named, scope, depth + 1)
            if (keys and more) or (order and before) or (spec is not None and frame is not None):
                raise UnsupportedError
            keys, order, spec = keys or more, order or before, spec or frame
        return keys, order, spec

    def _filtered(self, node: exp.Filter, scope: Scope) -> Term:
        """``SUM(x) FILTER (WHERE p)`` is ``SUM(CASE WHEN p THEN x END)``: NULLs are not summed."""
        agg = self.read(node.this, scope)
        condition = self.read(node.expression.this, scope)
        value = agg.args[0] if agg.args else Term("int", "1")
        if has_aggregate(condition):
            raise UnsupportedError
        return agg._replace(args=(Term("case", "", (condition, value, NULL)),))

    def _query(self, tree: exp.Expr, scope: Scope, *, width: int | None = None) -> Term:
        """Read a query inside of an expression, which must have *width* columns if it is given."""
        term = self._read_query(tree, scope, scope.ctes).term
        if width is not None and len(outputs_of(term)) != width:
            raise UnsupportedError
        return term

    def _is_number(self, term: Term) -> bool:
        if term.op in ("int", "num", "add", "mul"):
            return True
        return self._known.kind(term) in ("integer", "natural", "number", "real")

    def _comparison(self, node: exp.Expr, scope: Scope) -> Term:
        op = _COMPARISON_OPS[type(node)]
        if isinstance(node.this, exp.Tuple) or isinstance(node.expression, exp.Tuple):
            return self.generic(node, scope)
        if isinstance(node.expression, (exp.Any, exp.All)):
            return self._quantified(node, scope)
        left = self.read(node.this, scope)
        right = self.read(node.expression, scope)
        if self._dialect in _NOT_A_NUMBER and (left == right or op not in ("eq", "ne")):
            return self.generic(node, scope)
        kind = "may be NaN" if self._dialect in _NOT_A_NUMBER else ""
        return Term(op, kind, (left, right))

    def _quantified(self, node: exp.Expr, scope: Scope) -> Term:
        """``= ANY (SELECT ...)`` is defined as IN, and ``<> ALL (SELECT ...)`` as NOT IN."""
        quantifier: exp.Expr = node.expression
        query, kinds = quantifier.this, (type(node), type(quantifier))
        if not isinstance(query, exp.Query) or kinds not in _MEMBERSHIPS:
            return self.generic(node, scope)
        member = self._member(node.this, query, scope)
        return member if kinds == _MEMBERSHIPS[0] else Term("not", "", (member,))

    def _null_test(self, node: exp.Is, scope: Scope) -> Term:
        """
        Read ``IS NULL`` and, where it is no NOT of that, ``IS NOT NULL``.

        They differ of a row of values: PostgreSQL asks whether none of the values is NULL.
        """
        check_parts(node, frozenset({"this", "expression", "negate"}))
        if isinstance(node.this, exp.Tuple):
            return self.generic(node, scope)
        this = self.read(node.this, scope)
        if not node.args.get("negate"):
            return Term("isnull", "", (this,))
        if self._known.kind(this) == "unknown":
            self._known.assumptions.add(NO_ROW_VALUES)
        return Term("not", "", (Term("isnull", "", (this,)),))

    def _in(self, node: exp.In, scope: Scope) -> Term:
        check_parts(node, frozenset({"this", "expressions", "query"}))
        query = node.args.get("query")
        if isinstance(node.this, exp.Tuple):
            if query is None:
                return self.generic(node, scope)
            parts = tuple(self.read(part, scope) for part in node.this.expressions)
            return Term("in", "", (*parts, self._query(query, scope, width=len(parts))))
        if query is not None:
            return self._member(node.this, query, scope)
        this = self.read(node.this, scope)
        values = tuple(self.read(value, scope) for value in node.expressions)
        if not values:
            raise UnsupportedError
        return Term("among", "", (this, *values))

    def _member(self, this: exp.Expr, query: exp.Expr, scope: Scope) -> Term:
        """Read ``x IN (SELECT ...)``."""
        value = self.read(this, scope)
        if isinstance(query.this, exp.Subquery):
            raise UnsupportedError  # in double brackets it is a value, not a set of them
        return Term("in", "", (value, self._query(query, scope, width=1)))

    def _scalar(self, node: exp.Expr, scope: Scope) -> Term:
        """Resolve a subquery that stands for a value, whose row is determined if it is alone."""
        term = self._query(node, scope, width=1)
        if term.op != "select":
            self._findings.conditional = True
        else:
            select = Select.of(term)
            if select.group != NONE or not (select.aggregates or select.tables == Term("from")):
                self._findings.conditional = True
        return Term("scalar", "", (term,))

    def _case(self, node: exp.Case | exp.If, scope: Scope) -> Term:
        if isinstance(node, exp.If):
            ifs, operand, default = [node], None, node.args.get("false")
        else:
            ifs, operand, default = node.args["ifs"], node.this, node.args.get("default")
        parts: list[Term] = []
        for branch in ifs:
            condition = self.read(branch.this, scope)
            if operand is not None:
                condition = Term("eq", "", (self.read(operand, scope), condition))
            parts += [condition, self.read(branch.args["true"], scope)]
        parts.append(self.read(default, scope) if default is not None else NULL)
        return Term("case", "", tuple(parts))

    def _aggregate(self, node: exp.Expr, scope: Scope) -> Term:
        if set(parts_of(node)) - {"this", "expressions", "big_int"} or node.expressions:
            raise UnsupportedError
        name, this = _AGGREGATES[type(node)], node.this
        if isinstance(this, exp.Star):
            if name != "count" or parts_of(this):
                raise UnsupportedError
            return Term("agg", name)
        if isinstance(this, exp.Distinct):
            check_parts(this, frozenset({"expressions"}))
            if len(this.expressions) != 1:
                raise UnsupportedError
            name, this = f"{name} distinct", this.expressions[0]
        term = self.read(this, scope)
        own = {table.source for table in scope.tables}
        used = sources(term)
        if (used and not used & own) or has_aggregate(term):
            raise UnsupportedError  # an aggregate of an outer query
        return Term("agg", name, (term,))

    def generic(self, node: exp.Expr, scope: Scope) -> Term:
        """Resolve a node whose meaning is not looked into: equal only to one written alike."""
        self._known.steps.take()
        if isinstance(node, _OPAQUE):
            raise UnsupportedError
        if not isinstance(node, _PURE) and not _of_given_time(node):
            if self._dialect == "sqlite" and _of_one_moment(node):
                self._known.assumptions.add(ONE_MOMENT)
            else:
                self._findings.determined = False
        # NOT LIKE ANY asks whether some pattern does not match, which is no NOT of LIKE ANY.
        of_several = isinstance(node.args.get("expression"), (exp.Any, exp.All))
        op = "fn" if of_several else _OPS.get(type(node), "fn")
        negated = op == "like" and node.args.get("negate") is True
        flags: list[str] = [type(node).__name__]
        args: list[Term] = []
        for key, value in sorted(node.args.items()):
            if isinstance(value, exp.Expr):
                args.append(Term("part", key, (self._operand(value, scope),)))
            elif isinstance(value, list):
                items = cast("list[object]", value)
                nodes = [item for item in items if isinstance(item, exp.Expr)]
                if len(nodes) < len(items):
                    raise UnsupportedError
                parts = tuple(self._operand(item, scope) for item in nodes)
                args.append(Term("part", key, parts))
            elif value is not None and value is not False and (key, negated) != ("negate", True):
                flags.append(f"{key}={value}")
        if (
            isinstance(node, exp.Escape)
            and isinstance(node.this, (exp.Like, exp.ILike))
            and args[-1].args[0].op == "not"
        ):  # NOT LIKE b ESCAPE c is NOT of LIKE b ESCAPE c, but parsed as (NOT LIKE b) ESCAPE c
            args[-1], negated = args[-1]._replace(args=args[-1].args[0].args), True
        term = Term(op, " ".join(flags), tuple(args))
        return Term("not", "", (term,)) if negated else term

    def _operand(self, node: exp.Expr, scope: Scope) -> Term:
        if isinstance(node, (exp.Identifier, exp.Var)):
            return Term("text", str(node.this))
        if isinstance(node, _WITHOUT_VALUE):
            return self.generic(node, scope)
        return self.read(node, scope)


def ordered_nodes(tree: exp.Expr) -> list[exp.Expr]:
    """Return the items of an ORDER BY."""
    order = tree.args.get("order")
    if order is None:
        return []
    check_parts(order, frozenset({"expressions"}))
    for node in order.expressions:
        if not isinstance(node, exp.Ordered):
            raise UnsupportedError
        check_parts(node, frozenset({"this", "desc", "nulls_first"}))
    return list(order.expressions)


def order_term(node: exp.Expr, term: Term) -> Term:
    """Return an item of an ORDER BY whose expression is *term*."""
    desc, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
    return Term("order", f"{'desc' if desc else 'asc'} {'first' if first else 'last'}", (term,))


def _of_given_time(node: exp.Expr) -> bool:
    """Say whether a function of a time looks at no clock, as SQLite's do for ``'now'``."""
    if not isinstance(node, (exp.TimeToStr, exp.TsOrDsToTimestamp, exp.Date)):
        return False
    texts = [literal.this.casefold() for literal in node.find_all(exp.Literal)]
    return "now" not in texts and node.find(exp.Column) is not None


def _of_one_moment(node: exp.Expr) -> bool:
    """Say whether the value of a function of times is given by the time of day, in SQLite."""
    if isinstance(node, (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)):
        return not parts_of(node)
    if isinstance(node, exp.Anonymous):
        if str(node.this).casefold() not in _CLOCKS:
            return False
    elif not isinstance(node, (exp.TimeToStr, exp.TsOrDsToTimestamp, exp.Date)):
        return False
    return _ZONES.isdisjoint(text.this.casefold() for text in node.find_all(exp.Literal))


def _literal(node: exp.Literal) -> Term:
    text: str = node.this
    if node.is_string:
        return Term("str", text)
    if text.isascii() and text.isdigit() and len(text) <= _INT_DIGITS:
        return Term("int", str(int(text)))
    return Term("num", text)


def _chain(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a chain of the same connector, in their order."""
    found: list[exp.Expr] = []
    stack = [node]
    while stack:
        part = stack.pop()
        bare = part
        while isinstance(bare, exp.Paren):
            bare = bare.this
        if type(bare) is type(node):
            stack += [bare.expression, bare.this]
        else:
            found.append(part)
    return found
