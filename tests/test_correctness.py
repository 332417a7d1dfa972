"""query_correctness: what is decided without a judge, judges that answer, judges that fail."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import json
import logging
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import failure, present
from refusals import Refusal, refusals

from scorekit import correctness
from scorekit._core.mappings import FrozenMapping
from scorekit._judge.waiting import Queue
from scorekit._sql import faults
from scorekit._sql.text.parsing import parse
from scorekit.cases import SqlCase
from scorekit.columns import column_accuracy
from scorekit.correctness import QueryCorrectness, aquery_correctness, query_correctness
from scorekit.equivalence import SqlEquivalence, sql_equivalence
from scorekit.errors import InputError, JudgeError
from scorekit.judges import CachedJudge, Judge, JudgeRequest, Verdict, judge_from_function

Ask = Callable[..., QueryCorrectness]


def _async(*arguments: Any, **options: Any) -> QueryCorrectness:
    return asyncio.run(aquery_correctness(*arguments, **options))


@pytest.fixture(params=[query_correctness, _async], ids=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Both forms must behave alike."""
    form: Ask = request.param
    return form


def judge_of(function: Callable[[JudgeRequest], Any]) -> Judge:
    """Return a judge of *function*."""
    return judge_from_function(function, identity="test")


def never(_: JudgeRequest) -> Verdict:
    """Fail the test if a judge is asked after all."""
    raise AssertionError("the judge was asked")


@pytest.mark.parametrize(("generated", "expected"), [
    ("SELECT 1", "SELECT 1"),
    ("  SELECT 1\n", "SELECT 1;"),
    ("SELECT 1 ; \n", "\tSELECT 1"),
    ("SELECT 1", ["SELECT 2", "SELECT 1;"]),
    ("SELECT TOP 1 a FROM t", "SELECT TOP 1 a FROM t"),
])  # fmt: skip
def test_identical_text_needs_no_judge(ask: Ask, generated: str, expected: Any) -> None:
    """Outer space and a final semicolon aside, one of the accepted texts."""
    result = ask(generated, expected, judge=judge_of(never))
    assert (result.score, result.reasoning, result.method) == (
        1.0,
        "Queries are identical",
        "identical",
    )
    assert result.error is None


@pytest.mark.parametrize(("sql", "dialect", "why"), [
    ("nonsense (", None, "no database takes it at 'NONSENSE'"),
    ("SELECT SUM(*) FROM t", None, "SUM, AVG, MIN or MAX of *"),
    ("SELECT SUM(*) FROM t", "duckdb", "SUM, AVG, MIN or MAX of *"),
    ("SELECT a AS x FROM t WHERE x > 1", "postgres", "no table has a column x"),
    ("SELECT a AS x FROM t WHERE x > 1", "tsql", "no table has a column x"),
    ("SELECT a FROM t WHERE LAG(a) OVER (ORDER BY a) > 1", "sqlite", "a window function in"),
    ("SELECT t.a FROM t FULL JOIN t AS u ON (t.a = u.a) IS TRUE", "postgres", "a FULL JOIN without an equality"),
])  # fmt: skip
def test_identical_text_that_the_database_refuses_earns_nothing(
    ask: Ask, sql: str, dialect: str | None, why: str
) -> None:
    """It is the reference's fault, not the output's."""
    result = ask(sql, sql, schema="CREATE TABLE t (a INT, b INT)", dialect=dialect)
    assert (result.score, result.method) == (0.0, None)
    assert failure(result.error) == "instrument: bad_reference"
    assert present(result.error).message.startswith("expected: ")
    assert why in present(result.error).message


@pytest.mark.parametrize("generated", ["select 1", "SELECT  1", "SELECT 1 -- x"])
def test_what_is_proved_needs_no_judge(ask: Ask, generated: str) -> None:
    """A proof decides; with ``evidence="judge"`` nobody looks for one."""
    proved = ask(generated, "SELECT 1", judge=judge_of(never))
    assert (proved.score, proved.method, proved.error) == (1.0, "proved", None)
    assert present(proved.equivalence).verdict == "proved"
    asked = ask(generated, "SELECT 1", judge=judge_of(lambda _: 0.5), evidence="judge")
    assert (asked.score, asked.method, asked.equivalence) == (0.5, "judge", None)


def test_one_proof_among_accepted_queries_decides(ask: Ask) -> None:
    """The best counts, whichever it is."""
    accepted = ["SELECT a FROM t WHERE b = 1", "SELECT a FROM t", "SELECT c FROM t"]
    result = ask("SELECT x.a FROM t AS x", accepted, judge=judge_of(never))
    assert (result.score, result.method) == (1.0, "proved")


def test_the_judge_is_shown_the_counterexample(ask: Ask) -> None:
    """A difference is a judgement's start: the judge says how wrong, and may contest it."""
    seen: list[JudgeRequest] = []

    def remember(request: JudgeRequest) -> float:
        seen.append(request)
        return scores.pop()

    scores = [1.0, 0.5]
    results = [
        ask(
            "SELECT a FROM t WHERE a > 1",
            "SELECT a FROM t WHERE a >= 1",
            judge=judge_of(remember),
            schema={"t": {"a": "int"}},
        )
        for _ in range(2)
    ]
    assert [(r.score, r.method, r.contested) for r in results] == [
        (0.5, "judge", False),
        (1.0, "judge", True),
    ]
    evidence = present(results[0].equivalence)
    assert evidence.verdict == "refuted"
    *rows, of_generated, of_expected = str(seen[0].counterexample).split("\n")
    assert rows == present(evidence.counterexample).to_text().split("\n")[:-2]
    assert of_generated == "The generated query returns: no rows"
    assert of_expected.startswith("The expected query returns: (1)")
    assert seen[1].counterexample == seen[0].counterexample


@pytest.mark.parametrize("score", [1.0, 0.5])
@pytest.mark.parametrize("schema", [{"t": {"a": "int"}}, None], ids=["schema", "inferred"])
def test_a_counterexample_may_outweigh_the_judge(ask: Ask, score: float, schema: Any) -> None:
    """Under a schema, where it calls equivalent what differs; its own verdict stays visible."""
    result = ask(
        "SELECT a FROM t WHERE a > 1",
        "SELECT a FROM t WHERE a >= 1",
        judge=judge_of(lambda _: Verdict(score=score, reasoning="as good", cost_usd=0.5)),
        schema=schema,
        contested="refuted",
    )
    is_outweighed = score == 1.0 and schema is not None
    assert (result.score, result.method) == (
        (0.0, "refuted") if is_outweighed else (score, "judge")
    )
    assert (result.contested, result.cost_usd) == (score == 1.0, 0.5)
    assert ("; the judge says equivalent: as good" in result.reasoning) == is_outweighed


SHOP = {"users": {"id": "int primary key", "name": "text", "age": "int"}, "pets": {"owner": "int"}}
DDL = "CREATE TABLE users (id int primary key, name text, age int); CREATE TABLE pets (owner int);"


@pytest.mark.parametrize("schema", [SHOP, DDL], ids=["mapping", "text"])
def test_a_refuted_pair_is_wrong_without_a_judge(ask: Ask, schema: Any) -> None:
    """The counterexample stands in the result, which is no failure."""
    result = ask("SELECT COUNT(age) FROM users", "SELECT COUNT(*) FROM users", schema=schema)
    assert (result.score, result.method, result.error) == (0.0, "refuted", None)
    assert result.reasoning == "results differ on a database of 1 row"
    assert present(result.equivalence).counterexample is not None
    assert not result.contested


