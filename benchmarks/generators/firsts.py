"""
Pairs of ways to ask for the first row of a group, and for values beside one pass over rows.

An idea is drawn with its columns, and two of its ways, one of which may be turned: least for
greatest, a row more or less, a condition left out.  Ties, NULLs and keys decide which are equal.
What must agree about the pairs is asked elsewhere, as in
`benchmarks.oracles.check_counterexamples`.
"""

# ruff: noqa: S608, E501 - texts of our own names, a query stays on its line

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

COLUMNS: Final = {
    "e": {
        "id": "int primary key", "k": "int not null", "b": "int", "x": "int not null", "y": "int",
        "d": "date not null", "s": "varchar(9) not null",
    },
    "g": {"id": "int primary key", "k": "int not null", "z": "int"},
}  # fmt: skip


class _Idea:
    """What is drawn for one pair."""

    def __init__(self, seed: int, dialect: str) -> None:
        self.rng, self.dialect = random.Random(seed), dialect  # noqa: S311 - for tests

    def pick(self, *texts: str) -> str:
        return self.rng.choice(texts)

    def turned(self, first: str, second: str, text: str) -> str:
        """Return a text that may have one word for another."""
        return text.replace(first, second) if self.rng.random() < 0.15 else text


def _first_of_group(m: _Idea) -> list[str]:
    key, value = m.pick("k", "b", "s", "k, b"), m.pick("id", "x", "y", "d", "s")
    func, way, sign = m.pick("MAX DESC >", "MIN ASC <").split()
    same = " AND ".join(f"o.{one} = e.{one}" for one in key.split(", "))
    where = m.pick("", "", " WHERE x > 1", " WHERE b IS NOT NULL")
    more = where.replace("WHERE", "AND")
    inner = where.replace("WHERE ", "WHERE o.") if where else ""
    both = f"{inner} AND {same}" if inner else f" WHERE {same}"
    return [
        f"SELECT {key}, {func}({value}) FROM e{where} GROUP BY {key}",
        f"SELECT {key}, {value} FROM (SELECT {key}, {value}, ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {value} {way}) AS r FROM e{where}) q WHERE r = 1",
        f"SELECT {key}, {value} FROM (SELECT {key}, {value}, RANK() OVER (PARTITION BY {key} ORDER BY {value} {way}) AS r FROM e{where}) q WHERE r = 1",
        f"SELECT DISTINCT {key}, {value} FROM e WHERE NOT EXISTS (SELECT 1 FROM e o{both} AND o.{value} {sign} e.{value}){more}",
        f"SELECT {key}, {value} FROM e WHERE NOT EXISTS (SELECT 1 FROM e o{both} AND o.{value} {sign} e.{value}){more}",
        f"SELECT DISTINCT {key}, {func}({value}) OVER (PARTITION BY {key}) FROM e{where}",
        f"SELECT {key}, {value} FROM e WHERE {value} = (SELECT {func}(o.{value}) FROM e o{both}){more}",
    ]


def _first_row(m: _Idea) -> list[str]:
    order, value = m.pick("id", "x, id", "d, id", "x", "y, id"), m.pick("s", "y", "x", "id")
    desc = m.pick("", " DESC")
    first = order.split(", ")[0]
    func, sign = ("MAX", ">") if desc else ("MIN", "<")
    listed = ", ".join(f"{one}{desc}" for one in order.split(", "))
    before = f"o.{first} {sign} e.{first}"
    if ", " in order:
        before = f"({before} OR o.{first} = e.{first} AND o.id {sign} e.id)"
    return [
        f"SELECT {value} FROM e ORDER BY {listed} LIMIT 1",
        f"SELECT {value} FROM e WHERE NOT EXISTS (SELECT 1 FROM e o WHERE {before})",
        f"SELECT {value} FROM e WHERE {first} = (SELECT {func}({first}) FROM e)",
        f"SELECT {value} FROM e WHERE {first} IN (SELECT {first} FROM e ORDER BY {first}{desc} LIMIT 1)",
        f"SELECT {value} FROM (SELECT {value}, ROW_NUMBER() OVER (ORDER BY {listed}) AS r FROM e) q WHERE r = 1",
    ]


def _nth_value(m: _Idea) -> list[str]:
    value, where = m.pick("x", "y", "id", "d"), m.pick("", "", " WHERE k = 1")
    desc, func, sign = m.pick(" DESC MAX <", "ASC MIN >").split()
    more = where.replace("WHERE", "AND")
    least = f"(SELECT {func}({value}) FROM e{where})"
    return [
        f"SELECT {func}({value}) FROM e WHERE {value} {sign} {least}{more}",
        f"SELECT {func}({value}) FROM e WHERE {value} <> {least}{more}",
        f"SELECT {func}({value}) FROM e WHERE {value} NOT IN {least}{more}",
        f"SELECT (SELECT DISTINCT {value} FROM e{where} ORDER BY {value} {desc} LIMIT 1 OFFSET 1)",
        f"SELECT (SELECT {value} FROM e{where} GROUP BY {value} ORDER BY {value} {desc} LIMIT 1 OFFSET 1)",
        f"SELECT (SELECT {value} FROM e{where} ORDER BY {value} {desc} LIMIT 1 OFFSET 1)",
        f"SELECT {func}({value}) FROM (SELECT {value}, DENSE_RANK() OVER (ORDER BY {value} {desc}) AS r FROM e{where}) q WHERE r = 2",
    ]


