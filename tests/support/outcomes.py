"""What tests ask of results, in one word."""

from __future__ import annotations

from typing import TypeVar

from scorekit.intervals import Interval
from scorekit.records import MetricError

_T = TypeVar("_T")


def present(value: _T | None) -> _T:
    """Return a value that must be there."""
    assert value is not None
    return value


def ends(interval: Interval | None) -> tuple[float, float]:
    """Return where an interval, which must be there, begins and ends."""
    found = present(interval)
    return found.low, found.high


def failure(error: MetricError | None) -> str:
    """Return whose failure an error is and its kind: 'output: parse'; nothing if there is none."""
    return "" if error is None else f"{error.origin}: {error.kind}"
