"""SQL equivalence by execution: refutations that hold, and hostile queries that do nothing."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import itertools
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import present
from refusals import Refusal, refusals
from sqlglot import exp, parse_one

from benchmarks.generators.stored_pairs import pairs
from scorekit import (
    Counterexample,
    InputError,
    SqlCase,
    SqlEquivalence,
    column_accuracy,
    query_audit,
    query_correctness,
    score_sql_case,
    sql_equivalence,
)
from scorekit._sql.prove.clauses import differing
from scorekit._sql.prove.search import Unproved
from scorekit.records import UNDECIDED

DATA = json.loads((Path(__file__).parent / "data" / "sql_pairs.json").read_text())
SCHEMA: dict[str, dict[str, str]] = DATA["schema"]
PAIRS = [(pair["a"], pair["b"], pair["verdict"] == "equal") for pair in DATA["pairs"]]


def decide(a: str, b: str, **options: Any) -> SqlEquivalence:
    """Decide on the schema of the reference pairs, in SQLite unless another dialect is given."""
    return sql_equivalence(a, b, **{"schema": SCHEMA, "dialect": "sqlite", **options})


# The labelled pairs.


@pytest.mark.parametrize(("a", "b", "equal"), PAIRS)
def test_the_labelled_pairs(a: str, b: str, *, equal: bool) -> None:
    """All that differ are refuted, none that are equal; oracle: SQLite on what is shown."""
    result = decide(a, b)
    assert (result.verdict == "refuted") is not equal
    assert (result.counterexample is not None) is not equal
    assert (result.equivalent is False) is not equal
    if result.counterexample is not None:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(result.counterexample.to_sql())
            first, second = (sorted(connection.execute(query), key=repr) for query in (a, b))
        assert first != second


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb", "snowflake", "tsql"])
def test_equal_pairs_are_refuted_in_no_dialect(dialect: str) -> None:
    """What the label calls equal is so everywhere."""
    for a, b, equal in PAIRS:
        assert not equal or decide(a, b, dialect=dialect).verdict != "refuted"


@pytest.mark.parametrize("dialect", ["tsql", "snowflake", "bigquery", "oracle"])
def test_a_database_that_is_not_described_is_assumed_to_take_both(dialect: str) -> None:
    """By name, in a proof and in a refutation; the same words need no assumption."""
    noted = f"{dialect} takes both queries: known only of SQLite, DuckDB, PostgreSQL, MySQL"
    schema = {"t": {"x": "int"}}
    for other in ("SELECT x FROM t WHERE 1 < x", "SELECT x FROM t WHERE x >= 1"):
        found = sql_equivalence(
            other, "SELECT x FROM t WHERE x > 1", schema=schema, dialect=dialect
        )
        assert noted in found.assumptions
    same = sql_equivalence("SELECT x FROM t", "SELECT X FROM t", schema=schema, dialect=dialect)
    assert (same.verdict, same.assumptions) == ("proved", ())


# What equal means.


def test_order_counts_where_both_ask_for_it_and_ties_have_none() -> None:
    """A tie may come out either way, so only rows that a key tells apart can be out of order."""
    by_age = "SELECT id, age FROM users ORDER BY age"
    refuted = decide(by_age, "SELECT id, age FROM users ORDER BY age DESC")
    assert refuted.counterexample is not None
    assert refuted.counterexample.order_only
    assert "in this order" in refuted.counterexample.to_text()
    assert refuted.reason.startswith("the order of results differs on a database of 2 rows")
    assert decide(by_age, "SELECT id, age FROM users").verdict != "refuted"
    assert decide(by_age, "SELECT id, age FROM users ORDER BY age, id").verdict == "unknown"


def test_order_counts_in_whatever_order_the_columns_are() -> None:
    """Rows that differ by an exchange of their cells have no order of their own then."""
    free = {"column_order": "ignored"}
    a = "SELECT age, id FROM users WHERE age < 3 OR age >= 3 ORDER BY age, id"
    b = "SELECT id, age FROM users WHERE age IS NOT NULL ORDER BY 2, 1"
    assert decide(a, b).verdict == "refuted"
    assert decide(a, b, **free).verdict == "proved"
    refuted = decide(a, b.replace("2, 1", "2 DESC, 1"), **free)
    assert refuted.reason == "the order of results differs on a database of 2 rows"
    unordered = decide(a, b.replace("2, 1", "2 DESC, 1"), row_order="ignored", **free)
    assert unordered.verdict == "proved"


# Keys and schemas.


def test_keys_and_not_null_are_respected() -> None:
    """What holds only with a key or NOT NULL is refuted without it, and not with it."""
    distinct = "SELECT DISTINCT id FROM users", "SELECT id FROM users"
    present = "SELECT id FROM users WHERE age IS NOT NULL", "SELECT id FROM users"
    assert decide(*distinct).assumptions == ("no key of users is known",)
    assert decide(*distinct, keys={"USERS": "ID"}).verdict != "refuted"
    assert decide(*distinct, keys={"users": ("id", "age")}).verdict == "refuted"
    assert decide(*distinct, keys={"users": [("id",), ("name", "city")]}).verdict != "refuted"
    assert decide(*present).verdict == "refuted"
    for schema in (
        {"users": {"id": "int", "age": "int not null"}},
        "CREATE TABLE users (id int, age int NOT NULL)",
    ):
        assert sql_equivalence(*present, schema=schema, dialect="sqlite").verdict != "refuted"
    result = decide("SELECT 1 FROM users", "SELECT 2 FROM users", keys={"users": ("id", "age")})
    assert result.assumptions == ("users has the key (id, age)",)


def test_a_schema_is_inferred_where_that_is_clear() -> None:
    """Columns go to the table that they can only belong to; a star or a doubt needs a schema."""
    clear = "SELECT u.a FROM u JOIN v ON u.id = v.id WHERE v.b > 3", "SELECT u.a FROM u"
    result = sql_equivalence(*clear)
    assert result.verdict == "refuted"
    assert result.assumptions[0] == "the tables have only the columns that the queries use"
    assert {t.table: t.columns for t in present(result.counterexample).tables} == {
        "u": ("a", "id"),
        "v": ("id", "b"),
    }
    reasons = [
        ("SELECT a FROM u JOIN v ON u.id = v.id", "only a schema says which table has the column 'a'"),
        ("SELECT * FROM u", "a star stands for columns that only a schema names"),
        ("SELECT a FROM u WHERE a = 'x' AND a + 1 > 3", "a column is used as values of two kinds"),
        ("SELECT a FROM u WHERE (b) OR b = 'x'", "a column is used as values of two kinds"),
    ]  # fmt: skip
    for query, reason in reasons:
        assert reason in sql_equivalence(query, "SELECT 1 FROM u").reason


def test_a_column_that_is_a_condition_holds_truth_values() -> None:
    """A text there is an error in some databases, and would convince nobody."""
    for condition in ("active", "NOT (active)", "active AND id > 0"):
        result = sql_equivalence("SELECT id FROM u", f"SELECT id FROM u WHERE {condition}")
        (table,) = present(result.counterexample).tables
        held = {row[table.columns.index("active")] for row in table.rows}
        assert held <= {"0", "1", "NULL"}


TABLE = "CREATE TABLE t (a text, b int)"
NO_TABLE = "schema must be text that defines a table: CREATE TABLE statements, or JSON, {table: "


def test_every_form_of_a_schema_says_the_same() -> None:
    """Statements in one text or several, mappings, and what JSON makes of these."""
    tables = {"t": {"a": "text", "b": "int"}, "u": {"t_id": "int primary key"}}
    other = "CREATE TABLE u (t_id int primary key)"
    pair = "SELECT a FROM t, u WHERE t_id = b", "SELECT a FROM t JOIN u ON b = t_id WHERE b > 1"
    wanted = sql_equivalence(*pair, schema=tables)
    assert wanted.verdict == "refuted"
    for schema in (
        f"{TABLE}; {other}",
        [TABLE, other],
        (f"{TABLE};", f"-- of users\n{other}"),
        json.dumps(tables),
        f"\n {json.dumps(tables, indent=2)}\n",
    ):
        assert sql_equivalence(*pair, schema=schema) == wanted
        case = SqlCase(case_id="1", generated=pair[0], expected=pair[1], schema=schema)
        assert present(score_sql_case(case).query_correctness).equivalence == wanted


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("t: a, b", NO_TABLE),
        ("", NO_TABLE),
        ("CREATE TABEL t (a int)", NO_TABLE),
        ("-- CREATE TABLE t (a int)", NO_TABLE),
        ('{"t": {"a": "int"}', NO_TABLE),
        ('["CREATE TABLE t (a int)"]', NO_TABLE),
        ("{" * 100_000, NO_TABLE),
        ('{"a":' * 100_000, NO_TABLE),
        (["", " "], NO_TABLE),
        ('{"t": ["a", "b"]}', "schema['t'] must be a non-empty mapping from column to type, got"),
        ('{"t": {"a": "int", "a": "text"}}', "schema must be JSON in which no name comes twice"),
        ([], "schema must be text, a list of texts, or a mapping from table to column to type"),
        ([TABLE, 1], "schema must be text, a list of texts, or a mapping from table to column to"),
    ],
)
def test_what_defines_no_table_is_refused(schema: Any, message: str) -> None:
    """At every door: all that follows would be as if no schema were given."""
    pair = "SELECT a FROM t WHERE b = 1", "SELECT a FROM t"
    for call in (
        lambda: sql_equivalence(*pair, schema=schema),
        lambda: query_correctness(*pair, schema=schema),
        lambda: query_correctness(*pair, schema=schema, evidence="judge"),
        lambda: query_audit(pair[0], schema=schema),
        lambda: column_accuracy(*pair, schema=schema),
        lambda: SqlCase(case_id="1", generated=pair[0], schema=schema),
    ):
        with pytest.raises((InputError, TypeError), match=f"^{re.escape(message)}"):
            call()


def test_qualified_names_find_their_tables() -> None:
    """A schema may name tables with or without what queries qualify them by."""
    pair = "SELECT public.users.id FROM public.users", "SELECT users.id FROM users WHERE age > 1"
    for schema in (SCHEMA, {"public.users": SCHEMA["users"]}, None):
        assert sql_equivalence(*pair, schema=schema, dialect="postgres").verdict == "refuted"
    both = {"a.users": SCHEMA["users"], "b.users": SCHEMA["users"]}
    result = sql_equivalence("SELECT id FROM a.users", "SELECT id FROM b.users", schema=both)
    assert result.reason == "tables that differ in their qualifiers only"
    result = sql_equivalence("SELECT id FROM users", "SELECT 1", schema=both)
    assert result.reason == "the name 'users' fits several tables"


@pytest.mark.parametrize("kind", ["json", "", "geometry(point, 4326)", "date", "boolean", "real"])
def test_any_type_is_understood(kind: str) -> None:
    """A type that SQLite does not know holds values all the same."""
    pair = "SELECT a FROM t WHERE b IS NULL", "SELECT a FROM t"
    schema = {"t": {"a": "int", "b": kind}}
    assert sql_equivalence(*pair, schema=schema, dialect="sqlite").verdict == "refuted"


# Hostile queries.

LONG = "a" * 900
FOREVER = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT {} FROM r"
TEXTS = f"WITH RECURSIVE r(n) AS (SELECT '{LONG}' UNION ALL SELECT n FROM r) SELECT {{}} FROM r"
HOSTILE = {
    "ATTACH DATABASE 'x.db' AS x": "cannot be read",
    "VACUUM INTO 'x.db'": "cannot be read",
    "PRAGMA writable_schema = 1": "not one query",
    "DELETE FROM users": "not a query that only reads",
    "DROP TABLE users": "not a query that only reads",
    "INSERT INTO users SELECT * FROM users": "not a query that only reads",
    "CREATE TABLE x AS SELECT 1": "not a query that only reads",
    "SELECT 1; SELECT 2": "not one query",
    "EXPLAIN SELECT name FROM users": "asks for a plan, not for rows",
    "SELECT load_extension('x.so')": "not authorized",
    "SELECT writefile('x', 'y')": "SQLite has no function WRITEFILE",
    "SELECT printf('%.*c', 900000000, 'x')": "not authorized",
    "SELECT format('%.*c', 900000000, 'x')": "not authorized",
    "SELECT zeroblob(900000000)": "not authorized",
    "SELECT length(randomblob(900000000))": "not authorized",
    "SELECT hex(name) FROM users": "not authorized",
    "SELECT sqlite_version()": "not authorized",
    "SELECT name REGEXP '(a+)+$' FROM users": "SQLite may not have REGEXP",
    "SELECT * FROM sqlite_master": "no table 'sqlite_master'",
    "SELECT * FROM pragma_table_info('users')": "a table function",
    "SELECT * FROM generate_series(1, 1000000000)": "SQLite has no function GENERATE_SERIES",
    f"SELECT replace(replace('{LONG}', 'a', '{LONG}'), 'a', '{LONG}')": "too big",
    FOREVER.format("n"): "more than 1000000 steps",
    FOREVER.format("COUNT(*)"): "more than 1000000 steps",
    FOREVER.format("SUM(r.n)") + ", r AS s": "more than 1000000 steps",
    TEXTS.format("n || n"): "too big",
    TEXTS.format("MAX(n)") + " ORDER BY n": "steps",
    TEXTS.format("COUNT(*)") + f" WHERE n LIKE '{'%a' * 40}b'": "more than 1000000 steps",
    TEXTS.format("COUNT(*)") + f" WHERE instr(n, '{'a' * 450}b')": "more than 1000000 steps",
    f"SELECT COUNT(*) FROM {', '.join(f'users u{i}' for i in range(70))}": "too many to try",
    "WITH c0 AS (SELECT 1 AS x), " + ", ".join(f"c{i} AS (SELECT a.x FROM c{i - 1} a, c{i - 1} b)" for i in range(1, 26)) + " SELECT * FROM c25": "too large",
    f"SELECT 1 WHERE 1 IN ({', '.join(map(str, range(9000)))})": "too many to try out",
    f"SELECT {', '.join('1' * 2500)}": "too many to try out",
    "SELECT scorekit_only(id, 1) FROM users": "SQLite has no function SCOREKIT_ONLY",
    "SELECT date('no' || 'w')": "the time of day is not determined",
    "SELECT abs(-9223372036854775808)": "integer overflow",
    "SELECT '\ud800'": "cannot run",
    "SELECT '\x00'": "cannot run",
    "SELECT ?": "a parameter has no value",
    "SELECT (1": "cannot be read: parse",
    "": "cannot be read: empty",
    "Sorry, I cannot help with that.": "cannot be read",
    "SELECT nope FROM users": "no table has a column nope",
    "SELECT * FROM nope": "the schema has no table 'nope'",
    "SELECT foo(1)": "SQLite has no function FOO",
    "SELECT id FROM users u JOIN users v ON 1": "several tables have a column id",
}  # fmt: skip


def test_hostile_queries_are_unknown_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ends by a count of steps or a rule, with the reason, and writes no file."""
    monkeypatch.chdir(tmp_path)
    for i, (query, reason) in enumerate(HOSTILE.items()):
        result = decide(*((query, "SELECT 7") if i % 2 else ("SELECT 7", query)))
        assert (result.verdict, reason in result.reason) == ("unknown", True), (
            query,
            result.reason,
        )
    assert not list(tmp_path.iterdir())


