"""What a run was measured with: `Ruler`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, Self

import attrs

from scorekit._core.mappings import FrozenMapping, frozen_mappings
from scorekit._core.text import key_of
from scorekit._sheet.model import Sheet, Table, line_of
from scorekit._sheet.values import counted
from scorekit.intervals import Interval
from scorekit.records import Record

EMPTY: Final[FrozenMapping[str, Any]] = FrozenMapping()
NONE: Final[FrozenMapping[str, str]] = FrozenMapping()

EVERY: Final = ""
"""Where settings stand that concern every metric."""

JUDGE: Final = "judge"

HARNESS: Final = "harness"
"""A version that is named where it differs, and taken to change no score."""

CONCERNS: Final[Mapping[str, frozenset[str]]] = {
    "expected": frozenset({"query_correctness", "column_accuracy", "table_accuracy"}),
    "schema": frozenset({"query_correctness", "column_accuracy"}),
    "dialect": frozenset(
        {"query_correctness", "column_accuracy", "table_accuracy", "result_accuracy"}
    ),
    "question": frozenset({"query_correctness"}),
    "keys": frozenset({"query_correctness"}),
    "engine": frozenset({"query_correctness"}),
    "evidence": frozenset({"query_correctness"}),
    "contested": frozenset({"query_correctness"}),
    "functions": frozenset({"query_correctness"}),
    "rule": frozenset({"query_correctness", "result_accuracy"}),
    "row_order": frozenset({"query_correctness", "result_accuracy"}),
    "semantics": frozenset({"query_correctness", "result_accuracy"}),
    "column_order": frozenset({"query_correctness", "result_accuracy"}),
    "tolerance": frozenset({"query_correctness", "result_accuracy"}),
    "expected_tables": frozenset({"table_accuracy"}),
    "expected_rows": frozenset({"result_accuracy"}),
    "also_accepted_rows": frozenset({"result_accuracy"}),
    "should_pass": frozenset({"safety_validation", "validation_accuracy"}),
    "expected_safe": frozenset({"safety_validation"}),
}
"""The metrics of SQL cases that each thing they are measured with can change."""

UNJUDGED: Final = frozenset[str]().union(*CONCERNS.values()) - {"query_correctness"}
"""Metrics of SQL cases that no judge decides."""

OF_ANSWERS: Final = frozenset({"should_pass", "expected_safe"})
"""What is true of one answer: another answer has another one, which is no other ruler."""

ANSWERS: Final = frozenset(
    {"generated_rows", "errors", "is_valid", "safety_valid", "syntax_valid", "schema_valid"}
)
"""What of a case comes of the system that is measured, beside the query, and can change a
score."""

NO_RULE: Final = ("locate", "audit")
"""Options that change no score."""

NO_SCORE: Final = frozenset({*ANSWERS, "generated", "confidence"})
"""Inputs that are no part of a ruler."""

VERSION: Final = "version of "
"""What the name of a version begins with beside other things that a case was measured with."""

ORDER: Final = "row_order"
"""An option that counts at cases alone whose order of rows is compared."""

OF_CASES: Final = frozenset({"keys", *NO_RULE})
"""Options of which each case has its own, or that change no score."""

VERSIONS: Final = FrozenMapping({"metrics": "1"})
"""What the metrics mean: another number wherever the same inputs get another score."""

DIGITS: Final = 12
"""Of the digest of an input."""

ASKED_ONLY: Final = "question"
"""What only a judge reads."""

WORDS: Final = {
    "expected": "reference",
    "expected_tables": "list of expected tables",
    "expected_rows": "list of expected rows",
    "also_accepted_rows": "list of accepted rows",
}
"""What single cases are measured with, where it is called otherwise than its field."""


ALSO: Final = "\n"
"""Between several values of one name; no value has it, as each is a line."""

MOST_NAMED: Final = 3
"""Differences that a line names."""


def digest_of(value: object) -> str:
    """Return a short digest of an input, the same in every process."""
    return key_of(json.dumps(value, default=dict))[:DIGITS]


@attrs.frozen(kw_only=True, repr=False)
class Ruler(Record):
    """
    What a run was measured with: two runs can be compared as far as these agree.

    Every report has one as *ruler*, and `compare_reports` compares them.
    """

    settings: FrozenMapping[str, FrozenMapping[str, str]] = attrs.field(
        default=EMPTY, converter=frozen_mappings
    )
    """By metric, each option that can change its scores, with its value. What concerns every
    metric stands under an empty name."""
    cases: FrozenMapping[str, FrozenMapping[str, str]] = attrs.field(
        default=EMPTY, converter=frozen_mappings
    )
    """By case, a digest of each thing that it was measured with, such as its reference."""
    judges: FrozenMapping[str, str] = attrs.field(default=EMPTY, converter=frozen_mappings)
    """By case, who judged it, where a judge decided."""
    versions: FrozenMapping[str, str] = attrs.field(default=EMPTY, converter=frozen_mappings)
    """Versions of what measures: of the metrics, and of a harness or a dataset where it is
    known."""
    unknown: tuple[str, ...] = ()
    """What is not known of this run, such as the judge of a report of before."""

    def of(self, metric: str, case_id: str) -> dict[str, str]:
        """
        Return what a case was measured with, as far as it can change a metric.

        Examples:
            >>> ruler = Ruler(settings={"": {"rubric": "v2"}})
            >>> ruler.of("score", "task-1")
            {'rubric': 'v2'}
        """
        found = {**self.settings.get(EVERY, NONE), **self.settings.get(metric, NONE)}
        found |= {f"{VERSION}{n}": text for n, text in self.versions.items() if n != HARNESS}
        for name, digest in self.cases.get(case_id, NONE).items():
            if name != ORDER and metric in CONCERNS.get(name, (metric,)):
                found[name] = digest
        if case_id in self.judges and metric not in UNJUDGED:
            found[JUDGE] = self.judges[case_id]
        return found

    @classmethod
    def together(cls, rulers: Iterable[Ruler | None]) -> Self | None:
        """Return what several repeats of a suite were measured with; None if that is not known."""
        known = [one for one in rulers if one is not None]
        if not known:
            return None
        first, *others = known
        return cls(
            settings=FrozenMapping(
                {
                    metric: joined([own, *(one.settings.get(metric, {}) for one in others)])
                    for metric, own in first.settings.items()
                }
            ),
            cases=FrozenMapping(
                {
                    case_id: joined([own, *(one.cases.get(case_id, {}) for one in others)])
                    for case_id, own in first.cases.items()
                }
            ),
            judges=joined([first.judges, *(one.judges for one in others)]),
            versions=joined([first.versions, *(one.versions for one in others)]),
            unknown=tuple(sorted({*first.unknown, *(n for one in others for n in one.unknown)})),
        )

    def _line(self) -> str:
        n_settings = sum(map(len, self.settings.values()))
        parts = [counted(n_settings, "setting")]
        if self.cases:
            parts.append(f"{counted(len(self.cases), 'case')} with references of their own")
        judge = self.settings.get(EVERY, NONE).get(JUDGE)
        judges = dict.fromkeys(self.judges.values() if judge is None else [judge])
        if judges:
            names = dict.fromkeys(ALSO.join(judges).split(ALSO))
            parts.append(f"judged by {', '.join(names)}")
        elif JUDGE not in self.unknown:
            parts.append("no judge")
        if self.unknown:
            parts.append(f"not known: {', '.join(self.unknown)}")
        return ", ".join(parts)

    def _sheet(self) -> Sheet:
        rows: list[dict[str, object]] = [
            {"metric": metric or "every metric", "setting": name, "value": value}
            for metric, own in self.settings.items()
            for name, value in own.items()
        ]
        rows.extend(
            {"metric": "version", "setting": name, "value": value}
            for name, value in self.versions.items()
        )
        return Sheet("Ruler", self._line(), (Table(rows=rows),))


def also(texts: str, text: str) -> str:
    """Return several values of one name, and another one beside them if it is none of these."""
    return texts if text in texts.split(ALSO) else f"{texts}{ALSO}{text}"


def joined(several: Iterable[Mapping[str, str]]) -> FrozenMapping[str, str]:
    """Return all values of each name, different ones side by side."""
    first, *others = several
    if all(one == first for one in others):
        return FrozenMapping(first)
    found: dict[str, dict[str, None]] = {}
    for one in (first, *others):
        for name, value in one.items():
            found.setdefault(name, {})[value] = None
    return FrozenMapping({name: ALSO.join(values) for name, values in found.items()})


@attrs.frozen(kw_only=True, repr=False)
class RulerEffect(Record):
    """How much of the change of a suite comes of the ruler."""

    verdict: Literal["stricter", "more lenient", "no change detected"]
    """What *interval* says: below 0 today's ruler is stricter."""
    delta: float
    """Part of the mean change that the ruler makes, over all cases of the suite."""
    interval: Interval
    n_anchors: int
    """Answers that were measured with both rulers."""

    def _line(self) -> str:
        low, high = self.interval.low, self.interval.high
        level = f"{100 * self.interval.confidence_level:.4g} %"
        said = "the ruler did not change measurably"
        if self.verdict != "no change detected":
            said = f"the ruler is {self.verdict}"
        anchors = counted(self.n_anchors, "answer")
        return f"{said}: {self.delta:+.3f} [{low:+.3f}, {high:+.3f}] ({level}, {anchors})"


