"""How far two runs differ: `paired_difference`, `unpaired_difference`, `mcnemar_test`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import attrs
import numpy as np

from scorekit._core.arrays import Floats
from scorekit._core.checks import check_bounded_count, check_number
from scorekit._core.columns import check_clusters, check_score_column, paired_columns
from scorekit._core.gaffke import sides_of
from scorekit._core.roots import root
from scorekit._core.sums import exact_mean
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.exact_tests import at_least, share_up_to
from scorekit._stats.ranks import ROUNDING, midranks, satterthwaite, superiority
from scorekit.intervals import (
    Interval,
    check_bounds,
    clustered_stderr,
    effective_groups,
    group_sums,
    interval_around,
    t_quantile,
    two_sided_p,
)
from scorekit.records import Record

MAX_VALUE = 1e300
"""Largest value taken: differences of such ones stay finite."""

MAX_FLIPS = 20
"""Groups that changed up to which all ways to flip their signs are counted."""

EXACT_RANKS = 60
"""Values up to which the ways to share out their ranks are counted."""

FARTHEST = 7.5
"""Normal quantile of the least p value of a difference within bounds, 6e-14."""


@attrs.frozen(kw_only=True, repr=False)
class PairedDifference(Record):
    """Result of `paired_difference`; ``str()`` shows difference, interval and p value."""

    delta: float
    """Mean of *current* minus *baseline*, above 0 if *current* is higher."""
    baseline_mean: float
    current_mean: float
    stderr: float | None
    """Standard error of *delta*, from the differences; None for a single task or cluster."""
    interval: Interval | None
    """Student's t interval. None for a single task or cluster, and if all differences are equal,
    because their error is unknown then."""
    p_value: float | None
    """Two-sided p value of the paired t test; None if *interval* is."""
    sign_flip_p_value: float | None
    """Two-sided p value, exact if the sides are exchangeable. None if more than 20 tasks, or
    clusters, changed by different amounts."""
    stderr_unpaired: float | None
    """Standard error of two groups of different tasks of the same kind; None if *stderr* is."""
    correlation: float | None
    """Pearson's correlation of the two sides; None if one is constant. The higher it is, the more
    pairing helps."""
    n_tasks: int
    n_groups: int | None
    """Number of clusters; None if the tasks are independent."""

    def _line(self) -> str:
        means = abs(self.baseline_mean), abs(self.current_mean)
        delta = self.delta if abs(self.delta) > ROUNDING * max(means) else 0.0
        return _found(delta, self.interval, self.p_value, counted(self.n_tasks, "task"))


def _found(delta: float, interval: Interval | None, p_value: float | None, of: str) -> str:
    """Return what is found, the difference, and what it stands on; without interval just these."""
    if interval is None:
        return f"{estimate(delta, None, '+')} ({of})"
    found = "inconclusive"
    if interval.low > 0.0 or interval.high < 0.0:
        found = "current is higher" if interval.low > 0.0 else "current is lower"
    p = "" if p_value is None else f"p = {p_value:.2g}, "
    return f"{found}: {estimate(delta, interval, '+')} ({level_of(interval)}, {p}{of})"


def paired_difference(
    baseline: Iterable[float],
    current: Iterable[float],
    *,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> PairedDifference:
    """
    Compare two columns of values for the same tasks: scores, costs, seconds.

    Returns what a paper should report: the mean difference, its paired standard error, the
    correlation of the sides, and the standard error of two unpaired means. The interval is
    Student's t with one degree of freedom less than there are tasks. With *clusters*, tasks are
    replaced by the number of equally large clusters with the same information.

    Args:
        baseline: One value for each task, shape ``(N,)``: finite numbers of at most 1e300 in size,
            booleans as 0 and 1; a list, or a NumPy, pandas, polars or Arrow column.
        current: The same tasks in the same order, shape ``(N,)``.
        clusters: A label for each task, equal where tasks belong together; None where every task
            stands by itself.
        confidence_level: Share of such intervals that hold the true difference, in (0, 1).

    Returns:
        A frozen `PairedDifference`. Read *delta* with its *interval*, *p_value* and *n_tasks*
        first.

    Raises:
        InputError: If a column is empty, their lengths differ, or a number is out of range.
        TypeError: If a value is not a number, or a label not hashable.

    Examples:
        >>> before = [1, 1, 0, 1, 0.5, 1, 0, 1]
        >>> result = paired_difference(before, [1, 0, 0, 1, 0, 1, 0, 0.5])
        >>> print(result)
        inconclusive: -0.25 [-0.57, +0.07] (95 %, p = 0.1, 8 tasks)
        >>> result.sign_flip_p_value, round(result.stderr, 3), round(result.stderr_unpaired, 3)
        (0.25, 0.134, 0.239)
        >>> paired_difference(before, [1, 0])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: baseline and current must be equally long, got 8 and 2

    Notes:
        *sign_flip_p_value* does not assume a normal distribution. If the sides were equally good,
        each difference could as well have the other sign. The p value is the share of all sign
        combinations whose sum is at least as far from 0 as the one observed. It is computed if at
        most 20 tasks (or clusters, which flip as one) changed, or if all changed by the same
        amount, as scores of 0 and 1 do.

        Neither test is reliable if a few large values outweigh all others, as often with seconds,
        tokens or dollars. Compare logarithms then, and apply ``exp`` to get a ratio of geometric
        means. That is not the ratio of mean costs, which a few large ones move.

        `compare_reports` answers another question: of scores between 0 and 1, whether a run got
        worse. Its t test is this one with the lowest changes cut, so that a deeper fall of one
        case never hides the others, and its interval allows for cases that no sample showed. Its
        p value is therefore this one or smaller, and its interval is wider away from 0.

    References:
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640, section 4, and Fisher, "The Design
        of Experiments", 1935, section 21, for the signs.
    """
    columns = paired_columns(("baseline", baseline, "numbers"), ("current", current, "numbers"))
    old, new = (
        check_score_column(name, values, -MAX_VALUE, MAX_VALUE)
        for name, values in zip(("baseline", "current"), columns, strict=True)
    )
    codes = check_clusters(clusters, old.size, "baseline", baseline)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    deltas = new - old
    sizes = np.maximum(abs(old), abs(new))
    scale = 2.0 ** math.frexp(float(sizes.max()))[1]  # no square can overflow, nor underflow
    rounded = np.where(deltas == 0.0, 0.0, ROUNDING * sizes / scale)
    delta = exact_mean(deltas)
    noise = float(rounded.max())
    stderr, *apart = (
        clustered_stderr(values / scale, codes, noise=noise) for values in (deltas, old, new)
    )
    interval = p = None
    if stderr:
        df = effective_groups(codes) - 1.0
        reach = t_quantile(confidence_level, df) * stderr
        ends = delta - scale * reach, delta + scale * reach
        method = "t" if clusters is None else "clustered t"
        interval = interval_around(delta, ends, confidence_level, method)
        p = two_sided_p(abs(delta) / scale / stderr, df)
    return PairedDifference(
        delta=delta,
        baseline_mean=exact_mean(old),
        current_mean=exact_mean(new),
        stderr=None if stderr is None else scale * stderr,
        interval=interval,
        p_value=p,
        sign_flip_p_value=_sign_flip_p_value(
            group_sums(deltas / scale, codes), group_sums(rounded, codes)
        ),
        stderr_unpaired=None if stderr is None else scale * math.hypot(*(e or 0.0 for e in apart)),
        correlation=_correlation(old / scale, new / scale),
        n_tasks=deltas.size,
        n_groups=None if clusters is None else int(codes.max()) + 1,
    )


def _sign_flip_p_value(totals: Floats, noise: Floats) -> float | None:
    """Return the share of ways to sign groups' *totals* whose sum is as large, either way."""
    is_changed = abs(totals) > noise
    changed, doubt = totals[is_changed], float(noise[is_changed].sum())
    sizes = abs(changed)
    if changed.size and float(np.ptp(sizes)) <= doubt:  # all alike: it is their number that counts
        falls = int(np.count_nonzero(changed < 0.0))
        many = max(falls, changed.size - falls)
        return min(1.0, 2.0 * at_least(many, changed.size - many))
    if changed.size > MAX_FLIPS:
        return None
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return float(np.mean(abs(sums) >= abs(float(changed.sum())) - doubt))


