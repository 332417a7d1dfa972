"""describe, Tally and letter_grade: sourced values, errors, laws, exact rationals as oracle."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from column_types import COLUMN_TYPES, arrow_array, arrow_chunks, polars_series
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from refusals import Refusal, refusals

from scorekit.errors import InputError
from scorekit.summary import (
    FEW,
    LetterGrade,
    Statistics,
    Tally,
    describe,
    letter_grade,
)

REFERENCE = json.loads(
    (Path(__file__).parent / "data" / "statistics_describe.json").read_text(encoding="utf-8")
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTEGERS = st.integers(-(10**30), 10**30)
NUMBERS = st.one_of(
    FLOATS,
    st.floats(0, 1),
    st.integers(-3, 3),
    INTEGERS,
    st.booleans(),
    st.decimals(-(10**30), 10**30, places=25),
    st.fractions(),
)
KINDS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f8", ">i4"]
ARRAYS = st.sampled_from([np.dtype(kind) for kind in KINDS]).flatmap(
    lambda dtype: arrays(
        dtype,
        st.integers(1, 30),
        elements={"allow_nan": False, "allow_infinity": False} if dtype.kind == "f" else None,
    )
)

TINY = 2**-40 * (1 + 2**-52)
"""Its last bit is far below that of 1."""


def _with_repeats(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Draw from a small pool, so that values occur several times."""
    pools = st.lists(numbers, min_size=1, max_size=12)
    return pools.flatmap(lambda pool: st.lists(st.sampled_from(pool), min_size=1, max_size=40))


LISTS = st.one_of(*map(_with_repeats, (FLOATS, INTEGERS, NUMBERS)))


def _tally(*pieces: Any) -> Tally:
    tally = Tally()
    for piece in pieces:
        tally.add(piece)
    return tally


def _tallied(pieces: Iterable[Any]) -> Statistics:
    return _tally(*pieces).result()


def _rounds_to(value: float, exact: Fraction, power: int = 1) -> bool:
    """Whether *value* is a float nearest to the root of *exact*."""
    low, high = (
        Fraction(value) + sign * Fraction(_gap(value, math.copysign(math.inf, sign))) / 2
        for sign in (-1, 1)
    )
    return (low <= 0 or low**power <= exact) and exact <= high**power


def _gap(value: float, towards: float) -> float:
    """Distance to the next float; beyond the last one, as if there were another."""
    neighbour = math.nextafter(value, towards)
    return math.ulp(value) if math.isinf(neighbour) else abs(neighbour - value)


