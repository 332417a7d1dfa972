"""
Ways to write one aggregate over the rows that share a key, alike but for a choice or two.

GROUP BY after a join, a grouped derived table that is joined, a correlated subquery, a window; EXISTS
or IN for what a comparison with an aggregate asks; INTERSECT, two joins or a count of different
values for sets; ROW_NUMBER, RANK, a count of the rows before or LIMIT for an order; FULL JOIN and
UNION ALL.  Keys that may be NULL, rows without a partner, duplicates and empty groups tell
most of them apart on some database.
"""

# ruff: noqa: E501, S608 - a query stands on one line and reads what we made

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from benchmarks.generators.random_sql import Schema
from benchmarks.generators.themes import Maker, Ways

N_WAYS: Final = 9
"""Ways that are drawn where there are more."""
COMPARED: Final = (">", ">=", "=", "<", "<>", "<=")


class _Grouped:
    """Draws the parts that the ways of one query have in common."""

    def __init__(self, schema: Schema, rng: random.Random, dialect: str | None) -> None:
        self.m = Maker(schema, rng, dialect)
        self.rng, self.dialect = rng, dialect
        m = self.m
        self.outer, self.inner = m.table(), m.table()
        if m.chance(0.35):
            self.outer = self.inner
        pairs = [m.links(self.outer, self.inner)]
        if m.chance(0.2):
            pairs.append(m.links(self.outer, self.inner))
        if self.outer is self.inner and m.chance(0.8):
            names = [m.column("", self.inner)[1:] for _ in pairs]
            pairs = [(name, name) for name in dict.fromkeys(names)]
        pairs = list({other: (one, other) for one, other in pairs}.values())
        self.mine, self.theirs = [one for one, _ in pairs], [one for _, one in pairs]
        self.test = m.test("t", self.inner) if m.chance(0.4) else ""
        self.number = m.column("t", self.inner, "int")
        self.shown = m.column("s", self.outer)
        self.aggregate = self._aggregate()
        sign, n = self.rng.choice(COMPARED), self.rng.choice((0, 1, 1, 2, 2, 3))
        self.asked = f"{sign} {n}"

    def _aggregate(self) -> str:
        one, number, test = (
            self.m.column("t", self.inner),
            self.number,
            self.m.test("t", self.inner),
        )
        return self.m.pick(
            "COUNT(*)",
            "COUNT(*)",
            f"COUNT({one})",
            f"COUNT(DISTINCT {one})",
            f"SUM({number})",
            f"MAX({number})",
            f"MIN({number})",
            f"COUNT(CASE WHEN {test} THEN 1 END)",
            f"SUM(CASE WHEN {test} THEN 1 ELSE 0 END)",
            f"MAX({number}) - MIN({number})",
        )

    def links(self, s: str = "s", t: str = "t") -> str:
        """Return the condition that a row belongs to another."""
        return " AND ".join(
            f"{t}.{other} = {s}.{one}" for one, other in zip(self.mine, self.theirs, strict=True)
        )

    def keys(self, alias: str, names: list[str] | None = None) -> str:
        """Return the keys of an inner row."""
        return ", ".join(f"{alias}.{name}" for name in names or self.theirs)

    def where(self, *tests: str) -> str:
        """Return a WHERE of those tests that are not empty."""
        return self.m.where(*tests)

    def whole(self, alias: str = "s") -> str:
        """Return what may tell the outer rows apart."""
        return ", ".join(f"{alias}.{c.name}" for c in self.outer.columns)

    def parts(self) -> tuple[str, str, str, str, str, str]:
        """Return both tables, the scalar subquery, the ON, the groups and what joins these."""
        s, t = f"{self.outer.name} s", f"{self.inner.name} t"
        scalar = f"(SELECT {self.aggregate} FROM {t}{self.where(self.links(), self.test)})"
        on = f"{self.links()}{f' AND {self.test}' if self.test else ''}"
        keys = self.keys("t")
        kept = f"FROM {t}{self.where(self.test)}"
        groups = f"(SELECT {keys}, {self.aggregate} AS a {kept} GROUP BY {keys})"
        met = " AND ".join(f"g.{o} = s.{m}" for m, o in zip(self.mine, self.theirs, strict=True))
        return s, t, scalar, on, groups, met


