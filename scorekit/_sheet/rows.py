"""The first table of a sheet as plain rows, for a data frame: numbers as they are, not rounded."""

from __future__ import annotations

import re
from typing import Any

from scorekit._sheet.model import Estimate, Row, Scale, Sheet
from scorekit._sheet.values import brief, is_record

LEVEL = re.compile(r"[\d.]+ %")
NO_WORD = re.compile(r"\W+")


def render(sheet: Sheet) -> list[dict[str, Any]]:
    """Return a dict for each row, an interval as two entries; pictures are left out."""
    return [_row(row) for table in sheet.tables[:1] for row in table.rows]


def _row(row: Row) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, cell in row.items():
        key = NO_WORD.sub("_", LEVEL.sub("", name)).strip("_")
        if isinstance(cell, Estimate):
            plain[key] = cell.value
            plain |= _ends(key, cell.interval) | ({f"{key}_note": cell.note} if cell.note else {})
        elif hasattr(cell, "low"):
            plain |= _ends(key, cell)
        elif not isinstance(cell, Scale):
            plain[key] = brief(cell) if is_record(cell) else cell
    return plain


def _ends(key: str, interval: Any) -> dict[str, Any]:
    return {f"{key}_{end}": getattr(interval, end, None) for end in ("low", "high")}
