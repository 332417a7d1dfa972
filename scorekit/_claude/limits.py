"""When a judge makes no more calls: it is no use, or its budget is spent."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Generator

from scorekit.errors import JudgeError

_HOPELESS = {401, 403}
"""Answers after which every later call would fail too."""
_MISCONFIGURED = {400, 404}
"""The same, as long as nothing has succeeded."""


class Breaker:
    """What the answers so far say of the calls to come; used within one event loop."""

    def __init__(self) -> None:
        self._broken: JudgeError | None = None
        self._is_broken_for_good = False
        self._n_under_way = 0
        self._answered = asyncio.Event()
        self._has_succeeded = False

    async def check(self) -> None:
        """Refuse to ask where an earlier answer said that it is no use."""
        while self._broken is not None:
            if self._is_broken_for_good or not self._n_under_way:
                told = f"no more calls are made after: {self._broken.message}"
                raise JudgeError(self._broken.kind, f"{told}; mend that and make a new judge")
            await self._answered.wait()  # one that succeeds will show that it is of use

    @contextlib.contextmanager
    def call_under_way(self) -> Generator[None]:
        """Let others know that an answer is to come."""
        self._n_under_way += 1
        try:
            yield
        finally:
            self._n_under_way -= 1
            self._answered.set()
            self._answered = asyncio.Event()

    def note(self, error: JudgeError, status: int | None) -> None:
        """Remember an error that later calls would meet as well."""
        configuration = status in _MISCONFIGURED and not self._has_succeeded
        if self._is_broken_for_good:
            return
        if status is None or status in _HOPELESS or configuration:
            self._broken = error
            self._is_broken_for_good = not configuration

    def note_success(self) -> None:
        """Remember an answer, whatever it says: the configuration is one that works."""
        self._has_succeeded = True
        if not self._is_broken_for_good:
            self._broken = None


class Budget:
    """Calls and money: what is spent, and what calls under way may still cost."""

    def __init__(self, max_calls: int | None, max_cost_usd: float | None) -> None:
        self._max_calls = max_calls
        self._max_cost = math.inf if max_cost_usd is None else max_cost_usd
        self._n_calls = 0
        self._spent = 0.0
        self._reserved: list[float] = []
        self._settled = asyncio.Event()

    async def take(self, most: float) -> None:
        """Reserve a call that costs at most so much, once it is known whether it fits."""
        while True:
            if self._n_calls == self._max_calls:
                told = f"max_calls={self._max_calls} calls have been made"
                raise JudgeError("budget", f"{told}; a new judge may make more")
            if math.fsum([self._spent, *self._reserved, most]) <= self._max_cost:
                break
            if not self._reserved:
                message = f"{self._spent:.6f} of max_cost_usd={self._max_cost:g} are spent"
                raise JudgeError("budget", f"{message}, the next call may cost {most:.6f}")
            await self._settled.wait()
        self._n_calls += 1
        self._reserved.append(most)

    def settle(self, most: float, cost: float) -> None:
        """Replace a reservation by what the call did cost."""
        self._reserved.remove(most)
        self._spent += cost
        self._settled.set()
        self._settled = asyncio.Event()
