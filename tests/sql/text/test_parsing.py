"""The parser's gate: fences, limits, dialects, silence, bombs that must not end the process."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import traceback
from typing import Any

import pytest
import sqlglot.parser
from hypothesis import given
from hypothesis import strategies as st
from outcomes import present
from small_stack import survives
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from scorekit import SqlCase, score_sql_case
from scorekit._sql.text import parsing
from scorekit._sql.text.nesting import MAX_NESTING, nesting
from scorekit._sql.text.parsing import MAX_CHARS, RETRIES, parse, parsed_once, quiet
from scorekit.errors import InputError, SqlError
from scorekit.tables import extract_tables

DIALECTS = sorted(filter(None, Dialect.classes))


def _depth(sql: str, dialect: str = "") -> int:
    known = Dialect.get_or_raise(dialect)
    return nesting(known.tokenize(sql), known)


# Text.


@pytest.mark.parametrize("text", [
    "SELECT * FROM t",
    "\ufeff  SELECT * FROM t ;; ",
    "```sql\nSELECT * FROM t\n```",
    "```SQL\nSELECT * FROM t",
    "```sql SELECT * FROM t```",
    "```\nSELECT * FROM t\n```",
    "Here you are:\n\n```postgresql\r\nSELECT * FROM t;\r\n```\nIt reads `t`.",
    "First\n```python\nrun()\n```\nthen\n````tsql\nSELECT * FROM t\n````",
    "```\n\n```\n```sql\nSELECT * FROM t\n```",
    "EXPLAIN SELECT * FROM t",
    "explain analyze verbose\nSELECT * FROM t",
    "EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM t",
    "EXPLAIN (SELECT * FROM t)",
    "EXPLAIN QUERY PLAN SELECT * FROM t",
    "EXPLAIN FORMAT=JSON SELECT * FROM t; EXPLAIN PLAN FOR SELECT * FROM t",
    "REPLACE INTO t VALUES (1); replace\tinto t (a) VALUES (2)",
    "-- FROM a\nSELECT * FROM t /* FROM b */",
    "(((SELECT * FROM t)))",
    "SELECT 1 FROM t" + " JOIN t" * 12,  # each doubles the parser's work
])  # fmt: skip
def test_the_sql_is_found_in_what_models_write(text: str) -> None:
    """Fences, open or closed, other languages beside them, EXPLAIN and REPLACE."""
    assert extract_tables(text) == ("t",)


def test_quoted_text_is_left_alone() -> None:
    """What looks like EXPLAIN or REPLACE inside a string stays there."""
    (select,) = parse("SELECT 'explain select', 'replace into' FROM t").statements
    assert [node.name for node in select.find_all(exp.Literal)] == [
        "explain select",
        "replace into",
    ]


@pytest.mark.parametrize(("text", "error"), [
    ("", "empty: there is no SQL to parse"),
    (" \n\t", "empty: there is no SQL to parse"),
    ("-- nothing", "empty: there is no statement"),
    (";;", "empty: there is no statement"),
    ("Sure thing", "not_sql: there is no statement that reads, changes or defines data"),
    ("1 + 1", "not_sql: there is no statement that reads, changes or defines data"),
    ("I'm sorry, I cannot do that.", "not_sql: Error tokenizing 'I'm sorry, I cannot do that'"),
    ("SELECT (1", "parse: Expecting ). Line 1, column 9."),
    ("SELECT * FROM t WHERE (a))", "parse: Invalid expression / Unexpected token. Line 1, column 26."),
    ("SELECT 'O'Brien' FROM t", "parse: Error tokenizing 'SELECT 'O'Brien' FROM '"),
    ("SELECT 1 /* FROM t", "parse: Error tokenizing 'SELECT 1 /* FROM '"),
    ("```sql\nSELECT (1\n```", "parse: Expecting ). Line 1, column 9."),
    ("VACUUM", "unsupported: there is no statement that the parser can look into"),
    ("CALL p(1)", "unsupported: there is no statement that the parser can look into"),
    ("SELECT (", "parse: Incomplete Paren. Line 1, column 8."),
    ("SELECT a FROM t GROUP BY", "parse: Incomplete Group. Line 1, column 24."),
    ("SELECT a FROM t GROUP BY LIMIT 1", "parse: Incomplete Group. Line 1, column 24."),
    ("SELECT 1 FROM ", "parse: Expected table name but got the end. Line 1, column 13."),
    ("SELECT 1" + " " * MAX_CHARS, "too_long: 200008 characters are more than 200000"),
    ("SELECT " + "(" * 40, "too_deep: 41 levels of nesting are more than 32"),
    ("SELECT 1 FROM t" + " JOIN t" * 13, "too_deep: nested in too many ambiguous ways"),
])  # fmt: skip
def test_errors(text: str, error: str) -> None:
    """Each kind, with the parser's own message where it has one."""
    with pytest.raises(SqlError) as caught:
        parse(text)
    assert str(caught.value) == error
    assert caught.value.sql == (text if len(text) <= 500 else text[:497] + "...")


