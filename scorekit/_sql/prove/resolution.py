"""From the syntax tree of a query to a term, and whether its rows are determined."""

from __future__ import annotations

from typing import Final, NamedTuple

import attrs
from sqlglot import exp

from scorekit._sql.prove.expressions import (
    ExpressionReader,
    Findings,
    Query,
    order_term,
    ordered_nodes,
)
from scorekit._sql.prove.known import Known
from scorekit._sql.prove.names import COMPLETE, Ctes, Names, Scope
from scorekit._sql.prove.sources import FromReader
from scorekit._sql.prove.terms import (
    NONE,
    NULL,
    TRUE,
    Select,
    Term,
    UnsupportedError,
    has_aggregate,
    local_sources,
    looks_at,
    ordered,
    replaced,
    walk,
)
from scorekit._sql.prove.trees import check_parts, check_tree, parts_of
from scorekit._sql.prove.windows import has_window, isolated


class Resolved(NamedTuple):
    """A query whose names are resolved."""

    term: Term
    order: tuple[Term, ...]
    """``order`` terms of the outermost ORDER BY; of a set operation they name positions."""
    findings: Findings


def resolve(tree: exp.Expr, known: Known) -> Resolved:
    """
    Resolve every name in a query; raises `UnsupportedError` where that is not certain.

    A valid query is assumed: a name that only one table can have is a column of that table.
    """
    check_tree(tree)
    reader = _QueryReader(known)
    query = reader.read(tree, None, {})
    used = [node for term in (query.term, *query.order) for node in walk(term)]
    if any(known.kind(node) == "collated" for node in used):
        raise UnsupportedError  # which of two columns stands first decides how they compare
    return Resolved(query.term, query.order, reader.findings)


MAX_SETS: Final = 16
"""Sets of keys of one GROUP BY."""

MAX_CUBE: Final = 4
"""Keys of one CUBE or ROLLUP."""

_UNFAMILIAR = frozenset({"clickhouse", "prql", "tableau"})
"""Dialects in which an outer join does not give NULLs, or that are hardly SQL."""

_SELECT_PARTS = frozenset(
    {"with_", "expressions", "distinct", "from_", "joins", "where", "group", "having", "order"}
    | {"limit", "offset", "windows", "qualify"}
)


_SET_PARTS = frozenset({"with_", "this", "expression", "distinct", "order", "limit", "offset"})


_SET_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}


_NO_LATERAL_ALIASES = frozenset(
    {"", "sqlite", "postgres", "mysql", "tsql", "oracle", "bigquery", "presto", "trino", "athena"}
)
"""Dialects in which an output cannot name an output before it."""


