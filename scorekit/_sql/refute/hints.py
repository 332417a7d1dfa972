"""What queries say about the values that matter to them."""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import product
from typing import Final, NamedTuple

from sqlglot import exp

from scorekit._sql.databases.computed import NoValueError, add_time, as_date
from scorekit._sql.databases.kinds import LARGEST_INTEGER
from scorekit._sql.refute.faithful import asks_time
from scorekit._sql.refute.sandbox import NOW_TEXT, Cell

MAX_VALUES: Final = 48
"""Values that a column draws from because the queries name them."""

_MOST_COUNTED, _MOST_KEPT = 5_000, 120
_MOST_LITERALS = 8


class Hints(NamedTuple):
    """What queries say about the values that matter to them."""

    values: dict[str, list[Cell]]
    """Literals that a column is compared with, their neighbours, and texts of a pattern."""
    sizes: dict[str, list[int]]
    """Lengths that a column is compared with."""
    group: dict[str, str]
    """One name for all columns that are compared with each other."""
    n_rows: int
    """Rows that a group must have to pass a comparison with a count, or 0."""
    n_limited: int
    """Rows that LIMIT and OFFSET keep and pass over, or 0."""
    ordered: bool
    """Whether rows are placed, or numbers added or divided: rows should rarely be equal."""
    n_sources: int
    strict: dict[str, list[exp.Expr]]
    """Over the bare name of a column, that it is NULL or can be cast as queries cast it."""


def hints(trees: Iterable[Sequence[exp.Expr]]) -> Hints:
    """Return what the nodes of queries say about values."""
    hint = Hints({}, {}, {}, 0, 0, ordered=False, n_sources=0, strict={})
    for nodes in trees:
        counts = {
            node.alias.lower()
            for node in nodes
            if isinstance(node, exp.Alias) and isinstance(node.this, exp.Count)
        }
        years = [float(year) for node in nodes for year in _YEAR.findall(_text(node))]
        for node in nodes:
            if isinstance(node, exp.Predicate):
                hint = _compared(node, hint, counts, years[:_MOST_LITERALS])
            elif isinstance(node, exp.Join):
                for part in node.args.get("using") or ():
                    _unite(hint.group, part.name.lower(), part.name.lower())
            elif isinstance(node, _COMPUTED):
                _compute(node, hint.values)
            elif isinstance(node, exp.Coalesce | exp.Nullif | exp.Case):
                _note_sentinels(node, hint.values)
            if isinstance(node, exp.Cast | exp.StrToDate):
                _note_strict(node, hint)
        cuts = [node for node in nodes if isinstance(node, exp.Limit | exp.Fetch | exp.Offset)]
        kept = [literal for cut in cuts if (literal := cut.find(exp.Literal)) is not None]
        hint = hint._replace(
            n_limited=max(hint.n_limited, sum(_counts(kept, _MOST_KEPT))),
            ordered=hint.ordered or any(isinstance(node, _ORDERED) for node in nodes),
            n_sources=max(hint.n_sources, sum(isinstance(node, exp.Table) for node in nodes)),
        )
    for name, several in hint.sizes.items():
        texts = [value for value in hint.values[name] if isinstance(value, str)] or ["a"]
        hint.values[name][:0] = [text.rjust(n, "a") for n in several for text in texts]
    return hint


_COMPUTED = (
    exp.Sum, exp.Avg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Cast, exp.Substring, exp.StrPosition,
    exp.Abs, exp.Round, exp.Trunc,
)  # fmt: skip
_ORDERED = (exp.Limit, exp.Fetch, exp.Window, exp.Sum, exp.Avg, exp.Div, exp.Mod)
_SHIFTED = (exp.Interval, exp.DateAdd, exp.DateSub)
_PATTERNS = (exp.Like, exp.ILike, exp.Glob)
_PARTS = (exp.Substring, exp.TimeToStr, exp.StrPosition, exp.Extract, exp.Year)
_NUMBERS_AS_TEXT = ("7", "2.5", "12", "1.27", "3.14159")
_TEMPLATES = ("2020-02-02", "1:23.456")
_DATES = ("2020-02-02", "2021-12-31", "20200202", "202112", "2019-10-08 10:30:00")
_YEAR = re.compile(r"\A(?:19|20)\d\d(?!\d)")
_PART_OF_DATE = re.compile(r"\d{4}(?:-\d\d?)?-?|-?[01]\d-?")


