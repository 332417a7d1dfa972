"""
From the syntax of a query to its tree: every name is resolved here, once, against the schema.

What is read means the same in the dialect of the text as the tree means.  Where that is not
certain, or a name may be several things and no `OpenName` holds them, `UnreadError` says why.
A valid query is assumed: a name that only one table can have is a column of that table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar, cast

import attrs
from sqlglot import exp

from scorekit._sql.databases.kinds import kind_of
from scorekit._sql.meaning.catalog import Catalog, normal_name
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    RUNNING,
    TRUE,
    WHOLE,
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Derived,
    Exists,
    Frame,
    Function,
    InQuery,
    IsNull,
    Join,
    Level,
    Like,
    Literal,
    Negative,
    Node,
    Not,
    OpenName,
    Or,
    Ordered,
    OrderItem,
    Over,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    SetOperation,
    Source,
    Star,
    Table,
    When,
    Window,
    Windowed,
    conjunction,
    defined_in,
    free_sources,
    has_aggregate,
    integer,
    local_sources,
    replaced,
    sorted_nodes,
    walk,
)
from scorekit._sql.text.base_tables import in_table
from scorekit._sql.text.dialect_neutral import ask, members
from scorekit._sql.text.parsing import may_be_text


class UnreadError(Exception):
    """A query holds something whose meaning is not known well enough to reason about it."""


class RefusedError(UnreadError):
    """A query that no database plans: it names what is not there, or what may not stand there."""


class InvalidError(RefusedError):
    """A query that no version of a database plans, whatever its schema has besides."""


class TooLargeError(UnreadError):
    """A query is too large to be read, or to be looked into."""


@attrs.frozen
class Reading:
    """A query whose names are resolved."""

    query: Query
    names: tuple[str, ...]
    """Of its outputs; empty where one has none."""
    assumptions: frozenset[str]
    """Sentences, each of what the meaning of a name or an operator rests upon."""
    derived: dict[Source, Query] = attrs.field(factory=dict[Source, Query], eq=False)
    """The queries that its derived tables are."""


MAX_READ: Final = 20_000
"""Nodes read for one query, counting what WITH names anew wherever it is used."""

MAX_SIZE: Final = 6_000
"""Nodes of the largest tree that is looked into."""

COMPLETE: Final = "the schema names every column of its tables, in their order"
NO_ROW_VALUES: Final = "no column holds a row of several values"
ONE_MOMENT: Final = "both queries are run at one moment"

CASE_MATTERS: Final = frozenset({"mysql", "bigquery"})
"""Dialects in which names of tables may differ in case alone."""


def read_query(tree: exp.Expr, catalog: Catalog) -> Reading:
    """Return the tree of a query; raises `UnreadError` where its meaning is not certain."""
    if any(one in UNFAMILIAR for one in members(catalog.dialect)):
        raise UnreadError(f"queries of {catalog.dialect} are not looked into")
    reader = _Reader(catalog)
    block = reader.whole(tree)
    query = reader.with_shared(block.query)
    columns = {node for node in walk(query) if isinstance(node, Column)}
    if any(found.kind == "collated" for found in map(catalog.column, columns) if found):
        raise UnreadError("a column has a collation of its own")  # which of two decides?
    return Reading(query, block.names, frozenset(reader.assumptions), catalog.derived)


@attrs.frozen
class Names:
    """What the parts of a text mean, by the ids of its syntax; several times for a WITH."""

    values: dict[int, list[Scalar]]
    queries: Mapping[int, Sequence[Query]]
    selects: Mapping[int, Select]
    """Each SELECT before its windows are taken out and its rows sorted; of a WITH the last."""
    columns: Mapping[int, frozenset[str]]
    """The names of the columns of the tables of a SELECT."""
    stars: Mapping[int, Sequence[tuple[str, Scalar]]]
    """What a star stands for, with names."""
    aliases: Mapping[Source, str]
    scans: Sequence[Source]
    """The base tables, in the order in which the text names them."""
    unread: str = ""
    """Why not all of the text was read, if so."""
    refused: bool = False
    """Whether that is why a database would not run it."""
    invalid: bool = False
    """Whether no version of a database would."""

    def value(self, node: exp.Expr) -> Scalar | None:
        """Return what an expression means, None where it only names an output."""
        found = self.values.get(id(node))
        return found[-1] if found else None


def read_names(tree: exp.Expr, catalog: Catalog) -> Names:
    """Return what the parts of a text mean, as far as it can be read."""
    reader, failure = _Reader(catalog, names_only=True), None
    try:
        reader.whole(tree)
    except UnreadError as error:
        failure = error
    return Names(
        reader.values,
        reader.queries,
        reader.selects,
        reader.columns,
        reader.stars,
        reader.aliases,
        reader.scans,
        str(failure or ""),
        isinstance(failure, RefusedError),
        isinstance(failure, InvalidError),
    )


UNFAMILIAR = frozenset({"clickhouse", "prql", "tableau"})
"""Dialects in which an outer join does not give NULLs, or that are hardly SQL."""


# Syntax trees.


def _parts_of(node: exp.Expr) -> list[str]:
    """Return the keys of the arguments that are there."""
    return [key for key, value in node.args.items() if value not in (None, False, [])]


def _check(node: exp.Expr, *known: str) -> None:
    """Raise `UnreadError` if *node* has an argument that is not known."""
    for key in _parts_of(node):
        if key not in known:
            raise UnreadError(f"{key.strip('_')} of {type(node).__name__} is not known")


def _type_name(node: exp.Expr) -> str:
    """Return the name of a type: two have the same only where they are the same."""
    if not isinstance(node, exp.DataType) or not isinstance(node.this, exp.DType):
        return node.sql()
    others = sorted({*_parts_of(node)} - {"this", "expressions"})
    listed = [*map(_type_name, node.expressions), *(f"{key}={node.args[key]}" for key in others)]
    return node.this.name + (f"({', '.join(listed)})" if listed else "")


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


def _is_bare(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not node.table


# Scopes.


class _Visible(NamedTuple):
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


class _Cte(NamedTuple):
    """What WITH names, read anew wherever it is used."""

    tree: exp.Expr
    columns: tuple[str, ...]
    scope: _Scope | None
    ctes: _Ctes


class _Merged(NamedTuple):
    """A column that USING or NATURAL made of several."""

    value: Scalar
    sources: frozenset[Source]
    """The tables that have it."""


_Ctes = dict[str, "_Cte | None"]
"""By name; None stands for one whose own definition is being read."""


@attrs.define
class _Scope:
    """What can be named inside one SELECT, or in one clause of it."""

    outer: _Scope | None
    ctes: _Ctes
    tables: list[_Visible] = attrs.Factory(list[_Visible])
    merged: dict[str, _Merged] = attrs.Factory(dict[str, "_Merged"])
    """Columns joined by USING, which belong to both sides."""
    aliases: dict[str, Scalar | None] = attrs.Factory(dict[str, "Scalar | None"])
    """Outputs that the clause may name; None where two have the name."""
    clause: str = ""
    """Where not all dialects see the outputs."""
    lateral: dict[str, Scalar | None] = attrs.Factory(dict[str, "Scalar | None"])
    """Outputs that other outputs may name; whether the clause may is not known."""
    n_visible: int | None = None
    """How many of the tables an ON may name."""

    def at(self, clause: str) -> _Scope:
        """Return what can be named in a clause."""
        kept = self.outer, self.ctes, self.tables, self.merged, self.aliases
        return _Scope(*kept, clause, self.lateral, self.n_visible)

    def levels(self) -> Iterator[_Scope]:
        """Yield this scope and those around it, outwards."""
        level: _Scope | None = self
        while level is not None:
            yield level
            level = level.outer

    def add(self, table: _Visible) -> None:
        """Make a table visible."""
        if table.alias and any(other.alias == table.alias for other in self.tables):
            raise UnreadError(f"two tables are called {table.alias}")
        self.tables.append(table)

    def table(self, alias: str, written: str | None = None) -> _Visible:
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
_NAMED_VALUES: Final = {
    "sqlite": ("column{}", 1),
    "postgres": ("column{}", 1),
    "mysql": ("column_{}", 0),
    "duckdb": ("col{}", 0),
}
"""What the columns of VALUES are called, from which number on."""


class _Names:
    """How a dialect compares names, and which column one means."""

    def __init__(self, catalog: Catalog, assumptions: set[str]) -> None:
        self.catalog, self.assumptions = catalog, assumptions
        self.dialect = catalog.dialect or ""
        self._lower = ask(catalog.dialect, _keeps_lower)

    def name(self, identifier: exp.Expr) -> str:
        """Return an identifier as its dialect compares it; letters beyond ASCII are kept."""
        if not isinstance(identifier, exp.Identifier):
            raise UnreadError(f"{type(identifier).__name__} stands where a name should")
        text: str = identifier.this
        if identifier.args.get("temporary") or identifier.args.get("global_"):
            raise UnreadError("a temporary table")  # #name is another table than name
        if not text.isascii() or (self._lower and text == text.lower()):
            return text
        if self.dialect in CASE_MATTERS:  # tables: as written, which is the safe side
            parent, key = identifier.parent, identifier.arg_key
            is_column = isinstance(parent, exp.Alias) or key in ("columns", "using")
            is_column = is_column or (isinstance(parent, exp.Column) and key == "this")
            return text.casefold() if is_column else text
        return normal_name(text, self.dialect, quoted=bool(identifier.args.get("quoted")))

    def column(self, node: exp.Column, scope: _Scope) -> Scalar:
        """Return what a column in a query refers to, or all that it may be."""
        _check(node, "this", "table", "db", "catalog")
        name = self.name(node.this)
        parts = [node.args[key] for key in ("catalog", "db", "table") if node.args.get(key)]
        if parts:
            names = [self.name(part) for part in parts]
            try:
                table = scope.table(names[-1], ".".join(names) if len(names) > 1 else None)
            except RefusedError as error:
                if self._is_absent(node, names[-1]):
                    raise InvalidError(str(error)) from None
                raise
            if table.columns is not None and name not in table.columns:
                kind = UnreadError if self._names_more(table.columns) else RefusedError
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

    def _may_be_named(self, node: exp.Column, name: str, scope: _Scope) -> bool:
        """Say whether a name that no table has may be that of whole rows, or of an output."""
        clause = node.find_ancestor(*_BY_OUTPUTS, *_ROWS, exp.Select)
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
        if any(output.alias.casefold() == name for one in seen for output in one.expressions):
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
        return any(output.is_star or name == output.alias_or_name.casefold() for output in named)

    def _is_absent(self, node: exp.Column, name: str) -> bool:
        """Say whether a text gives no table this name, and the dialect has no columns of parts."""
        if self.dialect not in ("sqlite", "postgres", "mysql"):
            return False
        named = node.root().find_all(exp.Table, exp.TableAlias)
        given = {self.name(n.this) for n in named if isinstance(n.this, exp.Identifier)}
        if self.dialect in CASE_MATTERS:
            name, given = name.casefold(), {one.casefold() for one in given}
        return name not in given

    def _candidates(self, name: str, scope: _Scope) -> tuple[tuple[Level, ...], bool]:
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
            return _HIDDEN.get(dialect or "", _ANY_HIDDEN).fullmatch(name.casefold()) is not None

        return ask(self.dialect, hides)

    def _in_scope(self, name: str, scope: _Scope) -> tuple[list[Scalar], bool]:
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

    def check_one(self, name: str, scope: _Scope, sources: frozenset[Source]) -> None:
        """Refuse a name that other tables than these have, too."""
        for i, table in enumerate(scope.tables):
            if name in (table.columns or ()) and table.source not in sources:
                visible = scope.n_visible is None or i < scope.n_visible
                error = InvalidError if visible else UnreadError
                if len(sources) > 1 and self.dialect not in ("sqlite", "postgres", "mysql"):
                    error = UnreadError  # DuckDB takes what USING merged
                raise error(f"several tables have a column {name}")

    def _in_tables(self, name: str, scope: _Scope) -> tuple[list[Scalar], bool]:
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


def _one_column(name: str, tables: list[_Visible]) -> Column:
    """Return the column that just one of *tables* has."""
    if len(tables) == 1 and tables[0].columns is None:
        return tables[0].column(name)
    having = [table for table in tables if name in (table.columns or ())]
    if any(table.columns is None for table in tables) or len(having) != 1:
        raise UnreadError(f"which table has the column {name} is not known")
    return having[0].column(name)


# Queries.


class _Block(NamedTuple):
    """A query whose names are resolved, with the names of its outputs."""

    query: Query
    names: tuple[str, ...]


_SELECT_PARTS = (
    "with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order",
    "limit", "offset", "qualify",
)  # fmt: skip

_WITHOUT_ALIASES: Final = {
    "postgres": "having expressions",
    **dict.fromkeys(("tsql", "fabric", "oracle", "trino", "presto", "athena"), "group having"),
}
"""Where a dialect does not see outputs; an expression is a key that is more than their name."""
_ALIASES_IN_WHERE: Final = frozenset({"sqlite", "duckdb", "snowflake", "teradata", "clickhouse"})
"""Dialects that are known to see them in WHERE."""

_SET_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


def _sees_outputs(clause: str, dialect: str | None) -> bool:
    if clause == "where":
        return dialect in _ALIASES_IN_WHERE
    return {*clause.split()}.isdisjoint(_WITHOUT_ALIASES.get(dialect or "", "").split())


def _keeps_lower(dialect: str | None) -> bool:
    """Say whether a name in small letters is compared as it is, in quotes or not."""
    return all(normal_name("a", dialect, quoted=quoted) == "a" for quoted in (False, True))


_NO_LATERAL_ALIASES = frozenset(
    {"", "sqlite", "postgres", "mysql", "tsql", "oracle", "bigquery", "presto", "trino", "athena"}
)
"""Dialects in which an output cannot name an output before it."""


class _Reader:
    """Reads one query: its tables, expressions and the queries in it."""

    def __init__(self, catalog: Catalog, *, names_only: bool = False) -> None:
        self.assumptions: set[str] = set()
        self._names_only = names_only
        self._catalog, self._dialect = catalog, catalog.dialect or ""
        self._nan = ask(catalog.dialect, lambda one: one in _NOT_A_NUMBER)
        self._lateral = any(
            (one or "") not in _NO_LATERAL_ALIASES for one in members(catalog.dialect)
        )
        self._names = _Names(catalog, self.assumptions)
        self._n_sources = self._n_read = 0
        self._of_with: dict[int, list[Source]] = {}
        """The tables that are what one WITH names, by its tree."""
        self.values: dict[int, list[Scalar]] = {}
        self.queries: dict[int, list[Query]] = {}
        self.selects: dict[int, Select] = {}
        self.columns: dict[int, frozenset[str]] = {}
        self.stars: dict[int, list[tuple[str, Scalar]]] = {}
        self.aliases: dict[Source, str] = {}
        self.scans: list[Source] = []

    def whole(self, tree: exp.Expr) -> _Block:
        """Read all of a query."""
        try:
            block = self.query(tree, None, {})
            if block.query.size > MAX_SIZE:
                raise TooLargeError("the query is too large")
        except RecursionError:
            raise TooLargeError("the query is too deep") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # the parser lets pass what lacks a part, in ways that differ by its version
            raise UnreadError("a part is missing, or where another one should be") from error
        return block

    def query(self, tree: exp.Expr, outer: _Scope | None, ctes: _Ctes) -> _Block:
        """Read a query inside of *outer*, where *ctes* may be named."""
        self._count(25)  # so that nested copies of a WITH end soon
        inside = self._definitions(tree, outer, ctes)
        if isinstance(tree, exp.Subquery):
            _check(tree, "this", "alias", "with_")
            block = self.query(tree.this, outer, inside)
        elif isinstance(tree, exp.Select):
            block = self._select(tree, _Scope(outer, inside))
        elif isinstance(tree, exp.SetOperation):
            block = self._set_operation(tree, outer, inside)
        else:
            raise UnreadError(f"{type(tree).__name__} is no query that is known")
        self.queries.setdefault(id(tree), []).append(block.query)
        return block

    def _count(self, n: int = 1) -> None:
        self._n_read += n
        if self._n_read > MAX_READ:
            raise TooLargeError("the query is too large")

    def _source(self, table: str = "") -> Source:
        self._n_sources += 1
        return Source(f"s{self._n_sources}", table)

    def _select(self, tree: exp.Select, scope: _Scope) -> _Block:
        _check(tree, *_SELECT_PARTS)
        tables, conditions = self._from(tree, scope)
        outputs, names = self._outputs(tree, scope)
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UnreadError("DISTINCT ON")
        aliases: dict[str, Scalar | None] = {}
        for name, value in zip(names, outputs, strict=True):
            aliases[name] = value if aliases.get(name, value) == value else None
        aliases.pop("", None)
        named = attrs.evolve(scope, aliases=aliases, lateral=scope.aliases)
        where = self._filter(tree.args.get("where"), named.at("where"))
        if has_aggregate(where):
            may = self._dialect == "sqlite" and _may_be_folded(where)
            raise (UnreadError if may else InvalidError)("an aggregate in WHERE")
        keys = self._keys(tree.args.get("group"), named.at("group"), outputs)
        having = self._filter(tree.args.get("having"), named.at("having"))
        items = self._items(tree, named, outputs)
        where = conjunction((*conditions, where))
        select = Select(tables, where, keys, having, outputs, distinct is not None)
        self.selects[id(tree)] = select
        visible = (name for table in scope.tables for name in table.columns or ())
        self.columns[id(tree)] = frozenset(map(str.casefold, visible))
        self.aliases.update((table.source, table.alias) for table in scope.tables)
        if keys is None and not select.aggregates:
            if tree.args.get("having") is not None:
                own = local_sources(tables)
                of_rows = any(not part.sources.isdisjoint(own) for part in (having, *outputs))
                may = self._dialect == "mysql" or (self._dialect != "sqlite" and not of_rows)
                raise (UnreadError if may else RefusedError)("HAVING without groups")
            if any(map(has_aggregate, items)):
                raise UnreadError("an aggregate orders rows that are no groups")
        kept = self._filter(tree.args.get("qualify"), named)
        query: Query = select
        over = any(map(_has_window, (where, having, kept, *(keys or ()), *outputs, *items)))
        if over:
            query, items = self._isolated(select, items, kept)
        elif kept != TRUE:
            raise UnreadError("QUALIFY without a window function")
        return _Block(self._ordered(tree, query, items), names)

    def _set_operation(self, tree: exp.SetOperation, outer: _Scope | None, ctes: _Ctes) -> _Block:
        _check(tree, "with_", "this", "expression", "distinct", "order", "limit", "offset")
        chain: list[exp.SetOperation] = [tree]
        while isinstance(chain[-1].this, exp.SetOperation) and not (
            {*_parts_of(chain[-1].this)} - {"this", "expression", "distinct"}
        ):
            chain.append(chain[-1].this)
        first = self.query(chain[-1].this, outer, ctes)
        query, names = first.query, first.names
        union: SetOperation | None = None  # of a chain without brackets: one type for all
        for one in reversed(chain):
            arm = self.query(one.expression, outer, ctes).query
            widths = {len(part.outputs) for part in (query, arm) if not _has_star(part)}
            if len(widths) > 1:
                error = UnreadError if tree.find(exp.Star) else InvalidError
                raise error("the arms of a set operation differ in their width")
            operator, distinct = _SET_OPERATIONS[type(one)], bool(one.args.get("distinct"))
            longer = union is not None and operator == "union" and distinct >= union.distinct
            arms = (*union.arms, arm) if union is not None and longer else (query, arm)
            query = SetOperation(operator, distinct, arms)
            union = query if operator == "union" else None
        items = tuple(self._place(node, names) for node in _ordered_nodes(tree))
        return _Block(self._ordered(tree, query, items), names)

    def _place(self, node: exp.Expr, names: tuple[str, ...]) -> OrderItem:
        """Read an item of the ORDER BY of a set operation, which names an output."""
        this = node.this.unnest()
        if isinstance(this, exp.Literal) and not this.is_string and this.this.isdigit():
            place = int(this.this) - 1
        elif _is_bare(this) and names.count(self._names.name(this.this)) == 1:
            place = names.index(self._names.name(this.this))
        else:
            place = -1
        if not 0 <= place < len(names):
            raise UnreadError("ORDER BY of a set operation names no column of it")
        return _item(node, Place(place))

    def _ordered(self, tree: exp.Expr, query: Query, items: tuple[OrderItem, ...]) -> Query:
        """Put ORDER BY, LIMIT and OFFSET around a query."""
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        if not (items or limit or offset):
            return query
        bounds = [None if one is None else self._bound(one) for one in (limit, offset)]
        return Ordered(query, items, *bounds)

    def _bound(self, node: exp.Expr) -> Scalar:
        if isinstance(node, exp.Fetch):
            _check(node, "count", "direction", "limit_options")
            options = node.args.get("limit_options")
            value = node.args.get("count") or exp.Literal.number(1)
            if options is not None:
                _check(options, "rows")
        else:
            _check(node, "expression")
            value = node.args.get("expression")
        if value is None:
            raise UnreadError("a LIMIT without a number")
        return self.value(value, _Scope(None, {}))

    def _outputs(
        self, tree: exp.Select, scope: _Scope
    ) -> tuple[tuple[Scalar, ...], tuple[str, ...]]:
        found: list[tuple[str, Scalar]] = []
        for node in tree.expressions:
            if isinstance(node, exp.Star):
                _check(node)
                # of EXISTS no column is looked at
                of_rows = scope.tables and isinstance(tree.parent, exp.Exists)
                self.stars[id(node)] = [("", integer(1))] if of_rows else self._star(scope)
                found += self.stars[id(node)]
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                _check(node, "this", "table")
                _check(node.this)
                table = scope.table(self._names.name(node.args["table"]))
                self.stars[id(node)] = table.all_columns()
                found += self.stars[id(node)]
            elif isinstance(node, exp.Alias):
                _check(node, "this", "alias")
                alias = self._names.name(node.args["alias"])
                found.append((alias, self.value(node.this, scope)))
                if self._lateral:
                    scope.aliases[alias] = None
            else:
                value = self.value(node, scope)
                is_name = isinstance(node, exp.Column) and not isinstance(value, Literal)
                found.append((self._names.name(node.this) if is_name else "", value))
        if not found:
            raise UnreadError("a SELECT of no columns")
        return tuple(value for _, value in found), tuple(name for name, _ in found)

    def _star(self, scope: _Scope) -> list[tuple[str, Scalar]]:
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
            self.assumptions.add(COMPLETE)
        return found

    def _filter(self, clause: exp.Expr | None, scope: _Scope) -> Scalar:
        """Read a WHERE, a HAVING or a QUALIFY."""
        return TRUE if clause is None else self.value(clause.this, scope)

    # Groups and order.

    def _keys(
        self, clause: exp.Expr | None, scope: _Scope, outputs: tuple[Scalar, ...]
    ) -> tuple[Scalar, ...] | None:
        """Return the keys of a GROUP BY."""
        if clause is None:
            return None
        _check(clause, "expressions")
        keys: list[Scalar] = []
        for node in clause.expressions:
            if isinstance(node, exp.Tuple) and not node.expressions:
                raise UnreadError("GROUP BY without keys")
            if isinstance(node, (exp.Rollup, exp.Cube, exp.GroupingSets)):
                raise UnreadError("several sets of keys")
            if scope.outer is not None and self._dialect == "sqlite":
                self._key(node, attrs.evolve(scope, outer=None), outputs)  # no outer column
            keys.append(self._key(node, scope, outputs))
        if not keys:
            raise UnreadError("GROUP BY without keys")
        if any(map(has_aggregate, keys)):
            raise InvalidError("an aggregate in GROUP BY")
        return tuple(keys)

    def _key(self, node: exp.Expr, scope: _Scope, outputs: tuple[Scalar, ...]) -> Scalar:
        """Read an item of GROUP BY or ORDER BY, which may be the number of an output."""
        node = node.unnest()  # no database keeps brackets
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.this.isdigit():
                raise UnreadError(f"a key {node.this}")
            if not 1 <= int(node.this) <= len(outputs):
                if self._catalog.dialect is not None:
                    raise UnreadError(f"there is no column {node.this}")
                return self.value(node, scope)  # valid only where it is a constant
            if any(isinstance(output, Star) for output in outputs):
                raise UnreadError(f"column {node.this} is in a star")
            return outputs[int(node.this) - 1]
        if not _is_bare(node):
            scope = scope.at(f"{scope.clause} expressions")
        return self.value(node, scope)

    def _items(
        self, tree: exp.Select, scope: _Scope, outputs: tuple[Scalar, ...]
    ) -> tuple[OrderItem, ...]:
        found: list[OrderItem] = []
        for node in _ordered_nodes(tree):
            this = node.this.unnest()
            name = self._names.name(this.this) if _is_bare(this) else ""
            value: Scalar | None
            if name and name in scope.aliases:
                value = scope.aliases[name]  # a bare name is an output before it is a column
                if value is None:
                    raise UnreadError(f"two outputs are called {name}")
            else:
                value = self._key(this, scope, outputs)
            found.append(_item(node, value))
        return tuple(found)

    # Tables.

    def _definitions(self, tree: exp.Expr, outer: _Scope | None, ctes: _Ctes) -> _Ctes:
        """Return what *tree* may name because of its WITH."""
        with_ = tree.args.get("with_")
        if with_ is None:
            return ctes
        _check(with_, "expressions", "recursive")
        inside = dict(ctes)
        names = [self._names.name(cte.args["alias"].this) for cte in with_.expressions]
        if len(set(names)) != len(names):
            raise UnreadError("WITH defines a name twice")
        inside.update(dict.fromkeys(names))  # a name that is not defined yet is not looked into
        for name, cte in zip(names, with_.expressions, strict=True):
            _check(cte, "this", "alias", "materialized")
            columns = self._columns(cte.args["alias"])
            seen = dict(inside)
            if self._names_only and with_.args.get(
                "recursive"
            ):  # names are those of its first arm
                first = cte.this.this if isinstance(cte.this, exp.SetOperation) else None
                seen[name] = first and _Cte(first, columns, outer, dict(inside))
            inside = {**inside, name: _Cte(cte.this, columns, outer, seen)}
        return inside

    def _from(
        self, tree: exp.Select, scope: _Scope
    ) -> tuple[tuple[Table, ...], tuple[Scalar, ...]]:
        """Make the tables of a SELECT visible; return them, and what joins them."""
        from_, joins = tree.args.get("from_"), list[exp.Join](tree.args.get("joins") or ())
        if from_ is None:
            if joins:
                raise UnreadError("a join without FROM")
            return (), ()
        _check(from_, "this")
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

    def _joined(
        self, first: exp.Expr, joins: list[exp.Join], scope: _Scope, *, alone: bool = False
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
                conditions.append(self.value(on, inside))
                if has_aggregate(conditions[-1]) or _has_window(conditions[-1]):
                    raise InvalidError("an aggregate or a window function in ON")
            condition, side = conjunction(conditions), join.text("side").lower() or "inner"
            if side == "right":
                table = Join("left", right, table, condition)
            else:
                table = Join(side, table, right, condition)
        return table

    def _check_kind(self, join: exp.Join, *, crossed: bool) -> bool:
        """Refuse a join that is not known; say whether one without a condition has come by now."""
        _check(join, "this", "on", "side", "kind", "using", "method")
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
        self, join: exp.Join, left: list[_Visible], right: list[_Visible], scope: _Scope
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
            mine = _one_column(name, left) if known is None else known.value
            other = _one_column(name, right)
            either = join.side.upper() in ("RIGHT", "FULL")
            value = Function("coalesce", (mine, other)) if either else mine
            sources = mine.sources if known is None else known.sources
            scope.merged[name] = _Merged(value, sources | other.sources)
            conditions.append(Comparison("=", mine, other))
        return conditions

    def _table(  # noqa: PLR0911 - a branch per kind of table
        self, node: exp.Expr, scope: _Scope, *, alone: bool = False
    ) -> Table:
        """Read one item of a FROM, perhaps without what is joined to it, and make it visible."""
        inner = node.this if isinstance(node, exp.Subquery) else None
        if isinstance(inner, exp.Table) or (
            isinstance(inner, exp.Subquery) and not node.args.get("alias")
        ):
            _check(node, "this")
            return self._nested(inner, scope)
        if isinstance(node, exp.Table) and node.args.get("joins") and not alone:
            return self._nested(node, scope)
        alias_node = node.args.get("alias")
        alias = self._names.name(alias_node.this) if alias_node and alias_node.this else ""
        columns = self._columns(alias_node)
        if isinstance(node, exp.Subquery):
            _check(node, "this", "alias", "with_", *(["joins"] * alone))
            inside = self._definitions(node, scope.outer, scope.ctes)
            block = self.query(node.this, scope.outer, inside)
            return self._derived(block, alias, columns, scope)
        if isinstance(node, exp.Values):
            return self._values(node, alias, columns, scope)
        if isinstance(node, exp.Lateral) and isinstance(node.this, exp.Subquery):
            _check(node, "this", "alias")
            _check(node.this, "this", "with_")
            inside = self._definitions(node.this, scope, scope.ctes)
            block = self.query(node.this.this, scope, inside)
            return self._derived(block, alias, columns, scope)
        if not isinstance(node, exp.Table):
            raise UnreadError(f"{type(node).__name__} is no table that is known")
        _check(node, "this", "db", "catalog", "alias", *(["joins"] * alone))
        name = self._names.name(node.this)
        qualified = node.args.get("db") is not None
        if not qualified and name in scope.ctes:
            cte = scope.ctes[name]
            if cte is None:
                raise UnreadError(f"{name} names itself, or what is defined after it")
            block = self.query(cte.tree, cte.scope, cte.ctes)
            derived = self._derived(block, alias or name, columns or cte.columns, scope)
            self._of_with.setdefault(id(cte.tree), []).append(derived.source)
            return derived
        if columns:  # other names for those of the table
            own = _Scope(None, {})
            base = self._base_table(node, name, alias, own)
            outputs = self._star(own)
            values = tuple(value for _, value in outputs)
            block = _Block(Select((base,), outputs=values), tuple(name for name, _ in outputs))
            return self._derived(block, alias, columns, scope)
        return self._base_table(node, name, alias, scope)

    def _base_table(self, node: exp.Table, name: str, alias: str, scope: _Scope) -> Scan:
        parts = [node.args.get(key) for key in ("catalog", "db")]
        written = ".".join([*(self._names.name(part) for part in parts if part), name])
        schema = self._catalog.schema
        meant = schema.find(written) if schema is not None else None
        full = written if meant in (None, written.casefold()) else meant or written
        source = self._source(full)
        self.scans.append(source)
        own = "" if alias else written
        scope.add(_Visible(alias or name, source, self._catalog.names(full), own))
        return Scan(source)

    def _nested(self, node: exp.Expr, scope: _Scope) -> Table:
        """Read a join in brackets, or ``a JOIN b JOIN c ON ... ON ...``, which needs none."""
        joins = list[exp.Join](node.args.get("joins") or ())
        if scope.tables and any(join.args.get("using") or join.method for join in joins):
            raise UnreadError("USING in a join in brackets")
        return self._joined(node, joins, scope, alone=True)

    def _values(
        self, node: exp.Values, alias: str, columns: tuple[str, ...], scope: _Scope
    ) -> Derived:
        """Read rows that are written out: each is a SELECT without FROM."""
        _check(node, "expressions", "alias")
        arms: list[Select] = []
        for row in node.expressions:
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            values = tuple(self.value(cell, _Scope(scope.outer, {})) for cell in cells)
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
            _Block(whole if len(arms) > 1 else arms[0], names), alias, columns, scope
        )

    def _columns(self, alias: exp.Expr | None) -> tuple[str, ...]:
        """Return the names that an alias gives to columns."""
        if alias is None:
            return ()
        _check(alias, "this", "columns")
        return tuple(self._names.name(column) for column in alias.args.get("columns") or ())

    def _derived(
        self, block: _Block, alias: str, columns: tuple[str, ...], scope: _Scope
    ) -> Derived:
        names = block.names
        if _has_star(block.query):
            raise UnreadError("a star stands for columns that only a schema names")
        if columns:
            if len(columns) > len(names):
                raise UnreadError("more names than columns")
            names = (*columns, *names[len(columns) :])
        source = self._source()
        self._catalog.derived[source] = block.query
        scope.add(_Visible(alias, source, names))
        return Derived(source, block.query)

    def with_shared(self, query: Query) -> Query:
        """Mark the tables that are the same WITH, where its rows are not the same in each run."""
        shared = {
            source: f"w{i}"
            for i, several in enumerate(self._of_with.values())
            if len(several) > 1 and not is_settled(self._catalog.derived[several[0]])
            for source in several
        }
        return _marked(query, shared) if shared else query

    # Expressions.

    def value(self, node: exp.Expr, scope: _Scope) -> Scalar:
        """Return an expression."""
        self._count()
        found = self._value(node, scope)
        self.values.setdefault(id(node), []).append(found)
        return found

    def _value(self, node: exp.Expr, scope: _Scope) -> Scalar:  # noqa: C901, PLR0911, PLR0912 - a branch per kind of node
        if isinstance(node, exp.Column):
            return self._names.column(node, scope)
        if isinstance(node, exp.Paren):
            _check(node, "this")
            return self.value(node.this, scope)
        if isinstance(node, _PLAIN):
            _check(node, *_OPERANDS)
        if isinstance(node, exp.Literal):
            empty = node.is_string and not node.this and self._dialect == "oracle"
            return NULL if empty else _literal(node)
        if isinstance(node, exp.Null):
            return NULL
        if isinstance(node, exp.Boolean):
            return TRUE if node.this else FALSE
        if isinstance(node, (exp.And, exp.Or)):
            parts = tuple(self.value(part, scope) for part in _chain(node))
            return And(parts) if isinstance(node, exp.And) else Or(parts)
        if isinstance(node, exp.Not):
            return Not(self.value(node.this, scope))
        if type(node) in _COMPARISONS:
            return self._comparison(node, scope)
        if isinstance(node, exp.Neg):
            operand = self.value(node.this, scope)
            if isinstance(operand, Literal) and operand.kind == "integer" and operand.text > "0":
                return Literal("integer", f"-{operand.text}")
            return Negative(operand)
        if type(node) in _ARITHMETIC:
            return self._arithmetic(node, scope)
        if type(node) is exp.Cast and not {*_parts_of(node)} - {"this", "to"}:
            to: exp.Expr = node.args["to"]
            name, plain = _type_name(to), not {*_parts_of(to)} - {"this", "expressions"}
            kind = kind_of(name.partition("(")[0]) if plain else "unknown"
            return Cast(self.value(node.this, scope), kind, name)
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return self._null_test(node, scope)
        if isinstance(node, exp.Between) and not node.args.get("symmetric"):
            this, low, high = (
                self.value(node.args[key], scope) for key in ("this", "low", "high")
            )
            if self._nan and self._catalog.kind(this) in ("real", "unknown"):
                return Function("between", (this, low, high))
            return And((Comparison("<=", low, this), Comparison("<=", this, high)))
        if isinstance(node, exp.In):
            return self._in(node, scope)
        if isinstance(node, exp.Exists):
            _check(node, "this")
            return Exists(self._inner(node.this, scope))
        if isinstance(node, (exp.Subquery, exp.Select, exp.SetOperation)):
            return ScalarQuery(self._inner(node, scope, width=1))
        if isinstance(node, (exp.Case, exp.If)):
            return self._case(node, scope)
        if type(node) in _AGGREGATES and not (
            isinstance(node, (exp.Min, exp.Max)) and node.expressions
        ):
            return self._aggregate(node, scope)
        if isinstance(node, exp.Filter) and type(node.this) in _AGGREGATES:
            return self._filtered(node, scope)
        if isinstance(node, exp.Window):
            return self._window(node, scope)
        if isinstance(node, (exp.Like, exp.ILike, exp.Glob, exp.Escape)):
            return self._like(node, scope)
        if isinstance(node, exp.Left) and isinstance(node.expression, exp.Literal):
            this, length = self.value(node.this, scope), self.value(node.expression, scope)
            return Function("substring", (this, integer(1), length))
        return self._function(node, scope)

    def _inner(self, tree: exp.Expr, scope: _Scope, *, width: int | None = None) -> Query:
        """Read a query inside of an expression, which must have *width* columns if it is given."""
        query = self.query(tree, scope, scope.ctes).query
        if width is not None and len(query.outputs) != width:
            error = UnreadError if tree.find(exp.Star) else InvalidError
            raise error("a subquery has more or fewer columns than it may")
        return query

    def _arithmetic(self, node: exp.Expr, scope: _Scope) -> Scalar:
        left, right = self.value(node.this, scope), self.value(node.expression, scope)
        operator = _ARITHMETIC[type(node)]
        if operator == "+" and not (self._is_number(left) or self._is_number(right)):
            operator = ask(self._dialect, lambda one: "+" if one in _PLUS_IS_SUM else "+?")
        return Arithmetic(operator, left, right)

    def _is_number(self, value: Scalar) -> bool:
        if isinstance(value, Literal):
            return value.kind in ("integer", "number")
        if isinstance(value, Arithmetic):
            return value.operator in "+*"
        return self._catalog.kind(value) in ("integer", "natural", "number", "real")

    def _comparison(self, node: exp.Expr, scope: _Scope) -> Scalar:
        operator = _COMPARISONS[type(node)]
        if isinstance(node.this, exp.Tuple) or isinstance(node.expression, exp.Tuple):
            return self._function(node, scope)
        if isinstance(node.expression, (exp.Any, exp.All)):
            return self._quantified(node, scope)
        collated = isinstance(node.this, exp.Collate) or isinstance(node.expression, exp.Collate)
        uncased = collated and self._dialect == "sqlite" and self._uncased(node, scope)
        if uncased:
            return uncased
        left, right = self.value(node.this, scope), self.value(node.expression, scope)
        if operator[0] == ">":
            operator, left, right = operator.replace(">", "<"), right, left
        if self._nan and (left == right or operator not in ("=", "<>")):
            return Function(operator, (left, right))
        return Comparison(operator, left, right, self._nan)

    def _uncased(self, node: exp.Expr, scope: _Scope) -> Scalar | None:
        """Read ``x = 'a' COLLATE NOCASE`` as LIKE without a wildcard, which compares alike."""
        sides: list[exp.Expr] = [node.this, node.expression]
        bare = [side.this if isinstance(side, exp.Collate) else side for side in sides]
        named = {one.expression.name.casefold() for one in sides if isinstance(one, exp.Collate)}
        texts = [one for one in bare if isinstance(one, exp.Literal) and one.is_string]
        if named != {"nocase"} or len(texts) != 1 or not isinstance(node, (exp.EQ, exp.NEQ)):
            return None
        this = self.value(bare[bare[0] is texts[0]], scope)
        text, column = str(texts[0].this), self._catalog.column(this)
        if column is None or column.kind != "text" or column.limits.converts:
            return None
        if not text.isascii() or {*"%_"} & {*text}:
            return None
        self.assumptions.add(f"{cast('Column', this).source.table}.{column.name} holds text")
        found = Like("like", this, Literal("text", text.lower()))
        return found if isinstance(node, exp.EQ) else Not(found)

    def _quantified(self, node: exp.Expr, scope: _Scope) -> Scalar:
        """``= ANY (SELECT ...)`` is defined as IN, and ``<> ALL (SELECT ...)`` as NOT IN."""
        quantifier: exp.Expr = node.expression
        query, kinds = quantifier.this, (type(node), type(quantifier))
        if not isinstance(query, exp.Query) or kinds not in _MEMBERSHIPS:
            return self._function(node, scope)
        member = self._member(node.this, query, scope)
        return member if kinds == _MEMBERSHIPS[0] else Not(member)

    def _null_test(self, node: exp.Is, scope: _Scope) -> Scalar:
        """
        Read ``IS NULL`` and, where it is no NOT of that, ``IS NOT NULL``.

        They differ of a row of values: PostgreSQL asks whether none of the values is NULL.
        """
        _check(node, "this", "expression", "negate")
        if isinstance(node.this, exp.Tuple):
            return self._function(node, scope)
        this = self.value(node.this, scope)
        if not node.args.get("negate"):
            return IsNull(this)
        if self._catalog.kind(this) == "unknown":
            self.assumptions.add(NO_ROW_VALUES)
        return Not(IsNull(this))

    def _in(self, node: exp.In, scope: _Scope) -> Scalar:
        _check(node, "this", "expressions", "query", "field")
        query = node.args.get("query")
        if node.args.get("field") is not None:
            table = in_table(node)
            if self._dialect != "sqlite" or not table:
                raise UnreadError("IN without brackets")
            query = exp.Subquery(this=exp.select("*").from_(exp.to_table(table)))
        if isinstance(node.this, exp.Tuple):
            if query is None:
                return self._function(node, scope)
            parts = tuple(self.value(part, scope) for part in node.this.expressions)
            return InQuery(parts, self._inner(query, scope, width=len(parts)))
        if query is not None:
            return self._member(node.this, query, scope)
        this = self.value(node.this, scope)
        values = tuple(self.value(value, scope) for value in node.expressions)
        if not values:
            raise UnreadError("IN of no values")
        if not all(isinstance(value, Literal) for value in values):
            return Among(this, values)  # SQLite compares with these as if they had no affinity
        tests = tuple(Comparison("=", this, value) for value in values)
        return tests[0] if len(tests) == 1 else Or(tests)

    def _member(self, this: exp.Expr, query: exp.Expr, scope: _Scope) -> Scalar:
        """Read ``x IN (SELECT ...)``."""
        value = self.value(this, scope)
        if isinstance(query.this, exp.Subquery):
            raise UnreadError("IN of a query in double brackets")  # a value, not a set of them
        return InQuery((value,), self._inner(query, scope, width=1))

    def _case(self, node: exp.Case | exp.If, scope: _Scope) -> Scalar:
        if isinstance(node, exp.If):
            ifs, operand, default = [node], None, node.args.get("false")
        else:
            ifs, operand, default = node.args["ifs"], node.this, node.args.get("default")
        whens: list[When] = []
        for branch in ifs:
            condition = self.value(branch.this, scope)
            if operand is not None:
                condition = Comparison("=", self.value(operand, scope), condition)
            whens.append(When(condition, self.value(branch.args["true"], scope)))
        return Case(tuple(whens), self.value(default, scope) if default is not None else NULL)

    def _aggregate(self, node: exp.Expr, scope: _Scope) -> Scalar:
        if {*_parts_of(node)} - {"this", "expressions", "big_int"} or node.expressions:
            raise UnreadError(f"{type(node).__name__} of several values")
        name, this, distinct = _AGGREGATES[type(node)], node.this, False
        if this is None and name == "count" and self._dialect in ("sqlite", "duckdb"):
            return Aggregate(name)
        if isinstance(this, exp.Star):
            _check(this)
            if name != "count":
                raise UnreadError(f"{name} of a star")
            return Aggregate(name)
        if isinstance(this, exp.Distinct):
            _check(this, "expressions")
            if len(this.expressions) != 1:
                raise UnreadError(f"{name} of several values")
            distinct, this = True, this.expressions[0]
        operand = self.value(cast("exp.Expr", this), scope)
        used = operand.sources
        if used and used.isdisjoint(table.source for table in scope.tables):
            around = node.parent_select and node.parent_select.find_ancestor(*_ROWS, exp.Select)
            error = RefusedError if isinstance(around, _ROWS) else UnreadError
            raise error("an aggregate of an outer query")
        if has_aggregate(operand) and not isinstance(node.parent, exp.Window):
            raise InvalidError("an aggregate of another aggregate")
        return Aggregate(name, operand, distinct)

    def _filtered(self, node: exp.Filter, scope: _Scope) -> Scalar:
        """``SUM(x) FILTER (WHERE p)`` is ``SUM(CASE WHEN p THEN x END)``: NULLs are not summed."""
        found = self.value(node.this, scope)
        condition = self.value(node.expression.this, scope)
        if not isinstance(found, Aggregate) or has_aggregate(condition):
            raise UnreadError("FILTER of what is no aggregate")
        value = found.operand or integer(1)
        return attrs.evolve(found, operand=Case((When(condition, value),)))

    def _like(self, node: exp.Expr, scope: _Scope) -> Scalar:
        escape: Scalar | None = None
        like = node
        if isinstance(node, exp.Escape):
            _check(node, "this", "expression")
            like, escape = node.this, self.value(node.expression, scope)
        # NOT LIKE ANY asks whether some pattern does not match, which is no NOT of LIKE ANY.
        if not isinstance(like, (exp.Like, exp.ILike, exp.Glob)) or isinstance(
            like.expression, (exp.Any, exp.All)
        ):
            return self._function(node, scope)
        _check(like, "this", "expression", "negate")
        this, pattern = self.value(like.this, scope), self.value(like.expression, scope)
        found = Like(type(like).__name__.lower(), this, pattern, escape)
        return Not(found) if like.args.get("negate") else found

    def _function(self, node: exp.Expr, scope: _Scope) -> Function:
        """Read a node whose meaning is not looked into: equal only to one written alike."""
        self._count()
        if isinstance(node, _OPAQUE):
            raise UnreadError(f"{type(node).__name__} in an expression")
        certain = isinstance(node, _PURE) or _of_given_time(node)
        if not certain and self._dialect == "sqlite" and _of_one_moment(node):
            self.assumptions.add(ONE_MOMENT)
            certain = True
        operands: list[Scalar] = []
        form: list[str] = []
        keys = list(type(node).arg_types)
        several = False
        for place, key in enumerate(keys):
            value = node.args.get(key)
            if isinstance(value, (exp.Identifier, exp.Var)):
                form.append(f"{key}={value.this}")
            elif isinstance(value, exp.Expr) or (isinstance(value, list) and value):
                parts = cast("list[object]", value) if isinstance(value, list) else [value]
                nodes = [part for part in parts if isinstance(part, exp.Expr)]
                if len(nodes) < len(parts):
                    raise UnreadError(f"{key} of {type(node).__name__} is not known")
                if several or any(not node.args.get(before) for before in keys[:place]):
                    form.append(f"{key}*{len(nodes)}")  # its place alone is not enough
                several = several or isinstance(value, list)
                operands += [self._operand(part, scope) for part in nodes]
            elif value not in (None, False, []):
                form.append(
                    f"{key}={str(cast('object', value)).lower() if key == 'this' else value}"
                )
        if {*_parts_of(node)} - {*keys}:
            raise UnreadError(f"{type(node).__name__} says more than is known")
        return Function(type(node).__name__.lower(), tuple(operands), " ".join(form), certain)

    def _operand(self, node: exp.Expr, scope: _Scope) -> Scalar:
        if isinstance(node, (exp.Identifier, exp.Var)):
            return Function("word", (), str(node.this))
        if isinstance(node, _WITHOUT_VALUE):
            return self._function(node, scope)
        return self.value(node, scope)

    # Window functions.

    def _window(self, node: exp.Window, scope: _Scope) -> Scalar:
        """Read a window function with its PARTITION BY, ORDER BY and frame."""
        _check(node, "this", "partition_by", "order", "spec", "over")
        keys = tuple(self.value(key, scope) for key in node.args.get("partition_by") or ())
        items = tuple(_item(item, self.value(item.this, scope)) for item in _ordered_nodes(node))
        function: exp.Expr = node.this
        distinct = False
        operands: tuple[Scalar, ...]
        name = _WINDOW_FUNCTIONS.get(type(function))
        if name is not None:
            operands = tuple(self.value(one, scope) for one in _window_operands(function))
        else:
            found = self.value(function, scope)
            if not isinstance(found, Aggregate):
                raise UnreadError(f"{type(function).__name__} is no window function that is known")
            name, distinct = found.function, found.distinct
            operands = () if found.operand is None else (found.operand,)
        frame = _frame(node.args.get("spec"), name, in_order=bool(items))
        return Over(Window(name, operands, keys, items, frame, distinct))

    def _isolated(
        self, select: Select, items: tuple[OrderItem, ...], kept: Scalar
    ) -> tuple[Select, tuple[OrderItem, ...]]:
        """
        Return a SELECT with window functions as one over a derived table that has them as columns.

        *kept* is what QUALIFY says.  Windows see the rows after WHERE, GROUP BY and HAVING, and
        before DISTINCT and ORDER BY.
        """
        if any(map(_has_window, (select.where, select.having, *(select.keys or ())))):
            raise InvalidError("a window function in WHERE, GROUP BY or HAVING")
        whole = (select, kept, *items)
        if not frozenset[Source]().union(*map(free_sources, whole)) <= defined_in(select):
            raise UnreadError("a window function in a subquery that names columns around it")
        moved = _Moved(self._source(), select)
        outputs = [moved.read(output) for output in select.outputs]
        order = [moved.read(item) for item in items]
        where = moved.read(kept)
        n = len(moved.columns)
        new = {
            Column(moved.source, f"w{k}"): Column(moved.source, str(n + k))
            for k in range(len(moved.windows))
        }
        inner = attrs.evolve(select, distinct=False, outputs=tuple(moved.columns))
        query = Windowed(inner, tuple(moved.windows))
        self._catalog.derived[moved.source] = query
        outer = Select(
            (Derived(moved.source, query),),
            replaced(where, new),
            outputs=tuple(replaced(output, new) for output in outputs),
            distinct=select.distinct,
        )
        return outer, tuple(replaced(item, new) for item in order)


def _may_be_folded(condition: Scalar) -> bool:
    """Say whether SQLite may leave out a part of a condition before it looks into it."""
    several = (node.parts for node in walk(condition) if isinstance(node, And | Or))
    return any(not part.sources and not has_aggregate(part) for parts in several for part in parts)


def _is_dual(node: exp.Expr) -> bool:
    """Say whether a table is the one that stands for none."""
    dual = isinstance(node, exp.Table) and node.name.casefold() == "dual"
    return dual and node.sql().casefold() == "dual"


def _common(left: list[_Visible], right: list[_Visible]) -> list[str]:
    if any(table.columns is None for table in (*left, *right)):
        raise UnreadError("NATURAL JOIN needs a schema")
    names = {name for table in left for name in table.columns or () if name}
    return [name for table in right for name in table.columns or () if name in names]


def _has_star(query: Query) -> bool:
    return any(isinstance(output, Star) for output in query.outputs)


def is_settled(query: Query) -> bool:
    """Say whether a query has the same rows in each run, as far as can be seen in it."""
    for node in walk(query):
        if isinstance(node, (Windowed, OpenName)) or (
            isinstance(node, Function) and not node.certain
        ):
            return False
        if isinstance(node, Ordered) and (node.limit is not None or node.offset is not None):
            return False
        if isinstance(node, Select) and bare_columns(node):
            return False
    return True


def bare_columns(
    select: Select, aggregates: Callable[[Function], bool] = lambda _: False
) -> list[Scalar]:
    """
    Return the columns of a group that are neither grouped by nor aggregated.

    The engine takes any row's value, unless the keys of the group determine them.  *aggregates*
    says which other functions may be of all rows.
    """
    if select.keys is None and not select.aggregates:
        return []
    found: list[Scalar] = []
    own, keys = frozenset(local_sources(select.tables)), frozenset(select.keys or ())
    stack = [(part, False) for part in (select.having, *select.outputs)]
    while stack:
        node, inner = cast("tuple[Node, bool]", stack.pop())
        if node in keys or (isinstance(node, Aggregate) and not inner):
            continue
        if isinstance(node, Function) and aggregates(node):
            continue
        if isinstance(node, (Column, Star, OpenName)):
            if not node.sources.isdisjoint(own):
                found.append(node)
            continue
        inner = inner or isinstance(node, Query)
        stack += [(cast("Scalar", child), inner) for child in node.children]
    return found


def _marked(query: Query, shared: dict[Source, str]) -> Query:
    def read(node: Node) -> Node:
        if node.children:
            node = node.with_children(map(read, node.children))
        if isinstance(node, Derived) and node.source in shared:
            return attrs.evolve(node, shared=shared[node.source])
        return node

    return cast("Query", read(query))


# Windows.


def _has_window(node: Node) -> bool:
    if isinstance(node, Over):
        return True
    return not isinstance(node, Query) and any(map(_has_window, node.children))


_N = TypeVar("_N", bound=Node)


class _Moved:
    """Moves what a SELECT computes out of the derived table that computes its windows."""

    def __init__(self, source: Source, select: Select) -> None:
        self.source, self._own = source, frozenset(local_sources(select.tables))
        self._keys = select.keys or ()
        self.columns: dict[Scalar, int] = {}
        self.windows: list[Window] = []

    def _place(self, value: Scalar) -> int:
        return self.columns.setdefault(value, len(self.columns))

    def read(self, node: _N, *, inside: bool = False) -> _N:
        """Return an expression over the columns of the derived table."""
        return cast("_N", self._read(node, inside=inside))

    def _read(self, node: Node, *, inside: bool) -> Node:
        if isinstance(node, Over) and not inside:
            return Column(self.source, f"w{self._window(node.window)}")
        if isinstance(node, (Over, Star)):
            raise UnreadError("a star beside a window function, or a window inside another")
        if node in self._keys or (isinstance(node, Aggregate) and not inside):
            return Column(self.source, str(self._place(cast("Scalar", node))))
        if isinstance(node, (Column, OpenName)):
            if node.sources.isdisjoint(self._own):
                return node
            return Column(self.source, str(self._place(node)))
        if not node.children:
            return node
        inside = inside or isinstance(node, Query)
        return node.with_children([self._read(child, inside=inside) for child in node.children])

    def _window(self, window: Window) -> int:
        if any(map(_has_window, window.children)):
            raise UnreadError("a window function inside another")
        found = attrs.evolve(
            window,
            operands=tuple(map(self._operand, window.operands)),
            keys=sorted_nodes(dict.fromkeys(map(self._operand, window.keys))),
            items=tuple(
                attrs.evolve(item, value=self._operand(item.value)) for item in window.items
            ),
        )
        if found not in self.windows:
            self.windows.append(found)
        return self.windows.index(found)

    def _operand(self, value: Scalar) -> Scalar:
        return value if isinstance(value, Literal) else Place(self._place(value))


_WINDOW_FUNCTIONS: Final[dict[type[exp.Expr], str]] = {
    exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank", exp.CumeDist: "cume_dist", exp.Ntile: "ntile",
    exp.Lag: "lag", exp.Lead: "lead", exp.FirstValue: "first_value",
    exp.LastValue: "last_value", exp.NthValue: "nth_value",
}  # fmt: skip

_FRAMED: Final = frozenset({"first_value", "last_value", "nth_value"})


def _window_operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a window function that is no aggregate, in their order."""
    keys = ("this", "offset", "default")
    _check(node, *keys)
    found = [node.args[key] for key in keys if node.args.get(key)]
    if not all(isinstance(one, exp.Expr) for one in found):
        raise UnreadError(f"{type(node).__name__} of what is no value")
    if isinstance(node, (exp.Lag, exp.Lead)) and len(found) == 1:
        found.append(exp.Literal.number(1))
    return found


