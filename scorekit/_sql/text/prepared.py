"""What SQLite itself says of a text: it prepares it, and runs nothing."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from itertools import count
from typing import Final

from scorekit.errors import one_line

_SYNTAX: Final = re.compile(
    r"near \"|unrecognized token|incomplete input|clause should come after|no tables specified"
    r"|a JOIN clause is required|a NATURAL join may not have|cannot have both ON and USING"
    r"|unknown join type|all VALUES must have|ORDER BY without LIMIT|FILTER may not be used"
    r"|unsupported frame specification|RIGHT and FULL OUTER JOINs"
)
"""Messages that hang on no table, column or function."""
_NEWER: Final = (
    ((3, 44), r"\bwithin\s+group\b"),
    ((3, 46), r"\b\d+(?:_\d+)+\b"),
    ((3, 39), r"\bdistinct\s+from\b|\b(?:right|full)\s+(?:outer\s+)?join\b"),
    ((3, 38), r"->"),
    ((3, 35), r"\bmaterialized\b|\breturning\b"),
    ((3, 30), r"\bnulls\s+(?:first|last)\b|\bfilter\s*\("),
    ((3, 28), r"\bwindow\b|\bexclude\b|\bgroups\b"),
)
"""What versions of SQLite brought, so that an older one here says nothing of it."""
_ORDERED_CALL: Final = (3, 44)
_MARKS = re.compile(r"(?is)'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/")
_PARTS = re.compile(r"(?i)(\bover\s*)?\(|\)|\border\s+by\b|\bselect\b|\bpartition\b")


def syntax_error(text: str) -> str | None:
    """Return why every version of SQLite refuses the syntax of a statement, None if it may not."""
    message = _prepare(text, {}, 0)
    if message is None or not _SYNTAX.search(message) or is_newer(text):
        return None
    return f"SQLite refuses it: {one_line(message)}"


def takes(text: str) -> bool:
    """Say whether SQLite finds no fault in the syntax of one statement."""
    message = _prepare(text, {}, 0)
    return message is None or not _SYNTAX.search(message)


def message_of(text: str, tables: Mapping[str, Iterable[str]]) -> str | None:
    """Return what SQLite says against a statement over tables with these columns."""
    return _prepare(text, tables, _MOST_STEPS)


def is_newer(text: str) -> bool:
    """Say whether a text has what only a newer SQLite than the one here takes."""
    plain = _MARKS.sub(" ", text)
    here = sqlite3.sqlite_version_info
    return any(
        here < version and re.search(f"(?i){pattern}", plain) for version, pattern in _NEWER
    ) or (here < _ORDERED_CALL and _orders_in_call(plain))


def _orders_in_call(plain: str) -> bool:
    """Say whether ORDER BY stands in the brackets of a call, as in ``SUM(a ORDER BY b)``."""
    kinds: list[str] = []
    for part in _PARTS.finditer(plain):
        word = part[0].lower()
        if word == ")":
            del kinds[-1:]
        elif word.endswith("("):
            before = plain[: part.end() - 1].rstrip()
            is_call = not part[1] and before[-1:].isalnum()
            kinds.append("call" if is_call else "")
        elif word in ("select", "partition"):
            kinds[-1:] = [""]
        elif kinds and kinds[-1] == "call":
            return True
    return False


_MOST_STEPS: Final = 10_000
"""Selects and columns that SQLite may look up: queries named in WITH multiply."""


def _prepare(text: str, tables: Mapping[str, Iterable[str]], n_steps: int) -> str | None:
    """
    Return the message of an error, None where there is none or it is not SQLite's.

    SQLite asks for leave before it looks up what a query names, so that without any step only the
    syntax is read.
    """
    steps = count()
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        try:
            for name, columns in tables.items():
                listed = ", ".join(map(_quoted, columns))
                connection.execute(f"CREATE TABLE IF NOT EXISTS {_quoted(name)} ({listed})")
        except sqlite3.Error:
            return None

        def allowed(*_: object) -> int:
            return sqlite3.SQLITE_OK if next(steps) < n_steps else sqlite3.SQLITE_DENY

        connection.set_authorizer(allowed)
        try:
            connection.execute(f"EXPLAIN {text}").close()
        except sqlite3.OperationalError as error:
            return str(error)
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            return None
    return None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
