"""Rules for dates and texts."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

import attrs

from scorekit._sql.meaning.tree import (
    NULL,
    And,
    Cast,
    Column,
    Comparison,
    Function,
    Like,
    Literal,
    Node,
    Or,
    Scalar,
    conjunction,
    conjuncts,
    integer,
)
from scorekit._sql.prove.rule import View, rule
from scorekit._sql.prove.rules.parts import ONE
from scorekit._sql.prove.scalars import against_number
from scorekit._sql.prove.texts import (
    CUTS,
    FOLDED,
    ISO_MONTH,
    ISO_START,
    compared_part,
    dated,
    days_of,
    holds_dates,
    is_text,
    looked_for,
    month_of,
    part_of_date,
    text_of,
    within,
)


@rule("part of a date cut out", Function)
def cut_out_dates(node: Function, view: View) -> Node | None:
    """What SQLite writes of an ISO text is a part of it."""
    if view.dialect != "sqlite" or node.name not in ("date", "timetostr"):
        return None
    # equivalent: without operands it is of the time of day
    column = dated(node.operands[0], view) if node.operands else None
    written = "%Y-%m-%d" if len(node.operands) == 1 else text_of(node.operands[-1])
    places = next((one for one, its in CUTS.items() if its == written), None)
    if column is None or places is None or not holds_dates(column, view):
        return None
    # equivalent: the first ten letters of a day are the day
    if written == "%Y-%m-%d" and not view.declared(column).limits.timed:
        return column
    return Function("substring", (column, *map(integer, places)))


@rule("part of a date compared", Comparison)
def ranges_for_parts(node: Comparison, view: View) -> Node | None:
    """A date is of a year, or of a month of it, just where it is none before its first day and
    before the first one after it; months of any year come in one order as texts and as numbers.
    """
    for one, other in ((node.left, node.right), (node.right, node.left)):
        column, written, kind = part_of_date(one, view) or (None, "", "")
        text = compared_part(other, written, kind) if column is not None else ""
        days = days_of(written, text)
        if column is None or days is None or not holds_dates(column, view, in_text=kind == "text"):
            continue
        if written.startswith("%Y"):
            return within(node.operator, column, days, swapped=one is node.right)
        name = "month" if written == "%m" else "day"
        both = Function(name, (column,)), integer(int(text))
        left, right = both if one is node.left else both[::-1]
        return attrs.evolve(node, left=left, right=right)
    return None


@rule("month of a year compared", And)
def ranges_for_months(node: And, _: View) -> Node | None:
    """The days of a month and of a year are those of the month of that year."""
    parts = conjuncts(conjunction(node.parts))
    for part in parts:
        column, month = month_of(part) or (None, "")
        for since in parts if column is not None else ():  # equivalent: for type checkers
            # equivalent: only a comparison has a left side
            first = text_of(since.left)[:4] if isinstance(since, Comparison) else ""
            year, days = days_of("%Y", first), days_of("%Y-%m", f"{first}-{month}")
            # equivalent: for type checkers
            if column is None or year is None or days is None:
                continue
            both = conjuncts(within("=", column, year))
            if {*both} <= {*parts}:
                # equivalent: what follows may be said again
                rest = (one for one in parts if one not in (part, *both))
                return conjunction((*rest, within("=", column, days)))
    return None


@rule("quarter of a year compared", And)
def ranges_for_quarters(node: And, view: View) -> Node | None:
    """The days of a quarter and of a year are those of three months of that year."""
    parts = conjuncts(conjunction(node.parts))
    for part in parts:
        sign, value, n = against_number(part) or ("", NULL, 0)
        named = isinstance(value, Function) and value.form.lower() == "this=quarter"
        column = dated(value.operands[0], view) if isinstance(value, Function) and named else None
        if column is None or sign != "=" or not 1 <= n <= len(_QUARTERS):
            continue
        for since in parts:
            first = text_of(since.left)[:4] if isinstance(since, Comparison) else ""
            year = days_of("%Y", first)
            if year is None or not {*conjuncts(within("=", column, year))} <= {*parts}:
                continue
            begins = days_of("%Y-%m", f"{first}-{_QUARTERS[n - 1][0]}")
            ends = days_of("%Y-%m", f"{first}-{_QUARTERS[n - 1][1]}")
            if begins is None or ends is None:
                continue
            both = conjuncts(within("=", column, year))
            rest = (c for c in parts if c != part and c not in both)
            return conjunction((*rest, within("=", column, (begins[0], ends[1]))))
    return None


_QUARTERS: Final = (("01", "03"), ("04", "06"), ("07", "09"), ("10", "12"))


@rule("day some days from another computed", Function)
def computed_days(node: Function, view: View) -> Node | None:
    """What SQLite computes of a day that is written out, and of days to add, is a day."""
    is_date = node.name == "date" or node.form == "this=date"
    if view.dialect != "sqlite" or not is_date or not all(map(text_of, node.operands)):
        return None
    day = days_of("%Y-%m-%d", text_of(node.operands[0])) if node.operands else None
    if day is None:
        return None
    moved = dt.date.fromisoformat(text_of(day[0]))
    for one in node.operands[1:]:
        n_days = _DAYS_LATER.fullmatch(text_of(one))
        if n_days is None:
            return None
        try:
            moved += dt.timedelta(int(n_days[1]))
        except OverflowError:
            return None
    return Literal("text", moved.isoformat())


_DAYS_LATER: Final = re.compile(r"([+-]?\d{1,5}) days?", re.ASCII)


@rule("LIKE of a date compared", Like)
def ranges_for_patterns(node: Like, view: View) -> Node | None:
    """A pattern of the beginning, or of the middle, of ISO dates asks for that part of them."""
    pattern = text_of(node.pattern)
    part = ISO_START.match(pattern) or ISO_MONTH.match(pattern)
    if part is None or node.escape is not None or node.operator != "like":
        return None
    first = ONE if pattern.startswith(part[1]) else integer(6)
    cut = Function("substring", (node.operand, first, integer(len(part[1]))))
    return ranges_for_parts.rewrite(Comparison("=", cut, Literal("text", part[1])), view)


@rule("last day of a range", Comparison, shown=False)
def half_open_days(node: Comparison, view: View) -> Node | None:
    """No date lies between a day and the next."""
    column, last = (node.left, node.right) if node.operator == "<=" else (node.right, node.left)
    if node.operator not in ("<", "<=") or not isinstance(column, Column):
        return None
    if isinstance(last, Cast) and last.kind == "time":
        last = last.operand
    days, declared = days_of("%Y-%m-%d", text_of(last)), view.declared(column)
    timed = declared.kind == "time" and declared.limits.timed
    if days is None or timed or dated(column, view) is None or not holds_dates(column, view):
        return None
    if node.operator == "<=":
        return Comparison("<", column, days[1])
    return Comparison("<=", days[1], column)


@rule("test of a text as LIKE", Comparison)
def patterns_for_tests(node: Comparison, view: View) -> Node | None:
    """Whether a text holds, begins with or is another one LIKE says as well, if it tells upper
    from lower case as the test does: in SQLite never, for ASCII letters.
    """
    value, text = looked_for(node) or (NULL, "")
    before = after = folded = ""
    whole = value
    while isinstance(whole, Function) and whole.operands:
        this, *places = whole.operands
        if whole.name in FOLDED:
            if view.dialect != "sqlite" or folded:
                break
            folded = whole.name
        elif whole.name == "strposition" and whole is value:
            before = after = "%"
        elif whole.name == "substring" and not after and places == [ONE, integer(len(text))]:
            after = "%"
        else:
            return None
        whole = this
    if not (folded or after) or not text.isascii() or not text or {*"%_\\"} & {*text}:
        return None
    if view.dialect == "sqlite":
        read = FOLDED[folded] if folded else str.swapcase
        if read(text) != text:
            return None
        text = text.lower()
    pattern = Literal("text", f"{before}{text}{after}")
    return Like("like", whole, pattern) if is_text(whole, view) else None


@rule("case of a text dropped", Function, Like, shown=False)
def without_case(node: Function | Like, view: View) -> Node | None:
    """A text without capital letters is its own in lower case, and LIKE in SQLite sees no case."""
    if isinstance(node, Function):
        text = text_of(node.operands[0]) if node.name in FOLDED else ""
        return Literal("text", FOLDED[node.name](text)) if text and text.isascii() else None
    this = node.operand
    # equivalent: no other node has such a name
    if view.dialect != "sqlite" or node.operator != "like" or not isinstance(this, Function):
        return None
    folded = this.name in FOLDED and is_text(this.operands[0], view)
    return attrs.evolve(node, operand=this.operands[0]) if folded else None


@rule("ILIKE to LIKE", Like)
def like_for_ilike(node: Like, view: View) -> Node | None:
    """ILIKE compares a text and a pattern in lower case."""
    pattern = text_of(node.pattern)
    if node.operator != "ilike" or node.escape is not None or view.dialect == "sqlite":
        return None
    if not pattern.isascii() or not pattern or "\\" in pattern or not is_text(node.operand, view):
        return None
    folded = node.operand if _is_lower(node.operand) else Function("lower", (node.operand,))
    return Like("like", folded, Literal("text", pattern.lower()))


def _is_lower(value: Node) -> bool:
    return isinstance(value, Function) and value.name == "lower"


@rule("CONCAT to texts one after the other", Function)
def pipes_for_concat(node: Function, view: View) -> Node | None:
    """CONCAT of PostgreSQL joins texts, and takes NULL for an empty one."""
    if view.dialect != "postgres" or node.name != "concat" or len(node.operands) < 2:  # noqa: PLR2004 - to be joined
        return None
    parts: list[Scalar] = []
    for one in node.operands:
        if not (isinstance(one, Literal) and one.kind == "text") and not is_text(one, view):
            return None  # spaces that fill a text are joined, too
        filled = Function("coalesce", (one, Literal("text", "")))
        parts.append(one if view.never_null(one) else filled)
    joined, *others = parts
    for one in others:
        joined = Function("dpipe", (joined, one), "safe=True")
    return joined


@rule("LIKE without a wildcard", Like)
def equation_for_like(node: Like, view: View) -> Node | None:
    """A text that is like a pattern without wildcards is the pattern, where case matters."""
    pattern = text_of(node.pattern)
    plain = node.operator == "like" and node.escape is None and not {*"%_\\"} & {*pattern}
    if view.dialect == "sqlite" or not (plain and pattern and is_text(node.operand, view)):
        return None
    return Comparison("=", node.operand, node.pattern)


@rule("LIKE of a letter taken apart", Like)
def cases_of_a_letter(node: Like, view: View) -> Node | None:
    """In SQLite what begins with a letter by LIKE begins with it in upper or in lower case."""
    pattern = text_of(node.pattern)
    letter = pattern[:1]
    if view.dialect != "sqlite" or node.operator != "like" or node.escape is not None:
        return None
    if pattern != f"{letter}%" or not (letter.isascii() and letter.isalpha()):
        return None
    if not is_text(node.operand, view):
        return None
    first = Function("substring", (node.operand, ONE, ONE))
    texts = [Literal("text", one) for one in (letter.lower(), letter.upper())]
    return Or(tuple(Comparison("=", first, one) for one in texts))
