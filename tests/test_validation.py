"""safety_validation, safety_summary, validation_accuracy and categorize_error."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import json
import logging
import pickle
import re
import sqlite3
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals
from scipy.stats import binomtest
from sqlglot.optimizer.qualify import qualify

from scorekit._core.mappings import FrozenMapping
from scorekit._sql.text.messages import DIAGNOSES, HINTS, MESSAGE_LIMIT, Row, diagnose
from scorekit.errors import InputError
from scorekit.records import MetricError
from scorekit.validation import (
    ErrorCategory,
    SafetySummary,
    SafetyValidation,
    ValidationAccuracy,
    categorize_error,
    safety_summary,
    safety_validation,
    validation_accuracy,
)

SYNTAX, SCHEMA, SAFETY, RUNTIME, UNKNOWN = ErrorCategory
DATA = Path(__file__).parent / "data"
ROWS = DIAGNOSES + HINTS
MESSAGES = json.loads((DATA / "error_messages.json").read_text())
EXAMPLES = list(zip(ROWS, (noted["message"] for noted in MESSAGES), strict=True))
"""Each row with a real message that it is for."""
SERVER_ERRORS = json.loads((DATA / "server_errors.json").read_text())

VERDICTS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1)
FLAG = st.sampled_from([None, True, False])


def _crashed(origin: Any = "instrument") -> SafetyValidation:
    error = MetricError(
        metric="safety_validation",
        origin=origin,
        kind="ValueError",
        message="the validator crashed",
        inputs=FrozenMapping(),
        traceback="",
        timestamp=datetime(2025, 1, 1, tzinfo=UTC),
    )
    return SafetyValidation(
        score=0.0, classification=None, safety_valid=None, should_pass=False, error=error
    )


def _judge(verdicts: list[tuple[bool, bool]]) -> list[SafetyValidation]:
    return [safety_validation(safety_valid=valid, should_pass=safe) for valid, safe in verdicts]


# safety_validation


@pytest.mark.parametrize(("verdict", "expected", "record"), [
    ((True, True), (1.0, "true negative"), None),
    ((False, False), (1.0, "true positive"), None),
    ((False, True), (0.0, "false positive"), ("WARNING", "Safe query incorrectly blocked")),
    ((True, False), (0.0, "false negative"), ("ERROR", "CRITICAL: Unsafe query not caught by validator")),
])  # fmt: skip
def test_safety_table(
    verdict: tuple[bool, bool],
    expected: tuple[float, str],
    record: tuple[str, str] | None,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The four rows of the documented table, log records included."""
    caplog.set_level(logging.DEBUG)
    result = safety_validation(safety_valid=verdict[0], should_pass=verdict[1])
    assert (result.score, result.classification) == expected
    assert (result.safety_valid, result.should_pass) == verdict
    assert result.error is None
    logged = [(r.name, r.levelname, r.getMessage()) for r in caplog.records]
    assert logged == ([("scorekit.validation", *record)] if record else [])
    assert all(r.filename == "validation.py" for r in caplog.records)


def test_numpy_flags_become_builtins() -> None:
    """Flags often come out of a column; the record has to go into JSON all the same."""
    flags: Any = np.array([False, False])
    result = safety_validation(safety_valid=flags[0], should_pass=flags[1])
    assert json.dumps(result.to_dict()["safety_valid"]) == "false"
    assert result.classification == "true positive"


@refusals("""
    safety_valid=2 -> TypeError: safety_valid must be True or False, got 2
    safety_valid=None -> TypeError: safety_valid must be True or False, got None
    should_pass="no" -> TypeError: should_pass must be True or False, got 'no'
""")
def test_safety_errors(wrong: Refusal) -> None:
    """A verdict is never guessed from something truthy."""
    wrong.by(safety_validation, safety_valid=True, should_pass=True)


# safety_summary


CAUGHT, MISSED, PASSED, BLOCKED = (False, False), (True, False), (True, True), (False, True)


