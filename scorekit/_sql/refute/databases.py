"""Small databases on which two queries may differ, made from what the queries themselves say."""

from __future__ import annotations

import datetime as dt
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from sqlglot import exp

from scorekit._sql.refute.sandbox import Cell, Database
from scorekit._sql.schema import Column

MAX_VALUES: Final = 12
"""Values that a column draws from because the queries name them."""

_BASE: Final[Mapping[str, tuple[Cell, ...]]] = {
    "integer": (1, 2, 3, 0),
    "natural": (1, 2, 3, 0),
    "number": (1, 2, 3, 0, 1.5),
    "real": (1.0, 2.0, 3.0, 0.0, 1.5),
    "text": ("a", "b", "c"),
    "time": ("2020-01-01", "2020-01-02", "2021-06-15"),
    "boolean": (0, 1),
    "collated": ("a", "b", "c"),
    "unknown": ("a", "b", "c"),
}
_NULL_SHARE, _COPY_SHARE, _NAMED_SHARE, _FIXED_SHARE = 0.15, 0.5, 0.6, 0.75
_MOST_ROWS, _MOST_ROWS_OF_MANY, _MANY_TABLES = 7, 4, 3
_MOST_COUNTED = 30
_DRAWS = 8
_LARGEST_INTEGER = 2**31 - 1  # of an INT in most dialects


_T = TypeVar("_T")


class Hints(NamedTuple):
    """What queries say about the values that matter to them."""

    values: dict[str, list[Cell]]
    """Literals that a column is compared with, their neighbours, and texts of a pattern."""
    group: dict[str, str]
    """One name for all columns that are compared with each other."""
    n_rows: int
    """Rows that a group must have to pass a comparison with a count, or 0."""
    n_sources: int


class Link(NamedTuple):
    """A foreign key between two tables, by the places of its columns."""

    table: str
    columns: tuple[int, ...]
    other: str
    others: tuple[int, ...]


def linked(database: Database, links: Sequence[Link]) -> Database:
    """Leave out rows whose foreign key is not there, until all are."""
    rows = {name: list(table) for name, table in database.items()}
    changed = bool(links)
    while changed:
        changed = False
        for table, columns, other, others in links:
            there = {tuple(row[i] for i in others) for row in rows[other]}
            held = [(tuple(row[i] for i in columns), row) for row in rows[table]]
            kept = [row for key, row in held if None in key or key in there]
            changed = changed or len(kept) < len(held)
            rows[table] = kept
    return rows


def hints(trees: Iterable[exp.Expr]) -> Hints:
    """Return what queries say about values."""
    values: dict[str, list[Cell]] = {}
    group: dict[str, str] = {}
    n_rows = n_sources = 0
    for tree in trees:
        n_sources = max(n_sources, sum(1 for _ in tree.find_all(exp.Table)))
        for node in tree.find_all(exp.Predicate, exp.Between, exp.In):
            parts = list(node.iter_expressions())
            literals = [lit for part in parts for lit in part.find_all(exp.Literal)]
            literals += [text for part in parts for text in _quoted(part)]
            names = _columns(parts)
            if next((c for part in parts for c in part.find_all(exp.Count)), None):
                counted = [int(lit.name) for lit in literals if lit.name.isdecimal()]
                n_rows = max([n_rows, *(n for n in counted if n <= _MOST_COUNTED)])
            for name in names:
                near = values.setdefault(name, [])
                for literal in literals[:MAX_VALUES]:
                    near += _near(literal, pattern=isinstance(node, exp.Like | exp.ILike))
            for name in names[1:]:
                _unite(group, names[0], name)
        for join in tree.find_all(exp.Join):
            for part in join.args.get("using") or ():
                _unite(group, part.name.casefold(), part.name.casefold())
    return Hints(values, group, n_rows, n_sources)


def _quoted(part: exp.Expr) -> list[exp.Literal]:
    """Return what is quoted as a name, and in SQLite may be a string."""
    return [
        exp.Literal.string(column.name)
        for column in part.find_all(exp.Column)
        if isinstance(column.this, exp.Identifier) and column.this.args.get("quoted")
    ]


