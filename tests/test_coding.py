"""code_score and code_scores_from_columns: sourced values, errors, properties, an exact oracle."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import CodeSample, CodeWeights, InputError, code_score, code_scores_from_columns

COUNTS = st.integers(0, 40)
OUTCOMES = st.tuples(st.booleans(), COUNTS, COUNTS, COUNTS)

NO_OUTCOME = (
    "passed[1] must be True or False, 1 or 0, or a count of tests (a missing outcome: "
    "leave its row out of all columns; False, then True, bounds how far it could move the result)"
    ", got "
)


def _columns(rows: list[tuple[bool, int, int, int]]) -> dict[str, Any]:
    names = ("compiled", "passed", "failed", "warnings")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ((True, 10, 0, 0), 1.0),
        ((True, 0, 0, 0), 0.5),
        ((True, 8, 2, 3), 0.87),
        ((True, 0, 0, 6), 0.44),
        ((True, 0, 0, 1), 0.49),
        ((True, 0, 7, 10), 0.4),
        ((True, 0, 7, 11), 0.4),
        ((False, 10, 0, 0), 0.0),
    ],
)
def test_known_scores(outcome: tuple[bool, int, int, int], expected: float) -> None:
    """Worked by hand from the formula of the metric's source."""
    compiled, passed, failed, warnings = outcome
    result = code_score(compiled=compiled, passed=passed, failed=failed, warnings=warnings)
    assert result.score == expected


def test_components_are_shown_even_when_nothing_compiled() -> None:
    """A sample that did not compile scores 0 and still says what else was seen."""
    result = code_score(compiled=False, passed=3, failed=1, warnings=4)
    assert (result.score, result.compilation, result.tests, result.clippy) == (0.0, 0.0, 0.75, 0.6)


def test_only_the_proportions_of_weights_count() -> None:
    """Products with the smallest floats would lose most of their digits."""
    for size in (5e-324, 1e-310, 1.0, 1e308):
        weights = CodeWeights(compilation=0, tests=size, clippy=0)
        assert code_score(compiled=True, passed=1, failed=3, weights=weights).score == 0.25


@given(OUTCOMES, st.tuples(*[st.floats(0, 100)] * 3).filter(any))
def test_score_is_the_exact_weighted_mean(
    outcome: tuple[bool, int, int, int], parts: tuple[float, float, float]
) -> None:
    """Oracle: the same formula in rationals, weights as they are written in decimal."""
    compiled, passed, failed, warnings = outcome
    weights = CodeWeights(compilation=parts[0], tests=parts[1], clippy=parts[2])
    components = (
        Fraction(1),
        Fraction(passed, max(passed + failed, 1)),
        Fraction(max(0, 10 - warnings), 10),
    )
    decimals = [Fraction(str(w)) for w in parts]
    exact = sum(w * x for w, x in zip(decimals, components, strict=True))
    total = sum(decimals)
    result = code_score(
        compiled=compiled, passed=passed, failed=failed, warnings=warnings, weights=weights
    )
    assert result.score == (float(exact / total) if compiled else 0.0)


@pytest.mark.parametrize("parts", [(0.4, 0.5, 0.1), (0.35, 0.6, 0.05), (0.1, 0.2, 1e-9)])
def test_columns_are_rounded_once_too(parts: tuple[float, float, float]) -> None:
    """Also with weights, or counts, too long for the products to be exact floats."""
    weights = CodeWeights(compilation=parts[0], tests=parts[1], clippy=parts[2])
    rows = [(True, *row) for row in product(range(8), range(8), range(12))]
    for more in ([], [(True, 2**53, 3, 1), (False, 1, 2**53, 0)]):
        ours = code_scores_from_columns(**_columns(rows + more), weights=weights).tolist()
        for (compiled, passed, failed, warnings), score in zip(rows + more, ours, strict=True):
            tests = Fraction(passed, max(passed + failed, 1))
            lint = Fraction(max(0, 10 - warnings), 10)
            a, b, c = (Fraction(str(part)) for part in parts)
            exact = (a + b * tests + c * lint) / (a + b + c)
            assert score == (float(exact) if compiled else 0.0)


@given(st.tuples(*[st.floats(0, 1e6)] * 3).filter(any))
def test_perfect_is_exactly_one_under_any_weights(parts: tuple[float, float, float]) -> None:
    """Weights that do not add up to 1 in floats must not cost a perfect sample its 1.0."""
    weights = CodeWeights(compilation=parts[0], tests=parts[1], clippy=parts[2])
    assert code_score(compiled=True, passed=3, weights=weights).score == 1.0


@given(OUTCOMES)
def test_more_passes_and_fewer_warnings_never_hurt(outcome: tuple[bool, int, int, int]) -> None:
    """The score is monotone in both counts."""
    compiled, passed, failed, warnings = outcome
    base = code_score(compiled=compiled, passed=passed, failed=failed, warnings=warnings)
    better = code_score(compiled=compiled, passed=passed + 1, failed=failed, warnings=warnings)
    worse = code_score(compiled=compiled, passed=passed, failed=failed, warnings=warnings + 1)
    assert worse.score <= base.score <= better.score


@given(st.lists(OUTCOMES, min_size=1))
def test_columns_give_what_single_calls_give(rows: list[tuple[bool, int, int, int]]) -> None:
    """Bit for bit, so that a table and a loop over it can be compared with ==."""
    one_by_one = [
        code_score(compiled=c, passed=p, failed=f, warnings=w).score for c, p, f, w in rows
    ]
    assert code_scores_from_columns(**_columns(rows)).tolist() == one_by_one


