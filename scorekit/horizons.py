"""How long the tasks are, in human time, that a model completes: `time_horizon`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import check_count, check_number, check_same_length
from scorekit._core.columns import (
    check_clusters,
    check_flag_column,
    check_number_column,
    check_same_order,
)
from scorekit._sheet.model import Sheet, by_fields
from scorekit.errors import refuse
from scorekit.intervals import Interval
from scorekit.records import Record

FLAT = 1e-9
"""Slope below which a fall of success is rounding alone: it would put a horizon beyond all."""

PENALTY = 1e-5
"""Half of the squared slope counts so much beside the mean log loss, as in METR's analysis."""

FEW_FAMILIES = 10
"""Families up to which an interval from resampling them is too narrow."""

STEPS = 200
"""Of Newton's method; a fit takes about ten."""

ENOUGH = 1e-10
"""A step so short ends the fit."""

LONGEST = 8.0
"""By how much a step may move a log odds: where outcomes are separated, curvature vanishes."""

TINY = 1e-300
"""Keeps a division defined."""

CHUNK = 500_000
"""Numbers of resamples that are fitted together."""

Floats = NDArray[np.float64]


@attrs.frozen(kw_only=True)
class TimeHorizon(Record):
    """Result of `time_horizon`; ``str()`` shows the horizon in human time with its interval."""

    score: float | None
    """Minutes that a human takes for a task that the model completes with probability *share*.
    None if the runs do not determine it, see *notes*. Higher is better."""
    interval: Interval
    """Interval of *score* in minutes; ``[0, inf]`` if there is none."""
    slope: float | None
    """Change of the log odds of success when a task takes twice as long; negative. None as
    *score* is."""
    intercept: float | None
    """Log odds of success at a task of one minute; None as *score* is."""
    share: float
    """Probability of success that *score* is about."""
    notes: tuple[str, ...]
    """What stands against the number, such as a horizon outside the tasks."""
    n_runs: int
    n_tasks: int
    n_families: int
    minutes: tuple[float, ...]
    """Length of each task, in the order in which tasks appear."""
    pass_rates: tuple[float, ...]
    """Share of the runs of each task that passed."""

    def success_at(self, minutes: float) -> float | None:
        """
        Return the fitted probability of success at a task of so many *minutes*.

        Raises:
            InputError: If *minutes* is not positive and finite.
            TypeError: If it is not a number.
        """
        minutes = check_number("minutes", minutes, 0.0, open_ends=True)
        if self.slope is None or self.intercept is None:
            return None
        return _logistic(self.intercept + self.slope * math.log2(minutes))

    def _line(self) -> str:
        if self.score is None:
            return f"no horizon at {100 * self.share:.4g} % success"
        horizon = _duration(self.score)
        ends = ", ".join(map(_duration, (self.interval.low, self.interval.high)))
        level = f"{100 * self.interval.confidence_level:.4g} %"
        return f"{horizon} [{ends}] ({level}) at {100 * self.share:.4g} % success"

    def _sheet(self) -> Sheet:
        return Sheet("TimeHorizon", self._line(), (*self.notes, *by_fields(self).parts))


class _Tasks(NamedTuple):
    """Runs counted for each task, in the order in which tasks appear."""

    first: NDArray[np.intp]
    """The place of a run of each."""
    lengths: Floats
    """log2 of the minutes."""
    n_runs: NDArray[np.int64]
    n_passed: NDArray[np.int64]
    families: NDArray[np.intp]
    weights: Floats
    """Of one run; over all runs they sum to 1."""