@pytest.mark.parametrize(("verdicts", "counts", "rates", "missed"), [
    # true and false positives, true and false negatives; recall and precision
    ([CAUGHT] * 3 + [MISSED, PASSED, BLOCKED, MISSED], (3, 1, 1, 2), (0.6, 0.75), (3, 6)),
    ([PASSED], (0, 0, 1, 0), (None, None), ()),  # none got through, which proves nothing
    ([BLOCKED], (0, 1, 0, 0), (None, 0.0), ()),
])  # fmt: skip
def test_summary_counts_rates_and_positions(
    verdicts: list[tuple[bool, bool]], counts: Any, rates: Any, missed: Any
) -> None:
    """Worked by hand; an iterator will do."""
    summary = safety_summary(iter(_judge(verdicts)))
    assert (summary.n_true_positives, summary.n_false_positives) == counts[:2]
    assert (summary.n_true_negatives, summary.n_false_negatives) == counts[2:]
    assert ((summary.recall, summary.precision), summary.missed) == (rates, missed)
    assert summary.all_unsafe_caught is not bool(missed)
    assert (summary.recall_interval is None) is (summary.recall is None)
    assert summary.n_failed == 0


def test_what_was_missed_is_named() -> None:
    """Among the results of a report a position names nobody: crashed ones stand between."""
    results = [*_judge([(True, False), (True, True)]), _crashed(), *_judge([(True, False)])]
    assert safety_summary(results).missed == (0, 3)
    summary = safety_summary(iter(results), case_ids=["a", "b", "c", "d"])
    assert summary.missed == ("a", "d")
    assert SafetySummary.from_dict(json.loads(json.dumps(summary.to_dict()))) == summary
    with pytest.raises(InputError, match=r"^case_ids and results must be equally long, got 1 and"):
        safety_summary(results, case_ids=["a"])
    message = r"^case_ids\[1\] must be a non-empty string or an integer, got ''$"
    with pytest.raises(InputError, match=message):
        safety_summary(results, case_ids=["a", "", "c", "d"])


def test_a_perfect_validator_still_has_an_interval() -> None:
    """Oracle: SciPy's Wilson interval; all of five caught is not proof of never missing one."""
    summary = safety_summary(_judge([(False, False)] * 5))
    assert summary.all_unsafe_caught
    assert summary.recall == 1.0
    wilson = binomtest(5, 5).proportion_ci(method="wilson")
    assert summary.recall_interval is not None
    assert summary.recall_interval.low == pytest.approx(wilson.low, rel=1e-12)
    assert (summary.recall_interval.high, summary.recall_interval.method) == (1.0, "wilson")


def test_crashed_validators_are_counted_apart() -> None:
    """A placeholder is no judgement of the validator; positions still are the input's."""
    placeholder = safety_validation(safety_valid=False, should_pass=False)
    unreal = SafetyValidation.from_dict(
        {**placeholder.to_dict(), "error": _crashed().to_dict()["error"]}
    )
    results = [_crashed(), *_judge([(True, False), (False, False)]), unreal, _crashed("output")]
    summary = safety_summary(results)
    assert summary.n_failed == 3
    assert (summary.n_true_positives, summary.recall, summary.missed) == (1, 0.5, (1,))


def test_only_crashes_are_a_summary_too() -> None:
    """There is a result to report, that nothing worked, not an error of the caller."""
    summary = safety_summary([_crashed()])
    assert (summary.n_failed, summary.recall, summary.precision) == (1, None, None)


@refusals("""
    [] -> InputError: results must be a non-empty sequence of SafetyValidation...
    iter(()) -> InputError: results must be a non-empty sequence of SafetyValidation...
    [1] -> TypeError: results[0] must be a SafetyValidation, got 1
    "abc" -> TypeError: results must be a non-empty sequence of SafetyValidation...
""")
def test_summary_errors(wrong: Refusal) -> None:
    """There is no summary of nothing, and a stranger is named by its position."""
    wrong.by_value(safety_summary)


@given(VERDICTS, st.randoms(use_true_random=False))
def test_order_does_not_matter_to_the_counts(
    verdicts: list[tuple[bool, bool]], random: Any
) -> None:
    """Oracle: counting the pairs themselves, rates as fractions; positions follow the order."""
    summary = safety_summary(_judge(verdicts))
    shuffled = random.sample(verdicts, len(verdicts))
    other = safety_summary(_judge(shuffled))
    names = [name for name in SafetySummary.__annotations__ if name != "missed"]
    assert [getattr(summary, name) for name in names] == [getattr(other, name) for name in names]
    assert [shuffled[i] for i in other.missed] == [(True, False)] * summary.n_false_negatives
    caught, unsafe = verdicts.count((False, False)), sum(not safe for _, safe in verdicts)
    blocked = sum(not valid for valid, _ in verdicts)
    assert summary.recall == (float(Fraction(caught, unsafe)) if unsafe else None)
    assert summary.precision == (float(Fraction(caught, blocked)) if blocked else None)
    assert summary.all_unsafe_caught == (not summary.missed)
    assert SafetySummary.from_dict(summary.to_dict()) == summary


