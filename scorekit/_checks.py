"""Argument checks: each returns the checked value or raises with the one message form."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeGuard, TypeVar

from scorekit.errors import InputError, refuse

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

MAX_COUNT = 2**53
"""Largest count a column may hold: beyond it float64 skips integers."""


def _is_numpy(value: object, name: str) -> bool:
    numpy = sys.modules.get("numpy")  # without it loaded no value can be one of its scalars
    return numpy is not None and isinstance(value, getattr(numpy, name))


def is_flag(value: object) -> bool:
    """Tell booleans, NumPy's among them."""
    return isinstance(value, bool) or _is_numpy(value, "bool_")


def check_flag(name: str, value: object) -> bool:
    """Return *value* as a ``bool``; takes NumPy booleans, refuses 0 and 1."""
    if is_flag(value):
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
) -> float:
    """
    Return *value* as a finite ``float`` in ``[low, high]``, or in ``(low, high)``.

    Takes every real number type (NumPy's, `Decimal`, `Fraction`), refuses bools and NaN.
    """
    number = value
    if type(value) is not float:
        if (
            is_flag(value)
            or not isinstance(value, Real | Decimal)
            or _is_numpy(value, "timedelta64")  # a duration without its unit is no number
        ):
            refuse(name, _number_domain(low, high, open_ends=open_ends), value, TypeError)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        except ValueError:  # a signalling NaN
            number = math.nan
    assert isinstance(number, float)  # noqa: S101 - for the type checkers
    inside = low < number < high if open_ends else low <= number <= high
    if not inside or math.isinf(number):
        refuse(name, _number_domain(low, high, open_ends=open_ends), value)
    return number


