"""Whether a suite as a whole changed: one paired verdict over its cases, or several at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import mul
from statistics import fmean
from typing import Literal, NamedTuple

import attrs
import numpy as np

from scorekit._core.attempts import Attempts
from scorekit._core.gaffke import least_share, unseen_p_value
from scorekit._sheet.model import Fields, Sheet
from scorekit._stats.betting import betting_interval, boundary
from scorekit._stats.bounded import Floats, Groups, grouped_error, mean_of
from scorekit._stats.exact_tests import at_least
from scorekit.intervals import (
    Interval,
    effective_groups,
    normal_quantile,
    t_quantile,
    two_sided_p,
    unseen_interval,
)
from scorekit.records import Record

POWER = 0.8
"""Power that defines the minimum detectable effect."""

FEW_CHANGES = 25
"""Changed cases below which a printed verdict names the exact test's p value too."""

UNDETECTABLE = "none, with so few cases even the largest change may be missed"
"""What stands for a minimum detectable effect where there is none."""

OPEN = "the verdict must stand with all unknown outcomes failed, and with all of them passed"
"""What is said where an interval of known outcomes leaves out 0 and the verdict does not stand."""

DEPENDENT = (
    "attempts at a case may depend on each other, so it counts as one observation and is not "
    "tested alone: repeat the suite to tell flaky cases from a loss"
)
"""What is said where attempts seem to hang together, or are said to."""

UNADJUSTED = "the interval is not adjusted, the verdict goes by the adjusted p value"
"""What is said where an interval leaves out 0 and the verdict sees no change."""

ROUNDING = 1e-12
"""Distance from 0 that is shown as none."""

SUITE_SPECS = {"change": "+z.3f", "p": ".2g", "p (worst bound)": ".2g", "p (adjusted)": ".2g"}
"""How the numbers of a table of suites are written."""

ADJUSTMENTS = ("holm", "benjamini-hochberg", "benjamini-yekutieli", "none")

EQUAL = 1.2
"""Ratio of attempts up to which the mean change of unchanged cases is hardly skewed."""

Test = Literal[
    "paired t", "Cochran-Mantel-Haenszel", "clustered t", "t over repeats", "Gaffke", "betting"
]
Question = Literal["these cases", "cases like these"]
Outcome = Literal["regressed", "improved", "no change detected", "inconclusive"]


@attrs.frozen(kw_only=True)
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
        low, high = self.interval.low, self.interval.high
        unseen = f", {self.n_unseen} cases of the baseline to come" if self.n_unseen else ""
        return f"margin {self.margin:g}: {self.verdict} [{low:+z.3f}, {high:+z.3f}]{unseen}"


