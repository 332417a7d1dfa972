"""What a comparison can find: broken cases, by its very test, and how many cases would show it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Floats
from scorekit._core.attempts import Attempts
from scorekit._stats.changes import Units
from scorekit.intervals import normal_quantile, t_quantile

POWER = 0.8
"""Power that defines what can be found."""

MOST = 1e5
"""Root of the largest number of cases that is given."""

PASSING = 0.5
"""Mean score from which on a case passes."""


class Detectable(NamedTuple):
    """The least number of broken cases that is found with `POWER`."""

    n_cases: int
    effect: float
    """The loss that they are, of the mean score."""


Reach = Callable[[Floats, Floats], Floats]
"""How far from 0 a mean change must lie to be found, by the loss and the variance of changes."""


def t_reach(_: Floats, variances: Floats, *, units: Units, error: float) -> Floats:
    """Return how far that is for the test of these *units*, at *error* on either side."""
    quantile = t_quantile(1.0 - 2.0 * error, units.n_effective - 1.0)
    return np.asarray(quantile * np.sqrt(variances / (units.deltas.size - 1.0)))


def broken_cases(
    before: Attempts, after: Attempts, units: Units, reach: Reach
) -> Detectable | None:
    """
    Return how many cases that pass must break for the test to find it.

    How well they pass is taken from the other run, so that luck does not count.  None where it
    would not find even all of them.
    """
    n = units.deltas.size
    chosen = ((before.means, after.means), (after.means, before.means))
    rates = [other[own >= PASSING] for own, other in chosen]
    n_passing = min(rate.size for rate in rates)
    if units.means.size == 1 or not n_passing:
        return None
    from scipy.special import ndtr

    rate = float(np.concatenate(rates).mean())
    fewness = float(np.mean(1.0 / np.minimum(before.sizes, after.sizes)))
    square = rate * (rate + (1.0 - rate) * fewness)
    # one flip unseen; of groups the variance that their error stands for
    variance = units.error() ** 2 * (n - 1.0) + fewness / n
    k = np.arange(1.0, n_passing + 1.0)
    effects = k * rate / n
    spread = np.maximum(variance + k * square / n - effects**2, 0.0)
    power = ndtr((effects - reach(effects, spread)) / math.sqrt(variance / n))
    found = np.flatnonzero(power >= POWER)
    if not found.size:
        return None
    return Detectable(int(k[found[0]]), float(effects[found[0]]))


def cases_to_show(delta: float, limit: float, units: Units, error: float) -> int | None:
    """
    Return about how many such cases would show a change of *delta* with `POWER`.

    Where *delta* is no more than *limit* it is for cases that break and lose so much together,
    which adds spread.
    """
    n = units.deltas.size
    variance = units.error() ** 2 * n
    effect = max(abs(delta), limit)
    if units.means.size == 1 or effect <= 0.0:
        return None
    added = 0.0
    if abs(delta) <= limit:
        variance += 1.0 / (n * n)  # one flip unseen
        added = effect - effect * effect
    quantile, power = normal_quantile(1.0 - 2.0 * error), normal_quantile(2.0 * POWER - 1.0)
    reach = quantile * math.sqrt(variance + added) + power * math.sqrt(variance)
    if reach >= effect * MOST:
        return None
    least = math.ceil(-math.log2(error) - 1e-9)  # cases, all of which fall
    return max(math.ceil((reach / effect) ** 2) + 2, least)
