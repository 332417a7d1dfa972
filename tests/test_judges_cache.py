"""CachedJudge and VotingJudge: what is kept, for how long, and what no fault may do."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import json
import os
import pickle
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import diskcache  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from outcomes import failure as failure_of
from outcomes import present
from refusals import Refusal, refusals

import scorekit
from scorekit import correctness
from scorekit._core.mappings import FrozenMapping
from scorekit._judge import shelf, single_flight, store
from scorekit._judge.memo import memo_of
from scorekit._sql.door import Faults
from scorekit.cases import SqlCase
from scorekit.correctness import QueryCorrectness, aquery_correctness, query_correctness
from scorekit.equivalence import sql_equivalence
from scorekit.errors import InputError, JudgeError
from scorekit.judges import (
    CachedJudge,
    CacheStatistics,
    CacheWarning,
    Judge,
    JudgeRequest,
    Verdict,
    VotingJudge,
    judge_from_function,
)
from scorekit.scoring import score_sql_case, score_sql_cases

POSIX = pytest.mark.skipif(os.name != "posix", reason="about signals, owners and mode bits")
DAY = 86_400
ANSWER = Verdict(
    score=0.5,
    reasoning="No filter: «ü» \x00 \ud800",
    model="m",
    usage=FrozenMapping({"input_tokens": 700, "output_tokens": 120}),
    cost_usd=0.0026,
    response_id="r1",
)


def request(n: int = 0, **fields: Any) -> JudgeRequest:
    """Return one of many requests."""
    return JudgeRequest(generated=f"SELECT {n}", expected="SELECT 1", **fields)


class Counting:
    """A judge that counts how often it is asked."""

    def __init__(self, answer: Any = ANSWER, identity: str = "counting") -> None:
        self.identity = identity
        self.answer = answer
        self.asked: list[JudgeRequest] = []

    def judge(self, asked: JudgeRequest, /) -> Verdict:
        """Return the answer, or what a callable answer gives."""
        self.asked.append(asked)
        verdict: Verdict = self.answer(asked) if callable(self.answer) else self.answer
        return verdict

    async def ajudge(self, asked: JudgeRequest, /) -> Verdict:
        """Do the same."""
        await asyncio.sleep(0)
        return self.judge(asked)


def half(_: JudgeRequest) -> float:
    """Return 0.5; a function of a module, so that it pickles."""
    return 0.5


HALF = judge_from_function(half, identity="half")


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        """Return the time."""
        return self.now


Ask = Callable[[Judge, JudgeRequest], Verdict]


def _async(judge: Judge, asked: JudgeRequest) -> Verdict:
    return asyncio.run(judge.ajudge(asked))


@pytest.fixture(params=[lambda judge, asked: judge.judge(asked), _async], ids=["sync", "async"])
def ask(request: pytest.FixtureRequest) -> Ask:
    """Both forms must behave alike."""
    form: Ask = request.param
    return form


@contextlib.contextmanager
def cache_warnings() -> Iterator[list[str]]:
    """Collect the messages of every `CacheWarning`, and let no other warning pass."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ResourceWarning)  # connections of other tests' judges
        yield messages
    assert {warning.category for warning in caught} <= {CacheWarning}
    messages.extend(str(warning.message) for warning in caught)


def until(condition: Callable[[], object]) -> None:
    """Wait for other threads to get somewhere; only what never comes takes so long."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


async def auntil(condition: Callable[[], object]) -> None:
    """Wait for other tasks to get somewhere."""
    while not condition():  # noqa: ASYNC110 - what is waited for sets no event
        await asyncio.sleep(0.001)


def database(directory: Path) -> Path:
    """Return where the verdicts of a directory are."""
    return directory / "v1" / "cache.db"


def execute(directory: Path, sql: str, *arguments: Any) -> list[Any]:
    """Run a statement on the database behind the cache's back."""
    with contextlib.closing(sqlite3.connect(database(directory))) as connection, connection:
        return connection.execute(sql, arguments).fetchall()


def run_python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that knows this module as `t`, in an interpreter of its own."""
    with started(program, *arguments) as process:
        output, errors = process.communicate(timeout=600)
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    """Start such a program."""
    here = Path(__file__)
    roots = [Path(scorekit.__file__).parents[1], here.parent, here.parent / "support"]
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, roots))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# What is kept.


def test_a_second_ask_is_answered_from_memory(ask: Ask) -> None:
    """The same verdict, marked as cached, and no second call."""
    inner = Counting()
    judge = CachedJudge(inner)
    assert judge.peek(request()) is None
    assert ask(judge, request()) == ANSWER
    assert ask(judge, request()) == judge.peek(request()) == attrs.evolve(ANSWER, cached=True)
    assert len(inner.asked) == 1
    assert judge.stats == CacheStatistics(
        n_hits=2, n_disk_hits=0, n_misses=1, n_shared=0, n_calls_saved=2
    )
    assert judge.identity == inner.identity


def test_several_accepted_queries_are_counted_once_each() -> None:
    """Where only some of them are known already, what is known is not counted twice."""
    judge = CachedJudge(judge_from_function(lambda _: 0.0, identity="no"))
    query_correctness("SELECT 1", ["SELECT 2"], judge=judge)
    query_correctness("SELECT 1", ["SELECT 2", "SELECT 3"], judge=judge)
    assert (judge.stats.n_hits, judge.stats.n_misses) == (1, 2)


def test_another_process_is_answered_from_disk(ask: Ask, tmp_path: Path) -> None:
    """Every field comes back, NUL and half a surrogate pair included."""
    with CachedJudge(Counting(), directory=tmp_path / "a" / "b") as judge:
        ask(judge, request())
    inner = Counting()
    again = CachedJudge(inner, directory=str(tmp_path / "a" / "b"))
    assert again.peek(request()) == attrs.evolve(ANSWER, cached=True)
    assert ask(again, request()).cached
    assert (inner.asked, again.stats.n_hits, again.stats.n_disk_hits) == ([], 2, 1)


@pytest.mark.parametrize("field", attrs.fields_dict(JudgeRequest))
def test_every_field_of_a_request_is_in_the_key(field: str) -> None:
    """A verdict on one question must never answer another."""
    inner = Counting()
    judge = CachedJudge(inner)
    judge.judge(request())
    texts = ("x", "", "\x00", "\ud800", "\U0001f600", "\ud83d\ude00")
    values: tuple[Any, ...] = (7,) if field == "trial" else texts
    for value in values:
        other = attrs.evolve(request(), **{field: value})
        assert judge.peek(other) is None
        assert [judge.judge(other).cached for _ in range(2)] == [False, True]
    assert len(inner.asked) == 1 + len(values)


def test_memory_is_bounded_and_the_least_used_goes_first() -> None:
    """Memory must not grow with the length of a run."""
    inner = Counting()
    judge = CachedJudge(inner, max_entries=2)
    for n in (0, 1, 0, 2):
        judge.judge(request(n))
    assert [judge.peek(request(n)) is not None for n in (0, 1, 2)] == [True, False, True]
    assert len(judge._shelf._rows) == 2


def test_nothing_is_lost_on_disk_past_the_bound_of_memory(tmp_path: Path) -> None:
    """The default policy of diskcache drops entries at a limit of size."""
    judge = CachedJudge(Counting(), directory=tmp_path / "c", max_entries=3)
    for n in range(500):
        judge.judge(request(n))
    again = CachedJudge(Counting(), directory=tmp_path / "c")
    assert all(again.peek(request(n)) for n in range(500))
    assert execute(tmp_path / "c", "SELECT value FROM Settings WHERE key = 'eviction_policy'") == [
        ("none",)
    ]


@pytest.mark.parametrize(
    "failure", [JudgeError("overloaded", "529"), ValueError("x"), StopIteration()]
)
def test_errors_are_never_kept(ask: Ask, failure: Exception, tmp_path: Path) -> None:
    """The next one who asks may have better luck."""

    def answer(_: JudgeRequest) -> Verdict:
        if len(inner.asked) == 1:
            raise failure
        return ANSWER

    inner = Counting(answer)
    judge = CachedJudge(inner, directory=tmp_path / "c")
    with pytest.raises((type(failure), RuntimeError)):
        ask(judge, request())
    assert judge.peek(request()) is None
    assert ask(judge, request()) == ANSWER
    assert execute(tmp_path / "c", "SELECT count(*) FROM Cache") == [(1,)]


@pytest.mark.parametrize("answer", [None, 0.7, "equivalent", {"score": 1.0}])
def test_what_is_no_verdict_is_an_error_and_not_kept(ask: Ask, answer: Any) -> None:
    """A cached None would be asked for again for ever, or worse, be believed."""
    judge = CachedJudge(Counting(lambda _: answer))
    with pytest.raises(JudgeError) as caught:
        ask(judge, request())
    wanted = "a judge must return a Verdict or a score of 1.0, 0.5 or 0.0"
    assert str(caught.value) == f"invalid_response: {wanted}, got {answer!r}"
    assert judge.peek(request()) is None


def test_a_bare_score_is_a_verdict_here_too(ask: Ask) -> None:
    """Wrapping a judge does not change what it may answer."""
    for wrapped in (CachedJudge, VotingJudge):
        assert ask(wrapped(Counting(lambda _: 0.5)), request()).score == 0.5


def test_a_verdict_too_long_or_strange_for_disk_stays_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was paid for; the disk goes on for the others."""
    long = Verdict(score=1.0, reasoning="x" * store.MAX_TEXT)
    strange = Verdict(score=1.0, usage=FrozenMapping({"tokens": b"7"}))  # type: ignore[dict-item]
    for n, answer in enumerate((long, strange)):
        judge = CachedJudge(Counting(answer), directory=tmp_path / "c")
        judge.judge(request(n))
        assert judge.judge(request(n)).cached
        assert CachedJudge(Counting(), directory=tmp_path / "c").peek(request(n)) is None
        assert len(caplog.records) == n + 1


