"""Steps on means and shares: quotients of a sum by a count."""

from __future__ import annotations

from typing import Final, NamedTuple

from scorekit._sql.prove.dependencies import Rows
from scorekit._sql.prove.predicates import LITERALS
from scorekit._sql.prove.scalars import Scalars, number_of, parts_of
from scorekit._sql.prove.terms import NONE, NULL, TRUE, Select, Term, is_boolean, ordered

MODERATE: Final = "no whole number needs more than 53 bits"

_ONE, _NOUGHT = Term("int", "1"), Term("int", "0")
_FRACTION = Term("num", "1.0")

_BINARY: Final = frozenset({"sqlite", "duckdb"})
"""Dialects in which a mean of whole numbers is a binary fraction."""


_FRACTIONS: Final = {
    "sqlite": ("DOUBLE", "FLOAT"), "duckdb": ("DOUBLE",), "postgres": ("DECIMAL",),
}  # fmt: skip
"""Types to which a CAST makes a fraction of a whole number, exact in what follows."""


class _Product(NamedTuple):
    """What is divided: a whole number times an aggregate, and whether the division is exact."""

    times: int
    aggregate: Term
    fractional: bool
    """Whether a fraction is divided, so that no remainder is dropped."""


def means_of_quotients(select: Select, rows: Rows) -> Select:
    """
    Read ``SUM(x) / COUNT(x)`` as ``AVG(x)``, and shares of rows as one quotient.

    Both count the x that are not NULL, and both are NULL where there are none: a sum of nothing
    is NULL, whatever it is divided by.  This holds to the last digit where AVG divides the same
    sum by the same operator:

    - SQLite, if the sum is made a fraction (``* 1.0``, CAST) or is that of a REAL column;
    - DuckDB, of whole numbers and binary fractions, as ``/`` never drops a remainder there;
    - PostgreSQL, of decimals, and of whole numbers that are made decimals.

    MySQL rounds a decimal quotient by the digits of its operands, and a REAL of PostgreSQL is
    summed in single precision; these, and so a pair without a dialect, are left alone.

    The sum of ``CASE WHEN p THEN 1 ELSE 0 END`` counts the rows for which p is true, but that it
    is NULL where there are none.  No group is so, COALESCE makes 0 of it, and divided by the
    number of rows both are NULL in SQLite.
    """
    if not select.aggregates:
        return select
    reader = _Quotients(rows, grouped=select.group != NONE)
    new = select._replace(
        having=reader.read(select.having),
        outputs=tuple(map(reader.read, select.outputs)),
        order=tuple(map(reader.read, select.order)),
    )
    if new != select:
        rows.known.note("mean or share as one quotient", (*rows.asked, *reader.asked))
    return new


