"""Estimate how often a given share of several attempts succeeds: `g_pass_at_k`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from functools import cache

import attrs
import numpy as np

from scorekit._checks import check_count, check_number
from scorekit._costs import as_decimal
from scorekit._pass_kernel import Floats
from scorekit._pass_suite import check_columns, check_counts, is_column
from scorekit._suite_estimate import Insufficient, SuiteEstimate, estimate_tasks
from scorekit.intervals import wilson

MOST_ATTEMPTS = 1000
"""Largest *k*: the work for each task grows with its square."""


@attrs.frozen(kw_only=True)
class GPassAtK(SuiteEstimate):
    """Result of `g_pass_at_k`: chance that enough of *k* attempts succeed."""

    notation = "G-pass@{k}"

    tau: float
    """Share of the attempts that has to succeed."""
    n_needed: int
    """Attempts that have to succeed, ``ceil(tau * k)``, at least 1."""


def g_pass_at_k(
    *,
    n_samples: int | Iterable[int],
    n_correct: int | Iterable[int],
    k: int = 1,
    tau: float = 0.5,
    confidence: float = 0.95,
    insufficient: Insufficient = "raise",
    clusters: Iterable[Hashable] | None = None,
) -> GPassAtK:
    """
    Estimate the chance that at least a share *tau* of *k* attempts at a task succeeds.

    ``P(X >= m)`` for ``m = max(1, ceil(tau * k))`` and *X* hypergeometric, the successes among
    *k* of *n* samples of which *c* are correct.  A small *tau* makes it `pass_at_k`, a *tau* of 1
    `pass_hat_k`.  Intervals and standard errors are made as there; for one task the ends of
    Wilson's interval are carried through the binomial chance.

    Args:
        n_samples: As in `pass_at_k`.
        n_correct: As in `pass_at_k`.
        k: Attempts (count from 1 to 1000).
        tau: Share that has to succeed, in [0, 1], taken as it is written in decimal.
        confidence: As in `pass_at_k`.
        insufficient: As in `pass_at_k`.
        clusters: As in `pass_at_k`.

    Returns:
        A frozen `GPassAtK`.

    Raises:
        InputError: As `pass_at_k`, and if *tau* is out of range or *k* above 1000.
        TypeError: As `pass_at_k`, and if *tau* is not a number.

    Examples:
        >>> result = g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=0.5)
        >>> round(result.score, 4), result.n_needed
        (0.7154, 2)
        >>> g_pass_at_k(n_samples=16, n_correct=8, k=4, tau=2)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: tau must be a number in [0, 1], got 2

    References:
        Liu et al., "Are Your LLMs Capable of Stable Reasoning?", arXiv:2412.13147.

    .. versionadded:: 0.1.0
    """
    k = check_count("k", k, 1, MOST_ATTEMPTS)
    tau = check_number("tau", tau, 0.0, 1.0)
    needed = max(1, math.ceil(as_decimal(tau) * k))
    single = not is_column(n_samples) and not is_column(n_correct)
    if single:
        n, c = map(np.array, zip(check_counts(n_samples, n_correct), strict=True))
    else:
        n, c = check_columns(n_samples, n_correct)
    tasks = list(zip(n.tolist(), c.tolist(), strict=True))

    @cache
    def tails(n_samples: int, n_correct: int) -> tuple[float, float]:
        return _tails(n_samples, n_correct, k, needed)

    @cache
    def variance(n_samples: int, n_correct: int) -> float:
        return _variance(n_samples, n_correct, k, needed)

    return estimate_tasks(
        GPassAtK,
        name="n_samples",
        n=n,
        k=k,
        single=single,
        score_of=lambda i: tails(*tasks[i]),
        variance_of=lambda i: variance(*tasks[i]),
        ends_of=lambda i, quantile: _carry(*tasks[i], k, needed, quantile),
        method="wilson carried through the binomial",
        confidence=confidence,
        insufficient=insufficient,
        clusters=clusters,
        tau=tau,
        n_needed=needed,
    )


def _carry(n: int, c: int, k: int, needed: int, quantile: float) -> tuple[float, float]:
    """Return the chances of *needed* successes in *k* at both ends of the success rate."""
    from scipy.special import betainc

    low, high = (float(betainc(needed, k - needed + 1, p)) for p in wilson(c / n, n, quantile))
    return low, high


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


def _variance(n: int, c: int, k: int, needed: int) -> float:
    """Return the unbiased sampling variance: a square less the chance of two disjoint draws."""
    least, chances = _successes(n, c, k)
    side = int(np.argmin(_tails(n, c, k, needed)))  # of the rarer event less cancels
    both = math.fsum(
        chance * _tails(n - k, c - i, k, needed)[side]
        for i, chance in enumerate(chances.tolist(), least)
        if chance and (i < needed) == bool(side)
    )
    return max(_tails(n, c, k, needed)[side] ** 2 - both, 0.0)