def _correlation(first: Floats, second: Floats) -> float | None:
    one, other = (values - exact_mean(values) for values in (first, second))
    spreads = float(one @ one), float(other @ other)
    if min(spreads) <= one.size * ROUNDING**2:
        return None
    return min(max(float(one @ other) / math.sqrt(math.prod(spreads)), -1.0), 1.0)


@attrs.frozen(kw_only=True, repr=False)
class UnpairedDifference(Record):
    """Result of `unpaired_difference`; ``str()`` shows the difference and Cliff's delta."""

    delta: float
    """Mean of *current* minus mean of *baseline*, above 0 if *current* is higher."""
    baseline_mean: float
    current_mean: float
    stderr: float | None
    """Standard error of *delta*; None where a side has a single value."""
    interval: Interval | None
    """Welch's t interval of *delta*, or with *bounds* one from Gaffke's of both means. None if
    *stderr* is, and without *bounds* if neither side varies, because the error is unknown then."""
    p_value: float | None
    """Two-sided p value by the method of *interval*: 1 less the greatest level at which it leaves
    out 0. None if *interval* is."""
    mann_whitney_p_value: float
    """Two-sided p value of the rank sum test, exact up to 60 values, ties included. For more
    values it is a normal approximation, corrected for ties and continuity. 1.0 if all values are
    equal."""
    cliffs_delta: float
    """Chance that a value of *current* is higher than one of *baseline*, minus the chance that it
    is lower; in ``[-1, 1]``."""
    cliffs_delta_interval: Interval
    n_baseline: int
    n_current: int

    def _line(self) -> str:
        stands_on = f"{self.n_baseline} and {self.n_current} values"
        cliffs_delta = estimate(self.cliffs_delta, self.cliffs_delta_interval, "+")
        return (
            f"{_found(self.delta, self.interval, self.p_value, stands_on)}, Cliff's delta "
            f"{cliffs_delta} (Mann-Whitney p = {self.mann_whitney_p_value:.2g})"
        )


