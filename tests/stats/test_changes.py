"""The test of a suite's changes: against its definition, and never less sure of more losses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import optimize, stats

from scorekit._stats.changes import Units, is_at_most, mean_change

STEPS = st.integers(-10, 10).map(lambda n: n / 10)
CHANGES = st.lists(STEPS, min_size=2, max_size=12)
ERRORS = st.sampled_from([0.05, 0.025, 0.0125, 0.005])


def units(deltas: list[float], groups: list[int] | None = None) -> Units:
    """Return changes, in groups that are numbered from 0."""
    codes = None if groups is None else np.unique(groups, return_inverse=True)[1]
    return Units(np.array(deltas), codes)


def smallest_t(one: Units) -> float:
    """Search for the least t over all better changes, from several starts."""

    def t(means: Any) -> float:
        mean = float(one.shares @ means)
        return mean / math.sqrt(float(one.weights @ (means - mean) ** 2) + 1e-300)

    rng = np.random.default_rng(0)
    bounds = [(low, None) for low in one.means]
    starts = (one.means + abs(rng.normal(0, 0.1 * i, one.means.size)) for i in range(5))
    found = (optimize.minimize(t, x, bounds=bounds, method="L-BFGS-B").fun for x in starts)
    return min(t(one.means), *found)


@pytest.mark.parametrize("seed", range(40))
def test_t_is_the_least_of_all_better_changes(seed: int) -> None:
    """Oracle: a general optimizer; cases alone, and groups of any size."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    deltas = rng.choice([-1, -0.6, -0.2, 0, 0.3], n) + rng.normal(0, 0.01, n)
    deltas[0] += 0.3
    groups = rng.integers(0, max(2, n // 2), n).tolist() if seed % 2 else None
    one = units((deltas - max(float(deltas.mean()) + 0.1, 0)).tolist(), groups)
    if one.means.size == 1 or float(one.means.max()) <= 0.0:
        assert one.means.size == 1 or one.t_of_fall() < -1e5
        return
    assert one.t_of_fall() == pytest.approx(smallest_t(one), rel=1e-3)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=10))
def test_without_a_cut_it_is_the_paired_t_test(others: list[float]) -> None:
    """Oracle: scipy's; changes of -1, 0 and 1 are never cut."""
    whole = [1.0, *others, *[-1.0] * (int(sum(others)) + 2)]  # a fall, not of all
    one = units(whole)
    theirs = stats.ttest_1samp(whole, 0.0, alternative="less").pvalue
    assert one.p_of_fall() == pytest.approx(max(theirs, 0.5 ** len(whole)), rel=1e-9)


@given(CHANGES)
def test_that_all_fell_is_the_sign_test(deltas: list[float]) -> None:
    """Whatever they vary by: the cut makes them one."""
    down = [-abs(one) - 0.1 for one in deltas]
    assert units(down).p_of_fall() == 0.5 ** len(down)
    assert units(down).turned.p_of_fall() > 0.5


@given(CHANGES, st.data(), ERRORS, st.booleans())
def test_worse_changes_are_no_less_significant(
    deltas: list[float],
    data: st.DataObject,
    error: float,
    grouped: bool,  # noqa: FBT001 - drawn
) -> None:
    """Each end, each p value, with groups and without, whichever cases are worse."""
    falls = data.draw(st.lists(st.integers(0, 5), min_size=len(deltas), max_size=len(deltas)))
    worse = [max(one - fall / 10, -1.0) for one, fall in zip(deltas, falls, strict=True)]
    groups = [i // 2 for i in range(len(deltas))] if grouped else None
    extra = (0.01, 0.0) if data.draw(st.booleans()) else (0.0, 0.0)
    one, other = (mean_change(units(side, groups), error, extra) for side in (deltas, worse))
    assert other.p_fall <= one.p_fall * (1 + 1e-9)
    assert other.p_rise >= min(one.p_rise, 0.5) * (1 - 1e-9)  # no rise is 0.5 or more
    assert other.high <= one.high + 1e-7 or (one.high < 0 and other.high < 0)
    assert not one.high < 0 <= other.high
    assert other.low <= one.low + 1e-7


@given(CHANGES, ERRORS)
def test_an_end_leaves_out_0_where_its_p_value_says_so(deltas: list[float], error: float) -> None:
    """And both hold the mean; turned they change places."""
    one = units(deltas)
    found, turned = mean_change(one, error), mean_change(one.turned, error)
    assert (found.high < 0) == is_at_most(found.p_fall, error)
    assert (found.low > 0) == is_at_most(found.p_rise, error)
    assert found.low - 1e-9 <= one.mean <= found.high + 1e-9
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-9)
    assert (turned.p_fall, turned.p_rise) == pytest.approx((found.p_rise, found.p_fall))


@given(CHANGES, ERRORS)
def test_the_end_is_where_the_test_of_a_shift_says_so(deltas: list[float], error: float) -> None:
    """Oracle: the test itself, of changes from a little less and a little more than the end."""
    one = units(deltas)
    end = one.high(error)
    quantile = stats.t.ppf(error, len(deltas) - 1)
    assume(one.error() > 0.0)
    assert one.t_of_fall(end + 1e-6) <= quantile + 1e-9
    assert one.t_of_fall(end - 1e-6) >= quantile - 1e-6 * abs(quantile) - 1e-3


def test_one_unit_and_no_change() -> None:
    """Nothing is known of a spread."""
    assert mean_change(units([-1.0]), 0.025)[:2] == (-1.0, 1.0)
    assert mean_change(units([-1.0] * 5, [1] * 5), 0.025)[:2] == (-1.0, 1.0)
    same = mean_change(units([0.0] * 20), 0.025)
    assert same.high == -same.low == pytest.approx(1 - 0.025 ** (1 / 20))
    assert (same.p_fall, same.p_rise) == (0.5, 0.5)
