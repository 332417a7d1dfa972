"""Random schemas, rows that keep to them, and queries over them."""

# ruff: noqa: PLR0911, S608 - a return for each form; queries that read what we made

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

Cell: TypeAlias = int | float | str | None
Row: TypeAlias = tuple[Cell, ...]
Rows: TypeAlias = dict[str, list[Row]]

NUMBERS: Final = (-1, 0, 1, 2, 3)
ODD: Final = ("a", "", 1.5, -0.5)
TEXTS: Final = ("a", "b", "A", "ab", "")
KINDS: Final = ("int", "text")
COMPARISONS: Final = ("=", "=", "<>", "<", "<=", ">", ">=")

_CHECKS: Final[dict[str, tuple[tuple[str, tuple[Cell, ...]], ...]]] = {
    "int": (
        ("{} >= 0", (0, 1, 2, 3)),
        ("{} IN (1, 2)", (1, 2)),
        ("{} BETWEEN 0 AND 2", (0, 1, 2)),
        ("{} <> 3", (-1, 0, 1, 2)),
    ),
    "text": (("{} IN ('a', 'b')", ("a", "b")), ("{} <> ''", ("a", "b", "A", "ab"))),
}


class Column(NamedTuple):
    """A column: what it holds, and what it keeps to."""

    name: str
    kind: str
    nullable: bool = True
    unique: bool = False
    other: str = ""
    """The table whose key it points to."""
    check: str = ""
    values: tuple[Cell, ...] = ()

    def text(self) -> str:
        """Return its definition."""
        words = [self.name, "int" if self.kind == "int" else "varchar(10)"]
        words += ["NOT NULL"] * (not self.nullable) + ["UNIQUE"] * self.unique
        words += [f"REFERENCES {self.other}(id)"] * bool(self.other)
        words += [f"CHECK ({self.check})"] * bool(self.check)
        return " ".join(words)


