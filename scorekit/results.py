"""Whether the rows that two executed queries returned are the same: `result_accuracy`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from inspect import Parameter, signature
from itertools import permutations
from operator import itemgetter
from typing import (
    Any,
    Final,
    Literal,
    ParamSpec,
    Self,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    cast,
    get_args,
    get_type_hints,
)

import attrs

from scorekit._core.checks import (
    check_choice,
    check_flag,
    check_instance,
    check_items,
    check_number,
    check_text,
    is_ordered,
    store,
)
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._core.rows import (
    NAN,
    ResultRow,
    Rows,
    first_apart,
    n_alike,
    n_alike_columns,
    plain,
    same_bag,
    same_in_some_column_order,
    same_sequence,
    same_set,
)
from scorekit._sql.door import Keys, frozen_keys
from scorekit.errors import LONG_INT_BITS, InputError, refuse, shown
from scorekit.records import MetricError, MetricResult, Record

Rule: TypeAlias = Literal[
    "scorekit",
    "row-f1",
    "column-f1",
    "subset",
    "spider",
    "bird",
    "soft-f1",
    "spider2",
    "defog",
    "ibm-subset",
]
RULES: Final = get_args(Rule)

TOLERANCE: Final = 1e-9

RowOrder: TypeAlias = Literal["auto", "expected", "ignored"]
Functions: TypeAlias = Literal["any", "built_in"]

_CHOICES: Final = {
    "rule": RULES,
    "row_order": get_args(RowOrder),
    "semantics": ("bag", "set"),
    "column_order": ("significant", "ignored"),
    "contested": ("judge", "refuted"),
    "functions": ("any", "built_in"),
}
_ORDER_OF: Final[dict[str | None, RowOrder]] = {"spider": "expected", "bird": "ignored"}
_UNORDERED: Final = ("row-f1", "subset")
"""Rules on bags of rows."""


@attrs.frozen(kw_only=True)
class SqlOptions(Record):
    """
    When two SQL results are the same: one set of options for every function that compares SQL.

    Each function takes it as *options*, and each of its fields by keyword as well. A field that is
    None is not given, and then has the value that is named last below.

    Raises:
        InputError: If a choice is not among those below, *tolerance* is out of range, or
            *row_order* is ``"expected"`` where *semantics* or *rule* know no order.
        TypeError: If a field has the wrong type.

    Examples:
        >>> spider = SqlOptions(rule="spider", tolerance=0.01)
        >>> spider.settled.row_order
        'expected'
        >>> result_accuracy([(1,), (2,)], [(2,), (1,)], options=spider).score
        1.0
        >>> SqlOptions(row_order="first")
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: row_order must be one of 'auto', 'expected', 'ignored', got 'first'
    """  # noqa: E501 - a message is one line

    rule: Rule | None = None
    """When executed rows are the same, as in `result_accuracy`; ``"scorekit"``."""
    row_order: RowOrder | None = None
    """``"auto"``: rows must come in the same order where both queries end in an ORDER BY.
    ``"expected"``: where the expected query (the second of two) does.  ``"ignored"``: nowhere.
    The rule ``"spider"`` means ``"expected"``, ``"bird"`` means ``"ignored"``; else ``"auto"``."""
    semantics: Literal["bag", "set"] | None = None
    """``"set"`` where repeated rows do not matter; ``"bag"``."""
    column_order: Literal["significant", "ignored"] | None = None
    """``"ignored"`` where columns may come in any order; ``"significant"``."""
    tolerance: float | None = None
    """By how much fractions may differ (``>= 0``), relative to the larger of 1 and both; 1e-9."""
    keys: FrozenMapping[str, tuple[tuple[str, ...], ...]] | None = attrs.field(
        default=None, converter=frozen_keys
    )
    """Keys by table, beside those of the schema. Each is a column, a tuple of columns, or a list
    of tuples for several keys.  Rows differ in it, and it is never NULL."""
    locate: bool | None = None
    """Whether to look for the clauses in which a refuted query is wrong; False."""
    contested: Literal["judge", "refuted"] | None = None
    """What decides where a judge says equivalent against a counterexample under the schema: the
    ``"judge"``, or ``"refuted"`` for the counterexample; ``"judge"``."""
    audit: bool | None = None
    """Whether a suite looks for errors of its expected queries, as `query_audit` does; False."""
    functions: Functions | None = None
    """Which functions a query may call: ``"any"``, as one that is not known may be the user's, or
    ``"built_in"``, by which a function that the database of *dialect* does not have is an error
    of the query; ``"any"``."""

    def __attrs_post_init__(self) -> None:
        """Check each option under its name."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), choices)
        if self.tolerance is not None:
            store(self, "tolerance", check_number("tolerance", self.tolerance, 0.0))
        for name in ("locate", "audit"):
            if getattr(self, name) is not None:
                store(self, name, check_flag(name, getattr(self, name)))
        if self.row_order == "expected" and self.knows_no_order:
            refuse("row_order", f"'auto' or 'ignored' where {self.knows_no_order}", "expected")

    @property
    def knows_no_order(self) -> str:
        """Say which option leaves no order of rows to compare; empty for none."""
        if self.semantics == "set":
            return "semantics is 'set'"
        return f"rule is '{self.rule}'" if self.rule in _UNORDERED else ""

    @property
    def settled(self) -> SqlOptions:
        """The same, with the usual value of each option that is not given."""
        order = "auto" if self.knows_no_order else _ORDER_OF.get(self.rule, "auto")
        usual = SqlOptions(
            rule="scorekit",
            row_order=order,
            semantics="bag",
            column_order="significant",
            tolerance=TOLERANCE,
            locate=False,
            contested="judge",
            audit=False,
            functions="any",
        )
        return usual.with_own(self)

    def with_own(self, own: SqlOptions) -> SqlOptions:
        """Return these options, but for those that *own* gives."""
        return attrs.evolve(self, **own.given)

    @property
    def given(self) -> dict[str, Any]:
        """The options that are given, by name."""
        found = {name: getattr(self, name) for name in attrs.fields_dict(SqlOptions)}
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def of(cls, options: object, fields: Mapping[str, Any]) -> Self:
        """
        Take the record and the keywords of a function; refuse what is given in both.

        Raises:
            InputError: If an option is given twice.
            TypeError: If one is unknown, or *options* no `SqlOptions`.
        """
        record = cls() if options is None else check_instance("options", options, cls)
        names = attrs.fields_dict(cls)
        for name, value in fields.items():
            if name not in names:
                raise TypeError(f"{name!r} is no parameter, nor an option: {', '.join(names)}")
            if value is not None and getattr(record, name) is not None:
                refuse(name, f"given once, as {name}= or in options=", value)
        return attrs.evolve(record, **{k: v for k, v in fields.items() if v is not None})


