"""SQL cases scored, one or many: evidence, a judge, and the other metrics side by side."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import partial
from typing import Any, Unpack

import attrs

from scorekit._cases.metrics import orders_compared, unjudged_metrics
from scorekit._cases.runner import CaseRun, Job, Outcome, without_judge
from scorekit._core.checks import (
    check_count,
    check_instance,
    check_number,
    check_records,
)
from scorekit._core.columns import check_id
from scorekit._core.mappings import FrozenMapping
from scorekit._core.progress import check_progress, reporting
from scorekit._judge.ledger import Ledger, ledger
from scorekit._judge.waiting import check_timeout, off_loop, run_to_end
from scorekit._sql.door import AnyEngine, check_engine, parsed_once, schema_text
from scorekit.cases import (
    METRICS,
    SqlCase,
    SqlCaseScore,
    SqlScoring,
    failed,
    is_unjudged,
    references,
)
from scorekit.correctness import CorrectnessQuestion, Evidence, QueryCorrectness
from scorekit.errors import InputError, refuse, shown
from scorekit.judges import AnyJudge, CachedJudge, Judge, asks_together, optional_judge
from scorekit.parallel import Progress
from scorekit.results import OptionFields, SqlOptions, takes_options
from scorekit.rulers import NO_RULE, digest_of
from scorekit.sqlreports import SqlReport, named_cases, report_of

_log = logging.getLogger(__name__)


def _prepare_single(
    case: SqlCase,
    *,
    judge: AnyJudge | None,
    metrics: Iterable[str] | None,
    evidence: Evidence,
    timeout_seconds: float,
    options: SqlOptions | None,
    engine: AnyEngine | None,
    **fields: Unpack[OptionFields],
) -> tuple[_Item, CaseRun]:
    """Return what is to be found out about a case of no suite."""
    asked = optional_judge(judge)
    scoring = _scoring(options, fields, metrics, evidence, engine=engine)
    item = _Item.of(check_instance("case", case, SqlCase), scoring, engine=engine)
    return item, CaseRun([item.job(check_timeout(timeout_seconds), is_alone=True)], asked)


@takes_options
async def ascore_sql_case(  # noqa: D417 - as its twin
    case: SqlCase,
    *,
    judge: AnyJudge | None = None,
    metrics: Iterable[str] | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
    options: SqlOptions | None = None,
    engine: AnyEngine | None = None,
    **fields: Unpack[OptionFields],
) -> SqlCaseScore:
    """
    Do the same as `score_sql_case`, without blocking the event loop while the judge works.

    Args:
        case: As for `score_sql_case`, like all options; the judge is asked through ``ajudge``.

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
    item, run = await off_loop(
        partial(
            _prepare_single,
            case,
            judge=judge,
            metrics=metrics,
            evidence=evidence,
            timeout_seconds=timeout_seconds,
            options=options,
            engine=engine,
            **fields,
        )
    )
    (outcome,) = await run.outcomes()
    return item.score(outcome)


