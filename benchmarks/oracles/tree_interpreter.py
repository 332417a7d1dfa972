"""
What a tree means, as plainly as it can be said: what engines and rules are held to.

A query has the results that it allows.  Where an ORDER BY under a LIMIT, a rank or a column that
is neither grouped by nor aggregated leaves a choice, every choice is gone through.  A query inside
of another that names no column around it chooses once, and so does what WITH names.

Equal values may differ in what functions see of them: 'a' and 'A' in MySQL, 1 and 1.0, a day and
its midnight.  Which of them stands for all is a choice, too.
"""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations, groupby, permutations
from math import comb, fsum
from typing import Any, Final, TypeAlias, TypeVar

import attrs

from scorekit._sql.meaning.tree import (
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Derived,
    Exists,
    Function,
    InQuery,
    IsNull,
    Join,
    Like,
    Literal,
    Negative,
    Not,
    Or,
    Ordered,
    OrderItem,
    Place,
    Query,
    Scalar,
    ScalarQuery,
    Scan,
    Select,
    SetOperation,
    Source,
    Star,
    Table,
    Window,
    Windowed,
    free_sources,
    integer,
    local_sources,
)
from scorekit._sql.meaning.unsettled import bare_columns

_T = TypeVar("_T")
Value: TypeAlias = Any
Row: TypeAlias = tuple[Value, ...]
Database: TypeAlias = Mapping[str, tuple[Sequence[str], Sequence[Row]]]
"""By table, the names of its columns and its rows."""
Result: TypeAlias = tuple[tuple[Row, ...], ...]
"""Rows that tie in the order of the query, sorted; all of them where it has none."""
Env: TypeAlias = dict[Source, Mapping[str, Value]]

MAX_RESULTS: Final = 1_000
MAX_TIED: Final = 6
"""Rows that tie and are gone through in all orders."""


class MeaninglessError(Exception):
    """A tree holds something that has no meaning here: a mistake, or a function not known."""


class TooManyError(Exception):
    """A query allows too many results."""


@attrs.frozen
class _Context:
    """Where an expression is evaluated: a row, and the rows of its group if it is one."""

    env: Env
    group: tuple[Env, ...] | None = None
    places: Row = ()


class _Nulls(dict[str, Value]):
    def __missing__(self, key: str) -> Value:
        return None


