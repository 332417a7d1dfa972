"""Whether generated SQL means what was expected: `query_correctness`."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, Unpack, cast

import attrs

from scorekit._core.checks import check_choice, check_generated, check_items, check_text
from scorekit._core.clock import limited
from scorekit._core.logs import log
from scorekit._core.mappings import FrozenMapping
from scorekit._core.text import ORDINALS, key_of
from scorekit._judge.asking import TIMEOUT_MESSAGE
from scorekit._judge.memo import Memo, memo_of
from scorekit._judge.prompt import least_tokens, most_tokens
from scorekit._judge.waiting import (
    Caller,
    caller,
    check_timeout,
    is_sync,
    off_loop,
    queue_of,
    run_to_end,
)
from scorekit._sheet.model import Sheet, line_of
from scorekit._sheet.values import counted
from scorekit._sql.door import (
    AnyEngine,
    Faults,
    Schema,
    check_dialect,
    check_engine,
    checked_schema,
    parsed_once,
    schema_text,
)
from scorekit.equivalence import (
    SqlEquivalence,
    is_empty,
    returned_by,
    sql_equivalence,
    tables_of,
)
from scorekit.errors import JudgeError, one_line
from scorekit.judges import (
    METRIC,
    AnyJudge,
    Judge,
    JudgeRequest,
    Verdict,
    ask,
    optional_judge,
    total_cost,
    total_usage,
)
from scorekit.prompts import variables_of
from scorekit.records import RARE, UNDECIDED, MetricError, MetricResult, metric_error
from scorekit.results import OptionFields, SqlOptions, takes_options

_log = logging.getLogger(__name__)


def _recalled(key: str, memo: Memo) -> SqlEquivalence | None:
    """Return the evidence that was kept under this key, if there is any."""
    note = memo.recall(_note_key(key))
    try:
        return None if note is None else SqlEquivalence.from_dict(note)
    except Exception:  # noqa: BLE001 - whoever may write there, it is only looked for again
        return None


def _note_key(key: str) -> str:
    return key_of("evidence", _code(), key)


@cache
def _code() -> str:
    """Return what evidence depends on besides the pair: this code, the parser, SQLite."""
    import sqlite3

    from sqlglot._version import __version__ as parser

    root = Path(__file__).parent
    files = [root / "equivalence.py", root / "_core/rows.py", *sorted(root.glob("_sql/**/*.py"))]
    code = sha256(b"".join(file.read_bytes() for file in files if file.is_file()))
    return key_of(code.hexdigest(), parser, sqlite3.sqlite_version)


NO_JUDGE = "no judge to ask; pass judge=ClaudeJudge() or judge=judge_from_function(...)"

NO_DIALECT = (
    "without dialect=, a refutation has to hold in SQLite, PostgreSQL, MySQL and DuckDB alike"
)

NO_SCHEMA = "a counterexample is known, but it counts only with a schema that defines the tables"

QUERY_ROLES: Final = ("generated", "expected")
"""What the first and the second of two queries are called here."""

BAD_REFERENCE: Final = "bad_reference"
"""The kind of the error of an expected query that its database does not run."""

NO_QUERY = "the generated text is no query: it returns no columns of a table"

REFUTED: Final = "refuted; "
"""What a reason begins with that a counterexample gives."""

SHORT = 300
"""Characters of SQL that are parsed in passing; longer ones take a thread, not an event loop."""

LONGEST_NAME = 40
"""Characters of the name of a judge."""

SHORT_REASON = 200
"""Characters of a reason in a message that says more behind it."""

MAX_EVIDENCE_SECONDS: Final = 5.0
EVIDENCE_SHARE: Final = 0.2
"""The share of a time limit that evidence may take, up to so many seconds."""

Evidence = Literal["auto", "judge"]


@attrs.frozen(kw_only=True, repr=False)
class QueryCorrectness(MetricResult):
    """Result of `query_correctness`."""

    score: float
    """1.0 equivalent, 0.5 partly right, 0.0 incorrect or failed (see *error*)."""
    reasoning: str
    method: Literal["identical", "proved", "refuted", "judge"] | None
    """What decided the pair; None if nothing did, or if the SQL cannot run."""
    cached: bool = False
    """Whether the judge's verdict came from a cache."""
    contested: bool = False
    """Whether the judge says equivalent although there is a counterexample."""
    equivalence: SqlEquivalence | None = None
    """What is known without a judge; None where nothing was looked for."""
    votes: tuple[float, ...] = ()
    """The single scores of a `VotingJudge`, which may disagree."""
    usage: FrozenMapping[str, int] | None = None
    """Tokens used for the verdict when it was first given, over all votes."""
    cost_usd: float | None = None
    model: str | None = None
    response_id: str | None = None
    judge: str | None = None
    """Who judged: the model, or the judge's *identity*, with a digest of all that can change a
    verdict, and the model that answered where that is another one; None where no judge decided."""
    judge_error: MetricError | None = None
    """Why the judge that was asked gave no verdict, where a counterexample decides instead."""
    prompt_tokens: tuple[tuple[int, int], ...] = attrs.field(default=(), metadata={RARE: True})
    """Where the pair is undecided: the fewest and the most tokens of a judge's prompt about each
    accepted query, see `SqlReport.judge_cost`."""
    error: MetricError | None = None

    def why(self) -> str:
        """Return in a line why the score is not 1, and what is known where no judge answered."""
        why, known = super().why(), self.equivalence
        if self.judge_error is not None:
            return f"{why}; the judge failed: {self.judge_error.message}"
        if self.error is None or self.error.kind == UNDECIDED or known is None:
            return why  # the message of no_judge has it
        if self.error.kind == "bad_reference":
            return why  # both say that it cannot be read
        return f"{why}; without a judge: {with_role_names(line_of(known))}"

    def _line(self) -> str:
        return f"{super()._line()}{'' if self.method is None else f' ({self.method})'}"

    def _sheet(self) -> Sheet:
        """Show the database on which a refuted pair differs below why."""
        sheet, known = super()._sheet(), self.equivalence
        if self.method is not None:
            why = (self.why() or self.reasoning).removeprefix(REFUTED)
            sheet = attrs.evolve(sheet, headline=f"{self._line()}: {why}")
        if self.method != "refuted" or known is None or known.counterexample is None:
            return sheet
        tables = tables_of(known.counterexample, QUERY_ROLES)
        return attrs.evolve(sheet, parts=(*tables, *sheet.parts))

    def _reason(self) -> str:
        example = None if self.equivalence is None else self.equivalence.counterexample
        if self.method != "refuted" or example is None:
            return self.reasoning or f"the judge says {self.score:g}"
        generated, expected = (one_line(rows, SHORT_REASON) for rows in returned_by(example))
        how = " in this order" if example.order_only else ""
        where = "on empty tables " if is_empty(example) else ""
        widths = [len(rows[0]) for rows in (example.rows_of_a, example.rows_of_b) if rows]
        if len({*widths}) > 1:
            how = f" ({counted(widths[0], 'column')}, expected {widths[1]})"
        return f"{REFUTED}{where}generated returns {generated}, expected {expected}{how}"


