"""
What is wrong with one query, by itself: each finding is shown, by a database or by a proof.

Most are found by one idea.  The query is compared with another reading of itself, which it is
often meant to have: without NULLs, with each row counted once, with numbers compared as numbers.
Where the two differ on a small database, that database is the finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlglot import exp

from scorekit._sql.meaning.columns import known_schema, lacking_names
from scorekit._sql.meaning.names import fold_names
from scorekit._sql.meaning.operands import Planner, lacks_function, not_run
from scorekit._sql.meaning.question import Question
from scorekit._sql.meaning.read import Names, read_names
from scorekit._sql.meaning.tree import (
    Column,
    Query,
    Scalar,
    Select,
    Source,
    conjuncts,
    found_in,
    free_sources,
    local_sources,
)
from scorekit._sql.meaning.unsettled import bare_columns
from scorekit._sql.prove.rule import View
from scorekit._sql.prove.scope import Scope, UnsupportedError, derived_in
from scorekit._sql.refute.choices import NO_CHOICE, ReadingOrder, Ties
from scorekit._sql.refute.expressions import UnfaithfulError
from scorekit._sql.refute.reading import Pair, check_short, read_pair
from scorekit._sql.refute.search import Difference
from scorekit._sql.refute.sqlite import InSQLite, refute
from scorekit._sql.schema.tables import Schema, SqlSchema
from scorekit._sql.text.parsing import is_explain, is_query, parse, refused_by_all
from scorekit._sql.text.prepared import message_of
from scorekit.errors import SqlError, one_line

MAX_QUESTIONS: Final = 12
"""Parts of one kind that are looked into in one query."""

_SHOWN: Final = 80


Kind: TypeAlias = Literal[
    "does_not_run",
    "ties_at_limit",
    "reading_order",
    "constant_condition",
    "not_in_null",
    "fan_out",
    "text_compared",
    "integer_division",
    "counts_all",
    "null_first",
    "outer_join_undone",
    "join_on_one_table",
]


class Found(NamedTuple):
    """Something that is wrong with a query."""

    kind: Kind
    clause: str
    sentence: str
    difference: Difference | None = None
    """A database with two results: what the query returns, and what it returns otherwise."""
    assumptions: tuple[str, ...] = ()
    """What it rests on, where no database shows it."""


class Audited(NamedTuple):
    """What was found, and what could not be looked into."""

    found: tuple[Found, ...]
    undecided: dict[str, str]
    """Why, by kind."""
    unread: tuple[str, ...] = ()
    """What of the schema could not be read."""
    is_refused: bool = False
    """Whether its database does not run the text, which is then all that was found."""


def audit(
    sql: str,
    schema: Schema | None,
    dialect: str | None,
    n_databases: int,
    *,
    only_built_in: bool = False,
) -> Audited:
    """Return what is wrong with a query, which is read as SQLite's where no dialect is named."""
    why = refused(sql, schema, dialect, only_built_in=only_built_in)
    if why is not None:
        return Audited((Found("does_not_run", "", why),), {}, is_refused=True)
    known = known_schema(schema, dialect)
    found = _audited(sql, known, dialect or "sqlite", n_databases)
    return found if known is None else found._replace(unread=known.unread)


def refused(
    sql: str, schema: Schema | None, dialect: str | None, *, only_built_in: bool = False
) -> str | None:
    """
    Return why a database of a dialect does not run a text as one query, None if it may.

    With *only_built_in*, a function that the database does not have itself is a reason, too.
    """
    known = known_schema(schema, dialect)
    why = does_not_run(sql, known, dialect)
    if why is None and is_query(sql, dialect):
        lacking = lacking_names(sql, schema, dialect).error
        why = not_run(sql, dialect, known) if lacking is None else lacking[1]
    if why is None and only_built_in:
        why = lacks_function(sql, dialect)
    return why


def _audited(sql: str, schema: SqlSchema | None, dialect: str, n_databases: int) -> Audited:
    schema = schema and schema.with_unique_targets()
    try:
        check_short((sql,))
        pair = read_pair((sql, sql), dialect, schema)
        fold_names(pair[:2], schema, dialect)
    except UnfaithfulError as error:
        reason = str(error).replace("the first ", "the ")
        return Audited((), dict.fromkeys(_CHECKS, reason))
    audited = _Audit(pair, schema, dialect, n_databases)
    found: list[Found] = []
    for kind, check in _CHECKS.items():
        try:
            for i, one in enumerate(check(audited)):
                found.append(one)
                if i == MAX_QUESTIONS:
                    break
        except (UnfaithfulError, UnsupportedError, RecursionError) as error:
            audited.undecided.setdefault(kind, one_line(str(error)))
    settled = {one.kind for one in found}
    left = {kind: why for kind, why in audited.undecided.items() if kind not in settled}
    return Audited(tuple(found), left)


