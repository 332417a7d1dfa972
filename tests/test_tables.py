"""Tables of SQL: reference cases, scope rules, matching, hostile text, every documented error."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from outcomes import failure, present
from refusals import Refusal, refusals
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from sqlglot.dialects.dialect import Dialect

from scorekit.cases import SqlCase
from scorekit.columns import column_accuracy
from scorekit.correctness import query_correctness
from scorekit.equivalence import sql_equivalence
from scorekit.errors import SqlError
from scorekit.tables import extract_tables, table_accuracies_from_columns, table_accuracy

REFERENCE = json.loads((Path(__file__).parent / "data" / "sql_tables.json").read_text("utf-8"))


@pytest.mark.parametrize("case", REFERENCE, ids=range(len(REFERENCE)))
def test_reference_cases(case: dict[str, Any]) -> None:
    """Hard cases whose tables were worked out by people."""
    if case["tables"] == "error":
        with pytest.raises(SqlError):
            extract_tables(case["sql"], dialect=case["dialect"])
    else:
        found = extract_tables(case["sql"], dialect=case["dialect"])
        assert found == tuple(sorted(case["tables"]))


@pytest.mark.parametrize(("sql", "dialect", "tables"), [
    ("REPLACE INTO a SELECT * FROM b", None, "a b"),
    ("```sql\nSELECT * FROM a\n```\nand\n```python\nx\n```\n```\nSELECT * FROM b", None, "a b"),
    ("SET x = 1; SELECT * FROM a; COMMIT", None, "a"),
    ("SET x = 1", None, ""),
    ("CREATE TEMP TABLE t AS SELECT * FROM a; SELECT * FROM t JOIN b ON 1 = 1", None, "a b"),
    ("CREATE VIEW v AS SELECT * FROM a; SELECT * FROM v", None, "a"),
    ("CREATE TABLE t (x int); INSERT INTO t SELECT * FROM a", None, "a t"),
    ("SELECT * INTO #t FROM a; SELECT * FROM #t", None, "a"),
    ("SELECT * INTO t FROM a", None, "a t"),
    ("DROP TABLE a, b", None, "a b"),
    ("DROP INDEX i", None, ""),
    ("UPDATE x SET v = 1 FROM a AS x JOIN b ON b.i = x.i", None, "a b"),
    ("UPDATE a SET v = 1", None, "a"),
    ("DELETE x FROM a AS x JOIN b ON b.i = x.i", None, "a b"),
    ("DELETE FROM a AS x USING b WHERE b.i = x.i", None, "a b"),
    ("UPDATE s.a SET v = 1", None, "s.a"),
    ("DELETE FROM a WHERE x IN (SELECT x FROM b)", None, "a b"),
    ("MERGE INTO a USING b ON a.i = b.i WHEN MATCHED THEN UPDATE SET a.v = b.v", None, "a b"),
    ("WITH c AS (SELECT 1), d AS (SELECT * FROM c JOIN a ON 1 = 1) SELECT * FROM d", None, "a"),
    ("WITH c AS (SELECT * FROM c) SELECT * FROM c", None, "c"),
    ("WITH RECURSIVE c AS (SELECT 1 UNION ALL SELECT * FROM c) SELECT * FROM c", None, ""),
    ("SELECT * FROM s.a JOIN c.s.b ON 1 = 1", None, "c.s.b s.a"),
    ("SELECT * FROM dual", None, ""),
    ("SELECT 1", None, ""),
    # what is a table in one dialect is a file, a model or a value in another
    ("SELECT * FROM a WHERE x IN b", "sqlite", "a b"),
    ("SELECT * FROM a WHERE x IN (1, 2)", "sqlite", "a"),
    ("SELECT * FROM 'data/x.csv' JOIN a ON 1 = 1", "duckdb", "a"),
    ("SELECT * FROM parquet.`/x/y`", "spark", ""),
    ("SELECT * FROM `p-q.d.t`", "bigquery", "p-q.d.t"),
    ("SELECT * FROM ML.PREDICT(MODEL m, (SELECT * FROM a))", "bigquery", "a"),
    ("SELECT * FROM Dual", "postgres", "dual"),
    ("SELECT * FROM db..t JOIN . . u ON 1 = 1", "tsql", "db.dbo.t u"),
    ("SELECT * FROM db..t", "snowflake", "db.public.t"),
    ("WITH c AS (SELECT 1 UNION ALL SELECT * FROM c) SELECT * FROM c", "tsql", ""),
    ("WITH c AS (SELECT 1 UNION ALL SELECT * FROM c) SELECT * FROM c", "mysql", "c"),
    ("CREATE TEMP VIEW a AS SELECT * FROM a; SELECT * FROM a", "spark", "a"),
    # words that only one database has
    ("SELECT a FROM t # FROM x\nWHERE b = 1", "mysql", "t"),
    ("SELECT a, b INTO @a, @b FROM t", "mysql", "t"),
    ("SELECT a, (SELECT max(x) FROM u) INTO @a, @b FROM t; SELECT 1 FROM v", None, "t u v"),
    ("SELECT a FROM t WHERE b = 1 INTO @a", "mysql", "t"),
    ("INSERT INTO @t SELECT a FROM u", "tsql", "u"),
    ("ALTER TABLE a APPEND FROM b", "redshift", "a b"),
    ("ALTER TABLE a APPEND FROM b", None, "a b"),
    ("REFRESH TABLE t", "spark", "t"),
    ("REFRESH TABLE t", None, "t"),
    # flags that have the name of a WITH clause
    ("SELECT x IS JSON WITH UNIQUE KEYS FROM a", None, "a"),
    ("CREATE TABLE a (x INT) ROW FORMAT SERDE 's' WITH SERDEPROPERTIES ('k' = 'v')", "hive", "a"),
    ("CREATE TABLE a (x INT) WITH (SYSTEM_VERSIONING=ON)", "tsql", "a"),
    # queries in settings
    ("SET @x = (SELECT COUNT(*) FROM a); SELECT @x FROM b", None, "a b"),
    ("SET x = (SELECT COUNT(*) FROM a)", "bigquery", "a"),
    ("DECLARE @x INT = (SELECT COUNT(*) FROM a); SELECT @x", "tsql", "a"),
    ("DECLARE @x INT SET @x = (SELECT 1 FROM a) SELECT * FROM b", "tsql", "a b"),
    # bodies
    ("CREATE PROCEDURE p AS BEGIN SELECT * FROM a; UPDATE b SET x = 1 END", "tsql", "a b"),
    ("CREATE PROCEDURE p() BEGIN SELECT * FROM a; INSERT INTO b VALUES (1); END", "mysql", "a b"),
    ("CREATE PROCEDURE d.p(x INT64) BEGIN INSERT INTO b SELECT * FROM a; END", "bigquery", "a b"),
    ("CREATE FUNCTION f() RETURNS int AS 'SELECT 1 FROM a' LANGUAGE sql", "postgres", "a"),
    ("CREATE FUNCTION f() AS $$ BEGIN RETURN (SELECT 1 FROM a); END $$ LANGUAGE plpgsql", "postgres", "a"),
    ("DO $$ BEGIN INSERT INTO a VALUES (1); END $$", "postgres", "a"),
    ("BEGIN SELECT * FROM a; SELECT * FROM b; END", None, "a b"),
    ("BEGIN SELECT * FROM a; SELECT * FROM b END", "tsql", "a b"),
    ("BEGIN UPDATE a SET x = 1; COMMIT; END", "oracle", "a"),
    ("IF EXISTS (SELECT 1 FROM a) BEGIN DELETE FROM b END", "tsql", "a b"),
    ("WHILE EXISTS (SELECT 1 FROM a) DELETE FROM b", "tsql", "a b"),
    ("BEGIN TRY SELECT * FROM a END TRY BEGIN CATCH SELECT * FROM b END CATCH", "tsql", "a b"),
    # T-SQL
    ("SELECT * FROM a SELECT * FROM b", "tsql", "a b"),
    ("SELECT * FROM a UPDATE b SET x = 1", "tsql", "a b"),
    ("SELECT * FROM a\nGO\nSELECT * FROM b", "tsql", "a b"),
    ("SELECT * FROM dbo.a(NOLOCK) x JOIN b (nolock) ON 1 = 1", None, "b dbo.a"),
    ("SELECT * INTO #t FROM u; SELECT * FROM t", "tsql", "t u"),
    ("CREATE TABLE #t (x INT); INSERT INTO #t SELECT * FROM t", "tsql", "t"),
    # no tables, or two
    ("DESC FUNCTION f", "spark", ""),
    ("DESC", "duckdb", ""),
    ("INSERT ALL WHEN x > 1 THEN INTO a (x) VALUES (x) ELSE INTO b VALUES (x) SELECT x FROM c", "oracle", "a b c"),
    ("INSERT ALL INTO a VALUES (1) INTO b VALUES (2) SELECT * FROM dual", "oracle", "a b"),
    ("INSERT FIRST WHEN x > 1 THEN INTO a WHEN x > 0 THEN INTO b SELECT x FROM c", None, "a b c"),
    ("SHOW TABLES IN SCHEMA s; SELECT * FROM a", "snowflake", "a"),
    ("DESCRIBE TABLE a", "snowflake", "a"),
    ("ALTER TABLE a EXCHANGE PARTITION (ds='1') WITH TABLE b", "hive", "a b"),
    ("UNLOAD ('SELECT * FROM a WHERE x = ''y''') TO 's3://x'", "redshift", "a"),
    ("EXEC p; SELECT * FROM a", "tsql", "a"),
])  # fmt: skip
def test_scope_and_scripts(sql: str, dialect: str | None, tables: str) -> None:
    """Base tables only, over fences, scripts, DML, DDL, blocks, bodies and what is not looked into."""
    result = table_accuracy(sql, tables.split(), dialect=dialect and dialect.upper())
    assert (result.extracted, result.unread) == (tuple(tables.split()), ())


@pytest.mark.parametrize(
    ("alias", "dialect"),
    [("PostgreSQL", "postgres"), ("mssql", "tsql"), ("mariadb", "mysql"), ("sqlite3", "sqlite")],
)
def test_dialects_by_the_names_that_drivers_give_them(alias: str, dialect: str) -> None:
    """What a connection string calls a database is what sqlglot calls otherwise."""
    assert extract_tables("SELECT 1 FROM t", dialect=alias) == ("t",)
    assert SqlCase(case_id="a", generated="SELECT 1", dialect=alias).dialect == dialect
    sql = "SELECT 1 AS x", "SELECT 1 AS y"
    assert sql_equivalence(*sql, dialect=alias) == sql_equivalence(*sql, dialect=dialect)


@st.composite
def scripts(draw: st.DrawFn, ctes: frozenset[str] = frozenset(), depth: int = 0) -> Any:
    """Draw a query with the base tables that it was built from."""
    name = draw(st.sampled_from("abcd"))
    source, tables = name, set[str]() if name in ctes else {name}
    if depth < 3 and draw(st.booleans()):
        inner, inner_tables = draw(scripts(ctes, depth + 1))
        source, tables = f"{name} AS d JOIN ({inner}) AS b ON 1 = 1", tables | inner_tables
    query = f"SELECT d.x FROM {source}"
    if depth < 3 and draw(st.booleans()):
        inner, inner_tables = draw(scripts(ctes, depth + 1))
        query, tables = f"{query} WHERE x IN ({inner})", tables | inner_tables
    if depth < 3 and draw(st.booleans()):
        cte = draw(st.sampled_from("abcd"))
        definition, defined_from = draw(scripts(ctes, depth + 1))
        query, tables = draw(scripts(ctes | {cte}, depth + 1))
        body = f"SELECT d.x FROM ({query}) AS d" if query.startswith("WITH") else query
        query, tables = f"WITH {cte} AS ({definition}) {body}", tables | defined_from
    return query, tables


@given(scripts(), st.sampled_from([None, "postgres", "sqlite", "snowflake", "bigquery"]))
def test_tables_of_a_query_built_from_known_ones(script: Any, dialect: str | None) -> None:
    """Oracle: the construction, with names that are tables, aliases and CTEs all at once."""
    query, tables = script
    assert extract_tables(query, dialect=dialect) == tuple(sorted(tables))


def test_without_a_dialect_several_are_tried() -> None:
    """A model does not say which one it wrote."""
    assert extract_tables("SELECT TOP 5 [my col] FROM [dbo].[Users]") == ("dbo.users",)
    assert extract_tables("SELECT `x` FROM `users` LIMIT 1, 2") == ("users",)


@pytest.mark.parametrize(("generated", "expected", "score", "missing", "unexpected"), [
    ("SELECT * FROM Users", ["USERS"], 1.0, (), ()),
    ("SELECT * FROM users", ["public.users"], 1.0, (), ()),
    ("SELECT * FROM a.users", ["b.users"], 0.0, ("b.users",), ("a.users",)),
    ("SELECT * FROM a.users JOIN b.users ON 1 = 1", ["users"], 0.5, (), ("b.users",)),
    ("SELECT * FROM users JOIN b.users ON 1 = 1", ["a.users", "b.users"], 1.0, (), ()),
    ("SELECT 1", [], 1.0, (), ()),
    ("SELECT 1", ["a"], 0.0, ("a",), ()),
    ("SELECT * FROM a", [], 0.0, (), ("a",)),
    ("SELECT * FROM a", ["a", "A", "b"], 0.5, ("b",), ()),
])  # fmt: skip
def test_accuracy(
    generated: str,
    expected: list[str],
    score: float,
    missing: tuple[str, ...],
    unexpected: tuple[str, ...],
) -> None:
    """Jaccard similarity after matching by suffix, one to one."""
    result = table_accuracy(generated, expected)
    assert (result.score, result.missing) == (score, missing)
    assert len(result.unexpected) == len(unexpected)
    assert result.error is None


NAMES = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(".".join)


@given(st.lists(NAMES, unique=True, max_size=8), st.lists(NAMES, unique=True, max_size=8))
def test_matching_is_the_largest_one_to_one(extracted: list[str], expected: list[str]) -> None:
    """Oracle: scipy's maximum bipartite matching over all pairs of which one ends the other."""
    sql = "SELECT 1" if not extracted else "SELECT 1 FROM " + ", ".join(extracted)
    result = table_accuracy(sql, expected)
    edges = [[_fit(a, b) for b in expected] for a in extracted]
    n_pairs = 0
    if extracted and expected:
        matching = maximum_bipartite_matching(csr_array(edges), perm_type="column")
        n_pairs = int((matching >= 0).sum())
    union = len(extracted) + len(expected) - n_pairs
    assert result.score == (n_pairs / union if union else 1.0)
    assert len(result.missing) == len(expected) - n_pairs
    assert len(result.unexpected) == len(extracted) - n_pairs
    assert set(result.missing) <= set(expected)
    assert set(result.unexpected) <= set(extracted)