def time_horizon(
    minutes: Iterable[float],
    passed: Iterable[int],
    *,
    tasks: Iterable[Hashable] | None = None,
    families: Iterable[Hashable] | None = None,
    share: float = 0.5,
    n_resamples: int = 1000,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> TimeHorizon:
    """
    Return the length of task, in human minutes, that a model completes with probability *share*.

    A logistic curve of success over the log2 of the minutes is fitted to all runs.  The horizon is
    where it crosses *share*.

    Args:
        minutes: How long a human takes for the task of each run, positive, shape ``(N,)``.
        passed: Whether each run passed, True or False, 1 or 0.
        tasks: A label of the task of each run; None where each run is of a task of its own. Runs
            of one task have the same *minutes*.
        families: A label of the family of each run, tasks that are alike; None where each task is
            a family of its own.
        share: Probability of success, in (0, 1): 0.5 for the usual horizon, 0.8 for a stricter
            one.
        n_resamples: Times that the runs are resampled (count, 100 to 100,000).
        confidence_level: Level of the interval, in (0, 1).
        seed: What the resamples depend on (``>= 0``).

    Returns:
        A frozen `TimeHorizon`. Its *notes* say where the runs cannot tell: all passed or none, no
        fall of success with length, a horizon outside the tasks, or few families.

    Raises:
        InputError: If columns are empty or differ in length, a length is not positive and finite,
            one task has two lengths or families, or another argument is out of range.
        TypeError: If an entry has the wrong type.

    Notes:
        A run weighs ``1 / (runs of its task * sqrt(tasks of its family))``, and the weights sum to
        1, so that neither a task with many runs nor a family with many tasks decides alone. Half
        of the squared slope is added to the loss, times 1e-5.

        The interval is the bootstrap's, by percentiles: families are drawn with replacement, then
        tasks of each, then runs of each, and every run keeps its weight.

    Examples:
        >>> minutes = [1, 2, 4, 8, 15, 30, 60, 120, 240, 480]
        >>> result = time_horizon(minutes, [1, 1, 1, 1, 0, 1, 1, 0, 0, 0])
        >>> round(result.score, 1), round(result.slope, 2)
        (43.7, -0.87)
        >>> print(time_horizon(minutes, [True] * 10))
        no horizon at 50 % success
        all runs passed: longer tasks are needed
        >>> time_horizon([0, 5], [True, False])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: minutes[0] must be a finite number > 0, got 0.0

    References:
        Kwa et al., "Measuring AI Ability to Complete Long Tasks", arXiv:2503.14499, and METR's
        eval-analysis-public for the weights and the penalty.
    """
    lengths = check_number_column("minutes", minutes)
    for i in np.flatnonzero(lengths <= 0.0)[:1].tolist():
        check_number(f"minutes[{i}]", lengths[i].item(), 0.0, open_ends=True)
    flags = check_flag_column("passed", passed).astype(np.float64)
    check_same_order("minutes", minutes, "passed", passed)
    check_same_length("passed", flags.size, "minutes", lengths.size)
    share = check_number("share", share, 0.0, 1.0, open_ends=True)
    count = check_count("n_resamples", n_resamples, 100, 100_000)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed)
    task_of = check_clusters(tasks, lengths.size, "minutes", minutes)
    family_of = task_of
    if families is not None:
        family_of = check_clusters(families, lengths.size, "minutes", minutes)
    known = _tasks(np.log2(lengths), flags, task_of, family_of)
    slope, intercept = (
        float(one[0])
        for one in _fit(
            known.lengths, known.weights[None], known.n_runs[None], known.n_passed[None]
        )
    )
    notes: list[str] = []
    score = None
    logit = math.log(share / (1.0 - share))
    low, high = 0.0, math.inf
    n_passed, n_runs = int(known.n_passed.sum()), int(known.n_runs.sum())
    n_families = int(known.families.max()) + 1
    if n_passed in (0, n_runs):
        which, wanted = ("all", "longer") if n_passed else ("no", "shorter")
        notes.append(f"{which} runs passed: {wanted} tasks are needed")
    elif slope > -FLAT:
        notes.append("success does not fall with the length of tasks: there is no horizon")
    else:
        score = _minutes(slope, intercept, logit)
        shortest, longest = 2.0 ** known.lengths.min(), 2.0 ** known.lengths.max()
        if not shortest <= score <= longest:
            side = "above the longest" if score > longest else "below the shortest"
            notes.append(f"the horizon lies {side} task: it is extrapolated")
        low, high = _resampled(known, logit, count, confidence_level, seed)
    if score is not None and n_families <= FEW_FAMILIES:
        notes.append(f"{n_families} families: an interval from so few is too narrow")
    return TimeHorizon(
        score=score,
        interval=Interval(
            low=min(low, score or low),
            high=max(high, score or high),
            confidence_level=confidence_level,
            method="hierarchical bootstrap",
        ),
        slope=None if score is None else slope,
        intercept=None if score is None else intercept,
        share=share,
        notes=tuple(notes),
        n_runs=n_runs,
        n_tasks=known.lengths.size,
        n_families=n_families,
        minutes=tuple(lengths[known.first].tolist()),
        pass_rates=tuple((known.n_passed / known.n_runs).tolist()),
    )


def _tasks(
    lengths: Floats, flags: Floats, task_of: NDArray[np.intp], family_of: NDArray[np.intp]
) -> _Tasks:
    """Count the runs of each task, and weigh them."""
    for what, values in (("minutes", lengths), ("families", family_of)):
        first = np.zeros(int(task_of.max()) + 1, values.dtype)
        first[task_of[::-1]] = values[::-1]
        for i in np.flatnonzero(values != first[task_of])[:1].tolist():
            refuse(f"{what}[{i}]", "the same for all runs of one task", f"another for run {i}")
    _, at = np.unique(task_of, return_index=True)
    n_runs = np.bincount(task_of)
    families = family_of[at]
    weights = 1.0 / (n_runs * np.sqrt(np.bincount(families)[families]))
    return _Tasks(
        first=at,
        lengths=lengths[at],
        n_runs=n_runs,
        n_passed=np.bincount(task_of, weights=flags).astype(np.int64),
        families=families,
        weights=weights / float(weights @ n_runs),
    )