def _row_by_row(g: _Grouped) -> list[str]:
    """Return ways to show an aggregate beside each row."""
    s, t, scalar, on, groups, met = g.parts()
    exists = f"EXISTS (SELECT 1 FROM {t}{g.where(g.links(), g.test)})"
    own = {*g.mine} if g.outer is g.inner and g.mine == g.theirs else None
    partition = g.keys("t")
    ways = [
        f"SELECT {g.shown}, {scalar} AS a FROM {s}",
        f"SELECT {g.shown}, {scalar} AS a FROM {s} WHERE {exists}",
        f"SELECT {g.shown}, {g.aggregate} AS a FROM {s} JOIN {t} ON {on} GROUP BY s.id, {g.shown}",
        f"SELECT {g.shown}, {g.aggregate} AS a FROM {s} LEFT JOIN {t} ON {on} GROUP BY s.id, {g.shown}",
        f"SELECT {g.shown}, {g.aggregate} AS a FROM {s} JOIN {t} ON {on} GROUP BY {g.whole()}",
        f"SELECT {g.shown}, g.a FROM {s} JOIN {groups} g ON {met}",
        f"SELECT {g.shown}, g.a FROM {s} LEFT JOIN {groups} g ON {met}",
        f"SELECT {g.shown}, COALESCE(g.a, 0) AS a FROM {s} LEFT JOIN {groups} g ON {met}",
        f"WITH g AS {groups} SELECT {g.shown}, g.a FROM {s}, g WHERE {met}",
        f"SELECT {g.shown}, COALESCE({scalar}, 0) AS a FROM {s}",
    ]
    if own is not None:
        tests = g.test.replace("t.", "s.") if g.test else ""
        ways += [
            f"SELECT {g.shown.replace('s.', 't.')}, {_over(g.aggregate, partition)} AS a FROM {t}{g.where(g.test)}",
            f"SELECT {g.shown}, {scalar} AS a FROM {s}{g.where(tests)}",
            f"SELECT {g.shown}, g.a FROM {s} JOIN {groups} g ON {met}{g.where(tests)}",
        ]
    return ways


def _over(aggregate: str, keys: str) -> str:
    """Return an expression of aggregates as windows."""
    over = f" OVER (PARTITION BY {keys})"
    if "MAX" in aggregate and " - " in aggregate:
        first, second = aggregate.split(" - ")
        return f"{first}{over} - {second}{over}"
    return aggregate.replace("DISTINCT ", "") + over


def _filtered(g: _Grouped) -> list[str]:
    """Return ways to ask something of an aggregate."""
    s, t, scalar, on, groups, met = g.parts()
    n = g.asked.split()[1]
    key = g.inner.key[0] if g.inner.key else "id"
    more = g.where(g.links(), g.test, f"{g.number} {g.asked}")
    ways = [
        f"SELECT {g.shown} FROM {s} WHERE {scalar} {g.asked}",
        f"SELECT {g.shown} FROM {s} WHERE {n} < {scalar}",
        f"SELECT {g.shown} FROM {s} JOIN {t} ON {on} GROUP BY s.id, {g.shown} HAVING {g.aggregate} {g.asked}",
        f"SELECT {g.shown} FROM {s} LEFT JOIN {t} ON {on} GROUP BY s.id, {g.shown} HAVING {g.aggregate} {g.asked}",
        f"SELECT {g.shown} FROM {s} JOIN {groups} g ON {met} WHERE g.a {g.asked}",
        f"SELECT {g.shown} FROM {s} LEFT JOIN {groups} g ON {met} WHERE COALESCE(g.a, 0) {g.asked}",
        f"SELECT {g.shown} FROM {s} WHERE EXISTS (SELECT 1 FROM {t}{g.where(g.links(), g.test)})",
        f"SELECT {g.shown} FROM {s} WHERE NOT EXISTS (SELECT 1 FROM {t}{g.where(g.links(), g.test)})",
        f"SELECT {g.shown} FROM {s} WHERE EXISTS (SELECT 1 FROM {t}{more})",
        f"SELECT {g.shown} FROM {s} WHERE EXISTS (SELECT 1 FROM {t}{g.where(g.links(), g.test)} GROUP BY {g.keys('t')} HAVING {g.aggregate} {g.asked})",
        f"SELECT {g.shown} FROM {s} WHERE EXISTS (SELECT 1 FROM {t}, {g.inner.name} u{g.where(g.links(), g.test, g.links(t='u'), f't.{key} <> u.{key}')})",
    ]
    if len(g.theirs) == 1:
        inner = f"SELECT {g.keys('t')} FROM {t}{g.where(g.test)}"
        ways += [
            f"SELECT {g.shown} FROM {s} WHERE s.{g.mine[0]} IN ({inner} GROUP BY {g.keys('t')} HAVING {g.aggregate} {g.asked})",
            f"SELECT {g.shown} FROM {s} WHERE s.{g.mine[0]} NOT IN ({inner})",
            f"SELECT {g.shown} FROM {s} WHERE s.{g.mine[0]} IN ({inner})",
        ]
    return ways