@pytest.mark.parametrize("options", [
    {},  # the tables are guessed
    {"schema": {"users": {}}},  # for a judge only
    {"schema": SHOP, "evidence": "judge"},
])  # fmt: skip
def test_a_refutation_needs_a_schema(ask: Ask, options: dict[str, Any]) -> None:
    """What rests on guessed tables stays undecided."""
    result = ask("SELECT COUNT(age) FROM users", "SELECT COUNT(*) FROM users", **options)
    assert failure(result.error) == "instrument: no_judge"


def test_a_judge_that_fails_takes_back_no_counterexample(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """The pair is wrong as it is without a judge; what the judge cost is counted."""

    def judge(request: JudgeRequest) -> Verdict:
        if "SUM" in request.expected:
            raise JudgeError("overloaded", "busy", cost_usd=0.5)
        return Verdict(score=0.5, reasoning="half", cost_usd=0.25)

    pair = (
        "SELECT COUNT(age) FROM users",
        ["SELECT COUNT(*) FROM users", "SELECT SUM(1) FROM users"],
    )
    with caplog.at_level(logging.DEBUG, "scorekit"):
        result = ask(*pair, schema=SHOP, judge=judge_of(judge))
    assert (result.score, result.method, result.error) == (0.0, "refuted", None)
    why = "results differ on a database of 1 row; the judge failed: overloaded: busy"
    assert (result.reasoning, result.cost_usd) == (why, 0.75)
    assert result.why() == (
        "refuted; generated returns (0), expected (1); the judge failed: overloaded: busy"
    )
    assert failure(result.judge_error) == "instrument: overloaded"
    assert [record.getMessage() for record in caplog.records] == [
        "query_correctness: overloaded: busy"
    ]
    undecided: list[dict[str, Any]] = [{}, {"schema": SHOP, "evidence": "judge"}]
    for options in undecided:
        error = ask(*pair, judge=judge_of(judge), **options).error
        assert failure(error) == "instrument: overloaded"


@pytest.mark.parametrize("generated", [
    "DELETE FROM users",
    "DELETE FROM users RETURNING id",
    "WITH old AS (DELETE FROM users RETURNING id) SELECT id FROM old",
    "SELECT id INTO old FROM users",
    "INSERT INTO users (id) VALUES (1) RETURNING id",
    "WITH old AS (SELECT id FROM users) DELETE FROM users WHERE id IN (SELECT id FROM old)",
    "UPDATE users SET age = 1",
    "INSERT INTO people SELECT id FROM users",
    "INSERT ALL WHEN id > 1 THEN INTO people VALUES (id) SELECT id FROM users",
    "REPLACE INTO users VALUES (1, 'a', 2)",
    "CREATE TABLE x AS SELECT id FROM users",
    "DROP TABLE users",
    "ALTER TABLE users ADD COLUMN x int",
    "TRUNCATE TABLE users",
    "BEGIN; DELETE FROM users; COMMIT",
    "SELECT id FROM users; DROP TABLE users",
    "DELETE FROM users; SELECT id FROM users",
    "CREATE TABLE x AS SELECT id FROM users; DELETE FROM x",
])  # fmt: skip
def test_a_text_that_changes_data_is_the_models_mistake(ask: Ask, generated: str) -> None:
    """Whatever it returns; nobody need be asked, and one of another name is no less wrong."""
    for evidence in ("auto", "judge"):
        result = ask(generated, "SELECT id FROM users", judge=judge_of(never), evidence=evidence)
        assert (result.score, result.method) == (0.0, None)
        assert failure(result.error) == "output: changes_data"
    result = ask(generated, "DELETE FROM users WHERE id > 7", judge=judge_of(lambda _: 0.5))
    assert failure(result.error) != "output: changes_data"


@pytest.mark.parametrize("generated", [
    "EXPLAIN SELECT id FROM users",
    "```sql\nexplain query plan SELECT id FROM users\n```",
    "EXPLAIN DELETE FROM users",
    "PRAGMA table_info('users')",
    "SHOW TABLES",
    "DESCRIBE users",
    "BEGIN",
    "SELECT",
    "select from users where id > 3;",
])  # fmt: skip
def test_a_statement_that_is_no_query_is_the_models_mistake(ask: Ask, generated: str) -> None:
    """Whoever asked for rows gets none, as with SQL that does not parse; nobody need be asked."""
    for evidence in ("auto", "judge"):
        judge = judge_of(never)
        result = ask(generated, "SELECT id FROM users", judge=judge, evidence=evidence)
        assert (result.score, result.method, result.error) == (0.0, "refuted", None)
        assert (
            result.reasoning == "the generated text is no query: it returns no columns of a table"
        )


@pytest.mark.parametrize("generated", ["DESC", "describe;", "SHOW", "SHOW TABLES", "DESC users"])
def test_what_lists_the_tables_of_duckdb_is_no_query(ask: Ask, generated: str) -> None:
    """Oracle: DuckDB, which takes it; beside a query it is a second statement."""
    with pytest.importorskip("duckdb").connect() as connection:
        connection.execute("CREATE TABLE users (id INT)")
        assert connection.execute(generated).fetchall()
    result = ask(generated, "SELECT id FROM users", dialect="duckdb", judge=judge_of(never))
    assert (result.score, result.method, result.error) == (0.0, "refuted", None)
    doubtful = judge_of(lambda _: 0.5)
    for text in ("SELECT id FROM users; {}", "{}; SELECT id FROM users"):
        both = text.format(generated.rstrip(";"))
        asked = ask(both, "SELECT id FROM users", dialect="duckdb", judge=doubtful)
        assert (asked.score, asked.method) == (0.5, "judge")


@pytest.mark.parametrize(("generated", "expected"), [
    ("CREATE TABLE x AS SELECT id FROM users; DELETE FROM x WHERE id IS NULL; SELECT id FROM x",
     "SELECT id FROM users"),
    ("SHOW TABLES", "SELECT name FROM sqlite_master"),
    ("SELECT id FROM users; SELECT 1", "SELECT id FROM users; SELECT 2"),
    ("DELETE FROM users", "DELETE FROM users WHERE id > 0"),
    ("DELETE FROM users", ["SELECT id FROM users", "TRUNCATE TABLE users"]),
    ("DELETE FROM users", "SELECT (((("),
    ("SELECT id FROM users", "EXPLAIN SELECT id FROM users"),
    ("EXPLAIN ANALYZE SELECT id FROM users", "EXPLAIN SELECT id FROM users"),
])  # fmt: skip
def test_statements_that_may_be_meant_are_the_judges(
    ask: Ask, generated: str, expected: Any
) -> None:
    """They return rows, or a statement was expected."""
    result = ask(generated, expected, judge=judge_of(lambda _: 0.5))
    assert (result.score, result.method) == (0.5, "judge")


NO_PATH = r"^schema must be the text of a schema, not a name or a path"


@pytest.mark.parametrize("path", [
    "schema.sql",
    "/data/My_schema.SQL",
    r"C:\db\schema.json",
    "schema.txt",
    "a.sqlite ",
    "concert",
])  # fmt: skip
def test_a_name_or_a_path_is_no_schema(ask: Ask, path: str) -> None:
    """Nobody reads the file; in silence it would count as no schema at all."""
    with pytest.raises(InputError, match=f"{NO_PATH}, got {re.escape(repr(path))}$"):
        ask("SELECT 1", "SELECT 2", schema=path)
    for function in (sql_equivalence, column_accuracy):
        with pytest.raises(InputError, match=NO_PATH):
            function("SELECT 1", "SELECT 2", schema=path)
    with pytest.raises(InputError, match=NO_PATH):
        SqlCase(case_id="a", generated="SELECT 1", schema=path)


def test_all_accepted_queries_must_be_refuted(ask: Ask) -> None:
    """One that nothing is known of may be the one that was answered."""
    generated = "SELECT COUNT(age) FROM users"
    others = ["SELECT COUNT(*) FROM users", "SELECT SUM(id) FROM users"]
    assert ask(generated, others, schema=SHOP).method == "refuted"
    result = ask(generated, [*others, "SELECT RANDOM()"], schema=SHOP)
    assert present(result.error).kind == "no_judge"


@pytest.mark.parametrize(("generated", "lacking"), [
    ("SELECT id FROM people", "table 'people'"),
    ("SELECT COUNT(*) FROM people", "table 'people'"),
    ("SELECT name FROM users JOIN people ON uid = id", "table 'people'"),
    ("SELECT x FROM people, places", "tables 'people', 'places'"),
    ("SELECT id FROM users WHERE id IN (SELECT x FROM people)", "table 'people'"),
    ("WITH c AS (SELECT x FROM people) SELECT x FROM c", "table 'people'"),
    ("SELECT nme FROM users", "column 'users.nme'"),
    ("SELECT u.nme FROM users u", "column 'users.nme'"),
    ("SELECT nme FROM users, pets", "column 'nme'"),
    ("SELECT pets.owner FROM users", "column 'pets.owner'"),
    ("SELECT id FROM users WHERE lower(x) = y", "columns 'users.x', 'users.y'"),
    ("SELECT c.age FROM (SELECT name FROM users) c", "column 'age'"),
    ("SELECT id FROM users JOIN pets USING (owner)", "column 'users.owner'"),
])  # fmt: skip
def test_what_the_schema_lacks_is_the_models_mistake(
    ask: Ask, generated: str, lacking: str
) -> None:
    """Nobody need be asked about a query that no database would run."""
    kind = f"unknown_{lacking.split(maxsplit=1)[0].rstrip('s')}"
    for schema, judge in ((SHOP, None), (DDL, judge_of(never))):
        result = ask(generated, "SELECT id FROM users", schema=schema, judge=judge)
        assert (result.score, result.method) == (0.0, None)
        assert failure(result.error) == f"output: {kind}"
        assert result.reasoning == f"generated: the schema has no {lacking}"


@pytest.mark.parametrize(("generated", "schema"), [
    ("SELECT id FROM people", None),
    ("SELECT id FROM people", DDL + "CREATE TABLE broken (id int,"),
    ("SELECT id FROM people", DDL + "CREATE VIEW people AS SELECT * FROM elsewhere;"),
    ("SELECT name FROM adults", DDL + "CREATE VIEW adults AS SELECT * FROM users;"),
    ("SELECT name FROM sqlite_master", SHOP),
    ("SELECT table_name FROM information_schema.tables", SHOP),
    ("SELECT relname FROM pg_class", SHOP),
    ("SELECT rowid FROM users", SHOP),
    ("SELECT value FROM generate_series(1, 3)", SHOP),
    ("SELECT value FROM json_each('[1]')", SHOP),
    ("SELECT name FROM pragma_table_info('users')", SHOP),
    ('SELECT id FROM users WHERE name = "Ann"', SHOP),
    ("SELECT DATEDIFF(day, age, age) FROM users", SHOP),
    ("SELECT x.count FROM (SELECT COUNT(*) FROM users) x", SHOP),
    ("SELECT id FROM users UNION SELECT owner FROM pets ORDER BY users.id", SHOP),
    ("SELECT name COLLATE nocase FROM users", SHOP),
    ("SELECT my_own(main.users.id) FROM main.users", SHOP),
    ("CREATE TABLE x AS SELECT id FROM users; SELECT id FROM x", SHOP),
    ("SELECT id FROM users, users.tags", SHOP),
    ("SELECT name, COUNT(*) FROM users GROUP BY name ORDER BY count", SHOP),
    ("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c", SHOP),
])  # fmt: skip
def test_what_may_be_there_is_not_lacking(ask: Ask, generated: str, schema: Any) -> None:
    """Databases have tables, columns and words of their own, and schemas leave things open."""
    result = ask(generated, "SELECT id FROM users", schema=schema, judge=judge_of(lambda _: 0.5))
    assert (result.score, result.method) == (0.5, "judge")


@pytest.mark.parametrize(("generated", "expected"), [
    ("SELECT id FROM users", "SELECT id FROM people"),
    ("SELECT id FROM users", "SELECT uid FROM users"),
    ("SELECT id FROM people WHERE id > 0", "SELECT id FROM people"),
    ("SELECT id FROM places", "SELECT id FROM people"),
])  # fmt: skip
def test_a_reference_that_the_schema_lacks_is_the_instruments_failure(
    ask: Ask, generated: str, expected: str
) -> None:
    """The model cannot be blamed; a judge is asked if there is one."""
    result = ask(generated, expected, schema=SHOP)
    assert failure(result.error) == "instrument: bad_reference"
    assert result.reasoning.startswith("expected: the schema has no ")
    assert ask(generated, expected, schema=SHOP, judge=judge_of(lambda _: 0.5)).method == "judge"


def test_names_of_any_accepted_query_are_not_the_models_mistake(ask: Ask) -> None:
    """One accepted query is sound, so the schema is believed, and another shares the name."""
    accepted = ["SELECT id FROM people", "SELECT id FROM users"]
    shared = ask("SELECT id FROM people WHERE id > 0", accepted, schema=SHOP)
    assert present(shared.error).origin == "instrument"
    other = ask("SELECT id FROM places", accepted, schema=SHOP)
    assert failure(other.error) == "output: unknown_table"


def test_the_judge_alone_is_asked_about_anything(ask: Ask) -> None:
    """With evidence="judge" names are not looked into either."""
    result = ask(
        "SELECT id FROM people",
        "SELECT id FROM users",
        schema=SHOP,
        judge=judge_of(lambda _: 1.0),
        evidence="judge",
    )
    assert result.method == "judge"


_TABLE = st.sampled_from(["users", "pets", "people"])
_COLUMN = st.sampled_from(["id", "name", "age", "owner", "uid"])


@given(_TABLE, _COLUMN, _COLUMN, _TABLE, st.sampled_from([None, "sqlite", "postgres"]))
def test_sqlite_agrees_on_what_is_lacking(
    table: str, column: str, other: str, joined: str, dialect: str | None
) -> None:
    """An empty database of the schema refuses such a query, and no other."""
    query = (
        f"WITH c AS (SELECT {column} FROM {table}) SELECT c.{column}, x.{other} FROM c"
        f" JOIN (SELECT {other} FROM {joined} WHERE EXISTS"
        f" (SELECT 1 FROM users WHERE {other} = users.{column})) AS x ON true"
        f" ORDER BY {column}"
    )
    result = query_correctness(query, "SELECT 1", schema=DDL, dialect=dialect)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.executescript(DDL)
        try:
            database.execute(query).close()
            refused = ""
        except sqlite3.OperationalError as error:
            refused = str(error)
    lacks = result.error is not None and result.error.kind.startswith("unknown")
    if lacks:
        assert refused.startswith(("no such table", "no such column"))
    elif refused:
        assert refused.startswith("ambiguous")


REFUSED = [
    ("SELECT SUM(*) FROM t", "parse"),
    ("SELECT id FROM t WHERE COUNT(*) > 1", "refused"),
    ("SELECT COUNT(*) AS n FROM t WHERE id = MAX(id)", "refused"),
    ("SELECT MAX(COUNT(*)) FROM t GROUP BY x", "refused"),
    ("SELECT x FROM t GROUP BY SUM(x)", "refused"),
    ("SELECT COUNT(*) FROM t GROUP BY 1", "refused"),
    ("SELECT t.id FROM t JOIN u ON SUM(x) = 1", "refused"),
    ("SELECT y FROM t JOIN u b ON id = id", "refused"),
    ("SELECT x FROM t, u WHERE id = 1", "refused"),
    ("SELECT x FROM t WHERE EXISTS (SELECT 1 FROM u, v WHERE id = 1)", "refused"),
    ("SELECT x, id FROM t UNION SELECT id FROM u", "refused"),
    ("SELECT x FROM t WHERE x IN (SELECT id, y FROM u)", "refused"),
    ("SELECT x FROM t, u GROUP BY x, id", "refused"),
    ("SELECT x FROM t, u ORDER BY id", "refused"),
    ("SELECT t.x FROM t WHERE RANK() OVER (ORDER BY id) = 1", "refused"),
    ("SELECT x FROM t GROUP BY x HAVING RANK() OVER (ORDER BY x) = 1", "refused"),
    ("SELECT x, RANK() OVER (ORDER BY id) AS r FROM t GROUP BY x, r", "refused"),
]
IN_SOME = {
    'SELECT "T1".x FROM t AS T1': "postgres",
    "SELECT x, COUNT(*) FROM t": "postgres duckdb",
    "SELECT x, MAX(id) FROM t ORDER BY MAX(id)": "postgres duckdb",
    "SELECT t.x, COUNT(*) FROM t JOIN u ON u.id = t.id GROUP BY u.y": "postgres duckdb",
    "SELECT x, COUNT(*) FROM t GROUP BY id": "duckdb",
    "SELECT id FROM t JOIN u USING (id) JOIN v ON v.z = id": "sqlite postgres mysql",
    "SELECT DISTINCT x FROM t ORDER BY id": "postgres",
    "SELECT DISTINCT x AS k FROM t GROUP BY x ORDER BY COUNT(*) DESC": "postgres",
    "SELECT DISTINCT t.x FROM t JOIN u USING (id) ORDER BY t.id LIMIT 3": "postgres",
}
"""Queries that no version of some databases plans, whatever the keys of the tables are."""
MAY_RUN = [
    "SELECT x FROM t WHERE (SELECT COUNT(*) FROM u) > 1",
    "SELECT SUM(COUNT(*)) OVER () FROM t",
    "SELECT (SELECT MAX(id) FROM u) FROM t",
    "SELECT id FROM t JOIN u USING (id)",
    "SELECT t.id FROM t, u ORDER BY id",
    "SELECT z FROM v JOIN (SELECT x FROM t) s ON id = s.x JOIN u ON u.id = z",
    "SELECT x FROM t GROUP BY x HAVING EXISTS (SELECT 1 FROM u WHERE y = SUM(t.x))",
    "SELECT x FROM t WHERE x IN (SELECT * FROM u)",
    "SELECT id FROM t WHERE MEDIAN(x) > 1",
    "SELECT t.id FROM t, u GROUP BY t.id, t.x ORDER BY id",
    "SELECT x + MAX(x) FROM t GROUP BY x",
    "SELECT STDDEV(x), ROUND(OWN_AGGREGATE(id)), COUNT(*) FROM t",
    "SELECT ARRAY_AGG(x ORDER BY id), MAX(id) FROM t",
    "SELECT x FROM t GROUP BY x ORDER BY RANK() OVER (ORDER BY x)",
    "SELECT SUM(COUNT(*)) OVER (), BOOL_OR(id IS NULL) FROM t GROUP BY x",
    "SELECT DISTINCT x AS k FROM t ORDER BY k, x, 1",
    "SELECT DISTINCT * FROM t ORDER BY id",
    "SELECT DISTINCT (SELECT MAX(y) FROM u) FROM t ORDER BY (SELECT MAX(y) FROM u)",
    "SELECT id, COUNT(*) FROM t RIGHT JOIN u USING (id) GROUP BY u.id",
    "SELECT x, COUNT(*), (SELECT MAX(t.id) FROM u) FROM t GROUP BY x",
]


def test_a_table_of_another_databases_own_is_lacking() -> None:
    """PostgreSQL and MySQL have no sqlite_master, which SQLite and DuckDB have."""
    for dialect in ("postgres", "mysql", "sqlite", "duckdb"):
        error = present(
            query_correctness(
                "SELECT name FROM sqlite_master", "SELECT x FROM t", schema=THREE, dialect=dialect
            ).error
        )
        lacking = failure(error) == "output: unknown_table"
        assert lacking is (dialect in ("postgres", "mysql"))


def test_a_query_in_from_without_a_name_needs_a_version() -> None:
    """PostgreSQL 16 and later take it."""
    pair = "SELECT x FROM (SELECT x FROM t WHERE x > 1)", "SELECT x FROM t WHERE x > 1"
    found = sql_equivalence(*pair, schema=THREE, dialect="postgres")
    assert (found.verdict, found.assumptions[-1:]) == (
        "proved",
        ("the database is PostgreSQL 16 or later",),
    )


THREE = {
    "t": {"id": "int", "x": "int"},
    "u": {"id": "int", "y": "int"},
    "v": {"id": "int", "z": "int"},
}


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres", "mysql"])
def test_what_no_version_of_a_database_plans_is_wrong(dialect: str) -> None:
    """Without a judge; of the reference it is the instrument's failure, and SQLite agrees."""
    database = sqlite3.connect(":memory:")
    for table, columns in THREE.items():
        database.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, columns.items()))})")
    right = "SELECT id, x FROM t"
    options: Any = {"schema": THREE, "dialect": dialect}
    for sql, kind in REFUSED:
        wrong = query_correctness(sql, right, **options)
        assert wrong.error is not None
        assert (wrong.error.origin, wrong.error.kind, wrong.score) == ("output", kind, 0.0), sql
        for generated in (right, f"{sql} "):
            broken = present(query_correctness(generated, f" {sql} LIMIT 9", **options).error)
            assert failure(broken) == "instrument: bad_reference", sql
        with pytest.raises(sqlite3.Error):
            database.execute(sql)
        free = present(query_correctness(sql, right, schema=THREE).error)
        assert free.origin == "instrument" or kind == "parse"
    for sql in MAY_RUN:
        error = query_correctness(sql, right, **options).error
        assert error is None or error.origin == "instrument", sql
    for sql, where in IN_SOME.items():
        error = query_correctness(sql, right, **options).error
        refused = error is not None and failure(error) == "output: refused"
        assert refused is (dialect in where.split()), sql


