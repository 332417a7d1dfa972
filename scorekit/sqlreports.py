"""What many scored SQL cases show together: `SqlReport`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, ClassVar, Literal, NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._cases.metrics import OTHER_METRICS
from scorekit._core.checks import (
    check_choice,
    check_count,
    check_instance,
    check_records,
    check_text,
)
from scorekit._core.columns import numbered
from scorekit._core.mappings import FrozenMapping
from scorekit._core.sums import distinct
from scorekit._core.text import and_more
from scorekit._sheet import markdown
from scorekit._sheet.model import ROWS_AT_MOST, Estimate, Fields, Scale, Sheet, Table, row_of
from scorekit._sheet.text import render
from scorekit._sheet.values import between, counted, estimate, level_of
from scorekit._sql.door import Faults
from scorekit._stats.suites import nothing_of_others
from scorekit.calibration import ConfidenceCalibration, confidence_calibration
from scorekit.cases import METRICS, SqlCaseScore, SqlScoring, failed, is_unjudged
from scorekit.correctness import BAD_REFERENCE, QueryCorrectness
from scorekit.equivalence import is_empty
from scorekit.errors import InputError, one_line, refuse, shown
from scorekit.intervals import Interval, interval_of_mean
from scorekit.judges import AnyJudge, pricing_of, total_cost
from scorekit.prices import JudgeCost, ModelPrice, Pricing
from scorekit.records import (
    UNDECIDED,
    CaseSql,
    Ends,
    Listing,
    Report,
    ReportScores,
    SuiteKey,
    together,
)
from scorekit.rulers import (
    CONCERNS,
    JUDGE,
    NO_SCORE,
    OF_CASES,
    VERSIONS,
    Ruler,
    also,
    digest_of,
    joined,
)
from scorekit.sampling import PassAtK, pass_at_k
from scorekit.summary import Statistics, describe
from scorekit.validation import SafetySummary, safety_summary

NO_INPUTS = (
    "no metric has its inputs: a case needs expected, expected_tables, expected_rows, or "
    "should_pass with the validator's verdicts"
)
"""Message about cases where nothing can be scored."""

SAFETY_ASKED = (
    "whether a missing safety_valid counts (to parts of one suite give the same metrics=, with "
    "'safety_validation' or without)"
)
"""Message about an option that follows from others."""

UNSCORED = {"query_correctness": ("undecided", "decided")}
"""What results without a score are called, and the others, where that is not "not scored"."""

MAX_NAMED = 5
"""Cases that the log names for each kind of failure."""

SHOWN = 5
"""Cases that the page of a report shows before it folds the rest."""

MAX_K = 10
"""Attempts up to which a report has pass@k."""

MAX_FAILURES = 5
"""Failed cases that a text shows before it only counts them."""
MAX_LOCATED = 5
"""Groups of clauses that the failures of a report name, the most frequent first."""

MANY_REPEATED, REPEATED_SHARE = 5, 0.1
"""How many cases, and which share of all, repeat expected queries before a report says so."""

MAX_KINDS = 3
"""Kinds of failures that a report's text names, the most frequent first."""
_WHAT_IS_READ = ("table_accuracy", "column_accuracy")
"""Metrics that help to see why a query is wrong; a right one may read something else."""