@pytest.mark.parametrize("text", ["SET x = 1", "BEGIN; COMMIT", "USE db; SET x = 1;"])
def test_statements_that_only_set_things_up_are_sql(text: str) -> None:
    """They parse, and there is nothing in them."""
    assert parse(text).statements == ()


# Dialects.


@pytest.mark.parametrize(("dialect", "error", "message"), [
    ("postgress", InputError, "dialect must be a dialect that sqlglot knows (near ones: postgres), got 'postgress'"),
    ("no such thing", InputError, f"dialect must be a dialect that sqlglot knows ({', '.join(DIALECTS)}), got 'no such thing'"),
    ("", InputError, "dialect must be a non-empty string, got ''"),
    (3, TypeError, "dialect must be a non-empty string, got 3"),
])  # fmt: skip
def test_an_unknown_dialect_is_refused(dialect: Any, error: type[Exception], message: str) -> None:
    """With the names it may have been meant for, before anything is parsed."""
    with pytest.raises(error) as caught:
        parse("", dialect)
    assert str(caught.value) == message


def test_a_named_dialect_is_the_only_one_tried() -> None:
    """Brackets around names are T-SQL: found where no dialect was named, and only there."""
    text = "SELECT TOP 1 [a b] FROM [x y]"
    assert parse(text).dialect in RETRIES
    assert parse("SELECT 1").dialect == ""
    with pytest.raises(SqlError, match=r"^parse: "):
        parse(text, "postgres")


def test_every_dialect_reads_plain_sql() -> None:
    """Those with a language of their own, such as PRQL, give a result or a `SqlError`."""
    for dialect in DIALECTS:
        if dialect in ("dax", "prql"):
            with contextlib.suppress(SqlError):
                assert extract_tables("SELECT a FROM t", dialect=dialect) in (("t",), ())
        else:
            found = extract_tables("SELECT a.x FROM a JOIN b ON a.i = b.i", dialect=dialect)
            assert found == ("a", "b"), dialect


def test_other_exceptions_of_the_parser_are_parse_errors() -> None:
    """Malformed SQL leads sqlglot into exceptions that are none of its own."""
    with pytest.raises(SqlError) as caught:
        parse("SELECT a::", "singlestore")
    assert str(caught.value) == (
        "parse: the parser failed with AttributeError: 'NoneType' object has no attribute 'name'"
    )


# Silence.