@attrs.frozen(kw_only=True, repr=False)
class RulerChange(Record):
    """What differs between the rulers of two runs, and what a comparison made of that."""

    differences: FrozenMapping[str, int] = EMPTY
    """What differs, with the number of cases of a suite that it concerns at most."""
    n_cases: int = 0
    """Cases that both runs have, in the suite in which most were measured otherwise."""
    n_otherwise: int = 0
    """Cases of that suite that were measured otherwise."""
    n_left: int = 0
    """Cases of that suite that are compared: measured alike, or known with one ruler."""
    is_ignored: bool = False
    """Whether the cases that were measured otherwise are compared all the same."""
    unknown: tuple[str, ...] = ()
    """What is not known of one of the runs, so that it was not compared."""
    assumed: tuple[str, ...] = ()
    """What differs and is taken to change no score: the version of a harness."""
    several: FrozenMapping[str, tuple[str, ...]] = EMPTY
    """The judges of a run that has several, by run."""
    n_judged_twice: int = 0
    """Unchanged answers that the same judge decided in both runs."""
    n_changed_mind: int = 0
    """Those of them that it decided otherwise; that is no change of the system."""
    n_same_undecided: int = 0
    """Unchanged answers that nobody decided in either run; they have not changed."""
    effects: FrozenMapping[str, RulerEffect] = EMPTY
    """By suite, the part of the change that the ruler makes, where anchors show it."""
    is_split: bool = False
    """Whether the verdict is of the system's part, as anchors show it."""
    unmeasured: tuple[str, ...] = ()
    """Metrics of which no case was measured alike."""
    too_few: tuple[str, ...] = ()
    """Suites of which fewer than half of the cases are left, and which no anchors decide."""

    @property
    def said(self) -> str:
        """What differs, in words; empty where nothing does."""
        named = [*self.differences][:MOST_NAMED]
        more = len(self.differences) - len(named)
        return "; ".join([*named, *([f"{more} more differences"] if more else [])])

    @property
    def lead(self) -> str:
        """What the first line of a comparison begins with; empty where nothing differs."""
        if not self.differences:
            return ""
        if self.is_ignored:
            return f"{self.said} (ignored), so this is no verdict on the system alone: "
        if self.is_split:
            return f"{self.said}; the system's part: "
        if self.unmeasured:
            return f"{self.said}; no case of {', '.join(self.unmeasured)} was measured alike: "
        if self.n_left == self.n_cases:
            return f"{self.said}; with one ruler for both runs: "
        return f"{self.said}; at the {self.n_left} of {self.n_cases} cases with one ruler: "

    def remarks(self) -> list[str]:
        """Return what else there is to say: the ruler's part, and answers that did not change."""
        found = [
            f"{f'{name}: ' if len(self.effects) > 1 else ''}{line_of(effect)}"
            for name, effect in self.effects.items()
        ]
        if self.n_changed_mind:
            found.append(
                f"the judge changed its mind about {self.n_changed_mind} of the "
                f"{self.n_judged_twice} unchanged answers that it decided in both runs; "
                "that is no change of the system"
            )
        if self.n_same_undecided:
            found.append(
                f"{counted(self.n_same_undecided, 'case')} undecided and the same in both runs: "
                "unchanged, and 0 in both means"
            )
        found += [
            f"{name} has several judges: {', '.join(judges)}"
            for name, judges in self.several.items()
        ]
        found += [f"{one}; taken to score alike" for one in self.assumed]
        if self.unknown:
            found.append(f"not known of one run or of both: {', '.join(self.unknown)}")
        return found

    def _line(self) -> str:
        return self.said or "measured alike"
