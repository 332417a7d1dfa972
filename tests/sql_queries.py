"""Random queries over three tables, many ways to write each, and databases to run them on."""

# ruff: noqa: C901, E501, FBT001, PLR0911, PLR0912, S311 - a branch for each kind of expression

from __future__ import annotations

import copy
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs
from hypothesis import strategies as st

from scorekit._sql.schema import SqlSchema, read_schema

TABLES = {
    "users": {"id": "int", "name": "text", "age": "int", "city": "text"},
    "orders": {"id": "int", "uid": "int", "total": "int", "status": "text"},
    "items": {"oid": "int", "sku": "text", "qty": "int"},
}
NOT_NULL = {"users": ("name",), "orders": ("uid",), "items": ()}
KEYS: dict[str, str | list[tuple[str, ...]]] = {"users": "id", "items": [("oid", "sku")]}
TEXTS = ("a", "b", "x", "X", "1")
NUMBERS = (-1, 0, 1, 2, 3)

Expression = tuple[Any, ...]


@attrs.define(eq=False)
class Source:
    """One use of a table or of a derived table in a FROM."""

    table: str | Block
    kind: str = "inner"
    on: Expression | None = None

    def columns(self) -> list[tuple[str, str]]:
        """Return names and types of its columns."""
        if isinstance(self.table, str):
            return list(TABLES[self.table].items())
        return [(f"c{i}", kind_of(e)) for i, e in enumerate(self.table.outputs)]


@attrs.define(eq=False)
class Block:
    """One SELECT."""

    sources: list[Source]
    outputs: list[Expression]
    where: Expression | None = None
    group: list[Expression] | None = None
    having: Expression | None = None
    distinct: bool = False
    limit: int | None = None


@attrs.define(eq=False)
class Query:
    """Blocks connected by set operations, perhaps in an order."""

    blocks: list[Block]
    operators: list[str]
    order: list[tuple[int, bool]] | None = None


def kind_of(expression: Expression) -> str:
    """Return the type of an expression, as far as it is needed to compare like with like."""
    match expression:
        case ("col", _, _, kind):
            return str(kind)
        case ("lit", value):
            return "text" if isinstance(value, str) else "int"
        case ("upper", _) | ("lower", _):
            return "text"
        case ("case", _, then, _) | ("coalesce", then, _):
            return kind_of(then)
        case ("agg", name, _, argument) if name in ("min", "max"):
            return kind_of(argument)
        case ("scalar", Block(outputs=[output])):
            return kind_of(output)
        case _:
            return "int"


