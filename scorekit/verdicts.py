"""Whether a suite as a whole changed: one paired verdict over its cases, or several at once."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import Literal, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.attempts import Attempts
from scorekit._core.roots import root
from scorekit._core.sums import exact_mean
from scorekit._core.text import spanned
from scorekit._sheet.model import Estimate, Fields, Sheet, line_of
from scorekit._sheet.values import between, counted, estimate, level_of
from scorekit._stats.betting import betting_interval, boundary
from scorekit._stats.bounded import Floats, Groups, grouped_error
from scorekit._stats.exact_tests import permutation_p_value
from scorekit.intervals import (
    Interval,
    effective_groups,
    interval_around,
    normal_quantile,
    t_quantile,
    two_sided_p,
    unseen_interval,
)
from scorekit.records import Record

POWER = 0.8
"""Power that defines the minimum detectable effect."""

UNDETECTABLE = "none, with so few cases even the largest change may be missed"
"""What stands for a minimum detectable effect where there is none."""

UNADJUSTED = "the interval is not adjusted, the verdict goes by the adjusted p value"
"""What is said where an interval leaves out 0 and the verdict sees no change."""

UNEQUAL = "unequal attempts: the error is that of the fewer in both runs"
"""What is said where a case has more attempts in one run than in the other."""

UNVARIED = "no variation over cases: Gaffke's interval"
"""What stands for the test where Student's t has no error to go by."""

NOTHING_SCORED = "no case has a score in both runs"
"""Why nothing can be seen after an outage."""

WAITING = (
    "the verdict waits for all cases of the baseline, as those done first may differ; "
    "random_order=True does not, where cases come in random order"
)
"""The remark on a growing run."""

ROUNDING = 1e-12
"""Distance from 0 that is shown as none."""

SUITE_SPECS = {
    "p (fall)": ".2g",
    "p (rise)": ".2g",
    "p (adjusted)": ".2g",
    "level": ".3g",
}
"""How the numbers of a table of suites are written."""

ADJUSTMENTS = ("holm", "benjamini-hochberg", "benjamini-yekutieli", "none")

Test = Literal["paired t", "clustered t", "permutation of repeats", "betting"]
Question = Literal["these cases", "cases like these", "the cases so far"]
Outcome = Literal["regressed", "improved", "no change detected", "inconclusive"]


@attrs.frozen(kw_only=True, repr=False)
class MarginVerdict(Record):
    """Whether the suite is no worse than by a margin: shown, not merely not refuted."""

    verdict: Literal["equivalent", "not worse", "worse", "undecided"]
    """``"not worse"`` where *interval* lies above ``-margin``, ``"equivalent"`` where it lies
    within ``(-margin, margin)``, ``"worse"`` where it lies below ``-margin``."""
    margin: float
    """Largest loss that is still acceptable, in ``(0, 1)``."""
    interval: Interval
    """Of the mean change of cases like these, every case weighing the same.

    It allows for cases that fall wholly where none of the sample did, so 20 cases without a change
    leave a loss of 0.17 open, however many attempts they have. With *anytime* it is the interval
    of the verdict."""

    n_unseen: int = 0
    """Cases of the baseline that a growing run does not have yet, so that it is undecided."""

    def _line(self) -> str:
        ends = spanned(self.interval.low, self.interval.high, "+")
        unseen = f", {self.n_unseen} cases of the baseline to come" if self.n_unseen else ""
        return f"margin {self.margin:g}: {self.verdict} {ends}{unseen}"


