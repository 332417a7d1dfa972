"""The SDK's client as a judge needs it: its answers are bounded, its retries and redirects off."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any, Final

import anthropic
import httpx2
from anthropic._base_client import AsyncAPIClient, SyncAPIClient

from scorekit._judge.waiting import in_thread
from scorekit.errors import InputError, refuse

NotConnected = httpx2.ConnectError | httpx2.ConnectTimeout
"""What the SDK raises where the service cannot be reached."""

MAX_BODY = 4 << 20
"""Longest answer, in bytes as they unpack, that is read whole."""

RESULTS = "/v1/messages/batches/{}/results"
MAX_RESULTS = 256 << 20
"""The same of the results of a batch."""

CONNECT_SECONDS = 5.0
"""How long it may take to reach the service, as for the SDK's client."""

SECRET: Final = re.compile("key|token|secret|auth|password|cookie|credential", re.IGNORECASE)
"""Names of headers that hold a key; some come from ``ANTHROPIC_CUSTOM_HEADERS``."""

_OF_HTTP: Final = {"accept", "accept-encoding", "connection", "user-agent"}
"""Headers that every HTTP client sends."""


class UnreadError(anthropic.AnthropicError):
    """An answer is longer than `MAX_BODY`, or redirects to an address that may not be asked."""


class _AsyncBounded(httpx2.AsyncClient):
    """Another client, whose answers are bounded, and that follows no redirect."""

    def __init__(self, inner: httpx2.AsyncClient) -> None:
        super().__init__(transport=httpx2.AsyncBaseTransport(), timeout=inner.timeout)
        self._inner = inner

    def build_request(self, *arguments: Any, **options: Any) -> httpx2.Request:
        """Return the request of the other client, with all that it adds."""
        return self._inner.build_request(*arguments, **options)

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send, and read the answer as far as it may go; no call of a judge is a *stream*."""
        del stream
        options["follow_redirects"] = False  # what it carries is for the service that was asked
        response = await self._inner.send(request, stream=True, **options)
        body = bytearray()
        try:
            most = _most_of(response)
            async for piece in response.aiter_bytes():
                _add(body, piece, most)
        finally:
            await response.aclose()
        return _whole(response, body)

    async def aclose(self) -> None:
        """Close the other client."""
        await self._inner.aclose()


class _Bounded(httpx2.Client):
    """The same of a client that blocks its thread."""

    def __init__(self, inner: httpx2.Client) -> None:
        super().__init__(transport=httpx2.BaseTransport(), timeout=inner.timeout)
        self._inner = inner

    def build_request(self, *arguments: Any, **options: Any) -> httpx2.Request:
        """Return the request of the other client, with all that it adds."""
        return self._inner.build_request(*arguments, **options)

    def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send, and read the answer as far as it may go."""
        del stream
        options["follow_redirects"] = False
        response = self._inner.send(request, stream=True, **options)
        body = bytearray()
        try:
            most = _most_of(response)
            for piece in response.iter_bytes():
                _add(body, piece, most)
        finally:
            response.close()
        return _whole(response, body)


def _most_of(response: httpx2.Response) -> int:
    """Return how long an answer may be; raise where it only says to ask elsewhere."""
    if response.next_request is not None:
        where = shown_url(response.next_request.url)
        raise UnreadError(f"the service sends to {where}, which is not asked; set base_url")
    is_batch = fnmatch(response.request.url.path, "*" + RESULTS.format("*"))
    return MAX_RESULTS if is_batch else MAX_BODY


def _add(body: bytearray, piece: bytes, most: int) -> None:
    body += piece
    if len(body) > most:
        raise UnreadError(f"the service answered with more than {most} bytes")


def _whole(response: httpx2.Response, body: bytearray) -> httpx2.Response:
    headers = response.headers.copy()
    headers.pop("content-encoding", None)  # it has been unpacked
    return httpx2.Response(
        response.status_code, headers=headers, content=bytes(body), request=response.request
    )


def shown_url(url: httpx2.URL) -> str:
    """Return an address without user, password and query."""
    return f"{url.scheme}://{_host(url)}{url.path}"


def _host(url: httpx2.URL) -> str:
    return url.netloc.decode(errors="replace").rpartition("@")[2]