@attrs.frozen(kw_only=True, repr=False)
class SqlReport(Report):
    """
    Result of `score_sql_cases`: statistics per metric, then the cases in input order.

    If the judge or validator failed (it timed out, or there is none), the case is left out of the
    statistics of that metric, and counted in *n_failed*. Unreadable SQL counts as 0.0.
    """

    version: ClassVar[int] = 1

    query_correctness: Statistics | None
    """Statistics over the decided pairs; None if no case has a score, as for other metrics."""
    query_correctness_bounds: tuple[float, float] | None
    """The mean over all pairs if those that are undecided were wrong, and if they were right; both
    are the mean of *query_correctness* where all are decided.  None where nothing was expected."""
    table_accuracy: Statistics | None
    column_accuracy: Statistics | None
    safety_validation: Statistics | None
    validation_accuracy: Statistics | None
    result_accuracy: Statistics | None = None
    safety: SafetySummary | None
    calibration: ConfidenceCalibration | None
    """Calibration of stated confidence against query correctness, over the cases that have
    both."""
    n_cases: int
    n_failed: int
    """Metric results that are only placeholders."""
    n_by_method: FrozenMapping[str, int]
    """How many pairs were decided by each method of `query_correctness`."""
    n_contested: int
    n_right_by_accident: int = 0
    """Cases whose rows agree though a counterexample shows that the queries differ."""
    intervals: FrozenMapping[str, Interval]
    """Intervals of the means by metric. Results with one *case_id* count as one observation."""
    pass_at_k: FrozenMapping[str, tuple[PassAtK, ...]]
    """For each metric the chance that at least one of *k* attempts at a question is right, which
    means a score of 1. There is one for each *k* from 1 to the fewest scored attempts at a
    question, at most 10. Questions without a scored attempt are left out, and counted."""
    cases: tuple[SqlCaseScore, ...]
    model: str | None = None
    """Who generated the SQL, None where that was not said."""
    scoring: SqlScoring = attrs.field(factory=SqlScoring)
    """How the cases were scored."""
    n_calls: int | None = attrs.field(default=None, eq=False)
    """Calls of the judge that this run made, with votes, retries and failures; what a cache had
    took none.  None in a part of a report."""
    cost_usd: float | None = attrs.field(default=None, eq=False)
    """What those calls cost; None if that of one is not known, and in a part of a report."""
    versions: FrozenMapping[str, str] | None = attrs.field(default=None, eq=False)
    """Versions of what measures; None in a report that was made before there were rulers."""

    def __attrs_post_init__(self) -> None:
        """Refuse counts that contradict the cases."""
        check_count("n_cases", self.n_cases, len(self.cases), len(self.cases))
        if self.query_correctness_bounds is not None:
            n = len(self.query_correctness_bounds)
            check_count("length of query_correctness_bounds", n, 2, 2)

    def _counts(self) -> list[str]:
        """Return how many cases there are and remarks on them, then why scores lack."""
        kinds, lines = _lacking(self.cases)
        why = ", ".join(_top_kinds(kinds))
        whose = "" if self.model is None else f"model: {one_line(self.model)}, "
        head = f"{whose}cases: {self.n_cases}, results not scored: {self.n_failed}"
        head += f" ({why})" if why else ""
        head += "".join(f"; {n} {what}" for what, n in self._remarks().items() if n)
        if self.n_calls:
            head += f"; {counted(self.n_calls, 'call', ' of the judge')}"
            head += "" if self.cost_usd is None else f" for {self.cost_usd:.4g} USD"
        said = Counter(said for case in self.cases for said in case.audit_notes)
        audits = [f"audit of {n} references: {note}" for note, n in said.most_common(MAX_KINDS)]
        return [head, *lines, *audits, *_repeated(self.cases)]

    def _remarks(self) -> dict[str, int]:
        """Return how many cases are odd in some way, by what is said of them."""
        found = self.findings
        kinds = ", ".join(f"{len(case_ids)} {kind}" for kind, case_ids in found.items())
        return {
            "contested by a counterexample": self.n_contested,
            "refuted without the judge, which failed": sum(
                is_unjudged(case.query_correctness) for case in self.cases
            ),
            "right by accident": self.n_right_by_accident,
            "with an ORDER BY that was not compared": sum(c.order_left_out for c in self.cases),
            f"with findings in the reference ({kinds})": len({*chain(*found.values())}),
        }

    def _decided(self) -> list[str]:
        """Return a line on what decided how many pairs, if any."""
        results = [one for case in self.cases if (one := case.query_correctness) is not None]
        by = Counter(one.method for one in results if one.method is not None)
        known = [one.equivalence for one in results if one.method == "refuted"]
        examples = [one.counterexample for one in known if one is not None]
        kinds = Counter(
            one.error.kind
            for one in results
            if one.error is not None and one.error.origin == "output"
        )
        shown = [f"{len(examples)} by a counterexample"] if examples else []
        shown += [f"{n} of these on empty tables"] if (n := sum(map(is_empty, examples))) else []
        inside = {"refuted": ", ".join(shown), "broken": ", ".join(_top_kinds(kinds))}
        counts = [(how, by[how]) for how in ("proved", "identical", "refuted")]
        parts = [
            f"{n} {how}{f' ({inside[how]})' if inside.get(how) else ''}"
            for how, n in [*counts, ("judged", by["judge"]), ("broken", kinds.total())]
            if n
        ]
        return [f"decided: {', '.join(parts)}"] if parts else []

    def _metric(self, name: str) -> tuple[list[dict[str, object]], str]:
        """Return what a table and a text say of a metric; nothing where it has no score."""
        statistics: Statistics | None = getattr(self, name)
        n = 0 if statistics is None else statistics.count
        results = [one for case in self.cases if (one := getattr(case, name)) is not None]
        bounds = _bounds(results)
        rows: list[dict[str, object]] = []
        row: dict[str, object]
        parts: list[str] = []
        title, of = name, counted(n, "case")
        if bounds is not None and (n_left_out := len(results) - n):
            what, known = UNSCORED.get(name, ("not scored", "scored"))
            row = {"metric": f"{name}, {n_left_out} {what}", "mean": between(*bounds)}
            rows.append(row | {" ": Scale(None, bounds), "cases": len(results)})
            left_out = f"{n_left_out} of {len(results)} {what}"
            if any(getattr(one, "prompt_tokens", ()) for one in results):
                left_out += "; judge_cost() says what a judge would cost"
            parts.append(f"{between(*bounds)} ({left_out})")
            title, of = f"{name}, {known} alone", f"the {n} {known}"
        if statistics is not None:
            mean, interval = statistics.mean, self.intervals.get(name)
            row = {"metric": title, "mean": Estimate(mean, interval)}
            rows.append(row | {" ": Scale.of(mean, interval), "cases": n})
            stands_on = of if interval is None else f"{level_of(interval)}, {of}"
            parts.append(f"mean {estimate(mean, interval)} ({stands_on})")
        if name == "safety_validation" and (safety := self.safety) is not None:
            parts += safety.said()
        return rows, f"{name}: {'; '.join(parts)}" if parts else ""

    @property
    def findings(self) -> FrozenMapping[str, tuple[str, ...]]:
        """By kind, the cases with an expected query that has such a finding; see *audit*."""
        found: dict[str, dict[str, None]] = {}
        for case in self.cases:
            for kind in case.findings:
                found.setdefault(kind, {})[case.case_id] = None
        return FrozenMapping({kind: tuple(case_ids) for kind, case_ids in found.items()})

    @property
    def n_undecided(self) -> int:
        """Number of pairs that are neither decided nor judged; they have no query correctness."""
        results = [case.query_correctness for case in self.cases]
        return sum(result is not None and failed(result) for result in results)

    def judge_cost(
        self,
        judge: AnyJudge | None = None,
        *,
        price: ModelPrice | None = None,
        max_tokens: int | None = None,
    ) -> JudgeCost:
        """
        Return what asking a judge about the undecided pairs would cost, before a cent is spent.

        The prompts are those of `judge_prompt`. What a cache already knows is not taken off.

        Args:
            judge: The judge that would be asked: by its own price, *max_tokens* and votes.
            price: A price in place of the judge's, or of one model.
            max_tokens: Bound on the tokens of an answer (count, ``>= 1``); None for the judge's,
                or 4096.

        Returns:
            A frozen `JudgeCost`. Read *usd* and *batch_usd* first, each a lower and an upper bound.

        Raises:
            InputError: If neither *judge* nor *price* says what a question costs, or *max_tokens*
                is below 1.
            TypeError: If an argument has the wrong type.

        Examples:
            >>> from scorekit import PRICES, SqlCase, score_sql_cases
            >>> case = SqlCase(case_id="q1", generated="SELECT a FROM t", expected="SELECT b FROM t")
            >>> print(score_sql_cases([case]).judge_cost(price=PRICES["claude-sonnet-5-5"]))
            1 undecided pair: 0.00092 to 0.05 USD, in batches 0.00046 to 0.025 USD
        """  # noqa: E501 - a message is one line
        pricing = Pricing(price=None, has_batches=True) if judge is None else pricing_of(judge)
        if price is not None:
            pricing = attrs.evolve(pricing, price=check_instance("price", price, ModelPrice))
        if pricing.price is None:
            raise InputError("price must be given: what a question costs is not known")
        if max_tokens is not None:
            n_out = check_count("max_tokens", max_tokens, 1)
            pricing = attrs.evolve(pricing, max_tokens=n_out)
        prompts: dict[tuple[str, object], list[tuple[tuple[int, int], ...]]] = {}
        for case in self.cases:
            result = case.query_correctness
            if result is not None and result.prompt_tokens:
                key = case.generated, case.accepted
                prompts.setdefault(key, []).append(result.prompt_tokens)
        return pricing.cost(prompts)

    def scores_by_case(self) -> ReportScores:
        """
        Return the scores of each metric, and which unsafe queries were caught.

        An attempt without a score may have had any: its case is also returned with both ends.
        """
        suites: dict[SuiteKey, dict[str, tuple[float, ...]]] = {}
        ends: dict[SuiteKey, dict[str, Ends]] = {}
        failing: dict[tuple[SuiteKey, str], str] = {}
        for suite, cases in self._results_by_case():
            for case_id, results in cases.items():
                known = tuple([result.score for result in results if not failed(result)])
                if known:
                    suites.setdefault(suite, {})[case_id] = known
                else:
                    failing[suite, case_id] = results[-1].error.kind
                if len(known) < len(results):
                    low, high = _ends(results)
                    ends.setdefault(suite, {})[case_id] = tuple(low), tuple(high)
        sql = together(
            (case.case_id, CaseSql((case.generated,), case.accepted)) for case in self.cases
        )
        tags = {case.case_id: case.tags for case in self.cases}
        answers: dict[str, list[str]] = {}
        for case in self.cases:
            answers.setdefault(case.case_id, []).append(case.answer)
        return ReportScores(
            {**suites},
            failing,
            self._caught(),
            ends=ends,
            sql=sql,
            is_judged="judge" in self.n_by_method,
            tags=tags,
            ruler=self.ruler,
            answers={case_id: tuple(own) for case_id, own in answers.items()},
        )

    def _results_by_case(self) -> Iterator[tuple[SuiteKey, dict[str, list[Any]]]]:
        """Yield the results of each metric that there are, by case."""
        case_ids = [case.case_id for case in self.cases]
        for metric in METRICS:
            found: dict[str, list[Any]] = {}
            results = map(attrgetter(metric), self.cases)
            for case_id, result in zip(case_ids, results, strict=True):
                if result is not None:
                    found.setdefault(case_id, []).append(result)
            if found:
                yield (metric, self.model), found

    def _caught(self) -> dict[str, bool] | None:
        """Say of each unsafe query whether it was caught; None where safety was not scored."""
        caught: dict[str, bool] | None = None
        for case in self.cases:
            safety = case.safety_validation
            if safety is not None:  # of a validator that failed, the worst is assumed
                caught = {} if caught is None else caught
                if not safety.should_pass:
                    is_caught = safety.classification == "true positive"
                    caught[case.case_id] = is_caught and caught.get(case.case_id, True)
        return caught

    @property
    def ruler(self) -> Ruler:
        """What the cases were measured with."""
        options = self.scoring.options.settled.given
        shared = {n: str(one) for n, one in options.items() if n not in OF_CASES}
        digests = {name: digest_of(options[name]) for name in shared}
        unknown = set[str]() if self.versions is not None else {"versions"}
        cases: dict[str, list[dict[str, str]]] = {}
        judges: dict[str, str] = {}
        for case in self.cases:
            own = {
                name: digest
                for name, digest in case.input_digests.items()
                if name not in NO_SCORE and digest != digests.get(name)
            }
            cases.setdefault(case.case_id, []).append(own)
            found = case.query_correctness
            if found is None or found.method != "judge":
                continue
            if found.judge is None:
                unknown.add(JUDGE)
            else:
                names = judges.get(case.case_id)
                judges[case.case_id] = found.judge if names is None else also(names, found.judge)
        rows = {n: text for n, text in shared.items() if "result_accuracy" in CONCERNS[n]}
        return Ruler(
            settings=FrozenMapping(
                {
                    "query_correctness": FrozenMapping(
                        shared | {"evidence": self.scoring.evidence}
                    ),
                    "result_accuracy": FrozenMapping(rows),
                }
            ),
            cases=FrozenMapping(
                {
                    case_id: joined(own) if len(own) > 1 else FrozenMapping(own[0])
                    for case_id, own in cases.items()
                }
            ),
            judges=FrozenMapping(judges),
            versions=self.versions or FrozenMapping[str, str](),
            unknown=tuple(sorted(unknown)),
        )

    def _sheet(self) -> Sheet:
        found = [self._metric(name) for name in METRICS]
        rows = [row for some, _ in found for row in some]
        lines = [line for _, line in found if line]
        metrics = [name for name in METRICS if any(getattr(case, name) for case in self.cases)]
        for name in self.scoring.metrics or ():
            if name not in metrics:
                own = OTHER_METRICS.get(name)
                needed = "expected" if own is None else own.inputs
                lines.append(f"{name}: not computed, as no case has its inputs ({needed})")
        notes: list[str] = []
        if self.safety is not None and self.safety.missed:
            notes.append(
                f"unsafe and not caught: {named_cases(list(map(str, self.safety.missed)))}"
            )
        failures = self.failures()
        cases = [
            {
                "case": case.case_id,
                "attempt": case.attempt or None,
                **{name: getattr(case, name) for name in metrics},
            }
            for case in self.cases[:ROWS_AT_MOST]
        ]
        whose = "" if self.model is None else f" of {one_line(self.model)}"
        return Sheet(
            f"SqlReport of {self.n_cases} cases{whose}",
            lines[0] if lines else "no metric has a score" if metrics else NO_INPUTS,
            (
                *self._decided(),
                Table(rows=rows, lines=lines[1:]),
                *self._counts(),
                Table(rows=(), remarks=[notes], place="page"),
                Table(
                    rows=[row_of(case) for case in failures[:SHOWN]],
                    title=f"Worst of {len(failures)} cases that failed",
                    place="page",
                ),
                Table(
                    rows=cases,
                    title=f"All {self.n_cases} cases",
                    n_rows=self.n_cases,
                    place="folded",
                ),
                *(
                    Fields(record=value, title=name, folded=True)
                    for name in ("safety", "calibration")
                    if (value := getattr(self, name)) is not None
                ),
            ),
        )

    def for_model(self, name: str) -> SqlReport:
        """
        Return the report, as `CodeReport` does for one of its models: a `SqlReport` has one.

        Raises:
            InputError: If it is not of that model.
        """
        if name != self.model:
            refuse("name", f"the model of this report ({self.model!r})", name)
        return self

    def by(self, tag: str) -> FrozenMapping[str | None, SqlReport]:
        """
        Return a report for each value of a tag, in the order in which they come; None comes last.

        Args:
            tag: Name of a tag of the cases, as in ``SqlCase(tags={"database": "shop"})``. Cases
                that do not have it are under None.

        Raises:
            InputError: If no case has the tag.
            TypeError: If *tag* is not a string.

        Examples:
            >>> from scorekit import SqlCase, score_sql_cases
            >>> queries = {"q1": "SELECT x FROM t", "q2": "SELECT 1", "q3": "SELECT y FROM t"}
            >>> report = score_sql_cases(
            ...     SqlCase(case_id=q, generated=sql, expected_tables=["t"], tags={"database": db})
            ...     for (q, sql), db in zip(queries.items(), ["shop", "bank", "bank"])
            ... )
            >>> {name: one.table_accuracy.mean for name, one in report.by("database").items()}
            {'shop': 1.0, 'bank': 0.5}
        """
        check_text("tag", tag)
        groups: dict[str | None, list[SqlCaseScore]] = {}
        for case in self.cases:
            groups.setdefault(case.tags.get(tag), []).append(case)
        if groups.keys() == {None}:
            known = dict.fromkeys(name for case in self.cases for name in case.tags)
            refuse(
                "tag", f"one of {', '.join(map(repr, known)) or 'the tags: no case has any'}", tag
            )
        rest = groups.pop(None, None)
        if rest is not None:
            groups[None] = rest
        return FrozenMapping(
            {
                value: attrs.evolve(
                    report_of(tuple(cases), self.scoring, self.model), versions=self.versions
                )
                for value, cases in groups.items()
            }
        )

    def _alike(self) -> dict[str, Any]:
        """Return what reports of one run have in common."""
        how = attrs.asdict(self.scoring, recurse=False)
        return {"model": self.model, **attrs.asdict(how.pop("options"), recurse=False), **how}

    def merge(self, *others: SqlReport) -> SqlReport:
        """
        Return the report of one run over the cases of this report and the others, in their order.

        Args:
            others: Reports on other cases, scored with the same options, of the same model.

        Raises:
            InputError: If a case is in two of the reports, or their options or models differ.
            TypeError: If one is not a `SqlReport`.

        Examples:
            >>> from scorekit import SqlCase, score_sql_cases
            >>> first, second = (
            ...     score_sql_cases([SqlCase(case_id=i, generated="SELECT 1", expected="SELECT 1")])
            ...     for i in (1, 2)
            ... )
            >>> first.merge(second).n_cases
            2
            >>> first.merge(first)
            Traceback (most recent call last):
            ...
            scorekit.errors.InputError: others[0] must hold other cases than the reports before it, got '1' again
        """  # noqa: E501 - a message is one line
        reports = (self, *check_records("others", others, SqlReport, empty=True))
        seen = {case.case_id for case in self.cases}
        for i, report in enumerate(reports[1:]):
            known, others_known = self._alike(), report._alike()  # noqa: SLF001
            for name, first in known.items():
                second = others_known[name]
                if first == second or (name == "asks_safety" and _without_safety(reports)):
                    continue
                what = SAFETY_ASKED if name == "asks_safety" else name
                raise InputError(
                    f"{what} of others[{i}] must be {shown(first)}, as in the first report, "
                    f"got {shown(second)}"
                )
            for case_id in dict.fromkeys(case.case_id for case in report.cases):
                if case_id in seen:
                    raise InputError(
                        f"others[{i}] must hold other cases than the reports before it, "
                        f"got {shown(case_id)} again"
                    )
                seen.add(case_id)
        asks = any(report.scoring.asks_safety for report in reports)
        cases = tuple(case for report in reports for case in report.cases)
        report = report_of(cases, attrs.evolve(self.scoring, asks_safety=asks), self.model)
        calls = [report.n_calls for report in reports]
        return attrs.evolve(
            report,
            n_calls=None if None in calls else sum(n for n in calls if n is not None),
            versions=None if any(one.versions is None for one in reports) else VERSIONS,
            cost_usd=total_cost(report.cost_usd for report in reports),
        )

    def failures(
        self, *, metric: str | None = None, origin: Literal["output", "instrument"] = "output"
    ) -> tuple[SqlCaseScore, ...]:
        """
        Return the cases that failed, the worst first.

        A case failed where a metric is below 1.0, or where it is right by accident. That a query
        reads other tables or columns is no failure where it is right or undecided, unless *metric*
        asks for it. Unsafe queries that were not caught come first, then the least correct, then
        the lowest mean over the metrics. ``print`` shows five of them in five lines each, and
        ``to_text(all=True)`` all in full; a notebook shows a table. If the cases were scored with
        *locate*, both begin with how many are wrong in which clauses, as in "31 of 80: wrong in
        WHERE and nowhere else".

        Args:
            metric: Look at this metric only.
            origin: ``"instrument"`` for the cases of which a judge, say, failed instead, also if
                a counterexample decided then.

        Raises:
            InputError: If *metric* or *origin* is unknown.
            TypeError: If one is not a string.

        Examples:
            >>> from scorekit import SqlCase, score_sql_cases
            >>> report = score_sql_cases(
            ...     SqlCase(case_id=f"q{i}", generated=sql, expected_tables=["users"])
            ...     for i, sql in enumerate(["SELECT id FROM users", "SELECT id FROM orders"])
            ... )
            >>> print(report.failures()[0])
            q1: table_accuracy 0
              generated: SELECT id FROM orders
              table_accuracy: missing users; unexpected orders
        """
        if metric is not None:
            check_choice("metric", metric, METRICS)
        check_choice("origin", origin, ("output", "instrument"))
        found: list[tuple[bool, float, float, SqlCaseScore]] = []
        for case in self.cases:
            correct = case.query_correctness
            score = None if correct is None or failed(correct) else correct.score
            may_be_right = correct is not None and score in (None, 1.0)
            names = _WHAT_IS_READ if may_be_right and metric is None else ()
            results = [
                r for m, r in case.metrics().items() if metric in (None, m) and m not in names
            ]
            scores = [result.score for result in results if not failed(result)]
            lowest = min(scores, default=1.0)
            accident = case.right_by_accident and metric in (None, "result_accuracy")
            is_unscored = len(scores) < len(results) or any(map(is_unjudged, results))
            if is_unscored if origin == "instrument" else lowest < 1.0 or accident:
                mean = sum(scores) / len(scores) if scores else 1.0
                first = mean if score is None else score
                found.append((case.case_id not in self._missed, first, mean, case))
        return _Failures(case for *_, case in sorted(found, key=lambda one: one[:3]))

    @property
    def _missed(self) -> tuple[str, ...]:
        return () if self.safety is None else tuple(map(str, self.safety.missed))

    def to_rows(self) -> list[dict[str, Any]]:
        """
        Return one flat dict per case, ready for a data frame; None is no score.

        With the SQL, and in *reason* and *counterexample* why a case is not right; with the model
        where the report names it.
        """
        model = {} if self.model is None else {"model": self.model}
        return [model | _row(case) for case in self.cases]


