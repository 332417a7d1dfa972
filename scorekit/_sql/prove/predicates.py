"""
Rewrites of expressions: each says why it is sound and what it rests upon.

SQL's AND, OR and NOT are minimum, maximum and reflection on false < NULL < true, so whatever
holds in that lattice holds for them.  Where only truth matters (``filter``: WHERE, HAVING, ON,
WHEN), NULL and false are one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.terms import FALSE, NULL, TRUE, Term, is_boolean, ordered

Mode: TypeAlias = Literal["value", "bool", "filter"]
"""What matters of a result: its value, its truth with NULL apart, or only whether it is true."""

_SAFE_INTEGER: Final = 2**31 - 1
"""Integers that no engine overflows."""


def conjuncts(condition: Term) -> tuple[Term, ...]:
    """Return the conditions that a condition is the conjunction of."""
    if condition == TRUE:
        return ()
    return condition.args if condition.op == "and" else (condition,)


def conjunction(conditions: list[Term] | tuple[Term, ...]) -> Term:
    """Return the conjunction of conditions."""
    if not conditions:
        return TRUE
    return conditions[0] if len(conditions) == 1 else Term("and", "", tuple(conditions))


def rewritten(term: Term, mode: Mode) -> Term:
    """Apply the rewrites that need no assumption to the root of *term*."""
    for rule in _RULES.get(term.op, ()):
        new = rule(term, mode)
        if new.op != term.op:
            return rewritten(new, mode)
        term = new
    return ordered(term)


def spelled_out_between(term: Term, mode: Mode) -> Term:
    """``x BETWEEN a AND b`` is defined as ``x >= a AND x <= b``; x is free of side effects."""
    del mode
    this, low, high = term.args
    return Term("and", "", (Term("le", "", (low, this)), Term("le", "", (this, high))))


def oriented(term: Term, mode: Mode) -> Term:
    """``a > b`` is defined as ``b < a``."""
    del mode
    return Term("lt" if term.op == "gt" else "le", "", term.args[::-1])


def spelled_out_list(term: Term, mode: Mode) -> Term:
    """
    ``x IN (a, b)`` is defined as ``x = a OR x = b``, NULLs in the list included.

    Of literals only: SQLite compares with columns of a list as if they had no affinity.
    """
    del mode
    this, *values = term.args
    if not all(value.op in LITERALS for value in values):
        return term._replace(args=(this, *sorted(set(values))))
    equals = tuple(Term("eq", "", (this, value)) for value in values)
    return equals[0] if len(equals) == 1 else Term("or", "", equals)


def flattened(term: Term, mode: Mode) -> Term:
    """AND and OR are associative, commutative and idempotent, NULL included."""
    parts: list[Term] = []
    for arg in term.args:
        parts.extend(arg.args if arg.op == term.op else (arg,))
    return _with_operands(term.op, parts, mode)


def absorbed(term: Term, mode: Mode) -> Term:
    """``p AND (p OR q)`` is p, and likewise with AND and OR exchanged: the lattice's law."""
    other = {"and": "or", "or": "and"}.get(term.op)
    if other is None:
        return term
    present = frozenset(term.args)
    kept = [
        arg
        for arg in term.args
        if arg.op != other or not any(part in present for part in arg.args if part != arg)
    ]
    return _with_operands(term.op, kept, mode) if len(kept) < len(term.args) else term


def without_neutral(term: Term, mode: Mode) -> Term:
    """TRUE is neutral to AND and FALSE decides it, NULL included; for OR the other way round."""
    if term.op not in ("and", "or"):
        return term
    neutral, deciding = (TRUE, FALSE) if term.op == "and" else (FALSE, TRUE)
    if deciding in term.args or (mode == "filter" and term.op == "and" and NULL in term.args):
        return deciding
    kept = [arg for arg in term.args if arg != neutral]
    if mode == "filter" and term.op == "or":
        kept = [arg for arg in kept if arg != NULL]
    if not kept:
        return neutral
    return _with_operands(term.op, kept, mode)


def _with_operands(op: str, parts: list[Term], mode: Mode) -> Term:
    """Return the connection of *parts*; a single one stays wrapped where its value matters."""
    unique = tuple(dict.fromkeys(parts))
    if len(unique) == 1 and (mode != "value" or is_boolean(unique[0])):
        return unique[0]
    return Term(op, "", unique)


