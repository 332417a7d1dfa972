"""Values as every rendering writes them: rounded for display, on one line, long ones cut."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from string import ascii_lowercase
from typing import Any, TypeGuard

import attrs

from scorekit._core.text import and_more, rounded, spanned
from scorekit._sheet.model import Estimate, Row, Scale, Table, line_of
from scorekit.errors import one_line

WHOLE = 10_000
"""Numbers from here to its cube are shown without decimals or exponent."""

SHOWN = 5
"""Items of a long field that plain text shows, and half of those that a cell does."""

CELL = 60
"""Characters of a cell of a text; a notebook can break lines, and shows more."""


LONGEST = 10_000
"""Characters of a line that is no cell."""


def number(value: float, spec: str = "") -> str:
    """Return a number as text; NaN is what nobody knows."""
    if math.isnan(value):
        return "unknown"
    if spec:
        return format(value, spec)
    # thousands of dollars read better than 1.234e+04
    return f"{value:.0f}" if WHOLE <= abs(value) < WHOLE**3 else f"{value:.4g}"


def estimate(value: float, interval: Any = None, sign: str = "") -> str:
    """Return a number with its interval behind it, both with the decimals that this supports."""
    if interval is None or math.isnan(value):
        return number(value, f"{sign}.4g" if sign else "")
    low, high = interval.low, interval.high
    note = "" if interval.note is None else f" ({interval.note})"
    return f"{rounded(value, low, high, sign)} {spanned(low, high, sign)}{note}"


def between(low: float, high: float, sign: str = "", *, beside: Any = None) -> str:
    """Return bounds as text, with the decimals of an interval beside them, or of their own."""
    first, last = (low, high) if beside is None else (beside.low, beside.high)
    ends = (rounded(end, first, last, sign) for end in (low, high))
    return f"between {' and '.join(ends)}"


def level_of(interval: Any) -> str:
    """Return the level of an interval."""
    return f"{100 * interval.confidence_level:.4g} %"


def counted(n: int, what: str, verb: str = "") -> str:
    """Return how many there are of what, and what they do."""
    return f"{n} {what}{'s' * (n != 1)}{verb}"


def brief(value: object, spec: str = "") -> str:
    """Return a value as text; nothing for None, and for a picture."""
    if value is None or isinstance(value, Scale):
        return ""
    if isinstance(value, Estimate):
        known = "" if value.value is None else estimate(value.value, value.interval, value.sign)
        return known + (value.note and f" ({value.note})")
    if isinstance(value, float):
        return number(value, spec)
    if is_tuple(value):
        shown = value[: 2 * SHOWN]
        items = [f"({brief(item)})" if is_tuple(item) else brief(item) for item in shown]
        if len(value) > 2 * SHOWN:
            items.append(and_more(len(value) - 2 * SHOWN))
        return ", ".join(items)
    if is_record(value):
        named = (f"{name} {brief(item)}" for name, item in entries(value))
        return line_of(value) or ", ".join(named)
    return str(value)


def cells(row: Row, columns: Sequence[str], specs: Mapping[str, str], limit: int) -> list[str]:
    """Return the cells of a row, each on one line, and cut unless it is a number."""
    values = [row.get(name) for name in columns]
    limits = [LONGEST if isinstance(value, Estimate) else limit for value in values]
    texts = (brief(one, specs.get(name, "")) for one, name in zip(values, columns, strict=True))
    return list(map(one_line, texts, limits))


def marked_cells(table: Table, limit: int) -> tuple[list[list[tuple[str, str]]], dict[str, str]]:
    """
    Return the cells of a table each with a mark, and the note that each mark stands for.

    What an estimate stands on is a sentence, which belongs below a table and not in its cells.
    """
    mark_of: dict[str, str] = {}
    rows: list[list[tuple[str, str]]] = []
    for row in table.first:
        bare = {name: _without_note(value) for name, value in row.items()}
        texts = cells(bare, table.in_words, table.specs, limit)
        notes = (_note_of(row.get(name)) for name in table.in_words)
        rows.append(
            [
                (text, mark_of.setdefault(note, _mark(len(mark_of))) if note else "")
                for text, note in zip(texts, notes, strict=True)
            ]
        )
    return rows, {mark: note for note, mark in mark_of.items()}


def _note_of(value: object) -> str:
    return value.note if isinstance(value, Estimate) else ""


def _without_note(value: object) -> object:
    return attrs.evolve(value, note="") if isinstance(value, Estimate) else value


def _mark(i: int) -> str:
    return ascii_lowercase[i % 26] * (i // 26 + 1)


def is_number(value: object) -> bool:
    """Tell what stands flush right."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def are_numbers(column: str, rows: Sequence[Row]) -> bool:
    """Tell a column that holds numbers alone."""
    return all(is_number(row.get(column)) or row.get(column) is None for row in rows)


def is_record(value: object) -> bool:
    """Tell records, and whatever else is made by attrs, from columns that are kept by it."""
    return attrs.has(type(value)) and not isinstance(value, Sequence)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Tell tuples."""
    return isinstance(value, tuple)


def entries(record: object, without: object = ()) -> list[tuple[str, Any]]:
    """Return the fields of a record that hold something, by name."""
    kind: Any = type(record)
    hidden: Any = without
    found = [(f.name, getattr(record, f.name)) for f in attrs.fields(kind) if f.name not in hidden]
    return [(name, value) for name, value in found if value is not None]
