"""variance_components, its plan(), required_tasks(anytime=True): oracles, laws, errors."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import present
from public_register import results
from refusals import Refusal, refusals

from scorekit import (
    InputError,
    VarianceComponents,
    code_report_from_columns,
    required_tasks,
    variance_components,
)
from scorekit._stats.components import nested_variances

PILOT = {"sort": [1, 1, 1], "parse": [0, 1, 0], "merge": [1, 1, 0], "join": [0, 0]}


# Components.


def test_reference_dyestuff() -> None:
    """Davies's yields of dyestuff, five of each of six batches; Bates fits 1764.05 and 2451.25."""
    yields = {
        "A": [1545, 1440, 1440, 1520, 1580],
        "B": [1540, 1555, 1490, 1560, 1495],
        "C": [1595, 1550, 1605, 1510, 1560],
        "D": [1445, 1440, 1595, 1465, 1545],
        "E": [1595, 1630, 1515, 1635, 1625],
        "F": [1520, 1455, 1450, 1480, 1445],
    }
    parts = variance_components(yields)
    assert parts.mean == pytest.approx(1527.5)
    assert parts.between_tasks == pytest.approx(1764.05, abs=0.005)
    assert parts.between_attempts == pytest.approx(2451.25, abs=0.005)
    assert (parts.n_tasks, parts.n_attempts, parts.n_judgements) == (6, 30, None)


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=2, max_size=5).filter(
        lambda tasks: any(len(own) > 1 for own in tasks)
    )
)
def test_two_levels_against_exact_fractions(tasks: list[list[int]]) -> None:
    """Oracle: the textbook's formula for unequal groups, in fractions."""
    n, total = len(tasks), sum(map(len, tasks))
    means = [Fraction(sum(own), len(own)) for own in tasks]
    grand = Fraction(sum(map(sum, tasks)), total)
    squares = sum((x - mean) ** 2 for own, mean in zip(tasks, means, strict=True) for x in own)
    within = Fraction(squares) / (total - n)
    spread = sum(len(own) * (m - grand) ** 2 for own, m in zip(tasks, means, strict=True))
    size = (total - Fraction(sum(len(own) ** 2 for own in tasks), total)) / (n - 1)
    between = (Fraction(spread) / (n - 1) - within) / size
    parts = variance_components(dict(enumerate(tasks)))
    assert parts.between_attempts == pytest.approx(float(within), abs=1e-12)
    assert parts.between_tasks == pytest.approx(max(0.0, float(between)), abs=1e-12)
    assert parts.cut_to_zero == (("between_tasks",) if between < 0 else ())
    assert parts.mean == pytest.approx(float(sum(means) / n))


def test_three_levels_are_unbiased_with_unequal_numbers() -> None:
    """Oracle: 3000 simulated pilots of 1 to 4 attempts and 1 to 3 judgements, by seed."""
    rng = np.random.default_rng(3)
    n_attempts = [1, 2, 3, 4, 2, 1, 3, 4]
    n_judgements = [1, 2, 3, 1, 3, 2, 1, 1, 2, 3, 3, 1, 2, 2, 3, 1, 1, 2, 3, 2]
    tasks = np.repeat(np.repeat(range(8), n_attempts), n_judgements)
    attempts = np.repeat(range(20), n_judgements)
    true = np.array([0.5, 0.2, 0.1])
    found = []
    for _ in range(3000):
        parts = [rng.normal(0.0, math.sqrt(v), n) for v, n in zip(true, (8, 20, 40), strict=False)]
        noise = rng.normal(0.0, math.sqrt(true[2]), tasks.size)
        found.append(
            nested_variances(parts[0][tasks] + parts[1][attempts] + noise, [tasks, attempts])
        )
    estimates = np.array(found)
    errors = estimates.std(axis=0) / math.sqrt(len(found))
    assert (abs(estimates.mean(axis=0) - true) < 4 * errors).all()


