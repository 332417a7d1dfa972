"""mcnemar_test and the p value of a case: references, other libraries, enumeration, laws."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import Refusal, refusals
from scipy import stats

from scorekit import compare_reports, mcnemar_test
from scorekit._stats.exact_tests import drop_p_value, fall_p_value, least_p_value
from scorekit.comparison import CaseChange

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "evidence.json").read_text("utf-8"))

COUNTS = st.integers(0, 300)
GROUPS = st.integers(1, 90).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def p_values(falls: int, rises: int) -> tuple[float, float, float | None, float]:
    """Return all p values of a test."""
    one = mcnemar_test(n_pass_to_fail=falls, n_fail_to_pass=rises)
    assert (one.n_pass_to_fail, one.n_fail_to_pass) == (falls, rises)
    return one.p_value, one.mid_p_value, one.corrected_p_value, one.regression_p_value


def attempts(n_attempts: int, n_passes: int) -> list[int]:
    """Return the scores of so many attempts."""
    return [1] * n_passes + [0] * (n_attempts - n_passes)


def change(before: tuple[int, int], after: tuple[int, int]) -> CaseChange | None:
    """Return the change of one case between two pairs of attempts and passes."""
    result = compare_reports({"a": attempts(*before)}, {"a": attempts(*after)}, threshold=0)
    return next(iter((*result.regressions, *result.improvements)), None)


@pytest.mark.parametrize("case", REFERENCE["mcnemar"])
def test_mcnemar_reference(case: dict[str, Any]) -> None:
    """Counts and p values made before this code, and what `print` shows."""
    names = ("exact", "mid_p", "chi2_cc", "one_sided_regression_p")
    found = p_values(case["input"]["b"], case["input"]["c"])
    expected = [case["output"][name] for name in names]
    if expected[2] and case["input"]["b"] == case["input"]["c"]:
        expected[2] = 1.0  # the reference squares a corrected difference of -1
    assert [*found] == [one if one is None else pytest.approx(one, rel=1e-9) for one in expected]
    text = "12 of 15 changed tasks fell (mid-p = 0.021, exact p = 0.035)"
    assert str(mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=3)) == text


@given(COUNTS, COUNTS)
def test_mcnemar_against_statsmodels_and_scipy(falls: int, rises: int) -> None:
    """Oracle: statsmodels' exact and corrected tests, and scipy's binomial test."""
    statsmodels = pytest.importorskip("statsmodels.stats.contingency_tables")
    assume(falls + rises)
    p_value, _, corrected, regression = p_values(falls, rises)
    table = [[7, falls], [rises, 5]]
    assert p_value == pytest.approx(statsmodels.mcnemar(table, exact=True).pvalue, rel=1e-9)
    theirs = statsmodels.mcnemar(table, exact=False, correction=True).pvalue
    # where as many fell as rose, it squares a difference of -1: the correction made p smaller
    assert corrected == pytest.approx(theirs if falls != rises else 1.0, rel=1e-9)
    one_sided = stats.binomtest(falls, falls + rises, alternative="greater").pvalue
    assert regression == pytest.approx(one_sided, rel=1e-9)


@given(COUNTS, COUNTS)
def test_mcnemar_equals_enumeration(falls: int, rises: int) -> None:
    """Oracle: every number of falls there could have been, in exact rationals; sides swap."""
    n = falls + rises
    chance = [Fraction(math.comb(n, i), 2**n) for i in range(n + 1)]
    seen = chance[falls]
    two_sided = sum(c for c in chance if c <= seen)
    p_value, mid_p_value, corrected, regression = p_values(falls, rises)
    half = 0 if falls == rises else seen  # of the outcome and its mirror image
    exact = two_sided, two_sided - half, sum(chance[falls:])
    assert (p_value, mid_p_value, regression) == pytest.approx(tuple(map(float, exact)), rel=1e-9)
    assert 0 <= mid_p_value <= p_value <= 1
    assert p_values(rises, falls)[:3] == (p_value, mid_p_value, corrected)
    assert (corrected is None) == (n == 0)


@pytest.mark.newest
@pytest.mark.parametrize("few", [2**53 - 10**8, 10**15, 0])
def test_huge_counts_are_as_normal(few: int) -> None:
    """At the largest count nothing hangs, and every test says what a normal tail says."""
    two_sided = math.erfc((2**53 - few) / math.sqrt(2 * (2**53 + few)))
    p_value, mid_p_value, corrected, regression = p_values(2**53, few)
    assert (p_value, mid_p_value, corrected) == pytest.approx([two_sided] * 3, rel=1e-6)
    assert regression == pytest.approx(two_sided / 2, rel=1e-6)
    assert p_values(2**53, 2**53) == pytest.approx((1, 1, 1, 0.5), rel=1e-7)


@refusals("""
n_pass_to_fail=-1 -> InputError: n_pass_to_fail must be an integer >= 0, got -1
n_fail_to_pass=2.0 -> TypeError: n_fail_to_pass must be an integer >= 0, got 2.0
n_pass_to_fail=True -> TypeError: n_pass_to_fail must be an integer >= 0, got True
n_fail_to_pass=2**53 + 1
    -> InputError: n_fail_to_pass must be an integer of at most 2**53, got 9007199254740993
