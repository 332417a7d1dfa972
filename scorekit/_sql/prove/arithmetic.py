"""
Arithmetic in one form: what is computed with +, -, * and / is a quotient of two polynomials.

A polynomial is a sum of products of terms with exact factors; a term is what is not computed by
arithmetic.  Over whole numbers and decimals that is exact as long as nothing overflows, and a
quotient of such polynomials is rounded once, so that two of one form are the same.  What is
rounded on its way is only close to its form.  A factor of zero stays: NULL times zero is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import gcd, lcm
from typing import Final, TypeAlias

import attrs

from scorekit._sql.databases.kinds import LOOSE_TYPES, NUMBERS, WHOLE, widest
from scorekit._sql.meaning.tree import (
    FALSE,
    NULL,
    TRUE,
    Aggregate,
    Arithmetic,
    Case,
    Cast,
    Column,
    Function,
    Literal,
    Negative,
    Query,
    Scalar,
    ScalarQuery,
    Select,
    SetOperation,
    When,
    integer,
    sorted_nodes,
    walk,
)
from scorekit._sql.prove.normal import As
from scorekit._sql.prove.order import Number
from scorekit._sql.prove.scalars import (
    NOUGHT,
    Difference,
    bare,
    decimal,
    is_boolean,
    is_literal,
    number_of,
    plain_number,
)
from scorekit._sql.prove.scope import NOTHING, Premises, Scope, every, never_null_alone

Polynomial: TypeAlias = "Mapping[tuple[Scalar, ...], Number]"
"""Factors by the terms that they multiply; the constant multiplies none."""

OVERFLOW: Final = "no arithmetic overflows"
ROUNDED: Final = "fractions are equal within the tolerance with which results are compared"
NO_ZERO: Final = "no divisor is zero"

ONE: Final[Polynomial] = {(): 1}
MAX_PARTS: Final = 24
"""Products in the largest form that is looked into."""
MAX_NUMBER: Final = 2**31 - 1
"""The largest factor: an INT holds it everywhere."""

_DYADIC: Final = 2**20
"""Fractions of this part are binary fractions."""
_EXACT_DECIMALS: Final = frozenset({"postgres", "mysql", "duckdb"})
_CUTTING: Final = frozenset({"postgres", "sqlite"})
"""Dialects in which / of whole numbers drops the fraction."""
_PRECISE: Final = frozenset({"postgres", "sqlite", "duckdb"})
"""Dialects whose quotients have 15 digits and more; MySQL's have four places more than the top."""
_CHOICES: Final = frozenset({"coalesce", "ifnull", "nullif", "abs"})


@attrs.frozen
class Quotient:
    """A number as the quotient of two polynomials."""

    top: Polynomial
    bottom: Polynomial = ONE
    kind: str = "integer"
    """``integer``, ``number`` (a decimal) or ``real``: what it is to a division."""
    scale: int = 0
    """Decimal places of a decimal."""
    exact: bool = True
    """Whether it is rounded by no more than its own division."""
    rests: Premises = NOTHING
    """What its exactness rests on."""
    given: bool = False
    """Whether it is a term as it is, so that it is not rounded yet."""

    @property
    def whole(self) -> bool:
        """Whether it is no quotient."""
        return self.bottom == ONE

    @property
    def constant(self) -> Number | None:
        """The number that it is, if it is one."""
        return self.top.get((), 0) if self.whole and not {*self.top} - {()} else None


def _plus(first: Polynomial, second: Polynomial, times: Number = 1) -> Polynomial:
    total = dict(first)
    for terms, factor in second.items():
        total[terms] = plain_number(total.get(terms, 0) + Fraction(times) * factor)
    return total


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for mine, factor in first.items():
        new = {sorted_nodes((*mine, *terms)): number for terms, number in second.items()}
        total = _plus(total, new, factor)
    return total


def _ratio(first: Polynomial, second: Polynomial) -> Fraction | None:
    """Return by what *second* is multiplied to be *first*, where that is so."""
    mine, other = ({t: n for t, n in one.items() if n} for one in (first, second))
    if mine.keys() != other.keys():
        return None
    ratios = {Fraction(n) / other[terms] for terms, n in mine.items()} or {Fraction(1)}
    return ratios.pop() if len(ratios) == 1 else None


def _term(value: Scalar) -> Polynomial:
    return {(value,): 1}


