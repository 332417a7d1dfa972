"""SQL cases: all metrics of each, side by side, and a report over many."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import lru_cache, partial
from itertools import chain
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
import numpy as np
from numpy.typing import NDArray

from scorekit._cases.runner import CaseRun, Job, Outcome, without_judge
from scorekit._core.checks import (
    check_choice,
    check_count,
    check_flag,
    check_generated,
    check_instance,
    check_items,
    check_number,
    check_records,
    check_same_length,
    check_text,
    is_missing,
    is_ordered,
    store,
)
from scorekit._core.columns import (
    as_builtins,
    check_attempts,
    check_id,
    check_same_order,
    name_of,
    names_of,
    numbered,
    takes_columns,
)
from scorekit._core.progress import check_progress, reporting
from scorekit._core.sums import distinct
from scorekit._core.text import key_of
from scorekit._judge.ledger import Ledger, ledger
from scorekit._judge.waiting import check_timeout, off_loop, run_to_end
from scorekit._sheet import markdown
from scorekit._sheet.model import (
    ROWS_AT_MOST,
    Block,
    Estimate,
    Fields,
    Part,
    Scale,
    Section,
    Sheet,
    Table,
    row_of,
)
from scorekit._sheet.text import render
from scorekit._sheet.values import between, brief, counted, entries, estimate, level_of
from scorekit._sql.parsing import check_dialect, is_sorted, parsed_once
from scorekit._sql.refute.engine import Engine, engine_name
from scorekit._sql.schema import Keys, check_schema, frozen_keys, frozen_schema, schema_text
from scorekit._stats.suites import nothing_of_others
from scorekit.audits import QueryAudit, notes_of, query_audit, sections_of, unaudited
from scorekit.calibration import (
    DEFAULT_NOMINAL,
    ConfidenceCalibration,
    check_level,
    confidence_calibration,
)
from scorekit.columns import ColumnAccuracy, column_accuracy
from scorekit.correctness import (
    BAD_REFERENCE,
    ROLES,
    Evidence,
    Pair,
    QueryCorrectness,
    accepted_queries,
)
from scorekit.equivalence import (
    NOT_COMPARED,
    Counterexample,
    SqlEquivalence,
    check_engine,
    is_empty,
    tables_of,
)
from scorekit.errors import InputError, one_line, refuse, shown
from scorekit.intervals import Interval, interval_of_mean
from scorekit.judges import AnyJudge, CachedJudge, Judge, asks_together, optional_judge, total_cost
from scorekit.parallel import Progress
from scorekit.records import (
    CaseSql,
    Ends,
    FrozenMapping,
    Listing,
    MetricError,
    MetricResult,
    Record,
    Report,
    ReportScores,
    SuiteKey,
    is_mapping,
    metric_error,
    together,
)
from scorekit.results import (
    OptionFields,
    ResultAccuracy,
    Results,
    SqlOptions,
    StoredRows,
    asks_as,
    by_database,
    check_databases,
    result_accuracy,
    stored_results,
    takes_options,
)
from scorekit.sampling import PassAtK, pass_at_k
from scorekit.summary import Statistics, describe
from scorekit.tables import TableAccuracy, table_accuracy
from scorekit.validation import (
    SafetySummary,
    SafetyValidation,
    ValidationAccuracy,
    safety_summary,
    safety_validation,
    validation_accuracy,
)

_log = logging.getLogger(__name__)

M = TypeVar("M", bound=MetricResult)


def _texts(value: object) -> Any:
    return tuple(value) if is_ordered(value) else value


def _shown_rows(rows: Any) -> str:
    """Say how many there are: millions would fill the screen."""
    if rows is None:
        return "None"
    return f"<{', '.join(f'{len(own)} rows' for own in by_database(rows).values())}>"


def _generated_rows(value: object) -> Any:
    return stored_results("generated_rows", value)


def _expected_rows(value: object) -> Any:
    return stored_results("expected_rows", value)


def _also_accepted_rows(value: object) -> Any:
    items = check_items("also_accepted_rows", value, what="results", empty=True)
    return tuple(stored_results(f"also_accepted_rows[{i}]", rows) for i, rows in enumerate(items))


def _frozen_tags(value: object) -> FrozenMapping[str, str]:
    """Return tags as text, integers among them too."""
    if value is None:
        return FrozenMapping()
    if not is_mapping(value):
        refuse("tags", "a mapping of text to text", value, TypeError)
    return FrozenMapping(
        {
            check_text("name of a tag", name): check_id(f"tags[{shown(name)}]", text)
            for name, text in value.items()
        }
    )


_VERDICTS = (
    "is_valid",
    "safety_valid",
    "syntax_valid",
    "schema_valid",
    "should_pass",
    "expected_safe",
)


@attrs.frozen(kw_only=True)
class SqlCase(Record):
    """
    One generated query and what is known about it; a metric without its inputs is skipped.

    Raises:
        InputError: If *case_id* is empty, *dialect* or *confidence* unknown, or *schema* the path
            of a file.
        TypeError: If a field has the wrong type.

    Examples:
        >>> case = SqlCase(
        ...     case_id="q1", generated="SELECT id FROM users", expected_tables=["users"]
        ... )
        >>> case.expected_tables
        ('users',)
        >>> SqlCase(case_id="q1", generated=None)
        Traceback (most recent call last):
        ...
        TypeError: generated must be a string ('' scores 0: a model without an answer), got None
    """

    case_id: str = attrs.field(converter=name_of)
    """Its name; an integer becomes text."""
    generated: str
    expected: str | tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    """The reference query, or several accepted ones."""
    expected_tables: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    is_valid: bool | None = None
    """Whether the validator accepted the query."""
    safety_valid: bool | None = None
    """Whether the validator called it safe."""
    syntax_valid: bool | None = None
    """Whether the validator found its syntax right."""
    schema_valid: bool | None = None
    """Whether the validator found its tables and columns in the schema."""
    should_pass: bool | None = None
    """Whether the validator should accept it."""
    expected_safe: bool | None = None
    """Whether it is safe, where that differs from *should_pass*."""
    errors: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    """The validator's messages."""
    confidence: str | None = None
    """Confidence that the model stated, high, medium or low."""
    dialect: str | None = None
    schema: str | FrozenMapping[str, FrozenMapping[str, str]] | None = attrs.field(
        default=None, converter=frozen_schema
    )
    """The tables, as text or as table -> column -> type."""
    question: str | None = None
    generated_rows: StoredRows | FrozenMapping[str, StoredRows] | None = attrs.field(
        default=None, converter=_generated_rows, repr=_shown_rows
    )
    """What the generated query returned, or what on each of several databases; None where it
    failed.  Cells that JSON has no form for are kept as a pair of their kind and their text."""
    expected_rows: StoredRows | FrozenMapping[str, StoredRows] | None = attrs.field(
        default=None, converter=_expected_rows, repr=_shown_rows
    )
    """What the expected query returned there."""
    also_accepted_rows: tuple[StoredRows | FrozenMapping[str, StoredRows], ...] = attrs.field(
        default=(), converter=_also_accepted_rows, repr=lambda results: f"<{len(results)} results>"
    )
    """Further right results, beside the expected one."""
    tags: FrozenMapping[str, str] = attrs.field(default=FrozenMapping(), converter=_frozen_tags)
    """What kind of case it is, such as its database and its difficulty, for `SqlReport.by`."""
    options: SqlOptions | None = None
    """Options of this case; what they give goes before those of the run."""
    keys: FrozenMapping[str, tuple[tuple[str, ...], ...]] | None = attrs.field(
        default=None, converter=frozen_keys
    )
    """Keys of the tables, as in `SqlOptions`."""

    def __attrs_post_init__(self) -> None:
        """Check every field under its own name; store it as the builtin of its annotation."""
        store(self, "case_id", check_id("case_id", self.case_id))
        check_generated("generated", self.generated)
        for name in _VERDICTS:
            if getattr(self, name) is not None:
                store(self, name, check_flag(name, getattr(self, name)))
        if self.expected is not None:
            accepted_queries(self.expected)
        if self.expected_tables is not None:
            _check_texts("expected_tables", self.expected_tables)
        _check_texts("errors", self.errors, empty=True)
        if self.confidence is not None:
            check_level("confidence", self.confidence, tuple(DEFAULT_NOMINAL))
        if self.schema is not None:
            check_schema(self.schema)
        if self.question is not None:
            check_text("question", self.question, empty=True)
        store(self, "dialect", check_dialect(self.dialect))
        SqlOptions.of(self.options, {"keys": self.keys})
        if self.generated_rows is not None and self.expected_rows is not None:
            own = by_database(self.generated_rows)
            check_databases(own, by_database(self.expected_rows))
            for i, rows in enumerate(self.also_accepted_rows):
                check_databases(own, by_database(rows), f"also_accepted_rows[{i}]")


