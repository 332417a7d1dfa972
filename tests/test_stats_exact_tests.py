"""mcnemar_test and the p value of a case: references, other libraries, enumeration, laws."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from scorekit import CaseChange, InputError, compare_reports, mcnemar_test
from scorekit._stats.exact_tests import drop_p_value

REFERENCE = json.loads((Path(__file__).parent / "data" / "evidence.json").read_text("utf-8"))

COUNTS = st.integers(0, 300)
GROUPS = st.integers(1, 90).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


def p_values(falls: int, rises: int) -> tuple[float, float, float | None, float]:
    """Return all p values of a test."""
    result = mcnemar_test(n_pass_to_fail=falls, n_fail_to_pass=rises)
    assert (result.n_pass_to_fail, result.n_fail_to_pass) == (falls, rises)
    return (
        result.p_value,
        result.mid_p_value,
        result.corrected_p_value,
        result.regression_p_value,
    )


def attempts(n_attempts: int, n_passes: int) -> list[int]:
    """Return the scores of so many attempts."""
    return [1] * n_passes + [0] * (n_attempts - n_passes)


def change(before: tuple[int, int], after: tuple[int, int]) -> CaseChange | None:
    """Return the change of one case between two pairs of attempts and passes."""
    result = compare_reports({"a": attempts(*before)}, {"a": attempts(*after)}, threshold=0)
    return next(iter((*result.regressions, *result.improvements)), None)


@pytest.mark.parametrize("case", REFERENCE["mcnemar"])
def test_mcnemar_reference(case: dict[str, Any]) -> None:
    """Counts and p values made before this code."""
    names = ("exact", "mid_p", "chi2_cc", "one_sided_regression_p")
    found = p_values(case["input"]["b"], case["input"]["c"])
    for name, p_value in zip(names, found, strict=True):
        expected = case["output"][name]
        assert p_value == (expected if expected is None else pytest.approx(expected, rel=1e-9))


def test_it_reads_on_one_line() -> None:
    """What `print` shows."""
    text = "12 fell, 3 rose (mid-p = 0.021, exact p = 0.035)"
    assert str(mcnemar_test(n_pass_to_fail=12, n_fail_to_pass=3)) == text


@given(COUNTS, COUNTS)
def test_mcnemar_against_statsmodels_and_scipy(falls: int, rises: int) -> None:
    """Oracle: statsmodels' exact and corrected tests, and scipy's binomial test."""
    statsmodels = pytest.importorskip("statsmodels.stats.contingency_tables")
    assume(falls + rises)
    p_value, _, corrected, regression = p_values(falls, rises)
    table = [[7, falls], [rises, 5]]
    assert p_value == pytest.approx(statsmodels.mcnemar(table, exact=True).pvalue, rel=1e-9)
    theirs = statsmodels.mcnemar(table, exact=False, correction=True)
    assert corrected == pytest.approx(theirs.pvalue, rel=1e-9)
    one_sided = stats.binomtest(falls, falls + rises, alternative="greater").pvalue
    assert regression == pytest.approx(one_sided, rel=1e-9)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_enumeration(falls: int, rises: int) -> None:
    """Oracle: every number of falls there could have been, in exact rationals."""
    n = falls + rises
    chance = [Fraction(math.comb(n, i), 2**n) for i in range(n + 1)]
    seen = chance[falls]
    two_sided = sum(c for c in chance if c <= seen)
    p_value, mid_p_value, _, regression = p_values(falls, rises)
    assert p_value == pytest.approx(float(two_sided), rel=1e-12)
    half = 0 if falls == rises else seen  # of the outcome and its mirror image
    assert mid_p_value == pytest.approx(float(two_sided - half), rel=1e-12)
    assert regression == pytest.approx(float(sum(chance[falls:])), rel=1e-12)


@given(COUNTS, COUNTS)
def test_mcnemar_laws(falls: int, rises: int) -> None:
    """Sides swap but for the one-sided p; mid-p is the smaller; one more fall is more evidence."""
    p_value, mid_p_value, corrected, regression = p_values(falls, rises)
    *two_sided, other = p_values(rises, falls)
    assert two_sided == [p_value, mid_p_value, corrected]
    assert 0 <= mid_p_value <= p_value <= 1
    assert (corrected is None) == (falls == rises == 0)
    assert corrected is None or 0 <= corrected <= 1
    seen = math.comb(falls + rises, falls) / 2 ** (falls + rises)
    assert regression + other == pytest.approx(1 + seen)
    assert p_value == pytest.approx(min(1, 2 * min(regression, other)))
    more = mcnemar_test(n_pass_to_fail=falls + 1, n_fail_to_pass=rises)
    assert more.regression_p_value <= regression
    if falls >= rises:
        assert more.p_value <= p_value
        assert more.mid_p_value <= mid_p_value


@pytest.mark.parametrize("few", [2**53 - 10**8, 10**15, 0])
def test_huge_counts_are_as_normal(few: int) -> None:
    """At the largest count nothing hangs, and every test says what a normal tail says."""
    two_sided = math.erfc((2**53 - few) / math.sqrt(2 * (2**53 + few)))
    p_value, mid_p_value, corrected, regression = p_values(2**53, few)
    assert (p_value, mid_p_value, corrected) == pytest.approx([two_sided] * 3, rel=1e-6)
    assert regression == pytest.approx(two_sided / 2, rel=1e-6)
    assert p_values(2**53, 2**53) == pytest.approx((1, 1, 1, 0.5), rel=1e-7)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=200))
def test_suite_verdict_on_single_attempts_is_mcnemars(pairs: list[tuple[bool, bool]]) -> None:
    """Oracle: statsmodels' chi-squared without correction, as the docstring says."""
    statsmodels = pytest.importorskip("statsmodels.stats.contingency_tables")
    before, after = (
        {str(i): side for i, side in enumerate(one)} for one in zip(*pairs, strict=True)
    )
    falls, rises = (sum(pair == (side, not side) for pair in pairs) for side in (True, False))
    assume(falls + rises)
    theirs = statsmodels.mcnemar([[0, falls], [rises, 0]], exact=False, correction=False)
    assert compare_reports(before, after).suite.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize(
    ("counts", "error", "message"),
    [
        ((-1, 3), InputError, "n_pass_to_fail must be an integer >= 0, got -1"),
        ((3, 2.0), TypeError, "n_fail_to_pass must be an integer >= 0, got 2.0"),
        ((True, 3), TypeError, "n_pass_to_fail must be an integer >= 0, got True"),
        (
            (3, 2**53 + 1),
            InputError,
            "n_fail_to_pass must be an integer of at most 2**53, got 9007199254740993",
        ),
    ],
)
def test_mcnemar_errors(counts: tuple[Any, Any], error: type[Exception], message: str) -> None:
    """Each message names the parameter, its domain and the value it got."""
    with pytest.raises(error) as caught:
        mcnemar_test(n_pass_to_fail=counts[0], n_fail_to_pass=counts[1])
    assert str(caught.value) == message


