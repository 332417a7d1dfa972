"""
Ways to write what is computed of numbers, dates and texts: do proofs hold in the databases?

    python -m benchmarks.generators.computed_forms [--pairs 300] [--seed 1] [--dialects sqlite duckdb]
        [--postgres DSN] [--mysql HOST:PORT:USER]

A pair is a query and the same with parts written otherwise: operands moved, factors multiplied
out, sums taken apart, years read from texts; half of the time one choice is wrong.  Pairs are
drawn until the given number is proved, and each proof is run on databases that obey what it rests
on.  The exit status is 1 if one is contradicted.
"""

# ruff: noqa: E501, PLR0911, S608 - ways stand on one line, queries that read what we made

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, TypeAlias

from benchmarks.machine import machine
from scorekit import sql_equivalence
from scorekit._core.rows import plain, same_bag
from scorekit._sql.prove.arithmetic import NO_ZERO

Cells: TypeAlias = list[tuple[Any, ...]]

TYPES: Final = {
    "id": "INTEGER PRIMARY KEY", "a": "INTEGER", "b": "INTEGER NOT NULL", "p": "DECIMAL(8,2)",
    "f": "DOUBLE PRECISION", "s": "REAL", "d": "DATE", "n": "VARCHAR(20)", "day": "VARCHAR(20)",
    "g": "INTEGER",
}  # fmt: skip
DAYS: Final = (
    "2013-12-31", "2014-01-01", "2014-05-01", "2014-05-31", "2014-06-01", "2014-12-31",
    "2015-01-01", "1999-05-05", "2020-02-29", "2014-10-10",
)  # fmt: skip
TEXTS: Final = (
    "a",
    "A",
    "ab",
    "Hey",
    "oh hey",
    "b",
    "",
    "us",
    "US",
    "Us",
    "xHEYx",
    "hey",
    "B1",
    "é",
)
ODD: Final = ("x", 1.5, "2014", "2014-13-45", 0.1)


