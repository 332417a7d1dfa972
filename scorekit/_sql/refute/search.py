"""
A database on which two queries have different results, if a few small ones show it.

There is one search.  What runs the queries is a `Backend`: SQLite, or an engine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

from sqlglot import exp

from scorekit._core.clock import check_time
from scorekit._core.rows import ResultRow, same_bag
from scorekit._core.text import ORDINALS
from scorekit._sql.databases.kinds import Column
from scorekit._sql.meaning.question import Question
from scorekit._sql.refute.asked import Asked
from scorekit._sql.refute.backend import Backend, Results
from scorekit._sql.refute.databases import Maker, in_turn, linked, parents_first
from scorekit._sql.refute.inference import Link, TablesRead, linked_columns
from scorekit._sql.refute.sandbox import Cell, Database, NoResultError, QueryError
from scorekit._sql.refute.statements import made, spellings

_ROWS_A_TRIAL: Final = 100
_BEST: Final = 4
_MOST_FURTHER: Final = 12
"""Databases that are tried for a better difference than the first."""

Cells: TypeAlias = tuple[Cell, ...]


class Difference(NamedTuple):
    """A database and the two results, with what was assumed."""

    tables: dict[str, tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]]
    """Names of columns, and rows."""
    results: tuple[tuple[ResultRow, ...], tuple[ResultRow, ...]]
    order_only: bool
    assumptions: tuple[str, ...]
    statements: tuple[str, ...] = ()
    """What makes the database, in the dialect of the queries."""


class NoDifference(NamedTuple):
    """Why there is no counterexample."""

    reason: str
    n_compared: int = 0
    """Databases on which the results are the same."""
    raises: Literal["a", "b"] | None = None
    """The query that the caller's engine alone does not run."""


class Seen(NamedTuple):
    """A database on which the queries differ."""

    database: Database
    results: Results
    quality: int
    """How little it leaves open, from 1 to 4: ties count more than case."""
    tied: bool
    agrees: bool
    """Whether the results are the same whatever the case of strings."""


def search(
    backends: Sequence[Backend], queries: Asked, question: Question, *, shown_in: str
) -> Difference | NoDifference:
    """
    Look for a small database on which two queries differ for all backends, and make it smaller.

    Args:
        backends: Each runs the queries under a reading; what the first shows is shown.
        queries: The queries.
        question: How many databases are tried, and what their rows depend on.
        shown_in: The dialect of the statements that are shown; none for the words of all four.
    """
    known = queries.known
    holding = partial(_holds, backends)
    maker = Maker(
        known, queries.trees, queries.hint, question.seed, holding, dialect=queries.dialect
    )
    found = _first(backends, maker, question.n_databases)
    if isinstance(found, NoDifference):
        return found
    least = _shrunk(backends, found, known.links)
    shown = _shown_tables(least.database, known)
    spelled = spellings(queries.trees, question.schema)
    first, second = least.results
    return Difference(
        tables={name: (tuple(c.name for c in own), rows) for name, (own, rows) in shown.items()},
        results=(tuple(first), tuple(second)),
        order_only=question.same(first, second),
        assumptions=(*known.assumptions, *_assumed(least)),
        statements=_statements(least.database, known, spelled, shown_in),
    )


def _holds(
    backends: Sequence[Backend], table: str, condition: exp.Expr, rows: Sequence[Cells]
) -> list[bool]:
    """Say for each row whether a condition is true under every reading."""
    found = [backend.holds(table, condition, rows) for backend in backends]
    return [all(several) for several in zip(*found, strict=True)]


def _first(backends: Sequence[Backend], maker: Maker, n_databases: int) -> Seen | NoDifference:
    """Return a database on which they differ: the first that leaves the least open."""
    leading = backends[0]
    n_compared, n_further = 0, 0
    unclear: NoResultError | None = None
    found: dict[int, Seen] = {}
    for i in range(n_databases):
        check_time()
        n_further += bool(found)
        database = leading.turned(maker.database(i), i / n_databases)
        try:
            seen = _seen(backends, database)
            n_compared += 1
        except NoResultError as error:
            if unclear is None or unclear.raises is None:
                unclear = error
            seen = None
        except QueryError as error:
            return found[max(found)] if found else NoDifference(str(error), raises=error.raises)
        if seen is not None:
            found.setdefault(seen.quality, seen)
        if _BEST in found or n_further >= _MOST_FURTHER or leading.spent:
            break
    if found:
        return found[max(found)]
    if leading.spent and not leading.allows:
        return NoDifference(leading.spent)
    return _nothing_found(n_compared, unclear, leading.allows)


