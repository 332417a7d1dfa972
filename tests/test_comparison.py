"""compare_reports: pairing, thresholds, the suite verdict against other libraries, renderings."""

from __future__ import annotations

import pickle
from typing import Any, Literal

import attrs
import numpy as np
import pandas as pd  # noqa: F401 - in a table of refusals
import pytest
from hypothesis import given
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
    SqlCase,
    SqlReport,
    code_report,
    compare_reports,
    score_sql_cases,
)

CASES = st.sampled_from([f"case-{i}" for i in range(8)])
SCORES = st.floats(0, 1)
RUNS = st.dictionaries(CASES, SCORES, min_size=1)
ATTEMPTS = st.dictionaries(
    CASES, st.lists(st.sampled_from([0, 1]), min_size=1, max_size=6), min_size=1
)


def report(**passed: int) -> CodeReport:
    """Return a report of one model with ten tests a case, *passed* of them passed."""
    return code_report(
        CodeSample(case_id=case, model="m", compiled=True, passed=n, failed=10 - n)
        for case, n in passed.items()
    )


def test_cases_fall_into_their_lists() -> None:
    """Worse, better, unchanged, new and removed, the largest change first."""
    before = {"a": 0.9, "b": 0.9, "c": 0.5, "d": 0.5, "gone": 1.0}
    after = {"a": 0.5, "b": 0.8, "c": 0.9, "d": 0.52, "fresh": 0.1}
    result = compare_reports(before, after)
    assert [c.case_id for c in result.regressions] == ["a", "b"]
    assert [c.case_id for c in result.improvements] == ["c"]
    assert result.n_unchanged == 1
    assert [(c.case_id, c.baseline, c.current) for c in result.new_cases] == [("fresh", None, 0.1)]
    assert [(c.case_id, c.baseline, c.delta) for c in result.removed_cases] == [
        ("gone", 1.0, None)
    ]
    assert result.suite.n_cases == 4


@pytest.mark.parametrize(
    ("before", "after", "regressed"),
    [(1.0, 0.95, False), (0.3, 0.25, False), (0.15, 0.1, False), (1.0, 0.9499, True)],
)
def test_a_drop_of_the_threshold_is_no_regression(
    before: float,
    after: float,
    regressed: bool,  # noqa: FBT001 - a table
) -> None:
    """1.0 - 0.95 is 0.050000000000000044 in floats; that must not decide."""
    result = compare_reports({"a": before, "b": 1.0}, {"a": after, "b": 1.0})
    assert result.has_regressions is regressed


def test_two_models_are_paired_by_case_and_one_model_by_case_and_model() -> None:
    """A report of several models keeps them apart; single models meet."""
    both = code_report(
        CodeSample(case_id=case, model=model, compiled=True, passed=n, failed=4 - n)
        for case, model, n in [("x", "a", 4), ("y", "a", 4), ("x", "b", 2), ("y", "b", 4)]
    )
    met = compare_reports(both.for_model("a"), both.for_model("b"))
    fallen = [(c.case_id, c.model, c.metric) for c in met.regressions]
    assert fallen == [("x", None, "pass@1"), ("x", None, "code_score")]
    assert (met.baseline_name, met.current_name) == ("a", "b")
    itself = compare_reports(both, both)
    assert (itself.n_unchanged, itself.suite.n_cases, itself.has_regressions) == (8, 2, False)
    missing = compare_reports(both, both.for_model("a"), metrics=["code_score"])
    assert [(c.case_id, c.model) for c in missing.removed_cases] == [("x", "b"), ("y", "b")]


@given(RUNS, RUNS)
def test_swapping_the_sides_swaps_the_answer(
    before: dict[str, float], after: dict[str, float]
) -> None:
    """What got worse one way got better the other way, the suite included."""
    if not before.keys() & after.keys():
        return
    there, back = compare_reports(before, after), compare_reports(after, before)
    assert {c.case_id for c in there.regressions} == {c.case_id for c in back.improvements}
    assert {c.case_id for c in there.new_cases} == {c.case_id for c in back.removed_cases}
    assert there.suite.delta == pytest.approx(-back.suite.delta, abs=1e-15)
    assert there.suite.p_value == pytest.approx(back.suite.p_value)
    assert there.suite.interval.low == pytest.approx(-back.suite.interval.high, abs=1e-9)
    swapped = {"regressed": "improved", "improved": "regressed"}
    verdict = there.suite.verdict
    assert back.suite.verdict == swapped.get(verdict, verdict)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=30))
