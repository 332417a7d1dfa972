"""What is known of the tables that queries read: columns, types, keys and other constraints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeGuard, cast

import attrs

from scorekit._core.checks import check_text
from scorekit._core.mappings import FrozenMapping, frozen_mappings, is_mapping
from scorekit._sql.databases.kinds import Column
from scorekit._sql.schema.definitions import (
    CheckRule,
    Definitions,
    Draft,
    Reference,
    Unique,
    View,
    add_column,
    constraints_of,
    find_table,
    read_definitions,
)
from scorekit.errors import refuse, shown

Schema: TypeAlias = str | Sequence[str] | Mapping[str, Mapping[str, str]]
Key: TypeAlias = str | tuple[str, ...]
Keys: TypeAlias = Mapping[str, Key | Iterable[tuple[str, ...]]]


_NONE: Final = FrozenMapping[str, Any]({})

_USUAL_SCHEMAS: Final = frozenset({"public", "main", "dbo"})
"""Where a table is that is created without naming a schema."""


@attrs.frozen
class SqlSchema:
    """What is known of some tables; names are in lower case."""

    tables: FrozenMapping[str, tuple[Column, ...]]
    keys: FrozenMapping[str, tuple[tuple[str, ...], ...]]
    """Columns that are unique together and never NULL; tables without a known key are left out."""
    given: bool
    """Whether the tables are the caller's; otherwise there are none, or they were inferred."""
    references: tuple[Reference, ...] = ()
    unique: FrozenMapping[str, tuple[Unique, ...]] = _NONE
    """Columns that are unique together, but may be NULL."""
    rules: tuple[CheckRule, ...] = ()
    unclear: FrozenMapping[str, str] = _NONE
    """Why nothing is known of a table or view that the schema names."""
    unread: tuple[str, ...] = ()
    """What of the schema could not be read, or is not used, in sentences."""
    cased: frozenset[str] = frozenset()
    """Names with capital letters: those of a mapping, and of a text those in double quotes or with
    letters beyond ASCII."""
    complete: bool = False
    """Whether a table or a column that is not here does not exist."""
    views: FrozenMapping[str, View] = _NONE
    """Queries that have names, each of which is unclear, too, where it is not expanded."""

    def with_unique_targets(self) -> SqlSchema:
        """Return the schema in which what a foreign key points to is unique, as SQL demands."""
        unique = dict(self.unique)
        for reference in self.references:
            table, columns = reference.other, reference.others
            known = (*self.keys.get(table, ()), *(one.columns for one in unique.get(table, ())))
            if all({*columns} != {*one} for one in known):
                unique[table] = (*unique.get(table, ()), Unique(columns))
        return attrs.evolve(self, unique=FrozenMapping(unique))

    def find(self, name: str) -> str | None:
        """
        Return the table that a name in a query means, None where that is not certain.

        Dumps write ``public.v`` for what queries call ``v``, and the other way round.  A name with
        another qualifier, or one that two schemas have, is that of no table but its own.
        """
        name = name.lower()
        if name in self.tables or name in self.keys or name in self.views:
            return name
        named = {*self.tables, *self.keys, *self.unclear}
        last = name.rpartition(".")[2]
        alike = [other for other in named if other.rpartition(".")[2] == last]
        qualifiers = {other.rpartition(".")[0] for other in named} - {""}
        usual = _USUAL_SCHEMAS | (qualifiers if len(qualifiers) == 1 else frozenset[str]())
        parts = {one.rpartition(".")[0] for one in (name, *alike)} - {""}
        return alike[0] if len(alike) == 1 and len(parts) == 1 and parts <= usual else None