def _columns(parts: Sequence[exp.Expr]) -> list[str]:
    """Return columns among operands, for a query in brackets those that it returns."""
    found: list[str] = []
    for part in parts:
        query = part.find(exp.Query)
        shown = query.selects if query is not None else [part]
        found += [c.name.casefold() for item in shown for c in item.find_all(exp.Column)]
    return list(dict.fromkeys(found))


def _unite(group: dict[str, str], first: str, second: str) -> None:
    old, new = group.get(second, second), group.get(first, first)
    for name in [name for name, root in group.items() if root == old]:
        group[name] = new
    group[first] = group[second] = group[old] = new


def _near(literal: exp.Literal, *, pattern: bool) -> list[Cell]:
    text = literal.name
    if not literal.is_string:
        return _near_number(text)
    if pattern:
        inner = text.replace("%", "").replace("_", "q")
        found = [inner, text.replace("%", "z").replace("_", "q"), "z" + inner, inner + "z"]
        return [value.rstrip(" ") for value in found]
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return [text, *_near_dates(text)]
    return [text, text.swapcase(), text + "z"]


def _near_number(text: str) -> list[Cell]:
    try:
        number = float(text)
        whole = int(number)
    except (ValueError, OverflowError):
        return []
    if number != whole:
        return [number, whole, whole + 1]
    return [n for n in (whole, whole + 1, whole - 1) if abs(n) <= _LARGEST_INTEGER]


def _near_dates(text: str) -> list[Cell]:
    try:
        day = dt.date.fromisoformat(text)
        return [(day + dt.timedelta(days=n)).isoformat() for n in (1, -1)]
    except (ValueError, OverflowError):
        return []