def test_paired_t_against_scipy(pairs: list[tuple[float, float]]) -> None:
    """Oracle: scipy's paired t test, which the cut never makes less significant."""
    old, new = (np.array(side) for side in zip(*pairs, strict=True))
    suite = compare_reports(dict(_named(old)), dict(_named(new))).suite
    changes = new - old
    if abs(changes - changes.mean()).max() <= 1.001e-9:
        return
    floor = min(1.0, 0.5 ** (old.size - 1))
    assert suite.p_value <= max(stats.ttest_rel(new, old).pvalue, floor) * (1 + 1e-6) + 1e-12
    assert suite.p_value >= floor
    low, high = stats.ttest_rel(new, old).confidence_interval(0.95)
    if suite.verdict == "regressed":
        assert suite.interval.high <= min(high, 0.0) + 1e-9
    if suite.verdict == "improved":
        assert suite.interval.low >= max(low, 0.0) - 1e-9


def _named(scores: Any) -> list[tuple[str, Any]]:
    return [(f"case-{i}", score) for i, score in enumerate(scores)]


def test_verdict_tells_nothing_seen_from_nothing_to_be_seen() -> None:
    """Few identical cases prove little; many steady ones rule out a change of the threshold."""
    few = {f"c{i}": i / 10 for i in range(10)}
    assert compare_reports(few, few).suite.verdict == "inconclusive"
    many = {f"c{i}": 1.0 for i in range(200)}
    suite = compare_reports(many, many).suite
    assert (suite.verdict, suite.delta, suite.p_value) == ("no change detected", 0.0, 1.0)
    assert suite.interval.low == pytest.approx(0.025 ** (1 / 200) - 1, rel=1e-6)
    noisy = {f"c{i}": 0.5 + 0.01 * (-1) ** i for i in range(200)}
    assert compare_reports(dict.fromkeys(noisy, 0.5), noisy).suite.verdict == "no change detected"
    strict = compare_reports(many, many, margin=0.01).suite
    assert (strict.verdict, strict.within_margin) == ("inconclusive", "undecided")


@pytest.mark.parametrize("n_survivors", [0, 1])
@pytest.mark.parametrize(("n_cases", "verdict"), [(5, "inconclusive"), (6, "regressed")])
def test_a_total_collapse_is_no_less_significant_than_one_survivor(
    n_cases: int, verdict: str, n_survivors: int
) -> None:
    """No variation is no reason to miss it: the p value is as small as so many cases allow."""
    before = {f"c{i}": 1 for i in range(n_cases)}
    after = {f"c{i}": int(i < n_survivors) for i in range(n_cases)}
    suite = compare_reports(before, after).suite
    assert suite.p_value == 2 * 0.5**n_cases
    assert suite.verdict == verdict
    assert (suite.cannot_see is None) == (n_cases == 6)


def test_a_single_case_decides_nothing() -> None:
    """There is no variation over cases to learn from, and the result says so."""
    suite = compare_reports({"a": 0.9}, {"a": 0.2}).suite
    assert (suite.verdict, suite.p_value, suite.minimum_detectable_effect) == (
        "inconclusive",
        1.0,
        None,
    )
    assert (suite.interval.low, suite.interval.high) == (-1.0, 1.0)
    assert suite.cannot_see == "1 case is too few at 95 %: compare 6"


