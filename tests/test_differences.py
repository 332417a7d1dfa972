"""Paired differences: sourced values, errors, laws, and scipy as the oracle."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats

from scorekit import compare_reports, mean_interval, paired_difference

REFERENCE = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())
EIGHTHS = st.integers(-800, 800).map(lambda eighths: eighths / 8)
PAIRS = st.lists(st.tuples(EIGHTHS, EIGHTHS), min_size=2, max_size=12)


def test_reference() -> None:
    """Every value of the reference, made before this code."""
    (case,) = REFERENCE["paired_difference"]
    result = paired_difference(case["input"]["a"], case["input"]["b"])
    expected = case["output"]
    low, high = expected.pop("ci95")
    assert ends(result.interval) == pytest.approx((low, high), rel=1e-9)
    found = {
        "diff": result.delta, "se": result.stderr, "t": result.delta / present(result.stderr),
        "p_t": result.p_value, "p_signflip_exact": result.sign_flip_p_value,
        "se_unpaired": result.stderr_unpaired,
    }  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-9)


@given(PAIRS)
def test_scipy_agrees(pairs: list[tuple[float, float]]) -> None:
    """Oracle: scipy's paired t test, permutations of signs, and Pearson's correlation."""
    old, new = (np.array(side) for side in zip(*pairs, strict=True))
    result = paired_difference(old, new)
    exact = stats.permutation_test(
        (new - old,), np.sum, permutation_type="samples", vectorized=True, n_resamples=2**13
    )
    assert result.sign_flip_p_value == pytest.approx(exact.pvalue)
    spreads = [float(np.ptp(side)) for side in (new - old, old, new)]
    if min(spreads) > 1e-6:
        theirs = stats.ttest_rel(new, old)
        assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-6)
        expected = tuple(theirs.confidence_interval(0.95))
        assert ends(result.interval) == pytest.approx(expected, rel=1e-6)
        assert result.stderr_unpaired == pytest.approx(math.hypot(stats.sem(old), stats.sem(new)))
        assert result.correlation == pytest.approx(stats.pearsonr(old, new).statistic, abs=1e-6)


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(0, 3)), min_size=2, max_size=15
    )
)
def test_it_agrees_with_the_verdict_and_with_mean_interval(
    rows: list[tuple[float, float, int]],
) -> None:
    """One score for each case: `compare_reports` is as sure as this, clusters and all."""
    old, new, labels = zip(*rows, strict=True)
    sides = [{str(i): score for i, score in enumerate(side)} for side in (old, new)]
    clusters = {str(i): label for i, label in enumerate(labels)}
    for own, named in ((labels, clusters), (None, None)):
        result = paired_difference(old, new, clusters=own)
        suite = compare_reports(*sides, clusters=named).suite
        means = mean_interval(np.array(new) - np.array(old), clusters=own, weights="attempts")
        assert result.delta == pytest.approx(np.mean(new) - np.mean(old), abs=1e-12)
        if result.stderr and result.stderr > 1e-6 and suite.test.endswith(" t"):
            least = min(1.0, 2 * 0.5 ** (len(set(labels)) if named else len(old)))
            assert suite.p_value >= least  # by a t that is cut, so that none hides another
            assert suite.p_value <= max(present(result.p_value), least) * (1 + 1e-6)
            assert ends(result.interval) == pytest.approx(ends(means), abs=1e-9)
            assert present(result.interval).method == means.method


def test_what_cannot_be_told_is_none() -> None:
    """Exact edges: one task, one cluster, no change, the same change everywhere."""
    one = paired_difference([1], [0])
    assert (one.stderr, one.interval, one.p_value, one.stderr_unpaired) == (None,) * 4
    assert (one.delta, one.sign_flip_p_value, one.correlation) == (-1.0, 1.0, None)
    assert (one.baseline_mean, one.current_mean, str(one)) == (1.0, 0.0, "-1 (1 task)")
    cluster = paired_difference([1, 0, 1], [0, 0, 1], clusters=["db"] * 3)
    assert (cluster.stderr, cluster.interval, cluster.n_groups) == (None, None, 1)
    same = paired_difference([0.1, 0.7, 1.0], [0.1, 0.7, 1.0])
    assert (same.delta, same.stderr, same.interval, same.p_value) == (0.0, 0.0, None, None)
    assert same.sign_flip_p_value == 1.0
    assert same.correlation == pytest.approx(1.0)
    shifted = paired_difference([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5])
    assert (shifted.stderr, shifted.p_value) == (0.0, None)
    assert shifted.sign_flip_p_value == 2 / 2**4
    assert str(shifted) == "+0.1 (4 tasks)"


def test_clusters_flip_together() -> None:
    """Four tasks of two databases are two signs; a cluster that evens out is none."""
    result = paired_difference([0, 0, 0, 0], [1, 1, 0.5, 0.5], clusters=["a", "a", "b", "b"])
    assert result.sign_flip_p_value == 0.5
    even = paired_difference([0, 0.1, 0, 0], [0.1, 0, 1, 1], clusters=["a", "a", "b", "c"])
    assert even.sign_flip_p_value == 0.5


@pytest.mark.parametrize(("n_changed", "expected"), [(20, 2 / 2**20), (21, None)])
def test_signs_are_counted_up_to_twenty_changes(n_changed: int, expected: float | None) -> None:
    """All of them fell, by unlike amounts: only two of the ways are as far out."""
    fallen = np.arange(n_changed) / 100
    result = paired_difference([1] * 30, [*fallen, *[1] * (30 - n_changed)])
    assert result.sign_flip_p_value == expected


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=60), st.sampled_from([0.1, 1.0, 7.0]))
def test_equal_changes_of_any_number(signs: list[int], size: float) -> None:
    """Oracle: scipy's binomial test, McNemar's exact; also where all change alike."""
    old = np.full(len(signs), 0.3)
    result = paired_difference(old, old + size * np.array(signs))
    changed = len(signs) - signs.count(0)
    expected = stats.binomtest(signs.count(1), changed).pvalue if changed else 1.0
    assert result.sign_flip_p_value == pytest.approx(expected)


def test_large_values_hide_no_small_changes() -> None:
    """What two numbers differ by counts, however large a third one is."""
    result = paired_difference([10**13, 1, 2, 3], [10**13, 2, 3, 4])
    assert (result.delta, result.sign_flip_p_value) == (0.75, 0.25)
    assert result.stderr == pytest.approx(0.25)
    times = np.full(1000, 1.7e9)
    later = times + np.array([0.5, 0.25, 0.125, 0.0625, -0.5] + [0] * 995)
    few = paired_difference(times[:5], later[:5])
    assert paired_difference(times, later).sign_flip_p_value == few.sign_flip_p_value == 0.625
    even = paired_difference([1, 2, 3], [2, 2, 2])
    assert (even.delta, even.p_value, even.sign_flip_p_value) == (0.0, 1.0, 1.0)
    assert paired_difference([0.1, 0.7], [0.1, 0.7]).correlation == 1.0


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_scale_does_not_matter(scale: float) -> None:
    """Seconds or years: statistics without a unit stay, the others scale."""
    old, new = np.array([1.0, 0.5, 0.25, 0.0]), np.array([0.5, 0.75, 0.0, 0.25])
    plain, scaled = paired_difference(old, new), paired_difference(old * scale, new * scale)
    for name in ("delta", "baseline_mean", "current_mean", "stderr"):
        expected = getattr(plain, name) * scale
        assert getattr(scaled, name) == pytest.approx(expected, rel=1e-12), name
    for name in ("p_value", "sign_flip_p_value", "correlation"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-9), name


def test_the_same_rows_pair_by_place() -> None:
    """Two pandas columns in one order, or without an index that says another one."""
    old = pd.Series([1.0, 0.0, 0.5], index=["a", "b", "c"])
    assert paired_difference(old, old.loc[old.index]).delta == 0.0
    assert paired_difference(old, old[::-1].reset_index(drop=True)).delta == 0.0


VALUES, TURNED = pd.Series([0, 1, 0]), pd.Series([1, 1, 0], index=[2, 1, 0])


@refusals("""
paired_difference(VALUES, TURNED)
    -> InputError: current must have its rows in the order of baseline, got the same index in
    another order; pass current.loc[baseline.index], or both as .to_numpy() to pair them as is
