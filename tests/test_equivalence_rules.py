"""
Each rule of the prover by itself: trees on which it fires mean the same before and after.

Queries are rewritten by all rules, and where the rule in question fires, both trees are run by the
interpreter on databases that obey what the rule says that it rests on, and nothing else.  The
queries are those of the tests of proofs, some for single rules, and many that differ from them in
a column, a literal, a condition or a keyword: near misses of what the rules look for.
"""

# ruff: noqa: E501 - a query stands on one line

from __future__ import annotations

import contextlib
import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import attrs
import pytest
from test_equivalence_steps import DIFFERENT, EQUAL
from test_equivalence_steps import SCHEMA as STEPS
from tree_interpreter import Interpreter, MeaninglessError, TooManyError

from scorekit._sql.catalog import Catalog
from scorekit._sql.parsing import parse
from scorekit._sql.prove.matching import Matcher
from scorekit._sql.prove.normal import Arm, As, FullJoin, LeftJoins, Sorted
from scorekit._sql.prove.rewriting import Rewriting
from scorekit._sql.prove.rule import Rule, View
from scorekit._sql.prove.rules import RULES, flat_joins
from scorekit._sql.prove.scope import Scope, Steps, UnsupportedError
from scorekit._sql.prove.search import normal_form
from scorekit._sql.read import UnreadError, read_query
from scorekit._sql.schema import SqlSchema, read_schema
from scorekit._sql.tree import (
    NULL,
    TRUE,
    Aggregate,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Derived,
    Join,
    Literal,
    Node,
    Not,
    Or,
    Ordered,
    Place,
    Query,
    Scalar,
    Scan,
    Select,
    SetOperation,
    Source,
    Table,
    When,
    defined_in,
    free_sources,
    has_aggregate,
    integer,
    local_sources,
    replaced,
    rewritten,
    walk,
)
from scorekit.errors import SqlError

COLUMNS = {
    "d": {"id": "int", "name": "text", "size": "int"},
    "e": {"id": "int", "d_id": "int", "boss": "int", "pay": "int", "rank": "int"},
    "n": {"a": "int", "b": "int", "c": "text"},
    "w": {"a": "int", "b": "text"},  # the schema does not have it
    "s": {"t": "text", "k": "int"},
    "v": {
        "boss": "int",
        "t": "text",
        "u": "text",
        "x": "number",
        "y": "real",
        "z": "real",
        "day": "day",
        "at": "moment",
    },
}
SCHEMA = f"""{STEPS};
CREATE TABLE s (t TEXT PRIMARY KEY, k INT);
CREATE TABLE v (boss INT, t TEXT REFERENCES s (t), u TEXT NOT NULL, x NUMERIC, y DOUBLE PRECISION, z DOUBLE PRECISION,
                day DATE, at TIMESTAMP)
"""
DIALECTS = ("postgres", "sqlite", "mysql", None)
ENGINES = ("postgres", "sqlite", "mysql")
DAY, NIGHT, EVE = dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(2019, 12, 31)
DAYS = (DAY, NIGHT, EVE, dt.date(2020, 2, 1), dt.date(2021, 1, 1))
VALUES: dict[str, Sequence[Any]] = {
    "int": range(4),
    "text": ("x", "X", "y", "2020-"),
    "number": tuple(map(Decimal, ("0", "1", "1.0", "2"))),
    "real": (0.1, 0.2, 0.3, 1.0),
    "day": DAYS,
    "moment": tuple(
        map(
            dt.datetime.fromisoformat,
            ("2020-01-01", "2020-01-01T09", "2020-01-02", "2019-12-31T09"),
        )
    ),
}
"""What columns hold: in MySQL x and X are equal, in PostgreSQL 1 and 1.0 look different."""
MUTANTS = 200
"""Queries that differ a little from those for a rule, at most five from each in a dialect."""
OTHERS = 25
"""Queries of the tests of proofs that are for other rules."""
SAMPLES = 80
"""Times that a rule fires that are looked at."""
DATABASES = 14

Database: TypeAlias = dict[str, tuple[list[str], list[tuple[Any, ...]]]]

