"""
Several ways to write one query, some of which only look alike: NULLs, ties and keys decide.

Each theme is a trap that random queries seldom meet: an EXISTS over groups that HAVING drops,
NOT IN with a NULL, the first row of a window.  Which of the ways are equal is left to databases.
"""

# ruff: noqa: S608 - queries that read what we made

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from benchmarks.generators.random_sql import COMPARISONS, KINDS, NUMBERS, TEXTS, Schema, Table

N_DRAWN: Final = 6
"""Ways that are drawn where there are many."""


class Ways(NamedTuple):
    """Ways to write one query."""

    theme: str
    queries: tuple[str, ...]
    reordered: bool
    """Whether their columns may come in another order."""


class Maker:
    """Draws what a theme is about."""

    def __init__(self, schema: Schema, rng: random.Random, dialect: str | None) -> None:
        self.rng, self.dialect = rng, dialect
        self.tables = schema

    def chance(self, probability: float) -> bool:
        """Toss a coin."""
        return self.rng.random() < probability

    def pick(self, *texts: str) -> str:
        """Return one of some texts."""
        return self.rng.choice(texts)

    def table(self) -> Table:
        """Return a table."""
        return self.rng.choice(self.tables)

    def column(self, alias: str, table: Table, kind: str = "") -> str:
        """Return a column, of a kind if the table has such a one."""
        found = [c.name for c in table.columns if c.kind == kind]
        return f"{alias}.{self.rng.choice(found or [c.name for c in table.columns])}"

    def key(self, alias: str, table: Table) -> str:
        """Return a column that may be a key."""
        unique = [c.name for c in table.columns if c.unique]
        return f"{alias}.{self.rng.choice(['id', 'id', *unique, *unique])}"

    def literal(self, kind: str) -> str:
        """Return a literal."""
        return f"'{self.rng.choice(TEXTS)}'" if kind == "text" else str(self.rng.choice(NUMBERS))

    def test(self, alias: str, table: Table) -> str:
        """Return a condition on one row."""
        kind = self.rng.choice(KINDS)
        column = self.column(alias, table, kind)
        if not any(c.kind == kind for c in table.columns):
            kind = "int"
        style = self.rng.random()
        if style < 0.2:
            return f"{column} IS {self.pick('', 'NOT ')}NULL"
        if style < 0.3:
            return f"{column} IN ({self.literal(kind)}, {self.literal(kind)})"
        return f"{column} {self.pick(*COMPARISONS)} {self.literal(kind)}"

    def where(self, *tests: str) -> str:
        """Return a WHERE of those tests that are not empty."""
        kept = [test for test in tests if test]
        return f" WHERE {' AND '.join(kept)}" if kept else ""

    def maybe(self, text: str, probability: float = 0.5) -> str:
        """Return a text, or nothing."""
        return text if self.chance(probability) else ""

    def links(self, first: Table, second: Table) -> tuple[str, str]:
        """Return columns of two tables on which they may be joined."""
        pairs = [(c.name, "id") for c in first.columns if c.other == second.name]
        pairs += [("id", c.name) for c in second.columns if c.other == first.name]
        if not pairs or self.chance(0.4):
            pairs = [
                (one.name, other.name)
                for one in first.columns
                for other in second.columns
                if one.kind == other.kind
            ]
        return self.rng.choice(pairs)

    def aggregate(self, alias: str, table: Table) -> str:
        """Return an aggregate that is a number."""
        argument = self.column(alias, table, "int")
        name = self.pick("COUNT", "COUNT", "SUM", "MIN", "MAX")
        return self.pick("COUNT(*)", f"{name}({argument})", f"COUNT(DISTINCT {argument})")

    def cast(self, value: str) -> str:
        """Return a CAST to a whole number."""
        return f"CAST({value} AS {'SIGNED' if self.dialect == 'mysql' else 'INT'})"


Theme: TypeAlias = Callable[[Maker], list[str]]
THEMES: Final[dict[str, Theme]] = {}
REORDERED: Final = frozenset({"columns"})
"""Themes of queries whose columns come in another order."""


def _theme(theme: Theme) -> Theme:
    THEMES[theme.__name__.strip("_")] = theme
    return theme


def ways(schema: Schema, rng: random.Random, dialect: str | None) -> Ways:
    """Draw a theme, and some ways to write one of its queries."""
    name = rng.choice(list(THEMES))
    queries = list(dict.fromkeys(THEMES[name](Maker(schema, rng, dialect))))
    reordered = name in REORDERED or rng.random() < 0.05
    return Ways(name, tuple(queries), reordered)


# Conditions.


@_theme
def _truth(m: Maker) -> list[str]:
    """Formulas of conditions and NULL, and others that are nearly the same."""
    table = m.table()
    one, two = m.test("x", table), m.test("x", table)
    null = f"{m.column('x', table)} = NULL"
    leaves = (one, one, two, "NULL", "NULL", null, "1 = 1", "1 = 2")

    def formula(depth: int) -> str:
        if not depth or m.chance(0.2):
            return m.pick(*leaves)
        if m.chance(0.3):
            return f"NOT ({formula(depth - 1)})"
        return f"({formula(depth - 1)} {m.pick('AND', 'OR')} {formula(depth - 1)})"

    whole = formula(2)
    found = [
        whole,
        f"NOT (NOT ({whole}))",
        f"({whole} AND ({whole} OR {two}))",
        f"({whole} AND NULL)",
        f"({whole} OR NULL)",
        f"NOT ({whole} AND NULL)",
        f"NOT ({whole})",
        whole.replace("NULL", "1 = 2", 1) if " IS " not in whole else whole,
        f"({whole}) IS NULL",
        f"CASE WHEN {whole} THEN 1 ELSE 0 END = 1",
        m.pick(*leaves),
        formula(1),
    ]
    shown = m.column("x", table)
    context = m.pick("WHERE {}", "WHERE NOT ({})", "WHERE ({}) IS NULL", "WHERE {} OR 1 = 2")
    if m.chance(0.25):
        return [f"SELECT {shown} AS c0, ({one}) AS c1 FROM {table.name} AS x" for one in found]
    return [f"SELECT {shown} AS c0 FROM {table.name} AS x {context.format(one)}" for one in found]