@attrs.frozen(kw_only=True)
class SuiteVerdict(Record):
    """Whether the suite as a whole changed, judged from the cases that both sides have."""

    delta: float
    """
    Mean change over the cases, in ``[-1, 1]``; negative is worse.

    Under Cochran-Mantel-Haenszel a case with more attempts weighs more.
    """
    interval: Interval
    """Two-sided interval of *delta* at the level of the comparison, of this suite alone."""
    p_value: float
    """Two-sided, of this suite alone and by the same method as *interval*.

    Of a test by betting it holds at any time, and its reciprocal is an e-value. Of
    Cochran-Mantel-Haenszel it has the continuity correction where a case has twice as many
    attempts on one side, or more, because chance is skewed then."""
    adjusted_p_value: float
    """Adjusted for the other suites of the comparison, and never below *p_value*; the verdict
    goes by it. With unknown outcomes it is the largest of those with all failed and all passed."""
    corrected_p_value: float | None
    """Of Cochran-Mantel-Haenszel with continuity correction, which is too cautious but R's default
    and what others publish.  None under another test."""
    odds_ratio: float | None
    """Mantel-Haenszel's common odds ratio of current to baseline, below 1 where it is worse and
    infinite where nothing was lost.  None where nothing moved, and under another test."""
    test: Test
    question: Question
    """Whether any of these very cases changed, or whether cases like these changed on average."""
    verdict: Outcome
    minimum_detectable_effect: float | None
    """Least change that has 80 % power to be found, what it adds to the noise included; None where
    no possible change has."""
    within_margin: MarginVerdict | None
    """The verdict on *margin*; None where none was given."""
    n_cases: int
    n_groups: int | None
    """Groups that the cases come in; None where they are independent."""
    n_changed: int | None = None
    """Cases that changed, where each has one attempt of 0 or 1 on either side; None elsewhere."""
    exact_p_value: float | None = None
    """McNemar's exact test on those cases, which never exceeds its level however few they are."""
    n_unscored: int = 0
    """Cases on both sides that are left out because one side has no score of them."""
    n_unknown: int = 0
    """Other cases with attempts whose outcome nobody knows."""
    delta_bounds: tuple[float, float] | None = None
    """Mean change over all cases, with all unknown outcomes going the worst way and the best; None
    where all are known. A verdict of a change, and one on a margin, stands at both ends."""
    worst_p_value: float | None = None
    """The largest p value of the known outcomes and of both ends of *delta_bounds*, 1 where these
    lie on either side of zero; None where all are known. *adjusted_p_value* starts from it."""
    n_repeats: tuple[int, int] = (1, 1)
    """Reports of the baseline and of the current run."""
    repeat_spread: float | None = None
    """Standard deviation of the mean score from repeat to repeat, pooled; None without repeats."""
    attempts: Literal["independent", "dependent"] | None = None
    """How the attempts at a case were taken; None where there is one each, and with repeats."""

    def _line(self) -> str:
        cases = f"{self.n_cases} case{'s' * (self.n_cases > 1)}"
        if self.n_groups is not None:
            cases += f" in {self.n_groups} group{'s' * (self.n_groups > 1)}"
        p_value = f"p = {self.p_value:.2g}"
        worst = self._worst
        if worst is not None:
            p_value += f", p at the worst bound {worst:.2g}"
        if self._adjusted is not None:
            p_value += f", adjusted {self.adjusted_p_value:.2g}"
        level = f"{100 * self.interval.confidence_level:g} %"
        moved = f"{self.between}{self.delta:+z.3f} {_ends(self.interval)}"
        return f"{self.verdict}, {moved} ({level}, {self.test}, {p_value}, {cases})"

    def _sheet(self) -> Sheet:
        fields = Fields(record=self, title="All fields")
        return Sheet("SuiteVerdict", self._line(), (*self._remarks(), fields))

    def _row(self) -> dict[str, object]:
        bounds, interval = self.delta_bounds, self.interval
        return {
            "verdict": self.verdict,
            "between": None if bounds is None else f"{bounds[0]:+z.3f} to {bounds[1]:+z.3f}",
            "change": self.delta,
            f"{100 * interval.confidence_level:g} % interval": _ends(interval),
            "test": self.test,
            "p": self.p_value,
            "p (worst bound)": self._worst,
            "p (adjusted)": self._adjusted,
            "cases": self.n_cases,
        }

    @property
    def _worst(self) -> float | None:
        """The p value at the worst bound, where it says more than *p_value*."""
        return None if self.worst_p_value == self.p_value else self.worst_p_value

    @property
    def _adjusted(self) -> float | None:
        """The adjusted p value, where it says more than the others."""
        known = (self.p_value, self.worst_p_value)
        return None if self.adjusted_p_value in known else self.adjusted_p_value

    def _remarks(self) -> list[str]:
        """Return what else there is to say: its question, its power, the margin."""
        found = [f"about {self.question}"]
        if self.verdict not in ("regressed", "improved"):  # what could be found is no matter there
            effect = self.minimum_detectable_effect
            stated = UNDETECTABLE if effect is None else f"{effect:.3f}"
            found[0] += f"; minimum detectable effect (80 % power): {stated}"
        if self.few_changes:
            found.append(self.few_changes)
        if self.repeat_spread is not None:
            old, new = self.n_repeats
            repeats = f"{old} repeat{'s' * (old > 1)} of the baseline, {new} of the current run"
            found.append(f"{repeats}, standard deviation {self.repeat_spread:.3f}")
        if self.attempts == "dependent":
            found.append(DEPENDENT)
        if self.is_taken_back:
            found.append(UNADJUSTED if self.delta_bounds is None else OPEN)
        if self.within_margin is not None:
            found.append(str(self.within_margin))
        return found

    @property
    def between(self) -> str:
        """Say how far the cases that are left out could move the change, if there are some."""
        if self.delta_bounds is None:
            return ""
        low, high = self.delta_bounds
        n_cases, why = self.n_cases + self.n_unscored, list[str]()
        if self.n_unscored:
            why.append(f"{self.n_unscored} of {n_cases} cases not scored")
        if self.n_unknown:
            why.append(f"{self.n_unknown} of {n_cases} cases with attempts of unknown outcome")
        return f"between {low:+z.3f} and {high:+z.3f} ({', '.join(why)}); the others "

    @property
    def is_taken_back(self) -> bool:
        """Whether the interval leaves out 0, and the adjusted p value is too large for it."""
        outside = self.interval.high < 0 or self.interval.low > 0
        return (
            outside
            and self.verdict not in ("regressed", "improved")
            and self.adjusted_p_value != self.p_value
        )

    @property
    def few_changes(self) -> str:
        """Say what the exact test finds where few cases changed, unless none was to be found."""
        if (
            self.n_changed is None
            or self.exact_p_value is None
            or not 0 < self.n_changed < FEW_CHANGES
            or self.verdict == "no change detected"
        ):
            return ""
        return (
            f"{self.n_changed} of {self.n_cases} cases changed; "
            f"McNemar's exact test: p = {self.exact_p_value:.2g}"
        )


