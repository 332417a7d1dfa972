"""What a FROM and a WITH make visible, and how it is joined."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from scorekit._sql.prove.expressions import Expressions
from scorekit._sql.prove.names import Cte, Ctes, Query, Scope, Table, check_parts, outputs_of
from scorekit._sql.prove.terms import NONE, TRUE, Term, UnsupportedError


class Sources(Expressions):
    """Resolves what rows come from."""

    def with_ctes(self, tree: exp.Expr, outer: Scope | None, ctes: Ctes) -> Ctes:
        with_ = tree.args.get("with_")
        if with_ is None:
            return ctes
        check_parts(with_, frozenset({"expressions", "recursive"}))
        inside = dict(ctes)
        names = [self.name(cte.args["alias"].this) for cte in with_.expressions]
        if len(set(names)) != len(names):
            raise UnsupportedError
        inside.update(dict.fromkeys(names))  # a name that is not defined yet is not looked into
        for name, cte in zip(names, with_.expressions, strict=True):
            check_parts(cte, frozenset({"this", "alias", "materialized"}))
            columns = tuple(self.name(c) for c in cte.args["alias"].args.get("columns") or ())
            inside = {**inside, name: Cte(cte.this, columns, outer, dict(inside))}
        return inside

    def from_(self, tree: exp.Select, scope: Scope, ctes: Ctes) -> Term:
        from_ = tree.args.get("from_")
        if from_ is None:
            if tree.args.get("joins"):
                raise UnsupportedError
            return Term("from")
        check_parts(from_, frozenset({"this"}))
        return self.joined(from_.this, list[Any](tree.args.get("joins") or ()), scope, ctes)

    def joined(self, first: exp.Expr, joins: list[Any], scope: Scope, ctes: Ctes) -> Term:
        start = len(scope.tables)
        term = self.table(first, scope, ctes)
        crossed = False
        pending: list[tuple[exp.Expr | None, int]] = []
        for join in joins:
            check_parts(join, frozenset({"this", "on", "side", "kind", "using", "method"}))
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

    def table(self, node: exp.Expr, scope: Scope, ctes: Ctes) -> Term:
        """Resolve one item of a FROM and make it visible."""
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            check_parts(node, frozenset({"this"}))
            inner = node.this.copy()
            joins = list[Any](inner.args.pop("joins", None) or ())
            if scope.tables:
                raise UnsupportedError
            return self.joined(inner, joins, scope, ctes)
        alias_node = node.args.get("alias")
        if alias_node is not None:
            check_parts(alias_node, frozenset({"this", "columns"}))
        columns = (
            tuple(self.name(c) for c in (alias_node.args.get("columns") or ()))
            if alias_node
            else ()
        )
        if isinstance(node, exp.Subquery):
            check_parts(node, frozenset({"this", "alias", "with_"}))
            alias = self.name(alias_node.this) if alias_node and alias_node.this else ""
            inside = self.with_ctes(node, scope.outer, ctes)
            return self.derived(self.query(node.this, scope.outer, inside), alias, columns, scope)
        if not isinstance(node, exp.Table):
            raise UnsupportedError
        check_parts(node, frozenset({"this", "db", "catalog", "alias"}))
        name = self.name(node.this)
        alias = self.name(alias_node.this) if alias_node and alias_node.this else name
        qualified = node.args.get("db") is not None
        cte = None if qualified else ctes.get(name, NONE)
        if cte is None and not qualified:
            raise UnsupportedError  # it names itself, or a later one
        if isinstance(cte, Cte):
            return self.common_table(cte, alias, columns, scope)
        if columns:
            raise UnsupportedError
        parts = [node.args.get(key) for key in ("catalog", "db")]
        full = ".".join([*(self.name(part) for part in parts if part), name])
        source = self.new_source()
        self.known.tables[source] = full
        known = self.known.columns(full)
        if known is not None:
            known = tuple(self.column_name(column) for column in known)
        self.add(Table(alias, source, known, derived=False), scope)
        return Term("table", full, (source,))

    def common_table(self, cte: Cte, alias: str, columns: tuple[str, ...], scope: Scope) -> Term:
        query = self.query(cte.tree, cte.scope, cte.ctes)
        term = self.derived(query, alias, columns or cte.columns, scope)
        first = self.first_use.setdefault(id(cte.tree), term.args[0])
        if first != term.args[0]:
            self.shared.append((term.args[0], first))
        return term

    def derived(self, query: Query, alias: str, columns: tuple[str, ...], scope: Scope) -> Term:
        names = query.names
        if any(node.op == "star" for node in outputs_of(query.term)):
            raise UnsupportedError
        if columns:
            if len(columns) > len(names):
                raise UnsupportedError
            names = (*columns, *names[len(columns) :])
        source = self.new_source()
        self.add(Table(alias, source, names, derived=True), scope)
        return Term("derived", "", (source, query.term))

    def add(self, table: Table, scope: Scope) -> None:
        if table.alias and any(other.alias == table.alias for other in scope.tables):
            raise UnsupportedError
        scope.tables.append(table)

    def merge(
        self, name: str, side: str, left: list[Table], right: list[Table], scope: Scope
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


def _common(left: list[Table], right: list[Table]) -> list[str]:
    if any(table.columns is None for table in (*left, *right)):
        raise UnsupportedError
    names = {name for table in left for name in table.columns or () if name}
    return [name for table in right for name in table.columns or () if name in names]
