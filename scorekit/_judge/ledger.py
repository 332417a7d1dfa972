"""What asking has cost: calls, tokens and money, of one judge or of one run."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Mapping
from contextvars import ContextVar


class Ledger:
    """
    Calls that a service took, and what they cost.

    Args:
        wholes: What all of it is a part of, and written into as well.
    """

    def __init__(self, *wholes: Ledger | None) -> None:
        self._wholes = [whole for whole in wholes if whole is not None]
        self._lock = threading.Lock()
        self._n_unknown = 0
        self._costs: list[float] = []
        self.tokens: Counter[str] = Counter()
        """By kind."""
        self.n_calls = 0
        """Calls under way included."""

    @property
    def cost_usd(self) -> float | None:
        """The cost of all calls; None if that of one is not known (yet)."""
        with self._lock:
            return None if self._n_unknown else math.fsum(self._costs)

    def begin(self, most: float = 0.0) -> None:
        """Note a call that is sent, and the most that it can cost; `end` notes the actual cost."""
        with self._lock:
            self.n_calls += 1
            self._n_unknown += 1
        for whole in self._wholes:
            whole.begin(most)

    def end(
        self,
        cost_usd: float | None,
        usage: Mapping[str, int] | None,
        *,
        was_taken: bool = True,
        most: float = 0.0,
    ) -> None:
        """Note what a call cost, or that the service did not accept it."""
        with self._lock:
            self.n_calls -= not was_taken
            if cost_usd is not None:
                self._n_unknown -= 1
                self._costs.append(cost_usd)
            self.tokens.update({kind: n for kind, n in (usage or {}).items() if type(n) is int})
        for whole in self._wholes:
            whole.end(cost_usd, usage, was_taken=was_taken, most=most)


ledger: ContextVar[Ledger | None] = ContextVar("ledger", default=None)
"""Where the running code writes down what it pays."""
