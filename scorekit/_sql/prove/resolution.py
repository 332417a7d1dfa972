"""From the syntax tree of a query to a term, and whether its rows are determined."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.names import (
    COMPLETE,
    Ctes,
    Query,
    Scope,
    check_parts,
    check_size,
    parts_of,
)
from scorekit._sql.prove.sources import Sources
from scorekit._sql.prove.terms import (
    NONE,
    TRUE,
    Select,
    Term,
    UnsupportedError,
    has_aggregate,
    local_sources,
    looks_at,
    ordered,
    walk,
)


class Resolved(NamedTuple):
    """A query whose names are resolved."""

    term: Term
    order: tuple[Term, ...]
    """``order`` terms of the outermost ORDER BY; of a set operation they name positions."""
    orders: tuple[tuple[Term, ...], ...]
    """Every ORDER BY, also those that do not matter where the rows are determined."""
    determined: bool
    """Whether the tables alone decide the rows: no LIMIT, no clock, no unknown function."""
    shared: tuple[tuple[Term, Term], ...]
    """Tables that are the same common table expression as one before them: where the rows are
    not determined, both have the same."""


def resolve(tree: exp.Expr, known: Known) -> Resolved:
    """
    Resolve every name in a query; raises `UnsupportedError` where that is not certain.

    A valid query is assumed: a name that only one table can have is a column of that table.
    """
    check_size(tree)
    resolver = _Resolver(known, known.dialect or "")
    query = resolver.query(tree, None, {})
    used = [node for term in (query.term, *query.order) for node in walk(term)]
    if any(known.kind(node) == "collated" for node in used):
        raise UnsupportedError  # which of two columns stands first decides how they compare
    return Resolved(
        query.term,
        query.order,
        tuple(resolver.orders),
        resolver.determined,
        tuple(resolver.shared),
    )


_SELECT_PARTS = frozenset(
    {"with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order"}
    | {"limit", "offset"}
)


_SET_PARTS = frozenset({"with_", "this", "expression", "distinct", "order", "limit", "offset"})


_SET_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


_NO_LATERAL_ALIASES = frozenset(
    {"", "sqlite", "postgres", "mysql", "tsql", "oracle", "bigquery", "presto", "trino", "athena"}
)
"""Dialects in which an output cannot name an output before it."""


class _Resolver(Sources):
    """Resolves one query."""

    def query(self, tree: exp.Expr, outer: Scope | None, ctes: Ctes) -> Query:
        self.known.steps.take(25)  # so that nested copies of a WITH end soon
        if isinstance(tree, exp.Subquery):
            check_parts(tree, frozenset({"this", "alias", "with_"}))
            return self.query(tree.this, outer, self.with_ctes(tree, outer, ctes))
        if isinstance(tree, exp.Select):
            return self.select(tree, outer, self.with_ctes(tree, outer, ctes))
        if isinstance(tree, exp.SetOperation):
            return self.set_operation(tree, outer, self.with_ctes(tree, outer, ctes))
        raise UnsupportedError

    def select(self, tree: exp.Select, outer: Scope | None, ctes: Ctes) -> Query:
        check_parts(tree, _SELECT_PARTS)
        scope = Scope(outer)
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
        return self.limited(tree, Query(select._replace(order=()).term(), names, order), ctes)

    def set_operation(self, tree: exp.SetOperation, outer: Scope | None, ctes: Ctes) -> Query:
        check_parts(tree, _SET_PARTS)
        arms, flags = [tree.expression], [bool(tree.args.get("distinct"))]
        left: exp.Expr = tree.this
        while type(left) is type(tree) and not set(parts_of(left)) - {
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
        return self.limited(tree, Query(term, names, order), ctes)

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

    def limited(self, tree: exp.Expr, query: Query, ctes: Ctes) -> Query:
        """Keep LIMIT and OFFSET as they stand: which rows they take, the tables do not say."""
        limits = [tree.args[key] for key in ("limit", "offset") if tree.args.get(key)]
        if not limits:
            return query
        self.determined = False
        bounds = tuple(self.generic(limit, Scope(None), ctes) for limit in limits)
        order = Term("list", "", query.order)
        return Query(Term("limited", "", (query.term, order, *bounds)), query.names)

    def outputs(
        self, tree: exp.Select, scope: Scope, ctes: Ctes
    ) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        found: list[tuple[str, Term]] = []
        for node in tree.expressions:
            if isinstance(node, exp.Star):
                if parts_of(node):
                    raise UnsupportedError
                found += self.star(scope)
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                check_parts(node, frozenset({"this", "table"}))
                if parts_of(node.this):
                    raise UnsupportedError
                found += self.qualified_table(self.name(node.args["table"]), scope).all_columns()
            elif isinstance(node, exp.Alias):
                check_parts(node, frozenset({"this", "alias"}))
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

    def star(self, scope: Scope) -> list[tuple[str, Term]]:
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
            COMPLETE for table in scope.tables if table.columns is not None and not table.derived
        )
        return found

    def clause(
        self,
        tree: exp.Select,
        key: str,
        scope: Scope,
        ctes: Ctes,
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
        scope: Scope,
        ctes: Ctes,
        aliases: dict[str, Term | None],
        outputs: tuple[Term, ...],
    ) -> Term:
        group = tree.args.get("group")
        if group is None:
            return NONE
        check_parts(group, frozenset({"expressions"}))
        scope.aliases = aliases
        keys = [self.key(node, scope, ctes, outputs) for node in group.expressions]
        scope.aliases = {}
        if not keys or any(has_aggregate(key) for key in keys):
            raise UnsupportedError
        return Term("group", "", tuple(keys))

    def key(self, node: exp.Expr, scope: Scope, ctes: Ctes, outputs: tuple[Term, ...]) -> Term:
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
        scope: Scope,
        ctes: Ctes,
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
        exact = frozenset(filter(self.known.exact, keys))
        for part in map(_in_order, parts):
            if not (_is_of_group(part, keys, own, inner=False) and looks_at(part, keys, exact)):
                self.determined = False


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


def _ordered_nodes(tree: exp.Expr) -> list[exp.Expr]:
    order = tree.args.get("order")
    if order is None:
        return []
    check_parts(order, frozenset({"expressions"}))
    for node in order.expressions:
        if not isinstance(node, exp.Ordered):
            raise UnsupportedError
        check_parts(node, frozenset({"this", "desc", "nulls_first"}))
    return list(order.expressions)


def _order_term(node: exp.Expr, term: Term) -> Term:
    desc, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
    return Term("order", f"{'desc' if desc else 'asc'} {'first' if first else 'last'}", (term,))
