"""What a database has: syntax that it refuses, and what of a query it may not understand."""
# ruff: noqa: E501, SIM905 - patterns and lists of words read better on few lines

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple, cast

import attrs
from sqlglot import Token, TokenType, exp

from scorekit._sql.databases.functions import VERSIONS, arities, database_of, since
from scorekit._sql.databases.undescribed import has_function


class Form(NamedTuple):
    """A way of writing that not every database has."""

    what: str
    pattern: str
    """On the words of a query as `_written` gives them."""
    lacked: str
    """Dialects whose database does not have it, or not in each version or for each query."""


_ALL: Final = "sqlite postgres mysql duckdb"
_UNITS = r"(?:MICROSECOND|SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR|[A-Z]+_[A-Z]+) "

# fmt: off
FORMS: Final = (
    Form("TOP", r" SELECT (?:DISTINCT )?TOP \( ", _ALL),
    Form("FETCH FIRST", r" FETCH (?:FIRST|NEXT) ", "mysql"),
    Form("WITH TIES", r" WITH TIES ", "sqlite mysql duckdb"),
    Form("==", r" == ", "postgres"),
    Form("<=>", r" <=> ", "postgres duckdb"),
    Form("ANY, ALL or SOME", r" (?:ANY|ALL|SOME) \( (?!SELECT|WITH) ?", "sqlite mysql"),
    Form("ANY of a string", r" (?:ANY|ALL|SOME) \( '", "duckdb"),
    Form("LIKE ANY", r" I?LIKE (?:ANY|ALL|SOME) ", _ALL),
    Form("IS DISTINCT FROM", r" IS (?:NOT )?DISTINCT FROM ", "mysql"),
    Form("IS UNKNOWN", r" IS (?:NOT )?UNKNOWN ", "sqlite"),
    Form("IN without parentheses", r" IN \[", "sqlite postgres mysql"),
    Form("FILTER without WHERE", r" FILTER \( (?!WHERE)", "sqlite postgres mysql"),
    Form("a comparison written as a function",
         r" (?:SELECT|,|\(|AND|OR|WHERE|NOT) (?:GLOB|I?LIKE|REGEXP|RLIKE) \(", "postgres mysql duckdb"),
    Form("ONLY in front of a table", r" (?:FROM|JOIN) ONLY [\w\"]", "sqlite mysql duckdb"),
    Form("NOTNULL", r" (?:NOTNULL|ISNULL) (?!\()", "mysql"),
    Form("NOT NULL without IS", r"(?<! IS) NOT NULL ", "postgres mysql"),
    Form("MINUS between queries", r" MINUS (?:ALL )?(?:\( )?SELECT ", "mysql duckdb"),
    Form("BY NAME", r" (?:UNION|ALL|DISTINCT) BY NAME ", "sqlite postgres mysql"),
    Form("APPLY", r" (?:CROSS|OUTER) APPLY ", _ALL),
    Form("STRAIGHT_JOIN", r" STRAIGHT_JOIN ", "sqlite postgres duckdb"),
    Form("FULL JOIN", r" FULL JOIN ", "mysql"),
    Form("LATERAL", r" (?:,|JOIN) LATERAL \( ", "mysql"),
    Form("WITH ROLLUP", r" WITH (?:ROLLUP|CUBE|TOTALS) ", "duckdb"),
    Form("grouping sets", r" (?:ROLLUP|CUBE|GROUPING SETS) \(", "sqlite mysql"),
    Form("GROUP BY ALL", r" GROUP BY ALL ", "postgres"),
    Form("ORDER BY ALL", r" ORDER BY ALL ", "sqlite postgres mysql"),
    Form("NULLS FIRST", r" NULLS (?:FIRST|LAST) ", "mysql"),
    Form("IGNORE NULLS", r" (?:IGNORE|RESPECT) NULLS ", _ALL),
    Form("FROM FIRST", r" FROM (?:FIRST|LAST) OVER ", _ALL),
    Form("GROUPS", r" GROUPS (?:BETWEEN|UNBOUNDED|CURRENT|0) ", "mysql"),
    Form("EXCLUDE", r" EXCLUDE (?:CURRENT|GROUP|TIES|NO) ", "mysql"),
    Form("a star with columns left out",
         r" \* (?:EXCLUDE|EXCEPT|REPLACE|RENAME|I?LIKE) (?:\(|')", "sqlite postgres mysql"),
    Form("two strings in a row", r" ' ' ", "sqlite postgres duckdb"),
    Form("COUNT()", r" COUNT \( \) ", "postgres mysql"),
    Form("COUNT of a table", r" COUNT \( (?:DISTINCT )?\S+ \. \* \) ", "sqlite mysql"),
    Form("COUNT(DISTINCT *)", r" COUNT \( DISTINCT \* ", _ALL),
    Form("SELECT without columns", r" SELECT (?:FROM|WHERE) ", "sqlite mysql duckdb"),
    Form("a literal of a type", r" (?:DATE|TIME|TIMESTAMP|TIMESTAMPTZ) '", "sqlite"),
    Form("a literal of a type", r" DATETIME '", "sqlite postgres mysql"),
    Form("INTERVAL", r" INTERVAL \(", "postgres"),
    Form("INTERVAL", rf" INTERVAL ' (?!{_UNITS})", "mysql"),
    Form("INTERVAL", r" INTERVAL ['0\-(]", "sqlite"),
    Form("EXTRACT of this unit", rf" EXTRACT \( (?!{_UNITS})", "mysql"),
    Form("AT TIME ZONE", r" AT TIME ZONE ", "sqlite mysql"),
    Form("OVERLAPS", r" OVERLAPS ", "sqlite mysql duckdb"),
    Form("REGEXP", r" (?:REGEXP|RLIKE) (?!\()", "sqlite postgres duckdb"),
    Form("SIMILAR TO", r" SIMILAR TO ", "sqlite mysql"),
    Form("GLOB", r" GLOB (?!\()", "postgres mysql"),
    Form("MATCH", r"(?<! FROM)(?<! JOIN) (?:MATCH (?!\()|AGAINST )", _ALL),
    Form("SOUNDS LIKE", r" SOUNDS LIKE ", "sqlite postgres duckdb"),
    Form("BINARY", r"(?<! COLLATE) BINARY (?![()=,])", "sqlite postgres duckdb"),
    Form("this operator", r" (?:XOR|DIV|MOD) [\w\"0]", "sqlite postgres duckdb"),
    Form("this collation", r" COLLATE (?!NOCASE |BINARY |RTRIM )", "sqlite"),
    Form("COLLATE", r" COLLATE ", "postgres mysql duckdb"),
    Form("SYMMETRIC", r" BETWEEN (?:A?SYMMETRIC) ", "sqlite mysql duckdb"),
    Form("the table DUAL", r" FROM DUAL ", "sqlite postgres duckdb"),
    Form("MATERIALIZED", r" MATERIALIZED \(", "mysql"),
    Form("a hint", r" (?:WITH \( [A-Z]|(?:NOT INDEXED|INDEXED BY|(?:USE|FORCE|IGNORE) INDEX) )", _ALL),
    Form("a name without AS",
         r"(?<!SELECT)(?<!DISTINCT)(?<! AS)(?<! BY)(?<=[A-Z_\"]) (?:DAY|HOUR|MINUTE|MONTH|SECOND|YEAR|CHAR|FILTER|OVER|PRECISION) (?:,|FROM) ", "postgres duckdb"),
    Form("a share of rows", r" LIMIT 0 (?:%|PERCENT|BY) ", _ALL),
    Form("VALUES ROW", r" VALUES ROW \(", "sqlite postgres duckdb"),
    Form("JSON_OBJECT with these words", r" JSON_OBJECT \( \S+ (?::|VALUE|KEY) ", _ALL),
    Form("JSON_OBJECT", r" JSON_OBJECT \(", "postgres"),
    Form("a function of JSON with a string", r" JSONB?_(?:EACH|ARRAY_ELEMENTS)\w* \( '", "postgres"),
    Form("FORMAT without a format", r" FORMAT \( (?!')", "postgres duckdb"),
    Form("a part of a date that is no string", r" (?:DATE_?TRUNC|DATE_?PART|DATE_?DIFF) \( (?!')", "postgres duckdb"),
    Form("a call of a string", r" ' \(", _ALL),
    Form("WITHIN GROUP", r" WITHIN GROUP ", "sqlite mysql duckdb"),
    Form("this word",
         r" (?:LOCALTIME|LOCALTIMESTAMP|CURRENT_(?:USER|ROLE|SCHEMA|CATALOG)|SESSION_USER|UTC_DATE) (?!\()", "sqlite"),
    Form("LIMIT of this", r" LIMIT (?:ALL|NULL) ", "sqlite mysql"),
    Form("LIMIT of this",
         r" LIMIT (?!ALL |NULL |[0?] (?:OFFSET|,|\)|;|$|UNION|EXCEPT|INTERSECT|FOR))", "postgres mysql duckdb"),
)
# fmt: on

