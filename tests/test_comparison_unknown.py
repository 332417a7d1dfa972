"""What several reports of a side, dependent attempts and unknown outcomes make of a verdict."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from refusals import Refusal, refusals
from scipy import stats

from scorekit import (
    CannotSeeError,
    CodeReport,
    CodeSample,
    Comparison,
    InputError,
    RegressionError,
    code_report,
    code_report_from_columns,
    compare_reports,
    pass_at_k,
    strategies,
)
from scorekit._core.attempts import Attempts
from scorekit._stats.changes import surplus

Run = dict[str, list[float]]


def flags(passed: Any, model: str = "m") -> CodeReport:
    """Report on attempts that are right, wrong or unknown."""
    return code_report_from_columns(model=model, passed=passed)


def stops(result: Comparison, **options: Any) -> str:
    """Return what stops a job, empty where nothing does."""
    try:
        result.raise_for_regressions(**options)
    except (RegressionError, CannotSeeError) as error:
        return str(error)
    return ""


def drawn(rng: np.random.Generator, rates: Any, n_attempts: int = 5, shift: float = 0.0) -> Run:
    """Draw a run."""
    outcomes = (
        rng.random((len(rates), n_attempts)) < np.clip(np.asarray(rates) + shift, 0, 1)[:, None]
    )
    return {f"c{i}": row for i, row in enumerate(outcomes.astype(float).tolist())}


# Repeats.


@given(st.integers(2, 4), st.integers(2, 4), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_repeats_against_scipy(n_old: int, n_new: int, n_cases: int, seed: int) -> None:
    """Oracle: scipy's exact permutation test of the means of repeats, and its spread."""
    rng = np.random.default_rng(seed)
    sides = [[drawn(rng, rng.random(n_cases)) for _ in range(n)] for n in (n_old, n_new)]
    for side in sides:  # copies count as one report
        assume(
            len(side) == 1 or len({str([sum(own) for own in run.values()]) for run in side}) > 1
        )
    suite = compare_reports(*sides).suite
    means = [[np.mean([np.mean(own) for own in run.values()]) for run in side] for side in sides]
    assert suite.n_repeats == (n_old, n_new)
    assert suite.delta == pytest.approx(np.mean(means[1]) - np.mean(means[0]))
    df = n_old + n_new - 2
    spread = math.sqrt(sum(np.sum((np.array(own) - np.mean(own)) ** 2) for own in means) / df)
    assert suite.repeat_spread == pytest.approx(spread, abs=1e-12)
    assert (suite.test, suite.question) == ("permutation of repeats", "these cases")

    def difference(x: Any, y: Any) -> float:
        return round(float(np.mean(y) - np.mean(x)), 12)

    resampled: Any = stats.permutation_test
    theirs = [
        resampled(means, difference, alternative=alternative, n_resamples=np.inf).pvalue
        for alternative in ("less", "greater")
    ]
    assert suite.p_value == pytest.approx(min(1.0, 2 * min(theirs)))
    low, high = suite.interval.low, suite.interval.high
    assert low <= suite.delta + 1e-6
    assert suite.delta - 1e-6 <= high
    assert (suite.p_value <= 0.05) == (low > 0 or high < 0)
    if math.comb(n_old + n_new, n_old) < 40:
        assert (low, high) == pytest.approx((-1.0, 1.0))


def test_the_interval_of_three_repeats_spans_the_farthest_differences() -> None:
    """By hand: a shift is refuted where all of one side lies beyond all of the other."""
    runs = [{i: i < n for i in range(100)} for n in (50, 52, 57, 40, 41, 45)]
    suite = compare_reports(runs[:3], runs[3:], confidence_level=0.9).suite
    assert suite.interval.low == pytest.approx(0.40 - 0.57, abs=1e-6)
    assert suite.interval.high == pytest.approx(0.45 - 0.50, abs=1e-6)
    assert suite.interval.confidence_level == pytest.approx(0.9)
    assert suite.p_value == pytest.approx(1 / 10)
    assert suite.verdict == "regressed"