_DECIDE = """
import json, sys
from scorekit import sql_equivalence
a, b, schema = json.load(sys.stdin)
for seed in range(2):
    print(sql_equivalence(a, b, schema=schema, dialect="sqlite", seed=seed).to_dict())
"""


_KEYED = {"t": {"id": "int primary key", "a": "int"}, "u": {"t_id": "int", "b": "int"}}
_BY_UNION = (
    "SELECT t.a, u.b FROM t LEFT JOIN u ON t.id = u.t_id UNION ALL SELECT NULL, b FROM u "
    "WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.id = u.t_id)"
)


@pytest.mark.parametrize(("a", "b", "schema", "verdict"), [
    (
        "SELECT name, city FROM users JOIN orders ON users.id = uid WHERE age > 1 OR total = 5",
        "SELECT name, city FROM users JOIN orders ON users.id = uid WHERE age > 2 OR total = 5",
        SCHEMA,
        "refuted",
    ),
    ("SELECT t.a, u.b FROM t FULL JOIN u ON t.id = u.t_id", _BY_UNION, _KEYED, "proved"),
])  # fmt: skip
def test_the_answer_is_always_the_same(a: str, b: str, schema: Any, verdict: str) -> None:
    """Rows depend on the seed alone, and premises on nothing, not on how sets are ordered."""
    noted = [
        subprocess.run(
            [sys.executable, "-c", _DECIDE],
            input=json.dumps([a, b, schema]),
            env={**os.environ, "PYTHONHASHSEED": order},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for order in ("1", "2")
    ]
    assert noted[0] == noted[1]
    assert f"'verdict': '{verdict}'" in noted[0]
    assert verdict == "proved" or len(set(noted[0].splitlines())) > 1


def test_a_counterexample_is_small_and_shows_only_what_is_used() -> None:
    """It goes into a prompt: no row and no column too many."""
    result = decide(
        "SELECT name FROM users WHERE age > 3", "SELECT name FROM users WHERE age >= 3"
    )
    assert result.counterexample is not None
    (users,) = result.counterexample.tables
    assert (users.columns, len(users.rows)) == (("name", "age"), 1)
    assert users.rows[0][1] == "3"
    lines = result.counterexample.to_text().splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "users(name, age)",
        "The first query returns",
        "The second query returns",
    ]
    many = decide("SELECT id FROM users", "SELECT id FROM users GROUP BY id HAVING COUNT(*) > 20")
    assert many.counterexample is not None
    wide = Counterexample(tables=(), rows_of_a=(("1",),) * 15, rows_of_b=())
    assert wide.to_text().splitlines()[0].endswith("(1), and 3 more")


