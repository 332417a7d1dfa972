"""map_scores: the same results over every executor, bounded, and whose fault a stop was."""

from __future__ import annotations

import importlib
import itertools
import pickle
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import reduce
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import (
    InputError,
    ItemError,
    SqlCase,
    Tally,
    WorkerError,
    describe,
    map_scores,
    score_sql_cases,
)


@pytest.fixture(scope="module")
def work() -> Iterator[Any]:
    """Return the functions that workers import, on the path that they inherit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent / "support")
        yield importlib.import_module("parallel_work")


def new_processes() -> ProcessPoolExecutor:
    """Return a pool that starts clean interpreters."""
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.fixture(scope="module")
def processes(work: Any) -> Iterator[Executor]:
    """Return a pool for the tests that leave it whole."""
    del work
    with new_processes() as pool:
        yield pool


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    """Return threads."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


class Inline(Executor):
    """An executor that counts what it was given, and computes when a result is asked for."""

    def __init__(self, *, is_interrupted: bool = False) -> None:
        self.is_interrupted = is_interrupted
        self.futures: list[Future[Any]] = []
        self.n_most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Compute on demand, unless the user gives up meanwhile."""
        future: Future[Any] = Future()
        self.futures.append(future)
        self.n_most = max(self.n_most, sum(not f.done() for f in self.futures))

        def result(timeout: float | None = None) -> Any:
            del timeout
            if self.is_interrupted:
                raise KeyboardInterrupt
            future.set_result(fn(*args, **kwargs))
            return Future.result(future)

        future.result = result  # type: ignore[method-assign]
        return future


def ended(results: Iterator[Any]) -> tuple[list[Any], str, str]:
    """Return what came, then the error and its cause."""
    came: list[Any] = []
    try:
        came.extend(results)
    except Exception as error:  # noqa: BLE001 - it is what is tested
        return came, f"{type(error).__name__}: {error}", type(error.__cause__).__name__
    return came, "", ""


def broken_source(values: list[float], *, breaks: bool) -> Iterator[float]:
    """Give some values, then perhaps raise."""
    yield from values
    if breaks:
        raise ValueError("source")


@given(
    st.lists(st.sampled_from([1.0, 2.0, 4.0, 0.0]), max_size=30),
    st.fixed_dictionaries({"chunk_size": st.integers(1, 12), "max_in_flight": st.integers(1, 5)}),
    st.booleans(),
)
def test_an_executor_changes_nothing(
    values: list[float],
    options: dict[str, Any],
    breaks: bool,  # noqa: FBT001
) -> None:
    """Results, the failing item, and an iterable that raises: as without one, never too many."""
    window = Inline()

    def run(executor: Executor | None) -> tuple[list[Any], str, str]:
        source = broken_source(values, breaks=breaks)
        return ended(map_scores(lambda x: 1 / x, source, executor=executor, **options))

    assert run(window) == run(None)
    assert window.n_most <= options["max_in_flight"]


def test_processes_and_threads_agree(processes: Executor, threads: Executor, work: Any) -> None:
    """In order, over real pools, for items of any kind."""
    for executor in (None, threads, processes):
        for items in (range(1100), np.arange(1100), pd.Series(range(1100)), iter(range(1100))):
            found = list(map_scores(work.double, items, executor=executor, chunk_size=100))
            assert found == list(range(0, 2200, 2))
        assert list(map_scores(work.double, [], executor=executor)) == []


def failure(results: Iterator[Any]) -> ItemError:
    """Return what ends the results."""
    with pytest.raises(ItemError) as caught:
        list(results)
    return caught.value


def test_the_item_that_failed_is_named(processes: Executor, threads: Executor, work: Any) -> None:
    """The same everywhere, with what was raised as the cause and where on the worker."""
    for executor in (None, threads, processes):
        results = map_scores(work.inverse, [1, 2, 4, 0, 5], executor=executor, chunk_size=3)
        assert list(itertools.islice(results, 3)) == [1.0, 0.5, 0.25]
        error = failure(results)
        assert str(error) == "items[3] failed: ZeroDivisionError: division by zero"
        assert error.index == 3
        assert isinstance(error.__cause__, ZeroDivisionError)
        copy = pickle.loads(pickle.dumps(error))
        assert (str(copy), copy.index) == (str(error), 3)
    cause = failure(map_scores(work.inverse, [0], executor=processes)).__cause__
    assert "in inverse" in "".join(traceback.format_exception(cause))


def test_exceptions_that_do_not_travel(processes: Executor, work: Any) -> None:
    """One that cannot be rebuilt would break the pool; its text arrives all the same."""
    for executor in (None, processes):
        error = failure(map_scores(work.needs_arguments, [5], executor=executor))
        assert str(error) == "items[0] failed: NeedsArgumentsError: code 5"
    cause = failure(map_scores(work.needs_arguments, [5], executor=processes)).__cause__
    assert type(cause) is RuntimeError
    assert "in needs_arguments" in str(cause)
    assert list(map_scores(work.double, [1], executor=processes)) == [2]


class Mute(Exception):  # noqa: N818 - a hostile one
    """An exception that cannot even be shown."""

    def __str__(self) -> str:
        """Refuse."""
        raise RuntimeError

    def __reduce__(self) -> Any:
        """Refuse."""
        raise RuntimeError


def test_hostile_exceptions(threads: Executor) -> None:
    """What cannot be shown is named; StopIteration does not end the results silently."""

    def raises(error: Exception) -> None:
        raise error

    hostile = {"Mute: <exception str() failed>": Mute(), "StopIteration": StopIteration()}
    for executor in (None, threads):
        for text, error in hostile.items():
            failed = failure(map_scores(raises, [error], executor=executor))
            assert str(failed) == f"items[0] failed: {text}"


def test_what_does_not_pickle_is_named(processes: Executor, work: Any) -> None:
    """Function, item or result; those before a bad result arrive."""
    message = r"^function must be picklable to reach another process, so defined at the top of a m"
    with pytest.raises(TypeError, match=message + r"odule \(.*, got <function"):
        list(map_scores(lambda x: x, [1], executor=processes))
    items: list[Any] = [1, 2, threading.Lock()]
    message = (
        r"^items\[2\] must be picklable to reach another process \(TypeError: cannot pickle "
        r"'_thread\.lock' object\), got <unlocked _thread\.lock .*>$"
    )
    with pytest.raises(TypeError, match=message):
        list(map_scores(work.double, items, executor=processes))
    came, error, cause = ended(
        map_scores(work.lock_at_seven, range(20), executor=processes, chunk_size=5)
    )
    assert came == list(range(7))
    assert error.startswith("ItemError: items[7] failed: TypeError: a result must be picklable")
    assert cause == "TypeError"
    with pytest.raises(WorkerError, match=r"^results of items\[0:2\] could not be read: "):
        list(map_scores(work.not_readable, [1, 2], executor=processes))


def test_a_dead_worker_is_an_error_where_it_is_not_replaced(work: Any) -> None:
    """A process pool cannot go on; what had arrived was yielded, and a new call says so too."""
    with new_processes() as pool:
        with pytest.raises(WorkerError, match=r"^a worker died, .* before items\[0:2\] were done"):
            list(map_scores(work.die, [1, 2], executor=pool))
        with pytest.raises(WorkerError, match=r"^executor is broken: BrokenProcessPool: "):
            list(map_scores(work.double, [1, 2], executor=pool))


def test_executors_that_stop(work: Any) -> None:
    """Shut down before, or in the middle: the results that were on their way come first."""
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    message = (
        r"^executor must be open for work \(cannot schedule new futures after shutdown\), "
        r"got <concurrent\.futures\.thread\.ThreadPoolExecutor .*>$"
    )
    with pytest.raises(InputError, match=message):
        list(map_scores(work.double, [1], executor=pool))
    pool = ThreadPoolExecutor(1)
    results = map_scores(work.double, itertools.count(), executor=pool, chunk_size=1)
    assert next(results) == 0
    pool.shutdown()
    came, error, _ = ended(results)
    assert came == list(range(2, 32, 2))
    assert error.startswith("InputError: executor must be open for work")
    release = threading.Event()
    pool = ThreadPoolExecutor(1)
    results = map_scores(
        lambda i: not i or release.wait(120), itertools.count(), executor=pool, chunk_size=1
    )
    next(results)
    pool.shutdown(wait=False, cancel_futures=True)
    release.set()
    _, error, cause = ended(results)
    assert "came back without results: CancelledError" in error.replace(
        "concurrent.futures._base.", ""
    )
    assert cause == "CancelledError"


def test_an_endless_iterator_closed_early(work: Any) -> None:
    """Reading stops a window ahead, and what has not begun never does."""
    read = itertools.count()
    with ThreadPoolExecutor(1) as pool:
        results = map_scores(work.double, read, executor=pool, chunk_size=2, max_in_flight=3)
        assert next(read) == 0  # nothing was read before a result was asked for
        assert [next(results) for _ in range(3)] == [2, 4, 6]
        results.close()
        assert next(read) <= 1 + 2 * (3 + 1)
        assert list(results) == []
    inline = Inline()
    results = map_scores(work.double, read, executor=inline, chunk_size=2, max_in_flight=3)
    next(results)
    results.close()
    assert [future.cancelled() for future in inline.futures] == [False, True, True]


def test_an_interrupt_cancels_the_chunk_that_is_waited_for_too() -> None:
    """It may not have begun: other work may be before it."""
    inline = Inline(is_interrupted=True)
    with pytest.raises(KeyboardInterrupt):
        list(map_scores(abs, range(9), executor=inline, chunk_size=2))
    assert [future.cancelled() for future in inline.futures] == [True] * 5


class NoLength:
    """An iterable whose length is not known though it has a method for it, as tqdm's bars."""

    def __iter__(self) -> Iterator[int]:
        """Give two items."""
        return iter([1, 2])

    def __len__(self) -> int:
        """Refuse."""
        raise TypeError


