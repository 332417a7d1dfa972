"""Plan an evaluation: how many tasks an effect takes, and what to spend a budget on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, NoReturn, TypedDict, Unpack, overload

import attrs

from scorekit._core.checks import (
    MAX_COUNT,
    check_bounded_count,
    check_flag,
    check_items,
    check_number,
    check_score,
    is_ordered,
)
from scorekit._core.columns import as_builtins
from scorekit.errors import refuse, shown
from scorekit.intervals import normal_quantile
from scorekit.records import Record, Report, is_mapping

TASK_VARIANCE = 1 / 9
"""
Variance over tasks of the true change, as in Miller's example.

So vary success rates spread evenly over [0, 1] that correlate by 1/3 between the two sides.
"""

SAMPLING_VARIANCE = 1 / 6
"""Variance of one attempt at a task, mean over tasks; again for rates spread evenly."""


ONE_OF = 1000
"""Share of the tasks to which their number is found where it rests on an approximation."""

SCORES = -1e100, 1e100
"""Scores whose variance is finite."""

MOST_TASKS_ANYTIME = 10**9
"""Tasks up to which a run with repeated checks is planned."""


@attrs.frozen(kw_only=True)
class AnytimeTasks(Record):
    """Result of ``required_tasks`` with *anytime*: what such looks cost, and what they save."""

    at_most: int
    """Tasks that the run must have to find the effect with the requested power."""
    expected: float
    """Mean number of tasks after which the run stops, if there is such an effect."""
    fixed: int
    """Tasks of a run that is checked once, at the end, with the same power."""


class _Options(TypedDict, total=False):
    """What both forms of `required_tasks` take, for signatures."""

    task_variance: float | None
    sampling_variance: float | tuple[float, float] | None
    attempts: int | tuple[int, int]
    discordant: float | None
    confidence_level: float
    power: float


@overload
def required_tasks(
    *, effect: float, anytime: Literal[False] = ..., **options: Unpack[_Options]
) -> int: ...


@overload
def required_tasks(
    *, effect: float, anytime: Literal[True], **options: Unpack[_Options]
) -> AnytimeTasks: ...


def required_tasks(
    *,
    effect: float,
    task_variance: float | None = None,
    sampling_variance: float | tuple[float, float] | None = None,
    attempts: int | tuple[int, int] = 1,
    discordant: float | None = None,
    confidence_level: float = 0.95,
    power: float = 0.8,
    anytime: bool = False,
) -> int | AnytimeTasks:
    """
    Return how many tasks it takes to detect a mean change of *effect* between two runs.

    The result is ``n = (z_a + z_b)^2 (w^2 + s_1^2 / k_1 + s_2^2 / k_2) / effect^2``, rounded up,
    for two runs over the same tasks and a two-sided test. Here *w^2* is *task_variance*, *s^2* is
    *sampling_variance* and *k* is *attempts* of either run; *z_a* and *z_b* are the normal
    quantiles of *confidence_level* and *power*. More attempts reduce only the sampling part, and
    cannot replace tasks.

    Args:
        effect: Mean change of the score that should be detected, in (0, 1].
        task_variance: Variance over tasks of the true change, in [0, 1]. Do not pass the variance
            of the scores. The default, 1/9, is Miller's example: evenly spread success rates with
            a correlation of 1/3.
        sampling_variance: Variance of one attempt at a task, mean over tasks, in [0, 1/4]; for
            successes the mean of ``p (1 - p)``. One number for the baseline, or one for each run.
            The default, 1/6 for both, fits evenly spread rates; 0 means infinitely many attempts
            and needs a positive *task_variance*.
        attempts: Attempts at each task (count, at least 1), for both runs or for each.
        discordant: Share of the tasks that change side between the two runs, falls and rises
            together, at least *effect* and at most 1. It replaces both variances, for a single
            attempt at each task. A pilot comparison has it as ``suite.n_changed / suite.n_cases``;
            two runs of the same system show how much of it is chance.
        confidence_level: One less the false-alarm rate, in (0, 1).
        power: Chance to detect a change of *effect*, at least 1/2 and below 1.
        anytime: Whether for `compare_reports` with *anytime*.

    Returns:
        The number of tasks, at least 2; with *anytime* a frozen ``AnytimeTasks``.

    Raises:
        InputError: If a number is out of range, nothing varies, more than 2**53 tasks would be
            needed (with *anytime* 10**9), or *discordant* is given beside a variance or several
            attempts.
        TypeError: If an argument is not a number, or not a pair where two are given.

    Notes:
        If nearly everything passes or fails, the effect itself changes the variance. A single
        *sampling_variance* is therefore that of the baseline, ``s_1^2 = r (1 - r)`` with the rate
        *r* up to 1/2. That of the current run is ``(r + effect) (1 - r - effect)`` if this is
        more.

        If each task is tried once and passes or fails, pass *discordant* instead: the share of
        tasks that change side, including those changed by the effect. The result is then Connor's
        for McNemar's test, ``n = (z_a sqrt(share) + z_b sqrt(share - effect^2))^2 / effect^2``,
        rounded up.

        With *anytime* the result is for `compare_reports` with *anytime*, where you check a
        growing run and stop as soon as it is decided. Plan for more tasks than with one check at
        the end. On average fewer may be needed, if *power* is high or the effect is larger than
        planned. The change is modeled as a random walk with normal steps, over a hundred checks.

    Examples:
        >>> required_tasks(effect=0.05)
        1396
        >>> required_tasks(effect=0.05, attempts=5)
        559
        >>> required_tasks(effect=0.05, task_variance=0, sampling_variance=0.95 * 0.05)
        432
        >>> required_tasks(effect=0.05, discordant=0.15)  # 10 % fall and 5 % rise
        469
        >>> tasks = required_tasks(effect=0.05, discordant=0.15, power=0.9, anytime=True)
        >>> tasks.at_most, round(tasks.expected), tasks.fixed
        (1104, 538, 627)
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
    if not check_flag("anytime", anytime):
        return n
    level = check_number("confidence_level", confidence_level)
    return _anytime_tasks(n, size, design.square(size), level, check_number("power", power))


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
    Return the smallest mean change between two runs over *n_tasks* that can be detected.

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
        InputError: If a number is out of range, nothing varies, or *discordant* is given beside a
            variance or several attempts.
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

    def square(self, effect: float) -> float:
        """Return the mean square of a task's change, of which *effect* is the mean."""
        variance = self._changed(effect)
        return variance if self.is_binary else variance + effect * effect

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
    if not variance:  # a pilot in which nothing varied says too little to plan with
        positive = "positive where sampling_variance is 0: without variance nothing can be planned"
        refuse("task_variance", positive, between)
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


