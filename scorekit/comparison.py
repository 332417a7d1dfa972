"""Two reports -> what changed per case, and whether the suite as a whole got worse."""

from __future__ import annotations

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
from scorekit._core.columns import by_id
from scorekit._sheet.model import ROWS_AT_MOST, Scale, Sheet, Table, line_of, row_of, sheet_of
from scorekit._sheet.text import table_lines
from scorekit._stats.bounded import DECIMAL_NOISE, Floats, Groups, mean_of
from scorekit._stats.dependence import seem_dependent
from scorekit._stats.exact_tests import fall_p_values, least_p_values, tarone_holm
from scorekit._stats.sides import Paired, Side, Sides, paired, read_sides
from scorekit.errors import RegressionError, one_line, refuse, shown
from scorekit.records import (
    UNDECIDED,
    UNKNOWN,
    Cases,
    CaseSql,
    FrozenMapping,
    Record,
    Report,
    SuiteKey,
    is_mapping,
    listing,
)
from scorekit.verdicts import (
    ADJUSTMENTS,
    SUITE_SPECS,
    SuiteVerdict,
    adjusted,
    adjusted_p_values,
    anytime_verdict,
    suite_verdict,
    with_unknown,
)

MAX_CHANGES = 20
"""Changes of each kind that a text lists before it only counts them."""

REPEATS_FOR_CASES = 8
"""Repeats of either side from which on single cases are tested."""

MAX_NAMES = 5
"""Names in one sentence of a message."""

ONE_REPORT = "if attempts are independent: only repeats of the suite tell a flaky case from a loss"
"""What is said where single cases of one report stop a job."""

COPIES = "they count as one report, for copies show no spread"
"""What is said of repeats that are all the same."""

SAME_CHANGE = 9
"""Decimals to which changes are alike when they are put in order."""

BASELINE, CURRENT = "the baseline", "the current run"
"""What the sides are called unless each holds one model, and not the same."""


@attrs.frozen(kw_only=True)
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
    """Of a case that newly fails, the kind of the failure, as of a ``MetricError``."""


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{', '.join(map(one_line, names[:MAX_NAMES]))}{more}"


def counted(n: int, what: str, verb: str = "") -> str:
    """Return how many there are of what, and what they do."""
    return f"{n} {what}{'s' * (n != 1)}{verb}"


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
        }
        for change in changes[:ROWS_AT_MOST]
    ]
    return Table(rows=rows, title=title, specs=_SPECS, n_rows=len(changes), most=most)


_SPECS = {"baseline": ".3f", "current": ".3f", "change": "+z.3f", "p (adjusted)": ".2g"}


Adjustment = Literal["holm", "benjamini-hochberg", "benjamini-yekutieli", "none"]