class OptionFields(TypedDict, total=False):
    """The fields of `SqlOptions`, each a keyword of every function that takes one."""

    rule: Rule | None
    row_order: RowOrder | None
    semantics: Literal["bag", "set"] | None
    column_order: Literal["significant", "ignored"] | None
    tolerance: float | None
    keys: Keys | None
    locate: bool | None
    contested: Literal["judge", "refuted"] | None
    audit: bool | None
    functions: Functions | None


P = ParamSpec("P")
T = TypeVar("T")


def takes_options(function: Callable[P, T]) -> Callable[P, T]:
    """Show in the signature of a function the fields of `SqlOptions` that it takes."""
    shown_as = signature(function)
    own = {name: one for name, one in shown_as.parameters.items() if name != "fields"}
    hints = get_type_hints(OptionFields)
    for name in hints:
        own[name] = Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=None,
            annotation=OptionFields.__annotations__[name].__forward_arg__,
        )
    plain: Any = function
    plain.__signature__ = shown_as.replace(parameters=list(own.values()))
    del plain.__annotations__["fields"]
    plain.__annotations__ |= hints
    return function


Results: TypeAlias = Iterable[Iterable[object]] | Mapping[str, Iterable[Iterable[object]]]
"""The rows that a query returned, or those on each of several databases, by name."""


@attrs.frozen(kw_only=True, repr=False)
class ResultAccuracy(MetricResult):
    """Result of `result_accuracy`."""

    score: float
    """1.0 if the results are the same by the *rule*, else 0.0, or an F1 between them; over
    several databases the lowest of the scores."""
    reason: str
    """What the first difference is, or that there is none."""
    rule: Rule
    ordered: bool
    n_generated: int
    """Rows that the generated query returned, over all databases."""
    n_expected: int
    """Rows that the expected query returned, over all databases."""
    n_databases: int = 1
    error: MetricError | None = None
    """Why there are no rows to compare, in a report on SQL cases."""