def _fit(
    lengths: Floats, weights: Floats, n_runs: NDArray[np.int64], n_passed: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """
    Return slope and intercept of the curve for each row of weights and counts, by Newton's method.

    The loss is convex; a step that does not lower it is halved.
    """
    middle = float(lengths.mean())
    x = lengths - middle
    amounts = weights * n_runs
    total = amounts.sum(axis=1, keepdims=True)
    amounts, hits = amounts / total, weights * n_passed / total

    def loss(points: Floats) -> Floats:
        logits = points[:, :1] + points[:, 1:] * x
        costs = amounts * np.logaddexp(0.0, logits) - hits * logits
        return np.asarray(costs.sum(axis=1) + PENALTY / 2.0 * points[:, 1] ** 2)

    points = np.zeros((len(amounts), 2))
    losses = loss(points)
    for _ in range(STEPS):
        chances = 1.0 / (1.0 + np.exp(-np.clip(points[:, :1] + points[:, 1:] * x, -700.0, 700.0)))
        off, spread = amounts * chances - hits, amounts * chances * (1.0 - chances)
        first, second = off.sum(axis=1), off @ x + PENALTY * points[:, 1]
        a, b = spread.sum(axis=1) + TINY, spread @ x
        c = spread @ (x * x) + PENALTY
        steps = np.column_stack([c * first - b * second, a * second - b * first])
        steps /= (a * c - b * b)[:, None]
        reach = abs(steps[:, 0]) + abs(steps[:, 1]) * abs(x).max()
        steps *= np.minimum(1.0, LONGEST / np.maximum(reach, ENOUGH))[:, None]
        moved = points - steps
        found = loss(moved)
        while (worse := found > losses + 1e-15).any():
            steps[worse] /= 2.0
            moved = points - steps
            found = loss(moved)
            if float(abs(steps[worse]).max()) < ENOUGH:
                break
        points, losses = moved, np.minimum(found, losses)
        if float(abs(steps).max()) < ENOUGH:
            break
    return points[:, 1], points[:, 0] - points[:, 1] * middle


def _resampled(
    known: _Tasks, logit: float, n_resamples: int, confidence_level: float, seed: int
) -> tuple[float, float]:
    """Return percentiles of the horizon over resampled families, tasks and runs."""
    rng = np.random.default_rng(seed)
    n_families = int(known.families.max()) + 1
    members = [np.flatnonzero(known.families == family) for family in range(n_families)]
    rates = known.n_passed / known.n_runs
    chunk = max(1, CHUNK // known.lengths.size)
    found: list[Floats] = []
    for start in range(0, n_resamples, chunk):
        n = min(chunk, n_resamples - start)
        drawn = rng.multinomial(n_families, np.full(n_families, 1.0 / n_families), size=n)
        times = np.empty((n, known.lengths.size), np.int64)
        for family, tasks in enumerate(members):
            size = tasks.size
            times[:, tasks] = rng.multinomial(drawn[:, family] * size, np.full(size, 1.0 / size))
        n_runs = times * known.n_runs
        n_passed = rng.binomial(n_runs, rates)
        found.append(_horizons(known, n_runs, n_passed, logit))
    horizons = np.sort(np.concatenate(found))
    tail = (1.0 - confidence_level) / 2.0
    last = horizons.size - 1
    low, high = horizons[math.floor(tail * last)], horizons[math.ceil((1.0 - tail) * last)]
    return float(low), float(high)


def _horizons(
    known: _Tasks, n_runs: NDArray[np.int64], n_passed: NDArray[np.int64], logit: float
) -> Floats:
    """Return the horizon of each resample; where it has none, 0 or infinity."""
    passed, runs = n_passed.sum(axis=1), n_runs.sum(axis=1)
    mixed = (passed > 0) & (passed < runs)
    horizons = np.where(passed > 0, math.inf, 0.0)
    slope, intercept = _fit(known.lengths, known.weights[None], n_runs[mixed], n_passed[mixed])
    falls = slope < -FLAT
    middle = intercept + slope * float(known.lengths.mean())
    exponents = np.divide(logit - intercept, slope, out=np.zeros_like(slope), where=falls)
    horizons[mixed] = np.where(
        falls,
        np.exp2(np.clip(exponents, -1000.0, 1000.0)),
        np.where(middle >= logit, math.inf, 0.0),
    )
    return horizons


def _minutes(slope: float, intercept: float, logit: float) -> float:
    """Return where the curve crosses, in minutes."""
    return float(2.0 ** min(max((logit - intercept) / slope, -1000.0), 1000.0))


def _logistic(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(logit, -700.0), 700.0)))


def _duration(minutes: float) -> str:
    """Write minutes in the unit that a person would use."""
    if minutes == math.inf:
        return "unbounded"
    for size, unit in ((1440.0, "days"), (60.0, "h")):
        if minutes >= size:
            return f"{minutes / size:.3g} {unit}"
    return f"{minutes:.3g} min" if minutes >= 1.0 or not minutes else f"{minutes * 60.0:.3g} s"