@takes_options
def score_sql_case(
    case: SqlCase,
    *,
    judge: AnyJudge | None = None,
    metrics: Iterable[str] | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
    options: SqlOptions | None = None,
    engine: AnyEngine | None = None,
    **fields: Unpack[OptionFields],
) -> SqlCaseScore:
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
        TypeError: case must be a SqlCase (of a table: sql_cases_from_columns(**table), of a mapping: SqlCase(**mapping)), got 'SELECT 1'
    """  # noqa: E501 - a message is one line
    with parsed_once():
        item, run = _prepare_single(
            case,
            judge=judge,
            metrics=metrics,
            evidence=evidence,
            timeout_seconds=timeout_seconds,
            options=options,
            engine=engine,
            **fields,
        )
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
    engine: AnyEngine | None,
    cases: Iterable[SqlCase] = (),
    confidence_level: float = 0.95,
) -> SqlScoring:
    """Take the options of a function that scores *cases*."""
    scoring = SqlScoring(
        options=SqlOptions.of(options, FrozenMapping(fields)),
        metrics=metrics,
        evidence=evidence,
        confidence_level=confidence_level,
        engine=check_engine(engine),
    )
    asks = any(case.safety_valid is not None for case in cases)
    asks = asks if scoring.metrics is None else "safety_validation" in scoring.metrics
    return attrs.evolve(scoring, asks_safety=asks)


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
    engine: AnyEngine | None = None

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
        of_pair = _INPUTS_OF_CORRECTNESS if self.scoring.evidence == "auto" else _INPUTS_OF_JUDGE
        return {
            name: result
            for name, result in results.items()
            if name in chosen and not failed(result) and not is_unjudged(result)
            if not (differing & of_pair if name == "query_correctness" else differing)
        }

    def job(self, timeout_seconds: float, *, is_alone: bool = False) -> Job:
        """Return what is still to be found out."""
        case, kept = self.case, self.kept()
        decided: QueryCorrectness | None = kept.get("query_correctness")
        pair = None
        asks = "query_correctness" in self.scoring.chosen and case.expected is not None
        if asks and (decided is None or self._is_to_be_located(decided)):
            pair = CorrectnessQuestion(
                generated=case.generated,
                accepted=references(case.expected),
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
        others = partial(unjudged_metrics, case, self.scoring, FrozenMapping(kept))
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


_INPUTS_OF_JUDGE = frozenset({"generated", "expected", "dialect", "schema", "question"})
"""Inputs that can change what a judge says."""
_INPUTS_OF_CORRECTNESS = _INPUTS_OF_JUDGE | {
    "keys",
    "row_order",
    "semantics",
    "column_order",
    "tolerance",
    "engine",
}
"""Inputs that can change whether a query is correct."""

_DIGESTED_SEPARATELY = ("case_id", "schema", "tags", "options", "keys")
"""Fields of a case that change no result, or that are digested apart."""
_DIGESTED_FIELDS = tuple(
    field.name for field in attrs.fields(SqlCase) if field.name not in _DIGESTED_SEPARATELY
)


def _digests(case: SqlCase, scoring: SqlScoring) -> FrozenMapping[str, str]:
    """Return a digest of each known input of a case, and of each option that counts."""
    options = scoring.options
    inputs = {name: getattr(case, name) for name in _DIGESTED_FIELDS} | options.given
    if scoring.engine is not None:
        inputs["engine"] = scoring.engine
    inputs["row_order"] = [*filter(None, orders_compared(case, options)[1])]
    if case.schema is not None:  # a mapping says more than the same words do
        inputs["schema"] = schema_text(case.schema), isinstance(case.schema, str)
    for name in NO_RULE:
        del inputs[name]
    known = {name: value for name, value in inputs.items() if value not in (None, (), [])}
    return FrozenMapping({name: digest_of(value) for name, value in known.items()})


@attrs.define
class _ScoringRun:
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
    def of(
        cls,
        cases: Iterable[SqlCase],
        *,
        judge: AnyJudge | None,
        executor: Executor | None,
        progress: Progress | bool | None,
        metrics: Iterable[str] | None,
        evidence: Evidence,
        confidence_level: float,
        timeout_seconds: float,
        deadline_seconds: float | None,
        resume: SqlReport | None,
        model: str | int | None,
        options: SqlOptions | None,
        engine: AnyEngine | None,
        **fields: Unpack[OptionFields],
    ) -> _ScoringRun:
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
        report = report_of(scores, self.scoring, self.model)
        return attrs.evolve(report, n_calls=self.paid.n_calls, cost_usd=self.paid.cost_usd)


@takes_options
async def ascore_sql_cases(  # noqa: D417 - as its twin
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
    engine: AnyEngine | None = None,
    **fields: Unpack[OptionFields],
) -> SqlReport:
    """
    Do the same as `score_sql_cases`, without blocking the event loop while judges work.

    Args:
        cases: As for `score_sql_cases`, like all options; the judge is asked through ``ajudge``.

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
    suite = await off_loop(
        partial(
            _ScoringRun.of,
            cases,
            judge=judge,
            executor=executor,
            progress=progress,
            metrics=metrics,
            evidence=evidence,
            confidence_level=confidence_level,
            timeout_seconds=timeout_seconds,
            deadline_seconds=deadline_seconds,
            resume=resume,
            model=model,
            options=options,
            engine=engine,
            **fields,
        )
    )
    return await suite.run()


