"""From counts of samples to `pass_at_k` and `pass_hat_k`, which is the failure of the failures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard, TypeVar

import numpy as np

from scorekit._core.checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_items,
    check_number,
    check_same_length,
)
from scorekit._core.columns import check_clusters, check_count_column, check_same_order
from scorekit._stats.chances import Counts, Floats, blocks, one_task, table
from scorekit._stats.suites import (
    INSUFFICIENT,
    Insufficient,
    SuiteEstimate,
    count_short,
    refuse_short_task,
    suite_interval,
    unknown,
)
from scorekit.errors import refuse
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    normal_quantile,
    wilson,
)

E = TypeVar("E", bound=SuiteEstimate)
Some = float | Floats


# What was given.


def is_column(value: object) -> TypeGuard[Iterable[int]]:
    """Tell a column from a single count."""
    return getattr(value, "ndim", 1) != 0 and isinstance(value, Iterable)


def check_columns(n_samples: object, n_correct: object) -> tuple[Counts, Counts]:
    """Return two columns of counts, none correct that is not a sample."""
    n_column, c_column = _sized("n_samples", n_samples), _sized("n_correct", n_correct)
    check_same_length("n_correct", len(c_column), "n_samples", len(n_column))
    check_same_order("n_samples", n_samples, "n_correct", n_correct)
    n, c = check_count_column("n_samples", n_column, 1), check_count_column("n_correct", c_column)
    too_many = c > n
    if too_many.any():
        i = int(np.argmax(too_many))
        check_count(f"n_correct[{i}]", int(c[i]), 0, int(n[i]), high_name=f"n_samples[{i}]")
    return n, c


def _sized(name: str, value: Any) -> Any:
    if hasattr(value, "__array__") and is_column(value):
        return value
    return check_items(name, value, what="integers")


def check_counts(n_samples: object, n_correct: object) -> tuple[int, int]:
    """Return the two counts of a single task."""
    n = check_bounded_count("n_samples", n_samples, 1)
    return n, check_count("n_correct", n_correct, 0, n, high_name="n_samples")


# Estimates.


def estimate(
    kind: type[E],
    n_samples: object,
    n_correct: object,
    ks: tuple[int, ...],
    *,
    confidence_level: float,
    insufficient: Insufficient,
    clusters: object,
    all_pass: bool = False,
) -> tuple[E, ...]:
    """Return one estimate for each of *ks*: that any attempt succeeds, or that all do."""
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    check_choice("insufficient", insufficient, INSUFFICIENT)
    if is_column(n_samples) or is_column(n_correct):
        n, c = check_columns(n_samples, n_correct)
        codes = None
        if clusters is not None:
            codes = check_clusters(clusters, n.size, "n_samples", n_samples)
        suite = _Suite(n, c, codes, confidence_level=confidence_level, all_pass=all_pass)
        return suite.estimate(kind, ks, insufficient)
    if clusters is not None:
        refuse("clusters", "None for a single task", clusters, TypeError)
    n_one, c_one = check_counts(n_samples, n_correct)
    for k in ks:
        if n_one < k and insufficient != "nan":
            refuse_short_task("n_samples", n_one, k)
    return tuple(
        _one_task(kind, n_one, c_one, k, confidence_level, all_pass=all_pass)
        if n_one >= k
        else unknown(kind, k=k, n_tasks=1, n_tasks_used=0, confidence_level=confidence_level)
        for k in ks
    )


def per_task(n: Counts, c: Counts, k: int) -> tuple[Floats, Floats]:
    """Return score and failure of each task, without meaning where it has too few samples."""
    distinct = table(n, c)
    scores, failures = np.empty(distinct.n.size), np.empty(distinct.n.size)
    for rows, chances in blocks(distinct.n, distinct.c, (k,)):
        scores[rows], failures[rows] = chances[k]
    if distinct.row_of is None:
        return scores, failures
    return np.take(scores, distinct.row_of), np.take(failures, distinct.row_of)


def _one_task(
    kind: type[E],
    n: int,
    c: int,
    k: int,
    confidence_level: float,
    *,
    all_pass: bool,
    n_tasks: int = 1,
) -> E:
    some, none = one_task(n, n - c if all_pass else c, k)
    stderr = None
    if n >= 2 * k:
        variance = _variance(n, k, (some, none), one_task(n, n - c if all_pass else c, 2 * k))
        stderr = math.sqrt(max(float(variance), 0.0))
    score, failure = (none, some) if all_pass else (some, none)
    ends = wilson(c / n, n, normal_quantile(confidence_level))
    if all_pass:
        low, high = (p**k for p in ends)
    else:
        low, high = (-math.expm1(k * math.log1p(-p)) if p < 1.0 else 1.0 for p in ends)
    return kind(
        score=score,
        failure=failure,
        k=k,
        n_tasks=n_tasks,
        n_tasks_used=1,
        stderr=None,
        stderr_same_tasks=stderr,
        interval=Interval(
            low=min(low, score),
            high=max(high, score),
            confidence_level=confidence_level,
            method=f"wilson carried through {'p^k' if all_pass else '1 - (1 - p)^k'}",
        ),
    )


def _variance(
    n: Counts | int, k: int, chances: tuple[Some, Some], of_twice: tuple[Some, Some]
) -> Floats:
    """Return the unbiased sampling variance, from the smaller of the two chances."""
    (some, none), (some_of_twice, none_of_twice) = chances, of_twice
    if k == 1:  # nothing cancels
        return np.asarray(some * none / (n - 1))
    variances: Floats = np.where(
        some > none, none * none - none_of_twice, some_of_twice - some * (1.0 + none)
    )
    return variances


class _Suite:
    """The tasks of a suite, and what all estimates from them share."""

    def __init__(
        self,
        n: Counts,
        c: Counts,
        codes: Counts | None,
        *,
        confidence_level: float,
        all_pass: bool,
    ) -> None:
        self._n, self._c, self._codes = n, c, codes
        self._confidence, self._all_pass = confidence_level, all_pass

    def estimate(
        self, kind: type[E], ks: tuple[int, ...], insufficient: Insufficient
    ) -> tuple[E, ...]:
        """Return one estimate for each of *ks*; the tasks are counted once for all."""
        n, size = self._n, self._n.size
        n_used = {k: size - count_short(n, k, insufficient, "n_samples") for k in ks}
        known = [k for k in n_used if n_used[k] == size or insufficient == "drop"]
        sums = self._sum_up([k for k in known if n_used[k] > 1])

        def result(k: int) -> E:
            confidence_level = self._confidence
            if k not in known:
                return unknown(
                    kind,
                    k=k,
                    n_tasks=size,
                    n_tasks_used=n_used[k],
                    confidence_level=confidence_level,
                )
            if k not in sums:
                i = int((n >= k).argmax())
                one = int(n[i]), int(self._c[i]), k, confidence_level
                return _one_task(kind, *one, all_pass=self._all_pass, n_tasks=size)
            return self._result(kind, sums[k], n_used[k])

        return tuple(map(result, ks))

    def _sum_up(self, ks: Sequence[int]) -> dict[int, _Sums]:
        if not ks:
            return {}
        n, c = self._n, self._n - self._c if self._all_pass else self._c
        weights = np.ones(n.size)
        distinct = table(n, c)
        if distinct.row_of is not None:
            n_each = np.bincount(distinct.row_of, minlength=distinct.n.size)
            seen = np.flatnonzero(n_each)
            n, c, weights = distinct.n[seen], distinct.c[seen], n_each[seen].astype(np.float64)
        sums = {k: _Sums(k, has_twice=not ((n >= k) & (n < 2 * k)).any()) for k in ks}
        needed = [*ks, *(2 * k for k in ks if sums[k].has_twice)]
        for rows, chances in blocks(n, c, needed):
            for each in sums.values():
                each.add(n[rows], weights[rows], chances)
        return sums

    def _result(self, kind: type[E], sums: _Sums, n_used: int) -> E:
        k = sums.k
        n_samples, somes, nones, offset, squares, *variance = sums.total()
        score, failure = (nones, somes) if self._all_pass else (somes, nones)
        score, failure, n_groups = score / n_used, failure / n_used, float(n_used)
        spread = max(squares - offset * offset / n_used, 0.0)
        stderr: float | None = math.sqrt(spread / (n_used - 1) / n_used)
        if self._codes is not None:
            used = self._n >= k
            codes = self._codes[used]
            scores, _ = per_task(self._n[used], self._c[used], k)
            if self._all_pass:
                _, scores = per_task(self._n[used], (self._n - self._c)[used], k)
            stderr, n_groups = clustered_stderr(scores, codes), effective_groups(codes)
        return kind(
            score=score,
            failure=failure,
            k=k,
            n_tasks=self._n.size,
            n_tasks_used=n_used,
            stderr=stderr,
            stderr_same_tasks=math.sqrt(max(*variance, 0.0)) / n_used if variance else None,
            interval=suite_interval(
                score,
                failure,
                stderr,
                n_groups=n_groups,
                most=n_samples / k,
                confidence_level=self._confidence,
            ),
        )


class _Sums:
    """Sums over tasks for one *k*, block by block, so that memory does not grow with the suite."""

    def __init__(self, k: int, *, has_twice: bool) -> None:
        self.k = k
        self.has_twice = has_twice
        self._blocks: list[list[float]] = []
        self._origin = 0.0

    def add(self, n: Counts, weights: Floats, chances: dict[int, tuple[Floats, Floats]]) -> None:
        """Add a block of tasks; those with fewer than *k* samples stay out."""
        weights = np.where(n >= self.k, weights, 0.0)
        if not weights.any():
            return
        some, none = chances[self.k]
        if not self._blocks:  # a score that occurs: equal scores have no spread at all
            self._origin = float(some[weights.argmax()])
        offset = some - self._origin
        terms = [n, some, none, offset, offset * offset]
        if self.has_twice:
            terms.append(_variance(n, self.k, (some, none), chances[2 * self.k]))
        self._blocks.append([float((weights * term).sum()) for term in terms])

    def total(self) -> list[float]:
        """Return the sums over all blocks."""
        return list(map(math.fsum, zip(*self._blocks, strict=True)))