# How long.


@pytest.mark.parametrize("directory", [None, "c"])
@pytest.mark.parametrize(
    ("seconds", "hit"),
    [(0, True), (86399.999, True), (DAY, False), (-3600, True), (-DAY, False), (-1e9, False)],
)
def test_a_verdict_lives_a_day(
    *, directory: str | None, seconds: float, hit: bool, tmp_path: Path
) -> None:
    """To the end of it, also where the clock was set back by less."""
    clock = Clock()
    where = None if directory is None else tmp_path / directory
    judge = CachedJudge(Counting(), directory=where, clock=clock)
    judge.judge(request())
    clock.now += seconds
    if where is not None:
        fresh = CachedJudge(Counting(), directory=where, clock=clock)
        assert (fresh.peek(request()) is not None) is hit
    assert (judge.peek(request()) is not None) is hit
    assert judge.judge(request()).cached is hit
    assert judge.judge(request()).cached


@pytest.mark.parametrize("start", [0.0, 1_700_000_000.0, 1e11])
def test_expired_rows_leave_the_disk(start: float, tmp_path: Path) -> None:
    """At the next start, and while running; those still good stay, whatever the clock's epoch."""

    def n_rows() -> int:
        count: int = execute(tmp_path / "c", "SELECT count(*) FROM Cache")[0][0]
        return count

    clock = Clock(start)
    judge = CachedJudge(Counting(), directory=tmp_path / "c", clock=clock)
    for n in range(250):
        judge.judge(request(n))
    clock.now += DAY / 2
    judge.judge(request(250))
    CachedJudge(Counting(), directory=tmp_path / "c", clock=clock)
    assert n_rows() == 251
    clock.now += DAY / 2 + 1
    CachedJudge(Counting(), directory=tmp_path / "c", clock=clock)
    assert n_rows() == 1
    clock.now += DAY
    judge.judge(request(251))
    assert n_rows() == 1


# Rows that somebody else wrote.


class Tripped(BaseException):
    """Something of diskcache's pickling was touched; not to be taken for a failure of the disk."""


class Tripwire:
    """Stands where diskcache has the pickle module."""

    def __getattr__(self, name: str) -> Any:
        """Tell."""
        raise Tripped(name)


class Bomb:
    """Unpickling it leaves a trace."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Write into the environment of whoever unpickles this."""
        return os.putenv, ("SCOREKIT_BOMB", "1")


BOMB = pickle.dumps(Bomb())
POISON: dict[str, tuple[str, tuple[Any, ...]]] = {
    "pickle": ("UPDATE Cache SET mode = 4, value = ?", (BOMB,)),
    "pickle in a file": ("UPDATE Cache SET mode = 4, value = NULL, filename = ?", ("bomb",)),
    "text in a file": ("UPDATE Cache SET mode = 3, value = NULL, filename = ?", ("../victim",)),
    "binary in a file": ("UPDATE Cache SET mode = 2, value = NULL, filename = ?", ("../victim",)),
    "a file beside": ("UPDATE Cache SET filename = ?", ("../victim",)),
    "bytes": ("UPDATE Cache SET value = ?", (BOMB,)),
    "a number": ("UPDATE Cache SET value = ?", (1,)),
    "nothing": ("UPDATE Cache SET value = NULL", ()),
    "too long": ("UPDATE Cache SET value = ?", ("x" * (store.MAX_TEXT + 1),)),
    "no JSON": ("UPDATE Cache SET value = ?", ("{",)),
    "deep JSON": ("UPDATE Cache SET value = ?", ("[" * 100_000,)),
    "other JSON": ("UPDATE Cache SET value = ?", ("[1]",)),
    "a long number": ("UPDATE Cache SET value = replace(value, '\"t\": 1', '\"t\": 1e9999')", ()),
    "a score of 0.7": ("UPDATE Cache SET value = replace(value, '0.5', '0.7')", ()),
    "another version": ("UPDATE Cache SET value = replace(value, '\"v\": 3', '\"v\": 2')", ()),
    "another key": ('UPDATE Cache SET value = replace(value, \'"k": "\', \'"k": "0\')', ()),
    "no text": ("UPDATE Cache SET value = CAST(x'ff' || value AS TEXT)", ()),
}


