"""Where a function of one number changes its sign."""

from __future__ import annotations

from collections.abc import Callable

PRECISION = 1e-10
"""How well the ends of an interval are found, relatively."""


def root(
    excess: Callable[[float], float], below: float, above: float, precision: float = PRECISION
) -> float:
    """Return where *excess* stops being negative, by regula falsi (Illinois)."""
    left, right, last = excess(below), excess(above), 0
    while above - below > precision * max(1.0, abs(above)):
        step = above - (above - below) * right / (right - left)
        step = min(max(step, below + precision / 4.0), above - precision / 4.0)
        found = excess(step)
        if found < 0.0:
            below, left, right, last = step, found, right / (2.0 if last < 0 else 1.0), -1
        else:
            above, right, left, last = step, found, left / (2.0 if last > 0 else 1.0), 1
    return above