class Writer:
    """Writes a query; the choice whose number is *turned* is made otherwise."""

    def __init__(self, seed: int, dialect: str, ways: random.Random, turned: int = -1) -> None:
        self.rng, self.dialect = random.Random(seed), dialect  # noqa: S311 - for tests
        self.ways, self.turned, self.n_choices = ways, turned, 0

    def some(self, *choices: Any) -> Any:
        """Return what the query means; where it is turned, another thing."""
        at = self.rng.randrange(len(choices))
        self.n_choices += 1
        return choices[(at + (self.n_choices - 1 == self.turned)) % len(choices)]

    def way(self, *choices: str) -> str:
        """Return one of some ways to write the same."""
        return self.ways.choice(choices)

    # Numbers.

    def whole(self, depth: int = 2) -> str:
        """Return what is computed of whole numbers."""
        if depth == 0:
            return str(self.some("a", "b", "id"))
        x, y, k = self.whole(depth - 1), self.whole(0), self.some(2, 3, 12, -1)
        form = self.some("sum", "scaled", "both", "moved", "negative", "product")
        if form == "sum":
            return self.way(f"({x} + {y})", f"({y} + {x})", f"({x} - -{y})", f"({y} - (-{x}))")
        if form == "scaled":
            return self.way(f"({x} * {k})", f"({k} * {x})", f"({x} * {k - 1} + {x})")
        if form == "both":
            return self.way(f"({k} * ({x} + {y}))", f"({x} * {k} + {k} * {y})")
        if form == "moved":
            return self.way(f"({x} + {k} - 1)", f"({x} - {1 - k})", f"({k} + {x} - 1)")
        if form == "negative":
            return self.way(f"({k} - {x})", f"(-({x} - {k}))", f"(-{x} + {k})")
        return self.way(f"({x} * {y})", f"({y} * {x})")

    def compared(self) -> str:
        """Return a comparison of numbers."""
        x, k, c = self.whole(1), self.some(2, 3, 5), self.some(0, 1, 6, 30)
        less, more = self.some(("<", ">"), ("<=", ">="), ("=", "="), ("<>", "<>"))
        column = self.some("a", "p", "b", "f")
        half = self.way(f"{x} * 0.5 {more} {c}", f"{x} {more} {2 * c}")
        return str(
            self.some(
                self.way(
                    f"{x} * {k} {more} {k * c}", f"{x} {more} {c}", f"{c} {less} {x}",
                    f"{k * c} {less} {k} * {x}", f"-{x} {less} -{c}", f"{x} - {c} {more} 0",
                    f"{x} + {k} {more} {c} + {k}", f"NOT {x} {self._not(more)} {c}",
                ),
                self.way(f"{column} - {c} {more} 0", f"{column} {more} {c}"),
                self.way(f"a {more} b + {k}", f"a - b {more} {k}", f"a - {k} {more} b"),
                half,
                f"a / {k} {more} {c}",
            )
        )  # fmt: skip

    @staticmethod
    def _not(sign: str) -> str:
        return {"=": "<>", "<>": "=", ">": "<=", ">=": "<"}[sign]

    # Aggregates.

    def double(self, x: str) -> str:
        """Return a whole number as a fraction of one kind."""
        cast = f"CAST({x} AS {'DOUBLE' if self.dialect != 'postgres' else 'DOUBLE PRECISION'})"
        real = f"CAST({x} AS REAL)" if self.dialect == "sqlite" else cast
        return self.way(f"{x} * 1.0", f"1.0 * {x}", cast if self.dialect != "mysql" else x, real)

    def counted(self) -> str:
        """Return a count of what is so."""
        condition = self.compared()
        one = self.some("1", "id", "a")
        return self.way(
            f"COUNT(CASE WHEN {condition} THEN {one} END)",
            f"SUM(CASE WHEN {condition} THEN 1 ELSE 0 END)",
            f"COUNT(CASE WHEN {condition} THEN {one} ELSE NULL END)",
            f"SUM(CASE WHEN NOT ({condition}) THEN 0 WHEN {condition} THEN 1 ELSE 0 END)",
        )

    def aggregate(self) -> str:
        """Return what is computed of sums and counts."""
        x, k = self.some("a", "b", "p", "f", "s", self.whole(1)), self.some(2, 3, 10)
        count = self.some("COUNT(*)", f"COUNT({x})")
        ratio = self.counted()
        whole = self.some("a", "b")
        return str(
            self.some(
                self.way(f"AVG({x})", f"{self.double(f'SUM({x})')} / COUNT({x})", f"SUM({x}) / COUNT({x})"),
                self.way(f"SUM({x} * {k})", f"{k} * SUM({x})", f"SUM({k} * {x})"),
                self.way(f"SUM({x} + {k})", f"SUM({x}) + {k} * COUNT({x})"),
                self.way(f"{self.double(ratio)} * 100 / {count}", f"100.0 * {ratio} / {count}"),
                self.way(f"100.0 * ({self.double(ratio)} / {count})", f"100 * {ratio} * 1.0 / {count}"),
                self.way(f"ROUND({ratio} * 100.0 / {count}, 1)", f"ROUND(100.0 * {ratio} / {count}, 1)"),
                self.way("SUM(a + b)", "SUM(a) + SUM(b)"),
                self.way("SUM(id + b)", "SUM(id) + SUM(b)", "SUM(b) + SUM(id)"),
                self.way(f"{ratio} + {ratio}", f"2 * {ratio}"),
                self.way(f"MAX({whole}) - MIN({whole})", f"-(MIN({whole}) - MAX({whole}))"),
                self.way(f"AVG({whole} + {k})", f"AVG({whole}) + {k}"),
                self.way(f"COUNT({whole}) * {k}", f"SUM(CASE WHEN {whole} IS NOT NULL THEN {k} ELSE 0 END)"),
                ratio,
            )
        )  # fmt: skip

    # Dates.

    def part(self, column: str, unit: str) -> str:
        """Return the year, the month of a year or the month of a date as a text or number."""
        code, places = {"y": ("%Y", (1, 4)), "ym": ("%Y-%m", (1, 7)), "m": ("%m", (6, 2))}[unit]
        cut = f"SUBSTR({column}, {places[0]}, {places[1]})"
        if self.dialect == "sqlite":
            return self.way(f"strftime('{code}', {column})", cut)
        if column == "day":
            return cut
        if self.dialect == "duckdb":
            return f"strftime({column}, '{code}')"
        if self.dialect == "mysql":
            return self.way(f"DATE_FORMAT({column}, '{code}')", cut)
        return f"to_char({column}, '{code.replace('%Y', 'YYYY').replace('%m', 'MM')}')"

    def number_of_part(self, column: str, unit: str) -> str:
        """Return a year or a month as a number."""
        name = "YEAR" if unit == "y" else "MONTH"
        if self.dialect == "sqlite" or column == "day":
            return f"CAST({self.part(column, unit)} AS INTEGER)"
        extract = f"EXTRACT({name} FROM {column})"
        return self.way(extract, f"{name}({column})") if self.dialect != "postgres" else extract

    def dated(self) -> str:
        """Return a condition on a date."""
        column, year = self.some("d", "day"), self.some(2014, 2013)
        more = self.some(">", ">=", "<", "<=", "=")
        low, high = f"'{year}-01-01'", f"'{year}-12-31'"
        after = f"'{year + 1}-01-01'"
        month = self.some("05", "06")
        last = {"05": "31", "06": "30"}[month]
        year_is = (
            f"{self.part(column, 'y')} = '{year}'", f"{column} BETWEEN {low} AND {high}",
            f"{column} >= {low} AND {column} < {after}", f"{self.number_of_part(column, 'y')} = {year}",
            *([f"{column} LIKE '{year}-%'"] if column == "day" or self.dialect == "sqlite" else []),
        )  # fmt: skip
        bounds = {">": f"{column} > {high}", ">=": f"{column} >= {low}", "<": f"{column} < {low}",
                  "<=": f"{column} <= {high}", "=": year_is[1]}  # fmt: skip
        compared = self.part(column, "y"), self.number_of_part(column, "y")
        return str(
            self.some(
                self.way(*year_is),
                self.way(
                    f"{compared[0]} {more} '{year}'", f"{compared[1]} {more} {year}", bounds[more]
                ),
                self.way(
                    f"{self.part(column, 'ym')} = '{year}-{month}'",
                    f"{column} BETWEEN '{year}-{month}-01' AND '{year}-{month}-{last}'",
                    *([f"{column} LIKE '{year}-{month}-%'"] if column == "day" else []),
                ),
                self.way(
                    f"{self.part(column, 'm')} = '{month}'",
                    f"{self.number_of_part(column, 'm')} = {int(month)}",
                ),
                self.way(f"{column} > {high}", f"{column} >= {after}", f"NOT {column} <= {high}"),
            )
        )

    # Texts.

    def written(self) -> str:
        """Return a condition on a text."""
        t = self.some("hey", "us", "a", "b1")
        first = t[0]
        prefix = f"SUBSTR(n, 1, {len(t)})"
        position = {"postgres": "STRPOS", "duckdb": "STRPOS"}.get(self.dialect, "INSTR")
        lower = self.way("LOWER(n)", "LOWER(n)" if self.dialect != "sqlite" else "UPPER(n)")
        said = t if lower == "LOWER(n)" else t.upper()
        left = prefix if self.dialect == "sqlite" else self.way(prefix, f"LEFT(n, {len(t)})")
        return str(
            self.some(
                self.way(f"{position}({lower}, '{said}') > 0", f"{lower} LIKE '%{said}%'", f"n LIKE '%{t}%'"),
                self.way(f"{position}(n, '{t}') > 0", f"n LIKE '%{t}%'", f"{position}(n, '{t}') >= 1"),
                self.way(f"{lower} = '{said}'", f"n LIKE '{t}'", *(["n = 'Us' COLLATE NOCASE"] if t == "us" and self.dialect == "sqlite" else [])),
                self.way(f"{left} = '{t}'", f"n LIKE '{t}%'", *([f"n GLOB '{t}*'"] if self.dialect == "sqlite" else [])),
                self.way(f"SUBSTR(n, 1, 1) IN ('{first}', '{first.upper()}')", f"n LIKE '{first}%'", f"LOWER(SUBSTR(n, 1, 1)) = '{first}'"),
                self.way(f"n LIKE '{first}%' OR n LIKE 'b%'", f"UPPER(SUBSTR(n, 1, 1)) IN ('{first.upper()}', 'B')"),
                self.way("LENGTH(n) = 0", "n = ''"),
                self.way("LENGTH(n) > 0", "n <> ''", "LENGTH(n) >= 1"),
                self.way(f"n LIKE '{t}'", f"n = '{t}'"),
            )
        )  # fmt: skip

    def query(self) -> str:
        """Return a query."""
        conditions = self.compared, self.dated, self.written
        where: Callable[[], str] = self.some(*conditions)
        form = self.some("rows", "rows", "values", "whole", "groups", "having", "keys")
        if form == "rows":
            return f"SELECT id FROM t WHERE {where()}"
        if form == "values":
            return f"SELECT id, {self.whole()} FROM t"
        if form == "whole":
            return f"SELECT {self.aggregate()} FROM t{self.some('', f' WHERE {where()}')}"
        if form == "groups":
            return f"SELECT g, {self.aggregate()} FROM t GROUP BY g"
        if form == "having":
            return f"SELECT g FROM t GROUP BY g HAVING {self.aggregate()} > {self.some(0, 2, 10)}"
        return f"SELECT {self.whole()} AS k, COUNT(*) FROM t GROUP BY 1"


