"""
Pairs of queries with quoted literals, and with values of unlike kinds side by side.

What a database makes of ``COALESCE(n, '0')``, of a CASE or a UNION of numbers and texts, or of a
date beside a quoted day, each does in its own way.  A pair is a query and the same with one choice
turned: most often a literal loses its quotes, or what is computed of a UNION is computed of each
of its arms.  What must agree about the pairs is asked elsewhere,
as in `benchmarks.oracles.check_counterexamples`.
"""

# ruff: noqa: S608 - texts of our own names

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

COLUMNS: Final = {
    "t": {
        "id": "int primary key", "a": "int", "b": "bigint", "c": "varchar(20)",
        "p": "numeric(8,2)", "f": "double precision", "d": "date",
    },
    "u": {"id": "int primary key", "t_id": "int", "x": "int", "y": "varchar(20)"},
}  # fmt: skip
NUMBERS, TEXTS = ("t.a", "t.b", "t.p", "t.f", "t.id"), ("t.c",)
LITERALS: Final = (
    "0", "'0'", "5", "'5'", "1.5", "'1.5'", "'05'", "'x'", "''", "'-1'", "-1", "'2020-01-01'",
    "NULL", "' 5'", "'abc'",
)  # fmt: skip
MOST_TURNS: Final = 12
"""A choice may be that of a part which is then left out."""
TYPES: Final = {
    "sqlite": ("INTEGER", "TEXT", "REAL", "NUMERIC"),
    "postgres": ("INT", "TEXT", "NUMERIC(8, 2)", "DOUBLE PRECISION", "DATE"),
    "duckdb": ("INT", "TEXT", "DECIMAL(8, 2)", "DOUBLE", "DATE"),
    "mysql": ("SIGNED", "CHAR", "DECIMAL(8, 2)", "DOUBLE", "DATE"),
}


