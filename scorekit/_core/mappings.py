"""Mappings that do not change, and what is a mapping."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from itertools import islice
from typing import Any, Generic, TypeGuard, TypeVar, cast, overload

from scorekit.errors import shortened, shown

K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

MAX_KEYS = 20
"""Keys that a message names."""


class FrozenMapping(Mapping[K, V], Generic[K, V]):
    """A read-only mapping that keeps its order, hashes and pickles."""

    __module__ = "scorekit.records"  # pickles refer to public modules only
    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        self._items: dict[K, V] = dict(items or {})

    def __getitem__(self, key: K) -> V:
        """Return the value under *key*; a `KeyError` names those that there are."""
        try:
            return self._items[key]
        except KeyError:
            known = shortened(", ".join(map(repr, islice(self._items, MAX_KEYS))))
            raise KeyError(f"{shown(key)} is none of {known}") from None

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys in order."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._items)

    # what Mapping has by way of __getitem__, a message for each missing key included

    def __contains__(self, key: object) -> bool:
        """Tell whether there is a value under *key*."""
        return key in self._items

    def items(self) -> ItemsView[K, V]:
        """Return keys and values in order."""
        return self._items.items()

    def values(self) -> ValuesView[V]:
        """Return the values in order."""
        return self._items.values()

    @overload
    def get(self, key: K, /) -> V | None: ...

    @overload
    def get(self, key: K, /, default: V | D) -> V | D: ...

    def get(self, key: K, /, default: Any = None) -> Any:
        """Return the value under *key*, or *default*."""
        return self._items.get(key, default)

    def __eq__(self, other: object) -> bool:
        """Compare the items, whatever their order."""
        if isinstance(other, FrozenMapping):
            mine: object = self._items
            return mine == cast("FrozenMapping[object, object]", other)._items
        return super().__eq__(other)

    def __hash__(self) -> int:
        """Hash the items, whatever their order, as equality does."""
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        """Show the items as a dict does."""
        return repr(self._items)

    def __str__(self) -> str:
        """Return a line for each record; of other values what `repr` returns."""
        lines: dict[K, Any] = {key: getattr(one, "_line", None) for key, one in self.items()}
        if not lines or None in lines.values():
            return repr(self)
        return "\n".join(f"{key}: {line() or self[key]}" for key, line in lines.items())

    def _repr_html_(self) -> str | None:
        """Return a table of records, or of lists of them, by key; of other values None."""
        found: list[tuple[str, Any]] = []
        for key, value in self.items():
            several: tuple[Any, ...] = cast("Any", value) if isinstance(value, tuple) else (value,)
            found += [(str(key), one) for one in several]
        table = getattr(found[0][1], "_table_by_key", None) if found else None
        return None if table is None else table(found)


def is_mapping(value: object) -> TypeGuard[Mapping[Any, Any]]:
    """Tell mappings, whatever they hold."""
    return isinstance(value, Mapping)


def frozen_mappings(given: object) -> Any:
    """Return a mapping of mappings, such as a schema, that hashes; all else as it is."""
    if not is_mapping(given) or (
        isinstance(given, FrozenMapping)
        and all(isinstance(inner, FrozenMapping) for inner in given.values())
    ):
        return given
    return FrozenMapping(
        {key: FrozenMapping(inner) if is_mapping(inner) else inner for key, inner in given.items()}
    )
