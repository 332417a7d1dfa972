"""Functions of databases as the sandbox computes them: alike everywhere, or not at all."""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
from collections.abc import Callable
from typing import Final, TypeAlias

Value: TypeAlias = int | float | str | bytes | None

_CLOSE = 1e-7
_LONGEST = 200


class NoValueError(Exception):
    """Databases differ in the value of a function, or it has none."""


def _stop(reason: str) -> None:
    raise NoValueError(reason)


# Text.  A start before the first character, or a negative length, is read otherwise everywhere.


def substr(text: str, start: int, length: int = _LONGEST) -> str:
    """Return a part of a text."""
    if start < 1 or length < 0:
        _stop("a part of a text that begins before it")
    return text[start - 1 : start - 1 + length]


def left(text: str, n: int) -> str:
    """Return the first characters of a text."""
    return substr(text, 1, n)


def right(text: str, n: int) -> str:
    """Return the last characters of a text."""
    substr(text, 1, n)
    return text[max(0, len(text) - n) :]


def trim(text: str, letters: str = " ") -> str:
    """Return a text without some letters at both ends."""
    return text.strip(letters) if letters else text


def ltrim(text: str, letters: str = " ") -> str:
    """Return a text without some letters at its beginning."""
    return text.lstrip(letters) if letters else text


def rtrim(text: str, letters: str = " ") -> str:
    """Return a text without some letters at its end."""
    return text.rstrip(letters) if letters else text


def replace(text: str | None, part: str | None, other: str | None) -> str | None:
    """Return a text with another instead of each of its parts."""
    if part == "" and other is None:
        _stop("nothing that is replaced by NULL")
    if text is None or part is None or other is None:
        return None
    return text.replace(part, other) if part else text


def lpad(text: str, n: int, fill: str = " ") -> str:
    """Fill a text from the left, or cut it, to a length."""
    return _filling(text, n, fill) + text[:n]


def _filling(text: str, n: int, fill: str) -> str:
    if n < 0 or not fill or n > _LONGEST:
        _stop("a text that cannot be filled")
    return (fill * n)[: max(0, n - len(text))]


def concat(*parts: Value) -> str:
    """Return texts one after the other, without those that are NULL."""
    return "".join(_shown(part) for part in parts if part is not None)


def concat_ws(between: Value, *parts: Value) -> str | None:
    """Return texts with another between them, without those that are NULL."""
    if between is None:
        return None
    return _shown(between).join(_shown(part) for part in parts if part is not None)


def _shown(value: Value) -> str:
    if not isinstance(value, str | int):
        _stop("a fraction as a text")
    return str(value)


def position(text: str, part: str) -> int:
    """Return where a text begins in another, from 1 on, or 0."""
    return text.find(part) + 1 if part else 1


def locate(part: str, text: str, start: int = 1) -> int:
    """Return where a text begins in another from some place on, or 0."""
    if start < 1 or not part:
        _stop("an empty text that is looked for")
    return text.find(part, start - 1) + 1


def split_part(text: str, between: str, n: int) -> str:
    """Return one of the parts of a text, or nothing."""
    if n < 1 or not between:
        _stop("a part of a text that is counted from its end")
    parts = text.split(between)
    return parts[n - 1] if n <= len(parts) else ""


def substring_index(text: str, between: str, n: int) -> str:
    """Return the first parts of a text, or its last."""
    if not between:
        return ""
    parts = text.split(between)
    return between.join(parts[:n] if n >= 0 else parts[n:])


# Numbers.  What is near a bound may be on either side of it, as decimals or as fractions.


def round_(number: float, places: int = 0) -> float:
    """Round to decimal places: databases do not agree on halves."""
    scaled = _scaled(number, places)
    if abs(abs(scaled - math.floor(scaled)) - 0.5) < _CLOSE:
        _stop("a half that is rounded")
    return round(float(number), places) + 0.0


def ceil(number: float) -> float:
    """Return the next whole number that is no less."""
    return float(math.ceil(_sure(number)))


def floor(number: float) -> float:
    """Return the next whole number that is no more."""
    return float(math.floor(_sure(number)))


def trunc(number: float, places: int = 0) -> float:
    """Cut off to decimal places."""
    cut = math.trunc(_sure(_scaled(number, places)))
    return cut / 10.0**places


