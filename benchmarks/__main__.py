"""
Run all benchmarks and print them as one page.

    python -m benchmarks [--full]

Small ones take a few minutes in all, those of ``--full`` half an hour; ``> docs/benchmarks.md``
makes the page of the docs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import machine

ROOT = Path(__file__).parent.parent
SECTIONS = {
    "Beside others": "peers",
    "As the data grow": "growth",
    "Reports on large tables": "bench_reports",
    "On more processes": "bench_parallel",
    "Import": "bench_import",
    "pass@k": "bench_pass_at_k",
    "Statistics": "bench_describe",
    "Tables of SQL": "bench_tables",
    "Equivalence of SQL": "bench_equivalence",
    "Validators and calibration": "bench_validators",
    "Remembered verdicts": "bench_cache",
    "Claude": "bench_judge",
}

HEAD = """\
# Benchmarks

*What does scorekit cost beside other ways to the same numbers, and as data grow?*
`python -m benchmarks{size}` (with the `bench` extra installed) printed this page; with `--full`
the sizes are larger.
Times are medians on one machine; read them as ratios.

Measured on {day}: {machine} before.
{busy}"""

BUSY = """
Other programs ran at the same time: two columns of one row were measured in turns and can be
compared; single times, and rows of different tables, less so.
"""

TAIL = """\
## Elsewhere

The other programs in `benchmarks/` do not measure time.
They hold proofs against databases, put faults into rules, and simulate what
[Statistical accuracy](accuracy.md) promises.
"""


def output(module: str, *, full: bool) -> tuple[str, bool]:
    """Run one of the programs; return what it prints, its titles one level down, and its luck."""
    program = f"from benchmarks.timings.{module} import main; main(full={full})"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    printed = done.stdout.replace("\n## ", "\n### ").removeprefix("## ").strip()
    is_whole = done.returncode == 0
    return printed if is_whole else f"{printed}\n\nThis part broke off.".strip(), is_whole


def main() -> int:
    """Print the page, telling what is under way."""
    parser = argparse.ArgumentParser(description="Run all benchmarks and print them as one page.")
    parser.add_argument("--full", action="store_true", help="large sizes, half an hour in all")
    parser.add_argument("--busy", action="store_true", help="say that the machine was not quiet")
    options = parser.parse_args()
    day, busy = datetime.now(UTC).date(), BUSY if options.busy else ""
    size = " --full" if options.full else ""
    print(HEAD.format(day=day, machine=machine(), busy=busy, size=size))
    broken = 0
    for title, module in SECTIONS.items():
        print(f"{title} ...", file=sys.stderr, flush=True)
        printed, is_whole = output(module, full=options.full)
        print(f"## {title}\n\n{printed}\n", flush=True)
        broken += not is_whole
    print(TAIL, end="")
    return broken


if __name__ == "__main__":
    sys.exit(main())
