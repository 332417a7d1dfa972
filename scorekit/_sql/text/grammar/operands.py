"""What operators stand between: values, calls, brackets."""
# ruff: noqa: C901, E501, PLR0911, PLR0912, PLR0915, PLR2004, SIM102 - a branch for each form, lists of words

from __future__ import annotations

from itertools import pairwise
from typing import Final

from scorekit._sql.text.grammar.databases import MY_CALLED, OWN_GRAMMAR, PG_CALLED, UNITS
from scorekit._sql.text.grammar.expressions import Expressions
from scorekit._sql.text.grammar.words import RefusedError, UnsureError, Word, word_set

OF_STAR: Final = "SUM, AVG, MIN or MAX of *"


NO_OVER: Final = "a window function without OVER"


_PG_NO_TYPES = word_set(
    "BETWEEN COALESCE CURRENT_CATALOG CURRENT_DATE CURRENT_ROLE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEFAULT"
    " EXISTS EXTRACT FALSE INOUT LOCALTIME LOCALTIMESTAMP NATIONAL NONE NULL NULLIF OUT OVERLAY POSITION PRECISION"
    " SETOF SUBSTRING TREAT TRIM TRUE VALUES XMLATTRIBUTES XMLCONCAT XMLELEMENT XMLEXISTS XMLFOREST XMLNAMESPACES"
    " XMLPARSE XMLPI XMLROOT XMLSERIALIZE XMLTABLE"
)


_MY_COUNTS: Final = {
    "DATE": 1, "YEAR": 1, "MONTH": 1, "DAY": 1, "HOUR": 1, "MINUTE": 1, "SECOND": 1, "LEFT": 2, "RIGHT": 2,
    "MOD": 2, "REPLACE": 3, "IF": 3, "SUM": 1, "AVG": 1, "MIN": 1, "MAX": 1, "NULLIF": 2, "IFNULL": 2,
    "UPPER": 1, "LOWER": 1, "LENGTH": 1, "ABS": 1,
}  # fmt: skip
"""How many arguments functions of MySQL take, which nobody can define anew."""


_OF_VALUES = word_set("SUM AVG MIN MAX")


_MY_AGGREGATES = word_set(
    "SUM AVG MIN MAX COUNT STD STDDEV VARIANCE GROUP_CONCAT BIT_AND BIT_OR BIT_XOR"
)


_SPACELESS = word_set(
    "ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB EXTRACT GROUP_CONCAT MAX MID MIN"
    " NOW POSITION STD STDDEV STDDEV_POP STDDEV_SAMP SUBDATE SUBSTR SUBSTRING SUM SYSDATE TRIM"
    " VARIANCE VAR_POP VAR_SAMP"
)
"""Functions of MySQL which, with a space before the bracket, are those of the user."""


_WINDOWED = word_set(
    "ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE"
)


_TYPED: Final = word_set("BINARY INTERVAL")
"""Kept words that may be types."""


_MY_BEFORE_NOT = ("(", ",", "&&", "||", ":=", "!", ";")


_SPECIAL = (
    word_set(
        "CASE EXISTS CAST TRY_CAST INTERVAL ARRAY ROW NULL TRUE FALSE DEFAULT DATE TIME TIMESTAMP VALUES DOUBLE CHARACTER CHAR NATIONAL"
    )
    | PG_CALLED
    | MY_CALLED
)


