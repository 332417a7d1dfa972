"""What an expression holds, and how the sandbox computes what SQLite does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, cast

from sqlglot import exp

from scorekit._sql.databases import computed
from scorekit._sql.databases.computed import CODES
from scorekit._sql.databases.functions import CALLS, FUNCTIONS, Function, arity, meanings
from scorekit._sql.databases.kinds import NUMBERS, WHOLE, to_single
from scorekit._sql.meaning.catalog import Catalog
from scorekit._sql.meaning.read import Names
from scorekit._sql.meaning.tree import Column
from scorekit._sql.refute.sandbox import (
    APART,
    COMPUTED,
    JOINED,
    MINUS,
    PLUS,
    QUOTIENT,
    TIMES,
    TOTAL,
    computed_name,
)


class UnfaithfulError(Exception):
    """SQLite would not do what the query asks for, or what it asks for is not determined."""


def is_text(node: exp.Expr) -> bool:
    """Say whether a node is a string."""
    return isinstance(node, exp.Literal) and bool(node.is_string)


# What an expression holds.

DESCRIBED: Final = frozenset({"postgres", "mysql", "duckdb"})
"""Dialects beside SQLite's whose functions and conversions are known."""

_KIND: Final = "scorekit_kind"
_OF_TABLE: Final = "scorekit_of_table"
_SINGLE: Final = "scorekit_single"


def note_kinds(nodes: Iterable[exp.Expr], read: Names, catalog: Catalog) -> None:
    """Note at each expression, and at each query of one column, the kind that its values have."""
    for node in nodes:
        value = read.value(node)
        if value is None:
            queries = read.queries.get(id(node), ())
            if queries and len(queries[-1].outputs) == 1:
                node.meta[_KIND] = catalog.kind_of_output(queries[-1], 0)
            continue
        node.meta[_KIND] = catalog.kind(value)
        if isinstance(value, Column):
            declared = catalog.column(value)
            node.meta[_OF_TABLE] = bool(value.source.table)
            node.meta[_SINGLE] = declared is not None and declared.limits.single


def kind_of(node: exp.Expr) -> str:
    """Return what an expression is noted to hold, an empty string where that is not known."""
    while isinstance(node, exp.Alias | exp.Ordered) and _KIND not in node.meta:
        node = node.this
    if isinstance(node, exp.Distinct) and len(node.expressions) == 1:
        node = node.expressions[0]
    kind = str(node.meta.get(_KIND, ""))
    return "" if kind == "unknown" else kind


# Calls of functions.

_MEANINGLESS = frozenset(
    {"safe", "coalesce", "ignore_nulls", "date_part_boundary", "is_left", "binary", "big_int"}
)
_FORMAT = re.compile(rf"(?:%[{''.join(sorted(CODES))}]|[-/: .])*")
# PostgreSQL rounds a double precision number to whole ones only.
_DECIMALS_ONLY = frozenset({"round", "trunc"})


def _call_name(node: exp.Expr) -> str:
    return type(node).__name__.lower()


def _row(node: exp.Expr, dialect: str) -> Function | None:
    """Return what a call means, if the sandbox can compute it."""
    known = meanings(dialect)
    if isinstance(node, exp.Anonymous):
        names = [node.name.lower()]
    elif isinstance(node, exp.Extract) and dialect == "mysql":
        return next(row for row in FUNCTIONS if row.name == "date_part")
    elif isinstance(node, exp.Pad) and not node.args.get("is_left"):
        return None
    elif _call_name(node) in CALLS:
        names = CALLS[_call_name(node)][0].split()
    else:
        return None
    found = [row for name in names if (row := known.get(name)) is not None]
    return found[0] if found and found[0].compute is not None and not found[0].aggregate else None


