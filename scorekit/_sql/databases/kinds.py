"""What a column holds by its type: the kind of its values, and their bounds."""

from __future__ import annotations

import datetime as dt
import re
import struct
from functools import lru_cache
from typing import Final, NamedTuple

UNCASED: Final = frozenset(
    {"mysql", "tsql", "fabric", "doris", "starrocks", "singlestore", "teradata"}
)
"""Dialects in which strings that differ in case are equal, or may be, by their collation."""

UNPADDED: Final = frozenset({"sqlite", "duckdb", "mysql"})
"""Dialects in which texts of a CHAR(n) are read without the spaces that fill them."""

LOOSE_TYPES: Final = frozenset({None, "sqlite"})
"""Dialects in which a column may hold what its type does not allow."""

ADAPTING: Final = frozenset({"postgres", "duckdb"})
"""Dialects in which a text that is written out takes the type of what it stands beside."""

WHOLE: Final = frozenset({"integer", "natural"})
NUMBERS: Final = WHOLE | {"number", "real"}
"""Kinds of numbers."""
CLASSES: Final = {
    **dict.fromkeys(NUMBERS, "number"), "text": "text", "time": "time", "boolean": "boolean",
}  # fmt: skip
"""What kinds have to have in common so that no database refuses or converts them."""

LARGEST_INTEGER: Final = 2**31 - 1
"""Of an INT in most dialects: no larger one is made up, so that sums do not overflow."""

_KINDS: Final = {
    "natural": r"u(?:tiny|small|medium|big|huge)?int(?:eger)?\d*|year"
    r"|(?:tiny|small|medium|big)?int(?:eger)?\s*(?:\(\d+\)\s*)?unsigned|unsigned",
    "integer": r"(?:tiny|small|medium|big|huge)?int(?:eger)?\d*|(?:small|big)?serial\d*|byteint"
    r"|long|short|signed",
    "number": r"num(?:ber|eric)|u?dec(?:imal)?|bignumeric|(?:small)?money",
    "real": r"float\d*|real|u?double",
    "text": r"n?(?:var)?char(?:acter|2)?|bpchar|(?:tiny|medium|long|n)?text|string|n?clob|uuid"
    r"|name",
    "boolean": r"bool(?:ean)?",
    "time": r"date(?:time)?\d*|time(?:stamp)?(?:_?n?l?tz)?\d*|smalldatetime|datetimeoffset",
    "enum": r"enum|set",
}
_KIND = {kind: re.compile(rf"\s*(?:{words})(?![a-z0-9_])") for kind, words in _KINDS.items()}
_COLLATED = re.compile(r"\bcitext\b|\bcollate\b(?!\s+binary\b)")


class Limits(NamedTuple):
    """What bounds the values of a type."""

    least: float | None = None
    most: float | None = None
    scale: int | None = None
    """Decimal places, None where any number of them fits."""
    length: int | None = None
    """Characters of the longest text."""
    values: tuple[str, ...] = ()
    """The only values, if they are listed."""
    form: str = ""
    """``uuid`` or ``clock`` (a time of day) for texts of this form."""
    timed: bool = False
    """Whether a date has a time of day."""
    padded: bool = False
    """Whether equal texts may differ in spaces at their end, as ``char(n)`` does."""
    single: bool = False
    """Whether fractions are rounded to 24 bits."""
    wide: bool = False
    """Whether integers may be larger than an INT holds: their sums are decimals in PostgreSQL."""
    converts: bool = False
    """Whether SQLite makes numbers of texts that look like some, as but for CHAR, CLOB, TEXT."""


class Column(NamedTuple):
    """A column: its name in lower case, and what it holds."""

    name: str
    kind: str
    """``integer``, ``natural`` (never negative), ``number`` (decimal), ``real``, ``text``,
    ``boolean``, ``time``, ``enum`` (listed texts with an order of their own), ``collated`` (text
    that is compared by a rule of its own), or else ``unknown``."""
    nullable: bool
    limits: Limits = Limits()


@lru_cache(maxsize=1024)
def kind_of(type_text: str) -> str:
    """Return what kind of values a column of this type holds."""
    words = type_text.lower()
    if words.rstrip().endswith("[]"):
        return "unknown"
    if _COLLATED.search(words):
        return "collated"
    return next((kind for kind, pattern in _KIND.items() if pattern.match(words)), "unknown")


def widest(kinds: set[str]) -> str:
    """Return the kind that holds values of several."""
    if len(kinds) == 1:
        return next(iter(kinds))
    held = (kind for kind in ("real", "number", "integer", "natural") if kind in kinds)
    return next(held, "unknown") if kinds <= NUMBERS else "unknown"


_WIDE = r"u?(?:big|huge)|u?int(?:8|64|128)\b|long\b|serial8"
"""The beginning of types of integers that an INT does not hold."""
# Bits of an integer by the beginning of its type's name.
_BITS = (("tiny", 8), ("byteint", 8), ("small", 16), ("short", 16), ("int2", 16), ("medium", 24))
_SIZES = re.compile(r"\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)")
_PADDED = re.compile(r"(?:n?char(?:acter)?|bpchar)(?![a-z0-9_])(?!\s+varying)")
_QUOTED = re.compile(r"'((?:[^']|'')*)'")
# Dialects whose DECIMAL without a scale holds whole numbers; None stands for all dialects.
_WHOLE_DECIMALS = UNCASED | {None, "oracle", "snowflake", "trino", "presto", "hive", "spark"}


