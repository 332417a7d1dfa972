"""What is found out about a pair besides a verdict, and kept as long as one on the same shelf."""

from __future__ import annotations

import operator
from typing import Any, Final

from scorekit._judge.shelf import Shelf

_READ: Final = operator.itemgetter("n")


class Memo:
    """
    Plain data by keys that hold all that it rests on.

    Args:
        shelf: Where it is kept.
        inner: Where it is kept and looked for as well, where the shelf has no disk.
    """

    def __init__(self, shelf: Shelf, inner: Memo | None) -> None:
        self._shelf = shelf
        self._inner = inner

    def recall(self, key: str) -> Any:
        """Return what is kept under *key*, None if there is nothing; never raises."""
        note = self._shelf.recall(key)
        note = self._shelf.read(key, _READ) if note is None else note
        return note if note is not None or self._inner is None else self._inner.recall(key)

    def keep(self, key: str, note: object) -> None:
        """Keep it; never raises."""
        self._shelf.keep(key, note, lambda note: {"n": note})
        self._shelf.leave()
        if self._inner is not None:
            self._inner.keep(key, note)


def memo_of(judge: object) -> Memo | None:
    """Return the memo of a judge that has one: of a cache, or of a judge around one."""
    found = getattr(judge, "_memo", None)
    return found if isinstance(found, Memo) else None