@takes_options
def result_accuracy(
    generated_rows: Results,
    expected_rows: Results,
    *,
    ordered: bool = False,
    also_accepted: Iterable[Results] = (),
    options: SqlOptions | None = None,
    **fields: Unpack[OptionFields],
) -> ResultAccuracy:
    """
    Score whether two executed queries returned the same rows: execution accuracy.

    By the rule ``"scorekit"`` results are the same if they have the same number of columns and
    hold the same rows equally often, in the same order if *ordered*. Numbers are compared by
    value, whatever their type (``1 == 1.0 == Decimal(1) == True``). Two numbers, at least one of
    them a fraction, are equal if they differ by at most *tolerance* times the larger of 1 and
    both. NULL equals only NULL, and NaN only NaN. Text is never equal to a number. Arrays are
    equal if their elements are, in order, and structs if their fields are. In rows of NumPy and
    pandas (``frame.values``, ``frame.itertuples()``) NaN is NULL, since their numbers have no
    other.

    Args:
        generated_rows: Rows of the generated query, as a database driver returns them: lists or
            tuples of cells. A cell hashes, or is a list, a set, a dict or an array of such. Or a
            mapping from the name of a database to its rows.
        expected_rows: Rows of the expected query, on the same databases.
        ordered: Whether the order of rows counts: there is no query here that could say so.
        also_accepted: Further right results, each in the form of *expected_rows*. The best of the
            scores counts.
        options: When rows are the same; each field of `SqlOptions` is a keyword too. *rule* is
            ``"scorekit"`` as above, or one of those in the notes. *semantics*, *column_order* and
            *tolerance* are for ``"scorekit"``. What is about queries changes nothing here.

    Returns:
        A frozen `ResultAccuracy`. Read *score*, *reason* and *error* first.

    Raises:
        InputError: If a row of a result is not as wide as its first one, a choice is not among
            those above, or *tolerance* is out of range. Also if *ordered* is combined with a set,
            with a rule on bags of rows or with ``row_order="ignored"``, an option is given twice,
            or the databases differ. Also if so many columns are alike that none of 2,000 tried
            orders decides.
        TypeError: If an argument or a row has the wrong type, or a cell does not hash.

    Examples:
        >>> result = result_accuracy([("a", 1), ("b", 2)], [("b", 2.0), ("a", 1.0)])
        >>> result.score, result.reason
        (1.0, 'the same rows')
        >>> result_accuracy([(1,), (1,)], [(1,)], rule="bird").score
        1.0
        >>> result_accuracy([(1,), (1,)], [(1,)]).reason
        '2 rows instead of 1'
        >>> result_accuracy([("a", 1), ("b", 3)], [("a", 1), ("b", 2)], rule="soft-f1").score
        0.75
        >>> on = {"empty": [], "small": [(1,), (2,)]}
        >>> result_accuracy(on, {"empty": [], "small": [(1,)]}).reason
        "wrong on 1 of 2 databases, first 'small': 2 rows instead of 1"
        >>> result_accuracy([(2,)], [(1,)], also_accepted=[[(2,)], [(3,)]]).score
        1.0
        >>> result_accuracy([1], [(1,)])
        Traceback (most recent call last):
        ...
        TypeError: generated_rows[0] must be a sequence of cells, got 1

    Notes:
        Three more rules compare cells in the same way and require less:

        - ``"row-f1"``: ``2 m / (n_generated + n_expected)``, where ``m`` rows of one result have
          an equal row of their own in the other.
        - ``"column-f1"``: the same of columns, wherever they stand; a column equals another if it
          holds the same cells equally often, or in the same order if *ordered*.
        - ``"subset"``: the generated rows hold each expected row at least as often, and may hold
          more.  Where no row is expected, only no row is right.

        If both sides are mappings from database to rows, the score is the lowest over the
        databases: right only if right on all of them, which is test-suite accuracy.

        The rules of benchmarks are for reproducing published figures, with their flaws:

        - ``"spider"``: as a bag, or in order if *ordered*, with the columns in any one order.
          Exact, without a tolerance.
        - ``"bird"``: ``set(generated) == set(expected)``, so that repeated rows and order are
          lost.  Exact.
        - ``"soft-f1"``: BIRD's Soft F1.  Repeated rows are dropped and rows paired by their place,
          whatever *ordered* says; a cell counts as found if it stands anywhere in the other row.
        - ``"spider2"``: each expected column is looked for separately among the generated ones. So
          values may belong to other rows, and further columns do not matter. NULL counts as 0, and
          fractions are equal within 0.01. Cells of a column are sorted unless *ordered*.
        - ``"defog"``: repeated rows dropped, sorted by all columns unless *ordered*; NULL and NaN
          count as -99999.
        - ``"ibm-subset"``: the subset non-empty execution accuracy of text2sql-eval-toolkit. Both
          results need the same number of rows, at least one. Each row of the narrower result must
          lie within a row of the wider one. Cells are compared as text, and columns sorted one by
          one unless *ordered*.

    References:
        Spider: Zhong et al., arXiv:2010.02840, and the code of test-suite-sql-eval.  BIRD: Li et
        al., arXiv:2305.03111; Soft F1 as in evaluation_f1.py of bird-bench/mini_dev.  Spider 2:
        Lei et al., arXiv:2411.07763, and its evaluation suite.  defog: the code of sql-eval,
        whose columns are sorted by name first, which rows do not have.  ``"ibm-subset"``: the
        code of IBM/text2sql-eval-toolkit.
    """
    given = SqlOptions.of(options, fields)
    settled: Any = given.settled  # each is given
    rule, semantics, margin = settled.rule, settled.semantics, settled.tolerance
    in_order = check_flag("ordered", ordered)
    why = given.knows_no_order or ("row_order is 'ignored'" * (given.row_order == "ignored"))
    if in_order and why:
        refuse("ordered", f"False where {why}", ordered)
    exact = rule in ("bird", "soft-f1")
    generated = checked_results("generated_rows", generated_rows, exact=exact)
    expected = checked_results("expected_rows", expected_rows, exact=exact)
    check_databases(generated, expected)
    others = check_items("also_accepted", also_accepted, what="results", empty=True)
    accepted = [expected]
    for i, rows in enumerate(others):
        accepted.append(checked_results(f"also_accepted[{i}]", rows, exact=exact))
        check_databases(generated, accepted[-1], f"also_accepted[{i}]")

    def score(generated: Rows, expected: Rows) -> tuple[float, str]:
        if rule == "scorekit":
            reason = _difference(
                generated,
                expected,
                semantics=semantics,
                margin=margin,
                in_order=in_order,
                any_column=settled.column_order == "ignored",
            )
            return float(not reason), reason
        if rule in _GRADED:
            return _graded(rule, generated, expected, margin, in_order=in_order)
        same = _FIELD[rule](generated, expected, in_order)
        return float(same), "" if same else f"not the same by the rule of {rule}"

    lowest, reason, expected = max(
        ((*_lowest(generated, rows, score), rows) for rows in accepted), key=itemgetter(0)
    )
    return ResultAccuracy(
        score=lowest,
        reason=reason or "the same rows",
        rule=rule,
        ordered=in_order,
        n_generated=sum(map(len, generated.values())),
        n_expected=sum(map(len, expected.values())),
        n_databases=len(expected),
    )


