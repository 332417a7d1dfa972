"""Questions in an event loop: each waits for the turn that the schedule gives it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar, cast

from scorekit._claude.schedule import Passing, Question, Schedule

T = TypeVar("T")

LAST_SECONDS = 1.0
"""The end of a time limit, which a process that stood still is given at least."""


@contextlib.asynccontextmanager
async def limited(seconds: float) -> AsyncGenerator[None]:
    """
    Raise TimeoutError after so many seconds.

    Where the process stood still meanwhile, what has arrived is read first.
    """
    loop = asyncio.get_running_loop()
    last = min(LAST_SECONDS, seconds / 2)
    async with asyncio.timeout(None) as scope:
        nearly = loop.call_later(seconds - last, lambda: scope.reschedule(loop.time() + last))
        try:
            yield
        finally:
            nearly.cancel()


class Pace:
    """A `Schedule` by the clock of the running event loop."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._turns: dict[Question, asyncio.Future[None]] = {}
        self._timer: asyncio.Handle | None = None
        self._wakes_at = math.inf

    @contextlib.asynccontextmanager
    async def turn(self, limit_seconds: float, max_retries: float) -> AsyncGenerator[Question]:
        """Wait for the first turn of a question; it is forgotten at the end."""
        question = Question(limit_seconds, max_retries, self.now())
        self.schedule.add(question, self.now())
        try:
            await self._next_turn(question)
            yield question
        finally:
            self._turns.pop(question, None)
            self.schedule.remove(question, self.now())
            self._look_soon()

    async def ask(
        self,
        question: Question,
        send: Callable[[Question], Awaitable[T]],
        *,
        once: bool = False,
    ) -> T:
        """
        Return what *send* brings in the turn that the question has, or in later ones.

        With *once* only what the service has refused for its load is sent again.
        """
        while True:
            question.is_sent = False
            answer: T | None = None
            error: Exception | None = None
            try:
                answer = await send(question)
            except Exception as raised:  # noqa: BLE001 - raised again, unless it passes
                error = raised
            is_check = question.is_check
            if isinstance(error, Passing) and error.is_passing:
                if error.is_busy:
                    self.schedule.note_busy(question, error, self.now())
                elif once:
                    raise error
                else:
                    self.schedule.note_failure(question, error, self.now())
            elif error is None or question.is_sent or isinstance(error, Passing):
                self.schedule.note_answer(question, self.now())
                if not is_check:
                    if error is not None:
                        raise error
                    return cast("T", answer)
            else:
                raise error
            await self._next_turn(question)

    async def ask_once(
        self,
        send: Callable[[Question], Awaitable[T]],
        limit_seconds: float,
        *,
        once: bool = False,
    ) -> T:
        """Return what *send* brings, whose failures are the service's alone."""
        async with self.turn(limit_seconds, math.inf) as question:
            return await self.ask(question, send, once=once)

    async def _next_turn(self, question: Question) -> None:
        turn = self._turns[question] = asyncio.get_running_loop().create_future()
        self._look_soon()
        await turn

    def _look_soon(self) -> None:
        """Look who is next, once for all that happens now."""
        if self._wakes_at > -math.inf:
            self._set(asyncio.get_running_loop().call_soon(self._look), -math.inf)

    def _set(self, timer: asyncio.Handle | None, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._wakes_at = timer, at

    def _look(self) -> None:
        """Give the turns that can be given, and the answer to those who wait in vain."""
        now = self.now()
        self._set(None, math.inf)
        while (question := self.schedule.next(now)) is not None:
            self._end_turn(question, None)
        for question, error in self.schedule.given_up(now):
            self._end_turn(question, error)
        at = self.schedule.wakes_at(now)
        if at < math.inf and self._wakes_at == math.inf:
            self._set(asyncio.get_running_loop().call_at(at, self._look), at)

    def _end_turn(self, question: Question, error: Exception | None) -> None:
        turn = self._turns.pop(question, None)
        if turn is not None and not turn.done():
            if error is None:
                turn.set_result(None)
            else:
                turn.set_exception(error)

    @staticmethod
    def now() -> float:
        """Return the time by which turns are given."""
        return asyncio.get_running_loop().time()
