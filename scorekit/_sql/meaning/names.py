"""Which table or column a name means in its place, by the rules of a dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import attrs
from sqlglot import exp

from scorekit._sql.meaning.catalog import Catalog, normal_name
from scorekit._sql.meaning.syntax import InvalidError, RefusedError, UnreadError, check_arguments
from scorekit._sql.meaning.tree import Column, Level, Literal, OpenName, Scalar, Source, Star
from scorekit._sql.schema.tables import SqlSchema
from scorekit._sql.text.dialect_neutral import ask
from scorekit._sql.text.parsing import may_be_text

COMPLETE: Final = "the schema names every column of its tables, in their order"


CASE_MATTERS: Final = frozenset({"mysql", "bigquery"})
"""Dialects in which names of tables may differ in case alone."""


_BY_OUTPUTS = (exp.Group, exp.Having, exp.Order, exp.Qualify)
"""Clauses in which a name may be that of an output before it is that of a column."""


ROW_CLAUSES = (exp.Where, exp.Join)
"""Clauses that are read before there are groups."""


class Visible(NamedTuple):
    """A table that a FROM makes visible."""

    alias: str
    source: Source
    columns: tuple[str, ...] | None
    """Names of its columns; those of a derived table that have no name are empty."""
    written: str = ""
    """Its name with all qualifiers, if it has no alias."""

    def column(self, name: str) -> Column:
        """Return the column of that name."""
        if self.source.table:
            return Column(self.source, name)
        places = [i for i, column in enumerate(self.columns or ()) if column == name]
        if len(places) != 1:
            raise UnreadError(
                f"{self.alias or 'a derived table'} has {len(places)} columns {name}"
            )
        return Column(self.source, str(places[0]))

    def all_columns(self) -> list[tuple[str, Scalar]]:
        """Return what a star stands for."""
        if self.columns is None:
            return [("", Star(self.source))]
        if self.source.table:
            return [(name, self.column(name)) for name in self.columns]
        return [(name, Column(self.source, str(i))) for i, name in enumerate(self.columns)]


class Cte(NamedTuple):
    """What WITH names, read anew wherever it is used."""

    tree: exp.Expr
    columns: tuple[str, ...]
    scope: NameScope | None
    ctes: Ctes


class Merged(NamedTuple):
    """A column that USING or NATURAL made of several."""

    value: Scalar
    sources: frozenset[Source]
    """The tables that have it."""


Ctes = dict[str, "Cte | None"]
"""By name; None stands for one whose own definition is being read."""


@attrs.define
class NameScope:
    """What can be named inside one SELECT, or in one clause of it."""

    outer: NameScope | None
    ctes: Ctes
    tables: list[Visible] = attrs.Factory(list[Visible])
    merged: dict[str, Merged] = attrs.Factory(dict[str, "Merged"])
    """Columns joined by USING, which belong to both sides."""
    aliases: dict[str, Scalar | None] = attrs.Factory(dict[str, "Scalar | None"])
    """Outputs that the clause may name; None where two have the name."""
    clause: str = ""
    """Where not all dialects see the outputs."""
    lateral: dict[str, Scalar | None] = attrs.Factory(dict[str, "Scalar | None"])
    """Outputs that other outputs may name; whether the clause may is not known."""
    n_visible: int | None = None
    """How many of the tables an ON may name."""

    def at(self, clause: str) -> NameScope:
        """Return what can be named in a clause."""
        kept = self.outer, self.ctes, self.tables, self.merged, self.aliases
        return NameScope(*kept, clause, self.lateral, self.n_visible)

    def levels(self) -> Iterator[NameScope]:
        """Yield this scope and those around it, outwards."""
        level: NameScope | None = self
        while level is not None:
            yield level
            level = level.outer

    def add(self, table: Visible) -> None:
        """Make a table visible."""
        if table.alias and any(other.alias == table.alias for other in self.tables):
            raise UnreadError(f"two tables are called {table.alias}")
        self.tables.append(table)

    def table(self, alias: str, written: str | None = None) -> Visible:
        """Return the nearest table of that name."""
        named = False
        for level in self.levels():
            for i, table in enumerate(level.tables):
                if table.alias == alias:
                    level.check_visible(i)
                    named = True
                    if written not in (None, table.written):
                        break
                    return table
        error = UnreadError if named else RefusedError
        raise error(f"no table is called {written or alias}")

    def names(self, name: str) -> bool:
        """Say whether a name is that of a table, and so perhaps of its whole rows."""
        return any(table.alias == name for level in self.levels() for table in level.tables)

    def check_visible(self, place: int) -> None:
        """Refuse a table that comes after the ON that names it."""
        if self.n_visible is not None and place >= self.n_visible:
            raise UnreadError("a join names a table that comes after it")


_ANY_HIDDEN = re.compile(r"_?rowid_?|oid|ctid|xmin|xmax|tableoid|rownum")


_HIDDEN: Final = {
    "sqlite": re.compile(r"_?rowid_?|oid"),
    "postgres": re.compile(r"ctid|[cx]m(?:in|ax)|tableoid|(?:current_|session_)?user"),
    "mysql": re.compile(r"(?!)"),
    "duckdb": re.compile(r"rowid|(?:current_|session_)?user"),
}
"""Columns that are there without being declared."""


_WITHOUT_ALIASES: Final = {
    "postgres": "having expressions",
    **dict.fromkeys(("tsql", "fabric", "oracle", "trino", "presto", "athena"), "group having"),
}
"""Where a dialect does not see outputs; an expression is a key that is more than their name."""


_ALIASES_IN_WHERE: Final = frozenset({"sqlite", "duckdb", "snowflake", "teradata", "clickhouse"})
"""Dialects that are known to see them in WHERE."""


def _sees_outputs(clause: str, dialect: str | None) -> bool:
    if clause == "where":
        return dialect in _ALIASES_IN_WHERE
    return {*clause.split()}.isdisjoint(_WITHOUT_ALIASES.get(dialect or "", "").split())


def _keeps_lower(dialect: str | None) -> bool:
    """Say whether a name in small letters is compared as it is, in quotes or not."""
    return all(normal_name("a", dialect, quoted=quoted) == "a" for quoted in (False, True))


class Resolver:
    """How a dialect compares names, and which column one means."""

    def __init__(self, catalog: Catalog, assumptions: set[str]) -> None:
        self.catalog, self.assumptions = catalog, assumptions
        self.dialect = catalog.dialect or ""
        self._lower = ask(catalog.dialect, _keeps_lower)

    def name(self, identifier: exp.Expr) -> str:
        """Return an identifier as its dialect compares it."""
        if not isinstance(identifier, exp.Identifier):
            raise UnreadError(f"{type(identifier).__name__} stands where a name should")
        text: str = identifier.this
        if identifier.args.get("temporary") or identifier.args.get("global_"):
            raise UnreadError("a temporary table")  # #name is another table than name
        if self._lower and text == text.lower():
            return text
        if self.dialect in CASE_MATTERS:  # tables: as written, which is the safe side
            parent, key = identifier.parent, identifier.arg_key
            is_column = isinstance(parent, exp.Alias) or key in ("columns", "using")
            is_column = is_column or (isinstance(parent, exp.Column) and key == "this")
            return text.lower() if is_column else text
        return normal_name(text, self.dialect, quoted=bool(identifier.args.get("quoted")))

    def column(self, node: exp.Column, scope: NameScope) -> Scalar:
        """Return what a column in a query refers to, or all that it may be."""
        check_arguments(node, "this", "table", "db", "catalog")
        name = self.name(node.this)
        parts = [node.args[key] for key in ("catalog", "db", "table") if node.args.get(key)]
        if parts:
            names = [self.name(part) for part in parts]
            try:
                table = scope.table(names[-1], ".".join(names) if len(names) > 1 else None)
            except RefusedError as error:
                raise self._no_table(node, names[-1], error) from None
            if table.columns is not None and name not in table.columns:
                may_be = self._names_more(table.columns) or _is_alike(name, table.columns)
                kind = UnreadError if may_be else RefusedError
                raise kind(f"{table.alias} has no column {name}")
            return table.column(name)
        quoted = may_be_text(node) and self.dialect == "sqlite"
        try:
            found, sure = self._candidates(name, scope)
        except InvalidError as error:
            if self._may_be_output(node, name):
                kind = UnreadError if self.dialect == "mysql" else RefusedError
                raise kind(str(error)) from None
            raise
        if not found:
            if quoted and self.catalog.schema is not None and self.catalog.schema.given:
                text: str = node.this.this
                self.assumptions.add(f'"{text}" is no column, so that SQLite reads a text')
                return Literal("text", text)
            kind = UnreadError if self._may_be_named(node, name, scope) else RefusedError
            raise kind(f"no table has a column {name}")
        columns = [column for level in found for column in level.columns]
        if (quoted and not sure) or len(columns) > 1:
            text = node.this.this if quoted else name
            return OpenName(text, quoted and not sure, found)
        return columns[0]

    def _no_table(self, node: exp.Column, name: str, error: UnreadError) -> UnreadError:
        """Return what becomes of a column behind the name of no table."""
        if not name.isascii():  # in some encodings PostgreSQL knows the case of all letters
            return UnreadError(str(error))
        return InvalidError(str(error)) if self._is_absent(node, name) else error

    def _may_be_named(self, node: exp.Column, name: str, scope: NameScope) -> bool:
        """Say whether a name that no table has may be that of whole rows, or of an output."""
        if any(_is_alike(name, t.columns or ()) for one in scope.levels() for t in one.tables):
            return True
        clause = node.find_ancestor(*_BY_OUTPUTS, *ROW_CLAUSES, exp.Select)
        own: exp.Expr | None = node.parent_select
        around: list[exp.Expr] = []
        while own is not None:
            around.append(own)
            own = own.parent_select
        if self.dialect == "sqlite":  # where it sees outputs besides, they are among the aliases
            seen = around[:1] if isinstance(clause, exp.Join) else []
        else:
            seen = {"duckdb": around, "mysql": around[1:]}.get(self.dialect, [])
            plain = (exp.Alias, exp.Column, exp.Star)  # others are named by the database itself
            if isinstance(clause, _BY_OUTPUTS) and not all(
                isinstance(output, plain) for one in around[:1] for output in one.expressions
            ):
                return True
        if any(output.alias.lower() == name for one in seen for output in one.expressions):
            return True
        return self.dialect not in ("sqlite", "mysql") and scope.names(name)

    def _may_be_output(self, node: exp.Column, name: str) -> bool:
        """Say whether a clause may take the name of a column for that of an output."""
        clause, select = node.find_ancestor(*_BY_OUTPUTS, exp.Select), node.parent_select
        if not isinstance(clause, _BY_OUTPUTS) or not isinstance(select, exp.Select):
            return False
        if self.dialect == "mysql" and not isinstance(clause, exp.Group):
            # it is looked for among the keys, too
            return isinstance(clause, exp.Having) or select.args.get("group") is not None
        named = select.expressions if clause.parent is select else ()
        return any(output.is_star or name == output.alias_or_name.lower() for output in named)

    def _is_absent(self, node: exp.Column, name: str) -> bool:
        """Say whether a text gives no table this name, and the dialect has no columns of parts."""
        if self.dialect not in ("sqlite", "postgres", "mysql"):
            return False
        named = node.root().find_all(exp.Table, exp.TableAlias)
        given = {self.name(n.this) for n in named if isinstance(n.this, exp.Identifier)}
        if self.dialect in CASE_MATTERS:
            name, given = name.lower(), {one.lower() for one in given}
        return name not in given

    def _candidates(self, name: str, scope: NameScope) -> tuple[tuple[Level, ...], bool]:
        """Return what *name* may be in each scope, and whether it must be one of that."""
        found: list[Level] = []
        for level in scope.levels():
            columns, sure = self._in_scope(name, level)
            if columns:
                found.append(Level(tuple(columns)))
            if sure:
                return tuple(found), True
            if level.tables and self._is_hidden(name):
                raise UnreadError(f"{name} is a column that no schema names")
        return tuple(found), False

    def _is_hidden(self, name: str) -> bool:
        def hides(dialect: str | None) -> bool:
            return _HIDDEN.get(dialect or "", _ANY_HIDDEN).fullmatch(name.lower()) is not None

        return ask(self.dialect, hides)

    def _in_scope(self, name: str, scope: NameScope) -> tuple[list[Scalar], bool]:
        """Return what *name* may be in one scope, and whether it must be that."""
        merged = scope.merged.get(name)
        if merged is not None:
            self.check_one(name, scope, merged.sources)
            found, sure = [merged.value], True
        else:
            found, sure = self._in_tables(name, scope)
        if name not in scope.aliases:
            return found, sure
        alias = scope.aliases[name]
        if found == [alias] and sure and name not in scope.lateral:
            return found, True  # whether the dialect sees the output or not
        if not ask(self.dialect, partial(_sees_outputs, scope.clause)):
            if name not in scope.lateral:
                return found, sure
            alias = None
        if found == [alias]:
            return found, True
        if alias is None or found or (scope.outer is not None and self.dialect != "sqlite"):
            if sure and self.dialect in ("sqlite", "postgres"):
                return found, sure
            raise UnreadError(f"dialects differ in what {name} means")
        return [alias], True

    def _names_more(self, columns: tuple[str, ...]) -> bool:
        """Say whether the database gives a name to a column that has none, as ``count``."""
        return "" in columns and self.dialect != "sqlite"

    def check_one(self, name: str, scope: NameScope, sources: frozenset[Source]) -> None:
        """Refuse a name that other tables than these have, too."""
        for i, table in enumerate(scope.tables):
            if name in (table.columns or ()) and table.source not in sources:
                visible = scope.n_visible is None or i < scope.n_visible
                error = InvalidError if visible else UnreadError
                if len(sources) > 1 and self.dialect not in ("sqlite", "postgres", "mysql"):
                    error = UnreadError  # DuckDB takes what USING merged
                raise error(f"several tables have a column {name}")

    def _in_tables(self, name: str, scope: NameScope) -> tuple[list[Scalar], bool]:
        known: list[int] = []
        unknown: list[int] = []
        for i, table in enumerate(scope.tables):
            if table.columns is None:
                unknown.append(i)
            elif name in table.columns:
                known.append(i)
            elif self._names_more(table.columns):
                unknown.append(i)
        if len(known) > 1:
            self.check_one(name, scope, frozenset((scope.tables[known[0]].source,)))
        places = known or unknown
        for i in places:
            scope.check_visible(i)
        if known and len(scope.tables) > 1:
            self.assumptions.add(COMPLETE)
        return [scope.tables[i].column(name) for i in places], bool(known)


def _is_alike(name: str, others: Iterable[str]) -> bool:
    """Say whether a name differs from another one in the case of letters beyond ASCII."""
    return not name.isascii() and name.lower() in map(str.lower, others)


def fold_names(
    trees: Sequence[exp.Expr], schema: SqlSchema | None, dialect: str | None
) -> tuple[str, ...]:
    """
    Write names as a schema's names are compared, where they have its capital letters.

    These count in quotes, and beyond ASCII.  Two names that differ in nothing else, such as
    ``"Pay"`` and ``pay``, are left as they are.

    Returns:
        That the names have their capital letters, as an assumption.
    """
    folded = tuple(_folded_names(trees, schema, dialect))
    for _, new, nodes in folded:
        for node in nodes:
            node.set("this", new)
    noted = ", ".join(sorted(filter(None, (own for own, _, _ in folded))))
    return (f"the names {noted} have capital letters",) if noted else ()


def with_folded_names(tree: exp.Expr, schema: SqlSchema | None, dialect: str | None) -> exp.Expr:
    """Return a query with its names as `fold_names` writes them; the tree stays as it is."""
    if next(_folded_names((tree,), schema, dialect), None) is None:
        return tree
    tree = tree.copy()
    fold_names((tree,), schema, dialect)
    return tree


def _folded_names(
    trees: Iterable[exp.Expr], schema: SqlSchema | None, dialect: str | None
) -> Iterator[tuple[str, str, list[exp.Identifier]]]:
    """Yield the capitals that a name keeps, if any, what it is otherwise, and where it stands."""
    if dialect is None:
        return
    cased = frozenset[str]() if schema is None else schema.cased
    written: dict[str, list[exp.Identifier]] = {}
    for tree in trees:
        for node in tree.find_all(exp.Identifier):
            written.setdefault(node.name.lower(), []).append(node)
    for name, nodes in written.items():
        plain = normal_name(name, dialect, quoted=False)
        [own, *others] = {normal_name(n.name, dialect, quoted=bool(n.quoted)) for n in nodes}
        if others:
            continue
        if dialect not in CASE_MATTERS and own != plain:
            if own in cased:
                yield own, plain, nodes
        elif not name.isascii() and any(node.name != name for node in nodes):
            yield "", name, nodes  # SQLite, which runs it, has its capitals for other letters


def one_column(name: str, tables: list[Visible]) -> Column:
    """Return the column that just one of *tables* has."""
    if len(tables) == 1 and tables[0].columns is None:
        return tables[0].column(name)
    having = [table for table in tables if name in (table.columns or ())]
    if any(table.columns is None for table in tables) or len(having) != 1:
        raise UnreadError(f"which table has the column {name} is not known")
    return having[0].column(name)
