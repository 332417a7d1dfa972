"""pass_at_k and its variants: sourced values, errors, laws, and exact rationals as the oracle."""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats

from scorekit import code_report_from_columns
from scorekit._stats.chances import BLOCK, EXACT_UP_TO, blocks, one_task
from scorekit.errors import InputError
from scorekit.intervals import proportion_interval, t_quantile
from scorekit.sampling import g_pass_at_k, pass_at_k, pass_at_k_per_task, pass_hat_k

REFERENCE = json.loads((Path(__file__).parent / "data" / "sampling.json").read_text())
SMALLEST_NORMAL = sys.float_info.min


def _counts(max_n: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(1, max_n).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


SUITES = st.lists(_counts(30), min_size=1, max_size=12)


def _columns(tasks: list[tuple[int, int]]) -> dict[str, Any]:
    n_samples, n_correct = zip(*tasks, strict=True)
    return {"n_samples": n_samples, "n_correct": n_correct}


def _exact(n: int, c: int, k: int) -> tuple[int, int]:
    """Return the failure as a ratio of integers; it is symmetric in c and k."""
    few, many = sorted((c, k))
    return math.perm(n - many, few), math.perm(n, few)


def _fraction(n: int, c: int, k: int) -> Fraction:
    return 1 - Fraction(*_exact(n, c, k))


def _relative_error(value: float, top: int, bottom: int) -> float:
    if top == 0:
        return abs(value)
    a, b = value.as_integer_ratio()
    return abs(a * bottom - top * b) / (top * b)


# Sourced values.


@pytest.mark.parametrize("case", REFERENCE["pass_at_k"])
def test_reference_values(case: dict[str, Any]) -> None:
    """Score and failure made before this code from exact rationals."""
    counts = case["input"]
    result = pass_at_k(n_samples=counts["n"], n_correct=counts["c"], k=counts["k"])
    assert result.score == pytest.approx(case["output"]["p"], rel=1e-15, abs=0.0)
    exact = case["output"]["p_exact"]  # None where the fraction is too long to print
    assert exact is None or result.score == pytest.approx(float(Fraction(exact)), rel=1e-15)
    assert result.failure == pytest.approx(case["output"]["q"], rel=1e-14, abs=0.0)


@pytest.mark.parametrize("case", REFERENCE["pass_at_k_sampling_var"])
def test_reference_sampling_variance(case: dict[str, Any]) -> None:
    """The error for exactly these tasks is the root of the unbiased variance."""
    counts = case["input"]
    result = pass_at_k(n_samples=counts["n"], n_correct=counts["c"], k=counts["k"])
    assert present(result.stderr_same_tasks) ** 2 == pytest.approx(case["output"], rel=1e-9)


def test_reference_suite() -> None:
    """Mean, both standard errors and the interval of a suite, made before this code."""
    (case,), (wilson,) = REFERENCE["mean_pass_at_k_ci"], REFERENCE["mean_pass_at_k_wilson_neff"]
    counts, expected = case["input"], case["output"]
    result = pass_at_k(n_samples=counts["n"], n_correct=counts["c"], k=counts["k"])
    assert result.score == pytest.approx(expected["mean"], rel=1e-15)
    assert result.failure == pytest.approx(1 - expected["mean"], rel=1e-15)
    assert result.stderr == pytest.approx(expected["se_tasks_random"], rel=1e-9)
    assert result.stderr_same_tasks == pytest.approx(expected["se_tasks_fixed"], rel=1e-9)
    assert [*ends(result.interval)] == pytest.approx(wilson["output"]["ci95"], rel=1e-9)
    assert result.interval.method == "wilson-n_eff"
    variance = present(result.stderr) ** 2
    n_effective = result.score * result.failure / variance
    assert n_effective == pytest.approx(wilson["output"]["n_eff"], rel=1e-9)
    assert t_quantile(0.95, result.n_tasks - 1) == pytest.approx(wilson["output"]["t"], rel=1e-9)
    between = result.n_tasks * (variance - expected["se_tasks_fixed"] ** 2)
    assert between == pytest.approx(expected["between_var"], rel=1e-9)


def test_all_that_a_result_says() -> None:
    """One task by hand: 11/12, and the sampling variance 1/144 - 0."""
    result = pass_at_k(n_samples=10, n_correct=3, k=5, confidence_level=0.9)
    share = proportion_interval(3, 10, confidence_level=0.9)
    assert (result.score, result.failure) == (11 / 12, 1 / 12)
    assert (result.k, result.n_tasks, result.n_tasks_used, result.stderr) == (5, 1, 1, None)
    assert result.stderr_same_tasks == pytest.approx(1 / 12)
    low, high = (1 - (1 - end) ** 5 for end in ends(share))
    assert ends(result.interval) == pytest.approx((low, high))
    assert result.interval.confidence_level == 0.9
    assert result.interval.method == "wilson carried through 1 - (1 - p)^k"


# Accuracy.


def _task(rng: np.random.Generator, k: int) -> tuple[int, int]:
    """Draw n up to 1e6 and c from a corner: few, all but few, barely k wrong ones, or c k ~ n."""
    most = 10**6
    n = min(most, k + int((most + 1 - k) ** rng.random()) - int(rng.integers(2)))
    few, fewer, fewest = (int(n ** rng.random()) for _ in range(3))
    corners = [few, n - fewer, n - k - fewest + 1, int(n / k * rng.uniform(0.01, 740.0))]
    return n, min(max(int(rng.choice([*corners, int(rng.integers(n + 1))])), 0), n)


def _assert_accurate(n: int, c: int, k: int, score: float, failure: float) -> None:
    if c * k > 750 * n:  # the failure is at most exp(-750)
        assert (score, failure) == (1.0, 0.0)
        return
    top, bottom = _exact(n, c, k)
    assert _relative_error(score, bottom - top, bottom) <= 1e-14, (n, c, k)
    if top / bottom >= SMALLEST_NORMAL:
        assert _relative_error(failure, top, bottom) <= 2e-14, (n, c, k)
    else:
        assert failure == pytest.approx(top / bottom, abs=1e-320)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(10))
