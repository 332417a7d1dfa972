"""What has been ordered and not yet collected: notes that a disk keeps beyond the process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

from scorekit._judge.claims import POLL_SECONDS, Claims

if TYPE_CHECKING:
    from scorekit._judge.store import TextStore

PREFIX: Final = "order:"
CLAIM: Final = "claim of orders"
KEEP_SECONDS: Final = 30 * 86_400
"""How long a note is kept; services keep what was ordered for a shorter time."""


class Journal:
    """
    Notes by name, on disk where there is a store.

    A note whose answers have been taken is *finished*; it is dropped once they have been kept.
    Where the disk fails, notes are kept in memory.
    """

    def __init__(self, store: TextStore | None = None, claims: Claims | None = None) -> None:
        self._store = store
        self._claims = claims or Claims()
        self.kept: Callable[[Any], Any] = lambda _: None
        """Return the verdict on a request that has been kept meanwhile, None if there is none."""
        self._memory: dict[str, dict[str, Any]] = {}
        self._finished: set[str] = set()

    def notes(self) -> dict[str, dict[str, Any]]:
        """Return the notes whose answers have not been taken, by name."""
        found = dict(self._memory)
        if self._store is not None:
            with contextlib.suppress(OSError):
                for key in self._store.keys(PREFIX):
                    note = decoded(self._store.get(key))
                    if note is not None:
                        found[key.removeprefix(PREFIX)] = note
        return {name: note for name, note in found.items() if name not in self._finished}

    def write(self, name: str, note: dict[str, Any]) -> None:
        """Keep a note, in place of one of the same name."""
        if self._store is not None:
            with contextlib.suppress(OSError):
                expires_at = time.time() + KEEP_SECONDS
                self._store.put(PREFIX + name, json.dumps(note), expires_at=expires_at)
                return
        self._memory[name] = note

    def drop(self, name: str) -> None:
        """Forget a note."""
        self._memory.pop(name, None)
        if self._store is not None:
            with contextlib.suppress(OSError):
                self._store.remove(PREFIX + name)

    def finish(self, name: str) -> None:
        """Remember that the answers have been taken."""
        self._finished.add(name)

    def settle(self) -> None:
        """Forget what is finished: its answers have been kept."""
        while self._finished:
            self.drop(self._finished.pop())

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Let nobody else order: an order noted without a batch is of a process that died."""
        with contextlib.suppress(OSError):  # where there are no locks, nobody can be kept out
            while not self._claims.take(CLAIM):  # noqa: ASYNC110 - another process sets no event
                await asyncio.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            self._claims.release(CLAIM)

    def close(self) -> None:
        """Close this thread's connection to the disk."""
        if self._store is not None:
            self._store.close()


def decoded(text: str | None) -> dict[str, Any] | None:
    """Return the JSON object that *text* holds, None if it is anything else."""
    try:
        found = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


journal: ContextVar[Journal | None] = ContextVar("journal", default=None)
"""Where the running code notes what it orders."""
