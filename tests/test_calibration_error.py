"""calibration_error, and the interval of confidence_calibration: reference, oracles, edges."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats
from scipy.special import rel_entr

from scorekit import calibration_error, confidence_calibration

REFERENCE = json.loads((Path(__file__).parent / "data" / "evidence.json").read_text("utf-8"))

ATTEMPTS = st.lists(
    st.tuples(st.integers(0, 20).map(lambda i: i / 20) | st.floats(0, 1), st.booleans()),
    min_size=1,
    max_size=60,
)


def columns(rows: list[tuple[float, bool]]) -> tuple[list[float], list[bool]]:
    """Part the rows."""
    return [f for f, _ in rows], [y for _, y in rows]


def close(value: float) -> Any:
    """Compare to 1e-9."""
    return pytest.approx(value, rel=1e-9, abs=1e-9)


TERMS = {
    "ece": "score", "mce": "max_error", "debiased_l2_sq": "debiased_square",
    "debiased_rmsce": "debiased_error", "brier": "brier", "reliability": "reliability",
    "resolution": "resolution", "uncertainty": "uncertainty",
    "within_bin_var": "within_bin_variance", "within_bin_cov": "within_bin_covariance",
}  # fmt: skip
"""Fields by the names of the reference."""


@pytest.mark.parametrize("row", REFERENCE["calibration"] + REFERENCE["brier_murphy"])
def test_reference(row: dict[str, Any]) -> None:
    """Every value of the reference, among them those of a single attempt and of 1.0 exactly."""
    result = calibration_error(row["input"]["confidence"], row["input"]["correct"])
    found = {name: getattr(result, field) for name, field in TERMS.items()}
    found["rmsce"] = math.sqrt(result.reliability)
    for name, value in row["output"].items():
        assert found[name] == close(value), name


def test_auroc_reference() -> None:
    """Area and DeLong's error, ties included."""
    whole, small = REFERENCE["auroc"]
    source = REFERENCE["calibration"][0]["input"]
    result = calibration_error(source["confidence"], source["correct"])
    assert result.auroc == close(whole["output"]["auroc"])
    assert result.auroc_stderr == close(whole["output"]["se_delong"])
    tied = calibration_error(small["input"]["confidence"], small["input"]["correct"])
    assert tied.auroc == close(small["output"]["auroc"])


@given(ATTEMPTS, st.integers(1, 12))
def test_terms_equal_exact_rationals_and_add_up(
    rows: list[tuple[float, bool]], n_bins: int
) -> None:
    """Oracle: bins by comparing rationals with the edges, every term exact; the five add up."""
    f, y = columns(rows)
    result = calibration_error(f, y, n_bins=n_bins)
    bins: dict[int, list[tuple[Fraction, int]]] = {}
    for value, right in rows:
        edges = (i for i in range(n_bins) if value <= (i + 1) / n_bins)
        bins.setdefault(next(edges), []).append((Fraction(value), int(right)))
    n, rate = len(rows), Fraction(sum(y), len(rows))
    ece = reliability = resolution = variance = covariance = Fraction(0)
    for members in bins.values():
        f_mean = sum((value for value, _ in members), Fraction()) / len(members)
        y_mean = Fraction(sum(right for _, right in members), len(members))
        weight = Fraction(len(members), n)
        ece += weight * abs(f_mean - y_mean)
        reliability += weight * (f_mean - y_mean) ** 2
        resolution += weight * (y_mean - rate) ** 2
        variance += sum(((v - f_mean) ** 2 for v, _ in members), Fraction()) / n
        covariance += 2 * sum(((v - f_mean) * (r - y_mean) for v, r in members), Fraction()) / n
    brier = sum(((Fraction(value) - right) ** 2 for value, right in rows), Fraction()) / n
    uncertainty = rate * (1 - rate)
    assert brier == reliability - resolution + uncertainty + variance - covariance
    expected = [ece, reliability, resolution, uncertainty, variance, covariance, brier]
    names = ["ece", "reliability", "resolution", "uncertainty"]
    names += ["within_bin_var", "within_bin_cov", "brier"]
    found = [getattr(result, TERMS[name]) for name in names]
    assert found == pytest.approx([float(term) for term in expected], abs=1e-13)
    sizes = {i: b.n_attempts for i, b in enumerate(result.bins) if b.n_attempts}
    assert sizes == {i: len(members) for i, members in bins.items()}


