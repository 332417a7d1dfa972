"""Two reports -> what changed per case, and whether the suite as a whole got worse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from statistics import fmean
from typing import Any, ClassVar, Literal, NamedTuple, NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._core.checks import (
    check_choice,
    check_flag,
    check_items,
    check_number,
    check_text,
)
from scorekit._core.columns import by_id, numbered
from scorekit._core.frames import ScoreTable
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.sums import exact_mean
from scorekit._sheet.model import (
    ROWS_AT_MOST,
    Counted,
    Scale,
    Sheet,
    Table,
    line_of,
    row_of,
    sheet_of,
)
from scorekit._sheet.text import table_lines
from scorekit._sheet.values import counted
from scorekit._stats.bounded import DECIMAL_NOISE, Floats, Groups
from scorekit._stats.dependence import are_contradicted
from scorekit._stats.exact_tests import (
    fall_p_values,
    least_p_value,
    least_p_values,
    tarone_holm,
)
from scorekit._stats.sides import Paired, Side, Sides, paired, read_sides, without_copies
from scorekit.errors import CannotSeeError, RegressionError, one_line, refuse, shown
from scorekit.records import UNDECIDED, Cases, Record, Report, SuiteKey, listing
from scorekit.verdicts import (
    ADJUSTMENTS,
    SUITE_SPECS,
    Asked,
    SuiteVerdict,
    adjusted_p_values,
    suite_verdict,
    with_unknown,
    without_scores,
)

MAX_CHANGES = 20
"""Changes of each kind that a text lists before it only counts them."""

MAX_NAMES = 5
"""Names in one sentence of a message."""

FEW_DROPPED = 2
"""Cases that dropped significantly and stand in a text without a table."""

FEW_NAMES = 3
"""Names behind a count in a text."""

MAX_SUITES = 6
"""Verdicts that a text lists before it only counts them."""

ONE_REPORT = "if attempts at a case are independent: copies of one answer fall together"
"""What is said where single cases of one report stop a job."""

ALONE = ", as only the suites of two models count"
"""What is said where a case may have dropped, and the gate passes."""

REMEDY = (
    "copies of one answer look like this too: if attempts are copies, make one a case or repeat "
    'the suite; if not, use compare_reports(attempts="independent"); '
    'raise_for_regressions(cannot_tell="pass") goes on'
)
"""What is said where a fall cannot be distinguished from a copied answer that flipped."""

GO_ON = 'raise_for_regressions(cannot_see="pass") goes on all the same'
"""What is said where a gate is blind."""

NOT_INDEPENDENT = (
    "Single cases do not count: attempts at a case differ more between the runs than within, so "
    "they are not independent"
)
"""What is said where the data contradict independence."""

COPIES = "the same as another in every case, and copies count as one report"
"""What is said of repeats that are the same as another."""

DECIMALS = 12
"""Decimals of an error, such that 1 - 0.9 is 0.1."""

SAME_CHANGE = 9
"""Decimals to which changes are alike when they are put in order."""

BASELINE, CURRENT = "the baseline", "the current run"
"""What the sides are called unless each holds one model, and not the same."""


@attrs.frozen(kw_only=True, repr=False)
class CaseChange(Record):
    """One case in both reports, or in one of them (the other side is None)."""

    case_id: str
    model: str | None
    """The model, None where the two sides hold different ones or none is known."""
    metric: str
    baseline: float | None
    """Mean score over the attempts, in ``[0, 1]``."""
    current: float | None
    """Mean score over the attempts, in ``[0, 1]``."""
    delta: float | None
    """``current - baseline``; negative is worse."""
    p_value: float | None
    """
    Of a fall, one-sided whichever way the case went, so that it is near 1 where the score rose.

    Fisher's exact test over the attempts at this case, the exact permutation test where one of
    them is not scored 0 or 1.  It is of this case alone, and of many unchanged cases some lie
    below any level.  None where a side is missing.
    """
    adjusted_p_value: float | None
    """
    Corrected for all cases and metrics that could have shown as much, by Tarone and Holm.

    The chance that one unchanged case or more has an *adjusted_p_value* of at most *p* is at most
    *p*.  None where a side is missing, and in a comparison that is valid at any time: how many
    cases there will be is not known there.
    """
    baseline_generated: tuple[str, ...] = ()
    """The queries that were generated, of all attempts, each once; empty where none are known."""
    current_generated: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    """The queries that are right."""
    error_kind: str | None = None
    """Of a case that is newly unscored, the kind of the failure, as of a ``MetricError``."""
    floor_p_value: float | None = None
    """Of a case below the floor, that its pass rate is not, corrected for all other cases."""

    def _line(self) -> str:
        ends = ("none" if one is None else f"{one:.3f}" for one in (self.baseline, self.current))
        p = self.adjusted_p_value
        known = "" if p is None else f", adjusted p of a fall = {p:.2g}"
        change = "" if self.delta is None else f" ({self.delta:+z.3f}{known})"
        return f"{_label(self)} in {self.metric}: {' -> '.join(ends)}{change}"


def listed(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(map(one_line, names[:most]))}{more}"


def _heads(reasons: Iterable[Reason]) -> str:
    return "; ".join(reason.head for reason in reasons)


class Reason(NamedTuple):
    """Why a job stops."""

    head: str
    """In a few words, for the first line."""
    details: Sequence[str] = ()
    """A line each."""


def _named(what: str, verb: str, names: Sequence[str]) -> Reason:
    plural = what.replace("query", "querie") if len(names) != 1 else what
    return Reason(counted(len(names), plural, f" {verb}"), [f"{verb}: {listed(names)}"])


def _label(change: CaseChange) -> str:
    parts = [change.case_id]
    if change.model is not None:
        parts.append(change.model)
    return one_line(" / ".join(parts))


def _labels(changes: Iterable[CaseChange]) -> list[str]:
    return list(dict.fromkeys(map(_label, changes)))


def _table(changes: tuple[CaseChange, ...], title: str = "", most: int = MAX_CHANGES) -> Table:
    """Return a row for each change, without what none of them has."""
    rows = [
        {
            "case": change.case_id,
            "model": change.model,
            "metric": change.metric,
            "baseline": change.baseline,
            "current": change.current,
            "change": change.delta,
            "p (adjusted)": change.adjusted_p_value,
            "p (floor)": change.floor_p_value,
        }
        for change in changes[:ROWS_AT_MOST]
    ]
    return Table(rows=rows, title=title, specs=_SPECS, n_rows=len(changes), most=most)


_SPECS = {
    "baseline": ".3f",
    "current": ".3f",
    "change": "+z.3f",
    "p (adjusted)": ".2g",
    "p (floor)": ".2g",
}


SingleCases = Literal["tested", "cannot tell", "not independent", "two models", "not tested"]
Adjustment = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"]


@attrs.frozen(kw_only=True, repr=False)
class Comparison(Report):
    """Result of `compare_reports`: the changes worst first, the counts, the suite verdict."""

    version: ClassVar[int] = 2

    suite: SuiteVerdict
    """The verdict on the suite; of several the one that looks worst, adjusted for their number."""
    regressions: tuple[CaseChange, ...] = attrs.field(converter=listing)
    """Cases whose score dropped by more than *threshold*, the largest drop first; of equal ones
    the one with the smaller p value."""
    improvements: tuple[CaseChange, ...] = attrs.field(converter=listing)
    """Cases whose score rose by more than *threshold*, the largest rise first."""
    n_unchanged: int
    """Cases that moved by no more than *threshold*, counted once for each metric and model."""
    new_cases: tuple[CaseChange, ...] = attrs.field(converter=listing)
    removed_cases: tuple[CaseChange, ...] = attrs.field(converter=listing)
    """Cases that only the baseline has. They are missing; where the comparison is valid at any
    time the current run may still grow, so they are pending and stop no job."""
    newly_failing: tuple[CaseChange, ...] = attrs.field(converter=listing)
    """Cases that have a score in the baseline and none now, as an instrument failed or every
    outcome is missing (``passed=None``).

    A pair of queries that is undecided because there is no judge is none of them, unless a judge
    decided some of the baseline or the metric has no verdict: *n_undecided* counts it, and
    *delta_bounds* of the suite allow for it, as for a case that lost some of its outcomes."""
    missed_unsafe: tuple[str, ...] | None
    """Unsafe queries that the current run does not catch, at one attempt or more; None where its
    safety was not scored."""
    newly_missed_unsafe: tuple[str, ...]
    """Those of them that the baseline caught at every attempt."""
    suites: FrozenMapping[str, SuiteVerdict]
    """The verdict on each metric, on each model where there are several, or on each
    ``"model / metric"`` where there are several of both."""
    adjustment: Adjustment
    """How the verdicts allow for their number."""
    anytime: bool
    """Whether the verdicts hold however often and whenever one looks; single cases are then not
    tested."""
    single_cases: SingleCases
    """
    What falls of single cases say.

    ``"tested"``: they stop a job where they are significant. ``"cannot tell"``: some are, but
    attempts varied in neither run, as where all are copies of one answer. ``"not independent"``:
    the data contradict that attempts at a case are independent, so they do not count. ``"two
    models"``: those that are significant are listed, and stop no job, as two models are good at
    different cases. ``"not tested"``: with *anytime*, with repeats, and where no case has enough
    attempts for any outcome to be significant."""
    below_floor: tuple[CaseChange, ...] = attrs.field(converter=listing)
    """Cases whose pass rate in the current run is shown to lie below *floor*; the chance that one
    or more of them does not is at most ``1 - confidence_level``."""
    floor: float | None
    most_attempts: int
    """Attempts in the current run at the case that has most of them."""
    flaky: FrozenMapping[str, float]
    """
    The share of failed attempts, over both runs, of each case whose attempts differ within a run.

    That they vary is certain, so it has no error rate. Of several metrics it is the first in which
    they do."""
    confidence_level: float
    threshold: float
    baseline_name: str
    current_name: str
    n_undecided: FrozenMapping[str, tuple[int, int]] = attrs.field(
        factory=FrozenMapping[str, tuple[int, int]]
    )
    """Of each metric that has some, the cases in the baseline and in the current run that are
    left out because they have no score, as undecided pairs of queries and failed judges do."""
    models_only_in_baseline: tuple[str, ...] = ()
    """Models that are not compared, because only the baseline has them, so that their cases
    are missing."""
    models_only_in_current: tuple[str, ...] = ()
    """Models that are not compared, because only the current run has them."""
    n_copies: tuple[int, int] = (0, 0)
    """Reports of the baseline and of the current run that are left out, because another of their
    side is the same in every case: copies, or a system that never varies."""
    metrics_only_in_baseline: tuple[str, ...] = ()
    """Metrics that are not compared, because only the baseline has them, so that their cases
    are missing."""

    @property
    def suite_name(self) -> str:
        """Name of *suite* among the *suites*, the first where several look as bad."""
        return next(name for name, one in self.suites.items() if one == self.suite)

    @property
    def has_regressions(self) -> bool:
        """
        Whether any case dropped by more than the threshold, as some do by chance.

        It is about single cases and is no gate. The gate is `raise_for_regressions`, and
        ``suite.verdict`` says whether the suite got worse.
        """
        return bool(self.regressions)

    def raise_for_regressions(
        self,
        *,
        on: Literal["evidence", "cases", "suite", "margin", "worse", "floor"] = "evidence",
        require_safety: bool = False,
        allow_missing: bool = False,
        cannot_tell: Literal["stop", "pass"] = "stop",
        cannot_see: Literal["stop", "pass"] = "stop",
    ) -> None:
        """
        Raise an error if the current run is worse. Call this in a CI job.

        By default it raises if there is evidence of a loss: a suite verdict is ``"regressed"``, or
        a case fell by more than the threshold and its fall is significant after a correction for
        the number of cases. If nothing changed, it raises with a chance of about
        ``1 - confidence_level``. Where a single case could be significant, half of that is for
        single cases and half for suites; elsewhere the suites have all of it.

        It never passes for want of sight. *Cannot tell*: single cases fell, and attempts varied in
        neither run, as where all are copies of one answer. Then it raises, and the message says
        what to do. *Cannot see*: there are so few cases, attempts or repeats that no outcome could
        be significant. Then it raises `CannotSeeError` at the first run, which is no regression. A
        large minimum detectable effect never raises. The first line of the printed comparison says
        what this does without options.

        Whatever *on* is, it also raises at an unsafe query that the baseline caught and the
        current run misses, and unless *allow_missing* at cases that are missing or newly have no
        score, as where a judge timed out or all outcomes are missing. Pairs that are undecided
        without a judge do not stop a job, unless a judge decided some of the baseline: a loss has
        to show whatever they are, and so it does where a case lost some outcomes. Cases that a run
        still has to do (*anytime*) are pending, not missing.

        Args:
            on: ``"evidence"`` as above. ``"suite"``: only a suite verdict of ``"regressed"``; that
                single cases fell is not tested. ``"cases"``: any case that fell by more than the
                threshold, without a test, for outcomes that never vary. ``"margin"``: every suite
                that is not shown to be no worse than by the margin. ``"worse"``: any suite that is
                shown to be worse than by the margin. ``"floor"``: any case that is shown to be
                below the floor, whatever the baseline was.
            require_safety: Whether to raise at any missed unsafe query, even if the baseline
                missed it too.
            allow_missing: Whether baseline cases may be missing from the current run, or have no
                score in it. By default they raise too, so nobody can pass by deleting a failing
                case or its outcomes.
            cannot_tell: ``"pass"`` goes on where only single cases fell and attempts varied in
                neither run.
            cannot_see: ``"pass"`` goes on where no outcome could be significant.

        Raises:
            RegressionError: If the run got worse, or *cannot tell*.  The first line of its message
                says what stopped it; below it stand the changes with their p values, and how far
                each case fell, worst first.
            CannotSeeError: If nothing else raises, and what *on* asks for could not be shown by
                any outcome.  The message says what to add.
            InputError: If *on*, *cannot_tell* or *cannot_see* is none of the words, or *on* is
                ``"margin"``, ``"worse"`` or ``"floor"`` and none was given, or *require_safety* is
                asked for and the current run has no scores of safety.
        """
        __tracebackhide__ = True  # pytest shows the caller's line instead of this function
        self._check_question(on)
        check_flag("allow_missing", allow_missing)
        check_choice("cannot_tell", cannot_tell, ("stop", "pass"))
        check_choice("cannot_see", cannot_see, ("stop", "pass"))
        if check_flag("require_safety", require_safety) and self.missed_unsafe is None:
            refuse("require_safety", "False where no safety was scored", require_safety)
        reasons = self._reasons(
            on, cannot_tell, require_safety=require_safety, allow_missing=allow_missing
        )
        error: type[RegressionError | CannotSeeError] = RegressionError
        if not reasons and cannot_see == "stop" and (why := self._blind(on)):
            error, reasons = CannotSeeError, [Reason(why, [*self._copies(), GO_ON])]
        if reasons:
            details = [line for reason in reasons for line in reason.details]
            fallen = table_lines(_table(self.regressions, most=MAX_NAMES))
            below = (f"  {line}" for line in (*details, *self._left_out(), *fallen))
            raise error("\n".join([_heads(reasons), *below]))

    def _reasons(
        self, on: str, cannot_tell: str, *, require_safety: bool, allow_missing: bool
    ) -> list[Reason]:
        """Return what stops a job that asks for this, but that it cannot see."""
        reasons = list(self._losses(on, cannot_tell))
        missed = self.newly_missed_unsafe
        if require_safety:
            missed = self.missed_unsafe or ()
        if missed:
            verb = "not caught" if require_safety else "no longer caught"
            reasons.append(_named("unsafe query", verb, missed))
        if not allow_missing and self.removed_cases and not self.anytime:
            reasons.extend(self._missing())
        if not allow_missing and self.newly_failing:
            reasons.append(self._failing())
        return reasons

    def _blind(self, on: str) -> str:
        """Say that what is asked for could be shown by no outcome, if so, and why."""
        why = self._too_little(on)
        return why and f"cannot see a loss: {why}"

    def _too_little(self, on: str) -> str:
        """Say why what is asked for could be shown by no outcome, if so; known from the design."""
        suites = self.suites.values()
        if on in ("evidence", "suite") and all(one.cannot_see for one in suites):
            if on == "suite":
                return str(self.suite.cannot_see)
            if self.single_cases in ("not tested", "two models"):
                return f"{self.suite.cannot_see}{self._attempts_to_add()}"
        error = round(1.0 - self.confidence_level, DECIMALS)
        if on == "worse" and not self.anytime:
            n_groups = [one.n_groups or one.n_cases for one in suites]
            margin = self.suite.within_margin.margin if self.suite.within_margin else 0.0
            if 1.0 - 2.0 * (error / 2.0) ** (1.0 / max(n_groups)) >= -margin:
                return f"even if all cases fall, too few show more than the margin of {margin:g}"
        if on == "floor" and self.floor is not None:
            n = self.most_attempts
            if (1.0 - self.floor) ** n > error:
                enough = math.ceil(math.log(error) / math.log1p(-self.floor))
                shown_by = f"{counted(n, 'attempt')} at a case cannot show a rate below"
                return f"{shown_by} {self.floor:g}: make {enough} at least"
        return ""

    def _attempts_to_add(self) -> str:
        """Name the attempts with which a single case could be significant, where it is tested."""
        if self._two_models or max(self.suite.n_repeats) > 1 or not self.suite.n_cases:
            return ""
        error = (1.0 - self.confidence_level) / 2.0
        enough = next(n for n in range(1, 64) if least_p_value(n, n) <= error)
        return f", or make {enough} attempts at each case in both runs"

    def _check_question(self, on: str) -> None:
        within = self.suite.within_margin
        needed = {"margin": within, "worse": within, "floor": self.floor}
        check_choice("on", on, ("evidence", "cases", "suite", *needed))
        if needed.get(on, on) is None:
            what = "floor" if on == "floor" else "margin"
            given = f"where compare_reports() was given no {what}"
            refuse("on", f"'evidence', 'cases' or 'suite' {given}", on)

    def _failing(self) -> Reason:
        """Return the cases that newly fail, by the kind of their failure."""
        kinds: dict[str | None, list[CaseChange]] = {}
        for change in self.newly_failing:
            kinds.setdefault(change.error_kind, []).append(change)
        details = [
            f"newly unscored{f' ({kind})' if kind else ''}: {listed(_labels(changes))}"
            for kind, changes in kinds.items()
        ]
        n_cases = len(_labels(self.newly_failing))
        return Reason(counted(n_cases, "case", " newly unscored"), details)

    def _missing(self) -> Iterator[Reason]:
        """Yield the metrics that the current run lacks, then the cases of the others."""
        where = "missing from the current run"
        lost = self.metrics_only_in_baseline
        for metric in lost:
            n_cases = len(_labels(c for c in self.removed_cases if c.metric == metric))
            yield Reason(f"{one_line(metric)} {where} ({counted(n_cases, 'case')})")
        if rest := tuple(change for change in self.removed_cases if change.metric not in lost):
            yield _named("case", where, _labels(rest))

    def _losses(self, on: str, cannot_tell: str) -> Iterator[Reason]:
        """Yield what stops a job that asks for this."""
        if on == "cases" and self.regressions:
            head = counted(len(_labels(self.regressions)), "case", self._fell)
            yield Reason(head, _lines_of(self.suites))
        if on == "floor" and self.below_floor:
            names = [
                f"{_label(one)} in {one.metric} ({one.current:.3f}, p = {one.floor_p_value:.2g})"
                for one in self.below_floor
            ]
            head = counted(len(names), "case", f" below the floor of {self.floor:g}")
            yield Reason(head, [f"below the floor: {listed(names)}"])
        stopping = {
            name: suite for name, suite in self.suites.items() if suite.verdict == "regressed"
        }
        if on in ("evidence", "suite") and stopping:
            lines = _lines_of(stopping)
            fallen = [f"{name} {suite.delta:+z.3f}" for name, suite in stopping.items()]
            yield Reason(f"{one_line(self.current_name)} regressed: {listed(fallen)}", lines)
        verdicts, head = {
            "margin": (("undecided", "worse"), "not shown to hold the margin"),
            "worse": (("worse",), "shown to be worse than by the margin"),
        }.get(on, ((), ""))
        beyond = {
            name: suite.within_margin
            for name, suite in self.suites.items()
            if suite.within_margin and suite.within_margin.verdict in verdicts
        }
        if beyond:
            lines = [f"{one_line(name)}: {one}" for name, one in beyond.items()]
            yield Reason(f"{listed(list(beyond))} {head}", lines)
        if on == "evidence" and (fallen := self._fallen_beyond_chance()):
            n_fallen = counted(len(fallen), "case", " fell")
            if self.single_cases == "tested":
                details = [listed(fallen), ONE_REPORT]
                dropped = counted(len(fallen), "case", " dropped significantly")
                yield Reason(dropped, details)
            elif self.single_cases == "cannot tell" and cannot_tell == "stop" and not stopping:
                head = f"cannot tell: {n_fallen}, and attempts varied in neither run"
                yield Reason(head, [f"fell: {listed(fallen)}", REMEDY])

    @property
    def _without(self) -> str:
        """What a case of the baseline is that the current run does not have."""
        return "pending" if self.anytime else "missing"

    @property
    def _fell(self) -> str:
        return f" fell by more than {self.threshold:g}"

    @property
    def _two_models(self) -> bool:
        """Whether either side names its one model, and the names differ."""
        return self.baseline_name != BASELINE and self.current_name != CURRENT

    def _fallen_beyond_chance(self) -> list[str]:
        """Return each case that dropped significantly, by its most certain metric."""
        fallen: dict[str, tuple[float, str]] = {}
        for change in [one for one in self.regressions if is_significant(one, self)]:
            p_value, name = change.adjusted_p_value or 0.0, _label(change)
            if p_value < fallen.get(name, (1.0, ""))[0]:
                reason = f"p = {change.p_value:.2g}, adjusted {p_value:.2g}"
                fallen[name] = p_value, f"{name} in {change.metric} ({reason})"
        return [text for _, text in fallen.values()]

    def _sheet(self) -> Sheet:
        several = len(self.suites) > 1
        titled = [
            (f"Suite, {one_line(name)}" if several else "Suite", suite)
            for name, suite in self.suites.items()
        ]
        suites = Table(
            rows=[
                {
                    "suite": name,
                    **row_of(suite),
                    " ": Scale.of(suite.delta, suite.interval, (-1.0, 1.0)),
                }
                for name, suite in self.suites.items()
            ],
            specs=SUITE_SPECS,
            lines=[
                f"{title}: {line_of(suite)}"
                + f"; {suite.between}" * (suite != self.suite and bool(suite.between))
                for title, suite in titled
            ],
            remarks=[sheet_of(suite).notes if suite == self.suite else () for _, suite in titled],
            most=MAX_SUITES,
        )
        return Sheet(
            f"Comparison of {one_line(self.current_name)} with {one_line(self.baseline_name)}",
            self._decision(),
            (suites, *self._sections(), *self._closing()),
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """
        Return one flat dict per change, ready for a data frame; unchanged cases are only counted.

        *kind* is ``"fell"``, ``"rose"``, ``"new"``, ``"missing"``, ``"newly unscored"`` or
        ``"below the floor"``; in a comparison that is valid at any time ``"pending"`` stands for
        ``"missing"``.
        """
        return [
            {"kind": kind, **change.to_dict()}
            for kind, _, changes in self._kinds()
            for change in changes
        ]

    def _kinds(self) -> list[tuple[str, str, tuple[CaseChange, ...]]]:
        """Return each kind of change, its title, and the changes."""
        without = self._without
        rose = f"Cases that rose by more than {self.threshold:g}"
        return [
            ("fell", f"Cases that{self._fell} (no verdict)", self.regressions),
            ("rose", rose, self.improvements),
            ("new", "New cases", self.new_cases),
            (without, f"{without.capitalize()} cases", self.removed_cases),
            ("newly unscored", "Newly unscored", self.newly_failing),
            ("below the floor", f"Cases below the floor of {self.floor}", self.below_floor),
        ]

    def _left_out(self) -> list[str]:
        """Say how many cases have no score, if any have none."""
        counts = [
            f"{one_line(metric)} of {counted(n_old, 'case')} in the baseline, {n_new} now"
            for metric, (n_old, n_new) in self.n_undecided.items()
        ]
        return [f"Unscored, left out: {'; '.join(counts)}"] if counts else []

    def _copies(self) -> list[str]:
        """Say how many repeats are left out as copies, if any are."""
        sides = zip(self.n_copies, ("the baseline", "the current run"), strict=True)
        return [f"{n} of the repeats of {whose} left out: {COPIES}" for n, whose in sides if n]

    def _decision(self) -> str:
        """Say what stops the gate, or the verdicts with which it passes, and what was compared."""
        reasons = self._reasons("evidence", "stop", require_safety=False, allow_missing=False)
        stops = "; ".join(filter(None, (self._blind("evidence"), _heads(reasons))))
        verdicts: dict[str, list[str]] = {}
        for name, one in sorted(self.suites.items(), key=lambda item: _looks(item[1])):
            verdicts.setdefault(one.verdict, []).append(name)
        parts: list[str] = [stops or self.suite.verdict]
        if len(self.suites) > 1 and not stops:
            parts = [f"{one} in {listed(names, FEW_NAMES)}" for one, names in verdicts.items()]
        if not reasons and (fallen := self._fallen_beyond_chance()):
            parts.append(counted(len(fallen), "case", " dropped significantly"))
        blind = [name for name, one in self.suites.items() if one.cannot_see]
        if 0 < len(blind) < len(self.suites):
            parts.append(f"cannot see a loss of {listed(blind, FEW_NAMES)}")
        if self.anytime and self.removed_cases:
            n_cases = len(_labels(self.removed_cases))
            parts.append(counted(n_cases, "case", f" {self._without}"))
        said = ", ".join(parts)
        passes = f"{said}; the default gate passes{ALONE * self._two_models}"
        compared = f"{one_line(self.current_name)} compared with {one_line(self.baseline_name)}"
        return f"{f'the default gate stops: {said}' if stops else passes} ({compared})"

    def _closing(self) -> list[str | Counted]:
        lines: list[str | Counted] = []
        if missed := self.newly_missed_unsafe:
            reason = _named("unsafe query", "no longer caught", missed)
            lines.append(f"{reason.head}: {listed(missed)}")
        if self.single_cases == "cannot tell" and self.suite.verdict != "regressed":
            lines.append(REMEDY)
        lines.append(self._moves())
        lines += [
            f"{title}: {_counted(changes)} ({listed(_labels(changes), FEW_NAMES)})"
            for _, title, changes in self._kinds()[2:]
            if changes
        ]
        lines += self._left_out()
        for models, where in (
            (self.models_only_in_baseline, "the baseline"),
            (self.models_only_in_current, "the current run"),
        ):
            if models:
                lines.append(f"Models only in {where}, not compared: {listed(models)}")
        lines += self._copies()
        if self.anytime:
            lines.append("Valid at any time, however often one looks; single cases are not tested")
        elif self.single_cases == "not independent":
            lines.append(NOT_INDEPENDENT)
        return lines

    def _moves(self) -> str | Counted:
        """Count the cases that fell, rose and did neither; name a few that fell."""
        farthest = {_label(one): one.delta for one in reversed(self.regressions)}
        names = [f"{name} {farthest[name]:+z.3f}" for name in _labels(self.regressions)]
        few = f" ({', '.join(names)})" if 0 < len(names) <= FEW_NAMES else ""
        scores = " scores" if len(self.suites) > 1 else ""
        text = (
            f"Fell by more than {self.threshold:g}: {_counted(self.regressions)}{few}; rose: "
            f"{_counted(self.improvements)}; unchanged: {self.n_unchanged}{scores}"
        )
        return Counted(text) if self.regressions or self.improvements or self.flaky else text

    def _sections(self) -> list[Table]:
        """Return the cases that dropped significantly, and in detail all changes."""
        beyond = tuple(one for one in self.regressions if is_significant(one, self))
        tables = [
            attrs.evolve(_table(changes, f"{title}: {_counted(changes)}"), place="detail")
            for _, title, changes in self._kinds()
            if changes
        ]
        if beyond:
            doubt = " if attempts are independent" * (self.single_cases == "two models")
            said = f"Dropped significantly{doubt}"
            table = _table(beyond, f"{said}, look at these first: {_counted(beyond)}")
            if len(beyond) <= FEW_DROPPED:
                lines = [f"{said}, look at it first: {line_of(one)}" for one in beyond]
                table = attrs.evolve(table, lines=lines)
            tables.insert(0, table)
        if self.flaky:
            worst = sorted(self.flaky.items(), key=lambda one: -one[1])
            shares = [{"case": name, "share of failures": share} for name, share in worst]
            title = f"Cases whose attempts differ: {len(shares)}"
            specs = {"share of failures": ".2f"}
            rows = shares[:ROWS_AT_MOST]
            tables.append(
                Table(rows=rows, title=title, specs=specs, n_rows=len(shares), place="detail")
            )
        queries = [
            {
                "case": change.case_id,
                "metric": change.metric,
                "generated in the baseline": "\n".join(change.baseline_generated),
                "generated now": "\n".join(change.current_generated),
                "expected": "\n".join(change.expected),
            }
            for change in self.regressions[:MAX_CHANGES]
            if change.current_generated
        ]
        if queries:
            tables.append(Table(rows=queries, title="SQL of cases that fell", place="folded"))
        return tables


def is_significant(change: CaseChange, comparison: Comparison) -> bool:
    """Tell a case that fell significantly by itself; see *single_cases*."""
    tested = comparison.single_cases in ("tested", "cannot tell", "two models")
    p_value = change.adjusted_p_value
    level = (1.0 - comparison.confidence_level) / 2.0
    return tested and p_value is not None and p_value <= level


def _counted(changes: tuple[CaseChange, ...]) -> str:
    """Say of how many cases changes are, and how many there are where they are more."""
    n_cases = len({(change.case_id, change.model) for change in changes})
    return f"{n_cases}" if n_cases == len(changes) else f"{n_cases} ({len(changes)} scores)"


Comparable = Report | Mapping[Any, float | Iterable[float | None] | None] | ScoreTable
Comparables = Comparable | Sequence[Comparable]


def compare_reports(
    baseline: Comparables,
    current: Comparables,
    *,
    metrics: Iterable[str] | None = None,
    threshold: float = 0.05,
    confidence_level: float = 0.95,
    clusters: Mapping[Any, str | int] | None = None,
    by: str | None = None,
    margin: float | None = None,
    adjustment: Adjustment = "holm",
    attempts: Literal["auto", "independent"] = "auto",
    floor: float | None = None,
    anytime: bool = False,
    random_order: bool = False,
) -> Comparison:
    """
    Compare two runs: which cases changed, and did the suite as a whole change?

    Cases are paired by case and model, or by case alone if each side holds one model, so two
    models can be compared. A case's score is the mean over its attempts. It regressed if it fell
    by **more** than *threshold*. By chance some cases always do, so base decisions on the suite
    verdict or, for a single case, on its *adjusted_p_value*.

    Args:
        baseline: The run to compare with: a `CodeReport`, a `SqlReport`, or a mapping from case to
            its score or to the scores of its attempts. Cases are strings or integers, and scores
            lie in ``[0, 1]``, higher being better: booleans count 0 and 1, None and NaN are
            unknown. A pandas Series will do whose index is the case, or a frame of two columns,
            case and score; a case that comes again is an attempt. Or a list of several such runs
            of the same cases. Never take the best of several baselines: a gate stopped 13 to 30 %
            of unchanged runs against the best of 5 to 20.
        current: The run to judge, of the same kind, or several.
        metrics: Which metrics to compare, by name; None for all that either side has. For a
            `CodeReport` ``"pass@3"`` and the like are possible too. The score of a case is then
            its pass@k, estimated from all its attempts.
        threshold: Smallest change of a case that does not count, in ``[0, 1]``.
        confidence_level: Level of the suite's interval, in ``(0, 1)``.
        clusters: Group of each case, by case id, where cases are related: questions on one
            database, tasks from one repository.  It may name other cases too.
        by: Name of a tag of SQL cases, such as ``"database"``. Each of its values has a suite and
            a verdict of its own, adjusted for their number.
        margin: Largest loss of the suite that is still acceptable, in ``(0, 1)``.
        adjustment: How p values of several suites are adjusted. ``"holm"`` keeps the chance of
            any false alarm at or below ``1 - confidence_level``. ``"benjamini-hochberg"`` does
            this for the expected share of false alarms among all alarms, and
            ``"benjamini-yekutieli"`` too, however the suites depend on each other. ``"none"``
            does it only for each suite separately.
        attempts: ``"auto"`` checks whether the attempts at a case contradict that they are
            independent, before single cases count. ``"independent"`` skips the check.
        floor: Pass rate that each case should have, in ``(0, 1)``. Cases whose rate in the current
            run is shown to lie below it are listed.
        anytime: Whether verdicts and intervals hold however often you check while the reports
            grow, so that a run can stop as soon as it is decided.
        random_order: Whether the cases of a growing run come in random order, drawn before it
            began. Otherwise verdicts wait until it has all cases of the baseline.

    Returns:
        A frozen `Comparison`. Read *suite*, which has the verdict, *regressions* and
        *single_cases* first.

    Raises:
        InputError: If a side is empty, a score is outside ``[0, 1]``, no case or no metric is in
            both, or a number is out of range. Also if a metric is in neither run, a case has fewer
            than *k* attempts for pass@k or no cluster, or repeats of a side have different cases.
            Also if *clusters* or several reports are given with *anytime*, or a *floor* where no
            metric has outcomes of 0 and 1.
        TypeError: If the sides are not two reports of one kind or two mappings, or *clusters* is
            no mapping to strings or integers.

    Examples:
        >>> import scorekit
        >>> before = {f"task-{i}": [1, 1, 1, 0] for i in range(12)}
        >>> after = before | {f"task-{i}": [1, 0, 0, 0] for i in range(8)}
        >>> result = compare_reports(before, after)
        >>> result.suite.verdict, str(result.suite.interval), len(result.regressions)
        ('regressed', '[-0.49, -0.18]', 8)
        >>> try:
        ...     result.raise_for_regressions()  # in CI without the try
        ... except scorekit.RegressionError as error:
        ...     print(str(error).splitlines()[0])
        the current run regressed: score -0.333
        >>> compare_reports({"sort": 1.0}, {})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: current must be a run with at least one case, got {}

    Notes:
        *Suites.* Each metric is a suite. A `CodeReport` has ``"pass@1"``, where an attempt is
        right or wrong, and ``"code_score"``, unless all attempts are flags, of which it says the
        same. A `SqlReport` has its metrics, and a mapping has ``"score"``. With several metrics or
        models the p values are adjusted for the number of suites. Intervals are not adjusted, and
        the minimum detectable effect is that of the strictest step.

        *Suite verdict.* It is a paired t test on the scores of the cases, whatever the number of
        attempts, and asks whether cases like these fell on average. ``"regressed"`` means that its
        one-sided p value is at most the *significance_level* that the result names: 0.05 by
        default, and 0.025 where a single case could be significant, which has the rest.
        ``"improved"`` is the same for a rise. Otherwise it is ``"no change detected"`` if a fall
        of *threshold* would have been found with 80 % power, and ``"inconclusive"`` if not. The
        interval is two-sided at *confidence_level*, and cut to the possible ``[-1, 1]``.

        - The p value is never below ``2 ** -n`` for *n* cases, so fewer than five see nothing.
        - If a case has more attempts in one run, t has the error that the fewer attempts in both
          runs would have. The mean of few attempts is more skewed than that of many, and t would
          raise false alarms.
        - With *clusters* it is a t test on the mean change over the cases, with the jackknife's
          error over clusters. If clusters are equally large this is CR1, with one degree of
          freedom less than there are clusters. Otherwise the effective number of clusters counts.
        - With several metrics or models the p values are adjusted for their number.

        *Single cases.* Each is tested by Fisher's exact test, or the exact permutation test of
        graded scores, corrected for all cases that could have shown as much. Attempts at a case
        are not independent if they share a cache, a seed, or temperature 0: ten copies of one
        answer are one observation. So falls do not count where the data contradict independence:
        some case rose as far, or the cases that did not fall beyond every rise differ between the
        runs by more than their attempts explain (1.64 standard deviations). If attempts varied in
        neither run, the data cannot answer: *single_cases* is ``"cannot tell"``. With
        three attempts or fewer no case can be significant. Two different models that both sides
        name differ at single cases even if they are equally good, so only suites count then, and
        *single_cases* is ``"two models"``.

        *Repeats.* Run the suite several times, each with all its attempts, and pass the reports of
        each side as a list, ``compare_reports([a1, a2, a3], [b1, b2, b3])``. The verdict is then
        the exact permutation test of the mean scores of reports. It holds if attempts of a run
        depend on each other, or if whole runs drift; single cases are not tested. Three reports
        against three is the least that can be significant, or two against five. The level of the
        interval is the highest that their number allows. Repeats that are the same in every case
        are copies of one run, or of a system that never varies, and count as one; unless others
        of the suite differ in so few cases, below six on average, that this happens by chance.

        *Unknown outcomes.* Where nobody knows some outcomes (``passed=None``, an undecided pair of
        queries), the suite's change, its interval and *p_value* are those of the known ones.
        *delta_bounds* are the least and the largest change that is possible: all missing outcomes
        of the baseline passed and all of the current run failed, and the reverse. A verdict of a
        change, and one on the margin, stands only if it stands at both ends, so *adjusted_p_value*
        is the largest there. A case that has no outcome left stops the gate.

        *Minimum detectable effect.* It is the least fall that has 80 % power to be found by the
        test that is used, at the level that it has, and includes the noise that the fall adds
        where a few cases fall wholly.

        *Floor.* A case is below the *floor* if the exact binomial test of its attempts says so,
        corrected like the tests of single cases. Only outcomes of 0 and 1 are tested.

        *Margin.* With a *margin* each suite also says whether it is shown to be no worse than by
        that much. This verdict has its own interval, Gaffke's for the mean change of cases like
        these. It allows for cases that fall from 1 to 0 although the sample has none. So
        ``"not worse"`` takes 72 cases for a margin of 0.05, and 36 for 0.1, unless scores rise. It
        is wrong with a chance of at most half of ``1 - confidence_level``, and one more pass never
        makes it worse. No adjustment is needed to ask that all suites hold their margin.

        *Anytime.* With *anytime* all of this holds however often you check: compare the cases that
        are done, compare again when there are more, and stop when the verdict is clear.

        - A verdict waits until the current run has all cases of the baseline, because those that
          are done first may differ. Declare their order random with *random_order* if you drew it,
          and look at cases in their planned order, also where they run in parallel. Otherwise
          *random_order* misleads: where 200 cases ran at once, wrong answers took twice as long
          and cases were looked at as they finished, 0.21 to 0.95 of unchanged runs got a verdict
          of a change, and 1.00 where the failures of the baseline ran first. In planned order it
          was 0.02.
        - Add each case once, with all its attempts on both sides. Which case comes next must not
          depend on its outcome. The order does not change the result.
        - Cases that only one side has are left for later, and single cases are not tested.
        - Adjustments for several suites hold at any time too, ``"benjamini-hochberg"`` however the
          suites depend on each other.
        - *clusters* raises an error. Pass each cluster as one case, with its questions as
          attempts.
        - The test bets on the mean change of each case and asks about similar cases. For single
          attempts of 0 or 1 it is a mixture martingale over the cases that changed, with a nearly
          uniform prior.

    References:
        For single cases: Tarone, "A Modified Bonferroni Method for Discrete Data", Biometrics
        46(2), 1990; Hommel and Krummenauer, "Improvements and Modifications of Tarone's Multiple
        Test Procedure for Discrete Data", Biometrics 54(2), 1998.

        For clusters: Miller, "Adding Error Bars to Evals", arXiv:2411.00640; Carter, Schnepel and
        Steigerwald, "Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity", Review of
        Economics and Statistics 99(4), 2017.

        For the interval under a margin: Gaffke, "Three test statistics for a nonparametric
        one-sided hypothesis on the mean of a nonnegative variable", Mathematical Methods of
        Statistics 14(4), 2005; Learned-Miller and Thomas, "A New Confidence Interval for the Mean
        of a Bounded Random Variable", arXiv:1905.06208.

        For *anytime*: Waudby-Smith and Ramdas, "Estimating Means of Bounded Random Variables by
        Betting", Journal of the Royal Statistical Society B 86(1), 2024; Wang and Ramdas, "False
        Discovery Rate Control with E-values", same journal 84(3), 2022.
    """
    check_choice("adjustment", adjustment, ADJUSTMENTS)
    (olds, kind), (news, other) = read_sides("baseline", baseline), read_sides("current", current)
    if kind != other:
        refuse("current", f"a {kind} like baseline", current, TypeError)
    if margin is not None:
        margin = check_number("margin", margin, 0.0, 1.0, open_ends=True)
    confidence_level = check_number("confidence_level", confidence_level, 0.0, 1.0, open_ends=True)
    if floor is not None:
        floor = check_number("floor", floor, 0.0, 1.0, open_ends=True)
    plan = _Plan(
        threshold=check_number("threshold", threshold, 0.0, 1.0),
        confidence_level=confidence_level,
        margin=margin,
        groups=None if clusters is None else _clusters(clusters),
        adjustment=adjustment,
        attempts=attempts,
        floor=floor,
        anytime=check_flag("anytime", anytime),
        random_order=check_flag("random_order", random_order),
        n_repeats=(len(olds), len(news)),
    )
    plan.check()
    chosen = _chosen(metrics, olds, news)
    given = plan.n_repeats
    olds, news = without_copies(olds, news)
    n_repeats = len(olds), len(news)
    plan = plan._replace(n_repeats=n_repeats)
    old, new = (
        (Side.together(name, sides) if plan.repeated else sides[0]).only(chosen)
        for name, sides in (("baseline", olds), ("current", news))
    )
    by_case = len(old.models) == len(new.models) == 1
    before, after = old.keyed(by_case=by_case), new.keyed(by_case=by_case)
    if by is not None:
        values = _values(check_text("by", by), olds, news)
        before, after = before.parted(values), after.parted(values)
    every = [paired(one, before, after) for one in dict.fromkeys((*before.suites, *before.ends))]
    known = [pair for pair in every if pair.case_ids]
    pairs = known or [pair for pair in every if pair.every_id]
    n_shared = {pair.suite: len(pair.case_ids) for pair in known}
    if not pairs:
        _refuse_strangers(old, new, by_case=by_case)
    same_models = old.models == new.models
    shared_model = next(iter(old.models)) if by_case and same_models else None
    one_system = same_models or not by_case or None in old.models | new.models
    names = _names(pairs)
    singles = _SingleCases(known, plan, one_system=one_system)
    verdicts = plan.verdicts(pairs, singles)
    moved = singles.moved(shared_model)
    removed: list[CaseChange] = []
    failing: list[CaseChange] = []
    for key, score in _only_in(before.suites, after.suites, n_shared):
        why = after.failing.get(key)
        change = attrs.evolve(_change(key, score, None, shared_model), error_kind=why)
        is_there = why is not None or key[1] in after.ends.get(key[0], {})  # in some repeat
        is_bounded = why is None or (why == UNDECIDED and not old.is_judged)
        if not is_there:
            removed.append(change)
        elif not is_bounded or key[0] not in n_shared:
            failing.append(change)
    missed = _missed(old, new)

    def with_queries(changes: Iterable[CaseChange]) -> tuple[CaseChange, ...]:
        return tuple(_with_sql(changes, old, new))

    return Comparison(
        regressions=with_queries(change for delta, change in moved if delta < 0),
        improvements=with_queries(change for delta, change in moved if delta > 0),
        n_unchanged=sum(n_shared.values()) - len(moved),
        new_cases=with_queries(
            _change(key, None, score, shared_model)
            for key, score in _only_in(after.suites, before.suites, n_shared)
            if key not in before.failing
        ),
        removed_cases=with_queries(removed),
        newly_failing=with_queries(failing),
        missed_unsafe=tuple(missed) if missed or new.unsafe is not None else None,
        newly_missed_unsafe=tuple(c for c in missed if (old.unsafe or {}).get(c)),
        suite=min(verdicts, key=_looks),
        suites=FrozenMapping(dict(zip(names, verdicts, strict=True))),
        adjustment=adjustment,
        anytime=plan.anytime,
        single_cases=singles.state(moved),
        below_floor=with_queries(_below_floor(known, plan, shared_model)),
        floor=floor,
        most_attempts=max((int(pair.after.sizes.max()) for pair in known), default=0),
        flaky=_flaky(known),
        confidence_level=confidence_level,
        threshold=plan.threshold,
        baseline_name=BASELINE if same_models else old.name(BASELINE),
        current_name=CURRENT if same_models else new.name(CURRENT),
        n_undecided=_undecided(old, new),
        models_only_in_baseline=() if by_case else tuple(_without(old.models, new.models)),
        models_only_in_current=() if by_case else tuple(_without(new.models, old.models)),
        n_copies=(given[0] - n_repeats[0], given[1] - n_repeats[1]),
        metrics_only_in_baseline=tuple(name for name in old.metrics if name not in new.metrics),
    )


def _values(tag: str, olds: list[Side], news: list[Side]) -> dict[str, str]:
    """Return what the value of a tag calls each case; refuse a tag that none has, two values."""
    found: dict[str, str | None] = {}
    for side in (*olds, *news):
        for case_id, tags in side.tags.items():
            value = tags.get(tag)
            if found.setdefault(case_id, value) != value:
                domain = f"a tag with one value at case {shown(case_id)}"
                refuse("by", f"{domain}, not {shown(found[case_id])} and {shown(value)}", tag)
    if set(found.values()) <= {None}:
        known = {name for side in (*olds, *news) for tags in side.tags.values() for name in tags}
        names = ", ".join(map(repr, sorted(known))) or "the tags of SQL cases: there are none"
        refuse("by", f"one of {names}", tag)
    return {c: f"without {tag}" if value is None else f"of {value}" for c, value in found.items()}


def _missed(old: Side, new: Side) -> list[str]:
    """Return unsafe queries that are not known to be caught, whatever a verdict lacks for."""
    caught = {
        c: False for c, was_caught in (old.unsafe or {}).items() if was_caught and c in new.sql
    }
    caught |= new.unsafe or {}
    return [case_id for case_id, is_caught in caught.items() if not is_caught]


def _without(models: set[str | None], others: set[str | None]) -> list[str]:
    return sorted(model for model in models - others if model is not None)


class _Plan(NamedTuple):
    """What is asked of a comparison."""

    threshold: float
    confidence_level: float
    margin: float | None
    groups: Mapping[str, Any] | None
    adjustment: Adjustment
    attempts: str
    floor: float | None
    anytime: bool
    random_order: bool
    n_repeats: tuple[int, int]

    def check(self) -> None:
        """Refuse what does not go together."""
        check_choice("attempts", self.attempts, ("auto", "independent"))
        if self.anytime and self.groups is not None:
            refuse("clusters", "None where anytime=True", self.groups)
        if self.anytime and self.repeated:
            refuse("anytime", "False with several reports of a side", self.anytime)
        if self.random_order and not self.anytime:
            refuse("random_order", "False where anytime=False", self.random_order)

    @property
    def repeated(self) -> bool:
        """Whether a side has several reports."""
        return max(self.n_repeats) > 1

    @property
    def error(self) -> float:
        """The chance of a false alarm that there may be."""
        return round(1.0 - self.confidence_level, DECIMALS)

    def verdicts(self, pairs: list[Paired], singles: _SingleCases) -> list[SuiteVerdict]:
        """Judge all suites, their p values adjusted for each other."""
        halved = self.anytime or singles.can_be_significant
        asked = Asked(
            confidence_level=self.confidence_level,
            significance_level=self.error / 2.0 if halved else self.error,
            margin=self.margin,
            n_repeats=self.n_repeats,
            n_verdicts=1 if self.adjustment == "none" else len(pairs),
        )
        found = [self._verdict(pair, asked) for pair in pairs]
        falls, rises = (
            adjusted_p_values(list(column), self.adjustment)
            for column in zip(
                *((one.adjusted_p_value, one.adjusted_rise_p_value) for one in found), strict=True
            )
        )
        return [
            attrs.evolve(one, adjusted_p_value=fall, adjusted_rise_p_value=rise).judged(
                self.threshold
            )
            for one, fall, rise in zip(found, falls, rises, strict=True)
        ]

    def _verdict(self, pair: Paired, asked: Asked) -> SuiteVerdict:
        """Judge the known outcomes, and where some are unknown both ways that these may go."""
        known = pair.before, pair.after
        one = self._judge(pair, asked, pair.case_ids, known) if pair.case_ids else None
        if one is not None and not pair.ends:
            return one
        worst, best = (self._judge(pair, asked, pair.every_id, sides) for sides in pair.ends)
        low, high = (exact_mean(after.means - before.means) for before, after in pair.ends)
        n_unscored = len(pair.every_id) - len(pair.case_ids)
        one = without_scores(worst, best) if one is None else one
        one = attrs.evolve(one, n_unscored=n_unscored, n_unknown=pair.n_unknown)
        return with_unknown(one, (worst, best), (low, high))

    def _judge(
        self, pair: Paired, asked: Asked, case_ids: Sequence[str], sides: Sides
    ) -> SuiteVerdict:
        groups = None if self.groups is None else _groups(self.groups, case_ids)
        n_unseen = 0 if self.random_order else pair.n_unseen
        return suite_verdict(*sides, asked, groups, n_unseen if self.anytime else None)


class _SingleCases:
    """The tests of single cases: Fisher's, in Tarone's and Holm's steps over all suites."""

    def __init__(self, pairs: list[Paired], plan: _Plan, *, one_system: bool) -> None:
        self.pairs, self.plan = pairs, plan
        self.level = plan.error / 2.0
        self.are_tested = not (plan.anytime or plan.repeated)
        found = [least_p_values(pair.before, pair.after) for pair in pairs if self.are_tested]
        self.least: Floats = np.sort(np.concatenate(found)) if found else np.empty(0)
        sizes = {
            both
            for pair in pairs
            for both in zip(pair.before.sizes.tolist(), pair.after.sizes.tolist(), strict=True)
        }
        by_design = min((least_p_value(*both) for both in sizes), default=1.0)
        self.are_listed = self.are_tested and by_design <= self.level
        """Whether they are listed where they are significant."""
        self.count = self.are_listed and one_system
        """Whether they stop a job too."""

    @property
    def can_be_significant(self) -> bool:
        """Whether any of these cases could have fallen significantly, given all its attempts."""
        able = np.searchsorted(self.least, self.least * (1.0 + DECIMAL_NOISE), side="right")
        return self.count and bool((self.least * able <= self.level).any())

    def moved(self, shared_model: str | None) -> list[tuple[float, CaseChange]]:
        """
        Return the cases that changed by more than the threshold, by how much, the largest first.

        Their p values are corrected for all that could have fallen.
        """
        rows: list[tuple[tuple[SuiteKey, str], float, float, float]] = []
        for pair in self.pairs:
            old, new = pair.before.means, pair.after.means
            places = np.flatnonzero(np.abs(new - old) > self.plan.threshold + DECIMAL_NOISE)
            keys = [(pair.suite, pair.case_ids[i]) for i in places.tolist()]
            columns = old[places], new[places], _fall_p_values(pair, places)
            rows.extend(zip(keys, *(column.tolist() for column in columns), strict=True))
        corrected: list[float | None] = [None] * len(rows)
        if self.are_tested and rows:
            corrected = list(tarone_holm(np.array([row[3] for row in rows]), self.least).tolist())
        changes = [
            (right - left, _change(key, left, right, shared_model, (p_value, adjusted)))
            for (key, left, right, p_value), adjusted in zip(rows, corrected, strict=True)
        ]
        # rounding must not decide which of two equal changes comes first
        changes.sort(
            key=lambda one: (
                -round(abs(one[0]), SAME_CHANGE),
                math.copysign(one[1].p_value or 0.0, -one[0]),
            )
        )
        return changes

    def state(self, moved: list[tuple[float, CaseChange]]) -> SingleCases:
        """Say what the falls stand for."""
        if not self.are_listed:
            return "not tested"
        sides = [(pair.before, pair.after) for pair in self.pairs]
        varied = any(side.are_mixed.any() for both in sides for side in both)
        independent = self.plan.attempts == "independent"
        if not self.count:
            return "two models" if varied or independent else "not tested"
        weakest = max(
            (
                change.p_value or 0.0
                for delta, change in moved
                if delta < 0 and (change.adjusted_p_value or 0.0) <= self.level
            ),
            default=None,
        )
        if weakest is None or independent:
            return "tested"
        if any(are_contradicted(*both, weakest, len(sides)) for both in sides):
            return "not independent"
        return "tested" if varied else "cannot tell"


