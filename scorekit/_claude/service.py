"""What stands behind a judge in one process: the client, what it says, and the keys it sends."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from scorekit._claude.loading import load
from scorekit._claude.messages import Answer, error_in, error_kind
from scorekit._claude.settings import Settings, check_key
from scorekit._judge.asking import SERVER_ERROR, Asking, Refusal, Reply
from scorekit._judge.failures import say_waits, wait_of
from scorekit._judge.ledger import ledger
from scorekit._judge.line import Passing
from scorekit._judge.prompt import FIRST_CHARACTERS
from scorekit._judge.waiting import Caller
from scorekit._judge.worker import Worker
from scorekit.errors import JudgeError, one_line
from scorekit.judges import Verdict

if TYPE_CHECKING:
    from scorekit._claude.connection import Connection

DEFAULT_ADDRESS = "https://api.anthropic.com"
"""The address of the SDK unless another one is given or found."""

_UNAUTHORIZED = 401
_NOT_FOUND = 404
_BAD_REQUEST = 400

_FORKED = "a judge with a client of yours cannot be used after a fork; make it where it is used"

_UNPRINTABLE = re.compile("[^!-~]+")
LONG = 8
"""Characters from which on a piece of a key counts: where it is quoted, its form changes."""

_SCHEME = re.compile("(?:bearer|basic) +", re.IGNORECASE)


class Service:
    """
    The service that a judge asks, by a client that is found or the caller's.

    Everything but `submit`, `address` and the closing happens in the event loop of the worker.
    """

    def __init__(self, settings: Settings, client: Any = None) -> None:
        self.settings = settings
        self.asking = Asking(settings.limits, settings.pricing.most, say_waits)
        self.worker = Worker("scorekit-claude", self._end)
        self._given = client
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._secrets: set[str] = set()
        self._hidden: list[str] = []
        """All forms of the keys, the longest first."""

    # The client.

    @property
    def has_given_client(self) -> bool:
        """Whether the client is the caller's."""
        return self._given is not None

    def connection(self) -> Connection:
        """Return the client, which looks for a key and an address if it is given none."""
        if self._connection is not None:  # without the lock, for which questions would queue
            return self._connection
        with self._lock:
            if self._connection is None:
                self._connection = self._connected()
            return self._connection

    def _connected(self) -> Connection:
        from scorekit._claude.connection import Connection

        seconds = self.settings.limits.timeout_seconds
        if self._given is not None:
            connection = Connection(self._given, seconds, is_own=False)
        else:
            client = self._own_client()
            check_key("ANTHROPIC_API_KEY", client.api_key or None)
            check_key("ANTHROPIC_AUTH_TOKEN", client.auth_token or None)
            connection = Connection(client, seconds, is_own=True)
        for secret in connection.secrets():
            self._learn_secret(secret)
        return connection

    def _own_client(self) -> Any:
        from scorekit._claude.connection import own_client

        client = own_client(self.settings.api_key, self.settings.base_url)
        client.base_url = _without_version(str(client.base_url))
        return client

    async def load(self) -> None:
        """Be ready to ask; what is wrong with the client comes out when it is used."""

        def connect() -> None:
            with contextlib.suppress(Exception):
                self.connection()

        if self._connection is None:
            await load(connect)

    def usable_connection(self) -> Connection:
        """Return the client, or raise where a judge cannot use it."""
        self.asking.breaker.check()
        try:
            connection = self.connection()
        except Exception as error:
            raise self._unusable(f"the client cannot be used: {error}") from error
        if connection.is_closed:
            raise JudgeError("closed", "the client is closed; make a new judge with an open one")
        if connection.is_own and not _has_key(connection.client):
            raise self._unusable("there is no API key: set ANTHROPIC_API_KEY or pass api_key")
        return connection

    def _unusable(self, message: str) -> JudgeError:
        failure = JudgeError("authentication_error", one_line(message))
        self.asking.breaker.note_refusal(failure, _UNAUTHORIZED, "", is_own=True)
        return failure

    def routes(self) -> dict[str, str]:
        """
        Return where questions go: the address, the region, and a digest of headers.

        The SDK is loaded only where it would look for credentials on disk, which may name an
        address, or where headers are given. It makes no client to stay: a key may be set later.
        """
        url = self.settings.base_url
        client: Any = self._given or (self._connection and self._connection.client)
        has_headers = bool(os.environ.get("ANTHROPIC_CUSTOM_HEADERS"))
        if client is None and not has_headers:
            if url is None:
                url = os.environ.get("ANTHROPIC_BASE_URL")
            variables = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
            keys = (self.settings.api_key, *map(os.environ.get, variables))
            if url is None and any(keys):
                url = DEFAULT_ADDRESS
            if url is not None:
                return {"base_url": _bare_address(_without_version(url))}
        try:
            from scorekit._claude.connection import what_routes

            client = client or self._own_client()
            address = str(client.base_url)
            more = dict(what_routes(client))
        except Exception:  # noqa: BLE001 - credentials that cannot be read; asking will say so
            return {}
        if not self.has_given_client:
            address = _without_version(address)
        return {"base_url": _bare_address(address), **more}

    # Asking.

    def submit(self, variables: dict[str, str], who: Caller | None) -> Future[Verdict]:
        """Start asking what the template is filled with, from any thread."""
        return self.worker.start(lambda: self._ask(variables, who))

    async def _ask(self, variables: dict[str, str], who: Caller | None) -> Verdict:
        answers: list[Answer] = []
        most = self.asking.most(variables.values())

        async def send(body: dict[str, Any]) -> Reply[dict[str, Any]]:
            answer, chat = await self._answered(body, variables)
            answers[:] = [answer]
            return Reply(chat, answer.cost_usd, answer.usage)

        await self.load()  # before the time runs
        try:
            async with self.asking.turn(variables["tag"], most, who, ledger.get()) as turn:

                async def complete(body: dict[str, Any]) -> dict[str, Any]:
                    self.usable_connection()
                    return await turn.ask(body, send)

                score, reasoning = await self.classify(variables, complete)
        except Exception as error:
            raise error from None  # its own words are clean, those of its causes may hold the key
        return self.verdict(answers[0], score, reasoning)

    async def _answered(
        self, body: dict[str, Any], variables: Mapping[str, str]
    ) -> tuple[Answer, dict[str, Any]]:
        connection = self.usable_connection()
        create = cast("Callable[..., Any]", connection.client.messages.with_raw_response.create)
        message = await self.exchange(lambda: create(**body))
        answer = Answer.read(message, self.settings.price_of)
        return answer, answer.chat_completion(variables.values())

    async def classify(
        self, variables: dict[str, str], complete: Callable[..., Awaitable[dict[str, Any]]]
    ) -> tuple[float, str]:
        """Let AutoEvals ask, by *complete*, and read the answer: score and reasoning."""
        from scorekit._claude.classifier import classified

        try:
            score, reasoning = await classified(self.settings, variables, complete)
        except JudgeError as error:  # which may quote an answer
            words = self.hide(error.message)
            raise JudgeError(error.kind, words, error.usage, error.cost_usd) from None
        return score, self.hide(reasoning)

    def verdict(self, answer: Answer, score: float, reasoning: str) -> Verdict:
        """Return a verdict in which no key stands."""
        model = self.settings.model
        return answer.verdict(
            score, reasoning, lambda text: text if text == model else self.hide(text)
        )

    async def exchange(
        self, call: Callable[[], Any], read: Callable[[str], Any] = json.loads
    ) -> Any:
        """
        Return what *read* makes of the body that a call of the SDK brings, as a raw response.

        Raises:
            Refusal: If it is an error.
            JudgeError: If it cannot be read, or no call can be made.
            Passing: If there is none.
        """
        import anthropic

        from scorekit._claude.connection import NotConnected, UnreadError

        connection = self.connection()
        response: Any = None
        try:
            raw = await connection.called(call)
            # The SDK's own reading takes any text for a message, so the body is read here.
            response = getattr(raw, "http_response", raw)
            self._learn_key(response.request.headers)
            body = read(response.text)
        except anthropic.APIStatusError as error:
            raise self._refusal(error.response, error.status_code, error.body) from error
        except anthropic.APIConnectionError as error:
            self._learn_key(error.request.headers)
            cause = self.hide(repr(error.__cause__ or error))
            words = f"connection to {connection.about(error.request.url)} failed: {cause}"
            passing = Passing(JudgeError("connection", one_line(words)), error)
            if isinstance(error.__cause__, NotConnected):
                passing.was_sent = passing.was_taken = False
                passing.cost_usd = 0.0
            raise passing from error
        except UnreadError as error:
            raise JudgeError("invalid_response", self.hide(str(error))) from error
        except (ValueError, RecursionError) as error:
            if response is None:
                raise self._not_called(error) from error
            type_ = response.headers.get("content-type", "no content-type")
            first = repr(response.text[:FIRST_CHARACTERS])
            message = f"the service did not answer with JSON ({type_}): {first}"
            raise JudgeError("invalid_response", one_line(self.hide(message))) from error
        except anthropic.AnthropicError as error:  # credentials that cannot be read
            raise self._unusable(f"the client cannot be used: {self.hide(str(error))}") from error
        except Exception as error:
            raise self._not_called(error) from error
        found = error_in(body)
        if found is not None:
            raise self._refusal(response, found[0], body)
        return body

    def _not_called(self, error: Exception) -> Refusal:
        """Return why no call was made, such as credentials of a cloud that it does not find."""
        cause = self.hide(f"{type(error).__name__}: {error}")
        failure = JudgeError("authentication_error", one_line(f"the client failed: {cause}"))
        refusal = Refusal(failure, _UNAUTHORIZED, wait=None, asks_to_wait=False)
        refusal.is_own = False
        return refusal

    def _refusal(self, response: Any, status: int, body: object) -> Refusal:
        """Return what an error says; only the service's own words say something of the key."""
        from scorekit._claude.connection import shown_url

        self._learn_key(response.request.headers)
        stated = error_in(body)
        _, type_, text = (status, None, response.text) if stated is None else stated
        kind = f"http_{status}" if stated is None and status < SERVER_ERROR else None
        where = f" from {shown_url(response.request.url)}" if status == _NOT_FOUND else ""
        words = one_line(f"HTTP {status}{where}: {self.hide(text)}")
        if status == _BAD_REQUEST and self.settings.structured_output:
            words += self._hint()
        failure = JudgeError(kind or error_kind(status, type_), words)
        wait, asks_to_wait = wait_of(response.headers), "retry-after" in response.headers
        refusal = Refusal(failure, status, wait=wait, asks_to_wait=asks_to_wait)
        refusal.is_own = stated is not None
        return refusal

    def _hint(self) -> str:
        """Return what may help where requests are refused and none has been answered yet."""
        if self.asking.breaker.was_read:
            return ""
        remedy = "structured_output=False"
        remedy = remedy if self.settings.effort is None else f"effort=None, or {remedy}"
        return f" (if it refuses output_config: {remedy})"

    def learned(self, refusal: Refusal, pair: str = "") -> JudgeError:
        """Return what a lasting refusal means for the pair that was asked about."""
        failure, is_own = refusal.failure, refusal.is_own
        self.asking.breaker.note_refusal(failure, refusal.status, pair, is_own=is_own)
        return failure

    # Keys.

    def _learn_key(self, headers: Mapping[str, str]) -> None:
        """Remember the key that was sent: a gateway may echo it."""
        from scorekit._claude.connection import SECRET

        for name, value in headers.items():
            if SECRET.search(name) and value:
                self._learn_secret(value)

    def _learn_secret(self, secret: str) -> None:
        if secret not in self._secrets:
            self._secrets.add(secret)
            self._hidden = sorted({*self._hidden, *_forms(secret)}, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return *text* without the key, in any form that it may have there."""
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return text

    # The end.

    def fork(self) -> Service:
        """Return a service for a child process, which cannot use the caller's client."""
        child = Service(self.settings, self._given)
        if self._given is not None:
            child.worker.why_closed = _FORKED
            child.worker.stop()
        elif self.worker.is_closed:
            child.worker.stop()
        return child

    async def _end(self) -> None:
        if self._connection is not None:
            await self._connection.close()


def _forms(secret: str) -> Iterator[str]:
    """Yield a key, its pieces, and what it becomes in an address or in base64."""
    bare = _SCHEME.sub("", secret)
    pieces = [piece for piece in _UNPRINTABLE.split(secret) if len(piece) >= LONG]
    yield from (secret, bare, *pieces)
    if len(bare) < LONG:
        return
    yield quote(bare, safe="")
    yield quote(secret, safe="")
    for n in range(3):  # of what stands before it in the encoded text, only the length counts
        text = base64.b64encode(b"\0" * n + bare.encode())[n + (n > 0) :].decode()
        n_padded = text.count("=")
        ends = {len(text) - n_padded, len(text) - (n_padded and n_padded + 1)}
        for encoded in (text[:end] for end in ends):  # to its end, and where more stands behind it
            yield encoded
            yield encoded.translate(str.maketrans("+/", "-_"))


def _without_version(url: str) -> str:
    """Return an address as the SDK wants it, which adds ``/v1`` by itself."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def _bare_address(url: str) -> str:
    """Return an address without user and password."""
    return re.sub("//[^/]*@", "//", url)


def _has_key(client: Any) -> bool:
    headers = {name.lower() for name in client.default_headers}
    return client.credentials is not None or not headers.isdisjoint({"authorization", "x-api-key"})
