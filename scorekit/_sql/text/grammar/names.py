"""Names of tables, columns and types."""
# ruff: noqa: C901, E501, PLR0912, PLR0915 - a branch for each form, lists of words

from __future__ import annotations

from scorekit._sql.text.grammar.cursor import Cursor
from scorekit._sql.text.grammar.databases import UNITS
from scorekit._sql.text.grammar.words import RefusedError, UnsureError, word_set

_MY_NO_CASTS = word_set(
    "NUMERIC TEXT BIGINT BOOLEAN BOOL TIMESTAMP TINYINT SMALLINT MEDIUMINT BLOB LONGTEXT MEDIUMTEXT TINYTEXT"
    " VARBINARY FIXED STRING NUMBER"
)


class Names(Cursor):
    """Reads names and types."""

    def any_name(self) -> None:
        """Take a name behind a dot, which any word is."""
        word, dot = self.at(), self.at(-1)
        if word.kind not in ("name", "quoted"):
            self.refuse()
        if (
            self.my
            and word.kind == "name"
            and word.start > dot.end + 1
            and word.text in self.grammar.kept
        ):
            raise UnsureError(word)
        self.i += 1

    def part(self, kept: frozenset[str]) -> None:
        word = self.at()
        if word.kind == "quoted" or (
            word.kind == "name" and (word.text not in kept or (self.my and self.text(1) == "."))
        ):
            self.i += 1
        else:
            self.refuse()

    def name(self) -> None:
        self.part(self.grammar.kept)

    def alias_name(self) -> None:
        self.part(self.grammar.no_alias)

    def alias(self) -> None:
        start = self.i
        self.alias_only()
        if self.i != start and self.text() == "(":
            if self.my:
                self.doubt()
            self.names_in_brackets()

    def alias_only(self) -> None:
        word = self.at()
        if self.my and word.text == "=" and word.kind == "sign":
            self.i += 1  # as good as AS
            self.alias_name()
            return
        if self.take("AS"):
            if self.duck and self.at().kind == "string":
                self.i += 1
                return
            if self.at().kind == "name" and self.text() in self.grammar.no_alias:
                raise RefusedError(self.at())
            self.alias_name()
        elif word.kind == "quoted" or (
            word.kind == "name"
            and word.text not in self.grammar.no_alias
            and not (self.my and word.text == "WINDOW")
        ):
            self.i += 1
        elif self.duck and word.kind == "string":
            self.refuse()

    def names_in_brackets(self) -> None:
        self.need("(")
        self.items(self.name_in_list)
        self.need(")")

    def name_in_list(self) -> None:
        self.alias_name()

    def type(self) -> None:
        word = self.at()
        if self.my:
            if word.kind != "name":
                self.refuse()
            if word.text not in (self.grammar.types or ()):
                if word.text in _MY_NO_CASTS:
                    self.refuse("no type that it casts to")
                raise UnsureError(word)
            self.i += 1
            if self.text() == "(":
                self.skip_brackets()
            if self.take("PRECISION") or self.take("INTEGER") or self.take("INT"):
                pass
            if self.is_any(
                "CHARACTER",
                "CHARSET",
                "ARRAY",
                "COLLATE",
                "BINARY",
                "ASCII",
                "UNICODE",
                "VARYING",
                "SIGNED",
                "UNSIGNED",
            ):
                raise UnsureError(self.at())
            return
        if word.kind == "quoted":
            self.i += 1
        elif word.kind != "name":
            self.refuse()
        elif word.text in ("SETOF", "STRUCT", "MAP", "UNION", "NATIONAL"):
            raise UnsureError(word)
        elif word.text == "DOUBLE":
            self.i += 1
            self.take("PRECISION")
        elif word.text in ("CHARACTER", "CHAR", "BIT", "NCHAR"):
            self.i += 1
            self.take("VARYING")
        elif word.text == "INTERVAL":
            self.i += 1
            if self.take_any(UNITS) and self.take("TO"):
                self.i += 1
        elif word.text in self.grammar.kept - self.grammar.callable:
            self.refuse()
        else:
            self.i += 1
            while self.take("."):
                self.any_name()
        if self.text() == "(":
            self.i += 1
            if not (self.duck and self.text() == ")"):
                self.items(self.value, close=True)
            self.need(")")
        if word.text in ("TIME", "TIMESTAMP") and (
            self.text() in ("WITH", "WITHOUT") and self.text(1) == "TIME"
        ):
            self.i += 1
            self.need("TIME", "ZONE")
        if self.text() == "ARRAY":
            self.doubt()
            self.i += 1
        while self.text() == "[":
            self.i += 1
            if self.at().kind == "number":
                self.i += 1
            self.need("]")

    def qualified(self) -> None:
        self.part(self.grammar.no_alias)
        while self.text() == ".":
            self.i += 1
            self.any_name()
