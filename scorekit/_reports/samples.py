"""Samples of generated code as columns, from records or from a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Counts, Floats
from scorekit._core.checks import (
    check_items,
    check_same_length,
    is_ordered,
)
from scorekit._core.columns import (
    OUTCOMES,
    as_builtins,
    as_long,
    attempts_in,
    check_attempts,
    check_flag_column,
    check_id,
    check_outcome_columns,
    check_same_order,
    column,
    numbered,
    numbered_ids,
    refuse_words,
    split_missing,
)
from scorekit._core.mappings import is_mapping
from scorekit.coding import (
    MEASUREMENTS,
    NOT_MEASURED,
    CodeSample,
)
from scorekit.errors import refuse


class Samples(NamedTuple):
    """Samples as columns, their tasks numbered in order of appearance."""

    case_ids: tuple[str, ...]
    """Case of each task."""
    models: tuple[str, ...]
    """Each model once, in order of appearance."""
    model_of: Counts
    """The model of each task, as its place in *models*."""
    task: Counts
    """The task that each sample is an attempt at, as its place in *case_ids*."""
    compiled: NDArray[np.bool_]
    """False in an unknown row that may not have compiled."""
    passed: Counts
    """-1 where unknown."""
    failed: Counts
    warnings: Counts
    cost_usd: Floats
    """NaN where it was not measured, like the next."""
    latency_seconds: Floats
    input_tokens: Counts
    """-1 where it was not measured, like the next."""
    output_tokens: Counts
    cache_read_tokens: Counts
    cache_write_tokens: Counts

    @property
    def correct(self) -> NDArray[np.bool_]:
        """What `scorekit.CodeSample.correct` says of each."""
        correct: NDArray[np.bool_] = self.compiled & (self.passed > 0) & (self.failed == 0)
        return correct

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Whether the outcome of each is missing."""
        return np.asarray(self.passed == NOT_MEASURED)

    def take(self, rows: NDArray[np.bool_]) -> Samples:
        """Return some of them, without the tasks that are left with none."""
        tasks = np.unique(self.task[rows])
        ids = tuple(map(self.case_ids.__getitem__, tasks.tolist()))
        places = np.searchsorted(tasks, self.task[rows])
        columns: list[Any] = [column[rows] for column in self[4:]]
        return Samples(ids, self.models, self.model_of[tasks], places, *columns)


def _tasks(
    ids: tuple[str, ...], id_of: Counts, models: tuple[str, ...], model_of: Counts
) -> tuple[tuple[str, ...], tuple[str, ...], Counts, Counts]:
    """Return the first four fields of `Samples` from the case and the model of each."""
    if len(models) == 1:
        return ids, models, np.zeros(len(ids), dtype=np.int64), id_of
    keys = id_of * len(models) + model_of
    _, first, key_of = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    first = first[order]
    own = tuple(map(ids.__getitem__, id_of[first].tolist()))
    return own, models, model_of[first], place[key_of]


def from_records(items: Sequence[CodeSample]) -> Samples:
    """Make columns of items."""
    ids, id_of = numbered([item.case_id for item in items])
    models, model_of = numbered([item.model for item in items])
    columns: dict[str, Any] = {}
    for name, kind in MEASUREMENTS.items():
        values: Iterable[Any] = map(attrgetter(name), items)
        if kind.optional:
            missing = kind.missing
            values = (missing if value is None else value for value in values)
        columns[name] = np.fromiter(values, kind.dtype, len(items))
    return Samples(*_tasks(ids, id_of, models, model_of), **columns)