class _QueryReader:
    """Reads one query, with the readers of its tables and expressions."""

    def __init__(self, known: Known) -> None:
        self._known, self._dialect = known, known.dialect or ""
        self._names = Names(known)
        self.findings = Findings(determined=self._dialect not in _UNFAMILIAR)
        self._expressions = ExpressionReader(self._names, self.findings, self.read)
        self._from = FromReader(self._names, self.findings, self._expressions.read, self.read)

    def read(self, tree: exp.Expr, outer: Scope | None, ctes: Ctes) -> Query:
        """Read a query inside of *outer*, where *ctes* may be named."""
        self._known.steps.take(25)  # so that nested copies of a WITH end soon
        inside = self._from.definitions(tree, outer, ctes)
        if isinstance(tree, exp.Subquery):
            check_parts(tree, frozenset({"this", "alias", "with_"}))
            return self.read(tree.this, outer, inside)
        if isinstance(tree, exp.Select):
            return self._select(tree, Scope(outer, inside))
        if isinstance(tree, exp.SetOperation):
            return self._set_operation(tree, outer, inside)
        raise UnsupportedError

    def _select(self, tree: exp.Select, scope: Scope) -> Query:
        check_parts(tree, _SELECT_PARTS)
        tables = self._from.read(tree, scope)
        scope.windows.update(self._windows(tree))
        outputs, names = self._outputs(tree, scope)
        distinct = tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise UnsupportedError
        aliases: dict[str, Term | None] = {}
        for name, term in zip(names, outputs, strict=True):
            aliases[name] = term if aliases.get(name, term) == term else None
        aliases.pop("", None)
        named = attrs.evolve(scope, aliases=aliases)
        filtered = scope if self._dialect == "postgres" else named  # WHERE sees outputs elsewhere
        where = self._filter(tree.args.get("where"), filtered)
        if has_aggregate(where):
            raise UnsupportedError
        sets = self._grouping_sets(tree.args.get("group"), named, outputs)
        group = sets[0]
        having = self._filter(tree.args.get("having"), filtered)
        order = self._order(tree, named, outputs)
        select = Select(distinct is not None, tables, where, group, having, outputs, order)
        if (
            group == NONE
            and not select._replace(order=()).aggregates
            and (tree.args.get("having") is not None or select.aggregates)
        ):
            raise UnsupportedError
        kept = self._filter(tree.args.get("qualify"), named)
        over = any(map(has_window, (where, having, kept, *group.args, *outputs, *order)))
        if tree.args.get("qualify") is not None and not over:
            raise UnsupportedError
        if len(sets) > 1:
            if over:
                raise UnsupportedError
            return self._limited(tree, self._of_sets(select, sets, names), scope.ctes)
        self._check_determined(select)
        if over:
            select = self._isolated(select, kept)
            order = select.order
        query = Query(select._replace(order=()).term(), names, order)
        return self._limited(tree, query, scope.ctes)

    def _windows(self, tree: exp.Select) -> dict[str, exp.Window]:
        """Return what WINDOW names."""
        found: dict[str, exp.Window] = {}
        for node in tree.args.get("windows") or ():
            if not isinstance(node, exp.Window) or self._names.name(node.this) in found:
                raise UnsupportedError
            check_parts(node, frozenset({"this", "partition_by", "order", "spec", "alias"}))
            found[self._names.name(node.this)] = node
        return found

    def _isolated(self, select: Select, kept: Term) -> Select:
        """Take windows apart, or compare the SELECT only as it stands."""
        try:
            return isolated(select, kept, self._known)
        except UnsupportedError:
            self.findings.determined = False
            return select._replace(having=Term("and", "", (select.having, kept)))

    def _of_sets(self, select: Select, sets: list[Term], names: tuple[str, ...]) -> Query:
        """
        Spell out ROLLUP, CUBE and GROUPING SETS: the rows of one GROUP BY for each set of keys.

        A key that is not in a set is NULL there, but for what is aggregated.
        """
        if select.order:
            raise UnsupportedError
        keys = [key for one in sets for key in one.args]
        arms: list[Term] = []
        for one in sets:
            nulls = dict.fromkeys((key for key in keys if key not in one.args), NULL)
            arm = select._replace(
                group=one if one.args else NONE,
                having=_nulled(select.having, nulls),
                outputs=tuple(_nulled(output, nulls) for output in select.outputs),
            )
            if not one.args and not arm.aggregates:
                arm = Select(select.distinct, Term("from"), arm.having, NONE, TRUE, arm.outputs)
            self._check_determined(arm)
            defined = [n.args[0] for n in walk(arm.term()) if n.op in ("table", "derived")]
            new = {source: self._known.fresh(source) for source in defined} if arms else {}
            arms.append(replaced(arm.term(), new, self._known.steps))
        return Query(Term("union" if select.distinct else "union all", "", tuple(arms)), names)

    def _set_operation(self, tree: exp.SetOperation, outer: Scope | None, ctes: Ctes) -> Query:
        check_parts(tree, _SET_PARTS)
        arms, flags = [tree.expression], [bool(tree.args.get("distinct"))]
        left: exp.Expr = tree.this
        while type(left) is type(tree) and not set(parts_of(left)) - {
            "this",
            "expression",
            "distinct",
        }:
            arms.append(left.expression)
            flags.append(bool(left.args.get("distinct")))
            left = left.this
        arms.append(left)
        for arm in arms:
            if isinstance(arm, exp.SetOperation) and isinstance(arm, exp.Intersect) != isinstance(
                tree, exp.Intersect
            ):
                self.findings.determined = False  # dialects differ in what binds tighter
        queries = [self.read(arm, outer, ctes) for arm in reversed(arms)]
        op = _SET_OPERATIONS[type(tree)]
        term = queries[0].term
        for query, distinct in zip(queries[1:], reversed(flags), strict=True):
            term = Term(op if distinct else f"{op} all", "", (term, query.term))
        names = queries[0].names
        order = tuple(self._position(node, names) for node in ordered_nodes(tree))
        self.findings.orders.append(order)
        return self._limited(tree, Query(term, names, order), ctes)

    def _position(self, node: exp.Expr, names: tuple[str, ...]) -> Term:
        """Read an item of the ORDER BY of a set operation, which names an output."""
        this = node.this
        if isinstance(this, exp.Literal) and not this.is_string and this.this.isdigit():
            place = int(this.this) - 1
        elif _is_bare(this) and names.count(self._names.name(this.this)) == 1:
            place = names.index(self._names.name(this.this))
        else:
            raise UnsupportedError
        return order_term(node, Term("position", str(place)))

    def _limited(self, tree: exp.Expr, query: Query, ctes: Ctes) -> Query:
        """Keep LIMIT and OFFSET as they stand: which rows they take, the tables do not say."""
        limits = [tree.args[key] for key in ("limit", "offset") if tree.args.get(key)]
        if not limits:
            return query
        simple = [_bound(limit) for limit in limits]
        bounds = tuple(bound for bound in simple if bound is not None)
        if len(bounds) == len(limits):
            self.findings.conditional = True
        else:
            self.findings.determined = False
            bounds = tuple(self._expressions.generic(limit, Scope(None, ctes)) for limit in limits)
        order = Term("list", "", query.order)
        return Query(Term("limited", "", (query.term, order, *bounds)), query.names)

    def _outputs(self, tree: exp.Select, scope: Scope) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        found: list[tuple[str, Term]] = []
        for node in tree.expressions:
            if isinstance(node, exp.Star):
                if parts_of(node):
                    raise UnsupportedError
                found += self._star(scope)
            elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
                check_parts(node, frozenset({"this", "table"}))
                if parts_of(node.this):
                    raise UnsupportedError
                found += scope.table(self._names.name(node.args["table"])).all_columns()
            elif isinstance(node, exp.Alias):
                check_parts(node, frozenset({"this", "alias"}))
                alias = self._names.name(node.args["alias"])
                found.append((alias, self._expressions.read(node.this, scope)))
                if self._dialect not in _NO_LATERAL_ALIASES:
                    scope.aliases[alias] = None
            else:
                name = self._names.name(node.this) if isinstance(node, exp.Column) else ""
                found.append((name, self._expressions.read(node, scope)))
        if not found:
            raise UnsupportedError
        return tuple(term for _, term in found), tuple(name for name, _ in found)

    def _star(self, scope: Scope) -> list[tuple[str, Term]]:
        found: list[tuple[str, Term]] = []
        if scope.merged and any(table.columns is None for table in scope.tables):
            raise UnsupportedError
        if not scope.tables:
            raise UnsupportedError
        seen: set[str] = set()
        for table in scope.tables:
            for name, term in table.all_columns():
                if name in scope.merged and name:
                    if name not in seen:
                        found.append((name, scope.merged[name]))
                    seen.add(name)
                else:
                    found.append((name, term))
        if scope.merged and self._dialect != "sqlite":
            raise UnsupportedError  # elsewhere the common columns come first
        self._known.assumptions.update(
            COMPLETE for table in scope.tables if table.columns is not None and not table.derived
        )
        return found

    def _filter(self, clause: exp.Expr | None, scope: Scope) -> Term:
        """Read a WHERE or a HAVING."""
        return TRUE if clause is None else self._expressions.read(clause.this, scope)

    def _grouping_sets(
        self, clause: exp.Expr | None, scope: Scope, outputs: tuple[Term, ...]
    ) -> list[Term]:
        """Return the sets of keys of a GROUP BY: one, unless it has ROLLUP and the like."""
        if clause is None:
            return [NONE]
        check_parts(clause, frozenset({"expressions", "rollup"}))
        if clause.args.get("rollup"):  # GROUP BY a, b WITH ROLLUP
            (rollup,) = clause.args["rollup"]
            check_parts(rollup, frozenset())
            parts = [exp.Rollup(expressions=list(clause.expressions))]
        else:
            parts = list(clause.expressions)
        sets: list[tuple[Term, ...]] = [()]
        for part in parts:
            found = self._sets_of(part, scope, outputs)
            sets = [(*one, *more) for one in sets for more in found]
            if len(sets) > MAX_SETS:
                raise UnsupportedError
        keys = [key for one in sets for key in one]
        if not keys or any(has_aggregate(key) for key in keys):
            raise UnsupportedError
        return [
            Term("group", "", tuple(dict.fromkeys(one)) if len(sets) > 1 else one) for one in sets
        ]

    def _sets_of(
        self, node: exp.Expr, scope: Scope, outputs: tuple[Term, ...]
    ) -> list[tuple[Term, ...]]:
        if isinstance(node, (exp.Rollup, exp.Cube)):
            items = [self._keys_of(item, scope) for item in node.expressions]
            n = len(items)
            if n > MAX_CUBE:
                raise UnsupportedError
            if isinstance(node, exp.Rollup):
                chosen = [items[:i] for i in range(n, -1, -1)]
            else:
                chosen = [
                    [item for i, item in enumerate(items) if mask >> i & 1]
                    for mask in range(2**n - 1, -1, -1)
                ]
            return [tuple(key for item in one for key in item) for one in chosen]
        if isinstance(node, exp.GroupingSets):
            return [
                found
                for item in node.expressions
                for found in (
                    self._sets_of(item, scope, outputs)
                    if isinstance(item, (exp.Rollup, exp.Cube, exp.GroupingSets))
                    else [self._keys_of(item, scope)]
                )
            ]
        if scope.outer is not None and self._dialect == "sqlite":  # it groups by no outer column
            self._key(node, attrs.evolve(scope, outer=None), outputs)
        return [(self._key(node, scope, outputs),)]

    def _keys_of(self, node: exp.Expr, scope: Scope) -> tuple[Term, ...]:
        """Read one key, or several in brackets."""
        if isinstance(node, exp.Paren):
            node = node.this
        nodes = node.expressions if isinstance(node, exp.Tuple) else [node]
        return tuple(self._expressions.read(one, scope) for one in nodes)

    def _key(self, node: exp.Expr, scope: Scope, outputs: tuple[Term, ...]) -> Term:
        """Read an item of GROUP BY or ORDER BY, which may be the number of an output."""
        if isinstance(node, exp.Literal) and not node.is_string:
            if not node.this.isdigit():
                raise UnsupportedError
            if not 1 <= int(node.this) <= len(outputs):
                if self._known.dialect is not None:
                    raise UnsupportedError
                return self._expressions.read(node, scope)  # valid only where it is a constant
            if any(output.op == "star" for output in outputs):
                raise UnsupportedError
            return outputs[int(node.this) - 1]
        return self._expressions.read(node, scope)

    def _order(
        self, tree: exp.Select, scope: Scope, outputs: tuple[Term, ...]
    ) -> tuple[Term, ...]:
        found: list[Term] = []
        for node in ordered_nodes(tree):
            this = node.this
            name = self._names.name(this.this) if _is_bare(this) else ""
            if name and name in scope.aliases:
                term = scope.aliases[name]  # a bare name is an output before it is a column
                if term is None:
                    raise UnsupportedError
            else:
                term = self._key(this, scope, outputs)
            found.append(order_term(node, term))
        self.findings.orders.append(tuple(found))
        return tuple(found)

    def _check_determined(self, select: Select) -> None:
        """Note where a group has many values for a column and the engine takes any of them."""
        if select.group == NONE and not select.aggregates:
            return
        keys = frozenset(map(_in_order, select.group.args))
        own = frozenset(local_sources(select.tables))
        for source in own:
            assumption = self._known.key_within(source, keys)
            if assumption is not None:
                self._known.assumptions.add(assumption)
                own -= {source}
        parts = (select.having, *select.outputs, *(order.args[0] for order in select.order))
        exact = frozenset(filter(self._known.exact, keys))
        for part in map(_in_order, parts):
            if not looks_at(part, keys, exact):
                self.findings.determined = False
            elif not _is_of_group(part, keys, own, inner=False):
                self.findings.bare = self.findings.conditional = True
                self.findings.determined &= select.group != NONE