# Queries for single rules, beside those of the tests of proofs.  Dialects in front of one are those
# in which it is so; `any` is no named dialect.
FIRING: dict[str, Sequence[str]] = {
    "part of a date cut out": [
        "sqlite: SELECT strftime('%Y', day), strftime('%m', t), date(day), date(at), strftime('%Y-%m-%d', t) FROM v",
        "sqlite: SELECT strftime('%d', at) FROM v GROUP BY strftime('%d', at)",
        "sqlite: SELECT date(at) FROM v",
    ],
    "part of a date compared": [
        "sqlite: SELECT boss FROM v WHERE strftime('%Y', day) = '2020' OR strftime('%Y-%m', t) < '2020-01' OR '2020' <= strftime('%Y', at)",
        "sqlite: SELECT boss FROM v WHERE CAST(strftime('%Y', day) AS INTEGER) <> 2020 OR date(at) = '2020-01-01' OR SUBSTR(day, 1, 4) > '2019'",
        "sqlite: SELECT boss FROM v WHERE CAST(strftime('%m', day) AS INTEGER) >= 2 OR SUBSTR(t, 9, 2) = '01' OR '01' < strftime('%m', at)",
        "postgres: SELECT boss FROM v WHERE EXTRACT(YEAR FROM day) = 2020 OR EXTRACT(YEAR FROM at) < 2020 OR 2020 < EXTRACT(YEAR FROM at)",
        "postgres: SELECT boss FROM v WHERE EXTRACT(MONTH FROM day) = 1 OR to_char(day, 'YYYY-MM') = '2020-01' OR to_char(at, 'MM') <= '01'",
        "postgres: SELECT boss FROM v WHERE SUBSTR(t, 1, 4) = '2020' OR LEFT(t, 7) <= '2020-01' OR SUBSTR(CAST(day AS TEXT), 1, 4) = '2019'",
        "mysql: SELECT boss FROM v WHERE YEAR(day) = 2020 OR MONTH(at) = 1 OR 2019 >= YEAR(at) OR DAY(day) < 2 OR DATE_FORMAT(day, '%Y') > '2019'",
        "mysql: SELECT boss, YEAR(day) = 2020, YEAR(at) <> 2020, YEAR(day) <= 2019, 2020 <= YEAR(day), YEAR(at) < 2020, 2019 < YEAR(at) FROM v",
    ],
    "month of a year compared": [
        "mysql: SELECT boss FROM v WHERE YEAR(day) = 2020 AND MONTH(day) = 1 AND boss > 1",
        "sqlite: SELECT boss FROM v WHERE strftime('%Y', t) = '2020' AND strftime('%m', t) = '02'",
        "mysql: SELECT boss, YEAR(at) = 2020 AND MONTH(at) = 1 FROM v",
    ],
    "LIKE of a date compared": [
        "sqlite: SELECT boss FROM v WHERE day LIKE '%-01-%'",
        "postgres: SELECT boss FROM v WHERE CAST(day AS TEXT) LIKE '2019-%'",

        "sqlite: SELECT boss FROM v WHERE day LIKE '2020%' OR t LIKE '2020-01%' OR at LIKE '2019-12-%' OR day LIKE '%-01-%' OR t LIKE '____-02-__'",
        "postgres: SELECT boss FROM v WHERE t LIKE '2020-%' OR CAST(day AS TEXT) LIKE '2019-%'",
        "mysql: SELECT boss FROM v WHERE day LIKE '2020-%' OR t LIKE '2020-01-%'",
    ],
    "last day of a range": [
        "postgres: SELECT boss FROM v WHERE day > DATE '2020-01-01'",

        "sqlite: SELECT boss FROM v WHERE day <= '2020-01-01' OR t > '2020-01-01'",
        "postgres mysql: SELECT boss FROM v WHERE day <= '2020-01-01' OR day > DATE '2020-01-01' OR t <= '2019-12-31'",
    ],
    "test of a text as LIKE": [
        "sqlite: SELECT boss FROM v WHERE LOWER(t) = 'x'",
        "postgres: SELECT boss FROM v WHERE STRPOS(t, 'x') > 0",

        "sqlite: SELECT boss FROM v WHERE INSTR(LOWER(t), 'x') > 0 OR 1 <= INSTR(UPPER(t), 'X') OR INSTR(u, '1') <> 0 OR UPPER(t) = 'X' OR LOWER(SUBSTR(t, 1, 1)) = 'y'",
        "sqlite: SELECT boss FROM v WHERE SUBSTR(LOWER(t), 1, 1) = 'x' OR SUBSTR(t, 1, 1) = '1'",
        "postgres: SELECT boss FROM v WHERE STRPOS(t, 'x') > 0 OR SUBSTR(t, 1, 1) = 'X' OR LEFT(u, 1) = 'y' OR STRPOS(LOWER(t), 'x') >= 1",
    ],
    "case of a text dropped": [
        "SELECT LOWER('Ab'), UPPER('Ab') FROM v",
        "sqlite: SELECT boss FROM v WHERE LOWER(t) LIKE 'x%' OR UPPER(u) LIKE '%X'",
    ],
    "LIKE without a wildcard": ["postgres: SELECT boss FROM v WHERE t LIKE 'x'"],
    "LIKE of a letter taken apart": ["sqlite: SELECT boss FROM v WHERE t LIKE 'x%' OR u LIKE 'Y%'"],
    "operands sorted": [
        "SELECT id FROM e WHERE 3 = pay OR rank + 1 = boss",
        "SELECT rank * pay, boss - pay FROM e",
    ],
    "EXISTS subquery simplified": [
        "SELECT id FROM d WHERE EXISTS (SELECT COUNT(*) WHERE d.size = 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT boss FROM e WHERE pay = d.id GROUP BY boss)",
        "SELECT id FROM d WHERE EXISTS (SELECT boss FROM e WHERE pay = d.id GROUP BY boss HAVING COUNT(*) > 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT COUNT(*) FROM e WHERE pay = d.id)",
        "SELECT id, EXISTS (SELECT 1 WHERE size > 1), EXISTS (SELECT 1 FROM e WHERE 1 = 0) FROM d WHERE EXISTS (SELECT 1 WHERE size > 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM e WHERE pay = d.id LIMIT 0)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM e WHERE pay = d.id LIMIT 2)",
        "SELECT id FROM d WHERE EXISTS (SELECT COUNT(*) FROM e WHERE 1 = 0)",
        "SELECT id FROM d WHERE EXISTS (SELECT COUNT(*) FROM e WHERE 1 = 0 HAVING COUNT(*) > 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT boss FROM e WHERE 1 = 0 GROUP BY boss HAVING COUNT(*) > 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT pay FROM e EXCEPT SELECT a FROM n)",
    ],
    "IN to EXISTS": [
        "SELECT id, pay IN (SELECT a FROM n) FROM e WHERE rank IN (SELECT b FROM n WHERE a > 1)",
        "SELECT id FROM e WHERE NOT rank IN (SELECT b FROM n) AND NOT pay IN (SELECT a FROM n)",
        "SELECT rank IN (SELECT b FROM n), rank IN (SELECT a FROM n WHERE a > 1), pay IN (SELECT b FROM n) FROM e",
        "SELECT id FROM e WHERE pay IN (SELECT COUNT(*) FROM n)",
    ],
    "IS NULL of a scalar subquery to NOT EXISTS": [
        "SELECT id FROM e WHERE (SELECT b FROM n WHERE a = e.pay GROUP BY b ORDER BY b LIMIT 1) IS NULL",
        "SELECT id, (SELECT id FROM d WHERE d.id = e.pay) IS NULL, (SELECT size FROM d WHERE d.id = e.pay) IS NULL FROM e",
        "SELECT id FROM e WHERE (SELECT b FROM n WHERE a = e.pay ORDER BY c LIMIT 1) IS NULL",
        "SELECT id FROM e WHERE (SELECT name FROM d WHERE d.id = e.pay AND d.size > 1) IS NULL",
        "SELECT id FROM e WHERE (SELECT id FROM d WHERE id = e.pay GROUP BY id HAVING MAX(size) > 1) IS NULL",
        "SELECT id, (SELECT COUNT(*) FROM d WHERE id = e.pay HAVING COUNT(*) > 1) IS NULL FROM e",
    ],
    "scalar subquery without tables replaced by its value": [
        "SELECT (SELECT e.pay WHERE e.rank > 1), (SELECT a FROM n WHERE 1 = 0) FROM e",
        "SELECT (SELECT COUNT(*) FROM n WHERE 1 = 0), (SELECT MAX(a) FROM n WHERE 1 = 0) FROM e",
        "SELECT (SELECT a FROM n WHERE 1 = 0 UNION ALL SELECT b FROM n WHERE 1 = 0) FROM e",
        "SELECT (SELECT a FROM n WHERE 1 = 0 GROUP BY a) FROM e",
        "SELECT (SELECT COUNT(*) FROM n WHERE FALSE), (SELECT 1 WHERE FALSE) FROM e",
    ],
    "NOT of a comparison or of NOT removed": [
        "SELECT NOT NOT pay < 2, NOT NOT pay FROM e",
        "SELECT id FROM e WHERE NOT NOT (pay <= 1 OR NOT NOT rank)",
        "sqlite: SELECT id FROM d WHERE NOT (SELECT COUNT(*) FROM n WHERE n.a = d.size) > 1",
    ],
    "joins flattened": [
        "SELECT e.id, d.name, n.c FROM e LEFT JOIN d ON e.boss = d.id AND d.size > 1 LEFT JOIN n ON n.a = d.size",
        "SELECT e.id, d.name FROM e FULL JOIN d ON e.boss = d.id JOIN n ON n.a = e.pay",
        "SELECT e.id, n.c FROM (e JOIN d ON e.boss = d.id) LEFT JOIN (n JOIN d x ON x.size = n.a) ON n.b = e.rank",
        "SELECT e.id, n.c FROM n RIGHT JOIN (e JOIN d ON e.pay = d.size) ON n.a = 1",
        "SELECT e.id, x.name FROM (e LEFT JOIN d ON e.boss = d.id) CROSS JOIN n LEFT JOIN d x ON x.id = n.a AND x.size = e.pay",
    ],
    "derived table inlined": [
        "SELECT x.v, e.id FROM e LEFT JOIN (SELECT id, size + 1 AS v FROM d WHERE size > 0) x ON x.id = e.boss",
        "SELECT x.v, y.k FROM (SELECT pay AS v FROM e WHERE rank > 1) x, (SELECT 1 AS k) y WHERE x.v > y.k",
        "SELECT x.v, y.w FROM (SELECT id AS i, pay AS v FROM e WHERE rank > 1) x FULL JOIN (SELECT id AS i, name AS w FROM d) y ON x.i = y.i",
        "SELECT x.v, e.id FROM e LEFT JOIN (SELECT id, CASE WHEN size > 1 THEN 2 END AS v FROM d) x ON x.id = e.boss",
        "SELECT e.id, x.v FROM e LEFT JOIN (SELECT a, b + (SELECT MAX(size) FROM d WHERE d.id = n.a) AS v FROM n) x ON x.a = e.boss",
        "SELECT y.v + 1 FROM (SELECT x.v + 1 AS v FROM (SELECT pay AS v FROM e) x) y",
        "SELECT e.id, x.name FROM (e LEFT JOIN d ON e.boss = d.id) CROSS JOIN n LEFT JOIN (SELECT id, name, size FROM d) x ON x.id = n.a AND x.size = e.pay",
        "SELECT e.id, x.c FROM e LEFT JOIN d ON e.boss = d.id LEFT JOIN (SELECT a, c FROM n) x ON x.a = d.size",
    ],
    "derived table merged into its query": [
        "SELECT x.a, x.k FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x WHERE x.k > 1",
        "SELECT x.k + 1 FROM (SELECT COUNT(*) AS k FROM n) x WHERE x.k > 1",
        "SELECT x.v FROM (SELECT pay AS v FROM e UNION SELECT a FROM n) x",
        "SELECT DISTINCT x.k FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x",
        "SELECT x.k FROM (SELECT DISTINCT COUNT(*) AS k FROM n GROUP BY a) x",
        "SELECT x.a, x.k FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x WHERE EXISTS (SELECT 1 FROM e WHERE e.pay = x.a)",
        "WITH c AS (SELECT a, (SELECT b FROM n LIMIT 1) AS p FROM n GROUP BY a) SELECT x.p FROM c x",
    ],
    "left join to inner join": [
        "SELECT d.name, n.c FROM d LEFT JOIN n ON n.a = d.id WHERE COALESCE(n.b, 0) > 0",
        "SELECT d.name, n.c FROM d LEFT JOIN n ON n.a = d.id WHERE NOT n.b IN (1, d.size)",
        "SELECT d.name, n.c FROM d LEFT JOIN n ON n.a = d.id WHERE n.b = 1 OR n.a + 1 > d.size",
        "SELECT e.id, b.pay FROM e LEFT JOIN e b ON e.boss = b.id WHERE e.boss IS NOT NULL",
        "SELECT e.id, x.m FROM e LEFT JOIN (SELECT MAX(a) AS m FROM n) x ON TRUE",
        "SELECT b.id, e.pay FROM n LEFT JOIN e ON n.a = e.id LEFT JOIN e b ON e.boss = b.id WHERE e.boss > 1",
    ],
    "full join to left join": [
        "SELECT e.id, d.size FROM e FULL JOIN d ON e.d_id = d.id",
        "SELECT e.id, d.id FROM e FULL JOIN d ON e.boss = d.id WHERE COALESCE(d.size, 0) > 0 AND e.rank > 0",
        "SELECT e.id, d.id FROM e FULL JOIN d ON e.boss = d.id WHERE d.size > 0 OR d.name = 'x'",
        "SELECT e.id, d.id FROM (SELECT * FROM e WHERE rank > 0) e FULL JOIN (SELECT * FROM d WHERE size > 0) d ON e.boss = d.id WHERE d.size > 0",
        "SELECT e.id, d.id FROM (SELECT * FROM e WHERE rank > 0) e FULL JOIN (SELECT * FROM d WHERE size > 0) d ON e.boss = d.id WHERE e.rank > 0",
    ],
    "unused outer join removed": [
        "SELECT MAX(e.pay), COUNT(DISTINCT e.rank) FROM e LEFT JOIN n ON n.a = e.boss",
        "SELECT DISTINCT e.pay FROM e LEFT JOIN n ON n.a = e.boss LEFT JOIN d ON d.id = n.b",
        "SELECT e.pay FROM e LEFT JOIN (SELECT DISTINCT a FROM n) x ON x.a = e.boss",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM e LEFT JOIN n ON n.a = e.boss WHERE e.pay = d.id)",
    ],
    "IS NULL of an outer join to NOT EXISTS": [
        "SELECT d.name, e.pay FROM d LEFT JOIN e ON e.d_id = d.size WHERE e.id IS NULL",
        "SELECT d.name FROM d LEFT JOIN n ON n.a = d.size WHERE n.a IS NULL",
        "SELECT e.id, d.id IS NULL, d.name IS NULL FROM e LEFT JOIN d ON e.boss = d.id",
        "SELECT e.id, d.size IS NULL FROM e LEFT JOIN d ON e.boss = d.id AND d.size > 0",
        "SELECT d.name IS NULL, d.id FROM d LEFT JOIN e ON e.d_id = d.id AND e.id = 1",
    ],
    "foreign key join removed": [
        "SELECT b.id, e.pay FROM e JOIN e b ON e.boss = b.id JOIN d ON d.id = b.d_id",
        "SELECT e.pay FROM e LEFT JOIN n ON n.a = e.id JOIN d ON d.id = e.d_id",
        "SELECT COUNT(*) FROM e JOIN e b ON b.id = e.boss",
        "postgres sqlite: SELECT s.t FROM v JOIN s ON s.t = v.t",
        "SELECT v.u FROM v JOIN s ON s.t = v.t",
        "SELECT id, (SELECT 1 FROM d WHERE d.id = e.d_id) FROM e WHERE EXISTS (SELECT 1 FROM e b WHERE b.id = e.boss)",
        "SELECT n.a, (SELECT 1 FROM e b WHERE b.id = e.boss) FROM n LEFT JOIN e ON e.id = n.a",
        "SELECT d.id, e.pay FROM n LEFT JOIN e ON e.id = n.a JOIN d ON d.id = e.d_id",
    ],
    "self join on a key removed": [
        "SELECT x.pay, y.rank FROM e x JOIN e y ON x.id = y.boss AND x.boss = y.id AND x.id = x.boss",
        "SELECT e.id, x.pay FROM e LEFT JOIN e x ON x.id = e.id",
        "sqlite: SELECT e.id, x.pay, d.name, n.a FROM e LEFT JOIN e x ON x.id = e.id, n LEFT JOIN d ON d.id = n.b",
    ],
    "EXISTS to join": [
        "SELECT COUNT(e.id) FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.pay)",
        "SELECT COUNT(*) FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size)",
        "SELECT rank, COUNT(*), MAX(pay) FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.pay) GROUP BY rank",
        "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.id = e.boss GROUP BY d.size HAVING COUNT(*) > 1)",
        "SELECT MAX(e.id) FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.pay)",
        "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM d, d x WHERE x.id = e.pay AND d.id = x.size)",
        "SELECT e.id FROM e WHERE e.pay > 1 AND EXISTS (SELECT 1 FROM d WHERE d.id = e.boss)",
        "SELECT e.id FROM e WHERE EXISTS (SELECT 1 WHERE e.pay > 1)",
    ],
    "unused columns removed": [
        "SELECT x.a, e.id FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x, e",
        "SELECT x.k FROM (SELECT a, MAX(b) AS m, COUNT(*) AS k FROM n GROUP BY a) x, e",
        "SELECT x.v FROM (SELECT a AS v, b FROM n UNION ALL SELECT pay, rank FROM e) x, d",
        "SELECT x.k, e.id FROM (SELECT MAX(a) AS m, COUNT(*) AS k FROM n) x, e",
        "SELECT x.p, x.q FROM (SELECT a AS p, a AS q FROM n EXCEPT SELECT size, id FROM d) x, e",
        "SELECT x.p, x.q FROM (SELECT DISTINCT a AS p, a AS q FROM n) x, e",
        "SELECT x.p, x.q FROM (SELECT a AS p, a AS q, COUNT(*) FROM n GROUP BY a UNION ALL SELECT size, size, 1 FROM d) x, e",
        "SELECT x.p, x.q FROM (SELECT a AS p, a AS q, COUNT(*) FROM n GROUP BY a UNION ALL SELECT size, id, 1 FROM d) x, e",
        "SELECT x.p, x.q FROM (SELECT a AS p, a AS q, b FROM n UNION ALL SELECT size, size, id FROM d) x, e",
    ],
    "redundant DISTINCT in a derived table removed": [
        "SELECT MAX(x.a) FROM (SELECT DISTINCT a, b FROM n) x, e WHERE e.pay = x.b",
        "SELECT DISTINCT x.v FROM (SELECT a AS v FROM n UNION SELECT pay FROM e) x, d",
        "SELECT DISTINCT x.v FROM (SELECT a AS v FROM n INTERSECT SELECT pay FROM e) x, d",
        "SELECT SUM(DISTINCT x.v) FROM (SELECT a AS v FROM n UNION SELECT pay FROM e) x",
        "SELECT DISTINCT CAST(x.a AS CHAR(9)) FROM (SELECT DISTINCT a FROM n) x",
        "SELECT DISTINCT x.x + 1 FROM (SELECT DISTINCT x FROM v) x",
        "postgres sqlite: SELECT DISTINCT REPLACE(x.t, 'X', 'y') FROM (SELECT DISTINCT t FROM v) x",
        "SELECT DISTINCT x.t FROM (SELECT DISTINCT t FROM v) x, e WHERE CAST(e.id AS CHAR(9)) > '1'",
        "SELECT DISTINCT e.id FROM (SELECT DISTINCT x FROM v) x, e WHERE x.x + 1 > e.pay AND x.x < 9",
        "SELECT DISTINCT CAST(x.x AS CHAR(9)) FROM (SELECT pay AS x FROM e UNION SELECT a FROM n) x",
        "SELECT MAX(x.x), MIN(x.x) FROM (SELECT DISTINCT x FROM v) x",
        "SELECT DISTINCT x.v FROM (SELECT a AS v FROM n EXCEPT SELECT pay FROM e) x, d",
    ],
    "condition on keys moved out of a derived table": [
        "SELECT x.a, x.k FROM (SELECT a, COUNT(*) AS k FROM n WHERE a > 0 AND b > 0 GROUP BY a) x, e",
        "SELECT x.a FROM (SELECT DISTINCT a, b FROM n WHERE a > b) x, e",
        "SELECT x.a FROM (SELECT DISTINCT a, b FROM n WHERE a > 0) x GROUP BY x.a",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM n WHERE a > 0) x",
        "SELECT x.x FROM (SELECT DISTINCT x FROM v WHERE x + 1 > 1) x, e",
        "SELECT x.a FROM (SELECT DISTINCT a FROM n WHERE CAST(a AS CHAR(9)) = '1') x, e",
        "postgres sqlite: SELECT x.t FROM (SELECT DISTINCT t FROM v WHERE REPLACE(t, 'X', 'y') = 'y') x, e",
        "SELECT x.l, x.k FROM (SELECT LOWER(t) AS l, COUNT(*) AS k FROM v WHERE LOWER(t) > 'a' GROUP BY LOWER(t)) x, e",
        "SELECT x.a, x.one FROM (SELECT DISTINCT a, 1 AS one FROM n WHERE a > 1) x, e",
    ],
    "query without rows emptied": [
        "SELECT d.id, x.v FROM d LEFT JOIN (SELECT a, b AS v FROM n WHERE 1 = 0) x ON x.a = d.id",
        "SELECT COUNT(pay), MAX(pay) FROM e WHERE pay < 1 AND pay > 2",
        "SELECT pay, COUNT(*) FROM e WHERE rank IS NULL GROUP BY pay",
        "SELECT MAX(x.pay) FROM (SELECT pay FROM e WHERE 1 = 0) x, n",
        "SELECT COUNT(*) FROM e WHERE rank IS NULL HAVING COUNT(*) > 0",
        "SELECT e.pay FROM e LEFT JOIN d ON e.boss = d.id WHERE d.name IS NULL AND e.rank IS NULL",
        "SELECT 1 FROM e WHERE 1 = 0",
        "SELECT e.pay FROM e, (SELECT COUNT(*) AS k FROM n WHERE FALSE) x",
    ],
    "dependent column added to GROUP BY": [
        "SELECT d.name, d.size + 1, COUNT(*) FROM d JOIN e ON e.pay = d.id GROUP BY d.id",
        "SELECT e.rank FROM e WHERE e.rank = e.boss GROUP BY e.boss",
        "SELECT d.name FROM e LEFT JOIN d ON d.id = e.boss GROUP BY e.id",
        "SELECT d.name FROM d WHERE d.size = 1 GROUP BY d.size, d.id HAVING d.name > 'x'",
    ],
    "HAVING on keys moved to WHERE": [
        "SELECT boss, MAX(pay) FROM e GROUP BY boss HAVING boss > 1 AND MAX(pay) > 2",
        "SELECT boss, MAX(pay) FROM e GROUP BY boss, rank HAVING boss + rank > 1 AND COUNT(*) > 1",
        "SELECT x FROM v GROUP BY x HAVING x + 1 > 1",
        "SELECT a FROM n GROUP BY a HAVING CAST(a AS CHAR(9)) = '1'",
        "SELECT LOWER(t) FROM v GROUP BY LOWER(t) HAVING LOWER(t) = 'x'",
        "postgres sqlite: SELECT t FROM v GROUP BY t HAVING REPLACE(t, 'X', 'y') = 'y'",
    ],
    "aggregate simplified": [
        "SELECT boss, MAX(1), MIN(boss) FROM e GROUP BY boss",
        "SELECT COUNT(CASE WHEN 1 = 1 THEN pay END), COUNT(1), MAX(DISTINCT pay), COUNT(rank), COUNT(DISTINCT rank) FROM e GROUP BY boss",
        "SELECT COUNT(d.name), COUNT(d.id), COUNT(n.b) FROM e LEFT JOIN d ON e.boss = d.id JOIN n ON n.a = e.pay",
        "SELECT boss, MIN(boss), SUM(DISTINCT boss), AVG(DISTINCT boss), COUNT(DISTINCT boss), COUNT(rank), COUNT(pay) FROM e GROUP BY boss",
        "SELECT COUNT(DISTINCT id), COUNT(DISTINCT rank), COUNT(DISTINCT pay), SUM(DISTINCT id) FROM e",
        "SELECT boss, COUNT(DISTINCT CASE WHEN pay > 1 THEN id END) FROM e GROUP BY boss",
        "SELECT COUNT(pay), COUNT(rank), COUNT(boss) FROM e WHERE pay > 1",
        "SELECT COUNT(DISTINCT CASE WHEN pay > 1 THEN id END) FROM e",
        "SELECT boss, COUNT(DISTINCT boss) FROM e GROUP BY boss",
        "SELECT rank, COUNT(DISTINCT rank) FROM e GROUP BY rank",
        "postgres mysql any: SELECT boss, SUM(DISTINCT boss) FROM e GROUP BY boss",
        "postgres mysql any: SELECT boss, AVG(DISTINCT boss) FROM e GROUP BY boss",
        "SELECT boss, MIN(boss) FROM e GROUP BY boss",
        "postgres mysql any: SELECT x.s, SUM(DISTINCT x.s) FROM (SELECT DISTINCT pay + 1 AS s, rank FROM e) x GROUP BY x.s",
        "SELECT 1, SUM(DISTINCT 1) FROM e GROUP BY boss",
        "SELECT boss, COUNT(DISTINCT id) FROM e GROUP BY boss",
        "SELECT COUNT(rank) FROM e",
    ],
    "GROUP BY to DISTINCT": [
        "SELECT boss, rank FROM e GROUP BY rank, boss",
        "SELECT boss FROM e GROUP BY boss HAVING boss > 1",
        "SELECT boss, 1 FROM e GROUP BY boss, NULL",
    ],
    "DISTINCT removed where duplicates do not matter": [
        "SELECT id FROM d WHERE size IN (SELECT DISTINCT pay FROM e)",
        "SELECT DISTINCT a FROM n UNION SELECT DISTINCT pay FROM e",
        "SELECT DISTINCT a FROM n EXCEPT SELECT DISTINCT pay FROM e",
        "SELECT DISTINCT name, size FROM d ORDER BY size LIMIT 1",
    ],
    "redundant DISTINCT removed": [
        "SELECT DISTINCT MAX(pay), boss FROM e GROUP BY boss",
        "SELECT DISTINCT MAX(pay) FROM e",
    ],
    "GROUP BY of single rows removed": [
        "postgres mysql any: SELECT id, AVG(pay), MIN(rank), COUNT(pay), COUNT(*) FROM e GROUP BY id HAVING SUM(pay) > 1",
        "postgres mysql any: SELECT e.id, SUM(d.size), COUNT(d.size) FROM e LEFT JOIN d ON d.id = e.boss GROUP BY e.id",
        "SELECT id, MAX(pay) + 1, COUNT(DISTINCT pay) FROM e GROUP BY id, rank",
        "postgres mysql any: SELECT id, AVG(pay) / 2, AVG(rank) / 3 FROM e GROUP BY id",
        "SELECT id, MAX(pay) FROM e GROUP BY id",
        "postgres mysql any: SELECT id, SUM(pay) FROM e GROUP BY id",
        "postgres mysql any: SELECT id, AVG(pay) FROM e GROUP BY id",
        "SELECT id, COUNT(pay) FROM e GROUP BY id",
        "SELECT id, COUNT(rank), COUNT(*) FROM e GROUP BY id",
        "postgres mysql any: SELECT x.s, x.i, SUM(x.s) FROM (SELECT DISTINCT pay + 1 AS s, id AS i FROM e) x GROUP BY x.i, x.s",
        "SELECT id, SUM(1) FROM e GROUP BY id",
    ],
    "DISTINCT moved out of a derived table": [
        "SELECT e.id, x.a FROM e, (SELECT DISTINCT a FROM n) x",
        "SELECT x.v, e.id FROM e, (SELECT a AS v FROM n UNION SELECT size FROM d) x WHERE x.v < e.rank",
        "SELECT e.id, x.x FROM e, (SELECT DISTINCT x FROM v) x WHERE x.x + 1 > e.pay",
        "postgres sqlite: SELECT e.id, x.t, LENGTH(x.t) FROM e, (SELECT DISTINCT t FROM v) x",
        "SELECT e.id, x.v FROM e, (SELECT a AS v FROM n INTERSECT SELECT size FROM d) x",
    ],
    "nested aggregates merged": [
        "SELECT SUM(x.s) FROM (SELECT a, SUM(b) AS s FROM n GROUP BY a) x",
        "SELECT SUM(x.k) FROM (SELECT COUNT(*) AS k FROM n UNION ALL SELECT COUNT(*) FROM e) x",
        "SELECT x.a, MAX(x.m) FROM (SELECT a, b, MAX(a) AS m FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT d.size, MAX(x.m) FROM d, (SELECT a, b, MAX(b) AS m FROM n GROUP BY a, b) x WHERE x.a = d.id GROUP BY d.size",
        "SELECT d.size, COUNT(DISTINCT x.a) FROM d, (SELECT a, SUM(b) AS s FROM n GROUP BY a) x WHERE x.a = d.id GROUP BY d.size",
        "SELECT CAST(x.a AS CHAR(9)), SUM(x.k) FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x GROUP BY CAST(x.a AS CHAR(9))",
        "SELECT x.x + 1, SUM(x.k) FROM (SELECT x, COUNT(*) AS k FROM v GROUP BY x) x GROUP BY x.x + 1",
        "postgres sqlite: SELECT REPLACE(x.t, 'X', 'y'), SUM(x.k) FROM (SELECT t, COUNT(*) AS k FROM v GROUP BY t) x GROUP BY REPLACE(x.t, 'X', 'y')",
        "SELECT x.a, SUM(x.s) FROM (SELECT a, b, SUM(b) AS s FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT x.t, MAX(x.s) FROM (SELECT t, u, MAX(y) AS s FROM v GROUP BY t, u) x GROUP BY x.t",
        "SELECT x.t, SUM(x.s) FROM (SELECT t, u, COUNT(y) AS s FROM v GROUP BY t, u) x GROUP BY x.t",
        "SELECT x.a, MAX(x.b) FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT x.a, SUM(x.k) FROM (SELECT a, b, COUNT(*) AS k, MAX(b) + 1 AS u FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT COUNT(*) FROM (SELECT DISTINCT b FROM n) x",
        "SELECT COUNT(x.a), SUM(x.a), MAX(x.a) FROM (SELECT a FROM n GROUP BY a) x",
        "SELECT COUNT(x.a) FROM (SELECT DISTINCT a FROM n WHERE b > 1) x WHERE x.a > 0",
        "SELECT x.a, COUNT(*), SUM(x.b) FROM (SELECT DISTINCT a, b FROM n) x GROUP BY x.a",
        "SELECT x.a, MIN(x.m), COUNT(*) FROM (SELECT a, b, MIN(b) AS m FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT AVG(x.a), SUM(x.k) FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x GROUP BY x.b",
        "SELECT MAX(x.k) FROM (SELECT b, a + 1 AS k FROM n GROUP BY b, a) x",
    ],
    "nested set operations flattened": [
        "SELECT pay FROM e UNION (SELECT a FROM n UNION SELECT size FROM d)",
        "SELECT pay FROM e UNION (SELECT a FROM n UNION ALL SELECT size FROM d)",
        "SELECT pay FROM e UNION ALL (SELECT a FROM n UNION ALL SELECT size FROM d)",
        "SELECT pay FROM e INTERSECT SELECT a FROM n INTERSECT SELECT size FROM d",
        "SELECT pay FROM e INTERSECT ALL (SELECT a FROM n INTERSECT ALL SELECT size FROM d)",
        "SELECT t FROM v UNION ALL (SELECT pay FROM e UNION ALL SELECT boss FROM v)",
    ],
    "EXCEPT of a query from itself emptied": [
        "SELECT pay FROM e WHERE rank > 1 EXCEPT SELECT pay FROM e WHERE rank > 1",
    ],
    "empty UNION arm removed": [
        "SELECT pay FROM e WHERE 1 = 2 UNION SELECT a FROM n",
        "SELECT pay FROM e WHERE pay < 1 AND pay > 2 UNION ALL SELECT a FROM n UNION ALL SELECT size FROM d",
        "SELECT pay FROM e WHERE rank < 1 AND rank > 2 UNION ALL SELECT a FROM n WHERE b IS NULL",
        "postgres mysql: SELECT MAX(pay) FROM e WHERE 1 = 0 GROUP BY rank UNION ALL SELECT a FROM n",
        "SELECT NULL FROM e WHERE 1 = 0 UNION ALL SELECT a FROM n",
        "SELECT pay FROM e WHERE 1 = 0 UNION ALL SELECT NULL FROM n",
        "(SELECT a FROM n EXCEPT ALL SELECT b FROM n) UNION SELECT pay FROM e WHERE 1 = 0",
        "(SELECT a FROM n EXCEPT SELECT b FROM n) UNION SELECT pay FROM e WHERE 1 = 0",
        "postgres mysql: SELECT pay FROM e WHERE FALSE UNION ALL SELECT COUNT(*) FROM n WHERE FALSE",
        "SELECT a FROM n UNION ALL SELECT b FROM n UNION ALL SELECT pay FROM e WHERE FALSE",
    ],
    "UNION arms over the same tables merged": [
        "SELECT a FROM n WHERE b > 1 UNION SELECT a FROM n WHERE a < 2",
        "SELECT DISTINCT e.pay FROM e JOIN d ON d.id = e.boss WHERE d.size > 1 UNION SELECT x.pay FROM e x JOIN d y ON y.id = x.boss WHERE x.rank = 1",
        "SELECT a FROM n WHERE b > 1 UNION SELECT pay FROM e UNION SELECT a FROM n WHERE a IS NULL",
        "SELECT 1 FROM n WHERE a > 1 GROUP BY b UNION SELECT 1 FROM n WHERE a < 1 GROUP BY b",
    ],
    "INTERSECT or EXCEPT to EXISTS": [
        "SELECT a FROM n EXCEPT SELECT pay FROM e",
        "SELECT a, b FROM n INTERSECT SELECT pay, rank FROM e",
        "SELECT a FROM n EXCEPT SELECT pay FROM e EXCEPT SELECT size FROM d",
        "SELECT t FROM v EXCEPT SELECT u FROM v",
        "SELECT day FROM v INTERSECT SELECT day FROM v WHERE boss = 1",
        "SELECT y FROM v INTERSECT SELECT z FROM v",
        "SELECT a FROM n INTERSECT (SELECT pay FROM e UNION ALL SELECT size FROM d)",
    ],
    "UNION ALL moved out of a derived table": [
        "SELECT DISTINCT x.v + d.id FROM (SELECT a AS v FROM n UNION ALL SELECT pay FROM e) x, d WHERE x.v > 0",
        "SELECT x.v, d.id FROM (SELECT pay AS v FROM e UNION ALL SELECT x FROM v) x, d WHERE d.size > 1",
        "postgres mysql any: SELECT x.v, x.k / 2 FROM (SELECT day AS v, boss AS k FROM v UNION ALL SELECT day, pay FROM v, e) x, d WHERE x.k > 1",
        "sqlite: SELECT x.v / 2 FROM (SELECT pay AS v FROM e UNION ALL SELECT x FROM v) x, d",
    ],
    "LIMIT 0 emptied": [
        "SELECT pay FROM e WHERE 1 = 0 LIMIT 3",
        "SELECT pay, id FROM e LIMIT 0",
    ],
    "LIMIT of a single row removed": [
        "SELECT pay FROM e WHERE id = 1 LIMIT 1",
        "SELECT pay FROM e WHERE id = 1 ORDER BY rank LIMIT 3",
        "SELECT x.pay FROM (SELECT pay FROM e ORDER BY rank LIMIT 1) x ORDER BY x.pay LIMIT 4",
        "SELECT COUNT(*) FROM e LIMIT 2",
        "SELECT x.pay FROM (SELECT pay, rank FROM e ORDER BY id LIMIT 1) x ORDER BY x.rank LIMIT 4",
        "SELECT 1 FROM e HAVING COUNT(*) > 1 ORDER BY COUNT(*) LIMIT 1",
        "SELECT x.a FROM (SELECT a, b FROM n ORDER BY b LIMIT 1) x LIMIT 3",
        "SELECT x.one FROM (SELECT 1 AS one, COUNT(*) AS k FROM n) x ORDER BY x.k LIMIT 1",
        "SELECT x.a FROM (SELECT a, b FROM n ORDER BY c LIMIT 1) x ORDER BY x.b LIMIT 3",
    ],
    "redundant ORDER BY item removed": [
        "SELECT rank FROM e ORDER BY id, pay LIMIT 2",
        "SELECT rank FROM e WHERE pay = 1 ORDER BY pay, rank LIMIT 2",
        "SELECT rank FROM e ORDER BY d_id, pay, d_id LIMIT 2",
    ],
    "LIMIT moved out of a derived table": [
        "SELECT x.rank, x.id + 1 FROM (SELECT id, rank, pay FROM e ORDER BY pay, id LIMIT 2) x",
        "SELECT x.id FROM (SELECT id, rank, pay FROM e ORDER BY pay, id LIMIT 2 OFFSET 1) x",
        "SELECT x.k FROM (SELECT boss, COUNT(*) AS k FROM e GROUP BY boss ORDER BY MAX(pay) DESC LIMIT 1) x",
        "SELECT x.a FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a LIMIT 2) x",
        "SELECT x.k FROM (SELECT COUNT(*) AS k, MAX(a) AS m FROM n LIMIT 1) x",
        "SELECT x.rank FROM (SELECT rank FROM e ORDER BY rank, id DESC LIMIT 2) x",
        "SELECT (SELECT MAX(a) FROM n WHERE n.b = x.rank) FROM (SELECT rank FROM e ORDER BY id LIMIT 2) x",
        "SELECT 1 FROM (SELECT COUNT(*) AS k FROM n LIMIT 1) x",
        "SELECT d.name FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = d.id",
        "SELECT d.name, x.k FROM d JOIN (SELECT d_id, COUNT(*) AS k FROM e GROUP BY d_id ORDER BY COUNT(*) DESC LIMIT 1) x ON x.d_id = d.id",
        "SELECT x.a + 1 FROM (SELECT DISTINCT a FROM n ORDER BY a LIMIT 2) x",
        "SELECT DISTINCT d.name FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 1) x ON x.d_id = d.id",
        "sqlite: SELECT d.name FROM (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x JOIN d ON x.d_id = d.id",
    ],
    "EXISTS taken apart": [
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size AND d.id > 1)",
        "SELECT id, EXISTS (SELECT 1 FROM n WHERE n.a = d.id AND d.size > 1) FROM d",
        "SELECT id, EXISTS (SELECT 1 FROM n WHERE n.a = d.id AND n.a > 1) FROM d WHERE NOT EXISTS (SELECT 1 FROM n, e WHERE n.a = d.id AND e.pay = n.a)",
        "SELECT id FROM d WHERE NOT EXISTS (SELECT 1 FROM n, n x WHERE n.a = d.size AND x.b > 1)",
        "SELECT id FROM e WHERE NOT EXISTS (SELECT 1 FROM n, n x WHERE n.a = e.pay AND (x.a = n.a OR x.a IS NULL AND n.a IS NULL) AND n.b < x.b)",
        "SELECT id, EXISTS (SELECT 1 FROM n WHERE n.a = d.id AND (d.size > 1 OR d.size < 0)) FROM d",
    ],
    "aggregates of a subquery taken apart": [
        "SELECT id, (SELECT MAX(pay) - MIN(pay) FROM e WHERE e.boss = d.id) FROM d",
        "SELECT id, (SELECT COUNT(*) FROM e WHERE e.id = d.size), (SELECT COUNT(pay) FROM e WHERE e.id = d.size), (SELECT MAX(pay) FROM e WHERE e.id = d.size) FROM d",
        "postgres mysql any: SELECT id, (SELECT SUM(pay) FROM e WHERE e.id = d.size) FROM d",
        "SELECT id, (SELECT COUNT(*) WHERE size > 1) FROM d",
        "SELECT id FROM d WHERE (SELECT MAX(pay) FROM e WHERE e.id = d.size) > 1",
        "SELECT id, (SELECT COUNT(*) FROM n WHERE n.a = d.id AND n.a > 1) FROM d",
    ],
    "condition of a subquery known around it removed": [
        "SELECT id FROM e WHERE boss IS NOT NULL AND NOT EXISTS (SELECT 1 FROM e x WHERE (x.boss = e.boss OR x.boss IS NULL AND e.boss IS NULL) AND x.pay > e.pay)",
        "SELECT id FROM d WHERE size > 1 AND NOT EXISTS (SELECT 1 FROM n WHERE n.a = d.id AND d.size > 0)",
        "SELECT id, (SELECT COUNT(*) FROM n WHERE n.a = d.id AND d.id > 1) FROM d WHERE id > 1",
        "SELECT id, 1 + (SELECT MAX(b) FROM n WHERE n.a = d.id AND n.a > 1) FROM d WHERE id > 2",
    ],
    "single-row subquery to left join": [
        "SELECT id, (SELECT size FROM d WHERE d.id = e.boss) FROM e",
        "SELECT id FROM e WHERE (SELECT size FROM d WHERE d.id = e.boss) > 1 OR rank = 1",
        "SELECT DISTINCT (SELECT size FROM d WHERE d.id = e.boss AND d.size > e.rank) FROM e",
        "SELECT rank, COUNT(*) FROM e WHERE (SELECT size FROM d WHERE d.id = e.boss) > 1 GROUP BY rank",
        "SELECT n.a, e.pay, (SELECT size FROM d WHERE d.id = e.boss) FROM n LEFT JOIN e ON e.id = n.a",
        "sqlite: SELECT id, (SELECT size + 1 FROM d WHERE d.id = e.boss) FROM e",
        "sqlite: SELECT id, (SELECT CASE WHEN size > 1 THEN 2 END FROM d WHERE d.id = e.boss) FROM e",
        "sqlite: SELECT id, (SELECT size + e.rank FROM d WHERE d.id = 1) FROM e",
        "sqlite: SELECT (SELECT d.size FROM d WHERE d.id = e.boss AND d.size > w.b) FROM e LEFT JOIN n ON n.a = e.pay, n w",
    ],
    "grouped derived table to scalar subqueries": [
        "SELECT e.id, x.m, x.k FROM e, (SELECT MAX(a) AS m, COUNT(*) AS k FROM n) x",
        "SELECT e.id, x.k FROM e JOIN (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x ON x.a = e.pay",
        "SELECT e.id, x.a, x.k FROM e JOIN (SELECT a, MAX(b) + a AS k FROM n GROUP BY a HAVING COUNT(*) > 1) x ON x.a = e.pay",
        "SELECT e.id, x.k FROM e JOIN (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x ON x.a = e.pay AND x.b = e.rank AND x.k > 1",
        "SELECT e.id, x.k FROM e LEFT JOIN (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x ON x.a = e.pay",
        "SELECT e.id, x.k, COALESCE(x.m, 0) FROM e LEFT JOIN (SELECT a, COUNT(b) AS k, SUM(b) AS m FROM n GROUP BY a HAVING MIN(b) > 0) x ON x.a = e.pay AND x.k > 1",
        "SELECT e.id FROM e JOIN (SELECT DISTINCT a FROM n) x ON x.a = e.pay",
        "SELECT d.id, x.k FROM d JOIN (SELECT t, COUNT(*) AS k FROM v GROUP BY t) x ON x.t = d.name",
        "SELECT e.id, x.m FROM e, (SELECT MAX(a) AS m FROM n HAVING COUNT(*) > 1) x",
        "SELECT e.id, x.k FROM e, (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x WHERE x.a = 1",
        "sqlite: SELECT e.id, x.k FROM e JOIN (SELECT a, COUNT(*) AS k FROM n GROUP BY a, NULL) x ON x.a = e.pay",
    ],
    "GROUP BY to scalar subqueries": [
        "SELECT DISTINCT e.id, e.pay FROM e, n WHERE n.a = e.pay",
        "SELECT DISTINCT e.id, n.a FROM e, n WHERE n.a = e.pay",
        "SELECT DISTINCT x.id FROM n, LATERAL (SELECT DISTINCT d.id FROM d WHERE d.size = n.a) x",
        "SELECT e.id, MAX(n.b), COUNT(*) FROM e JOIN n ON n.a = e.pay GROUP BY e.id HAVING SUM(n.b) > e.rank",
        "SELECT DISTINCT e.pay, COUNT(n.c) FROM e JOIN n ON n.a = e.pay GROUP BY e.id, e.pay",
        "SELECT e.id, n.a, COUNT(*) FROM e, n WHERE n.a = e.pay GROUP BY e.id, n.a",
        "postgres mysql: SELECT a, COUNT(*), MAX(b) FROM n WHERE a = 1 GROUP BY a",
        "SELECT d.id, COUNT(*) FROM d, v WHERE v.t = d.name GROUP BY d.id, v.t",
        "SELECT DISTINCT MAX(e.pay), e.id FROM e, n GROUP BY e.id",
        "SELECT d.id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size GROUP BY n.a HAVING COUNT(*) > 1)",
        "sqlite: SELECT DISTINCT e.pay FROM e JOIN n ON n.a = e.pay GROUP BY e.id, e.pay",
    ],
    "GROUP BY over an optional side to scalar subqueries": [
        "SELECT d.id, COUNT(*), COUNT(n.b), SUM(n.b), MAX(n.b) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.id",
        "SELECT d.id, d.size, COUNT(CASE WHEN n.b > 1 THEN 1 END) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.id, d.size HAVING COUNT(n.a) < 2",
        "SELECT d.id, COUNT(n.a) FROM d LEFT JOIN e ON e.id = d.size LEFT JOIN n ON n.a = d.size WHERE d.size > 0 GROUP BY d.id",
    ],
    "comparison with an aggregate to EXISTS": [
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id AND e.id IN (1, 2)) >= 0",
        "SELECT id, 0 <= (SELECT COUNT(a) FROM n WHERE n.b = d.size) FROM d",
        "SELECT id FROM d WHERE size >= (SELECT MAX(a) FROM n WHERE n.b = d.id) OR size < (SELECT MIN(a) FROM n)",
        "SELECT id, (SELECT COUNT(*) FROM n WHERE n.a = d.size) > 0, 1 > (SELECT COUNT(n.a) FROM n WHERE n.b = d.size) FROM d",
        "SELECT id FROM d WHERE (SELECT COUNT(n.a) FROM n WHERE n.b = d.size) <> 0 OR NOT (SELECT COUNT(*) FROM n WHERE n.a = d.size) = 0",
        "SELECT id FROM d WHERE (SELECT COUNT(DISTINCT n.a) FROM n WHERE n.b = d.size) >= 1 AND (SELECT COUNT(*) FROM n) + 1 <= 1",
        "SELECT id FROM d WHERE size < (SELECT MAX(a) FROM n WHERE n.b = d.id) OR size >= (SELECT MIN(a) FROM n)",
        "SELECT id FROM d WHERE (SELECT COUNT(DISTINCT n.a) FROM n WHERE n.b = d.id AND n.a IN (1, 2)) = 2",
        "SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.id IN (1, 2) AND e.boss = d.id) >= 2",
        "sqlite any: SELECT id, 1 + (SELECT COUNT(*) FROM n WHERE n.a = d.size) < 2 FROM d",
        "sqlite any: SELECT id, 2 > (SELECT COUNT(*) FROM n WHERE n.a = d.size) + 1 FROM d",
        "sqlite any: SELECT id FROM d WHERE (SELECT COUNT(DISTINCT n.a) FROM n WHERE (n.a = 1 OR 2 = n.a) AND n.b = d.id) + 1 = 3",
        "sqlite any: SELECT id, 0 < (SELECT COUNT(a) FROM n WHERE n.b = d.size) FROM d",
        "sqlite any: SELECT id, 0 = (SELECT COUNT(a) FROM n WHERE n.b = d.size) FROM d",
        "postgres sqlite: SELECT id FROM d WHERE (SELECT COUNT(DISTINCT v.u) FROM v WHERE v.boss = d.id AND v.u IN ('x', 'y')) = 2",
    ],
    "row that is there anyway": [
        "SELECT a FROM n WHERE EXISTS (SELECT 1 FROM n x WHERE x.a = n.a)",
        "SELECT e.id FROM e, n WHERE n.a = e.pay AND EXISTS (SELECT 1 FROM e x, n y WHERE y.a = x.pay AND x.rank = e.rank)",
        "SELECT a FROM n WHERE EXISTS (SELECT 1 FROM n x WHERE x.b = n.b)",
        "SELECT a FROM n WHERE a > 1 AND EXISTS (SELECT 1 FROM n x WHERE x.a = n.a AND x.a > 0)",
        "SELECT a, EXISTS (SELECT 1 FROM n x WHERE x.b = n.b) FROM n",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size AND n.b > 1) AND EXISTS (SELECT 1 FROM n x WHERE x.a = d.size)",
    ],
    "two rows to EXISTS": [
        "SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id) > 1",
        "SELECT id FROM e WHERE pay > 1 AND 2 <= (SELECT COUNT(*) FROM e x WHERE x.rank = e.rank)",
        "SELECT id FROM d WHERE 1 + (SELECT COUNT(*) FROM e WHERE e.boss = d.id) >= 3",
        "sqlite: SELECT e.id FROM e LEFT JOIN n ON n.a = e.pay WHERE (SELECT COUNT(*) FROM e x WHERE x.boss = e.boss) > 1",
    ],
    "least or greatest value to NOT EXISTS": [
        "SELECT id FROM e WHERE pay = (SELECT MAX(x.pay) FROM e x WHERE x.boss = e.boss)",
        "SELECT a FROM n WHERE b = (SELECT MAX(b) FROM n)",
        "SELECT a FROM n WHERE a = (SELECT MIN(x.a) FROM n x WHERE x.b = n.b)",
        "SELECT c FROM n WHERE a > 1 AND a = (SELECT MAX(x.a) FROM n x WHERE x.a > 0)",
        "sqlite: SELECT n.a FROM n, e LEFT JOIN d ON d.id = e.boss WHERE n.b = (SELECT MAX(b) FROM n)",
    ],
    "first value of an order to MIN or MAX": [
        "SELECT id FROM e WHERE pay = (SELECT b FROM n ORDER BY b DESC LIMIT 1)",
        "SELECT id FROM e WHERE pay < (SELECT DISTINCT a FROM n WHERE a IS NOT NULL ORDER BY a LIMIT 1)",
        "SELECT id FROM e WHERE pay = (SELECT b FROM n ORDER BY b, a LIMIT 1)",
        "postgres: SELECT id FROM e WHERE pay = (SELECT a FROM n ORDER BY a LIMIT 1)",
    ],
    "redundant EXISTS removed": [
        "SELECT id FROM e WHERE boss IS NOT NULL AND (SELECT SUM(x.pay) FROM e x WHERE x.boss = e.boss) > 1",
        "SELECT id FROM e WHERE boss IS NOT NULL AND EXISTS (SELECT 1 FROM n WHERE n.a = e.boss)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size) AND (SELECT COUNT(*) FROM n WHERE n.a = d.size) > 2",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size) AND (SELECT SUM(b) FROM n WHERE n.a = d.size) = 1",
    ],
    "CASE of a subquery without rows removed": [
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT MAX(n.b) FROM n WHERE n.a = d.size) END FROM d",
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT COUNT(*) FROM n WHERE n.a = d.size) ELSE 0 END FROM d",
        "SELECT id, COALESCE(CASE WHEN size > 1 THEN (SELECT COUNT(*) FROM n WHERE n.a = d.size) END, 1) FROM d",
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT MAX(n.b) FROM n WHERE n.a = d.size) + 1 END FROM d",
        "sqlite: SELECT id, CASE WHEN TRUE THEN size ELSE 0 END FROM d",
        "sqlite: SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN CASE WHEN (SELECT MAX(n.b) FROM n WHERE n.a = d.size) > 1 THEN 2 END END FROM d",
    ],
    "HAVING to EXISTS": [
        "sqlite: SELECT boss FROM e WHERE id IN (1, 2) GROUP BY boss HAVING COUNT(*) >= 0",
        "SELECT a FROM n GROUP BY a HAVING SUM(CASE WHEN b > 1 THEN 1 ELSE 0 END) > 0",
        "SELECT a FROM n GROUP BY a HAVING MAX(b) > 1 AND MIN(b) < 1",
        "SELECT rank FROM e GROUP BY rank HAVING COUNT(*) > 1",
        "SELECT b, a FROM n WHERE a > 0 GROUP BY a, b HAVING COUNT(c) > 0 AND a > b",
        "sqlite any: SELECT boss FROM e WHERE id IN (1, 2) AND pay > 0 GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite any: SELECT boss FROM e WHERE id IN (1, 2) GROUP BY boss HAVING COUNT(pay) >= 2",
        "sqlite any: SELECT boss FROM e WHERE pay IN (1, 2) GROUP BY boss HAVING COUNT(DISTINCT pay) + 1 > 2",
        "postgres sqlite: SELECT boss FROM v WHERE u IN ('x', 'y') GROUP BY boss HAVING 1 + COUNT(DISTINCT u) = 3",
        "SELECT b FROM n GROUP BY b HAVING COUNT(a) = 0",
        "postgres: SELECT t FROM v GROUP BY t HAVING MAX(at) > CURRENT_TIMESTAMP",
        "postgres sqlite: SELECT t FROM v GROUP BY t HAVING MAX(boss) > LENGTH(t)",
        "postgres: SELECT x FROM v GROUP BY x HAVING MAX(boss) > x + 1",
    ],
    "values of its own groups to GROUP BY": [
        "postgres sqlite: SELECT DISTINCT c, LENGTH(c), (SELECT COUNT(*) FROM n x WHERE x.c = n.c) FROM n WHERE c IS NOT NULL",
        "SELECT DISTINCT b, (SELECT MAX(a) FROM n x WHERE x.b = n.b) FROM n WHERE (SELECT SUM(size) FROM d) > 1 AND b > 0 AND (SELECT COUNT(*) FROM n x WHERE x.b = n.b AND x.b > 0) > 1",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n WHERE b > 0",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n",
        "SELECT DISTINCT a, (SELECT SUM(x.b) FROM n x WHERE x.a = n.a OR (x.a IS NULL AND n.a IS NULL)) FROM n",
        "SELECT DISTINCT a FROM n WHERE b > 1 AND a IS NOT NULL AND (SELECT COUNT(*) FROM n x WHERE x.a = n.a AND x.b > 1) > 2",
        "postgres: SELECT DISTINCT x + 1, (SELECT COUNT(*) FROM v w WHERE w.x = v.x) FROM v WHERE x IS NOT NULL",
        "sqlite: SELECT DISTINCT n.b, (SELECT COUNT(*) FROM n x LEFT JOIN d y ON y.id = x.a WHERE x.b = n.b) FROM n LEFT JOIN d ON d.id = n.a",
    ],
    "joined table folded into another": [
        "SELECT DISTINCT n.a FROM n, n x WHERE x.b = n.b",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n, n x WHERE n.a = d.size AND x.b = n.b AND x.b > 1)",
        "SELECT MAX(x.b) FROM n, n x WHERE x.b = n.b",
        "SELECT x.b, MIN(n.a) FROM n, n x WHERE x.b = n.b GROUP BY x.b",
    ],
    "full join to UNION ALL": [
        "SELECT e.id, d.size FROM e FULL JOIN d ON e.boss = d.id",
        "SELECT e.id, d.size, n.a FROM e FULL JOIN d ON e.boss = d.id AND e.rank > 1, n",
        "SELECT e.id, x.a FROM (SELECT * FROM e WHERE rank > 1) e FULL JOIN (SELECT a FROM n WHERE b > 1) x ON e.pay = x.a WHERE e.id > 1 OR x.a IS NULL",
    ],
    "left join of a UNION ALL taken apart": [
        "SELECT e.id, d.size FROM e LEFT JOIN d ON e.boss = d.id UNION ALL SELECT NULL, a FROM n",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON e.boss = d.id LEFT JOIN n ON n.a = e.pay UNION ALL SELECT NULL, a FROM n",
    ],
    "window function to scalar subquery": [
        "SELECT a, COUNT(*) OVER (PARTITION BY b), SUM(b) OVER (PARTITION BY a, b), MAX(a) OVER () FROM n WHERE b > 0",
        "SELECT a, RANK() OVER (PARTITION BY a ORDER BY b DESC), DENSE_RANK() OVER (ORDER BY b) FROM n",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY rank ORDER BY pay IS NULL, id DESC), SUM(pay) OVER (ORDER BY rank), COUNT(pay) OVER (ORDER BY rank, id ROWS UNBOUNDED PRECEDING) FROM e",
        "SELECT x.a FROM (SELECT a, b, AVG(b) OVER (PARTITION BY a) AS m FROM n) x WHERE x.b > x.m",
        "SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r > 1",
        "sqlite: SELECT id, SUM(pay) OVER (PARTITION BY id ROWS UNBOUNDED PRECEDING) FROM e",
        "sqlite: SELECT x.id, x.r, n.a FROM n, (SELECT id, COUNT(*) OVER () AS k, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r IN (1, 3)",
        "sqlite: SELECT x.a, COUNT(*) OVER () FROM (SELECT a FROM n UNION SELECT pay FROM e) x",
    ],
    "ROW_NUMBER to LIMIT": [
        "SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r = 2",
        "SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY rank DESC, id) AS r FROM e) x WHERE x.r <= 2 AND x.pay > 1",
        "SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r < 3",
    ],
    "value of a single row to join": [
        "SELECT id FROM e WHERE boss = (SELECT id FROM d WHERE d.id = 1)",
        "SELECT id FROM e WHERE rank = (SELECT size FROM d WHERE d.id = e.boss)",
        "SELECT id FROM e WHERE boss = (SELECT a FROM n ORDER BY b, a LIMIT 1)",
        "SELECT id FROM e WHERE boss = (SELECT d_id FROM e GROUP BY d_id ORDER BY COUNT(*) DESC LIMIT 1)",
    ],
}  # fmt: skip
"""Queries on which a rule must fire."""