def _fit(one: str, two: str) -> bool:
    return f".{one}".endswith(f".{two}") or f".{two}".endswith(f".{one}")


@pytest.mark.parametrize(("sql", "kind"), [
    ("", "empty"),
    (" ;; -- nothing", "empty"),
    ("SELECT (", "parse"),
    ("I am sorry, but I cannot do that.", "not_sql"),
    ("I am sorry, but I cannot help with that.", "parse"),
    ("Sure thing", "not_sql"),
    ("VACUUM", "unsupported"),
    ("GRANT ALL ON a TO b", "not_sql"),
    ("SELECT 'x", "parse"),
    ("/* open", "not_sql"),
    ("SELECT 1 " * 30_000, "too_long"),
    ("SELECT " + "(" * 200 + "1" + ")" * 200, "too_deep"),
])  # fmt: skip
def test_what_cannot_be_read_has_a_kind(
    sql: str, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """`extract_tables` raises it, `table_accuracy` scores 0.0 with it and logs one line."""
    with pytest.raises(SqlError) as caught:
        extract_tables(sql)
    assert caught.value.kind == kind
    assert "\n" not in str(caught.value)
    with caplog.at_level(logging.DEBUG):
        result = table_accuracy(sql, ["a"])
    assert (result.score, failure(result.error)) == (0.0, f"output: {kind}")
    assert len(caplog.records) == 1
    assert "\n" not in caplog.records[0].getMessage()


PIECES = [
    *"()[]{}`'\"-+~;,.*<>@#$\n\x00\ud800é ", "SELECT ", " FROM ", " JOIN ", " USING (", "WITH ",
    " AS (", " UNION ", "CASE ", "NOT ", "users", "id", "a",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=60).map("".join) | st.text(
    st.characters(exclude_categories=()), max_size=60
)


@given(HOSTILE, st.none() | st.sampled_from(sorted(filter(None, Dialect.classes))), st.booleans())
def test_no_text_raises_anything_else(text: str, dialect: str | None, known: bool) -> None:  # noqa: FBT001
    """Whatever a model writes is a set of tables, of columns, or a `SqlError`, and can be stored."""
    schema = {"users": {"id": "int", "name": "text"}} if known else None
    columns = column_accuracy(text, ["a"], dialect=dialect, schema=schema)
    result = table_accuracy(text, ["a"], dialect=dialect)
    json.dumps([columns.to_dict(), result.to_dict()]).encode()
    if result.error is None:
        assert extract_tables(text, dialect=dialect) == result.extracted
    else:
        with pytest.raises(SqlError):
            extract_tables(text, dialect=dialect)


@refusals("""
    generated=None -> TypeError: generated must be a string ('' scores 0: a model without an answer), got None
    generated=b"SELECT 1" -> TypeError: generated must be a string, got b'SELECT 1'
    expected_tables="a" -> TypeError: expected_tables must be an iterable of strings, got 'a'
    expected_tables=[1] -> TypeError: expected_tables[0] must be a non-empty string, got 1
    expected_tables=[""] -> InputError: expected_tables[0] must be a non-empty string, got ''
    expected_tables=(f"t{i}" for i in range(10_001)) -> InputError: expected_tables must be at most 10000 names, got (...
    dialect=3 -> TypeError: dialect must be a non-empty string, got 3
    dialect=np.array(["duckdb", "mysql"]) -> TypeError: dialect must be a non-empty string, got array(...
""")
def test_errors(wrong: Refusal) -> None:
    """The caller's own mistakes raise."""
    wrong.by(table_accuracy, generated="x", expected_tables=[])


def test_only_text_is_read() -> None:
    """By name."""
    with pytest.raises(TypeError, match=r"^sql must be a string, got None$"):
        extract_tables(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("sql", "dialect", "tables", "unread"), [
    ("SELECT 1; SELECT (; SELECT * FROM a", None, ("a",), ("SELECT (",)),
    ("SELECT * FROM a; VACUUM b", None, ("a",), ("VACUUM b",)),
    ("SELECT * FROM a; GRANT SELECT ON c TO d", None, ("a",), ("GRANT SELECT ON c TO d",)),
    ("SELECT * FROM a; SELECT 'open", None, None, None),
    ("SELECT x FROM a z y DELETE FROM b", "tsql", None, None),
    ("Sure thing SELECT * FROM a", "tsql", None, None),
    ("CREATE TRIGGER t ON a SELECT (", "tsql", None, None),
    ("SET x = 1; SELECT (; " * 150, None, None, None),
])  # fmt: skip
def test_unread_statements_are_named(
    sql: str, dialect: str | None, tables: tuple[str, ...] | None, unread: tuple[str, ...] | None
) -> None:
    """A statement that cannot be read costs only itself; where all fail, the script does."""
    result = table_accuracy(sql, ["a"], dialect=dialect)
    if tables is None:
        assert result.error is not None
    else:
        assert (result.extracted, result.unread, result.error) == (tables, unread, None)


def test_one_bad_row_does_not_end_a_column() -> None:
    """Rows that no parser could look into before stand among others."""
    queries = ["SELECT x IS JSON WITH UNIQUE KEYS FROM a", "SELECT (", "SELECT * FROM a"]
    assert table_accuracies_from_columns(queries, [["a"]] * 3).tolist() == [1.0, 0.0, 1.0]


def test_expected_names_may_be_quoted() -> None:
    """As they are copied from a schema of any database."""
    sql = "SELECT * FROM dbo.users, logs, `my table`, s.orders"
    names = ["[dbo].[Users]", '"LOGS"', "`my table`", '"S".orders']
    assert table_accuracy(sql, names, dialect="mysql").score == 1.0


def test_long_text_is_tried_only_in_dialects_it_has_the_marks_of() -> None:
    """Seven more attempts at 16,000 characters would take half a second."""
    padding = "SELECT 1;" * 600
    assert extract_tables(f"{padding} SELECT TOP 5 [x y] FROM [a]") == ("a",)
    assert extract_tables(f"{padding} SELECT `x y` FROM `a`") == ("a",)
    with pytest.raises(SqlError, match=r"^parse: "):
        extract_tables(f"{'(' * 9}SELECT 1{' ' * 5000}")


@pytest.mark.parametrize("dialect", [None, "tsql"])
@pytest.mark.parametrize("sql", ["mydb..orders", "[mydb].[dbo].[orders]", "mydb.dbo.orders"])
def test_a_schema_left_out_is_the_default_one(sql: str, dialect: str | None) -> None:
    """T-SQL's a..b is a.dbo.b, in a query and in the list of names."""
    for expected in ("mydb..orders", "[mydb]..[orders]", "[mydb].[dbo].[orders]", "dbo.orders"):
        result = table_accuracy(f"SELECT * FROM {sql}", [expected], dialect=dialect)
        assert (result.score, result.extracted) == (1.0, ("mydb.dbo.orders",)), expected


def test_only_sql_server_ends_a_statement_where_the_next_begins() -> None:
    """Two queries without a semicolon are two statements in T-SQL, and an error elsewhere."""
    sql = "SELECT * FROM t1 SELECT * FROM t2"
    assert extract_tables(sql, dialect="tsql") == extract_tables(sql) == ("t1", "t2")
    assert table_accuracy(sql, ["t1", "t2"], dialect="tsql").score == 1.0
    for dialect in ("postgres", "mysql", "sqlite", "duckdb"):
        with pytest.raises(SqlError, match=r"^parse: "):
            extract_tables(sql, dialect=dialect)
    error = present(query_correctness(sql, sql.lower(), dialect="tsql").error)
    assert failure(error) == "instrument: bad_reference"  # two statements


_PARTS = st.text('ab.[]"` ', min_size=1, max_size=5).filter(str.strip)


@given(
    st.lists(st.lists(_PARTS, min_size=1, max_size=3), min_size=1, max_size=3),
    st.sampled_from(
        [None, "tsql", "snowflake", "postgres", "mysql", "sqlite", "duckdb", "bigquery"]
    ),
)
def test_what_a_text_reads_is_what_it_is_expected_to_read(
    tables: list[list[str]], dialect: str | None
) -> None:
    """Names are written as they are read, whatever stands in them; for columns, too."""
    mark = "`" if dialect in ("mysql", "bigquery") else '"'
    names = [
        ".".join(f"{mark}{part.replace(mark, mark * 2)}{mark}" for part in parts)
        for parts in tables
    ]
    sql = " UNION ALL ".join(f"SELECT x FROM {name}" for name in names)
    try:
        found = extract_tables(sql, dialect=dialect)
    except SqlError:
        assume(False)  # noqa: FBT003 - as it is named there
        raise
    assert table_accuracy(sql, found, dialect=dialect).score == 1.0
    read = column_accuracy(sql, sql, dialect=dialect)
    if read.error is None:
        assert column_accuracy(sql, read.extracted, dialect=dialect).score == 1.0


@pytest.mark.parametrize("dialect", [None, "tsql", "snowflake"])
@pytest.mark.parametrize("name", ['"a[1]"', '"x..y"', "mydb..orders", '"a.b"', "a.b.c"])
def test_a_query_and_a_caller_write_names_alike(name: str, dialect: str | None) -> None:
    """Dots and brackets in quotes are a part of a name; what two dots leave out is the default."""
    sql = f"SELECT o.id FROM {name} AS o"
    assert table_accuracy(sql, [name], dialect=dialect).score == 1.0
    assert column_accuracy(sql, [f"{name}.id"], dialect=dialect).score == 1.0


@pytest.mark.parametrize(("dialect", "text", "tables"), [
    ("sqlite", "SELECT a FROM t AS x INDEXED BY ix JOIN u NOT INDEXED ON 1", ("t", "u")),
    ("snowflake", "SELECT a FROM IDENTIFIER('db.s.t')", ("db.s.t",)),
    ("snowflake", "SELECT a FROM TABLE('db.s.t')", ("db.s.t",)),
    ("snowflake", "SELECT a FROM IDENTIFIER($x)", ()),
    ("snowflake", "SELECT * FROM TABLE(f(TABLE(t)))", ("t",)),
    ("databricks", "SELECT a FROM IDENTIFIER('a.b.c')", ("a.b.c",)),
    ("databricks", "SELECT a FROM csv.`dbfs:/a.csv` JOIN t ON 1 = 1", ("t",)),
    ("databricks", "SELECT * FROM f(TABLE(s.t))", ("s.t",)),
    ("duckdb", "PIVOT t ON a USING SUM(b)", ("t",)),
    ("duckdb", "UNPIVOT t ON a, b INTO NAME n VALUE v", ("t",)),
    ("duckdb", "SUMMARIZE SELECT * FROM t", ("t",)),
    ("duckdb", "SELECT * FROM query_table('t')", ("t",)),
    ("tsql", "SELECT a FROM t (NOLOCK)", ("t",)),
])  # fmt: skip
def test_tables_that_are_named_otherwise(dialect: str, text: str, tables: tuple[str, ...]) -> None:
    """By a string, as an argument, in a statement of its own; hints and files are no tables."""
    assert extract_tables(text, dialect=dialect) == tables
