"""
A sheet as HTML, for a notebook.

All is escaped, rounded, and its long parts folded.  Colors are those of the notebook, so that
light and dark ones show the same; on a narrow page tables alone scroll.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeGuard

import attrs

from scorekit._core.mappings import is_mapping
from scorekit._core.text import and_more
from scorekit._sheet.model import (
    ROWS_AT_MOST,
    Block,
    Counted,
    Estimate,
    Fields,
    Part,
    Row,
    Scale,
    Sheet,
    Table,
    line_of,
)
from scorekit._sheet.values import WHOLE, brief, entries, is_record, number
from scorekit.errors import one_line

FOLD_AFTER = 10
"""Rows of a table that a notebook shows before it folds the rest away."""

LONGEST_TEXT = 1_000_000
"""Characters of a text that it gets, of each line a like share."""

WIDE = 8
"""Fields that a row holds at most: beyond it, few records stand side by side in columns."""

UNBROKEN = 40
"""Characters after which a longer word may break, lest it push all else out of sight."""

_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
"""Letters of Hebrew, Arabic and their kin."""

_ISOLATED = re.compile(rf"[{_RIGHT_TO_LEFT}](?:[{_RIGHT_TO_LEFT}\W]*[{_RIGHT_TO_LEFT}])?")
"""Words of these, behind which a number would change sides."""

_PRE = (
    '<pre style="white-space: pre-wrap; word-break: normal; overflow-wrap: break-word; margin: 0; '
    'background: none">'
)
"""Words stay whole: JupyterLab would break them anywhere."""
_ROOMY = "min-width: 11em"
SHORT = 24
"""Longest text of a column that stays on one line, so that few pages have to be scrolled."""
_DOT_WIDTH = 150
_DOT_MARGIN = 5
_WHOLE_DOT = f"display: block; width: {_DOT_WIDTH}px; min-width: {_DOT_WIDTH}px; max-width: none"
"""Notebooks would make a picture as narrow as its column is."""


def render(sheet: Sheet) -> str:
    """Return the page: title, headline, then the parts in their order."""
    big = f'<div style="font-size: 120%; margin: 0.2em 0">{_text(sheet.headline)}</div>'
    title = f"<div><b>{_text(sheet.title)}</b></div>"
    parts = [title if sheet.title else "", big if sheet.headline else ""]
    parts += map(_part, sheet.parts)
    return f'<div style="max-width: 1200px; overflow-wrap: anywhere">{"".join(parts)}</div>'


def _part(part: Part) -> str:
    if isinstance(part, str):
        return f"<div>{_text(part)}</div>"
    if isinstance(part, Counted):
        return f"<div>{_text(part.text)}</div>"
    if isinstance(part, Table):
        title = part.title
        drawn = _scrolls(_table(part)) if part.columns else ""
        drawn += "".join(f"<div>{_text(text)}</div>" for text in part.said)
    elif isinstance(part, Block):
        title, drawn = part.name, _text(part.text, block=True)
    elif isinstance(part, Fields):
        title, drawn = part.title if part.folded else "", _scrolls(_fields(part))
    else:
        title, drawn = part.title, "".join(map(_part, part.parts))
    if not drawn and getattr(part, "place", "page") != "everywhere":
        return ""
    if (
        part.folded
        if isinstance(part, Fields)
        else getattr(part, "place", "") in ("folded", "detail")
    ):
        return f"<details><summary>{_text(title)}</summary>{drawn}</details>"
    head = f'<div style="margin-top: 0.6em"><b>{_text(title)}</b></div>' if title else ""
    return head + drawn


def _scrolls(table: str) -> str:
    return f'<div style="overflow-x: auto; overflow-wrap: normal">{table}</div>'


def _fields(part: Fields) -> str:
    rows = (
        f"<tr><th>{_text(name)}</th><td>{_cell(value)}</td></tr>"
        for name, value in entries(part.record, part.without)
    )
    return f"<table>{''.join(rows)}</table>"


def _table(table: Table) -> str:
    """Return the table; text is set flush left, as notebooks set cells flush right."""
    rows, specs = table.rows[:ROWS_AT_MOST], table.specs
    styles: dict[str, str] = {}
    blocks: set[str] = set()  # columns of one look, though some of their texts have a single line
    for name in table.columns:
        texts = [text for row in rows if isinstance(text := row.get(name), str)]
        width = "white-space: nowrap" if max(map(len, texts), default=0) <= SHORT else _ROOMY
        styles[name] = f' style="text-align: left; {width}"' if texts else ""
        if any(isinstance(row.get(name), Scale) for row in rows):
            styles[name] = ' style="text-align: center"'
        blocks |= {name} if any("\n" in text for text in texts) else set()
    head = "".join(
        f"<th{style}>{_text(_heading(name, rows))}</th>" for name, style in styles.items()
    )
    body = [
        "<tr>"
        + "".join(
            f"<td{style}>{_cell(row.get(name), specs.get(name, ''), block=name in blocks)}</td>"
            for name, style in styles.items()
        )
        + "</tr>"
        for row in rows
    ]
    return _fold(body, table.size, f"<tr>{head}</tr>")


def _heading(name: str, rows: Sequence[Row]) -> str:
    """Return the name of a column; of pictures, which stand right of their numbers, the scale."""
    scales = [cell.scale for row in rows if isinstance(cell := row.get(name), Scale)]
    return " to ".join(map(number, scales[0])) if scales else name


def _picture(dot: Scale) -> str:
    """Return the picture: the scale, its middle, the interval and the dot."""
    low, high = dot.scale

    def at(value: float) -> str:
        share = (min(max(value, low), high) - low) / (high - low)
        return f"{_DOT_MARGIN + share * (_DOT_WIDTH - 2 * _DOT_MARGIN):.1f}"

    def line(ends: tuple[float, float], width: int, opacity: float) -> str:
        return (
            f'<line x1="{at(ends[0])}" x2="{at(ends[1])}" y1="8" y2="8" stroke="currentColor" '
            f'stroke-width="{width}" stroke-opacity="{opacity}"></line>'
        )

    middle = at((low + high) / 2)
    tick = (
        f'<line x1="{middle}" x2="{middle}" y1="3" y2="13" stroke="currentColor" '
        'stroke-opacity="0.25"></line>'
    )
    parts, said = [line(dot.scale, 1, 0.25), tick], list[str]()
    if dot.value is not None:
        said.append(number(dot.value))
    if dot.ends is not None:
        parts.append(line(dot.ends, 4, 0.45))
        said.append(f"from {number(dot.ends[0])} to {number(dot.ends[1])}")
    if dot.value is not None:
        parts.append(f'<circle cx="{at(dot.value)}" cy="8" r="4" fill="currentColor"></circle>')
    words = f"{', '.join(said)}, on a scale of {number(low)} to {number(high)}"
    return (
        f'<svg viewBox="0 0 {_DOT_WIDTH} 16" width="{_DOT_WIDTH}" height="16" '
        f'style="{_WHOLE_DOT}" role="img" aria-label="{words}">{"".join(parts)}</svg>'
    )


def _cell(value: object, spec: str = "", *, block: bool = False) -> str:  # noqa: PLR0911 - one for each kind
    """Return what stands in a cell; of a field that is None, the word."""
    if value is None:
        return ""
    if isinstance(value, Scale):
        return _picture(value)
    if isinstance(value, Estimate | float):
        return _whole(brief(value, spec))
    if is_record(value):
        line = line_of(value)
        return _whole(line) if line else _records([value], 1)  # an interval stays whole
    if _is_sequence(value):
        return _list(value) if value else "none"
    if is_mapping(value):
        items = islice(value.items(), ROWS_AT_MOST)
        rows = [f"<tr><th>{_field(k)}</th><td>{_field(v)}</td></tr>" for k, v in items]
        return _fold(rows, len(value), "") if rows else "none"
    return _text(str(value), block=block)


def _field(value: object) -> str:
    return "None" if value is None else _cell(value)


def _whole(text: str) -> str:
    if len(text) <= UNBROKEN:
        return _text(text).replace(" ", "&nbsp;")
    return f'<div style="{_ROOMY}">{_text(text)}</div>'


def _text(text: str, *, block: bool = False) -> str:
    lines = text.splitlines()
    kept = lines[:ROWS_AT_MOST]
    kept = [_line(line, min(WHOLE, LONGEST_TEXT // len(kept))) for line in kept]
    if len(kept) < 2 and not block:  # noqa: PLR2004 - a single line, or nothing
        return "".join(kept)
    shown = _PRE + "\n".join(kept[:FOLD_AFTER]) + "</pre>"
    if len(kept) > FOLD_AFTER:
        title = f"<summary>{len(lines) - FOLD_AFTER} more</summary>"
        rest = _PRE + "\n".join(kept[FOLD_AFTER:]) + "</pre>" + _after(len(lines))
        shown += f"<details>{title}{rest}</details>"
    # notebooks set cells flush right; on a narrow page the table scrolls
    return f'<div align="left" style="min-width: 14em">{shown}</div>'


def _line(line: str, limit: int) -> str:
    breakable = re.sub(rf"\S{{{UNBROKEN}}}(?=\S)", "\\g<0>\0", one_line(line, limit))
    escaped = html.escape(_ISOLATED.sub("\1\\g<0>\2", breakable))
    return escaped.replace("\0", "<wbr>").replace("\1", "<bdi>").replace("\2", "</bdi>")


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _list(items: Sequence[Any]) -> str:
    few = items[:ROWS_AT_MOST]
    records = [item for item in few if is_record(item)]
    if len(records) == len(few) and not line_of(records[0]):
        return _records(records, len(items))
    rows = any(map(_is_sequence, few))
    cells = [f"({_cell(i)})" if _is_sequence(i) else _field(i) for i in items[:FOLD_AFTER]]
    if len(items) > FOLD_AFTER:
        cells.append(and_more(len(items) - FOLD_AFTER))
    return ("<br>" if records or rows else ", ").join(cells)


def _records(records: Sequence[object], n_records: int) -> str:
    kind: Any = type(records[0])
    names = [html.escape(field.name) for field in attrs.fields(kind)]
    cells = [[_field(getattr(record, name)) for name in names] for record in records]
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
