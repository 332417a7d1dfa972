"""Who asks about a pair: of several processes that share a store, one does and the others wait."""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

if TYPE_CHECKING:
    from scorekit._judge.store import TextStore

RENEW_SECONDS: Final = 1.0
"""How often a process that asks gives a sign of life."""

LAPSE_SECONDS: Final = 5.0
"""Time without one after which what it has claimed is free."""

LINGER_SECONDS: Final = 5.0
"""Time without claims after which the thread that gives signs of life ends."""

FORGOTTEN_SECONDS: Final = 86_400.0
"""Age at which the sign of a process that was killed is removed."""


class Claims:
    """
    The claims of one process, which stand in the store where the verdicts will.

    A sign of life is a file that is touched.  How long ago that was is seen by its change, on this
    process's own clock: those of others may be set, or differ.

    Args:
        store: Where they are kept.
        expires_at: Returns when what is written may be purged.
    """

    def __init__(self, store: TextStore, expires_at: Callable[[], float]) -> None:
        self._store = store
        self._expires_at = expires_at
        self._owner = uuid4().hex
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()
        self._seen: dict[str, tuple[int, float]] = {}

    def take(self, key: str) -> bool:
        """
        Claim *key*, unless somebody alive has claimed it.

        Raises:
            OSError: If the store cannot be written.
        """
        with self._lock:
            self._held.add(key)
            if self._thread is None:
                self._tidy()
                self._give_sign()
                self._thread = threading.Thread(target=self._live, daemon=True)
                self._thread.start()
        is_free = False
        try:
            with self._store.alone():
                text = self._store.get(key)
                owner = None if text is None else _owner(text)
                is_free = owner is None or owner == self._owner or not self._is_alive(owner)
                if is_free and (text is None or owner):  # a verdict gives way to another only
                    note = json.dumps({"claim": self._owner})
                    self._store.put(key, note, expires_at=self._expires_at())
        finally:
            if not is_free:
                self.leave(key)
        return is_free

    def release(self, key: str) -> None:
        """Give a claim up where there is no verdict."""
        with contextlib.suppress(OSError), self._store.alone():
            if _owner(self._store.get(key) or "") == self._owner:
                self._store.remove(key)
        self.leave(key)

    def leave(self, key: str) -> None:
        """Forget a claim, which the verdict has replaced."""
        with self._lock:
            self._held.discard(key)

    def close(self) -> None:
        """End the thread; what is claimed lapses."""
        self._closed.set()

    def _sign(self, owner: str) -> Path:
        return Path(self._store.path, f"alive-{owner}")

    def _is_alive(self, owner: str) -> bool:
        try:
            sign, now = self._sign(owner).lstat().st_mtime_ns, time.monotonic()
        except OSError:  # it has been removed, or never given
            return False
        if owner not in self._seen or self._seen[owner][0] != sign:
            self._seen[owner] = sign, now
        return now < self._seen[owner][1] + LAPSE_SECONDS

    def _give_sign(self) -> None:
        with contextlib.suppress(OSError):
            self._sign(self._owner).touch(mode=0o600)

    def _tidy(self) -> None:
        with contextlib.suppress(OSError):
            for sign in Path(self._store.path).glob("alive-*"):
                if sign.lstat().st_mtime < time.time() - FORGOTTEN_SECONDS:
                    sign.unlink()

    def _live(self) -> None:
        idle_since = time.monotonic()
        while not self._closed.wait(RENEW_SECONDS):
            with self._lock:
                if self._held:
                    idle_since = time.monotonic()
                elif time.monotonic() > idle_since + LINGER_SECONDS:
                    break
                self._give_sign()
        with self._lock:
            self._thread = None
            with contextlib.suppress(OSError):
                self._sign(self._owner).unlink()


def _owner(text: str) -> str | None:
    """Return whose claim a row is, None for a verdict."""
    try:
        row: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    owner = cast("dict[str, Any]", row).get("claim") if isinstance(row, dict) else None
    return owner if isinstance(owner, str) and re.fullmatch("[0-9a-f]{32}", owner) else None
