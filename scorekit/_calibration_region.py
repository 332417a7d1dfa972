"""The scores of `confidence_calibration` that the accuracies behind the data could have."""

from __future__ import annotations

from fractions import Fraction

from scorekit.intervals import Interval

DRAWS = 4000
"""Accuracies tried; with 45 cases the ends of the interval move by about 0.02 with the seed."""

_LARGEST = Fraction(10**300)
"""Slopes beyond it are all alike, and the product with an accuracy stays finite."""


def score_interval(
    points: list[tuple[Fraction, Fraction, int]],
    coefficients: list[Fraction],
    *,
    score: float,
    slope_weight: float,
    confidence: float,
    seed: int,
) -> Interval:
    """
    Return the lowest and the highest score over all accuracies that the data do not reject.

    Accuracies are drawn near the observed ones (the Jeffreys posterior of each level) and kept
    where a likelihood ratio test of all levels at once does not reject them; so are the nominal
    ones, where the score is 1.  A resampled score would lie below 1 even then, since every
    chance deviation costs.  *points* are nominal and observed accuracy and number of cases of
    each level; *coefficients* give the slope from the accuracies.
    """
    import numpy as np
    from scipy.special import chdtri, rel_entr

    nominal, observed, n = (
        np.array(column, dtype=np.float64) for column in zip(*points, strict=True)
    )
    limits = [float(max(min(b, _LARGEST), -_LARGEST)) for b in coefficients]
    rng = np.random.default_rng(seed)
    hits, misses = observed * n, (1.0 - observed) * n
    tried = rng.beta(hits + 0.5, misses + 0.5, size=(DRAWS, n.size))
    tried = np.vstack([nominal, tried])
    terms = rel_entr(observed, tried) + rel_entr(1.0 - observed, 1.0 - tried)
    kept = 2.0 * terms @ n <= chdtri(n.size, 1.0 - confidence)
    ece = np.abs(tried[kept] - nominal) @ n / n.sum()
    fit = np.maximum(0.0, 1.0 - np.abs(1.0 - tried[kept] @ limits))
    scores = [score, *((1.0 - slope_weight) * (1.0 - ece) + slope_weight * fit).tolist()]
    if kept[0]:
        scores.append(1.0)
    return Interval(
        low=min(scores),
        high=min(max(scores), 1.0),
        confidence=confidence,
        method="likelihood region",
    )