def test_accuracy_against_exact_rationals(seed: int) -> None:
    """Oracle: integers, over all sizes and the corners where other forms lose their digits."""
    rng = np.random.default_rng(seed)
    for k in [*range(1, 24), *(int(10 ** rng.uniform(1, 6)) for _ in range(40))]:
        tasks = [_task(rng, k) for _ in range(8)]
        n, c = np.array(tasks).T
        ((_, chances),) = blocks(n, c, (k,))
        for (n_samples, n_correct), score, failure in zip(tasks, *chances[k], strict=True):
            _assert_accurate(n_samples, n_correct, k, float(score), float(failure))
            _assert_accurate(n_samples, n_correct, k, *one_task(n_samples, n_correct, k))


@pytest.mark.parametrize(("n", "c", "k"), [
    (2**53, 1, 1), (2**53, 1, 2**53), (2**53, 2**53 - 1, 1), (2**53 - 1, 10_000, 10**12),
    (2**53 - 1, 400, 2**52 + 1), (2**53 - 1, 2**53 - 10**6, 17), (10**15, 21, 10**15 - 30),
    (10**12, 10**6, 10**4),
])  # fmt: skip
def test_accuracy_does_not_end_at_a_million(n: int, c: int, k: int) -> None:
    """Counts are exact in floats up to 2**53, and so are the bases of the powers."""
    _assert_accurate(n, c, k, *one_task(n, c, k))
    ((_, chances),) = blocks(np.array([n]), np.array([c]), (k,))
    score, failure = chances[k]
    _assert_accurate(n, c, k, float(score[0]), float(failure[0]))


@pytest.mark.parametrize(("n", "c", "k"), [(1000, 500, 100), (2000, 1000, 200)])
def test_a_steady_run_is_exact_however_unlikely(n: int, c: int, k: int) -> None:
    """As the exponential of one logarithm both miss 1e-14, by 1.6e-14 and 2.2e-14."""
    exact = math.comb(c, k), math.comb(n, k)
    for counts in ((n, c), ([n, n], [c, c])):
        result = pass_hat_k(n_samples=counts[0], n_correct=counts[1], k=k)
        assert _relative_error(result.score, *exact) <= 1e-14


