"""Judges around a judge: one asks once and remembers (`CachedJudge`), one takes a vote."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import math
import os
import threading
import time
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, cast

import attrs

from scorekit._checks import check_callable, check_count, check_number, check_text
from scorekit._judges import Judge, JudgeRequest, Verdict, as_verdict, keeps_limit
from scorekit._keys import key_of
from scorekit._records import Record
from scorekit._single_flight import SingleFlight
from scorekit._voting import VotingJudge, checked_judge
from scorekit.errors import refuse

if TYPE_CHECKING:
    from scorekit._text_disk import TextStore

__all__ = ["CacheStatistics", "CacheWarning", "CachedJudge", "VotingJudge"]

SCHEMA: Final = 1
"""Version of the key and of what is stored; verdicts of another version are not read."""

MAX_STEP_BACK_SECONDS: Final = 60.0
"""How far in the future a verdict may have been given: clocks are set, and differ."""

PURGES_PER_LIFETIME: Final = 24
"""How often expired verdicts are deleted from disk, at the default hourly."""

_log = logging.getLogger(__name__)


class CacheWarning(UserWarning):
    """
    A cache on disk cannot be used (any more); verdicts are kept in memory.

    Given at most once by each `CachedJudge`.

    Examples:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("error", CacheWarning)  # raise rather than go on
    """


@attrs.frozen(kw_only=True)
class CacheStatistics(Record):
    """What a `CachedJudge` has been asked since it was made."""

    n_hits: int
    """Requests answered from memory or disk."""
    n_disk_hits: int
    """Those of them that came from disk."""
    n_misses: int
    """Calls to the judge, failed ones included."""
    n_shared: int
    """Requests answered by a call that was under way already."""
    n_calls_saved: int
    """*n_hits* + *n_shared*."""


class CachedJudge:
    """
    Ask a judge once about each pair, however many ask at the same time, and remember the verdict.

    Verdicts are kept in memory, and on disk when a directory is named: as text in one SQLite
    database that processes may share.  A verdict is found again for the same request (every field
    of `JudgeRequest`) to a judge of the same `identity`; it comes back with ``cached=True``.
    Errors are raised to all who asked and never kept.  A directory that cannot be used safely, or
    fails later, gives one `CacheWarning`; from then on verdicts are kept in memory alone.  Safe to
    use from threads, event loops and after a fork; a pickle holds the arguments, not the verdicts.

    Args:
        judge: The judge to ask.
        directory: Where to keep verdicts; None keeps them in memory only.  It is made if it does
            not exist, for its owner alone.
        ttl_seconds: How long a verdict is used (``> 0``); a day by default.
        clock: Returns the time in seconds since the epoch.
        max_entries: Verdicts held in memory (count, ``>= 1``); the one unused for longest goes
            first.

    Raises:
        InputError: If *directory* is empty, or *ttl_seconds* or *max_entries* out of range.
        MissingExtraError: If *directory* is given and diskcache is not installed.
        TypeError: If *judge* is not a `Judge`, or another argument has the wrong type.

    Examples:
        >>> from scorekit import judge_from_function, query_correctness
        >>> judge = CachedJudge(judge_from_function(lambda pair: 0.5, identity="always half"))
        >>> pair = ("SELECT a FROM t", "SELECT b FROM t")
        >>> [query_correctness(*pair, judge=judge).cached for _ in range(3)]
        [False, True, True]
        >>> judge.stats.n_misses, judge.stats.n_calls_saved
        (1, 2)
        >>> CachedJudge("claude")
        Traceback (most recent call last):
        ...
        TypeError: judge must be a Judge (see judge_from_function), got 'claude'

    .. versionadded:: 0.1.0
    """

    def __init__(
        self,
        judge: Judge,
        *,
        directory: str | os.PathLike[str] | None = None,
        ttl_seconds: float = 86_400,
        clock: Callable[[], float] = time.time,
        max_entries: int = 100_000,
    ) -> None:
        self._judge = checked_judge(judge)
        self._directory = None if directory is None else _checked_directory(directory)
        self._ttl = check_number("ttl_seconds", ttl_seconds, 0.0, open_ends=True)
        check_callable("clock", clock)
        self._clock = clock
        self._max_entries = check_count("max_entries", max_entries, 1)
        self._entries: OrderedDict[str, tuple[float, Verdict]] = OrderedDict()
        self._counts: Counter[str] = Counter()
        self._purged_at = -math.inf
        self._renew()
        self._store = self._open()

    def _renew(self) -> None:
        """Make what a fork leaves unusable: a lock may be held by a thread that is not there."""
        self._thread = threading.get_ident()
        self._lock = threading.Lock()
        self._flight = SingleFlight(self._recall)
        self._pid = os.getpid()  # last: who sees it goes on to use the others

    def __reduce__(self) -> tuple[Callable[[Judge], CachedJudge], tuple[Judge]]:
        """Pickle the arguments."""
        make = functools.partial(
            CachedJudge,
            directory=self._directory,
            ttl_seconds=self._ttl,
            clock=self._clock,
            max_entries=self._max_entries,
        )
        return make, (self._judge,)

    def __repr__(self) -> str:
        """Show the arguments that matter."""
        return f"CachedJudge({self._judge!r}, directory={self._directory!r})"

    @property
    def identity(self) -> str:
        """That of the judge, since remembering does not change verdicts."""
        return self._judge.identity

    @property
    def stats(self) -> CacheStatistics:
        """Hits, misses and calls saved so far."""
        counts = self._counts.copy()
        return CacheStatistics(
            n_hits=counts["hits"],
            n_disk_hits=counts["disk_hits"],
            n_misses=counts["misses"],
            n_shared=counts["shared"],
            n_calls_saved=counts["hits"] + counts["shared"],
        )

    @property
    def keeps_limit(self) -> bool:
        """Whether the judge keeps its callers' limit by itself."""
        return keeps_limit(self._judge)

    def judge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair, asking the judge if it is not known."""
        key = self._key(request)
        known = self._look(key)
        if known is not None:
            return known

        def ask() -> Verdict:
            known = self._read(key)  # another call may have ended, and memory let it go, since
            if known is not None:
                return known
            self._count("misses")
            return self._keep(key, self._judge.judge(request))

        try:
            return self._shared(self._flight.do(key, ask))
        finally:
            self._leave_disk()

    async def ajudge(self, request: JudgeRequest, /) -> Verdict:
        """Return the verdict on one pair without blocking the loop while the judge thinks."""
        key = self._key(request)
        known = self._look(key)
        if known is not None:
            return known

        async def ask() -> Verdict:
            known = self._read(key)
            if known is not None:
                return known
            self._count("misses")
            verdict = await self._judge.ajudge(request)
            if self._store is None:
                return self._keep(key, verdict)
            return await asyncio.to_thread(self._keep_from_thread, key, verdict)

        return self._shared(await self._flight.ado(key, ask))

    def peek(self, request: JudgeRequest, /) -> Verdict | None:
        """Return the verdict if it is known; asks nobody, waits for nobody, never raises."""
        try:
            return self._look(self._key(request))
        except Exception:  # noqa: BLE001 - what is wrong comes out when the judge is asked
            return None

    def close(self) -> None:
        """Close the disk; verdicts are kept in memory from then on.  The judge stays open."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def __enter__(self) -> Self:
        """Return the judge itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the disk."""
        self.close()

    # Looking up, in memory and on disk.

    def _key(self, request: JudgeRequest) -> str:
        """Return a digest of everything that can change the verdict."""
        return key_of(
            SCHEMA,
            self._judge.identity,
            request.generated,
            request.expected,
            request.question,
            request.schema,
            request.dialect,
            request.counterexample,
            request.trial,
        )

    def _look(self, key: str) -> Verdict | None:
        if os.getpid() != self._pid:
            self._renew()
        verdict = self._recall(key)
        return self._read(key) if verdict is None else verdict

    def _recall(self, key: str) -> Verdict | None:
        if key not in self._entries:
            return None
        now = self._clock()
        with self._lock:
            given_at, verdict = self._entries.get(key, (-math.inf, None))
            if verdict is not None and self._is_fresh(given_at, now):
                self._entries.move_to_end(key)
                self._counts["hits"] += 1
                return verdict
            self._entries.pop(key, None)
        return None

    def _is_fresh(self, given_at: float, now: float) -> bool:
        return -MAX_STEP_BACK_SECONDS <= now - given_at < self._ttl

    def _remember(self, key: str, given_at: float, verdict: Verdict) -> None:
        with self._lock:
            self._entries[key] = given_at, verdict
            self._entries.move_to_end(key)
            if len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1

    def _shared(self, answer: tuple[Verdict, str]) -> Verdict:
        verdict, how = answer
        if how == "shared":
            self._count("shared")
            return attrs.evolve(verdict, cached=True)  # its cost is another result's
        return verdict

    def _keep(self, key: str, answer: object) -> Verdict:
        verdict, now = as_verdict(answer), self._clock()
        hit = attrs.evolve(verdict, cached=True)
        self._remember(key, now, hit)
        self._write(key, now, hit)
        return verdict

    def _keep_from_thread(self, key: str, answer: object) -> Verdict:
        """Do it where another program's lock on the disk keeps no event loop waiting."""
        try:
            return self._keep(key, answer)
        finally:
            self._leave_disk()

    # The disk.

    def _leave_disk(self) -> None:
        store = self._store
        if store is not None and threading.get_ident() != self._thread:
            store.close()  # most threads that wait for a judge do not live on

    def _open(self) -> TextStore | None:
        if self._directory is None:
            return None
        from scorekit._text_disk import TextStore

        try:
            store = TextStore(self._directory)
            self._purge(store, self._clock())
        except OSError as error:
            _warn(error)
            return None
        return store

    def _purge(self, store: TextStore, now: float) -> None:
        if not 0 <= now - self._purged_at < self._ttl / PURGES_PER_LIFETIME:
            self._purged_at = now
            store.purge(now)

    def _give_up(self, store: TextStore, error: OSError) -> None:
        with self._lock:
            if self._store is not store:
                return  # closed, or given up by another thread
            self._store = None
        store.close()
        _warn(error)

    def _read(self, key: str) -> Verdict | None:
        store = self._store
        if store is None:
            return None
        try:
            text = store.get(key)
        except OSError as error:
            self._give_up(store, error)
            return None
        found = None if text is None else _decoded(key, text)
        if found is None or not self._is_fresh(found[0], self._clock()):
            return None
        self._remember(key, *found)
        with self._lock:
            self._counts["hits"] += 1
            self._counts["disk_hits"] += 1
        return found[1]

    def _write(self, key: str, now: float, verdict: Verdict) -> None:
        store = self._store
        if store is None:
            return
        from scorekit._text_disk import MAX_TEXT

        try:
            text = json.dumps({"v": SCHEMA, "k": key, "t": now, "r": verdict.to_dict()})
        except (TypeError, ValueError, RecursionError) as error:
            _log.warning("a verdict stays in memory, it is no JSON: %s", error)
            return
        if len(text) > MAX_TEXT:
            _log.warning("a verdict stays in memory, it has %d characters", len(text))
            return
        try:
            store.put(key, text, expires_at=now + self._ttl)
            self._purge(store, now)
        except OSError as error:
            self._give_up(store, error)


def _warn(error: OSError) -> None:
    message = f"verdicts are kept in memory, not on disk: {error}"
    _log.info(message)
    warnings.warn(message, CacheWarning, stacklevel=4)


def _decoded(key: str, text: str) -> tuple[float, Verdict] | None:
    """Return when a stored verdict was given, and the verdict; None unless all of it is right."""
    try:
        row = json.loads(text)
        if row["v"] != SCHEMA or row["k"] != key or type(row["t"]) not in {int, float}:
            return None
        return float(row["t"]), Verdict.from_dict(row["r"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _checked_directory(directory: object) -> Path:
    if not isinstance(directory, str | os.PathLike):
        refuse("directory", "a path", directory, TypeError)
    path = check_text("directory", os.fspath(cast("os.PathLike[str]", directory)))
    return Path(path).expanduser().absolute()