def test_raise_for_regressions() -> None:
    """What stops a CI job: a worse case, a worse suite, or a case that went missing."""
    before, after = report(a=10, b=10, c=10, d=9), report(a=3, b=10, c=10, d=9)
    compare_reports(before, before).raise_for_regressions(on="cases")
    result = compare_reports(before, after, metrics=["code_score"])
    with pytest.raises(RegressionError) as caught:
        result.raise_for_regressions(on="cases")
    assert str(caught.value).splitlines() == [
        "1 case fell by more than 0.05",
        f"  code_score: {str(result.suite).splitlines()[0]}",
        "  case  model  metric      baseline  current  change",
        "  a     m      code_score     1.000    0.650  -0.350",
    ]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    for on in ("evidence", "suite"):
        with pytest.raises(CannotSeeError, match=r"^cannot see a loss: 4 cases are too few at"):
            result.raise_for_regressions(on=on)
        result.raise_for_regressions(on=on, cannot_see="pass")
    worse = compare_reports(
        {f"c{i}": 1.0 - i / 100 for i in range(20)}, {f"c{i}": 0.5 for i in range(20)}
    )
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions(on="suite")
    first, *fallen = str(caught.value).splitlines()
    assert first == str(worse.suite).splitlines()[0]
    assert first.startswith("regressed: 0.905 -> 0.500, a loss of 0.405, 95 % interval [-0.")
    row = "  c0    score      1.000    0.500  -0.500"
    assert (fallen[1], fallen[6]) == (row, "  and 15 more")
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions()
    assert str(caught.value).splitlines() == [first, *fallen]
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions(on="cases")
    head = "20 cases fell by more than 0.05"
    assert str(caught.value).splitlines() == [head, f"  score: {first}", *fallen]


def test_deleting_a_failing_case_is_no_way_to_pass() -> None:
    """A missing baseline case stops the job unless the caller allows it."""
    result = compare_reports(report(a=10, b=2), report(a=10))
    on: Literal["evidence", "cases", "suite"]
    for on in ("evidence", "cases", "suite"):
        with pytest.raises(
            RegressionError,
            match=r"^1 case missing from the current run\n  missing from the current run: b / m$",
        ):
            result.raise_for_regressions(on=on)
    result.raise_for_regressions(allow_missing=True, cannot_see="pass")


def test_a_notebook_shows_a_single_suite_once() -> None:
    """Where several are compared all of them are shown."""
    one = compare_reports({"a": 1, "b": 0}, {"a": 0, "b": 0})._repr_html_()
    assert one.count("inconclusive") == 2  # in a sentence, and in the row with its picture
    assert one.count(">a</td>") == 1  # above the fold alone
    assert ">Cases that fell by more than 0.05 (no verdict): 1<" in one
    two = code_report(
        CodeSample(case_id="a", model=model, compiled=True, passed=2) for model in "xy"
    )
    page = compare_reports(two, two)._repr_html_()
    for name in ("x / pass@1", "x / code_score", "y / pass@1", "y / code_score"):
        assert page.count(f">{name}</td>") == 1
    suite = compare_reports({"a": 1}, {"a": 1}).suite
    assert str(suite).splitlines()[0] == (
        "inconclusive: 1.000 -> 1.000, no change, 95 % interval [-1.000, +1.000] holds 0: a loss "
        "of up to 1.000 is possible (1 case, p = 1)"
    )


def test_a_notebook_says_what_the_text_says() -> None:
    """Means, change, level, interval, p value and verdict; the margin; a row for each suite."""
    before = {f"c{i:02}": float(i >= 3) for i in range(60)}
    after = {f"c{i:02}": float(i < 52) for i in range(60)}
    compared = compare_reports(before, after, margin=0.3)
    page = compared._repr_html_().replace("&gt;", ">")
    for line in str(compared).splitlines()[:3]:
        assert line in page
    assert "margin 0.3: equivalent, the interval lies within -0.3 and +0.3" in page
    two = [
        code_report(
            CodeSample(case_id=f"{i}", model="m", compiled=True, passed=3 - n, failed=1 + n)
            for i, n in enumerate(column)
        )
        for column in ([0] * 30, [0] * 15 + [1] * 5 + [2] * 10)
    ]
    result = compare_reports(*two)
    page = result._repr_html_().split("Cases that fell")[0]
    names = ["suite", "before", "now", "change", "97.5 % interval", "p (of 2)", "verdict"]
    assert all(f">{name}<" in page for name in names)
    first, second = (page.index(f">{name}<") for name in ("code_score", "pass@1"))
    assert first < second  # the worst first
    worst = result.suite
    drawn = f'aria-label="{worst.delta:.4g}, from {worst.interval.low:.4g} to '
    assert drawn in page