def _ends(interval: Interval) -> str:
    """Return an interval of changes, with signs."""
    return f"[{_end(interval.low)}, {_end(interval.high)}]"


def _end(value: float) -> str:
    """Return an end of an interval, with its sign also where it is all but zero."""
    text = f"{value:+z.3f}"
    return f"{value:+.1g}" if abs(value) > ROUNDING and float(text) == 0 else text


class _Found(NamedTuple):
    """What a test finds of a suite."""

    test: Test
    delta: float
    low: float
    high: float
    p_value: float
    effect: float | None
    strata: _Strata | None = None


def suite_verdict(
    before: Attempts,
    after: Attempts,
    *,
    threshold: float,
    confidence_level: float,
    groups: Groups | None = None,
    margin: float | None = None,
    by_attempts: bool = True,
    n_repeats: tuple[int, int] = (1, 1),
    n_verdicts: int = 1,
) -> SuiteVerdict:
    """
    Judge cases by a test over attempts where all are 0 or 1, else by one over cases or groups.

    Without *by_attempts* it is never one over attempts.  With several *n_repeats* the attempts at
    a case are the means of repeats, and *by_attempts* says that they are the units.  The
    detectable effect is that of a test which allows for *n_verdicts* at once.
    """
    means = before.means, after.means
    deltas = means[1] - means[0]
    group_of: Groups = np.arange(deltas.size) if groups is None else groups
    levels = confidence_level, 1.0 - (1.0 - confidence_level) / n_verdicts
    repeats = _Repeats.of(before, after, n_repeats) if max(n_repeats) > 1 else None
    of_these = by_attempts and groups is None
    if repeats is not None:
        cases = (0.0, math.inf) if of_these else _error_of_cases(deltas, group_of)
        found = _over_repeats(mean_of(deltas), repeats, cases, levels)
    else:
        of_these = of_these and all(map(_is_binary, (before, after)))
        by_chance = (
            _over_attempts(before, after, levels)
            if of_these
            else _over_cases(before, after, deltas, group_of, levels)
        )
        found = by_chance or _unseen(deltas, group_of, levels)
    if found.test == "paired t" and groups is not None:
        found = found._replace(test="clustered t")
    n_changed = exact = None
    single = repeats is None and groups is None
    if single and all(side.are_single and _is_binary(side) for side in (before, after)):
        n_fallen, n_risen = (int(np.count_nonzero(sign * deltas > 0)) for sign in (-1.0, 1.0))
        n_changed, most = n_fallen + n_risen, max(n_fallen, n_risen)
        exact = min(1.0, 2.0 * at_least(most, n_changed - most))
    interval = Interval(
        low=found.low, high=found.high, confidence_level=confidence_level, method=found.test
    )
    within: MarginVerdict | None = None
    if margin is not None:
        bounds = unseen_interval(deltas, group_of, confidence_level)
        if repeats is not None:
            reach = _quantile(confidence_level, repeats.df) * repeats.stderr
            low = found.delta - math.hypot(found.delta - bounds.low, reach)
            high = found.delta + math.hypot(bounds.high - found.delta, reach)
            bounds = attrs.evolve(bounds, low=max(-1.0, low), high=min(1.0, high))
        within = _margin_verdict(bounds, margin)
    strata = found.strata
    return SuiteVerdict(
        delta=found.delta,
        interval=interval,
        p_value=found.p_value,
        adjusted_p_value=found.p_value,
        corrected_p_value=strata and strata.corrected_p_value,
        odds_ratio=strata and strata.odds_ratio,
        test=found.test,
        question="these cases" if of_these else "cases like these",
        verdict=_outcome(interval, found.p_value, found.effect, threshold),
        minimum_detectable_effect=found.effect,
        within_margin=within,
        n_cases=deltas.size,
        n_groups=None if groups is None else int(groups.max()) + 1,
        n_changed=n_changed,
        exact_p_value=exact,
        n_repeats=n_repeats,
        repeat_spread=None if repeats is None else repeats.spread,
    )


