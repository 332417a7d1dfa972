"""A limit of CPU time: the last guard behind limits of size and of steps."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Final

_until: Final[ContextVar[float]] = ContextVar("_until", default=inf)


class OutOfTimeError(Exception):
    """Work has taken the CPU time that it had."""


@contextmanager
def limited(seconds: float) -> Generator[None]:
    """
    Let `check_time` raise once this thread has used so much CPU time more.

    A limit inside another never extends it.  What else runs on the machine takes none of it.
    """
    token = _until.set(min(_until.get(), time.thread_time() + seconds))
    try:
        yield
    finally:
        _until.reset(token)


def check_time() -> None:
    """
    Say that time goes by; called often by what may take long.

    Raises:
        OutOfTimeError: If a limit around is over.
    """
    until = _until.get()
    if until < inf and time.thread_time() > until:
        raise OutOfTimeError