def _check(result: Statistics, values: Iterable[Any]) -> None:
    """Compare with rationals, rounding judged by the distance to the neighbouring floats."""
    numbers = sorted(map(Fraction, values))
    n = len(numbers)
    mean = sum(numbers) / Fraction(n)
    variance = sum((x - mean) ** 2 for x in numbers) / Fraction(n)
    counts = Counter(numbers)
    mode = min(x for x in numbers if counts[x] == max(counts.values()))
    assert _rounds_to(result.std_dev, variance, power=2)
    assert result == Statistics(
        median=float((numbers[(n - 1) // 2] + numbers[n // 2]) / 2),
        mean=float(mean),
        mode=float(mode),
        min=float(numbers[0]),
        max=float(numbers[-1]),
        std_dev=result.std_dev,
        count=n,
    )


# Sourced values.


@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: case["input"]["name"])
def test_reference_values(case: dict[str, Any]) -> None:
    """Reference values made before this code and apart from it, alone and as a tally."""
    values = [float(x) if set(x) & set(".e") else int(x) for x in case["input"]["x"]]
    expected = case["output"] | {"std_dev": case["output"]["std_pop"]}
    del expected["std_pop"]
    for result in (describe(values), _tallied([values]), _tallied([[x] for x in values])):
        assert {name: getattr(result, name) for name in expected} == expected


@pytest.mark.parametrize(("values", "field", "expected"), [
    ([1e16, 1e16, 1e16 + 2], "std_dev", 0.9428090415820634),
    ([1e308, 1e308], "mean", 1e308),
    ([1e308, 1.5e308], "median", 1.25e308),
    ([5e-324, 1e-323, 1.5e-323], "std_dev", 5e-324),
    ([1e100, 1, -1e100], "mean", 1 / 3),
    ([3, 1, 3, 1], "mode", 1.0),
    ([2**53 + 1, 2**53 + 1, 2**53], "mode", 2.0**53),
    ([2**53 + 1, 2**53 + 3, 2**53 + 5], "median", 2.0**53 + 4),
    ([1e308, 2e-323, -1e308], "mean", 5e-324),
    ([-1, TINY, 1], "mean", TINY / 3),
    ([-1, -TINY, 1], "mean", -TINY / 3),
    ([1] * 8 + [0] * 2, "std_dev", 0.4),
    ([0.1] * 3, "mean", 0.1),  # NumPy makes 0.10000000000000002 of it, and a spread
    ([0.1] * 3, "std_dev", 0.0),
    ([0.7] * 1000, "mean", 0.7),
    ([0.7] * 1000, "std_dev", 0.0),
    ([0.0, -0.0, 1.0, 1.0], "mode", 0.0),
    ([-(2**53) - 1, 2**53 + 1], "std_dev", 2.0**53),
    ([-(2**53) - 3, 2**53 + 3], "std_dev", 2.0**53 + 4),
    ([-sys.float_info.max, sys.float_info.max], "std_dev", sys.float_info.max),
])  # fmt: skip
def test_values_that_break_naive_formulas(
    values: list[float], field: str, expected: float
) -> None:
    """Each is lost to overflow, underflow, cancellation or rounding to float somewhere else."""
    for result in (describe(values), describe(np.array(values)), _tallied([values])):
        assert getattr(result, field) == expected


def test_a_single_value_is_everything() -> None:
    """No spread, and nothing to average."""
    assert describe([-0.25]) == Statistics(
        median=-0.25, mean=-0.25, mode=-0.25, min=-0.25, max=-0.25, std_dev=0.0, count=1
    )


# Exact rationals.


@given(LISTS)
def test_describe_equals_rational_arithmetic(values: list[Any]) -> None:
    """Oracle: the definitions, in fractions; the same for the path that long inputs take."""
    _check(describe(values), values)
    _check(_tallied([values]), values)


@given(ARRAYS)
def test_arrays_equal_rational_arithmetic(values: Any) -> None:
    """Every integer and float dtype, at the ends of its range too."""
    _check(describe(values), values.astype(object).tolist())


@pytest.mark.parametrize(
    "exponents", [(-1074, 1023), (-1074, -1000), (-40, 0), (900, 1023)], ids=str
)
def test_blocks_of_any_range_are_exact(exponents: tuple[int, int]) -> None:
    """Several blocks; those around zero are too wide for one scale and are cut into bands."""
    rng = np.random.default_rng(20261120)
    scale = rng.integers(*exponents, 70_000, endpoint=True)
    values = np.ldexp(rng.uniform(-1, 1, scale.size), scale)
    values = np.concatenate([values, values[:3], [0.0, -0.0, 5e-324, -1.5e-323]])
    integers = [int(Fraction(x) * 2**1074) for x in values.tolist()]
    total, n = sum(integers), len(integers)
    result = describe(values)
    assert result.mean == total / (n * 2**1074)
    squares = n * sum(x * x for x in integers) - total * total
    assert _rounds_to(result.std_dev, Fraction(squares, (n * 2**1074) ** 2), power=2)
    assert result.median == float(np.median(values))


def test_wide_integers_with_repeats_are_exact() -> None:
    """Nanosecond timestamps lie beyond 2**53; counts above 1 are summed bit by bit."""
    rng = np.random.default_rng(20261120)
    values = np.repeat(rng.integers(-(2**63), 2**63 - 1, 40_000), rng.integers(1, 9, 40_000))
    numbers = values.tolist()
    n, total = len(numbers), sum(numbers)
    result = describe(values)
    assert (result.mean, result.count) == (total / n, n)
    variance = Fraction(n * sum(x * x for x in numbers) - total * total, n * n)
    assert _rounds_to(result.std_dev, variance, power=2)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no wider floats here")
def test_extended_precision_is_kept() -> None:
    """The three differ only in bits that float64 does not have."""
    values = 1 + np.array([0, 1, 2], np.longdouble) / np.longdouble(2) ** 60
    assert _rounds_to(describe(values).std_dev, Fraction(2, 3) / 2**120, power=2)


# Tallies.


@given(st.data(), LISTS)
def test_any_split_order_and_merge_tree_gives_the_identical_result(
    data: st.DataObject, values: list[Any]
) -> None:
    """What workers return does not depend on who did what, or who was done first."""
    shuffled = data.draw(st.permutations(values))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=6)))
    tallies = []
    for start, end in zip([0, *cuts], [*cuts, len(values)], strict=True):
        tallies.append(_tally(shuffled[start:end]))
    while len(tallies) > 1:
        one, other = (tallies.pop(data.draw(st.integers(0, len(tallies) - 1))) for _ in "ab")
        tallies.append(one.merge(other))
    result = tallies[0].result()
    assert repr(result) == repr(describe(values))
    assert repr(_tallied([[x] for x in shuffled])) == repr(result)


