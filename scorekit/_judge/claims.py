"""Who asks about a pair: of several processes that share a directory one, the others wait."""

from __future__ import annotations

import errno
import hashlib
import os
import sys
import threading
import weakref
from pathlib import Path
from typing import Final

NAME: Final = "claims"
"""Of the file whose bytes stand for keys."""

POLL_SECONDS: Final = 0.25
"""How often to look whether another process has given a key up."""

_N_BYTES: Final = 2**30 if sys.platform == "win32" else 2**62
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


class _File:
    """
    The one handle of a file in a process.

    The system's lock of a byte ends with the process that has it.  It does not keep threads of one
    process apart, which the table does, and to close any handle of the file drops all locks.
    """

    def __init__(self, file: int | None = None) -> None:
        self.file = file
        self.lock = threading.Lock()
        self.held: set[int] = set()
        self.n_users = 0

    def take(self, at: int) -> bool:
        with self.lock:
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

    def release(self, at: int) -> None:
        with self.lock:
            if at in self.held:
                self.held.discard(at)
                if self.file is not None:
                    _lock(self.file, at, is_held=False)


_files: dict[tuple[int, int], _File] = {}
_files_lock = threading.RLock()


def _opened(path: Path) -> _File:
    with _files_lock:
        try:
            found = path.lstat()
        except FileNotFoundError:
            pass
        else:
            known = _files.get((found.st_dev, found.st_ino))
            if known is not None:
                known.n_users += 1
                return known
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        file = os.open(path, flags, 0o600)
        status = os.fstat(file)
        opened = _files[status.st_dev, status.st_ino] = _File(file)
        opened.n_users = 1
        return opened


def _left(file: _File, held: set[int]) -> None:
    for at in list(held):
        file.release(at)
    with _files_lock:
        file.n_users -= 1
        if not file.n_users and file.file is not None:
            for identity, known in list(_files.items()):
                if known is file:
                    del _files[identity]
            os.close(file.file)
            file.file = None


def _start_anew() -> None:
    """In a forked process: the locks are the parent's, and so is what stands in the tables."""
    global _files_lock  # noqa: PLW0603 - a fork is the process's
    _files_lock = threading.RLock()
    for file in _files.values():
        file.lock, file.held = threading.Lock(), set()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


class Claims:
    """
    Keys that one user of a directory holds, against all others.

    Args:
        directory: Where the file is; None where nobody else has to know.

    Raises:
        OSError: If the file cannot be opened.
    """

    def __init__(self, directory: str | None = None) -> None:
        self._file = _File() if directory is None else _opened(Path(directory, NAME))
        self._held: set[int] = set()
        self.close = weakref.finalize(self, _left, self._file, self._held)
        """Give all up."""

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
            self._file.release(place)


def _place(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % _N_BYTES
