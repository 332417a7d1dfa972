"""
Each rule of the prover by itself: trees on which it fires mean the same before and after.

Queries are rewritten by all rules, and where the rule in question fires, both trees are run by the
interpreter on databases that obey what the rule says that it rests on, and nothing else.  The
queries are those of the tests of proofs, some for single rules, and many that differ from them in
a column, a literal, a condition or a keyword: near misses of what the rules look for.
"""

# ruff: noqa: SLF001 - it looks into what a rule is asked

from __future__ import annotations

import contextlib
import datetime as dt
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import attrs

from benchmarks.generators.stored_pairs import DIFFERENT, EQUAL
from benchmarks.generators.stored_pairs import STEPS_SCHEMA as STEPS
from benchmarks.oracles.tree_interpreter import Interpreter, MeaninglessError, TooManyError
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import read_query
from scorekit._sql.meaning.syntax import UnreadError
from scorekit._sql.meaning.tree import (
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
    Star,
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
from scorekit._sql.prove.matching import Matcher
from scorekit._sql.prove.normal import Arm, As, FullJoin, LeftJoins, Sorted
from scorekit._sql.prove.rewriting import Rewriting
from scorekit._sql.prove.rule import Rule, View
from scorekit._sql.prove.rules.joins import flat_joins
from scorekit._sql.prove.rules.order import RULES, USUAL
from scorekit._sql.prove.scope import Scope, Steps, UnsupportedError
from scorekit._sql.prove.search import normal_form
from scorekit._sql.schema.tables import SqlSchema, read_schema
from scorekit._sql.text.parsing import parse
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
CREATE TABLE v (boss INT, t TEXT REFERENCES s (t), u TEXT NOT NULL, x NUMERIC, y DOUBLE PRECISION,
                z DOUBLE PRECISION,
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
SAMPLES_FILE = Path(__file__).parents[2] / "tests" / "data" / "rules.txt"
MUTANTS = 80
"""Queries that differ a little from those for a rule, at most five from each in a dialect."""
OTHERS = 25
"""Queries of the tests of proofs that are for other rules."""
SAMPLES = 80
"""Times that a rule fires that are looked at."""
DATABASES = 14

Database: TypeAlias = dict[str, tuple[list[str], list[tuple[Any, ...]]]]


def _queries() -> dict[tuple[str, str], list[str]]:
    """Return the queries for single rules, by rule and by what must come of them."""
    found = defaultdict[tuple[str, str], list[str]](list)
    name = ""
    for line in SAMPLES_FILE.read_text().splitlines():
        if line.startswith("= "):
            name = line[2:]
        elif line and not line.startswith("#"):
            kind, _, query = line.partition(" ")
            found[name, kind].append(query.strip())
    return found


QUERIES = _queries()


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
        **dict.fromkeys(QUERIES[name, "fires"], True),
        **dict.fromkeys(QUERIES[name, "near"], False),
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
            for rules in (USUAL if rule in USUAL else RULES, (flat_joins, rule)):
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
    for kind, wanted in (("same", True), ("apart", False)):
        for first, _, second in (query.partition(" ==> ") for query in QUERIES[name, kind]):
            yield (first, second), wanted


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
    r"|(?:\w+\.\w+|a column of a derived table) holds "
    r"(?:numbers|whole numbers|text|ISO (?:dates|times))"
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
    """Return all results that a query allows, each row once where that is as good."""
    query = replaced(query, around)
    if not one.repeats:
        rows = Source("rows")
        query = Select((Derived(rows, query),), outputs=(Star(rows),), distinct=True)
    allowed = Interpreter(data, engine).allowed(query)
    flat = {tuple(row for group in result for row in group) for result in allowed}
    return frozenset(frozenset(Counter(rows).items()) for rows in flat)


def surroundings(
    queries: Sequence[Query], data: Database, one: Fired, engine: str, rng: random.Random
) -> dict[Column, Scalar] | None:
    """Return what the columns of queries around are: those of a row, or NULLs, or None."""
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
    rules: Sequence[Rule] = (),
    known: frozenset[object] = frozenset(),
) -> Iterator[str]:
    """
    Yield what is wrong with one of several rules, but for what is *known* to be right.

    A rule that is tried behind the usual ones stands among all *rules*, others among the usual.
    """
    found = fired(rule, where)
    rules = rules or (USUAL if rule in USUAL else RULES)
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
