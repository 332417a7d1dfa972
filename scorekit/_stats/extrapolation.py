"""A beta-binomial model of success rates, fitted to counts by maximum likelihood."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from scorekit._core.arrays import Counts, Floats

_LOGITS = np.linspace(-25.0, 25.0, 101)
"""Where the correlation is looked for; beyond them lie, to ten digits, 0 and 1."""

_FURTHEST = 36.0
"""Largest logit of a mean: one more and it would round to 1."""


def beta_pass_at_k(mean_rate: float, correlation: float, k: int) -> float:
    """
    Return ``1 - B(a, b + k) / B(a, b)`` for the beta distribution of that mean and correlation.

    As a product over attempts, each given that those before it failed, it holds for the edges
    too, where *a* and *b* are infinite (correlation 0) or 0 (correlation 1).
    """
    rest = 1.0 - correlation
    attempts = np.arange(1.0, k)
    later = np.log1p(-mean_rate * rest / (rest + attempts * correlation))
    return -math.expm1(math.log1p(-mean_rate) + float(later.sum()))


class Fit:
    """The beta-binomial likelihood of counts, and where it is largest."""

    def __init__(self, n: Counts, c: Counts) -> None:
        longest = int(n.max())
        # how many tasks had more than j successes, failures, samples
        self._more = [_exceeding(each, longest) for each in (c, n - c, n)]
        self._j = np.arange(1.0, longest)
        self._best_mean = cache(self._find_best_mean)
        by_logit = {float(logit): self._best_mean(_expit(logit)) for logit in _LOGITS}
        start = max(by_logit, key=lambda logit: by_logit[logit][1])
        best = _refine(lambda logit: self._best_mean(_expit(logit))[1], start)
        edges = 0.0, 1.0, _expit(start), _expit(best)
        self.correlation = max(edges, key=lambda rho: self._best_mean(rho)[1])
        self.mean_rate, self._most = self._best_mean(self.correlation)

    def score_range(self, k: int, fall: float) -> tuple[float, float]:
        """Return the least and largest score whose log-likelihood is within *fall* of the best."""
        ends: list[float] = []
        for side in (-1.0, 1.0):

            def reach(rho: float, side: float = side) -> float:
                mean, most = self._best_mean(rho)
                floor = self._most - fall
                if most < floor:
                    return -math.inf
                return side * beta_pass_at_k(self._end(rho, mean, floor, side), rho, k)

            values = {float(logit): reach(_expit(logit)) for logit in _LOGITS}
            start = max(values, key=lambda logit: values[logit])
            best = _refine(lambda logit: reach(_expit(logit)), start)
            rhos = 0.0, 1.0, _expit(start), _expit(best), self.correlation
            ends.append(side * max(map(reach, rhos)))
        return ends[0], ends[1]

    def _end(self, rho: float, mean: float, floor: float, side: float) -> float:
        """Return the mean beyond the best one at which the likelihood falls to *floor*."""
        return _crossing(
            lambda logit: self._log_likelihood(_expit(logit), rho) - floor,
            _logit(mean),
            side * _FURTHEST,
        )

    def _find_best_mean(self, rho: float) -> tuple[float, float]:
        """Return the likeliest mean for a correlation; the likelihood is concave in it."""
        mean = _crossing(lambda logit: self._slope(_expit(logit), rho), -_FURTHEST, _FURTHEST)
        return mean, self._log_likelihood(mean, rho)

    def _slope(self, mean: float, rho: float) -> float:
        """Return the derivative by the mean, times the mean and times 1 minus it."""
        (passes, fails, _), rest, j = self._more, 1.0 - rho, self._j
        up = passes[0] + float((passes[1:] * mean * rest / (mean * rest + j * rho)).sum())
        back = 1.0 - mean
        down = fails[0] + float((fails[1:] * back * rest / (back * rest + j * rho)).sum())
        return float(up * back - down * mean)

    def _log_likelihood(self, mean: float, rho: float) -> float:
        passes, fails, samples = self._more
        rest, j = 1.0 - rho, self._j
        together = passes[0] + fails[0] - samples[0]  # tasks with successes and failures
        first: float = passes[0] * math.log(mean) + fails[0] * math.log1p(-mean)
        if together:
            first += together * math.log(rest) if rest else -math.inf
        with np.errstate(divide="ignore"):
            terms = (
                (passes[1:], mean * rest + j * rho),
                (fails[1:], (1.0 - mean) * rest + j * rho),
            )
        logs = sum(float((count * np.log(size)).sum()) for count, size in terms)
        return float(first) + logs - float((samples[1:] * np.log(rest + j * rho)).sum())


def _exceeding(counts: Counts, longest: int) -> Floats:
    below = np.cumsum(np.bincount(counts, minlength=longest + 1))[:longest]
    return (counts.size - below).astype(np.float64)


def _expit(logit: float) -> float:
    return (
        1.0 / (1.0 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))
    )


def _logit(share: float) -> float:
    return math.log(share) - math.log1p(-share)


def _crossing(function: Callable[[float], float], above: float, below: float) -> float:
    """Return the share between two logits where *function*, falling, crosses 0."""
    from scipy.optimize import brentq

    if function(above) <= 0.0:
        return _expit(above)
    if function(below) >= 0.0:
        return _expit(below)
    return _expit(float(brentq(function, above, below, xtol=1e-12)))


def _refine(function: Callable[[float], float], start: float) -> float:
    """Return where *function* is largest within a step of the grid around *start*."""
    step = float(_LOGITS[1] - _LOGITS[0])
    low, high = start - step, start + step
    for _ in range(30):
        third = (high - low) / 3.0
        if function(low + third) < function(high - third):
            low += third
        else:
            high -= third
    return (low + high) / 2.0
