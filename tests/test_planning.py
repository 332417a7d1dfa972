"""required_tasks and minimum_detectable_effect: sourced values, a simulation, laws, errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats

from scorekit import (
    code_report_from_columns,
    minimum_detectable_effect,
    proportion_interval,
    required_tasks,
    variance_components,
)
from scorekit._stats.power import power_of_flags, power_of_normal

REFERENCE = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())


def _arguments(values: dict[str, Any]) -> dict[str, Any]:
    names = {
        "task_variance": values["omega2"],
        "sampling_variance": (values["sigma2_A"], values["sigma2_B"]),
        "attempts": (values["K_A"], values["K_B"]),
    }
    more = {"confidence_level": 1 - values["alpha"]} if "alpha" in values else {}
    return names | more | ({"power": values["power"]} if "power" in values else {})


@pytest.mark.parametrize("case", REFERENCE["power_miller"])
def test_reference_tasks(case: dict[str, Any]) -> None:
    """The worked example of the source is of the normal distribution: t takes two tasks more."""
    result = required_tasks(effect=case["input"]["delta"], **_arguments(case["input"])).n_tasks
    assert 0 <= result - case["output"]["n"] <= 3
    if "n_raw" in case["output"] and case["output"]["n_raw"] > 30:
        assert result == pytest.approx(case["output"]["n_raw"] + 1.96**2 / 2, abs=1.01)


@pytest.mark.parametrize("case", REFERENCE["mde_miller"])
def test_reference_effects(case: dict[str, Any]) -> None:
    """The same formula solved for the effect comes near, from below."""
    values = case["input"]
    result = minimum_detectable_effect(n_tasks=values["n"], **_arguments(values))
    assert 1 <= result / case["output"] < 1 + 1.3 / values["n"]
    attempts = values["K_A"], values["K_B"]
    default = minimum_detectable_effect(n_tasks=values["n"], attempts=attempts)
    assert default == pytest.approx(result, rel=1e-12)


def test_reference_power() -> None:
    """At so many tasks statsmodels finds the same power, and the reference that of z."""
    (case,) = REFERENCE["power_check"]
    values, z_power = case["input"], case["output"]["z_power"]
    by_t = case["output"]["t_power_statsmodels"]
    options: dict[str, Any] = {"task_variance": values["omega2"], "sampling_variance": 0}
    for power, slack in ((by_t, 1e-5), (z_power, 1e-2)):
        effect = minimum_detectable_effect(n_tasks=values["n"], power=power, **options)
        assert effect == pytest.approx(values["delta"], rel=slack)
    plan = required_tasks(effect=values["delta"], power=by_t - 1e-5, **options)
    assert plan.n_tasks == values["n"]
    assert plan.power == pytest.approx(by_t, rel=1e-5)


@pytest.mark.parametrize("case", REFERENCE["power_mcnemar_connor"])
def test_reference_tasks_of_mcnemars_test(case: dict[str, Any]) -> None:
    """Connor's number for given shares of falls and rises, made before this code, comes near."""
    values = case["input"]
    result = required_tasks(
        effect=values["p10"] - values["p01"],
        discordant=values["p10"] + values["p01"],
        confidence_level=1 - values["alpha"],
        power=values["power"],
    )
    assert result.n_tasks == pytest.approx(case["output"], rel=0.04)


@given(
    st.integers(6, 400), st.floats(0.01, 1), st.floats(0.01, 1), st.sampled_from([0.8, 0.9, 0.95])
)
def test_power_of_normal_changes_against_scipy(
    n: int, effect: float, variance: float, level: float
) -> None:
    """Oracle: the noncentral t distribution of scipy.stats."""
    quantile = stats.t.isf((1 - level) / 2, n - 1)
    theirs = stats.nct.sf(quantile, n - 1, effect * math.sqrt(n / variance))
    assert power_of_normal(n, effect, variance, level) == pytest.approx(theirs, abs=1e-7)


