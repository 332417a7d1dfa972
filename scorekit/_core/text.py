"""What identifies a question, the decimal that a float is written as, numbers for display."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

_to_json = json.JSONEncoder(ensure_ascii=False).encode


def key_of(*parts: str | float | None) -> str:
    """Return a SHA-256 digest, as hexadecimal digits, that no other parts give."""
    return hashlib.sha256(_to_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


def as_decimal(number: float) -> Fraction:
    """Return the decimal number a float is written as: 1/10 for 0.1, not the binary near it."""
    return Fraction(str(number))


NOISE = 1e-12
"""Share of the numbers beside it below which a number is what rounding has left of 0."""


def rounded(value: float, beside: float, sign: str = "") -> str:
    """Return *value* to 4 significant digits for display, or 0 if it is noise of rounding."""
    return f"{0.0 if abs(value) < NOISE * abs(beside) else value:{sign}.4g}"