def _frame(spec: exp.Expr | None, name: str, *, in_order: bool) -> Frame:
    """
    Return the rows of a partition that a function sees.

    Those that rank, and LAG and LEAD, see the partition whatever is written.  Without a frame it
    is that up to the current row and those that tie with it; without an order all rows tie.
    """
    if name not in _FRAMED and name in _WINDOW_FUNCTIONS.values():
        return WHOLE
    if spec is None:
        return RUNNING if in_order else WHOLE
    _check(spec, "kind", "start", "start_side", "end", "end_side")
    unit = str(spec.args.get("kind") or "RANGE").lower()
    start = _distance(spec.args.get("start"), spec.args.get("start_side"))
    end = _distance(spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"))
    if unit not in ("rows", "range") or start == _UNBOUNDED[1] or end == _UNBOUNDED[0]:
        raise UnreadError("a frame of a window that is not known")
    low = None if start == _UNBOUNDED[0] else int(start)
    high = None if end == _UNBOUNDED[1] else int(end)
    if low is None and high is None:
        return WHOLE
    if unit == "range" and not in_order and low in (None, 0) and high in (None, 0):
        return WHOLE
    return Frame(unit, low, high)


_UNBOUNDED: Final = ("unbounded preceding", "unbounded following")


def _distance(value: object, side: object) -> str:
    text = f"{value} {side or ''}".strip().lower() if isinstance(value, str) else ""
    if text in _UNBOUNDED:
        return text
    if text == "current row":
        return "0"
    if isinstance(value, exp.Literal) and not value.is_string and value.this.isdigit():
        return f"{'-' * (str(side).upper() == 'PRECEDING')}{int(value.this)}"
    raise UnreadError("a frame of a window that is not known")


# Order.


def _ordered_nodes(tree: exp.Expr) -> list[exp.Expr]:
    """Return the items of an ORDER BY."""
    order = tree.args.get("order")
    if order is None:
        return []
    _check(order, "expressions")
    for node in order.expressions:
        if not isinstance(node, exp.Ordered):
            raise UnreadError("an ORDER BY that is not known")
        _check(node, "this", "desc", "nulls_first")
    return list(order.expressions)


def _item(node: exp.Expr, value: Scalar) -> OrderItem:
    return OrderItem(value, bool(node.args.get("desc")), node.args.get("nulls_first") or False)


# Expressions by kind.

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip

_ARITHMETIC: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%",
}  # fmt: skip

