"""
Rewrite reference queries as models write them, by idea, and say how many are proved.

    python -m benchmarks.generators.ideas bird_mini_dev.jsonl spider_pairs.jsonl --dialect duckdb

The files are those that `benchmarks.oracles.corpora` takes.
Each pair is run on random databases in SQLite before it is decided: an equal one must agree on
all of them, and one with its meaning changed must differ on some.  Queries over the keys of the
same schemas are added, as few references group by a key.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from benchmarks.oracles.corpora import described
from scorekit import sql_equivalence

Columns: TypeAlias = dict[str, str]
"""The type of each column of a query that is named in one way."""


class Table(NamedTuple):
    """A table as it is created."""

    columns: Columns
    key: tuple[str, ...]
    refers: dict[str, tuple[str, str]]


Schema: TypeAlias = dict[str, Table]
Rows: TypeAlias = dict[str, list[tuple[Any, ...]]]


class Rewritten(NamedTuple):
    """A query and the same written otherwise, or nearly the same."""

    idea: str
    first: str
    second: str
    is_equal: bool


class Query(NamedTuple):
    """A reference query with what its columns hold."""

    tree: exp.Select
    types: Columns
    dialect: str
    schema: Schema


Idea: TypeAlias = Callable[..., exp.Expr | None]
"""Rewrites a copy of a query, to the same or, if not asked to be equal, to something else."""

IDEAS: Final[dict[str, Idea]] = {}


def _idea(rewrite: Idea) -> Idea:
    IDEAS[rewrite.__name__.strip("_")] = rewrite
    return rewrite


def _type(query: Query, node: exp.Expr) -> str:
    return query.types.get(node.name.casefold(), "") if isinstance(node, exp.Column) else ""


def _pick(found: list[Any], rng: random.Random) -> Any:
    return rng.choice(found) if found else None


def _number(value: int) -> exp.Expr:
    return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)


_SIGNS: Final = {exp.GT: ">", exp.LT: "<", exp.GTE: ">=", exp.LTE: "<=", exp.EQ: "="}
_TURNED: Final = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
    exp.EQ: exp.EQ,
}


@_idea
def _linear_comparison(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    """A comparison of an integer with a number, moved, scaled or turned."""
    node = _pick(
        [
            one
            for kind in _TURNED
            for one in query.tree.find_all(kind)
            if _type(query, one.left) == "integer" and re.fullmatch(r"\d+", one.right.sql())
        ],
        rng,
    )
    if node is None:
        return None
    n = int(node.right.name)
    step = rng.randint(1, 12)
    off = 0 if equal else 1
    x, op, turned = node.left.sql("sqlite"), _SIGNS[type(node)], _SIGNS[_TURNED[type(node)]]
    forms = [
        f"{x} * {step} {op} {(n + off) * step}",
        f"{x} - {n + off} {op} 0",
        f"{x} + {step} {op} {n + step + off}",
        f"{n} + {step} {turned} {x} + {step - off}",
    ]
    node.replace(parse_one(rng.choice(forms), read="sqlite"))
    return query.tree


@_idea
def _next_integer(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    """More than n, at least n + 1, where a column of integers can have no fractions."""
    if query.dialect == "sqlite":
        return None
    node = _pick(
        [
            one
            for one in query.tree.find_all(exp.GT)
            if _type(query, one.left) == "integer" and re.fullmatch(r"\d+", one.right.sql())
        ],
        rng,
    )
    if node is None:
        return None
    node.replace(exp.GTE(this=node.left, expression=_number(int(node.right.name) + equal)))
    return query.tree


@_idea
def _mean_as_ratio(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    node = _pick(
        [
            one
            for one in query.tree.find_all(exp.Avg)
            if _type(query, one.this) in ("integer", "real")
        ],
        rng,
    )
    if node is None:
        return None
    x = node.this.sql("sqlite")
    counted = x if equal else "*"
    node.replace(parse_one(f"SUM({x}) * 1.0 / COUNT({counted})", read="sqlite"))
    return query.tree


@_idea
def _count_of_cases(query: Query, _: random.Random, *, equal: bool) -> exp.Expr | None:
    """COUNT(*) with a condition, as a count over a CASE."""
    select, where = query.tree, query.tree.args.get("where")
    if not (
        where
        and len(select.expressions) == 1
        and select.expressions[0].sql().upper() == "COUNT(*)"
        and not any(
            select.args.get(part) for part in ("group", "having", "order", "limit", "with_")
        )
    ):
        return None
    other = exp.Literal.number(0)
    case = exp.Case(
        ifs=[exp.If(this=where.this.copy(), true=exp.Literal.number(1))],
        default=None if equal else other,
    )
    select.set("where", None)
    select.set("expressions", [exp.Count(this=case)])
    return select


@_idea
def _share_of_cases(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    """SUM and COUNT of a CASE."""
    node = _pick(
        [
            one
            for one in query.tree.find_all(exp.Sum)
            if isinstance(one.this, exp.Case | exp.If) and _counts(one.this)
        ],
        rng,
    )
    if node is None or not (query.tree.args.get("group") or equal is False):
        return None
    case = node.this
    condition = case.this if isinstance(case, exp.If) else case.args["ifs"][0].this
    one = exp.Case(ifs=[exp.If(this=condition.copy(), true=exp.Literal.number(1))])
    if not equal:
        one.set("default", exp.Literal.number(0))
    node.replace(exp.Count(this=one))
    return query.tree


def _counts(case: exp.Expr) -> bool:
    if isinstance(case, exp.If):
        parts, default = [case.args.get("true")], case.args.get("false")
    else:
        if case.this is not None or len(case.args["ifs"]) != 1:
            return False
        parts, default = [case.args["ifs"][0].args.get("true")], case.args.get("default")
    return [str(one) for one in parts] == ["1"] and str(default) == "0"


@_idea
def _year_otherwise(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    """Conditions on the year of a date."""
    found = []
    for node in query.tree.find_all(exp.EQ):
        text = node.left.sql("sqlite")
        match = re.fullmatch(
            r"STRFTIME\('%Y', (.+)\)|SUBSTR(?:ING)?\((.+), 1, 4\)", text, re.IGNORECASE
        )
        stated = re.fullmatch(r"'(\d{4})'", node.right.sql("sqlite"))
        name = re.sub(r'.*\.|[`"]', "", match[1] or match[2]).casefold() if match else ""
        if match and stated and (query.dialect == "sqlite" or query.types.get(name) == "date"):
            found.append((node, match[1] or match[2], int(stated[1])))
    if not found:
        return None
    node, column, year = rng.choice(found)
    node.replace(
        parse_one(rng.choice(_years(column, year, query.dialect, equal=equal)), read=query.dialect)
    )
    return query.tree


def _years(column: str, year: int, dialect: str, *, equal: bool) -> list[str]:
    last = 31 if equal else 30
    if dialect == "sqlite":
        exact = year if equal else year + 1
        return [
            f"{column} LIKE '{exact}-%'",
            f"{column} >= '{year}-01-01' AND {column} < '{year + 1}-01-0{1 if equal else 2}'",
            f"SUBSTR({column}, 1, 4) = '{exact}'",
            f"CAST(STRFTIME('%Y', {column}) AS INTEGER) = {exact}",
        ]
    return [
        f"{column} >= DATE '{year}-01-01' AND {column} <= DATE '{year}-12-{last}'",
        f"{column} BETWEEN DATE '{year}-01-01' AND DATE '{year}-12-{last}'",
        f"EXTRACT(YEAR FROM {column}) = {year if equal else year + 1}",
    ]


@_idea
def _like_otherwise(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    """A part of a text, or its beginning."""
    found = []
    for node in query.tree.find_all(exp.Like):
        if node.expression.is_string and _type(query, node.this) == "text":
            pattern = node.expression.name
            if re.fullmatch(r"%[a-z ]+%", pattern, re.IGNORECASE) or re.fullmatch(
                r"[a-z]+%", pattern, re.IGNORECASE
            ):
                found.append((node, pattern))
    if not found:
        return None
    node, pattern = rng.choice(found)
    x, part = node.this.sql(query.dialect), pattern.strip("%")
    changed = part if equal else part + "x"
    if query.dialect == "sqlite":
        text = (
            f"INSTR(LOWER({x}), '{changed.lower()}') > 0"
            if pattern.startswith("%")
            else f"LOWER(SUBSTR({x}, 1, {len(changed)})) = '{changed.lower()}'"
        )
    elif query.dialect == "mysql":
        text = f"{x} LIKE CONCAT('{'%' * pattern.startswith('%')}', '{changed}', '%')"
    elif pattern.startswith("%"):
        text = f"STRPOS({x}, '{changed}') > 0"
    else:
        text = f"SUBSTR({x}, 1, {len(changed)}) = '{changed}'"
    node.replace(parse_one(text, read=query.dialect))
    return query.tree


@_idea
def _exists_for_in(query: Query, rng: random.Random, *, equal: bool) -> exp.Expr | None:
    """IN of a query as EXISTS, and NOT IN of what is never NULL as a LEFT JOIN that counts."""
    found = [
        one
        for one in query.tree.find_all(exp.In)
        if isinstance(one.args.get("query"), exp.Subquery)
        and isinstance(one.args["query"].this, exp.Select)
        and not any(
            one.args["query"].this.args.get(part)
            for part in ("group", "having", "order", "limit", "distinct")
        )
        and isinstance(one.this, exp.Column)
        and one.this.table
        and not one.args["query"].this.find(exp.AggFunc)
        and not isinstance(one.parent, exp.Not)
        and one.find_ancestor(exp.Select) is query.tree
        and isinstance(one.parent, exp.Where | exp.And)
    ]
    node = _pick(found, rng)
    if node is None:
        return None
    inner = node.args["query"].this.copy()
    column = inner.expressions[0].unalias()
    if not (isinstance(column, exp.Column) and column.table):
        return None
    if column.table.casefold() == node.this.table.casefold():
        return None
    condition = exp.EQ(this=column.copy(), expression=node.this.copy())
    inner.where(condition, copy=False)
    inner.set("expressions", [exp.Literal.number(1)])
    exists: exp.Expr = exp.Exists(this=inner)
    node.replace(exists if equal else exp.Not(this=exists))
    return query.tree


@_idea
def _first_by_row_number(query: Query, _: random.Random, *, equal: bool) -> exp.Expr | None:
    """The first row of an order by its number."""
    select = query.tree
    order, limit = select.args.get("order"), select.args.get("limit")
    if not (
        order
        and limit
        and limit.expression.name == "1"
        and not select.args.get("offset")
        and not any(select.args.get(part) for part in ("group", "having", "distinct", "with_"))
        and not select.find(exp.AggFunc)
        and all(isinstance(one, exp.Column) for one in select.expressions)
    ):
        return None
    names = [f"c{i}" for i in range(len(select.expressions))]
    inner = select.copy()
    inner.set("order", None)
    inner.set("limit", None)
    shown = [
        exp.alias_(one.copy(), name) for one, name in zip(select.expressions, names, strict=True)
    ]
    number = exp.Window(this=exp.RowNumber(), order=order.copy())
    inner.set("expressions", [*shown, exp.alias_(number, "place")])
    return (
        exp.select(*names)
        .from_(inner.subquery("ranked"))
        .where(f"place = {1 if equal else 2}", copy=False)
    )


@_idea
def _intersect_as_in(query: Query, _: random.Random, *, equal: bool) -> exp.Expr | None:
    """Rows that two queries share."""
    select = query.tree
    where = select.args.get("where")
    if not (
        where
        and isinstance(where.this, exp.And)
        and len(select.expressions) == 1
        and isinstance(select.expressions[0], exp.Column)
        and select.args.get("distinct")
        and not any(
            select.args.get(part) for part in ("group", "having", "order", "limit", "with_")
        )
    ):
        return None
    key = select.expressions[0]
    if not _is_key(query, key):
        return None
    arms = [select.copy(), select.copy()]
    arms[0].set("where", exp.Where(this=where.this.left.copy()))
    arms[1].set("where", exp.Where(this=where.this.right.copy()))
    for arm in arms:
        arm.set("distinct", None)
    made = exp.Intersect if equal else exp.Union
    return made(this=arms[0], expression=arms[1], distinct=True)


def _is_key(query: Query, column: exp.Expr) -> bool:
    tables = [table.name.casefold() for table in query.tree.find_all(exp.Table)]
    if len(tables) != 1:
        return False
    own = {name.casefold(): table for name, table in query.schema.items()}.get(tables[0])
    return own is not None and tuple(k.casefold() for k in own.key) == (column.name.casefold(),)


# Queries over the keys of a schema, in pairs.


_OVER_KEYS: Final = """
join of a grouped table:
SELECT {s}, {agg} FROM {p} JOIN {c} AS x ON x.{f} = {k} GROUP BY {k}, {s};
SELECT {s}, g.n FROM {p}
  JOIN (SELECT {f} AS k, {bare} AS n FROM {c} GROUP BY {f}) AS g ON g.k = {k};
