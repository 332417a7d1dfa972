"""The SDK's client as a judge needs it: answers are bounded as they arrive."""

from __future__ import annotations

import time
from collections import deque
from fnmatch import fnmatch
from typing import Any

import anthropic
import httpx2

NotConnected = httpx2.ConnectError | httpx2.ConnectTimeout
"""What comes of a service that cannot be reached."""

MAX_BODY = 4 << 20
"""Longest answer, in bytes as they unpack, that is read whole."""

RESULTS = "/v1/messages/batches/{}/results"
MAX_RESULTS = 256 << 20
"""The same of the results of a batch."""

IDLE_SECONDS = 5.0
"""Time after which a connection is closed, as the SDK's client does."""


CONNECT_SECONDS = 5.0
"""How long it may take to reach the service, as for the SDK's client."""


class UnreadError(anthropic.AnthropicError):
    """An answer went on beyond `MAX_BODY`, or sends to where no question may go."""


class _BoundedClient(anthropic.DefaultAsyncHttpxClient):
    """
    A client that has another one for each request under way.

    One with fifty connections would look at all of them before and after every request, and ask
    the system about each that is idle.
    """

    def __init__(self) -> None:
        self._verify = httpx2.create_ssl_context()  # once, as it reads many certificates
        super().__init__(timeout=_TIMEOUT, verify=self._verify)
        self._idle: deque[tuple[float, anthropic.DefaultAsyncHttpxClient]] = deque()

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send, and read the answer as far as it may go; a *stream* is its reader's to bound."""
        if stream:
            return await _sent(super().send, request, options)
        client = await self._idle_client()
        try:
            return await _bounded(await _sent(client.send, request, options))
        finally:
            self._idle.append((time.monotonic(), client))

    async def _idle_client(self) -> anthropic.DefaultAsyncHttpxClient:
        while self._idle and self._idle[0][0] < time.monotonic() - IDLE_SECONDS:
            await self._idle.popleft()[1].aclose()
        if self._idle:
            return self._idle.pop()[1]
        return anthropic.DefaultAsyncHttpxClient(
            timeout=_TIMEOUT,
            verify=self._verify,
            cookies=self.cookies.jar,  # those of one answer go with any later request
        )

    async def aclose(self) -> None:
        """Close it and the others, none of which is used any more."""
        while self._idle:
            await self._idle.pop()[1].aclose()
        await super().aclose()


async def _sent(send: Any, request: Any, options: dict[str, Any]) -> Any:
    """Send, and follow no redirect: what it would carry is for the service that was asked."""
    response = await send(request, stream=True, **{**options, "follow_redirects": False})
    if response.next_request is not None:
        there = response.next_request.url
        await response.aclose()
        where = f"{there.scheme}://{there.netloc.decode(errors='replace').rpartition('@')[2]}"
        raise UnreadError(f"the service sends to {where}, which is not asked; set base_url")
    return response


async def _bounded(response: Any) -> Any:
    body = bytearray()
    is_batch = fnmatch(response.request.url.path, "*" + RESULTS.format("*"))
    most = MAX_RESULTS if is_batch else MAX_BODY
    try:
        async for piece in response.aiter_bytes():
            body += piece
            if len(body) > most:
                raise UnreadError(f"the service answered with more than {most} bytes")
    finally:
        await response.aclose()
    headers = response.headers.copy()
    headers.pop("content-encoding", None)  # it has been unpacked
    return type(response)(
        response.status_code, headers=headers, content=bytes(body), request=response.request
    )


_TIMEOUT = httpx2.Timeout(None, connect=CONNECT_SECONDS)


def new_client(api_key: str | None, base_url: str | None) -> anthropic.AsyncAnthropic:
    """Return a client that leaves time limits and retries to its caller."""
    return anthropic.AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=_TIMEOUT,
        max_retries=0,
        http_client=_BoundedClient(),
    )
