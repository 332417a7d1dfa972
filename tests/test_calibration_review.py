"""review_threshold: what may go out unreviewed, by enumeration, simulation and its errors."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from outcomes import ends
from refusals import Refusal, refusals

from scorekit import ReviewThreshold, review_threshold

ANSWERS = st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=120)


def _exact_p(n: int, n_wrong: int, rate: Fraction) -> Fraction:
    """Return the chance of so few wrong ones in rational numbers."""
    return sum(
        (math.comb(n, i) * rate**i * (1 - rate) ** (n - i) for i in range(n_wrong + 1)),
        Fraction(),
    )


@given(ANSWERS, st.sampled_from([0.05, 0.1, 0.3]))
def test_the_fallback_procedure(answers: list[tuple[int, bool]], max_error: float) -> None:
    """Oracle: the procedure in plain loops over all thresholds, with exact binomial chances."""
    sure, right = zip(*answers, strict=True)
    result = review_threshold(sure, right, max_error=max_error)
    n, rate = len(answers), Fraction(str(max_error))

    def needed(level: float) -> int:
        return next(k for k in range(1, 10_000) if (1 - max_error) ** k <= level)

    size = next(j for j in range(1, 99) if needed(0.05 / (j + 1)) * 2**j > n)
    first = needed(0.05 / size)
    starts = [first]
    if size > 1:
        starts = [round(first * (n / first) ** (i / (size - 1))) for i in range(size)]
    assert result.n_needed == needed(0.05)
    left, begun, found = 0.0, 0, None
    values = sorted(set(sure), reverse=True)
    for value in values:
        passed = [ok for one, ok in answers if one >= value]
        if len(passed) < starts[0]:
            continue
        due = sum(start <= len(passed) for start in starts)
        left, begun = left + 0.05 * (due - begun) / len(starts), due
        if _exact_p(len(passed), passed.count(False), rate) <= left:
            found = value
        else:
            left = 0.0
    assert result.threshold == found
    if found is not None:
        passed = [ok for one, ok in answers if one >= found]
        assert (result.n_passed, result.share) == (len(passed), len(passed) / n)
        assert result.error == passed.count(False) / len(passed) <= max_error
        assert ends(result.interval) == (0.0, max_error)
    words = [f"w{one}" for one in sure]
    named = review_threshold(words, right, max_error=max_error, order=[f"w{i}" for i in range(10)])
    assert named.threshold == (None if found is None else f"w{found}")
    assert (named.share, named.error) == (result.share, result.error)


def test_all_pass_or_none() -> None:
    """All right, all wrong, and ten answers, which show nothing at 5 %."""
    sure = np.linspace(0, 1, 100)
    result = review_threshold(sure, [True] * 100, max_error=0.05)
    assert (result.threshold, result.share, result.error) == (0.0, 1.0, 0.0)
    for n, right in [(100, False), (10, True)]:
        result = review_threshold(sure[:n], [right] * n, max_error=0.05)
        assert (result.threshold, result.share, result.error) == (None, 0.0, None)
        assert result.interval is None
        assert (": it takes 59 that are all right" in str(result)) == (n == 10)
    same = review_threshold([0.9] * 300, [True] * 297 + [False] * 3, max_error=0.05)
    assert (same.threshold, same.share) == (0.9, 1.0)
    assert review_threshold([1], [1], max_error=0.999, confidence_level=0.5).threshold == 1.0


def test_any_scale_and_ties_that_pass_together() -> None:
    """Only the order of numbers counts, and answers as sure as each other go the same way."""
    rng = np.random.default_rng(1)
    margins = np.round(rng.normal(0, 3, 400))
    right = rng.random(400) < 1 / (1 + np.exp(-2 - margins))
    result = review_threshold(margins, right, max_error=0.1)
    moved = review_threshold(7 - 2 * -margins, right, max_error=0.1)
    assert result.threshold in set(margins.tolist())
    assert isinstance(result.threshold, float)
    assert moved.threshold == 7 + 2 * result.threshold
    assert result.n_passed == int(np.count_nonzero(margins >= result.threshold))
    assert ReviewThreshold.from_dict(result.to_dict()) == result


World = tuple[NDArray[np.float64], NDArray[np.float64]]


@pytest.mark.sampled
@pytest.mark.parametrize("kind", ["just too bad", "calibrated", "worst at the top"])
def test_what_passes_is_seldom_wrong_more_often(kind: str) -> None:
    """Simulation: the true error of what passes is above the limit in at most 5 %."""
    rng, n_above, repetitions = np.random.default_rng(2), 0, 400
    for _ in range(repetitions):
        sure = rng.beta(5, 1, 300)
        rates = {
            "just too bad": np.full(300, 0.899),
            "calibrated": sure,
            "worst at the top": np.where(sure > 0.9, 0.85, 0.95),
        }[kind]
        result = review_threshold(sure, rng.random(300) < rates, max_error=0.1)
        if result.threshold is not None:
            n_above += float(np.mean(1 - rates[sure >= float(result.threshold)])) > 0.1
    assert n_above / repetitions <= 0.05 + 2.6 * math.sqrt(0.05 * 0.95 / repetitions)


@refusals("""
confidences=[], outcomes=[] -> InputError: confidences must be a non-empty sequence of numbers or
    words, got ()
confidences=[0.5], outcomes=[1, 0] -> InputError: confidences and outcomes must be equally long,
    got 1 and 2
confidences=[0.5, math.nan], outcomes=[1, 0] -> InputError: confidences[1] must be a finite number,
    got nan
outcomes=[0.5] -> TypeError: outcomes[0] must be True or False, got 0.5
max_error=0 -> InputError: max_error must be a number in (0, 1), got 0
max_error=5 -> InputError: max_error must be a number in (0, 1) (a share: 0.05 for 5 %), got 5
max_error="5 %" -> TypeError: max_error must be a number in (0, 1), got '5 %'
confidence_level=1 -> InputError: confidence_level must be a number in (0, 1), got 1
confidences=["high"] -> TypeError: confidences must be numbers, or words with order= from the
    lowest to the highest, got 'high'
confidences=["sure"], order=["low", "high"] -> InputError: confidences[0] must be one of 'low',
    'high' (see order), got 'sure'
order=["low", "low"] -> InputError: order must be words that differ, got ('low', 'low')
order=[] -> InputError: order must be a non-empty sequence of words, got ()
order=[1] -> TypeError: order[0] must be a non-empty string, got 1
order="low" -> TypeError: order must be a non-empty sequence of words, got 'low'
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the place, its domain and the value it got."""
    usual: dict[str, Any] = {"confidences": [0.9], "outcomes": [True], "max_error": 0.1}
    arguments = {**usual, **wrong.arguments}
    wrong.when(lambda: review_threshold(**arguments))
