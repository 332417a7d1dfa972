"""How far a judge can stand in for a human: `judge_agreement` and `corrected_mean`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import check_choice, check_flag, check_number
from scorekit._core.columns import check_score_column, paired_columns
from scorekit._stats.bounded import (
    METHOD,
    difference_interval,
    mean_of,
    share_interval,
)
from scorekit.errors import refuse
from scorekit.intervals import Interval, bounded_ends, normal_quantile, t_quantile, wilson
from scorekit.records import Record

FURTHER_ITEMS = 4.0
"""Items spread evenly over all pairs of scores that the interval of kappa allows for."""

Weights = Literal["linear", "quadratic"]
Floats = NDArray[np.float64]

MAX_LABELS = 1000
"""Different scores that are taken: memory grows with their square."""

MAX_SHOWN = 100
"""Different scores beyond which a confusion matrix says nothing."""

MAX_SCORE = 1e100
"""Largest score taken: sums and squares of such ones stay finite."""


@attrs.frozen(kw_only=True)
class JudgeAgreement(Record):
    """Result of `judge_agreement`; ``str()`` shows kappa and accuracy with their intervals."""

    score: float | None
    """Cohen's kappa, at most 1; 0 is what chance gives.  None where *reason* says why."""
    stderr: float | None
    """Of the score, for a large number of items; None without a score or with a single item."""
    interval: Interval | None
    """None without a score."""
    reason: str | None
    """Why there is no score; None where there is one."""
    gwet: float | None
    """Gwet's AC1 (AC2 with *weights*), at most 1.  It stays high where nearly all items have one
    label and agree, where kappa drops; None without a score."""
    weights: Weights | None
    accuracy: float
    """Share of the items on which both agree."""
    accuracy_interval: Interval
    bias: float
    """Mean of judge less human, above 0 where the judge is generous."""
    labels: tuple[float, ...]
    """The scores that either gave, in rising order."""
    confusion: tuple[tuple[int, ...], ...]
    """How often the human gave the row's label and the judge the column's, as *labels*; empty
    where there are more than 100 labels."""
    n_items: int

    def __str__(self) -> str:
        """Return the essentials on one line, rounded for display."""
        weights = f"{self.weights} " if self.weights else ""
        kappa = f"none ({self.reason})" if self.score is None else f"{self.score:.4g}"
        interval = "" if self.interval is None else f" {self.interval}"
        return (
            f"{weights}kappa {kappa}{interval}, accuracy {self.accuracy:.4g} "
            f"{self.accuracy_interval} ({self.n_items} items)"
        )


@attrs.frozen(kw_only=True)
class CorrectedMean(Record):
    """Result of `corrected_mean`; ``str()`` shows it beside both means that it is made of."""

    score: float
    """Estimate of the mean that humans would have given; without *power_tuned* it is not cut to
    ``[0, 1]``."""
    stderr: float
    """For many human labels; *interval* is also for few."""
    interval: Interval
    judge_weight: float
    """How far the judge was trusted, from 0 (human labels alone) to 1."""
    judge_mean: float
    """Mean of what the judge gave where no human did, uncorrected."""
    human_mean: float
    """Mean of the human labels alone."""
    human_interval: Interval
    """Of that mean, which is what is known without the judge."""
    bias: float
    """Mean of judge less human where both are known, above 0 where the judge is generous."""
    sensitivity: float | None
    """Share of the human's 1 that the judge gave 1 too; None unless the human gave some, and only
    0 and 1 were given at all."""
    specificity: float | None
    """The same of 0."""
    rogan_gladen: float | None
    """Rogan and Gladen's estimate from *sensitivity* and *specificity*, as some papers give it;
    not cut to ``[0, 1]``, and unstable where the judge is poor.  None without both, or where they
    sum to no more than 1, which is chance."""
    n_labeled: int
    n_unlabeled: int

    def __str__(self) -> str:
        """Return the means on one line, rounded for display."""
        return (
            f"mean {self.score:.4g} {self.interval} from {self.n_labeled} labels and "
            f"{self.n_unlabeled} judgements (labels alone: {self.human_mean:.4g} "
            f"{self.human_interval}, judge alone: {self.judge_mean:.4g})"
        )