def database(rng: random.Random, rests: Sequence[str], dialect: str) -> Cells:
    """Return rows that obey what a proof rests on."""
    rows: Cells = []
    odd = dialect == "sqlite" and rng.random() < 0.4
    for i in range(rng.choice((0, 1, 3, 6, 9))):
        row: list[Any] = [
            i + 1,
            rng.choice((None, 0, 1, -1, 2, 3, 5, 6, 7, 12, 30, 31)),
            rng.choice((0, 1, -2, 3, 6, 30)),
            rng.choice((None, 0, 1.25, 2.5, 6, -0.01)),
            rng.choice((None, 0.1, 0.2, 3.0, 6.0, 1e-3)),
            rng.choice((None, 0.1, 0.3, 2.0)),
            rng.choice((None, *DAYS)),
            rng.choice((None, *TEXTS)),
            rng.choice((None, *DAYS)),
            rng.choice((None, 1, 2)),
        ]
        for place, (name, kind) in enumerate(TYPES.items()):
            held = any(said.startswith(f"t.{name} holds") for said in rests)
            loose = name == "day" or (odd and name in ("a", "b", "d", "f", "p"))
            if loose and not held and rng.random() < 0.2 and not kind.endswith("KEY"):
                row[place] = rng.choice(ODD if odd else ("x", "2014"))
        rows.append(tuple(row))
    return rows