KEYED = """CREATE TABLE p (id INT, a INT, b TEXT); ALTER TABLE ONLY p ADD CONSTRAINT k PRIMARY KEY (id);
CREATE TABLE q (i INT, j INT, c TEXT, PRIMARY KEY (i, j)); CREATE TABLE r (d INT, e INT);
CREATE VIEW s AS SELECT id, a FROM p;"""
BESIDE_A_KEY = [
    "SELECT a, b FROM p GROUP BY a",
    "SELECT p.a, COUNT(*) FROM p JOIN q ON p.id = q.i GROUP BY q.i, q.j",
    "SELECT i, j, c FROM q GROUP BY i, c",
    "SELECT b FROM p GROUP BY b HAVING a > 1",
    "SELECT b FROM p GROUP BY b ORDER BY a",
    "SELECT a FROM (SELECT id, a FROM p) AS p GROUP BY id",
    "WITH w AS (SELECT * FROM p) SELECT w.b, COUNT(*) FROM w GROUP BY w.a",
    "SELECT a, (SELECT MAX(e) FROM r WHERE d = p.id) FROM p GROUP BY a",
    "SELECT a, MAX(id) OVER (ORDER BY b) FROM p GROUP BY a, b",
]
"""What PostgreSQL 15 refuses on these tables: "must appear in the GROUP BY clause"."""
OF_ONE_TABLE = (BESIDE_A_KEY[0], *BESIDE_A_KEY[2:5])
WITHIN_A_KEY = [
    "SELECT a, b FROM p GROUP BY id",
    "SELECT p.a, q.c, COUNT(*) FROM p JOIN q ON p.id = q.i GROUP BY p.id, q.j, q.i",
    "SELECT e FROM r GROUP BY d",
    "SELECT UPPER(b), COUNT(*) FROM p GROUP BY UPPER(b)",
    "SELECT a + 1 AS k, MAX(b) FROM p GROUP BY k ORDER BY k",
    "SELECT b, a FROM r RIGHT JOIN p ON d = a GROUP BY id, d ORDER BY a",
    "SELECT a, STRING_AGG(b, ',' ORDER BY id), RANK() OVER (ORDER BY a) FROM p GROUP BY a",
    "SELECT a, (SELECT MAX(p.b) FROM r) FROM p GROUP BY a",
]
"""What PostgreSQL 15 runs there, or would if another table had a key that is not named."""