def _scaled(number: float, places: int) -> float:
    if not -9 <= places <= 9:  # noqa: PLR2004 - no more digits are sure
        _stop("a number of many places")
    return float(number) * 10.0**places


def _sure(number: float) -> float:
    if number != round(number) and abs(number - round(number)) < _CLOSE:
        _stop("a number that is whole but for rounding")
    return number


def to_whole(number: float) -> int:
    """Return the nearest whole number, which all types of whole numbers hold."""
    found = int(round_(number))
    if abs(found) >= 1 << 31:
        _stop("a large whole number")
    return found


def as_decimal(number: float, digits: int, places: int) -> float:
    """Round to the decimal places of a type of so many digits."""
    found = round_(number, places)
    if abs(found) >= 10.0 ** (digits - places):
        _stop("a number of too many digits")
    return found


def power(base: float, exponent: float) -> float:
    """Return a power."""
    if base < 0 and exponent != int(exponent):
        _stop("a root of a negative number")
    return _computed(lambda: float(base) ** exponent)


def sqrt(number: float) -> float:
    """Return a square root."""
    return _computed(lambda: math.sqrt(number))


def _computed(compute: Callable[[], float]) -> float:
    try:
        return compute()
    except (ArithmeticError, ValueError):
        raise NoValueError("a number that has no such value") from None


def greatest(*values: Value) -> Value:
    """Return the greatest of several values, NULLs left out."""
    return _extreme(max, values)


def least(*values: Value) -> Value:
    """Return the least of several values, NULLs left out."""
    return _extreme(min, values)


def _extreme(choose: Callable[..., Value], values: tuple[Value, ...]) -> Value:
    there = [value for value in values if value is not None]
    if len({isinstance(value, str) for value in there}) > 1:
        _stop("values of several kinds")
    return choose(there) if there else None


# Times: texts, without a time of day at midnight.