def _groups(g: _Grouped) -> list[str]:
    """Return ways to show groups, or those of which something is asked."""
    t, keys = f"{g.inner.name} t", g.keys("t")
    test = g.where(g.test)
    names = [*dict.fromkeys(g.theirs)]
    same = " AND ".join(f"u.{name} = t.{name}" for name in names)
    equal = " AND ".join(
        f"(u.{name} = t.{name} OR (u.{name} IS NULL AND t.{name} IS NULL))" for name in names
    )
    some = " AND ".join(f"t.{name} IS NOT NULL" for name in names)
    aggregate, u = g.aggregate.replace("t.", "u."), f"{g.inner.name} u"
    tested = g.test.replace("t.", "u.")
    more = f"{g.number} {g.asked}"
    less = f"{g.number} < {g.asked.split()[1]}"
    whole = f"MAX({g.number}) {g.asked}"
    key = g.inner.key[0] if g.inner.key else "id"
    if g.m.chance(0.5):
        return [
            f"SELECT {keys}, {g.aggregate} AS a FROM {t}{test} GROUP BY {keys}",
            f"SELECT DISTINCT {keys}, {_over(g.aggregate, keys)} AS a FROM {t}{test}",
            f"SELECT DISTINCT {keys}, (SELECT {aggregate} FROM {u}{g.where(same, tested)}) AS a FROM {t}{test}",
            f"SELECT DISTINCT {keys}, (SELECT {aggregate} FROM {u}{g.where(equal, tested)}) AS a FROM {t}{test}",
            f"SELECT {keys}, {g.aggregate} AS a FROM {t}{g.where(g.test, some)} GROUP BY {keys}",
            f"SELECT DISTINCT {keys}, (SELECT {aggregate} FROM {u}{g.where(same, tested)}) AS a FROM {t}{g.where(g.test, some)}",
            f"SELECT {keys}, (SELECT {aggregate} FROM {u}{g.where(same)}) AS a FROM {t}{g.where(some)} GROUP BY {keys}",
        ]
    ways = [
        f"SELECT {keys} FROM {t}{test} GROUP BY {keys} HAVING {g.aggregate} {g.asked}",
        f"SELECT {keys} FROM {t}{test} GROUP BY {keys} HAVING COUNT(*) > 1",
        f"SELECT {keys} FROM {t}{test} GROUP BY {keys} HAVING {whole} AND MIN({g.number}) < {g.asked.split()[1]}",
        f"SELECT {keys} FROM {t}{g.where(g.test, some)} GROUP BY {keys} HAVING {whole}",
        f"SELECT DISTINCT {keys} FROM {t}{g.where(g.test, more)}",
        f"SELECT {keys} FROM {t}{g.where(g.test, more)} INTERSECT SELECT {keys} FROM {t}{g.where(g.test, less)}",
        f"SELECT DISTINCT {keys} FROM {t}, {u}{g.where(same, g.test, tested, f't.{key} <> u.{key}')}",
        f"SELECT DISTINCT {keys} FROM {t}{g.where(g.test, f'(SELECT {aggregate} FROM {u}{g.where(same, tested)}) {g.asked}')}",
        f"SELECT DISTINCT {keys} FROM {t}{g.where(g.test, f'(SELECT COUNT(*) FROM {u}{g.where(equal, tested)}) > 1')}",
        f"SELECT DISTINCT {keys} FROM {t}{g.where(g.test, f'EXISTS (SELECT 1 FROM {u}{g.where(same, tested)})')}",
    ]
    if g.m.chance(0.3) and len(names) == 1:
        ways = [f"SELECT COUNT(*) AS n FROM ({way}) x" for way in ways]
        ways.append(f"SELECT COUNT(DISTINCT {keys}) AS n FROM {t}{test}")
    return ways