KEY = "a column, a tuple of columns, or a list of such tuples"


@refusals("""
    a=1 -> TypeError: a must be a string, got 1
    b=None -> TypeError: b must be a string, got None
    n_databases=0 -> InputError: n_databases must be an integer in [1, 10000], got 0
    seed=-1 -> InputError: seed must be an integer >= 0, got -1
    semantics="list" -> InputError: semantics must be one of 'bag', 'set', got 'list'
    row_order="x" -> InputError: row_order must be one of 'auto', 'expected', 'ignored', got 'x'
    column_order=True -> TypeError: column_order must be one of 'significant', 'ignored', got True
    tolerance=-1 -> InputError: tolerance must be a finite number >= 0, got -1
    schema=5 -> TypeError: schema must be text, a list of texts, or a mapping ...
    schema={"t": 5} -> TypeError: schema['t'] must be a non-empty mapping from column to type, got 5
    schema={"t": {}} -> InputError: schema['t'] must be a non-empty mapping from column to type, got {}
    schema={"t": {"a": 5}} -> TypeError: schema['t']['a'] must be a string, got 5
    schema={"t": {"a": ""}, "T": {"a": ""}} -> InputError: schema must be a mapping whose tables differ in more than case, got 'T'
    schema={"t": {"a": "", "A": ""}} -> InputError: schema['t'] must be a mapping whose columns differ in more than case, got 'A'
    keys=[] -> TypeError: keys must be a mapping from table to key, got []
    keys={"x": "a"} -> InputError: keys must be a mapping from tables of the schema, got 'x'
    keys={"t": "b"} -> InputError: keys['t'] must be made of columns of t, got 'b'
    keys={"t": ["a"]} -> TypeError: keys['t'] must be {KEY}, got ['a']
    keys={"t": ()} -> InputError: keys['t'] must be {KEY}, got ()
    keys={"t": [()]} -> InputError: keys['t'] must be {KEY}, got [()]
    keys={"t": 5} -> TypeError: keys['t'] must be {KEY}, got 5
    dialect="klingon" -> InputError: dialect must be a dialect that sqlglot knows (athena, ...
    locate="yes" -> TypeError: locate must be True or False, got 'yes'
""")
def test_the_callers_mistakes(wrong: Refusal) -> None:
    """Each names the argument, its domain and what it got."""
    wrong.by(sql_equivalence, a="SELECT 1", b="SELECT 2", schema={"t": {"a": "int"}})