class Connection:
    """
    A client of the SDK, and how it is called.

    Args:
        client: The client: blocking or not, of the service itself or of a cloud.
        seconds: How long a client that blocks may wait for a byte.
        is_own: Whether it was made for the judge, and has to be closed.
    """

    def __init__(self, client: Any, seconds: float | None, *, is_own: bool) -> None:
        self.is_own = is_own
        self._inner: Any = client._client  # noqa: SLF001 - no public name
        is_async = isinstance(client, AsyncAPIClient)
        timeout = httpx2.Timeout(None if is_async else seconds, connect=CONNECT_SECONDS)
        bounded = (_AsyncBounded if is_async else _Bounded)(self._inner)
        self.client: Any = client.with_options(http_client=bounded, max_retries=0, timeout=timeout)
        self._is_async = is_async

    def called(self, call: Callable[[], Any]) -> Awaitable[Any]:
        """Start a call of the client; one that blocks has a thread."""
        found: Awaitable[Any] = call() if self._is_async else asyncio.wrap_future(in_thread(call))
        return found

    @property
    def is_closed(self) -> bool:
        """Whether its owner has closed it."""
        return bool(self._inner.is_closed)

    def about(self, url: httpx2.URL) -> str:
        """Return which host an address names, and the proxy before it."""
        try:  # no public names
            pool: Any = self._inner._transport_for_url(url)._pool  # noqa: SLF001
            proxy = pool._proxy_url  # noqa: SLF001
            by = f" by the proxy {proxy.host.decode()}:{proxy.port}"
        except AttributeError:
            by = ""
        return _host(url) + by

    def secrets(self) -> Iterator[str]:
        """Yield the keys that the client holds."""
        names = ("api_key", "auth_token", "access_token", "aws_secret_key", "aws_session_token")
        for name in names:
            value = getattr(self.client, name, None)
            if isinstance(value, str) and value:
                yield value

    async def close(self) -> None:
        """Close the client if it is not the caller's, else what it has opened on this loop."""
        if self.is_own:
            await self._inner.aclose()
        elif self._is_async:  # no public names
            for transport in {self._inner._transport, *self._inner._mounts.values()}:  # noqa: SLF001
                pool = getattr(transport, "_pool", None)
                if pool is not None:
                    await pool.aclose()


def own_client(api_key: str | None, base_url: str | None) -> anthropic.AsyncAnthropic:
    """Return a client for the service, which looks for a key and an address if given none."""
    return anthropic.AsyncAnthropic(api_key=api_key, base_url=base_url)


def check_client(client: object, *, batch: bool) -> Any:
    """Return a client of the caller's that a judge can use, or refuse it."""
    if not isinstance(client, SyncAPIClient | AsyncAPIClient):
        kinds = "of the Anthropic SDK (Anthropic, AsyncAnthropic, AnthropicBedrock, ...)"
        refuse("client", f"a client {kinds}", client, TypeError)
    if client.is_closed():
        raise InputError("client must be open, got one that is closed")
    asked: Any = client
    is_whole = isinstance(client, anthropic.Anthropic | anthropic.AsyncAnthropic)
    if batch and not (is_whole and getattr(asked.messages, "batches", None)):
        name = type(client).__name__
        raise InputError(f"batch must be False for a client without batches ({name})")
    return client


def what_routes(client: Any) -> Iterator[tuple[str, str]]:
    """Yield what says where a client's questions go: region, and a digest of headers."""
    for name in ("aws_region", "region"):
        region = getattr(client, name, None)
        if isinstance(region, str) and region:
            yield "region", region
            break
    inner: Mapping[str, str] = client._client.headers  # noqa: SLF001 - no public name
    given: Mapping[str, Any] = getattr(client, "_custom_headers", {})
    query: Mapping[str, Any] = getattr(client, "_custom_query", {})
    stated = {name.lower(): str(value) for name, value in (*inner.items(), *given.items())}
    stated |= {f"?{name}": str(value) for name, value in query.items()}
    routing = sorted(
        (name, value)
        for name, value in stated.items()
        if name not in _OF_HTTP and not name.startswith("x-stainless-") and not SECRET.search(name)
    )
    if routing:
        yield "headers", hashlib.sha256(json.dumps(routing).encode()).hexdigest()[:16]