def _sets(g: _Grouped) -> list[str]:
    """Return ways to ask for rows that have each of two values."""
    s, t, u = f"{g.outer.name} s", f"{g.inner.name} t", f"{g.inner.name} u"
    mine, key = g.mine[0], g.theirs[0]
    kind = g.rng.choice(("int", "int", "text"))
    value = g.m.column("", g.inner, kind)[1:]
    kind = next(c.kind for c in g.inner.columns if c.name == value)
    a, b = g.m.literal(kind), g.m.literal(kind)
    both = f"t.{value} IN ({a}, {b})"
    counted = g.m.pick("COUNT(*)", f"COUNT(DISTINCT t.{value})", f"COUNT(t.{value})")
    sign = g.m.pick("=", ">=", ">= 1 +", "<>")
    n = "1" if "+" in sign else "2"
    one, other = (f"SELECT t.{key} FROM {t} WHERE t.{value} = {v}" for v in (a, b))
    link = g.links(), g.links(t="u")
    return [
        f"SELECT {g.shown} FROM {s} WHERE s.{mine} IN ({one}) AND s.{mine} IN ({other})",
        f"SELECT {g.shown} FROM {s} WHERE s.{mine} IN ({one} INTERSECT {other})",
        f"SELECT {g.shown} FROM {s} WHERE s.{mine} IN (SELECT t.{key} FROM {t} WHERE {both} GROUP BY t.{key} HAVING {counted} {sign} {n})",
        f"SELECT {g.shown} FROM {s} WHERE (SELECT {counted} FROM {t} WHERE {g.links()} AND {both}) {sign} {n}",
        f"SELECT {g.shown} FROM {s} JOIN {t} ON {link[0]} AND t.{value} = {a} JOIN {u} ON {link[1]} AND u.{value} = {b}",
        f"SELECT {g.shown} FROM {s} JOIN {t} ON {link[0]} WHERE {both} GROUP BY s.id, {g.shown} HAVING {counted} {sign} {n}",
        f"SELECT {g.shown} FROM {s} WHERE EXISTS (SELECT 1 FROM {t}, {u} WHERE {link[0]} AND {link[1]} AND t.{value} = {a} AND u.{value} = {b})",
        f"SELECT {g.shown} FROM {s} WHERE s.{mine} IN ({one} UNION {other})",
        f"SELECT {g.shown} FROM {s} WHERE s.{mine} IN ({one}) AND s.{mine} NOT IN ({other})",
        f"SELECT {g.shown} FROM {s} WHERE s.{mine} IN ({one} EXCEPT {other})",
    ]