@pytest.mark.parametrize("sql", [*BESIDE_A_KEY, *WITHIN_A_KEY])
def test_a_column_beside_groups_is_wrong_where_the_keys_are_known(sql: str) -> None:
    """In PostgreSQL; elsewhere it is a setting of the server, and where no key is named open."""
    right, refused = "SELECT a FROM p WHERE b > 'x'", sql in BESIDE_A_KEY
    error = query_correctness(sql, right, schema=KEYED, dialect="postgres").error
    assert (failure(error) == "output: refused" if error else False) is refused
    assert error is None or refused or error.origin == "instrument"
    bad = query_correctness(right, sql, schema=KEYED, dialect="postgres").error
    assert (bad is not None and bad.kind == "bad_reference") is refused
    others: list[dict[str, Any]] = [{"schema": KEYED}, {"schema": KEYED, "dialect": "mysql"}]
    if sql in OF_ONE_TABLE:
        unkeyed = KEYED.replace("PRIMARY KEY (", "CHECK (0 < ")
        others.append({"schema": unkeyed, "dialect": "postgres"})
    for options in others:
        error = query_correctness(sql, right, **options).error
        assert error is None or error.kind != "refused"


@pytest.mark.parametrize("dialect", [None, "sqlite", "duckdb", "postgres", "mysql", "oracle"])
def test_a_table_that_the_text_does_not_name_has_no_columns(dialect: str | None) -> None:
    """An alias that is mistaken is the model's fault in every dialect."""
    sql, right = "SELECT T1.x FROM t AS T2", "SELECT x FROM t"
    error = query_correctness(sql, right, schema=THREE, dialect=dialect).error
    assert failure(error) == "output: unknown_column"