""")
def test_mcnemar_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(mcnemar_test, n_pass_to_fail=3, n_fail_to_pass=3)


def test_fisher_reference() -> None:
    """Attempts and passes of either run, and the p value of a fall, made before this code."""
    (case,) = REFERENCE["fisher_one_sided"]
    tasks = case["input"]["tasks_nA_cA_nB_cB"]
    assert [drop_p_value(*task) for task in tasks] == pytest.approx(case["output"], rel=1e-9)


@given(GROUPS, GROUPS)
def test_drop_equals_enumeration(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Oracle: all ways to share out the passes, in exact rationals."""
    (n_old, c_old), (n_new, c_new) = before, after
    ways = [
        math.comb(n_new, i) * math.comb(n_old, c_old + c_new - i)
        for i in range(min(n_new, c_old + c_new) + 1)
    ]
    exact = float(Fraction(sum(ways[: c_new + 1]), sum(ways)))
    rel = 0.0 if n_old + n_new <= 100 else 1e-12
    assert drop_p_value(*before, *after) == pytest.approx(exact, rel=rel, abs=0.0)
    found = change(before, after)
    if found is None:
        assert c_old * n_new == c_new * n_old
    else:
        assert found.p_value == pytest.approx(exact, rel=1e-9)


def test_many_attempts_at_one_case() -> None:
    """Oracle: scipy's hypergeometric distribution; neither digits nor time are lost to size."""
    shape = (10**6, 500_000, 10**6, 498_000)
    theirs = stats.hypergeom(2 * 10**6, 998_000, 10**6).cdf(498_000)
    assert drop_p_value(*shape) == pytest.approx(theirs, rel=1e-8)
    assert drop_p_value(10**5, 10**5, 10**5, 0) == 0.0


def test_which_changes_have_a_p_value() -> None:
    """All that both sides have; a single attempt on either side says next to nothing."""
    before: dict[str, Any] = {"one": True, "many": [1, 1, 1, 1.0], "share": [1, 0.5], "gone": 1}
    after: dict[str, Any] = {"one": False, "many": np.zeros(4), "share": [0, 0], "new": 0}
    result = compare_reports(before, after, attempts="independent")
    changes = (*result.regressions, *result.new_cases, *result.removed_cases)
    assert {c.case_id: (c.p_value, c.adjusted_p_value) for c in changes} == {
        "one": (0.5, None),
        "many": pytest.approx((1 / 70, 1 / 70)),
        "share": (pytest.approx(1 / 6), None),
        "gone": (None, None),
        "new": (None, None),
    }


MILLIONTHS = st.integers(0, 10**6).map(lambda n: n / 10**6)  # alike, or apart beyond rounding
GRADES = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.9, 1.0]) | MILLIONTHS
GRADED = st.lists(GRADES, min_size=1, max_size=5).map(tuple)


def sums(before: tuple[float, ...], after: tuple[float, ...]) -> list[float]:
    """Return the sums of the second group over all ways to choose it."""
    return [math.fsum(chosen) for chosen in combinations(before + after, len(after))]


@given(GRADED, GRADED)
def test_graded_attempts_equal_enumeration(
    before: tuple[float, ...], after: tuple[float, ...]
) -> None:
    """Oracle: every way to share out the scores."""
    every = sums(before, after)
    share = np.mean([one <= math.fsum(after) + 1e-9 for one in every])
    assert fall_p_value(before, after) == pytest.approx(share, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_graded_attempts_against_scipy(seed: int, n: int) -> None:
    """Oracle: scipy's exact permutation test of two groups that half of all scores are in."""
    rng = np.random.default_rng(seed)
    before, after = rng.integers(0, 9, n) / 8, rng.integers(0, 7, min(n, 5)) / 8
    theirs = stats.permutation_test(
        (after, before), _difference, alternative="less", n_resamples=10**5, vectorized=True
    )
    assert fall_p_value(tuple(before), tuple(after)) == pytest.approx(theirs.pvalue, rel=1e-9)


def _difference(first: Any, second: Any, axis: int = -1) -> Any:
    return first.mean(axis=axis) - second.mean(axis=axis)


def test_many_graded_attempts_go_on_a_grid() -> None:
    """Oracle: the chance of each sum of hundredths, made by adding one attempt after another."""
    rng = np.random.default_rng(5)
    before, after = rng.integers(0, 101, 14) / 100, rng.integers(0, 90, 12) / 100
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})
    for score in np.rint(100 * np.concatenate([before, after])).astype(int).tolist():
        ways.update({(n + 1, total + score): k for (n, total), k in list(ways.items())})
    most = round(100 * after.sum())
    few = sum(k for (n, total), k in ways.items() if n == 12 and total <= most)
    found = fall_p_value(tuple(before), tuple(after))
    assert found == pytest.approx(few / math.comb(26, 12), rel=1e-9)
    finer = fall_p_value(tuple(before + 0.003), tuple(after + 0.003))
    assert finer == pytest.approx(found, rel=1e-9)
    for n in (60, 3000):  # so many that scores count as 0 or 1 at last
        steep = fall_p_value((0.9,) * n, (0.9,) * (n - 9) + (0.1,) * 9)
        assert steep == pytest.approx(stats.hypergeom(2 * n, 9, n).pmf(9), rel=1e-9)


@pytest.mark.parametrize("n", [1, 3, 10, 514])
def test_the_least_p_value_of_so_many_attempts(n: int) -> None:
    """One arrangement of all; of more than a float can count it is next to nothing."""
    assert least_p_value(n, n) == pytest.approx(1 / math.comb(2 * n, n), rel=1e-9)
    assert least_p_value(10_000, 10_000) == 0.0