@given(st.integers(6, 25), st.floats(0.02, 1), st.floats(0, 1))
@pytest.mark.slow
def test_power_of_flags_by_enumeration(n: int, discordant: float, share: float) -> None:
    """Oracle: scipy's paired t test of every number of falls and rises."""
    effect, power = share * discordant, 0.0
    for falls in range(n + 1):
        for rises in range(min(falls, n - falls + 1)):
            changes = np.repeat([1.0, -1.0, 0.0], [falls, rises, n - falls - rises])
            if falls == n or stats.ttest_1samp(changes, 0).pvalue <= 0.05:
                parts = ((discordant + effect) / 2, (discordant - effect) / 2, 1 - discordant)
                counts = [falls, rises, n - falls - rises]
                power += stats.multinomial.pmf(counts, n, np.maximum(parts, 0))
    assert power_of_flags(n, effect, discordant, 0.95) == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize(("effect", "options"), [
    (1.0, {}), (0.6, {}), (0.5, {"attempts": 10}),
    (0.3, {}), (0.3, {"discordant": 0.3}), (0.6, {"discordant": 1.0}),
])  # fmt: skip
def test_small_plans_have_their_power(effect: float, options: dict[str, Any]) -> None:
    """Simulated: a few tasks take more than the normal distribution says, and at least 6."""
    plan = required_tasks(effect=effect, **options)
    rng, n = np.random.default_rng(4), plan.n_tasks
    assert n >= 6
    if "discordant" in options:
        share = options["discordant"]
        chances = [(share + effect) / 2, (share - effect) / 2, 1 - share]
        changes = rng.choice([1.0, -1.0, 0.0], (20_000, n), p=chances)
    else:
        spread = math.sqrt(1 / 9 + 2 / 6 / plan.attempts[0])
        changes = rng.normal(effect, spread, (20_000, n))
    error = changes.std(axis=1, ddof=1) / math.sqrt(n)
    found = changes.mean(axis=1) >= stats.t.isf(0.025, n - 1) * error * (1 - 1e-9)
    assert found.mean() == pytest.approx(plan.power, abs=0.012)
    assert plan.power >= 0.8


# Pilots.


def test_a_pilot_of_single_flags_gives_the_share_that_changed() -> None:
    """As the two columns, counted by hand, and with Wilson's ends."""
    before = {i: i % 5 > 0 for i in range(60)}
    after = before | {0: True, 1: False, 2: False, 3: False, 4: False, 6: False, 99: True}
    plan = required_tasks(effect=0.03, pilot=(before, after))
    assert plan.n_tasks == required_tasks(effect=0.03, discordant=0.1).n_tasks
    low, high = (
        required_tasks(effect=0.03, discordant=end).n_tasks
        for end in ends(proportion_interval(6, 60))
    )
    assert (plan.n_tasks_bounds, plan.n_tasks_pilot, plan.attempts) == ((low, high), 60, (1, 1))
    assert str(plan).endswith(f"a pilot of 60 tasks leaves open {low} to {high}")
    still = required_tasks(effect=0.1, pilot=(before, before))
    assert still.n_tasks == required_tasks(effect=0.1, discordant=0.1).n_tasks
    old, new = (code_report_from_columns(model="m", passed=side) for side in (before, after))
    assert required_tasks(effect=0.03, pilot=(old, new)) == plan


def test_a_pilot_of_several_attempts_gives_the_variances() -> None:
    """As `variance_components` and the variance of the changes do by hand."""
    rng = np.random.default_rng(1)
    sides = [{f"t{i}": rng.integers(0, 2, n).tolist() for i in range(20)} for n in (5, 3)]
    sampling = tuple(variance_components(side).between_attempts for side in sides)
    means = [np.array([np.mean(scores) for scores in side.values()]) for side in sides]
    changes = float(np.var(means[1] - means[0], ddof=1))
    between = max(0.0, changes - sampling[0] / 5 - sampling[1] / 3)
    for attempts in (None, 10):
        plan = required_tasks(effect=0.1, pilot=(sides[0], sides[1]), attempts=attempts)
        by_hand = required_tasks(
            effect=0.1,
            task_variance=between,
            sampling_variance=(sampling[0], sampling[1]),
            attempts=attempts or (5, 3),
        )
        assert (plan.n_tasks, plan.attempts) == (by_hand.n_tasks, by_hand.attempts)
        low, high = present(plan.n_tasks_bounds)
        assert low < plan.n_tasks < (high or 0)


def test_pilots_leave_open_what_is_true() -> None:
    """Simulated: the number that the true variance takes lies within the ends."""
    rng, held = np.random.default_rng(2), 0
    sampling = (0.2275, (0.21 * 0.79 + 0.49 * 0.51) / 2)
    truth = required_tasks(effect=0.1, task_variance=0.02, sampling_variance=sampling).n_tasks
    for _ in range(300):
        rates = np.where(rng.random(25) < 0.5, 0.35, 0.65)
        moved = rates + np.where(rng.random(25) < 0.5, math.sqrt(0.02), -math.sqrt(0.02))
        sides = [
            {i: (rng.random(6) < p).astype(int).tolist() for i, p in enumerate(side)}
            for side in (rates, moved)
        ]
        plan = required_tasks(effect=0.1, pilot=(sides[0], sides[1]), attempts=1)
        low, high = plan.n_tasks_bounds or (0, 0)
        held += low <= truth and (high is None or truth <= high)
    assert held / 300 > 0.9