class Maker:
    """Makes databases: the same for the same tables, hints and seed."""

    def __init__(
        self,
        tables: Mapping[str, Sequence[Column]],
        keys: Mapping[str, Sequence[tuple[str, ...]]],
        told: Hints,
        seed: int,
        links: Sequence[Link] = (),
    ) -> None:
        self._links = links
        self._tables, self._keys, self._told, self._seed = tables, keys, told, seed
        columns = [column for listed in tables.values() for column in listed]
        self._named = {column: self._values(column, columns) for column in columns}

    def _values(self, column: Column, columns: Sequence[Column]) -> list[Cell]:
        """Return what the queries compare a column with, or any that it is compared with."""
        group = self._told.group
        root = group.get(column.name, column.name)
        names = {other.name for other in columns if group.get(other.name, other.name) == root}
        near = [v for name in sorted(names) for v in self._told.values.get(name, ())]
        fitting: list[Cell] = [f for v in near if (f := _fitted(v, column.kind)) is not None]
        return list(dict.fromkeys(fitting))[:MAX_VALUES]

    def database(self, i: int) -> Database:
        """
        Return database number *i*.

        The first has some rows in each table, the second one row, the third none; every other
        one of the rest is tidy (no repeated rows), and some have as many rows as a count needs.
        """
        draw = random.Random(self._seed * 1_000_003 + i)  # noqa: S311 - nothing secret
        tidy = i % 2 == 0
        rows = {
            name: self._rows(name, self._n_rows(i, draw), draw, tidy=tidy) for name in self._tables
        }
        for link in self._links:
            self._point(rows, link, draw)
        return linked(rows, self._links)

    def _point(
        self, rows: dict[str, list[tuple[Cell, ...]]], link: Link, draw: random.Random
    ) -> None:
        """Let most foreign keys point to a row that is there."""
        names = {self._tables[link.table][i].name for i in link.columns}
        if not rows[link.other] or any(names & {*key} for key in self._keys.get(link.table, ())):
            return
        for i, row in enumerate(rows[link.table]):
            cells = list(row)
            found = _pick(rows[link.other], draw)
            if None not in (cells[j] for j in link.columns):
                for j, k in zip(link.columns, link.others, strict=True):
                    cells[j] = found[k]
            rows[link.table][i] = tuple(cells)

    def _n_rows(self, i: int, draw: random.Random) -> int:
        most = _MOST_ROWS if self._told.n_sources <= _MANY_TABLES else _MOST_ROWS_OF_MANY
        if self._told.n_rows and i % 4 == 3:  # noqa: PLR2004 - every fourth
            return self._told.n_rows + i // 4 % 3
        return (most - 2, 1, 0)[i] if i < 3 else int(draw.random() * (most + 1))  # noqa: PLR2004

    def _rows(
        self, name: str, n: int, draw: random.Random, *, tidy: bool
    ) -> list[tuple[Cell, ...]]:
        columns, keys = self._tables[name], self._keys.get(name, ())
        in_key = {column for key in keys for column in key}
        fixed = self._fixed(columns, in_key, draw) if n > _MOST_ROWS else {}
        rows: list[tuple[Cell, ...]] = []
        taken: list[set[tuple[Cell, ...]]] = [set() for _ in keys]
        for _ in range(n):
            for _ in range(_DRAWS):
                row = tuple(
                    self._cell(c, draw, n, key=c.name in in_key, tidy=tidy) for c in columns
                )
                row = tuple(fixed.get(c.name, v) for c, v in zip(columns, row, strict=True))
                found = dict(zip((c.name for c in columns), row, strict=True))
                held = [tuple(_comparable(found[c]) for c in key) for key in keys]
                if any(h in t for h, t in zip(held, taken, strict=True)) or (tidy and row in rows):
                    continue
                for h, t in zip(held, taken, strict=True):
                    t.add(h)
                rows.append(row)
                break
        if rows and not (keys or tidy or fixed) and draw.random() < _COPY_SHARE:
            rows.append(rows[0])
        return rows

    def _fixed(
        self, columns: Sequence[Column], in_key: set[str], draw: random.Random
    ) -> dict[str, Cell]:
        """Return one value for some columns, so that many rows make one group."""
        return {
            column.name: self._cell(column, draw, 0, key=False, tidy=True)
            for column in columns
            if column.name not in in_key and draw.random() < _FIXED_SHARE
        }

    def _cell(self, column: Column, draw: random.Random, n: int, *, key: bool, tidy: bool) -> Cell:
        nulls = _NULL_SHARE / 2 if tidy else _NULL_SHARE
        if column.nullable and not key and draw.random() < nulls:
            return None
        named = self._named[column]
        if named and draw.random() < _NAMED_SHARE:
            return _pick(named, draw)
        base = _BASE[column.kind]
        if key:
            base = (*base, *_more(column.kind, n))
        return _pick(base, draw)


def _comparable(value: Cell) -> Cell:
    """Return what a key compares: keys may be compared whatever their case."""
    return value.lower() if isinstance(value, str) else value


def _pick(values: Sequence[_T], draw: random.Random) -> _T:
    # random() alone gives the same on every version of Python
    return values[int(draw.random() * len(values))]


def _more(kind: str, n: int) -> list[Cell]:
    """Return further values, for columns that must differ from row to row."""
    if kind == "boolean":
        return []
    if kind == "time":
        return [f"2022-01-{i + 1:02}" for i in range(min(n, 28))]
    if kind in ("text", "unknown"):
        return [f"d{i}" for i in range(n)]
    return [float(i) if kind == "real" else i for i in range(4, 4 + n)]


def _fitted(value: Cell, kind: str) -> Cell:
    """Return a value as a column of this kind could hold it, or None."""
    if kind == "unknown" or value is None:
        return value
    if kind in ("text", "time"):
        year = isinstance(value, int) and kind == "time"
        text = f"{value!s}-05-05" if year else str(value)
        return text if kind == "text" or re.match(r"\d{4}-\d\d-\d\d", text) else None
    try:
        number = float(value)
    except ValueError:
        return None
    if kind == "real" or (kind == "number" and not number.is_integer()):
        return number
    if kind == "natural" and number < 0:
        return None
    fits = number in (0, 1) if kind == "boolean" else number.is_integer()
    return int(number) if fits else None
