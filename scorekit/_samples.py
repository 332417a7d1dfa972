"""Outcomes of generated code: one of them (`CodeSample`), and many as columns."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import (
    check_bounded_count,
    check_flag,
    check_number,
    check_records,
    check_same_length,
    check_text,
    store,
)
from scorekit._columns import (
    check_count_column,
    check_flag_column,
    check_number_column,
    check_same_order,
    check_text_column,
    split_missing,
)
from scorekit._records import Record

Counts: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

K = TypeVar("K")
T = TypeVar("T", bound=np.generic)


@attrs.frozen(kw_only=True)
class CodeSample(Record):
    """
    One generated program and what came of it; several with one *case_id* are its attempts.

    None means not measured.

    Raises:
        InputError: If an id is empty, a number negative or not finite, or a count above 2**53.
        TypeError: If a field has the wrong type.

    Examples:
        >>> CodeSample(case_id="fizzbuzz", model="a", compiled=True, passed=3).correct
        True
        >>> CodeSample(case_id="fizzbuzz", model="a", compiled=True, passed=-3)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: passed must be an integer >= 0, got -3

    .. versionadded:: 0.1.0
    """

    case_id: str
    model: str
    compiled: bool
    passed: int = 0
    """Tests passed; this and all counts at most 2**53."""
    failed: int = 0
    """Tests failed."""
    warnings: int = 0
    """Lint warnings."""
    cost_usd: float | None = None
    latency_seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None

    def __attrs_post_init__(self) -> None:
        """Check every field under its own name; store it as the builtin of its annotation."""
        check_text("case_id", self.case_id)
        check_text("model", self.model)
        store(self, "compiled", check_flag("compiled", self.compiled))
        for name in ("passed", "failed", "warnings", "input_tokens", "output_tokens"):
            value = getattr(self, name)
            if name in _REQUIRED:
                store(self, name, check_bounded_count(name, value))
            elif value is not None:
                store(self, name, check_bounded_count(name + _UNLESS_NONE, value))
        for name in MEASURED:
            if getattr(self, name) is not None:
                store(self, name, check_number(name + _UNLESS_NONE, getattr(self, name), 0.0))

    @property
    def correct(self) -> bool:
        """Whether it compiled, at least one test ran and none failed; warnings do not matter."""
        return bool(self.compiled and self.passed and not self.failed)


_REQUIRED = {"passed", "failed", "warnings"}
_UNLESS_NONE = ", None where not measured,"  # data frames make NaN of it


COUNTS = ("passed", "failed", "warnings")
MEASURED = ("cost_usd", "latency_seconds")
TOKENS = ("input_tokens", "output_tokens")
NOT_MEASURED = -1


class Samples(NamedTuple):
    """Samples as columns, their cases numbered in order of appearance."""

    keys: tuple[tuple[str, str], ...]
    """Case and model of each task."""
    task: Counts
    """The task that each sample is an attempt at, as its place in *keys*."""
    compiled: NDArray[np.bool_]
    passed: Counts
    failed: Counts
    warnings: Counts
    cost_usd: Floats
    """NaN where it was not measured, like the next."""
    latency_seconds: Floats
    input_tokens: Counts
    """-1 where it was not measured, like the next."""
    output_tokens: Counts

    @property
    def correct(self) -> NDArray[np.bool_]:
        """What `CodeSample.correct` says of each."""
        correct: NDArray[np.bool_] = self.compiled & (self.passed > 0) & (self.failed == 0)
        return correct


def from_records(samples: object, *, empty: bool = False) -> Samples:
    """Make columns of `CodeSample` items."""
    items = check_records("samples", samples, CodeSample, empty=empty)

    def column(name: str, kind: type[T]) -> NDArray[T]:
        values: list[Any] = list(map(attrgetter(name), items))
        return np.array(values, dtype=kind)  # None becomes NaN

    def tokens(name: str) -> Counts:
        counts: list[int | None] = list(map(attrgetter(name), items))
        return np.array([NOT_MEASURED if n is None else n for n in counts], dtype=np.int64)

    keys, task = numbered(list(map(attrgetter("case_id", "model"), items)))
    parts = (column(name, np.int64) for name in COUNTS)
    measured = (column(name, np.float64) for name in MEASURED)
    compiled = column("compiled", np.bool_)
    return Samples._make((keys, task, compiled, *parts, *measured, *map(tokens, TOKENS)))


def from_columns(columns: dict[str, Any]) -> Samples:
    """Check columns under the names of a sample's fields; all but the first two may be None."""
    case_ids = check_text_column("case_id", columns["case_id"])
    n_samples = len(case_ids)
    for name, values in columns.items():
        check_same_order("case_id", columns["case_id"], name, values)
    model = columns["model"]
    if isinstance(model, str):
        models = [check_text("model", model)] * n_samples
    else:
        models = _as_long("model", check_text_column("model", model), n_samples)

    def counts(name: str) -> Counts:
        if columns[name] is None:
            return np.zeros(n_samples, dtype=np.int64)
        counts: Counts = _as_long(name, check_count_column(name, columns[name]), n_samples)
        return counts

    def measured(name: str) -> Floats:
        if columns[name] is None:
            return np.full(n_samples, np.nan)
        values, missing = split_missing(name, columns[name])
        numbers = _as_long(name, check_number_column(name, values, 0.0), n_samples)
        return np.where(missing, np.nan, numbers)

    def tokens(name: str) -> Counts:
        if columns[name] is None:
            return np.full(n_samples, NOT_MEASURED)
        values, missing = split_missing(name, columns[name])
        counts = _as_long(name, check_count_column(name, values), n_samples)
        return np.where(missing, NOT_MEASURED, counts)

    keys, task = numbered(list(zip(case_ids, models, strict=True)))
    compiled = _as_long("compiled", check_flag_column("compiled", columns["compiled"]), n_samples)
    others = (*map(counts, COUNTS), *map(measured, MEASURED), *map(tokens, TOKENS))
    return Samples._make((keys, task, compiled, *others))


def _as_long(name: str, values: Any, n_samples: int) -> Any:
    check_same_length(name, len(values), "case_id", n_samples)
    return values


def numbered(keys: list[K]) -> tuple[tuple[K, ...], Counts]:
    """Number keys in order of appearance; return each once, and the number of each."""
    distinct = dict.fromkeys(keys)
    if len(distinct) == len(keys):
        return tuple(keys), np.arange(len(keys))
    place = {key: i for i, key in enumerate(distinct)}
    return tuple(place), np.array(list(map(place.__getitem__, keys)), dtype=np.int64)


def join(first: Samples, second: Samples) -> Samples:
    """Put the second part behind the first."""
    place = {key: i for i, key in enumerate(first.keys)}
    moved = np.array([place.setdefault(key, len(place)) for key in second.keys], dtype=np.int64)
    columns = zip((first.task, *first[2:]), (moved[second.task], *second[2:]), strict=True)
    return Samples._make((tuple(place), *map(np.concatenate, columns)))