@pytest.mark.slow
def test_repeats_hold_their_level_whatever_a_run_does() -> None:
    """Copies within a run and a drift of whole runs: at most 5 % of unchanged suites stop."""
    rng = np.random.default_rng(5)
    stopped = 0
    for _ in range(300):
        rates = rng.beta(0.5, 0.5, 20)
        runs: list[Run] = []
        for _ in range(8):
            odds = rng.normal(0, 0.3) + np.log(rates / (1 - rates + 1e-12) + 1e-12)
            right = rng.random(20) < 1 / (1 + np.exp(-odds))
            runs.append({f"c{i}": [float(one)] * 10 for i, one in enumerate(right)})
        stopped += bool(stops(compare_reports(runs[:4], runs[4:])))
    assert stopped <= 25  # the chance of more is below 1 in 100, were it 5 %


def test_single_cases_are_described_where_there_are_repeats() -> None:
    """Their means are compared by permutation; none is corrected or stops a job."""
    rng = np.random.default_rng(1)
    rates = rng.random(30)
    runs = [drawn(rng, rates) for _ in range(16)]
    for run in runs[8:]:
        run["c0"] = [0.0] * 5
    for run in runs[:8]:
        run["c0"] = [1.0] * 5
    for n in (3, 8):
        found = compare_reports(runs[:n], runs[8 : 8 + n])
        assert found.regressions[0].case_id == "c0"
        assert found.regressions[0].p_value == pytest.approx(1 / math.comb(2 * n, n))
        assert found.regressions[0].adjusted_p_value is None
        assert found.single_cases == "not tested"
        assert "dropped" not in stops(found)


def test_repeats_that_fell_stop_a_job() -> None:
    """What the printed verdict says stops the job; an improvement never; the text says why."""
    steady = [{f"c{i}": float(i != 10 + j) for i in range(50)} for j in range(4)]
    lower = [{**run, "c3": 0.0} for run in steady]
    result = compare_reports(steady, lower)
    assert result.suite.p_value == pytest.approx(2 / 70)
    assert result.suite.verdict == "regressed"
    for on in ("evidence", "suite"):
        assert stops(result, on=on).startswith("regressed: 0.980 -> 0.960, a loss of 0.020, ")
    assert stops(compare_reports(lower, steady)) == ""
    repeats = "4 repeats of the baseline, 4 of the current run, standard deviation 0.000"
    assert repeats in result.to_text()
    assert Comparison.from_json(result.to_json()) == result


@pytest.mark.parametrize(("n_old", "n_new"), [(1, 3), (2, 2), (2, 4), (3, 3), (1, 38)])
def test_too_few_repeats_cannot_see(n_old: int, n_new: int) -> None:
    """There are fewer than 40 arrangements, and the message says how many reports are enough."""
    rng = np.random.default_rng(3)
    runs = [drawn(rng, [0.5] * 10, shift=-0.4 * (i >= n_old)) for i in range(n_old + n_new)]
    result = compare_reports(runs[:n_old], runs[n_old:])
    why = f"{n_old} against {n_new} repeats are too few at 95 %: make 4 of either side"
    assert stops(result).startswith(
        f'cannot see a loss: {why}\n  raise_for_regressions(cannot_see="pass") goes on all'
    )
    assert stops(result, cannot_see="pass") == ""
    assert str(result).startswith(f"cannot see a loss: {why}\n")
    assert result.suite.cannot_see == why
    assert (result.suite.interval.low, result.suite.interval.high) == pytest.approx((-1.0, 1.0))


@pytest.mark.parametrize(
    ("n_old", "n_new", "level"),
    [(4, 4, 0.95), (3, 5, 0.95), (2, 8, 0.95), (1, 39, 0.95), (3, 3, 0.9), (2, 5, 0.9)],
)
def test_as_many_arrangements_as_the_level_asks_for_see(
    n_old: int, n_new: int, level: float
) -> None:
    """Every report of the current run lies below every one of the baseline: the least p value."""
    runs = [{i: i < 90 - n for i in range(100)} for n in range(n_old + n_new)]
    result = compare_reports(runs[:n_old], runs[n_old:], confidence_level=level)
    assert (result.suite.verdict, result.suite.cannot_see) == ("regressed", None)
    graded = [
        code_report_from_columns(
            model="m",
            passed={i: [3 * one] for i, one in run.items()},
            failed=[[4 - 3 * one] for one in run.values()],
        )
        for run in runs
    ]
    both = compare_reports(graded[:n_old], graded[n_old:], confidence_level=level)
    assert len(both.suites) == 2  # so that twice as many arrangements are needed
    with pytest.raises(CannotSeeError, match=r"^cannot see a loss: "):
        both.raise_for_regressions()