SELECT {s}, g.n FROM {p}
  LEFT JOIN (SELECT {f} AS k, {bare} AS n FROM {c} GROUP BY {f}) AS g ON g.k = {k}

having as a correlated count:
SELECT {s} FROM {p} JOIN {c} AS x ON x.{f} = {k} GROUP BY {k}, {s} HAVING COUNT(*) >= {n};
SELECT {s} FROM {p} WHERE (SELECT COUNT(*) FROM {c} AS x WHERE x.{f} = {k}) >= {n};
SELECT {s} FROM {p} WHERE (SELECT COUNT(*) FROM {c} AS x WHERE x.{f} = {k}) > {n}

left join as a correlated aggregate:
SELECT {s}, {own} FROM {p} LEFT JOIN {c} AS x ON x.{f} = {k} GROUP BY {k}, {s};
SELECT {s}, (SELECT {agg} FROM {c} AS x WHERE x.{f} = {k}) FROM {p};
SELECT {s}, {agg} FROM {p} JOIN {c} AS x ON x.{f} = {k} GROUP BY {k}, {s}

left join of a grouped table:
SELECT {s}, (SELECT {agg} FROM {c} AS x WHERE x.{f} = {k}) FROM {p};
SELECT {s}, COALESCE(g.n, {none}) FROM {p}
  LEFT JOIN (SELECT {f} AS k, {bare} AS n FROM {c} GROUP BY {f}) AS g ON g.k = {k};