def read_schema(
    schema: object, keys: object, dialect: str | None, *, null_keys: bool = False
) -> SqlSchema | None:
    """
    Read the schema that a caller gives.

    Args:
        schema: A mapping from table to column to type, which constraints of the column may
            follow, also as JSON text; or text with CREATE TABLE and other statements, or a list
            of such texts.
        keys: A mapping from table to its key: a column, a tuple of columns, or a list of tuples.
        dialect: The dialect of the text, and of types.
        null_keys: Whether primary keys may hold NULL, as in SQLite all but an INTEGER may.

    Returns:
        None where nothing is known: without arguments.

    Raises:
        InputError: If a table has no columns, a type of a mapping is followed by what is not
            understood, the text defines no table, or *keys* names what the schema does not have.
        TypeError: If an argument has the wrong type.
    """
    schema = checked_schema(schema, dialect)
    found: Definitions | None = None
    if isinstance(schema, str):
        found = read_definitions(schema, dialect)
    elif schema is not None:
        found = _read_mapping(schema, dialect)
    named: dict[str, list[tuple[str, ...]]] = {}
    if keys is not None:
        _read_keys(keys, found, named)
    if found is None and not named:
        return None
    given = found is not None
    return _settled(
        found or Definitions(dialect),
        named,
        given=given,
        null_keys=null_keys,
        cased=_cased(schema),
    )


_QUOTED = re.compile(r'"([^"]+)"')
_BEYOND_ASCII = re.compile(r"\w*[^\W\x00-\x7f]\w*")


def _cased(schema: object) -> frozenset[str]:
    """Return names with capital letters; small ones of ASCII where others are not changed."""
    if isinstance(schema, str):
        plain: list[str] = [] if schema.isascii() else _BEYOND_ASCII.findall(schema)
        names = [*_QUOTED.findall(schema), *plain]
    else:
        tables = cast("Mapping[str, Mapping[str, str]]", schema or {})
        names = [*tables, *(name for columns in tables.values() for name in columns)]
    names += [_IN_ASCII.sub(lambda letter: letter[0].lower(), name) for name in names]
    return frozenset(name for name in names if name != name.lower())


_IN_ASCII = re.compile(r"[A-Z]+")


_NULLS_EQUAL: Final = frozenset({"tsql", "fabric"})
"""Dialects in which NULL is unique too."""


def _settled(
    found: Definitions,
    named: Mapping[str, list[tuple[str, ...]]],
    *,
    given: bool,
    null_keys: bool,
    cased: frozenset[str],
) -> SqlSchema:
    """Settle what constraints mean once all tables are known."""
    unread = list(found.unread)
    tables: dict[str, tuple[Column, ...]] = {}
    keys: dict[str, tuple[tuple[str, ...], ...]] = {}
    unique: dict[str, tuple[Unique, ...]] = {}
    for name in dict.fromkeys((*found.tables, *named)):
        draft = found.tables.get(name) or Draft(name)
        numbered = len(draft.primary) == 1 and draft.integers.issuperset(draft.primary)
        primary = [draft.primary] if draft.primary and (numbered or not null_keys) else []
        others = [] if primary or not draft.primary else [Unique(draft.primary)]
        sure = [*primary, *named.get(name, ())]
        loose = [
            one._replace(nulls_equal=one.nulls_equal or found.dialect in _NULLS_EQUAL)
            for one in (*draft.unique, *others)
        ]
        if given:
            for key in dict.fromkeys((*sure, *(one.columns for one in loose))):
                if lacking := [column for column in key if column not in draft.columns]:
                    missing = ", ".join(lacking)
                    unread.append(f"a key of {name} names a column that is not there: {missing}")
            sure = [key for key in sure if draft.columns.keys() >= {*key}]
            loose = [one for one in loose if draft.columns.keys() >= {*one.columns}]
            in_key = {column for key in sure for column in key}
            tables[name] = tuple(
                column._replace(nullable=column.nullable and column.name not in in_key)
                for column in draft.columns.values()
            )
        nullable = {column.name for column in tables.get(name, ()) if column.nullable}
        whole = [one for one in loose if not one.partial and nullable.isdisjoint(one.columns)]
        sure += [one.columns for one in whole]
        if sure:
            keys[name] = tuple(dict.fromkeys(sure))
        if loose := [one for one in loose if one not in whole]:
            unique[name] = tuple(loose)
    complete = given and not unread
    references = tuple(_references(found, unread))
    return SqlSchema(
        FrozenMapping(tables),
        FrozenMapping(keys),
        given,
        references,
        FrozenMapping(unique),
        tuple(rule for draft in found.tables.values() for rule in draft.rules),
        FrozenMapping(found.unclear),
        tuple(dict.fromkeys((*unread, *found.notes))),
        cased,
        complete,
        FrozenMapping(found.views),
    )