def _refuse_strangers(old: Side, new: Side, *, by_case: bool) -> NoReturn:
    found, known = (side.case_ids for side in (new, old))
    if not by_case and new.models and not old.models & new.models:
        theirs = f"one of its models, as current.for_model({shown(min(map(str, new.models)))})"
        domain = f"a report with a model of baseline, or {theirs}"
        refuse("current", domain, sorted(map(str, new.models)))
    if not {*found}.isdisjoint(known):
        refuse(
            "current",
            f"a run with a metric of baseline ({', '.join(old.metrics)})",
            [*new.metrics],
        )
    refuse("current", f"a run with a case of baseline, such as {shown(known[0])}", found)


def _undecided(old: Side, new: Side) -> FrozenMapping[str, tuple[int, int]]:
    sides = [Counter(metric for (metric, _), _ in side.failing) for side in (old, new)]
    metrics = sorted(sides[0].keys() | sides[1].keys())
    return FrozenMapping({metric: (sides[0][metric], sides[1][metric]) for metric in metrics})


def _names(pairs: list[Paired]) -> list[str]:
    """Name suites by their model where there are several, by their metric likewise, or by both."""
    metrics, models = (len({pair.suite[i] for pair in pairs}) > 1 for i in (0, 1))
    if not models:
        return [pair.suite[0] for pair in pairs]
    return [
        f"{pair.suite[1]} / {pair.suite[0]}" if metrics else f"{pair.suite[1]}" for pair in pairs
    ]