@pytest.mark.parametrize("poison", POISON)
def test_a_poisoned_row_is_not_believed_and_runs_nothing(
    poison: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CVE-2025-69872: diskcache unpickles what a row or a file holds; no path leads there."""
    directory = tmp_path / "c"
    CachedJudge(Counting(), directory=directory).judge(request())
    (directory / "v1" / "bomb").write_bytes(BOMB)
    (directory / "victim").write_text("precious")
    sql, arguments = POISON[poison]
    execute(directory, sql, *arguments)
    monkeypatch.setattr(diskcache.core, "pickle", Tripwire())
    if poison.startswith("pickle"):  # the wire is where it has to be
        ((key,),) = execute(directory, "SELECT key FROM Cache")
        with pytest.raises(Tripped):
            diskcache.Cache(str(directory / "v1")).get(key)
    inner = Counting(attrs.evolve(ANSWER, score=1.0))
    with cache_warnings() as messages:
        judge = CachedJudge(inner, directory=directory)
        assert judge.peek(request()) is None
        assert judge.judge(request()).score == 1.0
    assert len(messages) == (poison == "no text")  # which SQLite itself calls corrupt
    if not messages:
        again = CachedJudge(inner, directory=directory).peek(request())
        assert present(again).score == 1.0
    assert (directory / "victim").read_text() == "precious"
    assert len(inner.asked) == 1


def test_poisoned_keys_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when rows expire, with a file each, nor when keys are listed."""
    directory, clock = tmp_path / "c", Clock()
    judge = CachedJudge(Counting(), directory=directory, clock=clock)
    judge.judge(request())
    (directory / "victim").write_text("precious")
    execute(directory, "UPDATE Cache SET key = ?, raw = 0, filename = '../victim'", BOMB)
    monkeypatch.setattr(diskcache.core, "pickle", Tripwire())
    with pytest.raises(store.UnsafeRowError):
        list(present(judge._shelf._disk)._cache)
    with pytest.raises(Tripped):
        list(diskcache.Cache(str(directory / "v1")))
    clock.now += 2 * DAY
    judge.judge(request(1))
    assert execute(directory, "SELECT count(*) FROM Cache WHERE raw = 0") == [(0,)]
    assert (directory / "victim").read_text() == "precious"


def test_the_disk_takes_and_gives_nothing_but_short_text() -> None:
    """Every door that the base class has, and nothing through it."""
    disk = store.TextDisk("nowhere")
    for value in (b"x", 1, None, BOMB, "x" * (store.MAX_TEXT + 1)):
        with pytest.raises(TypeError):
            disk.store(value, read=False)
    with pytest.raises(TypeError):
        disk.store(io.StringIO("x"), read=True)
    for key in (b"x", 1, ("x",)):
        with pytest.raises(TypeError):
            disk.put(key)
    for row in ((BOMB, True), ("x", False), (BOMB, False)):
        with pytest.raises(store.UnsafeRowError):
            disk.get(*row)
    assert disk.get("x", raw=True) == "x"
    with pytest.raises(store.UnsafeRowError):
        disk.filename("x", "y")
    doors = {name for name in vars(diskcache.Disk) if not name.startswith("_")}
    assert doors - set(vars(store.TextDisk)) == {"hash"}  # of a key, which `put` has seen


# Directories that cannot be used.


def _halved(directory: Path) -> None:
    os.truncate(database(directory), database(directory).stat().st_size // 2)


def _cut(directory: Path) -> None:
    with CachedJudge(Counting(), directory=directory) as judge:
        for n in range(300):
            judge.judge(request(n))
    execute(directory, "PRAGMA wal_checkpoint(TRUNCATE)")
    _halved(directory)


def _with(sql: str) -> Callable[[Path], None]:
    def prepare(directory: Path) -> None:
        (directory / "v1").mkdir(mode=0o700, parents=True)
        directory.chmod(0o700)
        execute(directory, sql)
        database(directory).chmod(0o600)

    return prepare


def _stored(directory: Path) -> None:
    with CachedJudge(Counting(), directory=directory) as judge:
        judge.judge(request(9))


def _linked(link: Callable[[Path], Path]) -> Callable[[Path], None]:
    def prepare(directory: Path) -> None:
        real = directory.parent / "real"
        _stored(real)
        link(directory).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        link(directory).symlink_to(link(real))

    return prepare


def _with_more(*statements: str) -> Callable[[Path], None]:
    def prepare(directory: Path) -> None:
        _stored(directory)
        for sql in statements:
            execute(directory, sql)

    return prepare


def _triggered(name: str) -> Callable[[Path], None]:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    body = f"BEGIN SELECT count(*) FROM ({endless}); END"
    return _with_more(
        f"DROP TRIGGER IF EXISTS {name}", f"CREATE TRIGGER {name} AFTER INSERT ON Cache {body}"
    )


def _mode(part: Callable[[Path], Path], mode: int) -> Callable[[Path], None]:
    def prepare(directory: Path) -> None:
        _stored(directory)
        part(directory).chmod(mode)

    return prepare


def _junk(directory: Path) -> None:
    _with("SELECT 1")(directory)
    database(directory).write_bytes(b"something that the user wants to keep " * 1000)


def _itself(directory: Path) -> Path:
    return directory


def _v1(directory: Path) -> Path:
    return directory / "v1"


HUGE = "CREATE TABLE Settings (key, value CHECK (zeroblob(999999999) > value))"
OTHER_SETTINGS = "INSERT INTO Settings VALUES ('sqlite_temp_store_directory', 'x')"
COUNT = "Settings_count_insert"
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "junk": (_junk, "file is not a database"),
    "truncated": (_cut, "malformed"),
    "other table": (_with("CREATE TABLE users (id)"), "other tables than ours"),
    "other columns": (_with("CREATE TABLE Cache (id)"), "another layout of Cache"),
    "view": (_with("CREATE VIEW Cache AS SELECT 1"), "another layout of Cache"),
    "other types": (_with(HUGE), "another layout of Settings"),
    "trigger": (_triggered(COUNT), f"another layout of {COUNT}"),
    "trigger of a strange name": (_triggered("sqlitex"), "other tables than ours"),
    "other settings": (_with_more(OTHER_SETTINGS), "other settings than ours"),
    "database is a directory": (
        lambda d: database(d).mkdir(parents=True, mode=0o700),
        "is no regular file",
    ),
    "database is a symlink": (_linked(database), "is no regular file"),
    "subdirectory is a symlink": (_linked(_v1), "a link to one"),
    "directory is a symlink": (_linked(_itself), "a link to one"),
    "directory is a file": (lambda d: d.write_text("x"), "is no directory"),
    "parent is a file": (lambda d: d.parent.joinpath("c").write_text("x"), "directory"),
    "writable by others": (_mode(_itself, 0o777), "and mode 777"),
    "subdirectory writable by a group": (_mode(_v1, 0o770), "and mode 770"),
    "database writable by others": (_mode(database, 0o666), "and mode 666"),
    "variable in the name": (lambda _: None, "name of an environment variable"),
    "NUL in the name": (lambda _: None, "embedded null"),
}


@POSIX
@pytest.mark.parametrize("fault", BROKEN)
def test_a_directory_that_cannot_be_used_is_one_warning(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on in memory, and what was found is left as it was."""
    monkeypatch.setenv("SCOREKIT_X", "elsewhere")
    name = {"variable in the name": "$SCOREKIT_X", "NUL in the name": "\x00"}.get(fault, "c")
    directory = tmp_path / name
    prepare, reason = BROKEN[fault]
    gc.freeze()  # of what is older nothing has to be looked at
    prepare(directory)
    gc.collect()  # what was prepared is closed by now, which may empty a file beside the database
    gc.unfreeze()
    if fault == "parent is a file":
        directory = directory / "below"
    files = [p for p in tmp_path.rglob("*") if p.is_file() and p.suffix != ".db-shm"]
    before = {path: path.read_bytes() for path in files}
    inner = Counting()
    with cache_warnings() as messages:
        judge = CachedJudge(inner, directory=directory)
        for _ in range(2):
            for n in range(5):
                assert judge.judge(request(n)).score == 0.5
        assert all(judge.peek(request(n)) for n in range(5))
        judge.close()
    assert len(messages) == 1
    assert messages[0].startswith(f"verdicts are kept in memory, not in {directory}: ")
    assert reason in messages[0]
    assert len(inner.asked) == 5
    after = {p: p.read_bytes() for p in before if p.exists()}
    assert after == before


@POSIX
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("part", [_itself, _v1, database])
def test_what_belongs_to_somebody_else_is_refused(
    part: Callable[[Path], Path], tmp_path: Path
) -> None:
    """Its owner could put any verdict there."""
    CachedJudge(Counting(), directory=tmp_path / "c").judge(request())
    os.chown(part(tmp_path / "c"), 65534, 65534)
    with cache_warnings() as messages:
        assert CachedJudge(Counting(), directory=tmp_path / "c").peek(request()) is None
    assert len(messages) == 1
    assert "must be yours and writable by nobody else, got owner 65534" in messages[0]


UNPRIVILEGED = """
import gc, os, tempfile, urllib.parse  # Path.as_uri() needs it, and only root may read the library
import test_judges_cache as t
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
directory = t.Path(tempfile.mkdtemp(dir="/tmp"))
v1 = directory / "c" / "v1"
try:
    t.CachedJudge(t.Counting(), directory=directory / "c").judge(t.request())
    for modes, name in (
        ({directory: 0o500}, "d"),
        ({v1 / "cache.db": 0o400}, "c"),
        ({v1 / "cache.db": 0o400, v1: 0o500, directory / "c": 0o500}, "c"),
    ):
        gc.collect()  # a connection that is closed meanwhile would change what the next finds
        for path, mode in modes.items():
            path.chmod(mode)
        inner = t.Counting()
        with t.cache_warnings() as messages:
            judge = t.CachedJudge(inner, directory=directory / name)
            assert judge.judge(t.request()).cached == (name == "c")
            assert not judge.judge(t.request(1)).cached and judge.judge(t.request(1)).cached
            assert t.CachedJudge(inner, directory=directory / name).peek(t.request(1)) is None
        reason = "readonly database" if name == "c" else "Permission denied"
        assert len(messages) == 2 and all(reason in message for message in messages), messages
        for path in reversed(modes):
            path.chmod(0o700)
finally:
    t.shutil.rmtree(directory)
print("done")
"""


@POSIX
def test_a_directory_that_is_read_only() -> None:
    """What is stored is read, as a user with permissions, unlike root."""
    result = run_python(UNPRIVILEGED)
    assert (result.stdout, result.stderr) == ("done\n", "")


FULL = """
import resource, sys
import test_judges_cache as t
directory, n_bytes, is_full_at_first = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "True"
inner = t.Counting(t.attrs.evolve(t.ANSWER, reasoning="x" * 5000))
t.store._own_layout()  # which needs a disk, too
def fill():
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
with t.cache_warnings() as messages:
    if is_full_at_first:
        fill()
    judge = t.CachedJudge(inner, directory=directory)
    fill()
    for _ in range(2):
        for n in range(200):
            assert judge.judge(t.request(n)).score == 0.5
assert len(messages) == 1, messages
assert len(inner.asked) == 200
judge._shelf._rows.clear()
assert (judge.peek(t.request(0)) is not None) == (n_bytes > 100_000)  # what is stored is read
print(messages[0])
"""


@POSIX
@pytest.mark.parametrize(
    ("n_bytes", "is_full_at_first"), [(300_000, False), (40_000, True), (0, True)]
)
def test_a_disk_that_is_full(n_bytes: int, tmp_path: Path, *, is_full_at_first: bool) -> None:
    """Nothing is asked twice, and what was written before can be read afterwards."""
    result = run_python(FULL, str(tmp_path / "c"), str(n_bytes), str(is_full_at_first))
    assert result.stderr == ""
    assert result.stdout.startswith(f"verdicts are kept in memory, not in {tmp_path / 'c'}: ")
    with CachedJudge(Counting(), directory=tmp_path / "c") as judge:  # and there is room again
        assert (judge.peek(request(0)) is not None) == (n_bytes > 100_000)
        judge.judge(request(0))
    with CachedJudge(Counting(), directory=tmp_path / "c") as judge:
        assert judge.peek(request(0)) is not None


@POSIX
def test_nobody_else_may_read_or_write(tmp_path: Path) -> None:
    """Even where the user's mask would let them."""
    mask = os.umask(0)
    try:
        judge = CachedJudge(Counting(), directory=tmp_path / "c")
        judge.judge(request())
    finally:
        os.umask(mask)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert {modes.pop("c"), modes.pop("v1")} == {0o700}
    (claim,) = {name for name in modes if name.startswith("claim")}
    assert {*modes} == {claim, "cache.db", "cache.db-wal", "cache.db-shm"}
    assert {*modes.values()} == {0o600}


@pytest.fixture
def _short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TIMEOUT_SECONDS", 0.2)


@pytest.fixture
def _long_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let writers that a busy machine holds up get their turn."""
    monkeypatch.setattr(store, "TIMEOUT_SECONDS", 600)


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the write lock as another process would."""
    with contextlib.closing(sqlite3.connect(database(directory), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.mark.usefixtures("_short_timeout")
def test_a_lock_that_is_held_when_opening(tmp_path: Path) -> None:
    """By itself diskcache would try for a minute for each statement."""
    CachedJudge(Counting(), directory=tmp_path / "c").judge(request())
    with cache_warnings() as messages, locked(tmp_path / "c"):
        judge = CachedJudge(Counting(), directory=tmp_path / "c")
        assert judge.judge(request()).cached  # what is stored can be read
        assert not judge.judge(request(1)).cached
    assert len(messages) == 1
    assert "database is locked" in messages[0]


@pytest.mark.usefixtures("_short_timeout")
@pytest.mark.parametrize(
    "then", [lambda judge: judge.judge(request(3)), CachedJudge.close], ids=["next", "close"]
)
def test_a_lock_that_is_held_when_writing(
    then: Callable[[CachedJudge], object], tmp_path: Path
) -> None:
    """Later is not never: it is written with the next verdict, or where none comes at the end."""
    CachedJudge(Counting(), directory=tmp_path / "c").judge(request(0))
    judge = CachedJudge(Counting(), directory=tmp_path / "c")
    with cache_warnings() as messages:
        with locked(tmp_path / "c"):
            assert judge.peek(request(0)) is not None
            for n in (1, 2):
                assert judge.judge(request(n)) == ANSWER
                assert judge.judge(request(n)).cached
        then(judge)
    assert messages == []
    other = CachedJudge(Counting(), directory=tmp_path / "c")
    assert all(other.peek(request(n)) is not None for n in range(3))


@pytest.mark.usefixtures("_short_timeout")
def test_nobody_else_asks_while_a_verdict_is_still_to_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others find it as soon as the database is free."""
    monkeypatch.setattr(shelf, "TRIES", 10**6)
    inner = Counting()
    one, two = (CachedJudge(inner, directory=tmp_path / "c") for _ in range(2))
    with ThreadPoolExecutor(4) as pool:
        with locked(tmp_path / "c"):
            asked = [pool.submit(one.judge, request(n)) for n in (1, 2)]
            until(lambda: len(one._shelf._late) == 2)
            asked += [pool.submit(two.judge, request(n)) for n in (1, 2)]
            threading.Event().wait(1.0)
        assert {found.result().score for found in asked} == {ANSWER.score}
    assert len(inner.asked) == 2


@pytest.mark.usefixtures("_long_timeout")
def test_a_lock_that_is_held_when_writing_keeps_no_event_loop(tmp_path: Path) -> None:
    """Here it is the loop that lets go of the lock, so that it has to go on for the write."""
    inner = Counting()
    judge = CachedJudge(inner, directory=tmp_path / "c")

    async def run() -> Verdict:
        with locked(tmp_path / "c"):
            task = asyncio.ensure_future(judge.ajudge(request()))
            await asyncio.sleep(0.05)
        return await task

    with cache_warnings() as messages:
        assert asyncio.run(run()) == ANSWER
    assert messages == []
    assert CachedJudge(inner, directory=tmp_path / "c").peek(request()) is not None


def _emptied(directory: Path) -> None:
    os.truncate(database(directory), 0)


def _removed(directory: Path) -> None:
    shutil.rmtree(directory)


def _replaced(directory: Path) -> None:
    shutil.rmtree(directory)
    CachedJudge(Counting(), directory=directory)


def _renamed(directory: Path) -> None:
    directory.rename(directory.parent / "elsewhere")


def test_no_file_is_mapped_into_memory(tmp_path: Path) -> None:
    """In any thread: a file cut short while it is mapped would end the process."""
    judge = CachedJudge(Counting(), directory=tmp_path / "c")
    cache = present(judge._shelf._disk)._cache

    def mapped() -> Any:
        return cache._sql("PRAGMA mmap_size").fetchall()

    with ThreadPoolExecutor(1) as pool:
        assert mapped() == pool.submit(mapped).result() == [(0,)]
        pool.submit(cache.close).result()


@POSIX
@pytest.mark.parametrize("harm", [_emptied, _halved, _removed, _replaced, _renamed])
def test_a_database_harmed_while_open(harm: Callable[[Path], None], tmp_path: Path) -> None:
    """At most one warning, no crash, and every verdict that was paid for at hand."""
    inner = Counting()
    judge = CachedJudge(inner, directory=tmp_path / "c", max_entries=1000)
    for n in range(300):
        judge.judge(request(n))
    execute(tmp_path / "c", "PRAGMA wal_checkpoint(TRUNCATE)")
    harm(tmp_path / "c")
    with cache_warnings() as messages:
        for n in range(300, 320):
            judge.judge(request(n))
        with ThreadPoolExecutor(4) as pool:  # each with a connection of its own
            assert all(pool.map(judge.peek, map(request, range(320))))
            assert pool.submit(judge.peek, request(999)).result() is None
    assert len(messages) == 1
    assert len(inner.asked) == 320


def test_a_warning_made_an_error_does_not_reach_who_peeks(tmp_path: Path) -> None:
    """`peek` never raises; the log tells all the same."""
    judge = CachedJudge(Counting(), directory=tmp_path / "c")
    shutil.rmtree(tmp_path / "c")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judge.peek(request()) is None


# Several processes and threads.

WRITER = """
import sys
from scorekit._judge import store
from scorekit.judges import CachedJudge, JudgeRequest, Verdict, judge_from_function
store.TIMEOUT_SECONDS = 600
answer = Verdict(score=0.5, reasoning="No filter.")
inner = judge_from_function(lambda _: answer, identity="counting")
judge = CachedJudge(inner, directory=sys.argv[1])
for n in range(10**6):
    asked = JudgeRequest(generated=f"SELECT {n}", expected="SELECT 1", question=sys.argv[2])
    judge.judge(asked)
    print(n, flush=True)
"""


@POSIX
@pytest.mark.usefixtures("_long_timeout")
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    """Two writers at a time, killed in the middle of it, three times."""
    for round_ in range(3):
        writers = [f"{round_}/{i}" for i in range(2)]
        processes = [started(WRITER, str(tmp_path / "c"), writer) for writer in writers]
        for process in processes:
            assert process.stdout is not None
            for _ in range(100):
                process.stdout.readline()
        for process in processes:
            process.send_signal(signal.SIGKILL)
        judge = CachedJudge(Counting(), directory=tmp_path / "c")
        for writer, process in zip(writers, processes, strict=True):
            output, errors = process.communicate()
            assert errors == ""
            n_written = 100 + output.count("\n")
            assert all(judge.peek(request(n, question=writer)) for n in range(n_written))


@pytest.mark.usefixtures("_long_timeout")
def test_threads_share_a_judge(tmp_path: Path) -> None:
    """Every pair is asked about once, and everything is on disk."""
    inner = Counting()
    judge = CachedJudge(inner, directory=tmp_path / "c", max_entries=50)
    with ThreadPoolExecutor(16) as pool:
        verdicts = list(pool.map(judge.judge, [request(n % 200) for n in range(2000)]))
    assert {verdict.score for verdict in verdicts} == {0.5}
    assert len(inner.asked) == len(set(inner.asked)) == 200
    assert judge.stats.n_calls_saved == 1800
    again = CachedJudge(Counting(), directory=tmp_path / "c")
    assert all(again.peek(request(n)) for n in range(200))


def test_a_look_that_took_long_asks_for_nothing_that_is_on_disk(ask: Ask, tmp_path: Path) -> None:
    """Meanwhile another caller was answered, and memory has let the answer go."""
    now, paused, release = 0.0, threading.Event(), threading.Event()

    def clock() -> float:
        if threading.current_thread().name == "late" and not paused.is_set():
            paused.set()
            release.wait(120)
        return now

    inner = Counting()
    judge = CachedJudge(inner, directory=tmp_path / "c", max_entries=1, clock=clock)
    late = threading.Thread(target=lambda: ask(judge, request(0)), name="late")
    judge.judge(request(0))
    judge.judge(request(1))
    now = 1e9  # all of it has expired
    late.start()
    assert paused.wait(120)
    judge.judge(request(0))
    judge.judge(request(1))
    release.set()
    late.join(120)
    assert [asked.generated for asked in inner.asked].count(request(0).generated) == 2


@POSIX
def test_a_forked_process_goes_on(tmp_path: Path) -> None:
    """Though a thread that is not there any more held every lock and led a call."""
    parent, release = os.getpid(), threading.Event()

    def answer(asked: JudgeRequest) -> Verdict:
        if asked == request(1) and os.getpid() == parent:
            release.wait(120)
        return ANSWER

    judge = CachedJudge(Counting(answer))
    kept = CachedJudge(Counting(), directory=tmp_path / "c")
    for one in (judge, kept):
        one.judge(request(0))
    leader = threading.Thread(target=judge.judge, args=(request(1),))
    leader.start()
    until(lambda: judge._flight._calls)
    with judge._lock, judge._flight._lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
        child = os.fork()
        if child == 0:
            status = 1
            try:
                assert judge.judge(request(0)).cached
                assert judge.judge(request(1)) == ANSWER
                assert kept.judge(request(0)).cached
                assert kept.judge(request(2)) == ANSWER
                status = 0
            except BaseException:  # noqa: BLE001 - pytest must not go on in the child
                traceback.print_exc()
            finally:
                os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    release.set()
    leader.join()
    assert CachedJudge(Counting(), directory=tmp_path / "c").peek(request(2)) is not None


def test_a_pickle_holds_the_arguments(tmp_path: Path) -> None:
    """Workers open the directory themselves; verdicts and locks stay at home; a repr shows it."""
    judge = CachedJudge(HALF, directory=tmp_path / "c", ttl_seconds=7, max_entries=3)
    judge.judge(request())
    copy = pickle.loads(pickle.dumps(judge))
    assert (copy._directory, copy._ttl, copy._max_entries) == (tmp_path / "c", 7.0, 3)
    assert (copy._clock, copy.stats.n_hits) == (time.time, 0)
    assert copy.peek(request()) is not None
    assert pickle.loads(pickle.dumps(CachedJudge(HALF))).peek(request()) is None
    vote = VotingJudge(CachedJudge(HALF, directory=tmp_path), n_votes=5, swap_order=False)
    assert pickle.loads(pickle.dumps(vote)).identity == vote.identity
    assert repr(vote).endswith(
        f"directory={tmp_path!r}), n_votes=5, swap_order=False, ties='undecided')"
    )


def test_a_pickled_judge_reaches_a_clean_interpreter(tmp_path: Path) -> None:
    """And so do the records and the warning."""
    judge = CachedJudge(HALF, directory=tmp_path / "c")
    judge.judge(request())
    things = (judge.stats, CacheWarning("x"), store.StoreError("y"))
    data = pickle.dumps(things)
    program = (
        "import pickle, sys; stats, warning, error = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "print(stats.n_misses, repr(warning), repr(error), end='')"
    )
    result = run_python(program, data.hex())
    assert (result.stdout, result.stderr) == ("1 CacheWarning('x') StoreError('y')", "")
    assert CacheStatistics.from_dict(json.loads(json.dumps(judge.stats.to_dict()))) == judge.stats


def test_diskcache_is_loaded_for_a_directory_only() -> None:
    """Without it memory works, and a directory names what to install."""
    program = """
import sys
sys.modules["diskcache"] = None
from scorekit.judges import CachedJudge
from scorekit.judges import JudgeRequest, judge_from_function
judge = judge_from_function(lambda _: 1.0, identity="one")
print(CachedJudge(judge).judge(JudgeRequest(generated="a", expected="b")).score)
try:
    CachedJudge(judge, directory="/nowhere")
except ImportError as error:
    print(type(error).__name__, error)
"""
    result = run_python(program)
    assert result.stderr == ""
    score, message = result.stdout.splitlines()
    assert score == "1.0"
    assert message.startswith("MissingExtraError diskcache is not installed; run: pip install ")
    assert "'diskcache>=" in message


def test_after_closing_memory_goes_on(tmp_path: Path) -> None:
    """Without a warning: it was asked for."""
    judge = CachedJudge(Counting(), directory=tmp_path / "c")
    with judge as same:
        assert same is judge
        judge.judge(request(0))
    judge.close()
    assert judge.peek(request(0)) is not None
    judge.judge(request(1))
    assert judge.peek(request(1)) is not None
    assert CachedJudge(Counting(), directory=tmp_path / "c").peek(request(1)) is None


def test_a_disk_that_fails_after_closing_is_nobodys_business(tmp_path: Path) -> None:
    """Another thread may have been in the middle of a read; no warning comes of that."""
    judge = CachedJudge(Counting(), directory=tmp_path / "c")

    def read(_: object) -> None:
        judge.close()
        raise OSError("too late")

    judge._shelf._tried(read)
    assert judge.judge(request(1)).score == 0.5


def test_closing_in_the_middle_of_an_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may close the disk at any moment; the verdict is there all the same."""

    class Racing:
        """The module, where the other thread is at its fastest."""

        def __getattr__(self, name: str) -> Any:
            return getattr(threading, name)

        def get_ident(self) -> int:
            judge.close()
            return -1

    judge = CachedJudge(Counting(), directory=tmp_path / "c")
    monkeypatch.setattr(shelf, "threading", Racing())
    assert judge.judge(request()).score == 0.5


# One call per key.


class Gate(Counting):
    """A judge that answers when the gate opens, sync and async."""

    def __init__(self) -> None:
        super().__init__()
        self.open = threading.Event()
        self.cancelled = 0

    def judge(self, asked: JudgeRequest, /) -> Verdict:
        """Wait for the gate."""
        self.asked.append(asked)
        assert self.open.wait(120)
        return ANSWER

    async def ajudge(self, asked: JudgeRequest, /) -> Verdict:
        """Wait for the gate, and count cancellations."""
        self.asked.append(asked)
        try:
            await auntil(self.open.is_set)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ANSWER


def n_waiting(judge: CachedJudge) -> int:
    """Return how many wait for calls under way, leading tasks among them, leading threads too."""
    return sum(call.n_waiting for call in list(judge._flight._calls.values()))


@pytest.mark.parametrize("first", ["thread", "loop"])
def test_threads_and_loops_share_one_call(first: str) -> None:
    """Whoever leads it pays; the others, of the same loop too, say that they did not."""
    inner = Gate()
    judge = CachedJudge(inner)

    async def many() -> list[Verdict]:
        return list(await asyncio.gather(*(judge.ajudge(request()) for _ in range(10))))

    with ThreadPoolExecutor(6) as pool:
        asks: list[Callable[[], Any]] = [lambda: [judge.judge(request())]] * 3
        loops: list[Callable[[], Any]] = [lambda: asyncio.run(many())] * 3
        order = asks + loops if first == "thread" else loops + asks
        answers = [pool.submit(order[0])]
        until(lambda: inner.asked)
        answers += [pool.submit(ask) for ask in order[1:]]
        until(lambda: n_waiting(judge) == 33)
        inner.open.set()
        verdicts = [verdict for answer in answers for verdict in answer.result()]
    assert len(inner.asked) == 1
    assert sorted(verdict.cached for verdict in verdicts) == [False] + [True] * 32
    assert judge.stats == CacheStatistics(
        n_hits=0, n_disk_hits=0, n_misses=1, n_shared=32, n_calls_saved=32
    )
    assert judge._flight._calls == {}


@pytest.mark.parametrize(
    ("fail", "error"),
    # no asyncio future takes a StopIteration, so a thread's must not reach one
    [(lambda: 1 / 0, ZeroDivisionError), (lambda: next(iter(())), RuntimeError)],
    ids=["error", "StopIteration"],
)
def test_an_error_reaches_all_who_wait_and_is_not_kept(
    fail: Callable[[], object], error: type[Exception]
) -> None:
    """The next one to ask, asks."""
    inner = Gate()
    judge = CachedJudge(Counting(lambda asked: (inner.judge(asked), fail())))
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(judge.judge, request()) for _ in range(7)]
        until(lambda: inner.asked)
        answers.append(pool.submit(lambda: asyncio.run(judge.ajudge(request()))))
        until(lambda: n_waiting(judge) == 8)
        inner.open.set()
        assert {type(answer.exception()) for answer in answers} == {error}
    assert len(inner.asked) == 1
    with pytest.raises(error):
        judge.judge(request())
    assert len(inner.asked) == 2


@pytest.mark.parametrize("n_leaving", [1, 3])
def test_who_waits_may_leave(n_leaving: int) -> None:
    """The call goes on for the others; with nobody left it is cancelled, and the next asks."""
    inner = Gate()
    judge = CachedJudge(inner)

    async def run() -> list[Verdict]:
        tasks = [asyncio.ensure_future(judge.ajudge(request())) for _ in range(3)]
        await auntil(lambda: n_waiting(judge) == 3)
        for task in tasks[:n_leaving]:
            task.cancel()
        left = await asyncio.gather(*tasks[:n_leaving], return_exceptions=True)
        assert {type(error) for error in left} == {asyncio.CancelledError}
        assert len(judge._flight._calls) == (n_leaving < 3)
        tasks.append(asyncio.ensure_future(judge.ajudge(request())))
        await auntil(lambda: n_leaving < 3 or inner.cancelled)
        inner.open.set()
        return await asyncio.gather(*tasks[n_leaving:])

    assert {verdict.score for verdict in asyncio.run(run())} == {0.5}
    assert (len(inner.asked), inner.cancelled) == ((1, 0) if n_leaving < 3 else (2, 1))


def test_when_the_leader_is_interrupted_another_asks() -> None:
    """Ctrl-C in one thread must not hang or fail the others."""
    go = threading.Event()

    def answer(_: JudgeRequest) -> Verdict:
        if len(inner.asked) == 1:
            go.wait(120)
            raise KeyboardInterrupt
        return ANSWER

    inner = Counting(answer)
    judge = CachedJudge(inner)
    with ThreadPoolExecutor(5) as pool:
        first = pool.submit(judge.judge, request())
        until(lambda: inner.asked)
        others = [pool.submit(judge.judge, request()) for _ in range(3)]
        others.append(pool.submit(lambda: asyncio.run(judge.ajudge(request()))))
        until(lambda: n_waiting(judge) == 5)
        go.set()
        assert isinstance(first.exception(), KeyboardInterrupt)
        assert {other.result().score for other in others} == {0.5}
    assert len(inner.asked) == 2


@pytest.mark.parametrize("waiting", [True, False], ids=["who waits", "who comes later"])
def test_a_loop_that_was_closed_keeps_nobody(*, waiting: bool) -> None:
    """The call it led will never end."""
    inner = Gate()
    judge = CachedJudge(inner)
    loop = asyncio.new_event_loop()
    task = loop.create_task(judge.ajudge(request()))
    with ThreadPoolExecutor(2) as pool:
        running = pool.submit(loop.run_forever)
        until(lambda: inner.asked)
        answers = []
        if waiting:
            answers.append(pool.submit(judge.judge, request()))
            until(lambda: n_waiting(judge) == 2)
        loop.call_soon_threadsafe(loop.stop)
        running.result()
        inner.open.set()
        answers.append(pool.submit(lambda: asyncio.run(judge.ajudge(request()))))
        assert [answer.result().score for answer in answers] == [0.5] * len(answers)
    assert len(inner.asked) == 2
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_until_complete(task)
    loop.close()


def test_a_call_through_a_loop_does_not_block_the_same_loop() -> None:
    """Whoever calls `judge` in an event loop must not wait for a task of that loop."""
    inner = Gate()
    judge = CachedJudge(inner)

    async def run() -> list[Verdict]:
        task = asyncio.ensure_future(judge.ajudge(request()))
        await auntil(lambda: n_waiting(judge) == 1)
        inner.open.set()
        return [judge.judge(request()), await task]

    assert asyncio.run(run()) == [ANSWER, ANSWER]


@pytest.mark.parametrize("form", ["pair", "case"])
def test_a_notebook_cell_does_not_wait_for_the_loop_that_it_blocks(form: str) -> None:
    """A task of the loop asks about a pair; a plain call in the loop asks about it as well."""

    class FirstWaits(Counting):
        async def ajudge(self, asked: JudgeRequest, /) -> Verdict:
            self.asked.append(asked)
            if len(self.asked) == 1:
                await done.wait()
            return ANSWER

    async def run() -> list[Any]:
        task = asyncio.ensure_future(aquery_correctness("SELECT 0", "SELECT 1", judge=judge))
        await auntil(lambda: inner.asked)
        if form == "pair":
            plain: Any = query_correctness("SELECT 0", "SELECT 1", judge=judge)
        else:
            case = SqlCase(case_id="q", generated="SELECT 0", expected="SELECT 1")
            plain = score_sql_case(case, judge=judge).query_correctness
        done.set()
        return [plain, await task]

    done = asyncio.Event()
    inner = FirstWaits()
    judge = CachedJudge(inner)
    results = asyncio.run(run())
    assert [(result.score, result.error) for result in results] == [(0.5, None)] * 2
    assert len(inner.asked) == 2


def test_a_judge_that_asks_for_its_own_verdict(ask: Ask) -> None:
    """It would wait for itself for ever."""

    class Recursive(Counting):
        def judge(self, asked: JudgeRequest, /) -> Verdict:
            return judge.judge(asked)

        async def ajudge(self, asked: JudgeRequest, /) -> Verdict:
            return await asyncio.ensure_future(judge.ajudge(asked))

    judge = CachedJudge(Recursive())
    with pytest.raises(JudgeError, match=r"^recursion: the judge asked for the very verdict"):
        ask(judge, request())
    assert judge._flight._calls == {}


def test_a_judge_may_ask_for_other_verdicts(ask: Ask) -> None:
    """Only the same one is recursion."""

    def answer(asked: JudgeRequest) -> Verdict:
        return judge.judge(request(1)) if asked == request(0) else ANSWER

    inner = Counting(answer)
    judge = CachedJudge(inner)
    assert ask(judge, request(0)).score == 0.5
    assert len(inner.asked) == 2


@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt])
def test_what_a_task_raises_for_its_loop_passes(error: type[BaseException]) -> None:
    """To whoever runs the loop; a judge that cancels itself is not asked again and again."""

    async def give_up(_: JudgeRequest) -> Verdict:
        asked.append(1)
        raise error

    asked: list[int] = []
    judge = CachedJudge(judge_from_function(give_up, identity="gives up"))
    with pytest.raises(error):
        asyncio.run(judge.ajudge(request()))
    assert asked == [1]


def test_the_wait_for_a_stopped_loop_is_short() -> None:
    """The time limit of a judgement is 30 s by default."""
    assert single_flight.POLL_SECONDS < 1


# Bad arguments.


@refusals("""
judge=None -> TypeError: judge must be a Judge (see judge_from_function), got None
directory="" -> InputError: directory must be a non-empty string, got ''
directory=b"x" -> TypeError: directory must be a path, got b'x'
ttl_seconds=0 -> InputError: ttl_seconds must be a finite number > 0, got 0
clock=5 -> TypeError: clock must be a callable, got 5
max_entries=0 -> InputError: max_entries must be an integer >= 1, got 0
""")
def test_errors(wrong: Refusal) -> None:
    """The caller's own mistakes raise."""
    wrong.by(CachedJudge, judge=HALF)


@refusals("""
judge=half
    -> TypeError: judge must be a Judge (see judge_from_function), got <function half at 0x...
n_votes=0 -> InputError: n_votes must be an integer >= 1, got 0...
n_votes=3.0 -> TypeError: n_votes must be an integer >= 1, got 3.0...
swap_order=2 -> TypeError: swap_order must be True or False, got 2...
ties="one" -> InputError: ties must be one of 'undecided', 'half', got 'one'...
""")
def test_voting_errors(wrong: Refusal) -> None:
    """As above."""
    wrong.by(VotingJudge, judge=HALF)


class Shy(Counting):
    """A judge whose identity costs something to find, or cannot be found."""

    def __init__(self, found: str | Exception) -> None:
        self.found = found
        self.n_reads = 0
        self.answer = ANSWER
        self.asked = []

    @property
    def identity(self) -> str:  # type: ignore[override]
        """Count how often it is read."""
        self.n_reads += 1
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.mark.parametrize("wrap", [CachedJudge, lambda judge: CachedJudge(VotingJudge(judge))])
def test_an_identity_is_read_once(wrap: Callable[[Any], CachedJudge], ask: Ask) -> None:
    """It may read files; and one that changed in between would split the cache."""
    inner = Shy("shy")
    judge = wrap(inner)
    for n in (0, 1, 0):
        ask(judge, request(n))
    assert judge.peek(request(1)) is not None
    assert (judge.identity.endswith("shy"), inner.n_reads) == (True, 1)


@pytest.mark.parametrize("found", [OSError("no such file"), AttributeError("x"), ""])
def test_an_identity_that_cannot_be_had_fails_where_it_is_needed(found: Any, ask: Ask) -> None:
    """Not where the judge is made; `peek` never raises, and a run counts it as a failure."""
    judge = CachedJudge(Shy(found))
    assert judge.peek(request()) is None
    with pytest.raises((OSError, AttributeError, InputError)):
        ask(judge, request())
    result = query_correctness("SELECT 1", "SELECT a FROM t", judge=judge)
    assert failure_of(result.error) == "instrument: judge_failure"


@pytest.mark.parametrize("where", range(0, 4096, 97))
def test_a_flipped_bit_in_the_schema_is_one_warning(where: int, tmp_path: Path) -> None:
    """However SQLite and diskcache fail on it, the run goes on."""
    with CachedJudge(Counting(), directory=tmp_path / "c") as judge:
        judge.judge(request())
    path = database(tmp_path / "c")
    content = bytearray(path.read_bytes())
    content[where] ^= 0x10
    path.write_bytes(content)
    inner = Counting()
    with cache_warnings() as messages:
        judge = CachedJudge(inner, directory=tmp_path / "c")
        assert [judge.judge(request(n)).score for n in (0, 1, 0)] == [0.5] * 3
    assert len(messages) <= 1


# Voting.

SCORES = st.sampled_from([1.0, 0.5, 0.0])
VOTES = st.lists(SCORES, min_size=1, max_size=9)


def voted(scores: list[float], **options: Any) -> Verdict | str:
    """Return the outcome of a vote, or the kind of a tie."""
    inner = Counting(lambda asked: Verdict(score=scores[asked.trial], reasoning=str(asked.trial)))
    try:
        return VotingJudge(inner, n_votes=len(scores), **options).judge(request())
    except JudgeError as error:
        return error.kind


def elected(scores: list[float], *, swap_order: bool) -> float | str:
    """Return what wins, by counting: the modes of both orders, else the median of all votes."""
    modes = set(statistics.multimode(scores))
    if swap_order and len(scores) > 1:
        modes = set(statistics.multimode(scores[::2])) & set(statistics.multimode(scores[1::2]))
    if not modes:
        return "order"
    middle = statistics.median_low(scores), statistics.median_high(scores)
    if len(modes) > 1 and (len({*middle}) > 1 or middle[0] not in modes):
        return "tie"
    return modes.pop() if len(modes) == 1 else middle[0]


@given(VOTES, st.booleans())
@example([1.0, 0.0, 1.0], True)  # noqa: FBT003
@example([1.0, 0.0, 1.0, 0.0], True)  # noqa: FBT003
@example([1.0, 0.5, 0.0], False)  # noqa: FBT003
@example([1.0, 1.0, 0.0, 0.0], True)  # noqa: FBT003
@example([1.0, 1.0, 1.0, 0.5, 0.5, 0.0, 0.0], False)  # noqa: FBT003
def test_votes_obey_the_laws_of_elections(scores: list[float], swap_order: bool) -> None:  # noqa: FBT001
    """A majority for each order; fair to both ends; a tie is half where that is wanted."""
    wanted = elected(scores, swap_order=swap_order)
    found = voted(scores, swap_order=swap_order)
    half = voted(scores, swap_order=swap_order, ties="half")
    assert isinstance(half, Verdict)
    assert half.votes == tuple(scores)
    if isinstance(wanted, str):
        assert (found, half.score) == (wanted, 0.5)
        assert half.reasoning.endswith(f"votes {', '.join(f'{score:g}' for score in scores)}")
    else:
        assert isinstance(found, Verdict)
        assert found == half
        assert found.score == wanted == scores[int(found.reasoning)]
    turned = elected([1.0 - score for score in scores], swap_order=swap_order)
    assert turned == (wanted if isinstance(wanted, str) else 1.0 - wanted)


@pytest.mark.parametrize("n_votes", [2, 3, 4, 5])
def test_a_judge_that_answers_by_order_alone_decides_nothing(n_votes: int, tmp_path: Path) -> None:
    """Neither asked nor from cached votes; what was paid is kept, and half is half."""
    inner = Counting(lambda asked: Verdict(score=asked.generated == "SELECT a", cost_usd=0.25))
    cached = CachedJudge(inner, directory=tmp_path / "c")
    for n_paid in (n_votes, 0):
        result = query_correctness(
            "SELECT a", "SELECT b", judge=VotingJudge(cached, n_votes=n_votes), evidence="judge"
        )
        assert failure_of(result.error) == "instrument: order"
        assert (result.score, result.method) == (0.0, None)
        assert result.cost_usd == 0.25 * n_votes
        assert len(inner.asked) == n_votes, n_paid
    report = score_sql_cases(
        [SqlCase(case_id="q", generated="SELECT a", expected="SELECT b")],
        judge=VotingJudge(cached, n_votes=n_votes),
        evidence="judge",
    )
    assert (report.n_failed, report.n_undecided) == (1, 1)
    half = VotingJudge(cached, n_votes=n_votes, ties="half")
    assert query_correctness("SELECT a", "SELECT b", judge=half, evidence="judge").score == 0.5
    assert len(inner.asked) == n_votes


def test_every_second_ask_is_swapped(ask: Ask) -> None:
    """With what each returns, and with a trial of its own, also as one of several trials."""
    lines = "t(a): (1)\nThe generated query returns: (2)\nThe expected query returns: no rows"
    turned = "t(a): (1)\nThe expected query returns: (2)\nThe generated query returns: no rows"
    straight, swapped = ("SELECT 5", "SELECT 1", lines), ("SELECT 1", "SELECT 5", turned)
    for swap_order in (True, False):
        inner = Counting()
        asked = request(5, trial=2, counterexample=lines)
        ask(VotingJudge(inner, n_votes=3, swap_order=swap_order), asked)
        orders = [(one.generated, one.expected, one.counterexample) for one in inner.asked]
        assert orders == [straight, swapped if swap_order else straight, straight]
        assert [one.trial for one in inner.asked] == [6, 7, 8]


def test_cost_and_tokens_are_summed(ask: Ask) -> None:
    """By kind; a cost that is not known makes the sum unknown."""
    usages: list[Any] = [{"input_tokens": 5}, {"input_tokens": 7, "output_tokens": 1}, None]
    costs: list[float | None] = [0.1, 0.2, 0.3]

    def answer(asked: JudgeRequest) -> Verdict:
        usage = usages[asked.trial] and FrozenMapping(usages[asked.trial])
        return attrs.evolve(ANSWER, usage=usage, cost_usd=costs[asked.trial])

    verdict = ask(VotingJudge(Counting(answer), n_votes=3), request())
    assert verdict.usage == FrozenMapping({"input_tokens": 12, "output_tokens": 1})
    assert verdict.cost_usd == pytest.approx(0.6, rel=1e-15)
    assert hash(verdict) == hash(attrs.evolve(verdict))
    costs[1], usages[:] = None, [None] * 3
    verdict = ask(VotingJudge(Counting(answer), n_votes=3), request())
    assert (verdict.cost_usd, verdict.usage) == (None, None)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (JudgeError("overloaded", "529", {"input_tokens": 3}, 0.5), "overloaded: 529"),
        (TimeoutError("slow"), "timeout: LLM judge timeout: a vote is missing"),
    ],
    ids=["error", "timeout"],
)
def test_a_vote_that_fails_fails_the_whole_and_keeps_what_was_paid(
    ask: Ask, failure: Any, message: str
) -> None:
    """Two of three votes are no majority of three; a time-out is still seen as one."""

    def answer(asked: JudgeRequest) -> Verdict:
        if asked.trial == 1:
            raise failure
        return attrs.evolve(ANSWER, usage=FrozenMapping({"input_tokens": 100}), cost_usd=0.25)

    inner = Counting(answer)
    with pytest.raises(JudgeError, match=f"^{message}") as caught:
        ask(VotingJudge(inner, n_votes=3), request())
    n_answers = len(inner.asked) - 1
    assert n_answers >= 1
    kind = message.partition(":")[0]
    tokens, cost = (3, 0.5) if kind == "overloaded" else (0, 0.0)
    assert caught.value.usage == {"input_tokens": tokens + 100 * n_answers}
    assert caught.value.cost_usd == cost + 0.25 * n_answers
    voting = VotingJudge(inner, n_votes=3)
    result = query_correctness("SELECT 1 FROM t", "SELECT 2 FROM t", judge=voting)
    assert (present(result.error).kind, result.cost_usd) == (kind, cost + 0.5)


