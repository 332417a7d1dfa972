"""How fast requests may go, learned from which of them the service takes."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

SHRINK: Final = 0.85
"""What a busy answer leaves of the rate, once in a round trip."""

GROW: Final = 1.03
"""What an answer makes of the rate near the one that has proved too high."""

GROW_FAR: Final = 1.5
"""The same far below that rate, or above it."""

NEAR: Final = (0.6, 1.3)
"""What is near, as shares of that rate."""

AT_FIRST: Final = 2.0
"""Rate in requests a second where not one was taken."""

LEAST: Final = 0.25
"""Lowest rate in requests a second: somebody has to find out whether it has changed."""

LONGEST_WAIT_SECONDS: Final = 60.0
"""Bound on what a service may ask to wait."""

N_IN_VAIN: Final = 3
"""Round trips without any answer from which on the service's own words about waiting count."""


class Rate:
    """
    One rate for all requests: none before the first busy answer.

    It begins with what was taken in the second before that, grows with each answer and shrinks
    once in a round trip.  Times are those of the caller's clock.
    """

    def __init__(self, per_minute: float | None = None) -> None:
        self._spacing = 0.0 if per_minute is None else 60 / per_minute
        self._rate = self._rate_before = self._too_high = math.inf
        self._round_trip = 0.0
        self._taken: deque[float] = deque()
        self._sent_at = self._next = self._learned_at = self._shrunk_at = (
            self._hold_until
        ) = -math.inf
        self._n_in_vain = self._n_shrunk = 0

    def opens_at(self) -> float:
        """Return from when on the next request may go."""
        return max(self._next, self._hold_until)

    def note_sent(self, now: float) -> None:
        """Count a request."""
        self._sent_at = now
        self._next = now + max(self._spacing, 1 / self._rate)
        self._taken.append(now)
        self._forget(now)

    def note_answer(self, sent_at: float, now: float) -> None:
        """Grow; where nothing had been answered for a while, return to the rate before that."""
        self._n_in_vain, self._hold_until = 0, -math.inf
        self._round_trip = now - sent_at
        if sent_at <= self._shrunk_at:
            return  # it does not describe the rate since
        if self._n_shrunk > 1:
            self._rate = max(self._rate, self._rate_before)
        self._n_shrunk = 0
        low, high = NEAR
        is_near = low * self._too_high <= self._rate <= high * self._too_high
        self._rate *= GROW if is_near else GROW_FAR
        self._next = min(self._next, self._sent_at + max(self._spacing, 1 / self._rate))

    def note_busy(self, sent_at: float, wait: float | None, now: float) -> None:
        """Shrink after a request that was refused for load, and may say how long to wait."""
        if sent_at in self._taken:
            self._taken.remove(sent_at)
        self._forget(now)
        n_taken = len(self._taken)
        if self._rate == math.inf or sent_at <= self._learned_at:
            if self._rate == math.inf:
                self._learned_at = self._shrunk_at = now
                self._n_in_vain = 1
            self._rate = float(n_taken) or AT_FIRST
            self._rate_before = self._rate if n_taken else math.inf
            self._n_shrunk = 1
        elif sent_at > self._shrunk_at and now >= self._shrunk_at + self._round_trip:
            self._n_in_vain += 1
            self._rate = max(LEAST, min(self._rate * SHRINK, n_taken or self._rate / 2))
            if not self._n_shrunk:
                self._too_high, self._rate_before = self._rate / SHRINK, self._rate
            self._n_shrunk += 1
            self._shrunk_at = now
        self._next = max(self._next, now + 1 / self._rate)
        if wait and self._n_in_vain >= N_IN_VAIN:
            self._hold_until = now + min(wait, LONGEST_WAIT_SECONDS)

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0] < now - 1:
            self._taken.popleft()