class _Audit:
    """One query, and what is asked of it."""

    def __init__(
        self, pair: Pair, schema: SqlSchema | None, dialect: str, n_databases: int
    ) -> None:
        self.n_databases = n_databases
        self.tree, self.schema, self.dialect = pair.first, schema, dialect
        self.planner = Planner(schema, dialect)
        self.names: Names = read_names(self.tree, self.planner)
        self.undecided: dict[str, str] = {}

    def differs(
        self, kind: str, other: exp.Expr | None = None, backend: type[InSQLite] | None = None
    ) -> Difference | None:
        """Return a database on which the query differs from *other*, or as *backend* says."""
        found = refute(
            {self.dialect: Pair(self.tree, self.tree if other is None else other, self.dialect)},
            Question(
                self.schema,
                self.dialect,
                row_order="auto" if other is not None else "ignored",
                n_databases=self.n_databases * (1 + (backend is Ties)),
            ),
            backend=backend,
        )
        if isinstance(found, Difference):
            return found
        if found.reason != NO_CHOICE and not found.n_compared:
            self.undecided.setdefault(kind, one_line(found.reason))
        return None

    def with_part(self, part: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """Return the query with one part changed."""
        part.meta[_MARK] = True
        copied = self.tree.copy()
        del part.meta[_MARK]
        same = next(node for node in copied.walk() if node.meta.get(_MARK))
        del same.meta[_MARK]
        changed = change(same.copy())
        if same is copied:
            return changed
        same.replace(changed)
        return copied

    def written(self, part: exp.Expr) -> str:
        """Return a part as the dialect writes it, cut."""
        return one_line(part.sql(self.dialect, comments=False), _SHOWN)

    def block(self, node: exp.Expr) -> Select | None:
        """Return what the SELECT around a part means."""
        select = node.find_ancestor(exp.Select)
        return None if select is None else self.names.selects.get(id(select))


_MARK: Final = "scorekit_audited"
_CLAUSES: Final[dict[type[exp.Expr], str]] = {
    exp.Where: "WHERE",
    exp.Join: "FROM",
    exp.From: "FROM",
    exp.Group: "GROUP BY",
    exp.Having: "HAVING",
    exp.Order: "ORDER BY",
    exp.Limit: "LIMIT",
    exp.Offset: "LIMIT",
}


def _clause(node: exp.Expr) -> str:
    """Return the clause that a part stands in."""
    around = node.find_ancestor(*_CLAUSES, exp.Select)
    return "SELECT" if around is None else _CLAUSES.get(type(around), "SELECT")


# It does not run.


def does_not_run(sql: str, schema: SqlSchema | None, dialect: str | None) -> str | None:
    """
    Return why the database of a dialect does not run a text as one query, None if it may.

    What the parser cannot read, though the database may take it, is no reason.
    """
    try:
        n = len(parse(sql, dialect).statements)
    except SqlError as error:
        return error.message if error.kind in _FAULTS else None
    if n > 1:
        return holding(n)
    if dialect is None:
        return refused_by_all(sql)
    return _refused_by_sqlite(sql, schema) if dialect == "sqlite" else None


_FAULTS: Final = ("empty", "not_sql", "parse")
"""Kinds of errors of a text, not of its reader."""


def holding(n_statements: int) -> str:
    """Return why a text of several statements is none that a database answers."""
    return f"the text holds {n_statements} statements"


_NAMING: Final = re.compile(r"no such (?:table|column)|ambiguous column name")
_REFUSING: Final = re.compile(
    r"no such (?!function)|ambiguous|misuse of|sub-select returns|SELECTs to the left and right"
    r"|HAVING clause|a GROUP BY clause is required"
    r"|term out of range|aggregate functions are not allowed|row value misused"
)


def _refused_by_sqlite(sql: str, schema: SqlSchema | None) -> str | None:
    """Return why SQLite cannot prepare a query over its tables, in newer versions neither."""
    if "```" in sql or is_explain(sql):
        return None
    known: Mapping[str, Sequence[Any]] = {} if schema is None else schema.tables
    tables = {
        name.rpartition(".")[2]: [column.name for column in columns]
        for name, columns in known.items()
        if not name.startswith("sqlite_")  # it is there
    }
    message = message_of(sql, tables)
    if message is None or not _REFUSING.search(message):
        return None
    is_known = schema is not None and schema.complete and not schema.unclear
    # SQLite folds no letter beyond ASCII, and the schema has all names in small letters
    unsure = _NAMING.match(message) and not (is_known and message.isascii())
    return None if unsure else f"SQLite refuses it: {one_line(message)}"


# What leaves a choice of results.


def _ties_at_limit(audited: _Audit) -> Iterator[Found]:
    limits = [
        node for node in audited.tree.find_all(exp.Limit, exp.Fetch, exp.Offset) if node.parent
    ]
    if not limits:
        return
    found = audited.differs("ties_at_limit", backend=Ties)
    if found is not None:
        order = limits[0].parent.args.get("order") if limits[0].parent is not None else None
        why = "LIMIT without ORDER BY keeps any rows"
        if order is not None:
            why = f"rows that tie in {audited.written(order).strip()} leave LIMIT a choice"
        yield Found("ties_at_limit", "LIMIT", f"{why}: both results are right", found)


def _reading_order(audited: _Audit) -> Iterator[Found]:
    joined = list(audited.tree.find_all(exp.GroupConcat, exp.ArrayAgg))
    if any(node.find(exp.Order) or node.find_ancestor(exp.WithinGroup) for node in joined):
        audited.undecided["reading_order"] = "an aggregate has an order of its own"
        return
    found = audited.differs("reading_order", backend=ReadingOrder)
    if found is not None:
        what, clause = _choosing(audited, joined)
        yield Found("reading_order", clause, f"{what} depends on the order of reading", found)


def _choosing(audited: _Audit, joined: Sequence[exp.Expr]) -> tuple[str, str]:
    """Return what in a query shows a value of any row, and its clause."""
    for node in audited.tree.find_all(exp.Column, exp.Star):
        block = audited.block(node)
        bare = [] if block is None else bare_columns(block)
        shown = (
            isinstance(node.parent, exp.Select)
            if isinstance(node, exp.Star)
            else (audited.names.value(node) in bare and node.find_ancestor(exp.AggFunc) is None)
        )
        if bare and shown:
            what = "a column of *" if isinstance(node, exp.Star) else audited.written(node)
            return f"{what}, which is neither grouped nor aggregated,", _clause(node)
    if joined:
        return f"the text of {audited.written(joined[0])}", _clause(joined[0])
    return "the value of a window whose order leaves ties", "SELECT"


# What is true or false whatever the tables hold.

_PREDICATES: Final = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.Between, exp.In, exp.Like,
)  # fmt: skip