def _over_attempts(
    before: Attempts, after: Attempts, levels: tuple[float, float]
) -> _Found | None:
    """Test by Cochran, Mantel and Haenszel; None where nothing varies."""
    strata = _stratified(before, after)
    if not strata.stderr:
        return None
    # chance is skewed where a case has many more attempts on one side
    correction = strata.correction if _is_skewed(before, after) else 0.0
    reach = normal_quantile(levels[0]) * strata.stderr + correction
    low, high = _cut(strata.risk_difference, reach)
    excess = max(abs(strata.risk_difference) - correction, 0.0)
    strict = normal_quantile(levels[1])
    effect = _detectable(
        _noise_of_attempts(before, after, strata.stderr),
        lambda variance, _: strict * math.sqrt(variance) + correction,
        normal_quantile(2 * POWER - 1),
    )
    p_value = two_sided_p(excess / strata.stderr, math.inf)
    test: Test = "Cochran-Mantel-Haenszel"
    return _Found(test, strata.risk_difference, low, high, p_value, effect, strata)


def _over_cases(
    before: Attempts, after: Attempts, deltas: Floats, groups: Groups, levels: tuple[float, float]
) -> _Found | None:
    """Test by Student's t; None where nothing varies, or attempts are unequal."""
    stderr, df = _error_of_cases(deltas, groups)
    harmonic = [float(np.mean(1.0 / side.sizes)) for side in (before, after)]
    if not stderr or max(harmonic) > EQUAL * min(harmonic):
        return None
    delta = mean_of(deltas)
    low, high = _cut(delta, t_quantile(levels[0], df) * stderr)
    strict = t_quantile(levels[1], df)
    effect = _effect_of_means(
        (before.means, after.means),
        stderr,
        df + 1.0,
        lambda variance, _: strict * math.sqrt(variance),
        t_quantile(2 * POWER - 1, df),
    )
    return _Found("paired t", delta, low, high, two_sided_p(abs(delta) / stderr, df), effect)


