"""Loading the SDK: three seconds of work that are nobody's time limit."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Final

from scorekit._judge.waiting import in_thread

_PACKAGES: Final = (
    "anthropic",
    "scorekit._claude.connection",
    "scorekit._claude.classifier",
    "scorekit._claude.batch",
)

_LATE: Final = (
    "anyio._backends._asyncio",
    "encodings.idna",
    "opentelemetry.propagate",
)
"""What the SDK, or what it stands on, would load in the middle of the first question."""

_loading = threading.RLock()

if hasattr(os, "register_at_fork"):
    # A child would wait for ever for a module that a thread of its parent was loading.
    os.register_at_fork(
        before=_loading.acquire,
        after_in_parent=_loading.release,
        after_in_child=_loading.release,
    )


async def load(more: Callable[[], object]) -> None:
    """Load what a judge needs to ask, and do *more*, without blocking the event loop."""

    def work() -> None:
        with _loading:
            for package in _PACKAGES:
                import_module(package)
            for package in _LATE:
                with contextlib.suppress(Exception):  # not every version has all of them
                    import_module(package)
            more()

    await asyncio.wrap_future(in_thread(work))
