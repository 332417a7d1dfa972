"""Variance between tasks, attempts and judgements, and the design that makes most of a budget."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit.intervals import group_sums

ROUNDING = 1e-12
"""Share of a price, or of all variance, that may be due to rounding."""

Design = tuple[int, int, int]
"""Tasks, attempts at each, judgements of each attempt."""


def mean_of_means(scores: Floats, tasks: Groups, attempts: Groups) -> float:
    """Return the mean over tasks of the mean over their attempts."""
    of_attempt = group_sums(scores, attempts) / np.bincount(attempts)
    _, first = np.unique(attempts, return_index=True)
    of_task = group_sums(of_attempt, tasks[first]) / np.bincount(tasks[first])
    return math.fsum(of_task) / of_task.size


def nested_variances(scores: Floats, levels: list[Groups]) -> list[float]:
    """
    Return unbiased estimates of the variance between the groups of each level, and within them.

    *levels* number the groups of each score, the widest first, each within the one before it.
    Mean squares of an analysis of variance are set equal to what is expected of them, with any
    numbers of scores in a group (Searle, Casella and McCulloch, "Variance Components", 1992,
    appendix F).  An estimate can be negative.
    """
    offsets = scores - math.fsum(scores) / scores.size
    codes = [np.zeros(scores.size, np.int64), *levels, np.arange(scores.size)]
    sizes = [np.bincount(code).astype(np.float64) for code in codes]
    means = [group_sums(offsets, code) / size for code, size in zip(codes, sizes, strict=True)]
    noise = ROUNDING * math.fsum(offsets * offsets) / scores.size
    found: list[float] = []
    for i in range(len(codes) - 1, 0, -1):
        spread = means[i][codes[i]] - means[i - 1][codes[i - 1]]
        df = sizes[i].size - sizes[i - 1].size
        square = math.fsum(spread * spread) / df
        for j, variance in zip(range(len(codes) - 1, i, -1), found, strict=True):
            square -= _weight(codes, sizes, i, j) / df * variance
        variance = square * df / _weight(codes, sizes, i, i)
        found.append(variance if abs(variance) > noise else 0.0)
    return found[::-1]


def crossed_variances(
    scores: Floats, tasks: Groups, repeats: Groups, sizes: Floats
) -> tuple[float, list[float]]:
    """
    Return the mean, and the variances of repeats, tasks, tasks in repeats, and attempts.

    *sizes* are the attempts at each task in each repeat.  Mean squares of the table of means are
    set equal to what is expected of them; with unequal sizes the attempts count as often as their
    harmonic mean (the analysis of unweighted means).  An estimate can be negative.
    """
    n_repeats, n_tasks = sizes.shape
    cell = repeats * n_tasks + tasks
    means = np.bincount(cell, scores, sizes.size).reshape(sizes.shape) / sizes
    off = scores - means.ravel()[cell]
    df = scores.size - sizes.size
    attempts = float(off @ off) / df if df else 0.0
    mean = math.fsum(means.ravel()) / means.size
    rows, columns = (means.mean(axis=axis) - mean for axis in (1, 0))
    rest = means - mean - rows[:, np.newaxis] - columns
    inner = float(np.sum(rest * rest)) / ((n_repeats - 1) * (n_tasks - 1))
    of_repeats = (n_tasks * float(rows @ rows) / (n_repeats - 1) - inner) / n_tasks
    of_tasks = (n_repeats * float(columns @ columns) / (n_tasks - 1) - inner) / n_repeats
    both = inner - attempts * float(np.mean(1.0 / sizes))
    noise = ROUNDING * float(np.mean((scores - mean) ** 2))
    found = (of_repeats, of_tasks, both, attempts)
    return mean, [variance if abs(variance) > noise else 0.0 for variance in found]


def _weight(codes: list[Groups], sizes: list[Floats], i: int, j: int) -> float:
    """Return how often the variance at level *j* is expected in the squares at level *i*."""
    squares = sizes[j][codes[j]]
    inner, outer = (float(np.sum(squares / sizes[k][codes[k]])) for k in (i, i - 1))
    return inner - outer


def best_design(
    variances: tuple[float, float, float],
    prices: tuple[float, float, float],
    budget: float,
    *,
    most: float,
) -> Design:
    """
    Return the design with the least variance of the mean that *budget* pays for, or the cheapest.

    Of three numbers whose product is *most* at most, the two smaller have a product of at most
    ``most^(2/3)``; given these, the third is as large as the budget allows.  Without a variance
    and a price of judgements there is one of each attempt.
    """
    judged = prices[2] > 0.0
    best, found = (math.inf, math.inf), (1, 1, 1)
    for design in _designs(prices, budget, most, judged=judged):
        n, a, j = (np.maximum(side, 1.0) for side in design)
        cost = n * (prices[0] + a * (prices[1] + j * prices[2]))
        inside = cost <= budget * (1.0 + 2.0 * ROUNDING)
        error = (variances[0] + (variances[1] + variances[2] / j) / a) / n
        error = np.where(inside, error, np.inf)
        least = float(error.min())
        i = int(np.argmin(np.where(error <= least * (1.0 + ROUNDING), cost, np.inf)))
        value = float(error[i]), float(cost[i])
        if value[0] < best[0] * (1.0 - ROUNDING) or (
            value[0] <= best[0] * (1.0 + ROUNDING) and value[1] < best[1]
        ):
            best, found = value, (int(n[i]), int(a[i]), int(j[i]))
    return found


def _designs(
    prices: tuple[float, float, float], budget: float, most: float, *, judged: bool
) -> Iterator[tuple[Floats, Floats, Floats]]:
    task, attempt, judgement = prices
    budget *= 1.0 + ROUNDING
    if not judged:
        counts = np.arange(1.0, math.isqrt(int(most)) + 2.0)
        one = np.ones(counts.size)
        yield counts, np.floor((budget / counts - task) / attempt), one
        yield np.floor(budget / (task + counts * attempt)), counts, one
        return
    pairs = int(most ** (2.0 / 3.0)) + 2
    for small in range(1, math.isqrt(pairs) + 1):
        many = np.arange(1.0, pairs // small + 2.0)
        few = np.full(many.size, float(small))
        for x, y in ((few, many), (many, few)):
            yield x, y, np.floor(((budget / x - task) / y - attempt) / judgement)
            yield x, np.floor((budget / x - task) / (attempt + y * judgement)), y
            yield np.floor(budget / (task + x * (attempt + y * judgement))), x, y
