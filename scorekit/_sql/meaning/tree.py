"""
What a query means, as a tree: frozen nodes that compare by value.

A query is a `Select`, a `SetOperation`, a `Windowed` query or an `Ordered` one.  A `Select` is a
block: the rows of its tables (all combinations) that WHERE keeps; with *keys* in groups, which are
one group where there are no keys but aggregates; of these the ones that HAVING keeps; an output
each; without doubles if it is *distinct*.  ORDER BY, LIMIT and OFFSET are an `Ordered` around a
query, window functions a `Windowed` around one, whose rows get further columns at their end.
VALUES are a union of SELECTs without tables.  WITH is gone: what it names is a `Derived` table
wherever it is used.

Each table that a FROM names has a `Source` of its own, unlike all others in the whole query, and a
`Column` names its source.  So a column can be moved anywhere and still means the same, a query is
correlated if it has columns of a source that it does not define, and no name is looked up again.
A source knows its base table; that of a derived table has none, and its columns are named by their
places: ``"0"``, ``"1"``.  Aggregates are over the rows of the block whose output, HAVING or
ORDER BY they stand in.

A field of a node holds a node, a tuple of nodes, None, or plain data.  `Node.children`,
`Node.with_children`, `walk` and `replaced` serve whatever looks at all nodes; a new kind of node
needs no more than its fields.  Hash, order, children, sources and size are computed once a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Self, TypeVar, cast

import attrs


class Node:
    """A part of a query."""

    __slots__ = (
        *("__weakref__", "_aggregates", "_children", "_fields"),
        *("_hash", "_order", "_size", "_sources"),
    )

    _aggregates: bool
    _children: tuple[Node, ...]
    _fields: tuple[Any, ...]
    _hash: int
    _order: tuple[Any, ...]
    _size: int
    _sources: frozenset[Source]

    @property
    def fields(self) -> tuple[Any, ...]:
        """The values of its fields."""
        try:
            return self._fields
        except AttributeError:
            found = tuple([getattr(self, name) for name in _names_of(type(self))])
            return self._keep("_fields", found)

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes in its fields, in their order."""
        try:
            return self._children
        except AttributeError:
            found: list[Node] = []
            for value in self.fields:
                if isinstance(value, Node):
                    found.append(value)
                elif isinstance(value, tuple):
                    found.extend(cast("tuple[Node, ...]", value))
            return self._keep("_children", tuple(found))

    def with_children(self, children: Iterable[Node]) -> Self:
        """Return the same kind of node with others in the place of its children."""
        left = iter(children)
        new = [
            next(left)
            if isinstance(value, Node)
            else tuple([next(left) for _ in cast("tuple[Node, ...]", value)])
            if isinstance(value, tuple)
            else value
            for value in self.fields
        ]
        return type(self)(*new)

    @property
    def sources(self) -> frozenset[Source]:
        """The tables that it defines or refers to."""
        try:
            return self._sources
        except AttributeError:
            found = frozenset[Source]().union(*[child.sources for child in self.children])
            return self._keep("_sources", found)

    @property
    def size(self) -> int:
        """How many nodes it has."""
        try:
            return self._size
        except AttributeError:
            return self._keep("_size", 1 + sum([child.size for child in self.children]))

    @property
    def holds_aggregate(self) -> bool:
        """Whether one of its children takes an aggregate."""
        try:
            return self._aggregates
        except AttributeError:
            return self._keep("_aggregates", any(map(has_aggregate, self.children)))

    @property
    def order(self) -> tuple[Any, ...]:
        """What nodes are sorted by where their order does not matter."""
        try:
            return self._order
        except AttributeError:
            parts: list[Any] = [type(self).__name__]
            for value in self.fields:
                if isinstance(value, Node):
                    parts.append(value.order)
                elif isinstance(value, tuple):
                    nodes = cast("tuple[Node, ...]", value)
                    parts.append(("", *[node.order for node in nodes]))
                else:  # never of two types in one place: None, a number, a text
                    parts.append(("",) if value is None else (" ", value))
            return self._keep("_order", tuple(parts))

    def _keep(self, slot: str, value: _T) -> _T:
        object.__setattr__(self, slot, value)
        return value

    def __eq__(self, other: object) -> bool:
        """Compare by kind and fields."""
        if self is other:
            return True
        if not isinstance(other, Node) or type(self) is not type(other):
            return False
        return hash(self) == hash(other) and self.fields == other.fields

    def __hash__(self) -> int:
        """Return the same for equal nodes."""
        try:
            return self._hash
        except AttributeError:
            return self._keep("_hash", hash((type(self).__name__, self.fields)))


