"""Statements and queries, clause by clause."""
# ruff: noqa: C901, E501, PLR0912 - a branch for each form, lists of words

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scorekit._sql.text.grammar.databases import ENDS, STATEMENTS
from scorekit._sql.text.grammar.sources import Sources
from scorekit._sql.text.grammar.words import RefusedError, UnsureError, word_set

NO_WINDOW: Final = "no such window"


_NO_STATEMENTS: Final = {
    "postgres": word_set("USE PRAGMA ATTACH DETACH DESCRIBE DESC KILL PURGE HANDLER EXEC"),
    "mysql": word_set("PRAGMA ATTACH DETACH COPY VACUUM LISTEN NOTIFY EXEC SUMMARIZE"),
    "duckdb": word_set("KILL PURGE HANDLER LISTEN NOTIFY EXEC"),
}
"""Statements that others have."""


_MY_BLOCKS = word_set("IF CASE WHILE LOOP REPEAT RETURN")


_QUERIES = word_set("SELECT WITH VALUES TABLE FROM")


_MY_MODIFIERS = word_set(
    "ALL DISTINCT DISTINCTROW HIGH_PRIORITY STRAIGHT_JOIN SQL_SMALL_RESULT SQL_BIG_RESULT SQL_BUFFER_RESULT"
    " SQL_CACHE SQL_NO_CACHE SQL_CALC_FOUND_ROWS"
)


_CLAUSES = word_set(
    "FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT"
)