def test_a_rare_success_in_a_million_samples_keeps_its_error() -> None:
    """By `math.lgamma`, which rounds the logarithm of a million's factorial, it is 6 % off."""
    n, k = 10**6, 100
    failure, of_twice = Fraction(n - k, n), Fraction(n - 2 * k, n)
    result = pass_at_k(n_samples=n, n_correct=1, k=k)
    assert result.stderr_same_tasks == pytest.approx(math.sqrt(failure**2 - of_twice), rel=1e-10)


@given(_counts(EXACT_UP_TO), st.data())
def test_one_small_task_is_correctly_rounded(counts: tuple[int, int], data: st.DataObject) -> None:
    """Oracle: the fraction nearest to the float."""
    n, c = counts
    k = data.draw(st.integers(1, n))
    result = pass_at_k(n_samples=n, n_correct=c, k=k)
    exact = _fraction(n, c, k)
    assert (result.score, result.failure) == (float(exact), float(1 - exact))


@given(_counts(9), st.data())
def test_equals_enumeration(counts: tuple[int, int], data: st.DataObject) -> None:
    """Oracle: the share of all k-subsets that hold a correct sample."""
    n, c = counts
    k = data.draw(st.integers(1, n))
    subsets = list(combinations(range(n), k))
    hits = sum(min(subset) < c for subset in subsets)
    assert pass_at_k(n_samples=n, n_correct=c, k=k).score == hits / len(subsets)


@pytest.mark.parametrize(("n", "k"), [(8, 1), (8, 2), (8, 4), (11, 3)])
def test_sampling_variance_is_unbiased(n: int, k: int) -> None:
    """Oracle: averaged over all outcomes of n trials it is the variance of the estimator."""
    rate = Fraction(1, 3)
    chances = [math.comb(n, c) * rate**c * (1 - rate) ** (n - c) for c in range(n + 1)]
    scores = [_fraction(n, c, k) for c in range(n + 1)]
    mean = sum(p * s for p, s in zip(chances, scores, strict=True))
    variance = sum(p * (s - mean) ** 2 for p, s in zip(chances, scores, strict=True))
    estimates = [
        pass_at_k(n_samples=n, n_correct=c, k=k).stderr_same_tasks or 0.0 for c in range(n + 1)
    ]
    average = sum(float(p) * e**2 for p, e in zip(chances, estimates, strict=True))
    assert average == pytest.approx(float(variance), rel=1e-12)


# Suites.


@given(SUITES, st.integers(1, 12))
def test_suite_is_the_mean_over_tasks(tasks: list[tuple[int, int]], k: int) -> None:
    """Oracle: rationals for the mean and the variance of each task, `statistics` for the rest."""
    used = [(n, c) for n, c in tasks if n >= k]
    if not used:
        return
    result = pass_at_k(**_columns(tasks), k=k, insufficient="drop")
    assert (result.n_tasks, result.n_tasks_used) == (len(tasks), len(used))
    scores = [_fraction(n, c, k) for n, c in used]
    assert result.score == pytest.approx(float(statistics.mean(scores)), rel=1e-14, abs=0.0)
    assert result.failure == pytest.approx(float(1 - statistics.mean(scores)), rel=2e-14, abs=0.0)
    if len(used) == 1:
        assert result.stderr is None
    else:
        expected = statistics.stdev(scores) / math.sqrt(len(used))
        assert result.stderr == pytest.approx(expected, rel=1e-12, abs=1e-15)
    if all(n >= 2 * k for n, _ in used):
        total = sum((1 - _fraction(n, c, k)) ** 2 - 1 + _fraction(n, c, 2 * k) for n, c in used)
        expected = math.sqrt(total) / len(used)
        assert result.stderr_same_tasks == pytest.approx(expected, rel=1e-9, abs=1e-9)
    else:
        assert result.stderr_same_tasks is None


