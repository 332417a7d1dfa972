"""How long the tasks are, in human time, that a model completes: `time_horizon`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats
from scorekit._core.checks import check_number, check_same_length
from scorekit._core.columns import (
    check_clusters,
    check_flag_column,
    check_number_column,
    check_same_order,
)
from scorekit._sheet.model import Sheet, by_fields
from scorekit.errors import refuse
from scorekit.intervals import Interval, group_sums, t_quantile
from scorekit.records import Record

FLAT = 1e-9
"""Slope below which a fall of success is rounding alone: it would put a horizon beyond all."""

PENALTY = 1e-5
"""Half of the squared slope counts so much beside the mean log loss, as in METR's analysis."""

FITTED = 2
"""Numbers of the curve, which as many families fit perfectly."""

TIMES = 3.0
"""Degrees of freedom for each family that carries information, by simulation."""

STEPS = 200
"""Of Newton's method; a fit takes about ten."""

ENOUGH = 1e-10
"""A step so short ends the fit."""

LONGEST = 8.0
"""By how much a step may move a log odds: where outcomes are separated, curvature vanishes."""

TINY = 1e-300
"""Keeps a division defined."""

LARGEST = 1000.0
"""Doublings of a minute that a float holds."""

FARTHEST = 1024.0
"""Doublings of the length beyond which an end is not looked for: it is infinite."""

SPLITS, ROUNDS = 33, 4
"""Horizons that are tried together, and how often between two of the last: to one in 10**6."""


