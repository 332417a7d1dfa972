"""One thread with one event loop that asks Claude: deadline, retries, breaker and budget."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import re
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs

from scorekit._claude.limits import Breaker, Budget, Pace, Turn, backoff
from scorekit._claude.prompt import (
    SERVER_ERROR,
    TEMPLATE,
    Answer,
    asked_to_wait,
    error_in,
    error_kind,
    messages_request,
)
from scorekit._judge.waiting import Caller
from scorekit.errors import InputError, JudgeError, one_line
from scorekit.judges import TIMEOUT_MESSAGE, Verdict
from scorekit.prices import PRICES, ModelPrice, token_cost

if TYPE_CHECKING:
    import anthropic

T = TypeVar("T")

CLOSE_SECONDS = 5.0
"""How long closing waits for the thread."""

TOKENS_AROUND = 2000
"""Upper bound on what the service adds to a prompt, for instance the schema of the answer."""

SHORTEST_SECRET = 8
"""Below so many characters a piece of a header is no secret: the word Bearer, say."""

DEFAULT_ADDRESS = "https://api.anthropic.com"
"""What the SDK asks unless it is told or finds another one."""

_UNAUTHORIZED = 401
_PASSING = {408, 409}
_BUSY = {429, 529}
_UNAVAILABLE = 503


@attrs.frozen(kw_only=True)
class Settings:
    """The checked arguments of a judge."""

    model: str
    api_key: str | None = attrs.field(repr=False)
    base_url: str | None
    timeout_seconds: float
    max_concurrency: int
    max_retries: int
    effort: str | None
    max_tokens: int
    mode: str
    max_calls: int | None
    max_cost_usd: float | None
    prices: Mapping[str, ModelPrice]
    requests_per_minute: float | None
    max_wait_seconds: float
    batch: bool

    @property
    def price(self) -> ModelPrice | None:
        """The caller's own price of the model, else the list price; None if neither is known."""
        return self.prices.get(self.model, PRICES.get(self.model))


class Passing(Exception):  # noqa: N818 - never leaves this package
    """A failure that may be over when asked again."""

    was_sent = True
    """Whether the service may have seen the request, and charge for it."""

    def __init__(
        self, failure: JudgeError, cause: BaseException | None, wait: float | None = None
    ) -> None:
        super().__init__(failure)
        self.failure = failure
        self.cause = cause
        self.wait = wait
        """Seconds that the service asks to wait."""


class Refusal(Passing):
    """What the service answered in place of a message."""

    def __init__(
        self, failure: JudgeError, cause: BaseException | None, wait: float | None, status: int
    ) -> None:
        super().__init__(failure, cause, wait)
        self.status = status

    @property
    def is_busy(self) -> bool:
        """Whether the service refuses for its load, not for a fault."""
        return self.status in _BUSY or (self.status == _UNAVAILABLE and self.wait is not None)

    @property
    def is_passing(self) -> bool:
        """Whether it may be over when asked again."""
        return self.status >= SERVER_ERROR or self.status in _PASSING


class _Busy(Exception):  # noqa: N818 - never leaves this module
    """The service refused for its load; the pace knows for how long."""


