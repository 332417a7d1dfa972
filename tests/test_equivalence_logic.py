"""What follows from conditions: answers of the logic against SQLite and against a list."""

# ruff: noqa: E501 - a pair of queries stands on one line

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import parse_one

from scorekit import sql_equivalence
from scorekit._sql.catalog import Catalog
from scorekit._sql.prove.logic import UNCASED_LIKE, Facts
from scorekit._sql.prove.order import Order
from scorekit._sql.prove.scope import Scope
from scorekit._sql.prove.search import EQUAL_TEXTS
from scorekit._sql.read import read_query
from scorekit._sql.schema import read_schema
from scorekit._sql.tree import FALSE, Comparison, IsNull, Scalar

SCHEMA = {
    "t": {
        "id": "int primary key", "x": "int", "y": "int", "z": "int not null", "n": "decimal(5,2)",
        "r": "real", "s": "varchar(9)", "u": "text", "c": "char(3)", "b": "boolean", "d": "date",
        "ts": "timestamp", "odd": "",
    },
}  # fmt: skip


def read(texts: Sequence[str], dialect: str | None) -> tuple[tuple[Scalar, ...], Scope]:
    """Return expressions over the table ``t``, and what is known where they stand."""
    schema = read_schema(SCHEMA, None, dialect)
    outputs = ", ".join(f"({text}) AS c{i}" for i, text in enumerate(texts))
    tree = parse_one(f"SELECT {outputs} FROM t", dialect=dialect)
    return read_query(tree, Catalog(schema, dialect)).query.outputs, Scope(schema, dialect)


def facts_of(conditions: Iterable[Scalar], scope: Scope) -> Facts:
    """Return what is known where the conditions are true."""
    return Facts(conditions, scope, scope.not_null)


def are_equivalent(
    first: str, second: str, dialect: str | None, mode: Literal["filter", "bool"] = "filter"
) -> bool:
    """Say whether two conditions are proved to be equivalent."""
    (one, other), scope = read((first, second), dialect)
    return facts_of((), scope).equivalent(one, other, mode) is not None


# Equal as filters in dialects that keep to types; the first part in SQLite and without a dialect.
EQUAL_EVERYWHERE = [
    ("x > 5 AND x > 3", "x > 5"),
    ("x = 1 OR x = 2", "x IN (2, 1)"),
    ("NOT (x > 1 AND y < 2)", "x <= 1 OR y >= 2"),
    ("x = x", "x IS NOT NULL"),
    ("x <> x", "1 = 0"),
    ("x = y AND y = z", "x = z AND z = y"),
    ("x > 1 OR x <= 1", "x IS NOT NULL"),
    ("(x > 1 AND y > 1) OR (x > 1 AND z > 1)", "x > 1 AND (y > 1 OR z > 1)"),
    ("CASE WHEN x > 1 THEN TRUE ELSE FALSE END", "x > 1"),
    ("CASE WHEN x > 1 THEN 1 ELSE 0 END = 1", "x > 1"),
    ("COALESCE(x, 0) > 0", "x > 0"),
    ("COALESCE(x, 5) = 5", "x = 5 OR x IS NULL"),
    ("NULLIF(x, 5) IS NULL", "x IS NULL OR x = 5"),
    ("x = NULL", "1 = 0"),
    ("x IS NOT DISTINCT FROM 5", "x = 5"),
    ("x IS DISTINCT FROM 5", "x <> 5 OR x IS NULL"),
    ("b IS NOT TRUE", "NOT b OR b IS NULL"),
    ("s = 'a' AND u = s", "u = 'a' AND s = u"),
    ("x < y AND y < z AND z < x", "1 = 0"),
    ("NOT (s LIKE 'a%')", "s NOT LIKE 'a%'"),
    ("s LIKE 'a%' AND s IS NOT NULL", "s LIKE 'a%'"),
    ("x IN (1, 2) AND x > 1", "x = 2"),
    ("x NOT IN (1, 2) OR x = 1", "x <> 2"),
    ("x NOT IN (1, NULL)", "1 = 0"),
    ("EXISTS (SELECT 1 FROM t u WHERE u.x = t.x) AND x = 1 OR x = 1", "x = 1"),
    ("x = y AND EXISTS (SELECT 1 FROM t u WHERE u.x = t.x)", "x = y AND EXISTS (SELECT 1 FROM t v WHERE v.x = t.y)"),
    ("z IS NOT NULL", "1 = 1"),
    ("CASE WHEN x IS NULL THEN 1 ELSE x END = 1", "x = 1 OR x IS NULL"),
    ("d > '2020-01-01' AND d > '2019-01-01'", "d > '2020-01-01'"),
    ("(x > 1) = (x > 1)", "x IS NOT NULL"),
    ("(x IS NULL) = (x IS NULL)", "1 = 1"),
    ("x + y = 5", "y + x = 5"),
    ("ABS(x) = 1 AND x = y", "ABS(y) = 1 AND x = y"),
    ("CASE WHEN x > 1 THEN y ELSE z END = 1", "x > 1 AND y = 1 OR NOT x > 1 AND z = 1 OR x IS NULL AND z = 1"),
    ("x BETWEEN 3 AND 1", "1 = 0"),
    ("x >= 2 AND x <= 2", "x = 2"),
    ("COALESCE(s, '') <> 'a'", "s IS NULL OR s <> 'a'"),
    ("s = 'O''Neil & co.' AND s <> 'x (y)'", "s = 'O''Neil & co.'"),
]  # fmt: skip
EQUAL_WHERE_TYPES_BIND = [
    ("x > 4", "x >= 5"),
    ("x BETWEEN 1 AND 3", "x IN (1, 2, 3)"),
    ("x > 1 AND x <> 2", "x >= 3"),
    ("b", "b = TRUE"),
    ("d >= DATE '2020-01-01'", "d >= '2020-01-01'"),
]


