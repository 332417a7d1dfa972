"""
Ways to write queries with correlated subqueries over outer joins, alike but for one choice or two.

Two to four tables are joined by LEFT, RIGHT, FULL or inner joins; EXISTS, IN or a scalar
subquery, one to three deep, names them in WHERE, HAVING, SELECT or ORDER BY.  What is changed is
what a constraint settles unless a join fills a row with NULLs: a test of a key for NULL, an
equation of a column with itself, which side of an ON a column is of.  A name may be shadowed.
"""

# ruff: noqa: S608 - queries that read what we made

from __future__ import annotations

import random
from typing import Any, Final

from benchmarks.generators.random_sql import Schema, Table
from benchmarks.generators.themes import Ways

N_WAYS: Final = 8
"""Queries that differ from one."""
KEYS: Final = 0.7
"""Conditions that name the first column of a table, most often its key."""
SHADOWED: Final = 0.12
"""Tables that have the name of the one before."""
JOINS: Final = ("LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "JOIN")


class _Writer:
    """Writes one query; the choices whose numbers are in *turns* are made otherwise."""

    def __init__(
        self, schema: Schema, seed: int, dialect: str | None, turns: frozenset[int]
    ) -> None:
        self.schema, self.turns = schema, turns
        self.rng = random.Random(seed)  # noqa: S311 - for tests, not for secrets
        self.joins = tuple(one for one in JOINS if dialect != "mysql" or one != "FULL JOIN")
        self.n_choices = self.n_names = 0

    def near(self, *choices: Any) -> Any:
        """Return one of some choices that mean nearly the same: where it is turned, the next."""
        at = self.rng.randrange(len(choices))
        self.n_choices += 1
        return choices[(at + (self.n_choices - 1 in self.turns)) % len(choices)]

    def some(self, *choices: Any) -> Any:
        """Return one of some choices."""
        return self.rng.choice(choices)

    def number(self, names: dict[str, Table]) -> str:
        """Return a column of whole numbers."""
        alias = self.some(*names)
        found = [column.name for column in names[alias].columns if column.kind == "int"]
        return f"{alias}.{self.some(*found, 'id')}"

    def fact(self, names: dict[str, Table]) -> str:
        """Return a condition that often holds of each row, behind AND, or nothing."""
        one, other = self.number(names), self.number(names)
        if self.rng.random() < KEYS:
            one = other = f"{self.some(*names)}.id"
        sure = f" AND {one} = {other}", f" AND NOT ({one} IS NULL)", f" AND {one} = {one}"
        return str(
            self.near(
                "",
                f" AND {one} IS NOT NULL",
                self.some(*sure),
                "",
                self.some(f" AND {one} IS NULL", f" AND ({one} >= {one} OR {other} IS NULL)"),
            )
        )

    def source(self) -> tuple[str, Table]:
        """Return a table and a name for it, seldom one that is used already."""
        if not self.n_names or self.rng.random() > SHADOWED:
            self.n_names += 1
        return f"x{self.n_names}", self.some(*self.schema)

    def tables(self, around: dict[str, Table]) -> tuple[str, dict[str, Table]]:
        """Return a FROM, and what can be named behind it."""
        alias, table = self.source()
        text, own = f"{table.name} AS {alias}", {alias: table}
        for _ in range(self.some(0, 1, 1, 2) if around else self.some(1, 1, 2, 3)):
            alias, table = self.source()
            if alias in own:
                self.n_names += 1
                alias = f"x{self.n_names}"
            left = self.number(own)
            own[alias] = table
            text += f" {self.some(*self.joins)} {table.name} AS {alias}"
            text += f" ON {self.number({alias: table})} = {left}"
        return text, {**around, **own}

    def nested(self, around: dict[str, Table], depth: int, shown: str) -> tuple[str, str]:
        """Return a FROM with WHERE that names tables around, and a value of its rows."""
        text, names = self.tables(around)
        own = {alias: table for alias, table in names.items() if f" AS {alias}" in text}
        outer = {alias: table for alias, table in around.items() if alias not in own} or own
        where = f"{self.number(own)} = {shown or self.number(outer)}"
        where += self.fact(self.some(outer, names))
        if depth > 1:
            where += f" AND {self.test(names, depth - 1)}"
        return f"FROM {text} WHERE {where}", self.number(own)

    def test(self, names: dict[str, Table], depth: int) -> str:
        """Return a condition on the rows of a subquery."""
        kind = self.some("EXISTS", "NOT EXISTS", "IN", "NOT IN", "scalar", "count")
        text, value = self.nested(names, depth, "")
        if kind.endswith("EXISTS"):
            return f"{kind} (SELECT {self.near('1', value)} {text})"
        one = self.number(names)
        if kind == "count":
            return f"{self.near('0', '0', one)} < (SELECT COUNT({self.near('*', value)}) {text})"
        if kind == "scalar":
            return f"{one} = (SELECT {self.some('MAX', 'MIN', 'SUM')}({value}) {text})"
        return f"{one} {kind} (SELECT {self.near('', 'DISTINCT ')}{value} {text})"

    def query(self) -> str:
        """Return a query."""
        depth = self.some(1, 1, 1, 2, 2, 3)
        text, names = self.tables({})
        shown = f"{self.number(names)} AS c0, {self.number(names)} AS c1"
        place = self.some("WHERE", "WHERE", "WHERE", "HAVING", "SELECT", "ORDER BY")
        where = f" WHERE 1 = 1{self.fact(names)}"
        if place == "WHERE":
            both = self.some(" AND ", " AND NOT ", " OR ")
            return f"SELECT {shown} FROM {text}{where}{both}{self.test(names, depth)}"
        if place == "HAVING":
            key = self.number(names)
            alias = key.partition(".")[0]
            keys = ", ".join(f"{alias}.{c.name}" for c in names[alias].columns if c.kind == "int")
            test = self.test({alias: names[alias]}, depth)
            return (
                f"SELECT {key} AS c0, COUNT(*) AS c1 FROM {text}{where} "
                f"GROUP BY {keys} HAVING {test}"
            )
        inner, value = self.nested(names, depth, "")
        scalar = f"(SELECT {self.some('MAX', 'MIN', 'COUNT')}({value}) {inner})"
        if place == "SELECT":
            return f"SELECT {shown}, {scalar} AS c2 FROM {text}{where}"
        order = ", ".join(f"{alias}.id" for alias in names)
        return f"SELECT {shown} FROM {text}{where} ORDER BY {scalar}, {order}, c0, c1 LIMIT 2"


def ways(schema: Schema, rng: random.Random, dialect: str | None) -> Ways:
    """Draw a query, and others that differ from it in one choice or two."""
    seed = rng.getrandbits(40)
    first = _Writer(schema, seed, dialect, frozenset())
    texts = [first.query()]
    for _ in range(N_WAYS):
        turns = rng.choices(range(first.n_choices), k=rng.choice((1, 1, 2)))
        texts.append(_Writer(schema, seed, dialect, frozenset(turns)).query())
    return Ways("correlated", tuple(dict.fromkeys(texts)), reordered=False)