@pytest.mark.parametrize("failure", [TimeoutError("slow"), ValueError("x")])
def test_other_failures_pass_as_they_are(ask: Ask, failure: Exception) -> None:
    """A time-out must still be seen as one."""

    def answer(_: JudgeRequest) -> Verdict:
        raise failure

    no_verdict: Any = "yes"
    with pytest.raises(type(failure)):
        ask(VotingJudge(Counting(answer)), request())
    with pytest.raises(JudgeError, match=r"^invalid_response: a judge must return a Verdict"):
        ask(VotingJudge(Counting(lambda _: no_verdict)), request())


def test_asynchronous_votes_run_side_by_side() -> None:
    """All are under way before the first is answered."""
    inner = Gate()

    async def run() -> Verdict:
        task = asyncio.ensure_future(VotingJudge(inner, n_votes=5).ajudge(request()))
        await auntil(lambda: len(inner.asked) == 5)
        inner.open.set()
        return await task

    assert asyncio.run(run()).votes == (0.5,) * 5


def test_each_vote_is_remembered_by_itself(ask: Ask, tmp_path: Path) -> None:
    """A repeated vote costs nothing, and three more votes cost three."""
    inner = Counting(lambda asked: Verdict(score=(1.0, 0.5, 0.5)[asked.trial % 3]))
    cached = CachedJudge(inner, directory=tmp_path / "c")
    judge = VotingJudge(cached, n_votes=3)
    assert judge.peek(request()) is None
    first = ask(judge, request())
    assert (first.votes, first.cached) == ((1.0, 0.5, 0.5), False)
    assert ask(judge, request()) == judge.peek(request()) == attrs.evolve(first, cached=True)
    assert len(inner.asked) == 3
    ask(VotingJudge(cached, n_votes=5), request())
    assert len(inner.asked) == 5
    assert query_correctness("SELECT 0", "SELECT 1", judge=judge).votes == first.votes
    assert VotingJudge(inner).peek(request()) is None


