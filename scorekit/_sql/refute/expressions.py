"""What an expression holds, and how the sandbox computes what SQLite does not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, cast

from sqlglot import exp

from scorekit._sql import computed
from scorekit._sql.computed import CODES
from scorekit._sql.functions import FUNCTIONS, Function, arity, meanings
from scorekit._sql.kinds import to_single
from scorekit._sql.refute.sandbox import APART, COMPUTED, JOINED, computed_name


class UnfaithfulError(Exception):
    """SQLite would not do what the query asks for, or what it asks for is not determined."""


def is_text(node: exp.Expr) -> bool:
    """Say whether a node is a string."""
    return isinstance(node, exp.Literal) and bool(node.is_string)


# What an expression holds.

DESCRIBED: Final = frozenset({"postgres", "mysql", "duckdb"})
"""Dialects beside SQLite's whose functions and conversions are known."""

WHOLE: Final = frozenset({"integer", "natural", "wide"})
NUMERIC: Final = WHOLE | {"number", "real"}
"""What holds numbers: ``wide`` are integers whose sum may be a decimal."""
_KIND: Final = "scorekit_kind"
_MERGED = (
    exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs, exp.Mod, exp.Paren, exp.Min, exp.Max,
    exp.Distinct, exp.Ordered, exp.Coalesce, exp.Nullif, exp.Filter, exp.Lag, exp.Lead,
    exp.FirstValue, exp.LastValue, exp.NthValue, exp.Window,
)  # fmt: skip
_COUNTED = (exp.Length, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile)


def kind_of_expression(node: exp.Expr, kinds: Mapping[str, str]) -> str:  # noqa: C901, PLR0911, PLR0912
    """Return what an expression holds as far as it shows, or an empty string."""
    if _KIND in node.meta:
        return str(node.meta[_KIND])
    if isinstance(node, exp.Literal):
        return "text" if node.is_string else "integer" if node.name.isdecimal() else "number"
    if isinstance(node, exp.Column):
        kind = kind_of_column(node, kinds)
        return {"unknown": "", "single": "real"}.get(kind, kind)
    if isinstance(node, exp.Alias):
        return kind_of_expression(node.this, kinds)
    if isinstance(node, exp.CurrentDate | exp.CurrentTimestamp):
        return "time"
    if isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
        return "time"
    if isinstance(node, exp.Count):
        return "wide"
    if isinstance(node, exp.Sum):
        kind = kind_of_expression(node.this, kinds)
        return {"integer": "wide", "natural": "wide", "wide": "number"}.get(kind, kind)
    if isinstance(node, _COUNTED):
        return "integer"
    if isinstance(node, exp.Lower | exp.Upper | exp.DPipe | exp.Trim | exp.GroupConcat):
        return "text"
    if isinstance(node, exp.Cast):
        return _CAST_KINDS.get(cast_class(node), "")
    if isinstance(node, exp.Div | exp.Avg):
        kind = merged(node.iter_expressions(), kinds)
        typed = isinstance(node, exp.Div) and node.args.get("typed")
        return "number" if kind in WHOLE and not typed else kind
    if isinstance(node, exp.Case | exp.If):
        return merged(_branches(node), kinds)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Select):
        return merged(node.this.expressions, kinds) if len(node.this.expressions) == 1 else ""
    if isinstance(node, _MERGED):
        parts = [node.this] if isinstance(node, exp.Filter | exp.Window) else None
        return merged(parts or node.iter_expressions(), kinds)
    return _kind_of_call(node, kinds)


def kind_of_column(column: exp.Column, kinds: Mapping[str, str]) -> str:
    """Return what a column holds, told from the table that it is said to be of."""
    name, table = (part.strip("`").casefold() for part in (column.name, column.table))
    if not table:
        select = column.find_ancestor(exp.Select)
        source = select.args.get("from_") if select and not select.args.get("joins") else None
        table = source.this.alias_or_name.casefold() if source is not None else ""
    return kinds.get(f"{table}.{name}", kinds.get(name, ""))


def merged(nodes: Iterable[exp.Expr], kinds: Mapping[str, str]) -> str:
    """Return what several expressions hold together: of numbers the widest kind."""
    held = {kind_of_expression(node, kinds) for node in nodes if not isinstance(node, exp.Null)}
    if held and held <= NUMERIC:
        return next(kind for kind in ("real", "number", "wide", *held) if kind in held)
    return held.pop() if len(held) == 1 else ""