@_theme
def _ranges(m: Maker) -> list[str]:
    """Intervals of whole numbers, one of which may end one number further."""
    table = m.table()
    value = m.column("x", table, "int")
    other = m.column("x", table, "int")
    low = m.rng.choice(NUMBERS)
    found: list[str] = []
    for _ in range(N_DRAWN):
        a = low + m.rng.choice((0, 0, 0, 1))
        b = low + m.rng.choice((1, 1, 1, 2))
        listed = ", ".join(map(str, range(a, b + 1)))
        found.append(
            m.pick(
                f"{value} >= {a} AND {value} <= {b}",
                f"{value} > {a - 1} AND {value} < {b + 1}",
                f"{value} BETWEEN {a} AND {b}",
                f"{value} IN ({listed})",
                f"NOT ({value} < {a} OR {value} > {b})",
                f"{value} = {a} OR ({value} > {a} AND {value} <= {b})",
                f"{value} > {a - 0.5} AND {value} < {b + 0.5}",
                f"{value} >= {a} AND {value} < {b + 1} AND {value} IS NOT NULL",
                f"{value} >= {a} AND {other} = {value} AND {other} <= {b}",
                f"{value} + 1 > {a} AND {value} - 1 < {b}",
                f"({value} >= {a} AND {value} <= {b}) OR ({value} > {b} AND {value} < {a})",
            )
        )
    if m.chance(0.2):
        count = f"COUNT(CASE WHEN {{}} THEN {m.pick('1', value)} END)"
        return [f"SELECT {count.format(one)} AS c0 FROM {table.name} AS x" for one in found]
    negated = m.pick("{}", "{}", "NOT ({})")
    shown = m.column("x", table)
    return [
        f"SELECT {shown} AS c0 FROM {table.name} AS x WHERE {negated.format(one)}" for one in found
    ]


@_theme
def _casts(m: Maker) -> list[str]:
    """Values that are converted, divided and multiplied again."""
    table = m.table()
    value, text = m.column("x", table, "int"), m.column("x", table, "text")
    limit = m.literal("int")
    tests = [
        f"{value} > {limit}",
        f"{m.cast(value)} > {limit}",
        f"{m.cast(text)} > {limit}",
        f"{text} > '{limit}'",
        f"{value} > {limit} AND {text} IS NOT NULL",
        f"{value} * 2 > {limit} * 2",
        f"{value} / 2 > {limit} / 2" if m.dialect not in ("postgres", None) else f"{value} > 0",
        f"{value} * 1.0 / 2 > {limit} / 2.0",
        f"COALESCE({value}, {limit}) > {limit}",
        f"ABS({value}) > {limit}",
        f"NULLIF({value}, {limit}) > {limit}",
        f"CASE WHEN {value} IS NULL THEN {limit} ELSE {value} END > {limit}",
    ]
    shown = m.column("x", table)
    return [f"SELECT {shown} AS c0 FROM {table.name} AS x WHERE {one}" for one in tests]


# Subqueries.


@_theme
def _existence(m: Maker) -> list[str]:
    """EXISTS over groups, which HAVING may drop, and a group that is there without rows."""
    first, second = m.table(), m.table()
    mine, theirs = m.links(first, second)
    where = m.where(m.maybe(f"y.{theirs} = x.{mine}", 0.6), m.maybe(m.test("y", second), 0.3))
    group = m.column("y", second)
    from_ = f"FROM {second.name} AS y{where}"
    tests: list[str] = []
    for _ in range(2):
        having = f"{m.aggregate('y', second)} {m.pick(*COMPARISONS)} {m.rng.choice((0, 1, 2))}"
        aggregate = m.aggregate("y", second)
        tests += [
            f"EXISTS (SELECT {aggregate} {from_} HAVING {having})",
            f"EXISTS (SELECT 1 {from_} GROUP BY {group} HAVING {having})",
            f"EXISTS (SELECT {group} {from_} GROUP BY {group} HAVING {group} IS NOT NULL)",
            f"(SELECT {aggregate} {from_}) {m.pick('> 0', '>= 1', '= 0', 'IS NOT NULL')}",
        ]
    tests += [
        f"EXISTS (SELECT 1 {from_})",
        f"EXISTS (SELECT {m.aggregate('y', second)} {from_})",
        f"(SELECT COUNT(*) {from_}) > 0",
        f"EXISTS (SELECT 1 {from_} GROUP BY {group})",
        f"EXISTS (SELECT 1 {from_} GROUP BY {group} HAVING COUNT(*) > 0)",
        "1 = 1",
    ]
    shown, negated = m.column("x", first), m.maybe("NOT ", 0.3)
    return [f"SELECT {shown} AS c0 FROM {first.name} AS x WHERE {negated}{t}" for t in tests]