class Interpreter:
    """Runs trees on one database."""

    def __init__(self, database: Database, dialect: str | None = "sqlite") -> None:
        self._database = {name.casefold(): table for name, table in database.items()}
        self._dialect = dialect
        self._uncased = dialect == "mysql"
        self._taken: list[list[int]] = []
        self._n_chosen = 0
        self._closed: dict[object, list[Row]] = {}

    def allowed(self, query: Query) -> frozenset[Result]:
        """Return every result that a query allows."""
        found: set[Result] = set()
        self._taken = []
        for _ in range(MAX_RESULTS):
            self._n_chosen, self._closed = 0, {}
            found.add(self._result(query))
            while self._taken and self._taken[-1][0] + 1 == self._taken[-1][1]:
                self._taken.pop()
            if not self._taken:
                return frozenset(found)
            self._taken[-1][0] += 1
        raise TooManyError

    def _choose(self, n: int) -> int:
        """Return one of the numbers below *n*; each run of the query returns another."""
        if n == 1:
            return 0
        if self._n_chosen == len(self._taken):
            self._taken.append([0, n])
        self._n_chosen += 1
        return self._taken[self._n_chosen - 1][0]

    def _one_of(self, things: Iterable[_T], seen: Callable[[_T], object]) -> _T:
        """Return one of several things that are equal; each run another that looks different."""
        kinds = list({seen(thing): thing for thing in things}.values())
        return kinds[self._choose(len(kinds))]

    # Equal values.

    def _comparable(self, value: Value) -> tuple[bool, int, Value]:
        """Return what values are sorted by: NULL, numbers, texts, times."""
        if isinstance(value, str):
            return True, 1, value.casefold() if self._uncased else value
        if isinstance(value, dt.date):
            return True, 2, _moment(value)
        return value is not None, 0, 0 if value is None else value

    def _compared(self, sign: str, left: Value, right: Value) -> bool | None:
        if left is None or right is None:
            return None
        if isinstance(left, dt.date) or isinstance(right, dt.date):
            left, right = _moment(left), _moment(right)
        return _COMPARISONS[sign](self._comparable(left), self._comparable(right))

    def _key(self, values: Iterable[Value]) -> Row:
        """Return what rows that are equal have in common."""
        return tuple(map(self._comparable, values))

    def _in(self, rows: list[Row], values: Row) -> bool | None:
        unknown = False
        for row in rows:
            equal = [self._compared("=", *pair) for pair in zip(row, values, strict=True)]
            if all(equal):
                return True
            unknown |= False not in equal
        return None if unknown else False

    def _aggregate(self, name: str, values: list[Value], *, distinct: bool) -> Value:
        kept = [value for value in values if value is not None]
        if distinct:
            kept = [*{self._comparable(value): value for value in kept}.values()]
        if name == "count":
            return len(kept)
        if not kept:
            return None
        if name in ("min", "max"):
            bound = (min if name == "min" else max)(map(self._comparable, kept))
            return self._one_of((v for v in kept if self._comparable(v) == bound), _look)
        total = _sum(kept)
        return total if name == "sum" else total / len(kept)

    # Queries.

    def _result(self, query: Query) -> Result:
        if isinstance(query, Ordered):
            return tuple(_sorted(group) for group in self._tied(query, {}))
        return (_sorted(self.rows(query, {})),)

    def rows(self, query: Query, env: Env) -> list[Row]:
        """Return the rows of a query, in no order."""
        if free_sources(query):
            return self._rows(query, env)
        if query not in self._closed:
            self._closed[query] = self._rows(query, env)
        return self._closed[query]

    def _rows(self, query: Query, env: Env) -> list[Row]:
        if isinstance(query, Select):
            return [row for row, _ in self._select(query, env)]
        if isinstance(query, SetOperation):
            return self._set_operation(query, env)
        if isinstance(query, Windowed):
            return self._windowed(query, env)
        assert isinstance(query, Ordered)
        return [row for group in self._tied(query, env) for row in group]

    def _select(self, query: Select, env: Env) -> list[tuple[Row, _Context]]:
        envs = [
            one
            for one in self._product(query.tables, env)
            if self.value(query.where, _Context(one)) is True
        ]
        if query.keys is not None or query.aggregates:
            contexts = list(self._groups(query, envs, env))
            contexts = [one for one in contexts if self.value(query.having, one) is True]
        else:
            contexts = [_Context(one) for one in envs]
        rows = [
            (tuple(cell for output in query.outputs for cell in self._cells(output, one)), one)
            for one in contexts
        ]
        if not query.distinct:
            return rows
        alike: dict[Row, list[tuple[Row, _Context]]] = {}
        for row, one in rows:
            alike.setdefault(self._key(row), []).append((row, one))
        return [self._one_of(same, lambda pair: _looks(pair[0])) for same in alike.values()]

    def _cells(self, output: Scalar, context: _Context) -> list[Value]:
        if isinstance(output, Star):
            return list(context.env[output.source].values())
        return [self.value(output, context)]

    def _groups(self, query: Select, envs: list[Env], env: Env) -> Iterator[_Context]:
        by_key: dict[Row, list[Env]] = {}
        for one in envs:
            by_key.setdefault(
                self._key(self.value(k, _Context(one)) for k in query.keys or ()), []
            ).append(one)
        if query.keys is None and not by_key:
            nulls = {source: _Nulls() for source in local_sources(query.tables)}
            yield _Context({**env, **nulls}, ())
        bare = (*bare_columns(query), *(query.keys or ()))
        for group in by_key.values():
            shown = self._one_of(
                group, lambda one: _looks(self.value(each, _Context(one)) for each in bare)
            )
            yield _Context(shown, tuple(group))

    def _product(self, tables: Sequence[Table], env: Env) -> list[Env]:
        envs, left = [env], list(tables)
        while left:
            unbound = {source for table in left for source in local_sources([table])}
            table = next(t for t in left if not free_sources(t) & unbound)
            left.remove(table)
            envs = [more for one in envs for more in self._table(table, one)]
        return envs

    def _table(self, table: Table, env: Env) -> list[Env]:
        if isinstance(table, Scan):
            columns, rows = self._database[table.source.table.casefold()]
            names = [column.casefold() for column in columns]
            return [{**env, table.source: dict(zip(names, row, strict=True))} for row in rows]
        if isinstance(table, Derived):
            if table.shared:
                key = ("shared", table.shared)
                if key not in self._closed:
                    self._closed[key] = self.rows(table.query, env)
                rows = self._closed[key]
            else:
                rows = self.rows(table.query, env)
            return [{**env, table.source: {str(i): v for i, v in enumerate(row)}} for row in rows]
        assert isinstance(table, Join)
        return self._join(table, env)

    def _join(self, join: Join, env: Env) -> list[Env]:
        found: list[Env] = []
        right = self._table(join.right, env) if join.kind == "full" else []
        met: set[int] = set()
        for mine in self._table(join.left, env):
            others = [{**mine, **one} for one in right] or self._table(join.right, mine)
            partners = [
                i for i, o in enumerate(others) if self.value(join.condition, _Context(o)) is True
            ]
            met.update(partners)
            found += [others[i] for i in partners]
            if join.kind != "inner" and not partners:
                found.append({**mine, **_nulls(join.right)})
        lonely = (one for i, one in enumerate(right) if i not in met)
        return found + [{**one, **_nulls(join.left)} for one in lonely]

    def _set_operation(self, query: SetOperation, env: Env) -> list[Row]:
        several = [self.rows(arm, env) for arm in query.arms]
        if self._dialect != "sqlite":  # which converts nothing
            several = _of_common_types(several)
        first, *others = several
        if query.operator == "union" and not query.distinct:
            return [row for rows in (first, *others) for row in rows]
        alike: dict[Row, list[Row]] = {}
        for row in (*first, *(row for rows in others for row in rows)):
            alike.setdefault(self._key(row), []).append(row)
        if query.operator != "union":  # the first arm gives the rows
            own = frozenset(map(_looks, first))
            alike = {k: [r for r in rows if _looks(r) in own] for k, rows in alike.items()}
        bag = Counter(map(self._key, first))
        bag = Counter({*bag}) if query.distinct else bag
        for rows in others:
            other = Counter(map(self._key, rows))
            other = Counter({*other}) if query.distinct else other
            if query.operator == "union":
                bag = bag + other
            else:
                bag = bag & other if query.operator == "intersect" else bag - other
            if query.distinct:
                bag = Counter({*bag})
        return [self._one_of(alike[key], _looks) for key in bag.elements()]

    # Order.

    def _tied(self, query: Ordered, env: Env) -> list[list[Row]]:
        """Return the rows of a query with LIMIT, in groups that tie in its order."""
        if isinstance(query.query, Select):
            pairs = self._select(query.query, env)
        else:
            pairs = [(row, _Context(env, None, row)) for row in self.rows(query.query, env)]
        groups = [
            [row for row, _ in group]
            for group in self._in_order(pairs, query.items, lambda pair: pair[1])
        ]
        start = self._bound(query.offset) or 0
        limit = self._bound(query.limit)
        end = sum(map(len, groups)) if limit is None else start + limit
        found: list[list[Row]] = []
        at = 0
        for group in groups:
            low, high = max(start - at, 0), min(end - at, len(group))
            at += len(group)
            if low < high:
                if comb(len(group), high - low) > MAX_RESULTS:
                    raise TooManyError
                parts = combinations(_sorted(group), high - low)
                found.append([*self._one_of(parts, lambda part: tuple(map(_looks, part)))])
        return found

    def _bound(self, bound: Scalar | None) -> int | None:
        number = None if bound is None else self.value(bound, _Context({}))
        return None if number is None or number < 0 else int(number)

    def _in_order(
        self, things: Iterable[Any], items: Sequence[OrderItem], context: Callable[[Any], _Context]
    ) -> list[list[Any]]:
        def key(thing: Any) -> list[Any]:
            return [self.value(item.value, context(thing)) for item in items]

        found = [(key(thing), thing) for thing in things]
        for i, item in reversed([*enumerate(items)]):
            found.sort(key=lambda pair: self._comparable(pair[0][i]), reverse=item.descending)
            found.sort(key=lambda pair: (pair[0][i] is None) != item.nulls_first)
        return [
            [t for _, t in group] for _, group in groupby(found, lambda pair: self._key(pair[0]))
        ]

    def _windowed(self, query: Windowed, env: Env) -> list[Row]:
        rows = self.rows(query.query, env)
        rows = [row for tied in self._classes(query, rows) for row in self._permuted(tied)]
        columns = [self._window(window, rows) for window in query.windows]
        return [(*row, *(column[i] for column in columns)) for i, row in enumerate(rows)]

    def _classes(self, query: Windowed, rows: list[Row]) -> list[list[Row]]:
        """Return rows in classes whose order some window leaves open: all windows choose alike."""
        classes = [[row] for row in rows]
        for window in filter(_is_arbitrary, query.windows):
            values = [*window.keys, *(item.value for item in window.items)]
            merged: list[list[Row]] = []
            for one in classes:
                seen = {
                    self._key(self.value(v, _Context({}, None, row)) for v in values)
                    for row in one
                }
                alike = [
                    other
                    for other in merged
                    if any(
                        self._key(self.value(v, _Context({}, None, row)) for v in values) in seen
                        for row in other
                    )
                ]
                merged = [other for other in merged if other not in alike]
                merged.append([row for other in (*alike, one) for row in other])
            classes = merged
        return classes

    def _permuted(self, rows: list[Row]) -> list[Row]:
        if len(rows) > MAX_TIED:
            raise TooManyError
        ways = permutations(_sorted(rows))
        return [*self._one_of(ways, lambda way: tuple(map(_looks, way)))]

    def _window(self, window: Window, rows: list[Row]) -> list[Value]:
        def context(i: int) -> _Context:
            return _Context({}, None, rows[i])

        found: list[Value] = [None] * len(rows)
        parts: dict[Row, list[int]] = {}
        for i in range(len(rows)):
            key = self._key(self.value(k, context(i)) for k in window.keys)
            parts.setdefault(key, []).append(i)
        for part in parts.values():
            peers = self._in_order(part, window.items, context)
            flat = [i for group in peers for i in group]
            operands = [[self.value(o, context(i)) for o in window.operands] for i in flat]
            starts = [at for at, group in _with_starts(peers) for _ in group]
            sizes = [len(group) for group in peers for _ in group]
            for at, i in enumerate(flat):
                frame = window.frame
                low, high = (
                    (starts[at], starts[at] + sizes[at]) if frame.unit == "range" else (at, at + 1)
                )
                if frame.unit == "range" and {frame.start, frame.end} - {None, 0}:
                    raise MeaninglessError("a range by distance")
                low = 0 if frame.start is None else max(0, low + frame.start)
                high = len(flat) if frame.end is None else min(len(flat), high + frame.end)
                found[i] = self._at(
                    window,
                    operands,
                    at,
                    (starts[at], sizes[at]),
                    range(low, high),
                    len({*starts[: at + 1]}),
                )
        return found

    def _at(  # noqa: PLR0917 - where a row stands
        self,
        window: Window,
        operands: list[list[Value]],
        at: int,
        peers: tuple[int, int],
        frame: range,
        dense: int,
    ) -> Value:
        name, n = window.function, len(operands)
        if name in _AGGREGATES:
            values = [operands[i][0] if operands[i] else 1 for i in frame]
            return self._aggregate(name, values, distinct=window.distinct)
        if name in ("lag", "lead"):
            distance = operands[at][1]
            place = at - distance if name == "lag" else at + distance
            default = operands[at][2] if len(operands[at]) > 2 else None
            return operands[place][0] if 0 <= place < n else default
        if name == "ntile":
            size, more = divmod(n, operands[at][0])
            border = more * (size + 1)
            return at // (size + 1) + 1 if at < border else more + (at - border) // size + 1
        if name in ("first_value", "last_value", "nth_value"):
            place = {"first_value": 0, "last_value": -1}.get(name)
            place = operands[at][1] - 1 if place is None else place
            return operands[frame[place]][0] if -1 <= place < len(frame) and frame else None
        return {
            "row_number": at + 1,
            "rank": peers[0] + 1,
            "dense_rank": dense,
            "percent_rank": peers[0] / (n - 1) if n > 1 else 0.0,
            "cume_dist": sum(peers) / n,
        }[name]

    # Expressions.

    def value(self, node: Scalar, context: _Context) -> Value:  # noqa: C901, PLR0911, PLR0912 - one per kind
        """Return the value of an expression."""

        def of(part: Scalar) -> Value:
            return self.value(part, context)

        if isinstance(node, Column):
            row = context.env[node.source]
            return row[node.name.casefold()]
        if isinstance(node, Literal):
            return _literal(node)
        if isinstance(node, Place):
            return context.places[node.number]
        if isinstance(node, Comparison):
            return self._compared(node.operator, of(node.left), of(node.right))
        if isinstance(node, And | Or):
            deciding = isinstance(node, Or)
            values = [_truth(of(part)) for part in node.parts]
            return deciding if deciding in values else None if None in values else not deciding
        if isinstance(node, Not):
            truth = _truth(of(node.operand))
            return None if truth is None else not truth
        if isinstance(node, IsNull):
            return of(node.operand) is None
        if isinstance(node, Among):
            return self._in([(of(value),) for value in node.values], (of(node.operand),))
        if isinstance(node, InQuery):
            return self._in(self.rows(node.query, context.env), tuple(map(of, node.values)))
        if isinstance(node, Exists):
            return bool(self.rows(node.query, context.env))
        if isinstance(node, ScalarQuery):
            return self._scalar(node.query, context.env)
        if isinstance(node, Case):
            found = (when.value for when in node.whens if _truth(of(when.condition)))
            return of(next(found, node.default))
        if isinstance(node, Arithmetic):
            return self._arithmetic(node.operator, of(node.left), of(node.right))
        if isinstance(node, Negative):
            number = of(node.operand)
            return None if number is None else -number
        if isinstance(node, Like):
            escape = None if node.escape is None else of(node.escape)
            return self._like(node.operator, of(node.operand), of(node.pattern), escape)
        if isinstance(node, Cast):
            return self._cast(node, of(node.operand))
        if isinstance(node, Aggregate):
            if context.group is None:
                raise MeaninglessError("an aggregate outside of a group")
            rows = map(_Context, context.group)
            operand = integer(1) if node.operand is None else node.operand
            values = [self.value(operand, row) for row in rows]
            return self._aggregate(node.function, values, distinct=node.distinct)
        if isinstance(node, Function) and node.certain:
            return self._function(node, tuple(map(of, node.operands)))
        raise MeaninglessError(f"{node}")

    def _scalar(self, query: Query, env: Env) -> Value:
        rows = self.rows(query, env)
        if len(rows) > 1:
            if self._dialect != "sqlite":
                raise MeaninglessError("a subquery for a value finds several rows")
            if isinstance(query, Ordered):
                rows = self._tied(query, env)[0]
        return rows[self._choose(len(rows))][0] if rows else None

    def _arithmetic(self, sign: str, left: Value, right: Value) -> Value:
        if left is None or right is None or (sign in "/%" and right == 0):
            return None
        cuts = sign == "/" and self._dialect in ("sqlite", "postgres")
        if cuts and _whole(left) and _whole(right):
            return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        if sign == "%":
            return abs(left) % abs(right) * (-1 if left < 0 else 1)
        return _SIGNS[sign](*_of_one_type(left, right))

    def _like(self, name: str, value: Value, pattern: Value, escape: Value) -> Value:
        if value is None or pattern is None:
            return None
        regex, i = "", 0
        while i < len(pattern):
            sign = pattern[i]
            if sign == escape:
                i += 1
                regex += re.escape(pattern[i])
            else:
                regex += {"%": ".*", "_": "."}.get(sign, re.escape(sign))
            i += 1
        loose = name == "ilike" or self._dialect in ("sqlite", "mysql")
        flags = re.DOTALL | (re.IGNORECASE | re.ASCII if loose else 0)
        return re.fullmatch(regex, str(value), flags) is not None

    def _function(  # noqa: C901, PLR0911 - one per kind
        self, node: Function, values: tuple[Value, ...]
    ) -> Value:
        if node.name == "coalesce":
            return next((value for value in values if value is not None), None)
        if node.name in ("nullsafeeq", "nullsafeneq"):
            one, other = map(self._comparable, values)
            return (one == other) == (node.name == "nullsafeeq")
        if node.name == "is":
            return (_truth(values[0]) is values[1]) != ("negate" in node.form)
        if node.name in ("greatest", "least") and self._dialect != "sqlite":
            values = tuple(value for value in values if value is not None) or (None,)
        if node.name in ("greatest", "least"):
            if None in values:
                return None
            best = (max if node.name == "greatest" else min)(map(self._comparable, values))
            return next(value for value in values if self._comparable(value) == best)
        if node.name == "nullif":
            return None if self._compared("=", *values) else values[0]
        if node.name == "concat":
            return "".join(str(value) for value in values if value is not None)
        if node.name == "anonymous" and node.form == "this=date":
            return _days_later(*values)
        if node.name == "extract" and node.form.casefold() == "this=quarter":
            return None if values[0] is None else (_moment(values[0]).month + 2) // 3
        if node.name == "extract":
            part = getattr(_moment(values[0]), node.form.removeprefix("this=").lower(), None)
            return None if values[0] is None else part
        if node.name not in _FUNCTIONS:
            raise MeaninglessError(f"the function {node.name}")
        return None if None in values else _FUNCTIONS[node.name](*values)

    def _cast(self, node: Cast, value: Value) -> Value:
        if value is None or node.kind == "text":
            return None if value is None else str(value)
        if node.kind in ("integer", "natural") and _whole(value):
            return int(value)
        if node.kind == "real" and not isinstance(value, str):
            return float(value)
        if node.kind == "number":
            return Decimal(str(value))
        if node.kind == "time" and self._dialect != "sqlite":
            moment = _moment(value)
            return moment.date() if node.type.casefold() == "date" else moment
        raise MeaninglessError(f"{value!r} as {node.kind}")


