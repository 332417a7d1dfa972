"""Grids of cases and dialects: each case is quick in one dialect, in turn, and slow in others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def in_turn(cases: Iterable[tuple[Any, ...]], dialects: Sequence[str | None]) -> list[Any]:
    """Return each case behind each dialect."""
    return [
        pytest.param(dialect, *case, marks=() if i % len(dialects) == j else pytest.mark.slow)
        for i, case in enumerate(cases)
        for j, dialect in enumerate(dialects)
    ]