def _references(found: Definitions, unread: list[str]) -> Iterator[Reference]:
    """Yield foreign keys between known tables, and note those that cannot be."""
    for draft in found.tables.values():
        for reference in draft.references:
            name = find_table(reference.other, found.tables)
            if name is None:
                continue  # what is not defined holds whatever it must
            other = found.tables[name]
            others = reference.others or other.primary
            if (
                len(others) == len(reference.columns)
                and draft.columns.keys() >= {*reference.columns}
                and other.columns.keys() >= {*others}
            ):
                yield reference._replace(other=name, others=others)
            else:
                lacking = [one for one in others if one not in other.columns]
                why = f"column {shown(lacking[0])}" if lacking else "key of as many columns"
                unread.append(
                    f"a foreign key of {draft.name} is not used, as {name} has no {why}: "
                    "mend its REFERENCES in the schema"
                )


# A mapping.

_TABLES = "text, a list of texts, or a mapping from table to column to type"
_TEXT = "text that defines a table: CREATE TABLE statements, or JSON, {table: {column: type}}"
_ONE = "the tables of one database, table -> column -> type; of several pick one: schema=schemas"
_BARE = (
    "table -> column -> type without a level between, as {table: one['columns'] for table, one in "
    "schema.items()}; keys stand behind types, as 'int primary key', or in CREATE TABLE statements"
)
_COLUMNS = "a non-empty mapping from column to type"
_OF_DATABASES = "; of several databases each case has its own: schema=[schemas[n] for n in names]"
_TYPE: Final = "a type, followed by constraints of the column only"


def _read_mapping(schema: Any, dialect: str | None) -> Definitions:
    found = Definitions(dialect)
    for table, columns in schema.items():
        path = f"schema[{table!r}]"
        if not columns:
            refuse(path, _COLUMNS, columns)
        name = table.lower()
        if name in found.tables:
            refuse("schema", "a mapping whose tables differ in more than case", table)
        draft = found.tables[name] = Draft(name)
        for column, text in columns.items():
            folded = column.lower()
            if folded in draft.columns:
                refuse(path, "a mapping whose columns differ in more than case", column)
            if not _read_type(draft, folded, text, dialect):
                refuse(f"{path}[{column!r}]", _TYPE, text)
    return found


_BRACKETS = r"\((?:[^()']|'[^']*'|\((?:[^()']|'[^']*'|\((?:[^()']|'[^']*')*\))*\))*\)"
_MAPPED_TYPE = re.compile(
    rf"""(?ix)\s*(?:(?!(?:not|null|primary|unique|references|check|default|generated)\b)
    (?:(?:long|national|native|signed|unsigned)\s+)?[\w.-]+
    (?:\s*(?:<[^()]*>|\[\w*\]|{_BRACKETS})
    |\s+(?:precision|varying|unsigned|signed|zerofill|large\s+object|raw|object
    |with(?:out)?(?:\s+local)?\s+time\s+zone|character\s+set\s+\w+)\b)*)?\s*"""
)


def _read_type(draft: Draft, name: str, text: str, dialect: str | None) -> bool:
    """Read a type and the constraints that follow it; False if something is not understood."""
    if text.isalnum():  # most are one word
        add_column(draft, name, text, (), dialect)
        return True
    words = _MAPPED_TYPE.match(text)
    assert words is not None  # noqa: S101 - every part of the pattern may be empty
    constraints = constraints_of(text[words.end() :], dialect)
    if constraints is not None:
        add_column(draft, name, words[0], constraints, dialect)
    return constraints is not None


# Keys.

_KEY = "a column, a tuple of columns, or a list of such tuples"


