"""A sheet as Markdown, for a pull request: names escaped, tables with pipes."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator

from scorekit._core.text import and_more
from scorekit._sheet.model import Block, Counted, Fields, Part, Sheet, Table
from scorekit._sheet.values import CELL, LONGEST, are_numbers, brief, entries, marked_cells
from scorekit.errors import one_line

INLINE = re.compile(r"([\\`*_\[|~])")
"""What Markdown reads as its own, wherever it stands."""

LEADING = re.compile(r"^(\d*)([#+=.)-])")
"""What it reads as its own where a paragraph begins."""


def render(sheet: Sheet, *, everything: bool = False) -> str:
    """Return paragraphs under a heading, without what is folded away, or with *everything*."""
    paragraphs = [f"### {escaped(sheet.title)}"] if sheet.title else []
    if sheet.headline:
        paragraphs.append(_paragraph(sheet.headline))
    for part in sheet.parts:
        if not (isinstance(part, Fields) and (sheet.headline or part.folded)):
            paragraphs += _part(part, everything=everything)
    return "\n\n".join(paragraphs)


def escaped(text: str) -> str:
    """Return *text* such that Markdown shows it as it is, on one line."""
    return INLINE.sub(r"\\\1", html.escape(one_line(text, LONGEST), quote=False))


def _paragraph(text: str) -> str:
    return LEADING.sub(r"\1\\\2", escaped(text))


def _part(part: Part, *, everything: bool) -> Iterator[str]:
    if isinstance(part, str):
        yield _paragraph(part)
    elif isinstance(part, Counted):
        more = "" if everything else "; to_markdown(all=True) lists them"
        yield _paragraph(f"{part.text}{more}")
    elif isinstance(part, Table):
        if (table := part.shown(everything=everything)) is not None:
            yield from _table(table)
    elif isinstance(part, Block):
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", part.text)), 3)
        lines = [one_line(line) for line in part.text.splitlines()]
        yield f"{escaped(part.name)}:"
        yield "\n".join([fence, *lines, fence])
    elif isinstance(part, Fields):
        rows = [{"field": name, "value": brief(value)} for name, value in _plain(part)]
        yield from _table(Table(rows=rows))
    else:
        yield f"**{escaped(part.title)}**"
        for one in part.parts:
            yield from _part(one, everything=everything)


def _plain(part: Fields) -> list[tuple[str, object]]:
    return [(name, value) for name, value in entries(part.record, part.without) if value != ()]


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield f"**{escaped(table.title)}**"
    names = table.in_words
    if names:
        rules = ("---:" if are_numbers(name, table.rows) else "---" for name in names)
        rows, notes = marked_cells(table, 2 * CELL)
        lines = [_row(map(escaped, names)), f"|{'|'.join(rules)}|"]
        yield "\n".join(
            [*lines, *(_row(escaped(text) + _raised(m) for text, m in row) for row in rows)]
        )
        yield from (f"{_raised(mark)} {escaped(note)}" for mark, note in notes.items())
        if table.size > len(rows):
            yield and_more(table.size - len(rows))
    if table.said:
        yield "\n".join(f"- {escaped(text)}" for text in table.said)


def _raised(mark: str) -> str:
    return f"<sup>{mark}</sup>" if mark else ""


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"
