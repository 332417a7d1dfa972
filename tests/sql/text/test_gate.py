"""Whether a database takes a text, asked at every door, with the databases as oracles."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from outcomes import failure

from scorekit import (
    SqlError,
    extract_tables,
    query_audit,
    query_correctness,
    sql_equivalence,
)
from scorekit._sql.text.parsing import parse

SCHEMA = """CREATE TABLE r (id INT PRIMARY KEY, d INT, n VARCHAR(20));
CREATE TABLE s (id INT PRIMARY KEY, rid INT, v INT);"""
PLAIN = "SELECT id, d FROM r"
DIALECTS = {"s": "sqlite", "p": "postgres", "m": "mysql", "d": "duckdb"}

# Which of the four refuse a text, measured in SQLite 3.40, PostgreSQL 15, MariaDB 10.11 and DuckDB
# 2.0; an x says that no database takes it, so that it is refused without a dialect, too.
REFUSED = [
    ("spmdx", "SELECT id,, d FROM r"),
    ("spmdx", "SELECT , id FROM r"),
    ("spmdx", "SELECT id, d FROM r AS"),
    ("spmdx", "SELECT id FROM r WHERE d IN (1,,2)"),
    ("spmdx", "SELECT id FROM r WHERE d NOT IS NULL"),
    ("spmdx", "AS SELECT id FROM r"),
    ("spmdx", "SELECT id FROM r ORDER BY id WHERE d > 3"),
    ("spmdx", "SELECT d FROM r HAVING COUNT(*) > 1 GROUP BY d"),
    ("spmdx", "SELECT r.id FROM r, JOIN s ON s.rid = r.id"),
    ("spmdx", "SELECT r.id FROM r, INNER JOIN s ON s.rid = r.id"),
    ("spmd", "SELECT r.id FROM r , CROSS JOIN s"),
    ("spmdx", "SELECT id FROM r FETCH 5"),
    ("spmdx", "SELECT id FROM r; done"),
    ("spmdx", "Answer; SELECT id FROM r"),
    ("spmdx", "SELECT id FROM r ORDER"),
    ("spmdx", "SELECT id FROM r WHERE"),
    ("spmdx", "SELECT SUM(d) OVER w FROM r"),
    ("spmdx", "SELECT ROW_NUMBER() FROM r"),
    ("spmdx", "SELECT SUM(*) FROM r"),
    ("spmd", "SELECT CASE END FROM r"),
    ("smd", "SELECT"),
    ("smd", "SELECT FROM r"),
    ("spm", "SELECT id, FROM r"),
    ("spm", "SELECT\u00a0id FROM r"),
    ("sp", "USE shop; SELECT id FROM r"),
    ("m", "SELECT id FROM r AS match"),
    ("m", "SELECT id FROM r WHERE id IN (SELECT rid FROM s LIMIT 1)"),
    ("m", "SELECT id FROM r WHERE id NOT IN (SELECT rid FROM s LIMIT 1)"),
    ("sm", "SELECT id FROM r WHERE id = ANY (SELECT rid FROM s LIMIT 1)"),
    ("m", "SELECT COUNT (*) FROM r"),
    ("sm", "SELECT id FROM r ORDER BY id OFFSET 1 LIMIT 2"),
    ("m", "SELECT 1 FROM DUAL, r"),
    ("m", "SELECT MAX (d) FROM r"),
    ("m", "SELECT CAST(d AS TEXT) FROM r"),
    ("m", "SELECT id FROM (SELECT id FROM r)"),
    ("m", "SELECT id FROM r LIMIT 1 + 1"),
    ("pd", "SELECT id FROM r WHERE d < id < 3"),
    ("pd", "SELECT r.id FROM r JOIN s"),
    ("pd", "SELECT id FROM r LIMIT 1, 2"),
    ("pm", "SELECT id FROM r AS 'x'"),
    ("pm", "SELECT id FROM 'r'"),
    ("p", "SELECT id AS 'x' FROM r"),
    ("sm", "SELECT DISTINCT ON (d) id FROM r"),
    ("s", "(SELECT id FROM r)"),
    ("spd", "SELECT n FROM r WHERE n RLIKE 'a'"),
    ("pd", "SELECT id FROM r WHERE n LIKE 'a' LIKE 'b'"),
    ("pmd", "SELECT id FROM r AS FOR"),
    ("m", "SELECT id AS use FROM r"),
    ("m", "SELECT id LOCK FROM r"),
    ("d", "SELECT id FROM r AS SEMI"),
    ("pmd", "SELECT id FROM r AS left"),
]
ODD = [
    ("spmd", "SELECT ALL id FROM r"),
    ("spmd", "SELECT id FROM r WHERE NOT NOT d > 1"),
    ("pd", "SELECT id BETWEEN FROM r"),
    ("sp", "SELECT id BY FROM r"),
    ("p", "SELECT id AND FROM r"),
    ("p", "SELECT id FROM r WHERE id IN (SELECT rid JOIN FROM s WHERE v > 1)"),
    ("p", "SELECT SUBSTR(n, 1, 2) FROM r GROUP BY SUBSTR"),
    ("p", "SELECT POW(d, 2) FROM r ORDER BY pow"),
    ("p", "SELECT id FROM r FETCH FIRST ROW ONLY"),
    ("p", "SELECT id FROM ONLY (r)"),
    ("p", "SELECT COUNT (*) FROM r"),
    ("p", "SELECT DATE '2020-01-01' + 1"),
    ("p", "SELECT r.id FROM r JOIN s JOIN s t ON t.id = s.id ON s.rid = r.id"),
    ("m", "SELECT id FROM r LIMIT 1, 2"),
    ("m", "SELECT 1 FROM DUAL WHERE 1 = 1"),
    ("m", "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM dual) LIMIT 2"),
    ("m", "SELECT CAST(d AS VARCHAR(5)) FROM r"),
    ("m", "SELECT DISTINCT DISTINCT id FROM r"),
    ("m", "SELECT ! d FROM r"),
    ("m", "SELECT 'a' 'b' FROM r"),
    ("m", "SELECT r.id FROM {OJ r LEFT JOIN s ON s.rid = r.id}"),
    ("m", "SELECT id FROM r WHERE d = (SELECT MIN(r.d) FROM s)"),
    ("d", "FROM r"),
    ("d", "SELECT id, d, FROM r ORDER BY id,"),
    ("d", "SELECT * EXCLUDE (id) FROM r"),
    ("d", "SELECT id FROM r GROUP BY ALL ORDER BY ALL"),
    ("d", "SELECT\u00a0id FROM r"),
    ("s", "SELECT r.id FROM r INNER INNER JOIN s"),
    ("s", "SELECT r.id FROM r JOIN s ON t.v = s.id JOIN s AS t ON t.id = r.id"),
    ("s", "SELECT x.id FROM r AS x JOIN s ON d > rid JOIN (SELECT d AS e FROM r) AS q ON e = s.v"),
    ("s", "SELECT x.id FROM r AS x JOIN r AS y ON v > x.d JOIN s ON s.id = y.id"),
    ("s", "SELECT id FROM r WHERE d IN ()"),
    ("sd", "SELECT GROUP_CONCAT(UPPER(n) ORDER BY n) FROM r"),
]


def named(letters: str) -> list[str]:
    """Return the dialects that letters stand for."""
    return [dialect for letter, dialect in DIALECTS.items() if letter in letters]


@pytest.mark.parametrize(("letters", "text"), REFUSED)
def test_what_a_database_refuses_earns_nothing_at_any_door(letters: str, text: str) -> None:
    """It is the output's fault, a bad reference and a finding; others are left alone."""
    for dialect in (*named(letters), *[None] * ("x" in letters)):
        given: Any = {"schema": SCHEMA, "dialect": dialect}
        error = query_correctness(text, PLAIN, **given).error
        assert failure(error) == "output: parse", dialect
        for pair in ((PLAIN, text), (text, text)):
            error = query_correctness(*pair, **given).error
            assert failure(error) == "instrument: bad_reference", dialect
        assert sql_equivalence(text, text, **given).verdict == "unknown"
        findings = query_audit(text, **given).findings
        assert [one.kind for one in findings] == ["does_not_run"], dialect
    for dialect in {*DIALECTS.values()} - {*named(letters)}:
        same = query_correctness(text, text, schema=SCHEMA, dialect=dialect)
        assert same.score == 1.0, (dialect, same.reasoning)
    if "x" not in letters:
        assert query_correctness(text, text, schema=SCHEMA).score == 1.0


