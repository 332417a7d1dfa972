"""
Whether a database takes a text: asked once, before every proof and at every door.

SQLite prepares the text itself; for PostgreSQL, MySQL and DuckDB a reader goes over its words.
Where neither is sure, nothing is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from scorekit._sql.databases.functions import VERSIONS, database_of
from scorekit._sql.text.grammar.databases import STATEMENTS
from scorekit._sql.text.grammar.operands import NO_OVER, OF_STAR
from scorekit._sql.text.grammar.queries import NO_WINDOW
from scorekit._sql.text.grammar.read import read_grammar
from scorekit._sql.text.grammar.words import READ, Reading, Word
from scorekit._sql.text.prepared import syntax_error, takes


class Verdict(NamedTuple):
    """What a database says of a text."""

    refused: str = ""
    """Why no version of it takes the text; empty where one may."""
    whole: bool = False
    """Whether it takes the syntax of the whole text."""
    doubt: tuple[int, int] | None = None
    """Line and column of the first word that is not known here."""
    word: Word | None = None
    """The word at which it refuses the text."""


def verdict(text: str, dialect: str, words: Sequence[Token] = ()) -> Verdict:
    """Return what the database of a dialect says of the syntax of queries, and of nothing else."""
    if dialect not in VERSIONS:
        return Verdict()
    joined = _joined_words(text) if dialect != "duckdb" else None
    if joined is not None:
        name = f"U+{ord(joined[0]):04X}"
        why = f"{database_of(dialect)} reads the space {name} as a letter"
        return Verdict(f"{why}, which joins the words beside it")
    words = words or _words(text, dialect)
    if not words:
        return Verdict()
    if dialect == "sqlite":
        return _of_sqlite(text, words)
    return _of_reading(read_grammar(words, dialect), dialect, words)


def _words(text: str, dialect: str) -> Sequence[Token]:
    try:
        return Dialect.get_or_raise(dialect).tokenizer().tokenize(text)
    except (SqlglotError, TypeError, AttributeError, ValueError, IndexError):
        return ()


_SPACES = "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPACED = re.compile(
    rf"(?s)'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\#[^\n]*|(?P<space>[{_SPACES}])"
)


def _joined_words(text: str) -> str | None:
    """Return a space beyond ASCII outside of strings, names in quotes and comments."""
    if text.isascii():
        return None
    return next((found["space"] for found in _SPACED.finditer(text) if found["space"]), None)


def _of_reading(reading: Reading, dialect: str, words: Sequence[Token]) -> Verdict:
    doubt = reading.unsure and _place(reading.unsure, words)
    if reading.refused is None or reading.other:
        return Verdict("", whole=reading.whole, doubt=doubt or None)
    word = reading.refused
    why = f": {reading.why}" if reading.why else ""
    what = f"at {word.text[:40]!r}" if word.token is not None else "at its end"
    line, column = _place(word, words)
    message = f"{database_of(dialect)} refuses it {what}{why}. Line {line}, column {column}."
    return Verdict(message, word=word)


def _place(word: Word, words: Sequence[Token]) -> tuple[int, int]:
    token = word.token or words[-1]
    return token.line, token.col


# SQLite.


def _of_sqlite(text: str, words: Sequence[Token]) -> Verdict:
    for comma, word, join in zip(words, words[1:], words[2:], strict=False):
        kinds = (comma.token_type, word.token_type, join.token_type)
        if kinds in _JOINED_TO_NOTHING:  # which the parser reads as a join
            return Verdict(f"SQLite refuses it: no such table: {word.text}")
    whole = True
    for part in _statements(text, words):
        first = _FIRST.match(part)
        name = first[1].upper() if first else ""
        if name in STATEMENTS and name not in _ASKED:
            return Verdict()
        why = syntax_error(part)
        if why is not None:
            return Verdict(why)
        whole = whole and takes(part)
    return Verdict(whole=whole)


_JOINED_TO_NOTHING: Final = tuple(
    (TokenType.COMMA, word, TokenType.JOIN) for word in (TokenType.INNER, TokenType.CROSS)
)
_FIRST = re.compile(r"(?s)(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)")
_ASKED: Final = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "USE", "SET", "DECLARE"})
"""What begins a query, and what SQLite does not have, though others do in front of one."""


def _statements(text: str, words: Sequence[Token]) -> Iterator[str]:
    start = 0
    for word in words:
        if word.token_type == TokenType.SEMICOLON:
            if text[start : word.start].strip():
                yield text[start : word.start]
            start = word.end + 1
    if any(word.start >= start for word in words):
        yield text[start:]


# No dialect.


@lru_cache(maxsize=256)
def refused_everywhere(text: str) -> str | None:
    """
    Return why no database takes a text: an empty item, a clause out of order, words after the end.

    Other databases have much that none of the four has.  So all of them must refuse it, and the
    reader at one word that can stand nowhere else.
    """
    if "|>" in text or _OUTER_MARK.search(text):
        return None
    found: list[Verdict] = []
    for dialect in READ:
        words = _words(text, dialect)
        if not words:
            return None
        reading = read_grammar(words, dialect)
        if reading.refused is None or reading.other:
            return None
        if reading.why not in _NO_SYNTAX and not _is_faulty(reading.refused, words):
            return None
        found.append(_of_reading(reading, dialect, words))
    if len({one.word.start for one in found if one.word is not None}) > 1:
        return None
    message = found[0].refused
    is_everywhere = any(why in message for why in _NO_SYNTAX) or verdict(text, "sqlite").refused
    return message.replace("PostgreSQL refuses", "no database takes") if is_everywhere else None


_NO_SYNTAX: Final = (NO_OVER, NO_WINDOW, OF_STAR)
"""What SQLite refuses, too, but only once it has found the tables."""
_OUTER_MARK = re.compile(r"\(\s*\+\s*\)")
"""How Oracle writes an outer join."""
_CLAUSES: Final = frozenset(
    ", ) FROM WHERE GROUP HAVING ORDER LIMIT UNION INTERSECT JOIN INNER THEN ELSE WHEN END AND"  # noqa: SIM905
    " OR ON".split()
)
_BATCHES: Final = frozenset({"GO", "END", "/", "EXIT", "QUIT", "EOF"})


def _is_faulty(word: Word, words: Sequence[Token]) -> bool:
    """Say whether a word that is refused can stand there in no database."""
    if word.token is None:
        return True
    place = next(i for i, token in enumerate(words) if token is word.token)
    before = words[place - 1].text.upper() if place else ";"
    if before == ";":  # a statement that begins with no word for one
        return word.kind == "name" and word.text not in STATEMENTS | _BATCHES
    if word.text == "NOT" and place + 1 < len(words):
        return words[place + 1].text.upper() == "IS"
    return before == "FETCH" or (word.kind in ("name", "sign") and word.text in _CLAUSES)


# The tree.

_WINDOWED: Final = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag,
    exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip
_OVER: Final = (exp.Window, exp.IgnoreNulls, exp.RespectNulls, exp.Filter, exp.WithinGroup)


def fault_in(trees: Iterable[exp.Expr | None], dialect: str) -> str | None:
    """Return what a database refuses of queries only where it finds their tables."""
    for tree in trees:
        for node in () if tree is None else tree.find_all(exp.Select, *_LOOKED_AT):
            why = _star_fault(node) or (_window_fault(node) if dialect == "sqlite" else "")
            if why:
                return f"{database_of(dialect)} refuses it: {why}"
    return None


_LOOKED_AT: Final = (exp.Window, exp.Sum, exp.Avg, *_WINDOWED)


def _star_fault(node: exp.Expr) -> str:
    """Return what is wrong with a star, which stands for the columns of tables."""
    if not isinstance(node, exp.Select):
        return f"{node.key.upper()} of *" if isinstance(node.this, exp.Star) else ""
    if node.args.get("from_") is not None or isinstance(node.parent, exp.Exists):
        return ""
    return "* without tables" if any(type(one) is exp.Star for one in node.expressions) else ""


def _window_fault(node: exp.Expr) -> str:
    name = node.args.get("alias")
    if isinstance(node, exp.Window) and node.args.get("over") and name is not None:
        select = node.parent_select
        known: list[exp.Expr] = [] if select is None else select.args.get("windows") or []
        if name.name.lower() not in {one.name.lower() for one in known}:
            return f"no such window: {name.name}"
    elif isinstance(node, _WINDOWED) and not isinstance(node.parent, _OVER):
        return f"misuse of window function {node.key}"
    return ""