def _lowest(
    generated: Mapping[str, Rows],
    expected: Mapping[str, Rows],
    score: Callable[[Rows, Rows], tuple[float, str]],
) -> tuple[float, str]:
    """Return the lowest of the scores on several databases, and its reason."""
    found = {name: score(generated[name], rows) for name, rows in expected.items()}
    wrong = [name for name, (own, _) in found.items() if own < 1.0]
    worst = min(found, key=lambda name: found[name][0])
    lowest, reason = found[worst]
    if wrong and worst != _ONLY:
        first = f"first {shown(wrong[0])}: {found[wrong[0]][1]}"
        reason = f"wrong on {len(wrong)} of {len(found)} databases, {first}"
    return lowest, reason


def check_databases(
    generated: Mapping[str, Rows], expected: Mapping[str, Rows], name: str = "expected_rows"
) -> None:
    """Refuse two results of which one lacks a database of the other."""
    sides = {"generated_rows": generated, name: expected}
    for (side, own), (other, others) in permutations(sides.items()):
        if _ONLY in own and _ONLY not in others:
            refuse(side, f"a mapping from database to rows, as {other} is", own[_ONLY])
    for (side, own), (other, others) in permutations(sides.items()):
        lacking = [database for database in others if database not in own]
        if lacking:
            raise InputError(
                f"{side} must have the databases of {other}, got none of {shown(lacking[0])}"
            )


