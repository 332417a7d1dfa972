"""CREATE TABLE and what else stands in a dump: each statement read by itself."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from itertools import groupby
from typing import Any, Final, NamedTuple

import attrs
from sqlglot import exp

from scorekit._sql.databases.kinds import Column, typed_column
from scorekit._sql.text.parsing import parse
from scorekit.errors import SqlError, one_line


class Reference(NamedTuple):
    """A foreign key: its columns are NULL or found together in the other table."""

    table: str
    columns: tuple[str, ...]
    other: str
    others: tuple[str, ...]
    """Empty where the primary key of the other table is meant."""


class CheckRule(NamedTuple):
    """What each row of a table keeps to: a CHECK, or something that is not looked into."""

    table: str
    columns: frozenset[str]
    condition: exp.Expr | None
    """True or NULL for each row; None where it is not looked into."""


class Unique(NamedTuple):
    """Columns that are unique together; rows with a NULL among them may repeat."""

    columns: tuple[str, ...]
    nulls_equal: bool = False
    partial: bool = False
    """Whether that holds of some rows only, so that it is no key."""


class View(NamedTuple):
    """A query that a schema gives a name."""

    query: str
    columns: tuple[str, ...] = ()
    """Names of its outputs where the definition lists them."""


@attrs.define
class Draft:
    """A table while its definition is read."""

    name: str
    columns: dict[str, Column] = attrs.Factory(dict[str, Column])
    primary: tuple[str, ...] = ()
    integers: set[str] = attrs.Factory(set[str])
    """Columns of the very type INTEGER, which as a primary key SQLite never leaves NULL."""
    unique: list[Unique] = attrs.Factory(list[Unique])
    references: list[Reference] = attrs.Factory(list[Reference])
    rules: list[CheckRule] = attrs.Factory(list[CheckRule])

    def check(self, condition: exp.Expr | None, columns: Iterable[str] | None = None) -> None:
        """Add a CHECK, or a rule on some columns, all if none are named, that stays closed."""
        if condition is not None:
            condition = _plain_condition(condition, self.columns)
            columns = (c.name.lower() for c in condition.find_all(exp.Column))
        names = self.columns if columns is None else columns
        self.rules.append(CheckRule(self.name, frozenset(names), condition))

    def not_null(self, names: Iterable[str]) -> None:
        """Say that columns are never NULL."""
        for name in names:
            if name in self.columns:
                self.columns[name] = self.columns[name]._replace(nullable=False)


def _plain_condition(condition: exp.Expr, columns: Mapping[str, Column]) -> exp.Expr:
    """Drop the casts of text that pg_dump adds, and write its ``= ANY (ARRAY[...])`` as IN."""
    texts = {name for name, column in columns.items() if column.kind in ("text", "enum")}
    tree = exp.Paren(this=condition.copy())
    for cast in reversed(list(tree.find_all(exp.Cast))):
        value = cast.this.unnest()
        plain = value.is_string or isinstance(value, exp.Array)
        plain = plain or (isinstance(value, exp.Column) and value.name.lower() in texts)
        if plain and cast.to.is_type(*exp.DataType.TEXT_TYPES, exp.DataType.Type.ARRAY):
            cast.replace(cast.this)
    for node in list(tree.find_all(exp.EQ)):
        array = node.expression.find(exp.Array) if isinstance(node.expression, exp.Any) else None
        if array is not None:
            node.replace(exp.In(this=node.this, expressions=array.expressions))
    return tree


@attrs.define
class Definitions:
    """What a text says of tables."""

    dialect: str | None
    tables: dict[str, Draft] = attrs.Factory(dict[str, Draft])
    unclear: dict[str, str] = attrs.Factory(dict[str, str])
    """Why there is nothing to say about a name that is defined, by this name."""
    unread: list[str] = attrs.Factory(list[str])
    """What could not be read, as sentences."""
    notes: list[str] = attrs.Factory(list[str])
    """What is not known of tables whose columns are known by name, as sentences."""
    views: dict[str, View] = attrs.Factory(dict[str, View])
    """Views by their names, each of which is unclear, too: its query is read where it is used."""
    types: dict[str, exp.ColumnDef] = attrs.Factory(dict[str, exp.ColumnDef])
    """Types that are defined, each as a column of it named VALUE."""

    def set_aside(self, name: str, reason: str) -> None:
        """Say that nothing is known of a table."""
        self.tables.pop(name, None)
        self.views.pop(name, None)
        self.unclear[name] = reason


def table_name(table: exp.Expr) -> str:
    """Return the name of a table as the schema has it: dotted as written, in lower case."""
    parts = table.parts if isinstance(table, exp.Table) else [table]
    return ".".join(part.name for part in parts).lower()


@lru_cache(maxsize=256)
def read_definitions(text: str, dialect: str | None) -> Definitions | None:
    """Read what a text says of tables, None if it defines none; never change the result."""
    if not _DEFINES.search(text):
        return None
    found = Definitions(dialect)
    text = _VERSIONED.sub(r" \1 ", _PSQL.sub("", _COPIED.sub("", text)))
    for statement in _statements(text, dialect):
        if virtual := _VIRTUAL.match(statement):
            found.set_aside(virtual[1].lower(), "it is a virtual table")
        _read(statement, found)
    return found if found.tables or found.unclear else None


# From a text to statements.

_DEFINES = re.compile(r"(?i)\bcreate\b")
_COPIED = re.compile(r"(?ims)^copy\s[^;]*\sfrom\s+stdin[^;]*;.*?^\\\.[ \t]*$")
_PSQL = re.compile(r"(?m)^\\[a-z!?].*$")
"""Lines that psql reads itself, such as the ``\\restrict`` of pg_dump."""
_VERSIONED = re.compile(
    r"(?is)/\*!\d*\s*((?:create|drop)\s[^*]*?\bview\b.*?|create\s+algorithm\b.*?|definer\s*=.*?"
    r"|sql\s+security\b.*?|view\s.*?)\*/"
)
"""Parts of a view in the comments that MySQL reads by its version."""
_QUOTES = r"\"(?:[^\"]|\"\")*\"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"
_COMMENT = r"--[^\n]*|/\*.*?\*/"
_BATCH = r"^[ \t]*go[ \t]*$|^[ \t]*(?=(?:create|alter|drop)\s+table\b)"
_PIECE, _PIECE_ESCAPED = (
    re.compile(
        rf"(?ims){string}|{_QUOTES}|(?P<comment>{comment})|(?P<end>;|{_BATCH})|(?P<bracket>[()])"
    )
    for string, comment in (
        (r"'(?:[^']|'')*'", _COMMENT),
        (r"'(?:[^'\\]|\\.|'')*'", rf"{_COMMENT}|\#[^\n]*"),
    )
)
_FENCE_LINE = re.compile(r"(?m)^\s*```.*$")
_ESCAPING: Final = frozenset({"mysql", "doris", "starrocks", "singlestore", "bigquery", "hive"})


def _statements(text: str, dialect: str | None) -> Iterator[str]:
    """Yield statements without comments; they end at semicolons, GO, and before CREATE TABLE."""
    escaped = dialect in _ESCAPING or (dialect is None and "`" in text)
    text = _FENCE_LINE.sub("", text)
    parts: list[str] = []
    depth = start = 0
    for piece in (_PIECE_ESCAPED if escaped else _PIECE).finditer(text):
        if piece["bracket"]:
            depth = max(0, depth + (1 if piece["bracket"] == "(" else -1))
        elif piece["comment"]:
            parts += text[start : piece.start()], " "
            start = piece.end()
        elif piece["end"] is not None and (piece["end"] == ";" or not depth):
            yield "".join([*parts, text[start : piece.start()]]).strip()
            parts, depth, start = [], 0, piece.end()
    yield "".join([*parts, text[start:]]).strip()


# From statements to what they say.

_READ = re.compile(
    r"(?i)(?:create|alter)\s+(?:or\s+replace\s+|global\s+|local\s+|temp(?:orary)?\s+"
    r"|unlogged\s+|external\s+|foreign\s+|unique\s+|clustered\s+|nonclustered\s+|fulltext\s+"
    r"|materialized\s+|recursive\s+)*(?P<what>\w+)|drop\s+(?:table|view)\b"
)
_TARGET = re.compile(
    r"(?i)(?:create|alter)\s[^(]*?\btable\s+(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?"
    r"([\w.\"`'\[\]]+)"
)
_DOMAIN = re.compile(r"(?is)create\s+domain\s+([\w.\"]+)\s+(?:as\s+)?(.*)")
_PASSED: Final = frozenset(
    """aggregate alter analyze attach begin break call cast checkpoint cluster collation comment
    commit conversion copy database deallocate declare default delete delimiter end event exec
    execute extension function go grant group insert language listen load lock merge notify
    operator optimize policy pragma prepare print procedure publication raiserror reassign
    refresh reindex release replace reset return revoke role rollback rule savepoint schema
    security select sequence server set show start statistics subscription tablespace text
    transaction trigger truncate type unlock update use user vacuum values with""".split()  # noqa: SIM905 - a list would take a page
)
"""First words, or what is created, of statements that define no table."""

_SCRIPTS: Final = ("", "postgres", "mysql", "sqlite", "tsql")
_SHOWN = 60


def _read(statement: str, found: Definitions, *, again: bool = True) -> None:
    match = _READ.match(statement)
    if _is_passed(statement, match) or _is_view(statement, found):
        return
    domain = _DOMAIN.match(statement)
    text = f"CREATE TABLE x (value {domain[2]})" if domain else _STORED.sub("", statement)
    if found.dialect in (None, "sqlite"):
        text = _MERGED_TYPE.sub(lambda word: _APART[word[0].lower()], text)
    trees = _parsed(text, found.dialect) if match else ()
    if trees and domain:
        (column,) = trees[0].find_all(exp.ColumnDef)
        found.types[_plain(domain[1])] = column
    elif not trees or not _all([_understood(tree, found) for tree in trees]):
        pieces = [p for p in _LINES.split(statement) if p.strip()]
        if _is_read_by_items(statement, text, found):
            return
        if again and len(pieces) > 1:
            for piece in pieces:
                _read(piece.strip().rstrip(";"), found, again=False)
            return
        found.unread.append(f"a statement of the schema could not be read: {_cut(statement)}")
        target = _TARGET.match(statement)
        if target:
            found.set_aside(
                _plain(target[1]), "a statement that defines it could not be read; mend the schema"
            )


_VIRTUAL = re.compile(r"(?is)insert\s+into\s+sqlite_(?:schema|master)\b.*?\('table',\s*'([^']+)'")
"""How SQLite writes a virtual table into a dump."""


def _is_passed(statement: str, match: re.Match[str] | None) -> bool:
    """Say whether a statement says nothing of tables."""
    head = re.search(r"\w+", statement)
    if head is None:
        return True
    word = head[0].lower()
    what = ((match["what"] or "table") if match else word).lower()
    return (
        (what in _PASSED and (word, what) != ("create", "type"))
        or (word in ("create", "drop") and what == "index" and not _UNIQUE.match(statement))
        or _HARMLESS_ALTER.match(statement) is not None
    )


_NAME: Final = r"""(?:"[^"]+"|`[^`]+`|\[[^\]]+\]|'[^']+'|[\w$]+)"""
_VIEW = re.compile(
    rf"""(?isx)(?:create|alter)\s+(?:or\s+(?:replace|alter)\s+|temp(?:orary)?\s+|materialized\s+|force\s+
    |editionable\s+|algorithm\s*=\s*\w+\s+|definer\s*=\s*\S+\s+|sql\s+security\s+\w+\s+)*view\s+
    (?:if\s+not\s+exists\s+)?(?P<name>{_NAME}(?:\s*\.\s*{_NAME})*)\s*
    (?:\((?P<columns>[^()]*)\)\s*)?(?:with\s*(?:\([^()]*\)|schemabinding)\s*)?as\b\s*(?P<query>.*?)
    (?:\s+with\s+(?:(?:no\s+)?data|(?:cascaded\s+|local\s+)?check\s+option|read\s+only))?\s*\Z"""
)