NEAR: dict[str, Sequence[str]] = {
    "part of a date cut out": [
        "sqlite: SELECT strftime('%H', day), strftime('%Y', x), strftime('%Y', 'now') FROM v",
        "mysql: SELECT DATE_FORMAT(day, '%Y') FROM v",
        "sqlite: SELECT date(day, '+1 day'), strftime('%Y', day, '+1 year') FROM v",
    ],
    "part of a date compared": [
        "sqlite: SELECT boss FROM v WHERE strftime('%Y', day) = 2020 OR strftime('%Y', day) = '20' OR strftime('%Y-%m', day) = '2020-13' OR strftime('%Y', day) = 'abcd'",
        "sqlite: SELECT boss FROM v WHERE SUBSTR(t, 2, 4) = '2020' OR SUBSTR(t, 1, 3) = '202' OR CAST(strftime('%Y-%m', day) AS INTEGER) = 2020 OR strftime('%Y', day) = t",
        "postgres: SELECT boss FROM v WHERE EXTRACT(DOW FROM day) = 1 OR EXTRACT(YEAR FROM day) = 2020.5 OR EXTRACT(YEAR FROM day) = 0 OR EXTRACT(YEAR FROM day) = boss",
        "postgres: SELECT boss FROM v WHERE to_char(day, 'DD.MM') = '01.01' OR EXTRACT(YEAR FROM day) = 9999",
        "sqlite: SELECT boss FROM v WHERE CAST(SUBSTR(x, 1, 4) AS INTEGER) = 2020 OR SUBSTR(z, 1, 4) = '2020'",
    ],
    "month of a year compared": [
        "mysql: SELECT boss FROM v WHERE YEAR(day) = 2020 AND MONTH(at) = 1",
        "mysql: SELECT boss FROM v WHERE YEAR(day) >= 2020 AND MONTH(day) = 1",
        "mysql: SELECT boss FROM v WHERE YEAR(day) = 2020 AND MONTH(day) > 1",
        "mysql: SELECT boss FROM v WHERE YEAR(day) = 2020 AND MONTH(day) = 13",
        "mysql: SELECT boss FROM v WHERE YEAR(day) = 2020 AND YEAR(at) = 1 AND day < at",
    ],
    "LIKE of a date compared": [
        "sqlite: SELECT boss FROM v WHERE day LIKE '20%' OR t LIKE 'x-%' OR day LIKE '%-13-%' OR day NOT LIKE '2020-13-%' OR x LIKE '2020-%'",
        "postgres: SELECT boss FROM v WHERE t ILIKE '2020-%' OR t LIKE '2020-%' ESCAPE '!'",
        "sqlite: SELECT boss FROM v WHERE t GLOB '2020-%'",
    ],
    "last day of a range": [
        "mysql: SELECT boss FROM v WHERE day <= CAST('2020-01-01' AS CHAR(4))",
        "sqlite: SELECT boss FROM v WHERE x <= '2020-01-01'",

        "sqlite: SELECT boss FROM v WHERE day < '2020-01-01' OR at <= '2020-01-01' OR t <= '2020-13-01' OR t <= '2020' OR day = '2020-01-01'",
        "postgres: SELECT boss FROM v WHERE at <= '2020-01-01' OR day >= '2020-01-01' OR day <= '9999-12-31'",
    ],
    "test of a text as LIKE": [
        "sqlite: SELECT boss FROM v WHERE LOWER(t) = '\u00e9'",
        "sqlite: SELECT boss FROM v WHERE SUBSTR(INSTR(t, '1'), 1, 1) = '1'",
        "postgres: SELECT boss FROM v WHERE STRPOS(SUBSTR(t, 1, 1), 'x') > 0",

        "sqlite: SELECT boss FROM v WHERE INSTR(t, 'x') > 0 OR LOWER(t) = 'X' OR SUBSTR(t, 1, 1) = 'x' OR INSTR(LOWER(t), 'x') > 1 OR INSTR(LOWER(t), u) > 0 OR t = 'x'",
        "sqlite: SELECT boss FROM v WHERE SUBSTR(LOWER(t), 1, 2) = 'x' OR SUBSTR(LOWER(t), 2, 1) = 'x' OR INSTR(LOWER(t), 'x%') > 0 OR LOWER(t) > 'x' OR TRIM(t) = 'x' OR INSTR(LOWER(t), '') > 0",
        "postgres: SELECT boss FROM v WHERE LOWER(t) = 'x' OR STRPOS(t, 'x') > 1 OR SUBSTR(t, 1, 2) = 'x'",
        "mysql: SELECT boss FROM v WHERE INSTR(t, 'x') > 0 OR LEFT(t, 1) = 'x'",
        "any: SELECT boss FROM v WHERE LOWER(t) = 'x'",
    ],
    "case of a text dropped": [
        "SELECT TRIM('x') FROM v",

        "SELECT LOWER(t), UPPER('\u00e9') FROM v",
        "postgres mysql: SELECT boss FROM v WHERE LOWER(t) LIKE 'x%'",
        "sqlite: SELECT boss FROM v WHERE TRIM(t) LIKE 'x%' OR LOWER(t) GLOB 'x'",
    ],
    "LIKE without a wildcard": [
        "postgres: SELECT boss FROM v WHERE t LIKE 'x' ESCAPE '!'",

        "postgres: SELECT boss FROM v WHERE t LIKE 'x%' OR t ILIKE 'x' OR t LIKE u",
        "sqlite mysql any: SELECT boss FROM v WHERE t LIKE 'x'",
    ],
    "LIKE of a letter taken apart": [
        "sqlite: SELECT boss FROM v WHERE t LIKE 'x%' ESCAPE '!'",
        "sqlite: SELECT boss FROM v WHERE x LIKE 'x%'",

        "sqlite: SELECT boss FROM v WHERE t LIKE 'xy%' OR t LIKE '1%' OR t LIKE 'x' OR t GLOB 'x%' OR t LIKE '%'",
        "postgres mysql any: SELECT boss FROM v WHERE t LIKE 'x%'",
    ],
    "operands sorted": [
        "SELECT pay + rank FROM e",
        "SELECT t + u FROM v",
        "SELECT boss - pay, boss / rank FROM e",
    ],
    "EXISTS subquery simplified": [
        "SELECT id FROM d WHERE EXISTS (SELECT COUNT(*) FROM e WHERE pay = d.id HAVING COUNT(*) > 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM e WHERE pay = d.id LIMIT 1 OFFSET 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT pay FROM e UNION SELECT a FROM n)",
    ],
    "IN to EXISTS": [
        "SELECT id, pay IN (SELECT COUNT(*) FROM n), pay IN (SELECT DISTINCT b FROM n) FROM e",
        "SELECT id FROM e WHERE pay IN (SELECT a FROM n UNION SELECT size FROM d)",
        "SELECT boss FROM e GROUP BY boss HAVING MAX(pay) IN (SELECT a FROM n)",
        "SELECT id FROM e WHERE NOT pay IN (SELECT DISTINCT a FROM n)",
        "SELECT d.size IN (SELECT b FROM n), d.id IN (SELECT b FROM n) FROM e LEFT JOIN d ON e.boss = d.id",
    ],
    "IS NULL of a scalar subquery to NOT EXISTS": [
        "SELECT id FROM e WHERE (SELECT MAX(b) FROM n WHERE a = e.pay) IS NULL",
        "SELECT id FROM e WHERE (SELECT COUNT(*) FROM n WHERE a = e.pay) IS NULL",
        "SELECT id FROM e WHERE pay IS NULL",
        "SELECT id FROM e WHERE (SELECT b FROM n WHERE a = e.pay) IS NULL",
        "SELECT id FROM e WHERE (SELECT b FROM n WHERE a = e.pay ORDER BY c LIMIT 0) IS NULL",
        "SELECT id FROM e WHERE (SELECT b FROM n WHERE a = e.pay ORDER BY c LIMIT 2) IS NULL",
        "SELECT id FROM e WHERE (SELECT b FROM n WHERE a = e.pay ORDER BY c LIMIT 1 OFFSET 1) IS NULL",
        "SELECT id FROM e WHERE (SELECT COUNT(*) FROM n WHERE a = e.pay HAVING COUNT(*) > 1) IS NULL",
        "SELECT id FROM e WHERE (SELECT MAX(id) FROM d WHERE size = e.pay) IS NULL",
        "SELECT id, (SELECT size FROM d WHERE id = e.pay GROUP BY id, size) IS NULL FROM e",
    ],
    "scalar subquery without tables replaced by its value": [
        "SELECT (SELECT a FROM n LIMIT 1), (SELECT MAX(a) FROM n), (SELECT b FROM n WHERE a = e.id AND 1 = 1) FROM e",
        "SELECT (SELECT COUNT(*) WHERE e.pay = 1) FROM e",
    ],
    "derived table inlined": [
        "SELECT x.v, e.id FROM e LEFT JOIN (SELECT id, 1 AS v FROM d) x ON x.id = e.boss",
        "SELECT x.v, e.id FROM e LEFT JOIN (SELECT a, COALESCE(b, 3) AS v FROM n) x ON x.a = e.boss",
        "SELECT x.k, e.id FROM (SELECT 1 AS k) x LEFT JOIN e ON e.pay = x.k",
        "WITH c AS (SELECT (SELECT a FROM n LIMIT 1) AS p FROM e) SELECT x.p, y.p FROM c x, c y",
        "SELECT x.v, e.id FROM e LEFT JOIN (SELECT id, CASE WHEN size IS NULL THEN 2 END AS v FROM d) x ON x.id = e.boss",
        "SELECT x.v, e.id FROM e LEFT JOIN (SELECT id, CASE WHEN size > 1 THEN 2 ELSE 3 END AS v FROM d) x ON x.id = e.boss",
        "SELECT e.id, x.v FROM e LEFT JOIN LATERAL (SELECT e.pay AS v FROM n WHERE n.a = e.id) x ON TRUE",
        "SELECT e.id, x.v FROM e LEFT JOIN (SELECT a, (SELECT COUNT(*) FROM d WHERE d.id = n.a) AS v FROM n) x ON x.a = e.boss",
        "SELECT x.v FROM (SELECT DISTINCT a AS v FROM n) x, e",
    ],
    "derived table merged into its query": [
        "SELECT x.a, COUNT(*) FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x GROUP BY x.a",
        "SELECT DISTINCT x.v FROM (SELECT pay AS v FROM e UNION ALL SELECT a FROM n) x",
        "SELECT x.b, x.a FROM (SELECT DISTINCT a, b FROM n) x WHERE x.a = 1",
        "SELECT x.a FROM (SELECT DISTINCT a, b FROM n) x",
        "SELECT DISTINCT x.a FROM (SELECT DISTINCT a, b FROM n) x",
        "SELECT x.a FROM (SELECT a, b FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT MAX(x.a) FROM (SELECT a FROM n GROUP BY a) x",
        "SELECT x.v FROM (SELECT pay AS v FROM e) x WHERE x.v > 1",
        "SELECT x.a FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x WHERE EXISTS (SELECT 1 FROM e WHERE e.pay = x.k)",
        "SELECT 1 FROM (SELECT COUNT(*) AS k FROM n) x",
        "WITH c AS (SELECT a, (SELECT b FROM n LIMIT 1) AS p FROM n GROUP BY a) SELECT x.p FROM c x UNION ALL SELECT y.p FROM c y",
    ],
    "left join to inner join": [
        "SELECT d.name, n.c FROM d LEFT JOIN n ON n.a = d.id WHERE n.b = 1 OR d.size = 1",
        "SELECT e.id, x.m FROM e LEFT JOIN (SELECT MAX(a) AS m FROM n) x ON 1 = 1",
        "SELECT e.id, x.m FROM e LEFT JOIN (SELECT MAX(a) AS m FROM n HAVING COUNT(*) > 1) x ON 1 = 1",
        "SELECT e.id, b.pay FROM e LEFT JOIN e b ON e.boss = b.id WHERE e.pay IS NOT NULL",
        "SELECT d.name FROM d LEFT JOIN n ON n.a = d.id AND CASE WHEN n.b < 5 THEN 0 WHEN n.b >= 5 THEN 0 ELSE 1 END = 1",
        "SELECT e.id, n.a FROM e LEFT JOIN (d CROSS JOIN n) ON e.d_id = d.id",
        "SELECT e.id, n.a FROM e LEFT JOIN (d LEFT JOIN n ON n.a = d.size) ON e.d_id = d.id",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.d_id + 1",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id + 1 = e.d_id",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.d_id AND d.id = e.pay",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.pay AND d.id = e.d_id",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.d_id AND d.size > 1",
        "SELECT e.id, n.a FROM e LEFT JOIN n ON TRUE",
        "SELECT e.id, x.m FROM e LEFT JOIN (SELECT MAX(a) AS m FROM n HAVING COUNT(*) > 1) x ON TRUE",
        "SELECT v.t, e.pay FROM v LEFT JOIN e ON e.id = v.boss WHERE v.boss IS NOT NULL",
        "SELECT d.id FROM d WHERE EXISTS (SELECT 1 FROM n LEFT JOIN e ON e.id = d.size WHERE n.a = d.id)",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.d_id AND d.id = e.rank",
        "SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.rank AND d.id = e.d_id",
    ],
    "unused outer join removed": [
        "SELECT e.pay FROM e LEFT JOIN n ON n.a = e.boss",
        "SELECT SUM(e.pay) FROM e LEFT JOIN n ON n.a = e.boss",
    ],
    "IS NULL of an outer join to NOT EXISTS": [
        "SELECT d.name FROM d LEFT JOIN n ON n.a > d.size WHERE n.c IS NULL",
        "SELECT e.id, n.b IS NULL FROM e LEFT JOIN n ON e.boss = n.a",
        "SELECT e.id FROM e LEFT JOIN (SELECT id FROM d ORDER BY size LIMIT 1) x ON x.id = e.boss WHERE x.id IS NULL",
        "SELECT e.id, x.a FROM e LEFT JOIN d ON e.boss = d.id, LATERAL (SELECT DISTINCT n.a FROM n WHERE n.b = d.size) x WHERE d.id IS NULL",
        "SELECT d.name FROM d LEFT JOIN e ON e.d_id = d.id WHERE e.pay + 1 IS NULL",
    ],
    "foreign key join removed": [
        "SELECT e.rank FROM e JOIN d ON d.id = e.pay AND d.id = e.d_id",
        "SELECT e.rank FROM e JOIN d ON d.id = e.d_id AND d.id = e.pay",
        "SELECT e.rank FROM d JOIN e ON e.d_id = d.id AND e.boss = d.id",
        "SELECT d.id FROM e JOIN d ON e.d_id = d.id AND e.pay = d.id",
        "SELECT v.t FROM v JOIN e ON e.id = v.boss",
        "SELECT e.rank FROM e JOIN d ON d.id = e.d_id + 1",
        "SELECT e.rank FROM e JOIN d ON d.id + 1 = e.d_id",
        "mysql any: SELECT s.t FROM v JOIN s ON s.t = v.t",
        "SELECT v.u FROM v JOIN s ON s.t = v.u",
        "SELECT e.pay FROM e JOIN d ON d.id = e.d_id AND d.size > 1",
    ],
    "self join on a key removed": [
        "SELECT x.pay FROM e x JOIN d y ON x.id = y.id",
        "SELECT x.pay, y.size FROM e x JOIN d y ON x.id = y.id WHERE x.pay > 1",
        "SELECT x.pay, d.name FROM e x JOIN e y ON x.id = y.id LEFT JOIN d ON d.id = x.boss",
        "SELECT x.pay FROM (e x LEFT JOIN d ON d.id = x.boss) JOIN n ON n.a = x.id JOIN n z ON n.b = z.b",
        "sqlite: SELECT n.a, x.a FROM n LEFT JOIN n x ON x.b = n.b",
        "sqlite: SELECT e.id, x.pay FROM e LEFT JOIN e x ON x.id = e.boss",
        "sqlite: SELECT e.id, d.size FROM e LEFT JOIN d ON d.id = e.id",
    ],
    "EXISTS to join": [
        "SELECT COUNT(*) WHERE EXISTS (SELECT 1 FROM n WHERE n.a > 1)",
        "SELECT COUNT(*) FROM n WHERE EXISTS (SELECT 1 FROM e WHERE e.pay = n.a)",
        "SELECT COUNT(*), SUM(pay) FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.pay)",
        "SELECT COUNT(*) FROM e, d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.pay)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size)",
        "SELECT DISTINCT e.pay FROM e WHERE EXISTS (SELECT 1 FROM n WHERE n.a = e.boss GROUP BY n.b HAVING COUNT(*) > 1)",
        "SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM n, d WHERE n.a = e.pay AND d.id = n.b)",
    ],
    "unused columns removed": [
        "SELECT x.one, e.id FROM (SELECT 1 AS one, COUNT(*) AS k FROM n) x, e",
        "SELECT e.id FROM (SELECT a FROM n EXCEPT SELECT size FROM d) x, e",
        "SELECT x.a FROM (SELECT DISTINCT a, b FROM n) x, e",
        "SELECT e.id FROM (SELECT MAX(a) AS m FROM n) x, e",
        "SELECT x.v FROM (SELECT a AS v, b FROM n UNION SELECT pay, rank FROM e) x, d",
        "SELECT e.id FROM (SELECT a FROM n UNION ALL SELECT pay FROM e) x, e",
        "WITH c AS (SELECT (SELECT a FROM n LIMIT 1) AS p, pay FROM e) SELECT x.pay, y.p FROM c x, c y",
        "SELECT x.p, x.q FROM (SELECT a AS p, a AS q FROM n UNION SELECT size, size FROM d) x, e",
        "SELECT x.p, x.q FROM (SELECT DISTINCT a AS p, b AS q FROM n) x, e",
        "SELECT x.p, x.q FROM (SELECT a AS p, a AS q FROM n EXCEPT ALL SELECT size, size FROM d) x, e",
    ],
    "redundant DISTINCT in a derived table removed": [
        "SELECT COUNT(x.a) FROM (SELECT DISTINCT a, b FROM n) x, e WHERE e.pay = x.b",
        "SELECT DISTINCT CAST(x.x AS CHAR(9)) FROM (SELECT DISTINCT x FROM v) x",
        "SELECT DISTINCT x.x - 1 FROM (SELECT DISTINCT x FROM v) x",
        "mysql any: SELECT DISTINCT REPLACE(x.t, 'X', 'y') FROM (SELECT DISTINCT t FROM v) x",
        "SELECT DISTINCT e.id FROM (SELECT DISTINCT x FROM v) x LEFT JOIN e ON CAST(x.x AS CHAR(9)) = '1'",
        "SELECT DISTINCT CAST(x.x AS CHAR(9)) FROM (SELECT x FROM v UNION SELECT pay FROM e) x",
        "SELECT DISTINCT CAST(x.x AS CHAR(9)) FROM (SELECT pay AS x FROM e UNION SELECT x FROM v) x",
        "SELECT COUNT(DISTINCT x.a), SUM(x.a) FROM (SELECT DISTINCT a FROM n) x",
        "SELECT DISTINCT e.id FROM (SELECT DISTINCT x FROM v) x, e WHERE CAST(x.x AS CHAR(9)) = '1'",
    ],
    "condition on keys moved out of a derived table": [
        "SELECT x.k FROM (SELECT a + 1 AS v, COUNT(*) AS k FROM n WHERE a > 0 GROUP BY a) x, e",
        "SELECT x.a FROM (SELECT DISTINCT a, b FROM n WHERE a > b) x",
        "SELECT x.v FROM (SELECT a AS v FROM n WHERE a > 0 UNION SELECT pay FROM e) x, d",
        "SELECT x.a FROM (SELECT a, b FROM n WHERE a > 0) x, e",
        "SELECT x.m, e.id FROM (SELECT MAX(a) AS m, 1 AS k FROM n WHERE a > 0) x, e",
        "SELECT x.v, x.k FROM (SELECT a + 1 AS v, COUNT(*) AS k FROM n WHERE a + 1 > 0 GROUP BY a) x, e",
        "SELECT x.x FROM (SELECT DISTINCT x FROM v WHERE CAST(x AS CHAR(9)) = '1') x, e",
        "SELECT x.x FROM (SELECT DISTINCT x FROM v WHERE x - 1 > 1) x, e",
        "mysql any: SELECT x.t FROM (SELECT DISTINCT t FROM v WHERE REPLACE(t, 'X', 'y') = 'y') x, e",
        "SELECT x.a FROM (SELECT DISTINCT a FROM n WHERE a IN (SELECT pay FROM e)) x, d",
        "SELECT x.a FROM (SELECT DISTINCT a FROM n WHERE 1 = 0) x, e",
        "SELECT x.a FROM (SELECT a FROM n WHERE a > 0 ORDER BY b LIMIT 1) x, e",
    ],
    "query without rows emptied": [
        "SELECT d.id, e.pay FROM d LEFT JOIN e ON e.pay = d.id AND e.rank IS NULL",
        "SELECT pay FROM e WHERE 1 = 0 UNION ALL SELECT a FROM n",
        "SELECT * FROM w WHERE 1 = 0",
    ],
    "aggregate simplified": [
        "SELECT MAX(1), MIN(2), SUM(0) FROM e WHERE pay > 1",
        "SELECT COUNT(DISTINCT CASE WHEN pay > 1 THEN id ELSE 0 END), SUM(CASE WHEN pay > 1 THEN 1 ELSE 0 END) FROM e",
        "SELECT COUNT(DISTINCT CASE WHEN pay > 1 THEN id WHEN pay < 1 THEN rank END) FROM e",
        "sqlite: SELECT boss, SUM(DISTINCT boss) FROM e GROUP BY boss",
        "sqlite: SELECT boss, AVG(DISTINCT boss) FROM e GROUP BY boss",
        "SELECT t, SUM(DISTINCT t) FROM v GROUP BY t",
        "sqlite: SELECT x.s, SUM(DISTINCT x.s) FROM (SELECT DISTINCT pay + 1 AS s, rank FROM e) x GROUP BY x.s",
        "SELECT COUNT(DISTINCT rank) FROM e",
    ],
    "GROUP BY to DISTINCT": [
        "SELECT boss FROM e GROUP BY rank, boss",
        "SELECT boss, pay + 1 FROM e GROUP BY boss, pay",
        "SELECT boss, rank FROM e GROUP BY rank, boss HAVING rank > 1 OR COUNT(*) > 1",
    ],
    "redundant DISTINCT removed": [
        "SELECT DISTINCT boss, MAX(pay) FROM e GROUP BY boss, rank",
        "SELECT DISTINCT e.id, n.c FROM e JOIN n ON e.id = n.a",
        "SELECT DISTINCT d.id, e.pay FROM d JOIN e ON e.d_id = d.id",
        "SELECT DISTINCT MAX(pay) FROM e GROUP BY boss",
    ],
    "GROUP BY of single rows removed": [
        "sqlite: SELECT id, AVG(pay), MIN(rank), COUNT(pay), COUNT(*) FROM e GROUP BY id HAVING SUM(pay) > 1",
        "sqlite: SELECT e.id, SUM(d.size), COUNT(d.size) FROM e LEFT JOIN d ON d.id = e.boss GROUP BY e.id",
        "sqlite: SELECT id, AVG(pay) / 2, AVG(rank) / 3 FROM e GROUP BY id",
        "SELECT e.id, SUM(n.a) FROM e JOIN n ON n.a = e.id GROUP BY e.id, n.b",
        "sqlite: SELECT id, SUM(pay) FROM e GROUP BY id",
        "sqlite: SELECT id, AVG(pay) FROM e GROUP BY id",
        "SELECT id, SUM(name) FROM d GROUP BY id",
        "sqlite: SELECT x.s, x.i, SUM(x.s) FROM (SELECT DISTINCT pay + 1 AS s, id AS i FROM e) x GROUP BY x.i, x.s",
    ],
    "DISTINCT moved out of a derived table": [
        "SELECT e.id FROM e, (SELECT DISTINCT a FROM n) x",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a FROM n) x",
        "SELECT e.id, x.x FROM e, (SELECT DISTINCT x FROM v) x WHERE CAST(x.x AS CHAR(9)) = '1'",
        "SELECT e.id, x.x FROM e, (SELECT DISTINCT x FROM v) x WHERE x.x - 1 > e.pay",
        "mysql any: SELECT e.id, x.t, LENGTH(x.t) FROM e, (SELECT DISTINCT t FROM v) x",
        "SELECT e.id, x.v FROM e, (SELECT x AS v FROM v UNION SELECT a FROM n) x WHERE CAST(x.v AS CHAR(9)) = '1'",
        "SELECT e.id, x.v FROM e, (SELECT a AS v FROM n) x",
        "sqlite: SELECT e.id, x.a, SUM(e.pay) FROM e, (SELECT DISTINCT a FROM n) x GROUP BY e.id, x.a",
    ],
    "nested aggregates merged": [
        "SELECT SUM(x.k), MAX(x.a) FROM (SELECT a, COUNT(b) AS k FROM n GROUP BY a) x",
        "SELECT SUM(x.s), MIN(x.s) FROM (SELECT a, SUM(b) AS s FROM n GROUP BY a) x GROUP BY x.a",
        "SELECT SUM(x.k) FROM (SELECT COUNT(*) AS k FROM n GROUP BY a UNION ALL SELECT COUNT(*) FROM e GROUP BY pay) x",
        "SELECT SUM(x.k) FROM (SELECT a, COUNT(DISTINCT b) AS k FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT SUM(x.k) FROM (SELECT COUNT(*) AS k FROM n UNION ALL SELECT SUM(a) FROM n) x",
        "SELECT SUM(x.k) FROM (SELECT COUNT(*) AS k FROM n EXCEPT ALL SELECT COUNT(*) FROM e) x",
        "SELECT CAST(x.x AS CHAR(9)), SUM(x.k) FROM (SELECT x, COUNT(*) AS k FROM v GROUP BY x) x GROUP BY CAST(x.x AS CHAR(9))",
        "SELECT x.x - 1, SUM(x.k) FROM (SELECT x, COUNT(*) AS k FROM v GROUP BY x) x GROUP BY x.x - 1",
        "mysql any: SELECT REPLACE(x.t, 'X', 'y'), SUM(x.k) FROM (SELECT t, COUNT(*) AS k FROM v GROUP BY t) x GROUP BY REPLACE(x.t, 'X', 'y')",
        "SELECT x.a, SUM(x.s) FROM (SELECT DISTINCT a, SUM(b) AS s FROM n GROUP BY a, b) x GROUP BY x.a",
        "SELECT x.a, SUM(x.s) FROM (SELECT a, b, SUM(b) AS s FROM n GROUP BY a, b HAVING COUNT(*) > 1) x GROUP BY x.a",
        "SELECT x.t, SUM(x.s) FROM (SELECT t, u, SUM(y) AS s FROM v GROUP BY t, u) x GROUP BY x.t",
        "SELECT SUM(x.k), x.o FROM (SELECT COUNT(*) AS k, 1 AS o FROM n UNION ALL SELECT COUNT(*), 2 FROM e) x GROUP BY x.o",
        "SELECT x.a FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x",
        "SELECT x.a, x.b FROM (SELECT a, b FROM n) x GROUP BY x.a, x.b",
        "SELECT x.a, SUM(x.b) FROM (SELECT a, b FROM n) x GROUP BY x.a",
        "SELECT x.v, MAX(x.m) FROM (SELECT a AS v, MAX(b) AS m FROM n GROUP BY a UNION ALL SELECT pay, rank FROM e) x GROUP BY x.v",
        "SELECT MAX(x.m) FROM (SELECT a, MAX(b) AS m FROM n GROUP BY a) x WHERE x.a > 1",
        "SELECT MAX(x.m) FROM (SELECT a, MAX(b) AS m FROM n GROUP BY a) x, e",
        "postgres mysql any: SELECT MAX(x.m) FROM (SELECT MAX(pay) AS m FROM e GROUP BY boss UNION ALL SELECT MAX(t) FROM v GROUP BY boss) x",
        "SELECT SUM(x.k) FROM (SELECT COUNT(*) AS k FROM n UNION SELECT COUNT(*) FROM e) x",
        "SELECT 1 + (x.x - 1), SUM(x.k) FROM (SELECT x, COUNT(*) AS k FROM v GROUP BY x) x GROUP BY x.x",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a FROM n) x",
        "SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM n) x",
        "SELECT COUNT(*) FROM (SELECT b FROM n GROUP BY b HAVING COUNT(*) > 2) x",
        "SELECT COUNT(*) FROM (SELECT DISTINCT b + 1 FROM n GROUP BY b) x",
        "SELECT x.a, COUNT(x.b) FROM (SELECT DISTINCT a, b FROM n) x, e GROUP BY x.a",
        "SELECT x.a, COUNT(x.a) FROM (SELECT DISTINCT a, b FROM n) x GROUP BY x.a",
        "SELECT COUNT(x.a) FROM (SELECT DISTINCT a FROM n UNION ALL SELECT DISTINCT pay FROM e) x",
        "SELECT x.b, COUNT(x.k) FROM (SELECT b, a + 1 AS k FROM n GROUP BY b, a) x GROUP BY x.b",
        "SELECT AVG(x.a), SUM(x.k) FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x GROUP BY x.b + 1",
    ],
    "nested set operations flattened": [
        "SELECT pay FROM e UNION ALL (SELECT a FROM n UNION SELECT size FROM d)",
        "SELECT pay FROM e EXCEPT (SELECT a FROM n EXCEPT SELECT size FROM d)",
        "SELECT pay FROM e INTERSECT ALL (SELECT a FROM n INTERSECT SELECT size FROM d)",
        "SELECT pay FROM e UNION ALL (SELECT a FROM n INTERSECT SELECT size FROM d)",
        "SELECT t FROM v UNION ALL (SELECT pay FROM e UNION ALL SELECT t FROM v)",
        "postgres mysql any: SELECT y FROM v UNION (SELECT pay FROM e UNION SELECT x FROM v)",
    ],
    "EXCEPT of a query from itself emptied": [
        "SELECT pay FROM e EXCEPT SELECT boss FROM e",
    ],
    "empty UNION arm removed": [
        "SELECT a FROM n EXCEPT SELECT pay FROM e WHERE 1 = 2",
        "SELECT pay FROM e WHERE 1 = 2 EXCEPT SELECT a FROM n",
        "SELECT pay FROM e INTERSECT SELECT a FROM n WHERE 1 = 0",
        "SELECT MAX(pay) FROM e WHERE 1 = 0 UNION ALL SELECT a FROM n",
        "SELECT c FROM n WHERE 1 = 0 UNION ALL SELECT a FROM n",
        "SELECT x.k FROM (SELECT COUNT(*) AS k FROM n WHERE FALSE) x UNION ALL SELECT a FROM n",
        "SELECT a FROM n UNION ALL SELECT b FROM n",
        "SELECT a FROM n UNION ALL SELECT pay FROM e WHERE 1 = 0 UNION ALL SELECT t FROM v",
    ],
    "UNION arms over the same tables merged": [
        "(SELECT a FROM n EXCEPT SELECT b FROM n) UNION SELECT pay FROM e",
        "SELECT a FROM n WHERE b > 1 UNION ALL SELECT a FROM n WHERE a < 2",
        "SELECT a FROM n WHERE b > 1 EXCEPT SELECT a FROM n WHERE a < 2",
        "SELECT a FROM n WHERE b > 1 UNION SELECT b FROM n WHERE b > 1",
        "SELECT MAX(a) FROM n WHERE b > 1 UNION SELECT MAX(a) FROM n WHERE b < 1",
        "SELECT x.a FROM (SELECT a FROM n LIMIT 1) x WHERE x.a > 1 UNION SELECT x.a FROM (SELECT a FROM n LIMIT 1) x WHERE x.a < 2",
    ],
    "INTERSECT or EXCEPT to EXISTS": [
        "SELECT a FROM n EXCEPT SELECT t FROM v",
        "postgres mysql any: SELECT day FROM v INTERSECT SELECT at FROM v",
    ],
    "UNION ALL moved out of a derived table": [
        "SELECT MAX(x.v) FROM (SELECT a AS v FROM n UNION ALL SELECT pay FROM e) x",
        "SELECT x.v FROM (SELECT a AS v FROM n UNION SELECT pay FROM e) x, d",
        "SELECT x.v, y.p FROM (SELECT a AS v FROM n UNION ALL SELECT pay FROM e) x, (SELECT pay AS p FROM e ORDER BY rank LIMIT 1) y",
        "postgres mysql any: SELECT x.v / 2 FROM (SELECT pay AS v FROM e UNION ALL SELECT x FROM v) x, d",
        "SELECT x.v FROM (SELECT pay AS v FROM e UNION ALL SELECT t FROM v) x, d WHERE x.v > '1'",
        "SELECT x.v FROM (SELECT pay + 1 AS v FROM e UNION ALL SELECT t FROM v) x, d WHERE x.v = 1",
        "postgres mysql any: SELECT x.v FROM (SELECT day AS v FROM v UNION ALL SELECT at FROM v) x, d WHERE CAST(x.v AS CHAR(19)) > '1'",
        "SELECT x.v, d.id FROM (SELECT a AS v FROM n EXCEPT ALL SELECT pay FROM e) x, d",
    ],
    "redundant ORDER BY item removed": [
        "SELECT boss FROM e GROUP BY boss ORDER BY boss, COUNT(*) LIMIT 2",
        "SELECT a FROM n UNION SELECT pay FROM e ORDER BY 1, 1 LIMIT 2",
        "SELECT rank FROM e ORDER BY pay, rank LIMIT 2",
    ],
    "LIMIT moved out of a derived table": [
        "SELECT x.id FROM (SELECT id, rank FROM e ORDER BY pay, id LIMIT 2) x WHERE x.rank > 1",
        "SELECT DISTINCT x.rank FROM (SELECT id, rank, pay FROM e ORDER BY pay, id LIMIT 2) x",
        "SELECT COUNT(*) FROM (SELECT id FROM e ORDER BY pay LIMIT 2) x",
        "SELECT x.rank FROM (SELECT id, rank FROM e ORDER BY pay LIMIT 2) x GROUP BY x.rank",
        "SELECT x.a FROM (SELECT a FROM n UNION SELECT pay FROM e ORDER BY 1 LIMIT 2) x",
        "SELECT x.id, d.id FROM (SELECT id FROM e ORDER BY pay LIMIT 2) x, d",
        "WITH c AS (SELECT rank, id FROM e ORDER BY pay LIMIT 1) SELECT x.rank FROM c x UNION ALL SELECT y.id FROM c y",
        "SELECT e.pay FROM e JOIN (SELECT boss FROM e ORDER BY rank, id LIMIT 2) x ON x.boss = e.id",
        "SELECT d.name FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = d.id AND d.size > 1",
        "SELECT d.name FROM d JOIN (SELECT pay FROM e WHERE pay > 0 ORDER BY rank, id LIMIT 2) x ON x.pay = d.id",
        "SELECT e.id FROM e JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = e.d_id",
        "SELECT DISTINCT d.name FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = d.id",
        "sqlite: SELECT d.name FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id + 1 = d.id",
        "sqlite: SELECT d.name FROM d JOIN (SELECT pay, d_id FROM e WHERE pay > 0 ORDER BY rank, id LIMIT 2) x ON x.pay = d.id AND x.d_id = d.id",
        "sqlite: SELECT DISTINCT d.name FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = d.id",
        "sqlite: SELECT d.name, (SELECT a FROM n LIMIT 1) FROM d JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = d.id",
        "sqlite: WITH c AS (SELECT d_id FROM e ORDER BY rank LIMIT 2) SELECT d.name FROM c x JOIN d ON d.id = x.d_id UNION ALL SELECT d.name FROM c y JOIN d ON d.id = y.d_id",
        "sqlite: SELECT d.name FROM (d LEFT JOIN n ON n.a = d.size) JOIN (SELECT d_id FROM e ORDER BY rank, id LIMIT 2) x ON x.d_id = d.id",
    ],
    "joins flattened": [
        "SELECT e.id FROM e, n WHERE e.id = n.a",
    ],
    "dependent column added to GROUP BY": [
        "SELECT a, COUNT(*) FROM n WHERE a = 1",
        "SELECT a FROM n WHERE a = 1",
    ],
    "HAVING on keys moved to WHERE": [
        "SELECT x FROM v GROUP BY x HAVING CAST(x AS CHAR(9)) = '1'",
        "SELECT x FROM v GROUP BY x HAVING x - 1 > 1",
        "mysql any: SELECT t FROM v GROUP BY t HAVING REPLACE(t, 'X', 'y') = 'y'",
        "SELECT a FROM n GROUP BY a HAVING EXISTS (SELECT 1 FROM e WHERE e.pay = n.b)",
        "SELECT COUNT(*) FROM n HAVING 1 = 0",
    ],
    "LIMIT 0 emptied": [
        "SELECT * FROM w LIMIT 0",
        "SELECT COUNT(*) FROM e WHERE FALSE ORDER BY 1 LIMIT 2",
    ],
    "LIMIT of a single row removed": [
        "SELECT x.pay FROM (SELECT pay FROM e ORDER BY rank LIMIT 2) x ORDER BY x.pay LIMIT 1",
        "SELECT x.pay FROM (SELECT pay FROM e ORDER BY id LIMIT 1) x LIMIT 0",
        "SELECT x.pay FROM (SELECT pay FROM e ORDER BY id LIMIT 1) x LIMIT 1 OFFSET 1",
        "SELECT COUNT(*) FROM e LIMIT 0",
        "SELECT a FROM n WHERE a = 1 LIMIT 1",
        "SELECT x.a FROM (SELECT a, b FROM n ORDER BY b LIMIT 2) x LIMIT 1",
    ],
    "EXISTS taken apart": [
        "SELECT id FROM d WHERE EXISTS (SELECT pay FROM e EXCEPT SELECT a FROM n)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n, n x WHERE n.a = d.size AND x.b > n.b)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size AND n.b > d.id)",
        "sqlite: SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size AND d.id > 1 GROUP BY n.b HAVING COUNT(*) > 1)",
        "mysql: SELECT id FROM d WHERE EXISTS (SELECT 1 FROM v WHERE v.t = d.name AND REPLACE(v.t, 'X', 'y') = 'y')",
    ],
    "aggregates of a subquery taken apart": [
        "SELECT id, (SELECT MAX(pay) FROM e WHERE e.boss = d.id) FROM d",
        "SELECT id, (SELECT COUNT(*) FROM n WHERE n.a = d.id) FROM d",
        "mysql: SELECT id, (SELECT SUM(name) FROM d x WHERE x.id = d.size) FROM d",
        "sqlite: SELECT id, (SELECT SUM(pay) FROM e WHERE e.id = d.size) FROM d",
        "mysql: SELECT id, (SELECT COUNT(*) FROM v WHERE v.t = d.name AND REPLACE(v.t, 'X', 'y') = 'y') FROM d",
        "sqlite: SELECT id, (SELECT COUNT(*) FROM n WHERE n.a = n.b AND n.a > 1) FROM d",
        "sqlite: SELECT (SELECT MAX(x.a) - MIN(x.a) FROM (SELECT a FROM n ORDER BY b LIMIT 2) x) FROM d",
    ],
    "condition of a subquery known around it removed": [
        "SELECT id FROM d WHERE size > 1 AND EXISTS (SELECT a FROM n EXCEPT ALL SELECT d.size)",
        "SELECT id FROM e WHERE NOT EXISTS (SELECT 1 FROM e x WHERE (x.boss = e.boss OR x.boss IS NULL AND e.boss IS NULL) AND x.pay > e.pay)",
        "SELECT id FROM e WHERE pay IS NOT NULL AND NOT EXISTS (SELECT 1 FROM e x WHERE (x.pay IS NULL OR x.boss IS NULL) AND x.rank > e.rank)",
        "SELECT id, (SELECT COUNT(*) FROM n WHERE n.a = d.id AND d.id > 1) FROM d WHERE size > 1",
        "SELECT id, (SELECT COUNT(*) FROM n WHERE n.b = d.id AND n.a > 1) FROM d WHERE id > 1",
        "sqlite: SELECT id, (SELECT b FROM n WHERE n.a = d.id ORDER BY b LIMIT 1) FROM d WHERE id > 1",
    ],
    "single-row subquery to left join": [
        "SELECT e.id, (SELECT d.name FROM d WHERE d.id = e.boss AND d.size = (SELECT b FROM n LIMIT 1)) FROM e",
        "SELECT e.id, (SELECT CASE WHEN d.size IS NULL THEN 2 END FROM d WHERE d.id = e.boss) FROM e",
        "SELECT id, (SELECT MAX(a) FROM n WHERE n.b = e.boss) FROM e",
        "SELECT id, (SELECT COALESCE(size, 1) FROM d WHERE d.id = e.boss) FROM e",
        "SELECT id, (SELECT size FROM d WHERE d.id = 1) FROM e",
        "SELECT pay, COUNT(*), (SELECT size FROM d WHERE d.id = e.pay) FROM e GROUP BY pay",
        "sqlite: SELECT id, (SELECT e.rank FROM d WHERE d.id = e.boss) FROM e",
        "sqlite: SELECT (SELECT e.pay WHERE e.rank > 1) FROM e",
    ],
    "grouped derived table to scalar subqueries": [
        "SELECT e.id, x.m, x.k FROM e, (SELECT MAX(a) AS m, 1 AS k FROM n WHERE b = (SELECT pay FROM e WHERE rank = 1)) x",
        "SELECT x.m FROM (SELECT MAX(a) AS m FROM n) x",
        "SELECT e.id, x.k FROM e JOIN (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x ON x.a = e.pay",
        "SELECT e.id, x.k FROM e JOIN (SELECT COUNT(*) AS k FROM n GROUP BY a) x ON x.k = e.pay",
        "mysql any: SELECT d.id, x.t FROM d JOIN (SELECT t, COUNT(*) AS k FROM v GROUP BY t) x ON x.t = d.name",
        "SELECT e.id, x.k FROM e JOIN (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x ON x.a > e.pay",
        "SELECT e.id, x.k FROM e LEFT JOIN (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x ON x.a = e.pay + x.k",
        "SELECT x.k, y.k FROM (SELECT a, COUNT(*) AS k FROM n GROUP BY a) x JOIN (SELECT boss, COUNT(*) AS k FROM e GROUP BY boss) y ON x.a = y.boss",
        "sqlite: SELECT e.id, x.m FROM e, (SELECT a AS m FROM n) x WHERE x.m = e.pay",
        "mysql: SELECT d.id, x.k FROM d JOIN (SELECT t, COUNT(*) AS k FROM v GROUP BY t HAVING LENGTH(t) > COUNT(*)) x ON x.t = d.name",
        "mysql: SELECT d.id, x.l FROM d JOIN (SELECT t, LENGTH(t) AS l FROM v GROUP BY t) x ON x.t = d.name",
    ],
    "GROUP BY to scalar subqueries": [
        "SELECT DISTINCT COUNT(*) FROM e, n WHERE e.id = 1",
        "SELECT DISTINCT e.id, w.* FROM e, w, n WHERE n.a = e.pay",
        "SELECT a, COUNT(*) FROM n WHERE a = 1 GROUP BY a UNION ALL SELECT pay, 1 FROM e",
        "SELECT DISTINCT e.pay FROM e, n WHERE n.a = e.pay",
        "SELECT DISTINCT e.id, n.b FROM e, n WHERE n.a = e.pay",
        "SELECT e.id, n.b, COUNT(*) FROM e, n WHERE n.a = e.pay GROUP BY e.id, n.b",
        "SELECT e.pay, COUNT(*) FROM e, n WHERE n.a = e.pay GROUP BY e.pay",
        "mysql any: SELECT DISTINCT d.id, v.t FROM d, v WHERE v.t = d.name",
    ],
    "GROUP BY over an optional side to scalar subqueries": [
        "SELECT d.id, n.b, COUNT(*) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.id, n.b",
        "SELECT d.size, COUNT(n.b) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.size",
        "SELECT d.id, SUM(CASE WHEN n.b > 1 THEN 2 ELSE 3 END) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.id",
        "SELECT d.id, COUNT(n.a) FROM d LEFT JOIN e ON e.pay = d.size LEFT JOIN n ON n.a = d.size GROUP BY d.id",
        "SELECT d.id, COUNT(n.a) FROM d LEFT JOIN n ON n.a = d.size WHERE n.a = 1 OR d.size = 1 GROUP BY d.id",
        "SELECT d.id, SUM(d.size) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.id",
        "sqlite: SELECT d.id, COUNT(CASE WHEN d.size > 1 THEN 1 END) FROM d LEFT JOIN n ON n.a = d.size GROUP BY d.id",
        "sqlite: SELECT d.id, COUNT(x.b) FROM d LEFT JOIN (SELECT a, b FROM n ORDER BY c LIMIT 2) x ON x.a = d.size GROUP BY d.id",
    ],
    "comparison with an aggregate to EXISTS": [
        "SELECT id FROM d WHERE (SELECT COUNT(*) FROM n WHERE n.a = d.size) > 1 OR (SELECT COUNT(*) FROM n WHERE n.a = d.size) <> 1",
        "SELECT id FROM d WHERE size = (SELECT MAX(a) FROM n WHERE n.b = d.id) OR size <> (SELECT MIN(a) FROM n) OR (SELECT SUM(a) FROM n) > 0",
        "SELECT id, size < (SELECT MAX(a) FROM n WHERE n.b = d.id) FROM d",
        "SELECT id FROM d WHERE (SELECT COUNT(*) FROM n WHERE n.b = d.id AND n.a IN (1, 2)) = 2",
        "SELECT id FROM d WHERE (SELECT COUNT(DISTINCT n.b) FROM n WHERE n.b = d.id AND n.a IN (1, 2)) = 2",
        "SELECT id FROM d WHERE (SELECT COUNT(DISTINCT n.a) FROM n WHERE n.b = d.id AND n.a IN (1, 2, 3)) = 2",
        "SELECT id FROM d WHERE (SELECT COUNT(DISTINCT n.a) FROM n WHERE n.b = d.id AND n.a IN (1, 2)) <= 2",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id AND (e.id = 1 OR e.id > 2)) = 2",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id AND (e.id = 1 OR e.pay = 2)) = 2",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id AND (e.id = 1 OR e.id = e.pay)) = 2",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id AND e.id IN (1, 1)) = 2",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id AND e.id IN (1, 1.0)) = 2",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM n WHERE n.a = d.size) - 1 > 0 OR (SELECT COUNT(*) FROM n WHERE n.a = d.size) + 2 > 2",
        "postgres: SELECT id FROM d WHERE (SELECT 1 + MAX(a) FROM n) > size",
        "sqlite: SELECT id, size IN (SELECT a FROM n) FROM d WHERE size BETWEEN 1 AND 2",
        "mysql any: SELECT id FROM d WHERE (SELECT COUNT(DISTINCT v.u) FROM v WHERE v.boss = d.id AND v.u IN ('x', 'X')) = 2",
        "SELECT id FROM d WHERE name < (SELECT MAX(c) FROM n WHERE n.b = d.id)",
        "SELECT rank, COUNT(*) FROM e GROUP BY rank HAVING MAX(pay) < (SELECT MAX(a) FROM n)",
    ],
    "row that is there anyway": [
        "SELECT a FROM n WHERE EXISTS (SELECT 1 FROM n x WHERE x.a = n.a OR x.b > n.b)",
        "SELECT a FROM n WHERE NOT EXISTS (SELECT 1 FROM n x WHERE x.b = n.b)",
        "SELECT n.a FROM e LEFT JOIN n ON n.a = e.pay WHERE EXISTS (SELECT 1 FROM n x WHERE x.b > 1)",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size AND n.b > 1) AND EXISTS (SELECT 1 FROM n x WHERE x.a = d.size AND x.b = 0)",
        "SELECT MAX(a), EXISTS (SELECT 1 FROM n x WHERE x.b > 0) FROM n WHERE b > 0",
        "sqlite: SELECT e.id FROM e WHERE EXISTS (SELECT 1 FROM d WHERE d.id > 0) AND e.id > 0",
        "sqlite: SELECT a, EXISTS (SELECT 1 FROM n x WHERE x.b = n.b GROUP BY x.a HAVING COUNT(*) > 1), EXISTS (SELECT a FROM n EXCEPT SELECT pay FROM e) FROM n",
        "sqlite: SELECT a, (SELECT COUNT(*) FROM e WHERE EXISTS (SELECT 1 FROM n x WHERE x.b = n.b)) FROM n",
    ],
    "two rows to EXISTS": [
        "SELECT id FROM d WHERE (SELECT COUNT(*) FROM n WHERE n.a = d.id) > 1",
        "SELECT id FROM d WHERE (SELECT COUNT(*) FROM e WHERE e.boss = d.id) > 2",
        "SELECT id FROM d WHERE (SELECT COUNT(pay) FROM e WHERE e.boss = d.id) > 1 OR size = 1",
        "sqlite: SELECT id FROM d WHERE (SELECT COUNT(*) FROM e LEFT JOIN n ON n.a = e.pay WHERE e.boss = d.id) > 1",
        "sqlite: SELECT id FROM d WHERE (SELECT 2 * COUNT(*) FROM e WHERE e.boss = d.id) > 3",
    ],
    "least or greatest value to NOT EXISTS": [
        "SELECT a FROM n WHERE b = (SELECT MAX(a) FROM n)",
        "SELECT a FROM n WHERE a = (SELECT MIN(x.a) FROM n x WHERE x.b = 1)",
        "SELECT pay FROM e WHERE pay = (SELECT MAX(a) FROM n)",
        "SELECT a FROM n WHERE b = (SELECT SUM(b) FROM n)",
        "sqlite: SELECT e.pay FROM e WHERE e.id = (SELECT MAX(id) FROM d)",
    ],
    "first value of an order to MIN or MAX": [
        "sqlite mysql: SELECT id FROM e WHERE pay = (SELECT a FROM n ORDER BY a LIMIT 1)",
        "SELECT id FROM e WHERE pay = (SELECT b FROM n ORDER BY b LIMIT 1 OFFSET 1)",
        "SELECT id FROM e WHERE pay = (SELECT b FROM n ORDER BY a LIMIT 1)",
        "SELECT id FROM d WHERE name = (SELECT c FROM n WHERE c IS NOT NULL ORDER BY c LIMIT 1)",
        "SELECT id FROM d WHERE size = (SELECT COUNT(*) FROM n GROUP BY b ORDER BY COUNT(*) LIMIT 1)",
    ],
    "redundant EXISTS removed": [
        "SELECT id FROM e WHERE boss IS NOT NULL AND EXISTS (SELECT a FROM n EXCEPT ALL SELECT e.boss)",
        "SELECT id FROM e WHERE boss IS NOT NULL AND (SELECT COUNT(*) FROM e x WHERE x.boss = e.boss) < 2",
        "SELECT id FROM e WHERE boss IS NOT NULL AND NOT EXISTS (SELECT 1 FROM n WHERE n.a = e.boss)",
        "SELECT id FROM e WHERE boss IS NOT NULL AND EXISTS (SELECT MAX(a) FROM n WHERE n.a = e.boss)",
        "SELECT id FROM e WHERE boss IS NOT NULL AND (SELECT SUM(x.pay) FROM e x WHERE x.boss = e.boss OR x.rank = e.rank) > 1",
        "SELECT id FROM e WHERE boss IS NULL AND (SELECT SUM(x.pay) FROM e x WHERE x.boss = e.boss) > 1",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size) AND (SELECT COUNT(*) FROM n WHERE n.a = d.size) < 2",
        "SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size) AND (SELECT COUNT(*) FROM n WHERE n.a = d.id) > 2",
        "sqlite: SELECT id FROM d WHERE EXISTS (SELECT 1 FROM n WHERE n.a = d.size) AND ((SELECT MAX(b) FROM n WHERE n.a = d.size) > 1 OR (SELECT MAX(b) FROM n WHERE n.a = d.size) IS NULL)",
    ],
    "CASE of a subquery without rows removed": [
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT COUNT(*) FROM n WHERE n.a = d.size) END FROM d",
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT MAX(n.b) FROM n WHERE n.a = d.id) END FROM d",
        "SELECT id, COALESCE(CASE WHEN size > 1 THEN (SELECT MAX(n.b) FROM n WHERE n.a = d.size) END, 1) FROM d",
        "SELECT id, COALESCE(CASE WHEN size > 1 THEN 1 ELSE 2 END, 1) FROM d",
        "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT COUNT(*) FROM n WHERE n.a = d.size) WHEN size > 1 THEN 1 ELSE 0 END FROM d",
        "sqlite: SELECT INSTR(CASE WHEN size > 1 THEN 'ab' END, 'a') FROM d",
        "sqlite: SELECT COALESCE(size, 1), COALESCE(CASE WHEN size > 1 THEN 1 END, size, 0) FROM d",
        "sqlite: SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN (SELECT MAX(n.b) FROM n WHERE n.a = d.size) ELSE 0 END FROM d",
        "sqlite: SELECT id, CASE WHEN EXISTS (SELECT 1 FROM n WHERE n.a = d.size) THEN CASE WHEN size > 1 THEN 2 WHEN (SELECT MAX(n.b) FROM n WHERE n.a = d.size) > 1 THEN 3 END END FROM d",
    ],
    "HAVING to EXISTS": [
        "SELECT a FROM n GROUP BY a HAVING SUM(CASE WHEN b > 1 THEN 2 ELSE 0 END) > 0",
        "SELECT a FROM n GROUP BY a HAVING SUM(CASE WHEN b > 1 THEN 1 ELSE 2 END) > 0",
        "SELECT a FROM n GROUP BY a HAVING SUM(DISTINCT CASE WHEN b > 1 THEN 1 ELSE 0 END) > 0",
        "SELECT a FROM n GROUP BY a HAVING COUNT(*) > 1",
        "SELECT a, COUNT(*) FROM n GROUP BY a HAVING MAX(b) > 1",
        "SELECT a FROM n GROUP BY a HAVING MAX(b) > 1 AND SUM(b) > 1",
        "SELECT d_id FROM e GROUP BY d_id HAVING COUNT(*) > 2",
        "sqlite: SELECT 1 FROM n HAVING MAX(b) > 1",
        "sqlite: SELECT x.a FROM (SELECT a FROM n LIMIT 2) x GROUP BY x.a HAVING COUNT(*) > 0 AND MAX(x.a) > 1",
        "SELECT x FROM v GROUP BY x HAVING CAST(x AS CHAR(9)) = '1' AND MAX(boss) > 1",
        "mysql any: SELECT t FROM v GROUP BY t HAVING MAX(boss) > LENGTH(t)",
        "sqlite: SELECT e.boss FROM e, n GROUP BY e.boss HAVING COUNT(*) > 1",
        "sqlite: SELECT e.boss FROM e LEFT JOIN n ON n.a = e.pay GROUP BY e.boss HAVING COUNT(*) > 1",
        "sqlite: SELECT boss FROM e WHERE id IN (1, 2, 3) GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite: SELECT boss FROM e WHERE pay IN (1, 2) GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite: SELECT boss FROM e WHERE pay IN (1, 2) GROUP BY boss HAVING COUNT(DISTINCT rank) = 2",
        "sqlite: SELECT boss FROM e WHERE id = 1 OR id > 2 GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite: SELECT boss FROM e WHERE id = 1 OR pay = 2 GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite: SELECT boss FROM e WHERE id = 1 OR id = pay GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite: SELECT boss FROM e WHERE id IN (1, 2.5) GROUP BY boss HAVING COUNT(*) = 2",
        "sqlite: SELECT boss FROM e WHERE id IN (1, 2) GROUP BY boss HAVING COUNT(*) <= 2",
        "mysql any: SELECT boss FROM v WHERE u IN ('x', 'y') GROUP BY boss HAVING COUNT(DISTINCT u) = 2",
        "sqlite: SELECT boss FROM e GROUP BY boss HAVING COUNT(*) - 1 > 0",
        "sqlite: SELECT boss FROM e GROUP BY boss HAVING COUNT(*) + 2 > 2",
        "postgres: SELECT t FROM v GROUP BY t HAVING MAX(u) > 'x'",
        "postgres: SELECT boss FROM e GROUP BY boss HAVING COUNT(*) < (SELECT 1 + MAX(a) FROM n)",
    ],
    "values of its own groups to GROUP BY": [
        "mysql any: SELECT DISTINCT c, LENGTH(c), (SELECT COUNT(*) FROM n x WHERE x.c = n.c) FROM n WHERE c IS NOT NULL",
        "mysql any: SELECT DISTINCT c, (SELECT COUNT(*) FROM n x WHERE x.c = n.c) FROM n WHERE c IS NOT NULL AND LENGTH(c) > 1",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n GROUP BY b, a",
        "SELECT DISTINCT n.b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n LEFT JOIN e ON e.pay = n.a WHERE e.rank > 1 OR n.b > 0",
        "SELECT DISTINCT b, (SELECT x.a FROM n x WHERE x.b = n.b ORDER BY a LIMIT 1) FROM n",
        "SELECT DISTINCT b + a, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n",
        "SELECT DISTINCT MAX(b), (SELECT COUNT(*) FROM n x WHERE x.b > 1) FROM n",
        "SELECT DISTINCT a, (SELECT COUNT(*) FROM n x WHERE x.a = n.a) FROM n",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b AND x.a > 1) FROM n",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n WHERE a > 1",
        "SELECT DISTINCT a, b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b), (SELECT COUNT(*) FROM n x WHERE x.b = n.b AND x.a = n.a) FROM n WHERE a IS NOT NULL",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = x.b) FROM n",
        "SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b AND x.a = n.b) FROM n WHERE n.a = n.b",
        "SELECT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n",
        "sqlite: SELECT DISTINCT n.b, (SELECT COUNT(*) FROM n x LEFT JOIN d y ON y.id = x.a WHERE x.b = n.b) FROM n, d",
        "sqlite: SELECT DISTINCT MAX(a) FROM n WHERE (SELECT COUNT(*) FROM n x WHERE x.b = n.b) > 1",
        "sqlite: SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b HAVING COUNT(*) > 1) FROM n",
    ],
    "joined table folded into another": [
        "SELECT n.a FROM n, n x WHERE x.b = n.b",
        "SELECT DISTINCT n.a, x.a FROM n, n x WHERE x.b = n.b",
        "SELECT DISTINCT n.b FROM n, n x WHERE x.b > n.b",
        "SELECT COUNT(x.b) FROM n, n x WHERE x.b = n.b",
    ],
    "full join to UNION ALL": [
        "SELECT COUNT(*) FROM e FULL JOIN d ON e.boss = d.id",
        "SELECT DISTINCT e.pay, d.size FROM e FULL JOIN d ON e.boss = d.id",
    ],
    "left join of a UNION ALL taken apart": [
        "SELECT e.id, d.size FROM e LEFT JOIN d ON e.boss = d.id UNION ALL SELECT b, a FROM n",
        "SELECT MAX(e.id), MIN(d.size) FROM e LEFT JOIN d ON e.boss = d.id UNION ALL SELECT NULL, a FROM n",
    ],
    "window function to scalar subquery": [
        "SELECT a, SUM(b) OVER (ORDER BY b ROWS UNBOUNDED PRECEDING) FROM n",
        "SELECT a, RANK() OVER (ORDER BY a) FROM n",
        "SELECT id, LAG(pay) OVER (ORDER BY id) FROM e",
        "SELECT a, COUNT(*), RANK() OVER (ORDER BY COUNT(*)) FROM n GROUP BY a",
        "SELECT b, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM n",
        "SELECT a, DENSE_RANK() OVER (ORDER BY b, 1 - b) FROM n",
        "sqlite: SELECT id, ROW_NUMBER() OVER (ORDER BY id) FROM e",
        "sqlite: SELECT x.a, COUNT(*) OVER () FROM (SELECT a FROM n ORDER BY b LIMIT 2) x",
        "sqlite: SELECT x.r FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.pay > 1",
        "sqlite: SELECT x.pay FROM (SELECT DISTINCT pay FROM e) x, d WHERE x.pay > 1",
    ],
    "ROW_NUMBER to LIMIT": [
        "SELECT x.pay, x.r FROM (SELECT pay, RANK() OVER (ORDER BY pay) AS r FROM e) x WHERE x.r = 2",
        "SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (PARTITION BY rank ORDER BY pay) AS r FROM e) x WHERE x.r = 2",
        "SELECT x.b FROM (SELECT b, ROW_NUMBER() OVER (ORDER BY a) AS r FROM n) x WHERE x.r > 2",
        "SELECT x.b, x.r FROM (SELECT b, ROW_NUMBER() OVER (ORDER BY a) AS r FROM n) x WHERE x.r = 2",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE 2 = x.r - 1",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r <= x.pay",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r <= 2.5",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r = 0",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r < 1",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r <> 2",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE x.r > 1",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE 1 < x.r - 1",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r, COUNT(*) OVER () AS k FROM e) x WHERE x.r < 3 AND x.k > 2",
        "sqlite: SELECT x.pay FROM (SELECT pay, ROW_NUMBER() OVER (ORDER BY id) AS r FROM e) x WHERE 2 = -x.r",
    ],
    "value of a single row to join": [
        "SELECT id FROM e WHERE rank = (SELECT a FROM n WHERE n.b = e.boss)",
        "SELECT id FROM e WHERE rank < (SELECT size FROM d WHERE d.id = e.boss)",
        "SELECT id FROM e WHERE boss < (SELECT a FROM n ORDER BY b, a LIMIT 1)",
        "SELECT id FROM e WHERE boss = (SELECT a FROM n WHERE n.b = e.rank ORDER BY b, a LIMIT 1)",
        "SELECT id FROM e WHERE boss = (SELECT a FROM n ORDER BY b, a LIMIT 1) OR rank = 1",
    ],
    "full join to left join": [
        "postgres: SELECT e.id, d.size FROM e FULL JOIN d ON e.rank = d.id AND e.d_id = d.id",
        "postgres: SELECT e.id, d.size FROM e FULL JOIN d ON e.d_id = d.id AND e.rank = d.id",
        "postgres: SELECT e.id, n.a FROM e FULL JOIN (d CROSS JOIN n) ON e.d_id = d.id",
    ],
    "DISTINCT removed where duplicates do not matter": [
        "SELECT DISTINCT size FROM d ORDER BY size LIMIT 2",
        "SELECT DISTINCT size FROM d ORDER BY size LIMIT 1 OFFSET 1",
    ],
}  # fmt: skip
"""Queries on which a rule must not fire."""


