"""Short text on disk for a while: diskcache without pickle, compression or files of its own."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from scorekit._judge.claims import Claims, NoLocksError
from scorekit.errors import MissingExtraError

try:
    diskcache: Any = import_module("diskcache")  # it ships no types
except ImportError:
    raise MissingExtraError("judge", "diskcache") from None

T = TypeVar("T")

MAX_TEXT: Final = 1 << 20
"""Longest text that is written or read, in characters."""

LAYOUT: Final = "v1"
"""Subdirectory; another layout of the rows would get another one."""

TIMEOUT_SECONDS: Final = 2.0
"""How long to wait for a lock that another process holds."""

SETTINGS: Final = {
    "eviction_policy": "none",  # the default one drops entries at a size limit, silently
    "size_limit": 2**62,
    "cull_limit": 10,
    "statistics": 0,
    "tag_index": 0,
    "sqlite_journal_mode": "wal",
    "sqlite_synchronous": 1,
    "sqlite_mmap_size": 0,  # a file cut short while mapped would end the process
}

# diskcache compares expiry times with the system's clock and drops a row that is past it.  Ours
# may be any clock, so they are moved out of its reach, and `purge` moves them back.
_BEYOND: Final = 2.0**40

_READ: Final = (
    "SELECT value FROM Cache WHERE key = ? AND raw = 1 AND filename IS NULL AND mode = ?"
)

_KEYS: Final = "SELECT key FROM Cache WHERE key >= ? AND key < ? AND raw = 1"

_SETTING_NAMES: Final = {*diskcache.DEFAULT_SETTINGS, "count", "size", "hits", "misses"}


_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


class StoreError(OSError):
    """The directory cannot be used (any more); the message says why."""


class BusyError(StoreError):
    """Another process has kept the database to itself for too long: later it may be free."""


class UnsafeRowError(ValueError):
    """A row holds something else than short text."""


class TextDisk(diskcache.Disk):  # type: ignore[misc]  # an untyped base
    """
    How a row becomes a value: only if it is text and short.

    No method calls its base, which would unpickle, decompress, and open and delete the files that
    a row names.
    """

    def put(self, key: object) -> tuple[str, bool]:
        """Return the key as it is stored."""
        if type(key) is not str:
            raise TypeError("a key must be a string")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return a stored key."""
        if not raw or type(key) is not str:
            raise UnsafeRowError("a key that is not text")
        return key

    def store(self, value: object, read: object, key: object = None) -> tuple[int, int, None, str]:
        """Return the columns that hold *value*."""
        del key
        if read or type(value) is not str or len(value) > MAX_TEXT:
            raise TypeError("a value must be short text")
        return 0, diskcache.core.MODE_RAW, None, value

    def fetch(self, mode: object, filename: object, value: object, read: object) -> str:
        """Return the value that columns hold."""
        if (
            read
            or mode != diskcache.core.MODE_RAW
            or filename is not None
            or type(value) is not str
            or len(value) > MAX_TEXT
        ):
            raise UnsafeRowError("a value that is not short text")
        return value

    def filename(self, key: object = None, value: object = None) -> NoReturn:
        """Refuse: there are no files."""
        raise UnsafeRowError(f"a file for {key!r}, {value!r}")

    def remove(self, file_path: object) -> None:
        """Keep whatever file a row names."""


