"""How far raters agree, and how far a judge can stand in for a human."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple, TypedDict

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats
from scorekit._core.checks import (
    check_choice,
    check_flag,
    check_items,
    check_number,
    check_same_length,
    is_flag,
    is_missing,
)
from scorekit._core.columns import (
    as_builtins,
    check_clusters,
    check_score_column,
    check_text_column,
    paired_columns,
    split_missing,
)
from scorekit._core.sums import exact_mean
from scorekit._core.tails import widened
from scorekit._core.text import rounded
from scorekit._sheet.model import Sheet, by_fields
from scorekit._sheet.values import counted, estimate, level_of
from scorekit._stats.exact_tests import drop_p_value
from scorekit._stats.profile import agreement
from scorekit.errors import refuse
from scorekit.intervals import (
    Interval,
    check_bounds,
    clustered_stderr,
    effective_groups,
    group_sums,
    interval_of_mean,
    normal_quantile,
    proportion_interval,
    t_quantile,
)
from scorekit.records import Record

Weights = Literal["linear", "quadratic"]
Scale = Literal["nominal", "ordinal", "interval"]

FEW_LABELS = 25
"""Human labels, or groups of them, from which on a judge is used. Fewer do not show how far it is
off: with 20 an interval that used it covered 0.90."""

SHIFTED = 0.01
"""P value below which labeled items are taken for no random sample of all."""

MAX_LABELS = 1000
"""Different scores that are taken: memory grows with their square."""

MAX_SHOWN = 100
"""Different scores beyond which a confusion matrix says nothing."""

NO_SPREAD = 1e-12
"""Disagreement that rounding may leave where there is none."""

MOST_ITEMS = 2000
"""Items that the interval of alpha weighs one by one; more are put together at random."""

MAX_SCORE = 1e100
"""Largest score taken: sums and squares of such ones stay finite."""


RELIABLE = 0.8
"""Alpha from which Krippendorff takes ratings for reliable."""


@attrs.frozen(kw_only=True, repr=False)
class JudgeAgreement(Record):
    """Result of `judge_agreement`; ``str()`` shows kappa and accuracy with their intervals."""

    score: float | None
    """Cohen's kappa, at most 1; 0 is what chance gives.  None where *reason* says why."""
    stderr: float | None
    """Standard error of the score, for a large number of items; None without a score or with a
    single item."""
    interval: Interval | None
    """None without a score."""
    reason: str | None
    """Why there is no score; None where there is one."""
    gwet: float | None
    """Gwet's AC1 (AC2 with *weights*), at most 1. Unlike kappa it stays high if nearly all items
    have one label and both agree. None without a score."""
    gwet_interval: Interval | None
    sensitivity: float | None
    """Share of the items with the human's higher label to which the judge gave it too. None if
    there are none, or if there are not two labels that are numbers."""
    sensitivity_interval: Interval | None
    specificity: float | None
    """Share of the items with the human's lower label to which the judge gave it too; None as
    above."""
    specificity_interval: Interval | None
    weights: Weights | None
    accuracy: float
    """Share of the items on which both agree."""
    accuracy_interval: Interval
    bias: float | None
    """Mean of judge minus human, above 0 if the judge is generous; None for words."""
    labels: tuple[str | float, ...]
    """The scores or words that either gave, in rising order."""
    confusion: tuple[tuple[int, ...], ...]
    """How often the human gave the row's label and the judge the column's, as *labels*; empty
    where there are more than 100 labels."""
    n_items: int

    def _line(self) -> str:
        weights = f"{self.weights} " if self.weights else ""
        kappa = f"none ({self.reason})"
        if self.score is not None:
            kappa = estimate(self.score, self.interval)
        accuracy, ends = estimate(self.accuracy, self.accuracy_interval), self.accuracy_interval
        return (
            f"{weights}kappa {kappa}, accuracy {accuracy} ({level_of(ends)}, "
            f"{counted(self.n_items, 'item')})"
        )

    def _sheet(self) -> Sheet:
        notes = list[str]()
        if self.sensitivity is not None and self.specificity is not None:
            right = estimate(self.sensitivity, self.sensitivity_interval)
            wrong = estimate(self.specificity, self.specificity_interval)
            notes.append(f"recognized of what humans pass: {right}, of what they fail: {wrong}")
            notes.append("a mean of its scores is biased by what it misses: see corrected_mean")
        return attrs.evolve(by_fields(self), parts=(*notes, *by_fields(self).parts))


