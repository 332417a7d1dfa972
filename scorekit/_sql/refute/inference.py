"""The tables that two queries read: as a caller describes them, or as the queries show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import attrs
from sqlglot import exp

from scorekit._sql.databases.kinds import Column
from scorekit._sql.meaning import tree
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import read_names
from scorekit._sql.refute.expressions import UnfaithfulError, kind_of, note_kinds
from scorekit._sql.refute.hints import Hints
from scorekit._sql.refute.runnable import written_name
from scorekit._sql.schema.definitions import CheckRule, Reference, Unique
from scorekit._sql.schema.tables import SqlSchema
from scorekit._sql.text.base_tables import common_tables

MAX_TABLES: Final = 60
"""Tables of a database that is tried, those that foreign keys need among them."""


class Link(NamedTuple):
    """A foreign key between two tables, by the places of its columns."""

    table: str
    columns: tuple[int, ...]
    other: str
    others: tuple[int, ...]


@attrs.frozen
class Used:
    """The names of columns that queries use."""

    names: frozenset[str]
    all: bool

    def __contains__(self, name: object) -> bool:
        """Say whether a column of this name may be used."""
        return self.all or name in self.names


class TablesRead(NamedTuple):
    """The tables of two queries, under the names that they have in the sandbox."""

    tables: dict[str, tuple[Column, ...]]
    keys: dict[str, tuple[tuple[str, ...], ...]]
    names: dict[str, str]
    """The sandbox's name for each table as written."""
    assumptions: tuple[str, ...]
    links: tuple[Link, ...] = ()
    unique: Mapping[str, tuple[Unique, ...]] = {}
    """Keys whose columns may be NULL."""
    rules: Mapping[str, tuple[CheckRule, ...]] = {}
    """Conditions that rows must not fail."""
    absent: frozenset[tuple[str, str]] = frozenset()
    """Tables and columns that stay NULL, so that they need no row in another table."""
    used: Used = Used(frozenset(), all=True)


def known_tables(
    trees: Sequence[exp.Expr],
    nodes: Sequence[Sequence[exp.Expr]],
    schema: SqlSchema | None,
    hint: Hints,
    *,
    dialect: str | None,
) -> TablesRead:
    """
    Return what is known of the tables that queries read, and of those that foreign keys need.

    Args:
        trees: The queries.
        nodes: All nodes of each.
        schema: What is known of tables.
        hint: What the queries say about values.
        dialect: What they are written in.

    Raises:
        UnfaithfulError: If the schema lacks a table, a name can mean several, or it does not
            show which table a column belongs to.
    """
    both = zip(trees, nodes, strict=True)
    written = list(dict.fromkeys(name for one in both for name in _base_tables(*one, dialect)))
    given = schema is not None and schema.given
    unclear: Mapping[str, str] = schema.unclear if schema and given else {}
    full = {
        name: _full_name(name, (*schema.tables, *unclear) if schema and given else written)
        for name in written
    }
    for name in full.values():
        if name in unclear:
            raise UnfaithfulError(f"nothing is known of {name}: {unclear[name]}")
    last = {name: _free(name.rpartition(".")[2]) for name in full.values()}
    if len(set(last.values())) < len(last):
        raise UnfaithfulError("tables that differ in their qualifiers only")
    names = {name: last[full[name]] for name in written}
    known_keys: Mapping[str, tuple[tuple[str, ...], ...]] = schema.keys if schema else {}
    keys = {last[name]: known_keys[key] for name in last if (key := _key_name(name, known_keys))}
    if not schema or not given:
        tables = _inferred(trees, names, keys, hint, dialect)
        assumptions = _assumptions(tables, keys, given=False)
        return TablesRead(tables, keys, names, assumptions, used=used_names(nodes))
    tables = {last[name]: schema.tables[name] for name in last}
    assumptions = _assumptions(tables, keys, given=True)
    used = used_names(nodes)
    references, absent = _needed(schema, last, used)
    tables |= {last[name]: schema.tables[name] for name in last}
    keys |= {last[name]: schema.keys[name] for name in last if name in schema.keys}
    links = tuple(_link(reference, last, tables) for reference in references)
    rules: dict[str, tuple[CheckRule, ...]] = {}
    for rule in schema.rules:
        if rule.table in last:
            rules[last[rule.table]] = (*rules.get(last[rule.table], ()), rule)
    return TablesRead(
        tables,
        keys,
        names,
        assumptions,
        links,
        {last[name]: schema.unique[name] for name in last if name in schema.unique},
        rules,
        frozenset((last[table], column) for table, column in absent),
        used,
    )


