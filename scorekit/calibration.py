"""Whether confidence predicts correctness, and from which on an answer needs no review."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.arrays import Floats
from scorekit._core.checks import (
    MAX_COUNT,
    check_bounded_count,
    check_count,
    check_items,
    check_number,
    check_text,
)
from scorekit._core.columns import (
    check_clusters,
    check_flag_column,
    check_number_column,
    check_score_column,
    paired_columns,
)
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.sums import distinct, exact_mean
from scorekit._core.text import rounded
from scorekit._sheet.model import Estimate, Fields, Sheet, Table, by_fields
from scorekit._sheet.values import counted, estimate, level_of, number
from scorekit._stats.ranks import midranks, superiority
from scorekit.errors import InputError, one_line, refuse
from scorekit.intervals import (
    Interval,
    effective_trials,
    interval_of_mean,
    interval_of_share,
)
from scorekit.records import Record, listing

DEFAULT_NOMINAL = FrozenMapping({"high": 0.9, "medium": 0.7, "low": 0.4})
"""Accuracy that each level stands for: scorekit's own choice, as is the formula of the score."""

MIN_CASES = 20
"""Cases below which the text-to-SQL calculators give no score."""

SLOPE_WEIGHT = Fraction(4, 5)
"""Weight of the slope in the score; the error has the rest."""

ACCURATE = Fraction(4, 5)
"""Score from which levels are said to predict correctness accurately."""

PARTLY = Fraction(1, 2)
"""Score from which they are said to predict it partly."""

_DECIMAL = 10**15
"""A float of at most 15 decimal places in [0, 1] is found again from its multiple of 1e-15."""


@attrs.frozen(kw_only=True, repr=False)
class LevelCalibration(Record):
    """One level of confidence in a `ConfidenceCalibration`."""

    level: str
    nominal: float
    """Accuracy that the level stands for, in ``[0, 1]``."""
    n_cases: int
    accuracy: float | None
    """Mean correctness of the level's cases, correctly rounded; None without cases."""
    interval: Interval | None
    """Interval of the accuracy by Wilson, too wide rather than too narrow where correctness is
    fractional, or with clusters that of ``mean_interval``.  None without cases."""

    def _line(self) -> str:
        right = "none" if self.accuracy is None else estimate(self.accuracy, self.interval)
        cases = counted(self.n_cases, "case")
        return f"{one_line(self.level)}: right {right}, stands for {self.nominal:.4g} ({cases})"


@attrs.frozen(kw_only=True, repr=False)
class ConfidenceCalibration(Record):
    """Result of `confidence_calibration`."""

    score: float | None
    """In ``[0, 1]``, higher is better; None where *warnings* says why there is none."""
    interval: Interval | None
    """Interval of the score; None without a score."""
    interpretation: str | None
    """The score in words; None without a score."""
    n_cases: int
    levels: tuple[LevelCalibration, ...] = attrs.field(converter=listing)
    """Every level of *nominal*, in its order."""
    ece: float | None
    """Expected calibration error in ``[0, 1]``, 0 is ideal; None with too few cases."""
    slope: float | None
    """Slope of accuracy on nominal accuracy. 1 is ideal, and 0 means that confidence does not
    predict correctness. None if undefined or with too few cases."""
    overconfident: bool
    """Whether the level of the highest nominal accuracy is reliably less accurate than that;
    never with too few cases."""
    warnings: tuple[str, ...]
    """Why there is no score, if there is none, and whether the model is overconfident."""

    def _line(self) -> str:
        cases = counted(self.n_cases, "case")
        if self.score is None or self.interval is None:
            return f"no calibration score ({cases})"
        shown = f"{estimate(self.score, self.interval)} ({level_of(self.interval)}, {cases})"
        return f"{shown}: {self.interpretation}"

    def _sheet(self) -> Sheet:
        rows = [
            {
                "level": one.level,
                "stands for": one.nominal,
                "right": Estimate(one.accuracy, one.interval),
                "cases": one.n_cases,
            }
            for one in self.levels
        ]
        fields = Fields(record=self, without=("levels",), title="All fields", folded=True)
        return Sheet(
            "ConfidenceCalibration", self._line(), (*self.warnings, Table(rows=rows), fields)
        )