def _beside(m: _Idea) -> list[str]:
    first, second = (
        m.pick("COUNT(*)", "SUM(x)", "MAX(y)", "MIN(x)", "COUNT(DISTINCT b)", "SUM(y)")
        for _ in "ab"
    )
    one, other = m.pick("k = 1", "b > 1", "y IS NULL", "TRUE"), m.pick("k = 2", "b > 1", "TRUE")
    sign, both = m.pick("-", "+", ","), m.pick("", "", "x > 1")

    def filtered(agg: str, condition: str) -> str:
        name, operand = agg.removesuffix(")").split("(")
        distinct = "DISTINCT " if operand.startswith("DISTINCT") else ""
        operand = operand.removeprefix("DISTINCT ").replace("*", "1")
        return (
            agg
            if condition == "TRUE"
            else f"{name}({distinct}CASE WHEN {condition} THEN {operand} END)"
        )

    def where(*conditions: str) -> str:
        kept = [c for c in conditions if c not in ("TRUE", "")]
        return f" WHERE {' AND '.join(kept)}" if kept else ""

    return [
        f"SELECT (SELECT {first} FROM e{where(one, both)}) {sign} (SELECT {second} FROM e{where(other, both)})",
        f"SELECT {filtered(first, one)} {sign} {filtered(second, other)} FROM e{where(both)}",
        f"SELECT {first} {sign} (SELECT {second} FROM e{where(other, both)}) FROM e{where(one, both)}",
        f"SELECT a.v {sign} c.v FROM (SELECT {first} AS v FROM e{where(one, both)}) a, (SELECT {second} AS v FROM e{where(other, both)}) c",
        f"SELECT {first} {sign} {second} FROM e{where(one, both)}",
    ]


def _alone(m: _Idea) -> list[str]:
    key, value = m.pick("k", "b", "s"), m.pick("x", "y", "id")
    func = m.pick("MAX", "MIN", "SUM" if m.dialect != "sqlite" else "MAX")
    where = m.pick("", " WHERE x > 1")
    inner = where.replace("x >", "o.x >") or " WHERE 1 = 1"
    return [
        f"SELECT {key}, {func}({value}) FROM e{where} GROUP BY {key} HAVING COUNT(*) = 1",
        f"SELECT {key}, {func}({value}) FROM e{where} GROUP BY {key} HAVING COUNT(*) < 2",
        f"SELECT {key}, {value} FROM e WHERE NOT EXISTS (SELECT 1 FROM e o{inner} AND o.{key} = e.{key} AND o.id <> e.id){where.replace('WHERE', 'AND')}",
        f"SELECT {key}, {value} FROM (SELECT {key}, {value}, COUNT(*) OVER (PARTITION BY {key}) AS n FROM e{where}) q WHERE n = 1",
        f"SELECT {key}, {func}({value}) FROM e{where} GROUP BY {key} HAVING COUNT({value}) = 1",
    ]


def _doubles(m: _Idea) -> list[str]:
    key, where = m.pick("k", "b", "s"), m.pick("", " WHERE x > 1")
    more = where.replace("WHERE", "AND")
    inner = more.replace("x >", "o.x >")
    return [
        f"SELECT id FROM e WHERE {key} IN (SELECT {key} FROM e{where} GROUP BY {key} HAVING COUNT(*) > 1){more}",
        f"SELECT id FROM (SELECT id, COUNT(*) OVER (PARTITION BY {key}) AS n FROM e{where}) q WHERE n > 1",
        f"SELECT id FROM e WHERE EXISTS (SELECT 1 FROM e o WHERE o.{key} = e.{key} AND o.id <> e.id{inner}){more}",
        f"SELECT id FROM e WHERE (SELECT COUNT(*) FROM e o WHERE o.{key} = e.{key}{inner}) > 1{more}",
        f"SELECT id FROM e WHERE (SELECT COUNT(*) FROM e o WHERE o.{key} = e.{key}{inner}) > 1",
        f"SELECT DISTINCT e.id FROM e JOIN e o ON o.{key} = e.{key} AND o.id <> e.id{inner}{where.replace('x >', 'e.x >')}",
    ]


def _top_groups(m: _Idea) -> list[str]:
    key = m.pick("k", "b", "s")
    value = m.pick("COUNT(*)", "MAX(x)", "MIN(id)", "COUNT(y)")
    desc, func = m.pick("DESC MAX", "ASC MIN").split()
    return [
        f"SELECT {key} FROM e GROUP BY {key} HAVING {value} = (SELECT {func}(n) FROM (SELECT {value} AS n FROM e GROUP BY {key}) q)",
        f"SELECT {key} FROM (SELECT {key}, RANK() OVER (ORDER BY {value} {desc}) AS r FROM e GROUP BY {key}) q WHERE r = 1",
        f"SELECT {key} FROM (SELECT {key}, ROW_NUMBER() OVER (ORDER BY {value} {desc}) AS r FROM e GROUP BY {key}) q WHERE r = 1",
        f"SELECT {key} FROM e GROUP BY {key} HAVING {value} = (SELECT {value} FROM e GROUP BY {key} ORDER BY {value} {desc} LIMIT 1)",
        f"SELECT {key} FROM e GROUP BY {key} ORDER BY {value} {desc} LIMIT 1",
    ]


