"""Differences of two groups: published examples, errors, laws, and scipy as the oracle."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats

from scorekit import unpaired_difference
from scorekit.intervals import unseen_interval

QUARTERS = st.integers(-40, 40).map(lambda quarters: quarters / 4)
GROUPS = st.tuples(
    st.lists(QUARTERS, min_size=2, max_size=12), st.lists(QUARTERS, min_size=2, max_size=12)
)


def test_published_examples() -> None:
    """Cliff's delta of the R package effsize; the rank sum test of scipy's guide."""
    treatment = [10, 10, 20, 20, 20, 30, 30, 30, 40, 50]
    control = [10, 20, 30, 40, 40, 50]
    assert unpaired_difference(control, treatment).cliffs_delta == pytest.approx(-0.25)
    males, females = [19, 22, 16, 29, 24], [20, 11, 17, 12]
    result = unpaired_difference(females, males)
    assert result.mann_whitney_p_value == pytest.approx(1 / 9)
    assert result.cliffs_delta == pytest.approx(2 * 17 / 20 - 1)


@given(GROUPS)
def test_scipy_agrees(groups: tuple[list[float], list[float]]) -> None:
    """Oracle: Welch's test, and the statistic behind Cliff's delta."""
    old, new = groups
    result = unpaired_difference(old, new)
    statistic = float(stats.mannwhitneyu(new, old).statistic)
    assert result.cliffs_delta == pytest.approx(2 * statistic / len(old) / len(new) - 1)
    if np.ptp(old) and np.ptp(new):
        theirs: Any = stats.ttest_ind(new, old, equal_var=False)
        expected = tuple(theirs.confidence_interval(0.95))
        assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
        assert ends(result.interval) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(*[st.lists(st.integers(0, 3), min_size=1, max_size=5)] * 2)
def test_the_rank_sum_test_counts_all_ways(old: list[int], new: list[int]) -> None:
    """Oracle: enumeration, ties included."""
    ranks = stats.rankdata([*old, *new])
    seen = ranks[len(old) :].sum()
    sums = np.array([sum(chosen) for chosen in combinations(ranks, len(new))])
    expected = min(1.0, 2 * min(np.mean(sums <= seen), np.mean(sums >= seen)))
    assert unpaired_difference(old, new).mann_whitney_p_value == pytest.approx(expected)


@pytest.mark.parametrize(("n", "m", "method"), [(7, 8, "exact"), (30, 30, "exact"), (40, 90, "a")])
def test_the_rank_sum_test_is_scipys(n: int, m: int, method: str) -> None:
    """Oracle: exact without ties up to 60 values, beyond them normal; ties are corrected for."""
    rng = np.random.default_rng(n)
    old, new = rng.normal(0, 1, n), rng.normal(0.3, 2, m)
    if method == "a":
        method, old, new = "asymptotic", old.round(1), new.round(1)
    expected: Any = stats.mannwhitneyu(new, old, method=method)  # type: ignore[call-overload]
    result = unpaired_difference(old, new)
    assert result.mann_whitney_p_value == pytest.approx(expected.pvalue, rel=1e-9)


@given(GROUPS, st.sampled_from([None, (-10, 10)]))
def test_swapped_groups_turn_the_signs(
    groups: tuple[list[float], list[float]], bounds: tuple[float, float] | None
) -> None:
    """What is not signed stays."""
    one = unpaired_difference(*groups, bounds=bounds)
    other = unpaired_difference(*groups[::-1], bounds=bounds)
    assert one.delta == pytest.approx(-other.delta, abs=1e-12)
    assert one.cliffs_delta == pytest.approx(-other.cliffs_delta)
    assert one.mann_whitney_p_value == pytest.approx(other.mann_whitney_p_value)
    for name in ("cliffs_delta_interval", "interval"):
        if getattr(one, name) is not None:
            low, high = ends(getattr(other, name))
            assert ends(getattr(one, name)) == pytest.approx((-high, -low), abs=1e-9)
    assert -1 <= one.cliffs_delta_interval.low <= one.cliffs_delta <= 1


@given(GROUPS)
def test_cliffs_delta_knows_no_scale(groups: tuple[list[float], list[float]]) -> None:
    """Any rising function of the values leaves it, its interval and the rank sum test."""
    one = unpaired_difference(*groups)
    other = unpaired_difference(*(np.exp(np.array(side)) for side in groups))
    for name in ("cliffs_delta", "cliffs_delta_interval", "mann_whitney_p_value"):
        assert getattr(one, name) == getattr(other, name), name


def test_groups_apart_have_an_interval_with_width() -> None:
    """Five values above five others do not show that all are."""
    result = unpaired_difference([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
    assert result.cliffs_delta == 1.0
    assert result.cliffs_delta_interval.high == 1.0
    assert 0.0 < result.cliffs_delta_interval.low < 0.1
    assert result.mann_whitney_p_value == pytest.approx(2 / 252)
    many = unpaired_difference(range(100), range(100, 200))
    assert 0.9 < many.cliffs_delta_interval.low < 1.0


def test_what_cannot_be_told_is_none() -> None:
    """Exact edges: a single value, no variation, all alike."""
    single = unpaired_difference([1], [2, 3])
    assert (single.stderr, single.interval, single.p_value) == (None, None, None)
    assert (single.cliffs_delta, ends(single.cliffs_delta_interval)) == (1.0, (-1.0, 1.0))
    assert str(single) == (
        "+1.5 (1 and 2 values), Cliff's delta +1 [-1, +1] (Mann-Whitney p = 0.67)"
    )
    alike = unpaired_difference([0.1] * 30, [0.1] * 9)
    assert (alike.delta, alike.stderr, alike.interval, alike.p_value) == (0, 0, None, None)
    assert (alike.cliffs_delta, alike.mann_whitney_p_value) == (0, 1)
    assert alike.cliffs_delta_interval.low < -0.3
    low, high = ends(unpaired_difference([1] * 30, [1] * 30, bounds=(0, 1)).interval)
    assert -0.2 < low < 0 < high < 0.2
    apart = unpaired_difference([0.0, 0.0], [1.0, 1.0])
    assert (apart.delta, apart.stderr, apart.p_value) == (1.0, 0.0, None)


def test_bounds_join_both_intervals() -> None:
    """Each side as far as Gaffke's interval, as roots of sums of squares; p is of the same."""
    old, new = [1, 1, 0.5, 1, 1, 0, 1, 1], [0.5, 0, 0, 1, 0.5, 0]
    result = unpaired_difference(old, new, bounds=(0, 1))
    one, other = (
        unseen_interval(np.array(side, float), np.arange(len(side)), 0.95, (0.0, 1.0))
        for side in (old, new)
    )
    below = math.hypot(result.current_mean - other.low, one.high - result.baseline_mean)
    assert present(result.interval).low == pytest.approx(result.delta - below)
    assert present(result.interval).method == "gaffke"


