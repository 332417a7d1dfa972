"""Whether a suite as a whole changed: one paired verdict over its cases, read off its interval."""

from __future__ import annotations

from typing import Literal

import attrs

from scorekit._sheet.model import Fields, Sheet
from scorekit._sheet.values import between, counted, level_of
from scorekit.intervals import Interval
from scorekit.records import Record

NOTHING_SCORED = "no case has a score in both runs"
"""Why nothing can be seen after an outage."""

WAITING = (
    "the verdict waits for all cases of the baseline, as those done first may differ; "
    "random_order=True does not, where cases come in random order"
)
"""The remark on a growing run."""

SIGHT = 0.9
"""Level for a preference for sight, with one attempt at each case."""

SOONER = f"confidence_level={SIGHT} finds smaller losses, with one attempt at each case"
"""What is said of it."""

NOISE = 1e-9

LEAST_P = 1e-300
"""Smallest p value that is printed."""

SUITE_SPECS = {"before": ".3f", "now": ".3f", "change": "+z.3f"}
"""How the numbers of a table of suites are written."""

DECIMALS = 3
"""Decimals of scores and changes."""

Test = Literal["paired t", "clustered t", "permutation of repeats", "betting", "t with anchors"]
Question = Literal["these cases", "cases like these", "the cases so far"]
Outcome = Literal["regressed", "improved", "no change detected", "inconclusive"]
WithinMargin = Literal["equivalent", "not worse", "worse", "undecided"]


def ends_of(interval: Interval) -> str:
    """Return both ends, with so many decimals that an end that is not 0 does not look like it."""
    return f"[{_signed(interval.low)}, {_signed(interval.high)}]"


def _signed(value: float) -> str:
    decimals = DECIMALS
    while value and not round(value, decimals) and decimals < 4 * DECIMALS:
        decimals += 1
    return format(value, f"+z.{decimals}f")


def p_text(p_value: float) -> str:
    """Return a p value as text; one that a float hardly holds is only bounded."""
    return f"p = {p_value:.2g}" if p_value >= LEAST_P else f"p < {LEAST_P:g}"


