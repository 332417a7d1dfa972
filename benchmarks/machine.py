"""Name the machine that figures come from, and run a benchmark by itself."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

PACKAGES = ("scorekit", "numpy", "scipy", "sqlglot")


class Benchmark(Protocol):
    """What a script does: print Markdown, of small sizes by default."""

    def __call__(self, *, full: bool) -> object:
        """Print it."""


def machine() -> str:
    """Return what a reader has to know of the machine, and how busy it is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, "
        f"Python {platform.python_version()}, {versions}; load average {os.getloadavg()[0]:.1f}"
    )


def processor() -> str:
    """Return the name of the processor."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text(encoding="utf-8").splitlines() if cpus.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def alone(benchmark: Benchmark) -> None:
    """Run one script: with ``--full`` at the sizes of the page, else in a minute or less."""
    parser = argparse.ArgumentParser(
        description=sys.modules["__main__"].__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--full", action="store_true", help="large sizes, which take minutes")
    options = parser.parse_args()
    print(f"{machine()}\n")
    benchmark(full=options.full)
