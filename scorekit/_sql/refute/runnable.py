"""Queries made to run in the sandbox: faithfully, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

import attrs
from sqlglot import ErrorLevel, exp, parse_one
from sqlglot.errors import SqlglotError

from scorekit._sql.databases.kinds import WHOLE
from scorekit._sql.databases.kinds import Column as Declared
from scorekit._sql.meaning.catalog import catalog_of
from scorekit._sql.meaning.read import Names, read_names
from scorekit._sql.meaning.tree import (
    Column,
    Exists,
    Literal,
    Ordered,
    Query,
    Scalar,
    Select,
    free_sources,
    integer,
    local_sources,
)
from scorekit._sql.meaning.unsettled import bare_columns
from scorekit._sql.refute.expressions import (
    DESCRIBED,
    UnfaithfulError,
    as_decimals,
    as_structs,
    as_typed,
    check_digits,
    is_text,
    join_texts,
    kind_of,
    note_kinds,
    same_cast,
    write_calls,
)
from scorekit._sql.refute.faithful import (
    TIMES,
    Reading,
    check_determined,
    check_read,
    check_shared,
    check_together,
)
from scorekit._sql.refute.plainer import NUMBERED, plainer
from scorekit._sql.refute.sandbox import (
    AT_LEAST,
    AT_MOST,
    COMPUTED,
    DIVIDE,
    OF_COPIES,
    ONLY,
    RATIO,
    REMAINDER,
    SETTLED,
    TIE,
    quoted,
)
from scorekit._sql.text.base_tables import common_tables
from scorekit._sql.text.parsing import quiet


class Runnable(NamedTuple):
    """A query as the sandbox runs it."""

    sql: str
    cut: Cut | None
    """The same, if it cuts its own result."""
    whole: Cut | None
    """The query itself, if its result is ordered."""
    chooses: bool
    """Whether it takes some of tied rows, or numbers them, inside."""


class Cut(NamedTuple):
    """A query whose order can be made total, by all of its columns."""

    head: str
    """Up to the ORDER BY, whose terms may be missing."""
    has_order: bool
    limit: str
    offset: str
    end: str

    def sql(self, width: int, direction: str, *, tail: bool) -> str:
        """Return the query with ties broken by all columns, whole or with its *tail* of LIMIT."""
        ties = ", ".join(f"{i} {direction}" for i in range(1, width + 1))
        cut = f"{self.limit}{self.offset}" if tail else ""
        return f"{self.head}{', ' if self.has_order else ' ORDER BY '}{ties}{cut}{self.end}"

    @property
    def uncut(self) -> str:
        """The query in its order."""
        return f"{self.head}{self.end}"

    @property
    def kept(self) -> str:
        """The query as it is."""
        return f"{self.head}{self.limit}{self.offset}{self.end}"

    @property
    def behind(self) -> str:
        """All rows behind those that OFFSET passes over."""
        return f"{self.head} LIMIT -1{self.offset}{self.end}"


def runnable(
    tree: exp.Expr,
    names: Mapping[str, str],
    reading: Reading,
    tables: Mapping[str, Sequence[Declared]],
) -> Runnable:
    """
    Return a query as the sandbox runs it.

    Args:
        tree: The query; it is left as it is.
        names: The sandbox's table for each table as written in lower case.
        reading: How to understand it.
        tables: The columns of the sandbox's tables.

    Raises:
        UnfaithfulError: If SQLite would run another query, or the result is not determined.
    """
    tree = plainer(tree.copy())
    nodes = written = list(tree.walk())  # kept, as what is read is known by the ids of nodes
    check_determined(nodes, sqlite=reading.is_sqlite)
    _check_outer_joins(nodes)
    listed = {name: tables[table] for name, table in names.items()}
    catalog = catalog_of(listed, reading.dialect)
    read = read_names(tree, catalog)
    check_read(read)
    if not reading.is_sqlite:
        note_kinds(nodes, read, catalog)
        if reading.dialect in DESCRIBED:
            as_typed(nodes, reading.dialect)
        if reading.dialect == "duckdb":
            as_structs(nodes)
        check_together(list(tree.walk()), reading.dialect)
        if reading.dialect in DESCRIBED:
            write_calls(tree, read, reading.dialect)
        nodes = list(tree.walk())
        check_shared(nodes, reading.dialect)
    _mark_queries(nodes, read)
    if any(isinstance(node, exp.Star) for node in nodes):
        _write_out_stars(nodes, read)
        nodes = list(tree.walk())
    _rename(tree, names, reading.dialect)
    if reading.folded:
        _fold(nodes)
    if reading.is_sqlite:
        _write_types(nodes)
    _stop_clocks(nodes)
    _read_strings(nodes, read)
    _guard(nodes, read, sqlite=reading.is_sqlite)
    join_texts(list(tree.walk()))
    if not reading.is_sqlite:
        nodes = list(tree.walk())
        check_digits(nodes)
        as_decimals(nodes)
        _write_as_sqlite(list(tree.walk()), reading.dialect)
        _guard_arithmetic(list(tree.walk()))
    del written
    whole = _unwrapped(tree)
    if isinstance(whole, exp.Subquery):
        whole = _selected(whole)
    ordered = _cut(whole) if whole.args.get("order") else None
    sql = _sql(whole)
    return Runnable(
        sql=sql,
        cut=_cut(whole) if _is_cut(whole) else None,
        whole=ordered,
        chooses=f"{TIE}(" in sql.lower(),
    )


def _is_cut(query: exp.Expr) -> bool:
    return bool(query.args.get("limit") or query.args.get("offset"))


def _check_outer_joins(nodes: list[exp.Expr]) -> None:
    """Refuse nested queries with joins that SQLite 3.40 gets wrong: it moves conditions there."""
    outer = any(isinstance(n, exp.Join) and n.side in ("RIGHT", "FULL") for n in nodes)
    if outer and sum(isinstance(node, exp.Select) for node in nodes) > 1:
        raise UnfaithfulError("SQLite errs at times in RIGHT and FULL joins of nested queries")


def _guard(nodes: list[exp.Expr], read: Names, *, sqlite: bool) -> None:
    """Stop where a database may show any of several values."""
    for node in nodes:
        block = read.selects.get(id(node))
        if isinstance(node, exp.Select) and block is not None:
            _guard_groups(node, block, read, sqlite=sqlite)
    telling: dict[int, list[exp.Expr]] = {}  # of each SELECT, for all of its windows
    for node in nodes:
        if isinstance(node, exp.Subquery) and _is_value(node):
            _guard_value(node, sqlite=sqlite)
        elif isinstance(node, exp.Window) and not node.meta.get(NUMBERED):
            _break_ties_in(node, read, telling)
    for i, node in enumerate(nodes):
        if isinstance(node, exp.Query) and _is_cut(node) and not _is_outermost(node):
            _break_ties_at(node, read, i)


def _sql(tree: exp.Expr) -> str:
    """Write a tree, which may be changed by it, in SQLite's words."""
    try:
        with quiet():
            return tree.sql(
                "sqlite", unsupported_level=ErrorLevel.RAISE, comments=False, copy=False
            )
    except (SqlglotError, ValueError, RecursionError) as error:
        raise UnfaithfulError(f"SQLite cannot run it: {error}") from None