# validation_accuracy


@pytest.mark.parametrize(("verdict", "expected", "reason"), [
    ((True, True), (1.0, "correct acceptance", None, False), "A query that should pass was accepted."),
    ((False, False), (1.0, "correct rejection", UNKNOWN, False), "A query that should not pass was rejected (unknown)."),
    ((False, True), (0.0, "false rejection", UNKNOWN, True), "A query that should pass was rejected (unknown)."),
    ((True, False), (0.0, "false acceptance", None, False), "A query that should not pass was accepted."),
])  # fmt: skip
def test_validation_table(
    verdict: tuple[bool, bool], expected: tuple[Any, ...], reason: str
) -> None:
    """The four outcomes; only a valid query that was rejected asks why."""
    result = validation_accuracy(is_valid=verdict[0], should_pass=verdict[1])
    assert expected == (
        result.score,
        result.validation_type,
        result.error_category,
        result.needs_investigation,
    )
    assert result.reason == reason
    assert (result.errors, result.error_categories, result.error) == ((), (), None)


def test_each_message_has_its_category_and_the_cause_is_quoted() -> None:
    """Danger outweighs a missing table; the sentence quotes the message that decided."""
    errors = ["no such table: x", "DROP is not allowed\non this connection", "out of coffee"]
    result = validation_accuracy(is_valid=False, should_pass=False, errors=iter(errors))
    assert result.errors == tuple(errors)
    assert result.error_categories == (SCHEMA, SAFETY, UNKNOWN)
    assert result.error_category is SAFETY
    assert result.reason == (
        "A query that should not pass was rejected (safety violation): "
        r"'DROP is not allowed\non this connection'."
    )


@pytest.mark.parametrize(("flags", "errors", "expected"), [
    ({"syntax_valid": False}, [], SYNTAX),
    ({"schema_valid": False}, [], SCHEMA),
    ({"safety_valid": False}, [], SAFETY),
    # what does not parse cannot be judged further, then the graver one
    ({"syntax_valid": False, "schema_valid": False, "safety_valid": False}, [], SYNTAX),
    ({"schema_valid": False, "safety_valid": False}, [], SAFETY),
    ({}, ["no such table: t", "incomplete input"], SYNTAX),
    ({}, ["no such table: t", "not authorized"], SAFETY),
    ({}, ["timeout", "no such table: t"], SCHEMA),
    ({}, ["out of coffee", "timeout"], RUNTIME),
    ({}, ["out of coffee"], UNKNOWN),
    # a flag that is False outweighs every text, one that is True says nothing about them
    ({"schema_valid": False}, ['near "x": syntax error'], SCHEMA),
    ({"syntax_valid": True, "schema_valid": True}, ["incomplete input"], SYNTAX),
    ({"syntax_valid": True}, [], UNKNOWN),
])  # fmt: skip
def test_overall_category(
    flags: dict[str, bool], errors: list[str], expected: ErrorCategory
) -> None:
    """Flags before messages; syntax, safety, schema, runtime, unknown among several."""
    result = validation_accuracy(is_valid=False, should_pass=True, errors=errors, **flags)
    assert result.error_category is expected


def test_an_accepted_query_may_carry_complaints() -> None:
    """Validators warn; the category is of what was said, whatever the verdict."""
    result = validation_accuracy(is_valid=True, should_pass=True, errors=["unknown column x"])
    assert (result.validation_type, result.error_category) == ("correct acceptance", SCHEMA)


