"""Values as every rendering writes them: rounded for display, on one line, long ones cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import attrs

from scorekit._sheet.model import Estimate, Row, Scale, line_of
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
    """Return a number as text."""
    if spec:
        return format(value, spec)
    # thousands of dollars read better than 1.234e+04
    return f"{value:.0f}" if WHOLE <= abs(value) < WHOLE**3 else f"{value:.4g}"


def brief(value: object, spec: str = "") -> str:
    """Return a value as text; nothing for None, and for a picture."""
    if value is None or isinstance(value, Scale):
        return ""
    if isinstance(value, Estimate):
        ends = "" if value.interval is None else f" {value.interval}"
        return brief(value.value, value.spec or spec) + ends + (value.note and f" ({value.note})")
    if isinstance(value, float):
        return number(value, spec)
    if is_tuple(value):
        shown = value[: 2 * SHOWN]
        items = [f"({brief(item)})" if is_tuple(item) else brief(item) for item in shown]
        if len(value) > 2 * SHOWN:
            items.append(f"and {len(value) - 2 * SHOWN} more")
        return ", ".join(items)
    if is_record(value):
        named = (f"{name} {brief(item)}" for name, item in entries(value))
        return line_of(value) or ", ".join(named)
    return str(value)


def cells(row: Row, columns: Sequence[str], specs: Mapping[str, str], limit: int) -> list[str]:
    """Return the cells of a row, each on one line and cut."""
    return [one_line(brief(row.get(name), specs.get(name, "")), limit) for name in columns]


def is_number(value: object) -> bool:
    """Tell what stands flush right."""
    return isinstance(value, float | int) and not isinstance(value, bool)


def are_numbers(column: str, rows: Sequence[Row]) -> bool:
    """Tell a column that holds numbers alone."""
    return all(is_number(row.get(column)) or row.get(column) is None for row in rows)


def is_record(value: object) -> bool:
    """Tell records, and whatever else is made by attrs, from columns that are kept by it."""
    return attrs.has(type(value)) and not isinstance(value, Sequence)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Tell mappings."""
    return isinstance(value, Mapping)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Tell tuples."""
    return isinstance(value, tuple)


def entries(record: object, without: object = ()) -> list[tuple[str, Any]]:
    """Return the fields of a record that hold something, by name."""
    kind: Any = type(record)
    hidden: Any = without
    found = [(f.name, getattr(record, f.name)) for f in attrs.fields(kind) if f.name not in hidden]
    return [(name, value) for name, value in found if value is not None]
