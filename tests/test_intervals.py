"""Interval, proportion_interval and the shared helpers: sourced values, errors, laws, oracles."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends
from refusals import Refusal, refusals
from scipy import stats

from scorekit._core.gaffke import Lower
from scorekit.comparison import compare_reports
from scorekit.intervals import (
    Interval,
    mean_interval,
    normal_quantile,
    proportion_interval,
    quantile_interval,
    t_quantile,
    wilson,
)
from scorekit.sampling import pass_at_k

REFERENCE = json.loads((Path(__file__).parent / "data" / "intervals.json").read_text())
METHODS = ("wilson", "jeffreys", "clopper-pearson")
COUNTS = st.integers(1, 2**53).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.floats(1e-6, 1 - 1e-12)


@pytest.mark.parametrize("case", REFERENCE["binomial_ci"])
@pytest.mark.parametrize("method", [*METHODS, "bayes-uniform"])
def test_reference_values(case: dict[str, Any], method: Any) -> None:
    """Reference values made before this code and apart from it."""
    counts = case["input"]
    result = proportion_interval(
        counts["c"], counts["n"], confidence_level=counts["level"], method=method
    )
    expected = case["output"][method.replace("-", "_")]
    assert ends(result) == pytest.approx(tuple(expected), rel=1e-9, abs=0.0)
    assert (result.confidence_level, result.method) == (counts["level"], method)


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (1, 7), (4, 7), (7, 7), (81, 263)])
@pytest.mark.parametrize(("method", "scipy_name"), [
    ("wilson", "wilson"), ("clopper-pearson", "exact"), ("bayes-uniform", None)
])  # fmt: skip
def test_scipy_agrees(successes: int, n: int, method: Any, scipy_name: Any) -> None:
    """Oracle: another implementation at another confidence, or the quantiles of a posterior."""
    theirs: Any = stats.beta.interval(0.9, successes + 1, n - successes + 1)
    if scipy_name:
        theirs = stats.binomtest(successes, n).proportion_ci(0.9, method=scipy_name)
    ours = proportion_interval(successes, n, confidence_level=0.9, method=method)
    assert ends(ours) == pytest.approx(tuple(theirs), rel=1e-9, abs=0.0)


@pytest.mark.parametrize("n", [10**9, 2**40, 2**53])
@pytest.mark.parametrize("successes", [1, 2, 999, 1000])
@pytest.mark.parametrize(
    ("method", "shift"), [("jeffreys", 0.5), ("bayes-uniform", 1.0), ("clopper-pearson", 0.0)]
)
def test_few_of_very_many(n: int, successes: int, method: Any, shift: float) -> None:
    """Oracle: the gamma quantiles of the Poisson limit; beta ones go astray at shapes of 1000."""
    low, high = ends(proportion_interval(successes, n, method=method))
    expected = (
        stats.gamma.ppf(0.025, successes + shift),
        stats.gamma.isf(0.025, successes + (shift or 1.0)),
    )
    assert (low * n, high * n) == pytest.approx(expected, rel=1e-5)


@given(COUNTS, CONFIDENCES, st.sampled_from([*METHODS, "bayes-uniform"]))
def test_interval_contains_the_share_and_keeps_to_its_range(
    counts: tuple[int, int], confidence_level: float, method: Any
) -> None:
    """Inside [0, 1], whose ends are exact and only reached at the edges, if they are; counting
    failures instead of successes reflects it.
    """
    successes, n = counts
    options: dict[str, Any] = {"confidence_level": confidence_level, "method": method}
    low, high = ends(proportion_interval(successes, n, **options))
    if method == "bayes-uniform":  # which leaves its belief on both sides
        assert 0.0 < low <= high <= 1.0
    else:
        assert 0.0 <= low <= successes / n <= high <= 1.0
        assert (low == 0.0) == (successes == 0)
        assert successes < n or high == 1.0
    other = ends(proportion_interval(n - successes, n, **options))
    assert (1.0 - high, 1.0 - low) == pytest.approx(other, abs=1e-9 if n > 10**6 else 1e-12)


def test_a_tiny_share_keeps_its_digits() -> None:
    """Oracle: the same formula in rationals; the textbook form has no digit right here."""
    low, _ = wilson(1e-9, 1e6, 2.0)
    p, n = Fraction(1e-9), 10**6
    root = 2 * math.sqrt(4 + 4 * n * p * (1 - p))
    assert low == pytest.approx(float(2 * n * p * p / (2 * n * p + 4 + Fraction(root))), rel=1e-14)


@given(st.floats(0, 1), st.floats(0.5, 1e9), st.floats(0, 40))
def test_wilson_takes_real_numbers_of_trials(p: float, n: float, quantile: float) -> None:
    """An effective number of trials is rarely whole; the share must lie inside all the same."""
    low, high = wilson(p, n, quantile)
    assert 0.0 <= low <= p <= high <= 1.0


@pytest.mark.parametrize("confidence_level", [0.5, 0.9, 0.95, 0.999, 1 - 1e-9])
def test_quantiles_agree_with_scipy(confidence_level: float) -> None:
    """Oracle: scipy.stats, which is too slow to import for two numbers."""
    tail = (1.0 - confidence_level) / 2.0
    assert normal_quantile(confidence_level) == pytest.approx(stats.norm.isf(tail), rel=1e-9)
    assert t_quantile(confidence_level, 9) == pytest.approx(stats.t.isf(tail, 9), rel=1e-9)


def test_wilson_loads_neither_numpy_nor_scipy() -> None:
    """A default interval costs no heavy import."""
    program = (
        "import sys; from scorekit.intervals import proportion_interval\n"
        "proportion_interval(1, 10); sys.exit(bool({'numpy', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("case", REFERENCE["clustered_se"])
def test_reference_clustered_errors(case: dict[str, Any]) -> None:
    """Errors with and without clusters, made before this code, read off half the width."""
    scores, clusters = case["input"]["scores"], case["input"]["clusters"]
    expected = case["output"]
    clustered = mean_interval(scores, clusters=clusters)
    quantile = stats.t.isf(0.025, expected["t_df"])
    stderr = (clustered.high - clustered.low) / 2 / quantile
    assert (clustered.high + clustered.low) / 2 == pytest.approx(expected["mean"], rel=1e-9)
    assert stderr == pytest.approx(expected["cr1_inspect"], rel=1e-9)
    assert stderr * math.sqrt(3 / 4) == pytest.approx(expected["cr0_miller"], rel=1e-9)
    plain = mean_interval(scores)
    naive = (plain.high - plain.low) / 2 / stats.t.isf(0.025, len(scores) - 1)
    assert naive == pytest.approx(expected["naive"], rel=1e-9)
    pooled = mean_interval(scores, clusters=clusters, weights="attempts")
    assert ends(pooled) == pytest.approx(ends(clustered))
    methods = (plain.method, clustered.method, pooled.method)
    assert methods == ("t", "t of group means", "clustered t")


def test_reference_t_interval() -> None:
    """The t intervals of a suite's scores and of paired differences, made before this code."""
    (case,) = REFERENCE["mean_pass_at_k_ci"]
    counts = case["input"]
    scores = [
        pass_at_k(n_samples=n, n_correct=c, k=counts["k"]).score
        for n, c in zip(counts["n"], counts["c"], strict=True)
    ]
    assert [*ends(mean_interval(scores))] == pytest.approx(case["output"]["t_ci95"], rel=1e-9)
    (case,) = REFERENCE["paired_difference"]
    deltas = [b - a for a, b in zip(case["input"]["a"], case["input"]["b"], strict=True)]
    assert [*ends(mean_interval(deltas))] == pytest.approx(case["output"]["ci95"], rel=1e-9)


