"""Dotted names of tables and columns, read and written in one way wherever they come from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

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
    return dotted(part or schema for part in given).lower()


def plain_names(names: Iterable[str], dialect: str) -> tuple[str, ...]:
    """Return names as a script of a dialect has them, each once, sorted."""
    return tuple(sorted({resolved(parts_of(name), dialect) for name in names}))


class Matching(NamedTuple):
    """How many names go together, and which have no partner."""

    expected: tuple[str, ...]
    n_pairs: int
    only_extracted: list[str]
    only_expected: list[str]


def match_names(
    extracted: tuple[str, ...], expected: Iterable[str], dialect: str | None = None
) -> Matching:
    """
    Match names of which one ends with the other, one to one, as many as possible.

    With *dialect*, those expected are first written as a script of the dialect has them.
    Longest names first, each with any longer name still free: what it ends can be matched by
    every shorter name that it could, so taking it costs nothing later on.
    """
    expected = tuple(expected) if dialect is None else plain_names(expected, dialect)
    sides = (frozenset(extracted), frozenset(expected))
    n_parts = {name: len(parts_of(name)) for name in (*extracted, *expected)}
    lengths = [{n_parts[name] for name in side} for side in sides]
    free: tuple[set[str], set[str]] = (set(), set())
    ending_in = (defaultdict[str, list[str]](list), defaultdict[str, list[str]](list))
    n_pairs = 0

    def longer(side: int, name: str) -> list[str]:
        found = ending_in[side][name]
        while found and found[-1] not in free[side]:
            found.pop()
        return found

    for name in sorted(sides[0] | sides[1], key=lambda name: -n_parts[name]):
        on = {side for side in (0, 1) if name in sides[side]}
        taking = {side for side in on if longer(1 - side, name)}
        if on == {0, 1} != taking:  # with itself, unless both can have another
            n_pairs += 1
            continue
        for side in on:
            if side in taking:
                free[1 - side].remove(longer(1 - side, name).pop())
                n_pairs += 1
            else:
                free[side].add(name)
                for suffix in _suffixes(name, lengths[1 - side]):
                    ending_in[side][suffix].append(name)
    return Matching(expected, n_pairs, *map(sorted, free))


def _suffixes(name: str, lengths: set[int]) -> list[str]:
    """Return the ends of a dotted name that have one of these numbers of parts."""
    parts = parts_of(name)
    return [dotted(parts[-n:]) for n in lengths if n <= len(parts)]
