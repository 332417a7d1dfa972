"""
What is stored and follows from code: ``python docs/refresh.py`` makes anew what is stale of it.

That is the stub for type checkers, the map and the other pictures, what the tour prints, the
outputs of examples in docstrings and on pages, what pages show of files, and the pictures that
plots are compared with.  Each file that changes is printed: read the difference, and look at each
picture, before you commit it.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pages
import pictures
import rooms
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
ROOT = HERE.parent
TOUR = HERE / "tour.txt"
HEAD = "Traceback (most recent call last):"
STALE = "stale: run `python docs/refresh.py`, and read the difference"
"""What a test says where a stored text is not that of today."""


class _Examples(doctest.DocTestRunner):
    """Runs the examples of a file, and keeps what they print now where that is something else."""

    def __init__(self, path: Path) -> None:
        super().__init__(verbose=False)
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.by_hand: list[str] = []  # what examples print goes elsewhere while they run
        self.found: dict[int, tuple[doctest.Example, str]] = {}

    def report_failure(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str
    ) -> None:
        del out
        if example.exc_msg is not None:  # below the frames, which are indented
            said = re.sub(r"\A(\n|[ ].*\n)*", "", got.rpartition(HEAD)[2])
            got = f"{HEAD}\n    ...\n{said}"
        self.found[(test.lineno or 0) + example.lineno] = (example, got)

    def report_unexpected_exception(
        self, out: Any, test: doctest.DocTest, example: doctest.Example, exc_info: Any
    ) -> None:
        del out, test
        self._leave(example, f"raises {exc_info[1]!r}")

    def _leave(self, example: doctest.Example, why: str) -> None:
        code = example.source.splitlines()[0]
        self.by_hand.append(f"{self.path}: mend `{code}` by hand, it {why}")

    def text(self) -> str:
        """Return the file with the outputs of today."""
        for line, (example, got) in sorted(self.found.items(), reverse=True):
            code = example.source.splitlines()
            first, indent = line + len(code), " " * example.indent
            last = first + len(example.want.splitlines())
            if self.lines[line][example.indent :] != f">>> {code[0]}":
                self._leave(example, "stands elsewhere in the file")
            elif any(example.options.values()):
                self._leave(example, f"is compared with options, and prints {got!r}")
            else:
                now = (indent + (one or "<BLANKLINE>") for one in got.splitlines())
                self.lines[first:last] = [one.rstrip() for one in now]
        for said in self.by_hand:
            print(said)
        return "\n".join([*self.lines, ""])


def with_outputs(path: Path) -> str:
    """Return the text of a page or a module with what its examples print now."""
    runner = _Examples(path)
    for test in _tests(path, "\n".join(runner.lines)):
        runner.run(test, out=lambda _: None)
    return runner.text()


def _tests(path: Path, text: str) -> Iterator[doctest.DocTest]:
    if path.suffix == ".md":
        yield doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    else:
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        __import__(name)
        yield from doctest.DocTestFinder().find(sys.modules[name])


def printed_by(*command: str) -> str:
    """Return what a program of the repository prints."""
    env = {name: value for name, value in os.environ.items() if "ANTHROPIC" not in name}
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(HERE), str(ROOT / "tests" / "support")])
    return subprocess.run(  # noqa: S603 - our own
        [sys.executable, *command], cwd=ROOT, env=env, stdout=subprocess.PIPE, encoding="utf-8",
        check=True,
    ).stdout  # fmt: skip


def without_seconds(tour: str) -> str:
    """Return what the tour prints, but for the time that it took."""
    return re.sub(r"took \d+\.\d s", "", tour)


def store(path: Path, text: str) -> None:
    """Write a text that has changed, and say so."""
    if path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


def main() -> None:
    """Make everything anew that is stale."""
    os.chdir(ROOT)  # where examples find their files
    settings.register_profile("refresh", suppress_health_check=[*HealthCheck], deadline=None)
    settings.load_profile("refresh")  # a busy machine is no reason to stop
    print(printed_by("tests/support/public_stub.py"), end="")
    store(rooms.PICTURE, rooms.drawn())
    tour = printed_by("docs/tour.py")
    if without_seconds(tour) != without_seconds(TOUR.read_text(encoding="utf-8")):
        store(TOUR, tour)
    for path in [*ROOT.glob("scorekit/**/*.py"), ROOT / "README.md", *HERE.glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        if ">>> " in text:
            store(path, with_outputs(path))
    for path in HERE.glob("*.md"):
        store(path, pages.filled(path.read_text(encoding="utf-8")))
    for picture in pictures.PICTURES:
        if pictures.stored(picture) != pictures.drawn(picture()):
            print(pictures.draw(picture).relative_to(ROOT))
    print(printed_by("tests/test_plots.py"), end="")


if __name__ == "__main__":
    main()
