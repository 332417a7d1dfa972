"""
Texts that SQLite, DuckDB, PostgreSQL and MySQL read alike, and questions that these answer alike.

To read a text in four grammars costs four times as much as in one.  Most texts have nothing but
words that all four know by the same meaning, names, numbers and strings: such a text has one tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any, Final, Self, TypeVar

from sqlglot import TokenType
from sqlglot.dialects.dialect import Dialect

from scorekit._sql.databases.functions import VERSIONS

_T = TypeVar("_T")


class DiffersError(Exception):
    """A question on which dialects differ."""


class Several(str):
    """
    Several dialects as one; what not all of them answer alike raises `DiffersError`.

    It is compared with names of dialects, and no part of a set or a key of a mapping.
    """

    __slots__ = ("members",)

    members: tuple[str | None, ...]

    def __new__(cls, *members: str | None) -> Self:
        """Stand for *members*; None is the dialect of no name, which is also the empty one."""
        made = super().__new__(cls, "several dialects")
        made.members = members
        return made

    def __eq__(self, other: object) -> bool:
        """Say whether each of them is, or none of them is, the dialect *other*."""
        return self.ask(lambda one: (one or "") == (other or ""))

    def __ne__(self, other: object) -> bool:
        """Say the contrary."""
        return not self == other

    def __hash__(self) -> int:
        """Refuse to be looked up, since the answers would not be compared."""
        raise DiffersError

    def ask(self, question: Callable[[str | None], _T]) -> _T:
        """Return the answer of all of them."""
        first, *others = map(question, self.members)
        if any(other != first for other in others):
            raise DiffersError
        return first


EVERYWHERE: Final = Several(None, *VERSIONS)
"""The four that a text without a dialect may be of, and what holds in any of these."""


def ask(dialect: str | None, question: Callable[[str | None], _T]) -> _T:
    """Return the answer to a question about a dialect, or about each of several."""
    return dialect.ask(question) if isinstance(dialect, Several) else question(dialect)


def members(dialect: str | None) -> tuple[str | None, ...]:
    """Return the dialects that one stands for."""
    return dialect.members if isinstance(dialect, Several) else (dialect,)


# The words of a text.

_NULL_TEST = r"is\s+(?:not\s+)?null\b"
_TEXT = re.compile(
    rf"""\s*(?:select|with)\b(?:\s|'[^'\\]*'(?!\s*')|(?<![\w.])\d+(?:\.\d+)?(?![\w.])|\b{_NULL_TEST}"""
    r"""|(?<![\w.'])[a-z_]\w*(?:\.[a-z_]\w*)*(?:\.\*)?(?![\w.'])|<>|<=|>=|!=|[(),*+=<>]"""
    r"""|-(?!-))*+;?\s*""",
    re.ASCII | re.IGNORECASE,
)
_WORD = re.compile(
    rf"'[^']*'|\b{_NULL_TEST}|([a-z_][\w.]*)(?=\s*([('])?)", re.ASCII | re.IGNORECASE
)

_KEYWORDS: Final = frozenset(
    """select from where and or not in null true false between like join inner left right outer
    cross on as group by having order asc desc limit offset distinct union all exists case when
    then else end with""".split()  # noqa: SIM905 - a list would take a page
)
_FUNCTIONS: Final = frozenset(
    {"count", "sum", "avg", "min", "max", "coalesce", "nullif", "abs", "upper", "lower"}
)


def is_alike(text: str) -> bool:
    """
    Say whether a text, if it is read at all, has the same tree in the grammars of `VERSIONS`.

    Three things apart: where an order puts NULLs, that a comma is a CROSS JOIN to SQLite, and that
    PostgreSQL tells IS NOT NULL from NOT and IS NULL.
    """
    return _TEXT.fullmatch(text) is not None and all(
        not word[1] or _is_known(word[1].lower(), word[2] or "") for word in _WORD.finditer(text)
    )


def _is_known(word: str, after: str) -> bool:
    """Say whether a word with what follows it means the same to all."""
    if word in _KEYWORDS:
        return True
    if after:
        return after == "(" and word in _FUNCTIONS
    first, *others = word.split(".")
    own, special = _own_words()
    return first not in own and special.isdisjoint(others)


@cache
def _own_words() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that are more than names to a grammar, and those that are so to a few."""
    known = [Dialect.get_or_raise(dialect) for dialect in VERSIONS]
    words = [dialect.tokenizer_class.KEYWORDS for dialect in known]
    parsers: list[Any] = [dialect.parser_class for dialect in known]
    called = frozenset[TokenType]().union(*(one.NO_PAREN_FUNCTIONS for one in parsers))
    alone = (word for one in parsers for word in one.NO_PAREN_FUNCTION_PARSERS)
    own = {part.lower() for word in (*chain(*words), *alone) for part in word.split()}
    special = {
        word.lower()
        for word in chain(*words)
        if len({one.get(word) for one in words}) > 1 or words[0].get(word) in called
    }
    return frozenset(own) - _NAMES, frozenset(special) - _NAMES


_NAMES: Final = frozenset({"name"})
"""Keywords of a few grammars that are names wherever a name may stand."""