@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=12), st.integers(1, 3))
def test_a_verdict_is_what_its_interval_says(
    pairs: list[tuple[float, float]], n_suites: int
) -> None:
    """Of several suites each interval is wider, so that none is taken back."""
    old, new = ({f"{i}": one for i, one in enumerate(side)} for side in zip(*pairs, strict=True))
    by = {f"{i}": f"group {i % n_suites}" for i in range(len(old))}
    result = compare_reports(old, new, by=by, margin=0.1)
    for suite in result.suites.values():
        low, high = suite.interval.low, suite.interval.high
        assert suite.interval.confidence_level == pytest.approx(1 - 0.05 / len(result.suites))
        assert (suite.verdict == "regressed") == (high < 0)
        assert (suite.verdict == "improved") == (low > 0)
        assert (suite.p_value <= 0.05) == (high < 0 or low > 0)
        assert (suite.within_margin in ("not worse", "equivalent")) == (low > -0.1)
        assert (suite.within_margin == "worse") == (high < -0.1)
        assert (suite.verdict == "no change detected") == (high >= 0 >= low > -0.1)
        assert low <= suite.delta <= high


def test_equal_falls_stand_in_the_order_of_their_p_values() -> None:
    """Rounding of 0.7 - 0.9 must not put it before 0.3 - 0.5."""
    before: dict[str, float | list[int]] = {
        "z": 0.9,
        "y": 0.5,
        "x": 1.0,
        "b": [1] * 10,
        "rise": 0.1,
        "again": 0.6,
    }
    after: dict[str, float | list[int]] = {
        "z": 0.7,
        "y": 0.3,
        "x": 0.8,
        "b": [1] * 8 + [0] * 2,
        "rise": 0.3,
        "again": 0.8,
    }
    result = compare_reports(before, after)
    assert [change.case_id for change in result.regressions] == ["b", "z", "y", "x"]
    assert [change.case_id for change in result.improvements] == ["rise", "again"]


def test_a_notebook_repeats_no_row() -> None:
    """What stands above the fold does not stand under it too."""
    before = {f"case {i}": 1.0 - i / 100 for i in range(8)}
    result = compare_reports(before, dict.fromkeys(before, 0.0))
    page = result._repr_html_()
    for case in before:
        assert page.count(f">{case}</td>") == 1
    assert "fell by more than 0.05 (no verdict): 8<" in page


def test_which_suite_looks_worst() -> None:
    """By name; of equal ones the first."""
    before = code_report(
        CodeSample(case_id=f"{i}", model=model, compiled=True, passed=2)
        for i in range(9)
        for model in "ab"
    )
    result = compare_reports(before, before)
    assert (result.suite_name, result.suites[result.suite_name]) == ("a / pass@1", result.suite)
    assert "\na / pass@1       1.000  1.000  +0.000  [-0." in str(result)
    assert compare_reports({"a": 1}, {"a": 1}).suite_name == "score"
    with pytest.raises(KeyError, match=r"^\"'pass@1' is none of 'a / pass@1', 'b / pass@1', "):
        result.suites["pass@1"]


def test_noise_of_rounding_is_shown_as_none() -> None:
    """Changes that cancel leave 5e-18 or so, which is nothing."""
    old, new = {"a": 0.1, "b": 0.2, "c": 0.3}, {"a": 0.3, "b": 0.1, "c": 0.2}
    text = str(compare_reports(old, new).suite)
    assert text.startswith("inconclusive: 0.200 -> 0.200, no change, ")


@pytest.mark.parametrize(("end", "text"), [(-0.0004, "-0.0004"), (-1e-12, "-0.000000000001")])
def test_an_end_that_is_not_0_does_not_look_like_it(end: float, text: str) -> None:
    """A verdict must not stand beside an interval that seems to hold 0."""
    suite = compare_reports({"a": 1, "b": 1}, {"a": 0, "b": 0}).suite
    interval = attrs.evolve(suite.interval, high=end)
    assert f"[-1.000, {text}] lies below 0" in str(attrs.evolve(suite, interval=interval))