_AGGREGATES = ("count", "sum", "avg", "min", "max")
_ARBITRARY = frozenset(
    {"row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"}
)
_SIGNS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le,
}  # fmt: skip


def _written(value: Value, written: str) -> Value:
    """Return a time in a format, and NULL for a text that is none, as SQLite does."""
    try:
        return _moment(value).strftime(written)
    except MeaninglessError:
        return None


def _days_later(value: Value, *steps: Value) -> Value:
    """Return a day some days from another, as SQLite computes it."""
    moment = _moment(value)
    for step in steps:
        found = re.fullmatch(r"([+-]?\d+) days?", step)
        if found is None:
            raise MeaninglessError(f"a step of {step}")
        moment += dt.timedelta(int(found[1]))
    return str(moment.date())


_FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {
    "abs": abs,
    "upper": str.upper,
    "lower": str.lower,
    "length": lambda value: len(str(value)),
    "dpipe": lambda one, other: f"{one}{other}",
    "substring": lambda text, start, n=None: text[start - 1 :][:n],
    "replace": lambda text, old, new: text.replace(old, new),
    "trim": lambda text: text.strip(" "),
    "strposition": lambda text, part: text.find(part) + 1,
    "tsordstotimestamp": lambda value: value,
    "tsordstodate": lambda value: value,
    "date": lambda value: str(_moment(value).date()),
    "timetostr": _written,
    "year": lambda value: _moment(value).year,
    "month": lambda value: _moment(value).month,
    "day": lambda value: _moment(value).day,
}


