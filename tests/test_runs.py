"""Runs, tiers and costs: sourced values, errors, properties, exact oracles."""

from __future__ import annotations

import json
import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from column_types import COLUMN_TYPES
from hypothesis import assume, given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals

from scorekit.costs import cost_of_pass, cost_of_pass_from_columns
from scorekit.errors import InputError, shown
from scorekit.intervals import mean_interval
from scorekit.plots import plot_cost_quality
from scorekit.prices import ModelPrice
from scorekit.runs import (
    Run,
    TierStatistics,
    cross_tier,
    runs_from_columns,
    score_run,
    tier_statistics,
)
from scorekit.summary import describe

RATES = st.floats(0, 1)
PASSES = st.sampled_from((0.0, 1.0))
WEIGHTS = st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)).filter(any)
AMOUNTS = st.floats(0, 1e6)


UNKNOWN = (
    "True or False (a missing outcome: leave its row out of all columns; "
    "False, then True, bounds how far it could move the result)"
)


def _run(run_id: str = "T1/01/1", **changed: Any) -> Run:
    fields = {"passed": True, "impl_rate": 0.85, "cost_usd": 0.5, "duration_seconds": 71.4}
    return Run(run_id=run_id, **(fields | changed))


def _tier(
    tier_id: str, composite: float, *, cost: float = 0.5, passed: bool = True
) -> TierStatistics:
    run = _run(impl_rate=composite, cost_usd=cost, passed=passed)
    return tier_statistics(tier_id, [run], pass_weight=0, impl_weight=1)


ROWS = st.lists(st.tuples(st.booleans(), RATES, AMOUNTS, AMOUNTS), min_size=1, max_size=12)


def _runs() -> st.SearchStrategy[list[Run]]:
    names = ("passed", "impl_rate", "cost_usd", "duration_seconds")
    return ROWS.map(
        lambda rows: [
            _run(f"{i}", **dict(zip(names, row, strict=True))) for i, row in enumerate(rows)
        ]
    )


# Worked examples of the metric's source.


def test_one_run_as_worked_in_the_source() -> None:
    """A pass with 0.85 for half a dollar is a B; all other fields come from the run."""
    result = score_run(_run())
    assert (result.composite_score, result.cost_of_pass, str(result.grade)) == (0.925, 0.5, "B")
    assert (result.run_id, result.pass_rate, result.impl_rate) == ("T1/01/1", 1.0, 0.85)
    assert (result.cost_usd, result.duration_seconds) == (0.5, 71.4)


def test_eight_passes_of_ten_as_worked_in_the_source() -> None:
    """Passes 1101110111 have median 1, mean 0.8, mode 1 and standard deviation 0.4."""
    runs = [_run(f"{i}", passed=bit == "1") for i, bit in enumerate("1101110111")]
    tier = tier_statistics("T1", runs)
    rate = tier.pass_rate
    assert (rate.median, rate.mean, rate.mode, rate.std_dev) == (1.0, 0.8, 1.0, 0.4)
    assert (tier.tier_id, tier.n_runs, tier.cost_of_pass) == ("T1", 10, 0.625)


def test_four_tiers_as_worked_in_the_source() -> None:
    """Composites 0.70, 0.80, 0.85 and 0.90 give three uplifts and a variance of 0.00547."""
    composites = {"T0": 0.70, "T1": 0.80, "T2": 0.85, "T3": 0.90}
    result = cross_tier([_tier(name, score) for name, score in composites.items()])
    uplifts = {name: round(uplift or 0.0, 3) for name, uplift in result.uplifts.items()}
    assert uplifts == {"T1": 0.143, "T2": 0.214, "T3": 0.286}
    assert round(result.composite_variance, 5) == 0.00547
    assert result.baseline == "T0"


# One run.


def test_a_run_that_fails_costs_infinity_for_each_pass() -> None:
    """No money buys a pass where nothing passes, not even when the run was free."""
    for cost in (0.0, 0.5):
        result = score_run(_run(passed=False, impl_rate=0.4, cost_usd=cost))
        assert (result.pass_rate, result.composite_score) == (0.0, 0.2)
        assert result.cost_of_pass == cost_of_pass(cost_usd=cost, pass_rate=0.0) == math.inf
        assert str(result.grade) == "F"


def test_a_run_holds_builtins_whatever_it_was_made_from() -> None:
    """Rows of a data frame bring NumPy values, which JSON would not take."""
    row = {"passed": np.True_, "impl_rate": Decimal("0.85"), "cost_usd": np.float32(0.5)}
    run = _run("a", **row, duration_seconds=71)
    assert list(map(type, attrs.astuple(run)[:-1])) == [str, bool, float, float, float]
    assert Run.from_dict(json.loads(json.dumps(run.to_dict(), allow_nan=False))) == run


@given(PASSES, RATES, WEIGHTS)
def test_composite_is_the_weighted_mean_of_the_decimals(
    pass_rate: float, impl_rate: float, weights: tuple[float, float]
) -> None:
    """Oracle: long decimal arithmetic on the numbers as written."""
    with localcontext(prec=800):
        first, second, p, q = (Decimal(str(x)) for x in (*weights, pass_rate, impl_rate))
        exact = float((first * p + second * q) / (first + second))
    assert _blend(pass_rate, impl_rate, weights) == exact


def _blend(pass_rate: float, impl_rate: float, weights: tuple[float, float]) -> float:
    run = _run(passed=bool(pass_rate), impl_rate=impl_rate)
    return score_run(run, pass_weight=weights[0], impl_weight=weights[1]).composite_score


def test_largest_weights_do_not_overflow() -> None:
    """Their sum is beyond every float; the mean of the rates is not."""
    assert _blend(1.0, 0.5, (1.7e308, 1.7e308)) == 0.75


