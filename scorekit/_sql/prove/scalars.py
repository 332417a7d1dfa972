"""
What values an expression has, and how they compare.

Two expressions are comparable by one total order only if no conversion depends on which of them
meet: SQLite and MySQL compare a text with a number otherwise than with a text, and decimals with
binary fractions are compared after rounding.  So each has a family, and an order stays inside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

import attrs

from scorekit._sql.databases.kinds import LOOSE_TYPES, NUMBERS, UNCASED
from scorekit._sql.meaning.tree import (
    NULL,
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Exists,
    Function,
    InQuery,
    IsNull,
    Like,
    Literal,
    Negative,
    Node,
    Not,
    OpenName,
    Or,
    Scalar,
    ScalarQuery,
    SetOperation,
    integer,
    sorted_nodes,
)
from scorekit._sql.prove.normal import As, unconverted
from scorekit._sql.prove.order import Number
from scorekit._sql.prove.scope import NOTHING, Premises, Scope, aggregate_of, is_count

NOUGHT: Final = integer(0)
"""The node from which numbers are counted."""

TRUE_BOOLEANS: Final = frozenset(
    {"postgres", "duckdb", "bigquery", "snowflake", "spark", "databricks", "hive", "redshift"}
    | {"presto", "trino", "athena"}
)
"""Dialects in which a boolean is no number."""

_BINARY_ORDER: Final = frozenset(
    {"sqlite", "duckdb", "bigquery", "snowflake", "spark", "databricks", "hive"}
    | {"presto", "trino", "athena", "clickhouse"}
)
"""Dialects that compare texts by their code points."""

_FAMILY: Final = {
    "integer": "number", "natural": "number", "number": "number", "real": "real",
    "text": "text", "time": "time", "boolean": "boolean",
}  # fmt: skip

_NUMBER = re.compile(r"-?(?:\d{1,15}(?:\.\d{0,9})?|\.\d{1,9})\Z", re.ASCII)
_WHOLE_TEXT = re.compile(r"(?:0|-?[1-9]\d{0,14})\Z", re.ASCII)
_DIGITS_OF_DOUBLE: Final = 15
_TIME_TEXT = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)?\Z",
    re.ASCII,
)
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\Z", re.ASCII)
_PLAIN_TEXT = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?\Z", re.ASCII)
_VARYING = re.compile(r"(?i)n?varchar|text")
_TESTS: Final = frozenset({"is", "nullsafeeq", "nullsafeneq"})


# Values that only the logic knows.


@attrs.frozen(eq=False)
class Apart(Scalar):
    """A value that is no column any more, and so without the affinity of one."""

    value: Scalar


@attrs.frozen(eq=False)
class ComparedValue(Scalar):
    """One of two values that are compared in a way of their own."""

    first: Scalar
    second: Scalar
    place: int


class Difference(NamedTuple):
    """``a`` compares to ``b`` as *first* - *second* does to *number*."""

    first: Scalar
    second: Scalar
    number: Number
    rests: Premises = NOTHING


def is_literal(value: Node, *kinds: str) -> bool:
    """Say whether a value is a literal, of one of *kinds* where these are given."""
    return isinstance(value, Literal) and (not kinds or value.kind in kinds)


def bare(value: Scalar) -> Scalar:
    """Return what is set apart."""
    return value.value if isinstance(value, Apart) else value


def as_shown(value: Scalar) -> Scalar:
    """Return a value that is only looked at without the conversions of what it may be."""
    value = unconverted(value)
    if not isinstance(value, Case):
        return value
    whens = (attrs.evolve(when, value=as_shown(when.value)) for when in value.whens)
    return Case(tuple(whens), as_shown(value.default))


def is_boolean(value: Node) -> bool:
    """Say whether a value can only be true, false or NULL."""
    if isinstance(value, Literal):
        return value.kind == "boolean"
    if isinstance(value, Function):
        return value.name in _TESTS
    if isinstance(value, Case):
        values = (*(when.value for when in value.whens), value.default)
        return values[0] != NULL and all(v == NULL or is_boolean(v) for v in values)
    return isinstance(
        value, And | Or | Not | Comparison | IsNull | Exists | InQuery | Like | Among
    )


def number_of(value: Node) -> Number | None:
    """Return the number that a literal is, if every engine reads it as that."""
    if isinstance(value, Negative):
        found = number_of(value.operand)
        return None if found is None else -found
    if not isinstance(value, Literal):
        return None
    if value.kind == "integer":
        return int(value.text)
    if (
        value.kind == "number"
        and _NUMBER.match(value.text)
        and _digits(value) <= _DIGITS_OF_DOUBLE
    ):
        return plain_number(Fraction(value.text.removesuffix(".")))
    return None


def against_number(node: Node) -> tuple[str, Scalar, int] | None:
    """Read a comparison of what is whole with a number: ``=``, ``<>``, ``<=`` or ``>=`` that."""
    if not isinstance(node, Comparison):
        return None
    sign, value, other = node.operator, node.left, node.right
    if is_literal(value, "integer"):
        sign, value, other = {"<": ">", "<=": ">="}.get(sign, sign), other, value
    if not isinstance(other, Literal) or other.kind != "integer":
        return None
    sign, more = {"<": ("<=", -1), ">": (">=", 1)}.get(sign, (sign, 0))
    return sign, value, int(other.text) + more


def _digits(value: Literal) -> int:
    return len(value.text.lstrip("-").replace(".", "").strip("0"))


def plain_number(value: Fraction) -> Number:
    """Return a number as an integer if it is one."""
    return value.numerator if value.denominator == 1 else value


def decimal(number: Number) -> Literal:
    """Return a number as a literal, which is read again if it has few digits."""
    if isinstance(number, int):
        return integer(number)
    places = next((n for n in range(10) if 10**n % number.denominator == 0), None)
    if places is None:
        return Literal("number", str(number))
    digits = f"{abs(number.numerator) * 10**places // number.denominator:0{places + 1}}"
    sign = "-" if number < 0 else ""
    return Literal("number", f"{sign}{digits[:-places]}.{digits[-places:]}")


def in_order(node: Node) -> Node:
    """Put the operands of *node* in one order where the order, or the brackets, do not matter."""
    if isinstance(node, And | Or):
        return attrs.evolve(node, parts=tuple(dict.fromkeys(sorted_nodes(node.parts))))
    if (isinstance(node, Comparison) and node.operator in ("=", "<>")) or (
        isinstance(node, Arithmetic) and node.operator in ("+", "*")
    ):
        if node.right.order < node.left.order:
            return attrs.evolve(node, left=node.right, right=node.left)
        return node
    return node


class Scalars:
    """Families, sorts and differences of the expressions that stand in one scope."""

    def __init__(self, scope: Scope, apart: Callable[[Scalar, Scalar], Difference]) -> None:
        self.scope, self.dialect = scope, scope.dialect
        self.loose = scope.dialect in LOOSE_TYPES
        self._apart: Final = apart
        self._families: dict[Scalar, str | None] = {}

    def family(self, value: Scalar) -> str | None:
        """Return the family in which a value is compared, None where that is not known."""
        if value not in self._families:
            self._families[value] = self._family(value)
        return self._families[value]

    def _converts(self, column: Scalar) -> bool:
        """Say whether SQLite makes numbers of some of the texts in a column."""
        found = self.scope.column(column)
        return found is not None and found.limits.converts

    def _family(self, value: Scalar) -> str | None:
        if isinstance(value, Column):
            family = None if self._converts(value) else _FAMILY.get(self.scope.kind(value))
            return "number" if family == "real" and self.dialect == "sqlite" else family
        if isinstance(value, Literal):
            kinds = {"integer": "number", "number": "number", "text": "text"}
            return kinds.get(value.kind, "boolean" if value.kind == "boolean" else None)
        if isinstance(value, Aggregate):
            if value.function == "count":
                return "number"
            family = self.family(value.operand) if value.operand is not None else None
            if value.function in ("min", "max"):
                return family
            return {"number": "number" if value.function == "sum" else "real"}.get(
                family or "", "real" if family == "real" else None
            )
        if isinstance(value, Arithmetic):
            if value.operator == "/":
                return "real" if self._of_arithmetic(value.left) else None
            plus = value.operator in ("+", "-", "*", "%")
            return self._of_arithmetic(value.left, value.right) if plus else None
        if isinstance(value, Negative):
            return self._of_arithmetic(value.operand)
        if isinstance(value, Apart):
            return self.family(value.value)
        if isinstance(value, As):
            return {"number": "number", "real": "real"}.get(value.type.partition(" ")[0])
        if isinstance(value, Cast):
            family = _FAMILY.get(value.kind)
            return None if self.loose and family in ("time", "boolean") else family
        if aggregate_of(value) is not None:
            kind = self.scope.kind(value)
            real = "number" if self.dialect == "sqlite" else "real"
            return {"real": real}.get(kind, "number") if kind in NUMBERS else None
        return None

    def _of_arithmetic(self, *operands: Scalar) -> str | None:
        families = set(map(self.family, operands))
        if not families <= {"number", "real"}:
            return None
        return "number" if families == {"number"} else "real"

    def is_whole(self, value: Scalar) -> bool:
        """Say whether a value is a whole number or NULL."""
        if isinstance(value, Literal):
            return value.kind == "integer"
        if isinstance(value, Column):
            kind = self.scope.kind(value)
            truth = kind == "boolean" and self.dialect in TRUE_BOOLEANS
            return truth or (not self.loose and kind in ("integer", "natural"))
        if isinstance(value, ScalarQuery):
            return is_count(value)
        if isinstance(value, Aggregate):
            if value.function == "count" or value.operand is None:
                return True
            return value.function != "avg" and self.is_whole(value.operand)
        if isinstance(value, Arithmetic):
            whole = self.is_whole(value.left) and self.is_whole(value.right)
            return value.operator in ("+", "*") and whole
        if isinstance(value, Apart):
            return self.is_whole(value.value)
        if isinstance(value, Cast):
            return not self.loose and value.kind in ("integer", "natural")
        return False

    def sort(self, value: Scalar) -> str | None:
        """Return what of equal values makes them the same to every function, None where not."""
        if isinstance(value, Column):
            kind = self.scope.kind(value)
            if kind in ("integer", "natural"):
                return "integer"
            if kind == "boolean":
                return kind
            column = self.scope.column(value)
            odd = column is not None and (column.limits.padded or column.limits.converts)
            return "text" if kind == "text" and self.scope.exact(value) and not odd else None
        if self.is_whole(value) and self.family(value) == "number":
            return "integer"
        return "text" if is_literal(value, "text") else None

    def type_of(self, value: Scalar) -> tuple[object, ...] | None:
        """Return what a value has in common with those to which no conversion takes it."""
        if isinstance(value, Literal) and value.kind in ("integer", "number", "text"):
            return (value.kind,)
        if is_boolean(value):
            return ("boolean",)
        if isinstance(value, Apart):
            return self.type_of(value.value)
        kind = self.scope.kind(value)
        column = self.scope.column(value)
        if column is not None:
            limits = column.limits
            if limits.padded or limits.converts:
                return None
            if kind in ("number", "time"):
                return kind, limits.scale, limits.timed
        if isinstance(value, Cast) and kind == "text" and not _VARYING.match(value.type):
            return None
        if kind == "number" and isinstance(value, Aggregate | Arithmetic):
            of = [self.type_of(one) for one in value.children if isinstance(one, Scalar)]
            name = value.function if isinstance(value, Aggregate) else value.operator
            return None if None in of else (name, *of)
        kind = "integer" if kind == "natural" else kind
        return (kind,) if kind in ("integer", "real", "text", "boolean") else None

    def unconverted_type(self, value: Scalar) -> object:
        """Return what values have in common of which a set operation converts none, or None."""
        affinity = self.affinity(value)
        if self.dialect == "sqlite":
            return (affinity,)
        found = self.type_of(value)
        return None if found is None else (found, affinity)

    def affinity(self, value: Scalar) -> object:
        """Return what makes SQLite convert the value that *value* is compared to, if anything."""
        if not self.loose:
            return None
        query = self.scope.derived.get(value.source) if isinstance(value, Column) else None
        if isinstance(value, Column) and query is not None and value.name.isdigit():
            arms = query.arms if isinstance(query, SetOperation) else (query,)
            several = {
                self.affinity(arm.outputs[int(value.name)])
                for arm in arms
                if int(value.name) < len(arm.outputs)
            }
            return several.pop() if len(several) == 1 else value
        if isinstance(value, Column):
            family = None if self._converts(value) else _FAMILY.get(self.scope.kind(value))
            return value if family is None else family == "text"
        if isinstance(value, Cast):
            return value.kind
        open_ = isinstance(value, ScalarQuery | OpenName) and aggregate_of(value) is None
        return value if open_ else None

    def is_natural(self, value: Scalar) -> bool:
        """Say whether a value is never negative: a count, or of a type without signs."""
        if isinstance(value, Aggregate | ScalarQuery):
            return is_count(value)
        natural = isinstance(value, Column) and self.scope.kind(value) == "natural"
        return natural and not self.loose

    # Differences.

    def difference(self, a: Scalar, b: Scalar) -> Difference:
        """Return what *a* compared to *b* is a matter of."""
        a, b = self._untyped(a), self._untyped(b)
        first, second = self._adapted(a, b), self._adapted(b, a)
        if first == second:
            return Difference(NOUGHT, NOUGHT, 0)
        families = self.family(first), self.family(second)
        if families[0] is not None and families[0] == families[1]:
            if families[0] in ("number", "boolean"):
                return self._apart(first, second)
            if families[0] != "text" or (_is_sure_text(first) and _is_sure_text(second)):
                return Difference(first, second, 0)
        if "boolean" in families and "number" in families and self.dialect not in TRUE_BOOLEANS:
            return self._apart(first, second)
        if (families[0] == "time" and self._is_time(second)) or (
            families[1] == "time" and self._is_time(first)
        ):
            return Difference(first, second, 0)
        low, high = sorted_nodes((first, second))
        nodes = ComparedValue(low, high, 0), ComparedValue(low, high, 1)
        return Difference(*(nodes if first == low else (nodes[1], nodes[0])), 0)

    def _untyped(self, value: Scalar) -> Scalar:
        """Return what equals a value, set apart where an aggregate of it has no affinity."""
        plain = unconverted(value)
        return Apart(plain) if self.loose and plain != value else plain

    def _adapted(self, value: Scalar, other: Scalar) -> Scalar:
        """Return a literal as the column that it is compared to reads it."""
        if isinstance(value, Apart):
            same = self.family(value.value) == self.family(other) is not None
            return value.value if same else value
        day = self.day(value)
        if day is not None:
            return day if self.family(other) == "time" else value
        bound = not self.loose or self.affinity(other) is False
        if isinstance(value, Literal) and value.kind == "text" and bound:
            whole = self.family(other) == "number" and _WHOLE_TEXT.match(value.text)
            return integer(int(value.text)) if whole else value
        return value

    def day(self, value: Scalar) -> Literal | None:
        """Return the text of a literal like ``DATE '2020-01-31'``, or the midnight of that day."""
        named = value.type.lower() if isinstance(value, Cast) and not self.loose else ""
        midnight = named == "timestamp" and self.dialect == "postgres"
        if not isinstance(value, Cast) or not (named == "date" or midnight):
            return None
        this = value.operand
        text = isinstance(this, Literal) and this.kind == "text" and _DAY.match(this.text)
        return this if text and isinstance(this, Literal) else None

    def _is_time(self, value: Scalar) -> bool:
        """Say whether a text is that of a day or, where no type cuts it off, of a time."""
        pattern = _TIME_TEXT if self.dialect == "sqlite" else _DAY
        text = isinstance(value, Literal) and value.kind == "text" and pattern.match(value.text)
        return bool(text)

    # Constants.

    def constants_compare(self, first: Scalar, second: Scalar) -> int | None:
        """
        Return -1 or 1 if one constant comes before or after another, 0 if they only differ.

        None is returned where they may be equal to some engine or for some type of column.
        """
        if not (isinstance(first, Literal) and isinstance(second, Literal)):
            return None
        if first.kind != "text" or second.kind != "text":
            return None
        return self._texts_compare(first.text, second.text)

    def _texts_compare(self, first: str, second: str) -> int | None:
        if _shape(first) == _shape(second):  # digits at the same places: so in every collation
            return -1 if first < second else 1
        for pattern in (_TIME_TEXT, *([_NUMBER] if self.loose else [])):
            if pattern.match(first) and pattern.match(second):
                return None  # equal as times or as numbers, if the column holds these
        if self.dialect in _BINARY_ORDER:
            return -1 if first < second else 1
        if self.dialect is not None and self.dialect not in UNCASED:
            return 0
        plain = _PLAIN_TEXT.match(first) and _PLAIN_TEXT.match(second)
        return 0 if plain and first.lower() != second.lower() else None


def _shape(text: str) -> str:
    return re.sub(r"[0-9]", "0", text)


def _is_sure_text(value: Scalar) -> bool:
    """Say whether a text is not one that may be padded."""
    return not (isinstance(value, Literal) and value.text.endswith(" "))