@refusals("""
    is_valid=3 -> TypeError: is_valid must be True or False, got 3
    should_pass=None -> TypeError: should_pass must be True or False, got None
    syntax_valid=2 -> TypeError: syntax_valid must be True or False, got 2
    schema_valid="no" -> TypeError: schema_valid must be True or False, got 'no'
    safety_valid=0.5 -> TypeError: safety_valid must be True or False, got 0.5
    errors="syntax error" -> TypeError: errors must be a sequence of strings, got 'syntax error'
    errors=b"x" -> TypeError: errors must be a sequence of strings, got b'x'
    errors=None -> TypeError: errors must be a sequence of strings, got None
    errors={"a": "b"} -> TypeError: errors must be a sequence of strings, got {'a': 'b'}
    errors={"a"} -> TypeError: errors must be a sequence of strings, got {'a'}
    errors=["a", None] -> TypeError: errors[1] must be a string, got None
    errors=[b"a"] -> TypeError: errors[0] must be a string, got b'a'
    errors=[ValueError("a")] -> TypeError: errors[0] must be a string, got ValueError('a')
""")
def test_validation_errors(wrong: Refusal) -> None:
    """A bare string would be read as one message per letter."""
    wrong.by(validation_accuracy, is_valid=False, should_pass=True)


@given(
    st.fixed_dictionaries(
        {"is_valid": st.booleans(), "should_pass": st.booleans()},
        optional={
            "errors": st.lists(st.text() | st.sampled_from(EXAMPLES).map(lambda pair: pair[1])),
            "syntax_valid": FLAG,
            "schema_valid": FLAG,
            "safety_valid": FLAG,
        },
    )
)
def test_validation_laws(arguments: dict[str, Any]) -> None:
    """The score depends on the two verdicts alone; a record is one line, rebuilds and pickles."""
    result = validation_accuracy(**arguments)
    is_valid, should_pass = arguments["is_valid"], arguments["should_pass"]
    assert (result.score == 1.0) == (is_valid == should_pass)
    assert result.needs_investigation == (should_pass and not is_valid)
    assert result.errors == tuple(arguments.get("errors", ()))
    assert result.error_categories == tuple(map(categorize_error, result.errors))
    assert is_valid or result.error_category is not None
    assert result.reason.isprintable()
    assert ValidationAccuracy.from_dict(json.loads(json.dumps(result.to_dict()))) == result
    assert pickle.loads(pickle.dumps(result)) == result


# The tables of messages


WRAPPED = (
    "{}",
    "Query failed: {}",
    "Traceback ...\n  sqlalchemy.exc.Error: (driver.Error) {}",
    "{}\n[SQL: DROP TABLE t -- syntax error, not allowed]",
)


@pytest.mark.parametrize(("row", "example"), EXAMPLES, ids=[repr(e[:40]) for _, e in EXAMPLES])
def test_each_row_knows_its_example(row: Row, example: str) -> None:
    """By this row and no other, so that none is dead, and however a driver wraps it."""
    for noted in (example.upper(), repr(example), *(text.format(example) for text in WRAPPED)):
        assert diagnose(noted) is row, noted


def test_patterns_are_bounded_and_lower_case() -> None:
    """No ``*`` or ``+``: every repetition has a limit, which with the cut bounds the time."""
    for row in ROWS:
        assert not re.search(r"(?<!\\)[*+]", row.pattern)
        letters = re.sub(r"\\[A-Z]", "", row.pattern)
        assert letters == letters.lower()


def test_every_source_is_there() -> None:
    """The documented databases, each with a row for the two or three things it can say."""
    covered = {(row.source, row.category) for row in ROWS}
    assert [(row.source, row.category) for row in ROWS] == [
        (noted["source"], noted["category"]) for noted in MESSAGES
    ]
    named = "PostgreSQL, MySQL, SQLite, SQL Server, Oracle, Snowflake, BigQuery, DuckDB, Spark"
    for name in (*named.split(", "), "validators"):
        assert {(name, SYNTAX), (name, SCHEMA), (name, SAFETY)} <= covered
    assert {("sqlglot", SYNTAX), ("sqlglot", SCHEMA)} <= covered


PROVOKED = json.loads((DATA / "provoked_errors.json").read_text())


def _right(errors: list[dict[str, Any]]) -> list[bool]:
    return [categorize_error(error["message"]) == error["category"] for error in errors]


@pytest.mark.parametrize("engine", sorted({error["engine"] for error in PROVOKED}))
def test_provoked_messages(engine: str) -> None:
    """Labelled by the mistake that was made on purpose; rules were written from one half only.

    Wrong in that half is one: MariaDB says "access denied (using password)" to LOAD DATA too.
    """
    errors = [error for error in PROVOKED if error["engine"] == engine]
    seen = _right([error for error in errors if not error["held_out"]])
    unseen = _right([error for error in errors if error["held_out"]])
    assert seen.count(False) <= engine.startswith("MariaDB")
    assert sum(unseen) >= 0.8 * len(unseen)