def confidence_calibration(
    levels: Iterable[str] | Mapping[str, tuple[int, int]],
    *,
    correct: Iterable[bool | float] | None = None,
    nominal: Mapping[str, float] = DEFAULT_NOMINAL,
    min_cases: int = MIN_CASES,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
    seed: int = 0,
) -> ConfidenceCalibration:
    """
    Measure how well stated levels of confidence predict correctness, over a suite of cases.

    With ``n_i`` cases of accuracy ``a_i`` at the level whose nominal accuracy is ``c_i``::

        ece   = sum(n_i * abs(a_i - c_i)) / n
        slope = weighted least-squares slope of a_i on c_i, with weights n_i
        score = 0.2 * (1 - ece) + 0.8 * max(0, 1 - abs(1 - slope))

    Args:
        levels: Level stated for each case, a key of *nominal*, shape ``(N,)``: a list, or a
            NumPy, pandas, polars or Arrow column. Or a mapping from level to
            ``(n_correct, n_cases)``, counts up to 2**53; a level that is missing has no cases.
        correct: Whether each case was correct, shape ``(N,)``: booleans, or scores in
            ``[0, 1]`` such as those of `query_correctness`. None where *levels* holds counts.
        nominal: Accuracy in ``[0, 1]`` that each level stands for.
        min_cases: Cases below which score, interpretation, ece and slope are None and nothing is
            said of overconfidence (count, at least 1).
        clusters: A label for each case, equal where cases belong together, such as attempts at one
            question; None where every case stands by itself. All intervals allow for it.
        confidence_level: Level of the intervals, in (0, 1).
        seed: Of the draws behind the interval of the score (count).

    Returns:
        A frozen `ConfidenceCalibration`. Read *score* with its *interval*, *levels* and *warnings*
        first.

    Raises:
        InputError: If there is no case, the columns differ in length, a level is not in
            *nominal*, a number is out of range, or the slope too large for a float.
        TypeError: If an argument or an entry has the wrong type, a bare string included.

    Examples:
        >>> levels = ["high"] * 20 + ["low"] * 10
        >>> correct = [True] * 18 + [False] * 2 + [True] * 5 + [False] * 5
        >>> result = confidence_calibration(levels, correct=correct)
        >>> round(result.score, 4), round(result.slope, 4), result.overconfident
        (0.8333, 0.8, False)
        >>> result = confidence_calibration({"high": (10, 20), "medium": (8, 15), "low": (5, 10)})
        >>> round(result.score, 4), result.warnings
        (0.1489, ('Model is overconfident - high confidence not reliable',))
        >>> confidence_calibration([0.9], correct=[True])
        Traceback (most recent call last):
        ...
        TypeError: levels[0] must be one of 'high', 'medium', 'low' (see nominal; for numbers \
calibration_error), got 0.9

    Notes:
        All three are computed exactly and rounded once. Accuracies and correctness are taken as
        decimal numbers, so the score is 1.0 if every accuracy equals its nominal one. The
        text-to-SQL calculators that the metric comes from give scores of two examples, but neither
        formula nor nominal accuracies. Both are scorekit's own choice, so that the two scores come
        out.

        Chance alone lowers the score of a small suite, because every deviation costs. The interval
        takes this into account. It contains the scores of all accuracies that a likelihood ratio
        test of the levels does not reject, found by random draws with *seed*. It reaches 1 exactly
        if perfect calibration is not rejected. It is wider than an interval of the score alone
        would have to be. With *clusters* the test counts so many cases of each level as would tell
        as much if they were independent.

        The model is overconfident if the upper end of the interval of its most confident level
        lies below that level's nominal accuracy.
    """
    checked = _check_nominal(nominal)
    if is_mapping(levels):
        for name, given in (("correct", correct), ("clusters", clusters)):
            if given is not None:
                refuse(name, "None where levels is a mapping of counts", given, TypeError)
        return _calibrate(_counted(levels, checked), checked, min_cases, confidence_level, seed)
    outcomes, names = paired_columns(
        ("correct", correct, "booleans or scores"), ("levels", levels, "level names")
    )
    codes, scores = _codes(names, tuple(checked)), check_score_column("correct", outcomes)
    groups = check_clusters(clusters, scores.size, "levels", levels)
    members = [(scores[codes == code], groups[codes == code]) for code in range(len(checked))]
    tallies = [_LevelTally(_exact_sum(own[0]), own[0].size, own) for own in members]
    return _calibrate(tallies, checked, min_cases, confidence_level, seed)


class _LevelTally(NamedTuple):
    """The cases of one level."""

    total: Fraction
    """Their summed correctness."""
    n: int
    members: tuple[NDArray[np.float64], NDArray[np.intp]] | None = None
    """The correctness and the group of each, where that is known."""

    def worth(self, confidence_level: float) -> float:
        """Return the effective number of independent cases."""
        if self.members is None:
            return self.n
        return effective_trials(*self.members, confidence_level=confidence_level)


def _counted(counts: Mapping[Any, Any], nominal: Mapping[str, float]) -> list[_LevelTally]:
    """Return how many cases of each level are correct, and of how many."""
    for level in counts:
        check_level("a key of levels", level, tuple(nominal), "nominal")
    tallies = [_check_pair(f"levels[{level!r}]", counts.get(level, (0, 0))) for level in nominal]
    if not any(tally.n for tally in tallies):
        refuse("levels", "a mapping with at least one case", dict(counts))
    return tallies


def _check_nominal(nominal: Mapping[str, float]) -> dict[str, float]:
    if not is_mapping(nominal):
        refuse("nominal", "a mapping", nominal, TypeError)
    if not nominal:
        refuse("nominal", "a mapping of at least one level", nominal)
    return {
        check_text("a key of nominal", level): check_number(f"nominal[{level!r}]", value, 0.0, 1.0)
        for level, value in nominal.items()
    }


def _check_pair(name: str, pair: object) -> _LevelTally:
    counts = check_items(name, pair, what="counts")
    if len(counts) != 2:  # noqa: PLR2004 - a pair
        refuse(name, "a pair (n_correct, n_cases)", pair)
    n_cases = check_count(f"{name}[1]", counts[1], 0, MAX_COUNT)
    n_correct = check_count(f"{name}[0]", counts[0], 0, n_cases, high_name="n_cases")
    return _LevelTally(Fraction(n_correct), n_cases)


def _codes(
    names: NDArray[Any], known: tuple[str, ...], name: str = "levels", see: str = "nominal"
) -> NDArray[np.intp]:
    """Return the position in *known* of each name, refusing the first one that has none."""
    positions = {name: i for i, name in enumerate(known)}
    stated = names.tolist()
    for i, one in enumerate(stated):
        if type(one) is not str or one not in positions:
            check_level(f"{name}[{i}]", one, known, see)
    return np.fromiter(map(positions.__getitem__, stated), np.intp, len(stated))