def _unseen(deltas: Floats, groups: Groups, levels: tuple[float, float]) -> _Found:
    """Test by Gaffke's bounds, which hold for any changes within [-1, 1]."""
    interval = unseen_interval(deltas, groups, levels[0])
    effect = None
    if groups.any():
        stderr, df = _error_of_cases(deltas, groups)
        share = least_share(deltas, groups, (1.0 - levels[1]) / 2.0)
        z_power = t_quantile(2 * POWER - 1, df)
        effect = _least(
            lambda effect: (
                effect - share - z_power * math.sqrt(stderr**2 + effect * (1 - effect) / (df + 1))
            ),
            1.0,
        )
    p_value = unseen_p_value(deltas, groups)
    return _Found("Gaffke", mean_of(deltas), interval.low, interval.high, p_value, effect)


class _Repeats(NamedTuple):
    """How much the means of repeats vary."""

    spread: float
    stderr: float
    """Of the difference of both sides' means."""
    df: float

    @classmethod
    def of(cls, before: Attempts, after: Attempts, n_repeats: tuple[int, int]) -> _Repeats:
        """
        Pool the variance of either side's repeats.

        It is at least that of one case which is solved every other time: a few repeats can agree
        by chance, and even to the last digit.
        """
        squares = 0.0
        for side, n in zip((before, after), n_repeats, strict=True):
            table = side.scores.reshape(-1, n)
            means = np.array([mean_of(column) for column in table.T])
            squares += float(np.sum((means - means.mean()) ** 2))
        df = sum(n_repeats) - 2.0
        spread = math.sqrt(squares / df)
        least = 0.5 / len(before)
        return cls(spread, max(spread, least) * math.sqrt(sum(1.0 / n for n in n_repeats)), df)


def _over_repeats(
    delta: float, repeats: _Repeats, cases: tuple[float, float], levels: tuple[float, float]
) -> _Found:
    """Test by Student's t on the means of repeats, the error of *cases* added if they vary too."""
    stderr = math.hypot(repeats.stderr, cases[0])
    parts = repeats.stderr**4 / repeats.df + cases[0] ** 4 / max(cases[1], 1.0)
    df = stderr**4 / parts
    low, high = _cut(delta, t_quantile(levels[0], df) * stderr)
    effect = (t_quantile(levels[1], df) + t_quantile(2 * POWER - 1, df)) * stderr
    p_value = two_sided_p(abs(delta) / stderr, df)
    return _Found("t over repeats", delta, low, high, p_value, effect if effect <= 1.0 else None)


def _error_of_cases(deltas: Floats, groups: Groups) -> tuple[float, float]:
    """Return the standard error of the mean over groups, and its degrees of freedom."""
    return grouped_error(deltas, groups), effective_groups(groups) - 1.0


def _cut(delta: float, reach: float) -> tuple[float, float]:
    return max(-1.0, delta - reach), min(1.0, delta + reach)


def _outcome(
    interval: Interval, p_value: float, effect: float | None, threshold: float
) -> Outcome:
    if p_value <= 1.0 - interval.confidence_level:
        if interval.high < 0:
            return "regressed"
        if interval.low > 0:
            return "improved"
    return "no change detected" if effect is not None and effect <= threshold else "inconclusive"


def anytime_verdict(
    before: Attempts,
    after: Attempts,
    *,
    threshold: float,
    confidence_level: float,
    margin: float | None = None,
    n_unseen: int = 0,
    n_verdicts: int = 1,
) -> SuiteVerdict:
    """
    Judge the cases seen so far by betting on their changes: it holds at any number of looks.

    A margin is undecided while *n_unseen* cases are left: they may be harder.
    """
    means = before.means, after.means
    deltas = means[1] - means[0]
    n = deltas.size
    low, high, p_value = betting_interval(deltas, confidence_level)
    interval = Interval(low=low, high=high, confidence_level=confidence_level, method="betting")
    strict = 1.0 - (1.0 - confidence_level) / n_verdicts

    def reach(variance: float, effect: float) -> float:
        squares = n * (n * variance + effect * effect)
        return float(boundary(np.array([squares]), strict)[0]) / n

    stderr = grouped_error(deltas, np.arange(n))
    z_power = normal_quantile(2 * POWER - 1)
    effect = _effect_of_means(means, stderr, float(n), reach, z_power) if n > 1 else None
    return SuiteVerdict(
        delta=mean_of(deltas),
        interval=interval,
        p_value=p_value,
        adjusted_p_value=p_value,
        corrected_p_value=None,
        odds_ratio=None,
        test="betting",
        question="cases like these",
        verdict=_outcome(interval, p_value, effect, threshold),
        minimum_detectable_effect=effect,
        within_margin=None if margin is None else _margin_verdict(interval, margin, n_unseen),
        n_cases=n,
        n_groups=None,
    )


