"""required_tasks and minimum_detectable_effect: sourced values, a simulation, laws, errors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorekit import InputError, minimum_detectable_effect, required_tasks

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
    """The worked example of the source, made before this code."""
    result = required_tasks(effect=case["input"]["delta"], **_arguments(case["input"]))
    assert result == case["output"]["n"]
    effect = minimum_detectable_effect(n_tasks=result, **_arguments(case["input"]))
    if "n_raw" in case["output"]:  # the number before it is rounded up goes as 1 / effect^2
        raw = result * (effect / case["input"]["delta"]) ** 2
        assert raw == pytest.approx(case["output"]["n_raw"], rel=1e-9)


@pytest.mark.parametrize("case", REFERENCE["mde_miller"])
def test_reference_effects(case: dict[str, Any]) -> None:
    """The same formula solved for the effect, and its defaults."""
    values = case["input"]
    result = minimum_detectable_effect(n_tasks=values["n"], **_arguments(values))
    assert result == pytest.approx(case["output"], rel=1e-9)
    default = minimum_detectable_effect(
        n_tasks=values["n"], attempts=(values["K_A"], values["K_B"])
    )
    assert default == pytest.approx(result, rel=1e-12)


def test_reference_power() -> None:
    """At the power the reference computes for so many tasks, they detect that effect; by t too."""
    statsmodels = pytest.importorskip("statsmodels.stats.power")
    (case,) = REFERENCE["power_check"]
    values, power = case["input"], case["output"]["z_power"]
    effect = minimum_detectable_effect(
        n_tasks=values["n"], task_variance=values["omega2"], sampling_variance=0, power=power
    )
    assert effect == pytest.approx(values["delta"], rel=1e-9)
    tasks = required_tasks(
        effect=values["delta"], task_variance=values["omega2"], sampling_variance=0
    )
    effect_size = values["delta"] / math.sqrt(values["omega2"])
    by_t = statsmodels.TTestPower().power(effect_size, tasks, 0.05)
    assert by_t == pytest.approx(case["output"]["t_power_statsmodels"], rel=1e-9)


@pytest.mark.parametrize("case", REFERENCE["power_mcnemar_connor"])
def test_reference_tasks_of_mcnemars_test(case: dict[str, Any]) -> None:
    """Connor's number for given shares of falls and rises, made before this code."""
    values = case["input"]
    result = required_tasks(
        effect=values["p10"] - values["p01"],
        discordant=values["p10"] + values["p01"],
        confidence_level=1 - values["alpha"],
        power=values["power"],
    )
    assert result == case["output"]


@pytest.mark.parametrize(("falls", "rises"), [(0.1, 0.05), (0.2, 0.1), (0.06, 0.03)])
def test_planned_power_of_mcnemars_test_is_had(falls: float, rises: float) -> None:
    """Oracle: the power of McNemar's chi-squared over every outcome of that many tasks."""
    n = required_tasks(effect=falls - rises, discordant=falls + rises)
    seen = 0.0
    for n_changed in range(1, n + 1):
        fell = np.arange(n_changed + 1)
        alarms = (2 * fell - n_changed) ** 2 / n_changed > stats.chi2.isf(0.05, 1)
        chance = stats.binom.pmf(fell, n_changed, falls / (falls + rises))
        share = stats.binom.pmf(n_changed, n, falls + rises)
        seen += share * float(chance[alarms].sum())
    assert seen == pytest.approx(0.8, abs=0.01)


def test_statsmodels_agrees() -> None:
    """Oracle: the power of a z test of one mean, which a paired comparison is."""
    statsmodels = pytest.importorskip("statsmodels.stats.power")
    variance = 0.04 + 0.2 / 3 + 0.1 / 5
    effect = minimum_detectable_effect(
        n_tasks=80,
        task_variance=0.04,
        sampling_variance=(0.2, 0.1),
        attempts=[3, 5],  # type: ignore[arg-type]
        confidence_level=0.9,
        power=0.7,
    )
    theirs = statsmodels.NormalIndPower(ddof=0).power(
        effect / math.sqrt(variance), 80, 0.1, ratio=0, alternative="larger"
    )
    upper = statsmodels.NormalIndPower(ddof=0).power(
        effect / math.sqrt(variance), 80, 0.05, ratio=0, alternative="larger"
    )
    assert theirs > upper == pytest.approx(0.7, rel=1e-9)


