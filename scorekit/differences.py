"""How far two columns of paired scores differ: `paired_difference`, `mcnemar_test`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import attrs
import numpy as np

from scorekit._core.checks import check_bounded_count, check_number
from scorekit._core.columns import check_clusters, check_score_column, paired_columns
from scorekit._stats.bounded import Floats, mean_of
from scorekit._stats.exact_tests import at_least
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    group_sums,
    t_quantile,
    two_sided_p,
)
from scorekit.records import Record

MAX_VALUE = 1e300
"""Largest value taken: differences of such ones stay finite."""

MAX_FLIPS = 20
"""Groups that changed up to which all ways to flip their signs are counted."""

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Share of a value below which it differs only by the rounding of decimals."""


@attrs.frozen(kw_only=True)
class PairedDifference(Record):
    """Result of `paired_difference`; ``str()`` shows difference, interval and p value."""

    delta: float
    """Mean of *current* less *baseline*, above 0 where *current* is higher."""
    baseline_mean: float
    current_mean: float
    stderr: float | None
    """Standard error of *delta*, from the differences; None for a single task or cluster."""
    interval: Interval | None
    """Student's t; None where the differences are all alike, which tells nothing of their error,
    and for a single task or cluster."""
    p_value: float | None
    """Two-sided, of the paired t test; None where *interval* is."""
    sign_flip_p_value: float | None
    """Two-sided and exact where the sides are exchangeable; None where more than 20 tasks, or
    clusters, changed by different amounts."""
    stderr_unpaired: float | None
    """What the standard error would be had the two sides other tasks of the same kind; None where
    *stderr* is."""
    correlation: float | None
    """Pearson's, of the two sides, from which pairing gains; None where one is constant."""
    n_tasks: int
    n_groups: int | None
    """Clusters that the tasks come in; None where they are independent."""

    def __str__(self) -> str:
        """Return the difference on one line, rounded for display."""
        interval = "" if self.interval is None else f" {self.interval}"
        p = "" if self.p_value is None else f"p = {self.p_value:.2g}, "
        tasks = "1 task" if self.n_tasks == 1 else f"{self.n_tasks} tasks"
        return f"{self.delta:+.4g}{interval} ({p}{tasks})"