@given(_runs(), WEIGHTS)
def test_run_score_agrees_with_the_single_functions(
    runs: list[Run], weights: tuple[float, float]
) -> None:
    """The record is nothing but these functions side by side."""
    for run in runs:
        result = score_run(run, pass_weight=weights[0], impl_weight=weights[1])
        cost = present(run.cost_usd)
        assert result.cost_of_pass == cost_of_pass(cost_usd=cost, pass_rate=result.pass_rate)
        assert result.grade.score == result.composite_score


# Costs.


@given(AMOUNTS, st.floats(1e-6, 1) | st.just(1.0))
def test_cost_of_pass_falls_as_passes_rise(cost: float, rate: float) -> None:
    """It is the cost itself when every attempt passes, and never less."""
    assert cost_of_pass(cost_usd=cost, pass_rate=rate) == cost / rate >= cost


# Tiers.


@given(_runs(), st.randoms(use_true_random=False), WEIGHTS)
def test_order_of_runs_does_not_matter(
    runs: list[Run], random: Any, weights: tuple[float, float]
) -> None:
    """Bit for bit, interval included, so that reruns in another order can be compared by ==."""
    before, after = (
        tier_statistics("T1", rows, pass_weight=weights[0], impl_weight=weights[1])
        for rows in (runs, random.sample(runs, len(runs)))
    )
    assert before == after


@given(_runs())
def test_tier_is_made_of_what_its_runs_score(runs: list[Any]) -> None:
    """Oracle: score each run alone, then describe the columns; the grade is the median's."""
    tier, scores = tier_statistics("T1", runs), [score_run(run) for run in runs]
    for name in ("pass_rate", "impl_rate", "cost_usd", "duration_seconds", "composite_score"):
        shares = (0.5, 0.95) if name in ("cost_usd", "duration_seconds") else ()
        values = [getattr(score, name) for score in scores]
        assert getattr(tier, name) == describe(values, quantiles=shares)
    assert tier.grade.score == tier.composite_score.median
    passes = [score.pass_rate for score in scores]
    if any(passes):
        total = sum(Fraction(run.cost_usd) for run in runs)
        assert tier.cost_of_pass == float(total / Fraction(sum(passes)))
        costs = [run.cost_usd for run in runs]
        columns = cost_of_pass_from_columns(cost_usd=costs, passed=passes)
        assert tier.cost_of_pass_interval == columns.interval
    else:
        assert (tier.cost_of_pass, tier.cost_of_pass_interval) == (math.inf, None)


@given(_runs(), st.integers(-20, 20))
def test_costs_scale_and_nothing_else_does(runs: list[Any], power: int) -> None:
    """A currency twice as small doubles every cost, and no score moves."""
    assume(all(run.cost_usd == 0 or run.cost_usd > 1e-9 for run in runs))
    factor = 2.0**power
    before: Any = tier_statistics("T1", runs)
    scaled = [attrs.evolve(run, cost_usd=run.cost_usd * factor) for run in runs]
    after: Any = tier_statistics("T1", scaled)
    assert after.cost_of_pass == before.cost_of_pass * factor
    assert after.cost_usd.median == before.cost_usd.median * factor
    if before.cost_of_pass_interval is not None:
        low, high = ends(before.cost_of_pass_interval)
        assert ends(after.cost_of_pass_interval) == (low * factor, high * factor)
    assert (after.composite_score, after.grade) == (before.composite_score, before.grade)


def test_costs_may_add_up_beyond_the_floats() -> None:
    """Two runs at 1e308 cost 2e308, which no float holds; a single run bounds nothing."""
    tier = tier_statistics("T1", [_run("1", cost_usd=1e308), _run("2", cost_usd=1e308)])
    assert tier.cost_of_pass == 1e308
    assert ends(tier_statistics("T1", [_run()]).cost_of_pass_interval)[1] == math.inf


def _attempts(n_tasks: int, n_runs: int, **of_tier: Any) -> list[Run]:
    """Return runs of tasks of which some pass always, some never and some now and then."""
    rng = np.random.default_rng(of_tier.pop("seed", 1))
    rates = of_tier.pop("rates", rng.beta(0.5, 0.5, n_tasks))
    tasks = np.repeat(np.arange(n_tasks), n_runs)
    runs = runs_from_columns(
        run_id=[f"{task}/{i}" for task in range(n_tasks) for i in range(n_runs)],
        passed=rng.random(tasks.size) < rates[tasks],
        impl_rate=rng.uniform(0.2, 1.0, tasks.size),
        cost_usd=rng.gamma(2, 0.1, tasks.size),
        task_id=[f"task {task}" for task in tasks],
    )
    return [*runs]


def test_runs_of_one_task_count_once() -> None:
    """Copies of each run tell nothing new: with tasks the intervals stay, without they shrink."""
    once = [attrs.evolve(run, task_id=None) for run in _attempts(12, 1)]
    copies = [
        attrs.evolve(run, run_id=f"{run.run_id}/{i}", task_id=run.run_id)
        for run in once
        for i in range(5)
    ]
    single, tasks = tier_statistics("T", once), tier_statistics("T", copies)
    pooled = tier_statistics("T", [attrs.evolve(run, task_id=None) for run in copies])
    for name in ("pass_rate", "impl_rate", "composite", "cost_usd", "cost_of_pass"):
        one, of_tasks, of_all = (
            ends(getattr(tier, f"{name}_interval")) for tier in (single, tasks, pooled)
        )
        assert of_tasks == pytest.approx(one, rel=1e-9)
        assert np.ptp(of_all) < 0.6 * np.ptp(one)
    assert single.task_scores is None
    assert {len(scores) for scores in present(tasks.task_scores).values()} == {5}


