"""Hypothesis strategies for estimates and evidence."""

from __future__ import annotations

from functools import cache
from typing import Any

from scorekit._strategies.inputs import CONFIDENCES, UNIT, sample_counts, suite_counts
from scorekit._strategies.queries import SHOP, sql_queries, st
from scorekit.agreement import (
    CorrectedMean,
    JudgeAgreement,
    Weights,
    corrected_mean,
    judge_agreement,
)
from scorekit.calibration import CalibrationBin, CalibrationError, calibration_error
from scorekit.comparison import compare_reports
from scorekit.differences import McNemarTest, PairedDifference, mcnemar_test, paired_difference
from scorekit.equivalence import Counterexample, SqlEquivalence, TableRows, sql_equivalence
from scorekit.results import ResultAccuracy, result_accuracy
from scorekit.runs import CostOfPass, cost_of_pass_from_columns
from scorekit.sampling import (
    BestAtK,
    ExtrapolatedPassAtK,
    GPassAtK,
    MajorityAtK,
    PassHatK,
    best_at_k,
    extrapolate_pass_at_k,
    g_pass_at_k,
    majority_at_k,
    pass_hat_k,
)
from scorekit.verdicts import MarginVerdict

JUDGED = st.sampled_from([0.0, 0.5, 1.0])


@st.composite
def pass_hat_k_results(draw: st.DrawFn) -> PassHatK:
    """Draw results of `scorekit.pass_hat_k`, of one task and of suites."""
    counts: dict[str, Any] = draw(sample_counts() | suite_counts())
    k: int = counts.pop("k")
    return pass_hat_k(**counts, k=k, confidence_level=draw(CONFIDENCES))


@st.composite
def g_pass_at_k_results(draw: st.DrawFn) -> GPassAtK:
    """Draw results of `scorekit.g_pass_at_k`, of one task and of suites."""
    counts: dict[str, Any] = draw(sample_counts() | suite_counts())
    return g_pass_at_k(**counts, tau=draw(UNIT), confidence_level=draw(CONFIDENCES))


@st.composite
def best_at_k_results(draw: st.DrawFn) -> BestAtK:
    """Draw results of `scorekit.best_at_k` over suites."""
    k = draw(st.integers(1, 4))
    scores = draw(st.lists(st.lists(UNIT, min_size=k, max_size=6), min_size=1, max_size=5))
    return best_at_k(scores, k=k, confidence_level=draw(CONFIDENCES))


@st.composite
def majority_at_k_results(draw: st.DrawFn) -> MajorityAtK:
    """Draw results of `scorekit.majority_at_k` over suites."""
    k = draw(st.integers(1, 4))
    answers = st.lists(st.sampled_from("abc"), min_size=k, max_size=6)
    tasks = draw(st.lists(answers, min_size=1, max_size=5))
    correct = ["a"] * len(tasks)
    return majority_at_k(tasks, correct=correct, k=k, confidence_level=draw(CONFIDENCES))


def extrapolated_pass_at_k_results() -> st.SearchStrategy[ExtrapolatedPassAtK]:
    """
    Draw one of a few results of `scorekit.extrapolate_pass_at_k` over small suites.

    Each takes a tenth of a second to make, more than Hypothesis allows for a draw.
    """
    return st.sampled_from(_extrapolated())


@cache
def _extrapolated() -> tuple[ExtrapolatedPassAtK, ...]:
    suites = (((2, 2), (1, 1), 1), ((2, 6, 5), (1, 3, 0), 20), ((4, 4, 6, 3), (4, 1, 6, 0), 7))
    return tuple(extrapolate_pass_at_k(n_samples=n, n_correct=c, k=k) for n, c, k in suites)


@st.composite
def calibration_errors(draw: st.DrawFn) -> CalibrationError:
    """Draw results of `scorekit.calibration_error`."""
    stated = draw(st.lists(st.tuples(UNIT, st.booleans()), min_size=1, max_size=20))
    confidences, outcomes = zip(*stated, strict=True)
    return calibration_error(confidences, outcomes, n_bins=draw(st.integers(1, 12)))


def calibration_bins() -> st.SearchStrategy[CalibrationBin]:
    """Draw bins of numeric confidences."""
    return calibration_errors().flatmap(lambda error: st.sampled_from(error.bins))