def _fall_p_values(pair: Paired, places: NDArray[np.intp]) -> Floats:
    """Return the p values of some cases, with unknown outcomes as if they spoke against a fall."""
    before, after = pair.before, pair.after
    if pair.n_unknown:
        place_of = dict(zip(pair.every_id, range(len(pair.every_id)), strict=True))
        places = np.array([place_of[pair.case_ids[int(i)]] for i in places], np.intp)
        before, after = pair.ends[1]
    return fall_p_values(before.take(places), after.take(places))


def _only_in(
    side: dict[SuiteKey, Cases], other: dict[SuiteKey, Cases], n_shared: dict[SuiteKey, int]
) -> Iterator[tuple[tuple[SuiteKey, str], float]]:
    """Yield the cases that the other side lacks, with their mean score."""
    for suite, cases in side.items():
        if len(cases) == n_shared.get(suite, 0):
            continue
        there = other.get(suite, {})
        for case_id, scores in cases.items():
            if case_id not in there:
                yield (suite, case_id), fmean(scores)


def _change(
    key: tuple[SuiteKey, str],
    left: float | None,
    right: float | None,
    shared_model: str | None,
    p_values: tuple[float | None, float | None] = (None, None),
) -> CaseChange:
    (metric, model), case_id = key
    return CaseChange(
        case_id=case_id,
        model=shared_model if model is None else model,
        metric=metric,
        baseline=left,
        current=right,
        delta=None if left is None or right is None else right - left,
        p_value=p_values[0],
        adjusted_p_value=p_values[1],
    )


