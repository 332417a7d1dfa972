"""One thread with one event loop that asks Claude: deadline, retries, breaker and budget."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import attrs

from scorekit._claude.limits import Breaker, Budget
from scorekit._claude.prompt import (
    CHOICE_SCORES,
    SERVER_ERROR,
    TEMPLATE,
    Answer,
    asked_to_wait,
    error_kind,
    instructions_found,
    messages_request,
    price_of,
)
from scorekit._judge.waiting import Caller
from scorekit.errors import InputError, JudgeError, one_line
from scorekit.judges import METRIC, TIMEOUT_MESSAGE, JudgeRequest, Verdict
from scorekit.prices import ModelPrice, token_cost

if TYPE_CHECKING:
    import anthropic

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0
CLOSE_SECONDS = 5.0
"""How long closing waits for the thread."""

TOKENS_AROUND = 2000
"""Upper bound on what the service adds to a prompt, for instance the schema of the answer."""

MAX_BODY = 4 << 20
"""Longest answer, in bytes, that is read as JSON: a compressed one may be far longer."""

SHORTEST_SECRET = 8
"""Below so many characters a piece of a header is no secret: the word Bearer, say."""

DEFAULT_ADDRESS = "https://api.anthropic.com"
"""What the SDK asks unless it is told or finds another one."""

_PASSING = {408, 409, 429}
_TOO_MANY_REQUESTS = 429


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


class _Passing(Exception):  # noqa: N818 - never leaves this module
    """A failure that may be over when asked again."""

    def __init__(
        self, error: JudgeError, cause: Exception, wait: float | None = None, *, busy: bool = False
    ) -> None:
        super().__init__(error)
        self.error = error
        self.cause = cause
        self.wait = wait
        """Seconds the service asks to wait."""
        self.busy = busy
        """Whether the service refuses for its load, not for a fault."""


class _Never(Exception):  # noqa: N818 - never raised
    """What AutoEvals takes for a rate limit, so that its own hundred retries stay asleep."""


class Service:
    """
    What stands behind a judge in one process.

    The thread is started by the first question, and everything but `submit`, `client` and the
    closing happens in its event loop.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.breaker = Breaker()
        self.budget = Budget(settings.max_calls, settings.max_cost_usd)
        self._lock = threading.Lock()
        self._client: anthropic.AsyncAnthropic | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self._slots = asyncio.Semaphore(settings.max_concurrency)
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
        import anthropic

        return anthropic.AsyncAnthropic(
            api_key=self.settings.api_key,
            base_url=self.settings.base_url,
            timeout=None,  # one deadline stands over all, and the retries are ours
            max_retries=0,
        )

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

    def submit(
        self, request: JudgeRequest, variables: dict[str, str], who: Caller | None
    ) -> Future[Verdict]:
        """Start asking, from any thread."""
        with self._lock:
            if self._closed:
                raise closed()
            if self._loop is None:
                self._loop, self._thread = self._started()
            asking = self._ask(request, variables, who)
            return asyncio.run_coroutine_threadsafe(asking, self._loop)

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

    async def _ask(
        self, request: JudgeRequest, variables: dict[str, str], who: Caller | None
    ) -> Verdict:
        limit = math.inf if who is None else who.timeout_seconds
        async with self._slots:
            await self.breaker.check()
            if who is not None and who.has_left:
                raise asyncio.CancelledError
            question = _Question(self, variables, min(limit, self.settings.timeout_seconds))
            await question.reserve()
            try:
                score, reasoning, answer = await question.put()
            except Exception as error:
                if isinstance(error, JudgeError):
                    error.instructions_found = instructions_found(request)
                if self._is_told_by(error):
                    raise error from None  # its own words are clean, those of its causes are not
                raise
            finally:
                question.settle()
        return Verdict(
            score=score,
            reasoning=reasoning,
            model=answer.text("model"),
            usage=answer.usage,
            cost_usd=answer.cost_usd,
            response_id=answer.text("id"),
            instructions_found=instructions_found(request),
        )

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


