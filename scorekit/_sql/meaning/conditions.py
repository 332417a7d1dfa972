"""Comparisons, IN, LIKE and tests of NULL, as each dialect means them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from sqlglot import exp

from scorekit._sql.meaning.names import NameScope
from scorekit._sql.meaning.notes import Notes
from scorekit._sql.meaning.syntax import UnreadError, check_arguments
from scorekit._sql.meaning.tree import (
    Among,
    And,
    Column,
    Comparison,
    Function,
    InQuery,
    IsNull,
    Like,
    Literal,
    Not,
    Or,
    Query,
    Scalar,
)
from scorekit._sql.text.base_tables import in_table
from scorekit._sql.text.dialect_neutral import ask

NO_ROW_VALUES: Final = "no column holds a row of several values"


COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


_MEMBERSHIPS = ((exp.EQ, exp.Any), (exp.NEQ, exp.All))


_NOT_A_NUMBER = frozenset({"bigquery", "clickhouse", "presto", "trino", "athena", "dune"})
"""Dialects in which NaN is neither less, equal nor greater."""


class ConditionReader:
    """Reads the conditions of one query."""

    def __init__(
        self,
        notes: Notes,
        value: Callable[[exp.Expr, NameScope], Scalar],
        inner: Callable[..., Query],
        function: Callable[[exp.Expr, NameScope], Function],
    ) -> None:
        self._notes, self._value, self._inner, self._function = notes, value, inner, function
        self._dialect = notes.dialect
        self._nan = ask(notes.catalog.dialect, lambda one: one in _NOT_A_NUMBER)

    def comparison(self, node: exp.Expr, scope: NameScope) -> Scalar:
        operator = COMPARISONS[type(node)]
        if isinstance(node.this, exp.Tuple) or isinstance(node.expression, exp.Tuple):
            return self._function(node, scope)
        if isinstance(node.expression, (exp.Any, exp.All)):
            return self._quantified(node, scope)
        collated = isinstance(node.this, exp.Collate) or isinstance(node.expression, exp.Collate)
        uncased = collated and self._dialect == "sqlite" and self._uncased(node, scope)
        if uncased:
            return uncased
        left, right = (
            self._value(node.this, scope),
            self._value(node.expression, scope),
        )
        if operator[0] == ">":
            operator, left, right = operator.replace(">", "<"), right, left
        if self._nan and (left == right or operator not in ("=", "<>")):
            return Function(operator, (left, right))
        return Comparison(operator, left, right, self._nan)

    def _uncased(self, node: exp.Expr, scope: NameScope) -> Scalar | None:
        """Read ``x = 'a' COLLATE NOCASE`` as LIKE without a wildcard, which compares alike."""
        sides: list[exp.Expr] = [node.this, node.expression]
        bare = [side.this if isinstance(side, exp.Collate) else side for side in sides]
        named = {one.expression.name.lower() for one in sides if isinstance(one, exp.Collate)}
        texts = [one for one in bare if isinstance(one, exp.Literal) and one.is_string]
        if named != {"nocase"} or len(texts) != 1 or not isinstance(node, (exp.EQ, exp.NEQ)):
            return None
        this = self._value(bare[bare[0] is texts[0]], scope)
        text, column = str(texts[0].this), self._notes.catalog.column(this)
        if column is None or column.kind != "text" or column.limits.converts:
            return None
        if not text.isascii() or {*"%_"} & {*text}:
            return None
        self._notes.assumptions.add(
            f"{cast('Column', this).source.table}.{column.name} holds text"
        )
        found = Like("like", this, Literal("text", text.lower()))
        return found if isinstance(node, exp.EQ) else Not(found)

    def _quantified(self, node: exp.Expr, scope: NameScope) -> Scalar:
        """``= ANY (SELECT ...)`` is defined as IN, and ``<> ALL (SELECT ...)`` as NOT IN."""
        quantifier: exp.Expr = node.expression
        query, kinds = quantifier.this, (type(node), type(quantifier))
        if not isinstance(query, exp.Query) or kinds not in _MEMBERSHIPS:
            return self._function(node, scope)
        member = self._member(node.this, query, scope)
        return member if kinds == _MEMBERSHIPS[0] else Not(member)

    def null_test(self, node: exp.Is, scope: NameScope) -> Scalar:
        """
        Read ``IS NULL`` and, where it is no NOT of that, ``IS NOT NULL``.

        They differ of a row of values: PostgreSQL asks whether none of the values is NULL.
        """
        check_arguments(node, "this", "expression", "negate")
        if isinstance(node.this, exp.Tuple):
            return self._function(node, scope)
        this = self._value(node.this, scope)
        if not node.args.get("negate"):
            return IsNull(this)
        if self._notes.catalog.kind(this) == "unknown":
            self._notes.assumptions.add(NO_ROW_VALUES)
        return Not(IsNull(this))

    def membership(self, node: exp.In, scope: NameScope) -> Scalar:
        check_arguments(node, "this", "expressions", "query", "field")
        query = node.args.get("query")
        if node.args.get("field") is not None:
            table = in_table(node)
            if self._dialect != "sqlite" or not table:
                raise UnreadError("IN without brackets")
            query = exp.Subquery(this=exp.select("*").from_(exp.to_table(table)))
        if isinstance(node.this, exp.Tuple):
            if query is None:
                return self._function(node, scope)
            parts = tuple(self._value(part, scope) for part in node.this.expressions)
            return InQuery(parts, self._inner(query, scope, width=len(parts)))
        if query is not None:
            return self._member(node.this, query, scope)
        this = self._value(node.this, scope)
        values = tuple(self._value(value, scope) for value in node.expressions)
        if not values:
            raise UnreadError("IN of no values")
        if not all(isinstance(value, Literal) for value in values):
            return Among(this, values)  # SQLite compares with these as if they had no affinity
        tests = tuple(Comparison("=", this, value) for value in values)
        return tests[0] if len(tests) == 1 else Or(tests)

    def _member(self, this: exp.Expr, query: exp.Expr, scope: NameScope) -> Scalar:
        """Read ``x IN (SELECT ...)``."""
        value = self._value(this, scope)
        if isinstance(query.this, exp.Subquery):
            raise UnreadError("IN of a query in double brackets")  # a value, not a set of them
        return InQuery((value,), self._inner(query, scope, width=1))

    def like(self, node: exp.Expr, scope: NameScope) -> Scalar:
        escape: Scalar | None = None
        like = node
        if isinstance(node, exp.Escape):
            check_arguments(node, "this", "expression")
            like, escape = node.this, self._value(node.expression, scope)
        # NOT LIKE ANY asks whether some pattern does not match, which is no NOT of LIKE ANY.
        if not isinstance(like, (exp.Like, exp.ILike, exp.Glob)) or isinstance(
            like.expression, (exp.Any, exp.All)
        ):
            return self._function(node, scope)
        check_arguments(like, "this", "expression", "negate")
        this, pattern = (
            self._value(like.this, scope),
            self._value(like.expression, scope),
        )
        found = Like(type(like).__name__.lower(), this, pattern, escape)
        return Not(found) if like.args.get("negate") else found

    def between(self, node: exp.Between, scope: NameScope) -> Scalar:
        """Read ``x BETWEEN a AND b``."""
        this, low, high = (self._value(node.args[key], scope) for key in ("this", "low", "high"))
        if self._nan and self._notes.catalog.kind(this) in ("real", "unknown"):
            return Function("between", (this, low, high))
        return And((Comparison("<=", low, this), Comparison("<=", this, high)))