@given(SUITES, st.lists(st.integers(1, 12), min_size=1, max_size=4))
def test_several_ks_are_what_each_is(tasks: list[tuple[int, int]], ks: list[int]) -> None:
    """Bit for bit: sharing the work between the *ks* must not show, nor their order."""
    together = pass_at_k(**_columns(tasks), k=ks, insufficient="nan")
    alone = [pass_at_k(**_columns(tasks), k=k, insufficient="nan") for k in ks]
    assert [str(result) for result in together] == [str(result) for result in alone]
    all_pass = pass_hat_k(**_columns(tasks), k=ks, insufficient="nan")
    assert all_pass == tuple(pass_hat_k(**_columns(tasks), k=k, insufficient="nan") for k in ks)
    columns = np.array(ks), range(ks[0], ks[0] + 1)  # any sequence will do, also one of a single k
    for k in columns:
        assert len(pass_at_k(**_columns(tasks), k=k, insufficient="nan")) == len(k)


@pytest.mark.parametrize(("n", "n_distinct"), [(200, 1), (200, 3), (4000, 999), (10**6, 3)])
def test_a_long_suite_is_what_its_tasks_are(n: int, n_distinct: int) -> None:
    """Through the table of distinct tasks as through blocks, the sums are those of the array."""
    rng = np.random.default_rng(3)
    n_samples = np.full(BLOCK + 500, n) - rng.integers(0, n_distinct, BLOCK + 500)
    n_correct = rng.integers(0, n_samples + 1)
    for k in (1, 7, 60):
        columns: dict[str, Any] = {"n_samples": n_samples, "n_correct": n_correct, "k": k}
        result, scores = pass_at_k(**columns), pass_at_k_per_task(**columns)
        assert result.score == pytest.approx(scores.mean(), rel=1e-15)
        assert result.stderr == pytest.approx(stats.sem(scores), rel=1e-9)
        some = range(0, scores.size, 13)
        one_by_one = [one_task(n_samples[i], n_correct[i], k)[0] for i in some]
        assert scores[some] == pytest.approx(one_by_one, rel=1e-14, abs=0.0)


def test_a_block_of_short_tasks_changes_nothing() -> None:
    """A whole block may drop out, even the first."""
    tasks = [(10**6, 40), (10**6, 0), (10**6, 700)]
    long = _columns([(5, 5)] * (BLOCK + 1) + tasks)
    result = pass_at_k(**long, k=100, insufficient="drop")
    alone = pass_at_k(**_columns(tasks), k=100)
    assert result.score == pytest.approx(alone.score, rel=1e-15)
    assert result.stderr == pytest.approx(alone.stderr)
    assert result.stderr_same_tasks == pytest.approx(alone.stderr_same_tasks)
    assert result.interval.high == pytest.approx(alone.interval.high)


@pytest.mark.parametrize("insufficient", ["raise", "drop"])
def test_clusters_of_many_like_tasks_are_left_out_one_by_one(insufficient: Any) -> None:
    """Oracle: the jackknife as defined, over exact scores; tasks that repeat share their work."""
    rng = np.random.default_rng(3)
    n = np.full(300, 6) if insufficient == "raise" else rng.choice([1, 6], 300, p=[0.1, 0.9])
    c, clusters = rng.integers(0, n + 1), rng.integers(0, 9, 300)
    result = pass_at_k(n_samples=n, n_correct=c, k=2, insufficient=insufficient, clusters=clusters)
    used = n == 6
    scores = np.array([float(_fraction(6, int(one), 2)) for one in c[used]])
    means = np.array([scores[clusters[used] != cluster].mean() for cluster in range(9)])
    assert result.score == pytest.approx(scores.mean(), rel=1e-12)
    variance = (1 - 1 / 9) * ((means - scores.mean()) ** 2).sum()
    assert result.stderr == pytest.approx(math.sqrt(variance), rel=1e-12)