def _compared(node: exp.Expr, hint: Hints, counts: Iterable[str], years: Sequence[float]) -> Hints:
    """Take in one comparison."""
    parts = [list(side.walk()) for side in node.iter_expressions()]
    nodes = [part for several in parts for part in several]
    names = _columns(parts)
    literals = [part for part in nodes if isinstance(part, exp.Literal)]
    literals += [text for part in nodes if (text := _quoted(part)) is not None]
    pattern = isinstance(node, _PATTERNS)
    near = [cell for one in literals[:MAX_VALUES] for cell in _near(one, pattern=pattern)]
    if not any(isinstance(part, exp.Query) for part in nodes):
        near += _solved(nodes, literals[:_MOST_LITERALS], years)
    starts = [NOW_TEXT] if any(map(asks_time, nodes)) else []
    if any(isinstance(part, _SHIFTED) for part in nodes):
        starts += [one.name for one in literals if _near_days(one.name)]
    near += _apart(literals[:_MOST_LITERALS], starts[:2])
    near += [] if pattern else [cell for one in literals[:_MOST_LITERALS] for cell in _twins(one)]
    measured = any(isinstance(part, exp.Length) for part in nodes)
    for name in names:
        hint.values.setdefault(name, []).extend(near)
        if measured:
            hint.sizes.setdefault(name, []).extend(_counts(literals, _MOST_KEPT))
    for name in names[1:]:
        _unite(hint.group, names[0], name)
    counted = any(isinstance(part, exp.Count) for part in nodes)
    counted = counted or not set(counts).isdisjoint(names)
    return hint._replace(
        n_rows=max([hint.n_rows, *(_counts(literals, _MOST_COUNTED) if counted else ())])
    )


def _solved(
    nodes: Sequence[exp.Expr], literals: Sequence[exp.Literal], years: Sequence[float]
) -> list[Cell]:
    """Return values for which the operands of a comparison may be equal, or nearly so."""
    found: list[Cell] = []
    near = [_near_number(literal.name)[:3] for literal in literals]
    texts = [literal.name for literal in literals if literal.is_string and literal.name != "%Y"]
    texts += [
        str(n) for own, one in zip(near, literals, strict=True) if one.is_string for n in own
    ]
    inverses = [solve for part in nodes for solve in _INVERSES.get(type(part), ())]
    if inverses:
        dated = any(isinstance(part, exp.TimeToStr) for part in nodes)
        given = [*years, float(NOW_TEXT[:4])] if dated else [own[0] for own in near if own]
        others = (*given, *_FACTORS)
        solved = [
            solve(a, b)
            for b in others
            for own in near
            for a in own[:2]
            for solve in dict.fromkeys(inverses)
            if a and b
        ]
        texts += [f"{abs(n):.0f}" for n in solved]
        solved += _FACTORS
        found += [int(n) if n == int(n) else n for n in solved if abs(n) <= LARGEST_INTEGER]
    if any(isinstance(part, _PARTS) for part in nodes):
        starts = [int(one.name) - 1 for one in literals if one.name.isdecimal()]
        places = [at for at in starts if 0 <= at < len(_TEMPLATES[0])] or [0, 5, 8]
        found += [part for text in texts for part in _overlaid(text, places)]
    return list(dict.fromkeys(found))


_FACTORS: Final = (1.0, 2.0, 10.0)
_INVERSES: Final[dict[type[exp.Expr], tuple[Callable[[float, float], float], ...]]] = {
    exp.Add: (operator.sub,),
    exp.Sub: (operator.add, operator.sub),
    exp.Mul: (lambda n, factor: n / factor,),
    exp.Div: (operator.mul,),
}


def _counts(literals: Iterable[exp.Expr], most: int) -> list[int]:
    numbers = [int(literal.name) for literal in literals if literal.name.isdecimal()]
    return [n for n in numbers if n <= most]


def _quoted(part: exp.Expr) -> exp.Literal | None:
    """Return what is quoted as a name, and in SQLite may be a string."""
    if isinstance(part, exp.Column) and isinstance(part.this, exp.Identifier):
        return exp.Literal.string(part.name) if part.this.args.get("quoted") else None
    return None


def _columns(parts: Sequence[Sequence[exp.Expr]]) -> list[str]:
    """Return columns among operands, for a query in brackets those that it returns."""
    found: list[str] = []
    for nodes in parts:
        query = next((node for node in nodes if isinstance(node, exp.Query)), None)
        shown = [item.walk() for item in query.selects] if query is not None else [nodes]
        found += [
            c.name.lower() for several in shown for c in several if isinstance(c, exp.Column)
        ]
    return list(dict.fromkeys(found))


def _compute(node: exp.Expr, values: dict[str, list[Cell]]) -> None:
    """Note texts for columns that are taken apart, or computed with as if they were numbers."""
    texts = _TEMPLATES if isinstance(node, exp.Substring | exp.StrPosition) else _NUMBERS_AS_TEXT
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES):
        return
    parts = list(node.iter_expressions())
    while parts:
        part = parts.pop()
        if isinstance(part, exp.Column):
            near = values.setdefault(part.name.lower(), [])
            near += [text for text in texts if text not in near]
        elif isinstance(part, exp.Case):
            parts += [*part.args["ifs"], *filter(None, [part.args.get("default")])]
        elif isinstance(part, exp.If):
            parts += filter(None, (part.args.get(name) for name in ("true", "false")))
        elif isinstance(part, exp.Paren | exp.Coalesce):
            parts += part.iter_expressions()


