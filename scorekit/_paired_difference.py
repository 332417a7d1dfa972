"""Two columns of scores of the same tasks -> how far they differ: `paired_difference`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import (
    check_labels,
    check_number,
    check_same_length,
    check_score_column,
    column,
)
from scorekit._records import Record
from scorekit.intervals import (
    Interval,
    clustered_stderr,
    effective_groups,
    t_quantile,
    two_sided_p,
)

MAX_VALUE = 1e300
"""Largest value taken: differences of such ones stay finite."""

MAX_FLIPS = 20
"""Groups that changed up to which all ways to flip their signs are counted."""

ROUNDING = 1e-12
"""Differences smaller than this share of the largest value are the rounding of decimals."""


@attrs.frozen(kw_only=True)
class PairedDifference(Record):
    """Result of `paired_difference`; ``str()`` shows difference, interval and p value."""

    delta: float
    """Mean of *current* less *baseline*."""
    stderr: float | None
    """Standard error of *delta*, from the differences; None for a single task or cluster."""
    interval: Interval | None
    """Student's t; None where the differences are all alike, which tells nothing of their error,
    and for a single task or cluster."""
    p_value: float | None
    """Two-sided, of the paired t test; None where *interval* is."""
    sign_flip_p_value: float | None
    """Two-sided and exact, whatever the distribution; None where more than 20 tasks, or clusters,
    changed, for then the t test needs no such check."""
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
        return f"{self.delta:+.4g}{interval} ({p}{self.n_tasks} tasks)"


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
    distribution out: were the sides alike, each difference could as well have had the other sign,
    and it is the share of all ways to sign them whose sum lies as far from 0 as the one seen.
    Read it where fewer than some 20 tasks changed.

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
    columns = column("baseline", baseline, "scores"), column("current", current, "scores")
    check_same_length("baseline", columns[0].size, "current", columns[1].size)
    old, new = (
        check_score_column(name, values, -MAX_VALUE, MAX_VALUE)
        for name, values in zip(("baseline", "current"), columns, strict=True)
    )
    codes = np.arange(old.size)
    if clusters is not None:
        codes = np.array(check_labels("clusters", clusters, old.size))
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    scale = max(float(abs(old).max()), float(abs(new).max())) or 1.0
    old, new = old / scale, new / scale  # no square can overflow, nor underflow
    deltas = new - old
    deltas[abs(deltas) <= ROUNDING] = 0.0
    delta = math.fsum(deltas) / deltas.size
    stderr, *apart = (
        clustered_stderr(values, codes, noise=ROUNDING) for values in (deltas, old, new)
    )
    interval = p = None
    if stderr:
        df = effective_groups(codes) - 1.0
        reach = t_quantile(confidence, df) * stderr
        interval = Interval(
            low=scale * (delta - reach),
            high=scale * (delta + reach),
            confidence=confidence,
            method="t" if clusters is None else "clustered t",
        )
        p = two_sided_p(abs(delta) / stderr, df)
    return PairedDifference(
        delta=scale * delta,
        stderr=None if stderr is None else scale * stderr,
        interval=interval,
        p_value=p,
        sign_flip_p_value=_sign_flip_p_value(deltas, codes),
        stderr_unpaired=None if stderr is None else scale * math.hypot(*(e or 0.0 for e in apart)),
        correlation=_correlation(old, new),
        n_tasks=deltas.size,
        n_groups=None if clusters is None else int(codes.max()) + 1,
    )


def _sign_flip_p_value(deltas: NDArray[np.float64], codes: NDArray[np.intp]) -> float | None:
    """Return the share of ways to sign groups' sums whose total is as large, either way."""
    totals = np.bincount(codes, weights=deltas)
    changed = totals[abs(totals) > ROUNDING * float(abs(deltas).sum())]
    if changed.size > MAX_FLIPS:
        return None
    sums = np.zeros(1)
    for size in changed:
        sums = np.concatenate([sums + size, sums - size])
    least = abs(float(changed.sum())) - ROUNDING * float(abs(changed).sum())
    return float(np.mean(abs(sums) >= least))


def _correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    one, other = (values - math.fsum(values) / values.size for values in (first, second))
    lengths = float(np.linalg.norm(one)), float(np.linalg.norm(other))
    if min(lengths) <= ROUNDING:
        return None
    return min(max(float(one @ other) / math.prod(lengths), -1.0), 1.0)
