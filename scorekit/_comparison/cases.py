"""Pairs of cases -> what each case did: how far it moved, whether by chance, and below a floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorekit._comparison.missing import Missing
from scorekit._comparison.plan import Plan
from scorekit._core.mappings import FrozenMapping
from scorekit._stats.changes import is_at_most
from scorekit._stats.exact_tests import DECIMAL_NOISE, fall_p_values
from scorekit._stats.sides import Paired, Sides
from scorekit._stats.single_cases import Counting, SuitePair, are_flags
from scorekit.errors import refuse
from scorekit.records import SuiteKey

SAME_CHANGE = 9
"""Decimals to which changes are alike when they are put in order."""

SingleCases = Literal["tested", "cannot tell", "two models", "not tested"]


class Moved(NamedTuple):
    """A case that changed by more than the threshold."""

    key: tuple[SuiteKey, str]
    before: float
    after: float
    n_attempts: tuple[int, int]
    n_passed: tuple[int, int] | None
    """None where a score is neither 0 nor 1."""
    p_value: float
    adjusted: float | None
    """None where single cases are not tested."""
    is_significant: bool


class Cases(NamedTuple):
    """What single cases did."""

    moved: list[Moved]
    """The largest change first."""
    state: SingleCases
    n_tested: int

    @property
    def falls(self) -> list[Moved]:
        """Those that fell."""
        return [one for one in self.moved if one.after < one.before]

    @property
    def rises(self) -> list[Moved]:
        """Those that rose."""
        return [one for one in self.moved if one.after > one.before]


def judge_cases(
    pairs: Sequence[Paired], plan: Plan, missing: Missing, *, one_system: bool
) -> Cases:
    """Test the cases that have enough attempts, over all suites together."""
    tests = [SuitePair(*_outcomes(pair, missing)) for pair in pairs]
    are_tested = not (plan.anytime or plan.repeated)
    n_tested = sum(int(test.are_tested.sum()) for test in tests) if are_tested else 0
    counting = Counting.of(tests) if n_tested else None
    moved: list[Moved] = []
    doubts: list[bool] = []
    for pair, test in zip(pairs, tests, strict=True):
        found = _moved(pair, test, plan, counting)
        moved += found
        if any(one.is_significant for one in found):
            doubts.append(test.are_in_doubt() and plan.attempts != "independent")
    # rounding must not decide which of two equal changes comes first
    moved.sort(
        key=lambda one: (
            -round(abs(one.after - one.before), SAME_CHANGE),
            math.copysign(one.p_value, one.before - one.after),
        )
    )
    state: SingleCases = "tested"
    if not n_tested:
        state = "not tested"
    elif not one_system:
        state = "two models"
    elif doubts and all(doubts):
        state = "cannot tell"
    return Cases(moved, state, n_tested)


def _outcomes(pair: Paired, missing: Missing) -> Sides:
    """Return the known outcomes; where more or fewer are missing, such as speak against a fall."""
    ends = missing.ends(pair) if missing.shift != "none" else ()
    if not ends:
        return pair.before, pair.after
    old, new = ends[1]
    every = pair.every_id or pair.case_ids
    place_of = dict(zip(every, range(len(every)), strict=True))
    places = np.fromiter(map(place_of.__getitem__, pair.case_ids), np.intp, len(pair.case_ids))
    return old.take(places), new.take(places)


def _moved(pair: Paired, test: SuitePair, plan: Plan, counting: Counting | None) -> list[Moved]:
    old, new = pair.before.means, pair.after.means
    places = np.flatnonzero(np.abs(new - old) > plan.threshold + DECIMAL_NOISE)
    p_values = fall_p_values(test.before.take(places), test.after.take(places))
    adjusted: list[float | None] = [None] * places.size
    significant = np.zeros(places.size, np.bool_)
    if counting is not None:
        tested = test.are_tested[places]
        counted = counting.adjusted(p_values)
        adjusted = [
            one if is_in else None
            for one, is_in in zip(counted.tolist(), tested.tolist(), strict=True)
        ]
        small = np.array([is_at_most(one, plan.error) for one in counted.tolist()], np.bool_)
        significant = tested & small & (new < old)[places] & counting.are_beyond_rises(p_values)
    sizes, passes = _counts(pair, places)
    columns = (p_values.tolist(), adjusted, significant.tolist())
    means = (old[places].tolist(), new[places].tolist())
    return [
        Moved((pair.suite, pair.case_ids[i]), *rest)
        for i, rest in zip(
            places.tolist(), zip(*means, sizes, passes, *columns, strict=True), strict=True
        )
    ]


def _counts(
    pair: Paired, places: NDArray[np.intp]
) -> tuple[list[tuple[int, int]], list[tuple[int, int] | None]]:
    """Return the attempts at some cases in both runs, and those that passed."""
    old, new = pair.before.take(places), pair.after.take(places)
    sizes = list(zip(old.sizes.tolist(), new.sizes.tolist(), strict=True))
    if not places.size:
        return sizes, []
    flags = are_flags(old) & are_flags(new)
    passes = zip(*(side.totals().round().astype(int).tolist() for side in (old, new)), strict=True)
    found = zip(passes, flags.tolist(), strict=True)
    return sizes, [counts if is_flag else None for counts, is_flag in found]


class BelowFloor(NamedTuple):
    """A case whose pass rate is shown to lie below the floor."""

    key: tuple[SuiteKey, str]
    before: float | None
    after: float
    p_value: float
    """Counted for all cases that could have shown as much."""


def below_floor(pairs: Sequence[Paired], plan: Plan) -> list[BelowFloor]:
    """Return the cases below the floor, unknown attempts taken for passes, the lowest first."""
    if plan.floor is None:
        return []
    from scipy.special import bdtr

    rows: list[BelowFloor] = []
    least: list[float] = []
    for pair in pairs:
        ids, after = (pair.every_id, pair.ends[1][1]) if pair.ends else (pair.case_ids, pair.after)
        if np.isin(after.scores, (0.0, 1.0)).all():
            known = dict(zip(pair.case_ids, pair.before.means.tolist(), strict=True))
            p_values = np.asarray(bdtr(after.totals(), after.sizes, plan.floor), np.float64)
            least += ((1.0 - plan.floor) ** after.sizes).tolist()
            rows += [
                BelowFloor((pair.suite, case), known.get(case), rate, p_value)
                for case, rate, p_value in zip(
                    ids, after.means.tolist(), p_values.tolist(), strict=True
                )
            ]
    if not rows:
        refuse("floor", "None where no metric has outcomes of 0 and 1", plan.floor)
    p_values = np.array([row.p_value for row in rows])
    able = np.searchsorted(np.sort(least), p_values * (1.0 + DECIMAL_NOISE), side="right")
    counted = np.minimum(p_values * able, 1.0)
    found = [
        row._replace(p_value=p_value)
        for row, p_value in zip(rows, counted.tolist(), strict=True)
        if is_at_most(p_value, plan.error)
    ]
    return sorted(found, key=lambda one: (one.after, one.p_value))


def flaky(pairs: Sequence[Paired]) -> FrozenMapping[str, float]:
    """Return the share of failures of each case whose attempts differ within a run."""
    several = len({pair.suite[1] for pair in pairs}) > 1
    found: dict[str, float] = {}
    for pair in pairs:
        mixed = np.flatnonzero(pair.before.are_mixed | pair.after.are_mixed)
        totals = pair.before.totals()[mixed] + pair.after.totals()[mixed]
        shares = 1.0 - totals / (pair.before.sizes + pair.after.sizes)[mixed]
        for i, share in zip(mixed.tolist(), shares.tolist(), strict=True):
            case_id = pair.case_ids[i]
            found.setdefault(f"{case_id} / {pair.suite[1]}" if several else case_id, share)
    return FrozenMapping(found)