def test_progress(threads: Executor) -> None:
    """After each chunk and at the end; the total where it is known."""
    for executor in (None, threads):
        seen: list[tuple[int, int | None]] = []
        options: dict[str, Any] = {"executor": executor, "chunk_size": 2}
        options["progress"] = lambda *at, seen=seen: seen.append(at)
        for items in ([1, 2, 3, 4, 5], iter([1, 2]), [], NoLength()):
            list(map_scores(abs, items, **options))
        assert seen == [(2, 5), (4, 5), (5, 5), (2, None), (2, None)]


@refusals("""
function=3 -> TypeError: function must be a callable, got 3
items="abc" -> TypeError: items must be an ordered iterable, got 'abc'
items={1, 2} -> TypeError: items must be an ordered iterable, got {1, 2}
executor=2 -> TypeError: executor must be an Executor of concurrent.futures, got 2
chunk_size=0 -> InputError: chunk_size must be an integer >= 1, got 0
chunk_size=1.5 -> TypeError: chunk_size must be an integer >= 1, got 1.5
max_in_flight=0 -> InputError: max_in_flight must be an integer >= 1, got 0
max_in_flight=True -> TypeError: max_in_flight must be an integer >= 1, got True
progress=1 -> TypeError: progress must be a callable, True or False, got 1
""")
def test_errors(wrong: Refusal) -> None:
    """A mistake shows at the call, before anything is computed."""
    wrong.by(map_scores, function=abs, items=[1])


NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40)


@settings(max_examples=20)
@given(NUMBERS, st.integers(1, 9))
def test_tallies_of_parts_are_the_whole(
    processes: Executor, work: Any, values: list[float], size: int
) -> None:
    """Each worker reduces its own part, and the merged tallies describe all of it."""
    parts = [values[i : i + size] for i in range(0, len(values), size)]
    tallies = map_scores(work.tally_of, parts, executor=processes, chunk_size=1)
    assert reduce(Tally.merge, tallies).result() == describe(values)


@pytest.mark.slow
def test_dask_survives_a_killed_worker(work: Any, tmp_path: Path) -> None:
    """Over TCP, a worker killed in the middle: its chunks are computed again, nothing is lost."""
    distributed = pytest.importorskip("distributed")
    items = [(i, str(tmp_path / "killed")) for i in range(3000)]
    cases = [
        SqlCase(case_id=f"q{i}", generated=f"SELECT x FROM t{i % 7}", expected_tables=["t1"])
        for i in range(1200)
    ]
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            protocol="tcp://",
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False, retries=2)
        results = map_scores(work.die_once, items, executor=executor, chunk_size=100)
        assert list(results) == list(range(0, 6000, 2))
        assert (tmp_path / "killed").exists()
        assert score_sql_cases(cases, executor=executor) == score_sql_cases(cases)
        with pytest.raises(ItemError, match=r"^items\[1\] failed: ZeroDivisionError"):
            list(map_scores(work.inverse, [1, 0], executor=executor))
        with pytest.raises(ItemError, match=r"^items\[7\] failed: TypeError: a result must be"):
            list(map_scores(work.lock_at_seven, range(9), executor=executor))
        executor.shutdown()
        with pytest.raises(InputError, match=r"^executor must be open for work"):
            list(map_scores(work.double, [1], executor=executor))


class _Losing(Executor):
    """Loses the first results, as Dask does where a worker dies while they arrive."""

    def __init__(self, n_lost: int) -> None:
        self.n_lost, self.n_sent = n_lost, 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.n_sent += 1
        future = Future[Any]()
        if self.n_sent <= self.n_lost:
            future.set_exception(OSError("lost"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_a_lost_result_is_asked_for_once_more() -> None:
    """And not for ever: what is lost twice is an error of the executor."""
    assert list(map_scores(abs, [-1, 2], executor=_Losing(1))) == [1, 2]
    with pytest.raises(WorkerError):
        list(map_scores(abs, [-1, 2], executor=_Losing(9)))
