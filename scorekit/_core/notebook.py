"""
What a notebook shows: of a record a table, of a report a page.

All is escaped, rounded, and its long parts folded.  Colors are those of the notebook, so that
light and dark ones show the same.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeGuard

import attrs

from scorekit._core.text import has_text
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


_PRE = '<pre style="white-space: pre-wrap">'


def page(record: object, *, without: Collection[str] = ()) -> str:
    """Return the table of one record, a row for each field but some and those that are None."""
    rows = "".join(
        f"<tr><th>{name}</th><td>{_cell(getattr(record, name))}</td></tr>"
        for name in _names(record)
        if name not in without and getattr(record, name) is not None
    )
    return f"<table><caption>{html.escape(type(record).__name__)}</caption>{rows}</table>"


class Dot(NamedTuple):
    """A number on a scale, with the ends of its interval where there is one."""

    value: float | None
    """None where only the ends are known."""
    ends: tuple[float, float] | None = None
    scale: tuple[float, float] = (0.0, 1.0)

    def drawn(self) -> str:
        """Return the picture: the scale, its middle, the interval and the dot."""
        low, high = self.scale

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
        parts = [line(self.scale, 1, 0.25), tick]
        if self.ends is not None:
            parts.append(line(self.ends, 4, 0.45))
        if self.value is not None:
            parts.append(
                f'<circle cx="{at(self.value)}" cy="8" r="4" fill="currentColor"></circle>'
            )
        return (
            f'<svg width="{_DOT_WIDTH}" height="16" role="img" aria-label="{self._said()}">'
            f"{''.join(parts)}</svg>"
        )

    def _said(self) -> str:
        """Return the picture in words, for those who do not see it."""
        parts = [] if self.value is None else [f"{self.value:.4g}"]
        parts += [] if self.ends is None else [f"from {self.ends[0]:.4g} to {self.ends[1]:.4g}"]
        return f"{', '.join(parts)}, on a scale of {self.scale[0]:.4g} to {self.scale[1]:.4g}"


class Drawn(NamedTuple):
    """What is HTML already."""

    html: str

    def drawn(self) -> str:
        """Return it."""
        return self.html


class Code(NamedTuple):
    """Text that stands in a block of its own, such as a query."""

    text: str

    def drawn(self) -> str:
        """Return the block."""
        return _text(self.text, block=True)


_DOT_WIDTH = 150
_DOT_MARGIN = 5


class Table(NamedTuple):
    """Cells under their titles: text, numbers, records, dots."""

    head: tuple[str, ...]
    rows: Sequence[Sequence[object]]

    def drawn(self) -> str:
        """Return the table, its columns without any entry left out; text is set flush left."""
        columns = [
            (title, cells)
            for title, cells in zip(self.head, zip(*self.rows, strict=True), strict=True)
            if any(cell not in (None, "") for cell in cells)
        ]
        aligned = [
            ' style="text-align: left"' if any(isinstance(cell, str) for cell in cells) else ""
            for _, cells in columns
        ]
        titles = [title for title, _ in columns]
        head = "".join(
            f"<th{style}>{_text(title)}</th>" for style, title in zip(aligned, titles, strict=True)
        )
        rows = [
            "<tr>" + "".join(f"<td{style}>{_drawn(cell)}</td>" for style, cell in row) + "</tr>"
            for row in (
                zip(aligned, cells, strict=True)
                for cells in islice(zip(*(c for _, c in columns), strict=True), ROWS_AT_MOST)
            )
        ]
        return _fold(rows, len(self.rows), f"<tr>{head}</tr>")


def _drawn(value: object) -> str:
    """Return a cell; missing entries are empty."""
    if value is None:
        return ""
    return value.drawn() if isinstance(value, Dot | Drawn | Code | Table) else _cell(value)


def report_page(
    title: str,
    headline: str,
    *,
    main: Table,
    notes: Sequence[str] = (),
    blocks: Sequence[tuple[str, object]] = (),
    worst: tuple[str, Table] | None = None,
    folded: Sequence[tuple[str, object]] = (),
) -> str:
    """Return the page of a report: its headline, a row for each number, the worst cases first."""
    parts = [
        f"<div><b>{_text(title)}</b></div>",
        f'<div style="font-size: 120%; margin: 0.2em 0">{_text(headline)}</div>'
        if headline
        else "",
        main.drawn() if main.rows else "",
        *(f"<div>{_text(note)}</div>" for note in notes),
    ]
    if worst is not None and worst[1].rows:
        blocks = [*blocks, worst]
    for name, value in blocks:
        parts.append(f'<div style="margin-top: 0.6em"><b>{_text(name)}</b></div>')
        parts.append(_drawn(value))
    for name, value in folded:
        drawn = _drawn(value)
        parts.append(f"<details><summary>{_text(name)}</summary>{drawn}</details>")
    return f'<div style="max-width: 1200px; overflow-x: auto">{"".join(parts)}</div>'


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
    if _is_record(value) and not has_text(value):
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
    return f'<div align="left">{shown}</div>'  # notebooks set cells flush right


def _line(line: str, limit: int) -> str:
    breakable = re.sub(rf"\S{{{UNBROKEN}}}(?=\S)", "\\g<0>\0", one_line(line, limit))
    return html.escape(breakable).replace("\0", "<wbr>")


def _list(items: Sequence[Any]) -> str:
    few = items[:ROWS_AT_MOST]
    records = [item for item in few if _is_record(item)]
    if len(records) == len(few) and not has_text(records[0]):
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