@given(st.lists(ARRAYS, min_size=1, max_size=5))
def test_pieces_of_unlike_types_add_up(pieces: list[Any]) -> None:
    """An int64 and a float64 piece have no common dtype that keeps both."""
    values = [x for piece in pieces for x in piece.astype(object).tolist()]
    assert _tallied(pieces) == describe(values)


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_long_inputs_may_come_in_small_pieces(size: int) -> None:
    """Many pieces go through many joins of the stack of runs."""
    values = np.random.default_rng(20261120).normal(size=10_000)
    pieces = [values[i : i + size] for i in range(0, values.size, size)]
    assert _tallied(pieces) == describe(values) == describe(values.tolist())


def test_merge_changes_neither_input() -> None:
    """Merging is an expression; a tally also merges with itself and with an empty one."""
    one, other = _tally([1.0]), _tally([2, 3])
    assert one.merge(other).result() == describe([1, 2, 3])
    assert one.merge(one).result() == describe([1, 1])
    assert one.merge(Tally()).result() == Tally().merge(one).result() == describe([1])
    assert other.result() == describe([2, 3])


def test_copies_are_independent() -> None:
    """A copy, and one that went to a worker and back, can be filled on their own."""
    tally = _tally([1, Fraction(1, 3), 2**70])
    twins = [copy.copy(tally), copy.deepcopy(tally), pickle.loads(pickle.dumps(tally))]
    for twin in twins:
        twin.add([5])
        assert twin.result() == describe([1, Fraction(1, 3), 2**70, 5])
    assert tally.result() == describe([1, Fraction(1, 3), 2**70])


def test_the_caller_keeps_the_array() -> None:
    """Neither does a tally sort the caller's array, nor does it see later changes."""
    values = np.array([3.0, 1.0, 2.0])
    tally = _tally(values)
    assert values.tolist() == [3.0, 1.0, 2.0]
    values[:] = 9.0
    assert tally.result() == describe([1, 2, 3])


def test_counts_outgrow_64_bits() -> None:
    """Doubling a tally is cheap and must not wrap around."""
    tally = _tally([0.0, 0.5, 1.0, 1.0])
    for _ in range(70):
        tally = tally.merge(tally)
    once = describe([0.0, 0.5, 1.0, 1.0])
    assert tally.result() == attrs.evolve(once, count=4 * 2**70)


def test_an_empty_piece_is_nothing_and_an_empty_tally_has_no_result() -> None:
    """A worker may have had nothing to do; all of them together may not."""
    pieces: list[Any] = [[], iter(()), np.array([]), np.array([], np.int64)]
    with pytest.raises(InputError, match=r"^values must be a non-empty sequence of numbers, got "):
        _tallied(pieces)


@pytest.mark.parametrize("column", [pd.Series, polars_series, arrow_array, arrow_chunks])
def test_an_empty_piece_of_a_table_is_nothing(column: Any) -> None:
    """The rows of a table that no worker got."""
    assert _tallied([[1, 2], column([1, 2])[:0]]) == describe([1, 2])


@pytest.mark.parametrize("bad", [[7, math.nan], np.array([7, np.inf]), [7, None], "7"])
def test_a_bad_piece_leaves_the_tally_unchanged(bad: Any) -> None:
    """Half of a piece is worse than none of it."""
    tally = _tally([1, 2])
    with pytest.raises((InputError, TypeError)):
        tally.add(bad)
    assert tally.result() == describe([1, 2])


@refusals("""
Tally().add(letter_grade(score).score for score in (1, 2))
    -> InputError: score must be a number in [0, 1], got 2
Tally().merge([1]) -> TypeError: other must be a Tally, got [1]
describe(polars_series([0.5, None]))
    -> InputError: values[1] must be a finite number, got nan
""")
def test_what_fits_no_tally(wrong: Refusal) -> None:
    """What a generator raises passes through, and a `Statistics` no longer has the values."""
    wrong.by_itself()


# What may come in.