# Symbols beside those that all have.
_SYMBOLS: Final = frozenset("= <> != < > <= >= + - * / % ( ) , . ; || ' \" 0".split())
_OWN_SYMBOLS: Final = {
    "sqlite": frozenset("== & | << >> ~ -> ->>".split()),
    "postgres": frozenset(":: & | << >> ~ ^ ~* !~ !~* ~~ ^@ [ ] : -> ->> @> <@ -".split()),
    "mysql": frozenset("& | << >> ~ ^ && ! <=>".split()),
    "duckdb": frozenset(":: == & | << >> ~ ^ ** // [ ] { } : -> ->> ~~ ^@".split()),
}

# Types that can be cast to; SQLite takes any.
_TYPES: Final = {
    "postgres": "text varchar char character bpchar name int integer int2 int4 int8 bigint smallint"
    " numeric decimal dec float float4 float8 real boolean bool date time timestamp"
    " timestamptz timetz interval uuid json jsonb bytea money xml oid bit varbit",
    "mysql": "char nchar binary signed unsigned decimal date datetime time double float",
    "duckdb": "text varchar char bpchar string nvarchar int integer int1 int2 int4 int8 int16 int32"
    " int64 int128 signed bigint long smallint short tinyint hugeint uhugeint ubigint uinteger"
    " usmallint utinyint numeric decimal dec float float4 float8 real double boolean bool logical"
    " date time timestamp datetime timestamptz timetz interval uuid json blob bytea binary"
    " varbinary bit",
}

