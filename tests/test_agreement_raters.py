"""Several raters: published examples, other implementations, errors, and the definition."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals

from scorekit import rater_agreement
from scorekit.agreement import Scale

REFERENCE = json.loads((Path(__file__).parent / "data" / "rater_agreement.json").read_text())
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")

KRIPPENDORFF = (
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
)
FLEISS = """
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333
    144444 224445 333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224
    111155 224444 133333 555555
""".split()  # noqa: SIM905 - thirty lines of list else

TABLES = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.lists(st.none() | st.integers(-2, 3), min_size=n, max_size=n), min_size=2, max_size=4
    ).filter(
        lambda rows: any(sum(x is not None for x in item) > 1 for item in zip(*rows, strict=True))
    )
)


@pytest.mark.parametrize(
    ("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_example(scale: Scale, expected: float) -> None:
    """Krippendorff 2011, section D: four observers, twelve units, missing data."""
    result = rater_agreement(KRIPPENDORFF, scale=scale)
    assert result.score == pytest.approx(expected, abs=5e-4)
    assert (result.n_raters, result.n_items, result.n_left_out) == (4, 11, 1)
    assert (result.n_ratings, result.fleiss_kappa, result.fleiss_interval) == (40, None, None)


def test_fleiss_example() -> None:
    """Fleiss 1971: thirty patients, each diagnosed by six psychiatrists."""
    result = rater_agreement(zip(*FLEISS, strict=True), scale="nominal")
    assert result.fleiss_kappa == pytest.approx(0.430, abs=5e-4)
    low, high = ends(result.fleiss_interval)
    assert 0.25 < low < 0.430 < high < 0.56
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    counts = [[item.count(label) for label in "12345"] for item in FLEISS]
    assert result.fleiss_kappa == pytest.approx(inter_rater.fleiss_kappa(counts), rel=1e-12)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("case", REFERENCE["cases"])
def test_another_implementation_agrees(case: dict[str, Any], scale: Scale) -> None:
    """Reference values of the package krippendorff."""
    ratings = [
        [None if char == "." else ord(char) - 48 for char in row] for row in case["ratings"]
    ]
    assert rater_agreement(ratings, scale=scale).score == pytest.approx(case[scale], abs=1e-9)


def _by_definition(rows: list[list[Any]], scale: Scale) -> float | None:
    """Return alpha from all pairs of ratings, counted one by one."""
    items = [[x for x in item if x is not None] for item in zip(*rows, strict=True)]
    items = [item for item in items if len(item) > 1]
    pool = sorted(x for item in items for x in item)
    rank = {x: pool.index(x) + pool.count(x) / 2 for x in pool}

    def apart(a: Any, b: Any) -> float:
        if scale == "nominal":
            return float(a != b)
        return float(rank[a] - rank[b] if scale == "ordinal" else a - b) ** 2

    seen = math.fsum(
        apart(a, b) / (len(item) - 1) for item in items for a, b in permutations(item, 2)
    )
    by_chance = math.fsum(apart(a, b) for a, b in permutations(pool, 2))
    return 1 - seen * (len(pool) - 1) / by_chance if by_chance else None


@given(TABLES, st.sampled_from(SCALES))
def test_it_is_the_definition(rows: list[list[Any]], scale: Scale) -> None:
    """Oracle: the definition, pair by pair; and laws of the interval."""
    result = rater_agreement(rows, scale=scale)
    expected = _by_definition(rows, scale)
    if expected is None:
        assert (result.score, result.stderr, result.interval) == (None, None, None)
        assert result.reason == "every rating is the same"
        assert result.fleiss_kappa is None
        return
    low, high = ends(result.interval)
    assert result.score == pytest.approx(expected, abs=1e-9)
    assert -1 <= low <= present(result.score) + 1e-12
    assert present(result.score) <= high + 1e-12 <= 1 + 1e-9


@given(TABLES, st.sampled_from(SCALES), st.randoms(use_true_random=False))
def test_order_and_origin_do_not_matter(rows: list[list[Any]], scale: Scale, random: Any) -> None:
    """Raters and items in another order, ratings moved and stretched."""
    result = rater_agreement(rows, scale=scale)
    items = list(zip(*rows, strict=True))
    random.shuffle(items)
    turned = [list(row) for row in zip(*items, strict=True)][::-1]
    moved = [[None if x is None else 0.25 * x - 7 for x in row] for row in turned]
    other = rater_agreement(moved, scale=scale)
    for name in ("score", "stderr", "fleiss_kappa"):
        assert getattr(other, name) == pytest.approx(getattr(result, name), abs=1e-9), name
    assert other.n_items == result.n_items


def test_few_items_without_disagreement_prove_little() -> None:
    """Agreement on five items is compatible with much less; on five hundred with little less."""
    few, many = (rater_agreement([[0, 1] * n] * 3, scale="nominal") for n in (5, 500))
    assert few.score == many.score == 1.0
    assert present(few.interval).low < 0.7
    assert 0.95 < present(many.interval).low < 1.0
    one = rater_agreement([[1], [2]], scale="interval")
    assert (one.score, one.stderr, ends(one.interval)) == (0.0, None, (-1.0, 1.0))


def test_a_rater_who_rated_nothing_counts_for_nothing() -> None:
    """So does a missing value of any kind, and a column of any type."""
    rows = [[1, 2, 2, 1, 3], [1, 2, 3, 1, 3]]
    result = rater_agreement(rows, scale="interval")
    assert result.fleiss_kappa is not None
    frame = pd.DataFrame(rows).T
    silent: Any = [*rows, [None, math.nan, pd.NA, None, None]]
    for ratings in (silent, [frame[0], frame[1]], np.array([*rows, [np.nan] * 5])):
        assert rater_agreement(ratings, scale="interval") == result


def test_names_may_be_anything() -> None:
    """A nominal rating is a name; booleans of graded scales count 0 and 1."""
    words = rater_agreement([["good", "bad", "good"], ["good", "bad", "bad"]], scale="nominal")
    numbers = rater_agreement([[1, 0, 1], [True, False, False]], scale="interval")
    assert words.score == pytest.approx(numbers.score)
    assert str(words).splitlines() == [
        "nominal alpha 0.4 [-0.7, 1.0], Fleiss' kappa 0.3 [-1.0, 1.0] (95 %, 2 raters, 3 items)",
        "not shown to be reliable by Krippendorff's rule, alpha of 0.8 or more",
    ]
    same = rater_agreement([[1, 1], [1, 1]], scale="nominal")
    assert str(same) == "nominal alpha none (every rating is the same) (2 raters, 2 items)"


@refusals("""
ratings=[[1, 2]] -> InputError: ratings must be a row for each of two raters or more, got 1
ratings=[] -> InputError: ratings must be a non-empty sequence of rows, got ()
ratings=[[1, 2], [1]] -> InputError: ratings[1] must be 2 ratings, as ratings[0] has, got 1
ratings=[[1, None], [None, 2]]
    -> InputError: ratings must be a table with an item that two raters rated, got [[1, None],
    [None, 2]]
ratings=[[1, 2], [1, math.inf]]
    -> InputError: ratings[1][1] must be a number in [-1e+100, 1e+100], got inf
ratings=[[1, "2"], [1, 2]]
    -> TypeError: ratings[0][1] must be a number in [-1e+100, 1e+100], got '2'
ratings=[[1, []], [1, 2]], scale="nominal"
    -> TypeError: ratings[0][1] must be a hashable label, got []
ratings=["12", [1, 2]]
    -> TypeError: ratings[0] must be a non-empty sequence of ratings, got '12'
ratings=pd.DataFrame([[1, 2], [1, 2]])
    -> TypeError: ratings must be a non-empty sequence of rows, got a DataFrame
scale="ratio" -> InputError: scale must be one of 'nominal', 'ordinal', 'interval', got 'ratio'
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(rater_agreement, ratings=[[1, 2, 3], [1, 2, 2]], scale="interval")