@given(
    st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(0, 3)), min_size=3, max_size=20),
    st.floats(0.5, 0.99),
)
def test_clusters_of_any_size_against_the_jackknife(
    rows: list[tuple[float, int]], confidence_level: float
) -> None:
    """Oracle: the means without each group in turn, on the effective number of groups."""
    values, clusters = (np.array(column) for column in zip(*rows, strict=True))
    labels, sizes = np.unique(clusters, return_counts=True)
    if labels.size == 1:
        return
    shifts = [values[clusters != label].mean() - values.mean() for label in labels]
    stderr = math.sqrt((1 - 1 / labels.size) * np.square(shifts).sum())
    df = values.size**2 / np.square(sizes).sum() - 1
    reach = stderr * stats.t.isf((1 - confidence_level) / 2, df)
    result = mean_interval(
        values, clusters=clusters, weights="attempts", confidence_level=confidence_level
    )
    expected = values.mean() - reach, values.mean() + reach
    assert ends(result) == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "sizes", [[40] + [3] * 20, [60] + [1] * 40, [10] * 3 + [5] * 3 + [1] * 10]
)
def test_uneven_clusters_are_covered(sizes: list[int]) -> None:
    """CR1 errors with a degree of freedom for each group covered 39 to 88 of 100 here."""
    rng, labels, hits = np.random.default_rng(2), np.repeat(np.arange(len(sizes)), sizes), 0
    for _ in range(200):
        n_correct = rng.binomial(5, rng.beta(0.5, 0.5, len(sizes))[labels])
        suite = pass_at_k(n_samples=[5] * labels.size, n_correct=n_correct, clusters=labels)
        mean = mean_interval(n_correct / 5, clusters=labels)
        hits += suite.interval.low <= 0.5 <= suite.interval.high
        hits += mean.low <= 0.5 <= mean.high
    assert hits >= 370


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20), st.floats(0.01, 0.99))
def test_t_interval_agrees_with_scipy(values: list[float], confidence_level: float) -> None:
    """Oracle: scipy's interval of the mean."""
    theirs: Any = (values[0], values[0])
    if len(set(values)) > 1:
        theirs = stats.ttest_1samp(values, 0.0).confidence_interval(confidence_level)
    found = ends(mean_interval(values, confidence_level=confidence_level))
    assert found == pytest.approx(tuple(theirs), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("size", [5e-324, 1e-200, 0.1, 1e200, 1.7e308])
def test_the_mean_of_any_size_has_an_interval(size: float) -> None:
    """Neither squares nor sums overflow; equal values have no width."""
    assert ends(mean_interval([size] * 3)) == (size, size)
    spread = mean_interval([size / 2, 0.0, -size / 2])
    assert spread.low == -spread.high <= 0.0
    wide = mean_interval([-size, size])
    assert -math.inf <= wide.low < 0.0 < wide.high


def test_one_value_or_one_cluster_bounds_nothing() -> None:
    """There is no spread between groups to learn from: t with no degree of freedom."""
    for values, clusters in (([0.5], None), ([0.5, 0.7], ["a", "a"])):
        assert ends(mean_interval(values, clusters=clusters)) == (-math.inf, math.inf)
        assert ends(mean_interval(values, clusters=clusters, bounds=(-1, 2))) == (-1, 2)


@cache
def ends_of(counts: tuple[int, int, int]) -> tuple[float, float]:
    """Return the interval of so many scores of 0, 0.5 and 1, once for all shares."""
    return ends(mean_interval(np.repeat([0, 0.5, 1], counts), bounds=(0, 1)))


def exact_coverage(n: int, shares: tuple[float, float, float]) -> float:
    """Return the chance that the interval of *n* scores of 0, 0.5 and 1 holds their mean."""
    covered, truth = 0.0, shares[1] / 2 + shares[2]
    for zeros in range(n + 1):
        for halves in range(n + 1 - zeros):
            counts = zeros, halves, n - zeros - halves
            chance = float(stats.multinomial.pmf(counts, n, shares))
            if chance > 1e-9:
                low, high = ends_of(counts)
                covered += chance * (low <= truth <= high)
    return covered


@pytest.mark.parametrize("share", [0.5, 0.86, 0.95, 0.99, 0.999])
@pytest.mark.parametrize("halves", [0.0, 0.5, 1.0])
def test_coverage_of_bounded_scores(share: float, halves: float) -> None:
    """Enumeration of 30 scores: Student's t held the mean of 0.999 ones 3 times in 100."""
    rest = 1 - share
    assert exact_coverage(30, (rest * (1 - halves), rest * halves, share)) >= 0.945


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("rates", "n_runs"), [((0.5, 0.5), 3), ((9, 1), 3), ((4.5, 0.5), 10), ((57, 3), 10)]
)
def test_coverage_of_bounded_scores_in_clusters(rates: tuple[float, float], n_runs: int) -> None:
    """Simulation: 20 tasks with a rate of their own, run several times."""
    rng, held = np.random.default_rng(6), 0
    tasks = np.repeat(np.arange(20), n_runs)
    for _ in range(100):
        scores = (rng.random(tasks.size) < rng.beta(*rates, 20)[tasks]).astype(float)
        result = mean_interval(scores, bounds=(0, 1), clusters=tasks)
        held += result.low <= rates[0] / sum(rates) <= result.high
    assert held >= 91


