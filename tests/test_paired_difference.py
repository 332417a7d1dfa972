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
from scipy import stats

from scorekit import compare_reports, mean_interval, paired_difference
from scorekit.errors import InputError

REFERENCE = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())
PAIRS = st.lists(st.tuples(st.floats(-100, 100), st.floats(-100, 100)), min_size=2, max_size=12)


def test_reference() -> None:
    """Every value of the reference, made before this code."""
    (case,) = REFERENCE["paired_difference"]
    result = paired_difference(case["input"]["a"], case["input"]["b"])
    assert result.interval is not None
    assert result.stderr is not None
    found = {
        "diff": result.delta,
        "se": result.stderr,
        "t": result.delta / result.stderr,
        "p_t": result.p_value,
        "ci95": [result.interval.low, result.interval.high],
        "p_signflip_exact": result.sign_flip_p_value,
        "se_unpaired": result.stderr_unpaired,
    }
    assert found.keys() == case["output"].keys()
    for name, value in found.items():
        assert value == pytest.approx(case["output"][name], rel=1e-9), name


@given(PAIRS)
def test_scipy_agrees(pairs: list[tuple[float, float]]) -> None:
    """Oracle: scipy's paired t test, permutations of signs, and Pearson's correlation."""
    old, new = (np.array(side) for side in zip(*pairs, strict=True))
    result = paired_difference(old, new)
    assert result.sign_flip_p_value is not None
    exact = stats.permutation_test(
        (new - old,), np.sum, permutation_type="samples", vectorized=True, n_resamples=2**13
    )
    assert result.sign_flip_p_value == pytest.approx(exact.pvalue)
    spreads = [float(np.ptp(side)) for side in (new - old, old, new)]
    if min(spreads) > 1e-6:
        theirs = stats.ttest_rel(new, old)
        assert result.p_value == pytest.approx(theirs.pvalue, rel=1e-6)
        assert result.interval is not None
        low, high = theirs.confidence_interval(0.95)
        assert (result.interval.low, result.interval.high) == pytest.approx((low, high), rel=1e-6)
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
    """One score for each case: `compare_reports` tests what this does, clusters and all."""
    old, new, labels = zip(*rows, strict=True)
    sides = [{str(i): score for i, score in enumerate(side)} for side in (old, new)]
    clusters = {str(i): label for i, label in enumerate(labels)}
    for result, suite, means in (
        (
            paired_difference(old, new, clusters=labels),
            compare_reports(*sides, clusters=clusters).suite,
            mean_interval(np.array(new) - np.array(old), clusters=labels),
        ),
        (
            paired_difference(old, new),
            compare_reports(*sides).suite,
            mean_interval(np.array(new) - np.array(old)),
        ),
    ):
        assert result.delta == pytest.approx(np.mean(new) - np.mean(old), abs=1e-12)
        if result.stderr and result.stderr > 1e-6 and suite.test.endswith(" t"):
            assert result.interval is not None
            assert result.p_value == pytest.approx(suite.p_value, rel=1e-6)
            ends = result.interval.low, result.interval.high
            assert ends == pytest.approx((means.low, means.high), abs=1e-9)
            assert result.interval.method == means.method


def test_what_cannot_be_told_is_none() -> None:
    """Exact edges: one task, one cluster, no change, the same change everywhere."""
    one = paired_difference([1], [0])
    assert (one.stderr, one.interval, one.p_value, one.stderr_unpaired) == (None,) * 4
    assert (one.delta, one.sign_flip_p_value, one.correlation) == (-1.0, 1.0, None)
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
    """All of them fell: only two of the ways are as far out."""
    result = paired_difference([1] * 30, [0] * n_changed + [1] * (30 - n_changed))
    assert result.sign_flip_p_value == expected


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_the_scale_does_not_matter(scale: float) -> None:
    """Seconds or years: statistics without a unit stay, the others scale."""
    old, new = np.array([1.0, 0.5, 0.25, 0.0]), np.array([0.5, 0.75, 0.0, 0.25])
    plain, scaled = paired_difference(old, new), paired_difference(old * scale, new * scale)
    assert scaled.delta == pytest.approx(plain.delta * scale, rel=1e-12)
    assert scaled.stderr == pytest.approx((plain.stderr or 0) * scale, rel=1e-12)
    for name in ("p_value", "sign_flip_p_value", "correlation"):
        assert getattr(scaled, name) == pytest.approx(getattr(plain, name), rel=1e-9), name


def test_any_column_type_will_do() -> None:
    """Booleans count 0 and 1; the order decides, not an index."""
    old, new = pd.Series([True, False, True], index=[2, 1, 0]), np.array([0.0, 0.5, 1.0])
    assert paired_difference(old, new) == paired_difference([1, 0, 1], [0, 0.5, 1])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"baseline": []},
            InputError,
            "baseline must be a non-empty sequence of scores, got ()",
        ),
        (
            {"current": [1]},
            InputError,
            "baseline and current must be equally long, got 2 and 1",
        ),
        (
            {"current": [1, math.inf]},
            InputError,
            "current[1] must be a number in [-1e+300, 1e+300], got inf",
        ),
        (
            {"baseline": ["1", 0]},
            TypeError,
            "baseline[0] must be a number in [-1e+300, 1e+300], got '1'",
        ),
        (
            {"clusters": ["a"]},
            InputError,
            "clusters must be 2 labels, one for each entry, got 1",
        ),
        ({"confidence": 0}, InputError, "confidence must be a number in (0, 1), got 0"),
    ],
)
def test_errors(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """Each message names the parameter, its domain and the value it got."""
    with pytest.raises(error) as caught:
        paired_difference(**{"baseline": [1.0, 0.0], "current": [1.0, 1.0], **arguments})
    assert str(caught.value) == message
