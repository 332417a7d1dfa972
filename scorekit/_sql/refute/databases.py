"""Small databases on which two queries may differ, made from what the queries themselves say."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Final, NamedTuple, TypeAlias, TypeVar

import attrs
from sqlglot import exp

from scorekit._core.clock import check_time
from scorekit._sql.databases.kinds import CLOCK_TIMES, UUIDS, Column, fitted
from scorekit._sql.refute.aims import Aim, Place, aim
from scorekit._sql.refute.hints import MAX_VALUES, Hints
from scorekit._sql.refute.inference import Link, TablesRead, linked_columns
from scorekit._sql.refute.sandbox import Cell, Database

_BASE: Final[Mapping[str, tuple[Cell, ...]]] = {
    "integer": (1, 2, 3, 0),
    "natural": (1, 2, 3, 0),
    "number": (1, 2, 3, 0, 1.5),
    "real": (1.0, 2.0, 3.0, 0.0, 1.5),
    "text": ("a", "b", "c"),
    "time": ("2020-01-01", "2020-01-02", "2021-06-15", "2020-02-29"),
    "boolean": (0, 1),
    "enum": ("a", "b", "c"),
    "collated": ("a", "b", "c"),
    "unknown": ("a", "b", "c"),
}
_NULL_SHARE, _NAMED_SHARE, _FIXED_SHARE = 0.15, 0.6, 0.75
_MISSED_SHARE, _ONE_MISSED_SHARE, _MET_SHARE = 0.25, 0.8, 0.2
_TELLING_SHARE, _WIDE_SHARE, _COUNTED_SHARE, _APART_SHARE = 0.5, 0.4, 0.5, 0.25
_SHORT = (0, 0, 1, 1, 2)
_LARGEST_GROUP = 4
_MOST_ROWS, _MOST_ROWS_OF_MANY, _MANY_TABLES, _VERY_MANY_TABLES = 7, 4, 3, 24
_WITNESSES = (1, 1, 1, 2, 2, 3, 4, 5)
_TRIES = 20
_MORE = 40

_T = TypeVar("_T")
_Row: TypeAlias = tuple[Cell, ...]
_Rows: TypeAlias = "dict[str, _Filled]"

Holds: TypeAlias = Callable[[str, exp.Expr, Sequence[_Row]], list[bool]]
"""Says for each row of a table whether a condition is true."""


def linked(database: Database, links: Sequence[Link]) -> dict[str, list[_Row]]:
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


def parents_first(tables: Iterable[str], links: Sequence[Link]) -> list[str]:
    """Return tables so that rows of each can point to rows of those before; cycles stay."""
    left, found = list(tables), list[str]()
    while left:
        waiting = {link.table for link in links if link.other in left and link.other != link.table}
        ready = [name for name in left if name not in waiting] or left[:1]
        found += ready
        left = [name for name in left if name not in ready]
    return found


def in_turn(rows: Sequence[_Row], links: Sequence[Link], *, itself: bool = True) -> list[_Row]:
    """Return rows of a table so that each points to one before it, or *itself*, if possible."""
    left, found = list(rows), list[_Row]()
    while left:
        ready = [
            row
            for row in left
            if all(
                None in (key := tuple(row[i] for i in link.columns))
                or (itself and key == tuple(row[i] for i in link.others))
                or any(key == tuple(other[i] for i in link.others) for other in found)
                for link in links
            )
        ] or left[:1]
        found += ready
        left = [row for row in left if row not in ready]
    return found


@attrs.define
class _Filled:
    """The rows of a table, no two of which share a key."""

    keys: Sequence[tuple[tuple[int, ...], bool]]
    """Places of the columns of each, and whether NULLs set a row free of it."""
    rows: list[_Row] = attrs.Factory(list[_Row])
    _held: set[tuple[int, _Row]] = attrs.Factory(set[tuple[int, _Row]])
    _values: dict[int, set[Cell]] = attrs.Factory(dict[int, set[Cell]])

    def add(self, row: _Row) -> None:
        """Add a row, unless it repeats a key."""
        held: list[tuple[int, _Row]] = []
        for i, (places, free) in enumerate(self.keys):
            cells = tuple(_comparable(row[place]) for place in places)
            if not (free and None in cells):
                held.append((i, cells))
        if self._held.isdisjoint(held):
            self._held.update(held)
            self.rows.append(row)
            for place, values in self._values.items():
                values.add(row[place])

    def values(self, place: int) -> set[Cell]:
        """Return the values of a column, those of later rows too."""
        if place not in self._values:
            self._values[place] = {row[place] for row in self.rows}
        return self._values[place]


class Maker:
    """Makes databases: the same for the same tables, hints and seed."""

    def __init__(
        self,
        known: TablesRead,
        trees: Sequence[exp.Expr],
        hint: Hints,
        seed: int,
        holds: Holds,
        *,
        dialect: str | None,
    ) -> None:
        self._known, self._trees, self._hint, self._seed = known, trees, hint, seed
        self._holds, self._dialect = holds, dialect or "sqlite"
        self._used = known.used
        self._targets: dict[int, _Target] = {}
        self._tables = known.tables
        self._places = {
            name: {column.name: i for i, column in enumerate(columns)}
            for name, columns in known.tables.items()
        }
        self._keys = {
            name: [
                *((key, False) for key in known.keys.get(name, ())),
                *((one.columns, not one.nulls_equal) for one in known.unique.get(name, ())),
            ]
            for name in known.tables
        }
        self._in_key = {
            name: {column for key, _ in keys for column in key}
            for name, keys in self._keys.items()
        }
        self._links = _parents_first(known.links)
        self._drawn: dict[tuple[str, str], tuple[list[Cell], list[Cell]]] = {}
        self._more: dict[tuple[str, str], list[Cell]] = {}
        self._idle = self._without_use()

    # What a column draws from.

    def _pools(self, table: str, column: Column) -> tuple[list[Cell], list[Cell]]:
        """Return the values that the queries name for a column, and others."""
        place = table, column.name
        if place not in self._drawn:
            near: list[Cell] = [None]
            base: list[Cell] = [None]
            if place not in self._known.absent:
                near = self._allowed(table, column, self._near(column))
                base = [f for v in _base(column) if (f := fitted(v, column)) is not None]
                base = self._allowed(table, column, base)
            if not base and not near:
                base = self._further(table, column)
            self._drawn[place] = near, base
        return self._drawn[place]

    def _without_use(self) -> set[tuple[str, str]]:
        """Return the columns that neither the queries nor any constraint looks at."""
        return {
            (name, column.name)
            for name, columns in self._tables.items()
            for joined in [linked_columns(self._known, name)]
            for column in columns
            if column.name not in self._used
            and column.name not in self._in_key[name]
            and column.name not in joined
            and not any(column.name in rule.columns for rule in self._known.rules.get(name, ()))
        }

    def _near(self, column: Column) -> list[Cell]:
        """Return what the queries compare a column with, or any that it is compared with."""
        group = self._hint.group
        root = group.get(column.name, column.name)
        names = {n for n in self._column_names if group.get(n, n) == root}
        near = [v for name in sorted(names) for v in self._hint.values.get(name, ())]
        if self._dialect == "oracle":
            near = [v for v in near if v != ""]
        fitting: list[Cell] = [f for v in near if (f := fitted(v, column)) is not None]
        return list(dict.fromkeys(fitting))[:MAX_VALUES]

    @cached_property
    def _column_names(self) -> frozenset[str]:
        return frozenset(c.name for columns in self._tables.values() for c in columns)

    def _further(self, table: str, column: Column) -> list[Cell]:
        """Return further values, for columns that must differ from row to row."""
        place = table, column.name
        if place not in self._more:
            fitting: list[Cell] = [
                f
                for v in _more(
                    column, _MORE + self._hint.n_rows, cast=column.name in self._hint.strict
                )
                if (f := fitted(v, column)) is not None
            ]
            self._more[place] = self._allowed(table, column, fitting)
        return self._more[place]

    def _allowed(self, table: str, column: Column, values: list[Cell]) -> list[Cell]:
        """Return the values that pass each rule about the column alone."""
        for rule in self._known.rules.get(table, ()):
            if rule.condition is not None and rule.columns == frozenset({column.name}) and values:
                rows = [self._only(table, column.name, value) for value in values]
                passed = self._holds(table, rule.condition, rows)
                values = [v for v, ok in zip(values, passed, strict=True) if ok]
        return values

    def _only(self, table: str, name: str, value: Cell) -> _Row:
        return tuple(value if c.name == name else None for c in self._tables[table])

    # Databases.

    def database(self, i: int) -> Database:
        """
        Return database number *i*.

        Every fourth one is random: the first of these has some rows in each table, the second
        one row, the third none.  The rest are aimed at what the queries compare and join.
        """
        draw = random.Random(self._seed * 1_000_003 + i)  # noqa: S311 - nothing secret
        turn, place = divmod(i, 4)
        rows = {name: _Filled(self._key_places(name)) for name in self._tables}
        if place:
            self._aim(rows, self._target((turn + place) % len(self._trees)), draw)
        else:
            self._fill(rows, turn, draw)
        self._complete(rows, draw)
        made: dict[str, list[_Row]] = {}
        for name, columns in self._tables.items():
            must = [j for j, column in enumerate(columns) if not column.nullable]
            made[name] = [row for row in rows[name].rows if not any(row[j] is None for j in must)]
        for name, rules in self._known.rules.items():
            for rule in rules:
                if rule.condition is not None and made[name]:
                    passed = self._holds(name, rule.condition, made[name])
                    made[name] = [r for r, ok in zip(made[name], passed, strict=True) if ok]
        whole = linked(made, self._links)
        for link in self._links:
            if link.table == link.other:
                whole[link.table] = self._without_circles(whole[link.table], link)
        return whole

    def _without_circles(self, rows: Sequence[_Row], link: Link) -> list[_Row]:
        """Let rows point to rows before them, or to nothing, so that databases load them."""
        free = [i for i in link.columns if self._tables[link.table][i].nullable]
        kept, itself = list[_Row](), self._dialect != "duckdb"
        for row in in_turn(rows, [link], itself=itself):
            key = tuple(row[i] for i in link.columns)
            there = {tuple(other[i] for i in link.others) for other in kept}
            if itself:
                there.add(tuple(row[i] for i in link.others))
            is_loose = None not in key and key not in there and bool(free)
            kept.append(_replaced(row, free[0], None) if is_loose else row)
        return kept

    def _key_places(self, name: str) -> list[tuple[tuple[int, ...], bool]]:
        places = self._places[name]
        return [(tuple(places[c] for c in columns), free) for columns, free in self._keys[name]]

    def _fill(self, rows: _Rows, turn: int, draw: random.Random) -> None:
        """Add rows that nothing but keys holds together."""
        most = _MOST_ROWS if self._hint.n_sources <= _MANY_TABLES else _MOST_ROWS_OF_MANY
        for name, columns in self._tables.items():
            n = (most - 2, 1, 0)[turn] if turn < 3 else int(draw.random() * (most + 1))  # noqa: PLR2004
            if self._hint.n_sources > _VERY_MANY_TABLES:
                n = turn % 2
            for _ in range(n):
                rows[name].add(tuple(self._cell(name, c, draw) for c in columns))

    def _cell(self, name: str, column: Column, draw: random.Random) -> Cell:
        if (name, column.name) in self._idle:
            return next(iter(self._pools(name, column)[1]), None)
        key = column.name in self._in_key[name]
        # rows with a key repeat only where it is NULL
        if column.nullable and draw.random() < _NULL_SHARE * (2 if key else 1):
            return None
        named, base = self._pools(name, column)
        if named and (not base or draw.random() < _NAMED_SHARE):
            return _pick(named, draw)
        if key:
            base = [*base, *self._further(name, column)[:_MOST_ROWS]]
        return _pick(base, draw) if base else None

    # Databases that are aimed at a query.

    def _target(self, i: int) -> _Target:
        """Return what query number *i* aims at, looked for when it is first needed."""
        if i not in self._targets:
            self._targets[i] = self._reached(self._aims[i], self._aims[1 - i])
        return self._targets[i]

    @cached_property
    def _aims(self) -> list[Aim]:
        known = self._known
        return [aim(tree, known.names, known.tables, self._dialect) for tree in self._trees]

    def _reached(self, found: Aim, other: Aim) -> _Target:
        members: dict[Place, list[tuple[str, Column]]] = {}
        for i, table in enumerate(found.tables):
            for column in self._tables[table]:
                members.setdefault(found.same[i, column.name], []).append((table, column))
        pools = {root: self._common(several) for root, several in members.items()}
        passing: dict[Place, list[list[Cell]]] = {}
        for (i, name), condition in found.conditions:
            root = found.same[i, name]
            passed = self._passed(found.tables[i], name, condition, pools[root])
            passing.setdefault(root, []).append(passed)
        telling: dict[Place, list[Cell]] = {}
        compared = [_compared(one) for one in (found, other)]
        at = compared[0].keys() | compared[1].keys()
        for root, several in members.items():
            if at.isdisjoint((table, column.name) for table, column in several):
                continue
            mine, theirs = (
                {text: c for t, column in several for text, c in of.get((t, column.name), ())}
                for of in compared
            )
            if mine.keys() != theirs.keys():
                telling[root] = self._telling(mine, theirs, pools[root])
        of_rows: dict[str, list[exp.Expr]] = {}
        for i, _, condition in other.of_rows:
            of_rows.setdefault(other.tables[i], []).append(condition)
        return _Target(found, members, pools, passing, telling, of_rows)

    def _telling(
        self, mine: Mapping[str, _OnColumn], theirs: Mapping[str, _OnColumn], values: list[Cell]
    ) -> list[Cell]:
        """Return values that pass what one query asks for alone, and fail the other's."""
        passed = {
            text: self._passed(*place, condition, values)
            for text, (place, condition) in {**mine, **theirs}.items()
        }
        ours, others = (
            [passed[text] for text in one.keys() - other.keys()]
            for one, other in ((mine, theirs), (theirs, mine))
        )
        found = [
            v for v in values if all(v in some for some in ours) != all(v in s for s in others)
        ]
        shared = [passed[text] for text in mine.keys() & theirs.keys()]
        return [v for v in found if all(v in some for some in shared)] or found

    def _passed(
        self, table: str, name: str, condition: exp.Expr, values: Sequence[Cell]
    ) -> list[Cell]:
        """Return the values of a column that pass a condition on it alone."""
        rows = [self._only(table, name, value) for value in values]
        passed = self._holds(table, condition, rows) if rows else []
        return [v for v, ok in zip(values, passed, strict=True) if ok]

    def _common(self, members: Sequence[tuple[str, Column]]) -> list[Cell]:
        """Return values that each of some columns can hold."""
        (table, first), *rest = members
        place = table, first.name
        values = [value for pool in self._pools(table, first) for value in pool]
        if place not in self._known.absent and (rest or first.name in self._in_key[table]):
            values += self._further(table, first)
        values = list(dict.fromkeys(values))
        if not rest and first.nullable:
            values.append(None)
        for other, column in rest:
            values = [v for v in values if fitted(v, column) == v]
            values = self._allowed(other, column, values)
        return values

    def _aim(self, rows: _Rows, target: _Target, draw: random.Random) -> None:
        """
        Add rows that pass what they are compared with, but for some of it.

        At times they are groups of about as many rows as a count needs; or more rows than a LIMIT
        keeps, which differ in all they can, and each of which begins a larger group.
        """
        hint, tables = self._hint, target.aim.tables
        many = hint.n_sources > _VERY_MANY_TABLES
        counted = bool(hint.n_rows) and draw.random() < _COUNTED_SHARE
        apart = not counted and hint.ordered and draw.random() < _APART_SHARE
        n = _pick(_WITNESSES, draw)
        if many:
            n = 1  # row of each table, or they are too many
        elif counted:
            n = _pick((1, 1, 2), draw)
        elif apart or (hint.n_limited and draw.random() < _FIXED_SHARE):
            n = hint.n_limited + 2 + int(draw.random() * 2)
        met = counted or draw.random() < _MET_SHARE
        repeated = self._repeated(target, draw) if tables else 0
        for i in range(n):
            check_time()
            missed = set[Place]() if met else self._missed(target, draw)
            found = self._witness(target, missed, rows, draw, apart=apart)
            for table, row in zip(tables, found, strict=True):
                if not (many and rows[table].rows):
                    rows[table].add(row)
            if found and not many:
                n_more = i % _LARGEST_GROUP if apart else int(draw.random() * 3)
                n_more = hint.n_rows - _pick(_SHORT, draw) if counted else n_more
                row = found[repeated]
                together = counted or apart
                self._repeat(rows, target, repeated, row, draw, n=n_more, grouped=together)

    def _witness(
        self,
        target: _Target,
        missed: set[Place],
        rows: _Rows,
        draw: random.Random,
        *,
        apart: bool,
    ) -> list[_Row]:
        """
        Return rows that join and pass what they are compared with, except at some places.

        They hold values *apart* from those of all other rows, if possible.
        """
        values: dict[Place, Cell] = {}
        tells = list(target.telling) if draw.random() < _TELLING_SHARE else []
        at = _pick(tells, draw) if tells else None
        found: list[_Row] = []
        for i, table in enumerate(target.aim.tables):
            cells: list[Cell] = []
            for column in self._tables[table]:
                root = target.aim.same[i, column.name]
                if root not in values:
                    taken = self._taken(rows, table, column, anyway=apart)
                    place = root, table, column
                    telling = target.telling[root] if root == at else []
                    values[root] = self._value(
                        target, place, taken, telling, draw, missed=root in missed
                    )
                cells.append(values[root])
            row = tuple(cells)
            if any(i == j for j, _, _ in target.aim.of_rows):
                row = self._compared_row(target, i, row, values, draw)
            found.append(row)
        return found

    def _compared_row(
        self,
        target: _Target,
        i: int,
        row: _Row,
        values: dict[Place, Cell],
        draw: random.Random,
    ) -> _Row:
        """Return a row that passes what is compared over several of its columns, if possible."""
        table, same = target.aim.tables[i], target.aim.same
        wanted = [(names, condition) for j, names, condition in target.aim.of_rows if j == i]
        free = {name for names, _ in wanted for name in names} - self._in_key[table]
        pools = [
            target.pools[root]
            if column.name in free and len(target.members[root]) == 1
            else [cell]
            for column, cell in zip(self._tables[table], row, strict=True)
            for root in [same[i, column.name]]
        ]
        several = [row, *(tuple(_pick(pool, draw) for pool in pools) for _ in range(_TRIES))]
        passing = [self._holds(table, condition, several) for _, condition in wanted]
        passed = [all(ok) for ok in zip(*passing, strict=True)]
        theirs = [self._holds(table, c, several) for c in target.of_rows.get(table, ())]
        there = [all(ok) for ok in zip(*theirs, strict=True)] if theirs else passed
        telling = [
            r for r, ours, other in zip(several, passed, there, strict=True) if ours != other
        ]
        kept = [r for r, ok in zip(several, passed, strict=True) if ok]
        if telling and draw.random() < _TELLING_SHARE:
            kept = telling
        chosen = _pick(kept, draw) if kept and draw.random() >= _NULL_SHARE else row
        for column, cell in zip(self._tables[table], chosen, strict=True):
            values[same[i, column.name]] = cell
        return chosen

    def _missed(self, target: _Target, draw: random.Random) -> set[Place]:
        """Return the places whose conditions some rows fail: mostly none or one."""
        style = draw.random()
        if style < _NULL_SHARE or not target.passing:
            return set()
        roots = list(target.passing)
        if style < _ONE_MISSED_SHARE:
            return {_pick(roots, draw)}
        return {root for root in roots if draw.random() < _MISSED_SHARE}

    def _value(
        self,
        target: _Target,
        place: tuple[Place, str, Column],
        taken: set[Cell],
        telling: list[Cell],
        draw: random.Random,
        *,
        missed: bool,
    ) -> Cell:
        root, table, column = place
        if (table, column.name) in self._idle:
            return self._cell(table, column, draw)
        values, several = target.pools[root], target.passing.get(root, [])
        if telling:
            values, several = telling, []
        elif not several:
            values = [value for value in values if value is not None]
        for passing in _shuffled(several, draw):
            kept = [v for v in values if (v in passing) is not missed]
            values, missed = kept or values, False
        free = values is not telling and not several and len(target.members[root]) == 1
        if taken or column.name in self._in_key[table]:
            values = [v for v in values if v not in taken] or values
        elif len(target.members[root]) > 1 and draw.random() < _NULL_SHARE / 3:
            # rows that are found in both of two results may hold NULL
            values = [None] if all(c.nullable for _, c in target.members[root]) else values
        elif free:
            absent = (table, column.name) in self._known.absent
            if absent or draw.random() >= _WIDE_SHARE:
                return self._cell(table, column, draw)
            values = self._further(table, column) or values
        return _pick(values, draw) if values else None

    def _taken(
        self, rows: _Rows, table: str, column: Column, *, anyway: bool = False
    ) -> set[Cell]:
        """Return the values that a column of a key has in some row; of another, none."""
        if column.name not in self._in_key[table] and not anyway:
            return set()
        at = self._places[table][column.name]
        return rows[table].values(at)

    def _repeated(self, target: _Target, draw: random.Random) -> int:
        """Return which row to repeat: mostly one that keeps what it shares, or points to it."""
        tables = list(enumerate(target.aim.tables))
        pointed = {link.other for link in self._links}
        free = [i for i, t in tables if all(target.free(i, key) for key, _ in self._keys[t])]
        free = free or [i for i, name in tables if name not in pointed]
        return _pick(free if free and draw.random() < _FIXED_SHARE else range(len(tables)), draw)

    def _repeat(
        self,
        rows: _Rows,
        target: _Target,
        i: int,
        row: _Row,
        draw: random.Random,
        *,
        n: int,
        grouped: bool,
    ) -> None:
        """Repeat row *i* under keys of its own; others change at times, or rarely in a group."""
        name = target.aim.tables[i]
        columns = self._tables[name]
        changed = {
            _pick(target.free(i, key) or target.free(i, key, joined=True) or key, draw)
            for key, _ in self._keys[name]
        }
        others = 0.0 if grouped else _NULL_SHARE
        if grouped and draw.random() < _NULL_SHARE * 2:
            loose = target.free(i, (c.name for c in columns if c.name in self._used))
            changed |= {_pick(loose, draw)} if loose else set()
        at = self._places[name]
        fresh = {
            c: self._fresh(rows, name, columns[at[c]], draw, target, grouped=grouped)
            for c in changed
        }
        for _ in range(n):
            for column in columns:
                if column.name in changed:
                    row = _replaced(row, at[column.name], next(fresh[column.name]))
                elif column.name not in self._in_key[name] and draw.random() < others:
                    row = _replaced(row, at[column.name], self._cell(name, column, draw))
            rows[name].add(row)

    def _fresh(
        self,
        rows: _Rows,
        table: str,
        column: Column,
        draw: random.Random,
        target: _Target | None = None,
        *,
        grouped: bool = False,
    ) -> Iterator[Cell]:
        """Yield values that no row has, for a key or a group, or else any; mostly that pass."""
        apart = column.name in self._in_key[table] or (grouped and draw.random() < _COUNTED_SHARE)
        if apart and (table, column.name) not in self._known.absent:
            taken = self._taken(rows, table, column, anyway=True)
            passing = iter(target.passed(table, column.name) if target is not None else ())
            further = iter(self._further(table, column))
            while True:
                first = passing if draw.random() < _FIXED_SHARE else ()
                found = next((v for v in chain(first, further) if v not in taken), None)
                if found is None:
                    break
                yield found
        while True:
            yield self._cell(table, column, draw)

    def _complete(self, rows: _Rows, draw: random.Random) -> None:
        """Add the rows that foreign keys need."""
        for link in (*reversed(self._links), *reversed(self._links)):
            there = {tuple(row[i] for i in link.others) for row in rows[link.other].rows}
            columns = self._tables[link.other]
            fresh = [self._fresh(rows, link.other, column, draw) for column in columns]
            for row in list(rows[link.table].rows):
                key = tuple(row[i] for i in link.columns)
                if None in key or key in there:
                    continue
                there.add(key)
                alike = rows[link.other].rows if draw.random() < _FIXED_SHARE else []
                other = _pick(alike, draw) if alike else ()
                other = tuple(
                    other[j]
                    if other and column.name not in self._in_key[link.other]
                    else next(fresh[j])
                    for j, column in enumerate(columns)
                )
                for i, cell in zip(link.others, key, strict=True):
                    other = _replaced(other, i, cell)
                rows[link.other].add(other)


