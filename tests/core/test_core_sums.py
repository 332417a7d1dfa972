"""Exact sums of columns: `math.fsum` to the last bit, whatever the values."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scorekit._core.sums import exact_mean, exact_means, exact_sum

NUMBERS = (
    st.floats(0, 1)
    | st.sampled_from([0.0, 0.1, 0.58, 1.0, 1 / 3, 5e-324, 2.0**-1022])
    | st.floats(-1e300, 1e300)
)
COLUMNS = st.lists(NUMBERS, min_size=1, max_size=250) | st.lists(
    st.floats(0.001, 1) | st.just(0.0), min_size=1, max_size=250
)


@given(COLUMNS)
def test_sums_and_means_are_those_of_the_standard_library(values: list[float]) -> None:
    """Oracle: fsum and fmean."""
    column = np.array(values)
    assert exact_sum(column) == math.fsum(values)
    assert exact_mean(column) == fmean(values)


@given(COLUMNS, st.integers(1, 5))
@example([0.0, 1.1630084131610187e-147, 5.703050772027744e191], 2)
def test_means_of_groups(values: list[float], n_groups: int) -> None:
    """Oracle: fsum of each group, over its size."""
    group_of = np.arange(len(values)) % min(n_groups, len(values))
    sizes = np.bincount(group_of)
    column = np.array(values)
    expected = [math.fsum(column[group_of == i]) / n for i, n in enumerate(sizes.tolist())]
    assert exact_means(column, group_of, sizes).tolist() == expected


def test_many_values() -> None:
    """Of a million scores nothing is lost, also where they cancel."""
    scores = np.random.default_rng(0).random(10**6)
    assert exact_sum(scores) == math.fsum(scores.tolist())
    both = np.concatenate([scores, -scores[1:]])
    assert exact_sum(both) == math.fsum(both.tolist())
    group_of = np.arange(10**6) % 1000
    sizes = np.bincount(group_of)
    expected = [math.fsum(part) / 1000 for part in scores.reshape(1000, 1000).T.tolist()]
    assert exact_means(scores, group_of, sizes).tolist() == expected


def test_what_no_float_holds_is_no_sum() -> None:
    """As with fsum: the caller says which column it was."""
    with pytest.raises(OverflowError):
        exact_sum(np.array([1e308, 1e308]))