def _literal(node: Literal) -> Value:
    if node.kind in ("integer", "text"):
        return int(node.text) if node.kind == "integer" else node.text
    if node.kind == "number":
        return float(node.text)
    return None if node.kind == "null" else node.text == "true"


def _truth(value: Value) -> bool | None:
    return None if value is None else bool(value)


def _whole(value: Value) -> bool:
    return isinstance(value, int)


def _moment(value: Value) -> dt.datetime:
    if isinstance(value, dt.datetime):
        return value
    try:
        return dt.datetime.fromisoformat(str(value))
    except ValueError as error:
        raise MeaninglessError(f"{value!r} as a time") from error


def _look(value: Value) -> tuple[str, str]:
    """Return what a function sees of a value."""
    return type(value).__name__, str(value)


def _looks(row: Iterable[Value]) -> tuple[tuple[str, str], ...]:
    return tuple(map(_look, row))


def _of_one_type(*values: Value) -> Iterable[Value]:
    """Return numbers as decimals or as binary fractions, not as both."""
    return map(float, values) if any(isinstance(v, float) for v in values) else values


def _of_common_types(several: list[list[Row]]) -> list[list[Row]]:
    """Return the rows of the arms of a set operation, each column of one type as far as seen."""
    columns = zip(*(row for rows in several for row in rows), strict=True)
    types: list[set[type]] = [set(map(type, column)) for column in columns]
    return [[tuple(map(_united, row, types)) for row in rows] for rows in several]


