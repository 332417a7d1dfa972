"""When a judge makes no more calls: after failures that concern all of them, or by its budget."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from scorekit._judge.ledger import Ledger
from scorekit.errors import JudgeError

_STOPS = {401, 402}
"""Refusals of the key or its account, which every other call would meet."""

_BAD_REQUEST = 400

_COUNTS = {401, 402, 403, 404}
"""Refusals that stand for all where many pairs meet them; 401 and 402 of something in between."""

STANDS_FOR_ALL: Final = {_BAD_REQUEST, *_COUNTS}
"""The same, and bad requests, which do where they are refused in the same words."""

UNREAD_PAIRS: Final = 30
"""Pairs, at least, that are asked about in vain before a judge of which nothing was read ends."""

UNREAD_SHARE: Final = 3
"""The same as a multiple of how many are asked about at once."""


class Breaker:
    """
    Whether later calls would meet what earlier ones met, by status and type of the error alone.

    Args:
        n_at_once: As many pairs may be refused in a row, and no more.
    """

    def __init__(self, n_at_once: int) -> None:
        self._n_at_once = n_at_once
        self._broken: JudgeError | None = None
        self._pairs: dict[str | None, set[str]] = {}
        """Who met what since the last answer: by the message of a bad request, else None."""
        self._most_unread = max(UNREAD_PAIRS, UNREAD_SHARE * n_at_once)
        self._unread: set[str] = set()
        """The pairs whose answers could not be read, while none could be."""
        self.was_read = False
        """Whether an answer has ever been read."""

    def check(self) -> None:
        """Raise where an earlier answer showed that asking is useless."""
        if self._broken is not None:
            text = f"no more calls are made after: {self._broken.message}"
            raise JudgeError(self._broken.kind, f"{text}; mend that and make a new judge")

    def note_refusal(self, error: JudgeError, status: int, pair: str, *, is_own: bool) -> None:
        """Remember a refusal; *is_own*: the service gives the type of the error itself."""
        if status in _STOPS and is_own:
            self._broken = error
        elif status in STANDS_FOR_ALL:
            # An echo of the request or its length differs by pair; an empty account does not.
            what = error.message if status == _BAD_REQUEST else None
            self._pairs = {key: self._pairs.get(key, set()) for key in (None, what)}
            pairs = self._pairs[what]
            pairs.add(pair)
            if len(pairs) > self._n_at_once:
                self._broken = error

    def note_answer(self, pair: str, unread: JudgeError | None = None) -> None:
        """Remember an answer: the configuration works; *unread* says why it was of no use."""
        self._pairs.clear()
        if unread is None:
            self.was_read = True
        elif not self.was_read:
            self._unread.add(pair)
            if len(self._unread) >= self._most_unread and self._broken is None:
                text = f"{len(self._unread)} pairs were paid for, and no answer could be read"
                self._broken = JudgeError(unread.kind, f"{text}; the last: {unread.message}")

    def has_room(self, n_under_way: int) -> bool:
        """Return whether one more call, beside so many, can be made, and paid for, in vain."""
        n_refused = max(map(len, self._pairs.values()), default=0)
        if n_refused + n_under_way > self._n_at_once:
            return False
        return self.was_read or len(self._unread) + n_under_way < self._most_unread


class Budget(Ledger):
    """
    The calls and the money of a judge, and whether there is some left.

    What is under way counts at its highest cost, and so does what has ended at an unknown one.
    """

    def __init__(self, max_calls: int | None, max_cost_usd: float | None) -> None:
        super().__init__()
        self._max_calls = max_calls
        self._max_cost = math.inf if max_cost_usd is None else max_cost_usd
        self._spent = self._assumed = 0.0
        self._reserved: list[float] = []

    @property
    def n_under_way(self) -> int:
        """Return how many calls have begun and not ended."""
        return len(self._reserved)

    def has_room(self, most: float) -> bool:
        """Return whether a call fits beside all that are under way."""
        is_last = self._max_calls is not None and self.n_calls >= self._max_calls
        return not is_last and self._sum(most, self._reserved) <= self._max_cost

    def check(self, most: float) -> None:
        """Raise if a call of at most this cost does not fit beside what is spent."""
        if self.n_calls - len(self._reserved) == self._max_calls:
            text = f"max_calls={self._max_calls} calls have been made"
            raise JudgeError("budget", f"{text}; a new judge may make more")
        if self._sum(most) > self._max_cost:
            message = f"{self._spent:.6f} of max_cost_usd={self._max_cost:g} are spent"
            if self._assumed:
                message += f" ({self._assumed:.6f} of it at most, on calls without an answer)"
            raise JudgeError("budget", f"{message}, the next call may cost {most:.6f}")

    def _sum(self, most: float, others: Sequence[float] = ()) -> float:
        return math.fsum([self._spent, *others, most])

    def begin(self, most: float = 0.0) -> None:
        """Reserve the highest cost of a call."""
        super().begin(most)
        self._reserved.append(most)

    def end(
        self,
        cost_usd: float | None,
        usage: Mapping[str, int] | None,
        *,
        was_taken: bool = True,
        most: float = 0.0,
    ) -> None:
        """Replace a reservation by the cost of the call; keep it where the cost is not known."""
        super().end(cost_usd, usage, was_taken=was_taken)
        self._reserved.remove(most)
        self._spent += most if cost_usd is None else cost_usd
        self._assumed += most if cost_usd is None else 0.0
