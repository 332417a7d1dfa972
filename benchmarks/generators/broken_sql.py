"""Texts that somebody broke: words of a query dropped, doubled, swapped, moved, put in."""

from __future__ import annotations

import random
import re
from typing import Final

_WORD: Final = re.compile(
    r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\w+(?:\.\w+)*|<>|<=|>=|!=|\|\||[^\w\s]", re.DOTALL
)
_PUT_IN: Final = """
, ( ) . ; = < > + - * / AND OR NOT IN IS NULL LIKE BETWEEN AS SELECT DISTINCT ALL FROM WHERE GROUP
ORDER BY HAVING LIMIT OFFSET JOIN LEFT INNER OUTER CROSS NATURAL ON USING UNION EXCEPT CASE WHEN
THEN ELSE END EXISTS ANY OVER WITH DESC ASC COUNT 1 'x' x
""".split()  # noqa: SIM905 - a list would take a page
LIGHT: Final = (
    (r"\bSELECT\b(?! DISTINCT)", "SELECT ALL"),
    (r"\bSELECT\b(?! DISTINCT)", "SELECT DISTINCT"),
    (r"\bSELECT DISTINCT\b", "SELECT"),
    (r"\bWHERE\b (?=[\w.]+ [=<>])", "WHERE NOT "),
    (r"(?<=[=<>] )('[^']*'|\d+)(?![.\d])", r"(\1)"),
    (r"\bJOIN\b(?<!LEFT JOIN)(?<!INNER JOIN)", "INNER JOIN"),
    (r"\bAND\b", "OR"),
    (r"(?= LIMIT \d+\s*\Z)", ", 1"),
    (r"\bDESC\b", "ASC"),
    (r"\s*\Z", " ;"),
    (r"\A", "-- the answer\n"),
)
"""Changes after which most texts still run."""


def words_of(text: str) -> list[str]:
    """Return the words and signs of a text."""
    return _WORD.findall(text)


def broken(text: str, rng: random.Random) -> str:
    """Return a text of which one or two words were changed; a dotted name is one word."""
    words = words_of(text)
    for _ in range(rng.choice((1, 1, 1, 2))):
        if len(words) > 1:
            _change(words, rng)
    return " ".join(words)


def _change(words: list[str], rng: random.Random) -> None:
    i, j = rng.randrange(len(words)), rng.randrange(len(words))
    kind = rng.choice(("drop", "double", "swap", "move", "put in", "cut", "neighbors"))
    if kind == "drop":
        del words[i]
    elif kind == "double":
        words.insert(i, words[i])
    elif kind == "swap":
        words[i], words[j] = words[j], words[i]
    elif kind == "move":
        words.insert(j, words.pop(i))
    elif kind == "put in":
        words.insert(i, rng.choice(_PUT_IN))
    elif kind == "cut":
        del words[max(1, i) :]
    else:
        i = min(i, len(words) - 2)
        words[i : i + 2] = reversed(words[i : i + 2])


def altered(text: str, rng: random.Random) -> str:
    """Return a text changed so that a database most likely still takes it."""
    pattern, by = rng.choice(LIGHT)
    return re.sub(pattern, by, text, count=1, flags=re.IGNORECASE)