@st.composite
def judge_agreements(draw: st.DrawFn) -> JudgeAgreement:
    """Draw results of `scorekit.judge_agreement`."""
    scores = draw(st.lists(st.tuples(JUDGED, JUDGED), min_size=1, max_size=20))
    weights: Weights | None = draw(st.sampled_from((None, "linear", "quadratic")))
    return judge_agreement(*zip(*scores, strict=True), weights=weights)


@st.composite
def corrected_means(draw: st.DrawFn) -> CorrectedMean:
    """Draw results of `scorekit.corrected_mean`."""
    labeled = draw(st.lists(st.tuples(JUDGED, UNIT), min_size=2, max_size=10))
    judge, human = zip(*labeled, strict=True)
    rest = draw(st.lists(JUDGED, min_size=2, max_size=20))
    return corrected_mean(
        judge_labeled=judge, human=human, judge_unlabeled=rest, power_tuned=draw(st.booleans())
    )


@st.composite
def margin_verdicts(draw: st.DrawFn) -> MarginVerdict:
    """Draw verdicts on whether a suite is no worse than by a margin."""
    scores = draw(st.lists(st.tuples(UNIT, UNIT), min_size=2, max_size=8))
    before, after = ({str(i): pair[side] for i, pair in enumerate(scores)} for side in (0, 1))
    compared = compare_reports(before, after, margin=draw(st.floats(0.01, 0.9)))
    assert compared.suite.within_margin is not None  # noqa: S101 - asked for
    return compared.suite.within_margin


def mcnemar_tests() -> st.SearchStrategy[McNemarTest]:
    """Draw results of `scorekit.mcnemar_test`."""
    counts = st.integers(0, 200)
    return st.builds(mcnemar_test, n_pass_to_fail=counts, n_fail_to_pass=counts)


@st.composite
def paired_differences(draw: st.DrawFn) -> PairedDifference:
    """Draw results of `scorekit.paired_difference`."""
    scores = draw(st.lists(st.tuples(UNIT, UNIT, st.integers(0, 2)), min_size=1, max_size=8))
    before, after, labels = zip(*scores, strict=True)
    clusters = labels if draw(st.booleans()) else None
    return paired_difference(before, after, clusters=clusters, confidence_level=draw(CONFIDENCES))


@st.composite
def costs_of_pass(draw: st.DrawFn) -> CostOfPass:
    """Draw results of `scorekit.cost_of_pass_from_columns`."""
    runs = draw(st.lists(st.tuples(st.floats(0, 1e6), st.booleans()), min_size=1, max_size=8))
    costs, passed = zip(*runs, strict=True)
    return cost_of_pass_from_columns(
        cost_usd=costs, passed=passed, confidence_level=draw(CONFIDENCES)
    )


@st.composite
def sql_equivalences(draw: st.DrawFn) -> SqlEquivalence:
    """Draw results of `scorekit.sql_equivalence` on queries over ``SHOP``."""
    a, b = draw(sql_queries(max_depth=1)), draw(sql_queries(max_depth=1))
    return sql_equivalence(a, b, schema=SHOP, dialect="sqlite", n_databases=5)


def counterexamples() -> st.SearchStrategy[Counterexample]:
    """Draw small databases on which two queries differ."""
    return st.integers(0, 9).map(_counterexample)


def _counterexample(age: int) -> Counterexample:
    older = f"SELECT id FROM users WHERE age > {age}"  # noqa: S608 - a number
    found = sql_equivalence("SELECT id FROM users", older)
    assert found.counterexample is not None  # noqa: S101 - whoever is not older
    return found.counterexample


def table_rows() -> st.SearchStrategy[TableRows]:
    """Draw the tables of such databases."""
    return counterexamples().flatmap(lambda example: st.sampled_from(example.tables))


def result_accuracies() -> st.SearchStrategy[ResultAccuracy]:
    """Draw results of `scorekit.result_accuracy`."""
    rows = st.lists(st.tuples(st.integers(0, 2), st.none() | UNIT), max_size=3)
    return st.builds(result_accuracy, rows, rows, ordered=st.booleans())