class _Target(NamedTuple):
    """An aim, with the values that it can be met by."""

    aim: Aim
    members: Mapping[Place, Sequence[tuple[str, Column]]]
    pools: Mapping[Place, list[Cell]]
    passing: Mapping[Place, list[list[Cell]]]
    """The values that pass each condition."""
    telling: Mapping[Place, list[Cell]]
    """The values that pass the conditions of one of the queries alone."""
    of_rows: Mapping[str, list[exp.Expr]]
    """What the other query compares over several columns of a table."""

    def free(self, i: int, names: Iterable[str], *, joined: bool = False) -> list[str]:
        """Return columns that rows are not grouped by, and no other row shares, or *joined*."""
        roots = {name: self.aim.same[i, name] for name in names}
        return [
            name
            for name, root in roots.items()
            if root not in self.aim.grouped and (joined or len(self.members[root]) == 1)
        ]

    def passed(self, table: str, column: str) -> list[Cell]:
        """Return the values of a column of the first such table that pass all conditions on it."""
        same, tables = self.aim.same, self.aim.tables
        several = self.passing.get(same[tables.index(table), column]) if table in tables else None
        first, *others = several or [[]]
        return [v for v in first if v is not None and all(v in other for other in others)]


_OnColumn: TypeAlias = tuple[tuple[str, str], exp.Expr]
_Compared: TypeAlias = dict[tuple[str, str], list[tuple[str, _OnColumn]]]
"""By table and column, conditions on it alone: each as text, and again with its place."""


