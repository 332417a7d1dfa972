"""What is made anew in a forked process: the threads, loops and locks of its parent end there."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_renewals: Final = WeakKeyDictionary[Any, Callable[[Any], object]]()


def renew_in_forks(thing: T, renew: Callable[[T], object]) -> None:
    """Let *renew* make anew what *thing* has, in every process that is forked from here on."""
    _renewals[thing] = renew


def _renew() -> None:
    for thing, renew in list(_renewals.items()):
        renew(thing)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
