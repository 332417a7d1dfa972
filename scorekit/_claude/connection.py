"""The SDK's client as a judge needs it: answers are bounded as they arrive."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

import anthropic
import httpx2

NotConnected = httpx2.ConnectError | httpx2.ConnectTimeout
"""What the SDK raises where the service cannot be reached."""

MAX_BODY = 4 << 20
"""Longest answer, in bytes as they unpack, that is read whole."""

RESULTS = "/v1/messages/batches/{}/results"
MAX_RESULTS = 256 << 20
"""The same of the results of a batch."""

CONNECT_SECONDS = 5.0
"""How long it may take to reach the service, as for the SDK's client."""


class UnreadError(anthropic.AnthropicError):
    """An answer is longer than `MAX_BODY`, or redirects to an address that may not be asked."""


class _BoundedClient(anthropic.DefaultAsyncHttpxClient):
    """A client whose answers are bounded, and that follows no redirect."""

    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send, and read the answer as far as it may go; no call of a judge is a *stream*."""
        del stream
        options["follow_redirects"] = False  # what it carries is for the service that was asked
        response = await super().send(request, stream=True, **options)
        if response.next_request is not None:
            there = response.next_request.url
            await response.aclose()
            where = f"{there.scheme}://{there.netloc.decode(errors='replace').rpartition('@')[2]}"
            raise UnreadError(f"the service sends to {where}, which is not asked; set base_url")
        return await _bounded(response)


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
        http_client=_BoundedClient(timeout=_TIMEOUT),
    )