@attrs.frozen(kw_only=True, repr=False)
class RaterAgreement(Record):
    """Result of `rater_agreement`; ``str()`` shows alpha and, if there is one, Fleiss' kappa."""

    score: float | None
    """Krippendorff's alpha, at most 1; 0 is what chance gives.  None where *reason* says why."""
    stderr: float | None
    """Standard error over items, for a large number of them; None without a score or with a single
    item."""
    interval: Interval | None
    """None without a score."""
    reason: str | None
    """Why there is no score; None where there is one."""
    fleiss_kappa: float | None
    """Fleiss' kappa, which takes ratings as names whatever the *scale*; None without a score, and
    where not all items have the same number of ratings."""
    fleiss_interval: Interval | None
    """None where *fleiss_kappa* is."""
    scale: Scale
    n_raters: int
    """Raters with at least one rating that counted."""
    n_items: int
    """Items with at least two ratings."""
    n_left_out: int
    """Items with fewer than two ratings, which do not count."""
    n_ratings: int
    """Ratings that counted."""

    def _line(self) -> str:
        alpha, shown_level = f"none ({self.reason})", ""
        if self.score is not None:
            alpha = estimate(self.score, self.interval)
        if self.interval is not None:
            shown_level = f"{level_of(self.interval)}, "
        kappa = ""
        if self.fleiss_kappa is not None:
            kappa = f", Fleiss' kappa {estimate(self.fleiss_kappa, self.fleiss_interval)}"
        raters, items = counted(self.n_raters, "rater"), counted(self.n_items, "item")
        return f"{self.scale} alpha {alpha}{kappa} ({shown_level}{raters}, {items})"

    def _sheet(self) -> Sheet:
        notes = list[str]()
        if self.interval is not None:
            shown = "not shown to be"
            if self.interval.low >= RELIABLE:
                shown = "shown to be"
            elif self.interval.high < RELIABLE:
                shown = "shown not to be"
            notes.append(f"{shown} reliable by Krippendorff's rule, alpha of {RELIABLE:g} or more")
        return attrs.evolve(by_fields(self), parts=(*notes, *by_fields(self).parts))


@attrs.frozen(kw_only=True, repr=False)
class CorrectedMean(Record):
    """Result of `corrected_mean`; ``str()`` shows it beside both means that it is made of."""

    score: float
    """Estimate of the mean that humans would have given, within the bounds of the scale."""
    stderr: float
    """Standard error, valid for many human labels. The *interval* is also valid for few."""
    interval: Interval
    judge_weight: float
    """Weight of the judge, from 0 (human labels alone) to 1."""
    judge_mean: float
    """Mean of the judge's scores of the items without a human label, not corrected."""
    human_mean: float
    """Mean of the human labels alone."""
    human_interval: Interval
    """Interval of *human_mean*, which is the result without a judge."""
    bias: float
    """Mean of judge minus human over the labeled items, above 0 if the judge is generous."""
    sensitivity: float | None
    """Share of the items with human score 1 to which the judge gave 1 too. None if there are no
    such items, or if scores other than 0 and 1 occur."""
    specificity: float | None
    """Share of the items with human score 0 to which the judge gave 0 too; None as above."""
    rogan_gladen: float | None
    """Rogan and Gladen's estimate from *sensitivity* and *specificity*. It is not cut to
    ``[0, 1]``, and unstable for a poor judge. None without both, or if their sum is at most 1,
    which is no better than chance."""
    rogan_gladen_interval: Interval | None
    """Its interval, within ``[0, 1]``. It holds if the judge errs as often on labeled items as on
    others, even if right answers are more frequent among one of them."""
    shift_p_value: float
    """Two-sided p value of Fisher's exact test whether the judge gives labeled items high scores,
    above its mean, as often as the others."""
    preferred: Literal["score", "rogan_gladen"] | None
    """Estimate that the labels call for, ``"score"`` if they may be a random sample of all items,
    ``"rogan_gladen"`` if *shift_p_value* is below 0.01. None if there is no such estimate then."""
    n_labeled: int
    n_unlabeled: int
    n_unlabeled_used: int
    """Judgements of items without a label that *score* uses: all of them or none."""
    reason: str | None
    """Why the judge is not used; None where it is."""

    def _line(self) -> str:
        low, high = self.interval.low, self.interval.high
        judge = rounded(self.judge_mean, low, high)
        text = (
            f"mean {estimate(self.score, self.interval)} ({level_of(self.interval)}) from "
            f"{_used(self)} (labels alone: {estimate(self.human_mean, self.human_interval)}, "
            f"judge alone: {judge})"
        )
        if self.preferred == "score":
            return text
        instead = "and no estimate here allows for that"
        if self.preferred is not None and self.rogan_gladen is not None:
            ours = estimate(self.rogan_gladen, self.rogan_gladen_interval)
            instead = f"use Rogan and Gladen's estimate: {ours}"
        return (
            f"{text}; the labels are no random sample of all items "
            f"(p = {self.shift_p_value:.2g}), {instead}"
        )


def _used(result: CorrectedMean | CorrectedDifference) -> str:
    """Say what an estimate was made of."""
    judgements = f"{result.n_unlabeled} judgements"
    if result.reason is None:
        return f"{result.n_labeled} labels and {judgements}"
    return f"{result.n_labeled} labels, {judgements} not used: {result.reason}"