BOUNDED = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), min_size=1)


@given(BOUNDED, st.floats(0.5, 0.99), st.randoms(use_true_random=False), st.integers(1, 5))
def test_laws_of_bounded_intervals(
    scores: list[float], confidence_level: float, random: Any, n_groups: int
) -> None:
    """In the bounds, around the mean, in any order, mirrored, scaled; wider at a higher level."""

    def bounded(values: Any, clusters: Any = None, bounds: tuple[float, float] = (0, 1)) -> Any:
        options: dict[str, Any] = {"weights": "attempts", "confidence_level": confidence_level}
        result = mean_interval(values, bounds=bounds, clusters=clusters, **options)
        assert result.method == ("gaffke" if clusters is None else "clustered gaffke")
        return ends(result)

    low, high = bounded(scores)
    mean = math.fsum(scores) / len(scores)
    assert 0 <= low <= mean + 1e-12
    assert mean - 1e-12 <= high <= 1
    assert bounded(random.sample(scores, len(scores))) == (low, high)
    assert bounded([1 - x for x in scores]) == pytest.approx((1 - high, 1 - low), abs=1e-7)
    scaled = bounded([4 * x - 2 for x in scores], bounds=(-2, 2))
    assert scaled == pytest.approx((4 * low - 2, 4 * high - 2), abs=1e-7)
    assert bounded(scores, range(len(scores))) == (low, high)
    wider = mean_interval(scores, bounds=(0, 1), confidence_level=0.995)
    assert wider.low <= low + 1e-7
    assert high <= wider.high + 1e-7
    groups = [i % n_groups for i in range(len(scores))]
    rows = random.sample(list(zip(scores, groups, strict=True)), len(scores))
    assert bounded(*zip(*rows, strict=True)) == bounded(scores, groups)


