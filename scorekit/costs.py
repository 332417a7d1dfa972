"""What a pass costs: over one attempt, over many runs, and beside a baseline."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import (
    check_choice,
    check_count,
    check_instance,
    check_number,
)
from scorekit._core.columns import (
    check_clusters,
    check_number_column,
    check_score_column,
    column,
    paired_columns,
    refuse_unknown,
    split_missing,
)
from scorekit._stats.bounded import Floats, mean_of, share_interval
from scorekit._stats.exact import exact_array, sorted_runs, sums_of_runs
from scorekit.errors import InputError, refuse
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    group_sums,
    mean_shifts,
    normal_quantile,
    t_quantile,
)
from scorekit.records import Record

MANY = 1000
"""Costs above which the exact sums of a column are faster than those of fractions."""

RESAMPLES = 20_000

MAX_RESAMPLED = 10_000
"""Runs that a bootstrap takes; beyond them Fieller's interval says the same at once."""

MAX_COST = 1e300
"""Largest cost taken: sums of such ones stay finite."""

ROUNDING = 1e-12
"""Ratios that differ by a smaller share are equal, but for the order of their sums."""

BLOCK = 2_000_000
"""Runs drawn at a time, so that memory does not grow with their number."""

MAX_LOG = 600.0
"""Logarithm beyond which a bound says nothing."""

Priced = tuple[float, Interval | None]
"""The cost of a pass and its interval."""


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


def per_pass(costs: Sequence[float], passes: float) -> float:
    """Divide exactly and round once, so that ``inf`` never comes of an overflow."""
    if not passes:
        return math.inf
    cost = _total(costs) / Fraction(passes)
    if cost > sys.float_info.max:
        raise InputError("cost_of_pass must be a finite number >= 0, got more than 1.797e+308")
    return float(cost)


def _total(costs: Sequence[float]) -> Fraction:
    if len(costs) <= MANY:
        return sum(map(Fraction, costs), Fraction())
    sums = sums_of_runs(sorted_runs(exact_array(costs)))
    return Fraction(sums.total, sums.unit)


@attrs.frozen(kw_only=True)
class CostOfPass(Record):
    """Result of `cost_of_pass_from_columns`; ``str()`` shows cost and interval."""

    higher_is_better: ClassVar[bool] = False

    cost_of_pass: float
    """Total cost over passes in USD, ``inf`` with none; lower is better."""
    stderr: float | None
    """Standard error by the delta method, for many runs; None with no pass, and for a single run
    or cluster."""
    interval: Interval | None
    """None without a pass; *high* is ``inf`` if the runs are compatible with any cost."""
    n_runs: int
    n_passes: float
    """Sum of *passed*, which may hold pass rates."""
    n_groups: int | None
    """Number of clusters; None if the runs are independent."""
    cost_ratio: float | None = None
    """Cost of a pass divided by that of the baseline, as in `CrossTier`; None without one."""
    cost_ratio_interval: Interval | None = None

    def _line(self) -> str:
        cost = f"a pass costs {self.cost_of_pass:.4g} USD{behind(self.interval)}"
        if self.cost_ratio is not None:
            ratio = f"{self.cost_ratio:.4g} times the baseline"
            cost += f", {ratio}{behind(self.cost_ratio_interval)},"
        return f"{cost} in {counted_runs(self.n_runs, self.n_groups, 'cluster')}"