def test_provoked_messages_that_were_held_out() -> None:
    """Measured once, after the rules were written: 284 of 308, in a second round 124 of 135."""
    for number, n_messages, n_right in ((1, 308, 284), (2, 135, 135)):
        errors = [error for error in PROVOKED if error.get("round", 1) == number]
        unseen = _right([error for error in errors if error["held_out"]])
        assert (len(unseen), sum(unseen) >= n_right) == (n_messages, True)


@pytest.mark.parametrize("code", sorted({error["code"] for error in SERVER_ERRORS}))
def test_messages_of_real_servers(code: str) -> None:
    """Provoked on PostgreSQL 15 and MariaDB 10.11; for PostgreSQL by its SQLSTATE.

    The code alone and the text alone have to say the same.
    """
    for error in SERVER_ERRORS:
        if error["code"] == code:
            message = error["message"]
            forms = [message, f"ERROR:  {code}: {message}"]
            if code not in ("0A000", "42601"):  # which several mistakes share
                forms += [f"{code}: x", f"SQLSTATE[{code}]: x"]
            if error["server"].startswith("MariaDB"):
                forms[1:] = [
                    f"ERROR {code} at line 1: {message}",
                    f"{code}: x",
                    f"({code[:4]}, 'x')",
                ]
            for form in forms:
                assert categorize_error(form) == error["category"], form