@pytest.mark.parametrize("n_repeats", [1, FEW])
@pytest.mark.parametrize("column", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_any_column_type_will_do(column: Any, n_repeats: int) -> None:
    """Users bring the table they have, short or long."""
    for values in ([0.5, 0.25, 0.25, 1.0], [3, 1, 2, 2**53 + 1], [True, False, True, True]):
        expected = describe([Fraction(x) for x in values] * n_repeats)
        assert describe(column(values * n_repeats)) == expected


@pytest.mark.parametrize("n_repeats", [1, FEW])
def test_numpy_scalars_in_a_list_are_numbers(n_repeats: int) -> None:
    """And flags; the last two differ, though NumPy would compare them as floats."""
    mixed: list[Any] = [True, 0, np.True_, np.float32(0.1), np.int64(2**53 + 1), 2**53]
    plain = [1, 0, 1, float(np.float32(0.1)), 2**53 + 1, 2**53]
    assert describe(mixed * n_repeats) == describe(plain * n_repeats)


@pytest.mark.parametrize("column", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_decimals_of_a_table_stay_decimals(column: Any) -> None:
    """0.1 + 0.2 is 0.3 in a money column."""
    prices = [Decimal("0.1"), Decimal("0.2"), Decimal("0.6")]
    assert describe(column(prices)).mean == 0.3


def test_few_numbers_need_no_numpy() -> None:
    """A short list or a grade costs no import of numpy."""
    code = (
        "import sys, scorekit.summary as s; s.describe([0.5, 1]); s.letter_grade(1);"
        "sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


LONG = [0.5] * FEW
TIMES = np.array([1], "m8[ns]")
TIMES_SHOWN = repr(TIMES)
BEYOND = FEW + 1


@refusals("""
[] -> InputError: values must be a non-empty sequence of numbers, got ()
np.array([]) -> InputError: values must be a non-empty sequence of numbers, got ()
[1, math.nan] -> InputError: values[1] must be a finite number, got nan
[math.nan, 1] -> InputError: values[0] must be a finite number, got nan
[*LONG, math.nan] -> InputError: values[{FEW}] must be a finite number, got nan
[*LONG, 1, math.nan] -> InputError: values[{BEYOND}] must be a finite number, got nan
[0.5, -math.inf, 1] -> InputError: values[1] must be a finite number, got -inf
np.array([1, np.inf]) -> InputError: values[1] must be a finite number, got inf
pd.Series([0.5, None], dtype="Float64")
    -> InputError: values[1] must be a finite number, got nan
[1, Decimal("nan")] -> InputError: values[1] must be a finite number, got Decimal('NaN')
[Decimal("sNaN")] -> InputError: values[0] must be a finite number, got Decimal('sNaN')
[Decimal("1e999999999")]
    -> InputError: values[0] must be a finite number, got Decimal('1E+999999999')
[10**400]
    -> InputError: values[0] must be a finite number, got
    10000000000000000000000000000000000000...000000000000000000000000000000000000000
np.ones((2, 2)) -> InputError: values must be one-dimensional, got shape (2, 2)
3 -> TypeError: values must be a non-empty sequence of numbers, got 3
"123" -> TypeError: values must be a non-empty sequence of numbers, got '123'
{1: 2} -> TypeError: values must be a non-empty sequence of numbers, got {1: 2}
{1} -> TypeError: values must be a non-empty sequence of numbers, got {1}
[1, 1j] -> TypeError: values[1] must be a finite number, got 1j
[1, None] -> TypeError: values[1] must be a finite number, got None
["1"] -> TypeError: values[0] must be a finite number, got '1'
[[1]] -> TypeError: values[0] must be a finite number, got [1]
np.array([1j])
    -> TypeError: values must be a non-empty sequence of numbers, got array([0.+1.j])
TIMES -> TypeError: values must be a non-empty sequence of numbers, got {TIMES_SHOWN}
np.ma.array([1, 2], mask=[False, True])
    -> TypeError: values[1] must be a finite number, got None
""")
def test_errors(wrong: Refusal) -> None:
    """What is wrong is named with its place; describe and a tally say the same."""
    wrong.by_value(describe)
    wrong.by_value(lambda values: _tallied([values]))


# Grades.


SHARES = st.sampled_from([0.0, 0.05, 0.25, 0.5, 0.9, 0.95, 1.0]) | st.floats(0, 1)


@given(st.lists(st.integers(-9, 9) | st.floats(-1e6, 1e6), min_size=1, max_size=30), SHARES)
def test_quantiles_are_numpys(values: list[float], share: float) -> None:
    """Oracle: NumPy's default method, and the fields of which quantiles are another name."""
    result = describe(values, quantiles=(share, 0, 0.5, 1))
    expected = np.quantile(values, share)
    assert result.quantiles[share] == pytest.approx(expected, rel=1e-12, abs=1e-9)
    ends = [result.quantiles[float(q)] for q in (0, 0.5, 1)]
    assert ends == [result.min, result.median, result.max]
    assert attrs.evolve(result, quantiles=describe(values).quantiles) == describe(values)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=30), SHARES, st.integers(0, 30))
def test_quantiles_of_parts_are_those_of_the_whole(
    values: list[int], share: float, cut: int
) -> None:
    """Merged in any order they are exact."""
    one, other = _tally(values[:cut]), _tally(values[cut:])
    whole = describe(values, quantiles=[share])
    assert other.merge(one).result(quantiles=[share]) == whole


def test_quantiles_are_rounded_once() -> None:
    """A share counts as the decimal it is written as: 0.1 of ten steps is one step."""
    values = [Fraction(i, 3) for i in range(11)]
    assert describe(values, quantiles=[0.1, 0.7]).quantiles == {0.1: 1 / 3, 0.7: 7 / 3}
    assert describe([2**70, 2**70 + 2**20], quantiles=[0.25]).quantiles[0.25] == 2**70 + 2**18


@refusals("""
[0.5, 95] -> InputError: quantiles[1] must be a number in [0, 1] (a share: 0.95 for 95 %), got 95
[math.nan] -> InputError: quantiles[0] must be a number in [0, 1], got nan
0.5 -> TypeError: quantiles must be a sequence of shares in [0, 1], got 0.5
""")
def test_bad_quantiles(wrong: Refusal) -> None:
    """Per cent are none."""
    wrong.when(lambda: describe([1, 2], quantiles=wrong.value))
    with pytest.raises(InputError, match=r"^Statistics.quantiles must be a mapping whose keys"):
        Statistics.from_dict({**describe([1]).to_dict(), "quantiles": {"half": 1.0}})


@pytest.mark.parametrize(("letter", "meaning", "threshold", "most"), [
    ("A", "Excellent", 0.95, 1),
    ("B", "Good", 0.85, math.nextafter(0.95, 0)),
    ("C", "Satisfactory", 0.75, math.nextafter(0.85, 0)),
    ("D", "Marginal", 0.65, math.nextafter(0.75, 0)),
    ("F", "Failing", 0, math.nextafter(0.65, 0)),
])  # fmt: skip
def test_grades_of_the_source(letter: str, meaning: str, threshold: float, most: float) -> None:
    """The scale of the metric's source; what misses a threshold by the last digit misses it."""
    for score in (threshold, (threshold + most) / 2, most):
        grade = letter_grade(score)
        assert (str(grade), grade.letter, grade.meaning) == (letter, letter, meaning)
        assert (grade.threshold, grade.score) == (threshold, score)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_better_score_never_gets_a_worse_grade(one: float, other: float) -> None:
    """Grades are monotone, and a grade rebuilds from its dict."""
    low, high = map(letter_grade, sorted((one, other)))
    assert low.threshold <= high.threshold


def test_other_scales() -> None:
    """A scale is data; its thresholds may be any real numbers."""
    scale = (("pass", "", Decimal("0.5")), ("fail", "not yet", 0))
    assert str(letter_grade(0.5, scale=scale)) == "pass"  # type: ignore[arg-type]
    assert letter_grade(Fraction(1, 3), scale=(("any", "", 0),)) == LetterGrade(  # type: ignore[arg-type]
        letter="any", meaning="", threshold=0.0, score=1 / 3
    )


@refusals("""
score=1.01 -> InputError: score must be a number in [0, 1], got 1.01
score=-1e-12 -> InputError: score must be a number in [0, 1], got -1e-12
score=math.nan -> InputError: score must be a number in [0, 1], got nan
score=True -> TypeError: score must be a number in [0, 1], got True
score="B" -> TypeError: score must be a number in [0, 1], got 'B'
scale=() -> InputError: scale must be a non-empty sequence of grades, got ()
scale="ABC" -> TypeError: scale must be a non-empty sequence of grades, got 'ABC'
scale=[("A", 0.5)]
    -> TypeError: scale[0] must be a tuple (letter, meaning, threshold), got ('A', 0.5)
scale=["ABC"] -> TypeError: scale[0] must be a tuple (letter, meaning, threshold), got 'ABC'
scale=[("", "best", 0)] -> InputError: scale[0][0] must be a non-empty string, got ''
scale=[("A", None, 0)] -> TypeError: scale[0][1] must be a string, got None
scale=[("A", "best", 95)]
    -> InputError: scale[0][2] must be a number in [0, 1] (a share: 0.95 for 95 %), got 95
scale=[("A", "", 0.5), ("B", "", 0.5)]
    -> InputError: scale[1][2] must be below the threshold before it, 0.5, got 0.5
scale=[("A", "", 0.9), ("B", "", 0.5)]
    -> InputError: scale[1][2] must be 0, so that every score has a grade, got 0.5
""")
def test_grade_errors(wrong: Refusal) -> None:
    """A scale is refused where it breaks."""
    wrong.by(letter_grade, score=0.5)
