"""What follows from conditions: answers of the logic against SQLite and against a list."""

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

from benchmarks.generators.stored_pairs import pairs
from scorekit import sql_equivalence
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import read_query
from scorekit._sql.meaning.tree import FALSE, Comparison, IsNull, Scalar
from scorekit._sql.prove.logic import UNCASED_LIKE, Facts
from scorekit._sql.prove.order import Order
from scorekit._sql.prove.scope import Scope
from scorekit._sql.prove.search import EQUAL_TEXTS
from scorekit._sql.schema.tables import read_schema

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


@pytest.mark.parametrize("verdict", ["equal", "different"])
def test_conditions(verdict: str) -> None:
    """What follows from the laws of three-valued logic, of orders and of equality is found."""
    for names, first, second in pairs("conditions", verdict):
        for name in names.split():
            found = are_equivalent(first, second, None if name == "any" else name)
            assert found is (verdict == "equal"), (name, first, second)


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