def test_a_cache_around_a_vote_keeps_the_vote(ask: Ask) -> None:
    """The other way round the whole is one entry, apart from that of a single ask."""
    inner = Counting()
    votes = [VotingJudge(inner), VotingJudge(inner, n_votes=5), VotingJudge(inner, ties="half")]
    votes += [VotingJudge(inner, swap_order=False), VotingJudge(Counting(identity="other"))]
    assert len({inner.identity, *(vote.identity for vote in votes)}) == 6
    judge = CachedJudge(VotingJudge(inner, n_votes=3))
    assert ask(judge, request()).votes == ask(judge, request()).votes == (0.5, 0.5, 0.5)
    assert len(inner.asked) == 3


# Evidence beside verdicts.

PAIR = ("SELECT a FROM t WHERE a > 1", "SELECT a FROM t WHERE a >= 1")


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what evidence is looked for."""
    found: list[str] = []

    def look(generated: str, *arguments: Any, **options: Any) -> Any:
        found.append(generated)
        return sql_equivalence(generated, *arguments, **options)

    monkeypatch.setattr(correctness, "sql_equivalence", look)
    return found


@pytest.mark.parametrize("n_votes", [0, 3])
def test_a_verdict_on_disk_is_found_before_evidence_is_looked_for(
    n_votes: int, looked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is anything parsed; the result is the same, with its counterexample."""
    results: list[QueryCorrectness] = []
    for n in range(2):
        if n:
            monkeypatch.setattr(Faults, "of_generated", pytest.fail)
        with CachedJudge(HALF, directory=tmp_path) as cached:
            judge = VotingJudge(cached, n_votes=n_votes) if n_votes else cached
            results.append(query_correctness(*PAIR, judge=judge, schema={"t": {"a": "int"}}))
    assert looked == [PAIR[0]]
    assert [result.cached for result in results] == [False, True]
    first, second = (attrs.evolve(result, cached=True) for result in results)
    assert first == second
    assert present(second.equivalence).verdict == "refuted"


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": {"t": {"a": "text"}}},
        {"schema": "CREATE TABLE t (a int)"},  # the words of the mapping, which says more
        {"schema": None},
        {"dialect": "sqlite"},
        {"generated": "SELECT a FROM t WHERE a > 2"},
        {"expected": "SELECT a FROM t WHERE a >= 2"},
    ],
)
def test_evidence_on_disk_is_that_of_the_very_pair(
    changes: dict[str, Any], looked: list[str], tmp_path: Path
) -> None:
    """Whatever evidence rests on is in its key."""
    asked: dict[str, Any] = {
        "generated": PAIR[0],
        "expected": PAIR[1],
        "schema": {"t": {"a": "int"}},
        "dialect": "postgres",
    }
    for arguments in (asked, asked | changes):
        with CachedJudge(HALF, directory=tmp_path) as judge:
            query_correctness(**arguments, judge=judge)
    assert len(looked) == 2


