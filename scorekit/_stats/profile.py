"""An agreement beyond chance, and what it may be: the profile likelihood of a table of counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorekit._core.roots import root
from scorekit.intervals import Interval, t_quantile

Floats: TypeAlias = NDArray[np.float64]
Expected: TypeAlias = Callable[[Floats], tuple[float, Floats]]
"""The disagreement that chance gives under the shares of a table, and its derivatives."""

UNSEEN = 1e-9
"""Items that stand for a cell without any: only so may it be given a share."""

STEPS = 100
"""Most steps to a table that has an agreement; ten to eighty are taken."""

BLEND = 0.3
"""Share of the way to the next table that a step takes."""

MEMORY = 5
"""Steps from which the next one is extrapolated."""

ALIKE = 1e-8
"""Relative size below which steps that differ in a direction are the same."""

EDGE = 1.0 - 1e-14
"""How near a multiplier comes to where a share would be infinite."""

NEAR, FAR = 1e-5, 1e-3
"""Shares of cells that differ less are the same; after the last step, more is not found."""


def agreement(
    counts: Floats, cost: Floats, expected: Expected, confidence_level: float
) -> tuple[float, float | None, Interval]:
    """
    Return ``1 - D / E``, *D* being the mean of *cost* over the items and *E* what is *expected*.

    And its standard error, and its interval: every agreement that some table of shares has under
    which the counts are likely enough, twice the log of the likelihood ratio being at most the
    square of Student's quantile.
    """
    n, error, low, high = float(counts.sum()), None, -1.0, 1.0
    start = counts / n
    by_chance, slopes = expected(start)
    ratio = float(np.sum(start * cost)) / by_chance
    agreement = 1.0 - ratio
    if n > 1.0:
        influence = cost - ratio * slopes
        influence -= float(np.sum(start * influence))
        error = math.sqrt(float(np.sum(start * influence * influence)) / n) / by_chance
        most = t_quantile(confidence_level, n - 1.0)

        def excess(target: float) -> float:
            nonlocal start
            if abs(target - agreement) <= NEAR:
                return -most
            deviance, shares = _deviance(counts, cost, expected, target, start)
            if math.isinf(deviance):
                deviance, shares = _deviance(counts, cost, expected, target, counts / n)
            if math.isfinite(deviance):
                start = shares  # the next target is near
            return min(math.sqrt(max(deviance, 0.0)), 2.0 * most) - most  # nearly a line

        if excess(-1.0 + NEAR) > 0.0:
            low = -root(lambda target: excess(-target), -agreement, 1.0 - NEAR, NEAR)
        start = counts / n
        if excess(1.0 - NEAR) > 0.0:
            high = root(excess, agreement, 1.0 - NEAR, NEAR)
    return (
        agreement,
        error,
        Interval(
            low=min(low, agreement),
            high=max(high, agreement),
            confidence_level=confidence_level,
            method="profile likelihood",
        ),
    )


def _deviance(
    counts: Floats, cost: Floats, expected: Expected, target: float, start: Floats
) -> tuple[float, Floats]:
    """
    Return by how much the likeliest table with this agreement explains the counts less well.

    And its shares.

    Cells without an item have one share together, spread evenly: one for those that agree, and one
    for those that disagree most.  The condition on the table is made linear where it stands, which
    has a solution in one unknown, and again where that leads.  Steps alone may go in a circle,
    so each is mixed with those before it, such that they would have cancelled (Anderson 1965).
    """
    n, empty = float(counts.sum()), counts == 0.0
    held, ends = ~empty, {0.0, float(cost.max(initial=0.0, where=empty))}
    groups = [group for end in sorted(ends) if (group := empty & (cost == end)).any()]
    weights = np.concatenate([counts[held], np.full(len(groups), UNSEEN)])
    shares, step = start, np.ones_like(start)
    past: list[tuple[Floats, Floats]] = []
    for _ in range(STEPS):
        by_chance, slopes = expected(shares)
        slopes = cost - (1.0 - target) * slopes
        slopes -= float(np.sum(shares * (slopes - cost))) + (1.0 - target) * by_chance
        together = [float(slopes[group].mean()) for group in groups]
        found = _tilted(weights, np.concatenate([slopes[held], together]))
        if found is None:
            return math.inf, shares
        moved = np.zeros_like(shares)
        moved[held] = found[: found.size - len(groups)]
        for group, share in zip(groups, found[found.size - len(groups) :], strict=True):
            moved[group] = share / np.count_nonzero(group)
        step = moved - shares
        if float(abs(step).max()) < NEAR:
            break
        past = [*past[-MEMORY:], (shares.ravel(), step.ravel())]
        shares = _mixed(shares, step, past, held)
    if float(abs(step).max()) > FAR:
        return math.inf, shares
    with np.errstate(divide="ignore"):  # a share that came to 0 makes the table impossible
        return 2.0 * float(np.sum(counts[held] * np.log(counts[held] / n / shares[held]))), shares


def _mixed(
    shares: Floats, step: Floats, past: list[tuple[Floats, Floats]], held: NDArray[np.bool_]
) -> Floats:
    """Return the next shares: a part of the *step*, corrected by what the last ones changed."""
    plain = shares + BLEND * step
    if len(past) == 1:
        return plain
    places: Floats = np.diff(np.array([place for place, _ in past]), axis=0).T
    steps: Floats = np.diff(np.array([one for _, one in past]), axis=0).T
    parts = np.asarray(np.linalg.lstsq(steps, step.ravel(), rcond=ALIKE)[0], np.float64)
    back: Floats = (places + BLEND * steps) @ parts
    mixed = plain - back.reshape(shares.shape)
    is_table = float(mixed[held].min()) > 0.0 and float(mixed.min()) > -UNSEEN
    return np.asarray(np.maximum(mixed, 0.0)) if is_table else plain


def _tilted(n: Floats, h: Floats) -> Floats | None:
    """Return the likeliest shares under which *h* has mean 0; None if there are none."""
    from scipy.optimize import brentq

    if not float(h.min()) < 0.0 < float(h.max()):
        return None

    def mean(place: float) -> float:
        return float(np.sum(n * h / (1.0 + place * h)))

    low, high = (-EDGE / float(end) for end in (h.max(), h.min()))
    if mean(low) <= 0.0 or mean(high) >= 0.0:
        return None
    found = n / (1.0 + float(brentq(mean, low, high, xtol=1e-300, rtol=1e-12)) * h)
    return np.asarray(found / found.sum())