def test_copies_of_a_run_count_as_one_report() -> None:
    """Repeats that are the same in every case show no spread; the side that varies still does."""
    rng = np.random.default_rng(7)
    rates = rng.random(30)
    old, new, other = (drawn(rng, rates) for _ in range(3))
    one = compare_reports(old, new)
    assert one.n_copies == (0, 0)
    for sides, n_copies in (
        (([old] * 3, [new] * 2), (2, 1)),
        (([old, dict(reversed(old.items()))], new), (1, 0)),
    ):
        copies = compare_reports(*sides)
        assert copies.n_copies == n_copies
        assert copies.suites == one.suites
        assert f"{n_copies[0]} of the repeats of the baseline left out: the same as" in str(copies)
        assert Comparison.from_json(copies.to_json()) == copies
    for old_repeats in ([old] * 3, [old, other, old]):  # also where not all are copies
        mixed = compare_reports(old_repeats, [new, other])
        assert mixed.n_copies == (3 - len({id(run) for run in old_repeats}), 0)
        assert mixed.suite.test == "permutation of repeats"
        with pytest.raises(CannotSeeError, match=r"are too few(?s:.)*of the baseline left out"):
            mixed.raise_for_regressions()
    assert (
        compare_reports([old] * 3, [new, other]).suite == compare_reports(old, [new, other]).suite
    )


def test_an_interval_of_repeats_that_agree_holds_their_change() -> None:
    """Its ends are found up to 1e-7, on either side of a change that is no such number."""
    whole = {f"c{i}": [1.0] * 5 for i in range(30)}
    lower = [{**whole, f"c{i}": [1.0] * 4 + [0.0]} for i in range(3)]
    for sides in ((lower, [whole] * 3), ([whole] * 3, lower)):
        suite = compare_reports(*sides, confidence_level=0.9).suite
        assert suite.interval.low <= suite.delta <= suite.interval.high
        assert suite.interval.high - suite.interval.low == pytest.approx(0.0, abs=3e-7)


def test_repeats_of_a_stable_suite_can_be_the_same_by_chance() -> None:
    """Six cases at least differ on average between repeats before equal ones are copies."""
    old = {f"c{i}": [1.0] * 5 for i in range(20)}
    flips = [{**old, f"c{i}": [1.0] * 4 + [0.0]} for i in range(3)]
    found = compare_reports([old] * 3, [old, flips[0], flips[1]])
    assert found.n_copies == (0, 0)
    assert found.suite.n_repeats == (3, 3)
    found.raise_for_regressions(cannot_see="pass")
    far = [{**old, **{f"c{i}": [0.0] * 5 for i in range(n)}} for n in (1, 7, 13)]
    assert compare_reports([old] * 3, far).n_copies == (2, 0)