@attrs.frozen(kw_only=True, repr=False)
class SuiteVerdict(Record):
    """Whether the suite as a whole changed, judged from the cases that both sides have."""

    verdict: Outcome
    """``"regressed"`` if *adjusted_p_value* is at most *significance_level*, ``"improved"`` if
    *adjusted_rise_p_value* is. Of the cases so far it is ``"inconclusive"``."""
    delta: float
    """Mean change over the cases, in ``[-1, 1]``; negative is worse.  Where no case has a score on
    both sides it is the worst bound."""
    interval: Interval
    """
    Two-sided interval of *delta*, of this suite alone.

    Its level is that of the comparison, with few repeats the highest that their number allows."""
    p_value: float
    """
    One-sided, of a fall of this suite alone and of the known outcomes; near 1 where they rose.

    It is never below ``2 ** -n`` for *n* cases, or groups of them. With *anytime* it holds however
    often one looks, and its reciprocal is an e-value."""
    adjusted_p_value: float
    """Of a fall whatever the missing outcomes were, the largest p value at *delta_bounds* and of
    the known ones, and adjusted for the other suites of the comparison."""
    rise_p_value: float
    """One-sided, of a rise of this suite alone and of the known outcomes."""
    adjusted_rise_p_value: float
    """Of a rise, adjusted as that of a fall."""
    significance_level: float
    """
    One-sided level at which the verdict reads the adjusted p values.

    It is ``1 - confidence_level``, and half of that where a single case could be significant, as
    the other half is for single cases; with *anytime* half of it always."""
    test: Test
    question: Question
    """Whether any of these very cases changed, or whether cases like these changed on average; of
    a growing run that lacks cases of the baseline what is known is of those so far."""
    minimum_detectable_effect: float | None
    """
    Least fall that has 80 % power to be found at *significance_level*.

    It allows for the number of suites, and for the noise that a fall adds where cases fall wholly.
    Where cases have four attempts or more, their tests share in finding it. Of scores near 0 it is
    the least rise. None where no possible change has that power."""
    cannot_see: str | None
    """Why no outcome of such a run could be significant, and what to add; None where one could."""
    within_margin: MarginVerdict | None
    """The verdict on *margin*; None where none was given."""
    n_cases: int
    n_groups: int | None
    """Groups that the cases come in; None where they are independent."""
    n_changed: int | None = None
    """Cases that changed, where each has one attempt on either side; None elsewhere."""
    n_unscored: int = 0
    """Cases on both sides that are left out because one side has no score of them."""
    n_unknown: int = 0
    """Other cases with attempts with a missing outcome."""
    delta_bounds: tuple[float, float] | None = None
    """The least and the largest mean change over all cases that missing outcomes allow, with all
    of the baseline passed and all of the current run failed, and the reverse. None where all are
    known.
    A verdict of a change, and one on a margin, stands at both ends."""
    n_repeats: tuple[int, int] = (1, 1)
    """Reports of the baseline and of the current run."""
    repeat_spread: float | None = None
    """Standard deviation of the mean score from repeat to repeat, pooled; None without repeats."""
    n_unseen: int = 0
    """Cases of the baseline that a growing run does not have yet, so that the verdict waits for
    them; 0 where *random_order* says that they are like the others."""
    is_unequal: bool = False
    """Whether some case has more attempts in one run than in the other."""

    def _line(self) -> str:
        cases = counted(self.n_cases, "case")
        if self.n_groups is not None:
            cases += f" in {counted(self.n_groups, 'group')}"
        if not self.n_cases:
            moved = self.between
        else:
            known = "known outcomes " * (self.delta_bounds is not None)
            moved = f"{known}{estimate(self.delta, self.interval, '+')}"
        so_far = f" so far, {self.n_unseen} cases to come" if self.n_unseen else ""
        stands_on = f"{level_of(self.interval)}, {self._method}, {self._p_values()}, {cases}"
        return f"{self.verdict}{so_far}, {moved} ({stands_on})"

    @property
    def _method(self) -> str:
        return UNVARIED if self.interval.method == "gaffke" else self.test

    @property
    def _rose(self) -> bool:
        """Whether the p values that count are those of a rise."""
        if self.verdict in ("regressed", "improved"):
            return self.verdict == "improved"
        return self.n_cases > 0 and self.delta > ROUNDING

    @property
    def _decisive(self) -> tuple[float, float | None]:
        """The p value in the direction of the change, and the adjusted one if it is another."""
        p_value, adjusted = self.p_value, self.adjusted_p_value
        if self._rose:
            p_value, adjusted = self.rise_p_value, self.adjusted_rise_p_value
        return p_value, None if adjusted == p_value else adjusted

    def _p_values(self) -> str:
        """Return the p values that count, and their level."""
        p_value, adjusted = self._decisive
        known = "" if adjusted is None else f", adjusted {adjusted:.2g}"
        way = "rise" if self._rose else "fall"
        return f"p of a {way} = {p_value:.2g}{known} at {self.significance_level:.3g} one-sided"

    def _sheet(self) -> Sheet:
        fields = Fields(record=self, title="All fields")
        return Sheet("SuiteVerdict", self._line(), (*self._remarks(), fields))

    def _row(self) -> dict[str, object]:
        bounds, interval = self.delta_bounds, self.interval
        p_value, adjusted = self._decisive
        return {
            "verdict": self.verdict,
            "bounds": None if bounds is None else between(*bounds, "+"),
            f"change ({level_of(interval)})": Estimate(
                self.delta if self.n_cases else None, interval, "+"
            ),
            "test": self._method,
            "p (fall)": None if self._rose else p_value,
            "p (rise)": p_value if self._rose else None,
            "p (adjusted)": adjusted,
            "level": self.significance_level,
            "cases": self.n_cases,
        }

    @property
    def _holds_for(self) -> str:
        """Say which cases the verdict is about."""
        if self.question == "cases like these":
            return "holds for similar cases"
        cases = counted(self.n_cases, "case")
        these = f"the {cases} so far" if self.n_unseen else f"these {cases} only"
        return f"holds for {these}"

    def _remarks(self) -> list[str]:
        """Return what else there is to say: its question, its power, the margin."""
        found = [self._holds_for]
        if self.verdict not in ("regressed", "improved"):  # what could be found is no matter there
            effect = self.minimum_detectable_effect
            least = UNDETECTABLE if effect is None else f"{effect:.2g}"
            if self.n_cases:
                found.append(f"minimum detectable effect (80 % power): {least}")
            if self.cannot_see is not None:
                found.insert(0, f"cannot see: {self.cannot_see}")
        if self.n_cases and self.delta_bounds is not None:
            found.append(self.between)
        found += [UNEQUAL] * self.is_unequal
        found += [UNADJUSTED] * self.is_taken_back
        if self.n_unseen:
            found.append(WAITING)
        if self.repeat_spread is not None:
            old, new = self.n_repeats
            repeats = f"{old} repeat{'s' * (old > 1)} of the baseline, {new} of the current run"
            found.append(f"{repeats}, standard deviation {self.repeat_spread:.3f}")
        if self.within_margin is not None:
            found.append(line_of(self.within_margin))
        return found

    @property
    def between(self) -> str:
        """Say how far missing outcomes could move the change, if there are some."""
        if self.delta_bounds is None:
            return ""
        n_cases, why = self.n_cases + self.n_unscored, list[str]()
        if self.n_unscored:
            why.append(f"{self.n_unscored} of {n_cases} cases not scored")
        if self.n_unknown:
            why.append(f"{self.n_unknown} of {n_cases} cases with missing outcomes")
        return f"{' and '.join(why)}: {between(*self.delta_bounds, '+')} whatever they were"

    @property
    def is_taken_back(self) -> bool:
        """Whether the interval leaves out 0, and the adjusted p value is too large for it."""
        outside = self.interval.high < 0 or self.interval.low > 0
        return (
            outside
            and not self.n_unseen
            and self.verdict not in ("regressed", "improved")
            and self._decisive[1] is not None
        )

    def judged(self, threshold: float) -> SuiteVerdict:
        """Return the same with the verdict that its p values say."""
        effect, verdict = self.minimum_detectable_effect, self.verdict
        if self.n_unseen:
            verdict = "inconclusive"
        elif self.adjusted_p_value <= self.significance_level * (1.0 + ROUNDING):
            verdict = "regressed"
        elif self.adjusted_rise_p_value <= self.significance_level * (1.0 + ROUNDING):
            verdict = "improved"
        else:
            is_fine = effect is not None and effect <= threshold
            verdict = "no change detected" if is_fine else "inconclusive"
        return attrs.evolve(self, verdict=verdict)