def test_nothing_is_logged_and_the_logger_is_left_as_it_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Sqlglot logs the text of statements that it cannot look into; ours may be untrusted."""
    logger = logging.getLogger("sqlglot")
    before = (list(logger.handlers), list(logger.filters), logger.level, logger.disabled)
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(SqlError, match=r"^unsupported: "):
            parse("GRANT ALL ON t TO u, CALL p()", "oracle")
        with pytest.raises(SqlError, match=r"^parse: "):
            parse("SELECT (", "oracle")
        logger.warning("heard")
    assert [record.getMessage() for record in caplog.records] == ["heard"]
    assert (list(logger.handlers), list(logger.filters), logger.level, logger.disabled) == before


def test_other_threads_are_heard_meanwhile(caplog: pytest.LogCaptureFixture) -> None:
    """A program that uses sqlglot itself keeps its own messages."""
    logger = logging.getLogger("sqlglot")
    with quiet():
        logger.warning("ours")
        other = threading.Thread(target=logger.warning, args=("theirs",))
        other.start()
        other.join()
    assert [record.getMessage() for record in caplog.records] == ["theirs"]


# Nesting.


@given(st.integers(0, 40), st.sampled_from(["()", "[]", "{}", ("CASE ", " END")]))
def test_brackets_count_two_each_and_nothing_once_closed(n: int, pair: tuple[str, str]) -> None:
    """Worked out by hand: n open at once are 2 n, one after the other are 2."""
    opening, closing = pair
    assert _depth(opening * n + "a" + closing * n) == 2 * n
    assert _depth((opening + "a" + closing + " , ") * n) == (2 if n else 0)


@pytest.mark.parametrize(("unit", "count", "expected"), [
    ("NOT ", 10, 10), ("- ", 10, 10), ("a - ", 10, 0), ("a IS NOT NULL AND ", 10, 0),
    ("-1, ", 10, 1), ("JOIN t ", 10, 10), ("JOIN t ON a = b ", 10, 1), ("ARRAY<", 10, 20),
    ("a < 1 AND ", 10, 0), ("SELECT a FROM t UNION ALL ", 10, 2), ("SELECT a FROM t; ", 10, 2),
    ("f(CASE WHEN NOT a THEN (b", 4, 28), ("a[1:], ", 10, 2), ("(t.end, ", 10, 20),
    ("CASE t.end ", 10, 20), ("(CASE a), ", 10, 4), ("a) ", 10, 0),
])  # fmt: skip
def test_nesting_by_hand(unit: str, count: int, expected: int) -> None:
    """What is over counts no longer; what may not be over does."""
    assert _depth(unit * count) == expected


def test_real_queries_are_far_from_the_limit() -> None:
    """Ten levels of subqueries with functions in them are no bomb."""
    sql = "SELECT 1 FROM t"
    for _ in range(10):
        sql = f"SELECT COALESCE(MAX(a), 0) FROM t WHERE b IN ({sql}) AND NOT c = -1"
    assert _depth(sql) < MAX_NESTING
    assert extract_tables(sql) == ("t",)


@pytest.mark.skipif(
    not sqlglot.parser.__file__.endswith(".py"), reason="compiled code has no such limit"
)
def test_a_caller_deep_in_its_own_stack_gets_an_error_and_no_crash() -> None:
    """Where Python's own limit comes first, that too is a `SqlError`."""
    sql = "SELECT " + "f(" * 25 + "1" + ")" * 25

    def dig(depth: int) -> str:
        if depth:
            return dig(depth - 1)
        with pytest.raises(SqlError) as caught:
            parse(sql)
        return str(caught.value)

    parse(sql)
    used = len(traceback.extract_stack())
    message = dig(sys.getrecursionlimit() - used - 150)
    assert message == "too_deep: the parser ran out of stack"


UNITS = [
    ("SELECT ", "(", ")"), ("SELECT ", "f(", ")"), ("SELECT ", "a = ANY(SELECT ", ")"),
    ("SELECT ", "CASE WHEN ", " THEN 1 END"), ("SELECT ", "CAST(", " AS INT)"),
    ("SELECT ", "ARRAY[", "]"), ("SELECT ", "{'a': ", "}"),
    ("SELECT ", "SUM(1) OVER (ORDER BY ", ")"), ("SELECT ", "NOT EXISTS (SELECT ", ")"),
    ("SELECT * FROM ", "(SELECT * FROM ", ")"), ("SELECT * FROM ", "(", " JOIN u)"),
    ("SELECT CAST(a AS ", "ARRAY<", ">"), ("SELECT ", "- NOT ~ ", ""),
    ("SELECT ", "INTERVAL ", ""), ("SELECT ", "IF ", ""), ("SELECT ", "a ? b : ", ""),
    ("SELECT ", "a -> b ", ""), ("SELECT ", "a := ", ""),
    ("SELECT * FROM t CONNECT BY ", "PRIOR ", ""), ("SELECT * FROM t", " JOIN t", ""),
    ("FROM t", " |> SELECT a", ""), ("", "BEGIN ", " END"), ("", "DESCRIBE ", ""),
    ("", "FROM ", ""), ("", "SET a = ", ""), ("", "`", ""), ("", "\0", ""),
    ("", "SELECT * FROM ", ""), ("", "SELECT 1 WHERE 1 IN (", ""), ("", "WITH a AS (", ""),
    ("", "SELECT 1 BETWEEN ", ""), ("", "EXPLAIN ", ""), ("", "/*", ""),
    ("SELECT ", "DISTINCT ", ""), ("SELECT ", "x.", "x"), ("SELECT x", "::int", ""),
    ("SELECT 1 FROM a", " PIVOT (", ""),
]  # fmt: skip
WIDE = [
    "SELECT 1 WHERE " + " OR ".join(f"a = {i}" for i in range(10_000)),
    f"SELECT 1 WHERE a IN ({', '.join(map(str, range(20_000)))})",
    " UNION ALL ".join(["SELECT 1 FROM t"] * 1500),
]