@pytest.mark.parametrize(
    ("dialect", "score"), [("sqlite", 1.0), ("duckdb", 1.0), ("postgres", 0.0), ("mysql", 0.0)]
)
def test_an_alias_in_where_is_right_where_the_database_sees_it(dialect: str, score: float) -> None:
    """Elsewhere the database refuses it, whoever writes it."""
    sql, right = "SELECT x AS k FROM t WHERE k > 3", "SELECT x FROM t WHERE x > 3"
    result = query_correctness(sql, right, schema=THREE, dialect=dialect)
    assert result.score == score
    assert (result.error is None) == bool(score)
    assert query_correctness(sql, sql, schema=THREE, dialect=dialect).score == score
    unnamed = present(query_correctness(sql, right, schema=THREE).error)
    assert unnamed.origin == "instrument"


def test_dialects_that_differ_are_for_the_judge(ask: Ask) -> None:
    """Booleans are numbers in some databases only, so neither proof nor refutation will do."""
    result = ask(
        "SELECT a FROM t WHERE active = true",
        "SELECT a FROM t WHERE active = 1",
        judge=judge_of(lambda _: 1.0),
    )
    assert (result.method, result.contested) == ("judge", False)
    assert present(result.equivalence).verdict == "unknown"


def test_a_schema_that_only_a_judge_reads_stops_nothing(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """A table without columns cannot be built, but can be shown."""
    odd: dict[str, dict[str, str]] = {"t": {}}
    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(lambda _: 0.5), schema=odd)
    assert (result.score, result.method) == (0.5, "judge")
    assert present(result.equivalence).reason.startswith("InputError: schema['t'] must be")
    assert "no evidence" in caplog.text


