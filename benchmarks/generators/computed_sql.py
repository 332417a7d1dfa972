"""
Pairs of queries that call functions, compute with decimals and dates, group, and cut ties.

A pair is a query and the same with one choice turned.  What must agree about the pairs is asked
elsewhere, as in `benchmarks.oracles.check_counterexamples`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

COLUMNS: Final = {
    "t": {
        "id": "int primary key", "name": "varchar(20)", "pay": "numeric(8,2)", "n": "int",
        "born": "date", "at": "timestamp", "f": "double precision", "s": "real",
    },
    "u": {
        "id": "int primary key", "t_id": "int", "code": "varchar(10)", "amount": "bigint",
        "day": "date",
    },
}  # fmt: skip
DAYS, MISSING = ("2020-01-01", "2020-02-29", "2021-12-31"), ("t.n", "t.name", "t.born")


class Writer:
    """Draws queries of a dialect; *turn* changes one choice, so that a pair differs by it."""

    def __init__(self, seed: int, dialect: str, turn: int = -1) -> None:
        self.rng, self.dialect = random.Random(seed), dialect  # noqa: S311 - for tests
        self.turn, self.n_choices = turn, 0

    def pick(self, *choices: Any) -> Any:
        """Return one of some choices: of the turned choice, the next."""
        at = self.rng.randrange(len(choices))
        self.n_choices += 1
        if self.n_choices - 1 == self.turn:
            at = (at + 1) % len(choices)
        return choices[at]

    def text(self) -> str:
        """Return an expression of text."""
        column = self.pick("t.name", "u.code")
        plain = column, f"UPPER({column})", f"LOWER({column})", f"TRIM({column})"
        k = self.pick(1, 2, 3)
        parts = f"SUBSTR({column}, {k}, {self.pick(1, 2)})", f"SUBSTRING({column}, {k})"
        ends = f"LEFT({column}, {k})", f"RIGHT({column}, {k})"
        changed = (
            f"REPLACE({column}, 'a', '{self.pick('b', 'aa', '')}')",
            f"LPAD({column}, {k}, 'x')",
        )
        joined = [
            f"CONCAT({column}, '{self.pick('x', 'a')}')",
            f"CONCAT_WS('-', {column}, t.name)",
        ]
        if self.dialect != "mysql":
            joined += [f"t.name || ' ' || {column}", f"{column} || '{self.pick(' ', 'a ')}'"]
        return str(self.pick(*plain, *parts, *ends, *changed, *joined, *self.own_texts(column, k)))

    def own_texts(self, column: str, k: int) -> tuple[str, ...]:
        """Return texts that a dialect alone has."""
        if self.dialect == "mysql":
            return (
                f"SUBSTRING_INDEX({column}, 'a', {k})", f"MID({column}, {k}, 1)",
                "DATE_FORMAT(t.born, '%Y-%m')", f"LCASE({column})",
            )  # fmt: skip
        shown = "TO_CHAR(t.born, 'YYYY-MM')"
        shown = shown if self.dialect == "postgres" else "STRFTIME(t.born, '%Y-%m')"
        return f"SPLIT_PART({column}, 'a', {k})", shown

    def number(self) -> str:
        """Return an expression of a number."""
        k = self.pick(0, 1, 2)
        plain = "t.n", "t.pay", "t.f", "t.s", "u.amount", "t.n + 1", "t.pay * 1.1", "t.n * 0.5"
        rounded = f"ROUND(t.pay, {k})", f"ROUND(t.pay / 3, {k})", "CEIL(t.pay)", "FLOOR(t.pay)"
        read = "CAST(u.code AS SIGNED)" if self.dialect == "mysql" else "CAST(u.code AS INT)"
        whole = "ABS(t.n)", f"t.n % {k + 2}", f"t.n / {k + 2}", "FLOOR(t.f)", "CAST(t.pay AS INT)"
        whole = (*whole[:4], "CAST(t.pay AS SIGNED)" if self.dialect == "mysql" else whole[4])
        dated = "EXTRACT(YEAR FROM t.born)", "EXTRACT(MONTH FROM t.born)", "LENGTH(t.name)"
        parts = "CAST(t.n AS DECIMAL(10, 2)) / 4", "COALESCE(t.n, 0)", "NULLIF(t.n, 0)"
        reads = read, "CAST(u.code AS DECIMAL(8, 2))"
        found = (
            *plain,
            *rounded,
            *whole,
            *reads,
            *dated,
            *parts,
            f"GREATEST(t.n, {k})",
            "SQRT(ABS(t.n))",
        )
        own = {
            "mysql": (
                "YEAR(t.born)",
                "DATEDIFF(t.born, u.day)",
                "TRUNCATE(t.pay, 1)",
                "DAY(t.born)",
            ),
            "duckdb": ("YEAR(t.born)", "DATEDIFF('day', u.day, t.born)", "MONTH(t.born)"),
            "postgres": ("DATE_PART('year', t.born)", "TRUNC(t.pay, 1)", "STRPOS(t.name, 'a')"),
        }
        return str(self.pick(*found, *own[self.dialect]))

    def time(self) -> str:
        """Return an expression of a time."""
        n, unit = self.pick(1, 2, 31), self.pick("day", "month", "year")
        cast = "CAST(u.code AS DATE)"
        if self.dialect == "mysql":
            step, added = f"INTERVAL {n} {unit}", f"DATE_ADD(t.born, INTERVAL {n} {unit})"
            read = f"STR_TO_DATE(u.code, '{self.pick('%Y-%m-%d', '%Y%m%d')}')"
            return str(self.pick("t.born", "u.day", added, f"t.born - {step}", cast, read))
        step = f"INTERVAL '{n} {unit}'"
        cut = f"DATE_TRUNC('{unit}', t.born)"
        if self.dialect == "postgres":
            cast = self.pick(cast, "TO_DATE(u.code, 'YYYY-MM-DD')", "TO_DATE(u.code, 'YYYYMM')")
        moved = f"t.born + {step}", f"t.born - {step}"
        return str(self.pick("t.born", "u.day", cut, *moved, cast))

    def condition(self) -> str:
        """Return a condition."""
        compare = self.pick("<", "<=", ">", ">=", "=", "<>")
        simple: dict[str, Callable[[], str]] = {
            "text": lambda: f"{self.text()} {compare} '{self.pick('a', 'ab', '2020', 'x')}'",
            "number": lambda: f"{self.number()} {compare} {self.pick(0, 1, 2, 1.5, 2020)}",
            "time": lambda: f"{self.time()} {compare} DATE '{self.pick(*DAYS)}'",
            "null": lambda: f"{self.pick(*MISSING)} IS {self.pick('NULL', 'NOT NULL')}",
            "like": lambda: f"t.name LIKE '{self.pick('a%', '%b', '_a%')}'",
            "in": lambda: f"t.n {self.pick('IN', 'NOT IN')} ({self.pick('1, 2', '2, 3', '0')})",
        }
        kind = self.pick(*simple, "both")
        if kind in simple:
            return simple[kind]()
        return f"({self.condition()} {self.pick('AND', 'OR')} {self.condition()})"

    def query(self) -> str:
        """Return a query."""
        join = self.pick("JOIN", "LEFT JOIN")
        source = f"FROM t {join} u ON u.t_id = t.id WHERE {self.condition()}"
        form = self.pick("rows", "rows", "distinct", "groups", "total", "top", "case", "inner")
        if form == "groups":
            having = self.pick("", f" HAVING COUNT(*) {self.pick('>', '>=')} {self.pick(1, 2)}")
            key = self.pick("t.name", "t.n", "t.born")
            joined = {"mysql": "GROUP_CONCAT(u.code)"}.get(
                self.dialect, "STRING_AGG(u.code, ', ')"
            )
            plain = "SUM(t.pay)", "COUNT(u.id)", "MAX(t.n)", "AVG(t.n)", "MIN(t.name)", joined
            added = self.pick(*plain, *("BOOL_AND(t.n > 1)",) * (self.dialect != "mysql"))
            return f"SELECT {key}, {added} {source} GROUP BY {key}{having}"
        if form == "total":
            kind = self.pick("SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT")
            only = f" FILTER (WHERE {self.condition()})" if self.dialect != "mysql" else ""
            return f"SELECT {kind}({self.number()}){self.pick('', only)} {source}"
        if form == "top":
            way = self.pick("ASC", "DESC")
            order = self.pick("t.id", "t.n", "t.pay, t.id", "t.born")
            nulls = "" if self.dialect == "mysql" else " NULLS LAST"
            sort = f"ORDER BY {order} {way}{nulls} LIMIT {self.pick(1, 2)}"
            return f"SELECT t.id, {self.text()} {source} {sort}"
        if form == "case":
            one = f"CASE WHEN {self.condition()} THEN 1 ELSE 0 END"
            return f"SELECT SUM({one}) * {self.pick('100.0', '1.0', '1')} / COUNT(*) {source}"
        if form == "inner":
            sort = f"ORDER BY u.id {self.pick('', 'DESC')} LIMIT {self.pick(1, 2)}"
            inner = f"SELECT t_id FROM u {sort}"  # noqa: S608 - our own names
            return f"SELECT t.name FROM t WHERE t.id IN (SELECT t_id FROM ({inner}) x)"  # noqa: S608
        distinct = "DISTINCT " if form == "distinct" else ""
        shown = self.pick("text", "number", "time")
        return f"SELECT {distinct}{getattr(self, shown)()} {source}"


def drawn(seed: int, dialect: str) -> tuple[str, str]:
    """Return a query, and the same with one choice turned."""
    first = Writer(seed, dialect)
    query = first.query()
    turn = random.Random(seed + 1).randrange(first.n_choices)  # noqa: S311 - for tests
    return query, Writer(seed, dialect, turn).query()


def rows(seed: int) -> dict[str, list[tuple[Any, ...]]]:
    """Return rows for both tables."""
    rng = random.Random(seed)  # noqa: S311 - for tests
    numbers, texts = (None, 0, 1, 2, -1), (None, "a", "ab", "Ba", "x", "2020-01-01")
    days = (None, *DAYS)
    return {
        "t": [
            (
                i, rng.choice(texts), rng.choice((None, 0, 1.25, 10)), rng.choice(numbers),
                rng.choice(days), rng.choice(days), rng.choice((None, 0.5, 2)),
                rng.choice((None, 0.25, 1)),
            )
            for i in range(rng.randrange(5))
        ],
        "u": [
            (i, rng.randrange(4), rng.choice(texts), rng.choice(numbers), rng.choice(days))
            for i in range(rng.randrange(4))
        ],
    }  # fmt: skip