@pytest.mark.parametrize("n", [1, 2, 7, 20, 100])
def test_flags_are_bound_by_clopper_and_pearson(n: int) -> None:
    """Oracle: the beta quantiles; and those of equal scores, one of which is at the end."""
    for n_passed in {0, 1, n // 2, n}:
        found = ends_of((n - n_passed, 0, n_passed))
        low = stats.beta.ppf(0.025, n_passed, n - n_passed + 1) if n_passed else 0.0
        high = stats.beta.isf(0.025, n_passed + 1, n - n_passed) if n_passed < n else 1.0
        assert found == pytest.approx((low, high) if n > 1 else (0.0, 1.0), abs=1e-8)
    if n > 1:
        rest = 0.025 ** (1 / n)
        found = ends(mean_interval([0.3] * n, bounds=(0, 1)))
        assert found == pytest.approx((0.3 * rest, 1 - 0.7 * rest), abs=1e-8)


def test_bounded_interval_against_its_definition() -> None:
    """Oracle: a million draws of the weights that chance gives to the scores and to the end."""
    scores = np.array([0.9, 0.85, 0.92, 0.4, 1.0, 0.77])
    drawn = np.random.default_rng(5).dirichlet(np.ones(7), 1_000_000)
    low = np.quantile(drawn @ np.append(scores, 0.0), 0.025)
    high = np.quantile(drawn @ np.append(scores, 1.0), 0.975)
    assert ends(mean_interval(scores, bounds=(0, 1))) == pytest.approx((low, high), abs=2e-3)


@pytest.mark.sampled
@pytest.mark.parametrize(("n", "most"), [(10, 2.5), (30, 2.0), (100, 1.5), (2000, 1.1)])
def test_what_it_costs_to_allow_for_rare_scores(n: int, most: float) -> None:
    """Simulation: never narrower than t where t holds, and close to it for many."""
    rng = np.random.default_rng(8)
    both = [
        [np.ptp(ends(mean_interval(scores, bounds=bounds))) for bounds in ((0, 1), None)]
        for scores in np.clip(rng.normal(0.7, 0.1, (100, n)), 0, 1)
    ]
    assert 1.0 <= np.median([bounded / plain for bounded, plain in both]) <= most


@pytest.mark.sampled
@pytest.mark.parametrize("n", [10, 30, 100])
def test_rare_zeros_among_tight_grades(n: int) -> None:
    """Simulation: t and Wilson's on an effective number held .32 to .92 of such runs."""
    rng, held = np.random.default_rng(9), 0
    for _ in range(120):
        grades = np.where(rng.random(n) < 0.03, 0.0, np.clip(rng.normal(0.9, 0.02, n), 0, 1))
        interval = mean_interval(grades, bounds=(0, 1))
        held += interval.low <= 0.97 * 0.9 <= interval.high
    assert held >= 107  # of 120 at .95, less 2.6 standard errors


@refusals("""
bounds=1 -> TypeError: bounds must be a non-empty sequence of two numbers, got 1
bounds=(0,) -> InputError: bounds must be a pair (lowest, highest), got (0,)
bounds=(0, "1") -> TypeError: bounds[1] must be a finite number, got '1'
bounds=(-math.inf, 0) -> InputError: bounds[0] must be a finite number, got -inf
bounds=(-math.inf, math.inf) -> InputError: bounds[0] must be a finite number, got -inf
bounds=(0, math.inf), values=[1, -1]
    -> InputError: values[1] must be a finite number >= 0, got -1.0
weights="tasks" -> InputError: weights must be one of 'groups', 'attempts', got 'tasks'
bounds=(1, 0)
    -> InputError: bounds must be two numbers in rising order, their difference finite, got (1,
    0)
bounds=(-1e308, 1e308)
    -> InputError: bounds must be two numbers in rising order, their difference finite, got
    (-1e+308, 1e+308)
bounds=(0, 1), values=[0.5, 1.5] -> InputError: values[1] must be a number in [0, 1], got 1.5
bounds=(0, 1), values=[0.5, math.nan]
    -> InputError: values[1] must be a number in [0, 1], got nan
values=[] -> InputError: values must be a non-empty sequence of numbers, got ()
values=[0, math.nan] -> InputError: values[1] must be a finite number, got nan
values=[0, "yes"] -> TypeError: values[1] must be a finite number, got 'yes'
values=0.5 -> TypeError: values must be a non-empty sequence of numbers, got 0.5
clusters=["a"] -> InputError: clusters must be 2 labels, one for each entry, got 1
clusters=[{}, {}] -> TypeError: clusters[0] must be a hashable label, got {}
clusters="ab" -> TypeError: clusters must be a non-empty sequence of labels, got 'ab'
""")
def test_mean_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(mean_interval, values=[0.0, 1.0])


@refusals("""
n_trials=0 -> InputError: n_trials must be an integer >= 1, got 0
n_trials=2**53 + 1
    -> InputError: n_trials must be an integer of at most 2**53, got 9007199254740993
n_trials=2.0 -> TypeError: n_trials must be an integer >= 1, got 2.0
n_successes=-1 -> InputError: n_successes must be an integer in [0, n_trials = 10], got -1
n_successes=11 -> InputError: n_successes must be an integer in [0, n_trials = 10], got 11
n_successes=True -> TypeError: n_successes must be an integer in [0, n_trials = 10], got True
method="wald"
    -> InputError: method must be one of 'wilson', 'jeffreys', 'clopper-pearson',
    'bayes-uniform', got 'wald'
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(proportion_interval, n_successes=1, n_trials=10)


@refusals("""
low=0.7 -> InputError: high must be a number >= low = 0.7, got 0.5
low=math.nan -> InputError: low must be a finite number, got nan
high="1" -> TypeError: high must be a finite number, got '1'
confidence_level=0.0 -> InputError: confidence_level must be a number in (0, 1), got 0.0
note="" -> InputError: note must be a non-empty string, got ''
""")
def test_interval_errors(wrong: Refusal) -> None:
    """An interval made by hand is held to the same invariant."""
    wrong.by(Interval, low=0.25, high=0.5, confidence_level=0.95, method="mine")


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=120),
    st.sampled_from([0.05, 0.25, 0.5, 0.9, 0.95]),
    st.sampled_from([0.51, 0.91, 0.953, 0.99]),  # at a tie scipy goes by rounding
)
def test_quantile_intervals_are_scipys(values: list[float], q: float, level: float) -> None:
    """Oracle: the interval of scipy's quantile test, NaN where it finds no end."""
    result = quantile_interval(values, q, confidence_level=level)
    theirs: Any = stats.quantile_test(values, p=q).confidence_interval(level)
    low, high = np.where(np.isnan(theirs), [-math.inf, math.inf], theirs).tolist()
    assert (result.low, result.high, result.method) == (low, high, "order statistics")


@pytest.mark.parametrize(
    ("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (25, (8, 18)), (50, (18, 33))]
)
def test_ranks_of_the_median(n: int, ranks: tuple[int, int]) -> None:
    """Those of the sign test's tables at 95 %."""
    assert ends(quantile_interval(range(1, n + 1), 0.5)) == ranks


@pytest.mark.parametrize(("q", "fewest"), [(0.5, 6), (0.95, 72)])
def test_few_values_bound_no_quantile(q: float, fewest: int) -> None:
    """An end is infinite rather than too near, and travels through strict JSON."""
    enough, few = (quantile_interval(range(n), q) for n in (fewest, fewest - 1))
    assert enough.high == fewest - 1
    assert few.high == math.inf
    two = quantile_interval([1, 2], 0.5)
    assert ends(two) == (-math.inf, math.inf)


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n_copies", [1, 3])
def test_quantiles_of_clusters_of_copies(q: float, n_copies: int) -> None:
    """Copies tell nothing new: what one value of each cluster says, they say."""
    values = np.random.default_rng(5).exponential(size=60)
    alone = quantile_interval(values, q)
    clusters = np.tile(np.arange(60), n_copies)
    result = quantile_interval(np.tile(values, n_copies), q, clusters=clusters)
    places = np.searchsorted(np.sort(values), [[alone.low, alone.high], [result.low, result.high]])
    assert abs(places[0] - places[1]).max() <= 2  # Student's quantile costs a rank or two
    assert result.low <= alone.low <= alone.high <= result.high
    assert result.method == "clustered order statistics"
    labels = [f"case {code}" for code in clusters]
    assert quantile_interval(np.tile(values, n_copies), q, clusters=labels) == result


def test_quantiles_of_clusters_hold_their_level() -> None:
    """Attempts at one task that are alike tell less than as many tasks."""
    rng = np.random.default_rng(8)
    clusters = np.repeat(np.arange(30), 6)
    held = {True: 0, False: 0}
    for _ in range(200):
        values = np.repeat(rng.normal(size=30), 6) + rng.normal(size=180)
        for own in held:
            within = quantile_interval(values, 0.5, clusters=clusters if own else None)
            held[own] += within.low <= 0.0 <= within.high
    assert held[True] >= 180
    assert held[False] <= 170


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 3)), min_size=1, max_size=30))
def test_quantiles_of_clusters_are_values(rows: list[tuple[float, int]]) -> None:
    """Or infinite; one cluster bounds nothing, and the order of rows does not matter."""
    values, clusters = ([row[i] for row in rows] for i in (0, 1))
    result = quantile_interval(values, 0.5, clusters=clusters)
    assert {*ends(result)} <= {*values, -math.inf, math.inf}
    assert result == quantile_interval(values[::-1], 0.5, clusters=clusters[::-1])
    assert len(set(clusters)) > 1 or ends(result) == (-math.inf, math.inf)


