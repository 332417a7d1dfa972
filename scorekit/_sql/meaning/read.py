"""
From the syntax of a query to its tree: every name is resolved here, once, against the schema.

What is read means the same in the dialect of the text as the tree means.  Where that is not
certain, or a name may be several things and no `OpenName` holds them, `UnreadError` says why.
A valid query is assumed: a name that only one table can have is a column of that table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
from sqlglot import exp

from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.notes import Notes
from scorekit._sql.meaning.queries import QueryReader
from scorekit._sql.meaning.syntax import InvalidError, RefusedError, UnreadError
from scorekit._sql.meaning.tree import Column, Query, Scalar, Select, Source, walk
from scorekit._sql.text.dialect_neutral import members


@attrs.frozen
class Reading:
    """A query whose names are resolved."""

    query: Query
    names: tuple[str, ...]
    """Of its outputs; empty where one has none."""
    assumptions: frozenset[str]
    """Sentences, each of what the meaning of a name or an operator rests upon."""
    derived: dict[Source, Query] = attrs.field(factory=dict[Source, Query], eq=False)
    """The queries that its derived tables are."""


UNFAMILIAR = frozenset({"clickhouse", "prql", "tableau"})
"""Dialects in which an outer join does not give NULLs, or that are hardly SQL."""


def read_query(tree: exp.Expr, catalog: Catalog) -> Reading:
    """Return the tree of a query; raises `UnreadError` where its meaning is not certain."""
    if any(one in UNFAMILIAR for one in members(catalog.dialect)):
        raise UnreadError(f"queries of {catalog.dialect} are not looked into")
    notes = Notes(catalog)
    reader = QueryReader(notes)
    block = reader.whole(tree)
    query = reader.with_shared(block.query)
    columns = {node for node in walk(query) if isinstance(node, Column)}
    if any(found.kind == "collated" for found in map(catalog.column, columns) if found):
        raise UnreadError("a column has a collation of its own")  # which of two decides?
    return Reading(query, block.names, frozenset(notes.assumptions), catalog.derived)


@attrs.frozen
class Names:
    """What the parts of a text mean, by the ids of its syntax; several times for a WITH."""

    values: dict[int, list[Scalar]]
    queries: Mapping[int, Sequence[Query]]
    selects: Mapping[int, Select]
    """Each SELECT before its windows are taken out and its rows sorted; of a WITH the last."""
    columns: Mapping[int, frozenset[str]]
    """The names of the columns of the tables of a SELECT."""
    stars: Mapping[int, Sequence[tuple[str, Scalar]]]
    """What a star stands for, with names."""
    aliases: Mapping[Source, str]
    scans: Sequence[Source]
    """The base tables, in the order in which the text names them."""
    unread: str = ""
    """Why not all of the text was read, if so."""
    refused: bool = False
    """Whether that is why a database would not run it."""
    invalid: bool = False
    """Whether no version of a database would."""

    def value(self, node: exp.Expr) -> Scalar | None:
        """Return what an expression means, None where it only names an output."""
        found = self.values.get(id(node))
        return found[-1] if found else None


def read_names(tree: exp.Expr, catalog: Catalog) -> Names:
    """Return what the parts of a text mean, as far as it can be read."""
    notes, failure = Notes(catalog, names_only=True), None
    try:
        QueryReader(notes).whole(tree)
    except UnreadError as error:
        failure = error
    return Names(
        notes.values,
        notes.queries,
        notes.selects,
        notes.columns,
        notes.stars,
        notes.aliases,
        notes.scans,
        str(failure or ""),
        isinstance(failure, RefusedError),
        isinstance(failure, InvalidError),
    )