def test_means_are_bounded_as_anywhere_else() -> None:
    """Oracle: the public intervals of the columns, with the tasks as clusters."""
    runs = _attempts(8, 3)
    tier = tier_statistics("T", runs, confidence_level=0.9)
    tasks = [run.task_id for run in runs]
    for name, field in (("pass_rate", "passed"), ("impl_rate", "impl_rate")):
        column = [float(getattr(run, field)) for run in runs]
        expected = mean_interval(column, bounds=(0, 1), clusters=tasks, confidence_level=0.9)
        found = getattr(tier, f"{name}_interval")
        assert ends(found) == pytest.approx(ends(expected))
        assert found.method == expected.method
        by_one = name == "pass_rate"
        alone = tier_statistics(
            "T", runs, pass_weight=float(by_one), impl_weight=float(not by_one)
        )
        part = getattr(alone, f"{name}_interval")
        assert ends(alone.composite_interval) == pytest.approx(ends(part))


@pytest.mark.slow
def test_rare_failures_that_graded_scores_hide_are_allowed_for() -> None:
    """20 tasks of 3 runs that pass 98 times in 100, one in three suites without a failure: an
    interval of the composites alone held the mean 68 times in 100.
    """
    rng, held = np.random.default_rng(4), 0
    for _ in range(80):
        passed = rng.random(60) < 0.98
        rates = np.where(passed, 0.9, 0.5) + rng.normal(0, 0.02, 60)
        runs = [
            _run(f"{i}", passed=bool(p), impl_rate=float(rate), task_id=f"{i // 3}")
            for i, (p, rate) in enumerate(zip(passed, rates, strict=True))
        ]
        interval = tier_statistics("T", runs).composite_interval
        held += interval.low <= (0.98 + 0.892) / 2 <= interval.high
    assert held >= 74


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 99), st.randoms(use_true_random=False))
def test_laws_of_tiers_with_tasks(n_tasks: int, n_runs: int, seed: int, random: Any) -> None:
    """Each interval holds its mean, in [0, 1]; the order of runs and JSON change nothing."""
    runs = _attempts(n_tasks, n_runs, seed=seed)
    tier = tier_statistics("T", runs)
    for name in ("pass_rate", "impl_rate", "composite"):
        mean = getattr(tier, "composite_score" if name == "composite" else name).mean
        interval = getattr(tier, f"{name}_interval")
        assert 0 <= interval.low <= mean + 1e-12
        assert mean - 1e-12 <= interval.high <= 1
        assert n_tasks > 1 or ends(interval) == (0, 1)
    assert tier == tier_statistics("T", random.sample(runs, len(runs)))
    assert TierStatistics.from_dict(json.loads(json.dumps(tier.to_dict()))) == tier
    other = tier_statistics("U", _attempts(n_tasks, n_runs, seed=seed + 1))
    result = cross_tier([tier, other], baseline="T")
    low, high = ends(result.uplift_intervals["U"])
    assert -1 <= low <= present(result.mean_uplifts["U"]) <= high


@pytest.mark.slow
def test_intervals_over_tasks_hold_the_truth() -> None:
    """Simulation: runs of a task resemble each other; taken for independent they held the cost of
    a pass 66 times in 100 where tasks differ most.
    """
    held, n_runs = np.zeros(4), 3
    for seed in range(100):
        rates = np.random.default_rng(seed).beta(1, 1, 20)
        tiers = [
            tier_statistics(name, _attempts(20, n_runs, seed=10_000 * i + seed, rates=rate))
            for i, (name, rate) in enumerate((("T0", rates), ("T1", np.sqrt(rates))), 1)
        ]
        tier, uplift = tiers[0], cross_tier(tiers).uplift_intervals["T1"]
        truths = (
            (tier.pass_rate_interval, 0.5),
            (tier.composite_interval, 0.55),
            (tier.cost_of_pass_interval, 0.4),
            (uplift, (2 / 3 + 0.6) / 1.1 - 1),
        )
        held += [i is not None and i.low <= truth <= i.high for i, truth in truths]
    assert (held >= 92).all()


def test_a_median_that_hides_a_split_says_so() -> None:
    """Tiers of 60, 100 and 70 % passes have one median; their means and texts tell them apart."""

    def tier(name: str, n_passed: int) -> TierStatistics:
        runs = [_run(f"{i}", passed=i < n_passed, impl_rate=0.9) for i in range(30)]
        return tier_statistics(name, runs)

    tiers = [tier("T0", 18), tier("T1", 30), tier("T\n2", 21)]
    assert [one.median_hides_split for one in tiers] == [True, False, True]
    result = cross_tier(tiers)
    assert (result.composite_variance, set(result.uplifts.values())) == (0.0, {0.0})
    assert result.mean_uplifts["T1"] == pytest.approx(0.95 / 0.75 - 1)
    low, high = ends(result.uplift_intervals["T1"])
    assert 0 < low < 0.95 / 0.75 - 1 < high
    lines = [" ".join(line.split()) for line in str(result).splitlines()]
    found, value, header, first, best, _, counted = lines
    of = "against T0: higher T1 (2 tiers, 95 % interval of each)"
    assert found == f"mean composite score {of}"
    lowest = "lowest T1, 0.500 USD [0.500, 0.565], 0.60 [0.41, 0.80] times T0"
    assert value == f"cost per successful run: {lowest}; against T0: lower T1"
    assert counted == "runs each taken as independent"
    assert header == "tier grade mean (95 %) pass rate USD per pass uplift of mean times baseline"
    assert first.startswith("T0 A (median), C (mean) 0.75 [0.63, 0.84] 0.60 [0.41, 0.77] 0.83 [")
    row = "T1 A 0.95 [0.84, 0.96] 1 [0.88, 1] 0.500 [0.500, 0.565]"
    assert best == f"{row} +0.27 [+0.07, +0.52] 0.60 [0.41, 0.80]"
    medians = [" ".join(line.split()) for line in result.to_text(all=True).splitlines()[-4:]]
    assert medians == ["tier median uplift of median", "T0 0.95 baseline", *medians[2:]]
    assert medians[2:] == ["T1 0.95 +0", r"T\n2 0.95 +0"]
    both = "grade A (median), C (mean): median score 0.95, mean score 0.75 [0.63, 0.84]"
    assert str(tiers[0]).endswith(both)
    assert str(tiers[1]).endswith("grade A by the median score 0.95")
    for one in (tiers[0], result):
        for text in (one.to_markdown(), one.to_latex(), one._repr_html_()):
            assert "A (median), C (mean)" in text


