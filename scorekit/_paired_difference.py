"""Two columns of scores of the same tasks -> how far they differ: `paired_difference`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import attrs
import numpy as np

from scorekit._checks import check_number
from scorekit._columns import check_clusters, check_score_column, paired_columns
from scorekit._differences import Floats, mean_of
from scorekit._exact_tests import mcnemar_test
from scorekit._records import Record
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    group_sums,
    t_quantile,
    two_sided_p,
)

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
    confidence: float = 0.95,
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
        confidence: Share of such intervals that hold the true difference, in (0, 1).

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

    .. versionadded:: 0.1.0
    """
    columns = paired_columns(("baseline", baseline, "numbers"), ("current", current, "numbers"))
    old, new = (
        check_score_column(name, values, -MAX_VALUE, MAX_VALUE)
        for name, values in zip(("baseline", "current"), columns, strict=True)
    )
    codes = check_clusters(clusters, old.size, "baseline", baseline)
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
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
        reach = t_quantile(confidence, df) * stderr
        interval = Interval(
            low=delta - scale * reach,
            high=delta + scale * reach,
            confidence=confidence,
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
        test = mcnemar_test(n_pass_to_fail=falls, n_fail_to_pass=changed.size - falls)
        return test.p_value
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