def _nothing_found(
    n_compared: int, unclear: NoResultError | None, allows: set[int]
) -> NoDifference:
    """Say why there is no difference, and which query alone ties leave more results."""
    if not n_compared and unclear is not None:
        how = "not determined: " * (unclear.raises is None)
        return NoDifference(f"{how}{unclear}", raises=unclear.raises)
    more = ""
    if len(allows) == 1:
        (one,) = allows
        more = (
            f", but for tied rows at a LIMIT: they allow the {ORDINALS[one]} query results that "
            f"the {ORDINALS[1 - one]} query does not allow"
        )
    return NoDifference(f"no difference on {n_compared} small databases{more}", n_compared)


def _seen(backends: Sequence[Backend], database: Database) -> Seen | None:
    """Return how the queries differ on a database, None if they do not."""
    if not all(backend.differs(database) for backend in backends):
        return None
    shown = backends[0].shown
    tied = any(backend.tied for backend in backends)
    folded = [backend.shown for backend in backends if backend.folded]
    agrees = not folded or _same_uncased(shown, folded[0])
    return Seen(database, shown, 1 + 2 * (not tied) + agrees, tied, agrees)


def _same_uncased(shown: Results, folded: Results) -> bool:
    return all(
        same_bag([_lower(row) for row in first], [_lower(row) for row in second], 0.0)
        for first, second in zip(shown, folded, strict=True)
    )


def _lower(row: ResultRow) -> ResultRow:
    return tuple(cell.lower() if isinstance(cell, str) else cell for cell in row)


def _assumed(seen: Seen) -> list[str]:
    """Return what a difference leaves open."""
    assumed: list[str] = []
    if not seen.agrees:
        assumed.append("the case of strings counts in the results shown")
    if seen.tied:
        assumed.append("a LIMIT may keep any of tied rows: one result of each query is shown")
    return assumed


def _shrunk(backends: Sequence[Backend], found: Seen, links: Sequence[Link]) -> Seen:
    """Leave out tables and rows, and what points to them, as long as no more is left open."""
    least, left = found, backends[0].max_deletions
    rows = {name: list(table) for name, table in found.database.items()}
    for share in (1.0, 0.5, 0.25, 0.0, 0.0):
        for name, table in sorted(rows.items(), key=lambda named: len(named[1])):
            size = max(1, math.ceil(len(table) * share))
            i = 0
            while i < len(rows[name]) and left > 0:
                left -= 1 + sum(map(len, rows.values())) // _ROWS_A_TRIAL
                cut = {**rows, name: rows[name][:i] + rows[name][i + size :]}
                cut = {key: list(part) for key, part in linked(cut, links).items()}
                try:
                    seen = _seen(backends, cut)
                except (NoResultError, QueryError):
                    seen = None
                if seen is not None and seen.quality >= found.quality:
                    rows, least = cut, seen
                else:
                    i += size
    return least


def _shown_tables(
    database: Database, known: TablesRead
) -> dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]]:
    """Return what of a database the queries look at: columns and rows by table."""
    tables: dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]] = {}
    read = frozenset(known.names.values())
    for name, columns in known.tables.items():
        looked_at = known.used if name in read else linked_columns(known, name)
        if name not in read and not database[name]:
            continue  # it is there for foreign keys only
        shown = [i for i, column in enumerate(columns) if column.name in looked_at] or [0]
        rows = tuple(tuple(row[i] for i in shown) for row in database[name])
        tables[name] = tuple(columns[i] for i in shown), rows
    return tables


def _statements(
    database: Database, known: TablesRead, spelled: Mapping[str, exp.Identifier], dialect: str
) -> tuple[str, ...]:
    """Return statements that make a database in a dialect, as the schema demands it."""
    to_itself = {link.table for link in known.links if link.table == link.other}
    return made(_loaded_tables(database, known), spelled, dialect, to_itself)


def _loaded_tables(
    database: Database, known: TablesRead
) -> dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]]:
    """
    Return what the schema asks for of a database, parents first: columns and rows by table.

    Left out are columns that may be NULL, where neither the queries nor a constraint looks.
    """
    read = frozenset(known.names.values())
    tables: dict[str, tuple[tuple[Column, ...], tuple[Cells, ...]]] = {}
    for name in parents_first(known.tables, known.links):
        if name not in read and not database[name]:
            continue
        columns = known.tables[name]
        looked_at = linked_columns(known, name).union(
            *(rule.columns for rule in known.rules.get(name, ())), *known.keys.get(name, ())
        )
        kept = [
            i
            for i, column in enumerate(columns)
            if not column.nullable
            or column.name in looked_at
            or (name in read and column.name in known.used)
        ] or [0]
        own = [link for link in known.links if link.table == link.other == name]
        rows = tuple(tuple(row[i] for i in kept) for row in in_turn(database[name], own))
        tables[name] = tuple(columns[i] for i in kept), rows
    return tables
