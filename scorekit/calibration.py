"""Say whether stated confidence predicts correctness: `confidence_calibration` and its kin."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import attrs

from scorekit._calibration_region import score_interval
from scorekit._checks import MAX_COUNT, check_count, check_items, check_number, check_text
from scorekit._columns import check_score_column, paired_columns
from scorekit._records import FrozenMapping, Record
from scorekit.errors import InputError, refuse
from scorekit.intervals import Interval, normal_quantile, wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEFAULT_NOMINAL = FrozenMapping({"high": 0.9, "medium": 0.7, "low": 0.4})
"""Accuracy that each level stands for, a judgement of the metric's source."""

MIN_CASES = 20
"""Cases below which the metric's source gives no score."""

SLOPE_WEIGHT = Fraction(4, 5)
"""Weight of the slope in the score; the error has the rest."""

ACCURATE = Fraction(4, 5)
"""Score from which levels are said to predict correctness accurately."""

PARTLY = Fraction(1, 2)
"""Score from which they are said to predict it partly."""

_DECIMAL = 10**15
"""A float of at most 15 decimal places in [0, 1] is found again from its multiple of 1e-15."""


@attrs.frozen(kw_only=True)
class LevelCalibration(Record):
    """One level of confidence in a `ConfidenceCalibration`."""

    level: str
    nominal: float
    """Accuracy that the level stands for, in ``[0, 1]``."""
    n_cases: int
    accuracy: float | None
    """Mean correctness of the level's cases, correctly rounded; None without cases."""
    interval: Interval | None
    """Wilson's interval of the accuracy, too wide rather than too narrow where correctness is
    fractional; None without cases."""


@attrs.frozen(kw_only=True)
class ConfidenceCalibration(Record):
    """Result of `confidence_calibration` and of `calibration_from_counts`."""

    score: float | None
    """In ``[0, 1]``, higher is better; None where *warnings* says why there is none."""
    interval: Interval | None
    """The scores that the accuracies behind the data could have; None without a score."""
    interpretation: str | None
    """The score in words; None without a score."""
    n_cases: int
    levels: tuple[LevelCalibration, ...]
    """Every level of *nominal*, in its order."""
    ece: float | None
    """Expected calibration error in ``[0, 1]``, 0 is ideal; None with too few cases."""
    slope: float | None
    """Slope of accuracy on nominal accuracy, 1 is ideal, 0 says nothing; None where undefined or
    with too few cases."""
    overconfident: bool
    """Whether the level of the highest nominal accuracy is reliably less accurate than that;
    never with too few cases."""
    warnings: tuple[str, ...]
    """First what left the score None, then overconfidence."""


def confidence_calibration(
    levels: Iterable[str],
    correct: Iterable[bool | float],
    *,
    nominal: Mapping[str, float] = DEFAULT_NOMINAL,
    min_cases: int = MIN_CASES,
    confidence: float = 0.95,
    seed: int = 0,
) -> ConfidenceCalibration:
    """
    Say how well stated levels of confidence predict correctness over a suite of cases.

    With ``n_i`` cases of accuracy ``a_i`` at the level whose nominal accuracy is ``c_i``::

        ece   = sum(n_i * abs(a_i - c_i)) / n
        slope = weighted least-squares slope of a_i on c_i, with weights n_i
        score = 0.2 * (1 - ece) + 0.8 * max(0, 1 - abs(1 - slope))

    All three are computed exactly and rounded once.  Accuracies and correctness count as they are
    written in decimal, so that the score is 1.0 where every accuracy equals its nominal one.  The
    metric's source gives scores of two examples and no formula; this one gives both.

    Chance alone lowers the score of a small suite, for every deviation costs.  The interval allows
    for that: it holds the scores of all accuracies that a likelihood ratio test of the levels does
    not reject, found by *seed*-ed draws, and reaches 1 exactly where perfect calibration is not
    rejected.  It is wider than it had to be if only the score were asked for.

    The model is overconfident where the upper end of the interval of its most confident level lies
    below that level's nominal accuracy.

    Args:
        levels: Level stated for each case, a key of *nominal*, shape ``(N,)``: a list, or a
            NumPy, pandas, polars or Arrow column.
        correct: Whether each case was correct, shape ``(N,)``: booleans, or scores in
            ``[0, 1]`` such as those of `query_correctness`.
        nominal: Accuracy in ``[0, 1]`` that each level stands for.
        min_cases: Cases below which score, interpretation, ece and slope are None and nothing is
            said of overconfidence (count, at least 1).
        confidence: Level of the intervals, in (0, 1).
        seed: Of the draws behind the interval of the score (count).

    Returns:
        A frozen `ConfidenceCalibration`.

    Raises:
        InputError: If the columns are empty or differ in length, a level is not in *nominal*, or
            a number is out of range, or the slope too large for a float.
        TypeError: If an argument or an entry has the wrong type, a bare string included.

    Examples:
        >>> levels = ["high"] * 20 + ["low"] * 10
        >>> correct = [True] * 18 + [False] * 2 + [True] * 5 + [False] * 5
        >>> result = confidence_calibration(levels, correct)
        >>> round(result.score, 4), round(result.slope, 4), result.overconfident
        (0.8333, 0.8, False)
        >>> confidence_calibration([0.9], [True])
        Traceback (most recent call last):
        ...
        TypeError: levels[0] must be one of 'high', 'medium', 'low' (see nominal), got 0.9

    .. versionadded:: 0.1.0
    """
    checked = _check_nominal(nominal)
    outcomes, names = paired_columns(
        ("correct", correct, "booleans or scores"), ("levels", levels, "level names")
    )
    codes, scores = _codes(names, tuple(checked)), check_score_column("correct", outcomes)
    tallies: list[tuple[Fraction, int]] = []
    for code in range(len(checked)):
        members = scores[codes == code]
        tallies.append((_exact_sum(members), members.size))
    return _calibrate(tallies, checked, min_cases, confidence, seed)


