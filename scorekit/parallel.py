"""Apply a function to many items, here or on the workers of any executor: `map_scores`."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from itertools import islice
from traceback import TracebackException
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar
from uuid import uuid4

from scorekit._core.checks import check_callable, check_count, check_instance, is_ordered
from scorekit._core.progress import check_progress, reporting
from scorekit.errors import InputError, ItemError, WorkerError, one_line, refuse, shown

T = TypeVar("T")
R = TypeVar("R")

Progress = Callable[[int, int | None], object]

_PROCESS = uuid4().hex
"""Tells this process from those of other machines, which may have its number."""

PICKLING_ERRORS = (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError)
"""What executors pass on when something cannot be sent to a worker."""


def map_scores(
    function: Callable[[T], R],
    items: Iterable[T],
    *,
    executor: Executor | None = None,
    chunk_size: int = 500,
    max_in_flight: int = 16,
    progress: Progress | bool | None = None,
) -> Generator[R, None, None]:
    """
    Apply a function to each item, here or on the workers of an executor; results come in order.

    Nothing starts before you ask for the first result. With an executor, items are read ahead and
    sent in chunks, at most *max_in_flight* at a time. Memory does not grow with the number of
    items, which may be endless. Results and errors do not depend on the executor. Closing the
    generator cancels chunks that have not started.

    Args:
        function: Called with one item.  For processes it must pickle, as must items and results.
        items: Any ordered iterable.
        executor: Threads, processes, a cluster (Dask: ``client.get_executor(pure=False,
            retries=2)``); it stays open.  None computes here, item by item.
        chunk_size: Items sent to a worker at once (count, at least 1).
        max_in_flight: Chunks under way at once (count, at least 1).
        progress: Called after each *chunk_size* results and at the end, with the number of items
            done and of all items, None where *items* does not say how many it has.  True shows a
            bar: tqdm's, or a line of text on the error stream where tqdm is not installed.

    Returns:
        A generator of the results.

    Raises:
        InputError: If a count is below 1, or the executor is shut down.
        TypeError: If an argument has the wrong type, or *function* or an item does not pickle and
            the executor needs it to.
        ItemError: If *function* raises; the results before that item are yielded first.
        WorkerError: If a worker died and the executor does not replace it.

    Examples:
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor() as threads:
        ...     list(map_scores(len, ["a", "bc", "def"], executor=threads))
        [1, 2, 3]
        >>> list(map_scores(len, ["a", 2]))
        Traceback (most recent call last):
        ...
        scorekit.errors.ItemError: items[1] failed: TypeError: object of type 'int' has no len()
    """
    check_callable("function", function)
    if not is_ordered(items):
        refuse("items", "an ordered iterable", items, TypeError)
    check_count("chunk_size", chunk_size, 1)
    check_count("max_in_flight", max_in_flight, 1)
    check_progress(progress)
    if executor is not None:
        check_instance("executor", executor, Executor)

    def results() -> Generator[R, None, None]:
        with reporting(progress, "item") as tell:
            counted = _ProgressCounter(tell, items)
            if executor is None:
                yield from _here(function, items, chunk_size, counted)
            else:
                executed = _Executed(function, executor)
                yield from executed.results(items, chunk_size, max_in_flight, counted)

    return results()


class _ProgressCounter:
    """How far a run has come, for the caller's *progress*."""

    def __init__(self, progress: Progress | None, items: Any) -> None:
        self._progress = progress
        try:
            self._total: int | None = len(items)
        except (TypeError, NotImplementedError):  # a wrapper (tqdm, a data loader) may raise them
            self._total = None
        self._told = 0

    def tell(self, n_done: int) -> None:
        if self._progress is not None and n_done > self._told:
            self._told = n_done
            self._progress(n_done, self._total)


def _here(
    function: Callable[[T], R], items: Iterable[T], chunk_size: int, counted: _ProgressCounter
) -> Generator[R, None, None]:
    n_done = 0
    for item in items:
        try:
            result = function(item)
        except Exception as error:
            raise ItemError(n_done, _message(error)) from error
        n_done += 1
        if n_done % chunk_size == 0:
            counted.tell(n_done)
        yield result
    counted.tell(n_done)


class _Chunk(NamedTuple):
    """Items on their way, from the one numbered *start*."""

    start: int
    items: tuple[Any, ...]
    future: Future[_ChunkResult]