@_theme
def _semi_joins(m: Maker) -> list[str]:
    """IN, EXISTS, and joins: of rows that repeat."""
    return _members(m, negated=False)


@_theme
def _anti_joins(m: Maker) -> list[str]:
    """NOT IN, NOT EXISTS, EXCEPT and joins that find nothing: of NULL."""
    return _members(m, negated=True)


def _members(m: Maker, *, negated: bool) -> list[str]:
    first, second = m.table(), m.table()
    mine, theirs = m.links(first, second)
    kept, looked = m.maybe(m.test("x", first), 0.3), m.maybe(m.test("y", second), 0.3)
    same = f"y.{theirs} = x.{mine}"
    if m.chance(0.25):
        also = "{1} = {0}".format(
            *(f"{a}.{c}" for a, c in zip("xy", m.links(first, second), strict=True))
        )
        looked = f"{also} AND {looked}" if looked else also
    shown = m.pick(f"DISTINCT x.{mine}", f"x.{mine}", m.column("x", first))
    head = f"SELECT {shown} AS c0 FROM {first.name} AS x"
    inner = f"SELECT y.{theirs} FROM {second.name} AS y{m.where(looked)}"
    there = f"SELECT 1 FROM {second.name} AS y{m.where(looked, same)}"
    on = " AND ".join(filter(None, (same, looked)))
    seen = m.pick(f"y.{theirs}", m.key("y", second), m.column("y", second))
    known, some = f"x.{mine} IS NOT NULL", f"y.{theirs} IS NOT NULL"
    present = f"SELECT y.{theirs} FROM {second.name} AS y{m.where(looked, some)}"
    operator = "EXCEPT" if negated else "INTERSECT"
    plain = m.where(kept)
    a = f"SELECT DISTINCT x.{mine} AS c0 FROM {first.name} AS x{plain}"
    found = [
        f"SELECT x.{mine} AS c0 FROM {first.name} AS x{plain} {operator} {inner}",
        f"{a}{' AND ' if plain else ' WHERE '}{'NOT ' if negated else ''}EXISTS ({there})",
    ]
    if " x." in inner:  # an arm cannot look at another one
        found = []
    if negated:
        tests = [
            f"x.{mine} NOT IN ({inner})",
            f"x.{mine} NOT IN ({present})",
            f"NOT EXISTS ({there})",
            f"NOT x.{mine} IN ({inner}) AND {known}",
            f"NOT EXISTS ({there}) AND {known}",
            f"(SELECT COUNT(*) FROM {second.name} AS y{m.where(looked, same)}) = 0",
            f"(x.{mine} IN ({inner})) IS NOT TRUE" if m.dialect != "mysql" else "1 = 1",
        ]
        found.append(
            f"{head} LEFT JOIN {second.name} AS y ON {on}{m.where(kept, f'{seen} IS NULL')}"
        )
    else:
        tests = [
            f"x.{mine} IN ({inner})",
            f"x.{mine} IN ({present})",
            f"EXISTS ({there})",
            f"NOT (x.{mine} NOT IN ({inner}))",
            f"(SELECT COUNT(*) FROM {second.name} AS y{m.where(looked, same)}) > 0",
            f"EXISTS ({there} GROUP BY y.{theirs})",
        ]
        found += [
            f"{head} JOIN {second.name} AS y ON {on}{plain}",
            f"{head} LEFT JOIN {second.name} AS y ON {on}{m.where(kept, f'{seen} IS NOT NULL')}",
        ]
        if " x." not in inner:
            found.append(
                f"{head} JOIN (SELECT DISTINCT y.{theirs} AS k FROM {second.name} AS y"
                f"{m.where(looked)}) AS y ON y.k = x.{mine}{plain}"
            )
    return [*found, *(head + m.where(kept, test) for test in tests)]


# Joins.


@_theme
def _keys(m: Maker) -> list[str]:
    """A table joined with itself by what may be a key: NULL matches nothing."""
    table = m.table()
    key = m.key("x", table)[2:]
    return _joined(m, table, key, table.name, key)


@_theme
def _references(m: Maker) -> list[str]:
    """A table joined with what its foreign key points to: NULL points nowhere."""
    pairs = [(t, c) for t in m.tables for c in t.columns if c.other]
    if not pairs:
        return _keys(m)
    table, column = m.rng.choice(pairs)
    return _joined(m, table, column.name, column.other, "id")