# What today's models write.


def test_a_text_that_sqlite_cannot_take_says_why() -> None:
    """Nothing is raised for any text."""
    for text, reason in (
        (f"SELECT a FROM t WHERE a = '{'x' * 1200}'", "string or blob too big"),
        ("SELECT a\ud800b FROM t WHERE a\ud800b = 3", "SQLite cannot make the tables"),
    ):
        assert reason in sql_equivalence(text, "SELECT 1").reason


# Where a query is wrong.


@pytest.mark.parametrize(
    ("clauses", "a", "b"), pairs("clauses in which a query is wrong", "differs")
)
def test_the_clauses_in_which_a_query_is_wrong(clauses: str, a: str, b: str) -> None:
    """The fewest that put it right; for a refuted pair, only when asked, kept in JSON."""
    found = decide(a, b, dialect="duckdb" if "QUALIFY" in b else "sqlite", locate=True)
    assert (", ".join(found.differs_in) or "nothing") == clauses
    assert decide(a, b).differs_in == ()
    assert SqlEquivalence.from_json(found.to_json()) == found
    line = str(found).partition("\n")[0]
    assert line.endswith(f"differs in {clauses}") is bool(found.differs_in)


@pytest.mark.parametrize(("exhausted", "n_asked"), [(True, 1), (False, 126)])
def test_at_most_so_many_proofs_are_tried(*, exhausted: bool, n_asked: int) -> None:
    """Of queries that differ in every clause; after one that was given up none is."""
    query = "SELECT a FROM t WHERE b GROUP BY c HAVING d ORDER BY e LIMIT 1"
    other = "SELECT f FROM u WHERE g GROUP BY h HAVING i ORDER BY j LIMIT 2"
    asked: list[exp.Expr] = []

    def prove(tree: exp.Expr) -> Unproved:
        asked.append(tree)
        return Unproved(exhausted=exhausted)

    found = differing(parse_one(query), parse_one(other), prove)
    assert len(asked) == n_asked
    assert found == (() if exhausted else tuple(_VARIANTS))
    texts = {tree.sql().replace('"t 1"', "t").replace('"u 1"', "u") for tree in asked}
    assert texts >= {"SELECT f FROM t AS t WHERE b GROUP BY c HAVING d ORDER BY e LIMIT 1"}
    assert len(texts) == n_asked


