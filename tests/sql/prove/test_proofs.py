"""Proofs of equivalence: what each rewrite proves, and the trap beside it that it must not."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from outcomes import present
from sqlglot import exp

from benchmarks.generators.stored_pairs import pairs
from scorekit._sql.meaning.conditions import NO_ROW_VALUES
from scorekit._sql.meaning.question import Question
from scorekit._sql.prove.search import ALIKE, TIES, UNORDERED, Proof, search
from scorekit._sql.schema.tables import SqlSchema, read_schema
from scorekit._sql.text.parsing import parse

TABLES = {
    "users": {"id": "int", "name": "text", "age": "int", "city": "text"},
    "orders": {"id": "int", "uid": "int", "total": "int", "status": "text"},
    "items": {"oid": "int", "sku": "text", "qty": "int"},
}
STRICT = {
    **TABLES,
    "users": {**TABLES["users"], "name": "text NOT NULL"},
    "orders": {**TABLES["orders"], "uid": "int NOT NULL"},
}
SCHEMAS = {
    "none": None,
    "columns": read_schema(TABLES, None, "sqlite"),
    "keys": read_schema(STRICT, {"users": "id", "items": [("oid", "sku")]}, "sqlite"),
}
"""What may be known: nothing, the columns, or also NOT NULL and keys."""
REFERENCE = json.loads((Path(__file__).parents[2] / "data" / "sql_pairs.json").read_text())


def _tree(sql: str, dialect: str | None = "sqlite") -> exp.Expr:
    return parse(sql, dialect).statements[0]


def prove(first: exp.Expr, second: exp.Expr, **options: Any) -> Proof | None:
    """Return the proof alone."""
    found = search(first, second, Question(**options))
    return found if isinstance(found, Proof) else None


def _prove(
    first: str,
    second: str,
    known: str = "none",
    dialect: str | None = "sqlite",
    semantics: Any = "bag",
) -> Proof | None:
    trees = _tree(first, dialect), _tree(second, dialect)
    return prove(*trees, schema=SCHEMAS[known], dialect=dialect, semantics=semantics)


_KNOWN = list(SCHEMAS)


@pytest.mark.parametrize(("known", "first", "second"), pairs("rewrites", "equal"))
def test_equal_queries_are_proved(known: str, first: str, second: str) -> None:
    """One pair for each rewrite; without its assumption it does not fire, with more it still does."""
    for level in _KNOWN:
        enough = _KNOWN.index(level) >= _KNOWN.index(known)
        assert (_prove(first, second, level) is not None) is enough, level
        assert (_prove(second, first, level) is not None) is enough, level


@pytest.mark.parametrize(("first", "second"), pairs("rewrites", "different"))
def test_different_queries_are_not_proved(first: str, second: str) -> None:
    """Each is the trap beside a rewrite: NULL, a duplicate or the choice of the engine."""
    for known in ("none", "columns"):
        assert _prove(first, second, known) is None
        assert _prove(second, first, known) is None


@pytest.mark.parametrize(("unclear", "clear"), [
    ("SELECT a FROM t, u", "SELECT t.a FROM t, u"),
    ("SELECT a FROM t, u", "SELECT u.a FROM t, u"),
    ("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE a = 1)", "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = 1)"),
    ("SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE a = 1)", "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM u WHERE t.a = 1)"),
])  # fmt: skip
def test_a_name_that_may_be_several_columns_is_none_of_them(unclear: str, clear: str) -> None:
    """Without the columns no table is chosen; the name still equals itself."""
    assert _prove(unclear, clear) is None
    assert _prove(clear, unclear) is None
    assert _prove(unclear, unclear.replace("SELECT", "SELECT DISTINCT", 1), semantics="set")


@pytest.mark.parametrize(
    ("dialect", "proved"), [("sqlite", True), ("postgres", True), ("mysql", False), (None, False)]
)
def test_a_name_of_a_column_and_of_an_output(dialect: str | None, *, proved: bool) -> None:
    """GROUP BY means the column in SQLite and PostgreSQL; elsewhere it is not known which."""
    head = "SELECT -id AS age FROM users u GROUP BY"
    assert bool(_prove(f"{head} age", f"{head} u.age", "columns", dialect)) is proved
    joined = "FROM users, orders"  # which both have the column
    assert _prove(f"SELECT id + 1 {joined}", f"SELECT 1 + id {joined}", "columns", dialect) is None


@pytest.mark.parametrize(
    "query", ["SELECT ({}) FROM t", "SELECT 1 FROM t WHERE a IN ({})", "SELECT a < ({}) FROM t"]
)
def test_a_query_of_two_columns_is_no_value(query: str) -> None:
    """Engines refuse it, so nothing follows from two ways to write it."""
    for outputs, proved in (("MIN(u.a), MAX(u.b)", False), ("MIN(u.a)", True)):
        first = f"SELECT {outputs} FROM u"
        assert bool(_prove(query.format(first), query.format(f"{first} AS u"))) is proved


def test_sqlite_groups_by_no_outer_column() -> None:
    """It refuses such a key, so nothing follows from two ways to write it."""
    query = "SELECT a FROM t WHERE EXISTS (SELECT t.a, MAX(u.b) FROM u GROUP BY {} HAVING {} < MAX(u.b))"
    for keys, proved in (("t.a", False), ("u.a, t.b + 1", False), ("1", True), ("u.a", True)):
        two = query.format(keys, "1"), query.format(keys, "0 + 1")
        assert bool(_prove(*two)) is proved
        assert _prove(*two, dialect="postgres") is not None


@pytest.mark.parametrize("known", [None, "columns"])
def test_reference_pairs(known: str | None) -> None:
    """The labelled pairs: nothing unequal is proved, and of the equal all that can be."""
    schema = read_schema(REFERENCE["schema"], None, "sqlite") if known else None
    proved = {"equal": 0, "not_equal": 0}
    for item in REFERENCE["pairs"]:
        trees = _tree(item["a"]), _tree(item["b"])
        proof = prove(*trees, schema=schema, dialect="sqlite", semantics="bag")
        proved[item["verdict"]] += proof is not None
    assert proved == {"equal": 13 if known else 12, "not_equal": 0}  # a star needs the columns


@pytest.mark.parametrize(("first", "second", "known", "assumptions"), [
    ("SELECT age FROM users", "SELECT u.age FROM users u", "none", ()),
    ("SELECT age FROM users ORDER BY 1", "SELECT age FROM users", "none", (UNORDERED,)),
    ("SELECT age FROM users LIMIT 1", "SELECT u.AGE FROM users u LIMIT 1", "none", (ALIKE,)),
    ("SELECT RANDOM() > age FROM users", "SELECT age < RANDOM() FROM users", "none", (ALIKE,)),
    ("SELECT age FROM users WHERE age > 1 AND id > 1 LIMIT 1", "SELECT age FROM users WHERE id > 1 AND age > 1 LIMIT 1", "none", (TIES,)),
    ("DELETE FROM users", "delete from USERS", "none", (ALIKE,)),
    ("SELECT id a, age a FROM users ORDER BY a", "SELECT id A, age A FROM users ORDER BY A", "none", (ALIKE,)),
    ("SELECT * FROM users", "SELECT id, name, age, city FROM users", "columns", ("the schema names every column of its tables, in their order",)),
    ('SELECT id FROM users WHERE name = "B"', "SELECT id FROM users WHERE name = 'B'", "columns", ('"B" is no column, so that SQLite reads a text',)),
    ("SELECT COUNT(name), COUNT(id) FROM users", "SELECT COUNT(*), COUNT(*) FROM users", "keys", ("users.id is never NULL (key)", "users.name is never NULL (schema)")),
    ("SELECT DISTINCT id FROM users", "SELECT id FROM users", "keys", ("users (id) is a key",)),
])  # fmt: skip
def test_assumptions_are_named(
    first: str, second: str, known: str, assumptions: tuple[str, ...]
) -> None:
    """A proof says what it rests upon, in sentences fit to print."""
    proof = present(_prove(first, second, known))
    assert proof.assumptions == assumptions


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT DISTINCT age FROM users", "SELECT age FROM users"),
        ("SELECT age FROM users UNION ALL SELECT id FROM users", "SELECT id FROM users UNION SELECT age FROM users"),
        ("SELECT age FROM users GROUP BY age", "SELECT age FROM users"),
    ],
)  # fmt: skip
def test_rows_as_sets(first: str, second: str) -> None:
    """Duplicates at the end do not count in sets; those inside of the query do."""
    assert _prove(first, second, semantics="bag") is None
    assert _prove(first, second, semantics="set") is not None
    inside = "SELECT COUNT(*) FROM ({}) q".format
    assert _prove(inside(first), inside(second), semantics="set") is None


@pytest.mark.parametrize("verdict", ["equal", "different"])
def test_dialects(verdict: str) -> None:
    """Names, sums, NaN and outer joins follow the dialect, on the safe side."""
    for name, first, second in pairs("what dialects read otherwise", verdict):
        proof = _prove(first, second, dialect=None if name == "any" else name)
        assert (proof is not None) is (verdict == "equal"), (name, first, second)


def test_a_column_of_rows_is_assumed_away() -> None:
    """PostgreSQL's IS NOT NULL is no NOT of IS NULL for a column whose values are rows."""
    pair_ = "SELECT age IS NOT NULL FROM users", "SELECT NOT age IS NULL FROM users"
    assert _prove(*pair_, dialect="postgres") == Proof((NO_ROW_VALUES,))
    assert _prove(*pair_, "columns", dialect="postgres") == Proof()


