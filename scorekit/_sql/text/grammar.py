"""Whether PostgreSQL, MySQL or DuckDB takes a text: a reader over the words of the tokenizer.

The reader makes no tree.  It has three answers: it read the text, the database refuses the text at
a word, or it is not sure, since it met something that it does not know.  It refuses nothing but
what it knows to be refused by every version; SQLite is asked itself (`prepared`).
"""
# ruff: noqa: C901, E501, PLR0911, PLR0912, PLR0915, PLR2004, SIM102, TRY300, TRY301 - a branch for each form, lists of words

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import attrs
from sqlglot import Token, TokenType

READ: Final = ("postgres", "mysql", "duckdb")
"""Databases whose grammar is known here."""


NO_WINDOW: Final = "no such window"
OF_STAR: Final = "SUM, AVG, MIN or MAX of *"
NO_OVER: Final = "a window function without OVER"


class Word(NamedTuple):
    """A word of a text."""

    kind: str
    """``name``, ``quoted``, ``string``, ``number``, ``value`` (a parameter), ``sign`` or ``end``."""
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


class _RefusedError(Exception):
    def __init__(self, word: Word, why: str = "") -> None:
        super().__init__(word, why)
        self.word, self.why = word, why


class _UnsureError(Exception):
    def __init__(self, word: Word) -> None:
        super().__init__(word)
        self.word = word


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What each database keeps for itself: measured word by word in PostgreSQL 15 and 18, DuckDB 2.0,
# and in MariaDB 10.11 for the words that MySQL 8.4 lists.
_PG_KEPT = """ALL ANALYSE ANALYZE AND ANY ARRAY AS ASC ASYMMETRIC AUTHORIZATION BINARY BOTH CASE CAST
CHECK COLLATE COLLATION COLUMN CONCURRENTLY CONSTRAINT CREATE CROSS DEFERRABLE DESC DISTINCT DO ELSE END
EXCEPT FETCH FOR FOREIGN FREEZE FROM FULL GRANT GROUP HAVING ILIKE IN INITIALLY INNER INTERSECT INTO IS
ISNULL JOIN LATERAL LEADING LEFT LIKE LIMIT NATURAL NOT NOTNULL OFFSET ON ONLY OR ORDER OUTER OVERLAPS
PLACING PRIMARY REFERENCES RETURNING RIGHT SELECT SIMILAR SOME SYMMETRIC TABLE TABLESAMPLE THEN TO TRAILING
UNION UNIQUE USING VARIADIC VERBOSE WHEN WHERE WINDOW WITH"""
_DUCK_KEPT = """ALL ANALYSE ANALYZE AND ANTI ANY ARRAY AS ASC ASOF ASYMMETRIC AT AUTHORIZATION BINARY BOTH
BY CASE CAST CHECK COLLATE COLLATION COLUMN CONCURRENTLY CONSTRAINT CREATE CROSS DEFERRABLE DESC DESCRIBE
DISTINCT DO ELSE END EXCEPT FETCH FOR FOREIGN FREEZE FROM FULL GLOB GROUP HAVING ILIKE IN INITIALLY INNER
INTERSECT INTO IS ISNULL JOIN LAMBDA LATERAL LEADING LEFT LIKE LIMIT NATURAL NOT NOTNULL OFFSET ON ONLY OR
ORDER OUTER OVERLAPS PIVOT PIVOT_LONGER PIVOT_WIDER PLACING POSITIONAL PRIMARY QUALIFY REFERENCES RETURNING
RIGHT SELECT SEMI SHOW SIMILAR SOME SUMMARIZE SYMMETRIC TABLE TABLESAMPLE THEN TO TRAILING UNION UNIQUE
UNPACK UNPIVOT USING VARIADIC VERBOSE WHEN WHERE WINDOW WITH"""
_MY_KEPT = """ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH
BY CALL CASCADE CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE
CROSS CURSOR DATABASES DAY_HOUR DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DEFAULT DELAYED
DELETE DESC DESCRIBE DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE DROP DUAL EACH ELSE ELSEIF ENCLOSED
ESCAPED EXCEPT EXISTS EXIT EXPLAIN FETCH FLOAT FLOAT4 FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT GRANT GROUP
HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF IGNORE IN INDEX INFILE INNER INOUT
INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT INTERVAL INTO IS ITERATE JOIN KEY KEYS
KILL LEADING LEAVE LEFT LIKE LIMIT LINEAR LINES LOAD LOCK LONG LONGBLOB LONGTEXT LOOP LOW_PRIORITY
MASTER_SSL_VERIFY_SERVER_CERT MATCH MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND
MINUTE_SECOND MOD MODIFIES NATURAL NOT NO_WRITE_TO_BINLOG NUMERIC ON OPTIMIZE OPTIONALLY OR ORDER OUT OUTER
OUTFILE OVER PARTITION PRECISION PRIMARY PROCEDURE PURGE RANGE READ READS READ_WRITE REAL RECURSIVE
REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL RESTRICT RETURN REVOKE RIGHT RLIKE ROWS
ROW_NUMBER SCHEMAS SECOND_MICROSECOND SELECT SENSITIVE SEPARATOR SET SHOW SIGNAL SMALLINT SPATIAL SPECIFIC
SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SSL STARTING
STRAIGHT_JOIN TABLE TERMINATED THEN TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER UNDO UNION UNIQUE UNLOCK
UNSIGNED UPDATE USAGE USE USING VALUES VARBINARY VARCHAR VARCHARACTER VARYING WHEN WHERE WHILE WITH WRITE XOR
YEAR_MONTH ZEROFILL"""
_VALUES = _set("NULL TRUE FALSE DEFAULT")
_PG_CALLED = _set(
    "CURRENT_CATALOG CURRENT_DATE CURRENT_ROLE CURRENT_SCHEMA CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER"
    " LOCALTIME LOCALTIMESTAMP SESSION_USER USER"
)
_MY_CALLED = _set(
    "CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER LOCALTIME LOCALTIMESTAMP UTC_DATE UTC_TIME"
    " UTC_TIMESTAMP"
)
_PG_LABELS = _set(
    """ARRAY AS CHAR CHARACTER CREATE DAY EXCEPT FETCH FILTER FOR FROM GRANT GROUP HAVING HOUR INTERSECT INTO
    LIMIT MINUTE MONTH OFFSET ON ORDER OVER OVERLAPS PRECISION RETURNING SECOND TO UNION VARYING WHERE WINDOW
    WITH WITHIN WITHOUT YEAR"""
)
_DUCK_LABELS = _set(
    _DUCK_KEPT
    + """ CENTURIES CENTURY DAY DAYS DECADE DECADES DEFAULT ESCAPE EXCLUDE EXPORT_STATE FALSE FILTER HOUR
    HOURS IGNORE MICROSECOND MICROSECONDS MILLENNIA MILLENNIUM MILLISECOND MILLISECONDS MINUTE MINUTES MONTH
    MONTHS NULL OVER PRECISION QUARTER QUARTERS RENAME REPLACE RESPECT SECOND SECONDS TRUE VARYING WEEK WEEKS
    WITHIN WITHOUT YEAR YEARS"""
)