def _unwrapped(tree: exp.Expr) -> exp.Expr:
    """Return the query inside of brackets that add nothing."""
    while isinstance(tree, exp.Subquery) and not tree.args.get("with_"):
        tree = tree.this
    return tree


# What is rewritten.


def written_name(table: exp.Table) -> str:
    """Return the name of a table as written, in parts, in lower case."""
    return ".".join(part.name for part in table.parts).lower()


def _rename(tree: exp.Expr, names: Mapping[str, str], dialect: str) -> None:
    """Give tables the sandbox's names, without what they are qualified by."""
    nodes, local = list(tree.walk()), common_tables(tree, dialect)
    renamed: set[int] = set()
    for node in nodes:
        if isinstance(node, exp.Column) and node.args.get("db"):
            node.set("db", None)
            node.set("catalog", None)
        if not isinstance(node, exp.Table):
            continue
        if not isinstance(node.this, exp.Identifier) or id(node) in local:
            continue
        last, name = node.this, names.get(written_name(node))
        if name is None:
            raise UnfaithfulError(f"databases differ in whether {last.name} is a part of a WITH")
        if not node.alias and last.name.lower() != name:
            node.set("alias", exp.TableAlias(this=last.copy()))
        node.set("this", exp.to_identifier(name, quoted=True))
        node.set("db", None)
        node.set("catalog", None)
        renamed.add(id(node))
    if not renamed.isdisjoint(common_tables(tree, "sqlite")):
        raise UnfaithfulError("a WITH has the name of a table that stands in its place")