@attrs.frozen(kw_only=True, repr=False)
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
    """Tasks of these runs; as many as runs where each was taken as a task of its own."""
    n_families: int
    """Families of these tasks, the observations of *interval*."""
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
        of = f"{self.n_tasks} tasks"
        if self.n_tasks == self.n_runs:
            of = "each taken as a task of its own"
        if self.n_families < self.n_tasks:
            of += f" in {self.n_families} families"
        runs = f"{self.n_runs} runs{',' if self.n_tasks == self.n_runs else ' of'} {of}"
        return f"{horizon} [{ends}] ({level}) at {100 * self.share:.4g} % success ({runs})"

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
    confidence_level: float = 0.95,
) -> TimeHorizon:
    """
    Return the length of task, in human minutes, that a model completes with probability *share*.

    A logistic curve of success over the log2 of the minutes is fitted to all runs.  The horizon is
    where it crosses *share*.

    Args:
        minutes: How long a human takes for the task of each run, positive, shape ``(N,)``.
        passed: Whether each run passed, True or False, 1 or 0.
        tasks: A label of the task of each run. Runs of one task have the same *minutes*. None
            where each run is of a task of its own: printed results say so, and a note does if
            runs have the same length, as repeated runs of a task have.
        families: A label of the family of each run, tasks that are alike; None where each task is
            a family of its own.
        share: Probability of success, in (0, 1): 0.5 for the usual horizon, 0.8 for a stricter
            one.
        confidence_level: Level of the interval, in (0, 1).

    Returns:
        A frozen `TimeHorizon`. Its *notes* say where the runs cannot tell: all passed or none, no
        fall of success with length, a horizon outside the tasks, or two families or fewer. Read
        *score* with its *interval*, *notes* and *n_tasks* first.

    Raises:
        InputError: If columns are empty or differ in length, a length is not positive and finite,
            one task has two lengths or families, or another argument is out of range.
        TypeError: If an entry has the wrong type.

    Examples:
        >>> minutes = [1, 2, 3, 4, 6, 8, 12, 15, 22, 30, 45, 60, 90, 120, 180, 240, 360, 480]
        >>> passed = [1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0]
        >>> result = time_horizon(minutes, passed)
        >>> round(result.score, 1), round(result.slope, 2)
        (54.7, -0.79)
        >>> str(result.interval)
        '[13, 495]'
        >>> print(time_horizon(minutes, [True] * 18))
        no horizon at 50 % success
        all runs passed: longer tasks are needed
        >>> time_horizon([0, 5], [True, False])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: minutes[0] must be a finite number > 0, got 0.0

    Notes:
        A run weighs ``1 / (runs of its task * sqrt(tasks of its family))``, and the weights sum to
        1, so that neither a task with many runs nor a family with many tasks decides alone. Half
        of the squared slope is added to the loss, times 1e-5.

        The interval is that of the profile likelihood: all horizons for which some falling curve
        explains the runs well enough. Twice the loss of log likelihood is divided by the ratio of
        the horizon's variance to its variance if each run weighed one, and is at most the square
        of Student's quantile. The variance is that of independent runs, or that between families
        if this is larger. An end is 0 or infinite where no horizon is too far away, as always with
        two families or fewer.

        The degrees of freedom are ``n_families - 2``, and at most three for each family that
        tells something of the horizon: where success falls steeply, most tasks tell nothing. Their
        number is ``(sum v)^2 / sum v^2``, *v* being what a family adds to the variance. In
        simulations of 8 to 100 tasks the interval contained the horizon in 0.94 to 0.99 of them.

    References:
        Kwa et al., "Measuring AI Ability to Complete Long Tasks", arXiv:2503.14499, and METR's
        eval-analysis-public for the weights and the penalty.
        Rotnitzky and Jewell, "Hypothesis Testing of Regression Parameters in Semiparametric
        Generalized Linear Models for Cluster Correlated Data", Biometrika 77(3), 1990, for the
        scaled likelihood ratio.
    """
    lengths = check_number_column("minutes", minutes)
    for i in np.flatnonzero(lengths <= 0.0)[:1].tolist():
        check_number(f"minutes[{i}]", lengths[i].item(), 0.0, open_ends=True)
    flags = check_flag_column("passed", passed).astype(np.float64)
    check_same_order("minutes", minutes, "passed", passed)
    check_same_length("passed", flags.size, "minutes", lengths.size)
    share = check_number("share", share, 0.0, 1.0, open_ends=True)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    task_of = check_clusters(tasks, lengths.size, "minutes", minutes)
    family_of = task_of
    if families is not None:
        family_of = check_clusters(families, lengths.size, "minutes", minutes)
    known = _tasks(np.log2(lengths), flags, task_of, family_of)
    curve = _fit(known)
    notes: list[str] = []
    score = None
    logit = math.log(share / (1.0 - share))
    low, high = 0.0, math.inf
    n_passed, n_runs = int(known.n_passed.sum()), int(known.n_runs.sum())
    n_families = int(known.families.max()) + 1
    if n_passed in (0, n_runs):
        which, wanted = ("all", "longer") if n_passed else ("no", "shorter")
        notes.append(f"{which} runs passed: {wanted} tasks are needed")
    elif curve.slope > -FLAT or abs(curve.horizon(logit)) > LARGEST:
        notes.append("success does not fall with the length of tasks: there is no horizon")
    else:
        place = curve.horizon(logit)
        score = _minutes(place)
        shortest, longest = 2.0 ** known.lengths.min(), 2.0 ** known.lengths.max()
        if not shortest <= score <= longest:
            side = "above the longest" if score > longest else "below the shortest"
            notes.append(f"the horizon lies {side} task: it is extrapolated")
        if n_families > FITTED:
            low, high = map(_minutes, _ends(known, curve, place, logit, confidence_level))
        else:
            notes.append(f"{n_families} families: an interval takes three or more")
    n_shared = lengths.size - np.unique(lengths).size
    if tasks is None and n_shared:
        notes.append(
            f"{n_shared} runs have the length of an earlier one, and each was taken as a task of "
            "its own: pass tasks= if they repeat tasks"
        )
    return TimeHorizon(
        score=score,
        interval=Interval(
            low=low,
            high=high,
            confidence_level=confidence_level,
            method="profile likelihood",
        ),
        slope=None if score is None else curve.slope,
        intercept=None if score is None else curve.level - curve.slope * curve.middle,
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


class _LogOddsCurve(NamedTuple):
    """The log odds of success at the mean length, and how they change with the length."""

    middle: float
    level: float
    slope: float
    loss: float

    def at(self, lengths: Floats) -> Floats:
        return self.level + self.slope * (lengths - self.middle)

    def horizon(self, logit: float) -> float:
        return self.middle + (logit - self.level) / self.slope


def _losses(known: _Tasks, logits: Floats, slopes: Floats) -> Floats:
    """Return the weighted mean loss of each row of log odds, with the penalty."""
    costs = known.n_runs * np.logaddexp(0.0, logits) - known.n_passed * logits
    return np.asarray(costs @ known.weights + PENALTY / 2.0 * slopes * slopes)


def _chances(logits: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -700.0, 700.0))))