SELECT {s}, COALESCE(g.n, 1) FROM {p}
  LEFT JOIN (SELECT {f} AS k, {bare} AS n FROM {c} GROUP BY {f}) AS g ON g.k = {k}

window as a correlated aggregate:
SELECT x.{a}, {agg} OVER (PARTITION BY x.{f}) FROM {c} AS x WHERE x.{f} IS NOT NULL;
SELECT x.{a}, (SELECT {of_z} FROM {c} AS z WHERE z.{f} = x.{f}) FROM {c} AS x
  WHERE x.{f} IS NOT NULL;
SELECT x.{a}, (SELECT {of_z} FROM {c} AS z WHERE z.{f} <> x.{f}) FROM {c} AS x
  WHERE x.{f} IS NOT NULL

largest of a group:
SELECT x.{f}, x.{a} FROM {c} AS x
  WHERE x.{a} = (SELECT MAX(z.{a}) FROM {c} AS z WHERE z.{f} = x.{f});
SELECT x.{f}, x.{a} FROM {c} AS x
  JOIN (SELECT {f} AS k, MAX({a}) AS m FROM {c} GROUP BY {f}) AS g ON g.k = x.{f} AND g.m = x.{a};
SELECT x.{f}, x.{a} FROM {c} AS x
  JOIN (SELECT {f} AS k, MIN({a}) AS m FROM {c} GROUP BY {f}) AS g ON g.k = x.{f} AND g.m = x.{a}