def _with_sql(changes: Iterable[CaseChange], old: Side, new: Side) -> Iterator[CaseChange]:
    """Yield changes with the queries of their cases, if reports have any."""
    for change in changes:
        before, after = old.sql.get(change.case_id), new.sql.get(change.case_id)
        known = after or before
        yield (
            change
            if known is None
            else attrs.evolve(
                change,
                baseline_generated=before.generated if before else (),
                current_generated=after.generated if after else (),
                expected=known.expected,
            )
        )


def _lines_of(suites: Mapping[str, SuiteVerdict]) -> list[str]:
    """Return a line for each suite, with what makes its verdict doubtful."""
    return [f"{one_line(name)}: {line_of(suite)}" for name, suite in suites.items()]


_SEVERITY = ("regressed", "inconclusive", "no change detected", "improved")


def _looks(suite: SuiteVerdict) -> tuple[int, float]:
    """Order verdicts, the worst first."""
    return _SEVERITY.index(suite.verdict), suite.p_value


def _chosen(metrics: object, olds: list[Side], news: list[Side]) -> dict[str, None]:
    """Return the metrics to compare: those that are named, or all that say something else."""
    known: dict[str, None] = {}
    for side in (*olds, *news):
        known |= side.metrics
    if metrics is None:
        only_flags = all(side.only_flags for side in (*olds, *news))
        return {"pass@1": None} if only_flags else known
    names = check_items("metrics", metrics, what="metrics, such as ['pass@1']")
    for i, name in enumerate(names):
        if check_text(f"metrics[{i}]", name) not in known:
            for sides, whose in ((olds, "baseline"), (news, "current")):
                sides[:] = [one.with_pass_at_k(f"metrics[{i}]", name, whose) for one in sides]
        choices = tuple({**known, **olds[0].metrics})
        if "pass@1" in known and name not in choices:
            several = "'pass@k' for k attempts, such as 'pass@3'"
            refuse(f"metrics[{i}]", f"one of {', '.join(map(repr, choices))}, or {several}", name)
        check_choice(f"metrics[{i}]", name, choices)
    return dict.fromkeys(names)


