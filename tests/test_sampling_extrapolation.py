"""extrapolate_pass_at_k: sourced values, scipy's likelihood as the oracle, edges, errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import Refusal, refusals
from scipy import optimize, stats

from scorekit import extrapolate_pass_at_k, pass_at_k
from scorekit._stats.extrapolation import beta_pass_at_k

REFERENCE = json.loads((Path(__file__).parent / "data" / "sampling.json").read_text())
SUITES = [
    ([10] * 6, [0, 1, 3, 5, 9, 10]),
    ([8, 20, 5, 12, 30, 9, 16], [0, 2, 1, 0, 11, 0, 1]),
    ([4] * 30, [0] * 20 + [1] * 4 + [3] * 2 + [4] * 4),
]
suites = pytest.mark.parametrize(("n", "c"), SUITES)


@pytest.mark.parametrize("case", REFERENCE["coverage_beta_extrapolation"])
def test_reference_values(case: dict[str, Any]) -> None:
    """The formula's values from beta functions, made before this code."""
    a, b, k = (case["input"][name] for name in ("alpha", "beta", "k"))
    result = beta_pass_at_k(a / (a + b), 1 / (a + b + 1), k)
    assert result == pytest.approx(case["output"], rel=1e-9)


def _log_likelihood(n: list[int], c: list[int], mean: float, correlation: float) -> float:
    total = (1 - correlation) / correlation
    return float(np.sum(stats.betabinom.logpmf(c, n, mean * total, (1 - mean) * total)))


@suites
def test_the_fit_is_the_likeliest(n: list[int], c: list[int]) -> None:
    """Oracle: scipy's beta-binomial distribution under its general optimizer."""
    result = extrapolate_pass_at_k(n_samples=n, n_correct=c, k=200)

    def loss(x: Any) -> float:
        return -_log_likelihood(n, c, *(1 / (1 + np.exp(-x))))

    best = optimize.minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9})
    mean, correlation = 1 / (1 + np.exp(-best.x))
    assert (result.mean_rate, result.correlation) == pytest.approx((mean, correlation), rel=1e-4)
    assert _log_likelihood(n, c, result.mean_rate, result.correlation) >= -best.fun - 1e-9
    assert result.score == pytest.approx(beta_pass_at_k(mean, correlation, 200), rel=1e-4)


@pytest.mark.sampled
@suites
def test_the_interval_is_what_the_likelihood_leaves(n: list[int], c: list[int]) -> None:
    """Oracle: over a grid of fits, none that scipy calls likely enough lies outside of it."""
    result = extrapolate_pass_at_k(n_samples=n, n_correct=c, k=50, confidence_level=0.9)
    floor = _log_likelihood(n, c, result.mean_rate, result.correlation)
    floor -= stats.chi2.ppf(0.9, 1) / 2
    scores = [
        beta_pass_at_k(mean, correlation, 50)
        for mean in np.linspace(0.01, 0.99, 99)
        for correlation in np.linspace(0.01, 0.99, 99)
        if _log_likelihood(n, c, mean, correlation) >= floor
    ]
    assert result.interval.low - 1e-9 <= min(scores) <= result.interval.low + 0.02
    assert result.interval.high - 0.02 <= max(scores) <= result.interval.high + 1e-9


def test_within_the_samples_it_comes_near_the_estimate() -> None:
    """Where both exist they agree, and the model's curve goes on from there."""
    rng = np.random.default_rng(5)
    n_correct = rng.binomial(40, rng.beta(0.5, 1.5, 400))
    columns: dict[str, Any] = {"n_samples": np.full(400, 40), "n_correct": n_correct}
    for k in (1, 5, 20):
        fitted, free = extrapolate_pass_at_k(**columns, k=k), pass_at_k(**columns, k=k)
        assert fitted.score == pytest.approx(free.score, abs=0.01)
    beyond = extrapolate_pass_at_k(**columns, k=1000)
    truth = beta_pass_at_k(0.25, 1 / 3, 1000)
    assert beyond.interval.low < truth < beyond.interval.high
    assert (beyond.n_tasks, beyond.max_samples) == (400, 40)
    assert str(beyond).endswith("(95 % if rates follow a beta distribution, 400 tasks)")


def test_tasks_all_alike_or_each_all_or_nothing() -> None:
    """The two ends of the model: independent attempts, and attempts that tell nothing new."""
    alike = extrapolate_pass_at_k(n_samples=[10] * 5, n_correct=[3] * 5, k=20)
    assert alike.correlation == 0.0
    assert alike.score == pytest.approx(1 - 0.7**20)
    certain = extrapolate_pass_at_k(n_samples=[10] * 5, n_correct=[0, 10, 10, 0, 10], k=20)
    assert certain.correlation == 1.0
    assert certain.score == pytest.approx(0.6)
    assert certain.interval.low < 0.3
    assert certain.interval.high > 0.9


@refusals("""
n_correct=[0, 0]
    -> InputError: n_correct must be neither 0 nor n_samples throughout: without both successes
    and failures nothing can be extrapolated
n_samples=[1, 1], n_correct=[0, 1]
    -> InputError: n_samples must be at least 2 for some task, got 1 throughout
n_samples=[9], n_correct=[1] -> InputError: n_samples must be those of at least 2 tasks, got 1
n_samples=[10, 10_001] -> InputError: n_samples must be at most 10000 each, got 10001
n_samples=10, n_correct=3
    -> TypeError: n_samples must be a non-empty sequence of integers, got 10
k=100_001 -> InputError: k must be an integer in [1, 100000], got 100001
""")
def test_errors(wrong: Refusal) -> None:
    """Where the data cannot tell, no number is made up."""
    wrong.by(extrapolate_pass_at_k, n_samples=[10, 10], n_correct=[1, 3], k=20)