def test_costs_of_a_pass_are_compared() -> None:
    """By their ratio, whose interval puts the logarithms of both together."""

    def tier(name: str, n_passed: int, cost: float) -> TierStatistics:
        runs = [_run(f"{i}", passed=i < n_passed, cost_usd=cost * (1 + i % 5)) for i in range(40)]
        return tier_statistics(name, runs)

    tiers = [tier("T0", 30, 1.0), tier("T1", 30, 3.0), tier("none", 0, 1.0), tier("free", 40, 0.0)]
    result = cross_tier(tiers)
    assert result.cost_ratios == {"T1": pytest.approx(3.0), "none": None, "free": 0.0}
    interval = present(result.cost_ratio_intervals["T1"])
    old, new = (
        [abs(math.log(end / present(one.cost_of_pass))) for end in ends(one.cost_of_pass_interval)]
        for one in tiers[:2]
    )
    assert math.log(3 / interval.low) == pytest.approx(math.hypot(new[0], old[1]))
    assert math.log(interval.high / 3) == pytest.approx(math.hypot(new[1], old[0]))
    assert (interval.method, interval.confidence_level) == ("ratio of means", 0.95)
    assert set(result.cost_ratio_intervals.values()) == {interval, None}
    back = ends(cross_tier(tiers, baseline="T1").cost_ratio_intervals["T0"])
    assert back == pytest.approx((1 / interval.high, 1 / interval.low))
    for baseline in ("none", "free"):
        assert set(cross_tier(tiers, baseline=baseline).cost_ratios.values()) == {None}
    assert f"3 {interval}" in str(result)


def test_tiers_without_a_score_have_no_uplift_to_bound() -> None:
    """Over a baseline of 0 there is none; over one that may be 0 it has no upper end."""
    result = cross_tier([_tier("T0", 0.0), _tier("T1", 0.5)])
    assert (result.mean_uplifts["T1"], result.uplift_intervals["T1"]) == (None, None)
    assert dict(result.uplifts) == {"T1": None}
    head, *_, row, _ = str(result).splitlines()
    assert head == "2 tiers compared with T0"
    assert " ".join(row.split()) == "T1 F 0.5 [0, 1] 1 [0, 1] 0.5 [0, inf] none 1 [0, inf]"
    assert result.to_text(all=True).splitlines()[-1].split() == ["T1", "0.5", "none"]
    result = cross_tier([_tier("T0", 0.5), _tier("T1", 0.5)])
    assert ends(result.uplift_intervals["T1"]) == (-1.0, math.inf)


# Tiers side by side.


def _by_task(tier_id: str, scores: dict[str, list[float]]) -> TierStatistics:
    runs = [
        _run(f"{task}/{i}", task_id=task, passed=True, impl_rate=score, cost_usd=1)
        for task, own in scores.items()
        for i, score in enumerate(own)
    ]
    return tier_statistics(tier_id, runs, pass_weight=0, impl_weight=1)


def test_means_are_compared_over_common_tasks_that_weigh_the_same() -> None:
    """A tier better on every task reads better, however its attempts and tasks are spread."""
    easy = {f"easy {i}": [0.8] for i in range(12)}
    hard = {f"hard {i}": [0.2] * 9 for i in range(12)}
    base = _by_task("T0", {**{task: own * 9 for task, own in easy.items()}, **hard})
    often = _by_task("T1", {**{t: [0.9] for t in easy}, **{t: [0.3] * 99 for t in hard}})
    half = _by_task("T2", {task: [0.7] for task in easy})
    other = _by_task("T3", {"new": [1.0, 0.5]})
    result = cross_tier([base, often, half, other])
    assert dict(result.n_common_tasks) == {"T1": 24, "T2": 12, "T3": 0}
    assert result.uplifts["T1"] == pytest.approx(0.3 / 0.5 - 1)  # as the source has it
    assert result.mean_uplifts["T1"] == pytest.approx(0.6 / 0.5 - 1)
    assert result.mean_uplifts["T2"] == pytest.approx(0.7 / 0.8 - 1)
    assert result.mean_uplifts["T3"] == pytest.approx(0.75 / 0.5 - 1)
    low, high = ends(result.uplift_intervals["T1"])
    assert low <= 0.2 <= high
    many = cross_tier([attrs.evolve(base, tier_id=f"T{i}") for i in range(9)])
    assert repr(many).startswith("CrossTier(baseline='T0', uplifts={'T1': 0, ...}, mean_up")
    assert "n_runs=216, pass_rate_interval=<[0.86, 1]>" in repr(base)
    over, narrow = "uplifts and cost ratios over", "the same tasks in all tiers would narrow"
    shared, apart = str(result).splitlines()[-2:]
    assert shared == f"{over} tasks shared with T0, by task_id: T1 24, T2 12"
    assert apart == f"no task shared with T0: T3: {over} all runs ({narrow} their intervals)"
    alike = cross_tier([base, attrs.evolve(base, tier_id="T1")])
    assert (alike.mean_uplifts["T1"], "T0, by task_id: T1 24" in str(alike)) == (0.0, True)