_AGGREGATES: dict[type[exp.Expr], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
}  # fmt: skip

_BY_OUTPUTS = (exp.Group, exp.Having, exp.Order, exp.Qualify)
"""Clauses in which a name may be that of an output before it is that of a column."""

_ROWS = (exp.Where, exp.Join)
"""Clauses that are read before there are groups."""

_MEMBERSHIPS = ((exp.EQ, exp.Any), (exp.NEQ, exp.All))

_NOT_A_NUMBER = frozenset({"bigquery", "clickhouse", "presto", "trino", "athena", "dune"})
"""Dialects in which NaN is neither less, equal nor greater."""

_PLUS_IS_SUM = frozenset({"sqlite", "mysql", "postgres", "duckdb", "bigquery"})
"""Dialects in which + does not join texts."""

# Functions of their operands alone, in every dialect.
_PURE = (
    exp.IntDiv, exp.DPipe, exp.Upper, exp.Lower, exp.Length, exp.Abs, exp.Coalesce, exp.Nullif,
    exp.Round, exp.Floor, exp.Ceil, exp.Substring, exp.Trim, exp.Concat, exp.Replace, exp.Like,
    exp.ILike, exp.Escape, exp.Glob, exp.Cast, exp.DataType, exp.Is, exp.In, exp.Distinct,
    exp.Between, exp.Filter, exp.Where, exp.Extract, exp.Var, exp.Least, exp.Greatest,
    exp.NullSafeEQ, exp.NullSafeNEQ, exp.Tuple, exp.BitwiseAnd, exp.BitwiseOr,
    exp.DataTypeParam, exp.Year, exp.Month, exp.Day, exp.StrPosition, exp.EQ, exp.NEQ, exp.LT,
    exp.LTE, exp.GT, exp.GTE, exp.Min, exp.Max, exp.Right, exp.TimestampTrunc,
)  # fmt: skip