@refusals("""
clusters=["a"] -> InputError: clusters must be 3 labels, one for each entry, got 1
values=[] -> InputError: values must be a non-empty sequence of numbers, got ()
values=[1, math.nan] -> InputError: values[1] must be a finite number, got nan
q=1 -> InputError: q must be a number in (0, 1), got 1
q="0.5" -> TypeError: q must be a number in (0, 1), got '0.5'
""")
def test_quantile_interval_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by(quantile_interval, values=[1, 2, 3], q=0.5)


def test_flags_have_a_mean() -> None:
    """Harnesses write flags: they count 0 and 1, alone or among numbers."""
    flags = [True, False, True, True]
    expected = mean_interval([1, 0, 1, 1], bounds=(0, 1))
    columns: list[Any] = [flags, np.array(flags), [1, False, 1.0, np.True_]]
    for values in columns:
        assert mean_interval(values, bounds=(0, 1)) == expected


def test_a_level_next_to_1_is_reached_however_it_is_shared() -> None:
    """Half of what is left of it rounds to nothing."""
    level = 1 - 2**-53
    verdict = compare_reports({"a": 1, "b": 0}, {"a": 0, "b": 0}, confidence_level=level).suite
    assert verdict.verdict == "inconclusive"
    assert verdict.interval.high == pytest.approx(1.0, abs=1e-5)


