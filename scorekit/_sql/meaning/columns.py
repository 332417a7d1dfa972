"""Which columns of base tables a text reads, and which of its names a schema does not have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import attrs
from sqlglot import exp
from sqlglot.expressions.dml import DML

from scorekit._sql.schema.definitions import View, find_table
from scorekit._sql.schema.tables import Schema, SqlSchema, frozen_schema, read_schema
from scorekit._sql.text.base_tables import (
    WITH_IN_TABLE,
    common_tables,
    dotted_name,
    in_table,
    name_parts,
    tables_of,
)
from scorekit._sql.text.names import dotted, parts_of, plain_names
from scorekit._sql.text.parsing import Script, is_long, may_be_text, parse
from scorekit.errors import SqlError, shown


class Lacking(NamedTuple):
    """Names that a query uses and a complete schema does not have."""

    tables: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    """Each with its table, if it is clear which."""

    def __sub__(self, other: Lacking) -> Lacking:
        """Return the names that are not lacking elsewhere too."""
        return Lacking(self.tables - other.tables, self.columns - other.columns)

    @property
    def error(self) -> tuple[str, str] | None:
        """The kind and the message of an error, of tables first; None if nothing is lacking."""
        for kind, names in (("table", self.tables), ("column", self.columns)):
            if names:
                s = "s" * (len(names) > 1)
                listed = ", ".join(map(shown, sorted(names)))
                return f"unknown_{kind}", f"the schema has no {kind}{s} {listed}"
        return None


def lacking_names(sql: str, schema: Schema | None, dialect: str | None) -> Lacking:
    """
    Return the tables and columns that a query reads and a complete schema does not have.

    What a database has besides is never among them (its own tables, functions, hidden columns),
    nor is what cannot be resolved for sure, or any of a text that is long.  The schema must be one
    that `read_schema` takes.
    """
    return (
        Lacking()
        if is_long(sql)
        else read_columns(sql, known_tables(schema, dialect), dialect).lacking
    )


def has_tables(schema: Schema | None, dialect: str | None) -> bool:
    """Say whether a schema, one that `read_schema` takes, defines tables."""
    return known_tables(schema, dialect) is not None


def known_schema(schema: Schema | None, dialect: str | None) -> SqlSchema | None:
    """Return what `read_schema` makes of a schema, remembered."""
    known = known_tables(schema, dialect)
    return None if known is None else known.schema


class ColumnsRead(NamedTuple):
    """What a text reads, or why that is unknown."""

    read: frozenset[str]
    nowhere: frozenset[str]
    """Columns that no table has: they match nothing but themselves."""
    error: SqlError | None = None
    lacking: Lacking = Lacking()
    dialect: str = ""
    """What the text was read as."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.read | self.nowhere))


_Names: TypeAlias = dict[str, None]
"""Names of columns in order; the others are looked up in it."""

_OTHERS: Final = ""
"""Stands for columns whose names the database chooses."""

_NAMED: Final = re.compile(r"[^\W_][^$]*\Z")
_PLAIN: Final = re.compile(r"[^\W_][\w -]*\Z")
"""Names that are neither files, variables, temporary tables nor columns of a database's own."""

_SYSTEM: Final = re.compile(
    r"(?:^|.*\.)(?:sqlite_|pg_|pragma_|svv?_|st[lv]_|dbms_|utl_|(?:all|dba|user)_(?:tab|obj|view|con"
    r"|ind|col|users)|(?:information_schema|sys|sysibm|system|mysql|performance_schema|snowflake"
    r"|account_usage|tempdb)\.|(?:sys\w+|dual|dbstat|json_each|json_tree|generate_series|inserted"
    r"|deleted|excluded)\Z)"
)
"""Tables that each database of some kind has."""


def reads_catalog(sql: str, dialect: str | None) -> bool:
    """Say whether *sql*, which parses, reads a table that describes others."""
    return any(map(_SYSTEM.match, tables_of(parse(sql, dialect))))