@pytest.mark.sampled
@pytest.mark.parametrize("dialect", ["doris", "clickhouse", "tsql"])
def test_bombs_around_the_limit(dialect: str) -> None:
    """Of each kind, as deep as may be read, a little deeper, and far too deep."""
    counts = (32, 33, 65, 1500)
    texts = [start + unit * n + "1" + end * n for start, unit, end in UNITS for n in counts]
    texts += [text[:190_000] for text in WIDE]
    survives("scorekit.extract_tables(text, dialect=dialect)", texts, (dialect,))


# What a text costs that cannot be read.


def _readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that will hold the dialect of each reading."""
    readings: list[str] = []
    real = parsing._parse_as

    def counted(text: str, dialect: str) -> Any:
        readings.append(dialect)
        return real(text, dialect)

    monkeypatch.setattr(parsing, "_parse_as", counted)
    return readings


@pytest.mark.parametrize(("item", "end", "dialects"), [
    ("a + b AS c", " FROM (", [""]),
    ("[a] + b AS c", " FROM (", ["", "tsql"]),
    ("a + b AS c", ", CASE WHEN a", [""]),
    ("`a` + b AS c", " FROM (", ["", "mysql", "bigquery"]),
])  # fmt: skip
def test_a_long_text_is_read_in_the_dialects_that_it_has_the_marks_of(
    monkeypatch: pytest.MonkeyPatch, item: str, end: str, dialects: list[str]
) -> None:
    """Brackets and backticks are such marks; each attempt takes long."""
    readings = _readings(monkeypatch)
    text = f"SELECT {', '.join([item] * (16_000 // len(item)))}{end}"
    with pytest.raises(SqlError) as caught:
        parse(text)
    assert caught.value.kind == "parse"
    assert readings == dialects


def test_a_text_that_cannot_be_read_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every metric of a case asks for it; the errors are equal, and each is a new one."""
    readings = _readings(monkeypatch)
    text = f"SELECT a FROM t WHERE {'a = 1 AND ' * 1_600}"
    errors: list[SqlError] = []
    with parsed_once():
        for _ in range(3):
            with pytest.raises(SqlError) as caught:
                parse(text)
            errors.append(caught.value)
    assert len(readings) == 1
    assert len({str(error) for error in errors}) == 1
    assert len({id(error) for error in errors}) == 3


def test_a_script_is_cut_only_as_long_as_that_costs_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each cut reads anew what is left of a text that no cut makes readable."""
    read: list[int] = []
    real = parsing._words

    def counted(text: str, dialect: Dialect) -> Any:
        read.append(len(text))
        return real(text, dialect)

    monkeypatch.setattr(parsing, "_words", counted)
    text = "BEGIN " * 30_000 + "1"
    with pytest.raises(SqlError):
        parsing.read(text, "doris")
    assert len(text) < sum(read) < 20 * len(text)


@pytest.mark.parametrize(
    ("dialect", "dialects"),
    [
        ("sqlite", ["sqlite"] * 2),
        (None, ["", "", "postgres", "postgres"]),  # of plain words, which all read alike
    ],
)
def test_what_a_case_holds_is_parsed_once(
    monkeypatch: pytest.MonkeyPatch, dialect: str | None, dialects: list[str]
) -> None:
    """Each text in each dialect, by whatever metrics look at it."""
    readings = _readings(monkeypatch)
    case = SqlCase(
        case_id=1,
        generated="SELECT a FROM t WHERE a > 1 ORDER BY a",
        expected="SELECT a FROM t WHERE NOT a <= 1 ORDER BY a",
        expected_tables=["t"],
        generated_rows=[(1,)],
        expected_rows=[(1,)],
        schema={"t": {"a": "int"}},
        dialect=dialect,
    )
    score = score_sql_case(case)
    assert present(score.query_correctness).method == "proved"
    assert sorted(readings) == sorted(dialects)


def test_a_parser_that_cannot_be_made_is_no_mistake_of_the_sql(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An unusable parser raises what it raises, and does not say that the text does not parse."""

    def refuse(*_: object, **__: object) -> None:
        message = "unexpected keyword argument"
        raise TypeError(message)

    monkeypatch.setattr(Dialect, "parser", refuse)
    with pytest.raises(TypeError, match=r"^unexpected keyword argument$"):
        parse("SELECT a FROM a_table_of_this_test")