def _fold(nodes: list[exp.Expr]) -> None:
    for node in nodes:
        if is_text(node) and not node.meta.get(COMPUTED):
            node.set("this", node.name.lower())
        elif isinstance(node, exp.Upper):
            node.replace(exp.Lower(this=node.this))


def affinity(name: str) -> str:
    """Return what SQLite makes of the name of a type."""
    for kind, parts in _AFFINITIES:
        if any(part in name.upper() for part in parts):
            return kind
    return "NUMERIC" if name else "BLOB"


_AFFINITIES = (
    ("INTEGER", ("INT",)),
    ("TEXT", ("CHAR", "CLOB", "TEXT")),
    ("BLOB", ("BLOB",)),
    ("REAL", ("REAL", "FLOA", "DOUB")),
)


def affinity_of(cast: exp.Expr) -> str:
    """Return what SQLite makes of the type of a CAST."""
    kind = cast.args["to"]
    return affinity(str(kind.args.get("kind") or getattr(kind.this, "value", kind.this)))


def _write_types(nodes: list[exp.Expr]) -> None:
    """Cast to what SQLite makes of a type: the generator takes DATE for a function."""
    for node in nodes:
        if isinstance(node, exp.Cast):
            kind = exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=affinity_of(node))
            node.set("to", kind)


def _stop_clocks(nodes: list[exp.Expr]) -> None:
    """Ask the sandbox for the moment at which both queries are run."""
    for node in nodes:
        if isinstance(node, TIMES):
            shown = "time" if isinstance(node, exp.CurrentTime) else "datetime"
            name = "date" if isinstance(node, exp.CurrentDate) else shown
            node.replace(exp.Anonymous(this=name, expressions=[exp.Literal.string("now")]))


def _read_strings(nodes: list[exp.Expr], read: Names) -> None:
    """
    Make strings of what is quoted as a name but is none, as SQLite does.

    Real names get backticks, so that SQLite does not do it by rules of its own.
    """
    for node in nodes:
        if isinstance(node, exp.Identifier) and node.args.get("quoted"):
            column = node.parent
            if isinstance(column, exp.Column) and isinstance(read.value(column), Literal):
                column.replace(exp.Literal.string(node.name))
            else:
                node.replace(exp.Var(this=quoted(node.name)))


def _guard_arithmetic(nodes: Sequence[exp.Expr]) -> None:
    """Stop where numbers are divided by zero: an error in some databases, NULL in others."""
    for node in reversed(nodes):
        if isinstance(node, exp.Div):
            held = list(map(kind_of, node.iter_expressions()))
            whole = node.args.get("typed") and all(kind in WHOLE or not kind for kind in held)
            name = DIVIDE if whole else RATIO
        elif isinstance(node, exp.Mod):
            name = REMAINDER
        else:
            continue
        node.replace(exp.Anonymous(this=name, expressions=[node.this, node.expression]))