_PlainCell: TypeAlias = bool | int | str | float | None
_Field: TypeAlias = bool | int | str | float | tuple[_PlainCell, ...] | None
_CellItem: TypeAlias = bool | int | str | float | tuple[_Field, ...] | None
Cell: TypeAlias = bool | int | str | float | tuple[_CellItem, ...] | None
StoredRows: TypeAlias = tuple[tuple[Cell, ...], ...]
_STORED: Final = frozenset({int, float, str, bool, type(None)})
_LARGE: Final = 2**LONG_INT_BITS  # an integer beyond it may have no decimal form


def stored_results(name: str, value: object) -> StoredRows | FrozenMapping[str, StoredRows] | None:
    """Return rows as a record keeps them: what JSON has no cell for, as its kind and its text."""
    if value is None:
        return None
    stored = {
        database: tuple(
            cast("tuple[Cell, ...]", row)
            if _STORED.issuperset(map(type, row)) and _is_small(row)
            else tuple(map(_stored, row))
            for row in rows
        )
        for database, rows in checked_results(name, value).items()
    }
    return FrozenMapping(stored) if is_mapping(value) else stored[_ONLY]


def _is_small(row: ResultRow) -> bool:
    return all(-_LARGE < cell < _LARGE for cell in row if isinstance(cell, int | float))


def by_database(rows: StoredRows | FrozenMapping[str, StoredRows]) -> Mapping[str, StoredRows]:
    """Return stored rows under the name of their database."""
    return {_ONLY: rows} if isinstance(rows, tuple) else rows


_DEPTH: Final = 3
"""Levels of arrays and structs in a cell that a record keeps."""


def _depth(cell: object) -> int:
    is_nested = isinstance(cell, tuple)
    return 1 + max(map(_depth, cast("tuple[object, ...]", cell)), default=0) if is_nested else 0


def _stored(cell: Hashable) -> Cell:  # noqa: PLR0911 - one return per kind of cell
    if cell is NAN:
        return "float", "nan"
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return int(cell) if _is_small((cell,)) else ("int", hex(cell))
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, float):
        return float(cell) if math.isfinite(cell) else ("float", str(float(cell)))
    if isinstance(cell, bytes):
        return "bytes", cell.hex()
    if isinstance(cell, datetime):
        with suppress(OverflowError):  # the first and the last day of the calendar
            cell = cell if cell.tzinfo is None else cell.astimezone(UTC)
        return "datetime", cell.isoformat()
    if isinstance(cell, frozenset):
        return "set", repr(sorted(map(repr, cast("frozenset[Hashable]", cell))))
    if isinstance(cell, tuple):  # an array or a record, or stored already
        parts = tuple(map(_stored, cast("tuple[Hashable, ...]", cell)))
        return cast("Cell", parts if _depth(parts) <= _DEPTH else ("tuple", repr(parts)))
    return type(cell).__name__, str(cell)


_ONLY: Final = ""
"""Stands for the name of the database where there is one only."""


def checked_results(
    name: str, value: object, *, exact: bool = False
) -> dict[str, list[ResultRow]]:
    """Return the rows on each database, cells in the form that they are compared in."""
    if not is_mapping(value):
        return {_ONLY: _checked(name, value, exact=exact)}
    if not value:
        refuse(name, "rows, or a mapping that is not empty", value)
    return {
        check_text(f"each database of {name}", database): _checked(
            f"{name}[{shown(database)}]", rows, exact=exact
        )
        for database, rows in value.items()
    }


_PLAIN: Final = frozenset({int, str, bytes, bool, type(None)})


def _checked(name: str, rows: object, *, exact: bool) -> list[ResultRow]:
    if not is_ordered(rows):
        hint = " (pandas: frame.values, polars: frame.rows())" if hasattr(rows, "columns") else ""
        refuse(name, f"a sequence of rows{hint}", rows, TypeError)
    checked: list[ResultRow] = []
    width: int | None = None
    given = cast("Iterable[object]", rows)
    for i, row in enumerate(given):
        kind = type(row).__name__
        cells: ResultRow = (
            cast("ResultRow", row) if type(row) is tuple else _cells(f"{name}[{i}]", row)
        )
        if not _PLAIN.issuperset(map(type, cells)):
            # pandas has no NULL among numbers but NaN
            nan = None if kind in ("ndarray", "Pandas") else NAN
            try:
                cells = tuple(plain(cell, exact=exact, nan=nan) for cell in cells)
                hash(cells)
            except RecursionError:
                refuse(f"{name}[{i}]", "cells that are nested less deeply", cells)
            except TypeError:
                _refuse_cell(f"{name}[{i}]", cells)
        if width is None:
            width = len(cells)
        elif len(cells) != width:
            raise InputError(
                f"{name}[{i}] must be as wide as {name}[0], {width}, got {len(cells)}"
            )
        checked.append(cells)
    return checked


