"""Traps found by attacking the proofs and the refutations: one line for each way to be wrong."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import pytest

from scorekit import sql_equivalence

SCHEMA = {
    "t": {
        "id": "int primary key", "x": "int", "y": "int", "name": "text", "f": "real", "n": "numeric",
        "any": "",
    },
    "u": {"id": "int", "x": "int", "y": "int", "name": "text"},
}  # fmt: skip
COLLATED = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE); CREATE TABLE u (id INTEGER, name TEXT)"

# Dialect, and two queries that differ on some database.
DIFFERENT = [
    # an aggregate that is folded away leaves a row for each row
    ("sqlite", "SELECT COUNT(*) IS NULL FROM t", "SELECT 1 = 2 FROM t"),
    ("sqlite", "SELECT CASE WHEN 1 = 1 THEN 0 ELSE COUNT(*) END FROM t", "SELECT 0 FROM t"),
    ("sqlite", "SELECT 1 FROM t HAVING COUNT(*) > 0 OR 1 = 1", "SELECT 1 FROM t"),
    ("sqlite", "SELECT x FROM t WHERE EXISTS (SELECT 1 FROM u HAVING COUNT(*) IS NOT NULL)", "SELECT x FROM t WHERE EXISTS (SELECT 1 FROM u)"),
    # a branch that is never taken has a part in the type of the whole
    ("sqlite", "SELECT id FROM t WHERE (CASE WHEN 1 = 1 THEN x END) = '1'", "SELECT id FROM t WHERE x = '1'"),
    ("postgres", "SELECT (CASE WHEN 1 = 1 THEN 1 ELSE 2.5 END) / 2", "SELECT 1 / 2"),
    ("mysql", "SELECT AVG(x) FROM t GROUP BY id UNION ALL SELECT name FROM u", "SELECT x FROM t UNION ALL SELECT name FROM u"),
    ("duckdb", "SELECT name FROM u UNION SELECT AVG(x) FROM t GROUP BY id", "SELECT x FROM t UNION SELECT name FROM u"),
    # the columns of a union have a type of their own, for which some arms are converted
    ("postgres", "SELECT v / 2 FROM (SELECT x AS v FROM t UNION ALL SELECT n FROM t) q", "SELECT x / 2 FROM t UNION ALL SELECT n / 2 FROM t"),
    ("mysql", "SELECT v FROM (SELECT x AS v FROM t UNION ALL SELECT name FROM t) q WHERE v = '01'", "SELECT x FROM t WHERE x = '01' UNION ALL SELECT name FROM t WHERE name = '01'"),
    ("duckdb", "(SELECT x FROM t UNION ALL SELECT n FROM t) UNION ALL SELECT name FROM t", "SELECT x FROM t UNION ALL SELECT n FROM t UNION ALL SELECT name FROM t"),
    ("duckdb", "SELECT MAX(v) FROM (SELECT MAX(x) AS v FROM t GROUP BY y UNION ALL SELECT MAX(name) FROM t) q", "SELECT MAX(v) FROM (SELECT x AS v FROM t UNION ALL SELECT name FROM t) q"),
    ("sqlite", "SELECT v FROM (SELECT x + 0 AS v FROM t UNION ALL SELECT name FROM t) q WHERE v = 5", "SELECT v FROM (SELECT name AS v FROM t UNION ALL SELECT x + 0 FROM t) q WHERE v = 5"),
    ("postgres", "SELECT COUNT(*) FROM t GROUP BY () HAVING 1 = 0", "SELECT COUNT(*) FROM t WHERE 1 = 0 GROUP BY ()"),
    # a common table expression has one set of rows, however often it is named
    ("postgres", "WITH c AS (SELECT random() AS r) SELECT a.r = b.r FROM c a, c b", "SELECT a.r = b.r FROM (SELECT random() AS r) a, (SELECT random() AS r) b"),
    # functions tell equal values apart
    ("mysql", "SELECT name, REPLACE(name, 'a', 'b') FROM t GROUP BY name", "SELECT DISTINCT name, REPLACE(name, 'a', 'b') FROM t"),
    ("mysql", "SELECT name FROM t GROUP BY name HAVING REPLACE(name, 'a', 'b') = 'b'", "SELECT name FROM t WHERE REPLACE(name, 'a', 'b') = 'b' GROUP BY name"),
    ("tsql", "SELECT * FROM (SELECT DISTINCT name FROM t) d WHERE REPLACE(name, 'a', 'b') = 'b'", "SELECT DISTINCT name FROM t WHERE REPLACE(name, 'a', 'b') = 'b'"),
    ("sqlite", 'SELECT "any", CAST("any" AS TEXT) FROM t GROUP BY "any"', 'SELECT DISTINCT "any", CAST("any" AS TEXT) FROM t'),
    # the parser gives both the same tree
    ("sqlite", "SELECT id FROM t WHERE +x = '1'", "SELECT id FROM t WHERE x = '1'"),
    (None, "SELECT id FROM t WHERE (x) = '1' AND +y = '2'", "SELECT id FROM t WHERE x = '1' AND y = '2'"),
    ("sqlite", "SELECT CAST(name AS STRING) FROM t", "SELECT CAST(name AS TEXT) FROM t"),
    ("sqlite", "SELECT CAST(name AS STRING), CAST(CAST(x AS TEXT) AS DECIMAL) FROM t", "SELECT CAST(name AS TEXT), CAST(CAST(x AS TEXT) AS DECIMAL) FROM t"),
    ("sqlite", "SELECT MOD(n, 2) FROM t", "SELECT n % 2 FROM t"),
    (None, "SELECT x = y IS NULL FROM t", "SELECT x = (y IS NULL) FROM t"),
    # brackets that dialects set otherwise
    ("sqlite", "SELECT x = y LIKE 1 FROM t", "SELECT x = (y LIKE 1) FROM t"),
    ("sqlite", "SELECT x = y NOT IN (1) FROM t", "SELECT x = (y NOT IN (1)) FROM t"),
    ("sqlite", "SELECT x = y BETWEEN 0 AND 1 FROM t", "SELECT x = (y BETWEEN 0 AND 1) FROM t"),
    ("mysql", "SELECT x = y < 1 FROM t", "SELECT x = (y < 1) FROM t"),
    ("sqlite", "SELECT x || y * 2 FROM t", "SELECT x || (y * 2) FROM t"),
    ("mysql", "SELECT !x = y FROM t", "SELECT NOT x = y FROM t"),
    # NaN is not equal to itself
    ("trino", "SELECT 1 FROM (SELECT x AS a, x AS b FROM t) d WHERE a = b", "SELECT 1 FROM t WHERE x IS NOT NULL"),
    ("trino", "SELECT id FROM t WHERE NOT f BETWEEN 1 AND 2", "SELECT id FROM t WHERE f < 1 OR f > 2"),
    ("dune", "SELECT x FROM t WHERE NOT x < 1", "SELECT x FROM t WHERE x >= 1"),
]  # fmt: skip

# Dialect, and two queries that are equal.
EQUAL = [
    ("sqlite", "SELECT CAST(x AS DECIMAL) / 2 FROM t", "SELECT x / 2 FROM t"),
    ("sqlite", "SELECT CAST(x AS DATE) FROM t", "SELECT x FROM t"),
    ("sqlite", "SELECT MOD(n, 1) FROM t WHERE n BETWEEN 0 AND 2", "SELECT n - TRUNC(n) FROM t WHERE n BETWEEN 0 AND 2"),
    # a value that is several rows is an error, or any of them
    ("sqlite", "SELECT (SELECT x FROM u) FROM t", "SELECT (SELECT MIN(x) FROM u) FROM t"),
    (None, "SELECT x FROM t WHERE x = (SELECT x FROM u)", "SELECT x FROM t WHERE x IN (SELECT x FROM u)"),
    ("postgres", "SELECT x, (SELECT u.name FROM u WHERE u.x = t.x) FROM t", "SELECT x, (SELECT MIN(name) FROM u WHERE u.x = t.x) FROM t"),
    ("postgres", "SELECT (SELECT x FROM u UNION ALL SELECT x FROM u) FROM t", "SELECT (SELECT MIN(x) FROM u) FROM t"),
    ("sqlite", "SELECT id FROM t WHERE '1' = (SELECT x FROM u WHERE x = 1)", "SELECT id FROM t WHERE EXISTS (SELECT x FROM u WHERE x = 1)"),
    # DISTINCT rows are not ordered by what was dropped and may have several values
    ("sqlite", "SELECT DISTINCT x FROM t ORDER BY y", "SELECT x FROM t GROUP BY x ORDER BY MIN(y)"),
    ("sqlite", "SELECT DISTINCT x FROM t ORDER BY y", "SELECT x FROM t GROUP BY x ORDER BY MAX(y)"),
    # what other databases hold or compute otherwise
    ("postgres", "SELECT id FROM t WHERE x > 2147483647", "SELECT id FROM t WHERE 1 = 0"),
    ("mysql", "SELECT id FROM t WHERE name = 'a'", "SELECT id FROM t WHERE name = 'a '"),
    ("oracle", "SELECT id FROM t WHERE name || NULL = name", "SELECT id FROM t WHERE name IS NOT NULL"),
    (None, "SELECT id FROM t WHERE n + 0.1 + 0.2 = n + 0.3", "SELECT id FROM t WHERE n IS NOT NULL"),
    ("postgres", "SELECT id FROM t WHERE n * 3 = 0.3", "SELECT id FROM t WHERE n = 0.1"),
    ("sqlite", "SELECT id FROM t WHERE date('no' || 'w') > '2000-01-01'", "SELECT id FROM t WHERE 1 = 0"),
    ("postgres", "SELECT name FROM t WHERE name LIKE 'a\\_b'", "SELECT name FROM t WHERE name = 'a_b'"),
    ("duckdb", "SELECT * FROM u a JOIN u b USING (y)", "SELECT a.y, a.id, a.x, a.name, b.id, b.x, b.name FROM u a JOIN u b ON a.y = b.y"),
    ("postgres", "SELECT SUM(s) / COUNT(s) FROM (SELECT SUM(x) AS s FROM t GROUP BY y) q", "SELECT AVG(s) FROM (SELECT SUM(x) AS s FROM t GROUP BY y) q"),
    ("mysql", "SELECT id, -x AS x FROM t ORDER BY x + 0 LIMIT 1", "SELECT id, -x FROM t ORDER BY -x LIMIT 1"),
    ("postgres", "SELECT id FROM t WHERE 1 = x IN (1, 2)", "SELECT id FROM t WHERE 1 = (x IN (1, 2))"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "first", "second"), EQUAL)
def test_equal_queries_are_not_refuted(dialect: str | None, first: str, second: str) -> None:
    """A database on which the dialect itself shows no difference is no counterexample."""
    for pair in ((first, second), (second, first)):
        assert sql_equivalence(*pair, schema=SCHEMA, dialect=dialect).verdict != "refuted"


@pytest.mark.parametrize(("dialect", "first", "second"), DIFFERENT)
def test_different_queries_are_not_proved(dialect: str | None, first: str, second: str) -> None:
    """A proof that one database contradicts is the one answer that must never come."""
    for pair in ((first, second), (second, first)):
        assert sql_equivalence(*pair, schema=SCHEMA, dialect=dialect).verdict != "proved"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT t.id FROM t, u WHERE t.name = u.name", "SELECT t.id FROM t, u WHERE u.name = t.name"),
        ("SELECT id FROM t WHERE name = 'a'", "SELECT id FROM t WHERE name = 'A'"),
        ("SELECT DISTINCT * FROM t", "SELECT * FROM t GROUP BY 1, 2, 'a'"),
    ],
)  # fmt: skip
def test_a_collation_of_its_own_decides_nothing(first: str, second: str) -> None:
    """Which strings are equal then depends on which column stands first."""
    for dialect in ("sqlite", None):
        result = sql_equivalence(first, second, schema=COLLATED, dialect=dialect)
        assert str(result) == "unknown: name is compared by a rule of its own"
    other = sql_equivalence("SELECT id FROM u", "SELECT u.id FROM u", schema=COLLATED)
    assert other.verdict == "proved"


LINKED = """CREATE TABLE u (id INT PRIMARY KEY, x INT);
CREATE TABLE t (id INT PRIMARY KEY, uid INT NOT NULL REFERENCES u (id), y INT, up INT,
                FOREIGN KEY (y) REFERENCES u, FOREIGN KEY (up) REFERENCES t (id))"""


@pytest.mark.parametrize(("first", "second", "verdict"), [
    ("SELECT t.id FROM t JOIN u ON t.uid = u.id", "SELECT id FROM t", "proved"),
    ("SELECT t.id FROM t JOIN u ON t.y = u.id", "SELECT id FROM t WHERE y > 0 OR y <= 0", "proved"),
    ("SELECT t.id FROM t JOIN t p ON t.up = p.id", "SELECT id FROM t WHERE up > 0 OR up <= 0", "proved"),
    ("SELECT t.id FROM t JOIN u ON t.y = u.id", "SELECT id FROM t", "refuted"),
    ("SELECT t.id FROM t JOIN u ON t.uid = u.id WHERE x = 7", "SELECT id FROM t", "refuted"),
    ("SELECT u.id FROM t JOIN u ON t.uid = u.id", "SELECT id FROM u", "refuted"),
])  # fmt: skip
def test_a_counterexample_keeps_foreign_keys(first: str, second: str, verdict: str) -> None:
    """A row that points nowhere is no counterexample where the schema says that it cannot."""
    result = sql_equivalence(first, second, schema=LINKED, dialect="postgres")
    assert result.verdict == verdict


@pytest.mark.parametrize("rule", [
    "x INT GENERATED ALWAYS AS (id) STORED",
    "x INT CHECK (my_own(x))",
    "x INT, CHECK (id > (SELECT MAX(x) FROM t))",
    "x INT, EXCLUDE USING gist (x WITH =)",
])  # fmt: skip
def test_rows_that_must_pass_what_cannot_be_checked_are_not_made_up(rule: str) -> None:
    """No row is known to pass; a query that does not use the column is decided all the same."""
    schema = f"CREATE TABLE t (id INT PRIMARY KEY, y INT, {rule})"
    result = sql_equivalence("SELECT x FROM t", "SELECT y FROM t", schema=schema)
    assert str(result) == "unknown: rows of t must pass a check that is not looked into"


@pytest.mark.parametrize("kind", ["INT UNSIGNED", "BIGINT(20) UNSIGNED NOT NULL", "int  unsigned"])
def test_what_is_unsigned_is_never_negative(kind: str) -> None:
    """Neither as DDL nor in a mapping; other numbers still are."""
    pair = "SELECT x FROM t WHERE x >= 0", "SELECT x FROM t WHERE x IS NOT NULL"
    for schema in (f"CREATE TABLE t (x {kind})", {"t": {"x": kind}}):
        assert sql_equivalence(*pair, schema=schema, dialect="mysql").verdict == "proved"
    assert sql_equivalence(*pair, schema={"t": {"x": "int"}}, dialect="mysql").verdict == "refuted"


@pytest.mark.parametrize("kind", ["string", "STRING NOT NULL", "uuid", "name"])
@pytest.mark.parametrize("dialect", [None, "sqlite"])
def test_only_some_names_of_text_types_keep_texts(kind: str, dialect: str | None) -> None:
    """To SQLite STRING is a number, so that ``'1.0' = 1`` and ``1 = '1'``, but no text is both."""
    chain = "SELECT t.a FROM t, u, v WHERE t.a = u.b AND u.b = v.c"
    tables = f"CREATE TABLE t (a TEXT); CREATE TABLE u (b {kind}); CREATE TABLE v (c TEXT)"
    result = sql_equivalence(chain, f"{chain} AND t.a = v.c", schema=tables, dialect=dialect)
    assert result.verdict != "proved"
    texts = tables.replace(kind, "VARCHAR(20)")
    result = sql_equivalence(chain, f"{chain} AND t.a = v.c", schema=texts, dialect=dialect)
    assert result.verdict == "proved"


@pytest.mark.parametrize("dialect", [None, "sqlite", "postgres", "duckdb"])
def test_a_table_may_have_the_name_of_an_operator(dialect: str | None) -> None:
    """``MATCH`` is a table after FROM and JOIN, as in BIRD, and an operator elsewhere."""
    schema = {"Match": {"a": "int"}, "t": {"a": "int"}}
    for tables in ("Match m", "t JOIN Match m ON t.a = m.a"):
        pair = (f"SELECT m.a FROM {tables} WHERE m.a > {number}" for number in (1, 2))
        assert sql_equivalence(*pair, schema=schema, dialect=dialect).verdict == "refuted"
    matched = "SELECT a FROM t WHERE a MATCH 1"
    assert sql_equivalence(matched, "SELECT a FROM t", schema=schema).verdict == "unknown"


@pytest.mark.parametrize("written", ["`Bob`", "[Bob]"])
def test_only_double_quotes_hold_a_text_in_sqlite(written: str) -> None:
    """A name in backticks or brackets that no table has is an error there."""
    query = f"SELECT id FROM t WHERE name = {written}"
    for other in ("'Bob'", "'Ann'"):
        pair = query, query.replace(written, other)
        assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "unknown"
    text = query.replace(written, '"Bob"'), query.replace(written, "'Bob'")
    assert sql_equivalence(*text, schema=SCHEMA, dialect="sqlite").verdict == "proved"


@pytest.mark.parametrize(("dialect", "unclear", "read"), [
    ("sqlite", "name LIKE '1' <= 3", "(name LIKE '1') <= 3"),
    ("sqlite", "x BETWEEN 1 AND y < 5", "(x BETWEEN 1 AND y) < 5"),
    ("sqlite", "name LIKE 'a' ESCAPE 'b' < 1", "(name LIKE 'a' ESCAPE 'b') < 1"),
    ("duckdb", "~x * 3 = 6", "(~x) * 3 = 6"),
    ("duckdb", "name || x & 1 = 'a'", "(name || x) & 1 = 'a'"),
    ("postgres", "x | y & 1 = 1", "x | (y & 1) = 1"),
])  # fmt: skip
def test_what_databases_bracket_otherwise_needs_brackets(
    dialect: str, unclear: str, read: str
) -> None:
    """The parser brackets these as the named database does not."""
    pair = (f"SELECT id FROM t WHERE {condition}" for condition in (unclear, read))
    result = sql_equivalence(*pair, schema=SCHEMA, dialect=dialect)
    assert (result.verdict, result.reason) == (
        "unknown",
        "brackets must say which operator comes first",
    )


MERGED = "FROM t JOIN u USING (id) JOIN u AS w ON w.y = t.y"


def test_a_column_that_using_merges_is_that_of_its_tables_alone() -> None:
    """A third table that has the name too keeps its column, and makes the bare name ambiguous."""
    shown = 't.id, t.x, t.y, t.name, f, n, "any", u.x, u.y, u.name, w.id, w.x, w.y, w.name'
    pair = f"SELECT * {MERGED}", f"SELECT {shown} {MERGED}"
    assert sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite").verdict == "proved"
    fewer = f"SELECT * {MERGED}", f"SELECT {shown.replace('w.id, ', '')} {MERGED}"
    assert sql_equivalence(*fewer, schema=SCHEMA, dialect="sqlite").verdict == "refuted"
    for dialect in ("sqlite", "duckdb", "postgres"):
        result = sql_equivalence(
            f"SELECT id {MERGED}", f"SELECT t.id {MERGED}", schema=SCHEMA, dialect=dialect
        )
        assert result.reason.endswith("several tables have a column id")


def test_a_text_in_double_quotes_gives_its_output_no_name() -> None:
    """SQLite finds no column of that name in ORDER BY."""
    pair = 'SELECT "zz" FROM t ORDER BY zz', "SELECT 'zz' FROM t ORDER BY 1"
    result = sql_equivalence(*pair, schema=SCHEMA, dialect="sqlite")
    assert result.reason.endswith("no table has a column zz")