def write_calls(tree: exp.Expr, read: Names, dialect: str) -> None:
    """
    Let a query call the sandbox's functions instead of a dialect's, inner calls first.

    Raises:
        UnfaithfulError: If a call has arguments that databases understand otherwise.
    """
    for node in reversed(list(tree.walk())):
        if isinstance(node, exp.DateAdd | exp.DateSub) and dialect == "mysql":
            n, unit = node.expression, node.args.get("unit")
            _add(node, n, unit, read, back=isinstance(node, exp.DateSub))
        elif isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
            n, unit = node.expression.this, node.expression.args.get("unit")
            _add(node, n, unit, read, back=isinstance(node, exp.Sub))
        elif isinstance(node, exp.TsOrDsToTimestamp):
            node.replace(node.this)
        elif isinstance(node, exp.LogicalAnd | exp.LogicalOr):
            kind = exp.Min if isinstance(node, exp.LogicalAnd) else exp.Max
            node.replace(kind(this=node.this))
        elif (row := _row(node, dialect)) is not None:
            _call(node, row, read, dialect)


def _call(node: exp.Expr, row: Function, read: Names, dialect: str) -> None:
    arguments = list(_arguments(node, dialect))
    least, most = arity(row.arguments)
    if not least <= len(arguments) <= most:
        raise UnfaithfulError(f"{row.name} has {len(arguments)} arguments")
    wanted = [word.strip("[]") for word in row.arguments.split() if word != "..."]
    wanted += wanted[-1:] * (len(arguments) - len(wanted))
    held = list(map(kind_of, arguments))
    for part, kind, want in zip(arguments, held, wanted, strict=False):
        dated = dialect != "postgres" and _is_day(part)
        if not (_fits(kind, want) or (want == "time" and dated)):
            raise UnfaithfulError(f"{dialect} may understand {row.name} of such a value otherwise")
    if (
        dialect == "postgres"
        and row.name in _DECIMALS_ONLY
        and held[1:]
        and held[0] in ("", "real")
    ):
        raise UnfaithfulError(f"{row.name} of a number that may be no decimal")
    _compute(node, row.compute, arguments, read, row.null)


def _compute(
    node: exp.Expr, how: object, arguments: Sequence[exp.Expr], read: Names, null: str = "any"
) -> None:
    """Let a query compute what a node means by a function; its arguments are moved there."""
    made: exp.Expr
    if isinstance(how, str):
        name, _, inside = how.partition("(")
        places = [int(place) for place in re.findall(r"\{(\d)\}", inside)]
        if len(places) != len(arguments):
            raise UnfaithfulError(f"{name} has {len(arguments)} arguments")
        made = exp.Anonymous(this=name, expressions=[arguments[i] for i in places])
    else:
        made = exp.Anonymous(this=computed_name(how, null), expressions=list(arguments))
    made.meta.update({_KIND: node.meta.get(_KIND, ""), COMPUTED: True})
    if (value := read.value(node)) is not None:
        read.values[id(made)] = [value]
    node.replace(made)


def _arguments(node: exp.Expr, dialect: str) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        yield from node.expressions
        return
    keys = CALLS[_call_name(node)][1].split()
    if isinstance(node, exp.DateDiff) and dialect == "mysql":
        keys = ["this", "expression"]
    if any(value for key, value in node.args.items() if key not in _MEANINGLESS | {*keys}):
        raise UnfaithfulError(f"{node.key.upper()} has arguments that are not looked into")
    for key in keys:
        value: object = node.args.get(key)
        for part in cast("list[object]", value) if isinstance(value, list) else [value]:
            if isinstance(part, exp.Var):
                yield exp.Literal.string(part.name.lower())
            elif key == "format":
                if not isinstance(part, exp.Literal) or not _FORMAT.fullmatch(part.name):
                    raise UnfaithfulError("a format of times that is not looked into")
                part.meta[COMPUTED] = True  # its case counts in all readings
                yield part
            elif isinstance(part, exp.Expr):
                yield part


def join_texts(nodes: Iterable[exp.Expr]) -> None:
    """
    Let the sandbox join the texts of a group, where their order cannot matter.

    Raises:
        UnfaithfulError: If more than texts are joined, or windows of them.
    """
    for node in nodes:
        if not isinstance(node, exp.GroupConcat):
            continue
        value, distinct = node.this, exp.Literal.number(0)
        while isinstance(value, exp.Order | exp.Distinct):
            if isinstance(value, exp.Distinct):
                distinct = exp.Literal.number(1)
            value = value.this or value.expressions[0]
        between = node.args.get("separator") or exp.Literal.string(",")
        plain = kind_of(value) in {*WHOLE, "text", ""}
        if not plain or not is_text(between) or isinstance(node.parent, exp.Window):
            raise UnfaithfulError("texts that are joined in a way that is not looked into")
        node.replace(exp.Anonymous(this=JOINED, expressions=[value, between, distinct]))