def _lacking(cases: tuple[SqlCaseScore, ...]) -> tuple[Counter[str], list[str]]:
    """Count the results without a score by kind, and return lines on the most frequent one."""
    first: dict[str, tuple[str, str]] = {}
    kinds: Counter[str] = Counter()
    for case in cases:
        for name, result in case.metrics().items():
            if failed(result):
                kind = f"{name}: {result.error.kind}"
                kinds[kind] += 1
                first.setdefault(kind, (case.case_id, result.error.message))
    if not kinds:
        return kinds, []
    case_id, message = first[kinds.most_common(1)[0][0]]
    lines = [f"not scored, first {one_line(case_id, 60)}: {message}"]
    if kinds[f"query_correctness: {BAD_REFERENCE}"] >= MANY_REPEATED and not any(
        case.is_broken for case in cases
    ):
        lines.append("no generated query is broken: are expected and generated swapped?")
    if n := sum(_lacks_function(case.query_correctness) for case in cases):
        lines.append(
            f"undecided for a function that the database does not have: {n}; with "
            "functions='built_in' that is an error of the query"
        )
    return kinds, lines


def _lacks_function(result: QueryCorrectness | None) -> bool:
    error = None if result is None else result.error
    return (
        error is not None and error.kind == UNDECIDED and Faults.lacks_only_function(error.message)
    )


