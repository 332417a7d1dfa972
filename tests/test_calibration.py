"""confidence_calibration: the source's examples, errors, oracles."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy.stats import binomtest

from scorekit.calibration import DEFAULT_NOMINAL, confidence_calibration

ACCURATE = "Confidence levels accurately predict correctness"
PARTLY = "Confidence levels partly predict correctness"
NOT = "Confidence does not predict correctness"
OVERCONFIDENT = "Model is overconfident - high confidence not reliable"
INSUFFICIENT = "Insufficient data for calibration (need ≥ 20 cases)"
UNDEFINED = "Slope undefined (need cases at ≥ 2 levels of different nominal accuracy)"

Counts = dict[str, tuple[int, int]]


def _pairs(most: int = 30) -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(0, most).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


COUNTS: st.SearchStrategy[Counts] = st.fixed_dictionaries({x: _pairs() for x in DEFAULT_NOMINAL})
ENOUGH = COUNTS.filter(lambda counts: sum(n for _, n in counts.values()) >= 20)
SCORES = st.lists(
    st.tuples(st.sampled_from(list(DEFAULT_NOMINAL)), st.floats(0, 1)), min_size=20, max_size=60
)


GOOD = {"high": (19, 20), "medium": (12, 15), "low": (4, 10)}
POOR = {"high": (10, 20), "medium": (8, 15), "low": (5, 10)}


def _cases(counts: Counts) -> tuple[list[str], list[bool]]:
    """Write counts out as one level and one outcome per case."""
    rows = [(x, i < c) for x, (c, n) in counts.items() for i in range(n)]
    return [x for x, _ in rows], [outcome for _, outcome in rows]


@pytest.mark.parametrize(("counts", "score", "interpretation", "warnings"), [
    (GOOD, 0.9200, ACCURATE, ()),
    (POOR, 0.1489, NOT, (OVERCONFIDENT,)),
])  # fmt: skip
def test_worked_examples(
    counts: Counts, score: float, interpretation: str, warnings: tuple[str, ...]
) -> None:
    """The two examples of the metric's source, from cases and from counts."""
    result = confidence_calibration(counts)
    assert round(present(result.score), 4) == score
    assert (result.interpretation, result.warnings) == (interpretation, warnings)
    assert (result.n_cases, result.overconfident) == (45, bool(warnings))
    levels, correct = _cases(counts)
    assert confidence_calibration(levels, correct=correct) == result


@pytest.mark.parametrize(("counts", "score", "interpretation"), [
    # level accuracies 1/2 and 1 at nominal 0 and 1: slope 1/2, ece 1/4
    ({"no": (5, 10), "yes": (10, 10)}, 0.55, PARTLY),
    # accuracies 0 and 3/4: slope 3/4, ece 1/8 of all
    ({"no": (0, 10), "yes": (15, 20)}, 0.2 * (1 - 1 / 6) + 0.6, PARTLY),
    # accuracies 1/9 and 8/9: slope 7/9, ece 1/9, score exactly 4/5
    ({"no": (2, 18), "yes": (16, 18)}, 0.8, ACCURATE),
    # accuracies 4/9 and 8/9: slope 4/9, ece 5/18, score exactly 1/2
    ({"no": (8, 18), "yes": (16, 18)}, 0.5, PARTLY),
    # accuracies 1 and 0: everything wrong
    ({"no": (10, 10), "yes": (0, 10)}, 0.0, NOT),
])  # fmt: skip
def test_scores_by_hand_and_their_words(counts: Counts, score: float, interpretation: str) -> None:
    """Nominal 0 and 1 make the formula short enough for hand work; a score on a limit is above."""
    result = confidence_calibration(counts, nominal={"no": 0, "yes": 1})
    assert result.score == pytest.approx(score, rel=1e-15)
    assert result.interpretation == interpretation


STEEP = "Correctness rises faster than confidence"