def test_nested_forms_agree() -> None:
    """A mapping, its attempts as mappings, as iterators, and under long names."""
    nested: Any = {"a": [[1, 0], [1, 1, 0.5]], "b": [[0, 0]], "c": [[1], [0, 1]]}
    expected = variance_components(nested)
    assert expected.n_judgements == 10
    by_name = {t: {i: dict(enumerate(own)) for i, own in enumerate(a)} for t, a in nested.items()}
    once = {t: (iter(own) for own in attempts) for t, attempts in nested.items()}
    long = {"x" * 500 + t: attempts for t, attempts in nested.items()}
    for other in (by_name, once, long):
        assert variance_components(other) == expected
    frame = pd.DataFrame({"task": ["a", "b", "a", "b"], "score": [True, False, 0.5, 1]})
    with pytest.raises(TypeError, match=r"\(of a table: dict\(table.groupby\('task'\)\['score'\]"):
        variance_components(frame)
    mapping = dict(frame.groupby("task")["score"].apply(list))  # as the message says
    assert variance_components(mapping) == variance_components({"a": [1, 0.5], "b": [0, 1]})


def test_a_report_counts_right_attempts() -> None:
    """Partial credit plays no part, and cases may be called like columns."""
    names = ["task", "task", "task", "score", "score"]
    report = code_report_from_columns(
        case_id=names, model="m", passed=[4, 2, 4, 4, 0], failed=[0, 2, 0, 0, 4]
    )
    assert variance_components(report) == variance_components({"a": [1, 0, 1], "b": [1, 0]})
    flags = code_report_from_columns(model="m", passed={"a": [1, 0, 1], "b": [1, 0]})
    assert variance_components(flags) == variance_components(report)


PARTS = VarianceComponents(
    mean=0.0,
    between_tasks=0.3,
    between_attempts=0.2,
    between_judgements=0.1,
    cut_to_zero=(),
    n_tasks=2,
    n_attempts=4,
    n_judgements=8,
)


def test_a_stderr_is_that_of_simulated_means() -> None:
    """Oracle: 20,000 evaluations of 30 tasks, three attempts and two judgements."""
    rng = np.random.default_rng(1)
    shape = (20_000, 30, 3, 2)
    scores = rng.normal(0, math.sqrt(0.3), shape[:2]).mean(axis=1)
    scores += rng.normal(0, math.sqrt(0.2), shape[:3]).mean(axis=(1, 2))
    scores += rng.normal(0, math.sqrt(0.1), shape).mean(axis=(1, 2, 3))
    expected = PARTS.stderr(n_tasks=30, n_attempts=3, n_judgements=2)
    assert scores.std() == pytest.approx(expected, rel=0.03)


# Plans.


@given(results(VarianceComponents), st.data())
def test_no_plan_that_the_budget_pays_for_is_better(
    components: VarianceComponents, data: st.DataObject
) -> None:
    """Oracle: all designs, one after another."""
    components = attrs.evolve(components, between_tasks=components.between_tasks + 0.01)
    judged = components.between_judgements is not None
    levels = {"task": [0, 0.5, 2, 7], "attempt": [0.1, 1, 3], "judgement": [0.3, 1, 2]}
    names = [*levels][: 3 if judged else 2]
    prices = {name: data.draw(st.sampled_from(levels[name])) for name in names}
    least = sum(prices.values())
    budget = data.draw(st.integers(math.ceil(least), math.ceil(least) + 12))
    plan = components.plan(prices=prices, budget=budget)
    exact = {name: Fraction(str(price)) for name, price in prices.items()}
    best = math.inf
    for n in range(1, 200):
        for a in range(1, 200):
            for j in range(1, 60 if judged else 2):
                inner = exact["attempt"] + j * exact.get("judgement", Fraction(0))
                if n * (exact["task"] + a * inner) > budget:
                    break
                best = min(best, components.stderr(n_tasks=n, n_attempts=a, n_judgements=j))
            if n * (exact["task"] + a * exact["attempt"]) > budget:
                break
    assert plan.stderr == pytest.approx(best, rel=1e-9)
    assert plan.price <= budget
    assert (plan.n_judgements is not None) == judged
    counts = {"n_tasks": plan.n_tasks, "n_attempts": plan.n_attempts}
    assert plan.stderr == components.stderr(**counts, n_judgements=plan.n_judgements or 1)


