"""Statements that make a small database in a dialect, under the names that queries use."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from scorekit._sql.databases.kinds import Column
from scorekit._sql.refute.sandbox import Cell
from scorekit._sql.schema.tables import SqlSchema

AFFINITY: Final = {
    "integer": "INTEGER",
    "natural": "INTEGER",
    "number": "NUMERIC",
    "real": "REAL",
    "text": "TEXT",
    "boolean": "NUMERIC",
    "time": "NUMERIC",
    "enum": "TEXT",
    "collated": "TEXT",
    "unknown": "",
}
"""What SQLite calls what a column holds."""

_TYPES: Final = {
    "integer": "INT",
    "natural": "BIGINT",
    "number": "DECIMAL",
    "real": "DOUBLE",
    "boolean": "BOOLEAN",
    "time": "DATE",
}
_SCALE: Final = 6
_DAY: Final = len("2020-01-01")
_PLAIN: Final = re.compile(r"[a-z_][a-z0-9_]*")


def spellings(trees: Iterable[exp.Expr], schema: SqlSchema | None) -> dict[str, exp.Identifier]:
    """Return how queries spell each name, one in quotes first; others as the schema has them."""
    found: dict[str, exp.Identifier] = {}
    for tree in trees:
        for node in tree.find_all(exp.Identifier):
            name = node.name.lower()
            if name not in found or (
                node.args.get("quoted") and not found[name].args.get("quoted")
            ):
                found[name] = node
    for name in () if schema is None else sorted(schema.cased):
        found.setdefault(name.lower(), exp.to_identifier(name, quoted=True))
    return found


def made(
    tables: Mapping[str, tuple[Sequence[Column], Sequence[Sequence[Cell]]]],
    spelled: Mapping[str, exp.Identifier],
    dialect: str,
    singly: Container[str] = (),
) -> tuple[str, ...]:
    """
    Return statements that make tables of some columns and fill them, *singly* row by row.

    Without a dialect their words are those of all four databases.
    """
    found: list[str] = []
    for table, (columns, rows) in tables.items():
        own = _written(table, spelled, dialect)
        names = [_written(column.name, spelled, dialect) for column in columns]
        types = [_type(column, dialect) for column in columns]
        listed = ", ".join(f"{n} {t}".rstrip() for n, t in zip(names, types, strict=True))
        found.append(f"CREATE TABLE {own} ({listed})")
        cells = [
            ", ".join(_literal(cell, c, dialect) for cell, c in zip(row, columns, strict=True))
            for row in rows
        ]
        several = [f"({row})" for row in cells]
        at_once = several if table in singly else filter(None, [", ".join(several)])
        into = f"INSERT INTO {own} ({', '.join(names)}) VALUES"
        found += [f"{into} {values}" for values in at_once]
    return tuple(found)


def _written(name: str, spelled: Mapping[str, exp.Identifier], dialect: str) -> str:
    known = spelled.get(name)
    if known is None:
        known = exp.to_identifier(name, quoted=not _PLAIN.fullmatch(name))
    return exp.to_identifier(known.name, quoted=bool(known.args.get("quoted"))).sql(dialect)


def _type(column: Column, dialect: str) -> str:
    """Return the type of a column; what is not known of it is text in a dialect, but SQLite's."""
    limits, kind = column.limits, column.kind
    if dialect == "sqlite" or (not dialect and kind == "unknown"):
        return AFFINITY[kind]
    name = _TYPES.get(kind, "TEXT")
    if kind == "number":
        scale = _SCALE if limits.scale is None else limits.scale
        name = f"DECIMAL({min(max(18, scale + 12), 38)}, {scale})"
    elif kind == "integer" and limits.wide:
        name = "BIGINT"
    elif kind == "real" and limits.single:
        name = "FLOAT"
    elif kind == "real" and not dialect:
        return "DOUBLE PRECISION"
    elif kind == "time" and limits.form:
        name = "TIME"
    elif kind == "time" and limits.timed:
        name = "TIMESTAMP"
    elif kind == "text" and limits.length is not None:
        name = f"{'CHAR' if limits.padded else 'VARCHAR'}({limits.length})"
    return exp.DataType.build(name).sql(dialect)


def _literal(cell: Cell, column: Column, dialect: str) -> str:
    if cell is None:
        return "NULL"
    if column.kind == "boolean" and dialect != "sqlite":
        return exp.Boolean(this=bool(cell)).sql(dialect)
    loose = dialect in ("", "sqlite")
    if isinstance(cell, int | float) and (loose or column.kind in _TYPES):
        return repr(cell)
    text = str(cell)
    if column.kind == "time" and not (column.limits.timed or column.limits.form):
        text = text if loose else text[:_DAY]
    return exp.Literal.string(text).sql(dialect)