@pytest.mark.parametrize(("first", "second"), EQUAL_EVERYWHERE)
@pytest.mark.parametrize("dialect", [None, "sqlite", "postgres", "mysql", "duckdb"])
def test_equal_conditions(first: str, second: str, dialect: str | None) -> None:
    """What follows from the laws of three-valued logic, of orders and of equality is found."""
    assert are_equivalent(first, second, dialect)


@pytest.mark.parametrize(("first", "second"), EQUAL_WHERE_TYPES_BIND)
def test_equal_conditions_on_typed_columns(first: str, second: str) -> None:
    """Whole numbers have gaps, but only where a column holds nothing else."""
    assert are_equivalent(first, second, "postgres")
    assert not are_equivalent(first, second, "sqlite")
    assert not are_equivalent(first, second, None)


# As filters, or with NULL apart, for some row in some dialect.
DIFFERENT = [
    ("x > 5", "x > 3"),
    ("x > 1 OR x <= 1", "1 = 1"),
    ("x NOT IN (1, 2)", "x <> 1"),
    ("x IS DISTINCT FROM 5", "x <> 5"),
    ("NOT (x = 1)", "x IS DISTINCT FROM 1"),
    ("b IS NOT TRUE", "NOT b"),
    ("s = 'a'", "s = 'a '"),
    ("COALESCE(x, 5) = 5", "x = 5"),
    ("r > 4", "r >= 5"),
    ("n > 4", "n >= 5"),
    ("x / 2 = 1", "x = 2"),
    ("s < 'a'", "s < 'b'"),
    ("x = y OR x IS NULL", "x = y OR y IS NULL"),
    ("NULLIF(x, y) = x", "x <> y"),
    ("x = 1 AND s = '1'", "x = 1 AND s = x"),
    ("odd > 10 AND odd > 9", "odd > 10"),
    ("CAST(s AS VARCHAR(2)) = 'a'", "s = 'a'"),
    ("CAST(n AS INT) = 5", "n = 5"),
    ("CAST(c AS TEXT) = 'a'", "c = 'a'"),
    ("s LIKE 'a_%' AND s LIKE 'a%'", "s LIKE 'a%'"),
    ("s LIKE 'a%' AND s LIKE '%a'", "s LIKE 'a'"),
]


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
@pytest.mark.parametrize("dialect", [None, "sqlite", "postgres"])
def test_different_conditions(first: str, second: str, dialect: str | None) -> None:
    """What looks alike and is not."""
    assert not are_equivalent(first, second, dialect)


def test_equal_as_filters_only() -> None:
    """NULL and false are one in WHERE, and two in a column."""
    for first, second in [("x = NULL", "1 = 0"), ("x = x", "x IS NOT NULL")]:
        assert are_equivalent(first, second, "postgres", "filter")
        assert not are_equivalent(first, second, "postgres", "bool")


# Random conditions against SQLite.


