"""Reports of a long run to *progress*: the caller's function, or a bar for True."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakSet

from scorekit.errors import refuse

C = TypeVar("C", bound=Callable[..., object])


def check_progress(progress: object) -> None:
    """Refuse what is neither a function nor a choice."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        refuse("progress", "a callable, True or False", progress, TypeError)


@contextmanager
def reporting(progress: C | bool | None, unit: str) -> Generator[C | _Bar | None, None, None]:  # noqa: FBT001
    """Give what to call with the number of *unit* done and of all; a bar is closed at the end."""
    check_progress(progress)
    if progress is None or isinstance(progress, bool):
        bar = _Bar(unit) if progress else None
        try:
            yield bar
        finally:
            if bar is not None:
                bar.close()
    else:
        yield progress


_open: WeakSet[_Bar] = WeakSet()


def say_waiting(why: str | None) -> None:
    """Show on each open bar what it waits for; None: nothing any more."""
    for bar in list(_open):
        bar.wait(why or "")


class _Bar:
    """A tqdm bar, or a line of text on the error stream where tqdm is not installed."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._bar: Any = None
        self._line = ""
        _open.add(self)

    def __call__(self, n_done: int, total: int | None) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            share = "" if total is None else f" of {total}"
            self._write(f"{n_done}{share} {self._unit}s")
            return
        if self._bar is None:
            self._bar = tqdm(total=total, unit=self._unit)
        self._bar.update(n_done - self._bar.n)

    def wait(self, why: str) -> None:
        """Show what is waited for, or no longer."""
        if self._bar is not None:
            self._bar.set_postfix_str(why)
        elif why:
            self._write(why)

    def close(self) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.close()
        elif self._line and sys.stderr is not None:
            sys.stderr.write("\n")

    def _write(self, line: str) -> None:
        if (
            line != self._line and sys.stderr is not None
        ):  # which a program without a console lacks
            sys.stderr.write(f"\r{line}")
            sys.stderr.flush()
        self._line = line