def judge_agreement(
    judge_scores: Iterable[float | str],
    human_scores: Iterable[float | str],
    *,
    weights: Weights | None = None,
    confidence_level: float = 0.95,
) -> JudgeAgreement:
    """
    Measure how well a judge agrees with a human, beyond chance.

    The score is Cohen's kappa, ``1 - D / E``, where *D* is the observed disagreement and *E* the
    one expected if the two were independent. Without *weights* every disagreement counts 1. With
    ``"linear"`` it counts as the distance of the two scores, and with ``"quadratic"`` as its
    square.

    If nearly all items have one label, report Gwet's coefficient beside kappa.

    Args:
        judge_scores: What the judge gave each item, shape ``(N,)``: numbers on any scale (up to
            1e100), booleans as 0 and 1; or words, in both columns. Both hold at most 1000
            different ones.
        human_scores: What the human gave the same items, shape ``(N,)``.
        weights: None if scores are only names, as words are; ``"linear"`` or ``"quadratic"`` for
            graded scores. Without weights 0.81 and 0.82 are as far apart as 0 and 1.
        confidence_level: Level of the intervals, in ``(0, 1)``.

    Returns:
        A frozen `JudgeAgreement`. Read *score* with its *interval*, *sensitivity* and
        *specificity* first.

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

    Notes:
        The intervals of kappa and of Gwet's coefficient come from the likelihood of the counts.
        They hold every value under which the counts are likely enough, by the square of Student's
        quantile with ``n - 1`` degrees of freedom. The agreement by chance is taken as linear in
        the shares of labels around those seen. They allow for pairs of labels that no item shows,
        up to the next disagreement above the largest seen, so they never have zero width.

    References:
        Fleiss, Cohen and Everitt, "Large sample standard errors of kappa and weighted kappa",
        Psychological Bulletin 72(5), 1969.
        Gwet, "Computing inter-rater reliability and its variance in the presence of high
        agreement", British Journal of Mathematical and Statistical Psychology 61(1), 2008.
    """
    judge_column, human_column = paired_columns(
        ("judge_scores", judge_scores, "scores"), ("human_scores", human_scores, "scores")
    )
    are_words = all(_are_words(one) for one in (judge_column, human_column))
    if weights is not None:
        check_choice("weights", weights, ("linear", "quadratic"))
        if are_words:
            refuse("weights", "None for words, which are only names", weights)
    judge, human = (
        np.array(check_text_column(name, one))
        if are_words
        else check_score_column(name, one, -MAX_SCORE, MAX_SCORE)
        for name, one in (("judge_scores", judge_column), ("human_scores", human_column))
    )
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    labels, codes = np.unique(np.concatenate([human, judge]), return_inverse=True)
    if labels.size > MAX_LABELS:
        domain = f"scores of at most {MAX_LABELS} kinds, rounded if need be"
        refuse("judge_scores", domain, labels.size)
    n, k = judge.size, labels.size
    counts = np.bincount(codes[:n] * k + codes[n:], minlength=k * k).reshape(k, k)
    cost = _disagreement(labels, weights)
    kappa = stderr = kappa_interval = gwet = gwet_interval = None
    if k > 1:
        table, chance, skill = counts.astype(np.float64), _by_independence, _by_gwet
        kappa, stderr, kappa_interval = agreement(
            table, cost, partial(chance, cost), confidence_level
        )
        gwet, _, gwet_interval = agreement(table, cost, partial(skill, cost), confidence_level)
    n_agreed = int(np.trace(counts))
    right_low = wrong_low = wrong_high = right_high = 0
    if k == 2 and not are_words:  # noqa: PLR2004 - a label and its opposite
        (right_low, wrong_low), (wrong_high, right_high) = counts.tolist()
    sensitivity = _share(right_high, right_high + wrong_high, confidence_level)
    specificity = _share(right_low, right_low + wrong_low, confidence_level)
    accuracy = proportion_interval(n_agreed, n, confidence_level=confidence_level)
    return JudgeAgreement(
        score=kappa,
        stderr=stderr,
        interval=kappa_interval,
        reason="both gave every item the same score" if kappa is None else None,
        gwet=gwet,
        gwet_interval=gwet_interval,
        sensitivity=sensitivity[0],
        sensitivity_interval=sensitivity[1],
        specificity=specificity[0],
        specificity_interval=specificity[1],
        weights=weights,
        accuracy=n_agreed / n,
        accuracy_interval=accuracy,
        bias=None if are_words else float(np.mean(judge - human)),
        labels=tuple(labels.tolist()),
        confusion=tuple(map(tuple, counts.tolist())) if labels.size <= MAX_SHOWN else (),
        n_items=n,
    )


