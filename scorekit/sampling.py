"""Estimate success in several attempts: `pass_at_k`, `pass_hat_k` and their relatives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_items,
    check_number,
    check_same_length,
    is_ordered,
)
from scorekit._core.columns import as_builtins, check_score_column, differs_from_itself
from scorekit._core.text import as_decimal
from scorekit._stats.chances import Counts, Floats
from scorekit._stats.pass_suites import check_columns, check_counts, estimate, is_column, per_task
from scorekit._stats.suites import (
    INSUFFICIENT,
    Insufficient,
    SuiteEstimate,
    count_short,
    estimate_tasks,
)
from scorekit.errors import InputError, refuse, shown
from scorekit.intervals import Interval, normal_quantile, wilson
from scorekit.records import Record, is_mapping


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
    confidence_level: float = 0.95,
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
        confidence_level: Share of such intervals that hold the true value, in (0, 1).
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
    """
    return estimate(
        PassAtK,
        n_samples,
        n_correct,
        (check_bounded_count("k", k, 1),),
        confidence_level=confidence_level,
        insufficient=insufficient,
        clusters=clusters,
    )[0]


def pass_at_ks(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    ks: Iterable[int] = (1, 5, 10),
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> tuple[PassAtK, ...]:
    """
    Estimate `pass_at_k` for several *k* at once: the data are checked and counted once.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        ks: Numbers of attempts allowed (counts, at least 1).
        confidence_level: As in `pass_at_k`.
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
    """
    items = check_items("ks", ks, what="integers")
    sizes = tuple(check_bounded_count(f"ks[{i}]", k, 1) for i, k in enumerate(items))
    return estimate(
        PassAtK,
        n_samples,
        n_correct,
        sizes,
        confidence_level=confidence_level,
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
    confidence_level: float = 0.95,
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
        confidence_level: As in `pass_at_k`.
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
    """
    return estimate(
        PassHatK,
        n_samples,
        n_correct,
        (check_bounded_count("k", k, 1),),
        confidence_level=confidence_level,
        insufficient=insufficient,
        clusters=clusters,
        all_pass=True,
    )[0]


@attrs.frozen(kw_only=True)
class BestAtK(SuiteEstimate):
    """Result of `best_at_k`: expected best score of *k* attempts, and how far to trust it."""

    notation = "best@{k}"


def best_at_k(
    scores: Iterable[float] | Iterable[Iterable[float]],
    *,
    k: int = 1,
    confidence_level: float = 0.95,
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
        confidence_level: As in `pass_at_k`.
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
        variance_of=lambda i: _best_variance(tasks[i], k),
        ends_of=lambda i, quantile: wilson(_best(tasks[i], k)[0], tasks[i].size / k, quantile),
        method="wilson on n / k",
        confidence_level=confidence_level,
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


def _best_variance(scores: Floats, k: int) -> float:
    """Return the unbiased sampling variance: a square less the mean product of disjoint draws."""
    best, lack = _best(scores, k)
    if lack < best:  # the same variance, and less of it cancels
        scores, best = 1.0 - scores, lack
    n = scores.size
    lower = np.cumsum(_weights(n, k) * scores)[:-1]
    weights = np.concatenate([np.zeros(k), _weights(n - k, k)])
    both = 2.0 * math.fsum(lower * (weights * scores)[1:])
    return max(best * best - both, 0.0)


MAX_K_OF_G_PASS = 1000
"""Largest *k*: the work for each task grows with its square."""


@attrs.frozen(kw_only=True)
class GPassAtK(SuiteEstimate):
    """Result of `g_pass_at_k`: chance that enough of *k* attempts succeed."""

    notation = "G-pass@{k}"

    tau: float
    """Share of the attempts that has to succeed."""
    n_needed: int
    """Attempts that have to succeed, ``ceil(tau * k)``, at least 1."""


def g_pass_at_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int = 1,
    tau: float = 0.5,
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> GPassAtK:
    """
    Estimate the chance that at least a share *tau* of *k* attempts at a task succeeds.

    ``P(X >= m)`` for ``m = max(1, ceil(tau * k))`` and *X* hypergeometric, the successes among
    *k* of *n* samples of which *c* are correct.  A small *tau* makes it `pass_at_k`, a *tau* of 1
    `pass_hat_k`.  Intervals and standard errors are made as there; for one task the ends of
    Wilson's interval are carried through the binomial chance.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        k: Attempts (count from 1 to 1000).
        tau: Share that has to succeed, in [0, 1], taken as it is written in decimal.
        confidence_level: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `GPassAtK`.

    Raises:
        InputError: As `pass_at_k`, and if *tau* is out of range or *k* above 1000.
        TypeError: As `pass_at_k`, and if *tau* is not a number.

    Examples:
        >>> result = g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=0.5)
        >>> round(result.score, 4), result.n_needed
        (0.7154, 2)
        >>> g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=2)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: tau must be a number in [0, 1], got 2

    References:
        Liu et al., "Are Your LLMs Capable of Stable Reasoning?", arXiv:2412.13147.
    """
    k = check_count("k", k, 1, MAX_K_OF_G_PASS)
    tau = check_number("tau", tau, 0.0, 1.0)
    needed = max(1, math.ceil(as_decimal(tau) * k))
    single = not is_column(n_samples) and not is_column(n_correct)
    if single:
        n, c = map(np.array, zip(check_counts(n_samples, n_correct), strict=True))
    else:
        n, c = check_columns(n_samples, n_correct)
    tasks = list(zip(n.tolist(), c.tolist(), strict=True))

    @cache
    def tails(n_samples: int, n_correct: int) -> tuple[float, float]:
        return _tails(n_samples, n_correct, k, needed)

    @cache
    def variance(n_samples: int, n_correct: int) -> float:
        return _g_pass_variance(n_samples, n_correct, k, needed)

    return estimate_tasks(
        GPassAtK,
        name="n_samples",
        n=n,
        k=k,
        single=single,
        score_of=lambda i: tails(*tasks[i]),
        variance_of=lambda i: variance(*tasks[i]),
        ends_of=lambda i, quantile: _carry(*tasks[i], k, needed, quantile),
        method="wilson carried through the binomial",
        confidence_level=confidence_level,
        insufficient=insufficient,
        clusters=clusters,
        tau=tau,
        n_needed=needed,
    )


def _carry(n: int, c: int, k: int, needed: int, quantile: float) -> tuple[float, float]:
    """Return the chances of *needed* successes in *k* at both ends of the success rate."""
    from scipy.special import betainc

    low, high = (float(betainc(needed, k - needed + 1, p)) for p in wilson(c / n, n, quantile))
    return low, high


def _successes(n: int, c: int, k: int) -> tuple[int, Floats]:
    """
    Return the chances of each number of correct ones among *k* of *n*, and the least number.

    From the likeliest number outwards each chance follows from its neighbour, and all are
    divided by their sum: nothing cancels, and nothing overflows.
    """
    least, most = max(0, k - (n - c)), min(k, c)
    mode = min(max((k + 1) * (c + 1) // (n + 2), least), most)
    i = np.arange(least, most, dtype=np.float64)
    steps = (c - i) * (k - i) / ((i + 1.0) * (float(n - c - k) + i + 1.0))
    at = mode - least
    with np.errstate(under="ignore"):
        below = np.cumprod(1.0 / steps[:at][::-1])[::-1]
        chances = np.concatenate([below, [1.0], np.cumprod(steps[at:])])
    return least, chances / math.fsum(chances)


def _tails(n: int, c: int, k: int, needed: int) -> tuple[float, float]:
    """Return the chance of at least *needed* correct ones, and that of fewer."""
    least, chances = _successes(n, c, k)
    split = max(needed - least, 0)
    if split == 0 or split >= chances.size:  # certain
        return (0.0, 1.0) if split else (1.0, 0.0)
    return min(math.fsum(chances[split:]), 1.0), min(math.fsum(chances[:split]), 1.0)


def _g_pass_variance(n: int, c: int, k: int, needed: int) -> float:
    """Return the unbiased sampling variance: a square less the chance of two disjoint draws."""
    least, chances = _successes(n, c, k)
    side = int(np.argmin(_tails(n, c, k, needed)))  # of the rarer event less cancels
    both = math.fsum(
        chance * _tails(n - k, c - i, k, needed)[side]
        for i, chance in enumerate(chances.tolist(), least)
        if chance and (i < needed) == bool(side)
    )
    return max(_tails(n, c, k, needed)[side] ** 2 - both, 0.0)


MOST_VOTES = 256
"""Largest *k*: the work for each task grows with its square."""

Votes = tuple[int, tuple[int, ...]]
"""How often the correct answer was given, and each other one, most frequent first."""


@attrs.frozen(kw_only=True)
class MajorityAtK(SuiteEstimate):
    """Result of `majority_at_k`: chance that *k* attempts vote for the correct answer."""

    notation = "majority@{k}"


def majority_at_k(
    answers: Iterable[Any] | Mapping[Any, int],
    *,
    correct: Any,
    k: int = 1,
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> MajorityAtK:
    """
    Estimate the chance that the most frequent answer of *k* attempts is the correct one.

    The share of all subsets of *k* samples in which it is, exact for any number of different
    answers; of *t* answers that tie for most frequent each wins one *t*-th of the time.

    Standard errors, and the interval of a suite, are made as in `pass_at_k`, only that the error
    for exactly these tasks is the jackknife's, which overstates rather than understates.  For one
    task the interval is Wilson's with ``n / k`` trials: by Hoeffding's bound *n* samples tell no
    less than so many independent sets of *k*; it is wide where they tell more.

    Args:
        answers: The answers given at one task, any hashable values or a mapping from each to how
            often it was given; or one such sequence or mapping for each task of a suite.  An
            answer that is a sequence itself has to come as a key of a mapping.
        correct: The correct answer; for a suite one for each task.
        k: Attempts that vote (count from 1 to 256).
        confidence_level: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `MajorityAtK`.

    Raises:
        InputError: If *k* or a number of answers is out of range, a task has no answer or too
            few, or *correct* and *answers* differ in length; and as `pass_at_k`.
        TypeError: If an answer is not hashable; and as `pass_at_k`.

    Examples:
        >>> result = majority_at_k(["12", "12", "7", "12", "9"], correct="12", k=3)
        >>> result.score
        0.8
        >>> majority_at_k([{"12": 3, "7": 1}, ["a", "b"]], correct=["12", "b"]).score
        0.625
        >>> majority_at_k({"12": 3, "7": -1}, correct="12")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: answers['7'] must be an integer >= 0, got -1

    References:
        Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
        arXiv:2203.11171.
    """
    k = check_count("k", k, 1, MOST_VOTES)
    tasks, single = _check_votes(answers, correct)

    @cache
    def chances(n_correct: int, others: tuple[int, ...]) -> tuple[float, float]:
        chance = _majority(n_correct, others, k)
        return chance, 1.0 - chance

    @cache
    def variance(n_correct: int, others: tuple[int, ...]) -> float:
        return _jackknife(n_correct, others, k)

    n = [c + sum(others) for c, others in tasks]

    return estimate_tasks(
        MajorityAtK,
        name="n_samples of answers",
        n=np.array(n),
        k=k,
        single=single,
        score_of=lambda i: chances(*tasks[i]),
        variance_of=lambda i: variance(*tasks[i]),
        ends_of=lambda i, quantile: wilson(chances(*tasks[i])[0], n[i] / k, quantile),
        method="wilson on n / k",
        confidence_level=confidence_level,
        insufficient=insufficient,
        clusters=clusters,
    )


def _check_votes(answers: Any, correct: Any) -> tuple[list[Votes], bool]:
    answers = as_builtins(answers)
    if is_mapping(answers):
        return [_count("answers", answers, "correct", correct)], True
    items = check_items("answers", answers, what="answers, or of such sequences")
    if not any(is_mapping(item) or is_ordered(item) for item in items):
        return [_count("answers", items, "correct", correct)], True
    keys = check_items("correct", as_builtins(correct), what="answers")
    check_same_length("correct", len(keys), "answers", len(items))
    return [
        _count(f"answers[{i}]", item, f"correct[{i}]", key)
        for i, (item, key) in enumerate(zip(items, keys, strict=True))
    ], False


def _count(name: str, answers: Any, correct_name: str, correct: Any) -> Votes:
    counts: Mapping[Any, int]
    if is_mapping(answers):
        counts = {
            answer: check_bounded_count(f"{name}[{shown(answer)}]", n)
            for answer, n in answers.items()
        }
    else:
        items = check_items(name, as_builtins(answers), what="answers")
        for i, answer in enumerate(items):
            _check_answer(f"{name}[{i}]", answer)
        counts = Counter(items)
    _check_answer(correct_name, correct)
    if not 0 < sum(counts.values()) <= 2**53:
        refuse(name, "between 1 and 2**53 answers", answers)
    others = (n for answer, n in counts.items() if n and answer != correct)
    return counts.get(correct, 0), tuple(sorted(others, reverse=True))


def _check_answer(name: str, answer: Any) -> None:
    try:
        hash(answer)
    except TypeError:
        refuse(name, "a hashable answer", answer, TypeError)
    if differs_from_itself(answer):
        refuse(name, "an answer that is not missing", answer)


def _ways(n: int, most: int, scale: float) -> Floats:
    """Return ``C(n, a) * scale^a`` for *a* up to *most*."""
    a = np.arange(most, dtype=np.float64)
    return np.concatenate([[1.0], np.cumprod(np.maximum(n - a, 0.0) / (a + 1.0) * scale)])


def _majority(n_correct: int, others: Sequence[int], k: int) -> float:
    """
    Return the share of subsets of *k* whose most frequent answer is the correct one.

    For each number *x* of correct answers in the subset: the ways to choose the rest with no
    answer more than *x* times, by how many others come as often.  Each answer chosen weighs
    ``k / n``, which leaves the share as it is and keeps the products within ``e^k``.
    """
    if k - sum(others) > max(others, default=0):
        return 1.0  # it wins even where all others are among the k
    n = n_correct + sum(others)
    scale = k / n
    correct = _ways(n_correct, k, scale)
    ways = [_ways(m, min(m, k), scale) for m in others]
    total = math.fsum(
        correct[x] * _rest(ways, x, k - x) for x in range(1, min(k, n_correct) + 1)
    ) / float(_ways(n, k, scale)[k])
    return min(total, 1.0)


def _rest(ways: Sequence[Floats], x: int, rest: int) -> float:
    """Return the weight of choosing *rest* of the others, none more than *x* times."""
    chosen = np.zeros((rest // x + 1, rest + 1))  # by how many tie, by how many are chosen
    chosen[0, 0] = 1.0
    for each in ways:
        more = np.zeros_like(chosen)
        for a in range(min(x, each.size, rest + 1)):
            more[:, a:] += each[a] * chosen[:, : rest + 1 - a]
        if x < each.size and x <= rest:
            more[1:, x:] += each[x] * chosen[:-1, : rest + 1 - x]
        chosen = more
    return math.fsum(chosen[:, rest] / np.arange(1.0, rest // x + 2))


def _jackknife(n_correct: int, others: Sequence[int], k: int) -> float:
    """Return the variance from leaving out one sample after another; equal ones count together."""
    n = n_correct + sum(others)
    without = [(n_correct, _majority(n_correct - 1, others, k))] if n_correct else []
    for m, times in Counter(others).items():
        i = others.index(m)
        fewer = (*others[:i], m - 1, *others[i + 1 :])
        without.append((m * times, _majority(n_correct, fewer, k)))
    mean = math.fsum(count * share for count, share in without) / n
    return (n - 1) / n * math.fsum(count * (share - mean) ** 2 for count, share in without)


MAX_K_EXTRAPOLATED = 100_000
"""Largest *k*: the work grows with it."""

MOST_SAMPLES = 10_000
"""Most samples of one task, for the same reason."""

_LOGITS = np.linspace(-25.0, 25.0, 101)
"""Where the correlation is looked for; beyond them lie, to ten digits, 0 and 1."""

_FURTHEST = 36.0
"""Largest logit of a mean: one more and it would round to 1."""


@attrs.frozen(kw_only=True)
class ExtrapolatedPassAtK(Record):
    """Result of `extrapolate_pass_at_k`: what the fitted model expects, not what was seen."""

    score: float
    """Chance in ``[0, 1]`` that one of *k* attempts at a task like these succeeds."""
    k: int
    mean_rate: float
    """Fitted mean of the tasks' success rates, in (0, 1)."""
    correlation: float
    """Of two attempts at one task, as fitted; 1 if no task is ever solved now and then only."""
    n_tasks: int
    max_samples: int
    """Most samples of a task; the score is extrapolated for *k* above it."""
    interval: Interval
    """Holds under the model only; the model itself may not hold far beyond *max_samples*."""

    def __str__(self) -> str:
        """Return score and interval on one line, rounded for display, marked as a model's."""
        return f"pass@{self.k} ~ {self.score:.4g} {self.interval} (beta-binomial)"