@pytest.mark.parametrize("sql", [
    "SELECT 1 FROM t WHERE " + " OR ".join(f"a = {i}" for i in range(2_000)),
    "SELECT 1 FROM t WHERE a IN (" + ", ".join(map(str, range(5_000))) + ")",
    "WITH " + ", ".join(f"w{i + 1} AS (SELECT a.x FROM w{i} a, w{i} b)" for i in range(30)).replace("w0", "t") + " SELECT * FROM w30",
    "SELECT 1 FROM " + ", ".join(f"t a{i}" for i in range(200)),
    "SELECT 1 FROM t WHERE " + " AND ".join(f"EXISTS (SELECT 1 FROM u WHERE u.a = t.b{i})" for i in range(300)),
    "SELECT " + "NOT " * 60 + "a FROM t",
    "SELECT a FROM t" + " UNION SELECT a FROM t" * 500,
    "SELECT " + " + ".join(["a"] * 1000) + " FROM t",
    "VALUES (1)",
    "SELECT * FROM t PIVOT (SUM(a) FOR b IN ('x'))",
    "SELECT * FROM UNNEST(ARRAY[1])",
    "SELECT 1 FROM t GROUP BY 9",
    "SELECT x.a FROM t",
    "SELECT",
])  # fmt: skip
def test_hostile_queries(sql: str) -> None:
    """Whatever is thrown at it, there is an answer after a bounded number of steps."""
    tree = parse(sql).statements[0] if sql != "SELECT" else exp.Select()
    prove(tree, tree.copy(), schema=SCHEMAS["keys"], dialect=None, semantics="bag")


def test_schema_that_was_not_given_proves_nothing() -> None:
    """An inferred schema may lack columns, so a star is not spelled out by it."""
    given_ = present(SCHEMAS["columns"])
    inferred = SqlSchema(given_.tables, given_.keys, given=False)
    trees = _tree("SELECT * FROM items"), _tree(f"SELECT {', '.join(TABLES['items'])} FROM items")
    assert prove(*trees, schema=inferred, dialect="sqlite", semantics="bag") is None
    assert prove(*trees, schema=given_, dialect="sqlite", semantics="bag") is not None
