"""
What a record shows, as data: a headline, facts, tables, notes.

A record's ``_sheet()`` returns a `Sheet`.  How that reads as text, Markdown, LaTeX or HTML stands
in the module of that name and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import attrs

ROWS_AT_MOST = 1000
"""Rows, or lines of a text, that a page gets: all cases of a large run would freeze it."""

Row: TypeAlias = Mapping[str, object]
"""A row of named cells: text, numbers, None where there is nothing, or what stands below."""


@attrs.frozen
class Estimate:
    """A number with its interval, which is None where there is none."""

    value: float | None
    interval: Any = None
    sign: str = ""
    """``"+"`` where it is a difference."""
    note: str = ""
    """What it stands on, where that is less than the whole."""


@attrs.frozen
class Scale:
    """A picture of a number on a scale: a dot, and a bar between the ends of its interval."""

    value: float | None
    """None where only the ends are known."""
    ends: tuple[float, float] | None = None
    scale: tuple[float, float] = (0.0, 1.0)

    @classmethod
    def of(cls, value: float, interval: Any, scale: tuple[float, float] = (0.0, 1.0)) -> Scale:
        """Return the picture of a number with its interval, if there is one."""
        ends = None if interval is None else (interval.low, interval.high)
        return cls(None if math.isnan(value) else value, ends, scale)


@attrs.frozen(kw_only=True)
class Table:
    """Rows of named cells under a title; a column without any entry is not shown."""

    rows: Sequence[Row]
    title: str = ""
    specs: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """How the numbers of a column are written, as `format` takes it; 4 digits unless named."""
    n_rows: int | None = None
    """How many there are, where not all are given."""
    lines: Sequence[str] | None = None
    """What plain text says instead, title included, a line for each row."""
    remarks: Sequence[Sequence[str]] = ()
    """What else there is to say of each row."""
    most: int | None = None
    """Rows after which a text only counts the rest."""
    place: Literal["everywhere", "detail", "brief", "page", "folded"] = "everywhere"
    """Where it stands: also in text, in text where all is asked for and folded away on the page
    of a notebook, in text alone where not all is, on such a page alone, or there folded away."""

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows) if self.n_rows is None else self.n_rows

    @property
    def first(self) -> Sequence[Row]:
        """The rows that a text has: also one more, which takes no more room than its count."""
        return (
            self.rows
            if self.most is None or self.size <= self.most + 1
            else self.rows[: self.most]
        )

    @property
    def columns(self) -> list[str]:
        """Names of the columns with an entry, in order of appearance."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        nothing: tuple[object, ...] = (None, "", {})
        return [name for name in names if any(row.get(name) not in nothing for row in self.rows)]

    def shown(self, *, everything: bool) -> Table | None:
        """Return the table as a text has it, whole if it has *everything*; None if it has not."""
        if everything and self.place in ("everywhere", "detail"):
            return attrs.evolve(self, most=None)
        is_brief = self.place == "brief" and not everything
        return self if is_brief or self.place == "everywhere" else None

    @property
    def in_words(self) -> list[str]:
        """Names of the columns that are no pictures."""
        pictures = {
            name for row in self.rows for name, one in row.items() if isinstance(one, Scale)
        }
        return [name for name in self.columns if name not in pictures]

    @property
    def said(self) -> list[str]:
        """The remarks; what is said of all rows stands once, else behind the name of its row."""
        if len(self.rows) <= 1:
            return [text for own in self.remarks for text in own]
        first = self.remarks[0] if self.remarks else ()
        common = [text for text in first if all(text in own for own in self.remarks)]
        named = [
            f"{next(iter(row.values()))}: {text}"
            for row, own in zip(self.rows, self.remarks, strict=False)
            for text in own
            if text not in common
        ]
        return common + named


@attrs.frozen
class Counted:
    """A note that counts what tables in detail list; where they are not shown it says how."""

    text: str


@attrs.frozen
class Block:
    """Text of several lines that keeps them, such as a query, behind its name."""

    name: str
    text: str
    in_full: bool = False
    """Whether a text has it only where all is asked for."""


@attrs.frozen(kw_only=True)
class Fields:
    """A row for each field of a record that has something to say."""

    record: object
    without: Collection[str] = ()
    title: str = ""
    folded: bool = False


@attrs.frozen
class Section:
    """Parts under a title of their own."""

    title: str
    parts: Sequence[Part]
    in_full: bool = False


Part: TypeAlias = "str | Counted | Table | Block | Fields | Section"
"""A note, or one of the above."""


@attrs.frozen
class Sheet:
    """All that a record shows."""

    title: str
    """What it is; plain text leaves it out where there is a headline."""
    headline: str = ""
    """What matters first, on one line."""
    parts: Sequence[Part] = ()

    @property
    def notes(self) -> list[str]:
        """The notes."""
        return [part for part in self.parts if isinstance(part, str)]

    @property
    def tables(self) -> list[Table]:
        """The tables that a text always has."""
        tables = (part for part in self.parts if isinstance(part, Table))
        return [table for table in tables if table.place == "everywhere"]


def sheet_of(record: object) -> Sheet:
    """Return what a record shows; of one without a sheet of its own, its fields."""
    own: Any = getattr(record, "_sheet", None)
    return by_fields(record) if own is None else own()


def by_fields(record: object, without: Collection[str] = ()) -> Sheet:
    """Return a sheet of the fields, behind the line of the record where it has one."""
    line = line_of(record)
    fields = Fields(record=record, without=without, title="All fields", folded=bool(line))
    return Sheet(type(record).__name__, line, (fields,))


def line_of(record: object) -> str:
    """Return what stands for a record in a cell, or nothing if its fields have to."""
    own: Any = getattr(record, "_line", None)
    return "" if own is None else own()


def row_of(record: object) -> Row:
    """Return a row of a table of such records: what they say of themselves, or their fields."""
    own: Any = getattr(record, "_row", None)
    if own is not None:
        row: Row = own()
        return row
    kind: Any = type(record)
    values = {field.name: getattr(record, field.name) for field in attrs.fields(kind)}
    return {name: one for name, one in values.items() if not isinstance(one, tuple | Mapping)}