@pytest.mark.parametrize(("letters", "text"), REFUSED)
def test_the_databases_at_hand_refuse_it_too(letters: str, text: str) -> None:
    """Oracle: SQLite and DuckDB, with the tables."""
    for letter in "sd":
        module: Any = sqlite3 if letter == "s" else pytest.importorskip("duckdb")
        connection = module.connect(":memory:")
        for statement in SCHEMA.split(";")[:-1]:
            connection.execute(statement)
        statements = [one for one in text.split(";") if one.strip() and "USE" not in one]
        if "USE" in text:
            continue
        if letter not in letters and ("GROUP_CONCAT" in text or "Match" in text):
            continue
        if letter in letters:
            with pytest.raises(module.Error):
                _run(connection, statements)


def _run(connection: Any, statements: list[str]) -> None:
    for one in statements:
        connection.execute(one)


@pytest.mark.parametrize(("letters", "text"), ODD)
def test_odd_texts_that_a_database_takes_are_not_blamed(letters: str, text: str) -> None:
    """Not where the parser cannot read them, either."""
    for dialect in (*named(letters), None):
        given: Any = {"schema": SCHEMA, "dialect": dialect}
        error = query_correctness(text, PLAIN, **given).error
        assert error is None or error.origin == "instrument", (dialect, error)
        assert query_correctness(text, text, **given).score == 1.0, dialect
        kinds = {one.kind for one in query_audit(text, **given).findings}
        assert dialect is None or "does_not_run" not in kinds