def adjusted(suite: SuiteVerdict, p_value: float, threshold: float) -> SuiteVerdict:
    """Return *suite* with its adjusted *p_value*, its verdict taken back if that is too large."""
    verdict = suite.verdict
    if verdict in ("regressed", "improved"):
        verdict = _outcome(suite.interval, p_value, suite.minimum_detectable_effect, threshold)
    return attrs.evolve(suite, adjusted_p_value=p_value, verdict=verdict)


def with_unknown(
    suite: SuiteVerdict, ends: tuple[SuiteVerdict, SuiteVerdict], bounds: tuple[float, float]
) -> SuiteVerdict:
    """
    Return *suite* with what stands at both *ends*: unknown outcomes all failed, and all passed.

    *bounds* are those of the mean change over all cases.
    """
    every = suite, *ends
    stands = all(one.verdict == suite.verdict for one in ends)
    agree = min(one.delta for one in every) > 0 or max(one.delta for one in every) < 0
    within = suite.within_margin
    if within is not None:
        margins = [one.within_margin.interval for one in every if one.within_margin is not None]
        low, high = min(one.low for one in margins), max(one.high for one in margins)
        interval = attrs.evolve(within.interval, low=low, high=high)
        within = _margin_verdict(interval, within.margin, within.n_unseen)
    worst = max(one.p_value for one in every) if agree else 1.0
    return attrs.evolve(
        suite,
        verdict=suite.verdict if stands else "inconclusive",
        adjusted_p_value=worst,
        worst_p_value=worst,
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


def _is_binary(attempts: Attempts) -> bool:
    scores = attempts.scores
    return bool(((scores == 0.0) | (scores == 1.0)).all())


def _counts(attempts: Attempts) -> tuple[Floats, Floats]:
    """Return the attempts at each case, and how many of them scored 1."""
    return attempts.sizes.astype(np.float64), attempts.totals()


def _is_skewed(before: Attempts, after: Attempts) -> bool:
    """Tell whether a case has twice as many attempts on one side, or more."""
    (n_old, _), (n_new, _) = _counts(before), _counts(after)
    return bool((np.maximum(n_old, n_new) >= 2.0 * np.minimum(n_old, n_new)).any())


class _Strata(NamedTuple):
    """Cases as strata, whose attempts are exchangeable if nothing changed."""

    risk_difference: float
    """Mantel-Haenszel's; over its error it is the root of Cochran's statistic, uncorrected."""
    stderr: float
    """If nothing changed."""
    correction: float
    """What the correction for continuity takes from the difference."""
    odds_ratio: float | None
    corrected_p_value: float | None


def _stratified(before: Attempts, after: Attempts) -> _Strata:
    (n_old, c_old), (n_new, c_new) = _counts(before), _counts(after)
    total, passes = n_old + n_new, c_old + c_new
    weights = n_old * n_new / total
    difference = float(np.sum(weights * (c_new / n_new - c_old / n_old)))
    variance = float(np.sum(weights * passes * (total - passes) / (total * (total - 1))))
    weight, spread = float(np.sum(weights)), math.sqrt(variance)
    gained = float(np.sum(c_new * (n_old - c_old) / total))
    lost = float(np.sum(c_old * (n_new - c_new) / total))
    excess = max(abs(difference) - 0.5, 0.0)
    return _Strata(
        difference / weight,
        spread / weight,
        0.5 / weight,
        gained / lost if lost else math.inf if gained else None,
        two_sided_p(excess / spread, math.inf) if spread else None,
    )


class _Noise(NamedTuple):
    """The noise of a suite's change, by how the variances of either run's scores add up to it."""

    variance: float
    """Mean variance of an attempt over the cases, that of its score's chance to be 1."""
    tested: tuple[float, float, float]
    """What of this variance, of that in the other run and of the squared effect the test sees."""
    actual: tuple[float, float]
    """What there is of the first two."""


def _noise_of_attempts(before: Attempts, after: Attempts, stderr: float) -> _Noise:
    """
    Return the noise of Mantel-Haenszel's difference, whose test takes both runs for one.

    The variance of what two runs pool is the mean of theirs, weighted by their attempts, and what
    their rates differ by; the risk difference weighs them the other way round.
    """
    (n_old, _), (n_new, _) = _counts(before), _counts(after)
    total = n_old + n_new
    weights = n_old * n_new / total
    weight = float(np.sum(weights))
    share = float(np.sum(weights * n_old / total)) / weight
    between = float(np.sum(weights * weights / (total - 1.0))) / weight
    return _Noise(
        stderr * stderr * weight,
        (share / weight, (1.0 - share) / weight, between / weight),
        ((1.0 - share) / weight, share / weight),
    )


def _noise_of_means(means: tuple[Floats, Floats], stderr: float, n_groups: float) -> _Noise:
    """
    Return the noise of the mean change of the cases' scores.

    A mean of *k* attempts that are 0 or 1 with rate *p* has variance ``p (1 - p) / k``, and the
    scores themselves hide the rest, ``x (1 - x)`` on average: together ``p (1 - p)``.  Other
    scores are taken for such means.
    """
    own = float(np.var(means[1] - means[0], ddof=1)) / 2.0
    hidden = fmean(mean_of(side * (1.0 - side)) for side in means)
    variance = own + hidden if stderr else 0.0
    part = stderr * stderr / (2.0 * variance) if stderr else 1.0 / n_groups
    return _Noise(variance, (part, part, 0.0), (part, part))


def _effect_of_means(
    means: tuple[Floats, Floats],
    stderr: float,
    n_groups: float,
    reach: Callable[[float, float], float],
    z_power: float,
) -> float | None:
    """Return the effect found where every case moves a little, and where a few fall wholly."""

    def excess(effect: float) -> float:
        variance = stderr * stderr + effect * (1.0 - effect) / n_groups
        return effect - reach(variance, effect) - z_power * math.sqrt(variance)

    a_little = _detectable(_noise_of_means(means, stderr, n_groups), reach, z_power)
    wholly = _least(excess, 1.0)
    return None if a_little is None or wholly is None else max(a_little, wholly)


def _detectable(
    noise: _Noise, reach: Callable[[float, float], float], z_power: float
) -> float | None:
    """
    Return the least effect that is found with the power of *z_power*.

    *reach* says beyond which change a test finds one, from the variance that it sees and from the
    effect.

    Under an effect the chance of each attempt lies that much farther from its boundary, the rate
    of a mean variance moving from ``r`` to ``r + effect``: where everything passes, or nothing
    does, that is where all the noise comes from.
    """
    rate = 0.5 - math.sqrt(max(0.25 - noise.variance, 0.0))

    def excess(effect: float) -> float:
        moved = (rate + effect) * (1.0 - rate - effect)
        parts = noise.variance, moved, effect * effect
        tested, actual = (sum(map(mul, one, parts)) for one in (noise.tested, noise.actual))
        return effect - reach(tested, effect) - z_power * math.sqrt(actual)

    return _least(excess, 1.0 - rate)


def _least(excess: Callable[[float], float], most: float) -> float | None:
    """Return the least effect from which on *excess* is not negative; None if *most* is less."""
    low, high = 0.0, most
    if excess(high) < 0.0:
        return None
    while low < (middle := (low + high) / 2.0) < high:
        low, high = (middle, high) if excess(middle) < 0.0 else (low, middle)
    return high


def _quantile(confidence_level: float, df: float) -> float:
    return (
        normal_quantile(confidence_level) if df == math.inf else t_quantile(confidence_level, df)
    )
