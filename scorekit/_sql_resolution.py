"""From a syntax tree to a term: what every name refers to, and whether the rows are determined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple, cast

import attrs
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from scorekit._sql_schema import SqlSchema
from scorekit._sql_terms import (
    NONE,
    NULL,
    TRUE,
    Select,
    Steps,
    Term,
    UnsupportedError,
    has_aggregate,
    local_sources,
    ordered,
    walk,
)

MAX_NODES: Final = 3_000
"""Nodes of the largest syntax tree that is looked into."""

MAX_DEPTH: Final = 80
"""Depth of the deepest one; a chain of AND, OR or set operations counts as one level."""


CASE_MATTERS: Final = frozenset({"mysql", "bigquery"})
"""Dialects in which names of tables may differ in case alone."""


@attrs.define
class Known:
    """What is known of the tables of one query, and what of it was relied upon."""

    schema: SqlSchema | None
    dialect: str | None = None
    steps: Steps = attrs.Factory(Steps)
    tables: dict[Term, str] = attrs.Factory(dict[Term, str])
    """The base table that each ``src`` is."""
    assumptions: set[str] = attrs.Factory(set[str])

    def columns(self, table: str) -> tuple[str, ...] | None:
        """Return the columns of a base table, None where they are not known for sure."""
        if self.schema is None or not self.schema.given:
            return None
        columns = self.schema.tables.get(table.casefold())
        return tuple(column.name for column in columns) if columns else None

    def kind(self, column: Term) -> str:
        """Return the kind of a column of a base table."""
        table = self.tables.get(column.args[0]) if column.op == "col" else None
        if table is None or self.schema is None or not self.schema.given:
            return "unknown"
        columns = self.schema.tables.get(table.casefold(), ())
        return next((c.kind for c in columns if c.name == column.name.casefold()), "unknown")

    def not_null(self, column: Term) -> str | None:
        """Return the assumption by which a column of a base table is never NULL, if any is."""
        table = self.tables.get(column.args[0]) if column.op == "col" else None
        if table is None or self.schema is None:
            return None
        name = column.name.casefold()
        if any(name in key for key in self.schema.keys.get(table.casefold(), ())):
            return f"{table}.{name} is never NULL (key)"
        columns = self.schema.tables.get(table.casefold(), ()) if self.schema.given else ()
        if any(column.name == name and not column.nullable for column in columns):
            return f"{table}.{name} is never NULL (schema)"
        return None

    def key_within(self, source: Term, columns: Iterable[Term]) -> str | None:
        """Return the assumption by which *columns* tell the rows of a table apart, if any does."""
        table = self.tables.get(source)
        if table is None or self.schema is None:
            return None
        names = {c.name.casefold() for c in columns if c.op == "col" and c.args == (source,)}
        for key in self.schema.keys.get(table.casefold(), ()):
            if key and names.issuperset(key):
                return f"{table} ({', '.join(key)}) is a key"
        return None


class Resolved(NamedTuple):
    """A query whose names are resolved."""

    term: Term
    order: tuple[Term, ...]
    """``order`` terms of the outermost ORDER BY; of a set operation they name positions."""
    orders: tuple[tuple[Term, ...], ...]
    """Every ORDER BY, also those that do not matter where the rows are determined."""
    determined: bool
    """Whether the tables alone decide the rows: no LIMIT, no clock, no unknown function."""


def resolve(tree: exp.Expr, known: Known) -> Resolved:
    """
    Resolve every name in a query; raises `UnsupportedError` where that is not certain.

    A valid query is assumed: a name that only one table can have is a column of that table.
    """
    check_size(tree)
    resolver = _Resolver(known, known.dialect or "")
    query = resolver.query(tree, None, {})
    return Resolved(query.term, query.order, tuple(resolver.orders), resolver.determined)


def check_size(tree: exp.Expr) -> None:
    """Raise `UnsupportedError` if a syntax tree is too large or too deep."""
    stack, n_nodes = [(tree, 0)], 0
    while stack:
        node, depth = stack.pop()
        n_nodes += 1
        if n_nodes > MAX_NODES or depth > MAX_DEPTH:
            raise UnsupportedError
        chained = isinstance(node, (exp.And, exp.Or, exp.SetOperation))
        stack += [
            (child, depth + (not chained or type(child) is not type(node)))
            for child in _children(node)
        ]


def _children(node: exp.Expr) -> Iterator[exp.Expr]:
    for value in node.args.values():
        for child in value if isinstance(value, list) else (value,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(child, exp.Expr):
                yield child


class _Table(NamedTuple):
    """A table that a FROM makes visible."""

    alias: str
    source: Term
    columns: tuple[str, ...] | None
    """Names of its columns; those of a derived table that have no name are empty."""
    derived: bool

    def column(self, name: str) -> Term:
        if not self.derived:
            return Term("col", name, (self.source,))
        places = [i for i, column in enumerate(self.columns or ()) if column == name]
        if len(places) != 1:
            raise UnsupportedError
        return Term("col", str(places[0]), (self.source,))

    def all_columns(self) -> list[tuple[str, Term]]:
        if self.columns is None:
            if self.derived:
                raise UnsupportedError
            return [("", Term("star", "", (self.source,)))]
        if self.derived:
            return [
                (name, Term("col", str(i), (self.source,))) for i, name in enumerate(self.columns)
            ]
        return [(name, self.column(name)) for name in self.columns]


@attrs.define
class _Scope:
    """What can be named inside one SELECT."""

    outer: _Scope | None
    tables: list[_Table] = attrs.Factory(list[_Table])
    merged: dict[str, Term] = attrs.Factory(dict[str, Term])
    """Columns joined by USING, which belong to both sides."""
    aliases: dict[str, Term | None] = attrs.Factory(dict[str, "Term | None"])
    """Outputs that the clause at hand may name; None where two have the name."""
    n_visible: int | None = None
    """How many of the tables an ON may name."""


class _Query(NamedTuple):
    """A query whose names are resolved, with the names of its outputs."""

    term: Term
    names: tuple[str, ...]
    order: tuple[Term, ...] = ()


class _Cte(NamedTuple):
    """A common table expression, resolved anew wherever it is named."""

    tree: exp.Expr
    columns: tuple[str, ...]
    scope: _Scope | None
    ctes: dict[str, _Cte | None]


_Ctes = dict[str, "_Cte | None"]
"""By name; None stands for one whose own definition is being read."""

_SELECT_PARTS = frozenset(
    {"with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order"}
    | {"limit", "offset"}
)
_SET_PARTS = frozenset({"with_", "this", "expression", "distinct", "order", "limit", "offset"})
# Functions of their operands alone, in every dialect.
_PURE = (
    exp.Sub, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe, exp.Upper, exp.Lower, exp.Length,
    exp.Abs, exp.Coalesce, exp.Nullif, exp.Round, exp.Floor, exp.Ceil, exp.Substring, exp.Trim,
    exp.Concat, exp.Replace, exp.Like, exp.ILike, exp.Escape, exp.Glob, exp.Cast, exp.DataType,
    exp.Is, exp.In, exp.Distinct, exp.Between, exp.Filter, exp.Where, exp.Extract, exp.Var,
    exp.Least, exp.Greatest, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Tuple, exp.BitwiseAnd,
    exp.BitwiseOr, exp.DataTypeParam, exp.Year, exp.Month, exp.Day,
)  # fmt: skip
_SET_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}
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
# + joins texts in these, or may do so.
_NOT_A_NUMBER = frozenset({"bigquery", "clickhouse", "presto", "trino", "athena"})
"""Dialects in which NaN is neither less, equal nor greater."""
_UNFAMILIAR = frozenset({"clickhouse", "prql", "tableau"})
"""Dialects in which an outer join does not give NULLs, or that are hardly SQL."""
_NO_LATERAL_ALIASES = frozenset(
    {"", "sqlite", "postgres", "mysql", "tsql", "oracle", "bigquery", "presto", "trino", "athena"}
)
"""Dialects in which an output cannot name an output before it."""
_PLUS_IS_SUM = frozenset({"sqlite", "mysql", "postgres", "duckdb", "bigquery"})


class _Resolver:
    """Resolves one query."""

    def __init__(self, known: Known, dialect: str) -> None:
        self.known = known
        self.dialect = dialect
        self.rules = Dialect.get_or_raise(dialect)
        self.determined = dialect not in _UNFAMILIAR
        self.n_sources = 0
        self.orders: list[tuple[Term, ...]] = []

    # Names.

    def name(self, identifier: exp.Expr) -> str:
        """Return an identifier as its dialect compares it; letters beyond ASCII are kept."""
        if not isinstance(identifier, exp.Identifier):
            raise UnsupportedError
        text: str = identifier.this
        if not text.isascii():
            return text
        if self.dialect in CASE_MATTERS:  # tables: as written, which is the safe side
            is_column = isinstance(identifier.parent, exp.Column) and identifier.arg_key == "this"
            return text.casefold() if is_column else text
        return str(self.rules.normalize_identifier(identifier.copy()).this)

    def column_name(self, name: str) -> str:
        """Return the name of a column of the schema as an unquoted identifier would be."""
        return str(self.rules.normalize_identifier(exp.to_identifier(name, quoted=False)).this)

    def new_source(self) -> Term:
        self.n_sources += 1
        return Term("src", f"s{self.n_sources}")

    # Queries.

    def query(self, tree: exp.Expr, outer: _Scope | None, ctes: _Ctes) -> _Query:
        self.known.steps.take(25)  # so that nested copies of a WITH end soon
        if isinstance(tree, exp.Subquery):
            _check_parts(tree, frozenset({"this", "alias", "with_"}))
            return self.query(tree.this, outer, self.with_ctes(tree, outer, ctes))
        if isinstance(tree, exp.Select):
            return self.select(tree, outer, self.with_ctes(tree, outer, ctes))
        if isinstance(tree, exp.SetOperation):
            return self.set_operation(tree, outer, self.with_ctes(tree, outer, ctes))
        raise UnsupportedError

    def with_ctes(self, tree: exp.Expr, outer: _Scope | None, ctes: _Ctes) -> _Ctes:
        with_ = tree.args.get("with_")
        if with_ is None:
            return ctes
        _check_parts(with_, frozenset({"expressions", "recursive"}))
        inside = dict(ctes)
        names = [self.name(cte.args["alias"].this) for cte in with_.expressions]
        if len(set(names)) != len(names):
            raise UnsupportedError
        inside.update(dict.fromkeys(names))  # a name that is not defined yet is not looked into
        for name, cte in zip(names, with_.expressions, strict=True):
            _check_parts(cte, frozenset({"this", "alias", "materialized"}))
            columns = tuple(self.name(c) for c in cte.args["alias"].args.get("columns") or ())
            inside = {**inside, name: _Cte(cte.this, columns, outer, dict(inside))}
        return inside

    def select(self, tree: exp.Select, outer: _Scope | None, ctes: _Ctes) -> _Query:
        _check_parts(tree, _SELECT_PARTS)
        scope = _Scope(outer)
        tables = self.from_(tree, scope, ctes)
        outputs, names = self.outputs(tree, scope, ctes)
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UnsupportedError
        aliases: dict[str, Term | None] = {}
        for name, term in zip(names, outputs, strict=True):
            aliases[name] = term if aliases.get(name, term) == term else None
        aliases.pop("", None)
        where = self.clause(tree, "where", scope, ctes, aliases)
        group = self.group(tree, scope, ctes, aliases, outputs)
        having = self.clause(tree, "having", scope, ctes, aliases)
        order = self.order(tree, scope, ctes, aliases, outputs)
        select = Select(distinct is not None, tables, where, group, having, outputs, order)
        if (
            group == NONE
            and not select._replace(order=()).aggregates
            and (tree.args.get("having") is not None or select.aggregates)
        ):
            raise UnsupportedError
        self.check_determined(select)
        return self.limited(tree, _Query(select._replace(order=()).term(), names, order), ctes)

    def set_operation(self, tree: exp.SetOperation, outer: _Scope | None, ctes: _Ctes) -> _Query:
        _check_parts(tree, _SET_PARTS)
        arms, flags = [tree.expression], [bool(tree.args.get("distinct"))]
        left: exp.Expr = tree.this
        while type(left) is type(tree) and not set(_parts(left)) - {
            "this",
            "expression",
            "distinct",
        }:
            arms.append(left.expression)
            flags.append(bool(left.args.get("distinct")))
            left = left.this
        arms.append(left)
        for arm in arms:
            if isinstance(arm, exp.SetOperation) and isinstance(arm, exp.Intersect) != isinstance(
                tree, exp.Intersect
            ):
                self.determined = False  # dialects differ in what binds tighter
        queries = [self.query(arm, outer, ctes) for arm in reversed(arms)]
        op = _SET_OPERATIONS[type(tree)]
        term = queries[0].term
        for query, distinct in zip(queries[1:], reversed(flags), strict=True):
            term = Term(op if distinct else f"{op} all", "", (term, query.term))
        names = queries[0].names
        order = tuple(self.position(node, names) for node in _ordered_nodes(tree))
        self.orders.append(order)
        return self.limited(tree, _Query(term, names, order), ctes)

    def position(self, node: exp.Expr, names: tuple[str, ...]) -> Term:
        """Resolve an item of the ORDER BY of a set operation, which names an output."""
        this = node.this
        if isinstance(this, exp.Literal) and not this.is_string and this.this.isdigit():
            place = int(this.this) - 1
        elif (
            isinstance(this, exp.Column)
            and not this.table
            and names.count(self.name(this.this)) == 1
        ):
            place = names.index(self.name(this.this))
        else:
            raise UnsupportedError
        return _order_term(node, Term("position", str(place)))

    def limited(self, tree: exp.Expr, query: _Query, ctes: _Ctes) -> _Query:
        """Keep LIMIT and OFFSET as they stand: which rows they take, the tables do not say."""
        limits = [tree.args[key] for key in ("limit", "offset") if tree.args.get(key)]
        if not limits:
            return query
        self.determined = False
        bounds = tuple(self.generic(limit, _Scope(None), ctes) for limit in limits)
        order = Term("list", "", query.order)
        return _Query(Term("limited", "", (query.term, order, *bounds)), query.names)

    # FROM.

    def from_(self, tree: exp.Select, scope: _Scope, ctes: _Ctes) -> Term:
        from_ = tree.args.get("from_")
        if from_ is None:
            if tree.args.get("joins"):
                raise UnsupportedError
            return Term("from")
        _check_parts(from_, frozenset({"this"}))
        return self.joined(from_.this, list[Any](tree.args.get("joins") or ()), scope, ctes)

    def joined(self, first: exp.Expr, joins: list[Any], scope: _Scope, ctes: _Ctes) -> Term:
        start = len(scope.tables)
        term = self.table(first, scope, ctes)
        crossed = False
        pending: list[tuple[exp.Expr | None, int]] = []
        for join in joins:
            _check_parts(join, frozenset({"this", "on", "side", "kind", "using", "method"}))
            side, kind, method = (join.text(key).upper() for key in ("side", "kind", "method"))
            if (
                side not in ("", "LEFT", "RIGHT", "FULL")
                or kind not in ("", "INNER", "CROSS", "OUTER")
                or method not in ("", "NATURAL")
                or (kind == "OUTER" and not side)
            ):
                raise UnsupportedError
            using = join.args.get("using")
            if (
                crossed
                and (side in ("RIGHT", "FULL") or using or method)
                and self.dialect != "sqlite"
            ):
                raise UnsupportedError  # a comma binds less than a join in most dialects
            is_comma = not (kind or side or using or method or join.args.get("on"))
            crossed = crossed or kind == "CROSS" or is_comma
            left = scope.tables[start:]
            right = self.table(join.this, scope, ctes)
            new = scope.tables[start + len(left) :]
            conditions: list[Term] = []
            if using or method:
                names = [self.name(c) for c in using] if using else _common(left, new)
                conditions = [self.merge(name, side, left, new, scope) for name in names]
            on = join.args.get("on")
            if on is not None:
                scope.n_visible = len(scope.tables)
                conditions.append(Term("?on", str(len(pending))))
            pending.append((on, len(scope.tables)))
            if on is None:
                pending.pop()
            condition = _and(conditions)
            term = Term("join", side.lower() or "inner", (term, right, condition))
        resolved: dict[Term, Term] = {}
        for i, (on, n_visible) in enumerate(pending):
            if on is not None:
                scope.n_visible = n_visible
                resolved[Term("?on", str(i))] = self.expr(on, scope, ctes)
        scope.n_visible = None
        return _filled(term, resolved)

    def table(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:
        """Resolve one item of a FROM and make it visible."""
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            _check_parts(node, frozenset({"this"}))
            inner = node.this.copy()
            joins = list[Any](inner.args.pop("joins", None) or ())
            if scope.tables:
                raise UnsupportedError
            return self.joined(inner, joins, scope, ctes)
        alias_node = node.args.get("alias")
        if alias_node is not None:
            _check_parts(alias_node, frozenset({"this", "columns"}))
        columns = (
            tuple(self.name(c) for c in (alias_node.args.get("columns") or ()))
            if alias_node
            else ()
        )
        if isinstance(node, exp.Subquery):
            _check_parts(node, frozenset({"this", "alias", "with_"}))
            alias = self.name(alias_node.this) if alias_node and alias_node.this else ""
            inside = self.with_ctes(node, scope.outer, ctes)
            return self.derived(self.query(node.this, scope.outer, inside), alias, columns, scope)
        if not isinstance(node, exp.Table):
            raise UnsupportedError
        _check_parts(node, frozenset({"this", "db", "catalog", "alias"}))
        name = self.name(node.this)
        alias = self.name(alias_node.this) if alias_node and alias_node.this else name
        qualified = node.args.get("db") is not None
        cte = None if qualified else ctes.get(name, NONE)
        if cte is None and not qualified:
            raise UnsupportedError  # it names itself, or a later one
        if isinstance(cte, _Cte):
            query = self.query(cte.tree, cte.scope, cte.ctes)
            return self.derived(query, alias, columns or cte.columns, scope)
        if columns:
            raise UnsupportedError
        parts = [node.args.get(key) for key in ("catalog", "db")]
        full = ".".join([*(self.name(part) for part in parts if part), name])
        source = self.new_source()
        self.known.tables[source] = full
        known = self.known.columns(full)
        if known is not None:
            known = tuple(self.column_name(column) for column in known)
        self.add(_Table(alias, source, known, derived=False), scope)
        return Term("table", full, (source,))

    def derived(self, query: _Query, alias: str, columns: tuple[str, ...], scope: _Scope) -> Term:
        names = query.names
        if any(node.op == "star" for node in _outputs_of(query.term)):
            raise UnsupportedError
        if columns:
            if len(columns) > len(names):
                raise UnsupportedError
            names = (*columns, *names[len(columns) :])
        source = self.new_source()
        self.add(_Table(alias, source, names, derived=True), scope)
        return Term("derived", "", (source, query.term))

    def add(self, table: _Table, scope: _Scope) -> None:
        if table.alias and any(other.alias == table.alias for other in scope.tables):
            raise UnsupportedError
        scope.tables.append(table)

    def merge(
        self, name: str, side: str, left: list[_Table], right: list[_Table], scope: _Scope
    ) -> Term:
        """Join by a common column, which from then on is one."""
        mine = scope.merged.get(name)
        if mine is None:
            mine = self.one_column(name, left)
        other = self.one_column(name, right)
        parts = Term("part", "expressions", (other,)), Term("part", "this", (mine,))
        both = Term("fn", "Coalesce", parts)
        scope.merged[name] = both if side in ("RIGHT", "FULL") else mine
        return Term("eq", "", (mine, other))

    def one_column(self, name: str, tables: list[_Table]) -> Term:
        """Return the column that just one of *tables* has."""
        if len(tables) == 1 and tables[0].columns is None:
            return tables[0].column(name)
        if any(table.columns is None for table in tables):
            raise UnsupportedError
        having = [table for table in tables if name in (table.columns or ())]
        if len(having) != 1:
            raise UnsupportedError
        return having[0].column(name)

    # Clauses.

    def outputs(
        self, tree: exp.Select, scope: _Scope, ctes: _Ctes
    ) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        found: list[tuple[str, Term]] = []
        for node in tree.expressions:
            if isinstance(node, exp.Star):
                if _parts(node):
                    raise UnsupportedError
                found += self.star(scope)
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                _check_parts(node, frozenset({"this", "table"}))
                if _parts(node.this):
                    raise UnsupportedError
                found += self.qualified_table(self.name(node.args["table"]), scope).all_columns()
            elif isinstance(node, exp.Alias):
                _check_parts(node, frozenset({"this", "alias"}))
                alias = self.name(node.args["alias"])
                found.append((alias, self.expr(node.this, scope, ctes)))
                if self.dialect not in _NO_LATERAL_ALIASES:
                    scope.aliases[alias] = None
            else:
                name = self.name(node.this) if isinstance(node, exp.Column) else ""
                found.append((name, self.expr(node, scope, ctes)))
        scope.aliases = {}
        if not found:
            raise UnsupportedError
        return tuple(term for _, term in found), tuple(name for name, _ in found)

    def star(self, scope: _Scope) -> list[tuple[str, Term]]:
        found: list[tuple[str, Term]] = []
        if scope.merged and any(table.columns is None for table in scope.tables):
            raise UnsupportedError
        if not scope.tables:
            raise UnsupportedError
        seen: set[str] = set()
        for table in scope.tables:
            for name, term in table.all_columns():
                if name in scope.merged and name:
                    if name not in seen:
                        found.append((name, scope.merged[name]))
                    seen.add(name)
                else:
                    found.append((name, term))
        if scope.merged and self.dialect != "sqlite":
            raise UnsupportedError  # elsewhere the common columns come first
        self.known.assumptions.update(
            _COMPLETE for table in scope.tables if table.columns is not None and not table.derived
        )
        return found

    def clause(
        self,
        tree: exp.Select,
        key: str,
        scope: _Scope,
        ctes: _Ctes,
        aliases: dict[str, Term | None],
    ) -> Term:
        node = tree.args.get(key)
        if node is None:
            return TRUE
        scope.aliases = self.visible_aliases(key, aliases)
        term = self.expr(node.this, scope, ctes)
        scope.aliases = {}
        if key == "where" and has_aggregate(term):
            raise UnsupportedError
        return term

    def visible_aliases(self, key: str, aliases: dict[str, Term | None]) -> dict[str, Term | None]:
        """Return the outputs that a clause may name, in the dialect."""
        if self.dialect == "postgres" and key in ("where", "having"):
            return {}
        return aliases

    def group(
        self,
        tree: exp.Select,
        scope: _Scope,
        ctes: _Ctes,
        aliases: dict[str, Term | None],
        outputs: tuple[Term, ...],
    ) -> Term:
        group = tree.args.get("group")
        if group is None:
            return NONE
        _check_parts(group, frozenset({"expressions"}))
        scope.aliases = aliases
        keys = [self.key(node, scope, ctes, outputs) for node in group.expressions]
        scope.aliases = {}
        if not keys or any(has_aggregate(key) for key in keys):
            raise UnsupportedError
        return Term("group", "", tuple(keys))

    def key(self, node: exp.Expr, scope: _Scope, ctes: _Ctes, outputs: tuple[Term, ...]) -> Term:
        """Resolve an item of GROUP BY or ORDER BY, which may be the number of an output."""
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.this.isdigit() or not 1 <= int(node.this) <= len(outputs):
                raise UnsupportedError
            if any(output.op == "star" for output in outputs):
                raise UnsupportedError
            return outputs[int(node.this) - 1]
        return self.expr(node, scope, ctes)

    def order(
        self,
        tree: exp.Select,
        scope: _Scope,
        ctes: _Ctes,
        aliases: dict[str, Term | None],
        outputs: tuple[Term, ...],
    ) -> tuple[Term, ...]:
        found: list[Term] = []
        for node in _ordered_nodes(tree):
            this = node.this
            name = self.name(this.this) if _is_bare(this) else ""
            if name and name in aliases:
                term = aliases[name]  # a bare name is an output before it is a column
                if term is None:
                    raise UnsupportedError
            else:
                scope.aliases = aliases
                term = self.key(this, scope, ctes, outputs)
                scope.aliases = {}
            found.append(_order_term(node, term))
        self.orders.append(tuple(found))
        return tuple(found)

    # Columns.

    def qualified_table(self, alias: str, scope: _Scope) -> _Table:
        level: _Scope | None = scope
        while level is not None:
            for i, table in enumerate(level.tables):
                if table.alias == alias:
                    if level.n_visible is not None and i >= level.n_visible:
                        raise UnsupportedError
                    return table
            level = level.outer
        raise UnsupportedError

    def column(self, node: exp.Column, scope: _Scope) -> Term:
        _check_parts(node, frozenset({"this", "table"}))
        name = self.name(node.this)
        if node.args.get("table") is not None:
            table = self.qualified_table(self.name(node.args["table"]), scope)
            if table.columns is not None and name not in table.columns:
                raise UnsupportedError
            return table.column(name)
        may_be_text = node.this.quoted and self.dialect == "sqlite"
        levels: list[tuple[Term, ...]] = []
        sure = False
        level: _Scope | None = scope
        while level is not None:
            found, sure = self.in_scope(name, level)
            if sure:
                levels.append(tuple(found))
                break
            if found:
                levels.append(tuple(found))
            level = level.outer
        if not levels:
            if (
                may_be_text
                and name not in _ROW_NUMBERS
                and self.known.schema is not None
                and self.known.schema.given
            ):
                text: str = node.this.this
                self.known.assumptions.add(f'"{text}" is no column, so that SQLite reads a text')
                return Term("str", text)
            raise UnsupportedError
        if may_be_text and not sure:
            places = tuple(Term("scope", "", found) for found in levels)
            return Term("quoted", node.this.this, places)
        if len(levels) == 1 and len(levels[0]) == 1:
            return levels[0][0]
        return Term("col?", name, tuple(Term("scope", "", found) for found in levels))

    def in_scope(self, name: str, scope: _Scope) -> tuple[list[Term], bool]:
        """Return what *name* may be in one scope, and whether it must be that."""
        if name in scope.merged:
            found, sure = [scope.merged[name]], True
        else:
            known = [
                (i, table)
                for i, table in enumerate(scope.tables)
                if table.columns is not None and name in table.columns
            ]
            unknown = [(i, table) for i, table in enumerate(scope.tables) if table.columns is None]
            if len(known) > 1:
                raise UnsupportedError
            candidates = known or unknown
            if scope.n_visible is not None and any(i >= scope.n_visible for i, _ in candidates):
                raise UnsupportedError
            found, sure = [table.column(name) for _, table in candidates], bool(known)
            if known and len(scope.tables) > 1:
                self.known.assumptions.add(_COMPLETE)
        if name not in scope.aliases:
            return found, sure
        alias = scope.aliases[name]
        if len(found) == 1 and alias == found[0]:
            return found, True
        if alias is None or found or (scope.outer is not None and self.dialect != "sqlite"):
            if sure and self.dialect in ("sqlite", "postgres"):
                return found, sure
            raise UnsupportedError  # dialects differ in which of them is meant
        return [alias], True

    # Expressions.

    def expr(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:  # noqa: C901, PLR0911, PLR0912 - a branch per kind of node
        self.known.steps.take()
        if isinstance(node, exp.Column):
            return self.column(node, scope)
        if isinstance(node, exp.Paren):
            _check_parts(node, frozenset({"this"}))
            return self.expr(node.this, scope, ctes)
        if isinstance(node, _PLAIN):
            _check_parts(node, _OPERANDS)
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
            _check_parts(node, frozenset({"this"}))
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
        return self.known.kind(term) in ("integer", "number")

    def comparison(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:
        op = _COMPARISONS[type(node)]
        if isinstance(node.expression, (exp.Tuple, exp.Any, exp.All)) or isinstance(
            node.this, exp.Tuple
        ):
            return self.generic(node, scope, ctes)
        left = self.expr(node.this, scope, ctes)
        right = self.expr(node.expression, scope, ctes)
        if self.dialect in _NOT_A_NUMBER and (left == right or op not in ("eq", "ne")):
            return self.generic(node, scope, ctes)
        return Term(op, "", (left, right))

    def in_(self, node: exp.In, scope: _Scope, ctes: _Ctes) -> Term:
        _check_parts(node, frozenset({"this", "expressions", "query"}))
        if isinstance(node.this, exp.Tuple):
            return self.generic(node, scope, ctes)
        this = self.expr(node.this, scope, ctes)
        query = node.args.get("query")
        if query is not None:
            if isinstance(query.this, exp.Subquery):
                raise UnsupportedError  # in double brackets it is a value, not a set of them
            found = self.query(query, scope, ctes)
            if len(_outputs_of(found.term)) != 1:
                raise UnsupportedError
            return Term("in", "", (this, found.term))
        values = tuple(self.expr(value, scope, ctes) for value in node.expressions)
        if not values:
            raise UnsupportedError
        return Term("among", "", (this, *values))

    def scalar(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:
        """Resolve a subquery that stands for a value, whose row is determined if it is alone."""
        term = self.query(node, scope, ctes).term
        if len(_outputs_of(term)) != 1:
            raise UnsupportedError
        if term.op != "select":
            self.determined = False
        else:
            select = Select.of(term)
            if select.group != NONE or not (select.aggregates or select.tables == Term("from")):
                self.determined = False
        return Term("scalar", "", (term,))

    def case(self, node: exp.Case | exp.If, scope: _Scope, ctes: _Ctes) -> Term:
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

    def aggregate(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:
        if set(_parts(node)) - {"this", "expressions", "big_int"} or node.expressions:
            raise UnsupportedError
        name, this = _AGGREGATES[type(node)], node.this
        if isinstance(this, exp.Star):
            if name != "count" or _parts(this):
                raise UnsupportedError
            return Term("agg", name)
        if isinstance(this, exp.Distinct):
            _check_parts(this, frozenset({"expressions"}))
            if len(this.expressions) != 1:
                raise UnsupportedError
            name, this = f"{name} distinct", this.expressions[0]
        term = self.expr(this, scope, ctes)
        own = {table.source for table in scope.tables}
        used = {source for node in walk(term) if node.op == "src" for source in (node,)}
        if (used and not used & own) or has_aggregate(term):
            raise UnsupportedError  # an aggregate of an outer query
        return Term("agg", name, (term,))

    def generic(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:
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

    def operand(self, node: exp.Expr, scope: _Scope, ctes: _Ctes) -> Term:
        if isinstance(node, (exp.Identifier, exp.Var)):
            return Term("text", str(node.this))
        if isinstance(node, _WITHOUT_VALUE):
            return self.generic(node, scope, ctes)
        return self.expr(node, scope, ctes)

    # What the rows depend on.

    def check_determined(self, select: Select) -> None:
        """Note where a group has many values for a column and the engine takes any of them."""
        if select.group == NONE and not select.aggregates:
            return
        keys = frozenset(map(_in_order, select.group.args))
        own = frozenset(local_sources(select.tables))
        for source in own:
            assumption = self.known.key_within(source, keys)
            if assumption is not None:
                self.known.assumptions.add(assumption)
                own -= {source}
        parts = (select.having, *select.outputs, *(order.args[0] for order in select.order))
        if not all(_is_of_group(_in_order(part), keys, own, inner=False) for part in parts):
            self.determined = False


_ROW_NUMBERS = frozenset({"rowid", "oid", "_rowid_"})
_COMPLETE = "the schema names every column of its tables, in their order"
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


def _in_order(term: Term) -> Term:
    return ordered(term._replace(args=tuple(map(_in_order, term.args))))


def _is_of_group(term: Term, keys: frozenset[Term], own: frozenset[Term], *, inner: bool) -> bool:
    """Say whether *term* has one value in each group."""
    if term in keys or (term.op == "agg" and not inner):
        return True
    if term.op in ("col", "star", "col?", "quoted"):
        return not any(node in own for node in walk(term))
    inner = inner or term.op == "select"
    return all(_is_of_group(arg, keys, own, inner=inner) for arg in term.args)


def _is_bare(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not node.table


def _outputs_of(query: Term) -> tuple[Term, ...]:
    while query.op != "select":
        query = query.args[0]
    return Select.of(query).outputs


def _parts(node: exp.Expr) -> list[str]:
    """Return the keys of the arguments that are there."""
    return [key for key, value in node.args.items() if value not in (None, False, [])]


def _check_parts(node: exp.Expr, known: frozenset[str]) -> None:
    if not known.issuperset(_parts(node)):
        raise UnsupportedError


def _ordered_nodes(tree: exp.Expr) -> list[exp.Expr]:
    order = tree.args.get("order")
    if order is None:
        return []
    _check_parts(order, frozenset({"expressions"}))
    for node in order.expressions:
        if not isinstance(node, exp.Ordered):
            raise UnsupportedError
        _check_parts(node, frozenset({"this", "desc", "nulls_first"}))
    return list(order.expressions)


def _order_term(node: exp.Expr, term: Term) -> Term:
    desc, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
    return Term("order", f"{'desc' if desc else 'asc'} {'first' if first else 'last'}", (term,))


def _literal(node: exp.Literal) -> Term:
    text: str = node.this
    if node.is_string:
        return Term("str", text)
    if text.isascii() and text.isdigit() and len(text) <= _INT_DIGITS:
        return Term("int", str(int(text)))
    return Term("num", text)


_INT_DIGITS = 18


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


def _and(conditions: list[Term]) -> Term:
    if not conditions:
        return TRUE
    return conditions[0] if len(conditions) == 1 else Term("and", "", tuple(conditions))


def _filled(term: Term, new: dict[Term, Term]) -> Term:
    if term.op == "?on":
        return new[term]
    if term.op not in ("join", "and"):
        return term
    return term._replace(args=tuple(_filled(arg, new) for arg in term.args))


def _common(left: list[_Table], right: list[_Table]) -> list[str]:
    if any(table.columns is None for table in (*left, *right)):
        raise UnsupportedError
    names = {name for table in left for name in table.columns or () if name}
    return [name for table in right for name in table.columns or () if name in names]
