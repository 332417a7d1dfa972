"""What identifies a question, the decimal that a float is written as, numbers for display."""

from __future__ import annotations

import hashlib
import json
import math
from fractions import Fraction

_to_json = json.JSONEncoder(ensure_ascii=False).encode


ORDINALS = ("first", "second")
"""What two things are called that have no names."""


def key_of(*parts: str | float | None) -> str:
    """Return a SHA-256 digest, as hexadecimal digits, that no other parts give."""
    return hashlib.sha256(_to_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


def as_decimal(number: float) -> Fraction:
    """Return the decimal number a float is written as: 1/10 for 0.1, not the binary near it."""
    return Fraction(str(number))


def and_more(n: int) -> str:
    """Say that *n* others are not listed: the one place of these words."""
    return f"and {n} more"


NOISE = 1e-9
"""Share of the numbers beside it below which a number is what rounding has left of 0."""

DECIMALS = 12
"""Decimals of a number for display, at most."""

WHOLE = 10**12
"""Whole numbers from here on are shown with an exponent."""


def rounded(value: float, low: float, high: float, sign: str = "") -> str:
    """
    Return *value* with the decimals that an interval from *low* to *high* supports.

    That is two digits of its width.  Whole numbers have none, what rounding has left of 0 is 0,
    and what would be rounded to 0 keeps a digit, so that one sees on which side of 0 it is.
    """
    width = high - low
    if abs(value) < NOISE * max(abs(end) for end in (low, high, 0.0) if math.isfinite(end)):
        value = 0.0
    if value.is_integer():
        return f"{value:{sign}.0f}" if abs(value) < WHOLE else f"{value:{sign}.4g}"
    if not 0.0 < width < math.inf:
        return f"{value:{sign}.4g}"
    text = f"{value:{sign}z.{min(max(1 - math.floor(math.log10(width)), 0), DECIMALS)}f}"
    return text if float(text) else f"{value:{sign}.1g}"


def spanned(low: float, high: float, sign: str = "") -> str:
    """Return an interval as text."""
    return f"[{rounded(low, low, high, sign)}, {rounded(high, low, high, sign)}]"