class Queries(Sources):
    """Reads statements."""

    def script(self) -> None:
        if self.my and self.text() == ";" and len(self.words) > 1:
            self.refuse()
        while self.i < len(self.words):
            if self.take(";"):
                continue
            self.statement()
            if self.i < len(self.words) and self.text() != ";":
                self.refuse()

    def statement(self) -> None:
        word = self.text()
        if self.at_query():
            self.query()
        elif word in _NO_STATEMENTS[self.dialect]:
            self.refuse()
        elif word in STATEMENTS and word not in _QUERIES:
            self.other = True
            self.doubt()
            while self.i < len(self.words) and self.text() != ";":
                self.i += 1
        elif self.my and word in _MY_BLOCKS:
            raise UnsureError(self.at())
        else:
            self.refuse()

    def at_query(self) -> bool:
        """Say whether a query begins here, behind any brackets."""
        n = 0
        while self.text(n) == "(":
            n += 1
        word = self.text(n)
        return (
            word in ("SELECT", "WITH")
            or (word == "VALUES" and (self.text(n + 1) in ("(", "ROW") or not self.my))
            or (word == "TABLE" and not self.my)
            or (word == "FROM" and self.duck)
        )

    def query(self) -> None:
        if self.take("WITH"):
            self.ctes()
        self.terms()
        self.tail()

    def ctes(self) -> None:
        self.take("RECURSIVE")
        while True:
            self.alias_name()
            if self.text() == "(":
                self.names_in_brackets()
            if self.duck and self.text() == "USING":
                raise UnsureError(self.at())
            self.need("AS")
            if not self.my:
                if self.take("NOT"):
                    self.need("MATERIALIZED")
                else:
                    self.take("MATERIALIZED")
            if self.text() != "(":
                self.refuse()
            self.i += 1
            if self.at_query():
                self.query()
            elif self.text() in STATEMENTS:
                self.doubt()
                self.i -= 1
                self.skip_brackets()
                self.i -= 1
            else:
                self.refuse()
            self.need(")")
            if not self.take(","):
                return
            if self.duck and self.at_query():
                return

    def terms(self) -> None:
        """Read queries between UNION and the like."""
        self.term()
        self.more_terms()

    def more_terms(self) -> None:
        while self.is_any("UNION", "EXCEPT", "INTERSECT"):
            self.i += 1
            if not self.take("ALL"):
                self.take("DISTINCT")
            if self.duck and self.take("BY"):
                self.need("NAME")
            self.term()

    def term(self) -> None:
        if self.take("("):
            self.query()
            self.need(")")
        elif self.text() == "SELECT":
            self.select()
        elif self.text() == "VALUES":
            self.values()
        elif self.text() == "TABLE" and not self.my:
            self.i += 1
            self.table_name()
        elif self.text() == "FROM" and self.duck:
            self.from_first()
        elif self.text() == "WITH" and not self.my and self.at(-1).text == "(":
            self.query()
        else:
            self.refuse()

    def values(self) -> None:
        self.need("VALUES")
        while True:
            if self.my:
                self.doubt()  # MySQL wants ROW here, and MariaDB does not have it
                self.take("ROW")
            if self.text() != "(":
                self.refuse()
            self.i += 1
            if self.my and self.text() == ")":
                raise UnsureError(self.at())
            self.items(self.value_or_default, close=True)
            self.need(")")
            if not self.take(","):
                return
            if self.duck and self.text() != "(":
                return

    def value_or_default(self) -> None:
        if not self.take("DEFAULT"):
            self.value()

    def tail(self) -> None:
        """Read ORDER BY, LIMIT and what else may end a query."""
        if self.take("ORDER"):
            self.need("BY")
            self.order_items()
        if self.my:
            self.my_limit()
        else:
            self.limits()
        if self.text() in ("FOR", "LOCK", "INTO"):
            raise UnsureError(self.at())

    def my_limit(self) -> None:
        if self.take("LIMIT"):
            self.my_count()
            if self.take(",") or self.take("OFFSET"):
                self.my_count()
            if self.text() == "ROWS":
                raise UnsureError(self.at())
        elif self.is_any("OFFSET", "FETCH"):  # MariaDB has both
            if self.text() == "FETCH" and self.text(1) not in ("FIRST", "NEXT"):
                self.refuse(word=self.at(1))
            if self.text() == "OFFSET" and self.text(2) == "LIMIT":
                self.refuse(word=self.at(2))
            raise UnsureError(self.at())

    def my_count(self) -> None:
        if self.at().kind == "value" or self.text() == "@":
            raise UnsureError(self.at())
        if self.at().kind != "number":
            if self.at().kind in ("name", "quoted") and self.at().text not in self.grammar.kept:
                raise UnsureError(self.at())  # a variable of a procedure
            self.refuse()
        self.i += 1

    def limits(self) -> None:
        seen: set[str] = set()
        while True:
            kind = "OFFSET" if self.text() == "OFFSET" else "LIMIT"
            if not self.is_any("LIMIT", "OFFSET", "FETCH") or kind in seen:
                return
            seen.add(kind)
            if self.take("FETCH"):
                if self.duck:
                    self.doubt(self.at(-1))
                if not (self.take("FIRST") or self.take("NEXT")):
                    self.refuse()
                if not self.is_any("ROW", "ROWS"):
                    self.value()
                if not (self.take("ROW") or self.take("ROWS")):
                    self.refuse()
                if self.take("WITH"):
                    self.need("TIES")
                else:
                    self.need("ONLY")
            elif self.take("LIMIT"):
                if self.duck and self.at().kind == "number" and self.is_any_ahead("%", "PERCENT"):
                    self.i += 2
                elif not self.take("ALL"):
                    self.value()
            else:
                self.need("OFFSET")
                self.value()
                if not self.take("ROW"):
                    self.take("ROWS")

    def order_items(self) -> None:
        if self.duck and self.text() == "ALL":
            self.i += 1
            self.direction()
            return
        self.items(self.order_item)

    def order_item(self) -> None:
        self.value()
        self.direction()

    def direction(self) -> None:
        if not (self.take("ASC") or self.take("DESC")) and self.pg and self.text() == "USING":
            raise UnsureError(self.at())
        if self.text() == "NULLS" and not self.my:
            self.i += 1
            if not (self.take("FIRST") or self.take("LAST")):
                self.refuse()

    def items(self, item: Callable[[], object], *, close: bool = False) -> int:
        """Read what commas part; DuckDB takes one more at the end."""
        n = 1
        item()
        while self.take(","):
            if self.duck and self.ends_list(close=close):
                break
            item()
            n += 1
        return n

    def ends_list(self, *, close: bool = False) -> bool:
        del close
        return self.at().kind == "end" or self.text() in ENDS

    def select(self) -> None:
        self.need("SELECT")
        self.modifiers()
        self.windows.append((set(), []))
        if self.pg and self.ends_list():
            if self.at(-1).text != "SELECT":
                self.refuse()
        else:
            self.items(self.item)
        self.clauses()
        named, used = self.windows.pop()
        for word in used:
            if word.text.lower() not in named:
                raise RefusedError(word, NO_WINDOW)

    def from_first(self) -> None:
        self.windows.append((set(), []))
        self.need("FROM")
        self.tables()
        if self.take("SELECT"):
            self.modifiers()
            self.items(self.item)
        self.clauses(after_from=True)
        named, used = self.windows.pop()
        if any(word.text.lower() not in named for word in used):
            raise RefusedError(used[0], NO_WINDOW)

    def modifiers(self) -> None:
        if self.my:
            while self.take_any(_MY_MODIFIERS):
                pass
            return
        if self.take("DISTINCT"):
            if self.take("ON"):
                if self.text() != "(":
                    self.refuse()
                self.i += 1
                self.items(self.value, close=True)
                self.need(")")
        else:
            self.take("ALL")

    def item(self) -> None:
        word = self.at()
        if self.text() == "*" and not self.duck:
            if self.my and self.at(-1).text not in ("SELECT", *_MY_MODIFIERS):
                self.refuse()
            self.i += 1
            return
        if self.duck and self.at(1).text == ":" and word.kind in ("name", "quoted", "string"):
            raise UnsureError(word)
        self.value()
        self.label()

    def star_options(self) -> None:
        while (
            self.duck
            and self.is_any("EXCLUDE", "REPLACE", "RENAME", "EXCEPT")
            and (self.text() != "EXCEPT" or self.text(1) == "(")
        ):
            self.doubt()
            self.i += 1
            if self.text() == "(":
                self.skip_brackets()
            elif self.at().kind in ("name", "quoted", "string"):
                self.i += 1
                while self.take("."):
                    self.i += 1
            else:
                self.refuse()
        if self.duck and self.is_any("LIKE", "ILIKE", "NOT", "GLOB", "SIMILAR"):
            raise UnsureError(self.at())

    def label(self) -> None:
        word = self.at()
        if self.take("AS"):
            word = self.at()
            if (
                word.kind == "quoted"
                or (word.kind == "string" and not self.pg)
                or (word.kind == "name" and word.text not in self.grammar.no_as_label)
            ):
                self.i += 1
            elif word.kind == "name":
                raise RefusedError(word)
            else:
                self.refuse()
        elif word.kind == "quoted" or (word.kind == "string" and self.my):
            self.i += 1
        elif word.kind == "name" and word.text not in self.grammar.no_label:
            if word.text in _CLAUSES and word.text in self.grammar.unsure:
                raise UnsureError(word)
            self.i += 1

    def clauses(self, *, after_from: bool = False) -> None:
        if self.text() in self.grammar.unsure & self.grammar.no_label and self.text(1) == "FROM":
            raise RefusedError(self.at())  # what it begins does not end here
        if self.text() == "INTO":
            raise UnsureError(self.at())
        if not after_from and self.take("FROM"):
            self.tables()
        if self.text() == "TABLESAMPLE":
            raise UnsureError(self.at())
        if self.take("WHERE"):
            self.value()
        if self.take("GROUP"):
            self.need("BY")
            self.groups()
        if self.take("HAVING"):
            self.value()
        if self.take("WINDOW") if not self.my else self.take_window():
            self.items(self.named_window)
        if self.duck and self.take("QUALIFY"):
            self.value()
        if self.duck and self.text() == "USING" and self.text(1) == "SAMPLE":
            raise UnsureError(self.at())

    def take_window(self) -> bool:
        if self.text() == "WINDOW" and self.text(2) == "AS":
            self.i += 1
            return True
        return False

    def named_window(self) -> None:
        word = self.at()
        self.name()
        self.windows[-1][0].add(word.text.lower())
        self.need("AS")
        self.window_in_brackets()

    def groups(self) -> None:
        if self.pg and (
            self.take("DISTINCT") or (self.text() == "ALL" and self.ahead_is_no_end())
        ):
            self.take("ALL")
        elif self.duck and self.take("ALL"):
            return
        self.items(self.group)
        if self.my and self.take("WITH"):
            self.need("ROLLUP")

    def ahead_is_no_end(self) -> bool:
        return self.at(1).kind != "end" and self.text(1) not in (*ENDS, ",")

    def group(self) -> None:
        if self.my:
            self.value()
            if self.is_any("ASC", "DESC"):
                raise UnsureError(self.at())
            return
        if self.is_any("GROUPING", "ROLLUP", "CUBE") and (
            self.text(1) == "(" or self.text(1) == "SETS"
        ):
            self.doubt()
            self.i += 1 + (self.text(1) == "SETS")
            if self.text() != "(":
                self.refuse()
            self.skip_brackets()
            return
        if self.text() == "(" and self.text(1) == ")":
            self.i += 2
            return
        self.value()
