"""Calling a judge from threads and event loops without waiting for too long."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from scorekit._core.checks import check_number

import_module("concurrent.futures.thread")  # else its first use would, in the way of a fork

T = TypeVar("T")

AT_ONCE = 50
"""Questions that a judge without a queue of its own is given at a time."""

LOOKED_AHEAD = 16
"""
Pairs beyond those under way that one event loop looks at.

A thousand that are looked at first would keep the interpreter from the judge meanwhile.
"""

LATE_SECONDS = 2.0
"""How much later than due the event loop may answer before it counts as blocked."""

ENDED_WITHIN_SECONDS = 10.0
"""How long an interrupt waits until what it interrupts has ended."""


_renewals: Final = WeakKeyDictionary[Any, Callable[[Any], object]]()


def renew_in_forks(thing: T, renew: Callable[[T], object]) -> None:
    """Call *renew* on *thing* in every process that is forked from now on."""
    _renewals[thing] = renew


def _renew() -> None:
    for thing, renew in list(_renewals.items()):
        renew(thing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


class Caller:
    """Who waits for a judge, for how long, and whether they still do."""

    def __init__(
        self, timeout_seconds: float, place: contextlib.AsyncExitStack | None = None
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self.place = place
        """Gives its place in a `Queue` back when closed."""
        self.has_left = False
        """Whether nobody would read the answer: what has not been asked need not be."""


caller: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""The caller that the running code works for."""

blocked_loops: ContextVar[tuple[asyncio.AbstractEventLoop, ...]] = ContextVar(
    "blocked_loops", default=()
)
"""Event loops that stand still until the running code is done."""

is_sync: ContextVar[bool] = ContextVar("is_sync", default=False)
"""Whether somebody has asked about one pair in the sync form, and a judge may have one, too."""


class Places:
    """A number of places on each event loop, taken by what runs there."""

    def __init__(self, n_places: int) -> None:
        self.n_places = n_places
        # By the loop's id: kept by those who have or want a place, which keep the loop too.
        self._places: WeakValueDictionary[int, asyncio.Semaphore] = WeakValueDictionary()

    def place(self) -> asyncio.Semaphore:
        """Return the context in which one place on the running event loop is taken."""
        loop = id(asyncio.get_running_loop())
        return self._places.setdefault(loop, asyncio.Semaphore(self.n_places))


class Queue(Places):
    """
    The queue of a judge that limits how many questions are under way at once.

    Such a judge keeps the limit of its `Caller` by itself: only it knows when a question's turn
    has come, and waiting for that is no fault.
    """

    def __init__(self, n_at_once: int) -> None:
        super().__init__(n_at_once + LOOKED_AHEAD)


async def leave_place() -> None:
    """Give the place to another pair, while this one waits for the answer to an equal pair."""
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


_work = Places(1)


async def off_loop(function: Callable[[], T]) -> T:
    """Run *function* in a thread, one after another: many at once would stop the event loop."""
    async with _work.place():
        answer: T = await asyncio.wrap_future(in_thread(function))
        return answer


class _Home:
    """An event loop of a process: on one the sync forms ask, since clients live on one loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._abandoned: list[asyncio.AbstractEventLoop | None] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self.renew()

    def renew(self) -> None:
        """Leave the loop to the parent process, whose thread runs it."""
        self._abandoned.append(self._loop)
        self._lock, self._loop = threading.Lock(), None

    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, which a thread of its own runs."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.events.new_event_loop()
                run = threading.Thread(
                    target=_run_for_ever, args=(self._loop,), name=self._name, daemon=True
                )
                run.start()
            return self._loop

    def leave(self, loop: asyncio.AbstractEventLoop) -> None:
        """Leave a loop to the judge that blocks it."""
        with self._lock:
            if self._loop is loop:
                self._loop = None


_home = _Home("scorekit-loop")
_paces = _Home("scorekit-paces")


def at_a_pace(work: Callable[[], Coroutine[Any, Any, T]]) -> Future[T]:
    """Start *work* on the loop on which the paces of all functions live."""
    return asyncio.run_coroutine_threadsafe(work(), _paces.loop())


renew_in_forks(_home, _Home.renew)
renew_in_forks(_paces, _Home.renew)


def _run_for_ever(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        with contextlib.suppress(BaseException):  # SystemExit of a judge: its asker has it, too
            loop.run_forever()


def run_to_end(
    start: Callable[[], Coroutine[Any, Any, T]], timeout_seconds: float | None = None
) -> T:
    """
    Run a coroutine to its end, also where an event loop is running already (a notebook).

    Raises:
        TimeoutError: If it blocks its loop for longer than *timeout_seconds* and some time.
    """
    loops = blocked_loops.get()
    with contextlib.suppress(RuntimeError):
        loops = (*loops, asyncio.get_running_loop())
    token = blocked_loops.set(loops)
    try:
        home = _home.loop()
        if home in loops:  # an async judge that asks in the sync form
            answer: T = in_thread(lambda: asyncio.run(start())).result()
            return answer
        return _result(home, start, timeout_seconds)
    finally:
        blocked_loops.reset(token)


class _NotYetError(Exception):
    """A time limit has passed in which the event loop has done something."""


def _soon(future: Future[T], longest: float | None, moves: threading.Event) -> T:
    """Return a result; raise TimeoutError where the loop stands still for too long."""
    try:
        return future.result(longest)
    except TimeoutError:
        if moves.is_set() and not future.done():
            raise _NotYetError from None
        raise


def _result(
    loop: asyncio.AbstractEventLoop,
    start: Callable[[], Coroutine[Any, Any, T]],
    timeout_seconds: float | None,
) -> T:
    ended = threading.Event()

    async def run() -> T:
        try:
            return await start()
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(run(), loop)
    longest = None if timeout_seconds is None else timeout_seconds + LATE_SECONDS
    longest = longest if longest and longest < threading.TIMEOUT_MAX else None
    try:
        while True:
            moves = threading.Event()
            loop.call_soon_threadsafe(moves.set)
            with contextlib.suppress(_NotYetError):
                return _soon(future, longest, moves)
    except CancelledError:
        raise asyncio.CancelledError from None
    except BaseException as error:
        if not future.done():  # interrupted from the keyboard, say: nobody waits any more
            future.cancel()
            if isinstance(error, TimeoutError):
                _home.leave(loop)
            else:
                ended.wait(ENDED_WITHIN_SECONDS)
        raise