def unpaired_difference(
    baseline: Iterable[float],
    current: Iterable[float],
    *,
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
) -> UnpairedDifference:
    """
    Compare two groups of different tasks.

    Use it for columns without pairs: easy and hard tasks, two languages, users before and after a
    release. If both runs had the same tasks, use `paired_difference`, which finds much smaller
    differences.

    Args:
        baseline: Finite numbers of at most 1e300 in size, shape ``(N,)``, booleans as 0 and 1; a
            list, or a NumPy, pandas, polars or Arrow column.
        current: The other group, shape ``(M,)``.
        bounds: The lowest and the highest value that the scale allows, such as ``(0, 1)``; None
            for values without bounds.
        confidence_level: Level of both intervals, in (0, 1).

    Returns:
        A frozen `UnpairedDifference`. Read *delta* with its *interval*, *p_value* and
        *cliffs_delta* first.

    Raises:
        InputError: If a group is empty, or a number is out of range.
        TypeError: If a value is not a number.

    Examples:
        >>> python, rust = [1, 1, 0.5, 1, 1, 0, 1, 1] * 2, [0.5, 0, 0, 1, 0.5, 0] * 2
        >>> result = unpaired_difference(python, rust, bounds=(0, 1))
        >>> round(result.delta, 3), str(result.interval), round(result.p_value, 3)
        (-0.479, '[-0.72, -0.11]', 0.008)
        >>> round(result.cliffs_delta, 3), str(result.cliffs_delta_interval)
        (-0.604, '[-0.84, -0.17]')
        >>> unpaired_difference(python, [])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: current must be a non-empty sequence of booleans or scores, got ()

    Notes:
        The difference of the means has Welch's t interval and p value, which allow for different
        variances. For scores pass the *bounds* of their scale. The interval is then combined from
        Gaffke's intervals for each group (MOVER), which are reliable even if nearly all scores are
        1, and the p value is that of this interval. Welch's would be below 0.05 for 9 to 15 % of
        equal groups of such scores.

        Cliff's delta says how far one group lies above the other. It is 0 without a difference,
        and 1 if every value of *current* is above every value of *baseline*. It does not depend on
        the scale, so it suits seconds, tokens and grades. Its interval is Wilson's on an effective
        number of values, from the standard error of Brunner and Munzel, or from Newcombe's formula
        if that gives fewer. So it never has zero width, even if two groups do not overlap.

        Mann and Whitney's test asks whether both groups come from one distribution.

    References:
        Cliff, "Dominance statistics: Ordinal analyses to answer ordinal questions", Psychological
        Bulletin 114(3), 1993.
        Brunner and Munzel, "The Nonparametric Behrens-Fisher Problem", Biometrical Journal 42(1),
        2000.
        Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney
        statistic. Part 2", Statistics in Medicine 25(4), 2006, method 5.
    """  # noqa: E501 - a message is one line
    limits = (-MAX_VALUE, MAX_VALUE) if bounds is None else check_bounds(bounds)
    old = check_score_column("baseline", baseline, *limits)
    new = check_score_column("current", current, *limits)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    ranks, ties = midranks(np.concatenate([old, new]))
    above = superiority(old, new)
    scale = 2.0 ** math.frexp(max(float(abs(old).max()), float(abs(new).max())))[1]
    means = [exact_mean(side / scale) for side in (old, new)]
    delta = means[1] - means[0]
    stderr = interval = p = None
    if min(old.size, new.size) > 1:
        errors = [
            clustered_stderr(
                side / scale, np.arange(side.size), noise=ROUNDING * float(abs(side).max()) / scale
            )
            or 0.0
            for side in (old, new)
        ]
        stderr = math.hypot(*errors)
        if stderr:
            welch = satterthwaite(errors, (old.size, new.size))
            reach = t_quantile(confidence_level, welch) * stderr
            ends = scale * (delta - reach), scale * (delta + reach)
            interval = interval_around(scale * delta, ends, confidence_level, "Welch's t")
            p = two_sided_p(abs(delta) / stderr, welch)
        if bounds is not None:
            lowest, highest = limits
            first, second = ((side - lowest) / (highest - lowest) for side in (old, new))
            interval, p = _bounded_difference(first, second, highest - lowest, confidence_level)
    low, high = above.ends(confidence_level)
    return UnpairedDifference(
        delta=scale * delta,
        baseline_mean=scale * means[0],
        current_mean=scale * means[1],
        stderr=None if stderr is None else scale * stderr,
        interval=interval,
        p_value=p,
        mann_whitney_p_value=_rank_sum_p_value(ranks, ties, old.size),
        cliffs_delta=2.0 * above.chance - 1.0,
        cliffs_delta_interval=Interval(
            low=2.0 * low - 1.0,
            high=2.0 * high - 1.0,
            confidence_level=confidence_level,
            method="wilson on Cliff's delta",
        ),
        n_baseline=old.size,
        n_current=new.size,
    )