def test_pandas_nullable_integers_are_integers_and_a_missing_one_is_named() -> None:
    """A missing value turns a pandas column into floats; the message names where it is."""
    passed = pd.Series([1, 2], dtype="Int64")
    scores = code_scores_from_columns(compiled=[True, True], passed=passed, failed=0)
    assert scores.tolist() == [1.0, 1.0]
    with pytest.raises(
        InputError, match=r"^passed\[1\] must be True or False, 1 or 0; or a count"
    ):
        code_scores_from_columns(compiled=[True, True], passed=passed)
    with pytest.raises(InputError, match=f"^{re.escape(NO_OUTCOME)}nan$"):
        code_scores_from_columns(compiled=[True, True], passed=pd.Series([1, None], dtype="Int64"))


@refusals("""
compiled=2 -> TypeError: compiled must be True or False, got 2
passed=-1 -> InputError: passed must be an integer >= 0, got -1
passed="PASS" -> TypeError: passed must be True or False, or a count of tests, got 'PASS'
passed=[1, 2]
    -> TypeError: passed must be True or False, or a count of tests (of a column:
    code_scores_from_columns), got [1, 2]
failed=0.5 -> TypeError: failed must be an integer >= 0, got 0.5
passed=True, failed=2 -> InputError: failed must be 0 where passed is True, got 2
warnings=True -> TypeError: warnings must be an integer >= 0, got True
warnings=np.array([1, 2]) -> TypeError: warnings must be an integer >= 0, got array([1, 2])
weights={"tests": 1}
        -> TypeError: weights must be a CodeWeights, such as CodeWeights(compilation=0.4,
        tests=0.5, clippy=0.1), got {'tests': 1}
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(code_score, compiled=True)


@refusals("""
compiled=[] -> InputError: compiled must be a non-empty sequence of booleans, got ()
compiled="yes" -> TypeError: compiled must be a non-empty sequence of booleans, got 'yes'
compiled=[True, 2] -> TypeError: compiled[1] must be True or False, got 2
compiled=np.ones((2, 2), bool)
    -> InputError: compiled must be one-dimensional, got shape (2, 2)
passed=[1] -> InputError: passed and compiled must be equally long, got 1 and 2
failed=[1, True] -> TypeError: failed[1] must be an integer >= 0, got True
passed=[False, True], failed=[2, 1]
    -> InputError: failed[1] must be 0 where passed is True, got 1
passed=[True, None] -> InputError: {NO_OUTCOME}None
passed=["FAIL", "Passed"]
    -> TypeError: passed[0] must be True or False, 1 or 0, or a count of tests (if 'Passed'
    stands for True: [x == 'Passed' for x in passed]), got 'FAIL'
passed=[1, 2.0] -> TypeError: passed[1] must be an integer >= 0, got 2.0
passed=[1.0, 2.0] -> TypeError: passed[0] must be an integer >= 0, got 1.0
failed=[0, -2] -> InputError: failed[1] must be an integer >= 0, got -2
weights=None -> TypeError: weights must be a CodeWeights, such as...
""")
def test_column_errors(wrong: Refusal) -> None:
    """A bad entry is named by its position."""
    wrong.by(code_scores_from_columns, compiled=[True, False])


@refusals("""
tests=-0.1 -> InputError: tests must be a finite number >= 0, got -0.1
clippy=float("nan") -> InputError: clippy must be a finite number >= 0, got nan
compilation=0, tests=0, clippy=0
    -> InputError: weights must be numbers with a positive, finite sum, got (0, 0, 0)
compilation=1.7e308, tests=1.7e308
    -> InputError: weights must be numbers with a positive, finite sum, got (1.7e+308,
    1.7e+308, 0.1)
""")
def test_weight_errors(wrong: Refusal) -> None:
    """Weights are refused where they are made."""
    wrong.by(CodeWeights)


def test_missing_and_enormous_counts_are_named() -> None:
    """What float64 or int64 cannot hold is refused, whatever column it comes in."""
    for column in ([2**53 + 1], np.array([2**53 + 1]), [2**70]):
        with pytest.raises(
            InputError, match=r"^passed\[0\] must be an integer of at most 2\*\*53"
        ):
            code_scores_from_columns(compiled=[True], passed=column)


def test_a_flag_for_passed_is_about_all_tests() -> None:
    """True is one test passed, False one failed unless it is said how many; also in columns."""
    fields = [
        (code_score(compiled=True, passed=p, failed=f).passed, f, p)
        for p, f in ((True, 0), (False, 3))
    ]
    assert fields == [(1, 0, True), (0, 3, False)]
    assert code_score(compiled=True, passed=False) == code_score(compiled=True, failed=1)
    assert code_score(compiled=True, passed=bool(np.True_)) == code_score(compiled=True, passed=1)
    sample = CodeSample(case_id="a", model="m", compiled=True, passed=False)
    assert (sample.passed, sample.failed, sample.correct) == (0, 1, False)
    passed, failed = [True, False, False, 2], [0, 0, 3, 1]
    one_by_one = [
        code_score(compiled=True, passed=p, failed=f, warnings=2).score
        for p, f in zip(passed, failed, strict=True)
    ]
    scores = code_scores_from_columns(compiled=True, passed=passed, failed=failed, warnings=2)
    assert scores.tolist() == one_by_one
    flags = code_scores_from_columns(compiled=[True, False], passed=np.array([True, False]))
    assert flags.tolist() == [1.0, 0.0]