# Columns of a group that are neither grouped nor aggregated.


def _guard_groups(select: exp.Select, block: Select, read: Names, *, sqlite: bool) -> None:
    """Stop where a column has several values in a group, of which a database may show any."""
    keys, guard, by = block.keys, ONLY, exp.Null()
    if _is_ordered_by_what_is_dropped(select, block, read):
        select.set("distinct", None)  # what rows are ordered by is guarded as in a group
        if keys is None or not {*keys} <= {*block.outputs}:
            keys, guard = _keys_of_copies(select, block, sqlite=sqlite), OF_COPIES
    clauses = [select.args[name] for name in ("having", "order") if select.args.get(name)]
    aggregates = _aggregates([*select.expressions, *clauses])
    if keys is None and not aggregates:
        return
    if any(part.is_star for part in select.expressions):
        raise UnfaithfulError("a star among groups leaves open which row is shown")
    extreme = [node for node in aggregates if isinstance(node, exp.Min | exp.Max)]
    if sqlite and len({node.sql() for node in extreme}) == 1:
        # SQLite shows the row that the least or greatest value comes from.
        guard = AT_LEAST if isinstance(extreme[0], exp.Min) else AT_MOST
        by = extreme[0].this
    grouped = attrs.evolve(block, keys=keys or ())
    bare = [node for part in select.expressions for node in _bare_columns(part, grouped, read)]
    outputs = {part.alias.lower() for part in select.expressions if part.alias}
    outputs -= read.columns[id(select)]  # elsewhere a column goes before an output
    for clause in clauses:
        bare += [
            node
            for node in _bare_columns(clause, grouped, read)
            if node.table or node.name.lower() not in outputs
        ]
    for node in bare:
        guarded: exp.Expr = exp.Anonymous(this=guard, expressions=[node.copy(), by.copy()])
        if isinstance(node.parent, exp.Select):  # its name is the output's
            guarded = exp.Alias(this=guarded, alias=node.this.copy())
        node.replace(guarded)


def _is_ordered_by_what_is_dropped(select: exp.Select, block: Select, read: Names) -> bool:
    """Say whether distinct rows are ordered by what they do not show: it may differ in copies."""
    order = select.args.get("order")
    if order is None or not block.distinct:
        return False
    values = [read.value(item.this) for item in order.expressions]
    others = tuple(one for one in values if one is not None and one not in block.outputs)
    shown = Select(block.tables, keys=block.outputs, outputs=others)
    return bool(bare_columns(shown)) or shown.aggregates or order.find(exp.Window) is not None


def _keys_of_copies(select: exp.Select, block: Select, *, sqlite: bool) -> tuple[Scalar, ...]:
    """Group by what is shown, instead of DISTINCT."""
    parts = select.expressions
    if (
        not sqlite
        or block.keys is not None
        or any(part.find(exp.AggFunc, exp.Window, exp.Query, exp.Star) for part in parts)
        or _aggregates([select.args["order"]])
        or not all(part.find(exp.Column) for part in parts)
    ):
        raise UnfaithfulError("DISTINCT leaves open what its rows are ordered by")
    select.set("group", exp.Group(expressions=[part.unalias().copy() for part in parts]))
    return block.outputs


def _aggregates(parts: Iterable[exp.Expr]) -> list[exp.Expr]:
    """Return the aggregates in expressions, without those in queries of their own."""
    nodes = (node for part in parts for node in part.walk(prune=_is_query))
    return [node for node in nodes if _is_aggregate(node)]


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)


def _is_aggregate(node: exp.Expr) -> bool:
    named = isinstance(node, exp.Anonymous) and node.name.lower() == "total"
    around = node.parent.parent if isinstance(node.parent, exp.Filter) else node.parent
    return (isinstance(node, exp.AggFunc) and not isinstance(around, exp.Window)) or named