_VARIANTS = {
    "SELECT": ["city, COUNT(*)", "city, MAX(age)"],
    "FROM": ["users", "(SELECT * FROM users WHERE id > 0) AS d", "users AS z"],
    "WHERE": ["age > 1", "1 < age", "age > 2"],
    "GROUP BY": ["city", "city, name"],
    "HAVING": ["COUNT(*) > 1", "COUNT(*) >= 2", "COUNT(*) > 2"],
    "ORDER BY": ["city, COUNT(*), MAX(age)", "city DESC, COUNT(*), MAX(age)"],
    "LIMIT": ["3", "4"],
}
_WRITTEN = st.fixed_dictionaries({name: st.sampled_from(v) for name, v in _VARIANTS.items()})


def _text(query: dict[str, str]) -> str:
    return " ".join(f"{clause} {text}" for clause, text in query.items())


@settings(max_examples=12)
@given(_WRITTEN, _WRITTEN)
def test_no_smaller_set_of_clauses_puts_a_query_right(
    a: dict[str, str], b: dict[str, str]
) -> None:
    """Oracle: the texts, put right clause by clause, in every way."""
    found = decide(_text(a), _text(b), locate=True)
    if found.verdict != "refuted":
        assert found.differs_in == ()
        return
    ways = (
        chosen for n in range(1, 8) for chosen in itertools.combinations(_VARIANTS, n)
        if decide(_text(a | {c: b[c] for c in chosen}), _text(b), n_databases=1).equivalent
    )  # fmt: skip
    assert found.differs_in == next(ways)


