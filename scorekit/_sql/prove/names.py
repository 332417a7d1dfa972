"""Scopes, and what a name means in one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import attrs
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.terms import Term, UnsupportedError
from scorekit._sql.prove.trees import check_parts

CASE_MATTERS: Final = frozenset({"mysql", "bigquery"})
"""Dialects in which names of tables may differ in case alone."""

COMPLETE: Final = "the schema names every column of its tables, in their order"

_HIDDEN = frozenset({"rowid", "oid", "_rowid_", "ctid", "xmin", "xmax", "tableoid", "rownum"})
"""Columns that tables of some engines have without their being declared."""


class Table(NamedTuple):
    """A table that a FROM makes visible."""

    alias: str
    source: Term
    columns: tuple[str, ...] | None
    """Names of its columns; those of a derived table that have no name are empty."""
    derived: bool

    def column(self, name: str) -> Term:
        """Return the column of that name."""
        if not self.derived:
            return Term("col", name, (self.source,))
        places = [i for i, column in enumerate(self.columns or ()) if column == name]
        if len(places) != 1:
            raise UnsupportedError
        return Term("col", str(places[0]), (self.source,))

    def all_columns(self) -> list[tuple[str, Term]]:
        """Return what a star stands for."""
        if self.columns is None:
            return [("", Term("star", "", (self.source,)))]
        if self.derived:
            return [
                (name, Term("col", str(i), (self.source,))) for i, name in enumerate(self.columns)
            ]
        return [(name, self.column(name)) for name in self.columns]


class Cte(NamedTuple):
    """A common table expression, read anew wherever it is named."""

    tree: exp.Expr
    columns: tuple[str, ...]
    scope: Scope | None
    ctes: Ctes


Ctes = dict[str, "Cte | None"]
"""By name; None stands for one whose own definition is being read."""


@attrs.define
class Scope:
    """What can be named inside one SELECT, or in one clause of it."""

    outer: Scope | None
    ctes: Ctes
    tables: list[Table] = attrs.Factory(list[Table])
    merged: dict[str, Term] = attrs.Factory(dict[str, Term])
    """Columns joined by USING, which belong to both sides."""
    aliases: dict[str, Term | None] = attrs.Factory(dict[str, "Term | None"])
    """Outputs that the clause may name; None where two have the name."""
    windows: dict[str, exp.Window] = attrs.Factory(dict[str, exp.Window])
    """What WINDOW names."""
    n_visible: int | None = None
    """How many of the tables an ON may name."""

    def levels(self) -> Iterator[Scope]:
        """Yield this scope and those around it, outwards."""
        level: Scope | None = self
        while level is not None:
            yield level
            level = level.outer

    def add(self, table: Table) -> None:
        """Make a table visible."""
        if table.alias and any(other.alias == table.alias for other in self.tables):
            raise UnsupportedError
        self.tables.append(table)

    def table(self, alias: str) -> Table:
        """Return the nearest table of that name."""
        for level in self.levels():
            for i, table in enumerate(level.tables):
                if table.alias == alias:
                    level.check_visible(i)
                    return table
        raise UnsupportedError

    def check_visible(self, place: int) -> None:
        """Refuse a table that comes after the ON that names it."""
        if self.n_visible is not None and place >= self.n_visible:
            raise UnsupportedError


def one_column(name: str, tables: list[Table]) -> Term:
    """Return the column that just one of *tables* has."""
    if len(tables) == 1 and tables[0].columns is None:
        return tables[0].column(name)
    if any(table.columns is None for table in tables):
        raise UnsupportedError
    having = [table for table in tables if name in (table.columns or ())]
    if len(having) != 1:
        raise UnsupportedError
    return having[0].column(name)


class Names:
    """How a dialect compares names, and which column one means."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.dialect = known.dialect or ""
        self.rules = Dialect.get_or_raise(self.dialect)

    def name(self, identifier: exp.Expr) -> str:
        """Return an identifier as its dialect compares it; letters beyond ASCII are kept."""
        if not isinstance(identifier, exp.Identifier):
            raise UnsupportedError
        text: str = identifier.this
        if identifier.args.get("temporary") or identifier.args.get("global_"):
            raise UnsupportedError  # T-SQL's #name is another table than name, and than ##name
        if not text.isascii():
            return text
        if self.dialect in CASE_MATTERS:  # tables: as written, which is the safe side
            is_column = isinstance(identifier.parent, exp.Column) and identifier.arg_key == "this"
            return text.casefold() if is_column else text
        return str(self.rules.normalize_identifier(identifier.copy()).this)

    def of_schema(self, column: str) -> str:
        """Return the name of a column of the schema as an unquoted identifier would be."""
        return str(self.rules.normalize_identifier(exp.to_identifier(column, quoted=False)).this)

    def column(self, node: exp.Column, scope: Scope) -> Term:
        """
        Return what a column in a query refers to.

        Where the schema leaves that open, it is every column that it may be, scope by scope:
        ``col?``, or ``quoted`` where SQLite may also read a text.
        """
        check_parts(node, frozenset({"this", "table"}))
        name = self.name(node.this)
        if node.args.get("table") is not None:
            table = scope.table(self.name(node.args["table"]))
            if table.columns is not None and name not in table.columns:
                raise UnsupportedError
            return table.column(name)
        may_be_text = node.this.quoted and self.dialect == "sqlite"
        found, sure = self._candidates(name, scope)
        if not found:
            if may_be_text and self.known.schema is not None and self.known.schema.given:
                text: str = node.this.this
                self.known.assumptions.add(f'"{text}" is no column, so that SQLite reads a text')
                return Term("str", text)
            raise UnsupportedError
        if may_be_text and not sure:
            return Term("quoted", node.this.this, found)
        if len(found) == 1 and len(found[0].args) == 1:
            return found[0].args[0]
        return Term("col?", name, found)

    def _candidates(self, name: str, scope: Scope) -> tuple[tuple[Term, ...], bool]:
        """Return what *name* may be in each scope, and whether it must be one of that."""
        found: list[Term] = []
        for level in scope.levels():
            columns, sure = self._in_scope(name, level)
            if columns:
                found.append(Term("scope", "", tuple(columns)))
            if sure:
                return tuple(found), True
            if level.tables and name.casefold() in _HIDDEN:
                raise UnsupportedError  # a column of this table that no schema names
        return tuple(found), False

    def _in_scope(self, name: str, scope: Scope) -> tuple[list[Term], bool]:
        """Return what *name* may be in one scope, and whether it must be that."""
        if name in scope.merged:
            found, sure = [scope.merged[name]], True
        else:
            found, sure = self._in_tables(name, scope)
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

    def _in_tables(self, name: str, scope: Scope) -> tuple[list[Term], bool]:
        known: list[int] = []
        unknown: list[int] = []
        for i, table in enumerate(scope.tables):
            if table.columns is None:
                unknown.append(i)
            elif name in table.columns:
                known.append(i)
        if len(known) > 1:
            raise UnsupportedError
        places = known or unknown
        for i in places:
            scope.check_visible(i)
        if known and len(scope.tables) > 1:
            self.known.assumptions.add(COMPLETE)
        return [scope.tables[i].column(name) for i in places], bool(known)