def _fits(kind: str, wanted: str) -> bool:
    if wanted in ("number", "integer"):
        return kind in NUMBERS or not kind
    return wanted in ("any", kind) or (wanted == "text" and not kind)


def _add(node: exp.Expr, n: object, unit: object, read: Names, *, back: bool) -> None:
    """Let a query compute a time that some parts of time are added to."""
    time: exp.Expr = node.this
    written = n.name if isinstance(n, exp.Literal) else ""
    named = unit.name.lower().rstrip("s") if isinstance(unit, exp.Var) else ""
    dated = isinstance(node, exp.DateAdd | exp.DateSub) and _is_day(time)
    timed = dated or kind_of(time) == "time"
    if not (written.isdecimal() and named and timed):
        raise UnfaithfulError("an interval that is not looked into")
    count = exp.Literal.number(f"{'-' * back}{int(written)}")
    node.meta[_KIND] = "time"
    _compute(node, computed.add_time, [time, count, exp.Literal.string(named)], read)


def _is_day(node: exp.Expr) -> bool:
    return is_text(node) and _DATE.match(node.name) is not None


def as_typed(nodes: Iterable[exp.Expr], dialect: str) -> None:
    """
    Write texts that a database reads as numbers as the numbers that they are.

    All databases do so where one is compared with a number, some wherever one stands beside it.
    """
    for node in nodes:
        if isinstance(node, COMPARED) or (isinstance(node, exp.Nullif) and not is_text(node.this)):
            _as_numbers([*node.iter_expressions()])
        elif dialect == "postgres" or (dialect == "duckdb" and not isinstance(node, _OF_RESULTS)):
            for parts in together(node):
                _as_numbers(parts)
        elif isinstance(node, exp.SetOperation):
            for parts in together(node):
                _as_texts(parts)


def as_structs(nodes: Iterable[exp.Expr]) -> None:
    """
    Compare rows of values as DuckDB does: a NULL equals a NULL, unless a query returns it.

    Raises:
        UnfaithfulError: If rows are put in an order.
    """
    for node in nodes:
        sides = [part for part in node.iter_expressions() if isinstance(part, exp.Tuple)]
        if not sides or not isinstance(node, exp.Predicate | exp.Case | exp.Nullif):
            continue
        if isinstance(node, exp.EQ | exp.NEQ) and len(sides) > 1:
            same: exp.Expr = _same_struct(*sides)
        elif isinstance(node, exp.In) and node.args.get("query") is not None:
            continue
        elif isinstance(node, exp.In) and len(sides) > 1:
            same = exp.or_(*(_same_struct(sides[0], other) for other in sides[1:]))
        else:
            raise UnfaithfulError("DuckDB compares rows as structs")
        node.replace(exp.paren(exp.not_(same) if isinstance(node, exp.NEQ) else same))


def _same_struct(first: exp.Expr, second: exp.Expr) -> exp.Expr:
    pairs = zip(first.expressions, second.expressions, strict=True)
    return exp.and_(*(exp.NullSafeEQ(this=a.copy(), expression=b.copy()) for a, b in pairs))


_OF_RESULTS = (exp.SetOperation, exp.Nullif, exp.Binary)


def together(node: exp.Expr) -> list[list[exp.Expr]]:
    """Return the parts of an expression, or of a set operation, that are brought to one type."""
    if isinstance(node, exp.Case):
        found = [*(one.args["true"] for one in node.args["ifs"]), node.args.get("default")]
    elif isinstance(node, exp.If) and not isinstance(node.parent, exp.Case):
        found = [node.args.get("true"), node.args.get("false")]
    elif isinstance(node, exp.Lag | exp.Lead):
        found = [node.this, node.args.get("default")]
    elif isinstance(node, _CHOICES):
        found = [*node.iter_expressions()]
    elif isinstance(node, exp.SetOperation):
        if isinstance(node.parent_select or node.parent, exp.SetOperation):
            return []  # it is a part of another
        return [[*parts] for parts in zip(*_arms(node), strict=False)]
    else:
        return []
    return [[part for part in found if isinstance(part, exp.Expr) and not _is_null(part)]]


