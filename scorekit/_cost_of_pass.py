"""Cost of a pass over many runs: `cost_of_pass_from_columns`, `CostOfPass` and its intervals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import ClassVar, Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import check_choice, check_count, check_number
from scorekit._columns import (
    check_clusters,
    check_number_column,
    check_score_column,
    paired_columns,
)
from scorekit._costs import per_pass
from scorekit._differences import Floats, mean_of, share_interval
from scorekit._records import Record
from scorekit.errors import refuse
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    group_sums,
    mean_shifts,
    normal_quantile,
    t_quantile,
)

RESAMPLES = 20_000
MAX_RESAMPLED = 10_000
"""Runs that a bootstrap takes; beyond them Fieller's interval says the same at once."""
MAX_COST = 1e300
"""Largest cost taken: sums of such ones stay finite."""
ROUNDING = 1e-12
"""Ratios that differ by a smaller share are equal, but for the order of their sums."""
BLOCK = 2_000_000
"""Runs drawn at a time, so that memory does not grow with their number."""


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
    """None with no pass; *high* is ``inf`` where the runs do not bound the cost."""
    n_runs: int
    n_passes: float
    """Sum of *passed*, which may hold pass rates."""
    n_groups: int | None
    """Clusters that the runs come in; None where they are independent."""

    def __str__(self) -> str:
        """Return the cost on one line, rounded for display."""
        interval = "" if self.interval is None else f" {self.interval}"
        return f"a pass costs {self.cost_of_pass:.4g} USD{interval}"


def cost_of_pass_from_columns(
    *,
    costs_usd: Iterable[float],
    passed: Iterable[bool | float],
    clusters: Iterable[Hashable] | None = None,
    method: Literal["fieller", "bca"] = "fieller",
    confidence: float = 0.95,
    seed: int = 0,
) -> CostOfPass:
    """
    Say what a pass costs over many runs, and how sure that is.

    The total cost over the number of passes, a ratio of two means.  Fieller's interval holds every
    ratio *r* for which a t test does not reject that "cost - r * passed" has mean 0, and here also
    the mean cost over both ends of Wilson's interval of the pass rate: where (nearly) all runs
    passed, they tell little of how often others will.  Where the runs are compatible with no pass
    at all it has no upper end.

    ``"bca"`` is the bias-corrected and accelerated bootstrap over 20,000 resamples of runs, as
    some papers give it; it knows only the runs it was given, and has no width where all of them
    passed at the same cost.

    Runs of one task are not independent: where tasks were run several times give each run its task
    as *clusters*.  A cluster then counts as one observation, and the bootstrap draws whole ones.

    Args:
        costs_usd: Cost of each run in USD (0 to 1e300), shape ``(N,)``: a list, or a NumPy,
            pandas, polars or Arrow column.
        passed: Whether it passed, or the pass rate of a task in [0, 1], shape ``(N,)``.
        clusters: A label for each run, equal where runs belong together; None where every run
            stands by itself.
        method: ``"fieller"``, or ``"bca"`` for at most 10,000 runs or clusters.
        confidence: Level of the interval, in (0, 1).
        seed: Of the resamples of ``"bca"`` (at most 2**32 - 1); the same runs in the same order
            and the same seed give the same interval.

    Returns:
        A frozen `CostOfPass`.

    Raises:
        InputError: If a column is empty, their lengths differ, a number is out of range, a pass
            costs more than a float holds, or ``"bca"`` is given too many runs.
        TypeError: If a value has the wrong type, or a label is not hashable.

    Examples:
        >>> costs = [0.12, 0.3, 0.08, 0.22, 0.15, 0.4, 0.11, 0.09, 0.25, 0.18]
        >>> passed = [True, False, True, True, False, True, True, True, False, True]
        >>> print(cost_of_pass_from_columns(costs_usd=costs, passed=passed))
        a pass costs 0.2714 USD [0.1323, 0.6254]
        >>> print(cost_of_pass_from_columns(costs_usd=costs[:3], passed=passed[:3]))
        a pass costs 0.25 USD [0, inf]
        >>> cost_of_pass_from_columns(costs_usd=[0.1, -0.1], passed=[True, True])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: costs_usd[1] must be a number in [0, 1e+300], got -0.1

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359; Fieller, "Some problems in interval estimation", Journal of the Royal
        Statistical Society B 16(2), 1954; Efron, "Better bootstrap confidence intervals", Journal
        of the American Statistical Association 82, 1987.

    .. versionadded:: 0.1.0
    """
    columns = paired_columns(("costs_usd", costs_usd, "numbers"), ("passed", passed, "outcomes"))
    costs = check_number_column("costs_usd", columns[0], 0.0, MAX_COST)
    passes = check_score_column("passed", columns[1])
    check_choice("method", method, ("fieller", "bca"))
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed, 0, 2**32 - 1)
    codes = check_clusters(clusters, costs.size, "costs_usd", costs_usd)
    n = int(codes.max()) + 1
    if method == "bca" and n > MAX_RESAMPLED:
        what = "runs" if clusters is None else "clusters"
        refuse("costs_usd", f'a column of at most {MAX_RESAMPLED} {what} for method="bca"', n)
    n_passes = math.fsum(passes)
    cost = per_pass(costs.tolist(), n_passes)
    interval = None
    if method == "fieller":
        interval = cost_interval(costs, passes, codes, confidence=confidence)
    elif n_passes:
        low, high = 0.0, math.inf
        if n > 1:
            totals = group_sums(costs, codes), group_sums(passes, codes)
            low, high = _bca(*totals, confidence, seed)
        interval = Interval(low=low, high=high, confidence=confidence, method="bca")
    if interval is not None:  # rounding must not leave the cost outside
        low, high = min(interval.low, cost), max(interval.high, cost)
        interval = attrs.evolve(interval, low=low, high=high)
    return CostOfPass(
        cost_of_pass=cost,
        stderr=_delta_error(costs, passes, codes),
        interval=interval,
        n_runs=costs.size,
        n_passes=n_passes,
        n_groups=None if clusters is None else n,
    )