def rater_agreement(
    ratings: Iterable[Iterable[Hashable | None]],
    *,
    scale: Scale,
    confidence_level: float = 0.95,
) -> RaterAgreement:
    """
    Measure how well several raters agree with each other, beyond chance.

    The score is Krippendorff's alpha, ``1 - D / E``: *D* is the mean disagreement of two ratings
    of one item, *E* that of two ratings of any items. On a ``"nominal"`` scale a disagreement
    counts 1. On an ``"ordinal"`` scale it is the squared difference of the ranks among all
    ratings, and on an ``"interval"`` scale the squared difference itself. Ratings may be missing;
    an item counts if two raters rated it. If every item has the same number of ratings, you also
    get Fleiss' kappa.

    Args:
        ratings: A row for each rater, at least two, each with an entry for every item: None (or
            NaN, or ``pd.NA``) where the rater did not rate it.  A nominal rating is any hashable
            value, others are numbers.
        scale: What a rating is: ``"nominal"`` a name, ``"ordinal"`` a place in an order,
            ``"interval"`` a number whose differences mean something.
        confidence_level: Level of the intervals, in ``(0, 1)``.

    Returns:
        A frozen `RaterAgreement`. Read *score* with its *interval*, *n_items* and *n_left_out*
        first.

    Raises:
        InputError: If there are fewer than two raters, their rows differ in length, no item has
            two ratings, a number is not finite, or *scale* is unknown.
        TypeError: If *ratings* is not a sequence of sequences, or a rating is not what its scale
            takes.

    Examples:
        >>> result = rater_agreement(
        ...     [
        ...         [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        ...         [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        ...         [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        ...         [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        ...     ],
        ...     scale="ordinal",
        ... )
        >>> ends = result.interval.low, result.interval.high
        >>> round(result.score, 3), [round(end, 2) for end in ends], result.n_items
        (0.815, [0.21, 0.97], 11)
        >>> rater_agreement([[1, 2, 3]], scale="nominal")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: ratings must be a row for each of two raters or more, got 1

    Notes:
        The intervals come from the likelihood over items, as those of `judge_agreement` over pairs
        of labels. They allow for items that the sample does not show, such as one on which raters
        disagree. So they never have zero width.

        On an ``"interval"`` scale a few ratings far away decide both disagreements, and a sample
        seldom has enough of them: for lognormal ratings 0.83 to 0.95 of the intervals hold alpha.
        Take logarithms, or the ``"ordinal"`` scale, for ratings with a long tail.

    References:
        Krippendorff, "Computing Krippendorff's alpha-reliability", University of Pennsylvania,
        2011.
        Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin
        76(5), 1971.
    """
    check_choice("scale", scale, ("nominal", "ordinal", "interval"))
    items, raters, values, n_all = _read_ratings(ratings, scale)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    per_item = np.bincount(items, minlength=n_all)
    counted = per_item[items] > 1
    if not counted.any():
        refuse("ratings", "a table with an item that two raters rated", ratings)
    _, items = np.unique(items[counted], return_inverse=True)
    values, n_items = values[counted], int(items.max()) + 1
    labels, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    alpha = stderr = interval = kappa = kappa_interval = None
    if labels.size > 1:
        places = (
            None if scale == "nominal" else _places(labels, counts, ordinal=scale == "ordinal")
        )
        alpha, stderr, interval = _alpha(items, codes, places, confidence_level)
        rated = per_item[per_item > 0]
        if rated.min() == rated.max():
            nominal, _, ends = _alpha(items, codes, None, confidence_level)
            more = items.size / (items.size - 1.0)  # Fleiss lets a rating meet itself by chance
            kappa, low, high = (1.0 - more * (1.0 - a) for a in (nominal, ends.low, ends.high))
            kappa_interval = attrs.evolve(ends, low=max(low, -1.0), high=high)
    return RaterAgreement(
        score=alpha,
        stderr=stderr,
        interval=interval,
        reason="every rating is the same" if alpha is None else None,
        fleiss_kappa=kappa,
        fleiss_interval=kappa_interval,
        scale=scale,
        n_raters=np.unique(raters[counted]).size,
        n_items=n_items,
        n_left_out=n_all - n_items,
        n_ratings=items.size,
    )