def _arms(node: exp.Expr) -> list[list[exp.Expr]]:
    """Return the outputs of each SELECT of a set operation."""
    if isinstance(node, exp.SetOperation):
        return [*_arms(node.this), *_arms(node.expression)]
    if isinstance(node, exp.Subquery):
        return _arms(node.this)
    return [node.expressions] if isinstance(node, exp.Select) else [[]]


def _is_null(node: exp.Expr) -> bool:
    return isinstance(node.unalias(), exp.Null)


_CHOICES = (
    exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod,
)  # fmt: skip


def _as_numbers(parts: Sequence[exp.Expr]) -> None:
    """Write texts beside numbers as the numbers that they are."""
    texts = [part for one in parts if is_text(part := one.unalias())]
    others = [part for one in parts if not is_text(part := one.unalias()) and not _is_null(one)]
    held = set(map(kind_of, others))
    if not texts or not held or not held <= NUMBERS:
        return
    single = any(part.meta.get(_SINGLE) for part in others)
    digits = _DIGITS if held <= WHOLE else _DECIMAL
    for part in texts:
        if digits.fullmatch(part.name):
            number = exp.Literal.number(repr(to_single(float(part.name))) if single else part.name)
            number.meta[_KIND] = "integer" if part.name.isdecimal() else "number"
            part.replace(number)


def _as_texts(parts: Sequence[exp.Expr]) -> None:
    """Write whole numbers beside texts, in the arms of a set operation, as texts."""
    shown = [part.unalias() for part in parts]
    held = [kind_of(part) for part in shown]
    if "text" in held and not {*held} - {"text"} - WHOLE:
        for part, kind in zip(shown, held, strict=True):
            if kind in WHOLE:
                cast = exp.cast(part.copy(), "TEXT")
                cast.meta[_KIND] = "text"
                part.replace(cast)


COMPARED: Final = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.NullSafeEQ,
    exp.NullSafeNEQ,
)  # fmt: skip
_DIGITS, _DECIMAL = re.compile(r"\d{1,9}"), re.compile(r"\d{1,9}(?:\.\d{1,9})?")

# Decimals, which are exact but in SQLite.

_CALLED: Final[dict[type[exp.Expr], str]] = {
    exp.Add: PLUS, exp.Sub: MINUS, exp.Mul: TIMES, exp.Div: QUOTIENT, exp.Sum: TOTAL,
}  # fmt: skip
_BINARY: Final = {"real", "time", "text", "boolean", "enum"}
_EXACT: Final = WHOLE | {"text", "time", "enum", "boolean"}


def as_decimals(nodes: Sequence[exp.Expr]) -> None:
    """
    Let the sandbox compute with decimals, and stop where rounding would decide a comparison.

    Raises:
        UnfaithfulError: If a number has more digits than it holds.
    """
    if not any(isinstance(node, (*_CALLED, exp.Avg)) for node in nodes):
        return
    inexact = [node for node in nodes if _is_inexact(node)]
    if inexact:
        for place, node in enumerate(nodes):
            _keep_apart(node, 2 * place)
    for node in reversed(inexact):
        if isinstance(node, exp.Avg):
            _write_mean(node)
        else:
            parts = [node.this] if isinstance(node, exp.Sum) else [node.this, node.expression]
            node.replace(_made(node, _CALLED[type(node)], parts))


def check_digits(nodes: Iterable[exp.Expr]) -> None:
    """
    Refuse decimals that are written with more digits than the sandbox holds.

    Raises:
        UnfaithfulError: If there is one.
    """
    for node in nodes:
        if isinstance(node, exp.Literal) and not node.is_string and not node.name.isdecimal():
            try:
                exact = Decimal(node.name)
            except ArithmeticError:
                continue
            if exact.is_finite() and Decimal(repr(float(node.name))) != exact:
                raise UnfaithfulError(f"SQLite holds no decimal of so many digits as {node.name}")