class _Quotients:
    """Rewrites the quotients and the means of one SELECT."""

    def __init__(self, rows: Rows, *, grouped: bool) -> None:
        self.rows, self.scalars, self.grouped = rows, Scalars(rows.known), grouped
        self.dialect = rows.known.dialect
        self.asked: set[str] = set()

    def read(self, term: Term) -> Term:
        """Return an expression with its quotients and means rewritten."""
        if term.op == "select" or not term.args:
            return term
        self.rows.known.steps.take()
        if term.op == "agg":
            return self._mean(self._counted_truths(term))
        if term.op == "fn" and term.name == "Coalesce":
            return self._sum_or_nought(term)
        if term.op == "fn" and term.name.partition(" ")[0] == "Div" and self._divides:
            found = self._quotient(term)
            if found is not None:
                return found
        return term._replace(args=tuple(map(self.read, term.args)))

    @property
    def _divides(self) -> bool:
        return self.dialect in _BINARY or self.dialect == "postgres"

    @property
    def _shares(self) -> bool:
        """Whether a count divided by the number of rows is their mean; 0 / 0 is NaN in DuckDB."""
        return self.dialect == "sqlite" or (self.dialect == "duckdb" and self.grouped)

    def _counted_truths(self, agg: Term) -> Term:
        """Read a sum of conditions, which are 1 or 0, or of ones, as counts."""
        if agg.name not in ("sum", "avg"):
            return agg
        (value,) = agg.args
        if is_boolean(value) and value.op not in ("case", "fn"):
            if not self.rows.facts.never_null(value):
                return agg
            return agg._replace(args=(Term("case", "", (value, _ONE, _NOUGHT)),))
        if value == _ONE and agg.name == "sum" and self.grouped:
            return Term("agg", "count")
        return agg

    def _sum_or_nought(self, term: Term) -> Term:
        """``COALESCE(SUM(CASE WHEN p THEN 1 ... END), 0)`` counts, also of no rows."""
        parts = parts_of(term)
        (this,) = parts["this"]
        if this.op == "agg" and this.name == "sum" and parts.get("expressions") == (_NOUGHT,):
            (value,) = this.args
            if value == _ONE:
                return Term("agg", "count")
            if is_boolean(value) and value.op not in ("case", "fn"):
                return Term("agg", "count", (Term("case", "", (value, _ONE, NULL)),))
            if value.op == "case" and len(value.args) == 3:  # noqa: PLR2004 - one condition, two values
                condition, yes, no = value.args
                if yes == _ONE and no in (_NOUGHT, NULL):
                    return Term("agg", "count", (Term("case", "", (condition, _ONE, NULL)),))
        return term._replace(args=tuple(map(self.read, term.args)))

    def _mean(self, agg: Term) -> Term:
        """Return AVG of what is made a fraction as that of the value, or as a share."""
        if agg.name != "avg" or self.dialect not in _BINARY:
            return agg
        value, _ = self._bare(agg.args[0])
        condition = indicated(value)
        if condition is not None and self._shares:
            return _share(1, condition, Term("agg", "count"))
        return agg._replace(args=(value,))

    def _quotient(self, term: Term) -> Term | None:  # noqa: PLR0911 - one per form
        parts = parts_of(term)
        (this,), (by,) = parts["this"], parts["expression"]
        count, by_fraction = self._divisor(by)
        product = self._product(this)
        if count is None or product is None:
            return None
        fractional = by_fraction or product.fractional or self.dialect == "duckdb"
        name, *kind = product.aggregate.name.split()
        if not fractional or kind != count.name.split()[1:]:
            return None
        if kind:
            same = product.times == 1 and product.aggregate.args == count.args and name == "sum"
            exact = same and self._is_exact(count.args[0])
            return Term("agg", "avg distinct", count.args) if exact else None
        if name == "count":
            if not self._shares or count.args:
                return None
            condition = _counted(product.aggregate)
            return None if condition is None else _share(product.times, condition, count)
        value, _ = self._bare(product.aggregate.args[0])
        condition = indicated(value)
        if condition is not None and not count.args and self._shares:
            return _share(product.times, condition, count)
        if product.times != 1 or not (self._is_exact(value) and self._counts(count, value)):
            return None
        return Term("agg", "avg", (value,))

    def _is_exact(self, value: Term) -> bool:
        """Say whether AVG divides the very sum that SUM gives."""
        whole = self.scalars.is_whole(value) or indicated(value) is not None
        kind = self.rows.known.kind(value) if self._is_base(value) else ""
        if self.dialect == "postgres":
            return whole or kind == "number"
        return self.dialect == "sqlite" or whole or kind == "real"

    def _counts(self, count: Term, value: Term) -> bool:
        """Say whether a count is that of the values that are not NULL."""
        null = Term("isnull", "", (value,))
        if not count.args:
            return self.rows.facts.never_null(value)
        other, _ = self._bare(count.args[0])
        same = Term("isnull", "", (other,))
        return value == other or self.rows.facts.same(null, same)

    def _divisor(self, term: Term) -> tuple[Term | None, bool]:
        """
        Return the count that is divided by, and whether it is made a fraction.

        NULLIF(COUNT(x), 0) is NULL where the quotient is that or an error anyway.
        """
        fractional = False
        while True:
            if term.op == "agg" and term.name.startswith("count"):
                return term, fractional
            parts = parts_of(term) if term.op == "fn" else {}
            if term.op == "fn" and term.name == "Nullif" and parts["expression"] == (_NOUGHT,):
                (term,) = parts["this"]
                continue
            inner = self._unwrapped(term)
            if inner is None:
                return None, False
            term, fractional = inner, True

    def _product(self, term: Term) -> _Product | None:  # noqa: PLR0911 - one per form
        """Take apart what is divided."""
        if term.op == "agg":
            if term.name.split()[0] not in ("sum", "count"):
                return None
            fractional = term.name.startswith("sum") and self._is_fraction(term.args[0])
            return _Product(1, term, fractional)
        inner = self._unwrapped(term)
        if inner is not None:
            found = self._product(inner)
            if found is None or (self.dialect == "postgres" and found.fractional):
                return None  # more digits of a decimal than AVG has
            return found._replace(fractional=True)
        if term.op != "mul" or self.dialect == "postgres":
            return None
        for number, other in (term.args, term.args[::-1]):
            value = number_of(number)
            if isinstance(value, int) and 0 < value <= 1_000_000:  # noqa: PLR2004 - per cent and the like
                found = self._product(other)
                if found is None:
                    return None
                fractional = found.fractional or number.op == "num"
                return found._replace(times=found.times * value, fractional=fractional)
        return None

    def _unwrapped(self, term: Term) -> Term | None:
        """Return what a term but makes a fraction of, None where it does not."""
        if term.op == "mul":
            for number, other in (term.args, term.args[::-1]):
                if number.op == "num" and number_of(number) == 1:
                    return other
        if term.op != "fn" or term.name != "Cast":
            return None
        parts = parts_of(term)
        (to,), (this,) = parts["to"], parts["this"]
        if to.args:
            return None
        kind = to.name.removeprefix("DataType this=DType.")
        if kind not in _FRACTIONS.get(self.dialect or "", ()) or is_boolean(this):
            return None
        return this

    def _bare(self, value: Term) -> tuple[Term, bool]:
        """Return what is summed before it is made a fraction, and whether it is made one."""
        inner = self._unwrapped(value)
        if inner is None:
            return value, False
        if self.dialect == "duckdb" and not self.scalars.is_whole(inner):
            return value, False
        if indicated(inner) is None and self.rows.known.kind(inner) != "real":
            self.asked.add(MODERATE)
        return inner, True

    def _is_fraction(self, value: Term) -> bool:
        """Say whether a sum of such values is a fraction (or nought, or NULL) always."""
        if self._unwrapped(value) is not None:
            return True
        if value.op == "case" and len(value.args) > 1:
            values = (*value.args[1:-1:2], value.args[-1])
            fractions = [one for one in values if one not in (NULL, _NOUGHT)]
            return all(
                (one.op == "num" and self.dialect != "postgres") or self._is_fraction(one)
                for one in fractions
            )
        wanted = "number" if self.dialect == "postgres" else "real"
        return self._is_base(value) and self.rows.known.kind(value) == wanted

    def _is_base(self, value: Term) -> bool:
        """Say whether a value is a column of a base table, whose type is that of the schema."""
        return value.op == "col" and self.rows.known.tables.keys() >= {*value.args}