def test_an_interval_within_far_bounds_holds_its_mean() -> None:
    """Digits of it are lost beside them, and no sum of large values overflows."""
    for values, bounds in (([1.0, 1.0], (-1e100, 1.0)), ([8e307] * 3, (0.0, 8.1e307))):
        low, high = ends(mean_interval(values, bounds=bounds))
        assert low <= values[0] <= high


ROWS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=25)


@given(ROWS, st.sampled_from([None, (0.0, 1.0), (0.0, math.inf)]))
def test_groups_weigh_the_same(
    rows: list[tuple[float, int]], bounds: tuple[float, float] | None
) -> None:
    """Oracle: the interval of the means of groups, each taken as one value."""
    values, groups = (list(side) for side in zip(*rows, strict=True))
    of_group = {g: [v for v, own in rows if own == g] for g in groups}
    means = [math.fsum(own) / len(own) for own in of_group.values()]
    expected = mean_interval(means, bounds=bounds)
    found = mean_interval(values, bounds=bounds, clusters=groups)
    assert ends(found) == pytest.approx(ends(expected), rel=1e-6)
    assert found.method == f"{expected.method} of group means"
    assert found == mean_interval(values, bounds=bounds, clusters=groups, weights="groups")


def test_amounts_without_an_upper_bound() -> None:
    """Law: the scale may begin anywhere, and the unit does not matter; t would reach below 0."""
    usd = [0.12, 0.3, 0.08, 0.22, 0.15, 1.6, 0.11, 0.09, 0.25, 0.18]
    plain = mean_interval(usd, bounds=(0, math.inf))
    assert plain.low > 0.0 > mean_interval(usd).low
    assert (plain.method, plain.note) == ("log bootstrap-t", None)
    cents = ends(mean_interval([100 * value for value in usd], bounds=(0, math.inf)))
    assert cents == pytest.approx((100 * plain.low, 100 * plain.high))
    shifted = ends(mean_interval([value - 3 for value in usd], bounds=(-3, math.inf)))
    assert shifted == pytest.approx((plain.low - 3, plain.high - 3))
    assert ends(mean_interval([2.0], bounds=(0, math.inf))) == (0.0, math.inf)