class TextStore:
    """
    Text under string keys in a private directory; every failure is a `StoreError`.

    Safe to use from several threads and processes and after a fork.  Nothing that was found in
    the directory is ever deleted, but for entries that expired.  What can only be read is read:
    *refusal* then says why nothing can be written.
    """

    def __init__(self, directory: Path) -> None:
        self.path = os.fspath(directory / LAYOUT)
        self._database = os.path.join(self.path, "cache.db")  # noqa: PTH118 - what lstat takes
        self.refusal: StoreError | None = None
        self.claims: Claims | None = None
        """Of what is asked for; None where nothing can be written."""
        try:
            self._cache: Any = _guarded(lambda: self._open(directory))
        except StoreError as error:
            if isinstance(error.__cause__, NoLocksError):
                raise  # SQLite would go on asking for one, also to read
            self.refusal = error
            try:
                self._cache = _guarded(self._open_to_read)
            except StoreError:
                raise error from None

    def _open(self, directory: Path) -> Any:
        if os.path.expandvars(self.path) != self.path:
            raise ValueError(f"{self.path} holds the name of an environment variable")
        directory.parent.mkdir(parents=True, exist_ok=True)
        _make_private(directory, stat.S_IWOTH)
        _make_private(directory / LAYOUT, stat.S_IWOTH | stat.S_IWGRP)
        claims = Claims(self.path)
        _create_private(self._database)
        with contextlib.suppress(FileNotFoundError):
            _identity(self._database)  # what it is has to be known before it is opened
        _probe(self._database)
        self._identity = _identity(self._database)
        cache = diskcache.Cache(self.path, timeout=TIMEOUT_SECONDS, disk=TextDisk, **SETTINGS)
        self._check_unmoved()
        self.claims = claims
        return cache

    def _open_to_read(self) -> _ReadOnlyDatabase:
        self._identity = _identity(self._database)
        _check_directory(Path(self.path).parent, stat.S_IWOTH)
        _check_directory(Path(self.path), stat.S_IWOTH | stat.S_IWGRP)
        return _ReadOnlyDatabase(self._database)

    def _check_unmoved(self) -> None:
        """Refuse to go on where the database was removed or replaced: writes would be lost."""
        found = os.lstat(self._database)
        if (found.st_dev, found.st_ino) != self._identity:
            raise FileNotFoundError(f"{self._database} was replaced while it was open")

    def get(self, key: str) -> str | None:
        """Return the text under *key*, None if there is none or the row is not to be trusted."""
        return _guarded(lambda: self._get(key))

    def _get(self, key: str) -> str | None:
        self._check_unmoved()
        try:
            text: str | None = self._cache.get(key)
        except UnsafeRowError:
            return None
        return text

    def put(self, key: str, text: str, *, expires_at: float) -> None:
        """Keep *text* under *key* until `purge` is called with a time after *expires_at*."""
        _guarded(lambda: self._put(key, text, expires_at))

    def _put(self, key: str, text: str, expires_at: float) -> None:
        self._check_unmoved()
        self._cache.set(key, text, expire=_BEYOND + expires_at - time.time())

    def purge(self, now: float) -> None:
        """Delete what expired before *now*."""
        _guarded(lambda: self._purge(now))

    def _purge(self, now: float) -> None:
        while self._cache.expire(_BEYOND + now):
            pass  # one pass leaves some of the rows that expire at the same moment

    def keys(self, prefix: str = "") -> list[str]:
        """Return all keys that begin with *prefix*."""
        return _guarded(lambda: self._keys(prefix))

    def _keys(self, prefix: str) -> list[str]:
        self._check_unmoved()
        rows = self._cache._sql(_KEYS, (prefix, prefix + chr(sys.maxunicode)))  # noqa: SLF001
        return [key for (key,) in rows]

    def remove(self, key: str) -> None:
        """Forget what is under *key*, if anything is."""
        _guarded(lambda: self._cache.delete(key))

    def close(self) -> None:
        """Close this thread's connection; the next use in this thread opens another."""
        with contextlib.suppress(Exception):
            self._cache.close()


class _ReadOnlyDatabase:
    """A database that cannot be written: what diskcache does to read needs none of it."""

    def __init__(self, database: str) -> None:
        address = Path(database).as_uri() + "?mode=ro"
        try:
            self._connection = _connected(address)
        except sqlite3.Error:  # where even the files beside it cannot be made, nobody else writes
            self._connection = _connected(address + "&immutable=1")
        self._sql = self._connection.execute

    def get(self, key: str) -> object:
        """Return the text under *key*, None unless there is short text."""
        row = self._sql(_READ, (key, diskcache.core.MODE_RAW)).fetchone()
        return row[0] if row and type(row[0]) is str and len(row[0]) <= MAX_TEXT else None

    def close(self) -> None:
        """Stay open: the connection is that of all threads."""


