"""judge_agreement and corrected_mean: reference, scikit-learn, statsmodels, coverage, edges."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats
from scipy.optimize import minimize

from scorekit import (
    CorrectedDifference,
    CorrectedMean,
    JudgeAgreement,
    corrected_difference,
    corrected_mean,
    judge_agreement,
    mean_interval,
    proportion_interval,
)

REFERENCE = json.loads((Path(__file__).parent / "data" / "evidence.json").read_text("utf-8"))
Weights = Literal["linear", "quadratic"] | None
WEIGHTS: tuple[Weights, ...] = (None, "linear", "quadratic")

ITEMS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)
SCORES = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0, 1)
LABELED = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=30)


def parted(rows: list[tuple[Any, Any]]) -> tuple[list[Any], list[Any]]:
    """Return two columns."""
    return [a for a, _ in rows], [b for _, b in rows]


def corrected(judged: Any, human: Any, others: Any, **options: Any) -> CorrectedMean:
    """Return the corrected mean of labels with their judgements, and of other judgements."""
    return corrected_mean(judge_labeled=judged, human=human, judge_unlabeled=others, **options)


def test_kappa_reference() -> None:
    """Three weightings, the error, the observed agreement; undefined where nothing varies."""
    row, undefined = REFERENCE["kappa"]
    a, b, expected = row["input"]["a"], row["input"]["b"], row["output"]
    results = {weights: judge_agreement(a, b, weights=weights) for weights in WEIGHTS}
    for weights, result in results.items():
        assert result.score == pytest.approx(expected[weights or "none"], abs=1e-9)
        assert result.accuracy == pytest.approx(expected["p_observed"], abs=1e-9)
    assert results[None].gwet == pytest.approx(expected["gwet_ac1"], abs=1e-9)
    assert results[None].stderr == pytest.approx(expected["se_unweighted"], abs=1e-9)
    result = judge_agreement(undefined["input"]["a"], undefined["input"]["b"])
    assert result.score is undefined["output"]["none"]
    assert (result.stderr, result.interval, result.gwet) == (None,) * 3
    assert result.reason == "both gave every item the same score"
    assert result.accuracy == 1.0


def test_results_read_on_one_line() -> None:
    """What `print` shows, also where there is no kappa."""
    agreed = judge_agreement([1, 0, 1, 1], [1, 0, 0, 1], weights="linear")
    text = "linear kappa 0.5 [-1, 1.0], accuracy 0.75 [0.30, 0.95] (95 %, 4 items)"
    assert str(agreed).splitlines()[0] == text
    same = str(judge_agreement([1, 1], [1, 1]))
    assert same.startswith("kappa none (both gave every item the same score), accuracy 1 [")
    mean = corrected_mean(judge_labeled=[1, 0, 1], human=[1, 0, 0], judge_unlabeled=[1, 1, 0])
    assert str(mean) == (
        "mean 0.33 [0.01, 0.91] (95 %) from 3 labels, 3 judgements not used: "
        "fewer than 25 labels (labels alone: 0.33 [0.01, 0.91], judge alone: 0.67)"
    )


@pytest.mark.parametrize("counts", [(1, 0, 1, 2), (9, 3, 1, 7), (20, 0, 0, 5)])
def test_an_end_of_kappa_is_where_the_likelihood_falls_off(counts: tuple[int, ...]) -> None:
    """Oracle: SciPy's search over all tables, chance being linear; twice its log is t squared."""
    cells = [(0, 0), (0, 1), (1, 0), (1, 1)]  # human and judge
    human, judge = (
        [cell[side] for cell, n in zip(cells, counts, strict=True) for _ in range(n)]
        for side in (0, 1)
    )
    seen, n = np.array(counts, float), sum(counts)
    start = seen / n

    def by_chance(x: Any) -> float:
        return float((x[0] + x[1]) * (x[1] + x[3]) + (x[2] + x[3]) * (x[0] + x[2]))

    steps = np.eye(4) * 1e-6
    slopes = np.array([by_chance(start + d) - by_chance(start - d) for d in steps]) / 2e-6

    def deviance(x: Any) -> float:
        held = seen > 0
        return float(2 * np.sum(seen[held] * np.log(start[held] / x[held])))

    for end in ends(judge_agreement(judge, human).interval):
        if abs(end) >= 1 - 1e-4:  # no table is unlikely enough
            continue
        offsets = [0, 1, 1, 0] - (1 - end) * (slopes - slopes @ start + by_chance(start))
        limits: Any = (
            {"type": "eq", "fun": lambda x: x.sum() - 1},
            {"type": "eq", "fun": lambda x, offsets=offsets: x @ offsets},
        )
        starts = np.random.default_rng(1).dirichlet(np.ones(4), 8)
        found_by_scipy = [
            minimize(deviance, one, bounds=[(1e-9, 1)] * 4, constraints=limits) for one in starts
        ]
        least = min(one.fun for one in found_by_scipy if one.success)
        assert least == pytest.approx(stats.t.isf(0.025, n - 1) ** 2, rel=5e-3)