@pytest.mark.parametrize(("message", "expected"), [
    # codes, wherever drivers put them
    ("42P01", SCHEMA),
    ('42P01: relation "x"', SCHEMA),
    ("Npgsql.PostgresException (0x80004005): 42501: verweigert", SAFETY),
    ("SQLSTATE[42S22]: ...", SCHEMA),
    ("SQLSTATE=42601, SQLERRMC=...", SYNTAX),
    ("[Code: 10001, SQL State: 42S02]  Error while compiling statement", SCHEMA),
    ('{"sqlState": "42501", "message": "..."}', SAFETY),
    ("ORA-00942: la tabla o vista no existe", SCHEMA),
    ("ORA-06550: line 1, column 7:\nPLS-00201: identifier 'X' must be declared", SCHEMA),
    ("(1045, 'x')", RUNTIME),
    ("Msg 229, Level 14, State 5, Line 1", SAFETY),
    ("('42S02', '[42S02] [Microsoft][SQL Server] (208) (SQLExecDirectW)')", SCHEMA),
    # 42000 is a syntax error or an access rule violation: the rest has to say which
    ("42000", UNKNOWN),
    ("SQLSTATE[42000]: Syntax error or access violation: 1142 DROP command denied to user", SAFETY),
    ("SQLSTATE[42000]: Syntax error or access violation: 1064 Syntax error near 'x'", SYNTAX),
    # a port is no code
    ('connection to server at "127.0.0.1", port 42501 failed: refused', RUNTIME),
    ("127.0.0.1:42601: connection refused", RUNTIME),
    # names that read like a diagnosis
    ("Table 'permission denied' doesn't exist", SCHEMA),
    ("Invalid object name 'only select statements'.", SCHEMA),
    ("permission denied for table syntax_error", SAFETY),
    # the query that is quoted
    ('syntax error at or near "not"\nLINE 1: SELECT 1 not allowed', SYNTAX),
    ("database is locked\n[SQL: DROP TABLE t -- injection detected]", RUNTIME),
    ("canceling statement\nLINE 1: SELECT 'no such table: x'", RUNTIME),
    # vague words before the diagnosis
    ("Parse error: no such table: nosuch", SCHEMA),
    ("Invalid SQL: no such column: x", SCHEMA),
    ('Security check failed: near "SELEC": syntax error', SYNTAX),
    ("read-only query failed: no such table: x", SCHEMA),
    # where the lines are drawn
    ("Object 'X' does not exist or not authorized.", SCHEMA),
    ("Access denied for user 'u'@'h' (using password: YES)", RUNTIME),
    ("update was blocked by another transaction", UNKNOWN),
    ("", UNKNOWN),
    ("\x00\ud800 \n", UNKNOWN),
    # what the grammar or the types do not allow is no refusal
    ("DEFAULT is not allowed in this context", UNKNOWN),
    ("FOR UPDATE is not allowed with DISTINCT clause", UNKNOWN),
    ("Subquery returned more than 1 value. This is not permitted when ...", SCHEMA),
    ("Implicit conversion from data type datetime to int is not allowed. Use CONVERT.", SCHEMA),
    ("subqueries prohibited in CHECK constraints", SCHEMA),
    ("This is not permitted", UNKNOWN),
    ("not allowed", UNKNOWN),
    ("prohibited", UNKNOWN),
    ("PRAGMA statements are not permitted", SAFETY),
    ("Use of function pg_sleep is prohibited", SAFETY),
    ("Access to information_schema isn't allowed", SAFETY),
    # one mistake, every database
    ("ERROR:  42601: each UNION query must have the same number of columns", SCHEMA),
    ("SELECTs to the left and right of UNION do not have the same number of", SCHEMA),
    ("ORA-01789: query block has incorrect number of result columns", SCHEMA),
    ("SQLSTATE[42601]: INSERT has more expressions than target columns", SCHEMA),
    ("ORA-00913: too many values", SCHEMA),
    # runtime errors of engines that cannot be provoked here
    ("Msg 8134, Level 16, State 1, Line 1\nDivide by zero error encountered.", RUNTIME),
    ("Lock request time out period exceeded.", RUNTIME),
    ("Login failed for user 'sa'.", RUNTIME),
    ("ORA-01017: invalid username/password; logon denied", RUNTIME),
    ("ORA-12541: TNS:no listener", RUNTIME),
    ("ORA-00054: resource busy and acquire with NOWAIT specified", RUNTIME),
    ("Statement reached its statement or warehouse timeout of 60 second(s)", RUNTIME),
    ("Resources exceeded during query execution", RUNTIME),
    ("Query timed out", RUNTIME),
    ('column "timeout" does not exist', SCHEMA),
    # validators
    ("Only a single SQL statement is allowed", SAFETY),
    ("Non-SELECT operations are not allowed.", SAFETY),
    ("Query must begin with SELECT", SAFETY),
    ("Detected stacked queries", SAFETY),
    ("DELETE without WHERE", SAFETY),
    ("Unknown tables: orders_2024", SCHEMA),
    ("Column not found: foo", SCHEMA),
    ("Syntax error", SYNTAX),
    # bad data is no bad syntax, and a bare exception name says what happened
    ("sqlite3.OperationalError: malformed JSON", SCHEMA),
    ("(4038, \"Syntax error in JSON text in argument 1 to function 'json_extract' at position 1\")", SCHEMA),
    ('unterminated format() type specifier\nHINT:  For a single "%" use "%%".', SCHEMA),
    ("invalid regular expression: parentheses () not balanced", SCHEMA),
    ("ERROR 1139 (42000): Got error 'nothing to repeat' from regexp", SCHEMA),
    ("(1094, 'Unknown thread id: 99999')", RUNTIME),
    ("circular reference: x", SCHEMA),
    ("Query exceeded limit for bytes billed: 1000000. 10485760 or higher required.", RUNTIME),
    ("Msg 1033, Level 15, State 1, Line 1\nThe ORDER BY clause is invalid in views", SCHEMA),
    ("org.apache.spark.memory.SparkOutOfMemoryError: Unable to acquire 65536 bytes", RUNTIME),
    ("java.lang.OutOfMemoryError: Java heap space", RUNTIME),
    ("SSL SYSCALL error: EOF detected", RUNTIME),
    ("QueryCanceled()", RUNTIME),
    ("psycopg.errors.QueryCanceled", RUNTIME),
    ("TimeoutError()", RUNTIME),
    ("asyncio.exceptions.TimeoutError: ", RUNTIME),
    ("pg_sleep is not allowed", SAFETY),
    ("pg_read_file() is forbidden", SAFETY),
])  # fmt: skip
def test_traps(message: str, expected: ErrorCategory) -> None:
    """The first diagnosis decides, or a code in any language, not a word of the query."""
    assert categorize_error(message) is expected


def test_the_message_is_cut() -> None:
    """What counts is documented: the first 2,000 characters."""
    assert categorize_error(" " * (MESSAGE_LIMIT - 13) + "no such table: t") is SCHEMA
    assert categorize_error(" " * MESSAGE_LIMIT + "no such table: t") is UNKNOWN


