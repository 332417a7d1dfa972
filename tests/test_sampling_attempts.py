"""pass_hat_k, g_pass_at_k, best_at_k, majority_at_k: sourced values, enumeration, laws, errors."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from column_types import COLUMN_TYPES
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals
from scipy import stats

from scorekit import (
    InputError,
    best_at_k,
    g_pass_at_k,
    majority_at_k,
    mean_interval,
    pass_at_k,
    pass_hat_k,
    proportion_interval,
)
from scorekit.intervals import normal_quantile, wilson

REFERENCE = json.loads((Path(__file__).parent / "data" / "sampling.json").read_text())
Task = tuple[int, int]
COUNTS = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
SUITES = st.lists(COUNTS, min_size=2, max_size=8)
SCORES = st.lists(st.integers(0, 8).map(lambda i: i / 8), min_size=1, max_size=8)
ANSWERS = st.lists(st.sampled_from("ABCD"), min_size=1, max_size=8)


def _columns(tasks: Sequence[Task]) -> dict[str, Any]:
    n_samples, n_correct = zip(*tasks, strict=True)
    return {"n_samples": n_samples, "n_correct": n_correct}


SUITE_FORMS: dict[str, Callable[..., Any]] = {
    "pass_at_k": lambda tasks, **more: pass_at_k(**_columns(tasks), **more),
    "pass_hat_k": lambda tasks, **more: pass_hat_k(**_columns(tasks), **more),
    "g_pass_at_k": lambda tasks, **more: g_pass_at_k(**_columns(tasks), **more),
    "best_at_k": lambda tasks, **more: best_at_k(
        [[0] * (n - c) + [1] * c for n, c in tasks], **more
    ),
    "majority_at_k": lambda tasks, **more: majority_at_k(
        [{"yes": c, "no": n - c} for n, c in tasks], correct=["yes"] * len(tasks), **more
    ),
}
"""Each estimate of a suite whose samples are right or wrong."""

forms = pytest.mark.parametrize("form", SUITE_FORMS.values(), ids=SUITE_FORMS)


# Sourced values.


@pytest.mark.parametrize("case", REFERENCE["pass_hat_k"])
def test_reference_pass_hat_k(case: dict[str, Any]) -> None:
    """Values made before this code from exact rationals."""
    n, c, k = (case["input"][name] for name in ("n", "c", "k"))
    result = pass_hat_k(n_samples=n, n_correct=c, k=k)
    assert result.score == pytest.approx(case["output"], rel=1e-14, abs=0.0)


@pytest.mark.parametrize("case", REFERENCE["g_pass_at_k"])
def test_reference_g_pass_at_k(case: dict[str, Any]) -> None:
    """Values of scipy's hypergeometric distribution, made before this code."""
    n, c, k, tau = (case["input"][name] for name in ("n", "c", "k", "tau"))
    result = g_pass_at_k(n_samples=n, n_correct=c, k=k, tau=tau)
    assert result.score == pytest.approx(case["output"], rel=1e-9)


@pytest.mark.parametrize("case", REFERENCE["mg_pass_at_k"])
def test_reference_mean_over_tau(case: dict[str, Any]) -> None:
    """The source's mG-Pass@k is twice the mean over the shares above a half."""
    n, c, k = (case["input"][name] for name in ("n", "c", "k"))
    shares = [i / k for i in range(math.ceil(k / 2) + 1, k + 1)]
    *results, mean = g_pass_at_k(n_samples=n, n_correct=c, k=k, tau=[*shares, "mean"])
    assert mean.score == pytest.approx(case["output"], rel=1e-9)
    scores = [result.score for result in results]
    assert mean.score == pytest.approx(2 * math.fsum(scores) / k, rel=1e-14)
    low, high = (2 * np.array([ends(one.interval) for one in results]).sum(axis=0) / k).tolist()
    assert ends(mean.interval) == pytest.approx((low, high))
    assert (mean.tau, mean.n_needed) == ("mean", None)
    assert str(mean).startswith(f"mG-pass@{k} = ")


