"""Say how far numeric confidences lie from what came true: `calibration_error`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import ClassVar, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._checks import check_count, check_number
from scorekit._columns import check_number_column, check_score_column, paired_columns
from scorekit._differences import difference_interval, mean_of
from scorekit._records import Record
from scorekit.errors import refuse
from scorekit.intervals import Interval, normal_quantile, wilson

N_BINS = 10
"""The customary number of bins (Guo et al. 2017 take 15)."""

MAX_BINS = 1000

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


@attrs.frozen(kw_only=True)
class CalibrationBin(Record):
    """The attempts whose confidence lies in one bin of a `CalibrationError`."""

    low: float
    """Where the bin begins, not itself in it unless it is 0; of a bin of equal mass the lowest
    confidence in it."""
    high: float
    """Where it ends, itself in it."""
    n_attempts: int
    mean_confidence: float | None
    """None without attempts."""
    accuracy: float | None
    """Share of the attempts that came true; None without attempts."""
    interval: Interval | None
    """Wilson's interval of the accuracy; None without attempts."""


@attrs.frozen(kw_only=True)
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
    bias: float
    """Mean confidence less accuracy, above 0 where the model is overconfident."""
    bias_interval: Interval
    """Of the bias, rises and falls bounded apart by Wilson's method."""
    debiased_square: float | None
    """Mean square of the gaps without what chance adds to it; below 0 where chance would have
    added more.  A bin of one attempt is left out; None where all are."""
    debiased_error: float | None
    """Its root; 0.0 where the square is below 0."""
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
    """Chance that an attempt that came true had the higher confidence of two, ties counting
    half; 0.5 says nothing.  None where all outcomes are the same."""
    auroc_stderr: float | None
    """DeLong's; None without two outcomes of either kind."""
    auroc_interval: Interval | None
    """Wilson's on the number of attempts that the error makes *auroc* worth, at most
    ``3 n1 n0 / (n1 + n0 + 1)`` with *n1* right and *n0* wrong; None without an error."""
    n_attempts: int
    n_correct: int
    bins: tuple[CalibrationBin, ...]
    """All bins of equal width, in order."""
    equal_mass_bins: tuple[CalibrationBin, ...]
    """The bins of equal mass that hold attempts; ties stay in one bin."""

    def __str__(self) -> str:
        """Return the essentials on one line, rounded for display."""
        return (
            f"expected calibration error {self.score:.4g}, "
            f"bias {self.bias:+.4g} {self.bias_interval} ({self.n_attempts} attempts)"
        )