class Operands(Expressions):
    """Reads single values."""

    def in_brackets(self, *, empty: bool = False) -> bool:
        """Read a query or values, and the bracket that ends them; return whether it is a query."""
        if self.at_query() and self.text() != "(":
            self.query()
            self.need(")")
            return True
        if empty and self.take(")"):
            return False
        pure = self.value()
        if pure and self.is_any(
            "UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT", "OFFSET", "FETCH"
        ):
            self.more_terms()
            self.tail()
            self.need(")")
            return True
        while self.take(","):
            pure = False
            if self.duck and self.text() == ")":
                break
            self.value()
        self.need(")")
        return pure

    def operand(self, levels: list[tuple[int, bool]]) -> bool:
        """Read a value without operators behind it; return whether it is a query in brackets."""
        word, text = self.at(), self.text()
        while text and (text in self.grammar.prefix or text == "NOT"):
            if text == "NOT":
                before = self.at(-1)
                if self.my and (before.kind == "sign" and before.text not in _MY_BEFORE_NOT):
                    self.refuse()
                if self.duck and before.kind == "sign" and before.text not in ("(", ",", "["):
                    raise UnsureError(word)
                self.enter(levels, 3)
            self.i += 1
            if text == "NOT" and self.text() == "EXISTS":
                pass
            word, text = self.at(), self.text()
        if self.my and text == "BINARY":
            self.i += 1
            return self.operand(levels)
        if word.kind == "number":
            self.i += 1
            after = self.at()
            if word.token is not None and after.start == word.end + 1 and after.kind == "name":
                if self.pg:
                    self.refuse(word=after)
                raise UnsureError(word)
            return False
        if word.kind == "string":
            self.i += 1
            return False
        if word.kind == "value":
            self.i += 1
            return False
        if word.kind == "end":
            self.refuse()
        if word.kind == "sign":
            return self.sign()
        if word.kind == "name" and word.text in _SPECIAL and self.special(word):
            return False
        return self.column_or_call()

    def sign(self) -> bool:
        text = self.text()
        if text == "(":
            self.i += 1
            return self.in_brackets(empty=self.duck)
        if text == "*" and self.duck:
            self.i += 1
            self.star_options()
            return False
        if text in ("@", "@@", ":", "$", "?") or text.startswith(("@", ":", "$", "?")):
            raise UnsureError(self.at())
        if text == "[" and self.duck:
            self.doubt()
            self.skip_brackets()
            return False
        if text == "." and self.at(1).kind == "number" and self.at(1).start == self.at().end + 1:
            self.i += 2
            return False
        if text == "{":
            raise UnsureError(self.at())
        if self.my and text == "." and self.at(1).kind in ("name", "quoted"):
            self.i += 1  # which changes nothing
            return self.column_or_call()
        if text in self.grammar.unsure:
            raise UnsureError(self.at())
        self.refuse()
        return False

    def special(self, word: Word) -> bool:
        """Read what begins with a word of its own grammar; return whether it did."""
        text, after = word.text, self.text(1)
        if text == "CASE":
            self.i += 1
            self.case()
            return True
        if text == "EXISTS":
            if after != "(":
                if self.my:
                    self.refuse()
                return False
            self.i += 2
            if not self.at_query():
                self.refuse()
            if not self.in_brackets():
                self.refuse(word=self.at(-1))
            return True
        if text in ("CAST", "TRY_CAST") and after == "(":
            if text == "TRY_CAST" and not self.duck:
                return False
            self.spaced(word)
            self.i += 2
            self.value()
            self.need("AS")
            self.type()
            self.need(")")
            return True
        if text == "INTERVAL":
            return self.interval()
        if text == "ARRAY" and not self.my:
            self.i += 1
            if self.text() == "[":
                self.doubt() if self.duck else None
                self.subscript(empty=True)
            elif self.take("("):
                if not self.at_query():
                    self.refuse()
                self.query()
                self.need(")")
            else:
                self.refuse()
            return True
        if text == "ROW" and after == "(":
            self.i += 2
            self.in_brackets(empty=True)
            return True
        if text in ("NULL", "TRUE", "FALSE"):
            self.i += 1
            return True
        if text == "DEFAULT" and not self.my:
            raise UnsureError(word)
        if text in ("DATE", "TIME", "TIMESTAMP") and self.at(1).kind == "string":
            self.i += 2
            return True
        called = MY_CALLED if self.my else PG_CALLED
        if text in called and after != "." and (self.pg or self.my):
            self.i += 1
            if self.text() == "(":
                self.skip_brackets()
            return True
        if (
            text in ("TIME", "TIMESTAMP", "DOUBLE", "CHARACTER", "CHAR", "NATIONAL")
            and not self.my
            and after != "("
        ):
            if self.at(1).kind == "string" or after in ("WITH", "WITHOUT", "PRECISION", "VARYING"):
                raise UnsureError(word)
        if text == "VALUES" and self.my and after == "(":
            raise UnsureError(word)
        return False

    def spaced(self, word: Word) -> None:
        """Refuse a space before the bracket of a call, where MySQL takes it for a user's function."""
        bracket = self.at(1)
        if self.my and bracket.start != word.end + 1:
            self.refuse(f"the space between {word.text} and its bracket", bracket)

    def case(self) -> None:
        if self.text() != "WHEN":
            self.value()
        if self.text() != "WHEN":
            self.refuse()
        while self.take("WHEN"):
            self.value()
            self.need("THEN")
            self.value()
        if self.take("ELSE"):
            self.value()
        self.need("END")

    def interval(self) -> bool:
        word, after = self.at(), self.at(1)
        if self.my:
            self.i += 1
            if self.text() == "(":
                self.i += 1
                self.in_brackets()
                self.take_any(UNITS)
                return True
            self.value()
            if not self.take_any(UNITS):
                self.refuse()
            return True
        if after.kind == "string":
            self.i += 2
            if self.take_any(UNITS) and self.take("TO"):
                self.i += 1
            if self.text() == "(":
                raise UnsureError(word)
            return True
        if self.pg:
            if after.text == "(":
                self.i += 1
                self.skip_brackets()
                if self.at().kind != "string":
                    self.refuse()
                self.i += 1
                return True
            return False
        if after.kind == "number":
            self.i += 2
            self.take_any(UNITS)
            return True
        if after.text == "(":
            self.i += 1
            self.doubt(word)
            self.skip_brackets()
            self.take_any(UNITS)
            return True
        if after.kind in ("name", "quoted") and self.text(2) in UNITS | {".", "("}:
            raise UnsureError(word)
        return False

    def column_or_call(self) -> bool:
        word = self.at()
        if word.kind == "name" and word.text in self.grammar.kept:
            is_dotted = self.my and self.text(1) == "."
            is_called = self.text(1) == "(" or (self.at(1).kind == "string" and not self.my)
            if not is_dotted and not (is_called and word.text in self.grammar.callable):
                self.refuse()
        self.i += 1
        while self.text() == ".":
            self.i += 1
            if self.take("*"):
                self.star_options()
                return False
            self.any_name()
        if self.text() == "(":
            self.i -= 1
            self.call(self.at().text)
            return False
        if self.at().kind == "string" and not self.my:
            if word.kind == "name" and word.text in _PG_NO_TYPES and word.text not in PG_CALLED:
                raise (
                    UnsureError(word)
                    if word.text not in ("VALUES", "BETWEEN")
                    else RefusedError(self.at())
                )
            if self.is_no_type(word, self.at(-1)):
                self.refuse()
            self.i += 1  # a literal of a type
            return False
        if (
            self.my
            and word.kind == "name"
            and word.text.startswith("_")
            and self.at().kind == "string"
        ):
            self.i += 1
        return False

    def is_no_type(self, first: Word, last: Word) -> bool:
        """Say whether what stands before a text is a word of the grammar, or a table's column."""
        if first is last:
            return first.kind == "name" and first.text in self.grammar.callable - _TYPED
        tables = {
            one.text for one, dot in pairwise(self.words) if dot.text == "." and one is not first
        }
        return first.text in tables

    def call(self, name: str, *, in_from: bool = False) -> None:
        """Read a call, from the name on."""
        word = self.at()
        plain = word.kind == "name"
        qualified = self.text(-1) == "."
        if plain and not qualified and name in self.grammar.not_callable:
            start = self.i
            self.i += 1
            self.skip_brackets()
            if self.at().kind == "string":
                raise UnsureError(word)
            self.refuse(word=self.words[start + 1])
        if self.my and plain and not qualified and name in _SPACELESS:
            self.spaced(word)
        self.i += 1
        if plain and not qualified and name in OWN_GRAMMAR | self.grammar.unsure:
            self.own_grammar(word)
        else:
            self.need("(")
            self.arguments(word)
        over = False
        if self.at().kind == "string" and self.pg and plain:
            raise UnsureError(word)  # a literal of a type
        if self.take("WITHIN"):
            self.need("GROUP", "(", "ORDER", "BY")
            self.order_items()
            self.need(")")
        if self.text() == "FILTER" and self.text(1) == "(" and not self.my:
            self.i += 2
            if not self.take("WHERE") and not self.duck:
                self.refuse()
            self.value()
            self.need(")")
        if (
            self.is_any("IGNORE", "RESPECT", "FROM")
            and self.text(1) in ("NULLS", "FIRST", "LAST")
            and not in_from
        ):
            if self.text() != "FROM" or self.text(2) == "OVER":
                raise UnsureError(self.at())
        if self.text() == "OVER" and not in_from:
            over = True
            self.i += 1
            if self.text() == "(":
                self.window_in_brackets()
            else:
                used = self.at()
                self.name()
                if self.windows:
                    self.windows[-1][1].append(used)
        if plain and not qualified and name in _WINDOWED and not over and not in_from:
            if not (self.duck and name in ("FIRST_VALUE", "LAST_VALUE", "NTH_VALUE")):
                self.refuse(NO_OVER, word)

    def own_grammar(self, word: Word) -> None:
        """Read a call between whose arguments words may stand."""
        name = word.text
        if name == "EXTRACT" and self.at(1).kind in ("name", "string") and self.text(2) == "FROM":
            self.i += 3
            self.value()
            self.need(")")
            return
        if name in (
            "SUBSTRING",
            "SUBSTR",
            "MID",
            "TRIM",
            "DATE_ADD",
            "DATE_SUB",
            "ADDDATE",
            "SUBDATE",
        ):
            self.need("(")
            if (
                name == "TRIM"
                and self.take_any(word_set("BOTH LEADING TRAILING"))
                and self.take("FROM")
            ):
                self.value()
                self.need(")")
                return
            if self.take(")"):
                return
            self.items(self.value, close=True)
            is_text = (
                name == "SUBSTRING" or (name == "SUBSTR" and self.my) or name in ("MID", "TRIM")
            )
            if is_text and self.take("FROM"):
                self.value()
                if name != "TRIM" and self.take("FOR"):
                    self.value()
            elif is_text and name != "TRIM" and self.text() == "FOR" and not self.my:
                self.i += 1
                self.value()
                if self.take("FROM"):
                    self.value()
            elif self.text() == "SIMILAR":
                raise UnsureError(word)
            self.need(")")
            return
        if (
            name in ("TIMESTAMPDIFF", "TIMESTAMPADD")
            and self.my
            and self.at(1).kind == "name"
            and self.text(2) == ","
        ):
            self.i += 3
            self.items(self.value, close=True)
            self.need(")")
            return
        self.skip_brackets()
        self.doubt(word)

    def arguments(self, word: Word) -> None:
        """Read the arguments of a call, behind the bracket, and the bracket that ends them."""
        name = word.text
        is_empty = self.text() == ")"
        if is_empty and word.kind == "name":
            if (self.pg and name == "COUNT") or (not self.my and name in _OF_VALUES):
                self.refuse()
        if is_empty and not (self.my and word.kind == "name" and name in _MY_AGGREGATES):
            self.i += 1
            return
        if self.text() == "*":
            if self.text(1) == ")":
                if word.kind == "name" and name in _OF_VALUES:
                    self.refuse(OF_STAR)
                if word.kind == "name" and self.my and name != "COUNT":
                    self.refuse()
                self.i += 2
                return
            if not self.duck:
                self.refuse()
        if self.take("DISTINCT"):
            if self.my and self.is_any("DISTINCT", "ALL"):
                raise UnsureError(self.at())
        elif self.text() == "ALL" and self.text(1) not in (")", ","):
            self.i += 1
        n = self.items(self.argument, close=True)
        if (
            word.kind == "name"
            and self.text() == ")"
            and (
                n > 1 if self.duck and name == "DATE" else self.my and n != _MY_COUNTS.get(name, n)
            )
        ):
            self.refuse(f"{name} of {n} arguments", word)  # nobody can define it anew
        if self.take("ORDER"):
            self.need("BY")
            self.order_items()
        if self.my and self.take("SEPARATOR"):
            if self.at().kind != "string":
                self.refuse()
            self.i += 1
        if (self.text() == "LIMIT" and name == "GROUP_CONCAT") or (
            self.is_any("IGNORE", "RESPECT") and self.text(1) == "NULLS"
        ):
            raise UnsureError(self.at())
        self.need(")")

    def argument(self) -> None:
        if self.is_any("VARIADIC"):
            raise UnsureError(self.at())
        if self.at().kind in ("name", "quoted") and self.text(1) in (":=", "=>"):
            self.i += 2
        self.value()
        if self.duck and self.is_any("->", ":=", ":"):
            raise UnsureError(self.at())

    def window_in_brackets(self) -> None:
        self.need("(")
        if self.at().kind in ("name", "quoted") and not self.is_any(
            "PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS"
        ):
            used = self.at()
            self.name()
            if self.windows:
                self.windows[-1][1].append(used)
        if self.take("PARTITION"):
            self.need("BY")
            self.items(self.value)
        if self.take("ORDER"):
            self.need("BY")
            self.order_items()
        if self.take_any(word_set("ROWS RANGE GROUPS")):
            if self.take("BETWEEN"):
                self.frame_bound()
                self.need("AND")
                self.frame_bound()
            else:
                self.frame_bound()
            if self.text() == "EXCLUDE":
                self.doubt()
                while self.at().kind == "name":
                    self.i += 1
        self.need(")")

    def frame_bound(self) -> None:
        if self.take("UNBOUNDED"):
            pass
        elif self.text() == "CURRENT" and self.text(1) == "ROW":
            self.i += 2
            return
        else:
            levels: list[tuple[int, bool]] = []
            self.operand(levels)
            while self.text() not in ("AND", "PRECEDING", "FOLLOWING"):
                n = self.operator(levels)
                if n == 0:
                    break
                if n == 2:
                    self.operand(levels)
        if not (self.take("PRECEDING") or self.take("FOLLOWING")):
            self.refuse()

    def subscript(self, *, empty: bool = False) -> None:
        if self.duck:
            self.doubt()
            self.skip_brackets()
            return
        self.need("[")
        if empty and self.take("]"):
            return
        if self.text() == "[" or self.text() == ":":
            self.i -= 1
            self.doubt()
            self.skip_brackets()
            return
        self.items(self.value)
        if self.text() == ":":
            raise UnsureError(self.at())
        self.need("]")
