"""compare_reports(floor=...), flaky cases, the level that suites have, and odd input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorekit import (
    CannotSeeError,
    CodeReport,
    Comparison,
    InputError,
    RegressionError,
    code_report_from_columns,
    compare_reports,
)

Run = dict[Any, Any]


def stops(result: Comparison, **options: Any) -> str:
    """Return the first line of what stops a job, empty where nothing does."""
    try:
        result.raise_for_regressions(**options)
    except (RegressionError, CannotSeeError) as error:
        return str(error).splitlines()[0]
    return ""


# A floor.


def test_a_case_below_the_floor_is_named_whatever_the_baseline_was() -> None:
    """Oracle: scipy's exact binomial test, times the cases that could have shown as much."""
    before: Run = {"low": [1, 0, 0, 0, 0, 0, 0, 0], "fine": [1] * 8, "few": [0, 0]}
    result = compare_reports(before, before, floor=0.8)
    (case,) = result.below_floor
    p_value = stats.binomtest(1, 8, 0.8, alternative="less").pvalue
    assert (case.case_id, case.current, case.delta) == ("low", 0.125, 0.0)
    assert case.floor_p_value == pytest.approx(2 * p_value)  # "fine" could have been there, too
    assert stops(result) == ""
    with pytest.raises(RegressionError) as caught:
        result.raise_for_regressions(on="floor")
    first, names, *_ = str(caught.value).splitlines()
    assert first == "1 case below the floor of 0.8"
    assert names == f"  below the floor: low in score (0.125, p = {2 * p_value:.2g})"
    assert "Cases below the floor of 0.8: 1" in result.to_text()
    assert result.to_rows()[-1]["kind"] == "below the floor"
    assert Comparison.from_json(result.to_json()) == result
    assert compare_reports(before, before).below_floor == ()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.sampled_from([0.3, 0.5, 0.9]))
def test_cases_below_a_floor_err_as_rarely_as_they_say(n_right: list[int], floor: float) -> None:
    """Bonferroni's correction bounds it on one side, none on the other."""
    run = {i: [1] * n + [0] * (6 - n) for i, n in enumerate(n_right)}
    found = {one.case_id: one for one in compare_reports(run, run, floor=floor).below_floor}
    for i, n in enumerate(n_right):
        p_value = float(stats.binom.cdf(n, 6, floor))
        if p_value * len(n_right) <= 0.05:
            assert found[str(i)].floor_p_value is not None
        if str(i) in found:
            corrected = found[str(i)].floor_p_value or 0.0
            assert p_value * (1 - 1e-9) <= corrected <= 0.05


@pytest.mark.slow
def test_unchanged_cases_at_the_floor_are_rarely_below_it() -> None:
    """At most 5 % of 400 runs of 20 cases whose rate is the floor."""
    rng = np.random.default_rng(4)
    listed = 0
    for _ in range(400):
        run = dict(enumerate((rng.random((20, 8)) < 0.8).astype(float).tolist()))
        listed += bool(compare_reports(run, run, floor=0.8).below_floor)
    assert listed <= 28


def test_unknown_attempts_speak_against_a_low_rate() -> None:
    """They may be passes."""
    known: Run = {"a": [0] * 6, "b": [1] * 6}
    asked: Run = {"a": [0] * 6 + [None] * 20, "b": [1] * 6}
    assert [one.case_id for one in compare_reports(known, known, floor=0.5).below_floor] == ["a"]
    assert compare_reports(known, asked, floor=0.5).below_floor == ()


def graded(passed: list[int]) -> CodeReport:
    """Report on a case of which attempts pass some of four tests."""
    return code_report_from_columns(
        model="m", passed={"x": passed}, failed=[[4 - one for one in passed]]
    )


def test_a_floor_is_of_pass_rates() -> None:
    """Of a code report that of attempts that pass all tests; partial credit has none."""
    report = graded([3] * 9)
    result = compare_reports(report, report, floor=0.7)
    assert [one.metric for one in result.below_floor] == ["pass@1"]
    with pytest.raises(InputError, match=r"^floor must be None where no metric has outcomes of "):
        compare_reports(report, report, floor=0.7, metrics=["code_score"])