def corrected_mean(
    *,
    judge_labeled: Iterable[float],
    human: Iterable[float],
    judge_unlabeled: Iterable[float],
    bounds: tuple[float, float] = (0, 1),
    power_tuned: bool = False,
    confidence_level: float = 0.95,
) -> CorrectedMean:
    """
    Estimate the mean that humans would have given, from a few human labels and many judgements.

    The method is prediction-powered inference: the judge's mean over the unlabeled items, plus the
    mean of human minus judge over the labeled ones, ``w * mean(f_U) + mean(y - w * f_L)`` with
    ``w = 1``. This removes the bias of the judge, however large, and a good judge makes the
    interval narrower. With *power_tuned* the weight *w* between 0 and 1 is the one with the
    smallest error, estimated from the same data. For outcomes of 0 and 1 you also get the estimate
    of Rogan and Gladen, ``(judge_mean + specificity - 1) / (sensitivity + specificity - 1)``.

    Args:
        judge_labeled: Scores within *bounds* that the judge gave the items with a human label,
            shape ``(n,)``, at least 2; booleans count 0 and 1.
        human: The human's scores of the same items, shape ``(n,)``.
        judge_unlabeled: The judge's scores of the other items, shape ``(N,)``, at least 2.
        bounds: The lowest and the highest score that the scale allows, such as (1, 5), or (-1, 1)
            for differences of two models.
        power_tuned: Whether to choose the weight of the judge from the data.
        confidence_level: Level of the interval, in ``(0, 1)``.

    Returns:
        A frozen `CorrectedMean`. Read *score* with its *interval*, *judge_mean* and *n_labeled*
        first.

    Raises:
        InputError: If a column has fewer than 2 entries, the first two differ in length, a
            number is out of range, or *bounds* are not two finite numbers in rising order.
        TypeError: If an argument or an entry has the wrong type.

    Examples:
        >>> judged, human = [1, 1, 0, 1, 1, 0, 1, 1] * 5, [1, 0, 0, 1, 1, 0, 1, 0] * 5
        >>> result = corrected_mean(
        ...     judge_labeled=judged, human=human, judge_unlabeled=[1] * 70 + [0] * 30
        ... )
        >>> round(result.score, 2), str(result.interval), result.judge_mean  # it passes too many
        (0.45, '[0.27, 0.63]', 0.7)
        >>> corrected_mean(judge_labeled=[1], human=[1], judge_unlabeled=[1, 0])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: human must be a column of at least 2 scores, got 1

    Notes:
        With fewer than 25 labels the judge is not used, ``w = 0``: so few do not show how far it
        is off, and the result is that of the human labels alone, with Gaffke's interval.

        Otherwise the interval is Student's t. One label more, whose judgement is off by the whole
        scale, upwards or downwards, counts in the standard error: errors that are too rare to
        appear have no spread. With *power_tuned* it includes the uncertainty of the weight.

        The labeled items must be a random sample of all. If right answers are more or less
        frequent among them, the corrected mean is wrong, but the estimate of Rogan and Gladen is
        not, if the judge errs as often on both. *preferred* says which of them the scores of the
        judge call for. A shift that it does not see leaves *score* off by as much as it.

    References:
        Angelopoulos et al., "Prediction-powered inference", arXiv:2301.09633.
        Angelopoulos, Duchi and Zrnic, "PPI++", arXiv:2311.01453, for *power_tuned*.
        Rogan and Gladen, "Estimating prevalence from the results of a screening test", American
        Journal of Epidemiology 107(1), 1978.
        Lang and Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated
        sensitivity and specificity", Preventive Veterinary Medicine 113, 2014, and Lee et al.,
        "How to Correctly Report LLM-as-a-Judge Evaluations", arXiv:2511.21140, for its interval.
    """
    judged_column, human_column = paired_columns(
        ("judge_labeled", judge_labeled, "scores"), ("human", human, "scores")
    )
    limits = check_bounds(bounds)
    f = check_score_column("judge_labeled", judged_column, *limits)
    y = check_score_column("human", human_column, *limits)
    u = check_score_column("judge_unlabeled", judge_unlabeled, *limits)
    for name, size in (("human", y.size), ("judge_unlabeled", u.size)):
        if size < 2:  # noqa: PLR2004 - one score has no spread
            refuse(name, "a column of at least 2 scores", size)
    power_tuned = check_flag("power_tuned", power_tuned)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    estimate = _corrected(
        (f, y, u),
        limits,
        scale=limits[1] - limits[0],
        tuned=power_tuned,
        confidence_level=confidence_level,
    )
    rates = _error_rates(f, y, u, confidence_level)
    shift = _shift_p_value(f, u)
    preferred: Literal["score", "rogan_gladen"] | None = "score"
    if shift < SHIFTED:
        preferred = None if rates["rogan_gladen"] is None else "rogan_gladen"
    return CorrectedMean(
        score=estimate.value,
        stderr=estimate.stderr,
        interval=estimate.interval,
        judge_weight=estimate.weight,
        judge_mean=float(np.mean(u)),
        human_mean=float(np.mean(y)),
        human_interval=estimate.of_labels,
        bias=float(np.mean(f - y)),
        **rates,
        shift_p_value=shift,
        preferred=preferred,
        n_labeled=y.size,
        n_unlabeled=u.size,
        n_unlabeled_used=u.size if estimate.reason is None else 0,
        reason=estimate.reason,
    )


@attrs.frozen(kw_only=True, repr=False)
class CorrectedDifference(Record):
    """Result of `corrected_difference`; ``str()`` shows it beside that of the labels alone."""

    delta: float
    """Estimate of the mean of current minus baseline that humans would have given."""
    interval: Interval
    stderr: float
    """Standard error, valid for many labels and independent tasks."""
    judge_weight: float
    """Weight of the judge, from 0 (labels alone) to 1."""
    judge_delta: float
    """Mean difference of the judge's scores over all tasks, not corrected."""
    human_delta: float
    """Mean difference of the human labels alone."""
    human_interval: Interval
    n_labeled: int
    """Tasks for which both answers have a human label."""
    n_unlabeled: int
    n_unlabeled_used: int
    """Tasks without labels whose judgements *delta* uses: all of them or none."""
    reason: str | None
    """Why the judge is not used; None where it is."""

    def _line(self) -> str:
        judge = rounded(self.judge_delta, self.interval.low, self.interval.high, "+")
        human = estimate(self.human_delta, self.human_interval, "+")
        ours = f"{estimate(self.delta, self.interval, '+')} ({level_of(self.interval)})"
        alone = f"labels alone: {human}, judge alone: {judge}"
        return f"difference {ours} from {_used(self)} ({alone})"


