"""Single cases: what their p values count, and that a worse outcome never takes one back."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorekit._core.attempts import Attempts
from scorekit._stats.exact_tests import drop_p_value
from scorekit._stats.single_cases import Counting, SuitePair

CASES = st.lists(
    st.integers(3, 6).flatmap(
        lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(3, 6)).flatmap(
            lambda one: st.tuples(*map(st.just, one), st.integers(0, one[2]))
        )
    ),
    min_size=1,
    max_size=6,
)


def pair(cases: list[tuple[int, int, int, int]]) -> SuitePair:
    """Return attempts, of which so many passed, before and after."""
    columns = np.array(cases, np.int64).T
    return SuitePair(
        Attempts.of_counts(columns[0], columns[1]), Attempts.of_counts(columns[2], columns[3])
    )


@given(CASES)
def test_the_least_p_value_that_could_have_been(cases: list[tuple[int, int, int, int]]) -> None:
    """Oracle: all numbers of passes between the baseline's rate and now, all ways to share out."""
    expected = []
    for n_old, c_old, n_new, c_new in cases:
        if c_new * n_old < c_old * n_new:
            continue
        p_values = []
        for passes in range(c_old + n_new * c_old // n_old, c_old + c_new + 1):
            fewest = max(0, passes - n_old)
            p_values.append(drop_p_value(n_old, passes - fewest, n_new, fewest))
        expected.append(min(p_values))
    assert pair(cases).rival_least().tolist() == pytest.approx(expected, rel=1e-9)


@given(CASES, st.data())
def test_a_worse_outcome_takes_no_fall_back(
    cases: list[tuple[int, int, int, int]], data: st.DataObject
) -> None:
    """Whichever case is worse, that of the fall or another: it stays as significant, and sure."""
    worse = list(cases)
    place = data.draw(st.integers(0, len(cases) - 1))
    n_old, c_old, n_new, c_new = worse[place]
    worse[place] = n_old, c_old, n_new, data.draw(st.integers(0, c_new))
    found = []
    for one in (pair(cases), pair(worse)):
        counting, every = Counting.of([one]), np.arange(len(cases))
        p_values = one.p_values(every)
        sure = counting.are_beyond_rises(p_values)
        found.append((counting.adjusted(p_values), sure, one.are_in_doubt()))
    (before, sure, doubt), (after, still, doubt_now) = found
    fell = [c_new * n_old < c_old * n_new for n_old, c_old, n_new, c_new in cases]
    assert all(after[fell] <= before[fell] * (1 + 1e-9))
    assert all(still[fell] >= sure[fell])
    assert doubt >= doubt_now


def test_chance_of_any_false_alarm_by_enumeration() -> None:
    """Over all outcomes of three unchanged cases it is at most the level, whatever the rates."""
    n, level = 4, 0.05
    for rates in ((0.5, 0.5, 0.5), (0.9, 0.2, 0.7), (0.99, 0.5, 0.01)):
        alarms = 0.0
        weights = [[_binomial(n, c, rate) for c in range(n + 1)] for rate in rates]
        for drawn in itertools.product(range(n + 1), repeat=6):
            cases = [(n, drawn[2 * i], n, drawn[2 * i + 1]) for i in range(3)]
            if all(c_new >= c_old for _, c_old, _, c_new in cases):
                continue
            one = pair(cases)
            counting = Counting.of([one])
            p_values = one.p_values(np.arange(3))
            sure = counting.are_beyond_rises(p_values) & (counting.adjusted(p_values) <= level)
            fell = one.after.means < one.before.means
            if (sure & fell).any():
                alarms += float(
                    np.prod(
                        [weights[i][drawn[2 * i]] * weights[i][drawn[2 * i + 1]] for i in range(3)]
                    )
                )
        assert alarms <= level


def _binomial(n: int, c: int, rate: float) -> float:
    return math.comb(n, c) * rate**c * (1 - rate) ** (n - c)


def test_graded_cases_that_did_not_fall_count_where_they_vary() -> None:
    """Any of them could have shown as much; one whose scores are all alike could not."""
    before = Attempts.of([(0.5, 0.7, 0.6), (0.5, 0.5, 0.5), (1.0, 1.0, 1.0), (1.0, 0.9, 1.0)])
    after = Attempts.of([(0.6, 0.7, 0.5), (0.5, 0.5, 0.5), (1.0, 1.0, 1.0), (0.0, 0.1, 0.0)])
    assert SuitePair(before, after).rival_least().tolist() == [0.0, 1.0, 1.0]
    counting = Counting.of([SuitePair(before, after)])
    assert counting.adjusted(np.array([0.05])).tolist() == pytest.approx([0.15])