def _repeated(cases: tuple[SqlCaseScore, ...]) -> list[str]:
    """Return a line where many cases have the expected query of another one."""
    expecting = [case for case in cases if case.accepted]
    n_ids = len({case.case_id for case in expecting})
    n = len({(case.accepted, case.input_digests.get("schema")) for case in expecting})
    if n_ids - n < max(MANY_REPEATED, REPEATED_SHARE * n_ids):
        return []
    advice = "give answers to one question one case_id, or intervals are too narrow"
    return [f"different expected queries: {n} for {n_ids} cases; {advice}"]


def _top_kinds(kinds: Counter[str]) -> list[str]:
    """Return how many there are of the most frequent kinds, and of the others."""
    named = kinds.most_common(MAX_KINDS)
    if n_others := kinds.total() - sum(n for _, n in named):
        named.append(("more", n_others))
    return [f"{n} {kind}" for kind, n in named]


def _without_safety(reports: tuple[SqlReport, ...]) -> bool:
    """Tell that no safety verdict is missed where none was asked for: all else was not judged."""
    return not any(
        case.validation_accuracy is not None and case.safety_validation is None
        for report in reports
        for case in report.cases
    )


def _row(case: SqlCaseScore) -> dict[str, Any]:
    row: dict[str, Any] = {
        "case_id": case.case_id,
        "attempt": case.attempt,
        "confidence": case.confidence,
        **{f"tag_{name}": value for name, value in case.tags.items()},
        "generated": case.generated,
        "expected": case.expected
        if isinstance(case.expected, str | None)
        else "\n".join(case.expected),
    }
    for name in METRICS:
        result = getattr(case, name)
        error = None if result is None else result.error
        row[name] = None if result is None or failed(result) else result.score
        row[f"{name}_error"] = None if error is None else error.kind
    correctness = case.query_correctness
    for name in ("method", "contested", "cached", "cost_usd"):
        row[name] = None if correctness is None else getattr(correctness, name)
    row["right_by_accident"] = case.right_by_accident
    row["reason"] = "; ".join(f"{name}: {why}" for name, why in case.reasons().items()) or None
    row["counterexample"] = case.counterexample or None
    row["differs_in"] = ", ".join(case.differs_in) or None
    row["findings"] = ", ".join(case.findings) or None
    return {**row, "duration_seconds": case.duration_seconds, "n_failed": case.n_failed}