def test_a_pilot_of_two_tasks_leaves_everything_open() -> None:
    """Nothing is known of a variance without one of two tasks."""
    pilot = {"a": [1, 0], "b": [1, 1]}, {"a": [0, 0], "b": [1, 0]}
    plan = required_tasks(effect=0.3, pilot=pilot)
    assert plan.n_tasks_bounds == (6, None)
    assert "leaves open 6 or more" in str(plan)


@refusals("""
pilot=({"a": 1}, {"b": 1})
    -> InputError: pilot must be two runs with at least 2 tasks in common, got 0...
pilot=({"a": 1}, {"a": 1})
    -> InputError: pilot must be two runs with at least 2 tasks in common, got 1...
pilot=({"a": 1, "b": 0},) -> InputError: pilot must be a pair (baseline, current)...
pilot=({"a": 1, "b": 0}, 3) -> TypeError: pilot[1] must be a CodeReport...
discordant=0.2 -> InputError: discordant must be left out where pilot is given...
task_variance=0 -> InputError: task_variance must be left out where pilot is given...
attempts=3 -> InputError: attempts must be 1 with a pilot of one attempt...
pilot=({"a": [0.5] * 2, "b": [0.5] * 2},) * 2
    -> InputError: task_variance must be positive where sampling_variance is 0...
""")
def test_pilots_that_are_none(wrong: Refusal) -> None:
    """Each is refused by name."""
    pilot = ({"a": 1, "b": 0, "c": 1}, {"a": 1, "b": 1, "c": 1})
    wrong.by(required_tasks, effect=0.1, pilot=pilot)


def test_a_plan_is_a_record_with_a_sentence() -> None:
    """The same fields whatever was asked."""
    plan = required_tasks(effect=0.05, attempts=(1, 5))
    assert str(plan) == (
        f"{plan.n_tasks} tasks with 1 and 5 attempts each find a change of 0.05 with a power of "
        "0.800 (two-sided test, 95 %)"
    )
    assert type(plan).from_dict(plan.to_dict()) == plan
    growing = required_tasks(effect=0.1, discordant=1 / 3, anytime=True)
    assert type(growing) is type(plan)
    assert growing.n_tasks_fixed == required_tasks(effect=0.1, discordant=1 / 3).n_tasks
    assert f"; with one check at the end {growing.n_tasks_fixed}" in str(growing)


LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99])


VARIANCES = st.sampled_from([{}, {"task_variance": 0.01, "sampling_variance": 0.05}])


OPTIONS = st.fixed_dictionaries(
    {"attempts": st.integers(1, 20), "confidence_level": LEVELS, "power": st.floats(0.5, 0.99)}
)


@given(st.floats(0.01, 1), OPTIONS, VARIANCES)
def test_the_two_are_inverse(
    effect: float, options: dict[str, Any], variances: dict[str, float]
) -> None:
    """So many tasks see the effect, and one fewer does not."""
    options |= variances
    n = required_tasks(effect=effect, **options).n_tasks
    slack = 1 + 1e-7
    assert minimum_detectable_effect(n_tasks=n, **options) <= effect * slack
    if n > 2:
        assert minimum_detectable_effect(n_tasks=n - 1, **options) * slack >= effect


@given(st.integers(8, 10**9), st.floats(0, 1), st.floats(1e-3, 0.25), st.integers(1, 20), LEVELS)
def test_rounding_asks_for_no_further_task(
    n: int, task_variance: float, sampling_variance: float, attempts: int, confidence_level: float
) -> None:
    """A little more than what *n* tasks detect takes no more than *n* tasks."""
    options: dict[str, Any] = {
        "task_variance": task_variance,
        "sampling_variance": sampling_variance,
        "attempts": attempts,
        "confidence_level": confidence_level,
    }
    effect = minimum_detectable_effect(n_tasks=n, **options) * (1 + 1e-8)
    assert minimum_detectable_effect(n_tasks=2 * n, **options) < effect
    if effect <= 1:
        assert n * (1 - 1e-6) - 1 <= required_tasks(effect=effect, **options).n_tasks <= n