@given(ATTEMPTS)
def test_against_scikit_learn_and_scipy(rows: list[tuple[float, bool]]) -> None:
    """Oracles: Brier score, area under the curve, and Mann-Whitney's statistic."""
    scikit_learn = pytest.importorskip("sklearn.metrics")
    f, y = columns(rows)
    result = calibration_error(f, y)
    if len(set(y)) == 1:
        assert (result.auroc, result.auroc_stderr, result.auroc_interval) == (None, None, None)
        return
    assert result.brier == pytest.approx(scikit_learn.brier_score_loss(y, f), abs=1e-12)
    assert result.auroc == pytest.approx(scikit_learn.roc_auc_score(y, f), abs=1e-12)
    right, wrong = ([v for v, r in rows if r is kind] for kind in (True, False))
    statistic = stats.mannwhitneyu(right, wrong).statistic
    assert result.auroc == pytest.approx(statistic / (len(right) * len(wrong)), abs=1e-12)


@given(ATTEMPTS)
def test_delongs_error_is_that_of_the_placements(rows: list[tuple[float, bool]]) -> None:
    """Oracle: every pair compared, the variances of the two kinds of placement."""
    right, wrong = ([v for v, r in rows if r is kind] for kind in (True, False))
    result = calibration_error(*columns(rows))
    if min(len(right), len(wrong)) < 2:
        assert (result.auroc_stderr, result.auroc_interval) == (None, None)
        return
    wins = np.array([[(a > b) + (a == b) / 2 for b in wrong] for a in right])
    variance = wins.mean(axis=1).var(ddof=1) / len(right)
    variance += wins.mean(axis=0).var(ddof=1) / len(wrong)
    assert result.auroc_stderr == pytest.approx(math.sqrt(variance), abs=1e-12)
    low, high = ends(result.auroc_interval)
    assert low <= present(result.auroc) <= high


@given(ATTEMPTS, st.randoms(use_true_random=False), st.integers(1, 12))
def test_laws(rows: list[tuple[float, bool]], random: Any, n_bins: int) -> None:
    """Ranges, the order of attempts, whole bins of ties, and storage."""
    result = calibration_error(*columns(rows), n_bins=n_bins)
    assert 0 <= result.score <= result.max_error + 1e-12
    assert result.max_error <= 1
    assert 0 <= result.equal_mass_error <= 1
    mass = result.equal_mass_bins
    assert sum(b.n_attempts for b in mass) == sum(b.n_attempts for b in result.bins) == len(rows)
    assert all(a.high < b.low for a, b in itertools.pairwise(mass))
    assert (len(result.bins), len(mass) <= n_bins) == (n_bins, True)
    random.shuffle(rows)
    again = calibration_error(*columns(rows), n_bins=n_bins)
    assert again.score == pytest.approx(result.score, abs=1e-12)
    assert again.equal_mass_error == pytest.approx(result.equal_mass_error, abs=1e-12)
    assert again.auroc == pytest.approx(result.auroc, abs=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("n_right", "n_wrong", "area"),
    [(18, 2, 0.9), (18, 2, 0.5), (45, 5, 0.5), (45, 5, 0.9), (190, 10, 0.5), (190, 10, 0.9)],
)
def test_area_where_few_were_wrong(n_right: int, n_wrong: int, area: float) -> None:
    """Two normal distributions that far apart; DeLong's error alone covered 82 to 96 of 100."""
    rng, hits = np.random.default_rng(6), 0
    apart = stats.norm.ppf(area) * math.sqrt(2)
    outcomes = [1] * n_right + [0] * n_wrong
    for _ in range(150):
        values = rng.normal(np.repeat([apart, 0.0], [n_right, n_wrong]))
        low, high = ends(calibration_error(stats.norm.cdf(values / 3), outcomes).auroc_interval)
        hits += low <= area <= high
    assert hits >= 138


@given(ATTEMPTS)
def test_the_bias_is_confidence_less_accuracy(rows: list[tuple[float, bool]]) -> None:
    """Oracle: the rationals; its interval holds it, and there is none for a single attempt."""
    f, y = columns(rows)
    result = calibration_error(f, y)
    exact = (sum(map(Fraction, f)) - sum(y)) / len(rows)
    assert result.bias == pytest.approx(float(exact), abs=1e-15)
    low, high = ends(result.bias_interval)
    assert low - 1e-12 <= result.bias <= high + 1e-12
    assert len(rows) > 1 or (low, high) == (-1.0, 1.0)


@pytest.mark.sampled
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_the_interval_of_the_bias_covers(shift: float) -> None:
    """Simulation: confidences that are right on average, or too high by 0.1."""
    rng, held = np.random.default_rng(3), 0
    for _ in range(400):
        rates = rng.uniform(0.1, 0.9, 40)
        interval = calibration_error(rates + shift, rng.random(40) < rates).bias_interval
        held += interval.low <= shift <= interval.high
    assert held / 400 >= 0.94