def cost_of_pass_from_columns(
    *,
    cost_usd: Iterable[float],
    passed: Iterable[bool | float],
    clusters: Iterable[Hashable] | None = None,
    baseline: CostOfPass | None = None,
    method: Literal["fieller", "bca"] = "fieller",
    confidence_level: float = 0.95,
    seed: int = 0,
) -> CostOfPass:
    """
    Compute the cost of a pass over many runs, with its interval.

    The cost of a pass is the total cost divided by the number of passes, a ratio of two means.

    ``"fieller"`` contains every ratio *r* for which a t test does not reject that
    ``cost - r * passed`` has mean 0. It also contains the mean cost divided by both ends of
    Wilson's interval of the pass rate, because a few runs that all passed do not show that others
    will. It has no upper end if the runs are compatible with no pass at all.

    ``"bca"`` is the bias-corrected and accelerated bootstrap over 20,000 resamples of runs, which
    some papers use. It has no width if all runs passed at the same cost.

    Runs of one task are not independent. If tasks were run several times, pass the task of each
    run as *clusters*. A cluster then counts as one observation, and the bootstrap draws whole
    clusters.

    Args:
        cost_usd: Cost of each run in USD (0 to 1e300), shape ``(N,)``: a list, or a NumPy,
            pandas, polars or Arrow column. Leave out runs whose cost was not measured, in all
            columns.
        passed: Whether it passed, or the pass rate of a task in [0, 1], shape ``(N,)``.
        clusters: A label for each run, equal where runs belong together; None where every run
            stands by itself.
        baseline: Result of other runs, such as those of another model, to divide the cost of a
            pass by. The interval of the ratio is that of `cross_tier`.
        method: ``"fieller"``, or ``"bca"`` for at most 10,000 runs or clusters.
        confidence_level: Level of the interval, in (0, 1).
        seed: Of the resamples of ``"bca"`` (at most 2**32 - 1); the same runs in the same order
            and the same seed give the same interval.

    Returns:
        A frozen `CostOfPass`.

    Raises:
        InputError: If a column is empty, their lengths differ, a number is out of range, a pass
            costs more than a float holds, ``"bca"`` is given too many runs, or *baseline* has an
            interval of another level.
        TypeError: If a value has the wrong type, a label is not hashable, or *baseline* no
            `CostOfPass`.

    Examples:
        >>> costs = [0.12, 0.3, 0.08, 0.22, 0.15, 0.4, 0.11, 0.09, 0.25, 0.18]
        >>> passed = [True, False, True, True, False, True, True, True, False, True]
        >>> print(cost_of_pass_from_columns(cost_usd=costs, passed=passed))
        a pass costs 0.2714 USD [0.1323, 0.6254] in 10 runs (each taken as independent)
        >>> print(cost_of_pass_from_columns(cost_usd=costs[:3], passed=passed[:3]))
        a pass costs 0.25 USD [0, inf] in 3 runs (each taken as independent)
        >>> old = cost_of_pass_from_columns(cost_usd=[0.5] * 10, passed=[True] * 10)
        >>> new = cost_of_pass_from_columns(cost_usd=costs, passed=passed, baseline=old)
        >>> f"{new.cost_ratio:.4g} {new.cost_ratio_interval}"  # times the baseline
        '0.5429 [0.2369, 1.251]'
        >>> cost_of_pass_from_columns(cost_usd=[0.1, -0.1], passed=[True, True])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cost_usd[1] must be a number in [0, 1e+300], got -0.1

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.

        Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B
        16(2), 1954.

        Efron, "Better bootstrap confidence intervals", Journal of the American Statistical
        Association 82, 1987.
    """
    columns = paired_columns(("cost_usd", cost_usd, "numbers"), ("passed", passed, "outcomes"))
    costs = check_costs(columns[0], MAX_COST)
    refuse_unknown("passed", columns[1], "True or False, or a number in [0, 1]")
    passes = check_score_column("passed", columns[1])
    check_choice("method", method, ("fieller", "bca"))
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed, 0, 2**32 - 1)
    if baseline is not None:
        check_instance("baseline", baseline, CostOfPass)
        level = (
            confidence_level if baseline.interval is None else baseline.interval.confidence_level
        )
        if level != confidence_level:
            refuse("confidence_level", f"that of baseline, {level}", confidence_level)
    codes = check_clusters(clusters, costs.size, "cost_usd", cost_usd)
    n = int(codes.max()) + 1
    if method == "bca" and n > MAX_RESAMPLED:
        what = "runs" if clusters is None else "clusters"
        refuse("cost_usd", f'a column of at most {MAX_RESAMPLED} {what} for method="bca"', n)
    n_passes = math.fsum(passes)
    cost = per_pass(costs.tolist(), n_passes)
    interval = None
    if method == "fieller":
        interval = cost_interval(costs, passes, codes, confidence_level=confidence_level)
    elif n_passes:
        low, high = 0.0, math.inf
        if n > 1:
            totals = group_sums(costs, codes), group_sums(passes, codes)
            low, high = _bca(*totals, confidence_level, seed)
        interval = Interval(low=low, high=high, confidence_level=confidence_level, method="bca")
    if interval is not None:  # rounding must not leave the cost outside
        low, high = min(interval.low, cost), max(interval.high, cost)
        interval = attrs.evolve(interval, low=low, high=high)
    result = CostOfPass(
        cost_of_pass=cost,
        stderr=_delta_error(costs, passes, codes),
        interval=interval,
        n_runs=costs.size,
        n_passes=n_passes,
        n_groups=None if clusters is None else n,
    )
    if baseline is None:
        return result
    return attrs.evolve(
        result,
        cost_ratio=cost_ratio(_priced(result), _priced(baseline)),
        cost_ratio_interval=cost_ratio_interval(_priced(result), _priced(baseline)),
    )