def _moment(text: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(text)
    except (ValueError, TypeError):
        raise NoValueError("a text that is no time") from None


def _written(moment: dt.datetime) -> str:
    return moment.isoformat(" ").removesuffix(" 00:00:00")


def text_moment(text: str) -> str:
    """Return the moment that a text gives in full."""
    if not _MOMENT.fullmatch(text):
        _stop("a text that is no time")
    return _written(_moment(text))


_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?")


def text_date(text: str) -> str:
    """Return the day that a text gives."""
    return as_date(text_moment(text))


def text_number(text: str) -> float:
    """Return the number that a text gives."""
    if not _NUMBER.fullmatch(text):
        _stop("a text that is no number")
    return float(text)


def text_whole(text: str) -> int:
    """Return the whole number that a text gives."""
    number = text_number(text)
    if "." in text:
        _stop("a text that is no whole number")
    return to_whole(number)


_NUMBER: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")


def to_date(text: str | None, written: str) -> str | None:
    """Return the day of a text in a format, its first where the format has none."""
    if text is None:
        return None
    try:
        moment = dt.datetime.strptime(text, written)  # noqa: DTZ007 - days without a zone
    except ValueError:
        raise NoValueError("a text that is no time of this format") from None
    if format_time(_written(moment), written) != text or not {"%Y", "%m"} <= {
        *re.findall("%.", written)
    }:
        _stop("a time of which not all is given")
    return moment.date().isoformat()


def str_to_date(text: str | None, written: str) -> str | None:
    """Return the day of a text in a format that has all of it."""
    if set(re.findall("%.", written)) != {"%Y", "%m", "%d"}:
        _stop("a time of which not all is given")
    return to_date(text, written)


def as_date(text: str) -> str:
    """Return the day of a moment."""
    return _moment(text).date().isoformat()


_PARTS: Final[dict[str, Callable[[dt.datetime], int]]] = {
    "year": lambda t: t.year,
    "quarter": lambda t: (t.month + 2) // 3,
    "month": lambda t: t.month,
    "week": lambda t: t.isocalendar()[1],
    "day": lambda t: t.day,
    "doy": lambda t: t.timetuple().tm_yday,
    "dow": lambda t: t.isoweekday() % 7,
    "isodow": lambda t: t.isoweekday(),
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "second": lambda t: t.second,
}


def date_part(unit: str, text: str) -> float:
    """Return a part of a time as a decimal."""
    return float(_part(unit, text))


def _part(unit: str, text: str) -> int:
    if unit not in _PARTS:
        _stop(f"the {unit} of a time")
    return _PARTS[unit](_moment(text))


def extract(unit: str, text: str) -> int:
    """Return a part of a time as a whole number."""
    return int(_part(unit, text))


def _of(unit: str) -> Callable[[str], int]:
    """Return what returns a part of a time."""

    def part(text: str) -> int:
        return extract(unit, text)

    part.__name__ = unit
    return part


year, quarter, month, day = map(_of, ("year", "quarter", "month", "day"))
hour, minute, second = map(_of, ("hour", "minute", "second"))


def monthname(text: str) -> str:
    """Return the English name of a month."""
    return calendar.month_name[extract("month", text)]


def dayname(text: str) -> str:
    """Return the English name of a day of the week."""
    return calendar.day_name[extract("isodow", text) - 1]


def date_trunc(unit: str, text: str) -> str:
    """Return the beginning of a part of time."""
    moment = _moment(text)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    starts: dict[str, Callable[[], dt.datetime]] = {
        "year": lambda: midnight.replace(month=1, day=1),
        "quarter": lambda: midnight.replace(month=(moment.month - 1) // 3 * 3 + 1, day=1),
        "month": lambda: midnight.replace(day=1),
        "week": lambda: midnight - dt.timedelta(days=moment.weekday()),
        "day": lambda: midnight,
        "hour": lambda: moment.replace(minute=0, second=0, microsecond=0),
        "minute": lambda: moment.replace(second=0, microsecond=0),
    }
    if unit not in starts:
        _stop(f"the {unit} of a time")
    return _written(starts[unit]())


CODES: Final = {"Y": "year", "m": "month", "d": "day", "H": "hour", "M": "minute", "S": "second"}
"""What may follow a percent sign in a format of times: digits of a fixed number."""


def format_time(text: str, written: str) -> str:
    """Return a time in a format."""
    moment = _moment(text)
    for code, part in CODES.items():
        digits = f"{getattr(moment, part):0{4 if code == 'Y' else 2}}"
        written = written.replace(f"%{code}", digits)
    return written


def datediff(first: str, second_: str) -> int:
    """Return the days from the second time to the first."""
    return (_moment(first).date() - _moment(second_).date()).days


def boundaries(unit: str, start: str, end: str) -> int:
    """Return how many beginnings of a part of time lie between two times."""
    first, last = _moment(start), _moment(end)
    months = (last.year - first.year) * 12 + last.month - first.month
    if unit == "day":
        return (last.date() - first.date()).days
    if unit == "month":
        return months
    if unit == "year":
        return last.year - first.year
    raise NoValueError(f"a number of {unit}s")


def whole_units(unit: str, start: str, end: str) -> int:
    """Return how many whole parts of time have passed between two times."""
    first, last = _moment(start), _moment(end)
    if unit in _SECONDS:
        seconds = (last - first).total_seconds()
        return int(seconds / _SECONDS[unit])
    if last < first:
        return -whole_units(unit, end, start)
    months = (last.year - first.year) * 12 + last.month - first.month
    months -= (last.day, last.time()) < (first.day, first.time())
    if unit not in _MONTHS:
        _stop(f"a number of {unit}s")
    return months // _MONTHS[unit]


_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}


def add_time(text: str, n: int, unit: str) -> str:
    """Return a time that is later by so many parts of time; a month has its last day at most."""
    moment = _moment(text)
    try:
        if unit in _SECONDS:
            return _written(moment + dt.timedelta(seconds=n * _SECONDS[unit]))
        if unit not in _MONTHS:
            _stop(f"a time and some {unit}s")
        years, months = divmod(moment.year * 12 + moment.month - 1 + n * _MONTHS[unit], 12)
        n_days = calendar.monthrange(years, months + 1)[1]
        return _written(moment.replace(year=years, month=months + 1, day=min(moment.day, n_days)))
    except (ValueError, OverflowError, calendar.IllegalMonthError):
        raise NoValueError("a time out of range") from None


HELPERS: Final = (
    add_time, as_date, as_decimal, date_part, round_, text_date, text_moment, text_number,
    text_whole, to_whole,
)  # fmt: skip
"""What the sandbox needs besides the functions that databases have."""