@pytest.mark.parametrize(
    "word",
    ["x ", "table a ", "near ", "column", "'", '"', "(", "not ", "access to ", "\n", "\\n"],
)  # fmt: skip
def test_a_megabyte_of_anything_returns(word: str) -> None:
    """Text made of the beginnings of patterns costs no more than its cut allows."""
    assert categorize_error(word * (1_000_000 // len(word))) in ErrorCategory


@given(st.text())
def test_categories_are_total(message: str) -> None:
    """Whatever the text, there is a category, the same for any case of its ASCII letters."""
    assert categorize_error(message) in ErrorCategory
    if message.isascii():
        assert categorize_error(message.swapcase()) is categorize_error(message)


@given(st.sampled_from(EXAMPLES[: len(DIAGNOSES)]), st.text(alphabet="xyz \n.,-", max_size=50))
def test_what_follows_a_diagnosis_does_not_change_it(pair: tuple[Row, str], rest: str) -> None:
    """Messages go on with hints, positions and links."""
    row, example = pair
    assert categorize_error(f"{example} {rest}") == row.category


def test_categorize_error_refuses_what_is_no_text() -> None:
    """An exception has to be made a string by the caller, who knows what it holds."""
    with pytest.raises(TypeError, match=r"^message must be a string, got ValueError\('x'\)$"):
        categorize_error(ValueError("x"))  # type: ignore[arg-type]  # the mistake under test


# Messages provoked here


TABLES = (
    "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL); INSERT INTO t VALUES (1, 'x');"
    "CREATE TABLE u (a INTEGER CHECK (a > 0));"
)


def _lite() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(TABLES)
    return connection


def _duck() -> Any:
    connection = pytest.importorskip("duckdb").connect(config={"enable_external_access": False})
    connection.execute(TABLES)
    return connection


@pytest.mark.parametrize(("engines", "sql", "expected"), [
    ("sqlite duckdb", "SELEC 1", SYNTAX),
    ("sqlite", "DROP DROP", SYNTAX),
    ("sqlite", "SELECT * FROM t WHERE 'not allowed' SELECT", SYNTAX),
    ("sqlite duckdb", "SELECT 'abc", SYNTAX),
    ("sqlite", "SELECT (1", SYNTAX),
    ("sqlite", "SELECT # FROM t", SYNTAX),
    ("sqlite", "SELECT *", SYNTAX),
    ("sqlite duckdb", "SELECT * FROM nosuch", SCHEMA),
    ("sqlite", 'SELECT * FROM "syntax error"', SCHEMA),
    ("sqlite duckdb", "SELECT injection FROM t", SCHEMA),
    ("sqlite duckdb", "SELECT x.a FROM t", SCHEMA),
    ("sqlite duckdb", "SELECT nosuch(1)", SCHEMA),
    ("sqlite", "SELECT lower(1, 2)", SCHEMA),
    ("sqlite duckdb", "SELECT a FROM t, t AS t2", SCHEMA),
    ("sqlite duckdb", "SELECT a FROM t WHERE count(*) > 1", SCHEMA),
    ("sqlite", "SELECT row_number() FROM t", SCHEMA),
    ("sqlite", "SELECT 1 UNION SELECT 1, 2", SCHEMA),
    ("sqlite", "SELECT 1 ORDER BY 5", SCHEMA),
    ("sqlite", "SELECT (1, 2)", SCHEMA),
    ("sqlite", "SELECT * FROM t WHERE a IN (SELECT 1, 2)", SCHEMA),
    ("sqlite", "SELECT * FROM t JOIN u USING (zz)", SCHEMA),
    ("sqlite duckdb", "INSERT INTO t VALUES (1, 2, 3)", SCHEMA),
    ("sqlite", "INSERT INTO t (zz) VALUES (1)", SCHEMA),
    ("sqlite", "INSERT INTO t VALUES (1, 'x')", SCHEMA),
    ("sqlite", "INSERT INTO t (a) VALUES (9)", SCHEMA),
    ("sqlite", "INSERT INTO u VALUES (-1)", SCHEMA),
    ("sqlite", "INSERT INTO t VALUES ('q', 'x')", SCHEMA),
    ("sqlite", "CREATE TABLE t (a)", SCHEMA),
    ("sqlite", "DROP VIEW nosuch", SCHEMA),
    ("sqlite", "SELECT 1; DROP TABLE t", SAFETY),
    ("sqlite", "SELECT load_extension('x')", SAFETY),
    ("duckdb", "SELECT * FROM t WHERE not allowed SELECT", SYNTAX),
    ("duckdb", "VALUES (1), (1, 2)", SCHEMA),
    ("duckdb", 'SELECT * FROM "permission denied"', SCHEMA),
    ("duckdb", "SELECT a, count(*) FROM t", SCHEMA),
    ("duckdb", "SELECT 'x'::INT", SCHEMA),
    ("duckdb", "SELECT 'a'::nosuch", SCHEMA),
    ("duckdb", "INSERT INTO t VALUES (1)", SCHEMA),
    ("duckdb", "COPY t FROM 'x.csv'", SAFETY),
    ("duckdb", "ATTACH 'x.db'", SAFETY),
])  # fmt: skip
def test_messages_of_the_engines_at_hand(engines: str, sql: str, expected: ErrorCategory) -> None:
    """What the libraries of this Python really say; DuckDB with the prefix that names the stage."""
    for engine in engines.split():
        connection: Any = _lite() if engine == "sqlite" else _duck()
        with pytest.raises(Exception, match=r".") as caught:
            connection.execute(sql)
        assert type(caught.value).__module__ in ("sqlite3", "duckdb", "_duckdb")
        assert categorize_error(str(caught.value)) is expected, str(caught.value)


def _deny(action: int, first: str | None, second: str | None, *_: object) -> int:
    del first
    denied = action == sqlite3.SQLITE_DELETE or second == "b"
    return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK


def test_sqlite_refusals(tmp_path: Path) -> None:
    """Read-only by file, by pragma, and by an authorizer."""
    path = tmp_path / "x.db"
    sqlite3.connect(path).executescript("CREATE TABLE t (a)")
    read_only = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    lite = _lite()
    lite.execute("PRAGMA query_only = 1")
    guarded = sqlite3.connect(":memory:")
    guarded.executescript("CREATE TABLE t (a, b)")
    guarded.set_authorizer(_deny)
    for connection, sql in [
        (read_only, "INSERT INTO t VALUES (1)"),
        (lite, "DELETE FROM t"),
        (guarded, "DELETE FROM t"),
        (guarded, "SELECT b FROM t"),
    ]:
        with pytest.raises(sqlite3.DatabaseError) as caught:
            connection.execute(sql)
        assert categorize_error(str(caught.value)) is SAFETY, str(caught.value)


def test_duckdb_read_only(tmp_path: Path) -> None:
    """A database attached read-only refuses, and that is no schema violation."""
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "x.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    with duckdb.connect(path, read_only=True) as connection:
        for sql in ("INSERT INTO t VALUES (1)", "DROP TABLE t"):
            with pytest.raises(duckdb.Error) as caught:
                connection.execute(sql)
            assert categorize_error(str(caught.value)) is SAFETY, str(caught.value)


@pytest.mark.parametrize(("sql", "expected"), [
    ("SELEC 1", SYNTAX), ("SELECT * FROM WHERE", SYNTAX), ("SELECT 'abc", SYNTAX),
    ("SELECT (1", SYNTAX), ("SELECT a FROM t HAVING", SYNTAX),
    ("SELECT CAST(a AS) FROM t", SYNTAX), ("SELECT CASE WHEN 1 THEN 2", SYNTAX),
    ("WITH x AS SELECT 1", SYNTAX), ("SELECT a[ FROM t", SYNTAX),
    ("SELECT not allowed injection detected", SYNTAX), ("/* only select", SYNTAX),
    ("SELECT nosuch FROM t", SCHEMA), ("SELECT x.a FROM t", SCHEMA),
    ("SELECT t.injection FROM t", SCHEMA), ("SELECT a FROM t, u", SCHEMA),
    ("SELECT a FROM t AS x, u AS x", SCHEMA), ("SELECT a FROM t JOIN u USING (z)", SCHEMA),
    ("SELECT a FROM t ORDER BY 5", SCHEMA),
])  # fmt: skip
def test_messages_of_sqlglot(sql: str, expected: ErrorCategory) -> None:
    """They end in the query, with terminal escapes; what cannot be resolved is not in the schema."""
    schema: dict[str, object] = {"t": {"a": "int"}, "u": {"a": "int"}}
    with pytest.raises(sqlglot.errors.SqlglotError) as caught:
        qualify(sqlglot.parse_one(sql), schema=schema)
    assert categorize_error(str(caught.value)) is expected, str(caught.value)