def test_a_cache_remembers_evidence(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeated pair costs a look-up, another schema a new one; the memory is bounded."""
    judge = CachedJudge(judge_of(lambda _: 0.5), max_entries=4)
    looked: list[object] = []

    def look(*pair: str, **options: object) -> SqlEquivalence:
        looked.append(options["schema"])
        return sql_equivalence(*pair, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(correctness, "sql_equivalence", look)
    schemas = [None, "CREATE TABLE t (a int)", {"t": {"a": "int"}}]
    for schema in [*schemas[:2], *schemas[:2], schemas[2], schemas[0]]:
        ask("SELECT 2", "SELECT 3", schema=schema, judge=judge)
    assert looked == [*schemas, None]


def test_the_verdict_reaches_the_result(ask: Ask) -> None:
    """Reasons, model, tokens, cost and response id."""
    given = Verdict(
        score=0.5,
        reasoning="No filter.",
        model="m",
        usage=None,
        cost_usd=0.01,
        response_id="r1",
        cached=True,
    )
    result = ask("SELECT a FROM t", "SELECT a FROM t WHERE b", judge=judge_of(lambda _: given))
    for field in attrs.fields_dict(Verdict):
        assert getattr(result, field) == getattr(given, field)


@pytest.mark.parametrize(("schema", "shown"), [
    ({"t": {"a": "int", "b": "text"}}, "t(a int, b text)"),
    ("CREATE TABLE t (a int) -- one row a day", "CREATE TABLE t (a int) -- one row a day"),
])  # fmt: skip
def test_the_judge_is_shown_everything(ask: Ask, schema: Any, shown: str) -> None:
    """Question, dialect and schema go with the pair; a schema that is text goes as it is."""
    seen: list[JudgeRequest] = []

    def remember(request: JudgeRequest) -> float:
        seen.append(request)
        return 1.0

    pair: Any = {"generated": "SELECT a FROM t", "expected": "SELECT b FROM t"}
    more: Any = {"question": "Which b?", "dialect": "postgres"}
    ask(*pair.values(), judge=judge_of(remember), schema=schema, evidence="judge", **more)
    assert seen == [JudgeRequest(**pair, schema=shown, **more)]


def test_the_best_of_several_accepted_queries_counts(ask: Ask) -> None:
    """Asking stops at the first that is equivalent."""
    scores = {"SELECT b FROM t": 0.0, "SELECT c FROM t": 0.5, "SELECT d FROM t": 1.0}
    asked: list[str] = []

    def judge(request: JudgeRequest) -> float:
        asked.append(request.expected)
        return scores[request.expected]

    accepted = list(scores)
    assert ask("SELECT a FROM t", accepted[:2], judge=judge_of(judge)).score == 0.5
    asked.clear()
    result = ask("SELECT a FROM t", [*accepted, "SELECT e FROM t"], judge=judge_of(judge))
    assert (result.score, asked) == (1.0, accepted)


PAID = Verdict(score=0.5, usage=FrozenMapping({"input_tokens": 100}), cost_usd=0.25)


@pytest.mark.parametrize(
    ("last", "usage", "cost_usd"),
    [
        (attrs.evolve(PAID, score=0.0), 300, 0.75),
        (attrs.evolve(PAID, score=0.0, cost_usd=None), 300, None),
        (JudgeError("truncated", "", {"input_tokens": 7}, 0.5), 207, 1.0),
        (JudgeError("overloaded", ""), 200, 0.5),
        (TimeoutError(), 200, 0.5),
        (ValueError(), 200, 0.5),
    ],
    ids=["verdict", "unknown cost", "paid failure", "failure", "limit", "bug"],
)
def test_every_ask_about_an_accepted_query_is_paid_for(
    ask: Ask, last: Verdict | Exception, usage: int, cost_usd: float | None
) -> None:
    """Tokens and cost are sums, also where a later ask fails; one unknown cost hides the sum."""
    answers = iter([PAID, PAID, last])

    def judge(_: JudgeRequest) -> Verdict:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    accepted = ["SELECT b FROM t", "SELECT c FROM t", "SELECT d FROM t"]
    result = ask("SELECT a FROM t", accepted, judge=judge_of(judge))
    assert (result.error is None) == isinstance(last, Verdict)
    assert result.usage == FrozenMapping({"input_tokens": usage})
    assert result.cost_usd == cost_usd


@pytest.mark.parametrize("usage", [5, {"input_tokens": "many"}, {"input_tokens": None, 3: 4}])
@pytest.mark.parametrize("kind", [None, "odd"])
def test_odd_tokens_of_a_strange_judge_lose_no_verdict(
    ask: Ask, usage: Any, kind: str | None
) -> None:
    """What is no count is left out of the sum."""

    def judge(_: JudgeRequest) -> Verdict:
        if kind is not None:
            raise JudgeError(kind, "", usage, "much")  # type: ignore[arg-type]  # on purpose
        return Verdict(score=0.5, usage=usage)

    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(judge))
    assert (result.error.kind if result.error else None) == kind
    assert result.cost_usd is None
    assert "many" not in str(result.usage)


NO_DIALECT = (
    "without dialect=, a refutation has to hold in SQLite, PostgreSQL, MySQL and DuckDB alike"
)
USERS = {"users": {"id": "int primary key", "name": "text", "age": "int"}}
ASK = "; no judge to ask; pass judge=ClaudeJudge() or judge=judge_from_function(...)"
TODAY = "SELECT id, DATE('now') FROM users", "SELECT id, CURRENT_DATE FROM users"


@pytest.mark.parametrize(("pair", "options", "why"), [
    (TODAY, {"schema": USERS}, "neither proved equal nor refuted: MySQL reads the generated query otherwise than DuckDB and PostgreSQL and SQLite " + f"({NO_DIALECT})"),
    (TODAY, {"schema": USERS, "dialect": "sqlite"}, "neither proved equal nor refuted: no difference on 40 small databases"),
    (("SELECT a FROM t", "SELECT a FROM t INNER INNER JOIN u"), {"dialect": "sqlite"}, "neither proved equal nor refuted: the expected query cannot be read: unread: "),
    (("SELECT a FROM t", "SELECT b FROM t"), {}, "a counterexample is known, but it counts only with a schema that defines the tables"),
    (("SELECT a FROM t", "SELECT b FROM t"), {"evidence": "judge"}, "the queries differ in text"),
])  # fmt: skip
def test_an_undecided_pair_says_why(
    ask: Ask, pair: tuple[str, str], options: dict[str, Any], why: str
) -> None:
    """What stood in the way, which of the queries it was, and what would help."""
    result = ask(*pair, **options)
    assert result.error is not None
    assert result.error.message.startswith(why)
    assert result.error.message.endswith(ASK)


def test_what_ties_allow_one_query_alone_is_not_wrong_and_said_of_that_query(ask: Ask) -> None:
    """A generated query that allows only results that are expected never counts as wrong."""
    pair = "SELECT name FROM users ORDER BY age LIMIT 1", "SELECT name FROM users LIMIT 1"
    right = ask(*pair, schema=USERS)
    assert (right.score, right.method) == (1.0, "proved")
    assert "they allow the expected query results" in right.reasoning
    result = ask(*pair[::-1], schema=USERS)
    assert result.error is not None
    assert result.error.origin == "instrument"
    assert "they allow the generated query results" in result.error.message
    found_only = "SELECT name FROM users WHERE age = (SELECT MIN(age) FROM users) LIMIT 1", pair[0]
    result = ask(*found_only, schema=USERS)
    assert present(result.error).origin == "instrument"


@pytest.mark.parametrize(("generated", "kind"), [
    ("", "empty"),
    ("SELECT (((", "parse"),
    ("I am sorry, I cannot write that query.", "not_sql"),
])  # fmt: skip
def test_unreadable_sql_is_wrong_without_asking(ask: Ask, generated: str, kind: str) -> None:
    """It is the model's failure and counts; no money is spent on it."""
    result = ask(generated, "SELECT 1", judge=judge_of(never))
    assert (result.score, failure(result.error)) == (0.0, f"output: {kind}")
    json.dumps(result.to_dict(), allow_nan=False).encode()


@pytest.mark.parametrize(("generated", "why"), [
    ("SELECT 1 " * 50_000, "are too many to try out"),
    ("SELECT " + "(" * 500 + "1" + ")" * 500, "too_deep"),
    ("SELECT " + "REPLACE(" * 33 + "'a'" + ", 'b', 'c')" * 33, "too_deep"),
])  # fmt: skip
def test_what_is_too_large_to_read_is_the_instruments_limit(
    ask: Ask, generated: str, why: str
) -> None:
    """A database runs more than is read here, and the judge may be asked."""
    error = present(ask(generated, "SELECT 1").error)
    assert failure(error) == "instrument: no_judge"
    assert why in error.message
    assert ask(generated, "SELECT 1", judge=judge_of(lambda _: 0.5)).score == 0.5


def test_long_sql_is_not_parsed_in_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """It can take seconds, in which no other task would go on."""
    seen: list[int] = []

    def check(*arguments: Any) -> None:
        seen.append(threading.get_ident())
        parse(*arguments)

    monkeypatch.setattr(faults, "parse", check)
    long = "SELECT " + ", ".join(f"a{i}" for i in range(500))
    for sql, kind in ((long, "no_judge"), (long + " FROM FROM", "parse")):
        result = _async(sql, "SELECT 1")
        assert present(result.error).kind == kind
    assert len(seen) == 2
    assert threading.get_ident() not in seen


def test_a_judge_that_takes_too_long_is_left_behind(ask: Ask) -> None:
    """The answer comes at the limit, whatever the judge is doing."""
    release, answered = threading.Event(), threading.Event()

    def hang(_: JudgeRequest) -> float:
        release.wait(120)
        answered.set()
        return 1.0

    judge = judge_of(hang)
    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge, timeout_seconds=0.05)
    assert not answered.is_set()
    release.set()
    assert result.error is not None
    assert (result.score, result.error.kind) == (0.0, "timeout")
    assert result.error.message == "LLM judge timeout"