def _nulled(term: Term, nulls: dict[Term, Term]) -> Term:
    """Return *term* with keys replaced by NULL, but for what is aggregated."""
    if term in nulls:
        return NULL
    if term.op == "agg" or not term.args:
        return term
    return term._replace(args=tuple(_nulled(arg, nulls) for arg in term.args))


def _in_order(term: Term) -> Term:
    return ordered(term._replace(args=tuple(map(_in_order, term.args))))


def _is_of_group(term: Term, keys: frozenset[Term], own: frozenset[Term], *, inner: bool) -> bool:
    """Say whether *term* has one value in each group."""
    if term in keys or (term.op == "agg" and not inner):
        return True
    if term.op in ("col", "star", "col?", "quoted"):
        return not any(node in own for node in walk(term))
    inner = inner or term.op == "select"
    return all(_is_of_group(arg, keys, own, inner=inner) for arg in term.args)


def _is_bare(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and not node.table


def _bound(node: exp.Expr) -> Term | None:
    """Return a LIMIT, FETCH or OFFSET of a plain number of rows."""
    if isinstance(node, exp.Fetch):
        value, others = node.args.get("count"), set(parts_of(node)) - {"count", "direction"}
        options = node.args.get("limit_options")
        if options is not None and not parts_of(options):
            others.discard("limit_options")
        if options is not None and set(parts_of(options)) == {"rows"}:
            others.discard("limit_options")
    else:
        value, others = node.args.get("expression"), set(parts_of(node)) - {"expression"}
    if others or not isinstance(value, exp.Literal) or value.is_string or not value.this.isdigit():
        return None
    name = "offset" if isinstance(node, exp.Offset) else "limit"
    return Term("bound", name, (Term("int", str(int(value.this))),))