def indicated(value: Term) -> Term | None:
    """Return p of ``CASE WHEN p THEN 1 ELSE 0 END``."""
    if value.op != "case" or len(value.args) != 3:  # noqa: PLR2004 - one condition, two values
        return None
    condition, yes, no = value.args
    if number_of(yes) == 1 and number_of(no) == 0:
        return condition
    if number_of(yes) == 0 and number_of(no) == 1:
        parts = Term("part", "expression", (TRUE,)), Term("part", "this", (condition,))
        return Term("not", "", (Term("fn", "Is", parts),))
    return None


def _counted(count: Term) -> Term | None:
    """Return the condition that holds of the rows that are counted."""
    if not count.args:
        return None
    (value,) = count.args
    if value.op == "case" and len(value.args) == 3 and value.args[2] == NULL:  # noqa: PLR2004 - one branch
        condition, yes, _ = value.args
        if yes.op in LITERALS and yes != NULL:
            return condition
    return Term("not", "", (Term("isnull", "", (value,)),))


def _share(times: int, condition: Term, count: Term) -> Term:
    """Return the share of rows for which a condition is true, multiplied."""
    found = Term("agg", "count", (Term("case", "", (condition, _ONE, NULL)),))
    if times != 1:
        found = ordered(Term("mul", "", (Term("int", str(times)), found)))
    product = ordered(Term("mul", "", (_FRACTION, found)))
    parts = Term("part", "expression", (count,)), Term("part", "this", (product,))
    return Term("fn", "Div share", parts)