@pytest.mark.parametrize(("counts", "slope", "words"), [
    # accuracies 0.99 and 0.005 at nominal 0.9 and 0.4: slope 1.97
    ({"high": (198, 200), "low": (1, 200)}, 1.97,
        f"{STEEP}: underconfident at the top, overconfident at the bottom"),
    ({"high": (170, 200), "low": (0, 200)}, 1.7, f"{STEEP}: overconfident, most at the bottom"),
    ({"high": (180, 200), "low": (0, 200)}, 1.8, f"{STEEP}: overconfident at the bottom"),
    ({"mid": (200, 200), "low": (60, 200)}, 1.75, f"{STEEP}: underconfident at the top"),
    ({"mid": (200, 200), "low": (62, 200)}, 1.725, f"{STEEP}: underconfident, most at the top"),
    # the middle level decides the slope, and the ends lie on the other sides
    ({"high": (85, 100), "medium": (0, 100), "low": (1, 1)}, None, STEEP),
])  # fmt: skip
def test_a_steep_slope_is_no_lack_of_prediction(
    counts: Counts, slope: float | None, words: str
) -> None:
    """Confidence that understates how far answers differ predicts correctness all too well."""
    nominal = {"high": 0.9, "medium": 0.7, "mid": 0.7, "low": 0.3 if "mid" in counts else 0.4}
    result = confidence_calibration(counts, nominal=nominal)
    assert present(result.score) < 0.5
    assert slope is None or result.slope == pytest.approx(slope)
    assert result.interpretation == words


def test_nothing_is_judged_below_min_cases_and_the_levels_are_still_shown() -> None:
    """Nineteen cases give no score and, however bad, no word on overconfidence; twenty do."""
    few = confidence_calibration({"high": (0, 10), "low": (9, 9)})
    assert (few.score, few.interpretation, few.ece, few.slope) == (None,) * 4
    assert (few.overconfident, few.warnings) == (False, (INSUFFICIENT,))
    found = [(x.level, x.n_cases, x.accuracy, x.interval is None) for x in few.levels]
    assert found == [("high", 10, 0.0, False), ("medium", 0, None, True), ("low", 9, 1.0, False)]
    enough = confidence_calibration({"high": (0, 10), "low": (10, 10)})
    assert (enough.score is None, enough.warnings) == (False, (OVERCONFIDENT,))
    other = confidence_calibration({"high": (9, 10)}, min_cases=11)
    assert other.warnings == ("Insufficient data for calibration (need ≥ 11 cases)",)


@pytest.mark.parametrize(("counts", "nominal"), [
    ({"high": (5, 20)}, DEFAULT_NOMINAL),
    ({"high": (5, 20), "low": (0, 0)}, DEFAULT_NOMINAL),
    ({"sure": (5, 20), "certain": (1, 5), "unsure": (0, 0)}, {"sure": 0.9, "certain": 0.9}),
    ({"only": (10, 30)}, {"only": 1 / 3}),
])  # fmt: skip
def test_no_slope_no_score(counts: Counts, nominal: dict[str, float]) -> None:
    """Levels of one nominal accuracy cannot show that confidence predicts anything."""
    result = confidence_calibration(counts, nominal={"unsure": 0.1, **nominal})
    assert (result.score, result.interpretation, result.slope) == (None, None, None)
    assert result.ece is not None
    assert result.warnings == (UNDEFINED, *[OVERCONFIDENT] * result.overconfident)
    assert result.overconfident == ("only" not in counts)


@pytest.mark.parametrize(("counts", "nominal", "overconfident"), [
    # Wilson's 95 % interval ends at 0.8881 for 15/20 and at 0.9306 for 16/21
    ({"high": (15, 20), "low": (4, 10)}, {"high": 0.9, "low": 0.4}, True),
    ({"high": (16, 20), "low": (4, 10)}, {"high": 0.9, "low": 0.4}, False),
    # the highest level is that of the largest number, not the first nor the one called so
    ({"high": (0, 20), "low": (19, 20)}, {"high": 0.4, "low": 0.9}, False),
    # of two highest levels either will do
    ({"a": (20, 20), "b": (0, 20), "c": (1, 2)}, {"a": 0.9, "b": 0.9, "c": 0.5}, True),
    # the highest level has no cases
    ({"medium": (0, 20), "low": (4, 10)}, DEFAULT_NOMINAL, False),
])  # fmt: skip
def test_overconfidence(counts: Counts, nominal: dict[str, float], *, overconfident: bool) -> None:
    """It takes the upper end of the highest level's interval below that level's nominal."""
    assert confidence_calibration(counts, nominal=nominal).overconfident is overconfident