class Maker:
    """Makes queries."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.budget = 7

    def chance(self, probability: float) -> bool:
        """Toss a coin."""
        return self.rng.random() < probability

    def query(self) -> Query:
        """Make a query."""
        n_outputs = self.rng.choice((1, 1, 2, 3))
        kinds = [self.rng.choice(("int", "text")) for _ in range(n_outputs)]
        n = self.rng.choice((1, 1, 1, 1, 1, 1, 1, 2, 2, 3))
        blocks = [self.block([], kinds) for _ in range(n)]
        operator = self.rng.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
        order = None
        if self.chance(0.25):
            places = self.rng.sample(range(n_outputs), n_outputs)
            order = [(place, self.chance(0.5)) for place in places]
        query = Query(blocks, [operator] * (n - 1), order)
        if n == 1 and self.chance(0.05):
            blocks[0].limit = self.rng.choice((1, 2))
        return query

    def block(self, outer: list[Source], kinds: list[str], *, plain: bool = False) -> Block:
        """Make a SELECT whose outputs have the given types; *outer* is what it may refer to."""
        sources = [self.source(outer)]
        for _ in range(self.rng.choice((0, 0, 1, 1, 2)) if not outer else self.chance(0.2)):
            source = self.source(outer)
            source.kind = self.rng.choice(("inner", "inner", "inner", "left", "left", "full"))
            source.on = self.condition([*sources, source], outer, depth=0, join=True)
            sources.append(source)
        block = Block(sources, [])
        if self.chance(0.7) or outer:
            block.where = self.condition(sources, outer, depth=2)
        style = self.rng.random()
        if plain or style < 0.5:
            block.outputs = [self.value(sources, outer, kind) for kind in kinds]
            block.distinct = self.chance(0.25)
        elif style < 0.65:
            block.outputs = [self.aggregate(sources, kind) for kind in kinds]
        else:
            keys = [self.value(sources, [], kind) for kind in kinds[:2]]
            if self.chance(0.3):
                keys.append(self.column(sources, self.rng.choice(("int", "text"))))
            block.group = keys
            block.outputs = [
                self.aggregate(sources, kind)
                if self.chance(0.4) or all(kind_of(k) != kind for k in keys)
                else self.rng.choice([k for k in keys if kind_of(k) == kind])
                for kind in kinds
            ]
            block.distinct = self.chance(0.15)
            if self.chance(0.4):
                left = (
                    self.aggregate(sources, "int") if self.chance(0.6) else self.rng.choice(keys)
                )
                block.having = ("cmp", self.operator(), left, self.literal(kind_of(left)))
                if self.budget > 0 and self.chance(0.2):
                    self.budget -= 3
                    block.having = ("insub", left, self.block([], [kind_of(left)], plain=True))
        return block

    def source(self, outer: list[Source]) -> Source:
        """Make an item of a FROM."""
        if self.budget > 0 and self.chance(0.12) and not outer:
            self.budget -= 3
            kinds = [self.rng.choice(("int", "text")) for _ in range(self.rng.choice((1, 2)))]
            return Source(self.block([], kinds))
        return Source(self.rng.choice(list(TABLES)))

    def operator(self) -> str:
        """Choose a comparison."""
        return self.rng.choice(("=", "=", "<>", "<", "<=", ">", ">="))

    def literal(self, kind: str) -> Expression:
        """Make a literal."""
        return ("lit", self.rng.choice(TEXTS if kind == "text" else NUMBERS))

    def column(self, sources: list[Source], kind: str) -> Expression:
        """Choose a column."""
        found = [("col", s, name, k) for s in sources for name, k in s.columns() if k == kind]
        return self.rng.choice(found) if found else self.literal(kind)

    def value(self, sources: list[Source], outer: list[Source], kind: str) -> Expression:
        """Make an expression."""
        style = self.rng.random()
        column = self.column(sources, kind)
        if style < 0.75:
            return column
        if style < 0.8:
            return self.literal(kind)
        if style < 0.85 and kind == "int":
            return (self.rng.choice(("add", "mul")), column, self.column(sources, kind))
        if style < 0.9:
            condition = self.condition(sources, outer, depth=0)
            return ("case", condition, column, self.literal(kind))
        if style < 0.93 and self.budget > 0 and not outer:
            self.budget -= 3
            inner = self.block(sources, [kind], plain=True)
            inner.distinct, inner.outputs = False, [self.aggregate(inner.sources, kind)]
            return ("scalar", inner)
        if style < 0.96:
            return ("coalesce", column, self.literal(kind))
        return (self.rng.choice(("upper", "lower")), column) if kind == "text" else column

    def aggregate(self, sources: list[Source], kind: str) -> Expression:
        """Make an aggregate."""
        if kind == "text":
            return ("agg", self.rng.choice(("min", "max")), False, self.column(sources, kind))
        if self.chance(0.3):
            return ("agg", "count", False, None)
        argument = self.column(sources, "int")
        name = self.rng.choice(("count", "count", "sum", "avg", "min", "max"))
        return ("agg", name, self.chance(0.25), argument)

    def condition(
        self, sources: list[Source], outer: list[Source], *, depth: int, join: bool = False
    ) -> Expression:
        """Make a condition."""
        style = self.rng.random()
        if join and style < 0.7:
            kind = self.rng.choice(("int", "int", "text"))
            left, right = self.column(sources[-1:], kind), self.column(sources[:-1], kind)
            return ("cmp", "=", left, right)
        if depth and style < 0.4:
            n = self.rng.choice((2, 2, 3))
            parts = [self.condition(sources, outer, depth=depth - 1) for _ in range(n)]
            return (self.rng.choice(("and", "or")), parts)
        if style < 0.5:
            return ("not", self.condition(sources, outer, depth=max(depth - 1, 0)))
        if depth and style < 0.65 and self.budget > 0:
            self.budget -= 2
            return self.with_subquery(sources)
        kind = self.rng.choice(("int", "int", "text"))
        left = self.column(outer if outer and self.chance(0.3) else sources, kind)
        style = self.rng.random()
        if style < 0.15:
            return ("between", left, self.literal(kind), self.literal(kind))
        if style < 0.3:
            return ("in", left, [self.literal(kind) for _ in range(self.rng.choice((1, 2, 3)))])
        if style < 0.4:
            return ("null", left)
        if style < 0.48:
            return ("like", self.column(sources, "text"), self.rng.choice(("a%", "%x", "_")))
        if style < 0.52:
            return ("cmp", "=", ("lit", 1), ("lit", self.rng.choice((1, 2))))
        if style < 0.54:
            return ("cmp", self.operator(), left, ("lit", None))
        if style < 0.8:
            right = self.literal(kind)
        else:
            right = self.column(outer if outer and self.chance(0.7) else sources, kind)
        return ("cmp", self.operator(), left, right)

    def with_subquery(self, sources: list[Source]) -> Expression:
        """Make a condition with a subquery, correlated or not."""
        kind = self.rng.choice(("int", "text"))
        outer = sources if self.chance(0.6) else []
        inner = self.block(outer, [kind], plain=self.chance(0.75))
        style = self.rng.random()
        if style < 0.6:
            return ("insub", self.column(sources, kind), inner)
        if style < 0.85:
            return ("exists", inner)
        inner.group, inner.having, inner.distinct = None, None, False
        inner.outputs = [self.aggregate(inner.sources, kind)]
        return ("cmp", self.operator(), self.column(sources, kind), ("scalar", inner))


# Changes that make another query, most of them.


def mutated(query: Query, rng: random.Random) -> Query:
    """Return a copy of *query* with one small change."""
    query = copy.deepcopy(query)
    for _ in range(20):
        blocks = list(blocks_of(query))
        if _mutate(query, rng.choice(blocks), rng):
            break
    return query


def _mutate(query: Query, block: Block, rng: random.Random) -> bool:
    match rng.randrange(10):
        case 0:
            block.distinct = not block.distinct
        case 1 if len(block.sources) > 1:
            source = rng.choice(block.sources[1:])
            source.kind = rng.choice([k for k in ("inner", "left", "full") if k != source.kind])
        case 2 if block.where and any(s.on for s in block.sources[1:]):
            source = rng.choice([s for s in block.sources if s.on])
            assert source.on is not None
            block.where, source.on = (
                ("and", [block.where, source.on]),
                ("cmp", "=", ("lit", 1), ("lit", 1)),
            )
        case 3 if block.where:
            block.where = _changed(block.where, rng)
        case 4 if block.having or block.group:
            block.having = (
                None
                if block.having
                else ("null", rng.choice(block.group or []))
                if block.group
                else None
            )
        case 5 if query.operators:
            query.operators = [rng.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))] * len(
                query.operators
            )
        case 6 if query.operators:
            query.blocks.reverse()
        case 7:
            place = rng.randrange(len(block.outputs))
            match block.outputs[place]:
                case ("agg", name, distinct, argument) if argument:
                    block.outputs[place] = rng.choice(
                        [("agg", name, not distinct, argument), ("agg", "count", False, None)]
                        if kind_of(block.outputs[place]) == "int"
                        else [("agg", "min" if name == "max" else "max", False, argument)]
                    )
                case _:
                    return False
        case 8 if any(s.on for s in block.sources):
            source = rng.choice([s for s in block.sources if s.on])
            assert source.on is not None
            source.on = _changed(source.on, rng)
        case 9 if block.group and len(block.group) > 1:
            block.group = block.group[:-1]
        case _:
            return False
    return True


def _changed(condition: Expression, rng: random.Random) -> Expression:
    match condition:
        case ("and" | "or" as op, parts):
            style = rng.randrange(3)
            if style == 0:
                return ("or" if op == "and" else "and", parts)
            place = rng.randrange(len(parts))
            kept = [p for i, p in enumerate(parts) if i != place]
            return (op, [*kept, _changed(parts[place], rng)]) if style == 1 else (op, kept)
        case ("not", part):
            return rng.choice(
                (
                    part,
                    ("not", _changed(part, rng)),
                    ("or", [condition, ("null", rng.choice(NULLS))]),
                )
            )
        case ("cmp", op, left, right):
            return rng.choice(
                (
                    (
                        "cmp",
                        rng.choice([o for o in ("=", "<", "<=", ">", "<>") if o != op]),
                        left,
                        right,
                    ),
                    ("cmp", op, right, left),
                    ("or", [condition, ("null", left)]),
                    ("and", [condition, ("not", ("null", left))]),
                )
            )
        case ("insub", left, block):
            return rng.choice(
                (("exists", block), ("or", [condition, ("null", left)]), ("not", condition))
            )
        case ("between", x, low, high):
            return rng.choice(
                (
                    ("between", x, high, low),
                    ("and", [("cmp", ">", x, low), ("cmp", "<=", x, high)]),
                )
            )
        case ("in", x, values):
            return ("in", x, values[1:]) if len(values) > 1 else ("not", condition)
        case ("null", x):
            return rng.choice((("not", condition), ("cmp", "=", x, ("lit", None))))
        case _:
            return ("not", condition)


NULLS = (("lit", None), ("lit", 1))


def blocks_of(thing: Any) -> Iterator[Block]:
    """Yield every SELECT inside of something."""
    if isinstance(thing, Query):
        for block in thing.blocks:
            yield from blocks_of(block)
    elif isinstance(thing, Block):
        yield thing
        for source in thing.sources:
            yield from blocks_of(source.table)
            yield from blocks_of(source.on)
        for part in (thing.outputs, thing.where, thing.having):
            yield from blocks_of(part)
    elif isinstance(thing, (tuple, list)) and (not thing or thing[0] != "col"):
        for part in thing:
            yield from blocks_of(part)


# Ways to write a query.


class Writer:
    """Writes queries, each time in another way that means the same."""

    def __init__(self, rng: random.Random, *, plain: bool = False) -> None:
        self.rng = rng
        self.plain = plain
        self.aliases: dict[Source, str] = {}
        self.scopes: list[list[Source]] = []
        self.ctes: list[str] = []
        self.n_names = 0

    def chance(self, probability: float) -> bool:
        """Toss a coin; never heads in plain style."""
        return not self.plain and self.rng.random() < probability

    def query(self, query: Query) -> str:
        """Write a query."""
        blocks = list(query.blocks)
        commutes = query.operators and query.operators[0] != "EXCEPT"
        if commutes and self.chance(0.5):
            self.rng.shuffle(blocks)
        texts = [self.block(block) for block in blocks]
        text = texts[0]
        for operator, other in zip(query.operators, texts[1:], strict=True):
            text = f"{text} {operator} {other}"
        if query.order:
            items = [
                f"{place + 1}{' DESC' if down else self.either('', ' ASC')}"
                for place, down in query.order
            ]
            text += f" ORDER BY {', '.join(items)}"
        limit = query.blocks[0].limit
        text += f" LIMIT {limit}" if limit else ""
        return f"WITH {', '.join(self.ctes)} {text}" if self.ctes else text

    def either(self, *choices: str) -> str:
        """Choose one of several spellings, the first in plain style."""
        return choices[0] if self.plain else self.rng.choice(choices)

    def name(self, block: Block, taken: list[str]) -> str:
        """Return an alias; sometimes one that hides an outer table that is not needed inside."""
        hidden = {alias for source, alias in self.aliases.items() if not _refers(block, source)}
        pool = ["a", "b", "c", "t1", "t2", "users", "orders"]
        outer = {self.aliases[s] for scope in self.scopes for s in scope if s in self.aliases}
        free = [n for n in pool if n not in taken and (n not in outer or n in hidden)]
        needed = {a for s, a in self.aliases.items() if _refers(block, s)}
        free = [n for n in free if n not in needed]
        self.n_names += 1
        return self.rng.choice(free) if free and not self.plain else f"n{self.n_names}"

    def block(self, block: Block, *, names: bool = False, one: bool = False) -> str:
        """Write a SELECT."""
        sources = list(block.sources)
        conditions: list[Expression] = []
        inner = all(source.kind == "inner" for source in sources)
        if inner and len(sources) > 1 and not self.plain:
            conditions = [source.on for source in sources if source.on is not None]
            self.rng.shuffle(sources)
        taken: list[str] = []
        for source in sources:
            bare = isinstance(source.table, str) and source.table not in taken
            outer = {self.aliases.get(s) for scope in self.scopes for s in scope}
            if bare and source.table not in outer and self.chance(0.3):
                self.aliases[source] = str(source.table)
            else:
                self.aliases[source] = self.name(block, taken)
            taken.append(self.aliases[source])
        tables = [self.table(source) for source in sources]
        self.scopes.append(sources)
        text = self.from_(sources, tables, conditions, inner=inner)
        where = [block.where] if block.where is not None else []
        where = where + conditions
        having = block.having
        group, distinct = block.group, block.distinct
        if group and having and not _has_aggregate(having) and self.chance(0.5):
            where, having = [*where, having], None
        if (
            group
            and having is None
            and not any(map(_has_aggregate, block.outputs))
            and all(any(k is o or k == o for o in block.outputs) for k in group)
            and self.chance(0.5)
        ):
            group, distinct = None, True
        elif (
            distinct
            and not group
            and not any(map(_has_aggregate, block.outputs))
            and self.chance(0.3)
            and not any(o[0] == "lit" for o in block.outputs)
            and not any(_has_block(o) for o in block.outputs)
            and set(_sources_of(block.outputs)) <= set(sources)  # SQLite groups by these alone
        ):
            group, distinct = list(block.outputs), False
        outputs = [self.expression(output) for output in block.outputs]
        if one and self.chance(0.5):
            outputs = [self.either("1", "*")]
        elif names:
            outputs = [f"{output} AS c{i}" for i, output in enumerate(outputs)]
        elif self.chance(0.3):
            outputs = [f"{output} AS out{i}" for i, output in enumerate(outputs)]
        text = f"SELECT {'DISTINCT ' if distinct else ''}{', '.join(outputs)} FROM {text}"
        if where:
            if not self.plain:
                self.rng.shuffle(where)
            text += " WHERE " + (
                self.condition(("and", where)) if len(where) > 1 else self.condition(where[0])
            )
        if group:
            keys = [self.expression(key) for key in group]
            if all(key[0] != "lit" for key in group):
                text += f" GROUP BY {', '.join(keys)}"
            else:
                keys = [key for key, e in zip(keys, group, strict=True) if e[0] != "lit"]
                text += f" GROUP BY {', '.join([*keys, 'NULL'])}"
        if having:
            text += f" HAVING {self.condition(having)}"
        self.scopes.pop()
        return text

    def from_(
        self, sources: list[Source], tables: list[str], conditions: list[Expression], inner: bool
    ) -> str:
        """Write the joins; what is put into ON is taken from *conditions*."""
        text, done = tables[0], sources[:1]
        for source, table in zip(sources[1:], tables[1:], strict=True):
            done.append(source)
            if inner and not self.plain:
                own = [c for c in conditions if set(_sources_of(c)) <= set(done)]
                if own and self.chance(0.7):
                    for condition in own:
                        conditions.remove(condition)
                    on = self.condition(("and", own) if len(own) > 1 else own[0])
                    text += f" {self.either('JOIN', 'INNER JOIN')} {table} ON {on}"
                else:
                    text += f"{self.either(',', ' CROSS JOIN', ' JOIN')} {table}"
                continue
            on = self.condition(source.on) if source.on else "1 = 1"
            if source.kind == "left" and self.chance(0.3) and len(done) == 2:
                text = f"{table} RIGHT {self.either('', 'OUTER ')}JOIN {text} ON {on}"
            elif source.kind == "inner":
                text += f" JOIN {table} ON {on}"
            else:
                text += f" {source.kind.upper()} {self.either('', 'OUTER ')}JOIN {table} ON {on}"
        return text

    def table(self, source: Source) -> str:
        """Write an item of a FROM; a table may be wrapped into a query that changes nothing."""
        alias = self.aliases[source]
        as_ = self.either(" AS ", " ")
        if isinstance(source.table, Block):
            scopes, self.scopes = self.scopes, []
            text = self.block(source.table, names=True)
            self.scopes = scopes
            return self.with_(text, alias) if self.chance(0.3) else f"({text}){as_}{alias}"
        if alias == source.table:
            return alias
        if self.chance(0.1):
            columns = ", ".join(TABLES[source.table])
            text = f"SELECT {self.either('*', columns)} FROM {source.table}"
            return self.with_(text, alias) if self.chance(0.5) else f"({text}){as_}{alias}"
        return f"{self.either(source.table, source.table.upper())}{as_}{alias}"

    def with_(self, text: str, alias: str) -> str:
        """Name a query by a common table expression."""
        name = f"w{len(self.ctes)}"
        self.ctes.append(f"{name} AS ({text})")
        return f"{name} AS {alias}"

    def expression(self, expression: Expression) -> str:
        """Write an expression."""
        match expression:
            case ("col", source, name, _):
                return self.column(source, name)
            case ("lit", None):
                return "NULL"
            case ("lit", value):
                if isinstance(value, int) and self.chance(0.1):
                    return f"({value - 1} + 1)"
                return f"'{value}'" if isinstance(value, str) else str(value)
            case ("add" | "mul" as op, left, right):
                texts = [self.expression(left), self.expression(right)]
                if self.chance(0.5):
                    texts.reverse()
                return f"({texts[0]} {'+' if op == 'add' else '*'} {texts[1]})"
            case ("case", condition, then, default):
                return f"CASE WHEN {self.condition(condition)} THEN {self.expression(then)} ELSE {self.expression(default)} END"
            case ("coalesce", left, right):
                return f"{self.either('COALESCE', 'IFNULL')}({self.expression(left)}, {self.expression(right)})"
            case ("scalar", block):
                return f"({self.block(block)})"
            case ("agg", _, _, None):
                return f"COUNT({self.either('*', '1')})"
            case ("agg", name, distinct, argument):
                return (
                    f"{name.upper()}({'DISTINCT ' if distinct else ''}{self.expression(argument)})"
                )
            case (name, argument):
                return f"{name.upper()}({self.expression(argument)})"
            case _:
                raise AssertionError(expression)

    def column(self, source: Source, name: str) -> str:
        """Write a column, without its table if that is not needed."""
        written = self.either(name, name, name.upper())
        for scope in reversed(self.scopes):
            owners = [s for s in scope if any(name == column for column, _ in s.columns())]
            if owners:
                if owners == [source] and self.chance(0.5):
                    return written
                break
        return f"{self.aliases[source]}.{written}"

    def condition(self, condition: Expression) -> str:
        """Write a condition, in brackets wherever they might matter."""
        match condition:
            case ("and" | "or" as op, parts):
                parts = list(parts)
                if not self.plain:
                    self.rng.shuffle(parts)
                if self.chance(0.1):
                    parts.append(parts[0])
                if self.chance(0.15):
                    other = "or" if op == "and" else "and"
                    return f"NOT ({self.condition((other, [('not', part) for part in parts]))})"
                return "(" + f" {op.upper()} ".join(map(self.condition, parts)) + ")"
            case ("not", ("null", x)):
                return self.either(
                    f"{self.expression(x)} IS NOT NULL",
                    f"NOT ({self.expression(x)} IS NULL)",
                    f"{self.expression(x)} NOTNULL",
                )
            case ("not", ("insub", x, block)) if self.chance(0.5):
                return f"{self.expression(x)} NOT IN ({self.block(block)})"
            case ("not", ("cmp", op, left, right)) if self.chance(0.5):
                return self.condition(("cmp", _OPPOSITE[op], left, right))
            case ("not", ("not", part)) if self.chance(0.5):
                return self.condition(part)
            case ("not", part):
                return f"NOT ({self.condition(part)})"
            case ("cmp", op, left, right):
                a, b = self.expression(left), self.expression(right)
                if self.chance(0.4):
                    a, b, op = b, a, _FLIPPED[op]
                return f"{a} {self.either(op, {'<>': '!=', '=': '=='}.get(op, op))} {b}"
            case ("between", x, low, high):
                if self.chance(0.5):
                    return self.condition(("and", [("cmp", ">=", x, low), ("cmp", "<=", x, high)]))
                return f"{self.expression(x)} BETWEEN {self.expression(low)} AND {self.expression(high)}"
            case ("in", x, values):
                if self.chance(0.4):
                    return self.condition(("or", [("cmp", "=", x, value) for value in values]))
                return f"{self.expression(x)} IN ({', '.join(map(self.expression, values))})"
            case ("null", x):
                return self.either(f"{self.expression(x)} IS NULL", f"{self.expression(x)} ISNULL")
            case ("like", x, pattern):
                return f"{self.expression(x)} LIKE '{pattern}'"
            case ("insub", x, block):
                return f"{self.expression(x)} IN ({self.block(block)})"
            case ("exists", block):
                plain = block.group is None and not any(map(_has_aggregate, block.outputs))
                return f"EXISTS ({self.block(block, one=plain)})"
            case _:
                raise AssertionError(condition)


_OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _sources_of(thing: Any) -> Iterator[Source]:
    if isinstance(thing, Source):
        yield thing
    elif isinstance(thing, Block):
        for source in thing.sources:
            yield from _sources_of(source.on)
        for part in (thing.outputs, thing.where, thing.group, thing.having):
            yield from _sources_of(part)
    elif isinstance(thing, (tuple, list)):
        for part in thing:
            yield from _sources_of(part)


def _refers(block: Block, source: Source) -> bool:
    return any(other is source for other in _sources_of(block)) or any(
        other is source for inner in blocks_of(block) for other in _sources_of(inner)
    )


def _has_aggregate(expression: Expression) -> bool:
    if expression[0] == "agg":
        return True
    return any(_has_aggregate(part) for part in expression[1:] if isinstance(part, tuple))


def _has_block(expression: Expression) -> bool:
    return any(True for _ in blocks_of(expression))


def pair(rng: random.Random, *, sound: bool) -> tuple[str, str]:
    """Return a query written twice, or a query and one with a small change."""
    query = Maker(rng).query()
    first = Writer(rng).query(query)
    other = query if sound else mutated(query, rng)
    return first, Writer(rng).query(other)


PAIRS = st.builds(
    lambda seed, sound: (*pair(random.Random(seed), sound=sound), sound),
    st.integers(0, 2**48),
    st.booleans(),
)
"""Two queries, and whether they are made to be equal."""


# Databases.


def schemas() -> dict[str, SqlSchema | None]:
    """Return what may be known: nothing, the columns, or also NOT NULL and keys."""
    strict = {
        table: {
            name: kind + (" NOT NULL" if name in NOT_NULL[table] else "")
            for name, kind in columns.items()
        }
        for table, columns in TABLES.items()
    }
    return {
        "none": None,
        "columns": read_schema(TABLES, None, "sqlite"),
        "keys": read_schema(strict, KEYS, "sqlite"),
    }


def database(rng: random.Random, *, keys: bool) -> sqlite3.Connection:
    """Make a small database with NULLs and duplicates, or one that respects keys and NOT NULL."""
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    for table, columns in TABLES.items():
        connection.execute(f"CREATE TABLE {table} ({', '.join(map(' '.join, columns.items()))})")
        unique = {"users": ("id",), "items": ("oid", "sku")}.get(table, ()) if keys else ()
        names = list(columns)
        seen: set[tuple[Any, ...]] = set()
        rows: list[tuple[Any, ...]] = []
        for _ in range(rng.choice((0, 1, 2, 3, 4, 5))):
            row = tuple(
                None
                if rng.random() < 0.2 and not (keys and name in (*unique, *NOT_NULL[table]))
                else rng.choice(NUMBERS if kind == "int" else TEXTS)
                for name, kind in columns.items()
            )
            key = tuple(row[names.index(name)] for name in unique)
            if not (unique and key in seen):
                rows.append(row)
            seen.add(key)
        if rows and not unique and rng.random() < 0.5:
            rows.append(rng.choice(rows))
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)
    return connection


def contradicts(first: str, second: str, databases: list[sqlite3.Connection]) -> bool:
    """Say whether two queries differ in their rows on one of *databases*."""
    both_ordered = " ORDER BY " in first and " ORDER BY " in second
    for connection in databases:
        rows = [connection.execute(query).fetchall() for query in (first, second)]
        if both_ordered and rows[0] == rows[1]:
            continue
        if both_ordered or Counter(rows[0]) != Counter(rows[1]):
            return True
    return False
