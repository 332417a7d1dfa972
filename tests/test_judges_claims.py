"""Who asks about a pair: locks of the system, one handle a directory and process."""

from __future__ import annotations

import errno
import os
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
    judge = CachedJudge(
        judge_from_function(lambda _: 0.5, identity="half"), directory=tmp_path / "c"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(3):
            pair = JudgeRequest(generated=str(i), expected="x")
            assert judge.judge(pair).score == 0.5
            assert judge.judge(pair).cached
    assert [str(one.message) for one in caught if one.category is CacheWarning] == [
        f"verdicts are kept in memory, not on disk: [Errno {errno.ENOLCK}] "
        + os.strerror(errno.ENOLCK)
    ]


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