SAME: dict[str, Sequence[tuple[str, str]]] = {
    "nested aggregates merged": [
        ("SELECT x.a, COUNT(*) FROM (SELECT a FROM n WHERE a = 1 UNION ALL SELECT pay FROM e) x GROUP BY x.a", "SELECT x.a, SUM(x.k) FROM (SELECT a, COUNT(*) AS k FROM n WHERE a = 1 GROUP BY a UNION ALL SELECT pay, COUNT(*) FROM e GROUP BY pay) x GROUP BY x.a"),
    ],
    "EXISTS subquery simplified": [
        ("SELECT id FROM d WHERE EXISTS (SELECT 1 WHERE size > 1)", "SELECT id FROM d WHERE size > 1"),
        ("SELECT id FROM d WHERE NOT EXISTS (SELECT 1 WHERE 1 = 0)", "SELECT id FROM d"),
    ],
    "derived table inlined": [
        ("SELECT e.id, d.name FROM e JOIN n ON TRUE LEFT JOIN d ON d.id = n.a", "SELECT e.id, d.name FROM n LEFT JOIN d ON d.id = n.a JOIN e ON TRUE"),
        ("SELECT e.id, d.name, n.c FROM e LEFT JOIN d ON d.id = e.boss LEFT JOIN n ON n.a = e.pay", "SELECT e.id, d.name, n.c FROM e LEFT JOIN n ON n.a = e.pay LEFT JOIN d ON d.id = e.boss"),
    ],
    "joins flattened": [
        ("SELECT e.id, d.name FROM e JOIN n ON TRUE LEFT JOIN d ON d.id = n.a", "SELECT e.id, d.name FROM n LEFT JOIN d ON d.id = n.a JOIN e ON TRUE"),
        ("SELECT e.id, d.name, n.c FROM e LEFT JOIN d ON d.id = e.boss LEFT JOIN n ON n.a = e.pay", "SELECT e.id, d.name, n.c FROM e LEFT JOIN n ON n.a = e.pay LEFT JOIN d ON d.id = e.boss"),
    ],
    "HAVING on keys moved to WHERE": [
        ("SELECT boss FROM e GROUP BY boss HAVING boss > 1", "SELECT boss FROM e WHERE boss > 1 GROUP BY boss"),
        ("SELECT boss, COUNT(*) FROM e GROUP BY boss HAVING boss > 1", "SELECT boss, COUNT(*) FROM e WHERE boss > 1 GROUP BY boss"),
    ],
    "two rows to EXISTS": [
        ("SELECT id FROM e WHERE 2 <= (SELECT COUNT(*) FROM e x WHERE x.rank = e.rank)", "SELECT id FROM e WHERE EXISTS (SELECT 1 FROM e x WHERE x.rank = e.rank AND x.id <> e.id)"),
    ],
    "GROUP BY to scalar subqueries": [
        ("SELECT DISTINCT d.id FROM d JOIN e ON e.pay = d.size WHERE d.size > 1", "SELECT id FROM d WHERE size > 1 AND size IN (SELECT pay FROM e)"),
    ],
    "empty UNION arm removed": [
        ("SELECT a FROM n UNION SELECT pay FROM e WHERE 1 = 0", "SELECT DISTINCT a FROM n"),
        ("(SELECT a FROM n EXCEPT SELECT b FROM n) UNION SELECT pay FROM e WHERE 1 = 0", "SELECT a FROM n EXCEPT SELECT b FROM n"),
    ],
    "values of its own groups to GROUP BY": [
        ("SELECT DISTINCT b, (SELECT COUNT(*) FROM n x WHERE x.b = n.b) FROM n WHERE (SELECT COUNT(*) FROM n x WHERE x.b = n.b) > 2", "SELECT b, COUNT(*) FROM n GROUP BY b HAVING COUNT(*) > 2"),
    ],
    "least or greatest value to NOT EXISTS": [
        ("SELECT a FROM n WHERE b = (SELECT MAX(b) FROM n)", "SELECT a FROM n WHERE NOT EXISTS (SELECT 1 FROM n x WHERE x.b > n.b)"),
    ],
}  # fmt: skip
"""Queries that a rule must make the same, beside those of the tests of proofs."""