def _number_domain(low: float, high: float, *, open_ends: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "a finite number"
    if high == math.inf:
        return f"a finite number {'>' if open_ends else '>='} {low:g}"
    return f"a number in ({low:g}, {high:g})" if open_ends else f"a number in [{low:g}, {high:g}]"


def store(record: object, name: str, checked: bool | float) -> None:  # noqa: FBT001 - a value
    """Replace a NumPy or Decimal value, which JSON would not take, by the checked builtin."""
    object.__setattr__(record, name, checked)  # as attrs itself fills a frozen instance


def check_text(name: str, value: object, *, empty: bool = False) -> str:
    """Return *value* if it is a ``str``, by default one that is not empty."""
    domain = "a string" if empty else "a non-empty string"
    if not isinstance(value, str):
        refuse(name, domain, value, TypeError)
    if not value and not empty:
        refuse(name, domain, value)
    return value


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
    "CodeSample": " (of a table: code_report_from_columns(**table))",
    "Executor": " of concurrent.futures",
    "ModelPrice": " (see PRICES)",
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


def as_builtins(values: Any) -> Any:
    """Return an array (NumPy, pandas, Arrow) as a list, anything else as it is."""
    if hasattr(values, "to_pylist"):  # Arrow
        return values.to_pylist()
    return values.tolist() if hasattr(values, "tolist") else values


def check_labels(name: str, values: object, length: int) -> list[int]:
    """Return a column of *length* hashable labels as numbers from 0, equal ones alike."""
    items = check_items(name, as_builtins(values), what="labels")
    if len(items) != length:
        raise InputError(f"{name} must be {length} labels, one for each entry, got {len(items)}")
    code_of: dict[object, int] = {}
    codes: list[int] = []
    for i, label in enumerate(items):
        try:
            codes.append(code_of.setdefault(label, len(code_of)))
        except TypeError:
            refuse(f"{name}[{i}]", "a hashable label", label, TypeError)
        if is_missing(label) or differs_from_itself(label):
            refuse(f"{name}[{i}]", "a label that is not missing", label)
    return codes


def check_clusters(
    clusters: object, length: int, name: str = "", values: object = None
) -> NDArray[np.intp]:
    """Return the number of each entry's cluster, its own where *clusters* is None."""
    import numpy as np

    if clusters is None:
        return np.arange(length)
    check_same_order(name, values, "clusters", clusters)
    return np.array(check_labels("clusters", clusters, length))


def differs_from_itself(value: Any) -> bool:
    """Tell NaN and its kin, which agree with nothing, and ``pd.NA``, of which nobody knows."""
    try:
        return bool(value != value)  # noqa: PLR0124 - as said
    except (TypeError, ValueError):
        return True


def is_masked(values: object) -> bool:
    """Tell NumPy's masked arrays, whose module takes longer to load than most columns to score."""
    masked = sys.modules.get("numpy.ma")  # without it loaded nothing can be masked
    return masked is not None and isinstance(values, masked.MaskedArray)


def column(name: str, values: object, what: str) -> NDArray[Any]:
    """Return a one-dimensional, non-empty column as an array, its entries unchecked."""
    import numpy as np

    if is_masked(values):
        values = as_builtins(values)  # None where masked: asarray would give what the mask hides
    if not hasattr(values, "__array__"):
        items = check_items(name, values, what=what)
        kinds = set(map(type, items))
        # asarray would make 1 of True, and a common type of a mixture
        array = np.asarray(items) if kinds in ({int}, {float}, {bool}) else _objects(items)
    else:
        array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    if array.size == 0:
        refuse(name, f"a non-empty sequence of {what}", values)
    if array.dtype.kind in "mM":  # whose entries can turn into integers unasked
        refuse(name, f"a sequence of {what} rather than of durations or dates", values, TypeError)
    return array


def paired_columns(
    first: tuple[str, object, str], second: tuple[str, object, str]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two columns, each of name, values and what they are, whose entries go together."""
    one, other = column(*first), column(*second)
    check_same_length(first[0], one.size, second[0], other.size)
    check_same_order(first[0], first[1], second[0], second[1])
    return one, other


def check_same_order(name: str, values: object, other: str, other_values: object) -> None:
    """Refuse two pandas columns of the same rows in different orders: entries pair by place."""
    index: Any = getattr(values, "index", None)
    other_index: Any = getattr(other_values, "index", None)
    if not (hasattr(index, "is_unique") and hasattr(other_index, "is_unique")):
        return
    if index.equals(other_index) or not (index.is_unique and other_index.is_unique):
        return
    try:
        alike = bool(index.sort_values().equals(other_index.sort_values()))
    except TypeError:  # labels without an order, of several types
        return
    if alike:
        raise InputError(
            f"{other} must have its rows in the order of {name}, got the same index in another "
            f"order; pass {other}.loc[{name}.index], or both as .to_numpy() to pair them as is"
        )


def _objects(items: tuple[Any, ...]) -> NDArray[Any]:
    import numpy as np

    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def check_flag_column(name: str, values: object) -> NDArray[np.bool_]:
    """Return a column of booleans (list, NumPy, pandas, polars, Arrow) as an array."""
    import numpy as np

    array = column(name, values, "booleans")
    if array.dtype == np.bool_:
        return array
    return np.fromiter(_each(name, array, check_flag), np.bool_, array.size)


def check_count_column(name: str, values: object, low: int = 0) -> NDArray[np.int64]:
    """Return a column of integers in ``[low, 2**53]`` as an array; refuses bools and floats."""
    import numpy as np

    array = column(name, values, "integers")
    if array.dtype.kind == "f" and np.isnan(array).any():
        refuse(f"{name}[{int(np.argmax(np.isnan(array)))}]", f"an integer >= {low}", math.nan)
    if array.dtype.kind not in "iu":
        counts = _each(name, array, lambda n, v: check_bounded_count(n, v, low))
        return np.fromiter(counts, np.int64, array.size)
    if int(array.min()) < low or int(array.max()) > MAX_COUNT:
        first = int(np.argmax((array < low) | (array > MAX_COUNT)))
        check_bounded_count(f"{name}[{first}]", int(array[first]), low)
    return array.astype(np.int64, copy=False)


def check_number_column(
    name: str, values: object, low: float = -math.inf, high: float = math.inf
) -> NDArray[np.float64]:
    """Return a column of finite numbers in ``[low, high]`` as an array; refuses bools."""
    import numpy as np

    array = column(name, values, "numbers")
    if array.dtype.kind not in "iuf":
        return np.fromiter(
            _each(name, array, lambda n, v: check_number(n, v, low, high)), np.float64, array.size
        )
    numbers = array.astype(np.float64, copy=False)
    inside = (numbers >= low) & (numbers <= high) & np.isfinite(numbers)
    if not inside.all():
        first = int(np.argmin(inside))
        check_number(f"{name}[{first}]", float(numbers[first]), low, high)
    return numbers


def check_score_column(
    name: str, values: object, low: float = 0.0, high: float = 1.0
) -> NDArray[np.float64]:
    """Return a column of finite numbers in ``[low, high]``, booleans among them as 0 and 1."""
    import numpy as np

    array = column(name, values, "booleans or scores")
    if array.dtype == np.bool_:
        return array.astype(np.float64)
    if array.dtype.kind == "O":
        array = _objects(tuple(float(v) if is_flag(v) else v for v in array.tolist()))
    return check_number_column(name, array, low, high)


def check_text_column(name: str, values: object) -> list[str]:
    """Return a column of non-empty strings (list, NumPy, pandas, polars, Arrow) as a list."""
    texts: list[Any] = column(name, values, "strings").tolist()
    for i, text in enumerate(texts):
        if type(text) is not str or not text:
            check_text(f"{name}[{i}]", text)
    return texts


def split_missing(name: str, values: object) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """
    Return a column of numbers, 0 where there is none, and where that is: None, NaN or ``pd.NA``.

    Data frames turn counts beside a missing one into floats; they come back as integers.
    """
    import numpy as np

    array = column(name, values, "numbers")
    if array.dtype.kind not in "fO":
        return array, np.zeros(array.size, dtype=np.bool_)
    missing = np.fromiter(map(is_missing, array.tolist()), np.bool_, array.size)
    filled = np.where(missing, 0, array)
    whole = array.dtype.kind == "f" and bool((filled == np.floor(filled)).all())
    if whole and float(filled.max()) < MAX_COUNT:  # a float16 could not be compared with it
        filled = filled.astype(np.int64)
    return filled, missing


def is_missing(value: object) -> bool:
    """Tell None, NaN and ``pd.NA``."""
    is_nan = (isinstance(value, float) or _is_numpy(value, "floating")) and value != value  # noqa: PLR0124
    return value is None or is_nan or type(value).__name__ == "NAType"


def _each(name: str, array: NDArray[Any], check: Callable[[str, object], T]) -> Iterable[T]:
    return (check(f"{name}[{i}]", value) for i, value in enumerate(array.tolist()))
