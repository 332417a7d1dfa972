"""Estimate success in several attempts: `pass_at_k`, `pass_hat_k` and their relatives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sized
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypedDict,
    TypeGuard,
    TypeVar,
    Unpack,
    get_args,
    overload,
)

import attrs
import numpy as np

from scorekit._core.arrays import Counts, Floats
from scorekit._core.checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_items,
    check_number,
    check_same_length,
    is_ordered,
)
from scorekit._core.columns import (
    as_builtins,
    check_clusters,
    check_count_column,
    check_same_order,
    check_score_column,
    column,
    differs_from_itself,
)
from scorekit._core.mappings import is_mapping
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.attempts import (
    Votes,
    best,
    best_ends,
    carry_through_binomial,
    g_pass,
    majority,
    worth_of_enough,
    worth_over_shares,
)
from scorekit._stats.extrapolation import Fit, beta_pass_at_k
from scorekit._stats.passes import estimate_suite, estimate_task, refuse_stopped, score_each
from scorekit._stats.suites import Insufficient, Suite, count_used, on_scale
from scorekit.errors import InputError, refuse, shown
from scorekit.intervals import Interval, check_bounds, interval_around, normal_quantile, wilson
from scorekit.records import Record, listing


def or_unknown(number: float) -> float | None:
    """Make NaN equal to itself, or no result that holds one would equal its copy."""
    return None if math.isnan(number) else number


@attrs.frozen(kw_only=True, repr=False)
class SuiteEstimate(Record):
    """What is expected of *k* attempts, what that rests on, and how far to trust it."""

    notation: ClassVar[str] = ""

    score: float = attrs.field(eq=or_unknown)
    """The estimate in ``[0, 1]``, or within the bounds of the scale; higher is better."""
    failure: float = attrs.field(eq=or_unknown)
    """``1 - score``, or what the score lacks of the highest, with full precision even if the score
    rounds to it."""
    k: int
    n_tasks: int
    """Tasks given."""
    n_tasks_used: int
    """Tasks with at least *k* samples; text shows how many these are where they are not all."""
    stderr: float | None
    """Standard error for tasks like these; None below two tasks, or two clusters."""
    stderr_same_tasks: float | None
    """Standard error for exactly these tasks, sampled anew, of `pass_at_k` and `pass_hat_k`; None
    unless each task has 2k samples."""
    interval: Interval

    def _line(self) -> str:
        tasks = self.left_out or counted(self.n_tasks, "task")
        name = self.notation.format(k=self.k)
        return (
            f"{name} = {estimate(self.score, self.interval)} ({level_of(self.interval)}, {tasks})"
        )

    @property
    def left_out(self) -> str:
        """Say how many tasks it stands on; empty where these are all."""
        if self.n_tasks_used == self.n_tasks:
            return ""
        if self.n_tasks_used and math.isnan(self.score):
            return f"not known at {self.n_tasks - self.n_tasks_used} of {self.n_tasks} tasks"
        return f"{self.n_tasks_used} of {self.n_tasks} tasks"


@attrs.frozen(kw_only=True, repr=False)
class PassAtK(SuiteEstimate):
    """Result of `pass_at_k`: chance that one of *k* attempts succeeds, and how far to trust it."""

    notation = "pass@{k}"


@attrs.frozen(kw_only=True, repr=False)
class PassHatK(SuiteEstimate):
    """Result of `pass_hat_k`: chance that all *k* attempts succeed, and how far to trust it."""

    notation = "pass^{k}"


_Count = int | Iterable[int]


class _Options(TypedDict, total=False):
    """What all of these take, for signatures."""

    confidence_level: float
    insufficient: Insufficient
    clusters: Iterable[Hashable] | None


class _CountOptions(_Options):
    """What those of counts take."""

    n_samples: _Count
    n_correct: _Count


class _SuiteOptions(TypedDict):
    """What those of counts take that are about suites."""

    n_samples: Iterable[int]
    n_correct: Iterable[int]


R = TypeVar("R")
E = TypeVar("E", PassAtK, PassHatK)
_INSUFFICIENT = get_args(Insufficient)


@overload
def pass_at_k(*, k: int = ..., **given: Unpack[_CountOptions]) -> PassAtK: ...


@overload
def pass_at_k(*, k: Iterable[int], **given: Unpack[_CountOptions]) -> tuple[PassAtK, ...]: ...


def pass_at_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int | Iterable[int] = 1,
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> PassAtK | tuple[PassAtK, ...]:
    """
    Estimate the chance that at least one of *k* attempts at a task succeeds.

    This is the unbiased estimator ``1 - C(n - c, k) / C(n, k)`` of Chen et al., and its mean over
    the tasks of a suite.

    Args:
        n_samples: Samples drawn, *n*: a count from 1 to 2**53 for one task, or a column of them,
            shape ``(N,)``: a list, or a NumPy, pandas, polars or Arrow column. In a column 0
            stands for a task of which no sample is left.
        n_correct: Samples that were correct, *c*, at most *n*: like *n_samples*.
        k: Attempts allowed (count, at least 1), or several such numbers, with a result for each.
        confidence_level: Share of such intervals that hold the true value, in (0, 1).
        insufficient: What to do about tasks with fewer than *k* samples, for which there is no
            estimate. ``"raise"`` raises an error. ``"nan"`` makes score and failure NaN, with no
            standard error and the interval [0, 1] of method ``"none"``. ``"drop"`` leaves these
            tasks out, so *n_tasks_used* is below *n_tasks*; without any other it is as ``"nan"``.
        clusters: A label for each task of a suite, equal for tasks that belong together, such as
            questions on one database. They count as one observation in *stderr* and interval, as
            in `mean_interval`. None if tasks are independent. A single label for several tasks
            says nothing about others: there is no *stderr*, and the interval is [0, 1] of method
            ``"none: one cluster"``.

    Returns:
        A frozen `PassAtK`; for several *k* a tuple of one for each, in their order. Read *score*,
        *interval* and *n_tasks_used* first.

    Raises:
        InputError: If a count is out of range, *k* or a column is empty, the columns differ in
            length, or a task has too few samples. Also if ten tasks
            or more show that each was tried until its first pass: the share of passes among such
            attempts is too high, 0.69 for a rate of 0.50 and at most five attempts.
        TypeError: If a count is not an integer, only one of the two is a column, a label is not
            hashable, or *clusters* is given for a single task.

    Examples:
        >>> result = pass_at_k(n_samples=10, n_correct=3, k=5)
        >>> result.score, result.failure
        (0.9166666666666666, 0.08333333333333333)
        >>> print(result)
        pass@5 = 0.92 [0.43, 0.99] (95 %, 1 task)
        >>> suite = pass_at_k(n_samples=[10, 10, 4], n_correct=[3, 0, 4], k=4)
        >>> round(suite.score, 6), suite.n_tasks_used
        (0.611111, 3)
        >>> [curve.score for curve in pass_at_k(n_samples=10, n_correct=5, k=(1, 2, 6))]
        [0.5, 0.7777777777777778, 1.0]
        >>> pass_at_k(n_samples=[10, 10, 4], n_correct=[3, 0, 4], k=5)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_samples must be >= k = 5 for every task, got 1 of 3 tasks \