def _constant_condition(audited: _Audit) -> Iterator[Found]:
    kind: Kind = "constant_condition"
    scope = Scope(audited.schema, audited.dialect)
    reported: set[int] = set()
    for part in audited.tree.find_all(*_PREDICATES):
        node = part.parent if isinstance(part.parent, exp.Not) else part
        block, value = audited.block(node), audited.names.value(node)
        if block is None or value is None or node.find(exp.Column) is None:
            continue
        if node.find(exp.Query, exp.AggFunc) or not _is_of_tables(block, value):
            continue
        view = View(scope)
        never = view.rows(block.tables, (value,)).none()
        if never or view.rows(block.tables).implies(value):
            sentence = f"{audited.written(node)} is {'never' if never else 'always'} true"
            yield Found(kind, _clause(node), sentence, assumptions=tuple(sorted(view.rests)))
            reported.add(id(block))
    for where in audited.tree.find_all(exp.Where):
        block = audited.block(where)
        if block is None or id(block) in reported or not _is_of_tables(block):
            continue
        view = View(scope)
        if view.rows(block.tables, _plain(block)).none():
            sentence = f"no row meets all of {audited.written(where.this)}"
            yield Found(kind, "WHERE", sentence, assumptions=tuple(sorted(view.rests)))


def _is_of_tables(block: Select, *values: Scalar) -> bool:
    """Say whether expressions are of the rows of a SELECT alone, and these of base tables."""
    own = {*local_sources(block.tables)}
    of_rows = all(free_sources(value) <= own for value in (*values, *_plain(block)))
    return of_rows and not any(derived_in(block.tables))