class _Writer:
    """Draws a query; *turn* is the choice that is made otherwise."""

    def __init__(self, seed: int, dialect: str, turn: int = -1) -> None:
        self.rng, self.dialect = random.Random(seed), dialect  # noqa: S311 - for tests
        self.turn, self.n_choices = turn, 0

    def pick(self, *choices: Any) -> Any:
        at = self.rng.randrange(len(choices))
        self.n_choices += 1
        if self.n_choices - 1 == self.turn:
            at = (at + 1) % len(choices)
        return choices[at]

    def literal(self) -> str:
        return str(self.pick(*LITERALS))

    def column(self) -> str:
        return str(self.pick(*NUMBERS, *TEXTS, "t.d"))

    def plain(self) -> str:
        return self.column() if self.pick(1, 2, 3) > 1 else self.literal()

    def value(self, depth: int = 1) -> str:
        """Return an expression in which values of several kinds may meet."""
        inner: Callable[[], str] = self.plain if depth == 0 else lambda: self.value(depth - 1)
        one, other = inner(), self.literal()
        forms = [
            f"COALESCE({one}, {other})", f"NULLIF({one}, {other})",
            f"CASE WHEN t.id > 1 THEN {one} ELSE {other} END",
            f"CASE WHEN {self.column()} IS NULL THEN {other} ELSE {one} END",
            f"COALESCE(MAX({self.column()}) OVER (), {other})",
            f"COALESCE((SELECT MAX(u.{self.pick('x', 'y')}) FROM u), {other})",
            f"CAST({one} AS {self.pick(*TYPES[self.dialect])})", one,
            f"CAST({other} AS {self.pick(*TYPES[self.dialect])})",
        ]  # fmt: skip
        if self.dialect != "mysql":
            name = self.pick("LAG", "LEAD")
            forms.append(f"{name}({self.column()}, 1, {other}) OVER (ORDER BY t.id)")
        if self.dialect != "postgres":
            forms.append(f"IFNULL({one}, {other})")
        if self.dialect != "sqlite":
            forms += [f"GREATEST({one}, {other})", f"LEAST({one}, {other})"]
        if self.pick(1, 2, 3, 4) == 1:
            forms = [f"{one} {self.pick('+', '-', '*')} {self.pick('1', other)}", f"-({one})"]
        return str(self.pick(*forms))

    def condition(self) -> str:
        """Return a condition on values that may be of several kinds."""
        compare = self.pick("=", "<>", "<", ">=")
        one, other = self.pick(self.column(), self.value(0)), self.literal()
        number = self.pick("0", "5")
        return str(
            self.pick(
                f"{one} {compare} {other}",
                f"{other} {compare} {one}",
                f"COALESCE({self.column()}, {other}) {compare} {number}",
                f"{one} IN ({other}, {self.literal()})",
                f"{one} BETWEEN {self.literal()} AND {self.literal()}",
                f"{one} {compare} (SELECT MAX(u.{self.pick('x', 'y')}) FROM u)",
                f"{one} IN (SELECT u.{self.pick('x', 'y')} FROM u)",
                f"{one} IN (SELECT {other})",
            )
        )

    def united(self) -> str:
        """Return what is computed of the rows of a UNION, behind it or in its arms."""
        one, two, other = self.column(), self.plain(), self.literal()
        kind = self.pick("UNION ALL", "UNION ALL", "UNION")
        shown, where = "{0}", ""
        if self.pick(1, 2) > 1:
            shown = self.pick("{0} / 2", "{0} + 1", f"COALESCE({{0}}, {other})", self.cast("{0}"))
        if self.pick(1, 2) > 1:
            where = f" WHERE {{0}} {self.pick('=', '>', '<>')} {other}"
        if self.pick("behind", "inside") == "behind":
            inner = f"SELECT {one} AS k FROM t {kind} SELECT {two} FROM t"
            return f"SELECT {shown.format('k')} FROM ({inner}) q{where.format('k')}"
        arms = (f"SELECT {shown.format(v)} FROM t{where.format(v)}" for v in (one, two))
        return f" {kind} ".join(arms)

    def chain(self) -> str:
        """Return a UNION of three arms, of which two may come first."""
        arms = [f"SELECT {self.plain()} FROM t" for _ in range(3)]
        kinds = [self.pick("UNION", "UNION ALL") for _ in range(2)]
        one = f"{arms[0]} {kinds[0]} {arms[1]}"
        if self.pick(1, 2) == 1:
            return f"{one} {kinds[1]} {arms[2]}"
        first = f"SELECT * FROM ({one}) q" if self.dialect == "sqlite" else f"({one})"
        return f"{first} {kinds[1]} {arms[2]}"

    def single(self) -> str:
        """Return an aggregate of single rows, or what it is taken of, beside other values."""
        function, column = self.pick("SUM", "AVG", "MIN", "MAX"), self.column()
        beside = self.pick("", f" UNION ALL SELECT {self.plain()} FROM t")
        if self.pick(1, 2) == 1:
            return f"SELECT {function}({column}) FROM t GROUP BY t.id{beside}"
        return f"SELECT {column} FROM t{beside}"

    def cast(self, value: str) -> str:
        """Return a value as a text."""
        return f"CAST({value} AS {TYPES[self.dialect][1]})"

    def query(self) -> str:
        """Return a query."""
        form = self.pick(
            "rows", "rows", "where", "where", "union", "group", "inner", "united", "united",
            "chain", "single",
        )  # fmt: skip
        if form in ("united", "chain", "single"):
            return str(getattr(self, form)())
        if form == "where":
            return f"SELECT t.id FROM t WHERE {self.condition()}"
        if form == "union":
            kind = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
            arm = self.pick(
                f"SELECT {self.literal()}",
                f"SELECT u.{self.pick('x', 'y')} FROM u",
                f"SELECT {self.column()} FROM t",
            )
            return f"SELECT {self.plain()} FROM t {kind} {arm}"
        if form == "group":
            value = f"COALESCE({self.column()}, {self.literal()})"
            return f"SELECT {value}, COUNT(*) FROM t GROUP BY {value}"
        if form == "inner":
            inner = f"SELECT {self.value(0)} AS k FROM t"
            return f"SELECT k, COALESCE(k, {self.literal()}) FROM ({inner}) q"
        distinct = self.pick("", "", "DISTINCT ")
        return f"SELECT {distinct}{self.value()} FROM t"


def drawn(seed: int, dialect: str) -> tuple[str, str]:
    """Return a query, and the same with one choice turned, if that shows."""
    first = _Writer(seed, dialect)
    query = first.query()
    rng = random.Random(seed + 1)  # noqa: S311 - for tests
    other = query
    for _ in range(MOST_TURNS):
        other = _Writer(seed, dialect, rng.randrange(first.n_choices)).query()
        if other != query:
            break
    return query, other


def rows(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Return rows for both tables."""
    rng = random.Random(seed)  # noqa: S311 - for tests
    numbers = (None, 0, 1, 5, -1, 26)
    texts = (None, "0", "5", "05", "x", "", "1.5", "2020-01-01", "abc", "X")
    return {
        "t": [
            (
                i, rng.choice(numbers), rng.choice(numbers), rng.choice(texts),
                rng.choice((None, 0, 1.5, 5, -1.25)), rng.choice((None, 0, 0.5, 5, 2.25)),
                rng.choice((None, "2020-01-01", "2021-12-31")),
            )
            for i in range(rng.randrange(5))
        ],
        "u": [
            (i, rng.randrange(4), rng.choice(numbers), rng.choice(texts))
            for i in range(rng.randrange(4))
        ],
    }  # fmt: skip
