"""One answer: what decides, what is printed, what is drawn and what stops a job agree."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scorekit
from scorekit import CannotSeeError, Comparison, RegressionError, compare_reports, strategies
from scorekit.verdicts import ends_of

SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
OUTCOMES = st.sampled_from([0, 1, None])
KINDS: list[st.SearchStrategy[Any]] = [
    st.integers(0, 1),
    SCORES,
    st.lists(st.integers(0, 1), min_size=1, max_size=5),
    st.lists(st.integers(0, 1), min_size=4, max_size=4),
    st.lists(SCORES, min_size=3, max_size=4),
    st.lists(OUTCOMES, min_size=3, max_size=5),
]
LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.999])


@st.composite
def runs(draw: st.DrawFn) -> tuple[dict[int, Any], dict[int, Any], dict[str, Any]]:
    """Draw two runs of any kind, of which the second tends to be worse, and options."""
    kind = draw(st.sampled_from(KINDS))
    n = draw(st.integers(1, 14))
    before, after = (dict(enumerate(draw(st.lists(kind, min_size=n, max_size=n)))) for _ in "ab")
    for i in draw(st.sets(st.integers(0, n - 1))):
        before[i], after[i] = _as(before[i], 1), _as(after[i], 0)
    options: dict[str, Any] = {"confidence_level": draw(LEVELS), "attempts": "fixed"}
    if draw(st.booleans()):
        options["attempts"] = "auto"
    if draw(st.booleans()):
        options["margin"] = draw(st.sampled_from([0.02, 0.1, 0.4]))
    if draw(st.integers(0, 3)) == 0:
        options["by"] = {i: draw(st.sampled_from("xy")) for i in range(n)}
    elif draw(st.integers(0, 3)) == 0:
        options["clusters"] = {i: i // 2 for i in range(n)}
    return before, after, options


def _as(value: Any, score: int) -> Any:
    return [score] * len(value) if isinstance(value, list) else score


def compared(before: dict[int, Any], after: dict[int, Any], options: dict[str, Any]) -> Comparison:
    """Compare, also what looks like attempts until the first pass."""
    try:
        return compare_reports(before, after, **options)
    except scorekit.InputError:
        return compare_reports(before, after, **{**options, "attempts": "fixed"})


def stops(result: Comparison, **options: Any) -> str:
    """Return the first line of what stops a job, empty where nothing does."""
    try:
        result.raise_for_regressions(**options)
    except (RegressionError, CannotSeeError) as error:
        return str(error).splitlines()[0]
    return ""


@given(runs())
def test_nothing_contradicts_the_interval(drawn: Any) -> None:
    """Verdict, p value, margin, number of suites, gate and what text, Markdown and page print."""
    before, after, options = drawn
    result = compared(before, after, options)
    error = 1.0 - options["confidence_level"]
    texts = (result.to_text(), result.to_markdown().replace("\\", ""), result._repr_html_())
    for name, suite in result.suites.items():
        low, high = suite.interval.low, suite.interval.high
        assert low <= suite.delta <= high
        assert suite.interval.confidence_level == pytest.approx(1 - error / len(result.suites))
        expected = "inconclusive"
        if suite.n_cases and (high < 0 or low > 0):
            expected = "regressed" if high < 0 else "improved"
        elif suite.n_cases and low > -suite.limit:
            expected = "no change detected"
        assert suite.verdict == expected
        assert (suite.p_value <= error * (1 + 1e-9)) == (high < 0 or low > 0)
        if suite.margin is not None:
            held = suite.within_margin in ("not worse", "equivalent")
            assert (held, suite.within_margin == "worse") == (
                low > -suite.margin,
                high < -suite.margin,
            )
        if suite.verdict == "regressed":
            assert stops(result, on="suite")
            assert not suite.cannot_see
        shown = ends_of(suite.interval)
        first, last = map(float, re.findall(r"[-+.\d]+", shown))
        assert ((last < 0) == (high < 0), (first > 0) == (low > 0)) == (True, True)
        assert all(shown in text for text in texts) or not suite.n_cases
        assert all(name in text for text in texts) or len(result.suites) == 1
    stopped = stops(result)
    assert (result.to_text().splitlines()[-1].startswith("the gate stops")) == bool(stopped)
    assert Comparison.from_json(result.to_json()) == result


@settings(deadline=None)
@given(runs(), st.data())
def test_a_worse_outcome_turns_no_stop_into_a_pass(drawn: Any, data: st.DataObject) -> None:
    """Of flags, grades and unequal attempts, with unknown ones beside them, groups or clusters."""
    before, after, options = drawn
    choices: dict[str, Any] = {"cannot_see": data.draw(st.sampled_from(["stop", "pass"]))}
    choices["cannot_tell"] = data.draw(st.sampled_from(["stop", "pass"]))
    choices["on"] = data.draw(st.sampled_from(["evidence", "suite"]))
    if not stops(compared(before, after, options), **choices):
        return
    worse = dict(after)
    for i in data.draw(st.sets(st.sampled_from(list(after)), min_size=1)):
        value = worse[i]
        if not isinstance(value, list):
            worse[i] = data.draw(st.sampled_from([0, value / 2 if value < 1 else 0]))
            continue
        lower = [data.draw(st.booleans()) for _ in value]
        worse[i] = [
            0 if is_low and x is not None else x for x, is_low in zip(value, lower, strict=True)
        ]
    assert stops(compared(before, worse, options), **choices)


@given(strategies.comparisons())
def test_any_comparison_agrees_with_its_renderings(comparison: Comparison) -> None:
    """Reports whose judges fail, repeats and growing runs among them."""
    for suite in comparison.suites.values():
        outside = suite.interval.high < 0 or suite.interval.low > 0
        decided = suite.verdict in ("regressed", "improved")
        assert decided == (outside and not suite.n_unseen and suite.n_cases > 0)
        if suite.n_cases and not suite.n_unseen:
            assert (suite.p_value <= 0.05 * (1 + 1e-9)) == outside
    if any(suite.verdict == "regressed" for suite in comparison.suites.values()):
        assert "regressed" in comparison.to_text().split("cases: ")[0]
        assert stops(comparison, on="suite", allow_missing=True)


def test_the_interval_that_decides_is_the_one_drawn() -> None:
    """Of each suite, at the level that the axis names."""
    pytest.importorskip("matplotlib")
    before = dict.fromkeys(range(20), 1)
    after = {i: int(i >= 8) for i in range(20)}
    by = {i: "low" if i < 10 else "high" for i in range(20)}
    result = compare_reports(before, after, by=by)
    axes = scorekit.plot_comparison(result)
    drawn: list[Any] = [line.get_xdata() for line in axes.lines]
    for suite in result.suites.values():
        ends = suite.interval.low, suite.interval.high
        assert any(len(x) == 2 and tuple(map(float, x)) == pytest.approx(ends) for x in drawn)
    assert "98.33 % interval" in axes.get_xlabel()


@pytest.mark.parametrize("n", [1, 3, 7, 300])
def test_plans_and_comparisons_are_of_one_test(n: int) -> None:
    """A plan of so many cases, all of which fall by the effect, is one that the gate finds."""
    effect = scorekit.minimum_detectable_effect(n_tasks=max(n, 2), discordant=1.0)
    result = compare_reports(dict.fromkeys(range(n), 1), dict.fromkeys(range(n), 0))
    assert (effect <= 1.0) == (result.suite.verdict == "regressed")


def test_a_p_value_that_no_float_holds_is_bounded() -> None:
    """Of 5,000 attempts all of which fell it is far below the least float."""
    result = compare_reports({"a": [1] * 5000, "b": [1, 0]}, {"a": [0] * 5000, "b": [1, 0]})
    assert "a from 5000 of 5000 to 0 of 5000 (p < 1e-300)" in stops(result)
    assert "p < 1e-300" in str(result.regressions[0])
