"""Means of cases that do not all weigh the same: weights and fixed strata."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends
from refusals import Refusal, refusals
from scipy import stats

from scorekit import (
    CodeReport,
    CodeSample,
    code_report,
    code_report_from_columns,
    mean_interval,
)

RNG = np.random.default_rng(11)
SCORES: list[float] = RNG.beta(2, 1, 14).round(3).tolist()
WEIGHTS: list[float] = RNG.uniform(0.2, 4, 14).round(2).tolist()
STRATA = ["law"] * 5 + ["art"] * 9
BOUNDS: list[Any] = [None, (0, 1), (0, math.inf)]


def test_the_mean_of_two_strata_has_welchs_interval() -> None:
    """Oracle: scipy, of the difference of one stratum and of the other turned."""
    law, art = np.array(SCORES[:5]), np.array(SCORES[5:])
    welch = stats.ttest_ind(law, -art, equal_var=False).confidence_interval(0.9)
    found = mean_interval(SCORES, strata=STRATA, confidence_level=0.9)
    assert ends(found) == pytest.approx((welch.low / 2, welch.high / 2))
    assert found.method == "t of mean of strata"


def test_a_weighted_mean_has_the_error_of_weighted_least_squares() -> None:
    """Oracle: statsmodels, heteroscedastic errors of a fit of the mean alone."""
    statsmodels = pytest.importorskip("statsmodels.api")
    fit = statsmodels.WLS(SCORES, np.ones(14), weights=WEIGHTS).fit(cov_type="HC2")
    low, high = ends(mean_interval(SCORES, case_weights=WEIGHTS))
    shares = np.array(WEIGHTS) / sum(WEIGHTS)
    reach = stats.t.ppf(0.975, 1 / (shares @ shares) - 1) * fit.bse[0]
    assert (low, high) == pytest.approx((fit.params[0] - reach, fit.params[0] + reach))


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=12), st.floats(1e-300, 1e300),
    st.sampled_from(BOUNDS),
)  # fmt: skip
def test_equal_weights_and_a_single_stratum_change_nothing(
    values: list[float], weight: float, bounds: Any
) -> None:
    """However large the weights are."""
    plain = mean_interval(values, bounds=bounds)
    found = mean_interval(values, bounds=bounds, case_weights=[weight] * len(values))
    assert ends(found) == pytest.approx(ends(plain), abs=1e-6)
    if bounds != (0, math.inf):
        one = mean_interval(values, bounds=bounds, strata=[7] * len(values))
        assert ends(one) == pytest.approx(ends(plain), abs=1e-6)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=2, max_size=12),
    st.randoms(use_true_random=False), st.sampled_from(BOUNDS),
)  # fmt: skip
def test_only_ratios_of_weights_count_and_no_order(
    cases: list[tuple[float, float]], random: Any, bounds: Any
) -> None:
    """The interval holds the weighted mean and stays within the bounds."""
    values, weights = zip(*cases, strict=True)
    found = mean_interval(values, bounds=bounds, case_weights=weights)
    mean = math.fsum(v * w for v, w in cases) / math.fsum(weights)
    assert found.low - 1e-9 <= mean <= found.high + 1e-9
    if bounds == (0, 1):
        assert 0.0 <= found.low <= found.high <= 1.0
    random.shuffle(cases)
    values, weights = zip(*cases, strict=True)
    other = mean_interval(values, bounds=bounds, case_weights=[8 * w for w in weights])
    assert ends(other) == pytest.approx(ends(found), rel=1e-5, abs=1e-5)


def test_what_lies_between_fixed_strata_is_no_error() -> None:
    """Two that differ, each alike within, have as narrow an interval as one that is alike."""
    apart = mean_interval([0.9] * 9 + [0.1] * 9, bounds=(0, 1), strata=["a"] * 9 + ["b"] * 9)
    alike = mean_interval([0.5] * 18, bounds=(0, 1))
    plain = mean_interval([0.9] * 9 + [0.1] * 9, bounds=(0, 1))
    assert ends(apart) == pytest.approx(ends(alike))
    assert apart.high - apart.low < 0.8 * (plain.high - plain.low)


def test_all_right_and_all_wrong_are_not_certain() -> None:
    """As without weights: what no case showed may still be there."""
    for value in (0, 1):
        for options in ({"case_weights": WEIGHTS}, {"strata": STRATA}):
            found = mean_interval([value] * 14, bounds=(0, 1), **options)
            assert 0.2 < found.high - found.low < 0.5
    assert ends(mean_interval([1], bounds=(0, 1), case_weights=[3])) == (0.0, 1.0)
    assert ends(mean_interval([1], case_weights=[3])) == (-math.inf, math.inf)


def test_clusters_are_the_cases() -> None:
    """Their weights are a mapping, or a column that agrees with itself."""
    attempts = [one for score in SCORES for one in (score, score)]
    cases = [f"case-{i // 2}" for i in range(28)]
    wanted = mean_interval(SCORES, case_weights=WEIGHTS)
    weights = {f"case-{i}": weight for i, weight in enumerate(WEIGHTS)}
    by_case: list[Any] = [weights, [weights[case] for case in cases]]
    for own in by_case:
        assert mean_interval(attempts, clusters=cases, case_weights=own) == wanted
    strata = {f"case-{i}": label for i, label in enumerate(STRATA)}
    found = mean_interval(attempts, clusters=cases, strata=strata)
    assert found == mean_interval(SCORES, strata=STRATA)


PASSED = {
    f"t{i}": [1] * n + [0] * (10 - n) for i, n in enumerate([0, 4, 2, 8, 3, 9, 1, 5, 6, 8, 2, 0])
}
LABELS = {case: "ab"[i % 3 == 0] for i, case in enumerate(PASSED)}


def test_a_report_has_the_weighted_mean_of_each_rate() -> None:
    """By hand; equal weights are none, and cost is that of all attempts."""
    weights = {case: i + 1 for i, case in enumerate(PASSED)}
    given: dict[str, Any] = {"model": "m", "passed": PASSED, "k": (1, 3), "cost_usd": 0.5}
    plain = code_report_from_columns(**given).models[0]
    equal = code_report_from_columns(**given, case_weights=dict.fromkeys(PASSED, 3)).models[0]
    found = code_report_from_columns(**given, case_weights=weights).models[0]
    wanted = sum(w * sum(PASSED[c]) / 10 for c, w in weights.items()) / sum(weights.values())
    assert found.pass_at_k[0].score == pytest.approx(wanted)
    assert found.test_pass_rate == pytest.approx(wanted)
    assert found.mean_cost_usd == plain.mean_cost_usd
    assert (plain.target, equal.target, found.target) == (None, "weighted mean", "weighted mean")
    for one, other in zip(plain.pass_at_k, equal.pass_at_k, strict=True):
        assert (one.score, one.stderr) == pytest.approx((other.score, other.stderr))
        assert one.stderr_same_tasks == pytest.approx(other.stderr_same_tasks)
        assert ends(one.interval) == pytest.approx(ends(other.interval))
    assert ends(plain.intervals["code_score"]) == pytest.approx(
        ends(equal.intervals["code_score"]), abs=1e-6
    )
    assert found.intervals["code_score"].method == "gaffke of weighted mean"


def test_a_report_has_the_mean_of_strata_with_its_published_error() -> None:
    """By hand: the root of the sum of the squared errors of both means, over two."""
    report = code_report_from_columns(model="m", passed=PASSED, strata=LABELS)
    (found,) = report.models[0].pass_at_k
    parts = [[sum(PASSED[c]) / 10 for c in PASSED if LABELS[c] == label] for label in "ab"]
    assert found.score == pytest.approx(np.mean([np.mean(part) for part in parts]))
    error = math.hypot(*(stats.sem(part) for part in parts)) / 2
    assert found.stderr == pytest.approx(error)
    assert str(report).endswith("at 12 cases, mean of 2 strata)")
    assert CodeReport.from_json(report.to_json()) == report


def test_records_and_columns_take_the_same() -> None:
    """A mapping, or a column with an entry for each sample."""
    rows = [(case, right) for case, own in PASSED.items() for right in own]
    samples = [
        CodeSample(case_id=case, model="m", compiled=True, passed=right, failed=1 - right)
        for case, right in rows
    ]
    wanted = code_report_from_columns(model="m", passed=PASSED, strata=LABELS)
    for strata in (LABELS, [LABELS[case] for case, _ in rows]):
        assert code_report(samples, strata=strata) == wanted
    cases, right = zip(*rows, strict=True)
    column = [LABELS[case] for case in cases]
    one = code_report_from_columns(case_id=cases, model="m", passed=right, strata=column)
    assert one == wanted


def test_several_models_are_not_called_best_by_other_means_than_those_shown() -> None:
    """Comparisons weigh all cases the same, which the report says."""
    given: dict[str, Any] = {"case_id": list("abcd") * 2, "model": ["x"] * 4 + ["y"] * 4}
    weights = dict(zip("abcd", (1, 2, 3, 4), strict=True))
    report = code_report_from_columns(passed=[1, 0, 1, 0] * 2, case_weights=weights, **given)
    first, *_, last = str(report).splitlines()
    assert first == "2 models, weighted mean"
    assert last == "rates and pass@k: weighted mean; comparisons weigh all cases the same"
    odd = {"a": 1, "b": 1, "c": 2, "d": 2, "e": 3, "f": 3}
    more: dict[str, Any] = {"case_id": [*"abcd", *"abcdef"], "model": ["x"] * 4 + ["y"] * 6}
    with pytest.raises(ValueError, match=r"^strata must be labels that cases of every model have"):
        code_report_from_columns(passed=1, strata=odd, **more)


def test_a_stratum_without_a_known_outcome_leaves_the_mean_unknown() -> None:
    """Not that of the others; both bounds are of all strata."""
    strata = {"a": 1, "b": 1, "c": 2, "d": 2}
    passed: dict[str, Any] = {"a": [1], "b": [0], "c": [None], "d": [None]}
    model = code_report_from_columns(model="m", passed=passed, strata=strata).models[0]
    assert math.isnan(model.pass_at_k[0].score)
    assert math.isnan(model.mean_score)
    assert model.unknown_bounds["pass@1"] == (0.25, 0.75)
    assert ends(model.intervals["code_score"]) == (0.0, 1.0)
    half = code_report_from_columns(model="m", passed=passed | {"c": [1]}, strata=strata).models[0]
    assert half.pass_at_k[0].score == 0.75
    assert half.pass_at_k[0].stderr is None
    short: dict[str, Any] = {"a": [1, 1], "b": [0, 1], "c": [1], "d": [0]}
    given: dict[str, Any] = {"model": "m", "passed": short, "k": (1, 2), "insufficient": "drop"}
    both = code_report_from_columns(**given, strata=strata).models[0].pass_at_k
    assert both[0].score == (1 + 0.5 + 1 + 0) / 4
    assert math.isnan(both[1].score)
    assert code_report_from_columns(**given, case_weights=strata).models[0].pass_at_k[1].score == 1


TEN: list[float] = [1, 0] * 5
PAIRS = [*"aabbccddee"]


def weighed(**options: Any) -> CodeReport:
    """Report on twelve cases."""
    return code_report_from_columns(model="m", passed=PASSED, **options)


@refusals("""
mean_interval(TEN, case_weights=[1] * 9 + [0])
    -> InputError: case_weights[9] must be a finite number > 0, got 0
