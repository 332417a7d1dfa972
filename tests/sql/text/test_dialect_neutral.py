"""Texts that four databases read alike are read once, and as each of them reads them."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import islice, pairwise
from typing import Any

import pytest
from sqlglot.dialects.dialect import Dialect

from benchmarks.generators.random_sql import random_queries, random_schema, schema_text
from scorekit import sql_equivalence
from scorekit._sql.databases.functions import VERSIONS
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import read_query
from scorekit._sql.refute import reading
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.schema.tables import SqlSchema, read_schema
from scorekit._sql.text.dialect_neutral import EVERYWHERE, DiffersError, Several, is_alike
from scorekit._sql.text.parsing import Script, parse

TABLES = read_schema(
    "CREATE TABLE users (id INT PRIMARY KEY, name TEXT, age INT, city TEXT);"
    "CREATE TABLE orders (id INT, uid INT REFERENCES users (id), total INT, status TEXT);"
    "CREATE TABLE items (oid INT, sku TEXT, qty INT)",
    None,
    None,
)

PLACES = (
    "SELECT {w} FROM a WHERE {w} IS NULL AND {w} IS NOT NULL OR NOT {w} = 2 AND {w} LIKE 'a'",
    "SELECT a.{w} AS x, {w}.b y FROM {w} AS {w}, a WHERE a.{w} IN (1, 2) OR {w} BETWEEN 1 AND {w}",
    "SELECT x {w} FROM a {w} JOIN {w} ON a.i = {w}.i WHERE {w} = 1 {w}",
    "SELECT COUNT({w}), SUM(DISTINCT {w}) FROM s.{w} GROUP BY {w} HAVING -{w} > 1 ORDER BY {w}",
    "WITH {w} AS (SELECT 1 AS x) SELECT x FROM {w} {w} ORDER BY x {w}, {w} LIMIT 3 {w}",
    "SELECT CASE {w} WHEN 1 THEN {w} ELSE {w} + {w} * {w} END FROM (SELECT 1 AS x) {w}",
    "SELECT x FROM a LEFT {w} JOIN b {w} ON a.i = b.i GROUP BY x {w} ORDER BY x",
    "SELECT {w} x, y {w} FROM a CROSS JOIN {w} UNION ALL SELECT x FROM a {w} WHERE x IS {w}",
    "SELECT {w} (1), x {w} (2), {w} 'a' FROM {w} (SELECT 1) t",
)

HOSTILE = (
    "SELECT age AS id FROM users WHERE id > 1",
    "SELECT age AS a FROM users WHERE a > 1",
    "SELECT age AS id, COUNT(*) FROM users GROUP BY id",
    "SELECT age AS id, COUNT(*) AS n FROM users GROUP BY age HAVING id > 1 AND n > 1",
    "SELECT age AS id, id + 1 AS b FROM users ORDER BY id, b + 1",
    "SELECT id + age, name + city FROM users",
    "SELECT rowid FROM users WHERE oid = 1",
    "SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM orders WHERE uid = age AND total = u.id)",
    "SELECT id FROM users WHERE id IN (SELECT COUNT(*) FROM orders GROUP BY age)",
    "SELECT * FROM users, orders JOIN items ON items.oid = orders.id ORDER BY 1 DESC, users.id",
    "SELECT * FROM users LEFT JOIN orders ON users.id = orders.uid WHERE orders.id IS NOT NULL",
    "SELECT NOT id IS NULL, id IS NOT NULL FROM users WHERE NOT NOT id - -1 = 2",
    "SELECT id, city FROM users GROUP BY id ORDER BY age",
    "SELECT DISTINCT city FROM users ORDER BY age",
    "SELECT +id FROM users",
    "SELECT SUM(name), AVG(age) FROM users WHERE name > 1",
    "SELECT id FROM dual UNION SELECT MAX(id) FROM users WHERE age BETWEEN 1 AND 2;",
    "SELECT COALESCE(age, '0') FROM users WHERE city = 'a' OR city = 1",
    "SELECT id FROM Users AS Ü",
    "SELECT id FROM (SELECT id FROM users) WHERE id = 1",
    "WITH t AS (SELECT id FROM users ORDER BY id LIMIT 1) SELECT a.id FROM t a, t b WHERE 1 = 1",
    "SELECT x.id FROM users x WHERE x.id = (SELECT MIN(total) FROM orders WHERE uid = x.id)",
    "SELECT COUNT(users.*), COUNT(*), * FROM users",
    "SELECT id FROM users LIMIT 2, 1",
    "SELECT 1 WHERE TRUE OR users.id",
)


def read(texts: tuple[str, str]) -> list[Any]:
    """Return what each database reads, None of one that cannot."""
    found: list[Any] = []
    for name in VERSIONS:
        try:
            both = reading.read_pair(texts, name)
        except UnfaithfulError:
            return [*found, None]
        reading._lower_names(both)
        found.append(both[:2])
    return found


def test_a_word_has_no_meaning_of_its_own_in_a_text_that_is_alike() -> None:
    """Each text with a word in all places that is alike has the tree of one parser, changed."""
    rng = random.Random(7)  # noqa: S311 - nothing secret
    words = sorted({word for name in VERSIONS for word in vocabulary(name)})
    n_alike = 0
    for word in rng.sample(words, 150):
        for place in rng.sample(PLACES, 3):
            text = place.format(w=word.lower())
            if is_alike(text):
                of_each = read((text, text))
                if of_each != [None]:
                    n_alike += 1
                    assert of_each == [p[:2] for p in spelled(text).values()], text
    assert n_alike > 50


def vocabulary(dialect: str) -> set[str]:
    """Return words that the grammar of a dialect knows."""
    known = Dialect.get_or_raise(dialect)
    words = {*known.tokenizer_class.KEYWORDS, *known.parser_class.FUNCTIONS}
    return {part for word in words for part in word.split() if part.isidentifier()}


def spelled(text: str) -> dict[str, reading.Pair]:
    """Return the pair of a text with itself as it is derived for each database."""
    both = reading.read_pair((text, text), reading._PLAIN)
    reading._lower_names(both)
    return reading._pairs(both)


def check(texts: tuple[str, str], schema: SqlSchema | None) -> bool:
    """Say whether two texts are read once, which is as four databases read them."""
    once = reading._read_alike(texts, schema)
    if once is None:
        return False
    each = reading._read_everywhere(texts, schema)
    assert (once.refusals, once.neutral[:2]) == (each.refusals, each.neutral[:2]), texts
    for (name, mine), (other, own) in zip(once.pairs().items(), each.pairs().items(), strict=True):
        assert (name, mine.dialect, mine[:2]) == (other, own.dialect, own[:2]), texts
    assert once.readings == tuple(
        read_query(tree, Catalog(schema, None)) for tree in each.neutral[:2]
    )
    return True


def test_what_is_read_once_is_what_four_databases_read() -> None:
    """Of drawn queries many are read once."""
    rng = random.Random(3)  # noqa: S311 - nothing secret
    n_once = 0
    for _ in range(2):
        tables = random_schema(rng)
        schema = read_schema(schema_text(tables), None, None)
        drawn = islice(random_queries(tables, rng), 20)
        plain = [text for text in drawn if is_alike(text)]
        n_once += sum(check(texts, schema) for texts in pairwise(plain))
    assert n_once >= 4


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_that_invites_a_wrong_reading_is_read_as_by_four(text: str) -> None:
    """It is read once and alike, or the long way."""
    check((text, "SELECT id FROM users"), TABLES)


def test_several_dialects_answer_only_as_one() -> None:
    """They are compared, and neither looked up nor asked what they differ in."""
    two = Several("sqlite", "duckdb")
    assert two != "mysql"
    assert two not in ("mysql", "")
    assert two.ask(lambda one: one is None) is False
    assert not [one for one in ("mysql", "") if one == two]
    asked: tuple[Callable[[], object], ...] = (
        lambda: two == "sqlite",
        lambda: two != "sqlite",
        lambda: hash(EVERYWHERE),
    )
    for question in asked:
        with pytest.raises(DiffersError):
            question()


def test_a_pair_is_parsed_once_where_all_read_it_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The grammars of the others are not asked, and the verdict is that of the long way."""
    texts = "SELECT id FROM users WHERE age > 1", "SELECT id FROM users WHERE NOT age <= 1"
    asked: list[str | None] = []

    def counted(text: str, dialect: str | None) -> Script:
        asked.append(dialect)
        return parse(text, dialect)

    monkeypatch.setattr(reading, "parse", counted)
    schema = {"users": {"id": "int", "age": "int"}}
    once = sql_equivalence(*texts, schema=schema)
    assert asked == [reading._PLAIN] * 2
    monkeypatch.setattr(reading, "_read_alike", lambda *_: None)
    assert sql_equivalence(*texts, schema=schema) == once
    assert len(asked) == 2 + 2 * len(VERSIONS)
