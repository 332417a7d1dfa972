"""
What conditions say of dates and of texts, however an engine spells it.

A part of a date, as a year, is known by the days between which it lies; a part of a text by what
is looked for, and where.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from scorekit._sql.databases.kinds import LOOSE_TYPES
from scorekit._sql.meaning.tree import (
    NULL,
    And,
    Cast,
    Column,
    Comparison,
    Function,
    Literal,
    Not,
    Scalar,
)
from scorekit._sql.prove.rule import View
from scorekit._sql.prove.scalars import against_number, number_of

CUTS: Final = {
    (1, 4): "%Y", (1, 7): "%Y-%m", (1, 10): "%Y-%m-%d", (6, 2): "%m", (9, 2): "%d",
}  # fmt: skip
"""Formats of a date by the place and the length of what they are of an ISO text."""
_UNITS: Final = {"year": "%Y", "month": "%m", "day": "%d"}
ISO_START: Final = re.compile(r"(\d{4}(?:-\d{2})?)-?%\Z", re.ASCII)
ISO_MONTH: Final = re.compile(r"(?:%|____)-(\d{2})-(?:%|__)\Z", re.ASCII)


def text_of(value: Scalar) -> str:
    """Return the text that a literal is, and none for what is another value."""
    return value.text if isinstance(value, Literal) and value.kind == "text" else ""


def dated(value: Scalar, view: View) -> Column | None:
    """Return a column of days, times or texts that a value is or is read as."""
    if isinstance(value, Function) and value.name in ("tsordstotimestamp", "tsordstodate"):
        value = value.operands[0]
    known = view.declared(value).kind in ("time", "text")
    return value if isinstance(value, Column) and known else None


def holds_dates(column: Column, view: View, *, in_text: bool = False) -> bool:
    """Say whether a column holds dates, by its type or, if they are *in_text*, as ISO texts."""
    declared = view.declared(column)
    if declared.kind == "time" and view.dialect not in LOOSE_TYPES and not in_text:
        return True
    timed = declared.kind == "time" and declared.limits.timed
    return view.holds(column, "ISO times" if timed else "ISO dates")


def part_of_date(value: Scalar, view: View) -> tuple[Column, str, str] | None:
    """Return a column, the format of a part of its dates, and what kind of value that is here."""
    number = isinstance(value, Cast) and value.kind == "integer"
    value = value.operand if isinstance(value, Cast) and number else value
    if not isinstance(value, Function) or not value.operands:
        return None
    this, *others = value.operands
    shown = isinstance(this, Cast) and this.kind == "text"
    column = dated(this.operand if isinstance(this, Cast) and shown else this, view)
    written, kind = "", "integer" if number else "text"
    if value.name == "substring":
        places = tuple(map(number_of, others))
        written = next((its for cut, its in CUTS.items() if cut == places), "")
    elif value.name == "timetostr":
        written = text_of(others[0])
    elif value.name == "timestamptrunc":
        written, kind = {"unit=YEAR": "%Y", "unit=MONTH": "%Y-%m"}.get(value.form, ""), "day"
    else:
        unit = value.form.removeprefix("this=").lower()
        written = _UNITS.get(unit if value.name == "extract" else value.name, "")
        kind = "integer"
    known = written in (_UNITS.values() if kind == "integer" else CUTS.values())
    return (column, written, kind) if column is not None and known else None


def compared_part(other: Scalar, written: str, kind: str) -> str:
    """Return what a part of a date is compared with as it would be written, if it can be."""
    width = next(last for (_, last), its in CUTS.items() if its == written)
    if kind == "day":
        text = text_of(
            other.operand if isinstance(other, Cast) and other.kind == "time" else other
        )
        return text[:width] if text[width:] == "-01-01"[width - 4 :] else ""
    if kind == "text":
        return text_of(other) if len(text_of(other)) == width else ""
    return (
        other.text.zfill(width) if isinstance(other, Literal) and other.kind == "integer" else ""
    )


def days_of(written: str, text: str) -> tuple[Scalar, Scalar] | None:
    """Return the first day of a year, a month or a day that is written so, and the one after."""
    try:
        first = dt.datetime.strptime(text, written).date()  # noqa: DTZ007 - days without a zone
    except ValueError:
        return None
    if first.year >= dt.MAXYEAR or first.strftime(written).zfill(len(text)) != text:
        return None
    after = first + dt.timedelta(1)
    if written == "%Y-%m":
        after = (first + dt.timedelta(31)).replace(day=1)
    elif written == "%Y":
        after = first.replace(year=first.year + 1)
    return Literal("text", first.isoformat()), Literal("text", after.isoformat())


def within(
    operator: str, column: Scalar, days: tuple[Scalar, Scalar], *, swapped: bool = False
) -> Scalar:
    """Return the condition that a part of a date compares to one that has these bounds."""
    since, before = Comparison("<=", days[0], column), Comparison("<", column, days[1])
    if operator in ("=", "<>"):
        both = And((since, before))
        return both if operator == "=" else Not(both)
    if swapped:
        return since if operator == "<=" else Comparison("<=", days[1], column)
    return before if operator == "<=" else Comparison("<", column, days[0])


def month_of(part: Scalar) -> tuple[Column, str] | None:
    """Return the column whose month is equal to a number, and that as it is written."""
    if not isinstance(part, Comparison) or part.operator != "=":
        return None
    for one, other in ((part.left, part.right), (part.right, part.left)):
        column = one.operands[0] if isinstance(one, Function) and one.name == "month" else None
        if isinstance(column, Column) and isinstance(other, Literal):
            return column, other.text.zfill(2)
    return None


FOLDED: Final = {"lower": str.lower, "upper": str.upper}


def is_text(value: Scalar, view: View) -> bool:
    """Say whether a value is a column of texts that are compared as they are, or of its case."""
    if isinstance(value, Function) and value.name in FOLDED and view.dialect != "sqlite":
        (value,) = value.operands
    declared = view.declared(value)
    if declared.kind != "text" or declared.limits.padded or not isinstance(value, Column):
        return False
    if view.dialect != "sqlite":
        return view.dialect in ("postgres", "duckdb")
    return not declared.limits.converts and view.holds(value, "text")


def looked_for(node: Comparison) -> tuple[Scalar, str] | None:
    """Return a text that is compared or searched, and for what."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if node.operator == "=" and text_of(other):
            return one, text_of(other)
    sign, one, number = against_number(node) or ("", NULL, 0)
    found = isinstance(one, Function) and one.name == "strposition"
    if isinstance(one, Function) and found and (sign, number) in ((">=", 1), ("<>", 0)):
        return one, text_of(one.operands[1])
    return None
