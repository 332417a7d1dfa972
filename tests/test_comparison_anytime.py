"""compare_reports(anytime=True): laws of the wealth, an oracle, the gate, what is refused."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends, present
from refusals import Refusal, refusals

from scorekit import Comparison, RegressionError, code_report_from_columns, compare_reports
from scorekit._stats.betting import SHARES, Bets, betting_interval, boundary, course

SCORES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
CASES = st.lists(
    st.tuples(*[st.lists(SCORES, min_size=1, max_size=3)] * 2), min_size=1, max_size=12
)


def _wealth(deltas: list[float], mean: float) -> tuple[float, float]:
    """Return the wealth of either side, risen and fallen, written down as it is defined."""
    sides = []
    for sign in (1.0, -1.0):
        odds = [(1.0 + sign * x) / (1.0 + sign * mean) for x in deltas]
        sides.append(float(np.mean([math.prod(1.0 - s + s * o for o in odds) for s in SHARES])))
    return sides[0], sides[1]


def _verdict(deltas: list[float]) -> Any:
    before = {str(i): max(0.0, -x) for i, x in enumerate(deltas)}
    after = {str(i): max(0.0, x) for i, x in enumerate(deltas)}
    return compare_reports(before, after, anytime=True).suite


def test_reference_sign_test() -> None:
    """For changes of side the wealth is the martingale with a uniform prior, from beta functions.

    With no rise it is the integral of (1 + s)^n, (2^(n + 1) - 1) / (n + 1), on its half; the five
    small shares, for long runs, have won next to nothing yet.
    """
    for n in (3, 7, 8, 12):
        suite = _verdict([-1.0] * n + [0.0] * 5)
        exact = (64 * (2 ** (n + 1) - 1) / (n + 1) + 5) / 69
        assert suite.p_value == pytest.approx(min(1, 2 / exact), rel=0.01)
    assert _verdict([-1.0] * 8).verdict == "regressed"
    assert _verdict([-1.0] * 7).verdict == "inconclusive"
    assert _verdict([1.0] * 8).verdict == "improved"


def test_no_more_than_the_level_errs_at_any_look_by_enumeration() -> None:
    """All ways in which twelve unchanged cases can change side, looked at after every one."""
    n, level = 12, 0.9
    wrong, wealth = 0, 0.0
    for signs in product((-1.0, 1.0), repeat=n):
        logs = np.cumsum(np.log1p(np.outer(signs, SHARES)), axis=0)
        up = np.exp(logs).mean(axis=1)
        down = np.exp(np.cumsum(np.log1p(-np.outer(signs, SHARES)), axis=0)).mean(axis=1)
        wrong += bool((np.maximum(up, down) >= 2.0 / (1.0 - level)).any())
        wealth += float(up[-1] + down[-1]) / 2.0
    assert wealth / 2**n == pytest.approx(1.0)  # a martingale
    assert 0.0 < wrong / 2**n <= 1.0 - level


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.sampled_from([0.5, 0.9, 0.99]))
def test_ends_and_p_value_are_those_of_the_definition(deltas: list[float], level: float) -> None:
    """Oracle: the products as they are defined; means just outside are refuted, inside not."""
    low, high, (fall, rise) = betting_interval(np.array(deltas), level)
    won = _wealth(deltas, 0.0)
    assert rise == pytest.approx(min(1.0, 1.0 / won[0]), rel=1e-6)
    assert fall == pytest.approx(min(1.0, 1.0 / won[1]), rel=1e-6)
    assert -1.0 <= low <= math.fsum(deltas) / len(deltas) + 1e-9
    assert math.fsum(deltas) / len(deltas) - 1e-9 <= high <= 1.0
    enough = 2.0 / (1.0 - level)
    for end, outward in ((low, -1e-6), (high, 1e-6)):
        if abs(end) < 1.0 - 1e-5:
            assert max(_wealth(deltas, end + outward)) >= enough * (1.0 - 1e-9)
            assert max(_wealth(deltas, end - outward)) <= enough * (1.0 + 1e-9)


def test_many_different_values_are_multiplied_to_the_same() -> None:
    """Above a thousand of them products stand in for sums of logarithms."""
    deltas = np.random.default_rng(3).uniform(-1, 1, 3000)
    bets = Bets.on(deltas)
    for mean in (-0.3, 0.0, 0.9):
        logs = np.log1p(np.outer(SHARES, (deltas - mean) / (1.0 + mean))).sum(axis=1)
        assert bets.log_wealth(mean) == pytest.approx(np.logaddexp.reduce(logs) - math.log(69))


@given(CASES, st.randoms())
def test_order_and_sides_do_not_matter(
    cases: list[tuple[list[float], list[float]]], random: Any
) -> None:
    """Any order of the cases gives the same; exchanging the sides turns the signs."""
    sides: list[dict[int, list[float]]] = [
        dict(enumerate(side)) for side in zip(*cases, strict=True)
    ]
    suite = compare_reports(sides[0], sides[1], anytime=True).suite
    shuffled = list(sides[0].items())
    random.shuffle(shuffled)
    again = compare_reports(dict(shuffled), sides[1], anytime=True).suite
    back = compare_reports(sides[1], sides[0], anytime=True).suite
    assert again.p_value == pytest.approx(suite.p_value)
    assert back.p_value == pytest.approx(suite.p_value)
    low, high = ends(suite.interval)
    assert ends(again.interval) == pytest.approx((low, high), abs=1e-8)
    assert (-back.interval.high, -back.interval.low) == pytest.approx((low, high), abs=1e-8)
    assert low - 1e-9 <= suite.delta <= high + 1e-9
    is_shown = suite.p_value <= 0.05 and not low <= 0.0 <= high
    assert (suite.verdict in ("regressed", "improved")) == is_shown


def test_a_boundary_is_where_the_wealth_is_enough() -> None:
    """Oracle: the mean over shares of exp(s sum - s^2 squares / 2)."""
    squares = np.array([1e-6, 0.5, 30.0, 1e4])
    for total, square in zip(boundary(squares, 0.95), squares, strict=True):
        wealth = np.mean(np.exp(SHARES * total - SHARES**2 * square / 2.0))
        assert wealth == pytest.approx(40.0)


@pytest.mark.slow
def test_a_course_is_that_of_simulated_runs() -> None:
    """Oracle: 4000 runs of 300 single attempts that lose 12 points, looked at after each."""
    rng = np.random.default_rng(5)
    deltas = rng.choice([-1.0, 0.0, 1.0], (4000, 300), p=[0.24, 0.64, 0.12])
    ends = np.full(4000, 301)
    logs = np.zeros((2, 4000, SHARES.size))
    for i, column in enumerate(deltas.T):
        logs += np.log1p([np.outer(column, SHARES), np.outer(-column, SHARES)])
        over = (np.exp(logs).mean(axis=2) >= 40.0).any(axis=0)
        ends[over & (ends > 300)] = i + 1
    found = course(300, 0.12, 0.36, 0.95)
    assert found.power == pytest.approx(np.mean(ends <= 300), abs=0.03)
    assert found.share == pytest.approx(np.minimum(ends, 300).mean() / 300, abs=0.02)


# A growing run.


BEFORE, AFTER = dict.fromkeys(range(40), 1), {i: int(i % 2 == 0) for i in range(40)}


def test_a_growing_run_is_decided_before_its_end() -> None:
    """Cases that only the baseline has wait, and a gate that allows for them does not stop."""
    verdicts = []
    for n in range(1, 41):
        so_far = dict(list(AFTER.items())[:n])
        result = compare_reports(BEFORE, so_far, anytime=True, random_order=True)
        assert len(result.removed_cases) == 40 - n
        verdicts.append(result.suite.verdict)
        if result.suite.verdict != "regressed":
            result.raise_for_regressions(allow_missing=True)
    assert verdicts[14:16] == ["inconclusive", "regressed"]


def test_a_verdict_waits_for_cases_to_come() -> None:
    """What finishes first may differ, so only a declared random order decides before the end."""
    for n in (16, 39):
        result = compare_reports(BEFORE, dict(list(AFTER.items())[:n]), anytime=True)
        suite = result.suite
        assert (suite.verdict, suite.n_unseen) == ("inconclusive", 40 - n)
        assert suite.p_value < 0.05
        assert suite.question == "the cases so far"
        assert f"inconclusive so far, {40 - n} cases to come" in str(result)
        assert "the verdict waits for all cases of the baseline" in str(result)
        result.raise_for_regressions()
    whole = compare_reports(BEFORE, AFTER, anytime=True).suite
    assert (whole.verdict, whole.n_unseen, whole.question) == ("regressed", 0, "cases like these")


def test_what_finishes_first_stops_no_unchanged_run() -> None:
    """Right answers come first: with *random_order* nearly every run would seem improved."""
    rng = np.random.default_rng(3)
    stopped = dict.fromkeys((False, True), 0)
    for _ in range(12):
        old, new = rng.random(150) < 0.6, rng.random(150) < 0.6
        finished = np.argsort(np.where(new, 1.0, 2.0) * np.exp(rng.normal(0, 0.3, 150)))
        before = dict(enumerate(old.astype(int).tolist()))
        for declared in stopped:
            for n in (30, 60, 90):
                after = {int(i): int(new[i]) for i in finished[:n]}
                result = compare_reports(before, after, anytime=True, random_order=declared)
                if result.suite.verdict != "inconclusive":
                    stopped[declared] += 1
                    break
    assert stopped[False] == 0
    assert stopped[True] >= 10


def test_single_cases_are_not_tested() -> None:
    """Their own p value stays; only the suite stops a job, and the result says so."""
    steady: dict[Any, Any] = {f"c{i}": [1] * 9 + [0] for i in range(30)}
    before, after = {"x": [1] * 10, **steady}, {"x": [0] * 10, **steady}
    fixed, result = (compare_reports(before, after, anytime=any_) for any_ in (False, True))
    assert fixed.regressions[0].adjusted_p_value is not None
    assert result.regressions[0].adjusted_p_value is None
    assert result.regressions[0].p_value == fixed.regressions[0].p_value
    with pytest.raises(RegressionError):
        fixed.raise_for_regressions()
    result.raise_for_regressions()
    assert (fixed.anytime, result.anytime) == (False, True)
    said = "Valid at any time, however often one looks; single cases are not tested"
    for shown in (result.to_text(), result.to_markdown(), result._repr_html_()):
        assert said in shown
    assert said not in fixed.to_text()
    assert Comparison.from_json(result.to_json()) == result


def test_several_suites_and_a_margin() -> None:
    """All intervals hold at once and at any time; the margin is read off the same ones."""

    def report(passed: int) -> Any:
        names, models, counts = [*range(40)] * 2, ["a"] * 40 + ["b"] * 40, [passed] * 40 + [0] * 40
        return code_report_from_columns(case_id=names, model=models, passed=counts, failed=1)

    result = compare_reports(report(3), report(0), anytime=True, margin=0.1)
    assert [suite.test for suite in result.suites.values()] == ["betting"] * 4
    suite = result.suites["a / code_score"]
    assert suite.verdict == "regressed"
    assert suite.interval.confidence_level == pytest.approx(1 - 0.05 / 4)
    assert (suite.within_margin, suite.n_suites) == ("worse", 4)
    assert suite.interval.high < -0.1
    with pytest.raises(RegressionError):
        result.raise_for_regressions(on="margin")


def test_few_cases_decide_nothing() -> None:
    """One case, identical runs, and nothing that could be detected."""
    one = _verdict([-1.0])
    assert (one.verdict, one.p_value) == ("inconclusive", 1.0)
    assert (one.interval.low, one.minimum_detectable_effect) == (-1.0, None)
    assert one.interval.high > 0.97
    same = _verdict([0.0] * 1000)
    assert same.verdict == "no change detected"
    assert 0.0 < same.interval.high < 0.01
    steady = compare_reports(dict.fromkeys(range(1000), 1), dict.fromkeys(range(1000), 1))
    assert 0.0 < present(steady.suite.minimum_detectable_effect) <= 0.05


@pytest.mark.sampled
@pytest.mark.parametrize("rate", [0.95, 0.6])
def test_stated_effects_are_found(rate: float) -> None:
    """With 80 % power at that very look, by simulation."""
    rng = np.random.default_rng(11)
    n, k = 150, 2
    counts = rng.binomial(k, rate, (2, n)).tolist()
    sides = [{i: [1] * c + [0] * (k - c) for i, c in enumerate(side)} for side in counts]
    n_broken = present(compare_reports(*sides, anytime=True).suite.n_detectable)
    rates = np.full((800, n), rate)
    lower = rates.copy()
    lower[:, :n_broken] = 0.0
    before, after = rng.binomial(k, rates), rng.binomial(k, lower)
    logs = np.log1p(-np.outer((after - before) / k, SHARES)).reshape(800, n, -1).sum(axis=1)
    assert 0.7 <= float(np.mean(np.exp(logs).mean(axis=1) >= 40.0)) <= 0.99


# Errors.


@refusals("""
clusters={"a": 1} -> InputError: clusters must be None where anytime=True, got {'a': 1}
current={} -> InputError: current must be a run with at least one case, got {}
current={"b": 1} -> InputError: current must be a run with a case of baseline, such as 'a',...
current={"a": 1.5} -> InputError: current['a'] must be a number in [0, 1], got 1.5
anytime=2 -> TypeError: anytime must be True or False, got 2
anytime=None -> TypeError: anytime must be True or False, got None
anytime="yes" -> TypeError: anytime must be True or False, got 'yes'
""")
def test_what_would_mislead_is_refused(wrong: Refusal) -> None:
    """Groups that fill up between looks would change what was already bet on."""
    wrong.by(compare_reports, {"a": 1}, current={"a": 1}, anytime=True)


def test_cases_that_a_growing_run_still_has_to_do_are_pending() -> None:
    """They stop no job and are not called missing; in a run that is done they are and do."""
    before, so_far = ({f"case {i}": 1.0 for i in range(n)} for n in (20, 8))
    growing, done = (compare_reports(before, so_far, anytime=any_) for any_ in (True, False))
    assert len(growing.removed_cases) == 12
    growing.raise_for_regressions()
    assert "Pending cases: 12" in str(growing)
    assert "issing" not in str(growing)
    assert "Missing cases: 12" in str(done)
    for result, kind in ((growing, "pending"), (done, "missing")):
        assert {row["kind"] for row in result.to_rows()} == {kind}
    with pytest.raises(RegressionError, match=r"12 cases missing from the current run"):
        done.raise_for_regressions()
