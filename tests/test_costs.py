"""The cost of a pass over many runs: sourced values, errors, laws, and scipy as the oracle."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from scorekit import Run, cost_of_pass_from_columns, cross_tier, tier_statistics
from scorekit.costs import MAX_RESAMPLED, ratio_interval
from scorekit.errors import InputError
from scorekit.intervals import Interval

REFERENCE = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())
COSTS = st.floats(0, 1e300)
RUNS = st.lists(st.tuples(COSTS, st.sampled_from([0.0, 1.0])), min_size=1, max_size=12)
FEW = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=9
)


def fieller(
    costs: list[float], passed: list[float], confidence_level: float = 0.95
) -> Interval | None:
    """Return Fieller's interval alone."""
    codes = np.arange(len(costs))
    columns = np.array(costs, float), np.array(passed, float)
    return ratio_interval(*columns, codes, confidence_level=confidence_level)


def test_reference() -> None:
    """Ratio, both intervals and the error, made before this code; no pass has none of them."""
    runs, no_pass = REFERENCE["cost_of_pass"]
    expected = runs["output"]
    columns = {"cost_usd": runs["input"]["cost"], "passed": runs["input"]["passed"]}
    result = cost_of_pass_from_columns(**columns)
    bca = cost_of_pass_from_columns(**columns, method="bca")
    assert result.cost_of_pass == bca.cost_of_pass == pytest.approx(expected["ratio"], rel=1e-9)
    assert result.stderr == bca.stderr == pytest.approx(expected["se_delta"], rel=1e-9)
    for interval, name in ((result.interval, "fieller95"), (bca.interval, "bca95_seed0_20000")):
        assert interval is not None
        assert (interval.low, interval.high) == pytest.approx(expected[name], rel=1e-9)
        assert name.startswith(interval.method)
    none = cost_of_pass_from_columns(
        cost_usd=no_pass["input"]["cost"], passed=no_pass["input"]["passed"], method="bca"
    )
    assert none.cost_of_pass == float(no_pass["output"]["ratio"])
    assert none.interval is no_pass["output"]["fieller95"]
    assert (none.stderr, none.n_runs, none.n_passes) == (None, 4, 0.0)


@pytest.mark.parametrize("n", [1000, 1001, 20_000])
def test_a_long_column_is_summed_exactly(n: int) -> None:
    """Oracle: fractions, over costs of very unlike size; one rounding."""
    rng = np.random.default_rng(5)
    costs, passed = 10.0 ** rng.uniform(-12, 6, n), rng.random(n) < 0.3
    result = cost_of_pass_from_columns(cost_usd=costs, passed=passed)
    exact = sum(map(Fraction, costs.tolist())) / int(passed.sum())
    assert result.cost_of_pass == float(exact)


def test_it_is_what_a_tier_says() -> None:
    """The same runs as records and as columns."""
    runs = [
        Run(run_id=str(i), passed=i % 3 > 0, impl_rate=1, cost_usd=0.1 + i % 4, duration_seconds=1)
        for i in range(12)
    ]
    tier = tier_statistics("T", runs, confidence_level=0.9)
    result = cost_of_pass_from_columns(
        cost_usd=np.array([run.cost_usd for run in runs]),
        passed=[run.passed for run in runs],
        confidence_level=0.9,
    )
    assert (result.cost_of_pass, result.interval, result.n_runs) == (
        tier.cost_of_pass,
        tier.cost_of_pass_interval,
        tier.n_runs,
    )


@given(FEW, st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.9, 0.95]))
def test_bca_is_scipys(
    runs: list[tuple[float, float]], seed: int, confidence_level: float
) -> None:
    """Oracle: ``scipy.stats.bootstrap`` on the same stream, where it has an answer."""
    costs, passed = (np.array(values) for values in zip(*runs, strict=True))
    result = cost_of_pass_from_columns(
        cost_usd=costs, passed=passed, method="bca", confidence_level=confidence_level, seed=seed
    )
    if not passed.all() or costs.size == 1 or not np.ptp(costs / passed):
        return  # scipy's quantiles of infinite ratios, and of a single one, are NaN
    theirs = stats.bootstrap(
        (costs, passed),
        lambda c, p, axis: c.sum(axis) / p.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        confidence_level=confidence_level,
        random_state=seed,
    ).confidence_interval
    assert result.interval is not None
    ends = result.interval.low, result.interval.high
    assert ends == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@example([(0, 0.0), (0, 0.5)], 0)
