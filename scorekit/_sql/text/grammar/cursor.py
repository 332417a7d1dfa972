"""A place among the words of a text, and how to move on."""

from __future__ import annotations

from collections.abc import Callable

from scorekit._sql.text.grammar.databases import ENDS, GRAMMARS
from scorekit._sql.text.grammar.words import END_OF_TEXT, READ, RefusedError, UnsureError, Word


class Cursor:
    """Moves over the words of a text in the grammar of one database."""

    def __init__(self, words: list[Word], dialect: str) -> None:
        self.words, self.dialect = words, dialect
        self.grammar = GRAMMARS[dialect]
        self.i: int = 0
        self.unsure: Word | None = None
        self.other = False
        self.pg, self.my, self.duck = (dialect == one for one in READ)
        self.windows: list[tuple[set[str], list[Word]]] = []

    def at(self, ahead: int = 0) -> Word:
        place = self.i + ahead
        return self.words[place] if 0 <= place < len(self.words) else END_OF_TEXT

    def text(self, ahead: int = 0) -> str:
        """Return a plain word or a sign, nothing for other kinds."""
        word = self.at(ahead)
        return word.text if word.kind in ("name", "sign") else ""

    def is_any(self, *texts: str) -> bool:
        return self.text() in texts

    def is_any_ahead(self, *texts: str) -> bool:
        """Say whether the word behind this one is one of these, and the last of its part."""
        return self.text(1) in texts and (self.at(2).kind == "end" or self.text(2) in ENDS)

    def take(self, *texts: str) -> bool:
        """Take the next words if they are these."""
        if all(self.text(n) == text for n, text in enumerate(texts)):
            self.i += len(texts)
            return True
        return False

    def take_any(self, texts: frozenset[str]) -> str:
        text = self.text()
        if text in texts:
            self.i += 1
            return text
        return ""

    def need(self, *texts: str) -> None:
        for text in texts:
            if self.text() != text:
                self.refuse()
            self.i += 1

    def refuse(self, why: str = "", word: Word | None = None) -> None:
        word = word or self.at()
        if not why and word.kind in ("name", "sign") and word.text in self.grammar.unsure:
            raise UnsureError(word)
        raise RefusedError(word, why)

    def doubt(self, word: Word | None = None) -> None:
        """Note what is not known, and go on."""
        self.unsure = self.unsure or word or self.at()

    def skip_brackets(self) -> None:
        """Go behind the bracket that closes the one here."""
        depth = 0
        while self.i < len(self.words):
            text = self.text()
            depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
            self.i += 1
            if depth == 0:
                return
        raise RefusedError(END_OF_TEXT)

    # What later files read.

    def at_query(self) -> bool:
        """Say whether a query begins here, behind any brackets."""
        raise NotImplementedError

    def query(self) -> None:
        """Read a query."""
        raise NotImplementedError

    def more_terms(self) -> None:
        """Read UNION and the like, and the queries behind."""
        raise NotImplementedError

    def tail(self) -> None:
        """Read ORDER BY, LIMIT and what else may end a query."""
        raise NotImplementedError

    def order_items(self) -> None:
        """Read the items of an ORDER BY."""
        raise NotImplementedError

    def items(self, item: Callable[[], object], *, close: bool = False) -> int:
        """Read what commas part; DuckDB takes one more at the end."""
        raise NotImplementedError

    def star_options(self) -> None:
        """Read what may follow a star."""
        raise NotImplementedError

    def value(self) -> bool:
        """Read an expression; return whether it is a query in brackets and nothing else."""
        raise NotImplementedError

    def in_brackets(self, *, empty: bool = False) -> bool:
        """Read a query or values, and the bracket that ends them; return whether it is a query."""
        raise NotImplementedError

    def operand(self, levels: list[tuple[int, bool]]) -> bool:
        """Read a value without operators behind it; return whether it is a query in brackets."""
        raise NotImplementedError

    def subscript(self, *, empty: bool = False) -> None:
        """Read a subscript."""
        raise NotImplementedError