def _is_inexact(node: exp.Expr) -> bool:
    """Say whether SQLite would compute decimals as fractions."""
    if not isinstance(node, (*_CALLED, exp.Avg)) or kind_of(node) == "real":
        return False
    held = {kind_of(part) for part in node.iter_expressions() if not isinstance(part, exp.Null)}
    if not held.isdisjoint(_BINARY):
        return False
    if isinstance(node, exp.Div):
        return not node.args.get("typed") or not held <= {*WHOLE, ""}
    return isinstance(node, exp.Avg) or not held <= WHOLE


def _made(node: exp.Expr, name: str, parts: Sequence[exp.Expr]) -> exp.Expr:
    made = exp.Anonymous(this=name, expressions=list(parts))
    made.meta.update({_KIND: node.meta.get(_KIND, ""), COMPUTED: True})
    return made


def _write_mean(mean: exp.Avg) -> None:
    """Write an average as a sum and a count, each with the filter and the window that it has."""
    whole: exp.Expr = mean
    while isinstance(whole.parent, exp.Filter | exp.Window) and whole.arg_key == "this":
        whole = whole.parent
    parts: list[exp.Expr] = []
    for made in (_made(mean, TOTAL, [mean.this.copy()]), exp.Count(this=mean.this.copy())):
        around = inner = whole.copy()
        while not isinstance(inner, exp.Avg):
            inner = inner.this
        if inner is not around:
            inner.replace(made)
        parts.append(made if inner is around else around)
    whole.replace(_made(mean, QUOTIENT, parts))


def _keep_apart(node: exp.Expr, place: int) -> None:
    """Let the sandbox see what a node compares, each side under a number of its own."""
    sides = _sides(node)
    if all(kind_of(part.unalias()) in _EXACT for side in sides for part in side):
        return
    for i, side in enumerate(sides):
        for part in side:
            _watch(part, place + i, place + len(sides) - 1 - i)


def _sides(node: exp.Expr) -> list[list[exp.Expr]]:  # noqa: PLR0911 - one a kind of node
    """Return what a node compares with each other: two sides, or one whose parts are sorted."""
    if isinstance(node, COMPARED):
        query: object = node.args.get("query")
        first, *others = [part for part in node.iter_expressions() if part is not query]
        found = [part for other in others for part in _parts(other)]
        found += _shown(query) if isinstance(query, exp.Expr) else []
        return [_parts(first), found]
    if isinstance(node, exp.Case) and node.this is not None:
        return [[node.args["this"]], [one.this for one in node.args["ifs"]]]
    if isinstance(node, exp.Nullif):
        return [[node.args["this"]], [node.expression]]
    if isinstance(node, exp.Distinct) and isinstance(node.parent, exp.Select):
        return [_shown(node.parent)]
    if isinstance(node, exp.Group | exp.Distinct):
        return [list(node.expressions)]
    if isinstance(node, exp.Ordered):
        return [[node.args["this"]]]
    if isinstance(node, exp.Window):
        return [list(node.args.get("partition_by") or ())]
    if isinstance(node, exp.SetOperation) and node.args.get("distinct") is not False:
        return [_shown(node)]
    return []


def _parts(node: exp.Expr) -> list[exp.Expr]:
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _shown(query: exp.Expr) -> list[exp.Expr]:
    return [part for arm in _arms(query) for part in arm]


def _watch(part: exp.Expr, own: int, other: int) -> None:
    """Let the sandbox see a value that may be inexact, under the number of its side."""
    value = part.unalias()
    if isinstance(part.parent, exp.Group | exp.Ordered) and isinstance(part, exp.Literal):
        select = part.parent_select
        outputs = [] if select is None else _shown(select)
        if part.is_int and int(part.name) <= len(outputs):
            _watch(outputs[int(part.name) - 1], own, other)
        return
    if is_text(value) or isinstance(value, exp.Star | exp.Null):
        return
    mark = exp.Placeholder()
    value.replace(mark)
    numbers = [exp.Literal.number(n) for n in (own, other, int(kind_of(value) != "real"))]
    watched: exp.Expr = _made(value, APART, [value, *numbers])
    if isinstance(mark.parent, exp.Select) and isinstance(value, exp.Column):
        watched = exp.Alias(this=watched, alias=value.this.copy())
    mark.replace(watched)


