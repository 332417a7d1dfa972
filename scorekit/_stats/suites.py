"""What an estimate over the tasks of a suite says: its record, standard errors and interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import check_choice, check_number
from scorekit._core.columns import check_clusters
from scorekit.errors import InputError, refuse
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    normal_quantile,
    t_quantile,
    wilson,
)
from scorekit.records import Record

Insufficient = Literal["raise", "nan", "drop"]
"""What a task with fewer than *k* samples does: stop, make the result unknown, or stay out."""

INSUFFICIENT = ("raise", "nan", "drop")


def _or_unknown(number: float) -> float | None:
    """Make NaN equal to itself, or no result that holds one would equal its copy."""
    return None if math.isnan(number) else number


@attrs.frozen(kw_only=True)
class SuiteEstimate(Record):
    """What is expected of *k* attempts, what that rests on, and how far to trust it."""

    notation: ClassVar[str] = ""

    score: float = attrs.field(eq=_or_unknown)
    """The estimate in ``[0, 1]``; higher is better."""
    failure: float = attrs.field(eq=_or_unknown)
    """``1 - score``; from counts to all its digits, also where the score rounds to 1."""
    k: int
    n_tasks: int
    """Tasks given."""
    n_tasks_used: int
    """Tasks with at least *k* samples."""
    stderr: float | None
    """Standard error for tasks like these; None below two tasks, or two clusters."""
    stderr_same_tasks: float | None
    """Standard error for exactly these tasks, sampled anew; None unless each has 2k samples."""
    interval: Interval

    def __str__(self) -> str:
        """Return score and interval on one line, rounded for display."""
        return f"{self.notation.format(k=self.k)} = {self.score:.4g} {self.interval}"


E = TypeVar("E", bound=SuiteEstimate)


def count_short(n: NDArray[np.int64], k: int, insufficient: Insufficient, name: str) -> int:
    """Return how many tasks have fewer than *k* samples, where that may be."""
    if int(n.min()) >= k:
        return 0
    short = n < k
    n_short = int(np.count_nonzero(short))
    if insufficient == "raise":
        i = int(np.argmax(short))
        raise InputError(
            f"{name} must be >= k = {k} for every task, got {n_short} of {n.size} tasks with "
            f'fewer (first: {name}[{i}] = {n[i]}); lower k or pass insufficient="nan" or "drop"'
        )
    if insufficient == "drop" and n_short == n.size:
        raise InputError(f"{name} must be >= k = {k} for at least one task, got at most {n.max()}")
    return n_short


def refuse_short_task(name: str, n: int, k: int) -> None:
    """Refuse a single task with too few samples."""
    raise InputError(f'{name} must be >= k = {k}, got {n}; lower k or pass insufficient="nan"')


def unknown(
    kind: type[E], *, k: int, n_tasks: int, n_tasks_used: int, confidence_level: float, **more: Any
) -> E:
    """Return an estimate that says it is none."""
    return kind(
        score=math.nan,
        failure=math.nan,
        k=k,
        n_tasks=n_tasks,
        n_tasks_used=n_tasks_used,
        stderr=None,
        stderr_same_tasks=None,
        interval=Interval(low=0.0, high=1.0, confidence_level=confidence_level, method="none"),
        **more,
    )


def estimate_tasks(
    kind: type[E],
    *,
    name: str,
    n: NDArray[np.int64],
    k: int,
    single: bool,
    score_of: Callable[[int], tuple[float, float]],
    variance_of: Callable[[int], float],
    ends_of: Callable[[int, float], tuple[float, float]],
    method: str,
    confidence_level: float,
    insufficient: Insufficient,
    clusters: object,
    **more: Any,
) -> E:
    """
    Return the estimate for one task (*single*) or the mean over the tasks of a suite.

    For the task at an index *score_of* returns score and failure, *variance_of* the sampling
    variance, and *ends_of*, given a normal quantile too, an interval of this one task, made by
    *method*.  *name* says of what there were too few samples.
    """
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    check_choice("insufficient", insufficient, INSUFFICIENT)
    if clusters is not None and single:
        refuse("clusters", "None for a single task", clusters, TypeError)
    codes = check_clusters(clusters, n.size)
    if single and n[0] < k and insufficient != "nan":
        refuse_short_task(name, int(n[0]), k)
    n_short = count_short(n, k, insufficient, name)
    if n_short and insufficient == "nan":
        return unknown(
            kind,
            k=k,
            n_tasks=n.size,
            n_tasks_used=n.size - n_short,
            confidence_level=confidence_level,
            **more,
        )
    used = np.flatnonzero(n >= k)
    chances = np.array([score_of(i) for i in used.tolist()])
    score, failure = (math.fsum(column) / used.size for column in chances.T)
    variance = None
    if int(n[used].min()) >= 2 * k:
        variance = math.fsum(map(variance_of, used.tolist())) / used.size**2
    if used.size == 1:
        stderr = None
        low, high = ends_of(int(used[0]), normal_quantile(confidence_level))
        low, high = min(low, score), max(high, score)
        interval = Interval(low=low, high=high, confidence_level=confidence_level, method=method)
    else:
        stderr = clustered_stderr(chances[:, 0], codes[used])
        interval = suite_interval(
            score,
            failure,
            stderr,
            n_groups=effective_groups(codes[used]),
            most=float(n[used].sum()) / k,
            confidence_level=confidence_level,
        )
    return kind(
        score=score,
        failure=failure,
        k=k,
        n_tasks=n.size,
        n_tasks_used=used.size,
        stderr=stderr,
        stderr_same_tasks=None if variance is None else math.sqrt(variance),
        interval=interval,
        **more,
    )


def suite_interval(
    score: float,
    failure: float,
    stderr: float | None,
    *,
    n_groups: float,
    most: float,
    confidence_level: float,
) -> Interval:
    """
    Return Wilson's interval on the effective number of tasks.

    That number never exceeds *most*, the sets of *k* among all samples: the variance of what *n*
    samples say about *k* of them is at most ``k / n`` that of one set (Hoeffding 1948), and a
    spread between few tasks that comes out smaller by chance must not claim more than that bound
    grants.  Where all tasks agree on 0 or 1 each of the effective *n_groups* counts once, and no
    other suite is bound closer to that side than such a one: what no task showed, a share of
    tasks may still do.  Where successes are rare Wilson's lower end lies too high, where failures
    are its upper end too low, and the bound of a Poisson rate takes over (Brown, Cai and DasGupta
    2001).
    """
    if stderr is None:
        return Interval(
            low=0.0, high=1.0, confidence_level=confidence_level, method="none: one cluster"
        )
    n_effective = most
    if not score or not failure:
        n_effective = n_groups
    elif stderr:
        n_effective = min(score * failure / stderr / stderr, most)
    quantile = t_quantile(confidence_level, n_groups - 1.0)
    low, high = wilson(score, n_effective, quantile)
    perfect, _ = wilson(1.0, n_groups, quantile)
    _, hopeless = wilson(0.0, n_groups, quantile)
    low = min(low, _rare_low(score, n_effective, confidence_level), perfect)
    high = max(high, 1.0 - _rare_low(failure, n_effective, confidence_level), hopeless)
    return Interval(low=low, high=high, confidence_level=confidence_level, method="wilson-n_eff")


def _rare_low(share: float, n: float, confidence_level: float) -> float:
    """Return the lower bound of a Poisson rate from a rare *share* of *n*, of any other itself."""
    events, rare = share * n, 2.0 if n <= 50.0 else 3.0  # noqa: PLR2004 - as published
    if not 0.0 < events <= rare:
        return share
    from scipy.special import gammaincinv

    return float(gammaincinv(events, 1.0 - confidence_level)) / n