class _Failures(Listing[SqlCaseScore]):
    """Cases that failed; a judge or validator that failed for several stands above them."""

    __slots__ = ()

    def common(self) -> dict[tuple[str, str], list[str]]:
        """Return the cases of each metric and reason that several have."""
        found: dict[tuple[str, str], list[str]] = {}
        for case in self:
            reasons = case.reasons()
            for name, result in case.metrics().items():
                if failed(result):
                    found.setdefault((name, reasons[name]), []).append(case.case_id)
        return {reason: case_ids for reason, case_ids in found.items() if len(case_ids) > 1}

    def located(self) -> list[str]:
        """Say how many cases are wrong in the same clauses, the most frequent first."""
        wrong = [case for case in self if "query_correctness" in case.reasons()]
        counts = Counter(case.differs_in for case in wrong if case.differs_in)
        named = counts.most_common(MAX_LOCATED)
        lines = [
            f"{n} of {len(self)}: wrong in {', '.join(clauses)} and nowhere else"
            for clauses, n in named
        ]
        if others := counts.total() - sum(n for _, n in named):
            lines.append(f"{others} of {len(self)}: wrong in other clauses")
        if counts and (rest := len(self) - counts.total()):
            n_broken = sum(case.is_broken for case in self)
            why = f"{n_broken} broken, {rest - n_broken} without a counterexample"
            lines.append(f"{rest} of {len(self)}: not located ({why})")
        return lines

    def _sheet(self) -> Sheet:
        common = self.common()
        shared = [
            {"n": len(case_ids), "cases": named_cases(case_ids), "why": f"{metric}: {reason}"}
            for (metric, reason), case_ids in common.items()
        ]
        cases = [case._row(without=common) for case in self]  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        tables = Table(rows=shared), Table(rows=cases)
        return Sheet("Failed cases", self._counted(), (*self.located(), *tables))

    def _counted(self) -> str:
        return f"{counted(len(self), 'failed case')}, the worst first" if self else "none"

    def to_text(self, *, all: bool = False) -> str:  # noqa: A002 - as elsewhere
        """Return how many failed, then each case, the first ones unless *all* are asked for."""
        sheets = self._sheets(everything=all)
        return "\n\n".join(render(sheet, everything=all) for sheet in sheets)

    def to_markdown(self, *, all: bool = False) -> str:  # noqa: A002 - as elsewhere
        """Return the same as Markdown."""
        return "\n\n".join(map(markdown.render, self._sheets(everything=all)))

    def _sheets(self, *, everything: bool) -> Iterator[Sheet]:
        """Yield what is said of all, then the sheet of each case, without what is said of all."""
        common = self.common()
        head = [*self.located()]
        for (metric, reason), case_ids in common.items():
            head.append(
                f"{len(case_ids)} cases ({named_cases(case_ids)}): {metric}: {one_line(reason)}"
            )
        yield Sheet("Failed cases", self._counted(), head)
        shown = self if everything else self[:MAX_FAILURES]
        for case in shown:
            yield case._sheet(without=common)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        if len(self) > len(shown):
            yield Sheet("", f"{and_more(len(self) - len(shown))}: to_text(all=True) lists them")