def test_costs_within_bounds_allow_for_the_dearest_run() -> None:
    """Oracle: the public interval of the column; what lies outside is refused by its run."""
    runs = _attempts(6, 4)
    tier = tier_statistics("T", runs, bounds=(0, 5), confidence_level=0.8)
    columns: dict[str, Any] = {"bounds": (0, 5), "confidence_level": 0.8}
    columns["clusters"] = [run.task_id for run in runs]
    costs = [run.cost_usd or 0.0 for run in runs]
    passed = [run.passed for run in runs]
    whole = cost_of_pass_from_columns(cost_usd=costs, passed=passed, **columns).interval
    for found, expected in (
        (tier.cost_usd_interval, mean_interval(costs, **columns)),
        (tier.cost_of_pass_interval, whole),
    ):
        assert ends(found) == pytest.approx(ends(expected))
    with pytest.raises(InputError, match=r"^cost_usd of run '0/0' must be a number in \[0, 0.01"):
        tier_statistics("T", runs, bounds=(0, 0.01))


@given(RATES, st.floats(1e-3, 1))
def test_uplift_gives_the_score_back(score: float, baseline: float) -> None:
    """Identity: ``baseline * (1 + uplift)`` is the score."""
    uplift = present(cross_tier([_tier("T0", baseline), _tier("T1", score)]).uplifts["T1"])
    assert math.isclose(baseline * (1 + uplift), score, rel_tol=1e-15, abs_tol=1e-15)
    assert (uplift > 0) == (score > baseline)


@given(st.lists(st.tuples(RATES, AMOUNTS, st.booleans()), min_size=1, max_size=6))
def test_cross_tier_against_plain_formulas(rows: list[tuple[float, float, bool]]) -> None:
    """Oracle: variances as mean square differences in rationals, extremes by sorting."""
    tiers = [_tier(f"T{i}", s, cost=c, passed=p) for i, (s, c, p) in enumerate(rows)]
    result = cross_tier(tiers)
    assert list(result.uplifts) == [tier.tier_id for tier in tiers[1:]]
    for name in ("composite_score", "pass_rate", "impl_rate", "cost_usd"):
        medians = [Fraction(getattr(tier, name).median) for tier in tiers]
        pairs = sum((a - b) ** 2 for a in medians for b in medians)
        field = {"composite_score": "composite_variance", "cost_usd": "cost_variance"}
        variance = getattr(result, field.get(name, f"{name}_variance"))
        assert variance == float(pairs / (2 * len(medians) ** 2))
    costs = sorted(cost for _, cost, _ in rows)
    assert result.cost_delta == costs[-1] - costs[0]
    passing = [(cost, i) for i, (_, cost, passed) in enumerate(rows) if passed]
    cheapest = min(passing, default=None)
    if cheapest is None:
        assert (result.frontier_cost_of_pass, result.frontier_tier) == (math.inf, None)
    else:
        expected = (cheapest[0], f"T{cheapest[1]}")
        assert (result.frontier_cost_of_pass, result.frontier_tier) == expected


def test_any_tier_can_be_the_baseline_and_order_is_kept() -> None:
    """Uplifts follow the order of the tiers, the baseline left out wherever it stands."""
    tiers = [_tier("a", 0.25), _tier("b", 0.5), _tier("c", 0.75)]
    result = cross_tier(iter(tiers), baseline="b")
    assert list(result.uplifts.items()) == [("a", -0.5), ("c", 0.5)]


# Errors.


@refusals("""
run_id="" -> InputError: run_id must be a non-empty string or an integer, got ''
run_id=7.5 -> TypeError: run_id must be a non-empty string or an integer, got 7.5
task_id=""
    -> InputError: task_id of run 'T1/01/1' must be a non-empty string or an integer, got ''
task_id=3.5
    -> TypeError: task_id of run 'T1/01/1' must be a non-empty string or an integer, got 3.5
passed=2 -> TypeError: passed of run 'T1/01/1' must be True or False, got 2
passed=None -> TypeError: passed of run 'T1/01/1' must be {UNKNOWN}, got None
impl_rate=1.028
    -> InputError: impl_rate of run 'T1/01/1' must be a number in [0, 1] (above 1 by bonus or
    rounding: min(impl_rate, 1)), got 1.028
impl_rate=math.nan
    -> InputError: impl_rate of run 'T1/01/1' must be a number in [0, 1] (not judged: pass
    passed instead, or leave the run out), got nan
impl_rate=None
    -> TypeError: impl_rate of run 'T1/01/1' must be a number in [0, 1] (not judged: pass
    passed instead, or leave the run out), got None
cost_usd=-0.01 -> InputError: cost_usd of run 'T1/01/1' must be a finite number >= 0, got -0.01
duration_seconds=math.inf
    -> InputError: duration_seconds of run 'T1/01/1' must be a finite number >= 0, got inf
""")
def test_run_errors(wrong: Refusal) -> None:
    """Among hundreds of rows the message must say which one is bad."""
    wrong.by(_run)


@refusals("""
pass_weight=-1 -> InputError: pass_weight must be a finite number >= 0, got -1
impl_weight=math.inf -> InputError: impl_weight must be a finite number >= 0, got inf
impl_weight="1" -> TypeError: impl_weight must be a finite number >= 0, got '1'
pass_weight=0, impl_weight=0
    -> InputError: pass_weight or impl_weight must be a number > 0, got (0.0, 0.0)
""")
def test_composite_errors(wrong: Refusal) -> None:
    """The weights are checked alike wherever they can be passed."""
    wrong.by(score_run, _run())
    wrong.by(tier_statistics, "T1", [_run()])