_HIDDEN: Final = re.compile(
    r"oid|rowid|row_?num|ora_\w+|level|binary|[cx]m(?:in|ax)|ctid|tableoid|(?:curr|next)val|user|all|default"
    r"|(?:current|session|system|local)_?(?:date|time(?:stamp)?|user|role|schema|catalog)|sys\w*"
)
"""Columns that no schema lists."""

_WORDS: Final = re.compile(
    r"(?:(?:milli|micro|nano)?second|minute|hour|day|week|month|quarter|year|decade|century|epoch)s?"
    r"|iso\w*|do[wy]|day_?of\w*|week_?\w*|yy(?:yy)?|qq?|mm?|dd?|dy|wk|ww|dw|hh|mi|ss?|ms|mcs|ns"
    r"|(?:big|small|tiny)?int(?:eger)?|text|n?(?:var)?char|string|float|double|real|decimal|numeric"
    r"|date(?:time)?|time(?:stamp)?|bool(?:ean)?|json|signed|unsigned|nocase|binary|rtrim|utf\w+"
)
"""Words between the arguments of functions that the parser may take for columns."""


@attrs.frozen(eq=False)
class KnownTables:
    """The tables of a schema; compared by identity, so that what was read can be remembered."""

    tables: dict[str, _Names]
    last_parts: frozenset[str]
    """Of the names of all tables and views, also of those of which nothing is known."""
    complete: bool
    """Whether a table or column that is not here does not exist."""
    schema: SqlSchema
    """What it was made from."""
    dialect: str | None
    _of_views: dict[str, _Names | None] = attrs.field(
        factory=dict["str", "_Names | None"], init=False
    )
    """The columns of the views that were asked for; None while a view is being read."""

    def lacks(self, table: str) -> bool:
        """Say whether there is no such table, however it is qualified."""
        last = parts_of(table)[-1]
        is_named = last in self.last_parts or not _PLAIN.match(last)
        foreign = (self.dialect in ("postgres", "mysql") and last.startswith("sqlite_")) or (
            self.dialect in ("postgres", "sqlite", "duckdb") and last == "dual"
        )
        return self.complete and not is_named and (foreign or not _SYSTEM.search(table))

    def columns(self, table: str) -> _Names | None:
        """Return those of a table or a view that is qualified more or less than in the schema."""
        views = self.schema.views
        name = find_table(table, {**self.tables, **views} if views else self.tables)
        if name is None or name in self.tables:
            return None if name is None else self.tables[name]
        if name not in self._of_views:
            self._of_views[name] = None
            self._of_views[name] = _columns_of_view(views[name], self)
        return self._of_views[name]


def _columns_of_view(view: View, known: KnownTables) -> _Names | None:
    """Return the columns of a view, None where its query does not show them."""
    listed = dict.fromkeys(view.columns)
    try:
        script = parse(view.query, known.dialect)
        [query] = script.statements
        names = _Reader(known, script.dialect).read_statement(query)
    except (SqlError, ValueError):  # several statements, or one that is not looked into
        return None
    if names is None or not isinstance(query, exp.Query):
        return listed if listed and known.dialect in _LISTS_ALL else None
    return listed | dict.fromkeys(list(names)[len(listed) :])


_LISTS_ALL: Final = frozenset({"sqlite", "mysql", "tsql", "fabric", "oracle", "snowflake"})
"""Dialects in which a view names all of its columns or none."""


def known_tables(schema: Schema | None, dialect: str | None) -> KnownTables | None:
    """Return the tables of a schema, remembered; None if it defines none."""
    frozen = frozen_schema(schema)
    try:
        return _remembered_schema(frozen, dialect)
    except TypeError:  # not what a schema holds, which is said here
        return _known_tables(frozen, dialect)


