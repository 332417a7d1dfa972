"""Which expressions tell the rows of a FROM apart: functional dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scorekit._sql.prove.known import Known
from scorekit._sql.prove.logic import Facts
from scorekit._sql.prove.predicates import LITERALS, conjuncts, never_null
from scorekit._sql.prove.terms import (
    NONE,
    TRUE,
    Select,
    Term,
    least_of,
    local_sources,
    outputs_of,
    sources,
    walk,
)


class Rows:
    """
    The rows of the tables that one SELECT joins, and what is known of each of them.

    A row is determined by some expressions if it is the only one that has their values.  That is
    so where they hold a key of a table, where an equality of the WHERE leads there, or where a
    derived table differs in them.  Values are compared as GROUP BY compares them.
    """

    def __init__(
        self,
        tables: Term,
        conditions: Iterable[Term],
        known: Known,
        extended: frozenset[Term],
        derived: dict[Term, Term] | None = None,
    ) -> None:
        self.tables, self.known, self.extended = tables, known, extended
        self.conditions = tuple(conditions)
        self.asked: set[str] = set()
        """What has been taken for granted so far."""
        self.repeats = True
        """Whether it matters how often a row comes."""
        self.derived = dict(derived or {})
        for node in _parts(tables):
            if node.op == "derived":
                self.derived[node.args[0]] = known.derived[node.args[0]] = node.args[1]
        self.own = frozenset(local_sources(tables))
        self._facts: Facts | None = None
        self._classes: dict[Term, frozenset[Term]] | None = None

    @classmethod
    def of(cls, select: Select, known: Known, extended: frozenset[Term]) -> Rows:
        """Return the rows that pass the WHERE of a SELECT."""
        return cls(select.tables, conjuncts(select.where), known, extended)

    @property
    def facts(self) -> Facts:
        """What is known of each row."""
        if self._facts is None:
            self._facts = Facts(self.conditions, known=self.known, never_null=self.never_null)
        return self._facts

    def with_conditions(self, more: Iterable[Term], tables: Term | None = None) -> Rows:
        """Return the rows that fulfil more conditions."""
        rows = Rows(
            tables or self.tables,
            (*self.conditions, *more),
            self.known,
            self.extended,
            self.derived,
        )
        rows.asked = self.asked
        return rows

    def with_only(self, conditions: Iterable[Term]) -> Rows:
        """Return the rows that fulfil other conditions."""
        rows = Rows(self.tables, conditions, self.known, self.extended, self.derived)
        rows.asked = self.asked
        return rows

    def never_null(self, term: Term) -> bool:
        """Say whether an expression is never NULL, by constraints alone."""
        found = never_null(term, self.known, self.extended)
        if found is not None:
            self.asked.update(found)
            return True
        if term.op == "col" and term.args[0] in self.derived and term.name.isdigit():
            return term.args[0] not in self.extended and self._output_never_null(term)
        return False

    def _output_never_null(self, column: Term) -> bool:
        query = self.derived[column.args[0]]
        return self._never_null_in(query, int(column.name))

    def _never_null_in(self, query: Term, place: int) -> bool:  # noqa: PLR0911 - one per kind of query
        if query.op == "windowed":
            below, windows = query.args
            k = place - len(outputs_of(below))
            if k >= 0:
                return least_of(windows.args[k]) is not None
            return self._never_null_in(below, place)
        arms = query.args if query.op in ("union", "union all") else (query,)
        for arm in arms:
            if arm.op != "select":
                return False
            select = Select.of(arm)
            output = select.outputs[place]
            if output.op == "agg" and output.name.startswith("count"):
                continue
            if select.aggregates and select.group == NONE:
                return False
            inner = Rows.of(select, self.known, self.extended)
            inner.asked = self.asked
            if output.op == "agg":
                if not (output.args and inner.facts.never_null(output.args[0])):
                    return False
            elif not inner.facts.never_null(output):
                return False
        return True

    # Dependencies.

    def determined(self, given: Iterable[Term]) -> Determined:
        """Return what some expressions determine."""
        return Determined(self, given)

    def equals(self, term: Term) -> frozenset[Term]:
        """
        Return the expressions that equal *term* in each row, as GROUP BY compares.

        Of one kind of values only: a text and the number that it may be read as are equal too,
        but so are several texts and one number.
        """
        if self._classes is None:
            self._classes = {}
            for group in self.facts.classes():
                self._join(group)
            for condition in self.conditions:
                for part in conjuncts(condition):
                    if part.op == "eq" and not part.name and self.alike(*part.args):
                        self._join(part.args)
        return self._classes.get(term, frozenset((term,)))

    def _join(self, terms: Iterable[Term]) -> None:
        assert self._classes is not None  # noqa: S101 - set by its only caller
        members = frozenset[Term]().union(
            *(self._classes.get(term, frozenset((term,))) for term in terms)
        )
        self._classes.update(dict.fromkeys(members, members))

    def alike(self, first: Term, second: Term) -> bool:
        """Say whether two values are compared without being converted."""
        if self.known.dialect in _STRICT:
            return True
        kinds = self.known.kind(first), self.known.kind(second)
        if "unknown" in kinds:
            return {first.op, second.op} == {"col"} and (
                first.name == second.name
                and self.known.tables.get(first.args[0], 1)
                == self.known.tables.get(second.args[0], 2)
            )
        if kinds[0] == kinds[1]:
            return True
        return _WHOLE.issuperset(kinds) or (
            set(kinds) == {"time", "text"}
            and "str"
            in {
                first.op,
                second.op,
            }
        )


class Determined:
    """What some expressions determine in each row."""

    def __init__(self, rows: Rows, given: Iterable[Term]) -> None:
        self.rows, self.given = rows, frozenset(given)
        self.sources: set[Term] = set()
        """Tables whose row is determined."""
        self._grow()

    def _grow(self) -> None:
        known = self.rows.known
        changed = True
        while changed:
            changed = False
            for part in self.rows.tables.args:
                changed = self._part(part) or changed
            for source in self.rows.own - self.sources:
                known.steps.take()
                for key in known.keys(source):
                    if all(self(Term("col", name, (source,))) for name in key):
                        self.rows.asked.add(f"{known.tables[source]} ({', '.join(key)}) is a key")
                        self.sources.add(source)
                        changed = True
                        break

    def _part(self, part: Term) -> bool:
        """Look at derived tables, and at outer joins that find at most one row."""
        changed = False
        if part.op == "derived" and part.args[0] not in self.sources:
            source, query = part.args
            for key in unique_outputs(query, self.rows):
                if all(self(Term("col", str(i), (source,))) for i in key):
                    self.sources.add(source)
                    changed = True
                    break
        if part.op == "left":
            base, *arms = part.args
            for inner in base.args:
                changed = self._part(inner) or changed
            if self.sources.issuperset(local_sources(base)):
                for arm in arms:
                    own = local_sources(arm)
                    if not self.sources.issuperset(own) and at_most_one(
                        arm.args[0], conjuncts(arm.args[1]), self.rows
                    ):
                        self.sources.update(own)
                        changed = True
        return changed

    @property
    def everything(self) -> bool:
        """Whether no two rows are alike in what is given."""
        return self.sources.issuperset(self.rows.own)

    def __call__(self, term: Term) -> bool:
        """Say whether equal values of what is given make equal values of *term*."""
        self.rows.known.steps.take()
        if any(other in self.given or self._constant(other) for other in self.rows.equals(term)):
            return True
        if any(other.op == "col" and self._column(other) for other in self.rows.equals(term)):
            return True
        if term.op in ("col", "agg", "star", "col?", "quoted") or not term.args:
            return self._constant(term)
        if term.op in ("fn", "like", "plus", "select", "exists", "scalar", "in", "window"):
            return all(self.exactly(node) for node in walk(term) if node.op in _COLUMNS)
        return all(map(self, term.args))

    def _constant(self, term: Term) -> bool:
        return term.op in LITERALS or self._column(term)

    def _column(self, term: Term) -> bool:
        if term.op not in ("col", "star"):
            return False
        return term.args[0] in self.sources or term.args[0] not in self.rows.own

    def exactly(self, term: Term) -> bool:
        """Say whether what is given makes *term* the same to every function."""
        if term.op in LITERALS or self._column(term):
            return True
        if term.op == "col" and self.rows.known.exact(term):
            return self(term)
        if term.op in _COLUMNS or not term.args:
            return False
        if term in self.given and term.op in ("add", "mul"):
            return False
        return all(map(self.exactly, term.args))


_STRICT = frozenset({"postgres", "redshift", "bigquery", "presto", "trino", "athena"})
"""Dialects that compare values of different kinds only where neither is text."""

_WHOLE = frozenset({"integer", "natural", "number"})

_COLUMNS = ("col", "star", "col?", "quoted", "agg")


def _parts(tables: Term) -> Iterator[Term]:
    """Yield tables and derived tables, however they are joined."""
    stack = [tables]
    while stack:
        node = stack.pop()
        if node.op in ("table", "derived"):
            yield node
        elif node.op in ("from", "left", "full"):
            stack.extend(node.args)
        elif node.op in ("arm", "side", "outer"):
            stack.append(node.args[0])


def at_most_one(tables: Term, conditions: Iterable[Term], around: Rows) -> bool:
    """Say whether at most one row of *tables* fulfils *conditions*, for each row around them."""
    extended = extended_within(tables, around.extended)
    rows = Rows(tables, conditions, around.known, extended)
    rows.asked = around.asked
    return rows.determined(()).everything


def sources_in(tables: Term) -> frozenset[Term]:
    """Return the tables that a FROM defines."""
    return frozenset(local_sources(tables))


def extended_sources(term: Term) -> frozenset[Term]:
    """Return the tables that an outer join may fill up with NULLs, and all inside of them."""
    found = frozenset[Term]()
    for node in walk(term):
        if node.op == "join" and node.name in ("left", "full"):
            found |= sources(node.args[1])
        if node.op == "join" and node.name in ("right", "full"):
            found |= sources(node.args[0])
        if node.op in ("arm", "side"):
            found |= sources(node)
    return found


def extended_within(tables: Term, around: frozenset[Term]) -> frozenset[Term]:
    """Return what a FROM fills up with NULLs before a join *around* it does, which also may."""
    return (around - sources_in(tables)) | extended_sources(tables)


def exactly_one(query: Term) -> bool:
    """Say whether a query gives one row always: it aggregates and does not group."""
    if query.op != "select":
        return False
    select = Select.of(query)
    return select.group == NONE and select.aggregates and select.having == TRUE


def _tells_rows(value: Term, select: Select, around: Rows) -> bool:
    """Say whether a value is another one in each row, so that groups differ in its extremes."""
    rows = Rows.of(select, around.known, around.extended)
    rows.asked = around.asked
    return (
        value.op == "col" and rows.facts.never_null(value) and rows.determined((value,)).everything
    )


def _unique_by_windows(query: Term, around: Rows) -> list[tuple[int, ...]]:
    """A row number is another one in each row of a partition; no window repeats a row."""
    inner, windows = query.args
    found = unique_outputs(inner, around)
    n = len(outputs_of(inner))
    for k, window in enumerate(windows.args):
        keys = window.args[1].args
        if window.name.startswith("row_number") and all(key.op == "position" for key in keys):
            found.append((*(int(key.name) for key in keys), n + k))
    return found


def unique_outputs(  # noqa: C901, PLR0911, PLR0912 - one per kind of query
    query: Term, around: Rows
) -> list[tuple[int, ...]]:
    """Return sets of outputs, by number, in which the rows of a query differ."""
    if query.op == "limited":
        limits = {bound.name: bound.args[0].name for bound in query.args[2:]}
        if limits.get("limit") == "1":
            return [()]
        return unique_outputs(query.args[0], around)
    if query.op == "windowed":
        return _unique_by_windows(query, around)
    outputs = outputs_of(query)
    whole = tuple(range(len(outputs)))
    if query.op == "select":
        whole = tuple(i for i in whole if outputs[i].op not in LITERALS)
    if query.op in ("union", "except", "intersect"):
        return [whole]
    if query.op != "select":
        return []
    select = Select.of(query)
    if select.group == NONE and select.aggregates:
        return [()]
    if select.group != NONE:
        if frozenset(select.group.args) <= frozenset(select.outputs):
            places = tuple(select.outputs.index(key) for key in select.group.args)
            return [places]
        for i, output in enumerate(select.outputs):
            if (
                output.op == "agg"
                and output.name in ("min", "max")
                and _tells_rows(output.args[0], select, around)
            ):
                return [(i,)]
        rows = Rows.of(select, around.known, around.extended)
        rows.asked = around.asked
        given = rows.determined(output for output in select.outputs if output.op != "agg")
        found = all(map(given, select.group.args))
        return [whole] if found else [whole] * select.distinct
    found_keys: list[tuple[int, ...]] = []
    rows = Rows.of(select, around.known, around.extended)
    rows.asked = around.asked
    for i, output in enumerate(select.outputs):
        if output.op == "col" and rows.determined((output,)).everything:
            found_keys.append((i,))
    if select.distinct or (not found_keys and rows.determined(select.outputs).everything):
        found_keys.append(whole)
    return found_keys
