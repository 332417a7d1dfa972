"""What databases check when they plan a query: names, groups, and what kinds of values meet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Final

import attrs
from sqlglot import exp

from scorekit._sql.databases.dialects import missing_function
from scorekit._sql.databases.functions import VERSIONS, database_of
from scorekit._sql.databases.kinds import CLASSES, NUMBERS, WHOLE
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.names import with_folded_names
from scorekit._sql.meaning.read import Reading, read_names, read_query
from scorekit._sql.meaning.syntax import UnreadError
from scorekit._sql.meaning.tree import (
    NULL,
    TRUE,
    Aggregate,
    Among,
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Comparison,
    Function,
    InQuery,
    Join,
    Like,
    Literal,
    Negative,
    Node,
    Not,
    OpenName,
    Or,
    Ordered,
    Query,
    Scalar,
    Select,
    SetOperation,
    Source,
    Star,
    When,
    Windowed,
    conjuncts,
    found_in,
    local_sources,
    walk,
)
from scorekit._sql.meaning.unsettled import bare_columns
from scorekit._sql.schema.tables import SqlSchema
from scorekit._sql.text.parsing import is_long, parse, refused_by_all
from scorekit.errors import SqlError


def misfit(
    tree: exp.Expr,
    dialect: str,
    schema: SqlSchema | None,
    *,
    sure: bool = False,
    reading: Reading | None = None,
) -> str | None:
    """
    Return why a database may refuse to plan a query, None if nothing speaks against it.

    If that must be *sure*, it is not for what a schema may have besides.  The *reading* of the
    query is given where it is known.
    """
    if reading is not None and not sure:
        return min(faults_of(reading, (dialect,), schema), default=None)
    planner = (Binder if sure and dialect == "duckdb" else Planner)(schema, dialect)
    names = read_names(with_folded_names(tree, schema, dialect), planner)
    if names.refused:
        certain = names.invalid or (schema is not None and schema.complete)
        return names.unread if certain or not sure else None
    parts = {part for several in names.queries.values() for q in several for part in walk(q)}
    faults = planner.certain if sure else planner.faults
    if sure:  # below windows stand columns of what is computed above them
        parts |= {part for select in names.selects.values() for part in walk(select)}
        parts -= {part.query for part in parts if isinstance(part, Windowed)}
    return min((fault for part in parts for fault in faults(part)), default=None)


def faults_of(
    reading: Reading, dialects: Iterable[str], schema: SqlSchema | None
) -> Iterator[str]:
    """Yield what speaks against a query that can be read, in each of some databases."""
    parts = {*walk(reading.query)}
    queries = [part for part in parts if isinstance(part, Query)]
    for dialect in dialects:
        planner = Planner(schema, dialect, reading.derived)
        for part in parts if planner.of_kinds else queries:
            yield from planner.faults(part)


def not_run(sql: str, dialect: str | None, schema: SqlSchema | None) -> str | None:
    """Return why a text is no query that its database runs, or each of those that it may be of."""
    if is_long(sql):
        return None
    if dialect is None and (why := refused_by_all(sql)) is not None:
        return why
    if dialect is None and schema is not None:  # others have columns that no schema lists
        schema = attrs.evolve(schema, complete=False)
    found: list[str] = []
    is_read = False
    for name in VERSIONS if dialect is None else (dialect,):
        try:
            trees = parse(sql, name).statements
        except SqlError as error:
            if name not in VERSIONS or error.kind != "parse":
                return None  # its grammar is not known well enough
            found.append(str(error))
            is_read = is_read or dialect is not None
            continue
        queries = [tree for tree in trees if isinstance(tree, exp.Query)]
        faults = (misfit(tree, name, schema, sure=True) for tree in queries)
        fault = next(filter(None, faults), None)
        if fault is None:
            return None
        is_read = True
        found.append(f"{database_of(name)} refuses it: {fault}")
    return found[0] if is_read else None  # what none of them reads may be of another database


def lacks_function(sql: str, dialect: str | None) -> str | None:
    """Return which function in a query the database of a dialect does not have itself."""
    if dialect not in VERSIONS or is_long(sql):
        return None
    try:
        script = parse(sql, dialect)
    except SqlError:
        return None
    found = (missing_function(script.words, tree, dialect) for tree in script.statements)
    return next(filter(None, found), None)


def drops_texts(
    first: exp.Expr, second: exp.Expr, dialect: str | None, schema: SqlSchema | None
) -> bool:
    """
    Say whether one of two queries drops repeated rows with text where the other may not.

    Which of 'ann' and 'Ann' is left, where a collation makes them equal, is not said.
    """
    planner = Planner(schema, dialect)
    try:
        queries = [read_query(tree, planner).query for tree in (first, second)]
    except UnreadError:
        return False  # then they are proved equal by being the same text
    counts = [sum(map(_drops, walk(query))) for query in queries]
    kinds = set(map(planner.kind, queries[0].outputs))
    return counts[0] != counts[1] and not kinds <= {*NUMBERS, "time", "boolean"}


def _drops(node: Node) -> bool:
    if isinstance(node, Select):
        return node.distinct or node.keys is not None
    return isinstance(node, SetOperation) and node.distinct


_LITERALS: Final[dict[str, set[str]]] = {
    "word": {"number", "time", "boolean"},
    "day": {"number", "boolean"},
    "bit": {"time"},
    "numeral": {"time", "boolean"},
    "fraction": {"time", "boolean"},
    "flag": {"number", "time"},
    "null": set(),
}
"""Kinds of what has no type where it is written out, each with what it cannot be read as."""
_LITERAL = {
    "bit": re.compile(r"\s*[01]\s*\Z"),
    "numeral": re.compile(r"\s*[-+]?\d+\s*\Z"),
    "fraction": re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*\Z"),
    "day": re.compile(r"\s*(?:\d{4}-\d\d?(?:-\d\d?)?|\d\d?:\d\d|\d+/\d+/\d+)"),
    "flag": re.compile(r"\s*(?:t|f|true|false|yes|no|on|off)\s*\Z"),
    "": re.compile(r"\s*(?:now|today|[-+]?infinity|nan)\s*\Z"),
}
_DAY = re.compile(r"\s*(\d{4})-(\d\d?)-(\d\d?)")

# Functions by the names that the tree has for them.
_MATCHED: Final = frozenset({"similarto", "regexplike", "regexpilike"})
_PARTED: Final = frozenset({"jsonextract", "jsonextractscalar", "arraycontainsall", "bracket"})
_ROUNDED: Final = frozenset({"round", "trunc"})
_COMPUTED: Final = _ROUNDED | {"abs", "ceil", "floor", "sqrt", "stddev", "variance"}
_TEXTUAL: Final = frozenset(
    {"length", "lower", "upper", "substring", "trim", "replace", "left", "right", "initcap"}
    | {"reverse", "strposition", "splitpart", "ascii", "pad"}
)
_TIMED: Final = frozenset({"extract", "timestamptrunc", "datetrunc", "year", "month", "day"})
_CHOOSING: Final = frozenset({"coalesce", "nullif", "greatest", "least"})
_OF_TIMES: Final = frozenset({"extract", "year", "month", "day"})
_COMPARING: Final = frozenset({"nullsafeeq", "nullsafeneq", "between"})
_TEXTS: Final = frozenset({"text", "", *_LITERALS})
_OF_TWO: Final = frozenset({"+", "-", "*", "/", "%", "-x", "sum", "avg"})
"""What may mean several things of two texts that are written out, or of one."""
_NOT_OF_DATES: Final = frozenset({"sum", "avg", "*", "/", "%", "abs", "round", "-x"})
_OF_GROUPS: Final = frozenset(
    {kind.__name__.lower() for kind in exp.ALL_FUNCTIONS if issubclass(kind, exp.AggFunc)}
    | {"withingroup"}
)
"""Functions of the rows of a group that the tree does not look into."""
_ORDERED_APART: Final = "SELECT DISTINCT is ordered by what it does not return"
_BESIDE: Final = "a column that stands beside groups and is none of them"
_OTHER_TYPES = re.compile(r"UUID|JSONB?|XML|INET|(?:VAR)?BINARY|BLOB|ARRAY")


@attrs.frozen(eq=False)
class Planner(Catalog):
    """What a database knows about values when it plans a query."""

    @property
    def of_kinds(self) -> bool:
        """Whether the database does not make numbers of text where a query asks for them."""
        return self.dialect in ("postgres", "duckdb")

    def faults(self, node: Node) -> Iterator[str]:
        """Yield what the database may refuse in a part of a query."""
        if isinstance(node, Ordered) and isinstance(node.query, Select):
            values = [item.value for item in node.items]
            if (
                node.query.distinct
                and self.dialect in ("postgres", "mysql")
                and not {*values} <= {*node.query.outputs}
                and not any(isinstance(output, Star) for output in node.query.outputs)
            ):
                yield _ORDERED_APART
            yield from self.of_groups(node.query, values)
        elif isinstance(node, Select):
            yield from self.of_groups(node, ())
        yield from self.of_joins(node)
        if self.of_kinds:
            yield from self.of_values(node)

    def certain(self, node: Node) -> Iterator[str]:
        """Yield what the database refuses for sure."""
        yield from self.alone(node)
        if self.dialect == "postgres":
            yield from self.without_key(node)
            if _is_ordered_apart(node):
                yield _ORDERED_APART
        yield from self.of_joins(node)
        if self.of_kinds:
            yield from self.of_values(node)

    def of_joins(self, node: Node) -> Iterator[str]:
        """Yield that no equality of both sides, and no constant, joins all rows of two tables."""
        if self.dialect != "postgres" or not isinstance(node, Join) or node.kind != "full":
            return
        left, right = (frozenset(local_sources((side,))) for side in (node.left, node.right))
        for part in conjuncts(node.condition):
            if part.sources.isdisjoint(left | right):
                return
            if isinstance(part, Comparison) and part.operator == "=":
                one, other = part.left.sources, part.right.sources
                if _parts(one, other, left, right) or _parts(other, one, left, right):
                    return
        if node.condition != TRUE:
            yield "a FULL JOIN without an equality of both sides"

    # Names and groups.

    def of_groups(self, select: Select, ordered: Sequence[Scalar]) -> Iterator[str]:
        """Yield what stands beside groups and is none of them."""
        if self.dialect == "sqlite":
            return
        keys = select.keys or ()
        outputs = (*select.outputs, *(value for value in ordered if value not in select.outputs))
        shown = attrs.evolve(select, outputs=outputs)
        beside = bare_columns(shown, lambda called: called.name in _OF_GROUPS)
        if not all(map(self.depends(keys), beside)):
            yield _BESIDE

    def alone(self, node: Node) -> Iterator[str]:
        """Yield what stands beside groups that no key of any table could determine."""
        if not self.of_kinds or not isinstance(node, Select):
            return
        keys = node.keys or ()
        sources = frozenset[Source]().union(*(key.sources for key in keys))
        plain = self.dialect == "duckdb" and all(isinstance(key, Column) for key in keys)
        if any(plain or sources.isdisjoint(value.sources) for value in _beside(node)):
            yield _BESIDE

    def without_key(self, node: Node) -> Iterator[str]:
        """
        Yield what stands beside groups by columns of its table that hold no key of it.

        A table of which the schema names no key may have one all the same.
        """
        select, values = node, tuple[Scalar, ...]()
        if isinstance(node, Ordered):
            select, values = node.query, tuple(item.value for item in node.items)
        if not isinstance(select, Select) or self.schema is None or not self.schema.complete:
            return
        keys = select.keys or ()
        computed = [key.sources for key in keys if not isinstance(key, Column)]
        unsure = frozenset[Source]().union(*computed)  # one may be the column that USING merged
        is_determined, keyed = self.depends(keys), self.schema.keys
        shown = attrs.evolve(select, outputs=(*select.outputs, *values))
        for value in _beside(shown):
            is_known = not value.source.table or value.source.table.lower() in keyed
            if is_known and value.source not in unsure and not is_determined(value):
                yield _BESIDE

    def depends(self, keys: tuple[Scalar, ...]) -> Callable[[Scalar], bool]:
        """Return what says whether a column has one value in each group by some keys."""
        schema = None if self.dialect == "duckdb" else self.schema
        named = {(key.source, key.name.lower()) for key in keys if isinstance(key, Column)}

        def of_keys(value: Scalar) -> bool:
            return any(
                {(source, column) for column in key} <= named
                for source in value.sources
                for key in (schema.keys.get(source.table.lower(), ()) if schema else ())
            )

        return of_keys

    # Kinds of values.

    def of_values(self, node: Node) -> Iterator[str]:
        """Yield what kinds of values do not go together."""
        exact = self.dialect == "postgres"
        if exact and any(self.kind(part) in {*NUMBERS, "text", "time"} for part in _tests(node)):
            yield "a condition is no boolean"
        if any(map(self.clash, self.compared(node))):
            yield "values of different types are compared"
        if any(self.clash(map(self.kind, several)) for several in self.alternatives(node)):
            yield "values of different types are alternatives"
        if isinstance(node, SetOperation) and exact:
            if any(map(self.clash, self.of_arms(node))):
                yield "the parts of a UNION have different types"
        elif isinstance(node, Cast):
            kind, other = self.kind(node.operand), _OTHER_TYPES.match(node.type)
            never = (kind in NUMBERS and (node.kind == "time" or other)) or (
                kind == "time" and node.kind in NUMBERS
            )
            never = never or (kind == "fraction" and node.kind in WHOLE)
            if (exact and never) or CLASSES.get(node.kind) in _LITERALS.get(kind, ()):
                yield "a value is cast to a type that it cannot have"
        elif isinstance(node, Arithmetic) and self.misses_days(node):
            yield "a day or a moment is added to what it does not take"
        elif isinstance(node, Scalar):
            yield from self.of_operands(node)

    def alternatives(self, node: Node) -> Iterator[Sequence[Scalar]]:
        """Yield values of which a CASE, or a window that looks at another row, returns one."""
        if isinstance(node, Case):
            yield [*(when.value for when in node.whens), node.default]
        elif isinstance(node, Windowed) and self.dialect == "postgres":
            moved = [one for one in node.windows if one.function in ("lag", "lead")]
            for first, *others in map(node.operands, moved):
                yield first, *others[1:]

    def of_operands(self, node: Scalar) -> Iterator[str]:
        """Yield which operands an operator or a function does not take."""
        exact = self.dialect == "postgres"
        name, operands = _called(node)
        kinds = [self.kind(operand) for operand in operands]
        first = kinds[0] if kinds else ""
        unlike = first in {*NUMBERS, "time", "boolean"}
        if (isinstance(node, Like) or name in _MATCHED) and not {*kinds[:2]} <= _TEXTS:
            yield "a pattern is compared with what is no text"
        elif name in _PARTED and exact and first in CLASSES:
            yield "a part is taken of what has none"
        elif name == "dpipe" and exact and {*kinds} <= NUMBERS:
            yield "|| has no text"
        elif name in _COMPUTED or name in ("sum", "avg", "-x") or isinstance(node, Arithmetic):
            yield from self.of_numbers(name, kinds)
        elif name in ("min", "max") and exact and first == "boolean":
            yield "MIN and MAX have no truth values"
        elif name in _TEXTUAL and unlike:
            yield "a function of text has a number or a date"
        elif name in _TIMED and {*kinds} & {*NUMBERS, "text", "boolean"}:
            yield "a function of dates has text or a number"
        elif name in _OF_TIMES and first in _LITERALS:
            yield "a function of dates has a text"
        elif name in _CHOOSING and self.clash(kinds):
            yield "values of different types are alternatives"

    def of_numbers(self, name: str, kinds: list[str]) -> Iterator[str]:
        """Yield why one cannot compute with values of some kinds."""
        exact = self.dialect == "postgres"
        computed = {*kinds[:1]} if name in _ROUNDED else {*kinds}
        if "text" in computed or ("boolean" in computed and (exact or name != "sum")):
            yield "text or a truth value is used as a number"
        parts = computed & (NUMBERS - WHOLE)
        if "time" in computed and (name in _NOT_OF_DATES or (name in ("+", "-") and parts)):
            yield "a date is used as a number"
        alone = computed <= _LITERALS.keys()
        unlike = not computed.isdisjoint({"word", "day", "flag"})
        if exact:
            unlike = unlike or _is_cut(computed)
        elif not computed.isdisjoint(_LITERALS):  # DuckDB has several such functions
            unlike = unlike or (name == "+" and not parts) or (name == "*" and bool(parts))
        if (alone and name in _OF_TWO) or (unlike and (alone or computed & {*NUMBERS, "text"})):
            yield "text is used as a number"
        if exact and "real" in computed and (name == "%" or (name in _ROUNDED and len(kinds) > 1)):
            yield "a floating point number is rounded to places, or divided with a remainder"

    def misses_days(self, node: Arithmetic) -> bool:
        """Say whether to a day or a moment is added, or from it taken, what has another type."""
        takes = self.dialect == "duckdb" and node.operator == "-"
        for one, other in ((node.left, node.right), (node.right, node.left)):
            column, kind = self.column(one), self.kind(other)
            if column is not None and column.kind == "time" and not column.limits.form:
                is_whole = kind in WHOLE and column.limits.timed
                adds = node.operator == "+" and not column.limits.timed
                if is_whole or (kind in _LITERALS and (adds or takes)):
                    return True
        return False

    def clash(self, kinds: Iterable[str]) -> bool:
        """Say whether values of some kinds cannot be of one type."""
        found = {*kinds}
        if self.dialect == "postgres" and _is_cut(found):
            return True
        classes = {CLASSES[kind] for kind in found & CLASSES.keys()}
        if self.dialect == "duckdb" and "number" in classes:
            classes -= {"boolean"}
        return len(classes) > 1 or any(
            not classes.isdisjoint(others) for kind, others in _LITERALS.items() if kind in found
        )

    def compared(self, node: Node) -> Iterable[Sequence[str]]:
        """Return the kinds of values that a node compares with one another."""
        values: Sequence[Scalar] = ()
        if isinstance(node, InQuery):
            return [
                (self.kind(value), self.kind_of_output(node.query, i))
                for i, value in enumerate(node.values)
            ]
        if isinstance(node, Comparison):
            values = node.left, node.right
        elif isinstance(node, Among):
            values = node.operand, *node.values
        elif isinstance(node, Function) and node.name in _COMPARING:
            values = node.operands
        return [[*map(self.kind, values)]]

    def of_arms(self, union: SetOperation) -> Iterator[list[str]]:
        """
        Yield the kinds of each column of a set operation.

        What has no type takes that of the arm beside it: of two such arms it is text from then on.
        """
        n_outputs = min(len(arm.outputs) for arm in union.arms)
        rows = all(isinstance(arm, Select) and not arm.tables for arm in union.arms)
        for place in range(n_outputs):
            kinds = [self._kind_in_arm(arm, place) for arm in union.arms]
            bare = not rows and {*kinds[:2]} <= _LITERALS.keys()  # rows may be those of VALUES
            yield [*kinds[2:], "text"] if bare else kinds

    def _kind_in_arm(self, arm: Query, place: int) -> str:
        """Return the kind of a column of an arm, which has no type where it is written out."""
        query, sorts = (arm.query, arm.items) if isinstance(arm, Ordered) else (arm, ())
        if not isinstance(query, Select):
            return self._told(self.kind_of_output(query, place))
        value = query.outputs[place]
        compared = query.distinct or value in (
            *(item.value for item in sorts),
            *(query.keys or ()),
        )
        return self._as_output(value) if compared else self.kind(value)

    def _as_output(self, value: Scalar) -> str:
        kind = self.kind(value)
        return "text" if kind in _LITERALS else kind

    def common(self, values: Iterable[Scalar]) -> str:
        """Return the kind of one of several values, which is text where none has a type."""
        several = [*values]
        bare = {*map(self.kind, several)} <= _LITERALS.keys() and self.dialect == "postgres"
        return "text" if bare else super().common(several)

    def kind_of_output(self, query: Query, place: int) -> str:
        """Return the kind of a column of a query, which is text where it has none of its own."""
        if isinstance(query, Select) and place < len(query.outputs):
            return self._as_output(query.outputs[place])
        return super().kind_of_output(query, place)

    def _kind(self, value: Node) -> str:
        """Return what an expression holds, for texts that are written out what they look like."""
        if self.of_kinds and isinstance(value, Literal) and value.kind == "text":
            return _kind_of_text(value.text)
        if value == NULL and self.dialect == "postgres":
            return "null"
        kind = self._told(super()._kind(value))
        if kind in _LITERALS and self.dialect == "postgres":  # of what has an operand of no type
            number = "real" if _called(value)[0] in _COMPUTED else ""
            return "text" if isinstance(value, Aggregate) else number
        return kind

    def _told(self, kind: str) -> str:
        return kind if kind in CLASSES or kind in _LITERALS else ""


class Binder(Planner):
    """What DuckDB refuses whatever the rows are: it reads a text that is written out later."""

    def compared(self, node: Node) -> Iterable[Sequence[str]]:
        """Return the kinds of values that must be of one type: of an equality they need not be."""
        ordered = isinstance(node, Comparison) and node.operator not in ("=", "<>")
        between = isinstance(node, Function) and node.name == "between"
        return super().compared(node) if ordered or between or isinstance(node, InQuery) else []

    def of_operands(self, node: Scalar) -> Iterator[str]:
        """Yield which operands an operator or a function does not take."""
        if _called(node)[0] not in ("nullif", "avg"):
            yield from super().of_operands(node)

    def _kind(self, value: Node) -> str:
        return "" if isinstance(value, Literal) and value.kind == "text" else super()._kind(value)


def _beside(select: Select) -> list[Column]:
    """
    Return columns that stand beside groups for sure.

    An aggregate in a subquery may be of the groups around it, and of the columns that USING
    merges a database may take one.
    """
    inner: list[Node] = []
    for node in (part for output in (select.having, *select.outputs) for part in walk(output)):
        if isinstance(node, Query):
            inner += found_in(node, Aggregate)
        elif isinstance(node, Function) and node.name == "coalesce":
            inner += [node] if len(node.sources) > 1 else []
    unsure = {column for node in inner for column in found_in(node, Column)}
    bare = bare_columns(select, lambda called: not called.certain or called.name in _OF_GROUPS)
    return [one for one in bare if isinstance(one, Column) and one not in unsure]


def _is_ordered_apart(node: Node) -> bool:
    """
    Say whether rows that are made distinct are ordered by a column that they do not show.

    A subquery may be one that they show: it is written out twice then.
    """
    if not isinstance(node, Ordered) or not isinstance(node.query, Select):
        return False
    shown = [part for output in node.query.outputs for part in walk(output)]
    if not node.query.distinct or any(isinstance(part, Star | OpenName) for part in shown):
        return False
    return any(
        isinstance(part, Column | Aggregate) and part not in shown
        for item in node.items
        if next(found_in(item.value, Query), None) is None
        for part in walk(item.value)
    )


def _parts(
    one: frozenset[Source],
    other: frozenset[Source],
    left: frozenset[Source],
    right: frozenset[Source],
) -> bool:
    """Say whether two values are of one side of a join each."""
    return bool(one & left and other & right) and not (one & right or other & left)


def _is_cut(kinds: set[str]) -> bool:
    """Say whether a text with a part of a whole stands beside whole numbers alone."""
    numbers = kinds & NUMBERS
    return "fraction" in kinds and bool(numbers) and numbers <= WHOLE


def _kind_of_text(text: str) -> str:
    """Return what a text may be read as; a day that no calendar has is a word."""
    day = _DAY.match(text)
    try:
        if day is not None:
            date(*map(int, day.groups()))
    except ValueError:
        return "word"
    return next((kind for kind, form in _LITERAL.items() if form.match(text.lower())), "word")


def _called(node: Node) -> tuple[str, tuple[Scalar, ...]]:
    """Return an operator or a function by name, with its operands; no name for other nodes."""
    if isinstance(node, Function):
        return node.name, node.operands
    if isinstance(node, Aggregate):
        return node.function, () if node.operand is None else (node.operand,)
    if isinstance(node, Arithmetic):
        return node.operator, (node.left, node.right)
    if isinstance(node, Negative):
        return "-x", (node.operand,)
    return "", (node.operand, node.pattern) if isinstance(node, Like) else ()


def _tests(node: Node) -> Sequence[Scalar]:
    """Return what must be true or false in a node."""
    if isinstance(node, And | Or):
        return node.parts
    if isinstance(node, Not):
        return (node.operand,)
    if isinstance(node, Select):
        return (node.where, node.having)
    return (node.condition,) if isinstance(node, Join | When) else ()