def _plain(block: Select) -> list[Scalar]:
    """Return the conditions of a WHERE that hold no subquery."""
    return [one for one in conjuncts(block.where) if not any(found_in(one, Query))]


# What differs from another reading of the query.


def _not_in_null(audited: _Audit) -> Iterator[Found]:
    for node in audited.tree.find_all(exp.Not):
        among = node.this.unnest()
        query = among.args.get("query") if isinstance(among, exp.In) else None
        if query is None or _without_nulls(query.copy()) is None:
            continue
        other = audited.with_part(query, lambda part: _without_nulls(part) or part)
        found = audited.differs("not_in_null", other)
        if found is not None:
            shown = f"{audited.written(among.this)} NOT IN ({audited.written(query.unnest())})"
            sentence = f"{shown} is true of no row once the subquery has a NULL"
            yield Found("not_in_null", _clause(node), sentence, found)


def _without_nulls(query: exp.Expr) -> exp.Expr | None:
    """Return a subquery of one column without its NULLs, None where that is not simple."""
    inner = query.unnest() if isinstance(query, exp.Subquery) else query
    arms = [inner]
    while any(isinstance(arm, exp.SetOperation) for arm in arms):
        arms = [
            one
            for arm in arms
            for one in (
                (arm.this.unnest(), arm.expression.unnest())
                if isinstance(arm, exp.SetOperation)
                else (arm,)
            )
        ]
    for arm in arms:
        if not isinstance(arm, exp.Select) or len(arm.expressions) != 1 or arm.is_star:
            return None
        if arm.args.get("limit") or arm.args.get("offset"):
            return None
        shown = arm.expressions[0].unalias()
        there = exp.Not(this=exp.Is(this=shown.copy(), expression=exp.Null()))
        grouped = shown.find(exp.AggFunc) is not None
        if shown.find(exp.Window, exp.Query) is not None:
            return None
        (arm.having if grouped else arm.where)(there, copy=False)
    return query


_WHOLE_DIVISION: Final = frozenset({"sqlite", "postgres"})


def _integer_division(audited: _Audit) -> Iterator[Found]:
    if audited.dialect not in _WHOLE_DIVISION:
        return
    for node in audited.tree.find_all(exp.Div):
        if _is_cut_on_purpose(node):
            continue
        kinds = [
            audited.planner.kind(value)
            for part in (node.this, node.expression)
            if (value := audited.names.value(part.unnest())) is not None
        ]
        if "real" in kinds:
            continue
        other = audited.with_part(node, _fraction)
        found = audited.differs("integer_division", other)
        if found is not None:
            sentence = f"{audited.written(node)} divides whole numbers and drops the fraction"
            yield Found("integer_division", _clause(node), sentence, found)


def _fraction(node: exp.Expr) -> exp.Expr:
    top = exp.paren(
        exp.Mul(this=exp.paren(node.this, copy=False), expression=_ONE.copy()), copy=False
    )
    node.set("this", top)
    return node


_ONE: Final = exp.Literal.number("1.0")


def _is_cut_on_purpose(node: exp.Expr) -> bool:
    """Say whether a quotient is made whole, or multiplied by what it was divided by."""
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if isinstance(parent, exp.Mul):
        return node.expression in (parent.this.unnest(), parent.expression.unnest())
    whole = isinstance(parent, exp.Cast) and parent.to.is_type(*exp.DataType.INTEGER_TYPES)
    return whole or isinstance(parent, exp.Floor | exp.Trunc)


_ORDERING = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_TEXTUAL = (
    exp.TimeToStr, exp.Substring, exp.Lower, exp.Upper, exp.Trim, exp.DPipe, exp.Concat,
    exp.Replace,
)  # fmt: skip
_SHORT_NUMERAL: Final = re.compile(r"[-+]?(?:[1-9]\d{0,2}|0)(?:\.\d+)?")
"""What nobody writes of a date or a code, which are compared as texts rightly."""


