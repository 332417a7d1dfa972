"""What a notebook shows of a record: a table, escaped, rounded, its long parts folded."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, TypeGuard

import attrs

from scorekit.errors import one_line

FOLD_AFTER = 10
"""Rows of a table that a notebook shows before it folds the rest away."""

ROWS_AT_MOST = 1000
"""Rows, or lines of a text, that it gets at all: all cases of a large run would freeze it."""

LONGEST_TEXT = 1_000_000
"""Characters of a text that it gets, of each line a like share."""

WIDE = 8
"""Fields that a row holds at most: beyond it, few records stand side by side in columns."""

WHOLE = 10_000
"""Numbers from here to its cube are shown without decimals or exponent."""

UNBROKEN = 40
"""Characters after which a longer word may break, lest it push all else out of sight."""


def page(record: object, *, without: str = "") -> str:
    """Return the table of one record, a row for each field but one."""
    rows = "".join(
        f"<tr><th>{name}</th><td>{_cell(getattr(record, name))}</td></tr>"
        for name in _names(record)
        if name != without
    )
    return f"<table><caption>{html.escape(type(record).__name__)}</caption>{rows}</table>"


def _names(record: object) -> list[str]:
    kind: Any = type(record)
    return [html.escape(field.name) for field in attrs.fields(kind)]


def _is_record(value: object) -> bool:
    return attrs.has(type(value)) and not _is_sequence(value)


def _is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _cell(value: object) -> str:
    if _is_record(value) and not _has_text(value):
        return _table([value], 1)
    if isinstance(value, float):
        # thousands of dollars read better than 1.234e+04
        return f"{value:.0f}" if WHOLE <= abs(value) < WHOLE**3 else f"{value:.4g}"
    if _is_sequence(value):
        return _list(value) if value else "none"
    if _is_mapping(value):
        items = islice(value.items(), ROWS_AT_MOST)
        rows = [f"<tr><th>{_cell(k)}</th><td>{_cell(v)}</td></tr>" for k, v in items]
        return _fold(rows, len(value), "") if rows else "none"
    text = _text(str(value))
    return text.replace(" ", "&nbsp;") if _is_record(value) else text  # an interval stays whole


def _text(text: str) -> str:
    lines = text.splitlines()
    kept = lines[:ROWS_AT_MOST]
    kept = [_line(line, min(WHOLE, LONGEST_TEXT // len(kept))) for line in kept]
    if len(kept) < 2:  # noqa: PLR2004 - a single line, or nothing
        return "".join(kept)
    block = "<pre>" + "\n".join(kept[:FOLD_AFTER]) + "</pre>"
    if len(kept) > FOLD_AFTER:
        title = f"<summary>{len(lines) - FOLD_AFTER} more</summary>"
        rest = "<pre>" + "\n".join(kept[FOLD_AFTER:]) + "</pre>" + _after(len(lines))
        block += f"<details>{title}{rest}</details>"
    return f'<div align="left">{block}</div>'  # notebooks set cells flush right


def _line(line: str, limit: int) -> str:
    breakable = re.sub(rf"\S{{{UNBROKEN}}}(?=\S)", "\\g<0>\0", one_line(line, limit))
    return html.escape(breakable).replace("\0", "<wbr>")


def _has_text(record: object) -> bool:
    return type(record).__str__ is not object.__str__


def _list(items: Sequence[Any]) -> str:
    few = items[:ROWS_AT_MOST]
    records = [item for item in few if _is_record(item)]
    if len(records) == len(few) and not _has_text(records[0]):
        return _table(records, len(items))
    rows = any(map(_is_sequence, few))
    cells = [f"({_cell(i)})" if _is_sequence(i) else _cell(i) for i in items[:FOLD_AFTER]]
    if len(items) > FOLD_AFTER:
        cells.append(f"and {len(items) - FOLD_AFTER} more")
    return ("<br>" if records or rows else ", ").join(cells)


def _table(records: Sequence[object], n_records: int) -> str:
    names = _names(records[0])
    cells = [[_cell(getattr(record, name)) for name in names] for record in records]
    nested = any(cell.startswith("<table>") for cell in cells[0])
    if n_records < WIDE < len(names) or (n_records == 1 and nested):
        columns = zip(names, *cells, strict=True)
        return f"<table>{''.join(_row(own, f'<th>{name}</th>') for name, *own in columns)}</table>"
    breakable = [name.replace("_", "_<wbr>") for name in names]
    head = "<tr>" + "".join(f"<th>{name}</th>" for name in breakable) + "</tr>"
    return _fold([_row(own) for own in cells], n_records, head)


def _row(cells: Sequence[str], head: str = "") -> str:
    return f"<tr>{head}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _fold(rows: list[str], n_rows: int, head: str) -> str:
    table = f"<table>{head}{''.join(rows[:FOLD_AFTER])}</table>"
    if n_rows <= FOLD_AFTER:
        return table
    rest = f"<table>{head}{''.join(rows[FOLD_AFTER:ROWS_AT_MOST])}</table>"
    title = f"<summary>{n_rows - FOLD_AFTER} more</summary>"
    return f"{table}<details>{title}{rest}{_after(n_rows)}</details>"


def _after(n_rows: int) -> str:
    n_hidden = max(n_rows - ROWS_AT_MOST, 0)
    return f"and {n_hidden} not shown" if n_hidden else ""