def test_a_judge_that_ignores_its_cancellation_is_left_behind_too() -> None:
    """`asyncio.wait_for` would wait for it."""
    answered: list[Verdict] = []

    class Stubborn:
        identity = "stubborn"

        def judge(self, request: JudgeRequest, /) -> Verdict:
            raise NotImplementedError

        async def ajudge(self, request: JudgeRequest, /) -> Verdict:
            del request
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(600)
            await asyncio.sleep(600)  # until the loop ends
            answered.append(Verdict(score=1.0))
            return answered[0]

    async def run() -> QueryCorrectness:
        result = await aquery_correctness(
            "SELECT a FROM t", "SELECT b FROM t", judge=Stubborn(), timeout_seconds=0.05
        )
        assert answered == []
        return result

    result = asyncio.run(run())
    assert present(result.error).kind == "timeout"


@pytest.mark.parametrize("stubborn", [True, False])
def test_what_comes_of_a_judge_left_behind_is_not_logged(
    caplog: pytest.LogCaptureFixture, *, stubborn: bool
) -> None:
    """Whether it fails or obeys, its result has come; asyncio has nothing to complain about."""
    ended = asyncio.Event()

    async def fail(_: JudgeRequest) -> float:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            ended.set()
            if not stubborn:
                raise
        raise ValueError("too late")

    async def run() -> QueryCorrectness:
        result = await aquery_correctness(
            "SELECT a FROM t", "SELECT b FROM t", judge=judge_of(fail), timeout_seconds=0.05
        )
        await ended.wait()
        return result

    result = asyncio.run(run())
    gc.collect()  # a failure that nobody saw is logged when its task is thrown away
    assert present(result.error).kind == "timeout"
    assert [record.name for record in caplog.records] == ["scorekit.correctness"]


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        (JudgeError("overloaded", "529 after 3 tries"), "overloaded", "529 after 3 tries"),
        (ValueError("boom\nsecond line"), "judge_failure", r"boom\nsecond line"),
        (TimeoutError("socket"), "timeout", "LLM judge timeout"),
    ],
)
def test_a_judge_that_raises_is_a_result(
    ask: Ask, raised: Exception, kind: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Score 0.0, the error named, one log record on one line, nothing else stops."""

    def judge(_: JudgeRequest) -> Verdict:
        raise raised

    with caplog.at_level(logging.DEBUG, "scorekit"):
        result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(judge))
    assert (result.score, failure(result.error)) == (0.0, f"instrument: {kind}")
    assert message in present(result.error).message
    assert len(caplog.records) == 1
    assert "\n" not in caplog.records[0].getMessage()
    assert QueryCorrectness.from_dict(result.to_dict()) == result


@pytest.mark.parametrize("answer", [None, "equivalent", 0.7, float("nan"), {"score": 1.0}])
def test_an_answer_that_is_no_verdict_is_a_failure(ask: Ask, answer: Any) -> None:
    """Never rounded to the nearest verdict."""
    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(lambda _: answer))
    assert failure(result.error) == "instrument: invalid_response"


def test_a_judge_that_cancels_itself_is_a_failure(ask: Ask) -> None:
    """Nobody has cancelled the caller."""

    async def judge(_: JudgeRequest) -> Verdict:
        raise asyncio.CancelledError

    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(judge))
    assert failure(result.error) == "instrument: cancelled"


class InTurn:
    """A judge that keeps the time limit itself, as one with a queue does."""

    identity = "in turn"

    def __init__(self, events: list[str]) -> None:
        self.events = events
        self._queue = Queue(50)

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Nobody calls it."""
        raise NotImplementedError

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Answer, wait, or cancel itself, as the query says."""
        self.events.append(f"asked about {request.generated}")
        if request.generated == "SELECT 'cancel'":
            raise asyncio.CancelledError
        if request.generated == "SELECT 'wait'":
            await asyncio.sleep(600)
        await asyncio.sleep(0)
        return Verdict(score=0.5)


def test_the_first_of_many_pairs_is_asked_about_before_the_next_is_looked_at() -> None:
    """Its service answers meanwhile."""
    events: list[str] = []

    async def one(sql: str) -> float:
        events.append(f"looked at {sql}")
        result = await aquery_correctness(
            sql, "SELECT a FROM t", judge=InTurn(events), evidence="judge"
        )
        return result.score

    async def run() -> list[float]:
        return list(await asyncio.gather(one("SELECT 1"), one("SELECT 2")))

    assert asyncio.run(run()) == [0.5, 0.5]
    assert events == [
        f"{what} SELECT {i}" for i in (1, 2) for what in ("looked at", "asked about")
    ]


def test_a_queue_keeps_no_event_loop_that_has_ended() -> None:
    """A judge may be used in thousands of them."""
    judge = InTurn([])
    judge._queue = Queue(1)

    async def run() -> weakref.ref[asyncio.AbstractEventLoop]:
        asks = [
            aquery_correctness(f"SELECT {i}", "SELECT a FROM t", judge=judge) for i in range(50)
        ]
        await asyncio.gather(*asks)
        return weakref.ref(asyncio.get_running_loop())

    ended = asyncio.run(run())
    gc.collect()
    assert ended() is None


@pytest.mark.filterwarnings("ignore:unclosed", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_queue_keeps_no_event_loop_that_is_dropped_in_the_middle() -> None:
    """Its timers hold the pair, and the pair its place."""
    judge = InTurn([])

    def dropped() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.new_event_loop()
        task = loop.create_task(
            aquery_correctness("SELECT 'wait'", "SELECT a", judge=judge, evidence="judge")
        )
        loop.run_until_complete(asyncio.sleep(0))
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        return weakref.ref(loop)

    left = dropped()
    assert judge.events == ["asked about SELECT 'wait'"]
    gc.collect()
    assert left() is None


def test_a_pair_with_identical_text_waits_for_nobody() -> None:
    """The judge may pause for ten minutes, and asks about nothing meanwhile."""
    judge = InTurn([])
    judge._queue = Queue(1)

    async def run() -> QueryCorrectness:
        waiting = [
            asyncio.ensure_future(
                aquery_correctness("SELECT 'wait'", "SELECT a", judge=judge, evidence="judge")
            )
            for _ in range(50)
        ]
        result = await asyncio.wait_for(
            aquery_correctness("SELECT 1", "SELECT 1", judge=judge), 60
        )
        assert not any(one.done() for one in waiting)
        return result

    assert asyncio.run(run()).method == "identical"


def test_a_judge_may_ask_about_pairs_itself() -> None:
    """All places may be those of the pairs that it is asked about."""

    class Asking(InTurn):
        async def ajudge(self, request: JudgeRequest, /) -> Verdict:
            inner = InTurn([])
            inner._queue = self._queue
            asking = aquery_correctness(request.generated, request.expected, judge=inner)
            return Verdict(score=(await asyncio.wait_for(asking, 60)).score)

    judge = Asking([])
    judge._queue = Queue(1)

    async def run() -> list[QueryCorrectness]:
        asks = [aquery_correctness(f"SELECT {i}", "SELECT a", judge=judge) for i in range(50)]
        return await asyncio.gather(*asks)

    assert {result.score for result in asyncio.run(run())} == {0.5}


def test_many_samples_of_one_query_do_not_keep_the_next_from_its_turn() -> None:
    """Those that share an answer under way give their places back."""

    class Paired(InTurn):
        both = asyncio.Barrier(2)

        async def ajudge(self, request: JudgeRequest, /) -> Verdict:
            self.events.append(request.generated)
            await asyncio.wait_for(self.both.wait(), 60)
            return Verdict(score=0.5)

    judge = Paired([])
    judge._queue = Queue(1)
    cached = CachedJudge(judge)

    async def run() -> list[QueryCorrectness]:
        samples = ["SELECT 1"] * 50 + ["SELECT 2"]
        return await asyncio.gather(
            *(aquery_correctness(sample, "SELECT a FROM t", judge=cached) for sample in samples)
        )

    assert {result.score for result in asyncio.run(run())} == {0.5}
    assert judge.events == ["SELECT 1", "SELECT 2"]


def test_who_cancels_is_told_apart_where_a_judge_keeps_the_limit() -> None:
    """The judge's own cancellation is its failure, the caller's is passed on."""

    async def run(sql: str) -> QueryCorrectness:
        judge = InTurn([])
        asking = aquery_correctness(sql, "SELECT a FROM t", judge=judge, evidence="judge")
        task = asyncio.ensure_future(asking)
        await asyncio.sleep(0)  # now it has been asked
        if sql == "SELECT 'wait'":
            task.cancel()
        return await task

    result = asyncio.run(run("SELECT 'cancel'"))
    assert failure(result.error) == "instrument: cancelled"
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run("SELECT 'wait'"))


@pytest.mark.parametrize("seconds", [1e10, 1e300])
def test_a_limit_beyond_any_clock_is_none(ask: Ask, seconds: float) -> None:
    """No lock can wait for so long, and the answer comes before."""

    def judge(_: JudgeRequest) -> float:
        time.sleep(0.05)
        return 1.0

    result = ask(
        "SELECT a FROM t", "SELECT b FROM t", judge=judge_of(judge), timeout_seconds=seconds
    )
    assert (result.score, result.error) == (1.0, None)


@pytest.mark.parametrize(
    "peek",
    [lambda: None, lambda _: 1 / 0, lambda _: 3],
    ids=["other signature", "raises", "no verdict"],
)
def test_a_judge_with_a_peek_of_its_own_is_asked(ask: Ask, peek: Any) -> None:
    """Whatever that attribute is to the judge, it is no verdict."""

    class Peeking:
        identity = "peeking"

        def judge(self, request: JudgeRequest, /) -> Verdict:
            del request
            return Verdict(score=0.5)

        async def ajudge(self, request: JudgeRequest, /) -> Verdict:
            return self.judge(request)

    judge: Any = Peeking()
    judge.peek = peek
    assert ask("SELECT a FROM t", "SELECT b FROM t", judge=judge).score == 0.5


def test_without_a_thread_to_be_had_there_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's limit of threads is no reason to lose a run."""

    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        result = query_correctness("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(never))
    assert present(result.error).message == "can't start new thread"


def test_after_the_limit_no_other_accepted_query_is_asked_about() -> None:
    """Nobody would read the answer."""
    release, done = threading.Event(), threading.Event()
    asked: list[str] = []

    class Slow:
        identity = "slow"

        def judge(self, request: JudgeRequest, /) -> Verdict:
            asked.append(request.expected)
            release.wait(120)
            return Verdict(score=0.0)

        async def ajudge(self, request: JudgeRequest, /) -> Verdict:
            raise NotImplementedError

    n_before = threading.active_count()
    accepted = ["SELECT b FROM t", "SELECT c FROM t"]
    result = query_correctness("SELECT a FROM t", accepted, judge=Slow(), timeout_seconds=0.05)
    assert result.error is not None
    release.set()
    while threading.active_count() > n_before:
        done.wait(0.005)
    assert asked == accepted[:1]


def test_interrupts_pass(ask: Ask) -> None:
    """Only an `Exception` becomes a result."""

    def judge(_: JudgeRequest) -> Verdict:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(judge))


def test_a_judge_that_stops_an_iteration_is_a_failure_at_once(ask: Ask) -> None:
    """No future of an event loop can carry a `StopIteration`; the limit is no answer to it."""
    judge = judge_of(lambda _: next(iter(())))
    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge)
    assert present(result.error).kind == "judge_failure"