def test_a_higher_confidence_takes_more_to_call_a_model_overconfident() -> None:
    """The level of confidence reaches the intervals and what rests on them."""
    result = confidence_calibration({"high": (15, 20), "low": (4, 10)}, confidence_level=0.99)
    assert not result.overconfident
    assert [x.interval.confidence_level for x in result.levels if x.interval] == [0.99, 0.99]


@given(
    st.lists(
        st.integers(1, 40).flatmap(lambda d: st.tuples(st.integers(0, d), st.just(d))),
        min_size=2,
        max_size=5,
    ),
    st.integers(20, 1000),
)
def test_one_exactly_when_every_accuracy_equals_its_nominal(
    parts: list[tuple[int, int]], factor: int
) -> None:
    """0.9 and 18/20 differ as binary numbers, 1/3 and 10/30 as decimal ones; neither may cost the
    score its 1.0, and a single case off its place must.
    """
    assume(len({Fraction(*part) for part in parts}) > 1)
    nominal = {str(i): c / d for i, (c, d) in enumerate(parts)}
    counts = {str(i): (c * factor, d * factor) for i, (c, d) in enumerate(parts)}
    result = confidence_calibration(counts, nominal=nominal)
    assert (result.score, result.ece, result.slope) == (1.0, 0.0, 1.0)
    c, n = counts["0"]
    off = confidence_calibration({**counts, "0": (c - 1 if c else 1, n)}, nominal=nominal)
    assert present(off.score) < 1.0


@given(st.lists(st.integers(0, 30), min_size=10, max_size=10))
def test_decimal_scores_add_up_as_decimals(shifts: list[int]) -> None:
    """Scores around 0.7 and 0.4 whose decimal means are these: as floats their means may miss."""
    rows = [
        (level, (middle + sign * shift) / 100)
        for level, middle in (("medium", 70), ("low", 40))
        for shift in shifts
        for sign in (1, -1)
    ]
    result = confidence_calibration([x for x, _ in rows], correct=[y for _, y in rows])
    assert [x.accuracy for x in result.levels] == [None, 0.7, 0.4]
    assert (result.score, result.ece, result.slope) == (1.0, 0.0, 1.0)


@given(ENOUGH)
def test_score_equals_the_formula_in_rationals(counts: Counts) -> None:
    """Oracle: the formula in rationals, the slope by the normal equations over single cases."""
    nominal = {"high": Fraction(9, 10), "medium": Fraction(7, 10), "low": Fraction(2, 5)}
    levels, correct = _cases(counts)
    x, n = [nominal[level] for level in levels], len(levels)
    result = confidence_calibration(counts)
    ece = sum(abs(c - nominal[level] * m) for level, (c, m) in counts.items()) / n
    assert result.ece == float(ece)
    if len(set(x)) > 1:
        x_sum = sum(x)
        xy_sum = sum(v for v, flag in zip(x, correct, strict=True) if flag)
        slope = (n * xy_sum - x_sum * sum(correct)) / (n * sum(v * v for v in x) - x_sum * x_sum)
        fit = 1 - abs(1 - slope)
        score = (1 - ece) / 5 + (fit * 4 / 5 if fit > 0 else 0)
        words = ACCURATE if score * 5 >= 4 else PARTLY if score * 2 >= 1 else NOT
        assert (result.slope, result.score) == (float(slope), float(score))
        found = present(result.interpretation)
        assert found == words or (words == NOT and slope > 1 and found.startswith(STEEP))