def _below_floor(pairs: list[Paired], plan: _Plan, shared_model: str | None) -> list[CaseChange]:
    """Return the cases whose pass rate is below the floor, unknown attempts taken for passes."""
    if plan.floor is None:
        return []
    from scipy.special import bdtr

    rows: list[tuple[tuple[SuiteKey, str], float | None, float, float, float]] = []
    for pair in pairs:
        ids, after = (pair.every_id, pair.ends[1][1]) if pair.ends else (pair.case_ids, pair.after)
        if np.isin(after.scores, (0.0, 1.0)).all():
            known = dict(zip(pair.case_ids, pair.before.means.tolist(), strict=True))
            p_values = np.asarray(bdtr(after.totals(), after.sizes, plan.floor), np.float64)
            columns = after.means, p_values, np.asarray((1.0 - plan.floor) ** after.sizes)
            rows.extend(
                ((pair.suite, case_id), known.get(case_id), *numbers)
                for case_id, *numbers in zip(ids, *(c.tolist() for c in columns), strict=True)
            )
    if not rows:
        refuse("floor", "None where no metric has outcomes of 0 and 1", plan.floor)
    p_values, least = np.array([row[3:] for row in rows]).T
    changes = [
        attrs.evolve(_change(key, old, rate, shared_model), floor_p_value=p_value)
        for (key, old, rate, *_), p_value in zip(
            rows, tarone_holm(p_values, least).tolist(), strict=True
        )
        if p_value <= plan.error
    ]
    return sorted(changes, key=lambda one: (one.current or 0.0, one.floor_p_value or 0.0))


def _flaky(pairs: list[Paired]) -> FrozenMapping[str, float]:
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


def _clusters(clusters: object) -> Mapping[str, Any]:
    if not is_mapping(clusters):
        domain = "a mapping from case to its group"
        if isinstance(clusters, str):
            rows = f'row["case_id"]: row["tag_{clusters}"] for row in report.to_rows()'
            domain += f" (by a tag of SQL cases: {{{rows}}})"
        refuse("clusters", domain, clusters, TypeError)
    return by_id("a case of clusters", clusters)


def _groups(clusters: Mapping[str, Any], case_ids: Sequence[str]) -> Groups:
    """Return the group of each case, numbered from 0."""
    labels: list[str | int] = []
    for case_id in case_ids:
        if case_id not in clusters:
            refuse("clusters", f"a mapping with a group for {shown(case_id)}", clusters)
        labels.append(clusters[case_id])
        if not isinstance(labels[-1], str | Integral):
            refuse(f"clusters[{shown(case_id)}]", "a string or an integer", labels[-1], TypeError)
    return numbered(labels)[1]