# What is cast.

_T = exp.DataType.Type
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")


def cast_class(cast: exp.Cast) -> str:
    """Return what a CAST makes: one of the keys below, empty for all else."""
    if cast.to.is_type(*exp.DataType.FLOAT_TYPES):
        return "REAL"
    if cast.to.is_type(_T.DECIMAL):
        return "DECIMAL"
    if cast.to.is_type(_T.INT, _T.BIGINT):
        return "INTEGER"
    if cast.to.is_type(*exp.DataType.TEXT_TYPES):
        return "TEXT"
    if cast.to.is_type(_T.TIMESTAMP, _T.DATETIME):
        return "TIMESTAMP"
    return "DATE" if cast.to.is_type(_T.DATE) else ""


_CASTS: Final[Mapping[tuple[str, str], object]] = {
    ("DATE", "time"): computed.as_date,
    ("DATE", "text"): computed.text_date,
    ("TIMESTAMP", "time"): None,
    ("TIMESTAMP", "text"): computed.text_moment,
    ("REAL", "whole"): "REAL",
    ("REAL", "number"): "REAL",
    ("REAL", "text"): computed.text_number,
    ("DECIMAL", "whole"): "REAL",
    ("DECIMAL", "number"): "REAL",
    ("DECIMAL", "text"): computed.text_number,
    ("INTEGER", "whole"): None,
    ("INTEGER", "number"): computed.to_whole,
    ("INTEGER", "text"): computed.text_whole,
    ("TEXT", "whole"): "TEXT",
    ("TEXT", "text"): "TEXT",
}
"""What casts values of a kind: SQLite, a function of the sandbox, or nothing."""
_CAST_ANYWHERE: Final = (None, "REAL", "TEXT", computed.as_date)
"""What databases that are not described do alike, too."""


def same_cast(cast: exp.Cast, dialect: str) -> exp.Expr:
    """
    Return what a CAST does in every dialect, in SQLite's words.

    Raises:
        UnfaithfulError: If dialects differ: text that is no number, halves that are rounded.
    """
    value: exp.Expr = cast.this
    to, kind = cast_class(cast), kind_of(value)
    kind = "whole" if kind in WHOLE else "number" if kind in NUMBERS else kind
    sizes = [int(part.name) for part in cast.to.expressions if part.name.isdecimal()]
    if to in ("DATE", "TIMESTAMP") and _is_day(value):
        return value
    how = _CASTS.get((to, kind), "")
    if kind == "text" and to != "TEXT" and not _is_of_table(value):
        how = ""  # rows that a condition leaves out may be cast, too
    exact = to == "DECIMAL" and kind != "whole"
    everywhere = how in _CAST_ANYWHERE and not exact
    if how == "" or (to == "TEXT" and sizes) or not (everywhere or dialect in DESCRIBED):
        raise UnfaithfulError("dialects cast otherwise than SQLite does")
    if how is None:
        return value
    found = exp.cast(value, how) if isinstance(how, str) else _called(how, value)
    if exact and not sizes and dialect == "mysql":
        sizes = [10, 0]
    if to == "DECIMAL" and sizes:
        found = _called(computed.as_decimal, found, *map(exp.Literal.number, [*sizes, 0][:2]))
    return found


def _is_of_table(value: exp.Expr) -> bool:
    """Say whether a value is computed of one column, which is that of a table."""
    columns = list(value.find_all(exp.Column))
    names = {column.name.strip("`").lower() for column in columns}
    return len(names) <= 1 and all(column.meta.get(_OF_TABLE) for column in columns)


def _called(function: object, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(
        this=computed_name(function), expressions=[part.copy() for part in arguments]
    )