def test_a_large_plan_is_near_that_of_real_numbers() -> None:
    """Cochran's optimum: attempts go with the root of s^2 task / (w^2 attempt)."""
    parts = attrs.evolve(variance_components(PILOT), between_tasks=0.1, between_attempts=0.4)
    plan = parts.plan(prices={"task": 9, "attempt": 1}, budget=1e6)
    assert plan.n_attempts == round(math.sqrt(0.4 * 9 / 0.1))
    judged = attrs.evolve(parts, between_judgements=0.1)
    prices = {"task": 9, "attempt": 1, "judgement": 0.01}
    with pytest.raises(
        InputError, match=r"^budget must be at least 10\.01, the price of one task"
    ):
        judged.plan(prices=prices, budget=10)
    plan = judged.plan(prices=prices, budget=1e5)
    assert plan.n_judgements == round(math.sqrt(0.1 * 1 / (0.4 * 0.01)))


# Looks at any time.


def test_required_tasks_at_any_time_have_that_power() -> None:
    """Oracle: 1500 runs of single attempts that lose 15 points, looked at after every case."""
    from scorekit._stats.betting import SHARES

    tasks = required_tasks(effect=0.15, discordant=0.35, anytime=True)
    rng = np.random.default_rng(2)
    deltas = rng.choice([-1.0, 0.0, 1.0], (1500, tasks.n_tasks), p=[0.25, 0.65, 0.1])
    ends = np.full(1500, tasks.n_tasks + 1)
    logs = np.zeros((1500, SHARES.size))
    for i, column in enumerate(deltas.T):
        logs += np.log1p(np.outer(-column, SHARES))
        over = np.exp(logs).mean(axis=1) >= 40.0
        ends[over & (ends > tasks.n_tasks)] = i + 1
    assert np.mean(ends <= tasks.n_tasks) == pytest.approx(0.8, abs=0.04)
    expected = np.minimum(ends, tasks.n_tasks).mean()
    assert tasks.n_tasks_expected == pytest.approx(expected, rel=0.06)
    assert tasks.n_tasks_fixed == required_tasks(effect=0.15, discordant=0.35).n_tasks


def test_looks_save_more_the_more_power_is_asked_for() -> None:
    """At 80 % power they cost, at 95 % they save; a larger effect is found sooner."""
    plans = [
        required_tasks(effect=0.1, power=power, anytime=True) for power in (0.5, 0.8, 0.95, 0.99)
    ]
    saved = [1.0 - (plan.n_tasks_expected or 0.0) / (plan.n_tasks_fixed or 0) for plan in plans]
    assert saved == sorted(saved)
    assert saved[1] < 0.0 < saved[2]
    assert all((plan.n_tasks_fixed or 0) < plan.n_tasks for plan in plans)
    assert required_tasks(effect=0.2, anytime=True).n_tasks < plans[1].n_tasks / 3
    still = required_tasks(effect=1, task_variance=1e-9, sampling_variance=0, anytime=True)
    assert 8 <= still.n_tasks <= 12


# Errors.

SEVERAL = code_report_from_columns(case_id=["a", "a"], model=["x", "y"], passed=[True, False])