@given(ITEMS, st.sampled_from(WEIGHTS))
def test_kappa_against_other_libraries(rows: list[tuple[int, int]], weights: Weights) -> None:
    """Oracles: scikit-learn's score over all four labels, statsmodels' error."""
    scikit_learn = pytest.importorskip("sklearn.metrics")
    statsmodels = pytest.importorskip("statsmodels.stats.inter_rater")
    judge, human = parted(rows)
    if len({*judge, *human}) < 2:
        return
    result = judge_agreement(judge, human, weights=weights)
    assert result.score is not None
    assert (result.stderr is None) == (len(rows) == 1)
    theirs = scikit_learn.cohen_kappa_score(judge, human, labels=[0, 1, 2, 3], weights=weights)
    assert result.score == pytest.approx(theirs, abs=1e-12)
    table = np.zeros((4, 4))
    np.add.at(table, (human, judge), 1)
    with np.errstate(all="ignore"):  # it divides by the error of constant judges
        oracle = statsmodels.cohens_kappa(table, wt=weights)
    if result.stderr is not None and oracle.var_kappa > 1e-12:
        assert result.stderr == pytest.approx(oracle.std_kappa, abs=1e-9)
    kept = np.ix_([int(x) for x in result.labels], [int(x) for x in result.labels])
    assert np.array_equal(np.array(result.confusion), table[kept])


@given(ITEMS, st.sampled_from(WEIGHTS))
def test_gwet_equals_exact_rationals(rows: list[tuple[int, int]], weights: Weights) -> None:
    """Oracle: agreement and its chance by Gwet's definition, over every pair of labels."""
    labels = sorted({label for row in rows for label in row})
    q, n = len(labels), len(rows)
    if q == 1:
        return
    span = labels[-1] - labels[0]
    weigh: dict[Any, Callable[[int, int], Fraction]] = {
        None: lambda a, b: Fraction(a == b),
        "linear": lambda a, b: 1 - Fraction(abs(a - b), span),
        "quadratic": lambda a, b: 1 - Fraction(abs(a - b), span) ** 2,
    }
    rates = [Fraction(sum(row.count(label) for row in rows), 2 * n) for label in labels]
    agree = weigh[weights]
    seen = sum((agree(a, b) for a, b in rows), Fraction()) / n
    total = sum((agree(a, b) for a in labels for b in labels), Fraction())
    chance = total / (q * (q - 1)) * sum((rate * (1 - rate) for rate in rates), Fraction())
    result = judge_agreement(*parted(rows), weights=weights)
    assert result.gwet == pytest.approx(float((seen - chance) / (1 - chance)), abs=1e-12)


@given(ITEMS, st.sampled_from(WEIGHTS))
def test_agreement_laws(rows: list[tuple[int, int]], weights: Weights) -> None:
    """Symmetric but for the bias and the turn of the matrix; the scale does not matter."""
    judge, human = parted(rows)
    result = judge_agreement(judge, human, weights=weights)
    turned = judge_agreement(human, judge, weights=weights)
    scaled = judge_agreement([x / 3 for x in judge], [x / 3 for x in human], weights=weights)
    assert turned.score == pytest.approx(result.score, abs=1e-12)
    assert scaled.score == pytest.approx(result.score, abs=1e-12)
    assert turned.gwet == pytest.approx(result.gwet, abs=1e-12)
    assert turned.bias is not None
    assert result.bias == -turned.bias
    assert turned.confusion == tuple(zip(*result.confusion, strict=True))
    assert sum(map(sum, result.confusion)) == len(rows)
    if result.score is not None and result.interval is not None:
        assert -1 <= result.interval.low <= result.score <= result.interval.high <= 1