_T = TypeVar("_T")
_NAMES: Final[dict[type[Node], tuple[str, ...]]] = {}


def _names_of(kind: type[Node]) -> tuple[str, ...]:
    found = _NAMES.get(kind)
    if found is None:
        found = _NAMES[kind] = tuple(field.name for field in attrs.fields(cast("Any", kind)))
    return found


class Scalar(Node):
    """An expression that has a value for each row; conditions are true, false or NULL."""

    __slots__ = ()


class Table(Node):
    """What stands in a FROM."""

    __slots__ = ()


class Query(Node):
    """What has rows of its own."""

    __slots__ = ()

    @property
    def outputs(self) -> tuple[Scalar, ...]:
        """What its rows consist of."""
        raise NotImplementedError


@attrs.frozen(eq=False)
class Source(Node):
    """A table as one FROM names it."""

    name: str
    table: str = ""
    """The base table, qualified as the query writes it; empty for a derived one."""

    @property
    def sources(self) -> frozenset[Source]:
        """Itself."""
        try:
            return self._sources
        except AttributeError:
            return self._keep("_sources", frozenset((self,)))


# Values.


@attrs.frozen(eq=False)
class Literal(Scalar):
    """A constant."""

    kind: str
    """``integer``, ``number`` (as it is written), ``text``, ``boolean`` or ``null``."""
    text: str = ""


NULL: Final = Literal("null")
TRUE, FALSE = Literal("boolean", "true"), Literal("boolean", "false")


def integer(value: int) -> Literal:
    """Return a whole number."""
    return Literal("integer", str(value))


@attrs.frozen(eq=False)
class Column(Scalar):
    """A column of a table; of a derived one its place."""

    source: Source
    name: str


@attrs.frozen(eq=False)
class Star(Scalar):
    """All columns of a base table of which the schema knows none."""

    source: Source


@attrs.frozen(eq=False)
class Level(Node):
    """The columns that an open name may mean in one query or in one of those around it."""

    columns: tuple[Scalar, ...]


@attrs.frozen(eq=False)
class OpenName(Scalar):
    """A name that may mean one of several columns: the schema leaves it open."""

    name: str
    or_text: bool
    """Whether it may be a text too, as SQLite reads a double-quoted name that nothing has."""
    levels: tuple[Level, ...]
    """From the inside outwards: what an inner query has goes before what an outer one has."""


@attrs.frozen(eq=False)
class Place(Scalar):
    """A column of the query that a `Windowed` or an `Ordered` stands around."""

    number: int


# Conditions.


@attrs.frozen(eq=False)
class Comparison(Scalar):
    """``=``, ``<>``, ``<`` or ``<=``; what is greater is turned round."""

    operator: str
    left: Scalar
    right: Scalar
    may_be_nan: bool = False
    """Whether a value may be neither less, equal nor greater."""


@attrs.frozen(eq=False)
class And(Scalar):
    """All of them."""

    parts: tuple[Scalar, ...]


@attrs.frozen(eq=False)
class Or(Scalar):
    """One of them at least."""

    parts: tuple[Scalar, ...]


@attrs.frozen(eq=False)
class Not(Scalar):
    """The contrary; NULL of NULL."""

    operand: Scalar


@attrs.frozen(eq=False)
class IsNull(Scalar):
    """Whether a value is NULL."""

    operand: Scalar


@attrs.frozen(eq=False)
class Among(Scalar):
    """``x IN (a, b)`` where some value is no literal; of literals it is an `Or`."""

    operand: Scalar
    values: tuple[Scalar, ...]


@attrs.frozen(eq=False)
class InQuery(Scalar):
    """Whether some row of a query has these values, with NULL for what is not known."""

    values: tuple[Scalar, ...]
    query: Query


@attrs.frozen(eq=False)
class Exists(Scalar):
    """Whether a query has a row."""

    query: Query


@attrs.frozen(eq=False)
class Like(Scalar):
    """``LIKE``, ``ILIKE`` or ``GLOB``."""

    operator: str
    operand: Scalar
    pattern: Scalar
    escape: Scalar | None = None


# Other expressions.


@attrs.frozen(eq=False)
class ScalarQuery(Scalar):
    """The value of the only row of a query, NULL where there is none."""

    query: Query


