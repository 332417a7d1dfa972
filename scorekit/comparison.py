"""Two reports -> what changed per case, and whether the suite as a whole got worse."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import attrs

from scorekit._comparison.cases import (
    BelowFloor,
    Moved,
    SingleCases,
    below_floor,
    flaky,
    judge_cases,
)
from scorekit._comparison.missing import Missing, Shift
from scorekit._comparison.pairs import Runs, names_of, with_groups
from scorekit._comparison.plan import DECIMALS, Plan
from scorekit._comparison.rulers import measured_alike
from scorekit._comparison.suites import by_cause, judge_suites
from scorekit._comparison.versions import read_table
from scorekit._comparison.words import ALONE, COPIES, GO_ON, MISSING, ONE_REPORT, REMEDY, RESCORE
from scorekit._core.checks import check_choice, check_flag
from scorekit._core.frames import ScoreTable
from scorekit._core.mappings import FrozenMapping
from scorekit._core.text import and_more
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
from scorekit._stats.exact_tests import least_p_value
from scorekit._stats.sides import Paired
from scorekit._stats.single_cases import FEWEST
from scorekit.errors import CannotSeeError, RegressionError, one_line, refuse
from scorekit.records import UNDECIDED, Record, Report, SuiteKey, listing
from scorekit.rulers import Ruler, RulerChange
from scorekit.verdicts import SUITE_SPECS, SuiteVerdict, p_text

MAX_CHANGES = 20
"""Changes of each kind that a text lists before it only counts them."""

MAX_NAMES = 5
"""Names in one sentence of a message."""

FEW_NAMES = 3
"""Names behind a count in a text."""

MAX_SUITES = 6
"""Verdicts that a text lists before it only counts them."""

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
    Counted for all cases and metrics that did not fall and could have shown as much, either way.

    None where a side is missing or has fewer than three attempts, and in a comparison of repeats,
    or one that is valid at any time: how many cases there will be is not known there.
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
    n_attempts: tuple[int, int] | None = None
    """Attempts with a known outcome on either side; None where a side is missing."""
    n_passed: tuple[int, int] | None = None
    """Those that passed; None where a side is missing, or a score is neither 0 nor 1."""
    is_significant: bool = False
    """Whether the case dropped significantly: by more than the threshold, with an
    *adjusted_p_value* of at most ``1 - confidence_level``, and no case rose as far."""

    def _line(self) -> str:
        p = self.adjusted_p_value
        known = "" if p is None else f", {p_text(p)}"
        change = "" if self.delta is None else f" ({self.delta:+z.3f}{known})"
        return f"{_label(self)} in {self.metric}: {self.fell}{change}"

    @property
    def fell(self) -> str:
        """Say what the case scored before and now."""
        means = ("none" if one is None else f"{one:.3f}" for one in (self.baseline, self.current))
        if self.n_passed is not None and self.n_attempts is not None:
            counts = zip(self.n_passed, self.n_attempts, strict=True)
            means = (f"{passed} of {n}" for passed, n in counts)
        return f"from {' to '.join(means)}"


def listed(names: Sequence[str], most: int = MAX_NAMES) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" {and_more(len(names) - most)}" if len(names) > most else ""
    return f"{', '.join(map(one_line, names[:most]))}{more}"


class Reason(NamedTuple):
    """Why a job stops."""

    head: str
    """In a few words, for the first line."""
    details: Sequence[str] = ()
    """A line each."""
    is_suite: bool = False
    """Whether it is that suites regressed."""


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


Adjustment = Literal["all", "none"]


@attrs.frozen(kw_only=True, repr=False)
class Comparison(Report):
    """Result of `compare_reports`: the changes worst first, the counts, the suite verdict."""

    version: ClassVar[int] = 3

    suite: SuiteVerdict
    """The verdict on the suite; of several the one that looks worst."""
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
    outcome is missing (``passed=None``). They stop a job if *lost_cases*.

    A pair of queries that is undecided because there is no judge is none of them, unless a judge
    decided some of the baseline or the metric has no verdict."""
    missed_unsafe: tuple[str, ...] | None
    """Unsafe queries that the current run does not catch, at one attempt or more; None where its
    safety was not scored."""
    newly_missed_unsafe: tuple[str, ...]
    """Those of them that the baseline caught at every attempt."""
    suites: FrozenMapping[str, SuiteVerdict]
    """The verdict on each metric, on each model where there are several, or on each
    ``"model / metric"`` where there are several of both; then that on each group of *by*."""
    groups: tuple[str, ...]
    """Names of the *suites* that are groups."""
    adjustment: Adjustment
    """Whether the intervals of all suites hold at once, or each for itself."""
    anytime: bool
    """Whether the verdicts hold however often and whenever one looks; single cases are then not
    tested."""
    single_cases: SingleCases
    """
    What falls of single cases say.

    ``"tested"``: they stop a job where they are significant. ``"cannot tell"``: some are, but the
    baseline does not show that attempts at a case are independent: they never varied there, or
    cases rose by more than attempts explain. ``"two models"``: those that are significant are
    listed, and stop no job, as two models are good at different cases. ``"not tested"``: with
    *anytime*, with repeats, and where no case has enough attempts."""
    n_tested: int
    """Cases with enough attempts to be tested one by one, counted once for each suite."""
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
    missing_shares: tuple[float, float]
    """The share of outcomes that are missing in the baseline and in the current run: unknown, or
    of attempts that most other cases have."""
    missing: Shift
    """Whether that share changed by more than chance: ``"none"``, ``"rose"``, which stops a job,
    or ``"fell"``. If it did, a verdict has to hold whatever the missing outcomes were."""
    lost_cases: bool
    """Whether the cases that newly have no score stop a job: they are more than chance explains,
    as others had none before, or as large a share of the outcomes was missing."""
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
    ruler: RulerChange | None = None
    """What the two runs were measured with otherwise, and what that changed; None where neither
    says what it was measured with."""
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
        a case dropped significantly. If nothing changed, it raises with a chance of about
        ``1 - confidence_level``. A worse outcome of the current run never turns a job that stops
        into one that passes.

        It never passes for want of sight. *Cannot tell*: single cases fell, and the baseline does
        not show that attempts at a case are independent, as where all are copies of one answer.
        Then it raises, and the message says what to do. *Cannot see*: there are so few cases,
        attempts or repeats that no outcome could be significant. Then it raises `CannotSeeError`
        at the first run, which is no regression. A large minimum detectable effect never raises.
        The last line of the printed comparison says what this does without options.

        Whatever *on* is, it also raises at an unsafe query that the baseline caught and the
        current run misses, and unless *allow_missing* where cases are missing, where they newly
        have no score by more than chance, and where a larger share of the outcomes is
        missing than before. Cases that a run still has to do (*anytime*) are pending, not missing.

        Args:
            on: ``"evidence"`` as above. ``"suite"``: only a suite verdict of ``"regressed"``; that
                single cases fell is not tested. ``"cases"``: any case that fell by more than the
                threshold, without a test, for outcomes that never vary. ``"margin"``: every suite
                that is not shown to be no worse than by the margin. ``"worse"``: any suite that is
                shown to be worse than by the margin. ``"floor"``: any case that is shown to be
                below the floor, whatever the baseline was.
            require_safety: Whether to raise at any missed unsafe query, even if the baseline
                missed it too.
            allow_missing: Whether cases, and outcomes, of the baseline may be missing from the
                current run. By default they raise too, so nobody can pass by deleting a failing
                case or its outcomes.
            cannot_tell: ``"pass"`` goes on where only single cases fell that may be copies.
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
            heads = "; ".join(reason.head for reason in reasons)
            raise error("\n".join([f"{self._names}{heads}", *below]))

    # The gate: what stops a job.

    def _reasons(
        self, on: str, cannot_tell: str, *, require_safety: bool, allow_missing: bool
    ) -> list[Reason]:
        """Return what stops a job that asks for this, but that it cannot see."""
        reasons = list(self._losses(on, cannot_tell))
        if cannot_tell == "stop" and self.ruler is not None and self.ruler.too_few:
            left = f"{self.ruler.n_left} of {self.ruler.n_cases} cases were measured alike"
            reasons.append(Reason(f"cannot tell: {left}", [self.ruler.said, RESCORE]))
        missed = self.newly_missed_unsafe
        if require_safety:
            missed = self.missed_unsafe or ()
        if missed:
            verb = "not caught" if require_safety else "no longer caught"
            reasons.append(_named("unsafe query", verb, missed))
        if not allow_missing:
            if self.removed_cases and not self.anytime:
                reasons.extend(self._missing())
            if self.newly_failing and self.lost_cases:
                reasons.append(self._failing())
            if self.missing == "rose":
                old, new = map(_percent, self.missing_shares)
                head = f"more outcomes are missing than before: {new} against {old}"
                reasons.append(Reason(head, [MISSING]))
        return reasons

    def _losses(self, on: str, cannot_tell: str) -> Iterator[Reason]:
        """Yield what stops a job that asks for this, of outcomes that are known."""
        if on == "cases" and self.regressions:
            head = counted(len(_labels(self.regressions)), "case", self._fell)
            yield Reason(head, self._lines_of(self.suites))
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
            yield self._of_suites(stopping)
        if on in ("margin", "worse"):
            yield from self._beyond_margin(on)
        if on == "evidence" and (fallen := self._dropped()):
            if self.single_cases == "tested":
                head = counted(len(fallen), "case", " dropped significantly")
                yield Reason(f"{head}: {listed(fallen, FEW_NAMES)}", [ONE_REPORT])
            elif self.single_cases == "cannot tell" and cannot_tell == "stop" and not stopping:
                head = f"cannot tell: {counted(len(fallen), 'case', ' fell')}"
                why = "the baseline does not show that attempts are independent"
                yield Reason(f"{head}, {listed(fallen, FEW_NAMES)}, and {why}", [REMEDY])

    def _of_suites(self, stopping: Mapping[str, SuiteVerdict]) -> Reason:
        """Return that suites regressed; of one the whole sentence."""
        if len(self.suites) == 1:
            return Reason(line_of(self.suite), sheet_of(self.suite).notes, is_suite=True)
        fallen = [f"{name} {suite.delta:+z.3f}" for name, suite in stopping.items()]
        return Reason(f"regressed: {listed(fallen)}", self._lines_of(stopping), is_suite=True)

    def _beyond_margin(self, on: str) -> Iterator[Reason]:
        """Yield the suites that do not hold the margin, or are shown not to."""
        verdicts = ("undecided", "worse") if on == "margin" else ("worse",)
        found = {n: one for n, one in self.suites.items() if one.within_margin in verdicts}
        if found:
            head = "not shown to hold the margin"
            if on == "worse":
                head = "shown to be worse than by the margin"
            yield Reason(
                f"{listed(list(found))} {head} of {self.suite.limit:g}", self._lines_of(found)
            )

    def _dropped(self) -> list[str]:
        """Return each case that dropped significantly, by its most certain metric."""
        fallen: dict[str, tuple[float, str]] = {}
        for change in self.regressions:
            if change.is_significant and change.adjusted_p_value is not None:
                p_value, name = change.adjusted_p_value, _label(change)
                if p_value < fallen.get(name, (2.0, ""))[0]:
                    in_ = f" in {change.metric}" if self._several_metrics else ""
                    fallen[name] = p_value, f"{name}{in_} {change.fell} ({p_text(p_value)})"
        return [text for _, text in fallen.values()]

    @property
    def _several_metrics(self) -> bool:
        return len({one.metric for one in (*self.regressions, *self.improvements)}) > 1

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
            level = error / 2.0 / self.suite.n_suites
            if 1.0 - 2.0 * level ** (1.0 / max(*n_groups, 1)) >= -self.suite.limit:
                few = "even if all cases fall, too few show more than the margin of"
                return f"{few} {self.suite.limit:g}"
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
        error = 1.0 - self.confidence_level
        enough = next(n for n in range(FEWEST, 64) if least_p_value(n, n) <= error * (1.0 + 1e-9))
        return f", or make {enough} attempts at each case in both runs"

    def _check_question(self, on: str) -> None:
        margin = self.suite.margin
        needed = {"margin": margin, "worse": margin, "floor": self.floor}
        check_choice("on", on, ("evidence", "cases", "suite", *needed))
        if needed.get(on, 1.0) is None:
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

    @property
    def _names(self) -> str:
        """What is compared with what, where it has names."""
        if not self._two_models:
            return ""
        return f"{one_line(self.current_name)} compared with {one_line(self.baseline_name)}: "

    # The sheet: what every rendering shows.

    def _sheet(self) -> Sheet:
        first, *others = self._findings()
        ruler = self.ruler or RulerChange()
        return Sheet(
            f"Comparison of {one_line(self.current_name)} with {one_line(self.baseline_name)}",
            f"{self._names}{ruler.lead}{first}",
            (
                *others,
                self._table_of_suites(),
                *ruler.remarks(),
                *self._sections(),
                *self._closing(),
                self._decision(),
            ),
        )

    def _findings(self) -> list[str]:
        """Return what was found, a sentence each, what stops a job first."""
        reasons = self._default_reasons()
        found = [blind] if (blind := self._blind("evidence")) else []
        of_suites = [line_of(self.suite), *sheet_of(self.suite).notes]
        if len(self.suites) > 1:
            of_suites = [
                self._verdicts(),
                *self._groups_that_fell(),
                *self._blind_suites(blind),
                *self._needed(),
            ]
        elif blind:
            of_suites = [line for line in of_suites if not line.startswith("cannot see")]
        is_first = self.suite.verdict == "regressed" or not (found or reasons)
        found += of_suites if is_first else []
        for reason in reasons:
            if not reason.is_suite:
                found += [
                    reason.head,
                    *(one for one in reason.details if one in (ONE_REPORT, REMEDY)),
                ]
        return found + ([] if is_first else of_suites)

    def _default_reasons(self) -> list[Reason]:
        return self._reasons("evidence", "stop", require_safety=False, allow_missing=False)

    def _verdicts(self) -> str:
        """Say which suites have which verdict, the worst first."""
        verdicts: dict[str, list[str]] = {}
        for name, one in self._ordered():
            verdicts.setdefault(one.verdict, []).append(name)
        return "; ".join(f"{one}: {listed(names, FEW_NAMES)}" for one, names in verdicts.items())

    def _groups_that_fell(self) -> list[str]:
        """Name the groups that fell while no whole suite did."""
        fell = [name for name, one in self.suites.items() if one.verdict == "regressed"]
        if not fell or not self.groups or not {*fell} <= {*self.groups}:
            return []
        return [f"{listed(fell, FEW_NAMES)} regressed, and the whole did not"]

    def _needed(self) -> list[str]:
        """Say what the cases needed are for, where a table has some."""
        rows = [row_of(suite)["cases needed"] for suite in self.suites.values()]
        if not any(rows):
            return []
        limit = f"a loss of {self.suite.limit:g} where it is smaller"
        return [f"cases needed: about so many would show such a change, or {limit}"]

    def _blind_suites(self, blind: str) -> list[str]:
        """Name the suites of which no loss could be seen, where not all are."""
        names = [name for name, one in self.suites.items() if one.cannot_see]
        if blind or not names:
            return []
        whose = [f"{name} ({self.suites[name].cannot_see})" for name in names]
        return [f"cannot see a loss of {listed(whose, FEW_NAMES)}"]

    def _ordered(self) -> list[tuple[str, SuiteVerdict]]:
        return sorted(self.suites.items(), key=lambda item: _looks(item[1]))

    def _table_of_suites(self) -> Table:
        """Return a row for each suite, the worst first; a text has one in a sentence."""
        return Table(
            rows=[
                {
                    "suite": name,
                    **row_of(suite),
                    " ": Scale.of(suite.delta, suite.interval, (-1.0, 1.0)),
                }
                for name, suite in self._ordered()
            ],
            specs=SUITE_SPECS,
            lines=None if len(self.suites) > 1 else (),
            most=MAX_SUITES,
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
        """Say whether the gate stops without options, and of several suites why."""
        reasons = self._default_reasons()
        if self._blind("evidence") and not reasons:
            return f"the gate stops (CannotSeeError); {GO_ON}"
        if not reasons:
            return f"the gate passes{ALONE * self._two_models}"
        several = len(self.suites) > 1
        heads = [one.head for one in reasons if several and one.is_suite]
        return f"the gate stops{': ' * bool(heads)}{'; '.join(heads)}"

    def _closing(self) -> list[str | Counted]:
        lines: list[str | Counted] = []
        if missed := self.newly_missed_unsafe:
            lines.append(f"no longer caught: {listed(missed)}")
        lines.append(self._moves())
        lines += [
            f"{title}: {_counted(changes)} ({listed(_labels(changes), FEW_NAMES)})"
            for _, title, changes in self._kinds()[2:]
            if changes
        ]
        lines += self._left_out()
        lines += self._known_only()
        for models, where in (
            (self.models_only_in_baseline, "the baseline"),
            (self.models_only_in_current, "the current run"),
        ):
            if models:
                lines.append(f"Models only in {where}, not compared: {listed(models)}")
        lines += self._copies()
        if self.anytime:
            lines.append("Valid at any time, however often one looks; single cases are not tested")
        return lines

    def _known_only(self) -> list[str]:
        """Say what missing outcomes there are, and which ones verdicts are of."""
        old, new = self.missing_shares
        if not old and not new:
            return []
        found = f"{_percent(new)} of the outcomes are missing, {_percent(old)} before"
        if self.missing == "none":
            return [f"{found}, no more than chance explains: verdicts are of the known ones"]
        return [f"{found}: verdicts hold whatever they were"]

    def _moves(self) -> str | Counted:
        """Count the cases that fell, rose and did neither; name a few that fell."""
        farthest = {_label(one): one.delta for one in reversed(self.regressions)}
        names = [f"{name} {farthest[name]:+z.3f}" for name in _labels(self.regressions)]
        few = [", ".join(names)] if 0 < len(names) <= FEW_NAMES else []
        if self.single_cases != "not tested" and self.regressions:
            few.append(f"{len(self._dropped()) or 'none'} significantly")
        of_them = f" ({'; '.join(few)})" if few else ""
        scores = " scores" if len(self.suites) > 1 else ""
        text = (
            f"cases: {_counted(self.regressions)}{self._fell}{of_them}, "
            f"{_counted(self.improvements)} rose, {self.n_unchanged}{scores} did not"
        )
        return Counted(text) if self.regressions or self.improvements or self.flaky else text

    def _sections(self) -> list[Table]:
        """Return the cases that dropped significantly, and in detail all changes."""
        beyond = tuple(one for one in self.regressions if one.is_significant)
        tables = [
            attrs.evolve(_table(changes, f"{title}: {_counted(changes)}"), place="detail")
            for _, title, changes in self._kinds()
            if changes
        ]
        if beyond:
            two = self.single_cases == "two models"
            doubt = " if attempts are independent" * two
            said = f"Dropped significantly{doubt}, look at these first: {_counted(beyond)}"
            in_words = len(beyond) <= FEW_NAMES and not two  # a text has named these
            lines = () if in_words else None
            tables.insert(0, attrs.evolve(_table(beyond, said, MAX_NAMES), lines=lines))
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

    def _lines_of(self, suites: Mapping[str, SuiteVerdict]) -> list[str]:
        """Return a line for each suite, with its margin where there is one."""
        return [
            f"{one_line(name)}: {'; '.join([line_of(one), *sheet_of(one).notes[:1]])}"
            if one.margin is not None
            else f"{one_line(name)}: {line_of(one)}"
            for name, one in suites.items()
        ]


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"


def _counted(changes: tuple[CaseChange, ...]) -> str:
    """Say of how many cases changes are, and how many there are where they are more."""
    n_cases = len({(change.case_id, change.model) for change in changes})
    return f"{n_cases}" if n_cases == len(changes) else f"{n_cases} ({len(changes)} scores)"


_SEVERITY = ("regressed", "inconclusive", "no change detected", "improved")


def _looks(suite: SuiteVerdict) -> tuple[int, float]:
    """Order verdicts, the worst first: the surest fall, and the surest rise last."""
    sureness = suite.p_value if suite.delta < 0.0 else 2.0 - suite.p_value
    return _SEVERITY.index(suite.verdict), sureness


ScoresByCase = Mapping[Any, float | Iterable[float | None] | None]
Comparable = Report | ScoresByCase | Mapping[Any, ScoresByCase] | ScoreTable
Comparables = Comparable | Sequence[Comparable]


def compare_reports(
    baseline: Comparables,
    current: Comparables,
    *,
    metrics: Iterable[str] | None = None,
    threshold: float = 0.05,
    confidence_level: float = 0.95,
    clusters: Mapping[Any, str | int] | None = None,
    by: str | Mapping[Any, str | int] | Sequence[str | int] | None = None,
    margin: float | None = None,
    adjustment: Adjustment = "all",
    attempts: Literal["auto", "fixed", "independent"] = "auto",
    floor: float | None = None,
    anytime: bool = False,
    random_order: bool = False,
    ruler: Literal["common", "refuse", "ignore"] = "common",
    rulers: tuple[
        Mapping[str, str | float | None] | Ruler, Mapping[str, str | float | None] | Ruler
    ]
    | None = None,
    rescored: Comparable | None = None,
) -> Comparison:
    """
    Compare two runs: which cases changed, and did the suite as a whole change?

    Cases are paired by case and model, or by case alone if each side holds one model, so two
    models can be compared. A case's score is the mean over its attempts. It regressed if it fell
    by **more** than *threshold*. By chance some cases always do, so base decisions on the suite
    verdict or, for a single case, on *is_significant*.

    Args:
        baseline: The run to compare with: a `CodeReport`, a `SqlReport`, or a mapping from case to
            its score or to the scores of its attempts. Cases are strings or integers, and scores
            lie in ``[0, 1]``, higher being better: booleans count 0 and 1, None and NaN are
            unknown. A pandas Series will do whose index is the case, or a frame of two columns,
            case and score; a case that comes again is an attempt. Of several metrics a mapping from
            metric to such a mapping. Or a list of several such runs of the same cases. Never take
            the best of several baselines: a gate stopped 10 to 22 % of unchanged runs against the
            best of 5 to 20.
        current: The run to judge, of the same kind, or several.
        metrics: Which metrics to compare, by name; None for all that either side has. Of attempts
            that are right or wrong ``"pass@3"``, ``"pass^3"`` and the like are possible too: the
            chance that one of three is right, or that all are. The score of a case is then that,
            estimated from all its attempts.
        threshold: Smallest change of a case that does not count, in ``[0, 1]``.
        confidence_level: 1 minus the chance of a false alarm, in ``(0, 1)``: the level of the
            intervals that decide, and of single cases.
        clusters: Group of each case, by case id, where cases are related: questions on one
            database, tasks from one repository.  It may name other cases too.
        by: Groups that have a verdict of their own, beside the whole: the name of a tag of SQL
            cases, a mapping from case to group, or a label for each case of the baseline, in
            their order. All are adjusted together.
        margin: Largest loss of the suite that is still acceptable, in ``(0, 1)``.
        adjustment: ``"all"``: the intervals of all suites hold at once, each at the level
            ``1 - a / m`` for *m* suites, and p values count *m* times, so that the chance of any
            false alarm is at most ``a = 1 - confidence_level``. ``"none"``: each by itself.
        attempts: ``"auto"``: numbers of attempts that hang on outcomes are looked for, and whether
            the baseline shows that attempts at a case are independent. ``"fixed"``: the numbers
            were fixed beforehand. ``"independent"``: that, and attempts are independent.
        floor: Pass rate that each case should have, in ``(0, 1)``. Cases whose rate in the current
            run is shown to lie below it are listed.
        anytime: Whether verdicts and intervals hold however often you check while the reports
            grow, so that a run can stop as soon as it is decided.
        random_order: Whether the cases of a growing run come in random order, drawn before it
            began. Otherwise verdicts wait until it has all cases of the baseline.
        ruler: What to do where both runs were not measured alike, as with other references,
            options or another judge. ``"common"``: compare the cases that were, and stop as
            *cannot tell* where these are fewer than half. ``"refuse"``: raise. ``"ignore"``:
            compare all the same, and say so.
        rulers: What two mappings were measured with, as mappings from names to text, such as
            ``{"judge": "x", "rubric": "v2"}``, None where it is not known. Reports know it; of
            the run of a harness name what its file does not say, such as the judge: its *ruler*
            lists that as *unknown*.
        rescored: Some of the baseline's answers, measured with today's ruler: a report, as
            `rescore` makes one, or a mapping where the runs are. They tell the part of a change
            that the ruler makes, so that the verdict is on the system.

    Returns:
        A frozen `Comparison`. Read *suite*, which has the verdict, *regressions* and
        *single_cases* first.

    Raises:
        InputError: If a side is empty, a score is outside ``[0, 1]``, no case or no metric is in
            both, or a number is out of range. Also if a metric is in neither run, a case has fewer
            than *k* attempts for pass@k or no cluster or group, repeats of a side have different
            cases, or attempts went on until the first pass. Also if *clusters* or several reports
            are given with *anytime*, or a *floor* where no metric has outcomes of 0 and 1.
        TypeError: If the sides are not two reports of one kind or two mappings, or *clusters* or
            *by* is no mapping to strings or integers.

    Examples:
        >>> import scorekit
        >>> before = {f"task-{i}": [1, 1, 1, 0] for i in range(12)}
        >>> after = before | {f"task-{i}": [1, 0, 0, 0] for i in range(8)}
        >>> result = compare_reports(before, after)
        >>> result.suite.verdict, str(result.suite.interval), len(result.regressions)
        ('regressed', '[-0.54, -0.18]', 8)
        >>> try:
        ...     result.raise_for_regressions()  # in CI without the try
        ... except scorekit.RegressionError as error:
        ...     print(str(error).splitlines()[0])
        regressed: 0.750 -> 0.417, a loss of 0.333, 95 % interval [-0.537, -0.177] lies below 0 (12 cases, p = 0.00066)
        >>> compare_reports({"sort": 1.0}, {})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: current must be a run with at least one case, got {}

    Notes:
        *Suites.* Each metric is a suite. A `CodeReport` has ``"pass@1"``, where an attempt is
        right or wrong, and ``"code_score"``, unless all attempts are flags, of which it says the
        same. A `SqlReport` has its metrics, and a mapping has ``"score"``, or its own metrics.

        *Suite verdict.* It is read off the interval, and the p value is of the same test: a paired
        t test on the scores of the cases, two-sided, whatever the number of attempts.

        - The lowest changes are cut where t would look least significant, so that a deeper fall
          of one case, which widens the spread, never hides the falls of others.
        - Away from 0 the interval is at least as wide as Gaffke's, which allows for cases that
          fall or rise wholly although the sample has none.
        - The p value is never below ``2 ** (1 - n)`` for *n* cases, so fewer than six see nothing.
        - If a case has more attempts in one run, the error is the one that the fewer attempts
          would have in both runs. The mean of few attempts is more skewed than that of many.
        - With *clusters* the units are clusters, weighed by their cases, with the jackknife's
          error. If they are equally large this is CR1, otherwise their effective number counts.

        *Single cases.* With three attempts or more in both runs each is tested by Fisher's exact
        test, or the exact permutation test of graded scores. Its p value counts once, and twice
        more for each case that did not fall and could have shown as much. A case that dropped
        significantly fell farther than any case rose. If attempts never varied in the baseline, or
        cases rose by more than twice the variance that attempts explain, copies of one answer
        would look the same: *single_cases* is ``"cannot tell"``.

        *Repeats.* Several reports of a side are runs of the whole suite. The verdict is then the
        exact permutation test of their mean scores. At 95 % it takes four against four, or three
        against five; three against three can be significant at 90 %. Repeats that are the same in
        every case count as one; unless others of the suite differ in so few cases, below six on
        average, that this happens by chance.

        *Missing outcomes.* Verdicts are of the known outcomes, and *delta_bounds* are the least
        and the largest change that is possible. If a paired t test says that the share of missing
        outcomes changed, the interval holds at both of these, and a share that rose stops a job.

        *Minimum detectable effect.* The number of passing cases that must break for the test to
        find it with 80 % power, and the loss that they are.

        *Floor.* A case is below the *floor* if the exact binomial test of its attempts says so,
        counted for all cases that could. Only outcomes of 0 and 1 are tested.

        *Anytime.* The test bets on the mean change of each case: see :doc:`/anytime`.

    References:
        For clusters: Miller, "Adding Error Bars to Evals", arXiv:2411.00640; Carter, Schnepel and
        Steigerwald, "Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity", Review of
        Economics and Statistics 99(4), 2017.

        For the ends away from 0: Gaffke, "Three test statistics for a nonparametric one-sided
        hypothesis on the mean of a nonnegative variable", Mathematical Methods of Statistics
        14(4), 2005; Learned-Miller and Thomas, "A New Confidence Interval for the Mean of a
        Bounded Random Variable", arXiv:1905.06208.

        For *anytime*: Waudby-Smith and Ramdas, "Estimating Means of Bounded Random Variables by
        Betting", Journal of the Royal Statistical Society B 86(1), 2024.
    """  # noqa: E501 - a result is one line
    runs = Runs.read(baseline, current, metrics)
    plan = Plan.of(
        threshold=threshold,
        confidence_level=confidence_level,
        margin=margin,
        clusters=clusters,
        adjustment=adjustment,
        attempts=attempts,
        floor=floor,
        anytime=anytime,
        random_order=random_order,
        n_repeats=runs.n_repeats,
    )
    if plan.attempts == "auto":
        runs.refuse_retries()
    measured = measured_alike(runs, ruler=ruler, rulers=rulers, rescored=rescored)
    runs = measured.runs
    every = runs.pairs()
    known = [pair for pair in every if pair.case_ids]
    wholes = known or every
    grouped = {} if by is None else with_groups(wholes, runs.groups(by))
    labels = [None] * len(wholes) + [label for label, parts in grouped.items() for _ in parts]
    pairs = [*wholes, *(part for parts in grouped.values() for part in parts)]
    names = names_of(pairs, labels)
    missing = Missing.of([one for one in every if one.suite not in measured.unmeasured], plan)
    verdicts = judge_suites(pairs, plan, missing)
    verdicts, effects = by_cause(verdicts, names, wholes, measured, plan)
    cases = judge_cases(known, plan, missing, one_system=runs.one_system)
    removed, failing = _lost(runs, known)
    missed, model = runs.missed(), runs.shared_model
    with_queries = partial(_with_queries, runs)
    return Comparison(
        suite=min(verdicts, key=_looks),
        suites=FrozenMapping(dict(zip(names, verdicts, strict=True))),
        groups=tuple(name for name, label in zip(names, labels, strict=True) if label is not None),
        regressions=with_queries(_of_moved(one, model) for one in cases.falls),
        improvements=with_queries(_of_moved(one, model) for one in cases.rises),
        n_unchanged=sum(len(pair.case_ids) for pair in known) - len(cases.moved),
        new_cases=with_queries(
            _change(key, None, score, model) for key, score in runs.only_after(known)
        ),
        removed_cases=with_queries(removed),
        newly_failing=with_queries(failing),
        lost_cases=missing.lost_cases,
        missing=missing.shift,
        missing_shares=missing.shares,
        missed_unsafe=tuple(missed) if missed or runs.new.unsafe is not None else None,
        newly_missed_unsafe=tuple(c for c in missed if (runs.old.unsafe or {}).get(c)),
        adjustment=adjustment,
        anytime=plan.anytime,
        single_cases=cases.state,
        n_tested=cases.n_tested,
        below_floor=with_queries(_of_floor(one, model) for one in below_floor(known, plan)),
        floor=plan.floor,
        most_attempts=max((int(pair.after.sizes.max()) for pair in known), default=0),
        flaky=flaky(known),
        confidence_level=plan.confidence_level,
        threshold=plan.threshold,
        n_copies=runs.n_copies,
        ruler=effects,
        **runs.whose(BASELINE, CURRENT),
    )


def _lost(runs: Runs, known: Sequence[Paired]) -> tuple[list[CaseChange], list[CaseChange]]:
    """Return the cases that the current run lacks, and those that have no score in it."""
    suites = {pair.suite for pair in known}
    removed: list[CaseChange] = []
    failing: list[CaseChange] = []
    for key, score in runs.only_before(known):
        why = runs.after.failing.get(key)
        change = attrs.evolve(_change(key, score, None, runs.shared_model), error_kind=why)
        is_there = why is not None or key[1] in runs.after.ends.get(key[0], {})  # in some repeat
        is_bounded = why is None or (why == UNDECIDED and not runs.old.is_judged)
        if not is_there:
            removed.append(change)
        elif not is_bounded or key[0] not in suites:
            failing.append(change)
    return removed, failing


def _change(
    key: tuple[SuiteKey, str], left: float | None, right: float | None, model: str | None
) -> CaseChange:
    (metric, own), case_id = key
    return CaseChange(
        case_id=case_id,
        model=model if own is None else own,
        metric=metric,
        baseline=left,
        current=right,
        delta=None if left is None or right is None else right - left,
        p_value=None,
        adjusted_p_value=None,
    )


def _of_moved(moved: Moved, model: str | None) -> CaseChange:
    return attrs.evolve(
        _change(moved.key, moved.before, moved.after, model),
        p_value=moved.p_value,
        adjusted_p_value=moved.adjusted,
        n_attempts=moved.n_attempts,
        n_passed=moved.n_passed,
        is_significant=moved.is_significant,
    )


def _of_floor(found: BelowFloor, model: str | None) -> CaseChange:
    change = _change(found.key, found.before, found.after, model)
    return attrs.evolve(change, floor_p_value=found.p_value)


def _with_queries(runs: Runs, changes: Iterable[CaseChange]) -> tuple[CaseChange, ...]:
    """Return changes with the queries of their cases, if reports have any."""
    found = ((change, runs.queries_of(change.case_id)) for change in changes)
    return tuple(attrs.evolve(one, **queries) if queries else one for one, queries in found)


def compare_from_columns(
    *,
    case_id: Iterable[str | int],
    version: Iterable[str | int],
    score: Iterable[float | None] | Mapping[str, Iterable[float | None]],
    baseline: str | int,
    current: str | int | None = None,
    attempt: Iterable[Hashable] | None = None,
    metric: Iterable[str | int] | None = None,
    threshold: float = 0.05,
    confidence_level: float = 0.95,
    clusters: Iterable[Hashable] | Mapping[Any, str | int] | None = None,
    by: Iterable[str | int] | Mapping[Any, str | int] | None = None,
    margin: float | None = None,
    adjustment: Adjustment = "all",
    attempts: Literal["auto", "fixed", "independent"] = "auto",
    floor: float | None = None,
    anytime: bool = False,
    random_order: bool = False,
) -> Comparison:
    """
    Compare two versions in a table that has a row for each attempt, as `compare_reports` does.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``. Rows with
    one *case_id* and one *version* are attempts at that case.

    Args:
        case_id: The case of each row.
        version: The version that it is of: two, or more where *current* names one.
        score: Whether it passed, or its score in ``[0, 1]``, higher being better; None and NaN are
            unknown. Or a mapping from metric to such a column.
        baseline: The version to compare with.
        current: The version to judge; None for the only other one.
        attempt: Distinguishes the attempts of a version at a case, such as an epoch or a seed, so
            that a row which comes twice is refused; None if rows are known to differ.
        metric: The metric of each row, where a row is one of several; None for one metric.
        threshold: As for `compare_reports`.
        confidence_level: As for `compare_reports`.
        clusters: Group of each row, or of each case by name, where cases are related.
        by: A label for each row, or for each case by name: each has a verdict of its own.
        margin: As for `compare_reports`.
        adjustment: As for `compare_reports`.
        attempts: As for `compare_reports`.
        floor: As for `compare_reports`.
        anytime: As for `compare_reports`.
        random_order: As for `compare_reports`.

    Returns:
        A frozen `Comparison`. Read *suite*, which has the verdict, *regressions* and
        *single_cases* first.

    Raises:
        InputError: As `compare_reports`, and if the columns differ in length, a version is not in
            the table, there are more than two and *current* is None, two rows of a case have
            another cluster or label, or two rows of a case, a version and a metric have one
            *attempt*.
        TypeError: If an entry or another argument has the wrong type, such as the name of a
            column for a column.

    Examples:
        >>> table = {
        ...     "case_id": ["sort", "parse", "walk", "join", "copy"] * 8,
        ...     "version": ["v1"] * 20 + ["v2"] * 20,
        ...     "score": [1, 1, 1, 1, 0] * 4 + [0, 1, 0, 1, 0] * 2 + [0, 0, 0, 1, 0] * 2,
        ... }
        >>> result = compare_from_columns(**table, baseline="v1")
        >>> result.suite.delta, result.suite.n_cases
        (-0.5, 5)
        >>> compare_from_columns(**table, baseline="v0")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: baseline must be one of 'v1', 'v2', got 'v0'
    """
    table = read_table(
        case_id=case_id, version=version, score=score, attempt=attempt, metric=metric
    )
    old, new = table.both(baseline, current)
    found = compare_reports(
        table.of_version(old),
        table.of_version(new),
        threshold=threshold,
        confidence_level=confidence_level,
        clusters=table.by_case("clusters", clusters),
        by=table.by_case("by", by),
        margin=margin,
        adjustment=adjustment,
        attempts=attempts,
        floor=floor,
        anytime=anytime,
        random_order=random_order,
    )
    return attrs.evolve(found, baseline_name=old, current_name=new)