def _is_view(statement: str, found: Definitions) -> bool:
    """Say whether a statement defines a view, and take it in."""
    match = _VIEW.match(statement)
    if match is None:
        return False
    name = _plain(match["name"])
    columns = match["columns"] or ""
    found.set_aside(name, "it is a view")
    names = tuple(_plain(one.strip()) for one in columns.split(",") if one.strip())
    found.views[name] = View(match["query"], names)
    return True


_UNIQUE = re.compile(r"(?i)create\s+unique\b")
_HARMLESS_ALTER = re.compile(
    r"(?is)alter\s+(?:domain|view|materialized|foreign|type|index|sequence)\s[^(]*?\sowner\s+to\s|alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?\S+\s+(?:add\s+(?:constraint\s+\S+\s+)?default\b|owner\s|enable\s|disable\s"
    r"|cluster\s|replica\s|set\s|reset\s|check\s|nocheck\s|engine\b|auto_increment\b|comment\b"
    r"|convert\s|attach\s|alter\s+(?:column\s+)?\S+\s+(?:(?:set|drop)\s+(?:default|stat|stor|comp)"
    r"|add\s+generated\s))"
)
# The parser takes STRING for TEXT, and to SQLite it is one more word that means NUMERIC; it takes
# INT for INTEGER, and only that as a primary key numbers the rows.
_APART: Final = {"string": "name", "int": "signed"}
_MERGED_TYPE = re.compile(
    r"""(?<=[\w"`\]]\s)(?<!references\s)(?:string|int)(?=\s*(?:[,)]|\(\s*\d)|\s+(?:not|null|primary|unique"""
    r"""|default|check|references|collate|constraint|generated|as)\b)""",
    re.IGNORECASE,
)

