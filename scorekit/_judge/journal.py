"""What has been ordered and not yet collected: notes that a disk keeps beyond the process."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Generator, Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from scorekit._judge.store import TextStore

NAMES: Final = "orders"
"""Under which the names of all notes are kept: a look through the whole store would take long."""

PREFIX: Final = "order:"
KEEP_SECONDS: Final = 30 * 86_400
"""How long a note is kept; services keep what was ordered for a shorter time."""


class Journal:
    """
    Notes by name, on disk where there is a store.

    A note whose answers have been taken is *finished*; it is dropped once they have been kept.
    Where the disk fails, notes are kept in memory.
    """

    def __init__(self, store: TextStore | None = None) -> None:
        self._store = store
        self._memory: dict[str, dict[str, Any]] = {}
        self._finished: list[str] = []

    def notes(self) -> dict[str, dict[str, Any]]:
        """Return the notes whose answers have not been taken, by name."""
        found = dict(self._memory)
        if self._store is not None:
            with contextlib.suppress(OSError):
                for name in self._names(self._store):
                    note = _decoded(self._store.get(PREFIX + name))
                    if note is not None:
                        found[name] = note
        return {name: note for name, note in found.items() if name not in self._finished}

    def _names(self, store: TextStore) -> list[str]:
        return list(_decoded(store.get(NAMES)) or {})

    def write(self, name: str, note: dict[str, Any]) -> None:
        """Keep a note, in place of one of the same name."""
        if self._store is not None:
            with contextlib.suppress(OSError), self._store.alone():
                self._put(self._store, PREFIX + name, note)
                names = self._names(self._store)
                if name not in names:
                    self._put(self._store, NAMES, dict.fromkeys([*names, name]))
                return
        self._memory[name] = note

    def _put(self, store: TextStore, key: str, value: object) -> None:
        store.put(key, json.dumps(value), expires_at=time.time() + KEEP_SECONDS)

    def drop(self, dropped: Iterable[str]) -> None:
        """Forget notes."""
        for name in dropped:
            self._memory.pop(name, None)
            if self._store is not None:
                with contextlib.suppress(OSError), self._store.alone():
                    self._store.remove(PREFIX + name)
                    names = [other for other in self._names(self._store) if other != name]
                    self._put(self._store, NAMES, dict.fromkeys(names))

    def finish(self, name: str) -> None:
        """Remember that the answers have been taken."""
        self._finished.append(name)

    def settle(self) -> None:
        """Forget what is finished: its answers have been kept."""
        self.drop(self._finished)
        self._finished = []

    @contextlib.contextmanager
    def alone(self) -> Generator[None]:
        """Keep other processes from reading and writing notes meanwhile."""
        with contextlib.ExitStack() as stack:
            if self._store is not None:
                with contextlib.suppress(OSError):
                    stack.enter_context(self._store.alone())
            yield

    def close(self) -> None:
        """Close this thread's connection to the disk."""
        if self._store is not None:
            self._store.close()


def _decoded(text: str | None) -> dict[str, Any] | None:
    """Return what a row holds if it is one of ours: nobody else may write there."""
    try:
        found = json.loads(text or "null")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


journal: ContextVar[Journal | None] = ContextVar("journal", default=None)
"""Where the running code notes what it orders."""
