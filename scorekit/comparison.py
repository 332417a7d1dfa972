"""Two reports -> what changed per case, and whether the suite as a whole got worse."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import ClassVar, Literal, NamedTuple

import attrs

from scorekit._checks import (
    check_choice,
    check_flag,
    check_items,
    check_number,
    is_flag,
    is_ordered,
)
from scorekit._records import FrozenMapping, Record, Report, is_mapping
from scorekit._sql_case import failed
from scorekit._verdict import DECIMAL_NOISE, SuiteVerdict, suite_verdict
from scorekit.cases import SqlReport
from scorekit.errors import RegressionError, one_line, refuse, shown
from scorekit.reports import CodeReport

Comparable = CodeReport | SqlReport | Mapping[str, float | Iterable[float]]

MAX_ROWS = 20
"""Changes of each kind that a text rendering lists before it only counts them."""


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


@attrs.frozen(kw_only=True)
class Comparison(Report):
    """Result of `compare_reports`: the changes worst first, the counts, the suite verdict."""

    version: ClassVar[int] = 1

    regressions: tuple[CaseChange, ...]
    """Cases whose score dropped by more than *threshold*, the largest drop first."""
    improvements: tuple[CaseChange, ...]
    """Cases whose score rose by more than *threshold*, the largest rise first."""
    n_unchanged: int
    new_cases: tuple[CaseChange, ...]
    removed_cases: tuple[CaseChange, ...]
    newly_failing: tuple[CaseChange, ...]
    """Cases that have a score in the baseline and only an instrument's failure now."""
    suite: SuiteVerdict
    """The verdict on the suite; of several metrics the one that looks worst."""
    suites: FrozenMapping[str, SuiteVerdict]
    """The verdict on each metric by itself; with several a false alarm is likelier than with
    one."""
    threshold: float
    baseline_name: str
    current_name: str

    @property
    def has_regressions(self) -> bool:
        """Whether any case dropped by more than the threshold."""
        return bool(self.regressions)

    def raise_for_regressions(
        self, *, on: Literal["cases", "suite"] = "cases", allow_missing: bool = False
    ) -> None:
        """
        Raise if the current run is worse: what a CI job calls.

        Args:
            on: ``"cases"`` stops at any case that dropped by more than the threshold, ``"suite"``
                only where the suite verdict is ``"regressed"``.
            allow_missing: Whether baseline cases may be missing from the current run, or fail in
                it; by default they stop too, so that deleting a failing case does not help.

        Raises:
            RegressionError: If the run got worse, naming the first cases.
            InputError: If *on* is neither word.
        """
        check_choice("on", on, ("cases", "suite"))
        check_flag("allow_missing", allow_missing)
        reasons: list[str] = []
        if on == "cases" and self.regressions:
            reasons.append(_listed("regressed", self.regressions))
        if on == "suite":
            reasons += [
                f"the suite regressed in {metric}: {_suite_line(suite)}"
                for metric, suite in self.suites.items()
                if suite.verdict == "regressed"
            ]
        if not allow_missing and self.removed_cases:
            reasons.append(_listed("missing from the current run", self.removed_cases))
        if not allow_missing and self.newly_failing:
            reasons.append(_listed("newly failing", self.newly_failing))
        if reasons:
            raise RegressionError("; ".join(reasons))

    def to_text(self) -> str:
        """Return the comparison as plain text, numbers rounded for display."""
        lines = [
            f"Comparison of {one_line(self.current_name)} with {one_line(self.baseline_name)}"
        ]
        for title, suite in self._titled_suites():
            lines.append(f"{title}: {suite.verdict}, {_suite_line(suite)}")
            lines.append(f"       {_detectable(suite)}")
        for title, changes in self._sections():
            lines.append(f"{title}: {len(changes)}")
            width = max((len(_label(change)) for change in changes[:MAX_ROWS]), default=0)
            lines += [
                f"  {_label(change):<{width}}  {_shift(change)}" for change in changes[:MAX_ROWS]
            ]
            if len(changes) > MAX_ROWS:
                lines.append(f"  and {len(changes) - MAX_ROWS} more")
        lines.append(f"Unchanged: {self.n_unchanged} (within {self.threshold:g})")
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Return the comparison as Markdown for a pull request, case names escaped."""
        lines = [
            f"### {_escape(self.current_name)} compared with {_escape(self.baseline_name)}",
        ]
        for title, suite in self._titled_suites():
            lines += ["", f"**{_escape(title)}: {suite.verdict}**, {_suite_line(suite)};"]
            lines.append(f"{_detectable(suite)}.")
        for title, changes in self._sections():
            lines += ["", f"**{title}: {len(changes)}**"]
            if changes:
                lines += ["", "| case | metric | baseline | current | change |"]
                lines.append("|---|---|---:|---:|---:|")
            lines += [
                f"| {_escape(_label(change))} | {_escape(change.metric)} | "
                f"{_number(change.baseline)} | {_number(change.current)} | "
                f"{_number(change.delta, sign='+')} |"
                for change in changes[:MAX_ROWS]
            ]
            if len(changes) > MAX_ROWS:
                lines += ["", f"and {len(changes) - MAX_ROWS} more"]
        lines += ["", f"Unchanged: {self.n_unchanged} (within {self.threshold:g})"]
        return "\n".join(lines)

    def _titled_suites(self) -> list[tuple[str, SuiteVerdict]]:
        several = len(self.suites) > 1
        return [
            (f"Suite, {metric}" if several else "Suite", suite)
            for metric, suite in self.suites.items()
        ]

    def _sections(self) -> list[tuple[str, tuple[CaseChange, ...]]]:
        optional = [
            ("New cases", self.new_cases),
            ("Missing cases", self.removed_cases),
            ("Newly failing", self.newly_failing),
        ]
        return [
            ("Regressions", self.regressions),
            ("Improvements", self.improvements),
            *(section for section in optional if section[1]),
        ]


def compare_reports(
    baseline: Comparable,
    current: Comparable,
    *,
    threshold: float = 0.05,
    confidence: float = 0.95,
) -> Comparison:
    """
    Say what changed from one run to another, case by case and for the suite as a whole.

    Cases are paired by case and model, or by case alone where each side holds one model, so that
    two models can be compared.  A case's score is the mean over its attempts; it regressed if it
    dropped by **more** than *threshold*.  The list of cases describes; the suite verdict decides.

    The suite verdict is paired over cases.  Where every attempt scored 0 or 1 it is the
    Cochran-Mantel-Haenszel test over the attempts, its interval the weighted risk difference with
    the variance of that test; otherwise a paired t test on the cases' scores (the mean over models
    where there are several).  It reads ``"regressed"`` or ``"improved"`` where the interval lies
    wholly on one side of zero; otherwise ``"no evidence"`` if a change of *threshold* would have
    been seen with 80 % power, and ``"inconclusive"`` if it would not.  Where nothing varies
    neither test says anything: the interval is then Wilson's bound on the share of cases that
    could have changed unseen.  Intervals are cut to the possible ``[-1, 1]``.

    Args:
        baseline: The run to compare with: a report (of a `SqlReport` each metric is compared by
            itself), or a mapping from case to its score or to the scores of its attempts, each in
            ``[0, 1]`` (booleans count 0 and 1).
        current: The run to judge, of the same kind.
        threshold: Smallest change of a case that does not count, in ``[0, 1]``.
        confidence: Level of the suite's interval, in ``(0, 1)``.

    Returns:
        A frozen `Comparison`.

    Raises:
        InputError: If a side is empty, a score is outside ``[0, 1]``, or no case is in both.
        TypeError: If the sides are not two reports of one kind or two mappings.

    Examples:
        >>> before = {"sort": 1.0, "parse": 0.8, "merge": 0.5}
        >>> after = {"sort": 0.95, "parse": 0.4, "merge": 0.9}
        >>> result = compare_reports(before, after)
        >>> [change.case_id for change in result.regressions], result.n_unchanged
        (['parse'], 1)
        >>> result.suite.verdict
        'inconclusive'
        >>> compare_reports({"sort": 1.0}, {"parse": 1.0})
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: current must be a run with a case of baseline, got ['parse']

    References:
        Agresti, "Categorical Data Analysis", 3rd ed., section 6.4.

    .. versionadded:: 0.1.0
    """
    threshold = check_number("threshold", threshold, 0.0, 1.0)
    confidence = check_number("confidence", confidence, 0.0, 1.0, open_ends=True)
    old, new = _read("baseline", baseline), _read("current", current)
    if _kind(baseline) != _kind(current):
        refuse("current", f"a {_kind(baseline)} like baseline", current, TypeError)
    by_case = len(old.models) == len(new.models) == 1
    before, after = old.keyed(by_case=by_case), new.keyed(by_case=by_case)
    common = [key for key in before if key in after]
    if not common:
        refuse("current", "a run with a case of baseline", [key.case_id for key in after])
    shared_model = next(iter(old.models)) if old.models == new.models else None

    def change(key: _Key, scores: tuple[float | None, float | None]) -> CaseChange:
        left, right = scores
        return CaseChange(
            case_id=key.case_id,
            model=shared_model if by_case else key.model,
            metric=key.metric,
            baseline=left,
            current=right,
            delta=None if left is None or right is None else right - left,
        )

    deltas = {key: fmean(after[key]) - fmean(before[key]) for key in common}
    moved = [
        change(key, (fmean(before[key]), fmean(after[key])))
        for key, delta in sorted(deltas.items(), key=lambda item: item[1])
        if abs(delta) > threshold + DECIMAL_NOISE
    ]
    suites = FrozenMapping(
        {
            metric: suite_verdict(
                [(key.case_id, before[key], after[key]) for key in common if key.metric == metric],
                threshold,
                confidence,
            )
            for metric in dict.fromkeys(key.metric for key in common)
        }
    )
    return Comparison(
        regressions=tuple(c for c in moved if c.delta is not None and c.delta < 0),
        improvements=tuple(c for c in reversed(moved) if c.delta is not None and c.delta > 0),
        n_unchanged=len(common) - len(moved),
        new_cases=tuple(
            change(key, (None, fmean(after[key])))
            for key in after
            if key not in before and key not in old.failing
        ),
        removed_cases=tuple(
            change(key, (fmean(before[key]), None))
            for key in before
            if key not in after and key not in new.failing
        ),
        newly_failing=tuple(
            change(key, (fmean(before[key]), None))
            for key in before
            if key not in after and key in new.failing
        ),
        suite=min(suites.values(), key=_looks),
        suites=suites,
        threshold=threshold,
        baseline_name=old.name("the baseline"),
        current_name=new.name("the current run"),
    )


# Reading both sides into one form.


class _Key(NamedTuple):
    metric: str
    case_id: str
    model: str | None


class _Side(NamedTuple):
    attempts: dict[_Key, tuple[float, ...]]
    models: frozenset[str | None]
    failing: frozenset[_Key]

    def keyed(self, *, by_case: bool) -> dict[_Key, tuple[float, ...]]:
        if not by_case:
            return self.attempts
        return {key._replace(model=None): scores for key, scores in self.attempts.items()}

    def name(self, default: str) -> str:
        names = [model for model in self.models if model is not None]
        return names[0] if len(names) == 1 else default


def _kind(run: object) -> str:
    return type(run).__name__ if isinstance(run, CodeReport | SqlReport) else "mapping"


def _read(name: str, run: object) -> _Side:
    failing: frozenset[_Key] = frozenset()
    if isinstance(run, CodeReport):
        attempts = {_Key("code_score", c.case_id, c.model): c.scores for c in run.cases}
    elif isinstance(run, SqlReport):
        attempts, failing = _sql_attempts(run)
    elif is_mapping(run):
        attempts = {
            _Key("score", _case_id(name, case), None): _scores(f"{name}[{shown(case)}]", value)
            for case, value in run.items()
        }
    else:
        refuse(name, "a CodeReport, a SqlReport or a mapping from case to score", run, TypeError)
    if not attempts and not failing:
        refuse(name, "a run with at least one case", {})
    return _Side(attempts, frozenset(key.model for key in attempts), failing)


def _sql_attempts(report: SqlReport) -> tuple[dict[_Key, tuple[float, ...]], frozenset[_Key]]:
    """Return the scores by metric and case, and what has only placeholders for scores."""
    attempts: dict[_Key, tuple[float, ...]] = {}
    failing: set[_Key] = set()
    for case in report.cases:
        for metric, result in case.metrics().items():
            key = _Key(metric, case.case_id, None)
            if failed(result):
                failing.add(key)
            else:
                attempts[key] = (*attempts.get(key, ()), result.score)
    return attempts, frozenset(failing - attempts.keys())


def _case_id(name: str, case: object) -> str:
    if not isinstance(case, str):
        refuse(f"a case of {name}", "a string", case, TypeError)
    return case


def _scores(name: str, value: object) -> tuple[float, ...]:
    if is_ordered(value) or isinstance(value, str):
        items = check_items(name, value, what="scores")
        return tuple(_score(f"{name}[{i}]", item) for i, item in enumerate(items))
    return (_score(name, value),)


def _score(name: str, value: object) -> float:
    return (
        float(check_flag(name, value)) if is_flag(value) else check_number(name, value, 0.0, 1.0)
    )


_SEVERITY = ("regressed", "inconclusive", "no evidence", "improved")


def _looks(suite: SuiteVerdict) -> tuple[int, float]:
    """Order verdicts, the worst first."""
    return _SEVERITY.index(suite.verdict), suite.p_value


# Text.


def _label(change: CaseChange) -> str:
    parts = [change.case_id]
    if change.model is not None:
        parts.append(change.model)
    return one_line(" / ".join(parts))


def _number(value: float | None, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.3f}"


def _shift(change: CaseChange) -> str:
    text = f"{one_line(change.metric)} {_number(change.baseline)} -> {_number(change.current)}"
    return text if change.delta is None else f"{text} ({change.delta:+.3f})"


def _suite_line(suite: SuiteVerdict) -> str:
    level = f"{100 * suite.interval.confidence:g} %"
    low, high = suite.interval.low, suite.interval.high
    return (
        f"{suite.delta:+.3f} [{low:+.3f}, {high:+.3f}] ({level}, {suite.test}, "
        f"p = {suite.p_value:.2g}, {suite.n_cases} case{'s' * (suite.n_cases > 1)})"
    )


def _detectable(suite: SuiteVerdict) -> str:
    effect = suite.minimum_detectable_effect
    if effect is None:
        return "one case cannot show how large a change would have been seen"
    if effect > 1:
        return "not even a change from 0 to 1 would have been seen four times in five"
    return f"a change of {effect:.3f} would have been seen four times in five"


def _listed(what: str, changes: tuple[CaseChange, ...]) -> str:
    names = ", ".join(_label(change) for change in changes[:5])
    more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""  # noqa: PLR2004 - as above
    return f"{len(changes)} {what}: {names}{more}"


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()#+!|~-])", r"\\\1", html.escape(one_line(text), quote=False))
