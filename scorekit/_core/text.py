"""What identifies a question, the decimal that a float is written as, records as plain text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any, TypeGuard, cast

import attrs

from scorekit.errors import one_line

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


def has_text(record: object) -> bool:
    """Tell records whose own text is one line, fit for a cell."""
    kind: Any = type(record)
    own = kind.__str__.__qualname__ not in {"object.__str__", "Record.__str__"}
    return own and getattr(kind, "fits_a_cell", True)


SHOWN = 5
"""Items of a long field that a printed record shows."""


def as_lines(record: object, without: Collection[str] = ()) -> list[str]:
    """Return a record as a title and a line, or a block, for each other field that has entries."""
    lines = [type(record).__name__]
    for field in attrs.fields(cast("Any", type(record))):
        value = getattr(record, field.name)
        if field.name not in without and value is not None and value not in ((), {}, ""):
            lines += _entry(field.name, value)
    return lines


def _entry(name: str, value: Any) -> Iterator[str]:
    if _is_nested(value):
        title, *rest = as_lines(value)
        yield f"  {name}: {title}"
        yield from (f"  {line}" for line in rest)
        return
    items: list[tuple[str, Any]] | None = None
    if _is_mapping(value):
        items = [(one_line(str(key)), item) for key, item in islice(value.items(), SHOWN)]
    elif _is_tuple(value) and any(map(_is_record, value[:SHOWN])):
        items = [("", item) for item in value[:SHOWN]]
    if items is None:
        text = brief(cast("object", value))
        first, *rest = text.splitlines() or [""]
        yield f"  {name}: {one_line(first)}"
        yield from (f"    {one_line(line)}" for line in rest[:SHOWN])
        yield from _more(len(rest), " lines")
        return
    yield f"  {name}:"
    for key, item in items:
        if not key and _is_nested(item):
            yield from (f"    {line}" for line in as_lines(item))
        elif key:
            yield from (f"  {line}" for line in _entry(key, item))
        else:
            yield f"    {one_line(brief(item))}"
    yield from _more(len(cast("tuple[Any, ...]", value)), "")


def _more(n_items: int, what: str) -> Iterator[str]:
    if n_items > SHOWN:
        yield f"    and {n_items - SHOWN} more{what}"


def _is_record(value: object) -> bool:
    return attrs.has(type(value))


def _is_nested(value: object) -> bool:
    return _is_record(value) and not has_text(value)


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    return isinstance(value, tuple)


def brief(value: object) -> str:
    """Return a value as text, numbers rounded for display, long tuples cut."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if _is_tuple(value):
        shown = value[: 2 * SHOWN]
        items = [f"({brief(item)})" if _is_tuple(item) else brief(item) for item in shown]
        if len(value) > 2 * SHOWN:
            items.append(f"and {len(value) - 2 * SHOWN} more")
        return ", ".join(items)
    return str(value)