def _text_compared(audited: _Audit) -> Iterator[Found]:
    if audited.dialect != "sqlite":
        return
    for node in audited.tree.find_all(*_ORDERING, exp.EQ, exp.NEQ):
        keys = ("this", "low", "high") if isinstance(node, exp.Between) else ("this", "expression")
        parts = [node.args[key].unnest() for key in keys]
        for i, part in enumerate(parts):
            others = [other for j, other in enumerate(parts) if j != i]
            if not _is_compared_as_text(audited, node, part, others):
                continue
            other = audited.with_part(node, partial(_as_numbers, i=i))
            found = audited.differs("text_compared", other)
            if found is not None:
                sentence = f"{audited.written(node)} compares numbers as texts"
                yield Found("text_compared", _clause(node), sentence, found)
            break


def _is_compared_as_text(
    audited: _Audit, node: exp.Expr, part: exp.Expr, others: Sequence[exp.Expr]
) -> bool:
    """Say whether a text is compared with what only numbers are."""
    numbers = [one for one in others if isinstance(one, exp.Literal | exp.Neg)]
    if not numbers or len(numbers) < len(others):
        return False
    written = [one for one in numbers if isinstance(one, exp.Literal) and one.is_string]
    plain = len(written) < len(numbers)
    if isinstance(part, _TEXTUAL):
        short = all(_SHORT_NUMERAL.fullmatch(one.name) for one in written)
        return plain or (isinstance(node, _ORDERING) and short)
    value = audited.names.value(part)
    is_text = value is not None and audited.planner.kind(value) == "text"
    if not is_text or not isinstance(node, _ORDERING):
        return False
    return plain or all(_SHORT_NUMERAL.fullmatch(one.name) for one in written)


def _text_sorted(audited: _Audit) -> Iterator[Found]:
    """Find texts that are sorted, or under MAX or MIN, and which the query takes for numbers."""
    for node in audited.tree.find_all(exp.Ordered, exp.Max, exp.Min):
        column = node.this.unnest()
        value = audited.names.value(column) if isinstance(column, exp.Column) else None
        if value is None or audited.planner.kind(value) != "text":
            continue
        why = "its name says" if _OF_AMOUNTS.search(column.name) else ""
        others = audited.tree.find_all(exp.Column)
        if any(_is_computed(one) for one in others if audited.names.value(one) == value):
            why = "the query computes with it"
        if why:
            sentence = f"{audited.written(node).strip()} takes numbers in the order of texts"
            yield Found(
                "text_compared",
                _clause(node.this),
                sentence,
                assumptions=(f"{audited.written(column)} holds numbers, as {why}",),
            )


_OF_AMOUNTS: Final = re.compile(
    r"(?i)(?:^|[_ ])(?:amount|price|cost|salary|qty|quantity|weight|height|budget|revenue|balance"
    r"|population|percent(?:age)?|points?|score|votes?|salaries|prices|costs)(?:$|[_ ])"
)


def _is_computed(column: exp.Expr) -> bool:
    """Say whether a query computes with a column as with a number."""
    around = column.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    if isinstance(around, exp.Cast):
        return around.to.is_type(*exp.DataType.NUMERIC_TYPES)
    return isinstance(
        around, exp.Sum | exp.Avg | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Abs
    )


def _texts(audited: _Audit) -> Iterator[Found]:
    yield from _text_compared(audited)
    yield from _text_sorted(audited)


def _as_numbers(node: exp.Expr, i: int) -> exp.Expr:
    """Compare a text, the part of that place, with numbers as the number that it spells."""
    keys = ("this", "low", "high") if isinstance(node, exp.Between) else ("this", "expression")
    as_text = node.copy()
    text = node.args[keys[i]].unnest()
    spelled = [exp.cast(exp.cast(text.copy(), kind), "TEXT") for kind in ("INTEGER", "REAL")]
    for j, key in enumerate(keys):
        part = node.args[key].unnest()
        if j == i:
            node.set(key, exp.cast(text.copy(), "REAL"))
        elif isinstance(part, exp.Literal) and part.is_string:
            node.set(key, exp.Literal.number(part.name))
    is_number = exp.In(this=text.copy(), expressions=spelled)
    return exp.Case(ifs=[exp.If(this=is_number, true=node)], default=as_text)


# Slips of the pen.


