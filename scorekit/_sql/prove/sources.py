"""What a FROM and a WITH make visible, and how it is joined."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from sqlglot import exp

from scorekit._sql.prove.expressions import Findings, Query, ReadQuery
from scorekit._sql.prove.names import Cte, Ctes, Names, Scope, Table, one_column
from scorekit._sql.prove.predicates import LITERALS, conjunction
from scorekit._sql.prove.terms import NONE, TRUE, Select, Term, UnsupportedError, outputs_of
from scorekit._sql.prove.trees import check_parts


class FromReader:
    """Reads what rows come from: makes tables visible in a scope, and joins them."""

    def __init__(
        self,
        names: Names,
        findings: Findings,
        read_expression: Callable[[exp.Expr, Scope], Term],
        read_query: ReadQuery,
    ) -> None:
        self._names, self._findings = names, findings
        self._read_expression, self._read_query = read_expression, read_query
        self._n_sources = 0
        self._first_use: dict[int, tuple[exp.Expr, Term]] = {}
        """By its tree, the table that each common table expression became first."""

    def definitions(self, tree: exp.Expr, outer: Scope | None, ctes: Ctes) -> Ctes:
        """Return the common table expressions that *tree* may name."""
        with_ = tree.args.get("with_")
        if with_ is None:
            return ctes
        check_parts(with_, frozenset({"expressions", "recursive"}))
        inside = dict(ctes)
        names = [self._names.name(cte.args["alias"].this) for cte in with_.expressions]
        if len(set(names)) != len(names):
            raise UnsupportedError
        inside.update(dict.fromkeys(names))  # a name that is not defined yet is not looked into
        for name, cte in zip(names, with_.expressions, strict=True):
            check_parts(cte, frozenset({"this", "alias", "materialized"}))
            inside = {
                **inside,
                name: Cte(cte.this, self._columns(cte.args["alias"]), outer, dict(inside)),
            }
        return inside

    def read(self, tree: exp.Select, scope: Scope) -> Term:
        """Make the tables of a SELECT visible in its scope, and return how they are joined."""
        from_, joins = tree.args.get("from_"), list[exp.Join](tree.args.get("joins") or ())
        if from_ is None:
            if joins:
                raise UnsupportedError
            return Term("from")
        check_parts(from_, frozenset({"this"}))
        return self._joined(from_.this, joins, scope)

    def _joined(self, first: exp.Expr, joins: list[exp.Join], scope: Scope) -> Term:
        """
        Read tables from left to right, and what they are joined on when all are visible.

        A name that only a later table has is then found and refused, not taken for an outer one.
        """
        start = len(scope.tables)
        term = self._table(first, scope)
        crossed = False
        read: list[tuple[exp.Join, Term, list[Term], int]] = []
        for join in joins:
            crossed = self._check_kind(join, crossed=crossed)
            left = scope.tables[start:]
            right = self._table(join.this, scope)
            new = scope.tables[start + len(left) :]
            read.append((join, right, self._merged(join, left, new, scope), len(scope.tables)))
        for join, right, conditions, n_visible in read:
            on = join.args.get("on")
            if on is not None:
                inside = attrs.evolve(scope, n_visible=n_visible)
                conditions.append(self._read_expression(on, inside))
            side = join.text("side").lower() or "inner"
            term = Term("join", side, (term, right, conjunction(conditions)))
        return term

    def _check_kind(self, join: exp.Join, *, crossed: bool) -> bool:
        """Refuse a join that is not known; say whether one without a condition has come by now."""
        check_parts(join, frozenset({"this", "on", "side", "kind", "using", "method"}))
        side, kind, method = (join.text(key).upper() for key in ("side", "kind", "method"))
        merges = bool(method or join.args.get("using"))
        if (
            side not in ("", "LEFT", "RIGHT", "FULL")
            or kind not in ("", "INNER", "CROSS", "OUTER")
            or method not in ("", "NATURAL")
            or (kind == "OUTER" and not side)
        ):
            raise UnsupportedError
        if crossed and (side in ("RIGHT", "FULL") or merges) and self._names.dialect != "sqlite":
            raise UnsupportedError  # a comma binds less than a join in most dialects
        is_comma = not (kind or side or merges or join.args.get("on"))
        return crossed or kind == "CROSS" or is_comma

    def _merged(
        self, join: exp.Join, left: list[Table], right: list[Table], scope: Scope
    ) -> list[Term]:
        """Join by common columns, each of which is one from then on; return the conditions."""
        using = join.args.get("using")
        if using:
            names = [self._names.name(column) for column in using]
        else:
            names = _common(left, right) if join.method else []
        conditions: list[Term] = []
        for name in names:
            mine = scope.merged.get(name) or one_column(name, left)
            other = one_column(name, right)
            parts = Term("part", "expressions", (other,)), Term("part", "this", (mine,))
            either = join.side.upper() in ("RIGHT", "FULL")
            scope.merged[name] = Term("fn", "Coalesce", parts) if either else mine
            conditions.append(Term("eq", "", (mine, other)))
        return conditions

    def _table(  # noqa: C901, PLR0911 - a branch per kind of table
        self, node: exp.Expr, scope: Scope
    ) -> Term:
        """Read one item of a FROM and make it visible."""
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            check_parts(node, frozenset({"this"}))
            return self._nested(node.this, scope)
        if isinstance(node, exp.Table) and node.args.get("joins"):
            return self._nested(node, scope)
        alias_node = node.args.get("alias")
        alias = self._names.name(alias_node.this) if alias_node and alias_node.this else ""
        columns = self._columns(alias_node)
        if isinstance(node, exp.Subquery):
            check_parts(node, frozenset({"this", "alias", "with_"}))
            inside = self.definitions(node, scope.outer, scope.ctes)
            query = self._read_query(node.this, scope.outer, inside)
            return self._derived(query, alias, columns, scope)
        if isinstance(node, exp.Values):
            return self._values(node, alias, columns, scope)
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            check_parts(node, frozenset({"this", "alias"}))
            check_parts(node.this, frozenset({"this", "with_"}))
            inside = self.definitions(node.this, scope, scope.ctes)
            query = self._read_query(node.this.this, scope, inside)
            return self._derived(query, alias, columns, scope)
        if not isinstance(node, exp.Table):
            raise UnsupportedError
        check_parts(node, frozenset({"this", "db", "catalog", "alias"}))
        name = self._names.name(node.this)
        qualified = node.args.get("db") is not None
        cte = None if qualified else scope.ctes.get(name, NONE)
        if cte is None and not qualified:
            raise UnsupportedError  # it names itself, or a later one
        if isinstance(cte, Cte):
            return self._common_table(cte, alias or name, columns, scope)
        if columns:
            raise UnsupportedError
        parts = [node.args.get(key) for key in ("catalog", "db")]
        full = ".".join([*(self._names.name(part) for part in parts if part), name])
        known, source = self._names.known, self._new_source()
        meant = known.schema.find(full) if known.schema is not None else None
        if meant is not None and meant != full.casefold():
            full = meant
        known.tables[source] = full
        declared = known.columns(full)
        if declared is not None:
            declared = tuple(map(self._names.of_schema, declared))
        scope.add(Table(alias or name, source, declared, derived=False))
        return Term("table", full, (source,))

    def _nested(self, node: exp.Table, scope: Scope) -> Term:
        """Read a join in brackets, or ``a JOIN b JOIN c ON ... ON ...``, which needs none."""
        inner = node.copy()
        joins = list[exp.Join](inner.args.pop("joins", None) or ())
        if scope.tables and any(join.args.get("using") or join.method for join in joins):
            raise UnsupportedError
        return self._joined(inner, joins, scope)

    def _values(
        self, node: exp.Values, alias: str, columns: tuple[str, ...], scope: Scope
    ) -> Term:
        """Read rows that are written out: each is a SELECT without FROM."""
        check_parts(node, frozenset({"expressions", "alias"}))
        rows: list[Term] = []
        width = 0
        for row in node.expressions:
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            terms = tuple(self._read_expression(cell, Scope(scope.outer, {})) for cell in cells)
            if any(term.op not in LITERALS for term in terms) or (rows and len(terms) != width):
                raise UnsupportedError
            width = len(terms)
            rows.append(Select.of_rows(Term("from"), TRUE, terms).term())
        term = rows[0] if len(rows) == 1 else Term("union all", "", tuple(rows))
        return self._derived(Query(term, ("",) * width), alias, columns, scope)

    def _columns(self, alias: exp.Expr | None) -> tuple[str, ...]:
        """Return the names that an alias gives to columns."""
        if alias is None:
            return ()
        check_parts(alias, frozenset({"this", "columns"}))
        return tuple(self._names.name(column) for column in alias.args.get("columns") or ())

    def _common_table(self, cte: Cte, alias: str, columns: tuple[str, ...], scope: Scope) -> Term:
        query = self._read_query(cte.tree, cte.scope, cte.ctes)
        term = self._derived(query, alias, columns or cte.columns, scope)
        _, first = self._first_use.setdefault(id(cte.tree), (cte.tree, term.args[0]))
        if first != term.args[0]:
            self._findings.shared.append((term.args[0], first))
        return term

    def _derived(self, query: Query, alias: str, columns: tuple[str, ...], scope: Scope) -> Term:
        names = query.names
        if any(node.op == "star" for node in outputs_of(query.term)):
            raise UnsupportedError
        if columns:
            if len(columns) > len(names):
                raise UnsupportedError
            names = (*columns, *names[len(columns) :])
        source = self._new_source()
        scope.add(Table(alias, source, names, derived=True))
        return Term("derived", "", (source, query.term))

    def _new_source(self) -> Term:
        self._n_sources += 1
        return Term("src", f"s{self._n_sources}")


def _common(left: list[Table], right: list[Table]) -> list[str]:
    if any(table.columns is None for table in (*left, *right)):
        raise UnsupportedError
    names = {name for table in left for name in table.columns or () if name}
    return [name for table in right for name in table.columns or () if name in names]