def check_level(name: str, level: object, known: tuple[str, ...], see: str = "") -> None:
    """Refuse what is none of the *known* levels of confidence; numbers have their own function."""
    if not isinstance(level, str) or level not in known:
        hints = [f"see {see}"] if see else []
        if isinstance(level, Real):
            hints.append("for numbers calibration_error")
        hint = f" ({'; '.join(hints)})" if hints else ""
        domain = f"one of {', '.join(map(repr, known))}{hint}"
        refuse(name, domain, level, InputError if isinstance(level, str) else TypeError)


def _exact_sum(scores: NDArray[np.float64]) -> Fraction:
    """Add up scores in [0, 1] as they are written in decimal, the long ones as floats."""
    units = np.rint(scores * _DECIMAL)
    short = units / _DECIMAL == scores
    whole = sum(units[short].astype(np.int64).tolist())  # in Python's integers: no overflow
    return Fraction(whole, _DECIMAL) + Fraction(math.fsum(scores[~short].tolist()))


def _calibrate(
    tallies: list[_LevelTally],
    nominal: Mapping[str, float],
    min_cases: int,
    confidence_level: float,
    seed: int,
) -> ConfidenceCalibration:
    """Compute the result from the cases of each level."""
    min_cases = check_bounded_count("min_cases", min_cases, 1)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed)
    levels = tuple(
        _level(name, nominal[name], tally, confidence_level)
        for name, tally in zip(nominal, tallies, strict=True)
    )
    n_cases = sum(level.n_cases for level in levels)
    if n_cases < min_cases:
        return ConfidenceCalibration(
            score=None,
            interval=None,
            interpretation=None,
            n_cases=n_cases,
            levels=levels,
            ece=None,
            slope=None,
            overconfident=False,
            warnings=(f"Insufficient data for calibration (need ≥ {min_cases} cases)",),
        )
    points = [_point(*pair) for pair in zip(levels, tallies, strict=True) if pair[0].n_cases]
    ece = sum((n * abs(y - x) for x, y, n in points), Fraction()) / n_cases
    coefficients = _coefficients(points)
    slope = score = interval = None
    if coefficients:
        slope = sum((b * y for b, (_, y, _) in zip(coefficients, points, strict=True)), Fraction())
        score = _score(ece, slope)
        interval = score_interval(
            points,
            coefficients,
            worths=[tally.worth(confidence_level) for tally in tallies if tally.n],
            score=float(score),
            slope_weight=float(SLOPE_WEIGHT),
            confidence_level=confidence_level,
            seed=seed,
        )
    overconfident = _is_overconfident(levels)
    warnings: list[str] = []
    if slope is None:
        warnings.append("Slope undefined (need cases at ≥ 2 levels of different nominal accuracy)")
    if overconfident:
        warnings.append("Model is overconfident - high confidence not reliable")
    return ConfidenceCalibration(
        score=None if score is None else float(score),
        interval=interval,
        interpretation=None
        if score is None or slope is None
        else _interpretation(score, slope, points),
        n_cases=n_cases,
        levels=levels,
        ece=float(ece),
        slope=None if slope is None else check_number("slope", slope),
        overconfident=overconfident,
        warnings=tuple(warnings),
    )


def _level(
    name: str, nominal: float, tally: _LevelTally, confidence_level: float
) -> LevelCalibration:
    n, accuracy, interval = tally.n, None, None
    if n:
        accuracy = float(tally.total / n)
        interval = interval_of_share(accuracy, n, tally.members, confidence_level=confidence_level)
    return LevelCalibration(
        level=name, nominal=nominal, n_cases=n, accuracy=accuracy, interval=interval
    )


def _point(level: LevelCalibration, tally: _LevelTally) -> tuple[Fraction, Fraction, int]:
    """Return nominal and observed accuracy, equal where their floats are, and the weight."""
    nominal, observed = Fraction(str(level.nominal)), tally.total / tally.n
    return nominal, nominal if level.accuracy == level.nominal else observed, tally.n


def _coefficients(points: list[tuple[Fraction, Fraction, int]]) -> list[Fraction]:
    """Return what the least-squares slope takes of each accuracy; nothing without a slope."""
    n = sum(weight for *_, weight in points)
    x_mean = sum((x * weight for x, _, weight in points), Fraction()) / n
    spread = sum(((x - x_mean) ** 2 * weight for x, _, weight in points), Fraction())
    return [(x - x_mean) * weight / spread for x, _, weight in points] if spread else []


def _score(ece: Fraction, slope: Fraction) -> Fraction:
    fit = max(Fraction(0), 1 - abs(1 - slope))
    return (1 - SLOPE_WEIGHT) * (1 - ece) + SLOPE_WEIGHT * fit


def _interpretation(
    score: Fraction, slope: Fraction, points: list[tuple[Fraction, Fraction, int]]
) -> str:
    if score >= ACCURATE:
        return "Confidence levels accurately predict correctness"
    if score >= PARTLY:
        return "Confidence levels partly predict correctness"
    if slope <= 1:
        return "Confidence does not predict correctness"
    (low, at_low, _), (high, at_high, _) = min(points), max(points)
    if at_high < high and at_low < low:
        where = ": overconfident, most at the bottom"
    elif at_high > high and at_low > low:
        where = ": underconfident, most at the top"
    else:
        ends = [
            "underconfident at the top" if at_high > high else "",
            "overconfident at the bottom" if at_low < low else "",
        ]
        where = ": " + ", ".join(filter(None, ends)) if any(ends) else ""
    return f"Correctness rises faster than confidence{where}"


def _is_overconfident(levels: tuple[LevelCalibration, ...]) -> bool:
    top = max(level.nominal for level in levels)
    return any(
        level.interval is not None and level.interval.high < level.nominal
        for level in levels
        if level.nominal == top
    )