def without_not(term: Term, mode: Mode) -> Term:
    """
    Push NOT inward.

    De Morgan's laws hold in the lattice; ``NOT a < b`` is ``a >= b`` and ``NOT a = b`` is
    ``a <> b``, as both are NULL for the same operands and values are totally ordered.  ``NOT NOT
    p`` is p where p can only be true, false or NULL, or only its truth matters.
    """
    return _negated(term.args[0], mode)


def _negated(term: Term, mode: Mode) -> Term:
    op, args = term.op, term.args
    if op in ("and", "or"):
        return Term("or" if op == "and" else "and", "", tuple(_negated(a, "bool") for a in args))
    if op in ("eq", "ne"):
        return term._replace(op="ne" if op == "eq" else "eq")
    if op in ("lt", "le"):
        return Term("le" if op == "lt" else "lt", "", args[::-1])
    if op == "not" and (mode != "value" or is_boolean(args[0])):
        return args[0]
    constant = {TRUE: FALSE, FALSE: TRUE, NULL: NULL}.get(term)
    return constant or Term("not", "", (term,))


def folded_comparison(term: Term, mode: Mode) -> Term:
    """Two whole numbers compare exactly; a comparison with NULL is NULL, hence never true."""
    left, right = term.args
    if NULL in term.args:
        return FALSE if mode == "filter" else NULL
    if left.op == right.op == "int":
        return TRUE if _COMPARE[term.op](int(left.name), int(right.name)) else FALSE
    return term


def reflexive(term: Term, mode: Mode) -> Term:
    """``x = x`` is true unless x is NULL or NaN, where only truth matters; x is a column."""
    left, right = term.args
    if mode == "filter" and left == right and left.op == "col" and not term.name:
        if term.op in ("eq", "le"):
            return Term("not", "", (Term("isnull", "", (left,)),))
        return FALSE
    return term


def folded_sum(term: Term, mode: Mode) -> Term:
    """Whole numbers too small to overflow anywhere are added and multiplied exactly."""
    del mode
    left, right = term.args
    if left.op == right.op == "int":
        result = _COMPUTE[term.op](int(left.name), int(right.name))
        if max(abs(int(left.name)), abs(int(right.name)), abs(result)) <= _SAFE_INTEGER:
            return Term("int", str(result))
    return term


def folded_null_test(term: Term, mode: Mode) -> Term:
    """A literal is NULL only if it is NULL; a count and a test never are."""
    del mode
    this = term.args[0]
    if this == NULL:
        return TRUE
    if this.op in ("int", "num", "str", "true", "false", "isnull", "exists"):
        return FALSE
    if this.op == "agg" and this.name.startswith("count"):
        return FALSE
    return term


def shortened_case(term: Term, mode: Mode) -> Term:
    """
    A branch of CASE that is never taken goes, and so do those after one that always is.

    A branch that is not taken has a part in the type of the whole, on which a division or a
    comparison may depend, so that it stays unless another one is of the same type.  A column
    stays in CASE: alone it would lend SQLite its affinity.
    """
    del mode
    branches = list(zip(term.args[:-1:2], term.args[1:-1:2], strict=True))
    default, kept = term.args[-1], list[Term]()
    for condition, value in branches:
        if condition == TRUE:
            default = value
            break
        if condition not in (FALSE, NULL):
            kept += [condition, value]
    values = (*kept[1::2], default)
    of_one_type = all(
        value in values
        or value == NULL
        or (value.op in ("int", "str") and any(other.op == value.op for other in values))
        for value in (*term.args[1::2], term.args[-1])
    )
    if not of_one_type or not (kept or default.op in LITERALS or is_boolean(default)):
        return term
    return Term("case", "", (*kept, default)) if kept else default


def bare_argument(term: Term, mode: Mode) -> Term:
    """``SUM(CASE WHEN TRUE THEN x END)`` sums x: what is aggregated needs no affinity."""
    del mode
    argument = term.args[0] if len(term.args) == 1 else NULL
    if argument.op != "case" or argument.args[0] != TRUE:
        return term
    if any(value != NULL for value in (*argument.args[3:-1:2], argument.args[-1])):
        return term
    return term._replace(args=argument.args[1:2])


