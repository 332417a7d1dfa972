"""Metrics of a comparison: pass@k and pass^k of attempts, and several metrics of each case."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

import scorekit
from scorekit import Comparison, compare_reports

BEFORE: dict[str, Any] = {f"case-{i}": [1, 1, 0, 1] for i in range(12)}
AFTER: dict[str, Any] = {f"case-{i}": [1, 0, 0, 1] for i in range(12)}
COUNTS = st.lists(st.lists(st.integers(0, 1), min_size=3, max_size=6), min_size=2, max_size=6)


@given(COUNTS, st.integers(1, 3))
def test_pass_at_k_and_pass_hat_k_of_mappings(attempts: list[list[int]], k: int) -> None:
    """Oracle: the draws of k attempts, counted in fractions."""
    run = dict(enumerate(attempts))
    none = dict.fromkeys(run, [0] * 3)
    result = compare_reports(none, run, metrics=[f"pass@{k}", f"pass^{k}"], attempts="fixed")
    ways = [(len(own), sum(own)) for own in attempts]
    some = [1 - Fraction(comb(n - c, k), comb(n, k)) for n, c in ways]
    every = [Fraction(comb(c, k), comb(n, k)) for n, c in ways]
    found = [suite.current_mean for suite in result.suites.values()]
    expected = [float(sum(own) / len(own)) for own in (some, every)]
    assert found == pytest.approx(expected, rel=1e-14, abs=1e-16)


def test_reports_have_pass_hat_k_too() -> None:
    """The same numbers, also where an outcome is unknown."""
    lost = {**AFTER, "case-0": [1, None, 1, 1]}
    old, new = (scorekit.code_report_from_columns(model="m", passed=run) for run in (BEFORE, lost))
    of_reports, of_mappings = (
        compare_reports(*sides, metrics=["pass^2"]).suite for sides in ((old, new), (BEFORE, lost))
    )
    assert of_reports == of_mappings
    assert of_reports.delta_bounds is not None
    low, high = of_reports.delta_bounds
    assert high - low == pytest.approx((1 - 0.5) / 12)  # all of four passed, or three of them
    assert of_reports.baseline_mean == 0.5


def test_each_suite_has_its_own_number_of_attempts() -> None:
    """One score a case beside four attempts is not three attempts that are missing."""
    result = compare_reports(BEFORE, AFTER, metrics=["score", "pass^3"])
    assert result.missing_shares == (0.0, 0.0)
    fewer = {**BEFORE, **{f"case-{i}": [1, 1] for i in range(6)}}
    assert compare_reports(BEFORE, fewer, metrics=["score", "pass@2"]).missing == "rose"


def test_several_metrics_of_each_case() -> None:
    """Each is a suite, as those of a report and as columns of a table are."""
    before, after = {"right": BEFORE, "speed": BEFORE}, {"right": AFTER, "speed": BEFORE}
    result = compare_reports(before, after)
    rows = [
        (case, version, own["right"][case][i], own["speed"][case][i])
        for version, own in (("old", before), ("new", after))
        for case in BEFORE
        for i in range(4)
    ]
    case_id, version, right, speed = zip(*rows, strict=True)
    score = {"right": right, "speed": speed}
    table = scorekit.compare_from_columns(
        case_id=case_id, version=version, score=score, baseline="old"
    )
    assert result.suites == table.suites
    assert [suite.verdict for suite in result.suites.values()] == ["regressed", "inconclusive"]
    assert Comparison.from_json(result.to_json()) == result
    only = compare_reports(before, after, metrics=["speed"])
    assert list(only.suites) == ["speed"]
    assert compare_reports(before, {"right": AFTER}).metrics_only_in_baseline == ("speed",)
    lost = {"right": AFTER, "speed": {**BEFORE, "case-1": [None] * 4}}
    (failing,) = compare_reports(before, lost).newly_failing
    assert (failing.metric, failing.case_id) == ("speed", "case-1")


@refusals("""
{"a": {"x": 1}, "b": 1} -> TypeError: current['b'] must be a mapping from case to score, as of...
{"a": {"x": 2}} -> InputError: current['a']['x'] must be a number in [0, 1], got 2
{"a": {}} -> InputError: current must be a run with at least one case, got {}
{"a": {"x": {}}} -> TypeError: current['a']['x'] must be a number in [0, 1], got {}
{1: {"x": 1}, "1": {"x": 1}} -> InputError: a metric of current must be unlike all others...
""")
def test_what_is_no_run_of_several_metrics(wrong: Refusal) -> None:
    """The place is named."""
    wrong.when(lambda: compare_reports({"a": {"x": 1}}, wrong.value))


def test_graded_scores_have_no_pass_at_k() -> None:
    """What is neither right nor wrong has no number of passes."""
    with pytest.raises(scorekit.InputError, match=r"'pass@k' or 'pass\^k' of attempts that are"):
        compare_reports({"a": [0.5, 1]}, {"a": [1, 1]}, metrics=["pass@2"])


def test_models_are_compared_by_one_of_several_metrics() -> None:
    """As if it had been given alone, with its name; costs need not lie in [0, 1]."""
    right = {"a": dict.fromkeys(range(9), 1), "b": {i: i % 2 for i in range(9)}}
    usd = {"a": {i: 2.5 + i for i in range(9)}, "b": {i: 3.5 + i / 2 for i in range(9)}}
    both = {model: {"right": right[model], "usd": usd[model]} for model in right}
    for metric, alone in (("right", right), ("usd", usd)):
        found = scorekit.compare_models(both, metric=metric)
        assert found.metric == metric
        assert attrs.evolve(found, metric=None) == scorekit.compare_models(alone)
    with pytest.raises(TypeError, match=r"^metric must be one of 'right', 'usd', got None$"):
        scorekit.compare_models(both)
    with pytest.raises(scorekit.InputError, match=r"^metric must be one of 'usd', got 'right'$"):
        scorekit.compare_models({**both, "b": {"usd": usd["b"]}}, metric="right")
    with pytest.raises(TypeError, match=r"^scores\['b'\]\['usd'\] must be a mapping from case to"):
        scorekit.compare_models({**both, "b": {"right": right["b"], "usd": 2}}, metric="right")