def test_a_search_ends_in_time() -> None:
    """A result that the clock cut says so; a limit of nearly nothing leaves what reading finds."""
    definitions = ["c0 AS (SELECT x, y FROM t WHERE x > 0)"]
    definitions += [
        f"c{i} AS (SELECT x, COUNT(*) AS n, SUM(y) AS y FROM t WHERE y IN (SELECT x FROM c{i - 1}) GROUP BY x)"
        for i in range(1, 12)
    ]
    query = f"WITH {', '.join(definitions)} SELECT * FROM c11"
    pair = query, query.replace("COUNT(*)", "COUNT(y)")
    schema = {"t": {"x": "int", "y": "int"}}
    started = time.thread_time()
    found = sql_equivalence(*pair, schema=schema, dialect="postgres", timeout_seconds=0.01)
    assert time.thread_time() - started < 10  # seconds, which bound nothing but a hang
    assert found.verdict == "unknown"
    assert found.timed_out
    assert found.reason.endswith("; the clock ended it after 0.01 s")
    assert not sql_equivalence("SELECT 1", "SELECT 2").timed_out


def test_a_long_sum_is_no_deep_one() -> None:
    """A sum of two hundred terms is decided as a short one is."""
    total = " + ".join(f"x * {i}" for i in range(200))
    for dialect in ("sqlite", "postgres", None):
        found = sql_equivalence(
            f"SELECT {total} FROM t",
            f"SELECT x * {sum(range(200))} FROM t",
            schema={"t": {"x": "int not null"}},
            dialect=dialect,
            timeout_seconds=60.0,
        )
        assert found.verdict == "proved"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", None])