@pytest.mark.parametrize("floor", [0, 1, 1.5, math.nan])
def test_a_floor_is_a_share(floor: float) -> None:
    """Nothing is below 0, and below 1 is what failed once."""
    with pytest.raises(InputError, match=r"^floor must be a number in \(0, 1\), got "):
        compare_reports({"a": 1}, {"a": 1}, floor=floor)


def test_without_a_floor_there_is_none_to_ask_for() -> None:
    """It must not pass for held; and where no case has enough attempts it is not seen."""
    result = compare_reports({"a": 1}, {"a": 1})
    words = r"^on must be 'evidence', 'cases' or 'suite' where .* no floor"
    with pytest.raises(InputError, match=words):
        result.raise_for_regressions(on="floor")
    few = compare_reports({"a": [0]}, {"a": [0]}, floor=0.5)
    assert stops(few, on="floor") == (
        "cannot see a loss: 1 attempt at a case cannot show a rate below 0.5: make 5 at least"
    )
    assert stops(few, on="floor", cannot_see="pass") == ""


# Flaky cases.


def test_cases_that_flip_are_named_with_their_share_of_failures() -> None:
    """Both outcomes were seen within one run, so that no test is needed."""
    before: Run = {"a": [1, 0, 1, 1], "b": [1] * 4, "c": [0] * 4}
    after: Run = {"a": [1] * 4, "b": [1] * 4, "c": [1] * 4}
    result = compare_reports(before, after)
    assert result.flaky == {"a": 1 / 8}
    assert "whose attempts differ" not in result.to_text()
    assert "\n  a                  0.12\n" in result.to_text(all=True)
    two = compare_reports(graded([4, 3]), graded([4, 4]))
    assert two.flaky == {"x": 0.25}
    assert compare_reports({"a": 1}, {"a": 0}).flaky == {}


# The level that suites have.


@pytest.mark.parametrize(("n_old", "n_new", "is_tested"), [(3, 3, True), (2, 40, False)])
def test_a_case_is_tested_from_three_attempts_on(
    n_old: int,
    n_new: int,
    is_tested: bool,  # noqa: FBT001 - a table
) -> None:
    """In both runs; the suite is judged at the same level whatever single cases are."""
    before: Run = {"x": [1] * n_old, **{f"c{i}": [1] * n_old for i in range(9)}}
    after: Run = {"x": [0] * n_new, **{f"c{i}": [1] * n_new for i in range(9)}}
    result = compare_reports(before, after)
    assert (result.single_cases == "not tested") == (not is_tested)
    assert result.n_tested == 10 * is_tested
    assert result.suite.interval.confidence_level == 0.95


def test_print_and_gate_cannot_disagree() -> None:
    """What is printed as a regression stops the job, and nothing else of a suite does."""
    rng = np.random.default_rng(2)
    seen = set()
    for loss in np.linspace(0, 0.3, 60):
        rates = rng.random(30)
        before, after = (
            dict(enumerate((rng.random((30, 3)) < own[:, np.newaxis]).astype(float).tolist()))
            for own in (rates, np.maximum(rates - loss, 0))
        )
        result = compare_reports(before, after)
        regressed = result.suite.interval.high < 0
        assert regressed == (result.suite.verdict == "regressed")
        if not any(change.is_significant for change in result.regressions):
            assert regressed == bool(stops(result))
        seen.add(regressed)
    assert seen == {True, False}


# Odd input.


def test_one_case_and_removed_cases() -> None:
    """One case of many attempts sees; one of few does not; a baseline is not forgotten."""
    assert stops(compare_reports({"a": [1] * 9}, {"a": [1] * 9})) == ""
    assert "cannot tell: 1 case fell" in stops(compare_reports({"a": [1] * 9}, {"a": [0] * 9}))
    for run in ({"a": 1}, {"a": [1, 1]}, {"a": 1, "b": 0, "c": 1, "d": 1}):
        same: Run = run
        assert stops(compare_reports(same, same)).startswith("cannot see a loss: ")
    result = compare_reports({f"c{i}": 1 for i in range(20)}, {"c0": 1})
    assert stops(result) == "19 cases missing from the current run"


