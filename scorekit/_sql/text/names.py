"""Dotted names of tables and columns, read and written in one way wherever they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PART: Final = re.compile(
    r'"((?:[^"]|"")*)"(?=\.|\Z)|`((?:[^`]|``)*)`(?=\.|\Z)|\[((?:[^\]]|\]\])*)\](?=\.|\Z)|([^.]*)'
)
_OPEN: Final = ('"', "`", "[")


def parts_of(name: str) -> list[str]:
    """Return the parts of a dotted name, without quotes; what ``a..b`` leaves out is empty."""
    if not any(mark in name for mark in _OPEN):
        return name.split(".")
    parts: list[str] = []
    at = 0
    while at <= len(name):
        found = _PART.match(name, at)
        assert found is not None  # noqa: S101 - the last alternative may be empty
        double, back, bracket, plain = found.groups()
        if plain is not None:
            parts.append(plain)
        elif bracket is not None:
            parts.append(bracket.replace("]]", "]"))
        else:
            mark = '"' if double is not None else "`"
            parts.append((double if double is not None else back).replace(mark * 2, mark))
        at = found.end() + 1
    return parts


def dotted(parts: Iterable[str]) -> str:
    """Return a name of parts, in quotes where one would be read as something else without them."""
    return ".".join(map(_written, parts))


def _written(part: str) -> str:
    inner = part.split(".")
    plain = all(inner) and not any(one.startswith(_OPEN) for one in inner)
    return part if plain else '"' + part.replace('"', '""') + '"'


def resolved(parts: Iterable[str], dialect: str) -> str:
    """Return a name in lower case; in ``a..b`` the schema is the one that the database means."""
    given = [*parts]
    while given and not given[0]:
        given.pop(0)
    schema = "public" if dialect == "snowflake" else "dbo"
    return dotted(part or schema for part in given).casefold()