def _counts_all(audited: _Audit) -> Iterator[Found]:
    """Find COUNT of a CASE whose ELSE is a value, which is counted like the others."""
    for node in audited.tree.find_all(exp.Count):
        case = node.this.unnest() if node.this is not None else None
        if not isinstance(case, exp.Case):
            continue
        last = case.args.get("default")
        if not isinstance(last, exp.Literal) or any(
            not isinstance(one.args["true"], exp.Literal) for one in case.args["ifs"]
        ):
            continue
        other = audited.with_part(case, _without_else)
        found = audited.differs("counts_all", other)
        if found is not None:
            sentence = (
                f"{audited.written(node)} counts each row: {audited.written(last)} is a value"
            )
            yield Found("counts_all", _clause(node), sentence, found)


def _without_else(case: exp.Expr) -> exp.Expr:
    case.set("default", None)
    return case


def _null_first(audited: _Audit) -> Iterator[Found]:
    """Find a LIMIT behind an order in which NULL comes first."""
    for limit in audited.tree.find_all(exp.Limit, exp.Fetch):
        select = limit.parent
        if not isinstance(select, exp.Select):
            continue
        order = select.args.get("order")
        first = order.expressions[0] if order is not None else None
        if first is None or not first.args.get("nulls_first"):
            continue
        key = first.this
        if not isinstance(key, exp.Column) or audited.names.value(key) is None:
            continue
        other = audited.with_part(select, partial(_only_known, key=key))
        found = audited.differs("null_first", other)
        if found is not None:
            sentence = f"a NULL of {audited.written(key)} comes first, and LIMIT keeps it"
            yield Found("null_first", "LIMIT", sentence, found)


def _only_known(select: exp.Expr, key: exp.Expr) -> exp.Expr:
    assert isinstance(select, exp.Select)  # noqa: S101 - for the type checkers
    there = exp.Not(this=exp.Is(this=key.copy(), expression=exp.Null()))
    return select.where(there, copy=False)


def _outer_join_undone(audited: _Audit) -> Iterator[Found]:
    """Find conditions in WHERE that no row meets for which a LEFT JOIN found nothing."""
    for select in audited.tree.find_all(exp.Select):
        for i, join in enumerate(select.args.get("joins") or ()):
            name = join.alias_or_name
            parts = enumerate(_conditions(select))
            j = next((j for j, part in parts if _is_null_rejecting(part, name)), None)
            if join.side != "LEFT" or join.args.get("on") is None or j is None:
                continue
            other = audited.with_part(select, partial(_in_condition, i=i, j=j))
            found = audited.differs("outer_join_undone", other)
            if found is not None:
                shown = audited.written(_conditions(select)[j])
                sentence = f"{shown} drops the rows that LEFT JOIN {name} keeps"
                yield Found("outer_join_undone", "WHERE", sentence, found)


def _conditions(select: exp.Expr) -> list[exp.Expr]:
    """Return what AND joins in the WHERE of a SELECT."""
    where = select.args.get("where")
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def _is_null_rejecting(part: exp.Expr, alias: str) -> bool:
    """Say whether a condition compares a column of a table, and so is never true of its NULL."""
    if not isinstance(part, _PREDICATES) or isinstance(part, exp.Is):
        return False
    sides = [part.this.unnest(), *([part.expression.unnest()] if part.expression else ())]
    return any(isinstance(one, exp.Column) and one.table == alias for one in sides)


def _in_condition(select: exp.Expr, i: int, j: int) -> exp.Expr:
    """Move the condition of that place from WHERE to the join of that place."""
    join, parts = select.args["joins"][i], _conditions(select)
    join.set("on", exp.and_(join.args["on"], parts.pop(j), copy=True))
    select.set("where", exp.Where(this=exp.and_(*parts, copy=True)) if parts else None)
    return select


def _join_on_one_table(audited: _Audit) -> Iterator[Found]:
    """Find joins whose condition, like all of WHERE, names the columns of one table only."""
    for join in audited.tree.find_all(exp.Join):
        on, block = join.args.get("on"), audited.block(join)
        if on is None or block is None or not isinstance(join.this, exp.Table):
            continue
        if on.find(exp.Query) is not None:
            continue
        values = [audited.names.value(column) for column in on.find_all(exp.Column)]
        sources = {one.source for one in values if isinstance(one, Column)}
        aliases, joined = audited.names.aliases, join.alias_or_name
        own = [one for one in local_sources(block.tables) if aliases.get(one) == joined]
        if None in values or len(sources) != 1 or len(own) != 1:
            continue
        if any(len(one.sources) > 1 and own[0] in one.sources for one in conjuncts(block.where)):
            continue
        named = aliases[next(iter(sources))]
        sentence = f"{audited.written(on)} names {named} alone, so that nothing links {joined}"
        yield Found("join_on_one_table", "FROM", sentence)