def test_a_label_that_nobody_gave_does_not_move_the_others() -> None:
    """0 and 1 are as far apart without a 0.5 between them; 0, 1 and 5 are not equally far."""
    near = present(judge_agreement([0, 1, 5, 5], [1, 1, 5, 5], weights="linear").score)
    far = present(judge_agreement([0, 1, 5, 0], [0, 1, 5, 5], weights="linear").score)
    assert near - 0.85 > 0 > far - 0.6


@pytest.mark.parametrize("confidence_level", [1e-9, 0.5, 1 - 1e-12])
def test_any_confidence_leaves_the_score_inside(confidence_level: float) -> None:
    """At next to no confidence rounding alone would put it outside."""
    for judge in ([1, 1, 1, 0, 1, 1, 1], [0, 0.5, 0.5, 0, 1, 1, 0.5]):
        result = judge_agreement(judge, [1, 1, 1, 0, 1, 0, 0], confidence_level=confidence_level)
        low, high = ends(result.interval)
        assert low <= present(result.score) <= high


@pytest.mark.parametrize(("judge", "human", "score"), [
    ([1, 0], [1, 0], 1.0), ([1, 0], [0, 1], -1.0), ([1], [0], 0.0), ([0, 0, 0], [1, 0, 1], 0.0)
])  # fmt: skip
def test_agreement_extremes(judge: list[int], human: list[int], score: float) -> None:
    """All alike, all opposite, a single item, a constant judge: few items leave much open."""
    result = judge_agreement(judge, human)
    assert result.score == pytest.approx(score)
    assert np.ptp(ends(result.interval)) > 0.9