FOREIGN = [
    ("tsql", "SELECT TOP 5 id FROM r"),
    ("tsql", "SELECT id FROM mydb..r"),
    ("tsql", "SELECT r.id FROM r CROSS APPLY f(r.id) x"),
    ("tsql", "SELECT id FROM r WITH (NOLOCK) WHERE d = 1"),
    ("tsql", "SELECT [id] FROM [dbo].[r] ORDER BY [id] OFFSET 5 ROWS FETCH NEXT 5 ROWS ONLY"),
    ("bigquery", "SELECT id FROM `p.d.r` QUALIFY ROW_NUMBER() OVER (ORDER BY id) = 1"),
    ("bigquery", "SELECT AS STRUCT id FROM r"),
    ("bigquery", "SELECT SAFE_CAST(d AS INT64) FROM r"),
    ("bigquery", "SELECT id FROM r WHERE d IN UNNEST([1, 2])"),
    ("bigquery", "SELECT * EXCEPT (id) FROM r"),
    ("oracle", "SELECT id FROM r CONNECT BY PRIOR id = d START WITH d IS NULL"),
    ("oracle", "SELECT r.id FROM r, s WHERE r.id = s.rid (+)"),
    ("oracle", "SELECT id FROM r MINUS SELECT rid FROM s"),
    ("oracle", "SELECT MAX(d) KEEP (DENSE_RANK FIRST ORDER BY id) FROM r"),
    ("oracle", "SELECT NVL(d, 0), SYSDATE FROM r WHERE ROWNUM <= 5"),
    ("tsql", "SELECT DATEADD(day, 1, d), DATEDIFF(year, d, GETDATE()) FROM r"),
    ("bigquery", "SELECT DATE_TRUNC(d, MONTH), DATE_DIFF(CURRENT_DATE(), d, DAY) FROM r"),
    ("snowflake", "SELECT d:a.b::string FROM r"),
    ("snowflake", "SELECT id FROM r SAMPLE (10)"),
    ("snowflake", "SELECT f.value FROM r, LATERAL FLATTEN(input => r.d) f"),
    ("hive", "SELECT id FROM r LATERAL VIEW explode(d) t AS x"),
    ("clickhouse", "SELECT id FROM r FINAL PREWHERE d = 1 LIMIT 1 BY id"),
]


