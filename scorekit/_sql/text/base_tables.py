"""The base tables of a parsed script, by scope."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias, cast

from sqlglot import exp

from scorekit._sql.text.names import dotted, resolved
from scorekit._sql.text.parsing import Script, read

# Dialects in which a common table expression may name itself without RECURSIVE.
_RECURSIVE_ANYWAY = frozenset({"tsql", "fabric", "oracle", "sqlite", "snowflake"})
# Dialects that have the one-row table `dual`.
_WITH_DUAL = frozenset({"", "oracle", "mysql", "mariadb"})
# Dialects that read a quoted path or `format.path` as a file.
_WITH_FILES = frozenset({"duckdb", "spark", "databricks", "clickhouse", "snowflake"})
_WITH_FORMATS = frozenset({"spark", "databricks"})
_FILE = re.compile(
    r"^[@/.~]|[/\\*]|\.(?:csv|tsv|json|jsonl|ndjson|parquet|xlsx?|gz|zst|db|arrow)$", re.IGNORECASE
)
_FORMAT = re.compile(r"(?:parquet|json|csv|orc|delta|text|avro|binaryfile)\.(?:[^.]*|.*[/:].*)\Z")
# What names a table by a string.
_BY_STRING = frozenset({"identifier", "query_table"})
_STRING_NAME = re.compile(r'(?:"[^"]+"|[\w$]+)(?:\.(?:"[^"]+"|[\w$]+))*')
# Dialects in which `x IN name` reads a table.
WITH_IN_TABLE = frozenset({"sqlite", "clickhouse"})

_NO_TABLE_WITHIN = (
    exp.Lock, exp.JoinHint, exp.Hint, exp.Use, exp.UserDefinedFunction, exp.StoredProcedure,
    exp.Execute,
)  # fmt: skip
# T-SQL's hints in brackets after a table, which other dialects take for a function's arguments.
_TABLE_HINTS = frozenset(
    {"nolock", "readuncommitted", "readcommitted", "repeatableread", "serializable", "holdlock"}
    | {"updlock", "xlock", "rowlock", "paglock", "tablock", "tablockx", "readpast", "nowait"}
)
_LEAVES = frozenset(
    {exp.Identifier, exp.Literal, exp.Star, exp.DataType, exp.Null, exp.Boolean, exp.Var}
    | {type(None), str, bool, int}
)


class TablesRead(NamedTuple):
    """The base tables of a text, sorted, and the statements that could not be read."""

    tables: tuple[str, ...]
    unread: tuple[str, ...]
    dialect: str
    """What the text was read as."""


def read_tables(sql: str, dialect: str | None) -> TablesRead:
    """Return the base tables of what can be read of a text; its errors are those of `read`."""
    script = read(sql, dialect)
    return TablesRead(tuple(sorted(tables_of(script))), script.unread, script.dialect)


def tables_of(script: Script) -> set[str]:
    """Return the base tables that *script* reads or writes, in lower case, as qualified."""
    reader = _Reader(script.dialect)
    for statement in script.statements:
        reader.read(statement)
    return reader.found


class _Scope(NamedTuple):
    """The common table expressions of one WITH that can be seen from some place."""

    names: dict[str, tuple[int, exp.Expr]]
    """Each with its place in the WITH."""
    n_visible: int
    """How many of them, from the first."""
    outer: _Scope | None

    def find(self, name: str) -> exp.Expr | None:
        """Return the one of these that has the name, or of those further out."""
        scope: _Scope | None = self
        while scope is not None:
            place, cte = scope.names.get(name, (scope.n_visible, None))
            if place < scope.n_visible:
                return cte
            scope = scope.outer
        return None


_Place: TypeAlias = tuple[exp.Expr, _Scope | None, exp.Expr | None]
"""A node, what can be seen from it, and what it may name in a later arm of a UNION."""


def common_tables(statement: exp.Expr, dialect: str) -> dict[int, exp.Expr]:
    """Return what of a WITH each table of a statement names, by the ids of its nodes."""
    found: dict[int, exp.Expr] = {}
    for node, scope in _mentions(statement, dialect):
        name = in_table(node) if isinstance(node, exp.In) else _bare_name(node)
        cte = scope.find(name) if name and scope is not None else None
        if cte is not None:
            found[id(node)] = cte
    return found


def _bare_name(node: exp.Expr) -> str:
    """Return the name of a table that nothing qualifies; nothing for others."""
    this = node.this
    is_bare = isinstance(node, exp.Table) and type(this) is exp.Identifier
    return dotted((this.name.lower(),)) if is_bare and not node.args.get("db") else ""


class _Reader:
    """Collects the tables of the statements of a script, one after the other."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.found: set[str] = set()
        self.temporary: set[str] = set()
        """What the script itself has made so far and is no base table."""

    def read(self, statement: exp.Expr) -> None:
        """Add what *statement* reads, writes and makes."""
        if isinstance(statement, exp.Show):
            return
        if isinstance(statement, exp.Drop | exp.Describe) and _kind(statement) not in _READ_KINDS:
            return
        made = _made(statement)
        temporary = set[str]()
        for node, scope in _mentions(statement, self.dialect):
            name = in_table(node) if isinstance(node, exp.In) else self._name(node)
            if not name:
                continue
            parent = node.parent
            if node is made or isinstance(parent, exp.Into):
                lasting = _makes_table(statement) if node is made else _lasts(parent)
                (self.found if lasting and name[0] != "#" else temporary).add(name)
            elif not (
                name[0] == "#"
                or name in self.temporary
                or ("." not in name and scope is not None and scope.find(name) is not None)
                or _is_alias_of_target(node, name, statement)
            ):
                self.found.add(name)
        self.temporary |= temporary

    def _name(self, node: exp.Expr) -> str:
        """Return the name of the table that *node* is, or nothing if it is something else."""
        this, parent = node.this, node.parent
        is_model = isinstance(parent, exp.Predict) and node.arg_key == "this"
        if is_model or isinstance(parent, _NO_TABLE_WITHIN) or node.arg_key == "indexed":
            return ""
        given = _given_parts(node)
        if given or not isinstance(node, exp.Table):
            return resolved(given, self.dialect)
        if type(this) is exp.Identifier and node.args.get("db") is None:
            name = this.name.lower()
            if this.args.get("temporary"):
                return f"#{name}"
            is_dual = name == "dual" and self.dialect in _WITH_DUAL
            return "" if is_dual or (this.quoted and self._is_file(name)) else dotted((name,))
        if not isinstance(this, exp.Identifier | exp.Dot) and not _is_hinted(this):
            return ""  # a function, a stage, a parameter
        name = dotted_name(node, self.dialect)
        return "" if self.dialect in _WITH_FORMATS and _FORMAT.match(name) else name

    def _is_file(self, name: str) -> bool:
        return self.dialect in _WITH_FILES and _FILE.search(name) is not None


