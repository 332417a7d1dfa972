"""Exact tests of two groups of attempts."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from scorekit._core.arrays import Floats, Groups
from scorekit._core.attempts import Attempts

DECIMAL_NOISE = 1e-9
"""Two score changes closer than this are the same: 1.0 -> 0.95 is a drop of exactly 0.05."""

EXACT_ATTEMPTS = 100
"""Attempts at a case up to which Fisher's p value is correctly rounded."""

ALL_SUBSETS = 24
"""Graded attempts at a case up to which their sums are counted as they are."""

GRID_CELLS = 50_000_000
"""Beyond it the scores are put on a grid, of hundredths or so coarse that it has no more cells."""

Scores = tuple[float, ...]


def at_least(n_heads: int, n_tails: int) -> float:
    """Return the chance that so many tosses of a coin show *n_heads* or more."""
    if not n_heads:
        return 1.0
    from scipy.special import betainc

    return float(betainc(n_heads, n_tails + 1.0, 0.5))


@lru_cache(maxsize=4096)
def drop_p_value(n_first: int, c_first: int, n_second: int, c_second: int) -> float:
    """
    Return the chance of so few successes, or fewer, in the second of two groups that are alike.

    One-sided Fisher: given all successes, those in the second group are hypergeometric.  Where
    integers would grow long their weights come from each other by ratios, in logarithms, and not
    from factorials, whose logarithms would lose digits.
    """
    passes, total = c_first + c_second, n_first + n_second
    low, high = max(0, passes - n_first), min(passes, n_second)
    if total <= EXACT_ATTEMPTS:
        ways = (
            math.comb(passes, i) * math.comb(total - passes, n_second - i)
            for i in range(low, c_second + 1)
        )
        return sum(ways) / math.comb(total, n_second)
    i = np.arange(low + 1.0, high + 1.0)
    ratios = (passes - i + 1) * (n_second - i + 1) / (i * (n_first - passes + i))
    logs = np.concatenate(([0.0], np.log(ratios).cumsum()))
    weights = np.exp(logs - logs.max())
    return float(weights[: c_second - low + 1].sum() / weights.sum())


def fall_p_values(before: Attempts, after: Attempts) -> Floats:
    """Return `fall_p_value` of each case."""
    if before.are_single and after.are_single:  # of which there can be very many
        return np.where(after.scores < before.scores - DECIMAL_NOISE, 0.5, 1.0)
    return np.fromiter(map(fall_p_value, before, after), np.float64, len(before))


def fall_p_value(before: Scores, after: Scores) -> float:
    """
    Return the chance of so low a mean in the second of two groups, or lower, were they alike.

    Fisher's exact test where all scores are 0 or 1, otherwise the exact permutation test.
    """
    n_old, n_new = len(before), len(after)
    if {*before, *after} <= {0.0, 1.0}:
        return drop_p_value(n_old, int(sum(before)), n_new, int(sum(after)))
    return _permutation_p_value(tuple(sorted(before)), tuple(sorted(after)))


def permutation_p_value(before: Scores, after: Scores) -> float:
    """
    Return the chance of so low a mean in the second of two groups of means that are alike.

    Of more than `ALL_SUBSETS` means the grid spans from the lowest to the highest.
    """
    low, high = min(*before, *after), max(*before, *after)
    scale = 1.0 / (high - low) if high - low > DECIMAL_NOISE else 0.0
    first, second = (tuple(sorted((x - low) * scale for x in side)) for side in (before, after))
    return _permutation_p_value(first, second)


@lru_cache(maxsize=4096)
def _permutation_p_value(before: Scores, after: Scores) -> float:
    pooled = np.array(before + after)
    steps = _grid_steps(len(before), len(after))
    if steps is None:
        most = math.fsum(after) + DECIMAL_NOISE
        return _n_ways(pooled, len(after), most) / math.comb(pooled.size, len(after))
    places = np.rint(pooled * steps).astype(np.int64)
    if steps == 1:
        c_old, c_new = (int(side.sum()) for side in np.split(places, [len(before)]))
        return drop_p_value(len(before), c_old, len(after), c_new)
    places -= places.min()
    places //= max(1, int(np.gcd.reduce(places)))
    return share_up_to(places, len(after), int(places[len(before) :].sum()))


def _grid_steps(n_old: int, n_new: int) -> int | None:
    """Return how fine a grid the scores of so many attempts are put on; None for no grid."""
    n = n_old + n_new
    return None if n <= ALL_SUBSETS else max(1, min(100, GRID_CELLS // (n * n_new * n_new)))


def _n_ways(values: Floats, size: int, most: float) -> int:
    """Count the subsets of that size that sum to *most* or less, half of the values at a time."""
    half = values.size // 2
    left, right = _subsets(half), _subsets(values.size - half)
    n_ways = 0
    for n in range(max(0, size - (len(right) - 1)), min(size, half) + 1):
        others = np.sort(right[size - n] @ values[half:])
        room = most - left[n] @ values[:half]
        n_ways += int(np.searchsorted(others, room, side="right").sum())
    return n_ways


@lru_cache(maxsize=ALL_SUBSETS)
def _subsets(n: int) -> tuple[Floats, ...]:
    """Return the subsets of *n* values as rows of 0 and 1, those of each size together."""
    every = [[float(i >> bit & 1) for bit in range(n)] for i in range(2**n)]
    rows = np.array(every).reshape(2**n, n)
    sizes = rows.sum(axis=1)
    return tuple(rows[sizes == size] for size in range(n + 1))


def share_up_to(places: Groups, size: int, most: int) -> float:
    """Return the share of the subsets of that size that sum to *most* or less."""
    chance = np.zeros((size + 1, most + 1))
    chance[0, 0] = 1.0
    n_chosen = np.arange(size + 1.0)[:, np.newaxis]
    for n_left, place in zip(range(places.size, 0, -1), places.tolist(), strict=True):
        taken = np.clip((size - n_chosen) / n_left, 0.0, 1.0)  # by chance, or for want of others
        moved = (chance * taken)[:-1, : max(most + 1 - place, 0)]
        chance *= 1.0 - taken
        chance[1:, place:] += moved
    return float(chance[size].sum())


def least_p_value(n_old: int, n_new: int) -> float:
    """Return the least p value that so many attempts at a case can have."""
    log_ways = math.lgamma(n_old + n_new + 1) - math.lgamma(n_old + 1) - math.lgamma(n_new + 1)
    return math.exp(-log_ways)