@given(SCORES)
def test_slope_is_that_of_a_weighted_fit(rows: list[tuple[str, float]]) -> None:
    """Oracle: numpy.polyfit through the levels' means, weighted by their numbers of cases."""
    groups = {x: [score for level, score in rows if level == x] for x in DEFAULT_NOMINAL}
    present = {x: scores for x, scores in groups.items() if scores}
    assume(len(present) > 1)
    result = confidence_calibration([x for x, _ in rows], correct=[score for _, score in rows])
    fit = np.polyfit(
        [DEFAULT_NOMINAL[x] for x in present],
        [statistics.fmean(scores) for scores in present.values()],
        deg=1,
        w=[math.sqrt(len(scores)) for scores in present.values()],
    )
    assert result.slope == pytest.approx(float(fit[0]), rel=1e-9, abs=1e-9)


@given(COUNTS.filter(lambda counts: any(n for _, n in counts.values())))
def test_intervals_are_wilsons(counts: Counts) -> None:
    """Oracle: SciPy's Wilson interval of each level that has cases."""
    for level in confidence_calibration(counts).levels:
        n_correct, n_cases = counts[level.level]
        if not n_cases:
            assert (level.accuracy, level.interval) == (None, None)
            continue
        expected = binomtest(n_correct, n_cases).proportion_ci(method="wilson")
        assert level.accuracy == n_correct / n_cases
        assert ends(level.interval) == pytest.approx((expected.low, expected.high), abs=1e-14)


@given(SCORES, st.randoms(use_true_random=False))
def test_laws(rows: list[tuple[str, float]], random: Any) -> None:
    """Results keep to their ranges, do not depend on the order of cases, and survive storage."""
    result = confidence_calibration([x for x, _ in rows], correct=[score for _, score in rows])
    assert 0.0 <= present(result.ece) <= 1.0
    assert result.score is None or 0.0 <= result.score <= 1.0
    assert (result.score is None) == (result.slope is None) == (UNDEFINED in result.warnings)
    assert result.overconfident == (OVERCONFIDENT in result.warnings)
    random.shuffle(rows)
    levels, correct = zip(*rows, strict=True)
    assert confidence_calibration(levels, correct=correct) == result


@given(COUNTS.filter(lambda counts: any(n for _, n in counts.values())), st.integers(1, 40))
def test_cases_and_counts_give_the_identical_result(counts: Counts, min_cases: int) -> None:
    """Whether correctness comes counted, as booleans, as 1.0 and 0.0, or mixed."""
    levels, correct = _cases(counts)
    expected = confidence_calibration(counts, min_cases=min_cases)
    mixed = [flag if i % 2 else float(flag) for i, flag in enumerate(correct)]
    for column in (correct, list(map(float, correct)), list(map(int, correct)), mixed):
        assert confidence_calibration(levels, correct=column, min_cases=min_cases) == expected


def test_extreme_counts_and_scores() -> None:
    """The largest counts allowed, the smallest scores there are, and scores beyond 15 decimals;
    NumPy's booleans come out of comparisons on arrays.
    """
    most = 2**53
    assert confidence_calibration({"high": (most, most), "low": (0, most)}).slope == 2.0
    columns: list[tuple[list[Any], float]] = [([5e-324] * 3, 5e-324), ([1 / 3] * 3, 1 / 3)]
    for column, expected in (*columns, ([np.True_, np.False_, 0.5], 0.5)):
        result = confidence_calibration(["high"] * 3, correct=column)
        assert result.levels[0].accuracy == expected


LEVELS = "one of 'high', 'medium', 'low' (see nominal)"
NO_NUMBERS = LEVELS.replace("nominal", "nominal; for numbers calibration_error")