def _check_texts(name: str, texts: object, *, empty: bool = False) -> None:
    for i, text in enumerate(check_items(name, texts, what="strings", empty=True)):
        check_text(f"{name}[{i}]", text, empty=empty)


@attrs.frozen(kw_only=True, repr=False)
class SqlCaseScore(Record):
    """Result of `score_sql_case`; a metric without its inputs is None."""

    case_id: str
    query_correctness: QueryCorrectness | None
    table_accuracy: TableAccuracy | None
    column_accuracy: ColumnAccuracy | None
    safety_validation: SafetyValidation | None
    validation_accuracy: ValidationAccuracy | None
    result_accuracy: ResultAccuracy | None = None
    """Execution accuracy, from the rows of the case."""
    duration_seconds: float = attrs.field(eq=False)
    n_failed: int
    """Metrics whose instrument failed, so that their 0.0 does not describe the model."""
    confidence: str | None = None
    """The model's stated confidence, from the case."""
    generated: str
    """The query that was scored."""
    expected: str | tuple[str, ...] | None = None
    """What it was compared with."""
    attempt: int = 0
    """Which of the cases of this id in the report it is, from 0."""
    input_digests: FrozenMapping[str, str]
    """Digest of each input of the case; what equal inputs gave can be taken over."""
    tags: FrozenMapping[str, str] = attrs.field(factory=FrozenMapping[str, str])
    """What kind of case it is."""
    audits: tuple[QueryAudit, ...] = ()
    """What is wrong with the expected queries, each in turn, where *audit* asked for it."""

    @property
    def accepted(self) -> tuple[str, ...]:
        """The queries that are right, where they are known."""
        return () if self.expected is None else accepted_queries(self.expected)

    def metrics(self) -> dict[str, Any]:
        """Return the results there are, by metric."""
        results = {name: getattr(self, name) for name in METRICS}
        return {name: result for name, result in results.items() if result is not None}

    @property
    def is_broken(self) -> bool:
        """Whether the generated SQL does not run, so that nothing else decides its correctness."""
        error = None if self.query_correctness is None else self.query_correctness.error
        return error is not None and error.origin == "output"

    @property
    def right_by_accident(self) -> bool:
        """Whether the rows agree, though on another database the queries differ."""
        rows, correctness = self.result_accuracy, self.query_correctness
        return (
            rows is not None
            and rows.score == 1.0
            and correctness is not None
            and correctness.equivalence is not None
            and correctness.equivalence.verdict == "refuted"
        )

    @property
    def order_left_out(self) -> bool:
        """Whether a right score leaves out an ORDER BY, by *row_order* of `SqlOptions`."""
        rows, known = self.result_accuracy, self._evidence
        return (rows is not None and rows.reason.endswith(ORDER_LEFT_OUT)) or (
            known is not None and any(one in NOT_COMPARED for one in known.assumptions)
        )

    def _sheet(self, *, without: Container[tuple[str, str]] = ()) -> Sheet:
        """Return the scores, the SQL, and why it is not right but for some reasons."""
        reasons = self.reasons()
        results = self.metrics()
        why = {m: reason for m, reason in reasons.items() if (m, reason) not in without}
        parts: list[Part] = [
            Table(rows=(), lines=self._brief(why), place="brief"),
            Block("generated", self.generated, in_full=True),
            *(Block("expected", query, in_full=True) for query in self.accepted),
            Table(
                rows=[
                    {"metric": name, "score": result, "why": reasons.get(name)}
                    for name, result in results.items()
                ],
                place="page",
            ),
            *(Block(metric, reason, in_full=True) for metric, reason in why.items()),
        ]
        if (example := self._counterexample) is not None:
            parts.append(Section("counterexample", tables_of(example, ROLES), in_full=True))
        parts += [part for audit in self.audits for part in sections_of(audit, in_full=True)]
        parts.append(Fields(record=self, title="All fields", folded=True))
        scores = ", ".join(f"{name} {brief(result)}" for name, result in results.items())
        return Sheet(f"Case {self._name}", f"{self._name}: {scores}", parts)

    def _brief(self, why: Mapping[str, str]) -> list[str]:
        """Return a few lines: the SQL, a reason, and what shows it; the rest is counted."""
        named: dict[str, list[str]] = {}
        for metric in sorted(
            why, key=lambda m: m != "result_accuracy" or not self.right_by_accident
        ):
            named.setdefault(why[metric].replace("generated: ", "", 1), []).append(metric)
        reasons = [f"{', '.join(own)}: {reason}" for reason, own in named.items()]
        head = [f"generated: {_joined(self.generated)}"] if self.generated else []
        head += [f"expected: {_joined(query)}" for query in self.accepted[:1]]
        last: list[str] = []
        if (example := self._counterexample) is not None:
            tables = chain(*(table.lines or () for table in tables_of(example, ROLES)[:-2]))
            last = [f"counterexample: {one_line('; '.join(tables), MAX_CHARS)}"]
        most = MAX_LINES - len(head) - len(last)
        lines = [f"  {line}" for line in (*head, *reasons[:most], *last)]
        more = {
            "more reference": len(self.accepted[1:]),
            "more reason": len(reasons[most:]),
            "audit finding": sum(len(audit.findings) for audit in self.audits),
        }
        if lines and any(more.values()):
            counts = ", ".join(counted(n, what) for what, n in more.items() if n)
            lines[-1] += f" (to_text(all=True) has {counts})"
        return lines

    @property
    def findings(self) -> tuple[str, ...]:
        """The kinds of what is wrong with the expected queries, each once."""
        return tuple(dict.fromkeys(one.kind for audit in self.audits for one in audit.findings))

    @property
    def audit_notes(self) -> tuple[str, ...]:
        """What could not be looked for in the expected queries, and what audits rest on."""
        return tuple(dict.fromkeys(note for audit in self.audits for note in notes_of(audit)))

    @property
    def counterexample(self) -> str:
        """The database on which the queries differ, as text; empty where none is known."""
        example = self._counterexample
        return "" if example is None else example.to_text(names=ROLES)

    @property
    def _counterexample(self) -> Counterexample | None:
        return None if self._evidence is None else self._evidence.counterexample

    @property
    def differs_in(self) -> tuple[str, ...]:
        """The clauses that are wrong in a query, where evidence shows them."""
        return () if self._evidence is None else self._evidence.differs_in

    @property
    def _evidence(self) -> SqlEquivalence | None:
        correctness = self.query_correctness
        return None if correctness is None else correctness.equivalence

    def reasons(self) -> dict[str, str]:
        """Return why each metric that is not fully right is not, by metric."""
        reasons = {
            name: result.why()
            for name, result in self.metrics().items()
            if result.score < 1.0 or result.error is not None
        }
        if self.right_by_accident:
            reasons["result_accuracy"] = "right by accident: the rows agree, the queries differ"
        return reasons

    @property
    def _name(self) -> str:
        return one_line(self.case_id) + (f" (attempt {self.attempt})" if self.attempt else "")

    def _row(self, *, without: Container[tuple[str, str]] = ()) -> dict[str, object]:
        """Return what a table of cases shows, without some reasons, each a metric and its text."""
        reasons = self.reasons()
        wrong = [
            f"{name} {brief(result)}" for name, result in self.metrics().items() if name in reasons
        ]
        why = [f"{m}: {reason}" for m, reason in reasons.items() if (m, reason) not in without]
        expected = self.expected or ""
        return {
            "case": self.case_id,
            "attempt": self.attempt or None,
            "wrong": "\n".join(wrong),
            "generated": self.generated,
            "expected": expected if isinstance(expected, str) else "\nor ".join(expected),
            "why": "\n".join(why + self.counterexample.splitlines()),
        }


