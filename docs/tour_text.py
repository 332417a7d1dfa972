"""How `tour.py` lays out its report as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import scorekit

WIDTH = 88

COLUMNS = "  "
"""What stands between the columns of a table."""


def say(text: str) -> str:
    """Return a paragraph."""
    return textwrap.fill(" ".join(text.split()), WIDTH)


def indented(text: str) -> str:
    """Return a block that keeps its lines."""
    return textwrap.indent(text.strip("\n"), "    ")


def hanging(text: str) -> str:
    """Break lines that are too wide, but those of tables, with the rest further to the right."""
    return "\n".join(
        line
        if COLUMNS in line
        else textwrap.fill(line, WIDTH - 4, subsequent_indent=" " * 7, break_on_hyphens=False)
        for line in text.splitlines()
    )


def blocks(*parts: str) -> str:
    """Return the parts with a blank line between them."""
    return "\n\n".join(parts)


def table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str = "") -> str:
    """Return aligned columns; *align* holds ``<`` or ``>`` for each, by default ``<``."""
    lines = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["─" * width for width in widths])
    signs = align or "<" * len(header)
    return indented(
        "\n".join(
            "   ".join(
                f"{cell:{sign}{width}}"
                for cell, sign, width in zip(line, signs, widths, strict=True)
            ).rstrip()
            for line in lines
        )
    )


def ends(interval: scorekit.Interval) -> str:
    """Return an interval with two decimals."""
    return f"[{interval.low:.2f}, {interval.high:.2f}]"


def percent(share: float) -> str:
    """Return a share of one in percent."""
    return f"{100 * share:.0f} %"
