"""rubric_score: worked values, the usual mistakes, every documented error, exact oracles."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from refusals import Refusal, refusals

from scorekit import rubric_score
from scorekit.strategies import rubrics

Drawn = tuple[list[list[int]], list[list[bool | None]]]


def _exact(points: list[int], met: Any) -> Fraction:
    earned = sum(p for p, m in zip(points, met, strict=True) if m)
    return Fraction(earned, sum(p for p in points if p > 0))


def _ends(points: list[list[int]], met: list[list[bool | None]]) -> tuple[Fraction, Fraction]:
    """Settle all criteria that nobody judged in every way."""
    low = high = Fraction(0)
    for rubric, answers in zip(points, met, strict=True):
        ways = [[True, False] if m is None else [m] for m in answers]
        scores = [_exact(rubric, way) for way in product(*ways)]
        low, high = low + min(scores), high + max(scores)
    return low / len(points), high / len(points)


@given(rubrics())
def test_against_fractions(drawn: Drawn) -> None:
    """Score, bounds and lowest score, by exact arithmetic and by enumeration."""
    points, met = drawn
    result = rubric_score(points, met)
    known = [_exact(p, m) for p, m in zip(points, met, strict=True) if None not in m]
    assert result.n_unjudged == len(points) - len(known)
    assert result.n_without_points == 0
    if known:
        mean = min(max(sum(known, Fraction(0)) / len(known), Fraction(0)), Fraction(1))
        assert result.score == pytest.approx(float(mean), abs=1e-15)
        assert result.interval.low <= mean + 1e-12
        assert result.interval.high >= mean - 1e-12
    else:
        assert result.score is None
    ends = [float(min(max(end, Fraction(0)), Fraction(1))) for end in _ends(points, met)]
    assert result.bounds == pytest.approx(ends, abs=1e-15)
    assert 0.0 <= result.interval.low <= result.interval.high <= 1.0


@pytest.mark.parametrize(
    ("points", "met", "scores", "score"),
    [
        # cutting each example to [0, 1] would give 0.5, and hide the harm of the second
        ([[4, -8], [4, -8]], [[True, False], [False, True]], (1.0, -2.0), 0.0),
        # with negative points in the denominator the best answer could not score 1
        ([6, 4, -10], [True, True, False], (1.0,), 1.0),
        ([1, -1e100], [True, False], (1.0,), 1.0),
        # columns of one example are an example
        ([3, 1], [True, False], (0.75,), 0.75),
        ([[3, 1]], [[1, 0]], (0.75,), 0.75),
        (np.array([[3, 1]]), np.array([[True, False]]), (0.75,), 0.75),
    ],
)
def test_worked_values(points: Any, met: Any, scores: tuple[float, ...], score: float) -> None:
    """By hand; the interval holds the score, also beside a loss that leaves no digits."""
    result = rubric_score(points, met)
    assert (result.scores, result.score) == (scores, score)
    assert result.interval.low <= score <= result.interval.high


def test_an_example_without_positive_points_is_left_out_and_counted() -> None:
    """It has no score: nothing could be earned."""
    result = rubric_score([[3, 1], [-2]], [[True, False], [True]])
    assert (result.score, result.scores, result.n_without_points) == (0.75, (0.75, None), 1)
    assert "1 without positive points left out" in str(result)


def test_the_interval_knows_the_lowest_score() -> None:
    """Ten perfect answers do not show that none does harm."""
    perfect = [[True, False]] * 10
    harmless = rubric_score([[5, 0]] * 10, perfect)
    harmful = rubric_score([[5, -20]] * 10, perfect)
    assert (harmless.lowest, harmful.lowest) == (0.0, -4.0)
    assert harmful.interval.low < harmless.interval.low < 1.0


def test_clusters_widen() -> None:
    """Answers to one question tell less than as many questions."""
    points, met = [[1]] * 12, [[i % 3 > 0] for i in range(12)]
    alone = rubric_score(points, met).interval
    together = rubric_score(points, met, clusters=[i // 3 for i in range(12)]).interval
    assert alone != together


@refusals("""
rubric_score([-1], [True])
    -> InputError: points must be positive for some criterion, got [-1]...
rubric_score([1, 2], [True]) -> InputError: met and points must be equally long, got 1 and 2...
rubric_score([[1], [2]], [[True]])
    -> InputError: met and points must be equally long, got 1 and 2...
rubric_score([[1, 2]], [[True]])
    -> InputError: met[0] and points[0] must be equally long, got 1 and 2...
rubric_score([1], [2]) -> TypeError: met[0] must be True or False, got 2...
rubric_score([1], ["yes"]) -> TypeError: met[0] must be True or False, got 'yes'...
rubric_score([float("nan")], [True])
    -> InputError: points[0] must be a number in [-1e+100, 1e+100]...
rubric_score([1e-300, -1e100], [True, True])
    -> InputError: points must be positive points that are not so small beside the negative
    ones, got...
rubric_score(["3"], [True])
    -> TypeError: points[0] must be a number in [-1e+100, 1e+100], got '3'...
rubric_score([], [])
    -> InputError: points must be a non-empty sequence of points or of rubrics, got ()...
""")
def test_errors(wrong: Refusal) -> None:
    """Each names the argument, its domain and the value."""
    wrong.by_itself()


def test_bounds_stand_before_the_score_of_the_examples_judged() -> None:
    """The score may lie outside them: what is unknown is a bound, and that is the result."""
    points = [[1, -3], [4], [4, 4]]
    result = rubric_score(points, [[False, True], [False], [None, None]])
    low, high = result.bounds
    assert str(result).startswith(
        f"between {low:.4g} and {high:.4g} (1 of 3 not fully judged; 0 [0, "
    )
    assert str(result).endswith("] over the other 2 examples)")
