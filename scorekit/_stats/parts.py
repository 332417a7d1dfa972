"""Collect in parts that merge: what `Tally` and `CodeTally` have in common."""

from __future__ import annotations

from functools import reduce
from typing import Generic, Protocol, Self, TypeVar

from scorekit._core.checks import check_instance


class Part(Protocol):
    """Some of what is collected."""

    @property
    def size(self) -> int:
        """What joining costs."""
        ...

    def join(self, later: Self, /) -> Self:
        """Return this part and a later one as one."""
        ...


P = TypeVar("P", bound=Part)


class PartTally(Generic[P]):
    """Parts in their order."""

    __slots__ = ("_stack",)

    def __init__(self) -> None:
        # Of falling size, each at least twice the next: many small parts stay cheap.
        self._stack: tuple[P, ...] = ()

    def merge(self, other: Self) -> Self:
        """
        Return a new tally of what both hold, *other* last; neither of the two changes.

        Args:
            other: The tally to merge with.

        Raises:
            TypeError: If *other* is not a tally of the same class.
        """
        check_instance("other", other, type(self))
        merged = type(self)()
        merged._stack = reduce(_push, other._stack, self._stack)  # noqa: SLF001 - of this class
        return merged

    def _add(self, part: P) -> None:
        self._stack = _push(self._stack, part)

    def _joined(self) -> P | None:
        """Return all parts as one, None without any."""
        if not self._stack:
            return None
        whole = reduce(lambda later, earlier: earlier.join(later), reversed(self._stack))
        self._stack = (whole,)
        return whole


def _push(stack: tuple[P, ...], part: P) -> tuple[P, ...]:
    while stack and stack[-1].size < 2 * part.size:
        part, stack = stack[-1].join(part), stack[:-1]
    return (*stack, part) if part.size else stack
