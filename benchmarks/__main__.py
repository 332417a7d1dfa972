"""
Run all benchmarks and write ``docs/benchmarks.md``; with ``--quick`` small ones, only printed.

    python -m benchmarks [--quick] [queries.jsonl ...]

Tables of SQL are timed on the queries of the files, see `bench_tables`, or on a few built-in ones.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECTIONS = {
    "Beside others": "peers",
    "As the data grow": "growth",
    "On more processes": "bench_parallel",
    "Import": "bench_import",
    "pass@k": "bench_pass_at_k",
    "Statistics": "bench_describe",
    "Tables of SQL": "bench_tables",
    "Validators and calibration": "bench_validators",
    "Remembered verdicts": "bench_cache",
    "Claude": "bench_judge",
}
QUICK = 4
"""Sections that have a small form, the first ones."""

HEAD = """\
# Benchmarks

*What does scorekit cost beside other ways to the same numbers, and as data grow?*
`python -m benchmarks` (with the `bench` extra installed) runs all of this and writes this page.
Times are medians on one machine; read them as ratios.

Measured on {day} with scorekit {scorekit}, Python {python}, NumPy {numpy}, sqlglot {sqlglot}, on \
{cpus} processor cores with {memory:.0f} GB, load average {load:.1f} before.

`evaluate` is the estimator of Hugging Face's `code_eval`, a script fetched at run time; it is in
the table only where `benchmarks/peers.py` was told where to find it.
"""

TAIL = """\
## Elsewhere

These take hours or data of their own, and run by themselves as `python benchmarks/NAME.py`:

- `bench_equivalence`: what proofs of equivalence decide, and how fast;
- `check_proofs`: proofs held against random databases;
- `bench_verdict`: how often the suite verdict errs, by simulation;
- `coverage_intervals`: how often intervals hold the truth;
- `fuzz_sql`: queries mutated until they hurt.
"""


def output(module: str, *options: str) -> str:
    """Run one of the programs and return what it prints, its titles one level down."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *options]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - ours
    printed = done.stdout.replace("\n## ", "\n### ").removeprefix("## ").strip()
    return printed if done.returncode == 0 else f"{printed}\n\nThis part broke off.".strip()


def main() -> None:
    """Write the page, or print a small one."""
    quick = "--quick" in sys.argv
    versions = {name: version(name) for name in ("scorekit", "numpy", "sqlglot")}
    head = HEAD.format(
        day=datetime.now(UTC).date(),
        python=platform.python_version(),
        cpus=os.cpu_count(),
        memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30,
        load=os.getloadavg()[0],
        **versions,
    )
    parts = [head]
    for title, module in list(SECTIONS.items())[: QUICK if quick else None]:
        print(f"{title} ...", file=sys.stderr, flush=True)
        options = sys.argv[1:] if module == "bench_tables" else ["--quick"][:quick]
        parts.append(f"## {title}\n\n{output(module, *options)}\n")
    page = "\n".join([*parts, TAIL])
    if quick:
        print(page)
    else:
        (ROOT / "docs" / "benchmarks.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