# What says how rows are stored: it keeps the parser from reading the rest.
_STORED = re.compile(
    r"(?i),\s*auto_increment\s*=\s*\d+|\b(?:non)?clustered\b|\bwith\s*\(\s*\w+\s*=[^()]*\)"
    r"|\bon\s+\[primary\]|\basc\b|\bwith\s+(?:no\s+)?data\s*\Z"
    r"|(?<=\))\s*without\s+rowid\b|(?<=\))\s*strict\s*\Z|\bnot\s+null\s+enable\b"
)
_LINES = re.compile(r"(?im)(?:^|;)(?=[ \t]*(?:create|alter|drop|insert|comment)\s)")


# A definition that the parser does not read as a whole.

_TABLE_HEAD = re.compile(
    rf"""(?ix)create\s+(?:or\s+replace\s+|global\s+|local\s+|temp(?:orary)?\s+|unlogged\s+)*table\s+
    (?:if\s+not\s+exists\s+)?({_NAME}(?:\s*\.\s*{_NAME})*)\s*\("""
)
_CONSTRAINS = re.compile(
    r"(?i)(?:constraint|primary|unique|foreign|check|key|index|fulltext|spatial|exclude|period)\b"
)
_COLUMN_NAME = re.compile(r'"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|([^\W\d][\w$]*)')
_BY_OTHERS = re.compile(r"(?i)\b(?:inherits|like|partition\s+of|as\s+select)\b")


