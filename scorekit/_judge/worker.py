"""A thread with an event loop on which a judge asks, from its first question to its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from scorekit.errors import JudgeError

T = TypeVar("T")

CLOSE_SECONDS: Final = 5.0
"""How long closing waits for the thread."""


class Worker:
    """
    A thread that the first work starts.

    Args:
        name: Of the thread.
        at_end: Closes what the work has opened, in the event loop.
    """

    def __init__(self, name: str, at_end: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._at_end = at_end
        self.why_closed = "the judge is closed; make a new one"
        """What asking says once it is closed."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stop = asyncio.Event()
        self.is_closed = False
        """Whether nobody can ask any more."""

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start *work* in the event loop, from any thread."""
        with self._lock:
            if self.is_closed:
                raise self.closed()
            if self._loop is None:
                self._loop, self._thread = self._started()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)

    def closed(self) -> JudgeError:
        """Return what asking gives once it is closed."""
        return JudgeError("closed", self.why_closed)

    def _started(self) -> tuple[asyncio.AbstractEventLoop, threading.Thread]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=_run, args=(loop, self), name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # there are too many; later there may be fewer
            loop.close()
            raise JudgeError("no_thread", str(error)) from error
        return loop, thread

    def stop(self) -> None:
        """Let the thread end; what is under way is cancelled."""
        with self._lock:
            if not self.is_closed and self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop.set)
            self.is_closed = True

    def close(self) -> None:
        """Stop, and wait until the thread has ended."""
        self.stop()
        if self._thread is not None:
            self._thread.join(CLOSE_SECONDS)

    async def serve(self) -> None:
        """Run until stopped, then leave no task and no connection behind."""
        await self._stop.wait()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._at_end()


def _run(loop: asyncio.AbstractEventLoop, worker: Worker) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(worker.serve())
