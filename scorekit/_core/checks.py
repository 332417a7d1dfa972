"""Argument checks: each returns the checked value or raises with the one message form."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real
from typing import Any, SupportsIndex, TypeGuard, TypeVar

from scorekit.errors import InputError, refuse

T = TypeVar("T")

MAX_COUNT = 2**53
"""Largest count a column may hold: beyond it float64 skips integers."""


PERCENT = 5.0, 100.0
"""Numbers that are most likely percent where a share is asked for; fewer may be other scores."""


def _is_numpy(value: object, name: str) -> bool:
    numpy = sys.modules.get("numpy")  # without it loaded no value can be one of its scalars
    return numpy is not None and isinstance(value, getattr(numpy, name))


def is_flag(value: object) -> bool:
    """Tell booleans, NumPy's among them."""
    return isinstance(value, bool) or _is_numpy(value, "bool_")


def check_flag(name: str, value: object) -> bool:
    """Return *value* as a ``bool``: True or False, or 1 or 0 as data frames store them."""
    is_number = isinstance(value, int | float) or _is_numpy(value, "number")
    if is_flag(value) or (is_number and value in (0, 1)):
        return bool(value)
    refuse(name, "True or False", value, TypeError)


def check_count(
    name: str, value: object, low: int = 0, high: int | None = None, *, high_name: str = ""
) -> int:
    """
    Return *value* as an ``int`` in ``[low, high]``; takes NumPy integers, refuses bools.

    *high_name* is the argument that *high* comes from.
    """
    count = value if type(value) is int else _as_integer(name, value, low, high, high_name)
    if count < low or (high is not None and count > high):
        refuse(name, count_domain(low, high, high_name), value)
    return count


def _as_integer(name: str, value: object, low: int, high: int | None, high_name: str) -> int:
    if isinstance(value, SupportsIndex) and not is_flag(value):
        try:
            return operator.index(value)
        except TypeError:  # arrays have __index__ too
            pass
    missing = value is not None and is_missing(value)  # a missing number, not another type
    refuse(name, count_domain(low, high, high_name), value, InputError if missing else TypeError)


def count_domain(low: int, high: int | None, high_name: str = "") -> str:
    """Say which integers a message asks for."""
    if high is None:
        return f"an integer >= {low}"
    return f"an integer in [{low}, {high_name and f'{high_name} = '}{high}]"


def check_bounded_count(name: str, value: object, low: int = 0) -> int:
    """Return *value* as an ``int`` in ``[low, 2**53]``."""
    count = check_count(name, value, low)
    if count > MAX_COUNT:
        refuse(name, "an integer of at most 2**53", value)
    return count


def check_number(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_ends: bool = False,
    open_low: bool = False,
) -> float:
    """
    Return *value* as a finite ``float`` in ``[low, high]``, ``(low, high)`` or ``(low, high]``.

    Takes every real number type (NumPy's, `Decimal`, `Fraction`), refuses bools and NaN.
    """
    number = value
    if type(value) is not float:
        if (
            is_flag(value)
            or not isinstance(value, Real | Decimal)
            or _is_numpy(value, "timedelta64")  # a duration without its unit is no number
        ):
            domain = _number_domain(low, high, open_low=open_low, open_ends=open_ends)
            refuse(name, domain, value, TypeError)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        except ValueError:  # a signalling NaN
            number = math.nan
    assert isinstance(number, float)  # noqa: S101 - for the type checkers
    inside = low < number if open_low or open_ends else low <= number
    inside = inside and (number < high if open_ends else number <= high)
    if not inside or math.isinf(number):
        domain = _number_domain(low, high, open_low=open_low, open_ends=open_ends)
        if (low, high) == (0.0, 1.0) and PERCENT[0] <= number <= PERCENT[1]:
            domain += f" (a share: {number / 100.0:g} for {number:g} %)"
        refuse(name, domain, value)
    return number


def check_score(name: str, value: object, low: float = 0.0, high: float = 1.0) -> float:
    """Return *value* as a finite number in ``[low, high]``, a boolean as 0 or 1."""
    return check_number(name, int(bool(value)) if is_flag(value) else value, low, high)


def check_scores(name: str, value: object, low: float, high: float) -> tuple[float, ...]:
    """Return a score, or the scores of several attempts, checked one by one."""
    if not is_ordered(value):
        return (check_score(name, value, low, high),)
    items = enumerate(check_items(name, value, what="scores"))
    return tuple(check_score(f"{name}[{i}]", item, low, high) for i, item in items)