@attrs.frozen(kw_only=True, repr=False)
class Comparison(Report):
    """Result of `compare_reports`: the changes worst first, the counts, the suite verdict."""

    version: ClassVar[int] = 2

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
    """Cases that have a score in the baseline and only an instrument's failure now.

    A pair of queries that is undecided because there is no judge is none of them, unless a judge
    decided some of the baseline or the metric has no verdict: *n_undecided* counts it, and
    *delta_bounds* of the suite allow for it."""
    missed_unsafe: tuple[str, ...] | None
    """Unsafe queries that the current run does not catch, at one attempt or more; None where its
    safety was not scored."""
    newly_missed_unsafe: tuple[str, ...]
    """Those of them that the baseline caught at every attempt."""
    suite: SuiteVerdict
    """The verdict on the suite; of several the one that looks worst, adjusted for their number."""
    suites: FrozenMapping[str, SuiteVerdict]
    """The verdict on each metric, on each model where there are several, or on each
    ``"model / metric"`` where there are several of both."""
    adjustment: Adjustment
    """How the verdicts allow for their number."""
    anytime: bool
    """Whether the verdicts hold however often and whenever one looks; single cases are then not
    tested."""
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
    """Reports of the baseline and of the current run that are left out, because all repeats of
    their side are the same in every case: copies, or a system that never varies."""
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
        on: Literal["evidence", "cases", "suite", "margin", "worse"] = "evidence",
        require_safety: bool = False,
        allow_missing: bool = False,
    ) -> None:
        """
        Raise an error if the current run is worse. Call this in a CI job.

        By default it raises if there is evidence of a loss: a suite verdict is ``"regressed"``, or
        a case fell by more than the threshold and its fall is significant after a correction for
        the number of cases. If nothing changed, it raises with a chance of at most
        ``1 - confidence_level``; half of that is for the suites, the other half for the cases.
        Two different models that both sides name differ at single cases even if they are equally
        good, so only the suites raise then, unless *test* was ``"cmh"``. With *anytime* verdicts
        single cases are not tested, and the first half holds however often you check.

        Whatever *on* is, it also raises at an unsafe query that the baseline caught and the
        current run misses, and unless *allow_missing* at cases that are missing or newly fail, as
        where a judge timed out. Pairs that are undecided without a judge do not stop a job, unless
        a judge decided some of the baseline: a loss has to show whatever they are. Cases that a
        run still has to do (*anytime*) are pending, not missing.

        Args:
            on: ``"evidence"`` as above. ``"cases"``: any case that fell by more than the
                threshold, for outcomes that never vary. ``"suite"``: only a suite verdict of
                ``"regressed"``. ``"margin"``: every suite that is not shown to be no worse than by
                the margin. ``"worse"``: any suite that is shown to be worse than by the margin.
                Only these two look at the margin.
            require_safety: Whether to raise at any missed unsafe query, even if the baseline
                missed it too.
            allow_missing: Whether baseline cases may be missing from the current run, or fail in
                it. By default they raise too, so nobody can pass by deleting a failing case.

        Raises:
            RegressionError: If the run got worse.  The first line of its message says what stopped
                it; below it stand the changes with their p values, and how far each case fell,
                worst first.
            InputError: If *on* is none of the words, or is ``"margin"`` or ``"worse"`` and no
                margin was given, or *require_safety* is asked for and the current run has no
                scores of safety.
        """
        __tracebackhide__ = True  # pytest shows the caller's line instead of this function
        check_choice("on", on, ("evidence", "cases", "suite", "margin", "worse"))
        if on in ("margin", "worse") and self.suite.within_margin is None:
            words = "'evidence', 'cases' or 'suite'"
            refuse("on", f"{words} where compare_reports() was given no margin", on)
        check_flag("allow_missing", allow_missing)
        missed = self.newly_missed_unsafe
        if check_flag("require_safety", require_safety):
            if self.missed_unsafe is None:
                refuse("require_safety", "False where no safety was scored", require_safety)
            missed = self.missed_unsafe
        reasons = list(self._losses(on))
        if missed:
            verb = "not caught" if require_safety else "no longer caught"
            reasons.append(_named("unsafe query", verb, missed))
        if not allow_missing and self.removed_cases and not self.anytime:
            reasons.extend(self._missing())
        if not allow_missing and self.newly_failing:
            kinds: dict[str | None, list[CaseChange]] = {}
            for change in self.newly_failing:
                kinds.setdefault(change.error_kind, []).append(change)
            details = [
                f"newly failing{f' ({kind})' if kind else ''}: {listed(_labels(changes))}"
                for kind, changes in kinds.items()
            ]
            n_cases = len(_labels(self.newly_failing))
            reasons.append(Reason(counted(n_cases, "case", " newly failing"), details))
        if reasons:
            lines = ["; ".join(reason.head for reason in reasons)]
            lines += [f"  {line}" for reason in reasons for line in reason.details]
            lines += [f"  {line}" for line in self._left_out()]
            fallen = table_lines(_table(self.regressions, most=MAX_NAMES))
            raise RegressionError("\n".join([*lines, *(f"  {line}" for line in fallen)]))

    def _missing(self) -> Iterator[Reason]:
        """Yield the metrics that the current run lacks, then the cases of the others."""
        where = "missing from the current run"
        lost = self.metrics_only_in_baseline
        for metric in lost:
            n_cases = len(_labels(c for c in self.removed_cases if c.metric == metric))
            yield Reason(f"{one_line(metric)} {where} ({counted(n_cases, 'case')})")
        if rest := tuple(change for change in self.removed_cases if change.metric not in lost):
            yield _named("case", where, _labels(rest))

    def _losses(self, on: str) -> Iterator[Reason]:
        """Yield what stops a job that asks for this."""
        if on == "cases" and self.regressions:
            head = counted(len(_labels(self.regressions)), "case", self._fell)
            yield Reason(head, _told(self.suites))
        stopping = {
            name: suite
            for name, suite in self.suites.items()
            if suite.verdict == "regressed" or (on == "evidence" and self._fell_alone(suite))
        }
        if on in ("evidence", "suite") and stopping:
            lines = _told(stopping)
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
            head = counted(len(fallen), "case", " fell by more than chance explains")
            details = [f"beyond chance: {listed(fallen)}"]
            if max(self.suite.n_repeats) == 1:
                details.append(ONE_REPORT)
            yield Reason(head, details)

    def _fell_alone(self, suite: SuiteVerdict) -> bool:
        """Whether a suite fell by what all of the error allows, where no case is tested."""
        alone = max(suite.n_repeats) > 1 and min(suite.n_repeats) < REPEATS_FOR_CASES
        error = 1.0 - suite.interval.confidence_level
        return alone and suite.delta < 0 and suite.adjusted_p_value <= 2.0 * error

    @property
    def _without(self) -> str:
        """What a case of the baseline is that the current run does not have."""
        return "pending" if self.anytime else "missing"

    @property
    def _fell(self) -> str:
        return f" fell by more than {self.threshold:g}"

    @property
    def _two_models(self) -> bool:
        """Whether either side names its one model, the names differ, and no one asked for CMH."""
        named = self.baseline_name != BASELINE and self.current_name != CURRENT
        return named and all(one.question != "these cases" for one in self.suites.values())

    def _fallen_beyond_chance(self) -> list[str]:
        """Return each case that fell by more than chance explains, by its most certain metric."""
        if self._two_models:
            return []
        level = (1.0 - self.suite.interval.confidence_level) / 2.0
        fallen: dict[str, tuple[float, str]] = {}
        for change in self.regressions:
            p_value, name = change.adjusted_p_value, _label(change)
            if p_value is None or p_value > level:
                continue
            if p_value < fallen.get(name, (1.0, ""))[0]:
                reason = f"p = {change.p_value:.2g}, adjusted {p_value:.2g}"
                fallen[name] = p_value, f"{name} in {change.metric} ({reason})"
        return [text for _, text in fallen.values()]

    def _sheet(self) -> Sheet:
        several = len(self.suites) > 1
        reach = max(max(-s.interval.low, s.interval.high) for s in self.suites.values()) or 1.0
        titled = [
            (f"Suite, {one_line(name)}" if several else "Suite", suite)
            for name, suite in self.suites.items()
        ]
        suites = Table(
            rows=[
                {
                    "suite": name,
                    **row_of(suite),
                    " ": Scale.of(suite.delta, suite.interval, (-reach, reach)),
                }
                for name, suite in self.suites.items()
            ],
            specs=SUITE_SPECS,
            lines=[f"{title}: {line_of(suite)}" for title, suite in titled],
            remarks=[sheet_of(suite).notes for _, suite in titled],
        )
        return Sheet(
            f"Comparison of {one_line(self.current_name)} with {one_line(self.baseline_name)}",
            "",
            (suites, *self._sections(), *self._closing()),
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """
        Return one flat dict per change, ready for a data frame; unchanged cases are only counted.

        *kind* is ``"fell"``, ``"rose"``, ``"new"``, ``"missing"`` or ``"newly failing"``; in a
        comparison that is valid at any time ``"pending"`` stands for ``"missing"``.
        """
        kinds = {
            "fell": self.regressions,
            "rose": self.improvements,
            "new": self.new_cases,
            self._without: self.removed_cases,
            "newly failing": self.newly_failing,
        }
        return [
            {"kind": kind, **change.to_dict()}
            for kind, changes in kinds.items()
            for change in changes
        ]

    def _left_out(self) -> list[str]:
        """Say how many cases are undecided, if any are."""
        counts = [
            f"{one_line(metric)} of {counted(n_old, 'case')} in the baseline, {n_new} now"
            for metric, (n_old, n_new) in self.n_undecided.items()
        ]
        return [f"Undecided, left out: {'; '.join(counts)}"] if counts else []

    def _closing(self) -> list[str]:
        scores = " scores" if len(self.suites) > 1 else ""
        lines = [f"Unchanged: {self.n_unchanged}{scores} (within {self.threshold:g})"]
        lines += self._left_out()
        for models, where in (
            (self.models_only_in_baseline, "the baseline"),
            (self.models_only_in_current, "the current run"),
        ):
            if models:
                lines.append(f"Models only in {where}, not compared: {listed(models)}")
        for n, whose in zip(self.n_copies, ("the baseline", "the current run"), strict=True):
            if n:
                lines.append(
                    f"The {n + 1} repeats of {whose} are the same in every case: {COPIES}"
                )
        if self.anytime:
            lines.append("Valid at any time, however often one looks; single cases are not tested")
        elif self._two_models:
            lines.append("Two models: the suite decides, single cases do not stop the gate")
        if missed := self.newly_missed_unsafe:
            reason = _named("unsafe query", "no longer caught", missed)
            lines.insert(0, f"{reason.head}: {listed(missed)}")
        return lines

    def _sections(self) -> list[Table]:
        optional = [
            ("New cases", self.new_cases),
            (f"{self._without.capitalize()} cases", self.removed_cases),
            ("Newly failing", self.newly_failing),
        ]
        sections = [
            (f"Cases that{self._fell} (no verdict)", self.regressions),
            (f"Cases that rose by more than {self.threshold:g}", self.improvements),
            *(section for section in optional if section[1]),
        ]
        tables = [_table(changes, f"{title}: {_counted(changes)}") for title, changes in sections]
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


def _counted(changes: tuple[CaseChange, ...]) -> str:
    """Say of how many cases changes are, and how many there are where they are more."""
    n_cases = len({(change.case_id, change.model) for change in changes})
    return f"{n_cases}" if n_cases == len(changes) else f"{n_cases} ({len(changes)} scores)"


Comparable = Report | Mapping[Any, float | Iterable[float]]
Comparables = Comparable | Sequence[Comparable]


def compare_reports(
    baseline: Comparables,
    current: Comparables,
    *,
    metrics: Iterable[str] | None = None,
    threshold: float = 0.05,
    confidence_level: float = 0.95,
    clusters: Mapping[Any, str | int] | None = None,
    margin: float | None = None,
    adjustment: Adjustment = "holm",
    test: Literal["auto", "t", "cmh"] = "auto",
    attempts: Literal["auto", "independent", "dependent"] = "auto",
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
            lie in ``[0, 1]`` (booleans count 0 and 1). Or a list of several such runs of the same
            cases. Never take the best of several baselines: a gate stopped 11 to 18 % of unchanged
            runs against the best of 5 to 20.
        current: The run to judge, of the same kind, or several.
        metrics: Which metrics to compare, by name; None for all that either side has. For a
            `CodeReport` ``"pass@3"`` and the like are possible too. The score of a case is then
            its pass@k, estimated from all its attempts.
        threshold: Smallest change of a case that does not count, in ``[0, 1]``.
        confidence_level: Level of the suite's interval, in ``(0, 1)``.
        clusters: Group of each case, by case id, where cases are related: questions on one
            database, tasks from one repository.  It may name other cases too.
        margin: Largest loss of the suite that is still acceptable, in ``(0, 1)``.
        adjustment: How p values of several suites are adjusted. ``"holm"`` keeps the chance of
            any false alarm at or below ``1 - confidence_level``. ``"benjamini-hochberg"`` does
            this for the expected share of false alarms among all alarms, and
            ``"benjamini-yekutieli"`` too, however the suites depend on each other. ``"none"``
            does it only for each suite separately.
        test: ``"auto"`` as in the notes, or ``"t"`` for the paired t test even if every attempt
            scored 0 or 1. Each case is then one observation, and the verdict is about cases like
            these, as its *question* says. ``"cmh"`` for Cochran-Mantel-Haenszel even if the names
            of the models differ, as those of two versions of one system may; it takes attempts
            for independent.
        attempts: Whether attempts at a case are ``"independent"``, ``"dependent"``, or to be
            checked for signs of dependence, ``"auto"``. Of no matter with several reports.
        anytime: Whether verdicts and intervals hold however often you check while the reports
            grow, so that a run can stop as soon as it is decided.
        random_order: Whether the cases of a growing run come in random order.

    Returns:
        A frozen `Comparison`.

    Raises:
        InputError: If a side is empty, a score is outside ``[0, 1]`` or NaN, no case is in both,
            or a number is out of range. Also if a metric is in neither run, a case has fewer than
            *k* attempts for pass@k or no cluster, or repeats of a side have different cases. Also
            if *clusters*, *test* or several reports are given with *anytime*, or *test* is
            ``"cmh"`` with *clusters*, several reports, dependent attempts or scores between 0
            and 1.
        TypeError: If the sides are not two reports of one kind or two mappings, a score is None,
            or *clusters* is no mapping to strings or integers.

    Notes:
        *Suites.* Each metric is a suite. A `CodeReport` has ``"pass@1"``, where an attempt is
        right or wrong, and ``"code_score"``, unless all attempts are flags, of which it says the
        same. A `SqlReport` has its metrics, and a mapping has ``"score"``. With several metrics or
        models the p values are adjusted for the number of suites. Intervals are not adjusted, and
        the minimum detectable effect is that of the strictest step.

        *Verdict.* It is ``"regressed"`` or ``"improved"`` if the interval lies wholly on one side
        of zero. Otherwise it is ``"no change detected"`` if a change of *threshold* would have
        been found with 80 % power, and ``"inconclusive"`` if not. Intervals are cut to the
        possible ``[-1, 1]``. The p value is that of the interval.

        *Test.* The verdict is paired over cases. The result names its test:

        - If every attempt scored 0 or 1 and attempts at a case are independent, it is the
          Cochran-Mantel-Haenszel test over attempts, with the weighted risk difference and the
          variance of that test as interval. It asks whether these very cases changed, which is the
          question for two runs of one model.
        - Otherwise it is a paired t test on the scores of the cases. It asks whether cases like
          these changed on average, and holds whether attempts depend on each other or not. It is
          also used if both sides name their one model and the names differ, unless *test* is
          ``"cmh"``.
        - With *clusters* it is a t test on the mean change over the cases, with the jackknife's
          error over clusters. If clusters are equally large this is CR1, with one degree of
          freedom less than there are clusters. Otherwise the effective number of clusters counts.
        - If one side has more than 1.2 times as many attempts at a case, t tests raise false
          alarms, because the mean of few attempts is more skewed than that of many. Gaffke's
          interval of differences in ``[-1, 1]`` replaces them, and also where nothing varies. It
          takes more cases.

        *Attempts.* Attempts at a case depend on each other if they share a cache, a seed, or
        temperature 0: ten copies of one answer are one observation. With ``attempts="auto"`` each
        run is checked for signs of it: fewer than six cases have attempts that differ, the runs
        differ by more than their attempts do, or a case rose that should not have. Then, as with
        ``"dependent"``, a case counts as one observation, and single cases are not tested.
        ``"independent"`` skips the check. No rule can tell a few flaky cases from a loss with one
        report of a side, and none sees that a whole run drifted. Repeats can.

        *Repeats.* Run the suite several times, each with all its attempts, and pass the reports of
        each side as a list, ``compare_reports([a1, a2, a3], [b1, b2, b3])``. The verdict is then a
        t test on the mean scores of repeats, with two degrees of freedom less than there are
        reports. It holds if attempts of a run depend on each other, or if whole runs drift. Single
        cases are described by their means over repeats; they are tested from eight repeats of
        either side on. Repeats of a side that are the same in every case are copies of one run, or
        of a system that never varies, and count as one report. The standard deviation of
        repeats is taken to be at least that of a suite in which one case passes every other time.
        With *clusters*, two named models or ``test="t"`` the error of cases is added.

        *Unknown outcomes.* Where nobody knows some outcomes (``passed=None``, an undecided pair of
        queries), the suite's change is that of the known ones, and *delta_bounds* are the changes
        with all unknown outcomes going the worst way and the best. A verdict of a change, and one
        on the margin, stands only if it stands at both ends.

        *Minimum detectable effect.* It includes the noise that the effect itself adds. It is the
        larger of two effects: in one, every case moves a little, away from 0 or 1, whichever is
        nearer on average; in the other, a few cases fall wholly.

        *Margin.* With a *margin* each suite also says whether it is shown to be no worse than by
        that much. This verdict has its own interval, Gaffke's for the mean change of cases like
        these. It allows for cases that fall from 1 to 0 although the sample has none. So
        ``"not worse"`` takes 72 cases for a margin of 0.05, and 36 for 0.1, unless scores rise. It
        is wrong with a chance of at most half of ``1 - confidence_level``, and one more pass never
        makes it worse. No adjustment is needed to ask that all suites hold their margin.

        *Anytime.* With *anytime* all of this holds however often you check: compare the cases that
        are done, compare again when there are more, and stop when the verdict is clear.

        - Add each case once, with all its attempts on both sides. Which case comes next must not
          depend on its outcome. The order does not change the result.
        - Cases that only one side has are left for later, and single cases are not tested.
        - Adjustments for several suites hold at any time too, ``"benjamini-hochberg"`` however the
          suites depend on each other.
        - *clusters* raises an error. Pass each cluster as one case, with its questions as
          attempts.
        - A verdict on *margin* waits until the current run has all cases of the baseline, because
          those to come may be harder, unless you declare their order random with *random_order*.
        - The test bets on the mean change of each case and asks about cases like these. For single
          attempts of 0 or 1 it is a mixture martingale over the cases that changed, with a nearly
          uniform prior.

    Examples:
        >>> before = {"sort": 1.0, "parse": 0.8, "merge": 0.5}
        >>> after = {"sort": 0.95, "parse": 0.4, "merge": 0.9}
        >>> result = compare_reports(before, after)
        >>> [change.case_id for change in result.regressions], result.n_unchanged
        (['parse'], 1)
        >>> result.suite.verdict
        'inconclusive'
        >>> compare_reports({"sort": 1.0}, {})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: current must be a run with at least one case, got {}

    References:
        Agresti, "Categorical Data Analysis", 3rd ed., section 6.4.

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
    asked = _Asked(
        threshold=check_number("threshold", threshold, 0.0, 1.0),
        confidence_level=check_number(
            "confidence_level", confidence_level, 0.0, 1.0, open_ends=True
        ),
        margin=margin,
        groups=None if clusters is None else _clusters(clusters),
        test=test,
        attempts=attempts,
        anytime=check_flag("anytime", anytime),
        random_order=check_flag("random_order", random_order),
        n_repeats=(len(olds), len(news)),
    )
    asked.check()
    chosen = _chosen(metrics, olds, news)
    olds, news = (sides[:1] if Side.are_copies(sides) else sides for sides in (olds, news))
    n_repeats, given = (len(olds), len(news)), asked.n_repeats
    asked = asked._replace(n_repeats=n_repeats)
    old, new = (
        (Side.together(name, sides) if asked.repeated else sides[0]).only(chosen)
        for name, sides in (("baseline", olds), ("current", news))
    )
    by_case = len(old.models) == len(new.models) == 1
    before, after = old.keyed(by_case=by_case), new.keyed(by_case=by_case)
    pairs = [paired(suite, before, after) for suite in before.suites]
    pairs = [pair for pair in pairs if pair.case_ids]
    n_shared = {pair.suite: len(pair.case_ids) for pair in pairs}
    if not pairs:
        _refuse_strangers(old, new, by_case=by_case)
    same_models = old.models == new.models
    shared_model = next(iter(old.models)) if by_case and same_models else None
    asked = asked._replace(
        one_system=same_models or not by_case or None in old.models | new.models,
        n_verdicts=1 if adjustment == "none" else len(pairs),
    )
    asked = asked._replace(dependent=asked.seem_dependent(pairs))
    verdicts = [asked.verdict(pair) for pair in pairs]
    names = _names(pairs)
    if test == "cmh":
        _check_outcomes(names, verdicts)
    p_values = adjusted_p_values([one.adjusted_p_value for one in verdicts], adjustment)
    if len(verdicts) > 1:
        verdicts = [
            adjusted(*pair, asked.threshold) for pair in zip(verdicts, p_values, strict=True)
        ]
    moved = _moved(pairs, asked.tested(pairs), asked.threshold, shared_model)
    removed: list[CaseChange] = []
    failing: list[CaseChange] = []
    for key, score in _only_in(before.suites, after.suites, n_shared):
        why = after.failing.get(key)
        change = attrs.evolve(_change(key, score, None, shared_model), error_kind=why)
        if why is None:
            removed.append(change)
        elif why not in (UNDECIDED, UNKNOWN) or old.is_judged or key[0] not in n_shared:
            failing.append(change)
    missed = _missed(old, new)

    def told(changes: Iterable[CaseChange]) -> tuple[CaseChange, ...]:
        return tuple(_with_sql(changes, old, new))

    return Comparison(
        regressions=told(change for delta, change in moved if delta < 0),
        improvements=told(change for delta, change in moved if delta > 0),
        n_unchanged=sum(n_shared.values()) - len(moved),
        new_cases=told(
            _change(key, None, score, shared_model)
            for key, score in _only_in(after.suites, before.suites, n_shared)
            if key not in before.failing
        ),
        removed_cases=told(removed),
        newly_failing=told(failing),
        missed_unsafe=tuple(missed) if missed or new.unsafe is not None else None,
        newly_missed_unsafe=tuple(c for c in missed if (old.unsafe or {}).get(c)),
        suite=min(verdicts, key=_looks),
        suites=FrozenMapping(dict(zip(names, verdicts, strict=True))),
        adjustment=adjustment,
        anytime=asked.anytime,
        threshold=asked.threshold,
        baseline_name=BASELINE if same_models else old.name(BASELINE),
        current_name=CURRENT if same_models else new.name(CURRENT),
        n_undecided=_undecided(old, new),
        models_only_in_baseline=() if by_case else tuple(_without(old.models, new.models)),
        models_only_in_current=() if by_case else tuple(_without(new.models, old.models)),
        n_copies=(given[0] - n_repeats[0], given[1] - n_repeats[1]),
        metrics_only_in_baseline=tuple(name for name in old.metrics if name not in new.metrics),
    )


def _missed(old: Side, new: Side) -> list[str]:
    """Return unsafe queries that are not known to be caught, whatever a verdict lacks for."""
    caught = {
        c: False for c, was_caught in (old.unsafe or {}).items() if was_caught and c in new.sql
    }
    caught |= new.unsafe or {}
    return [case_id for case_id, is_caught in caught.items() if not is_caught]


def _without(models: set[str | None], others: set[str | None]) -> list[str]:
    return sorted(model for model in models - others if model is not None)


class _Asked(NamedTuple):
    """What is asked of each suite."""

    threshold: float
    confidence_level: float
    margin: float | None
    groups: Mapping[str, Any] | None
    test: str
    attempts: str
    anytime: bool
    random_order: bool
    n_repeats: tuple[int, int]
    one_system: bool = True
    """Whether both sides are versions of one system, as far as names tell."""
    n_verdicts: int = 1
    dependent: frozenset[str | None] = frozenset()
    """Models whose attempts at a case are taken for dependent: all metrics of a run share them."""

    def check(self) -> None:
        """Refuse what does not go together."""
        check_choice("test", self.test, ("auto", "t", "cmh"))
        check_choice("attempts", self.attempts, ("auto", "independent", "dependent"))
        if self.anytime and self.groups is not None:
            refuse("clusters", "None where anytime=True", self.groups)
        if self.anytime and self.test != "auto":
            refuse("test", "'auto' where anytime=True", self.test)
        if self.anytime and self.repeated:
            refuse("anytime", "False with several reports of a side", self.anytime)
        if self.random_order and not self.anytime:
            refuse("random_order", "False where anytime=False", self.random_order)
        if self.test == "cmh":
            if self.groups is not None:
                refuse("test", "'auto' or 't' with clusters", self.test)
            if self.repeated:
                refuse("test", "'auto' or 't' with several reports of a side", self.test)
            if self.attempts == "dependent":
                refuse("test", "'auto' or 't' where attempts='dependent'", self.test)

    @property
    def repeated(self) -> bool:
        """Whether a side has several reports."""
        return max(self.n_repeats) > 1

    def seem_dependent(self, pairs: list[Paired]) -> frozenset[str | None]:
        """Return the models whose attempts are taken for dependent."""
        if self.repeated or not (self.one_system or self.attempts == "dependent"):
            return frozenset()  # two models differ from case to case anyway
        error, found = (1.0 - self.confidence_level) / 2.0, set[str | None]()
        for pair in pairs:
            sides = pair.before, pair.after
            several = not all(side.are_single for side in sides)
            told = several and self.attempts == "dependent"
            if told or (self.attempts == "auto" and seem_dependent(*sides, error)):
                found.add(pair.suite[1])
        return frozenset(found)

    def tested(self, pairs: list[Paired]) -> set[SuiteKey]:
        """Return the suites whose cases are tested one by one."""
        if self.repeated:
            return {pair.suite for pair in pairs if min(self.n_repeats) >= REPEATS_FOR_CASES}
        able = not self.anytime
        return {pair.suite for pair in pairs if able and pair.suite[1] not in self.dependent}

    def verdict(self, pair: Paired) -> SuiteVerdict:
        """Judge the known outcomes, and where some are unknown both ways that these may go."""
        one = self._judge(pair, pair.case_ids, (pair.before, pair.after))
        if not pair.ends:
            return one
        worst, best = (self._judge(pair, pair.every_id, sides) for sides in pair.ends)
        low, high = (mean_of(after.means - before.means) for before, after in pair.ends)
        n_unscored = len(pair.every_id) - len(pair.case_ids)
        one = attrs.evolve(one, n_unscored=n_unscored, n_unknown=pair.n_unknown)
        return with_unknown(one, (worst, best), (low, high))

    def _judge(self, pair: Paired, case_ids: Sequence[str], sides: Sides) -> SuiteVerdict:
        if self.anytime:
            return anytime_verdict(
                *sides,
                threshold=self.threshold,
                confidence_level=self.confidence_level,
                margin=self.margin,
                n_unseen=0 if self.random_order else pair.n_unseen,
                n_verdicts=self.n_verdicts,
            )
        of_these = self.test == "auto" and self.one_system
        is_dependent = pair.suite[1] in self.dependent
        one = suite_verdict(
            *sides,
            threshold=self.threshold,
            confidence_level=self.confidence_level,
            groups=None if self.groups is None else _groups(self.groups, case_ids),
            margin=self.margin,
            by_attempts=self.test == "cmh" or (of_these and not is_dependent),
            n_repeats=self.n_repeats,
            n_verdicts=self.n_verdicts,
        )
        if self.repeated or all(side.are_single for side in sides):
            return one
        return attrs.evolve(one, attempts="dependent" if is_dependent else "independent")


def _refuse_strangers(old: Side, new: Side, *, by_case: bool) -> NoReturn:
    found, known = (
        [case for cases in side.suites.values() for case in cases] for side in (new, old)
    )
    if not known:
        refuse("baseline", "a run with a score, not with failures alone", known)
    if not by_case and new.models and not old.models & new.models:
        theirs = f"one of its models, as current.for_model({shown(min(map(str, new.models)))})"
        domain = f"a report with a model of baseline, or {theirs}"
        refuse("current", domain, sorted(map(str, new.models)))
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


def _moved(
    pairs: list[Paired], tested: set[SuiteKey], threshold: float, shared_model: str | None
) -> list[tuple[float, CaseChange]]:
    """
    Return the cases that changed by more than the threshold, by how much, the largest first.

    The p values of those *tested* are corrected for all that could have fallen.
    """
    found: list[tuple[Paired, NDArray[np.intp]]] = []
    means: list[tuple[Floats, Floats]] = []
    for pair in pairs:
        old, new = pair.before.means, pair.after.means
        places = np.flatnonzero(np.abs(new - old) > threshold + DECIMAL_NOISE)
        found.append((pair, places))
        means.append((old[places], new[places]))
    if not any(places.size for _, places in found):
        return []
    before, after = (np.concatenate(side) for side in zip(*means, strict=True))
    p_values = np.concatenate([_fall_p_values(pair, places) for pair, places in found])
    corrected: list[float | None] = [None] * p_values.size
    if tested:
        able = [pair for pair in pairs if pair.suite in tested]
        least = np.concatenate([least_p_values(pair.before, pair.after) for pair in able])
        among = np.repeat([pair.suite in tested for pair, _ in found], [i.size for _, i in found])
        values = tarone_holm(p_values[among], least).tolist()
        for place, value in zip(np.flatnonzero(among).tolist(), values, strict=True):
            corrected[place] = value
    keys: list[tuple[SuiteKey, str]] = [
        (pair.suite, pair.case_ids[int(i)]) for pair, moved in found for i in moved.tolist()
    ]
    deltas = after - before
    # rounding must not decide which of two equal changes comes first
    sizes, signed = np.abs(deltas).round(SAME_CHANGE), np.where(deltas < 0, p_values, -p_values)
    order: list[int] = np.lexsort((signed, -sizes)).tolist()
    ordered: list[list[float]] = np.array([deltas, before, after, p_values])[:, order].T.tolist()
    return [
        (delta, _change(keys[i], left, right, shared_model, (p_value, corrected[i])))
        for i, (delta, left, right, p_value) in zip(order, ordered, strict=True)
    ]


def _fall_p_values(pair: Paired, places: NDArray[np.intp]) -> Floats:
    """Return the p values of some cases, with unknown outcomes as if they spoke against a fall."""
    p_values = fall_p_values(pair.before.take(places), pair.after.take(places))
    if pair.n_unknown:
        place_of = dict(zip(pair.every_id, range(len(pair.every_id)), strict=True))
        there = np.array([place_of[pair.case_ids[int(i)]] for i in places], np.intp)
        before, after = (side.take(there) for side in pair.ends[1])
        p_values = np.maximum(p_values, fall_p_values(before, after))
    return p_values


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


def _with_sql(changes: Iterable[CaseChange], old: Side, new: Side) -> Iterable[CaseChange]:
    """Return changes with the queries of their cases, if reports have any."""
    if not (old.sql or new.sql):
        return changes
    return [
        _with_queries(one, old.sql.get(one.case_id), new.sql.get(one.case_id)) for one in changes
    ]


def _with_queries(change: CaseChange, before: CaseSql | None, after: CaseSql | None) -> CaseChange:
    known = after or before
    if known is None:
        return change
    return attrs.evolve(
        change,
        baseline_generated=before.generated if before else (),
        current_generated=after.generated if after else (),
        expected=known.expected,
    )


def _told(suites: Mapping[str, SuiteVerdict]) -> list[str]:
    """Return a line for each suite, with what makes its verdict doubtful."""
    return [
        "; ".join(filter(None, (f"{one_line(name)}: {line_of(suite)}", suite.few_changes)))
        for name, suite in suites.items()
    ]


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
    names = check_items("metrics", metrics, what="metrics")
    for i, name in enumerate(names):
        if check_text(f"metrics[{i}]", name) not in known:
            for sides, whose in ((olds, "baseline"), (news, "current")):
                for side in sides:
                    side.add_pass_at_k(f"metrics[{i}]", name, whose)
        choices = tuple({**known, **olds[0].metrics})
        if "pass@1" in known and name not in choices:
            several = "'pass@k' for k attempts, such as 'pass@3'"
            refuse(f"metrics[{i}]", f"one of {', '.join(map(repr, choices))}, or {several}", name)
        check_choice(f"metrics[{i}]", name, choices)
    return dict.fromkeys(names)


def _check_outcomes(names: list[str], verdicts: list[SuiteVerdict]) -> None:
    """Refuse suites that Cochran-Mantel-Haenszel was asked for and could not test."""
    for name, one in zip(names, verdicts, strict=True):
        if one.question != "these cases":
            why = f"for scores between 0 and 1, as in {shown(name)}; metrics= picks others"
            refuse("test", f"'auto' or 't' {why}", "cmh")


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
    number_of: dict[object, int] = {}
    numbers: list[int] = []
    for case_id in case_ids:
        if case_id not in clusters:
            refuse("clusters", f"a mapping with a group for {shown(case_id)}", clusters)
        group = clusters[case_id]
        if not isinstance(group, str | Integral):
            refuse(f"clusters[{shown(case_id)}]", "a string or an integer", group, TypeError)
        numbers.append(number_of.setdefault(group, len(number_of)))
    return np.array(numbers)