def test_fisher_reference() -> None:
    """Attempts and passes of either run, and the p value of a drop, made before this code."""
    (case,) = REFERENCE["fisher_one_sided"]
    tasks = case["input"]["tasks_nA_cA_nB_cB"]
    assert [drop_p_value(*task) for task in tasks] == pytest.approx(case["output"], rel=1e-9)
    for (n_old, c_old, n_new, c_new), expected in zip(tasks, case["output"], strict=True):
        found = change((n_old, c_old), (n_new, c_new))
        if c_old == c_new and n_old == n_new:
            assert found is None
        else:
            assert found
            assert found.p_value == pytest.approx(expected, rel=1e-9)


@given(GROUPS, GROUPS)
def test_a_change_against_scipy(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Oracle: scipy's Fisher test in the direction of the change; swapping sides changes none."""
    found, back = change(before, after), change(after, before)
    if found is None or back is None:
        assert before[1] * after[0] == after[1] * before[0]
        return
    assert found.delta is not None
    table = np.array([[c, n - c] for n, c in (after, before)])
    theirs = stats.fisher_exact(table, "greater" if found.delta > 0 else "less")
    assert found.p_value == back.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@given(GROUPS, GROUPS)
def test_drop_equals_enumeration(before: tuple[int, int], after: tuple[int, int]) -> None:
    """Oracle: all ways to share out the passes, in exact rationals."""
    (n_old, c_old), (n_new, c_new) = before, after
    ways = [
        math.comb(n_new, i) * math.comb(n_old, c_old + c_new - i)
        for i in range(min(n_new, c_old + c_new) + 1)
    ]
    exact = float(Fraction(sum(ways[: c_new + 1]), sum(ways)))
    assert drop_p_value(*before, *after) == (
        exact if n_old + n_new <= 100 else pytest.approx(exact, rel=1e-12)
    )


def test_many_attempts_at_one_case() -> None:
    """Oracle: scipy's hypergeometric distribution; neither digits nor time are lost to size."""
    shape = (10**6, 500_000, 10**6, 498_000)
    theirs = stats.hypergeom(2 * 10**6, 998_000, 10**6).cdf(498_000)
    assert drop_p_value(*shape) == pytest.approx(theirs, rel=1e-8)
    assert drop_p_value(10**5, 10**5, 10**5, 0) == 0.0


def test_which_changes_have_a_p_value() -> None:
    """Both sides and nothing but 0 and 1; a single attempt on either side says nothing."""
    before: dict[str, Any] = {"one": True, "many": [1, 1, 1, 1.0], "share": [1, 0.5], "gone": 1}
    after: dict[str, Any] = {"one": False, "many": np.zeros(4), "share": [0, 0], "new": 0}
    result = compare_reports(before, after)
    changes = (*result.regressions, *result.new_cases, *result.removed_cases)
    assert {c.case_id: c.p_value for c in changes} == {
        "one": 0.5,
        "many": pytest.approx(1 / 70),
        "share": None,
        "gone": None,
        "new": None,
    }