@pytest.mark.parametrize("rate", [0, 1])
def test_rates_of_0_and_1_throughout(rate: int) -> None:
    """Nothing can fall from 0, and no case that passes can break there."""
    run = {i: [rate] * 5 for i in range(100)}
    suite = compare_reports(run, run).suite
    assert (suite.delta, suite.p_value) == (0.0, 1.0)
    assert (suite.minimum_detectable_effect is None) == (rate == 0)
    assert suite.verdict == "no change detected"
    assert -0.05 < suite.interval.low < 0.0 < suite.interval.high < 0.05


@pytest.mark.parametrize(
    ("n_cases", "attempts", "first"),
    [
        (5, 1, "cannot see a loss: 5 cases are too few at 95 %: compare 6, or pass"),
        (3, 5, "cannot tell: 3 cases fell, 0 from 5 of 5 to 0 of 5 (p = 0.004), "),
        (6, 1, "regressed: 1.000 -> 0.000, a loss of 1.000, 95 % interval [-1.000, -1.000] lies"),
    ],
)
def test_all_cases_fall(n_cases: int, attempts: int, first: str) -> None:
    """A total collapse always stops the job, and the first line says what is known of it."""
    before, after = ({i: [x] * attempts for i in range(n_cases)} for x in (1, 0))
    assert stops(compare_reports(before, after)).startswith(first)


@pytest.mark.parametrize("n_more", [100, 10_000])
def test_one_against_many_attempts(n_more: int) -> None:
    """The error is that of one against one."""
    before, after = {i: [1] for i in range(30)}, {i: [1] * (n_more - 1) + [0] for i in range(30)}
    suite = compare_reports(before, after).suite
    assert suite.interval.low < -0.05
    assert suite.interval.high > 0
    after |= {i: [0] * n_more for i in range(15)}
    assert compare_reports(before, after).suite.verdict == "regressed"


@pytest.mark.parametrize("n", [515, 2000])
def test_any_number_of_attempts(n: int) -> None:
    """The ways to share out a thousand attempts are beyond every float."""
    result = compare_reports({"a": [1] * n}, {"a": [0] * n})
    assert stops(result).startswith(f"cannot tell: 1 case fell, a from {n} of {n} to 0 of {n} (p ")
    worse = compare_reports({"a": [1] * n, "b": [1, 0] * n}, {"a": [0] * n, "b": [1, 0] * n})
    assert stops(worse).startswith(f"1 case dropped significantly: a from {n} of {n} to 0 of {n}")


def test_scores_that_nobody_knows_are_bounds_in_mappings_too() -> None:
    """As in a report with the same outcomes."""
    runs: list[Run] = [
        {"a": [1, None], "b": None, **{f"c{i}": [1, i % 2] for i in range(9)}},
        {"a": [None, 0], "b": [1, 1], **{f"c{i}": [0, None if i else 1] for i in range(9)}},
    ]
    reports = [code_report_from_columns(model="m", passed=_as_lists(run)) for run in runs]
    plain, theirs = compare_reports(*runs), compare_reports(*reports)
    assert plain.suite == theirs.suite
    assert plain.n_undecided == {"score": (1, 0)}
    assert plain.suite.delta_bounds is not None
    assert stops(compare_reports({"a": 1, "b": 1}, {"a": 1, "b": None})) == "1 case newly unscored"
    with pytest.raises(InputError, match=r"^current\['a'\]\[1\] must be a number in \[0, 1\]"):
        compare_reports({"a": 1}, {"a": [None, 2]})


def _as_lists(run: Run) -> dict[str, list[bool | None]]:
    return {
        case: [None, None] if own is None else [None if x is None else bool(x) for x in own]
        for case, own in run.items()
    }


@pytest.mark.slow
def test_a_hundred_thousand_cases() -> None:
    """A loss of a point is seen among them."""
    rng = np.random.default_rng(1)
    rates = rng.random(100_000)
    before, after = (
        dict(enumerate((rng.random(100_000) < own).astype(float).tolist()))
        for own in (rates, np.maximum(rates - 0.01, 0))
    )
    result = compare_reports(before, after)
    assert (result.suite.n_cases, result.suite.verdict) == (100_000, "regressed")
