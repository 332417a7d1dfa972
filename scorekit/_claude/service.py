"""One thread with one event loop that asks Claude: deadline, retries, breaker and budget."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import Future
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

from scorekit._claude.limits import Breaker, Budget
from scorekit._claude.pace import Pace, Passing, Question, limited
from scorekit._claude.prompt import (
    SERVER_ERROR,
    TEMPLATE,
    Answer,
    asked_to_wait,
    error_in,
    error_kind,
)
from scorekit._claude.settings import Settings, check_key
from scorekit._core.progress import say_waiting
from scorekit._judge.ledger import Ledger, ledger
from scorekit._judge.waiting import Caller
from scorekit.errors import JudgeError, one_line
from scorekit.judges import TIMEOUT_MESSAGE, Verdict
from scorekit.prices import token_cost

if TYPE_CHECKING:
    import anthropic

T = TypeVar("T")

_log = logging.getLogger(__name__)

CLOSE_SECONDS = 5.0
"""How long closing waits for the thread."""

TOKENS_AROUND = 2000
"""Upper bound on what the service adds to a prompt, for instance the schema of the answer."""

DEFAULT_ADDRESS = "https://api.anthropic.com"
"""The address of the SDK unless another one is given or found."""

_UNAUTHORIZED = 401
_SECRET = re.compile("key|token|secret|auth|password|cookie", re.IGNORECASE)
"""Names of headers that hold a key; some come from ``ANTHROPIC_CUSTOM_HEADERS``."""

_UNPRINTABLE = re.compile("[^!-~]+")
LONG = 8
"""Characters from which on a piece of a key counts: where it is quoted, its form changes."""

_SCHEME = re.compile("(?:bearer|basic) +", re.IGNORECASE)

_PASSING = {408, 409}
_BUSY = {429, 529}
_UNAVAILABLE = 503


class Refusal(Passing):
    """What the service, or something before it, answered in place of a message."""

    def __init__(self, failure: JudgeError, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(failure, sys.exception())
        self.failure: JudgeError
        self.wait = asked_to_wait(headers)
        self.status = status
        self.is_busy = status in _BUSY or (status == _UNAVAILABLE and "retry-after" in headers)
        self.is_passing = status >= SERVER_ERROR or status in _PASSING or self.is_busy
        self.is_own = True
        """Whether the service gave the type of the error, and not a firewall in between."""


class Service:
    """
    What stands behind a judge in one process.

    The thread is started by the first question, and everything but `submit`, `client` and the
    closing happens in its event loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.breaker = Breaker(settings.max_concurrency)
        self.pace = Pace(
            max_concurrency=settings.max_concurrency,
            per_minute=settings.requests_per_minute,
            max_wait_seconds=settings.max_wait_seconds,
            timeout_seconds=settings.timeout_seconds,
            on_change=_tell,
        )
        self.budget = Budget(settings.max_calls, settings.max_cost_usd)
        self._lock = threading.Lock()
        self._client: anthropic.AsyncAnthropic | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self._closed = False
        self._secrets: set[str] = set()
        self._answered: tuple[dict[str, Any], float] = {}, 0.0
        """What a check asks, and what it costs at most."""

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

        client = new_client(self.settings.api_key, self.settings.base_url)
        client.base_url = _without_version(str(client.base_url))
        return client

    def address(self) -> str | None:
        """
        Return the address that is asked, or before the first question the one that would be.

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
        return re.sub("//[^/]*@", "//", _without_version(url))  # without user and password

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
        answers: list[Answer] = []
        paid = Ledger(self.budget, ledger.get())
        most = highest_cost(self.settings, variables)
        seconds = self.settings.timeout_seconds
        seconds = seconds if who is None else min(who.timeout_seconds, seconds)

        async def complete(body: dict[str, Any]) -> Answer:
            async def send(question: Question) -> Answer:
                if who is not None and who.has_left:
                    raise asyncio.CancelledError
                asked = self._answered if question.is_check else (body, most)
                answer = await self._call(question, *asked, variables["tag"], seconds, paid)
                self._answered, question.is_model = asked, True
                return answer

            answers.append(await self.pace.ask(question, send))
            return answers[0]

        try:
            self._check(most)
            async with self.pace.turn(seconds, self.settings.max_retries) as question:
                self._check(most)  # of a thousand prompts, only the next ones are written
                score, reasoning = await self.classify(variables, complete)
        except Exception as error:
            if isinstance(error, JudgeError) and error.cost_usd is None:
                error.cost_usd = paid.cost_usd
            raise error from None  # its own words are clean, those of its causes may hold the key
        return answers[0].verdict(score, reasoning)

    def _check(self, most: float) -> None:
        self.breaker.check()
        self.budget.check(most)

    async def _call(  # noqa: PLR0917 - all that one call needs
        self,
        question: Question,
        request: dict[str, Any],
        most: float,
        pair: str,
        seconds: float,
        paid: Ledger,
    ) -> Answer:
        client = self.usable_client()
        create = cast("Callable[..., Any]", client.messages.with_raw_response.create)
        await self.budget.room(most)
        paid.begin(most)
        question.is_sent = True
        cost: float | None = None  # unknown
        usage: Mapping[str, int] | None = None
        was_taken = True
        left = self.pace.seconds_for(question, seconds)
        try:
            async with limited(left):
                body = await self.exchange(create(**request))
            answer = Answer.read(body, self.settings.price)
            cost, usage = answer.cost_usd, answer.usage
        except TimeoutError as error:
            message = f"{TIMEOUT_MESSAGE}: no verdict within {seconds:g} s"
            raise Passing(TimeoutError(message), error) from None
        except Refusal as refusal:
            cost, was_taken = 0.0, not refusal.is_passing
            if refusal.is_passing:
                raise
            raise self.learned(refusal, pair) from refusal.cause
        except Passing as passing:
            if not passing.was_sent:
                cost, was_taken = 0.0, False
            raise
        finally:
            paid.end(cost, usage, was_taken=was_taken, most=most)
        self.breaker.note_answer()
        return answer

    async def classify(
        self, variables: dict[str, str], complete: Callable[..., Awaitable[Answer]]
    ) -> tuple[float, str]:
        """Let AutoEvals ask, by *complete*, and read the answer: score and reasoning."""
        import_module("anthropic")  # what is not installed well is no matter of credentials
        from scorekit._claude.classifier import classified

        try:
            score, reasoning = await classified(self.settings, variables, complete)
        except JudgeError as error:  # which may quote an answer
            words = self.hide(error.message)
            raise JudgeError(error.kind, words, error.usage, error.cost_usd) from None
        return score, self.hide(reasoning)

    def usable_client(self) -> anthropic.AsyncAnthropic:
        """Return the client, or raise where a judge cannot use it."""
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
        self.breaker.note_refusal(failure, _UNAUTHORIZED, "", is_own=True)
        return failure

    async def exchange(self, call: Awaitable[Any], read: Callable[[str], Any] = json.loads) -> Any:
        """
        Return what *read* makes of the body that a call of the SDK brings, as a raw response.

        Raises:
            Refusal: If it is an error.
            JudgeError: If it cannot be read, or no call can be made.
            Passing: If there is none.
        """
        import anthropic

        from scorekit._claude.connection import NotConnected, UnreadError

        try:
            raw = await call
            # The SDK's own reading takes any text for a message, so the body is read here.
            response = getattr(raw, "http_response", raw)
            self._learn_key(response.request.headers)
            body = read(response.text)
        except anthropic.APIStatusError as error:
            raise self._refusal(error.response, error.status_code, error.body) from error
        except anthropic.APIConnectionError as error:
            self._learn_key(error.request.headers)
            cause = self.hide(repr(error.__cause__ or error))
            passing = Passing(
                JudgeError("connection", one_line(f"connection failed: {cause}")), error
            )
            passing.was_sent = not isinstance(error.__cause__, NotConnected)
            raise passing from error
        except UnreadError as error:
            raise JudgeError("invalid_response", str(error)) from error
        except (ValueError, RecursionError) as error:
            message = f"the service did not answer with JSON: {one_line(str(error))}"
            raise JudgeError("invalid_response", message) from error
        except anthropic.AnthropicError as error:  # credentials that cannot be read
            raise self._unusable(f"the client cannot be used: {error}") from error
        found = error_in(body)
        if found is not None:
            raise self._refusal(response, found[0], body)
        return body

    def _refusal(self, response: Any, status: int, body: object) -> Refusal:
        """Return what an error says; only the service's own words say something of the key."""
        self._learn_key(response.request.headers)
        stated = error_in(body)
        _, type_, text = (status, None, response.text) if stated is None else stated
        kind = f"http_{status}" if stated is None and status < SERVER_ERROR else None
        words = one_line(f"HTTP {status}: {self.hide(text)}")
        failure = JudgeError(kind or error_kind(status, type_), words)
        refusal = Refusal(failure, status, response.headers)
        refusal.is_own = stated is not None
        return refusal

    def learned(self, refusal: Refusal, pair: str = "") -> JudgeError:
        """Return what a lasting refusal means for the pair that was asked about."""
        failure, is_own = refusal.failure, refusal.is_own
        self.breaker.note_refusal(failure, refusal.status, pair, is_own=is_own)
        return failure

    def _learn_key(self, headers: Mapping[str, str]) -> None:
        """Remember the key that was sent: a gateway may echo it."""
        for name, value in headers.items():
            if _SECRET.search(name) and value:
                pieces = (piece for piece in _UNPRINTABLE.split(value) if len(piece) >= LONG)
                self._secrets |= {value, _SCHEME.sub("", value), *pieces}

    def hide(self, text: str) -> str:
        """Return *text* without the key."""
        for secret in sorted(self._secrets, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


def _tell(failure: Passing | None) -> None:
    """Say that all questions wait for the service, or that they go on."""
    if failure is None:
        _log.info("the service answers again")
    else:
        _log.info("the service is away, all questions wait for it: %s", failure.failure)
    say_waiting(None if failure is None else "waiting for the service")


def _without_version(url: str) -> str:
    """Return an address as the SDK wants it, which adds ``/v1`` by itself."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def closed() -> JudgeError:
    """Return what asking a closed judge gives."""
    return JudgeError("closed", "the judge is closed; make a new one")


def _run(loop: asyncio.AbstractEventLoop, service: Service) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(service.serve())


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