_OPAQUE = (exp.Lambda, exp.Lateral, exp.Unnest, exp.Table, exp.Values, exp.Command, exp.Identifier)

_WITHOUT_VALUE = (
    exp.Distinct, exp.DataType, exp.DataTypeParam, exp.Where, exp.Order, exp.Ordered,
    exp.WindowSpec, exp.Tuple, exp.Interval, exp.Any, exp.All,
)  # fmt: skip

_PLAIN = (
    exp.Literal, exp.Null, exp.Boolean, exp.And, exp.Or, exp.Not, exp.Neg, exp.Add, exp.Mul,
    exp.Sub, exp.Mod, exp.Between, exp.Case, exp.If, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT,
    exp.GTE,
)  # fmt: skip

_OPERANDS = (
    "this", "expression", "is_string", "low", "high", "symmetric", "ifs", "default", "true",
    "false",
)  # fmt: skip

_INT_DIGITS = 18

_CLOCKS = frozenset({"date", "time", "datetime", "julianday", "strftime", "unixepoch"})
"""SQLite's functions of times, all of which stand still while a query is run."""

_OF_TIMES = (exp.TimeToStr, exp.TsOrDsToTimestamp, exp.TsOrDsToDate, exp.Date)

_ZONES = frozenset({"localtime", "utc"})


def _of_given_time(node: exp.Expr) -> bool:
    """Say whether a function of a time looks at no clock, as SQLite's do for ``'now'``."""
    if not isinstance(node, _OF_TIMES):
        return False
    texts = [literal.this.casefold() for literal in node.find_all(exp.Literal)]
    return "now" not in texts and node.find(exp.Column) is not None


def _of_one_moment(node: exp.Expr) -> bool:
    """Say whether the value of a function of times is given by the time of day, in SQLite."""
    if isinstance(node, (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)):
        return not _parts_of(node)
    if isinstance(node, exp.Anonymous):
        if str(node.this).casefold() not in _CLOCKS:
            return False
    elif not isinstance(node, _OF_TIMES):
        return False
    return _ZONES.isdisjoint(text.this.casefold() for text in node.find_all(exp.Literal))


def _literal(node: exp.Literal) -> Literal:
    text: str = node.this
    if node.is_string:
        return Literal("text", text)
    if text.isascii() and text.isdigit() and len(text) <= _INT_DIGITS:
        return Literal("integer", str(int(text)))
    return Literal("number", text)
