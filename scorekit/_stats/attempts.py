"""What *k* attempts at each task give, averaged over subsets: the best, enough, a majority."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from scorekit._core.arrays import Counts, Floats
from scorekit._stats.suites import PerTask
from scorekit.intervals import normal_quantile, t_quantile, wilson

NO_SPREAD = 1e-12
"""Variance below which scores are equal but for rounding."""

MANY = 256
"""Positive terms above which the last digit of their sum is left to NumPy, which is far faster."""

Votes: TypeAlias = tuple[int, tuple[int, ...]]
"""How often the correct answer was given, and each other one, most frequent first."""


def best(tasks: Sequence[Floats], k: int) -> PerTask:
    """Estimate the best score of *k* attempts at each task, given its sorted scores."""
    n = np.array([task.size for task in tasks], dtype=np.int64)
    pairs = np.array([_best(task, k) for task in tasks]).reshape(-1, 2)
    graded = any(bool(((task > 0.0) & (task < 1.0)).any()) for task in tasks)
    return PerTask(n, pairs[:, 0], pairs[:, 1], graded=graded)


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


def worth_of_enough(k: int, needed: int) -> Floats:
    """Return what each number of successes among *k* scores, where *needed* are enough."""
    return (np.arange(k + 1) >= needed).astype(np.float64)


def worth_over_shares(k: int) -> Floats:
    """Return what each number of successes adds to mG-Pass@k, by Liu et al.'s sum."""
    return np.asarray(np.maximum(np.arange(k + 1.0) - (k + 1) // 2, 0.0) * 2.0 / k)


def g_pass(n: Counts, c: Counts, k: int, worths: Sequence[Floats]) -> list[PerTask]:
    """Estimate the score of *k* attempts at each task, from the number of them that succeed."""
    tasks = list(zip(n.tolist(), c.tolist(), strict=True))
    places = {task: place for place, task in enumerate(dict.fromkeys(tasks))}
    row_of = np.array([places[task] for task in tasks], dtype=np.intp)
    pairs = np.array([_worth(*_successes(*task, k), worths) for task in places])
    pairs = pairs.reshape(-1, len(worths), 2)
    return [
        PerTask(
            n,
            pairs[row_of, i, 0],
            pairs[row_of, i, 1],
            graded=bool(((worth > 0.0) & (worth < 1.0)).any()),
        )
        for i, worth in enumerate(worths)
    ]


def majority(tasks: Sequence[Votes], k: int) -> PerTask:
    """Estimate the chance that *k* votes on each task go to the correct answer."""
    n = np.array([c + sum(others) for c, others in tasks], dtype=np.int64)
    chances = {task: _majority(*task, k) for task in set(tasks)}
    scores = np.array([chances[task] for task in tasks])
    return PerTask(n, scores, 1.0 - scores)


def carry_through_binomial(
    ends: tuple[float, float], k: int, worth: Floats
) -> tuple[float, float, str]:
    """Return the score of *k* attempts at both ends of a success rate."""
    from scipy.special import betainc

    steps, i = np.diff(worth), np.arange(1, k + 1)
    rises = steps > 0.0
    low, high = (math.fsum(steps[rises] * betainc(i[rises], k - i[rises] + 1, p)) for p in ends)
    return low, high, "wilson carried through the binomial"


def _weights(n: int, k: int) -> Floats:
    """Return the share of subsets of *k* whose best is each of *n* sorted scores."""
    rank = np.arange(n, 0, -1, dtype=np.float64)
    with np.errstate(under="ignore"):
        falling = np.cumprod(np.maximum(rank[1:] - k + 1.0, 0.0) / rank[1:])
    return np.concatenate([[1.0], falling])[::-1] * (k / n)


def _best(scores: Floats, k: int) -> tuple[float, float]:
    """Return the expected best, and 1 minus it; rounding must not leave the scores."""
    weights = _weights(scores.size, k)
    low, high = float(scores[0]), float(scores[-1])
    best, lack = math.fsum(weights * scores), math.fsum(weights * (1.0 - scores))
    return min(max(best, low), high), min(max(lack, 1.0 - high), 1.0 - low)


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
    return least, chances / _total(chances)


def _total(terms: Floats) -> float:
    return math.fsum(terms) if terms.size <= MANY else float(terms.sum())


def _worth(least: int, chances: Floats, worths: Sequence[Floats]) -> list[tuple[float, float]]:
    """Return the mean score of successes that have these chances, and 1 minus it."""
    pairs: list[tuple[float, float]] = []
    for worth in worths:
        own = worth[least : least + chances.size]
        if own[0] == own[-1]:  # certain; what more successes are worth is never less
            pairs.append((float(own[0]), 1.0 - float(own[0])))
        else:
            score, failure = _total(chances * own), _total(chances * (1.0 - own))
            pairs.append((min(score, 1.0), min(failure, 1.0)))
    return pairs


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