def _known_tables(schema: Any, dialect: str | None) -> KnownTables | None:
    found = read_schema(schema, None, dialect)
    if found is None:
        return None
    tables = {
        table: dict.fromkeys(column.name for column in columns)
        for table, columns in found.tables.items()
    }
    last_parts = frozenset(name.rpartition(".")[2] for name in (*tables, *found.unclear))
    return KnownTables(tables, last_parts, found.complete, found, dialect)


_remembered_schema = lru_cache(maxsize=256)(_known_tables)


class ColumnReader:
    """Reads columns of texts over the tables of a schema."""

    def __init__(self, schema: Schema | None, dialect: str | None) -> None:
        self._known = known_tables(schema, dialect)
        self._dialect = dialect

    def read(self, sql: str) -> ColumnsRead:
        """Return the columns that a text reads."""
        return read_columns(sql, self._known, self._dialect)

    def named(self, names: Iterable[str], read_as: str) -> ColumnsRead:
        """Return columns of these names, written as those of a text that was *read_as*."""
        found = frozenset(plain_names(names, read_as or self._dialect or ""))
        return ColumnsRead(found, frozenset(name for name in found if len(parts_of(name)) == 1))


def read_columns(sql: str, known: KnownTables | None, dialect: str | None) -> ColumnsRead:
    """Return the columns that a text reads, or the error that says why they are unknown."""
    try:
        script = parse(sql, dialect)
    except SqlError as error:
        return ColumnsRead(frozenset(), frozenset(), error)
    reader = _Reader(known, script.dialect)
    found = ColumnsRead(frozenset(), frozenset(), dialect=script.dialect)
    try:
        for statement in script.statements:
            reader.read_statement(statement)
    except SqlError as error:
        found = found._replace(error=error)
    else:
        found = found._replace(read=frozenset(reader.read), nowhere=frozenset(reader.nowhere))
    lacking = Lacking(frozenset(reader.lacking_tables), frozenset(reader.lacking))
    if lacking.error is not None and _is_sure(script, sql.lower(), dialect):
        found = found._replace(lacking=lacking)
    return found


def _is_sure(script: Script, text: str, dialect: str | None) -> bool:
    """Say whether a script only reads, and makes no names in ways that are not looked into."""
    if _ARRAY_JOIN.search(text) or (dialect is None and script.dialect in _GUESSED):
        return False
    for tree in script.statements:
        if not isinstance(tree, exp.Query) or tree.find(exp.Comprehension) is not None:
            return False
        if not all(isinstance(cte.this, exp.Query) for cte in tree.find_all(exp.CTE)):
            return False
        for select in tree.find_all(exp.Select):
            if select.args.get("joins") and select.args.get("from_") is None:
                return False  # PostgreSQL lets an output be called JOIN
            if not script.dialect and any(isinstance(one, exp.EQ) for one in select.expressions):
                return False  # T-SQL writes an alias so
    return True


_GUESSED = ("hive", "clickhouse", "duckdb", "snowflake")
"""Dialects that read much of each other, in other ways."""

_ARRAY_JOIN = re.compile(r"\barray\s+join\b")


# From the syntax tree to names.


class _Table(NamedTuple):
    """A table that a FROM makes visible."""

    name: str
    """What qualifies its columns: its alias, or its own dotted name."""
    columns: _Names | None
    """None where they are not known."""
    base: str | None
    """The base table; None for what the query makes itself, whose columns were read elsewhere."""


_NAMES_BY_CALL = ("", "postgres", "redshift", "materialize")
"""Dialects in which an output without a name may have that of the function that gives it."""
_ALIASES_FIRST = ("order", "sort", "cluster", "distribute")
_ALIASES_LATER = ("group", "having", "qualify")


@attrs.define
class _Scope:
    """What can be named inside one SELECT."""

    outer: _Scope | None = None
    tables: list[_Table] = attrs.Factory(list[_Table])
    merged: set[str] = attrs.Factory(set[str])
    """Columns joined by USING or NATURAL: those of both sides are read already."""
    aliases: set[str] = attrs.Factory(set[str])
    """Outputs that have been named so far."""
    clause: str = ""
    """Which clause is being read: it decides whether an alias or a column goes first."""
    to_the_right: list[exp.Expr] = attrs.Factory(list[exp.Expr])
    """Conditions of joins that name what no table so far has, and one further right may have."""


