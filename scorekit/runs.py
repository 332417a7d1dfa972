"""Score repeated agent runs: alone, by tier, and across tiers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import pvariance

import attrs
import numpy as np

from scorekit._checks import (
    check_choice,
    check_count,
    check_flag,
    check_instance,
    check_number,
    check_records,
    check_text,
    store,
)
from scorekit._cost_of_pass import cost_interval
from scorekit._costs import as_decimal, per_pass
from scorekit._records import FrozenMapping, Record
from scorekit.errors import one_line, refuse, shown
from scorekit.intervals import Interval
from scorekit.summary import LetterGrade, Statistics, describe, letter_grade


@attrs.frozen(kw_only=True)
class Run(Record):
    """
    One run of an agent: whether it passed, how well it did, what it took.

    Raises:
        InputError: If *run_id* is empty, *impl_rate* lies outside [0, 1], or the cost or the
            duration is negative or not finite.
        TypeError: If a field has the wrong type.

    Examples:
        >>> run = Run(
        ...     run_id="T1/01/1", passed=True, impl_rate=0.85, cost_usd=0.5, duration_seconds=71.4
        ... )
        >>> score_run(run).composite_score
        0.925
        >>> Run(run_id="T1/01/1", passed=True, impl_rate=1.5, cost_usd=0.5, duration_seconds=9)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: impl_rate of run 'T1/01/1' must be a number in [0, 1], got 1.5

    .. versionadded:: 0.1.0
    """

    run_id: str
    """What tells the run from all others of its tier."""
    passed: bool
    impl_rate: float
    """The judge's weighted score in ``[0, 1]``."""
    cost_usd: float
    duration_seconds: float

    def __attrs_post_init__(self) -> None:
        """Check every field and store it as the builtin it is annotated with."""
        check_text("run_id", self.run_id)
        whose = f" of run {shown(self.run_id)}"
        store(self, "passed", check_flag(f"passed{whose}", self.passed))
        for name in ("impl_rate", "cost_usd", "duration_seconds"):
            high = 1.0 if name == "impl_rate" else math.inf
            store(self, name, check_number(f"{name}{whose}", getattr(self, name), 0.0, high))


@attrs.frozen(kw_only=True)
class RunScore(Record):
    """Result of `score_run`."""

    run_id: str
    pass_rate: float
    """1.0 if the run passed, else 0.0."""
    impl_rate: float
    """The judge's weighted score in ``[0, 1]``."""
    cost_usd: float
    duration_seconds: float
    cost_of_pass: float
    """What the pass cost in USD, ``inf`` for a run that did not pass."""
    composite_score: float
    """Weighted mean of *pass_rate* and *impl_rate*, in ``[0, 1]``; higher is better."""
    grade: LetterGrade
    """Grade of the composite score."""


def score_run(run: Run, *, pass_weight: float = 0.5, impl_weight: float = 0.5) -> RunScore:
    """
    Score one run: composite score, its grade, and the cost of the pass.

    Args:
        run: The run.
        pass_weight: Weight of passing (>= 0); only the proportion to *impl_weight* matters.
        impl_weight: Weight of *impl_rate* (>= 0).

    Returns:
        A frozen `RunScore`.

    Raises:
        InputError: If a weight is negative or not finite, or both are 0.
        TypeError: If *run* is not a `Run` or a weight is not a number.

    Examples:
        >>> run = Run(
        ...     run_id="T1/01/1", passed=True, impl_rate=0.85, cost_usd=0.5, duration_seconds=71.4
        ... )
        >>> result = score_run(run)
        >>> result.composite_score, result.cost_of_pass, str(result.grade)
        (0.925, 0.5, 'B')
        >>> score_run(run, pass_weight=-1)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: pass_weight must be a finite number >= 0, got -1

    .. versionadded:: 0.1.0
    """
    check_instance("run", run, Run)
    pass_rate = float(run.passed)
    composite = _weigh(pass_rate, run.impl_rate, _pass_share(pass_weight, impl_weight))
    return RunScore(
        run_id=run.run_id,
        pass_rate=pass_rate,
        impl_rate=run.impl_rate,
        cost_usd=run.cost_usd,
        duration_seconds=run.duration_seconds,
        cost_of_pass=per_pass([run.cost_usd], pass_rate),
        composite_score=composite,
        grade=letter_grade(composite),
    )