def _read_keys(
    keys: object, schema: Definitions | None, found: dict[str, list[tuple[str, ...]]]
) -> None:
    if not is_mapping(keys):
        refuse("keys", "a mapping from table to key", keys, TypeError)
    for table, key in keys.items():
        name = check_text("table of keys", table).lower()
        path = f"keys[{table!r}]"
        known: Mapping[str, Column] | None = None
        if schema is not None and name not in schema.unclear:
            if name not in schema.tables:
                refuse("keys", "a mapping from tables of the schema", table)
            known = schema.tables[name].columns
        for columns in _several(path, key):
            for column in columns:
                if known is not None and column not in known:
                    refuse(path, f"made of columns of {table}", column)
            if schema is None or known is not None:
                found.setdefault(name, []).append(columns)


def _several(path: str, key: object) -> list[tuple[str, ...]]:
    if isinstance(key, str):
        return [(check_text(path, key).lower(),)]
    if not _is_sequence(key):
        refuse(path, _KEY, key, TypeError)
    if not key:
        refuse(path, _KEY, key)
    if isinstance(key, tuple) and all(isinstance(part, str) for part in key):
        key = [key]
    several: list[tuple[str, ...]] = []
    for columns in key:
        if not _is_sequence(columns) or not isinstance(columns, tuple):
            refuse(path, _KEY, key, TypeError)
        if not columns:
            refuse(path, _KEY, key)
        several.append(tuple(check_text(path, column).lower() for column in columns))
    return several


def _is_sequence(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)


def frozen_keys(keys: object) -> Any:
    """Return checked keys in a form that hashes; None for none."""
    if keys is None:
        return None
    if not is_mapping(keys):
        refuse("keys", "a mapping from table to key", keys, TypeError)
    return FrozenMapping(
        {
            check_text("table of keys", table): tuple(_several(f"keys[{table!r}]", key))
            for table, key in keys.items()
        }
    )


def frozen_schema(schema: Any) -> Any:
    """Return a schema as text or as a mapping that hashes; what none is comes back as it is."""
    if _is_sequence(schema) and schema and all(isinstance(one, str) for one in schema):
        schema = ";\n".join(schema)
    return frozen_mappings(_from_json(schema) if isinstance(schema, str) else schema)


def _from_json(text: str) -> object:
    """Return the mapping that a text holds as JSON; text of another kind comes back as it is."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text, object_pairs_hook=_unlike)
    except (json.JSONDecodeError, RecursionError):
        return text


def _unlike(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON, of whose names none comes twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        refuse("schema", "JSON in which no name comes twice", max(names, key=names.count))
    return found


def checked_schema(schema: object, dialect: str | None) -> Any:
    """Return what `frozen_schema` does, None for none; refuse what defines no table."""
    schema = frozen_schema(schema)
    if isinstance(schema, str):
        if _NAME_OR_PATH.fullmatch(schema):
            refuse("schema", "the text of a schema, not a name or a path", schema)
        if read_definitions(schema, dialect) is None:
            refuse("schema", _TEXT, schema)
    elif schema is not None:
        _check_mapping(schema)
    return schema


def _check_mapping(schema: object) -> None:
    """Refuse what is no schema by its shape: once at the door, not in each case."""
    if not is_mapping(schema):
        refuse("schema", _TABLES, schema, TypeError)
    for table, columns in schema.items():
        path = f"schema[{check_text('table of schema', table)!r}]"
        if not is_mapping(columns):
            is_text = isinstance(columns, str) and "(" in columns
            refuse(path, _COLUMNS + (_OF_DATABASES if is_text else ""), columns, TypeError)
        if is_mapping(columns.get("columns")):
            refuse("schema", _BARE, columns, TypeError)
        for column, kind in columns.items():
            if is_mapping(kind):
                refuse("schema", f"{_ONE}[{table!r}]", schema, TypeError)
            check_text(f"column of {path}", column)
            check_text(f"{path}[{column!r}]", kind, empty=True)


_NAME_OR_PATH = re.compile(r"(?i)\s*(?:\w+|\S+\.(?:sql|ddl|json|txt|csv|ya?ml|md|db|sqlite3?))\s*")


def schema_text(schema: Any) -> str:
    """Return a checked schema as a judge is shown it: as it is written, or one table a line."""
    if isinstance(schema, str):
        return schema
    return "\n".join(
        f"{table}({', '.join(f'{column} {kind}' for column, kind in columns.items())})"
        for table, columns in schema.items()
    )
