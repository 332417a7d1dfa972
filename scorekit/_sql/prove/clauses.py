"""The clauses in which a query differs from another, found by putting them right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from sqlglot import exp

from scorekit._sql.prove.search import Proof, Unproved, Within

CLAUSES: Final = {
    "SELECT": ("kind", "hint", "distinct", "expressions", "windows"),
    "FROM": ("with_", "from_", "joins", "laterals"),
    "WHERE": ("where",),
    "GROUP BY": ("group",),
    "HAVING": ("having",),
    "ORDER BY": ("order",),
    "LIMIT": ("limit", "offset"),
}
"""The parts of a syntax tree that each clause holds."""


def differing(
    first: exp.Expr,
    second: exp.Expr,
    prove: Callable[[exp.Expr], Proof | Within | Unproved],
) -> tuple[str, ...]:
    """
    Return the fewest clauses of the first query that, taken from the second, make them equal.

    Among sets of as many clauses the first in the order of CLAUSES is returned.  There is no
    answer for set operations, for parts that are no clause, or where a proof was given up.

    Args:
        first: The query that is put right.
        second: The query that is right.
        prove: Looks for a proof that a query equals the second; asked at most 126 times.
    """
    if not isinstance(first, exp.Select) or not isinstance(second, exp.Select):
        return ()
    mine, right = _with_own_names(first), _with_own_names(second)
    parts = {part for part in exp.Select.arg_types if mine.args.get(part) != right.args.get(part)}
    names = [name for name, own in CLAUSES.items() if not parts.isdisjoint(own)]
    if parts.difference(*CLAUSES.values()):
        return ()
    for n in range(1, len(names)):
        for chosen in combinations(names, n):
            found = prove(_with_clauses(mine, right, chosen))
            if isinstance(found, Proof):
                return chosen
            if isinstance(found, Unproved) and found.exhausted:
                return ()
    return tuple(names)  # with all of them it is the second query


def _with_clauses(query: exp.Select, right: exp.Select, names: tuple[str, ...]) -> exp.Select:
    mixed, source = query.copy(), right.copy()
    for name in names:
        for part in CLAUSES[name]:
            mixed.set(part, source.args.get(part))
    return mixed


def _with_own_names(query: exp.Select) -> exp.Select:
    """Return a query whose clauses can stand in another: tables go by their own names."""
    query = query.copy()
    counts: Counter[str] = Counter()
    names: dict[str, str] = {}
    for table in _tables(query):
        own = table.name.lower()
        counts[own] += 1
        names[table.alias_or_name.lower()] = f"{own} {counts[own]}"
    for column in query.find_all(exp.Column):
        name = column.table.lower()
        if name in names and not _is_shadowed(column, name, query):
            column.set("table", exp.to_identifier(names[name], quoted=True))
    for table in _tables(query):
        alias = table.args.get("alias") or exp.TableAlias()
        alias.set("this", exp.to_identifier(names[table.alias_or_name.lower()], quoted=True))
        table.set("alias", alias)
    order = query.args.get("order")
    outputs = {item.alias.lower(): item.this for item in query.selects if item.alias}
    outputs |= {str(i): item.unalias() for i, item in enumerate(query.selects, 1)}
    for item in order.expressions if order is not None else ():
        is_name = isinstance(item.this, exp.Column) and not item.this.table
        if (is_name or item.this.is_int) and item.this.name.lower() in outputs:
            item.set("this", outputs[item.this.name.lower()].copy())
    return query


def _tables(query: exp.Select) -> Iterator[exp.Table]:
    """Yield the tables that a query names in its own FROM."""
    sources = [query.args.get("from_"), *query.args.get("joins", ())]
    for source in sources:
        if source is not None and isinstance(source.this, exp.Table):
            yield source.this


def _is_shadowed(column: exp.Column, name: str, query: exp.Select) -> bool:
    """Say whether a query around a column, inside another, has a table of that name itself."""
    inner = column.find_ancestor(exp.Select)
    while inner is not None and inner is not query:
        if any(table.alias_or_name.lower() == name for table in _tables(inner)):
            return True
        inner = inner.find_ancestor(exp.Select)
    return False