rows without a partner:
SELECT {s} FROM {p} WHERE NOT EXISTS (SELECT 1 FROM {c} AS x WHERE x.{f} = {k});
SELECT {s} FROM {p} LEFT JOIN {c} AS x ON x.{f} = {k}
  GROUP BY {k}, {s} HAVING COUNT(x.{f}) = 0;
SELECT {s} FROM {p} LEFT JOIN {c} AS x ON x.{f} = {k}
  GROUP BY {k}, {s} HAVING COUNT(x.{a}) = 0

right join:
SELECT {s}, x.{a} FROM {p} LEFT JOIN {c} AS x ON x.{f} = {k};
SELECT {s}, x.{a} FROM {c} AS x RIGHT JOIN {p} ON x.{f} = {k};
SELECT {s}, x.{a} FROM {p} RIGHT JOIN {c} AS x ON x.{f} = {k}

both of two values:
SELECT {f} FROM {c} WHERE {a} = {n} AND NOT {f} IS NULL
  INTERSECT SELECT {f} FROM {c} WHERE {a} = {m};
SELECT DISTINCT {f} FROM {c} WHERE NOT {f} IS NULL
  AND {f} IN (SELECT {f} FROM {c} WHERE {a} = {n})
  AND {f} IN (SELECT {f} FROM {c} WHERE {a} = {m});