def _connected(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        address, timeout=TIMEOUT_SECONDS, uri=True, check_same_thread=False, isolation_level=None
    )
    try:
        _check_layout(connection, address)
        connection.execute("SELECT count(*) FROM Cache").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _guarded(use: Callable[[], T]) -> T:
    try:
        return use()
    except Exception as error:  # sqlite3 and diskcache raise anything for a database that is odd
        code = getattr(error, "sqlite_errorcode", 0) & 255
        is_busy = isinstance(error, diskcache.Timeout) or code in _BUSY
        kind = BusyError if is_busy else StoreError
        raise kind(f"{type(error).__name__}: {error}".rstrip(": ")) from error


def _make_private(directory: Path, others: int) -> None:
    """Make *directory* for its owner alone; refuse one that *others* (mode bits) may change."""
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    _check_directory(directory, others)


def _check_directory(directory: Path, others: int) -> None:
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{directory} is no directory, or a link to one")
    _check_owner(directory, found, others)


def _create_private(database: str) -> None:
    """
    Make the file for its owner alone; those beside it will take its mode.

    Only where there is none: to close a file drops every lock that this process has on it.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(database, os.O_CREAT | os.O_EXCL, 0o600))


def _identity(database: str) -> tuple[int, int]:
    """Return which file it is; refuse one that others may have written."""
    found = os.lstat(database)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{database} is no regular file")
    _check_owner(database, found, stat.S_IWOTH | stat.S_IWGRP)
    return found.st_dev, found.st_ino


def _check_owner(path: Path | str, found: os.stat_result, others: int) -> None:
    if os.name != "posix":  # owner and mode bits say nothing there
        return
    if found.st_uid != os.geteuid() or found.st_mode & others:
        mode = stat.S_IMODE(found.st_mode)
        raise PermissionError(
            f"{path} must be yours and writable by nobody else, "
            f"got owner {found.st_uid} and mode {mode:o}"
        )


def _probe(database: str) -> None:
    """
    Refuse a database that is locked, or not of our making.

    diskcache would wait for a lock for 60 s a statement, add its tables to a stranger's database,
    and take attributes of its own from the rows of Settings.
    """
    connection = sqlite3.connect(database, timeout=TIMEOUT_SECONDS, isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("BEGIN IMMEDIATE")
        _check_layout(connection, database)
        connection.execute("ROLLBACK")


def _check_layout(connection: sqlite3.Connection, database: str) -> None:
    found = _layout(connection)
    ours = _own_layout() if found else {}
    if not found.keys() <= ours.keys():
        raise ValueError(f"{database} holds other tables than ours")
    for name, sql in found.items():
        if sql != ours[name]:  # a trigger or a CHECK, say, can make a statement run for ever
            raise ValueError(f"{database} has another layout of {name}")
    if "Settings" in found:
        keys = {key for (key,) in connection.execute("SELECT key FROM Settings")}
        if not keys <= _SETTING_NAMES:
            raise ValueError(f"{database} holds other settings than ours")


def _layout(connection: sqlite3.Connection) -> dict[object, object]:
    """Return the SQL of every table, index and trigger that was made by a statement, by name."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return dict(rows.fetchall())


@functools.cache
def _own_layout() -> dict[object, object]:
    """Return what diskcache makes of an empty directory."""
    with tempfile.TemporaryDirectory() as directory:
        diskcache.Cache(directory, disk=TextDisk, **SETTINGS).close()
        database = os.path.join(directory, "cache.db")  # noqa: PTH118 - as above
        with contextlib.closing(sqlite3.connect(database)) as connection:
            return _layout(connection)