def test_undecided_cases_are_counted() -> None:
    """Nobody sees otherwise that a verdict is about half of the cases."""

    def scored(*generated: str) -> SqlReport:
        return score_sql_cases(
            SqlCase(case_id=f"q{i}", generated=sql, expected="SELECT a FROM t", dialect="sqlite")
            for i, sql in enumerate(generated)
        )

    before = scored("SELECT a FROM t", "SELECT b FROM t", "SELECT c FROM t")
    after = scored("SELECT a FROM t", "SELECT a FROM t", "SELECT d FROM t")
    result = compare_reports(before, after)
    assert result.n_undecided == {"query_correctness": (2, 1)}
    line = "Unscored, left out: query_correctness of 2 cases in the baseline, 1 now"
    assert line in result.to_text().splitlines()
    assert line in result._repr_html_()
    assert Comparison.from_json(result.to_json()) == result
    assert compare_reports(before, after, metrics=["column_accuracy"]).n_undecided == {}
    assert "left out" not in str(compare_reports({"a": 1}, {"a": 1}))


def test_text() -> None:
    """The rendering a person reads, whole."""
    before = {"sort": 1.0, "parse": 0.8, "merge": 0.5, "gone": 1.0}
    after = {"sort": 0.95, "parse": 0.4, "merge": 0.9, "line\nbreak": 0.5}
    few = "3 cases are too few at 95 %: compare 6"
    more = "make 3 attempts at each case in both runs"
    listed = "to_text(all=True) lists them"
    compared = compare_reports(before, after)
    opening = [
        f"cannot see a loss: {few}, or {more}",
        "1 case missing from the current run",
        (
            "inconclusive: 0.767 -> 0.750, a loss of 0.017, 95 % interval [-0.729, +0.720] holds "
            "0: a loss of up to 0.729 is possible (3 cases, p = 0.95)"
        ),
    ]
    counts = "cases: 1 fell by more than 0.05 (parse -0.400), 1 rose, 1 did not"
    closing = ["New cases: 1 (line\\nbreak)", "Missing cases: 1 (gone)", "the gate stops"]
    assert compared.to_text().splitlines() == [*opening, f"{counts}; {listed}", *closing]
    assert compared.to_text(all=True).splitlines() == [
        *opening,
        "Cases that fell by more than 0.05 (no verdict): 1",
        "  case   metric  baseline  current  change",
        "  parse  score      0.800    0.400  -0.400",
        "Cases that rose by more than 0.05: 1",
        "  case   metric  baseline  current  change",
        "  merge  score      0.500    0.900  +0.400",
        "New cases: 1",
        "  case         metric  current",
        "  line\\nbreak  score     0.500",
        "Missing cases: 1",
        "  case  metric  baseline",
        "  gone  score      1.000",
        counts,
        *closing,
    ]


def test_printed_it_is_its_text_and_names_no_model_twice() -> None:
    """One model on both sides is no comparison of models."""
    text = str(compare_reports(report(a=10), report(a=5)))
    assert "compared with" not in text
    assert "\ncases: 1 (2 scores) fell by more than 0.05 (a / m -1.000), " in text
    text = compare_reports(report(a=10), report(a=5)).to_text(all=True)
    assert "\n  a     m      pass@1         1.000    0.000  -1.000" in text
    assert "\n  a     m      code_score     1.000" in text


def test_markdown_escapes_untrusted_names() -> None:
    """A case name cannot break the table, format it or bring HTML."""
    name = "a|b\n<img src=x>`*_[x](y)"
    text = compare_reports({name: 1.0, "b": 1.0}, {name: 0.0, "b": 1.0}).to_markdown(all=True)
    row = next(line for line in text.splitlines() if "src" in line and "|" in line[:2])
    assert "<img" not in text
    assert row == (r"| a\|b\\n&lt;img src=x&gt;\`\*\_\[x](y) | score | 1.000 | 0.000 | -1.000 |")


def test_long_lists_are_counted_not_dropped() -> None:
    """Renderings count them, and list all where that is asked for."""
    before = {f"c{i}": 1.0 for i in range(30)}
    result = compare_reports(before, dict.fromkeys(before, 0.0))
    counts = "cases: 30 fell by more than 0.05, 0 rose, 0 did not"
    assert f"{counts}; to_text(all=True) lists them" in result.to_text()
    assert f"{counts}; to\\_markdown(all=True) lists them" in result.to_markdown()
    assert f">{counts}<" in result._repr_html_()
    assert "c0" not in result.to_latex()
    assert "Cases that fell by more than 0.05 (no verdict): 30" in result.to_text(all=True)
    for text in (result.to_text(all=True), result.to_markdown(all=True)):
        assert all(f" c{i} " in text for i in range(30))