@refusals("""
{} -> InputError: scores must be of at least 2 tasks, got 0
{"a": [1, 0]} -> InputError: scores must be of at least 2 tasks, got 1
{"a": [1], "b": [0]}
    -> InputError: scores must be of at least one task with 2 attempts, got {'a': [1], 'b':
    [0]}
{"a": [[1], [0]], "b": [[0]]}
    -> InputError: scores must be of at least one attempt with 2 judgements, got {'a': [[1],
    [0]], 'b': [[0]]}
{"a": [1, [0, 1]], "b": [0]}
    -> InputError: scores must be nested alike for all attempts: a score each, or several, got
    {'a': [1, [0, 1]], 'b': [0]}
{"a": [], "b": [0]} -> InputError: scores['a'] must be a non-empty sequence of scores, got ()
{"a": [math.nan, 1], "b": [0]}
    -> InputError: scores['a'][0] must be a number in [-1e+100, 1e+100], got nan
{"a": [[1, None]], "b": [[0]]}
    -> TypeError: scores['a'][0][1] must be a number in [-1e+100, 1e+100], got None
{"a": 1, "b": [0]} -> TypeError: scores['a'] must be a non-empty sequence of scores, got 1
[1, 0] -> TypeError: scores must be a CodeReport, or a mapping from task to attempts, got 1
""")
def test_components_are_refused(wrong: Refusal) -> None:
    """Each message names what is wrong and where."""
    wrong.by_value(variance_components)