@refusals("""
cost_usd=-1 -> InputError: cost_usd must be a finite number >= 0, got -1
cost_usd="1" -> TypeError: cost_usd must be a finite number >= 0, got '1'
pass_rate=80 -> InputError: pass_rate must be a number in [0, 1] (a share: 0.8 for 80 %), got 80
""")
def test_cost_of_pass_errors(wrong: Refusal) -> None:
    """A percent for a rate is the likely slip."""
    wrong.by(cost_of_pass, cost_usd=1.0, pass_rate=0.5)


@refusals("""
tier_id="" -> InputError: tier_id must be a non-empty string or an integer, got ''
tier_id=1.5 -> TypeError: tier_id must be a non-empty string or an integer, got 1.5
runs=[_run(), 0.5]
    -> TypeError: runs[1] must be a Run (of a table: runs_from_columns(**table)), got 0.5
runs=[_run("a"), _run("b"), _run("a")]
    -> InputError: run_id of runs[2] must be unlike that of runs[0] (of a table: its index),
    got 'a'
runs=[_run("a", task_id="t"), _run("b")]
    -> InputError: task_id of runs[1] must be a task, as other runs name theirs, got None
runs=[_run(passed=False)], confidence_level=95
    -> InputError: confidence_level must be a number in (0, 1) (a share: 0.95 for 95 %), got 95
""")
def test_tier_errors(wrong: Refusal) -> None:
    """A run counted twice is named by id and both places; the level is checked in any case."""
    wrong.by(tier_statistics, tier_id="T1", runs=[_run()])


RUN = _run()
RUN_SHOWN = shown(RUN)


@refusals("""
tiers=[_tier("T0", 0.5), _tier("T1", 0.5), _tier("T1", 0.6)]
    -> InputError: tier_id of tiers[2] must be unlike that of tiers[1], got 'T1'
tiers=[_tier("T1", 0.5), _tier("T2", 0.5)]
    -> InputError: baseline, 'T0' unless given, must be one of 'T1', 'T2', got 'T0'
baseline=np.array(["T0"])
    -> TypeError: baseline must be a non-empty string or an integer, got array(['T0'],
    dtype='<U2')
tiers=[_tier("T0", 0.5), tier_statistics("T1", [_run()], confidence_level=0.9)]
    -> InputError: confidence_level of tiers[1] must be that of tiers[0], 0.95, got 0.9
tiers=[RUN]
    -> TypeError: tiers[0] must be a TierStatistics (from tier_statistics; of a mapping its
    values()), got {RUN_SHOWN}
tiers={"T0": _tier("T0", 0.5)} -> TypeError: tiers must be a non-empty sequence of TierStat...
""")
def test_cross_tier_errors(wrong: Refusal) -> None:
    """A baseline that is not there is answered with the tiers that are."""
    wrong.by(cross_tier, tiers=[_tier("T0", 0.5)])


@refusals("""
score_run("a")
    -> TypeError: run must be a Run (of a table: runs_from_columns(**table)), got 'a'
tier_statistics("T1", []) -> InputError: runs must be a non-empty sequence of Run...
tier_statistics("T1", _run()) -> TypeError: runs must be a non-empty sequence of Run...
cross_tier([]) -> InputError: tiers must be a non-empty sequence of Tier...
cost_of_pass(cost_usd=1.0, pass_rate=5e-324)
    -> InputError: cost_of_pass must be a finite number >= 0, got ...
cross_tier([_tier("T0", 0.5, cost=0.0), _tier("T1", 0.5, cost=1e200)])
    -> InputError: cost_variance must be a finite number >= 0, got ...
""")
def test_what_has_no_statistics(wrong: Refusal) -> None:
    """A row that was not made a `Run`, no runs, one record that is no sequence, and what no float
    holds: infinity means that nothing passes, so an overflow must not look like it.
    """
    wrong.by_itself()


@refusals("""
tier_id="" -> InputError: tier_id must be a non-empty string, got ''
n_runs=0 -> InputError: n_runs must be an integer >= 1, got 0
cost_of_pass=math.nan -> InputError: cost_of_pass must be a finite number >= 0, got nan
""")
def test_tier_built_by_hand_errors(wrong: Refusal) -> None:
    """A NaN among the costs of a pass would make the frontier depend on the order of tiers."""
    wrong.by(attrs.evolve, _tier("T0", 0.5))


def test_a_printed_tier_takes_one_line() -> None:
    """What a pass costs is there with its interval, if there was a pass."""
    runs = [_run(f"{i}", passed=i < 8, impl_rate=1, cost_usd=0.1) for i in range(10)]
    assert str(tier_statistics("T\n1", runs)).startswith(
        r"T\n1: pass rate 0.80 [0.44, 0.97] (95 %, 10 runs, each taken as independent), 0.1"
    )
    first, grade = str(tier_statistics("T0", runs[8:])).splitlines()
    assert first.endswith(", no successful run")
    assert grade == "grade F by the median score 0.5"


TABLE: dict[str, Any] = {"run_id": ["a", "b"], "passed": [True, False], "impl_rate": [1, 0.5]}
TABLE |= {"cost_usd": [0.5, 0.25], "duration_seconds": [9, 8]}


def test_runs_of_a_table() -> None:
    """Row for row what `Run` takes, from lists, frames, and one value for a column."""
    rows = (dict(zip(TABLE, row, strict=True)) for row in zip(*TABLE.values(), strict=True))
    wanted = tuple(Run(**row) for row in rows)
    assert runs_from_columns(**TABLE) == wanted
    assert runs_from_columns(**pd.DataFrame(TABLE)) == wanted
    alike: dict[str, Any] = {"passed": True, "impl_rate": 1, "cost_usd": 0.5}
    constant = runs_from_columns(
        run_id=np.array([1, 2]), task_id=[7, "seven"], duration_seconds=np.float64(9), **alike
    )
    tasks = {"1": "7", "2": "seven"}
    assert constant == tuple(
        Run(run_id=i, task_id=task, duration_seconds=9, **alike) for i, task in tasks.items()
    )
    pickle.loads(pickle.dumps(constant))


