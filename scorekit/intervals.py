"""Confidence intervals: `Interval`, of shares, means and quantiles, and what is shared."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import attrs

from scorekit._core.checks import (
    check_bounded_count,
    check_choice,
    check_count,
    check_items,
    check_number,
    check_text,
    store,
)
from scorekit._core.columns import (
    as_builtins,
    check_clusters,
    check_number_column,
    check_score_column,
    column,
)
from scorekit._core.sums import distinct, exact_mean, exact_means, mean_rounded_once
from scorekit._core.text import spanned
from scorekit.errors import refuse
from scorekit.records import Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from scorekit._core.targets import Target

WIDE = 2**39
"""Successes and failures above which the beta quantiles lose digits, and no method differs."""

NOISE = 1e-9
"""Scores closer than this are equal but for rounding."""

CaseWeights: TypeAlias = Mapping[Any, float] | Iterable[float]
"""How much each case weighs, by case or a column."""

Strata: TypeAlias = Mapping[Any, Hashable] | Iterable[Hashable]
"""The subtask of each case, by case or a column."""

Weighting = Literal["groups", "attempts"]
"""What weighs the same in a mean over groups: each group, or each value."""

OF_MEANS = " of group means"
"""Remarks on a method, behind its name."""

_METHODS = ("wilson", "jeffreys", "clopper-pearson", "bayes-uniform")


@attrs.frozen(kw_only=True, repr=False)
class Interval(Record):
    """
    A confidence interval; ``str()`` shows the two ends, with two digits of its width.

    Raises:
        InputError: If *low* is above *high*, an end is NaN, *confidence_level* is not in
            (0, 1), or *method* or *note* is empty.
        TypeError: If an end or the level is not a number, or *method* or *note* not a string.

    Examples:
        >>> interval = Interval(low=0.25, high=2 / 3, confidence_level=0.95, method="wilson")
        >>> print(interval)
        [0.25, 0.67]
        >>> Interval(low=0.5, high=0.25, confidence_level=0.95, method="wilson")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: high must be a number >= low = 0.5, got 0.25
    """

    low: float
    """Lower end, part of the interval; ``-inf`` if the data set no bound."""
    high: float
    """Upper end, part of the interval; ``inf`` if the data set no bound."""
    confidence_level: float
    """Share of such intervals that contain the true value, in (0, 1)."""
    method: str
    """Name of the method, for example ``"wilson"``, and of what it bounds if that is not plain."""
    note: str | None = None
    """How often such an interval contained the true value in simulations, where no method known
    keeps *confidence_level* on data like these. None where the values show no such trouble, which
    does not prove that there is none."""

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
        if self.note is not None:
            check_text("note", self.note)
        if self.low > self.high:
            refuse("high", f"a number >= low = {self.low}", self.high)

    def __iter__(self) -> Iterator[float]:
        """Iterate over both ends: ``low, high = interval``."""
        return iter((self.low, self.high))

    def __getitem__(self, i: int) -> float:
        """Return the lower end for 0, the upper one for 1."""
        return (self.low, self.high)[i]

    def _line(self) -> str:
        note = "" if self.note is None else f" ({self.note})"
        return spanned(self.low, self.high) + note


def interval_around(
    value: float,
    ends: tuple[float, float],
    confidence_level: float,
    method: str,
    *,
    note: str | None = None,
) -> Interval:
    """Return an interval that holds *value*: rounding must not leave it outside."""
    low, high = min(ends[0], value), max(ends[1], value)
    return Interval(
        low=low, high=high, confidence_level=confidence_level, method=method, note=note
    )


def proportion_interval(
    n_successes: int,
    n_trials: int,
    *,
    confidence_level: float = 0.95,
    method: Literal["wilson", "jeffreys", "clopper-pearson", "bayes-uniform"] = "wilson",
) -> Interval:
    """
    Return an interval for the success rate behind *n_successes* in *n_trials* independent trials.

    - ``"wilson"`` contains the true rate *confidence_level* of the time on average over rates.
    - ``"clopper-pearson"`` contains it at least *confidence_level* of the time at every rate, and
      is wider.
    - ``"jeffreys"`` is Bayesian, with the prior Beta(1/2, 1/2).
    - ``"bayes-uniform"`` is the middle of the posterior under a uniform prior. It does not contain
      the observed share if no trial succeeded, or all did.

    With the first three the lower end is exactly 0 without a success, and the upper end exactly 1
    without a failure.

    Args:
        n_successes: Trials that succeeded (count, at most *n_trials*).
        n_trials: Trials made (count, 1 to 2**53).
        confidence_level: Share of such intervals that hold the true rate, in (0, 1).
        method: ``"wilson"``, ``"jeffreys"``, ``"clopper-pearson"`` or ``"bayes-uniform"``.

    Returns:
        An `Interval` within [0, 1]; all methods but the last contain ``n_successes / n_trials``.
        Read *low*, *high* and *method* first.

    Raises:
        InputError: If a count or *confidence_level* is out of range, or *method* is unknown.
        TypeError: If a count is not an integer, or *confidence_level* not a number.

    Examples:
        >>> print(proportion_interval(1, 10))
        [0.02, 0.40]
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
    low = high = successes / n  # at low confidence both of Jeffreys' ends can lie beyond it
    if successes:
        low = min(low, _beta_quantile(successes + first, failures + second, tail))
    if failures:
        high = max(high, _beta_quantile(successes + second, failures + first, tail, upper=True))
    return low, high


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
    bounds: tuple[float, float] | None = None,
    clusters: Iterable[Hashable] | None = None,
    weights: Weighting = "groups",
    case_weights: CaseWeights | None = None,
    strata: Strata | None = None,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """
    Return an interval for the mean behind *values*, one for each task.

    For scores, pass the *bounds* of their scale, such as ``(0, 1)``. The interval is then
    Gaffke's: it adds one value at the end of the scale to those seen and weighs all of them by
    chance. It stays within the bounds and allows for values that are too rare to appear among so
    many, whatever their distribution. For flags it is Clopper and Pearson's; if you mean Wilson's,
    use `proportion_interval`. Few values that lie close together get a wide interval: ten do not
    show that none in ten is at the other end of the scale.

    For costs, seconds and tokens pass ``(0, math.inf)``. The interval is then a bootstrap-t of the
    logarithm of the mean, as those of costs are, which allows for values of which a few are large.

    Args:
        values: Finite numbers, shape ``(N,)``: a list, or a NumPy, pandas, polars or Arrow
            column. Booleans count 0 and 1.
        bounds: The lowest and the highest value that the scale allows, the highest may be
            infinite; with *clusters* they are those of the means of clusters too.  None for values
            without bounds.
        clusters: A label for each value, equal where values belong together (several questions
            on one database, several attempts at one task); None where every value stands by
            itself.
        weights: Which mean the interval is of. ``"groups"`` is the mean of the means of clusters:
            each weighs the same, however many values it has. ``"attempts"`` is the mean of all
            values, in which a task that was tried more often weighs more.
        case_weights: How much each case weighs in the mean, numbers above 0 of which only the
            ratios count: a column of one for each value, or with *clusters*, which then are the
            cases, a mapping from their labels. None where all weigh the same.
        strata: The label of the subtask of each case, in the same form: the interval is of the
            mean of the means of these subtasks, which are fixed. Each has two cases or more.
        confidence_level: Share of such intervals that hold the true mean, in (0, 1).
        seed: Of the resamples behind an infinite bound (at most 2**32 - 1).

    Returns:
        An `Interval` around the mean, of method ``"t"``, ``"gaffke"`` or ``"log bootstrap-t"``.
        With *clusters* the method names the mean: ``"t of group means"``, or with
        ``weights="attempts"`` ``"clustered t"``; with *case_weights* it is ``"t of weighted
        mean"``, with *strata* ``"t of mean of strata"``. Read *low*, *high* and *note* first.

    Raises:
        InputError: If *values* is empty, or contains NaN, infinity or a value outside *bounds*.
            If a weight is not above 0, a case has none, or a stratum has a single case; if both
            *case_weights* and *strata* are given, either with ``weights="attempts"``, or *strata*
            with an infinite bound.
            Also if *bounds* are not two numbers in rising order, the lowest finite, *clusters*
            differs in length, *weights* is unknown, or *confidence_level* or *seed* is out of
            range.
        TypeError: If a value is not a number, or a label not hashable.

    Examples:
        >>> scores = [1, 1, 0.5, 1, 1, 1, 0, 1, 1, 1]
        >>> print(mean_interval(scores, bounds=(0, 1)))
        [0.52, 0.98]
        >>> print(mean_interval(scores))
        [0.61, 1.09]
        >>> databases = ["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]
        >>> print(mean_interval(scores, bounds=(0, 1), clusters=databases))
        [0.39, 0.98]
        >>> usd = [0.12, 0.3, 0.08, 0.22, 0.15, 0.4, 0.11, 0.09, 0.25, 0.18]
        >>> print(mean_interval(usd, bounds=(0, math.inf)))
        [0.12, 0.32]
        >>> subtasks = ["law", "law", "law", "law", "law", "law", "art", "art", "art", "art"]
        >>> print(mean_interval(scores, bounds=(0, 1), strata=subtasks))
        [0.47, 1]
        >>> mean_interval([0.5, float("nan")])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: values[1] must be a finite number, got nan

    Notes:
        Without *bounds* it is Student's t with ``n - 1`` degrees of freedom. It has no width if
        all values are equal.

        If attempts go with failures, as where failed tasks are tried again, the mean of all values
        is not that of the tasks: the interval of the one contains the other in as few as 0.07 of
        simulations.

        With ``weights="attempts"`` the standard error is the jackknife's over the *G* groups, and
        t has ``n^2 / sum_g n_g^2 - 1`` degrees of freedom. If the groups are equally large, that
        is ``G - 1``, and the error is CR1, ``sqrt(G / (G - 1) * sum_g (sum_i d_gi)^2) / n`` over
        the deviations *d*; both weights then give the same without bounds.

        With *case_weights* of shares *w*, which sum to 1, the squared error is
        ``sum_i w_i^2 d_i^2 / (1 - w_i)``, and t has ``1 / sum_i w_i^2 - 1`` degrees of freedom.
        Of *H* strata it is ``sum_h s_h^2 / n_h / H^2``, as groups of benchmarks are published,
        with the degrees of freedom of Welch and Satterthwaite: what lies between fixed subtasks
        is no error. Gaffke's bounds weigh the same way.

        For a single value or cluster the interval is the whole line, or as wide as *bounds*.

        With an infinite bound no method known keeps the level for a few values of which some are a
        hundred times as large as others, or most are zero. The interval then has a *note* that
        names the coverage found. It assumes that no value is far above those seen: where a long
        tail is, a sample often does not show it, and then has no note.

    References:
        Miller, "Adding Error Bars to Evals", arXiv:2411.00640, and Carter, Schnepel and
        Steigerwald, "Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity", Review of
        Economics and Statistics 99(4), 2017, for clusters.
        Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean of a
        nonnegative variable", Mathematical Methods of Statistics 14(4), 2005, and Learned-Miller
        and Thomas, "A new confidence interval for the mean of a bounded random variable",
        arXiv:1905.06208, for *bounds*.
        Hall, "Theoretical comparison of bootstrap confidence intervals", Annals of Statistics
        16(3), 1988, for bootstrap-t.
    """
    limits = None if bounds is None else check_bounds(bounds, open_end=True)
    given = column("values", values, "numbers")
    numbers = check_score_column("values", given, *(limits or (-math.inf, math.inf)))
    check_choice("weights", weights, get_args(Weighting))
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed, 0, 2**32 - 1)
    codes = check_clusters(clusters, numbers.size, "values", values)
    if case_weights is not None or strata is not None:
        if clusters is not None and weights != "groups":
            refuse("weights", "'groups' where case_weights or strata are given", weights)
        cases = None if clusters is None else as_builtins(clusters)
        return _interval_of_target(
            numbers,
            codes,
            cases,
            case_weights=case_weights,
            strata=strata,
            bounds=limits,
            confidence_level=confidence_level,
            seed=seed,
        )
    return interval_of_mean(
        numbers,
        None if clusters is None else codes,
        limits,
        weights=weights,
        confidence_level=confidence_level,
        seed=seed,
    )


