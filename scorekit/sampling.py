"""Estimate success in several attempts from samples: `pass_at_k` and its variants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeGuard

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_count_column,
    check_items,
    check_number,
    check_same_length,
)
from scorekit._pass_kernel import Counts, Floats, blocks, one_task, table
from scorekit._records import Record
from scorekit.errors import InputError, refuse
from scorekit.intervals import Interval, normal_quantile, t_quantile, wilson

Insufficient = Literal["raise", "nan", "drop"]
"""What a task with fewer than *k* samples does: stop, make the result unknown, or stay out."""


def _or_unknown(number: float) -> float | None:
    """Make NaN equal to itself, or no result that holds one would equal its copy."""
    return None if math.isnan(number) else number


@attrs.frozen(kw_only=True)
class PassAtK(Record):
    """Result of `pass_at_k`: the score, what it rests on, and how far to trust it."""

    score: float = attrs.field(eq=_or_unknown)
    """Chance in ``[0, 1]`` that one of *k* attempts succeeds; higher is better."""
    failure: float = attrs.field(eq=_or_unknown)
    """``1 - score`` to all its digits, also where the score rounds to 1."""
    k: int
    n_tasks: int
    """Tasks given."""
    n_tasks_used: int
    """Tasks with at least *k* samples."""
    stderr: float | None
    """Standard error for tasks like these, ``s / sqrt(M)``; None below two tasks."""
    stderr_same_tasks: float | None
    """Standard error for exactly these tasks, sampled anew; None unless each has 2k samples."""
    interval: Interval

    def __str__(self) -> str:
        """Return score and interval on one line, rounded for display."""
        return f"pass@{self.k} = {self.score:.4g} {self.interval}"


def pass_at_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int = 1,
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
) -> PassAtK:
    """
    Estimate the chance that at least one of *k* attempts at a task succeeds.

    The unbiased estimator ``1 - C(n - c, k) / C(n, k)`` of Chen et al., and its mean over the
    tasks of a suite.  Score and failure are within 1e-14 and 2e-14 of the exact rationals,
    relatively; for one task of at most 256 samples they are correctly rounded.

    *Interval.*  For one task, Wilson's interval of ``c / n`` with both ends carried through
    ``1 - (1 - p)^k``, extended where needed to hold the score, which being unbiased can lie
    beyond them.  For several, Wilson's interval at their mean *p* with the effective number of
    tasks ``p (1 - p) / stderr^2`` (all tasks where *p* is 0 or 1, at most all samples elsewhere)
    and Student's t in place of the normal quantile: it stays within [0, 1] and holds its
    confidence for a few tasks too.

    *Two standard errors.*  *stderr* is about tasks like these; *stderr_same_tasks*, from the
    unbiased variance ``q^2 - C(n - c, 2k) / C(n, 2k)`` of each task's failure *q*, about running
    these very tasks again.  That difference cancels: some 1e-16 n of the second is rounding, 1e-10
    at a million samples per task.

    Args:
        n_samples: Samples drawn, *n*: a count from 1 to 2**53 for one task, or a column of them,
            shape ``(N,)``: a list, or a NumPy, pandas, polars or Arrow column.
        n_correct: Samples that were correct, *c*, at most *n*: like *n_samples*.
        k: Attempts allowed (count, at least 1).
        confidence: Share of such intervals that hold the true value, in (0, 1).
        insufficient: What tasks with fewer than *k* samples do, for which there is no estimate:
            ``"raise"`` an error; make score and failure ``"nan"``, with no standard error and
            the interval [0, 1] of method ``"none"``; or ``"drop"`` out, so that *n_tasks_used*
            is below *n_tasks*.

    Returns:
        A frozen `PassAtK`.

    Raises:
        InputError: If a count is out of range, the columns are empty or differ in length, or a
            task has too few samples (with ``"drop"``: every task).
        TypeError: If a count is not an integer, or one of the two is a column and one is not.

    Examples:
        >>> result = pass_at_k(n_samples=10, n_correct=3, k=5)
        >>> result.score, result.failure
        (0.9166666666666666, 0.08333333333333333)
        >>> print(result)
        pass@5 = 0.9167 [0.4346, 0.9902]
        >>> suite = pass_at_k(n_samples=[10, 10, 4], n_correct=[3, 0, 4], k=4)
        >>> round(suite.score, 6), suite.n_tasks_used
        (0.611111, 3)
        >>> pass_at_k(n_samples=[10, 10, 4], n_correct=[3, 0, 4], k=5)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_samples must be >= k = 5 for every task, got 1 of 3 tasks \