def _note_sentinels(node: exp.Expr, values: dict[str, list[Cell]]) -> None:
    """Note for columns the values that stand for them, or that a CASE compares them with."""
    parts = [part for part in node.iter_expressions() if isinstance(part, exp.Literal)]
    parts += [
        case.this for case in node.args.get("ifs") or () if isinstance(case.this, exp.Literal)
    ]
    near = [cell for part in parts[:_MOST_LITERALS] for cell in _near(part, pattern=False)[:1]]
    for column in node.this.find_all(exp.Column) if near and node.this is not None else ():
        values.setdefault(column.name.lower(), []).extend(near)


def _note_strict(node: exp.Expr, hint: Hints) -> None:
    """Note what a column is cast to, or what is computed of it alone, and texts that fit."""
    columns = {column.name.lower() for column in node.find_all(exp.Column)}
    if len(columns) != 1 or node.find(exp.AggFunc, exp.Query) is not None:
        return
    (name,) = columns
    bare = node.copy()
    for column in list(bare.find_all(exp.Column)):
        column.replace(exp.column(exp.to_identifier(name, quoted=True)))
    column, null = exp.column(exp.to_identifier(name, quoted=True)), exp.Null()
    there = exp.Not(this=exp.Is(this=bare, expression=null))
    hint.strict.setdefault(name, []).append(exp.or_(exp.Is(this=column, expression=null), there))
    hint.values.setdefault(name, [])[:0] = _DATES


def _unite(group: dict[str, str], first: str, second: str) -> None:
    old, new = group.get(second, second), group.get(first, first)
    for name in [name for name, root in group.items() if root == old]:
        group[name] = new
    group[first] = group[second] = group[old] = new


def _near(literal: exp.Literal, *, pattern: bool) -> list[Cell]:
    """Return values that a literal is equal to or like, and some that it is not."""
    text = literal.name
    if not literal.is_string:
        return [*_near_number(text)]
    if pattern:
        text = text.replace("*", "%").replace("?", "_")
        inner = text.replace("%", "").replace("_", "q")
        found = [inner, text.replace("%", "z").replace("_", "q"), "z" + inner, inner + "z"]
        dated = _overlaid(inner.strip("-"), (0, 5))[:2] if _PART_OF_DATE.fullmatch(inner) else []
        return [value.rstrip(" ") for value in (*dated, *found)]
    days = [str(day) for day in _near_days(text)]
    if not days and _PART_OF_DATE.fullmatch(text):  # of what strftime() shows
        days = [day for at in (0, 5) for day in _overlaid(text, (at,))[:1]]
    return [text, *days, text.swapcase(), text + "z", "z" + text]


def _twins(literal: exp.Literal) -> list[Cell]:
    """Return what is easily taken for a text: in another case, padded, empty; a time of a day."""
    text = literal.name
    if not literal.is_string:
        return []
    if _near_days(text):
        return [f"{text} 12:30:00"]
    # no text of spaces alone, or that ends in one: some databases take it for the one without
    padded = f" {text}" if text.strip() else text
    twins = (text.lower(), text.upper(), text.capitalize(), padded)
    return [*(twin for twin in dict.fromkeys(twins) if twin != text), ""]


def _overlaid(text: str, places: Iterable[int]) -> list[str]:
    """Return texts that hold another at some places, dates and times of a lap among them."""
    return [
        f"{base.ljust(at, 'a')[:at]}{text}{base[at + len(text) :]}"
        for base in (*_TEMPLATES, "")
        for at in places
    ]


def _near_number(text: str) -> list[int | float]:
    try:
        number = float(text)
        whole = int(number)
    except (ValueError, OverflowError):
        return []
    if number != whole:
        return [number, whole, whole + 1]
    steps = (0, 1, -1, 10, -10)  # several on each side of a bound
    return [whole + step for step in steps if abs(whole + step) <= LARGEST_INTEGER]


def _near_days(text: str) -> list[dt.date]:
    """Return the days next to one."""
    try:
        day = dt.date.fromisoformat(text)
        return [day + dt.timedelta(days=n) for n in (1, -1, 40, -40)]
    except (ValueError, OverflowError):
        return []


def _apart(literals: Sequence[exp.Literal], starts: Iterable[str]) -> list[Cell]:
    """Return days as many days, months and years before and after others as literals say."""
    found: list[Cell] = []
    for n in (int(n) for literal in literals for n in _AGO.findall(literal.name)):
        for start, unit, way in product(starts, ("day", "month", "year"), (-1, 1)):
            with suppress(NoValueError):
                day = as_date(add_time(start, way * n, unit))
                found += [day, *map(str, _near_days(day)[:2])]
    return found


_AGO = re.compile(r"\A[-+]?(\d{1,4})(?![-\d])")


def _text(node: exp.Expr) -> str:
    return node.name if isinstance(node, exp.Literal) and node.is_string else ""