def cost_interval(
    costs: Floats, passes: Floats, codes: NDArray[np.intp], *, confidence: float
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
    interval = ratio_interval(costs, passes, codes, confidence=confidence)
    if interval is None or not codes.any():
        return interval
    least, most = share_interval(passes, codes, confidence)
    scale = float(costs.max()) or 1.0
    mean = scale * mean_of(costs / scale)
    return attrs.evolve(
        interval,
        low=min(interval.low, mean / most),
        high=max(interval.high, mean / least if least else math.inf),
    )


def ratio_interval(
    numerators: Floats, denominators: Floats, codes: NDArray[np.intp], *, confidence: float
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
        quantile = t_quantile(confidence, effective_groups(codes) - 1.0)
        square = quantile * quantile * (1.0 - 1.0 / x.size)
        a = bottom * bottom - square * math.fsum(y * y)
        b = top * bottom - square * math.fsum(x * y)
        c = top * top - square * math.fsum(x * x)
        root = b + math.sqrt(max(b * b - a * c, 0.0))
        ratio = top / bottom  # rounding must not leave it outside where nothing varies
        low = scale * min(c / root, ratio) / unit if c > 0.0 else 0.0
        high = scale * max(root / a, ratio) / unit if a > 0.0 else math.inf
    return Interval(low=low, high=high, confidence=confidence, method="fieller")


def _delta_error(costs: Floats, passes: Floats, codes: NDArray[np.intp]) -> float | None:
    """Return the error of the ratio; None with one group, or without a pass."""
    scale, unit = float(costs.max()) or 1.0, float(passes.max())
    if not unit:
        return None
    costs, passes = costs / scale, passes / unit  # scaled, no square can overflow
    ratio = math.fsum(costs) / math.fsum(passes)
    error = clustered_stderr(costs - ratio * passes, codes, noise=ROUNDING)
    return None if error is None else scale * (error / float(passes.mean())) / unit


def _bca(costs: Floats, passes: Floats, confidence: float, seed: int) -> tuple[float, float]:
    """Return the ends of Efron's interval; a resample without a pass has infinite cost."""
    from scipy.special import ndtr, ndtri

    scale = max(float(costs.max()), 1.0)  # scaled, no sum can overflow
    costs = costs / scale
    ratio = costs.sum() / passes.sum()
    ratios = _resampled(costs, passes, seed)
    ties = ratio * (1 - ROUNDING), ratio * (1 + ROUNDING)
    below = float(np.searchsorted(ratios, ties).mean()) / RESAMPLES
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

    return end(-normal_quantile(confidence)), end(normal_quantile(confidence))


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