def _mentions(statement: exp.Expr, dialect: str) -> Iterator[tuple[exp.Expr, _Scope | None]]:
    """Yield each node that may name a table, with the scope it stands in."""
    wanted = {exp.Table, exp.TableFromRows, exp.Anonymous}
    wanted |= {exp.In} if dialect in WITH_IN_TABLE else set()
    stack: list[_Place] = [(statement, None, None)]
    while stack:
        node, outside, own = stack.pop()
        if type(node) in wanted:
            yield node, outside
        scope = outside
        with_ = node.args.get("with_")
        if isinstance(with_, exp.With):  # elsewhere a flag, as in WITH UNIQUE KEYS
            scope = _Scope(_cte_names(with_), len(with_.expressions), outside)
            stack += _definitions(with_, scope, dialect)
        for key, value in node.args.items():
            if type(value) in _LEAVES or value is with_:
                continue
            inside = scope
            if key == "this" and isinstance(node, exp.Insert):
                inside = outside  # what is inserted into is never a common table expression
            elif key == "expression" and own is not None and isinstance(node, exp.SetOperation):
                inside = _Scope({own.alias.lower(): (0, own)}, 1, scope)
            nodes = cast("list[object]", value) if isinstance(value, list) else (value,)
            stack += [
                (child, inside, own)
                for child in nodes
                if type(child) not in _LEAVES and isinstance(child, exp.Expr)
            ]


def _cte_names(with_: exp.Expr) -> dict[str, tuple[int, exp.Expr]]:
    """Return the names that a WITH defines, each with the place where it is first defined."""
    names: dict[str, tuple[int, exp.Expr]] = {}
    for i, cte in enumerate(with_.expressions):
        names.setdefault(cte.alias.lower(), (i, cte))
    return names