@pytest.mark.parametrize("case", REFERENCE["max_at_k"])
def test_reference_best_at_k(case: dict[str, Any]) -> None:
    """Values made before this code, equal to brute force."""
    result = best_at_k(case["input"]["r"], k=case["input"]["k"])
    assert result.score == pytest.approx(case["output"], rel=1e-14)


@pytest.mark.parametrize("case", REFERENCE["maj_at_k"])
def test_reference_majority_at_k(case: dict[str, Any]) -> None:
    """Exact fractions made before this code, ties shared out."""
    given_ = case["input"]
    result = majority_at_k(given_["counts"], correct=given_["correct"], k=given_["k"])
    assert result.score == pytest.approx(float(Fraction(case["output"]["exact"])), rel=1e-14)
    assert result.score == pytest.approx(case["output"]["value"], rel=1e-14)


# Enumeration.


def _mean_over_subsets(
    samples: Sequence[Any], k: int, value: Callable[[list[Any]], Fraction]
) -> Fraction:
    """Return the mean of *value* over all subsets of *k*."""
    subsets = list(combinations(samples, k))
    return sum((value(list(subset)) for subset in subsets), Fraction(0)) / len(subsets)


def _vote(answers: list[str]) -> Fraction:
    counts = Counter(answers)
    winners = [answer for answer, n in counts.items() if n == max(counts.values())]
    return Fraction("A" in winners, len(winners))


def _best(scores: list[float]) -> Fraction:
    return Fraction(max(scores))


def _enough(needed: int) -> Callable[[list[bool]], Fraction]:
    return lambda passed: Fraction(sum(passed) >= needed)