def _joined(m: Maker, table: Table, mine: str, other: str, theirs: str) -> list[str]:
    shown = m.pick(m.column("x", table), f"x.{mine}", f"x.{mine}, COUNT(*)", "COUNT(*)")
    tail = f" GROUP BY x.{mine}" if ", " in shown else ""
    if m.chance(0.3):
        shown = shown if tail or "(" in shown else f"DISTINCT {shown}"
    kept = m.maybe(m.test("x", table), 0.25)
    known, on = f"x.{mine} IS NOT NULL", f"x.{mine} = y.{theirs}"
    seen = m.pick(f"y.{theirs} IS NOT NULL", f"y.{theirs} = y.{theirs}")
    from_ = f"FROM {table.name} AS x"
    bodies = [
        from_ + m.where(kept),
        from_ + m.where(kept, known),
        f"{from_} JOIN {other} AS y ON {on}{m.where(kept)}",
        f"{from_} LEFT JOIN {other} AS y ON {on}{m.where(kept)}",
        f"{from_} LEFT JOIN {other} AS y ON {on}{m.where(kept, known)}",
        f"{from_} LEFT JOIN {other} AS y ON {on}{m.where(kept, seen)}",
        f"{from_} RIGHT JOIN {other} AS y ON {on}{m.where(kept)}",
        f"{from_}{m.where(kept, f'x.{mine} IN (SELECT y.{theirs} FROM {other} AS y)')}",
        f"{from_}{m.where(kept, f'EXISTS (SELECT 1 FROM {other} AS y WHERE {on})')}",
    ]
    found = [f"SELECT {shown} {body}{tail}" for body in bodies]
    if m.chance(0.5):  # what the other table holds is seen
        own = f"SELECT {m.column('x', table)} AS c0, x.{mine} AS c1"
        seen = own.replace(f"x.{mine} AS c1", f"y.{theirs} AS c1")
        found = [f"{seen} {body}" for body in bodies if " JOIN " in body]
        found += [f"{own} {bodies[0]}", f"{own} {bodies[1]}"]
    return found


@_theme
def _sides(m: Maker) -> list[str]:
    """Outer joins, and conditions that refuse what they fill up, or seem to."""
    first, second = m.table(), m.table()
    mine, theirs = m.links(first, second)
    on = f"x.{mine} = y.{theirs}"
    value, own = m.column("y", second, "int"), m.column("x", first, "int")
    if any(f"y.{c.name}" == value and c.kind == "text" for c in second.columns):
        value = "y.id"
    limit = m.literal("int")
    test = m.pick(
        f"{value} = {limit}",
        f"{value} IS NOT NULL",
        f"{value} IS NULL",
        f"COALESCE({value}, {limit}) = {limit}",
        f"({value} = {limit} OR {own} = {limit})",
        f"({value} = {limit} OR {value} > {own})",
        f"NOT ({value} = {limit})",
        f"CASE WHEN {value} = {limit} THEN 1 ELSE 0 END = 1",
        f"CASE WHEN {value} = {limit} THEN 0 ELSE 1 END = 1",
        f"({value} IS NULL OR {value} > {limit})",
        f"NOT ({value} IS NULL AND {own} = {limit})",
        f"{value} NOT IN (SELECT z.id FROM {m.table().name} AS z)",
        f"({value} = {limit}) IS NULL",
        "1 = 1",
    )
    shown = m.pick(own, f"{own}, {value}", "COUNT(*)", f"COUNT({value})", f"SUM({value})")
    shown += m.maybe(f", MAX({value})", 0.3) if "(" in shown else ""
    tail = ""
    if "(" in shown and m.chance(0.5):
        tail = f" GROUP BY {own}"
        tail += m.maybe(f" HAVING {m.pick(f'COUNT({value})', 'COUNT(*)')} > {m.pick('0', '1')}")
    sides = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT JOIN", "JOIN")
    head, other = f"SELECT {shown} FROM {first.name} AS x", f"{second.name} AS y ON {on}"
    return [
        *(f"{head} {side} {other} WHERE {test}{tail}" for side in sides),
        *(f"{head} {side} {other} AND {test}{tail}" for side in sides[:2]),
    ]


# Groups.


@_theme
def _dependent_keys(m: Maker) -> list[str]:
    """GROUP BY of columns that others may determine, by keys, joins and constants."""
    first, second = m.table(), m.table()
    from_, columns = f"FROM {first.name} AS x", [f"x.{c.name}" for c in first.columns]
    if m.chance(0.7):
        mine, theirs = m.links(first, second)
        side = m.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN")
        from_ += f" {side} {second.name} AS y ON x.{mine} = y.{theirs}"
        columns += [f"y.{c.name}" for c in second.columns]
        keys = [f"x.{mine}", f"y.{theirs}", m.key("x", first), m.key("y", second)]
    else:
        keys = ["x.id", m.key("x", first)]
    fixed = m.column("x", first, "int")
    from_ += m.maybe(f" WHERE {fixed} {m.pick('=', '=', 'IS NOT NULL AND 1 =')} 1", 0.3)
    keys = list(dict.fromkeys([m.pick(*keys), *keys[: m.rng.choice((1, 2, 3))]]))
    base = keys[: m.rng.choice((1, 1, 2))]
    shown = m.pick(f"COUNT(*), MAX({m.pick(*columns)})", "COUNT(*)", f"MIN({m.pick(*columns)})")
    shown = f"{m.maybe(base[0] + ', ')}{shown}"
    more = [m.pick(*columns, *keys, fixed) for _ in range(5)]
    groups = [base, keys, *([*base, one] for one in more)]
    found = [
        f"SELECT {shown} {from_} GROUP BY {', '.join(dict.fromkeys(group))}" for group in groups
    ]
    listed = ", ".join([*base, *m.rng.sample(columns, m.rng.choice((0, 1, 1, 2)))])
    found += [
        f"SELECT {listed} {from_} GROUP BY {listed}",
        f"SELECT DISTINCT {listed} {from_}",
        f"SELECT {listed} {from_}",
    ]
    if m.chance(0.2):  # groups of one row
        column = m.column("x", first, "int")
        tail = f"{from_} GROUP BY {base[0]}"
        found = [f"SELECT {name}({column}) {tail}" for name in ("SUM", "AVG", "MIN", "COUNT")]
        found += [f"SELECT {column} {from_}", f"SELECT {column} {tail}, {column}"]
    if m.dialect == "sqlite" and m.chance(0.3):
        bare = m.pick(*columns)
        found = [
            f"SELECT {bare}, COUNT(*) {from_} GROUP BY {', '.join(group)}" for group in groups
        ]
    return found


