"""Bands that hold a whole curve of pass@k at once, and of the difference of two."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Counts, Floats
from scorekit._stats.passes import estimate_suite, score_each
from scorekit._stats.suites import Suite
from scorekit.intervals import t_quantile, unseen_interval

DRAWS = 20_000
"""Curves drawn: the quantile of the largest of them is known to about 0.5 %."""

AT_ONCE = 1_000
"""Curves drawn at once, so that those of many points need little memory."""

SAME = 1e-12
"""Spread below which the scores of all tasks are equal but for rounding."""

SUREST = 1.0 - 1e-12
"""Highest level of a single interval."""


def pointwise_level(scores: Floats, confidence_level: float) -> float:
    """
    Return the level of single intervals that hold all of them at once with *confidence_level*.

    *scores* has a row for each task and a column for each point; NaN where a task has none.  The
    largest standardized mean of all points is drawn under their correlation, the same draws for
    every point: a band for points that go together is hardly wider than one interval.
    """
    known = ~np.isnan(scores)
    sums = np.where(known, scores, 0.0).sum(axis=0)
    off = np.where(known, scores - sums / np.maximum(known.sum(axis=0), 1), 0.0)
    sizes = np.sqrt((off * off).sum(axis=0))
    varied = sizes > SAME * math.sqrt(len(scores))
    if varied.sum() <= 1:
        return confidence_level
    parts = off[:, varied] / sizes[varied]
    values, vectors = np.linalg.eigh(parts.T @ parts)
    kept = values > SAME * values[-1]  # few: there are no more than tasks
    root = (vectors[:, kept] * np.sqrt(values[kept])).T
    rng = np.random.default_rng(0)
    largest = [
        np.abs(rng.standard_normal((AT_ONCE, len(root))) @ root).max(axis=1)
        for _ in range(DRAWS // AT_ONCE)
    ]
    most = float(np.quantile(np.concatenate(largest), confidence_level))
    level = 1.0 - math.erfc(most / math.sqrt(2.0))
    return min(max(level, confidence_level), SUREST)


def chances_at(n: Counts, c: Counts, ks: Sequence[int]) -> Floats:
    """Return the pass@k of each task, a row, at each of *ks*; NaN for too few samples."""
    columns = [np.where(n >= k, score_each(n, c, k), np.nan) for k in ks]
    return np.stack(columns, axis=1)


def curve_band(
    n: Counts, c: Counts, ks: Sequence[int], confidence_level: float
) -> list[tuple[float, float]]:
    """Bound the mean pass@k of tasks like these at all *ks* at once; unknown without samples."""
    level = pointwise_level(chances_at(n, c, ks), confidence_level)
    found = estimate_suite(Suite(n, level, "drop"), c, ks)
    return [(one["interval"].low, one["interval"].high) for one in found]


class DifferenceBand(NamedTuple):
    """The difference of two curves over the tasks that both have."""

    ks: Sequence[int]
    deltas: Floats
    """Of known outcomes; NaN where a task has fewer than *k* of them."""
    lows: Floats
    highs: Floats
    n_tasks: int

    def verdict(self) -> str:
        """Say where the first curve is shown to be above the second, or below it."""
        sides = (("ahead", self.lows > 0.0), ("behind", self.highs < 0.0))
        parts = [f"{word} {self._where(shown.tolist())}" for word, shown in sides if shown.any()]
        return ", ".join(parts) or "not told apart"

    def _where(self, shown: list[bool]) -> str:
        spans = list(_spans(shown))
        (first, last), ks = spans[0], self.ks
        if all(shown):
            return f"at k = {ks[0]}" if len(ks) == 1 else "at every k"
        if len(spans) > 1:
            return f"at {sum(shown)} of {len(ks)} k"
        if 0 < first == last:
            return f"at k = {ks[first]}"
        if last == len(ks) - 1:
            return f"from k = {ks[first]} on"
        return f"up to k = {ks[last]}" if first == 0 else f"from k = {ks[first]} to {ks[last]}"


def difference_band(
    ks: Sequence[int], known: Floats, least: Floats, most: Floats, confidence_level: float
) -> DifferenceBand:
    """
    Bound the mean difference of two curves at all *ks* at once.

    The differences have a row for each task and a column for each of *ks*: *known* of known
    outcomes, *least* and *most* with the unknown ones at their worst and at their best.
    """
    lows, highs = _bounds(least, confidence_level)
    if least is not most:
        _, highs = _bounds(most, confidence_level)
    return DifferenceBand(ks, known.mean(axis=0), lows, highs, len(least))


def _bounds(deltas: Floats, confidence_level: float) -> tuple[Floats, Floats]:
    """
    Bound the means of all columns at once.

    It is Student's t at every point; where all tasks differ by the same, which does not show the
    error, Gaffke's bounds.
    """
    n_tasks = len(deltas)
    level = pointwise_level(deltas, confidence_level)
    means, lows, highs = deltas.mean(axis=0), *np.empty((2, deltas.shape[1]))
    for i, column in enumerate(deltas.T):
        error = float(column.std(ddof=1)) / math.sqrt(n_tasks) if n_tasks > 1 else 0.0
        if error > SAME:
            reach = t_quantile(level, n_tasks - 1.0) * error
            lows[i], highs[i] = max(means[i] - reach, -1.0), min(means[i] + reach, 1.0)
        else:
            interval = unseen_interval(column, np.arange(n_tasks), level)
            lows[i], highs[i] = interval.low, interval.high
    return lows, highs


def _spans(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of each unbroken row of true ones."""
    start = None
    for i, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = i
        elif not flag and start is not None:
            yield start, i - 1
            start = None