def _united(value: Value, types: set[type]) -> Value:
    """Return a value as one of several types holds it that the others can be converted to."""
    if value is None or isinstance(value, bool):
        return value
    if str in types:
        return str(value)
    if isinstance(value, dt.date):
        return _moment(value) if dt.datetime in types else value
    return next((one(value) for one in (float, Decimal) if one in types), value)


def _sum(values: list[Value]) -> Value:
    """Return a sum that does not hang on the order of what is summed, but may on parts of it."""
    if any(isinstance(value, str | dt.date) for value in values):
        raise MeaninglessError("a sum of what is no number")
    binary = any(isinstance(value, float) for value in values)
    return fsum(values) if binary else sum(values)


def _sorted(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(sorted(rows, key=lambda row: [*map(_order, row)]))


def _order(value: Value) -> tuple[bool, int, Value]:
    """Return what results are sorted by, where rows that look different are apart."""
    if isinstance(value, dt.date):
        return True, 2, _moment(value)
    text = isinstance(value, str)
    return value is not None, int(text), 0 if value is None else value


def _with_starts(groups: list[list[int]]) -> Iterator[tuple[int, list[int]]]:
    at = 0
    for group in groups:
        yield at, group
        at += len(group)


def _nulls(table: Table) -> Env:
    return {source: _Nulls() for source in local_sources([table])}


def _is_arbitrary(window: Window) -> bool:
    by_rows = window.frame.unit == "rows" and (window.frame.start, window.frame.end) != (
        None,
        None,
    )
    return window.function in _ARBITRARY or by_rows