def test_a_margin_with_repeats_clusters_and_unknown_outcomes() -> None:
    """All at once: the margin is read off the interval of the repeats."""
    rng = np.random.default_rng(3)
    rates = rng.random(25)
    runs: list[list[Any]] = [[drawn(rng, rates) for _ in range(4)] for _ in range(2)]
    groups = {f"c{i}": i // 5 for i in range(25)}
    known = compare_reports(*runs, margin=0.2).suite
    assert known.within_margin in ("not worse", "equivalent")
    assert known.interval.low > -0.2
    runs[1][0]["c7"] = [1.0, None, 0.0]
    runs[1][2]["c9"] = None
    suite = compare_reports(*runs, margin=0.2, clusters=groups).suite
    assert (suite.n_cases, suite.n_unscored, suite.n_groups) == (24, 1, 5)
    assert (suite.test, suite.n_unknown) == ("permutation of repeats", 1)
    assert (suite.within_margin in ("not worse", "equivalent")) == (suite.interval.low > -0.2)


@refusals("""
anytime=True -> InputError: anytime must be False with several reports of a side, got True
baseline=[] -> InputError: baseline must be a non-empty sequence of reports, got ()
baseline=[{"a": 1}, {"a": 1, "b": 0}]
    -> InputError: baseline[1] must be a run of the same cases as baseline[0], got ['b']
baseline=[{"a": 1}, {"a": 2}] -> InputError: baseline[1]['a'] must be a number in [0, 1], got 2
""")
def test_repeats_that_are_none(wrong: Refusal) -> None:
    """Each message names the report."""
    wrong.by(compare_reports, baseline=[{"a": 1}, {"a": 0}], current={"a": 1})


def test_one_report_against_three_and_one_case() -> None:
    """The spread is that of the three; a single case has half of it at least."""
    one = compare_reports({"a": 1, "b": 0}, [{"a": 1, "b": 1}, {"a": 0, "b": 0}, {"a": 1, "b": 0}])
    assert one.suite.n_repeats == (1, 3)
    assert one.suite.verdict == "inconclusive"
    alone = compare_reports([{"a": 1}] * 2, [{"a": 0}] * 2).suite
    assert (alone.verdict, alone.delta) == ("inconclusive", -1.0)


def test_pass_at_k_and_several_metrics_of_repeats() -> None:
    """Each report gives its pass@k, of which repeats are compared."""
    reports = [flags({"a": own, "b": [True] * 3}) for own in ([1, 0, 0], [1, 1, 0], [0, 0, 0])]
    suite = compare_reports(reports, reports[:2], metrics=["pass@2"]).suite
    means = [(pass_at_k(n_samples=3, n_correct=c, k=2).score + 1) / 2 for c in (1, 2, 0)]
    assert suite.delta == pytest.approx(np.mean(means[:2]) - np.mean(means))


# Attempts that depend on each other.


def test_what_copies_change() -> None:
    """A rise as far takes the word from single cases; the verdict on the suite stays."""
    before: Run = {f"c{i}": [1.0] * 9 + [0.0] for i in range(30)} | {"x": [1.0] * 10}
    after: Run = {**before, "x": [0.0] * 10}
    fell = compare_reports(before, after)
    assert fell.single_cases == "tested"
    assert "copies of one answer fall together" in stops(fell)
    rose = {**before, "y": [0.0] * 10}, {**after, "y": [1.0] * 10}
    found, plain = (compare_reports(*rose, attempts=a) for a in ("auto", "independent"))
    assert stops(found) == stops(plain) == ""  # it fell no farther than another rose
    none, most = [0.0] * 10, [1.0] * 8 + [0.0] * 2
    some = {**before, "y": none, "z": none}, {**after, "y": most, "z": most}
    found, plain = (compare_reports(*some, attempts=a) for a in ("auto", "independent"))
    assert (found.single_cases, plain.single_cases) == ("cannot tell", "tested")
    assert stops(found).startswith("cannot tell: 1 case fell, x from 10 of 10 to 0 of 10 (p = ")
    assert stops(found, cannot_tell="pass") == ""
    assert "1 case dropped significantly" in stops(plain)
    assert found.suites == plain.suites
    message = r"^attempts must be one of 'auto', 'fixed', 'independent', got"
    with pytest.raises(InputError, match=message):
        compare_reports(before, after, attempts="dependent")  # type: ignore[arg-type]


@pytest.mark.parametrize("n_cases", [100, 1000])
@pytest.mark.parametrize("n_fallen", [1, 3])
def test_a_lost_case_of_a_stable_suite_is_never_silently_green(
    n_cases: int, n_fallen: int
) -> None:
    """Nothing varied in either run: it may be a copied answer that flipped, and the job stops."""
    before: Run = {f"c{i}": [1.0] * 10 for i in range(n_cases)}
    after = {**before, **{f"c{i}": [0.0] * 10 for i in range(n_fallen)}}
    result = compare_reports(before, after)
    plural = "s" * (n_fallen > 1)
    head = f"cannot tell: {n_fallen} case{plural} fell, c0 from 10 of 10 to 0 of 10 (p = 5.4e-06)"
    assert result.single_cases == "cannot tell"
    first, remedy, *_ = stops(result).splitlines()
    assert first.startswith(head)
    assert first.endswith("and the baseline does not show that attempts are independent")
    for words in ("make one a case", "repeat the suite", 'cannot_tell="pass"'):
        assert words in remedy
    assert str(result).startswith(head)
    assert remedy.strip() in str(result)
    assert stops(result, cannot_tell="pass") == ""
    assert stops(result, on="suite") == ""
    sure = compare_reports(before, after, attempts="independent")
    assert "dropped significantly" in stops(sure)
    assert stops(compare_reports(after, before)) == ""


@pytest.mark.sampled
@pytest.mark.parametrize(("n_old", "n_new"), [(1, 10), (10, 1), (1, 5), (3, 5), (1, 100)])
def test_unequal_attempts_raise_no_false_alarms(n_old: int, n_new: int) -> None:
    """The error is that of the fewer attempts in both runs: few unchanged suites stop."""
    rng = np.random.default_rng(2)
    n_stopped = 0
    for _ in range(150):
        result = compare_reports(*(drawn(rng, [0.98] * 20, n) for n in (n_old, n_new)))
        n_stopped += bool(stops(result))
    assert n_stopped <= 14


def test_the_error_of_unequal_attempts() -> None:
    """By hand: what more attempts now than before add comes from the baseline alone."""
    before: Run = {"a": [1, 0, 0, 1], "b": [1, 1], "c": [1, 0], "d": [0, 0], "e": [1, 0]}
    after: Run = {"a": [1, 0], "b": [0] * 8, "c": [0] * 4, "d": [0] * 4, "e": [1, 1]}
    first, second = (Attempts.of(map(tuple, run.values())) for run in (before, after))
    # of the cases with more: variances 0, 1/2, 0, and one flip of a case with two attempts
    expected = (1 / 2 * (1 / 2 - 1 / 4) + 1 / 2 * (1 / 2 - 1 / 8)) / 25
    assert surplus(first, second) == pytest.approx(expected)
    assert surplus(second, first) == pytest.approx((1 / 2 * (1 / 2 - 1 / 4) + 1 / 2 / 4) / 25)
    single = Attempts.of([(1.0,), (1.0,), (0.0,), (1.0,)])
    several = Attempts.of([(1.0, 0.0)] * 4)
    assert surplus(single, several) == pytest.approx((4 * 3 / 16 / 2 + 1 / 2) / 16)
    assert surplus(several, single) == surplus(several, several) == 0.0


# A margin before all cases are there.


def test_a_margin_waits_for_all_cases() -> None:
    """The hard ones may come last; with a declared order it need not wait."""
    before = {f"c{i}": 1.0 for i in range(400)}
    part = dict(list(before.items())[:300])
    asked: dict[str, Any] = {"anytime": True, "margin": 0.1}
    waiting = compare_reports(before, part, **asked).suite
    assert (waiting.within_margin, waiting.n_unseen) == ("undecided", 100)
    assert "\nmargin 0.1: undecided, 100 cases of the baseline to come\n" in str(waiting)
    for found in (
        compare_reports(before, part, random_order=True, **asked),
        compare_reports(before, before, **asked),
    ):
        assert found.suite.within_margin == "equivalent"
    with pytest.raises(InputError, match=r"^random_order must be False where anytime=False, got"):
        compare_reports(before, part, random_order=True)


# What is said first.


@given(strategies.comparisons())
def test_the_last_line_says_what_the_gate_does(comparison: Comparison) -> None:
    """What stops it stands above, in the words of the error, whatever was compared."""
    text, reason = str(comparison), stops(comparison).partition("\n")[0]
    last = text.splitlines()[-1]
    assert last.startswith("the gate stops") == bool(reason)
    assert last.startswith("the gate passes") == (not reason)
    for head in reason.split("; "):
        assert head in text


# Missing outcomes.

OUTCOMES = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=3)


