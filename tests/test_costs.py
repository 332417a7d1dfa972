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
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats

from scorekit import (
    CostOfPass,
    cost_of_pass_from_columns,
    cross_tier,
    mean_interval,
    runs_from_columns,
    tier_statistics,
)
from scorekit.errors import InputError

REFERENCE = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())
COSTS = st.floats(0, 1e300)


def log_mean_ends(
    costs: Any, groups: Any = None, confidence_level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Return the ends for the mean of all *costs*."""
    options: dict[str, Any] = {"bounds": (0, math.inf), "weights": "attempts", "seed": seed}
    return ends(
        mean_interval(costs, clusters=groups, confidence_level=confidence_level, **options)
    )


def cost(cost_usd: Any, passed: Any, **options: Any) -> CostOfPass:
    """Return what a pass costs by two columns."""
    return cost_of_pass_from_columns(cost_usd=cost_usd, passed=passed, **options)


def test_reference() -> None:
    """Ratio and error, made before this code; without a pass there is neither."""
    runs, no_pass = REFERENCE["cost_of_pass"]
    expected = runs["output"]
    result, none = (cost(one["input"]["cost"], one["input"]["passed"]) for one in (runs, no_pass))
    assert result.cost_of_pass == pytest.approx(expected["ratio"], rel=1e-9)
    assert result.stderr == pytest.approx(expected["se_delta"], rel=1e-9)
    assert none.cost_of_pass == float(no_pass["output"]["ratio"])
    assert (none.interval, none.stderr, none.n_runs, none.n_passes) == (None, None, 4, 0.0)


@pytest.mark.parametrize("n", [1000, 1001, 20_000])
def test_a_long_column_is_summed_exactly(n: int) -> None:
    """Oracle: fractions, over costs of very unlike size; one rounding."""
    rng = np.random.default_rng(5)
    costs, passed = 10.0 ** rng.uniform(-12, 6, n), rng.random(n) < 0.3
    exact = sum(map(Fraction, costs.tolist())) / int(passed.sum())
    assert cost(costs, passed).cost_of_pass == float(exact)


def by_hand(groups: list[list[float]], confidence_level: float, seed: int) -> tuple[Any, Any]:
    """Bootstrap-t on the logarithm of the mean, a resample at a time."""

    def estimate(drawn: list[list[float]]) -> tuple[float, float]:
        n, m = sum(map(len, drawn)), len(drawn)
        mean = sum(map(sum, drawn)) / n
        squares = sum((sum(group) - mean * len(group)) ** 2 for group in drawn)
        return mean, math.sqrt(m / (m - 1) * squares) / n / mean if mean else 0.0

    groups = sorted(groups, key=lambda group: (sum(group), len(group)))
    mean, error = estimate(groups)
    if error < 1e-12:
        return mean, mean
    rows = np.random.RandomState(seed).randint(0, len(groups), (4000, len(groups)))
    resamples = [estimate([groups[i] for i in row]) for row in rows]
    shifts = [math.log(other / mean) / its for other, its in resamples if its > 1e-12]
    df = sum(map(len, groups)) ** 2 / sum(len(group) ** 2 for group in groups) - 1
    t = stats.t.isf((1 - confidence_level) / 2, df)
    tails = np.quantile(shifts, [(1 - confidence_level) / 2, (1 + confidence_level) / 2])
    low, high = min(tails[0], -t), max(tails[1], t)
    error *= math.sqrt((df + 2) / df)
    return mean * np.exp(-high * error), mean * np.exp(-low * error)


@pytest.mark.parametrize(
    ("groups", "confidence_level", "seed"),
    [
        ([[0.1], [0.2], [0.3], [0.7], [0.05], [0.0]], 0.95, 0),
        ([[0.1, 0.4], [0.2], [0.3, 0.3, 0.9], [0.7]], 0.9, 3),
        ([[0.5], [0.5], [0.6]], 0.95, 1),
        ([[0.5], [0.6]], 0.8, 0),
        ([[0.5], [0.5], [0.5]], 0.95, 0),
    ],
)
def test_a_mean_cost_is_bounded_as_by_hand(
    groups: list[list[float]], confidence_level: float, seed: int
) -> None:
    """Oracle: plain loops over the same draws."""
    costs = np.array([cost for group in groups for cost in group])
    codes = np.repeat(np.arange(len(groups)), list(map(len, groups)))
    found = log_mean_ends(costs, codes, confidence_level, seed)
    assert found == pytest.approx(by_hand(groups, confidence_level, seed), rel=1e-9)


def test_the_interval_is_made_of_those_of_both_means() -> None:
    """Oracle: the formula of Donner and Zou on logarithms, with the correlation of the columns."""
    costs, passed = [0.1, 0.4, 0.2, 0.3, 0.9, 0.1], [1, 0, 1, 1, 0, 1]
    low, high = ends(cost(costs, passed).interval)
    top = log_mean_ends(np.array(costs), np.arange(6), 0.95, 0)
    rate = mean_interval(passed, bounds=(0, 1))
    together = np.corrcoef(costs, passed)[0, 1]
    for end, sign, first, second in (
        (low, -1, np.mean(costs) / top[0], rate.high / np.mean(passed)),
        (high, 1, top[1] / np.mean(costs), np.mean(passed) / rate.low),
    ):
        one, other = math.log(first), math.log(second)
        reach = math.sqrt(one**2 + other**2 - 2 * together * one * other)
        assert end == pytest.approx(0.5 * math.exp(sign * reach), rel=1e-9)


def test_costs_with_a_long_tail_are_held() -> None:
    """Simulation: logarithms of a standard deviation of 1.5 in 30 runs; Fieller's held .79."""
    rng, held = np.random.default_rng(2), 0
    for _ in range(100):
        costs, passed = np.exp(rng.normal(0, 1.5, 30)), rng.random(30) < 0.7
        low, high = ends(cost(costs, passed).interval)
        held += low <= math.exp(1.125) / 0.7 <= high
    assert held >= 87


def test_bounds_allow_for_costs_that_no_run_had() -> None:
    """Oracle: the interval of the mean within the bounds, where every run passes for sure."""
    costs = [0.1, 0.12, 0.09, 0.11] * 10
    (_, bounded), (_, free) = (
        ends(cost(costs, [1] * 40, bounds=bounds).interval) for bounds in ((0, 5), None)
    )
    mean = mean_interval(costs, bounds=(0, 5))
    rate = mean_interval([1] * 40, bounds=(0, 1))
    reach = math.hypot(math.log(mean.high / 0.105), math.log(1 / rate.low))
    assert bounded == pytest.approx(0.105 * math.exp(reach))
    assert bounded > 4 * free
    nothing = cost([0] * 9, [1] * 9, bounds=(0, 1)).interval
    most = mean_interval([0] * 9, bounds=(0, 1)).high / mean_interval([1] * 9, bounds=(0, 1)).low
    assert ends(nothing) == pytest.approx((0.0, most))


def test_many_runs_are_drawn_together() -> None:
    """Of thousands that vary little the interval is Student's; one cost of 0 changes nothing."""
    costs = np.random.default_rng(1).gamma(9, 0.1, 5000)
    costs[7] = 0.0
    found = log_mean_ends(costs, np.arange(5000), 0.95, 0)
    student = mean_interval(costs)
    assert found == pytest.approx(ends(student), rel=2e-3)
    assert found[0] <= student.low * (1 + 1e-3)


@pytest.mark.parametrize("usd", [0.0, 0.1, 1e-320, 1.7e308])
def test_constant_costs_have_no_spread(usd: float) -> None:
    """Neither rounding nor overflow may turn the ends around."""
    assert log_mean_ends(np.full(7, usd), np.arange(7)) == pytest.approx((usd, usd))


@given(st.lists(st.tuples(COSTS, st.floats(0, 1)), min_size=1, max_size=6))
@example([(0.0, 1.0), (1.0, 2e-313)])
@example([(0.0, 0.0), (3.984438972717189e299, 0.0), (2.9528616215558262e-24, 0.0)])
def test_any_rate_will_do(runs: list[tuple[float, float]]) -> None:
    """Rates down to subnormal ones: a number that its interval holds, or a refusal."""
    costs, rates = (list(column) for column in zip(*runs, strict=True))
    if any(rates) and sum(map(Fraction, costs)) / Fraction(math.fsum(rates)) > sys.float_info.max:
        with pytest.raises(InputError, match=r"cost_of_pass must be a finite number >= 0, got mo"):
            cost(costs, rates)
        return
    result = cost(costs, rates)
    if result.interval is None:
        assert result.cost_of_pass == math.inf
        return
    assert 0.0 <= result.interval.low <= result.cost_of_pass <= result.interval.high
    assert result.stderr is None or result.stderr >= 0.0


def test_clusters_count_once() -> None:
    """Runs of one task are one observation: as their sums, however they are split up."""
    costs, passed = np.array([0.2, 0.4, 0.1, 0.3, 0.6]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    once = cost(costs, passed)
    runs = cost(np.repeat(costs, 4), np.repeat(passed, 4), clusters=np.repeat([*"abcde"], 4))
    assert (runs.n_runs, runs.n_groups, once.n_groups) == (20, 5, None)
    assert runs.cost_of_pass == pytest.approx(once.cost_of_pass)
    assert runs.stderr == pytest.approx(once.stderr)
    assert ends(runs.interval) == pytest.approx(ends(once.interval))
    assert cost([0.1, 0.2, 0.3], [1, 0, 1], clusters=["a", "a", "b"]).stderr == 0.0
    alone = cost(costs, passed, clusters=["a"] * 5)
    assert (alone.stderr, ends(alone.interval)) == (None, (0.0, math.inf))


@pytest.mark.sampled
@pytest.mark.parametrize(("n", "rate"), [(5, 0.8), (10, 0.95), (30, 0.98), (100, 0.05)])
def test_passes_that_hardly_vary_prove_little(n: int, rate: float) -> None:
    """Simulation: at a constant cost a t test sees nothing where all pass; this still does."""
    held = 0
    for passed in np.random.default_rng(7).random((400, n)) < rate:
        interval = cost(np.ones(n), passed).interval
        held += interval is None or interval.low <= 1 / rate <= interval.high
    assert held / 400 >= 0.95


def test_all_passing_runs_are_bound_by_the_pass_rate() -> None:
    """Oracle: Clopper and Pearson's lower end for three of three, ``0.025 ** (1 / 3)``."""
    found = ends(cost([0.1] * 3, [True] * 3).interval)
    assert found == pytest.approx((0.1, 0.1 / 0.025 ** (1 / 3)), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e299])
def test_the_error_is_that_of_the_residuals(scale: float) -> None:
    """Oracle: scipy's standard error of cost - ratio * passed, over the pass rate."""
    costs, passed = np.array([1.0, 3.0, 2.0, 5.0]) * scale, np.array([1.0, 0.0, 1.0, 0.5])
    residuals = costs / scale - 11 / 2.5 * passed
    expected = stats.sem(residuals) / passed.mean()
    assert present(cost(costs, passed).stderr) / scale == pytest.approx(expected, rel=1e-12)


@refusals("""
cost_usd=[] -> InputError: cost_usd must be a non-empty sequence of numbers, got ()
passed=[True] -> InputError: cost_usd and passed must be equally long, got 2 and 1
passed=[1, 2] -> InputError: passed[1] must be a number in [0, 1], got 2.0
passed=["y", "n"]
    -> TypeError: passed[0] must be True or False, or a number in [0, 1] (if 'y' stands for
    True: [x == 'y' for x in passed]), got 'y'
cost_usd=[0.1, math.nan]
    -> InputError: cost_usd[1] must be a number >= 0 (leave out runs whose cost was not
    measured), got nan
cost_usd=[0.1, None]
    -> TypeError: cost_usd[1] must be a number >= 0 (leave out runs whose cost was not
    measured), got None
clusters=["a"] -> InputError: clusters must be 2 labels, one for each entry, got 1
baseline=0.5 -> TypeError: baseline must be a CostOfPass, got 0.5
baseline=cost_of_pass_from_columns(cost_usd=[1, 2], passed=[1, 1]), confidence_level=0.9
    -> InputError: confidence_level must be that of baseline, 0.95, got 0.9
bounds=(0, 0.1) -> InputError: cost_usd[1] must be a number in [0, 0.1], got 0.2
bounds=(-1, 1) -> InputError: bounds[0] must be a finite number >= 0, got -1.0
cost_usd=[0.1] * 999 + [math.inf], passed=[1] * 1000
    -> InputError: cost_usd[999] must be a number in [0, 1e+300], got inf
cost_usd=[1e300, 1e300], passed=[0.0, 1e-9]
    -> InputError: cost_of_pass must be a finite number >= 0, got more than 1.797e+308
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(cost_of_pass_from_columns, cost_usd=[0.1, 0.2], passed=[1, 0])


def test_the_ratio_to_a_baseline_is_that_of_tiers() -> None:
    """Columns of cost, outcome and task are enough; nothing else of a run goes into it."""
    rng, tasks = np.random.default_rng(5), [f"t{i % 12}" for i in range(60)]
    tiers: list[Any] = []
    tables: list[Any] = []
    for name, mean, rate in (("T0", 0.2, 0.5), ("T1", 0.3, 0.9), ("none", 0.1, 0.0)):
        usd, passed = (mean * rng.uniform(0.5, 1.5, 60)).round(3), rng.random(60) < rate
        runs = runs_from_columns(
            run_id=range(60), task_id=tasks, passed=passed, impl_rate=0.5, cost_usd=usd
        )
        tiers.append(tier_statistics(name, runs))
        tables.append({"cost_usd": usd, "passed": passed, "clusters": tasks})
    for tier, table in zip(tiers, tables, strict=True):
        alone = cost(**table)
        assert alone.cost_of_pass == tier.cost_of_pass
        assert (alone.interval, alone.n_runs) == (tier.cost_of_pass_interval, tier.n_runs)
    across = cross_tier(tiers)
    base = cost_of_pass_from_columns(**tables[0])
    assert (base.cost_ratio, base.cost_ratio_interval) == (None, None)
    new = cost_of_pass_from_columns(**tables[1], baseline=base)
    assert new.cost_ratio == pytest.approx(across.cost_ratios["T1"], rel=1e-12)
    assert str(new.cost_ratio_interval) == str(across.cost_ratio_intervals["T1"])
    assert f" {new.cost_ratio_interval} times the baseline over 12 common clusters (" in str(new)
    plain = cost_of_pass_from_columns(**tables[1])
    assert new.n_common_groups == across.n_common_tasks["T1"] == 12
    without = attrs.evolve(new, cost_ratio=None, cost_ratio_interval=None, n_common_groups=None)
    assert without == plain
    never = cost_of_pass_from_columns(**tables[2], baseline=base)
    assert (never.cost_ratio, never.cost_ratio_interval) == (None, None)
    assert "baseline" not in str(never)
    assert cost_of_pass_from_columns(**tables[1], baseline=never).cost_ratio is None


def test_the_page_of_a_cost() -> None:
    """The cost with its interval first, the ratio where there is a baseline, then the counts."""
    base = cost([1, 2, 3, 2], [True, False, True, True])
    page = base._repr_html_()
    assert "3 USD [" in page
    assert (
        "per successful run (95 % if no run costs far more, 4 runs, each taken as independent)<"
        in page
    )
    assert "<tr><th>n_passes</th><td>3</td></tr>" in page
    assert "times the baseline" not in page
    page = cost([2, 2, 3, 2], [True] * 4, clusters=list("aabb"), baseline=base)._repr_html_()
    assert "] times the baseline (95 %" in page
    assert ", 4 runs of 2 clusters, each cluster weighing the same)<" in page


def tables_of(n: int, seed: int = 3) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two columns of runs of the same tasks, twice as expensive in the second."""
    rng = np.random.default_rng(seed)
    task = np.repeat(np.arange(n), 3)
    base, rate = np.exp(rng.normal(0, 1, n)), rng.uniform(0.3, 1, n)
    return tuple(  # type: ignore[return-value]
        {
            "cost_usd": factor * base[task] * np.exp(rng.normal(0, 0.2, task.size)),
            "passed": rng.random(task.size) < rate[task],
            "clusters": [f"t{i}" for i in task],
        }
        for factor in (1, 2)
    )


def test_the_ratio_over_common_tasks_by_the_jackknife() -> None:
    """Oracle: pandas' means of the tasks; tasks of one side alone do not count."""
    one, two = tables_of(12)
    base = cost_of_pass_from_columns(**one)
    new: Any = {"cost_usd": [100.0, 200.0], "passed": [True, False], "clusters": ["new"] * 2}
    found = cost(**{name: [*two[name], *more] for name, more in new.items()}, baseline=base)
    means = [pd.DataFrame(table).groupby("clusters").mean() for table in (one, two)]

    def log_ratio(without: str = "") -> float:
        sums = [frame.drop(index=without, errors="ignore").sum() for frame in means]
        old, new = (float(side["cost_usd"] / side["passed"]) for side in sums)
        return math.log(new / old)

    left_out = [log_ratio(task) for task in means[0].index]
    error = math.sqrt(11 / 12 * sum((x - np.mean(left_out)) ** 2 for x in left_out))
    reach = stats.t.ppf(0.975, 11) * error
    assert found.n_common_groups == 12
    assert found.cost_ratio == pytest.approx(math.exp(log_ratio()))
    low, high = ends(found.cost_ratio_interval)
    expected = log_ratio() - reach, log_ratio() + reach
    assert (math.log(low), math.log(high)) == pytest.approx(expected)
    assert present(found.cost_ratio_interval).method == "jackknife over common tasks"
    assert " over 12 common clusters (95 % if no run costs far more, 38 runs of" in str(found)
    apart = cost(**{**two, "clusters": [f"other {one}" for one in two["clusters"]]}, baseline=base)
    assert apart.n_common_groups is None
    lowest, highest = ends(apart.cost_ratio_interval)
    assert high / low < (highest / lowest) ** 0.6


def test_weights_of_the_cost_of_a_pass() -> None:
    """By hand: a task that was tried three times, and one that was tried once."""
    table: Any = {"cost_usd": [1, 1, 1, 2], "passed": [0, 0, 1, 1], "clusters": [7, 7, 7, 8]}
    groups = cost_of_pass_from_columns(**table)
    assert groups.cost_of_pass == pytest.approx(1.5 / (2 / 3))
    assert groups.weights == "groups"
    assert dict(groups.cluster_means or {}) == {"7": (1.0, 1 / 3), "8": (2.0, 1.0)}
    pooled = cost_of_pass_from_columns(**table, weights="attempts")
    assert (pooled.cost_of_pass, pooled.weights) == (2.5, "attempts")
    assert ", 4 runs of 2 clusters, each cluster weighing the same)" in str(groups)
    assert ", 4 runs of 2 clusters, each run weighing the same" in str(pooled)
    for labels in ([(1, 2)] * 4, [1, "1", 2, 3]):  # no names, or the same one
        unnamed = cost_of_pass_from_columns(**{**table, "clusters": labels})
        assert unnamed.cluster_means is None


def test_a_side_whose_passes_are_one_task_has_the_wider_interval() -> None:
    """Without that task no pass is left: the jackknife has no end."""
    one, two = tables_of(6)
    only = {**two, "passed": [i == 4 for i in range(18)]}
    base = cost_of_pass_from_columns(**one)
    found = cost_of_pass_from_columns(**only, baseline=base)
    assert present(found.cost_ratio_interval).method == "ratio of means"
    assert found.n_common_groups == 6
    single: dict[str, Any] = {name: list(column)[:3] for name, column in two.items()}
    alone = cost_of_pass_from_columns(**{**single, "passed": [1, 1, 0]}, baseline=base)
    assert (alone.n_common_groups, ends(alone.cost_ratio_interval)) == (1, (0.0, math.inf))


def test_where_all_passed_failures_may_still_come() -> None:
    """Half a task more counts as failed: equal costs do not make the ratio certain."""
    table: Any = {"cost_usd": [1.0, 2.0, 3.0, 4.0], "passed": [1] * 4, "clusters": list("abcd")}
    base = cost_of_pass_from_columns(**table)
    found = ends(cost_of_pass_from_columns(**table, baseline=base).cost_ratio_interval)
    share = 4.5 / 5
    reach = stats.t.ppf(0.975, 3) * math.sqrt(2 * (1 - share) / (share * 4))
    assert found == pytest.approx((math.exp(-reach), math.exp(reach)))


def test_the_print_says_what_the_interval_assumes() -> None:
    """Without a limit of what a run costs, whether or not the runs seen show a long tail."""
    columns: dict[str, Any] = {"cost_usd": [1, 2, 3] * 4, "passed": [True] * 9 + [False] * 3}
    assumed = " if no run costs far more, 12 runs"
    assert f"(95 %{assumed}" in str(cost_of_pass_from_columns(**columns))
    assert "(95 %, 12 runs" in str(cost_of_pass_from_columns(**columns, bounds=(0, 10)))