# Aggregates over rows that a join has multiplied.


def _fan_out(audited: _Audit) -> Iterator[Found]:
    for select in audited.tree.find_all(exp.Select):
        block = audited.names.selects.get(id(select))
        if block is None or not select.args.get("joins"):
            continue
        for sources, counted in _multiplied(audited, select, block).items():
            other = _each_once(audited, select, block, sources)
            shown = " and in ".join(dict.fromkeys(map(audited.written, counted)))
            if other is None:
                why = f"{shown} is part of groups, or of a term, with aggregates of other rows"
                audited.undecided.setdefault("fan_out", why)
            found = None if other is None else audited.differs("fan_out", other)
            if found is not None:
                named = [one.table for one in counted[0].find_all(exp.Column) if one.table]
                named = named or [audited.names.aliases[one] for one in sources]
                row = f"a row of {' and '.join(dict.fromkeys(named))}"
                sentence = f"{row} counts in {shown} once for each row it is joined with"
                yield Found("fan_out", "SELECT", sentence, found)


_OF_GROUPS: Final = ("expressions", "group", "having", "order")
"""The clauses of a SELECT that see its groups."""

_SourceSet: TypeAlias = frozenset[Source]


def _over_groups(select: exp.Expr) -> list[exp.Expr]:
    """Return what the clauses hold that see the groups of a SELECT."""
    held: list[Any] = [select.args.get(name) for name in _OF_GROUPS[1:]]
    return [*select.expressions, *filter(None, held)]


def _multiplied(
    audited: _Audit, select: exp.Select, block: Select
) -> dict[_SourceSet, list[exp.Expr]]:
    """Return the aggregates that take rows which a join may repeat, by the tables of these."""
    found: dict[_SourceSet, list[exp.Expr]] = {}
    wrong: set[_SourceSet] = set()
    scope = Scope(audited.schema, audited.dialect)
    for node in (one for part in _over_groups(select) for one in part.find_all(exp.AggFunc)):
        if not isinstance(node, exp.Sum | exp.Avg | exp.Count):
            continue
        if isinstance(node.this, exp.Distinct | exp.Star):
            continue
        value = audited.names.value(node.this)
        sources = frozenset[Source]() if value is None else value.sources
        found.setdefault(sources, []).append(node)
        if isinstance(node, exp.Sum) and _is_count(node.this):
            continue
        why = None
        if value is None or any(found_in(value, Query)):
            why = f"what {audited.written(node)} takes is not known"
        elif not _is_of_tables(block) or free_sources(block):
            why = f"the rows of {audited.written(node)} come from a subquery, or depend on one"
        elif lacking := [one for one in sources if not scope.keys(one)]:
            why = f"no key of {audited.names.aliases[lacking[0]]} is known"
        elif sources and _is_repeated(scope, block, sources, value, node):
            wrong.add(sources)
        if why is not None:
            audited.undecided.setdefault("fan_out", why)
    return {sources: nodes for sources, nodes in found.items() if sources in wrong}


def _is_repeated(
    scope: Scope, block: Select, sources: _SourceSet, value: Scalar, node: exp.Expr
) -> bool:
    """Say whether an aggregate means rows of some tables, and a join may repeat these."""
    own = tuple(_key_of(scope, sources))
    rows = View(scope).rows(block.tables, _plain(block))
    if rows.determined(own).sources >= {*local_sources(block.tables)}:
        return False
    # a row is what COUNT counts if it names the key, and other tables only say which rows
    says = any(sources.isdisjoint(one.sources) for one in _plain(block) if len(one.sources) == 1)
    by_key = says and len(own) == 1 and own[0] not in (block.keys or ())
    return not isinstance(node, exp.Count) or (by_key and value in own)


def _key_of(scope: Scope, sources: _SourceSet) -> list[Column]:
    """Return what tells joined rows of some tables apart."""
    ordered = sorted(sources, key=str)
    return [Column(source, name) for source in ordered for name in scope.keys(source)[0]]