def filled(run: dict[str, list[bool | None]], values: Any) -> dict[str, list[bool]]:
    """Put values where nothing is known."""
    return {case: [next(values) if x is None else x for x in own] for case, own in run.items()}


@settings(max_examples=20)
@given(st.lists(OUTCOMES, min_size=2, max_size=3), st.lists(OUTCOMES, min_size=2, max_size=3))
def test_bounds_are_those_of_all_outcomes(old: Any, new: Any) -> None:
    """By enumeration: rates of a model, and the change of a suite."""
    runs = [{f"c{i}": own for i, own in enumerate(side)} for side in (old, new)]
    shared = runs[0].keys() & runs[1].keys()
    reports = [flags(run) for run in runs]
    every: list[list[dict[str, list[bool]]]] = []
    for run, report in zip(runs, reports, strict=True):
        n = sum(x is None for own in run.values() for x in own)
        ways = [filled(run, iter(way)) for way in itertools.product([False, True], repeat=n)]
        every.append(ways)
        (model,) = report.models
        assert model.n_unknown == n
        assert model.n_samples == sum(map(len, run.values())) - n
        rates = [flags(way).models[0].pass_at_k[0].score for way in ways]
        if not model.n_samples:
            nothing = model.pass_at_k[0]
            assert str(nothing) == f"pass@1 = unknown (95 %, 0 of {len(run)} tasks)"
            assert math.isnan(model.mean_score)
        if n:
            assert model.unknown_bounds["pass@1"] == pytest.approx((min(rates), max(rates)))
        else:
            assert model.unknown_bounds == {}
        assert CodeReport.from_json(report.to_json()) == report
    suite = compare_reports(*reports).suite
    before, after = (
        [np.mean([np.mean(way[c]) for c in shared]) for way in ways] for ways in every
    )
    deltas = np.subtract.outer(after, before)
    if any(x is None for run in runs for c in shared for x in run[c]):
        assert suite.delta_bounds == pytest.approx((deltas.min(), deltas.max()))
    else:
        assert suite.delta_bounds is None