class _Reader:
    """Collects the columns that the statements of a script read."""

    def __init__(self, known: KnownTables | None, dialect: str) -> None:
        self.known = known
        self.dialect = dialect
        self.read: set[str] = set()
        self.nowhere: set[str] = set()
        self.lacking: set[str] = set()
        """Columns that are read and do not exist for sure, if the schema is complete."""
        self.lacking_tables: set[str] = set()
        self.made: dict[str, _Names | None] = {}
        """What the script has made from queries so far, with its outputs; None: not known."""
        self.ctes: dict[int, exp.Expr] = {}
        """What of a WITH a table of the statement names, by its id."""
        self.outputs: dict[int, _Names | None] = {}
        """Those of each part of a WITH that has been read, by its id."""

    # Statements.

    def read_statement(self, tree: exp.Expr) -> _Names | None:
        """Read a statement of the script, and return the names of its outputs."""
        self.ctes = common_tables(tree, self.dialect)
        return self.statement(tree)

    def statement(self, tree: exp.Expr) -> _Names | None:
        if isinstance(tree, exp.Query):
            return self.query(tree, None)
        self.with_(tree, None)
        made = tree.args.get("expression")
        if isinstance(tree, exp.Create) and isinstance(made, exp.Query):
            self.made[_name_of(tree.this, self.dialect)] = self.query(made, None)
            return None
        scope = _Scope()
        if isinstance(tree, exp.MultitableInserts):
            source = self.query(tree.args["source"], None)
            scope.tables.append(_Table("", source, None))
            for inserted in tree.expressions:
                self.walk(inserted, scope)
            return None
        if isinstance(tree, DML):
            self.changed_tables(tree, scope)
        self.walk(tree, scope)
        return None

    def changed_tables(self, tree: exp.Expr, scope: _Scope) -> None:
        """Add the tables that a statement changes or looks into."""
        source = tree.args.get("from_")
        used = tree.args.get("using")
        for other in _nodes(source.this if source else used):
            self.source(other, scope)
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        if isinstance(target, exp.Table) and not _find_in(_name_of(target, self.dialect), scope):
            self.ctes.pop(id(target), None)  # what is changed is a table of its own
            self.source(target, scope)
        if isinstance(tree, exp.Insert):
            scope.tables.append(_Table("excluded", None, None))

    # Queries: each method returns the names of the outputs.

    def query(self, tree: exp.Expr, outer: _Scope | None) -> _Names | None:
        self.with_(tree, outer)
        if isinstance(tree, exp.Select):
            return self.select(tree, outer)
        if isinstance(tree, exp.SetOperation):
            return self.set_operation(tree, outer)
        if isinstance(tree, exp.Subquery) and isinstance(tree.this, exp.Query):
            return self.query(tree.this, outer)
        scope = _Scope(outer)
        self.source(tree, scope)  # a table in brackets, or VALUES
        return self.star(scope.tables)

    def with_(self, tree: exp.Expr, outer: _Scope | None) -> None:
        """Read the common table expressions of a query."""
        with_ = tree.args.get("with_")
        for cte in () if with_ is None else with_.expressions:
            self.outputs[id(cte)] = _renamed(cte, None)  # to itself they are not known
            is_query = isinstance(cte.this, exp.Query)
            names = self.query(cte.this, outer) if is_query else self.statement(cte.this)
            self.outputs[id(cte)] = _renamed(cte, names)

    def set_operation(self, tree: exp.SetOperation, outer: _Scope | None) -> _Names | None:
        arms: list[exp.Expr] = []
        left: exp.Expr = tree
        while isinstance(left, exp.SetOperation):
            arms.append(left.expression)
            left = left.this
        names = self.query(left, outer)
        for arm in reversed(arms):
            self.query(arm, outer)
        order = tree.args.get("order")
        if order is not None:
            if names is not None:  # some databases sort by columns of the first query too
                names |= {_OTHERS: None}
            self.walk(order, _Scope(outer, [_Table("", names, None)]))
        return names

    def select(self, tree: exp.Select, outer: _Scope | None) -> _Names | None:
        scope = _Scope(outer)
        for node in tree.expressions:
            inner = isinstance(node, exp.Subquery) and not node.alias and node.selects
            named = inner[0] if inner else node  # whose name some databases give to a subquery
            if isinstance(named, exp.Alias):
                scope.aliases.add(named.alias.lower())
            elif isinstance(named, exp.Func) and self.dialect in _NAMES_BY_CALL:
                own = isinstance(named, exp.Anonymous)
                names = [named.name] if own else named.sql_names()  # as SUBSTR and SUBSTRING
                scope.aliases.update(name.lower() for name in names)
        self.sources(tree, scope)
        found = [self.output(node, scope) for node in tree.expressions]
        known = [names for names in found if names is not None]
        for clause, value in tree.args.items():
            if clause in ("with_", "from_", "joins", "laterals", "expressions"):
                continue
            scope.clause = clause
            for node in _nodes(value):
                self.walk(node, scope)
        return dict.fromkeys(chain.from_iterable(known)) if len(known) == len(found) else None

    def output(self, node: exp.Expr, scope: _Scope) -> _Names | None:
        """Read an item of a SELECT, and return the names that it gives."""
        star, tables = node, scope.tables
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            star, table = node.this, _find_in(".".join(_qualifier(node)), scope)
            tables = [] if table is None else [table]
            if table is None:
                self.nowhere.add(".".join([*_qualifier(node), "*"]))
                return {_OTHERS: None}
        if isinstance(star, exp.Star):
            if isinstance(node.parent and node.parent.parent, exp.Exists):
                return {}  # of which only rows are looked at
            for replaced in star.args.get("replace") or ():
                self.walk(replaced, scope)
            left_out = star.args.get("except_") or ()
            return self.star(tables, {column.name.lower() for column in left_out})
        self.walk(node, scope)
        name, of_column = node.alias_or_name.lower(), isinstance(node.unnest(), exp.Column)
        if isinstance(node, exp.Cast):
            of_column = isinstance(node.this, exp.Column)
        names: _Names = {} if name == "*" else {name: None}
        return names if node.alias or of_column else names | {_OTHERS: None}

    def star(
        self, tables: list[_Table], left_out: frozenset[str] | set[str] = frozenset()
    ) -> _Names | None:
        """Read every column of some tables."""
        names: _Names | None = {}
        for table in tables:
            if table.columns is None:
                names = None
                if table.base is not None and self.known is None:
                    message = f"which columns {shown(table.base)} has is not known"
                    raise SqlError("no_schema", message, "")
                if table.base is not None:
                    self.read.add(f"{table.base}.*")
                continue
            taken = [name for name in table.columns if name not in left_out]
            if table.base is not None:
                self.read.update(f"{table.base}.{name}" for name in taken)
            if names is not None:
                names |= dict.fromkeys(taken)
        return names

    # Tables.

    def sources(self, tree: exp.Select, scope: _Scope) -> None:
        """Make what a query reads from visible, and read the conditions of its joins."""
        source = tree.args.get("from_")
        if source is not None:
            self.source(source.this, scope)
        for join in tree.args.get("joins") or ():
            self.join(join, scope)
        for lateral in tree.args.get("laterals") or ():
            self.source(lateral, scope)
        for condition in scope.to_the_right:
            self.walk(condition, scope)

    def source(self, node: exp.Expr, scope: _Scope) -> None:
        """Make an item of a FROM visible."""
        if node.args.get("pivots"):
            raise SqlError("unsupported_clause", "PIVOT and UNPIVOT are not looked into", "")
        scope.tables.append(self.table(node, scope))
        for join in node.args.get("joins") or ():
            self.join(join, scope)

    def table(self, node: exp.Expr, scope: _Scope) -> _Table:
        alias, inner = _alias(node), node.this
        if isinstance(node, exp.Table) and isinstance(inner, exp.Identifier | exp.Dot):
            return self.named_table(node, scope)
        if isinstance(node, exp.Subquery | exp.Lateral) and isinstance(inner, exp.Query):
            outer = scope if isinstance(node, exp.Lateral) else scope.outer
            return _Table(alias, _renamed(node, self.query(inner, outer)), None)
        if isinstance(node, exp.Subquery):  # a table in brackets, or several joined
            n_before = len(scope.tables)
            self.source(inner, scope)
            if not alias:
                return scope.tables.pop()
            table = scope.tables.pop()
            is_renamed = table.base is not None and _renamed(node, None) is not None
            if is_renamed or len(scope.tables) > n_before:
                raise SqlError("unsupported_clause", "a table's columns are renamed", "")
            return _Table(alias, _renamed(node, table.columns), table.base)
        self.walk_children(node, scope)  # a function, UNNEST or VALUES
        columns = _renamed(node, None)
        if columns is None and isinstance(node, exp.Unnest) and alias:
            columns = {alias: None}
        offset = node.args.get("offset")
        if columns is not None and isinstance(offset, exp.Identifier):
            columns[offset.name.lower()] = None
        return _Table(alias, columns, None)

    def named_table(self, node: exp.Table, scope: _Scope) -> _Table:
        """Return what a name means: a part of a WITH, what the script made, or a base table."""
        name = _name_of(node, self.dialect)
        own, cte = _alias(node) or name, self.ctes.get(id(node))
        if cte is not None:
            return _Table(own, _renamed(node, self.outputs.get(id(cte))), None)
        if name in self.made and "." not in name:
            return _Table(own, _renamed(node, self.made[name]), None)
        if _renamed(node, None):
            raise SqlError("unsupported_clause", "a table's columns are renamed", "")
        columns = None if self.known is None else self.known.columns(name)
        self.check_table(node, name, scope)
        return _Table(own, columns, name)

    def check_table(self, node: exp.Table, name: str, scope: _Scope) -> None:
        """Note that a table does not exist, unless it may be something else."""
        is_file = "." in name_parts(node)[-1]
        is_item = "." in name and _find_in(name.partition(".")[0], scope) is not None
        if is_file or is_item or node.this.args.get("temporary"):
            return
        if self.known is not None and self.known.lacks(name):
            self.lacking_tables.add(name)

    def join(self, join: exp.Expr, scope: _Scope) -> None:
        n_left = len(scope.tables)
        self.source(join.this, scope)
        left, right = scope.tables[:n_left], scope.tables[n_left:]
        using = [column.name.lower() for column in join.args.get("using") or ()]
        if join.args.get("method") == "NATURAL":
            using = self.common(left, right)
        for name in using:
            for tables in (right, left):
                if tables is right or name not in scope.merged:
                    self.unqualified(name, _Scope(None, tables))
            scope.merged.add(name)
        for key, value in join.args.items():
            if key not in ("this", "using") and isinstance(value, exp.Expr):
                self.condition(value, scope)

    def condition(self, node: exp.Expr, scope: _Scope) -> None:
        """Read the condition of a join, which in SQLite may name tables on its right."""
        lacking, nowhere = set(self.lacking), set(self.nowhere)
        self.walk(node, scope)
        if self.lacking != lacking and self.dialect in ("", "sqlite"):
            self.lacking, self.nowhere = lacking, nowhere
            scope.to_the_right.append(node)

    def common(self, left: list[_Table], right: list[_Table]) -> list[str]:
        """Return the columns that a NATURAL JOIN compares."""
        found: list[_Names] = []
        for tables in (left, right):
            names: _Names = {}
            for table in tables:
                if table.columns is None:
                    raise self.unknown("the columns of a NATURAL JOIN", [table])
                names |= table.columns
            found.append(names)
        return [name for name in found[0] if name in found[1]]

    # Expressions.

    def walk(self, node: exp.Expr, scope: _Scope) -> None:
        """Read what an expression names; iterative, for chains of AND can be long."""
        stack = [node]
        while stack:
            node = stack.pop()
            if isinstance(node, exp.Column):
                self.column(node, scope)
            elif isinstance(node, exp.MatchRecognize):
                raise SqlError("unsupported_clause", "MATCH_RECOGNIZE is not looked into", "")
            elif isinstance(node, exp.Query):
                self.query(node, scope)
            elif isinstance(node, exp.In) and node.args.get("field") and self.in_table(node):
                stack.append(node.this)
                table = exp.to_table(in_table(node))
                if id(node) in self.ctes:
                    self.ctes[id(table)] = self.ctes[id(node)]
                self.star([self.table(table, scope)])
                self.ctes.pop(id(table), None)
            elif not isinstance(node, exp.Table | exp.Schema | exp.Star | exp.With):
                stack += _operands(node)

    def walk_children(self, node: exp.Expr, scope: _Scope) -> None:
        for child in _operands(node):
            self.walk(child, scope)

    def in_table(self, node: exp.In) -> bool:
        return self.dialect in WITH_IN_TABLE and bool(in_table(node))

    def column(self, node: exp.Column, scope: _Scope) -> None:
        qualifier = _qualifier(node)
        if isinstance(node.this, exp.Star):
            table = _find_in(".".join(qualifier), scope)
            if table is not None and not isinstance(node.parent, exp.Count):
                self.star([table])
            return
        names = [*qualifier, node.name.lower()]
        for n in range(len(qualifier), 0, -1):
            table = _find_in(".".join(names[:n]), scope)
            if table is not None:
                self.add(table, names[n])  # what follows are fields of a struct
                return
        name = names[0]
        quoted = not qualifier and may_be_text(node)
        argument = isinstance(node.parent, exp.Func) and not isinstance(node.parent, exp.AggFunc)
        self.unqualified(
            name,
            scope,
            full=dotted(names),
            may_be_text=quoted and self.dialect == "sqlite",
            may_be_other=(quoted and not self.dialect)
            or (argument and _WORDS.fullmatch(name))
            or node.arg_key == "field",
        )

    def add(self, table: _Table, name: str) -> None:
        if table.base is not None:
            self.read.add(f"{table.base}.{dotted((name,))}")
            if table.columns is not None and name not in table.columns:
                self.lack(f"{table.base}.{name}", [table])
        elif table.columns is not None and name not in table.columns:
            self.nowhere.add(dotted((name,)))
            self.lack(name, [table])

    def lack(self, name: str, tables: Sequence[_Table]) -> None:
        """Note that none of some tables has a column, unless it may have one unseen."""
        word = name.rpartition(".")[2]
        if (
            tables
            and not any(table.columns is None or _OTHERS in table.columns for table in tables)
            and (_PLAIN if None in {t.base for t in tables} else _NAMED).match(word)
            and not _HIDDEN.fullmatch(word)
            and not _SYSTEM.match(name)
        ):
            self.lacking.add(name)

    def unqualified(
        self,
        name: str,
        scope: _Scope,
        *,
        full: str = "",
        may_be_text: bool = False,
        may_be_other: object = False,
    ) -> None:
        """Read the column that a bare name stands for: of the innermost scope that has it."""
        seen: list[_Table] = []
        level: _Scope | None = scope
        while level is not None:
            if self.is_in(level, name, may_be_text=may_be_text):
                return
            seen += level.tables
            level = level.outer
        row = None if full != dotted((name,)) else _find_in(name, scope)
        if row is not None:
            self.star([row])  # a whole row, by the name of its table
        elif not may_be_text:
            only = scope.tables[0].base if len(scope.tables) == 1 else None
            alone = only is not None and scope.outer is None and full in ("", dotted((name,)))
            found = f"{only}.{dotted((name,))}" if alone else full or dotted((name,))
            (self.read if alone else self.nowhere).add(found)
            if not may_be_other:
                self.lack(found, seen)

    def is_in(self, scope: _Scope, name: str, *, may_be_text: bool) -> bool:
        """Read a bare name if it stands for something of this very scope."""
        is_alias = name in scope.aliases
        if name in scope.merged or (is_alias and scope.clause in _ALIASES_FIRST):
            return True
        having = [table for table in scope.tables if name in (table.columns or ())]
        if len(having) > 1:
            tables = " and ".join(table.name or "a subquery" for table in having[:2])
            raise SqlError("ambiguous", f"{shown(name)} is a column of {tables}", "")
        if is_alias and not having and scope.clause in _ALIASES_LATER:
            return True
        unknown = [table for table in scope.tables if table.columns is None]
        if not (having or unknown):
            return is_alias
        if not having and (len(unknown) > 1 or may_be_text or _may_have(name, scope.outer)):
            raise self.unknown(f"the table of {shown(name)}", unknown)
        self.add((having or unknown)[0], name)
        return True

    def unknown(self, what: str, tables: list[_Table]) -> SqlError:
        """Return why something is unknown for tables whose columns are not known."""
        bases = [table.base for table in tables if table.base is not None]
        if not bases:
            message = f"{what} is unknown beside a function that returns a table"
            return SqlError("unsupported_clause", message, "")
        if self.known is None:
            return SqlError("no_schema", f"{what} is unknown without a schema", "")
        message = f"{what} is unknown: the schema has no {shown(bases[0])}"
        return SqlError("unknown_table", message, "")


