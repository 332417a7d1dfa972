"""Which texts match which patterns of LIKE."""

from __future__ import annotations

from typing import Final

from scorekit._sql.tree import Like, Literal, Node, Scalar

MAX_LENGTH: Final = 60
"""Characters of the longest pattern that is looked into."""


def pattern_of(term: Node) -> tuple[Scalar, str] | None:
    """Return the value that a LIKE tests and its pattern, if no engine reads that otherwise."""
    if not isinstance(term, Like) or term.operator != "like" or term.escape is not None:
        return None
    pattern = term.pattern
    if not isinstance(pattern, Literal) or pattern.kind != "text":
        return None
    text = pattern.text
    if len(text) > MAX_LENGTH or not text.isascii() or "\\" in text or "[" in text:
        return None
    return term.operand, text


def includes(wider: str, narrower: str) -> bool:
    """
    Say whether each text that matches *narrower* matches *wider*.

    True only if *wider* matches *narrower* character by character, where ``%`` of that is matched
    by ``%`` alone; so it holds however letters compare.
    """
    reached = {0}
    for sign in narrower:
        reached = _past_percents(wider, reached)
        following: set[int] = set()
        for place in reached:
            mine = wider[place : place + 1]
            if mine == "%":
                following.add(place)
            elif mine and sign != "%" and mine in ("_", sign):
                following.add(place + 1)
        reached = following
    return len(wider) in _past_percents(wider, reached)


def _past_percents(pattern: str, places: set[int]) -> set[int]:
    found = set(places)
    for place in places:
        end = place
        while pattern[end : end + 1] == "%":
            end += 1
            found.add(end)
    return found


def excludes(first: str, second: str) -> bool:
    """Say whether no text matches both: their beginnings or their ends differ."""
    return _differ(first, second) or _differ(first[::-1], second[::-1])


def _differ(first: str, second: str) -> bool:
    for mine, other in zip(first, second, strict=False):
        if "%" in (mine, other):
            return False
        if mine.isalnum() and other.isalnum() and mine.casefold() != other.casefold():
            return True
    return False