DRAWS = 4000
"""Accuracies tried; with 45 cases the ends of the interval move by about 0.02 with the seed."""

_LARGEST = Fraction(10**300)
"""Slopes beyond it are all alike, and the product with an accuracy stays finite."""


def score_interval(
    points: list[tuple[Fraction, Fraction, int]],
    coefficients: list[Fraction],
    *,
    worths: list[float],
    score: float,
    slope_weight: float,
    confidence_level: float,
    seed: int,
) -> Interval:
    """
    Return the lowest and the highest score over all accuracies that the data do not reject.

    Accuracies are drawn near the observed ones (the Jeffreys posterior of each level) and kept
    where a likelihood ratio test of all levels at once does not reject them; so are the nominal
    ones, where the score is 1.  A resampled score would lie below 1 even then, since every
    chance deviation costs.  *points* are nominal and observed accuracy and number of cases of
    each level; *coefficients* give the slope from the accuracies.  *worths* are the independent
    cases that carry as much information as those of each level.
    """
    from scipy.special import chdtri, rel_entr

    nominal, observed, n = (
        np.array(column, dtype=np.float64) for column in zip(*points, strict=True)
    )
    limits = [float(max(min(b, _LARGEST), -_LARGEST)) for b in coefficients]
    rng = np.random.default_rng(seed)
    sizes = np.array(worths)
    hits, misses = observed * sizes, (1.0 - observed) * sizes
    tried = rng.beta(hits + 0.5, misses + 0.5, size=(DRAWS, n.size))
    tried = np.vstack([nominal, tried])
    terms = rel_entr(observed, tried) + rel_entr(1.0 - observed, 1.0 - tried)
    kept = 2.0 * terms @ sizes <= chdtri(n.size, 1.0 - confidence_level)
    ece = np.abs(tried[kept] - nominal) @ n / n.sum()
    fit = np.maximum(0.0, 1.0 - np.abs(1.0 - tried[kept] @ limits))
    scores = [score, *((1.0 - slope_weight) * (1.0 - ece) + slope_weight * fit).tolist()]
    if kept[0]:
        scores.append(1.0)
    return Interval(
        low=min(scores),
        high=min(max(scores), 1.0),
        confidence_level=confidence_level,
        method="likelihood region",
    )


N_BINS = 10
"""The customary number of bins (Guo et al. 2017 take 15)."""

MAX_BINS = 1000

Integers = NDArray[np.intp]


@attrs.frozen(kw_only=True, repr=False)
class CalibrationBin(Record):
    """The attempts whose confidence lies in one bin of a `CalibrationError`."""

    low: float
    """Lower end of the bin, not part of it unless it is 0. For a bin of equal mass, the lowest
    confidence in it."""
    high: float
    """Upper end of the bin, part of it."""
    n_attempts: int
    mean_confidence: float | None
    """None without attempts."""
    accuracy: float | None
    """Share of the attempts that were right; None without attempts."""
    interval: Interval | None
    """Wilson's interval of the accuracy; None without attempts."""

    def _sheet(self) -> Sheet:
        said = "no attempts"
        if self.accuracy is not None:
            right = f"right {estimate(self.accuracy, self.interval)}"
            stated = f"stated {number(self.mean_confidence or 0.0)} on average"
            said = f"{right}, {stated} ({counted(self.n_attempts, 'attempt')})"
        line = f"confidence {number(self.low)} to {number(self.high)}: {said}"
        return Sheet("CalibrationBin", line, by_fields(self).parts)


@attrs.frozen(kw_only=True, repr=False)
class CalibrationError(Record):
    """
    Result of `calibration_error`; ``str()`` shows the error, the bias and how many attempts.

    ``brier = reliability - resolution + uncertainty + within_bin_variance -
    within_bin_covariance``.
    """

    higher_is_better: ClassVar[bool] = False

    score: float
    """Expected calibration error over bins of equal width, in ``[0, 1]``; 0 is ideal."""
    equal_mass_error: float
    """The same over bins that hold equally many attempts, as far as ties allow."""
    max_error: float
    """The largest gap of any bin of equal width, however few attempts it holds."""
    chance: FrozenMapping[str, float]
    """What *score*, *equal_mass_error* and *max_error* are on average, over the same bins, where
    confidences are perfectly calibrated."""
    chance_high: FrozenMapping[str, float]
    """What they are at most then, in a share of *confidence_level* of samples."""
    bias: float
    """Mean confidence minus accuracy, above 0 if the model is overconfident."""
    bias_interval: Interval
    """Interval of the bias, of `mean_interval` with bounds -1 and 1."""
    debiased_square: float | None
    """Mean square of the gaps, minus what chance adds to it on average, so it can be below 0. Bins
    of one attempt, or of one cluster, are left out; None if there are no others."""
    debiased_error: float | None
    """Square root of *debiased_square*; 0.0 if that is below 0."""
    brier: float
    """Mean squared difference of confidence and outcome, in ``[0, 1]``; 0 is ideal."""
    reliability: float
    """Mean square of the bins' gaps between confidence and accuracy; 0 is ideal."""
    resolution: float
    """Variance of the bins' accuracies; higher is better."""
    uncertainty: float
    """Variance of the outcomes, which no confidence can change."""
    within_bin_variance: float
    """Mean variance of the confidences inside the bins."""
    within_bin_covariance: float
    """Twice the mean covariance of confidence and outcome inside the bins."""
    auroc: float | None
    """Chance that a right attempt has a higher confidence than a wrong one, ties counting half;
    0.5 is chance. None if all outcomes are the same."""
    auroc_stderr: float | None
    """DeLong's standard error, with clusters Obuchowski's; None without two of each outcome, or
    if those of one outcome are in one cluster."""
    auroc_interval: Interval | None
    """Wilson's interval on an effective number of attempts, from the standard error, and at most
    ``3 n1 n0 / (n1 + n0 + 1)`` with *n1* right and *n0* wrong attempts, over the design effect of
    clusters. None without a standard error."""
    n_attempts: int
    n_correct: int
    bins: tuple[CalibrationBin, ...] = attrs.field(converter=listing)
    """All bins of equal width, in order."""
    equal_mass_bins: tuple[CalibrationBin, ...] = attrs.field(converter=listing)
    """The bins of equal mass that hold attempts; ties stay in one bin."""

    def _line(self) -> str:
        ends = self.bias_interval
        sure = "overconfident: " if ends.low > 0 else "underconfident: " if ends.high < 0 else ""
        error, usual, most = (
            rounded(one, ends.low, ends.high)
            for one in (self.score, self.chance["score"], self.chance_high["score"])
        )
        level = level_of(ends)
        by_chance = f"by chance alone {usual}, {level} below {most}"
        return (
            f"{sure}expected calibration error {error} ({by_chance}), "
            f"bias {estimate(self.bias, ends, '+')} ({level}, "
            f"{counted(self.n_attempts, 'attempt')})"
        )


