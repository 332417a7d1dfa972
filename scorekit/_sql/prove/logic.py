"""
What follows from conditions, in SQL's logic of three values.

A condition is true, false or NULL.  "p is true" and "p is NULL" are statements of classical logic,
made of comparisons that hold, values that are NULL and tests that are not looked into.  What
follows is found by search over these: each OR is split, and each branch checked by an order of
values and by congruence (equal values give equal results).

An answer that is yes comes with what it rests on: the constraints by which values are never NULL
that its conditions or its question name.  An answer that is no is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, Literal, TypeAlias, cast

import attrs

from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    TRUE,
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Derived,
    Function,
    InQuery,
    IsNull,
    Like,
    Negative,
    Node,
    Not,
    Or,
    Query,
    Scalar,
    Scan,
    Source,
    integer,
    replaced,
    rewritten,
    walk,
)
from scorekit._sql.meaning.tree import Literal as Constant
from scorekit._sql.prove.arithmetic import Numbers
from scorekit._sql.prove.normal import As
from scorekit._sql.prove.order import TOUCHING, ZERO, Bound, Number, Order
from scorekit._sql.prove.scalars import (
    NOUGHT,
    TRUE_BOOLEANS,
    Apart,
    Scalars,
    bare,
    in_order,
    is_boolean,
    is_literal,
    number_of,
)
from scorekit._sql.prove.scope import NOTHING, Premises, Scope, every, never_null_alone

Mode: TypeAlias = Literal["value", "bool", "filter"]
"""What matters of a result: its value, its truth with NULL apart, or only whether it is true."""

MAX_CASES: Final = 24
"""Values of the largest CASE that is compared to another one value by value."""

MAX_WORK: Final = 4_000
"""Statements looked at for one question before it is answered by no."""


@attrs.frozen
class _Is:
    """Whether a value is NULL, or a test that is not looked into is true."""

    what: Literal["null", "true"]
    node: int
    wanted: bool


@attrs.frozen
class _AtMost:
    """The difference of two values is bounded; neither is NULL."""

    first: int
    second: int
    bound: Bound


@attrs.frozen
class _Equal:
    """Whether the difference of two values is this number; neither is NULL."""

    first: int
    second: int
    number: Number
    wanted: bool


@attrs.frozen
class _All:
    parts: tuple[_Statement, ...]


@attrs.frozen
class _AnyOf:
    parts: tuple[_Statement, ...]


_Fact: TypeAlias = _Is | _AtMost | _Equal
_Statement: TypeAlias = "_Fact | _All | _AnyOf"

_YES, _NO = _All(()), _AnyOf(())


class _OutOfWorkError(Exception):
    """A question takes too many steps."""


def _all(parts: Iterable[_Statement]) -> _Statement:
    found: list[_Statement] = []
    for part in parts:
        if part == _NO:
            return _NO
        found.extend(part.parts if isinstance(part, _All) else (part,))
    return found[0] if len(found) == 1 else _All(tuple(dict.fromkeys(found)))


def _some(parts: Iterable[_Statement]) -> _Statement:
    found: list[_Statement] = []
    for part in parts:
        if part == _YES:
            return _YES
        found.extend(part.parts if isinstance(part, _AnyOf) else (part,))
    return found[0] if len(found) == 1 else _AnyOf(tuple(dict.fromkeys(found)))


def _constant(holds: bool) -> _Statement:  # noqa: FBT001 - a truth value
    return _YES if holds else _NO


# Reading conditions.

_OPPOSITE: Final = {"=": "<>", "<>": "="}

# NULL where an operand is.
_STRICT_FUNCTIONS: Final = frozenset(
    {"intdiv", "abs", "round", "floor", "ceil", "upper", "lower", "length", "substring", "trim"}
    | {"extract", "year", "month", "day", "bitwiseand", "bitwiseor"}
    | {"timetostr", "tsordstotimestamp", "date"}
)
_STRICT_PIPES: Final = frozenset({"sqlite", "postgres", "duckdb", "bigquery", "snowflake"})
"""Dialects in which || makes NULL of NULL and a text."""
# NULL nowhere else.

UNCASED_LIKE: Final = "LIKE does not tell upper from lower case, as in the default collations"


class _StatementReader:
    """Makes statements of conditions."""

    def __init__(self, scope: Scope, never_null: Callable[[Scalar], Premises | None]) -> None:
        self.numbers = Numbers(scope, never_null)
        self.scalars = Scalars(scope, self.numbers.difference)
        self.never_null = never_null
        self._ids: dict[Scalar, int] = {NOUGHT: ZERO}
        self.terms: list[Scalar] = [NOUGHT]
        self.whole = [True]
        self._read: dict[tuple[str, Scalar, bool], tuple[_Statement, Premises]] = {}
        self._canonical: dict[Node, tuple[Node, Premises]] = {}
        self.rests: set[str] = set()
        """What all that has been read since the last question rests on."""
        self.always: set[str] = set()
        """What every answer rests on."""
        self.compounds: list[int] = []
        """Nodes that may become equal to others when parts of them do."""
        self.constants: list[int] = []
        self.work = 0
        self._steps = scope.steps

    def take(self) -> None:
        """Count a step; raises `_OutOfWorkError` where there were too many."""
        self.work += 1
        self._steps.spare -= 1
        if self.work > MAX_WORK or self._steps.spare < 0:
            raise _OutOfWorkError

    def node(self, term: Scalar) -> int:
        """Return the number of a term."""
        found = self._ids.get(term)
        if found is None:
            found = self._ids[term] = len(self.terms)
            self.terms.append(term)
            self.whole.append(self.scalars.is_whole(term))
            if is_literal(term, "text"):
                self.constants.append(found)
            elif not isinstance(term, Column) and any(isinstance(n, Column) for n in walk(term)):
                self.compounds.append(found)
        return found

    def known_node(self, term: Scalar) -> int | None:
        """Return the number of a term if it has one."""
        return self._ids.get(term)

    def sort(self, term: Scalar) -> str | None:
        """Return what of equal values makes them the same to every function, None where not."""
        return self.scalars.sort(term) or self.numbers.sort(term)

    def is_whole(self, node: int) -> bool:
        """Say whether a node stands for a whole number."""
        return self.whole[node]

    def canonical(self, term: Scalar) -> Scalar:
        """Return a term with what has no order in order."""
        found, rests = self._in_order(term)
        self.rests |= rests
        return cast("Scalar", found)

    def _in_order(self, term: Node) -> tuple[Node, Premises]:
        if not term.children:
            return term, NOTHING
        known = self._canonical.get(term)
        if known is not None:
            return known
        self.take()
        rests = NOTHING
        if isinstance(term, Query):
            found: Node = self._canonical_query(term)
        else:
            parts = [self._in_order(child) for child in term.children]
            rests = rests.union(*(its for _, its in parts))
            others = [part for part, _ in parts]
            found = in_order(term.with_children(others) if others != [*term.children] else term)
            if isinstance(found, Like):
                found = self._uncased(found)
            elif isinstance(found, Arithmetic | Negative | Cast | Aggregate | As):
                found, more = self.numbers.canonical(found)
                rests |= more
        self._canonical[term] = found, rests
        return found, rests

    def _canonical_query(self, query: Query) -> Query:
        memo, key = self.scalars.scope.memo, ("canonical", query)
        found = memo.get(key)
        if not isinstance(found, Query):
            self._steps.spare -= query.size
            found = memo[key] = with_canonical_names(query)
        return found

    def _uncased(self, like: Like) -> Like:
        """Write the pattern of LIKE in lower case where that is the same."""
        pattern = like.pattern
        if not isinstance(pattern, Constant) or not pattern.text.isascii():
            return like
        folds = like.operator == "ilike" or self.scalars.dialect in ("sqlite", "mysql")
        if like.operator not in ("like", "ilike") or not folds or pattern.text.islower():
            return like
        if like.operator == "like" and self.scalars.dialect == "mysql":
            self.always.add(UNCASED_LIKE)
        return attrs.evolve(like, pattern=attrs.evolve(pattern, text=pattern.text.lower()))

    def true(self, term: Scalar, *, wanted: bool = True) -> _Statement:
        """Say that a condition is true, or that it is not."""
        return self._cached("true", term, wanted)

    def false(self, term: Scalar, *, wanted: bool = True) -> _Statement:
        """Say that a condition is false, or that it is not."""
        return self._cached("false", term, wanted)

    def null(self, term: Scalar, *, wanted: bool = True) -> _Statement:
        """Say that a value is NULL, or that it is not."""
        return self._cached("null", term, wanted)

    def _cached(self, question: str, term: Scalar, wanted: bool) -> _Statement:  # noqa: FBT001
        term = bare(term)
        key = question, term, wanted
        found = self._read.get(key)
        if found is None:
            self.take()
            around, self.rests = self.rests, set()
            try:
                if question == "null":
                    statement = self._null(term, wanted=wanted)
                else:
                    statement = self._truth(term, value=question == "true", wanted=wanted)
            finally:
                own, self.rests = frozenset(self.rests), around
            found = self._read[key] = statement, own
        self.rests |= found[1]
        return found[0]

    def _truth(self, term: Scalar, *, value: bool, wanted: bool) -> _Statement:
        """Say that a condition is true, or that it is false, or that it is not so."""

        def read(part: Scalar) -> _Statement:
            return self._cached("true" if value else "false", part, wanted)

        if isinstance(term, Constant) and term.kind in ("boolean", "null"):
            return _constant((term == (TRUE if value else FALSE)) == wanted)
        if isinstance(term, Constant) and term.kind == "integer":
            return _constant(((term.text != "0") == value) == wanted)
        if isinstance(term, And | Or):
            join = _all if (isinstance(term, And) == value) == wanted else _some
            return join(map(read, term.parts))
        if isinstance(term, Not):
            return (self.false if value else self.true)(term.operand, wanted=wanted)
        if isinstance(term, Among):
            return read(self._spelled_list(term))
        if isinstance(term, Comparison) and not term.may_be_nan:
            one = term if value else negated(term)
            return self._compared(one.operator, one.left, one.right, wanted=wanted)
        cases = self.cases(term)
        if cases is not None:
            return self._by_cases(cases, read)
        if value:
            return self._true_test(term, wanted=wanted)
        if isinstance(term, Comparison) and term.operator == "<>":  # that may be NaN
            return self.true(negated(term), wanted=wanted)
        if wanted:
            return _all((self.true(term, wanted=False), self.null(term, wanted=False)))
        return _some((self.true(term), self.null(term)))

    def _true_test(self, term: Scalar, *, wanted: bool) -> _Statement:
        """Say that a test that is not taken apart is true; one that is true is not NULL."""
        if isinstance(term, IsNull):
            return self.null(term.operand, wanted=wanted)
        special = self._special(term, wanted=wanted) if isinstance(term, Function) else None
        if special is not None:
            return special
        if self._is_true_boolean(term):
            return self._compared("=", term, TRUE, wanted=wanted)
        if isinstance(term, Comparison) and term.operator == "<>":  # that may be NaN
            return self.false(attrs.evolve(term, operator="="), wanted=wanted)
        node = self.node(self.canonical(term))
        if not wanted:
            return _Is("true", node, wanted=False)
        not_null = [term, *(term.values if isinstance(term, InQuery) else ())]
        parts = [self.null(one, wanted=False) for one in not_null]
        return _all((_Is("true", node, wanted=True), *parts))

    def _null(self, term: Scalar, *, wanted: bool) -> _Statement:
        join, meet = (_all, _some) if wanted else (_some, _all)
        if term == NULL:
            return _constant(wanted)
        if isinstance(term, As):
            return self.null(term.value, wanted=wanted)
        if isinstance(term, Negative) or (
            isinstance(term, Cast) and not term.safe and self.numbers.form(term.operand)
        ):
            return self.null(term.operand, wanted=wanted)
        if (
            never_null_alone(term)
            or self.scalars.day(term)
            or number_of(self.canonical(term)) is not None
        ):
            return _constant(not wanted)
        if isinstance(term, And | Or | Not | Among):
            return join((self.true(term, wanted=not wanted), self.false(term, wanted=not wanted)))
        if isinstance(term, Comparison):
            if self._as_connective(term) is not None:
                return join(
                    (self.true(term, wanted=not wanted), self.false(term, wanted=not wanted))
                )
            return meet(self.null(arg, wanted=wanted) for arg in (term.left, term.right))
        if isinstance(term, Function) and self._special(term) is not None:
            return _constant(not wanted)
        cases = self.cases(term)
        if cases is not None:
            return self._by_cases(cases, lambda value: self.null(value, wanted=wanted))
        if isinstance(term, Arithmetic | Aggregate):
            when = self._null_number(term)
            if when is not None:
                return meet(read(wanted=wanted) for read in when)
        operands = self._strict(term)
        never = self.never_null(term)
        if never is not None:
            self.rests |= never
            return _constant(not wanted)
        literal = _Is("null", self.node(self.canonical(term)), wanted)
        if wanted:
            return literal
        return _all((literal, *(self.null(operand, wanted=False) for operand in operands)))

    def _null_number(self, term: Arithmetic | Aggregate) -> list[partial[_Statement]] | None:
        """Return the statements of which one holds just where a computed number is NULL."""
        if isinstance(term, Aggregate):
            if term.operand is None or term.function == "count":
                return None
            count = Aggregate("count", term.operand)
            return [partial(self.true, Comparison("=", count, integer(0)))]
        if not (term.operator in ("+", "-", "*", "/") and self.numbers.form(term)):
            return None
        when = [partial(self.null, term.left), partial(self.null, term.right)]
        if term.operator != "/" or self.scalars.dialect in ("postgres", "duckdb"):
            return when  # PostgreSQL raises by zero, and what DuckDB has is no NULL
        if self.scalars.dialect not in ("sqlite", "mysql"):
            return None
        return [*when, partial(self.true, Comparison("=", term.right, integer(0)))]

    def _strict(self, term: Scalar) -> tuple[Scalar, ...]:
        """Return the operands that make a value NULL if one of them is."""
        if isinstance(term, Arithmetic):
            return term.left, term.right
        if isinstance(term, Like):
            return tuple(cast("tuple[Scalar, ...]", term.children))
        if isinstance(term, Negative | Cast):
            return (term.operand,)
        if isinstance(term, Function) and (
            term.name in _STRICT_FUNCTIONS
            or (term.name == "dpipe" and self.scalars.dialect in _STRICT_PIPES)
        ):
            return term.operands
        return ()

    def _special(self, term: Function, *, wanted: bool = True) -> _Statement | None:
        """Read a test that is never NULL: IS TRUE, IS DISTINCT FROM."""
        if term.name not in ("is", "nullsafeeq", "nullsafeneq") or len(term.operands) != 2:  # noqa: PLR2004
            return None
        left, right = term.operands
        if term.name == "is" and right in (TRUE, FALSE):
            read = self.true if right == TRUE else self.false
            return read(left, wanted=wanted)
        if term.name == "is" and self.scalars.dialect != "sqlite":
            return None
        if (term.name != "nullsafeneq") == wanted:
            both = _all((self.null(left), self.null(right)))
            return _some((both, self.true(Comparison("=", left, right))))
        return _some(
            (
                _all((self.null(left), self.null(right, wanted=False))),
                _all((self.null(left, wanted=False), self.null(right))),
                self.true(Comparison("<>", left, right)),
            )
        )

    def _is_true_boolean(self, term: Scalar) -> bool:
        """Say whether a column is just true, false or NULL."""
        scalars = self.scalars
        truth = scalars.dialect in TRUE_BOOLEANS and scalars.family(term) == "boolean"
        return isinstance(term, Column) and truth

    def _as_connective(self, term: Comparison) -> tuple[Scalar, Scalar] | None:
        """Return the sides of ``p = q`` where both are conditions."""
        if term.operator not in ("=", "<>") or term.may_be_nan:
            return None
        both = [term.left, term.right]
        for i, (one, other) in enumerate((both[:], both[::-1])):
            if one in (integer(0), integer(1)) and is_boolean(other):
                both[i] = TRUE if one == integer(1) else FALSE
        sure = all(is_boolean(one) or self._is_true_boolean(one) for one in both)
        logical = sure and any(is_boolean(one) and one not in (TRUE, FALSE) for one in both)
        return (both[0], both[1]) if logical else None

    def _compared(self, operator: str, left: Scalar, right: Scalar, *, wanted: bool) -> _Statement:
        """Say that a comparison is true, or that it is false or NULL."""
        sides = self._as_connective(Comparison(operator, left, right))
        if sides is not None:
            return self._of_conditions(operator, *sides, wanted=wanted)
        for place, side in enumerate((left, right)):
            cases = self.cases(side)
            if cases is not None:
                pairs = [(g, (v, right) if place == 0 else (left, v)) for g, v in cases]
                return _some(
                    _all((guard, self.true(Comparison(operator, *pair), wanted=wanted)))
                    for guard, pair in pairs
                )
        difference = self.scalars.difference(self.canonical(left), self.canonical(right))
        self.rests |= difference.rests
        first, second = self.node(difference.first), self.node(difference.second)
        holds = _related(operator, first, second, difference.number, wanted=wanted)
        if wanted:
            return _all((self.null(left, wanted=False), self.null(right, wanted=False), holds))
        return _some((self.null(left), self.null(right), holds))

    def _of_conditions(
        self, operator: str, left: Scalar, right: Scalar, *, wanted: bool
    ) -> _Statement:
        if wanted:
            pairs = ((self.true, self.true), (self.false, self.false))
            if operator == "<>":
                pairs = ((self.true, self.false), (self.false, self.true))
            return _some(_all((one(left), other(right))) for one, other in pairs)
        opposite = self._of_conditions(_OPPOSITE[operator], left, right, wanted=True)
        return _some((self.null(left), self.null(right), opposite))

    def cases(self, term: Scalar) -> list[tuple[_Statement, Scalar]] | None:
        """
        Return the values of a CASE or the like, each with the statement under which it is that.

        None is returned where a value may compare otherwise once it is of the type of another.
        """
        found = self._branches(term)
        if found is None or not self._of_one_family([value for _, value in found]):
            return None
        return [(guard, value) for guard, value in found if guard != _NO]

    def exact_cases(self, term: Scalar) -> list[tuple[_Statement, Scalar]]:
        """Return all values of nested CASE and the like, itself where some may be converted."""
        found = self._branches(term)
        if found is None:
            return [(_YES, term)]
        values = {value for _, value in found if value != NULL}
        types = {self.scalars.type_of(value) for value in values}
        kept = self.scalars.dialect == "sqlite" or (len(types) == 1 and None not in types)
        if len(values) > 1 and not kept:  # one may be converted to the type of another
            return [(_YES, term)]
        nested = [
            (_all((guard, inner)), one)
            for guard, value in found
            if guard != _NO
            for inner, one in self.exact_cases(value)
        ]
        if len(nested) > MAX_CASES:
            raise _OutOfWorkError
        return nested

    def _branches(self, term: Scalar) -> list[tuple[_Statement, Scalar]] | None:
        name = term.name if isinstance(term, Function) else ""
        conditions: tuple[Scalar, ...] = ()
        if isinstance(term, Case):
            values = [*(when.value for when in term.whens), term.default]
            conditions = tuple(when.condition for when in term.whens)
        elif isinstance(term, Function) and name == "coalesce":
            values = [*term.operands]
            conditions = tuple(Not(IsNull(value)) for value in values[:-1])
        elif isinstance(term, Cast) and term.kind == "integer" and is_boolean(term.operand):
            values = [integer(1), integer(0), NULL]
            conditions = (term.operand, Not(term.operand))
        elif isinstance(term, Function) and name == "nullif":
            this, other = term.operands
            values = [NULL, this]
            conditions = (Comparison("=", self.apart(this), self.apart(other)),)
        else:
            return None
        found: list[tuple[_Statement, Scalar]] = []
        before: list[_Statement] = []
        for condition, value in zip(conditions, values, strict=False):
            found.append((_all((*before, self.true(condition))), self.apart(value)))
            before.append(self.true(condition, wanted=False))
        found.append((_all(before), self.apart(values[-1])))
        return found

    def _of_one_family(self, values: list[Scalar]) -> bool:
        some = [bare(value) for value in values if value != NULL]
        if all(is_boolean(value) or self._is_true_boolean(value) for value in some):
            return True
        families = {self.scalars.family(value) for value in some}
        if len(families) == 1 and families != {None}:
            return True
        return len(set(some)) == 1

    def apart(self, value: Scalar) -> Scalar:
        """Return a value that is no column any more, and so without the affinity of one."""
        return Apart(value) if isinstance(value, Column) and self.scalars.loose else value

    def _by_cases(
        self, cases: list[tuple[_Statement, Scalar]], read: Callable[[Scalar], _Statement]
    ) -> _Statement:
        return _some(_all((guard, read(value))) for guard, value in cases if guard != _NO)

    def _spelled_list(self, term: Among) -> Scalar:
        return Or(tuple(Comparison("=", term.operand, self.apart(v)) for v in term.values))


def _related(
    operator: str, first: int, second: int, number: Number, *, wanted: bool
) -> _Statement:
    if first == second:
        true = {"=": number == 0, "<>": number != 0, "<": number > 0, "<=": number >= 0}[operator]
        return _constant(true == wanted)
    if operator in ("=", "<>"):
        return _Equal(first, second, number, (operator == "=") == wanted)
    closed = int(operator == "<=")
    if wanted:
        return _AtMost(first, second, (number, closed))
    return _AtMost(second, first, (-number, 1 - closed))


def negated(term: Comparison) -> Comparison:
    """Return the comparison that is true where another one is false."""
    if term.operator in _OPPOSITE:
        return attrs.evolve(term, operator=_OPPOSITE[term.operator])
    operator = "<=" if term.operator == "<" else "<"
    return attrs.evolve(term, operator=operator, left=term.right, right=term.left)


def with_canonical_names(query: Query) -> Query:
    """
    Return a query with its tables named by their order in it, and what has no order in order.

    A name for a row has no meaning of its own (alpha equivalence), so any choice is sound.
    """
    names: dict[Node, Node] = {}
    for one in walk(query):
        if isinstance(one, Scan | Derived) and one.source not in names:
            names[one.source] = Source(f"~{len(names)}", one.source.table)
    return rewritten(replaced(query, names), in_order)


# Search.


class _World:
    """What is asserted on one branch of the search."""

    def __init__(self, reader: _StatementReader) -> None:
        self.reader = reader
        self.known: dict[str, dict[int, bool]] = {"null": {}, "true": {}}
        self.order = Order(reader.is_whole)
        self.open: list[_AnyOf] = []
        self._placed: set[int] = set()
        self._merged: set[tuple[int, ...]] = set()
        self._derived: set[_Statement] = set()

    def copy(self) -> _World:
        new = _World(self.reader)
        new.known = {what: dict(values) for what, values in self.known.items()}
        new.order, new.open = self.order.copy(), list(self.open)
        new._placed, new._merged = set(self._placed), set(self._merged)
        new._derived = set(self._derived)
        return new

    def add(self, statement: _Statement) -> bool:
        """Assert a statement; False if it contradicts what was asserted."""
        self.reader.take()
        if isinstance(statement, _All):
            return all(map(self.add, statement.parts))
        if isinstance(statement, _AnyOf):
            self.open.append(statement)
            return bool(statement.parts)
        if isinstance(statement, _Is):
            known = self.known[statement.what]
            return known.setdefault(statement.node, statement.wanted) == statement.wanted
        if not (self._place(statement.first) and self._place(statement.second)):
            return False
        if isinstance(statement, _AtMost):
            return self.order.at_most(statement.first, statement.second, statement.bound)
        add = self.order.equal if statement.wanted else self.order.differ
        return add(statement.first, statement.second, statement.number)

    def _place(self, node: int) -> bool:
        """Add what is known of a node by itself."""
        if node in self._placed:
            return True
        self._placed.add(node)
        reader = self.reader
        term = reader.terms[node]
        if node in reader.constants:
            for other in reader.constants:
                if other != node and other in self._placed:
                    self.reader.take()
                    if not self._distinct(node, other):
                        return False
            return True
        return not reader.scalars.is_natural(term) or self.order.at_most(ZERO, node, TOUCHING)

    def _distinct(self, first: int, second: int) -> bool:
        terms = self.reader.terms
        order = self.reader.scalars.constants_compare(terms[first], terms[second])
        if order is None:
            return True
        if order == 0:
            return self.order.differ(first, second, 0)
        pair = (first, second) if order < 0 else (second, first)
        return self.order.at_most(*pair, (0, 0))

    def holds(self, statement: _Statement) -> bool | None:
        """Say whether a statement follows at once, contradicts at once, or neither (None)."""
        self.reader.take()
        if isinstance(statement, _Is):
            known = self.known[statement.what].get(statement.node)
            return None if known is None else known == statement.wanted
        if isinstance(statement, _AtMost):
            edge = statement.first, statement.second, statement.bound
            if self.order.holds(*edge):
                return True
            return False if self.order.fails(*edge) else None
        if isinstance(statement, _Equal):
            differ = self._differ(statement.first, statement.second, statement.number)
            return differ if differ is None else differ != statement.wanted
        values = [self.holds(part) for part in statement.parts]
        deciding = isinstance(statement, _AnyOf)
        if deciding in values:
            return deciding
        return (not deciding) if None not in values else None

    def _differ(self, first: int, second: int, number: Number) -> bool | None:
        if self.order.known_to_differ(first, second, number):
            return True
        if self.order.difference(first, second) == number:
            return False
        there = self.order.fails(first, second, (number, 1))
        return True if there or self.order.fails(second, first, (-number, 1)) else None

    def settle(self) -> bool:
        """Draw the conclusions that need no case distinction; False if they contradict."""
        changed = True
        while changed:
            waiting, self.open, changed = self.open, [], False
            for some in waiting:
                left = self._undecided(some)
                if left is None:
                    continue
                if len(left) > 1:
                    self.open.append(_AnyOf(left))
                    continue
                changed = True
                if not left or not self.add(left[0]):
                    return False
            if not changed and self.reader.compounds:
                n_known = self._n_known
                if not self._congruent():
                    return False
                changed = n_known < self._n_known
        return True

    @property
    def _n_known(self) -> int:
        return sum(map(len, (*self.known.values(), self._merged, self._derived)))

    def _undecided(self, some: _AnyOf) -> tuple[_Statement, ...] | None:
        """Return the alternatives that are left, None where one of them holds."""
        left: list[_Statement] = []
        for part in some.parts:
            value = self.holds(part)
            if value:
                return None
            if value is None:
                left.append(part)
        return tuple(left)

    def equals(self) -> dict[Scalar, Scalar]:
        """Return, for terms that are known to be the same as another one, that one."""
        terms, scalars = self.reader.terms, self.reader.scalars
        exact: dict[str, list[int]] = {}
        for node in self.order.nodes():
            sort = scalars.sort(terms[node])
            if sort is not None and node != ZERO:
                exact.setdefault(sort, []).append(node)
        found: dict[Scalar, Scalar] = {}
        for sort, nodes in exact.items():
            nodes.sort(key=lambda node: (not is_literal(terms[node], "text"), terms[node].order))
            firsts: list[int] = []
            for node in nodes:
                number = self.order.difference(node, ZERO) if sort == "integer" else None
                if isinstance(number, int):
                    found[terms[node]] = integer(number)
                    continue
                for first in firsts:
                    if self.order.difference(node, first) == 0:
                        found[terms[node]] = terms[first]
                        break
                else:
                    firsts.append(node)
        return found

    def image(self, term: Scalar, equal: dict[Scalar, Scalar]) -> Scalar:
        """Return a term with its parts replaced by what they are the same as."""
        return self.reader.canonical(cast("Scalar", self._image(term, equal, of_values=True)))

    def _image(self, term: Node, equal: dict[Scalar, Scalar], *, of_values: bool) -> Node:
        new = equal.get(cast("Scalar", term))
        if new is not None and (
            of_values or (isinstance(new, Column) and isinstance(term, Column))
        ):
            return new
        if not term.children:
            return term
        self.reader.take()
        inside = isinstance(term, Arithmetic | Negative | Like)
        children = [self._image(child, equal, of_values=inside) for child in term.children]
        return term.with_children(children)

    def _congruent(self) -> bool:
        """Give terms with the same parts the same value; False if they cannot have it."""
        equal = self.equals()
        if not equal:
            return True
        reader = self.reader
        groups: dict[Scalar, list[int]] = {}
        for node in list(reader.compounds):
            if node in self._placed or any(node in values for values in self.known.values()):
                term = reader.terms[node]
                groups.setdefault(self.image(term, equal), []).append(node)
        for image, nodes in groups.items():
            nulls = self.known["null"]
            if not all(self._null_like(image, node) for node in nodes if node in nulls):
                return False
            number = number_of(image)
            if number is not None and not all(self._is_number(node, number) for node in nodes):
                return False
            known = reader.known_node(image)
            same = nodes if known is None or known in nodes else [*nodes, known]
            if len(same) > 1 and not self._merge(same):
                return False
        return True

    def _null_like(self, image: Scalar, node: int) -> bool:
        """Let what a node is the same as be NULL if it is."""
        statement = self.reader.null(image, wanted=self.known["null"][node])
        if statement in self._derived:
            return True
        self._derived.add(statement)
        return self.add(statement)

    def _is_number(self, node: int, number: Number) -> bool:
        if node not in self._placed or self.reader.scalars.family(self.reader.terms[node]) is None:
            return True
        if self.order.difference(node, ZERO) != number:
            self._merged.add((node, ZERO))
        return self.order.equal(node, ZERO, number)

    def _merge(self, nodes: list[int]) -> bool:
        for known in self.known.values():
            values = {known[node] for node in nodes if node in known}
            if len(values) > 1:
                return False
            if values:
                known.update(dict.fromkeys(nodes, values.pop()))
        placed = [node for node in nodes if node in self._placed]
        self._merged.add(tuple(placed))
        return all(self.order.equal(placed[0], node, 0) for node in placed[1:])


def _satisfiable(world: _World, statements: Iterable[_Statement]) -> bool:
    """Say whether a world may be as it is and all *statements* hold; changes *world*."""
    if not all(map(world.add, statements)) or not world.settle():
        return False
    if not world.open:
        return True
    chosen = min(world.open, key=lambda some: len(some.parts))
    world.open.remove(chosen)
    return any(_satisfiable(world.copy(), (part,)) for part in chosen.parts)


class Facts:
    """
    What is known of a row for which each of some conditions is true.

    Every answer is yes only if it follows; where that takes too long to find out it is no.
    """

    def __init__(
        self,
        conditions: Iterable[Scalar],
        scope: Scope,
        never_null: Callable[[Scalar], Premises | None],
    ) -> None:
        self.conditions = tuple(conditions)
        self._reader = _StatementReader(scope, never_null)
        self._world = _World(self._reader)
        self._answers: dict[tuple[_Statement, ...], tuple[bool, Premises]] = {}
        self._possible = True
        try:
            statements = [self._reader.true(condition) for condition in self.conditions]
            self._possible = all(map(self._world.add, statements)) and self._world.settle()
        except (_OutOfWorkError, RecursionError):
            self._world = _World(self._reader)  # nothing is known
        self._base = frozenset(self._reader.rests)

    @property
    def _rests(self) -> Premises:
        """What the answer to the question rests on that was asked last."""
        return frozenset(self._base | self._reader.rests | self._reader.always)

    def contradictory(self) -> Premises | None:
        """Say whether the conditions are never true together."""
        return self._refutes(lambda: ())

    def implies(self, condition: Scalar) -> Premises | None:
        """Say whether a condition is true."""
        if condition in self.conditions:
            return NOTHING
        return self._refutes(lambda: (self._reader.true(condition, wanted=False),))

    def entails(self, first: Scalar, second: Scalar) -> Premises | None:
        """Say whether *second* is true where *first* is."""
        reader = self._reader
        return self._refutes(lambda: (reader.true(first), reader.true(second, wanted=False)))

    def never_null(self, term: Scalar) -> Premises | None:
        """Say whether a value is not NULL."""
        return self._refutes(lambda: (self._reader.null(term),))

    def same(self, first: Scalar, second: Scalar, *, as_result: bool = False) -> Premises | None:
        """
        Say whether two values are the same to every function, or both NULL.

        With *as_result* they are only looked at; otherwise one may stand where the other does,
        also where SQLite would convert a value that it is compared to.
        """
        if first == second:
            return NOTHING
        if not self._possible:
            return self._base
        affinity = self._reader.scalars.affinity
        if not as_result and affinity(first) != affinity(second):
            return None
        if is_boolean(first) and is_boolean(second):
            return self.equivalent(first, second, "bool")
        self._ask()
        try:
            cases = self._reader.exact_cases(first), self._reader.exact_cases(second)
        except (_OutOfWorkError, RecursionError):
            return None
        rests = self._rests
        found = every(
            self._same_where((guard, other), bare(one), bare(two))
            for guard, one in cases[0]
            for other, two in cases[1]
        )
        return None if found is None else rests | found

    def _same_where(
        self, guards: tuple[_Statement, ...], first: Scalar, second: Scalar
    ) -> Premises | None:
        """Say whether two values are the same if *guards* hold."""
        reader = self._reader
        if is_boolean(first) and is_boolean(second):
            return every(
                self._refutes(lambda: (*guards, read(one), read(two, wanted=False)))  # noqa: B023
                for one, two in ((first, second), (second, first))
                for read in (reader.true, reader.false)
            )
        sorts = reader.sort(first), reader.sort(second)
        if sorts[0] is not None and sorts[0] == sorts[1]:
            unequal = Function("nullsafeneq", (first, second))
            return self._refutes(lambda: (*guards, reader.true(unequal)))
        self._ask()
        try:
            world = self._world
            if guards != (_YES, _YES):
                world = world.copy()
                if not all(map(world.add, guards)) or not world.settle():
                    return self._rests
            equal = world.equals()
            if world.image(first, equal) == world.image(second, equal):
                return self._rests
            null = reader.null(first, wanted=False), reader.null(second, wanted=False)
        except (_OutOfWorkError, RecursionError):
            return None
        return self._refutes(lambda: (*guards, _some(null)))

    def canonical(self, term: Scalar) -> tuple[Scalar, Premises]:
        """Return a term in one form, and what that rests on."""
        self._ask()
        try:
            return self._reader.canonical(term), self._rests
        except (_OutOfWorkError, RecursionError):
            return term, NOTHING

    def unconverted_type(self, value: Scalar) -> object:
        """Return what values have in common of which a set operation converts none, or None."""
        return self._reader.scalars.unconverted_type(value)

    def close(self, first: Scalar, second: Scalar) -> Premises | None:
        """Say whether two numbers are the same but for rounding, or both NULL."""
        self._ask()
        reader = self._reader
        try:
            one, two = reader.canonical(first), reader.canonical(second)
        except (_OutOfWorkError, RecursionError):
            return None
        rests = reader.numbers.close(one, two)
        if rests is None:
            return None
        rests |= self._rests
        differ = [
            self._refutes(lambda: (reader.null(this), reader.null(other, wanted=False)))  # noqa: B023
            for this, other in ((one, two), (two, one))
        ]
        null = every(differ)
        return None if null is None else rests | null

    def classes(self) -> tuple[list[tuple[Scalar, ...]], Premises]:
        """Return the groups of terms that are known to be the same, literals last."""
        groups: dict[Scalar, list[Scalar]] = {}
        self._ask()
        try:
            for term, first in self._world.equals().items():
                groups.setdefault(first, []).append(term)
        except _OutOfWorkError:
            return [], NOTHING
        return [(*terms, first) for first, terms in groups.items()], self._rests

    def equivalent(self, first: Scalar, second: Scalar, mode: Mode) -> Premises | None:
        """Say whether two conditions or values are the same for every row."""
        if first == second:
            return NOTHING
        if mode == "value" and not (is_boolean(first) and is_boolean(second)):
            return self.same(first, second)
        pairs = [(first, second), (second, first)]
        if mode != "filter":
            pairs += [(Not(first), Not(second)), (Not(second), Not(first))]
        return every(self.entails(*pair) for pair in pairs)

    def _ask(self) -> None:
        """Begin with another question."""
        self._reader.work = 0
        self._reader.rests = set()

    def _refutes(self, statements: Callable[[], tuple[_Statement, ...]]) -> Premises | None:
        """Say whether no row passes the conditions for which all *statements* hold."""
        if not self._possible:
            return self._base
        self._ask()
        try:
            asked, read = statements(), self._rests
            if asked not in self._answers:
                self._reader.rests = set()
                refuted = not _satisfiable(self._world.copy(), asked)
                self._answers[asked] = refuted, self._rests
            refuted, rests = self._answers[asked]
            return read | rests if refuted else None
        except (_OutOfWorkError, RecursionError):
            return None


def not_true(condition: Scalar) -> Scalar:
    """Return the condition that another one is false or NULL."""
    return Not(Function("is", (condition, TRUE)))