pass_at_k(n_samples=VALUES + 5, n_correct=TURNED)
    -> InputError: n_correct must have its rows in the order of n_samples...
mean_interval(VALUES, clusters=TURNED)
    -> InputError: clusters must have its rows in the order of values...
paired_difference(VALUES, VALUES, clusters=TURNED)
    -> InputError: clusters must have its rows in the order of baseline...
pass_at_k(n_samples=VALUES + 5, n_correct=VALUES, clusters=TURNED)
    -> InputError: clusters must have its rows in the order of n_samples...
cost_of_pass_from_columns(cost_usd=VALUES, passed=VALUES, clusters=TURNED)
    -> InputError: clusters must have its rows in the order of cost_usd...
code_scores_from_columns(compiled=VALUES == 0, passed=TURNED)
    -> InputError: passed must have its rows in the order of compiled...
code_report_from_columns(case_id=VALUES.astype(str), model="m", passed=TURNED)
    -> InputError: passed must have its rows in the order of case_id...
sql_cases_from_columns(case_id=VALUES.astype(str), generated=TURNED.astype(str))
    -> InputError: generated must have its rows in the order of case_id...
""")
def test_rows_in_another_order_are_refused(wrong: Refusal) -> None:
    """The same index in another order is a mistake, in every column that goes with a first one."""
    wrong.by_itself()


@pytest.mark.parametrize(("first", "second"), [
    ([0, 0, 1, 1], [0, 1, 1, 1]),
    ([0, 1, 0, 1], [1, 0, 1, 0]),
    ([0, 1, 2, 3], [1, 2, 3, 4]),
    ([0, "a", None, 1], ["a", 0, 1, None]),
])  # fmt: skip
def test_other_indexes_pair_by_place(first: list[Any], second: list[Any]) -> None:
    """Labels that repeat, differ or have no order do not say which row belongs where."""
    old, new = pd.Series([1.0, 0, 1, 0], index=first), pd.Series([0.0, 0, 1, 0], index=second)
    assert paired_difference(old, new).delta == -0.25


@refusals("""
baseline=[] -> InputError: baseline must be a non-empty sequence of numbers, got ()
current=[1] -> InputError: baseline and current must be equally long, got 2 and 1
current=[1, math.inf] -> InputError: current[1] must be a number in [-1e+300, 1e+300], got inf
baseline=["1", 0] -> TypeError: baseline[0] must be a number in [-1e+300, 1e+300], got '1'
clusters=["a"] -> InputError: clusters must be 2 labels, one for each entry, got 1
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(paired_difference, baseline=[1.0, 0.0], current=[1.0, 1.0])


def test_what_rounding_has_left_prints_as_0() -> None:
    """As sums in another order do; what is not rounding keeps its digits."""
    scores = [0.1, 0.2, 0.3, 0.4]
    same = paired_difference(scores, [0.1 + 1e-17, *scores[1:]])
    assert same.delta > 0.0
    assert str(same) == "+0 (4 tasks)"
    assert str(paired_difference(scores, [0.1 + 1e-9, *scores[1:]])).startswith(
        "inconclusive: +0.0000000002 "
    )
