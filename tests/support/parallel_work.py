"""What tests send to worker processes, which import it from here."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

from scorekit import Tally


def double(x: int) -> int:
    """Return twice *x*."""
    return 2 * x


def inverse(x: int) -> float:
    """Fail on 0."""
    return 1 / x


def lock_at_seven(x: int) -> Any:
    """Return what does not pickle for one item."""
    return threading.Lock() if x == 7 else x


class NeedsArgumentsError(Exception):
    """An exception that pickles but cannot be built again, which breaks pools that send it."""

    def __init__(self, *, code: int) -> None:
        super().__init__(f"code {code}")


def needs_arguments(x: int) -> int:
    """Raise such an exception."""
    raise NeedsArgumentsError(code=x)


class NotReadable:
    """A value that pickles but cannot be read back."""

    def __reduce__(self) -> Any:
        """Say that reading is calling something that raises."""
        return NeedsArgumentsError, (1,)


def not_readable(_: int) -> NotReadable:
    """Return such a value."""
    return NotReadable()


def die(_: int) -> None:
    """End the process as the kernel ends one that takes too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(item: tuple[int, str]) -> int:
    """Kill the worker at item 1000, the first time only; return twice the number."""
    number, marker = item
    if number == 1000 and not Path(marker).exists():
        Path(marker).touch()
        die(number)
    return 2 * number


def tally_of(values: list[float]) -> Tally:
    """Reduce a part of the values."""
    tally = Tally()
    tally.add(values)
    return tally