def test_code_scores_of_unknown_outcomes() -> None:
    """Compiled, without a warning: from 0.5 to 1; what did not compile is known, whatever ran."""
    report = code_report(
        [
            CodeSample(case_id="a", model="m", compiled=True, passed=3, failed=1, cost_usd=1.0),
            CodeSample(case_id="a", model="m", compiled=True, passed=None, cost_usd=2.0),
            CodeSample(case_id="b", model="m", compiled=False, passed=None),
        ]
    )
    (model,) = report.models
    assert (model.n_unknown, model.n_samples, model.total_cost_usd) == (1, 2, 3.0)
    assert model.unknown_bounds["code_score"] == pytest.approx(((0.875 + 0.5) / 4, 1.875 / 4))
    assert model.unknown_bounds["test_pass_rate"] == pytest.approx((0.75 / 4, 1.75 / 4))
    assert report.unknown == {"m": {"a": ((0.5, 1.0),)}}
    assert report.for_model("m") == report
    assert (
        "pass@1 = 0 [0, 0.99] (between 0 and 0.25), mean code score 0.4375 (between 0.34 and "
        in str(report)
    )
    sample = CodeSample(case_id="b", model="m", compiled=True, passed=None)
    assert sample.correct is None


def test_a_sample_may_not_even_be_known_to_compile() -> None:
    """As after a crash of the sandbox; where the outcome is known, so is that."""
    lost: dict[str, Any] = {"case_id": "a", "model": "m", "compiled": None}
    known = CodeSample(case_id="a", model="m", compiled=True, passed=1)
    samples = [CodeSample(passed=None, **lost), known]
    report = code_report(samples)
    columns: dict[str, Any] = {"compiled": [None, True], "passed": [None, 1], "failed": [None, 0]}
    assert report == code_report_from_columns(case_id=["a", "a"], model="m", **columns)
    assert report.models[0].unknown_bounds["pass@1"] == (0.5, 1.0)
    with pytest.raises(TypeError, match=r"^compiled must be True or False, got None$"):
        CodeSample(passed=1, **lost)
    few = r"with 1; 1 of unknown outcome are not counted\); lower k or pass insufficient="
    with pytest.raises(InputError, match=few):
        code_report(samples, k=2)


@pytest.mark.parametrize(
    "passed", [[True, None], [1.0, math.nan], pd.array([True, None], dtype="boolean"), [1, None]]
)
def test_columns_say_unknown_in_their_own_way(passed: Any) -> None:
    """As data frames do."""
    report = code_report_from_columns(case_id=["a", "b"], model="m", passed=passed)
    assert [case.case_id for case in report.cases] == ["a"]
    assert report.models[0].n_unknown == 1
    again = code_report_from_columns(case_id=["a", "b"], model="m", passed=passed, failed=[0, 2])
    assert again.models == report.models


@pytest.mark.parametrize(
    ("others", "low"),
    [
        ({"failed": [1, None]}, 0.5),
        ({"failed": [1, 4], "compiled": True}, 0.5),
        ({"failed": [1, None], "compiled": [True, None]}, 0.0),
        ({"compiled": [1.0, math.nan]}, 0.0),
        ({"failed": [1, math.nan], "warnings": [0, math.nan]}, 0.0),
    ],
)
def test_an_unknown_row_is_unknown_as_a_whole(others: dict[str, Any], low: float) -> None:
    """Whatever else is missing there; its code score is 0 if it may not even have compiled."""
    columns: dict[str, Any] = {"case_id": ["a", "b"], "model": "m", "passed": [0, None]}
    report = code_report_from_columns(**columns, **others)
    assert (report.models[0].n_unknown, report.models[0].n_samples) == (1, 1)
    assert report.models[0].unknown_bounds["pass@1"] == (0.0, 0.5)
    if "failed" in others:
        assert report.unknown["m"]["b"] == ((low, 1.0),)