def test_it_reads_on_one_line() -> None:
    """What `print` shows."""
    text = (
        "expected calibration error 0.6 (by chance alone 0.5, 95 % below 0.6), "
        "bias +0 [-0.9, +0.9] (95 %, 2 attempts)"
    )
    assert str(calibration_error([0.6, 0.4], [0, 1])) == text
    for confidence, how in ((0.9, "over"), (0.1, "under")):
        result = calibration_error([confidence] * 40, [0, 1] * 20)
        assert str(result).startswith(f"{how}confident: expected calibration error 0.40 (by ")


@pytest.mark.parametrize("n_values", [5, 10_000])
def test_what_chance_gives(n_values: int) -> None:
    """Oracle: the errors of samples that are drawn here, of answers as right as they say."""
    rng = np.random.default_rng(8)
    f = np.round(rng.random(100) * n_values) / n_values
    result = calibration_error(f, rng.random(100) < f, confidence_level=0.9)
    found = [calibration_error(f, rng.random(100) < f, n_bins=10) for _ in range(300)]
    for name in ("score", "equal_mass_error", "max_error"):
        drawn = np.array([getattr(one, name) for one in found])
        error = float(drawn.std()) / math.sqrt(300)
        assert result.chance[name] == pytest.approx(float(drawn.mean()), abs=4 * error)
        share = float(np.mean(drawn <= result.chance_high[name]))
        assert share == pytest.approx(0.9, abs=0.08)
    assert calibration_error(f, f > 2).chance == result.chance  # whatever the outcomes were


def test_what_chance_gives_attempts_in_clusters() -> None:
    """Copies of an answer count once: chance gives as much as to the single ones."""
    rng = np.random.default_rng(9)
    f = rng.random(60)
    y = rng.random(60) < f
    alone = calibration_error(f, y)
    copies = calibration_error(np.repeat(f, 5), np.repeat(y, 5), clusters=np.repeat(range(60), 5))
    unaware = calibration_error(np.repeat(f, 5), np.repeat(y, 5))
    assert copies.chance["score"] == pytest.approx(alone.chance["score"], rel=0.2)
    assert unaware.chance["score"] < 0.6 * alone.chance["score"]


