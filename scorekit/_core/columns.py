"""Checks of columns: each returns an array, or raises with the message form of `checks`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast

from scorekit._core.checks import (
    MAX_COUNT,
    check_bounded_count,
    check_flag,
    check_items,
    check_number,
    check_same_length,
    check_text,
    is_flag,
    is_missing,
    is_ordered,
)
from scorekit.errors import InputError, refuse, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOBODY_KNOWS = (
    "a missing outcome: leave its row out of all columns; "
    "False, then True, bounds how far it could move the result"
)
"""What to do with a missing outcome where a result has no bounds."""

OUTCOMES = "True or False, 1 or 0, or a count of tests"
"""What a column of outcomes holds."""

_RIGHT = frozenset(("correct", "ok", "pass", "passed", "resolved", "success", "true", "yes"))
"""Words that stand for True in columns of harnesses."""

K = TypeVar("K")
T = TypeVar("T")


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


def check_attempts(attempt: object, *keys: Sequence[object]) -> None:
    """Refuse a row that comes twice: one label for two attempts at the task of the *keys*."""
    if attempt is None:
        return
    labels = check_items("attempt", as_builtins(attempt), what="labels")
    codes = check_labels("attempt", labels, len(keys[0]))
    seen: dict[tuple[object, ...], int] = {}
    for i, row in enumerate(zip(*keys, codes, strict=True)):
        if seen.setdefault(row, i) != i:
            whose = " ".join(map(shown, row[:-1]))
            domain = f"unlike that of row {seen[row]}, which is of {whose} too"
            refuse(f"attempt[{i}]", domain, labels[i])


def numbered(keys: Sequence[K]) -> tuple[tuple[K, ...], NDArray[np.int64]]:
    """Number keys in order of appearance; return each once, and the number of each."""
    import numpy as np

    distinct = dict.fromkeys(keys)
    if len(distinct) == len(keys):
        return tuple(keys), np.arange(len(keys))
    if len(distinct) == 1:
        return tuple(distinct), np.zeros(len(keys), dtype=np.int64)
    place = dict(zip(distinct, range(len(distinct)), strict=True))
    return tuple(place), np.fromiter(map(place.__getitem__, keys), np.int64, len(keys))


def numbered_ids(name: str, values: object) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Number a column of names, non-empty strings or integers, as `numbered` does, as strings."""
    frame: Any = values
    if hasattr(frame, "factorize") and getattr(frame, "ndim", 0) == 1 and len(frame):
        codes, found = frame.factorize()  # pandas need not make a string of every row
        distinct: list[Any] = found.tolist()
        if (ids := _plain_ids(distinct)) is not None and int(codes.min()) >= 0:
            return ids, codes.astype("int64", copy=False)
    items: list[Any] = column(name, values, "strings or integers").tolist()
    if set(map(type, items)) in ({str}, {int}):
        known, codes = numbered(items)
        if (ids := _plain_ids(known)) is not None:
            return ids, codes
    first: dict[str, object] = {}
    names: list[str] = []
    if set(map(type, items)) == {float} and not all(item == item for item in items):  # noqa: PLR0124
        i = next(i for i, item in enumerate(items) if is_missing(item))
        domain = "a non-empty string or an integer (a missing one makes floats of the others)"
        refuse(f"{name}[{i}]", domain, items[i])
    for i, item in enumerate(items):
        names.append(check_id(f"{name}[{i}]", item))
        one = first.setdefault(names[i], item)
        if isinstance(one, str) != isinstance(item, str):
            refuse(f"{name}[{i}]", f"unlike all others, {shown(item)} like {shown(one)}", item)
    return numbered(names)


def names_of(name: str, values: object) -> list[str]:
    """Return a column of names, non-empty strings or integers, as strings."""
    distinct, codes = numbered_ids(name, values)
    return [distinct[code] for code in codes.tolist()]


def _plain_ids(distinct: Sequence[Any]) -> tuple[str, ...] | None:
    """Return names as strings where all are of one kind that says what it is."""
    kinds = set(map(type, distinct))
    if kinds == {int}:
        try:
            return tuple(map(str, distinct))
        except ValueError:  # one has more digits than Python writes
            return None
    return tuple(distinct) if kinds == {str} and all(distinct) else None


def name_of(value: str | int) -> str:
    """Take an integer for a name as type checkers see it; the field's check makes text of it."""
    return cast("str", value)


def check_id(name: str, value: object) -> str:
    """Return a name, a non-empty string or an integer, as a string."""
    if isinstance(value, str) and value:
        return str.__str__(value)  # of an enum its value
    if isinstance(value, SupportsIndex) and not is_flag(value):
        try:
            return str(index(value))
        except (TypeError, ValueError):  # an array, or more digits than Python writes
            pass
    kind = InputError if type(value) in (str, int) or is_missing(value) else TypeError
    refuse(name, "a non-empty string or an integer", value, kind)


def by_id(name: str, values: Mapping[Any, T]) -> Mapping[str, T]:
    """Return a mapping by its keys as names; refuse an integer beside its digits as text."""
    if set(map(type, values)) == {str} and all(values):
        return values
    found: dict[str, T] = {}
    for key, value in values.items():
        one = check_id(name, key)
        if one in found:
            refuse(name, "unlike all others, the integer 1 like '1'", key)
        found[one] = value
    return found


def as_long(value: object, length: int) -> Any:
    """Return a column of *value* where that is a single number or flag, else *value* itself."""
    import numpy as np

    if isinstance(value, Real | Decimal | np.generic):
        return np.full(length, value)
    return value