def _definitions(with_: exp.Expr, scope: _Scope, dialect: str) -> Iterator[_Place]:
    """Yield what a WITH defines: each sees the ones before it, all of them if RECURSIVE."""
    recursive = with_.args.get("recursive")
    for i, cte in enumerate(with_.expressions):
        seen = scope if recursive else scope._replace(n_visible=i)
        yield cte, seen, cte if dialect in _RECURSIVE_ANYWAY else None


def name_parts(table: exp.Expr) -> list[str]:
    """Return the parts of a dotted name as written; those left out, as in ``a..b``, are empty."""
    this = table.this
    last = list(this.flatten()) if isinstance(this, exp.Dot) else [this]
    found = [table.text("catalog"), table.text("db"), *(part.name for part in last)]
    return found if found[0] else [*filter(None, found[:-1]), found[-1]]


def _given_parts(node: exp.Expr) -> list[str]:
    """Return the parts of a table that is an argument, or that a string names; nothing else."""
    this = node.this
    if isinstance(node, exp.Table):
        is_named = isinstance(this, exp.Anonymous) and this.name.lower() in _BY_STRING
        arguments = this.expressions if is_named else [this.this]
        if not is_named and not isinstance(this, exp.DynamicIdentifier):
            return []
    elif isinstance(node, exp.TableFromRows):
        arguments = [this]
    else:
        arguments = node.expressions if node.name.lower() == "table" else []
    [given, *others] = arguments or [None]
    if isinstance(given, exp.Column) and not others:
        return [part.name for part in given.parts]
    if not isinstance(given, exp.Literal) or others or not _STRING_NAME.fullmatch(given.name):
        return []
    return [part.strip('"') for part in re.findall(r'"[^"]+"|[^.]+', given.name)]


def dotted_name(table: exp.Expr, dialect: str) -> str:
    """Return a table's name in lower case; in ``a..b`` the schema is the one that is meant."""
    return resolved(name_parts(table), dialect)


def in_table(node: exp.In) -> str:
    """Return the table of ``x IN name``, nothing for the other forms of IN."""
    field = node.args.get("field")
    if isinstance(field, exp.Column) and not field.table:
        field = field.this
    return dotted((field.name.lower(),)) if isinstance(field, exp.Identifier) else ""


_READ_KINDS = ("TABLE", "VIEW", "EXTENDED", "FORMATTED", "ANALYZE", "")


def _kind(statement: exp.Expr) -> str:
    """Return what DROP or DESCRIBE is about, nothing where it does not say."""
    return str(statement.args.get("kind") or statement.args.get("style") or "").upper()


def _is_hinted(table: object) -> bool:
    """Say whether what looks like a function is a table with hints, as in ``t (NOLOCK)``."""
    return (
        isinstance(table, exp.Anonymous)
        and bool(table.expressions)
        and all(argument.name.lower() in _TABLE_HINTS for argument in table.expressions)
    )


def _made(statement: exp.Expr) -> exp.Expr | None:
    """Return what a CREATE statement makes."""
    if not isinstance(statement, exp.Create):
        return None
    made: exp.Expr = statement.this
    return made.this if isinstance(made, exp.Schema) else made


def _makes_table(statement: exp.Expr) -> bool:
    properties = statement.args.get("properties")
    is_temporary = properties is not None and properties.find(exp.TemporaryProperty)
    return statement.args.get("kind") == "TABLE" and not is_temporary


def _lasts(into: exp.Expr | None) -> bool:
    return into is not None and not into.args.get("temporary")


def _is_alias_of_target(node: exp.Expr, name: str, statement: exp.Expr) -> bool:
    """Say whether *node* is the target of UPDATE or DELETE, named by an alias from its FROM."""
    if not isinstance(node.parent, exp.Update | exp.Delete) or node.arg_key not in _TARGETS:
        return False
    if node.args.get("alias") or "." in name:
        return False
    return any(
        other.alias.lower() == name and other.find_ancestor(exp.Select) is None
        for other in statement.find_all(exp.Table, exp.Subquery)
    )


_TARGETS = ("this", "tables")