APART: dict[str, Sequence[tuple[str, str]]] = {
    "nested aggregates merged": [
        ("SELECT SUM(x.k) / 2 FROM (SELECT a, b, COUNT(*) AS k FROM n GROUP BY a, b) x GROUP BY x.a", "SELECT COUNT(*) / 2 FROM n GROUP BY a"),
    ],
    "aggregates of a subquery taken apart": [
        ("postgres: SELECT id, (SELECT AVG(pay) FROM e WHERE e.id = d.size) / 2 FROM d", "SELECT id, (SELECT pay FROM e WHERE e.id = d.size) / 2 FROM d"),
        ("sqlite: SELECT name FROM d WHERE (SELECT MAX(t) FROM s WHERE s.t = d.name) = 5", "SELECT name FROM d WHERE (SELECT t FROM s WHERE s.t = d.name) = 5"),
    ],
}  # fmt: skip
"""Queries that a rule must not make the same."""


# Where rules fire.


class Site(NamedTuple):
    """Where a rule is asked whether it applies."""

    node: Node
    scope: Scope
    mode: str
    repeats: bool
    arm: bool
    text: str
    """The query for this rule that it is in, empty for one that is for others or a mutant."""


class Fired(NamedTuple):
    """A rule that has applied: to what, where, and what it made of that."""

    before: Node
    after: Node
    rests: frozenset[str]
    scope: Scope
    mode: str
    repeats: bool
    dialect: str | None
    text: str

    @property
    def what(self) -> object:
        """What has been rewritten to what, where."""
        return self.before, self.after, self.rests, self.mode, self.repeats, self.dialect