def _is_read_by_items(statement: str, plain: str, found: Definitions) -> bool:
    """
    Read a table item by item, so that what cannot be read costs only itself.

    SQLite reads its own definitions, and those of nobody in particular that it takes; of others
    *plain* has them without what says how rows are stored.
    """
    head = _TABLE_HEAD.match(plain)
    if head is None:
        return False
    name = _plain(head[1])
    if name.startswith("sqlite_"):
        return True  # SQLite makes it
    draft = None
    if found.dialect in (None, "sqlite"):
        draft = _drafted_by_sqlite(statement, name)
    draft = draft or _drafted_by_items(plain[head.end() :], name, found)
    if draft is not None:
        found.tables[name] = draft
    return draft is not None


def _drafted_by_items(text: str, name: str, found: Definitions) -> Draft | None:
    """Return a table by its columns and constraints, None where these may be others' as well."""
    items, rest = _items(text)
    read = [_read_item(item, found.dialect) for item in items]
    if _BY_OTHERS.search(rest) or not any(isinstance(one, exp.ColumnDef) for one in read):
        return None
    draft = Draft(name)
    pairs = list(zip(items, read, strict=True))
    for item, tree in pairs:
        column = _COLUMN_NAME.match(item)
        if isinstance(tree, exp.ColumnDef):
            if tree.name.lower() in draft.columns:
                return None
            _add_defined(draft, tree, found)
        elif tree is None and not _CONSTRAINS.match(item):
            if column is None:
                return None
            add_column(draft, str(column[column.lastindex or 0]).lower(), "", (), found.dialect)
            found.notes.append(f"the type of a column of {name} could not be read: {_cut(item)}")
    for item, tree in pairs:
        is_constraint = not isinstance(tree, exp.ColumnDef) and _CONSTRAINS.match(item)
        if is_constraint and (tree is None or not _constrained(draft, tree)):
            draft.check(None)
            found.notes.append(f"a constraint of {name} could not be read: {_cut(item)}")
    return draft