@given(FEW, st.integers(0, 3))
def test_bca_at_the_edges(runs: list[tuple[float, float]], seed: int) -> None:
    """Whatever the runs: an interval in order, its upper end infinite where a pass may be none."""
    costs, passed = (list(column) for column in zip(*runs, strict=True))
    result = cost_of_pass_from_columns(cost_usd=costs, passed=passed, method="bca", seed=seed)
    if not any(passed):
        assert result.interval is None
        return
    assert result.interval is not None
    assert 0.0 <= result.interval.low <= result.interval.high
    if len([rate for rate in passed if rate]) == 1 and len(runs) > 1:
        assert result.interval.high == math.inf


@given(
    st.lists(st.tuples(COSTS, st.floats(0, 1)), min_size=1, max_size=6),
    st.sampled_from(["fieller", "bca"]),
)
@example([(0.0, 1.0), (1.0, 2e-313)], "bca")
def test_any_rate_will_do(runs: list[tuple[float, float]], method: Any) -> None:
    """Rates down to subnormal ones: a number or a refusal, and Fieller's holds the cost."""
    costs, rates = (list(column) for column in zip(*runs, strict=True))
    if any(rates) and sum(map(Fraction, costs)) / Fraction(math.fsum(rates)) > sys.float_info.max:
        with pytest.raises(InputError, match=r"cost_of_pass must be a finite number >= 0, got mo"):
            cost_of_pass_from_columns(cost_usd=costs, passed=rates, method=method)
        return
    result = cost_of_pass_from_columns(cost_usd=costs, passed=rates, method=method)
    if result.interval is None:
        assert result.cost_of_pass == math.inf
        return
    assert 0.0 <= result.interval.low <= result.interval.high
    assert result.stderr is None or result.stderr >= 0.0
    if method == "fieller":
        assert result.interval.low <= result.cost_of_pass * (1 + 1e-9)
        assert result.cost_of_pass <= result.interval.high * (1 + 1e-9)


@pytest.mark.parametrize("method", ["fieller", "bca"])
def test_clusters_count_once(method: Any) -> None:
    """Runs of one task are one observation: as their sums, however they are split up."""
    costs, passed = np.array([0.2, 0.4, 0.1, 0.3, 0.6]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    tasks = ["a", "b", "c", "d", "e"]
    once = cost_of_pass_from_columns(cost_usd=costs, passed=passed, method=method)
    runs = cost_of_pass_from_columns(
        cost_usd=np.repeat(costs, 4) / 4,
        passed=np.repeat(passed, 4) / 4,
        clusters=np.repeat(tasks, 4),
        method=method,
    )
    assert (runs.n_runs, runs.n_groups, once.n_groups) == (20, 5, None)
    assert runs.cost_of_pass == pytest.approx(once.cost_of_pass)
    assert runs.stderr == pytest.approx(once.stderr)
    assert runs.interval is not None
    assert once.interval is not None
    ends = runs.interval.low, runs.interval.high
    assert ends == pytest.approx((once.interval.low, once.interval.high))
    uneven = cost_of_pass_from_columns(
        cost_usd=[1.0] * 60,
        passed=[1, 1, 1, 1, 0] * 12,
        clusters=[0] * 20 + [1 + i // 4 for i in range(40)],
        method=method,
    )
    assert uneven.interval is not None
    even = cost_of_pass_from_columns(
        cost_usd=[0.1, 0.2, 0.3], passed=[1, 0, 1], clusters=["a", "a", "b"], method=method
    )
    assert even.stderr == 0.0
    assert 1.0 <= uneven.interval.low < 1.25 < uneven.interval.high < 2.0  # sizes are no noise
    alone = cost_of_pass_from_columns(cost_usd=costs, passed=passed, clusters=["a"] * 5)
    assert alone.stderr is None
    assert alone.interval == Interval(
        low=0.0, high=math.inf, confidence_level=0.95, method="fieller"
    )


@pytest.mark.parametrize(("n", "rate"), [(5, 0.8), (10, 0.95), (30, 0.98), (100, 0.05)])
def test_passes_that_hardly_vary_prove_little(n: int, rate: float) -> None:
    """Simulation: at a constant cost a t test sees nothing where all pass; this still does."""
    rng = np.random.default_rng(7)
    held = []
    for passed in rng.random((400, n)) < rate:
        interval = cost_of_pass_from_columns(cost_usd=np.ones(n), passed=passed).interval
        held.append(interval is None or interval.low <= 1 / rate <= interval.high)
    assert np.mean(held) >= 0.95


def test_all_passing_runs_are_bound_by_wilson() -> None:
    """Oracle: Wilson's formula by hand; three of three passes leave a rate of 3 / (3 + t^2)."""
    result = cost_of_pass_from_columns(cost_usd=[0.1] * 3, passed=[True] * 3)
    assert result.interval is not None
    square = stats.t.isf(0.025, 2) ** 2
    ends = result.interval.low, result.interval.high
    assert ends == pytest.approx((0.1, 0.1 * (3 + square) / 3))
    bare = cost_of_pass_from_columns(cost_usd=[0.1] * 3, passed=[True] * 3, method="bca")
    assert bare.interval is not None
    assert bare.interval.low <= bare.cost_of_pass <= bare.interval.high


def test_long_columns_are_resampled_in_blocks() -> None:
    """Memory stays bounded, and the stream is the same as in one piece."""
    costs = np.linspace(0.1, 1.0, MAX_RESAMPLED)
    passed = np.arange(MAX_RESAMPLED) % 2 == 0
    bca, fieller = (
        cost_of_pass_from_columns(cost_usd=costs, passed=passed, method=method).interval
        for method in ("bca", "fieller")
    )
    assert bca is not None
    assert fieller is not None
    assert (bca.low, bca.high) == pytest.approx((fieller.low, fieller.high), rel=2e-3)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e299])
