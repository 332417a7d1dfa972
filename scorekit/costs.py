"""What a pass costs: over one attempt, over many runs, and beside a baseline."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, get_args

import attrs
import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit._core.checks import (
    check_choice,
    check_count,
    check_instance,
    check_items,
    check_number,
)
from scorekit._core.columns import (
    as_builtins,
    check_clusters,
    check_number_column,
    check_score_column,
    column,
    paired_columns,
    refuse_unknown,
    split_missing,
)
from scorekit._core.mappings import FrozenMapping
from scorekit._core.sums import exact_fraction, exact_mean
from scorekit._core.tails import ROUNDING, trouble
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.ratios import paired_price_ends, ratio_ends, shared_error
from scorekit.errors import InputError, refuse
from scorekit.intervals import (
    Interval,
    Weighting,
    check_bounds,
    clustered_stderr,
    group_means,
    interval_around,
    interval_of_mean,
)
from scorekit.records import Record

MAX_COST = 1e300
"""Largest cost taken: sums of such ones stay finite."""

Priced = tuple[float, Interval | None]
"""The cost of a pass and its interval."""

NO_LIMIT = (0.0, math.inf)
"""Bounds of costs that nothing limits."""

PAIRED = "jackknife over common tasks"

WITHIN = "ratio of means within bounds"
"""Method where a limit of what a run costs is known."""

UNEVEN = "ratios of such costs were covered in XX of simulations at 95 %"

Means = Mapping[str, tuple[float, float]]
"""Mean cost and pass rate of each task."""


def cost_of_pass(*, cost_usd: float, pass_rate: float) -> float:
    """
    Return the cost of one pass if each attempt costs *cost_usd*: ``cost_usd / pass_rate``.

    Args:
        cost_usd: Cost of one attempt, or the mean cost of several, in USD (>= 0).
        pass_rate: Share of attempts that pass, in [0, 1].

    Returns:
        USD for each pass; ``inf`` where nothing passes, even for free: no money buys a pass.

    Raises:
        InputError: If the cost is negative or not finite, the rate lies outside [0, 1], or a pass
            costs more than a float holds.
        TypeError: If an argument is not a number.

    Examples:
        >>> cost_of_pass(cost_usd=0.5, pass_rate=0.8)
        0.625
        >>> cost_of_pass(cost_usd=-0.5, pass_rate=0.8)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cost_usd must be a finite number >= 0, got -0.5

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.
    """
    cost = check_number("cost_usd", cost_usd, 0.0)
    return per_pass([cost], check_number("pass_rate", pass_rate, 0.0, 1.0))


def per_pass(costs: Sequence[float] | Floats, passes: float) -> float:
    """Divide exactly and round once, so that ``inf`` never comes of an overflow."""
    if not passes:
        return math.inf
    cost = exact_fraction(np.asarray(costs, np.float64)) / Fraction(passes)
    if cost > sys.float_info.max:
        raise InputError("cost_of_pass must be a finite number >= 0, got more than 1.797e+308")
    return float(cost)


@attrs.frozen(kw_only=True, repr=False)
class CostOfPass(Record):
    """Result of `cost_of_pass_from_columns`; ``str()`` shows cost and interval."""

    higher_is_better: ClassVar[bool] = False

    cost_of_pass: float
    """Mean cost of a run over the pass rate in USD, ``inf`` with no pass; lower is better. Both
    are means over *clusters*, each weighing the same, unless *weights* is ``"attempts"``."""
    stderr: float | None
    """Standard error by the delta method, for many runs; None with no pass, and for a single run
    or cluster."""
    interval: Interval | None
    """None without a pass; *high* is ``inf`` if the runs set no bound."""
    n_runs: int
    n_passes: float
    """Sum of *passed*, which may hold pass rates."""
    n_groups: int | None
    """Number of clusters; None if the runs are independent."""
    weights: Weighting | None = None
    """What weighs the same in both means; None if the runs are independent."""
    cluster_means: FrozenMapping[str, tuple[float, float]] | None = None
    """Mean cost and pass rate of each cluster, by which two results are compared; None if the runs
    are independent, or if labels are neither text nor integers."""
    cost_ratio: float | None = None
    """Cost of a pass divided by that of the baseline, as in `CrossTier`; None without one."""
    cost_ratio_interval: Interval | None = None
    n_common_groups: int | None = None
    """Clusters that the baseline has too, over which the ratio is, each weighing the same; None if
    there are none, and the ratio is that of the two costs of a pass."""

    def _line(self) -> str:
        runs = counted_runs(self.n_runs, self.n_groups, "cluster", self.weights)
        if math.isinf(self.cost_of_pass):
            return f"no successful run in {runs}: cost per successful run unbounded"
        cost = f"{usd(self.cost_of_pass, self.interval)} per successful run"
        if self.cost_ratio is not None:
            n = self.n_common_groups
            over = "" if n is None else f" over {counted(n, 'common cluster')}"
            ratio = estimate(self.cost_ratio, self.cost_ratio_interval)
            cost += f", {ratio} times the baseline{over}"
        shown_level = ""
        if self.interval is not None:
            seen = "" if self.interval.method == WITHIN else " if no run costs far more"
            shown_level = f"{level_of(self.interval)}{seen}, "
        return f"{cost} ({shown_level}{runs})"


def cost_of_pass_from_columns(
    *,
    cost_usd: Iterable[float],
    passed: Iterable[bool | float],
    clusters: Iterable[Hashable] | None = None,
    weights: Weighting = "groups",
    baseline: CostOfPass | None = None,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> CostOfPass:
    """
    Compute the cost of a pass over many runs, with its interval.

    The cost of a pass is the mean cost of a run divided by the pass rate: the total cost over the
    number of passes, if every task has equally many runs.

    Args:
        cost_usd: Cost of each run in USD (0 to 1e300), shape ``(N,)``: a list, or a NumPy,
            pandas, polars or Arrow column. Leave out runs whose cost was not measured, in all
            columns.
        passed: Whether it passed, or the pass rate of a task in [0, 1], shape ``(N,)``.
        clusters: A label for each run, equal where runs belong together; None where every run
            stands by itself.
        weights: What weighs the same in the means: ``"groups"`` the clusters, such as tasks, or
            ``"attempts"`` the runs, which gives the total cost over the number of passes.
        baseline: Result of other runs, such as those of another model, to divide the cost of a
            pass by. The ratio is over the clusters that both have, as in `cross_tier`, if there
            are any.
        bounds: The least and the most that a run can cost, in USD, such as ``(0, 5)``; None if
            nothing limits it.
        confidence_level: Level of the interval, in (0, 1).
        seed: Of the resamples (at most 2**32 - 1); the same runs and the same seed give the same
            interval.

    Returns:
        A frozen `CostOfPass`. Read *cost_of_pass* with its *interval*, *n_passes* and *n_groups*
        first.

    Raises:
        InputError: If a column is empty, their lengths differ, a number is out of range, a cost
            lies outside *bounds*, *weights* is unknown, a pass costs more than a float holds, or
            *baseline* has an interval of another level.
        TypeError: If a value has the wrong type, a label is not hashable, or *baseline* no
            `CostOfPass`.

    Examples:
        >>> costs = [0.12, 0.3, 0.08, 0.22, 0.15, 0.4, 0.11, 0.09, 0.25, 0.18]
        >>> passed = [True, False, True, True, False, True, True, True, False, True]
        >>> print(cost_of_pass_from_columns(cost_usd=costs, passed=passed))
        0.27 USD [0.15, 0.73] per successful run (95 % if no run costs far more, 10 runs, each taken as independent)
        >>> print(cost_of_pass_from_columns(cost_usd=costs[:3], passed=passed[:3]))
        0.2 USD [0.01, 21] per successful run (95 % if no run costs far more, 3 runs, each taken as independent)
        >>> old = cost_of_pass_from_columns(cost_usd=[0.5] * 10, passed=[True] * 10)
        >>> new = cost_of_pass_from_columns(cost_usd=costs, passed=passed, baseline=old)
        >>> f"{new.cost_ratio:.4g} {new.cost_ratio_interval}"  # times the baseline
        '0.5429 [0.3, 1.5]'
        >>> cost_of_pass_from_columns(cost_usd=[0.1, -0.1], passed=[True, True])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cost_usd[1] must be a number in [0, 1e+300], got -0.1

    Notes:
        The interval combines that of the mean cost with that of the pass rate, and their
        correlation (MOVER). The mean cost is bounded by a bootstrap-t of its logarithm, which
        allows for costs of which a few are large; the pass rate as in `mean_interval` with bounds
        0 and 1. A few runs that all passed do not show that others will.

        Costs that are too rare to appear among the runs cannot be seen: where one run in twenty
        costs twenty times as much, 30 runs hold the cost of a pass in 4 cases of 5. The interval
        has a *note* where the runs seen show a long tail, but its absence shows nothing: with
        logarithms of a standard deviation of 1.5 at 20 tasks, intervals without a note held the
        cost of a pass in 0.84 of simulations. If you limit what a run may cost, pass that limit as *bounds*: the interval of the mean cost then allows
        for runs at the limit, as the one of scores does.

        Runs of one task are not independent. If tasks were run several times, pass the task of
        each run as *clusters*. A cluster then counts as one observation.

        Over common clusters the interval of the ratio is Student's t for its logarithm, with the
        jackknife that leaves out one cluster at a time: what makes a task expensive for both
        cancels. Otherwise the two results are taken as independent (MOVER), which is much wider.

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.

        Hall, "Theoretical comparison of bootstrap confidence intervals", Annals of Statistics
        16(3), 1988, for bootstrap-t.

        Donner and Zou, "Closed-form confidence intervals for functions of the normal mean and
        standard deviation", Statistical Methods in Medical Research 21(4), 2012, for MOVER.
    """  # noqa: E501 - a printed result is one line
    columns = paired_columns(("cost_usd", cost_usd, "numbers"), ("passed", passed, "outcomes"))
    limits = None if bounds is None else check_cost_bounds(bounds)
    costs = check_costs(columns[0], *(limits or (0.0, MAX_COST)))
    refuse_unknown("passed", columns[1], "True or False, or a number in [0, 1]")
    passes = check_score_column("passed", columns[1])
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed, 0, 2**32 - 1)
    if baseline is not None:
        check_instance("baseline", baseline, CostOfPass)
        level = (
            confidence_level if baseline.interval is None else baseline.interval.confidence_level
        )
        if level != confidence_level:
            refuse("confidence_level", f"that of baseline, {level}", confidence_level)
    check_choice("weights", weights, get_args(Weighting))
    labels = clusters
    if clusters is not None and not hasattr(clusters, "__array__"):
        labels = check_items("clusters", clusters, what="labels")  # an iterator is read once
    codes = check_clusters(labels, costs.size, "cost_usd", cost_usd)
    groups = None if labels is None else codes
    n_runs, n_passes, means = costs.size, math.fsum(passes), None
    if labels is not None:
        of_group = group_means(costs, codes), group_means(passes, codes)
        means = _by_name(labels, *of_group)
        if weights == "groups":
            (costs, passes), groups = of_group, None
    cost = per_pass(costs, math.fsum(passes))
    mean_cost = interval_of_mean(
        costs, groups, limits or NO_LIMIT, confidence_level=confidence_level, seed=seed
    )
    ends = pass_cost_interval(cost, costs, mean_cost, passes, groups)
    result = CostOfPass(
        cost_of_pass=cost,
        stderr=_delta_error(costs, passes, np.arange(costs.size) if groups is None else groups),
        interval=ends,
        n_runs=n_runs,
        n_passes=n_passes,
        n_groups=None if labels is None else int(codes.max()) + 1,
        weights=None if labels is None else weights,
        cluster_means=means,
    )
    if baseline is None:
        return result
    ratio, around, n_common = times_baseline(
        (cost, ends),
        (baseline.cost_of_pass, baseline.interval),
        (means, baseline.cluster_means),
        confidence_level,
    )
    return attrs.evolve(
        result, cost_ratio=ratio, cost_ratio_interval=around, n_common_groups=n_common
    )


def check_cost_bounds(bounds: object) -> tuple[float, float]:
    """Return the least and the most that a run can cost."""
    least, most = check_bounds(bounds)
    return check_number("bounds[0]", least, 0.0), most


def check_costs(values: object, least: float, most: float) -> Floats:
    """Return a column of costs; of one that was not measured say what to do about it."""
    array = column("cost_usd", values, "numbers")
    missing = np.flatnonzero(split_missing("cost_usd", array)[1])
    if missing.size:
        i = int(missing[0])
        value = array.tolist()[i]
        domain = "a number >= 0 (leave out runs whose cost was not measured)"
        kind = InputError if isinstance(value, float) else TypeError
        refuse(f"cost_usd[{i}]", domain, value, kind)
    return check_number_column("cost_usd", array, least, most)


def _by_name(
    labels: Iterable[Hashable], costs: Floats, passes: Floats
) -> FrozenMapping[str, tuple[float, float]] | None:
    """Return both means of each group under its name; None where some label is no name."""
    found = dict.fromkeys(as_builtins(labels))
    names = dict.fromkeys(str(name) for name in found if type(name) in {int, str})
    if len(names) < len(found):
        return None
    pairs = zip(costs.tolist(), passes.tolist(), strict=True)
    return FrozenMapping(dict(zip(names, pairs, strict=True)))


def times_baseline(
    own: Priced, base: Priced, means: tuple[Means | None, Means | None], confidence_level: float
) -> tuple[float | None, Interval | None, int | None]:
    """
    Divide two costs of a pass, over the tasks that both have if there are any.

    Return the ratio, None where it is no number, its interval, and the number of these tasks.
    """
    first, second = means
    tasks = [task for task in second or {} if task in (first or {})]
    if not first or not second or not tasks:
        return (*_divided(own, base, confidence_level), None)
    (costs, passes), (others, rates) = (
        np.array([side[task] for task in tasks]).T for side in (first, second)
    )
    paired = paired_price_ends((costs, passes), (others, rates), confidence_level)
    if paired is None:
        own, base = (
            _priced(*side, confidence_level) for side in ((costs, passes), (others, rates))
        )
        return (*_divided(own, base, confidence_level), len(tasks))
    ratio = per_pass(costs, math.fsum(passes)) / per_pass(others, math.fsum(rates))
    note = UNEVEN if trouble(costs) or trouble(others) else None
    return ratio, interval_around(ratio, paired, confidence_level, PAIRED, note=note), len(tasks)


def _divided(
    own: Priced, base: Priced, confidence_level: float
) -> tuple[float | None, Interval | None]:
    """Divide two costs of a pass of different runs, None where that is no number."""
    (cost, over), (other, under) = own, base
    ratio = cost / other if 0.0 < other < math.inf else math.inf
    if not ratio or not math.isfinite(ratio) or over is None or under is None:
        return ratio if math.isfinite(ratio) else None, None
    ends = ratio_ends(ratio, (cost, over.low, over.high), (other, under.low, under.high))
    note = over.note or under.note
    return ratio, interval_around(ratio, ends, confidence_level, "ratio of means", note=note)


def _priced(costs: Floats, passes: Floats, confidence_level: float) -> Priced:
    """Return the cost of a pass of tasks that weigh the same, and its interval."""
    cost = per_pass(costs, math.fsum(passes))
    around = interval_of_mean(costs, None, NO_LIMIT, confidence_level=confidence_level)
    return cost, pass_cost_interval(cost, costs, around, passes, None)


def pass_cost_interval(
    cost: float, costs: Floats, cost_ends: Interval, passes: Floats, groups: Groups | None
) -> Interval | None:
    """Bound the cost of a pass from the interval of the mean cost and that of the pass rate."""
    if cost == math.inf:
        return None
    level = cost_ends.confidence_level
    rate = interval_of_mean(passes, groups, (0.0, 1.0), confidence_level=level)
    codes = np.arange(costs.size) if groups is None else groups
    scale = float(costs.max()) or 1.0  # scaled, no sum can overflow
    ends = ratio_ends(
        cost,
        (exact_mean(costs / scale), cost_ends.low / scale, cost_ends.high / scale),
        (exact_mean(passes), rate.low, rate.high),
        shared_error(costs / scale, passes, codes),
    )
    method = WITHIN if cost_ends.method.endswith("gaffke") else "ratio of means"
    return interval_around(cost, ends, level, method, note=cost_ends.note)


def _delta_error(costs: Floats, passes: Floats, codes: Groups) -> float | None:
    """Return the error of the ratio; None with one group, or without a pass."""
    scale, unit = float(costs.max()) or 1.0, float(passes.max())
    if not unit:
        return None
    costs, passes = costs / scale, passes / unit  # scaled, no square can overflow
    ratio = math.fsum(costs) / math.fsum(passes)
    error = clustered_stderr(costs - ratio * passes, codes, noise=ROUNDING)
    return None if error is None else scale * (error / float(passes.mean())) / unit


def counted_runs(
    n_runs: int, n_groups: int | None, what: str = "task", weights: Weighting | None = None
) -> str:
    """Say how many runs there are, what counts as one observation, and what weighs the same."""
    runs = f"{n_runs} run{'s' * (n_runs != 1)}"
    if n_groups is not None:
        unit = what if weights == "groups" else "run"
        same = f", each {unit} weighing the same" if n_groups < n_runs else ""
        return f"{runs} of {n_groups} {what}{'s' * (n_groups != 1)}{same}"
    return runs if n_runs == 1 else f"{runs}, each taken as independent"


def usd(amount: float, interval: Interval | None) -> str:
    """Return an amount of money with its interval behind it."""
    text, _, ends = estimate(amount, interval).partition(" ")
    return f"{text} USD {ends}".rstrip()