def test_the_samples_of_all_tasks_may_be_more_than_an_integer_holds() -> None:
    """3000 tasks of 2**53 samples: each rate is known, and the interval is that of 3000 rates."""
    many, few = (
        pass_at_k(n_samples=[n] * 3000, n_correct=[n // 2, n // 4, n // 4] * 1000).interval
        for n in (2**53, 2**20)
    )
    assert ends(many) == pytest.approx(ends(few), rel=1e-6)


@pytest.mark.parametrize("number", [np.int64, np.uint8, np.array])
def test_numpy_integers_are_integers(number: Any) -> None:
    """Counts often come out of an array."""
    assert pass_at_k(n_samples=number(10), n_correct=number(3), k=number(5)).score == 11 / 12


# Laws.


@given(_counts(2000), st.data())
def test_laws_of_one_task(counts: tuple[int, int], data: st.DataObject) -> None:
    """Score and failure add up; more correct samples or attempts never lower the score."""
    n, c = counts
    k = data.draw(st.integers(1, n))
    result = pass_at_k(n_samples=n, n_correct=c, k=k)
    assert 0.0 <= result.interval.low <= result.score <= result.interval.high <= 1.0
    assert result.score + result.failure == pytest.approx(1.0, rel=1e-15)
    assert (result.failure == 0.0) >= (n - c < k)
    slack = 1 + 2e-14
    assert result.score <= one_task(n, min(c + 1, n), k)[0] * slack
    assert result.score <= one_task(n, c, min(k + 1, n))[0] * slack
    if c:
        assert one_task(n, k, c)[0] == pytest.approx(result.score, rel=1e-14)
    else:
        assert not result.score


@given(_counts(2**53))
def test_one_attempt_succeeds_as_often_as_samples_do(counts: tuple[int, int]) -> None:
    """At k = 1 the estimator is c / n exactly, and its interval that of the proportion."""
    n, c = counts
    result = pass_at_k(n_samples=n, n_correct=c)
    assert result.score == c / n
    assert pass_at_k_per_task(n_samples=[n, n], n_correct=[c, 0]).tolist() == [c / n, 0.0]
    assert ends(result.interval) == pytest.approx(ends(proportion_interval(c, n)), rel=1e-14)


@given(st.lists(_counts(400), min_size=2, max_size=30), st.sampled_from([1, 2, 30]))
def test_the_interval_of_a_suite_holds_its_score(tasks: list[tuple[int, int]], k: int) -> None:
    """Within [0, 1], whatever the spread."""
    tasks = [(n + k - 1, c) for n, c in tasks]
    result = pass_at_k(**_columns(tasks), k=k)
    assert 0.0 <= result.interval.low <= result.score <= result.interval.high <= 1.0


def test_a_suite_without_spread_knows_no_more_than_its_samples() -> None:
    """Equal scores would count as infinitely many tasks; all failing count as they are."""
    equal = pass_at_k(n_samples=[10] * 4, n_correct=[5] * 4)
    assert equal.stderr == 0.0
    wide = proportion_interval(20, 40)
    assert equal.interval.low < wide.low < wide.high < equal.interval.high  # t, not z
    nearly = pass_at_k(n_samples=[10**6] * 40, n_correct=[5 * 10**5 + i for i in range(40)])
    width = 2.02269 / math.sqrt(40 * 10**6)
    assert nearly.interval.high - nearly.interval.low == pytest.approx(width, rel=1e-4)


@pytest.mark.parametrize("n_tasks", [10, 20, 164])
def test_the_interval_holds_at_every_rate(n_tasks: int) -> None:
    """Oracle: all outcomes of one sample for each task, at rates up to the very edge."""
    totals = np.arange(n_tasks + 1)
    intervals = [
        pass_at_k(n_samples=[1] * n_tasks, n_correct=[1] * c + [0] * (n_tasks - c)).interval
        for c in totals.tolist()
    ]
    low, high = (np.array([getattr(i, end) for i in intervals]) for end in ("low", "high"))
    for rate in np.linspace(0.001, 0.999, 999):
        held = (low <= rate) & (rate <= high)
        assert stats.binom.pmf(totals[held], n_tasks, rate).sum() >= 0.92  # Wilson's alone: 0.84


def test_a_rare_failure_bounds_as_a_poisson_count_does() -> None:
    """Oracle: the chi-squared quantile of Brown, Cai and DasGupta, one failing task in ten."""
    result = pass_at_k(n_samples=[10] * 10, n_correct=[0] + [10] * 9, k=10)
    n_effective = 0.9 * 0.1 / (0.3**2 / 9)
    bound = stats.chi2.ppf(0.05, 2 * 0.1 * n_effective) / 2 / n_effective
    assert result.interval.high == pytest.approx(1 - bound, rel=1e-12)
    other = pass_at_k(n_samples=[10] * 10, n_correct=[10] + [0] * 9, k=10)
    assert other.interval.low == pytest.approx(bound, rel=1e-12)


def test_no_suite_says_more_than_one_without_failures() -> None:
    """One failing sample in a thousand cannot raise the lower end above that of none."""
    n_samples = [100] * 10
    perfect = pass_at_k(n_samples=n_samples, n_correct=n_samples)
    almost = pass_at_k(n_samples=n_samples, n_correct=[99, *n_samples[1:]])
    assert almost.interval.low <= perfect.interval.low < 0.7
    none = pass_at_k(n_samples=n_samples, n_correct=[0] * 10)
    hardly = pass_at_k(n_samples=n_samples, n_correct=[1] + [0] * 9)
    assert hardly.interval.high >= none.interval.high > 0.3


# Too few samples.


def test_too_few_samples_are_accounted_for() -> None:
    """Never 1.0 and never c/n for k > n: unknown, or left out and said so."""
    columns: dict[str, Any] = {"n_samples": [10, 4, 10], "n_correct": [3, 4, 0], "k": 5}
    unknown = pass_at_k(**columns, insufficient="nan")
    assert (unknown.stderr, unknown.stderr_same_tasks) == (None, None)
    assert str(unknown.interval) == "[0, 1]"
    assert pass_at_k(**columns, insufficient="drop").score == pytest.approx(11 / 24)
    per_task = pass_at_k_per_task(**columns, insufficient="nan")
    assert per_task.tolist() == pytest.approx([11 / 12, math.nan, 0.0], nan_ok=True)
    per_task = pass_at_k_per_task(**columns, insufficient="drop")
    assert per_task.tolist() == pytest.approx([11 / 12, 0.0])


def test_a_single_task_with_too_few_samples_may_be_unknown() -> None:
    """Its record says that no task was used."""
    result = pass_at_k(n_samples=2, n_correct=0, k=5, insufficient="nan")
    assert math.isnan(result.score)
    assert (result.n_tasks, result.n_tasks_used, result.interval.method) == (1, 0, "none")
    per_task = pass_at_k_per_task(n_samples=[2], n_correct=[1], k=2**53, insufficient="nan")
    assert math.isnan(per_task[0])


def test_one_task_needs_no_scipy() -> None:
    """Its interval has a normal quantile, for which the standard library will do."""
    program = (
        "import sys; from scorekit.sampling import pass_at_k\n"
        "pass_at_k(n_samples=10**6, n_correct=10, k=10**5)\n"
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


# Errors.


@refusals("""
n_samples=0 -> InputError: n_samples must be an integer >= 1, got 0
n_samples=True -> TypeError: n_samples must be an integer >= 1, got True
n_samples=math.nan -> InputError: n_samples must be an integer >= 1, got nan
n_samples=2**53 + 1
    -> InputError: n_samples must be an integer of at most 2**53, got 9007199254740993
n_correct=11 -> InputError: n_correct must be an integer in [0, n_samples = 10], got 11
n_correct=3.0 -> TypeError: n_correct must be an integer in [0, n_samples = 10], got 3.0
k=0 -> InputError: k must be an integer >= 1, got 0
k=1.5 -> TypeError: k must be an integer >= 1, got 1.5
k=11 -> InputError: n_samples must be >= k = 11, got 10; lower k or pass insufficient="nan"
k=11, insufficient="drop"
    -> InputError: n_samples must be >= k = 11, got 10; lower k or pass insufficient="nan"
insufficient="skip"
    -> InputError: insufficient must be one of 'raise', 'nan', 'drop', got 'skip'
n_samples=[10, 10] -> TypeError: n_correct must be a non-empty sequence of integers, got 3
n_correct=[3] -> TypeError: n_samples must be a non-empty sequence of integers, got 10
k=() -> InputError: k must be a non-empty sequence of integers, got ()
k=(1, 0) -> InputError: k[1] must be an integer >= 1, got 0
k=(1, 2**60) -> InputError: k[1] must be an integer of at most 2**53, got 1152921504606846976
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got, at every door."""
    functions: Any = (pass_at_k, pass_hat_k)
    for function in functions:
        wrong.by(function, n_samples=10, n_correct=3)


SUITE = {"n_samples": [10] * 3 + [4, 10, 4, 10], "n_correct": [3] * 7}


@refusals("""
k=5
    -> InputError: n_samples must be >= k = 5 for every task, got 2 of 7 tasks with fewer
    (first: n_samples[3] = 4); lower k or pass insufficient="nan" or "drop"
n_correct=[0, 1, 2, 12, 13, 0, 0], n_samples=[10] * 7
    -> InputError: n_correct[3] must be an integer in [0, n_samples[3] = 10], got 12
n_correct=[0, -1, 0, 0, 0, 0, 0] -> InputError: n_correct[1] must be an integer >= 0, got -1
n_samples=[10, -1, 0, 10, 10, 10, 10]
    -> InputError: n_samples[1] must be an integer >= 0, got -1
n_samples=[math.nan], n_correct=[3, 4]
    -> InputError: n_correct and n_samples must be equally long, got 2 and 1
n_samples=[], n_correct=[]
    -> InputError: n_samples must be a non-empty sequence of integers, got ()
insufficient=None -> TypeError: insufficient must be one of 'raise', 'nan', 'drop', got None
k="5" -> TypeError: k must be an integer >= 1, got '5'
""")
def test_column_errors(wrong: Refusal) -> None:
    """The first offending task is named; suite and per-task estimates refuse alike."""
    for function in (pass_at_k, pass_at_k_per_task):
        wrong.by(function, **SUITE)


def test_attempts_until_the_first_pass_are_refused() -> None:
    """Their share of passes reads .60 for a true .50; what is fixed beforehand is taken."""
    rng = np.random.default_rng(3)
    n = np.minimum(rng.geometric(0.5, 200), 5)
    passed = (n < 5).astype(int)
    assert float(np.mean(passed / n)) > 0.58
    refused = r"^n_samples must be of numbers of attempts fixed beforehand, got attempts until "
    for function in (pass_at_k, pass_at_k_per_task):
        with pytest.raises(InputError, match=refused):
            function(n_samples=n, n_correct=passed)
    attempts = [[False] * (m - c) + [True] * c for m, c in zip(n, passed, strict=True)]
    with pytest.raises(InputError, match=r"^samples must be of numbers of attempts fixed befor"):
        code_report_from_columns(model="m", passed=dict(enumerate(attempts)))
    first = pass_at_k(n_samples=[1] * 200, n_correct=(n == 1).astype(int)).score
    assert first == pytest.approx(0.5, abs=0.1)
    assert pass_at_k(n_samples=[5] * 20, n_correct=[0, 1] * 10).score == pytest.approx(0.1)
    assert pass_at_k(n_samples=[1, 2, 5, 3], n_correct=[1, 1, 0, 1]).n_tasks == 4


@pytest.mark.parametrize("tau", [1.0, "mean"])
def test_tasks_with_just_enough_samples_count_in_their_clusters(tau: Any) -> None:
    """Each in a cluster of its own is what no clusters are, also where one has too few samples."""
    tasks: dict[str, Any] = {"n_samples": [3, 3, 5, 5, 1], "n_correct": [1, 2, 3, 0, 1]}
    plain, own = (
        g_pass_at_k(**tasks, k=3, tau=tau, insufficient="drop", clusters=labels)
        for labels in (None, [*"abcde"])
    )
    assert (own.n_tasks_used, own.stderr) == (4, pytest.approx(plain.stderr))
    assert ends(own.interval) == pytest.approx(ends(plain.interval))
