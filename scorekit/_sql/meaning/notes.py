"""What is noted while a query is read."""

from __future__ import annotations

from typing import Final, NamedTuple

import attrs

from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.syntax import TooLargeError
from scorekit._sql.meaning.tree import Query, Scalar, Select, Source, Star

MAX_READ: Final = 20_000
"""Nodes read for one query, counting what WITH names anew wherever it is used."""


class NamedQuery(NamedTuple):
    """A query whose names are resolved, with the names of its outputs."""

    query: Query
    names: tuple[str, ...]


@attrs.define
class Notes:
    """What is found out while a query is read: what its parts mean, and what that rests on."""

    catalog: Catalog
    names_only: bool = False
    """Whether the parts are asked for, and not the whole."""
    assumptions: set[str] = attrs.Factory(set[str])
    values: dict[int, list[Scalar]] = attrs.Factory(dict[int, "list[Scalar]"])
    queries: dict[int, list[Query]] = attrs.Factory(dict[int, "list[Query]"])
    selects: dict[int, Select] = attrs.Factory(dict[int, Select])
    columns: dict[int, frozenset[str]] = attrs.Factory(dict[int, "frozenset[str]"])
    stars: dict[int, list[tuple[str, Scalar]]] = attrs.Factory(
        dict[int, "list[tuple[str, Scalar]]"]
    )
    aliases: dict[Source, str] = attrs.Factory(dict[Source, str])
    scans: list[Source] = attrs.Factory(list[Source])
    of_with: dict[int, list[Source]] = attrs.Factory(dict[int, "list[Source]"])
    """The tables that are what one WITH names, by its tree."""
    n_sources: int = 0
    n_read: int = 0

    @property
    def dialect(self) -> str:
        """The dialect of the text; empty for none that is named."""
        return self.catalog.dialect or ""

    def count(self, n: int = 1) -> None:
        """Refuse a query of too many nodes."""
        self.n_read += n
        if self.n_read > MAX_READ:
            raise TooLargeError("the query is too large")

    def source(self, table: str = "") -> Source:
        """Return a new name for a table."""
        self.n_sources += 1
        return Source(f"s{self.n_sources}", table)


def has_star(query: Query) -> bool:
    return any(isinstance(output, Star) for output in query.outputs)