@pytest.mark.parametrize("kinds", [100, 102])
def test_graded_judges_with_many_different_scores(kinds: int) -> None:
    """Oracle: quadratic kappa is 1 less mean squares over that of all pairs; the matrix ends."""
    rng = np.random.default_rng(9)
    human = np.linspace(0, 1, kinds)
    judge = rng.permutation(human[: kinds // 2].repeat(2))[:kinds]
    result = judge_agreement(judge, human, weights="quadratic")
    expected = np.mean((judge - human) ** 2)
    expected /= judge.var() + human.var() + (judge.mean() - human.mean()) ** 2
    assert result.score == pytest.approx(1 - expected, abs=1e-12)
    assert len(result.labels) == kinds
    assert (result.confusion == ()) == (kinds > 100)
    assert JudgeAgreement.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_scores_beyond_the_usual() -> None:
    """The largest and the smallest scores taken, booleans and numbers mixed."""
    mixed: Any = [True, np.False_, 1.0]
    assert judge_agreement([1e100, -1e100], [1e100, 0], weights="quadratic").score is not None
    assert judge_agreement([5e-324, 0.0], [5e-324, 0.0], weights="linear").score == 1.0
    assert judge_agreement(mixed, pd.Series([True, False, True])).score == 1.0


# A mean that humans would have given.


def reference() -> tuple[dict[str, Any], dict[str, float]]:
    """Return the columns under their names here, and the expected values."""
    (row,) = REFERENCE["ppi"]
    names = {"y_labeled": "human", "f_labeled": "judge_labeled", "f_unlabeled": "judge_unlabeled"}
    return {names[name]: column for name, column in row["input"].items()}, row["output"]


def test_corrected_mean_reference() -> None:
    """Both estimates with their errors, the weight, and the two means alone."""
    columns, expected = reference()
    plain, tuned = corrected_mean(**columns), corrected_mean(**columns, power_tuned=True)
    found = {
        "judge_only": plain.judge_mean, "human_only": plain.human_mean, "ppi": plain.score,
        "ppi_se": plain.stderr, "lam": tuned.judge_weight, "ppipp": tuned.score,
        "ppipp_se": tuned.stderr, "rogan_gladen": plain.rogan_gladen,
    }  # fmt: skip
    # ppi_py takes the variance of all judged scores with one less than their number
    weight = tuned.judge_weight * (560 - 1) / 560
    found["ppi_py_default_point"] = tuned.human_mean + weight * (
        tuned.judge_mean - tuned.human_mean - tuned.bias
    )
    assert found == pytest.approx(expected, abs=1e-9)
    assert (plain.judge_weight, plain.n_labeled, plain.n_unlabeled) == (1.0, 60, 500)


@given(LABELED, st.lists(SCORES, min_size=2, max_size=30), st.booleans())
def test_corrected_mean_laws(
    rows: list[tuple[float, float]],
    unlabeled: list[float],
    power_tuned: bool,  # noqa: FBT001 - drawn
) -> None:
    """The interval holds the score; what was judged generously by a constant is put right."""
    f, y = parted(rows)
    result = corrected(f, y, unlabeled, power_tuned=power_tuned)
    low, high = ends(result.interval)
    assert low <= result.score <= high
    assert not power_tuned or 0 <= low <= high <= 1
    assert 0 <= result.judge_weight <= 1
    assert result.bias == pytest.approx(np.mean(f) - np.mean(y), abs=1e-12)
    halves = np.array(f) / 2, np.array(unlabeled) / 2
    halved, raised = (corrected(halves[0] + more, y, halves[1] + more) for more in (0.0, 0.5))
    assert raised.score == pytest.approx(halved.score, abs=1e-12)


@given(LABELED, st.integers(2, 200))
def test_the_tuned_weight_has_the_least_error(rows: list[tuple[float, float]], n: int) -> None:
    """Oracle: the error on a grid of weights, the judge's variance pooled."""
    f, y = (np.tile(side, 30) for side in parted(rows))  # as many as the judge is used for
    unlabeled = np.resize(f, n * f.size)  # the same distribution, so that pooling changes nothing
    result = corrected(f, y, unlabeled, power_tuned=True)
    errors = [
        math.sqrt(w * w * unlabeled.var() / unlabeled.size + (y - w * f).var() / y.size)
        for w in np.linspace(0, 1, 101)
    ]
    assert result.stderr <= min(errors) + 1e-9


def test_edges_of_the_corrected_mean() -> None:
    """A constant judge, a perfect one, all pass and none pass: never a claim of certainty."""
    constant = corrected([1] * 4, [1, 0, 1, 0], [1] * 9, power_tuned=True)
    assert (constant.judge_weight, constant.score) == (0.0, constant.human_mean)
    for value in (0, 1):
        column = [value] * 20
        result = corrected(column, column, column * 50)
        assert (result.score, result.stderr) == (value, 0.0)
        assert result.interval.high - result.interval.low > 0.1


def _times_held(
    seed: int, truth: float, n: int, rights: tuple[float, float], *, tuned: bool
) -> int:
    """Count intervals that hold the truth, of 100 sets of labels and 400 more judgements."""
    rng, held = np.random.default_rng(seed), 0
    for _ in range(100):
        right = rng.random(n + 400) < truth
        judged = rng.random(n + 400) < np.where(right, *rights)
        low, high = ends(corrected(judged[:n], right[:n], judged[n:], power_tuned=tuned).interval)
        held += low <= truth <= high
    return held


@pytest.mark.sampled
@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize("wrong", [0.2, 0.1])
def test_coverage_from_twenty_labels(wrong: float, tuned: bool) -> None:  # noqa: FBT001 - a table
    """The judge passes some wrong answers, 7 of 10 are right: the reference's normal interval
    misses 7 times in 100 in simulation, this one must not more often than 5.
    """
    assert _times_held(3, 0.7, 20, (1 - wrong / 2, wrong), tuned=tuned) >= 93


@pytest.mark.sampled
@pytest.mark.parametrize(("truth", "n"), [(0.95, 20), (0.95, 10), (0.9, 10), (0.5, 20), (0.9, 50)])
def test_coverage_of_the_tuned_mean(truth: float, n: int) -> None:
    """Simulation: where all labels agreed, six of ten times, the interval had no width, and it
    held a truth of 0.95 between 57 and 95 times in 100.
    """
    assert _times_held(11, truth, n, (0.9, 0.2), tuned=True) >= 91


def test_where_all_labels_agree_the_tuned_interval_is_that_of_the_labels() -> None:
    """The judge gets no weight, and ten labels alone cannot show that none will differ."""
    result = corrected([1, 0] * 5, [1] * 10, [1, 1, 0], power_tuned=True)
    assert (result.judge_weight, result.score) == (0.0, 1.0)
    assert ends(result.interval) == pytest.approx(ends(mean_interval([1] * 10, bounds=(0, 1))))


def test_the_tuned_score_stays_in_the_range_of_scores() -> None:
    """Few labels, of which the judge passed fewer than of the rest."""
    columns = [0, 0, 1, 1] * 8, [0, 1, 1, 1] * 8, [1] * 9
    plain, tuned = (corrected(*columns, power_tuned=tuned) for tuned in (False, True))
    assert (plain.score, plain.interval.high) == (1.0, 1.0)  # 1.25 without the bounds
    assert tuned.interval.low < tuned.score < tuned.interval.high <= 1.0


@refusals("""
judge_scores=[] -> InputError: judge_scores must be a non-empty sequence of scores, got ()
human_scores=[1, 0]
    -> InputError: judge_scores and human_scores must be equally long, got 1 and 2
judge_scores=[math.nan]
    -> InputError: judge_scores[0] must be a number in [-1e+100, 1e+100], got nan
human_scores=["1"] -> TypeError: human_scores[0] must be a number in [-1e+100, 1e+100], got '1'
judge_scores=list(range(1001)), human_scores=[0] * 1001
    -> InputError: judge_scores must be scores of at most 1000 kinds, rounded if need be, got
    1001
weights="cubic" -> InputError: weights must be one of 'linear', 'quadratic', got 'cubic'
weights=-1 -> TypeError: weights must be one of 'linear', 'quadratic', got -1
judge_scores=["a"], human_scores=["b"], weights="linear"
    -> InputError: weights must be None for words, which are only names,...
judge_scores=["a"], human_scores=[0] -> TypeError: judge_scores[0] must be a number...
judge_scores=["a", "b"], human_scores=["a", None]
    -> TypeError: human_scores[1] must be a non-empty string, got None...
""")
def test_agreement_errors(wrong: Refusal) -> None:
    """A bad entry is named by its position, and options have domains."""
    wrong.by(judge_agreement, judge_scores=[1], human_scores=[1])


@refusals("""
human=[1] -> InputError: judge_labeled and human must be equally long, got 2 and 1
human=[1], judge_labeled=[1] -> InputError: human must be a column of at least 2 scores, got 1
judge_unlabeled=[1] -> InputError: judge_unlabeled must be a column of at least 2 scores, got 1
human=[1, 2] -> InputError: human[1] must be a number in [0, 1], got 2.0
judge_unlabeled=[math.nan, 1]
    -> InputError: judge_unlabeled[0] must be a number in [0, 1], got nan
power_tuned=2 -> TypeError: power_tuned must be True or False, got 2
bounds=(1, 5) -> InputError: judge_labeled[1] must be a number in [1, 5], got 0.0
""")
def test_corrected_mean_errors(wrong: Refusal) -> None:
    """The column is named, and the entry."""
    wrong.by(corrected_mean, judge_labeled=[1, 0], human=[1, 0], judge_unlabeled=[1, 0])


def test_few_labels_speak_alone() -> None:
    """Below 25 the result is that of the labels, never the narrower of two; on any scale."""
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, 24)
    judged, others = human + rng.choice([0, 0, 0, 1], 24) - (human == 5), rng.integers(1, 6, 500)
    few = corrected(np.clip(judged, 1, 5), human, others, bounds=(1, 5))
    assert (few.judge_weight, few.score) == (0.0, few.human_mean)
    assert (few.interval, few.n_unlabeled, few.n_unlabeled_used) == (few.human_interval, 500, 0)
    assert " from 24 labels, 500 judgements not used: fewer than 25 labels (labels " in str(few)
    human = np.append(human, 3)
    more = corrected(human, human, others, bounds=(1, 5))
    assert (more.judge_weight, more.n_unlabeled_used, more.reason) == (1.0, 500, None)
    assert " from 25 labels and 500 judgements (labels alone" in str(more)


@pytest.mark.sampled
@pytest.mark.parametrize("n", [10, 20, 30, 60])
def test_labels_with_rare_zeros_are_bound(n: int) -> None:
    """Simulation: the judge overlooks the zeros, which held .46 to .74 of such runs."""
    rng, held = np.random.default_rng(2), 0
    for _ in range(80):
        missed = rng.random(n) < 0.03
        judged = np.clip(rng.normal(0.9, 0.02, n), 0, 1)
        others = np.clip(rng.normal(0.9, 0.02, 400), 0, 1)
        low, high = ends(corrected(judged, np.where(missed, 0.0, judged), others).interval)
        held += low <= 0.97 * 0.9 <= high
    assert held >= 70


@pytest.mark.sampled
@pytest.mark.parametrize("n_items", [20, 10, 30])
def test_agreement_where_most_items_have_one_label(n_items: int) -> None:
    """Simulation, 90 % of one label: kappa, whose error alone left it outside half the time, and
    Gwet's coefficient where kappa is defined.
    """
    rng, shares = np.random.default_rng(4), [0.85, 0.05, 0.05, 0.05]
    kappa = 1 - 0.1 / (2 * 0.9 * 0.1)
    gwet = 1 - 0.1 / (1 - 2 * 0.9 * 0.1)
    known: dict[tuple[int, ...], JudgeAgreement] = {}
    held, n_defined = [0, 0], 0
    for _ in range(200):
        cells = tuple(sorted(rng.choice(4, n_items, p=shares).tolist()))
        if cells not in known:
            known[cells] = judge_agreement([c % 2 for c in cells], [c // 2 for c in cells])
        result = known[cells]
        if result.interval is None:
            continue
        n_defined += 1
        both = (result.interval, result.gwet_interval)
        for i, ((low, high), true) in enumerate(zip(map(ends, both), (kappa, gwet), strict=True)):
            held[i] += low <= true <= high
    assert min(held) >= (0.924 - 2.6 * math.sqrt(0.07 / n_defined)) * n_defined


def test_what_a_judge_gets_right_of_two_labels() -> None:
    """Shares by hand; the human's higher label is the positive one."""
    result = judge_agreement([1, 1, 0, 0, 1], [1, 1, 1, 0, 0])
    assert (result.sensitivity, result.specificity) == (2 / 3, 1 / 2)
    assert result.sensitivity_interval == proportion_interval(2, 3)
    three = judge_agreement([1, 2, 3], [1, 2, 3])
    assert (three.sensitivity, three.specificity) == (None, None)
    one_kind = judge_agreement([1, 0], [1, 1])
    assert (one_kind.sensitivity, one_kind.specificity) == (0.5, None)


def _labeled(n: int, n_labeled: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    baseline = (rng.random(n) < 0.5).astype(float)
    current = np.where(rng.random(n) < 0.7, baseline, rng.random(n) < 0.7).astype(float)
    judged = [np.where(rng.random(n) < 0.9, side, 1 - side) for side in (baseline, current)]
    none = [None] * (n - n_labeled)
    return {
        "judge_baseline": judged[0],
        "judge_current": judged[1],
        "human_baseline": [*baseline[:n_labeled].tolist(), *none],
        "human_current": [*current[:n_labeled].tolist(), *none],
    }


def _difference(columns: dict[str, Any], **options: Any) -> CorrectedDifference:
    columns = dict(columns)
    one, other = columns.pop("judge_baseline"), columns.pop("judge_current")
    return corrected_difference(one, other, **columns, **options)


@pytest.mark.slow
def test_the_corrected_difference_holds_and_is_narrower_than_labels_alone() -> None:
    """Simulation with a judge that is right nine times in ten."""
    held, widths = 0, []
    for seed in range(100):
        result = _difference(_labeled(800, 100, seed))
        held += result.interval.low <= 0.3 * (0.7 - 0.5) <= result.interval.high
        own, alone = result.interval, result.human_interval
        widths.append((own.high - own.low) / (alone.high - alone.low))
    assert held >= 90
    assert np.median(widths) < 1.0


def test_the_corrected_difference_by_its_formula() -> None:
    """Its estimate from numpy alone; turned around it changes its sign."""
    columns = _labeled(300, 60, 7)
    result = _difference(columns)
    judged = columns["judge_current"] - columns["judge_baseline"]
    human = np.array(columns["human_current"][:60]) - np.array(columns["human_baseline"][:60])
    w = result.judge_weight
    assert result.delta == pytest.approx(w * judged[60:].mean() + (human - w * judged[:60]).mean())
    names = {"baseline": "current", "current": "baseline"}
    turned = _difference(
        {f"{k[: k.index('_')]}_{names[k[k.index('_') + 1 :]]}": v for k, v in columns.items()}
    )
    assert turned.delta == pytest.approx(-result.delta)
    assert turned.interval.low == pytest.approx(-result.interval.high, abs=1e-6)
    few = _difference(_labeled(300, 24, 7))
    assert (few.judge_weight, few.delta) == (0.0, few.human_delta)
    assert (few.n_unlabeled_used, few.reason) == (0, "fewer than 25 labels")
    assert _difference(_labeled(300, 25, 7)).n_unlabeled_used == 275
    clustered = _difference(columns, clusters=[i // 5 for i in range(300)])
    assert (clustered.interval.method, clustered.n_unlabeled_used) == ("clustered gaffke", 0)
    assert clustered.reason == "fewer than 25 labels, or groups of them"
    pairs = _difference(columns, clusters=[i // 2 for i in range(300)])
    assert pairs.interval.method == "clustered prediction-powered t"


@refusals("""
human_baseline=[1, None, None]
    -> InputError: human_baseline[1] must be a label, as the other...
human_current=[1, None, None] -> InputError: human_current[1] must be a label, as the other...
human_current=[1, 2, None] -> InputError: human_current[1] must be a number in [0, 1], got 2...
judge_current=[1, 0]
    -> InputError: judge_current and judge_baseline must be equally long, got 2...
bounds=(1, 0)
    -> InputError: bounds must be two numbers in rising order, their difference finite...
human_baseline=np.array(["1", "0", "1"])
    -> TypeError: human_baseline[0] must be True or False, or a numb...
""")
def test_errors_of_the_corrected_difference(wrong: Refusal) -> None:
    """Each names the argument, its domain and the value."""
    columns = {"judge_baseline": [1, 0, 1], "judge_current": [1, 1, 1]}
    labels: dict[str, Any] = {"human_baseline": [1, 0, None], "human_current": [1, 1, None]}
    wrong.when(lambda: _difference(columns | labels | wrong.arguments))


def _shifted(
    n: int, truth: float, labeled: float, seed: int, rights: tuple[float, float] = (0.95, 0.8)
) -> dict[str, Any]:
    """Return labels of another share of right answers than the 500 judgements have."""
    rng = np.random.default_rng(seed)
    human = rng.random(n + 500) < np.where(np.arange(n + 500) < n, labeled, truth)
    judged = rng.random(n + 500) < np.where(human, rights[0], 1 - rights[1])
    return {"judge_labeled": judged[:n], "human": human[:n], "judge_unlabeled": judged[n:]}


def test_the_interval_of_rogan_and_gladen_by_its_formula() -> None:
    """Oracle: Lang and Reiczigel's formula with sums of squares, as Lee et al. print it."""
    columns = _shifted(60, 0.7, 0.6, 1)
    found = corrected_mean(**columns, confidence_level=0.9)
    f, y, u = (np.asarray(columns[name], float) for name in columns)
    z = stats.norm.isf(0.05)
    m1, m0 = y.sum(), (1 - y).sum()
    p = (u.sum() + z**2 / 2) / (u.size + z**2)
    q1, q0 = ((f * y).sum() + 1) / (m1 + 2), (((1 - f) * (1 - y)).sum() + 1) / (m0 + 2)
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    v1, v0 = q1 * (1 - q1) / (m1 + 2), q0 * (1 - q0) / (m0 + 2)
    shift = 2 * z**2 * (theta * v1 - (1 - theta) * v0)
    variance = p * (1 - p) / (u.size + z**2) + theta**2 * v1 + (1 - theta) ** 2 * v0
    reach = z * math.sqrt(variance) / (q0 + q1 - 1)
    interval = present(found.rogan_gladen_interval)
    assert ends(interval) == pytest.approx((theta + shift - reach, theta + shift + reach))
    assert (interval.method, interval.confidence_level) == ("lang-reiczigel", 0.9)
    assert interval.low <= present(found.rogan_gladen) <= interval.high


def test_labels_of_another_base_rate_call_for_rogan_and_gladen() -> None:
    """Simulation: the corrected mean misses, the other holds, and the result says which."""
    held, missed, flagged = 0, 0, 0
    for seed in range(80):
        result = corrected_mean(**_shifted(100, 0.9, 0.5, seed))
        low, high = ends(result.rogan_gladen_interval)
        held += low <= 0.9 <= high
        missed += not result.interval.low <= 0.9 <= result.interval.high
        flagged += result.preferred == "rogan_gladen"
    assert held >= 71
    assert min(missed - 8, flagged - 78) >= 0
    text = str(corrected_mean(**_shifted(100, 0.9, 0.5, 1)))
    assert "; the labels are no random sample of all items (p = " in text
    assert ", use Rogan and Gladen's estimate: 0." in text


def test_random_labels_keep_the_corrected_mean() -> None:
    """Simulation: two-sided Fisher at 0.01 speaks up in one of a hundred."""
    shifts = [corrected_mean(**_shifted(60, 0.7, 0.7, seed)) for seed in range(150)]
    assert sum(result.preferred != "score" for result in shifts) <= 4
    for result in shifts[:20]:
        assert (result.preferred == "score") == (result.shift_p_value >= 0.01)


@given(LABELED, st.lists(SCORES, min_size=2, max_size=30))
def test_the_shift_is_fishers(rows: list[tuple[float, float]], unlabeled: list[float]) -> None:
    """Oracle: scipy's one-sided tests of the table of scores above the mean of all."""
    f, y = parted(rows)
    result = corrected(f, y, unlabeled)
    middle = math.fsum([*f, *unlabeled]) / (len(f) + len(unlabeled))
    table = [
        [sum(v > middle for v in side), sum(v <= middle for v in side)] for side in (f, unlabeled)
    ]
    tails = [stats.fisher_exact(np.array(table), side).pvalue for side in ("less", "greater")]
    assert result.shift_p_value == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6)


def test_a_shift_without_rates_has_no_estimate() -> None:
    """Grades of a judge who saw other items: nothing here allows for that."""
    grades = [0.1, 0.2, 0.3, 0.15, 0.25] * 6
    result = corrected(grades, grades, [0.8, 0.9, 0.7] * 30)
    assert (result.preferred, result.rogan_gladen_interval) == (None, None)
    assert str(result).endswith(", and no estimate here allows for that")


def test_a_judge_no_better_than_chance_has_no_estimate_of_rogan_and_gladen() -> None:
    """Neither estimate nor interval; with few right labels the interval is all of [0, 1]."""
    poor = corrected([0, 1] * 15, [1, 0] * 15, [1, 0])
    assert (poor.rogan_gladen, poor.rogan_gladen_interval) == (None, None)
    few = corrected([1, 0], [1, 0], [1, 0])
    assert (few.rogan_gladen, ends(few.rogan_gladen_interval)) == (0.5, (0.0, 1.0))


def test_the_prediction_powered_interval_by_its_formula() -> None:
    """Oracle: variances from numpy, one judgement more that is off by the whole scale."""
    columns, _ = reference()
    f, y, u = (np.array(columns[n], float) for n in ("judge_labeled", "human", "judge_unlabeled"))
    for tuned in (False, True):
        found = corrected_mean(**columns, power_tuned=tuned)
        w = found.judge_weight
        rest = y - w * f
        of_rest = rest.var(ddof=1) / 60 + (1 + rest.mean() ** 2) / 60**2
        variance = of_rest * (61 / 59 if tuned else 1) + w**2 * u.var(ddof=1) / u.size
        reach = stats.t.isf(0.025, 59 - tuned) * math.sqrt(variance)
        assert ends(found.interval) == pytest.approx((found.score - reach, found.score + reach))
        assert found.interval.method == "prediction-powered t"


def test_words_agree_as_numbers_that_stand_for_them_do() -> None:
    """Oracle: the same columns as numbers; what needs an order of labels is not there."""
    judge, human = list("aabbcacb"), list("abbbcacc")
    code = {"a": 0.0, "b": 1.0, "c": 2.0}
    words = judge_agreement(judge, human)
    numbers = judge_agreement([code[one] for one in judge], [code[one] for one in human])
    assert words.labels == ("a", "b", "c")
    assert words.bias is None
    assert attrs.evolve(words, labels=numbers.labels, bias=numbers.bias) == numbers
    two = judge_agreement(["no", "yes"], ["no", "no"])
    assert (two.sensitivity, two.specificity) == (None, None)
    assert JudgeAgreement.from_json(words.to_json()) == words


def test_weighted_kappas_are_as_narrow_as_their_error_says() -> None:
    """Fifty items with ten grades: an unseen item at the far corner is not taken for possible."""
    rng = np.random.default_rng(7)
    for n in (50, 200):
        human = rng.integers(1, 11, n)
        judged = np.clip(human + rng.integers(-1, 2, n), 1, 10)
        result = judge_agreement(judged, human, weights="quadratic")
        interval = present(result.interval)
        usual = 2 * 1.96 * present(result.stderr)
        assert 0.95 * usual <= interval.high - interval.low <= 1.2 * usual
        assert interval.low <= present(result.score) <= interval.high < 1.0


def test_perfect_agreement_on_grades_has_an_interval() -> None:
    """It allows for the smallest disagreement there is, and more of it with fewer items."""
    lows = []
    for n in (20, 200):
        grades = np.arange(n) % 5
        result = judge_agreement(grades, grades, weights="quadratic")
        interval = present(result.interval)
        assert interval.high == 1.0
        lows.append(interval.low)
    assert 0.9 < lows[0] < lows[1] < 1.0