@attrs.frozen(eq=False)
class When(Node):
    """One branch of a CASE."""

    condition: Scalar
    value: Scalar


@attrs.frozen(eq=False)
class Case(Scalar):
    """The value of the first branch whose condition is true."""

    whens: tuple[When, ...]
    default: Scalar = NULL


@attrs.frozen(eq=False)
class Arithmetic(Scalar):
    """``+``, ``-``, ``*``, ``/`` or ``%``; ``+?`` is a ``+`` that may join texts."""

    operator: str
    left: Scalar
    right: Scalar


@attrs.frozen(eq=False)
class Negative(Scalar):
    """``-x``."""

    operand: Scalar


@attrs.frozen(eq=False)
class Cast(Scalar):
    """A value as another type, as the dialect spells it."""

    operand: Scalar
    kind: str
    """As `scorekit._sql.databases.kinds` names it."""
    type: str
    safe: bool = False
    """Whether it is NULL where that is not possible."""


@attrs.frozen(eq=False)
class Function(Scalar):
    """A function that is known by its name alone."""

    name: str
    """In lower case, as sqlglot names it in all dialects: ``coalesce``, ``dpipe``, ``round``."""
    operands: tuple[Scalar, ...]
    form: str = ""
    """What else is written: the names of further operands, and switches."""
    certain: bool = True
    """Whether its operands alone decide its value, in every run."""


@attrs.frozen(eq=False)
class Aggregate(Scalar):
    """``count``, ``sum``, ``avg``, ``min`` or ``max`` of the rows of a group, without NULLs."""

    function: str
    operand: Scalar | None = None
    """None for ``COUNT(*)``."""
    distinct: bool = False


# Tables.


@attrs.frozen(eq=False)
class Scan(Table):
    """A base table, or a view that is taken for one."""

    source: Source


@attrs.frozen(eq=False)
class Derived(Table):
    """The rows of a query.  It may refer to tables before it (LATERAL)."""

    source: Source
    query: Query
    shared: str = ""
    """Names the WITH whose rows it has, where these are not the same in each run: all tables of
    that name have the same."""


@attrs.frozen(eq=False)
class Join(Table):
    """Two tables: ``inner``, ``left`` or ``full``; a right join is turned round."""

    kind: str
    left: Table
    right: Table
    condition: Scalar


# Queries.


@attrs.frozen(eq=False)
class Select(Query):
    """One SELECT, but for its ORDER BY, its LIMIT and its windows."""

    tables: tuple[Table, ...]
    where: Scalar = TRUE
    keys: tuple[Scalar, ...] | None = None
    """What GROUP BY names.  None: no GROUP BY; all rows are one group if there are aggregates."""
    having: Scalar = TRUE
    outputs: tuple[Scalar, ...] = ()  # pyright: ignore[reportIncompatibleMethodOverride]
    distinct: bool = False

    @property
    def aggregates(self) -> bool:
        """Whether an aggregate is taken over its rows, but for what only orders them."""
        return any(map(has_aggregate, (self.having, *self.outputs)))

    @property
    def plain(self) -> bool:
        """Whether each of its rows is one row of its tables."""
        return not self.distinct and self.keys is None and not self.aggregates


@attrs.frozen(eq=False)
class SetOperation(Query):
    """``union``, ``intersect`` or ``except``, from left to right."""

    operator: str
    distinct: bool
    arms: tuple[Query, ...]

    @property
    def outputs(self) -> tuple[Scalar, ...]:
        """Those of its first arm."""
        return self.arms[0].outputs


@attrs.frozen(eq=False)
class OrderItem(Node):
    """What ORDER BY sorts by."""

    value: Scalar
    descending: bool = False
    nulls_first: int = True
    """True, False, or a number that stands for where each of several databases puts them."""


@attrs.frozen(eq=False)
class Frame(Node):
    """
    The rows of a partition that a window function sees.

    Bounds are distances from the current row, negative before it, None for no bound.  By
    ``range``, the current row is all that tie with it.
    """

    unit: str
    start: int | None
    end: int | None


WHOLE: Final = Frame("range", None, None)
RUNNING: Final = Frame("range", None, 0)


@attrs.frozen(eq=False)
class Window(Node):
    """A window function; all it names are literals and places of the query that it is over."""

    function: str
    """An aggregate, or ``row_number``, ``rank``, ``lag`` and so on."""
    operands: tuple[Scalar, ...]
    keys: tuple[Scalar, ...]
    items: tuple[OrderItem, ...]
    frame: Frame
    distinct: bool = False