def _branches(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.If):
        found = [node.args.get("true"), node.args.get("false")]
    else:
        found = [*(one.args["true"] for one in node.args["ifs"]), node.args.get("default")]
    return [part for part in found if part is not None]


# Calls of functions.

_CALLS: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    exp.Substring: ("substr", "this start length"),
    exp.Left: ("left", "this expression"),
    exp.Right: ("right", "this expression"),
    exp.Replace: ("replace", "this expression replacement"),
    exp.Pad: ("lpad", "this expression fill_pattern"),
    exp.Concat: ("concat", "expressions"),
    exp.ConcatWs: ("concat_ws", "expressions"),
    exp.StrPosition: ("strpos instr", "this substr"),
    exp.SplitPart: ("split_part", "this delimiter part_index"),
    exp.SubstringIndex: ("substring_index", "this delimiter count"),
    exp.Round: ("round", "this decimals"),
    exp.Ceil: ("ceil", "this"),
    exp.Floor: ("floor", "this"),
    exp.Trunc: ("trunc truncate", "this decimals"),
    exp.Pow: ("power", "this expression"),
    exp.Sqrt: ("sqrt", "this"),
    exp.Greatest: ("greatest", "this expressions"),
    exp.Least: ("least", "this expressions"),
    exp.Extract: ("date_part", "this expression"),
    exp.TimestampTrunc: ("date_trunc", "unit this"),
    exp.DateTrunc: ("date_trunc", "unit this"),
    exp.TimeToStr: ("to_char date_format strftime", "this format"),
    exp.TsOrDsToDate: ("date", "this"),
    exp.StrToDate: ("to_date str_to_date", "this format"),
    exp.Year: ("year", "this"),
    exp.Quarter: ("quarter", "this"),
    exp.Month: ("month", "this"),
    exp.Day: ("day", "this"),
    exp.DayOfMonth: ("dayofmonth", "this"),
    exp.Hour: ("hour", "this"),
    exp.Minute: ("minute", "this"),
    exp.Second: ("second", "this"),
    exp.DateDiff: ("date_diff datediff", "unit expression this"),
    exp.TimestampDiff: ("timestampdiff", "unit expression this"),
}
"""Nodes of calls: names of the function, of which a dialect has one, and its arguments."""

_MEANINGLESS = frozenset(
    {"safe", "coalesce", "ignore_nulls", "date_part_boundary", "is_left", "binary", "big_int"}
)
_FORMAT = re.compile(rf"(?:%[{''.join(sorted(CODES))}]|[-/: .])*")
# PostgreSQL rounds a double precision number to whole ones only.
_DECIMALS_ONLY = frozenset({"round", "trunc"})
_NAMES: Final = {row.name: row for row in FUNCTIONS}


def _kind_of_call(node: exp.Expr, kinds: Mapping[str, str]) -> str:
    if type(node) not in _CALLS:
        return ""
    names, arguments = _CALLS[type(node)]
    returns = "number" if isinstance(node, exp.Extract) else _NAMES[names.split()[0]].returns
    if not returns.isdecimal():
        return returns
    first = node.args.get(arguments.split()[0])
    return _rounded(kind_of_expression(first, kinds)) if isinstance(first, exp.Expr) else ""


def _rounded(kind: str) -> str:
    return "number" if kind in WHOLE else kind


def _row(node: exp.Expr, dialect: str) -> Function | None:
    """Return what a call means, if the sandbox can compute it."""
    known = meanings(dialect)
    if isinstance(node, exp.Anonymous):
        names = [node.name.lower()]
    elif isinstance(node, exp.Extract) and dialect == "mysql":
        return _NAMES["date_part"]
    elif isinstance(node, exp.Pad) and not node.args.get("is_left"):
        return None
    elif type(node) in _CALLS:
        names = _CALLS[type(node)][0].split()
    else:
        return None
    found = [row for name in names if (row := known.get(name)) is not None]
    return found[0] if found and found[0].compute is not None and not found[0].aggregate else None


def write_calls(tree: exp.Expr, kinds: Mapping[str, str], dialect: str) -> None:
    """
    Let a query call the sandbox's functions instead of a dialect's, inner calls first.

    Raises:
        UnfaithfulError: If a call has arguments that databases understand otherwise.
    """
    for node in reversed(list(tree.walk())):
        if isinstance(node, exp.DateAdd | exp.DateSub) and dialect == "mysql":
            n, unit = node.expression, node.args.get("unit")
            _add(node, node.this, n, unit, kinds, back=isinstance(node, exp.DateSub))
        elif isinstance(node, exp.Add | exp.Sub) and isinstance(node.expression, exp.Interval):
            n, unit = node.expression.this, node.expression.args.get("unit")
            _add(node, node.this, n, unit, kinds, back=isinstance(node, exp.Sub))
        elif isinstance(node, exp.TsOrDsToTimestamp):
            node.replace(node.this)
        elif isinstance(node, exp.LogicalAnd | exp.LogicalOr):
            kind = exp.Min if isinstance(node, exp.LogicalAnd) else exp.Max
            node.replace(kind(this=node.this))
        elif (row := _row(node, dialect)) is not None:
            _call(node, row, kinds, dialect)


