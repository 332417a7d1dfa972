"""Calls in a thread with a small stack, in a process of its own, where a crash fails one test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

PROGRAM = """
import json, sys, threading
import scorekit

def run():
    for text in texts:
        for dialect in dialects:
            try:
                {call}
            except scorekit.SqlError as error:
                assert len(str(error)) < 600
    print("survived")

texts, dialects = json.load(sys.stdin)
threading.stack_size(512 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def survives(call: str, texts: Sequence[str], dialects: Sequence[str | None]) -> None:
    """Make a call for each *text* and *dialect*, as they are named in it."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(call=call)],
        input=json.dumps([texts, dialects]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (0, "survived\n"), run.stderr[-2000:]