@attrs.frozen(eq=False)
class _Grammar:
    """What one database has."""

    kept: frozenset[str]
    """Words that are no column."""
    no_alias: frozenset[str]
    """Words that are no alias, and no name of a table."""
    no_label: frozenset[str]
    """Words that are no label without AS."""
    no_as_label: frozenset[str]
    callable: frozenset[str]
    """Kept words that may be called as functions."""
    not_callable: frozenset[str]
    infix: frozenset[str]
    """Signs between two values."""
    prefix: frozenset[str]
    comparing: frozenset[str]
    """Signs that do not follow one another, such as ``a < b < c``."""
    unsure: frozenset[str]
    """Words that begin what is not known here."""
    types: frozenset[str] | None = None


_PG_TYPES = _set(
    "AUTHORIZATION BINARY COLLATION CONCURRENTLY CROSS FREEZE FULL ILIKE INNER IS ISNULL JOIN LEFT LIKE NATURAL"
    " NOTNULL OUTER OVERLAPS RIGHT SIMILAR TABLESAMPLE VERBOSE"
)
"""Kept words that may be functions, and types in front of a text."""
_PG_NO_TYPES = _set(
    "BETWEEN COALESCE CURRENT_CATALOG CURRENT_DATE CURRENT_ROLE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DEFAULT"
    " EXISTS EXTRACT FALSE INOUT LOCALTIME LOCALTIMESTAMP NATIONAL NONE NULL NULLIF OUT OVERLAY POSITION PRECISION"
    " SETOF SUBSTRING TREAT TRIM TRUE VALUES XMLATTRIBUTES XMLCONCAT XMLELEMENT XMLEXISTS XMLFOREST XMLNAMESPACES"
    " XMLPARSE XMLPI XMLROOT XMLSERIALIZE XMLTABLE"
)
_COMPARE = _set("= <> != < > <= >=")
_ARITHMETIC = _set("+ - * / % || & | << >>")
_GRAMMARS: Final = {
    "postgres": _Grammar(
        kept=_set(_PG_KEPT) - {"ALL"} | {"ALL"},
        no_alias=_set(_PG_KEPT) | _VALUES | _PG_CALLED,
        no_label=_PG_LABELS,
        no_as_label=frozenset(),
        callable=_PG_TYPES,
        not_callable=_set("""BETWEEN BIGINT BOOLEAN DEC DECIMAL DEFAULT FALSE INOUT INT INTEGER NONE NULL NUMERIC OUT PRECISION REAL SETOF
            SMALLINT TRUE VALUES VARCHAR"""),
        infix=_COMPARE
        | _ARITHMETIC
        | _set(
            "^ ~ ~* !~ !~* -> ->> #> #>> @> <@ ? ?| ?& @? @@ && == # ~~ ~~* !~~ ^@ <-> => ! !! ` ** //"
        ),
        prefix=_set("+ - ~ @ ! |/ ||/ !! || & | << >> ~* !~ !~* -> ->> @> <@ && ^@ # == ` ** //"),
        comparing=_COMPARE,
        unsure=_set(
            "TABLESAMPLE FOR XMLTABLE ROWS XMLPARSE XMLELEMENT XMLROOT XMLPI XMLFOREST XMLSERIALIZE XMLEXISTS XMLCONCAT XMLATTRIBUTES XMLNAMESPACES OPERATOR VARIADIC GROUPING SEARCH CYCLE OVERLAPS TREAT NATIONAL SETOF"
        ),
    ),
    "duckdb": _Grammar(
        kept=_set(_DUCK_KEPT),
        no_alias=_set(_DUCK_KEPT) | _VALUES,
        no_label=_DUCK_LABELS - {"ISNULL", "NOTNULL"},
        no_as_label=frozenset(),
        callable=_PG_TYPES | _set("ANTI ASOF AT BY GLOB POSITIONAL SEMI UNPACK"),
        not_callable=_set("""BETWEEN BIGINT BOOLEAN DEC DECIMAL DEFAULT FALSE INOUT INT INTEGER NONE NULL NUMERIC OUT PRECISION REAL SETOF
            SMALLINT TRUE VALUES VARCHAR"""),
        infix=_COMPARE
        | _ARITHMETIC
        | _set("^ ** // ~ !~ ~~ ~~* !~~ == -> ->> @> <@ && ^@ <-> <=> ~* !~* @"),
        prefix=_set("+ - ~ @ ->> && ^@"),
        comparing=_COMPARE,
        unsure=_set(
            "TABLESAMPLE SAMPLE PIVOT UNPIVOT PIVOT_LONGER PIVOT_WIDER SUMMARIZE DESCRIBE SHOW AT LAMBDA UNPACK FOR GROUPING ASOF POSITIONAL SEMI ANTI ! !! : { } # OVERLAPS COLUMNS MAP SETOF NATIONAL TREAT OPERATOR GLOB RESPECT IGNORE DEFAULT"
        ),
    ),
    "mysql": _Grammar(
        kept=_set(_MY_KEPT),
        no_alias=_set(_MY_KEPT) | _set("NULL TRUE FALSE") | _MY_CALLED,
        no_label=_set(_MY_KEPT) | _set("NULL TRUE FALSE") | _MY_CALLED,
        no_as_label=_set(_MY_KEPT) | _set("NULL TRUE FALSE") | _MY_CALLED,
        callable=_set(
            "MATCH ROW_NUMBER CHAR IF INSERT LEFT MOD REPEAT REPLACE RIGHT INTERVAL DATABASE SCHEMA VALUES CONVERT BINARY CHARACTER"
        ),
        not_callable=_set("NULL TRUE FALSE"),
        infix=_COMPARE | _ARITHMETIC | _set("<=> ^ && := -> ->>"),
        prefix=_set("+ - ~ !"),
        comparing=frozenset(),
        unsure=_set(
            "PARTITION PROCEDURE FOR LOCK INTO RETURNING AGAINST MEMBER JSON_TABLE USE FORCE IGNORE FETCH OFFSET UNIQUE DEFAULT GET_FORMAT WEIGHT_STRING TIMESTAMPADD NEXT PREVIOUS := @@ SYSTEM_TIME"
        ),
        types=_set(
            "BINARY CHAR CHARACTER DATE DATETIME DECIMAL DEC DOUBLE FLOAT JSON NCHAR SIGNED TIME UNSIGNED"
        ),
    ),
}