def interval_of_mean(
    numbers: NDArray[np.float64],
    groups: NDArray[np.intp] | None,
    bounds: tuple[float, float] | None,
    *,
    confidence_level: float,
    weights: Weighting = "attempts",
    seed: int = 0,
) -> Interval:
    """Do what `mean_interval` does with what was checked before; *groups* numbers the clusters."""
    import numpy as np

    from scorekit._core.gaffke import mean_ends

    of_means = groups is not None and weights == "groups"
    if groups is not None and of_means:
        numbers, groups = group_means(numbers, groups), None
    codes = np.arange(numbers.size) if groups is None else groups
    note = None
    if bounds is None:
        method = "t"
        scale = float(abs(numbers).max()) or 1.0  # scaled, no square can overflow
        mean = exact_mean(numbers / scale)
        stderr = clustered_stderr(numbers / scale, codes)
        low, high = -math.inf, math.inf
        if stderr is not None:
            reach = t_quantile(confidence_level, effective_groups(codes) - 1.0) * stderr
            low, high = scale * (mean - reach), scale * (mean + reach)
    elif bounds[1] == math.inf:
        from scorekit._core.tails import log_mean_ends, trouble

        method, lowest = "log bootstrap-t", bounds[0]
        over = numbers - lowest if lowest else numbers
        scale = float(over.max()) or 1.0  # scaled, no sum can overflow
        sums, sizes = group_sums(over / scale, codes), group_sums(np.ones(numbers.size), codes)
        df = effective_groups(codes) - 1.0
        student = t_quantile(confidence_level, df) if df else math.inf
        low, high = log_mean_ends(sums, sizes, student, confidence_level, seed)
        low, high, note = lowest + scale * low, lowest + scale * high, trouble(sums / sizes)
    else:
        method, (lowest, highest) = "gaffke", bounds
        span = highest - lowest
        low, high = mean_ends((numbers - lowest) / span, codes, confidence_level, (0.0, 1.0))
        low, high = lowest + span * low, min(lowest + span * high, highest)
        if bounds != (0.0, 1.0):  # beside a bound far away digits of the mean are lost
            mean = mean_rounded_once(numbers)
            low, high = min(low, mean), max(high, mean)
    method = f"{'' if groups is None else 'clustered '}{method}{OF_MEANS if of_means else ''}"
    return Interval(
        low=low, high=high, confidence_level=confidence_level, method=method, note=note
    )


