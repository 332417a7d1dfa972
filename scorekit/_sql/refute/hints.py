"""What queries say about the values that matter to them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sqlglot import exp

from scorekit._sql.kinds import LARGEST_INTEGER
from scorekit._sql.refute.sandbox import Cell

MAX_VALUES: Final = 24
"""Values that a column draws from because the queries name them."""

_MOST_COUNTED = 30


class Hints(NamedTuple):
    """What queries say about the values that matter to them."""

    values: dict[str, list[Cell]]
    """Literals that a column is compared with, their neighbours, and texts of a pattern."""
    group: dict[str, str]
    """One name for all columns that are compared with each other."""
    n_rows: int
    """Rows that a group must have to pass a comparison with a count, or 0."""
    n_limited: int
    """Rows that a LIMIT keeps, or 0."""
    placed: bool
    """Whether it counts which rows come first, so that values should rarely be equal."""
    n_sources: int


def hints(trees: Iterable[exp.Expr]) -> Hints:
    """Return what queries say about values."""
    told = Hints({}, {}, 0, 0, False, 0)  # noqa: FBT003 - nothing yet
    sizes: dict[str, list[int]] = {}
    for tree in trees:
        for node in tree.find_all(exp.Predicate, exp.Between, exp.In):
            told = _compared(node, told, sizes)
        for join in tree.find_all(exp.Join):
            for part in join.args.get("using") or ():
                _unite(told.group, part.name.casefold(), part.name.casefold())
        kept = [
            limit.find(exp.Literal) for limit in tree.find_all(exp.Limit, exp.Fetch, exp.Offset)
        ]
        told = told._replace(
            n_limited=max([told.n_limited, *_counts(filter(None, kept))]),
            placed=told.placed or tree.find(exp.Limit, exp.Fetch, exp.Window) is not None,
            n_sources=max(told.n_sources, sum(1 for _ in tree.find_all(exp.Table))),
        )
    for name, several in sizes.items():
        texts = [value for value in told.values[name] if isinstance(value, str)] or ["a"]
        told.values[name][:0] = [text.rjust(n, "a") for n in several for text in texts]
    return told


def _compared(node: exp.Expr, told: Hints, sizes: dict[str, list[int]]) -> Hints:
    """Take in one comparison."""
    parts = list(node.iter_expressions())
    literals = [lit for part in parts for lit in part.find_all(exp.Literal)]
    literals += [text for part in parts for text in _quoted(part)]
    names = _columns(parts)
    for name in names:
        near = told.values.setdefault(name, [])
        for literal in literals[:MAX_VALUES]:
            near += _near(literal, pattern=isinstance(node, exp.Like | exp.ILike))
        if any(part.find(exp.Length) is not None for part in parts):
            sizes.setdefault(name, []).extend(_counts(literals))
    for name in names[1:]:
        _unite(told.group, names[0], name)
    counted = _counts(literals) if any(part.find(exp.Count) is not None for part in parts) else []
    return told._replace(n_rows=max([told.n_rows, *counted]))


def _counts(literals: Iterable[exp.Expr]) -> list[int]:
    numbers = [int(literal.name) for literal in literals if literal.name.isdecimal()]
    return [n for n in numbers if n <= _MOST_COUNTED]


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
    parts = _PARTS_OF_DATES.fullmatch(text)
    if parts is not None:  # what strftime() or the beginning of a date is compared with
        day = f"{parts['year'] or '2020'}-{parts['month'] or '05'}-05"
        return [text, text + "z", day, day[:-1] + "6"]
    return [text, text.swapcase(), text + "z", "z" + text]


_PARTS_OF_DATES = re.compile(r"(?P<year>\d{4})(?:-(?P<month>[01]\d))?")


def _near_number(text: str) -> list[Cell]:
    try:
        number = float(text)
        whole = int(number)
    except (ValueError, OverflowError):
        return []
    if number != whole:
        return [number, whole, whole + 1]
    return [n for n in (whole, whole + 1, whole - 1) if abs(n) <= LARGEST_INTEGER]


def _near_dates(text: str) -> list[Cell]:
    try:
        day = dt.date.fromisoformat(text)
        return [(day + dt.timedelta(days=n)).isoformat() for n in (1, -1)]
    except (ValueError, OverflowError):
        return []
