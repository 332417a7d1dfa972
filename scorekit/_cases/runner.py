"""Cases on their way: what needs no judge is computed, here or by workers, and the judge asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from functools import partial
from itertools import tee
from typing import Any, NamedTuple

import attrs

from scorekit._core.logs import about_case
from scorekit._judge.waiting import in_thread, off_loop, places_at
from scorekit._sql.door import parsed_once
from scorekit.correctness import CorrectnessQuestion, Found, QueryCorrectness
from scorekit.equivalence import SqlEquivalence
from scorekit.errors import JudgeError
from scorekit.judges import Judge, JudgeRequest, Verdict, ask_many
from scorekit.parallel import Progress, map_scores

SENT_AT_ONCE = 50
"""Cases that a worker is sent at a time."""

PART_SECONDS = 0.05
"""For how long cases are computed before they are passed to the judge and the progress."""

Others = dict[str, Any]
"""Results of the metrics that need no judge, and what is known besides, by field."""

_DEADLINE = JudgeError("deadline", "the run has reached deadline_seconds")


@attrs.frozen
class Job:
    """The work to do on one case."""

    case_id: str
    pair: CorrectnessQuestion | None
    """Queries to compare, without a judge; None where that is known, or nothing is expected."""
    others: Callable[[], Others]
    model: str | None = None
    is_alone: bool = False
    """Whether no report will sum up what goes wrong."""

    def named(self) -> AbstractContextManager[None]:
        """Let what is logged meanwhile name the case and the model."""
        return about_case(self.case_id, self.model, in_report=not self.is_alone)


class Outcome(NamedTuple):
    """The result of the work on one case."""

    correctness: QueryCorrectness | None
    others: Others
    seconds: float


class _Half(NamedTuple):
    """What a case needs no judge for; the other metrics may be computed while it is asked."""

    found: Found | CorrectnessQuestion | None
    others: Others | None
    seconds: float


@attrs.define
class CaseRun:
    """Jobs side by side, with one judge, which is asked here, several pairs at a time."""

    jobs: Sequence[Job]
    judge: Judge | None
    executor: Executor | None = None
    """Computes the rest; None for a thread."""
    tell: Progress | None = None
    """Hears how many cases are done."""
    ends_at: float | None = None
    """When, by the event loop's clock, the judge is asked no more."""
    together: bool = False
    """Whether the judge takes all pairs at once."""
    ready: asyncio.Queue[int | None] = attrs.field(factory=asyncio.Queue)
    """Cases to ask the judge about; None is the end."""
    waiting: dict[int, tuple[CorrectnessQuestion, Others | None, float]] = attrs.field(
        factory=dict
    )
    done: dict[int, Outcome] = attrs.field(factory=dict)
    known: dict[tuple[str, ...], tuple[SqlEquivalence, ...]] = attrs.field(factory=dict)
    """Evidence that this run has found: attempts at one case are often alike."""
    n_reported: int = 0

    async def outcomes(self) -> list[Outcome]:
        """Return the outcome of each case, in input order."""
        asks_now = self.judge is not None and not self.together
        n_askers = min(places_at(self.judge), len(self.jobs)) if asks_now else 0
        tasks = [asyncio.ensure_future(self._ask()) for _ in range(n_askers)]
        tasks.append(asyncio.ensure_future(self._prepare(n_askers)))
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        if self.waiting:
            await self._ask_together()
        return [self.done[position] for position in range(len(self.jobs))]

    async def _prepare(self, n_askers: int) -> None:
        """Finish what needs no judge, and hand out the rest."""
        position = 0
        async for part in self._parts():
            for found, others, seconds in part:
                if isinstance(found, CorrectnessQuestion):
                    self.waiting[position] = found, others, seconds
                    self.ready.put_nowait(position)
                else:
                    self.done[position] = _outcome(found, others, seconds)
                position += 1
            self._tell(len(self.done))
        for _ in range(n_askers):
            self.ready.put_nowait(None)

    async def _parts(self) -> AsyncIterator[list[_Half]]:
        """Yield what is prepared, some at a time, from a thread: the event loop goes on."""
        halves = self._halves()

        def some() -> list[_Half]:
            until = time.perf_counter() + PART_SECONDS
            part: list[_Half] = []
            for half in halves:
                part.append(half)
                if time.perf_counter() > until:
                    break
            return part

        while part := await self._off_loop(some):
            yield part

    async def _off_loop(self, some: Callable[[], list[_Half]]) -> list[_Half]:
        if self.executor is None:
            return await off_loop(some)
        part: list[_Half] = await asyncio.wrap_future(in_thread(some))  # it waits for workers
        return part

    def _halves(self) -> Iterator[_Half]:
        # Workers cannot reach what the judge's cache knows, so it is looked up here.
        sent, kept = tee(map(self._recalled, self.jobs))
        at_once = self.executor is not None or self.together or self.judge is None
        prepared = map_scores(
            partial(_prepared, at_once=at_once),
            sent,
            executor=self.executor,
            chunk_size=SENT_AT_ONCE,
        )
        for job, half in zip(kept, prepared, strict=True):
            if job.pair is not None and isinstance(half.found, tuple):
                self.known[job.pair.evidence_keys] = half.found
            yield _settled(job, half, self.judge)

    def _recalled(self, job: Job) -> Job:
        if job.pair is None:
            return job
        known = self.known.get(job.pair.evidence_keys)
        if known is None:
            known = attrs.evolve(job.pair, judge=self.judge).with_stored_evidence().known
        return attrs.evolve(job, pair=attrs.evolve(job.pair, known=known))

    async def _ask(self) -> None:
        """Take one case after another."""
        while (position := await self.ready.get()) is not None:
            pair, others, seconds = self.waiting.pop(position)
            job = self.jobs[position]
            started = time.perf_counter()
            with job.named():
                asking = asyncio.ensure_future(self._answer(pair))
                try:
                    if others is None:
                        others = await off_loop(job.others)
                    correctness = await asking
                finally:
                    asking.cancel()
            seconds += time.perf_counter() - started
            self.done[position] = Outcome(correctness, others, seconds)
            self._tell(len(self.done))

    async def _answer(self, pair: CorrectnessQuestion) -> QueryCorrectness:
        try:
            async with asyncio.timeout_at(self.ends_at):
                return await pair.ask()
        except TimeoutError:
            return pair.answered([_DEADLINE])

    async def _ask_together(self) -> None:
        """Pass all undecided pairs to the judge at once."""
        started = time.perf_counter()
        pairs = {position: pair for position, (pair, *_) in self.waiting.items()}
        answers = iter(await self._answers([r for p in pairs.values() for r in p.requests()]))
        for position, (pair, others, seconds) in self.waiting.items():
            with self.jobs[position].named():
                correctness = pair.answered([next(answers) for _ in pair.accepted])
            seconds += time.perf_counter() - started  # noqa: PLW2901 - all that it took
            self.done[position] = Outcome(correctness, others or {}, seconds)
        self._tell(len(self.done))

    async def _answers(self, requests: list[JudgeRequest]) -> Sequence[Verdict | Exception]:
        assert self.judge is not None  # noqa: S101 - for the type checkers
        n_done, n_waiting = len(self.done), len(self.waiting)
        scope = asyncio.timeout_at(self.ends_at)
        try:
            async with scope:
                return await ask_many(
                    self.judge, requests, lambda i, n: self._tell(n_done + n_waiting * i // n)
                )
        except Exception as error:  # noqa: BLE001 - whatever a judge raises is a failed judgement
            return [_DEADLINE if scope.expired() else error] * len(requests)

    def _tell(self, n_done: int) -> None:
        if self.tell is not None and n_done > self.n_reported:
            self.tell(n_done, len(self.jobs))
        self.n_reported = n_done


@parsed_once()
def without_judge(job: Job) -> Outcome:
    """Return the outcome of one case without asking a judge."""
    found, others, seconds = _settled(job, _prepared(job, at_once=True), None)
    return _outcome(found, others, seconds)


def _outcome(
    found: Found | CorrectnessQuestion | None, others: Others | None, seconds: float
) -> Outcome:
    correctness = found if isinstance(found, QueryCorrectness) else None
    return Outcome(correctness, others or {}, seconds)


@parsed_once()
def _prepared(job: Job, *, at_once: bool) -> _Half:
    """Look at the pair, in any process, and compute the other metrics unless they can wait."""
    started = time.perf_counter()
    with job.named():
        found = None if job.pair is None else job.pair.find_evidence()
        others = job.others() if at_once else None
    return _Half(found, others, time.perf_counter() - started)


def _settled(job: Job, half: _Half, judge: Judge | None) -> _Half:
    """Return the result if no judge is needed, else the pair to ask about."""
    started = time.perf_counter()
    found, others, seconds = half
    with job.named():
        if job.pair is not None and not isinstance(found, CorrectnessQuestion | None):
            found = attrs.evolve(job.pair, judge=judge).settle(found)
        if others is None and not isinstance(found, CorrectnessQuestion):
            others = job.others()
    return _Half(found, others, seconds + time.perf_counter() - started)
