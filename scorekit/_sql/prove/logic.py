"""
What follows from conditions, in SQL's logic of three values.

A condition is true, false or NULL.  "p is true" and "p is NULL" are statements of classical logic,
made of comparisons that hold, values that are NULL and tests that are not looked into.  What
follows is found by search over these: each OR is split, and each branch checked by an order of
values and by congruence (equal values give equal results).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, cast

import attrs

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.order import ZERO, Bound, Number, Order
from scorekit._sql.prove.patterns import excludes, includes, pattern_of
from scorekit._sql.prove.predicates import Mode
from scorekit._sql.prove.scalars import (
    NOUGHT,
    TRUE_BOOLEANS,
    Scalars,
    chained,
    folded,
    number_of,
    parts_of,
)
from scorekit._sql.prove.terms import (
    FALSE,
    NULL,
    TRUE,
    Steps,
    Term,
    UnsupportedError,
    is_boolean,
    ordered,
    walk,
    with_canonical_names,
)

MAX_CASES: Final = 24
"""Values of the largest CASE that is compared to another one value by value."""

_NUMERIC: Final = ("integer", "number", "real")
"""Types of numbers, each of which is converted to one that comes after it."""

MAX_WORK: Final = 4_000
"""Statements looked at for one question before it is answered by no."""

_INNER: Final = 1_000
"""Depth by which the tables of subqueries are named, so that no outer table has their name."""


@attrs.frozen
class _Null:
    """Whether a value is NULL."""

    node: int
    wanted: bool


@attrs.frozen
class _Truth:
    """Whether a test that is not looked into is true."""

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
    """The difference of two values is this number; neither is NULL."""

    first: int
    second: int
    number: Number


@attrs.frozen
class _Differ:
    """The difference of two values is not this number; neither is NULL."""

    first: int
    second: int
    number: Number


@attrs.frozen
class _All:
    parts: tuple[_Statement, ...]


@attrs.frozen
class _Some:
    parts: tuple[_Statement, ...]


_Fact: TypeAlias = _Null | _Truth | _AtMost | _Equal | _Differ
_Statement: TypeAlias = "_Fact | _All | _Some"

_YES, _NO = _All(()), _Some(())


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
        found.extend(part.parts if isinstance(part, _Some) else (part,))
    return found[0] if len(found) == 1 else _Some(tuple(dict.fromkeys(found)))


def _constant(holds: bool) -> _Statement:  # noqa: FBT001 - a truth value
    return _YES if holds else _NO


# Reading conditions.

_SWAPPED: Final = {"gt": "lt", "ge": "le"}
_COMPARISONS: Final = frozenset({"eq", "ne", "lt", "le"})
_OPPOSITE: Final = {"eq": "ne", "ne": "eq"}

# NULL where an operand is.
_STRICT_FUNCTIONS: Final = frozenset(
    {"Sub", "Neg", "Div", "IntDiv", "Mod", "Abs", "Round", "Floor", "Ceil", "Upper", "Lower"}
    | {"Length", "Substring", "Trim", "Extract", "Year", "Month", "Day", "Cast"}
    | {"BitwiseAnd", "BitwiseOr"}
)
_STRICT_PIPES: Final = frozenset({"sqlite", "postgres", "duckdb", "bigquery", "snowflake"})
"""Dialects in which || makes NULL of NULL and a text."""
_STRICT_TIMES: Final = frozenset({"TimeToStr", "TsOrDsToTimestamp", "Date"})
# NULL nowhere else.
_NULL_ONLY_BY_OPERANDS: Final = frozenset({"Upper", "Lower", "Length", "Abs"})
# Functions of values alone, into which equal constants may be put.
_OF_VALUES: Final = (_STRICT_FUNCTIONS - {"Cast"}) | {"DPipe", "Concat", "Replace"}


class _Reader:
    """Makes statements of conditions."""

    def __init__(self, known: Known, never_null: Callable[[Term], bool]) -> None:
        self.scalars = Scalars(known)
        self.never_null = never_null
        self._ids: dict[Term, int] = {NOUGHT: ZERO}
        self.terms = [NOUGHT]
        self.whole = [True]
        self._read: dict[tuple[str, Term, bool], _Statement] = {}
        self._canonical: dict[Term, Term] = {}
        self.compounds: list[int] = []
        """Nodes that may become equal to others when parts of them do."""
        self.constants: list[int] = []
        self.lemmas: list[_Statement] = []
        """What holds of the nodes whatever is asserted."""
        self._patterns: dict[int, tuple[Term, str]] = {}
        self.work = 0
        self._steps = known.steps

    def take(self) -> None:
        """Count a step; raises `_OutOfWorkError` where there were too many."""
        self.work += 1
        self._steps.spare -= 1
        if self.work > MAX_WORK or self._steps.spare < 0:
            raise _OutOfWorkError

    def node(self, term: Term) -> int:
        """Return the number of a term."""
        found = self._ids.get(term)
        if found is None:
            found = self._ids[term] = len(self.terms)
            self.terms.append(term)
            self.whole.append(self.scalars.is_whole(term))
            if term.op == "str" or (term.op, term.name) == ("loose", "constant"):
                self.constants.append(found)
                for pattern, (value, _) in self._patterns.items():
                    if self.scalars.like_compares(value):
                        self._compare_constant(pattern, found)
            elif term.op != "col" and any(part.op == "col" for part in walk(term)):
                self.compounds.append(found)
        return found

    def known_node(self, term: Term) -> int | None:
        """Return the number of a term if it has one."""
        return self._ids.get(term)

    def is_whole(self, node: int) -> bool:
        """Say whether a node stands for a whole number."""
        return self.whole[node]

    def canonical(self, term: Term) -> Term:
        """Return a term with what has no order in order."""
        if not term.args:
            return term
        found = self._canonical.get(term)
        if found is None:
            self.take()
            if term.op == "select":
                try:
                    found = with_canonical_names(term, Steps(), _INNER)
                except UnsupportedError:
                    found = term
            else:
                found = chained(ordered(term._replace(args=tuple(map(self.canonical, term.args)))))
            self._canonical[term] = found
        return found

    def true(self, term: Term, *, wanted: bool = True) -> _Statement:
        """Say that a condition is true, or that it is not."""
        return self._cached("true", term, wanted)

    def false(self, term: Term, *, wanted: bool = True) -> _Statement:
        """Say that a condition is false, or that it is not."""
        return self._cached("false", term, wanted)

    def null(self, term: Term, *, wanted: bool = True) -> _Statement:
        """Say that a value is NULL, or that it is not."""
        return self._cached("null", term, wanted)

    def _cached(self, question: str, term: Term, wanted: bool) -> _Statement:  # noqa: FBT001
        key = question, term, wanted
        found = self._read.get(key)
        if found is None:
            self.take()
            if term.op == "case" and len(term.args) == 1:
                term = term.args[0]
            read = {"true": self._true, "false": self._false, "null": self._null}[question]
            found = self._read[key] = read(term, wanted=wanted)
        return found

    def _true(self, term: Term, *, wanted: bool) -> _Statement:  # noqa: C901, PLR0911, PLR0912
        op, args = term.op, term.args
        join, meet = (_all, _some) if wanted else (_some, _all)
        if op in ("true", "false", "null"):
            return _constant((op == "true") == wanted)
        if op == "int":
            return _constant((term.name != "0") == wanted)
        if op == "and":
            return join(self.true(arg, wanted=wanted) for arg in args)
        if op == "or":
            return meet(self.true(arg, wanted=wanted) for arg in args)
        if op == "not":
            return self.false(args[0], wanted=wanted)
        if op in _SWAPPED:
            return self.true(Term(_SWAPPED[op], term.name, args[::-1]), wanted=wanted)
        if op == "between":
            return self.true(_spelled_between(term), wanted=wanted)
        if op == "among":
            return self.true(self._spelled_list(term), wanted=wanted)
        if op in _COMPARISONS and not term.name:
            return self._compared(op, *args, wanted=wanted)
        if op == "isnull":
            return self.null(args[0], wanted=wanted)
        if op == "fn":
            special = self._special(term, wanted=wanted)
            if special is not None:
                return special
        cases = self.cases(term)
        if cases is not None:
            return self._by_cases(cases, lambda value: self.true(value, wanted=wanted))
        if self._is_true_boolean(term):
            return self._compared("eq", term, TRUE, wanted=wanted)
        return self._opaque(term, wanted=wanted)

    def _opaque(self, term: Term, *, wanted: bool) -> _Statement:
        """Take a test as it is; one that is true is not NULL."""
        if term.op == "ne":  # that may be NaN
            return self.false(term._replace(op="eq"), wanted=wanted)
        node = self.node(self.canonical(term))
        self._compare_patterns(self.terms[node], node)
        if not wanted:
            return _Truth(node, wanted=False)
        not_null = [term, *(term.args[:-1] if term.op == "in" else ())]
        parts = [self.null(one, wanted=False) for one in not_null]
        return _all((_Truth(node, wanted=True), *parts))

    def _compare_patterns(self, term: Term, node: int) -> None:
        """Say how a LIKE relates to those of the same value, and to texts that this may be."""
        found = pattern_of(term)
        if found is None or node in self._patterns:
            return
        value, pattern = found
        matches = _Truth(node, wanted=True)
        if not self.scalars.loose and not pattern.strip("%") and pattern:  # SQLite has blobs
            self.lemmas.append(_some((matches, self.null(value))))
        for other, (its_value, its_pattern) in self._patterns.items():
            if its_value != value:
                continue
            self.take()
            pairs = (node, pattern, other, its_pattern), (other, its_pattern, node, pattern)
            for one, narrow, two, wide in pairs:
                if includes(wide, narrow):
                    self._never_both((one, True), (two, False))
            if excludes(pattern, its_pattern):
                self._never_both((node, True), (other, True))
        self._patterns[node] = value, pattern
        if self.scalars.like_compares(value):
            for constant in self.constants:
                self._compare_constant(node, constant)

    def _never_both(self, one: tuple[int, bool], other: tuple[int, bool]) -> None:
        parts = (_Truth(node, wanted=not truth) for node, truth in (one, other))
        self.lemmas.append(_Some(tuple(parts)))

    def _compare_constant(self, node: int, constant: int) -> None:
        """Say whether a text matches a pattern, for a column that equals that text."""
        value, pattern = self._patterns[node]
        text = self.terms[constant]
        if text.op != "str" or not text.name.isascii() or {*text.name} & {*"%_\\["}:
            return
        equal = _Differ(self.node(value), constant, 0)
        if pattern == text.name and self.scalars.like_is_equal(value):
            same = _Equal(self.node(value), constant, 0)
            self.lemmas.append(_Some((same, _Truth(node, wanted=False))))
        if includes(pattern, text.name):
            self.lemmas.append(_Some((equal, _Truth(node, wanted=True))))
        elif not includes(pattern.casefold(), text.name.casefold()):
            self.lemmas.append(_Some((equal, _Truth(node, wanted=False))))

    def _false(self, term: Term, *, wanted: bool) -> _Statement:  # noqa: C901, PLR0911
        op, args = term.op, term.args
        join, meet = (_all, _some) if wanted else (_some, _all)
        if op in ("true", "false", "null"):
            return _constant((op == "false") == wanted)
        if op == "int":
            return _constant((term.name == "0") == wanted)
        if op == "and":
            return meet(self.false(arg, wanted=wanted) for arg in args)
        if op == "or":
            return join(self.false(arg, wanted=wanted) for arg in args)
        if op == "not":
            return self.true(args[0], wanted=wanted)
        if op in _SWAPPED:
            return self.false(Term(_SWAPPED[op], term.name, args[::-1]), wanted=wanted)
        if op == "between":
            return self.false(_spelled_between(term), wanted=wanted)
        if op == "among":
            return self.false(self._spelled_list(term), wanted=wanted)
        if op in _COMPARISONS and (not term.name or op == "ne"):
            return self.true(_negated(term), wanted=wanted)
        cases = self.cases(term)
        if cases is not None:
            return self._by_cases(cases, lambda value: self.false(value, wanted=wanted))
        if wanted:
            return _all((self.true(term, wanted=False), self.null(term, wanted=False)))
        return _some((self.true(term), self.null(term)))

    def _null(self, term: Term, *, wanted: bool) -> _Statement:  # noqa: C901, PLR0911
        op, args = term.op, term.args
        join, meet = (_all, _some) if wanted else (_some, _all)
        if op == "null":
            return _constant(wanted)
        if op in ("int", "num", "str", "true", "false", "isnull", "exists"):
            return _constant(not wanted)
        if (op == "agg" and term.name.startswith("count")) or self.scalars.day(term):
            return _constant(not wanted)
        if op in ("and", "or", "not", "between", "among"):
            return join((self.true(term, wanted=not wanted), self.false(term, wanted=not wanted)))
        if op in _COMPARISONS or op in _SWAPPED:
            if self._as_connective(term) is not None:
                return join(
                    (self.true(term, wanted=not wanted), self.false(term, wanted=not wanted))
                )
            return meet(self.null(arg, wanted=wanted) for arg in args)
        if op == "fn" and self._special(term) is not None:
            return _constant(not wanted)
        cases = self.cases(term)
        if cases is not None:
            return self._by_cases(cases, lambda value: self.null(value, wanted=wanted))
        operands = self._strict(term)
        if operands and self._null_only_by_operands(term):
            return meet(self.null(operand, wanted=wanted) for operand in operands)
        if self.never_null(term):
            return _constant(not wanted)
        literal = _Null(self.node(self.canonical(term)), wanted)
        if wanted:
            return literal
        return _all((literal, *(self.null(operand, wanted=False) for operand in operands)))

    def _null_only_by_operands(self, term: Term) -> bool:
        """Say whether a value is NULL only if an operand is; infinity minus itself is NULL too."""
        name = term.name.partition(" ")[0]
        if term.op == "like" or (term.op == "fn" and name in _NULL_ONLY_BY_OPERANDS):
            return True
        if term.op not in ("add", "mul") and (term.op != "fn" or name not in ("Sub", "Neg")):
            return False
        exact = not self.scalars.loose and self.scalars.family(term) == "number"
        return exact or self.scalars.is_shifted(term)

    def _strict(self, term: Term) -> tuple[Term, ...]:
        """Return the operands that make a value NULL if one of them is."""
        if term.op in ("add", "mul", "plus"):
            return term.args
        if term.op == "like":
            return tuple(value for part in term.args for value in part.args)
        name = term.name.partition(" ")[0]
        strict = name in _STRICT_FUNCTIONS or name in _STRICT_TIMES
        if term.op == "fn" and (
            strict or (name == "DPipe" and self.scalars.dialect in _STRICT_PIPES)
        ):
            if term.name == "Cast":
                return parts_of(term).get("this", ())
            values = (value for part in term.args for value in part.args)
            return tuple(value for value in values if value.op != "text")
        return ()

    def _special(self, term: Term, *, wanted: bool = True) -> _Statement | None:
        """Read a test that is never NULL: IS TRUE, IS DISTINCT FROM."""
        parts = parts_of(term)
        this, expression = parts.get("this", ()), parts.get("expression", ())
        if len(this) != 1 or len(expression) != 1:
            return None
        left, right = this[0], expression[0]
        if term.name == "Is" and right in (TRUE, FALSE):
            read = self.true if right == TRUE else self.false
            return read(left, wanted=wanted)
        if term.name in ("NullSafeEQ", "NullSafeNEQ", "Is"):
            if term.name == "Is" and self.scalars.dialect != "sqlite":
                return None
            if (term.name != "NullSafeNEQ") == wanted:
                both = _all((self.null(left), self.null(right)))
                return _some((both, self.true(Term("eq", "", (left, right)))))
            return _some(
                (
                    _all((self.null(left), self.null(right, wanted=False))),
                    _all((self.null(left, wanted=False), self.null(right))),
                    self.true(Term("ne", "", (left, right))),
                )
            )
        return None

    def _is_true_boolean(self, term: Term) -> bool:
        """Say whether a column is just true, false or NULL."""
        scalars = self.scalars
        return (
            term.op == "col"
            and scalars.dialect in TRUE_BOOLEANS
            and scalars.family(term) == "boolean"
        )

    def _as_connective(self, term: Term) -> tuple[Term, Term] | None:
        """Return the sides of ``p = q`` where both are conditions."""
        left, right = term.args
        if term.op not in ("eq", "ne") or term.name:
            return None
        both = [left, right]
        for i, (one, other) in enumerate(((left, right), (right, left))):
            if one.op == "int" and one.name in "01" and is_boolean(other):
                both[i] = TRUE if one.name == "1" else FALSE
        sure = all(is_boolean(one) or self._is_true_boolean(one) for one in both)
        logical = sure and any(is_boolean(one) and one not in (TRUE, FALSE) for one in both)
        return (both[0], both[1]) if logical else None

    def _compared(self, op: str, left: Term, right: Term, *, wanted: bool) -> _Statement:
        """Say that a comparison is true, or that it is false or NULL."""
        if op in ("eq", "ne"):
            sides = self._as_connective(Term(op, "", (left, right)))
            if sides is not None:
                return self._of_conditions(op, *sides, wanted=wanted)
        for place, side in enumerate((left, right)):
            cases = self.cases(side)
            if cases is not None:
                pairs = [(g, (right, v)[::-1] if place == 0 else (left, v)) for g, v in cases]
                return _some(
                    _all((guard, self.true(Term(op, "", pair), wanted=wanted)))
                    for guard, pair in pairs
                )
        difference = self.scalars.difference(self.canonical(left), self.canonical(right))
        first, second = self.node(difference.first), self.node(difference.second)
        number = difference.number
        holds = self._related(op, first, second, number, wanted=wanted)
        if wanted:
            return _all((self.null(left, wanted=False), self.null(right, wanted=False), holds))
        return _some((self.null(left), self.null(right), holds))

    def _related(
        self, op: str, first: int, second: int, number: Number, *, wanted: bool
    ) -> _Statement:
        if first == second:
            true = {"eq": number == 0, "ne": number != 0, "lt": number > 0, "le": number >= 0}[op]
            return _constant(true == wanted)
        if op in ("eq", "ne"):
            kind = _Equal if (op == "eq") == wanted else _Differ
            return kind(first, second, number)
        closed = int(op == "le")
        if wanted:
            return _AtMost(first, second, (number, closed))
        return _AtMost(second, first, (-number, 1 - closed))

    def _of_conditions(self, op: str, left: Term, right: Term, *, wanted: bool) -> _Statement:
        if wanted:
            pairs = ((self.true, self.true), (self.false, self.false))
            if op == "ne":
                pairs = ((self.true, self.false), (self.false, self.true))
            return _some(_all((one(left), other(right))) for one, other in pairs)
        opposite = self._of_conditions(_OPPOSITE[op], left, right, wanted=True)
        return _some((self.null(left), self.null(right), opposite))

    def cases(self, term: Term) -> list[tuple[_Statement, Term]] | None:
        """
        Return the values of a CASE or the like, each with the statement under which it is that.

        None is returned where a value may compare otherwise once it is of the type of another.
        """
        found = self._branches(term)
        if found is None or not self._of_one_family([value for _, value in found]):
            return None
        return [(guard, value) for guard, value in found if guard != _NO]

    def exact_cases(self, term: Term) -> list[tuple[_Statement, Term]]:
        """Return all values of nested CASE and the like; ``as`` marks what is converted."""
        found = self._branches(term)
        if found is None:
            return [(_YES, term)]
        values = [value for _, value in found if value != NULL]
        types = {self.scalars.type_of(value) for value in values}
        kept = self.scalars.dialect == "sqlite" or len(set(values)) <= 1 or None not in types
        if not kept:
            return [(_YES, term)]
        ranks = {cast("str", one[0]) for one in types if one is not None}
        mixed = self.scalars.dialect != "sqlite" and len(types) > 1 and len(set(values)) > 1
        if mixed and not ranks <= {*_NUMERIC}:
            return [(_YES, term)]
        highest = max(ranks, key=_NUMERIC.index) if mixed else ""
        nested: list[tuple[_Statement, Term]] = []
        for guard, value in found:
            if guard == _NO:
                continue
            for inner, one in self.exact_cases(value):
                converted = mixed and one != NULL and self.scalars.type_of(one) != (highest,)
                result = Term("as", highest, (one,)) if converted else one
                nested.append((_all((guard, inner)), result))
        if len(nested) > MAX_CASES:
            raise _OutOfWorkError
        return nested

    def _branches(self, term: Term) -> list[tuple[_Statement, Term]] | None:
        name = term.name.partition(" ")[0] if term.op == "fn" else ""
        if term.op == "case" and len(term.args) > 1:
            values = [*term.args[1:-1:2], term.args[-1]]
            conditions = term.args[:-1:2]
        elif name == "Coalesce":
            parts = parts_of(term)
            values = [*parts.get("this", ()), *parts.get("expressions", ())]
            conditions = tuple(
                Term("not", "", (Term("isnull", "", (value,)),)) for value in values[:-1]
            )
        elif name == "Cast" and self.scalars.is_idle(term):
            values, conditions = list(parts_of(term)["this"]), ()
        elif name == "Cast" and self.scalars.cast_kind(term) == "integer":
            (this,) = parts_of(term).get("this", (NULL,))
            if not is_boolean(this):
                return None
            values = [Term("int", "1"), Term("int", "0"), NULL]
            conditions = (this, Term("not", "", (this,)))
        elif name == "Nullif":
            parts = parts_of(term)
            this, other = parts["this"][0], parts["expression"][0]
            values = [NULL, this]
            conditions = (Term("eq", "", (self.apart(this), self.apart(other))),)
        else:
            return None
        found: list[tuple[_Statement, Term]] = []
        before: list[_Statement] = []
        for condition, value in zip(conditions, values, strict=False):
            found.append((_all((*before, self.true(condition))), self.apart(value)))
            before.append(self.true(condition, wanted=False))
        found.append((_all(before), self.apart(values[-1])))
        return found

    def _of_one_family(self, values: list[Term]) -> bool:
        some = [bare(value) for value in values if value != NULL]
        if all(is_boolean(value) or self._is_true_boolean(value) for value in some):
            return True
        families = {self.scalars.family(value) for value in some}
        if len(families) == 1 and families != {None}:
            return True
        return len(set(some)) == 1

    def apart(self, value: Term) -> Term:
        """Return a value that is no column any more, and so without the affinity of one."""
        return Term("case", "", (value,)) if value.op == "col" and self.scalars.loose else value

    def _by_cases(
        self, cases: list[tuple[_Statement, Term]], read: Callable[[Term], _Statement]
    ) -> _Statement:
        return _some(_all((guard, read(value))) for guard, value in cases if guard != _NO)

    def _spelled_list(self, term: Term) -> Term:
        this, *values = term.args
        return Term("or", "", tuple(Term("eq", "", (this, self.apart(v))) for v in values))


def bare(value: Term) -> Term:
    """Return what `_Reader.apart` was given."""
    return value.args[0] if value.op == "case" and len(value.args) == 1 else value


def _spelled_between(term: Term) -> Term:
    this, low, high = term.args
    return Term("and", "", (Term("le", "", (low, this)), Term("le", "", (this, high))))


def _negated(term: Term) -> Term:
    if term.op in _OPPOSITE:
        return term._replace(op=_OPPOSITE[term.op])
    return Term("le" if term.op == "lt" else "lt", "", term.args[::-1])


# Search.


class _World:
    """What is asserted on one branch of the search."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader
        self.nulls: dict[int, bool] = {}
        self.truths: dict[int, bool] = {}
        self.order = Order(reader.is_whole)
        self.open: list[_Some] = []
        self._placed: set[int] = set()
        self._merged: set[tuple[int, ...]] = set()
        self._derived: set[_Statement] = set()
        self._n_lemmas = 0

    def copy(self) -> _World:
        new = _World(self.reader)
        new.nulls, new.truths = dict(self.nulls), dict(self.truths)
        new.order, new.open = self.order.copy(), list(self.open)
        new._placed, new._merged = set(self._placed), set(self._merged)
        new._derived, new._n_lemmas = set(self._derived), self._n_lemmas
        return new

    def add(self, statement: _Statement) -> bool:  # noqa: PLR0911 - one a kind
        """Assert a statement; False if it contradicts what was asserted."""
        self.reader.take()
        if isinstance(statement, _All):
            return all(map(self.add, statement.parts))
        if isinstance(statement, _Some):
            self.open.append(statement)
            return bool(statement.parts)
        if isinstance(statement, _Null):
            return self.nulls.setdefault(statement.node, statement.wanted) == statement.wanted
        if isinstance(statement, _Truth):
            return self.truths.setdefault(statement.node, statement.wanted) == statement.wanted
        if not (self._place(statement.first) and self._place(statement.second)):
            return False
        if isinstance(statement, _AtMost):
            return self.order.at_most(statement.first, statement.second, statement.bound)
        if isinstance(statement, _Equal):
            return self.order.equal(statement.first, statement.second, statement.number)
        return self.order.differ(statement.first, statement.second, statement.number)

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
        least, most = reader.scalars.limits(term)
        return (least is None or self.order.at_most(ZERO, node, (-least, 1))) and (
            most is None or self.order.at_most(node, ZERO, (most, 1))
        )

    def _distinct(self, first: int, second: int) -> bool:
        terms = self.reader.terms
        order = self.reader.scalars.constants_compare(terms[first], terms[second])
        if order is None:
            return True
        if order == 0:
            return self.order.differ(first, second, 0)
        pair = (first, second) if order < 0 else (second, first)
        return self.order.at_most(*pair, (0, 0))

    def holds(self, statement: _Statement) -> bool | None:  # noqa: PLR0911 - one a kind
        """Say whether a statement follows at once, contradicts at once, or neither (None)."""
        self.reader.take()
        if isinstance(statement, _Null):
            known = self.nulls.get(statement.node)
            return None if known is None else known == statement.wanted
        if isinstance(statement, _Truth):
            known = self.truths.get(statement.node)
            return None if known is None else known == statement.wanted
        if isinstance(statement, _AtMost):
            edge = statement.first, statement.second, statement.bound
            if self.order.holds(*edge):
                return True
            return False if self.order.fails(*edge) else None
        if isinstance(statement, (_Equal, _Differ)):
            differ = self._differ(statement.first, statement.second, statement.number)
            return differ if differ is None else differ == isinstance(statement, _Differ)
        values = [self.holds(part) for part in statement.parts]
        deciding = isinstance(statement, _Some)
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
        lemmas = self.reader.lemmas[self._n_lemmas :]
        self._n_lemmas += len(lemmas)
        if not all(map(self.add, lemmas)):
            return False
        changed = True
        while changed:
            waiting, self.open, changed = self.open, [], False
            for some in waiting:
                left = self._undecided(some)
                if left is None:
                    continue
                if len(left) > 1:
                    self.open.append(_Some(left))
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
        return len(self.nulls) + len(self.truths) + len(self._merged) + len(self._derived)

    def _undecided(self, some: _Some) -> tuple[_Statement, ...] | None:
        """Return the alternatives that are left, None where one of them holds."""
        left: list[_Statement] = []
        for part in some.parts:
            value = self.holds(part)
            if value:
                return None
            if value is None:
                left.append(part)
        return tuple(left)

    def equals(self) -> dict[Term, Term]:
        """Return, for terms that are known to be the same as another one, that one."""
        terms, scalars = self.reader.terms, self.reader.scalars
        exact: dict[str, list[int]] = {}
        for node in self.order.nodes():
            sort = scalars.sort(terms[node])
            if sort is not None and node != ZERO:
                exact.setdefault(sort, []).append(node)
        found: dict[Term, Term] = {}
        for sort, nodes in exact.items():
            nodes.sort(key=lambda node: (terms[node].op != "str", terms[node]))
            firsts: list[int] = []
            for node in nodes:
                number = self.order.difference(node, ZERO) if sort == "integer" else None
                if isinstance(number, int):
                    found[terms[node]] = Term("int", str(number))
                    continue
                for first in firsts:
                    if self.order.difference(node, first) == 0:
                        found[terms[node]] = terms[first]
                        break
                else:
                    firsts.append(node)
        return found

    def image(self, term: Term, equal: dict[Term, Term]) -> Term:
        """Return a term with its parts replaced by what they are the same as."""
        return self.reader.canonical(self._image(term, equal, of_values=True))

    def _image(self, term: Term, equal: dict[Term, Term], *, of_values: bool) -> Term:
        new = equal.get(term)
        if new is not None and (of_values or new.op == term.op == "col"):
            return new
        if not term.args:
            return term
        self.reader.take()
        if term.op == "part":
            inside = of_values
        else:
            name = term.name.partition(" ")[0]
            inside = term.op in ("add", "mul", "sum", "plus", "like") or (
                term.op == "fn" and name in _OF_VALUES
            )
        args = tuple(self._image(arg, equal, of_values=inside) for arg in term.args)
        return folded(term._replace(args=args))

    def _congruent(self) -> bool:
        """Give terms with the same parts the same value; False if they cannot have it."""
        equal = self.equals()
        if not equal:
            return True
        reader = self.reader
        groups: dict[Term, list[int]] = {}
        for node in list(reader.compounds):
            if node in self._placed or node in self.nulls or node in self.truths:
                term = reader.terms[node]
                groups.setdefault(self.image(term, equal), []).append(node)
        if not all(self._summed(image, node) for image, (node, *_) in groups.items()):
            return False
        for image, nodes in groups.items():
            if not all(self._null_like(image, node) for node in nodes if node in self.nulls):
                return False
            number = number_of(image)
            if number is not None and not all(self._is_number(node, number) for node in nodes):
                return False
            known = reader.known_node(image)
            same = nodes if known is None or known in nodes else [*nodes, known]
            if len(same) > 1 and not self._merge(same):
                return False
        return True

    def _null_like(self, image: Term, node: int) -> bool:
        """Let what a node is the same as be NULL if it is."""
        statement = self.reader.null(image, wanted=self.nulls[node])
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

    def _summed(self, image: Term, node: int) -> bool:
        """Use of a sum what it is once some of its parts are known."""
        if image.op != "sum" or image == self.reader.terms[node]:
            return True
        found = self.reader.scalars.sum_of(Term("add", "", image.args))
        number = found.number
        if found.parts:
            (term, times), *others = found.parts.items()
            if others or times != 1:
                return True
            other = self.reader.node(term)
        else:
            other = ZERO
        if not self._place(other):
            return False
        if self.order.difference(node, other) != number:
            self._merged.add((node, other))
        return self.order.equal(node, other, number)

    def _merge(self, nodes: list[int]) -> bool:
        for statuses in (self.nulls, self.truths):
            values = {statuses[node] for node in nodes if node in statuses}
            if len(values) > 1:
                return False
            if values:
                statuses.update(dict.fromkeys(nodes, values.pop()))
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
        conditions: Iterable[Term],
        *,
        known: Known,
        never_null: Callable[[Term], bool],
    ) -> None:
        self.conditions = tuple(conditions)
        self._known = known
        self._reader = _Reader(known, never_null)
        self._world = _World(self._reader)
        self._answers: dict[tuple[_Statement, ...], bool] = {}
        self._possible = True
        try:
            statements = [self._reader.true(condition) for condition in self.conditions]
            self._possible = all(map(self._world.add, statements)) and self._world.settle()
        except (_OutOfWorkError, RecursionError):
            self._world = _World(self._reader)  # nothing is known

    @property
    def contradictory(self) -> bool:
        """Whether the conditions are never true together."""
        return not self._possible or self._refutes(lambda: ())

    def implies(self, condition: Term) -> bool:
        """Say whether a condition is true."""
        if condition in self.conditions:
            return True
        return self._refutes(lambda: (self._reader.true(condition, wanted=False),))

    def excludes(self, condition: Term) -> bool:
        """Say whether a condition is false or NULL."""
        return self._refutes(lambda: (self._reader.true(condition),))

    def entails(self, first: Term, second: Term) -> bool:
        """Say whether *second* is true where *first* is."""
        reader = self._reader
        return self._refutes(lambda: (reader.true(first), reader.true(second, wanted=False)))

    def never_null(self, term: Term) -> bool:
        """Say whether a value is not NULL."""
        return self._refutes(lambda: (self._reader.null(term),))

    def same(self, first: Term, second: Term, *, as_result: bool = False) -> bool:
        """
        Say whether two values are the same to every function, or both NULL.

        With *as_result* they are only looked at; otherwise one may stand where the other does,
        also where SQLite would convert a value that it is compared to.
        """
        if first == second or not self._possible:
            return True
        affinity = self._reader.scalars.affinity
        if not as_result and affinity(first) != affinity(second):
            return False
        if is_boolean(first) and is_boolean(second):
            return equivalent(first, second, self, "bool")
        try:
            cases = self._reader.exact_cases(first), self._reader.exact_cases(second)
        except (_OutOfWorkError, RecursionError):
            return False
        return all(
            self._same_where((guard, other), bare(one), bare(two))
            for guard, one in cases[0]
            for other, two in cases[1]
        )

    def _same_where(self, guards: tuple[_Statement, ...], first: Term, second: Term) -> bool:
        """Say whether two values are the same if *guards* hold."""
        reader = self._reader
        if is_boolean(first) and is_boolean(second):
            return all(
                self._refutes(lambda: (*guards, read(one), read(two, wanted=False)))  # noqa: B023 - called at once
                for one, two in ((first, second), (second, first))
                for read in (reader.true, reader.false)
            )
        sorts = reader.scalars.sort(first), reader.scalars.sort(second)
        if sorts[0] is not None and sorts[0] == sorts[1]:
            return self._refutes(lambda: (*guards, self._unequal(first, second)))
        reader.work = 0
        try:
            world = self._world
            if guards != (_YES, _YES):
                world = world.copy()
                if not all(map(world.add, guards)) or not world.settle():
                    return True
            equal = world.equals()
            if world.image(first, equal) == world.image(second, equal):
                return True
            null = reader.null(first, wanted=False), reader.null(second, wanted=False)
        except (_OutOfWorkError, RecursionError):
            return False
        return self._refutes(lambda: (*guards, _some(null)))

    def _unequal(self, first: Term, second: Term) -> _Statement:
        """Say that two values differ, where NULL is no other than NULL."""
        parts = Term("part", "this", (first,)), Term("part", "expression", (second,))
        return self._reader.true(Term("fn", "NullSafeNEQ", parts))

    def constant(self, term: Term) -> Term | None:
        """Return the literal that a value is, None where it may be another one."""
        if term.op in ("int", "num", "str", "null", "true", "false"):
            return term
        try:
            self._reader.work = 0
            null = self._world.holds(self._reader.null(term))
            found = self._world.image(term, self._world.equals())
        except (_OutOfWorkError, RecursionError):
            return None
        if null is True:
            return NULL
        return found if found.op in ("int", "str") else None

    def classes(self) -> list[tuple[Term, ...]]:
        """Return the groups of terms that are known to be the same, literals last."""
        groups: dict[Term, list[Term]] = {}
        try:
            self._reader.work = 0
            for term, first in self._world.equals().items():
                groups.setdefault(first, []).append(term)
        except _OutOfWorkError:
            return []
        return [(*sorted(terms), first) for first, terms in groups.items()]

    def _refutes(self, statements: Callable[[], tuple[_Statement, ...]]) -> bool:
        """Say whether no row passes the conditions for which all *statements* hold."""
        if not self._possible:
            return True
        self._reader.work = 0
        try:
            asked = statements()
            if asked not in self._answers:
                world = self._world.copy()
                self._answers[asked] = not _satisfiable(world, asked)
            return self._answers[asked]
        except (_OutOfWorkError, RecursionError):
            return False


def not_true(condition: Term) -> Term:
    """Return the condition that another one is false or NULL."""
    parts = Term("part", "expression", (TRUE,)), Term("part", "this", (condition,))
    return Term("not", "", (Term("fn", "Is", parts),))


def equivalent(first: Term, second: Term, facts: Facts, mode: Mode) -> bool:
    """Say whether two conditions or values are the same for every row that *facts* allow."""
    if first == second:
        return True
    if mode == "value" and not (is_boolean(first) and is_boolean(second)):
        return facts.same(first, second)
    if not (facts.entails(first, second) and facts.entails(second, first)):
        return False
    if mode == "filter":
        return True
    negated = Term("not", "", (first,)), Term("not", "", (second,))
    return facts.entails(*negated) and facts.entails(*negated[::-1])