@lru_cache(maxsize=1024)
def limits_of(  # noqa: PLR0911 - one a kind
    type_text: str, kind: str, dialect: str | None
) -> Limits:
    """Return what bounds the values of a type, in its own dialect or in all of them."""
    words = type_text.lower().strip()
    sizes = _SIZES.search(words)
    first = int(sizes[1]) if sizes else None
    second = int(sizes[2]) if sizes and sizes[2] else None
    if kind == "enum":
        return Limits(values=tuple(v.replace("''", "'") for v in _QUOTED.findall(type_text)))
    if kind in ("integer", "natural"):
        return _of_integers(words, kind, dialect)
    if kind == "number":
        return _of_decimals(words, first, second, dialect)
    if kind == "real":
        short = re.match(_SINGLE.get(dialect, r"real\b|float4?\b"), words) is not None
        signed = "unsigned" not in words and not words.startswith("u")
        return Limits(least=None if signed else 0, single=short)
    if kind == "text":
        converts = dialect in (None, "sqlite") and not re.search("char|clob|text", words)
        if words.startswith("uuid"):
            return Limits(form="uuid", converts=converts)
        pads = re.match(_PADDED, words) and dialect not in ("sqlite", "duckdb")
        single = pads and re.fullmatch(r"n?char(?:acter)?", words)
        return Limits(length=1 if single else first, padded=bool(pads), converts=converts)
    if kind == "time" and re.match(r"time(?:tz)?\b", words) and dialect != "sqlite":
        return Limits(form="clock")
    return Limits(timed=kind == "time" and re.match(r"date\b", words) is None)


_SINGLE: Final[dict[str | None, str]] = {
    "sqlite": r"(?!)",
    "postgres": r"real\b|float4\b",
    "mysql": r"float\b",
}
"""Types of fractions of 24 bits, by dialect."""


def to_single(number: float) -> float:
    """Return a number as 24 bits hold it."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return number


def _of_integers(words: str, kind: str, dialect: str | None) -> Limits:
    if words.startswith("year"):
        return Limits(1901, 2155)
    bits = next((n for start, n in _BITS if words.lstrip("u").startswith(start)), 32)
    wide = re.match(_WIDE, words) is not None
    if kind == "natural" or (words.startswith("tiny") and dialect in ("tsql", "fabric")):
        return Limits(0, min(2**bits - 1, LARGEST_INTEGER), wide=wide)
    return Limits(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, wide=wide)


def _of_decimals(
    words: str, precision: int | None, scale: int | None, dialect: str | None
) -> Limits:
    plain = precision is None and re.match("u?(?:dec|numeric)", words)
    if "money" in words:
        scale = 2
    elif scale is None and (precision is not None or (plain and dialect in _WHOLE_DECIMALS)):
        scale = 0
    most: float | None = None
    if precision is not None:
        most = min(10 ** (precision - (scale or 0)) - 10 ** -(scale or 0), LARGEST_INTEGER)
    unsigned = "unsigned" in words or words.startswith("u")
    return Limits(0 if unsigned else None if most is None else -most, most, scale)


def typed_column(name: str, type_text: str, dialect: str | None, *, nullable: bool) -> Column:
    """Return a column of a type."""
    kind = kind_of(type_text)
    return Column(name, kind, nullable, limits_of(type_text, kind, dialect))


UUIDS: Final = tuple(f"00000000-0000-4000-8000-{i:012}" for i in range(40))
CLOCK_TIMES: Final = ("10:00:00", "10:00:01", "23:30:00", "00:00:00")
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?\Z")
_FORMS: Final = {
    "uuid": re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"),
    "clock": re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\Z"),
}


def fitted(  # noqa: PLR0911 - one a kind
    value: object, column: Column
) -> int | float | str | None:
    """Return a value as a column could hold it, or None."""
    if value is None or isinstance(value, bytes):
        return None
    assert isinstance(value, int | float | str)  # noqa: S101 - all that a cell can be
    kind, limits = column.kind, column.limits
    if kind == "unknown":
        return value
    if kind in ("text", "time", "enum", "collated"):
        return _fitted_text(value, kind, limits)
    try:
        number = float(f"{float(value):.12g}")  # as a decimal it has as few digits
    except ValueError:
        return None
    whole = number.is_integer()
    if (limits.least is not None and number < limits.least) or (
        limits.most is not None and number > limits.most
    ):
        return None
    if kind == "real":
        return to_single(number) if limits.single else number
    if kind == "number" and not whole:
        return number if limits.scale is None or round(number, limits.scale) == number else None
    if not whole or (kind == "boolean" and number not in (0, 1)) or abs(number) > LARGEST_INTEGER:
        return None
    return int(number)


def _fitted_text(value: float | str, kind: str, limits: Limits) -> str | None:
    text = str(value)
    if limits.values:
        return text if text in limits.values else None
    if limits.form:
        return text if _FORMS[limits.form].match(text) else None
    if kind == "time":
        if isinstance(value, int):
            text = f"{value!s}-05-05"
        fits = limits.timed or len(text) == len("2020-01-01")
        return text if fits and _DAY.match(text) and _is_time(text) else None
    return text if limits.length is None or len(text) <= limits.length else None


def _is_time(text: str) -> bool:
    """Say whether a text is a day, or a moment, that there is."""
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