def paired_difference(
    baseline: Iterable[float],
    current: Iterable[float],
    *,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> PairedDifference:
    """
    Say how far two runs over the same tasks differ, and what pairing them is worth.

    The mean of the differences with Student's t on one degree of freedom less than there are
    tasks, or equally large clusters that would tell as much as *clusters*.  What a paper should
    report of two models: the difference, its paired standard error and the correlation of the
    sides, beside the error that two unpaired means would have.

    The values may be on any scale: scores, costs, seconds.  *sign_flip_p_value* leaves the normal
    distribution out: were the sides exchangeable, each difference could as well have had the
    other sign, and it is the share of all ways to sign them whose sum lies as far from 0 as the
    one seen.  It is given where at most 20 tasks changed (of *clusters* at most 20, which then
    change sign as one), or any number by the same amount, as where scores are 0 and 1.

    Where a few large values would outweigh all others, as among seconds, tokens or dollars,
    neither test is to be trusted: compare the logarithms.  The difference is then that of a
    ratio, which ``exp`` gives back.

    `compare_reports` takes the attempts at each case, knows that scores end at 0 and 1, and gives
    a verdict; on one score for each case its t test is this one.

    Args:
        baseline: One value for each task, shape ``(N,)``: finite numbers of at most 1e300 in size,
            booleans as 0 and 1; a list, or a NumPy, pandas, polars or Arrow column.
        current: The same tasks in the same order, shape ``(N,)``.
        clusters: A label for each task, equal where tasks belong together; None where every task
            stands by itself.
        confidence_level: Share of such intervals that hold the true difference, in (0, 1).

    Returns:
        A frozen `PairedDifference`.

    Raises:
        InputError: If a column is empty, their lengths differ, or a number is out of range.
        TypeError: If a value is not a number, or a label not hashable.

    Examples:
        >>> before = [1, 1, 0, 1, 0.5, 1, 0, 1]
        >>> result = paired_difference(before, [1, 0, 0, 1, 0, 1, 0, 0.5])
        >>> print(result)
        -0.25 [-0.566, 0.06599] (p = 0.1, 8 tasks)
        >>> result.sign_flip_p_value, round(result.stderr, 3), round(result.stderr_unpaired, 3)
        (0.25, 0.134, 0.239)
        >>> paired_difference(before, [1, 0])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: baseline and current must be equally long, got 8 and 2

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
    delta = mean_of(deltas)
    noise = float(rounded.max())
    stderr, *apart = (
        clustered_stderr(values / scale, codes, noise=noise) for values in (deltas, old, new)
    )
    interval = p = None
    if stderr:
        df = effective_groups(codes) - 1.0
        reach = t_quantile(confidence_level, df) * stderr
        interval = Interval(
            low=delta - scale * reach,
            high=delta + scale * reach,
            confidence_level=confidence_level,
            method="t" if clusters is None else "clustered t",
        )
        p = two_sided_p(abs(delta) / scale / stderr, df)
    return PairedDifference(
        delta=delta,
        baseline_mean=mean_of(old),
        current_mean=mean_of(new),
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
    one, other = (values - mean_of(values) for values in (first, second))
    spreads = float(one @ one), float(other @ other)
    if min(spreads) <= one.size * ROUNDING**2:
        return None
    return min(max(float(one @ other) / math.sqrt(math.prod(spreads)), -1.0), 1.0)


@attrs.frozen(kw_only=True)
class McNemarTest(Record):
    """Result of `mcnemar_test`: the p values, and the counts they came from; both by ``str()``."""

    p_value: float
    """Two-sided and exact; it keeps its level for certain, and is cautious for that."""
    mid_p_value: float
    """Two-sided, what was observed counted half; nearer its level, at most *p_value*."""
    corrected_p_value: float | None
    """Two-sided, of chi-squared with continuity correction; None where nothing changed side."""
    regression_p_value: float
    """One-sided and exact, the chance of so many falls or more were both sides alike."""
    n_pass_to_fail: int
    n_fail_to_pass: int

    def __str__(self) -> str:
        """Return the counts and two p values on one line, rounded for display."""
        return (
            f"{self.n_pass_to_fail} fell, {self.n_fail_to_pass} rose "
            f"(mid-p = {self.mid_p_value:.2g}, exact p = {self.p_value:.2g})"
        )


def mcnemar_test(*, n_pass_to_fail: int, n_fail_to_pass: int) -> McNemarTest:
    """
    Say whether two runs differ, from no more than how many tasks changed side.

    For two runs or models that tried each task once.  Tasks that both solved, or neither, say
    nothing about which is better; were the two alike, each of the *n* other tasks would fall or
    rise with chance 1/2, so that the number that fell is binomial, ``B(n, 1/2)``.  The chi-squared
    with continuity correction is ``(|b - c| - 1)^2 / (b + c)`` for *b* falls and *c* rises.

    Where the outcomes themselves are at hand, `compare_reports` says more: its
    Cochran-Mantel-Haenszel test takes several attempts at a task and is, for a single one,
    McNemar's chi-squared without correction, ``(b - c)^2 / (b + c)``.  Take this function where
    only the counts are known or published, or where so few tasks changed side (fewer than 25,
    say) that a normal approximation is in doubt.  The mid-p value is the one to read by default;
    *p_value* where the level must be kept for certain; the corrected one, which is cautious
    without need, to check it against one that was published.

    Args:
        n_pass_to_fail: Tasks that the first run solved and the second did not, *b* (count, at
            most 2**53).
        n_fail_to_pass: Tasks that the second run solved and the first did not, *c* (count, at
            most 2**53).

    Returns:
        A frozen `McNemarTest`.

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
        corrected = math.erfc(abs(many - few - 1) / math.sqrt(2 * (many + few)))
    return McNemarTest(
        p_value=p_value,
        mid_p_value=min(p_value, tail + beyond),
        corrected_p_value=corrected,
        regression_p_value=at_least(falls, rises),
        n_pass_to_fail=falls,
        n_fail_to_pass=rises,
    )