def _cells(path: str, row: object) -> ResultRow:
    if is_mapping(row):
        refuse(path, "a sequence of cells, as tuple(row.values()) of a mapping", row, TypeError)
    if not is_ordered(row):
        refuse(path, "a sequence of cells", row, TypeError)
    return tuple(row)


def _refuse_cell(path: str, cells: tuple[object, ...]) -> None:
    for j, cell in enumerate(cells):
        try:
            hash(cell)
        except TypeError:
            refuse(f"{path}[{j}]", "a value that hashes", cell, TypeError)


# Ours.


def _difference(
    generated: Rows,
    expected: Rows,
    *,
    semantics: str,
    margin: float,
    in_order: bool,
    any_column: bool,
) -> str:
    if generated and expected and len(generated[0]) != len(expected[0]):
        return f"{len(generated[0])} columns instead of {len(expected[0])}"
    if semantics == "bag" and len(generated) != len(expected):
        return f"{len(generated)} rows instead of {len(expected)}"
    same = same_set if semantics == "set" else same_bag
    if not _same(generated, expected, margin, same, any_column=any_column):
        return "other rows" + ("" if any_column else _apart(generated, expected, margin))
    if in_order and not _same(generated, expected, margin, same_sequence, any_column=any_column):
        return "the same rows in another order"
    return ""


def _apart(generated: Rows, expected: Rows, margin: float) -> str:
    """Return the first rows that differ, as the end of a reason."""
    got, missing = first_apart(generated, expected, margin)
    parts = (("got", got), ("expected", missing))
    named = [f"{what} {shown(row)}" for what, row in parts if row is not None]
    return f": {', '.join(named)}" if named else ""


def _same(
    generated: Rows,
    expected: Rows,
    margin: float,
    same: Callable[[Rows, Rows, float], bool],
    *,
    any_column: bool,
) -> bool:
    if same(generated, expected, margin):
        return True
    if not any_column:
        return False
    found = same_in_some_column_order(generated, expected, margin, same)
    if found is None:
        refuse("expected_rows", "rows whose columns differ", f"{len(expected)} rows")
    return found


def _graded(
    rule: str,
    generated: Rows,
    expected: Rows,
    margin: float,
    *,
    in_order: bool,
) -> tuple[float, str]:
    if rule == "soft-f1":
        score = _soft_f1(generated, expected)
        return score, "" if score == 1.0 else "other cells"
    if rule == "column-f1":
        ours, theirs = (list(zip(*rows, strict=True)) for rows in (generated, expected))
        n_found = n_alike_columns(ours, theirs, margin, in_order=in_order)
        what = "columns"
    else:
        ours, theirs, what = list(generated), list(expected), "rows"
        n_found = n_alike(generated, expected, margin)
    reason = f"{n_found} of {len(theirs)} {what}, and {len(ours) - n_found} others"
    if rule == "subset":
        right = n_found == len(theirs) and (n_found > 0 or not ours)
        return float(right), "" if right else reason
    total = len(ours) + len(theirs)
    score = 2 * n_found / total if total else 1.0
    return score, "" if score == 1.0 else reason


# The field's.


def _soft_f1(generated: Rows, expected: Rows) -> float:
    """
    Return BIRD's Soft F1, from counts in units of one cell of an expected row.

    A pair of rows gives the shares of the expected row's width that are found, only generated or
    only expected; a row without a partner is one, for none of its cells.
    """
    if not generated and not expected:
        return 1.0
    ours, theirs = list(dict.fromkeys(generated)), list(dict.fromkeys(expected))
    width = len(theirs[0]) if theirs else 1
    n_found = n_only_generated = n_only_expected = 0
    for row, wanted in zip(ours, theirs, strict=False):
        if row == wanted:
            n_found += width
            continue
        n_own = sum(cell in wanted for cell in row)
        n_found += n_own
        n_only_generated += len(row) - n_own
        n_only_expected += sum(cell not in row for cell in wanted)
    n_only_generated += width * max(len(ours) - len(theirs), 0)
    n_only_expected += width * max(len(theirs) - len(ours), 0)
    # the harmonic mean of n / (n + generated) and n / (n + expected)
    return 2 * n_found / (2 * n_found + n_only_generated + n_only_expected) if n_found else 0.0


