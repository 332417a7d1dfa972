"""The tables of a sheet as LaTeX, for a paper that loads booktabs."""

from __future__ import annotations

import re

from scorekit._core.text import and_more
from scorekit._sheet.model import Sheet, Table
from scorekit._sheet.values import CELL, are_numbers, marked_cells
from scorekit.errors import one_line

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
CHANGED = re.compile("[" + re.escape("".join(SPECIAL)) + "]")
MINUS = re.compile(r"(?<![\w.])-(?=[\d.]|inf)")


def render(sheet: Sheet) -> str:
    """Return a tabular for each table; its title and what else is said stand in comments."""
    tables = [_table(table) for table in sheet.tables if table.in_words]
    notes = [f"% {one_line(note)}" for note in sheet.notes] if tables else []
    return "\n\n".join([*tables, *(["\n".join(notes)] if notes else [])])


def escaped(text: str) -> str:
    """Return *text* such that LaTeX sets it as it is, on one line."""
    text = CHANGED.sub(lambda match: SPECIAL[match[0]], text)
    text = MINUS.sub("$-$", text).replace("--", "-{}-")  # no dash that nobody wrote
    return f"{{}}{text}" if text.startswith(("[", "*")) else text  # no option of the line before


def _table(table: Table) -> str:
    names = table.in_words
    kinds = "".join("r" if are_numbers(name, table.rows) else "l" for name in names)
    lines = [f"% {one_line(table.title)}"] if table.title else []
    lines += [
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        _row(list(map(escaped, names))),
        r"\midrule",
    ]
    rows, notes = marked_cells(table, CELL)
    lines += [_row([escaped(text) + _raised(mark) for text, mark in row]) for row in rows]
    if table.size > len(table.first):
        more = and_more(table.size - len(table.first))
        lines.append(rf"\multicolumn{{{len(names)}}}{{l}}{{{more}}} \\")
    lines.append(r"\bottomrule")
    lines += [
        rf"\multicolumn{{{len(names)}}}{{l}}{{\footnotesize {_raised(mark)} {escaped(note)}}} \\"
        for mark, note in notes.items()
    ]
    return "\n".join([*lines, r"\end{tabular}"])


def _raised(mark: str) -> str:
    return f"$^{{{mark}}}$" if mark else ""


def _row(texts: list[str]) -> str:
    return " & ".join(texts) + r" \\"
