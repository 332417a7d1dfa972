"""Which failures of a function pass, and what everybody hears who waits for them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from scorekit._core.progress import say_waiting
from scorekit._judge.asking import Refusal
from scorekit._judge.limits import STANDS_FOR_ALL
from scorekit._judge.line import Passing
from scorekit.errors import JudgeError, one_line, refuse

_log = logging.getLogger(__name__)

_STATUSES: Final = range(400, 600)
_CAUSES: Final = 10
"""How many causes of an exception are looked at."""


def check_transient(transient: object) -> None:
    """Refuse what is neither a type, nor types, nor a predicate."""
    is_predicate = callable(transient) and not isinstance(transient, type)
    if transient is not None and not is_predicate and not _are_exceptions(transient):
        refuse("transient", "exception types, a predicate or None", transient, TypeError)


def _are_exceptions(value: object) -> bool:
    types = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
    return all(isinstance(one, type) and issubclass(one, Exception) for one in types)


def passing_of(error: Exception, transient: Any) -> Passing | None:
    """
    Return what an exception of a judge's function says of others, or later; None if nothing.

    It passes, or it is a refusal that all questions may meet.
    """
    status, headers = http_status(error)
    kind = "connection" if status is None else f"http_{status}"
    failure = JudgeError(kind, one_line(f"{type(error).__name__}: {error}"))
    refusal = None
    if status is not None:
        has_header = headers.get("retry-after") is not None
        refusal = Refusal(failure, status, wait=wait_of(headers), asks_to_wait=has_header)
        refusal.is_own = False  # who gave the status is not known
    if not _passes(error, refusal, transient):
        return refusal if status in STANDS_FOR_ALL else None
    if refusal is not None and (refusal.is_busy or transient is None):
        return refusal
    timeout = TimeoutError(str(error)) if isinstance(error, TimeoutError) else None
    return Passing(timeout or failure, error)


def _passes(error: Exception, refusal: Refusal | None, transient: Any) -> bool:
    if transient is None:
        if refusal is not None:
            return refusal.is_passing
        return any(isinstance(one, TimeoutError | ConnectionError) for one in causes(error))
    if isinstance(transient, type | tuple):
        return isinstance(error, transient)
    return bool(transient(error))


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it was raised from."""
    found: BaseException | None = error
    for _ in range(_CAUSES):
        if found is None:
            return
        yield found
        found = found.__cause__ or found.__context__


def http_status(error: Exception) -> tuple[int | None, Mapping[str, str]]:
    """Return the HTTP status and headers that an exception of a client library carries."""
    response = getattr(error, "response", None)
    headers: Any = getattr(response, "headers", None) or getattr(error, "headers", None)
    if not hasattr(headers, "get"):
        headers = {}
    for holder in (error, response):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if type(status) is int and status in _STATUSES:
                return status, headers
    return None, headers


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a response asks to wait; None if it gives none."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    return seconds if seconds > 0 else None


def say_waits(failure: Passing | None) -> None:
    """Say that all questions wait for the service, or that they go on."""
    if failure is None:
        _log.info("the service answers again")
    else:
        _log.info("the service is away, all questions wait for it: %s", failure.failure)
    say_waiting(None if failure is None else "waiting for the service")