def test_without_a_judge_passing_is_the_score() -> None:
    """Booleans count 0 and 1 in a column and in a run, whatever they came in."""
    wanted = runs_from_columns(**TABLE | {"impl_rate": [1, 0]})
    for passed in ([True, False], np.array([True, False]), pd.Series([True, False])):
        assert runs_from_columns(**TABLE | {"impl_rate": passed}) == wanted
    run = _run(impl_rate=np.True_)
    assert run == _run(impl_rate=1)
    assert type(run.impl_rate) is float


@refusals("""
run_id=[] -> InputError: run_id must be a non-empty sequence of strings or integers, got ()...
run_id=[1, "1"] -> InputError: run_id[1] must be unlike all others, '1' like 1, got '1'...
passed=[True, None] -> InputError: passed[1] must be {UNKNOWN}, got None...
impl_rate=[1, 9]
    -> InputError: impl_rate[1] must be a number in [0, 1] (a share: 0.09 for 9 %), got 9...
cost_usd=[None, -1.0] -> InputError: cost_usd[1] must be a finite number >= 0, got -1.0...
cost_usd=[1] -> InputError: cost_usd and run_id must be equally long, got 1 and 2...
task_id=["a", None]
    -> InputError: task_id[1] must be a non-empty string or an integer, got None...
duration_seconds=pd.to_timedelta([1, 2]) -> TypeError: duration_seconds must be a...
""")
def test_rows_that_are_no_runs(wrong: Refusal) -> None:
    """The row is named."""
    wrong.by(runs_from_columns, **TABLE)


def test_the_pages_of_tiers_show_means_with_intervals() -> None:
    """A row for each tier, names escaped, and a median that hides a split is said."""
    tiers = [
        tier_statistics(name, [_run(f"{i}", passed=i < n, impl_rate=1.0) for i in range(60)])
        for name, n in (("T<0>", 60), ("T1", 36))
    ]
    page = cross_tier(tiers, baseline="T<0>")._repr_html_()
    assert ">times baseline<" in page.split("<details>")[0]
    assert page.count("<svg") == 2
    for words in (
        *(
            "runs each taken as independent",
            "2 tiers, compared with T&lt;0&gt;",
            "A (median), C (mean)",
        ),
        "baseline</td>",
    ):
        assert f">{words}" in page
    assert "grade A (median), C (mean)" in tiers[1]._repr_html_()
    assert "hides" not in tiers[0]._repr_html_().split("<details>")[0]


def test_quantiles_of_cost_and_duration() -> None:
    """As `describe` gives them; which is the caller's choice."""
    runs = [_run(f"{i}", cost_usd=i / 4, duration_seconds=float(i)) for i in range(5)]
    tail: Any = tier_statistics("T0", runs, quantiles=[0.75])
    assert tail.duration_seconds.quantiles == {0.75: 3.0}
    assert tail.composite_score.quantiles == {}


def test_a_printed_tier_says_what_counts_as_one_observation() -> None:
    """Runs of one task resemble each other, and the interval is of tasks then."""
    runs = [_run(f"{i}", passed=i % 3 > 0, task_id=f"t{i % 4}") for i in range(12)]
    tier = tier_statistics("T", runs)
    assert ", 12 runs of 4 tasks, each task weighing the same), " in str(tier)
    assert "independent" not in str(cross_tier([tier], baseline="T"))
    other = tier_statistics("U", [attrs.evolve(run, task_id=None) for run in runs])
    both = str(cross_tier([tier, other], baseline="T")).splitlines()
    assert both[-1] == "runs of U each taken as independent"