def calibration_error(
    confidences: Iterable[float],
    outcomes: Iterable[bool | int],
    *,
    n_bins: int = N_BINS,
    clusters: Iterable[Hashable] | None = None,
    confidence_level: float = 0.95,
) -> CalibrationError:
    """
    Measure how far stated confidences lie from the shares of answers that were right.

    With ``n_b`` attempts of mean confidence ``f_b`` and accuracy ``y_b`` in each bin, the
    expected calibration error is ``sum(n_b * abs(y_b - f_b)) / n``.  Bins of equal width are
    ``(low, high]``, 0 belongs to the first.  The error is above 0 by chance alone, and grows
    with the number of bins: read it beside *chance*, what perfectly calibrated confidences give,
    or read *debiased_error*, which removes that.

    Pass each attempt separately: an average over attempts hides that some were wrong.

    Args:
        confidences: Stated probability that the answer is right, in ``[0, 1]``, shape ``(N,)``:
            a list, or a NumPy, pandas, polars or Arrow column.
        outcomes: Whether it was, one boolean (or 0 and 1) for each attempt, shape ``(N,)``.
        n_bins: Bins of either kind (count, 1 to 1000).
        clusters: A label for each attempt, equal where attempts belong together, such as those at
            one task; None where every attempt stands by itself. All intervals allow for it.
        confidence_level: Level of the intervals, in ``(0, 1)``.

    Returns:
        A frozen `CalibrationError`. Read *score* beside *chance*, *bias* with its
        *bias_interval*, and *n_attempts* first.

    Raises:
        InputError: If the columns are empty or differ in length, a confidence is outside
            ``[0, 1]``, an outcome is neither 0 nor 1, or a number is out of range.
        TypeError: If an argument or an entry has the wrong type.

    Examples:
        >>> result = calibration_error([0.9, 0.9, 0.9, 0.6, 0.6], [True, True, False, True, False])
        >>> round(result.score, 3), round(result.brier, 3), round(result.auroc, 3)
        (0.18, 0.27, 0.583)
        >>> calibration_error([90], [True])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: confidences[0] must be a number in [0, 1] (a share: 0.9 for 90 %), got 90.0

    Notes:
        *chance* comes from 1000 samples of outcomes that are right as often as was stated, drawn
        with a fixed seed. With *clusters* they spread more by the root of the design effect: how
        much more the gaps vary within bins, summed over each cluster, than single ones would.

    References:
        Guo et al., "On Calibration of Modern Neural Networks", arXiv:1706.04599.
        Bröcker and Smith, "Increasing the Reliability of Reliability Diagrams", Weather and
        Forecasting 22(3), 2007, for what chance gives.
        Kumar, Liang and Ma, "Verified Uncertainty Calibration", arXiv:1909.10155 (debiased).
        Stephenson, Coelho and Jolliffe, "Two Extra Components in the Brier Score Decomposition",
        Weather and Forecasting 23(4), 2008.
        DeLong, DeLong and Clarke-Pearson, "Comparing the Areas under Two or More Correlated
        Receiver Operating Characteristic Curves", Biometrics 44(3), 1988.
        Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney
        statistic. Part 2", Statistics in Medicine 25(4), 2006, for its interval.
        Obuchowski, "Nonparametric Analysis of Clustered ROC Curve Data", Biometrics 53(2), 1997.
    """  # noqa: E501 - a message is one line
    stated, known = paired_columns(
        ("confidences", confidences, "numbers"), ("outcomes", outcomes, "booleans")
    )
    f, y = (
        check_number_column("confidences", stated, 0.0, 1.0),
        check_flag_column("outcomes", known).astype(np.float64),
    )
    n_bins = check_count("n_bins", n_bins, 1, MAX_BINS)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    groups = None
    if clusters is not None:
        groups = check_clusters(clusters, f.size, "confidences", confidences)
    edges = np.arange(n_bins + 1) / n_bins
    by_width = _Binned.of(f, y, np.maximum(np.searchsorted(edges, f) - 1, 0))
    places = (2.0 * midranks(f)[0] - 1.0).astype(np.intp)  # twice the rank less a half, an integer
    by_mass = _Binned.of(f, y, places * n_bins // (2 * f.size))
    brier_terms = by_width.decomposition(f, y)
    chance = _by_chance(f, y, by_width, by_mass, groups)
    square = by_width.debiased_square(y, groups)
    wrong, right = y == 0.0, y == 1.0
    above = area = None
    if wrong.any() and right.any():
        above = superiority(
            f[wrong], f[right], None if groups is None else (groups[wrong], groups[right])
        )
        if above.df:
            low, high = above.ends(confidence_level)
            method = "wilson on DeLong's error"
            area = Interval(low=low, high=high, confidence_level=confidence_level, method=method)
    return CalibrationError(
        score=by_width.error(),
        equal_mass_error=by_mass.error(),
        max_error=float(np.max(np.abs(by_width.gaps))),
        chance=FrozenMapping({name: float(drawn.mean()) for name, drawn in chance.items()}),
        chance_high=FrozenMapping(
            {name: float(np.quantile(one, confidence_level)) for name, one in chance.items()}
        ),
        bias=exact_mean(f - y),
        bias_interval=interval_of_mean(
            f - y, groups, (-1.0, 1.0), confidence_level=confidence_level
        ),
        debiased_square=square,
        debiased_error=None if square is None else math.sqrt(max(square, 0.0)),
        brier=float(np.mean(np.square(f - y))),
        **brier_terms,
        auroc=None if above is None else above.chance,
        auroc_stderr=None if area is None or above is None else above.error,
        auroc_interval=area,
        n_attempts=f.size,
        n_correct=int(y.sum()),
        bins=by_width.records(list(pairwise(edges)), y, groups, confidence_level),
        equal_mass_bins=by_mass.records(by_mass.ends(f), y, groups, confidence_level),
    )


CHANCES = 1000
"""Samples drawn to show what chance gives: their mean is known to about 1 %."""

MANY_VALUES = 2000
"""Different confidences above which they are drawn to three decimals, for time."""

NORMAL_VARIANCE = 100.0
"""Variance of the right answers in a bin from which on their number is drawn as a normal one."""


def _by_chance(
    f: Floats, y: Floats, by_width: _Binned, by_mass: _Binned, groups: Integers | None
) -> dict[str, Floats]:
    """Return the errors of samples in which confidences are perfectly calibrated."""
    rng = np.random.default_rng(0)
    found: dict[str, Floats] = {}
    for binned in (by_width, by_mass):
        sizes = np.abs(binned.drawn(f, rng))
        if groups is not None:
            sizes *= math.sqrt(binned.design_effect(y - f, groups))
        name = "score" if binned is by_width else "equal_mass_error"
        found[name] = sizes.sum(axis=1) / f.size
        if binned is by_width:
            found["max_error"] = (sizes / binned.sizes).max(axis=1)
    return found


class _Binned(NamedTuple):
    codes: Integers
    """Position of each attempt's bin among those that hold any."""
    positions: Integers
    """Of these bins among all."""
    sizes: Integers
    confidences: Floats
    accuracies: Floats

    @classmethod
    def of(cls, f: Floats, y: Floats, bins: Integers) -> _Binned:
        positions, codes, sizes = distinct(bins)
        confidences = np.bincount(codes, weights=f) / sizes
        return cls(codes, positions, sizes, confidences, np.bincount(codes, weights=y) / sizes)

    @property
    def gaps(self) -> Floats:
        return self.accuracies - self.confidences

    def error(self) -> float:
        return float(np.abs(self.gaps) @ self.sizes / self.codes.size)

    def drawn(self, f: Floats, rng: np.random.Generator) -> Floats:
        """Return by how much right answers exceed what was stated, in each sample and bin."""
        variances = np.bincount(self.codes, weights=f * (1.0 - f))
        off = rng.standard_normal((CHANCES, variances.size)) * np.sqrt(variances)
        few = np.flatnonzero(variances < NORMAL_VARIANCE)
        if few.size:
            own = np.flatnonzero(variances[self.codes] < NORMAL_VARIANCE)
            off[:, few] = self._counted(f[own], np.searchsorted(few, self.codes[own]), rng)
        return np.asarray(off, np.float64)

    @staticmethod
    def _counted(f: Floats, codes: Integers, rng: np.random.Generator) -> Floats:
        """Return the same for small bins, whose right answers are counted."""
        values, places = np.unique(f, return_inverse=True)
        if values.size > MANY_VALUES:
            values, places = np.unique(np.round(f, 3), return_inverse=True)
        counts = np.bincount(codes * values.size + places)
        held = np.flatnonzero(counts)
        counts, stated = counts[held], values[held % values.size]
        off = rng.binomial(counts, stated, (CHANCES, held.size)) - counts * stated
        starts = np.flatnonzero(np.diff(held // values.size, prepend=-1))
        return np.asarray(np.add.reduceat(off, starts, axis=1), np.float64)

    def design_effect(self, rest: Floats, groups: Integers) -> float:
        """Return how many times the variance of sums *groups* make of what is left of the gaps."""
        rest = rest - self.gaps[self.codes]  # the bias is no chance
        together = np.bincount(groups * self.sizes.size + self.codes, rest)
        return max(1.0, float(together @ together / (float(rest @ rest) or 1.0)))

    def debiased_square(self, y: Floats, groups: Integers | None) -> float | None:
        """Return the mean product of two gaps of a bin, of attempts in different groups."""
        off = y - self.confidences[self.codes]
        cells, sizes, bins = np.arange(y.size), np.ones(y.size, np.int64), self.codes
        if groups is not None:
            _, cells, sizes = distinct(self.codes * (int(groups.max()) + 1) + groups)
            bins = np.zeros(sizes.size, np.intp)
            bins[cells] = self.codes
        sums = np.bincount(cells, weights=off)
        products, pairs = (
            np.bincount(self.codes, weights=each) ** 2 - np.bincount(bins, weights=within**2)
            for each, within in ((off, sums), (np.ones(y.size), sizes.astype(np.float64)))
        )
        several = pairs > 0.0
        if not several.any():
            return None
        return float(self.sizes[several] @ (products[several] / pairs[several]) / y.size)

    def decomposition(self, f: Floats, y: Floats) -> dict[str, float]:
        weights = self.sizes / f.size
        rate = float(np.mean(y))
        f_off, y_off = f - self.confidences[self.codes], y - self.accuracies[self.codes]
        return {
            "reliability": float(weights @ np.square(self.gaps)),
            "resolution": float(weights @ np.square(self.accuracies - rate)),
            "uncertainty": rate * (1.0 - rate),
            "within_bin_variance": float(np.mean(f_off * f_off)),
            "within_bin_covariance": 2.0 * float(np.mean(f_off * y_off)),
        }

    def ends(self, f: Floats) -> list[tuple[float, float]]:
        """Return the lowest and the highest confidence of each bin."""
        ordered, stops = np.sort(f), np.cumsum(self.sizes)
        return list(zip(ordered[stops - self.sizes], ordered[stops - 1], strict=True))

    def records(
        self,
        ends: list[tuple[float, float]],
        y: Floats,
        groups: NDArray[np.intp] | None,
        confidence_level: float,
    ) -> tuple[CalibrationBin, ...]:
        """Return a record for each pair of *ends*: one per bin, or one per bin that holds any."""
        full = dict(enumerate(range(self.sizes.size)))
        if len(ends) > self.sizes.size:
            full = {int(position): i for i, position in enumerate(self.positions)}
        records: list[CalibrationBin] = []
        for place, (low, high) in enumerate(ends):
            i = full.get(place)
            accuracy = mean = interval = None
            if i is not None:
                accuracy, mean = float(self.accuracies[i]), float(self.confidences[i])
                held = self.codes == i
                own = None if groups is None else (y[held], groups[held])
                interval = interval_of_share(
                    accuracy, int(self.sizes[i]), own, confidence_level=confidence_level
                )
            records.append(
                CalibrationBin(
                    low=float(low),
                    high=float(high),
                    n_attempts=0 if i is None else int(self.sizes[i]),
                    mean_confidence=mean,
                    accuracy=accuracy,
                    interval=interval,
                )
            )
        return tuple(records)


@attrs.frozen(kw_only=True, repr=False)
class ReviewThreshold(Record):
    """Result of `review_threshold`; ``str()`` shows the threshold and what passes it."""

    threshold: float | str | None
    """Answers with this confidence or a higher one may go out unreviewed; None if none may."""
    share: float
    """Share of the answers that pass."""
    error: float | None
    """Share of wrong ones among those that pass, as seen; None where none passes."""
    interval: Interval | None
    """From 0 to *max_error*: what the true share of wrong ones among answers that pass is shown to
    lie in, though the threshold was chosen from the same answers. None where none passes."""
    max_error: float
    n_passed: int
    n_answers: int
    n_needed: int
    """Answers, all of them right, below which no threshold can be shown to hold *max_error*."""
    order: tuple[str, ...] | None
    """Words from the lowest to the highest; None for numbers."""

    def _line(self) -> str:
        answers = counted(self.n_answers, "answer")
        if self.threshold is None or self.error is None or self.interval is None:
            few = f": it takes {self.n_needed} that are all right" * (
                self.n_answers < self.n_needed
            )
            return (
                f"review all: no threshold is shown to keep wrong answers to "
                f"{self.max_error:.4g} ({answers}{few})"
            )
        level = level_of(self.interval)
        named = self.threshold if isinstance(self.threshold, str) else f"{self.threshold:.4g}"
        return (
            f"unreviewed from {one_line(named)} on: {self.share:.0%} of answers, wrong "
            f"{self.error:.2g} as seen and at most {self.max_error:.4g} ({level}, {answers})"
        )


CANDIDATES = 40
"""Thresholds that are tested at most, by how many answers pass."""


def review_threshold(
    confidences: Iterable[float | str],
    outcomes: Iterable[bool | int],
    *,
    max_error: float,
    order: Iterable[str] | None = None,
    confidence_level: float = 0.95,
) -> ReviewThreshold:
    """
    Find the lowest confidence from which on answers may go out without a review.

    Among answers with that confidence or a higher one, at most a share *max_error* is wrong. That
    holds with *confidence_level* although the threshold is chosen from the same answers, whether
    or not answers with a higher confidence are more often right.

    Args:
        confidences: How sure each answer is, shape ``(N,)``: any finite numbers, such as stated
            probabilities or the margin of a judge; or words, with *order*, such as levels of
            confidence or kinds of evidence.
        outcomes: Whether each answer was right, one boolean (or 0 and 1) for each, shape ``(N,)``.
            Answers must be independent: pass one for each question.
        max_error: Largest share of wrong ones among answers that pass, in ``(0, 1)``.
        order: The words from the lowest to the highest confidence; None for numbers.
        confidence_level: Chance that the threshold holds *max_error*, or that there is none, in
            ``(0, 1)``.

    Returns:
        A frozen `ReviewThreshold`. Read *threshold*, *share* and *error* first.

    Raises:
        InputError: If the columns are empty or differ in length, an outcome is neither 0 nor 1, a
            word is not in *order*, a word of it comes twice, or a number is out of range.
        TypeError: If an argument or an entry has the wrong type, as words without *order*.

    Examples:
        >>> confidences = [0.99] * 200 + [0.8] * 100 + [0.5] * 100
        >>> outcomes = [1] * 198 + [0] * 2 + [1] * 95 + [0] * 5 + [1] * 60 + [0] * 40
        >>> print(review_threshold(confidences, outcomes, max_error=0.05))
        unreviewed from 0.8 on: 75% of answers, wrong 0.023 as seen and at most 0.05 (95 %, 400 answers)
        >>> print(review_threshold(confidences[:10], outcomes[:10], max_error=0.05))
        review all: no threshold is shown to keep wrong answers to 0.05 (10 answers: it takes 59 that are all right)
        >>> levels = ["high"] * 200 + ["low"] * 200
        >>> review_threshold(levels, outcomes, max_error=0.05, order=["low", "high"]).threshold
        'high'
        >>> review_threshold(levels, outcomes, max_error=0.05)
        Traceback (most recent call last):
        ...
        TypeError: confidences must be numbers, or words with order= from the lowest to the highest, got 'high'

    Notes:
        This is Learn then Test. From the highest confidence downwards, each threshold is tested for
        a larger error than *max_error* by the exact binomial test of the answers that pass, and
        the lowest one that is rejected is returned. At most 40 are tried, spread evenly over how
        many answers pass. The error of all tests together is split evenly between some of them:
        the first one that can be decided, if all that pass are right, the last one, which all
        answers pass, and in between one for each time that twice as many pass. What a test has
        goes on to the next lower one if it rejects, and is lost otherwise (the fallback
        procedure). From the first one alone a single wrong answer would end the search.

        It holds for answers like these. A model, a prompt or questions that change need a new one.

    References:
        Angelopoulos, Bates, Candès, Jordan and Lei, "Learn then Test", arXiv:2110.01052.
        Wiens and Dmitrienko, "The Fallback Procedure for Evaluating a Single Family of
        Hypotheses", Journal of Biopharmaceutical Statistics 15(6), 2005.
    """  # noqa: E501 - a message is one line
    stated, known = paired_columns(
        ("confidences", confidences, "numbers or words"), ("outcomes", outcomes, "booleans")
    )
    words = None if order is None else _check_order(order)
    if words is None:
        first = stated[0]
        if isinstance(first, str):
            domain = "numbers, or words with order= from the lowest to the highest"
            refuse("confidences", domain, first, TypeError)
        sure = check_number_column("confidences", stated)
    else:
        sure = _codes(stated, words, "confidences", "order").astype(np.float64)
    y = check_flag_column("outcomes", known)
    most = check_number("max_error", max_error, 0.0, 1.0, open_ends=True)
    level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    places = np.argsort(-sure, kind="stable")
    ordered, n_wrong = sure[places], np.cumsum(~y[places], dtype=np.intp)
    last = np.flatnonzero(np.diff(ordered, append=-np.inf))  # equal ones pass together
    passed = _lowest(last + 1, n_wrong[last], most, 1.0 - level)
    n = int(y.size)
    threshold: float | str | None = None
    if passed:
        value = float(ordered[passed - 1])
        threshold = value if words is None else words[int(value)]
    return ReviewThreshold(
        threshold=threshold,
        share=passed / n,
        error=int(n_wrong[passed - 1]) / passed if passed else None,
        interval=Interval(low=0.0, high=most, confidence_level=level, method="learn then test")
        if passed
        else None,
        max_error=most,
        n_passed=passed,
        n_answers=n,
        n_needed=_all_right(most, 1.0 - level),
        order=words,
    )


def _check_order(order: Iterable[str]) -> tuple[str, ...]:
    words = tuple(
        check_text(f"order[{i}]", word)
        for i, word in enumerate(check_items("order", order, what="words"))
    )
    if len(set(words)) < len(words):
        refuse("order", "words that differ", words)
    return words


def _all_right(max_error: float, significance: float) -> int:
    """Return how many answers that are all right show that fewer than so many are wrong."""
    return math.ceil(math.log(significance) / math.log1p(-max_error))


def _starts(n: int, max_error: float, significance: float) -> list[int]:
    """Return how many of *n* answers pass the thresholds at which tests begin."""
    n_starts = 1
    while _all_right(max_error, significance / (n_starts + 1)) << n_starts <= n:
        n_starts += 1
    first = _all_right(max_error, significance / n_starts)
    if first > n:
        return []
    steps = range(n_starts) if n_starts > 1 else ()
    return [round(first * (n / first) ** (i / (n_starts - 1))) for i in steps] or [first]


def _lowest(n_passed: Integers, n_wrong: Integers, max_error: float, significance: float) -> int:
    """
    Return how many answers pass the lowest threshold that is shown to hold *max_error*; else 0.

    *n_passed* are the answers that pass each of the thresholds, from the highest one down, and
    *n_wrong* the wrong ones among them.
    """
    from scipy.special import bdtr

    n = int(n_passed[-1])
    starts = _starts(n, max_error, significance)
    if not starts:
        return 0
    tried = np.union1d(np.linspace(starts[0], n, CANDIDATES).astype(np.intp), starts)
    places = np.unique(np.searchsorted(n_passed, tried))
    n_passed, n_wrong = n_passed[places], n_wrong[places]
    p_values: list[float] = bdtr(n_wrong, n_passed, max_error).tolist()
    shares = np.bincount(np.searchsorted(n_passed, starts), minlength=places.size) / len(starts)
    left, lowest = 0.0, 0
    for size, p_value, share in zip(n_passed.tolist(), p_values, shares.tolist(), strict=True):
        left += significance * share
        if p_value <= left:
            lowest = size
        else:
            left = 0.0
    return lowest
