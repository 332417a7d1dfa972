"""Which rows make a query return something: what it joins, and what it compares with values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sqlglot import exp

from scorekit._sql.refute.runnable import written_name

Place: TypeAlias = tuple[int, str]
"""A column of one of the rows."""

_Outputs: TypeAlias = dict[str, Place | None]
_Scopes: TypeAlias = tuple[dict[str, _Outputs], ...]

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
    shown: frozenset[Place]
    """Places that a CASE or a sum in the result compares, so that rows count which fail it."""
    grouped: frozenset[Place]
    """Places that rows are grouped by."""


def aim(tree: exp.Expr, names: Mapping[str, str], tables: Mapping[str, Sequence[str]]) -> Aim:
    """
    Return the rows that a query needs.

    Args:
        tree: The query.
        names: The sandbox's name for each table as written.
        tables: Their columns.
    """
    reader = _Reader(names, tables)
    reader.read(tree, (), {})
    places = [(i, name) for i, table in enumerate(reader.rows) for name in tables[table]]
    return Aim(
        tuple(reader.rows),
        {place: reader.root(place) for place in places},
        tuple(reader.conditions),
        tuple(reader.of_rows),
        frozenset(map(reader.root, reader.shown)),
        frozenset(map(reader.root, reader.grouped)),
    )


class _Reader:
    """Gives each table that a query names a row, and each column the place that it means."""

    def __init__(self, names: Mapping[str, str], tables: Mapping[str, Sequence[str]]) -> None:
        self._names, self._tables = names, tables
        self._parents: dict[Place, Place] = {}
        self.rows: list[str] = []
        self.conditions: list[tuple[Place, exp.Expr]] = []
        self.of_rows: list[tuple[int, frozenset[str], exp.Expr]] = []
        self.shown: list[Place] = []
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

    def read(self, query: exp.Expr, outer: _Scopes, local: Mapping[str, _Outputs]) -> _Outputs:
        """Read a query, and return the places of its columns."""
        with_ = query.args.get("with_")
        for cte in with_.expressions if with_ is not None else ():
            found = self.read(cte.this, outer, local)
            local = {**local, cte.alias.casefold(): _renamed(found, cte)}
        if isinstance(query, exp.SetOperation):
            left = self.read(query.this, outer, local)
            right = self.read(query.expression, outer, local)
            if not isinstance(query, exp.Union):
                for places in zip(left.values(), right.values(), strict=False):
                    self._unite(*places)
            return left
        if isinstance(query, exp.Subquery):
            return self.read(query.this, outer, local)
        return self._select(query, outer, local) if isinstance(query, exp.Select) else {}

    def _select(
        self, select: exp.Select, outer: _Scopes, local: Mapping[str, _Outputs]
    ) -> _Outputs:
        scope: dict[str, _Outputs] = {}
        scopes = (scope, *outer)
        sources = select.args.get("from_"), *(select.args.get("joins") or ())
        for clause in filter(None, sources):
            source = clause.this
            found = self._source(source, outer, local)
            shared = [part.name.casefold() for part in clause.args.get("using") or ()]
            if (clause.args.get("method") or "").upper() == "NATURAL":
                shared = list(found)
            for name in shared:
                for earlier in scope.values():
                    self._unite(earlier.get(name), found.get(name))
            scope[source.alias_or_name.casefold()] = found
        inner: dict[int, _Outputs] = {}
        nodes = list(_own_nodes(select))
        for node in nodes:
            if isinstance(node, exp.Query):
                inner[id(node)] = self.read(node, scopes, local)
        for node in nodes:
            if isinstance(node, _COMPARISONS):
                self._compare(node, scopes, inner)
        group = select.args.get("group")
        columns = group.find_all(exp.Column) if group is not None else ()
        self.grouped += [place for c in columns if (place := _meant(c, scopes)) is not None]
        return self._outputs(select, scopes)

    def _source(self, source: exp.Expr, outer: _Scopes, local: Mapping[str, _Outputs]) -> _Outputs:
        if isinstance(source, exp.Subquery):
            return _renamed(self.read(source, outer, local), source)
        if not isinstance(source, exp.Table):
            return {}
        name = written_name(source)
        if name in local:
            return _renamed(local[name], source)
        if name not in self._names:
            return {}
        table = self._names[name]
        self.rows.append(table)
        found: _Outputs = {column: (len(self.rows) - 1, column) for column in self._tables[table]}
        return _renamed(found, source)

    def _outputs(self, select: exp.Select, scopes: _Scopes) -> _Outputs:
        found: _Outputs = {}
        for i, item in enumerate(select.expressions):
            shown = item.unalias()
            if item.is_star:
                for name, source in scopes[0].items():
                    if not isinstance(shown, exp.Column) or shown.table.casefold() == name:
                        found.update(source)
                continue
            if isinstance(shown, exp.Min | exp.Max):
                shown = shown.this
            found[item.alias_or_name.casefold() or f"{i}"] = _meant(shown, scopes)
        return found

    def _compare(self, node: exp.Expr, scopes: _Scopes, inner: Mapping[int, _Outputs]) -> None:
        sides = [part for key in ("this", "expression", "query") if (part := node.args.get(key))]
        if isinstance(node, exp.EQ | exp.In | exp.NullSafeEQ) and len(sides) > 1:
            places = [
                next(iter(inner[id(side)].values()), None)
                if id(side) in inner
                else _meant(side, scopes)
                for side in sides
            ]
            self._unite(places[0], places[1])
        while isinstance(node.parent, exp.Not | exp.Paren):
            node = node.parent
        if node.find(exp.Query, exp.Count, exp.Window) is not None:
            return
        meant = {
            _meant(column, scopes)
            for column in node.find_all(exp.Column)
            if not column.this.args.get("quoted") or _meant(column, scopes) is not None
        }
        looked = {place for place in meant if place is not None}
        if not looked or len(meant) > len(looked) or len({i for i, _ in looked}) > 1:
            return
        condition = exp.Paren(this=node.copy())
        for column in list(condition.find_all(exp.Column)):
            own = _meant(column, scopes)
            if own is None:  # quoted, and in SQLite a string
                column.replace(exp.Literal.string(column.name))
            else:
                column.replace(exp.column(exp.to_identifier(own[1], quoted=True)))
        for part in list(condition.find_all(exp.AggFunc)):  # of one row: the row's own value
            if isinstance(part.this, exp.Expr):
                part.replace(part.this)
        known = exp.Not(this=exp.Is(this=condition.copy(), expression=exp.Null()))
        passed = exp.And(this=condition, expression=known)
        first = next(iter(looked))
        if len(looked) == 1:
            self.conditions.append((first, passed))
            self.shown += [first] if _is_shown(node) else []
        else:
            self.of_rows.append((first[0], frozenset(name for _, name in looked), passed))


def _is_shown(node: exp.Expr) -> bool:
    """Say whether a node stands in the result of its query."""
    while node.parent is not None and not isinstance(node.parent, exp.Query):
        node = node.parent
    return node.arg_key == "expressions"


def _own_nodes(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the nodes of a query without its sources, and queries in it without theirs."""
    stack = [
        part
        for key, value in select.args.items()
        if key not in ("with_", "from_", "joins")
        for part in (value if isinstance(value, list) else (value,))  # pyright: ignore[reportUnknownVariableType]
        if isinstance(part, exp.Expr)
    ]
    stack += [on for join in select.args.get("joins") or () if (on := join.args.get("on"))]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, exp.Query):
            stack.extend(node.iter_expressions())


def _renamed(found: _Outputs, source: exp.Expr) -> _Outputs:
    """Return outputs under the names that an alias gives them."""
    alias = source.args.get("alias")
    columns = alias.args.get("columns") or () if isinstance(alias, exp.TableAlias) else ()
    names = [part.name.casefold() for part in columns]
    names += list(found)[len(names) :]
    return dict(zip(names, found.values(), strict=False))


def _meant(node: exp.Expr, scopes: _Scopes) -> Place | None:
    """Return the place that a column means."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    if not isinstance(node, exp.Column):
        return None
    name, qualifier = node.name.casefold(), node.table.casefold()
    for scope in scopes:
        if qualifier in scope:
            return scope[qualifier].get(name)
        for source in scope.values() if not qualifier else ():
            if name in source:
                return source[name]
    return None
