"""time_horizon: METR's own fits, every documented error, properties, an oracle by scipy."""

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
from scipy.optimize import minimize, minimize_scalar

from scorekit import InputError, time_horizon

CASES = json.loads((Path(__file__).parent / "data" / "time_horizon.json").read_text("utf-8"))
MINUTES = [1, 2, 4, 8, 15, 30, 60, 120, 240, 480]
PASSED = [1, 1, 1, 1, 0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("case", CASES["cases"], ids=range(len(CASES["cases"])))
def test_fits_of_metr(case: dict[str, Any]) -> None:
    """Made by METR's published code, whose solver stops at a tolerance: 1 % is asked for."""
    columns = {name: case[name] for name in ("minutes", "passed", "tasks", "families")}
    half = time_horizon(**columns)
    assert half.score == pytest.approx(case["p50"], rel=1e-3)
    assert half.slope == pytest.approx(case["coefficient"], rel=1e-3)
    assert time_horizon(**columns, share=0.8).score == pytest.approx(case["p80"], rel=1e-3)


@given(
    st.lists(
        st.tuples(st.integers(0, 10), st.integers(0, 3), st.integers(1, 3), st.integers(0, 3)),
        min_size=2,
        max_size=12,
    ),
    st.sampled_from([0.2, 0.5, 0.8]),
)
@example([(0, 1, 3, 0), (1, 1, 3, 0)], 0.2)  # a slope of -1e-17
def test_against_scipy(tasks: list[tuple[int, int, int, int]], share: float) -> None:
    """Weights and penalty written out run by run, minimized without derivatives of ours."""
    runs = [
        (2.0**size, i < n_passed, number, family)
        for number, (size, n_passed, n_runs, family) in enumerate(tasks)
        for i in range(n_runs)
    ]
    minutes, passed, names, families = map(list, zip(*runs, strict=True))
    result = time_horizon(minutes, passed, tasks=names, families=families, share=share)
    if result.score is None:
        return
    n_runs = [names.count(name) for name in names]
    in_family = [
        len({n for n, f in zip(names, families, strict=True) if f == own}) for own in families
    ]
    weights = 1.0 / (np.array(n_runs) * np.sqrt(in_family))
    weights /= weights.sum()
    signs, x = np.where(passed, 1.0, -1.0), np.log2(minutes)

    def loss(point: Any) -> float:
        losses = np.logaddexp(0.0, -signs * (point[0] + point[1] * x))
        return float(weights @ losses + 0.5e-5 * point[1] ** 2)

    ours = loss([present(result.intercept), present(result.slope)])
    found = minimize(loss, [0.0, 0.0], method="BFGS")
    assert ours <= found.fun + 1e-9
    assert result.success_at(result.score) == pytest.approx(share, abs=1e-9)
    assert result.interval.low <= result.score <= result.interval.high


@pytest.mark.parametrize("share", [0.5, 0.8])
@pytest.mark.parametrize("n_families", [40, 10])
def test_the_ends_of_the_interval_against_scipy(n_families: int, share: float) -> None:
    """Oracle: the same likelihood ratio, run by run, each curve found by a general minimizer."""
    rng = np.random.default_rng(n_families)
    lengths = np.repeat(rng.uniform(0, 9, 40), 3)
    tasks, families = np.repeat(np.arange(40), 3), np.repeat(np.arange(40) % n_families, 3)
    passed = rng.random(120) < 1 / (1 + np.exp(0.8 * (lengths - 5)))
    result = time_horizon(2.0**lengths, passed, tasks=tasks, families=families, share=share)
    weights = np.full(120, 1 / 120)
    signs, logit, middle = np.where(passed, 1.0, -1.0), math.log(share / (1 - share)), 5.0

    def loss(slope: float, place: float) -> float:
        losses = np.logaddexp(0.0, -signs * (logit + slope * (lengths - place)))
        return float(weights @ losses + 0.5e-5 * slope**2)

    place = math.log2(result.score or 0.0)
    slope = result.slope or 0.0
    chances = 1 / (1 + np.exp(-(logit + slope * (lengths - place))))
    design = np.column_stack([np.ones(120), lengths - middle])
    spread = weights * chances * (1 - chances)
    inverse = np.linalg.inv(design.T @ np.diag(spread) @ design + np.diag([0.0, 1e-5]))
    moves = np.array([-1 / slope, (logit - (logit + slope * (middle - place))) / -(slope**2)])
    scores = design * (weights * (passed - chances))[:, None]
    sums = np.array([scores[families == family].sum(axis=0) for family in range(n_families)])
    between = sums.T @ sums * n_families / (n_families - 1)
    alone = design.T @ np.diag(spread * weights) @ design
    variance = max(
        float(moves @ inverse @ middle_part @ inverse @ moves) for middle_part in (alone, between)
    )
    noted = (design @ inverse @ moves) ** 2 * spread * weights
    by_family = np.array([noted[families == family].sum() for family in range(n_families)])
    n_effective = by_family.sum() ** 2 / (by_family**2).sum()
    df = min(n_families - 2, 3 * n_effective)
    most = stats.t.ppf(0.975, df) ** 2 * variance / float(moves @ inverse @ moves)
    for end in (result.interval.low, result.interval.high):
        found = minimize_scalar(loss, bounds=(-20, 0), args=(math.log2(end),), method="bounded")
        assert 2 * (found.fun - loss(slope, place)) == pytest.approx(most, rel=1e-3)


def test_a_wrong_curve_at_either_end() -> None:
    """A flat curve that explains the runs as well leaves an end open; a steep one closes both."""
    flat = time_horizon(MINUTES, [1, 0, 1, 1, 0, 1, 1, 0, 0, 1])
    assert (ends(flat.interval), flat.interval.method) == ((0.0, math.inf), "profile likelihood")
    low, high = ends(time_horizon(np.logspace(0, 3, 40), np.arange(40) < 20).interval)
    assert 20 < low < 31
    assert 32 < high < 50


def test_no_more_than_families_count() -> None:
    """Copies of every run narrow nothing if their tasks are named, and little more otherwise."""
    rng = np.random.default_rng(5)
    minutes = 2.0 ** rng.uniform(0, 9, 40)
    passed = rng.random(40) < 1 / (1 + np.exp(0.8 * (np.log2(minutes) - 5)))
    once = time_horizon(minutes, passed)
    copies = time_horizon(np.tile(minutes, 5), np.tile(passed, 5), tasks=np.tile(range(40), 5))
    assert copies.score == pytest.approx(once.score)
    assert ends(copies.interval) == pytest.approx(ends(once.interval), rel=0.05)
    alone = time_horizon(np.tile(minutes, 5), np.tile(passed, 5))
    assert alone.interval.high / alone.interval.low < once.interval.high / once.interval.low
    (note,) = alone.notes
    assert note == (
        "160 runs have the length of an earlier one, and each was taken as a task of its own: "
        "pass tasks= if they repeat tasks"
    )


@pytest.mark.parametrize(("options", "words"), [
    ({}, "(12 runs, each taken as a task of its own)"),
    ({"tasks": [*range(6)] * 2}, "(12 runs of 6 tasks)"),
    ({"tasks": [*range(6)] * 2, "families": [1, 1, 2, 2, 3, 3] * 2}, "6 tasks in 3 families)"),
    ({"families": [1, 1, 2, 2, 3, 3] * 2}, "each taken as a task of its own in 3 families)"),
])  # fmt: skip
def test_the_line_says_what_was_counted(options: dict[str, Any], words: str) -> None:
    """How many runs, tasks and families there are stands in the first line."""
    result = time_horizon([1, 4, 9, 20, 50, 99] * 2, [1, 1, 1, 0, 1, 0] * 2, **options)
    assert words in str(result).splitlines()[0]


@pytest.mark.parametrize("families", [[1] * 10, [1, 2] * 5])
def test_two_families_have_no_interval(families: list[int]) -> None:
    """A curve has two numbers, so two families leave nothing over."""
    result = time_horizon(MINUTES, PASSED, families=families)
    assert (result.score is not None, ends(result.interval)) == (True, (0.0, math.inf))
    assert any(note.endswith("an interval takes three or more") for note in result.notes)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_family_of_one_and_of_a_thousand(size: int) -> None:
    """A single large family widens the interval, and does not decide it."""
    rng = np.random.default_rng(3)
    lengths = np.concatenate([rng.uniform(0, 9, 30), rng.uniform(4, 5, size)])
    passed = rng.random(lengths.size) < 1 / (1 + np.exp(0.8 * (lengths - 5)))
    names = [*range(30), *["crowd"] * size]
    result = time_horizon(2.0**lengths, passed, families=names)
    assert 0.0 < result.interval.low < 32 < result.interval.high < math.inf
    assert result.n_families == 31


def test_a_family_of_many_tasks_does_not_decide_alone() -> None:
    """Its weight grows with the square root of its tasks."""
    one = time_horizon(MINUTES, PASSED)
    crowd = [*MINUTES, *[480] * 50], [*PASSED, *[1] * 50]
    names, crowded = [*range(10), *range(100, 150)], [*range(10), *["crowd"] * 50]
    apart = time_horizon(*crowd, tasks=names)
    together = time_horizon(*crowd, tasks=names, families=crowded)
    repeated = time_horizon(*crowd, tasks=crowded)
    assert present(one.score) < present(repeated.score) < present(together.score)
    assert apart.score is None  # success rises with length where all of them count


def test_longer_and_shorter_scale() -> None:
    """Ten times the minutes have ten times the horizon."""
    one, ten = time_horizon(MINUTES, PASSED), time_horizon([10 * m for m in MINUTES], PASSED)
    assert ten.score == pytest.approx(10 * present(one.score))
    assert ten.interval.high == pytest.approx(10 * one.interval.high)
    assert one.slope == pytest.approx(ten.slope)


@pytest.mark.parametrize(("minutes", "passed", "note"), [
    (MINUTES, [True] * 10, "all runs passed: longer tasks are needed"),
    (MINUTES, [False] * 10, "no runs passed: shorter tasks are needed"),
    (MINUTES, PASSED[::-1], "success does not fall with the length of tasks"),
    ([5] * 10, PASSED, "success does not fall with the length of tasks"),
])  # fmt: skip
def test_where_the_runs_cannot_tell(minutes: Any, passed: Any, note: str) -> None:
    """There is no number, no warning, and a sentence."""
    result = time_horizon(minutes, passed)
    assert (result.score, result.slope, result.success_at(5)) == (None, None, None)
    assert ends(result.interval) == (0.0, math.inf)
    assert any(one.startswith(note) for one in result.notes)


def test_what_stands_against_a_number() -> None:
    """An extrapolated horizon."""
    long = time_horizon([1, 2, 4, 8] * 10, [1, 1, 1, 1] * 8 + [1, 1, 0, 0] * 2, tasks=range(40))
    assert present(long.score) > 8
    assert long.notes == ("the horizon lies above the longest task: it is extrapolated",)


def test_separated_outcomes_over_six_orders_of_magnitude() -> None:
    """The penalty alone keeps the slope finite."""
    minutes = np.logspace(-2, 5, 40)
    result = time_horizon(minutes, minutes < 10)
    assert result.score == pytest.approx(10, rel=0.3)
    assert -1000 < present(result.slope) < 0


@refusals("""
minutes=[0, 5] -> InputError: minutes[0] must be a finite number > 0, got 0.0...
minutes=[5, math.inf] -> InputError: minutes[1] must be a finite number, got inf...
minutes=[5] -> InputError: passed and minutes must be equally long, got 2 and 1...
passed=[1, 0.5] -> TypeError: passed[1] must be True or False, got 0.5...
tasks=["a", "a"] -> InputError: minutes[1] must be the same for all runs of one task...
tasks=["a", "a"], minutes=[5, 5], families=[1, 2]
    -> InputError: families[1] must be the same for all runs of one task...
share=1 -> InputError: share must be a number in (0, 1), got 1...
minutes=["a", "b"] -> TypeError: minutes[0] must be a finite number, got 'a'...
""")
def test_errors(wrong: Refusal) -> None:
    """Each names the argument, its domain and the value."""
    wrong.by(time_horizon, minutes=[5, 9], passed=[1, 0])


def test_success_at_a_length() -> None:
    """It is the curve, and asks for a length."""
    result = time_horizon(MINUTES, PASSED)
    chances = [result.success_at(minutes) or 0.0 for minutes in (1e-300, 1, 60, 1e300)]
    assert chances == sorted(chances, reverse=True)
    with pytest.raises(InputError, match=r"^minutes must be a finite number > 0, got 0$"):
        result.success_at(0)