def test_evidence_of_other_code_is_looked_for_again(
    looked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version of the prover, the parser or SQLite may say something else."""
    for version in ("1", "2"):
        monkeypatch.setattr(correctness, "_code", partial(str, version))
        with CachedJudge(HALF, directory=tmp_path) as judge:
            query_correctness(*PAIR, judge=judge)
    assert len(looked) == 2


def test_evidence_lives_as_long_as_a_verdict(looked: list[str], tmp_path: Path) -> None:
    """A day, by the clock of the cache."""
    for now in (0.0, 86_399.0, 86_400.0):
        with CachedJudge(HALF, directory=tmp_path, clock=partial(float, now)) as judge:
            query_correctness(*PAIR, judge=judge)
    assert len(looked) == 2


@pytest.mark.parametrize(
    "note", ["", "{", "null", "[]", '{"verdict": "proved"}', '{"verdict": "sure", "reason": "so"}']
)
def test_evidence_that_somebody_wrote_is_looked_for_again(
    note: str, looked: list[str], tmp_path: Path
) -> None:
    """What is not whole is not believed, and nothing is raised."""
    with CachedJudge(HALF, directory=tmp_path) as judge:
        first = query_correctness(*PAIR, judge=judge)
    for key, value in execute(tmp_path, "SELECT key, value FROM Cache"):
        row = json.loads(value)
        if "n" in row:
            text = value.replace(json.dumps(row["n"]), note)
            execute(tmp_path, "UPDATE Cache SET value = ? WHERE key = ?", text, key)
    with CachedJudge(HALF, directory=tmp_path) as judge:
        assert query_correctness(*PAIR, judge=judge) == attrs.evolve(first, cached=True)
    assert len(looked) == 2


def test_notes_without_a_directory_are_nowhere(looked: list[str]) -> None:
    """In memory evidence is kept already; statistics count requests alone."""
    judge = CachedJudge(HALF)
    for _ in range(2):
        query_correctness(*PAIR, judge=judge)
    assert present(memo_of(judge)).recall("x") is None
    assert len(looked) == 1
    assert (judge.stats.n_misses, judge.stats.n_hits) == (1, 1)


def test_what_is_wrong_at_sight_is_not_kept(looked: list[str], tmp_path: Path) -> None:
    """No evidence is looked for on SQL that cannot be read or names what is not there."""
    with CachedJudge(HALF, directory=tmp_path) as judge:
        for generated in ("SELECT (", "SELECT b FROM t"):
            result = query_correctness(generated, PAIR[1], judge=judge, schema={"t": {"a": "int"}})
            assert present(result.error).origin == "output"
    assert looked == []
    assert execute(tmp_path, "SELECT count(*) FROM Cache") == [(0,)]