class Engine:
    """Runs queries on rows in one database."""

    def __init__(self, dialect: str, dsn: str) -> None:
        self.error = ""
        self.dialect, self.name = dialect, f"t_{random.randrange(10**9)}"  # noqa: S311 - a name
        if dialect == "sqlite":
            self.connection: Any = sqlite3.connect(":memory:")
        elif dialect == "duckdb":
            self.connection = import_module("duckdb").connect()
        elif dialect == "postgres":
            self.connection = import_module("psycopg2").connect(dsn)
            self.connection.autocommit = True
        else:
            host, port, user = dsn.split(":")
            self.connection = import_module("pymysql").connect(
                host=host, port=int(port), user=user
            )
            self.run(f"CREATE DATABASE IF NOT EXISTS {self.name} COLLATE utf8mb4_bin")
            self.connection.select_db(self.name)
        listed = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
        self.run(f"CREATE {'TEMPORARY ' * (dialect == 'postgres')}TABLE t ({listed})")

    def run(self, text: str) -> Any:
        """Return the rows of a statement."""
        cursor = self.connection.cursor()
        if self.dialect in ("mysql", "postgres"):
            text = text.replace("%", "%%")
            cursor.execute(
                text, () if self.dialect == "mysql" else None
            ) if "%%" not in text else cursor.execute(text, ())
        else:
            cursor.execute(text)
        return cursor.fetchall() if cursor.description else []

    def answer(self, text: str) -> Cells | None:
        """Return the rows of a query, None where it raises."""
        try:
            return [tuple(map(plain, row)) for row in self.run(text)]
        except Exception as error:  # noqa: BLE001 - of four engines, each with its own
            self.error = str(error)
            return None

    def load(self, rows: Cells) -> None:
        """Replace the rows of the table."""
        self.run("DELETE FROM t")
        for row in rows:
            self.run(
                f"INSERT INTO t VALUES ({', '.join('NULL' if c is None else repr(c) for c in row)})"
            )


