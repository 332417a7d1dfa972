"""Estimate the best of several attempts that are scored on a scale: `best_at_k`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

import attrs
import numpy as np

from scorekit._checks import check_bounded_count, check_items, is_ordered
from scorekit._columns import check_score_column
from scorekit._pass_kernel import Floats
from scorekit._suite_estimate import Insufficient, SuiteEstimate, estimate_tasks
from scorekit.intervals import wilson


@attrs.frozen(kw_only=True)
class BestAtK(SuiteEstimate):
    """Result of `best_at_k`: expected best score of *k* attempts, and how far to trust it."""

    notation = "best@{k}"


def best_at_k(
    scores: Iterable[float] | Iterable[Iterable[float]],
    *,
    k: int = 1,
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> BestAtK:
    """
    Estimate the best score to expect of *k* attempts at a task.

    Over the sorted scores of a task ``sum_i C(i - 1, k - 1) / C(n, k) * r_(i)``, the mean of the
    best over all subsets of *k*; for a suite its mean over tasks.  With scores of 0 and 1 only it
    is `pass_at_k`.

    Standard errors, and the interval of a suite, are made as in `pass_at_k`.  For one task the
    interval is Wilson's with ``n / k`` trials: by Hoeffding's bound *n* samples tell no less than
    so many independent sets of *k*; it is wide where they tell more.

    Args:
        scores: Scores in [0, 1] of the samples of one task, shape ``(N,)``, booleans among them
            as 0 and 1; or one such sequence for each task of a suite, of any lengths.
        k: Attempts (count, at least 1).
        confidence: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `BestAtK`.

    Raises:
        InputError: If a score lies outside [0, 1] or is NaN, a sequence is empty, or a task has
            too few samples; and as `pass_at_k`.
        TypeError: If a score is not a number; and as `pass_at_k`.

    Examples:
        >>> print(best_at_k([0.1, 0.5, 0.25, 0.9, 0.9, 0.0], k=2))
        best@2 = 0.68 [0.2151, 0.9428]
        >>> best_at_k([[0.5, 0.75, 0.75], [0.0, 0.25]], k=2).score
        0.5
        >>> best_at_k([0.5, 1.5])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: scores[1] must be a number in [0, 1], got 1.5

    .. versionadded:: 0.1.0
    """
    k = check_bounded_count("k", k, 1)
    tasks, single = _check_scores(scores)
    return estimate_tasks(
        BestAtK,
        name="n_samples of scores",
        n=np.array([task.size for task in tasks]),
        k=k,
        single=single,
        score_of=lambda i: _best(tasks[i], k),
        variance_of=lambda i: _variance(tasks[i], k),
        ends_of=lambda i, quantile: wilson(_best(tasks[i], k)[0], tasks[i].size / k, quantile),
        method="wilson on n / k",
        confidence=confidence,
        insufficient=insufficient,
        clusters=clusters,
    )


def _check_scores(scores: Any) -> tuple[list[Floats], bool]:
    """Return the sorted scores of each task, and whether there is one task by itself."""
    items: Any = np.asarray(scores) if hasattr(scores, "__array__") else None
    if items is None or items.ndim != 1 or items.dtype == object:  # else it is one task's column
        items = check_items("scores", scores, what="scores, or of such sequences")
        if any(map(is_ordered, items)):
            return [
                np.sort(check_score_column(f"scores[{i}]", item)) for i, item in enumerate(items)
            ], False
    return [np.sort(check_score_column("scores", items))], True


def _weights(n: int, k: int) -> Floats:
    """Return the share of subsets of *k* whose best is each of *n* sorted scores."""
    rank = np.arange(n, 0, -1, dtype=np.float64)
    with np.errstate(under="ignore"):
        falling = np.cumprod(np.maximum(rank[1:] - k + 1.0, 0.0) / rank[1:])
    return np.concatenate([[1.0], falling])[::-1] * (k / n)


def _best(scores: Floats, k: int) -> tuple[float, float]:
    """Return the expected best and what it lacks of 1; rounding must not leave the scores."""
    weights = _weights(scores.size, k)
    low, high = float(scores[0]), float(scores[-1])
    best, lack = math.fsum(weights * scores), math.fsum(weights * (1.0 - scores))
    return min(max(best, low), high), min(max(lack, 1.0 - high), 1.0 - low)


def _variance(scores: Floats, k: int) -> float:
    """Return the unbiased sampling variance: a square less the mean product of disjoint draws."""
    best, lack = _best(scores, k)
    if lack < best:  # the same variance, and less of it cancels
        scores, best = 1.0 - scores, lack
    n = scores.size
    lower = np.cumsum(_weights(n, k) * scores)[:-1]
    weights = np.concatenate([np.zeros(k), _weights(n - k, k)])
    both = 2.0 * math.fsum(lower * (weights * scores)[1:])
    return max(best * best - both, 0.0)