@refusals("""
({}, {"a": 1}) -> InputError: baseline must be a run with at least one case, got {}
({"a": 1}, {"b": 1})
    -> InputError: current must be a run with a case of baseline, such as 'a', got ['b']
({"a": 1.5}, {"a": 1}) -> InputError: baseline['a'] must be a number in [0, 1], got 1.5
({"a": 1}, {"a": math.inf}) -> InputError: current['a'] must be a number in [0, 1], got inf
({"a": 1}, {"a": [1, 2]}) -> InputError: current['a'][1] must be a number in [0, 1], got 2
({"a": 1}, {"a": []})
    -> InputError: current['a'] must be a non-empty sequence of scores, got ()
({"a": 1}, {"a": "1"})
    -> TypeError: current['a'] must be a score in [0, 1], True, False, or a sequence of them,
    got '1'
({True: 1}, {"a": 1})
    -> TypeError: a case of baseline must be a non-empty string or an integer, got True
({"a": 1}, {None: 1})
    -> InputError: a case of current must be a non-empty string or an integer, got None
({"a": 1}, {"1": 1, 1: 0})
    -> InputError: a case of current must be unlike all others, the integer 1 like '1', got 1
([1], [1])
    -> TypeError: baseline[0] must be a CodeReport, a SqlReport or a mapping from case to
    score, got 1
(pd.Series([1.0]), {"a": 1})
    -> TypeError: baseline must be a Series whose index is the case (set_index), or a frame...
""")
def test_errors(wrong: Refusal) -> None:
    """The side and the case are named."""
    wrong.when(lambda: compare_reports(*wrong.value))


@refusals("""
threshold=-0.1 -> InputError: threshold must be a number in [0, 1], got -0.1
""")
def test_option_errors(wrong: Refusal) -> None:
    """Options have domains too."""
    wrong.by(compare_reports, {"a": 1}, {"a": 1})


def test_what_stops_a_job_is_one_of_six_words() -> None:
    """A misspelt word must not let everything pass."""
    words = "'evidence', 'cases', 'suite', 'margin', 'worse', 'floor'"
    with pytest.raises(InputError, match=rf"^on must be one of {words}, got 'all'$"):
        compare_reports({"a": 1}, {"a": 1}).raise_for_regressions(on="all")  # type: ignore[arg-type]


def test_numpy_booleans_are_scores_like_any_boolean() -> None:
    """Columns of outcomes come as arrays."""
    true: Any = np.True_
    kinds: Any = ([True, False], np.array([True, False]), [np.True_, np.False_], [1, 0.0])
    results = [compare_reports({"a": kind}, {"a": true}) for kind in kinds]
    assert [result.suite.delta for result in results] == [0.5] * 4


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (np.array(1.0), "baseline['a'] must be a number in [0, 1], got array(1.)"),
        (10**5000, "baseline['a'] must be a number in [0, 1], got <int of 16610 bits>"),
    ],
    ids=["array", "huge"],
)
def test_odd_scores_are_named(score: Any, message: str) -> None:
    """An array without dimension is no sequence; a huge integer cannot be written out."""
    with pytest.raises((TypeError, InputError)) as caught:
        compare_reports({"a": score}, {"a": 1})
    assert str(caught.value) == message


EITHER = "a CodeReport, a SqlReport or a mapping from case to score"


