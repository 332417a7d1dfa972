"""What *k* attempts at each task give, averaged over subsets: the best, enough, a majority."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from scorekit._stats.chances import Counts, Floats
from scorekit._stats.suites import PerTask
from scorekit.intervals import normal_quantile, t_quantile, wilson

NO_SPREAD = 1e-12
"""Variance below which scores are equal but for rounding."""

Votes: TypeAlias = tuple[int, tuple[int, ...]]
"""How often the correct answer was given, and each other one, most frequent first."""


def best(tasks: Sequence[Floats], k: int) -> PerTask:
    """Estimate the best score of *k* attempts at each task, given its sorted scores."""
    n = np.array([task.size for task in tasks], dtype=np.int64)
    pairs = np.array([_best(task, k) for task in tasks]).reshape(-1, 2)
    variances = None
    if (n >= 2 * k).all():
        variances = np.array([_best_variance(task, k) for task in tasks])
    graded = any(bool(((task > 0.0) & (task < 1.0)).any()) for task in tasks)
    return PerTask(n, pairs[:, 0], pairs[:, 1], variances, graded=graded)


def best_ends(scores: Floats, k: int, confidence_level: float) -> tuple[float, float, str]:
    """
    Bound the best of *k* attempts at one task: Wilson's interval on ``n / k`` trials, or closer.

    By Hoeffding's bound *n* samples tell no less than ``n / k`` independent sets of *k*.  The best
    of graded scores varies by less than successes and failures do, so that a set counts for
    several trials; how many is estimated from the sets, which takes Student's t.
    """
    n_sets, method = scores.size / k, "wilson on n / k"
    (best, lack), (square, _) = _best(scores, k), _best(scores * scores, k)
    plain = wilson(best, n_sets, normal_quantile(confidence_level))
    spread = (square - best * best) * scores.size / max(scores.size - 1, 1)
    if n_sets > 1.0 and spread > NO_SPREAD:
        quantile = t_quantile(confidence_level, n_sets - 1.0)
        graded = wilson(best, n_sets * best * lack / spread, quantile)
        if graded[1] - graded[0] < plain[1] - plain[0]:
            return (*graded, method)
    return (*plain, method)


def g_pass(n: Counts, c: Counts, k: int, needed: int) -> PerTask:
    """Estimate the chance that *needed* of *k* attempts at each task succeed."""
    tasks = list(zip(n.tolist(), c.tolist(), strict=True))
    tails = {task: _tails(*task, k, needed) for task in set(tasks)}
    variances = None
    if (n >= 2 * k).all():
        of_task = {task: _g_pass_variance(*task, k, needed) for task in tails}
        variances = np.array([of_task[task] for task in tasks])
    pairs = np.array([tails[task] for task in tasks]).reshape(-1, 2)
    return PerTask(n, pairs[:, 0], pairs[:, 1], variances)


def majority(tasks: Sequence[Votes], k: int) -> PerTask:
    """Estimate the chance that *k* votes on each task go to the correct answer."""
    n = np.array([c + sum(others) for c, others in tasks], dtype=np.int64)
    chances = {task: _majority(*task, k) for task in set(tasks)}
    variances = None
    if (n >= 2 * k).all():
        of_task = {task: _jackknife(*task, k) for task in chances}
        variances = np.array([of_task[task] for task in tasks])
    scores = np.array([chances[task] for task in tasks])
    return PerTask(n, scores, 1.0 - scores, variances)


def carry_through_binomial(
    ends: tuple[float, float], k: int, needed: int
) -> tuple[float, float, str]:
    """Return the chances of *needed* successes in *k* at both ends of a success rate."""
    from scipy.special import betainc

    low, high = (float(betainc(needed, k - needed + 1, p)) for p in ends)
    return low, high, "wilson carried through the binomial"


def _weights(n: int, k: int) -> Floats:
    """Return the share of subsets of *k* whose best is each of *n* sorted scores."""
    rank = np.arange(n, 0, -1, dtype=np.float64)
    with np.errstate(under="ignore"):
        falling = np.cumprod(np.maximum(rank[1:] - k + 1.0, 0.0) / rank[1:])
    return np.concatenate([[1.0], falling])[::-1] * (k / n)


def _best(scores: Floats, k: int) -> tuple[float, float]:
    """Return the expected best and what it lacks of 1; rounding must not leave the scores."""
    weights = _weights(scores.size, k)
    low, high = float(scores[0]), float(scores[-1])
    best, lack = math.fsum(weights * scores), math.fsum(weights * (1.0 - scores))
    return min(max(best, low), high), min(max(lack, 1.0 - high), 1.0 - low)


def _best_variance(scores: Floats, k: int) -> float:
    """Return the unbiased sampling variance: a square less the mean product of disjoint draws."""
    best, lack = _best(scores, k)
    if lack < best:  # the same variance, and less of it cancels
        scores, best = 1.0 - scores, lack
    n = scores.size
    lower = np.cumsum(_weights(n, k) * scores)[:-1]
    weights = np.concatenate([np.zeros(k), _weights(n - k, k)])
    both = 2.0 * math.fsum(lower * (weights * scores)[1:])
    return max(best * best - both, 0.0)


def _successes(n: int, c: int, k: int) -> tuple[int, Floats]:
    """
    Return the chances of each number of correct ones among *k* of *n*, and the least number.

    From the likeliest number outwards each chance follows from its neighbour, and all are
    divided by their sum: nothing cancels, and nothing overflows.
    """
    least, most = max(0, k - (n - c)), min(k, c)
    mode = min(max((k + 1) * (c + 1) // (n + 2), least), most)
    i = np.arange(least, most, dtype=np.float64)
    steps = (c - i) * (k - i) / ((i + 1.0) * (float(n - c - k) + i + 1.0))
    at = mode - least
    with np.errstate(under="ignore"):
        below = np.cumprod(1.0 / steps[:at][::-1])[::-1]
        chances = np.concatenate([below, [1.0], np.cumprod(steps[at:])])
    return least, chances / math.fsum(chances)


def _tails(n: int, c: int, k: int, needed: int) -> tuple[float, float]:
    """Return the chance of at least *needed* correct ones, and that of fewer."""
    least, chances = _successes(n, c, k)
    split = max(needed - least, 0)
    if split == 0 or split >= chances.size:  # certain
        return (0.0, 1.0) if split else (1.0, 0.0)
    return min(math.fsum(chances[split:]), 1.0), min(math.fsum(chances[:split]), 1.0)


def _g_pass_variance(n: int, c: int, k: int, needed: int) -> float:
    """Return the unbiased sampling variance: a square less the chance of two disjoint draws."""
    least, chances = _successes(n, c, k)
    side = int(np.argmin(_tails(n, c, k, needed)))  # of the rarer event less cancels
    both = math.fsum(
        chance * _tails(n - k, c - i, k, needed)[side]
        for i, chance in enumerate(chances.tolist(), least)
        if chance and (i < needed) == bool(side)
    )
    return max(_tails(n, c, k, needed)[side] ** 2 - both, 0.0)


def _ways(n: int, most: int, scale: float) -> Floats:
    """Return ``C(n, a) * scale^a`` for *a* up to *most*."""
    a = np.arange(most, dtype=np.float64)
    return np.concatenate([[1.0], np.cumprod(np.maximum(n - a, 0.0) / (a + 1.0) * scale)])


def _majority(n_correct: int, others: Sequence[int], k: int) -> float:
    """
    Return the share of subsets of *k* whose most frequent answer is the correct one.

    For each number *x* of correct answers in the subset: the ways to choose the rest with no
    answer more than *x* times, by how many others come as often.  Each answer chosen weighs
    ``k / n``, which leaves the share as it is and keeps the products within ``e^k``.
    """
    if k - sum(others) > max(others, default=0):
        return 1.0  # it wins even where all others are among the k
    n = n_correct + sum(others)
    scale = k / n
    correct = _ways(n_correct, k, scale)
    ways = [_ways(m, min(m, k), scale) for m in others]
    total = math.fsum(
        correct[x] * _rest(ways, x, k - x) for x in range(1, min(k, n_correct) + 1)
    ) / float(_ways(n, k, scale)[k])
    return min(total, 1.0)


def _rest(ways: Sequence[Floats], x: int, rest: int) -> float:
    """Return the weight of choosing *rest* of the others, none more than *x* times."""
    chosen = np.zeros((rest // x + 1, rest + 1))  # by how many tie, by how many are chosen
    chosen[0, 0] = 1.0
    for each in ways:
        more = np.zeros_like(chosen)
        for a in range(min(x, each.size, rest + 1)):
            more[:, a:] += each[a] * chosen[:, : rest + 1 - a]
        if x < each.size and x <= rest:
            more[1:, x:] += each[x] * chosen[:-1, : rest + 1 - x]
        chosen = more
    return math.fsum(chosen[:, rest] / np.arange(1.0, rest // x + 2))


def _jackknife(n_correct: int, others: Sequence[int], k: int) -> float:
    """Return the variance from leaving out one sample after another; equal ones count together."""
    n = n_correct + sum(others)
    without = [(n_correct, _majority(n_correct - 1, others, k))] if n_correct else []
    for m, times in Counter(others).items():
        i = others.index(m)
        fewer = (*others[:i], m - 1, *others[i + 1 :])
        without.append((m * times, _majority(n_correct, fewer, k)))
    mean = math.fsum(count * share for count, share in without) / n
    return (n - 1) / n * math.fsum(count * (share - mean) ** 2 for count, share in without)
