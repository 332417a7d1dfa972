"""One call per key, however many threads and event loops ask for it at once."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Final, Generic, Literal, TypeVar

from scorekit._judge.waiting import blocked_loops, leave_place
from scorekit.errors import JudgeError

T = TypeVar("T")

POLL_SECONDS: Final = 0.5
"""How often those who wait look whether the event loop they wait for still runs."""

How = Literal["found", "asked", "shared"]
"""Known already; this caller's own call; another caller's."""


class _LeaderGoneError(Exception):
    """The call that others wait for was cancelled or interrupted: one of them asks again."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(reason)
        self.reason = reason


class _SharedCall(Future[T]):
    """A call under way, led by a task of *loop*."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop
        self.task: asyncio.Task[None] | None = None
        self.n_waiting = 1  # a caller who starts a task waits for it like the others
        self.set_running_or_notify_cancel()  # from here on a waiter cannot cancel it

    def is_stalled(self) -> bool:
        """Return whether the event loop that leads it has stopped or closed."""
        return not self.loop.is_running()

    def cancel_task(self) -> None:
        """Stop paying for what nobody waits for."""
        if self.task is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self.loop.call_soon_threadsafe(self.task.cancel)


# The calls that the running code is part of.
_within: ContextVar[tuple[_SharedCall[Any], ...]] = ContextVar("_within", default=())


class SingleFlight(Generic[T]):
    """
    Calls under way by key; results are stored by the calls themselves, never here.

    Args:
        recall: Looks a key up where calls store their results; it must be quick.
    """

    def __init__(self, recall: Callable[[str], T | None]) -> None:
        self._recall = recall
        self._lock = threading.Lock()
        self._calls: dict[str, _SharedCall[T]] = {}

    async def ado(self, key: str, ask: Callable[[], Awaitable[T]]) -> tuple[T, How]:
        """
        Return what *ask* returns, or what another caller's call for *key* gives.

        The call goes on when its first caller is cancelled but others wait.
        """
        while True:
            call, how = self._join(key, asyncio.get_running_loop())
            if how == "asked":
                call.task = asyncio.ensure_future(self._alead(key, call, ask))
                call.task.add_done_callback(_seen)
            try:
                if how == "shared":
                    await leave_place()
                return await self._await(key, call), how
            except _LeaderGoneError as gone:
                if how == "asked":  # not again, or a judge that cancels itself never ends
                    raise gone.reason from None

    def _join(self, key: str, loop: asyncio.AbstractEventLoop) -> tuple[_SharedCall[T], How]:
        """Return a call: a finished one of what is stored by now, one under way, or a new one."""
        with self._lock:
            call = self._calls.get(key)
            if call is not None and call in _within.get():
                message = "the judge asked for the very verdict that it was asked for"
                raise JudgeError("recursion", message)
            found = self._recall(key)  # again: a call may have ended since the caller looked
            if found is not None:
                known: _SharedCall[T] = _SharedCall(loop)
                known.set_result(found)
                return known, "found"
            if call is not None and not call.is_stalled() and call.loop not in blocked_loops.get():
                call.n_waiting += 1
                return call, "shared"
            call = self._calls[key] = _SharedCall(loop)
            return call, "asked"

    async def _alead(
        self, key: str, call: _SharedCall[T], ask: Callable[[], Awaitable[T]]
    ) -> None:
        _within.set((*_within.get(), call))  # for this task and what it starts
        try:
            value = await ask()
        except BaseException as error:  # noqa: BLE001 - raised again where the result is taken
            self._drop(key, call)
            call.set_exception(error if isinstance(error, Exception) else _LeaderGoneError(error))
        else:
            self._drop(key, call)
            call.set_result(value)

    def _drop(self, key: str, call: _SharedCall[T]) -> None:
        with self._lock:
            if self._calls.get(key) is call:
                del self._calls[key]

    async def _await(self, key: str, call: _SharedCall[T]) -> T:
        future = asyncio.wrap_future(call)  # to cancel it leaves the call alone
        future.add_done_callback(_seen)
        try:
            while not future.done():
                await asyncio.wait((future,), timeout=POLL_SECONDS)
                if not call.done() and call.is_stalled():
                    self._drop(key, call)
                    raise _LeaderGoneError(asyncio.CancelledError())
            return future.result()
        finally:
            future.cancel()
            self._leave(key, call)

    def _leave(self, key: str, call: _SharedCall[T]) -> None:
        with self._lock:
            call.n_waiting -= 1
            abandoned = call.n_waiting == 0 and not call.done()
            if abandoned and call.task is not None and self._calls.get(key) is call:
                del self._calls[key]
        if abandoned:
            call.cancel_task()


def _seen(future: asyncio.Future[Any]) -> None:
    """Take note of an exception that nobody waits for any more."""
    if not future.cancelled():
        future.exception()
