"""Calling a judge from threads and event loops without waiting for too long."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from scorekit._core.checks import check_number

T = TypeVar("T")

AT_ONCE = 50
"""Questions that a judge without a queue of its own is given at a time."""

LOOKED_AHEAD = 16
"""
Pairs beyond those under way that one event loop looks at.

A thousand that are looked at first would keep the interpreter from the judge meanwhile.
"""


class Caller:
    """Who waits for a judge: for how long, and whether still."""

    def __init__(
        self, timeout_seconds: float, place: contextlib.AsyncExitStack | None = None
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self.place = place
        """Gives its place in a `Queue` back when closed."""
        self.has_left = False
        """Whether nobody would read the answer: what has not been asked need not be."""


caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Whom the running code works for."""

blocked_loops: ContextVar[tuple[asyncio.AbstractEventLoop, ...]] = ContextVar(
    "blocked_loops", default=()
)
"""Event loops that stand still until the running code is done."""


class Queue:
    """
    The queue of a judge that has so many questions under way at once.

    Such a judge keeps the limit of its `Caller` by itself: only it knows when a question's turn
    has come, and waiting for that is no fault.
    """

    def __init__(self, n_at_once: int) -> None:
        self.n_places = n_at_once + LOOKED_AHEAD
        # By the loop's id: kept by the pairs that have or want a place, which keep the loop too.
        self._places: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()

    def place(self) -> asyncio.Semaphore:
        """Return what gives each pair of the running event loop a place, and takes it back."""
        loop = id(asyncio.get_running_loop())
        return self._places.setdefault(loop, asyncio.Semaphore(self.n_places))


async def leave_place() -> None:
    """Let another pair have the place: who waits for the answer to an equal one asks nothing."""
    who = caller.get()
    if who is not None and who.place is not None:
        await who.place.aclose()


def queue_of(judge: object) -> Queue | None:
    """Return the queue of a judge that has one of its own."""
    queue = getattr(judge, "_queue", None)
    return queue if isinstance(queue, Queue) else None


def places_at(judge: object) -> int:
    """Return how many questions *judge* is given at a time."""
    queue = queue_of(judge)
    return AT_ONCE if queue is None else max(AT_ONCE, queue.n_places)


def blocking(function: Callable[[], T]) -> Callable[[], T]:
    """Return *function* knowing of the event loop, if any, whose thread will wait for it."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return function

    def run() -> T:
        token = blocked_loops.set((*blocked_loops.get(), loop))
        try:
            return function()
        finally:
            blocked_loops.reset(token)

    return run


async def wait_for(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def check_timeout(timeout_seconds: object) -> float:
    """Return a time limit in seconds, or refuse it."""
    seconds = check_number("timeout_seconds", timeout_seconds, 0.0, open_ends=True)
    return min(seconds, threading.TIMEOUT_MAX)  # more than which no lock can wait


def in_thread(function: Callable[[], Any]) -> Future[Any]:
    """
    Run *function* in a thread that nobody has to wait for.

    Not a pool: one hanging judge would keep a worker, and the interpreter from leaving.
    """
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # a waiter that gives up must not cancel it
    context = contextvars.copy_context()

    def run() -> None:
        try:
            result = context.run(function)
        except StopIteration as error:  # which no future of an event loop can carry
            future.set_exception(RuntimeError(f"StopIteration: {error}"))
        except BaseException as error:  # noqa: BLE001 - raised again where the result is taken
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="scorekit-judge", daemon=True).start()
    return future


def run_to_end(start: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end, also where an event loop is running already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    inner = asyncio.new_event_loop()

    def run() -> T:
        with asyncio.Runner(loop_factory=lambda: inner) as runner:
            return runner.run(start())

    def stop() -> None:
        for task in asyncio.all_tasks(inner):
            task.cancel()

    try:
        result: T = in_thread(blocking(run)).result()
    except BaseException:  # an interrupt from the keyboard, say: nobody waits any more
        with contextlib.suppress(RuntimeError):  # it has ended by itself
            inner.call_soon_threadsafe(stop)
        raise
    return result
