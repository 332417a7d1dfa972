"""What identifies a question, and the decimal that a float is written as."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

_to_json = json.JSONEncoder(ensure_ascii=False).encode


def key_of(*parts: str | int | None) -> str:
    """Return a SHA-256 digest, as hexadecimal digits, that no other parts give."""
    return hashlib.sha256(_to_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


def as_decimal(number: float) -> Fraction:
    """Return the decimal number a float is written as: 1/10 for 0.1, not the binary near it."""
    return Fraction(str(number))