class _Maker:
    """Makes random conditions over a few columns."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311

    def one(self, *makers: Callable[[int], str] | str, depth: int = 0) -> str:
        maker = self.random.choice(makers)
        return maker if isinstance(maker, str) else maker(depth)

    def literal(self, _depth: int = 0) -> str:
        return self.one("0", "1", "2", "3", "-1", "NULL", "1.5", "10")

    def text(self, _depth: int = 0) -> str:
        return self.one("'a'", "'b'", "'A'", "''", "'10'", "'9'", "'1'", "NULL")

    def number(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.5:
            return self.one("x", "y", "z", "r", self.literal)
        low = depth - 1
        return self.one(
            f"({self.number(low)} {self.one('+', '-', '*')} {self.literal()})",
            f"COALESCE({self.number(low)}, {self.number(low)})",
            f"NULLIF({self.number(low)}, {self.number(low)})",
            f"CASE WHEN {self.condition(low)} THEN {self.number(low)} ELSE {self.number(low)} END",
            f"ABS({self.number(low)})",
        )

    def compared(self, depth: int) -> str:
        sign = self.one("=", "<>", "<", "<=", ">", ">=")
        return self.one(
            f"{self.number(0)} {sign} {self.literal()}",
            f"({self.number(depth)} {sign} {self.number(depth)})",
            f"{self.one('s', 'u', 'x', 'odd')} {sign} {self.one(self.text, 's', 'u', 'y')}",
        )

    def tested(self, depth: int) -> str:
        no = self.one("", "NOT ")
        return self.one(
            f"({self.number(depth)} IS {no}NULL)",
            f"(x {no}IN ({self.literal()}, {self.number(0)}))",
            f"(x {no}BETWEEN {self.literal()} AND {self.literal()})",
            f"(s {no}LIKE '{self.one('a', 'b')}%')",
            f"(({self.condition(depth - 1)}) IS {no}{self.one('TRUE', 'FALSE')})",
            f"(x IS {no}DISTINCT FROM {self.number(0)})",
            self.one("b", "x", "b = TRUE", "TRUE", "NULL"),
        )

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self.compared(0)
        return self.one(
            self.compared,
            self.tested,
            f"({self.condition(depth - 1)} AND {self.condition(depth - 1)})",
            f"({self.condition(depth - 1)} OR {self.condition(depth - 1)})",
            f"NOT ({self.condition(depth - 1)})",
            depth=depth,
        )


def _rows(chooser: random.Random, n_rows: int) -> list[tuple[object, ...]]:
    """Return rows of which some hold what the types do not allow, as SQLite lets them."""
    whole = [None, -1, 0, 1, 2, 3]
    odd = [None, 1, 1.5, "1", "a", 9, "10", 10, b"a", "01"]
    texts = [None, "a", "b", "A", "", "1", "10", "9", "01"]
    rows: list[tuple[object, ...]] = []
    for i in range(n_rows):
        numbers = odd if chooser.random() < 0.3 else whole
        x, y, z, r = (chooser.choice(numbers) for _ in range(4))
        s, u = (chooser.choice(texts) for _ in range(2))
        b, free = chooser.choice([None, 0, 1, 7]), chooser.choice(odd)
        rows.append((i, x, y, 1 if z is None else z, r, s, u, b, free))
    return rows


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("dialect", [None, "sqlite"])
def test_what_follows_holds_in_sqlite(seed: int, dialect: str | None) -> None:
    """Each yes of the logic holds for every row, also for values that no other engine stores."""
    maker = _Maker(seed)
    with sqlite3.connect(":memory:") as connection:
        types = "id INT, x INT, y INT, z INT, r REAL, s VARCHAR(9), u TEXT, b BOOLEAN, odd"
        connection.execute(f"CREATE TABLE t ({types})")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _rows(maker.random, 300)
        )
        texts = [maker.condition(maker.random.choice([1, 2, 3])) for _ in range(9)]
        columns = ", ".join(f"({text}) IS TRUE, ({text}) IS FALSE" for text in texts)
        found = list(zip(*connection.execute(f"SELECT {columns} FROM t"), strict=True))
    true = [{i for i, value in enumerate(column) if value} for column in found[::2]]
    false = [{i for i, value in enumerate(column) if value} for column in found[1::2]]
    terms, known = read(texts, dialect)
    n_yes = 0
    nothing = facts_of((), known)
    for i, one in enumerate(terms):
        j = maker.random.randrange(len(terms))
        facts, rows = facts_of((one, terms[j]), known), true[i] & true[j]
        assert not (facts.contradictory() is not None and rows), (texts[i], texts[j])
        for k, other in enumerate(terms):
            if facts.implies(other) is not None:
                n_yes += 1
                assert rows <= true[k], (texts[i], texts[j], texts[k])
            if facts.entails(other, FALSE) is not None:
                n_yes += 1
                assert not rows & true[k], (texts[i], texts[j], texts[k])
            if nothing.equivalent(one, other, "filter") is not None:
                assert true[i] == true[k], (texts[i], texts[k])
            if nothing.equivalent(one, other, "bool") is not None:
                assert false[i] == false[k], (texts[i], texts[k])
    assert n_yes > len(terms)


@pytest.mark.parametrize(
    "text",
    [
        " OR ".join(f"(x = {i} AND y <> {i})" for i in range(60)),
        " AND ".join(f"(x <> {i} OR y = {i})" for i in range(60)),
        " AND ".join(f"(x = {i} OR y = {i} OR s = '{i}')" for i in range(40)),
        f"x IN ({', '.join(map(str, range(700)))})",
        "x + " * 60 + "y > 1",
    ],
    ids=["or", "and", "clauses", "list", "sum"],
)
def test_hostile_conditions_are_given_up(text: str) -> None:
    """A question that would take too long is answered by no."""
    (one, other, third), known = read((text, "x = 1 OR u = 'q'", f"{text} OR z > 77"), "postgres")
    facts = facts_of((one,), known)
    assert facts.implies(Comparison("=", other, third)) is None
    assert facts_of((), known).equivalent(one, other, "filter") is None


@pytest.mark.parametrize(("dialect", "rests"), [
    ("sqlite", frozenset[str]()),
    ("mysql", frozenset({UNCASED_LIKE})),
    ("postgres", None),
    (None, None),
])  # fmt: skip
def test_like_does_not_tell_case_where_the_dialect_does_not(
    dialect: str | None, rests: frozenset[str] | None
) -> None:
    """SQLite never does; MySQL does not under its default collations, which an answer says."""
    (one, other, third), scope = read(
        ("s LIKE '%hey%'", "s LIKE '%Hey%'", "s LIKE '%ho%'"), dialect
    )
    assert facts_of((), scope).equivalent(one, other, "bool") == rests
    assert facts_of((), scope).equivalent(one, third, "filter") is None


def test_an_answer_says_what_it_rests_on() -> None:
    """And nothing else that was asked before: not even of the same facts."""
    (condition, z, key), scope = read(("x = 1", "z", "id"), "postgres")
    facts = facts_of((condition,), scope)
    assert facts.never_null(key) == frozenset({"t.id is never NULL (key)"})
    assert facts.never_null(z) == frozenset({"t.z is never NULL (schema)"})
    assert facts.implies(condition) == frozenset()
    assert facts.implies(IsNull(z)) is None


TABLE = {
    "t": {"id": "int primary key", "x": "int", "big": "bigint", "y": "int", "s": "varchar(9)"}
}


@pytest.mark.parametrize(
    "query", ["SELECT DISTINCT s FROM t", "SELECT MAX(s) FROM t", "SELECT s FROM t GROUP BY s, x"]
)
def test_which_of_equal_texts_is_shown_is_assumed(query: str) -> None:
    """Where collations take ``a`` and ``A`` for equal, either may stand for both."""
    for dialect, assumed in (("mysql", (EQUAL_TEXTS,)), ("postgres", ()), ("sqlite", ())):
        other = query.replace("FROM t", "FROM t WHERE x = 1 OR NOT x = 1 OR x IS NULL")
        result = sql_equivalence(query, other, schema=TABLE, dialect=dialect)
        assert (result.verdict, result.assumptions) == ("proved", assumed)


# The order underneath.

EDGES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-2, 2), st.sampled_from("<n")),
    max_size=7,
)


@given(EDGES, st.booleans())
def test_orders_agree_with_enumeration(
    edges: list[tuple[int, int, int, str]],
    whole: bool,  # noqa: FBT001 - drawn
) -> None:
    """Whole numbers that satisfy all bounds exist unless the order says that none do."""
    order, possible = Order(lambda _: whole), True
    for first, second, number, sign in edges:
        added = (
            order.differ(first, second, number)
            if sign == "n"
            else order.at_most(first, second, (number, 1))
        )
        possible = possible and added
    step = 1 if whole else 0.25
    places = [(0, i * step, j * step) for i in range(-24, 25) for j in range(-24, 25)]
    fitting = [
        place
        for place in places
        if all(
            place[a] - place[b] != number if sign == "n" else place[a] - place[b] <= number
            for a, b, number, sign in edges
        )
    ]
    assert not fitting or possible
    if possible and whole:
        for a, b in product(range(3), repeat=2):
            bound = order.bound(a, b)
            assert bound is None or all(place[a] - place[b] <= bound[0] for place in fitting)