def test_the_error_is_that_of_the_residuals(scale: float) -> None:
    """Oracle: scipy's standard error of cost - ratio * passed, over the pass rate."""
    costs, passed = np.array([1.0, 3.0, 2.0, 5.0]) * scale, np.array([1.0, 0.0, 1.0, 0.5])
    result = cost_of_pass_from_columns(cost_usd=costs, passed=passed)
    residuals = costs / scale - 11 / 2.5 * passed
    expected = stats.sem(residuals) / passed.mean()
    assert result.stderr is not None
    assert result.stderr / scale == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"cost_usd": []},
            InputError,
            "cost_usd must be a non-empty sequence of numbers, got ()",
        ),
        (
            {"passed": [True]},
            InputError,
            "cost_usd and passed must be equally long, got 2 and 1",
        ),
        ({"passed": [1, 2]}, InputError, "passed[1] must be a number in [0, 1], got 2.0"),
        (
            {"passed": ["y", "n"]},
            TypeError,
            (
                "passed[0] must be True or False, or a number in [0, 1] "
                """(of words: [x == "PASS" for x in passed]), got 'y'"""
            ),
        ),
        (
            {"cost_usd": [0.1, math.nan]},
            InputError,
            (
                "cost_usd[1] must be a number >= 0 "
                "(leave out runs whose cost was not measured), got nan"
            ),
        ),
        (
            {"cost_usd": [0.1, None]},
            TypeError,
            (
                "cost_usd[1] must be a number >= 0 "
                "(leave out runs whose cost was not measured), got None"
            ),
        ),
        (
            {"clusters": ["a"]},
            InputError,
            "clusters must be 2 labels, one for each entry, got 1",
        ),
        ({"method": "delta"}, InputError, "method must be one of 'fieller', 'bca', got 'delta'"),
        (
            {"confidence_level": 1.0},
            InputError,
            "confidence_level must be a number in (0, 1), got 1.0",
        ),
        ({"baseline": 0.5}, TypeError, "baseline must be a CostOfPass, got 0.5"),
        (
            {
                "baseline": cost_of_pass_from_columns(cost_usd=[1, 2], passed=[1, 1]),
                "confidence_level": 0.9,
            },
            InputError,
            "confidence_level must be that of baseline, 0.95, got 0.9",
        ),
        ({"seed": -1}, InputError, "seed must be an integer in [0, 4294967295], got -1"),
        (
            {"cost_usd": [0.1] * 10_001, "passed": [1] * 10_001, "method": "bca"},
            InputError,
            'cost_usd must be a column of at most 10000 runs for method="bca", got 10001',
        ),
        (
            {"cost_usd": [1e300, 1e300], "passed": [0.0, 1e-9]},
            InputError,
            "cost_of_pass must be a finite number >= 0, got more than 1.797e+308",
        ),
    ],
)
def test_errors(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """Each message names the parameter, its domain and the value it got."""
    with pytest.raises(error) as caught:
        cost_of_pass_from_columns(**{"cost_usd": [0.1, 0.2], "passed": [1, 0], **arguments})
    assert str(caught.value) == message


def test_the_ratio_to_a_baseline_is_that_of_tiers() -> None:
    """Columns of cost, outcome and task are enough; nothing else of a run goes into it."""
    rng = np.random.default_rng(5)
    tiers: list[Any] = []
    tables: list[Any] = []
    for name, cost, rate in (("T0", 0.2, 0.5), ("T1", 0.3, 0.9), ("none", 0.1, 0.0)):
        rows = [
            (f"t{i % 12}", round(cost * rng.uniform(0.5, 1.5), 3), rng.random() < rate)
            for i in range(60)
        ]
        runs = [
            Run(
                run_id=f"{i}",
                task_id=task,
                passed=ok,
                impl_rate=0.5,
                cost_usd=usd,
                duration_seconds=1,
            )
            for i, (task, usd, ok) in enumerate(rows)
        ]
        tiers.append(tier_statistics(name, runs))
        task, usd, ok = zip(*rows, strict=True)
        tables.append({"cost_usd": usd, "passed": ok, "clusters": task})
    across = cross_tier(tiers)
    base = cost_of_pass_from_columns(**tables[0])
    assert (base.cost_ratio, base.cost_ratio_interval) == (None, None)
    new = cost_of_pass_from_columns(**tables[1], baseline=base)
    assert new.cost_ratio == pytest.approx(across.cost_ratios["T1"], rel=1e-12)
    assert str(new.cost_ratio_interval) == str(across.cost_ratio_intervals["T1"])
    assert f", {new.cost_ratio:.4g} times the baseline {new.cost_ratio_interval}" in str(new)
    plain = cost_of_pass_from_columns(**tables[1])
    assert attrs.evolve(new, cost_ratio=None, cost_ratio_interval=None) == plain
    never = cost_of_pass_from_columns(**tables[2], baseline=base)
    assert (never.cost_ratio, never.cost_ratio_interval) == (None, None)
    assert "baseline" not in str(never)
    assert cost_of_pass_from_columns(**tables[1], baseline=never).cost_ratio is None


def test_few_passes_leave_the_cost_without_upper_bound() -> None:
    """One pass in five is compatible with none at all, so only the lower end is known."""
    result = fieller([1.0, 1.1, 0.9, 1.0, 1.2], [1, 0, 0, 0, 0])
    assert result is not None
    assert math.isinf(result.high)
    assert 0.0 < result.low < 5.2


def test_one_run_bounds_nothing() -> None:
    """There is no spread to learn from a single run."""
    result = fieller([0.5], [1.0])
    assert result == Interval(low=0.0, high=math.inf, confidence_level=0.95, method="fieller")


@pytest.mark.parametrize("cost", [0.0, 0.1, 1e-320, 1.7e308])
def test_constant_cost_that_always_passes_has_no_spread(cost: float) -> None:
    """The quadratic degenerates and neither rounding nor overflow may turn its ends around."""
    result = fieller([cost] * 7, [1.0] * 7)
    assert result is not None
    assert (result.low, result.high) == pytest.approx((cost, cost), rel=1e-7)


@given(RUNS, st.floats(0.5, 0.99), st.floats(0, 4))
def test_fieller_holds_what_the_t_test_does_not_reject(
    runs: list[tuple[float, float]], confidence_level: float, factor: float
) -> None:
    """Oracle: scipy's t test of cost - r * passed, at ratios all around the estimate."""
    assume(all(cost == 0.0 or cost > 1e-290 for cost, _ in runs))  # else it rounds to few digits
    costs, passed = (list(column) for column in zip(*runs, strict=True))
    result = fieller(costs, passed, confidence_level)
    if result is None:
        assert not any(passed)
        return
    estimate = math.fsum(cost / sum(passed) for cost in costs)
    assert 0.0 <= result.low <= estimate * (1 + 1e-12)
    assert estimate * (1 - 1e-12) <= result.high
    ratio = factor * estimate
    residuals = [(cost - ratio * one) / (max(costs) or 1.0) for cost, one in runs]
    if len(set(residuals)) > 1:
        p_value = stats.ttest_1samp(residuals, 0.0).pvalue
        if not result.low <= ratio <= result.high:
            assert p_value <= (1 - confidence_level) + 1e-6
        elif result.low > 0.0 and math.isfinite(result.high):
            assert p_value >= (1 - confidence_level) - 1e-6


def test_the_page_of_a_cost() -> None:
    """The cost with its interval first, the ratio where there is a baseline, then the counts."""
    base = cost_of_pass_from_columns(cost_usd=[1, 2, 3, 2], passed=[True, False, True, True])
    page = base._repr_html_()
    assert "a pass costs 2.667 USD [" in page
    assert " in 4 runs (each taken as independent)<" in page
    assert "<tr><th>n_passes</th><td>3</td></tr>" in page
    assert "times the baseline" not in page
    ratio = cost_of_pass_from_columns(
        cost_usd=[2, 2, 3, 2], passed=[True] * 4, clusters=list("aabb"), baseline=base
    )
    assert " times the baseline [" in ratio._repr_html_()
    assert " in 4 runs of 2 clusters<" in ratio._repr_html_()