def _spider(generated: Rows, expected: Rows, in_order: bool) -> bool:  # noqa: FBT001
    if not generated or not expected:
        return not generated and not expected
    if len(generated) != len(expected) or len(generated[0]) != len(expected[0]):
        return False
    same = same_sequence if in_order else same_bag
    return _same(generated, expected, 0.0, same, any_column=True)


def _bird(generated: Rows, expected: Rows, in_order: bool) -> bool:  # noqa: FBT001
    del in_order
    return set(generated) == set(expected)


_SPIDER2_MARGIN = 1e-2


def _spider2(generated: Rows, expected: Rows, in_order: bool) -> bool:  # noqa: FBT001
    if not expected:
        return not generated
    columns = [_spider2_column(column, in_order) for column in zip(*generated, strict=True)]
    return all(
        any(_spider2_same(_spider2_column(wanted, in_order), column) for column in columns)
        for wanted in zip(*expected, strict=True)
    )


def _spider2_column(cells: Sequence[Hashable], in_order: bool) -> list[Any]:  # noqa: FBT001
    filled = [0 if cell is None or cell is NAN else cell for cell in cells]
    return filled if in_order else sorted(filled, key=lambda cell: (_text(cell), _is_number(cell)))


def _text(cell: object) -> str:
    is_long = isinstance(cell, int) and cell.bit_length() > LONG_INT_BITS
    return shown(cell) if is_long else str(cell)


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float)


def _spider2_same(wanted: list[Any], column: list[Any]) -> bool:
    return len(wanted) == len(column) and all(
        a == b or (_is_number(a) and _is_number(b) and _spider2_close(a, b))
        for a, b in zip(wanted, column, strict=True)
    )


def _spider2_close(a: float, b: float) -> bool:
    try:
        return math.isclose(a, b, abs_tol=_SPIDER2_MARGIN)
    except OverflowError:  # an integer beyond all floats
        return False


_DEFOG_NULL = -99999


def _defog(generated: Rows, expected: Rows, in_order: bool) -> bool:  # noqa: FBT001
    a, b = (list(dict.fromkeys(map(_defog_row, rows))) for rows in (generated, expected))
    return a == b if in_order else set(a) == set(b)


def _defog_row(row: ResultRow) -> ResultRow:
    return tuple(_DEFOG_NULL if cell is None or cell is NAN else cell for cell in row)


def _ibm_subset(generated: Rows, expected: Rows, in_order: bool) -> bool:  # noqa: FBT001
    if not generated or len(generated) != len(expected):
        return False
    narrow, wide = sorted((generated, expected), key=lambda rows: len(rows[0]))
    if not narrow[0]:
        return False
    pairs = zip(_ibm_rows(narrow, in_order), _ibm_rows(wide, in_order), strict=True)
    return all(few == many or Counter(few) <= Counter(many) for few, many in pairs)


def _ibm_rows(rows: Rows, in_order: bool) -> list[tuple[str, ...]]:  # noqa: FBT001
    columns = [list(map(_ibm_text, column)) for column in zip(*rows, strict=True)]
    if not in_order:
        columns = list(map(sorted, columns))
    return list(zip(*columns, strict=True))


def _ibm_text(cell: object) -> str:
    if cell is None or cell is NAN:
        return "nan"  # data frames make one of the other
    if isinstance(cell, bool):
        return str(cell)
    if type(cell) is int:
        return _text(cell)
    text = str(cell).strip()
    try:
        number = float(text)
    except ValueError:
        return text
    if number.is_integer():
        return str(int(number))
    return format(number, ".15g")


_GRADED: Final = ("soft-f1", "row-f1", "column-f1", "subset")

_FIELD: Final = cast(
    "dict[str, Callable[[Rows, Rows, bool], bool]]",
    {
        "spider": _spider,
        "bird": _bird,
        "spider2": _spider2,
        "defog": _defog,
        "ibm-subset": _ibm_subset,
    },
)