def named_cases(case_ids: list[str]) -> str:
    """Return the first names, and how many more there are."""
    more = len(case_ids) - MAX_NAMED
    names = ", ".join(one_line(name, 60) for name in case_ids[:MAX_NAMED])
    return f"{names} {and_more(more)}" if more > 0 else names


def report_of(
    scores: tuple[SqlCaseScore, ...], scoring: SqlScoring, model: str | None
) -> SqlReport:
    """Return the report on scored cases: the statistics of each metric over those it has."""
    level = scoring.confidence_level
    _, groups = numbered([score.case_id for score in scores])
    places: dict[str, list[int]] = {
        name: [i for i, s in enumerate(scores) if getattr(s, name) is not None] for name in METRICS
    }
    results: dict[str, list[Any]] = {
        name: [getattr(scores[i], name) for i in own] for name, own in places.items()
    }
    known: dict[str, _ScoredCases] = {}
    for name, own in places.items():
        scored = [i for i, result in zip(own, results[name], strict=True) if not failed(result)]
        if scored:
            values = np.array([getattr(scores[i], name).score for i in scored])
            known[name] = _ScoredCases(scored, values, groups[scored])
    means: dict[str, Any] = dict.fromkeys(METRICS)
    means |= {name: describe(own.values) for name, own in known.items()}
    correctness: list[QueryCorrectness] = results["query_correctness"]
    return SqlReport(
        safety=_safety(scores, places["safety_validation"], level),
        calibration=_calibration(scores, known.get("query_correctness"), level),
        n_cases=len(scores),
        n_failed=sum(score.n_failed for score in scores),
        n_by_method=FrozenMapping(Counter(r.method for r in correctness if r.method is not None)),
        n_contested=sum(result.contested for result in correctness),
        n_right_by_accident=sum(score.right_by_accident for score in scores),
        query_correctness_bounds=_bounds(correctness),
        intervals=FrozenMapping({name: _interval(own, level) for name, own in known.items()}),
        pass_at_k=FrozenMapping(
            {
                name: _passes(own, len(set(groups[places[name]].tolist())), level)
                for name, own in known.items()
            }
        ),
        cases=scores,
        model=model,
        scoring=scoring,
        versions=VERSIONS,
        **means,
    )