mean_interval(TEN, case_weights=[1] * 9 + [-1])
    -> InputError: case_weights[9] must be a finite number > 0, got -1
mean_interval(TEN, case_weights=[1] * 9 + [None])
    -> InputError: case_weights[9] must be a finite number > 0, got None
mean_interval(TEN, case_weights=[1] * 9 + [math.nan])
    -> InputError: case_weights[9] must be a finite number > 0, got nan
mean_interval(TEN, case_weights=[1] * 9)
    -> InputError: case_weights and values must be equally long, got 9 and 10
mean_interval(TEN, case_weights={"a": 1})
    -> TypeError: case_weights must be a column of one for each value, where these have no names...
mean_interval(TEN, clusters=PAIRS, case_weights={"a": 1})
    -> InputError: case_weights must be a mapping with an entry for case 'b', got {'a': 1}
mean_interval(TEN, clusters=PAIRS, case_weights=range(1, 11))
    -> InputError: case_weights[1] must be 1, as in another row of case 'a', got 2
mean_interval(TEN, clusters=PAIRS, case_weights=[1] * 10, weights="attempts")
    -> InputError: weights must be 'groups' where case_weights or strata are given, got 'attempts'
mean_interval(TEN, strata=["a"] * 9 + ["b"])
    -> InputError: strata must be labels that two cases or more have, got 'b'
mean_interval(TEN, strata=["a"] * 9 + [None])
    -> InputError: strata[9] must be a label that is not missing, got None
mean_interval(TEN, strata=PAIRS, case_weights=TEN)
    -> InputError: strata must be None where case_weights are given, got ['a', 'a', 'b', 'b'...
mean_interval(TEN, strata=PAIRS, bounds=(0, math.inf))
    -> InputError: bounds must be finite, or None, where strata are given, got (0.0, inf)
weighed(case_weights={"t0": 1})
    -> InputError: case_weights must be a mapping with an entry for case 't1', got {'t0': 1}
weighed(case_weights=[1])
    -> InputError: case_weights and case_id must be equally long, got 1 and 12
weighed(strata=LABELS, case_weights=LABELS)
    -> InputError: strata must be None where case_weights are given, got {'t0': 'b'...
""")
def test_errors(wrong: Refusal) -> None:
    """Each names the parameter, what it takes, and what it got."""
    wrong.by_itself()