def main() -> int:  # noqa: C901 - a loop for each dialect
    """Print the counts, then what was contradicted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300, help="to be proved, in each dialect")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--databases", type=int, default=12)
    parser.add_argument("--dialects", nargs="+", default=["sqlite", "duckdb"])
    parser.add_argument("--postgres", default="", help="the DSN of a server")
    parser.add_argument("--mysql", default="", help="the HOST:PORT:USER of a server")
    parser.add_argument("--show", type=int, default=0, help="equal pairs without proof to show")
    options = parser.parse_args()
    print(f"{machine()}\n")
    wrong = list[str]()
    for dialect in options.dialects:
        engine = Engine(dialect, getattr(options, dialect, ""))
        counts, i, n_runs, shown = Counter[tuple[bool, str]](), 0, 0, 0
        while counts[True, "proved"] + counts[False, "proved"] < options.pairs:
            i += 1
            rng = random.Random(options.seed * 1_000_003 + i)  # noqa: S311 - for tests
            seed, equal = rng.randrange(10**9), rng.random() < 0.6
            first = Writer(seed, dialect, rng)
            texts = [first.query()]
            turned = -1 if equal else rng.randrange(first.n_choices)
            texts.append(Writer(seed, dialect, rng, turned).query())
            if texts[0] == texts[1]:
                continue
            result = sql_equivalence(*texts, schema={"t": TYPES}, dialect=dialect, n_databases=1)
            verdict = result.verdict
            counts[equal, verdict] += 1
            if verdict != "proved":
                if verdict == "unknown" and equal and shown < options.show:
                    shown += 1
                    print(dialect, *texts, result.reason, sep="\n  ")
                continue
            for _ in range(options.databases):
                rows = database(rng, result.assumptions, dialect)
                engine.load(rows)
                answers = [engine.answer(text) for text in texts]
                if None in answers and NO_ZERO in result.assumptions and "zero" in engine.error:
                    continue
                if answers[0] is None and answers[1] is None:
                    counts[equal, "raised"] += 1
                    break
                n_runs += 1
                if None in answers or not same_bag(answers[0] or [], answers[1] or [], 1e-9):
                    said = f"{dialect}: {result.assumptions} {answers} {engine.error}"
                    wrong.append("\n  ".join((*texts, said, str(rows))))
                    break
        for (kept, outcome), n in sorted(counts.items()):
            print(f"{dialect}, {'equal' if kept else 'turned'}, {outcome}: {n}")
        print(f"{dialect}: {n_runs} runs")
    print(f"contradicted: {len(wrong)}", *wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
