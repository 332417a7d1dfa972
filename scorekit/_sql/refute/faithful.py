"""Whether SQLite does what a query asks for, and the tables alone decide what that is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sqlglot import exp

from scorekit._sql.databases.kinds import CLASSES, NUMBERS, UNCASED
from scorekit._sql.meaning.read import UNFAMILIAR, Names
from scorekit._sql.refute.expressions import COMPARED, UnfaithfulError, is_text, kind_of, together
from scorekit._sql.refute.sandbox import CLOCKS, COMPUTED, ZONES

MAX_PARTS: Final = 2_000
"""Nodes of the largest tree that is looked at."""

MAX_SOURCES: Final = 60
"""Tables that a query may read, each as often as common table expressions repeat it."""


class Reading(NamedTuple):
    """One way to understand a query."""

    dialect: str
    folded: bool
    """Whether strings are compared whatever their case; cells and literals are lower case then."""

    @property
    def is_sqlite(self) -> bool:
        """Whether SQLite runs the query as it is."""
        return self.dialect == "sqlite"


def readings(dialect: str, *, alone: bool) -> tuple[Reading, ...]:
    """Return the ways to understand a query of a dialect, which is *alone* where it is named."""
    if dialect == "sqlite" or not alone:
        return (Reading(dialect, folded=dialect == "mysql"),)
    return (Reading(dialect, folded=False), Reading(dialect, folded=True))


def only_cased(nodes: Iterable[exp.Expr], dialect: str) -> bool:
    """Say whether strings can only be understood as they are: equal or not, and never sorted."""
    sorting = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Order, exp.Min, exp.Max)
    return dialect not in UNCASED and not any(isinstance(node, sorting) for node in nodes)


# What no database determines.

_UNDETERMINED = (
    exp.Rand, exp.Randn, exp.Uuid, exp.CurrentDatetime, exp.TableSample, exp.AnyValue, exp.First,
    exp.Last,
)  # fmt: skip
_ASKED = (exp.Identifier, exp.CurrentDate, exp.CurrentTimestamp)
"""What asks for the time in all dialects alike, or in SQLite alone."""
TIMES: Final = (exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp)


def check_determined(nodes: list[exp.Expr], *, sqlite: bool) -> None:
    """
    Refuse what no database determines; SQLite's own queries are run at one moment.

    Raises:
        UnfaithfulError: If there is any such thing among *nodes*.
    """
    check_stable(nodes)
    for node in nodes:
        if not sqlite and not isinstance(node, _ASKED) and asks_time(node):
            raise UnfaithfulError("the time of day is not determined")
        if isinstance(node, exp.Anonymous) and node.name.lower().startswith("scorekit_"):
            raise UnfaithfulError(f"no database has the function {node.name}")
        if isinstance(node, exp.Collate) and node.find_ancestor(exp.Order, exp.Where) is None:
            raise UnfaithfulError("a collation leaves open which of equal strings is shown")


def check_stable(nodes: Iterable[exp.Expr]) -> None:
    """
    Refuse what has another result each time.

    Raises:
        UnfaithfulError: If there is any such thing among *nodes*.
    """
    for node in nodes:
        if isinstance(node, _UNDETERMINED):
            raise UnfaithfulError(f"{_called(node)} has no determined result")


def asks_time(node: exp.Expr) -> bool:
    """Say whether an expression is, or asks for, the time of day."""
    if isinstance(node, exp.Literal):
        return bool(node.is_string) and node.name.lower() in {"now", *ZONES}
    if isinstance(node, exp.Identifier):  # in SQLite it may be a string
        return bool(node.args.get("quoted")) and node.name.lower() == "now"
    if not isinstance(node, exp.Func):
        return False
    return isinstance(node, TIMES) or (
        _function(node) in CLOCKS and not any(node.iter_expressions())
    )


def _function(node: exp.Func) -> str:
    return (node.name if isinstance(node, exp.Anonymous) else node.key).lower()


def _called(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    return node.sql_name() if isinstance(node, exp.Func) else node.key.upper()


def check_reasonable(nodes: Sequence[exp.Expr], dialect: str | None) -> None:
    """
    Refuse a tree, by its nodes, that would take long to look at, or of an unfamiliar dialect.

    Raises:
        UnfaithfulError: If there are more than `MAX_PARTS` nodes, or outer joins, aggregates and
            columns of the dialect have no NULLs as those of others do.
    """
    if dialect in UNFAMILIAR:
        raise UnfaithfulError(f"queries of {dialect} are not looked into")
    if len(nodes) > MAX_PARTS:
        raise UnfaithfulError(f"more than {MAX_PARTS} parts are too many to try out")


def check_read(read: Names) -> None:
    """
    Refuse a query whose meaning is not known, or that would take long to plan.

    Raises:
        UnfaithfulError: If it could not be read, or has more than `MAX_SOURCES` tables.
    """
    if len(read.scans) > MAX_SOURCES:
        raise UnfaithfulError(f"more than {MAX_SOURCES} tables are too many to try out")
    if read.unread:
        raise UnfaithfulError(f"its meaning is not certain: {read.unread}")


# What dialects share with SQLite.

_SHARED = (
    exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered,
    exp.Limit, exp.Fetch, exp.LimitOptions, exp.Offset, exp.Distinct, exp.SetOperation,
    exp.Subquery, exp.CTE,
    exp.With, exp.Column, exp.Identifier, exp.Table, exp.TableAlias, exp.Alias, exp.Literal,
    exp.Null, exp.Boolean, exp.Star, exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ,
    exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike,
    exp.Exists, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Add, exp.Sub, exp.Mul, exp.Div,
    exp.Mod, exp.Neg, exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Lower, exp.Upper,
    exp.Length, exp.Abs, exp.Tuple, exp.DPipe, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Cast,
    exp.DataType, exp.DataTypeParam, exp.Window, exp.WindowSpec, exp.RowNumber,
    exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile, exp.Lag, exp.Lead,
    exp.FirstValue, exp.LastValue, exp.NthValue, exp.Filter, exp.Trim, exp.CurrentDate,
    exp.CurrentTimestamp, exp.GroupConcat, exp.Escape,
)  # fmt: skip
_COUNTED_SPACES = frozenset({"sqlite", "postgres", "duckdb"})
"""Dialects in which spaces at the end make texts differ."""
# Arguments of these that are no trees, or are trees of shared types, and change the meaning.
_UNSHARED_ARGS: Final[tuple[tuple[type[exp.Expr], str, str], ...]] = (
    (exp.Select, "qualify", "QUALIFY"),
    (exp.Trim, "expression", "TRIM of characters"),
    (exp.Trim, "position", "TRIM with a side"),
    (exp.Trim, "collation", "TRIM with a collation"),
    (exp.Between, "symmetric", "BETWEEN SYMMETRIC"),
)
_EMPTY_IS_NULL = "oracle"
_WHOLE_AVERAGES = frozenset({"tsql", "fabric"})


def check_shared(nodes: list[exp.Expr], dialect: str) -> None:
    """
    Refuse what SQLite does otherwise than a dialect.

    Args:
        nodes: The nodes of a query that can be read as its dialect reads it.
        dialect: The dialect.

    Raises:
        UnfaithfulError: If there is any such thing among *nodes*.
    """
    _check_known(nodes, dialect)
    _check_kinds(nodes, dialect)


def _check_known(nodes: list[exp.Expr], dialect: str) -> None:
    for node in nodes:
        if not isinstance(node, _SHARED) and not (
            isinstance(node, exp.Anonymous) and node.meta.get(COMPUTED)
        ):
            raise UnfaithfulError(f"SQLite may not understand {_called(node)} as {dialect} does")
        for kind, name, what in _UNSHARED_ARGS:
            if isinstance(node, kind) and node.args.get(name):
                raise UnfaithfulError(f"SQLite has no {what}")
        if isinstance(node, exp.Limit | exp.Offset) and not _is_natural(node.expression):
            raise UnfaithfulError("only SQLite itself is known to take such a LIMIT")
        if isinstance(node, exp.Escape) and not _escapes(node):
            raise UnfaithfulError("ESCAPE of what is not written out")
        if isinstance(node, exp.Avg) and dialect in _WHOLE_AVERAGES:
            raise UnfaithfulError("an average of whole numbers may be rounded")
        _check_text(node, dialect)


def _escapes(node: exp.Escape) -> bool:
    """Say whether a sign escapes one behind it wherever a pattern has it."""
    like, sign = node.this, node.expression
    pattern = like.expression if isinstance(like, exp.Like) else None
    if not is_text(sign) or pattern is None or not is_text(pattern):
        return False
    plain = len(sign.name) == 1 and sign.name.isascii() and sign.name not in "%_\\"
    return plain and not re.sub(re.escape(sign.name) + ".", "", pattern.name).endswith(sign.name)


def _is_natural(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal()


def _check_text(node: exp.Expr, dialect: str) -> None:
    if dialect == _EMPTY_IS_NULL and is_text(node) and not node.name:
        raise UnfaithfulError("the empty string is NULL in oracle")
    if dialect == _EMPTY_IS_NULL and isinstance(node, exp.DPipe):
        raise UnfaithfulError("NULL is the empty string in oracle")
    spaced = is_text(node) and node.name.rstrip("%_").endswith(" ")
    if spaced and dialect not in _COUNTED_SPACES and not _is_shown(node):
        raise UnfaithfulError("spaces at the end of strings may not count")
    if is_text(node) and "\\" in node.name:
        raise UnfaithfulError("SQLite does not escape by backslash")
    if is_text(node) and not node.name.isascii():
        raise UnfaithfulError("SQLite knows the case of ASCII letters only")


def _is_shown(text: exp.Expr) -> bool:
    """Say whether a text is a part of what the whole query shows, and is compared with nothing."""
    select = text.parent_select
    if select is None or select.parent is not None or text.find_ancestor(*_COMPARING) is not None:
        return False
    grouped = select.args.get("group") and text.find_ancestor(exp.AggFunc) is None
    return not (grouped or select.args.get("distinct") or select.args.get("order"))


_COMPARING = (exp.Predicate, exp.Where, exp.Join, exp.Having, exp.Case)
_SORTED = (exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.Ordered, exp.Min, exp.Max)
_COMPUTED = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Sum, exp.Avg, exp.Abs)
_TEXTUAL = (exp.Like, exp.ILike, exp.Lower, exp.Upper, exp.Length, exp.DPipe)
_DATE = re.compile(r"\d{4}-\d\d-\d\d\Z")


def _check_kinds(nodes: list[exp.Expr], dialect: str) -> None:
    """Refuse what databases convert differently or not at all: text used as a number and back."""
    for node in nodes:
        operands = [n for n in node.iter_expressions() if not isinstance(n, exp.Null)]
        held = set(map(kind_of, operands))
        if "enum" in held:
            if isinstance(node, _SORTED):
                raise UnfaithfulError("SQLite does not know the order of an enumeration")
            held = held - {"enum"} | {"text"}
        mixed = False
        if isinstance(node, COMPARED):
            if "time" in held and any(is_text(n) and not _DATE.match(n.name) for n in operands):
                raise UnfaithfulError("SQLite has no dates to compare with")
            mixed = bool(held & {"text", "time"} and held & NUMBERS)
        elif isinstance(node, _COMPUTED):
            counts = isinstance(node, exp.Sum) and dialect == "duckdb"
            mixed = not held.isdisjoint({"text", "time", *(() if counts else ("boolean",))})
        elif isinstance(node, _TEXTUAL):
            mixed = not held.isdisjoint({*NUMBERS, "time", "boolean"})
        if mixed:
            raise UnfaithfulError(f"{dialect} may convert between text and numbers otherwise")


def check_together(nodes: Iterable[exp.Expr], dialect: str) -> None:
    """
    Refuse what is brought to one type and may be of several.

    Raises:
        UnfaithfulError: If there is any such thing among *nodes*.
    """
    for node in nodes:
        if any(map(_is_mixed, together(node))):
            raise UnfaithfulError(f"{dialect} may convert between text and numbers otherwise")


def _is_mixed(parts: Sequence[exp.Expr]) -> bool:
    """Say whether what is brought to one type may be of several, as a text that is written out."""
    found: set[str] = set()
    for one in parts:
        part = one.unalias()
        if is_text(part):
            found.add(next((kind for kind, form in _FORMS if form.fullmatch(part.name)), "text"))
        else:
            kind = kind_of(part)
            found.add(CLASSES.get(kind, kind and "text"))
    texts = found & {"text", "numeral"}
    if found & {"number", "boolean"}:
        return bool(texts) or not found.isdisjoint({"time", "day"})
    return bool(texts) and ("time" in found or ("numeral" in found and "" in found))


_FORMS: Final = (("day", _DATE), ("numeral", re.compile(r"\s*[-+]?[\d.]+(?:e[-+]?\d+)?\s*")))
"""What a text that is written out looks like."""
