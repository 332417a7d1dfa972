"""Confidence intervals: `Interval`, `proportion_interval`, `mean_interval`, and what is shared."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import attrs

from scorekit._core.checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_number,
    check_text,
    store,
)
from scorekit._core.columns import check_clusters, check_number_column
from scorekit.errors import refuse
from scorekit.records import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDE = 2**39
"""Successes and failures above which the beta quantiles lose digits, and no method differs."""

_METHODS = ("wilson", "jeffreys", "clopper-pearson", "bayes-uniform")


@attrs.frozen(kw_only=True)
class Interval(Record):
    """
    A confidence interval; ``str()`` shows the two ends to 4 significant digits.

    Raises:
        InputError: If *low* is above *high*, an end is NaN, *confidence_level* is not in
            (0, 1), or *method* is empty.
        TypeError: If a number is not one, or *method* not a string.

    Examples:
        >>> interval = Interval(low=0.25, high=2 / 3, confidence_level=0.95, method="wilson")
        >>> print(interval)
        [0.25, 0.6667]
        >>> Interval(low=0.5, high=0.25, confidence_level=0.95, method="wilson")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: high must be a number >= low = 0.5, got 0.25
    """

    low: float
    """Lower end, inside the interval."""
    high: float
    """Upper end, inside the interval; ``inf`` where the data set no bound."""
    confidence_level: float
    """How often intervals made this way hold the true value, in (0, 1)."""
    method: str
    """How it was made, e.g. ``"wilson"``."""

    def __attrs_post_init__(self) -> None:
        """Check every field; refuse ends in the wrong order."""
        for name in ("low", "high"):
            end = getattr(self, name)
            if end not in (-math.inf, math.inf):
                store(self, name, check_number(name, end))
        confidence_level = check_number(
            "confidence_level", self.confidence_level, 0.0, 1.0, open_ends=True
        )
        store(self, "confidence_level", confidence_level)
        check_text("method", self.method)
        if self.low > self.high:
            refuse("high", f"a number >= low = {self.low}", self.high)

    def __str__(self) -> str:
        """Return both ends, rounded for display."""
        return f"[{self.low:.4g}, {self.high:.4g}]"


def proportion_interval(
    n_successes: int,
    n_trials: int,
    *,
    confidence_level: float = 0.95,
    method: Literal["wilson", "jeffreys", "clopper-pearson", "bayes-uniform"] = "wilson",
) -> Interval:
    """
    Bound the success rate behind *n_successes* in *n_trials* independent trials.

    Wilson's score interval covers the true rate *confidence_level* of the time on average over
    rates; Jeffreys' is the Bayesian one under a Beta(1/2, 1/2) prior; Clopper and Pearson's covers
    at least *confidence_level* of the time at every rate, and is wider for it. With these three no
    success makes the lower end exactly 0, no failure the upper end exactly 1. ``"bayes-uniform"``
    is the middle of the posterior under a uniform prior, as it stands: where no trial succeeded,
    or all did, it leaves out the share seen.

    Args:
        n_successes: Trials that succeeded (count, at most *n_trials*).
        n_trials: Trials made (count, 1 to 2**53).
        confidence_level: Share of such intervals that hold the true rate, in (0, 1).
        method: ``"wilson"``, ``"jeffreys"``, ``"clopper-pearson"`` or ``"bayes-uniform"``.

    Returns:
        An `Interval` within [0, 1]; all methods but the last contain ``n_successes / n_trials``.

    Raises:
        InputError: If a count or *confidence_level* is out of range, or *method* is unknown.
        TypeError: If a count is not an integer, or *confidence_level* not a number.

    Examples:
        >>> print(proportion_interval(1, 10))
        [0.01788, 0.4042]
        >>> proportion_interval(11, 10)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: n_successes must be an integer in [0, n_trials = 10], got 11

    References:
        Brown, Cai and DasGupta, "Interval Estimation for a Binomial Proportion", Statistical
        Science 16(2), 2001, compares the first three.
        Bowyer, Aitchison and Ivanova, "Position: Don't use the CLT in LLM evals with fewer than a
        few hundred datapoints", arXiv:2503.01747, for the uniform prior.
    """
    n = check_bounded_count("n_trials", n_trials, 1)
    successes = check_count("n_successes", n_successes, 0, n, high_name="n_trials")
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    check_choice("method", method, _METHODS)
    if method == "wilson" or min(successes, n - successes) > WIDE:
        low, high = wilson(successes / n, n, normal_quantile(confidence_level))
    else:
        low, high = _beta_ends(successes, n, confidence_level, method)
    return Interval(low=low, high=high, confidence_level=confidence_level, method=method)


def wilson(p: float, n: float, quantile: float) -> tuple[float, float]:
    """
    Return the ends of Wilson's interval for a share *p* of *n* trials, *n* > 0 real.

    A real-valued *n* is an effective number of trials.  The lower end comes from the product of
    the roots rather than their difference, so neither end cancels however small *p* is.
    """
    square = quantile * quantile
    middle = 2.0 * n * p + square
    spread = quantile * math.sqrt(square + 4.0 * n * p * (1.0 - p))
    low = 2.0 * n * p * p / (middle + spread) if p else 0.0
    high = (middle + spread) / (2.0 * (n + square)) if p < 1.0 else 1.0
    return min(low, p), min(max(high, p), 1.0)


def _beta_ends(
    successes: int, n: int, confidence_level: float, method: str
) -> tuple[float, float]:
    failures, tail = n - successes, (1.0 - confidence_level) / 2.0
    if method == "bayes-uniform":
        low = _beta_quantile(successes + 1.0, failures + 1.0, tail)
        return low, max(low, _beta_quantile(successes + 1.0, failures + 1.0, tail, upper=True))
    first, second = (0.5, 0.5) if method == "jeffreys" else (0.0, 1.0)
    low, high = 0.0, 1.0
    if successes:
        low = _beta_quantile(successes + first, failures + second, tail)
    if failures:
        high = _beta_quantile(successes + second, failures + first, tail, upper=True)
    share = successes / n  # at low confidence both of Jeffreys' ends can lie beyond it
    return min(low, share), max(high, share)


def _beta_quantile(a: float, b: float, tail: float, *, upper: bool = False) -> float:
    """Return where a beta distribution has *tail* below it, or above it where *upper*."""
    from scipy.special import betainc, betaincc, betainccinv, betaincinv

    chance, inverse = (betaincc, betainccinv) if upper else (betainc, betaincinv)
    found = float(inverse(a, b, tail))
    if abs(float(chance(a, b, found)) - tail) <= 1e-6 * tail:
        return found
    from scipy.optimize import brentq

    return float(
        brentq(lambda x: chance(a, b, x) - tail, 0.0, 1.0, xtol=1e-300, rtol=1e-15, maxiter=2000)
    )


def mean_interval(
    values: Iterable[float],
    *,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """
    Bound the mean behind *values*, one for each task.

    Student's t on ``n - 1`` degrees of freedom.  With *clusters* the values of a group count as
    one observation: the standard error is the jackknife's over the *G* groups, which is CR1,
    ``sqrt(G / (G - 1) * sum_g (sum_i d_gi)^2) / n`` over the deviations *d*, where they are
    equally large, and t has ``n^2 / sum_g n_g^2 - 1`` degrees of freedom, then ``G - 1``.  A
    single value, or a single cluster, bounds nothing: the interval is then the whole line.

    The interval does not know that scores end at 0 and 1: values without any spread give one of
    no width.  For shares of successes use `proportion_interval` or `pass_at_k`.

    Args:
        values: Finite numbers, shape ``(N,)``: a list, or a NumPy, pandas, polars or Arrow
            column.
        clusters: A label for each value, equal where values belong together (several questions
            on one database); None where every value stands by itself.
        confidence_level: Share of such intervals that hold the true mean, in (0, 1).

    Returns:
        An `Interval` around the mean, of method ``"t"`` or ``"clustered t"``.

    Raises:
        InputError: If *values* is empty or holds NaN or infinity, *clusters* differs in length,
            or *confidence_level* is out of range.
        TypeError: If a value is not a number, or a label not hashable.

    Examples:
        >>> print(mean_interval([0.5, 0.75, 1.0]))
        [0.129, 1.371]
        >>> scores, databases = [1, 1, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]
        >>> print(mean_interval(scores, clusters=databases))
        [-0.7421, 1.742]
        >>> mean_interval([0.5, float("nan")])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: values[1] must be a finite number, got nan

    References:
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640, and Carter, Schnepel and
        Steigerwald, "Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity", Review of
        Economics and Statistics 99(4), 2017, for clusters.
    """
    numbers = check_number_column("values", values)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    codes = check_clusters(clusters, numbers.size, "values", values)
    scale = float(abs(numbers).max()) or 1.0  # scaled, no square can overflow
    mean = math.fsum(numbers / scale) / numbers.size
    stderr = clustered_stderr(numbers / scale, codes)
    low, high = -math.inf, math.inf
    if stderr is not None:
        reach = t_quantile(confidence_level, effective_groups(codes) - 1.0) * stderr
        low, high = scale * (mean - reach), scale * (mean + reach)
    method = "t" if clusters is None else "clustered t"
    return Interval(low=low, high=high, confidence_level=confidence_level, method=method)


def clustered_stderr(
    values: Sequence[float] | NDArray[np.float64],
    codes: Sequence[int] | NDArray[np.intp],
    *,
    noise: float = 0.0,
) -> float | None:
    """
    Return the standard error of the mean, values of one group being dependent.

    *codes* numbers the group of each value; None with one group.  It is the jackknife's over
    groups (CR3): the usual CR1 where they are equally large, ``s / sqrt(n)`` where each value is
    its own group, and larger than CR1, which is then too small, where a few groups hold most
    values.  It is 0 where no group's deviations add up to more than *noise*.
    """
    import numpy as np

    shifts = mean_shifts(np.asarray(values), codes, noise=noise)
    if shifts is None:
        return None
    return math.sqrt((1.0 - 1.0 / shifts.size) * float(shifts @ shifts))


def mean_shifts(
    values: NDArray[np.float64],
    codes: Sequence[int] | NDArray[np.intp],
    *,
    noise: float = 0.0,
) -> NDArray[np.float64] | None:
    """Return by how much the mean falls where a group is left out; None with one group."""
    import numpy as np

    _, group_of, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    n = group_of.size
    if sizes.size == 1:
        return None
    offsets = values - values[0]  # equal values have no spread at all
    sums = group_sums(offsets - math.fsum(offsets) / n, group_of)
    if float(abs(sums).max()) < noise:
        sums[:] = 0.0
    shifts: NDArray[np.float64] = sums / (n - sizes)
    return shifts


def group_sums(
    values: NDArray[np.float64], codes: Sequence[int] | NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the sum of the *values* of each group, *codes* numbering the groups from 0."""
    import numpy as np

    return np.asarray(np.bincount(codes, weights=values), np.float64)


def effective_groups(codes: Sequence[int] | NDArray[np.intp]) -> float:
    """Return the number of equally large groups that would tell as much as these."""
    import numpy as np

    _, sizes = np.unique(codes, return_counts=True)
    return len(codes) ** 2 / float(sizes @ sizes)


@lru_cache(maxsize=64)
def normal_quantile(confidence_level: float) -> float:
    """Return z such that a standard normal lies in [-z, z] with probability *confidence_level*."""
    return -NormalDist().inv_cdf((1.0 - confidence_level) / 2.0)


@lru_cache(maxsize=256)
def t_quantile(confidence_level: float, df: float) -> float:
    """Return t such that Student's t lies in [-t, t] with probability *confidence_level*."""
    from scipy.special import stdtrit

    return min(
        -float(stdtrit(df, (1.0 - confidence_level) / 2.0)), 1e100
    )  # its square stays finite


def two_sided_p(statistic: float, df: float) -> float:
    """Return the chance that Student's t, or a normal for infinite *df*, lies as far from 0."""
    if df == math.inf:
        return math.erfc(statistic / math.sqrt(2))
    from scipy.special import stdtr

    return float(2 * stdtr(df, -statistic))