_MY_NO_CASTS = _set(
    "VARCHAR NUMERIC TEXT BIGINT BOOLEAN BOOL TIMESTAMP TINYINT SMALLINT MEDIUMINT BLOB LONGTEXT MEDIUMTEXT TINYTEXT"
    " VARBINARY FIXED STRING NUMBER"
)
_MY_COUNTS: Final = {
    "DATE": 1, "YEAR": 1, "MONTH": 1, "DAY": 1, "HOUR": 1, "MINUTE": 1, "SECOND": 1, "LEFT": 2, "RIGHT": 2,
    "MOD": 2, "REPLACE": 3, "IF": 3, "SUM": 1, "AVG": 1, "MIN": 1, "MAX": 1, "NULLIF": 2, "IFNULL": 2,
    "UPPER": 1, "LOWER": 1, "LENGTH": 1, "ABS": 1,
}  # fmt: skip
"""How many arguments functions of MySQL take, which nobody can define anew."""
_OF_VALUES = _set("SUM AVG MIN MAX")
_MY_AGGREGATES = _set(
    "SUM AVG MIN MAX COUNT STD STDDEV VARIANCE GROUP_CONCAT BIT_AND BIT_OR BIT_XOR"
)
_SPACELESS = _set(
    "ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB EXTRACT GROUP_CONCAT MAX MID MIN"
    " NOW POSITION STD STDDEV STDDEV_POP STDDEV_SAMP SUBDATE SUBSTR SUBSTRING SUM SYSDATE TRIM"
    " VARIANCE VAR_POP VAR_SAMP"
)
"""Functions of MySQL which, with a space before the bracket, are those of the user."""
_WINDOWED = _set(
    "ROW_NUMBER RANK DENSE_RANK PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE"
)
STATEMENTS = _set(
    """SELECT WITH VALUES TABLE FROM INSERT UPDATE DELETE MERGE CREATE DROP ALTER TRUNCATE REPLACE SET USE SHOW
    DESCRIBE DESC EXPLAIN BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE END DECLARE EXECUTE EXEC PREPARE
    DEALLOCATE CALL DO PRAGMA ATTACH DETACH COPY LOAD EXPORT IMPORT INSTALL PIVOT UNPIVOT PIVOT_WIDER
    PIVOT_LONGER SUMMARIZE ANALYZE ANALYSE VACUUM CHECKPOINT CHECK GRANT REVOKE RESET LOCK UNLOCK COMMENT REFRESH LISTEN NOTIFY
    UNLISTEN CLUSTER REINDEX DISCARD FETCH MOVE CLOSE OPEN HANDLER HELP KILL FLUSH OPTIMIZE REPAIR RENAME
    PURGE CHANGE STOP RESIGNAL SIGNAL GET ABORT REASSIGN SECURITY XA BINLOG RESTART SHUTDOWN
    CLONE UNINSTALL"""
)
_NO_STATEMENTS: Final = {
    "postgres": _set("USE PRAGMA ATTACH DETACH DESCRIBE DESC KILL PURGE HANDLER EXEC"),
    "mysql": _set("PRAGMA ATTACH DETACH COPY VACUUM LISTEN NOTIFY EXEC SUMMARIZE"),
    "duckdb": _set("KILL PURGE HANDLER LISTEN NOTIFY EXEC"),
}
"""Statements that others have."""
_MY_BLOCKS = _set("IF CASE WHILE LOOP REPEAT RETURN")
_QUERIES = _set("SELECT WITH VALUES TABLE FROM")
_UNITS = _set(
    "YEAR YEARS MONTH MONTHS DAY DAYS HOUR HOURS MINUTE MINUTES SECOND SECONDS WEEK WEEKS QUARTER QUARTERS DECADE"
    " DECADES CENTURY CENTURIES MILLENNIUM MILLENNIA MILLISECOND MILLISECONDS MICROSECOND MICROSECONDS YEAR_MONTH"
    " DAY_HOUR DAY_MINUTE DAY_SECOND DAY_MICROSECOND HOUR_MINUTE HOUR_SECOND HOUR_MICROSECOND MINUTE_SECOND"
    " MINUTE_MICROSECOND SECOND_MICROSECOND"
)
_OWN_GRAMMAR = _set(
    "EXTRACT SUBSTRING SUBSTR TRIM POSITION OVERLAY CONVERT NORMALIZE MID JSON_OBJECT JSON_ARRAY JSON_ARRAYAGG"
    " JSON_OBJECTAGG JSON_VALUE JSON_QUERY JSON_EXISTS JSON_TABLE JSON JSON_SCALAR JSON_SERIALIZE XMLELEMENT XMLFOREST"
    " XMLPARSE XMLPI XMLROOT XMLSERIALIZE XMLEXISTS XMLTABLE XMLCONCAT XMLAGG GET_FORMAT TIMESTAMPADD"
    " TIMESTAMPDIFF WEIGHT_STRING ADDDATE SUBDATE DATE_ADD DATE_SUB COLUMNS MATCH CHAR TREAT MERGE_ACTION GROUPING UNPACK CHARACTER"
)
"""Functions between whose arguments words may stand."""
_SEPARATING = _set("FROM FOR IN PLACING USING AS BOTH LEADING TRAILING SIMILAR ESCAPE")
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