def test_what_takes_long_to_read_is_given_up(dialect: str | None) -> None:
    """Thirty definitions, each of which names two others, are not read in a hundredth of a second."""
    parts = ["c0 AS (SELECT id, a FROM t)", "c1 AS (SELECT id, a FROM c0)"]
    parts += [
        f"c{i} AS (SELECT x.id, y.a FROM c{i - 1} x JOIN c{i - 2} y ON x.id = y.id)"
        for i in range(2, 12)
    ]
    query = f"WITH {', '.join(parts)} SELECT * FROM c11"
    found = sql_equivalence(
        query,
        f"{query} WHERE a > 0",
        schema={"t": {"id": "int primary key", "a": "int"}},
        dialect=dialect,
        timeout_seconds=1e-6,
    )
    assert (found.verdict, found.timed_out) == ("unknown", True)


LATEST = """
    CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(9));
    CREATE TABLE o (id INT PRIMARY KEY, cid INT NOT NULL REFERENCES c (id), day DATE NOT NULL, total INT NOT NULL);
"""


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", None])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, (SELECT o.total FROM o WHERE o.cid = c.id ORDER BY o.day DESC{} LIMIT 1) FROM c",
        "SELECT id FROM c WHERE (SELECT o.total FROM o WHERE o.cid = c.id ORDER BY o.day{} LIMIT 1) > 5",
        "SELECT id FROM c WHERE id = (SELECT o.cid FROM o ORDER BY o.day{} LIMIT 1)",
        "SELECT x.total FROM (SELECT o.id, o.total FROM o ORDER BY o.day{} LIMIT 3) x JOIN c ON c.id = x.id",
        "SELECT id FROM c WHERE id IN (SELECT p.cid FROM o p WHERE p.total = (SELECT o.total FROM o WHERE o.cid = p.cid ORDER BY o.day{} LIMIT 1))",
    ],
)
def test_what_allows_less_at_a_limit_inside_is_right(query: str, dialect: str | None) -> None:
    """An order that leaves fewer ties is included at any depth; the other way round is unknown."""
    wide, narrow = query.format(""), query.format(", o.id DESC")
    options: Any = {"schema": LATEST, "dialect": dialect}
    assert sql_equivalence(narrow, wide, **options).includes == "b"
    assert sql_equivalence(wide, narrow, **options).includes == "a"
    assert query_correctness(narrow, wide, **options).score == 1.0
    error = query_correctness(wide, narrow, **options).error
    assert error is not None
    assert error.kind == UNDECIDED
    other = narrow.replace("o.id DESC", "o.total")
    assert sql_equivalence(narrow, other, **options).includes is None