def _product(factors: Iterable[Scalar]) -> Scalar:
    first, *others = factors
    for other in others:
        first = Arithmetic("*", first, other)
    return first


def tree_of(polynomial: Polynomial) -> Scalar:
    """Return a polynomial as an expression, in one order."""
    parts: list[Scalar] = []
    for terms in sorted(polynomial, key=_order_of):
        number = polynomial[terms]
        if number == 1 and terms:
            parts.append(_product(terms))
        elif number or terms or len(polynomial) == 1:
            parts.append(_product((decimal(number), *terms)))
    total = parts[0]
    for part in parts[1:]:
        total = Arithmetic("+", total, part)
    return total


class Numbers:
    """The arithmetic of the expressions that stand in one scope."""

    def __init__(self, scope: Scope, never_null: Callable[[Scalar], Premises | None]) -> None:
        self.scope, self.dialect = scope, scope.dialect
        self._constrained, self.loose = never_null, scope.dialect in LOOSE_TYPES
        self._forms: dict[Scalar, Quotient | None] = {}

    def never_null(self, value: Scalar) -> Premises | None:
        """Say whether a value is never NULL, by constraints alone."""
        return NOTHING if never_null_alone(value) else self._constrained(value)

    def form(self, value: Scalar) -> Quotient | None:
        """Return the form of a number, None where it is no number or one of few digits."""
        value = bare(value)
        if value not in self._forms:
            found = self._form(value)
            self._forms[value] = None if found is None else self._checked(found)
        return self._forms[value]

    def _checked(self, found: Quotient) -> Quotient | None:
        numbers: tuple[Number, ...] = (*found.top.values(), *found.bottom.values())
        if len(numbers) > MAX_PARTS or not all(
            abs(Fraction(n)) <= MAX_NUMBER and number_of(decimal(n)) == n for n in numbers
        ):
            return None
        top = {t: n for t, n in found.top.items() if n or not all(map(never_null_alone, t))}
        return attrs.evolve(found, top=top or {(): 0})

    def _form(self, value: Scalar) -> Quotient | None:
        if isinstance(value, Literal):
            return self._of_literal(value)
        if isinstance(value, Negative):
            return self._computed("*", Quotient({(): -1}), self.form(value.operand))
        if isinstance(value, Arithmetic):
            left, right = self.form(value.left), self.form(value.right)
            if left is None or right is None:
                return None
            return self._computed(value.operator, left, right) or self._term(value)
        if isinstance(value, Cast):
            return self._of_cast(value) or self._term(value)
        if isinstance(value, As):
            return self._of_type(value)
        if isinstance(value, Case):
            return self._of_case(value) or self._term(value)
        if isinstance(value, Aggregate) and value.operand is not None:
            return self._of_aggregate(value, value.operand) or self._term(value)
        return self._term(value)

    def _of_literal(self, value: Literal) -> Quotient | None:
        if value in (TRUE, FALSE):
            return Quotient({(): int(value == TRUE)})
        number = number_of(value)
        if number is None:
            return None
        if value.kind == "integer":
            return Quotient({(): number})
        exact = not self.loose or _DYADIC % Fraction(number).denominator == 0
        kind = "real" if self.dialect == "sqlite" else "number"
        return Quotient({(): number}, ONE, kind, len(value.text.partition(".")[2]), exact)

    def _term(self, value: Scalar) -> Quotient | None:
        """Return what is not looked into."""
        kind = "integer" if is_boolean(value) else self.scope.kind(value)
        if kind not in NUMBERS or (kind == "real" and self._is_single(value)):
            return None
        rests, scale = self._exact(value), 0
        if kind == "number" and self.dialect == "mysql":
            column = self.scope.column(value)
            if column is None or column.limits.scale is None:
                return None
            scale = column.limits.scale
        kind = "integer" if kind in WHOLE else kind
        return Quotient(
            _term(value), ONE, kind, scale, rests is not None, rests or NOTHING, given=True
        )

    def _of_case(self, value: Case) -> Quotient | None:
        """Return a choice, whose zeros may be of any kind where values have kinds of their own."""
        values = [v for v in (*(when.value for when in value.whens), value.default) if v != NULL]
        forms = [form for form in map(self.form, values) if form is not None and form.whole]
        if not forms or len(forms) < len(values):
            return None
        some = [one for one in forms if one.constant != 0] if self.dialect == "sqlite" else forms
        kind, scale = widest({one.kind for one in some or forms}), max(o.scale for o in forms)
        rests = NOTHING.union(*(one.rests for one in forms))
        return Quotient(_term(value), ONE, kind, scale, all(one.exact for one in forms), rests)

    def _of_type(self, value: As) -> Quotient | None:
        """Return what equals a value and is of another type."""
        found = self.form(value.value)
        if found is None:
            return None
        if value.type in ("min", "max"):
            return found
        if value.type == "sum":
            return attrs.evolve(found, kind=self._kind_of_sum(value.value, found))
        kind, _, scale = value.type.partition(" ")
        if kind == "avg":
            kind = "number" if self.dialect in ("postgres", "mysql") else "real"
            kind, scale = ("real" if found.kind == "real" else kind), f"{found.scale + 4}"
        return attrs.evolve(found, kind=kind, scale=int(scale or 0))

    # What is exact.

    def _is_single(self, value: Scalar) -> bool:
        """Say whether a fraction may have but 24 bits."""
        for one in walk(value) if self.dialect != "sqlite" else ():
            if isinstance(one, Cast) and one.kind == "real" and one.type != "DOUBLE":
                return True
            column = self.scope.column(one) if isinstance(one, Column) else None
            if isinstance(one, Column) and (column is None or column.limits.single):
                return True
        return False

    def _exact(self, value: Scalar) -> Premises | None:
        """Say whether what is computed of a value is not rounded."""
        if isinstance(value, Column):
            return self._exact_column(value)
        if isinstance(value, Case):
            return every(map(self._exact, (*(when.value for when in value.whens), value.default)))
        if isinstance(value, ScalarQuery):
            return self._exact_output(value.query, 0)
        if isinstance(value, Function) and value.name in _CHOICES:
            return every(map(self._exact, value.operands))
        if (
            isinstance(value, Aggregate)
            and value.operand is not None
            and value.function != "count"
        ):
            return self._exact(value.operand) if value.function != "avg" else None
        if isinstance(value, Arithmetic) and value.operator in ("/", "%"):
            whole = self.scope.kind(value) in WHOLE
            return every(map(self._exact, (value.left, value.right))) if whole else None
        if isinstance(value, Arithmetic | Negative | Literal) and value != NULL:
            found = self.form(value)
            return found.rests if found is not None and found.exact and found.whole else None
        kind = self.scope.kind(value)
        exact = kind in WHOLE or (kind == "number" and self.dialect in _EXACT_DECIMALS)
        return NOTHING if exact or value == NULL or is_boolean(value) else None

    def _exact_column(self, value: Column) -> Premises | None:
        query = self.scope.derived.get(value.source)
        if query is not None:
            return self._exact_output(query, int(value.name))
        kind, name = self.scope.kind(value), f"{value.source.table}.{value.name}"
        column = self.scope.column(value)
        open_scale = kind == "number" and column is not None and not column.limits.scale
        if kind in WHOLE or (open_scale and self.loose):
            return frozenset((f"{name} holds whole numbers",)) if self.loose else NOTHING
        if kind != "number" or self.dialect not in _EXACT_DECIMALS:
            return None
        return frozenset((f"{name} holds numbers",)) if self.dialect == "postgres" else NOTHING

    def _exact_output(self, query: Query, place: int) -> Premises | None:
        if isinstance(query, SetOperation):
            return every(self._exact_output(arm, place) for arm in query.arms)
        if isinstance(query, Select):
            inside = Numbers(self.scope.inside(query.tables), self._constrained)
            return inside._exact(query.outputs[place])
        return None

    # What is computed.

    def _computed(
        self, operator: str, left: Quotient | None, right: Quotient | None
    ) -> Quotient | None:
        if left is None or right is None:
            return None
        constants = left.constant is not None and right.constant is not None
        rests = NOTHING if constants else left.rests | right.rests | {OVERFLOW}
        kind = widest({left.kind, right.kind})
        if operator == "/":
            return self._divided(left, right, kind, rests)
        if operator not in ("+", "-", "*") or not (self._has_digits(left, right)):
            return None
        exact = left.exact and right.exact and left.whole and right.whole
        if operator == "*":
            top, bottom = _times(left.top, right.top), _times(left.bottom, right.bottom)
            given = (left.given, right.constant) == (True, 1) or (right.given, left.constant) == (
                True,
                1,
            )
            return Quotient(top, bottom, kind, left.scale + right.scale, exact, rests, given)
        tops, bottom = (left.top, right.top), left.bottom
        if left.bottom != right.bottom:
            tops = _times(left.top, right.bottom), _times(right.top, left.bottom)
            bottom = _times(left.bottom, right.bottom)
        top = _plus(*tops, 1 if operator == "+" else -1)
        return Quotient(top, bottom, kind, max(left.scale, right.scale), exact, rests)

    def _has_digits(self, *forms: Quotient) -> bool:
        """Say whether quotients among some numbers have the digits of a double."""
        return self.dialect in _PRECISE or all(one.whole or one.kind == "real" for one in forms)

    def _divided(
        self, left: Quotient, right: Quotient, kind: str, rests: Premises
    ) -> Quotient | None:
        if right.constant == 0 or not right.whole or not self._has_digits(left):
            return None
        if kind == "integer" and self.dialect in _CUTTING:
            top, bottom = left.constant, right.constant
            if not isinstance(top, int) or not isinstance(bottom, int):
                return None
            size = abs(top) // abs(bottom)
            return Quotient({(): size if (top < 0) == (bottom < 0) else -size})
        exact = left.exact and right.exact and left.whole
        given = left.given and right.exact
        known = attrs.evolve(left, kind=kind, exact=exact, rests=rests, given=given)
        return self._quotient(known, right.top)

    def _quotient(self, left: Quotient, right: Polynomial) -> Quotient | None:
        """Return a quotient; one by what is counted or summed need not know of any rows."""
        doubles = left.kind == "real" or self.dialect == "duckdb"
        if not (doubles or self.dialect in _EXACT_DECIMALS):
            return None  # a NUMERIC of SQLite may hold a whole number
        top, bottom, rests = left.top, _times(left.bottom, right), left.rests
        sums = [{t: n for t, n in one.items() if t != (NOTHING_SUMMED,)} for one in (top, bottom)]
        of_rows = all(any(isinstance(t, Aggregate) for t in terms) for terms in sums[1])
        if of_rows and sums[1] and sums != [top, bottom] and self.dialect != "duckdb":
            top, bottom = sums
            rests |= {NO_ZERO} if self.dialect == "postgres" else NOTHING
        exact = left.exact and (self.dialect != "duckdb" or self._is_binary(top))
        exact = exact or (left.given and self.dialect == "sqlite")
        return Quotient(top, bottom, "real" if doubles else "number", left.scale + 4, exact, rests)

    def _is_binary(self, polynomial: Polynomial) -> bool:
        """Say whether a double holds a polynomial of decimals."""
        forms = (self.form(term) for terms in polynomial for term in terms)
        return all(form is not None and form.kind == "integer" for form in forms) and all(
            _DYADIC % Fraction(number).denominator == 0 for number in polynomial.values()
        )

    def _of_cast(self, value: Cast) -> Quotient | None:
        found = self.form(value.operand)
        if found is None or value.safe:
            return None
        if value.kind == "real" and value.type == "DOUBLE":
            exact = found.exact and found.whole and found.kind != "number"
            return attrs.evolve(found, kind="real", exact=exact)
        if value.kind not in NUMBERS - {"real"} or found.kind != "integer" or not found.exact:
            return None
        if value.kind in WHOLE or self.dialect == "sqlite":
            return found
        sizes = re.fullmatch(r"DECIMAL(?:\(\d+(?:, (\d+))?\))?", value.type)
        known = sizes is not None and self.dialect in _EXACT_DECIMALS
        scale = int(sizes[1] or 0) if sizes else 0
        return attrs.evolve(found, kind="number", scale=scale) if known else None

    # Sums over sums.

    def _of_aggregate(self, value: Aggregate, operand: Scalar) -> Quotient | None:
        if value.function == "count":
            count, rests = self._count(operand)
            return None if value.distinct else Quotient({(count,): 1}, rests=rests)
        found = self.form(operand)
        if value.function not in ("sum", "avg") or found is None or {*found.bottom} != {()}:
            return None
        sums, (count, rests) = attrs.evolve(value, function="sum"), self._count(operand)
        if value.distinct:
            count, rests, total = attrs.evolve(value, function="count"), NOTHING, _term(sums)
        elif value.function == "sum":
            total, rests = self._sum(sums, operand, found)
        else:
            total, more = self._sum(sums, operand, found)
            rests |= more
        lone = total == _term(sums)
        rests |= found.rests if lone else found.rests | {OVERFLOW}
        kind, scale, exact = found.kind, found.scale, found.exact and found.whole
        if value.function == "sum":
            kind = self._kind_of_sum(operand, found)
            return Quotient(total, found.bottom, kind, scale, exact, rests, given=lone)
        kind = "real" if self.dialect == "sqlite" else kind
        whole = Quotient(total, found.bottom, kind, scale, exact, rests, given=lone)
        return self._quotient(whole, _term(count))

    def _kind_of_sum(self, operand: Scalar, found: Quotient) -> str:
        """Return the kind of a sum: in PostgreSQL one of large whole numbers is a decimal."""
        decimal_sums = self.dialect not in ("sqlite", "duckdb", "mysql")
        wide = decimal_sums and found.kind == "integer" and self.scope.is_wide(operand)
        return "number" if wide else found.kind

    def _count(self, operand: Scalar) -> tuple[Aggregate, Premises]:
        """Return the count of what is not NULL in one form, and what that rests on."""
        rests = self.never_null(operand)
        if rests is not None:
            return Aggregate("count"), rests
        if isinstance(operand, Case):
            values = {*(when.value for when in operand.whens), operand.default} - {NULL}
            rests = every(map(self.never_null, values))
            if rests is not None:
                return Aggregate("count", _when(operand, *values)), rests
        form = self.form(operand)
        if form is not None and form.constant is None and {*form.bottom} == {()}:
            terms = sorted_nodes({term for one in form.top for term in one})
            never = [self.never_null(term) for term in terms]
            some = [term for term, its in zip(terms, never, strict=True) if its is None]
            rests = NOTHING.union(*(its for its in never if its is not None))
            return Aggregate("count", _product(some) if some else None), rests
        return Aggregate("count", operand), NOTHING

    def _sum(
        self, sums: Aggregate, operand: Scalar, found: Quotient
    ) -> tuple[Polynomial, Premises]:
        """Return a sum as one of sums and counts of terms, and what that rests on."""
        if isinstance(operand, Case):
            values = (*(when.value for when in operand.whens), operand.default)
            if all(is_literal(v, "integer", "number", "null") for v in values):
                return self._of_constants(operand), NOTHING
        if found.constant is not None:
            return {(Aggregate("count"),): found.constant, (NOTHING_SUMMED,): 0}, NOTHING
        terms, rests = [one for one in found.top if one], NOTHING
        if len(terms) > 1:
            never = every(self.never_null(term) for one in terms for term in one)
            if never is None:
                return _term(sums), NOTHING
            rests = never
        total: Polynomial = {(Aggregate("sum", _product(one)),): found.top[one] for one in terms}
        if () in found.top:
            count, more = self._count(_product(terms[0]))
            total, rests = _plus(total, _term(count), found.top[()]), rests | more
        return total, rests

    def _of_constants(self, case: Case) -> Polynomial:
        """Return a sum of constants as one of counts, NULL where none is summed."""
        values = dict.fromkeys((*(when.value for when in case.whens), case.default))
        total: Polynomial = {}
        for value in values:
            number = number_of(value)
            if number:
                total = _plus(total, _term(self._count(_when(case, value))[0]), number)
        there = Aggregate("sum", _when(case, *(v for v in values if v != NULL)))
        return _plus(total, _term(there), 0)

    # One form.

    def canonical(self, value: Scalar) -> tuple[Scalar, Premises]:
        """Return a number in one form, and what that rests on; itself where it may be rounded."""
        found = self.form(value)
        if found is None or not found.exact or found.top == _term(value):
            return value, NOTHING
        if found.whole:
            return self._typed(found.top, found.kind, found.scale), found.rests
        top = self._typed(found.top, found.kind, found.scale - 4)
        return Arithmetic("/", top, tree_of(found.bottom)), found.rests

    def _typed(self, polynomial: Polynomial, kind: str, scale: int) -> Scalar:
        tree = tree_of(polynomial)
        scale = scale if self.dialect == "mysql" and kind == "number" else 0
        found = self.form(tree)
        if kind == "integer" or (found and (found.kind, found.scale) == (kind, scale)):
            return tree
        return As(f"{kind} {scale}" if scale else kind, tree)

    def sort(self, value: Scalar) -> str | None:
        """Return ``integer`` of what is computed of whole numbers."""
        found = self.form(value)
        computed = found is not None and found.exact and found.whole and found.kind == "integer"
        return "integer" if found and computed and found.top != _term(bare(value)) else None

    def close(self, first: Scalar, second: Scalar) -> Premises | None:
        """Say whether two numbers have the same form, whatever is rounded, NULL apart."""
        one, two = self.form(first), self.form(second)
        if one is None or two is None:
            return None
        if self.dialect not in _PRECISE and not (one.whole and two.whole):
            reals = one.kind == two.kind == "real"
            if not reals and (one.kind, one.scale) != (two.kind, two.scale):
                return None  # a quotient is cut off after so many places
        times = _ratio(one.bottom, two.bottom)
        if times is None or times < 0 or _ratio(one.top, two.top) != times:
            return None
        return one.rests | two.rests | {ROUNDED} | self._numbers_in(first, second)

    def _numbers_in(self, *values: Scalar) -> Premises:
        """Return that columns hold numbers, which SQLite does not make of the texts in them."""
        if not self.loose:
            return NOTHING
        columns = [one for value in values for one in walk(value) if isinstance(one, Column)]
        names = (
            f"{one.source.table}.{one.name}" if one.source.table else "a column of a derived table"
            for one in columns
            if self.scope.kind(one) in NUMBERS
        )
        return frozenset(f"{name} holds numbers" for name in names)

    # What is compared.

    def difference(self, first: Scalar, second: Scalar) -> Difference:
        """Return what *first* compared to *second* is a matter of."""
        values = bare(first), bare(second)
        forms = [self.form(value) for value in values]
        for i, (one, other) in enumerate((values, values[::-1])):
            minus = isinstance(one, Arithmetic) and one.operator == "-" and number_of(other) == 0
            form = forms[i]
            if isinstance(one, Arithmetic) and minus and form is not None and not form.exact:
                # no difference of two fractions is rounded to zero
                found = self.difference(*((one.left, one.right)[:: 1 - 2 * i]))
                return found._replace(rests=found.rests | {OVERFLOW} | self._numbers_in(one))
        sides, rests = [_term(value) for value in values], NOTHING
        for i, (value, form) in enumerate(zip(values, forms, strict=True)):
            if form is not None and (number_of(value) is not None or value in (TRUE, FALSE)):
                sides[i], forms[i] = form.top, attrs.evolve(form, exact=True)
        known = [form for form in forms if form is not None and form.whole and form.exact]
        tops = [form.top for form in known]
        if len(known) == len(forms) and tops != sides:  # something is computed
            sides, rests = tops, NOTHING.union(*(form.rests for form in known))
        total = _plus(sides[0], sides[1], -1)
        terms = {one: factor for one, factor in total.items() if one and factor}
        if not terms:
            return Difference(NOUGHT, NOUGHT, -total.get((), 0), rests)
        lead = terms[min(terms, key=_order_of)]
        unit = Fraction(
            gcd(*(factor.numerator for factor in terms.values())),
            lcm(*(factor.denominator for factor in terms.values())),
        )
        signed = unit if lead > 0 else -unit
        scaled = {one: plain_number(factor / signed) for one, factor in terms.items()}
        first, second = tree_of(scaled), NOUGHT
        if sorted(scaled.values()) == [-1, 1]:
            by_sign = {factor: one for one, factor in scaled.items()}
            first, second = _product(by_sign[1]), _product(by_sign[-1])
        number = plain_number(-total.get((), 0) / unit)
        if lead < 0:
            first, second = second, first
        return Difference(first, second, number, rests)


def _order_of(terms: tuple[Scalar, ...]) -> list[object]:
    return [term.order for term in terms]


NOTHING_SUMMED: Final = Aggregate("sum", integer(1))
"""NULL where there are no rows."""


def _when(case: Case, *values: Scalar) -> Scalar:
    """Return 1 where a CASE has one of some values, and NULL where it has another."""
    one = integer(1)
    whens = [When(w.condition, one if w.value in values else NULL) for w in case.whens]
    default = one if case.default in values else NULL
    while whens and whens[-1].value == default:
        whens.pop()
    return Case(tuple(whens), default) if whens else default
