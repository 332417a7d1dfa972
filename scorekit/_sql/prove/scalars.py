"""
What values an expression has, and how they compare.

Two expressions are comparable by one total order only if no conversion depends on which of them
meet: SQLite and MySQL compare a text with a number otherwise than with a text, and decimals with
binary fractions are compared after rounding.  So each has a family, and an order stays inside it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import gcd, prod
from typing import Final, NamedTuple

from scorekit._sql.kinds import UNCASED, Column, kind_of
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.order import Number
from scorekit._sql.prove.terms import NULL, Term, is_boolean, walk

NOUGHT: Final = Term("int", "0")
"""The node from which numbers are counted."""

LOOSE_TYPES: Final = frozenset({None, "sqlite"})
"""Dialects in which a column may hold what its type does not allow."""

TRUE_BOOLEANS: Final = frozenset(
    {"postgres", "duckdb", "bigquery", "snowflake", "spark", "databricks", "hive", "redshift"}
    | {"presto", "trino", "athena"}
)
"""Dialects in which a boolean is no number."""

_WRAPPING: Final = frozenset({"spark", "spark2", "databricks", "hive"})
"""Dialects in which a number too large for the type of a CAST becomes another one."""

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
_DIGITS_OF_SINGLE: Final = 6
_TIME_TEXT = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[ T](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)?\Z",
    re.ASCII,
)
_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\Z", re.ASCII)
_PLAIN_TEXT = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?\Z", re.ASCII)
_SAFE: Final = 2**31 - 1
MAX_PARTS: Final = 12
"""Terms of the longest sum that is looked into."""


class Difference(NamedTuple):
    """``a`` compares to ``b`` as *first* - *second* does to *number*."""

    first: Term
    second: Term
    number: Number


class Sum(NamedTuple):
    """Multiples of expressions, and a number."""

    parts: dict[Term, Number]
    number: Number


def number_of(term: Term) -> Number | None:
    """Return the number that a literal is, if every engine reads it as that."""
    if term.op == "int":
        return int(term.name)
    if term.op == "fn" and term.name == "Neg":
        value = number_of(term.args[0].args[0])
        return None if value is None else -value
    if term.op == "num" and _NUMBER.match(term.name) and _digits(term) <= _DIGITS_OF_DOUBLE:
        value = Fraction(term.name if not term.name.endswith(".") else term.name[:-1])
        return value.numerator if value.denominator == 1 else value
    return None


def _digits(term: Term) -> int:
    return len(term.name.lstrip("-").replace(".", "").strip("0"))


def folded(term: Term) -> Term:
    """Return the number that a sum or product of small whole numbers is, if it is one."""
    name = term.name.partition(" ")[0]
    if term.op not in ("add", "mul") and (term.op, name) not in (("fn", "Sub"), ("fn", "Neg")):
        return term
    if term.op == "fn":
        parts = parts_of(term)
        operands = (*parts.get("this", ()), *parts.get("expression", ()))
    else:
        operands = term.args
    numbers = [int(operand.name) for operand in operands if operand.op == "int"]
    if len(numbers) < len(operands):
        return term
    result = {
        "add": sum(numbers), "mul": prod(numbers), "Neg": -numbers[0],
        "Sub": numbers[0] - numbers[-1],
    }[name or term.op]  # fmt: skip
    return Term("int", str(result)) if max(map(abs, (*numbers, result))) <= _SAFE else term


def chained(term: Term) -> Term:
    """
    Set the brackets of joined texts and of COALESCE in one way: both are associative.

    ``a || (b || c)`` is ``(a || b) || c``, NULL included, and COALESCE takes the first of all.
    """
    name = term.name.partition(" ")[0] if term.op == "fn" else ""
    if name == "DPipe":
        (left,), (right,) = parts_of(term)["this"], parts_of(term)["expression"]
        if right.op == "fn" and right.name == term.name:
            inner = parts_of(right)
            first = chained(_with_parts(term, expression=inner["this"], this=(left,)))
            return _with_parts(term, expression=inner["expression"], this=(first,))
    if name == "Coalesce":
        values = [*parts_of(term)["this"], *parts_of(term).get("expressions", ())]
        flat: list[Term] = []
        for value in values:
            inside = value.op == "fn" and value.name == term.name
            parts = parts_of(value) if inside else {}
            flat += [*parts["this"], *parts["expressions"]] if inside else [value]
        return _with_parts(term, expressions=tuple(flat[1:]), this=(flat[0],))
    return term


def _with_parts(term: Term, **parts: tuple[Term, ...]) -> Term:
    return term._replace(args=tuple(Term("part", key, value) for key, value in parts.items()))


def parts_of(term: Term) -> dict[str, tuple[Term, ...]]:
    """Return the operands of a ``fn`` by the key that each stands under."""
    return {part.name: part.args for part in term.args if part.op == "part"}


class Scalars:
    """Families, sorts and differences of the expressions of one query."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.dialect = known.dialect
        self.loose = known.dialect in LOOSE_TYPES
        self._families: dict[Term, str | None] = {}

    def column(self, term: Term) -> Column | None:
        """Return what the schema says of a column."""
        known = self.known
        table = known.tables.get(term.args[0]) if term.op == "col" else None
        if table is None or known.schema is None or not known.schema.given:
            return None
        columns = known.schema.tables.get(table.casefold(), ())
        return next((c for c in columns if c.name == term.name.casefold()), None)

    def family(self, term: Term) -> str | None:
        """Return the family in which a value is compared, None where that is not known."""
        if term not in self._families:
            self._families[term] = self._family(term)
        return self._families[term]

    def _converts(self, column: Term) -> bool:
        """Say whether SQLite makes numbers of some of the texts in a column."""
        found = self.column(column)
        return found is not None and found.limits.converts

    def _family(self, term: Term) -> str | None:  # noqa: C901, PLR0911 - one an operator
        op, args = term.op, term.args
        if op == "col":
            family = None if self._converts(term) else _FAMILY.get(self.known.kind(term))
            return "number" if family == "real" and self.dialect == "sqlite" else family
        if op in ("int", "num"):
            return "number"
        if op == "str":
            return "text"
        if op in ("true", "false"):
            return "boolean"
        if op == "agg":
            if term.name.startswith("count"):
                return "number"
            family = self.family(args[0]) if args else None
            if term.name[:3] in ("min", "max"):
                return family
            return {"number": "number" if term.name.startswith("sum") else "real"}.get(
                family or "", "real" if family == "real" else None
            )
        if op in ("add", "mul"):
            return self._of_arithmetic(args)
        if op == "case":
            return self.common_family(tuple(args[1:-1:2]) + args[-1:])
        if op == "fn":
            return self._of_function(term)
        return None

    def _of_arithmetic(self, args: tuple[Term, ...]) -> str | None:
        families = set(map(self.family, args))
        if not families <= {"number", "real"}:
            return None
        return "number" if families == {"number"} else "real"

    def _of_function(self, term: Term) -> str | None:  # noqa: PLR0911 - one a function
        name, parts = term.name.partition(" ")[0], parts_of(term)
        values = tuple(value for part in parts.values() for value in part)
        this = parts.get("this", ())
        if name in ("Sub", "Neg", "Abs", "Mod"):
            return self._of_arithmetic(values)
        if name in ("Div", "Round"):
            return "real" if self._of_arithmetic(this) else None
        if name == "Length" and len(this) == 1 and self.family(this[0]) == "text":
            return "number"
        if name in ("Upper", "Lower", "Substring", "Trim", "Replace") and this:
            return "text" if self.family(this[0]) == "text" else None
        if name == "DPipe" and not self.loose:
            return "text" if "text" in map(self.family, values) else None
        if name == "Coalesce":
            return self.common_family((*this, *parts.get("expressions", ())))
        if name == "Nullif" and len(this) == 1:
            return self.family(this[0])
        if name == "Cast" and self.cast_kind(term):
            family = _FAMILY.get(self.cast_kind(term) or "")
            return None if self.loose and family in ("time", "boolean") else family
        return None

    @staticmethod
    def cast_kind(term: Term) -> str | None:
        """Return the kind of the values that a CAST gives."""
        to = parts_of(term).get("to", ())
        found = re.match(r"DataType this=DType\.(\w+)\Z", to[0].name) if len(to) == 1 else None
        return kind_of(found[1]) if found else None

    def is_idle(self, term: Term) -> bool:
        """Say whether a CAST changes nothing, as the value is of its type already."""
        parts = parts_of(term)
        this, to = parts.get("this", ()), parts.get("to", ())
        if self.loose or self.dialect in _WRAPPING or len(this) != 1 or len(to) != 1:
            return False
        kind = self.cast_kind(term)
        if kind == "integer":
            return self.is_whole(this[0]) and self.family(this[0]) == "number"
        if not self._is_varying(term) or this[0].op != "col":
            return False
        column = self.column(this[0])
        if column is None or column.kind != "text" or column.limits.padded or column.limits.form:
            return False
        sizes = [int(node.name) for node in walk(to[0]) if node.op == "int"]
        return not sizes or (column.limits.length or sizes[0] + 1) <= sizes[0]

    @staticmethod
    def _is_varying(term: Term) -> bool:
        """Say whether a CAST is to a text that is not padded."""
        return parts_of(term)["to"][0].name.endswith((".VARCHAR", ".TEXT", ".NVARCHAR"))

    def common_family(self, values: tuple[Term, ...]) -> str | None:
        """Return the family of a value that is one of several, if they have one family."""
        found = {self.family(value) for value in values if value != NULL}
        return found.pop() if len(found) == 1 else None

    def is_whole(self, term: Term) -> bool:  # noqa: PLR0911 - one an operator
        """Say whether a value is a whole number or NULL."""
        op = term.op
        if op == "int":
            return True
        if op == "col":
            kind = self.known.kind(term)
            truth = kind == "boolean" and self.dialect in TRUE_BOOLEANS
            counts = self.known.least(term) is not None
            return truth or counts or (not self.loose and kind in ("integer", "natural"))
        if op == "agg":
            return term.name.startswith("count")
        if op in ("add", "mul", "sum"):
            return all(map(self.is_whole, term.args))
        if op == "case" and len(term.args) == 1:
            return self.is_whole(term.args[0])
        if op == "fn" and term.name == "Cast":
            return not self.loose and self.cast_kind(term) in ("integer", "natural")
        if op == "fn" and term.name == "Length":
            return self.family(term) == "number"
        return False

    def sort(self, term: Term) -> str | None:
        """Return what of equal values makes them the same to every function, None where not."""
        if term.op == "col":
            kind = self.known.kind(term)
            if kind in ("integer", "natural"):
                return "integer"
            if kind == "boolean":
                return kind
            column = self.column(term)
            odd = column is not None and (column.limits.padded or column.limits.converts)
            return "text" if kind == "text" and self.known.exact(term) and not odd else None
        if term.op == "int" or (self.is_whole(term) and self.family(term) == "number"):
            return "integer"
        if term.op == "str":
            return "text"
        return None

    def type_of(self, term: Term) -> tuple[object, ...] | None:  # noqa: PLR0911 - one an operator
        """Return what a value has in common with those to which no conversion takes it."""
        if term.op in ("int", "num", "str"):
            return {"int": ("integer",), "num": ("number",), "str": ("text",)}[term.op]
        if is_boolean(term):
            return ("boolean",)
        if term.op == "case" and len(term.args) == 1:
            return self.type_of(term.args[0])
        if term.op == "col":
            column = self.column(term)
            if column is None or column.limits.padded or column.limits.converts:
                return None
            kind = {"natural": "integer"}.get(column.kind, column.kind)
            if kind == "number":
                return (kind, column.limits.scale)
            return (kind,) if kind in ("integer", "real", "text", "boolean") else None
        if term.op == "fn" and term.name == "Cast" and self.cast_kind(term):
            target = self.cast_kind(term)
            return (target,) if target in ("integer", "real") or self._is_varying(term) else None
        if term.op in ("agg", "fn") and self.family(term) == "text":
            return ("text",)
        if self.family(term) == "number" and self.is_whole(term):
            return ("integer",)
        return None

    def like_is_equal(self, term: Term) -> bool:
        """Say whether LIKE and ``=`` are the same for a text without wildcards."""
        return not self.loose and self.like_compares(term)

    def like_compares(self, term: Term) -> bool:
        """Say whether LIKE sees equal values of a column as the same text."""
        return self.sort(term) == "text" and self.family(term) == "text"

    def affinity(self, term: Term) -> object:
        """Return what makes SQLite convert the value that *term* is compared to, if anything."""
        if not self.loose or self.known.least(term) is not None:
            return None
        if term.op == "col":
            family = None if self._converts(term) else _FAMILY.get(self.known.kind(term))
            return term if family is None else family == "text"
        if term.op == "fn" and term.name == "Cast":
            return self.cast_kind(term) or term
        return term if term.op in ("scalar", "col?", "quoted") else None

    def limits(self, term: Term) -> tuple[int | None, int | None]:
        """Return the least and the greatest number that a value can be, None for no bound."""
        if (term.op == "agg" and term.name.startswith("count")) or term.name == "Length":
            return 0, None
        least = self.known.least(term)
        if term.op != "col" or self.loose or least is not None:
            return least, None
        if self.known.kind(term) == "boolean" and self.dialect in TRUE_BOOLEANS:
            return 0, 1
        return (0 if self.known.kind(term) == "natural" else None), None

    # Differences.

    def difference(self, a: Term, b: Term) -> Difference:  # noqa: C901, PLR0911 - one a family
        """Return what *a* compared to *b* is a matter of."""
        first, second = self._adapted(a, b), self._adapted(b, a)
        if first == second:
            return Difference(NOUGHT, NOUGHT, 0)
        families = self.family(first), self.family(second)
        if families[0] is not None and families[0] == families[1]:
            if families[0] == "number":
                return self._linear(first, second)
            if families[0] == "boolean":
                return self._from_nought(first, second)
            if families[0] != "text" or (_is_sure_text(first) and _is_sure_text(second)):
                return Difference(first, second, 0)
        if "real" in families and (_short(first) or _short(second)):
            return self._from_nought(first, second)
        if "boolean" in families and "number" in families and self.dialect not in TRUE_BOOLEANS:
            return self._from_nought(first, second)
        if (families[0] == "time" and self._is_time(second)) or (
            families[1] == "time" and self._is_time(first)
        ):
            return Difference(first, second, 0)
        literals = {"int": "number", "num": "number", "str": "text"}
        for one, other in ((first, second), (second, first)):
            if one.op in literals and other.op not in literals and self.family(other) is None:
                node = Term("loose", literals[one.op], (other,))
                constant = Term("loose", "constant", (one,))
                if one is first:
                    return Difference(constant, node, 0)
                return Difference(node, constant, 0)
        low, high = sorted((first, second))
        nodes = Term("pair", "first", (low, high)), Term("pair", "second", (low, high))
        return Difference(*(nodes if first == low else (nodes[1], nodes[0])), 0)

    def _adapted(self, term: Term, other: Term) -> Term:
        """Return a literal as the column that it is compared to reads it."""
        if term.op == "case" and len(term.args) == 1:
            bare = term.args[0]
            return bare if self.family(bare) == self.family(other) is not None else term
        day = self.day(term)
        if day is not None:
            return day if self.family(other) == "time" else term
        computed = self.known.least(other) is not None  # so that SQLite converts no text for it
        bound = not self.loose or (other.op == "col" and not computed)
        if term.op == "str" and bound and self.family(other) == "number":
            return Term("int", term.name) if _WHOLE_TEXT.match(term.name) else term
        return term

    def day(self, term: Term) -> Term | None:
        """Return the text of a literal like ``DATE '2020-01-31'``, where that is a date."""
        if term.op != "fn" or term.name != "Cast" or self.loose:
            return None
        parts = parts_of(term)
        (this,), (to,) = parts.get("this", (NULL,)), parts.get("to", (NULL,))
        is_day = this.op == "str" and _DAY.match(this.name)
        return this if is_day and to.name == "DataType this=DType.DATE" else None

    def _is_time(self, term: Term) -> bool:
        """Say whether a text is that of a day or, where no type cuts it off, of a time."""
        pattern = _TIME_TEXT if self.dialect == "sqlite" else _DAY
        return term.op == "str" and pattern.match(term.name) is not None

    def _from_nought(self, first: Term, second: Term) -> Difference:
        numbers = _truth_number(first), _truth_number(second)
        if numbers[0] is not None and numbers[1] is not None:
            return Difference(NOUGHT, NOUGHT, numbers[1] - numbers[0])
        if numbers[1] is not None:
            return Difference(first, NOUGHT, numbers[1])
        if numbers[0] is not None:
            return Difference(NOUGHT, second, -numbers[0])
        return Difference(first, second, 0)

    def _linear(self, first: Term, second: Term) -> Difference:
        left, right = self.sum_of(first), self.sum_of(second)
        parts = dict(left.parts)
        for term, times in right.parts.items():
            parts[term] = parts.get(term, 0) - times
        parts = {term: times for term, times in sorted(parts.items(), key=_by_term) if times}
        number = right.number - left.number
        if not parts:
            return Difference(NOUGHT, NOUGHT, number)
        if len(parts) == 1:
            ((term, times),) = parts.items()
            value = _quotient(number, max(times, -times))
            pair = (term, NOUGHT) if times > 0 else (NOUGHT, term)
            return Difference(*pair, value)
        if len(parts) == 2:  # noqa: PLR2004 - a pair
            (one, times), (other, more) = parts.items()
            if times == -more:
                pair = (one, other) if times > 0 else (other, one)
                return Difference(*pair, _quotient(number, max(times, -times)))
        unit = gcd(*(int(times) for times in parts.values()))
        positive = next(iter(parts.values())) > 0
        sign = unit if positive else -unit
        node = Term(
            "sum",
            "",
            tuple(_times(int(times) // sign, term) for term, times in parts.items()),
        )
        value = _quotient(number, unit)
        return Difference(node, NOUGHT, value) if positive else Difference(NOUGHT, node, value)

    def sum_of(self, term: Term) -> Sum:
        """
        Return a value as a sum of multiples.

        Sums of whole numbers and decimals are exact where types are kept.  Where they are not,
        as in SQLite, a sum is looked into only if all in it are whole numbers anyway.
        """
        whole = Sum({term: 1}, 0)
        value = number_of(term)
        if value is not None:
            return Sum({}, value)
        name = term.name.partition(" ")[0]
        arithmetic = term.op in ("add", "mul") or (term.op == "fn" and name in ("Sub", "Neg"))
        if not arithmetic or self.family(term) != "number":
            return whole
        if term.op == "fn":
            parts = parts_of(term)
            operands = [*parts.get("this", ()), *parts.get("expression", ())]
        else:
            operands = list(term.args)
        if self.loose and not all(map(self._counts, operands)):
            return whole
        sums = [self.sum_of(operand) for operand in operands]
        if term.op == "mul":
            found = _product(sums)
        elif name == "Neg":
            found = _scaled(sums[0], -1)
        elif name == "Sub":
            found = _added(sums[0], _scaled(sums[1], -1))
        else:
            found = _added(*sums)
        if (
            found is None
            or len(found.parts) > MAX_PARTS
            or not all(isinstance(t, int) and abs(t) <= _SAFE for t in found.parts.values())
            or not -_SAFE <= found.number <= _SAFE
        ):
            return whole
        return found

    @staticmethod
    def is_shifted(term: Term) -> bool:
        """Say whether all operands but one are numbers, none of them 0: infinity stays that."""
        if term.op == "fn":
            operands = [value for part in term.args for value in part.args]
        else:
            operands = list(term.args)
        return sum(number_of(operand) in (None, 0) for operand in operands) <= 1

    def _counts(self, term: Term) -> bool:
        """Say whether a value is a whole number, whatever the columns hold."""
        if term.op in ("add", "mul"):
            return all(map(self._counts, term.args))
        if term.op == "fn" and term.name in ("Sub", "Neg"):
            return all(self._counts(value) for part in term.args for value in part.args)
        return term.op == "int" or (term.op == "agg" and term.name.startswith("count"))

    # Constants.

    def constants_compare(self, first: Term, second: Term) -> int | None:
        """
        Return -1 or 1 if one constant comes before or after another, 0 if they only differ.

        None is returned where they may be equal to some engine or for some type of column.
        """
        if first.op == "loose" and second.op == "loose":
            return self._loose_constants(first.args[0], second.args[0])
        if first.op != "str" or second.op != "str":
            return None
        return self._texts_compare(first.name, second.name)

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
        return 0 if plain and first.casefold() != second.casefold() else None

    def _loose_constants(  # noqa: PLR0911 - one a kind of constant
        self, first: Term, second: Term
    ) -> int | None:
        """Compare constants that are compared to a column of a type that is not known."""
        numbers = number_of(first), number_of(second)
        if numbers[0] is not None and numbers[1] is not None:
            if numbers[0] == numbers[1]:
                return None
            order = -1 if numbers[0] < numbers[1] else 1
            if self.dialect not in LOOSE_TYPES:
                return order
            if _shape(first.name) == _shape(second.name) and "-" not in first.name:
                return order
            return 0 if {first.op, second.op} == {"int"} else None
        if first.op != "str" or second.op != "str":
            return None
        texts = first.name, second.name
        if _shape(texts[0]) == _shape(texts[1]) and (texts[0].isdigit() or _DAY.match(texts[0])):
            return -1 if texts[0] < texts[1] else 1
        words = all(text.isascii() and text.isalpha() for text in texts)
        return 0 if words and texts[0].casefold() != texts[1].casefold() else None


def _by_term(item: tuple[Term, Number]) -> Term:
    return item[0]


def _shape(text: str) -> str:
    return re.sub(r"[0-9]", "0", text)


def _is_sure_text(term: Term) -> bool:
    """Say whether a text is not one that may be padded."""
    return term.op != "str" or not term.name.endswith(" ")


def _short(term: Term) -> bool:
    return number_of(term) is not None and _digits(term) <= _DIGITS_OF_SINGLE


def _truth_number(term: Term) -> Number | None:
    return {"true": 1, "false": 0}.get(term.op, number_of(term))


def _quotient(number: Number, by: Number) -> Number:
    value = Fraction(number) / Fraction(by)
    return value.numerator if value.denominator == 1 else value


def _times(times: int, term: Term) -> Term:
    return term if times == 1 else Term("mul", "", (Term("int", str(times)), term))


def _scaled(one: Sum, times: Number) -> Sum:
    return Sum({term: n * times for term, n in one.parts.items()}, one.number * times)


def _added(*sums: Sum) -> Sum:
    parts: dict[Term, Number] = {}
    for one in sums:
        for term, times in one.parts.items():
            parts[term] = parts.get(term, 0) + times
    kept = {term: times for term, times in parts.items() if times}
    return Sum(kept, sum((one.number for one in sums), start=0))


def _product(sums: list[Sum]) -> Sum | None:
    """Return the product of sums of which at most one is not a number."""
    variable = [one for one in sums if one.parts]
    if len(variable) > 1:
        return None
    product: Number = 1
    for one in sums:
        if not one.parts:
            product *= one.number
    return _scaled(variable[0], product) if variable else Sum({}, product)