async def _within(asking: Coroutine[Any, Any, None], seconds: float) -> None:
    task = asyncio.ensure_future(asking)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, if too late
    try:
        # Not wait_for: that waits on for a judge which ignores its cancellation.
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            raise TimeoutError
        task.result()
    finally:
        task.cancel()


@lru_cache(maxsize=64)
def judge_name(identity: str, model: str | None = None) -> str:
    """
    Return a short name of a judge, which is another one for another *identity*.

    A *model* that answered and that the identity does not name is part of it: a gateway may send
    a question to another one, and a name such as "latest" means another one in time.
    """
    asked = re.search(r'"model": "([^"]+)"', identity)
    name = one_line(identity if asked is None else asked[1], LONGEST_NAME)
    if asked is not None or len(identity) > LONGEST_NAME:
        name = f"{name} ({key_of(identity)[:6]})"
    if model and not re.search(rf"(?<![\w.:-]){re.escape(model)}(?![\w.:-])", identity):
        name = f"{name}, answered by {one_line(model, LONGEST_NAME)}"
    return name


Found: TypeAlias = QueryCorrectness | tuple[SqlEquivalence, ...]
"""What is known without a judge: the result where the text decides, else the evidence."""


@attrs.frozen
class CorrectnessQuestion:
    """The checked arguments of one question, and how its answer becomes a result."""

    generated: str
    accepted: tuple[str, ...]
    judge: Judge | None
    dialect: str | None
    schema: Schema | None
    schema_text: str | None
    question: str | None
    evidence: Evidence
    timeout_seconds: float
    known: tuple[SqlEquivalence, ...] = ()
    """What evidence says of the accepted queries in turn, up to the first that is proved."""
    options: SqlOptions = attrs.field(factory=SqlOptions)
    """When two results are the same; each is given, but for keys."""
    engine: AnyEngine | None = None
    """What runs the queries for evidence; None for SQLite."""
    decided: QueryCorrectness | None = None
    """A result that only lacks the clauses in which the query is wrong."""

    @classmethod
    def from_arguments(
        cls,
        generated: str,
        expected: str | Iterable[str],
        *,
        judge: AnyJudge | None,
        dialect: str | None,
        schema: Schema | None,
        question: str | None,
        evidence: Evidence,
        timeout_seconds: float,
        options: SqlOptions | None,
        engine: AnyEngine | None,
        **fields: Unpack[OptionFields],
    ) -> CorrectnessQuestion:
        """Take the arguments of `query_correctness`."""
        check_choice("evidence", evidence, ("auto", "judge"))
        if question is not None:
            check_text("question", question, empty=True)
        named = check_dialect(dialect)
        schema = checked_schema(schema, named)
        check_engine(engine)
        return cls(
            generated=check_generated("generated", generated),
            accepted=accepted_queries(expected),
            judge=optional_judge(judge),
            dialect=named,
            schema=schema,
            schema_text=None if schema is None else schema_text(schema),
            question=question,
            evidence=evidence,
            timeout_seconds=check_timeout(timeout_seconds),
            options=SqlOptions.of(options, FrozenMapping(fields)).settled,
            engine=engine,
        )

    @parsed_once()
    def decide_without_judge(self) -> QueryCorrectness | CorrectnessQuestion:
        """Return the result if no judge need be asked, else the pair with what is known of it."""
        return self.settle(self.find_evidence())

    def with_stored_evidence(self) -> CorrectnessQuestion:
        """Return the pair with the evidence that was kept beside verdicts, if it is whole."""
        memo = memo_of(self.judge)
        if memo is None or self.evidence == "judge" or self.engine is not None:
            return self
        if self.is_identical():
            return self
        known: list[SqlEquivalence] = []
        for key in self.evidence_keys:
            found = _recalled(key, memo)
            if found is None:
                return self
            known.append(found)
            if is_right(found):
                break
        return attrs.evolve(self, known=tuple(known))

    def find_evidence(self) -> Found:
        """Return the result where the text decides, else the evidence; asks nobody."""
        if self.decided is not None:
            return self.located(self.decided)
        if self.is_identical():
            return self.identical_result()
        if self.known:
            return self.known
        fault = self.faults.of_generated()
        if fault is not None:
            return self._failure("output", *fault)
        if self.faults.is_no_query():
            return QueryCorrectness(score=0.0, reasoning=NO_QUERY, method="refuted")
        known: list[SqlEquivalence] = []
        with limited(self.evidence_seconds):
            for expected in self.accepted if self.evidence == "auto" else ():
                known.append(self.evidence_on(expected))
                if is_right(known[-1]):
                    break
        return tuple(known)

    @property
    def evidence_seconds(self) -> float:
        """The most CPU time that the search for evidence takes."""
        return min(MAX_EVIDENCE_SECONDS, EVIDENCE_SHARE * self.timeout_seconds)

    @property
    def judge_seconds(self) -> float:
        """The time limit of the judge: what evidence cannot take."""
        return self.timeout_seconds - (self.evidence_seconds if self.evidence == "auto" else 0.0)

    def identical_result(self) -> QueryCorrectness:
        """Return the result of a text that is the expected one, if its database runs it."""
        why = self.faults.of_identical()
        if why is not None:
            return self._failure("instrument", BAD_REFERENCE, f"expected: {why}")
        reasoning = "Queries are identical"
        return QueryCorrectness(score=1.0, reasoning=reasoning, method="identical")

    def settle(self, found: Found) -> QueryCorrectness | CorrectnessQuestion:
        """Return the result if what was found is one, or nobody need or can be asked."""
        if isinstance(found, QueryCorrectness):
            return found
        memo = memo_of(self.judge)
        if found != self.known and memo is not None and self.engine is None:
            for key, one in zip(self.evidence_keys, found, strict=False):  # up to a proof
                if not one.timed_out:
                    memo.keep(_note_key(key), one.to_dict())
        pair = attrs.evolve(self, known=found)
        return pair.without_asking() or pair

    def located(self, result: QueryCorrectness) -> QueryCorrectness:
        """Return a result that is decided, with the clauses in which the query is wrong."""
        was = result.equivalence
        found = (self.evidence_on(expected) for expected in self.accepted)
        for one in found:
            if was is not None and one.counterexample == was.counterexample:
                return attrs.evolve(result, equivalence=one)
        return result

    def is_identical(self) -> bool:
        """Say whether the generated text is one of those accepted."""
        return _normalized(self.generated) in map(_normalized, self.accepted)

    def is_quick(self) -> bool:
        """Say whether looking at the pair is no work for a thread."""
        is_short = len(self.generated) <= SHORT and self.evidence == "judge"
        return is_short or self.is_identical() or bool(self.known)

    def evidence_on(self, expected: str) -> SqlEquivalence:
        """Return whether the two are proved equal or refuted; never raises."""
        try:
            return sql_equivalence(
                self.generated,
                expected,
                dialect=self.dialect,
                schema=self.schema,
                options=self.options,
                engine=self.engine,
                timeout_seconds=self.evidence_seconds,
            )
        except Exception as error:  # noqa: BLE001 - a schema that only a judge understands, say
            reason = one_line(f"{type(error).__name__}: {error}")
            log(_log, logging.WARNING, f"no evidence: {reason}")
            return SqlEquivalence(verdict="unknown", reason=reason)

    @cached_property
    def faults(self) -> Faults:
        """What is wrong with the texts by themselves."""
        return Faults(
            self.generated,
            self.accepted,
            self.schema,
            self.dialect,
            by_schema=self.evidence == "auto",
            only_built_in=self.options.functions == "built_in",
        )

    @cached_property
    def evidence_keys(self) -> tuple[str, ...]:
        """What identifies each pair and all that evidence on it rests on."""
        is_text = isinstance(self.schema, str)  # a mapping says more than the same words do
        how = repr(attrs.evolve(self.options, contested=None))
        rest = self.dialect, self.schema_text, is_text, how, self.evidence_seconds
        return tuple(key_of(self.generated, expected, *rest) for expected in self.accepted)

    def without_asking(self) -> QueryCorrectness | None:
        """Return the result where they are proved equal, or no judge need or can be asked."""
        if self.known and all(found.raises == "a" for found in self.known):
            return self._failure(
                "output", "refused", f"generated: {with_role_names(self.known[0].reason)}"
            )
        if self.known and is_right(self.known[-1]):
            last = self.known[-1]
            return QueryCorrectness(
                score=1.0,
                reasoning=with_role_names(last.reason),
                method="proved",
                equivalence=last,
            )
        if self.judge is None:
            return self.unjudged()
        peek = getattr(self.judge, "peek", None)  # what remembers answers by it, without waiting
        if not callable(peek) or len(self.accepted) > 1:
            return None  # of several, those that are known would be looked up and counted twice
        try:
            verdict = peek(self.request(0))
        except Exception:  # noqa: BLE001 - what is wrong comes out when the judge is asked
            return None
        return self.judged([verdict]) if isinstance(verdict, Verdict) else None

    def unjudged(self) -> QueryCorrectness:
        """Return the result where there is no proof and nobody to ask."""
        refuted = self.refuted()
        if refuted is not None:
            return refuted
        raised = (with_role_names(found.reason) for found in self.known if found.raises == "b")
        why = next(filter(None, (*map(self.faults.of_reference, self.accepted), *raised)), None)
        if why is not None:
            return self._failure("instrument", BAD_REFERENCE, f"expected: {why}")
        return self._failure("instrument", UNDECIDED, f"{self.undecided()}; {NO_JUDGE}")

    def prompt_tokens(self) -> tuple[tuple[int, int], ...]:
        """Return the fewest and the most tokens of a prompt about each accepted query, if any."""
        if self.is_identical():
            return ()
        try:
            parts = [variables_of(request).values() for request in self.requests()]
        except JudgeError:  # too long: no judge is asked
            return ()
        return tuple((least_tokens(*some), most_tokens(*some)) for some in parts)

    def undecided(self) -> str:
        """Say why evidence does not decide the pair, and what would let it decide more."""
        if not self.known:
            return "the queries differ in text"
        reasons = [found.reason for found in self.known if found.verdict == "unknown"]
        why = NO_SCHEMA
        if reasons:
            reason = with_role_names(one_line(reasons[0], SHORT_REASON)).rstrip(".")
            why = f"neither proved equal nor refuted: {reason}"
            why += "" if self.dialect else f" ({NO_DIALECT})"
        return why

    def refuted(self) -> QueryCorrectness | None:
        """Return the result where each accepted query is refuted under the schema."""
        if not self.known or any(found.verdict != "refuted" for found in self.known):
            return None
        found = self.known[0]
        reason = with_role_names(found.reason)
        return (
            QueryCorrectness(score=0.0, reasoning=reason, method="refuted", equivalence=found)
            if self.faults.is_schema_known()
            else None
        )

    async def ask(self, place: AsyncExitStack | None = None) -> QueryCorrectness:
        """Return the result of asking the judge, which may close *place* before."""
        answers: list[Verdict] = []
        who = Caller(self.judge_seconds, place)
        token = caller.set(who)
        asking = self._ask(answers)
        try:
            if queue_of(self.judge) is None:
                await _within(asking, self.judge_seconds)
            else:  # asked at once, not after a look at all pairs of the caller
                await asking
            return self.judged(answers)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self.failed(JudgeError("cancelled", "the judge cancelled itself"), answers)
        except Exception as error:  # noqa: BLE001 - whatever a judge raises is a failed judgement
            return self.failed(error, answers)
        finally:
            who.has_left = True
            caller.reset(token)

    async def _ask(self, answers: list[Verdict]) -> None:
        """Add the judge's answer on each accepted query in turn, until one is equivalent."""
        assert self.judge is not None  # noqa: S101 - for the type checkers
        for i in range(len(self.accepted)):
            answers.append(await ask(self.judge, self.request(i)))
            if answers[-1].score == 1.0:
                break

    def requests(self) -> list[JudgeRequest]:
        """Return one request for each accepted query, for a judge that takes all at once."""
        return [self.request(i) for i in range(len(self.accepted))]

    def answered(self, answers: Sequence[Verdict | Exception]) -> QueryCorrectness:
        """Return the result: a failure counts only where no other answer is equivalent."""
        verdicts = [answer for answer in answers if isinstance(answer, Verdict)]
        for answer in answers:
            if isinstance(answer, Exception) and all(v.score < 1.0 for v in verdicts):
                return self.failed(answer, verdicts)
        return self.judged(answers)

    def request(self, i: int) -> JudgeRequest:
        """Return what the judge is asked about the accepted query number *i*."""
        example = self.known[i].counterexample if self.known else None
        return JudgeRequest(
            generated=self.generated,
            expected=self.accepted[i],
            question=self.question,
            schema=self.schema_text,
            dialect=self.dialect,
            counterexample=None if example is None else example.to_text(names=QUERY_ROLES),
        )

    def judged(self, answers: Sequence[Verdict | Exception]) -> QueryCorrectness:
        """Return the result of the verdicts on the accepted queries, of which the best counts."""
        verdicts = [answer for answer in answers if isinstance(answer, Verdict)]
        verdict = max(verdicts, key=lambda answer: answer.score)
        i = answers.index(verdict)
        known = self.known[i] if self.known else None
        contested = verdict.score == 1.0 and known is not None and known.verdict == "refuted"
        refuted = self.refuted() if contested and self.options.contested == "refuted" else None
        if refuted is None:
            result = QueryCorrectness(
                score=verdict.score,
                reasoning=verdict.reasoning,
                method="judge",
                equivalence=known,
            )
        else:
            words = f"the judge says equivalent: {verdict.reasoning}".rstrip(": ")
            result = attrs.evolve(refuted, reasoning=f"{refuted.reasoning}; {words}")
        return attrs.evolve(
            result,
            cached=verdict.cached,
            contested=contested,
            votes=verdict.votes,
            usage=total_usage(answer.usage for answer in verdicts),
            cost_usd=total_cost(answer.cost_usd for answer in verdicts),
            model=verdict.model,
            response_id=verdict.response_id,
            judge=self._judged_by(verdict.model),
        )

    def _judged_by(self, model: object) -> str | None:
        if self.judge is None:
            return None
        return judge_name(self.judge.identity, model if isinstance(model, str) else None)

    def failed(self, error: Exception, answers: Sequence[Verdict]) -> QueryCorrectness:
        """
        Return the result of a judge that raised or ran out of time after some answers.

        It takes back no counterexample: a refuted pair is wrong, as it is without a judge.
        """
        paid: list[Verdict | JudgeError] = [*answers]
        kind, cause = "judge_failure", cast("Exception | str", error)
        if isinstance(error, TimeoutError):
            kind, cause = "timeout", TIMEOUT_MESSAGE
        elif isinstance(error, JudgeError):
            kind = error.kind
            if kind == "timeout":
                cause = error.message  # the text of the error begins with the kind
            if error.usage is not None or error.cost_usd is not None:
                paid.append(error)
        result = self.refuted()
        if result is None:
            result = self._failure("instrument", kind, cause)
        else:
            record = self._error("instrument", kind, cause)
            result = attrs.evolve(
                result,
                reasoning=f"{result.reasoning}; the judge failed: {record.message}",
                judge_error=record,
            )
        return attrs.evolve(
            result,
            usage=total_usage(one.usage for one in paid),
            cost_usd=total_cost(one.cost_usd for one in paid) if paid else None,
        )

    def _error(
        self, origin: Literal["output", "instrument"], kind: str, error: Exception | str
    ) -> MetricError:
        inputs = {"generated": self.generated, "expected": " | ".join(self.accepted)}
        return metric_error(
            METRIC, origin=origin, kind=kind, error=error, inputs=inputs, logger=_log
        )

    def _failure(
        self, origin: Literal["output", "instrument"], kind: str, error: Exception | str
    ) -> QueryCorrectness:
        record = self._error(origin, kind, error)
        return QueryCorrectness(
            score=0.0,
            reasoning=record.message,
            method=None,
            equivalence=self.known[0] if self.known else None,
            prompt_tokens=() if origin == "output" else self.prompt_tokens(),
            error=record,
        )