def _bounded_difference(
    old: Floats, new: Floats, span: float, confidence_level: float
) -> tuple[Interval, float]:
    """Bound the difference of two means in [0, 1] by those of both (MOVER), with its p value."""
    (low, high), (new_low, new_high) = (
        sides_of(side, np.arange(side.size), (0.0, 1.0)) for side in (old, new)
    )
    delta = new_low.mean - low.mean

    def reach(error: float, *, down: bool) -> float:
        """Return how far the difference may lie below the one seen, or above it."""
        ends = (new_low, high) if down else (new_high, low)
        return math.hypot(*(side.mean - side.end(error) for side in ends))

    error = (1.0 - confidence_level) / 2.0
    ends = span * (delta - reach(error, down=True)), span * (delta + reach(error, down=False))
    interval = interval_around(span * delta, ends, confidence_level, "gaffke")

    def excess(z: float) -> float:  # the reach is nearly proportional to normal quantiles
        return reach(two_sided_p(z, math.inf) / 2.0, down=delta > 0.0) - abs(delta)

    if excess(0.0) >= 0.0:
        return interval, 1.0
    beyond = excess(FARTHEST) < 0.0
    return interval, two_sided_p(FARTHEST if beyond else root(excess, 0.0, FARTHEST), math.inf)


def _rank_sum_p_value(ranks: Floats, ties: Floats, n_old: int) -> float:
    """Return Mann and Whitney's two-sided p value."""
    n, n_new = ranks.size, ranks.size - n_old
    if ties.size == 1:
        return 1.0
    if n <= EXACT_RANKS:
        places = np.rint(2.0 * ranks).astype(np.int64) - 2
        share = max(1, int(np.gcd.reduce(places)))
        places //= share
        most, total = int(places[n_old:].sum()), int(places.sum())
        below = share_up_to(places, n_new, most)
        above = share_up_to(places, n_old, total - most)  # as low a sum of the others
        return min(1.0, 2.0 * min(below, above))
    expected = n_new * (n + 1) / 2.0
    tied = float(np.sum(ties * (ties * ties - 1.0))) / (n * (n - 1.0))
    spread = math.sqrt(n_old * n_new / 12.0 * (n + 1.0 - tied))
    off = max(abs(float(ranks[n_old:].sum()) - expected) - 0.5, 0.0)
    return two_sided_p(off / spread, math.inf)