def _bare_columns(clause: exp.Expr, block: Select, read: Names) -> Iterator[exp.Column]:
    """Yield the columns of a clause that are neither grouped by nor aggregated."""
    own = frozenset(local_sources(block.tables))
    stack = [clause]
    while stack:
        node = stack.pop()
        value = read.value(node)
        of_rows = isinstance(node, exp.Filter) and not isinstance(node.parent, exp.Window)
        if value in (block.keys or ()) or of_rows or _is_aggregate(node):
            continue
        if isinstance(node, exp.Column):
            if value is not None and not own.isdisjoint(value.sources):
                yield node
        elif isinstance(node, exp.Query):
            inside = tuple(map(Exists, read.queries.get(id(node), ())[-1:]))
            if bare_columns(Select(block.tables, keys=block.keys, outputs=inside)):
                raise UnfaithfulError("a query among groups depends on which row is shown")
        else:
            stack.extend(node.iter_expressions())


def _write_out_stars(nodes: list[exp.Expr], read: Names) -> None:
    """Write the columns that stars among groups stand for, if each is of one table."""
    for node in nodes:
        block = read.selects.get(id(node))
        if block is None or (block.keys is None and not _aggregates(node.expressions)):
            continue
        shown: list[exp.Expr] = []
        for part in node.expressions:
            meant = read.stars.get(id(part), ())
            if not all(name and isinstance(value, Column) for name, value in meant):
                break
            for name, value in meant:
                (source,) = value.sources
                alias = exp.to_identifier(read.aliases[source], quoted=True)
                shown.append(exp.column(exp.to_identifier(name, quoted=True), alias))
                read.values[id(shown[-1])] = [value]
            shown += [] if meant else [part]
        else:
            node.set("expressions", shown)


# Subqueries that stand for a value.

_VALUE = "scorekit_value"


def _is_value(query: exp.Subquery) -> bool:
    """Say whether a query in brackets is an expression."""
    parent = query.parent
    if isinstance(parent, exp.In):
        return query.arg_key != "query"
    if isinstance(
        parent, exp.Alias | exp.Ordered | exp.Order | exp.Group | exp.Having | exp.Where
    ):
        return True
    if isinstance(parent, exp.Select):
        return query.arg_key == "expressions"
    return isinstance(parent, exp.Condition) and not isinstance(
        parent, exp.Exists | exp.Query | exp.Any | exp.All
    )


def _guard_value(query: exp.Subquery, *, sqlite: bool) -> None:
    """
    Stop where it has several rows: an error in most databases; in SQLite where they differ.

    The bare column keeps the affinity and the collation that the value has.
    """
    inner = _unwrapped(query.this)
    if inner.meta.get(_ONE_ROW):
        return
    first: exp.Expr = inner
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select) or len(first.expressions) != 1 or first.is_star:
        raise UnfaithfulError("a subquery of several columns stands for a value")
    shown = first.expressions[0]
    if not shown.alias:
        first.set("expressions", [exp.alias_(shown, _VALUE)])
    value = quoted(shown.alias or _VALUE)
    single = "COUNT(*) <= 1"
    if sqlite:
        single = f"MIN({value}) IS MAX({value}) AND COUNT({value}) IN (0, COUNT(*))"
    several = "a subquery that stands for a value has several rows"
    kept = parse_one(
        f"SELECT {value} GROUP BY NULL HAVING {SETTLED}({single}, '{several}')",
        read="sqlite",
    )
    kept.set("from_", exp.From(this=exp.Subquery(this=query.this)))
    query.set("this", kept)


def _mark_queries(nodes: list[exp.Expr], read: Names) -> None:
    """Mark inner queries that depend on an outer row, and those that have one row at most."""
    for node in nodes[1:]:
        for query in read.queries.get(id(node), ()):
            node.meta[_CORRELATED] = bool(free_sources(query))
            node.meta[_ONE_ROW] = _has_one_row(query)


