"""Bands of whole curves: against single intervals, and against curves that are drawn anew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from scorekit._stats.curves import (
    DifferenceBand,
    chances_at,
    curve_band,
    difference_band,
    pointwise_level,
)
from scorekit._stats.passes import estimate_suite
from scorekit._stats.suites import Suite

RNG = np.random.default_rng(5)
N = np.full(40, 20)
RIGHT = RNG.binomial(20, RNG.beta(0.6, 0.6, 40))
KS = (1, 2, 3, 5, 10, 20)


def band(lows: list[float], highs: list[float]) -> DifferenceBand:
    """Return a band with these ends."""
    ks = range(1, len(lows) + 1)
    return DifferenceBand(ks, np.zeros(len(lows)), np.array(lows), np.array(highs), 9)


def test_points_that_are_one_need_no_wider_interval_and_independent_ones_sidak() -> None:
    """The two ends of what correlation can do; the second is Sidak's level."""
    column = RNG.normal(size=(500, 1))
    same = np.repeat(column, 8, axis=1)
    assert pointwise_level(same, 0.95) == pytest.approx(0.95, abs=0.002)
    square = np.linalg.qr(RNG.normal(size=(500, 9)) - 0.0)[0]
    apart = square - square.mean(axis=0)
    assert pointwise_level(apart[:, :8], 0.95) == pytest.approx(0.95 ** (1 / 8), abs=0.001)


def test_a_band_holds_each_single_interval_and_lies_within_bonferroni() -> None:
    """At every k."""
    ends = curve_band(N, RIGHT, KS, 0.95)
    single, split = (
        [one["interval"] for one in estimate_suite(Suite(N, level, "drop"), RIGHT, KS)]
        for level in (0.95, 1 - 0.05 / len(KS))
    )
    for (low, high), one, other in zip(ends, single, split, strict=True):
        assert other.low <= low <= one.low
        assert one.high <= high <= other.high
    assert curve_band(N, RIGHT, (3,), 0.95) == [(single[2].low, single[2].high)]


def test_one_difference_has_students_interval() -> None:
    """Oracle: scipy's paired t."""
    others = RNG.binomial(20, 0.5, 40)
    deltas = chances_at(N, RIGHT, (2,)) - chances_at(N, others, (2,))
    found = difference_band((2,), deltas, deltas, deltas, 0.95)
    wanted = stats.ttest_1samp(deltas[:, 0], 0.0).confidence_interval(0.95)
    assert (found.lows[0], found.highs[0]) == pytest.approx((wanted.low, wanted.high), abs=1e-9)
    assert found.deltas[0] == pytest.approx(deltas.mean())


def test_what_is_unknown_moves_one_end_each() -> None:
    """The least differences bound from below, the greatest from above."""
    known = chances_at(N, RIGHT, KS) - 0.5
    found = difference_band(KS, known, known - 0.1, known + 0.2, 0.95)
    plain = difference_band(KS, known, known, known, 0.95)
    assert found.lows == pytest.approx(plain.lows - 0.1)
    assert found.highs == pytest.approx(plain.highs + 0.2)


def test_equal_differences_do_not_show_their_error() -> None:
    """Nor does a single task: neither interval is a point."""
    for n_tasks in (1, 12):
        alike = np.full((n_tasks, 2), 0.25)
        found = difference_band((1, 2), alike, alike, alike, 0.95)
        assert (found.lows < 0.25 - 0.2).all()
        assert (found.highs > 0.25).all()
        assert (found.lows > -1.0).all() == (n_tasks > 1)


@pytest.mark.parametrize(("lows", "highs", "said"), [
    ([-0.1, -0.1, -0.1], [0.1, 0.1, 0.1], "not told apart"),
    ([-0.1, 0.1, 0.2], [0.1, 0.3, 0.3], "ahead from k = 2 on"),
    ([0.1, 0.1, 0.2], [0.2, 0.3, 0.3], "ahead at every k"),
    ([-0.3, -0.3, -0.2], [-0.2, -0.1, 0.1], "behind up to k = 2"),
    ([-0.3, -0.3, -0.2], [-0.2, 0.1, 0.1], "behind up to k = 1"),
    ([-0.1, -0.1, 0.2], [0.1, 0.3, 0.3], "ahead at k = 3"),
    ([-0.1, 0.1, 0.1, -0.1], [0.2] * 4, "ahead from k = 2 to 3"),
    ([-0.1, 0.1, -0.1, -0.1], [0.2] * 4, "ahead at k = 2"),
    ([0.1, -0.1, 0.1, -0.1], [0.2] * 4, "ahead at 2 of 4 k"),
    ([0.1, -0.1, -0.3], [0.2, 0.1, -0.2], "ahead up to k = 1, behind at k = 3"),
    ([0.1], [0.2], "ahead at k = 1"),
])  # fmt: skip
def test_where_a_curve_is_ahead_in_words(lows: list[float], highs: list[float], said: str) -> None:
    """By the band alone."""
    assert band(lows, highs).verdict() == said


def test_a_band_holds_the_whole_curve() -> None:
    """Simulated: 30 tasks, 200 suites, all of ten numbers of attempts at once."""
    rng, ks, held = np.random.default_rng(8), range(1, 11), 0
    rates = rng.beta(0.6, 0.6, 200_000)
    truth = np.array([(1 - (1 - rates) ** k).mean() for k in ks])
    for _ in range(200):
        n = np.full(30, 20)
        c = rng.binomial(20, rng.choice(rates, 30))
        lows, highs = np.array(curve_band(n, c, ks, 0.95)).T
        held += bool(((lows <= truth) & (truth <= highs)).all())
    assert held >= 182
