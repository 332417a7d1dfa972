"""A sheet as plain text: `print` shows it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any

from scorekit._core.mappings import is_mapping
from scorekit._core.text import and_more
from scorekit._sheet.model import Block, Counted, Fields, Part, Row, Sheet, Table, line_of
from scorekit._sheet.values import (
    CELL,
    LONGEST,
    SHOWN,
    are_numbers,
    brief,
    cells,
    entries,
    is_record,
)
from scorekit.errors import one_line

LINES = 12
"""Further lines of a query or a counterexample that a text shows."""

REMARK = " " * 7
"""What the remarks on a row stand behind."""


def render(sheet: Sheet, *, everything: bool = False) -> str:
    """Return the headline, or else the title, then what is not folded away, or *everything*."""
    lines = [_line(sheet.headline or sheet.title)]
    for part in sheet.parts:
        if not (isinstance(part, Fields) and (sheet.headline or part.folded)):
            lines += _part(part, everything=everything)
    return "\n".join(lines)


def _line(text: str) -> str:
    return one_line(text, LONGEST)


def _part(part: Part, *, everything: bool) -> Iterator[str]:
    if isinstance(part, str):
        yield _line(part)
    elif isinstance(part, Counted):
        yield _line(part.text if everything else f"{part.text}; to_text(all=True) lists them")
    elif isinstance(part, Table):
        if (table := part.shown(everything=everything)) is not None:
            yield from table_lines(table)
    elif isinstance(part, Fields):
        yield from fields(part.record, part.without)
    elif everything or not part.in_full:
        if isinstance(part, Block):
            name, lines = part.name, part.text.splitlines()
        else:
            name = part.title
            lines = [line for one in part.parts for line in _part(one, everything=everything)]
        yield from _block(name, lines, None if everything else LINES + 1)


def _block(name: str, lines: Sequence[str], most: int | None) -> Iterator[str]:
    if lines:
        first, *rest = lines[:most]
        yield f"  {name}: {_line(first)}"
        yield from (f"    {_line(line)}" for line in rest)
    if n_more := len(lines[most:]) if most else 0:
        yield f"    {and_more(n_more)}: to_text(all=True) has them"


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table below its title, in columns unless it has lines of its own."""
    indent = "  " if table.title else ""
    if table.lines is None:
        if table.title:
            yield _line(table.title)
        yield from (f"{indent}{line}".rstrip() for line in _columns(table))
        if table.size > len(table.first):
            yield f"{indent}{and_more(table.size - len(table.first))}"
    else:
        first = table.lines[: len(table.first)] if table.rows else table.lines
        for i, line in enumerate(first):
            yield _line(line)
            if remarks := "; ".join(text for own in table.remarks[i : i + 1] for text in own):
                yield f"{REMARK}{_line(remarks)}"
        if len(table.lines) > len(first):
            yield and_more(len(table.lines) - len(first))


def _columns(table: Table) -> Iterator[str]:
    """Yield the rows, of each column as wide as its longest entry."""
    rows: Sequence[Row] = table.first
    names = table.in_words
    texts = [cells(row, names, table.specs, CELL) for row in rows]
    rights = [are_numbers(name, rows) for name in names]
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    for text in [names, *texts] if rows else []:
        padded = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(text, widths, rights, strict=True)
        ]
        yield "  ".join(padded)


def fields(record: object, without: Collection[str] = ()) -> Iterator[str]:
    """Yield a line, or a block, for each field that has entries."""
    for name, value in entries(record, without):
        if value not in ((), {}, ""):
            yield from _entry(name, value)


def _entry(name: str, value: Any) -> Iterator[str]:
    """Yield a name with its value behind it, or with its parts below it."""
    if is_mapping(value):
        yield f"  {name}:"
        for key, item in islice(value.items(), SHOWN):
            yield from (f"  {line}" for line in _entry(one_line(str(key)), item))
        yield from _more(len(value), "")
    elif is_record(value) and not line_of(value):
        yield f"  {name}: {type(value).__name__}"
        yield from (f"  {line}" for line in fields(value))
    else:
        first, *rest = brief(value).splitlines() or [""]
        yield f"  {name}: {one_line(first)}"
        yield from (f"    {one_line(line)}" for line in rest[:SHOWN])
        yield from _more(len(rest), " lines")


def _more(n_items: int, what: str) -> Iterator[str]:
    if n_items > SHOWN:
        yield f"    {and_more(n_items - SHOWN)}{what}"