_CORRELATED: Final = "scorekit_correlated"
_ONE_ROW: Final = "scorekit_one_row"


def _has_one_row(query: Query) -> bool:
    if isinstance(query, Ordered):
        return query.limit == integer(1) or _has_one_row(query.query)
    return (
        isinstance(query, Select) and query.keys is None and (query.aggregates or not query.tables)
    )


# Windows.

_PLACED = (
    exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue,
)  # fmt: skip


def _break_ties_in(window: exp.Window, read: Names, telling: dict[int, list[exp.Expr]]) -> None:
    """Let ties in the order of a window be broken, where they decide what a function shows."""
    spec = window.args.get("spec")
    framed = spec is not None and (
        str(spec.args.get("kind")).upper() == "ROWS" or bool(spec.args.get("exclude"))
    )
    if not framed and not isinstance(window.this, _PLACED):
        return
    select = window.find_ancestor(exp.Select)
    assert select is not None  # noqa: S101 - which the reader holds
    order = window.args.get("order") or exp.Order(expressions=[])
    alike = [part.copy() for part in window.args.get("partition_by") or ()]
    over = [*alike, order, *([spec] if spec is not None else ())]
    place = f"{crc32(' '.join(part.sql() for part in over).encode()):08x}"
    if id(select) not in telling:
        telling[id(select)] = _telling(select, read)
    apart = [part.copy() for part in telling[id(select)]]
    tie = _tie(0, place, [*alike, *_sorted_by(order, ())], apart)
    order.append("expressions", exp.Ordered(this=tie))
    window.set("order", order)


def _is_outermost(query: exp.Expr) -> bool:
    """Say whether what a query cuts is the result, which is looked at as it is."""
    parent = query.parent
    while isinstance(parent, exp.Subquery) and not _is_cut(parent):
        parent = parent.parent
    return parent is None


def _break_ties_at(query: exp.Query, read: Names, place: int) -> None:
    """Let ties at the LIMIT of an inner query be broken."""
    if isinstance(query.parent, exp.Exists):
        return  # which asks for a row, and not which one
    inside = query
    if not isinstance(query, exp.Select):
        inside = _over_rows(query)
    assert isinstance(inside, exp.Select)  # noqa: S101 - just made
    order = inside.args.get("order") or exp.Order(expressions=[])
    outer = _outer_values(query, read)
    limit = inside.args.get("limit")
    n_kept = -1
    if limit is not None and not inside.args.get("offset"):
        count = limit.find(exp.Literal)
        n_kept = int(count.name) if count is not None and count.name.isdecimal() else -1
    shown = list(_shown_by(inside, read))
    alike = [*outer, *_sorted_by(order, inside.expressions)]
    tie = _tie(n_kept or -1, str(place), alike, shown)
    if outer:  # which SQLite cannot sort by
        _show_beside(inside, tie, read)
        tie = exp.Column(this=exp.Var(this=quoted(_TIED)))
    order.append("expressions", exp.Ordered(this=tie))
    inside.set("order", order)


def _show_beside(query: exp.Select, tie: exp.Expr, read: Names) -> None:
    """Let a SELECT show a further value to a SELECT that leaves it out, and takes its place."""
    if query.is_star:
        query.set("expressions", list(_shown_by(query, read)))
    names: list[str] = []
    for i, part in enumerate(query.expressions):
        names.append(part.alias_or_name or f"{_VALUE}{i}")
        if not part.alias:
            part.replace(exp.Alias(this=part.copy(), alias=exp.Var(this=quoted(names[-1]))))
    if len({name.lower() for name in names}) < len(names):
        raise UnfaithfulError("a LIMIT of columns of one name")
    made = exp.Select(expressions=[exp.Column(this=exp.Var(this=quoted(n))) for n in names])
    query.replace(made)
    query.append("expressions", exp.Alias(this=tie, alias=exp.Var(this=quoted(_TIED))))
    made.set("from_", exp.From(this=exp.Subquery(this=query)))


