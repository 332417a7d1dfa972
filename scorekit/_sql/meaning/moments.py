"""Days and times that PostgreSQL computes of a day that is written out."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from typing import Final

from scorekit._sql.meaning.tree import Cast, Function, Literal, Scalar

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_A_FEW: Final = re.compile(r"[+-]?\d{1,4}", re.ASCII)
_UNITS: Final = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "year": (0, 12)}
"""The days and the months of each."""


def moved(operator: str, left: Scalar, right: Scalar) -> Cast | None:
    """
    Return what a day is with an interval, or a number of days, added or taken; None if not known.

    An interval makes a timestamp of a date, and a month later ends no later than that month.
    """
    if operator not in ("+", "-") or not isinstance(left, Cast):
        return None
    text, named = _text(left.operand), left.type.casefold()
    step = _interval(right)
    if step is None and named == "date" and isinstance(right, Literal) and right.kind == "integer":
        step = (int(right.text), 0) if _A_FEW.fullmatch(right.text) else None
    else:
        named = "timestamp" if named == "date" else named
    if step is None or named not in ("date", "timestamp") or not _DAY.fullmatch(text):
        return None
    n_days, n_months = (n if operator == "+" else -n for n in step)
    try:
        day = dt.date.fromisoformat(text)
        year, month = divmod(12 * day.year + day.month - 1 + n_months, 12)
        last = calendar.monthrange(year, month + 1)[1]
        day = dt.date(year, month + 1, min(day.day, last)) + dt.timedelta(n_days)
    except (ValueError, OverflowError):
        return None
    return Cast(Literal("text", day.isoformat()), "time", named.upper(), safe=False)


def _interval(value: Scalar) -> tuple[int, int] | None:
    """Return the days and the months of an interval of whole ones, in one unit."""
    if not isinstance(value, Function) or value.name != "interval" or not value.operands:
        return None
    unit = value.form.removeprefix("unit=").casefold().removesuffix("s")
    text = _text(value.operands[0])
    if unit not in _UNITS or not _A_FEW.fullmatch(text):
        return None
    n_days, n_months = _UNITS[unit]
    return int(text) * n_days, int(text) * n_months


def _text(value: Scalar) -> str:
    return value.text if isinstance(value, Literal) and value.kind == "text" else ""
