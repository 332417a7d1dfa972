"""What is known of the tables of a query, and what of it a proof relied upon."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from scorekit._sql.kinds import UNCASED
from scorekit._sql.prove.terms import Steps, Term, least_of, outputs_of
from scorekit._sql.schema import SqlSchema

_KINDS = {"int": "integer", "str": "text", "true": "boolean", "false": "boolean"}


@attrs.define
class Known:
    """What is known of the tables of one query, and what of it was relied upon."""

    schema: SqlSchema | None
    dialect: str | None = None
    steps: Steps = attrs.Factory(Steps)
    tables: dict[Term, str] = attrs.Factory(dict[Term, str])
    """The base table that each ``src`` is."""
    derived: dict[Term, Term] = attrs.Factory(dict[Term, Term])
    """The query that each derived table is, as it was seen last."""
    assumptions: set[str] = attrs.Factory(set[str])
    notes: list[str] = attrs.Factory(list[str])
    """Names of the steps taken, in order."""
    n_fresh: int = 0
    joining: bool = False
    """Whether windows are read as joins with groups."""

    def note(self, step: str, assumptions: Iterable[str] = ()) -> None:
        """Say that a step was taken, and what it rests upon."""
        self.notes.append(step)
        self.assumptions.update(assumptions)

    def fresh(self, like: Term | None = None) -> Term:
        """Return a table with a new name, another one of the same base table as *like*."""
        self.n_fresh += 1
        source = Term("src", f"f{self.n_fresh}")
        if like is not None and like in self.tables:
            self.tables[source] = self.tables[like]
        return source

    def keys(self, source: Term) -> tuple[tuple[str, ...], ...]:
        """Return the keys of a base table."""
        table = self.tables.get(source)
        if table is None or self.schema is None:
            return ()
        return self.schema.keys.get(table.casefold(), ())

    def columns(self, table: str) -> tuple[str, ...] | None:
        """Return the columns of a base table, None where they are not known for sure."""
        if self.schema is None or not self.schema.given:
            return None
        columns = self.schema.tables.get(table.casefold())
        return tuple(column.name for column in columns) if columns else None

    def kind(self, term: Term) -> str:  # noqa: PLR0911 - one per operator
        """Return the kind of values of an expression, as far as the schema says it."""
        if term.op in _KINDS:
            return _KINDS[term.op]
        if term.op == "agg":
            return "integer" if term.name.startswith("count") else self.kind(term.args[0])
        if term.op in ("add", "mul"):
            kinds = set(map(self.kind, term.args))
            return kinds.pop() if len(kinds) == 1 else "unknown"
        if term.op != "col":
            return "unknown"
        table = self.tables.get(term.args[0])
        if table is None:
            return self._kind_of_output(term)
        if self.schema is None or not self.schema.given:
            return "unknown"
        columns = self.schema.tables.get(table.casefold(), ())
        return next((c.kind for c in columns if c.name == term.name.casefold()), "unknown")

    def _kind_of_output(self, column: Term) -> str:
        """Return the kind of a column of a derived table."""
        query = self.derived.get(column.args[0])
        arms = [query] if query is not None else []
        kinds: set[str] = set()
        while arms:
            arm = arms.pop()
            if arm.op == "windowed":
                if self.window(column) is not None:
                    return "unknown" if self.least(column) is None else "integer"
                arms.append(arm.args[0])
            elif arm.op == "select":
                outputs = arm.args[4].args
                place = int(column.name) if column.name.isdigit() else len(outputs)
                kinds.add(self.kind(outputs[place]) if place < len(outputs) else "unknown")
            else:
                arms.extend(arm.args[:1] if arm.op == "limited" else arm.args)
        return kinds.pop() if len(kinds) == 1 else "unknown"

    def window(self, column: Term) -> Term | None:
        """Return the window function that a column of a derived table is, if it is one."""
        query = self.derived.get(column.args[0]) if column.op == "col" else None
        if query is None or query.op != "windowed" or not column.name.isdigit():
            return None
        inner, windows = query.args
        place = int(column.name) - len(outputs_of(inner))
        return windows.args[place] if 0 <= place < len(windows.args) else None

    def least(self, column: Term) -> int | None:
        """Return the least value of a column that is a whole number by what computes it."""
        window = self.window(column)
        return None if window is None else least_of(window)

    def exact(self, value: Term) -> bool:
        """Say whether equal values of an expression are the same to every function."""
        kind = self.kind(value)
        if kind == "text":
            return self.dialect is not None and self.dialect not in UNCASED
        return kind in ("integer", "natural", "boolean") or value.op in ("int", "str", "null")

    def not_null(self, column: Term) -> str | None:
        """Return the assumption by which a column of a base table is never NULL, if any is."""
        table = self.tables.get(column.args[0]) if column.op == "col" else None
        if table is None or self.schema is None:
            return None
        name = column.name.casefold()
        if any(name in key for key in self.schema.keys.get(table.casefold(), ())):
            return f"{table}.{name} is never NULL (key)"
        columns = self.schema.tables.get(table.casefold(), ()) if self.schema.given else ()
        if any(column.name == name and not column.nullable for column in columns):
            return f"{table}.{name} is never NULL (schema)"
        return None

    def key_within(self, source: Term, columns: Iterable[Term]) -> str | None:
        """Return the assumption by which *columns* tell the rows of a table apart, if any does."""
        table = self.tables.get(source)
        if table is None or self.schema is None:
            return None
        names = {c.name.casefold() for c in columns if c.op == "col" and c.args == (source,)}
        for key in self.schema.keys.get(table.casefold(), ()):
            if key and names.issuperset(key):
                return f"{table} ({', '.join(key)}) is a key"
        return None