def calibration_from_counts(
    counts: Mapping[str, tuple[int, int]],
    *,
    nominal: Mapping[str, float] = DEFAULT_NOMINAL,
    min_cases: int = MIN_CASES,
    confidence: float = 0.95,
    seed: int = 0,
) -> ConfidenceCalibration:
    """
    Do what `confidence_calibration` does, from counts per level instead of cases.

    Args:
        counts: Per level ``(n_correct, n_cases)``; a level of *nominal* that is missing has no
            cases.  Counts are at most 2**53.
        nominal: Accuracy in ``[0, 1]`` that each level stands for.
        min_cases: As in `confidence_calibration`.
        confidence: Level of the intervals, in (0, 1).
        seed: As in `confidence_calibration`.

    Returns:
        A frozen `ConfidenceCalibration`, the one that the cases themselves would give.

    Raises:
        InputError: If there is no case at all, a level is not in *nominal*, a number is out of
            range, or the slope too large for a float.
        TypeError: If *counts* or *nominal* is not a mapping, or a count not an integer.

    Examples:
        >>> result = calibration_from_counts({"high": (10, 20), "medium": (8, 15), "low": (5, 10)})
        >>> round(result.score, 4), result.interpretation
        (0.1489, 'Confidence does not predict correctness')
        >>> result.warnings
        ('Model is overconfident - high confidence not reliable',)
        >>> calibration_from_counts({"low": (3, 2)})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: counts['low'][0] must be an integer in [0, n_cases = 2], got 3

    .. versionadded:: 0.1.0
    """
    checked = _check_nominal(nominal)
    _check_mapping("counts", counts)
    for level in counts:
        _check_level("a key of counts", level, tuple(checked))
    tallies = [_check_pair(f"counts[{level!r}]", counts.get(level, (0, 0))) for level in checked]
    if not any(n for _, n in tallies):
        refuse("counts", "a mapping with at least one case", dict(counts))
    return _calibrate(tallies, checked, min_cases, confidence, seed)