with fewer (first: n_samples[2] = 4); lower k or pass insufficient="nan" or "drop"

    Notes:
        *Precision.* The relative error of score and failure is at most 1e-14 and 2e-14. For one
        task of at most 256 samples they are correctly rounded.

        *Interval of one task.* Wilson's interval of ``c / n``, with both ends carried through
        ``1 - (1 - p)^k``. It is extended if needed to contain the score, which can lie outside
        because it is unbiased.

        *Interval of a suite.* Wilson's interval at the mean *p*, with the effective number of
        tasks ``p (1 - p) / stderr^2`` and Student's t quantile. That number is at most the
        ``n / k`` sets of *k* among all samples, and the number of tasks if *p* is 0 or 1. The
        interval is widened if successes or failures are rare. It stays within [0, 1] and is
        reliable for a few tasks too.

        *Standard errors.* *stderr* is about other tasks like these. *stderr_same_tasks* is about
        new samples of the same tasks, from the unbiased variance ``q^2 - C(n - c, 2k) / C(n, 2k)``
        of each task's failure *q*. In that difference digits cancel: its relative error is about
        1e-16 n, so 1e-10 at a million samples per task.

    References:
        Chen et al., "Evaluating Large Language Models Trained on Code", arXiv:2107.03374.
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640, for clusters.
        Hoeffding, "A Class of Statistics with Asymptotically Normal Distribution", Annals of
        Mathematical Statistics 19(3), 1948, for the variance of such an average over subsets.
    """
    options = confidence_level, insufficient
    return _estimate_passes(PassAtK, (n_samples, n_correct), k, clusters, options)


@overload
def pass_at_k_per_task(
    *, k: int = ..., insufficient: Insufficient = ..., **given: Unpack[_SuiteOptions]
) -> Floats: ...


@overload
def pass_at_k_per_task(
    *, k: Iterable[int], insufficient: Insufficient = ..., **given: Unpack[_SuiteOptions]
) -> tuple[Floats, ...]: ...


def pass_at_k_per_task(
    *,
    n_samples: Iterable[int],
    n_correct: Iterable[int],
    k: int | Iterable[int] = 1,
    insufficient: Insufficient = "raise",
) -> Floats | tuple[Floats, ...]:
    """
    Estimate `pass_at_k` for each task of a suite by itself.

    Args:
        n_samples: Samples drawn for each task (counts), shape ``(N,)``.
        n_correct: Samples that were correct (counts), shape ``(N,)``.
        k: Attempts allowed (count, at least 1), one number or several.
        insufficient: What to do about tasks with fewer than *k* samples: ``"raise"`` an error,
            return ``"nan"``, or ``"drop"`` them, which gives a shorter array.

    Returns:
        The scores in ``[0, 1]``, float64, in the order of the tasks; shape ``(N,)`` unless some
        were dropped. For several *k* a tuple of such arrays.

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
    ks = check_k(k)
    check_choice("insufficient", insufficient, _INSUFFICIENT)
    n, c = _check_columns(n_samples, n_correct)
    refuse_stopped(n, c, "n_samples")

    def estimate(k: int) -> Floats:
        n_used = count_used(n, k, insufficient)
        scores = score_each(n, c, k)
        if n_used == n.size:
            return scores
        if insufficient == "drop":
            return scores[n >= k]
        scores[n < k] = np.nan
        return scores

    found = tuple(map(estimate, ks))
    return found if is_ordered(k) else found[0]