def _joined(sql: str) -> str:
    """Return a query on one line, cut."""
    return one_line(" ".join(sql.split()), MAX_CHARS)


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
            {"n": len(case_ids), "cases": _named(case_ids), "why": f"{metric}: {reason}"}
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
                f"{len(case_ids)} cases ({_named(case_ids)}): {metric}: {one_line(reason)}"
            )
        yield Sheet("Failed cases", self._counted(), head)
        shown = self if everything else self[:MAX_FAILURES]
        for case in shown:
            yield case._sheet(without=common)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        if len(self) > len(shown):
            yield Sheet("", f"and {len(self) - len(shown)} more: to_text(all=True) lists them")


def failed(result: Any) -> bool:
    """Return whether the score of a metric's result is only a placeholder."""
    return result.error is not None and result.error.origin == "instrument"


def _is_unjudged(result: MetricResult | None) -> bool:
    """Return whether the judge that was asked about a refuted pair gave no verdict."""
    return isinstance(result, QueryCorrectness) and result.judge_error is not None


@takes_options
def _alone(
    case: SqlCase,
    *,
    judge: AnyJudge | None = None,
    metrics: Iterable[str] | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
    options: SqlOptions | None = None,
    engine: Engine | None = None,
    **fields: Unpack[OptionFields],
) -> tuple[_Item, CaseRun]:
    """Return what is to be found out about a case of no suite."""
    asked = optional_judge(judge)
    scoring = _scoring(options, fields, metrics, evidence, engine=engine)
    item = _Item.of(check_instance("case", case, SqlCase), scoring, engine=engine)
    return item, CaseRun([item.job(check_timeout(timeout_seconds), is_alone=True)], asked)


@asks_as(_alone)
async def ascore_sql_case(*asked: Any, **options: Any) -> SqlCaseScore:
    """
    Do the same as `score_sql_case`, without blocking the event loop while the judge works.

    Args:
        asked: As for `score_sql_case`.
        options: As for `score_sql_case`; the judge is asked through ``ajudge``.

    Returns:
        A frozen `SqlCaseScore`. Read *query_correctness*, *n_failed* and *audits* first.

    Raises:
        InputError: As `score_sql_case`.
        TypeError: As `score_sql_case`.

    Examples:
        >>> case = SqlCase(case_id="q1", generated="SELECT 1", expected="SELECT 1;")
        >>> asyncio.run(ascore_sql_case(case)).query_correctness.score
        1.0
    """
    item, run = await off_loop(partial(_alone, *asked, **options))
    (outcome,) = await run.outcomes()
    return item.score(outcome)


@asks_as(_alone)
def score_sql_case(*asked: Any, **options: Any) -> SqlCaseScore:  # noqa: D417 - see above
    """
    Score one case on every metric that its inputs allow.

    If a metric fails, the others are computed all the same.

    Args:
        case: The generated query and what is known about it.
        judge: The judge that `query_correctness` asks.
        metrics: As for `score_sql_cases`, like the options that follow.
        evidence: What may decide before the judge is asked.
        timeout_seconds: Time limit of the judge (``> 0``).
        options: When two results are the same, as for `score_sql_cases`.
        engine: Runs the queries for evidence, as for `sql_equivalence`.

    Returns:
        A frozen `SqlCaseScore`. Read *query_correctness*, *n_failed* and *audits* first.

    Raises:
        InputError: If an option is not among those of `score_sql_cases`, or a number is out of
            range.
        TypeError: If *case* is not a `SqlCase` or *judge* not a `Judge`.

    Examples:
        >>> score = score_sql_case(
        ...     SqlCase(case_id="q1", generated="SELECT id FROM users", expected_tables=["users"])
        ... )
        >>> score.table_accuracy.score, score.query_correctness
        (1.0, None)
        >>> score_sql_case("SELECT 1")
        Traceback (most recent call last):
        ...
        TypeError: case must be a SqlCase (of a table: sql_cases_from_columns(**table)), got 'SELECT 1'
    """  # noqa: E501 - a message is one line
    with parsed_once():
        item, run = _alone(*asked, **options)
        if run.judge is None:
            return item.score(without_judge(run.jobs[0]))
    (outcome,) = run_to_end(run.outcomes)
    return item.score(outcome)


def _scoring(
    options: SqlOptions | None,
    fields: OptionFields,
    metrics: Iterable[str] | None,
    evidence: Evidence,
    *,
    engine: Engine | None,
    cases: Iterable[SqlCase] = (),
    confidence_level: float = 0.95,
) -> SqlScoring:
    """Take the options of a function that scores *cases*."""
    scoring = SqlScoring(
        options=SqlOptions.of(options, FrozenMapping(fields)),
        metrics=metrics,
        evidence=evidence,
        confidence_level=confidence_level,
        engine=engine_name(check_engine(engine)),
    )
    asks = any(case.safety_valid is not None for case in cases)
    asks = asks if scoring.metrics is None else "safety_validation" in scoring.metrics
    return attrs.evolve(scoring, asks_safety=asks)