def counted_rows(term: Term, mode: Mode) -> Term:
    """``COUNT`` of a literal that is not NULL counts rows."""
    del mode
    if term.name == "count" and term.args and term.args[0].op in ("int", "num", "str"):
        return Term("agg", "count")
    return term


def extremum_of_all(term: Term, mode: Mode) -> Term:
    """The least and the greatest value of a bag are those of its set."""
    del mode
    if term.name in ("min distinct", "max distinct"):
        return term._replace(name=term.name[:3])
    return term


Rule: TypeAlias = Callable[[Term, Mode], Term]

LITERALS = frozenset({"int", "num", "str", "null", "true", "false"})
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
}
_COMPUTE: dict[str, Callable[[int, int], int]] = {"add": operator.add, "mul": operator.mul}
_CONNECTIVE: tuple[Rule, ...] = (flattened, without_neutral, absorbed)
_COMPARISON: tuple[Rule, ...] = (folded_comparison, reflexive)
_RULES: dict[str, tuple[Rule, ...]] = {
    "and": _CONNECTIVE,
    "or": _CONNECTIVE,
    "not": (without_not,),
    "between": (spelled_out_between,),
    "among": (spelled_out_list,),
    "eq": _COMPARISON,
    "ne": _COMPARISON,
    "lt": _COMPARISON,
    "le": _COMPARISON,
    "gt": (oriented,),
    "ge": (oriented,),
    "isnull": (folded_null_test,),
    "add": (folded_sum,),
    "mul": (folded_sum,),
    "case": (shortened_case,),
    "agg": (bare_argument, counted_rows, extremum_of_all),
}


# What must not be NULL for a condition to be true.


def strict_parts(condition: Term) -> frozenset[Term]:  # noqa: PLR0911 - one per operator
    """
    Return expressions that cannot be NULL where *condition* is true.

    Comparisons, sums and products are NULL if an operand is.
    """
    op, args = condition.op, condition.args
    if op == "and":
        return frozenset[Term]().union(*map(strict_parts, args))
    if op == "or":
        return frozenset[Term].intersection(*map(strict_parts, args))
    if op in ("eq", "ne", "lt", "le"):
        return frozenset[Term]().union(*map(_null_makers, args))
    if op == "like":
        return _null_makers(condition)
    if op in ("in", "among"):
        return _null_makers(args[0])
    if op == "not" and args[0].op == "isnull":
        return _null_makers(args[0].args[0])
    if op == "not" and args[0].op == "like":
        return _null_makers(args[0])
    return frozenset()


def _null_makers(value: Term) -> frozenset[Term]:
    """Return the parts of *value*, itself included, that make it NULL if they are."""
    found = frozenset({value})
    if value.op in ("add", "mul", "plus"):
        found = found.union(*map(_null_makers, value.args))
    elif value.op == "like":
        found = found.union(*(_null_makers(arg) for part in value.args for arg in part.args))
    return found


def without_implied_null_tests(condition: Term, mode: Mode) -> Term:
    """``x IS NOT NULL AND x > 1`` is true where ``x > 1`` is: a comparison with NULL is not."""
    if mode != "filter" or condition.op != "and":
        return condition
    kept: list[Term] = []
    for part in condition.args:
        is_test = part.op == "not" and part.args[0].op == "isnull"
        if is_test and any(
            part.args[0].args[0] in strict_parts(other)
            for other in condition.args
            if other != part and not (other.op == "not" and other.args[0].op == "isnull")
        ):
            continue
        kept.append(part)
    return conjunction(kept)


def never_null(term: Term, known: Known, extended: frozenset[Term]) -> tuple[str, ...] | None:
    """
    Return the assumptions under which *term* is never NULL, None where it may be.

    A column declared NOT NULL, or part of a key, is never NULL, unless its table is in
    *extended*: an outer join fills it up with NULLs.
    """
    if term.op in ("int", "num", "str", "true", "false", "isnull", "exists"):
        return ()
    if term.op == "agg" and term.name.startswith("count"):
        return ()
    if term.op == "col" and term.args[0] not in extended:
        assumption = known.not_null(term)
        return None if assumption is None else (assumption,)
    return None