@takes_options
async def aquery_correctness(  # noqa: D417 - as its twin
    generated: str,
    expected: str | Iterable[str],
    *,
    judge: AnyJudge | None = None,
    dialect: str | None = None,
    schema: Schema | None = None,
    question: str | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
    options: SqlOptions | None = None,
    engine: AnyEngine | None = None,
    **fields: Unpack[OptionFields],
) -> QueryCorrectness:
    """
    Do the same as `query_correctness`, without blocking the event loop while the judge works.

    Args:
        generated: As for `query_correctness`, like all options; the judge is asked through
            ``ajudge``.

    Returns:
        A frozen `QueryCorrectness`. Read *score*, *method* and *error* first.

    Raises:
        InputError: As `query_correctness`.
        TypeError: As `query_correctness`.

    Examples:
        >>> asyncio.run(aquery_correctness("SELECT 1", "SELECT 1")).score
        1.0
    """
    pair = CorrectnessQuestion.from_arguments(
        generated,
        expected,
        judge=judge,
        dialect=dialect,
        schema=schema,
        question=question,
        evidence=evidence,
        timeout_seconds=timeout_seconds,
        options=options,
        engine=engine,
        **fields,
    ).with_stored_evidence()
    # Identical text needs no judge, which may pause; and what a judge asks about itself must not
    # wait for the pairs that wait for that judge.
    takes_place = caller.get() is None and not pair.is_identical()
    queue = queue_of(pair.judge) if takes_place else None
    async with AsyncExitStack() as place:
        if queue is not None:
            await place.enter_async_context(queue.place())
        looked = (
            pair.decide_without_judge()
            if pair.is_quick()
            else await off_loop(pair.decide_without_judge)
        )
        if isinstance(looked, QueryCorrectness):
            return looked
        return await looked.ask(place)