def extrapolate_pass_at_k(
    *,
    n_samples: Iterable[int],
    n_correct: Iterable[int],
    k: int,
    confidence_level: float = 0.95,
) -> ExtrapolatedPassAtK:
    """
    Extrapolate the chance of a success in *k* attempts beyond the samples drawn.

    Takes the success rates of tasks to follow a beta distribution, fits it to all counts by
    maximum likelihood, and returns ``1 - B(a, b + k) / B(a, b)``.  This is a model, not an
    estimate free of one as `pass_at_k` is: how many tasks are beyond the model's reach
    altogether, no sample can say, so the further *k* lies beyond the samples, the more the shape
    of the beta distribution decides.  The interval holds what the likelihood of the fit does not
    reject, which covers the fit's uncertainty and not the model's.

    Args:
        n_samples: Samples drawn for each task (counts up to 10 000), shape ``(N,)``, at least 2
            tasks and at least one task with 2 samples.
        n_correct: Samples that were correct (counts), shape ``(N,)``.
        k: Attempts allowed (count from 1 to 100 000), usually more than there are samples.
        confidence_level: Share of such intervals that hold the true value if the model is right,
            in (0, 1).

    Returns:
        A frozen `ExtrapolatedPassAtK`.

    Raises:
        InputError: If a count is out of range, the columns differ in length, all samples or none
            are correct, or there are too few tasks or samples to tell tasks apart.
        TypeError: If a count is not an integer.

    Examples:
        >>> result = extrapolate_pass_at_k(
        ...     n_samples=[10] * 6, n_correct=[0, 1, 3, 5, 9, 10], k=100
        ... )
        >>> round(result.score, 3)
        0.933
        >>> extrapolate_pass_at_k(n_samples=[10, 10], n_correct=[0, 0], k=100)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_correct must be neither 0 nor n_samples throughout: without \
both successes and failures nothing can be extrapolated

    References:
        Griffiths, "Maximum Likelihood Estimation for the Beta-Binomial Distribution", Biometrics
        29(4), 1973.
    """
    n, c = check_columns(n_samples, n_correct)
    k = check_count("k", k, 1, MAX_K_EXTRAPOLATED)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    if int(n.max()) > MOST_SAMPLES:
        raise InputError(f"n_samples must be at most {MOST_SAMPLES} each, got {n.max()}")
    if n.size == 1:
        raise InputError("n_samples must be those of at least 2 tasks, got 1")
    if int(n.max()) == 1:
        raise InputError("n_samples must be at least 2 for some task, got 1 throughout")
    if not c.any() or (c == n).all():
        raise InputError(
            "n_correct must be neither 0 nor n_samples throughout: without both successes and "
            "failures nothing can be extrapolated"
        )
    fit = _Fit(n, c)
    low, high = fit.score_range(k, normal_quantile(confidence_level) ** 2 / 2.0)
    score = beta_pass_at_k(fit.mean_rate, fit.correlation, k)
    return ExtrapolatedPassAtK(
        score=score,
        k=k,
        mean_rate=fit.mean_rate,
        correlation=fit.correlation,
        n_tasks=n.size,
        max_samples=int(n.max()),
        interval=Interval(
            low=min(low, score),
            high=max(high, score),
            confidence_level=confidence_level,
            method="beta-binomial likelihood",
        ),
    )