def _call(node: exp.Expr, row: Function, kinds: Mapping[str, str], dialect: str) -> None:
    arguments = list(_arguments(node, dialect))
    least, most = arity(row.arguments)
    if not least <= len(arguments) <= most:
        raise UnfaithfulError(f"{row.name} has {len(arguments)} arguments")
    wanted = [word.strip("[]") for word in row.arguments.split() if word != "..."]
    wanted += wanted[-1:] * (len(arguments) - len(wanted))
    held = [kind_of_expression(argument, kinds) for argument in arguments]
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
    returns = row.returns
    if returns.isdecimal():
        returns = _rounded(held[int(returns)])
        if len(held) > 1 and row.name in ("greatest", "least"):
            returns = merged(arguments, kinds)
    _compute(node, row.compute, arguments, returns, row.null)


def _compute(
    node: exp.Expr, how: object, arguments: Sequence[exp.Expr], kind: str, null: str = "any"
) -> None:
    made: exp.Expr
    if isinstance(how, str):
        name, _, inside = how.partition("(")
        places = [int(place) for place in re.findall(r"\{(\d)\}", inside)]
        if len(places) != len(arguments):
            raise UnfaithfulError(f"{name} has {len(arguments)} arguments")
        made = exp.Anonymous(this=name, expressions=[arguments[i].copy() for i in places])
    else:
        called = computed_name(how, null)
        made = exp.Anonymous(this=called, expressions=[part.copy() for part in arguments])
    made.meta.update({_KIND: kind, COMPUTED: True})
    node.replace(made)


def _arguments(node: exp.Expr, dialect: str) -> Iterator[exp.Expr]:
    if isinstance(node, exp.Anonymous):
        yield from node.expressions
        return
    keys = _CALLS[type(node)][1].split()
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


def join_texts(nodes: Iterable[exp.Expr], kinds: Mapping[str, str]) -> None:
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
        plain = kind_of_expression(value, kinds) in {*WHOLE, "text", ""}
        if not plain or not is_text(between) or isinstance(node.parent, exp.Window):
            raise UnfaithfulError("texts that are joined in a way that is not looked into")
        node.replace(exp.Anonymous(this=JOINED, expressions=[value, between, distinct]))


def _fits(kind: str, wanted: str) -> bool:
    if wanted in ("number", "integer"):
        return kind in NUMERIC or not kind
    return wanted in ("any", kind) or (wanted == "text" and not kind)


def _add(
    node: exp.Expr,
    time: exp.Expr,
    n: object,
    unit: object,
    kinds: Mapping[str, str],
    *,
    back: bool,
) -> None:
    """Let a query compute a time that some parts of time are added to."""
    written = n.name if isinstance(n, exp.Literal) else ""
    named = unit.name.lower().rstrip("s") if isinstance(unit, exp.Var) else ""
    dated = isinstance(node, exp.DateAdd | exp.DateSub) and _is_day(time)
    timed = dated or kind_of_expression(time, kinds) == "time"
    if not (written.isdecimal() and named and timed):
        raise UnfaithfulError("an interval that is not looked into")
    count = exp.Literal.number(f"{'-' * back}{int(written)}")
    _compute(node, computed.add_time, [time, count, exp.Literal.string(named)], "time")


def _is_day(node: exp.Expr) -> bool:
    return is_text(node) and _DATE.match(node.name) is not None


def compare_as_numbers(nodes: Iterable[exp.Expr], kinds: Mapping[str, str]) -> None:
    """Write strings of digits that are compared with numbers as numbers, as all databases do."""
    for node in nodes:
        if not isinstance(node, COMPARED):
            continue
        parts = [part for part in node.iter_expressions() if not isinstance(part, exp.Query)]
        others = [part for part in parts if not is_text(part)]
        held = {kind_of_expression(part, kinds) for part in others}
        if not held or not held <= NUMERIC or len(others) == len(parts):
            continue
        columns = [part for part in others if isinstance(part, exp.Column)]
        single = any(kind_of_column(column, kinds) == "single" for column in columns)
        digits = _DIGITS if held <= WHOLE else _DECIMAL
        for part in parts:
            if is_text(part) and digits.fullmatch(part.name):
                number = repr(to_single(float(part.name))) if single else part.name
                part.replace(exp.Literal.number(number))