def used_names(trees: Sequence[Sequence[exp.Expr]]) -> Used:
    """Return the columns that queries, each by its nodes, may use."""
    names: set[str] = set()
    star = False
    for nodes in trees:
        for node in nodes:
            if isinstance(node, exp.Identifier):
                names.add(node.name.lower())
            elif isinstance(node, exp.Star):
                star = star or _is_star(node)
            elif isinstance(node, exp.Join):
                star = star or (node.args.get("method") or "").upper() == "NATURAL"
    return Used(frozenset(names), star)


def linked_columns(known: TablesRead, table: str) -> set[str]:
    """Return the columns of a table that foreign keys lead from or to."""
    columns = known.tables[table]
    return {
        columns[i].name
        for link in known.links
        for name, places in ((link.table, link.columns), (link.other, link.others))
        if name == table
        for i in places
    }


def _needed(
    schema: SqlSchema, last: dict[str, str], used: Used
) -> tuple[list[Reference], set[tuple[str, str]]]:
    """
    Return foreign keys that rows must keep, and columns that stay NULL instead.

    Tables that such a key needs and no query reads are added to *last*, under names of their own.
    """
    of_table: dict[str, list[Reference]] = {}
    for reference in schema.references:
        of_table.setdefault(reference.table, []).append(reference)
    read = frozenset(last)
    kept: list[Reference] = []
    absent: set[tuple[str, str]] = set()
    pending = list(last)
    for table in pending:
        nullable = {column.name for column in schema.tables[table] if column.nullable}
        for reference in of_table.get(table, ()):
            free = [
                name
                for name in reference.columns
                if name in nullable and (table not in read or name not in used)
            ]
            if free and (reference.other not in read or reference.other == table):
                absent.add((table, free[0]))
                continue
            kept.append(reference)
            if reference.other not in last:
                name = _free(reference.other.rpartition(".")[2])
                last[reference.other] = name if name not in last.values() else reference.other
                pending.append(reference.other)
        if len(pending) > MAX_TABLES:
            raise UnfaithfulError(f"foreign keys lead to more than {MAX_TABLES} tables")
    return kept, absent


def _link(
    reference: Reference, last: Mapping[str, str], tables: Mapping[str, Sequence[Column]]
) -> Link:
    """Return a foreign key by the places of its columns."""
    table, other = last[reference.table], last[reference.other]
    names, others = ([column.name for column in tables[t]] for t in (table, other))
    return Link(
        table,
        tuple(map(names.index, reference.columns)),
        other,
        tuple(map(others.index, reference.others)),
    )


def _free(name: str) -> str:
    """Return a name that SQLite does not keep for itself."""
    return f"table_{name}" if name.startswith("sqlite_") else name


def _key_name(name: str, keys: Mapping[str, object]) -> str | None:
    return name if name in keys else next((k for k in keys if _suffixed(k, name)), None)


def _base_tables(tree: exp.Expr, nodes: Sequence[exp.Expr], dialect: str | None) -> Iterable[str]:
    local = common_tables(tree, dialect or "")
    for table in nodes:
        if not isinstance(table, exp.Table):
            continue
        if not isinstance(table.this, exp.Identifier):
            raise UnfaithfulError("a table function or a placeholder")
        if id(table) not in local:
            yield written_name(table)


def _full_name(name: str, tables: Iterable[str]) -> str:
    listed = list(tables)
    if name in listed:
        longer = [other for other in listed if other != name and _suffixed(other, name)]
        return name if len(longer) != 1 or "." in name else _settled(name, longer[0])
    fitting = [other for other in listed if _suffixed(other, name) or _suffixed(name, other)]
    if not fitting:
        raise UnfaithfulError(f"the schema has no table {name!r}")
    if len(fitting) > 1:
        raise UnfaithfulError(f"the name {name!r} fits several tables")
    return fitting[0]


def _settled(name: str, longer: str) -> str:
    """Return the one table that a name with and without qualifiers can only mean."""
    return longer if longer.rpartition(".")[2] == name else name


def _suffixed(longer: str, name: str) -> bool:
    return longer.endswith(f".{name}")