def composite_score(
    *, pass_rate: float, impl_rate: float, pass_weight: float = 0.5, impl_weight: float = 0.5
) -> float:
    """
    Blend how often something passes with how well it is done.

    ``(pass_weight * pass_rate + impl_weight * impl_rate) / (pass_weight + impl_weight)`` of the
    numbers as they are written in decimal, rounded once, so that weights 3 and 7 give exactly
    what 0.3 and 0.7 give.

    Args:
        pass_rate: Share of passes in [0, 1].
        impl_rate: The judge's weighted score in [0, 1].
        pass_weight: Weight of *pass_rate* (>= 0); only the proportion to *impl_weight* matters.
        impl_weight: Weight of *impl_rate* (>= 0).

    Returns:
        The weighted mean in [0, 1], never outside the two rates.

    Raises:
        InputError: If a rate lies outside [0, 1], a weight is negative or not finite, or both
            weights are 0.
        TypeError: If an argument is not a number.

    Examples:
        >>> composite_score(pass_rate=1.0, impl_rate=0.85)
        0.925
        >>> composite_score(pass_rate=80, impl_rate=0.85)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: pass_rate must be a number in [0, 1], got 80

    .. versionadded:: 0.1.0
    """
    pass_rate = check_number("pass_rate", pass_rate, 0.0, 1.0)
    impl_rate = check_number("impl_rate", impl_rate, 0.0, 1.0)
    return _weigh(pass_rate, impl_rate, _pass_share(pass_weight, impl_weight))


def _pass_share(pass_weight: object, impl_weight: object) -> Fraction:
    weights = (
        check_number("pass_weight", pass_weight, 0.0),
        check_number("impl_weight", impl_weight, 0.0),
    )
    if not any(weights):
        refuse("pass_weight or impl_weight", "a number > 0", weights)
    first, second = map(as_decimal, weights)
    return first / (first + second)


def _weigh(pass_rate: float, impl_rate: float, pass_share: Fraction) -> float:
    return float(pass_share * as_decimal(pass_rate) + (1 - pass_share) * as_decimal(impl_rate))


@attrs.frozen(kw_only=True)
class TierStatistics(Record):
    """Result of `tier_statistics`."""

    tier_id: str
    n_runs: int
    pass_rate: Statistics
    """Of 1.0 for each run that passed and 0.0 for each that did not."""
    impl_rate: Statistics
    cost_usd: Statistics
    duration_seconds: Statistics
    composite_score: Statistics
    cost_of_pass: float
    """Total cost over number of passes in USD, ``inf`` with none; lower is better."""
    cost_of_pass_interval: Interval | None
    """None with no pass; *high* is ``inf`` where the runs do not bound the cost."""
    grade: LetterGrade
    """Grade of the median composite score."""

    def __attrs_post_init__(self) -> None:
        """Refuse what would mislead a comparison of tiers."""
        check_text("tier_id", self.tier_id)
        check_count("n_runs", self.n_runs, 1)
        if self.cost_of_pass != math.inf:
            check_number("cost_of_pass", self.cost_of_pass, 0.0)

    def __str__(self) -> str:
        """Return the tier on one line, numbers rounded for display."""
        score, passed = self.composite_score.median, 100 * self.pass_rate.mean
        interval = "" if self.cost_of_pass_interval is None else f" {self.cost_of_pass_interval}"
        return (
            f"{one_line(self.tier_id)}: {self.grade} (median score {score:.4g}), "
            f"{passed:.4g} % of {self.n_runs} runs passed, "
            f"a pass costs {self.cost_of_pass:.4g} USD{interval}"
        )


