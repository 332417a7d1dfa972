"""From the syntax tree of an expression to a term."""

from __future__ import annotations

from typing import cast

from sqlglot import exp

from scorekit._sql.prove.names import Ctes, Names, Query, Scope, check_parts, outputs_of, parts_of
from scorekit._sql.prove.terms import (
    NONE,
    NULL,
    Select,
    Term,
    UnsupportedError,
    has_aggregate,
    walk,
)

# Functions of their operands alone, in every dialect.
_PURE = (
    exp.Sub, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Upper, exp.Lower, exp.Length,
    exp.Abs, exp.Coalesce, exp.Nullif, exp.Round, exp.Floor, exp.Ceil, exp.Substring, exp.Trim,
    exp.Concat, exp.Replace, exp.Like, exp.ILike, exp.Escape, exp.Glob, exp.Cast, exp.DataType,
    exp.Is, exp.In, exp.Distinct, exp.Between, exp.Filter, exp.Where, exp.Extract, exp.Var,
    exp.Least, exp.Greatest, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Tuple, exp.BitwiseAnd,
    exp.BitwiseOr, exp.DataTypeParam, exp.Year, exp.Month, exp.Day,
)  # fmt: skip

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}

_COMPARISONS: dict[type[exp.Expr], str] = {
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

_INT_DIGITS = 18


class Expressions(Names):
    """Resolves expressions; queries are resolved by what builds on it."""

    def query(self, tree: exp.Expr, outer: Scope | None, ctes: Ctes) -> Query:
        """Resolve a query inside of an expression."""
        raise NotImplementedError

    def expr(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:  # noqa: C901, PLR0911, PLR0912 - a branch per kind of node
        self.known.steps.take()
        if isinstance(node, exp.Column):
            return self.column(node, scope)
        if isinstance(node, exp.Paren):
            check_parts(node, frozenset({"this"}))
            return self.expr(node.this, scope, ctes)
        if isinstance(node, _PLAIN):
            check_parts(node, _OPERANDS)
        if isinstance(node, exp.Literal):
            empty = node.is_string and not node.this and self.dialect == "oracle"
            return NULL if empty else _literal(node)
        if isinstance(node, exp.Null):
            return NULL
        if isinstance(node, exp.Boolean):
            return Term("true" if node.this else "false")
        if isinstance(node, (exp.And, exp.Or)):
            op = "and" if isinstance(node, exp.And) else "or"
            parts = [self.expr(part, scope, ctes) for part in _chain(node)]
            return Term(op, "", tuple(parts))
        if isinstance(node, exp.Not):
            return Term("not", "", (self.expr(node.this, scope, ctes),))
        if type(node) in _COMPARISONS:
            return self.comparison(node, scope, ctes)
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
            number = _literal(node.this)
            if number.op == "int" and number.name != "0":
                return Term("int", f"-{number.name}")
        if isinstance(node, (exp.Add, exp.Mul)):
            operands = (self.expr(node.this, scope, ctes), self.expr(node.expression, scope, ctes))
            commutes = (
                isinstance(node, exp.Mul)
                or self.dialect in _PLUS_IS_SUM
                or any(self.is_number(operand) for operand in operands)
            )
            return Term(type(node).__name__.lower() if commutes else "plus", "", operands)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return Term("isnull", "", (self.expr(node.this, scope, ctes),))
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            this, low, high = (
                self.expr(node.args[key], scope, ctes) for key in ("this", "low", "high")
            )
            return Term("between", "", (this, low, high))
        if isinstance(node, exp.In):
            return self.in_(node, scope, ctes)
        if isinstance(node, exp.Exists):
            check_parts(node, frozenset({"this"}))
            return Term("exists", "", (self.query(node.this, scope, ctes).term,))
        if isinstance(node, (exp.Subquery, exp.Select, exp.SetOperation)):
            return self.scalar(node, scope, ctes)
        if isinstance(node, (exp.Case, exp.If)):
            return self.case(node, scope, ctes)
        if type(node) in _AGGREGATES and not (
            isinstance(node, (exp.Min, exp.Max)) and node.expressions
        ):
            return self.aggregate(node, scope, ctes)
        return self.generic(node, scope, ctes)

    def is_number(self, term: Term) -> bool:
        if term.op in ("int", "num", "add", "mul"):
            return True
        return self.known.kind(term) in ("integer", "natural", "number", "real")

    def comparison(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:
        op = _COMPARISONS[type(node)]
        if isinstance(node.expression, (exp.Tuple, exp.Any, exp.All)) or isinstance(
            node.this, exp.Tuple
        ):
            return self.generic(node, scope, ctes)
        left = self.expr(node.this, scope, ctes)
        right = self.expr(node.expression, scope, ctes)
        if self.dialect in _NOT_A_NUMBER and (left == right or op not in ("eq", "ne")):
            return self.generic(node, scope, ctes)
        kind = "may be NaN" if self.dialect in _NOT_A_NUMBER else ""
        return Term(op, kind, (left, right))

    def in_(self, node: exp.In, scope: Scope, ctes: Ctes) -> Term:
        check_parts(node, frozenset({"this", "expressions", "query"}))
        if isinstance(node.this, exp.Tuple):
            return self.generic(node, scope, ctes)
        this = self.expr(node.this, scope, ctes)
        query = node.args.get("query")
        if query is not None:
            if isinstance(query.this, exp.Subquery):
                raise UnsupportedError  # in double brackets it is a value, not a set of them
            found = self.query(query, scope, ctes)
            if len(outputs_of(found.term)) != 1:
                raise UnsupportedError
            return Term("in", "", (this, found.term))
        values = tuple(self.expr(value, scope, ctes) for value in node.expressions)
        if not values:
            raise UnsupportedError
        return Term("among", "", (this, *values))

    def scalar(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:
        """Resolve a subquery that stands for a value, whose row is determined if it is alone."""
        term = self.query(node, scope, ctes).term
        if len(outputs_of(term)) != 1:
            raise UnsupportedError
        if term.op != "select":
            self.determined = False
        else:
            select = Select.of(term)
            if select.group != NONE or not (select.aggregates or select.tables == Term("from")):
                self.determined = False
        return Term("scalar", "", (term,))

    def case(self, node: exp.Case | exp.If, scope: Scope, ctes: Ctes) -> Term:
        if isinstance(node, exp.If):
            ifs, operand, default = [node], None, node.args.get("false")
        else:
            ifs, operand, default = node.args["ifs"], node.this, node.args.get("default")
        parts: list[Term] = []
        for branch in ifs:
            condition = self.expr(branch.this, scope, ctes)
            if operand is not None:
                condition = Term("eq", "", (self.expr(operand, scope, ctes), condition))
            parts += [condition, self.expr(branch.args["true"], scope, ctes)]
        parts.append(self.expr(default, scope, ctes) if default is not None else NULL)
        return Term("case", "", tuple(parts))

    def aggregate(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:
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
        term = self.expr(this, scope, ctes)
        own = {table.source for table in scope.tables}
        used = {source for node in walk(term) if node.op == "src" for source in (node,)}
        if (used and not used & own) or has_aggregate(term):
            raise UnsupportedError  # an aggregate of an outer query
        return Term("agg", name, (term,))

    def generic(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:
        """Resolve a node whose meaning is not looked into: equal only to one written alike."""
        self.known.steps.take()
        if isinstance(node, _OPAQUE):
            raise UnsupportedError
        if not isinstance(node, _PURE):
            self.determined = False
        negated = type(node) in _OPS and node.args.get("negate") is True
        flags: list[str] = [type(node).__name__]
        args: list[Term] = []
        for key, value in sorted(node.args.items()):
            if isinstance(value, exp.Expr):
                args.append(Term("part", key, (self.operand(value, scope, ctes),)))
            elif isinstance(value, list):
                items = cast("list[object]", value)
                nodes = [item for item in items if isinstance(item, exp.Expr)]
                if len(nodes) < len(items):
                    raise UnsupportedError
                parts = tuple(self.operand(item, scope, ctes) for item in nodes)
                args.append(Term("part", key, parts))
            elif value is not None and value is not False and (key, negated) != ("negate", True):
                flags.append(f"{key}={value}")
        term = Term(_OPS.get(type(node), "fn"), " ".join(flags), tuple(args))
        return Term("not", "", (term,)) if negated else term

    def operand(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:
        if isinstance(node, (exp.Identifier, exp.Var)):
            return Term("text", str(node.this))
        if isinstance(node, _WITHOUT_VALUE):
            return self.generic(node, scope, ctes)
        return self.expr(node, scope, ctes)


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