def _may_have(name: str, scope: _Scope | None) -> bool:
    """Say whether a scope further out may have a column of this name."""
    while scope is not None:
        if any(table.columns is None or name in table.columns for table in scope.tables):
            return True
        scope = scope.outer
    return False


def _find_in(name: str, scope: _Scope | None) -> _Table | None:
    """Return the table that qualifies a column, from the inside out."""
    while scope is not None:
        for table in scope.tables:
            if table.name == name or (
                table.base is not None
                and (table.name.endswith(f".{name}") or name.endswith(f".{table.name}"))
            ):
                return table
        scope = scope.outer
    return None


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of an expression that are read; what is assigned to is not."""
    skipped = {"with_"}
    assigned = isinstance(node, exp.EQ) and node.arg_key == "expressions"
    if assigned and isinstance(node.parent, exp.Update | exp.OnConflict):
        skipped = {"this"}
    elif isinstance(node, exp.Insert):
        skipped = {"this", "with_"}
    elif isinstance(node, exp.OnConflict):
        skipped = {"conflict_keys"}
    parts = (value for key, value in node.args.items() if key not in skipped)
    return [child for part in parts for child in _nodes(part)]


def _nodes(value: Any) -> list[exp.Expr]:
    """Return the nodes of an argument, which is one, a list, or something else."""
    values: list[Any] = value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]
    return [node for node in values if isinstance(node, exp.Expr)]


def _qualifier(node: exp.Column) -> list[str]:
    parts = (node.text(key).lower() for key in ("catalog", "db", "table"))
    return [part for part in parts if part]


def _alias(node: exp.Expr) -> str:
    alias: str = node.alias.lower()
    return alias


def _name_of(node: exp.Expr, dialect: str) -> str:
    """Return the dotted name of a table, or of what a statement makes."""
    return dotted_name(node.this if isinstance(node, exp.Schema) else node, dialect)


def _renamed(node: exp.Expr, names: _Names | None) -> _Names | None:
    """Return names of columns, with those that an alias lists in place of the first."""
    alias = node.args.get("alias")
    listed = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if not listed:
        return names
    first = dict.fromkeys(column.name.lower() for column in listed)
    return first | dict.fromkeys(list(names or ())[len(listed) :])
