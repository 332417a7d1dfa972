"""Plan an evaluation: `required_tasks` and `minimum_detectable_effect`."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

from scorekit._core.checks import MAX_COUNT, check_bounded_count, check_number, is_ordered
from scorekit.errors import refuse
from scorekit.intervals import normal_quantile

TASK_VARIANCE = 1 / 9
"""
Variance over tasks of the true change, as in Miller's example.

So vary success rates spread evenly over [0, 1] that correlate by 1/3 between the two sides.
"""

SAMPLING_VARIANCE = 1 / 6
"""Variance of one attempt at a task, mean over tasks; again for rates spread evenly."""


def required_tasks(
    *,
    effect: float,
    task_variance: float | None = None,
    sampling_variance: float | tuple[float, float] | None = None,
    attempts: int | tuple[int, int] = 1,
    discordant: float | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> int:
    """
    Say how many tasks it takes to detect a mean change of *effect* between two runs.

    ``n = (z_a + z_b)^2 (w^2 + s_1^2 / k_1 + s_2^2 / k_2) / effect^2``, rounded up, for two runs
    over the same tasks and a two-sided test: *w^2* is *task_variance*, *s^2* *sampling_variance*
    and *k* *attempts* of either run, *z_a* and *z_b* the normal quantiles of *confidence_level*
    and *power*.  More attempts shrink the sampling part only: no number of them makes up for
    few tasks.

    An effect adds noise of its own where nearly everything passes or fails.  A single
    *sampling_variance* is therefore that of the baseline, ``s_1^2 = r (1 - r)`` with the rate *r*
    up to 1/2; that of the current run is ``(r + effect) (1 - r - effect)`` where this is more.

    Where each task is tried once and passes or fails, the share of tasks that change side says
    all that the variances say.  With that share as *discordant*, that of the effect included, the
    number is Connor's for McNemar's test,
    ``n = (z_a sqrt(share) + z_b sqrt(share - effect^2))^2 / effect^2``, rounded up.

    Args:
        effect: Mean change of the score that should be detected, in (0, 1].
        task_variance: Variance over tasks of the true change, in [0, 1].  The default, 1/9, is
            Miller's example, success rates spread evenly that correlate by 1/3.
        sampling_variance: Variance of one attempt at a task, mean over tasks, in [0, 1/4]: for
            successes the mean of ``p (1 - p)``; one number for the baseline, or one for the
            baseline and one for the current run.  The default, 1/6 for both, fits rates spread
            evenly; 0 leaves sampling out, as if there were attempts without end.
        attempts: Attempts at each task (count, at least 1), for both runs or for each.
        discordant: Share of the tasks that change side between the two runs, falls and rises
            together, at least *effect* and at most 1; instead of both variances, for a single
            attempt at each task.  Two runs of a pilot in which nothing changed show what chance
            adds to the effect.
        confidence_level: One less the false-alarm rate, in (0, 1).
        power: Chance to detect a change of *effect*, at least 1/2 and below 1.

    Returns:
        The number of tasks, at least 2.

    Raises:
        InputError: If a number is out of range, more than 2**53 tasks would be needed, or
            *discordant* is given beside a variance or several attempts.
        TypeError: If an argument is not a number, or not a pair where two are given.

    Examples:
        >>> required_tasks(effect=0.05)
        1396
        >>> required_tasks(effect=0.05, attempts=5)
        559
        >>> required_tasks(effect=0.05, task_variance=0, sampling_variance=0.95 * 0.05)
        432
        >>> required_tasks(effect=0.05, discordant=0.15)  # 10 % fall and 5 % rise
        469
        >>> required_tasks(effect=0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: effect must be a number in (0, 1], got 0

    References:
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640.
        Connor, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design",
        Biometrics 43(1), 1987, for *discordant*.
    """
    size = check_number("effect", effect)
    if not 0.0 < size <= 1.0:
        refuse("effect", "a number in (0, 1]", effect)
    quantiles = _quantiles(confidence_level, power)
    design = _design(task_variance, sampling_variance, attempts, discordant, quantiles)
    if discordant is not None and size > design.variance:
        refuse("discordant", f"a number >= effect = {size}", discordant)
    needed = design.root_of_tasks(size)
    if needed > math.sqrt(MAX_COUNT):
        refuse("effect", "large enough to be seen with 2**53 tasks", effect)
    n = max(2, math.ceil(needed * needed) - 1)
    while design.effect(n) > size:  # as rounded, so that the two are inverse
        n += 1
    return n


def minimum_detectable_effect(
    *,
    n_tasks: int,
    task_variance: float | None = None,
    sampling_variance: float | tuple[float, float] | None = None,
    attempts: int | tuple[int, int] = 1,
    discordant: float | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
) -> float:
    """
    Say how small a mean change between two runs over *n_tasks* can be and still be detected.

    The formula of `required_tasks` solved for the effect, ``(z_a + z_b) sqrt((w^2 + s_1^2 / k_1 +
    s_2^2 / k_2) / n)``, or the other one with *discordant*.

    Args:
        n_tasks: Tasks that both runs have (count, at least 2).
        task_variance: As in `required_tasks`.
        sampling_variance: As in `required_tasks`.
        attempts: As in `required_tasks`.
        discordant: As in `required_tasks`, in (0, 1].
        confidence_level: As in `required_tasks`.
        power: As in `required_tasks`.

    Returns:
        The effect on the scale of the scores; above 1, or above *discordant*, no change has that
        power.

    Raises:
        InputError: If a number is out of range, or *discordant* is given beside a variance or
            several attempts.
        TypeError: If an argument is not a number, or not a pair where two are given.

    Examples:
        >>> round(minimum_detectable_effect(n_tasks=164), 3)
        0.146
        >>> round(minimum_detectable_effect(n_tasks=164, attempts=10), 3)
        0.083
        >>> round(minimum_detectable_effect(n_tasks=164, discordant=0.15), 3)
        0.084
        >>> minimum_detectable_effect(n_tasks=1)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_tasks must be an integer >= 2, got 1
    """
    n = check_bounded_count("n_tasks", n_tasks, 2)
    quantiles = _quantiles(confidence_level, power)
    design = _design(task_variance, sampling_variance, attempts, discordant, quantiles)
    return design.effect(n)


class _Design(NamedTuple):
    """The variance of one task's change, and the normal quantiles of the test."""

    variance: float
    """Of the change as observed; where *is_binary*, as if there were none on average."""
    z_level: float
    z_power: float
    is_binary: bool = False
    """Whether scores are 0 or 1, so that the mean change takes its square from the variance."""
    saturation: float = 0.0
    """Twice how far the baseline's rate lies from 1/2; 0 where an effect adds no variance."""
    attempts: int = 1
    """Those of the current run, among which the effect's own variance is shared."""

    def _changed(self, effect: float) -> float:
        """Return the variance after such an effect, which lets more attempts differ."""
        return self.variance + max(0.0, effect * (self.saturation - effect)) / self.attempts

    def root_of_tasks(self, effect: float) -> float:
        """Return the square root of the tasks that *effect* takes."""
        variance = self._changed(effect)
        seen = variance - self.is_binary * effect * effect
        root = self.z_level * math.sqrt(variance) + self.z_power * math.sqrt(seen)
        return root / effect

    def effect(self, n: int) -> float:
        """Return the effect that takes *n* tasks."""
        scale = math.sqrt(self.variance / n)
        if not self.is_binary:
            square = (self.z_level + self.z_power) ** 2 / n
            part = square / self.attempts
            # the root of effect^2 = square * self._changed(effect)
            linear = part * self.saturation
            root = math.sqrt(linear * linear + 4.0 * (1.0 + part) * square * self.variance)
            effect = (linear + root) / (2.0 * (1.0 + part))
            return effect if effect < self.saturation else math.sqrt(square * self.variance)
        level, power = self.z_level**2 / n, self.z_power**2 / n
        if level > 1.0:  # more than all of the variance: no change that is possible is seen
            return self.z_level * scale
        root = self.z_level + self.z_power * math.sqrt(1.0 + power - level)
        return root * scale / (1.0 + power)


def _design(
    task_variance: object,
    sampling_variance: object,
    attempts: object,
    discordant: object,
    quantiles: tuple[float, float],
) -> _Design:
    if discordant is not None:
        variance = check_number("discordant", discordant)
        if not 0.0 < variance <= 1.0:
            refuse("discordant", "a number in (0, 1]", discordant)
        given = {"task_variance": task_variance, "sampling_variance": sampling_variance}
        for name, value in given.items():
            if value is not None:
                refuse(name, "left out where discordant is given", value)
        for name, value in _sides("attempts", attempts):
            if check_bounded_count(name, value, 1) > 1:
                refuse(name, "1 where discordant is given", value)
        return _Design(variance, *quantiles, is_binary=True)
    between = TASK_VARIANCE if task_variance is None else task_variance
    between = check_number("task_variance", between, 0.0, 1.0)
    both = SAMPLING_VARIANCE if sampling_variance is None else sampling_variance
    first, second = (
        check_number(name, one, 0.0, 0.25) for name, one in _sides("sampling_variance", both)
    )
    counts = [check_bounded_count(name, n, 1) for name, n in _sides("attempts", attempts)]
    variance = between + first / counts[0] + second / counts[1]
    if not first or sampling_variance is None or is_ordered(sampling_variance):
        return _Design(variance, *quantiles)
    return _Design(
        variance, *quantiles, saturation=math.sqrt(1.0 - 4.0 * first), attempts=counts[1]
    )


def _sides(name: str, value: object) -> list[tuple[str, object]]:
    """Return a value for the baseline and one for the current run, with their names."""
    if not is_ordered(value):
        return [(name, value)] * 2
    sides = [(f"{name}[{i}]", one) for i, one in enumerate(value)]
    if len(sides) != 2:  # noqa: PLR2004 - baseline and current
        refuse(name, "one number, or one for the baseline and one for the current run", value)
    return sides


def _quantiles(confidence_level: object, power: object) -> tuple[float, float]:
    first = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    second = check_number("power", power)
    if not 0.5 <= second < 1.0:  # noqa: PLR2004 - below a half it would take a negative quantile
        refuse("power", "a number in [0.5, 1)", power)
    return normal_quantile(first), NormalDist().inv_cdf(second)
