"""Operators, by how strongly they bind."""
# ruff: noqa: C901, PLR0911, PLR0912, PLR2004, SIM102 - a branch for each form, lists of words

from __future__ import annotations

from typing import Final

from scorekit._sql.text.grammar.databases import COMPARE, ENDS
from scorekit._sql.text.grammar.names import Names
from scorekit._sql.text.grammar.words import RefusedError, UnsureError, word_set

_IS, _COMPARING, _LIKE = 4, 5, 6


_LIKES: Final = {
    "postgres": word_set("LIKE ILIKE"),
    "duckdb": word_set("LIKE ILIKE GLOB"),
    "mysql": word_set("LIKE RLIKE REGEXP"),
}


class Expressions(Names):
    """Reads values with operators."""

    def value(self) -> bool:
        """Read an expression; return whether it is a query in brackets and nothing else."""
        levels: list[tuple[int, bool]] = []
        pure = self.operand(levels)
        while True:
            n = self.operator(levels)
            if n == 0:
                return pure
            pure = False
            if n == 2:
                self.operand(levels)

    def enter(self, levels: list[tuple[int, bool]], level: int, *, chained: bool = True) -> None:
        """Note an operator of a level; refuse a second one of a level that has no order."""
        while levels and levels[-1][0] > level:
            levels.pop()
        if not chained and levels and levels[-1] == (level, True):
            self.refuse("brackets must say which comparison comes first", self.at(-1))
        if levels and levels[-1][0] == level:
            levels.pop()
        levels.append((level, not chained))

    def operator(self, levels: list[tuple[int, bool]]) -> int:
        """Take an operator: 0 for none, 1 where it is whole, 2 where an operand follows."""
        word, text = self.at(), self.text()
        if (
            not self.my
            and word.kind == "name"
            and text not in self.grammar.no_label
            and (self.at(1).kind == "end" or self.text(1) in (*ENDS, ","))
        ):
            return 0  # a label
        if not text:
            if self.my and word.kind == "string" and self.at(-1).kind == "string":
                self.i += 1
                return 1
            return 0
        for read in (self.infix, self.predicate, self.postfix):
            found = read(levels)
            if found is not None:
                return found
        if self.my and text == "MEMBER":
            raise UnsureError(word)
        if word.kind == "sign" and text not in (")", "]", "}", ",", ";", "(", ".", "["):
            if text in self.grammar.unsure or (self.pg and not text.startswith(":")):
                raise UnsureError(word)
        return 0

    def infix(self, levels: list[tuple[int, bool]]) -> int | None:
        """Take a sign or a word between two operands, or IS; None for another one."""
        word, text = self.at(), self.text()
        if text in self.grammar.infix and word.kind == "sign":
            self.i += 1
            if text in self.grammar.comparing:
                self.enter(levels, _COMPARING, chained=False)
            if text in COMPARE and self.is_any("ANY", "ALL", "SOME"):
                if self.text(1) == "(":
                    self.i += 1
                    self.quantified()
                    return 1
                if self.duck:
                    raise UnsureError(self.at())
            return 2
        if text in ("AND", "OR") or (self.my and text == "XOR"):
            self.i += 1
            self.enter(levels, 1 if text == "OR" else 2)
            return 2
        if self.my and text in ("DIV", "MOD"):
            self.i += 1
            return 2
        if text == "IS":
            self.i += 1
            self.enter(levels, _IS)
            return self.is_what()
        if text in ("ISNULL", "NOTNULL") and not self.my:
            self.i += 1
            return 1
        return None

    def predicate(self, levels: list[tuple[int, bool]]) -> int | None:
        """Take IN, BETWEEN or LIKE, with NOT or without; None for another operator."""
        start = self.i
        negated = self.take("NOT")
        if self.take("IN"):
            self.enter(
                levels, _LIKE, chained=not (self.pg and levels and levels[-1] == (_LIKE, True))
            )
            levels.pop()
            return self.in_what()
        if self.take("BETWEEN"):
            self.enter(levels, _LIKE, chained=self.my)
            if not self.my and not self.take("SYMMETRIC"):
                self.take("ASYMMETRIC")
            self.bound()
            self.need("AND")
            return 2
        if self.take_any(_LIKES[self.dialect]):
            self.enter(levels, _LIKE, chained=self.my)
            if (
                self.at(-1).text == "LIKE"
                and self.is_any("ANY", "ALL", "SOME")
                and self.text(1) == "("
            ):
                self.i += 1
                self.quantified()
                return 1
            return 2
        if self.text() == "SIMILAR" and not self.my:
            self.i += 1
            self.need("TO")
            self.enter(levels, _LIKE, chained=self.my)
            return 2
        if negated:
            if not self.my and self.text() == "NULL" and self.duck:
                raise UnsureError(self.at())
            self.i = start
            return 0
        return None

    def postfix(self, levels: list[tuple[int, bool]]) -> int | None:
        """Take what stands behind an operand, or between it and one of its own."""
        text = self.text()
        if text == "ESCAPE" and any(level == _LIKE for level, _ in levels):
            self.i += 1
            return 2
        if text == "SOUNDS" and self.my and self.text(1) == "LIKE":
            self.i += 2
            return 2
        if text == "COLLATE":
            self.i += 1
            if self.my and (self.at().kind == "string" or self.text() in ("BINARY", "DEFAULT")):
                self.i += 1
            else:
                self.qualified()
            return 1
        if text == "AT" and not self.my and self.text(1) == "TIME":
            self.i += 1
            self.need("TIME", "ZONE")
            return 2
        if text == "::" and not self.my:
            self.i += 1
            self.type()
            return 1
        if text == "[" and not self.my:
            self.subscript()
            return 1
        if text == "." and not self.my:
            self.i += 1
            if self.duck or self.take("*"):
                if self.duck:
                    self.doubt()
                    self.i += 1
                    if self.text() == "(":
                        self.skip_brackets()
                return 1
            self.any_name()
            return 1
        if text == "OVERLAPS" and not self.my:
            self.i += 1
            return 2
        return None

    def is_what(self) -> int:
        self.take("NOT")
        if self.take_any(word_set("NULL TRUE FALSE UNKNOWN")):
            return 1
        if self.my:
            if self.is_any("JSON", "DISTINCT"):
                raise UnsureError(self.at())
            self.refuse()
        if self.take("DISTINCT"):
            self.need("FROM")
            return 2
        if self.is_any("DOCUMENT", "NORMALIZED", "NFC", "NFD", "NFKC", "NFKD", "JSON", "OF"):
            raise UnsureError(self.at())
        self.refuse()
        return 0

    def in_what(self) -> int:
        if self.text() != "(":
            if self.duck:
                self.doubt()
                return 2
            self.refuse()
        self.i += 1
        if self.my:
            if self.text() == ")":
                self.refuse()
            self.limited_query()
            return 1
        if self.duck and self.take(")"):
            self.doubt(self.at(-1))
            return 1
        if self.text() == ")":
            self.refuse()
        self.in_brackets()
        return 1

    def limited_query(self) -> None:
        """Read what stands in the brackets of IN or ANY in MySQL, which takes no LIMIT there."""
        start = self.i
        self.in_brackets()
        if self.words[start].text != "SELECT":
            return
        depth = 0
        for word in self.words[start : self.i - 1]:
            text = word.text if word.kind in ("name", "sign") else ""
            depth += (text == "(") - (text == ")")
            if depth == 0 and text == "LIMIT":
                raise RefusedError(word, "LIMIT in a subquery of IN, ANY, SOME or ALL")

    def quantified(self) -> None:
        self.need("(")
        if self.my:
            if not self.at_query():
                self.refuse()
            self.limited_query()
        else:
            self.in_brackets()

    def bound(self) -> None:
        """Read the lower bound of BETWEEN: AND ends it."""
        levels: list[tuple[int, bool]] = []
        self.operand(levels)
        while self.text() not in ("AND", "OR", "XOR"):
            if self.pg and self.is_any("NOT", "IN", "LIKE", "ILIKE", "BETWEEN", "IS"):
                if self.text() == "IS" and self.text(1) != "NULL" and self.text(2) != "NULL":
                    pass
                raise UnsureError(self.at())
            n = self.operator(levels)
            if n == 0:
                return
            if n == 2:
                self.operand(levels)