def beta_pass_at_k(mean_rate: float, correlation: float, k: int) -> float:
    """
    Return ``1 - B(a, b + k) / B(a, b)`` for the beta distribution of that mean and correlation.

    As a product over attempts, each given that those before it failed, it holds for the edges
    too, where *a* and *b* are infinite (correlation 0) or 0 (correlation 1).
    """
    rest = 1.0 - correlation
    attempts = np.arange(1.0, k)
    later = np.log1p(-mean_rate * rest / (rest + attempts * correlation))
    return -math.expm1(math.log1p(-mean_rate) + float(later.sum()))


class _Fit:
    """The beta-binomial likelihood of counts, and where it is largest."""

    def __init__(self, n: Counts, c: Counts) -> None:
        longest = int(n.max())
        # how many tasks had more than j successes, failures, samples
        self._more = [_exceeding(each, longest) for each in (c, n - c, n)]
        self._j = np.arange(1.0, longest)
        self._best_mean = cache(self._find_best_mean)
        by_logit = {float(logit): self._best_mean(_expit(logit)) for logit in _LOGITS}
        start = max(by_logit, key=lambda logit: by_logit[logit][1])
        best = _refine(lambda logit: self._best_mean(_expit(logit))[1], start)
        edges = 0.0, 1.0, _expit(start), _expit(best)
        self.correlation = max(edges, key=lambda rho: self._best_mean(rho)[1])
        self.mean_rate, self._most = self._best_mean(self.correlation)

    def score_range(self, k: int, fall: float) -> tuple[float, float]:
        """Return the least and largest score whose log-likelihood is within *fall* of the best."""
        ends: list[float] = []
        for side in (-1.0, 1.0):

            def reach(rho: float, side: float = side) -> float:
                mean, most = self._best_mean(rho)
                floor = self._most - fall
                if most < floor:
                    return -math.inf
                return side * beta_pass_at_k(self._end(rho, mean, floor, side), rho, k)

            values = {float(logit): reach(_expit(logit)) for logit in _LOGITS}
            start = max(values, key=lambda logit: values[logit])
            best = _refine(lambda logit: reach(_expit(logit)), start)
            rhos = 0.0, 1.0, _expit(start), _expit(best), self.correlation
            ends.append(side * max(map(reach, rhos)))
        return ends[0], ends[1]

    def _end(self, rho: float, mean: float, floor: float, side: float) -> float:
        """Return the mean beyond the best one at which the likelihood falls to *floor*."""
        return _crossing(
            lambda logit: self._log_likelihood(_expit(logit), rho) - floor,
            _logit(mean),
            side * _FURTHEST,
        )

    def _find_best_mean(self, rho: float) -> tuple[float, float]:
        """Return the likeliest mean for a correlation; the likelihood is concave in it."""
        mean = _crossing(lambda logit: self._slope(_expit(logit), rho), -_FURTHEST, _FURTHEST)
        return mean, self._log_likelihood(mean, rho)

    def _slope(self, mean: float, rho: float) -> float:
        """Return the derivative by the mean, times mean and one less it."""
        (passes, fails, _), rest, j = self._more, 1.0 - rho, self._j
        up = passes[0] + float((passes[1:] * mean * rest / (mean * rest + j * rho)).sum())
        back = 1.0 - mean
        down = fails[0] + float((fails[1:] * back * rest / (back * rest + j * rho)).sum())
        return float(up * back - down * mean)

    def _log_likelihood(self, mean: float, rho: float) -> float:
        passes, fails, samples = self._more
        rest, j = 1.0 - rho, self._j
        together = passes[0] + fails[0] - samples[0]  # tasks with successes and failures
        first: float = passes[0] * math.log(mean) + fails[0] * math.log1p(-mean)
        if together:
            first += together * math.log(rest) if rest else -math.inf
        with np.errstate(divide="ignore"):
            terms = (
                (passes[1:], mean * rest + j * rho),
                (fails[1:], (1.0 - mean) * rest + j * rho),
            )
        logs = sum(float((count * np.log(size)).sum()) for count, size in terms)
        return float(first) + logs - float((samples[1:] * np.log(rest + j * rho)).sum())


def _exceeding(counts: Counts, longest: int) -> Floats:
    below = np.cumsum(np.bincount(counts, minlength=longest + 1))[:longest]
    return (counts.size - below).astype(np.float64)


def _expit(logit: float) -> float:
    return (
        1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
    )


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)


def _crossing(function: Callable[[float], float], above: float, below: float) -> float:
    """Return the share between two logits where *function*, falling, crosses 0."""
    from scipy.optimize import brentq

    if function(above) <= 0.0:
        return _expit(above)
    if function(below) >= 0.0:
        return _expit(below)
    return _expit(float(brentq(function, above, below, xtol=1e-12)))


def _refine(function: Callable[[float], float], start: float) -> float:
    """Return where *function* is largest within a step of the grid around *start*."""
    step = float(_LOGITS[1] - _LOGITS[0])
    low, high = start - step, start + step
    for _ in range(30):
        third = (high - low) / 3.0
        if function(low + third) < function(high - third):
            low += third
        else:
            high -= third
    return (low + high) / 2.0