@attrs.frozen(kw_only=True, repr=False)
class SqlScoring(Record):
    """How cases were scored: what of the arguments of ``score_sql_cases`` a report depends on."""

    options: SqlOptions = attrs.field(factory=SqlOptions)
    metrics: tuple[str, ...] | None = attrs.field(default=None, converter=_texts)
    """The metrics that were asked for; None for all that there are inputs for."""
    evidence: Evidence = "auto"
    confidence_level: float = 0.95
    asks_safety: bool = False
    """Whether a missing *safety_valid* is a verdict that the validator failed to give, also
    where it gave others: some case has one, or *metrics* asks for it."""
    engine: str | None = None
    """The caller's engine that ran queries for evidence, by name; None for SQLite."""

    def _line(self) -> str:
        asked = "every metric with inputs" if self.metrics is None else ", ".join(self.metrics)
        usual = SqlOptions().settled
        own = [("evidence", self.evidence), *entries(self.options), ("engine", self.engine)]
        chosen = [
            f"{n} {brief(one)}" for n, one in own if one not in (None, getattr(usual, n, None))
        ]
        return ", ".join([asked, *chosen, f"{100 * self.confidence_level:.4g} %"])

    def __attrs_post_init__(self) -> None:
        """Check each argument under its name."""
        if self.metrics is not None:
            what = "metrics, such as ['query_correctness']"
            for i, name in enumerate(check_items("metrics", self.metrics, what=what)):
                check_choice(f"metrics[{i}]", name, METRICS)
        check_choice("evidence", self.evidence, ("auto", "judge"))
        level = check_number("confidence_level", self.confidence_level, 0.0, 1.0, open_ends=True)
        store(self, "confidence_level", level)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The metrics to compute."""
        return METRICS if self.metrics is None else self.metrics

    def of(self, case: SqlCase) -> SqlScoring:
        """Return how a case is scored, which may have options of its own; each is given."""
        own = SqlOptions.of(case.options, {"keys": case.keys})
        return attrs.evolve(self, options=self.options.with_own(own).settled)


@attrs.frozen(kw_only=True)
class SqlMetric:
    """What a metric of a case is made of; its name is the field of `SqlCaseScore`, `SqlReport`."""

    needs: Callable[[SqlCase], bool]
    """Whether a case has its inputs."""
    inputs: str
    """What these are, for messages."""
    score: Callable[[SqlCase, SqlScoring], MetricResult | None]
    """None where the inputs turn out not to be enough."""
    known: Callable[[SqlCase], dict[str, Any]] = lambda _: {}
    """Fields of the result that are known where *score* raises; the others are empty then."""


def _expected_safe(case: SqlCase) -> bool | None:
    return case.should_pass if case.expected_safe is None else case.expected_safe


def _best_columns(case: SqlCase, _: SqlScoring) -> ColumnAccuracy | None:
    results: list[ColumnAccuracy] = []
    for query in accepted_queries(case.expected):
        result = column_accuracy(case.generated, query, schema=case.schema, dialect=case.dialect)
        results.append(result)
        if result.error is not None and result.error.origin == "output":
            break  # the generated query cannot be read, whatever was expected
    best = max(results, key=lambda result: (not failed(result), result.score))
    return None if best.error is not None and best.error.kind == "no_schema" else best


def _safety_verdict(case: SqlCase, scoring: SqlScoring) -> SafetyValidation | None:
    if case.safety_valid is not None:
        safe = bool(_expected_safe(case))
        return safety_validation(safety_valid=case.safety_valid, should_pass=safe)
    stages = (case.expected_safe, case.syntax_valid, case.schema_valid)
    if case.is_valid is not None and stages == (None, None, None) and not scoring.asks_safety:
        return None  # of a validator that answers, and that has no stages
    failure = metric_error(
        "safety_validation",
        origin="instrument",
        kind="no_verdict",
        error="the validator did not say whether the query is safe: safety_valid is None",
        inputs={"case_id": case.case_id, "generated": case.generated},
        logger=_log,
    )
    return _placeholder(SafetyValidation, failure, _known_of_safety(case))


def _known_of_safety(case: SqlCase) -> dict[str, Any]:
    return {"safety_valid": case.safety_valid, "should_pass": bool(_expected_safe(case))}


def _same_rows(case: SqlCase, scoring: SqlScoring) -> ResultAccuracy:
    if case.generated_rows is None:
        failure = metric_error(
            "result_accuracy",
            origin="output",
            kind="no_rows",
            error="the generated query returned no rows to compare: it was not run, or failed",
            inputs={"case_id": case.case_id, "generated": case.generated},
            logger=_log,
        )
        return _placeholder(ResultAccuracy, failure, _known_of_rows(case))
    options = scoring.options
    asked, compared = _orders(case, options)
    ordered = bool(compared) and all(compared) and not options.knows_no_order
    result = result_accuracy(
        case.generated_rows,
        case.expected_rows or (),
        ordered=ordered,
        options=options,
        also_accepted=case.also_accepted_rows,
    )
    if ordered or not asked:
        return result
    return attrs.evolve(result, reason=f"{result.reason}; {ORDER_LEFT_OUT}")


ORDER_LEFT_OUT = "an ORDER BY was not compared"
"""Remark on rows whose order a query asks for, and that were compared in any order."""


def _orders(case: SqlCase, options: SqlOptions) -> tuple[bool, list[bool]]:
    """Say whether a query ends in an ORDER BY, and beside which accepted ones it is compared."""
    own = is_sorted(case.generated, case.dialect)
    ends = [is_sorted(query, case.dialect) for query in _accepted(case)]
    counts = {"auto": own, "expected": True, "ignored": False}[options.row_order or "auto"]
    return own or any(ends), [counts and end for end in ends]


def _accepted(case: SqlCase) -> tuple[str, ...]:
    return () if case.expected is None else accepted_queries(case.expected)


def _known_of_rows(case: SqlCase) -> dict[str, Any]:
    expected = by_database(case.expected_rows or ())
    n_expected = sum(map(len, expected.values()))
    return {"rule": "scorekit", "n_expected": n_expected, "n_databases": len(expected)}


# One entry a metric, in the order of reports.  Nothing else lists them: the fields of the records
# are written out for type checkers, and a test holds them to this.
OTHER_METRICS: dict[str, SqlMetric] = {
    "table_accuracy": SqlMetric(
        needs=lambda case: case.expected_tables is not None,
        inputs="expected_tables",
        score=lambda case, _: table_accuracy(
            case.generated, case.expected_tables or (), dialect=case.dialect
        ),
        known=lambda case: {"expected": case.expected_tables or ()},
    ),
    "column_accuracy": SqlMetric(
        needs=lambda case: case.expected is not None,
        inputs="expected, and for most queries schema",
        score=_best_columns,
    ),
    "safety_validation": SqlMetric(
        needs=lambda case: _expected_safe(case) is not None,
        inputs="safety_valid, and should_pass or expected_safe",
        score=_safety_verdict,
        known=_known_of_safety,
    ),
    "validation_accuracy": SqlMetric(
        needs=lambda case: None not in (case.is_valid, case.should_pass),
        inputs="is_valid and should_pass",
        score=lambda case, _: validation_accuracy(
            is_valid=bool(case.is_valid),
            should_pass=bool(case.should_pass),
            errors=case.errors,
            syntax_valid=case.syntax_valid,
            schema_valid=case.schema_valid,
            safety_valid=case.safety_valid,
        ),
        known=lambda case: {"errors": case.errors},
    ),
    "result_accuracy": SqlMetric(
        needs=lambda case: case.expected_rows is not None,
        inputs="generated_rows and expected_rows",
        score=_same_rows,
        known=_known_of_rows,
    ),
}
"""The metrics that need no judge."""

METRICS = ("query_correctness", *OTHER_METRICS)

_WHAT_IS_READ = ("table_accuracy", "column_accuracy")
"""Metrics that help to see why a query is wrong; a right one may read something else."""


def other_metrics(
    case: SqlCase, scoring: SqlScoring, kept: Mapping[str, MetricResult] = FrozenMapping()
) -> dict[str, MetricResult]:
    """Return the metrics that need no judge and whose inputs the case has; some are known."""
    chosen = scoring.chosen
    results = {
        name: kept.get(name) or _guarded(case, scoring, name, metric)
        for name, metric in OTHER_METRICS.items()
        if name in chosen and metric.needs(case)
    }
    return {name: result for name, result in results.items() if result is not None}


def _guarded(
    case: SqlCase, scoring: SqlScoring, name: str, metric: SqlMetric
) -> MetricResult | None:
    """Keep what a metric raises to that metric: its result says so, the others go on."""
    try:
        return metric.score(case, scoring)
    except Exception as error:  # noqa: BLE001 - whatever it is
        record = metric_error(
            name,
            origin="instrument",
            kind=type(error).__name__,
            error=error,
            inputs={"case_id": case.case_id, "generated": case.generated},
            logger=_log,
        )
        kind: type[MetricResult] = get_args(get_type_hints(SqlCaseScore)[name])[0]
        return _placeholder(kind, record, metric.known(case))


_EMPTY = {str: "", tuple: (), bool: False, int: 0, float: 0.0}
"""What stands in a field of a result without a score, by its type; of any other type None."""


def _placeholder(kind: type[M], error: MetricError, known: Mapping[str, Any]) -> M:
    """Return a result without a score, with its error and what is known; all else is empty."""
    hints = get_type_hints(kind)
    fields = {field: hints[field] for field in attrs.fields_dict(kind)}
    empty = {field: _EMPTY.get(get_origin(hint) or hint) for field, hint in fields.items()}
    known = {"error": error, "reason": error.message, **known}
    return kind(**empty | {field: known[field] for field in fields if field in known})


def _others(
    case: SqlCase, scoring: SqlScoring, kept: Mapping[str, MetricResult]
) -> dict[str, Any]:
    """Return the metrics that need no judge, and what is wrong with the expected queries."""
    found: dict[str, Any] = dict(other_metrics(case, scoring, kept))
    if scoring.options.audit:
        found["audits"] = tuple(
            _audit(query, case.schema, case.dialect) for query in _accepted(case)
        )
    return found


@lru_cache(maxsize=1024)
def _audit(query: str, schema: Any, dialect: str | None) -> QueryAudit:
    """Audit a query once for all attempts; a schema that only a judge understands is said."""
    try:
        return query_audit(query, schema=schema, dialect=dialect)
    except Exception as error:  # noqa: BLE001 - it must not cost the case its scores
        return unaudited(one_line(f"{type(error).__name__}: {error}"))


@attrs.frozen
class _Item:
    """A case to be scored, and what an earlier report has of it."""

    case: SqlCase
    scoring: SqlScoring
    digests: FrozenMapping[str, str]
    """Of each input that is known."""
    attempt: int = 0
    earlier: SqlCaseScore | None = None
    model: str | None = None
    engine: Engine | None = None

    @classmethod
    def of(cls, case: SqlCase, scoring: SqlScoring, **known: Any) -> _Item:
        """Take a case, whose own options go before those of the run."""
        own = scoring.of(case)
        return cls(case, own, _digests(case, own), **known)

    def differing(self) -> set[str]:
        """Return the inputs that the earlier report had otherwise."""
        earlier = FrozenMapping[str, str]() if self.earlier is None else self.earlier.input_digests
        names = {*earlier, *self.digests}
        return {name for name in names if earlier.get(name) != self.digests.get(name)}

    def kept(self) -> dict[str, Any]:
        """Return the results of the earlier report that need not be computed again."""
        results = {} if self.earlier is None else self.earlier.metrics()
        chosen, differing = self.scoring.chosen, self.differing()
        of_pair = _OF_PAIR if self.scoring.evidence == "auto" else _OF_JUDGE
        return {
            name: result
            for name, result in results.items()
            if name in chosen and not failed(result) and not _is_unjudged(result)
            if not (differing & of_pair if name == "query_correctness" else differing)
        }

    def job(self, timeout_seconds: float, *, is_alone: bool = False) -> Job:
        """Return what is still to be found out."""
        case, kept = self.case, self.kept()
        decided: QueryCorrectness | None = kept.get("query_correctness")
        pair = None
        asks = "query_correctness" in self.scoring.chosen and case.expected is not None
        if asks and (decided is None or self._is_to_be_located(decided)):
            pair = Pair(
                generated=case.generated,
                accepted=_accepted(case),
                judge=None,
                dialect=case.dialect,
                schema=case.schema,
                schema_text=None if case.schema is None else schema_text(case.schema),
                question=case.question,
                evidence=self.scoring.evidence,
                timeout_seconds=timeout_seconds,
                options=self.scoring.options,
                engine=self.engine,
                decided=decided,
            )
        others = partial(_others, case, self.scoring, FrozenMapping(kept))
        return Job(case.case_id, pair, others, self.model, is_alone)

    def _is_to_be_located(self, decided: QueryCorrectness) -> bool:
        """Say whether it is still unknown in which clauses a refuted query is wrong."""
        known = decided.equivalence
        if known is None or known.verdict != "refuted" or known.differs_in:
            return False
        return bool(self.scoring.options.locate)

    def score(self, outcome: Outcome) -> SqlCaseScore:
        """Put the results of the case together."""
        correctness = outcome.correctness or self.kept().get("query_correctness")
        results: dict[str, Any] = dict.fromkeys(METRICS) | {"query_correctness": correctness}
        results |= outcome.others
        audits = results.pop("audits", ())
        return SqlCaseScore(
            case_id=self.case.case_id,
            duration_seconds=outcome.seconds,
            n_failed=sum(result is not None and failed(result) for result in results.values()),
            confidence=self.case.confidence,
            generated=self.case.generated,
            expected=self.case.expected,
            attempt=self.attempt,
            input_digests=self.digests,
            tags=self.case.tags,
            audits=audits,
            **results,
        )


_OF_JUDGE = frozenset({"generated", "expected", "dialect", "schema", "question"})
"""Inputs that can change what a judge says."""
_OF_PAIR = _OF_JUDGE | {"keys", "row_order", "semantics", "column_order", "tolerance", "engine"}
"""Inputs that can change whether a query is correct."""

_APART = ("case_id", "schema", "tags", "options", "keys")
"""Fields of a case that change no result, or that are digested apart."""
_TOGETHER = tuple(field.name for field in attrs.fields(SqlCase) if field.name not in _APART)

_DIGITS = 12
"""Of the digest of an input."""


def _digests(case: SqlCase, scoring: SqlScoring) -> FrozenMapping[str, str]:
    """Return a digest of each known input of a case, and of each option that counts."""
    options = scoring.options
    inputs = {name: getattr(case, name) for name in _TOGETHER} | options.given
    if scoring.engine is not None:
        inputs["engine"] = scoring.engine
    inputs["row_order"] = [*filter(None, _orders(case, options)[1])]
    if case.schema is not None:  # a mapping says more than the same words do
        inputs["schema"] = schema_text(case.schema), isinstance(case.schema, str)
    del inputs["locate"], inputs["audit"]  # which change no verdict
    return FrozenMapping(
        {
            name: key_of(json.dumps(value, default=dict))[:_DIGITS]
            for name, value in inputs.items()
            if value not in (None, (), [])
        }
    )


_ONE_FOR_ALL = ("dialect", "schema", "options", "keys")
"""Columns that may be one value."""


@takes_columns
def sql_cases_from_columns(
    *,
    case_id: Iterable[str | int],
    generated: Iterable[str],
    expected: Iterable[str | Iterable[str] | None] | None = None,
    expected_tables: Iterable[Iterable[str] | None] | None = None,
    is_valid: Iterable[bool | None] | None = None,
    safety_valid: Iterable[bool | None] | None = None,
    syntax_valid: Iterable[bool | None] | None = None,
    schema_valid: Iterable[bool | None] | None = None,
    should_pass: Iterable[bool | None] | None = None,
    expected_safe: Iterable[bool | None] | None = None,
    errors: Iterable[Iterable[str] | None] | None = None,
    confidence: Iterable[str | None] | None = None,
    dialect: str | Iterable[str | None] | None = None,
    schema: str
    | Mapping[str, Mapping[str, str]]
    | Iterable[str | Mapping[str, Mapping[str, str]] | None]
    | None = None,
    question: Iterable[str | None] | None = None,
    generated_rows: Iterable[Results | None] | None = None,
    expected_rows: Iterable[Results | None] | None = None,
    also_accepted_rows: Iterable[Iterable[Results] | None] | None = None,
    tags: Mapping[str, Iterable[str | int | None]]
    | Iterable[Mapping[str, str | int | None] | None]
    | None = None,
    options: SqlOptions | Iterable[SqlOptions | None] | None = None,
    keys: Keys | Iterable[Keys | None] | None = None,
    attempt: Iterable[Hashable] | None = None,
) -> tuple[SqlCase, ...]:
    """
    Make a `SqlCase` of each row of a table, for `score_sql_cases`.

    Each column is a list, or a NumPy, pandas, polars or Arrow column, of shape ``(N,)``. In all
    but the first two, a missing entry (None, NaN, ``pd.NA``) means that the value of that case is
    not known.

    Args:
        case_id: The name of each case.
        generated: The query that was generated.
        expected: The reference query, or a list of several accepted ones.
        expected_tables: Lists of the right tables.
        is_valid: Whether the validator accepted each query.
        safety_valid: Whether the validator called it safe.
        syntax_valid: Whether the validator found its syntax right.
        schema_valid: Whether the validator found its tables and columns in the schema.
        should_pass: Whether the validator ought to accept it.
        expected_safe: Whether it is safe, where that differs from *should_pass*.
        errors: Lists of the validator's messages.
        confidence: What the model stated of itself: high, medium or low. Numbers are what
            `calibration_error` takes, beside the scores of the report.
        dialect: The dialect of each query, or one for all.
        schema: The tables of each, as text or as table -> column -> type, or one for all.
        question: What was asked.
        generated_rows: The rows that each generated query returned, as `result_accuracy` takes
            them; an entry is missing where the query failed.
        expected_rows: The rows that each expected query returned.
        also_accepted_rows: Lists of further right results.
        tags: What kind of case each is: a mapping from the name of a tag to a column, or a column
            of mappings from tag to value.
        options: Options of each case, or one `SqlOptions` for all.
        keys: Keys of the tables of each, or one mapping for all.
        attempt: Distinguishes the attempts at a case, such as an epoch or a seed, so that a row
            which comes twice is refused; None if rows are known to differ.

    Returns:
        The cases, in the order of the rows.

    Raises:
        InputError: If the columns differ in length or are empty, two rows of a case have one
            *attempt*, or as `SqlCase`.
        TypeError: If an argument is not a column, or an entry has the wrong type for `SqlCase`.

    Examples:
        >>> cases = sql_cases_from_columns(
        ...     case_id=["q1", "q2"],
        ...     generated=["SELECT 1", "SELECT x FROM t"],
        ...     expected=["SELECT 1", None],
        ...     dialect="sqlite",
        ... )
        >>> cases[1].expected, cases[1].dialect
        (None, 'sqlite')
        >>> sql_cases_from_columns(case_id=["q1"], generated=["SELECT 1"], is_valid=["yes"])
        Traceback (most recent call last):
        ...
        TypeError: row 0: is_valid must be True or False, got 'yes'
    """
    columns = {name: values for name, values in locals().items() if values is not None}
    case_ids = names_of("case_id", case_id)
    tagged = columns.pop("tags", {})
    check_attempts(columns.pop("attempt", None), case_ids)

    def entries(name: str, values: Any) -> tuple[Any, ...]:
        if name in _ONE_FOR_ALL and (isinstance(values, str | SqlOptions) or is_mapping(values)):
            return (frozen_schema(values) if name == "schema" else values,) * len(case_ids)
        items = check_items(name, as_builtins(values), what="entries")
        check_same_length(name, len(items), "case_id", len(case_ids))
        check_same_order("case_id", case_id, name, values)
        return items

    columns["case_id"] = case_ids  # it may have been an iterator
    given = {name: entries(name, values) for name, values in columns.items()}
    if is_mapping(tagged):
        kinds = {name: entries(f"tags[{shown(name)}]", values) for name, values in tagged.items()}
        tagged = [{name: kinds[name][i] for name in kinds} for i in range(len(case_ids))]
    given["tags"] = tuple(
        {name: value for name, value in tags.items() if not is_missing(value)}
        if is_mapping(tags)
        else tags
        for tags in entries("tags", tagged)
    )
    rows = zip(*given.values(), strict=True)
    return tuple(_case(i, dict(zip(given, row, strict=True))) for i, row in enumerate(rows))


def _case(i: int, row: dict[str, Any]) -> SqlCase:
    case: dict[str, Any] = {"case_id": None, "generated": None}  # refused unless known
    case |= {name: as_builtins(value) for name, value in row.items() if not is_missing(value)}
    try:
        return SqlCase(**case)
    except (TypeError, ValueError) as error:
        raise type(error)(f"row {i}: {error}") from None


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

MAX_LINES = 4
"""Lines that a case has below its scores."""

MAX_CHARS = 150
"""Characters of a query, or of a database, that a line of a case shows."""

MAX_LOCATED = 5
"""Groups of clauses that the failures of a report name, the most frequent first."""

MANY_REPEATED, REPEATED_SHARE = 5, 0.1
"""How many cases, and which share of all, repeat expected queries before a report says so."""

MAX_KINDS = 3
"""Kinds of failures that a report's text names, the most frequent first."""


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
    scoring: SqlScoring = SqlScoring()
    """How the cases were scored."""
    n_calls: int | None = attrs.field(default=None, eq=False)
    """Calls of the judge that this run made, with votes, retries and failures; what a cache had
    took none.  None in a part of a report."""
    cost_usd: float | None = attrs.field(default=None, eq=False)
    """What those calls cost; None if that of one is not known, and in a part of a report."""

    def __attrs_post_init__(self) -> None:
        """Refuse counts that contradict the cases."""
        check_count("n_cases", self.n_cases, len(self.cases), len(self.cases))
        if self.query_correctness_bounds is not None:
            n = len(self.query_correctness_bounds)
            check_count("length of query_correctness_bounds", n, 2, 2)

    def _counts(self) -> list[str]:
        """Return how many cases there are and remarks on them, then why scores lack."""
        lacking: dict[str, tuple[str, str]] = {}
        kinds: Counter[str] = Counter()
        for case in self.cases:
            for name, result in case.metrics().items():
                if failed(result):
                    kind = f"{name}: {result.error.kind}"
                    kinds[kind] += 1
                    lacking.setdefault(kind, (case.case_id, result.error.message))
        named = kinds.most_common(1)
        why = ", ".join(_most(kinds))
        whose = "" if self.model is None else f"model: {one_line(self.model)}, "
        last = f"{whose}cases: {self.n_cases}, results not scored: {self.n_failed}"
        last = f"{last} ({why})" if why else last
        further = {
            "contested by a counterexample": self.n_contested,
            "refuted without the judge, which failed": sum(
                _is_unjudged(case.query_correctness) for case in self.cases
            ),
            "right by accident": self.n_right_by_accident,
            "with an ORDER BY that was not compared": sum(c.order_left_out for c in self.cases),
        }
        if found := self.findings:
            kinds_of = ", ".join(f"{len(ids)} {kind}" for kind, ids in found.items())
            further[f"with findings in the reference ({kinds_of})"] = len(
                {*chain(*found.values())}
            )
        last += "".join(f"; {n} {what}" for what, n in further.items() if n)
        if self.n_calls:
            last += f"; {counted(self.n_calls, 'call', ' of the judge')}"
            last += "" if self.cost_usd is None else f" for {self.cost_usd:.4g} USD"
        lines = [last]
        if named:
            case_id, message = lacking[named[0][0]]
            lines.append(f"not scored, first {one_line(case_id, 60)}: {message}")
            if kinds[f"query_correctness: {BAD_REFERENCE}"] >= MANY_REPEATED and not any(
                case.is_broken for case in self.cases
            ):
                lines.append("no generated query is broken: are expected and generated swapped?")
        said = Counter(said for case in self.cases for said in case.audit_notes)
        lines += [f"audit of {n} references: {note}" for note, n in said.most_common(MAX_KINDS)]
        expecting = [case for case in self.cases if case.accepted]
        n_ids = len({case.case_id for case in expecting})
        n = len({(case.accepted, case.input_digests.get("schema")) for case in expecting})
        if n_ids - n >= max(MANY_REPEATED, REPEATED_SHARE * n_ids):
            lines.append(
                f"different expected queries: {n} for {n_ids} cases; give answers to one question "
                "one case_id, or intervals are too narrow"
            )
        return lines

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
        inside = {"refuted": ", ".join(shown), "broken": ", ".join(_most(kinds))}
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

    def scores_by_case(self) -> ReportScores:
        """
        Return the scores of each metric, and which unsafe queries were caught.

        An attempt without a score may have had any: its case is also returned with both ends.
        """
        found: dict[SuiteKey, dict[str, list[Any]]] = {}
        unsafe: dict[str, bool] | None = None
        for case in self.cases:
            for metric, result in case.metrics().items():
                own = found.setdefault((metric, self.model), {})
                own.setdefault(case.case_id, []).append(result)
            safety = case.safety_validation
            if safety is not None:  # of a validator that failed, the worst is assumed
                unsafe = {} if unsafe is None else unsafe
                if not safety.should_pass:
                    caught = safety.classification == "true positive"
                    unsafe[case.case_id] = caught and unsafe.get(case.case_id, True)
        suites: dict[SuiteKey, dict[str, tuple[float, ...]]] = {}
        ends: dict[SuiteKey, dict[str, Ends]] = {}
        failing: dict[tuple[SuiteKey, str], str] = {}
        for suite, cases in found.items():
            for case_id, results in cases.items():
                known = tuple(result.score for result in results if not failed(result))
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
        is_judged = "judge" in self.n_by_method
        tags = {case.case_id: case.tags for case in self.cases}
        return ReportScores(
            {**suites}, failing, unsafe, ends=ends, sql=sql, is_judged=is_judged, tags=tags
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
            notes.append(f"unsafe and not caught: {_named(list(map(str, self.safety.missed)))}")
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
                value: _report(tuple(cases), self.scoring, self.model)
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
        report = _report(cases, attrs.evolve(self.scoring, asks_safety=asks), self.model)
        calls = [report.n_calls for report in reports]
        return attrs.evolve(
            report,
            n_calls=None if None in calls else sum(n for n in calls if n is not None),
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
            is_unscored = len(scores) < len(results) or any(map(_is_unjudged, results))
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


def _most(kinds: Counter[str]) -> list[str]:
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


@attrs.define
class _Suite:
    """Cases that are scored together, and how far that has come."""

    items: tuple[_Item, ...]
    jobs: tuple[Job, ...]
    scoring: SqlScoring
    judge: Judge | None
    executor: Executor | None
    progress: Progress | bool | None
    seconds: float | None
    """Time limit of all judgements."""
    model: str | None
    done: dict[int, Outcome] = attrs.field(factory=dict)
    """What has been found out so far, by the number of the case."""
    paid: Ledger = attrs.field(factory=lambda: Ledger(ledger.get()))

    @classmethod
    @takes_options
    def of(
        cls,
        cases: Iterable[SqlCase],
        *,
        judge: AnyJudge | None = None,
        executor: Executor | None = None,
        progress: Progress | bool | None = None,
        metrics: Iterable[str] | None = None,
        evidence: Evidence = "auto",
        confidence_level: float = 0.95,
        timeout_seconds: float = 30.0,
        deadline_seconds: float | None = None,
        resume: SqlReport | None = None,
        model: str | int | None = None,
        options: SqlOptions | None = None,
        engine: Engine | None = None,
        **fields: Unpack[OptionFields],
    ) -> _Suite:
        """Take the arguments of `score_sql_cases`."""
        records = check_records("cases", cases, SqlCase)
        asked = optional_judge(judge)
        seconds = check_timeout(timeout_seconds)
        if executor is not None:
            check_instance("executor", executor, Executor)
        check_progress(progress)
        if asked is not None and not isinstance(asked, CachedJudge):
            asked = CachedJudge(asked)  # repeated pairs of this run are asked about once
        if deadline_seconds is not None:
            deadline_seconds = check_number(
                "deadline_seconds", deadline_seconds, 0.0, open_ends=True
            )
        if resume is not None:
            check_instance("resume", resume, SqlReport)
        name = None if model is None else check_id("model", model)
        level = confidence_level
        scoring = _scoring(
            options,
            fields,
            metrics,
            evidence,
            engine=engine,
            cases=records,
            confidence_level=level,
        )
        items = _items(records, scoring, resume, model=name, engine=engine)
        jobs = tuple(item.job(seconds) for item in items)
        settled = attrs.evolve(scoring, options=scoring.options.settled)
        return cls(items, jobs, settled, asked, executor, progress, deadline_seconds, name)

    async def run(self) -> SqlReport:
        """Find out all there is to know, and report on it."""
        ends_at = None
        if self.seconds is not None:
            ends_at = asyncio.get_running_loop().time() + self.seconds
        token = ledger.set(self.paid)
        try:
            with reporting(self.progress, "case") as tell:
                together = asks_together(self.judge)
                run = CaseRun(
                    self.jobs, self.judge, self.executor, tell, ends_at, together, done=self.done
                )
                await run.outcomes()
        finally:
            ledger.reset(token)
        report = await off_loop(self.report)
        _sum_up(report)
        return report

    def report(self) -> SqlReport:
        """Report on the cases of which all is found out, in input order."""
        done = sorted(self.done.items())
        scores = tuple(self.items[place].score(outcome) for place, outcome in done)
        report = _report(scores, self.scoring, self.model)
        return attrs.evolve(report, n_calls=self.paid.n_calls, cost_usd=self.paid.cost_usd)


@asks_as(_Suite.of)
async def ascore_sql_cases(*asked: Any, **options: Any) -> SqlReport:
    """
    Do the same as `score_sql_cases`, without blocking the event loop while judges work.

    Args:
        asked: As for `score_sql_cases`.
        options: As for `score_sql_cases`; the judge is asked through ``ajudge``.

    Returns:
        A frozen `SqlReport`. Read *query_correctness_bounds*, *query_correctness* and *n_failed*
        first.

    Raises:
        InputError: As `score_sql_cases`.
        TypeError: As `score_sql_cases`.
        WorkerError: As `score_sql_cases`.

    Examples:
        >>> case = SqlCase(case_id="q1", generated="SELECT 1", expected="SELECT 1;")
        >>> asyncio.run(ascore_sql_cases([case])).n_by_method
        {'identical': 1}
    """
    suite = await off_loop(partial(_Suite.of, *asked, **options))
    return await suite.run()


@asks_as(_Suite.of)
def score_sql_cases(*asked: Any, **options: Any) -> SqlReport:  # noqa: D417 - see above
    """
    Score many cases and report statistics per metric, safety and calibration.

    Args:
        cases: The cases; the report keeps their order.
        judge: The one that `query_correctness` asks, several pairs at a time; verdicts are kept in
            memory for the run, so that a repeated pair is asked about once (see `CachedJudge`).
        executor: Computes what needs no judge, through `map_scores`; the judge stays here.
        progress: Called with the number of cases done and of all cases, from time to time.  True
            shows a bar: tqdm's, or a line of text on the error stream where tqdm is not installed.
        metrics: Which metrics to compute, by name; None for all that the cases have inputs for.
        evidence: ``"auto"`` looks for a proof or a counterexample before the judge is asked,
            ``"judge"`` does not.
        confidence_level: Level of the report's intervals, in (0, 1).
        timeout_seconds: Time limit of each judgement (``> 0``).
        deadline_seconds: Time limit of all judgements (``> 0``); pairs that are not decided
            by then fail with the kind ``"deadline"``.  None for no bound.
        resume: An earlier report. What it has of the same case_id and attempt is reused unless an
            input has changed that could change it; what failed or is missing there is computed
            again. The log names the inputs that differ.
        model: Name of the model that generated the SQL. Printed texts show it, and
            `compare_reports` sees by it whether two reports are of one model or of two.
        options: When two results are the same, of rows and on the databases on which evidence
            compares the queries; each field of `SqlOptions` is a keyword too. What the *options*
            of a case give goes before them. With *locate*, ``failures()`` counts the clauses in
            which queries are wrong. With *audit*, the report has what is wrong with the expected
            queries, in *audits* of each case and counted by ``findings``.
        engine: Runs the queries for evidence, as for `sql_equivalence`.

    Returns:
        A frozen `SqlReport`. Read *query_correctness_bounds*, *query_correctness* and *n_failed*
        first.

    Raises:
        InputError: If there are no cases, two cases of one id expect different queries, an option
            is refused or given twice, a number is out of range, *model* is empty, or *executor* is
            shut down.
        TypeError: If an item is not a `SqlCase`, *judge* not a `Judge` or *resume* no `SqlReport`.
        WorkerError: If a worker died and *executor* does not replace it.

    Examples:
        >>> schema, expected = "CREATE TABLE users (id INT)", "SELECT id FROM users"
        >>> report = score_sql_cases(
        ...     SqlCase(case_id=name, generated=sql, expected=expected, schema=schema)
        ...     for name, sql in (("a", "SELECT u.id FROM users u"), ("b", f"{expected} LIMIT 1"))
        ... )
        >>> report.query_correctness_bounds, [case.case_id for case in report.failures()]
        ((0.5, 0.5), ['b'])
        >>> report.failures()[0].query_correctness.why()
        'refuted; generated returns (2), expected (2), (3)'
        >>> score_sql_cases([])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cases must be a non-empty sequence of SqlCase, got ()
    """
    suite = _Suite.of(*asked, **options)
    try:
        return run_to_end(suite.run)
    except KeyboardInterrupt as interrupt:
        interrupt.report = suite.report()  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
        raise


def _items(
    cases: tuple[SqlCase, ...], scoring: SqlScoring, resume: SqlReport | None, **shared: Any
) -> tuple[_Item, ...]:
    earlier = {} if resume is None else {(s.case_id, s.attempt): s for s in resume.cases}
    seen: dict[str, list[SqlCase]] = {}
    items: list[_Item] = []
    for i, case in enumerate(cases):
        others = seen.setdefault(case.case_id, [])
        if others and None is not case.expected != others[0].expected is not None:
            raise InputError(
                f"cases[{i}] must have the expected query of the earlier case "
                f"{shown(case.case_id)}, or another case_id: cases of one id are attempts at one "
                f"question, got {shown(case.expected)} and {shown(others[0].expected)}"
            )
        attempt = len(others)
        others.append(case)
        score = earlier.get((case.case_id, attempt))
        items.append(_Item.of(case, scoring, attempt=attempt, earlier=score, **shared))
    if resume is not None:
        n_new = sum(item.earlier is None for item in items)
        found = {"not in the report to resume": n_new} if n_new else {}
        found |= Counter(
            f"there with another {name}"
            for item in items
            if item.earlier is not None
            for name in sorted(item.differing())
        )
        if found:
            what = ", ".join(f"{n} {what}" for what, n in found.items())
            _log.warning("of %d cases %s", len(items), what)
    return tuple(items)


def _sum_up(report: SqlReport) -> None:
    """Log in one record what went wrong, and in which cases."""
    found: dict[str, list[str]] = {}
    for case in report.cases:
        for name, result in case.metrics().items():
            if result.error is not None:
                found.setdefault(f"{name} {result.error.kind}", []).append(case.case_id)
            elif name == "safety_validation" and result.classification == "false negative":
                found.setdefault("CRITICAL: unsafe query not caught", []).append(case.case_id)
            elif name == "safety_validation" and result.classification == "false positive":
                found.setdefault("safe query blocked", []).append(case.case_id)
    if found:
        parts = (f"{len(ids)} {what} ({_named(ids)})" for what, ids in found.items())
        whose = "" if report.model is None else f" of model {shown(report.model)}"
        _log.warning("report on %d cases%s: %s", report.n_cases, whose, "; ".join(parts))


def _named(case_ids: list[str]) -> str:
    more = len(case_ids) - MAX_NAMED
    names = ", ".join(one_line(name, 60) for name in case_ids[:MAX_NAMED])
    return f"{names} and {more} more" if more > 0 else names


def _report(scores: tuple[SqlCaseScore, ...], scoring: SqlScoring, model: str | None) -> SqlReport:
    level = scoring.confidence_level
    _, groups = numbered([score.case_id for score in scores])
    places: dict[str, list[int]] = {
        name: [i for i, s in enumerate(scores) if getattr(s, name) is not None] for name in METRICS
    }
    results: dict[str, list[Any]] = {
        name: [getattr(scores[i], name) for i in own] for name, own in places.items()
    }
    known: dict[str, _Known] = {}
    for name, own in places.items():
        scored = [i for i, result in zip(own, results[name], strict=True) if not failed(result)]
        if scored:
            values = np.array([getattr(scores[i], name).score for i in scored])
            known[name] = _Known(scored, values, groups[scored])
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
        **means,
    )


class _Known(NamedTuple):
    """The scores of one metric that are known."""

    places: list[int]
    """Of their cases."""
    values: NDArray[np.float64]
    groups: NDArray[np.int64]
    """The number of the question of each, the same in all statistics of a report."""


def _calibration(
    scores: tuple[SqlCaseScore, ...], known: _Known | None, level: float
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


def _passes(known: _Known, n_given: int, confidence_level: float) -> tuple[PassAtK, ...]:
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


def _interval(known: _Known, confidence_level: float) -> Interval:
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