_JOINED: Final = _set(
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
            last = found[-1] if found else _END
            if last.kind == "sign" and last.end + 1 == token.start and last.text + text in _JOINED:
                found[-1] = last._replace(text=last.text + text, end=token.end)
            else:
                found.append(Word("sign", text, token.start, token.end, token))
    return found


_END = Word("end", "", -1, -1)


_TYPED: Final = _set("BINARY INTERVAL")
"""Kept words that may be types."""


class _Reader:
    """Reads the statements of a text in the grammar of one database."""

    def __init__(self, words: list[Word], dialect: str) -> None:
        self.words, self.dialect = words, dialect
        self.grammar = _GRAMMARS[dialect]
        self.i = 0
        self.unsure: Word | None = None
        self.other = False
        self.pg, self.my, self.duck = (dialect == one for one in READ)
        self.windows: list[tuple[set[str], list[Word]]] = []

    # Words.

    def at(self, ahead: int = 0) -> Word:
        place = self.i + ahead
        return self.words[place] if 0 <= place < len(self.words) else _END

    def text(self, ahead: int = 0) -> str:
        """Return a plain word or a sign, nothing for other kinds."""
        word = self.at(ahead)
        return word.text if word.kind in ("name", "sign") else ""

    def is_any(self, *texts: str) -> bool:
        return self.text() in texts

    def is_any_ahead(self, *texts: str) -> bool:
        """Say whether the word behind this one is one of these, and the last of its part."""
        return self.text(1) in texts and (self.at(2).kind == "end" or self.text(2) in _ENDS)

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
            raise _UnsureError(word)
        raise _RefusedError(word, why)

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
        raise _RefusedError(_END)

    # Statements.

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
            raise _UnsureError(self.at())
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
                raise _UnsureError(self.at())
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
                raise _UnsureError(self.at())
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
            raise _UnsureError(self.at())

    def my_limit(self) -> None:
        if self.take("LIMIT"):
            self.my_count()
            if self.take(",") or self.take("OFFSET"):
                self.my_count()
            if self.text() == "ROWS":
                raise _UnsureError(self.at())
        elif self.is_any("OFFSET", "FETCH"):  # MariaDB has both
            if self.text() == "FETCH" and self.text(1) not in ("FIRST", "NEXT"):
                self.refuse(word=self.at(1))
            raise _UnsureError(self.at())

    def my_count(self) -> None:
        if self.at().kind == "value" or self.text() == "@":
            raise _UnsureError(self.at())
        if self.at().kind != "number":
            if self.at().kind in ("name", "quoted") and self.at().text not in self.grammar.kept:
                raise _UnsureError(self.at())  # a variable of a procedure
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
            raise _UnsureError(self.at())
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
        return self.at().kind == "end" or self.text() in _ENDS

    # SELECT.

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
                raise _RefusedError(word, NO_WINDOW)

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
            raise _RefusedError(used[0], NO_WINDOW)

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
            raise _UnsureError(word)
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
            raise _UnsureError(self.at())

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
                raise _RefusedError(word)
            else:
                self.refuse()
        elif word.kind == "quoted" or (word.kind == "string" and self.my):
            self.i += 1
        elif word.kind == "name" and word.text not in self.grammar.no_label:
            if word.text in _CLAUSES and word.text in self.grammar.unsure:
                raise _UnsureError(word)
            self.i += 1

    def clauses(self, *, after_from: bool = False) -> None:
        if self.text() in self.grammar.unsure & self.grammar.no_label and self.text(1) == "FROM":
            raise _RefusedError(self.at())  # what it begins does not end here
        if self.text() == "INTO":
            raise _UnsureError(self.at())
        if not after_from and self.take("FROM"):
            self.tables()
        if self.text() == "TABLESAMPLE":
            raise _UnsureError(self.at())
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
            raise _UnsureError(self.at())

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
        return self.at(1).kind != "end" and self.text(1) not in (*_ENDS, ",")

    def group(self) -> None:
        if self.my:
            self.value()
            if self.is_any("ASC", "DESC"):
                raise _UnsureError(self.at())
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

    # Tables.

    def tables(self) -> None:
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
                while self.take_any(_set("LEFT RIGHT INNER FULL OUTER")):
                    pass
                self.need("JOIN")
                return "bare" if word.text == "POSITIONAL" else "needs"
            self.i = start
            return ""
        natural = self.take("NATURAL")
        if natural and self.duck and self.is_any("ASOF", "SEMI", "ANTI"):
            raise _UnsureError(self.at())
        if self.take("CROSS"):
            if natural:
                self.refuse(word=self.at(-1))
            self.need("JOIN")
            return "may" if self.my else "bare"
        side = self.take_any(_set("LEFT RIGHT FULL") if not self.my else _set("LEFT RIGHT"))
        if side:
            self.take("OUTER")
            if self.duck and self.is_any("SEMI", "ANTI"):
                raise _UnsureError(self.at())
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
                        raise _RefusedError(self.at())
                    self.query()
                    self.need(")")
                    self.after_query()
                    return
                except _RefusedError:
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
                raise _UnsureError(self.at(-1))
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
            raise _UnsureError(self.at())
        if (
            self.is_any("ROWS", "XMLTABLE", "JSON_TABLE", "UNNEST")
            and not self.my
            and self.text() != "UNNEST"
        ):
            if self.text(1) in ("(", "FROM"):
                raise _UnsureError(self.at())
        if self.duck and (
            self.at().kind == "string"
            or self.is_any("PIVOT", "UNPIVOT", "DESCRIBE", "SHOW", "SUMMARIZE")
        ):
            self.doubt()
            if self.at().kind != "string":
                raise _UnsureError(self.at())
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
                    raise _UnsureError(word)
                self.refuse()
            if self.at(-1).kind == "name" and self.at(-1).text in _OWN_GRAMMAR:
                raise _UnsureError(self.at(-1))
            self.i -= 1
            self.call(self.at().text, in_from=True)
            if self.take("WITH"):
                self.need("ORDINALITY")
            self.function_alias()
            return
        if self.pg:
            self.take("*")
        if self.my and self.is_any("PARTITION", "FOR"):
            raise _UnsureError(self.at())
        self.alias()
        if self.my:
            self.index_hints()
        if self.is_any("TABLESAMPLE", "PIVOT", "UNPIVOT"):
            raise _UnsureError(self.at())

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
            raise _UnsureError(self.at())
        start = self.i
        self.alias_only()
        if self.i != start and self.text() == "(":
            self.doubt()
            self.skip_brackets()

    def table_name(self) -> None:
        if self.my and self.text() == "." and self.at(1).kind in ("name", "quoted"):
            raise _UnsureError(self.at())
        self.part(self.grammar.no_alias)
        while self.text() == ".":
            self.i += 1
            self.any_name()

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
            raise _UnsureError(word)
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
                raise _RefusedError(self.at())
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

    # Values.

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
            and (self.at(1).kind == "end" or self.text(1) in (*_ENDS, ","))
        ):
            return 0  # a label
        if not text:
            if self.my and word.kind == "string" and self.at(-1).kind == "string":
                self.i += 1
                return 1
            return 0
        if text in self.grammar.infix and word.kind == "sign":
            self.i += 1
            if text in self.grammar.comparing:
                self.enter(levels, _COMPARING, chained=False)
            if text in _COMPARE and self.is_any("ANY", "ALL", "SOME"):
                if self.text(1) == "(":
                    self.i += 1
                    self.quantified()
                    return 1
                if self.duck:
                    raise _UnsureError(self.at())
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
                raise _UnsureError(self.at())
            self.i = start
            return 0
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
        if self.my and text == "MEMBER":
            raise _UnsureError(word)
        if word.kind == "sign" and text not in (")", "]", "}", ",", ";", "(", ".", "["):
            if text in self.grammar.unsure or (self.pg and not text.startswith(":")):
                raise _UnsureError(word)
        return 0

    def is_what(self) -> int:
        self.take("NOT")
        if self.take_any(_set("NULL TRUE FALSE UNKNOWN")):
            return 1
        if self.my:
            if self.is_any("JSON", "DISTINCT"):
                raise _UnsureError(self.at())
            self.refuse()
        if self.take("DISTINCT"):
            self.need("FROM")
            return 2
        if self.is_any("DOCUMENT", "NORMALIZED", "NFC", "NFD", "NFKC", "NFKD", "JSON", "OF"):
            raise _UnsureError(self.at())
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
                raise _RefusedError(word, "LIMIT in a subquery of IN, ANY, SOME or ALL")

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
                raise _UnsureError(self.at())
            n = self.operator(levels)
            if n == 0:
                return
            if n == 2:
                self.operand(levels)

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
                    raise _UnsureError(word)
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
                raise _UnsureError(word)
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
            raise _UnsureError(self.at())
        if text == "[" and self.duck:
            self.doubt()
            self.skip_brackets()
            return False
        if text == "." and self.at(1).kind == "number" and self.at(1).start == self.at().end + 1:
            self.i += 2
            return False
        if text == "{":
            raise _UnsureError(self.at())
        if text in self.grammar.unsure or (
            self.my and text == "." and self.at(1).kind in ("name", "quoted")
        ):
            raise _UnsureError(self.at())
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
            raise _UnsureError(word)
        if text in ("DATE", "TIME", "TIMESTAMP") and self.at(1).kind == "string":
            self.i += 2
            return True
        called = _MY_CALLED if self.my else _PG_CALLED
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
                raise _UnsureError(word)
        if text == "VALUES" and self.my and after == "(":
            raise _UnsureError(word)
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
                self.take_any(_UNITS)
                return True
            self.value()
            if not self.take_any(_UNITS):
                self.refuse()
            return True
        if after.kind == "string":
            self.i += 2
            if self.take_any(_UNITS) and self.take("TO"):
                self.i += 1
            if self.text() == "(":
                raise _UnsureError(word)
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
            self.take_any(_UNITS)
            return True
        if after.text == "(":
            self.i += 1
            self.doubt(word)
            self.skip_brackets()
            self.take_any(_UNITS)
            return True
        if after.kind in ("name", "quoted") and self.text(2) in _UNITS | {".", "("}:
            raise _UnsureError(word)
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
            if word.kind == "name" and word.text in _PG_NO_TYPES and word.text not in _PG_CALLED:
                raise (
                    _UnsureError(word)
                    if word.text not in ("VALUES", "BETWEEN")
                    else _RefusedError(self.at())
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
                raise _UnsureError(word)
            self.refuse(word=self.words[start + 1])
        if self.my and plain and not qualified and name in _SPACELESS:
            self.spaced(word)
        self.i += 1
        if plain and not qualified and name in _OWN_GRAMMAR | self.grammar.unsure:
            self.own_grammar(word)
        else:
            self.need("(")
            self.arguments(word)
        over = False
        if self.at().kind == "string" and self.pg and plain:
            raise _UnsureError(word)  # a literal of a type
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
                raise _UnsureError(self.at())
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
                and self.take_any(_set("BOTH LEADING TRAILING"))
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
                raise _UnsureError(word)
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
                raise _UnsureError(self.at())
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
            raise _UnsureError(self.at())
        self.need(")")

    def argument(self) -> None:
        if self.is_any("VARIADIC"):
            raise _UnsureError(self.at())
        if self.at().kind in ("name", "quoted") and self.text(1) in (":=", "=>"):
            self.i += 2
        self.value()
        if self.duck and self.is_any("->", ":=", ":"):
            raise _UnsureError(self.at())

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
        if self.take_any(_set("ROWS RANGE GROUPS")):
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
            raise _UnsureError(self.at())
        self.need("]")

    # Types.

    def type(self) -> None:
        word = self.at()
        if self.my:
            if word.kind != "name":
                self.refuse()
            if word.text not in (self.grammar.types or ()):
                if word.text in _MY_NO_CASTS:
                    self.refuse("no type that it casts to")
                raise _UnsureError(word)
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
                raise _UnsureError(self.at())
            return
        if word.kind == "quoted":
            self.i += 1
        elif word.kind != "name":
            self.refuse()
        elif word.text in ("SETOF", "STRUCT", "MAP", "UNION", "NATIONAL"):
            raise _UnsureError(word)
        elif word.text == "DOUBLE":
            self.i += 1
            self.take("PRECISION")
        elif word.text in ("CHARACTER", "CHAR", "BIT", "NCHAR"):
            self.i += 1
            self.take("VARYING")
        elif word.text == "INTERVAL":
            self.i += 1
            if self.take_any(_UNITS) and self.take("TO"):
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


_IS, _COMPARING, _LIKE = 4, 5, 6
_LIKES: Final = {
    "postgres": _set("LIKE ILIKE"),
    "duckdb": _set("LIKE ILIKE GLOB"),
    "mysql": _set("LIKE RLIKE REGEXP"),
}
_MY_MODIFIERS = _set(
    "ALL DISTINCT DISTINCTROW HIGH_PRIORITY STRAIGHT_JOIN SQL_SMALL_RESULT SQL_BIG_RESULT SQL_BUFFER_RESULT"
    " SQL_CACHE SQL_NO_CACHE SQL_CALC_FOUND_ROWS"
)
_MY_BEFORE_NOT = ("(", ",", "&&", "||", ":=", "!", ";")
_ENDS = _set(
    "FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT FOR INTO ) ] } ; USING SELECT"
)
_CLAUSES = _set(
    "FROM WHERE GROUP HAVING WINDOW QUALIFY ORDER LIMIT OFFSET FETCH UNION EXCEPT INTERSECT"
)
_SPECIAL = (
    _set(
        "CASE EXISTS CAST TRY_CAST INTERVAL ARRAY ROW NULL TRUE FALSE DEFAULT DATE TIME TIMESTAMP VALUES DOUBLE CHARACTER CHAR NATIONAL"
    )
    | _PG_CALLED
    | _MY_CALLED
)


SQL_WORDS: Final = (
    STATEMENTS.union(*(one.kept for one in _GRAMMARS.values()))
    | _VALUES
    | _set(
        "BY NULLS PARTITION ROWS RANGE GROUPS OVER FILTER ASC DESC RECURSIVE ESCAPE BETWEEN EXISTS"
    )
) - {"SHOW", "EXPLAIN"}
"""Words with which a part of a statement may begin."""


def read_grammar(tokens: Sequence[Token], dialect: str) -> Reading:
    """Read a text of PostgreSQL, MySQL or DuckDB, given its tokens."""
    reader = _Reader(words_of(tokens), dialect)
    refused: Word | None = None
    why = ""
    try:
        reader.script()
    except _RefusedError as error:
        refused, why = error.word, error.why
    except _UnsureError as error:
        reader.doubt(error.word)
    except RecursionError:
        reader.doubt(reader.words[0])
    return Reading(refused, reader.unsure, why, reader.other)