def _assumptions(
    tables: Mapping[str, Sequence[Column]],
    keys: Mapping[str, Sequence[tuple[str, ...]]],
    *,
    given: bool,
) -> tuple[str, ...]:
    notes = (
        [] if given or not tables else ["the tables have only the columns that the queries use"]
    )
    for name in sorted(keys):
        listed = " and ".join(f"({', '.join(key)})" for key in keys[name])
        notes.append(f"{name} has the key {listed}")
    without = sorted(tables.keys() - keys.keys())
    if without:
        notes.append(f"no key of {', '.join(without)} is known")
    not_null = [
        f"{name}.{column.name}"
        for name, columns in sorted(tables.items())
        for column in columns
        if not column.nullable and column.name not in {c for k in keys.get(name, ()) for c in k}
    ]
    if not_null:
        notes.append(f"{', '.join(not_null)} never NULL")
    return tuple(notes)


# What queries show.


def _inferred(
    texts: Sequence[exp.Expr],
    names: Mapping[str, str],
    keys: Mapping[str, Sequence[tuple[str, ...]]],
    hint: Hints,
    dialect: str | None,
) -> dict[str, tuple[Column, ...]]:
    stars = [any(_is_star(node) for node in text.find_all(exp.Star)) for text in texts]
    if stars[0] != stars[1]:
        raise UnfaithfulError("a star stands for columns that only a schema names")
    found: dict[str, dict[str, None]] = {name: {} for name in names.values()}
    for table, several in keys.items():
        found[table].update(dict.fromkeys(c for key in several for c in key))
    pending: list[list[tree.Column]] = []
    for text in texts:
        catalog = Catalog(dialect=dialect)
        read = read_names(text, catalog)
        if read.unread:
            raise UnfaithfulError(f"its names are unclear: {read.unread}")
        note_kinds(text.walk(), read, catalog)
        nodes = text.find_all(exp.Column, bfs=False)
        for meant in (one for node in nodes for one in read.values.get(id(node), ())):
            first = meant.levels[0] if isinstance(meant, tree.OpenName) else meant
            columns = [one for one in tree.found_in(first, tree.Column) if one.source.table]
            if len(columns) > 1:
                pending.append(columns)
            for column in columns if len(columns) == 1 else ():
                table = names[column.source.table.lower()]
                found[table][column.name.lower()] = None
    for columns in pending:
        name = columns[0].name
        tables = {names[column.source.table.lower()] for column in columns}
        if sum(name.lower() in found[table] for table in tables) != 1:
            raise UnfaithfulError(f"only a schema says which table has the column {name!r}")
    kinds = _kinds(texts, hint)
    return {
        table: tuple(Column(name, kinds.get(name, "unknown"), nullable=True) for name in columns)
        or (Column("any_column", "unknown", nullable=True),)
        for table, columns in found.items()
    }


def _is_condition(node: exp.Expr) -> bool:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Where | exp.Having | exp.And | exp.Or | exp.Not) or (
        isinstance(parent, exp.Join) and parent.args.get("on") is node
    )


def _is_star(node: exp.Expr) -> bool:
    return not isinstance(node.parent, exp.Count)


def _shown(node: exp.Expr, parts: Sequence[exp.Expr]) -> set[str]:
    """Return the kinds of values that an operation shows its operands to have."""
    if isinstance(node, exp.Like | exp.ILike):
        return {"text"}
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Sum | exp.Avg):
        return {"number"}
    values = (part for part in parts if not isinstance(part.unnest(), _CONDITIONS))
    return set(map(kind_of, values)) - {"", "boolean"}


_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not)


def _kinds(texts: Sequence[exp.Expr], hint: Hints) -> dict[str, str]:
    """Return what columns hold, from what they are compared with and what is done to them."""
    held: dict[str, set[str]] = {}

    def note(name: str, kind: str) -> None:
        held.setdefault(hint.group.get(name, name), set()).add(kind)

    for text in texts:
        for node in text.find_all(
            exp.Predicate, exp.Between, exp.In, exp.Binary, exp.Sum, exp.Avg
        ):
            parts = list(node.iter_expressions())
            for part in parts:
                inner = part.this if isinstance(part, exp.Min | exp.Max) else part
                if isinstance(inner, exp.Column):
                    for kind in _shown(node, parts):
                        note(inner.name.lower(), "text" if kind == "text" else "integer")
        for column in text.find_all(exp.Column):
            if _is_condition(column):
                note(column.name.lower(), "boolean")
    if any(len(kinds) > 1 for kinds in held.values()):
        raise UnfaithfulError("a column is used as values of two kinds")
    names = {c.name.lower() for text in texts for c in text.find_all(exp.Column)}
    return {
        name: next(iter(held[root]))
        for name in names
        if (root := hint.group.get(name, name)) in held
    }