def _cut(text: str) -> str:
    return one_line(" ".join(text.split()), _SHOWN)


def _items(text: str) -> tuple[list[str], str]:
    """Return what commas part up to the bracket that closes, and what is behind that."""
    items: list[str] = []
    depth = start = 0
    for piece in _ITEM_PARTS.finditer(text):
        mark = piece[0]
        if mark == "(":
            depth += 1
        elif mark == ")" and depth:
            depth -= 1
        elif mark in ",)" and not depth:
            items.append(text[start : piece.start()].strip())
            start = piece.end()
            if mark == ")":
                return items, text[start:]
    return [], text


_ITEM_PARTS = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|[(),]")
_BEHIND_KEY = re.compile(r"(?is)\A(.*?\bkey\s*\([^()]*\)).*")
_BEHIND_TYPE = re.compile(
    r"(?is)\s+(?:rowguidcol|sparse|enable|disable|novalidate|encode\s+\w+|lob\b.*)"
)


def _read_item(item: str, dialect: str | None) -> exp.Expr | None:
    """Read one column or constraint, at least without what says how it is stored."""
    for text in dict.fromkeys((item, _BEHIND_TYPE.sub("", item), _BEHIND_KEY.sub(r"\1", item))):
        for tree in _parsed(f"CREATE TABLE x ({text}, scorekit_last INT)", dialect):
            parts = tree.this.expressions if isinstance(tree.this, exp.Schema) else ()
            if len(parts) == _ONE_AND_LAST:
                first: exp.Expr = parts[0]
                return None if isinstance(first, exp.Identifier) else first
    return None


_ONE_AND_LAST: Final = 2


def _drafted_by_sqlite(statement: str, name: str) -> Draft | None:
    """Return a table as SQLite reads its definition, None if it does not."""
    own = name.rpartition(".")[2]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.set_authorizer(_only_definitions)
        try:
            connection.execute(_QUALIFIED_TABLE.sub(r"\1", statement, count=1)).close()
            columns = connection.execute("SELECT * FROM pragma_table_xinfo(?)", (own,)).fetchall()
            indexes = connection.execute(
                "SELECT l.name, l.origin, l.partial, i.name FROM pragma_index_list(?) AS l,"
                ' pragma_index_info(l.name) AS i WHERE l."unique" ORDER BY l.seq, i.seqno',
                (own,),
            ).fetchall()
            foreign = connection.execute(
                'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?)'
                " ORDER BY id, seq",
                (own,),
            ).fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            return None
    draft = Draft(name)
    key: dict[int, str] = {}
    for _, column, kind, not_null, _, place, _ in columns:
        add_column(draft, column.lower(), kind, (), "sqlite")
        if not_null:
            draft.not_null([column.lower()])
        if place:
            key[place] = column.lower()
    draft.primary = tuple(key[place] for place in sorted(key))
    if _WITHOUT_ROWID.search(statement):
        draft.not_null(draft.primary)
    for (_, origin, partial), names in _grouped(indexes, 3):
        if origin == "u":
            draft.unique.append(Unique(tuple(names[0]), partial=bool(partial)))
    for (_, other), names in _grouped(foreign, 2):
        theirs = () if None in names[1] else tuple(names[1])
        draft.references.append(Reference(name, tuple(names[0]), other.lower(), theirs))
    if _CHECKED.search(statement):
        draft.check(None)
    return draft if draft.columns else None


