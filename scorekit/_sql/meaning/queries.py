"""SELECT and set operations: outputs, groups, orders and limits."""

from __future__ import annotations

from typing import Final, cast

import attrs
from sqlglot import exp

from scorekit._core.clock import check_time
from scorekit._sql.meaning.expressions import ExpressionReader
from scorekit._sql.meaning.names import Ctes, NameScope, Resolver
from scorekit._sql.meaning.notes import NamedQuery, Notes, has_star
from scorekit._sql.meaning.sources import SourceReader
from scorekit._sql.meaning.syntax import (
    InvalidError,
    RefusedError,
    TooLargeError,
    UnreadError,
    check_arguments,
    is_bare,
    order_item,
    ordered_nodes,
    parts_of,
)
from scorekit._sql.meaning.tree import (
    TRUE,
    And,
    Derived,
    Literal,
    Node,
    Or,
    Ordered,
    OrderItem,
    Place,
    Query,
    Scalar,
    Select,
    SetOperation,
    Source,
    Star,
    conjunction,
    has_aggregate,
    integer,
    local_sources,
    walk,
)
from scorekit._sql.meaning.unsettled import is_settled
from scorekit._sql.meaning.windows import has_window, isolated
from scorekit._sql.text.dialect_neutral import members

MAX_SIZE: Final = 6_000
"""Nodes of the largest tree that is looked into."""


_SELECT_PARTS = (
    "with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order",
    "limit", "offset", "qualify",
)  # fmt: skip


_SET_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


_NO_LATERAL_ALIASES = frozenset(
    {"", "sqlite", "postgres", "mysql", "tsql", "oracle", "bigquery", "presto", "trino", "athena"}
)
"""Dialects in which an output cannot name an output before it."""


def _may_be_folded(condition: Scalar) -> bool:
    """Say whether SQLite may leave out a part of a condition before it looks into it."""
    several = (node.parts for node in walk(condition) if isinstance(node, And | Or))
    return any(not part.sources and not has_aggregate(part) for parts in several for part in parts)


def _marked(query: Query, shared: dict[Source, str]) -> Query:
    def read(node: Node) -> Node:
        if node.children:
            node = node.with_children(map(read, node.children))
        if isinstance(node, Derived) and node.source in shared:
            return attrs.evolve(node, shared=shared[node.source])
        return node

    return cast("Query", read(query))