@attrs.frozen(kw_only=True, repr=False)
class McNemarTest(Record):
    """Result of `mcnemar_test`: the p values, and the counts they came from; both by ``str()``."""

    p_value: float
    """Two-sided exact p value. Its false-alarm rate never exceeds the level, so it is cautious."""
    mid_p_value: float
    """Two-sided p value that counts the observed outcome half. Its false-alarm rate is closer to
    the level."""
    corrected_p_value: float | None
    """Two-sided p value of chi-squared with continuity correction; None if no task changed."""
    regression_p_value: float
    """One-sided exact p value, the chance of as many falls or more if both runs were equally
    good."""
    n_pass_to_fail: int
    n_fail_to_pass: int

    def _line(self) -> str:
        n = self.n_pass_to_fail + self.n_fail_to_pass
        return (
            f"{self.n_pass_to_fail} of {counted(n, 'changed task')} fell "
            f"(mid-p = {self.mid_p_value:.2g}, exact p = {self.p_value:.2g})"
        )


def mcnemar_test(*, n_pass_to_fail: int, n_fail_to_pass: int) -> McNemarTest:
    """
    Test whether two runs differ, from the numbers of tasks that fell and rose.

    Each run tried each task once. Tasks that both solved, or neither, do not show which run is
    better.

    Args:
        n_pass_to_fail: Tasks that the first run solved and the second did not, *b* (count, at
            most 2**53).
        n_fail_to_pass: Tasks that the second run solved and the first did not, *c* (count, at
            most 2**53).

    Returns:
        A frozen `McNemarTest`. Read *mid_p_value*, *n_pass_to_fail* and *n_fail_to_pass* first.

    Raises:
        InputError: If a count is out of range.
        TypeError: If a count is not an integer.

    Examples:
        >>> result = mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=3)
        >>> round(result.p_value, 4), round(result.mid_p_value, 4)
        (0.0352, 0.0213)
        >>> mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=-3)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_fail_to_pass must be an integer >= 0, got -3

    Notes:
        If the runs were equally good, each of the *n* tasks that changed would fall or rise with
        chance 1/2, and the number of falls would be binomial, ``B(n, 1/2)``. The chi-squared with
        continuity correction is ``max(|b - c| - 1, 0)^2 / (b + c)`` for *b* falls and *c* rises.

        Use the mid-p value by default. Use *p_value* if the false-alarm rate must never exceed the
        level, and the corrected one, which is too cautious, only to check a published value.

        Use this function if you know only the counts, or if so few tasks changed (fewer than about
        25) that a normal approximation is doubtful. If you have the outcomes, `compare_reports`
        does more: it takes several attempts at a task, and tests single cases too.

    References:
        Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data: mid-p and
        asymptotic are better than exact conditional", BMC Medical Research Methodology 13:91,
        2013.
    """
    falls = check_bounded_count("n_pass_to_fail", n_pass_to_fail)
    rises = check_bounded_count("n_fail_to_pass", n_fail_to_pass)
    many, few = max(falls, rises), min(falls, rises)
    tail = at_least(many, few)
    beyond = at_least(many + 1, few - 1) if few else 0.0
    p_value = min(1.0, 2.0 * tail)
    corrected = None
    if many:
        corrected = math.erfc(max(many - few - 1, 0) / math.sqrt(2 * (many + few)))
    return McNemarTest(
        p_value=p_value,
        mid_p_value=min(p_value, tail + beyond),
        corrected_p_value=corrected,
        regression_p_value=at_least(falls, rises),
        n_pass_to_fail=falls,
        n_fail_to_pass=rises,
    )