@attrs.frozen(kw_only=True, repr=False)
class SuiteVerdict(Record):
    """Whether the suite as a whole changed, judged from the cases that both sides have."""

    verdict: Outcome
    """
    What *interval* says.

    ``"regressed"`` if it lies below 0, ``"improved"`` if it lies above. If it holds 0, ``"no
    change detected"`` where a loss of *margin*, or of *threshold* without one, lies below it, and
    ``"inconclusive"`` elsewhere. Of the cases so far it is ``"inconclusive"``."""
    delta: float
    """Mean change over the cases, in ``[-1, 1]``; negative is worse.  Where no case has a score on
    both sides it is the worst bound."""
    baseline_mean: float
    """Mean score of the cases in the baseline, each weighing the same."""
    current_mean: float
    interval: Interval
    """
    Two-sided interval of *delta*: it decides the verdict, and that on the margin.

    Its level is that of the comparison; of *m* suites adjusted together ``1 - a / m`` in place of
    ``1 - a``, so that all of them hold at once. If the share of missing outcomes changed it holds
    whatever they were. Away from 0 it allows for cases that fall or rise wholly where none of the
    sample did."""
    p_value: float
    """
    Two-sided, by the test of *interval*: at most *a* if, and only if, that leaves out 0.

    Of *m* suites adjusted together it is *m* times that of this suite alone, at most 1. With
    *anytime* it holds however often one looks."""
    test: Test
    question: Question
    """Whether any of these very cases changed, or whether cases like these changed on average; of
    a growing run that lacks cases of the baseline what is known is of those so far."""
    threshold: float
    """Change that does not count."""
    margin: float | None
    """Largest loss that is still acceptable; None where none was given."""
    within_margin: WithinMargin | None
    """``"not worse"`` where *interval* lies above ``-margin``, ``"equivalent"`` where it lies
    within ``(-margin, margin)``, ``"worse"`` where it lies below ``-margin``; None without one."""
    minimum_detectable_effect: float | None
    """
    Loss that the test finds with 80 % power, if cases that pass break.

    It is a multiple of what one such case loses, and decides nothing. None where even all of them
    would be missed, and where the verdict *holds_at_bounds*."""
    n_detectable: int | None
    """The cases that break then; None with repeats, and where there is no such effect."""
    n_cases_needed: int | None
    """About how many such cases would show a change as large as *delta* with 80 % power; of one
    below *margin*, or *threshold*, a loss of that. None with repeats, with *anytime*, and where
    the verdict *holds_at_bounds*."""
    cannot_see: str | None
    """Why no outcome of such a run could be significant, and what to add; None where one could."""
    n_cases: int
    n_groups: int | None
    """Groups that the cases come in; None where they are independent."""
    n_suites: int = 1
    """Suites that are adjusted together, this one included."""
    n_changed: int | None = None
    """Cases that changed, where each has one attempt on either side; None elsewhere."""
    n_unscored: int = 0
    """Cases on both sides that are left out because one side has no score of them."""
    n_unknown: int = 0
    """Other cases with attempts with a missing outcome."""
    delta_bounds: tuple[float, float] | None = None
    """The least and the largest mean change over all cases that missing outcomes allow, with all
    of the baseline passed and all of the current run failed, and the reverse. None where all are
    known."""
    holds_at_bounds: bool = False
    """Whether *interval* holds at both of these: the share of missing outcomes changed."""
    n_repeats: tuple[int, int] = (1, 1)
    """Reports of the baseline and of the current run."""
    repeat_spread: float | None = None
    """Standard deviation of the mean score from repeat to repeat, pooled; None without repeats."""
    n_unseen: int = 0
    """Cases of the baseline that a growing run does not have yet, so that the verdict waits for
    them; 0 where *random_order* says that they are like the others."""

    @property
    def limit(self) -> float:
        """Loss that matters: the margin, else the threshold."""
        return self.threshold if self.margin is None else self.margin

    @property
    def moved(self) -> str:
        """The loss or gain."""
        size = f"{abs(self.delta):.{DECIMALS}f}"
        if not float(size):
            return "no change"
        return f"a {'loss' if self.delta < 0.0 else 'gain'} of {size}"

    def _line(self) -> str:
        cases = counted(self.n_cases, "case")
        if self.n_groups is not None:
            cases += f" in {counted(self.n_groups, 'group')}"
        if not self.n_cases:
            return f"{self.verdict}: {NOTHING_SCORED}; {self.between}"
        means = f"{self.baseline_mean:.{DECIMALS}f} -> {self.current_mean:.{DECIMALS}f}"
        p_value = p_text(self.p_value)
        if self.n_suites > 1:
            p_value += f", times {self.n_suites} suites"
        so_far = f" so far, {self.n_unseen} cases to come" if self.n_unseen else ""
        return (
            f"{self.verdict}{so_far}: {means}, {self.moved}, {level_of(self.interval)} interval "
            f"{ends_of(self.interval)} {self._where} ({cases}, {p_value})"
        )

    @property
    def _brief(self) -> str:
        return f"{self.verdict}, {self.delta:+z.{DECIMALS}f} {ends_of(self.interval)}"

    @property
    def _where(self) -> str:
        """Say where the interval lies."""
        low, high = self.interval.low, self.interval.high
        if high < 0.0 or low > 0.0:
            return f"lies {'below' if high < 0.0 else 'above'} 0"
        if self.verdict == "no change detected":
            return f"holds 0, and no loss of {self.limit:g}"
        return f"holds 0: a loss of up to {-low:.{DECIMALS}f} is possible"

    def _sheet(self) -> Sheet:
        fields = Fields(record=self, title="All fields")
        return Sheet("SuiteVerdict", self._line(), (*self.remarks(), fields))

    def _row(self) -> dict[str, object]:
        known = self.n_cases > 0
        p_name = f"p (of {self.n_suites})" if self.n_suites > 1 else "p"
        return {
            "before": self.baseline_mean if known else None,
            "now": self.current_mean if known else None,
            "change": self.delta if known else None,
            f"{level_of(self.interval)} interval": ends_of(self.interval),
            p_name: f"{self.p_value:.2g}",
            "verdict": self.verdict,
            "cases needed": self.n_cases_needed if self.verdict == "inconclusive" else None,
        }

    @property
    def _needed(self) -> str:
        if abs(self.delta) > self.limit:
            what = "loss" if self.delta < 0.0 else "gain"
            return f"about {self.n_cases_needed} cases would show such a {what}"
        return f"about {self.n_cases_needed} cases would find a loss of {self.limit:g}"

    def remarks(self) -> list[str]:
        """Return what else there is to say: the margin, what it can find, missing outcomes."""
        found: list[str] = []
        if self.cannot_see is not None and self.n_cases:
            found.append(f"cannot see a loss: {self.cannot_see}")
        if self.within_margin is not None:
            found.append(self._margin())
        if self.verdict in ("no change detected", "inconclusive") and self.n_cases:
            found += self._what_next()
        if self.n_cases and self.delta_bounds is not None:
            found.append(self.between)
        if self.n_unseen:
            found.append(WAITING)
        if self.repeat_spread is not None:
            old, new = self.n_repeats
            repeats = f"{counted(old, 'repeat')} of the baseline, {new} of the current run"
            found.append(f"{repeats}, standard deviation {self.repeat_spread:.3f}")
        if self.question == "these cases":
            found.append(f"holds for these {counted(self.n_cases, 'case')} only")
        return found

    def _margin(self) -> str:
        limit, verdict = self.limit, self.within_margin
        ends = {
            "equivalent": f"lies within -{limit:g} and +{limit:g}",
            "not worse": f"lies above -{limit:g}",
            "worse": f"lies below -{limit:g}",
            "undecided": f"holds -{limit:g}",
        }
        why = f"the interval {ends[str(verdict)]}"
        if self.n_unseen:
            why = f"{self.n_unseen} cases of the baseline to come"
        return f"margin {limit:g}: {verdict}, {why}"

    def _what_next(self) -> list[str]:
        effect = self.minimum_detectable_effect
        if self.cannot_see is not None or self.holds_at_bounds:
            return []
        needed = self._needed if self.n_cases_needed and self.verdict == "inconclusive" else ""
        if effect is None:
            finds = "no loss would be found in four of five such runs"
        elif self.n_detectable is None:
            finds = f"would find a loss of {effect:.2g} in four of five such runs"
        else:
            broken = f"{counted(self.n_detectable, 'broken case')} of {self.n_cases}"
            finds = f"would find {broken} (a loss of {effect:.2g}) in four of five such runs"
        return ["; ".join(filter(None, (finds, needed, self._more_sight)))]

    @property
    def _more_sight(self) -> str:
        """Name the level at which a loss is found sooner, where one attempt is all there is."""
        error = self.n_suites * (1.0 - self.interval.confidence_level)
        if self.n_changed is None or self.verdict != "inconclusive" or self.delta >= 0.0:
            return ""
        return SOONER if error < round(1.0 - SIGHT, DECIMALS) - NOISE else ""

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
        if not why:
            why.append("attempts missing")
        return f"{' and '.join(why)}: {between(*self.delta_bounds, '+')} whatever they were"
