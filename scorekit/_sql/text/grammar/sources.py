"""What stands in FROM."""
# ruff: noqa: C901, E501, PLR0911, PLR0912, PLR0915, SIM102, TRY300, TRY301 - a branch for each form, lists of words

from __future__ import annotations

from scorekit._sql.text.grammar.databases import OWN_GRAMMAR
from scorekit._sql.text.grammar.operands import Operands
from scorekit._sql.text.grammar.words import RefusedError, UnsureError, word_set


class Sources(Operands):
    """Reads tables and joins."""

    def tables(self) -> None:
        if not (self.my and self.take("DUAL")):  # which stands alone
            self.items(self.joined)

    def joined(self) -> None:
        self.table()
        self.joins()

    def joins(self) -> bool:
        pending: list[bool] = []
        found = False
        while True:
            if self.is_any("ON", "USING") and pending:
                if self.take("USING"):
                    if self.text() != "(":
                        self.refuse()
                    self.names_in_brackets()
                    if self.pg and self.take("AS"):
                        self.alias_name()
                else:
                    self.i += 1
                    self.value()
                pending.pop()
                continue
            kind = self.join_words()
            if not kind:
                break
            found = True
            self.table()
            if kind != "bare":
                pending.append(kind == "needs")
        if any(pending):
            self.refuse()
        return found

    def join_words(self) -> str:
        """Take the words of a join: whether it ``needs`` a condition, ``may`` have one, or is bare."""
        start = self.i
        if self.my and self.take("STRAIGHT_JOIN"):
            return "may"
        if self.duck and self.is_any("ASOF", "POSITIONAL", "SEMI", "ANTI"):
            word = self.at()
            self.i += 1
            if self.is_any("LEFT", "RIGHT", "INNER", "FULL", "OUTER", "JOIN"):
                self.doubt(word)
                while self.take_any(word_set("LEFT RIGHT INNER FULL OUTER")):
                    pass
                self.need("JOIN")
                return "bare" if word.text == "POSITIONAL" else "needs"
            self.i = start
            return ""
        natural = self.take("NATURAL")
        if natural and self.duck and self.is_any("ASOF", "SEMI", "ANTI"):
            raise UnsureError(self.at())
        if self.take("CROSS"):
            if natural:
                self.refuse(word=self.at(-1))
            self.need("JOIN")
            return "may" if self.my else "bare"
        side = self.take_any(
            word_set("LEFT RIGHT FULL") if not self.my else word_set("LEFT RIGHT")
        )
        if side:
            self.take("OUTER")
            if self.duck and self.is_any("SEMI", "ANTI"):
                raise UnsureError(self.at())
        else:
            side = "INNER" * self.take("INNER")
        if self.take("JOIN"):
            if natural:
                return "bare"
            return "may" if self.my and side in ("", "INNER") else "needs"
        if self.i != start:
            self.refuse()
        return ""

    def table(self) -> None:
        if self.text() == "(":
            if self.at_query():
                start = self.i
                self.i += 1
                try:
                    if self.text() == "(" and not self.is_union_inside():
                        raise RefusedError(self.at())
                    self.query()
                    self.need(")")
                    self.after_query()
                    return
                except RefusedError:
                    if self.words[start + 1].text != "(":
                        raise
                    self.i = start
            self.i += 1
            start = self.i
            self.joined()
            while self.my and self.take(","):
                self.joined()
            self.need(")")
            if not self.my:
                self.alias()
            return
        if self.my and self.text() == "{":
            self.i += 1
            if self.at().kind != "name":
                self.refuse()
            self.i += 1
            self.joined()
            self.need("}")
            return
        if self.text() == "LATERAL":
            self.i += 1
            if self.my:
                raise UnsureError(self.at(-1))
            if self.text() == "(":
                self.i += 1
                self.query()
                self.need(")")
                self.alias()
                return
            self.table_or_function()
            return
        if self.text() == "ONLY" and self.pg:
            self.i += 1
            if self.take("("):
                self.table_name()
                self.need(")")
            else:
                self.table_name()
            self.alias()
            return
        if self.text() == "VALUES" and self.duck:
            raise UnsureError(self.at())
        if (
            self.is_any("ROWS", "XMLTABLE", "JSON_TABLE", "UNNEST")
            and not self.my
            and self.text() != "UNNEST"
        ):
            if self.text(1) in ("(", "FROM"):
                raise UnsureError(self.at())
        if self.duck and (
            self.at().kind == "string"
            or self.is_any("PIVOT", "UNPIVOT", "DESCRIBE", "SHOW", "SUMMARIZE")
        ):
            self.doubt()
            if self.at().kind != "string":
                raise UnsureError(self.at())
            self.i += 1
            self.alias()
            return
        self.table_or_function()

    def is_union_inside(self) -> bool:
        """Say whether the brackets here are parts of a query, not around a join."""
        depth = 0
        for n in range(len(self.words) - self.i):
            text = self.text(n)
            depth += (text == "(") - (text == ")")
            if depth == 0:
                return self.text(n + 1) in (
                    "UNION",
                    "EXCEPT",
                    "INTERSECT",
                    "ORDER",
                    "LIMIT",
                    "OFFSET",
                    ")",
                )
        return True

    def after_query(self) -> None:
        start = self.i
        self.alias()
        if self.my and self.i == start:
            self.refuse("a subquery in FROM needs a name")

    def table_or_function(self) -> None:
        word = self.at()
        self.table_name()
        if self.text() == "(":
            if self.my:
                if word.text == "JSON_TABLE":
                    raise UnsureError(word)
                self.refuse()
            if self.at(-1).kind == "name" and self.at(-1).text in OWN_GRAMMAR:
                raise UnsureError(self.at(-1))
            self.i -= 1
            self.call(self.at().text, in_from=True)
            if self.take("WITH"):
                self.need("ORDINALITY")
            self.function_alias()
            return
        if self.pg:
            self.take("*")
        if self.my and self.is_any("PARTITION", "FOR"):
            raise UnsureError(self.at())
        self.alias()
        if self.my:
            self.index_hints()
        if self.is_any("TABLESAMPLE", "PIVOT", "UNPIVOT"):
            raise UnsureError(self.at())

    def index_hints(self) -> None:
        while self.is_any("USE", "FORCE", "IGNORE") and self.text(1) in ("INDEX", "KEY"):
            self.doubt()
            self.i += 2
            while self.text() not in ("(", ""):
                self.i += 1
            if self.text() != "(":
                self.refuse()
            self.skip_brackets()
            self.take(",")

    def function_alias(self) -> None:
        if self.pg and self.text() == "AS" and self.text(1) == "(":
            raise UnsureError(self.at())
        start = self.i
        self.alias_only()
        if self.i != start and self.text() == "(":
            self.doubt()
            self.skip_brackets()

    def table_name(self) -> None:
        if self.my and self.text() == "." and self.at(1).kind in ("name", "quoted"):
            raise UnsureError(self.at())
        self.part(self.grammar.no_alias)
        while self.text() == ".":
            self.i += 1
            self.any_name()