@_theme
def _ratios(m: Maker) -> list[str]:
    """Means, counts and sums, each of which treats NULL and no rows in its own way."""
    table = m.table()
    value, key = m.column("x", table, "int"), m.column("x", table)
    test = m.test("x", table)
    mean = m.chance(0.5)
    if mean:
        shown = [
            f"AVG({value})",
            f"SUM({value}) * 1.0 / COUNT({value})",
            f"1.0 * SUM({value}) / COUNT(*)",
            (
                f"CAST(SUM({value}) AS {'DOUBLE' if m.dialect in ('duckdb', 'mysql') else 'REAL'})"
                f" / COUNT({value})"
            ),
            f"SUM({value}) * 1.0 / NULLIF(COUNT({value}), 0)",
            f"CASE WHEN COUNT({value}) > 0 THEN SUM({value}) * 1.0 / COUNT({value}) END",
            f"AVG(CASE WHEN {value} IS NOT NULL THEN {value} END)",
            f"AVG(COALESCE({value}, 0))",
            f"AVG(DISTINCT {value})",
        ]
        if m.dialect != "postgres":
            shown.append(f"SUM({value}) / COUNT({value})")
    else:
        constant = m.pick("1", "2", "0")
        shown = [
            f"SUM(CASE WHEN {test} THEN {constant} ELSE 0 END)",
            f"COALESCE(SUM(CASE WHEN {test} THEN {constant} ELSE 0 END), 0)",
            f"SUM(CASE WHEN {test} THEN {constant} END)",
            f"COALESCE(SUM(CASE WHEN {test} THEN {constant} END), 0)",
            f"{constant} * COUNT(CASE WHEN {test} THEN 1 END)",
            f"{constant} * COUNT(CASE WHEN {test} THEN {value} END)",
            f"{constant} * COUNT(CASE WHEN {test} THEN NULL ELSE 1 END)",
            f"COUNT(CASE WHEN {test} THEN {constant} ELSE NULL END)",
            f"{constant} * COUNT(*)",
            f"SUM({constant})",
        ]
        if m.dialect != "mysql":
            shown.append(f"{constant} * COUNT(*) FILTER (WHERE {test})")
    from_ = f"FROM {table.name} AS x" + m.maybe(m.where(m.test("x", table)), 0.3)
    grouped = m.chance(0.5)
    tail = f" GROUP BY {key}" + m.maybe(" HAVING COUNT(*) > 1", 0.15) if grouped else ""
    head = f"{key}, " if grouped and m.chance(0.6) else ""
    found = [f"SELECT {head}{one} {from_}{tail}" for one in shown]
    if not mean:
        place = " AND " if " WHERE " in from_ else " WHERE "
        found.append(f"SELECT {head}{shown[-2]} {from_}{place}{test}{tail}")
    return found


@_theme
def _sums_across_joins(m: Maker) -> list[str]:
    """Aggregates before and after a join."""
    first, second = m.table(), m.table()
    mine, theirs = m.links(first, second)
    value = m.column("x", first, "int")
    name = m.pick("COUNT(*)", f"COUNT({value})", f"SUM({value})", f"MAX({value})", f"AVG({value})")
    seen = m.pick(f"y.{theirs}", m.column("y", second), m.key("y", second))
    side = m.pick("JOIN", "JOIN", "LEFT JOIN")
    joined = f"FROM {second.name} AS y {side} {first.name} AS x ON x.{mine} = y.{theirs}"
    inner = f"SELECT x.{mine} AS k, {name} AS v FROM {first.name} AS x GROUP BY x.{mine}"
    alone = f"SELECT {name} FROM {first.name} AS x WHERE x.{mine} = y.{theirs}"
    distinct = f"COUNT(DISTINCT {m.pick(m.key('x', first), value)})"
    found = [
        f"SELECT {seen}, g.v FROM {second.name} AS y {side} ({inner}) AS g ON g.k = y.{theirs}",
        f"SELECT {seen}, {name} {joined} GROUP BY y.{theirs}, {seen}",
        f"SELECT {seen}, {name} {joined} GROUP BY {m.key('y', second)}, {seen}",
        f"SELECT {seen}, {name} {joined} GROUP BY x.{mine}, {seen}",
        f"SELECT {seen}, {name} {joined} GROUP BY {seen}",
        f"SELECT {seen}, ({alone}) FROM {second.name} AS y",
        (
            f"SELECT {seen}, COALESCE(g.v, 0) FROM {second.name} AS y {side} ({inner}) AS g"
            f" ON g.k = y.{theirs}"
        ),
        f"SELECT {seen}, {m.pick(distinct, 'COUNT(*)')} {joined} GROUP BY {seen}",
        (
            f"SELECT {seen}, SUM(g.v) FROM {second.name} AS y {side} ({inner}) AS g"
            f" ON g.k = y.{theirs} GROUP BY {seen}"
        ),
    ]
    if m.chance(0.25):
        found = [
            f"SELECT {name} {joined}",
            f"SELECT {name} FROM {first.name} AS x",
            f"SELECT {name} FROM {first.name} AS x WHERE x.{mine} IS NOT NULL",
            f"SELECT SUM(g.v) FROM {second.name} AS y JOIN ({inner}) AS g ON g.k = y.{theirs}",
            f"SELECT SUM(g.v) FROM ({inner}) AS g",
            f"SELECT {distinct} {joined}",
            f"SELECT {distinct} FROM {first.name} AS x",
        ]
    return found