class _Executed(Generic[T, R]):
    """A function that the workers of an executor apply."""

    def __init__(self, function: Callable[[T], R], executor: Executor) -> None:
        self._function = function
        self._executor = executor

    def results(
        self, items: Iterable[T], chunk_size: int, max_in_flight: int, counted: _ProgressCounter
    ) -> Generator[R, None, None]:
        """Yield the results in order; what stops the reading waits for those before it."""
        under_way: deque[_Chunk] = deque()
        parts = _cut(items, chunk_size)
        n_sent = 0
        stopped: Exception | None = None
        try:
            while True:
                try:
                    for part in islice(parts, max_in_flight - len(under_way)):
                        under_way.append(self._send(n_sent, part))
                        n_sent += len(part)
                except Exception as error:  # noqa: BLE001 - raised when its turn comes
                    stopped, parts = error, iter(())
                if not under_way:
                    break
                chunk = under_way[0]
                results, failure = self._receive(chunk)
                under_way.popleft()  # not before, or an interrupt would leave it to begin
                counted.tell(chunk.start + len(results))
                yield from results
                if failure is not None:
                    raise failure
        finally:
            for chunk in under_way:
                chunk.future.cancel()
        if stopped is not None:
            raise stopped

    def _send(self, start: int, items: tuple[T, ...]) -> _Chunk:
        home = (_PROCESS, os.getpid())
        try:
            future = self._executor.submit(_apply, self._function, items, home)
        except BrokenExecutor as error:
            raise _worker_error("executor is broken", error) from error
        except RecursionError as error:
            self._explain(error, start, items)
        except RuntimeError as error:
            refuse(
                "executor", f"open for work ({one_line(str(error))})", self._executor, InputError
            )
        except Exception as error:  # noqa: BLE001 - some executors pickle at once
            self._explain(error, start, items)
        return _Chunk(start, items, future)

    def _receive(self, chunk: _Chunk, *, again: bool = True) -> tuple[list[R], ItemError | None]:
        """Wait for a chunk; return its results and what ended them, if anything did."""
        try:
            answer = chunk.future.result()
        except Exception as error:  # noqa: BLE001 - what *function* raises is part of the answer
            try:
                self._explain(error, chunk.start, chunk.items)
            except WorkerError:
                # Dask's executor can lose the results of a worker that dies as they arrive.
                if not again or isinstance(error, BrokenExecutor | CancelledError):
                    raise
            return self._receive(self._send(chunk.start, chunk.items), again=False)
        results = answer.results
        if isinstance(results, bytes):
            try:
                results = pickle.loads(results)  # noqa: S301 - from a worker of the caller's
            except Exception as error:
                part = _part(chunk.start, chunk.items)
                raise _worker_error(f"results of {part} could not be read", error) from error
        if answer.failure is None:
            return results, None
        failure = ItemError(chunk.start + len(results), answer.failure.message)
        failure.__cause__ = answer.failure.exception()
        return results, failure

    def _explain(self, error: Exception, start: int, items: tuple[T, ...]) -> NoReturn:
        """Raise why a chunk came to nothing: the executor, or something that does not pickle."""
        part = _part(start, items)
        if isinstance(error, BrokenExecutor):
            what = f"a worker died, or could not import the function, before {part} were done"
            raise _worker_error(what, error) from error
        if isinstance(error, PICKLING_ERRORS):
            sent = {"function": self._function} | {
                f"items[{start + i}]": x for i, x in enumerate(items)
            }
            for name, value in sent.items():
                reason = _why_unpicklable(value)
                if reason is not None:
                    hint = ", so defined at the top of a module" if name == "function" else ""
                    domain = f"picklable to reach another process{hint} ({reason})"
                    refuse(name, domain, value, TypeError)
        raise _worker_error(f"{part} came back without results", error) from error


def _cut(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """Cut into chunks; where the iterable raises, what it gave before comes first."""
    iterator = iter(items)
    stopped: Exception | None = None
    while stopped is None:
        chunk: list[T] = []
        try:
            chunk.extend(islice(iterator, size))
        except Exception as error:  # noqa: BLE001 - whatever the caller's iterable raises
            stopped = error
        if chunk:
            yield tuple(chunk)
        if stopped is None and len(chunk) < size:
            return
    raise stopped


def _part(start: int, items: tuple[Any, ...]) -> str:
    return f"items[{start}:{start + len(items)}]"


def _worker_error(what: str, error: Exception) -> WorkerError:
    return WorkerError(f"{what}: {_message(error)}")


def _why_unpicklable(value: object) -> str | None:
    try:
        pickle.dumps(value)
    except Exception as error:  # noqa: BLE001 - whatever its own methods raise
        return _message(error)
    return None


def _message(error: Exception) -> str:
    # unlike str(error) this survives an exception whose own __str__ raises
    text = str(TracebackException.from_exception(error))
    return one_line(f"{type(error).__name__}: {text}" if text else type(error).__name__)


# What runs on the workers.


class _Failure(NamedTuple):
    """What the function raised, as far as it can be sent."""

    message: str
    error: Exception | bytes | None
    stack: str

    def exception(self) -> Exception:
        """Return what was raised, or in its place what is known of it."""
        if isinstance(self.error, Exception):
            return self.error
        try:
            error: Exception = pickle.loads(self.error or b"")  # noqa: S301 - from a worker of the caller's
            error.add_note(self.stack)
        except Exception:  # noqa: BLE001 - its class is unknown here, or its arguments are missing
            return RuntimeError(self.stack)
        return error


class _ChunkResult(NamedTuple):
    """The results up to the first failure; to another process as bytes."""

    results: Any
    failure: _Failure | None


def _apply(
    function: Callable[[T], R], items: tuple[T, ...], home: tuple[str, int]
) -> _ChunkResult:
    results: list[R] = []
    error: Exception | None = None
    try:
        for item in items:
            results.append(function(item))  # noqa: PERF401 - what there is survives a failure
    except Exception as raised:  # noqa: BLE001 - raised again where the results are taken
        error = raised
    if home == (_PROCESS, os.getpid()):
        return _ChunkResult(
            results, None if error is None else _Failure(_message(error), error, "")
        )
    packed, unpicklable = _pack(results)
    error = unpicklable or error
    return _ChunkResult(packed, None if error is None else _sendable(error))


def _pack(results: list[R]) -> tuple[bytes, TypeError | None]:
    """Pickle the results, up to the first that cannot be."""
    try:
        return pickle.dumps(results), None
    except Exception:  # noqa: BLE001 - whatever their own methods raise
        reasons = enumerate(map(_why_unpicklable, results))
        first, reason = next((at for at in reasons if at[1] is not None), (0, "not together"))
        refused = f"a result must be picklable ({reason}), got {shown(results[first])}"
        return pickle.dumps(results[:first]), TypeError(refused)


def _sendable(error: Exception) -> _Failure:
    stack = "".join(TracebackException.from_exception(error).format())
    try:
        return _Failure(_message(error), pickle.dumps(error), stack)
    except Exception:  # noqa: BLE001 - whatever its own methods raise
        return _Failure(_message(error), None, stack)