def _interval_of_target(
    numbers: NDArray[np.float64],
    codes: NDArray[np.intp],
    cases: Iterable[Hashable] | None,
    *,
    case_weights: CaseWeights | None,
    strata: Strata | None,
    bounds: tuple[float, float] | None,
    confidence_level: float,
    seed: int,
) -> Interval:
    """Do what `mean_interval` does with weights or strata."""
    from scorekit._core.targets import read_target, targets_by_case

    labels, given = None, {"case_weights": case_weights, "strata": strata}
    if cases is not None:
        rows = tuple(cases)
        given = targets_by_case(case_weights, strata, lambda: rows, "values")
        labels = tuple(dict.fromkeys(rows))
        numbers = group_means(numbers, codes)
    target = read_target(given["case_weights"], given["strata"], labels, numbers.size)
    assert target is not None  # noqa: S101 - for the type checkers
    return interval_of_target(
        numbers, target, bounds, confidence_level=confidence_level, seed=seed
    )


def interval_of_target(
    numbers: NDArray[np.float64],
    target: Target,
    bounds: tuple[float, float] | None,
    *,
    confidence_level: float,
    seed: int = 0,
) -> Interval:
    """Bound a mean of cases that do not all weigh the same, checked before."""
    note, low, high = None, *(bounds or (-math.inf, math.inf))
    scale = float(abs(numbers).max()) or 1.0  # scaled, no square can overflow
    if bounds is None:
        method = "t"
        stderr = target.stderr(numbers / scale)
        if stderr is not None:
            mean = target.mean(numbers / scale)
            reach = t_quantile(confidence_level, target.df(numbers / scale)) * stderr
            low, high = scale * (mean - reach), scale * (mean + reach)
    elif high == math.inf:
        from scorekit._core.tails import log_mean_ends, trouble

        if target.strata is not None:
            refuse("bounds", "finite, or None, where strata are given", bounds)
        method, lowest = "log bootstrap-t", low
        over, sizes = (numbers - lowest) / scale, target.shares * numbers.size
        df = target.n_effective - 1.0
        student = t_quantile(confidence_level, df) if numbers.size > 1 else math.inf
        low, high = log_mean_ends(over * sizes, sizes, student, confidence_level, seed)
        low, high, note = lowest + scale * low, lowest + scale * high, trouble(over)
    else:
        from scorekit._core.gaffke import weighted_ends

        method, span, lowest = "gaffke", high - low, low
        shares = target.leveled((numbers - lowest) / span)
        low, high = weighted_ends(shares, target.shares, confidence_level, (0.0, 1.0))
        mean = target.mean(numbers)
        low, high = min(lowest + span * low, mean), max(lowest + span * high, mean)
    return Interval(
        low=low,
        high=high,
        confidence_level=confidence_level,
        method=f"{method} of {target.name}",
        note=note,
    )


