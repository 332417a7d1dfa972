"""FROM and WITH: which tables a query reads, how they are joined, and what a star is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs
from sqlglot import exp

from scorekit._sql.meaning.names import (
    COMPLETE,
    Cte,
    Ctes,
    Merged,
    NameScope,
    Resolver,
    Visible,
    one_column,
)
from scorekit._sql.meaning.notes import NamedQuery, Notes, has_star
from scorekit._sql.meaning.syntax import InvalidError, UnreadError, check_arguments
from scorekit._sql.meaning.tree import (
    Comparison,
    Derived,
    Function,
    Join,
    Literal,
    Scalar,
    Scan,
    Select,
    SetOperation,
    Table,
    conjunction,
    has_aggregate,
)
from scorekit._sql.meaning.windows import has_window

_NAMED_VALUES: Final = {
    "sqlite": ("column{}", 1),
    "postgres": ("column{}", 1),
    "mysql": ("column_{}", 0),
    "duckdb": ("col{}", 0),
}
"""What the columns of VALUES are called, from which number on."""


def _is_dual(node: exp.Expr) -> bool:
    """Say whether a table is the one that stands for none."""
    dual = isinstance(node, exp.Table) and node.name.lower() == "dual"
    return dual and node.sql().lower() == "dual"


def _common(left: list[Visible], right: list[Visible]) -> list[str]:
    if any(table.columns is None for table in (*left, *right)):
        raise UnreadError("NATURAL JOIN needs a schema")
    names = {name for table in left for name in table.columns or () if name}
    return [name for table in right for name in table.columns or () if name in names]


class SourceReader:
    """Reads the tables of one query, and makes their names visible."""

    def __init__(
        self,
        notes: Notes,
        names: Resolver,
        query: Callable[[exp.Expr, NameScope | None, Ctes], NamedQuery],
        value: Callable[[exp.Expr, NameScope], Scalar],
    ) -> None:
        self._notes, self._names, self._query, self._value = notes, names, query, value
        self._dialect = notes.dialect

    def tables(
        self, tree: exp.Select, scope: NameScope
    ) -> tuple[tuple[Table, ...], tuple[Scalar, ...]]:
        """Make the tables of a SELECT visible; return them, and what joins them."""
        from_, joins = tree.args.get("from_"), list[exp.Join](tree.args.get("joins") or ())
        if from_ is None:
            if joins:
                raise UnreadError("a join without FROM")
            return (), ()
        check_arguments(from_, "this")
        if not joins and _is_dual(from_.this) and self._dialect in ("mysql", "oracle"):
            return (), ()
        tables: list[Table] = []
        conditions: list[Scalar] = []
        stack = [self._joined(from_.this, joins, scope)]
        while stack:  # inner joins are all combinations, and a condition
            table = stack.pop()
            if isinstance(table, Join) and table.kind == "inner":
                stack += [table.right, table.left]
                conditions.insert(0, table.condition)
            else:
                tables.append(table)
        return tuple(tables), tuple(conditions)

    def definitions(self, tree: exp.Expr, outer: NameScope | None, ctes: Ctes) -> Ctes:
        """Return what *tree* may name because of its WITH."""
        with_ = tree.args.get("with_")
        if with_ is None:
            return ctes
        check_arguments(with_, "expressions", "recursive")
        inside = dict(ctes)
        names = [self._names.name(cte.args["alias"].this) for cte in with_.expressions]
        if len(set(names)) != len(names):
            raise UnreadError("WITH defines a name twice")
        inside.update(dict.fromkeys(names))  # a name that is not defined yet is not looked into
        for name, cte in zip(names, with_.expressions, strict=True):
            check_arguments(cte, "this", "alias", "materialized")
            columns = self._columns(cte.args["alias"])
            seen = dict(inside)
            if self._notes.names_only and with_.args.get(
                "recursive"
            ):  # names are those of its first arm
                first = cte.this.this if isinstance(cte.this, exp.SetOperation) else None
                seen[name] = first and Cte(first, columns, outer, dict(inside))
            inside = {**inside, name: Cte(cte.this, columns, outer, seen)}
        return inside

    def _joined(
        self, first: exp.Expr, joins: list[exp.Join], scope: NameScope, *, alone: bool = False
    ) -> Table:
        """
        Read tables from left to right, and what they are joined on when all are visible.

        A name that only a later table has is then found and refused, not taken for an outer one.
        """
        start = len(scope.tables)
        table = self._table(first, scope, alone=alone)
        crossed = False
        read: list[tuple[exp.Join, Table, list[Scalar], int]] = []
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
                conditions.append(self._value(on, inside))
                if has_aggregate(conditions[-1]) or has_window(conditions[-1]):
                    raise InvalidError("an aggregate or a window function in ON")
            condition, side = conjunction(conditions), join.text("side").lower() or "inner"
            if side == "right":
                table = Join("left", right, table, condition)
            else:
                table = Join(side, table, right, condition)
        return table

    def _check_kind(self, join: exp.Join, *, crossed: bool) -> bool:
        """Refuse a join that is not known; say whether one without a condition has come by now."""
        check_arguments(join, "this", "on", "side", "kind", "using", "method")
        side, kind, method = (join.text(key).upper() for key in ("side", "kind", "method"))
        merges = bool(method or join.args.get("using"))
        if (
            side not in ("", "LEFT", "RIGHT", "FULL")
            or kind not in ("", "INNER", "CROSS", "OUTER")
            or method not in ("", "NATURAL")
            or (kind == "OUTER" and not side)
        ):
            raise UnreadError(f"a join that is not known: {method} {side} {kind}".rstrip())
        if crossed and (side in ("RIGHT", "FULL") or merges) and self._dialect != "sqlite":
            raise UnreadError("dialects differ in whether a comma or a join comes first")
        is_comma = not (kind or side or merges or join.args.get("on"))
        return crossed or kind == "CROSS" or is_comma

    def _merged(
        self, join: exp.Join, left: list[Visible], right: list[Visible], scope: NameScope
    ) -> list[Scalar]:
        """Join by common columns, each of which is one from then on; return the conditions."""
        using = join.args.get("using")
        if using:
            names = [self._names.name(column) for column in using]
        else:
            names = _common(left, right) if join.method else []
        conditions: list[Scalar] = []
        for name in names:
            known = scope.merged.get(name)
            if known is not None:
                self._names.check_one(name, attrs.evolve(scope, tables=left), known.sources)
            mine = one_column(name, left) if known is None else known.value
            other = one_column(name, right)
            either = join.side.upper() in ("RIGHT", "FULL")
            value = Function("coalesce", (mine, other)) if either else mine
            sources = mine.sources if known is None else known.sources
            scope.merged[name] = Merged(value, sources | other.sources)
            conditions.append(Comparison("=", mine, other))
        return conditions

    def _table(  # noqa: PLR0911 - a branch per kind of table
        self, node: exp.Expr, scope: NameScope, *, alone: bool = False
    ) -> Table:
        """Read one item of a FROM, perhaps without what is joined to it, and make it visible."""
        inner = node.this if isinstance(node, exp.Subquery) else None
        if isinstance(inner, exp.Table) or (
            isinstance(inner, exp.Subquery) and not node.args.get("alias")
        ):
            check_arguments(node, "this")
            return self._nested(inner, scope)
        if isinstance(node, exp.Table) and node.args.get("joins") and not alone:
            return self._nested(node, scope)
        alias_node = node.args.get("alias")
        alias = self._names.name(alias_node.this) if alias_node and alias_node.this else ""
        columns = self._columns(alias_node)
        if isinstance(node, exp.Subquery):
            check_arguments(node, "this", "alias", "with_", *(["joins"] * alone))
            inside = self.definitions(node, scope.outer, scope.ctes)
            block = self._query(node.this, scope.outer, inside)
            return self._derived(block, alias, columns, scope)
        if isinstance(node, exp.Values):
            return self._values(node, alias, columns, scope)
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            check_arguments(node, "this", "alias")
            check_arguments(node.this, "this", "with_")
            inside = self.definitions(node.this, scope, scope.ctes)
            block = self._query(node.this.this, scope, inside)
            return self._derived(block, alias, columns, scope)
        if not isinstance(node, exp.Table):
            raise UnreadError(f"{type(node).__name__} is no table that is known")
        check_arguments(node, "this", "db", "catalog", "alias", *(["joins"] * alone))
        name = self._names.name(node.this)
        qualified = node.args.get("db") is not None
        if not qualified and name in scope.ctes:
            cte = scope.ctes[name]
            if cte is None:
                raise UnreadError(f"{name} names itself, or what is defined after it")
            block = self._query(cte.tree, cte.scope, cte.ctes)
            derived = self._derived(block, alias or name, columns or cte.columns, scope)
            self._notes.of_with.setdefault(id(cte.tree), []).append(derived.source)
            return derived
        if columns:  # other names for those of the table
            own = NameScope(None, {})
            base = self._base_table(node, name, alias, own)
            outputs = self.star(own)
            values = tuple(value for _, value in outputs)
            block = NamedQuery(Select((base,), outputs=values), tuple(name for name, _ in outputs))
            return self._derived(block, alias, columns, scope)
        return self._base_table(node, name, alias, scope)

    def _base_table(self, node: exp.Table, name: str, alias: str, scope: NameScope) -> Scan:
        parts = [node.args.get(key) for key in ("catalog", "db")]
        written = ".".join([*(self._names.name(part) for part in parts if part), name])
        schema = self._notes.catalog.schema
        meant = schema.find(written) if schema is not None else None
        full = written if meant in (None, written.lower()) else meant or written
        source = self._notes.source(full)
        self._notes.scans.append(source)
        own = "" if alias else written
        scope.add(Visible(alias or name, source, self._notes.catalog.names(full), own))
        return Scan(source)

    def _nested(self, node: exp.Expr, scope: NameScope) -> Table:
        """Read a join in brackets, or ``a JOIN b JOIN c ON ... ON ...``, which needs none."""
        joins = list[exp.Join](node.args.get("joins") or ())
        if scope.tables and any(join.args.get("using") or join.method for join in joins):
            raise UnreadError("USING in a join in brackets")
        return self._joined(node, joins, scope, alone=True)

    def _values(
        self, node: exp.Values, alias: str, columns: tuple[str, ...], scope: NameScope
    ) -> Derived:
        """Read rows that are written out: each is a SELECT without FROM."""
        check_arguments(node, "expressions", "alias")
        arms: list[Select] = []
        for row in node.expressions:
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            values = tuple(self._value(cell, NameScope(scope.outer, {})) for cell in cells)
            if not all(isinstance(one, Literal) for one in values):
                raise UnreadError("VALUES that are computed")
            arms.append(Select((), outputs=values))
        if not arms:
            raise UnreadError("VALUES without rows")
        form, first = _NAMED_VALUES.get(self._dialect, ("", 0))
        width = len(arms[0].outputs)
        names = tuple(form.format(i) for i in range(first, first + width))
        if any(len(arm.outputs) != width for arm in arms):
            raise UnreadError("rows of VALUES differ in their width")
        whole = SetOperation("union", distinct=False, arms=tuple(arms))
        return self._derived(
            NamedQuery(whole if len(arms) > 1 else arms[0], names), alias, columns, scope
        )

    def _columns(self, alias: exp.Expr | None) -> tuple[str, ...]:
        """Return the names that an alias gives to columns."""
        if alias is None:
            return ()
        check_arguments(alias, "this", "columns")
        return tuple(self._names.name(column) for column in alias.args.get("columns") or ())

    def _derived(
        self, block: NamedQuery, alias: str, columns: tuple[str, ...], scope: NameScope
    ) -> Derived:
        names = block.names
        if has_star(block.query):
            raise UnreadError("a star stands for columns that only a schema names")
        if columns:
            if len(columns) > len(names):
                raise UnreadError("more names than columns")
            names = (*columns, *names[len(columns) :])
        source = self._notes.source()
        self._notes.catalog.derived[source] = block.query
        scope.add(Visible(alias, source, names))
        return Derived(source, block.query)

    def star(self, scope: NameScope) -> list[tuple[str, Scalar]]:
        found: list[tuple[str, Scalar]] = []
        if not scope.tables:
            raise UnreadError("a star without tables")
        if scope.merged and any(table.columns is None for table in scope.tables):
            raise UnreadError("a star after USING needs a schema")
        seen: set[str] = set()
        for table in scope.tables:
            for name, column in table.all_columns():
                merged = scope.merged.get(name)
                if merged is not None and table.source in merged.sources:
                    if name not in seen:
                        found.append((name, merged.value))
                    seen.add(name)
                else:
                    found.append((name, column))
        if scope.merged and self._dialect != "sqlite":
            raise UnreadError("a star after USING")  # elsewhere the common columns come first
        if any(t.columns is not None and t.source.table for t in scope.tables):
            self._notes.assumptions.add(COMPLETE)
        return found