@refusals("""
levels="hi" -> TypeError: levels must be a non-empty sequence of level names, got 'hi'
levels=[] -> InputError: levels must be a non-empty sequence of level names, got ()
levels=["high", "sure"] -> InputError: levels[1] must be {LEVELS}, got 'sure'
levels=["High", "low"] -> InputError: levels[0] must be {LEVELS}, got 'High'
levels=["low", None] -> TypeError: levels[1] must be {LEVELS}, got None
levels=[["low"], "low"] -> TypeError: levels[0] must be {LEVELS}, got ['low']
levels=np.array([3, 1]) -> TypeError: levels[0] must be {NO_NUMBERS}, got 3
correct="ab" -> TypeError: correct must be a non-empty sequence of booleans or scores, got 'ab'
correct=[] -> InputError: correct must be a non-empty sequence of booleans or scores, got ()
correct=[True] -> InputError: correct and levels must be equally long, got 1 and 2
correct=[True, 2] -> InputError: correct[1] must be a number in [0, 1], got 2
correct=[-0.1, 1.0] -> InputError: correct[0] must be a number in [0, 1], got -0.1
correct=np.array([1.0, math.nan]) -> InputError: correct[1] must be a number in [0, 1], got nan
correct=[True, None] -> TypeError: correct[1] must be a number in [0, 1], got None
correct=["1", 0]
    -> TypeError: correct[0] must be True or False, or a number in [0, 1] (if '1' stands for
    True: [x == '1' for x in correct]), got '1'
nominal=0.9 -> TypeError: nominal must be a mapping, got 0.9
nominal={} -> InputError: nominal must be a mapping of at least one level, got {}
nominal={"high": 90}
    -> InputError: nominal['high'] must be a number in [0, 1] (a share: 0.9 for 90 %), got 90
nominal={"high": True} -> TypeError: nominal['high'] must be a number in [0, 1], got True
nominal={1: 0.5} -> TypeError: a key of nominal must be a non-empty string, got 1
nominal={"": 0.5} -> InputError: a key of nominal must be a non-empty string, got ''
min_cases=0 -> InputError: min_cases must be an integer >= 1, got 0
min_cases=2.5 -> TypeError: min_cases must be an integer >= 1, got 2.5
""")
def test_errors(wrong: Refusal) -> None:
    """A bad entry is named by its position."""
    given_by_default: dict[str, Any] = {"levels": ["high", "low"], "correct": [True, False]}
    wrong.by(confidence_calibration, **given_by_default)


@refusals("""
correct=[True]
    -> TypeError: correct must be None where levels is a mapping of counts, got [True]
levels={} -> InputError: levels must be a mapping with at least one case, got {}
levels={"high": (0, 0)}
    -> InputError: levels must be a mapping with at least one case, got {'high': (0, 0)}
levels={"sure": (1, 2)} -> InputError: a key of levels must be {LEVELS}, got 'sure'
levels={1: (1, 2)} -> TypeError: a key of levels must be {NO_NUMBERS}, got 1
levels={"low": 5} -> TypeError: levels['low'] must be a non-empty sequence of counts, got 5
levels={"low": (5,)} -> InputError: levels['low'] must be a pair (n_correct, n_cases), got (5,)
levels={"low": (3, 2)}
    -> InputError: levels['low'][0] must be an integer in [0, n_cases = 2], got 3
levels={"low": (0.5, 2)}
    -> TypeError: levels['low'][0] must be an integer in [0, n_cases = 2], got 0.5
levels={"low": (0, -1)}
    -> InputError: levels['low'][1] must be an integer in [0, 9007199254740992], got -1
nominal=None -> TypeError: nominal must be a mapping, got None
min_cases=True -> TypeError: min_cases must be an integer >= 1, got True
min_cases=10**5000
    -> InputError: min_cases must be an integer of at most 2**53, got <int of 16610 bits>
levels={"a": (0, 20), "b": (20, 20)}, nominal={"a": 0, "b": 5e-324}
    -> InputError: slope must be a finite number, got Fraction(2000...
levels=[np.array([1, 2])], correct=[True]
    -> TypeError: levels[0] must be one of 'high', 'medium', 'low' (see nominal), got array([1,
    2])
""")
def test_count_errors(wrong: Refusal) -> None:
    """Each message names the level, which of its two counts, the domain and the value."""
    wrong.by(confidence_calibration, levels={"high": (1, 2)})