class Asked(NamedTuple):
    """What is asked of each suite."""

    confidence_level: float
    significance_level: float
    """One-sided, of all suites together."""
    margin: float | None
    n_repeats: tuple[int, int] = (1, 1)
    n_verdicts: int = 1
    """Verdicts for which the detectable effect allows at once."""

    @property
    def strict(self) -> float:
        """The level of the strictest step."""
        return self.significance_level / self.n_verdicts * (1.0 + ROUNDING)


REPEATS: Literal["permutation of repeats"] = "permutation of repeats"

NEAR = 1e-7
"""How well the ends of an interval by permutation are found."""


class _Found(NamedTuple):
    """What a test finds of a suite."""

    test: Test
    interval: Interval
    p_values: tuple[float, float]
    """Of a fall, and of a rise."""
    effect: float | None
    least: float
    """The least p value that such a run can have."""
    spread: float | None = None


def suite_verdict(
    before: Attempts,
    after: Attempts,
    asked: Asked,
    groups: Groups | None = None,
    n_unseen: int | None = None,
) -> SuiteVerdict:
    """
    Judge cases by Student's t over their changes, repeats by permutation, a growing run by bets.

    With several repeats the attempts at a case are its means in each of them. *n_unseen* is the
    number of cases that a growing run does not have yet: all is undecided while there are some, as
    those done first may be easier. It is None for a run that does not grow.
    """
    deltas = after.means - before.means
    group_of: Groups = np.arange(deltas.size) if groups is None else groups
    repeats = None
    if n_unseen is not None:
        found = _by_bets(before, after, asked)
    elif max(asked.n_repeats) > 1:
        repeats = _Repeats.of(before, after, asked.n_repeats)
        found = repeats.judge(asked)
    else:
        found = _over_cases(before, after, groups, asked)
    within = None
    if asked.margin is not None:
        bounds = found.interval
        if n_unseen is None:
            bounds = unseen_interval(deltas, group_of, asked.confidence_level)
        if repeats is not None:
            bounds = repeats.widen(bounds, exact_mean(deltas), asked.confidence_level)
        within = _margin_verdict(bounds, asked.margin, n_unseen or 0)
    is_single = before.are_single and after.are_single and repeats is None
    return SuiteVerdict(
        delta=exact_mean(deltas),
        interval=found.interval,
        p_value=found.p_values[0],
        adjusted_p_value=found.p_values[0],
        rise_p_value=found.p_values[1],
        adjusted_rise_p_value=found.p_values[1],
        significance_level=asked.significance_level,
        test=found.test,
        question="the cases so far"
        if n_unseen
        else "cases like these"
        if repeats is None
        else "these cases",
        verdict="inconclusive",
        minimum_detectable_effect=found.effect,
        cannot_see=_what_to_add(asked, groups) if found.least > asked.strict else None,
        within_margin=within,
        n_cases=deltas.size,
        n_groups=None if groups is None else int(groups.max()) + 1,
        n_changed=int(np.count_nonzero(deltas)) if is_single else None,
        n_repeats=asked.n_repeats,
        repeat_spread=found.spread,
        n_unseen=n_unseen or 0,
        is_unequal="t" in found.test.split() and bool((before.sizes != after.sizes).any()),
    )


