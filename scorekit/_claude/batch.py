"""Many questions at half the price: the Message Batches API, and never one paid for twice."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import uuid4

from scorekit._claude.pace import limited
from scorekit._claude.prompt import Answer, is_object, template_variables
from scorekit._claude.schedule import Passing, Question
from scorekit._claude.service import Refusal, highest_cost
from scorekit._core.text import key_of
from scorekit._judge.ledger import Ledger, ledger
from scorekit.errors import JudgeError, one_line
from scorekit.judges import JudgeRequest, Verdict, parts_asked

if TYPE_CHECKING:
    from scorekit._claude.service import Service
    from scorekit._judge.journal import Journal

T = TypeVar("T")

PRICE_SHARE: Final = 0.5
"""What a message costs in a batch, as a share of its price."""

MAX_QUESTIONS: Final = 10_000
"""In one batch.  The service takes ten times as many; their ids have to fit into one note."""

MAX_BYTES: Final = 64 << 20
"""In one batch; the service takes four times as many."""

MAX_LINE: Final = 4 << 20
"""Longest result of one question, in bytes."""

FIRST_POLL_SECONDS: Final = 1.0
LONGEST_POLL_SECONDS: Final = 60.0
CALL_SECONDS: Final = 600.0
"""Bound on one call of the service, which may carry many questions."""

DOWNLOAD_SECONDS: Final = 60.0
"""Longest wait for the next piece of the results."""

MAX_CREATIONS: Final = 5
"""Times that a batch is ordered, where it is unclear whether the service heard of it."""

CANCEL_SECONDS: Final = 5.0

MAX_ASKS: Final = 2
"""Of one question: a second time where the first brought no answer."""

_GONE = {404, 410}
"""The service does not know a batch, or has dropped its results."""

_TOO_LARGE = 413

Paid = tuple[float | None, Mapping[str, int] | None, bool]
"""Cost (None if unknown), tokens, and whether the question was taken."""

UNKNOWN: Final[Paid] = None, None, True
NOTHING: Final[Paid] = 0.0, None, False


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
        client: Any = service.usable_client()
        self._batches = client.messages.batches.with_raw_response
        self._streamed = client.messages.batches.with_streaming_response
        self._bodies: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, asyncio.Future[Answer]] = {}
        self._most: dict[str, float] = {}
        self._failures: dict[str, JudgeError] = {}
        self._n_asks: dict[str, int] = {}
        self._max_questions = MAX_QUESTIONS
        self._paid = Ledger(service.ledger, ledger.get())
        self._open: set[str] = set()
        """Batches under way."""
        self._known: set[str] = set()
        """Batches that were made or collected here."""

    async def judge(self, requests: Sequence[JudgeRequest]) -> list[Verdict | Exception]:
        """Return a verdict, or why there is none, for each request."""
        ids = [_id_of(self._identity, request) for request in requests]
        loop = asyncio.get_running_loop()
        self._answers = {id_: loop.create_future() for id_ in ids}
        tasks = {
            id_: asyncio.ensure_future(self._verdict(id_, request))
            for id_, request in dict(zip(ids, requests, strict=True)).items()
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
            self._journal.close()
        return [_outcome(tasks[id_]) for id_ in ids]

    async def _verdict(self, id_: str, request: JudgeRequest) -> Verdict:
        variables = template_variables(request)
        self._most[id_] = highest_cost(self._service.settings, variables) * PRICE_SHARE
        complete = partial(self._complete, id_)
        score, reasoning = await self._service.classify(variables, complete)
        return self._answers[id_].result().verdict(score, reasoning)

    async def _complete(self, id_: str, body: dict[str, Any]) -> Answer:
        self._bodies[id_] = body
        self._n_asks[id_] = 0
        return await self._answers[id_]

    # Asking.

    def _missing(self) -> list[str]:
        return [
            id_
            for id_, n_asks in self._n_asks.items()
            if n_asks < MAX_ASKS and not self._answers[id_].done()
        ]

    async def _ask(self) -> None:
        """Collect what was ordered before, order the rest, and what failed once more."""
        try:
            while True:
                await self._collect()
                if not self._missing():
                    break
                orders = self._orders(await self._newest())
                if not orders:  # another process has just ordered what is missing
                    await asyncio.sleep(FIRST_POLL_SECONDS)
                try:
                    async with asyncio.TaskGroup() as group:
                        for name, note in orders.items():
                            group.create_task(self._order(name, note))
                finally:
                    for name in orders:
                        self._journal.end(name)
        except (JudgeError, Passing) as error:  # of the judge as a whole
            self._give_up(self._missing(), error)
        for id_, answer in self._answers.items():
            if id_ in self._bodies and not answer.done():
                lost = JudgeError("no_result", "the batch has no result for this question")
                failure = self._failures.get(id_, lost)
                answer.set_exception(JudgeError(failure.kind, self._service.hide(failure.message)))

    def _give_up(self, ids: Iterable[str], error: JudgeError | Passing) -> None:
        stated = error.failure if isinstance(error, Passing) else error
        failure = (
            stated if isinstance(stated, JudgeError) else JudgeError("connection", str(stated))
        )
        for id_ in ids:
            self._failures[id_] = failure
            self._n_asks[id_] = MAX_ASKS

    async def _newest(self) -> str | None:
        """Return the last batch that the service has: those made from here on come after it."""
        page = await self._called(lambda: self._batches.list(limit=1))
        data: Any = page.get("data")
        return _text(data[0], "id") if data else None

    def _orders(self, newest: str | None) -> dict[str, dict[str, Any]]:
        """Note what is to be asked, by batch, but for what another process has just noted."""
        with self._journal.alone():
            noted = {id_ for note in self._journal.notes().values() for id_ in note["ids"]}
            missing = [id_ for id_ in self._missing() if id_ not in noted]
            orders = {
                uuid4().hex: {"ids": ids, "batch": None, "after": newest}
                for ids in self._parts(missing)
            }
            for name, note in orders.items():
                self._journal.begin(name)
                self._journal.write(name, note)
        return orders

    def _parts(self, ids: list[str]) -> Iterator[list[str]]:
        """
        Yield ids that fit into one batch, as many as the budget allows.

        The others are ordered once it is known what these have cost.
        """
        part: list[str] = []
        size = 0
        budget = self._service.budget
        too_many: list[str] = []
        for id_ in ids:
            if not budget.take_now(self._most[id_]):
                too_many.append(id_)
                continue
            n_bytes = len(json.dumps(self._bodies[id_]))
            if part and (len(part) >= self._max_questions or size + n_bytes > MAX_BYTES):
                yield part
                part, size = [], 0
            part.append(id_)
            size += n_bytes
        if part:
            yield part
        if len(too_many) == len(ids):
            for id_ in too_many:
                try:
                    budget.check(self._most[id_])
                except JudgeError as error:
                    self._give_up([id_], error)

    async def _order(self, name: str, note: dict[str, Any]) -> None:
        """Make a batch of what was noted, and collect it."""
        ids: list[str] = note["ids"]
        paid: dict[str, Paid] = dict.fromkeys(ids, UNKNOWN)
        for _ in ids:
            self._paid.begin()
        batch: str | None = None
        try:
            try:
                batch = made = await self._created(note)
                self._journal.write(name, {**note, "batch": made})
            finally:
                self._journal.end(name)
            for id_ in ids:
                self._n_asks[id_] += 1
            paid.update(await self._results(made))
            self._journal.finish(name)
        except Refusal as refusal:
            if batch is None:  # nothing was made, and nothing paid
                self._journal.drop(name)
                paid = dict.fromkeys(ids, NOTHING)
            if batch is None and refusal.status == _TOO_LARGE and len(ids) > 1:
                self._max_questions = min(self._max_questions, len(ids) // 2)
            else:
                for id_ in ids:
                    self._service.learned(refusal, id_)
                self._give_up(ids, refusal)
        except (JudgeError, Passing) as error:
            self._give_up(ids, error)
        finally:
            for id_ in ids:
                cost, usage, was_taken = paid[id_]
                self._service.budget.settle(self._most[id_], cost, was_taken=was_taken)
                self._paid.end(cost, usage, was_taken=was_taken)

    async def _created(self, note: dict[str, Any]) -> str:
        """Make a batch; where an answer was lost, look first whether it has been made."""
        requests = [{"custom_id": id_, "params": self._bodies[id_]} for id_ in note["ids"]]
        create = partial(self._batches.create, requests=requests)
        lost: Passing | None = None
        for _ in range(MAX_CREATIONS):
            try:
                body = await self._called(create, once=True)
                return _text(body, "id")
            except Refusal as refusal:
                if not refusal.is_passing:
                    raise
                lost = refusal
            except Passing as passing:
                lost = passing
            found = await self._found(note)
            if found is not None:
                return _text(found, "id")
        assert lost is not None  # noqa: S101 - for the type checkers
        raise lost

    # Collecting.

    async def _collect(self) -> None:
        """Take what earlier orders brought, of this process or another."""
        for name, note in self._journal.notes().items():
            if not set(self._missing()).intersection(note["ids"]):
                continue
            batch = note.get("batch") or await self._made(name)
            if batch is None:
                self._journal.drop(name)
                continue
            try:
                await self._results(str(batch))
                self._journal.finish(name)
            except Refusal as refusal:
                if refusal.status not in _GONE:
                    raise
                self._journal.drop(name)

    async def _made(self, name: str) -> str | None:
        """Return the batch of an order that is being given, or was without a note of its batch."""
        while not self._journal.begin(name):  # noqa: ASYNC110 - another process sets no event
            await asyncio.sleep(FIRST_POLL_SECONDS)
        try:
            note = self._journal.notes().get(name)
            if note is None or note.get("batch"):
                return None if note is None else str(note["batch"])
            body = await self._found(note)
            return None if body is None else _text(body, "id")
        finally:
            self._journal.end(name)

    async def _found(self, note: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the batch that holds what was noted, if the service has one."""
        noted = {other.get("batch") for other in self._journal.notes().values()}
        after: dict[str, str] = {}
        while True:
            page = await self._called(partial(self._batches.list, limit=100, **after))
            for body in page.get("data") or ():
                if body.get("id") == note.get("after"):
                    return None  # the others are older than the intent
                is_known = body.get("id") in noted or body.get("id") in self._known
                if not is_known and _n_questions(body) == len(note["ids"]):
                    batch = _text(body, "id")
                    await self._ended(batch)
                    async with contextlib.aclosing(self._lines(batch)) as lines:
                        async for result in lines:
                            if result.get("custom_id") in note["ids"]:
                                return dict(body)
                            break  # of another program's batch
            if not page.get("has_more"):
                return None
            after = {"after_id": _text(page, "last_id")}

    async def _results(self, batch: str) -> dict[str, Paid]:
        """Wait for a batch, take its answers, and return what each question cost."""
        self._known.add(batch)
        self._open.add(batch)
        await self._ended(batch)
        self._open.discard(batch)
        paid: dict[str, Paid] = {}

        async def read(_: Question) -> None:
            async for result in self._lines(batch):  # reading again costs nothing
                self._take(result, paid)

        await self._asked(read)
        n_done = sum(answer.done() for answer in self._answers.values())
        self._progress(n_done, len(self._answers))
        return paid

    def _take(self, line: Mapping[str, Any], paid: dict[str, Paid]) -> None:
        id_, result = line.get("custom_id"), line.get("result")
        if not isinstance(id_, str) or id_ not in self._answers or not is_object(result):
            return
        if id_ in paid and self._answers[id_].done():
            return
        type_ = str(result.get("type"))
        paid[id_] = NOTHING
        if type_ != "succeeded":
            self._failures[id_] = _failure(type_, result)
            return
        try:
            answer = Answer.read(result.get("message"), self._service.settings.price, PRICE_SHARE)
        except JudgeError as error:
            self._failures[id_] = error
            paid[id_] = UNKNOWN
            return
        paid[id_] = answer.cost_usd, answer.usage, True
        if not self._answers[id_].done():
            self._answers[id_].set_result(answer)

    async def _ended(self, batch: str) -> None:
        pause = FIRST_POLL_SECONDS
        while True:
            body = await self._called(lambda: self._batches.retrieve(batch))
            if body.get("processing_status") == "ended":
                return
            await asyncio.sleep(pause)
            pause = min(LONGEST_POLL_SECONDS, pause * 1.5)

    async def _lines(self, batch: str) -> AsyncGenerator[dict[str, Any]]:
        """Yield the results of a batch as they arrive."""
        async with contextlib.AsyncExitStack() as stack:
            with self._service.translated():
                async with _limit(DOWNLOAD_SECONDS):
                    response = await stack.enter_async_context(self._streamed.results(batch))
            rest = b""
            pieces = response.iter_bytes()
            while piece := await self._piece(pieces):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    yield _decoded(line)
                if len(rest) > MAX_LINE:
                    message = f"a result has more than {MAX_LINE} bytes"
                    raise JudgeError("invalid_response", message)
            yield _decoded(rest)

    async def _piece(self, pieces: AsyncIterator[bytes]) -> bytes:
        """Return the next bytes of a download, none at its end."""
        try:
            async with _limit(DOWNLOAD_SECONDS):
                return await anext(pieces, b"")
        except Passing:
            raise
        except Exception as error:  # of the HTTP client, which the SDK leaves as it is
            cause = self._service.hide(repr(error))
            raise Passing(JudgeError("connection", one_line(cause)), error) from error

    # Calls.

    async def _called(
        self, call: Callable[[], Awaitable[Any]], *, once: bool = False
    ) -> dict[str, Any]:
        """Return what a call brings; *once*: raise where it is unclear what it brought about."""

        async def send(_: Question) -> dict[str, Any]:
            async with _limit(CALL_SECONDS):
                body = await self._service.exchange(call())
            return body if is_object(body) else {}

        return await self._asked(send, once=once)

    async def _asked(self, send: Callable[[Question], Awaitable[T]], *, once: bool = False) -> T:
        """Return what a call brings: where it fails, the service is away, and comes back."""
        self._service.breaker.check()
        service = self._service
        return await service.pace.ask_once(send, service.settings.max_wait_seconds, once=once)

    async def _cancel(self) -> None:
        """Tell the service that nobody waits; what it has answered can be collected later."""
        for batch in self._open:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CANCEL_SECONDS):
                    await self._batches.cancel(batch)


@contextlib.asynccontextmanager
async def _limit(seconds: float) -> AsyncGenerator[None]:
    """Let a service that accepts and never answers be one that is away."""
    try:
        async with limited(seconds):
            yield
    except TimeoutError as error:
        late = JudgeError("connection", f"no answer within {seconds:g} s")
        raise Passing(late, error) from error


def _id_of(identity: str, request: JudgeRequest) -> str:
    """Return the name of a question in a batch, the same in every process."""
    return key_of(identity, *parts_asked(request))[:32]


def _outcome(task: asyncio.Task[Verdict]) -> Verdict | Exception:
    error = None if task.cancelled() else task.exception()
    if error is None:
        return task.result()
    return error if isinstance(error, Exception) else JudgeError("cancelled", str(error))


def _decoded(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return found if is_object(found) else {}


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
