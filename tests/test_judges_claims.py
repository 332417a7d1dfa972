"""Who asks about a pair: locks of the system, one handle a directory and process."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from scorekit._core.progress import reporting, say_waiting
from scorekit._judge import claims
from scorekit._judge.claims import Claims
from scorekit.judges import CachedJudge, CacheWarning, JudgeRequest, judge_from_function

pytest.importorskip("diskcache")

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="other locks")

OTHER = """
import sys
from scorekit._judge.claims import Claims
print([Claims(sys.argv[1]).take(key) for key in ("a", "b")])
"""


def other(directory: Path) -> str:
    """Return whether another process may have the keys a and b."""
    command = [sys.executable, "-c", OTHER, str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_what_one_holds_nobody_else_may(tmp_path: Path) -> None:
    """Neither another user in this process nor another process, until it is given up."""
    one, two = Claims(str(tmp_path)), Claims(str(tmp_path))
    assert (one.take("a"), one.take("a")) == (True, False)
    assert (two.take("a"), two.take("b")) == (False, True)
    assert other(tmp_path) == "[False, False]"
    two.release("a")  # it is not two's
    assert other(tmp_path) == "[False, False]"
    two.close()  # which closes no handle: one still has it
    assert other(tmp_path) == "[False, True]"
    one.release("a")
    assert other(tmp_path) == "[True, True]"
    one.close()
    assert Claims().take("a")  # without a directory a claim is the user's own
    assert Claims().take("a")


@POSIX
def test_a_file_system_without_locks_ends_sharing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one warning that says so, and every verdict at hand."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(claims, "_lock", fail)
    half = judge_from_function(lambda _: 0.5, identity="half")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        judge = CachedJudge(half, directory=tmp_path / "c")
        for i in range(3):
            pair = JudgeRequest(generated=str(i), expected="x")
            assert judge.judge(pair).score == 0.5
            assert judge.judge(pair).cached
    refused = f"[Errno {errno.ENOLCK}] {os.strerror(errno.ENOLCK)}"
    words = f"verdicts are kept in memory, not in {tmp_path / 'c'}: NoLocksError: {refused}"
    assert [str(one.message) for one in caught if one.category is CacheWarning] == [words]


WITHOUT_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuses(int file, int command) {
    char link[64], path[4096] = "";
    if (command != F_SETLK && command != F_SETLKW) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, path, sizeof path - 1) < 0) return 0;
    return strstr(path, getenv("WITHOUT_LOCKS")) == path;
}

#define WRAPPED(name) int name(int file, int command, ...) { \\
    va_list more; \\
    va_start(more, command); \\
    void *argument = va_arg(more, void *); \\
    va_end(more); \\
    if (refuses(file, command)) { errno = ENOLCK; return -1; } \\
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, #name); \\
    return real(file, command, argument); \\
}
WRAPPED(fcntl)
WRAPPED(fcntl64)
"""

ASKED = """
import sys, warnings
from scorekit import CachedJudge, JudgeRequest, judge_from_function
n_asked = 0
def half(_):
    global n_asked
    n_asked += 1
    return 0.5
pair = JudgeRequest(generated="a", expected="b")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        judge = CachedJudge(judge_from_function(half, identity="half"), directory=sys.argv[1])
        assert [judge.judge(pair).score for _ in range(2)] == [0.5, 0.5]
        judge.close()
print(n_asked, *(one.message for one in caught))
"""


COMPILER = shutil.which("cc") or ""


@pytest.mark.skipif(
    sys.platform != "linux" or not COMPILER, reason="a function of the C library is wrapped"
)
def test_locks_that_really_fail_are_found_out_before_sqlite_asks_for_them(tmp_path: Path) -> None:
    """It would go on asking for twenty seconds where the directory has been filled elsewhere."""
    directory, wrapped = tmp_path / "c", tmp_path / "wrapped.so"
    source = tmp_path / "wrapped.c"
    source.write_text(WITHOUT_LOCKS)
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-o", str(wrapped), str(source), "-ldl"], check=True
    )
    environment = {**os.environ, "LD_PRELOAD": str(wrapped), "WITHOUT_LOCKS": str(directory)}
    command = [sys.executable, "-c", ASKED, str(directory)]
    whole = subprocess.run(command, capture_output=True, text=True, check=True)
    assert whole.stdout == "1\n"
    without = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment, timeout=15
    )
    refused = f"[Errno {errno.ENOLCK}] {os.strerror(errno.ENOLCK)}"
    words = f"verdicts are kept in memory, not in {directory}: NoLocksError: {refused}"
    assert without.stdout == f"2 {words} {words}\n"


def test_a_bar_says_what_it_waits_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before anything is done."""
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with reporting(progress=True, unit="case") as tell:
        say_waiting("waiting for the service")
        assert "waiting for the service" in capsys.readouterr().err
        assert tell is not None
        tell(1, 2)
        say_waiting(None)
    assert "1 of 2 cases" in capsys.readouterr().err