def test_async_judges_serve_both_forms(ask: Ask) -> None:
    """A coroutine function runs in the caller's loop, or in one of its own."""

    async def judge(request: JudgeRequest) -> bool:
        await asyncio.sleep(0)
        return "t" in request.generated

    result = ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(judge))
    assert (result.score, result.error) == (1.0, None)


def test_the_callers_context_reaches_the_judge(ask: Ask) -> None:
    """Tracing libraries keep their state in context variables."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="lost")
    seen: list[str] = []

    def remember(_: JudgeRequest) -> float:
        seen.append(variable.get())
        return 1.0

    token = variable.set("kept")
    ask("SELECT a FROM t", "SELECT b FROM t", judge=judge_of(remember))
    variable.reset(token)
    assert seen == ["kept"]


@refusals("""
    generated=None -> TypeError: generated must be a string ('' scores 0: a model without an answer), got None
    generated=b"x" -> TypeError: generated must be a string, got b'x'
    expected="" -> InputError: expected must be a non-empty string, got ''
    expected=[] -> InputError: expected must be a non-empty sequence of accepted queries, got ()
    expected=["y", 3] -> TypeError: expected[1] must be a non-empty string, got 3
    expected=None -> TypeError: expected must be a non-empty sequence of accepted queries, got None
    evidence="none" -> InputError: evidence must be one of 'auto', 'judge', got 'none'
    timeout_seconds=0 -> InputError: timeout_seconds must be a finite number > 0, got 0
    judge="me" -> TypeError: judge must be a Judge (see judge_from_function), got 'me'
    question=1 -> TypeError: question must be a string, got 1
    schema=1 -> TypeError: schema must be text, a list of texts, or a mapping ...
    schema={"shop": {"users": {"id": "int"}}} -> TypeError: schema must be the tables of one database,
      table -> column -> type; of several pick one: schema=schemas['shop'], got {'shop': {'users': {'id': 'int'}}}
""")
def test_errors(ask: Ask, wrong: Refusal) -> None:
    """The caller's own mistakes raise."""
    wrong.by(ask, generated="x", expected="y")


def test_an_unknown_dialect_is_the_callers_mistake(ask: Ask) -> None:
    """Near names are listed."""
    with pytest.raises(InputError, match=r"^dialect must be .*postgres.*, got 'postgers'$"):
        ask("SELECT 1", "SELECT 1", dialect="postgers")


def test_making_judges_and_verdicts() -> None:
    """What cannot work is refused at once."""
    with pytest.raises(InputError, match=r"^identity must be a non-empty string, got ''$"):
        judge_from_function(never, identity="")
    with pytest.raises(InputError, match=r"^score must be 1\.0, 0\.5 or 0\.0, got 0\.7$"):
        Verdict(score=0.7)
    with pytest.raises(TypeError, match=r"^reasoning must be a string, got None$"):
        Verdict(score=1.0, reasoning=None)  # type: ignore[arg-type]
    assert isinstance(judge_of(never), Judge)
