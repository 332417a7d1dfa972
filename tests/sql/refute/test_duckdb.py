"""DuckDB as an engine that stands ready: what it decides, and where it says nothing."""

# ruff: noqa: E501 - a query stays on its line

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scorekit import InputError, MissingExtraError, query_correctness, sql_equivalence
from scorekit._sql.refute import duck

pytest.importorskip("duckdb")

SCHEMA = """
    CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL, b INT, s VARCHAR(9), c CHAR(3), f DOUBLE PRECISION);
    CREATE TABLE u (id INT PRIMARY KEY, a INT NOT NULL, b INT);
"""
REFUTED = [
    ("SELECT t.a, x.b FROM t, LATERAL (SELECT b FROM u WHERE u.a = t.a) x", "SELECT t.a, x.b FROM t LEFT JOIN LATERAL (SELECT b FROM u WHERE u.a = t.a) x ON TRUE"),
    ("SELECT t.a, x.m FROM t, LATERAL (SELECT MAX(b) AS m FROM u WHERE u.a = t.a) x", "SELECT t.a, x.m FROM t, LATERAL (SELECT MIN(b) AS m FROM u WHERE u.a = t.a) x"),
    ("SELECT id, b >= ALL (SELECT b FROM u) FROM t", "SELECT id, b >= (SELECT MAX(b) FROM u) FROM t"),
    ("SELECT id FROM t WHERE NOT b > ANY (SELECT b FROM u)", "SELECT id FROM t WHERE b <= (SELECT MAX(b) FROM u)"),
    ("SELECT DISTINCT ON (1) a, b FROM t ORDER BY 1, b", "SELECT DISTINCT ON (1) a, b FROM t ORDER BY 1, b DESC"),
    ("SELECT DISTINCT a, COUNT(*) FROM t GROUP BY GROUPING SETS ((a), (b))", "SELECT DISTINCT a, COUNT(*) FROM t GROUP BY GROUPING SETS ((a), ())"),
    ("SELECT DISTINCT a, COUNT(*) FROM t GROUP BY ROLLUP (a)", "SELECT a, COUNT(*) FROM t GROUP BY a"),
]  # fmt: skip


def compared(pair: Sequence[str], dialect: str | None = "postgres", **options: Any) -> Any:
    """Ask about two queries of the tables here."""
    options = {"engine": "duckdb", **options}
    return sql_equivalence(pair[0], pair[1], schema=SCHEMA, dialect=dialect, **options)


@pytest.mark.parametrize("pair", REFUTED)
@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_what_sqlite_does_not_run_is_refuted(pair: tuple[str, str], dialect: str) -> None:
    """The database is written in the dialect of the queries; without DuckDB the reason names it."""
    found = compared(pair, dialect)
    assert (found.verdict, found.engine) == ("refuted", "duckdb")
    assert "CREATE TABLE t" in found.counterexample.to_sql()
    without = compared(pair, dialect, engine=None)
    assert without.verdict == "unknown"
    assert without.reason.endswith('; engine="duckdb" may run them')


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", None])
def test_what_is_decided_without_it_stays_so(dialect: str | None) -> None:
    """Proofs and counterexamples in SQLite come first."""
    for pair in (
        ("SELECT a FROM t WHERE a > 1", "SELECT a FROM t WHERE NOT a <= 1"),
        ("SELECT a FROM t WHERE a > 1", "SELECT a FROM t WHERE a >= 1"),
    ):
        with_it, without = compared(pair, dialect), compared(pair, dialect, engine=None)
        assert with_it == without
        assert with_it.engine is None


@pytest.mark.parametrize(
    ("pair", "dialect", "why"),
    [
        (REFUTED[2], None, "DuckDB does not stand for all of several databases"),
        (("SELECT AVG(b) FROM t", "SELECT b FROM t"), "postgres", "AVG may be another thing in DuckDB"),
        (("SELECT a / b FROM t", "SELECT b FROM t"), "postgres", "DIV may be another thing in DuckDB"),
        (("SELECT SUM(a) OVER (ORDER BY b ROWS 1 PRECEDING) FROM t", "SELECT a FROM t"), "postgres", "WINDOW may be another thing in DuckDB"),
        (("SELECT a FROM t", "SELECT b FROM t"), "oracle", "DuckDB does not stand for oracle"),
        (("SELECT a / b FROM t", "SELECT b FROM t"), "duckdb", ""),
        (REFUTED[0], "snowflake", ""),
    ],
)  # fmt: skip
def test_where_duckdb_means_another_thing_it_says_nothing(
    pair: tuple[str, str], dialect: str | None, why: str
) -> None:
    """The table lists what the two share; all else is left alone."""
    import sqlglot

    trees = [sqlglot.parse_one(text, read=dialect or "postgres") for text in pair]
    assert duck.why_not(trees, dialect) == why


