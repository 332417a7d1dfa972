"""Whether the rows that two executed queries returned are the same: `result_accuracy`."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

import attrs

from scorekit._core.checks import check_choice, check_flag, check_number, is_ordered
from scorekit._sql.rows import (
    NAN,
    ResultRow,
    Rows,
    plain,
    same_bag,
    same_in_some_column_order,
    same_sequence,
    same_set,
)
from scorekit.errors import InputError, refuse
from scorekit.records import Record

Rule: TypeAlias = Literal["scorekit", "spider", "bird", "spider2", "defog"]
RULES: Final = ("scorekit", "spider", "bird", "spider2", "defog")


@attrs.frozen(kw_only=True)
class ResultAccuracy(Record):
    """Result of `result_accuracy`."""

    score: float
    """1.0 if the results are the same by the *rule*, else 0.0."""
    reason: str
    """What the first difference is, or that there is none."""
    rule: Rule
    ordered: bool
    n_generated: int
    """Rows that the generated query returned."""
    n_expected: int
    """Rows that the expected query returned."""


def result_accuracy(
    generated_rows: Iterable[Iterable[Hashable]],
    expected_rows: Iterable[Iterable[Hashable]],
    *,
    rule: Rule = "scorekit",
    ordered: bool = False,
    semantics: Literal["bag", "set"] = "bag",
    column_order: Literal["significant", "ignored"] = "significant",
    tolerance: float = 1e-9,
) -> ResultAccuracy:
    """
    Score whether two executed queries returned the same rows: execution accuracy.

    By the rule ``"scorekit"`` results are the same if they have the same number of columns and
    hold the same rows equally often, in the same order if *ordered*.  Numbers are compared by
    value, whatever their type (``1 == 1.0 == Decimal(1) == True``); two numbers of which one is
    a fraction are equal if they differ by at most *tolerance* times the larger of 1 and both.
    NULL equals NULL only and NaN equals NaN only.  Text is never equal to a number.

    The field's rules are there to reproduce published figures, flaws included:

    - ``"spider"``: as a bag, or in order if *ordered*, with the columns in any one order.
      Exact, without a tolerance.
    - ``"bird"``: ``set(generated) == set(expected)``, so that repeated rows and order are
      lost.  Exact.
    - ``"spider2"``: each expected column is found among the generated ones by itself, so
      that rows may come apart and further columns do not matter; NULL counts as 0, fractions
      are equal within 0.01.  Cells of a column are sorted unless *ordered*.
    - ``"defog"``: repeated rows dropped, sorted by all columns unless *ordered*; NULL and
      NaN count as -99999.

    Args:
        generated_rows: Rows of the generated query, as a database driver returns them: lists or
            tuples of cells that hash.
        expected_rows: Rows of the expected query.
        rule: Whose comparison.
        ordered: Whether the order of rows counts.
        semantics: ``"bag"``, or ``"set"`` where repeated rows do not matter; for
            ``"scorekit"``, as what follows.
        column_order: ``"significant"``, or ``"ignored"`` where columns may come in any order.
        tolerance: By how much fractions may differ, as above (``>= 0``).

    Returns:
        A frozen `ResultAccuracy`.

    Raises:
        InputError: If a row of a result is not as wide as its first one, a choice is not among
            those above, *tolerance* is out of range, *ordered* is combined with a set, or the
            results have so many alike columns that none of 2,000 tried orders decides.
        TypeError: If an argument or a row has the wrong type, or a cell does not hash.

    Examples:
        >>> result = result_accuracy([("a", 1), ("b", 2)], [("b", 2.0), ("a", 1.0)])
        >>> result.score, result.reason
        (1.0, 'the same rows')
        >>> result_accuracy([(1,), (1,)], [(1,)], rule="bird").score
        1.0
        >>> result_accuracy([(1,), (1,)], [(1,)]).reason
        '2 rows instead of 1'
        >>> result_accuracy([([],)], [(1,)])
        Traceback (most recent call last):
        ...
        TypeError: generated_rows[0][0] must be a value that hashes, got []

    References:
        Spider: Zhong et al., arXiv:2010.02840, and the code of test-suite-sql-eval.  BIRD: Li et
        al., arXiv:2305.03111.  Spider 2: Lei et al., arXiv:2411.07763, and its evaluation suite.
        defog: the code of sql-eval, whose columns are sorted by name first, which rows do not
        have.
    """
    check_choice("rule", rule, RULES)
    in_order = check_flag("ordered", ordered)
    check_choice("semantics", semantics, ("bag", "set"))
    check_choice("column_order", column_order, ("significant", "ignored"))
    margin = check_number("tolerance", tolerance, 0.0)
    if in_order and semantics == "set":
        raise InputError("ordered must be False where semantics is 'set', got True")
    generated = _checked("generated_rows", generated_rows)
    expected = _checked("expected_rows", expected_rows)
    if rule == "scorekit":
        any_column = column_order == "ignored"
        reason = _difference(
            generated,
            expected,
            semantics=semantics,
            margin=margin,
            in_order=in_order,
            any_column=any_column,
        )
    else:
        same = _FIELD[rule](generated, expected, in_order)
        reason = "" if same else f"not the same by the rule of {rule}"
    return ResultAccuracy(
        score=float(not reason),
        reason=reason or "the same rows",
        rule=rule,
        ordered=in_order,
        n_generated=len(generated),
        n_expected=len(expected),
    )


_PLAIN: Final = frozenset({int, str, bytes, bool, type(None)})


def _checked(name: str, rows: object) -> list[ResultRow]:
    if not is_ordered(rows):
        hint = " (pandas: frame.values, polars: frame.rows())" if hasattr(rows, "columns") else ""
        refuse(name, f"a sequence of rows{hint}", rows, TypeError)
    checked: list[ResultRow] = []
    for i, row in enumerate(rows):
        cells = _cells(f"{name}[{i}]", row)
        try:
            hash(cells)
        except TypeError:
            _refuse_cell(f"{name}[{i}]", cells)
        if checked and len(cells) != len(checked[0]):
            width = len(checked[0])
            raise InputError(
                f"{name}[{i}] must be as wide as {name}[0], {width}, got {len(cells)}"
            )
        checked.append(cells if _PLAIN.issuperset(map(type, cells)) else tuple(map(plain, cells)))
    return checked


def _cells(path: str, row: object) -> tuple[Any, ...]:
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
        return "other rows"
    if in_order and not _same(generated, expected, margin, same_sequence, any_column=any_column):
        return "the same rows in another order"
    return ""


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
        refuse("expected_rows", "rows whose columns can be told apart", f"{len(expected)} rows")
    return found


# The field's.


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
    return filled if in_order else sorted(filled, key=lambda cell: (str(cell), _is_number(cell)))


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float)


def _spider2_same(wanted: list[Any], column: list[Any]) -> bool:
    return len(wanted) == len(column) and all(
        math.isclose(a, b, abs_tol=_SPIDER2_MARGIN) if _is_number(a) and _is_number(b) else a == b
        for a, b in zip(wanted, column, strict=True)
    )


_DEFOG_NULL = -99999


def _defog(generated: Rows, expected: Rows, in_order: bool) -> bool:  # noqa: FBT001
    a, b = (list(dict.fromkeys(map(_defog_row, rows))) for rows in (generated, expected))
    return a == b if in_order else set(a) == set(b)


def _defog_row(row: ResultRow) -> ResultRow:
    return tuple(_DEFOG_NULL if cell is None or cell is NAN else cell for cell in row)


_FIELD: Final = cast(
    "dict[str, Callable[[Rows, Rows, bool], bool]]",
    {"spider": _spider, "bird": _bird, "spider2": _spider2, "defog": _defog},
)