@pytest.mark.parametrize(("dialect", "text"), FOREIGN)
def test_what_other_databases_have_is_the_judges(dialect: str, text: str) -> None:
    """Without a dialect the text may be of any database, so it is no fault, and itself."""
    for name in (None, dialect):
        error = query_correctness(text, PLAIN, dialect=name).error
        assert error is None or error.origin == "instrument", (name, error)
    for schema in (None, SCHEMA):
        assert query_correctness(text, text, schema=schema).score == 1.0
        error = query_correctness(PLAIN, text, schema=schema).error
        assert failure(error) != "instrument: bad_reference"


def test_other_dialects_give_no_credit_for_what_the_tree_does_not_keep() -> None:
    """That none of the four takes it does not say that theirs does not."""
    for dialect in ("snowflake", "tsql", "oracle", "bigquery"):
        error = query_correctness(
            "SELECT id,, d FROM r", PLAIN, schema=SCHEMA, dialect=dialect
        ).error
        assert failure(error) == "instrument: no_judge"


def test_tables_of_what_is_refused_are_an_error() -> None:
    """No tables are made up for a text that the database does not read."""
    with pytest.raises(SqlError, match="PostgreSQL refuses it at ','"):
        extract_tables("SELECT id,, d FROM r", dialect="postgres")
    assert extract_tables("SELECT a FROM mydb..orders") == ("mydb.dbo.orders",)


def test_a_broken_text_never_raises_and_never_earns_credit_by_accident() -> None:
    """In no dialect of the parser."""
    from sqlglot.dialects.dialect import Dialect

    for dialect in sorted(filter(None, Dialect.classes)):
        for letters, text in REFUSED:
            if "x" in letters:
                result = query_correctness(text, PLAIN, schema=SCHEMA, dialect=dialect)
                assert result.score == 0.0, (dialect, text)


def test_the_message_names_the_word_and_its_place() -> None:
    """So that one can find it."""
    with pytest.raises(SqlError) as caught:
        parse("SELECT id\nFROM r WHERE WHERE d = 1", "mysql")
    assert caught.value.message == "MySQL refuses it at 'WHERE'. Line 2, column 18."


ANSWERS = [
    f"{PLAIN};\n```",
    f"<think>SELECT is <b>needed</b>; so\n\nSELECT 1</think>\n{PLAIN}",
    f"we want all rows\n</think>\n\n```sql\n{PLAIN}\n```",
    f"Here is the query:\n\n{PLAIN};\n\nIt returns all rows; r has no others.",
    f"{PLAIN};\n\nDone.",
    "With this one it works:\n```sql\nSELECT id, d\n\nFROM r\n```\nHope it helps!",
]


@pytest.mark.parametrize("dialect", [*DIALECTS.values(), None])
def test_what_a_model_writes_around_its_sql_is_left_out(dialect: str | None) -> None:
    """And the result says what; a fence alone is nothing to say."""
    for text in ANSWERS:
        result = query_correctness(text, PLAIN, schema=SCHEMA, dialect=dialect)
        assert (result.score, result.method) == (1.0, "proved"), text
        assert result.equivalence is not None
        said = any("is left out" in one for one in result.equivalence.assumptions)
        assert said == (text not in (ANSWERS[0], ANSWERS[5])), text


@pytest.mark.parametrize("text", [
    f"{PLAIN}; done", f"Here is the query: {PLAIN}", f"{PLAIN};\nDone.",
    f"{PLAIN}\n\nWHERE WHERE d = 1", f"{PLAIN}; done\n```",
])  # fmt: skip
def test_a_word_on_a_line_of_sql_is_part_of_the_text(text: str) -> None:
    """Somebody who sends it to the database gets an error."""
    for dialect in DIALECTS.values():
        error = query_correctness(text, PLAIN, schema=SCHEMA, dialect=dialect).error
        assert failure(error) == "output: parse", dialect