@refusals("""
compare_reports([1], report(a=1)) -> TypeError: baseline[0] must be {EITHER}, got 1...
compare_reports(report(a=1), 5) -> TypeError: current must be {EITHER}, got 5...
compare_reports([{"id": "a", "ok": 1}], [])
    -> TypeError: baseline[0] must be a mapping from case to score (of the rows of a...
compare_reports({"a": 1}, report(a=1))
    -> TypeError: current must be a mapping like baseline, got CodeReport(...
compare_reports(report(a=1), {"a": 1})
    -> TypeError: current must be a CodeReport like baseline, got {'a': 1}...
compare_reports([report(a=1), {"a": 1}], {"a": 1})
    -> TypeError: baseline[1] must be a CodeReport like baseline[0], got {'a': 1}...
compare_reports(compare_reports({"a": 1}, {"a": 1}), {"a": 1})
    -> TypeError: baseline must be {EITHER}, got Comparison(...
""")
def test_sides_of_two_kinds_are_refused(wrong: Refusal) -> None:
    """The message names the side that is wrong, not the other one."""
    wrong.by_itself()


def test_cases_left_out_bound_the_change() -> None:
    """The verdict begins with what all cases can have changed, whatever those left out did."""

    def scored(*generated: str) -> SqlReport:
        return score_sql_cases(
            SqlCase(case_id=f"q{i}", generated=sql, expected="SELECT a FROM t", dialect="sqlite")
            for i, sql in enumerate(generated)
        )

    right, unknown, cut = "SELECT a FROM t", "SELECT b FROM t", "SELECT ("
    before = scored(right, unknown, right, unknown, cut)
    after = scored(cut, right, unknown, unknown, cut)
    result = compare_reports(before, after, metrics=["query_correctness"])
    # q0 falls by 1; q1 rises by 0 to 1, q2 falls by 0 to 1; q3 and q4 are the same in both runs
    assert (result.suite.n_cases, result.suite.n_unscored) == (3, 2)
    assert result.suite.delta_bounds == (-2 / 5, 0.0)
    words = "2 of 5 cases not scored: between -0.40 and +0 whatever they were"
    for text in (str(result), str(result.suite)):
        assert ": 0.333 -> 0.000, a loss of 0.333, " in text
        assert words in text
    assert words in result._repr_html_()
    assert compare_reports(before, before, metrics=["column_accuracy"]).suite.delta_bounds is None


def test_models_of_one_side_are_named() -> None:
    """Only models that both sides have are compared."""

    def both(*models: str) -> CodeReport:
        return code_report(
            CodeSample(case_id=case, model=model, compiled=True, passed=1)
            for case in "ab"
            for model in models
        )

    result = compare_reports(both("v1"), both("v1", "v2"))
    assert (result.models_only_in_baseline, result.models_only_in_current) == ((), ("v2",))
    for text in (result.to_text(), result.to_markdown(), result._repr_html_()):
        assert "Models only in the current run, not compared: v2" in text
    result.raise_for_regressions(cannot_see="pass")
    result = compare_reports(both("v1", "v2"), both("v1"))
    assert (result.models_only_in_baseline, result.models_only_in_current) == (("v2",), ())
    with pytest.raises(RegressionError, match=r"^2 cases missing from the current run"):
        result.raise_for_regressions()
    assert compare_reports(both("v1"), both("v2")).models_only_in_current == ()
    message = (
        r"^current must be a report with a model of baseline, or one of its models, as "
        r"current\.for_model\('v2'\), got \['v2', 'v3'\]$"
    )
    with pytest.raises(InputError, match=message):
        compare_reports(both("v1"), both("v2", "v3"))


def test_rows_of_a_comparison() -> None:
    """One for each change; cases that stayed are only counted."""
    before = {"a": 0.9, "b": 0.5, "c": 0.5, "gone": 1.0}
    after = {"a": 0.5, "b": 0.9, "c": 0.5, "fresh": 0.1}
    rows = compare_reports(before, after).to_rows()
    assert [(row["kind"], row["case_id"], row["current"]) for row in rows] == [
        ("fell", "a", 0.5),
        ("rose", "b", 0.9),
        ("new", "fresh", 0.1),
        ("missing", "gone", None),
    ]
    assert rows[0]["delta"] == pytest.approx(-0.4)


def test_changed_cases_are_counted_where_each_has_one_attempt() -> None:
    """Their share is what plans a comparison."""
    before = dict.fromkeys(range(9), 1)
    assert compare_reports(before, before | {0: 0, 1: 0}).suite.n_changed == 2
    assert compare_reports({"a": [0, 1]}, {"a": [1, 1]}).suite.n_changed is None
