"""Whether a suite as a whole changed: one paired verdict over its cases."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Literal

import attrs

from scorekit._records import Record
from scorekit.intervals import Interval, normal_quantile, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DECIMAL_NOISE = 1e-9
"""Two score changes closer than this are the same: 1.0 -> 0.95 is a drop of exactly 0.05."""

POWER = 0.8
"""Chance of being seen that defines the minimum detectable effect."""

Test = Literal["paired t", "Cochran-Mantel-Haenszel", "bound without variation"]
Verdict = Literal["regressed", "improved", "no evidence", "inconclusive"]
Pair = tuple[str, tuple[float, ...], tuple[float, ...]]
"""A case and the scores of its attempts before and after; a case may come once per model."""


@attrs.frozen(kw_only=True)
class SuiteVerdict(Record):
    """Whether the suite as a whole changed, judged from the cases that both sides have."""

    delta: float
    """
    Mean change over the cases, in ``[-1, 1]``; negative is worse.

    Under Cochran-Mantel-Haenszel a case with more attempts weighs more.
    """
    interval: Interval
    """Two-sided interval of *delta* at the confidence of the comparison."""
    p_value: float
    """Two-sided."""
    test: Test
    verdict: Verdict
    minimum_detectable_effect: float | None
    """Change that would be seen four times in five; None with a single case."""
    n_cases: int


def suite_verdict(
    pairs: list[Pair],
    threshold: float,
    confidence: float,
) -> SuiteVerdict:
    """Judge *pairs* by a test over attempts where all are 0 or 1, else by one over cases."""
    binary = all(score in (0.0, 1.0) for _, *sides in pairs for side in sides for score in side)
    n_cases = len({case_id for case_id, _, _ in pairs})
    delta, stderr = _risk_difference(pairs) if binary else _mean_difference(pairs)
    df = math.inf if binary else n_cases - 1
    test: Test
    effect: float | None
    if stderr:
        test = "Cochran-Mantel-Haenszel" if binary else "paired t"
        reach = _quantile(confidence, df) * stderr
        effect = reach + _quantile(2 * POWER - 1, df) * stderr
        p_value = _p_value(abs(delta) / stderr, df)
    else:
        test = "bound without variation"
        reach, effect, p_value = _without_variation(delta, n_cases, df, confidence)
    low, high = max(-1.0, delta - reach), min(1.0, delta + reach)
    verdict: Verdict
    if high < 0:
        verdict = "regressed"
    elif low > 0:
        verdict = "improved"
    else:
        seen = effect is not None and effect <= threshold
        verdict = "no evidence" if seen else "inconclusive"
    return SuiteVerdict(
        delta=delta,
        interval=Interval(low=low, high=high, confidence=confidence, method=test),
        p_value=p_value,
        test=test,
        verdict=verdict,
        minimum_detectable_effect=effect,
        n_cases=n_cases,
    )


def _risk_difference(
    pairs: list[Pair],
) -> tuple[float, float]:
    """
    Return the Mantel-Haenszel risk difference and its standard error if nothing changed.

    The difference over its error is the square root of the Cochran-Mantel-Haenszel statistic
    without continuity correction: each case is a stratum, its attempts exchangeable under the
    null hypothesis.
    """
    import numpy as np

    counts: NDArray[np.float64] = np.array(
        [(len(old), sum(old), len(new), sum(new)) for _, old, new in pairs]
    )
    n_old, c_old, n_new, c_new = counts.T
    total, passes = n_old + n_new, c_old + c_new
    weights = n_old * n_new / total
    difference = float(np.sum(weights * (c_new / n_new - c_old / n_old)))
    variance = float(np.sum(weights * passes * (total - passes) / (total * (total - 1))))
    weight = float(np.sum(weights))
    return difference / weight, math.sqrt(variance) / weight


def _mean_difference(
    pairs: list[Pair],
) -> tuple[float, float]:
    """Return the mean difference over cases and its standard error, 0 for a single case."""
    by_case: dict[str, list[float]] = {}
    for case_id, old, new in pairs:
        by_case.setdefault(case_id, []).append(fmean(new) - fmean(old))
    deltas = [fmean(group) for group in by_case.values()]
    n_cases = len(deltas)
    mean = fmean(deltas)
    if n_cases == 1 or max(deltas) - min(deltas) < DECIMAL_NOISE:
        return mean, 0.0
    variance = math.fsum((delta - mean) ** 2 for delta in deltas) / (n_cases - 1)
    return mean, math.sqrt(variance / n_cases)


def _without_variation(
    delta: float, n_cases: int, df: float, confidence: float
) -> tuple[float, float | None, float]:
    """
    Return the interval's reach, the detectable effect and p where no variation was seen.

    Had a share *u* of all cases changed by the whole scale, *n* cases would all have missed it
    as Wilson's upper bound ``u = q^2 / (n + q^2)`` for 0 of *n* says.
    """
    if not df:
        return 2.0, None, 1.0
    reach, detectable = (
        q * q / (n_cases + q * q)
        for q in (
            _quantile(confidence, df),
            _quantile(confidence, df) + _quantile(2 * POWER - 1, df),
        )
    )
    size = abs(delta)
    statistic = math.sqrt(n_cases * size / (1 - size)) if size < 1 else math.inf
    return reach, detectable, _p_value(statistic, df)


def _quantile(confidence: float, df: float) -> float:
    return normal_quantile(confidence) if df == math.inf else t_quantile(confidence, df)


def _p_value(statistic: float, df: float) -> float:
    if df == math.inf:
        return math.erfc(statistic / math.sqrt(2))
    from scipy.special import stdtr

    return float(2 * stdtr(df, -statistic))