def judge_agreement(
    judge_scores: Iterable[float],
    human_scores: Iterable[float],
    *,
    weights: Weights | None = None,
    confidence_level: float = 0.95,
) -> JudgeAgreement:
    """
    Say how much more a judge agrees with a human than chance would.

    Cohen's kappa, ``1 - D / E`` of the disagreement *D* seen and the one *E* to be expected of two
    who give the same scores in any order.  Without *weights* every disagreement counts 1, with
    ``"linear"`` it counts as the distance of the two scores, with ``"quadratic"`` as its square.
    The interval is Wilson's on the number of items that the standard error makes
    ``(1 + kappa) / 2`` worth, widened to hold the one that four more items spread evenly would
    give, so that few items without a disagreement, or without one label, do not prove that there
    is none.

    Args:
        judge_scores: What the judge gave each item, shape ``(N,)``: numbers on any scale (up to
            1e100), booleans as 0 and 1; both columns hold at most 1000 different ones.
        human_scores: What the human gave the same items, shape ``(N,)``.
        weights: None for scores that are only names, else how distance counts: for graded scores
            take one of the two, for without weights 0.81 and 0.82 are as far apart as 0 and 1.
        confidence_level: Level of the intervals, in ``(0, 1)``.

    Returns:
        A frozen `JudgeAgreement`.

    Raises:
        InputError: If the columns are empty or differ in length, or a number is out of range.
        TypeError: If an argument or an entry has the wrong type.

    Examples:
        >>> judged, human = [1, 0.5, 0, 1, 1, 0], [1, 0.5, 0, 0.5, 1, 0]
        >>> result = judge_agreement(judged, human, weights="linear")
        >>> round(result.score, 3), round(result.accuracy, 3), round(result.bias, 3)
        (0.824, 0.833, 0.083)
        >>> judge_agreement([1, 0], [1])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: judge_scores and human_scores must be equally long, got 2 and 1

    References:
        Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa",
        Psychological Bulletin 72(5), 1969.
        Gwet, "Computing inter-rater reliability and its variance in the presence of high
        agreement", British Journal of Mathematical and Statistical Psychology 61(1), 2008.
    """
    judge_column, human_column = paired_columns(
        ("judge_scores", judge_scores, "scores"), ("human_scores", human_scores, "scores")
    )
    judge = check_score_column("judge_scores", judge_column, -MAX_SCORE, MAX_SCORE)
    human = check_score_column("human_scores", human_column, -MAX_SCORE, MAX_SCORE)
    if weights is not None:
        check_choice("weights", weights, ("linear", "quadratic"))
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    labels, codes = np.unique(np.concatenate([human, judge]), return_inverse=True)
    if labels.size > MAX_LABELS:
        domain = f"scores of at most {MAX_LABELS} kinds, rounded if need be"
        refuse("judge_scores", domain, labels.size)
    n, k = judge.size, labels.size
    counts = np.bincount(codes[:n] * k + codes[n:], minlength=k * k).reshape(k, k)
    cost = _disagreement(labels, weights)
    kappa, stderr = _kappa(counts / n, cost, n)
    accuracy = float(np.trace(counts)) / n
    low, high = wilson(accuracy, n, normal_quantile(confidence_level))
    return JudgeAgreement(
        score=kappa,
        stderr=stderr,
        interval=None if kappa is None else _kappa_interval(kappa, counts, cost, confidence_level),
        reason="both gave every item the same score" if kappa is None else None,
        gwet=_gwet(counts / n, cost),
        weights=weights,
        accuracy=accuracy,
        accuracy_interval=Interval(
            low=low, high=high, confidence_level=confidence_level, method="wilson"
        ),
        bias=float(np.mean(judge - human)),
        labels=tuple(labels.tolist()),
        confusion=tuple(map(tuple, counts.tolist())) if labels.size <= MAX_SHOWN else (),
        n_items=n,
    )