def _check_mapping(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        refuse(name, "a mapping", value, TypeError)


def _check_nominal(nominal: Mapping[str, float]) -> dict[str, float]:
    _check_mapping("nominal", nominal)
    if not nominal:
        refuse("nominal", "a mapping of at least one level", nominal)
    return {
        check_text("a key of nominal", level): check_number(f"nominal[{level!r}]", value, 0.0, 1.0)
        for level, value in nominal.items()
    }


def _check_pair(name: str, pair: object) -> tuple[Fraction, int]:
    counts = check_items(name, pair, what="counts")
    if len(counts) != 2:  # noqa: PLR2004 - a pair
        refuse(name, "a pair (n_correct, n_cases)", pair)
    n_cases = check_count(f"{name}[1]", counts[1], 0, MAX_COUNT)
    n_correct = check_count(f"{name}[0]", counts[0], 0, n_cases, high_name="n_cases")
    return Fraction(n_correct), n_cases


def _codes(names: NDArray[Any], known: tuple[str, ...]) -> NDArray[np.intp]:
    """Return the position in *known* of each name, refusing the first one that has none."""
    import numpy as np

    positions = {name: i for i, name in enumerate(known)}
    stated = names.tolist()
    for i, name in enumerate(stated):
        if type(name) is not str or name not in positions:
            _check_level(f"levels[{i}]", name, known)
    return np.fromiter(map(positions.__getitem__, stated), np.intp, len(stated))


def _check_level(name: str, level: object, known: tuple[str, ...]) -> None:
    if level not in known:
        domain = f"one of {', '.join(map(repr, known))} (see nominal)"
        refuse(name, domain, level, InputError if isinstance(level, str) else TypeError)


def _exact_sum(scores: NDArray[np.float64]) -> Fraction:
    """Add up scores in [0, 1] as they are written in decimal, the long ones as floats."""
    import numpy as np

    units = np.rint(scores * _DECIMAL)
    short = units / _DECIMAL == scores
    whole = sum(units[short].astype(np.int64).tolist())  # in Python's integers: no overflow
    return Fraction(whole, _DECIMAL) + Fraction(math.fsum(scores[~short].tolist()))


def _calibrate(
    tallies: list[tuple[Fraction, int]],
    nominal: Mapping[str, float],
    min_cases: int,
    confidence: float,
    seed: int,
) -> ConfidenceCalibration:
    """Compute the result from the summed correctness and number of cases of each level."""
    min_cases = check_count("min_cases", min_cases, 1)
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    seed = check_count("seed", seed)
    levels = tuple(
        _level(name, nominal[name], total, n, confidence)
        for name, (total, n) in zip(nominal, tallies, strict=True)
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
            score=float(score),
            slope_weight=float(SLOPE_WEIGHT),
            confidence=confidence,
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
        interpretation=None if score is None else _interpretation(score),
        n_cases=n_cases,
        levels=levels,
        ece=float(ece),
        slope=None if slope is None else check_number("slope", slope),
        overconfident=overconfident,
        warnings=tuple(warnings),
    )


def _level(
    name: str, nominal: float, total: Fraction, n: int, confidence: float
) -> LevelCalibration:
    accuracy = interval = None
    if n:
        accuracy = float(total / n)
        low, high = wilson(accuracy, n, normal_quantile(confidence))
        interval = Interval(low=low, high=high, confidence=confidence, method="wilson")
    return LevelCalibration(
        level=name, nominal=nominal, n_cases=n, accuracy=accuracy, interval=interval
    )


def _point(level: LevelCalibration, tally: tuple[Fraction, int]) -> tuple[Fraction, Fraction, int]:
    """Return nominal and observed accuracy, equal where their floats are, and the weight."""
    nominal, (total, n) = Fraction(str(level.nominal)), tally
    return nominal, nominal if level.accuracy == level.nominal else total / n, n


def _coefficients(points: list[tuple[Fraction, Fraction, int]]) -> list[Fraction]:
    """Return what the least-squares slope takes of each accuracy; nothing without a slope."""
    n = sum(weight for *_, weight in points)
    x_mean = sum((x * weight for x, _, weight in points), Fraction()) / n
    spread = sum(((x - x_mean) ** 2 * weight for x, _, weight in points), Fraction())
    return [(x - x_mean) * weight / spread for x, _, weight in points] if spread else []


def _score(ece: Fraction, slope: Fraction) -> Fraction:
    fit = max(Fraction(0), 1 - abs(1 - slope))
    return (1 - SLOPE_WEIGHT) * (1 - ece) + SLOPE_WEIGHT * fit


def _interpretation(score: Fraction) -> str:
    if score >= ACCURATE:
        return "Confidence levels accurately predict correctness"
    if score >= PARTLY:
        return "Confidence levels partly predict correctness"
    return "Confidence does not predict correctness"


def _is_overconfident(levels: tuple[LevelCalibration, ...]) -> bool:
    top = max(level.nominal for level in levels)
    return any(
        level.interval is not None and level.interval.high < level.nominal
        for level in levels
        if level.nominal == top
    )