# What is written like a function and read by the grammar, by the words that part its arguments.
_GRAMMAR: Final = {
    "sqlite": "cast row_value",
    "postgres": "cast extract substring position overlay trim row array xmlelement",
    "mysql": "cast extract substring substr position trim convert row values get_format",
    "duckdb": "cast try_cast extract substring position overlay trim row columns array",
}
_PARTS: Final = frozenset({"FROM", "IN", "AS", "PLACING", "USING", "FOR"})
_NO_CALLS: Final = frozenset(
    "ALL AND ANY AS BETWEEN BY CASE CUBE CROSS DISTINCT DIV ELSE END ESCAPE EXCEPT EXCLUDE EXISTS"
    " FILTER FROM FULL GLOB GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL INTO IS JOIN"
    " LATERAL LIKE LIMIT MATCH AGAINST MATERIALIZED NATURAL NOT NULLS OFFSET ON ONLY OR ORDER OUTER"
    " OVER PARTITION QUALIFY RECURSIVE REGEXP RENAME RETURNING RLIKE ROLLUP SELECT SETS SIMILAR"
    " SOME TABLE THEN TO UNION USING VALUES VARYING WHEN WHERE WINDOW WITH WITHIN XOR FETCH NEXT"
    " PRECISION BINARY MINUS".split()
)
_WINDOWS: Final = (
    exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag,
    exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip
_RESERVED: Final = {
    "sqlite": "ADD ALL ALTER AND AS BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT"
    " DELETE DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT"
    " INTERSECT INTO IS ISNULL JOIN LIMIT NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES"
    " RETURNING SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE UPDATE USING VALUES WHEN WHERE",
    "postgres": "ALL ANALYSE ANALYZE AND ANY ARRAY AS ASC BOTH CASE CAST CHECK COLLATE COLUMN"
    " CONSTRAINT CREATE CURRENT_USER DEFAULT DESC DISTINCT DO ELSE END EXCEPT FETCH FOR FOREIGN FROM"
    " GRANT GROUP HAVING IN INTERSECT INTO LATERAL LEADING LIMIT NOT OFFSET ON ONLY OR ORDER"
    " PLACING PRIMARY REFERENCES RETURNING SELECT SESSION_USER SOME TABLE THEN TO TRAILING UNION"
    " UNIQUE USER USING WHEN WHERE WINDOW WITH SYSDATE",
    "duckdb": "ALL ANALYSE ANALYZE AND ANY ARRAY AS ASC BOTH CASE CAST CHECK COLLATE COLUMN"
    " CONSTRAINT CREATE DEFAULT DESC DISTINCT DO ELSE END EXCEPT FETCH FOR FOREIGN FROM GROUP HAVING"
    " IN INTERSECT INTO LATERAL LEADING LIMIT NOT OFFSET ON ONLY OR ORDER PIVOT PLACING PRIMARY"
    " QUALIFY REFERENCES RETURNING SELECT SHOW SOME SUMMARIZE TABLE THEN TO TRAILING UNION UNIQUE"
    " UNPIVOT USING WHEN WHERE WINDOW WITH SYSDATE",
    "mysql": "ADD ALL ALTER ANALYZE AND AS ASC BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY CALL CASCADE"
    " CASE CHANGE CHAR CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE CROSS CUBE"
    " CUME_DIST CURSOR DATABASE DATABASES DECIMAL DECLARE DEFAULT DELETE DENSE_RANK DESC DESCRIBE"
    " DETERMINISTIC DISTINCT DIV DOUBLE DROP EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT"
    " EXISTS EXIT EXPLAIN FALSE FETCH FIRST_VALUE FLOAT FOR FORCE FOREIGN FROM FULLTEXT FUNCTION GENERATED GET"
    " GRANT GROUP GROUPING GROUPS HAVING IF IGNORE IN INDEX INNER INOUT INSERT INT INTEGER INTERSECT"
    " INTERVAL INTO IS ITERATE JOIN KEY KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING LEAVE LEFT LIKE LIMIT LINEAR"
    " LINES LOAD LOCK LONG LOOP MATCH MOD NATURAL NOT NTH_VALUE NTILE NULL NUMERIC OF ON OPTIMIZE OPTION OR"
    " ORDER OUT OUTER OVER PARTITION PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE RANGE RANK READ"
    " READS REAL RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESTRICT RETURN"
    " REVOKE RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS SELECT SENSITIVE SEPARATOR SET SHOW"
    " SIGNAL SMALLINT SPATIAL SPECIFIC SQL STARTING STORED SYSTEM TABLE TERMINATED THEN TINYINT TO TRAILING"
    " TRIGGER TRUE UNDO UNION UNIQUE UNLOCK UNSIGNED UPDATE USAGE USE USING VALUES VARCHAR VARYING"
    " VIRTUAL WHEN WHERE WHILE WINDOW WITH WRITE XOR ZEROFILL SYSDATE",
}  # fmt: skip


def unknown(
    words: Sequence[Token], tree: exp.Expr, dialect: str, *, reserved: bool = True
) -> str | None:
    """
    Return what of a query that is not refused the dialect's database may not understand.

    A name that the database keeps for itself counts if *reserved*: else it is thought in quotes.
    """
    written = _written(words)
    what = next((f.what for f, p in _forms(dialect) if p.search(written)), None)
    return (
        _function(words, tree, dialect)
        or (what and f"{database_of(dialect)} may not have {what}")
        or _symbol(words, dialect)
        or _shape(words, tree, dialect, _RESERVED[dialect] if reserved else "")
    )


def has_all(words: Sequence[Token], tree: exp.Expr) -> bool:
    """Say whether all databases have what a query of plain words, as `is_alike` says, asks for."""
    kinds = Counter(word.token_type for word in words)
    nodes = list(tree.walk())
    return (
        sum(isinstance(node, exp.Select) for node in nodes) == kinds[TokenType.SELECT]
        and _n_joins(words) <= kinds[TokenType.ON]
        and not any(True for node in nodes for _ in _shapes(node))
        and _any_form().search(_written(words)) is None
        and not any(_function(words, tree, dialect) for dialect in VERSIONS)
    )


def versions(words: Sequence[Token], tree: exp.Expr, dialect: str) -> set[str]:
    """Return the versions of a database that a query needs, as assumptions."""
    newer = since(dialect)
    named = {newer.get(word.text.lower()) for word, after in pairwise(words) if after.text == "("}
    shapes = {shape.since for node in tree.walk() for _, shape in _shapes(node)}
    named |= {version for version in shapes if version.startswith(database_of(dialect))}
    return {f"the database is {version} or later" for version in named if version}


@cache
def _forms(dialect: str) -> list[tuple[Form, re.Pattern[str]]]:
    chosen = [f for f in FORMS if dialect in f.lacked.split()]
    return [(form, re.compile(form.pattern)) for form in chosen]


@cache
def _any_form() -> re.Pattern[str]:
    return re.compile("|".join(form.pattern for form in FORMS))


_TEXTS = {TokenType.STRING: "'", TokenType.NUMBER: "0", TokenType.IDENTIFIER: '"'}


def _written(words: Sequence[Token]) -> str:
    """Return the words in upper case; strings, numbers and names in quotes as one sign each."""
    texts = (_TEXTS.get(w.token_type) or " ".join(w.text.upper().split()) for w in words)
    return f" {' '.join(texts)} "


# Functions.


NO_FUNCTION: Final = "has no function"


def missing_function(words: Sequence[Token], tree: exp.Expr, dialect: str) -> str | None:
    """Return which function the database does not have itself, or not with so many arguments."""
    return next((why for why, sure in _functions(words, tree, dialect) if sure), None)


def _function(words: Sequence[Token], tree: exp.Expr, dialect: str) -> str | None:
    """Return a function that the database may not have, or that is not described."""
    return next((why for why, _ in _functions(words, tree, dialect)), None)


def _functions(words: Sequence[Token], tree: exp.Expr, dialect: str) -> Iterator[tuple[str, bool]]:
    """Yield why calls are not understood, and whether the database has no such function."""
    known, grammar = arities(dialect), _GRAMMAR[dialect].split()
    for i in _calls(words, tree):
        name, lower = words[i].text, words[i].text.lower()
        if _is_own(words, i, dialect):
            yield f"{name.upper()} is a function of the user", False
            continue
        count, parted, distinct = _arguments(words, i + 1)
        if lower not in (*known, *grammar):
            if not has_function(lower, dialect):
                yield f"{database_of(dialect)} {NO_FUNCTION} {name.upper()}", True
            elif not lower.startswith("pragma_"):
                yield f"what {name.upper()} of {database_of(dialect)} returns is not known", False
        elif lower in known and not (parted and lower in grammar):
            least, most = known[lower]
            is_folded = distinct and dialect == "mysql"
            if not is_folded and (parted or not least <= count <= most):
                of = f"{name.upper()} of {count} argument{'' if count == 1 else 's'}"
                yield f"{database_of(dialect)} {NO_FUNCTION} {of}", not parted


def _calls(words: Sequence[Token], tree: exp.Expr) -> Iterator[int]:
    """Yield the places of words that are called as functions."""
    aliases = {
        alias.name.upper() for alias in tree.find_all(exp.TableAlias) if alias.args.get("columns")
    }
    for i, (word, after) in enumerate(pairwise(words)):
        name, quoted = word.text.upper(), word.token_type == TokenType.IDENTIFIER
        before = words[i - 1].text.upper() if i else ""
        if (
            after.token_type == TokenType.L_PAREN
            and _NAME.match(name)
            and word.token_type not in (TokenType.STRING, TokenType.NUMBER)
            and (quoted or name not in _NO_CALLS)
            and name not in aliases
            and before not in ("AS", "::", "*", "COLLATE")
        ):
            yield i


def _is_own(words: Sequence[Token], i: int, dialect: str) -> bool:
    """Say whether a function that is called must be the user's, by its quotes or qualifier."""
    word = words[i]
    quoted = word.token_type == TokenType.IDENTIFIER
    if quoted and (dialect == "mysql" or (dialect != "sqlite" and word.text != word.text.lower())):
        return True
    is_qualified = i > 1 and words[i - 1].text == "."
    return is_qualified and (dialect != "postgres" or words[i - 2].text.lower() != "pg_catalog")


_NAME = re.compile(r"[^\W\d][\w$]*\Z")


def _arguments(words: Sequence[Token], start: int) -> tuple[int, bool, bool]:
    """Return how many arguments a call has, if words part them, and if DISTINCT comes first."""
    depth = commas = 0
    parted = False
    for i in range(start, len(words)):
        text = words[i].text.upper() if words[i].token_type not in _TEXTS else ""
        depth += (text in ("(", "[", "{", "CASE")) - (text in (")", "]", "}", "END"))
        if depth == 0:
            break
        if depth == 1:
            commas += text == ","
            is_operator = (
                words[start - 1].text.lower() != "position"
                if text == "IN"
                else words[i - 1].text.upper() == "DISTINCT"
            )
            parted = parted or (text in _PARTS and not is_operator)
    empty = start + 1 < len(words) and words[start + 1].text == ")"
    distinct = start + 1 < len(words) and words[start + 1].token_type == TokenType.DISTINCT
    return 0 if empty else commas + 1, parted, distinct


def _symbol(words: Sequence[Token], dialect: str) -> str | None:
    """Return an operator or a literal that the database may not have."""
    own = _OWN_SYMBOLS[dialect]
    for i, word in enumerate(words):
        text = word.text
        if word.token_type in (TokenType.PARAMETER, TokenType.PLACEHOLDER):
            return "a parameter has no value"
        if word.token_type in _LITERALS:
            return f"{database_of(dialect)} may not have the literal {text[:20]}"
        if word.token_type == TokenType.NUMBER and (
            not _NUMBER.match(text) or (i + 1 < len(words) and _meet(word, words[i + 1]))
        ):
            return f"{database_of(dialect)} may not have the number {text[:20]}"
        if word.token_type in _TEXTS or not text or _WORD.match(text):
            continue
        if text not in _SYMBOLS and text not in own:
            return f"{database_of(dialect)} may not have the operator {text}"
    return None


def _meet(word: Token, after: Token) -> bool:
    """Say whether a number is followed by a word without a space."""
    return (
        word.token_type == TokenType.NUMBER
        and after.start == word.end + 1
        and _WORD.match(after.text) is not None
    )


_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\Z")
_WORD = re.compile(r"[\w$]")
_LITERALS = (
    TokenType.NATIONAL_STRING, TokenType.BIT_STRING, TokenType.HEX_STRING, TokenType.BYTE_STRING,
    TokenType.HEREDOC_STRING, TokenType.RAW_STRING, TokenType.UNICODE_STRING, TokenType.INTRODUCER,
)  # fmt: skip


# The tree.

_SELECT_ARGS = frozenset(
    {"with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "windows"}
    | {"order", "limit", "offset", "qualify", "laterals"}
)
_TABLE_ARGS = frozenset({"this", "db", "catalog", "alias", "joins", "laterals"})
_JOINS = frozenset({"", "INNER", "OUTER", "CROSS", "NATURAL", "LEFT", "RIGHT", "FULL"})
_DUCKDB_JOINS = frozenset({"SEMI", "ANTI", "ASOF", "POSITIONAL"})
_UNLISTED = (
    exp.TableSample, exp.Pivot, exp.Connect, exp.PreWhere, exp.Comprehension, exp.Parameter,
    exp.Placeholder, exp.MatchRecognize, exp.Lock, exp.Introducer, exp.NextValueFor,
)  # fmt: skip


def _any(node: exp.Expr) -> bool:
    del node
    return True


@attrs.frozen
class Shape:
    """A node of a tree that not every database has."""

    kind: type[exp.Expr] | tuple[type[exp.Expr], ...]
    what: str
    lacked: str
    """As those of `Form`."""
    test: Callable[[exp.Expr], object] = _any
    """On a node of the kind; a text that it returns says more."""
    since: str = ""
    """The first version of a database that has it."""


def _beyond(node: exp.Expr, known: frozenset[str]) -> str:
    """Return an argument of a node that is not known."""
    return next((name for name, value in node.args.items() if value and name not in known), "")


def _join_words(node: exp.Expr) -> set[str]:
    return {str(node.args.get(name) or "").upper() for name in ("kind", "side", "method")}


def _is_bare(node: exp.Expr) -> bool:
    return not node.args.get("on") and not node.args.get("using")


def _names_itself(node: exp.Expr) -> bool:
    """Say whether a common table expression recurs without the word for it."""
    recursive = node.parent and node.parent.args.get("recursive")
    own = node.alias.lower()
    return (
        isinstance(node.this, exp.SetOperation)
        and not recursive
        and any(table.name.lower() == own for table in node.this.find_all(exp.Table))
    )


_NEITHER_OUTER: Final = {"NATURAL", "POSITIONAL"}

# fmt: off
SHAPES: Final = (
    Shape(exp.Select, "OFFSET without LIMIT", "mysql", lambda n: n.args.get("offset") and not n.args.get("limit")),
    Shape(exp.Select, "the clause", _ALL, lambda n: _beyond(n, _SELECT_ARGS)),
    Shape(exp.Table, "behind a table the part", _ALL, lambda n: _beyond(n, _TABLE_ARGS)),
    Shape(exp.Join, "the join", "sqlite postgres mysql", lambda n: " ".join(sorted(_join_words(n) - _JOINS))),
    Shape(exp.Join, "this JOIN", "duckdb", lambda n: _join_words(n) - _JOINS - _DUCKDB_JOINS),
    Shape(exp.Join, "this JOIN", "duckdb", lambda n: "LEFT" in (words := _join_words(n)) and words & {"SEMI", "ANTI"}),
    Shape(exp.Join, "an outer join without ON", "postgres mysql duckdb",
          lambda n: _is_bare(n) and (words := _join_words(n)) & {"LEFT", "RIGHT", "FULL"} and not words & _NEITHER_OUTER),
    Shape(exp.Join, "CROSS JOIN with ON", "postgres duckdb", lambda n: "CROSS" in _join_words(n) and not _is_bare(n)),
    Shape(exp.Subquery, "a subquery in FROM without a name", "",
          lambda n: isinstance(n.parent, exp.From | exp.Join) and not n.alias and not isinstance(n.this, exp.Table), "PostgreSQL 16"),
    Shape(exp.TableAlias, "names of columns behind a table", "sqlite mysql",
          lambda n: n.args.get("columns") and not isinstance(n.parent, exp.CTE)),
    Shape(exp.Window, "DISTINCT in a window function", "sqlite postgres mysql",
          lambda n: isinstance(n.this, exp.AggFunc) and isinstance(n.this.this, exp.Distinct)),
    Shape(exp.Window, "GROUP_CONCAT as a window function", "mysql", lambda n: isinstance(n.this, exp.GroupConcat)),
    Shape(exp.Is, "IS with this", "postgres mysql duckdb",
          lambda n: not isinstance(n.expression, exp.Null | exp.Boolean)),
    Shape(exp.In, "IN without brackets", "postgres mysql duckdb", lambda n: n.args.get("field")),
    Shape(exp.Distinct, "DISTINCT of a row", "sqlite mysql",
          lambda n: any(isinstance(part, exp.Tuple) for part in n.expressions)),
    Shape(exp.Order, "ORDER BY in a function", "mysql",
          lambda n: isinstance(n.parent, exp.Func) and not isinstance(n.parent, exp.GroupConcat)),
    Shape(exp.Lambda, "a function without a name", _ALL),
    Shape(exp.CTE, "recursion without RECURSIVE", "postgres mysql duckdb", _names_itself),
    Shape((exp.Array, exp.Struct, exp.Bracket), "arrays and structs", "sqlite mysql"),
    Shape(exp.Struct, "structs in braces", "postgres"),
    Shape(exp.Limit, "LIMIT of this", _ALL,
          lambda n: isinstance(n.expression, exp.Literal) and not n.expression.name.isdecimal()),
    Shape(exp.Values, "VALUES in FROM", "mysql"),
    Shape(_WINDOWS, "a window function without OVER", _ALL,
          lambda n: not isinstance(n.parent, exp.Window | exp.IgnoreNulls | exp.RespectNulls | exp.Filter)),
    *(Shape(kind, kind.key.upper(), _ALL) for kind in _UNLISTED),
)
# fmt: on


@cache
def _shapes_of(kind: Hashable) -> tuple[Shape, ...]:
    """Return the shapes of a type of nodes."""
    return tuple(shape for shape in SHAPES if issubclass(cast("type", kind), shape.kind))


def _shapes(node: exp.Expr) -> Iterator[tuple[str, Shape]]:
    """Yield what a node is that not every database has, in words."""
    for shape in _shapes_of(cast("Hashable", type(node))):
        found = shape.test(node)
        if found:
            yield f"{shape.what} {found}" if isinstance(found, str) else shape.what, shape


def _shape(  # noqa: PLR0911
    words: Sequence[Token], tree: exp.Expr, dialect: str, listed: str
) -> str | None:
    name, reserved = database_of(dialect), set(listed.split())
    kinds: Counter[TokenType] = Counter(word.token_type for word in words)
    labels = {
        word.text.upper()
        for before, word in pairwise(words)
        if before.token_type == TokenType.ALIAS
    }
    nodes = list(tree.walk())
    selects = sum(isinstance(node, exp.Select) for node in nodes)
    if selects > kinds[TokenType.SELECT] and dialect != "duckdb":
        return f"{name} may not have a query without SELECT"
    arrays = sum(isinstance(node, exp.Array) for node in nodes)
    if dialect == "postgres" and arrays > sum(word.text.upper() == "ARRAY" for word in words):
        return f"{name} may not have an array without the word ARRAY"
    for node in nodes:
        for what, shape in _shapes(node):
            if dialect in shape.lacked.split():
                return f"{name} may not have {what}"
        if isinstance(node, exp.Identifier) and not node.args.get("quoted"):
            labeled = dialect in ("postgres", "duckdb") and node.name.upper() in labels
            qualified = isinstance(node.parent, exp.Column) and node.parent.table
            if not labeled and not qualified and node.name.upper() in reserved:
                return f"{name} reserves the word {node.name.upper()}"
        if isinstance(node, exp.Cast) and dialect in _TYPES and not _has_type(node, dialect):
            return f"{name} may not have the type {node.to.sql(dialect)}"
    if (
        dialect in ("postgres", "duckdb")
        and _n_joins(words) > kinds[TokenType.ON] + kinds[TokenType.USING]
    ):
        return f"{name} does not have JOIN without ON"
    return _cast_type(words, dialect)


def _has_type(cast: exp.Cast, dialect: str) -> bool:
    return not cast.to.is_type(exp.DataType.Type.ARRAY) or dialect == "duckdb"


def _n_joins(words: Sequence[Token]) -> int:
    """Count the joins that need a condition."""
    n = 0
    for i, word in enumerate(words):
        if word.token_type == TokenType.JOIN:
            before = {other.token_type for other in words[max(i - 3, 0) : i]}
            n += not before & {TokenType.CROSS, TokenType.NATURAL, TokenType.ASOF} and not any(
                other.text.upper() == "POSITIONAL" for other in words[max(i - 1, 0) : i]
            )
    return n


def _cast_type(words: Sequence[Token], dialect: str) -> str | None:
    """Return the type that is cast to, as written, if the database does not have it."""
    if dialect not in _TYPES:
        return None
    known = _TYPES[dialect].split()
    casts: list[int] = []
    depth = 0
    for i, (word, after) in enumerate(pairwise(words)):
        text = word.text.upper() if word.token_type not in _TEXTS else ""
        if text == "(":
            depth += 1
            if i and words[i - 1].text.upper() in ("CAST", "TRY_CAST"):
                casts.append(depth)
        elif text == ")":
            if casts and casts[-1] == depth:
                casts.pop()
            depth -= 1
        is_type = text == "::" or (text == "AS" and bool(casts) and casts[-1] == depth)
        if is_type:
            written = " ".join(word.text.upper() for word in words[i + 1 : i + 3])
            is_double = written.startswith("DOUBLE PRECISION")
            name = after.text.lower().removesuffix(" integer")
            if not (dialect != "mysql" if is_double else name in known):
                return f"{database_of(dialect)} may not have the type {after.text.upper()}"
    return None