def _what_to_add(asked: Asked, groups: Groups | None) -> str:
    """Say what a run needs for some outcome to be significant."""
    old, new = asked.n_repeats
    if max(old, new) > 1:
        enough = next(n for n in range(2, 64) if math.comb(2 * n, n) * asked.strict >= 1.0)
        return (
            f"{old} against {new} repeats have {math.comb(old + new, old)} arrangements, too few "
            f"for the level: make {enough} repeats of either side"
        )
    units = "cases" if groups is None else "groups of cases"
    enough = math.ceil(-math.log2(max(asked.strict, math.ulp(0.0))))
    return f"too few {units} for the level: compare {enough} at least"


def _over_cases(before: Attempts, after: Attempts, groups: Groups | None, asked: Asked) -> _Found:
    """
    Test by Student's t; where attempts are unequal with the error of the fewer in both runs.

    The mean of few attempts is more skewed than that of many, so that t would raise false alarms;
    with as many on either side the skewness cancels.
    """
    deltas = after.means - before.means
    group_of: Groups = np.arange(deltas.size) if groups is None else groups
    n_groups = int(group_of.max()) + 1
    n, delta = effective_groups(group_of), exact_mean(deltas)
    fewer = np.minimum(before.sizes, after.sizes)
    left_out = sum(float(_left_out(side, fewer).sum()) for side in (before, after))
    stderr = math.hypot(grouped_error(deltas, group_of), math.sqrt(left_out) / deltas.size)
    least = 0.5**n_groups
    test: Test = "paired t" if groups is None else "clustered t"
    if n_groups > 1 and stderr:
        tail = two_sided_p(abs(delta) / stderr, n - 1.0) / 2.0
        half = t_quantile(asked.confidence_level, n - 1.0) * stderr
        ends = max(-1.0, delta - half), min(1.0, delta + half)
        interval = interval_around(delta, ends, asked.confidence_level, test)
    else:
        tail = 0.5 if abs(delta) <= ROUNDING else 0.0
        interval = unseen_interval(deltas, group_of, asked.confidence_level)
    p_values = (tail, 1.0 - tail) if delta < 0.0 else (1.0 - tail, tail)
    effect = None
    if least <= asked.strict:
        quantiles = [t_quantile(one, n - 1.0) for one in (1.0 - 2.0 * asked.strict, 2 * POWER - 1)]
        per_attempt = float(np.mean(1.0 / fewer))

        def reach(effect: float, room: float) -> float:
            added = effect * (room - effect) / n  # to the variance, where cases fall wholly
            seen, by_chance = stderr**2 + added, stderr**2 + added * per_attempt
            return quantiles[0] * math.sqrt(seen) + quantiles[1] * math.sqrt(by_chance)

        effect = _least_effect(exact_mean((before.means + after.means) / 2.0), reach)
    floored = max(p_values[0], least), max(p_values[1], least)
    return _Found(test, interval, floored, effect, least)