class Table(NamedTuple):
    """A table."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    def text(self) -> str:
        """Return the statement that makes it."""
        parts = [column.text() for column in self.columns]
        parts += [f"PRIMARY KEY ({', '.join(self.key)})"] * bool(self.key)
        return f"CREATE TABLE {self.name} ({', '.join(parts)})"


Schema: TypeAlias = tuple[Table, ...]


def schema_text(schema: Schema) -> str:
    """Return the statements that make some tables."""
    return ";\n".join(table.text() for table in schema)


def random_schema(rng: random.Random, *, unique: float = 0.12) -> Schema:
    """Make three or four tables, in a chain of foreign keys; some columns are *unique*."""
    tables: list[Table] = []
    for i in range(rng.choice((3, 4))):
        style = rng.random()
        columns = [Column("id", "int", nullable=style > 0.85)]
        key: tuple[str, ...] = ("id",) if style < 0.6 else ()
        for name, kind in (("n", "int"), ("s", "text"), ("m", "int"), ("r", "text")):
            if len(columns) > 2 and rng.random() < 0.4:
                continue
            check, values = rng.choice(_CHECKS[kind]) if rng.random() < 0.2 else ("", ())
            columns.append(
                Column(
                    name,
                    kind,
                    nullable=rng.random() < 0.7,
                    unique=rng.random() < unique,
                    check=check.format(name),
                    values=values,
                )
            )
        if 0.6 <= style <= 0.85:
            columns[1] = columns[1]._replace(nullable=False)
            key = ("id", columns[1].name)
        for j, other in enumerate(t for t in tables if t.key == ("id",)):
            if rng.random() < 0.7:
                columns.append(
                    Column(f"p{j}", "int", nullable=rng.random() < 0.6, other=other.name)
                )
        tables.append(Table(f"t{i}", tuple(columns), key))
    return tuple(tables)


def random_rows(
    schema: Schema, rng: random.Random, sizes: Sequence[int], *, loose: bool = False
) -> Rows:
    """
    Make rows that keep to every constraint: NULLs, copies and empty tables among them.

    A table has one of *sizes*, or fewer rows where its keys have no more values.  *Loose* columns
    of numbers hold texts and fractions, too, as SQLite lets them.
    """
    rows: Rows = {}
    for table in schema:
        kept: list[Row] = []
        places = {column.name: i for i, column in enumerate(table.columns)}
        nulls = rng.choice((0.1, 0.3, 0.5))
        keys = [table.key] if table.key else []
        keys += [(column.name,) for column in table.columns if column.unique]
        held: set[tuple[tuple[str, ...], Row]] = set()
        size = rng.choice(sizes)
        for _ in range(3 * size):
            if len(kept) >= size:
                break
            row = tuple(
                rng.choice(ODD)
                if loose and _is_free(column) and rng.random() < 0.2
                else _cell(column, rows, nulls, rng)
                for column in table.columns
            )
            if any(
                cell is None and (not column.nullable or column.name in table.key)
                for cell, column in zip(row, table.columns, strict=True)
            ):
                continue  # a foreign key that has nowhere to point to
            own = {(key, tuple(row[places[name]] for name in key)) for key in keys}
            if any(None not in cells and (key, cells) in held for key, cells in own):
                continue
            held |= own
            kept.append(row)
            if not keys and rng.random() < 0.4:
                kept.append(row)
        rows[table.name] = kept
    return rows


def _is_free(column: Column) -> bool:
    return column.kind == "int" and not (column.other or column.check or column.name == "id")


def _cell(column: Column, rows: Rows, nulls: float, rng: random.Random) -> Cell:
    if column.nullable and rng.random() < nulls:
        return None
    if column.other:
        there = [row[0] for row in rows[column.other]]
        return rng.choice(there) if there else None
    return rng.choice(column.values or (NUMBERS if column.kind == "int" else TEXTS))


# Queries.


class Source(NamedTuple):
    """What a FROM names, and its columns with their kinds."""

    alias: str
    columns: tuple[tuple[str, str], ...]
    table: Table | None = None


class QueryMaker:
    """Makes queries over a schema."""

    def __init__(self, schema: Schema, rng: random.Random) -> None:
        self._schema, self._rng = schema, rng
        self._n = 0
        self._left = 3
        self._named: list[Source] = []

    def _chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def query(self) -> str:
        """Make a query."""
        self._n, self._left, self._named = 0, 3, []
        head = ""
        if self._chance(0.12):
            kinds = self._kinds(2)
            body = self._select(kinds, ())
            self._named.append(Source("w", tuple((f"c{i}", k) for i, k in enumerate(kinds))))
            head = f"WITH w AS ({body}) "
        kinds = self._kinds(3)
        n = self._rng.choice((1, 1, 1, 1, 1, 2, 2, 3))
        arms = [self._select(kinds, ()) for _ in range(n)]
        operator = self._rng.choice(("UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT"))
        text = f" {operator} ".join(arms)
        if self._chance(0.15):
            places = [f"{i + 1}{self._rng.choice(('', ' DESC'))}" for i in range(len(kinds))]
            text += f" ORDER BY {', '.join(places)}"
            if self._chance(0.3):
                text += f" LIMIT {self._rng.choice((0, 1, 2))}"
        return head + text

    def _kinds(self, most: int) -> list[str]:
        return [self._rng.choice(KINDS) for _ in range(self._rng.randint(1, most))]

    def _select(
        self, kinds: Sequence[str], outer: tuple[Source, ...], *, plain: bool = False
    ) -> str:
        sources, from_ = self._from(outer)
        parts = [f"FROM {from_}"]
        if outer or self._chance(0.7):
            parts.append(f"WHERE {self._condition(sources, outer, 2)}")
        style = self._rng.random()
        head = "SELECT "
        if plain or style < 0.5:
            shown = [self._value(sources, outer, kind) for kind in kinds]
            if self._chance(0.25):
                head += "DISTINCT "
            elif not plain and not outer and self._chance(0.15):
                shown = [
                    self._window(sources) if kind == "int" and self._chance(0.7) else value
                    for value, kind in zip(shown, kinds, strict=True)
                ]
        elif style < 0.62:
            shown = [self._aggregate(sources, kind) for kind in kinds]
        else:
            shown = self._grouped(kinds, sources, parts)
            if self._chance(0.12):
                head += "DISTINCT "
        listed = [f"{value} AS c{i}" for i, value in enumerate(shown)]
        return " ".join([head + ", ".join(listed), *parts])

    def _grouped(
        self, kinds: Sequence[str], sources: Sequence[Source], parts: list[str]
    ) -> list[str]:
        keys = {kind: self._column(sources, kind) for kind in dict.fromkeys(kinds)}
        listed = list(dict.fromkeys(keys.values()))
        if self._chance(0.3):
            listed = list(dict.fromkeys([*listed, self._column(sources, self._rng.choice(KINDS))]))
        listed = [key for key in listed if "." in key]
        keys = {kind: key for kind, key in keys.items() if key in listed}
        if not listed:
            return [self._aggregate(sources, kind) for kind in kinds]
        group = ", ".join(listed)
        parts.append(f"GROUP BY {group}")
        if self._chance(0.4):
            kind = self._rng.choice(list(keys) or ["int"])
            what = keys[kind] if kind in keys and self._chance(0.4) else ""
            what, kind = (what, kind) if what else (self._aggregate(sources, "int"), "int")
            compared = f"{what} {self._rng.choice(COMPARISONS)} {self._literal(kind)}"
            parts.append(f"HAVING {compared}")
        return [
            keys[kind] if kind in keys and self._chance(0.6) else self._aggregate(sources, kind)
            for kind in kinds
        ]

    def _from(self, outer: tuple[Source, ...]) -> tuple[list[Source], str]:
        source, text = self._source(outer)
        sources = [source]
        n = self._rng.choice((0, 0, 1, 1, 2)) if not outer else int(self._chance(0.25))
        for _ in range(n):
            source, further = self._source(outer)
            kind = self._rng.choice(
                ("JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
            )
            if self._chance(0.08):
                text += f" CROSS JOIN {further}"
            else:
                on = self._joined(sources, source)
                if on is None:
                    kind, on = "JOIN", self._condition([*sources, source], (), 0)
                text += f" {kind} {further} ON {on}"
            sources.append(source)
        return sources, text

    def _joined(self, sources: Sequence[Source], source: Source) -> str | None:
        pairs = [
            f"{one.alias}.{column.name} = {other.alias}.id"
            for first in sources
            for one, other in ((first, source), (source, first))
            if one.table is not None and other.table is not None
            for column in one.table.columns
            if column.other == other.table.name
        ]
        alike = [
            f"{first.alias}.{name} = {source.alias}.{own}"
            for first in sources
            for name, kind in first.columns
            for own, own_kind in source.columns
            if kind == own_kind
        ]
        chosen = pairs if pairs and self._chance(0.65) else alike
        if not chosen:
            return None
        on = self._rng.choice(chosen)
        if self._chance(0.25):
            on += f" AND {self._condition([self._rng.choice([*sources, source])], (), 0)}"
        return on

    def _source(self, outer: tuple[Source, ...]) -> tuple[Source, str]:
        self._n += 1
        alias = f"x{self._n}"
        if self._named and self._chance(0.5):
            return Source(alias, self._named[0].columns), f"w AS {alias}"
        if self._left > 0 and not outer and self._chance(0.15):
            self._left -= 2
            kinds = self._kinds(2)
            columns = tuple((f"c{i}", kind) for i, kind in enumerate(kinds))
            return Source(alias, columns), f"({self._select(kinds, ())}) AS {alias}"
        table = self._rng.choice(self._schema)
        columns = tuple((column.name, column.kind) for column in table.columns)
        return Source(alias, columns, table), f"{table.name} AS {alias}"

    def _literal(self, kind: str) -> str:
        if kind == "text":
            return f"'{self._rng.choice(TEXTS)}'"
        return str(self._rng.choice(NUMBERS))

    def _column(self, sources: Sequence[Source], kind: str) -> str:
        found = [f"{s.alias}.{name}" for s in sources for name, k in s.columns if k == kind]
        return self._rng.choice(found) if found else self._literal(kind)

    def _value(self, sources: Sequence[Source], outer: tuple[Source, ...], kind: str) -> str:
        style, column = self._rng.random(), self._column(sources, kind)
        if style < 0.78:
            return column
        if style < 0.82:
            return self._literal(kind)
        if style < 0.87 and kind == "int":
            other = self._rng.choice((self._column(sources, "int"), self._literal("int")))
            return f"({column} {self._rng.choice('+-*')} {other})"
        if style < 0.91:
            condition = self._condition(sources, outer, 0)
            return f"CASE WHEN {condition} THEN {column} ELSE {self._literal(kind)} END"
        if style < 0.94:
            return f"COALESCE({column}, {self._literal(kind)})"
        if style < 0.97 and self._left > 0 and not outer:
            self._left -= 1
            return f"({self._scalar(kind, tuple(sources))})"
        return f"UPPER({column})" if kind == "text" else column

    def _scalar(self, kind: str, outer: tuple[Source, ...]) -> str:
        sources, from_ = self._from(outer)
        where = self._condition(sources, outer, 0)
        shown = self._aggregate(sources, kind)
        return f"SELECT {shown} FROM {from_} WHERE {where}"

    def _aggregate(self, sources: Sequence[Source], kind: str) -> str:
        if kind == "text":
            return f"{self._rng.choice(('MIN', 'MAX'))}({self._column(sources, 'text')})"
        if self._chance(0.3):
            return "COUNT(*)"
        name = self._rng.choice(("COUNT", "COUNT", "SUM", "AVG", "MIN", "MAX"))
        distinct = "DISTINCT " if self._chance(0.2) else ""
        argued = self._column(sources, self._rng.choice(KINDS) if name == "COUNT" else "int")
        return f"{name}({distinct}{argued})"

    def _window(self, sources: Sequence[Source]) -> str:
        name = self._rng.choice(
            ("COUNT(*)", "RANK()", "DENSE_RANK()", f"SUM({self._column(sources, 'int')})")
        )
        parts = []
        if self._chance(0.7):
            parts.append(f"PARTITION BY {self._column(sources, self._rng.choice(KINDS))}")
        if "RANK" in name or self._chance(0.4):
            parts.append(f"ORDER BY {self._column(sources, self._rng.choice(KINDS))}")
        return f"{name} OVER ({' '.join(parts)})"

    def _condition(self, sources: Sequence[Source], outer: tuple[Source, ...], depth: int) -> str:
        style = self._rng.random()
        if depth and style < 0.35:
            n = self._rng.choice((2, 2, 3))
            parts = [self._condition(sources, outer, depth - 1) for _ in range(n)]
            return f"({self._rng.choice((' AND ', ' AND ', ' OR ')).join(parts)})"
        if depth and style < 0.42:
            return f"NOT ({self._condition(sources, outer, depth - 1)})"
        if depth and style < 0.62 and self._left > 0:
            self._left -= 1
            return self._subquery(sources)
        return self._compared(sources, outer)

    def _compared(self, sources: Sequence[Source], outer: tuple[Source, ...]) -> str:
        kind, style = self._rng.choice(("int", "int", "text")), self._rng.random()
        left = self._column(outer if outer and self._chance(0.2) else sources, kind)
        if outer and self._chance(0.6):
            return f"{self._column(sources, kind)} = {self._column(outer, kind)}"
        choices: list[str] = [self._literal(kind) for _ in range(self._rng.choice((1, 2, 3)))]
        negated = self._rng.choice(("", "", "NOT "))
        if style < 0.1:
            return f"{left} BETWEEN {self._literal(kind)} AND {self._literal(kind)}"
        if style < 0.2:
            return f"{left} {negated}IN ({', '.join(choices)})"
        if style < 0.3:
            return f"{left} IS {negated}NULL"
        if style < 0.36:
            pattern = self._rng.choice(("a%", "%b", "_", "%"))
            return f"{self._column(sources, 'text')} {negated}LIKE '{pattern}'"
        if style < 0.4:
            return self._rng.choice(("1 = 1", "1 = 2", "1 = 1"))
        if style < 0.43:
            return f"{left} = NULL"
        if style < 0.47:
            fallback = self._literal(kind)
            return f"COALESCE({left}, {fallback}) = {self._rng.choice((fallback, choices[0]))}"
        if style < 0.52:
            inner = f"CASE WHEN {left} = {choices[0]} THEN 1 ELSE 0 END"
            return f"{inner} = {self._rng.choice('01')}"
        right = choices[0] if style < 0.8 else self._column(sources, kind)
        return f"{left} {self._rng.choice(COMPARISONS)} {right}"

    def _subquery(self, sources: Sequence[Source]) -> str:
        kind, style = self._rng.choice(KINDS), self._rng.random()
        outer = tuple(sources) if self._chance(0.6) else ()
        negated = self._rng.choice(("", "", "NOT "))
        if style < 0.4:
            inner = self._select([kind], outer, plain=self._chance(0.8))
            return f"{self._column(sources, kind)} {negated}IN ({inner})"
        if style < 0.8:
            return f"{negated}EXISTS ({self._select([kind], outer, plain=self._chance(0.8))})"
        left = self._column(sources, kind)
        return f"{left} {self._rng.choice(COMPARISONS)} ({self._scalar(kind, outer)})"


def random_queries(schema: Schema, rng: random.Random) -> Iterator[str]:
    """Yield queries over a schema, without end."""
    maker = QueryMaker(schema, rng)
    while True:
        yield maker.query()