@pytest.mark.parametrize(
    "pair",
    [
        ("SELECT DISTINCT ON (1) a, c FROM t ORDER BY 1, b", "SELECT DISTINCT ON (1) a, s FROM t ORDER BY 1, b"),
        ("SELECT DISTINCT ON (1) a, f FROM t ORDER BY 1, b", "SELECT DISTINCT ON (1) a, f FROM t ORDER BY 1, b DESC"),
        ("SELECT DISTINCT ON (1) a, s FROM t ORDER BY 1, s", "SELECT DISTINCT ON (1) a, s FROM t ORDER BY 1, s DESC"),
        ("SELECT DISTINCT ON (1) a, b FROM t ORDER BY 1", "SELECT DISTINCT ON (1) a, b FROM t ORDER BY 1, b"),
        ("SELECT a, x.b FROM t, LATERAL (SELECT u.b FROM u WHERE u.a = t.a LIMIT 1) x", "SELECT a, x.b FROM t, LATERAL (SELECT u.b FROM u WHERE u.a = t.a ORDER BY u.id LIMIT 1) x"),
    ],
)  # fmt: skip
def test_what_may_differ_in_postgresql_refutes_nothing(pair: tuple[str, str]) -> None:
    """Padded texts, binary fractions, an order of texts, and ties."""
    assert compared(pair).verdict == "unknown"


def test_in_duckdb_a_function_that_no_table_knows_is_its_own() -> None:
    """What DuckDB has is DuckDB's to run."""
    pair = "SELECT list_max([a, b]) FROM t", "SELECT a FROM t"
    assert compared(pair, "duckdb").verdict == "refuted"
    assert compared(("SELECT no_such(a) FROM t", pair[1]), "duckdb").verdict == "unknown"


def test_it_decides_correctness_and_is_named_as_what_was_used() -> None:
    """Everywhere that takes an engine."""
    found = query_correctness(*REFUTED[2], schema=SCHEMA, dialect="postgres", engine="duckdb")
    assert (found.score, found.method) == (0.0, "refuted")
    same = query_correctness(
        REFUTED[2][0], REFUTED[2][0], schema=SCHEMA, dialect="postgres", engine="duckdb"
    )
    assert same.score == 1.0


def test_a_query_that_hangs_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended after a while, and so is what raises."""
    monkeypatch.setattr(duck, "QUERY_SECONDS", 0.05)
    endless = "SELECT COUNT(*) FROM range(1000000) a, range(1000000) b, range(1000) c WHERE a.range + b.range < t.b"
    pair = f"SELECT a, ({endless}) FROM t", "SELECT a, b FROM t"
    assert compared(pair, "duckdb", n_databases=2).verdict == "unknown"


def test_nothing_outside_is_reached(tmp_path: Any) -> None:
    """No file is read or written by a generated query."""
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n")
    with duck.InDuckDB() as engine:
        for text in (f"SELECT * FROM '{path}'", f"SELECT * FROM read_csv('{path}')"):
            with pytest.raises(Exception, match=r"disabled|does not exist|Permission"):
                engine((), text)
        assert engine(
            ["CREATE TABLE x (a INT)", "INSERT INTO x VALUES (1)"], "SELECT a FROM x"
        ) == [(1,)]
        with pytest.raises(Exception, match="does not exist"):
            engine((), "SELECT a FROM x")


def test_what_is_no_engine_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that stands for none, and a package that is not there."""
    with pytest.raises(
        InputError,
        match=r"^engine must be a function of statements and a query, or 'duckdb', got 'sqlite'$",
    ):
        compared(REFUTED[0], engine="sqlite")
    monkeypatch.setattr(duck, "find_spec", lambda _: None)
    with pytest.raises(
        MissingExtraError, match=r"^duckdb is not installed; run: pip install 'duckdb"
    ):
        compared(REFUTED[0])