def corrected_mean(
    *,
    judge_labeled: Iterable[float],
    human: Iterable[float],
    judge_unlabeled: Iterable[float],
    power_tuned: bool = False,
    confidence_level: float = 0.95,
) -> CorrectedMean:
    """
    Estimate the mean a human would have given, from few human labels and many judged ones.

    Prediction-powered inference: the judge's mean over the items without label, plus the mean of
    human less judge over the items that have both, ``w * mean(f_U) + mean(y - w * f_L)`` with
    ``w = 1``.  A judge's bias drops out of it, however large; a good judge narrows the interval.
    With *power_tuned* the weight *w* is the one of the smallest error, between 0 and 1, estimated
    from the same data.  For outcomes of 0 and 1 the estimate of Rogan and Gladen stands beside it,
    ``(judge_mean + specificity - 1) / (sensitivity + specificity - 1)``.

    The labelled items must be a random sample of all.  The interval bounds the judge's mean, and
    where the human gave more and less than the judge, each by Wilson's method, so that a few
    items without a disagreement do not prove that there is none.  With *power_tuned* it bounds
    ``y - w * f`` as `mean_interval` does with *bounds*, allows for the weight's being fitted, and
    score and interval stay within ``[0, 1]``.

    Args:
        judge_labeled: Scores in ``[0, 1]`` that the judge gave the items with a human label, shape
            ``(n,)``, at least 2; booleans count 0 and 1.
        human: The human's scores of the same items, shape ``(n,)``.
        judge_unlabeled: The judge's scores of the other items, shape ``(N,)``, at least 2.
        power_tuned: Whether to choose the weight of the judge from the data.
        confidence_level: Level of the interval, in ``(0, 1)``.

    Returns:
        A frozen `CorrectedMean`.

    Raises:
        InputError: If a column has fewer than 2 entries, the first two differ in length, or a
            number is out of range.
        TypeError: If an argument or an entry has the wrong type.

    Examples:
        >>> judged, human = [1, 1, 0, 1, 1, 0, 1, 1], [1, 0, 0, 1, 1, 0, 1, 0]
        >>> result = corrected_mean(
        ...     judge_labeled=judged, human=human, judge_unlabeled=[1] * 70 + [0] * 30
        ... )
        >>> result.judge_mean, result.bias, round(result.score, 3)
        (0.7, 0.25, 0.45)
        >>> corrected_mean(judge_labeled=[1], human=[1], judge_unlabeled=[1, 0])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: human must be a column of at least 2 scores, got 1

    References:
        Angelopoulos et al., "Prediction-powered inference", arXiv:2301.09633.
        Angelopoulos, Duchi and Zrnic, "PPI++", arXiv:2311.01453, for *power_tuned*.
        Rogan and Gladen, "Estimating prevalence from the results of a screening test", American
        Journal of Epidemiology 107(1), 1978.
    """
    judged_column, human_column = paired_columns(
        ("judge_labeled", judge_labeled, "scores"), ("human", human, "scores")
    )
    f = check_score_column("judge_labeled", judged_column)
    y = check_score_column("human", human_column)
    u = check_score_column("judge_unlabeled", judge_unlabeled)
    for name, size in (("human", y.size), ("judge_unlabeled", u.size)):
        if size < 2:  # noqa: PLR2004 - one score says nothing of its error
            refuse(name, "a column of at least 2 scores", size)
    power_tuned = check_flag("power_tuned", power_tuned)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    weight = _tuned_weight(f, y, u) if power_tuned else 1.0
    rest = y - weight * f
    judge_mean = float(np.mean(u))
    score = weight * judge_mean + float(np.mean(rest))
    low, high = share_interval(u, np.arange(u.size), confidence_level)
    human_low, human_high = share_interval(y, np.arange(y.size), confidence_level)
    if power_tuned:
        score = min(max(score, 0.0), 1.0)
        below, above = _tuned_reaches(rest, weight, confidence_level)
    else:
        gap = mean_of(rest)
        correction = difference_interval(rest, np.arange(y.size), confidence_level)
        below, above = gap - correction.low, correction.high - gap
    low = score - math.hypot(weight * (judge_mean - low), below)
    high = score + math.hypot(weight * (high - judge_mean), above)
    if power_tuned:
        low, high = max(low, 0.0), min(high, 1.0)
    return CorrectedMean(
        score=score,
        stderr=math.sqrt(weight**2 * np.var(u) / u.size + np.var(rest) / y.size),
        interval=Interval(
            low=low,
            high=high,
            confidence_level=confidence_level,
            method="bounded" if power_tuned else METHOD,
        ),
        judge_weight=weight,
        judge_mean=judge_mean,
        human_mean=float(np.mean(y)),
        human_interval=Interval(
            low=human_low, high=human_high, confidence_level=confidence_level, method="wilson"
        ),
        bias=float(np.mean(f - y)),
        **_error_rates(f, y, u),
        n_labeled=y.size,
        n_unlabeled=u.size,
    )