def _is_count(value: exp.Expr) -> bool:
    """Say whether a sum of values counts the rows of a join, as SUM(CASE ... THEN 1 END) does."""
    if isinstance(value, exp.Case | exp.If):
        ifs = value.args["ifs"] if isinstance(value, exp.Case) else [value]
        chosen = [one.args["true"] for one in ifs]
        last = value.args.get("default" if isinstance(value, exp.Case) else "false")
        return all(
            isinstance(one, exp.Literal | exp.Null) for one in (*chosen, last or exp.Null())
        )
    return isinstance(value, exp.Predicate | exp.Literal)


def _each_once(
    audited: _Audit, select: exp.Select, block: Select, sources: _SourceSet
) -> exp.Expr | None:
    """Return the query with each row of some tables once in the groups of a SELECT, or None."""
    parts = _over_groups(select)
    key = _key_of(Scope(audited.schema, audited.dialect), sources)
    over = [_is_over(audited, part, block, sources) for part in parts]
    if all(over):
        return audited.with_part(select, lambda same: _once(audited, same, parts, key))

    def apart(same: exp.Expr) -> exp.Expr:
        """Return the only row of a SELECT with each aggregate on its own."""
        outputs: list[exp.Expr] = []
        for part, is_over, item in zip(parts, over, same.expressions, strict=True):
            one = item.unalias()
            if part.find(exp.AggFunc) is not None:
                one, alone = same.copy(), one
                one.set("expressions", [alone.copy()])
                one = exp.Subquery(this=_once(audited, one, [part], key) if is_over else one)
            outputs.append(exp.alias_(one, item.alias or item.output_name))
        return exp.Select(expressions=outputs)

    is_one_row = len(parts) == len(select.expressions)
    return audited.with_part(select, apart) if is_one_row and any(over) else None


def _is_over(audited: _Audit, part: exp.Expr, block: Select, sources: _SourceSet) -> bool:
    """Say whether a part of a SELECT shows groups, and takes no rows but those of some tables."""
    if part.find(exp.Query, exp.Window, exp.Star, exp.Distinct) is not None:
        return False
    own = {*local_sources(block.tables)}
    values = [audited.names.value(one) for one in part.find_all(exp.Column)]
    taken = [audited.names.value(one.this) for one in part.find_all(exp.AggFunc)]
    return all(v is not None and v.sources == sources for v in taken) and all(
        v is None or (isinstance(v, Column) and v.sources <= own) for v in values
    )


def _once(
    audited: _Audit, same: exp.Expr, parts: Sequence[exp.Expr], key: Sequence[Column]
) -> exp.Expr:
    """Return a SELECT, of whose *parts* it is a copy, over rows that differ in a key."""
    shown: dict[Column, exp.Expr] = {}
    for column in key:
        alias = exp.to_identifier(audited.names.aliases[column.source], quoted=True)
        shown[column] = exp.column(exp.to_identifier(column.name, quoted=True), alias)
    for item in list(same.expressions):
        if isinstance(item, exp.Column):
            item.replace(exp.alias_(item.copy(), item.this.copy()))
    nodes = [node for part in _over_groups(same) for node in part.find_all(exp.Column)]
    named = [node for part in parts for node in part.find_all(exp.Column)]
    for node, value in zip(nodes, map(audited.names.value, named), strict=True):
        if isinstance(value, Column):
            shown.setdefault(value, node.copy())
            node.replace(exp.column(f"c{[*shown].index(value)}", _ROWS))
    outputs = [exp.alias_(node, f"c{i}") for i, node in enumerate(shown.values())]
    rows = exp.Select(expressions=outputs, distinct=exp.Distinct())
    for name in ("from_", "joins", "where"):
        rows.set(name, same.args.get(name))
        same.set(name, None)
    same.set("from_", exp.From(this=exp.Subquery(this=rows, alias=exp.TableAlias(this=_ROWS))))
    return same


_ROWS: Final = exp.to_identifier("rows_once")


_CHECKS: Final[dict[str, Callable[[_Audit], Iterator[Found]]]] = {
    "ties_at_limit": _ties_at_limit,
    "reading_order": _reading_order,
    "constant_condition": _constant_condition,
    "not_in_null": _not_in_null,
    "fan_out": _fan_out,
    "text_compared": _texts,
    "integer_division": _integer_division,
    "counts_all": _counts_all,
    "null_first": _null_first,
    "outer_join_undone": _outer_join_undone,
    "join_on_one_table": _join_on_one_table,
}