def corrected_difference(
    judge_baseline: Iterable[float],
    judge_current: Iterable[float],
    *,
    human_baseline: Iterable[float | None],
    human_current: Iterable[float | None],
    bounds: tuple[float, float] = (0, 1),
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> CorrectedDifference:
    """
    Estimate how far two models differ from many judge scores and a few human labels.

    Prediction-powered inference on the differences of each task: the judge's mean difference over
    the tasks without labels, plus the mean of human minus judge difference over those with labels,
    with the weight of the judge that has the smallest error, and the interval of `corrected_mean`
    with *power_tuned*. Paired by task, it is narrower than two corrected means.

    Draw the tasks to label at random. If they are chosen, for example where judge and model
    disagree, the interval does not hold.

    Args:
        judge_baseline: The judge's scores of the baseline, one for each task, shape ``(N,)``.
        judge_current: The judge's scores of the current model on the same tasks.
        human_baseline: Human scores of the baseline, None where nobody labeled, shape ``(N,)``.
        human_current: Human scores of the current model, for the same tasks.
        bounds: The lowest and the highest score that the scale allows.
        clusters: A label for each task, equal where tasks belong together.
        confidence_level: Level of the intervals, in (0, 1).

    Returns:
        A frozen `CorrectedDifference`. With labels for fewer than 25 tasks, or *clusters* with the
        information of fewer equally large ones, it is that of the labels alone. Read *delta* with
        its *interval*, *human_delta* and *n_labeled* first.

    Raises:
        InputError: If columns differ in length, a number is out of range, fewer than 2 tasks have
            labels, or a task has a label for one of its answers only.
        TypeError: If an argument or an entry has the wrong type.

    Examples:
        >>> old, new = [0, 1, 0, 1, 0] * 40, [1, 1, 0, 1, 1] * 40
        >>> human_old, human_new = old[:50] + [None] * 150, new[:50] + [None] * 150
        >>> result = corrected_difference(
        ...     old, new, human_baseline=human_old, human_current=human_new
        ... )
        >>> round(result.delta, 3), str(result.interval)
        (0.4, '[0.32, 0.48]')
        >>> corrected_difference([0], [1], human_baseline=[None], human_current=[None])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: human_current must be a column with at least 2 labels, got 0

    References:
        Angelopoulos, Duchi and Zrnic, "PPI++", arXiv:2311.01453.
    """
    lowest, highest = check_bounds(bounds)
    given = {
        "judge_baseline": judge_baseline,
        "judge_current": judge_current,
        "human_baseline": human_baseline,
        "human_current": human_current,
    }
    columns: list[Floats] = []
    unknown: list[NDArray[np.bool_]] = []
    for name, column in given.items():
        values: Any = column
        if name.startswith("human"):
            filled, none = split_missing(name, column)
            values = np.where(none, lowest, filled) if none.any() else filled
            unknown.append(none)
        columns.append(check_score_column(name, values, lowest, highest))
        check_same_length(name, columns[-1].size, "judge_baseline", columns[0].size)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    n = columns[0].size
    codes = check_clusters(clusters, n, "judge_baseline", judge_baseline)
    for i in np.flatnonzero(unknown[0] != unknown[1])[:1].tolist():
        name = "human_baseline" if unknown[0][i] else "human_current"
        refuse(f"{name}[{i}]", "a label, as the other answer to the task has one", None)
    missing, labeled = unknown[0], ~unknown[0]
    n_labeled = int(np.count_nonzero(labeled))
    if n_labeled < 2:  # noqa: PLR2004 - one difference has no spread
        refuse("human_current", "a column with at least 2 labels", n_labeled)
    judge, y = columns[1] - columns[0], (columns[3] - columns[2])[labeled]
    f, u = judge[labeled], judge[missing]
    span = highest - lowest
    groups = None if clusters is None else (codes[labeled], codes[missing])
    estimate = _corrected(
        (f, y, u),
        (-span, span),
        scale=span,
        tuned=True,
        confidence_level=confidence_level,
        groups=groups,
    )
    return CorrectedDifference(
        delta=estimate.value,
        interval=estimate.interval,
        stderr=estimate.stderr,
        judge_weight=estimate.weight,
        judge_delta=exact_mean(judge),
        human_delta=exact_mean(y),
        human_interval=estimate.of_labels,
        n_labeled=n_labeled,
        n_unlabeled=n - n_labeled,
        n_unlabeled_used=u.size if estimate.reason is None else 0,
        reason=estimate.reason,
    )


class _AgreementEstimate(NamedTuple):
    value: float
    stderr: float
    interval: Interval
    of_labels: Interval
    """Interval of the labels alone."""
    weight: float
    reason: str | None
    """Why the judge is not used."""


def _corrected(
    columns: tuple[Floats, Floats, Floats],
    limits: tuple[float, float],
    *,
    scale: float,
    tuned: bool,
    confidence_level: float,
    groups: tuple[NDArray[np.intp], NDArray[np.intp]] | None = None,
) -> _AgreementEstimate:
    """
    Return ``w * mean(u) + mean(y - w * f)`` within *limits* for the *columns* f, y and u.

    The interval is Student's t.  One judgement more that is off by the whole *scale*, half of it
    upwards and half downwards, counts in the error, which is `widened` if the weight is fitted.
    """
    f, y, u = columns
    low, high = limits
    alone = interval_of_mean(
        y, None if groups is None else groups[0], limits, confidence_level=confidence_level
    )
    own, others = (np.arange(y.size), np.arange(u.size)) if groups is None else groups
    n = effective_groups(own)
    other = clustered_stderr(u, others) if u.size > 1 else None
    weight, reason = 0.0, None
    if n < FEW_LABELS:
        reason = f"fewer than {FEW_LABELS} labels" + ", or groups of them" * (groups is not None)
    elif other is None:
        reason = "fewer than 2 judgements, or groups of them"
    else:
        weight = _tuned_weight(f, y, u) if tuned else 1.0
        reason = None if weight else "its scores do not rise with the labels"
    rest = y - weight * f
    mean, judge_mean = exact_mean(rest), exact_mean(u) if weight else 0.0
    score = min(max(weight * judge_mean + mean, low), high)
    stderr = math.sqrt(
        float(np.var(rest)) / y.size + (weight**2 * float(np.var(u)) / u.size if weight else 0.0)
    )
    if other is None or not weight:
        return _AgreementEstimate(score, stderr, alone, alone, 0.0, reason)
    error = math.hypot(clustered_stderr(rest, own) or 0.0, scale / n, mean / n)
    error = math.hypot(error * (widened(n, 1) if tuned else 1.0), weight * other)
    reach = t_quantile(confidence_level, n - 1.0 - tuned) * error
    interval = Interval(
        low=max(score - reach, low),
        high=min(score + reach, high),
        confidence_level=confidence_level,
        method="prediction-powered t" if groups is None else "clustered prediction-powered t",
    )
    return _AgreementEstimate(score, stderr, interval, alone, weight, None)


def _shift_p_value(f: Floats, u: Floats) -> float:
    """Return the p value of Fisher's test that a judge's scores are as often above their mean."""
    middle = exact_mean(np.concatenate([f, u]))
    sides = [(side.size, int(np.count_nonzero(side > middle))) for side in (f, u)]
    return min(
        1.0, 2.0 * min(drop_p_value(*sides[0], *sides[1]), drop_p_value(*sides[1], *sides[0]))
    )


class _Rates(TypedDict):
    sensitivity: float | None
    specificity: float | None
    rogan_gladen: float | None
    rogan_gladen_interval: Interval | None


def _error_rates(f: Floats, y: Floats, u: Floats, confidence_level: float) -> _Rates:
    """Return what a judge of 0 and 1 gets right of either, and the mean that this leads to."""
    binary = all(((scores == 0.0) | (scores == 1.0)).all() for scores in (f, y, u))
    sensitivity = float(np.mean(f[y == 1.0])) if binary and y.any() else None
    specificity = float(np.mean(1.0 - f[y == 0.0])) if binary and not y.all() else None
    corrected = interval = None
    if sensitivity is not None and specificity is not None:
        skill = sensitivity + specificity - 1.0
        if skill > 0.0:
            corrected = (float(np.mean(u)) + specificity - 1.0) / skill
            interval = _rogan_gladen_interval(f, y, u, corrected, confidence_level)
    return {
        "sensitivity": sensitivity,
        "specificity": specificity,
        "rogan_gladen": corrected,
        "rogan_gladen_interval": interval,
    }


def _rogan_gladen_interval(
    f: Floats, y: Floats, u: Floats, corrected: float, confidence_level: float
) -> Interval:
    """
    Return the interval of Lang and Reiczigel for Rogan and Gladen's estimate.

    One item more of each kind and outcome counts in both error rates, and as many in the share of
    passes as Agresti and Coull add; so their errors are never 0.
    """
    z = normal_quantile(confidence_level)
    n = u.size + z * z
    share = (float(u.sum()) + z * z / 2.0) / n
    n_right, n_wrong = float(y.sum()) + 2.0, y.size - float(y.sum()) + 2.0
    sensitivity = (float(f[y == 1.0].sum()) + 1.0) / n_right
    specificity = (float((1.0 - f[y == 0.0]).sum()) + 1.0) / n_wrong
    skill = sensitivity + specificity - 1.0
    low, high = 0.0, 1.0
    if skill > 0.0:
        middle = (share + specificity - 1.0) / skill
        of_right = sensitivity * (1.0 - sensitivity) / n_right
        of_wrong = specificity * (1.0 - specificity) / n_wrong
        error = math.sqrt(
            share * (1.0 - share) / n + middle**2 * of_right + (1.0 - middle) ** 2 * of_wrong
        )
        middle += 2.0 * z * z * (middle * of_right - (1.0 - middle) * of_wrong)
        low, high = middle - z * error / skill, middle + z * error / skill
    inside = min(max(corrected, 0.0), 1.0)
    return Interval(
        low=min(max(low, 0.0), inside),
        high=max(min(high, 1.0), inside),
        confidence_level=confidence_level,
        method="lang-reiczigel",
    )


def _are_words(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "OU" and any(isinstance(one, str) for one in column.tolist())


def _disagreement(labels: NDArray[Any], weights: Weights | None) -> Floats:
    """Return how much it counts that one gave the row's label and the other the column's."""
    if weights is None or labels.size == 1:
        return 1.0 - np.eye(labels.size)
    span = labels[-1] - labels[0]
    distance: Floats = np.abs(labels[:, None] - labels[None, :]) / span
    return distance if weights == "linear" else distance * distance


def _by_independence(cost: Floats, shares: Floats) -> tuple[float, Floats]:
    """Return the disagreement of two who are independent, and its derivatives by the shares."""
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    ahead, behind = cost @ columns, rows @ cost
    return float(rows @ ahead), ahead[:, None] + behind[None, :]


def _by_gwet(cost: Floats, shares: Floats) -> tuple[float, Floats]:
    """
    Return the disagreement by Gwet's chance, that of who guesses only where items are hard.

    And its derivatives by the shares.
    """
    k = len(cost)
    weight = float(np.sum(1.0 - cost)) / (k * (k - 1))
    rate = (shares.sum(axis=0) + shares.sum(axis=1)) / 2.0
    slopes = weight * (rate - 0.5)
    return 1.0 - weight * float(np.sum(rate * (1.0 - rate))), slopes[:, None] + slopes[None, :]


def _share(
    n_right: int, n: int, confidence_level: float
) -> tuple[float, Interval] | tuple[None, None]:
    if not n:
        return None, None
    return n_right / n, proportion_interval(n_right, n, confidence_level=confidence_level)


def _tuned_weight(f: Floats, y: Floats, u: Floats) -> float:
    """Return the weight of the least variance, cut to [0, 1]; 0 where the judge never varies."""
    spread = float(np.var(np.concatenate([f, u])))
    if not spread:
        return 0.0
    shared = float(np.mean((y - np.mean(y)) * (f - np.mean(f))))
    return min(max(shared / ((1.0 + y.size / u.size) * spread), 0.0), 1.0)


def _read_ratings(
    ratings: object, scale: Scale
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, int]:
    """Return item, rater and value of each rating, names numbered, and the number of items."""
    rows = check_items("ratings", ratings, what="rows")
    if len(rows) < 2:  # noqa: PLR2004 - to agree takes two
        refuse("ratings", "a row for each of two raters or more", len(rows))
    items: list[int] = []
    raters: list[int] = []
    found: list[Any] = []
    n_items = 0
    for i, given in enumerate(rows):
        row = check_items(f"ratings[{i}]", as_builtins(given), what="ratings")
        n_items = n_items or len(row)
        if len(row) != n_items:
            refuse(f"ratings[{i}]", f"{n_items} ratings, as ratings[0] has", len(row))
        for j, rating in enumerate(row):
            if not is_missing(rating):
                items.append(j)
                raters.append(i)
                found.append(rating)
    code_of: dict[object, int] = {}
    values = np.empty(len(found))
    for place, rating in enumerate(found):
        try:
            if scale == "nominal":
                values[place] = code_of.setdefault(rating, len(code_of))
                continue
        except TypeError:
            name = f"ratings[{raters[place]}][{items[place]}]"
            refuse(name, "a hashable label", rating, TypeError)
        if type(rating) is float and abs(rating) <= MAX_SCORE:
            values[place] = rating
        else:
            name = f"ratings[{raters[place]}][{items[place]}]"
            number = float(rating) if is_flag(rating) else rating
            values[place] = check_number(name, number, -MAX_SCORE, MAX_SCORE)
    return np.array(items, dtype=np.intp), np.array(raters, dtype=np.intp), values, n_items


def _places(labels: Floats, counts: NDArray[np.intp], *, ordinal: bool) -> Floats:
    """Return where labels lie within [-1, 1], by themselves or by rank among all ratings."""
    if ordinal:  # Krippendorff's ordinal difference is that of midranks
        labels = np.cumsum(counts) - counts / 2.0
    labels = labels / float(abs(labels).max())
    labels -= float(counts @ labels) / float(counts.sum())
    return np.asarray(labels / float(abs(labels).max()))


def _apart(places: Floats | None, totals: Floats) -> Floats:
    """Return how far each label is from so many ratings of each, squared; 1 without places."""
    if places is None:
        return np.asarray(totals.sum() - totals)
    squares = places * places
    return np.asarray(squares * totals.sum() - 2.0 * places * (places @ totals) + squares @ totals)


def _within(items: NDArray[np.intp], codes: NDArray[np.intp], places: Floats | None) -> Floats:
    """Return how far the ratings of each item are apart, each pair counted both ways."""
    sizes = np.bincount(items).astype(np.float64)
    if places is None:
        k = int(codes.max()) + 1
        pairs, counts = np.unique(items * k + codes, return_counts=True)
        return np.asarray(sizes * sizes - group_sums(counts.astype(np.float64) ** 2, pairs // k))
    own = places[codes]
    sums, squares = group_sums(own, items), group_sums(own * own, items)
    return 2.0 * np.maximum(sizes * squares - sums * sums, 0.0)


def _alpha(
    items: NDArray[np.intp],
    codes: NDArray[np.intp],
    places: Floats | None,
    confidence_level: float,
) -> tuple[float, float | None, Interval]:
    """
    Return Krippendorff's alpha, its standard error, and its interval.

    Each item is a cell of the table, and two cells stand for items that no sample showed: one on
    whose label all agree, and one whose ratings are as far apart as can be.
    """
    sizes, within = np.bincount(items).astype(np.float64), _within(items, codes, places)
    n_labels, usual = int(codes.max()) + 1, float(sizes.mean())
    never = np.ones(n_labels, np.bool_)
    never[codes[within[items] <= NO_SPREAD]] = False
    never |= not never.any()
    alike = usual * never / np.count_nonzero(never)
    unlike = np.full(n_labels, usual / n_labels)
    farthest = 1.0 if places is None else float(np.ptp(places)) ** 2
    seen, counts = within / (sizes - 1.0), np.ones(sizes.size)
    if sizes.size > MOST_ITEMS:
        part = np.random.RandomState(0).permutation(sizes.size) % MOST_ITEMS
        items, seen, counts = part[items], group_sums(seen, part), np.ones(MOST_ITEMS)
    weights = np.append(np.bincount(items), [usual, usual])
    cost = np.append(seen, [0.0, usual * usual * farthest / (usual - 1.0) / 2.0])
    cost *= (codes.size - 1.0) / codes.size  # of two ratings by chance none is the same one

    def expected(shares: Floats) -> tuple[float, Floats]:
        totals = np.bincount(codes, shares[items], n_labels)
        apart = _apart(places, totals + shares[-2] * alike + shares[-1] * unlike)
        slopes = np.append(group_sums(apart[codes], items), [apart @ alike, apart @ unlike])
        size, both = float(shares @ weights), float(shares @ slopes)
        return both / size, (2.0 * slopes - both / size * weights) / size

    return agreement(np.append(counts, [0.0, 0.0]), cost, expected, confidence_level)