@takes_options
def query_correctness(
    generated: str,
    expected: str | Iterable[str],
    *,
    judge: AnyJudge | None = None,
    dialect: str | None = None,
    schema: Schema | None = None,
    question: str | None = None,
    evidence: Evidence = "auto",
    timeout_seconds: float = 30.0,
    options: SqlOptions | None = None,
    engine: AnyEngine | None = None,
    **fields: Unpack[OptionFields],
) -> QueryCorrectness:
    """
    Score whether a generated query answers the question of the expected one: 1.0, 0.5 or 0.0.

    The pair is decided by the first of these that applies:

    - Identical text is right, apart from outer space and a final ``;``.
    - SQL that does not parse is wrong, and so are several queries, or a text with a statement such
      as DELETE or EXPLAIN, where one query is expected.
    - SQL that names a table or column which the *schema* does not have is wrong.
    - SQL that `sql_equivalence` proves equal is right.
    - The judge decides, and sees a counterexample if there is one.
    - Without a judge, or if it fails, a pair that is refuted under a *schema* is wrong.
    - Any other pair is undecided: a failure of the judge, not a guess.

    A table or column counts as missing only if every statement of the schema could be read, and an
    accepted query has all of its own. Built-in tables and columns are never missing.

    Args:
        generated: The model's SQL.
        expected: The reference SQL, or several accepted queries of which the best counts.
        judge: The judge to ask; see `judge_from_function`.
        dialect: SQL dialect of both, as sqlglot names it; None tries several.
        schema: The tables, as text or as a mapping from table to column to type.  CREATE TABLE
            statements and the mapping let more be proved and refuted.
        question: What the query should answer, in the user's words.
        evidence: ``"auto"`` looks for missing names, a proof or a counterexample before the judge
            is asked, ``"judge"`` does not.
        timeout_seconds: Time limit of evidence and judge together, retries included (``> 0``).
            Evidence takes at most a fifth of it, and 5 seconds of CPU time; the judge has the
            rest.  A `ClaudeJudge` that others ask as well does not count the time that a question
            waits for its turn.
        options: When evidence takes two results for the same, and *keys* of the tables; each field
            of `SqlOptions` is a keyword too. An ORDER BY that only one query has is not compared
            unless *row_order* or *rule* asks for it, and *reasoning* says so.
        engine: Runs the queries for evidence, as for `sql_equivalence`. What it does not run of
            the generated query alone is wrong, of the reference alone a bad reference.

    Returns:
        A frozen `QueryCorrectness`. If the judge fails or takes too long and the pair is not
        refuted, the score is 0.0 and the *error* has the origin ``"instrument"``. For SQL that
        cannot be read, or names what does not exist, the score is 0.0 with the origin
        ``"output"``. Read *score*, *method* and *error* first.

    Raises:
        InputError: If *expected* is empty, *dialect* unknown, *evidence* neither word, *schema* a
            path, *timeout_seconds* not positive, or an option refused or given twice.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> result = query_correctness("SELECT 1 ", "SELECT 1;")
        >>> result.score, result.reasoning, result.method
        (1.0, 'Queries are identical', 'identical')
        >>> schema = {"users": {"id": "int", "age": "int"}}
        >>> counts = "SELECT COUNT(age) FROM users", "SELECT COUNT(*) FROM users"
        >>> result = query_correctness(*counts, schema=schema)
        >>> result.score, result.reasoning, result.method
        (0.0, 'results differ on a database of 1 row', 'refuted')
        >>> query_correctness("SELECT MAX(age) FROM people", counts[1], schema=schema).reasoning
        "generated: the schema has no table 'people'"
        >>> query_correctness("SELECT 1", "")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: expected must be a non-empty string, got ''
    """
    pair = CorrectnessQuestion.from_arguments(
        generated,
        expected,
        judge=judge,
        dialect=dialect,
        schema=schema,
        question=question,
        evidence=evidence,
        timeout_seconds=timeout_seconds,
        options=options,
        engine=engine,
        **fields,
    ).with_stored_evidence()
    looked = pair.decide_without_judge()
    if isinstance(looked, QueryCorrectness):
        return looked
    token = is_sync.set(True)
    try:
        return run_to_end(looked.ask, looked.judge_seconds)
    except TimeoutError as error:  # of a judge that blocks the event loop
        return looked.failed(error, [])
    finally:
        is_sync.reset(token)


def is_right(found: SqlEquivalence) -> bool:
    """Say whether the generated query is proved to allow only results of the expected one."""
    return found.verdict == "proved" or found.includes == "b"


def with_role_names(reason: str) -> str:
    """Return a reason of `sql_equivalence` that says which query was generated."""
    for ordinal, role in zip(ORDINALS, QUERY_ROLES, strict=True):
        reason = re.sub(rf"\bthe {ordinal} (?=query\b|text\b)", f"the {role} ", reason)
    return reason


def accepted_queries(expected: object) -> tuple[str, ...]:
    """Return one or several reference queries as a tuple, or refuse them."""
    if isinstance(expected, str):
        return (check_text("expected", expected),)
    queries = check_items("expected", expected, what="accepted queries")
    return tuple(check_text(f"expected[{i}]", query) for i, query in enumerate(queries))


def _normalized(sql: str) -> str:
    return sql.strip().rstrip("; \t\r\n")