def test_planned_power_is_had() -> None:
    """Oracle: simulated evaluations of that size, judged by scipy's paired t test."""
    rng = np.random.default_rng(7)
    n, attempts, effect = 150, 4, 0.1
    rates = rng.beta(2, 2, (2000, n)) * (1 - effect)
    task_variance, sampling = (
        0.0,
        float(np.mean([(r * (1 - r)).mean() for r in (rates, rates + effect)])),
    )
    n_tasks = required_tasks(
        effect=effect, task_variance=task_variance, sampling_variance=sampling, attempts=attempts
    )
    before = rng.binomial(attempts, rates[:, :n_tasks]) / attempts
    after = rng.binomial(attempts, rates[:, :n_tasks] + effect) / attempts
    seen = stats.ttest_rel(after, before, axis=1).pvalue < 0.05
    assert n_tasks < n
    assert seen.mean() == pytest.approx(0.8, abs=0.03)


@given(st.floats(0.01, 1), st.integers(1, 20), st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_the_two_are_inverse(
    effect: float, attempts: int, confidence_level: float, power: float
) -> None:
    """So many tasks see the effect, and one fewer does not."""
    options: dict[str, Any] = {
        "attempts": attempts,
        "confidence_level": confidence_level,
        "power": power,
    }
    n = required_tasks(effect=effect, **options)
    slack = 1 + 1e-12
    assert minimum_detectable_effect(n_tasks=n, **options) <= effect * slack
    if n > 2:
        assert minimum_detectable_effect(n_tasks=n - 1, **options) * slack >= effect


@given(
    st.integers(2, 10**9),
    st.floats(0.01, 1),
    st.tuples(st.floats(0, 0.25), st.floats(0, 0.25)),
    st.floats(0.5, 0.999),
)
def test_rounding_asks_for_no_further_task(
    n: int, task_variance: float, sampling_variance: tuple[float, float], confidence_level: float
) -> None:
    """What *n* tasks detect takes *n* tasks, though the square of it is rounded."""
    options: dict[str, Any] = {
        "task_variance": task_variance,
        "sampling_variance": sampling_variance,
        "confidence_level": confidence_level,
    }
    effect = minimum_detectable_effect(n_tasks=n, **options)
    if effect <= 1:
        assert required_tasks(effect=effect, **options) == n


@given(st.integers(2, 10**9), st.floats(0.001, 1), st.floats(0.01, 0.999), st.floats(0.5, 0.999))
def test_the_two_are_inverse_for_mcnemars_test_too(
    n: int, discordant: float, confidence_level: float, power: float
) -> None:
    """What *n* tasks detect takes *n* tasks, and fewer tasks detect less."""
    options: dict[str, Any] = {
        "discordant": discordant,
        "confidence_level": confidence_level,
        "power": power,
    }
    effect = minimum_detectable_effect(n_tasks=n, **options)
    assert minimum_detectable_effect(n_tasks=n + 1, **options) < effect
    if effect <= discordant:
        assert required_tasks(effect=effect, **options) == n


@given(st.floats(0.01, 1), st.floats(0, 1), st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_connors_number_is_the_least(
    effect: float, more: float, confidence_level: float, power: float
) -> None:
    """So many tasks see the effect and one fewer does not; more flips ask for more tasks."""
    discordant = effect + more * (1 - effect)
    options: dict[str, Any] = {
        "discordant": discordant,
        "confidence_level": confidence_level,
        "power": power,
    }
    n = required_tasks(effect=effect, **options)
    assert minimum_detectable_effect(n_tasks=n, **options) <= effect
    if n > 2:
        assert minimum_detectable_effect(n_tasks=n - 1, **options) >= effect
    assert n <= required_tasks(effect=effect, **{**options, "discordant": 1})


def test_too_few_tasks_to_see_even_that_all_changes_are_falls() -> None:
    """Where nothing possible is seen the effect lies above the share, and grows as tasks go."""
    effects = [minimum_detectable_effect(n_tasks=n, discordant=0.04) for n in range(2, 9)]
    assert effects == sorted(effects, reverse=True)
    assert effects[-1] > 0.04
    assert effects[0] == pytest.approx(1.959964 * math.sqrt(0.04 / 2), rel=1e-6)


@pytest.mark.parametrize("attempts", [1, 5])
@pytest.mark.parametrize("rate", [0.02, 0.9, 0.98])
def test_planned_power_is_had_where_nearly_all_pass_or_fail(rate: float, attempts: int) -> None:
    """Oracle: runs of that size, simulated and judged by scipy's paired t test.

    The baseline's variance alone would plan for a third of the tasks or so.
    """
    rng, effect = np.random.default_rng(3), 0.05
    variance = rate * (1 - rate)
    options: dict[str, Any] = {"task_variance": 0, "attempts": attempts}
    n = required_tasks(effect=effect, sampling_variance=variance, **options)
    moved = rate - effect if rate > 0.5 else rate + effect
    old, new = (rng.binomial(attempts, p, (4000, n)) / attempts for p in (rate, moved))
    seen = stats.ttest_rel(new, old, axis=1).pvalue < 0.05
    assert 0.75 <= seen.mean() <= 0.9
    both = (variance, moved * (1 - moved))
    assert n == required_tasks(effect=effect, sampling_variance=both, **options)
    assert n > required_tasks(effect=effect, sampling_variance=(variance, variance), **options)


@given(
    st.integers(2, 10**9),
    st.floats(0, 1),
    st.floats(1e-6, 0.25),
    st.integers(1, 20),
    st.floats(0.5, 0.999),
)
def test_the_two_are_inverse_where_an_effect_adds_variance(
    n: int, task_variance: float, sampling_variance: float, attempts: int, confidence_level: float
) -> None:
    """What *n* tasks detect takes *n* tasks, also where the variance goes with the effect."""
    options: dict[str, Any] = {
        "task_variance": task_variance,
        "sampling_variance": sampling_variance,
        "attempts": attempts,
        "confidence_level": confidence_level,
    }
    effect = minimum_detectable_effect(n_tasks=n, **options)
    assert minimum_detectable_effect(n_tasks=n + 1, **options) < effect
    if effect <= 1:
        assert required_tasks(effect=effect, **options) == n


@pytest.mark.parametrize("sampling_variance", [0, (0, 0)])
def test_nothing_varies(sampling_variance: Any) -> None:
    """A pilot in which nothing varied gives no ground for a number of tasks."""
    message = (
        r"^task_variance must be positive where sampling_variance is 0: without variance nothing "
        r"can be planned, got 0\.0$"
    )
    still: dict[str, Any] = {"task_variance": 0, "sampling_variance": sampling_variance}
    with pytest.raises(InputError, match=message):
        required_tasks(effect=0.1, **still)
    with pytest.raises(InputError, match=message):
        minimum_detectable_effect(n_tasks=2, **still)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"effect": 0}, InputError, "effect must be a number in (0, 1], got 0"),
        ({"effect": math.nan}, InputError, "effect must be a finite number, got nan"),
        (
            {"effect": 1e-300},
            InputError,
            "effect must be large enough to be seen with 2**53 tasks, got 1e-300",
        ),
        (
            {"task_variance": -1},
            InputError,
            "task_variance must be a number in [0, 1], got -1",
        ),
        (
            {"sampling_variance": (0.1, 0.5)},
            InputError,
            "sampling_variance[1] must be a number in [0, 0.25], got 0.5",
        ),
        (
            {"attempts": (1, 2, 3)},
            InputError,
            (
                "attempts must be one number, or one for the baseline and one for the current "
                "run, got (1, 2, 3)"
            ),
        ),
        ({"attempts": 0}, InputError, "attempts must be an integer >= 1, got 0"),
        ({"attempts": 1.5}, TypeError, "attempts must be an integer >= 1, got 1.5"),
        ({"power": 1.0}, InputError, "power must be a number in [0.5, 1), got 1.0"),
        ({"power": 0.4}, InputError, "power must be a number in [0.5, 1), got 0.4"),
        (
            {"confidence_level": 0},
            InputError,
            "confidence_level must be a number in (0, 1), got 0",
        ),
        ({"discordant": 0}, InputError, "discordant must be a number in (0, 1], got 0"),
        ({"discordant": 1.5}, InputError, "discordant must be a number in (0, 1], got 1.5"),
        ({"discordant": "half"}, TypeError, "discordant must be a finite number, got 'half'"),
        (
            {"discordant": 0.2, "task_variance": 0.1},
            InputError,
            "task_variance must be left out where discordant is given, got 0.1",
        ),
        (
            {"discordant": 0.2, "sampling_variance": (0.1, 0.2)},
            InputError,
            "sampling_variance must be left out where discordant is given, got (0.1, 0.2)",
        ),
        (
            {"discordant": 0.2, "attempts": (1, 5)},
            InputError,
            "attempts[1] must be 1 where discordant is given, got 5",
        ),
        (
            {"effect": 0.3, "discordant": 0.2},
            InputError,
            "discordant must be a number >= effect = 0.3, got 0.2",
        ),
        (
            {"effect": 1e-9, "discordant": 0.2},
            InputError,
            "effect must be large enough to be seen with 2**53 tasks, got 1e-09",
        ),
    ],
)
def test_errors(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    """Each message names the parameter, its domain and the value it got."""
    with pytest.raises(error) as caught:
        required_tasks(**{"effect": 0.05, **arguments})
    assert str(caught.value) == message
    if "effect" not in arguments:
        with pytest.raises(error) as caught:
            minimum_detectable_effect(**{"n_tasks": 100, **arguments})
        assert str(caught.value) == message