@given(COUNTS, st.data())
def test_shares_of_successes_equal_enumeration(counts: Task, data: st.DataObject) -> None:
    """Oracle: all subsets; all must pass at tau 1."""
    n, c = counts
    k, tau = data.draw(st.integers(1, n)), data.draw(st.integers(0, 10))
    result = g_pass_at_k(n_samples=n, n_correct=c, k=k, tau=tau / 10)
    assert result.n_needed == max(1, -(-tau * k // 10))
    samples = [True] * c + [False] * (n - c)
    value = _enough(result.n_needed)
    exact = _mean_over_subsets(samples, k, value)
    assert result.score == pytest.approx(float(exact), rel=1e-14, abs=0.0)
    assert result.failure == pytest.approx(float(1 - exact), rel=1e-14, abs=0.0)
    if tau == 10:
        steady = pass_hat_k(n_samples=n, n_correct=c, k=k)
        assert steady.score == pytest.approx(float(exact), rel=1e-14, abs=0.0)


@given(SUITES, st.data())
def test_mean_over_tau_equals_enumeration(tasks: list[Task], data: st.DataObject) -> None:
    """Oracle: all subsets of each task."""
    k = data.draw(st.integers(2, max(2, min(n for n, _ in tasks))))
    tasks = [task for task in tasks if task[0] >= k] or [(k, 1)]

    def value(passed: list[bool]) -> Fraction:
        return Fraction(2 * max(sum(passed) - math.ceil(k / 2), 0), k)

    half, mean = g_pass_at_k(**_columns(tasks), k=k, tau=(0.5, "mean"))
    samples = [[True] * c + [False] * (n - c) for n, c in tasks]
    exact = statistics.mean(_mean_over_subsets(one, k, value) for one in samples)
    assert mean.score == pytest.approx(float(exact), rel=1e-14, abs=0.0)
    assert mean.failure == pytest.approx(float(1 - exact), rel=1e-14, abs=0.0)
    assert half == g_pass_at_k(**_columns(tasks), k=k, tau=0.5)


@given(SCORES, st.data())
def test_best_equals_enumeration(scores: list[float], data: st.DataObject) -> None:
    """Oracle: all subsets; ties are no matter."""
    k = data.draw(st.integers(1, len(scores)))
    result = best_at_k(scores, k=k)
    assert result.score == pytest.approx(float(_mean_over_subsets(scores, k, _best)), rel=1e-14)
    assert result.score + result.failure == pytest.approx(1.0, rel=1e-14)


@given(ANSWERS, st.data())
def test_majority_equals_enumeration(answers: list[str], data: st.DataObject) -> None:
    """Oracle: all subsets."""
    k = data.draw(st.integers(1, len(answers)))
    result = majority_at_k(answers, correct="A", k=k)
    exact = float(_mean_over_subsets(answers, k, _vote))
    assert result.score == pytest.approx(exact, rel=1e-13, abs=0.0)
    assert result == majority_at_k(Counter(answers), correct="A", k=k)


def test_a_share_is_the_number_of_attempts_that_it_stands_for() -> None:
    """Oracle: fractions; floats of them miss it upwards and downwards by a unit in the last place.

    The published ``ceil(k * tau)`` needs one attempt more for 119 of these.
    """
    for k in range(1, 101):
        shares = [(Fraction(m, k), m / k) for m in range(k + 1)]
        shares += [(Fraction(d, 100), d / 100) for d in range(101)]
        for exact, near in shares:
            needed = max(1, math.ceil(exact * k))
            found = g_pass_at_k(n_samples=k, n_correct=0, k=k, tau=[near, exact])
            assert [one.n_needed for one in found] == [needed, needed]
            assert found[1].tau == float(exact)


@pytest.mark.parametrize(
    ("tau", "needed"),
    [
        (1 - 1 / 6, 5),
        (math.nextafter(5 / 6, 1), 5),
        (5 / 6 + 1e-12, 6),
        (Fraction(5, 6) + Fraction(1, 10**30), 6),
        (Decimal("0.8333333333333334"), 6),
        (np.float32(5 / 6), 5),
    ],
)
def test_what_a_share_stands_for(tau: Any, needed: int) -> None:
    """A float is taken for the share next to it, what is exact for itself."""
    result = g_pass_at_k(n_samples=7, n_correct=5, k=6, tau=tau)
    assert result.n_needed == needed
    assert result.score == pytest.approx({5: 2 / 7, 6: 0.0}[needed], rel=1e-15)
    assert type(result.tau) is float


def test_large_counts_agree_with_scipy() -> None:
    """Oracle: scipy's hypergeometric distribution; far beyond it nothing overflows."""
    for n, c, k, m in [(5000, 1200, 300, 90), (20_000, 6000, 500, 170), (400, 399, 200, 200)]:
        result = g_pass_at_k(n_samples=n, n_correct=c, k=k, tau=m / k)
        assert result.score == pytest.approx(stats.hypergeom.sf(m - 1, n, c, k), rel=1e-9)
    huge = g_pass_at_k(n_samples=2**53, n_correct=2**52, k=999, tau=0.5)
    assert huge.score == pytest.approx(0.5, rel=1e-12)


def test_large_votes_are_as_binomial() -> None:
    """Oracle: of two answers and an odd k the majority is a hypergeometric tail."""
    counts = {"yes": 5200, "no": 4800}
    expected = stats.hypergeom.sf(127, 10_000, 5200, 255)
    assert majority_at_k(counts, correct="yes", k=255).score == pytest.approx(expected, rel=1e-9)
    spread = {str(i): 1 for i in range(256)}
    tied = majority_at_k(spread, correct="0", k=256)
    assert tied.score == pytest.approx(1 / 256, rel=1e-12)


@given(COUNTS, st.data())
def test_certainty_is_exact(counts: Task, data: st.DataObject) -> None:
    """What every subset says is no rounded chance: it is 1 or 0, and the other end exactly so."""
    n, c = counts
    k = data.draw(st.integers(1, n))
    votes = {"yes": c, "no": (n - c + 1) // 2, "none": (n - c) // 2}
    sure = k - (n - c) > (n - c + 1) // 2
    result = majority_at_k(votes, correct="yes", k=k)
    assert (result.score == 1.0) == (result.failure == 0.0) == sure
    enough = g_pass_at_k(n_samples=n, n_correct=c, k=k)
    needed = present(enough.n_needed)
    assert (enough.score == 1.0) == (enough.failure == 0.0) == (k - (n - c) >= needed)
    assert (enough.score == 0.0) == (enough.failure == 1.0) == (c < needed)


def test_long_scores_stay_within_them() -> None:
    """Weights of many terms are rounded, and must not carry the best beyond the scores."""
    scores = np.full(10**5, 0.7)
    for k in (1, 1000, 10**5):
        assert best_at_k(scores, k=k).score == 0.7
    assert best_at_k([0.25] * 9 + [1.0], k=10).failure == 0.0


# Suites.


@forms
@given(SUITES, st.integers(1, 4))
def test_a_suite_is_the_mean_over_its_tasks(
    form: Callable[..., Any], tasks: list[Task], k: int
) -> None:
    """Mean and standard error come from the single tasks; short ones stay out."""
    used = [task for task in tasks if task[0] >= k]
    if len(used) < 2:
        return
    result = form(tasks, k=k, insufficient="drop")
    each = [form([task], k=k) for task in used]
    scores = [one.score for one in each]
    assert (result.n_tasks, result.n_tasks_used) == (len(tasks), len(used))
    assert result.score == pytest.approx(statistics.fmean(scores), rel=1e-13)
    assert result.failure == pytest.approx(1 - result.score, abs=1e-13)
    stderr = statistics.stdev(scores) / math.sqrt(len(scores))
    assert result.stderr == pytest.approx(stderr, rel=1e-9, abs=1e-14)
    assert 0.0 <= result.interval.low <= result.score <= result.interval.high <= 1.0
    turned = form(tasks[::-1], k=k, insufficient="drop")
    assert turned.score == pytest.approx(result.score)
    assert ends(turned.interval) == pytest.approx(ends(result.interval))


@forms
def test_one_attempt_is_a_share(form: Callable[..., Any]) -> None:
    """At k = 1 they are all the same estimate, with the interval of the proportion."""
    tasks = [(10, 3), (5, 0), (8, 8)]
    result, base = form(tasks), pass_at_k(**_columns(tasks))
    for name in ("score", "failure", "stderr"):
        assert getattr(result, name) == pytest.approx(getattr(base, name), rel=1e-9)
    assert ends(result.interval) == pytest.approx(ends(base.interval), rel=1e-9)
    one = ends(form([(10, 3)]).interval)
    assert one == pytest.approx(ends(proportion_interval(3, 10)), rel=1e-9)


@forms
@pytest.mark.parametrize(("c", "end"), [(0, 0.0), (6, 1.0)])
def test_all_pass_or_none(form: Callable[..., Any], c: int, end: float) -> None:
    """The end is exact, and the other one is Wilson's for so many tasks, or for one."""
    result = form([(6, c)] * 4, k=2)
    assert (result.score, result.failure, result.stderr) == (end, 1 - end, 0.0)
    far = stats.t.isf(0.025, 3) ** 2
    assert [*ends(result.interval)] == pytest.approx(sorted([end, abs(end - far / (4 + far))]))
    one = form([(6, c)], k=2)
    assert (one.score, one.stderr) == (end, None)
    assert (one.interval.low if c == 0 else one.interval.high) == end
    assert one.interval.high - one.interval.low > 0.1


@forms
def test_few_draws_cannot_feign_many_tasks(form: Callable[..., Any]) -> None:
    """Without spread, a suite counts for the sets of k that it holds, here 40 * 6 / 2, by t."""
    result = form([(6, 3)] * 40, k=2)
    p, n, q = result.score, 120, stats.t.isf(0.025, 39)
    middle, reach = p + q * q / 2 / n, q * math.sqrt(p * (1 - p) / n + (q / 2 / n) ** 2)
    expected = (middle - reach) / (1 + q * q / n), (middle + reach) / (1 + q * q / n)
    assert result.stderr == 0.0
    assert ends(result.interval) == pytest.approx(expected)


@forms
def test_clusters_count_once(form: Callable[..., Any]) -> None:
    """Tasks repeated within a cluster say nothing more; the labels themselves are no matter."""
    tasks = [(8, 2), (8, 5), (8, 7)]
    repeated = [task for task in tasks for _ in range(4)]
    labels = [label for label in ("db", 7, ("x", 1)) for _ in range(4)]
    once, clustered = form(tasks, k=2), form(repeated, k=2, clusters=labels)
    assert clustered.stderr == pytest.approx(once.stderr)
    assert clustered.score == pytest.approx(once.score)
    assert ends(clustered.interval) == pytest.approx(ends(once.interval))
    assert form(repeated, k=2).stderr < clustered.stderr
    alone = form(repeated, k=2, clusters=np.arange(12))
    assert alone.stderr == pytest.approx(form(repeated, k=2).stderr)


@forms
def test_clusters_go_with_their_tasks(form: Callable[..., Any]) -> None:
    """A task that drops out takes its label with it; what is left may be a single cluster."""
    tasks, labels = [(1, 1), (8, 2), (8, 5), (8, 7)], ["a", "b", "b", "c"]
    left = form(tasks[1:], k=2, clusters=labels[1:])
    dropped = form(tasks, k=2, clusters=labels, insufficient="drop")
    assert (dropped.stderr, dropped.interval) == (left.stderr, left.interval)
    single = form(tasks, k=2, clusters=["a", "b", "b", "b"], insufficient="drop")
    assert (single.stderr, ends(single.interval)) == (None, (0.0, 1.0))
    assert (single.interval.method, single.interval.note) == ("none: one cluster", None)


@forms
def test_too_few_samples_are_accounted_for(form: Callable[..., Any]) -> None:
    """Never a number for k > n: an error, an unknown, or left out and said so."""
    tasks = [(5, 3), (3, 3), (6, 1)]
    unknown = form(tasks, k=4, insufficient="nan")
    assert np.isnan([unknown.score, unknown.failure]).all()
    assert (unknown.n_tasks, unknown.n_tasks_used, unknown.interval.method) == (3, 2, "none")
    dropped = form(tasks, k=4, insufficient="drop")
    assert dropped.score == pytest.approx(form([tasks[0], tasks[2]], k=4).score)
    only = form(tasks, k=6, insufficient="drop")
    assert (only.n_tasks, only.n_tasks_used, only.stderr) == (3, 1, None)
    assert only.score == form([tasks[2]], k=6).score
    assert (ends(only.interval), only.interval.method) == ((0, 1), "none: one task")
    assert str(only).endswith(" [0, 1] (95 %, 1 of 3 tasks)")
    with pytest.raises(InputError, match=r"must be >= k = 4 for every task, got 1 of 3 tasks"):
        form(tasks, k=4)
    none = form(tasks, k=7, insufficient="drop")
    assert (none.n_tasks, none.n_tasks_used, none.interval.method) == (3, 0, "none")
    assert " = unknown (95 %, 0 of 3 tasks)" in str(none)


@forms
def test_a_task_of_which_no_sample_is_left(form: Callable[..., Any]) -> None:
    """Where infrastructure errors are removed: one task fewer, or unknown, and counted."""
    tasks, left = [(0, 0), (4, 2), (3, 3)], [(4, 2), (3, 3)]
    with pytest.raises(InputError, match=r"for every task, got 1 of 3 tasks .*\[0\] = 0\)"):
        form(tasks, k=2)
    assert "not known at 1 of 3 tasks" in str(form(tasks, k=2, insufficient="nan"))
    found, alone = form(tasks, k=2, insufficient="drop"), form(left, k=2)
    assert (found.n_tasks, found.n_tasks_used) == (3, 2)
    assert (found.score, found.stderr, found.interval) == (
        alone.score,
        alone.stderr,
        alone.interval,
    )
    nothing = form([(0, 0), (0, 0)], k=1, insufficient="drop")
    assert " = unknown (95 %, 0 of 2 tasks)" in str(nothing)


def test_every_column_type_will_do() -> None:
    """Arrays, frames and sequences of them, as they come out of a table."""
    n, c = pd.Series([6, 6]), np.array([2, 5], dtype=np.uint8)
    assert g_pass_at_k(n_samples=n, n_correct=c, k=2, clusters=pd.Series(["a", "b"])).n_tasks == 2
    assert best_at_k([True, 0.25, np.False_], k=2) == best_at_k([1, 0.25, 0], k=2)  # type: ignore[arg-type]
    assert best_at_k(np.array([True, False])).score == 0.5
    table = np.array([[0.5, 1.0, 0.0], [0.25, 0.25, 0.75]])
    assert best_at_k(table, k=2).score == pytest.approx((5 / 6 + 7 / 12) / 2)
    assert majority_at_k(np.array([1, 1, 2]), correct=1, k=3).score == 1.0
    assert majority_at_k({("a", 1): 2, None: 1}, correct=("a", 1), k=3).score == 1.0


@pytest.mark.parametrize("column", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_attempts_of_a_task_as_a_column_of_any_kind(column: Any) -> None:
    """Alone, or one column for each task."""
    assert best_at_k(column([0.5, 1.0]), k=2).score == 1.0
    assert best_at_k([column([0.5, 1.0]), (0.0, 0.5)], k=2).score == 0.75
    assert majority_at_k(column(["a", "b"]), correct="b").score == 0.5
    suite = [column(["a", "b"]), column(["a", "b"])]
    assert majority_at_k(suite, correct=column(["b", "c"])).score == 0.25


def test_a_lone_task_in_a_suite_is_that_task() -> None:
    """One row of a table, or one mapping in a list, has no spread between tasks."""
    assert best_at_k([[0.5, 1.0]], k=2) == best_at_k([0.5, 1.0], k=2)
    assert majority_at_k([{"a": 2}], correct=["a"]) == majority_at_k({"a": 2}, correct="a")
    counts: dict[str, Any] = {"n_samples": 5, "n_correct": 2}
    assert g_pass_at_k(n_samples=[5], n_correct=[2], k=3) == g_pass_at_k(**counts, k=3)
    assert pass_hat_k(n_samples=[5], n_correct=[2], k=3) == pass_hat_k(**counts, k=3)
    assert pass_at_k(n_samples=[5], n_correct=[2], k=3) == pass_at_k(**counts, k=3)


def test_intervals_of_one_task() -> None:
    """Oracle: the ends of the proportion's interval through the binomial chance."""
    low, high = ends(proportion_interval(8, 12))
    steady = pass_hat_k(n_samples=12, n_correct=8, k=3).interval
    assert ends(steady) == pytest.approx((low**3, high**3))
    enough = g_pass_at_k(n_samples=12, n_correct=8, k=5, tau=0.6).interval
    assert ends(enough) == pytest.approx(tuple(stats.binom.sf(2, 5, p) for p in (low, high)))
    assert str(pass_hat_k(n_samples=12, n_correct=8, k=3)).startswith("pass^3 = 0.25 [")


def test_hostile_sizes_end_soon() -> None:
    """Counts at their limits take neither the memory nor the time that they name."""
    most = 2**53
    assert pass_hat_k(n_samples=most, n_correct=most - 1, k=most).score == 0.0
    votes = {"a": most // 2, "b": most // 2}
    assert majority_at_k(votes, correct="a", k=256).score == pytest.approx(0.5)
    assert g_pass_at_k(n_samples=[most] * 3, n_correct=[0, 5, most], k=1000).score > 0.3


# Errors.


@refusals("""
g_pass_at_k(n_samples=5, n_correct=2, tau=1.5)
    -> InputError: tau must be a number in [0, 1], got 1.5
g_pass_at_k(n_samples=5, n_correct=2, k=2, tau="median")
    -> InputError: tau must be one of 'mean', got 'median'
g_pass_at_k(n_samples=5, n_correct=2, k=2, tau=[0.5, 2])
    -> InputError: tau[1] must be a number in [0, 1], got 2
g_pass_at_k(n_samples=5, n_correct=2, k=2, tau=[])
    -> InputError: tau must be a non-empty sequence of shares, got ()
g_pass_at_k(n_samples=5, n_correct=2, tau="mean")
    -> InputError: k must be an integer >= 2 for the mean over tau, got 1
g_pass_at_k(n_samples=5, n_correct=2, k=(1, 3), tau="mean")
    -> InputError: k must be an integer >= 2 for the mean over tau, got 1
g_pass_at_k(n_samples=5, n_correct=2, tau=math.nan)
    -> InputError: tau must be a number in [0, 1], got nan
g_pass_at_k(n_samples=5000, n_correct=2, k=1001)
    -> InputError: k must be an integer in [1, 1000], got 1001
pass_hat_k(n_samples=5, n_correct=6)
    -> InputError: n_correct must be an integer in [0, n_samples = 5], got 6
pass_hat_k(n_samples=5, n_correct=5, clusters=["a"])
    -> TypeError: clusters must be None for a single task, got ['a']
best_at_k([0.5, 0.5], clusters=["a", "b"])
    -> TypeError: clusters must be None for a single task, got ['a', 'b']
pass_at_k(n_samples=[5, 5], n_correct=[5, 1], clusters=["a"])
    -> InputError: clusters must be 2 labels, one for each entry, got 1
pass_at_k(n_samples=[5, 5], n_correct=[5, 1], clusters=["a", ["b"]])
    -> TypeError: clusters[1] must be a hashable label, got ['b']
pass_at_k(n_samples=[5, 5], n_correct=[5, 1], clusters=[1, math.nan])
    -> InputError: clusters[1] must be a label that is not missing, got nan
best_at_k([[0.5], [0.5]], clusters=[None, "b"])
    -> InputError: clusters[0] must be a label that is not missing, got None
g_pass_at_k(n_samples=[5, 5], n_correct=[5, 1], clusters=[1, pd.NA])
    -> InputError: clusters[1] must be a label that is not missing, got <NA>
majority_at_k(["a", pd.NA], correct="a")
    -> InputError: answers[1] must be an answer that is not missing (of an attempt without one:
    leave it out, or name it, as "none"), got <NA>
best_at_k([0.5, math.nan]) -> InputError: scores[1] must be a number in [0, 1], got nan
best_at_k([[0.5], [0.5, 2]]) -> InputError: scores[1][1] must be a number in [0, 1], got 2
best_at_k([[0.5], 0.5])
    -> TypeError: scores[1] must be a non-empty sequence of booleans or scores, got 0.5
best_at_k([[0.5], []])
    -> InputError: n_samples of scores must be >= k = 1 for every task, got 1 of 2 tasks...
best_at_k(["1"])
    -> TypeError: scores[0] must be True or False, or a number in [0, 1] (if '1' stands for
    True: [x == '1' for x in scores]), got '1'
best_at_k("0.5")
    -> TypeError: scores must be a non-empty sequence of scores, or of such sequences, got
    '0.5'
best_at_k([0.5], k=2)
    -> InputError: n_samples of scores must be >= k = 2, got 1; lower k or pass
    insufficient="nan"
majority_at_k(["a"], correct="a", k=257)
    -> InputError: k must be an integer in [1, 256], got 257
majority_at_k(["a"], correct=["a"]) -> TypeError: correct must be a hashable answer, got ['a']
majority_at_k(["a", math.nan], correct="a")
    -> InputError: answers[1] must be an answer that is not missing (of an attempt without one:
    leave it out, or name it, as "none"), got nan
majority_at_k([["a"], ["b"]], correct=["a"])
    -> InputError: correct and answers must be equally long, got 1 and 2
majority_at_k([["a"], "b"], correct=["a", "b"])
    -> TypeError: answers[1] must be a sequence of answers, got 'b'
majority_at_k({"a": 0}, correct="a")
    -> InputError: answers must be between 1 and 2**53 answers, got {'a': 0}
majority_at_k({"a": 2.0}, correct="a")
    -> TypeError: answers['a'] must be an integer >= 0, got 2.0
majority_at_k([{"a": 1}, {"a": 3}], correct=["a", "a"], k=2)
    -> InputError: n_samples of answers must be >= k = 2 for every task, got 1 of 2 tasks with
    fewer (first: n_samples of answers[0] = 1); lower k or pass insufficient="nan" or "drop"
majority_at_k(["a"], correct="a", insufficient="skip")
    -> InputError: insufficient must be one of 'raise', 'nan', 'drop', got 'skip'
best_at_k([[1, 5], [2, 2]], bounds=(1, 4))
    -> InputError: scores[0][1] must be a number in [1, 4], got 5.0
best_at_k([[1, 5], [2, 2]], bounds=(5, 1))
    -> InputError: bounds must be two numbers in rising order, their difference finite, got (5,
    1)
best_at_k([[1, 5], [2, 2]], bounds=(0, math.inf))
    -> InputError: bounds[1] must be a finite number, got inf
""")
def test_errors(wrong: Refusal) -> None:
    """Each message names the parameter, its domain and the value it got."""
    wrong.by_itself()


@pytest.mark.sampled
@pytest.mark.parametrize(("mean", "spread"), [(0.7, 0.05), (0.5, 0.1), (0.9, 0.03)])
@pytest.mark.parametrize("n_tasks", [1, 10, 100])
def test_graded_scores_are_bound_whatever_others_may_be(
    mean: float, spread: float, n_tasks: int
) -> None:
    """Simulation: it holds; few tasks do not show that none in many is at the end of the scale."""
    rng, ratios, held = np.random.default_rng(3), [], 0
    for _ in range(60):
        scores = np.clip(rng.normal(mean, spread, (n_tasks, 10)), 0, 1)
        low, high = ends(best_at_k(list(scores) if n_tasks > 1 else scores[0]).interval)
        values = scores.mean(axis=1) if n_tasks > 1 else scores[0]
        ratios.append((high - low) / np.ptp(ends(mean_interval(values))))
        held += low <= mean <= high
    assert np.median(ratios) <= {1: 1.3, 10: 25.0, 100: 11.0}[n_tasks]
    assert held >= 55


@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=2, max_size=5), min_size=1, max_size=6))
def test_the_best_of_passes_and_failures_is_bound_as_pass_at_k(tasks: list[list[int]]) -> None:
    """Nothing changes for scores of 0 and 1 only; a single one between makes them graded."""
    best = best_at_k(tasks, k=2)
    counts: dict[str, Any]
    if len(tasks) > 1:
        counts = {"n_samples": [len(t) for t in tasks], "n_correct": [sum(t) for t in tasks]}
        assert ends(best.interval) == pytest.approx(ends(pass_at_k(**counts, k=2).interval))
        graded: list[list[float]] = [[0.5, 0.5], *map(list[float], tasks)]
        assert best_at_k(graded, k=2).interval.method == "gaffke"
    assert best.interval.method != "gaffke"


def test_equal_scores_do_not_prove_that_all_are() -> None:
    """Without any spread the best of few sets is bound as a success or failure would be."""
    for scores, k in (([0.7] * 6, 2), ([0.2, 0.7], 2)):
        expected = wilson(max(scores), len(scores) / k, normal_quantile(0.95))
        assert ends(best_at_k(scores, k=k).interval) == pytest.approx(expected)


@given(
    st.lists(st.lists(st.integers(0, 40), min_size=2, max_size=6), min_size=1, max_size=5),
    st.sampled_from([(1.0, 5.0), (-10.0, 10.0), (0.0, 100.0)]),
)
def test_the_best_on_another_scale(tasks: list[list[int]], bounds: tuple[float, float]) -> None:
    """Law: scores, errors and interval move with the scale; flags are its two ends."""
    lowest, span = bounds[0], bounds[1] - bounds[0]
    plain = best_at_k([[score / 40 for score in task] for task in tasks], k=2)
    scaled = best_at_k(
        [[lowest + span * score / 40 for score in task] for task in tasks], k=2, bounds=bounds
    )
    assert scaled.score == pytest.approx(lowest + span * plain.score)
    assert scaled.failure == pytest.approx(span * plain.failure, abs=1e-9)
    assert (scaled.stderr or 0.0) == pytest.approx(span * (plain.stderr or 0.0), abs=1e-9)
    expected = tuple(lowest + span * end for end in ends(plain.interval))
    assert ends(scaled.interval) == pytest.approx(expected, abs=1e-6 * span)
    assert scaled.interval.low <= scaled.score <= scaled.interval.high
