"""Which process asks about a pair: one of those that share a directory; the others wait."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import threading
import weakref
from collections.abc import Collection
from pathlib import Path
from typing import ClassVar, Final

from scorekit._judge.waiting import renew_in_forks

NAME: Final = "claims"
"""Name of the file whose bytes stand for keys."""

POLL_SECONDS: Final = 0.25
"""How often to look whether another process has given a key up."""

_N_BYTES: Final = 2**30 if sys.platform == "win32" else 2**62
_TRIAL: Final = "trial"
"""A key that nobody asks about, held for a moment."""

_HELD: Final = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int, at: int, *, is_held: bool) -> None:
        os.lseek(file, at, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK if is_held else msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int, at: int, *, is_held: bool) -> None:
        how = fcntl.LOCK_EX | fcntl.LOCK_NB if is_held else fcntl.LOCK_UN
        fcntl.lockf(file, how, 1, at)


class NoLocksError(OSError):
    """The file system has no locks, as NFS may have none."""


class _File:
    """
    The one handle of a file in a process.

    The system's lock of a byte ends with the process that has it.  It does not keep threads of one
    process apart, which the table does, and to close any handle of the file drops all locks.
    """

    known: ClassVar[dict[tuple[int, int], _File]] = {}
    guard: ClassVar = threading.RLock()

    def __init__(self, file: int | None = None) -> None:
        self.file = file
        self.held: set[int] = set()
        self.n_users = 1

    def take(self, at: int) -> bool:
        with self.guard:
            if at in self.held:
                return False
            if self.file is not None:
                try:
                    _lock(self.file, at, is_held=True)
                except OSError as error:
                    if error.errno in _HELD:
                        return False
                    raise
            self.held.add(at)
            return True

    def release(self, held: Collection[int]) -> None:
        with self.guard:
            for at in self.held.intersection(held):
                self.held.discard(at)
                if self.file is not None:
                    _lock(self.file, at, is_held=False)

    @classmethod
    def opened(cls, path: Path) -> _File:
        with cls.guard:
            if path.exists():
                found = path.lstat()
                known = cls.known.get((found.st_dev, found.st_ino))
                if known is not None:
                    known.n_users += 1
                    return known
            file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
            status = os.fstat(file)
            return cls.known.setdefault((status.st_dev, status.st_ino), cls(file))

    def left(self, held: Collection[int]) -> None:
        with self.guard:
            self.release(held)
            self.n_users -= 1
            if not self.n_users and self.file is not None:
                status = os.fstat(self.file)
                del self.known[status.st_dev, status.st_ino]
                os.close(self.file)
                self.file = None

    @classmethod
    def renew(cls) -> None:
        """The locks are the parent's, and so is what stands in the tables."""
        cls.guard = threading.RLock()
        for file in cls.known.values():
            file.held = set()


renew_in_forks(_File, lambda cls: cls.renew())


class Claims:
    """
    Keys that one user of a directory holds, so that no other can.

    Args:
        directory: Where the file is; None where nobody else has to know.

    Raises:
        NoLocksError: If the file system has no locks.
        OSError: If the file cannot be opened.
    """

    def __init__(self, directory: str | None = None) -> None:
        self._file = _File() if directory is None else _File.opened(Path(directory, NAME))
        self._held: set[int] = set()
        self.close = weakref.finalize(self, self._file.left, self._held)
        """Give all up."""
        if directory is not None:
            self._try_a_lock()

    def _try_a_lock(self) -> None:
        try:
            self.take(_TRIAL)
        except OSError as error:
            self.close()
            raise NoLocksError(*error.args) from error
        self.release(_TRIAL)

    def take(self, key: str) -> bool:
        """
        Hold *key*, unless somebody holds it.

        Raises:
            OSError: If the file system has no locks.
        """
        place = _place(key)
        is_free = self._file.take(place)
        if is_free:
            self._held.add(place)
        return is_free

    def release(self, key: str) -> None:
        """Give *key* up."""
        place = _place(key)
        if place in self._held:
            self._held.discard(place)
            self._file.release({place})


def _place(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % _N_BYTES