@takes_options
def score_sql_cases(
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
    engine: AnyEngine | None = None,
    **fields: Unpack[OptionFields],
) -> SqlReport:
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
    suite = _ScoringRun.of(
        cases,
        judge=judge,
        executor=executor,
        progress=progress,
        metrics=metrics,
        evidence=evidence,
        confidence_level=confidence_level,
        timeout_seconds=timeout_seconds,
        deadline_seconds=deadline_seconds,
        resume=resume,
        model=model,
        options=options,
        engine=engine,
        **fields,
    )
    try:
        return run_to_end(suite.run)
    except KeyboardInterrupt as interrupt:
        interrupt.report = suite.report()  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
        raise


ANSWERED_BY_QUERY = ("query_correctness", "table_accuracy", "column_accuracy")
"""Metrics of which a report holds all that they need of an answer."""


@takes_options
def rescore(
    report: SqlReport,
    cases: Iterable[SqlCase],
    *,
    judge: AnyJudge | None = None,
    n: int | None = None,
    seed: int = 0,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
    options: SqlOptions | None = None,
    **fields: Unpack[OptionFields],
) -> SqlReport:
    """
    Measure answers of an earlier report with today's references, options and judge.

    `compare_reports` takes the result as *rescored*: it tells what the ruler changed and what the
    system did. Metrics that need rows of a database, or a validator, are left out.

    Args:
        report: The report that has the answers, such as the baseline.
        cases: Today's cases, for their references; what they generated is not looked at. Those
            that the report does not have are left out.
        judge: Today's judge, as for `score_sql_cases`.
        n: How many cases to take at random; None for all. The page on rulers has a table of what
            40 and 100 can show.
        seed: Which of them.
        evidence: As for `score_sql_cases`, like *timeout_seconds*, *options* and its fields.
        timeout_seconds: Time limit of each judgement (``> 0``).
        options: When two results are the same; each field of `SqlOptions` is a keyword too.

    Returns:
        A frozen `SqlReport` of the answers in *report*. Read *query_correctness* first.

    Raises:
        InputError: If no case is in *report*, or *n* is not from 1 to their number.
        TypeError: If *report* is no `SqlReport`, or an item is not a `SqlCase`.

    Examples:
        >>> schema, old = "CREATE TABLE t (x INT)", "SELECT x FROM t WHERE x > 1"
        >>> case = SqlCase(case_id="a", generated=old, expected=old, schema=schema)
        >>> before = score_sql_cases([case])
        >>> mended = attrs.evolve(case, expected=old.replace(">", ">="))
        >>> rescore(before, [mended]).query_correctness.mean
        0.0
        >>> rescore(before, [attrs.evolve(case, case_id="b")])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cases must be cases of report, such as 'a', got 'b'
    """
    check_instance("report", report, SqlReport)
    check_count("seed", seed)
    today: dict[str, SqlCase] = {}
    for case in check_records("cases", cases, SqlCase):
        today.setdefault(case.case_id, case)
    answers: dict[str, list[str]] = {}
    for score in report.cases:
        if score.case_id in today:
            answers.setdefault(score.case_id, []).append(score.generated)
    if not answers:
        domain = f"cases of report, such as {shown(report.cases[0].case_id)}"
        refuse("cases", domain, next(iter(today)))
    chosen = list(answers)
    if n is not None:
        places = random.Random(seed).sample(  # noqa: S311 - no secret
            range(len(chosen)), check_count("n", n, 1, len(chosen))
        )
        chosen = [chosen[place] for place in sorted(places)]
    known = [name for name in ANSWERED_BY_QUERY if getattr(report, name) is not None]
    return score_sql_cases(
        [
            SqlCase(generated=text, **{name: getattr(today[case_id], name) for name in _ASKED})
            for case_id in chosen
            for text in answers[case_id]
        ],
        judge=judge,
        metrics=known or None,
        evidence=evidence,
        confidence_level=report.scoring.confidence_level,
        timeout_seconds=timeout_seconds,
        model=report.model,
        options=options,
        **fields,
    )


_ASKED = (
    *("case_id", "expected", "expected_tables", "dialect", "schema", "question", "tags"),
    *("options", "keys"),
)
"""Fields of a case that its query is measured with."""


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
        parts = (f"{len(ids)} {what} ({named_cases(ids)})" for what, ids in found.items())
        whose = "" if report.model is None else f" of model {shown(report.model)}"
        _log.warning("report on %d cases%s: %s", report.n_cases, whose, "; ".join(parts))