def check_costs(values: object, most: float) -> Floats:
    """Return a column of costs; of one that was not measured say what to do about it."""
    array = column("cost_usd", values, "numbers")
    missing = np.flatnonzero(split_missing("cost_usd", array)[1])
    if missing.size:
        i = int(missing[0])
        value = array.tolist()[i]
        domain = "a number >= 0 (leave out runs whose cost was not measured)"
        kind = InputError if isinstance(value, float) else TypeError
        refuse(f"cost_usd[{i}]", domain, value, kind)
    return check_number_column("cost_usd", array, 0.0, most)


def _priced(found: CostOfPass) -> Priced:
    return found.cost_of_pass, found.interval


def cost_ratio(own: Priced, base: Priced) -> float | None:
    """Divide two costs of a pass; None where that is no number."""
    cost, other = own[0], base[0]
    ratio = cost / other if 0.0 < other < math.inf else math.inf
    return ratio if math.isfinite(ratio) else None


def cost_ratio_interval(own: Priced, base: Priced) -> Interval | None:
    """Bound the ratio of two costs of a pass from the intervals of both, on the log scale."""
    ratio = cost_ratio(own, base)
    (cost, over), (other, under) = own, base
    if not ratio or over is None or under is None:
        return None

    def reach(first: float, second: float) -> float:
        """Return the distance between two costs, which may be 0 or infinite."""
        return abs(math.log(first / second)) if 0.0 < first / second < math.inf else math.inf

    down = math.hypot(reach(over.low, cost), reach(under.high, other))
    up = math.hypot(reach(over.high, cost), reach(under.low, other))
    return Interval(
        low=ratio * math.exp(-down),
        high=ratio * math.exp(up) if up < MAX_LOG else math.inf,
        confidence_level=over.confidence_level,
        method="ratio of costs",
    )


def cost_interval(
    costs: Floats, passes: Floats, codes: NDArray[np.intp], *, confidence_level: float
) -> Interval | None:
    """
    Bound the cost of a pass by Fieller, and by how often runs pass; *codes* number their groups.

    Where all runs passed, or all of the few that did cost the same, a t test sees no variation
    and Fieller's interval no width; yet the pass rate is known no better than Wilson's interval
    says, and the mean cost over either of its ends is always held.
    """
    if codes[-1] == codes.size - 1:  # each run alone, in whatever order
        order = np.lexsort((passes, costs))
        costs, passes = costs[order], passes[order]
    interval = ratio_interval(costs, passes, codes, confidence_level=confidence_level)
    if interval is None or not codes.any():
        return interval
    least, most = share_interval(passes, codes, confidence_level)
    scale = float(costs.max()) or 1.0
    mean = scale * mean_of(costs / scale)
    return attrs.evolve(
        interval,
        low=min(interval.low, mean / most),
        high=max(interval.high, mean / least if least else math.inf),
    )


def ratio_interval(
    numerators: Floats, denominators: Floats, codes: NDArray[np.intp], *, confidence_level: float
) -> Interval | None:
    """
    Bound ``sum(numerators) / sum(denominators)``, both nonnegative and paired, by Fieller.

    The interval holds every ratio r >= 0 for which a t test, over the groups that *codes* number,
    does not reject that "numerator - r * denominator" has mean 0: ``a r^2 - 2 b r + c <= 0``.  A
    denominator that is not significantly above 0 (a <= 0) leaves it without upper bound, a
    numerator that is not (c <= 0) puts the lower end at 0.  A single group bounds nothing; None
    where the denominators are all 0, for then there is no ratio.
    """
    scale, unit = float(numerators.max()) or 1.0, float(denominators.max())
    if not unit:
        return None
    low, high = 0.0, math.inf
    if codes.any():
        sides = numerators / scale, denominators / unit  # scaled, no square can overflow
        top, bottom = map(mean_of, sides)
        x, y = (mean_shifts(side, codes) for side in sides)
        assert x is not None and y is not None  # noqa: PT018, S101 - there are several groups
        quantile = t_quantile(confidence_level, effective_groups(codes) - 1.0)
        square = quantile * quantile * (1.0 - 1.0 / x.size)
        a = bottom * bottom - square * math.fsum(y * y)
        b = top * bottom - square * math.fsum(x * y)
        c = top * top - square * math.fsum(x * x)
        root = b + math.sqrt(max(b * b - a * c, 0.0))
        ratio = top / bottom  # rounding must not leave it outside where nothing varies
        low = scale * min(c / root, ratio) / unit if c > 0.0 else 0.0
        high = scale * max(root / a, ratio) / unit if a > 0.0 else math.inf
    return Interval(low=low, high=high, confidence_level=confidence_level, method="fieller")


