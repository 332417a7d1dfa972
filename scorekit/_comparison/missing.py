"""What outcomes were lost: one test for the whole run, of unknown ones and of those left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from scorekit._comparison.plan import Plan
from scorekit._core.arrays import Floats
from scorekit._core.attempts import Attempts
from scorekit._stats.betting import betting_interval
from scorekit._stats.changes import Units, is_at_most
from scorekit._stats.missing import missing_shares, padded, planned_attempts
from scorekit._stats.sides import Paired, Sides
from scorekit.records import SuiteKey

Shift = Literal["none", "rose", "fell"]

SAME = 1e-12
"""Difference of two shares that rounding makes."""


class Missing(NamedTuple):
    """The share of outcomes that are missing in either run, and whether it changed."""

    shares: tuple[float, float]
    shift: Shift
    planned: Mapping[SuiteKey, tuple[int, int]]
    """Attempts at each case of a suite that were planned, as far as numbers say; 0 where fixed."""
    lost_cases: bool
    """Whether cases lost every outcome, by more than chance explains."""

    @classmethod
    def of(cls, pairs: Sequence[Paired], plan: Plan) -> Missing:
        """Compare both runs, each case by its mean over the suites."""
        if not pairs:
            return cls((0.0, 0.0), "none", {}, lost_cases=False)
        reaches = [_reaches(pair) for pair in pairs]
        numbers = [(0, 0)] * len(pairs)
        if plan.attempts == "auto":
            numbers = [
                (planned_attempts(old.sizes), planned_attempts(new.sizes))
                for _, ((old, _), (new, _)) in reaches
            ]
        planned = {pair.suite: own for pair, own in zip(pairs, numbers, strict=True)}
        if not any(pair.ends for pair in pairs) and all(
            int(one.sizes.min()) >= n
            for (_, sides), own in zip(reaches, numbers, strict=True)
            for (one, _), n in zip(sides, own, strict=True)
        ):
            return cls((0.0, 0.0), "none", planned, lost_cases=False)
        columns = [
            (ids, missing_shares(*old, n_old), missing_shares(*new, n_new))
            for (ids, (old, new)), (n_old, n_new) in zip(reaches, numbers, strict=True)
        ]
        case_ids, old, new = _by_case(columns)
        shift: Shift = "none"
        p_fall, p_rise = _p_values(case_ids, new - old, plan)
        if is_at_most(min(p_fall, p_rise), plan.error / 2.0):
            shift = "rose" if p_rise < p_fall else "fell"
        shares = float(old.mean()), float(new.mean())
        return cls(shares, shift, planned, _has_lost_cases(reaches, shares[0], plan))

    def ends(self, pair: Paired) -> tuple[Sides, ...]:
        """Return the scores at the worst and the best of what is missing; none if nothing is."""
        ends = pair.ends or ((pair.before, pair.after),) * 2
        n_old, n_new = self.planned.get(pair.suite, (0, 0))
        found = tuple(
            (padded(old, n_old, 1.0 - way), padded(new, n_new, way))
            for way, (old, new) in enumerate(ends)
        )
        is_known = not pair.ends and found[0] == (pair.before, pair.after)
        return () if is_known else found


Reaches = tuple[Sequence[str], tuple[Sides, Sides]]


def _has_lost_cases(reaches: Sequence[Reaches], share: float, plan: Plan) -> bool:
    """
    Tell whether cases lost every outcome, by more than chance explains.

    Chance is that other cases had none before or, where all had some, that as large a share of
    the outcomes as was missing then is missing at a case by accident.
    """
    wholly = [(ids, _are_lost(*old), _are_lost(*new)) for ids, (old, new) in reaches]
    case_ids, none_before, none_now = _by_case(wholly)
    n_lost = int(np.count_nonzero(none_now > none_before + SAME))
    if not n_lost or (plan.anytime and not none_before.any()):
        return n_lost > 0
    if none_before.any():
        _, p_value = _p_values(case_ids, none_now - none_before, plan)
    else:
        from scipy.special import pdtrc

        chances: list[tuple[Sequence[str], Floats, Floats]] = [
            (ids, np.asarray(share**low.sizes, np.float64), low.sizes.astype(np.float64))
            for ids, (_, (low, _)) in reaches
        ]
        p_value = float(pdtrc(n_lost - 1, float(_by_case(chances)[1].sum())))
    return is_at_most(p_value, plan.error / 2.0)


def _reaches(pair: Paired) -> Reaches:
    """Return the cases, and of either run the lowest and the highest scores of their attempts."""
    if not pair.ends:
        return pair.case_ids, ((pair.before, pair.before), (pair.after, pair.after))
    (high_old, low_new), (low_old, high_new) = pair.ends
    return pair.every_id, ((low_old, high_old), (low_new, high_new))


def _are_lost(lowest: Attempts, highest: Attempts) -> Floats:
    """Tell which cases have no known outcome, as 0 and 1."""
    unknown = lowest.scores < highest.scores
    return np.logical_and.reduceat(unknown, lowest.starts).astype(np.float64)


def _by_case(
    columns: Sequence[tuple[Sequence[str], Floats, Floats]],
) -> tuple[Sequence[str], Floats, Floats]:
    """Return the cases of all suites, and of each its mean over them, of both columns."""
    if len(columns) == 1:
        return columns[0]
    ids = dict.fromkeys(case for own, _, _ in columns for case in own)
    place_of = dict(zip(ids, range(len(ids)), strict=True))
    first, second, times = np.zeros((3, len(ids)))
    for own, old, new in columns:  # each case once
        places = np.fromiter(map(place_of.__getitem__, own), np.intp)
        first[places] += old
        second[places] += new
        times[places] += 1.0
    return list(ids), first / times, second / times


def _p_values(case_ids: Sequence[str], deltas: Floats, plan: Plan) -> tuple[float, float]:
    """Return the one-sided p values of a fall and of a rise of a share."""
    if plan.anytime:
        return betting_interval(deltas, plan.confidence_level)[2]
    units = Units(deltas, plan.groups_of(case_ids))
    return units.p_of_fall(), units.turned.p_of_fall()