def _tie(
    n_kept: int, place: str, alike: Sequence[exp.Expr], telling: Sequence[exp.Expr]
) -> exp.Expr:
    """Return by what rows are sorted that tie at a place: *alike* in values, others *telling*."""
    site = exp.Literal.string(place)
    counts = map(exp.Literal.number, (n_kept, len(alike) + 1))
    return exp.Anonymous(this=TIE, expressions=[*counts, site, *alike, *telling])


def _sorted_by(order: exp.Expr, outputs: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return what rows are sorted by, which may leave out some of it."""
    found: list[exp.Expr] = []
    named = {part.alias.lower(): part.unalias() for part in outputs if part.alias}
    for item in order.expressions:
        value = item.this if isinstance(item, exp.Ordered) else item
        if isinstance(value, exp.Literal) and value.is_int and int(value.name) <= len(outputs):
            value = outputs[int(value.name) - 1].unalias()
        elif isinstance(value, exp.Column) and not value.table:
            value = named.get(value.name.lower(), value)
        if value.find(exp.Collate, exp.Star) is None:
            found.append(value.copy())
    return found


def _telling(select: exp.Select, read: Names) -> list[exp.Expr]:
    """Return what tells rows of a SELECT apart, as far as the query shows or sorts them."""
    block = read.selects.get(id(select))
    if block is None:
        raise UnfaithfulError("a window over rows that are not looked into")
    own = frozenset(local_sources(block.tables))
    found: dict[str, exp.Expr] = {}
    clauses = [select.args[name] for name in ("order", "qualify") if select.args.get(name)]
    parts = [*select.expressions, *clauses]
    parts += [column for star in select.expressions for column in _star_columns(star, read)]
    while parts:
        part = parts.pop()
        if isinstance(part, exp.Query):  # whose value hangs on what it has of the row
            values = [(column, read.value(column)) for column in part.find_all(exp.Column)]
            if any(value is None for _, value in values):
                raise UnfaithfulError("a window beside a query that is not looked into")
            parts += [c for c, value in values if value and not own.isdisjoint(value.sources)]
            continue
        value = read.value(part)
        grouped = _is_aggregate(part) or (block.keys is not None and value in block.keys)
        inside = isinstance(part, exp.Column) and not part.is_star
        if grouped or (inside and (value is None or not own.isdisjoint(value.sources))):
            found[part.sql()] = part.copy()
        elif not inside:
            parts += part.iter_expressions()
    return list(found.values())


def _star_columns(star: exp.Expr, read: Names) -> list[exp.Expr]:
    """
    Return the columns that a star stands for, if it is one.

    Raises:
        UnfaithfulError: If they have no names.
    """
    if not star.is_star or isinstance(star, exp.Alias):
        return []
    meant = read.stars.get(id(star), ())
    if not meant or not all(name and isinstance(value, Column) for name, value in meant):
        raise UnfaithfulError("a star stands for columns without names")
    found: list[exp.Expr] = []
    for name, value in meant:
        (source,) = value.sources
        found.append(_column(name, read.aliases[source]))
        read.values[id(found[-1])] = [value]
    return found


def _column(name: str, table: str) -> exp.Column:
    return exp.Column(this=exp.Var(this=quoted(name)), table=exp.Var(this=quoted(table)))


def _outer_values(query: exp.Expr, read: Names) -> list[exp.Expr]:
    """Return what tells apart the outer rows for which a query is run."""
    meant = read.queries.get(id(query), ())
    if not meant:
        raise UnfaithfulError("a LIMIT of a query that is not looked into")
    outer = free_sources(meant[-1])
    found: dict[str, exp.Expr] = {}
    for node in query.find_all(exp.Column) if outer else ():
        value = read.value(node)
        if value is not None and not outer.isdisjoint(value.sources):
            found[node.sql()] = node.copy()
    for source in sorted(outer, key=str):
        if source.table:
            row = _column("_rowid_", read.aliases[source])
            found[row.sql()] = row
    return list(found.values())


def _shown_by(query: exp.Select, read: Names) -> Iterator[exp.Expr]:
    """Yield what a SELECT shows."""
    for part in query.expressions:
        columns = _star_columns(part, read)
        yield from columns or [part.unalias().copy()]


def _over_rows(query: exp.Query) -> exp.Select:
    """Let a SELECT sort and cut the rows of a query that is none; it takes the query's place."""
    names = [item.alias_or_name for item in query.selects]
    if not all(names) or len({name.lower() for name in names}) < len(names) or "*" in names:
        raise UnfaithfulError("a LIMIT of columns without names")
    inner = query.copy()
    clauses = {key: query.args.get(key) for key in ("order", "limit", "offset")}
    for key in clauses:
        inner.set(key, None)
    rows = inner if isinstance(inner, exp.Subquery) else exp.Subquery(this=inner)
    rows.set("alias", exp.TableAlias(this=exp.to_identifier(_ROWS)))
    shown = [exp.alias_(_column(name, _ROWS), name, quoted=True) for name in names]
    made = exp.Select(expressions=shown, from_=exp.From(this=rows), **clauses)
    query.replace(made)
    return made


_ROWS: Final = "scorekit_cut"
_TIED: Final = "scorekit_tied"


# What SQLite writes otherwise.


def _write_as_sqlite(nodes: list[exp.Expr], dialect: str) -> None:
    for node in reversed(nodes):
        if isinstance(node, exp.Cast):
            node.replace(same_cast(node, dialect))
        elif isinstance(node, exp.SetOperation):
            _open_arms(node)
        elif isinstance(node, exp.Fetch):
            node.replace(exp.Limit(expression=node.args.get("count") or exp.Literal.number(1)))


def _open_arms(operation: exp.SetOperation) -> None:
    """Take the arms of a set operation out of their brackets."""
    for key in ("this", "expression"):
        arm = operation.args[key]
        if not isinstance(arm, exp.Subquery):
            continue
        inner = _unwrapped(arm)
        simple = isinstance(inner, exp.Select) and not any(
            inner.args.get(name) for name in ("order", "limit", "offset", "with_")
        )
        operation.set(key, inner if simple else _selected(arm))


def _selected(query: exp.Expr) -> exp.Select:
    """Return all rows of a query in brackets, which SQLite does not take for a statement."""
    definitions = query.args.get("with_")
    query.set("with_", None)
    return exp.Select(with_=definitions, expressions=[exp.Star()], from_=exp.From(this=query))


# What a LIMIT keeps.


def _cut(query: exp.Expr) -> Cut:
    """Cut a query where ties of its order can be broken; outer definitions come before it."""
    clauses = [clause for node in _ancestors(query) if (clause := node.args.get("with_"))]
    if any(clause.args.get("recursive") for clause in clauses):
        raise UnfaithfulError("a LIMIT in or beside a recursion")
    definitions = [clause.sql("sqlite", comments=False) for clause in clauses]
    if len(definitions) > 1 or (definitions and query.args.get("with_")):
        raise UnfaithfulError("a LIMIT below definitions of several levels")
    bare = query.copy()
    order, limit, offset = (bare.args.get(name) for name in ("order", "limit", "offset"))
    for name in ("order", "limit", "offset"):
        bare.set(name, None)
    head = _sql(bare)
    if order:
        head += f" {_sql(order).strip()}"
    if definitions:
        head = f"{definitions[0]} SELECT * FROM ({head}"  # noqa: S608 - for the sandbox
    ends = [f" {_sql(part).strip()}" if part else "" for part in (limit, offset)]
    if offset and not limit:
        ends[0] = " LIMIT -1"
    return Cut(head, bool(order), ends[0], ends[1], ")" * bool(definitions))


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