class Service:
    """
    What stands behind a judge in one process.

    The thread is started by the first question, and everything but `submit`, `client` and the
    closing happens in its event loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.breaker = Breaker()
        self.pace = Pace(
            settings.max_concurrency, settings.requests_per_minute, settings.max_wait_seconds
        )
        self.budget = Budget(settings.max_calls, settings.max_cost_usd)
        self._preparing = asyncio.Semaphore(settings.max_concurrency)
        self._lock = threading.Lock()
        self._client: anthropic.AsyncAnthropic | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self._classifier: Any = None
        self._closed = False
        self._secrets: set[str] = set()

    def client(self) -> anthropic.AsyncAnthropic:
        """Return the SDK's client, which looks for a key and an address if it is given none."""
        if self._client is not None:  # without the lock, for which questions would queue
            return self._client
        with self._lock:
            if self._client is None:
                client = self._new_client()
                check_key("ANTHROPIC_API_KEY", client.api_key or None)
                check_key("ANTHROPIC_AUTH_TOKEN", client.auth_token or None)
                self._client = client
            return self._client

    def _new_client(self) -> anthropic.AsyncAnthropic:
        from scorekit._claude.connection import new_client

        return new_client(self.settings.api_key, self.settings.base_url)

    def address(self) -> str | None:
        """
        Return the address that is asked, before the first question that which would be.

        The SDK is loaded only where it would look for credentials on disk, which may name one. It
        makes no client to stay: the key may be set later.
        """
        url = self.settings.base_url
        if url is None and self._client is None:
            url = os.environ.get("ANTHROPIC_BASE_URL")
            variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
            keys = (self.settings.api_key, *map(os.environ.get, variables))
            if url is None and any(keys):
                url = DEFAULT_ADDRESS
        if url is None:
            try:
                url = str((self._client or self._new_client()).base_url)
            except Exception:  # noqa: BLE001 - credentials that cannot be read; asking will say so
                return None
        return re.sub("//[^/]*@", "//", url).rstrip("/")  # without user and password

    def submit(self, variables: dict[str, str], who: Caller | None) -> Future[Verdict]:
        """Start asking what the template is filled with, from any thread."""
        return self.start(lambda: self._ask(variables, who))

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start *work* in the event loop, from any thread."""
        with self._lock:
            if self._closed:
                raise closed()
            if self._loop is None:
                self._loop, self._thread = self._started()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def _started(self) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(
            target=_run, args=(loop, self), name="scorekit-claude", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:  # there are too many; later there may be fewer
            loop.close()
            raise JudgeError("no_thread", str(error)) from error
        return loop, thread

    @property
    def is_closed(self) -> bool:
        """Whether nobody can ask any more."""
        return self._closed

    def stop(self) -> None:
        """Let the thread end; what is under way is cancelled."""
        with self._lock:
            if not self._closed and self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop.set)
            self._closed = True

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self.stop()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    async def serve(self) -> None:
        """Run until stopped, then leave no task and no connection behind."""
        await self._stop.wait()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    async def _ask(self, variables: dict[str, str], who: Caller | None) -> Verdict:
        self.breaker.check()
        try:
            # Of a thousand questions, the first are sent before the last prompt is written.
            async with contextlib.AsyncExitStack() as until_sent:
                await until_sent.enter_async_context(self._preparing)
                question = _Question(self, variables, who, until_sent)
                score, reasoning = await self.classify(variables, question.complete)
        except Exception as error:
            if self._is_told_by(error):
                raise error from None  # its own words are clean, those of its causes are not
            raise
        assert question.answer is not None  # noqa: S101 - for the type checkers
        return question.answer.verdict(score, reasoning)

    async def classify(
        self, variables: dict[str, str], complete: Callable[..., Awaitable[Answer]]
    ) -> tuple[float, str]:
        """Let AutoEvals ask, by *complete*, and read the answer: score and reasoning."""
        if self._classifier is None:
            import_module("anthropic")  # what is not installed well is no matter of credentials
            from scorekit._claude.classifier import new_classifier

            self._classifier = new_classifier(
                self.settings.model, self.settings.max_tokens, _complete
            )
        _asking.set((self.settings, complete))  # of this task alone
        score = await self._classifier.eval_async(**variables)
        return float(score.score), str(score.metadata["rationale"])

    def usable_client(self) -> anthropic.AsyncAnthropic:
        """Return the client, or raise for a judge that has no use for it."""
        self.breaker.check()
        try:
            client = self.client()
        except Exception as error:
            raise self._unusable(f"the client cannot be used: {error}") from error
        if not _has_key(client):
            raise self._unusable("there is no API key: set ANTHROPIC_API_KEY or pass api_key")
        return client

    def _unusable(self, message: str) -> JudgeError:
        failure = JudgeError("authentication_error", one_line(message))
        self.breaker.note_refusal(failure, _UNAUTHORIZED)
        return failure

    async def exchange(
        self, call: Awaitable[Any], note_headers: Callable[[Mapping[str, str]], None] | None = None
    ) -> Any:
        """
        Return the decoded body that a call of the SDK with a raw response brings.

        Raises:
            Refusal: If it is an error.
            JudgeError: If it is no JSON, or no call can be made.
            Passing: If there is none.
        """
        with self.translated():
            # The SDK's own reading takes any text for a message, so the body is read here.
            response = (await call).http_response
            if note_headers is not None:
                note_headers(response.headers)
            try:
                body = json.loads(self.hide(response.text, response.request.headers))
            except (ValueError, RecursionError) as error:
                message = f"the service did not answer with JSON: {one_line(str(error))}"
                raise JudgeError("invalid_response", message) from error
        found = error_in(body)
        if found is not None:
            raise self._refusal(response, *found)
        return body

    @contextlib.contextmanager
    def translated(self) -> Generator[None]:
        """Raise in our words what the SDK raises."""
        import anthropic

        from scorekit._claude.connection import NotConnected, TooLongError

        try:
            yield
        except anthropic.APIStatusError as error:
            text = error.api_message or error.message
            raise self._refusal(error.response, error.status_code, error.type, text) from error
        except anthropic.APIConnectionError as error:
            cause = self.hide(repr(error.__cause__ or error), error.request.headers)
            failure = JudgeError("connection", one_line(f"connection failed: {cause}"))
            passing = Passing(failure, error)
            passing.was_sent = not isinstance(error.__cause__, NotConnected)
            raise passing from error
        except TooLongError as error:
            raise JudgeError("invalid_response", str(error)) from error
        except anthropic.AnthropicError as error:  # credentials that cannot be read
            raise self._unusable(f"the client cannot be used: {error}") from error

    def _refusal(self, response: Any, status: int, type_: object, text: str) -> Refusal:
        words = self.hide(text, response.request.headers)
        failure = JudgeError(error_kind(status, type_), one_line(f"HTTP {status}: {words}"))
        return Refusal(failure, sys.exception(), asked_to_wait(response.headers), status)

    def met(self, refusal: Refusal, turn: Turn) -> Exception:
        """Learn from a refusal; return what it means for the one who asked."""
        if refusal.is_busy:
            self.pace.note_refused(turn, refusal.wait, refusal.failure.message)
            return _Busy()
        if refusal.is_passing:
            return refusal
        self.pace.note_taken(turn)
        self.breaker.note_refusal(refusal.failure, refusal.status)
        return refusal.failure

    def hide(self, text: str, headers: Mapping[str, str]) -> str:
        """Return *text* without the secrets sent in *headers*: a gateway may echo them."""
        for name in ("authorization", "x-api-key"):
            pieces = re.split(r"[^!-~]+", headers.get(name, ""))
            self._secrets.update(piece for piece in pieces if len(piece) >= SHORTEST_SECRET)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _is_told_by(self, error: Exception) -> bool:
        """Return whether the traceback of *error* shows a secret."""
        text = "".join(traceback.format_exception(error))
        return any(secret in text for secret in self._secrets)


def closed() -> JudgeError:
    """Return what asking a closed judge gives."""
    return JudgeError("closed", "the judge is closed; make a new one")


def _run(loop: asyncio.AbstractEventLoop, service: Service) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(service.serve())


_asking: ContextVar[tuple[Settings, Callable[..., Awaitable[Answer]]]] = ContextVar("_asking")
"""By whom AutoEvals, in the running task, has its request answered."""


async def _complete(**call: Any) -> dict[str, Any]:
    """Answer AutoEvals' request for a chat completion."""
    settings, complete = _asking.get()
    structured = settings.mode == "structured"
    request = messages_request(call, structured=structured, effort=settings.effort)
    return (await complete(request)).chat_completion()


