"""Pairs of cases -> the verdict on each suite: one test, and the interval that is printed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import nextafter
from typing import Final

import attrs
import numpy as np

from scorekit._comparison.missing import Missing
from scorekit._comparison.plan import Plan
from scorekit._comparison.rulers import Measured, Parts, effect_of
from scorekit._core.arrays import Floats
from scorekit._core.mappings import FrozenMapping
from scorekit._core.sums import exact_mean
from scorekit._sheet.values import counted
from scorekit._stats.betting import betting_interval, boundary
from scorekit._stats.changes import Change, Units, agreeing, is_at_most, mean_change, surplus
from scorekit._stats.detectable import POWER, Detectable, broken_cases, cases_to_show, t_reach
from scorekit._stats.repeats import Repeats, enough_repeats
from scorekit._stats.sides import Paired, Sides
from scorekit._stats.split import Split
from scorekit.intervals import Interval, interval_around, t_quantile
from scorekit.rulers import RulerChange, RulerEffect
from scorekit.verdicts import (
    NOTHING_SCORED,
    SIGHT,
    Outcome,
    Question,
    SuiteVerdict,
    Test,
    WithinMargin,
)

BY_ANCHORS: Final = "t with anchors"

Z_OF_POWER = 0.8416
"""The normal quantile of a power of 80 %."""


def judge_suites(pairs: Sequence[Paired], plan: Plan, missing: Missing) -> list[SuiteVerdict]:
    """Judge all suites, at such a level that all of their intervals hold at once."""
    n_suites = 1 if plan.adjustment == "none" else len(pairs)
    return [_JudgedSuite(pair, plan, n_suites, missing).verdict() for pair in pairs]


class _JudgedSuite:
    """One suite, and the level at which it is judged."""

    def __init__(self, pair: Paired, plan: Plan, n_suites: int, missing: Missing) -> None:
        self.pair, self.plan, self.n_suites = pair, plan, n_suites
        self.error = plan.error / 2.0 / n_suites
        """Chance of a false alarm on either side."""
        self.is_known = len(pair.case_ids) > 0
        ends = missing.ends(pair)
        self.ends = ends if missing.shift != "none" or not self.is_known else ()
        """Where the verdict has to hold."""
        self.case_ids = pair.case_ids if self.is_known else pair.every_id
        self.sides = (pair.before, pair.after) if self.is_known else ends[0]
        self.units = Units(self.deltas(self.sides), plan.groups_of(self.case_ids))
        self.repeats = Repeats.of(*self.sides, plan.n_repeats) if plan.repeated else None
        self.n_unseen = 0 if plan.random_order or not plan.anytime else len(pair.unseen)

    @staticmethod
    def deltas(sides: Sides) -> Floats:
        """Return the change of each case."""
        return np.asarray(sides[1].means - sides[0].means)

    def change(self) -> Change:
        """Test the known outcomes, and where the verdict has to hold both ends."""
        found = [self._test(self.sides, self.units)] if self.is_known else []
        every = self.pair.every_id or self.pair.case_ids
        for sides in self.ends:
            units = Units(self.deltas(sides), self.plan.groups_of(every))
            found.append(self._test(sides, units))
        first, *others = found
        for other in others:
            first = first.hull(other)
        return first

    def _test(self, sides: Sides, units: Units) -> Change:
        if self.plan.anytime:
            level = 1.0 - 2.0 * self.error
            low, high, p_values = betting_interval(units.deltas, level)
            return agreeing((low, high), p_values, self.error)
        if self.plan.repeated:
            return Repeats.of(*sides, self.plan.n_repeats).change(self.error)
        old, new = sides
        return mean_change(units, self.error, (surplus(old, new), surplus(new, old)))

    @property
    def test(self) -> Test:
        """Name the test."""
        if self.plan.anytime:
            return "betting"
        if self.plan.repeated:
            return "permutation of repeats"
        return "paired t" if self.plan.groups is None else "clustered t"

    def cannot_see(self) -> str | None:
        """Say what a run needs for some outcome to be significant, if none could be."""
        level = f"{100.0 * self.plan.confidence_level:.4g} %"
        if self.n_suites > 1:
            level += f" in {self.n_suites} suites"
        if not self.is_known:
            return NOTHING_SCORED
        if self.plan.anytime:
            return None
        if self.repeats is not None:
            if is_at_most(self.repeats.least, self.error):
                return None
            enough, (old, new) = enough_repeats(self.error), self.plan.n_repeats
            return (
                f"{old} against {new} repeats are too few at {level}: make {enough} of either side"
            )
        if is_at_most(self.units.least, self.error):
            return None
        n_units, what = self.units.means.size, "case"
        if self.units.groups is not None:
            what = "group of cases" if n_units == 1 else "groups of case"
        are = f"{counted(n_units, what)} {'is' if n_units == 1 else 'are'}"
        enough = int(np.ceil(-np.log2(self.error) - 1e-9))
        sooner = is_at_most(self.units.least, (1.0 - SIGHT) / 2.0 / self.n_suites)
        more = f", or pass confidence_level={SIGHT}" * sooner
        return f"{are} too few at {level}: compare {enough}{more}"

    def detectable(self) -> tuple[float | None, int | None]:
        """Return the loss that is found with `POWER`, and the cases that break then."""
        if not self.is_known or self.ends:
            return None, None
        if self.repeats is not None:
            return self.repeats.detectable(self.error, POWER), None
        reach = partial(t_reach, units=self.units, error=self.error)
        if self.plan.anytime:
            reach = partial(_betting_reach, n=self.units.deltas.size, error=self.error)
        elif not is_at_most(self.units.least, self.error):
            return None, None
        found: Detectable | None = broken_cases(*self.sides, self.units, reach)
        return (None, None) if found is None else (found.effect, found.n_cases)

    def verdict(self) -> SuiteVerdict:
        """Read the verdict off the interval."""
        pair, plan, change = self.pair, self.plan, self.change()
        limit = plan.threshold if plan.margin is None else plan.margin
        delta = exact_mean(self.units.deltas)
        effect, n_broken = self.detectable()
        old, new = self.sides
        bounds = None
        if ends := pair.ends or self.ends:
            bounds = exact_mean(self.deltas(ends[0])), exact_mean(self.deltas(ends[1]))
        interval = Interval(
            low=min(change.low, delta),
            high=max(change.high, delta),
            confidence_level=min(round(1.0 - 2.0 * self.error, 12), nextafter(1.0, 0.0)),
            method=self.test,
        )
        is_single = old.are_single and new.are_single and self.repeats is None
        return SuiteVerdict(
            verdict=outcome_of(interval, limit)
            if self.is_known and not self.n_unseen
            else "inconclusive",
            delta=delta,
            baseline_mean=exact_mean(old.means),
            current_mean=exact_mean(new.means),
            interval=interval,
            p_value=min(1.0, 2.0 * self.n_suites * min(change.p_fall, change.p_rise)),
            test=self.test,
            question=self._question,
            threshold=plan.threshold,
            margin=plan.margin,
            within_margin=None
            if plan.margin is None
            else "undecided"
            if self.n_unseen
            else within(interval, plan.margin),
            minimum_detectable_effect=effect,
            n_detectable=n_broken,
            n_cases_needed=None
            if self.repeats is not None or plan.anytime or self.ends
            else cases_to_show(delta, limit, self.units, self.error),
            cannot_see=self.cannot_see(),
            n_cases=len(pair.case_ids),
            n_groups=None if self.units.groups is None else self.units.means.size,
            n_suites=self.n_suites,
            n_changed=int(np.count_nonzero(self.units.deltas))
            if is_single and self.is_known
            else None,
            n_unscored=len(pair.every_id) - len(pair.case_ids) if pair.ends else 0,
            n_unknown=len(pair.unknown),
            delta_bounds=bounds,
            holds_at_bounds=bool(self.ends),
            n_repeats=plan.n_repeats,
            repeat_spread=None if self.repeats is None else self.repeats.spread,
            n_unseen=self.n_unseen,
        )

    @property
    def _question(self) -> Question:
        if self.n_unseen:
            return "the cases so far"
        return "cases like these" if self.repeats is None else "these cases"


def outcome_of(interval: Interval, limit: float) -> Outcome:
    """Return what an interval says, a loss of *limit* being one that matters."""
    if interval.high < 0.0:
        return "regressed"
    if interval.low > 0.0:
        return "improved"
    return "no change detected" if interval.low > -limit else "inconclusive"


def within(interval: Interval, margin: float) -> WithinMargin:
    """Return what an interval says of a margin."""
    if interval.low > -margin:
        return "equivalent" if interval.high < margin else "not worse"
    return "worse" if interval.high < -margin else "undecided"


def by_cause(
    verdicts: Sequence[SuiteVerdict],
    names: Sequence[str],
    pairs: Sequence[Paired],
    measured: Measured,
    plan: Plan,
) -> tuple[list[SuiteVerdict], RulerChange | None]:
    """Return the verdicts on the system alone, and what the ruler changed, where anchors tell."""
    found, change = [*verdicts], measured.change
    limit = plan.threshold if plan.margin is None else plan.margin
    effects: dict[str, RulerEffect] = {}
    is_split = False
    for i, pair in enumerate(pairs):
        parts, level = measured.parts.get(pair.suite), found[i].interval.confidence_level
        if parts is None:
            continue
        split = parts.split((1.0 - level) / 2.0)
        effects[names[i]] = effect_of(parts, split, level, BY_ANCHORS)
        if parts.are_needed:
            is_split = True
            found[i] = by_anchors(found[i], parts, split, limit)
    if change is None:
        return found, None
    return found, attrs.evolve(change, effects=FrozenMapping(effects), is_split=is_split)


def by_anchors(verdict: SuiteVerdict, parts: Parts, split: Split, limit: float) -> SuiteVerdict:
    """Return the verdict on the system's part of a change, over all cases of the suite."""
    delta, change = split.system
    level = verdict.interval.confidence_level
    interval = interval_around(delta, (change.low, change.high), level, BY_ANCHORS)
    quantile = t_quantile(level, parts.anchors.sum() - 1.0)
    reach = (interval.high - interval.low) / 2.0 * (1.0 + Z_OF_POWER / quantile)
    return attrs.evolve(
        verdict,
        verdict=outcome_of(interval, limit),
        delta=delta,
        baseline_mean=parts.now - delta,
        current_mean=parts.now,
        interval=interval,
        p_value=min(1.0, 2.0 * verdict.n_suites * min(change.p_fall, change.p_rise)),
        test=BY_ANCHORS,
        within_margin=None if verdict.margin is None else within(interval, verdict.margin),
        minimum_detectable_effect=min(1.0, reach),
        n_detectable=None,
        n_cases_needed=None,
        cannot_see=None,
        n_cases=int(parts.whole.size),
        n_changed=None,
    )


def _betting_reach(effects: Floats, variances: Floats, *, n: int, error: float) -> Floats:
    """Return the mean at which bets are won, of values of these means and variances."""
    squares = n * (variances + effects**2)
    return np.asarray(boundary(np.asarray(squares), 1.0 - 2.0 * error) / n)