with fewer (first: n_samples[2] = 4); pass insufficient="nan" or "drop"

    References:
        Chen et al., "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.

    .. versionadded:: 0.1.0
    """
    return _estimate(
        n_samples, n_correct, (check_bounded_count("k", k, 1),), confidence, insufficient
    )[0]


def pass_at_ks(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    ks: Iterable[int] = (1, 5, 10),
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
) -> tuple[PassAtK, ...]:
    """
    Estimate `pass_at_k` for several *k* at once: the data are checked and counted once.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        ks: Numbers of attempts allowed (counts, at least 1).
        confidence: As in `pass_at_k`.
        insufficient: As in `pass_at_k`, for each *k* by itself.

    Returns:
        One `PassAtK` for each of *ks*, in their order.

    Raises:
        InputError: As `pass_at_k`, and if *ks* is empty.
        TypeError: As `pass_at_k`.

    Examples:
        >>> [result.score for result in pass_at_ks(n_samples=10, n_correct=5, ks=(1, 2, 6))]
        [0.5, 0.7777777777777778, 1.0]
        >>> pass_at_ks(n_samples=10, n_correct=5, ks=(1, 0))
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: ks[1] must be an integer >= 1, got 0

    .. versionadded:: 0.1.0
    """
    items = check_items("ks", ks, what="integers")
    sizes = tuple(check_bounded_count(f"ks[{i}]", k, 1) for i, k in enumerate(items))
    return _estimate(n_samples, n_correct, sizes, confidence, insufficient)


def pass_at_k_per_task(
    *,
    n_samples: Iterable[int],
    n_correct: Iterable[int],
    k: int = 1,
    insufficient: Insufficient = "raise",
) -> NDArray[np.float64]:
    """
    Estimate `pass_at_k` for each task of a suite by itself.

    Args:
        n_samples: Samples drawn for each task (counts), shape ``(N,)``.
        n_correct: Samples that were correct (counts), shape ``(N,)``.
        k: Attempts allowed (count, at least 1).
        insufficient: What tasks with fewer than *k* samples do: ``"raise"`` an error, give
            ``"nan"``, or ``"drop"`` out, which leaves a shorter array.

    Returns:
        The scores in ``[0, 1]``, float64, in the order of the tasks; shape ``(N,)`` unless some
        were dropped.

    Raises:
        InputError: As `pass_at_k`.
        TypeError: As `pass_at_k`, and if *n_samples* and *n_correct* are not columns.

    Examples:
        >>> pass_at_k_per_task(n_samples=[10, 5, 4], n_correct=[3, 0, 4], k=2).round(6).tolist()
        [0.533333, 0.0, 1.0]
        >>> pass_at_k_per_task(n_samples=[10, 10], n_correct=[3, 11])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_correct[1] must be an integer in [0, 10], got 11

    .. versionadded:: 0.1.0
    """
    k = check_bounded_count("k", k, 1)
    check_choice("insufficient", insufficient, ("raise", "nan", "drop"))
    n, c = _check_columns(n_samples, n_correct)
    n_short = _count_short(n, k, insufficient)
    distinct = table(n, c)
    scores = np.empty(distinct.n.size)
    for rows, chances in blocks(distinct.n, distinct.c, (k,)):
        scores[rows] = chances[k][0]
    if distinct.row_of is not None:
        scores = np.take(scores, distinct.row_of)
    if n_short and insufficient == "drop":
        return scores[n >= k]
    if n_short:
        scores[n < k] = np.nan
    return scores


# What was given.


def _estimate(
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    ks: tuple[int, ...],
    confidence: float,
    insufficient: Insufficient,
) -> tuple[PassAtK, ...]:
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    check_choice("insufficient", insufficient, ("raise", "nan", "drop"))
    if _is_column(n_samples) or _is_column(n_correct):
        return _suite(*_check_columns(n_samples, n_correct), ks, confidence, insufficient)
    n = check_bounded_count("n_samples", n_samples, 1)
    c = check_count("n_correct", n_correct, 0, n)
    return tuple(_one_task(n, c, k, confidence, insufficient) for k in ks)


def _is_column(value: object) -> TypeGuard[Iterable[int]]:
    return getattr(value, "ndim", 1) != 0 and isinstance(value, Iterable)


def _check_columns(n_samples: object, n_correct: object) -> tuple[Counts, Counts]:
    n_column, c_column = _sized("n_samples", n_samples), _sized("n_correct", n_correct)
    check_same_length("n_correct", len(c_column), "n_samples", len(n_column))
    n, c = check_count_column("n_samples", n_column, 1), check_count_column("n_correct", c_column)
    too_many = c > n
    if too_many.any():
        i = int(np.argmax(too_many))
        refuse(f"n_correct[{i}]", f"an integer in [0, {n[i]}]", int(c[i]))
    return n, c


def _sized(name: str, value: Any) -> Any:
    if hasattr(value, "__array__") and _is_column(value):
        return value
    return check_items(name, value, what="integers")


def _count_short(n: Counts, k: int, insufficient: Insufficient) -> int:
    """Return how many tasks have fewer than *k* samples, where that may be."""
    if int(n.min()) >= k:
        return 0
    short = n < k
    n_short = int(np.count_nonzero(short))
    if insufficient == "raise":
        i = int(np.argmax(short))
        raise InputError(
            f"n_samples must be >= k = {k} for every task, got {n_short} of {n.size} tasks with "
            f'fewer (first: n_samples[{i}] = {n[i]}); pass insufficient="nan" or "drop"'
        )
    if insufficient == "drop" and n_short == n.size:
        raise InputError(
            f"n_samples must be >= k = {k} for at least one task, got at most {n.max()}"
        )
    return n_short


# One task.


def _one_task(
    n: int, c: int, k: int, confidence: float, insufficient: Insufficient, *, n_tasks: int = 1
) -> PassAtK:
    if n < k:
        if insufficient != "nan":
            raise InputError(f'n_samples must be >= k = {k}, got {n}; pass insufficient="nan"')
        return _unknown(k, n_tasks, 0, confidence)
    score, failure = one_task(n, c, k)
    stderr = None
    if n >= 2 * k:
        twice, neither = one_task(n, c, 2 * k)
        variance = (
            failure * failure - neither if score > failure else twice - score * (1.0 + failure)
        )
        stderr = math.sqrt(max(variance, 0.0))
    ends = wilson(c / n, n, normal_quantile(confidence))
    low, high = (-math.expm1(k * math.log1p(-p)) if p < 1.0 else 1.0 for p in ends)
    return PassAtK(
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
            confidence=confidence,
            method="wilson carried through 1 - (1 - p)^k",
        ),
    )


def _unknown(k: int, n_tasks: int, n_tasks_used: int, confidence: float) -> PassAtK:
    return PassAtK(
        score=math.nan,
        failure=math.nan,
        k=k,
        n_tasks=n_tasks,
        n_tasks_used=n_tasks_used,
        stderr=None,
        stderr_same_tasks=None,
        interval=Interval(low=0.0, high=1.0, confidence=confidence, method="none"),
    )


# A suite.


def _suite(
    n: Counts, c: Counts, ks: tuple[int, ...], confidence: float, insufficient: Insufficient
) -> tuple[PassAtK, ...]:
    n_used = {k: n.size - _count_short(n, k, insufficient) for k in ks}
    known = [k for k in n_used if n_used[k] == n.size or insufficient == "drop"]
    sums = _sum_up(n, c, [k for k in known if n_used[k] > 1])

    def result(k: int) -> PassAtK:
        if k not in known:
            return _unknown(k, n.size, n_used[k], confidence)
        if k not in sums:
            i = int((n >= k).argmax())
            return _one_task(int(n[i]), int(c[i]), k, confidence, insufficient, n_tasks=n.size)
        return sums[k].result(n.size, n_used[k], confidence)

    return tuple(map(result, ks))


def _sum_up(n: Counts, c: Counts, ks: Sequence[int]) -> dict[int, _Sums]:
    if not ks:
        return {}
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


class _Sums:
    """Sums over tasks for one *k*, block by block, so that memory does not grow with the suite."""

    def __init__(self, k: int, *, has_twice: bool) -> None:
        self.has_twice = has_twice
        self._k = k
        self._blocks: list[list[float]] = []
        self._origin = 0.0

    def add(self, n: Counts, weights: Floats, chances: dict[int, tuple[Floats, Floats]]) -> None:
        """Add a block of tasks; those with fewer than *k* samples stay out."""
        weights = np.where(n >= self._k, weights, 0.0)
        if not weights.any():
            return
        score, failure = chances[self._k]
        if not self._blocks:  # a score that occurs: equal scores have no spread at all
            self._origin = float(score[weights.argmax()])
        offset = score - self._origin
        terms = [n, score, failure, offset, offset * offset]
        if self.has_twice:
            twice, neither = chances[2 * self._k]
            terms.append(
                np.where(
                    score > failure, failure * failure - neither, twice - score * (1.0 + failure)
                )
            )
        self._blocks.append([float((weights * term).sum()) for term in terms])

    def result(self, n_tasks: int, n_used: int, confidence: float) -> PassAtK:
        """Return the mean over the *n_used* tasks added."""
        n_samples, scores, failures, offset, squares, *variance = map(
            math.fsum, zip(*self._blocks, strict=True)
        )
        score, failure = scores / n_used, failures / n_used
        spread = max(squares - offset * offset / n_used, 0.0)
        stderr = math.sqrt(spread / (n_used - 1) / n_used)
        n_effective = n_samples
        if not score or not failure:
            n_effective = float(n_used)
        elif stderr:
            n_effective = min(score * failure / stderr / stderr, n_samples)
        low, high = wilson(score, n_effective, t_quantile(confidence, n_used - 1))
        return PassAtK(
            score=score,
            failure=failure,
            k=self._k,
            n_tasks=n_tasks,
            n_tasks_used=n_used,
            stderr=stderr,
            stderr_same_tasks=math.sqrt(max(*variance, 0.0)) / n_used if variance else None,
            interval=Interval(low=low, high=high, confidence=confidence, method="wilson-n_eff"),
        )
