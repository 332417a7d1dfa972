"""Exact tests of 2 x 2 tables."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

EXACT_ATTEMPTS = 100
"""Attempts at a case up to which Fisher's p value is correctly rounded."""


def at_least(n_heads: int, n_tails: int) -> float:
    """Return the chance that so many tosses of a coin show *n_heads* or more."""
    if not n_heads:
        return 1.0
    from scipy.special import betainc

    return float(betainc(n_heads, n_tails + 1.0, 0.5))


def change_p_value(before: tuple[float, ...], after: tuple[float, ...]) -> float | None:
    """
    Return the p value of one case's change, one-sided in the direction in which it went.

    Fisher's exact test over the attempts; None where one of them is not scored 0 or 1.
    """
    if not {*before, *after} <= {0.0, 1.0}:
        return None
    old, new = (len(before), int(sum(before))), (len(after), int(sum(after)))
    worse = new[1] * old[0] < old[1] * new[0]
    return drop_p_value(*old, *new) if worse else drop_p_value(*new, *old)


@lru_cache(maxsize=4096)
def drop_p_value(n_first: int, c_first: int, n_second: int, c_second: int) -> float:
    """
    Return the chance of so few successes in the second of two groups, or fewer, were they alike.

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
