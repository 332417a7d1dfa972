"""pass@k and pass^k, which is the failure of the failures, from counts of samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scorekit._core.arrays import Counts, Floats
from scorekit._stats import chances
from scorekit._stats.suites import (
    EstimateFields,
    Insufficient,
    PerTask,
    Suite,
    count_used,
    nothing_of_others,
    refuse_short_task,
    single_task,
    unknown,
)
from scorekit.errors import InputError
from scorekit.intervals import normal_quantile, wilson

Some = float | Floats


def estimate_task(
    n: int,
    c: int,
    k: int,
    confidence_level: float,
    insufficient: Insufficient,
    *,
    all_pass: bool = False,
) -> EstimateFields:
    """Return the estimate for one task that came by itself."""
    if n >= k:
        return _pass_of_one(n, c, k, confidence_level, all_pass=all_pass)
    if insufficient != "nan":
        refuse_short_task("n_samples", n, k)
    return unknown(1, 0, confidence_level)


def estimate_suite(
    suite: Suite, c: Counts, ks: Sequence[int], *, all_pass: bool = False
) -> list[EstimateFields]:
    """Return an estimate for each of *ks*; the tasks are counted once for all."""
    n, level = suite.n, suite.confidence_level
    n_used = {k: count_used(n, k, suite.insufficient) for k in ks}
    kept = 1 if suite.insufficient == "drop" else n.size
    known = {k for k in ks if n_used[k] >= kept}
    several = [k for k in known if n_used[k] > 1]
    as_given = suite.codes is not None or suite.target is not None
    tasks = dict(_per_task(n, n - c if all_pass else c, several, as_given=as_given))

    def result(k: int) -> EstimateFields:
        if k not in known:
            return unknown(n.size, n_used[k], level)
        if k not in tasks:
            i = int((n >= k).argmax())
            one = _pass_of_one(int(n[i]), int(c[i]), k, level, all_pass=all_pass)
            one["n_tasks"] = n.size
            if n.size > 1:
                one["interval"] = nothing_of_others(level)
            return one
        some, none = tasks[k].scores, tasks[k].failures
        return suite.mean(
            k, tasks[k]._replace(scores=none, failures=some) if all_pass else tasks[k]
        )

    return list(map(result, ks))


def refuse_stopped(n: Counts, c: Counts, name: str) -> None:
    """Refuse attempts that ended with the first pass: their share of passes is no rate."""
    passes, fails = n[c == 1], n[(c == 0) & (n > 0)]
    if passes.size + fails.size < np.count_nonzero(n) or passes.size < FEW_PASSES:
        return
    if np.unique(passes).size >= KINDS and (not fails.size or int(fails.min()) == int(n.max())):
        raise InputError(
            f"{name} must be of numbers of attempts fixed beforehand, got attempts until the first"
            " pass; for pass@k give one sample a task, correct if one of its first k passed"
        )


FEW_PASSES, KINDS = 10, 3
"""Tasks with one pass, and different numbers of attempts at them, that show where attempts end."""


def score_each(n: Counts, c: Counts, k: int, *, all_pass: bool = False) -> Floats:
    """Return the score of each task, without meaning where it has too few samples."""
    distinct = chances.table(n, n - c if all_pass else c)
    scores = np.empty(distinct.n.size)
    for rows, of_rows in chances.blocks(distinct.n, distinct.c, (k,)):
        scores[rows] = of_rows[k][all_pass]
    return scores if distinct.row_of is None else np.take(scores, distinct.row_of)


def _pass_of_one(
    n: int, c: int, k: int, confidence_level: float, *, all_pass: bool
) -> EstimateFields:
    lucky = n - c if all_pass else c
    some, none = chances.one_task(n, lucky, k)
    variance = None
    if n >= 2 * k:
        variance = float(_variance(n, k, (some, none), chances.one_task(n, lucky, 2 * k)))
    ends = wilson(c / n, n, normal_quantile(confidence_level))
    if all_pass:
        low, high = (p**k for p in ends)
        alone = low, high, "wilson carried through p^k"
        return single_task((none, some), variance, alone, confidence_level)
    low, high = (-math.expm1(k * math.log1p(-p)) if p < 1.0 else 1.0 for p in ends)
    alone = low, high, "wilson carried through 1 - (1 - p)^k"
    return single_task((some, none), variance, alone, confidence_level)


def _variance(
    n: Counts | int, k: int, of_k: tuple[Some, Some], of_twice: tuple[Some, Some]
) -> Floats:
    """Return the unbiased sampling variance, from the smaller of the two chances."""
    (some, none), (some_of_twice, none_of_twice) = of_k, of_twice
    if k == 1:  # nothing cancels
        return np.asarray(some * none / (n - 1))
    variances: Floats = np.where(
        some > none, none * none - none_of_twice, some_of_twice - some * (1.0 + none)
    )
    return variances


def _per_task(
    n: Counts, c: Counts, ks: Sequence[int], *, as_given: bool
) -> Iterator[tuple[int, PerTask]]:
    """Yield the tasks with *k* samples for each of *ks*, equal ones together unless *as_given*."""
    if not ks:
        return
    distinct = chances.table(n, c)
    n_alike = None
    if distinct.row_of is not None:
        n_alike = np.bincount(distinct.row_of, minlength=distinct.n.size).astype(np.float64)
    rows_n = distinct.n
    has_twice = {k: not ((rows_n >= k) & (rows_n < 2 * k)).any() for k in ks}
    needed = [*ks, *(2 * k for k in ks if has_twice[k])]
    columns = {k: np.empty((2 + has_twice[k], rows_n.size)) for k in ks}
    for rows, of_rows in chances.blocks(rows_n, distinct.c, needed):
        for k, found in columns.items():
            found[0, rows], found[1, rows] = of_rows[k]
            if has_twice[k]:
                found[2, rows] = _variance(rows_n[rows], k, of_rows[k], of_rows[2 * k])
    for k, found in columns.items():
        which: Any = slice(None)
        if as_given and distinct.row_of is not None:
            which = distinct.row_of[n >= k]
        elif int(rows_n.min()) < k:
            which = rows_n >= k
        alike = None if as_given or n_alike is None else n_alike[which]
        variances = found[2, which] if has_twice[k] else None
        yield k, PerTask(rows_n[which], found[0, which], found[1, which], variances, alike)