# Unions.


@_theme
def _arms(m: Maker) -> list[str]:
    """Filters and aggregates over a UNION, and in its arms: copies go or stay."""
    first = m.table()
    second = first if m.chance(0.5) else m.table()
    kind = "int"
    one, two = m.column("x", first, kind), m.column("y", second, kind)
    if first is second and m.chance(0.7):
        two = one.replace("x.", "y.")
    tests = m.maybe(m.test("x", first)), m.maybe(m.test("y", second))
    operator = m.pick("UNION", "UNION ALL", "UNION ALL", "INTERSECT", "EXCEPT")
    literal = m.literal(kind)
    limit = m.pick(f"{{}} > {literal}", f"{{}} = {literal}", "{} IS NOT NULL")

    def arm(place: int, *, kept: bool, shown: str = "{}") -> str:
        value, table = ((one, first), (two, second))[place]
        more = limit.format(value) if kept else ""
        where = m.where(tests[place], more)
        return f"SELECT {shown.format(value)} AS v FROM {table.name} AS {'xy'[place]}{where}"

    def both(kept: str, shown: str = "{}", op: str = operator) -> str:
        arms = [arm(i, kept=one in kept, shown=shown) for i, one in enumerate("xy")]
        return f" {op} ".join(arms)

    after = limit.format("z.v")
    style = m.rng.random()
    if style < 0.35:
        name = m.pick("COUNT", "SUM", "MAX", "MIN")
        merged = {"COUNT": "SUM"}.get(name, name)
        group = m.maybe(" GROUP BY z.v", 0.3)
        found = [
            f"SELECT {name}(z.v) FROM ({both('', op=op)}) AS z{group}"
            for op in ("UNION", "UNION ALL", operator)
        ]
        partial = both("", f"{name}({{}})", "UNION ALL")
        found += [
            f"SELECT {merged}(z.v) FROM ({partial}) AS z",
            f"SELECT COALESCE({merged}(z.v), 0) FROM ({partial}) AS z",
            f"SELECT {name}(DISTINCT z.v) FROM ({both('', op='UNION ALL')}) AS z",
            f"SELECT {name}(z.v) FROM ({both('xy')}) AS z",
            f"SELECT {name}(z.v) FROM ({both('')}) AS z WHERE {after}",
        ]
        return found
    distinct = m.maybe("DISTINCT ", 0.2)
    found = [
        f"SELECT {distinct}z.v FROM ({both('')}) AS z WHERE {after}",
        f"SELECT {distinct}z.v FROM ({both('x')}) AS z WHERE {after}",
        both("xy"),
        both("x"),
        both("xy", op="UNION"),
        both("xy", op="UNION ALL"),
        both("xy", "DISTINCT {}"),
        f"SELECT DISTINCT z.v FROM ({both('', op='UNION ALL')}) AS z WHERE {after}",
    ]
    if first is second:
        mine = tests[1].replace("y.", "x.")
        either = f"({tests[0] or '1 = 1'} OR {mine or '1 = 1'})"
        together = m.where(either, limit.format(one))
        found.append(f"SELECT {m.maybe('DISTINCT ')}{one} AS v FROM {first.name} AS x{together}")
    return found


# Order.


@_theme
def _limits(m: Maker) -> list[str]:
    """The first rows of an order, with ties, NULLs, copies and optional tables."""
    first, second = m.table(), m.table()
    mine, theirs = m.links(first, second)
    value = m.column("x", first, m.pick(*KINDS))
    shown = m.pick(value, m.column("x", first), "x.id", f"{value}, x.id", "1")
    down = m.maybe(" DESC")
    items = [value + down, *([m.key("x", first)] if m.chance(0.5) else [])]
    order = f" ORDER BY {', '.join(items)}"
    limit = f" LIMIT {m.pick('1', '1', '1', '2', '3')}" + m.maybe(" OFFSET 1", 0.1)
    tests = [m.maybe(m.test("x", first), 0.4), f"{value} IS NOT NULL"]
    on = f"x.{mine} = y.{theirs}"
    from_ = f"FROM {first.name} AS x"
    joined = {side: f"{from_} {side} {second.name} AS y ON {on}" for side in ("JOIN", "LEFT JOIN")}
    some, all_ = m.where(*tests), m.where(tests[0])
    end = order + limit
    found = [
        f"SELECT {shown} {from_}{all_}{end}",
        f"SELECT {shown} {from_}{some}{end}",
        f"SELECT DISTINCT {shown} {from_}{all_}{end}",
        f"SELECT {shown} {from_}{all_} GROUP BY {shown}{end}",
        f"SELECT {shown} {joined['JOIN']}{all_}{end}",
        f"SELECT {shown} {joined['LEFT JOIN']}{all_}{end}",
        f"SELECT DISTINCT {shown} {joined['LEFT JOIN']}{all_}{end}",
        f"SELECT {shown} {from_}{all_} ORDER BY {items[0]}{limit}",
        f"SELECT {shown} {from_}{all_} ORDER BY {', '.join([*items, 'x.id'])}{limit}",
        f"SELECT {shown} {from_}{all_} ORDER BY {m.cast(value)}{down}{limit}",
        f"SELECT {shown} FROM (SELECT * {from_}) AS x{all_}{end}",
    ]
    if shown == value:
        extreme = f"{'MAX' if down else 'MIN'}({value})"
        found.append(f"SELECT {extreme} {from_}{all_}")
        found.append(f"SELECT {extreme} {from_}{some} HAVING COUNT(*) > 0")
    if m.chance(0.3):  # the other table decides
        other = m.column("y", second) + down
        known = f"y.{theirs} IS NOT NULL"
        found = [
            f"SELECT {'DISTINCT ' if d else ''}{shown} {joined[side]}{m.where(tests[0], more)}"
            f" ORDER BY {other}{limit}"
            for d, side, more in itertools.product((0, 1), joined, ("", known))
        ]
    if ", " not in shown and m.chance(0.25):  # what is picked is looked at
        found = [
            f"SELECT k.id FROM {first.name} AS k WHERE k.{mine} IN (SELECT z.v FROM"
            f" ({one.replace(' FROM ', ' AS v FROM ', 1)}) AS z)"
            for one in found
        ]
    return found


