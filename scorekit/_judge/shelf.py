"""What is kept for a while: in memory, and as text on disk where there is a directory."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from scorekit._judge.claims import POLL_SECONDS, Claims
from scorekit._judge.journal import Journal

if TYPE_CHECKING:
    from scorekit._judge.store import TextStore

T = TypeVar("T")

SCHEMA: Final = 3
"""Version of keys and of what is stored; what another version has written is not read."""

TRIES: Final = 5
"""Times to wait for a database that is busy before a verdict is written later."""

PURGES_PER_LIFETIME: Final = 24
"""How often what has expired is deleted from disk, at the default hourly."""

_log = logging.getLogger(__name__)


@attrs.frozen
class _Row:
    kept_at: float
    value: Any


class Shelf:
    """
    Values by key, in memory and on disk.

    If the disk fails, *warn* is called once, and what is new stays in memory.

    Args:
        directory: Where the disk is; None for memory alone.
        seconds: How long a value is used.
        clock: Returns the time.
        max_rows: Values held in memory; the one unused for longest goes first.
        warn: Hears what is wrong with the disk.
    """

    def __init__(
        self,
        directory: Path | None,
        seconds: float,
        clock: Callable[[], float],
        max_rows: int,
        warn: Callable[[str], object],
    ) -> None:
        self._directory = directory
        self._seconds = seconds
        self._clock = clock
        self._max_rows = max_rows
        self._warn = warn
        self._rows: OrderedDict[str, _Row] = OrderedDict()
        self._purged_at = -math.inf
        self._is_warned = False
        self._disk: TextStore | None = None
        self._late: dict[str, tuple[str, float]] = {}
        """What is still to be written, for a database that was busy: text and when it expires."""
        self._is_writing = False
        """Whether a thread tries again and again to write that."""
        self._claims: Claims | None = None
        """Those of this process; None where nothing can be written."""
        self.renew()
        if directory is not None:
            self._open(directory)

    def renew(self) -> None:
        """Make what a fork leaves unusable: a lock may be held by a thread that is not there."""
        self._thread = threading.get_ident()
        self._lock = threading.Lock()

    def _open(self, directory: Path) -> None:
        from scorekit._judge.store import TextStore

        try:
            self._disk = TextStore(directory)
        except OSError as error:
            self._tell(error)
            return
        self._claims = self._disk.claims
        if self._disk.refusal is not None:
            self._tell(self._disk.refusal)
        self._purge(self._clock())

    # Values.

    def recall(self, key: str) -> Any:
        """Return what memory holds under *key*, or None."""
        if key not in self._rows:
            return None
        now = self._clock()
        with self._lock:
            row = self._rows.get(key)
            if row is not None and self._is_fresh(row, now):
                self._rows.move_to_end(key)
                return row.value
            self._rows.pop(key, None)
        return None

    def read(self, key: str, decode: Callable[[Any], Any]) -> Any:
        """Return what the disk holds under *key*, or None unless all of it is right."""
        if self._disk is None:
            return None
        try:
            text = self._tried(lambda disk: disk.get(key))
            found = json.loads(text or "null")
            if found["v"] != SCHEMA or found["k"] != key or type(found["t"]) not in {int, float}:
                return None
            row = _Row(float(found["t"]), decode(found))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        if not self._is_fresh(row, self._clock()):
            return None
        self._remember(key, row)
        return row.value

    def keep(self, key: str, value: Any, encode: Callable[[Any], Mapping[str, Any]]) -> None:
        """Keep a value, on disk as well if what *encode* makes of it is JSON and not too long."""
        row = _Row(self._clock(), value)
        self._remember(key, row)
        if self._claims is None:
            return
        from scorekit._judge.store import MAX_TEXT

        try:
            text = json.dumps({"v": SCHEMA, "k": key, "t": row.kept_at, **encode(value)})
        except (TypeError, ValueError, RecursionError) as error:
            _log.warning("a verdict stays in memory, it is no JSON: %s", error)
            return
        if len(text) > MAX_TEXT:
            _log.warning("a verdict stays in memory, it has %d characters", len(text))
            return
        is_first = not self._late
        self._late[key] = text, row.kept_at + self._seconds
        self._is_writing |= is_first
        for _ in range(TRIES if is_first else 1):
            self._write_late()
            if not self._late:
                break
        self._is_writing &= not is_first
        self._purge(row.kept_at)

    def _write_late(self) -> None:
        """Write what is still to be written, as far as the database allows."""
        for key, (text, expires_at) in list(self._late.items()):
            put = partial(_put, key=key, text=text, expires_at=expires_at)
            if not self._tried(put, writes=True) and self._claims is not None:
                return
            self._late.pop(key, None)

    async def keep_all(
        self, values: Mapping[str, Any], encode: Callable[[Any], Mapping[str, Any]]
    ) -> None:
        """Keep values where another program's lock on the disk keeps no event loop waiting."""

        def keep() -> None:
            for key, value in values.items():
                self.keep(key, value, encode)
            self.leave()

        if self._disk is None:
            keep()
        else:
            await asyncio.to_thread(keep)

    def _is_fresh(self, row: _Row, now: float) -> bool:
        return abs(now - row.kept_at) < self._seconds  # a clock may be set back

    def _remember(self, key: str, row: _Row) -> None:
        with self._lock:
            self._rows[key] = row
            self._rows.move_to_end(key)
            if len(self._rows) > self._max_rows:
                self._rows.popitem(last=False)

    # Who finds a value out.

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncGenerator[None]:
        """Wait until no other process is about to find out what belongs under *key*."""
        claims = self._claims or Claims()
        while self._tried(lambda _: claims.take(key), writes=True) is False:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
        try:
            yield
            while key in self._late and self._is_writing:  # noqa: ASYNC110 - a thread writes
                await asyncio.sleep(POLL_SECONDS)  # until others can find what was found out
        finally:
            claims.release(key)

    def journal(self) -> Journal | None:
        """Return where to note what is ordered; None where there is no disk to write on."""
        return None if self._claims is None else Journal(self._disk, self._claims)

    # The disk.

    def _tried(self, use: Callable[[TextStore], T], *, writes: bool = False) -> T | None:
        """
        Return what the disk has; None where it cannot be used (any more).

        What cannot be written may still be read.
        """
        disk = self._disk
        if disk is None or (writes and self._claims is None):
            return None
        try:
            return use(disk)
        except OSError as error:
            from scorekit._judge.store import BusyError

            if isinstance(error, BusyError):
                return None  # later
            with self._lock:
                if self._disk is not disk:
                    return None  # closed, or given up by another thread
                self._claims = None
                self._disk = disk if writes else None
            if not writes:
                disk.close()
            self._tell(error)
            return None

    def _tell(self, error: OSError) -> None:
        with self._lock:
            was_warned, self._is_warned = self._is_warned, True
        if not was_warned:
            self._warn(f"verdicts are kept in memory, not in {self._directory}: {error}")

    def _purge(self, now: float) -> None:
        if not 0 <= now - self._purged_at < self._seconds / PURGES_PER_LIFETIME:
            self._purged_at = now
            self._tried(lambda disk: disk.purge(now), writes=True)

    def leave(self) -> None:
        """Close this thread's connection: most threads that wait for a judge do not live on."""
        disk = self._disk
        if disk is not None and threading.get_ident() != self._thread:
            disk.close()

    def close(self) -> None:
        """Close the disk; values are kept in memory from then on."""
        self._write_late()
        disk, self._disk = self._disk, None
        claims, self._claims = self._claims, None
        if claims is not None:
            claims.close()
        if disk is not None:
            disk.close()


def _put(disk: TextStore, *, key: str, text: str, expires_at: float) -> bool:
    disk.put(key, text, expires_at=expires_at)
    return True