def _delta_error(costs: Floats, passes: Floats, codes: NDArray[np.intp]) -> float | None:
    """Return the error of the ratio; None with one group, or without a pass."""
    scale, unit = float(costs.max()) or 1.0, float(passes.max())
    if not unit:
        return None
    costs, passes = costs / scale, passes / unit  # scaled, no square can overflow
    ratio = math.fsum(costs) / math.fsum(passes)
    error = clustered_stderr(costs - ratio * passes, codes, noise=ROUNDING)
    return None if error is None else scale * (error / float(passes.mean())) / unit


def _bca(costs: Floats, passes: Floats, confidence_level: float, seed: int) -> tuple[float, float]:
    """Return the ends of Efron's interval; a resample without a pass has infinite cost."""
    from scipy.special import ndtr, ndtri

    scale = max(float(costs.max()), 1.0)  # scaled, no sum can overflow
    costs = costs / scale
    ratio = costs.sum() / passes.sum()
    ratios = _resampled(costs, passes, seed)
    lower = np.count_nonzero(ratios < ratio * (1 - ROUNDING))
    upper = np.count_nonzero(ratios <= ratio * (1 + ROUNDING))  # ties count half
    below = (lower + upper) / (2 * RESAMPLES)
    share = min(max(below, 0.5 / RESAMPLES), 1 - 0.5 / RESAMPLES)
    bias, acceleration = float(ndtri(share)), 0.0
    with np.errstate(all="ignore"):
        left_out = (costs.sum() - costs) / (passes.sum() - passes)
        influence = left_out.mean() - left_out
        influence /= abs(influence).max()
    if np.isfinite(influence).all():  # else all alike, or no pass but one: the skew is unknown
        spread = float(influence @ influence)
        acceleration = float(np.sum(influence**3)) / (6 * spread**1.5)

    def end(z: float) -> float:
        shift = 1 - acceleration * (bias + z)
        level = float(ndtr(bias + (bias + z) / shift)) if shift > 0 else float(bias + z > 0)
        return scale * _quantile(ratios, level)

    return end(-normal_quantile(confidence_level)), end(normal_quantile(confidence_level))


def _resampled(costs: Floats, passes: Floats, seed: int) -> Floats:
    """Return the sorted ratios of resamples."""
    rng = np.random.RandomState(seed)  # the one stream that NumPy promises to keep
    n, rows = costs.size, max(1, BLOCK // costs.size)
    ratios = np.full(RESAMPLES, np.inf)
    for start in range(0, RESAMPLES, rows):
        drawn = rng.randint(0, n, (min(rows, RESAMPLES - start), n))
        tops, bottoms = costs[drawn].sum(axis=1), passes[drawn].sum(axis=1)
        part = ratios[start : start + rows]
        with np.errstate(over="ignore"):  # what no float holds is infinite
            np.divide(tops, bottoms, out=part, where=bottoms > 0.0)
    return np.sort(ratios)


def _quantile(ordered: Floats, level: float) -> float:
    """Return a quantile between the two nearest values; infinite where the upper one is."""
    place = level * (ordered.size - 1)
    i = min(int(place), ordered.size - 2)
    low, high, share = float(ordered[i]), float(ordered[i + 1]), place - i
    return low if not share or low == high else low + share * (high - low)


def counted_runs(n_runs: int, n_groups: int | None, what: str = "task") -> str:
    """Say how many runs there are, and what counts as one observation."""
    runs = f"{n_runs} run{'s' * (n_runs != 1)}"
    if n_groups is not None:
        return f"{runs} of {n_groups} {what}{'s' * (n_groups != 1)}"
    return runs if n_runs == 1 else f"{runs} (each taken as independent)"


def behind(interval: Interval | None) -> str:
    """Return an interval as it stands behind its number, if there is one."""
    return "" if interval is None else f" {interval}"
