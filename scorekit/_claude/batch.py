"""Many questions at half the price: the Message Batches API, and never one paid for twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import attrs
import httpx2

from scorekit._claude.connection import RESULTS
from scorekit._claude.messages import Answer, is_object
from scorekit._core.text import key_of
from scorekit._judge.asking import Refusal
from scorekit._judge.journal import decoded
from scorekit._judge.ledger import Ledger, ledger
from scorekit._judge.line import Passing, Question
from scorekit._judge.pace import limited
from scorekit.errors import JudgeError, one_line
from scorekit.judges import JudgeRequest, Verdict, parts_asked
from scorekit.prices import BATCH_SHARE
from scorekit.prompts import variables_of

if TYPE_CHECKING:
    from scorekit._claude.service import Service
    from scorekit._judge.journal import Journal

MAX_QUESTIONS: Final = 10_000
"""In one batch.  The service takes ten times as many; their ids have to fit into one note."""

MAX_BYTES: Final = 64 << 20
"""In one batch; the service takes four times as many."""

FIRST_POLL_SECONDS: Final = 1.0
LONGEST_POLL_SECONDS: Final = 60.0
CALL_SECONDS: Final = 600.0
"""Bound on one call of the service, which may carry many questions."""

MAX_CREATIONS: Final = 5
"""Times that a batch is ordered, where it is unclear whether the service heard of it."""

CANCEL_SECONDS: Final = 5.0

MAX_ASKS: Final = 2
"""Of one question: a second time where the first brought no answer."""

_UNKNOWN = 404
"""The service does not know a batch: not yet, for a moment, or not any more."""

_GONE = 410
"""The service has dropped the results of a batch."""

_BAD_REQUEST = 400
_TOO_LARGE = 413

_LASTING = "invalid_request_error"
"""The kind of a failure that the same question would meet again."""

Paid = tuple[float | None, Mapping[str, int] | None, bool]
"""Cost (None if unknown), tokens, and whether the question was taken."""

UNKNOWN: Final[Paid] = None, None, True
NOTHING: Final[Paid] = 0.0, None, False


@attrs.define(eq=False)
class _Asked:
    """A question, and what has become of it."""

    answer: asyncio.Future[Answer]
    most: float
    """What it can cost in a batch."""
    body: dict[str, Any] = attrs.field(factory=dict[str, Any])
    n_asks: int = 0
    failure: JudgeError | None = None

    @property
    def is_missing(self) -> bool:
        """Whether it is to be asked (again)."""
        return bool(self.body) and self.n_asks < MAX_ASKS and not self.answer.done()

    def give_up(self, failure: JudgeError) -> None:
        """Ask no more."""
        self.failure, self.n_asks = failure, MAX_ASKS


class Batches:
    """Questions that are asked together: ordered, waited for, collected."""

    def __init__(
        self,
        service: Service,
        identity: str,
        journal: Journal,
        progress: Callable[[int, int], object],
    ) -> None:
        self._service = service
        self._identity = identity
        self._journal = journal
        self._progress = progress
        client = service.usable_connection().client
        self._get: Callable[..., Any] = client.get
        self._batches: Any = client.messages.batches.with_raw_response
        self._requests: dict[str, JudgeRequest] = {}
        self._asked: dict[str, _Asked] = {}
        self._kept: dict[str, Verdict] = {}
        self._max_questions = MAX_QUESTIONS
        self._paid = Ledger(service.asking.budget, ledger.get())
        self._unsettled: dict[str, list[str]] = {}
        """Orders given here whose cost is not known yet: questions by the name of the note."""
        self._open: set[str] = set()
        """Batches under way."""
        self._known: set[str] = set()
        """Batches that were made or collected here."""

    async def judge(self, requests: Sequence[JudgeRequest]) -> list[Verdict | Exception]:
        """Return a verdict, or why there is none, for each request."""
        ids = [_id_of(self._identity, request) for request in requests]
        self._requests = dict(zip(ids, requests, strict=True))
        tasks = {
            id_: asyncio.ensure_future(self._verdict(id_, request))
            for id_, request in self._requests.items()
        }
        try:
            await asyncio.sleep(0)  # in which every task has come to where it waits for its answer
            await self._ask()
            await asyncio.wait(tasks.values())
        except BaseException:
            await self._cancel()
            raise
        finally:
            for task in tasks.values():
                task.cancel()
            for name in list(self._unsettled):
                self._settle(name, {})
            self._journal.close()
        return [self._kept.get(id_) or _outcome(tasks[id_]) for id_ in ids]

    async def _verdict(self, id_: str, request: JudgeRequest) -> Verdict:
        variables = variables_of(request)
        most = self._service.asking.most(variables.values()) * BATCH_SHARE
        asked = self._asked[id_] = _Asked(asyncio.get_running_loop().create_future(), most)

        async def complete(body: dict[str, Any]) -> dict[str, Any]:
            asked.body = body
            answer = await asked.answer
            breaker = self._service.asking.breaker
            try:
                chat = answer.chat_completion(variables.values())
            except JudgeError as error:
                breaker.note_answer(id_, error)
                raise
            breaker.note_answer(id_)
            return chat

        score, reasoning = await self._service.classify(variables, complete)
        return self._service.verdict(asked.answer.result(), score, reasoning)

    # Asking.

    def _missing(self) -> dict[str, _Asked]:
        return {id_: asked for id_, asked in self._asked.items() if asked.is_missing}

    async def _ask(self) -> None:
        """Collect what was ordered before, order the rest, and what failed once more."""
        try:
            await self._collect()
            while self._missing():
                async with self._journal.turn():
                    await self._order()
                await self._collect()
        except (JudgeError, Passing) as error:  # of the judge as a whole
            self._give_up(self._missing(), error)
        for asked in self._asked.values():
            if not asked.answer.done():
                lost = JudgeError("no_result", "the batch has no result for this question")
                failure = asked.failure or lost
                words = self._service.hide(failure.message)
                asked.answer.set_exception(JudgeError(failure.kind, words))

    def _give_up(self, ids: Collection[str], error: JudgeError | Passing) -> None:
        stated = error.failure if isinstance(error, Passing) else error
        if not isinstance(stated, JudgeError):
            stated = JudgeError("connection", str(stated))
        for id_ in self._missing().keys() & ids:
            self._asked[id_].give_up(stated)

    async def _order(self) -> None:
        """Order what nobody has; an order whose batch is not noted was interrupted."""
        for name, note in self._noted().items():
            if not note["batch"]:
                batch = await self._found(note)
                if batch is None:
                    self._journal.drop(name)
                else:
                    self._journal.write(name, {**note, "batch": batch})
        noted = {id_ for note in self._noted().values() for id_ in note["ids"]}
        for id_ in self._missing().keys() - noted:  # collected elsewhere since they were looked up
            kept = self._journal.kept(self._requests[id_])
            if kept is not None:
                self._kept[id_] = kept
                self._asked[id_].give_up(JudgeError("cached", "another process has collected it"))
        ids = [id_ for id_ in self._missing() if id_ not in noted]
        if ids:
            after = await self._newest()
            orders = {uuid4().hex: part for part in self._parts(ids)}
            for name, part in orders.items():
                await self._create(name, {"ids": part, "batch": None, "after": after})
            if not orders:  # calls under way may cost less than they might
                await asyncio.sleep(FIRST_POLL_SECONDS)

    def _noted(self) -> dict[str, dict[str, Any]]:
        """Return what is known to be ordered of what is missing."""
        missing = self._missing().keys()
        notes = self._journal.notes()
        return {name: note for name, note in notes.items() if not missing.isdisjoint(note["ids"])}

    async def _newest(self) -> str | None:
        """Return the last batch that the service has: those made from here on come after it."""
        page = await self._called(partial(self._batches.list, limit=1))
        data: Any = page.get("data")
        return _text(data[0], "id") if data else None

    def _parts(self, ids: list[str]) -> Iterator[list[str]]:
        """
        Yield ids that fit into one batch, as many as the budget allows.

        The others are ordered once it is known what these have cost.
        """
        part: list[str] = []
        size = 0
        for id_ in ids:
            asked = self._asked[id_]
            if not self._service.asking.budget.has_room(asked.most):
                try:
                    self._service.asking.budget.check(asked.most)
                except JudgeError as error:
                    asked.give_up(error)
                continue
            self._paid.begin(asked.most)
            n_bytes = len(json.dumps(asked.body))
            if part and (len(part) >= self._max_questions or size + n_bytes > MAX_BYTES):
                yield part
                part, size = [], 0
            part.append(id_)
            size += n_bytes
        if part:
            yield part

    async def _create(self, name: str, note: dict[str, Any]) -> None:
        """Note what is ordered, order it, and note the batch."""
        ids = self._unsettled[name] = note["ids"]
        self._journal.write(name, note)
        try:
            batch = await self._created(note)
        except Refusal as refusal:  # nothing was made, and nothing paid
            self._journal.drop(name)
            self._settle(name, dict.fromkeys(ids, NOTHING))
            if refusal.status == _TOO_LARGE and len(ids) > 1:
                self._max_questions = min(self._max_questions, len(ids) // 2)
            else:
                self._refused(ids, refusal)
        except (JudgeError, Passing) as error:
            self._give_up(ids, error)
        else:
            self._journal.write(name, {**note, "batch": batch})

    async def _created(self, note: dict[str, Any]) -> str:
        """Make a batch; where an answer was lost, look first whether it has been made."""
        requests = [{"custom_id": id_, "params": self._asked[id_].body} for id_ in note["ids"]]
        create = partial(self._batches.create, requests=requests)
        for n_tried in range(1, MAX_CREATIONS + 1):
            try:
                return _text(await self._called(create, once=True), "id")
            except Passing as passing:
                if not passing.is_passing:
                    raise
                found = await self._found(note)
                if found is not None:
                    return found
                if n_tried == MAX_CREATIONS:
                    raise
        raise AssertionError

    def _refused(self, ids: Collection[str], refusal: Refusal) -> None:
        for id_ in ids:
            self._service.learned(refusal, id_)
        self._give_up(ids, refusal)

    def _settle(self, name: str, paid: Mapping[str, Paid]) -> None:
        """Write down what an order of ours has cost."""
        for id_ in self._unsettled.pop(name, ()):
            cost, usage, was_taken = paid.get(id_, UNKNOWN)
            self._paid.end(cost, usage, was_taken=was_taken, most=self._asked[id_].most)

    # Collecting.

    async def _collect(self) -> None:
        """Take what was ordered, here or by another process."""
        notes = self._noted().items()
        await asyncio.gather(*(self._take_order(*note) for note in notes if note[1]["batch"]))

    async def _take_order(self, name: str, note: Mapping[str, Any]) -> None:
        """Take one order; what the service has lost of an earlier one is ordered anew."""
        batch = str(note["batch"])
        try:
            paid = await self._results(batch)
        except Refusal as refusal:
            if refusal.status not in {_UNKNOWN, _GONE}:
                self._refused(note["ids"], refusal)
            elif name in self._unsettled or (
                refusal.status == _UNKNOWN and await self._is_listed(batch)
            ):
                self._give_up(note["ids"], refusal)
            else:
                self._journal.drop(name)
        except (JudgeError, Passing) as error:
            self._give_up(note["ids"], error)
        else:
            self._journal.finish(name)
            for id_ in self._unsettled.get(name, ()):
                self._asked[id_].n_asks += 1
            self._settle(name, paid)

    async def _found(self, note: Mapping[str, Any]) -> str | None:
        """Return the batch that holds what was noted, if the service has one."""
        noted = {other["batch"] for other in self._journal.notes().values()}
        async for body in self._listed():
            if body.get("id") == note["after"]:
                return None  # the others are older than the intent
            is_known = body.get("id") in noted or body.get("id") in self._known
            if not is_known and _n_questions(body) == len(note["ids"]):
                batch = _text(body, "id")
                await self._ended(batch)
                if any(line.get("custom_id") in note["ids"] for line in await self._lines(batch)):
                    return batch
        return None

    async def _is_listed(self, batch: str) -> bool:
        """Return whether the service has a batch that it says it does not know."""
        return any([body.get("id") == batch async for body in self._listed()])

    async def _listed(self) -> AsyncGenerator[Mapping[str, Any]]:
        """Yield what the service says of each of its batches, the newest first."""
        after: dict[str, str] = {}
        while True:
            page = await self._called(partial(self._batches.list, limit=100, **after))
            for body in page.get("data") or ():
                yield body
            if not page.get("has_more"):
                return
            after = {"after_id": _text(page, "last_id")}

    async def _results(self, batch: str) -> dict[str, Paid]:
        """Wait for a batch, take its answers, and return what each question cost."""
        self._known.add(batch)
        self._open.add(batch)
        await self._ended(batch)
        self._open.discard(batch)
        paid: dict[str, Paid] = {}
        for line in await self._lines(batch):
            self._take(line, paid)
        if not any(was_taken for _, _, was_taken in paid.values()):
            self._learn_refusals(paid)
        n_done = sum(asked.answer.done() for asked in self._asked.values())
        self._progress(n_done, len(self._asked))
        return paid

    def _learn_refusals(self, ids: Iterable[str]) -> None:
        """Remember what a batch was refused for in which nothing was answered."""
        for id_ in ids:
            failure = self._asked[id_].failure
            if failure is not None and failure.kind == _LASTING:
                breaker = self._service.asking.breaker
                breaker.note_refusal(failure, _BAD_REQUEST, id_, is_own=True)

    def _take(self, line: Mapping[str, Any], paid: dict[str, Paid]) -> None:
        id_, result = line.get("custom_id"), line.get("result")
        asked = self._asked.get(id_) if isinstance(id_, str) else None
        if asked is None or not is_object(result) or (id_ in paid and asked.answer.done()):
            return
        type_ = str(result.get("type"))
        paid[str(id_)] = NOTHING
        if type_ != "succeeded":
            asked.failure = _failure(type_, result)
            if asked.failure.kind == _LASTING:
                asked.give_up(asked.failure)
            return
        try:
            answer = Answer.read(
                result.get("message"), self._service.settings.price_of, BATCH_SHARE
            )
        except JudgeError as error:
            asked.failure = error
            paid[str(id_)] = UNKNOWN
            return
        paid[str(id_)] = answer.cost_usd, answer.usage, True
        if not asked.answer.done():
            asked.answer.set_result(answer)

    async def _ended(self, batch: str) -> None:
        pause = FIRST_POLL_SECONDS
        while True:
            body = await self._known_soon(partial(self._batches.retrieve, batch))
            if body.get("processing_status") == "ended":
                return
            await asyncio.sleep(pause)
            pause = min(LONGEST_POLL_SECONDS, pause * 1.5)

    async def _lines(self, batch: str) -> list[dict[str, Any]]:
        """Return the results of a batch; reading them again costs nothing."""
        path = RESULTS.format(batch)
        get = partial(self._get, path, cast_to=httpx2.Response)
        lines: list[dict[str, Any]] = await self._known_soon(get, read=_lines)
        return lines

    # Calls.

    async def _known_soon(self, call: Callable[[], Awaitable[Any]], **options: Any) -> Any:
        """
        Return what a call about a batch brings that the service has made.

        It may not know the batch just after that, or for a moment: then it is asked again.
        """
        loop = asyncio.get_running_loop()
        pause, ends_at = FIRST_POLL_SECONDS, math.inf
        while True:
            try:
                return await self._called(call, **options)
            except Refusal as refusal:
                now = loop.time()
                ends_at = min(ends_at, now + self._service.settings.limits.max_wait_seconds)
                if refusal.status != _UNKNOWN or now >= ends_at:
                    raise
            await asyncio.sleep(min(pause, ends_at - now))
            pause = min(LONGEST_POLL_SECONDS, 2 * pause)

    async def _called(
        self,
        call: Callable[[], Awaitable[Any]],
        *,
        read: Callable[[str], Any] = json.loads,
        once: bool = False,
    ) -> Any:
        """Return what a call brings; *once*: raise where it is unclear what it brought about."""

        async def send(_: Question) -> Any:
            try:
                async with limited(CALL_SECONDS):
                    return await service.exchange(call, read)
            except TimeoutError as error:  # who accepts and never answers is away
                late = JudgeError("connection", f"no answer within {CALL_SECONDS:g} s")
                raise Passing(late, error) from error

        service = self._service
        service.asking.breaker.check()
        longest = service.settings.limits.max_wait_seconds
        found = await service.asking.pace.ask_once(send, longest, once=once)
        return found if read is _lines or is_object(found) else {}

    async def _cancel(self) -> None:
        """Tell the service that nobody waits; what it has answered can be collected later."""
        for batch in self._open:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CANCEL_SECONDS):
                    cancel = partial(self._batches.cancel, batch)
                    await self._service.connection().called(cancel)


def _id_of(identity: str, request: JudgeRequest) -> str:
    """Return the name of a question in a batch, the same in every process."""
    return key_of(identity, *parts_asked(request))[:32]


def _outcome(task: asyncio.Task[Verdict]) -> Verdict | Exception:
    error = None if task.cancelled() else task.exception()
    if error is None:
        return task.result()
    return error if isinstance(error, Exception) else JudgeError("cancelled", str(error))


def _lines(text: str) -> list[dict[str, Any]]:
    return [decoded(line) or {} for line in text.split("\n")]


def _failure(type_: str, result: Mapping[str, Any]) -> JudgeError:
    """Return why a question of a batch has no answer."""
    if type_ != "errored":
        return JudgeError(type_, f"the batch ended before this question was answered ({type_})")
    error = result.get("error")
    inner = error.get("error") if is_object(error) else None
    stated = inner if is_object(inner) else {}
    kind, message = str(stated.get("type", "api_error")), str(stated.get("message", ""))
    return JudgeError(one_line(kind, 40), one_line(f"in a batch: {message}"))


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise JudgeError("invalid_response", f"the service names no {name} of a batch")
    return value


def _n_questions(body: Mapping[str, Any]) -> int:
    counts = body.get("request_counts")
    return sum(n for n in counts.values() if isinstance(n, int)) if is_object(counts) else -1
