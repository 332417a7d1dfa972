"""What databases check when they plan a query: names, groups, and what kinds of values meet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, cast

import attrs
from sqlglot import ErrorLevel, exp

from scorekit._sql.kinds import kind_of
from scorekit._sql.schema import SqlSchema

_STRICT: Final = ("postgres", "duckdb")
"""Dialects that do not make numbers of text where a query asks for them."""

_QUERIES = (exp.Select, exp.SetOperation, exp.Subquery)


def misfit(tree: exp.Expr, dialect: str, schema: SqlSchema | None) -> str | None:
    """Return why a database may refuse to plan a query, None if nothing speaks against it."""
    reader = _Reader(dialect, schema, tree)
    return next(reader.faults(tree), None)


def drops_texts(
    first: exp.Expr, second: exp.Expr, dialect: str | None, schema: SqlSchema | None
) -> bool:
    """
    Say whether one of two queries drops repeated rows with text where the other may not.

    Which of 'ann' and 'Ann' is left, where a collation makes them equal, is not said.
    """
    counts = [sum(map(_drops, tree.walk())) for tree in (first, second)]
    outputs = _outputs(first)
    reader = _Reader(dialect or "sqlite", schema, first)
    others = {*_NUMBERS, "time", "boolean"}
    is_plain = outputs is not None and all(reader.kind(o.unalias()) in others for o in outputs)
    return counts[0] != counts[1] and not is_plain


def _drops(node: exp.Expr) -> bool:
    if isinstance(node, exp.Select):
        return bool(node.args.get("distinct") or node.args.get("group"))
    return isinstance(node, exp.SetOperation) and bool(node.args.get("distinct"))


@attrs.define
class _Reader:
    """Looks at each SELECT of a query."""

    dialect: str
    schema: SqlSchema | None
    tree: exp.Expr
    sources: set[str] = attrs.field(init=False)
    """Names of tables, and of functions in FROM, whose rows can be read as columns."""
    ctes: set[str] = attrs.field(init=False)
    columns: dict[str, str] = attrs.field(init=False)
    """Kinds of columns by name; empty where tables or outputs of one name differ."""

    def __attrs_post_init__(self) -> None:
        """Collect the kinds of columns."""
        self.columns = {}
        self.sources = {table.alias_or_name.casefold() for table in self.tree.find_all(exp.Table)}
        self.ctes = {cte.alias.casefold() for cte in self.tree.find_all(exp.CTE)}
        self.sources |= {alias.name.casefold() for alias in self.tree.find_all(exp.TableAlias)}
        for columns in self.schema.tables.values() if self.schema is not None else ():
            for column in columns:
                kind = self.columns.setdefault(column.name, column.kind)
                self.columns[column.name] = kind if kind == column.kind else ""
        renamed = [*self.tree.find_all(exp.TableAlias), *self.tree.find_all(exp.Alias)]
        for alias in reversed(renamed):
            names = (
                alias.args.get("columns")
                if isinstance(alias, exp.TableAlias)
                else [alias.args["alias"]]
            )
            for name in names or ():
                own = name.name.casefold()
                same = isinstance(alias, exp.Alias) and _is_column(alias.this, own)
                if not same:
                    self.columns[own] = ""

    def faults(self, tree: exp.Expr) -> Iterator[str]:
        """Yield what the database may refuse."""
        for node in tree.walk():
            if isinstance(node, exp.Select):
                yield from self.of_select(node)
            elif isinstance(node, exp.SetOperation):
                yield from self.of_set_operation(node)
            elif isinstance(node, exp.AggFunc):
                if any(_within(inner, node) for inner in _own(node.args.values(), exp.AggFunc)):
                    yield "an aggregate function holds another"
            elif isinstance(node, exp.Subquery):
                yield from self.of_subquery(node)
            elif isinstance(node, exp.Column):
                yield from self.of_column(node)
            if self.dialect in _STRICT:
                yield from self.of_kinds(node)

    # Names and groups.

    def of_column(self, node: exp.Column) -> Iterator[str]:
        """Yield what is wrong with the name of a column."""
        name, qualifier = node.name.casefold(), node.text("table").casefold()
        if node.args.get("db"):
            return
        select = node.parent_select
        if qualifier:
            found = self.in_scope(node.args["table"], select)
            if found is None and select is not None:
                yield f"there is no table {node.text('table')} in its query"
            columns = None if found is None else self.table(found)
            seen = isinstance(node.this, exp.Star) or _HIDDEN[self.dialect].fullmatch(name)
            if columns is not None and name not in columns and not seen:
                yield f"{node.text('table')} has no column {node.name}"
        elif not isinstance(node.this, exp.Star):
            quoted = self.dialect == "sqlite" and node.this.args.get("quoted")  # may be text
            known = self.schema is not None and self.schema.complete
            if known and not quoted and not (self.has(name) and self.reaches(name, select)):
                yield f"no table has the column {node.name}"
            if isinstance(select, exp.Select) and self.is_ambiguous(name, select):
                yield f"{node.name} is a column of several tables"

    def reaches(self, name: str, select: exp.Expr | None) -> bool:
        """Say whether a SELECT, or one around it, may have a column."""
        if select is None or _HIDDEN[self.dialect].fullmatch(name) or name in self.sources:
            return True
        while select is not None:
            if isinstance(select, exp.Select):
                made = {item.alias.casefold() for item in select.expressions}
                tables = [self.table(source) for source in _sources(select)]
                if name in made or any(table is None or name in table for table in tables):
                    return True
            select = select.parent_select
        return False

    def in_scope(self, name: exp.Expr, select: exp.Expr | None) -> exp.Expr | None:
        """Return the source of a SELECT, or of one around it, that goes by a name."""
        while select is not None:
            for source in _sources(select) if isinstance(select, exp.Select) else ():
                alias = source.args.get("alias") or source
                if not source.alias_or_name or self.folded(alias.this) == self.folded(name):
                    return source
            select = select.parent_select
        return None

    def folded(self, name: exp.Expr) -> str:
        """Return a name as it is compared: PostgreSQL keeps the case of those in quotes."""
        exact = self.dialect == "postgres" and name.args.get("quoted")
        return name.name if exact else name.name.casefold()

    def is_ambiguous(self, name: str, select: exp.Select) -> bool:
        """Say whether several tables of a SELECT have a column."""
        joins = select.args.get("joins") or ()
        if any(join.args.get("using") or join.args.get("method") for join in joins):
            return False
        if name in {item.alias.casefold() for item in select.expressions}:
            return False
        having = [columns for source in _sources(select) if (columns := self.table(source))]
        return sum(name in columns for columns in having) > 1

    def has(self, name: str) -> bool:
        """Say whether there is a column of a name, or something else that is read like one."""
        return (
            name in self.columns
            or name in self.sources
            or (self.schema is not None and bool(self.schema.unclear))
            or _HIDDEN[self.dialect].fullmatch(name) is not None
        )

    def of_select(self, select: exp.Select) -> Iterator[str]:  # noqa: C901 - a list of cases
        """Yield what is wrong with names and groups."""
        args = select.args
        if (
            not args.get("from_")
            and select.parent_select is None
            and any(_names(select.expressions))
        ):
            yield "a column has no table"
        where = [args.get("where"), *(join.args.get("on") for join in args.get("joins") or ())]
        if any(_own(where, exp.AggFunc, exp.Window)):
            yield "an aggregate or window function stands in WHERE or ON"
        if any(_own([args.get("having"), args.get("group")], exp.Window)):
            yield "a window function stands in GROUP BY or HAVING"
        aliases = self.new_names(select)
        if self.dialect in ("postgres", "mysql", "sqlite"):
            for i, item in enumerate(select.expressions):
                earlier = {one.alias.casefold() for one in select.expressions[:i]} & aliases
                if _names([item.unalias()]) & earlier:
                    yield "SELECT uses a name that it makes"
        if self.dialect in ("postgres", "mysql") and _names([args.get("where")]) & aliases:
            yield "WHERE uses a name that SELECT makes"
        if self.dialect == "postgres":
            if _names([args.get("having")]) & aliases:
                yield "HAVING uses a name that SELECT makes"
            order = args.get("order")
            terms = [one.this for one in order.expressions] if order is not None else []
            if _names(t for t in terms if not isinstance(t, exp.Column)) & aliases:
                yield "ORDER BY computes with a name that SELECT makes"
        if args.get("distinct") is not None and self.dialect in ("postgres", "mysql"):
            yield from self.of_distinct(select)
        yield from self.of_groups(select)

    def new_names(self, select: exp.Select) -> set[str]:
        """Return the names that a SELECT gives to something else than a column of that name."""
        made = {
            item.alias.casefold()
            for item in select.expressions
            if isinstance(item, exp.Alias) and not _is_column(item.this, item.alias.casefold())
        }
        return made.difference(*(self.table(source) or () for source in _sources(select)))

    def table(self, source: exp.Expr) -> set[str] | None:
        """Return the columns of a source, None if they are not known."""
        alias = source.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            return None
        if self.dialect == "mysql" and source.name.casefold() == "dual":
            return set()
        if isinstance(source, exp.Table) and self.schema is not None:
            name = self.schema.find(".".join(part.name for part in source.parts))
            is_cte = source.name.casefold() in self.ctes
            if name is not None and name in self.schema.tables and not is_cte:
                return {column.name for column in self.schema.tables[name]}
        if isinstance(source, exp.Subquery) and (outputs := _outputs(source.this)):
            return {item.alias_or_name.casefold() for item in outputs}
        return None

    def of_distinct(self, select: exp.Select) -> Iterator[str]:
        order = select.args.get("order")
        if order is None or select.is_star or select.args["distinct"].args.get("on"):
            return
        shown = {_plain(item.unalias()) for item in select.expressions}
        shown |= {item.alias.casefold() for item in select.expressions if item.alias}
        for term in order.expressions:
            if not isinstance(term.this, exp.Literal) and _plain(term.this) not in shown:
                yield "SELECT DISTINCT is ordered by what it does not return"

    def of_groups(self, select: exp.Select) -> Iterator[str]:  # noqa: C901 - a list of cases
        """Yield what stands beside groups and is none of them."""
        group, having = select.args.get("group"), select.args.get("having")
        shown = [item.unalias() for item in select.expressions]
        order = select.args.get("order")
        terms = [term.this for term in order.expressions] if order is not None else []
        if group is None and not any(_own([*shown, having], exp.AggFunc, windows=False)):
            if having is not None and self.dialect != "mysql":
                yield "HAVING stands without groups"
            return
        if self.dialect == "sqlite" or (group is not None and group.args.get("all")):
            return
        if self.dialect == "mysql" and group is None:
            if any(isinstance(item, exp.Column | exp.Star) for item in shown):
                yield "a column stands beside an aggregate of all rows"
            return
        keys: set[str] = set()
        names: set[str] = set()
        outputs = {item.alias.casefold(): item.this for item in select.expressions if item.alias}
        for key in _keys(group) if group is not None else ():
            inner = key
            if isinstance(key, exp.Literal) and key.name.isdecimal():
                inner = shown[min(int(key.name), len(shown)) - 1]
            elif isinstance(key, exp.Column) and not key.table:
                inner = outputs.get(key.name.casefold(), key)
            keys |= {_plain(key), _plain(inner)}
            if isinstance(inner, exp.Column):
                names.add(inner.name.casefold())
        if self.dialect in ("postgres", "mysql") and self.keyed(names):
            return
        outside = [*shown, having, *(t for t in terms if _plain(t) not in outputs)]
        for item in outside:
            if item is not None and not self.is_grouped(
                item, keys, set(outputs) if item is having or item in terms else set()
            ):
                yield "a column stands beside groups and is none of them"

    def keyed(self, names: set[str]) -> bool:
        """Say whether the groups may hold the key of a table, on which its columns depend."""
        if self.schema is None or not self.schema.given:
            return False
        return any(set(key) <= names for keys in self.schema.keys.values() for key in keys)

    def is_grouped(  # noqa: PLR0911 - a list of cases
        self, node: exp.Expr, keys: set[str], outputs: set[str]
    ) -> bool:
        """Say whether an expression has one value in each group."""
        if _plain(node) in keys or isinstance(node, exp.AggFunc | exp.Subquery | exp.Exists):
            return True
        if isinstance(node, exp.Filter | exp.WithinGroup):
            return True
        if isinstance(node, exp.Column):
            if isinstance(node.this, exp.Star):
                return False
            return node.name.casefold() in outputs and not node.table
        if isinstance(node, exp.Star):
            return False
        if isinstance(node, exp.In) and node.args.get("query"):
            return self.is_grouped(node.this, keys, outputs)
        parts = [part for part in node.iter_expressions() if not isinstance(part, exp.Identifier)]
        return all(self.is_grouped(part, keys, outputs) for part in parts)

    def of_set_operation(self, node: exp.SetOperation) -> Iterator[str]:
        arms = [_outputs(node.this), _outputs(node.expression)]
        if arms[0] is None or arms[1] is None:
            return
        if len(arms[0]) != len(arms[1]):
            yield "the parts of a UNION have different numbers of columns"
        elif self.dialect == "postgres":
            for pair in zip(*arms, strict=True):
                if self.clash([item.unalias() for item in pair]):
                    yield "the parts of a UNION have different types"

    def of_subquery(self, node: exp.Subquery) -> Iterator[str]:
        parent = node.parent
        if parent is None or isinstance(
            parent,
            exp.From
            | exp.Join
            | exp.CTE
            | exp.SetOperation
            | exp.Lateral
            | exp.Table
            | exp.Subquery,
        ):
            return
        outputs = _outputs(node.this)
        beside = parent.this if isinstance(parent, exp.Binary | exp.In) else None
        if isinstance(beside, exp.Tuple) or isinstance(parent, exp.Exists | exp.Tuple | exp.Func):
            return
        if isinstance(parent.args.get("expression"), exp.Tuple):
            return
        if outputs is not None and len(outputs) > 1:
            yield "a subquery that is one value has several columns"

    # Kinds of values.

    def of_kinds(self, node: exp.Expr) -> Iterator[str]:  # noqa: C901, PLR0912 - a list of cases
        """Yield what kinds of values do not go together."""
        if self.dialect == "postgres" and any(
            self.kind(part) in _NUMBERS or self.kind(part) in ("text", "time")
            for part in _conditions(node)
        ):
            yield "a condition is no boolean"
        if isinstance(node, _COMPARED):
            query = node.args.get("query")
            sides = [*_values(node), *(_outputs(query.this) or () if query is not None else ())]
            sides = [side.unalias() for side in sides]
            if self.clash(sides):
                yield "values of different types are compared"
        elif isinstance(node, _MATCHED):
            if self.kind(node.this) in (*_NUMBERS, "time", "boolean"):
                yield "a pattern is compared with what is no text"
        elif isinstance(
            node, exp.JSONExtract | exp.JSONExtractScalar | exp.ArrayContainsAll | exp.Bracket
        ):
            if self.dialect == "postgres" and self.kind(node.this) in _CLASSES:
                yield "a part is taken of what has none"
        elif isinstance(node, exp.DPipe):
            both = {self.kind(node.this), self.kind(node.expression)}
            if self.dialect == "postgres" and both <= _NUMBERS:
                yield "|| has no text"
        elif isinstance(node, _COMPUTED):
            kinds = [self.kind(part) for part in _values(node)]
            booleans = (
                ("boolean",) if self.dialect == "postgres" or not isinstance(node, exp.Sum) else ()
            )
            if set(kinds) & {"text", *booleans}:
                yield "text or a truth value is used as a number"
            if "time" in kinds and isinstance(
                node,
                exp.Sum | exp.Avg | exp.Mul | exp.Div | exp.Mod | exp.Abs | exp.Round | exp.Neg,
            ):
                yield "a date is used as a number"
            if "word" in kinds and set(kinds) & {*_NUMBERS, "text"}:
                yield "text is used as a number"
            if (
                self.dialect == "postgres"
                and "real" in kinds
                and (
                    isinstance(node, exp.Mod)
                    or (isinstance(node, exp.Round | exp.Trunc) and node.args.get("decimals"))
                )
            ):
                yield "a floating point number is rounded to places, or divided with a remainder"
        elif isinstance(node, exp.Max | exp.Min):
            if self.dialect == "postgres" and self.kind(node.this) == "boolean":
                yield "MIN and MAX have no truth values"
        elif isinstance(node, _TEXTUAL):
            if self.kind(node.this) in (*_NUMBERS, "time", "boolean"):
                yield "a function of text has a number or a date"
        elif isinstance(node, _TIMED):
            if self.kind(node.this) in (*_NUMBERS, "text", "boolean") or self.kind(
                node.expression
            ) in (*_NUMBERS, "text"):
                yield "a function of dates has text or a number"
        elif isinstance(node, exp.Cast) and self.dialect == "postgres":
            to, kind = _kind_of_type(node), self.kind(node.this)
            other = node.to.is_type(*_OTHER_TYPES)
            if (kind in _NUMBERS and (to == "time" or other)) or (
                kind == "time" and to in _NUMBERS
            ):
                yield "a value is cast to a type that it cannot have"
        elif isinstance(
            node, exp.Coalesce | exp.Case | exp.If | exp.Nullif | exp.Greatest | exp.Least
        ):
            if isinstance(node, exp.If) and isinstance(node.parent, exp.Case):
                return
            if self.clash(_choices(node)):
                yield "values of different types are alternatives"

    def clash(self, nodes: Iterable[exp.Expr]) -> bool:
        """Say whether values cannot be of one type."""
        kinds = {_CLASSES.get(self.kind(node), "") for node in nodes} - {""}
        if self.dialect == "duckdb":
            kinds -= {"boolean"}
        if "word" in kinds and kinds & {"number", "time", "boolean"}:
            return True
        return len(kinds - {"word"}) > 1

    def kind(self, node: object) -> str:  # noqa: C901, PLR0911, PLR0912 - a list of cases
        """Return what an expression holds; ``word`` is a literal that is no number or date."""
        if not isinstance(node, exp.Expr):
            return ""
        if isinstance(node, exp.Paren | exp.Distinct | exp.Ordered):
            inner = node.this or (node.expressions[0] if len(node.expressions) == 1 else None)
            return self.kind(inner)
        if isinstance(node, exp.Literal):
            if node.is_string:
                return "" if _NUMBER_OR_DATE.match(node.name) else "word"
            return "integer" if node.name.isdecimal() else "number"
        if isinstance(node, exp.Column):
            kind = self.columns.get(node.name.casefold(), "")
            return "" if kind in ("unknown", "enum", "collated") else kind
        if isinstance(
            node, exp.Neg | exp.Max | exp.Min | exp.Abs | exp.Nullif | exp.Filter | exp.Window
        ):
            return self.kind(node.this)
        if isinstance(node, exp.Round):
            kind = self.kind(node.this)
            return "number" if kind == "integer" else kind
        if isinstance(node, _BOOLEAN):
            return "boolean"
        if isinstance(
            node,
            exp.Count | exp.Length | exp.RowNumber | exp.Rank | exp.DenseRank | exp.StrPosition,
        ):
            return "integer"
        if isinstance(node, exp.Sum | exp.Avg):
            kind = self.kind(node.this)
            if self.dialect == "duckdb":
                return "real"
            return "number" if kind in ("integer", "natural", "number") else kind
        if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod):
            kinds = {self.kind(node.this), self.kind(node.expression)}
            if kinds <= _NUMBERS and self.dialect == "duckdb" and isinstance(node, exp.Div):
                return "real"
            return (
                next((k for k in ("real", "number", "integer") if k in kinds), "")
                if kinds <= _NUMBERS
                else ""
            )
        if isinstance(
            node, exp.DPipe | exp.Lower | exp.Upper | exp.Substring | exp.Trim | exp.Replace
        ):
            return "text"
        if isinstance(node, exp.Cast):
            kind = _kind_of_type(node)
            return "" if kind in ("unknown", "enum", "collated") else kind
        if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp):
            return "time"
        if isinstance(node, exp.Extract):
            return "number" if self.dialect == "postgres" else "integer"
        if isinstance(node, exp.Case | exp.Coalesce | exp.If):
            kinds = {self.kind(part) for part in _choices(node)} - {"word", ""}
            if kinds <= _NUMBERS and kinds:
                return next(k for k in ("real", "number", "integer", "natural") if k in kinds)
            return kinds.pop() if len(kinds) == 1 else ""
        if isinstance(node, exp.Subquery):
            outputs = _outputs(node.this)
            return self.kind(outputs[0].unalias()) if outputs and len(outputs) == 1 else ""
        return ""


_NOW = r"current_(?:date|time|timestamp)"
_HIDDEN: Final = {
    "sqlite": re.compile(rf"_?rowid_?|oid|value|key|type|atom|column\d+|{_NOW}"),
    "postgres": re.compile(
        r"ctid|oid|xmin|xmax|tableoid|value|key|column\d+|generate_series|unnest|ordinality"
        rf"|current_\w+|localtime(?:stamp)?|session_user|user|{_NOW}"
    ),
    "mysql": re.compile(
        rf"{_NOW}|localtime(?:stamp)?|\w*second|minute|hour|day|week|month|quarter|year|signed"
        r"|unsigned|char|binary"
    ),
    "duckdb": re.compile(
        rf"rowid|col\d+|key|value|generate_series|unnest|range|{_NOW}|localtime(?:stamp)?|user"
        r"|current_\w+|session_user"
    ),
}
"""What is read like a column and no schema lists."""

_NUMBERS: Final = frozenset({"integer", "natural", "number", "real"})
_CLASSES: Final = {
    **dict.fromkeys(_NUMBERS, "number"), "text": "text", "time": "time", "boolean": "boolean",
    "word": "word",
}  # fmt: skip
_NUMBER_OR_DATE = re.compile(
    r"\s*(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\d{4}-\d\d?(?:-\d\d?)?.*|\d\d?:\d\d.*|\d+/\d+/\d+"
    r"|t|f|true|false|yes|no|on|off|now|today|[-+]?infinity|nan)\s*\Z",
    re.IGNORECASE,
)
_COMPARED = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.NullSafeEQ,
    exp.NullSafeNEQ,
)  # fmt: skip
_MATCHED = (exp.Like, exp.ILike, exp.SimilarTo, exp.RegexpLike, exp.RegexpILike)
_COMPUTED = (
    exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Sum, exp.Avg, exp.Abs, exp.Round,
    exp.Ceil, exp.Floor, exp.Sqrt, exp.Trunc, exp.Stddev, exp.Variance,
)  # fmt: skip
_TEXTUAL = (
    exp.Length, exp.Lower, exp.Upper, exp.Substring, exp.Trim, exp.Replace, exp.Left, exp.Right,
    exp.Initcap, exp.Reverse, exp.StrPosition, exp.SplitPart, exp.Ascii, exp.Pad,
)  # fmt: skip
_TIMED = (exp.Extract, exp.TimestampTrunc, exp.DateTrunc, exp.Year, exp.Month, exp.Day)
_BOOLEAN = (
    *_COMPARED, *_MATCHED, exp.And, exp.Or, exp.Not, exp.Is, exp.Exists, exp.Boolean,
)  # fmt: skip


_T = exp.DataType.Type
_OTHER_TYPES = (
    _T.UUID,
    _T.JSON,
    _T.JSONB,
    _T.XML,
    _T.INET,
    _T.BINARY,
    _T.VARBINARY,
    _T.BLOB,
    _T.ARRAY,
)


def _kind_of_type(cast: exp.Cast) -> str:
    return kind_of(cast.to.sql())


def _values(node: exp.Expr) -> list[exp.Expr]:
    """Return the operands of a node that are no queries, lists among them."""
    names = ("this", "expression", "low", "high")
    values = [node.args.get(name) for name in names] + node.expressions
    if isinstance(node, exp.Round | exp.Trunc):
        values = [node.this]
    return [
        value
        for value in values
        if (isinstance(value, exp.Expr) and not isinstance(value, exp.Query | exp.Tuple))
        or isinstance(value, exp.Subquery)
    ]


def _conditions(node: exp.Expr) -> list[exp.Expr]:
    """Return what must be true or false in a node."""
    if isinstance(node, exp.And | exp.Or):
        return [node.this, node.expression]
    if isinstance(node, exp.Not | exp.Where | exp.Having | exp.Qualify):
        return [node.this]
    if isinstance(node, exp.If):
        is_simple = isinstance(node.parent, exp.Case) and node.parent.this is not None
        return [] if is_simple else [node.this]
    if isinstance(node, exp.Join) and node.args.get("on") is not None:
        return [node.args["on"]]
    return []


def _choices(node: exp.Expr) -> list[exp.Expr]:
    """Return the values that an expression chooses from."""
    if isinstance(node, exp.Case):
        chosen = [one.args.get("true") for one in node.args.get("ifs") or ()]
        return [one for one in (*chosen, node.args.get("default")) if one is not None]
    if isinstance(node, exp.If):
        return [one for one in (node.args.get("true"), node.args.get("false")) if one is not None]
    if isinstance(node, exp.Nullif):
        return [node.this, node.expression]
    return [node.this, *node.expressions]


def _outputs(query: object) -> list[exp.Expr] | None:
    """Return what a query selects, None if stars hide how many columns that is."""
    while isinstance(query, exp.Subquery | exp.SetOperation):
        query = query.this
    if not isinstance(query, exp.Select) or query.is_star or not query.expressions:
        return None
    return list(query.expressions)


def _own(
    parts: Iterable[object], *kinds: type[exp.Expr], windows: bool = True
) -> Iterator[exp.Expr]:
    """Yield the nodes of some kinds among parts of a query, not those of inner queries."""
    stack: list[object] = list(parts)
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack += node
        if not isinstance(node, exp.Expr) or isinstance(node, exp.Query):
            continue
        if isinstance(node, exp.Window) and not windows:
            stack += [part for arg in node.this.args.values() for part in [arg]]
            continue
        if isinstance(node, kinds):
            yield node
        stack += node.args.values()


def _is_column(node: exp.Expr, name: str) -> bool:
    return isinstance(node, exp.Column) and node.name.casefold() == name


def _sources(select: exp.Select) -> list[exp.Expr]:
    """Return the tables and subqueries of a FROM."""
    clauses = (select.args.get("from_"), *(select.args.get("joins") or ()))
    sources = [clause.this for clause in clauses if clause is not None]
    inner = [join.this for source in sources for join in source.args.get("joins") or ()]
    return [*sources, *inner, *(select.args.get("laterals") or ())]


def _keys(group: exp.Group) -> Iterator[exp.Expr]:
    """Yield what a GROUP BY groups by, in whatever set of groups."""
    for value in group.args.values():
        for key in cast("list[object]", value) if isinstance(value, list) else [value]:
            if isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
                yield from key.find_all(exp.Column)
            elif isinstance(key, exp.Expr):
                yield key


def _within(inner: exp.Expr, outer: exp.Expr) -> bool:
    """Say whether an aggregate is computed for another, and not a window over it."""
    return not isinstance(inner.parent, exp.Window) and not isinstance(outer.parent, exp.Window)


def _names(parts: Iterable[object]) -> set[str]:
    """Return the columns named without a table in parts of a query, not in inner queries."""
    return {node.name.casefold() for node in _own(parts, exp.Column) if not node.text("table")}


def _plain(node: exp.Expr) -> str:
    """Return an expression as text; columns without their tables."""
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return node.name.casefold()
    copy = node.copy()
    for column in list(copy.find_all(exp.Column)):
        if column.table and column is not copy:
            column.set("table", None)
    return copy.sql(comments=False, unsupported_level=ErrorLevel.IGNORE).casefold()
