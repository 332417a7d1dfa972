"""
Build and test one candidate solution; `tour.py` starts this script anew for each.

The job comes as JSON on standard input.  What is found goes out on standard output, one line per
step as it happens, so that a candidate that has to be killed still gets credit for the tests it
passed.  Every line begins with a token that the candidate does not know.

This keeps careless programs in check.  It is no sandbox for hostile ones.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import CodeType
from typing import TextIO

MEMORY_BYTES = 512 * 2**20
MAX_LINE_LENGTH = 99

Report = Callable[[str], None]


def main() -> None:
    """Report ``compiled N`` or ``refused``, ``passed`` or ``failed`` per test, ``finished``."""
    job = json.load(sys.stdin)
    channel = open_private_channel()

    def report(step: str) -> None:
        channel.write(f"{job['token']} {step}\n")
        channel.flush()

    limit_resources(job["limit"])
    try:
        program = compile(job["source"], "candidate.py", "exec", dont_inherit=True)
        warnings = list(lint(job["source"]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        report("refused")
    else:
        report(f"compiled {len(warnings)}")
        run_tests(program, job["tests"], report)
    os._exit(0)  # without waiting for threads and exit handlers the candidate may have left


def open_private_channel() -> TextIO:
    """Take standard output for ourselves; the candidate reads nothing and prints into the void."""
    channel = os.fdopen(os.dup(1), "w", encoding="ascii")
    void = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(void, standard)
    return channel


def limit_resources(cpu_seconds: int) -> None:
    """
    Bound what a candidate takes, where the system can.

    One that computes for too long is killed, one that asks for too much memory meets an error.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def run_tests(program: CodeType, tests: list[str], report: Report) -> None:
    """Import the candidate, then evaluate each test among its names."""
    names: dict[str, object] = {"__name__": "candidate"}
    try:
        exec(program, names)  # noqa: S102 - running it is the point
    except BaseException:  # noqa: BLE001 - SystemExit too
        return
    for test in tests:
        passed = False
        with suppress(BaseException):
            passed = bool(eval(test, names))  # noqa: S307 - the tests are ours
        report("passed" if passed else "failed")
    report("finished")


def lint(source: str) -> Iterator[str]:
    """Yield the warnings: long lines, bare excepts, mutable defaults, unused imports."""
    for number, line in enumerate(source.splitlines(), start=1):
        if len(line) > MAX_LINE_LENGTH:
            yield f"line {number}: longer than {MAX_LINE_LENGTH}"
    nodes = list(ast.walk(ast.parse(source)))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    for node in nodes:
        match node:
            case ast.ExceptHandler(type=None):
                yield f"line {node.lineno}: bare except"
            case ast.arguments():
                defaults = [*node.defaults, *node.kw_defaults]
                mutable = [d for d in defaults if isinstance(d, ast.List | ast.Dict | ast.Set)]
                yield from (f"line {d.lineno}: mutable default" for d in mutable)
            case ast.Import() | ast.ImportFrom():
                bound = {a.asname or a.name.partition(".")[0] for a in node.names}
                yield from (f"line {node.lineno}: unused import {b}" for b in bound - used)
            case _:
                pass


if __name__ == "__main__":
    main()