SELECT DISTINCT {f} FROM {c} WHERE {a} IN ({n}, {m}) AND NOT {f} IS NULL

both of two values by counting:
SELECT x.{f} FROM {c} AS x WHERE x.{a} IN ({n}, {m}) AND NOT x.{f} IS NULL
  GROUP BY x.{f} HAVING COUNT(DISTINCT x.{a}) = 2;
SELECT DISTINCT x.{f} FROM {c} AS x JOIN {c} AS z ON z.{f} = x.{f}
  WHERE x.{a} = {n} AND z.{a} = {m};
SELECT DISTINCT x.{f} FROM {c} AS x JOIN {c} AS z ON z.{f} = x.{f}
  WHERE x.{a} = {n} OR z.{a} = {m}

sums of sums:
SELECT SUM({a} + {n}) FROM {c} GROUP BY {f};
SELECT SUM({a}) + {n} * COUNT({a}) FROM {c} GROUP BY {f};
SELECT SUM({a}) + {n} * COUNT(*) FROM {c} GROUP BY {f}

percent:
SELECT 100.0 * SUM(CASE WHEN {a} > {n} THEN 1 ELSE 0 END) / COUNT(*) FROM {c} GROUP BY {f};
SELECT AVG(CASE WHEN {a} > {n} THEN 100.0 ELSE 0 END) FROM {c} GROUP BY {f};
SELECT AVG(CASE WHEN {a} > {n} THEN 100.0 END) FROM {c} GROUP BY {f}
"""
"""An idea, and three queries: one, the same and another; names stand for parts of a schema."""


def over_keys(schema: Schema, rng: random.Random) -> Iterator[Rewritten]:
    """Yield pairs that aggregate the rows that share a key."""
    links = [
        (child, column, *target)
        for child, table in schema.items()
        for column, target in table.refers.items()
        if target[0] in schema and schema[target[0]].key == (target[1],) and target[0] != child
    ]
    if not links:
        return
    child, column, parent, key = rng.choice(links)
    shown = _pick([c for c, t in schema[parent].columns.items() if c != key], rng)
    amount = _pick(
        [
            c
            for c, t in schema[child].columns.items()
            if t == "integer" and c not in (column, *schema[child].key)
        ],
        rng,
    )
    if shown is None or amount is None:
        return
    n = rng.randint(1, 4)
    function, none = rng.choice(
        [("COUNT(*)", "0"), ("COUNT({})", "0"), ("MAX({})", "NULL"), ("SUM({})", "NULL")]
    )
    aggregate = function.format(f'x."{amount}"')
    bare = aggregate.replace("x.", "")
    names = {
        "p": f'"{parent}" AS y', "c": f'"{child}"', "k": f'y."{key}"', "f": f'"{column}"',
        "s": f'y."{shown}"', "a": f'"{amount}"', "n": str(n), "m": str(n + 1),
        "agg": aggregate, "bare": bare, "none": none, "of_z": aggregate.replace("x.", "z."),
        "own": aggregate.replace("COUNT(*)", f'COUNT(x."{column}")'),
    }  # fmt: skip
    block = rng.choice(_OVER_KEYS.strip().split("\n\n"))
    idea, _, texts = block.partition(":\n")
    first, second, other = (" ".join(one.split()).format(**names) for one in texts.split(";"))
    yield Rewritten(idea, first, second, is_equal=True)
    yield Rewritten(idea, first, other, is_equal=False)


def of_reference(
    text: str, schema: Schema, dialect: str, rng: random.Random
) -> Iterator[Rewritten]:
    """Yield a reference rewritten by one idea, to the same and to nearly the same."""
    try:
        tree = parse_one(text, read="sqlite")
    except SqlglotError:
        return
    if not isinstance(tree, exp.Select):
        return
    tables = {one.name.casefold() for one in tree.find_all(exp.Table)}
    types: Columns = {}
    for name, table in schema.items():
        if name.casefold() in tables:
            for column, kind in table.columns.items():
                low = column.casefold()
                types[low] = kind if types.get(low, kind) == kind else ""
    for name, idea in IDEAS.items():
        for equal in (True, False):
            seed = rng.random()
            query = Query(tree.copy(), types, dialect, schema)
            found = idea(query, random.Random(seed), equal=equal)  # noqa: S311 - nothing secret
            if found is not None:
                first, second = (one.sql(dialect) for one in (tree, found))
                yield Rewritten(name.strip("_"), first, second, equal)


# Schemas and databases.


def tables_of(described_columns: dict[str, Any], keys: dict[str, Any] | None) -> Schema:
    """Read a schema in the form of `benchmarks.oracles.corpora`."""
    schema: Schema = {}
    for name, columns in described_columns.items():
        kinds: Columns = {}
        refers: dict[str, tuple[str, str]] = {}
        for column, kind in columns.items():
            plain, _, reference = kind.partition(" REFERENCES ")
            if reference:
                other, target = re.findall(r'"([^"]+)"', reference)[:2]
                refers[column] = other, target
            kinds[column] = {"number": "integer", "datetime": "date"}.get(
                plain.lower(), plain.lower()
            )
        key = tuple((keys or {}).get(name, ()))
        schema[name] = Table(kinds, key, refers)
    return schema


_TYPES: Final = {"integer": "INTEGER", "real": "DOUBLE PRECISION", "date": "DATE"}


def created(schema: Schema, dialect: str) -> str:
    """Return the CREATE TABLE statements of a schema."""
    texts = []
    for name, table in schema.items():
        parts = []
        for column, kind in table.columns.items():
            made = _TYPES.get(kind, "TEXT")
            refers = table.refers.get(column)
            known = refers and refers[0] in schema and schema[refers[0]].key == (refers[1],)
            tail = f' REFERENCES "{refers[0]}"("{refers[1]}")' if refers and known else ""
            parts.append(f'"{column}" {made}{" NOT NULL" * (column in table.key)}{tail}')
        if table.key:
            keys = ", ".join(f'"{one}"' for one in table.key)
            parts.append(f"PRIMARY KEY ({keys})")
        texts.append(f'CREATE TABLE "{name}" ({", ".join(parts)})')
    script = ";\n".join(texts)
    return script.replace('"', "`") if dialect == "mysql" else script


def filled(schema: Schema, texts: list[str], rng: random.Random) -> sqlite3.Connection:
    """Return a random database that keeps to the keys and knows what the queries name."""
    numbers = {int(n) for text in texts for n in re.findall(r"\b\d{1,6}\b", text)}
    near = sorted({n + d for n in numbers for d in (-1, 0, 1)} | {0, 1, 2, 3, 4, 5})
    words = sorted(
        {w.strip("%") for text in texts for w in re.findall(r"'([^']*)'", text)} | {"a", "A"}
    )
    years = sorted(
        {int(y) for text in texts for y in re.findall(r"\b((?:19|20)\d\d)\b", text)} or {2014}
    )
    base = sqlite3.connect(":memory:")
    base.executescript(created(schema, "sqlite"))
    held: Rows = {}

    def cell(name: str, column: str, kind: str) -> Any:
        refers = schema[name].refers.get(column)
        if column not in schema[name].key and rng.random() < 0.15:
            return None
        if refers and refers[0] in held and held[refers[0]] and rng.random() < 0.9:
            place = list(schema[refers[0]].columns).index(refers[1])
            return rng.choice(held[refers[0]])[place]
        if kind == "integer":
            return rng.choice(near) if rng.random() < 0.6 else rng.randint(0, 6)
        if kind == "real":
            return rng.choice(near) + rng.choice((0.0, 0.5))
        if kind == "date" or re.search(r"date|day", column, re.IGNORECASE):
            year = rng.choice(years) + rng.choice((-1, 0, 0, 0, 1))
            return f"{year}-{rng.choice(('01-01', '12-31', '06-15', '12-30'))}"
        word = rng.choice(words)
        return word + rng.choice(("", "", "x", " b"))

    for name, table in schema.items():
        rows: list[tuple[Any, ...]] = []
        for _ in range(rng.choice((0, 1, 3, 5))):
            row = tuple(cell(name, column, kind) for column, kind in table.columns.items())
            try:
                base.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', row)  # noqa: S608
            except sqlite3.IntegrityError:
                continue
            rows.append(row)
        held[name] = rows
    return base


def agrees(
    pair: Rewritten, schema: Schema, dialect: str, rng: random.Random, n: int
) -> bool | None:
    """Return whether both give the same rows on *n* databases, None where one cannot be run."""
    texts = [parse_one(text, read=dialect).sql("sqlite") for text in (pair.first, pair.second)]
    named = {
        one.name.casefold()
        for text in texts
        for one in parse_one(text, read="sqlite").find_all(exp.Table)
    }
    used = {name: table for name, table in schema.items() if name.casefold() in named}
    for _ in range(n):
        base = filled(used, texts, rng)
        try:
            first, second = (
                Counter(tuple(_rounded(cell) for cell in row) for row in base.execute(text))
                for text in texts
            )
        except sqlite3.Error:
            return None
        finally:
            base.close()
        if first != second:
            return False
    return True


def _rounded(cell: object) -> object:
    return round(cell, 6) if isinstance(cell, float) else cell


def parents_first(schema: Schema) -> Schema:
    """Return the tables so that what is referred to comes first, where that is possible."""
    ordered: Schema = {}
    for _ in range(len(schema)):
        for name, table in schema.items():
            if all(
                t[0] == name or t[0] in ordered or t[0] not in schema
                for t in table.refers.values()
            ):
                ordered.setdefault(name, table)
    return ordered | schema


def drawn(
    files: list[Path], dialect: str, rng: random.Random
) -> Iterator[tuple[Rewritten, Schema]]:
    """Yield pairs of all references, then pairs over keys, in random order."""
    schemas: dict[str, Schema] = {}
    lines: list[tuple[str, str]] = []
    for path in files:
        name = path.name.partition("_")[0]
        known = json.loads((path.parent / f"{name}_schemas.json").read_text(encoding="utf-8"))
        schemas |= {db: parents_first(tables_of(*described(one))) for db, one in known.items()}
        for line in path.read_text(encoding="utf-8").splitlines():
            read = json.loads(line)
            lines.append((read["db"], read["expected"]))
    rng.shuffle(lines)
    for db, text in lines:
        yield from ((pair, schemas[db]) for pair in of_reference(text, schemas[db], dialect, rng))
        pairs = list(over_keys(schemas[db], rng))
        for pair in pairs:
            texts = [
                parse_one(one, read="sqlite").sql(dialect) for one in (pair.first, pair.second)
            ]
            yield pair._replace(first=texts[0], second=texts[1]), schemas[db]


def main() -> None:
    """Print the verdicts by idea, and pairs that are decided wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--dialect", default="sqlite")
    parser.add_argument("--pairs", type=int, default=300, help="of each sort")
    parser.add_argument("--databases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--unknown", action="store_true", help="print the equal pairs that are unknown"
    )
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - nothing secret
    counts: dict[bool, Counter[tuple[str, str]]] = {True: Counter(), False: Counter()}
    seconds = 0.0
    for pair, schema in drawn(options.files, options.dialect, rng):
        known = counts[pair.is_equal]
        if (
            known.total() >= options.pairs
            or sum(n for (idea, _), n in known.items() if idea == pair.idea) >= options.pairs / 6
        ):
            continue
        found = agrees(pair, schema, options.dialect, rng, options.databases)
        if found is None or found != pair.is_equal:
            continue
        named = {
            t.name.casefold()
            for one in pair[1:3]
            for t in parse_one(one, read=options.dialect).find_all(exp.Table)
        }
        used = {name: table for name, table in schema.items() if name.casefold() in named}
        start = time.process_time()
        result = sql_equivalence(
            pair.first, pair.second, schema=created(used, options.dialect), dialect=options.dialect
        )
        seconds += time.process_time() - start
        known[pair.idea, result.verdict] += 1
        wrong = result.verdict == ("refuted" if pair.is_equal else "proved")
        if wrong or (options.unknown and pair.is_equal and result.verdict == "unknown"):
            print(f"{'WRONG ' * wrong}{pair.idea}: {result.verdict}: {result.reason}")
            print(f"  {pair.first}\n  {pair.second}")
    for is_equal, known in counts.items():
        total = Counter(verdict for (_, verdict), n in known.items() for _ in range(n))
        kind = "equal" if is_equal else "changed"
        print(f"\n{options.dialect}, {kind}: {known.total()} pairs, {dict(total)}")
        for idea in sorted({idea for idea, _ in known}):
            own = {verdict: n for (one, verdict), n in sorted(known.items()) if one == idea}
            print(f"  {idea}: {own}")
    print(f"{seconds:.1f} s CPU")


if __name__ == "__main__":
    main()