# Windows.


@_theme
def _first_of_each(m: Maker) -> list[str]:
    """The first row of each group: ranked, compared with an extreme, or joined with one."""
    table = m.table()
    group, value = m.column("x", table), m.pick(m.column("x", table, "int"), m.key("x", table))
    down = m.maybe(" DESC")
    extreme = f"{'MAX' if down else 'MIN'}({value})"
    shown = m.column("x", table)
    test = m.maybe(m.test("x", table), 0.3)
    fixed = m.maybe(f"{group} {m.pick('=', '<>', '>')} {m.pick('1', '2')}", 0.25)
    if fixed and any(f"x.{c.name}" == group and c.kind == "text" for c in table.columns):
        fixed = f"{group} {m.pick('=', '<>')} 'a'"
    inside, outside = m.where(test, fixed), m.where(test)
    after = fixed.replace(group, "z.g") if fixed else ""
    found: list[str] = []
    for _ in range(4):
        name = m.pick("ROW_NUMBER", "ROW_NUMBER", "RANK", "RANK", "DENSE_RANK")
        over = f"PARTITION BY {group} ORDER BY {value}{down}" + m.maybe(", x.id", 0.15)
        rank = f"{name}() OVER ({over})"
        late = m.chance(0.5)
        first = m.pick("= 1", "= 1", "<= 1", "< 2", "<= 2", "< 3")
        found.append(
            f"SELECT z.c FROM (SELECT {shown} AS c, {group} AS g, {rank} AS r FROM {table.name}"
            f" AS x{outside if late else inside}) AS z{m.where('z.r ' + first, after * late)}"
        )
    own = {name: name.replace("x.", "k.") for name in (group, value)}
    best = f"SELECT {extreme.replace('x.', 'k.')} FROM {table.name} AS k"
    links = f"{own[group]} = {group}"
    tested = test.replace("x.", "k.")
    grouped = (
        f"SELECT {own[group]} AS g, {extreme.replace('x.', 'k.')} AS v FROM {table.name} AS k"
    )
    found += [
        f"SELECT {shown} FROM {table.name} AS x"
        + m.where(test, fixed, f"{value} = ({best}{m.where(tested, links)})"),
        (
            f"SELECT {shown} FROM {table.name} AS x JOIN ({grouped}{m.where(tested)}"
            f" GROUP BY {own[group]}) AS e ON e.g = {group} AND e.v = {value}{inside}"
        ),
        f"SELECT {shown} FROM {table.name} AS x"
        + m.where(test, fixed, f"{value} IN ({best}{m.where(tested)} GROUP BY {own[group]})"),
        f"SELECT {shown} FROM {table.name} AS x"
        + m.where(
            test,
            fixed,
            f"NOT EXISTS (SELECT 1 FROM {table.name} AS k"
            + m.where(tested, links, f"{own[value]} {'>' if down else '<'} {value}")
            + ")",
        ),
    ]
    return found