@pytest.mark.parametrize("name", ["compiled", "failed", "warnings"])
def test_what_is_missing_beside_a_known_outcome_is_named(name: str) -> None:
    """With what to do if the outcome is not known either."""
    columns: dict[str, Any] = {"compiled": [True, True], "failed": [0, 0], "warnings": [0, 0]}
    columns[name] = [columns[name][0], None]
    message = (
        rf"^{name}\[1\] must be known where passed is "
        r"\(if it is missing: None in both\), got None$"
    )
    with pytest.raises(InputError, match=message):
        code_report_from_columns(case_id=["a", "b"], model="m", passed=[1, 2], **columns)


def test_a_verdict_stands_at_both_ends_where_more_outcomes_are_missing() -> None:
    """Where few are unknown, what the known ones show stands; where many, nothing does."""

    def compare(n_unknown: int, **options: Any) -> Comparison:
        before = {f"c{i}": [1, 1, 1, 0, 1] for i in range(60)}
        after: dict[str, Any] = {f"c{i}": [1, 0, int(i % 7 < 4), 0, 0] for i in range(60)}
        after |= {f"c{i}": [None] * 5 for i in range(n_unknown)}
        return compare_reports(flags(before), flags(after), margin=0.1, **options)

    few, some, many = (compare(n) for n in (2, 12, 45))
    assert [one.missing for one in (few, some, many)] == ["none", "rose", "rose"]
    verdicts = [one.suite.verdict for one in (few, some, many)]
    assert verdicts == ["regressed", "regressed", "inconclusive"]
    assert [one.suite.within_margin for one in (few, some, many)] == [
        "worse",
        "worse",
        "undecided",
    ]
    assert many.suite.p_value > 0.5
    assert "45 of 60 cases not scored: between -0.72 and +0.03 wh" in str(many.suite)
    for one in (some, many):
        assert one.suite.holds_at_bounds
        assert "more outcomes are missing than before: " in stops(one)
        assert one.suite.interval.high >= few.suite.interval.high
    assert stops(many, allow_missing=True) == ""
    assert stops(some, allow_missing=True).startswith("regressed: ")
    groups = {f"c{i}": i // 6 for i in range(60)}
    assert compare(2, clusters=groups).suite.n_unscored == 2
    assert compare(2, clusters=groups).suite.verdict == "regressed"


def test_a_case_with_unknown_outcomes_falls_by_the_known_ones() -> None:
    """Where more are missing in most cases too, it has to fall at best."""
    steady = {f"c{i}": [1] * 9 + [0] for i in range(30)}
    before = flags({"x": [True] * 10, **steady})
    for n_lost, p_value in ((0, 1 / math.comb(20, 10)), (7, 1 / math.comb(13, 3))):
        after = flags({"x": [None] * n_lost + [False] * (10 - n_lost), **steady})
        (change,) = compare_reports(before, after).regressions
        assert change.p_value == pytest.approx(p_value)
        assert change.is_significant
    lost = {case: [*own[:8], None, None] for case, own in steady.items()}
    after = flags({"x": [None] * 7 + [False] * 3, **lost})
    result = compare_reports(before, after)
    assert result.missing == "rose"
    assert [one.is_significant for one in result.regressions] == [False]


def test_timeouts_in_both_runs_stop_nothing() -> None:
    """The baseline has cases without any outcome as often; of the others verdicts are taken."""
    before: dict[str, Any] = {f"c{i}": None if i < 5 else 1 for i in range(200)}
    after: dict[str, Any] = {f"c{i}": None if 5 <= i < 10 else 1 for i in range(200)}
    result = compare_reports(before, after)
    assert len(result.newly_failing) == 5
    assert (result.lost_cases, result.missing, stops(result)) == (False, "none", "")
    assert "2.5 % of the outcomes are missing, 2.5 % before, no more than chance" in str(result)
    assert result.suite.verdict == "no change detected"
    first = compare_reports(dict.fromkeys(before, 1), after)
    assert stops(first).startswith("5 cases newly unscored")
    many = compare_reports(before, {f"c{i}": None if 5 <= i < 40 else 1 for i in range(200)})
    assert stops(many).startswith("35 cases newly unscored; more outcomes are missing than before")


def test_a_case_lost_by_chance_stops_nothing() -> None:
    """Where three of ten outcomes are missing at any case, one that lost all five is no news."""
    before: dict[str, Any] = {f"c{i}": [1, None, 1, None, 1] for i in range(60)}
    before |= {f"c{i}": [1, 1, 1, 1, None] for i in range(30)}
    after = {**before, "c7": [None] * 5}
    one = compare_reports(before, after)
    assert [change.case_id for change in one.newly_failing] == ["c7"]
    assert one.missing_shares[0] == pytest.approx(0.3)
    assert (one.lost_cases, stops(one)) == (False, "")
    assert compare_reports(before, {**after, "c8": [None] * 5}).lost_cases
    few: dict[str, Any] = {case: [1, 1, 1, 1, None] for case in before}
    assert compare_reports(few, {**few, "c7": [None] * 5}).lost_cases
    assert compare_reports(before, after, anytime=True).lost_cases


def test_failures_that_are_left_out_are_seen() -> None:
    """As None or not at all: more is missing than before, and the verdict is none of the rest."""
    rng = np.random.default_rng(3)
    before, after = (drawn(rng, rng.beta(2, 1, 60)) for _ in range(2))
    unknown: Any = {case: [one or None for one in own] for case, own in after.items()}
    left_out = {case: [one for one in own if one] or [0.0] for case, own in after.items()}
    for hidden in (unknown, left_out):
        result = compare_reports(before, hidden)
        assert result.missing == "rose"
        assert "more outcomes are missing than before" in stops(result)
        assert result.suite.verdict != "improved"
    assert "improved" in str(compare_reports(before, left_out, attempts="fixed"))
    unequal = {case: own[:3] for case, own in after.items()}
    assert stops(compare_reports(before, unequal)) == stops(compare_reports(unequal, before)) == ""


def test_attempts_until_the_first_pass_are_refused() -> None:
    """Their share of passes is no rate, unless the numbers were fixed beforehand."""
    rng = np.random.default_rng(1)
    every = drawn(rng, rng.random(40))
    until = {case: own[: own.index(1.0) + 1] if any(own) else own for case, own in every.items()}
    message = r"^current must be of numbers of attempts fixed beforehand, got attempts until the "
    with pytest.raises(InputError, match=message):
        compare_reports(every, until)
    with pytest.raises(InputError, match=message.replace("current", "baseline")):
        compare_reports(until, every)
    assert compare_reports(every, until, attempts="fixed").suite.n_cases == 40
    odd = {case: own if i else [1.0, 0.0] for i, (case, own) in enumerate(until.items())}
    with pytest.raises(InputError, match=message):  # nearly all
        compare_reports(every, odd)
    plain = {case: own[: 1 + i % 5] for i, (case, own) in enumerate(every.items())}
    assert compare_reports(plain, plain).suite.delta == 0.0


def test_repeats_with_unknown_outcomes() -> None:
    """A case that one repeat does not know is left out, and bounds the change."""
    known = {f"c{i}": [1, 0] for i in range(10)}
    lost = {**known, "c0": [None, None]}
    result = compare_reports([flags(known)] * 2, [flags(known), flags(lost)])
    assert (result.suite.n_cases, result.suite.n_unscored) == (9, 1)
    assert result.suite.delta_bounds == pytest.approx((-0.025, 0.025))
    assert (result.removed_cases, result.newly_failing) == ((), ())


def test_a_case_without_any_outcome_stops_a_job() -> None:
    """Nobody passes by losing outcomes, as by deleting a case; one that lost some is bounded."""
    before = {f"c{i}": [1, 1, 0, 1] for i in range(20)}
    after = {**before, "c3": [None] * 4, "c4": [None, 1, 0, 1]}
    for sides in ((before, after), (flags(before), flags(after))):
        result = compare_reports(*sides)
        head, kind, *_ = stops(result).splitlines()
        assert head == "1 case newly unscored"
        assert kind.startswith("  newly unscored (unknown outcomes): c3")
        assert "\nNewly unscored: 1 (c3" in str(result)
        assert stops(result, allow_missing=True) == ""
        assert (result.suite.n_unscored, result.suite.n_unknown) == (1, 1)