def calibration_error(
    confidences: Iterable[float],
    outcomes: Iterable[bool | int],
    *,
    n_bins: int = N_BINS,
    confidence: float = 0.95,
) -> CalibrationError:
    """
    Say how far stated confidences lie from the shares of answers that were right.

    With ``n_b`` attempts of mean confidence ``f_b`` and accuracy ``y_b`` in each bin, the
    expected calibration error is ``sum(n_b * abs(y_b - f_b)) / n``.  Bins of equal width are
    ``(low, high]``, 0 belongs to the first.  The error is above 0 by chance alone, and the more
    so the more bins there are; *debiased_error* takes that out.

    Give every attempt by itself: an outcome averaged over attempts hides that some were wrong.

    Args:
        confidences: Stated probability that the answer is right, in ``[0, 1]``, shape ``(N,)``:
            a list, or a NumPy, pandas, polars or Arrow column.
        outcomes: Whether it was, one boolean (or 0 and 1) for each attempt, shape ``(N,)``.
        n_bins: Bins of either kind (count, 1 to 1000).
        confidence: Level of the intervals, in ``(0, 1)``.

    Returns:
        A frozen `CalibrationError`.

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
        scorekit.errors.InputError: confidences[0] must be a number in [0, 1], got 90.0

    References:
        Guo et al., "On Calibration of Modern Neural Networks", arXiv:1706.04599.
        Kumar, Liang and Ma, "Verified Uncertainty Calibration", arXiv:1909.10155 (debiased).
        Stephenson, Coelho and Jolliffe, "Two Extra Components in the Brier Score Decomposition",
        Weather and Forecasting 23(4), 2008.
        DeLong, DeLong and Clarke-Pearson, "Comparing the Areas under Two or More Correlated
        Receiver Operating Characteristic Curves", Biometrics 44(3), 1988.

    .. versionadded:: 0.1.0
    """
    stated, known = paired_columns(
        ("confidences", confidences, "numbers"), ("outcomes", outcomes, "booleans")
    )
    f, y = check_number_column("confidences", stated, 0.0, 1.0), _outcomes(known)
    n_bins = check_count("n_bins", n_bins, 1, MAX_BINS)
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    edges = np.arange(n_bins + 1) / n_bins
    by_width = _Binned.of(f, y, np.maximum(np.searchsorted(edges, f) - 1, 0))
    places = (2.0 * _midranks(f) - 1.0).astype(np.intp)  # twice the rank less a half, an integer
    by_mass = _Binned.of(f, y, places * n_bins // (2 * f.size))
    brier_terms = by_width.decomposition(f, y)
    square = by_width.debiased_square()
    auroc, auroc_stderr = _auroc(f, y == 1.0)
    return CalibrationError(
        score=by_width.error(),
        equal_mass_error=by_mass.error(),
        max_error=float(np.max(np.abs(by_width.gaps))),
        bias=mean_of(f - y),
        bias_interval=difference_interval(f - y, np.arange(f.size), confidence),
        debiased_square=square,
        debiased_error=None if square is None else math.sqrt(max(square, 0.0)),
        brier=float(np.mean(np.square(f - y))),
        **brier_terms,
        auroc=auroc,
        auroc_stderr=auroc_stderr,
        auroc_interval=_auroc_interval(auroc, auroc_stderr, y, confidence),
        n_attempts=f.size,
        n_correct=int(y.sum()),
        bins=by_width.records(list(pairwise(edges)), confidence),
        equal_mass_bins=by_mass.records(by_mass.ends(f), confidence),
    )


def _outcomes(known: NDArray[np.generic]) -> Floats:
    y = check_score_column("outcomes", known)
    strange = (y != 0.0) & (y != 1.0)
    if strange.any():
        first = int(np.argmax(strange))
        domain = "0 or 1, of one attempt and no average"
        refuse(f"outcomes[{first}]", domain, float(y[first]))
    return y


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
        positions, codes, sizes = np.unique(bins, return_inverse=True, return_counts=True)
        confidences = np.bincount(codes, weights=f) / sizes
        return cls(codes, positions, sizes, confidences, np.bincount(codes, weights=y) / sizes)

    @property
    def gaps(self) -> Floats:
        return self.accuracies - self.confidences

    def error(self) -> float:
        return float(np.abs(self.gaps) @ self.sizes / self.codes.size)

    def debiased_square(self) -> float | None:
        several = self.sizes > 1
        if not several.any():
            return None
        n, y, gaps = self.sizes[several], self.accuracies[several], self.gaps[several]
        return float(n @ (gaps * gaps - y * (1.0 - y) / (n - 1)) / self.codes.size)

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
        order = np.argsort(f)
        stops = np.cumsum(self.sizes)
        return list(zip(f[order[stops - self.sizes]], f[order[stops - 1]], strict=True))

    def records(
        self, ends: list[tuple[float, float]], confidence: float
    ) -> tuple[CalibrationBin, ...]:
        """Return a record for each pair of *ends*: one per bin, or one per bin that holds any."""
        full = dict(enumerate(range(self.sizes.size)))
        if len(ends) > self.sizes.size:
            full = {int(position): i for i, position in enumerate(self.positions)}
        return tuple(
            self._record(float(low), float(high), full.get(i), confidence)
            for i, (low, high) in enumerate(ends)
        )

    def _record(self, low: float, high: float, i: int | None, confidence: float) -> CalibrationBin:
        accuracy = mean = interval = None
        n = 0
        if i is not None:
            n, accuracy = int(self.sizes[i]), float(self.accuracies[i])
            mean = float(self.confidences[i])
            ends = wilson(accuracy, n, normal_quantile(confidence))
            interval = Interval(low=ends[0], high=ends[1], confidence=confidence, method="wilson")
        return CalibrationBin(
            low=low,
            high=high,
            n_attempts=n,
            mean_confidence=mean,
            accuracy=accuracy,
            interval=interval,
        )


def _midranks(values: Floats) -> Floats:
    """Return ranks from 1, equal values sharing the mean of theirs."""
    _, codes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(sizes) - (sizes - 1) / 2.0)[codes]
    return ranks


def _auroc(f: Floats, right: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    """Return the area and DeLong's standard error, from midranks in ``O(n log n)``."""
    n_right = int(right.sum())
    n_wrong = right.size - n_right
    if not n_right or not n_wrong:
        return None, None
    ranks = _midranks(f)
    above = (ranks[right] - _midranks(f[right])) / n_wrong  # share of wrong ones below each
    below = 1.0 - (ranks[~right] - _midranks(f[~right])) / n_right
    area = float(np.mean(above))
    if min(n_right, n_wrong) == 1:
        return area, None
    variance = np.var(above, ddof=1) / n_right + np.var(below, ddof=1) / n_wrong
    return area, math.sqrt(variance)


def _auroc_interval(
    area: float | None, stderr: float | None, y: Floats, confidence: float
) -> Interval | None:
    if area is None or stderr is None:
        return None
    n_right = int(y.sum())
    n_wrong = y.size - n_right
    n = float(min(n_right, n_wrong))  # where nothing varies, the rarer outcome counts
    if stderr and 0.0 < area < 1.0:
        # between few of either kind DeLong's error often comes out too small: allow no more than
        # what confidences that say nothing, whose error is known exactly, would be worth
        most = 3.0 * n_right * n_wrong / (y.size + 1)
        n = min(area * (1.0 - area) / (stderr * stderr), most)
    low, high = wilson(area, n, normal_quantile(confidence))
    return Interval(low=low, high=high, confidence=confidence, method="wilson on DeLong's error")