COMPARED: Final = (
    exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.NullSafeEQ,
    exp.NullSafeNEQ,
)  # fmt: skip
_DIGITS, _DECIMAL = re.compile(r"\d{1,9}"), re.compile(r"\d{1,9}(?:\.\d{1,9})?")

# Sums of decimals, which are exact but in SQLite.

_ADDED = (exp.Add, exp.Sub, exp.Mul, exp.Sum)
_EXACT = WHOLE | {"text", "time", "enum"}


def keep_apart(nodes: Sequence[exp.Expr], kinds: Mapping[str, str]) -> None:
    """
    Stop where decimals are compared or sorted that are equal, or nearly so, as fractions only.

    Raises:
        UnfaithfulError: If they are compared otherwise than by operators and clauses.
    """
    inexact = any(isinstance(n, exp.Literal) and not is_text(n) and _rounds(n) for n in nodes)
    if not inexact or not any(isinstance(node, _ADDED) for node in nodes):
        return
    for node in nodes:
        shown: Sequence[exp.Expr] = ()
        if isinstance(node, exp.Distinct):
            select = node.parent if isinstance(node.parent, exp.Select) else node
            shown = select.expressions
        elif isinstance(node, exp.Window):
            shown = node.args.get("partition_by") or ()
        elif isinstance(node, exp.SetOperation) and node.args.get("distinct"):
            shown = [*node.selects, *getattr(node.expression, "selects", ())]
        if not all(kind_of_expression(part, kinds) in _EXACT for part in shown):
            raise UnfaithfulError("SQLite has no decimals to compare")
        if isinstance(node, (*COMPARED, exp.Group, exp.Ordered)):
            _keep_apart(node, kinds)


def _keep_apart(node: exp.Expr, kinds: Mapping[str, str]) -> None:
    parts = list(node.iter_expressions())
    if not isinstance(node, COMPARED) and any(isinstance(part, exp.Literal) for part in parts):
        raise UnfaithfulError("SQLite has no decimals to compare")
    if any(isinstance(part, exp.Query) and not isinstance(part, exp.Subquery) for part in parts):
        raise UnfaithfulError("SQLite has no decimals to compare")
    if all(kind_of_expression(part, kinds) in _EXACT for part in parts):
        return
    for part in parts:
        part.replace(exp.Anonymous(this=APART, expressions=[part.copy()]))


def _rounds(literal: exp.Literal) -> bool:
    try:
        return Decimal(literal.name) != Decimal(float(literal.name))
    except (ArithmeticError, ValueError):
        return True


# What is cast.

_CAST_KINDS: Final = {
    "REAL": "real",
    "INTEGER": "integer",
    "TEXT": "text",
    "DATE": "time",
    "TIMESTAMP": "time",
    "DECIMAL": "number",
}
_T = exp.DataType.Type
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")


def cast_class(cast: exp.Cast) -> str:
    """Return what a CAST makes: a key of the kinds above, empty for all else."""
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


def same_cast(cast: exp.Cast, kinds: Mapping[str, str], dialect: str) -> exp.Expr:
    """
    Return what a CAST does in every dialect, in SQLite's words.

    Raises:
        UnfaithfulError: If dialects differ: text that is no number, halves that are rounded.
    """
    value: exp.Expr = cast.this
    to, kind = cast_class(cast), kind_of_expression(value, kinds)
    kind = "whole" if kind in WHOLE else "number" if kind in NUMERIC else kind
    sizes = [int(part.name) for part in cast.to.expressions if part.name.isdecimal()]
    if to in ("DATE", "TIMESTAMP") and _is_day(value):
        return value
    how = _CASTS.get((to, kind), "")
    if kind == "text" and to != "TEXT" and not _is_of_table(value, kinds):
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


def _is_of_table(value: exp.Expr, kinds: Mapping[str, str]) -> bool:
    """Say whether a value is computed of one column, which is that of a table."""
    names = {column.name.strip("`").casefold() for column in value.find_all(exp.Column)}
    return len(names) <= 1 and all(any(key.endswith(f".{n}") for key in kinds) for n in names)


def _called(function: object, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(
        this=computed_name(function), expressions=[part.copy() for part in arguments]
    )