def tier_statistics(
    tier_id: str,
    runs: Iterable[Run],
    *,
    pass_weight: float = 0.5,
    impl_weight: float = 0.5,
    confidence: float = 0.95,
) -> TierStatistics:
    """
    Summarize the repeated runs of one tier.

    Each measure is described over the runs; the grade is that of the *median* composite score, so
    that one odd run does not decide it. A pass costs the total cost over the number of passes,
    with Fieller's interval for a ratio of two means.

    Args:
        tier_id: Name of the tier.
        runs: Its runs in any order, at least one (ten are customary), no *run_id* twice.
        pass_weight: Weight of passing (>= 0); only the proportion to *impl_weight* matters.
        impl_weight: Weight of *impl_rate* (>= 0).
        confidence: Level of the interval in (0, 1).

    Returns:
        A frozen `TierStatistics`.

    Raises:
        InputError: If *tier_id* or *runs* is empty, two runs share a *run_id* (most likely one
            run counted twice), a weight is negative or not finite or both are 0, *confidence*
            lies outside (0, 1), or a pass costs more than a float holds.
        TypeError: If *tier_id* is not a string, *runs* not a sequence of `Run`, or a weight or
            *confidence* not a number.

    Examples:
        >>> runs = [
        ...     Run(run_id=f"{i}", passed=i < 8, impl_rate=0.9, cost_usd=0.5, duration_seconds=60)
        ...     for i in range(10)
        ... ]
        >>> tier = tier_statistics("T1", runs)
        >>> tier.pass_rate.median, tier.pass_rate.mean, tier.cost_of_pass, str(tier.grade)
        (1.0, 0.8, 0.625, 'A')
        >>> tier_statistics("T1", [runs[0], runs[1], runs[0]])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: run_id of runs[2] must be unlike that of runs[0], got '0'

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.

    .. versionadded:: 0.1.0
    """
    check_text("tier_id", tier_id)
    checked = check_records("runs", runs, Run)
    _check_distinct("run_id", "runs", [run.run_id for run in checked])
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    share = _pass_share(pass_weight, impl_weight)
    passes = [float(run.passed) for run in checked]
    costs = [run.cost_usd for run in checked]
    composite = describe([_weigh(float(run.passed), run.impl_rate, share) for run in checked])
    return TierStatistics(
        tier_id=tier_id,
        n_runs=len(checked),
        pass_rate=describe(passes),
        impl_rate=describe([run.impl_rate for run in checked]),
        cost_usd=describe(costs),
        duration_seconds=describe([run.duration_seconds for run in checked]),
        composite_score=composite,
        cost_of_pass=per_pass(costs, sum(passes)),
        cost_of_pass_interval=cost_interval(
            np.array(costs), np.array(passes), np.arange(len(costs)), confidence=confidence
        ),
        grade=letter_grade(composite.median),
    )