def _tuned_reaches(rest: Floats, weight: float, confidence_level: float) -> tuple[float, float]:
    """
    Return how far below and above its mean that of *rest*, ``y - weight * f``, may be.

    Two numbers were fitted to the labels, mean and weight, so that these lie closer to them than
    others would: Akaike's final prediction error makes up for it.
    """
    n, span, mean = rest.size, 1.0 + weight, mean_of(rest)
    ends = bounded_ends((rest + weight) / span, np.arange(n), confidence_level)
    low, high = (span * end - weight for end in ends)
    fitted = math.sqrt((n + 2) / max(n - 2, 1)) if weight else 1.0
    return fitted * (mean - low), fitted * (high - mean)


def _error_rates(f: Floats, y: Floats, u: Floats) -> dict[str, float | None]:
    """Return what a judge of 0 and 1 gets right of either, and the mean that this leads to."""
    binary = all(((scores == 0.0) | (scores == 1.0)).all() for scores in (f, y, u))
    sensitivity = float(np.mean(f[y == 1.0])) if binary and y.any() else None
    specificity = float(np.mean(1.0 - f[y == 0.0])) if binary and not y.all() else None
    corrected = None
    if sensitivity is not None and specificity is not None:
        skill = sensitivity + specificity - 1.0
        corrected = (float(np.mean(u)) + specificity - 1.0) / skill if skill > 0.0 else None
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "rogan_gladen": corrected,
    }


def _disagreement(labels: Floats, weights: Weights | None) -> Floats:
    """Return how much it counts that one gave the row's label and the other the column's."""
    span = labels[-1] - labels[0]
    if weights is None or not span:
        return 1.0 - np.eye(labels.size)
    distance: Floats = np.abs(labels[:, None] - labels[None, :]) / span
    return distance if weights == "linear" else distance * distance


def _kappa(shares: Floats, cost: Floats, n: int) -> tuple[float | None, float | None]:
    """Return kappa and its standard error after Fleiss, Cohen and Everitt."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    expected = float(rows @ cost @ columns)
    if not expected:
        return None, None
    ratio = float(np.sum(shares * cost)) / expected
    # for each item its own disagreement, and what it adds to the expected one
    influence = cost - ratio * ((cost @ columns)[:, None] + (rows @ cost)[None, :])
    mean = float(np.sum(shares * influence))
    variance = float(np.sum(shares * np.square(influence - mean)))
    return 1.0 - ratio, math.sqrt(variance / n) / expected if n > 1 else None


def _gwet(shares: Floats, cost: Floats) -> float | None:
    """Return Gwet's coefficient, whose chance is that of who guesses only where items are hard."""
    k = len(cost)
    if k == 1:
        return None
    rate = (shares.sum(axis=0) + shares.sum(axis=1)) / 2
    by_chance = float(np.sum(1.0 - cost) / (k * (k - 1)) * np.sum(rate * (1.0 - rate)))
    return 1.0 - float(np.sum(shares * cost)) / (1.0 - by_chance)


def _kappa_interval(
    kappa: float, counts: NDArray[np.intp], cost: Floats, confidence_level: float
) -> Interval:
    """Bound kappa from *counts* and from these with further items: the outer ends of the two."""
    n, low, high = int(counts.sum()), -1.0, 1.0
    if n > 1:
        low = high = kappa
        both = (counts, counts + FURTHER_ITEMS / counts.size)
        found = [_kappa(some / some.sum(), cost, n) for some in both]
        error = max(stderr or 0.0 for _, stderr in found)
        for middle, _ in found:
            share = min(max((1.0 + (middle or 0.0)) / 2.0, 0.0), 1.0)
            n_effective = 4.0 * share * (1.0 - share) / (error * error) or n
            ends = wilson(share, n_effective, t_quantile(confidence_level, n - 1))
            low, high = min(low, 2.0 * ends[0] - 1.0), max(high, 2.0 * ends[1] - 1.0)
    return Interval(
        low=low, high=high, confidence_level=confidence_level, method="wilson on kappa"
    )


def _tuned_weight(f: Floats, y: Floats, u: Floats) -> float:
    """Return the weight of the least variance, cut to [0, 1]; 0 where the judge never varies."""
    spread = float(np.var(np.concatenate([f, u])))
    if not spread:
        return 0.0
    shared = float(np.mean((y - np.mean(y)) * (f - np.mean(f))))
    return min(max(shared / ((1.0 + y.size / u.size) * spread), 0.0), 1.0)