def check_outcome_columns(
    passed: object, failed: object, other: str, length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """
    Return counts of tests, as long as another column; a flag for the first says all or none.

    Without the second column (None) the first holds flags, or 1 and 0: 3 tests passed of how many?
    """
    import numpy as np

    array = column("passed", passed, "integers or booleans")
    refuse_words("passed", array, OUTCOMES)
    refuse_unknown("passed", array, OUTCOMES)
    counts = check_count_column("failed", as_long(0 if failed is None else failed, length))
    for name, values in (("passed", array), ("failed", counts)):
        check_same_length(name, values.size, other, length)
    flags = np.full(length, array.dtype == np.bool_)
    if array.dtype.kind == "O":
        items = array.tolist()
        flags = np.fromiter(map(is_flag, items), np.bool_, array.size)
        array = _objects(tuple(int(v) if is_flag(v) else v for v in items))
    if array.dtype.kind == "f" and (shares := np.flatnonzero(array != np.floor(array))).size:
        i = int(shares[0])
        recipe = "of a share: passed= and failed= as counts; of a score: compare_reports"
        refuse(f"passed[{i}]", f"{OUTCOMES} ({recipe})", float(array[i]), TypeError)
    if array.dtype != np.bool_:
        array = check_count_column("passed", array)
    several = np.flatnonzero(array > 1)
    if failed is None and several.size:
        i = int(several[0])
        recipe = "with the tests that failed as failed=, a column, or 0 for none"
        refuse(f"passed[{i}]", f"True or False, 1 or 0; or a count, {recipe}", int(array[i]))
    wrong = np.flatnonzero(flags & (array > 0) & (counts > 0))
    if wrong.size:
        i = int(wrong[0])
        refuse(f"failed[{i}]", "0 where passed is True", int(counts[i]))
    return array.astype(np.int64), np.where(flags & (array == 0), np.maximum(counts, 1), counts)


def attempts_in(name: str, values: object) -> tuple[Any, list[int] | None]:
    """Return a column of lists as one of their entries, and their lengths; None for no lists."""
    if isinstance(values, Real | Decimal | str) or values is None or is_masked(values):
        return values, None
    if getattr(values, "ndim", 1) > 1:
        values = as_builtins(values)
    items: Any = values
    if hasattr(values, "__array__"):
        import numpy as np

        items = np.asarray(values)
        if items.dtype.kind != "O" or not items.ndim:
            return values, None
        items = items.tolist()
    elif not is_ordered(values):
        return values, None
    items = tuple(items)
    if not any(map(is_ordered, items)):
        return values if hasattr(values, "__array__") else items, None
    lists = [
        check_items(f"{name}[{i}]", as_builtins(item), what="attempts")
        for i, item in enumerate(items)
    ]
    return list(chain.from_iterable(lists)), list(map(len, lists))


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
    """Tell NaN and its kin, which agree with nothing, and ``pd.NA``, which is unknown."""
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


def refuse_words(name: str, array: NDArray[Any], domain: str) -> None:
    """Refuse a column with words for flags, such as "PASS", and show how to make flags of them."""
    if array.dtype.kind in "biuf":
        return
    values: list[Any] = array.tolist()
    words = [value for value in values if isinstance(value, str)]
    if words:
        right = shown(next((word for word in words if word.lower() in _RIGHT), words[0]))
        # what is missing is not wrong
        test = f"x == {right}" + " if isinstance(x, str) else None" * any(map(is_missing, values))
        recipe = f"if {right} stands for True: [{test} for x in {name}]"
        place = next(i for i, value in enumerate(values) if isinstance(value, str))
        refuse(f"{name}[{place}]", f"{domain} ({recipe})", words[0], TypeError)


def refuse_unknown(name: str, array: NDArray[Any], domain: str) -> None:
    """Refuse a column of outcomes with None, NaN or ``pd.NA``, and say what to do with it."""
    import numpy as np

    if array.dtype.kind not in "fO":
        return
    values: list[Any] = array.tolist()
    missing = np.fromiter(map(is_missing, values), np.bool_, array.size)
    if missing.any():
        i = int(np.argmax(missing))
        refuse(f"{name}[{i}]", f"{domain} ({NOBODY_KNOWS})", values[i])


def check_flag_column(name: str, values: object) -> NDArray[np.bool_]:
    """Return a column of booleans, or of 1 and 0, of any library as an array."""
    import numpy as np

    array = column(name, values, "booleans")
    if array.dtype == np.bool_:
        return array
    refuse_words(name, array, "True or False")
    refuse_unknown(name, array, "True or False")
    if array.dtype.kind in "iuf" and bool(np.isin(array, (0, 1)).all()):
        return array.astype(np.bool_)
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
    if (low, high) == (0.0, 1.0):
        refuse_words(name, array, "True or False, or a number in [0, 1]")
    if array.dtype.kind == "O":
        array = _objects(tuple(float(v) if is_flag(v) else v for v in array.tolist()))
    return check_number_column(name, array, low, high)


def check_text_column(name: str, values: object) -> list[str]:
    """Return a column of non-empty strings (list, NumPy, pandas, polars, Arrow) as a list."""
    texts: list[Any] = column(name, values, "strings").tolist()
    if set(map(type, texts)) != {str} or not all(texts):
        for i, text in enumerate(texts):
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
    if array.dtype.kind == "f":
        missing = np.isnan(array)
    else:
        missing = np.fromiter(map(is_missing, array.tolist()), np.bool_, array.size)
    filled = np.where(missing, 0, array)
    whole = array.dtype.kind == "f" and bool((filled == np.floor(filled)).all())
    if whole and float(abs(filled).max()) < MAX_COUNT:  # a float16 could not be compared with it
        filled = filled.astype(np.int64)
    return filled, missing


def _each(name: str, array: NDArray[Any], check: Callable[[str, object], T]) -> Iterable[T]:
    return (check(f"{name}[{i}]", value) for i, value in enumerate(array.tolist()))