def from_columns(columns: dict[str, Any]) -> Samples:
    """Check columns under the names of a sample's fields; most may be None, or one value."""
    columns = _unnested(columns)
    ids, id_of = numbered_ids("case_id", columns["case_id"])
    n_samples = id_of.size
    for name, values in columns.items():
        check_same_order("case_id", columns["case_id"], name, values)

    def read(name: str, values: Any) -> NDArray[Any]:
        kind = MEASUREMENTS[name]
        if values is None and kind.missing is not None:
            return np.full(n_samples, kind.missing, dtype=kind.dtype)
        values = as_long(values, n_samples)
        if not kind.optional:
            return np.asarray(_same_long(name, kind.check_column(name, values), n_samples))
        values, missing = split_missing(name, values)
        known = np.array(_same_long(name, kind.check_column(name, values), n_samples))
        known[missing] = kind.missing
        return known

    model = columns["model"]
    models: tuple[str, ...]
    if _is_column(model):
        models, model_of = numbered_ids("model", model)
        _same_long("model", model_of, n_samples)
    else:
        models, model_of = (check_id("model", model),), np.zeros(n_samples, dtype=np.int64)
    if (attempt := columns.pop("attempt")) is not None:
        tasks: list[str] = [ids[i] for i in id_of.tolist()]
        check_attempts(attempt, tasks, [models[i] for i in model_of.tolist()])
    passed = columns["passed"]
    if columns["compiled"] is None:
        if passed is None:
            refuse("passed", "a column, or a mapping from case, where compiled is None", None)
        columns["compiled"] = True
    made: dict[str, Any] = {"passed": np.zeros(n_samples, np.int64)}
    if passed is not None:
        made = _outcomes(columns, n_samples)
        columns["warnings"] = made.pop("warnings", None)
    made |= {name: read(name, columns[name]) for name in MEASUREMENTS if name not in made}
    return Samples(*_tasks(ids, id_of, models, model_of), **made)


def _outcomes(columns: dict[str, Any], n_samples: int) -> dict[str, Any]:
    """Return the outcome of each sample; a row with a missing outcome is unknown as a whole."""
    values = as_long(columns["passed"], n_samples)
    refuse_words("passed", column("passed", values, "booleans"), OUTCOMES)  # with what is missing
    passed, unknown = split_missing("passed", values)
    _same_long("passed", passed, n_samples)
    found: dict[str, Any] = {}
    undone = np.zeros(n_samples, np.bool_)
    for name in ("compiled", "failed", "warnings"):
        if columns[name] is not None:
            found[name], missing = _filled(name, as_long(columns[name], n_samples), unknown)
            undone |= missing & (name != "failed")
    n_passed, n_failed = check_outcome_columns(passed, found.get("failed"), "case_id", n_samples)
    compiled = _same_long("compiled", check_flag_column("compiled", found["compiled"]), n_samples)
    known_wrong = unknown & ~compiled & ~undone
    return found | {
        "compiled": compiled & ~undone,
        "passed": np.where(unknown & ~known_wrong, NOT_MEASURED, n_passed),
        "failed": np.where(unknown, 0, n_failed),
    }


def _filled(name: str, values: Any, unknown: NDArray[np.bool_]) -> tuple[Any, NDArray[np.bool_]]:
    """Return a column with 0 where it is missing, and those places, which are unknown rows."""
    filled, missing = split_missing(name, values)
    if not missing.any():
        return values, np.zeros(unknown.size, np.bool_)
    for i in np.flatnonzero(_same_long(name, missing, unknown.size) & ~unknown):
        refuse(f"{name}[{i}]", "known where passed is (if it is missing: None in both)", None)
    return filled, missing


def _unnested(columns: dict[str, Any]) -> dict[str, Any]:
    """Return a row for each attempt of a table that has a row for each case."""
    passed = columns["passed"]
    if is_mapping(passed):
        if columns["case_id"] is not None:
            refuse("case_id", "None where passed is a mapping from case", columns["case_id"])
        columns = columns | {"case_id": list(passed), "passed": list(passed.values())}
    elif columns["case_id"] is None:
        refuse("case_id", "a column, or passed a mapping from case to its attempts", None)
    read = {name: attempts_in(name, columns[name]) for name in (*MEASUREMENTS, "attempt")}
    sizes = {name: own for name, (_, own) in read.items() if own is not None}
    flat = {**columns, **{name: values for name, (values, _) in read.items()}}
    if not sizes:
        return flat
    first, wanted = next(iter(sizes.items()))
    for name, own in sizes.items():
        check_same_length(name, len(own), first, len(wanted))
        for i, (n, n_wanted) in enumerate(zip(own, wanted, strict=True)):
            if n != n_wanted:
                refuse(f"{name}[{i}]", f"{n_wanted} attempts like {first}[{i}]", n)
    for name, values in flat.items():
        if name not in sizes and _is_column(values):
            items = check_items(name, as_builtins(values))
            check_same_length(name, len(items), first, len(wanted))
            rows = zip(items, wanted, strict=True)
            flat[name] = list(chain.from_iterable(repeat(item, n) for item, n in rows))
    return flat


def _is_column(values: object) -> bool:
    return is_ordered(values) or hasattr(values, "__array__")


def _same_long(name: str, values: Any, n_samples: int) -> Any:
    check_same_length(name, len(values), "case_id", n_samples)
    return values