def _ranks(g: _Grouped) -> list[str]:
    """Return ways to ask for rows by their place in an order."""
    t, u, number = f"{g.inner.name} t", f"{g.inner.name} u", g.number
    other = number.replace("t.", "u.")
    shown = g.shown.replace("s.", "t.") if g.outer is g.inner else g.m.column("t", g.inner)
    down = g.m.chance(0.5)
    order = f"{number}{' DESC' if down else ''}"
    total = f"{order}, t.id"
    sign = ">" if down else "<"
    keys = g.m.pick("", f"PARTITION BY {g.keys('t')} ")
    same = " AND ".join(f"u.{name} = t.{name}" for name in g.theirs) if keys else ""
    best = f"{'MAX' if down else 'MIN'}({other})"
    n = g.rng.choice((1, 1, 2, 3))
    over = g.m.pick("=", "<=", ">", "<")
    rank = g.m.pick("RANK", "DENSE_RANK", "ROW_NUMBER")
    before = f"FROM {u}{g.where(f'{other} {sign} {number}', same)}"
    offset = f" OFFSET {n - 1}" if n > 1 else ""
    return [
        f"SELECT x.v FROM (SELECT {shown} AS v, {rank}() OVER ({keys}ORDER BY {order}) AS r FROM {t}) x WHERE x.r {over} {n}",
        f"SELECT x.v FROM (SELECT {shown} AS v, RANK() OVER ({keys}ORDER BY {order}) AS r FROM {t}) x WHERE x.r {over} {n}",
        f"SELECT x.v FROM (SELECT {shown} AS v, ROW_NUMBER() OVER ({keys}ORDER BY {total}) AS r FROM {t}) x WHERE x.r {over} {n}",
        f"SELECT {shown} AS v FROM {t} WHERE NOT EXISTS (SELECT 1 {before})",
        f"SELECT {shown} AS v FROM {t} WHERE EXISTS (SELECT 1 {before})",
        f"SELECT {shown} AS v FROM {t} WHERE (SELECT COUNT(*) {before}) + 1 {over} {n}",
        f"SELECT {shown} AS v FROM {t} WHERE {number} = (SELECT {best} FROM {u}{g.where(same)})",
        f"SELECT {shown} AS v FROM {t} WHERE {number} {'<' if down else '>'} (SELECT {best} FROM {u}{g.where(same)})",
        f"SELECT x.v FROM (SELECT {shown} AS v FROM {t} ORDER BY {total} LIMIT 1{offset}) x",
        f"SELECT x.v FROM (SELECT {shown} AS v FROM {t} ORDER BY {total} LIMIT {n}) x",
        f"SELECT {shown} AS v, (SELECT COUNT(*) {before}) AS r FROM {t}",
        f"SELECT {shown} AS v, RANK() OVER ({keys}ORDER BY {order}) - 1 AS r FROM {t}",
        f"SELECT {shown} AS v, SUM({number}) OVER ({keys}ORDER BY {total}) AS r FROM {t}",
        f"SELECT {shown} AS v, (SELECT SUM({other}) FROM {u}{g.where(f'NOT {number} {sign} {other}', same)}) AS r FROM {t}",
    ]


def _outer(g: _Grouped) -> list[str]:
    """Return ways to write an outer join."""
    s, t = f"{g.outer.name} s", f"{g.inner.name} t"
    on, value = g.links(), g.m.column("t", g.inner)
    missing = f"SELECT NULL, {value} FROM {t}"
    first = f"SELECT {g.shown}, {value} FROM {s}"
    ways = [
        f"{first} LEFT JOIN {t} ON {on} UNION ALL {missing} WHERE NOT EXISTS (SELECT 1 FROM {s} WHERE {on})",
        f"{first} LEFT JOIN {t} ON {on} UNION ALL {missing} WHERE t.{g.theirs[0]} IS NULL",
        f"{first} LEFT JOIN {t} ON {on} UNION ALL {missing} WHERE t.{g.theirs[0]} NOT IN (SELECT s.{g.mine[0]} FROM {s})",
        f"{first} LEFT JOIN {t} ON {on}",
        f"{first} RIGHT JOIN {t} ON {on}",
        f"{first} JOIN {t} ON {on} UNION ALL SELECT {g.shown}, NULL FROM {s} WHERE NOT EXISTS (SELECT 1 FROM {t} WHERE {on})",
    ]
    if g.dialect != "mysql":
        ways += [f"{first} FULL JOIN {t} ON {on}"] * 2
    return ways


_THEMES: Final[tuple[Callable[[_Grouped], list[str]], ...]] = (
    *(_row_by_row, _row_by_row, _filtered, _filtered),
    *(_groups, _groups, _sets, _ranks, _outer),
)


def ways(schema: Schema, rng: random.Random, dialect: str | None) -> Ways:
    """Draw ways to write one query."""
    theme = rng.choice(_THEMES)
    texts = list(dict.fromkeys(theme(_Grouped(schema, rng, dialect))))
    if len(texts) > N_WAYS:
        texts = rng.sample(texts, N_WAYS)
    return Ways(theme.__name__.strip("_"), tuple(texts), reordered=False)