def test_tasks_weigh_the_same_however_often_they_were_tried() -> None:
    """By hand: retries of a failed task move the means of runs, and not those of tasks."""
    runs = [_run("0", passed=True, cost_usd=1, task_id="a")] + [
        _run(f"{i}", passed=i == 3, cost_usd=2, task_id="b") for i in range(1, 5)
    ]
    tier = tier_statistics("T", runs)
    assert tier.pass_rate.mean == 2 / 5  # as the source has it
    assert tier.means["pass_rate"] == (1 + 1 / 4) / 2
    assert tier.means["cost_usd"] == 1.5
    assert tier.cost_of_pass == pytest.approx(1.5 / 0.625)
    assert dict(tier.task_means or {}) == {"a": (1.0, 1.0), "b": (2.0, 0.25)}
    assert tier.pass_rate_interval.method == "gaffke of group means"
    assert "pass rate 0.62 [" in str(tier)
    pooled = tier_statistics("T", runs, weights="attempts")
    assert (pooled.means["pass_rate"], pooled.cost_of_pass) == (2 / 5, 9 / 2)
    assert pooled.pass_rate_interval.method == "clustered gaffke"
    assert " of 2 tasks, each run weighing the same" in str(pooled)
    alone = tier_statistics("T", [attrs.evolve(run, task_id=None) for run in runs])
    assert (alone.weights, alone.task_means) == ("attempts", None)
    with pytest.raises(InputError, match=r"^weights must be one of 'groups', 'attempts', got"):
        tier_statistics("T", runs, weights="tasks")  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_a_cost_that_was_not_measured_is_none(missing: Any) -> None:
    """Costs are over the measured runs, as if there were no others, and the count is shown."""
    columns: Any = {"run_id": [1, 2, 3, 4], "passed": [True, True, False, True], "impl_rate": 0.5}
    columns |= {"duration_seconds": pd.Series([1.0, None, 3.0, 4.0]), "task_id": [*"aabc"]}
    runs = runs_from_columns(**columns, cost_usd=[0.5, missing, 0.25, missing])
    some, fewer = tier_statistics("T0", runs), tier_statistics("T0", [runs[0], runs[2]])
    for name in ("cost_usd", "cost_usd_interval", "cost_of_pass", "cost_of_pass_interval"):
        assert getattr(some, name) == getattr(fewer, name) != None  # noqa: E711
    columns_of_costs = cost_of_pass_from_columns(
        cost_usd=[0.5, 0.25], passed=[True, False], clusters=["a", "b"]
    )
    assert (some.cost_of_pass, some.cost_of_pass_interval) == (0.75, columns_of_costs.interval)
    assert (some.task_means, some.means["cost_usd"]) == (fewer.task_means, 0.375)
    assert (some.n_costs, some.n_durations) == (2, 3)
    assert some.duration_seconds == describe([1, 3, 4], quantiles=(0.5, 0.95))
    assert str(some).splitlines()[0].endswith(" per successful run (2 of 4 costs measured)")
    for text in (some.to_markdown(), some.to_latex()):
        assert "2 of 4" in text
    assert TierStatistics.from_json(some.to_json()) == some
    none = tier_statistics("T1", runs_from_columns(**columns))
    assert (none.n_costs, none.cost_usd, none.cost_of_pass) == (0, None, None)
    assert ", no cost measured" in str(none)
    lost = tier_statistics("T", [attrs.evolve(runs[0], cost_usd=None), runs[2]])
    assert ", no successful run (1 of 2 costs measured)" in str(lost)
    known = tier_statistics("T2", runs_from_columns(**columns, cost_usd=0.5), bounds=(0, 1))
    tiers = cross_tier([some, none, known])
    assert (tiers.cost_delta, tiers.cost_variance) == (None, None)
    assert tiers.cost_ratios == {"T1": None, "T2": pytest.approx(4 / 3)}
    assert (tiers.frontier_tier, tiers.frontier_cost_of_pass) == ("T0", 0.75)
    ax = plot_cost_quality([some, none])
    assert ax.get_title() == "Cost and quality of 1 tier of 2 (no costs: T1)"
    assert [text.get_text() for text in ax.texts] == ["T0 (2 of 4 costs)"]
    nobody = cross_tier([none], baseline="T1")
    assert (nobody.frontier_tier, nobody.frontier_cost_of_pass) == (None, None)
    for passed, cost in ((True, None), (False, math.inf)):
        alone = score_run(Run(run_id=1, passed=passed, impl_rate=0.5, cost_usd=missing))
        assert (alone.cost_usd, alone.cost_of_pass) == (None, cost)


PRICE = ModelPrice(
    input_usd_per_million=1,
    output_usd_per_million=5,
    cache_read_usd_per_million=0.1,
    cache_write_usd_per_million=1.25,
)
TOKENS: dict[str, Any] = {
    "run_id": [1, 2, 3],
    "passed": True,
    "impl_rate": [0.5, 1.0, 0.25],
    "input_tokens": [17, 82, 21],
    "output_tokens": [598, 5459, 552],
    "cache_read_tokens": [121462, 1336331, 149368],
    "cache_write_tokens": [14017, 44739, 12467],
}


@pytest.mark.parametrize("price", [PRICE, [PRICE] * 3, pd.Series([PRICE] * 3)])
def test_runs_cost_what_their_tokens_do(price: Any) -> None:
    """As ProjectScylla logged them; what was not counted has no cost."""
    runs = runs_from_columns(**TOKENS, price=price)
    assert [run.cost_usd for run in runs] == [0.03267445, 0.21693385, 0.03330155]
    assert (
        attrs.evolve(runs[0], cost_usd=None)
        == runs_from_columns(run_id=[1], passed=True, impl_rate=0.5)[0]
    )
    some = {**TOKENS, "cache_read_tokens": pd.Series([121462, None, 149368])}
    costs = [run.cost_usd for run in runs_from_columns(**some, price=price)]
    assert costs == [0.03267445, None, 0.03330155]


@pytest.mark.parametrize("convert", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_a_table_of_runs_by_tier(convert: Any) -> None:
    """Whatever library holds the column; a name may come again in another tier."""
    tiers = convert(["T1", "T0", "T1"])
    runs = runs_from_columns(**{**TOKENS, "run_id": [1, 1, 2]}, price=PRICE, tier=tiers)
    assert {tier: [run.run_id for run in own] for tier, own in runs.items()} == {
        "T1": ["1", "2"],
        "T0": ["1"],
    }
    assert [tier_statistics(tier, own).n_runs for tier, own in runs.items()] == [2, 1]


@refusals("""
price=None -> InputError: price must be a ModelPrice, or one for each run, where tokens are given,
    got None
price=3.0 -> TypeError: price must be a non-empty sequence of ModelPrice (see PRICES), got 3.0
price=[PRICE] -> InputError: price and run_id must be equally long, got 1 and 3
price=[PRICE, PRICE, 1] -> TypeError: price[2] must be a ModelPrice (see PRICES), got 1
input_tokens=None -> InputError: input_tokens must be a column, as price is given, got None
output_tokens=[1, 2] -> InputError: output_tokens and run_id must be equally long, got 2 and 3
output_tokens=[1, -2, 3] -> InputError: output_tokens[1] must be an integer >= 0, got -2
cost_usd=0.5 -> InputError: cost_usd must be None where tokens are given, got 0.5
price=PRICES["gpt-4o"] -> InputError: cache_read_usd_per_million of price must be given...
tier=["T0", "T1"] -> InputError: tier and run_id must be equally long, got 2 and 3
tier=["T0", None, "T1"] -> InputError: tier[1] must be a non-empty string or an integer, got None
""")
def test_wrong_tables_of_tokens(wrong: Refusal) -> None:
    """Tokens without a price are not free, and costs are not given twice."""
    wrong.by(runs_from_columns, **{**TOKENS, "price": PRICE})