def interval_of_share(
    share: float,
    n: int,
    members: tuple[NDArray[np.float64], NDArray[np.intp]] | None,
    *,
    confidence_level: float,
) -> Interval:
    """
    Bound the *share* of *n* trials by Wilson, or as a mean over groups where some are larger.

    *members* are the scores and their groups; None where every trial stands by itself.
    """
    if members is not None and len(set(members[1].tolist())) < n:
        scores, groups = members
        return interval_of_mean(scores, groups, (0.0, 1.0), confidence_level=confidence_level)
    low, high = wilson(share, n, normal_quantile(confidence_level))
    return Interval(low=low, high=high, confidence_level=confidence_level, method="wilson")


def effective_trials(
    scores: NDArray[np.float64], groups: NDArray[np.intp], *, confidence_level: float
) -> float:
    """
    Return the effective number of independent trials of these scores in groups.

    No fewer than there are groups of equal size, and no more than there are scores.  So many that
    the normal quantile stands for Student's.
    """
    n_groups = effective_groups(groups)
    if n_groups == scores.size:
        return n_groups
    share, stderr = exact_mean(scores), clustered_stderr(scores, groups)
    if stderr is None:
        return 0.0
    n = share * (1.0 - share) / stderr**2 if stderr else n_groups
    student = t_quantile(confidence_level, n_groups - 1.0)
    n = min(max(n, n_groups), float(scores.size))
    return n * (normal_quantile(confidence_level) / student) ** 2