@pytest.mark.parametrize(("values", "note"), [
    ([0.0] * 9 + [1.0], "with so few values above 0, 0.66 to 0.94 of simulated 95 % inte"),
    ([10.0**i for i in range(8)], "with such long tails, 0.78 to 0.94 of simulated 95 % in"),
    ([1.0, 2.0, 3.0, 4.0], None),
    ([0.0] * 5, None),
    ([0.0] * 50 + [1.0, 2.0] * 5, None),
])  # fmt: skip
def test_where_no_method_holds_the_interval_says_so(values: list[float], note: str) -> None:
    """Few amounts above 0 among zeros, and tails that few values do not show."""
    found = mean_interval(values, bounds=(0, math.inf))
    assert (found.note or "").startswith(note or "")
    assert (found.note is None) == (note is None) == ("(with " not in str(found))
    assert mean_interval(values).note is None
    by_hand = Interval(low=0.0, high=1.0, confidence_level=0.95, method="t", note="few values")
    assert str(by_hand) == "[0, 1] (few values)"


def test_a_lower_end_is_never_above_the_mean() -> None:
    """Also where so little confidence is asked for that it would be."""
    lower = Lower(np.array([0.2, 0.9, 0.0]), np.ones(3), np.ones(3), mean=0.55, lowest=0.0)
    assert lower.chance(0.55) < 0.999
    assert lower.end(0.999) == 0.55
    assert lower.end(0.025) < 0.55
