"""
What ``import scorekit`` costs beside ``import attrs``, the one package that it loads.

New interpreters, which import one or the other in turn.

    python -m benchmarks.timings.bench_import [--full]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.machine import alone

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import time
started = time.perf_counter()
import {0}
print(time.perf_counter() - started)
"""


def milliseconds(package: str) -> float:
    """Return the time that the import takes in a new interpreter."""
    command = [sys.executable, "-c", PROGRAM.format(package)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    return 1e3 * float(done.stdout)


def main(*, full: bool = False) -> None:
    """Print one Markdown table."""
    n_pairs = 41 if full else 5
    milliseconds("scorekit")  # writes the compiled files
    pairs = [(milliseconds("attrs"), milliseconds("scorekit")) for _ in range(n_pairs)]
    attrs, scorekit = (median(column) for column in zip(*pairs, strict=True))
    ratio = median(ours / theirs for theirs, ours in pairs)
    print("| import attrs | import scorekit | ratio, median of pairs |\n|---:|---:|---:|")
    print(f"| {attrs:.1f} ms | {scorekit:.1f} ms | {ratio:.2f} |")


if __name__ == "__main__":
    alone(main)