def _fit(known: _Tasks) -> _LogOddsCurve:
    """Return the curve of the least loss, by Newton's method, too long steps halved."""
    middle = float(known.lengths.mean())
    design = np.column_stack([np.ones(known.lengths.size), known.lengths - middle])
    point, furthest = np.zeros(2), float(abs(design[:, 1]).max())

    def loss(point: Floats) -> float:
        return float(_losses(known, design @ point, point[1]))

    least = loss(point)
    for _ in range(STEPS):
        chances = _chances(design @ point)
        off = known.weights * (known.n_runs * chances - known.n_passed)
        slopes = off @ design + PENALTY * np.array([0.0, point[1]])
        step = np.linalg.solve(_curvature(known, design, chances), slopes)
        reach = abs(step[0]) + abs(step[1]) * furthest
        step *= min(1.0, LONGEST / max(reach, ENOUGH))
        while (found := loss(point - step)) > least + 1e-15 and float(abs(step).max()) >= ENOUGH:
            step /= 2.0
        point, least = point - step, min(found, least)
        if float(abs(step).max()) < ENOUGH:
            break
    return _LogOddsCurve(middle, float(point[0]), float(point[1]), least)


def _curvature(known: _Tasks, design: Floats, chances: Floats) -> Floats:
    spread = known.weights * known.n_runs * chances * (1.0 - chances)
    return np.asarray(design.T @ (spread[:, np.newaxis] * design) + np.diag([TINY, PENALTY]))


def _spread(known: _Tasks, curve: _LogOddsCurve, place: float) -> tuple[float, float]:
    """
    Return the variance of the horizon over that which the curvature of the loss gives it.

    The larger of what independent runs have and of what families show.  And how many equally
    large families would tell as much: where success falls steeply, few do.
    """
    design = np.column_stack([np.ones(known.lengths.size), known.lengths - curve.middle])
    chances = _chances(curve.at(known.lengths))
    moves = -np.array([1.0, place - curve.middle]) / curve.slope
    turned = np.linalg.solve(_curvature(known, design, chances), moves)
    influence = known.weights * (design @ turned)
    off = group_sums(influence * (known.n_passed - known.n_runs * chances), known.families)
    between = float(off @ off) * off.size / (off.size - 1)
    spread = influence * influence * known.n_runs * chances * (1.0 - chances)
    of_runs = group_sums(spread, known.families)
    total = float(of_runs.sum())
    worth = total * total / float(of_runs @ of_runs)
    return max(total, between) / float(moves @ turned), worth


def _ends(
    known: _Tasks, curve: _LogOddsCurve, place: float, logit: float, confidence_level: float
) -> tuple[float, float]:
    """Return the farthest horizons that the runs do not reject, infinite where none is."""
    spread, worth = _spread(known, curve, place)
    df = min(int(known.families.max()) + 1.0 - FITTED, TIMES * worth)
    most = t_quantile(confidence_level, df) ** 2 * spread

    def are_held(places: Floats) -> NDArray[np.bool_]:
        losses = _profile(known, places, logit, curve.slope)
        return np.asarray(2.0 * (losses - curve.loss) <= most)

    def reach(sign: float) -> float:
        tried: Floats = np.append(0.0, 2.0 ** np.arange(-10.0, math.log2(FARTHEST) + 1.0))
        if are_held(place + sign * tried[-1:])[0]:
            return math.inf
        high = math.inf
        for _ in range(ROUNDS + 1):
            held = are_held(place + sign * tried[1:-1])
            last = int(np.argmin(np.append(held, False)))
            low, high = float(tried[last]), float(tried[last + 1])
            tried = np.linspace(low, high, SPLITS, dtype=np.float64)
        return high

    return place - reach(-1.0), place + reach(1.0)


def _profile(known: _Tasks, places: Floats, logit: float, slope: float) -> Floats:
    """Return the least loss of a falling curve with its horizon at each of some places."""
    off = known.lengths - places[:, np.newaxis]
    below, above = np.full(places.size, -math.inf), np.zeros(places.size)
    slopes = np.full(places.size, slope)
    for _ in range(STEPS):
        chances = _chances(logit + slopes[:, np.newaxis] * off)
        misses = known.weights * (known.n_runs * chances - known.n_passed)
        spread = known.weights * known.n_runs * chances * (1.0 - chances)
        rises = (misses * off).sum(axis=1) + PENALTY * slopes
        below = np.where(rises < 0.0, slopes, below)
        above = np.where(rises > 0.0, slopes, above)
        moved = slopes - rises / ((spread * off * off).sum(axis=1) + PENALTY)
        halved = np.where(np.isfinite(below), (below + above) / 2.0, 2.0 * slopes - 1.0)
        moved = np.where((moved > below) & (moved <= above), moved, halved)
        if float(abs(moved - slopes).max()) < ENOUGH:
            break
        slopes = moved
    return _losses(known, logit + slopes[:, np.newaxis] * off, slopes)


def _minutes(place: float) -> float:
    """Return a place on the scale of doublings in minutes; what is too far is 0 or infinite."""
    return 2.0**place if abs(place) <= LARGEST else math.inf if place > 0.0 else 0.0


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