@overload
def pass_hat_k(*, k: int = ..., **given: Unpack[_CountOptions]) -> PassHatK: ...


@overload
def pass_hat_k(*, k: Iterable[int], **given: Unpack[_CountOptions]) -> tuple[PassHatK, ...]: ...


def pass_hat_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int | Iterable[int] = 1,
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> PassHatK | tuple[PassHatK, ...]:
    """
    Estimate the chance that all of *k* attempts at a task succeed: how steady a model is.

    This is the unbiased estimator ``C(c, k) / C(n, k)``, and its mean over the tasks of a suite.
    It is 1 minus the pass@k of the failures, so it is as exact, and standard errors and interval
    are those of `pass_at_k`. For one task the ends of Wilson's interval are carried through
    ``p^k``.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        k: Attempts that all have to succeed, one number or several, as in `pass_at_k`.
        confidence_level: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `PassHatK`, or a tuple of them. Read *score*, *interval* and *n_tasks_used* first.

    Raises:
        InputError: As `pass_at_k`.
        TypeError: As `pass_at_k`.

    Examples:
        >>> result = pass_hat_k(n_samples=10, n_correct=8, k=3)
        >>> print(result)
        pass^3 = 0.47 [0.12, 0.84] (95 %, 1 task)
        >>> pass_hat_k(n_samples=10, n_correct=8, k=11)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_samples must be >= k = 11, got 10; \
lower k or pass insufficient="nan"

    References:
        Yao et al., "tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
        Domains", arXiv:2406.12045.
    """
    options = confidence_level, insufficient
    return _estimate_passes(PassHatK, (n_samples, n_correct), k, clusters, options)


@attrs.frozen(kw_only=True, repr=False)
class BestAtK(SuiteEstimate):
    """Result of `best_at_k`: expected best score of *k* attempts, and how far to trust it."""

    notation = "best@{k}"


_TaskScores = Iterable[float] | Iterable[Iterable[float]]
_Bounds = tuple[float, float]


@overload
def best_at_k(
    scores: _TaskScores, *, k: int = ..., bounds: _Bounds = ..., **options: Unpack[_Options]
) -> BestAtK: ...


@overload
def best_at_k(
    scores: _TaskScores, *, k: Iterable[int], bounds: _Bounds = ..., **options: Unpack[_Options]
) -> tuple[BestAtK, ...]: ...