def samples(name: str) -> dict[str, bool | None]:
    """Return the queries for a rule, and whether it must fire on them, None where it may."""
    pairs = [text for step, *pair in (*EQUAL, *DIFFERENT) if step == name for text in pair]
    return {
        **dict.fromkeys(pairs),
        **dict.fromkeys(FIRING.get(name, ()), True),
        **dict.fromkeys(NEAR.get(name, ()), False),
    }


def in_dialects(sample: str) -> tuple[str, Sequence[str | None]]:
    """Return the text of a sample, and the dialects that stand before it; all without these."""
    names, _, text = sample.rpartition(": ")
    named = [None if name == "any" else name for name in names.split()]
    return text, named or DIALECTS


def queries_for(
    name: str, rng: random.Random, *, quick: bool
) -> Iterator[tuple[str, str | None, int, str]]:
    """Yield queries in a dialect, how many mutants of each are looked at, and the sample."""
    own = samples(name)
    read = [(*in_dialects(sample), sample) for sample in own]
    n_mutants = min(5, MUTANTS // max(1, sum(len(dialects) for _, dialects, _ in read)))
    for i, (text, dialects, sample) in enumerate(read):
        turn = i % len(dialects)
        for dialect in (*dialects[turn:], *dialects[:turn]):
            yield text, dialect, 0 if quick else n_mutants, sample
    others = [text for _, *pair in (*EQUAL, *DIFFERENT) for text in pair if text not in own]
    some = rng.sample(others, OTHERS // 5 if quick else OTHERS)
    yield from ((text, rng.choice(DIALECTS), 1, "") for text in some)


def mutated(query: Query, rng: random.Random) -> Query:
    """Return a query that differs in one place or two."""
    for _ in range(rng.choice((1, 1, 2))):
        nodes = sorted({*walk(query)}, key=lambda node: node.order)
        old = rng.choice(nodes)
        new = _other(old, rng)
        if new is not None:
            query = replaced(query, {old: new})
    return query


def _other(node: Node, rng: random.Random) -> Node | None:  # noqa: C901, PLR0911, PLR0912 - one per kind
    if isinstance(node, Column) and node.source.table:
        kinds = COLUMNS[node.source.table]
        kind = kinds.get(node.name)
        alike = [name for name, its in kinds.items() if its == kind]
        return Column(node.source, rng.choice(alike)) if alike else None
    if isinstance(node, Literal) and node.kind == "integer":
        return rng.choice((integer(0), integer(1), integer(2), NULL))
    if isinstance(node, Comparison):
        if rng.random() < 0.5:
            return attrs.evolve(node, operator=rng.choice(("=", "<>", "<", "<=")))
        return attrs.evolve(node, left=node.right, right=node.left)
    if isinstance(node, And | Or):
        if rng.random() < 0.5:
            return Or(node.parts) if isinstance(node, And) else And(node.parts)
        return rng.choice(node.parts)
    if isinstance(node, Select):
        if rng.random() < 0.4:
            return attrs.evolve(node, distinct=not node.distinct)
        if rng.random() < 0.4 and node.keys and len(node.keys) > 1:
            return attrs.evolve(node, keys=node.keys[1:])
        return attrs.evolve(node, where=TRUE if rng.random() < 0.7 else Not(node.where))
    if isinstance(node, Aggregate) and node.operand is not None:
        function = rng.choice(("count", "min", "max", node.function))
        return attrs.evolve(node, function=function, distinct=rng.random() < 0.4)
    if isinstance(node, SetOperation):
        operator = rng.choice(("union", "union", "intersect", "except"))
        return attrs.evolve(node, operator=operator, distinct=rng.random() < 0.6)
    if isinstance(node, Ordered) and node.limit is not None:
        offset = rng.choice((None, integer(1)))
        return attrs.evolve(node, limit=integer(rng.choice((1, 2))), offset=offset)
    if isinstance(node, Join):
        return attrs.evolve(node, kind=rng.choice(("inner", "left", "full")))
    return None


@cache
def _schema(dialect: str | None) -> SqlSchema | None:
    return read_schema(SCHEMA, None, dialect)


def sites(rule: Rule, *, quick: bool = False) -> list[Site]:
    """
    Return where a rule is asked whether it applies, as all rules or it alone rewrite queries.

    If it has to be *quick*, each sample is read in one dialect, the next in the next one.
    """
    rng = random.Random(rule.name)  # noqa: S311 - for tests
    found: dict[object, Site] = {}
    done: set[str] = set()
    for text, dialect, n_mutants, sample in queries_for(rule.name, rng, quick=quick):
        if quick and sample in done:
            continue
        schema = _schema(dialect)
        try:
            query = read_query(parse(text, dialect).statements[0], Catalog(schema, dialect)).query
        except (UnreadError, SqlError):
            continue
        done |= {sample} - {""}
        for i, one in enumerate((query, *(mutated(query, rng) for _ in range(n_mutants)))):
            for rules in (RULES, (flat_joins, rule)):
                with contextlib.suppress(UnsupportedError):
                    scope = Scope(schema, dialect)
                    _rewrite(one, rule, rules, scope, found, "" if i else sample)
    return list(found.values())


def _rewrite(  # noqa: PLR0917 - what is rewritten, by what, and where sites are kept
    query: Query,
    rule: Rule,
    rules: Sequence[Rule],
    scope: Scope,
    found: dict[object, Site],
    sample: str,
) -> None:
    made: set[Node | None] = set()  # what the rule has made itself counts for nothing

    def rewrite(node: Node, view: View) -> Node | None:
        text = "" if node in made else sample
        one = Site(node, view._scope, view.mode, view.repeats, view.arm, text)
        found.setdefault((node, one.scope.dialect, *one.scope.key, *one[2:]), one)
        made.add(new := rule.rewrite(node, view))
        return new

    recorded = attrs.evolve(rule, rewrite=rewrite)
    rules = [recorded if one is rule else one for one in rules]
    Rewriting(scope, rules=rules).run(normal_form(query, View(scope)))


def fired(rule: Rule, where: Sequence[Site]) -> list[Fired]:
    """Return what a rule makes of the nodes on which it fires."""
    found: dict[object, Fired] = {}
    for node, scope, mode, repeats, arm, sample in where:
        fresh = attrs.evolve(scope, steps=Steps(), memo={})
        names = map("g{}".format, count())  # none that the query has by now
        made = rule(node, View(fresh, mode=mode, repeats=repeats, arm=arm, names=names))  # type: ignore[arg-type]
        if made is not None:
            one = Fired(node, *made, fresh, mode, repeats, scope.dialect, sample)
            found.setdefault((node, one.rests, mode, scope.dialect, sample), one)
    return list(found.values())


def pairs_for(name: str) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield pairs of queries, and whether a rule must make them the same."""
    for pairs, wanted in ((EQUAL, True), (DIFFERENT, False)):
        yield from (((first, second), wanted) for step, first, second in pairs if step == name)
    yield from ((pair, True) for pair in SAME.get(name, ()))
    yield from ((pair, False) for pair in APART.get(name, ()))


def makes_same(rules: Sequence[Rule], pair: tuple[str, str]) -> bool:
    """Say whether two queries are the same after all rules."""
    text, dialects = in_dialects(pair[0])
    dialect = dialects[0]
    scope = Scope(_schema(dialect), dialect)
    forms: list[Query] = []
    for letter, one in zip("ab", (text, pair[1]), strict=True):
        catalog = Catalog(scope.schema, dialect)
        query = read_query(parse(one, dialect).statements[0], catalog).query
        names = {old: Source(letter + old.name, old.table) for old in defined_in(query)}
        try:
            form = normal_form(replaced(query, names), View(scope))
            forms.append(Rewriting(scope, letter, rules).run(form))
        except UnsupportedError:
            return False
    first, second = forms
    matcher = Matcher(scope.steps)
    return matcher.same(first, second, View(scope)) or matcher.same(second, first, View(scope))


# What they mean.


_KNOWN = re.compile(
    r"\w+\.\w+ is never NULL \(\w+\)|\w+ \([\w, ]+\) is a key"
    r"|\w+ \([\w, ]+\) refers to \w+ \([\w, ]+\)"
    r"|(?:\w+\.\w+|a column of a derived table) holds (?:numbers|whole numbers|text|ISO (?:dates|times))"
)
"""Sentences that a rule may rest on."""


def database(rng: random.Random, rests: frozenset[str], engine: str) -> Database:
    """Make a database that obeys some sentences, and nothing else."""
    rows: dict[str, list[list[Any]]] = {}
    for table, columns in COLUMNS.items():
        rows[table] = [
            [
                None if rng.random() < 0.25 else _stored(rng.choice(VALUES[kind]), engine)
                for kind in columns.values()
            ]
            for _ in range(rng.choice((0, 1, 2, 3, 3, 4)))
        ]
    for what in ("holds ISO", "never NULL", "is a key", "refers to"):
        for sentence in sorted(rests):
            if what in sentence:
                _obey(rows, sentence, rng, engine)
    assert all(_KNOWN.fullmatch(one) for one in rests)
    return {
        table: ([*columns], [tuple(row) for row in rows[table]])
        for table, columns in COLUMNS.items()
    }


def _stored(value: Any, engine: str) -> Any:
    """Return a value as a database keeps it: SQLite has no times, MySQL decimals of one scale."""
    if isinstance(value, Decimal) and engine != "postgres":
        return int(value)
    return str(value) if isinstance(value, dt.date) and engine == "sqlite" else value


def _obey(
    rows: dict[str, list[list[Any]]], sentence: str, rng: random.Random, engine: str
) -> None:
    dated = re.fullmatch(r"(\w+)\.(\w+) holds ISO dates", sentence)
    if dated and COLUMNS[dated[1]][dated[2]] == "text":
        place = [*COLUMNS[dated[1]]].index(dated[2])
        for row in rows[dated[1]]:
            row[place] = None if rng.random() < 0.25 else str(rng.choice(DAYS))
    never = re.fullmatch(r"(\w+)\.(\w+) is never NULL \(\w+\)", sentence)
    key = re.fullmatch(r"(\w+) \(([\w, ]+)\) is a key", sentence)
    refers = re.fullmatch(r"(\w+) \((\w+)\) refers to (\w+) \((\w+)\)", sentence)
    if never:
        place = [*COLUMNS[never[1]]].index(never[2])
        values = VALUES[COLUMNS[never[1]][never[2]]]
        for row in rows[never[1]]:
            row[place] = _stored(rng.choice(values), engine) if row[place] is None else row[place]
    elif key:
        places = [[*COLUMNS[key[1]]].index(name) for name in key[2].split(", ")]
        same = Interpreter({}, engine)._key
        seen = {same(row[i] for i in places): row for row in rows[key[1]]}
        rows[key[1]] = list(seen.values())
    elif refers:
        mine, theirs = (
            [*COLUMNS[refers[1]]].index(refers[2]),
            [*COLUMNS[refers[3]]].index(refers[4]),
        )
        n, same = -1, Interpreter({}, engine)._key
        while n != len(rows[refers[1]]):  # a table may refer to itself
            n = len(rows[refers[1]])
            there = {same((row[theirs],)) for row in rows[refers[3]]}
            rows[refers[1]] = [
                row for row in rows[refers[1]] if row[mine] is None or same((row[mine],)) in there
            ]


def as_written(node: Node) -> Node:
    """Return a normal form with joins and orders as SQL writes them."""
    return rewritten(node, _as_written)


def _as_written(node: Node) -> Node:
    if isinstance(node, As):  # a mean is no whole number
        one = Literal("number", "1.0")
        return Arithmetic("*", node.value, one) if node.type == "avg" else node.value
    if isinstance(node, LeftJoins):
        sides = {source for arm in node.arms for source in local_sources((arm,))}
        if not all(arm.sources & sides <= {*local_sources((arm,))} for arm in node.arms):
            raise MeaninglessError("an optional side that names another")
        if not node.arms:
            raise MeaninglessError("a left join without an optional side")
        left = _product(node.base)
        for arm in node.arms:
            left = Join("left", left, _product(arm.tables), arm.condition)
        return left
    if isinstance(node, FullJoin):
        first, second = (_filtered(arm) for arm in (node.first, node.second))
        return Join("full", first, second, node.condition)
    if isinstance(node, Sorted):
        bounds = (
            None if node.limit is None else integer(node.limit),
            integer(node.offset) if node.offset else None,
        )
        query, items = node.query, node.items
        if isinstance(query, Select):
            places = [item.value.number for item in items if isinstance(item.value, Place)]
            items = tuple(
                attrs.evolve(item, value=query.outputs[place])
                for item, place in zip(items, places, strict=True)
            )
            query = attrs.evolve(query, outputs=query.outputs[: node.width])
        return Ordered(query, items, *bounds)
    return node


def _filtered(arm: Arm) -> Table:
    """Return the rows of a side that its condition keeps."""
    if arm.condition == TRUE:
        return _product(arm.tables)
    one = Derived(Source(f"one of {arm.order!r}"), Select(()))
    return Join("inner", one, _product(arm.tables), arm.condition)


def _product(tables: tuple[Table, ...]) -> Table:
    first, *others = tables
    for other in others:
        first = Join("inner", first, other, TRUE)
    return first


def runnable(one: Fired, rng: random.Random) -> tuple[Query, Query]:
    """Return queries that show what a node means where it stands, before and after."""
    before, after = as_written(one.before), as_written(one.after)
    if isinstance(before, Query):
        assert isinstance(after, Query)
        return before, after
    assert isinstance(before, Scalar)
    assert isinstance(after, Scalar)
    free = sorted(free_sources(before) | free_sources(after), key=lambda source: source.order)
    grouped, seed = has_aggregate(before), rng.random()
    shown = [_shown(v, free, one, random.Random(seed), grouped=grouped) for v in (before, after)]  # noqa: S311
    first, second = shown
    if grouped:
        keys = tuple(dict.fromkeys((*_outside(before), *_outside(after)))) or (integer(1),)
        return attrs.evolve(first, keys=keys), attrs.evolve(second, keys=keys)
    return first, second


def _shown(
    value: Scalar, free: list[Source], one: Fired, rng: random.Random, *, grouped: bool
) -> Select:
    tables = tuple(_around(source, one, rng) for source in free)
    columns = tuple(Column(source, name) for source in free for name in _names(source))
    outputs: tuple[Scalar, ...] = (value,)
    if one.mode != "value":
        outputs = (Case((When(value, integer(1)),), integer(0)),)
        if one.mode == "bool":
            outputs += (Case((When(Not(value), integer(1)),), integer(0)),)
    if grouped:
        return Select(tables, keys=(), outputs=outputs)
    return Select(tables, outputs=(*columns, *outputs))


def _outside(node: Node) -> Iterator[Column]:
    """Yield the columns that are not aggregated."""
    if isinstance(node, Column):
        yield node
    if not isinstance(node, Aggregate):
        for child in node.children:
            yield from _outside(child)


def _names(source: Source) -> list[str]:
    return [*COLUMNS.get(source.table, {})]


def _around(source: Source, one: Fired, rng: random.Random) -> Table:
    """Return the rows that a table has where a node stands, and NULLs if it may have these."""
    query = one.scope.derived.get(source)
    table: Table = Scan(source) if query is None else Derived(source, as_written(query))  # type: ignore[arg-type]
    if source not in one.scope.optional:
        return table
    nothing = Derived(
        Source(f"one {source.name}"), Select((), outputs=(integer(rng.choice((0, 1))),))
    )
    return Join("left", nothing, table, Comparison("=", Column(nothing.source, "0"), integer(1)))


def meaning(
    query: Query, data: Database, one: Fired, engine: str, around: dict[Column, Scalar]
) -> object:
    """Return all results that a query allows."""
    allowed = Interpreter(data, engine).allowed(replaced(query, around))
    flat = {tuple(row for group in result for row in group) for result in allowed}
    if not one.repeats:
        return frozenset(frozenset(rows) for rows in flat)
    return frozenset(frozenset(Counter(rows).items()) for rows in flat)


def surroundings(
    queries: Sequence[Query], data: Database, one: Fired, engine: str, rng: random.Random
) -> dict[Column, Scalar] | None:
    """Return what the columns of queries around are: those of a row, or NULLs; None without one."""
    found: dict[Column, Scalar] = {}
    free = frozenset[Source]().union(*map(free_sources, queries))
    for source in sorted(free, key=lambda source: source.order):
        if source.table:
            names, rows = data[source.table]
        else:
            query = one.scope.derived.get(source)
            if query is None or free_sources(query):
                return None
            (result, *_) = Interpreter(data, engine).allowed(as_written(query))  # type: ignore[arg-type]
            rows = [row for group in result for row in group]
            names = [str(i) for i in range(len(rows[0]))] if rows else []
        if source in one.scope.optional and rng.random() < 0.3:
            rows = [(None,) * len(names)]
        if not rows:
            return None
        row = rng.choice(rows)
        found.update(
            (Column(source, name), _constant(value))
            for name, value in zip(names, row, strict=True)
        )
    return found


def _constant(value: Any) -> Scalar:
    if value is None:
        return NULL
    if isinstance(value, bool):
        return Literal("boolean", str(value).lower())
    if isinstance(value, int):
        return integer(value)
    text = Literal("text", str(value))
    if isinstance(value, Decimal):
        return Cast(text, "number", "NUMERIC")
    if isinstance(value, dt.date):
        return Cast(text, "time", "TIMESTAMP" if isinstance(value, dt.datetime) else "DATE")
    return Literal("number", repr(value)) if isinstance(value, float) else text


def contradicted(one: Fired, rng: random.Random) -> Database | None:
    """Return a database on which a rule has changed what a node means."""
    before, after = runnable(one, rng)
    if not free_sources(after) <= free_sources(before):
        return {}  # it names what is not there
    for _ in range(DATABASES):
        engine = one.dialect or rng.choice(ENGINES)
        data = database(rng, one.rests, engine)
        try:
            around = surroundings((before, after), data, one, engine, rng)
            expected = None if around is None else meaning(before, data, one, engine, around)
        except (MeaninglessError, TooManyError):
            continue
        if around is None:
            continue
        try:
            if meaning(after, data, one, engine, around) != expected:
                return data
        except TooManyError:
            continue
        except MeaninglessError:  # though what was rewritten had a meaning
            return data
    return None


def faults_of(
    rule: Rule,
    where: Sequence[Site],
    rules: Sequence[Rule] = RULES,
    known: frozenset[object] = frozenset(),
) -> Iterator[str]:
    """Yield what is wrong with one of several rules, but for what is *known* to be right."""
    found = fired(rule, where)
    on = {(one.text, one.dialect) for one in found}
    for sample, wanted in samples(rule.name).items():
        _, dialects = in_dialects(sample)
        read = {one.scope.dialect for one in where if one.text == sample}
        fires = {dialect for dialect in dialects if (sample, dialect) in on}
        if wanted is not None and not (read and fires == (read if wanted else set())):
            yield f"fires in {fires} of {read}: {sample}"
    for pair, wanted in pairs_for(rule.name):
        if makes_same(rules, pair) is not wanted:
            yield f"makes {'not ' if wanted else ''}the same: {pair}"
    rng = random.Random(rule.name)  # noqa: S311 - for tests
    new = [one for one in found if one.what not in known]
    own, others = ([one for one in new if bool(one.text) is its] for its in (True, False))
    for one in (*own, *rng.sample(others, min(SAMPLES, len(others)))):
        data = contradicted(one, rng)
        if data is not None:
            yield f"{one.before} is not {one.after} by {one.rests} in {one.dialect}: {data}"


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_keeps_the_meaning_of_what_it_fires_on(rule: Rule, quick: bool) -> None:  # noqa: FBT001
    """Oracle: the interpreter, on databases that obey exactly what the rule rests on."""
    assert next(faults_of(rule, sites(rule, quick=quick)), None) is None


def test_each_rule_says_why_it_is_sound() -> None:
    """In a sentence; and no two have one name."""
    assert len({one.name for one in RULES}) == len(RULES)
    assert all(len(one.why) > len("It is so.") and one.why.endswith(".") for one in RULES)
    assert {*FIRING, *NEAR, *SAME, *APART} <= {one.name for one in RULES}