def _number_domain(low: float, high: float, *, open_low: bool, open_ends: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "a finite number"
    if high == math.inf:
        return f"a finite number {'>' if open_ends else '>='} {low:g}"
    first, last = "(" if open_low or open_ends else "[", ")" if open_ends else "]"
    return f"a number in {first}{low:g}, {high:g}{last}"


def store(record: object, name: str, checked: object) -> None:
    """Replace a value, such as NumPy's, which JSON would not take, by what a check returned."""
    object.__setattr__(record, name, checked)  # as attrs itself fills a frozen instance


def check_text(name: str, value: object, *, empty: bool = False) -> str:
    """Return *value* if it is a ``str``, by default one that is not empty."""
    domain = "a string" if empty else "a non-empty string"
    if not isinstance(value, str):
        refuse(name, domain, value, TypeError)
    if not value and not empty:
        refuse(name, domain, value)
    return str.__str__(value)  # of an enum its value


def check_generated(name: str, value: object) -> str:
    """Return the text that a model generated, which may be empty."""
    if value is None:
        domain = "a string ('' scores 0: a model without an answer)"
        refuse(name, domain, value, TypeError)
    return check_text(name, value, empty=True)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Refuse a *value* that is not among *choices*."""
    domain = "one of " + ", ".join(map(repr, choices))
    if not isinstance(value, str):
        refuse(name, domain, value, TypeError)
    if value not in choices:
        refuse(name, domain, value)


def check_callable(name: str, value: object) -> None:
    """Refuse a *value* that cannot be called."""
    if not callable(value):
        refuse(name, "a callable", value, TypeError)


_SEE = {
    "CodeWeights": ", such as CodeWeights(compilation=0.4, tests=0.5, clippy=0.1)",
    "CodeSample": " (of a table: code_report_from_columns(**table))",
    "Executor": " of concurrent.futures",
    "ModelPrice": " (see PRICES)",
    "Run": " (of a table: runs_from_columns(**table))",
    "SqlCase": " (of a table: sql_cases_from_columns(**table), of a mapping: SqlCase(**mapping))",
    "SqlReport": " (of stored JSON: SqlReport.from_json(text))",
    "TierStatistics": " (from tier_statistics; of a mapping its values())",
}
"""Where to get one of a class whose name does not say it, for messages."""


def check_instance(name: str, value: object, kind: type[T]) -> T:
    """Return *value* if it is an instance of *kind*, and not a class that looks like one."""
    if isinstance(value, type) or not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        domain = f"{article} {kind.__name__}{_SEE.get(kind.__name__, '')}"
        refuse(name, domain, value, TypeError)
    return value


def is_ordered(value: object) -> TypeGuard[Iterable[Any]]:
    """Tell iterables whose order is the caller's from text, mappings, sets and data frames."""
    unordered = isinstance(value, str | bytes | Mapping | AbstractSet)
    single = getattr(value, "ndim", 1) == 0  # such an array has __iter__ too
    frame = hasattr(value, "columns") and hasattr(value, "shape")  # gives its names, not its rows
    return isinstance(value, Iterable) and not (unordered or single or frame)


def check_items(
    name: str, values: object, *, what: str = "values", empty: bool = False
) -> tuple[Any, ...]:
    """Return an ordered iterable as a tuple; refuses text, mappings, sets and emptiness."""
    domain = f"a sequence of {what}" if empty else f"a non-empty sequence of {what}"
    if not is_ordered(values):
        refuse(name, domain, values, TypeError)
    items = tuple(values)
    if not items and not empty:
        refuse(name, domain, items)
    return items


def check_records(
    name: str, values: object, kind: type[T], *, empty: bool = False
) -> tuple[T, ...]:
    """Return an ordered iterable of *kind* as a tuple, naming the first stranger."""
    what = kind.__name__ if is_ordered(values) else kind.__name__ + _SEE.get(kind.__name__, "")
    items = check_items(name, values, what=what, empty=empty)
    if set(map(type, items)) - {kind}:  # strangers, or of a subclass
        for i, item in enumerate(items):
            check_instance(f"{name}[{i}]", item, kind)
    return items


def check_same_length(name: str, length: int, other: str, other_length: int) -> None:
    """Refuse two columns of different lengths, naming both."""
    if length != other_length:
        raise InputError(
            f"{name} and {other} must be equally long, got {length} and {other_length}"
        )


def is_missing(value: object) -> bool:
    """Tell None, NaN and ``pd.NA``."""
    is_nan = (isinstance(value, float) or _is_numpy(value, "floating")) and value != value  # noqa: PLR0124
    return value is None or is_nan or type(value).__name__ == "NAType"