def _check_distinct(field: str, name: str, ids: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for i, one in enumerate(ids):
        if first.setdefault(one, i) != i:
            refuse(f"{field} of {name}[{i}]", f"unlike that of {name}[{first[one]}]", one)


def tier_uplift(score: float, *, baseline: float) -> float | None:
    """
    Say by what share a tier's score lies above the baseline's: ``(score - baseline) / baseline``.

    Args:
        score: Median composite score of the tier, in [0, 1].
        baseline: Median composite score of the baseline tier, in [0, 1].

    Returns:
        The uplift as a fraction (0.1 is ten percent more, negative is less; ``inf`` above the
        largest float), or None where the baseline is 0.

    Raises:
        InputError: If a score lies outside [0, 1].
        TypeError: If a score is not a number.

    Examples:
        >>> tier_uplift(0.75, baseline=0.5)
        0.5
        >>> tier_uplift(0.75, baseline=-0.5)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: baseline must be a number in [0, 1], got -0.5

    .. versionadded:: 0.1.0
    """
    score = check_number("score", score, 0.0, 1.0)
    baseline = check_number("baseline", baseline, 0.0, 1.0)
    return (score - baseline) / baseline if baseline else None


@attrs.frozen(kw_only=True)
class CrossTier(Record):
    """Result of `cross_tier`."""

    baseline: str
    """Tier that the uplifts are measured from."""
    uplifts: FrozenMapping[str, float | None]
    """`tier_uplift` of each other tier by *tier_id*, in the order the tiers were given."""
    composite_variance: float
    """Population variance of the tiers' median composite scores; the next three likewise."""
    pass_rate_variance: float
    impl_rate_variance: float
    cost_variance: float
    """In USD squared."""
    cost_delta: float
    """Highest median cost less the lowest, in USD."""
    frontier_cost_of_pass: float
    """Lowest cost of a pass over the tiers in USD, ``inf`` if none passes."""
    frontier_tier: str | None
    """Tier with that cost, the first one given of several; None if none passes."""


def cross_tier(tiers: Iterable[TierStatistics], *, baseline: str = "T0") -> CrossTier:
    """
    Set tiers side by side: uplift over a baseline, how much they differ, where a pass is cheapest.

    Args:
        tiers: Statistics of at least one tier, no *tier_id* twice.
        baseline: *tier_id* of the tier to measure from.

    Returns:
        A frozen `CrossTier`.

    Raises:
        InputError: If *tiers* is empty, two share a *tier_id*, none has the id *baseline*, or
            the variance of the costs is too large for a float.
        TypeError: If *tiers* is not a sequence of `TierStatistics` or *baseline* not a string.

    Examples:
        >>> tiers = []
        >>> for tier_id, rate in (("T0", 0.5), ("T1", 0.75)):
        ...     run = Run(
        ...         run_id="1", passed=True, impl_rate=rate, cost_usd=rate, duration_seconds=60
        ...     )
        ...     tiers.append(tier_statistics(tier_id, [run], pass_weight=0, impl_weight=1))
        >>> result = cross_tier(tiers)
        >>> result.uplifts, result.cost_delta, result.frontier_tier
        ({'T1': 0.5}, 0.25, 'T0')
        >>> cross_tier(tiers, baseline="T2")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: baseline must be one of 'T0', 'T1', got 'T2'

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.

    .. versionadded:: 0.1.0
    """
    checked = check_records("tiers", tiers, TierStatistics)
    ids = [tier.tier_id for tier in checked]
    _check_distinct("tier_id", "tiers", ids)
    check_choice("baseline, 'T0' unless given," if baseline == "T0" else "baseline", baseline, ids)
    origin = checked[ids.index(baseline)].composite_score.median
    costs = [tier.cost_usd.median for tier in checked]
    frontier = min(checked, key=lambda tier: tier.cost_of_pass)
    return CrossTier(
        baseline=baseline,
        uplifts=FrozenMapping(
            {
                tier.tier_id: tier_uplift(tier.composite_score.median, baseline=origin)
                for tier in checked
                if tier.tier_id != baseline
            }
        ),
        composite_variance=_variance("composite", [t.composite_score.median for t in checked]),
        pass_rate_variance=_variance("pass_rate", [t.pass_rate.median for t in checked]),
        impl_rate_variance=_variance("impl_rate", [t.impl_rate.median for t in checked]),
        cost_variance=_variance("cost", costs),
        cost_delta=max(costs) - min(costs),
        frontier_cost_of_pass=frontier.cost_of_pass,
        frontier_tier=None if math.isinf(frontier.cost_of_pass) else frontier.tier_id,
    )


def _variance(name: str, medians: list[float]) -> float:
    return check_number(f"{name}_variance", pvariance(map(Fraction, medians)), 0.0)