@pytest.mark.parametrize(("n", "n_bins"), [(33, 22), (97, 10)])
def test_bins_of_equal_mass_hold_equally_many(n: int, n_bins: int) -> None:
    """Oracle: the place of each rank in integers; floats put some a hair below their edge."""
    f = [i / n for i in range(n)]
    bins = calibration_error(f, [True] * n, n_bins=n_bins).equal_mass_bins
    sizes = Counter((2 * i + 1) * n_bins // (2 * n) for i in range(n))
    assert [b.n_attempts for b in bins] == [sizes[i] for i in sorted(sizes)]


def test_edges_of_bins_are_decimal() -> None:
    """0.3 belongs to (0.2, 0.3] and 0.7 to (0.6, 0.7]; as floats 3 * 0.1 would miss them."""
    f = [i / 10 for i in range(11)]
    bins = calibration_error(f, [True] * 11).bins
    assert [b.n_attempts for b in bins] == [2, *[1] * 9]
    assert [b.mean_confidence for b in bins][1:] == f[2:]


@pytest.mark.parametrize(("f", "y", "square", "auroc"), [
    ([0.5], [True], None, None),
    ([0.5] * 4, [1, 1, 1, 1], 0.25, None),
    ([0.5] * 4, [0, 0, 0, 0], 0.25, None),
    ([0.5] * 4, [0, 1, 0, 1], -1 / 12, 0.5),
    ([0.2, 0.9], [0, 1], None, 1.0),
])  # fmt: skip
def test_extremes(f: list[float], y: list[int], square: float | None, auroc: float | None) -> None:
    """One attempt, all right, none right, ties everywhere, one attempt a bin: None or exact."""
    result = calibration_error(f, y)
    assert result.debiased_square == (None if square is None else close(square))
    assert result.debiased_error == (None if square is None else close(max(square, 0) ** 0.5))
    assert result.auroc == auroc
    if len(f) == 4 and auroc is not None:
        assert result.auroc_stderr == 0.0
        assert np.ptp(ends(result.auroc_interval)) > 0.5


@pytest.mark.parametrize(("n_right", "n_wrong"), [(3, 12), (12, 3)])
def test_perfect_separation_is_as_sure_as_the_rarer_outcome(n_right: int, n_wrong: int) -> None:
    """Nothing varies: Wilson's interval on the values that Newcombe's formula gives, and t."""
    outcomes = [True] * n_right + [False] * n_wrong
    result = calibration_error([0.9] * n_right + [0.1] * n_wrong, outcomes)
    assert (result.auroc, result.auroc_stderr) == (1.0, 0.0)
    n_effective = 3 * 12 / (1 + (15 / 2 - 1) / 2)
    low, high = n_effective / (n_effective + stats.t.isf(0.025, 2) ** 2), 1.0
    assert ends(result.auroc_interval) == (close(low), close(high))


def test_the_debiased_error_of_a_calibrated_model_is_about_zero() -> None:
    """What chance adds to the plain error goes: here 0.06 becomes less than 0.03."""
    rng = np.random.default_rng(5)
    f = rng.random((40, 200))
    results = [calibration_error(row, rng.random(200) < row) for row in f]
    squares = [r.debiased_square for r in results if r.debiased_square is not None]
    assert np.mean([r.score for r in results]) > 0.05
    assert abs(np.mean(squares)) < 0.0008


@refusals("""
confidences=[] -> InputError: confidences must be a non-empty sequence of numbers, got ()
confidences=[0.5] -> InputError: confidences and outcomes must be equally long, got 1 and 2
confidences=[0.5, math.nan] -> InputError: confidences[1] must be a number in [0, 1], got nan
confidences=[0.5, -0.1] -> InputError: confidences[1] must be a number in [0, 1], got -0.1
outcomes=[1, 0.4] -> TypeError: outcomes[1] must be True or False, got 0.4
outcomes=[2, 1] -> TypeError: outcomes[0] must be True or False, got 2
outcomes=[None, 1]
    -> InputError: outcomes[0] must be True or False (a missing outcome: leave its row out of
    all columns; False, then True, bounds how far it could move the result), got None
confidences=["high", 1] -> TypeError: confidences[0] must be a number in [0, 1], got 'high'
n_bins=0 -> InputError: n_bins must be an integer in [1, 1000], got 0
n_bins=10**9 -> InputError: n_bins must be an integer in [1, 1000], got 1000000000
clusters=[1] -> InputError: clusters must be 2 labels, one for each entry, got 1
""")
def test_errors(wrong: Refusal) -> None:
    """An averaged case is refused, and a huge number of bins must not fill the memory."""
    wrong.by(calibration_error, confidences=[0.5, 0.6], outcomes=[1, 0])


# The interval of the score of stated levels.

LEVELS = ("high", "medium", "low")


def test_a_calibrated_model_is_covered_though_it_scores_low() -> None:
    """Exact over all outcomes of 20, 15 and 10 cases at 0.9, 0.7 and 0.4: the likelihood ratio
    test keeps perfect calibration 94 times in 100, and the interval then reaches 1.
    """
    kept, sizes, rates = 0.0, np.array([20, 15, 10]), np.array([0.9, 0.7, 0.4])
    for counts in itertools.product(range(10, 21), range(3, 16), range(11)):
        chance = float(np.prod(stats.binom.pmf(counts, sizes, rates)))
        right, wrong = np.array(counts), sizes - counts
        deviance = 2 * float(np.sum(rel_entr(right, sizes * rates)))
        deviance += 2 * float(np.sum(rel_entr(wrong, sizes * (1 - rates))))
        rejected = deviance > stats.chi2.ppf(0.95, 3)
        kept += 0.0 if rejected else chance
        if chance > 0.004 or (rejected and chance > 0.001):
            levels = dict(zip(LEVELS, zip(counts, sizes.tolist(), strict=True), strict=True))
            _, high = ends(confidence_calibration(levels).interval)
            assert (high == 1.0) == (not rejected)
    assert 0.935 < kept < 0.96


@given(
    st.fixed_dictionaries(
        {
            level: st.integers(0, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
            for level in LEVELS
        }
    ).filter(lambda counts: sum(n for _, n in counts.values()) >= 20),
    st.integers(0, 2**40),
)
def test_interval_laws(counts: dict[str, tuple[int, int]], seed: int) -> None:
    """It holds the score, stays in [0, 1], repeats with its seed, and is there with a score."""
    result = confidence_calibration(counts, seed=seed)
    assert (result.score is None) == (result.interval is None)
    if result.score is not None:
        low, high = ends(result.interval)
        assert 0 <= low <= result.score <= high <= 1
    assert confidence_calibration(counts, seed=seed) == result


def test_the_interval_narrows_with_the_cases_and_hardly_moves_with_the_seed() -> None:
    """Sixteen times the cases make it about four times as narrow."""
    small = {"high": (18, 20), "medium": (10, 15), "low": (4, 10)}
    large = {level: (16 * c, 16 * n) for level, (c, n) in small.items()}
    widths = []
    for counts in (small, large):
        lows = [ends(confidence_calibration(counts, seed=i).interval)[0] for i in range(8)]
        assert max(lows) - min(lows) < 0.06
        widths.append(1 - min(lows))
    assert 2 < widths[0] / widths[1] < 5


def test_nominals_too_close_for_a_float_slope() -> None:
    """The slope between them may be beyond every float; the interval is there all the same."""
    levels = {"a": (10, 20), "b": (10, 20)}
    result = confidence_calibration(levels, nominal={"a": 0.0, "b": 5e-324})
    assert (result.slope, result.interval is not None) == (0.0, True)