@refusals("""
prices={"task": 1}
    -> InputError: prices must be a mapping with the keys 'task', 'attempt', got ['task']
prices={"task": 1, "attempt": 1, "judgement": 1}
    -> InputError: prices must be a mapping with the keys 'task', 'attempt', got ['task',
    'attempt', 'judgement']
prices=[1, 2]
    -> TypeError: prices must be a mapping from 'task' and 'attempt' to a price, got [1, 2]
prices={"task": -1, "attempt": 1}
    -> InputError: prices['task'] must be a finite number >= 0, got -1
prices={"task": 1, "attempt": 0}
    -> InputError: prices['attempt'] must be a finite number > 0, got 0
budget=1 -> InputError: budget must be at least 2, the price of one task, got 1
budget=1e10 -> InputError: budget must be at most 1e+09, got 10000000000.0
budget="1" -> TypeError: budget must be a finite number, got '1'
""")
def test_plans_are_refused(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(variance_components(PILOT).plan, prices={"task": 1, "attempt": 1}, budget=100)


def test_what_one_task_would_seem_to_do_is_not_planned() -> None:
    """A variance between tasks that came out negative is no reason to ask a single one."""
    alike = variance_components({"a": [1, 0], "b": [0, 1]})
    assert alike.cut_to_zero == ("between_tasks",)
    message = (
        r"^the variance between tasks of the pilot must be above 0 \(without it .*, got 0\.0$"
    )
    with pytest.raises(InputError, match=message):
        alike.plan(prices={"task": 1, "attempt": 1}, budget=9)


@refusals("""
required_tasks(effect=1e-5, anytime=True)
    -> InputError: effect must be large enough to be seen with 10**9 ...
required_tasks(effect=0.1, anytime=2) -> TypeError: anytime must be True or False, got 2
variance_components(SEVERAL)
    -> InputError: scores must be a report of one model, such as report.for_model(name), got
    ['x', 'y']
variance_components(score_sql_cases([SqlCase(case_id="q", generated="SELECT 1")]))
    -> TypeError: scores must be a CodeReport, or a mapping from ...
""")
def test_what_is_no_pilot_is_refused(wrong: Refusal) -> None:
    """Reports of several models or without right and wrong, and effects beyond all plans."""
    wrong.by_itself()


# Repeats.


@given(st.integers(2, 4), st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_components_of_repeats_against_mean_squares(
    n_repeats: int, n_tasks: int, n_attempts: int, seed: int
) -> None:
    """Oracle: a two-way analysis of variance with equal cells, written out by its sums."""
    scores = np.random.default_rng(seed).random((n_repeats, n_tasks, n_attempts))
    runs = [{f"t{i}": own.tolist() for i, own in enumerate(run)} for run in scores]
    found = variance_components(runs)
    means = scores.mean(axis=2)
    rows, columns = means.mean(axis=1), means.mean(axis=0)
    rest = means - rows[:, None] - columns + means.mean()
    inner = n_attempts * (rest**2).sum() / ((n_repeats - 1) * (n_tasks - 1))
    within = scores.var(axis=2, ddof=1).mean() if n_attempts > 1 else 0.0
    of_repeats = n_tasks * n_attempts * rows.var(ddof=1)
    of_tasks = n_repeats * n_attempts * columns.var(ddof=1)
    expected = {
        "between_repeats": (of_repeats - inner) / (n_tasks * n_attempts),
        "between_tasks": (of_tasks - inner) / (n_repeats * n_attempts),
        "task_by_repeat": (inner - within) / n_attempts,
        "between_attempts": within,
    }
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(max(value, 0.0), abs=1e-9)
    assert {name for name, value in expected.items() if value < -1e-9} <= set(found.cut_to_zero)
    assert (found.n_repeats, found.n_tasks) == (n_repeats, n_tasks)


def test_components_of_repeats_are_unbiased_with_unequal_attempts() -> None:
    """Means of many simulated pilots; one attempt less at some tasks."""
    rng = np.random.default_rng(2)
    found = []
    for _ in range(400):
        tasks, drift = rng.normal(0, 1, 12), rng.normal(0, 0.5, 3)
        runs = []
        for repeat in range(3):
            own = tasks + drift[repeat] + rng.normal(0, 0.7, 12)
            runs.append(
                {i: (m + rng.normal(0, 0.9, 3 - i % 2)).tolist() for i, m in enumerate(own)}
            )
        one = variance_components(runs)
        if not one.cut_to_zero:
            found.append((one.between_tasks, one.task_by_repeat or 0.0, one.between_attempts))
    assert np.mean(found, axis=0) == pytest.approx([1.0, 0.49, 0.81], rel=0.1)


def test_reports_are_repeats_too() -> None:
    """Tasks go by their names, in whatever order they come."""
    runs = [
        code_report_from_columns(model="m", passed={"a": [1, 0], "b": [1, 1]}),
        code_report_from_columns(model="m", passed={"b": [1, 0], "a": [0, 0]}),
    ]
    found = variance_components(runs)
    assert found == variance_components([{"a": [1, 0], "b": [1, 1]}, {"a": [0, 0], "b": [1, 0]}])
    assert variance_components(runs[:1]) == variance_components(runs[0])


def test_plans_of_repeats_by_enumeration() -> None:
    """No affordable design has a smaller standard error."""
    parts = attrs.evolve(PARTS, between_tasks=0.1, between_attempts=0.15, between_judgements=None)
    parts = attrs.evolve(parts, n_repeats=3, between_repeats=0.001, task_by_repeat=0.05)
    prices = {"task": 1.0, "attempt": 0.2, "repeat": 3.0}
    plan = parts.plan(prices=prices, budget=60)
    best = min(
        parts.stderr(n_tasks=n, n_attempts=a, n_repeats=r)
        for r, n, a in itertools.product(range(1, 19), range(1, 60), range(1, 200))
        if n * 1.0 + r * (3.0 + n * a * 0.2) <= 60
    )
    assert plan.stderr == pytest.approx(best)
    assert plan.price <= 60
    counts = {"n_tasks": plan.n_tasks, "n_attempts": plan.n_attempts}
    assert plan.stderr == parts.stderr(**counts, n_repeats=present(plan.n_repeats))
    with pytest.raises(InputError, match=r"^prices must be a mapping with the keys 'task', 'atte"):
        parts.plan(prices={"task": 1, "attempt": 1}, budget=60)


@refusals("""
[{"a": [1, 0]}, {"a": [1, 0]}] -> InputError: scores must be of at least 2 tasks, got 1...
[{"a": [1], "b": [0]}, {"a": [1]}]
    -> InputError: scores must be of runs of the same tasks, got {'a': [1]}...
[{"a": [1], "b": [0]}, {"a": [[1, 0]], "b": [[0, 1]]}]
    -> InputError: scores[1] must be without judgements, as one of several repeats, got {'a':
    [[1, 0...
""")
def test_repeats_that_show_nothing(wrong: Refusal) -> None:
    """Each says what is missing."""
    wrong.by_value(variance_components)
