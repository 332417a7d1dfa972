"""Log records that name their case, and that a report keeps at DEBUG."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from scorekit.errors import shown

_case: ContextVar[str | None] = ContextVar("scorekit_case", default=None)
_in_report: ContextVar[bool] = ContextVar("scorekit_in_report", default=False)


@contextmanager
def about_case(case_id: str, model: str | None = None) -> Generator[None, None, None]:
    """Let the records that are logged meanwhile, by this thread or task, name case and model."""
    whose = "" if model is None else f" of model {shown(model)}"
    token = _case.set(f"case {shown(case_id)}{whose}")
    try:
        yield
    finally:
        _case.reset(token)


@contextmanager
def in_report() -> Generator[None, None, None]:
    """Log at DEBUG meanwhile: a report says in one record of its own what all these say."""
    token = _in_report.set(True)
    try:
        yield
    finally:
        _in_report.reset(token)


def log(logger: logging.Logger, level: int, message: str, *, stacklevel: int = 1) -> None:
    """Log a message, which is one line, after the case that it is about."""
    case = _case.get()
    if case is not None:
        message = f"{case}: {message}"
    level = logging.DEBUG if _in_report.get() else level
    logger.log(level, "%s", message, stacklevel=stacklevel + 1)
