"""Words of a text, and what came of reading it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from sqlglot import Token, TokenType

READ: Final = ("postgres", "mysql", "duckdb")
"""Databases whose grammar is known here."""


class Word(NamedTuple):
    """A word of a text."""

    kind: str
    """``name``, ``quoted``, ``string``, ``number``, ``value`` (a parameter), ``sign``, ``end``."""
    text: str
    """In upper case, but for strings and names in quotes."""
    start: int
    end: int
    token: Token | None = None


class Reading(NamedTuple):
    """What came of reading a text."""

    refused: Word | None = None
    """Where the database refuses the text."""
    unsure: Word | None = None
    """The first word of what is not known here; None where the whole text is."""
    why: str = ""
    """What is wrong at the word, where that can be said."""
    other: bool = False
    """Whether a statement is no query, so that a refusal may be a mistake."""

    @property
    def whole(self) -> bool:
        """Whether the database takes the syntax of the whole text."""
        return self.refused is None and self.unsure is None


class RefusedError(Exception):
    def __init__(self, word: Word, why: str = "") -> None:
        super().__init__(word, why)
        self.word, self.why = word, why


class UnsureError(Exception):
    def __init__(self, word: Word) -> None:
        super().__init__(word)
        self.word = word


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LITERAL_KINDS = {
    TokenType.STRING: "string",
    TokenType.NUMBER: "number",
    TokenType.IDENTIFIER: "quoted",
    TokenType.NATIONAL_STRING: "string",
    TokenType.BIT_STRING: "string",
    TokenType.HEX_STRING: "string",
    TokenType.BYTE_STRING: "string",
    TokenType.HEREDOC_STRING: "string",
    TokenType.RAW_STRING: "string",
    TokenType.UNICODE_STRING: "string",
    TokenType.PLACEHOLDER: "value",
}


_JOINED: Final = word_set(
    "<< >> // ** ->> !~ ~* !~* !! == || && ^@ ~~ !~~ ~~* !~~* <= >= <> != <=> @> <@"
)
"""Signs that the tokenizer cuts in two."""


def words_of(tokens: Sequence[Token]) -> list[Word]:
    """Return the words of a text, one by one; what the tokenizer cut in two is one again."""
    found: list[Word] = []
    for token in tokens:
        kind = _LITERAL_KINDS.get(token.token_type)
        text = token.text
        if kind is not None:
            found.append(Word(kind, text, token.start, token.end, token))
        elif (
            text[:1].isalpha()
            or text[:1] == "_"
            or (text and not text.isascii() and text[0] > "\x7f")
        ):
            parts = text.upper().split()
            found += [Word("name", part, token.start, token.end, token) for part in parts]
        elif token.token_type == TokenType.VAR or text[:1].isdigit():
            found.append(Word("name", text.upper(), token.start, token.end, token))
        else:
            last = found[-1] if found else END_OF_TEXT
            if last.kind == "sign" and last.end + 1 == token.start and last.text + text in _JOINED:
                found[-1] = last._replace(text=last.text + text, end=token.end)
            else:
                found.append(Word("sign", text, token.start, token.end, token))
    return found


END_OF_TEXT = Word("end", "", -1, -1)
