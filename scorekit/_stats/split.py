"""
A change that has two causes: the system, and the ruler that both runs were measured with.

Of some cases, the anchors, the old answer is also known as measured with today's ruler, so that
both parts of their change are known.  Of the rest only the whole change is, and the ruler's part
is taken for the mean of that of the anchors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scorekit._core.arrays import Floats
from scorekit._core.sums import exact_mean
from scorekit._stats.changes import Change, Units, agreeing
from scorekit.intervals import t_quantile

FEWEST_ANCHORS = 6
"""Anchors of which the ruler's part is estimated."""

UNSEEN = 2.0
"""Largest changes that none of the anchors may have shown, where none changed."""


class ChangePart(NamedTuple):
    """One of the two parts of a change."""

    delta: float
    change: Change


class Split(NamedTuple):
    """The change of a suite by its causes, which add up to it."""

    system: ChangePart
    ruler: ChangePart


def split_change(
    whole: Floats, system: Floats, anchors: np.ndarray, rest: np.ndarray, error: float
) -> Split:
    """
    Split the mean change over all cases, each part tested at *error* on either side.

    *whole* is the change of each case, and *system* the system's part of it where that is known,
    which it is of all but the *rest*. Of the *anchors* the ruler's part is the difference.
    """
    n, n_anchors, n_rest = whole.size, int(anchors.sum()), int(rest.sum())
    effects = (whole - system)[anchors]
    effect = exact_mean(effects)
    values = np.where(rest, whole - effect, system)
    values[anchors] -= n_rest / n_anchors * (effects - effect)
    n_changed = int(np.count_nonzero(effects))
    largest = float(max(np.abs(whole).max(), np.abs(effects).max()))
    unseen = (UNSEEN * largest / (n_anchors * (1 + n_changed))) ** 2
    share = n_rest / n
    found = exact_mean(values)
    ruled = float(whole.mean()) - found
    scale = ruled / effect if effect else (n_anchors + n_rest) / n
    freedom = n_anchors - 1.0
    return Split(
        ChangePart(found, _tested(Units(values), freedom, error, share * share * unseen)),
        ChangePart(ruled, _tested(Units(effects * scale), freedom, error, scale * scale * unseen)),
    )


def _tested(units: Units, freedom: float, error: float, extra: float) -> Change:
    """Test values whose mean rests on the anchors, and bound it."""
    from scipy.special import stdtr

    quantile = t_quantile(1.0 - 2.0 * error, freedom)
    ends: list[float] = []
    p_values: list[float] = []
    for one in (units, units.turned):
        t = one.t_of_fall(extra=extra)
        tail = 0.5 if math.isnan(t) else float(stdtr(freedom, t))
        p_values.append(max(tail, 0.5 ** (freedom + 1.0)))
        ends.append(min(1.0, one.mean + quantile * one.error(extra)))
    return agreeing((-ends[1], ends[0]), (p_values[0], p_values[1]), error)
