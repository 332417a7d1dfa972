"""Log records that name their case, and that a report keeps at DEBUG."""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from scorekit.errors import shown

_case: ContextVar[tuple[str, bool] | None] = ContextVar("scorekit_case", default=None)


@contextmanager
def about_case(
    case_id: str, model: str | None = None, *, in_report: bool = False
) -> Generator[None, None, None]:
    """
    Let the records that are logged meanwhile, by this thread or task, name case and model.

    They are logged at DEBUG *in_report*, which says in one record of its own what all these say.
    """
    whose = "" if model is None else f" of model {shown(model)}"
    token = _case.set((f"case {shown(case_id)}{whose}", in_report))
    try:
        yield
    finally:
        _case.reset(token)


def log(logger: logging.Logger, level: int, message: str, *, stacklevel: int = 1) -> None:
    """Log a message, which is one line, after the case that it is about."""
    if (about := _case.get()) is not None:
        case, in_report = about
        message, level = f"{case}: {message}", logging.DEBUG if in_report else level
    logger.log(level, "%s", message, stacklevel=stacklevel + 1)