@_theme
def _whole_partitions(m: Maker) -> list[str]:
    """Aggregates over partitions: with an order, a frame, a name, or as a subquery."""
    table = m.table()
    group, value = m.column("x", table), m.column("x", table, "int")
    shown, key = m.column("x", table), m.key("x", table)
    name = m.pick("COUNT(*)", f"COUNT({value})", f"SUM({value})", f"MAX({value})", f"AVG({value})")
    test = m.maybe(m.test("x", table), 0.3)
    from_ = f"FROM {table.name} AS x{m.where(test)}"
    frame = "BETWEEN UNBOUNDED PRECEDING AND"
    ordered = f"ORDER BY {m.pick(key, value)}"
    overs = [
        f"PARTITION BY {group}",
        f"PARTITION BY {group}, {m.pick('1', key, group)}",
        f"PARTITION BY {key}",
        f"PARTITION BY {group} {ordered}",
        f"PARTITION BY {group} {ordered} RANGE {frame} CURRENT ROW",
        f"PARTITION BY {group} {ordered} ROWS {frame} CURRENT ROW",
        f"PARTITION BY {group} {ordered} ROWS {frame} UNBOUNDED FOLLOWING",
        f"PARTITION BY {group} ROWS {frame} UNBOUNDED FOLLOWING",
        "",
    ]
    found = [f"SELECT {shown}, {name} OVER ({over}) {from_}" for over in overs]
    found.append(f"SELECT {shown}, {name} OVER w {from_} WINDOW w AS ({overs[0]})")
    own = group.replace("x.", "k.")
    alone = name.replace("x.", "k.")
    tested = test.replace("x.", "k.")
    found += [
        (
            f"SELECT {shown}, (SELECT {alone} FROM {table.name} AS k"
            f"{m.where(tested, f'{own} = {group}')}) {from_}"
        ),
        (
            f"SELECT {shown}, e.v FROM {table.name} AS x JOIN (SELECT {own} AS g, {alone} AS v"
            f" FROM {table.name} AS k{m.where(tested)} GROUP BY {own}) AS e ON e.g = {group}"
            f"{m.where(test)}"
        ),
    ]
    m.rng.shuffle(found)
    if m.chance(0.4):  # a row of each partition, filtered by what it is partitioned by
        late = m.pick(f"{group} IS NOT NULL", m.test("x", table))
        early = f"{from_}{' AND ' if test else ' WHERE '}{late}"
        column = late.partition(" ")[0]
        outer = late.replace(column, "z.f", 1)
        found = [
            f"SELECT DISTINCT {group}, {name} OVER (PARTITION BY {group}) {early}",
            f"SELECT {group}, {name} {early} GROUP BY {group}",
            (
                f"SELECT DISTINCT z.g, z.v FROM (SELECT {group} AS g, {column} AS f, {name} OVER"
                f" (PARTITION BY {group}) AS v {from_}) AS z WHERE {outer}"
            ),
            (
                f"SELECT z.g, z.v FROM (SELECT {group} AS g, {column} AS f, {name} OVER"
                f" (PARTITION BY {group}) AS v {from_}) AS z WHERE {outer}"
            ),
            f"SELECT {group}, {name} OVER (PARTITION BY {group}) {early}",
            f"SELECT {group}, {name} OVER (PARTITION BY {column}) {early}",
            f"SELECT {group}, {name} OVER () {early}",
        ]
    return found


@_theme
def _computed_aggregates(m: Maker) -> list[str]:
    """What is computed of an aggregate outside, and what looks like it: a mean is not whole."""
    table, n = m.table(), m.rng.choice((0, 1, 2))
    key, value = m.key("x", table), m.column("x", table, "int")
    function = m.pick("AVG", "AVG", "SUM", "MAX", "COUNT")
    again = "SUM" if function == "COUNT" else function
    finer = m.column("x", table)
    shown = f"{key} AS k, {function}({value}) AS m FROM {table.name} AS x"
    fine = f"(SELECT {shown} GROUP BY {key}, {finer}) AS y"
    grouped = (
        f"(SELECT {shown} GROUP BY {key})",
        f"(SELECT k, {again}(m) AS m FROM {fine} GROUP BY k)",
        f"(SELECT {key} AS k, {value} AS m FROM {table.name} AS x)",
    )
    tests = f"z.m > {n}", f"z.m >= {n + 1}", f"NOT z.m <= {n}", f"z.m / 2 > {n}", "1 = 1", "1 = 1"
    values = "z.m", "z.m / 2", "z.m * 1.0 / 2", "z.m + 0"
    value, test = m.pick(*values), m.pick(*tests)
    return [
        f"SELECT z.k, {value if m.chance(0.8) else m.pick(*values)} AS v"
        f" FROM {m.pick(*grouped)} AS z WHERE {test if m.chance(0.8) else m.pick(*tests)}"
        for _ in range(N_DRAWN)
    ]


# Columns.


@_theme
def _columns(m: Maker) -> list[str]:
    """The same columns in another order, and nearly the same ones."""
    first, second = m.table(), m.table()
    mine, theirs = m.links(first, second)
    from_ = f"FROM {first.name} AS x {m.pick('', '', 'LEFT ')}JOIN {second.name} AS y"
    from_ += f" ON x.{mine} = y.{theirs}" + m.maybe(m.where(m.test("x", first)))
    values = [m.column("x", first), m.column("y", second), f"x.{mine}", f"y.{theirs}"]
    if m.chance(0.4):
        values[0] = f"{m.column('x', first, 'int')} + 1"
    values = list(dict.fromkeys(values))
    m.rng.shuffle(values)
    values = values[: m.rng.choice((2, 3))]
    tail = ""
    if m.chance(0.35):
        tail = f" GROUP BY {', '.join(v for v in values if '+' not in v) or 'x.id'}"
        values = [v for v in values if "+" not in v] or ["x.id"]
        values += [m.aggregate("x", first), m.aggregate("y", second)]
    elif m.chance(0.3):
        tail = f" ORDER BY {', '.join(values)}"  # what ties is alike
    distinct = m.maybe("DISTINCT ", 0.2)
    found: list[str] = []
    for _ in range(N_DRAWN):
        listed = m.rng.sample(values, len(values))
        if m.chance(0.25):
            listed[0] = m.pick(*values)
        if not tail and m.chance(0.3):
            shown = m.rng.sample(range(len(listed)), len(listed))
            inner = ", ".join(f"{value} AS c{i}" for i, value in enumerate(listed))
            outer = ", ".join(f"z.c{i}" for i in shown)
            found.append(f"SELECT {distinct}{outer} FROM (SELECT {inner} {from_}) AS z")
        else:
            found.append(f"SELECT {distinct}{', '.join(listed)} {from_}{tail}")
    return found