class _Question:
    """One judgement: several attempts within one deadline and, in the end, one answer."""

    def __init__(self, service: Service, variables: dict[str, str], seconds: float) -> None:
        self._service = service
        self._seconds = seconds
        self._settings = service.settings
        self._variables = variables
        self._most = self._highest_cost()
        self._is_reserved = False
        self._deadline = math.inf
        self._answer: Answer | None = None

    async def reserve(self) -> None:
        """Take one call from the budget."""
        await self._service.budget.take(self._most)
        self._is_reserved = True

    def settle(self, cost: float | None = None) -> None:
        """Account for the call under way; one whose cost stays unknown counts at its highest."""
        if self._is_reserved:
            self._service.budget.settle(self._most, self._most if cost is None else cost)
        self._is_reserved = False

    async def put(self) -> tuple[float, str, Answer]:
        """Let AutoEvals ask and read the answer, before the deadline."""
        loop = asyncio.get_running_loop()
        import_module("anthropic")  # what is not installed well is no matter of credentials
        llm: Any = import_module("autoevals.llm")  # ships no types
        try:
            client = self._service.client()
        except Exception as error:
            raise self._unusable(f"the client cannot be used: {error}") from error
        if not _has_key(client):
            raise self._unusable("there is no API key: set ANTHROPIC_API_KEY or pass api_key")
        self._deadline = loop.time() + self._seconds
        classifier = llm.LLMClassifier(
            METRIC,
            TEMPLATE,
            CHOICE_SCORES,
            model=self._settings.model,
            max_tokens=self._settings.max_tokens,
            client=self._autoevals_client(),
        )
        try:
            async with asyncio.timeout_at(self._deadline):
                score = await classifier.eval_async(**self._variables)
        except TimeoutError as error:
            message = f"{TIMEOUT_MESSAGE}: no verdict within {self._seconds:g} s"
            raise TimeoutError(message) from error
        assert self._answer is not None  # noqa: S101 - for the type checkers
        return float(score.score), str(score.metadata["rationale"]), self._answer

    def _autoevals_client(self) -> Any:
        # AutoEvals knows clients by their class, whose constructor needs the openai package.
        oai: Any = import_module("autoevals.oai")
        client = object.__new__(oai.LLMClient)
        client.openai = None
        client.is_async = True
        client.RateLimitError = _Never
        client.complete = self._complete
        return client

    async def _complete(self, **call: Any) -> dict[str, Any]:
        """Answer AutoEvals' request for a chat completion."""
        request = messages_request(
            call, structured=self._settings.mode == "structured", effort=self._settings.effort
        )
        attempt = 0
        while self._answer is None:
            try:
                self._answer = await self._attempt(request)
            except _Passing as passing:
                await self._pause(passing, attempt)
            attempt += 1
        return self._answer.chat_completion()

    async def _attempt(self, request: dict[str, Any]) -> Answer:
        import anthropic

        if not self._is_reserved:
            await self._service.breaker.check()
            await self.reserve()
        client = self._service.client()
        # The SDK's own reading takes any text for a message, so the body is read here.
        create = cast("Callable[..., Any]", client.messages.with_raw_response.create)
        try:
            with self._service.breaker.call_under_way():
                response = (await create(**request)).http_response
            if len(response.content) > MAX_BODY:
                message = f"the service answered with {len(response.content)} bytes"
                raise JudgeError("invalid_response", message)
            body = json.loads(self._service.hide(response.text, response.request.headers))
        except anthropic.APIStatusError as error:
            self.settle(0.0)
            raise self._refused(error) from error
        except anthropic.APIConnectionError as error:
            self.settle()
            cause = self._service.hide(repr(error.__cause__ or error), error.request.headers)
            failure = JudgeError("connection", one_line(f"connection failed: {cause}"))
            raise _Passing(failure, error) from error
        except anthropic.AnthropicError as error:  # credentials that cannot be read
            raise self._unusable(f"the client cannot be used: {error}") from error
        except (ValueError, RecursionError) as error:
            message = f"the service did not answer with JSON: {one_line(str(error))}"
            raise JudgeError("invalid_response", message) from error
        answer = Answer.read(body, self._settings.model, self._settings.prices)
        self._service.breaker.note_success()
        self.settle(answer.cost_usd)
        return answer

    def _refused(self, error: anthropic.APIStatusError) -> Exception:
        status = error.status_code
        words = self._service.hide(error.api_message or error.message, error.request.headers)
        message = one_line(f"HTTP {status}: {words}")
        failure = JudgeError(error_kind(status, error.type), message)
        if status >= SERVER_ERROR or status in _PASSING:
            busy = status == _TOO_MANY_REQUESTS
            return _Passing(failure, error, asked_to_wait(error.response.headers), busy=busy)
        self._service.breaker.note(failure, status)
        return failure

    def _unusable(self, message: str) -> JudgeError:
        self.settle(0.0)
        failure = JudgeError("authentication_error", one_line(message))
        self._service.breaker.note(failure, None)
        return failure

    async def _pause(self, passing: _Passing, attempt: int) -> None:
        """Wait for the next attempt, or raise where none is left or the wait would be too long."""
        left = self._deadline - asyncio.get_running_loop().time()
        if passing.wait is not None and passing.wait > left:
            message = f"the service asked to wait {passing.wait:g} s, {left:.3g} s are left"
            raise self._timeout(f"{message} ({passing.error.message})") from passing.cause
        pause = self._backoff(attempt) if passing.wait is None else passing.wait
        if attempt >= self._settings.max_retries or pause > left:
            if passing.busy:
                message = f"still busy after {attempt + 1} calls ({passing.error.message})"
                raise self._timeout(message) from passing.cause
            raise passing.error from passing.cause
        await asyncio.sleep(pause)

    def _backoff(self, attempt: int) -> float:
        # Spread by what is asked, so that those who failed together do not return together.
        tag = self._variables["tag"]
        spread = int(tag, 16) / int("f" * len(tag), 16)
        longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0**attempt)
        return longest * (0.5 + spread / 2)

    def _timeout(self, message: str) -> JudgeError:
        return JudgeError("timeout", f"{TIMEOUT_MESSAGE}: {message}")

    def _highest_cost(self) -> float:
        """Return what one call can cost at most, 0.0 where money is not limited."""
        if self._settings.max_cost_usd is None:
            return 0.0
        text = sum(len(value.encode()) for value in self._variables.values())
        n_in = len(TEMPLATE) + text + TOKENS_AROUND  # a token is at least one byte
        price = price_of(self._settings.model, n_in, self._settings.prices)
        assert price is not None  # noqa: S101 - the judge has refused a limit without a price
        return token_cost(input_tokens=n_in, output_tokens=self._settings.max_tokens, price=price)


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