@attrs.frozen(eq=False)
class Over(Scalar):
    """A window function where it is written, before it becomes a column of a `Windowed`."""

    window: Window


@attrs.frozen(eq=False)
class Windowed(Query):
    """The rows of a query with a further column for each window."""

    query: Query
    windows: tuple[Window, ...]

    @property
    def outputs(self) -> tuple[Scalar, ...]:
        """Those of its query, and a place for each window."""
        n = len(self.query.outputs)
        return (*self.query.outputs, *[Place(n + i) for i in range(len(self.windows))])

    def operands(self, window: Window) -> tuple[Scalar, ...]:
        """Return what a window is computed of, by what stands in the query where it has one."""
        outputs = self.query.outputs
        return tuple(
            outputs[one.number] if isinstance(one, Place) else one for one in window.operands
        )


@attrs.frozen(eq=False)
class Ordered(Query):
    """
    The rows of a query in an order, and of these a part.

    What it orders a `Select` by may name all that an output may; other queries by a `Place`.
    """

    query: Query
    items: tuple[OrderItem, ...]
    limit: Scalar | None = None
    offset: Scalar | None = None

    @property
    def outputs(self) -> tuple[Scalar, ...]:
        """Those of its query."""
        return self.query.outputs


# What serves all.


def walk(node: Node) -> Iterator[Node]:
    """Yield *node* and all that is in it."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(one.children)


_N = TypeVar("_N", bound=Node)


def found_in(node: Node, kind: type[_N]) -> Iterator[_N]:
    """Yield the nodes of a kind that are in *node*."""
    for one in walk(node):
        if isinstance(one, kind):
            yield one


_K = TypeVar("_K", bound=Node)


def replaced(node: _N, new: Mapping[_K, Node]) -> _N:
    """Return *node* with each part that is a key of *new* replaced, from the outside inwards."""
    return cast("_N", _replaced(node, cast("Mapping[Node, Node]", new))) if new else node


def _replaced(node: Node, new: Mapping[Node, Node]) -> Node:
    found = new.get(node)
    if found is not None:
        return found
    children = node.children
    if not children:
        return node
    others = [_replaced(child, new) for child in children]
    if all(map(_is, children, others)):
        return node
    return node.with_children(others)


def _is(one: object, other: object) -> bool:
    return one is other


def rewritten(node: _N, rule: Callable[[Node], Node]) -> _N:
    """Return *node* with *rule* applied to each part, from the inside outwards."""
    children = node.children
    others = [rewritten(child, rule) for child in children]
    if not all(map(_is, children, others)):
        node = node.with_children(others)
    return cast("_N", rule(node))


def sorted_nodes(nodes: Iterable[_N]) -> tuple[_N, ...]:
    """Return nodes in the order that they have by themselves."""
    return tuple(sorted(nodes, key=_order_of))


def _order_of(node: Node) -> tuple[Any, ...]:
    return node.order


def conjuncts(condition: Scalar) -> tuple[Scalar, ...]:
    """Return the conditions that a condition is the conjunction of."""
    if condition == TRUE:
        return ()
    return condition.parts if isinstance(condition, And) else (condition,)


def conjunction(conditions: Iterable[Scalar]) -> Scalar:
    """Return the conjunction of conditions."""
    parts: list[Scalar] = []
    for condition in conditions:
        parts.extend(conjuncts(condition))
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def has_aggregate(node: Node) -> bool:
    """Say whether an expression takes an aggregate of the SELECT that it stands in."""
    if isinstance(node, Aggregate | Query):
        return isinstance(node, Aggregate)
    return node.holds_aggregate


def defined_in(node: Node) -> frozenset[Source]:
    """Return the tables that a FROM in *node* defines, in subqueries too."""
    return frozenset(one.source for one in walk(node) if isinstance(one, Scan | Derived))


def local_sources(tables: Iterable[Table]) -> list[Source]:
    """Return the tables that a FROM defines, in their order, not those inside of subqueries."""
    found: list[Source] = []
    for table in tables:
        if isinstance(table, Scan | Derived):
            found.append(table.source)
        else:
            parts = (child for child in table.children if isinstance(child, Table))
            found.extend(local_sources(parts))
    return found


def free_sources(node: Node) -> frozenset[Source]:
    """Return the tables that *node* refers to and does not define."""
    return node.sources - defined_in(node)