class QueryReader:
    """Reads one query, and the queries in it."""

    def __init__(self, notes: Notes) -> None:
        self._notes, self._dialect = notes, notes.dialect
        self._lateral = any(
            (one or "") not in _NO_LATERAL_ALIASES for one in members(notes.catalog.dialect)
        )
        self._names = Resolver(notes.catalog, notes.assumptions)
        self._expressions = ExpressionReader(notes, self._names, self.query)
        self._sources = SourceReader(notes, self._names, self.query, self._expressions.value)

    def whole(self, tree: exp.Expr) -> NamedQuery:
        """Read all of a query."""
        try:
            block = self.query(tree, None, {})
            if block.query.size > MAX_SIZE:
                raise TooLargeError("the query is too large")
        except RecursionError:
            raise TooLargeError("the query is too deep") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            # the parser lets pass what lacks a part, in ways that differ by its version
            raise UnreadError("a part is missing, or where another one should be") from error
        return block

    def query(self, tree: exp.Expr, outer: NameScope | None, ctes: Ctes) -> NamedQuery:
        """Read a query inside of *outer*, where *ctes* may be named."""
        check_time()
        self._notes.count(25)  # so that nested copies of a WITH end soon
        inside = self._sources.definitions(tree, outer, ctes)
        if isinstance(tree, exp.Subquery):
            check_arguments(tree, "this", "alias", "with_")
            block = self.query(tree.this, outer, inside)
        elif isinstance(tree, exp.Select):
            block = self._select(tree, NameScope(outer, inside))
        elif isinstance(tree, exp.SetOperation):
            block = self._set_operation(tree, outer, inside)
        else:
            raise UnreadError(f"{type(tree).__name__} is no query that is known")
        self._notes.queries.setdefault(id(tree), []).append(block.query)
        return block

    def _select(self, tree: exp.Select, scope: NameScope) -> NamedQuery:
        check_arguments(tree, *_SELECT_PARTS)
        tables, conditions = self._sources.tables(tree, scope)
        outputs, names = self._outputs(tree, scope)
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UnreadError("DISTINCT ON")
        aliases: dict[str, Scalar | None] = {}
        for name, value in zip(names, outputs, strict=True):
            aliases[name] = value if aliases.get(name, value) == value else None
        aliases.pop("", None)
        named = attrs.evolve(scope, aliases=aliases, lateral=scope.aliases)
        where = self._filter(tree.args.get("where"), named.at("where"))
        if has_aggregate(where):
            may = self._dialect == "sqlite" and _may_be_folded(where)
            raise (UnreadError if may else InvalidError)("an aggregate in WHERE")
        keys = self._keys(tree.args.get("group"), named.at("group"), outputs)
        having = self._filter(tree.args.get("having"), named.at("having"))
        items = self._items(tree, named, outputs)
        where = conjunction((*conditions, where))
        select = Select(tables, where, keys, having, outputs, distinct is not None)
        self._notes.selects[id(tree)] = select
        visible = (name for table in scope.tables for name in table.columns or ())
        self._notes.columns[id(tree)] = frozenset(map(str.lower, visible))
        self._notes.aliases.update((table.source, table.alias) for table in scope.tables)
        if keys is None and not select.aggregates:
            if tree.args.get("having") is not None:
                own = local_sources(tables)
                of_rows = any(not part.sources.isdisjoint(own) for part in (having, *outputs))
                may = self._dialect == "mysql" or (self._dialect != "sqlite" and not of_rows)
                raise (UnreadError if may else RefusedError)("HAVING without groups")
            if any(map(has_aggregate, items)):
                raise UnreadError("an aggregate orders rows that are no groups")
        kept = self._filter(tree.args.get("qualify"), named)
        query: Query = select
        over = any(map(has_window, (where, having, kept, *(keys or ()), *outputs, *items)))
        if over:
            query, items = isolated(select, items, kept, self._notes)
        elif kept != TRUE:
            raise UnreadError("QUALIFY without a window function")
        return NamedQuery(self._ordered(tree, query, items), names)

    def _set_operation(
        self, tree: exp.SetOperation, outer: NameScope | None, ctes: Ctes
    ) -> NamedQuery:
        check_arguments(
            tree, "with_", "this", "expression", "distinct", "order", "limit", "offset"
        )
        chain: list[exp.SetOperation] = [tree]
        while isinstance(chain[-1].this, exp.SetOperation) and not (
            {*parts_of(chain[-1].this)} - {"this", "expression", "distinct"}
        ):
            chain.append(chain[-1].this)
        first = self.query(chain[-1].this, outer, ctes)
        query, names = first.query, first.names
        union: SetOperation | None = None  # of a chain without brackets: one type for all
        for one in reversed(chain):
            arm = self.query(one.expression, outer, ctes).query
            widths = {len(part.outputs) for part in (query, arm) if not has_star(part)}
            if len(widths) > 1:
                error = UnreadError if tree.find(exp.Star) else InvalidError
                raise error("the arms of a set operation differ in their width")
            operator, distinct = _SET_OPERATIONS[type(one)], bool(one.args.get("distinct"))
            longer = union is not None and operator == "union" and distinct >= union.distinct
            arms = (*union.arms, arm) if union is not None and longer else (query, arm)
            query = SetOperation(operator, distinct, arms)
            union = query if operator == "union" else None
        items = tuple(self._place(node, names) for node in ordered_nodes(tree))
        return NamedQuery(self._ordered(tree, query, items), names)

    def _place(self, node: exp.Expr, names: tuple[str, ...]) -> OrderItem:
        """Read an item of the ORDER BY of a set operation, which names an output."""
        this = node.this.unnest()
        if isinstance(this, exp.Literal) and not this.is_string and this.this.isdigit():
            place = int(this.this) - 1
        elif is_bare(this) and names.count(self._names.name(this.this)) == 1:
            place = names.index(self._names.name(this.this))
        else:
            place = -1
        if not 0 <= place < len(names):
            raise UnreadError("ORDER BY of a set operation names no column of it")
        return order_item(node, Place(place))

    def _ordered(self, tree: exp.Expr, query: Query, items: tuple[OrderItem, ...]) -> Query:
        """Put ORDER BY, LIMIT and OFFSET around a query."""
        limit, offset = tree.args.get("limit"), tree.args.get("offset")
        if not (items or limit or offset):
            return query
        bounds = [None if one is None else self._bound(one) for one in (limit, offset)]
        return Ordered(query, items, *bounds)

    def _bound(self, node: exp.Expr) -> Scalar:
        if isinstance(node, exp.Fetch):
            check_arguments(node, "count", "direction", "limit_options")
            options = node.args.get("limit_options")
            value = node.args.get("count") or exp.Literal.number(1)
            if options is not None:
                check_arguments(options, "rows")
        else:
            check_arguments(node, "expression")
            value = node.args.get("expression")
        if value is None:
            raise UnreadError("a LIMIT without a number")
        return self._expressions.value(value, NameScope(None, {}))

    def _outputs(
        self, tree: exp.Select, scope: NameScope
    ) -> tuple[tuple[Scalar, ...], tuple[str, ...]]:
        found: list[tuple[str, Scalar]] = []
        for node in tree.expressions:
            if isinstance(node, exp.Star):
                check_arguments(node)
                # of EXISTS no column is looked at
                of_rows = scope.tables and isinstance(tree.parent, exp.Exists)
                self._notes.stars[id(node)] = (
                    [("", integer(1))] if of_rows else self._sources.star(scope)
                )
                found += self._notes.stars[id(node)]
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                check_arguments(node, "this", "table")
                check_arguments(node.this)
                table = scope.table(self._names.name(node.args["table"]))
                self._notes.stars[id(node)] = table.all_columns()
                found += self._notes.stars[id(node)]
            elif isinstance(node, exp.Alias):
                check_arguments(node, "this", "alias")
                alias = self._names.name(node.args["alias"])
                found.append((alias, self._expressions.value(node.this, scope)))
                if self._lateral:
                    scope.aliases[alias] = None
            else:
                value = self._expressions.value(node, scope)
                is_name = isinstance(node, exp.Column) and not isinstance(value, Literal)
                found.append((self._names.name(node.this) if is_name else "", value))
        if not found:
            raise UnreadError("a SELECT of no columns")
        return tuple(value for _, value in found), tuple(name for name, _ in found)

    def _filter(self, clause: exp.Expr | None, scope: NameScope) -> Scalar:
        """Read a WHERE, a HAVING or a QUALIFY."""
        return TRUE if clause is None else self._expressions.value(clause.this, scope)

    def _keys(
        self, clause: exp.Expr | None, scope: NameScope, outputs: tuple[Scalar, ...]
    ) -> tuple[Scalar, ...] | None:
        """Return the keys of a GROUP BY."""
        if clause is None:
            return None
        check_arguments(clause, "expressions")
        keys: list[Scalar] = []
        for node in clause.expressions:
            if isinstance(node, exp.Tuple) and not node.expressions:
                raise UnreadError("GROUP BY without keys")
            if isinstance(node, (exp.Rollup, exp.Cube, exp.GroupingSets)):
                raise UnreadError("several sets of keys")
            if isinstance(node, exp.Star):
                raise UnreadError("a star in GROUP BY")
            if scope.outer is not None and self._dialect == "sqlite":
                self._key(node, attrs.evolve(scope, outer=None), outputs)  # no outer column
            keys.append(self._key(node, scope, outputs))
        if not keys:
            raise UnreadError("GROUP BY without keys")
        if any(map(has_aggregate, keys)):
            raise InvalidError("an aggregate in GROUP BY")
        return tuple(keys)

    def _key(self, node: exp.Expr, scope: NameScope, outputs: tuple[Scalar, ...]) -> Scalar:
        """Read an item of GROUP BY or ORDER BY, which may be the number of an output."""
        node = node.unnest()  # no database keeps brackets
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.this.isdigit():
                raise UnreadError(f"a key {node.this}")
            if not 1 <= int(node.this) <= len(outputs):
                if self._notes.catalog.dialect is not None:
                    raise UnreadError(f"there is no column {node.this}")
                return self._expressions.value(node, scope)  # valid only where it is a constant
            if any(isinstance(output, Star) for output in outputs):
                raise UnreadError(f"column {node.this} is in a star")
            return outputs[int(node.this) - 1]
        if not is_bare(node):
            scope = scope.at(f"{scope.clause} expressions")
        return self._expressions.value(node, scope)

    def _items(
        self, tree: exp.Select, scope: NameScope, outputs: tuple[Scalar, ...]
    ) -> tuple[OrderItem, ...]:
        found: list[OrderItem] = []
        for node in ordered_nodes(tree):
            this = node.this.unnest()
            name = self._names.name(this.this) if is_bare(this) else ""
            value: Scalar | None
            if name and name in scope.aliases:
                value = scope.aliases[name]  # a bare name is an output before it is a column
                if value is None:
                    raise UnreadError(f"two outputs are called {name}")
            else:
                value = self._key(this, scope, outputs)
            found.append(order_item(node, value))
        return tuple(found)

    def with_shared(self, query: Query) -> Query:
        """Mark the tables that are the same WITH, where its rows are not the same in each run."""
        shared = {
            source: f"w{i}"
            for i, several in enumerate(self._notes.of_with.values())
            if len(several) > 1 and not is_settled(self._notes.catalog.derived[several[0]])
            for source in several
        }
        return _marked(query, shared) if shared else query