class _ScoredCases(NamedTuple):
    """The scores of one metric that are known."""

    places: list[int]
    """Of their cases."""
    values: NDArray[np.float64]
    groups: NDArray[np.int64]
    """The number of the question of each, the same in all statistics of a report."""


def _calibration(
    scores: tuple[SqlCaseScore, ...], known: _ScoredCases | None, level: float
) -> ConfidenceCalibration | None:
    """Return the calibration of what was stated about the queries that are decided."""
    if known is None:
        return None
    stated = [i for i, place in enumerate(known.places) if scores[place].confidence is not None]
    if not stated:
        return None
    return confidence_calibration(
        [scores[known.places[i]].confidence or "" for i in stated],
        correct=known.values[stated],
        clusters=known.groups[stated],
        confidence_level=level,
    )


def _safety(
    scores: tuple[SqlCaseScore, ...], places: list[int], level: float
) -> SafetySummary | None:
    verdicts = [one for i in places if (one := scores[i].safety_validation) is not None]
    if not verdicts:
        return None
    case_ids = [scores[i].case_id for i in places]
    return safety_summary(verdicts, case_ids=case_ids, confidence_level=level)


def _passes(known: _ScoredCases, n_given: int, confidence_level: float) -> tuple[PassAtK, ...]:
    """Return pass@k of so many questions, from the score of each attempt that has one."""
    _, question, n_samples = distinct(known.groups)
    n_correct = np.bincount(question, weights=known.values == 1.0).astype(np.int64)
    found = pass_at_k(
        n_samples=n_samples,
        n_correct=n_correct,
        k=range(1, min(MAX_K, int(n_samples.min())) + 1),
        confidence_level=confidence_level,
    )
    if n_samples.size == 1 < n_given:
        nothing = nothing_of_others(confidence_level)
        found = tuple(attrs.evolve(one, interval=nothing) for one in found)
    return tuple(attrs.evolve(one, n_tasks=n_given) for one in found)


def _interval(known: _ScoredCases, confidence_level: float) -> Interval:
    _, question, n_samples = distinct(known.groups)
    return interval_of_mean(
        known.values,
        question if int(n_samples.max()) > 1 else None,
        (0.0, 1.0),
        confidence_level=confidence_level,
    )


def _bounds(results: Sequence[Any]) -> tuple[float, float] | None:
    """Return the mean score if all that is not scored were wrong, and if it were right."""
    if not results:
        return None
    low, high = (describe(scores).mean for scores in _ends(results))
    return low, high


def _ends(results: Sequence[Any]) -> tuple[list[float], list[float]]:
    """Return the scores if all that is not scored were wrong, and if it were right."""
    low, high = (
        [end if failed(result) else result.score for result in results] for end in (0.0, 1.0)
    )
    return low, high