class _Question:
    """One judgement: as many calls as it takes and, in the end, one answer."""

    def __init__(
        self,
        service: Service,
        variables: dict[str, str],
        who: Caller | None,
        until_sent: contextlib.AsyncExitStack,
    ) -> None:
        self.answer: Answer | None = None
        self._until_sent = until_sent
        self._service = service
        self._who = who
        limit = math.inf if who is None else who.timeout_seconds
        self._seconds = min(limit, service.settings.timeout_seconds)
        self._left = self._seconds
        self._most = highest_cost(service.settings, variables)

    async def complete(self, request: dict[str, Any]) -> Answer:
        """Return the answer; waiting for a turn or a pause takes nothing of the time limit."""
        n_failed = 0
        while self.answer is None:
            try:
                async with self._service.pace.turn(self._check) as turn:
                    await self._until_sent.aclose()
                    self.answer = await self._call(request, turn)
            except _Busy:
                pass
            except Passing as passing:
                wait = max(backoff(n_failed), passing.wait or 0.0)
                settings = self._service.settings
                if n_failed == settings.max_retries or wait > settings.max_wait_seconds:
                    raise passing.failure from passing.cause
                await asyncio.sleep(wait)
                n_failed += 1
        return self.answer

    def _check(self) -> None:
        self._service.breaker.check()
        self._service.budget.check(self._most)

    async def _call(self, request: dict[str, Any], turn: Turn) -> Answer:
        if self._who is not None and self._who.has_left:
            raise asyncio.CancelledError
        service = self._service
        client = service.usable_client()
        create = cast("Callable[..., Any]", client.messages.with_raw_response.create)
        await service.budget.take(self._most)
        cost: float | None = None  # unknown
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._left):
                body = await service.exchange(
                    create(**request), partial(service.pace.note_headers, turn)
                )
            answer = Answer.read(body, service.settings.price)
            cost = answer.cost_usd
        except TimeoutError:
            message = f"{TIMEOUT_MESSAGE}: no verdict within {self._seconds:g} s"
            raise TimeoutError(message) from None
        except Refusal as refusal:
            cost = 0.0
            raise service.met(refusal, turn) from refusal.cause
        except Passing as passing:
            cost = None if passing.was_sent else 0.0
            raise
        except JudgeError:  # an answer, though it cannot be read
            service.pace.note_taken(turn)
            raise
        finally:
            self._left -= loop.time() - started
            service.budget.settle(self._most, cost)
        service.breaker.note_success()
        service.pace.note_taken(turn)
        return answer


def highest_cost(settings: Settings, variables: Mapping[str, str]) -> float:
    """Return what one call can cost at most, 0.0 where money is not limited."""
    if settings.max_cost_usd is None:
        return 0.0
    text = sum(len(value.encode()) for value in variables.values())
    n_in = len(TEMPLATE) + text + TOKENS_AROUND  # a token is at least one byte
    assert settings.price is not None  # noqa: S101 - the judge has refused a limit without a price
    return token_cost(input_tokens=n_in, output_tokens=settings.max_tokens, price=settings.price)


def _has_key(client: anthropic.AsyncAnthropic) -> bool:
    headers = {name.lower() for name in client.default_headers}
    return client.credentials is not None or not headers.isdisjoint({"authorization", "x-api-key"})


def check_key(name: str, key: object) -> str | None:
    """Return a key that can be sent, or refuse it without showing it."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise TypeError(f"{name} must be a string, got {type(key).__name__}")
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(f"{name} must be printable ASCII text without spaces, got something else")
    return key