FEW_KINDS = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=12)


@given(FEW_KINDS, FEW_KINDS, st.sampled_from([(0, 1), (-1, 3)]))
def test_bounded_p_values_are_those_of_the_interval(
    old: list[float], new: list[float], bounds: tuple[float, float]
) -> None:
    """At 1 minus the p value one end is 0, and a little below the interval leaves it out."""
    result = unpaired_difference(old, new, bounds=bounds)
    p, (low, high) = present(result.p_value), ends(result.interval)
    if not 1e-9 < p < 1.0:
        return
    at = unpaired_difference(old, new, bounds=bounds, confidence_level=1 - p).interval
    assert min(map(abs, ends(at))) < 1e-6
    assert (p < 0.05) == (not low <= 0 <= high)


def test_few_equal_groups_of_good_scores_differ() -> None:
    """The p value of the interval is below .05 for one in twenty at most."""
    rng, found = np.random.default_rng(6), 0
    for _ in range(80):
        old, new = (np.where(rng.random(n) < 0.95, 1.0, rng.random(n)) for n in (40, 10))
        found += present(unpaired_difference(old, new, bounds=(0, 1)).p_value) <= 0.05
    assert found <= 8


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e299])
def test_the_scale_does_not_matter(scale: float) -> None:
    """Statistics without a unit stay, the others scale."""
    old, new = np.array([1.0, 0.5, 0.25, 0.0]), np.array([5.0, 0.75, 2.0])
    plain, scaled = unpaired_difference(old, new), unpaired_difference(old * scale, new * scale)
    assert scaled.delta == pytest.approx(plain.delta * scale, rel=1e-12)
    assert scaled.stderr == pytest.approx((plain.stderr or 0) * scale, rel=1e-12)
    assert scaled.p_value == pytest.approx(plain.p_value, rel=1e-9)
    assert scaled.cliffs_delta_interval == plain.cliffs_delta_interval


@refusals("""
baseline=[] -> InputError: baseline must be a non-empty sequence of booleans or scores, got ()
current=[1, math.nan] -> InputError: current[1] must be a number in [-1e+300, 1e+300], got nan
current=[1, 2], bounds=(0, 1) -> InputError: current[1] must be a number in [0, 1], got 2.0
bounds=(1, 0)
    -> InputError: bounds must be two numbers in rising order, their difference finite, got (1,
    0)
baseline=["1", 0] -> TypeError: baseline[0] must be a number in [-1e+300, 1e+300], got '1'
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(unpaired_difference, baseline=[1.0, 0.0], current=[1.0])


@pytest.mark.parametrize(("baseline", "current", "words"), [
    ([1, 2, 3], [11, 12, 13], "current is higher: +10 ["),
    ([11, 12, 13], [1, 2, 3], "current is lower: -10 ["),
    ([1, 2, 3], [2, 1, 3], "inconclusive: +0 ["),
    ([1, 2, 3], [2], "+0 (3 and 1 values), "),  # nothing is known of its error
])  # fmt: skip
def test_printed_it_says_what_was_found(
    baseline: list[float], current: list[float], words: str
) -> None:
    """Higher may be better or worse, so it says which, and no more."""
    assert str(unpaired_difference(baseline, current)).startswith(words)