def _left_out(attempts: Attempts, fewer: NDArray[np.int64]) -> Floats:
    """Return by how much the variance of each mean would grow with *fewer* of its attempts."""
    n = attempts.sizes
    if not (n > fewer).any():
        return np.zeros(1)
    off = attempts.scores - np.repeat(attempts.means, n)
    squares = np.add.reduceat(off * off, attempts.starts)
    return np.asarray(squares / np.maximum(n - 1.0, 1.0) * (1.0 / fewer - 1.0 / n))


def _least_effect(rate: float, reach: Callable[[float, float], float]) -> float | None:
    """
    Return the least fall from a mean *rate* that is found, where cases fall wholly.

    It goes farther than the test and the noise, which *reach* gives, and which grows with the
    cases that fall. Where the rate is too low for any, it is the least rise.
    """
    for room in (rate, 1.0 - rate) if rate < 0.5 else (rate,):  # noqa: PLR2004 - half
        if room > 0.0 and room >= reach(room, room):
            return root(lambda effect: effect - reach(effect, room), 0.0, room)  # noqa: B023
    return None


class _Repeats(NamedTuple):
    """The mean scores of repeats, and how much they vary."""

    old: tuple[float, ...]
    new: tuple[float, ...]
    spread: float
    stderr: float
    """
    Of the difference of both sides' means.

    The standard deviation behind it is at least that of one case which is solved every other
    time: a few repeats can agree by chance, and even to the last digit."""

    @classmethod
    def of(cls, before: Attempts, after: Attempts, n_repeats: tuple[int, int]) -> _Repeats:
        """Pool the variance of either side's repeats."""
        old, new = (
            tuple(exact_mean(column) for column in side.scores.reshape(-1, n).T)
            for side, n in zip((before, after), n_repeats, strict=True)
        )
        squares = sum(float(np.var(side)) * len(side) for side in (old, new))
        spread = math.sqrt(squares / (sum(n_repeats) - 2))
        error = max(spread, 0.5 / len(before)) * math.sqrt(sum(1.0 / n for n in n_repeats))
        return cls(old, new, spread, error)

    @property
    def df(self) -> float:
        return len(self.old) + len(self.new) - 2.0

    def judge(self, asked: Asked) -> _Found:
        """Test by permutation: if nothing changed, each report could be of either side."""
        least = 1.0 / math.comb(len(self.old) + len(self.new), len(self.old))
        error = max((1.0 - asked.confidence_level) / 2.0, least)
        low, high = self._low(self.old, self.new, error), -self._low(self.new, self.old, error)
        interval = Interval(low=low, high=high, confidence_level=1.0 - 2.0 * error, method=REPEATS)
        p_values = permutation_p_value(self.old, self.new), permutation_p_value(self.new, self.old)
        effect = None
        if least <= asked.strict:
            quantiles = (t_quantile(1.0 - 2.0 * one, self.df) for one in (asked.strict, 1 - POWER))
            effect = sum(quantiles) * self.stderr
        effect = None if effect is None or effect > 1.0 else effect
        return _Found(REPEATS, interval, p_values, effect, least, self.spread)

    @staticmethod
    def _low(old: tuple[float, ...], new: tuple[float, ...], error: float) -> float:
        """Return the least rise that permutation does not refute, up to *NEAR* too low."""

        def is_possible(step: int) -> int:
            shifted = tuple(one - (step * NEAR - 1.0) for one in new)
            return permutation_p_value(shifted, old) > error * (1.0 + ROUNDING)

        found = bisect_left(range(round(2.0 / NEAR)), 1, key=is_possible)
        return max(found - 1, 0) * NEAR - 1.0

    def widen(self, bounds: Interval, delta: float, confidence_level: float) -> Interval:
        """Return bounds of a mean change that allow for the spread of repeats too."""
        reach = t_quantile(confidence_level, self.df) * self.stderr
        low = delta - math.hypot(delta - bounds.low, reach)
        high = delta + math.hypot(bounds.high - delta, reach)
        return attrs.evolve(bounds, low=max(-1.0, low), high=min(1.0, high))


