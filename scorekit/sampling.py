"""Estimate success in several attempts: `pass_at_k` and its variants, `pass_hat_k`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import check_bounded_count, check_choice, check_items
from scorekit._pass_suite import check_columns, estimate, per_task
from scorekit._suite_estimate import INSUFFICIENT, Insufficient, SuiteEstimate, count_short


@attrs.frozen(kw_only=True)
class PassAtK(SuiteEstimate):
    """Result of `pass_at_k`: chance that one of *k* attempts succeeds, and how far to trust it."""

    notation = "pass@{k}"


@attrs.frozen(kw_only=True)
class PassHatK(SuiteEstimate):
    """Result of `pass_hat_k`: chance that all *k* attempts succeed, and how far to trust it."""

    notation = "pass^{k}"


def pass_at_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int = 1,
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> PassAtK:
    """
    Estimate the chance that at least one of *k* attempts at a task succeeds.

    The unbiased estimator ``1 - C(n - c, k) / C(n, k)`` of Chen et al., and its mean over the
    tasks of a suite.  Score and failure are within 1e-14 and 2e-14 of the exact rationals,
    relatively; for one task of at most 256 samples they are correctly rounded.

    *Interval.*  For one task, Wilson's interval of ``c / n`` with both ends carried through
    ``1 - (1 - p)^k``, extended where needed to hold the score, which being unbiased can lie
    beyond them.  For several, Wilson's interval at their mean *p* with the effective number of
    tasks ``p (1 - p) / stderr^2`` (all tasks where *p* is 0 or 1, elsewhere at most the ``n / k``
    sets of *k* among all samples) and Student's t in place of the normal quantile, widened where
    successes or failures are rare: it stays within [0, 1] and holds its confidence for a few
    tasks too.

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
        clusters: A label for each task of a suite, equal where tasks belong together (several
            questions on one database): they count as one observation in *stderr* and interval,
            as in `mean_interval`.  None where every task stands by itself.  With a single label
            nothing is known about others: no *stderr*, and the interval [0, 1] of method
            ``"none: one cluster"``.

    Returns:
        A frozen `PassAtK`.

    Raises:
        InputError: If a count is out of range, the columns are empty or differ in length, or a
            task has too few samples (with ``"drop"``: every task).
        TypeError: If a count is not an integer, one of the two is a column and one is not, or
            *clusters* holds what is not hashable or comes with a single task.

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
with fewer (first: n_samples[2] = 4); lower k or pass insufficient="nan" or "drop"

    References:
        Chen et al., "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640, for clusters.
        Hoeffding, "A Class of Statistics with Asymptotically Normal Distribution", Annals of
        Mathematical Statistics 19(3), 1948, for the variance of such an average over subsets.

    .. versionadded:: 0.1.0
    """
    return estimate(
        PassAtK,
        n_samples,
        n_correct,
        (check_bounded_count("k", k, 1),),
        confidence=confidence,
        insufficient=insufficient,
        clusters=clusters,
    )[0]


def pass_at_ks(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    ks: Iterable[int] = (1, 5, 10),
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> tuple[PassAtK, ...]:
    """
    Estimate `pass_at_k` for several *k* at once: the data are checked and counted once.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        ks: Numbers of attempts allowed (counts, at least 1).
        confidence: As in `pass_at_k`.
        insufficient: As in `pass_at_k`, for each *k* by itself.
        clusters: As in `pass_at_k`.

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
    return estimate(
        PassAtK,
        n_samples,
        n_correct,
        sizes,
        confidence=confidence,
        insufficient=insufficient,
        clusters=clusters,
    )


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
        >>> pass_at_k_per_task(n_samples=[10, 5], n_correct=[3, 6])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_correct[1] must be an integer in [0, n_samples[1] = 5], got 6

    .. versionadded:: 0.1.0
    """
    k = check_bounded_count("k", k, 1)
    check_choice("insufficient", insufficient, INSUFFICIENT)
    n, c = check_columns(n_samples, n_correct)
    n_short = count_short(n, k, insufficient, "n_samples")
    scores, _ = per_task(n, c, k)
    if n_short and insufficient == "drop":
        return scores[n >= k]
    if n_short:
        scores[n < k] = np.nan
    return scores


def pass_hat_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int = 1,
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> PassHatK:
    """
    Estimate the chance that all of *k* attempts at a task succeed: how steady a model is.

    The unbiased estimator ``C(c, k) / C(n, k)``, and its mean over the tasks of a suite, to the
    digits of `pass_at_k`, of whose failure it is the mirror image.  So are its standard errors
    and its interval; for one task the ends of Wilson's interval are carried through ``p^k``.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        k: Attempts that all have to succeed (count, at least 1).
        confidence: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `PassHatK`.

    Raises:
        InputError: As `pass_at_k`.
        TypeError: As `pass_at_k`.

    Examples:
        >>> result = pass_hat_k(n_samples=10, n_correct=8, k=3)
        >>> print(result)
        pass^3 = 0.4667 [0.1178, 0.8394]
        >>> pass_hat_k(n_samples=10, n_correct=8, k=11)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_samples must be >= k = 11, got 10; \
lower k or pass insufficient="nan"

    References:
        Yao et al., "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
        Domains", arXiv:2406.12045.

    .. versionadded:: 0.1.0
    """
    return estimate(
        PassHatK,
        n_samples,
        n_correct,
        (check_bounded_count("k", k, 1),),
        confidence=confidence,
        insufficient=insufficient,
        clusters=clusters,
        all_pass=True,
    )[0]