def _compared(found: Aim) -> _Compared:
    compared: _Compared = {}
    for (i, name), condition in found.conditions:
        place = found.tables[i], name
        compared.setdefault(place, []).append((f"{place} {condition.sql()}", (place, condition)))
    return compared


def _parents_first(links: Sequence[Link]) -> list[Link]:
    """Order foreign keys so that a table's own come before those that point to it."""
    left, found = list(links), list[Link]()
    while left:
        waiting = {link.table for link in left}
        ready = [link for link in left if link.other not in waiting] or left[:1]
        found += ready
        left = [link for link in left if link not in ready]
    return found


def _replaced(row: _Row, i: int, cell: Cell) -> _Row:
    return (*row[:i], cell, *row[i + 1 :])


def _comparable(value: Cell) -> Cell:
    """Return what a key compares: keys may be compared whatever their case."""
    return value.lower() if isinstance(value, str) else value


def _pick(values: Sequence[_T], draw: random.Random) -> _T:
    # random() alone gives the same on every version of Python
    return values[int(draw.random() * len(values))]


def _shuffled(values: Sequence[_T], draw: random.Random) -> list[_T]:
    left = list(values)
    return [left.pop(int(draw.random() * len(left))) for _ in values]


def _base(column: Column) -> Sequence[Cell]:
    if column.limits.values:
        return column.limits.values
    if column.limits.form:
        return {"uuid": UUIDS[:3], "clock": CLOCK_TIMES}[column.limits.form]
    if column.limits.timed:
        return (*_BASE[column.kind], "2021-06-15 12:30:00")
    return _BASE[column.kind]


def _more(column: Column, n: int, *, cast: bool) -> Sequence[Cell]:
    limits, kind = column.limits, column.kind
    if limits.form == "uuid":
        return UUIDS
    if limits.form or limits.values or kind == "boolean":
        return ()
    days = [f"2022-01-{i + 1:02}" for i in range(28)]
    if kind == "time":
        return days
    if cast and kind == "text":
        return [*map(str, range(4, 4 + n)), *days]
    if kind in ("text", "collated", "unknown"):
        return (
            [f"d{i}" for i in range(n)] if limits.length != 1 else list("defghijklmnopqrstuvwxyz")
        )
    first = max(4, int(limits.least or 0))
    return [float(i) if kind == "real" else i for i in range(first, first + n)]