def _grouped(rows: Iterable[tuple[Any, ...]], n: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield rows that agree in their first *n* values, and the columns of the others."""
    for head, same in groupby(rows, key=lambda row: row[:n]):
        rest = [[one and one.lower() for one in row[n:]] for row in same]
        yield head, list(zip(*rest, strict=True))


def _only_definitions(action: int, *_: str | None) -> int:
    """Let SQLite define and describe tables, and open no file."""
    is_file = action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH)
    return sqlite3.SQLITE_DENY if is_file else sqlite3.SQLITE_OK


_QUALIFIED_TABLE = re.compile(r"(?is)(\Acreate\s+table\s+(?:if\s+not\s+exists\s+)?)main\s*\.\s*")
_WITHOUT_ROWID = re.compile(r"(?i)\)[^()]*\bwithout\s+rowid\b")
_CHECKED = re.compile(r"(?i)\bcheck\s*\(|\bcollate\b|\bgenerated\b|\bas\s*\(")


def _plain(name: str) -> str:
    return re.sub(r"""["`'\[\]]""", "", name).lower()


def _parsed(statement: str, dialect: str | None) -> tuple[exp.Expr, ...]:
    first = "postgres" if dialect == "duckdb" else dialect  # whose parser drops lengths
    for name in dict.fromkeys((first or "", *_SCRIPTS)):
        try:
            return parse(statement, name or None).statements
        except SqlError:
            continue
    return ()


def _understood(tree: exp.Expr, found: Definitions) -> bool:  # noqa: PLR0911 - one a kind
    """Take in what a statement says; False where it says what is not understood."""
    if isinstance(tree, exp.Drop):
        for table in tree.args.get("tables") or [tree.this]:
            found.tables.pop(table_name(table), None)
            found.unclear.pop(table_name(table), None)
            found.views.pop(table_name(table), None)
        return True
    if isinstance(tree, exp.Alter):
        return _altered(tree, found)
    kind = str(tree.args.get("kind")).upper()
    if kind == "TABLE":
        return _created(tree, found)
    if kind == "VIEW":
        target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
        found.set_aside(table_name(target), "it is a view whose definition could not be read")
        return True
    if kind == "INDEX":
        return _indexed(tree, found)
    if kind == "TYPE" and isinstance(tree.args.get("expression"), exp.DataType):
        found.types[table_name(tree.this)] = exp.ColumnDef(
            this=exp.to_identifier("value"), kind=tree.args["expression"]
        )
        return True
    return kind != "TYPE"


def _all(understood: list[bool]) -> bool:
    """Say whether all parts are understood; a list, so that each of them is taken in."""
    return all(understood)


def _created(tree: exp.Expr, found: Definitions) -> bool:
    target = tree.this
    if not isinstance(target, exp.Schema):
        found.set_aside(table_name(target), "its columns are those of a query or another table")
        return True
    name = table_name(target.this)
    if tree.args.get("exists") and name in found.tables:
        return True
    draft = Draft(name)
    others: list[exp.Expr] = []
    for item in target.expressions:
        if not isinstance(item, exp.ColumnDef):
            others.append(item)
        elif item.name.lower() in draft.columns:
            return False
        else:
            _add_defined(draft, item, found)
    partial = tree.find(exp.InheritsProperty, exp.LikeProperty) is not None
    _set_parents_aside(tree, found)
    if not draft.columns or partial:
        found.set_aside(name, "its columns are those of a query or another table")
        return partial
    understood = _all([_constrained(draft, item) for item in others])
    if name in found.tables and found.tables[name] != draft:
        found.unread.append(f"the schema defines {name} twice, with different columns")
        found.set_aside(name, "the schema defines it twice")
    elif name not in found.unclear:
        found.tables[name] = draft
    return understood


def _set_parents_aside(tree: exp.Expr, found: Definitions) -> None:
    """Leave out tables that others inherit from: no key of theirs holds with these rows."""
    for parents in tree.find_all(exp.InheritsProperty):
        for parent in parents.find_all(exp.Table):
            name = find_table(table_name(parent), found.tables) or table_name(parent)
            found.set_aside(name, "another table inherits from it")


def _altered(tree: exp.Alter, found: Definitions) -> bool:
    written = table_name(tree.this)
    found.views.pop(find_table(written, found.views) or "", None)  # whatever is changed of it
    if tree.args.get("kind") != "TABLE":
        return True
    name = find_table(written, found.tables)
    if name is None:
        return written in found.unclear
    draft = found.tables[name]
    return _all([_acted(draft, action, found) for action in tree.args.get("actions") or ()])


def _acted(draft: Draft, action: exp.Expr, found: Definitions) -> bool:
    """Take in one action of ALTER TABLE."""
    if isinstance(action, exp.AddConstraint):
        return _all([_constrained(draft, item) for item in action.expressions])
    if isinstance(action, exp.ColumnDef):
        _add_defined(draft, action, found)
        return True
    if isinstance(action, exp.ModifyColumn):
        _add_defined(draft, action.this, found)
        return True
    if isinstance(action, exp.AlterColumn):
        names = [action.name.lower()]
        if action.args.get("allow_null") is False:
            draft.not_null(names)
        return action.args.get("dtype") is None and not action.args.get("allow_null")
    return False


def _indexed(tree: exp.Expr, found: Definitions) -> bool:
    """Take in a unique index."""
    index = tree.this
    table = index.args.get("table")
    name = find_table(table_name(table), found.tables) if table else None
    if name is None:
        return table is not None and table_name(table) in found.unclear
    parameters = index.args["params"]
    draft, n_before = found.tables[name], len(found.tables[name].unique)
    _unique(draft, parameters.args.get("columns") or ())
    if parameters.args.get("where") is not None:
        draft.unique[n_before:] = [one._replace(partial=True) for one in draft.unique[n_before:]]
    return True


def find_table(name: str, tables: Collection[str]) -> str | None:
    """Return the table that a name with more or less qualifiers means."""
    if name in tables:
        return name
    fitting = [
        other for other in tables if other.endswith(f".{name}") or name.endswith(f".{other}")
    ]
    return fitting[0] if len(fitting) == 1 else None


# Columns and constraints.


def _add_defined(draft: Draft, item: exp.ColumnDef, found: Definitions) -> None:
    constraints = [part.args.get("kind") for part in item.args.get("constraints") or ()]
    kind = item.args.get("kind")
    text = kind.sql() if kind is not None else ""
    if kind is not None and found.dialect == "postgres" and kind.is_type(exp.DType.FLOAT):
        text = "REAL"  # FLOAT is DOUBLE there
    if found.dialect == "sqlite" and text == "INT":
        text = "INTEGER"  # an INT has another name by now
    defined = found.types.get(text.lower().replace('"', ""))
    if defined is not None:
        value = defined.copy()
        for column in value.find_all(exp.Column):
            column.set("this", item.this.copy())
        constraints += [part.args.get("kind") for part in value.args.get("constraints") or ()]
        text = value.args["kind"].sql()
    add_column(draft, item.name.lower(), text, constraints, found.dialect)


def add_column(
    draft: Draft,
    name: str,
    text: str,
    constraints: Iterable[exp.Expr],
    dialect: str | None,
) -> None:
    """Add a column of a type to a table, with its constraints."""
    nullable = "serial" not in text.lower()
    if any(
        isinstance(part, exp.CollateColumnConstraint) and not _OF_ALL.match(part.this.name)
        for part in constraints
    ):
        text += " COLLATE x"
    old = draft.columns.get(name)
    nullable = nullable and (old is None or old.nullable)
    if text.strip().upper() == "INTEGER":
        draft.integers.add(name)
    draft.columns[name] = typed_column(name, text, dialect, nullable=nullable)
    for part in constraints:
        _constrain_column(draft, name, part)


@lru_cache(maxsize=1024)
def constraints_of(text: str, dialect: str | None) -> tuple[exp.Expr, ...] | None:
    """Return what follows the type of a column, None where it is not understood."""
    if not text.strip(" ,"):
        return ()
    for tree in _parsed(f"CREATE TABLE x (value int {text.rstrip(' ,')})", dialect):
        columns = tree.this.expressions if isinstance(tree.this, exp.Schema) else ()
        if len(columns) == 1 and isinstance(columns[0], exp.ColumnDef):
            return tuple(part.args["kind"] for part in columns[0].args["constraints"])
    return None


# BINARY, and MySQL's collations: strings of its dialect are understood with and without case.
_OF_ALL = re.compile(r"(?i)binary\Z|\w+_(?:ci|cs|bin)\Z")
_COMPUTED = (exp.ComputedColumnConstraint, exp.GeneratedAsRowColumnConstraint)


def _constrain_column(draft: Draft, name: str, part: exp.Expr) -> None:
    if isinstance(part, exp.NotNullColumnConstraint):
        if not part.args.get("allow_null"):
            draft.not_null([name])
    elif isinstance(part, exp.PrimaryKeyColumnConstraint):
        draft.primary = (*draft.primary, name)
        if part.args.get("desc"):
            draft.integers.discard(name)
    elif isinstance(part, exp.UniqueColumnConstraint):
        draft.unique.append(Unique((name,), bool(part.args.get("nulls"))))
    elif isinstance(part, exp.Reference):
        draft.references.append(_reference(draft.name, (name,), part))
    elif isinstance(part, exp.CheckColumnConstraint):
        draft.check(part.this)
    elif isinstance(part, _COMPUTED):
        draft.check(None, [name])
    elif isinstance(part, exp.GeneratedAsIdentityColumnConstraint):
        draft.not_null([name])


def _constrained(draft: Draft, item: exp.Expr) -> bool:
    """Take in a constraint of a table."""
    if isinstance(item, exp.Constraint):
        return _all([_constrained(draft, part) for part in item.expressions])
    if isinstance(item, exp.PrimaryKey):
        _unique(draft, item.expressions, primary=True)
    elif isinstance(item, exp.UniqueColumnConstraint):
        listed = item.this.expressions if isinstance(item.this, exp.Schema) else item.expressions
        _unique(draft, listed, nulls_equal=bool(item.args.get("nulls")))
    elif isinstance(item, exp.ForeignKey):
        reference = item.args.get("reference")
        if reference is None:
            return False
        names = tuple(part.name.lower() for part in item.expressions)
        draft.references.append(_reference(draft.name, names, reference))
    elif isinstance(item, exp.CheckColumnConstraint | exp.Check):
        draft.check(item.this)
    elif isinstance(item, exp.ExcludeColumnConstraint):
        draft.check(None, (c.name.lower() for c in item.find_all(exp.Column)))
    else:
        return isinstance(item, _HARMLESS)
    return True


_HARMLESS = (exp.IndexColumnConstraint, exp.Properties, exp.OnProperty, exp.Var)


def _unique(
    draft: Draft, parts: Iterable[exp.Expr], *, primary: bool = False, nulls_equal: bool = False
) -> None:
    """Take in columns that are unique together; expressions of columns stay closed."""
    listed = [part.this if isinstance(part, exp.Ordered) else part for part in parts]
    if not all(isinstance(part, exp.Column | exp.Identifier) for part in listed):
        draft.check(
            None, (c.name.lower() for part in listed for c in part.find_all(exp.Identifier))
        )
        return
    names = tuple(part.name.lower() for part in listed)
    if primary:
        draft.primary = names
    else:
        draft.unique.append(Unique(names, nulls_equal))


def _reference(table: str, columns: tuple[str, ...], item: exp.Reference) -> Reference:
    other = item.this
    theirs = other.expressions if isinstance(other, exp.Schema) else []
    return Reference(
        table,
        columns,
        table_name(other.this if isinstance(other, exp.Schema) else other),
        tuple(part.name.lower() for part in theirs),
    )
