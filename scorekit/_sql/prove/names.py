"""What every name in a query refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.terms import Select, Term, UnsupportedError

MAX_NODES: Final = 3_000
"""Nodes of the largest syntax tree that is looked into."""

MAX_DEPTH: Final = 80
"""Depth of the deepest one; a chain of AND, OR or set operations counts as one level."""

CASE_MATTERS: Final = frozenset({"mysql", "bigquery"})
"""Dialects in which names of tables may differ in case alone."""

_HIDDEN = frozenset({"rowid", "oid", "_rowid_", "ctid", "xmin", "xmax", "tableoid", "rownum"})
"""Columns that tables of some engines have without their being declared."""

_UNFAMILIAR = frozenset({"clickhouse", "prql", "tableau"})
"""Dialects in which an outer join does not give NULLs, or that are hardly SQL."""

COMPLETE = "the schema names every column of its tables, in their order"


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


class Table(NamedTuple):
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
class Scope:
    """What can be named inside one SELECT."""

    outer: Scope | None
    tables: list[Table] = attrs.Factory(list[Table])
    merged: dict[str, Term] = attrs.Factory(dict[str, Term])
    """Columns joined by USING, which belong to both sides."""
    aliases: dict[str, Term | None] = attrs.Factory(dict[str, "Term | None"])
    """Outputs that the clause at hand may name; None where two have the name."""
    n_visible: int | None = None
    """How many of the tables an ON may name."""


class Query(NamedTuple):
    """A query whose names are resolved, with the names of its outputs."""

    term: Term
    names: tuple[str, ...]
    order: tuple[Term, ...] = ()


class Cte(NamedTuple):
    """A common table expression, resolved anew wherever it is named."""

    tree: exp.Expr
    columns: tuple[str, ...]
    scope: Scope | None
    ctes: dict[str, Cte | None]


Ctes = dict[str, "Cte | None"]
"""By name; None stands for one whose own definition is being read."""


class Names:
    """Resolves names."""

    def __init__(self, known: Known, dialect: str) -> None:
        self.known = known
        self.dialect = dialect
        self.rules = Dialect.get_or_raise(dialect)
        self.determined = dialect not in _UNFAMILIAR
        self.n_sources = 0
        self.orders: list[tuple[Term, ...]] = []
        self.first_use: dict[int, Term] = {}
        """The table that each common table expression became first."""
        self.shared: list[tuple[Term, Term]] = []

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

    def one_column(self, name: str, tables: list[Table]) -> Term:
        """Return the column that just one of *tables* has."""
        if len(tables) == 1 and tables[0].columns is None:
            return tables[0].column(name)
        if any(table.columns is None for table in tables):
            raise UnsupportedError
        having = [table for table in tables if name in (table.columns or ())]
        if len(having) != 1:
            raise UnsupportedError
        return having[0].column(name)

    def qualified_table(self, alias: str, scope: Scope) -> Table:
        level: Scope | None = scope
        while level is not None:
            for i, table in enumerate(level.tables):
                if table.alias == alias:
                    if level.n_visible is not None and i >= level.n_visible:
                        raise UnsupportedError
                    return table
            level = level.outer
        raise UnsupportedError

    def column(self, node: exp.Column, scope: Scope) -> Term:  # noqa: C901 - scope by scope
        check_parts(node, frozenset({"this", "table"}))
        name = self.name(node.this)
        if node.args.get("table") is not None:
            table = self.qualified_table(self.name(node.args["table"]), scope)
            if table.columns is not None and name not in table.columns:
                raise UnsupportedError
            return table.column(name)
        may_be_text = node.this.quoted and self.dialect == "sqlite"
        levels: list[tuple[Term, ...]] = []
        sure = False
        level: Scope | None = scope
        while level is not None:
            found, sure = self.in_scope(name, level)
            if sure:
                levels.append(tuple(found))
                break
            if found:
                levels.append(tuple(found))
            if level.tables and name.casefold() in _HIDDEN:
                raise UnsupportedError  # a column of this table that no schema names
            level = level.outer
        if not levels:
            if may_be_text and self.known.schema is not None and self.known.schema.given:
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

    def in_scope(self, name: str, scope: Scope) -> tuple[list[Term], bool]:
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
                self.known.assumptions.add(COMPLETE)
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


def check_parts(node: exp.Expr, known: frozenset[str]) -> None:
    if not known.issuperset(parts_of(node)):
        raise UnsupportedError


def parts_of(node: exp.Expr) -> list[str]:
    """Return the keys of the arguments that are there."""
    return [key for key, value in node.args.items() if value not in (None, False, [])]


def outputs_of(query: Term) -> tuple[Term, ...]:
    while query.op != "select":
        query = query.args[0]
    return Select.of(query).outputs