@given(st.floats(0.02, 1), st.floats(0, 1), LEVELS, st.floats(0.5, 0.99))
@example(effect=0.03125, more=1.0, confidence_level=0.5, power=0.5)  # odd numbers find it later
def test_flags_find_the_effect_from_that_number_on(
    effect: float, more: float, confidence_level: float, power: float
) -> None:
    """One fewer does not, some more do; more flips ask for more tasks."""
    discordant = effect + more * (1 - effect)
    options: dict[str, Any] = {"confidence_level": confidence_level, "power": power}
    n = required_tasks(effect=effect, discordant=discordant, **options).n_tasks
    for further in range(n, n + 10):
        assert power_of_flags(further, effect, discordant, confidence_level) >= power
        found = minimum_detectable_effect(n_tasks=further, discordant=discordant, **options)
        assert found <= effect * (1 + 1e-7)
    if n > 8:
        assert power_of_flags(n - 1, effect, discordant, confidence_level) < power
    assert n <= required_tasks(effect=effect, discordant=1, **options).n_tasks + 1


def test_too_few_tasks_to_see_even_that_all_changes_are_falls() -> None:
    """Nothing possible is seen, which is said by an infinite effect."""
    for n in (2, 5, 6, 50):
        assert minimum_detectable_effect(n_tasks=n, discordant=0.04) == math.inf
    assert minimum_detectable_effect(n_tasks=500, discordant=0.04) < 0.04
    assert minimum_detectable_effect(n_tasks=5) == math.inf
    assert minimum_detectable_effect(n_tasks=5, confidence_level=0.9) < 1.5


@pytest.mark.sampled
@pytest.mark.parametrize("attempts", [1, 5])
@pytest.mark.parametrize("rate", [0.02, 0.9, 0.98])
def test_planned_power_is_had_where_nearly_all_pass_or_fail(rate: float, attempts: int) -> None:
    """Oracle: runs of that size, simulated and judged by scipy's paired t test.

    The baseline's variance alone would plan for a third of the tasks or so.
    """
    rng, effect = np.random.default_rng(3), 0.05
    variance = rate * (1 - rate)
    options: dict[str, Any] = {"task_variance": 0, "attempts": attempts}
    n = required_tasks(effect=effect, sampling_variance=variance, **options).n_tasks
    moved = rate - effect if rate > 0.5 else rate + effect
    old, new = (rng.binomial(attempts, p, (4000, n)) / attempts for p in (rate, moved))
    seen = stats.ttest_rel(new, old, axis=1).pvalue < 0.05
    assert 0.75 <= seen.mean() <= 0.9
    both = (variance, moved * (1 - moved))
    assert n == required_tasks(effect=effect, sampling_variance=both, **options).n_tasks
    less = required_tasks(effect=effect, sampling_variance=(variance, variance), **options)
    assert n > less.n_tasks


STILL = (
    "task_variance must be positive where sampling_variance is 0: without variance nothing can "
    "be planned, got 0.0"
)


@refusals("""
effect=0 -> InputError: effect must be a number in (0, 1], got 0
effect=math.nan -> InputError: effect must be a number in (0, 1], got nan
effect=1e-300
    -> InputError: effect must be large enough to be seen with 2**53 tasks, got 1e-300
task_variance=0, sampling_variance=0 -> InputError: {STILL}
task_variance=0, sampling_variance=(0, 0) -> InputError: {STILL}
task_variance=-1 -> InputError: task_variance must be a number in [0, 1], got -1
sampling_variance=(0.1, 0.5)
    -> InputError: sampling_variance[1] must be a number in [0, 0.25], got 0.5
attempts=(1, 2, 3)
    -> InputError: attempts must be one number, or one for the baseline and one for the current
    run, got (1, 2, 3)
attempts=0 -> InputError: attempts must be an integer >= 1, got 0
attempts=1.5 -> TypeError: attempts must be an integer >= 1, got 1.5
power=1.0 -> InputError: power must be a number in [0.5, 1), got 1.0
power=0.4 -> InputError: power must be a number in [0.5, 1), got 0.4
discordant=0 -> InputError: discordant must be a number in (0, 1], got 0
discordant=1.5 -> InputError: discordant must be a number in (0, 1], got 1.5
discordant="half" -> TypeError: discordant must be a number in (0, 1], got 'half'
discordant=0.2, task_variance=0.1
    -> InputError: task_variance must be left out where discordant is given, got 0.1
discordant=0.2, sampling_variance=(0.1, 0.2)
    -> InputError: sampling_variance must be left out where discordant is given, got (0.1, 0.2)
discordant=0.2, attempts=(1, 5)
    -> InputError: attempts[1] must be 1 where discordant is given, got 5
effect=0.3, discordant=0.2 -> InputError: discordant must be a number >= effect = 0.3, got 0.2
effect=1e-9, discordant=0.2
    -> InputError: effect must be large enough to be seen with 2**53 tasks, got 1e-09
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(required_tasks, effect=0.05)
    if "effect" not in wrong.arguments:
        wrong.by(minimum_detectable_effect, n_tasks=100)