def _by_bets(before: Attempts, after: Attempts, asked: Asked) -> _Found:
    """Judge the cases seen so far by betting on their changes: it holds at any number of looks."""
    deltas = after.means - before.means
    n, level = deltas.size, asked.confidence_level
    low, high, p_values = betting_interval(deltas, level)
    stderr = grouped_error(deltas, np.arange(n))
    z_power = normal_quantile(2 * POWER - 1)

    def reach(effect: float, room: float) -> float:
        variance = stderr**2 + effect * (room - effect) / n
        squares = n * (n * variance + effect * effect)
        bound = float(boundary(np.array([squares]), 1.0 - 2.0 * asked.strict)[0]) / n
        return bound + z_power * stderr

    return _Found(
        test="betting",
        interval=Interval(low=low, high=high, confidence_level=level, method="betting"),
        p_values=p_values,
        effect=_least_effect(exact_mean(before.means), reach) if n > 1 else None,
        least=0.0,
    )


def without_scores(worst: SuiteVerdict, best: SuiteVerdict) -> SuiteVerdict:
    """Return what is said where no case has a score on both sides, from both ends."""
    low, high = min(worst.interval.low, best.interval.low), best.interval.high
    high, level = max(high, worst.interval.high), worst.interval.confidence_level
    return attrs.evolve(
        worst,
        interval=Interval(low=low, high=high, confidence_level=level, method="none: no scores"),
        p_value=max(worst.p_value, best.p_value),
        rise_p_value=max(worst.rise_p_value, best.rise_p_value),
        minimum_detectable_effect=None,
        n_cases=0,
        cannot_see=NOTHING_SCORED,
    )


def with_unknown(
    suite: SuiteVerdict, ends: tuple[SuiteVerdict, SuiteVerdict], bounds: tuple[float, float]
) -> SuiteVerdict:
    """
    Return *suite* with what stands at both *ends*: the worst and the best unknown outcomes.

    *bounds* are those of the mean change over all cases.
    """
    every = suite, *ends
    within = suite.within_margin
    if within is not None:
        margins = [one.within_margin.interval for one in every if one.within_margin is not None]
        low, high = min(one.low for one in margins), max(one.high for one in margins)
        interval = attrs.evolve(within.interval, low=low, high=high)
        within = _margin_verdict(interval, within.margin, within.n_unseen)
    effects = [one.minimum_detectable_effect for one in every]
    return attrs.evolve(
        suite,
        adjusted_p_value=max(one.p_value for one in every),
        adjusted_rise_p_value=max(one.rise_p_value for one in every),
        minimum_detectable_effect=None if None in effects else max(filter(None, effects)),
        within_margin=within,
        delta_bounds=bounds,
    )


def adjusted_p_values(p_values: list[float], adjustment: str) -> list[float]:
    """
    Return the *p_values* such that each can be held against the level by itself.

    Holm's bound the chance of any false alarm, Benjamini and Hochberg's the expected share of
    false alarms among all alarms, Benjamini and Yekutieli's that share however suites depend on
    each other.
    """
    n = len(p_values)
    result = list(p_values)
    if adjustment == "none":
        return result
    order = sorted(range(n), key=p_values.__getitem__)
    if adjustment == "holm":
        worst = 0.0
        for rank, i in enumerate(order):
            worst = result[i] = min(1.0, max(worst, (n - rank) * p_values[i]))
    else:
        yekutieli = adjustment == "benjamini-yekutieli"
        factor = n * math.fsum(1 / i for i in range(1, n + 1)) if yekutieli else n
        worst = 1.0
        for rank, i in reversed(list(enumerate(order, start=1))):
            worst = result[i] = min(worst, p_values[i] * factor / rank)
    return result


def _margin_verdict(interval: Interval, margin: float, n_unseen: int = 0) -> MarginVerdict:
    verdict: Literal["equivalent", "not worse", "worse", "undecided"] = "undecided"
    if not n_unseen and interval.low > -margin:
        verdict = "equivalent" if interval.high < margin else "not worse"
    elif not n_unseen and interval.high < -margin:
        verdict = "worse"
    return MarginVerdict(verdict=verdict, margin=margin, interval=interval, n_unseen=n_unseen)
