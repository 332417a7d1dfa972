"""The SDK's client as a judge needs it: answers are bounded as they arrive."""

from __future__ import annotations

from typing import Any

import anthropic

MAX_BODY = 4 << 20
"""Longest answer, in bytes as they unpack, that is read whole."""


class TooLongError(anthropic.AnthropicError):
    """An answer went on beyond `MAX_BODY`."""


class _BoundedClient(anthropic.DefaultAsyncHttpxClient):
    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Send, and read the answer as far as it may go; a *stream* is its reader's to bound."""
        response = await super().send(request, stream=True, **options)
        if stream:
            return response
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BODY:
                    raise TooLongError(f"the service answered with more than {MAX_BODY} bytes")
        finally:
            await response.aclose()
        headers = response.headers.copy()
        headers.pop("content-encoding", None)  # it has been unpacked
        return type(response)(
            response.status_code, headers=headers, content=bytes(body), request=request
        )


def new_client(api_key: str | None, base_url: str | None) -> anthropic.AsyncAnthropic:
    """Return a client that leaves time limits and retries to its caller."""
    return anthropic.AsyncAnthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=None,
        max_retries=0,
        http_client=_BoundedClient(timeout=None),
    )