def unseen_interval(
    values: NDArray[np.float64],
    groups: NDArray[np.intp],
    confidence_level: float,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """Bound the mean of *values* within *bounds*, also where groups unseen are all at an end."""
    from scorekit._core.gaffke import mean_ends

    low, high = mean_ends(values, groups, confidence_level, bounds)
    return Interval(low=low, high=high, confidence_level=confidence_level, method="gaffke")


def quantile_interval(
    values: Iterable[float],
    q: float,
    *,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> Interval:
    """
    Return an interval for a quantile: the value that a share *q* of all values does not exceed.

    Both ends are values that were seen, chosen by their rank: how many of *n* values lie below
    the quantile is binomial, ``B(n, q)``, whatever their distribution.  Each end misses with a
    chance of at most half of ``1 - confidence_level``.  So it suits latencies, tokens and costs,
    of which a few are large.

    Args:
        values: Finite numbers, shape ``(N,)``, each independent of those in other clusters: a
            list, or a NumPy, pandas, polars or Arrow column.
        q: The share, in (0, 1): 0.5 for the median.
        clusters: A label for each value, equal where values belong together; None where every
            value stands by itself.
        confidence_level: Least share of such intervals that hold the true quantile, in (0, 1).

    Returns:
        An `Interval` of method ``"order statistics"``, or ``"clustered order statistics"``. Read
        *low*, *high* and *method* first.

    Raises:
        InputError: If *values* is empty, or holds NaN or infinity; if *clusters* has another
            length; if *q* or *confidence_level* is out of range.
        TypeError: If a value, *q* or *confidence_level* is not a number, or a label is not
            hashable.

    Examples:
        >>> seconds = [1.2, 0.8, 3.1, 0.9, 1.1, 0.7, 1.4, 9.6, 1.0, 1.3]
        >>> print(quantile_interval(seconds, 0.5))
        [0.8, 3.1]
        >>> print(quantile_interval(seconds, 0.95))
        [1.4, inf]
        >>> quantile_interval(seconds, 95)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: q must be a number in (0, 1) (a share: 0.95 for 95 %), got 95

    Notes:
        With few values an end may be infinite. At 95 % an interval of the median takes 6 values,
        and the upper end of that of the 0.95 quantile 72.

        Values that belong together, such as the latencies of attempts at one task, contain less
        information. With *clusters* the ranks are those of the effective number of values,
        ``p (1 - p) / stderr^2``, where *p* is the share of values up to the quantile seen and
        *stderr* its standard error over clusters (Woodruff; Korn and Graubard).

    References:
        Conover, "Practical Nonparametric Statistics", 3rd ed., 1999, section 3.2.
        Woodruff, "Confidence intervals for medians and other position measures", Journal of the
        American Statistical Association 47, 1952, and Korn and Graubard, "Confidence intervals
        for proportions with small expected number of positive counts estimated from survey data",
        Survey Methodology 24(2), 1998, for clusters.
    """
    import numpy as np
    from scipy.special import betainc, betaincc

    numbers = check_number_column("values", values)
    ordered, n = np.sort(numbers), numbers.size
    q = check_number("q", q, 0.0, 1.0, open_ends=True)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    codes = check_clusters(clusters, n, "values", values)
    tail = (1.0 - confidence_level) / 2.0 + NOISE * (1.0 - confidence_level)
    worth: float = n  # the effective number of independent values
    if clusters is not None:
        up_to = (numbers <= ordered[min(math.ceil(q * n), n) - 1]).astype(float)
        share, stderr = float(up_to.mean()), clustered_stderr(up_to, codes)
        n_groups = effective_groups(codes)
        worth = min(share * (1.0 - share) / stderr**2, n) if stderr else n_groups
        student = t_quantile(confidence_level, n_groups - 1.0) if codes.any() else math.inf
        worth *= (normal_quantile(confidence_level) / student) ** 2
    # values at either side that the quantile lies beyond, but for a chance of that tail
    ranks = range(int(worth))
    below = bisect_right(ranks, tail, key=lambda k: float(betaincc(k + 1.0, worth - k, q)))
    above = bisect_right(ranks, tail, key=lambda k: float(betainc(worth - k, k + 1.0, q)))
    below, above = (int((k - 1) * n / worth) + 1 if k else 0 for k in (below, above))
    low = float(ordered[below - 1]) if below else -math.inf
    return Interval(
        low=low,
        high=max(low, float(ordered[n - above])) if above else math.inf,
        confidence_level=confidence_level,
        method="order statistics" if clusters is None else "clustered order statistics",
    )


def check_bounds(bounds: object, *, open_end: bool = False) -> tuple[float, float]:
    """Return both ends of a scale, in rising order; with *open_end* the last may be infinite."""
    pair = check_items("bounds", bounds, what="two numbers")
    if len(pair) != 2:  # noqa: PLR2004 - a pair
        refuse("bounds", "a pair (lowest, highest)", bounds)
    if open_end and pair[1] == math.inf:
        return check_number("bounds[0]", pair[0]), math.inf
    lowest, highest = (check_number(f"bounds[{i}]", end) for i, end in enumerate(pair))
    if not 0.0 < highest - lowest < math.inf:
        refuse("bounds", "two numbers in rising order, their difference finite", bounds)
    return lowest, highest


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

    numbers = np.asarray(values)
    _, group_of, sizes = distinct(np.asarray(codes))
    if sizes.size == 1:
        return None
    offsets = numbers - numbers[0]  # equal values have no spread at all
    sums = group_sums(offsets - exact_mean(offsets), group_of)
    if float(abs(sums).max()) < noise:
        return 0.0
    shifts = sums / (numbers.size - sizes)  # of the mean, where a group is left out
    return math.sqrt((1.0 - 1.0 / sizes.size) * float(shifts @ shifts))


def design_effect(grouped: float | None, alone: float | None) -> float:
    """Return the design effect, from the errors with groups and without."""
    return max(1.0, (grouped / alone) ** 2) if grouped and alone else 1.0


def group_means(values: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the mean of the *values* of each group."""
    _, group_of, sizes = distinct(codes)
    return exact_means(values, group_of, sizes)


def group_sums(
    values: NDArray[np.float64], codes: Sequence[int] | NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the sum of the *values* of each group, *codes* numbering the groups from 0."""
    import numpy as np

    return np.asarray(np.bincount(codes, weights=values), np.float64)


def effective_groups(codes: Sequence[int] | NDArray[np.intp]) -> float:
    """Return the effective number of groups, as if all were equally large."""
    import numpy as np

    _, _, sizes = distinct(np.asarray(codes))
    return len(codes) ** 2 / float(sizes @ sizes)


@lru_cache(maxsize=64)
def normal_quantile(confidence_level: float) -> float:
    """Return z such that a standard normal lies in [-z, z] with probability *confidence_level*."""
    return -NormalDist().inv_cdf(max((1.0 - confidence_level) / 2.0, math.ulp(0.0)))


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