def _anytime_tasks(
    fixed: int, effect: float, square: float, confidence_level: float, power: float
) -> AnytimeTasks:
    from scorekit._stats.betting import course

    low, high = 1, fixed
    while course(high, effect, square, confidence_level).power < power:
        low, high = high, 2 * high
        if high > MOST_TASKS_ANYTIME:
            refuse("effect", "large enough to be seen with 10**9 tasks", effect)
    while high - low > max(1, high // ONE_OF):
        middle = (low + high) // 2
        enough = course(middle, effect, square, confidence_level).power >= power
        low, high = (low, middle) if enough else (middle, high)
    expected = high * course(high, effect, square, confidence_level).share
    return AnytimeTasks(at_most=high, expected=expected, fixed=fixed)


@attrs.frozen(kw_only=True)
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
        each = "" if self.n_judgements is None else f" x {self.n_judgements} judgements"
        if self.n_repeats is not None:
            each += f" x {self.n_repeats} repeats"
        return (
            f"{self.n_tasks} tasks x {self.n_attempts} attempts{each}: "
            f"standard error {self.stderr:.4g} for {self.price:.6g}"
        )


MOST_JUDGEMENTS = 1e9
"""Attempts, or judgements, that a budget may pay for: beyond it the search takes too long."""


MOST_REPEATS = 100
"""Repeats that a plan has at most."""


@attrs.frozen(kw_only=True)
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
            81 tasks x 1 attempts x 3 repeats: standard error 0.0434 for 298.5
            >>> parts.plan(prices={"task": 2, "attempt": 0.5}, budget=2)
            Traceback (most recent call last):
            ...
            scorekit.errors.InputError: budget must be at least 2.5, the price of one task, got 2

        References:
            Miller, "Adding Error Bars to Evals", arXiv:2411.00640, sections 3 and 5.
            Cochran, "Sampling Techniques", 3rd ed., section 10.6, for the same without whole
            numbers.
        """
        from scorekit._stats.components import best_design

        if not self.between_tasks > 0.0:
            refuse(
                "between_tasks",
                "positive: otherwise a single task would seem enough",
                self.between_tasks,
            )
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
        A frozen `VarianceComponents`; its ``plan()`` spends a budget.

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
    import numpy as np

    from scorekit._stats.components import mean_of_means, nested_variances, numbered

    if is_ordered(scores) and not hasattr(scores, "columns"):
        return _of_repeats(check_items("scores", scores, what="runs"))
    rows, judged = _rows_of(scores)
    tasks = numbered([task for task, _, _ in rows])
    attempts = numbered([row[:2] for row in rows])
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
    import numpy as np

    from scorekit._stats.components import crossed_variances, numbered

    if len(runs) == 1:
        return variance_components(runs[0])
    found: list[tuple[object, int, float]] = []
    for repeat, run in enumerate(runs):
        rows, judged = _rows_of(run)
        if judged:
            refuse(f"scores[{repeat}]", "without judgements, as one of several repeats", run)
        found += ((task, repeat, score) for task, _, score in rows)
    tasks = numbered([task for task, _, _ in found])
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


_Row = tuple[Any, object, float]
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


def _rows_of(scores: object) -> tuple[list[_Row], bool]:
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
    rows: list[_Row] = []
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
