"""What each database has, against what databases said of many constructs."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from outcomes import failure, present

from benchmarks.generators.stored_pairs import pairs
from scorekit import column_accuracy, query_correctness, sql_equivalence
from scorekit._sql.databases.dialects import FORMS, unknown, versions
from scorekit._sql.databases.functions import VERSIONS
from scorekit._sql.evidence import CASED
from scorekit._sql.meaning.operands import misfit
from scorekit._sql.schema.tables import read_schema
from scorekit._sql.text.parsing import parse
from scorekit.errors import SqlError

DDL = (
    "CREATE TABLE t (a int, b varchar(20), c int, d date, f double precision)",
    "CREATE TABLE u (a int, x varchar(20), y int)",
)
SCHEMA = ";".join(DDL)
LETTERS = {"s": "sqlite", "p": "postgres", "m": "mysql", "d": "duckdb"}
CONSTRUCTS = [
    line.partition(" ==> ")[0].partition(" ")[::2]
    for line in (Path(__file__).parents[2] / "data" / "dialect_constructs.txt")
    .read_text()
    .splitlines()
]
"""Queries, each behind the letters of the databases that refused it: SQLite 3.54, PostgreSQL 15,
MariaDB 10.11 and DuckDB 2.0."""
UNREADABLE = {
    "postgres": {"ORDER BY a USING >"},
    "mysql": {"IN (VALUES (1, 2))", "VALUES (1), (2)"},
    "sqlite": {"AS SIGNED INTEGER", "AS int[]"},
    "duckdb": {"), SELECT", "`", "a !", "X'4D'", "B'101'"},
}
"""What runs and the parser does not take."""


def fault(sql: str, dialect: str) -> tuple[str, str] | None:
    """Return whether a query is refused or open, and why; None if it is known."""
    try:
        script = parse(sql, dialect)
    except SqlError as error:
        return "refused", error.message
    if len(script.statements) != 1:
        return "open", "several statements"
    (tree,), words = script.statements, script.words
    why = unknown(words, tree, dialect) or " or ".join(versions(words, tree, dialect)) or None
    why = why or misfit(tree, dialect, read_schema(SCHEMA, None, dialect))
    return None if why is None else ("open", why)


def asked(sql: str) -> str:
    """Return a query with conditions that need the columns of its table."""
    return sql.replace("{w}", "t.a > 1 AND t.c < 5")


@pytest.mark.sampled
@pytest.mark.parametrize("letter", LETTERS)
def test_what_a_database_refuses_is_not_known_to_its_dialect(letter: str) -> None:
    """Each construct that a database does not run is refused or open, and says why."""
    for letters, sql in CONSTRUCTS:
        found = fault(asked(sql), LETTERS[letter])
        if letter in letters and "#" not in sql:
            open_in_sqlite = "[1, 2]" in sql or "IN u" in sql  # a name there, and a star
            assert found is not None or (letter == "s" and open_in_sqlite), sql


@pytest.mark.sampled
@pytest.mark.parametrize("letter", LETTERS)
def test_no_query_that_runs_is_called_broken(letter: str) -> None:
    """What a database ran parses, but for what the parser cannot read."""
    dialect = LETTERS[letter]
    for letters, sql in CONSTRUCTS:
        known = any(part in sql for part in UNREADABLE[dialect])
        if letter not in letters and not known:
            found = fault(asked(sql), dialect)
            assert found is None or found[0] == "open", (sql, found)


def test_most_of_what_runs_is_known() -> None:
    """The tables leave open what is rare: each database ran at least 240 of the constructs."""
    for letter, dialect in LETTERS.items():
        run = [sql for letters, sql in CONSTRUCTS if letter not in letters]
        known = [sql for sql in run if fault(asked(sql), dialect) is None]
        assert len(run) >= 240
        assert len(known) >= 0.75 * len(run), dialect


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_what_is_refused_fails_here_too(dialect: str) -> None:
    """The databases at hand run nothing that is called broken by a rule of ours."""
    module: Any = sqlite3 if dialect == "sqlite" else pytest.importorskip("duckdb")
    connection = module.connect(":memory:")
    for statement in DDL:
        connection.execute(statement)
    n_refused = 0
    for _, sql in CONSTRUCTS:
        found = fault(asked(sql), dialect)
        if found is None or found[0] != "refused" or "refuses it" not in found[1]:
            continue
        n_refused += 1
        with pytest.raises(module.Error):
            connection.execute(asked(sql)).fetchall()
    assert n_refused >= (2 if dialect == "duckdb" else 30)


def test_rows_of_forms_name_dialects_that_are_described() -> None:
    """A row that names nothing or something else would check nothing."""
    for form in FORMS:
        dialects = form.lacked.split()
        assert dialects
        assert set(dialects) <= set(VERSIONS)
        assert len(dialects) == len(set(dialects))


@pytest.mark.parametrize(
    ("dialect", "sql", "_", "reason"),
    pairs("what is not known to be in a dialect is open", "unknown"),
)
def test_a_pair_with_what_is_not_known_is_open(
    dialect: str, sql: str, _: str, reason: str
) -> None:
    """The same words are the same query, unless it is sure that the database refuses them."""
    other = f"{sql} -- again".replace("FROM t", "FROM t AS t")
    for pair in ((sql, other), (other, sql)):
        result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect)
        assert (result.verdict, result.proof) == ("unknown", ())
        assert reason in result.reason
    again = sql_equivalence(sql, sql.replace("SELECT", "select\n"), schema=SCHEMA, dialect=dialect)
    may_run = reason.startswith((VERSIONS[dialect].partition(" ")[0], "what ")) or "user" in reason
    may_run = may_run or (dialect == "duckdb" and not reason.endswith(("none", "no text")))
    assert again.verdict == ("proved" if may_run else "unknown")


@pytest.mark.parametrize("condition", [
    "b > a", "d < a", "b BETWEEN '' AND -1", "COALESCE(d, NULL) >= 5", "a IN (SELECT b FROM t)",
    "d > (SELECT MAX(a) FROM u)", "-b = 1", "d + 1.5 = d", "LENGTH(a) > 1", "COALESCE(b, 0) = b",
    "CASE WHEN a > 1 THEN b ELSE a END = b", "a LIKE '1%'", "YEAR(b) > 1",
])  # fmt: skip
def test_duckdb_refuses_kinds_that_do_not_meet(condition: str) -> None:
    """Whatever the rows are, so a query is no credit to itself; an equality it takes."""
    query = "SELECT a FROM t WHERE {}"
    refused = sql_equivalence(*[query.format(condition)] * 2, schema=SCHEMA, dialect="duckdb")
    assert (refused.verdict, refused.proof) == ("unknown", ())
    for taken in ("a = b", "d <> b", "b IN (1, 2)", "NULLIF(b, a) IS NULL", "a > '5'"):
        run = sql_equivalence(*[query.format(taken)] * 2, schema=SCHEMA, dialect="duckdb")
        assert run.verdict == "proved", taken


@pytest.mark.parametrize(("dialect", "sql"), [
    ("postgres", "SELECT a, FROM t"),
    ("postgres", "SELECT a FROM t ORDER BY a LIMIT 1, 2"),
    ("sqlite", "SELECT a FROM t WHERE a = ANY (SELECT a FROM u)"),
    ("sqlite", "SELECT a FROM t FETCH FIRST 1 ROWS ONLY"),
    ("sqlite", "SELECT 18_49_share FROM t"),
    ("sqlite", "SELECT a FROM t WHERE a = 1AND b = 2"),
    ("mysql", "SELECT a::int FROM t"),
    ("mysql", "SELECT COUNT(*) FILTER (WHERE a > 1) FROM t"),
    ("duckdb", "SELECT a FROM t ORDER BY a LIMIT 1, 2"),
])  # fmt: skip
def test_syntax_that_is_refused_does_not_parse(dialect: str, sql: str) -> None:
    """It is the model's mistake in the generated query, and the instrument's in the expected."""
    plain = "SELECT a FROM t ORDER BY a"
    with pytest.raises(SqlError, match=r"^parse: \w+ refuses it"):
        parse(sql, dialect)
    parse(sql)
    given: Any = {"schema": SCHEMA, "dialect": dialect}
    assert failure(query_correctness(sql, plain, **given).error) == "output: parse"
    assert failure(query_correctness(plain, sql, **given).error) == "instrument: bad_reference"
    both = query_correctness(sql, sql.replace("t", "T"), **given).error
    assert both is None or both.origin == "instrument"
    assert present(column_accuracy(sql, plain, **given).error).origin == "output"


def test_names_are_not_taken_for_words() -> None:
    """Columns and tables may be called like the words of other databases."""
    schema = {"t": {"name": "text", "top": "int", "minus": "int"}}
    for dialect in VERSIONS:
        for sql in (
            "SELECT name FROM t GROUP BY name ORDER BY name",
            "SELECT top, minus FROM t WHERE minus > 1",
            "SELECT 'a, FROM b LIMIT 1, 2 == x::y' FROM t",
        ):
            other = sql.replace(" FROM t", " FROM t WHERE 1 = 1") if "WHERE" not in sql else sql
            parse(sql, dialect)
            found = sql_equivalence(sql, other, schema=schema, dialect=dialect)
            assert found.verdict == "proved", (dialect, sql, found.reason)


def test_versions_that_a_query_needs_are_named() -> None:
    """A function that a database gained is an assumption by name."""
    pair = [
        f"SELECT CONCAT(b, 'x') FROM t WHERE {w}" for w in ("a > 1 AND c > 1", "c > 1 AND a > 1")
    ]
    result = sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite")
    assert result.verdict == "proved"
    assert result.assumptions == ("the database is SQLite 3.44 or later",)
    assert not sql_equivalence(*pair, schema=SCHEMA, dialect="postgres").assumptions


@pytest.mark.parametrize(("dialect", "column", "assumed"), [
    (None, "code", True),
    ("mysql", "code", True),
    ("postgres", "code", False),
    ("sqlite", "code", False),
    (None, "n", False),
    ("mysql", "n", False),
])  # fmt: skip
def test_a_set_of_texts_rests_on_case(dialect: str | None, column: str, *, assumed: bool) -> None:
    """DISTINCT keeps one of 'ann' and 'Ann' where a collation makes them equal."""
    schema = {"d": {"code": "text", "n": "int"}}
    pair = f"SELECT {column} FROM d", f"SELECT DISTINCT {column} FROM d"
    result = sql_equivalence(*pair, schema=schema, dialect=dialect, semantics="set")
    assert result.verdict == "proved"
    assert (CASED in result.assumptions) is assumed


def test_a_set_of_what_cannot_be_read_rests_on_no_case() -> None:
    """Both queries say the same, so that both drop the same rows."""
    query = "WITH RECURSIVE w AS (SELECT a FROM t UNION SELECT a FROM w) SELECT a FROM {}"
    result = sql_equivalence(query.format("w"), query.format("W"), schema=SCHEMA, semantics="set")
    assert result.verdict == "proved"
    assert CASED not in result.assumptions


def test_the_kind_of_a_value_is_looked_for_once() -> None:
    """However often tables that are named one after the other repeat it: 3 ** 30 times here."""
    steps = [f"w{i + 1} AS (SELECT a * a + a AS a FROM w{i})" for i in range(30)]
    query = f"WITH w0 AS (SELECT a FROM t), {', '.join(steps)} SELECT a FROM w30"
    known = read_schema(SCHEMA, None, "postgres")
    assert misfit(parse(query, "postgres").statements[0], "postgres", known) is None
    wrong = query.replace("SELECT a FROM t", "SELECT b AS a FROM t")
    found = misfit(parse(wrong, "postgres").statements[0], "postgres", known)
    assert found == "text or a truth value is used as a number"


@pytest.mark.parametrize(
    "query", ["SELECT b - 1 FROM t WHERE {w}", "SELECT 1 FROM t WHERE {w} AND b - 1 > 0"]
)
def test_of_several_faults_the_first_by_name_counts(query: str) -> None:
    """Wherever they stand: sets have no order."""
    tree = parse(query.format(w="a LIKE 'a'"), "postgres").statements[0]
    known = read_schema(SCHEMA, None, "postgres")
    found = misfit(tree, "postgres", known, sure=True)
    assert found == "a pattern is compared with what is no text"