def _defaults(m: _Idea) -> list[str]:
    func, op = m.pick("MAX", "MIN", "SUM", "COUNT"), m.pick("<=", "<", ">", ">=", "=")
    default, bound = m.pick("0", "1", "3"), m.pick("0", "1", "2")
    negated = {"<=": ">", "<": ">=", ">": "<=", ">=": "<", "=": "<>"}[op]
    return [
        f"SELECT id FROM g WHERE COALESCE((SELECT {func}(y) FROM e WHERE e.k = g.k), {default}) {op} {bound}",
        f"SELECT g.id FROM g LEFT JOIN e ON e.k = g.k GROUP BY g.id HAVING COALESCE({func}(e.y), {default}) {op} {bound}",
        f"SELECT id FROM g WHERE NOT EXISTS (SELECT 1 FROM e WHERE e.k = g.k AND e.y {negated} {bound})",
        f"SELECT id FROM g WHERE EXISTS (SELECT 1 FROM e WHERE e.k = g.k AND e.y {op} {bound})",
        f"SELECT id FROM g WHERE (SELECT {func}(y) FROM e WHERE e.k = g.k) {op} {bound}",
    ]


def _latest(m: _Idea) -> list[str]:
    value, order = m.pick("s", "y", "x"), m.pick("id", "x", "d", "d, id")
    desc, sign = m.pick("DESC >", "ASC <").split()
    func = "MAX" if desc == "DESC" else "MIN"
    first = order.split(", ")[0]
    listed = ", ".join(f"{one} {desc}" for one in order.split(", "))
    return [
        f"SELECT id, (SELECT e.{value} FROM e WHERE e.k = g.k ORDER BY {listed.replace('id', 'e.id')} LIMIT 1) FROM g",
        f"SELECT g.id, e.{value} FROM g LEFT JOIN e ON e.k = g.k AND NOT EXISTS (SELECT 1 FROM e o WHERE o.k = e.k AND o.{first} {sign} e.{first})",
        f"SELECT g.id, e.{value} FROM g LEFT JOIN e ON e.k = g.k AND e.{first} = (SELECT {func}(o.{first}) FROM e o WHERE o.k = g.k)",
        f"SELECT id, (SELECT {func}(e.{value}) FROM e WHERE e.k = g.k) FROM g",
        f"SELECT id, (SELECT e.{value} FROM e WHERE e.k = g.k ORDER BY e.{value} {desc} LIMIT 1) FROM g",
    ]


def _two_values(m: _Idea) -> list[str]:
    first, second = m.pick("k x", "x k", "k y", "id x").split()
    least = "MIN" if m.dialect == "sqlite" else "LEAST"
    return [
        f"SELECT DISTINCT {least}({first}, {second}) FROM e",
        f"SELECT DISTINCT {least}({second}, {first}) FROM e",
        f"SELECT DISTINCT CASE WHEN {first} < {second} THEN {first} ELSE {second} END FROM e",
        f"SELECT DISTINCT CASE WHEN {second} <= {first} THEN {second} ELSE {first} END FROM e",
        f"SELECT DISTINCT CASE WHEN {first} > {second} THEN {first} ELSE {second} END FROM e",
    ]


IDEAS: Final[tuple[Callable[[_Idea], list[str]], ...]] = (
    _first_of_group, _first_row, _nth_value, _beside, _alone, _doubles, _top_groups, _defaults,
    _latest, _two_values,
)  # fmt: skip


def drawn(seed: int, dialect: str) -> tuple[str, str]:
    """Return a pair of queries."""
    m = _Idea(seed, dialect)
    ways = m.rng.choice(IDEAS)(m)
    first, second = m.rng.sample(ways, 2)
    return first, m.turned(
        *m.rng.choice((("MAX", "MIN"), ("DESC", "ASC"), ("> 1", ">= 1"))), second
    )


def rows(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Return rows for the tables, with ties and NULLs."""
    rng = random.Random(seed)  # noqa: S311 - for tests
    days = ("2020-01-01", "2020-01-02", "2020-02-29")
    n = rng.choice((0, 1, 2, 3, 4, 5, 6))
    return {
        "e": [
            (
                i, rng.randrange(3), rng.choice((None, 0, 1, 2)), rng.randrange(4),
                rng.choice((None, 0, 1, 2, 3)), rng.choice(days), rng.choice(("a", "b")),
            )
            for i in range(n)
        ],
        "g": [(i, rng.randrange(3), rng.choice((None, 0, 1))) for i in range(rng.randrange(4))],
    }  # fmt: skip
