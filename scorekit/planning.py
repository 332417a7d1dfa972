"""Plan an evaluation: how many tasks an effect takes, and what to spend a budget on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple, NoReturn

import attrs
import numpy as np

from scorekit._core.arrays import Floats
from scorekit._core.attempts import CaseScores
from scorekit._core.checks import (
    MAX_COUNT,
    check_bounded_count,
    check_flag,
    check_items,
    check_number,
    check_score,
    is_ordered,
)
from scorekit._core.columns import as_builtins, numbered
from scorekit._core.frames import ScoreTable
from scorekit._core.mappings import is_mapping
from scorekit._core.roots import root
from scorekit._sheet.model import Fields, Sheet, by_fields
from scorekit._sheet.values import counted, number
from scorekit._stats.power import least_tasks, power_of_flags, power_of_normal
from scorekit.errors import refuse, shown
from scorekit.intervals import normal_quantile, proportion_interval, t_quantile
from scorekit.records import Cases, Record, Report

Pilot = Report | Mapping[Any, float | Iterable[float]] | ScoreTable
"""A run of a pilot."""

TASK_VARIANCE = 1 / 9
"""
Variance over tasks of the true change, as in Miller's example.

So vary success rates spread evenly over [0, 1] that correlate by 1/3 between the two sides.
"""

SAMPLING_VARIANCE = 1 / 6
"""Variance of one attempt at a task, mean over tasks; again for rates spread evenly."""


ONE_OF = 1000
"""Share of the tasks to which their number is found where it rests on an approximation."""

UNEVEN = 20
"""Further tasks that are looked at: of changes of -1, 0 and 1 one more may find less."""

TINY = 1e-300
"""Keeps a division and a logarithm defined."""

SCORES = -1e100, 1e100
"""Scores whose variance is finite."""

MOST_TASKS_ANYTIME = 10**9
"""Tasks up to which a run with repeated checks is planned."""


@attrs.frozen(kw_only=True, repr=False)
class RequiredTasks(Record):
    """Result of `required_tasks`; ``str()`` is a sentence."""

    n_tasks: int
    """Tasks that the run must have to find the effect with at least the requested power."""
    attempts: tuple[int, int]
    """Attempts at each task, of the baseline and of the current run."""
    effect: float
    """Mean change of the score that is to be found."""
    power: float
    """Chance that so many tasks find it, exact up to a million tasks of which the changes are
    normal, or -1, 0 and 1. With *anytime* as modeled."""
    confidence_level: float
    """1 minus the two-sided false-alarm rate."""
    n_tasks_bounds: tuple[int, int | None] | None = None
    """The numbers of tasks at both ends of what the pilot leaves open, at *confidence_level*: None
    for an end without bound, and without a pilot."""
    n_tasks_pilot: int | None = None
    """Tasks of the pilot that both of its runs have; None without one."""
    n_tasks_expected: float | None = None
    """Mean number of tasks after which a run with repeated checks stops, if there is such an
    effect; None unless *anytime*."""
    n_tasks_fixed: int | None = None
    """Tasks of a run that is checked once, at the end, with the same power; None unless
    *anytime*."""

    def _line(self) -> str:
        each = " and ".join(map(str, dict.fromkeys(self.attempts)))
        plural = "s" * (self.attempts != (1, 1))
        line = (
            f"{self.n_tasks} tasks with {each} attempt{plural} each find a change of "
            f"{self.effect:g} with a power of {self.power:.3f} (two-sided test, "
            f"{100 * self.confidence_level:.4g} %)"
        )
        if self.n_tasks_expected is not None:
            line += f", after {self.n_tasks_expected:.0f} tasks on average; with one check at the"
            line += f" end {self.n_tasks_fixed}"
        if self.n_tasks_bounds is not None:
            low, high = self.n_tasks_bounds
            ends = f"{low} or more" if high is None else f"{low} to {high}"
            line += f"; a pilot of {self.n_tasks_pilot} tasks leaves open {ends}"
        return line

    def _sheet(self) -> Sheet:
        return Sheet("RequiredTasks", self._line(), by_fields(self).parts)


def required_tasks(
    *,
    effect: float,
    task_variance: float | None = None,
    sampling_variance: float | tuple[float, float] | None = None,
    attempts: int | tuple[int, int] | None = None,
    discordant: float | None = None,
    pilot: tuple[Pilot, Pilot] | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
    anytime: bool = False,
) -> RequiredTasks:
    """
    Return how many tasks it takes to detect a mean change of *effect* between two runs.

    Two runs over the same tasks are compared by a paired two-sided t test. The result is the
    least number of tasks with which it finds the change with probability *power*, computed
    exactly. The usual formula, ``n = (z_a + z_b)^2 (w^2 + s_1^2 / k_1 + s_2^2 / k_2) / effect^2``,
    gives about two tasks fewer. Here *w^2* is *task_variance*, *s^2* is *sampling_variance* and
    *k* is *attempts* of either run; *z_a* and *z_b* are the normal quantiles of
    *confidence_level* and *power*. More attempts reduce only the sampling part, and cannot replace
    tasks.

    Args:
        effect: Mean change of the score that should be detected, in (0, 1].
        task_variance: Variance over tasks of the true change, in [0, 1]. Do not pass the variance
            of the scores. The default, 1/9, is Miller's example: evenly spread success rates with
            a correlation of 1/3.
        sampling_variance: Variance of one attempt at a task, mean over tasks, in [0, 1/4]; for
            successes the mean of ``p (1 - p)``. One number for the baseline, or one for each run.
            The default, 1/6 for both, fits evenly spread rates; 0 means infinitely many attempts
            and needs a positive *task_variance*.
        attempts: Attempts at each task (count, at least 1), for both runs or for each. None for
            one, or for as many as the *pilot* has: where tasks have unequal numbers, for their
            harmonic mean, which is that of equal numbers with the same error.
        discordant: Share of the tasks that change side between the two runs, falls and rises
            together, at least *effect* and at most 1. It replaces both variances, for a single
            attempt at each task.
        pilot: Two runs of the same tasks, ``(baseline, current)``, as `compare_reports` takes
            them: reports of one model each, or mappings from task to its score or scores. Of a
            report ``"pass@1"`` or ``"query_correctness"`` is planned for; for another metric pass
            mappings. It replaces *discordant* and both variances. The result then also says which
            numbers of tasks the pilot leaves open.
        confidence_level: 1 minus the false-alarm rate, in (0, 1), as of `compare_reports`.
        power: Chance to detect a change of *effect*, at least 1/2 and below 1.
        anytime: Whether for `compare_reports` with *anytime*.

    Returns:
        A frozen `RequiredTasks`. A p value of the test is at least ``2 ** -n``, so *n_tasks* is at
        least 6 at 95 %. Read *n_tasks*, *n_tasks_bounds* and *power* first.

    Raises:
        InputError: If a number is out of range, nothing varies, more than 2**53 tasks would be
            needed (with *anytime* 10**9), *discordant* is given beside a variance or several
            attempts, or *pilot* beside any of them. Also if the runs of the pilot have fewer than
            two tasks in common, or several models.
        TypeError: If an argument is not a number, or not a pair where two are given, or a run of
            the pilot is neither a report nor a mapping.

    Examples:
        >>> print(required_tasks(effect=0.05))
        1398 tasks with 1 attempt each find a change of 0.05 with a power of 0.800 (two-sided test, 95 %)
        >>> required_tasks(effect=0.05, attempts=5).n_tasks
        561
        >>> required_tasks(effect=0.05, discordant=0.15).n_tasks  # 10 % fall and 5 % rise
        459
        >>> before, after = ({i: i % 5 > 0 for i in range(60)}, {i: i % 4 > 0 for i in range(60)})
        >>> plan = required_tasks(effect=0.1, pilot=(before, after))
        >>> plan.n_tasks, plan.n_tasks_bounds
        (269, (183, 369))
        >>> tasks = required_tasks(effect=0.05, discordant=0.15, power=0.9, anytime=True)
        >>> tasks.n_tasks, round(tasks.n_tasks_expected), tasks.n_tasks_fixed
        (1104, 538, 612)
        >>> required_tasks(effect=0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: effect must be a number in (0, 1], got 0

    Notes:
        If nearly everything passes or fails, the effect itself changes the variance. A single
        *sampling_variance* is therefore that of the baseline, ``s_1^2 = r (1 - r)`` with the rate
        *r* up to 1/2. That of the current run is ``(r + effect) (1 - r - effect)`` if this is
        more.

        If each task is tried once and passes or fails, pass *discordant* instead: the share of
        tasks that change side, including those changed by the effect. The power is then that of
        the t test over all outcomes of so many tasks, which Connor's formula for McNemar's test
        comes near, ``n = (z_a sqrt(share) + z_b sqrt(share - effect^2))^2 / effect^2``.

        A *pilot* with one attempt of 0 or 1 at each task gives *discordant*, at least *effect*,
        and its bounds are those of Wilson's interval. Any other gives the variances: that of
        attempts within tasks, and what is left of the variance of the changes over tasks. Its
        bounds are those of a jackknife over tasks of the logarithm of the variance.

        With *anytime* the result is for `compare_reports` with *anytime*, where you check a
        growing run and stop as soon as it is decided. Plan for more tasks than with one check at
        the end. On average fewer may be needed, if *power* is high or the effect is larger than
        planned. The change is modeled as a random walk with normal steps, over a hundred checks.

    References:
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640.
        Connor, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design",
        Biometrics 43(1), 1987, for *discordant*.
    """  # noqa: E501 - a result is one line
    size = check_number("effect", effect, 0.0, 1.0, open_low=True)
    bounds = known = None
    if pilot is not None:
        given = {
            "task_variance": task_variance,
            "sampling_variance": sampling_variance,
            "discordant": discordant,
        }
        for name, value in given.items():
            if value is not None:
                refuse(name, "left out where pilot is given", value)
        known = _Pilot.of(pilot)
        attempts = known.attempts if attempts is None else attempts
        counts = _counts(attempts)
        discordant, variances = known.plan(size, counts)
        if variances is not None:
            task_variance, sampling_variance = variances[0], variances[1:]
    design = _design(
        task_variance=task_variance,
        sampling_variance=sampling_variance,
        attempts=attempts,
        discordant=discordant,
        confidence_level=confidence_level,
        power=power,
    )
    if design.is_binary and size > design.variance:
        refuse("discordant", f"a number >= effect = {size}", discordant)
    n = design.tasks(size)
    if known is not None:
        least, most = known.ends(design, size)
        high = None if math.isinf(most) else max(n, design._replace(variance=most).tasks(size))
        bounds = min(n, design._replace(variance=least).tasks(size)), high
    options: dict[str, Any] = {
        "attempts": design.attempts,
        "effect": size,
        "confidence_level": design.confidence_level,
        "n_tasks_bounds": bounds,
        "n_tasks_pilot": None if known is None else known.n_tasks,
    }
    if not check_flag("anytime", anytime):
        return RequiredTasks(n_tasks=n, power=design.power_of(n, size), **options)
    return _anytime_tasks(n, design, options)


def minimum_detectable_effect(
    *,
    n_tasks: int,
    task_variance: float | None = None,
    sampling_variance: float | tuple[float, float] | None = None,
    attempts: int | tuple[int, int] | None = None,
    discordant: float | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """
    Return the smallest mean change between two runs over *n_tasks* that can be detected.

    The effect that the test of `required_tasks` finds with probability *power*, computed exactly:
    about ``(z_a + z_b) sqrt((w^2 + s_1^2 / k_1 + s_2^2 / k_2) / n)``.

    Args:
        n_tasks: Tasks that both runs have (count, at least 2).
        task_variance: As in `required_tasks`.
        sampling_variance: As in `required_tasks`.
        attempts: As in `required_tasks`.
        discordant: As in `required_tasks`, in (0, 1].
        confidence_level: As in `required_tasks`.
        power: As in `required_tasks`.

    Returns:
        The effect on the scale of the scores; above 1 no change has that power. Infinite if no
        change that *discordant* allows has it, or with so few tasks that none is significant.

    Raises:
        InputError: If a number is out of range, nothing varies, or *discordant* is given beside a
            variance or several attempts.
        TypeError: If an argument is not a number, or not a pair where two are given.

    Examples:
        >>> round(minimum_detectable_effect(n_tasks=164), 3)
        0.147
        >>> round(minimum_detectable_effect(n_tasks=164, attempts=10), 3)
        0.084
        >>> round(minimum_detectable_effect(n_tasks=164, discordant=0.15), 3)
        0.081
        >>> minimum_detectable_effect(n_tasks=1)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_tasks must be an integer >= 2, got 1
    """
    n = check_bounded_count("n_tasks", n_tasks, 2)
    design = _design(
        task_variance=task_variance,
        sampling_variance=sampling_variance,
        attempts=attempts,
        discordant=discordant,
        confidence_level=confidence_level,
        power=power,
    )
    return design.effect(n)


class _TestDesign(NamedTuple):
    """The variance of one task's change, and the test."""

    variance: float
    """Of the change as observed; where *is_binary*, the share of the tasks that change."""
    confidence_level: float
    power: float
    attempts: tuple[int, int]
    is_binary: bool = False
    """Whether changes are -1, 0 or 1."""
    saturation: float = 0.0
    """Twice how far the baseline's rate lies from 1/2; 0 where an effect adds no variance."""

    def _changed(self, effect: float) -> float:
        """Return the variance after such an effect, which lets more attempts differ."""
        added = max(0.0, effect * (self.saturation - effect)) / self.attempts[1]
        return max(self.variance + added, TINY)

    def square(self, effect: float) -> float:
        """Return the mean square of a task's change, of which *effect* is the mean."""
        return self.variance if self.is_binary else self._changed(effect) + effect * effect

    def power_of(self, n: int, effect: float) -> float:
        """Return the chance that *n* tasks find the effect."""
        if n < least_tasks(self.confidence_level):
            return 0.0
        if self.is_binary:
            return power_of_flags(n, effect, self.variance, self.confidence_level)
        return power_of_normal(n, effect, self._changed(effect), self.confidence_level)

    def tasks(self, effect: float) -> int:
        """Return the least number of tasks from which on the effect is found."""
        low = least_tasks(self.confidence_level) - 1
        high = low + 1
        while self.power_of(high, effect) < self.power:
            low, high = high, 2 * high
            if high > MAX_COUNT:
                refuse("effect", "large enough to be seen with 2**53 tasks", effect)
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.power_of(middle, effect) >= self.power
            low, high = (low, middle) if enough else (middle, high)
        n = high
        while n < high + UNEVEN * self.is_binary:
            n += 1
            if self.power_of(n, effect) < self.power:
                high = n + 1
        return high

    def effect(self, n: int) -> float:
        """Return the effect that *n* tasks find; infinite if they find none."""
        if n < least_tasks(self.confidence_level):
            return math.inf
        level = normal_quantile(self.confidence_level)
        scale = (level + NormalDist().inv_cdf(self.power)) * math.sqrt(self.variance / n)
        most = self.variance / scale if self.is_binary else 1.0
        while self.power_of(n, most * scale) < self.power:
            if self.is_binary:
                return math.inf
            most *= 2.0
        return scale * root(lambda part: self.power_of(n, part * scale) - self.power, 0.0, most)


def _design(
    *,
    task_variance: object,
    sampling_variance: object,
    attempts: object,
    discordant: object,
    confidence_level: object,
    power: object,
) -> _TestDesign:
    level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    chance = check_number("power", power)
    if not 0.5 <= chance < 1.0:  # noqa: PLR2004 - below a half no effect at all would do
        refuse("power", "a number in [0.5, 1)", power)
    if discordant is not None:
        variance = check_number("discordant", discordant, 0.0, 1.0, open_low=True)
        given = {"task_variance": task_variance, "sampling_variance": sampling_variance}
        for name, value in given.items():
            if value is not None:
                refuse(name, "left out where discordant is given", value)
        for name, value in _sides("attempts", 1 if attempts is None else attempts):
            if check_bounded_count(name, value, 1) > 1:
                refuse(name, "1 where discordant is given", value)
        return _TestDesign(variance, level, chance, (1, 1), is_binary=True)
    between = TASK_VARIANCE if task_variance is None else task_variance
    between = check_number("task_variance", between, 0.0, 1.0)
    both = SAMPLING_VARIANCE if sampling_variance is None else sampling_variance
    first, second = (
        check_number(name, one, 0.0, 0.25) for name, one in _sides("sampling_variance", both)
    )
    counts = _counts(attempts)
    variance = between + first / counts[0] + second / counts[1]
    if not variance:  # a pilot in which nothing varied says too little to plan with
        positive = "positive where sampling_variance is 0: without variance nothing can be planned"
        refuse("task_variance", positive, between)
    changes = first and sampling_variance is not None and not is_ordered(sampling_variance)
    return _TestDesign(
        variance,
        level,
        chance,
        counts,
        saturation=math.sqrt(1.0 - 4.0 * first) if changes else 0.0,
    )


def _counts(attempts: object) -> tuple[int, int]:
    first, second = (
        check_bounded_count(name, n, 1)
        for name, n in _sides("attempts", 1 if attempts is None else attempts)
    )
    return first, second


def _sides(name: str, value: object) -> list[tuple[str, object]]:
    """Return a value for the baseline and one for the current run, with their names."""
    if not is_ordered(value):
        return [(name, value)] * 2
    sides = [(f"{name}[{i}]", one) for i, one in enumerate(value)]
    if len(sides) != 2:  # noqa: PLR2004 - baseline and current
        refuse(name, "one number, or one for the baseline and one for the current run", value)
    return sides


class _Pilot(NamedTuple):
    """What two runs of the same tasks show of the variance of a change."""

    changes: Floats
    within: tuple[Floats, Floats]
    """The variance of the attempts at each task, NaN where there is one."""
    fewness: tuple[Floats, Floats]
    """One through the number of attempts at each task."""
    are_flags: bool
    """Whether each task has one attempt that is 0 or 1."""

    @classmethod
    def of(cls, pilot: object) -> _Pilot:
        runs = check_items("pilot", pilot, what=f"two runs ({OF_ONE})")
        if len(runs) != 2:  # noqa: PLR2004 - baseline and current
            refuse("pilot", "a pair (baseline, current)", pilot)
        first, second = (_one_suite(f"pilot[{i}]", run) for i, run in enumerate(runs))
        shared = [task for task in first if task in second]
        if len(shared) < 2:  # noqa: PLR2004 - a variance
            refuse("pilot", "two runs with at least 2 tasks in common", len(shared))
        sides = [CaseScores.of(side).take(shared) for side in (first, second)]
        within: list[Floats] = []
        for side in sides:
            squares = (side.scores - np.repeat(side.means, side.sizes)) ** 2
            sums = np.bincount(side.case_of, weights=squares)
            free = np.where(side.sizes > 1, side.sizes - 1.0, math.nan)
            within.append(sums / free)
        flags = all(
            side.are_single and bool(((side.scores == 0.0) | (side.scores == 1.0)).all())
            for side in sides
        )
        fewness = 1.0 / sides[0].sizes, 1.0 / sides[1].sizes
        return cls(sides[1].means - sides[0].means, (within[0], within[1]), fewness, flags)

    @property
    def n_tasks(self) -> int:
        return self.changes.size

    @property
    def attempts(self) -> tuple[int, int]:
        """Attempts at a task, of either run; their harmonic mean, where they differ."""
        first, second = (round(1.0 / float(side.mean())) for side in self.fewness)
        return first, second

    @property
    def n_changed(self) -> int:
        return int((self.changes != 0.0).sum())

    def plan(
        self, effect: float, attempts: tuple[int, int]
    ) -> tuple[float | None, tuple[float, float, float] | None]:
        """Return the share of tasks that change, or the variances."""
        if self.are_flags:
            if attempts != (1, 1):
                several = "1 with a pilot of one attempt, which does not show how attempts vary"
                refuse("attempts", several, attempts)
            return max(effect, self.n_changed / self.n_tasks), None
        between, first, second = (float(one[0]) for one in self._parts())
        return None, (min(between, 1.0), min(first, 0.25), min(second, 0.25))

    def _parts(self) -> tuple[Floats, Floats, Floats]:
        """Return the variances between and within tasks: of all, then without each in turn."""

        def sums(values: Floats) -> Floats:
            return np.append(values.sum(), values.sum() - values)

        n = sums(np.ones(self.n_tasks))
        off = self.changes - self.changes.mean()
        squares = sums(off * off) - sums(off) ** 2 / n
        spread = squares / np.maximum(n - 1.0, 1.0)
        within: list[Floats] = []
        for side, fewness in zip(self.within, self.fewness, strict=True):
            known = ~np.isnan(side)
            own = sums(np.where(known, side, 0.0)) / np.maximum(sums(known.astype(np.float64)), 1)
            within.append(own)
            spread = spread - own * sums(fewness) / n
        return np.maximum(spread, 0.0), within[0], within[1]

    def ends(self, design: _TestDesign, effect: float) -> tuple[float, float]:
        """Return the least and the largest variance, or share, that the pilot leaves open."""
        level = design.confidence_level
        if self.are_flags:
            found = proportion_interval(self.n_changed, self.n_tasks, confidence_level=level)
            return max(found.low, effect), max(found.high, effect)
        if self.n_tasks == 2:  # noqa: PLR2004 - the variance without one of them is not known
            return 0.0, math.inf
        between, first, second = self._parts()
        totals = between + first / design.attempts[0] + second / design.attempts[1]
        logs = np.log(np.maximum(totals, TINY))
        off = logs[1:] - logs[1:].mean()
        error = math.sqrt((1.0 - 1.0 / self.n_tasks) * float(off @ off))
        reach = min(t_quantile(level, self.n_tasks - 1.0) * error, 700.0)
        return design.variance * math.exp(-reach), design.variance * math.exp(reach)


OF_ONE = "of one report: (report.for_model(a), report.for_model(b))"
"""How two runs are made of a report of several models."""

METRICS = "pass@1", "score", "query_correctness"
"""The metric of a run that says whether its tasks are solved."""


def _one_suite(name: str, run: object) -> Cases:
    """Return the scores of the tasks of a run."""
    from scorekit._stats.sides import read_side

    suites = read_side(name, run).suites
    found = [suites[key] for metric in METRICS for key in suites if key[0] == metric]
    if len(found) != 1:
        domain = "a mapping, or a report of one model in which tasks are solved or not"
        refuse(name, f"{domain} ({OF_ONE})", [model for _, model in suites])
    return found[0]


def _anytime_tasks(fixed: int, design: _TestDesign, options: dict[str, Any]) -> RequiredTasks:
    from scorekit._stats.betting import Course, course

    effect: float = options["effect"]
    square = design.square(effect)

    def after(n: int) -> Course:
        return course(n, effect, square, design.confidence_level)

    low, high = 1, fixed
    while after(high).power < design.power:
        low, high = high, 2 * high
        if high > MOST_TASKS_ANYTIME:
            refuse("effect", "large enough to be seen with 10**9 tasks", effect)
    while high - low > max(1, high // ONE_OF):
        middle = (low + high) // 2
        enough = after(middle).power >= design.power
        low, high = (low, middle) if enough else (middle, high)
    found = after(high)
    return RequiredTasks(
        n_tasks=high,
        power=found.power,
        n_tasks_expected=high * found.share,
        n_tasks_fixed=fixed,
        **options,
    )


@attrs.frozen(kw_only=True, repr=False)
class EvaluationPlan(Record):
    """Result of ``VarianceComponents.plan()``: how many of each, and how sure the mean is then."""

    stderr: float
    """Standard error of the mean score."""
    n_tasks: int
    n_attempts: int
    """Attempts at each task."""
    n_judgements: int | None
    """Judgements of each attempt; None where the pilot had none."""
    price: float
    """Price of the whole plan, at most the budget."""
    n_repeats: int | None = None
    """Runs of the whole suite, each with so many attempts; None where the pilot had one."""

    def _line(self) -> str:
        each = f"{counted(self.n_tasks, 'task')} with {counted(self.n_attempts, 'attempt')} each"
        if self.n_judgements is not None:
            each += f", judged {counted(self.n_judgements, 'time')}"
        if self.n_repeats is not None:
            each += f", in {counted(self.n_repeats, 'repeat')}"
        width = 2.0 * normal_quantile(0.95) * self.stderr
        error = f"standard error {self.stderr:.3g} (95 % interval about {width:.2g} wide)"
        return f"{each}: {error}, price {self.price:.6g}"


MOST_JUDGEMENTS = 1e9
"""Attempts, or judgements, that a budget may pay for: beyond it the search takes too long."""


MOST_REPEATS = 100
"""Repeats that a plan has at most."""


@attrs.frozen(kw_only=True, repr=False)
class VarianceComponents(Record):
    """Result of `variance_components`: what scores differ by, from task to task and within one."""

    mean: float
    """Mean over tasks of the mean score of each task."""
    between_tasks: float
    """
    Variance of what tasks score in the long run.

    Not the *task_variance* of `scorekit.required_tasks`, which is of the change of a task: make
    components of the differences between two runs for that.
    """
    between_attempts: float
    """Variance of attempts at one task. Without several judgements it includes theirs."""
    between_judgements: float | None
    """Variance of judgements of one attempt; None where there were none."""
    cut_to_zero: tuple[str, ...]
    """Names of the variances whose estimate was negative, which happens by chance if one is
    small."""
    n_tasks: int
    n_attempts: int
    n_judgements: int | None
    """Judgements in all; None where there were none."""
    n_repeats: int = 1
    """Runs of the whole suite."""
    between_repeats: float | None = None
    """Variance of the mean from repeat to repeat, which all tasks share; None for one repeat."""
    task_by_repeat: float | None = None
    """
    Variance of what one task scores from repeat to repeat, beyond that of its attempts.

    It is large where attempts of a run resemble each other.  With one attempt at a task it
    includes theirs; None for one repeat."""

    def _line(self) -> str:
        named = {
            "tasks": self.between_tasks,
            "attempts": self.between_attempts,
            "judgements": self.between_judgements,
            "repeats": self.between_repeats,
            "a task's repeats": self.task_by_repeat,
        }
        parts = [f"{number(one)} between {what}" for what, one in named.items() if one is not None]
        tasks, attempts = counted(self.n_tasks, "task"), counted(self.n_attempts, "attempt")
        return f"variances: {', '.join(parts)} (mean {number(self.mean)}, {tasks}, {attempts})"

    def _sheet(self) -> Sheet:
        cut = [f"estimated below 0, shown as 0: {', '.join(self.cut_to_zero)}"]
        return Sheet(
            "VarianceComponents",
            self._line(),
            (
                *(cut if self.cut_to_zero else ()),
                "plan(prices=..., budget=...) returns the numbers with the smallest error",
                Fields(record=self, title="All fields", folded=True),
            ),
        )

    def stderr(
        self, *, n_tasks: int, n_attempts: int = 1, n_judgements: int = 1, n_repeats: int = 1
    ) -> float:
        """
        Return the standard error of the mean of an evaluation.

        Args:
            n_tasks: Tasks (count, at least 1).
            n_attempts: Attempts at each task in a repeat (count, at least 1).
            n_judgements: Judgements of each attempt (count, at least 1).
            n_repeats: Runs of the whole suite (count, at least 1).

        Raises:
            InputError: If a count is out of range.
            TypeError: If a count is not an integer.
        """
        tasks = check_bounded_count("n_tasks", n_tasks, 1)
        attempts = check_bounded_count("n_attempts", n_attempts, 1)
        judgements = check_bounded_count("n_judgements", n_judgements, 1)
        repeats = check_bounded_count("n_repeats", n_repeats, 1)
        within = self.between_attempts + (self.between_judgements or 0.0) / judgements
        within = (self.task_by_repeat or 0.0) + within / attempts
        of_tasks = (self.between_tasks + within / repeats) / tasks
        return math.sqrt(of_tasks + (self.between_repeats or 0.0) / repeats)

    def plan(self, *, prices: Mapping[str, float], budget: float) -> EvaluationPlan:
        """
        Return the numbers of tasks, attempts and judgements with the smallest standard error.

        For *n* tasks with *k* attempts each and *j* judgements of each attempt, the variance of
        the mean is ``(w^2 + (s^2 + u^2 / j) / k) / n``, and the price
        ``n (task + k (attempt + j judgement))``. Here *w^2*, *s^2* and *u^2* are the variances
        between tasks, attempts and judgements. All plans that the budget allows are searched, so
        the result is the best in whole numbers, and the cheapest of equally good ones.

        If the pilot had several repeats, their number *r*, up to 100, is planned too. Each repeat
        has *k* attempts at each task. The variance is then
        ``(w^2 + (v^2 + s^2 / k) / r) / n + b^2 / r``, where *b^2* is the variance of whole repeats
        and *v^2* that of a task from repeat to repeat, and the price
        ``n task + r (repeat + n k attempt)``.

        Args:
            prices: What one of each costs, in any unit: ``{"task": 2, "attempt": 0.1}``, and
                ``"judgement"`` where there are judgements, ``"repeat"`` where there are several.
                That of a task, such as writing it, and of a repeat may be 0, others not.
            budget: What may be spent, in the same unit.

        Returns:
            A frozen `EvaluationPlan`.

        Raises:
            InputError: If a price is missing, unknown or out of range, or the budget pays for less
                than one task, or for more than 10**9 attempts or judgements. Also if there is
                no variance between tasks, because a single task would then seem enough.
            TypeError: If *prices* is no mapping, or a price is not a number.

        Examples:
            >>> pilot = {"sort": [1, 1, 1], "parse": [0, 1, 0], "merge": [1, 1, 0], "join": [0, 0]}
            >>> parts = variance_components(pilot)
            >>> plan = parts.plan(prices={"task": 2, "attempt": 0.5}, budget=300)
            >>> plan.n_tasks, plan.n_attempts, round(plan.stderr, 4)
            (85, 3, 0.0439)
            >>> again = {"sort": [1, 1, 0], "parse": [0, 0, 0], "merge": [1, 1, 1], "join": [1, 0]}
            >>> two = variance_components([pilot, again])
            >>> prices = {"task": 2, "attempt": 0.5, "repeat": 5}
            >>> print(two.plan(prices=prices, budget=300))
            81 tasks with 1 attempt each, in 3 repeats: standard error 0.0434 (95 % interval about 0.17 wide), price 298.5
            >>> parts.plan(prices={"task": 2, "attempt": 0.5}, budget=2)
            Traceback (most recent call last):
            ...
            scorekit.errors.InputError: budget must be at least 2.5, the price of one task, got 2

        References:
            Miller, "Adding Error Bars to Evals", arXiv:2411.00640, sections 3 and 5.
            Cochran, "Sampling Techniques", 3rd ed., section 10.6, for the same without whole
            numbers.
        """  # noqa: E501 - a result is one line
        from scorekit._stats.components import best_design

        if not self.between_tasks > 0.0:
            other = "take a pilot in which tasks differ, or required_tasks(effect=...)"
            domain = f"above 0 (without it a single task would seem enough: {other})"
            refuse("the variance between tasks of the pilot", domain, self.between_tasks)
        judged = self.between_judgements is not None
        repeated = self.between_repeats is not None
        task, attempt, judgement, repeat = _prices(prices, judged=judged, repeated=repeated)
        limit = check_number("budget", budget)
        least = task + attempt + judgement + repeat
        if limit < least:
            refuse("budget", f"at least {least:g}, the price of one task", budget)
        most = limit / (judgement or attempt)
        if most > MOST_JUDGEMENTS:
            refuse("budget", f"at most {MOST_JUDGEMENTS * (judgement or attempt):g}", budget)
        inner = self.between_attempts, self.between_judgements or 0.0
        plans: list[EvaluationPlan] = []
        for r in range(1, (MOST_REPEATS if repeated else 1) + 1):
            left = limit - r * repeat
            if left < task + r * (attempt + judgement):
                break
            variances = (
                self.between_tasks + (self.task_by_repeat or 0.0) / r,
                inner[0] / r,
                inner[1] / r,
            )
            own = task, r * attempt, r * judgement
            n, a, j = best_design(variances, own, left, most=left / (r * (judgement or attempt)))
            plans.append(
                EvaluationPlan(
                    stderr=self.stderr(n_tasks=n, n_attempts=a, n_judgements=j, n_repeats=r),
                    n_tasks=n,
                    n_attempts=a,
                    n_judgements=j if judged else None,
                    price=min(limit, n * task + r * (repeat + n * a * (attempt + j * judgement))),
                    n_repeats=r if repeated else None,
                )
            )
        return min(plans, key=lambda plan: (round(plan.stderr, 12), plan.price))


def variance_components(scores: Report | Mapping[Any, Any] | object) -> VarianceComponents:
    """
    Split the variance of a pilot's scores into repeats, tasks, attempts and judgements.

    A score is the overall mean, plus what its task, its attempt and its judgement add, each with
    its own variance. The estimates are those of an analysis of variance, which are unbiased for
    any numbers of attempts. A negative estimate is set to 0, and *cut_to_zero* names it.

    With several runs of the whole suite, as a list, a score also has what the repeat adds to all
    tasks, and what it adds to this one. Attempts of one run that resemble each other, or a run
    that drifts, then show as variances of their own, which more attempts do not reduce.

    A constant bias of the judge is not part of the variance, and more tasks do not remove it.

    Args:
        scores: A `CodeReport` of one model, of which each attempt counts 1 or 0, as in pass@1. Or
            a mapping from task to the scores of its attempts, ``{"t1": [1, 0], "t2": [1]}``; where
            each attempt was judged several times, to a sequence of scores for each attempt.
            Or a list of several of these, repeats of the same tasks without judgements.
            Scores are finite numbers up to 1e100 in size, booleans count 0 and 1.

    Returns:
        A frozen `VarianceComponents`; its ``plan()`` spends a budget. Read *between_tasks*,
        *between_attempts* and *cut_to_zero* first.

    Raises:
        InputError: If there are fewer than two tasks, no task has two attempts (in one repeat), no
            attempt has two judgements where they are nested, or repeats have judgements or
            different tasks. Also if a number is out of range, or a report has several models.
        TypeError: If *scores* is none of these, or a score is not a number.

    Examples:
        >>> pilot = {"sort": [1, 1, 1], "parse": [0, 1, 0], "merge": [1, 1, 0], "join": [0, 0]}
        >>> parts = variance_components(pilot)
        >>> round(parts.between_tasks, 3), round(parts.between_attempts, 3)
        (0.101, 0.19)
        >>> round(parts.stderr(n_tasks=100, n_attempts=2), 3)
        0.044
        >>> variance_components({"sort": [1, 0]})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: scores must be of at least 2 tasks, got 1

    References:
        Searle, Casella and McCulloch, "Variance Components", Wiley, 1992.
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640, for what they are good for.
    """
    from scorekit._stats.components import mean_of_means, nested_variances

    if is_ordered(scores) and not hasattr(scores, "columns"):
        return _of_repeats(check_items("scores", scores, what="runs"))
    rows, judged = _rows_of(scores)
    _, tasks = numbered([task for task, _, _ in rows])
    _, attempts = numbered([row[:2] for row in rows])
    values = np.array([score for _, _, score in rows])
    n_tasks, n_attempts = int(tasks.max()) + 1, int(attempts.max()) + 1
    if n_tasks == 1:
        refuse("scores", "of at least 2 tasks", n_tasks)
    if n_attempts == n_tasks:
        refuse("scores", "of at least one task with 2 attempts", scores)
    if judged and values.size == n_attempts:
        refuse("scores", "of at least one attempt with 2 judgements", scores)
    found = nested_variances(values, [tasks, attempts] if judged else [tasks])
    names = ("between_tasks", "between_attempts", "between_judgements")[: len(found)]
    parts = dict(zip(names, (max(0.0, variance) for variance in found), strict=True))
    return VarianceComponents(
        mean=mean_of_means(values, tasks, attempts),
        between_tasks=parts["between_tasks"],
        between_attempts=parts["between_attempts"],
        between_judgements=parts.get("between_judgements"),
        cut_to_zero=tuple(n for n, variance in zip(names, found, strict=True) if variance < 0.0),
        n_tasks=n_tasks,
        n_attempts=n_attempts,
        n_judgements=values.size if judged else None,
    )


def _of_repeats(runs: tuple[Any, ...]) -> VarianceComponents:
    """Split the variance of runs of the same tasks, by the means of tasks in runs."""
    from scorekit._stats.components import crossed_variances

    if len(runs) == 1:
        return variance_components(runs[0])
    found: list[tuple[object, int, float]] = []
    for repeat, run in enumerate(runs):
        rows, judged = _rows_of(run)
        if judged:
            refuse(f"scores[{repeat}]", "without judgements, as one of several repeats", run)
        found += ((task, repeat, score) for task, _, score in rows)
    _, tasks = numbered([task for task, _, _ in found])
    repeats = np.array([repeat for _, repeat, _ in found])
    n_tasks = int(tasks.max()) + 1
    if n_tasks == 1:
        refuse("scores", "of at least 2 tasks", n_tasks)
    sizes = np.zeros((len(runs), n_tasks))
    np.add.at(sizes, (repeats, tasks), 1.0)
    if not sizes.all():
        short = int(np.flatnonzero(~sizes.all(axis=1))[0])
        refuse("scores", "of runs of the same tasks", runs[short])
    values = np.array([score for _, _, score in found])
    mean, variances = crossed_variances(values, tasks, repeats, sizes)
    names = ("between_repeats", "between_tasks", "task_by_repeat", "between_attempts")
    parts = dict(zip(names, (max(0.0, variance) for variance in variances), strict=True))
    return VarianceComponents(
        mean=mean,
        between_judgements=None,
        cut_to_zero=tuple(n for n, v in zip(names, variances, strict=True) if v < 0.0),
        n_tasks=n_tasks,
        n_attempts=values.size,
        n_judgements=None,
        n_repeats=len(runs),
        **parts,
    )


_ScoredAttempt = tuple[Any, object, float]
"""Task, attempt and score."""


def _passes(report: Report) -> Mapping[Any, Any]:
    """Return the attempts of a report as right or wrong."""
    found = report.scores_by_case()
    suites = {} if found is None else found.suites
    models = {model: cases for (metric, model), cases in suites.items() if metric == "pass@1"}
    if not models:
        _refuse_kind(report)
    if len(models) > 1:
        refuse("scores", "a report of one model, such as report.for_model(name)", list(models))
    return next(iter(models.values()))


def _refuse_kind(scores: object) -> NoReturn:
    domain = "a CodeReport, or a mapping from task to attempts"
    if hasattr(scores, "columns"):
        domain += " (of a table: dict(table.groupby('task')['score'].apply(list)))"
    refuse("scores", domain, scores, TypeError)


def _inner(name: str, values: object) -> tuple[Any, ...]:
    inner = list(values.values()) if is_mapping(values) else as_builtins(values)
    return check_items(name, inner, what="scores")


def _rows_of(scores: object) -> tuple[list[_ScoredAttempt], bool]:
    """Return a row for each score, and whether attempts were judged several times."""
    tasks = _passes(scores) if isinstance(scores, Report) else scores
    if not is_mapping(tasks):
        _refuse_kind(scores)
    if not tasks:
        refuse("scores", "of at least 2 tasks", 0)
    name_of = {task: f"scores[{shown(task)}]" for task in tasks}
    inner = {task: _inner(name_of[task], attempts) for task, attempts in tasks.items()}
    nested = [is_ordered(one) or is_mapping(one) for own in inner.values() for one in own]
    judged = any(nested)
    if judged and not all(nested):
        refuse("scores", "nested alike for all attempts: a score each, or several", tasks)
    rows: list[_ScoredAttempt] = []
    for task, attempts in inner.items():
        for i, attempt in enumerate(attempts):
            name = f"{name_of[task]}[{i}]"
            for j, score in enumerate(_inner(name, attempt) if judged else (attempt,)):
                where = f"{name}[{j}]" if judged else name
                rows.append((task, i, check_score(where, score, *SCORES)))
    return rows, judged


def _prices(prices: object, *, judged: bool, repeated: bool) -> tuple[float, float, float, float]:
    if not is_mapping(prices):
        refuse("prices", "a mapping from 'task' and 'attempt' to a price", prices, TypeError)
    wanted = ["task", "attempt", *["judgement"] * judged, *["repeat"] * repeated]
    if set(prices) != set(wanted):
        refuse("prices", f"a mapping with the keys {', '.join(map(repr, wanted))}", list(prices))
    found: dict[str, float] = {"task": 0.0, "attempt": 0.0, "judgement": 0.0, "repeat": 0.0}
    for name in wanted:
        found[name] = check_number(f"prices[{name!r}]", prices[name], 0.0)
        if not found[name] and name in ("attempt", "judgement"):
            refuse(f"prices[{name!r}]", "a finite number > 0", prices[name])
    return found["task"], found["attempt"], found["judgement"], found["repeat"]
