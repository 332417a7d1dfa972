"""From estimates for each task to one for the suite: mean, standard errors and interval."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, NoReturn, TypedDict

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Counts, Floats
from scorekit._core.gaffke import mean_ends
from scorekit._core.targets import Target
from scorekit.errors import InputError
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    design_effect,
    effective_groups,
    interval_around,
    normal_quantile,
    t_quantile,
    wilson,
)

Insufficient = Literal["raise", "nan", "drop"]
"""What a task with fewer than *k* samples does: stop, make the result unknown, or stay out."""


ONE_TASK = 0.0, 1.0, "none: one task"
"""Ends and method of an interval over tasks of which one is known: it does not describe others."""


class PerTask(NamedTuple):
    """Estimates for each of some tasks that have at least *k* samples."""

    n: Counts
    """Samples of each task."""
    scores: Floats
    failures: Floats
    variances: Floats | None = None
    """Sampling variance of each, where it is estimated."""
    n_alike: Floats | None = None
    """Tasks that each entry stands for; None where each is one."""
    graded: bool = False
    """Whether an attempt may score between 0 and 1."""


class EstimateFields(TypedDict):
    """What all records of estimates have in common, but *k*."""

    score: float
    failure: float
    n_tasks: int
    n_tasks_used: int
    stderr: float | None
    stderr_same_tasks: float | None
    interval: Interval


@attrs.frozen(eq=False)
class Suite:
    """The tasks of a suite and how to estimate from them, checked."""

    n: Counts
    """Samples of each task."""
    confidence_level: float
    insufficient: Insufficient
    codes: Counts | None = None
    """The cluster of each task, by number."""
    single: bool = False
    """Whether there is one task, which came by itself."""
    name: str = "n_samples"
    """What there can be too few of."""
    target: Target | None = None
    """How the tasks weigh, where they do not all weigh the same."""

    def used(self, k: int) -> NDArray[np.intp]:
        """Return the places of the tasks to estimate from, none where the result is unknown."""
        n_used = count_used(self.n, k, self.insufficient, name=self.name, single=self.single)
        if n_used < self.n.size and self.insufficient == "nan":
            return np.arange(0)
        return np.flatnonzero(self.n >= k)

    def estimate(
        self, k: int, tasks: PerTask, alone: tuple[float, float, str] | None = None
    ) -> EstimateFields:
        """
        Return the mean over the *tasks* that are `used`.

        A single one does not describe similar tasks where there are others without *k* samples.
        Where it is the whole suite, *alone* has the ends of its interval and the method, by
        default Wilson's on ``n / k`` trials.
        """
        level = self.confidence_level
        if not tasks.n.size:
            return unknown(self.n.size, int(np.count_nonzero(self.n >= k)), level)
        if tasks.n.size == 1:
            score, failure = float(tasks.scores[0]), float(tasks.failures[0])
            if self.n.size > 1:
                alone = ONE_TASK
            elif alone is None:
                ends = wilson(score, float(tasks.n[0]) / k, normal_quantile(level))
                alone = (*ends, "wilson on n / k")
            variance = None if tasks.variances is None else float(tasks.variances[0])
            return single_task((score, failure), variance, alone, level, n_tasks=self.n.size)
        return self.mean(k, tasks)

    def mean(self, k: int, tasks: PerTask) -> EstimateFields:
        """Return the mean over several *tasks*."""
        if self.target is not None:
            return self._weighted(k, tasks, self.target)
        alike = tasks.n_alike

        def total(values: Counts | Floats) -> float:
            return float(np.sum(values if alike is None else alike * values, dtype=np.float64))

        n_used = tasks.n.size if alike is None else int(alike.sum())
        most = total(tasks.n) / k
        score, failure = total(tasks.scores) / n_used, total(tasks.failures) / n_used
        if self.codes is None:
            origin = 0 if alike is None else alike.argmax()
            offsets = tasks.scores - tasks.scores[origin]  # no spread where all scores are equal
            offsets -= total(offsets) / n_used
            n_groups = float(n_used)
            stderr: float | None = math.sqrt(total(offsets * offsets) / (n_used - 1) / n_used)
        else:
            codes = self.codes[self.n >= k]
            n_groups, stderr = effective_groups(codes), clustered_stderr(tasks.scores, codes)
            most /= design_effect(stderr, clustered_stderr(tasks.scores, np.arange(n_used)))
        same_tasks = None
        if tasks.variances is not None:
            same_tasks = math.sqrt(max(total(tasks.variances), 0.0)) / n_used
        interval = suite_interval(
            score,
            failure,
            stderr,
            n_groups=n_groups,
            most=most,
            confidence_level=self.confidence_level,
        )
        if tasks.graded and stderr is not None:
            codes = np.arange(n_used) if self.codes is None else self.codes[self.n >= k]
            low, high = mean_ends(tasks.scores, codes, self.confidence_level, (0.0, 1.0))
            interval = attrs.evolve(interval, low=low, high=high, method="gaffke")
        return EstimateFields(
            score=score,
            failure=failure,
            n_tasks=self.n.size,
            n_tasks_used=n_used,
            stderr=stderr,
            stderr_same_tasks=same_tasks,
            interval=interval,
        )

    def _weighted(self, k: int, tasks: PerTask, target: Target) -> EstimateFields:
        n_used = tasks.n.size
        own = target.of(self.n >= k)
        if own is None:
            return unknown(self.n.size, n_used, self.confidence_level)
        score, failure = own.mean(tasks.scores), own.mean(tasks.failures)
        stderr, n_effective, same_tasks = own.stderr(tasks.scores), own.n_effective, None
        if tasks.variances is not None:
            same_tasks = math.sqrt(max(float(own.shares**2 @ tasks.variances), 0.0))
        interval = suite_interval(
            score,
            failure,
            stderr,
            n_groups=n_effective,
            most=float(tasks.n.sum()) / k * n_effective / n_used,
            confidence_level=self.confidence_level,
            df=own.df(tasks.scores),
        )
        return EstimateFields(
            score=score,
            failure=failure,
            n_tasks=self.n.size,
            n_tasks_used=n_used,
            stderr=stderr,
            stderr_same_tasks=same_tasks,
            interval=attrs.evolve(interval, method=f"{interval.method} of {own.name}"),
        )


def count_used(
    n: Counts, k: int, insufficient: Insufficient, *, name: str = "n_samples", single: bool = False
) -> int:
    """Return how many tasks have *k* samples, where fewer than all may."""
    if int(n.min()) >= k:
        return n.size
    if single and insufficient != "nan":
        refuse_short_task(name, int(n[0]), k)
    short = n < k
    n_short = int(np.count_nonzero(short))
    if insufficient == "raise":
        i = int(np.argmax(short))
        raise InputError(
            f"{name} must be >= k = {k} for every task, got {n_short} of {n.size} tasks with "
            f'fewer (first: {name}[{i}] = {n[i]}); lower k or pass insufficient="nan" or "drop"'
        )
    return n.size - n_short


def refuse_short_task(name: str, n: int, k: int) -> NoReturn:
    """Refuse a task that came by itself with too few samples."""
    raise InputError(f'{name} must be >= k = {k}, got {n}; lower k or pass insufficient="nan"')


def nothing_of_others(confidence_level: float) -> Interval:
    """Return the interval over tasks of which one is known."""
    low, high, method = ONE_TASK
    return Interval(low=low, high=high, confidence_level=confidence_level, method=method)


def unknown(n_tasks: int, n_tasks_used: int, confidence_level: float) -> EstimateFields:
    """Return an estimate that says it is none."""
    return EstimateFields(
        score=math.nan,
        failure=math.nan,
        n_tasks=n_tasks,
        n_tasks_used=n_tasks_used,
        stderr=None,
        stderr_same_tasks=None,
        interval=Interval(low=0.0, high=1.0, confidence_level=confidence_level, method="none"),
    )


def single_task(
    chances: tuple[float, float],
    variance: float | None,
    alone: tuple[float, float, str],
    confidence_level: float,
    *,
    n_tasks: int = 1,
) -> EstimateFields:
    """Return the estimate for a single task, its interval widened to hold the score."""
    score, failure = chances
    low, high, method = alone
    return EstimateFields(
        score=score,
        failure=failure,
        n_tasks=n_tasks,
        n_tasks_used=1,
        stderr=None,
        stderr_same_tasks=None if variance is None else math.sqrt(max(variance, 0.0)),
        interval=interval_around(score, (low, high), confidence_level, method),
    )


def suite_interval(
    score: float,
    failure: float,
    stderr: float | None,
    *,
    n_groups: float,
    most: float,
    confidence_level: float,
    df: float | None = None,
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
    quantile = t_quantile(confidence_level, n_groups - 1.0 if df is None else df)
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


def on_scale(estimate: EstimateFields, lowest: float, span: float) -> EstimateFields:
    """Return an estimate in [0, 1] as one on a scale of length *span* from *lowest* on."""
    if (lowest, span) == (0.0, 1.0):
        return estimate
    interval, score = estimate["interval"], lowest + span * estimate["score"]
    stderr, same = estimate["stderr"], estimate["stderr_same_tasks"]
    low, high = (lowest + span * end for end in (interval.low, interval.high))
    return {
        **estimate,
        "score": score,
        "failure": span * estimate["failure"],
        "stderr": None if stderr is None else span * stderr,
        "stderr_same_tasks": None if same is None else span * same,
        "interval": attrs.evolve(interval, low=min(low, score), high=max(high, score)),
    }