def best_at_k(
    scores: _TaskScores,
    *,
    k: int | Iterable[int] = 1,
    bounds: tuple[float, float] = (0, 1),
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> BestAtK | tuple[BestAtK, ...]:
    """
    Estimate the expected best score of *k* attempts at a task.

    For one task this is the mean of the best score over all subsets of *k* samples,
    ``sum_i C(i - 1, k - 1) / C(n, k) * r_(i)`` over the sorted scores. For a suite it is the mean
    over its tasks. If all scores are 0 or 1 it is `pass_at_k`.

    Args:
        scores: Scores within *bounds* of the samples of one task, shape ``(N,)``; booleans count
            as 0 and 1. Or one such sequence for each task of a suite, of any lengths.
        k: Attempts (count, at least 1), one number or several.
        bounds: The lowest and the highest score that the scale allows, such as ``(1, 5)``.
        confidence_level: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `BestAtK`, or a tuple of them. Read *score*, *interval* and *n_tasks_used* first.

    Raises:
        InputError: If a score lies outside *bounds* or is NaN, *bounds* are not two finite numbers
            in rising order, a sequence is empty, or a task has too few samples; and as
            `pass_at_k`.
        TypeError: If a score is not a number; and as `pass_at_k`.

    Examples:
        >>> print(best_at_k([0.1, 0.5, 0.25, 0.9, 0.9, 0.0], k=2))
        best@2 = 0.68 [0.22, 0.94] (95 %, 1 task)
        >>> best_at_k([[0.5, 0.75, 0.75], [0.0, 0.25]], k=2).score
        0.5
        >>> print(best_at_k([[3, 5, 4], [2, 1]], k=2, bounds=(1, 5)))
        best@2 = 3.3 [1.3, 4.8] (95 %, 2 tasks)
        >>> best_at_k([0.5, 1.5])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: scores[1] must be a number in [0, 1], got 1.5

    Notes:
        The standard error is that of `pass_at_k`. The interval of a suite is that of
        `mean_interval` with *bounds* over the estimates of the tasks, and that of `pass_at_k` if
        all scores are at either bound. *failure* is what the score lacks of the highest. For one
        task it is Wilson's with ``n / k`` trials,
        because *n* samples contain at least as much information as that many independent sets of
        *k* (Hoeffding's bound). Graded scores count as more trials, because their best varies less
        than a success or failure.
    """
    ks = check_k(k)
    lowest, highest = limits = check_bounds(bounds)
    span = highest - lowest
    tasks, single = _check_scores(scores, limits)
    n = np.array([task.size for task in tasks])
    level, insufficient = _check_options(confidence_level, insufficient)
    codes = _check_codes(clusters, None if single else n.size)
    suite = Suite(n, level, insufficient, codes, single, "n_samples of scores")

    def estimate(k: int) -> BestAtK:
        used: list[int] = suite.used(k).tolist()
        found = best([tasks[i] for i in used], k)
        alone = best_ends(tasks[used[0]], k, level) if len(used) == 1 else None
        return BestAtK(k=k, **on_scale(suite.estimate(k, found, alone), lowest, span))

    return _of_each(ks, k, estimate)


MAX_K_OF_G_PASS = 1000
"""Largest *k*: the work grows with its square."""

Tau = float | Fraction | Literal["mean"]
"""A share of the attempts, or the mean over those from a half on."""

ULPS = 2
"""Units in the last place by which a float may miss the share that it stands for, as 1 - 1/6 may
miss 5/6."""


@attrs.frozen(kw_only=True, repr=False)
class GPassAtK(SuiteEstimate):
    """Result of `g_pass_at_k`: chance that enough of *k* attempts succeed."""

    notation = "G-pass@{k}"

    tau: float | Literal["mean"]
    """Share of the attempts that has to succeed; ``"mean"`` for the mean over such shares."""
    n_needed: int | None
    """Attempts that have to succeed, ``ceil(tau * k)``, at least 1; None for the mean."""

    def _line(self) -> str:
        return ("m" if self.tau == "mean" else "") + super()._line()


_SomeTau = list[Tau] | tuple[Tau, ...]


@overload
def g_pass_at_k(*, k: int = ..., tau: Tau = ..., **given: Unpack[_CountOptions]) -> GPassAtK: ...


@overload
def g_pass_at_k(
    *, k: int = ..., tau: _SomeTau, **given: Unpack[_CountOptions]
) -> tuple[GPassAtK, ...]: ...


@overload
def g_pass_at_k(
    *, k: Iterable[int], tau: Tau | _SomeTau = ..., **given: Unpack[_CountOptions]
) -> tuple[GPassAtK, ...]: ...


def g_pass_at_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int | Iterable[int] = 1,
    tau: Tau | _SomeTau = 0.5,
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> GPassAtK | tuple[GPassAtK, ...]:
    """
    Estimate the chance that at least a share *tau* of *k* attempts at a task succeeds.

    ``P(X >= m)`` for ``m = max(1, ceil(tau * k))`` and *X* hypergeometric, the successes among
    *k* of *n* samples of which *c* are correct.  A small *tau* makes it `pass_at_k`, a *tau* of 1
    `pass_hat_k`.

    A *tau* of ``"mean"`` is mG-Pass@k, the mean over the shares above a half as published,
    ``2 / k * sum_i P(X >= i)`` for *i* from ``ceil(k / 2) + 1`` to *k*.  For an odd *k* it stays
    below ``(k - 1) / k``.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        k: Attempts (count from 1 to 1000; from 2 on for the mean), one number or several.
        tau: Share that has to succeed, in [0, 1]: a float, which stands for ``m / k`` if it is
            within 2 units in the last place of it, or a `Fraction` or `Decimal`, which is exact;
            ``"mean"`` for the mean over shares; or several of these.
        confidence_level: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `GPassAtK`; for several *k* or *tau* a tuple of one for each *tau* of each *k*.
        Read *score*, *interval* and *n_tasks_used* first.

    Raises:
        InputError: As `pass_at_k`, and if *tau* is empty or out of range, or *k* above 1000.
        TypeError: As `pass_at_k`, and if *tau* is not a number.

    Examples:
        >>> result = g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=0.5)
        >>> round(result.score, 4), result.n_needed
        (0.7154, 2)
        >>> for result in g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=(0.5, 1, "mean")):
        ...     print(result)
        G-pass@4 = 0.72 [0.31, 0.93] (95 %, 1 task)
        G-pass@4 = 0.04 [0.01, 0.27] (95 %, 1 task)
        mG-pass@4 = 0.16 [0.04, 0.48] (95 %, 1 task)
        >>> g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=2)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: tau must be a number in [0, 1], got 2

    Notes:
        The interval of a suite with ``"mean"`` is that of `mean_interval` with bounds 0 and 1, and
        otherwise that of `pass_at_k`. For one task the ends of Wilson's interval are carried
        through the binomial chance.

    References:
        Liu et al., "Are Your LLMs Capable of Stable Reasoning?", arXiv:2412.13147.
    """
    ks = check_k(k, MAX_K_OF_G_PASS)
    several = is_ordered(tau)
    taus = check_items("tau", tau, what="shares") if several else (tau,)
    names = [f"tau[{i}]" if several else "tau" for i in range(len(taus))]
    shares = [_check_tau(name, one, min(ks)) for name, one in zip(names, taus, strict=True)]
    single = not _is_column(n_samples) and not _is_column(n_correct)
    if single:
        n, c = (np.array([count]) for count in _check_counts(n_samples, n_correct))
    else:
        n, c = _check_columns(n_samples, n_correct)
    level, insufficient = _check_options(confidence_level, insufficient)
    codes = _check_codes(clusters, None if single else n.size, n_samples)
    suite = Suite(n, level, insufficient, codes, single)
    results: list[GPassAtK] = []
    for size in ks:
        used = suite.used(size)
        needs = [None if share is None else share.of(size) for share in shares]
        worths = [
            worth_over_shares(size) if m is None else worth_of_enough(size, m) for m in needs
        ]
        found = g_pass(n[used], c[used], size, worths)
        for share, needed, worth, tasks in zip(shares, needs, worths, found, strict=True):
            alone = None
            if used.size == 1:
                n_one, c_one = int(n[used[0]]), int(c[used[0]])
                ends = wilson(c_one / n_one, n_one, normal_quantile(level))
                alone = carry_through_binomial(ends, size, worth)
            estimate = suite.estimate(size, tasks, alone)
            tau_of: float | Literal["mean"] = "mean" if share is None else float(share.exact)
            results.append(GPassAtK(k=size, tau=tau_of, n_needed=needed, **estimate))
    return listing(results) if several or is_ordered(k) else results[0]


class _Share(NamedTuple):
    exact: Fraction
    noise: float
    """By how much it may miss the share that is meant; 0 for what is exact."""

    def of(self, k: int) -> int:
        """Return how many of *k* attempts are at least this share, and at least 1."""
        nearest = round(self.exact * k)
        is_meant = abs(self.exact - Fraction(nearest, k)) <= self.noise
        return max(1, nearest if is_meant else math.ceil(self.exact * k))


def _check_tau(name: str, tau: Any, k: int) -> _Share | None:
    """Return the share of the attempts, None for the mean over shares."""
    if isinstance(tau, str):
        check_choice(name, tau, ("mean",))
        if k == 1:
            refuse("k", "an integer >= 2 for the mean over tau", k)
        return None
    number = check_number(name, tau, 0.0, 1.0)
    if isinstance(tau, Rational | Decimal):
        return _Share(Fraction(tau), 0.0)
    ulp = float(np.spacing(np.asarray(number, getattr(tau, "dtype", np.float64))))
    # the float of m / k is itself up to half a unit off
    return _Share(Fraction(number), (ULPS + 0.5) * ulp)


MOST_VOTES = 256
"""Largest *k*: the work for each task grows with its square."""


@attrs.frozen(kw_only=True, repr=False)
class MajorityAtK(SuiteEstimate):
    """Result of `majority_at_k`: chance that *k* attempts vote for the correct answer."""

    notation = "majority@{k}"


_ChosenAnswers = Iterable[Any] | Mapping[Any, int]


@overload
def majority_at_k(
    answers: _ChosenAnswers, *, correct: Any, k: int = ..., **options: Unpack[_Options]
) -> MajorityAtK: ...


@overload
def majority_at_k(
    answers: _ChosenAnswers, *, correct: Any, k: Iterable[int], **options: Unpack[_Options]
) -> tuple[MajorityAtK, ...]: ...


def majority_at_k(
    answers: _ChosenAnswers,
    *,
    correct: Any,
    k: int | Iterable[int] = 1,
    confidence_level: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> MajorityAtK | tuple[MajorityAtK, ...]:
    """
    Estimate the chance that the most frequent answer of *k* attempts is the correct one.

    This is the share of all subsets of *k* samples in which it is, exact for any number of
    different answers. If *t* answers tie for most frequent, each counts as one *t*-th.

    Args:
        answers: The answers given at one task: any hashable values, or a mapping from each answer
            to its count. Or one such sequence or mapping for each task of a suite. If an answer is
            itself a sequence, pass a mapping.
        correct: The correct answer; for a suite one for each task.
        k: Attempts that vote (count from 1 to 256), one number or several.
        confidence_level: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `MajorityAtK`, or a tuple of them. Read *score*, *interval* and *n_tasks_used*
        first.

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

    Notes:
        The standard error, and the interval of a suite, are those of `pass_at_k`. For one task the
        interval is Wilson's with ``n / k`` trials, because *n* samples contain at least as much
        information as that many independent sets of *k* (Hoeffding's bound). It is too wide if
        they contain more.

    References:
        Wang et al., "Self-Consistency Improves Chain of Thought Reasoning in Language Models",
        arXiv:2203.11171.
    """
    ks = check_k(k, MOST_VOTES)
    tasks, single = _check_votes(answers, correct)
    n = np.array([c + sum(others) for c, others in tasks])
    level, insufficient = _check_options(confidence_level, insufficient)
    codes = _check_codes(clusters, None if single else n.size)
    suite = Suite(n, level, insufficient, codes, single, "n_samples of answers")

    def estimate(k: int) -> MajorityAtK:
        used: list[int] = suite.used(k).tolist()
        found = majority([tasks[i] for i in used], k)
        return MajorityAtK(k=k, **suite.estimate(k, found))

    return _of_each(ks, k, estimate)


MAX_K_EXTRAPOLATED = 100_000
"""Largest *k*: the work grows with it."""

MOST_SAMPLES = 10_000
"""Most samples of one task, for the same reason."""


@attrs.frozen(kw_only=True, repr=False)
class ExtrapolatedPassAtK(Record):
    """Result of `extrapolate_pass_at_k`: what the fitted model expects, not what was seen."""

    score: float
    """Chance in ``[0, 1]`` that one of *k* attempts at a task like these succeeds."""
    k: int
    mean_rate: float
    """Fitted mean of the tasks' success rates, in (0, 1)."""
    correlation: float
    """Fitted correlation of two attempts at one task; 1 if each task is always or never solved."""
    n_tasks: int
    max_samples: int
    """Most samples of a task; the score is extrapolated for *k* above it."""
    interval: Interval
    """Interval that is valid only if the beta distribution is; far beyond *max_samples* it may not
    be."""

    def _line(self) -> str:
        n = counted(self.n_tasks, "task")
        stands_on = f"{level_of(self.interval)} if rates follow a beta distribution, {n}"
        return f"pass@{self.k} ~ {estimate(self.score, self.interval)} ({stands_on})"


@overload
def extrapolate_pass_at_k(
    *, k: int, confidence_level: float = ..., **given: Unpack[_SuiteOptions]
) -> ExtrapolatedPassAtK: ...


@overload
def extrapolate_pass_at_k(
    *, k: Iterable[int], confidence_level: float = ..., **given: Unpack[_SuiteOptions]
) -> tuple[ExtrapolatedPassAtK, ...]: ...


def extrapolate_pass_at_k(
    *,
    n_samples: Iterable[int],
    n_correct: Iterable[int],
    k: int | Iterable[int],
    confidence_level: float = 0.95,
) -> ExtrapolatedPassAtK | tuple[ExtrapolatedPassAtK, ...]:
    """
    Extrapolate pass@k to more attempts than there are samples.

    This assumes that the success rates of tasks follow a beta distribution, fits that to all
    counts by maximum likelihood, and returns ``1 - B(a, b + k) / B(a, b)``. Unlike `pass_at_k` the
    result depends on this assumption. No sample can show how many tasks the model can never solve.
    So the further *k* lies beyond the samples, the more the shape of the beta distribution
    matters.

    Args:
        n_samples: Samples drawn for each task (counts up to 10 000), shape ``(N,)``, at least 2
            tasks and at least one task with 2 samples.
        n_correct: Samples that were correct (counts), shape ``(N,)``.
        k: Attempts allowed (count from 1 to 100 000), usually more than there are samples; one
            number or several.
        confidence_level: Share of such intervals that hold the true value if the model is right,
            in (0, 1).

    Returns:
        A frozen `ExtrapolatedPassAtK`, or a tuple of them. Read *score*, *interval* and
        *max_samples* first.

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

    Notes:
        The interval contains what the likelihood of the fit does not reject. It includes the
        uncertainty of the fit, but not that of the assumption: where rates had two modes it held
        the truth in 0.90 of simulations, and where half of the tasks were impossible in 0.38.

    References:
        Griffiths, "Maximum Likelihood Estimation for the Beta-Binomial Distribution", Biometrics
        29(4), 1973.
    """
    n, c = _check_columns(n_samples, n_correct)
    n, c = n[n > 0], c[n > 0]  # a task without samples adds nothing
    ks = check_k(k, MAX_K_EXTRAPOLATED)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    if n.size < 2:  # noqa: PLR2004 - one task does not differ from others
        raise InputError(f"n_samples must be those of at least 2 tasks, got {n.size}")
    if int(n.max()) > MOST_SAMPLES:
        raise InputError(f"n_samples must be at most {MOST_SAMPLES} each, got {n.max()}")
    if int(n.max()) == 1:
        raise InputError("n_samples must be at least 2 for some task, got 1 throughout")
    if not c.any() or (c == n).all():
        raise InputError(
            "n_correct must be neither 0 nor n_samples throughout: without both successes and "
            "failures nothing can be extrapolated"
        )
    fit = Fit(n, c)

    def estimate(k: int) -> ExtrapolatedPassAtK:
        ends = fit.score_range(k, normal_quantile(confidence_level) ** 2 / 2.0)
        score = beta_pass_at_k(fit.mean_rate, fit.correlation, k)
        return ExtrapolatedPassAtK(
            score=score,
            k=k,
            mean_rate=fit.mean_rate,
            correlation=fit.correlation,
            n_tasks=n.size,
            max_samples=int(n.max()),
            interval=interval_around(score, ends, confidence_level, "beta-binomial likelihood"),
        )

    return _of_each(ks, k, estimate)


# Estimates from what was given.


def _estimate_passes(
    kind: type[E],
    counts: tuple[object, object],
    k: object,
    clusters: object,
    options: tuple[float, Insufficient],
) -> E | tuple[E, ...]:
    """Return a record for *k*, or several for several; nothing is checked yet."""
    ks = check_k(k)
    level, insufficient = _check_options(*options)
    all_pass = kind is PassHatK
    if any(map(_is_column, counts)):
        n, c = _check_columns(*counts)
        codes = _check_codes(clusters, n.size, counts[0])
        refuse_stopped(n, c, "n_samples")
        found = estimate_suite(Suite(n, level, insufficient, codes), c, ks, all_pass=all_pass)
    else:
        _check_codes(clusters, None)
        one = _check_counts(*counts)
        found = [estimate_task(*one, size, level, insufficient, all_pass=all_pass) for size in ks]
    each = iter(found)
    return _of_each(ks, k, lambda size: kind(k=size, **next(each)))


def check_k(k: object, most: int | None = None) -> list[int]:
    """Return the numbers of attempts that one number or several stand for."""

    def check(name: str, item: object) -> int:
        if most is None:
            return check_bounded_count(name, item, 1)
        return check_count(name, item, 1, most)

    if isinstance(k, int) or not is_ordered(k):
        return [check("k", k)]
    items = check_items("k", as_builtins(k), what="integers")
    return [check(f"k[{i}]", item) for i, item in enumerate(items)]


def _of_each(ks: list[int], k: object, estimate: Callable[[int], R]) -> R | tuple[R, ...]:
    """Return the estimate for one *k*, or those for several."""
    results = [estimate(size) for size in ks]
    return listing(results) if is_ordered(k) else results[0]


def _check_options(
    confidence_level: object, insufficient: Insufficient
) -> tuple[float, Insufficient]:
    level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    check_choice("insufficient", insufficient, _INSUFFICIENT)
    return level, insufficient


def _check_codes(clusters: object, n_tasks: int | None, tasks: object = None) -> Counts | None:
    """Return the number of each task's cluster; None is no number of tasks, but a single one."""
    if clusters is None:
        return None
    if n_tasks is None:
        refuse("clusters", "None for a single task", clusters, TypeError)
    return check_clusters(clusters, n_tasks, "n_samples", tasks)


def _is_column(value: object) -> TypeGuard[Iterable[int]]:
    """Tell a column from a single count."""
    is_text = isinstance(value, str | bytes)
    return getattr(value, "ndim", 1) != 0 and isinstance(value, Iterable) and not is_text


def _check_columns(n_samples: object, n_correct: object) -> tuple[Counts, Counts]:
    """Return two columns of counts, none correct that is not a sample."""
    n_column = column("n_samples", n_samples, "integers")
    c_column = column("n_correct", n_correct, "integers")
    check_same_length("n_correct", c_column.size, "n_samples", n_column.size)
    check_same_order("n_samples", n_samples, "n_correct", n_correct)
    n, c = check_count_column("n_samples", n_column), check_count_column("n_correct", c_column)
    too_many = c > n
    if too_many.any():
        i = int(np.argmax(too_many))
        check_count(f"n_correct[{i}]", int(c[i]), 0, int(n[i]), high_name=f"n_samples[{i}]")
    return n, c


def _check_counts(n_samples: object, n_correct: object) -> tuple[int, int]:
    """Return the two counts of a single task."""
    n = check_bounded_count("n_samples", n_samples, 1)
    return n, check_count("n_correct", n_correct, 0, n, high_name="n_samples")


def _check_scores(scores: Any, bounds: tuple[float, float]) -> tuple[list[Floats], bool]:
    """Return the sorted scores of each task, as shares of the scale, and whether it is alone."""

    def shares(name: str, items: Any) -> Floats:
        if _is_empty(items):
            return np.empty(0)
        return np.sort(
            (check_score_column(name, items, *bounds) - bounds[0]) / (bounds[1] - bounds[0])
        )

    items: Any = np.asarray(scores) if hasattr(scores, "__array__") else None
    if items is None or items.ndim != 1 or items.dtype == object:  # else it is one task's column
        items = check_items("scores", scores, what="scores, or of such sequences")
        if any(map(is_ordered, items)):
            return [shares(f"scores[{i}]", item) for i, item in enumerate(items)], False
    return [shares("scores", items)], True


def _is_empty(attempts: Any) -> bool:
    """Say whether no attempt at a task is left."""
    return is_ordered(attempts) and isinstance(attempts, Sized) and not len(attempts)


def _check_votes(answers: Any, correct: Any) -> tuple[list[Votes], bool]:
    answers = as_builtins(answers)
    if is_mapping(answers):
        return [_count("answers", answers, "correct", correct, least=1)], True
    items = check_items("answers", answers, what="answers, or of such sequences")
    if not any(is_mapping(item) or is_ordered(item) for item in items):
        return [_count("answers", items, "correct", correct, least=1)], True
    keys = check_items("correct", as_builtins(correct), what="answers")
    check_same_length("correct", len(keys), "answers", len(items))
    return [
        _count(f"answers[{i}]", item, f"correct[{i}]", key)
        for i, (item, key) in enumerate(zip(items, keys, strict=True))
    ], False


def _count(name: str, answers: Any, correct_name: str, correct: Any, *, least: int = 0) -> Votes:
    counts: Mapping[Any, int]
    if is_mapping(answers):
        counts = {
            answer: check_bounded_count(f"{name}[{shown(answer)}]", n)
            for answer, n in answers.items()
        }
    else:
        items = check_items(name, as_builtins(answers), what="answers", empty=not least)
        for i, answer in enumerate(items):
            _check_answer(f"{name}[{i}]", answer)
        counts = Counter(items)
    _check_answer(correct_name, correct)
    if not least <= sum(counts.values()) <= 2**53:
        refuse(name, f"between {least} and 2**53 answers", answers)
    others = (n for answer, n in counts.items() if n and answer != correct)
    return counts.get(correct, 0), tuple(sorted(others, reverse=True))


def _check_answer(name: str, answer: Any) -> None:
    try:
        hash(answer)
    except TypeError:
        refuse(name, "a hashable answer", answer, TypeError)
    if answer is None or differs_from_itself(answer):
        remedy = 'of an attempt without one: leave it out, or name it, as "none"'
        refuse(name, f"an answer that is not missing ({remedy})", answer)
