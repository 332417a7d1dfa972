"""Which rows make a query return something: what it joins, and what it compares with values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from scorekit._sql.databases.kinds import Column
from scorekit._sql.meaning import tree
from scorekit._sql.meaning.catalog import Catalog, catalog_of
from scorekit._sql.meaning.read import Names, read_names
from scorekit._sql.meaning.tree import Query, Scalar

Place: TypeAlias = tuple[int, str]
"""A column of one of the rows."""

_COMPARISONS = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike, exp.Glob, exp.In,
    exp.Between, exp.Is, exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip


class Aim(NamedTuple):
    """Rows that a query needs to return a row of its own, one for each table that it names."""

    tables: tuple[str, ...]
    same: Mapping[Place, Place]
    """One place for all that hold the same value."""
    conditions: tuple[tuple[Place, exp.Expr], ...]
    """What the value of a place is compared with, over the bare name of its column."""
    of_rows: tuple[tuple[int, frozenset[str], exp.Expr], ...]
    """What is compared over several columns of one row: the row, their names, the condition."""
    grouped: frozenset[Place]
    """Places that rows, or windows, are grouped by."""


def aim(
    text: exp.Expr,
    names: Mapping[str, str],
    tables: Mapping[str, Sequence[Column]],
    dialect: str,
) -> Aim:
    """
    Return the rows that a query needs.

    Args:
        text: The query.
        names: The sandbox's name for each table as written.
        tables: Their columns.
        dialect: What the query is written in.
    """
    catalog = catalog_of({name: tables[table] for name, table in names.items()}, dialect)
    finder = _Finder(read_names(text, catalog), catalog, names)
    finder.look_into(text)
    places = [
        (i, name)
        for i, table in enumerate(finder.rows)
        for name in (column.name for column in tables[table])
    ]
    return Aim(
        tuple(finder.rows),
        {place: finder.root(place) for place in places},
        tuple(finder.conditions),
        tuple(finder.of_rows),
        frozenset(map(finder.root, finder.grouped)),
    )


class _Finder:
    """Gives each base table that a query names a row, and finds what its places are held to."""

    def __init__(self, meant: Names, catalog: Catalog, names: Mapping[str, str]) -> None:
        self._meant, self._catalog = meant, catalog
        self._parents: dict[Place, Place] = {}
        found = [(scan, names.get(scan.table.lower())) for scan in meant.scans]
        known = [(scan, name) for scan, name in found if name is not None]
        self._row_of = {scan: i for i, (scan, _) in enumerate(known)}
        self.rows = [name for _, name in known]
        self.conditions: list[tuple[Place, exp.Expr]] = []
        self.of_rows: list[tuple[int, frozenset[str], exp.Expr]] = []
        self.grouped: list[Place] = []

    def root(self, place: Place) -> Place:
        while place in self._parents:
            place = self._parents[place]
        return place

    def _unite(self, first: Place | None, second: Place | None) -> None:
        if first is not None and second is not None:
            one, other = self.root(first), self.root(second)
            if one != other:
                self._parents[other] = one

    # What a part of a query means: a place, if it is the value of one.

    def _place(self, value: Scalar) -> Place | None:  # noqa: PLR0911 - one a kind of node
        if isinstance(value, tree.Column):
            if value.source in self._row_of:
                return self._row_of[value.source], value.name.lower()
            query = self._catalog.derived.get(value.source)
            return None if query is None else self._output(query, int(value.name))
        if isinstance(value, tree.ScalarQuery):
            return self._output(value.query, 0)
        if isinstance(value, tree.Cast):
            return self._place(value.operand)
        if isinstance(value, tree.Aggregate) and value.function in ("min", "max"):
            return None if value.operand is None else self._place(value.operand)
        if isinstance(value, tree.Function) and value.name == "coalesce":  # what USING merges
            return self._place(value.operands[0])
        return None

    def _output(self, query: Query, place: int) -> Place | None:
        if isinstance(query, tree.Ordered | tree.Windowed):
            return self._output(query.query, place)
        if isinstance(query, tree.SetOperation):
            return self._output(query.arms[0], place)
        outputs = query.outputs
        return self._place(outputs[place]) if place < len(outputs) else None

    def _meanings(self, column: exp.Expr) -> list[Place | None]:
        """Return what a column in the text means; several times where a WITH is used so."""
        return [self._place(value) for value in self._meant.values.get(id(column), ())]

    # Conditions on places.

    def look_into(self, text: exp.Expr) -> None:
        """Look at all of a query."""
        read = self._meant.queries.get(id(text))
        for query in read or (one for several in self._meant.queries.values() for one in several):
            for part in tree.walk(query):
                self._unite_in(part)
        for node in text.walk():
            if isinstance(node, exp.Group | exp.Window):
                keys = node.args.get("partition_by") or node.expressions
                for column in (one for key in keys for one in key.find_all(exp.Column)):
                    self.grouped += filter(None, self._meanings(column))
            elif isinstance(node, _COMPARISONS):
                self._compare(node)

    def _unite_in(self, part: tree.Node) -> None:
        """Unite the places that a part of a query finds equal."""
        if isinstance(part, tree.Comparison) and part.operator == "=":
            self._unite(self._place(part.left), self._place(part.right))
        elif isinstance(part, tree.Function) and part.name == "nullsafeeq":
            self._unite(*map(self._place, part.operands))
        elif isinstance(part, tree.InQuery):
            for i, value in enumerate(part.values):
                self._unite(self._place(value), self._output(part.query, i))
        elif isinstance(part, tree.SetOperation) and part.operator != "union":
            for i in range(len(part.outputs)):
                self._unite(*(self._output(arm, i) for arm in part.arms))

    def _compare(self, node: exp.Expr) -> None:
        while isinstance(node.parent, exp.Not | exp.Paren):
            node = node.parent
        if node.find(exp.Query, exp.Count, exp.Window) is not None:
            return
        columns = list(node.find_all(exp.Column))
        for places in zip(*(self._meanings(column) for column in columns), strict=False):
            self._held(node, columns, places)

    def _held(
        self, node: exp.Expr, columns: Sequence[exp.Expr], places: Sequence[Place | None]
    ) -> None:
        """Note a condition whose columns are those places, if all are of one row."""
        quoted = [bool(column.this.args.get("quoted")) for column in columns]
        looked = {place for place in places if place is not None}
        unknown = any(p is None and not q for p, q in zip(places, quoted, strict=True))
        if not looked or unknown or len({i for i, _ in looked}) > 1:
            return
        condition = exp.Paren(this=node.copy())
        for column, place in zip(list(condition.find_all(exp.Column)), places, strict=True):
            if place is None:  # quoted, and in SQLite a string
                column.replace(exp.Literal.string(column.name))
            else:
                column.replace(exp.column(exp.to_identifier(place[1], quoted=True)))
        for part in list(condition.find_all(exp.AggFunc)):  # of one row: the row's own value
            if isinstance(part.this, exp.Expr):
                part.replace(part.this)
        first = next(place for place in places if place is not None)
        if len(looked) == 1:
            self.conditions.append((first, condition))
        else:
            self.of_rows.append((first[0], frozenset(name for _, name in looked), condition))
