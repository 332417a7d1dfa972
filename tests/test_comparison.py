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
    Interval,
    RegressionError,
    SqlCase,
    SqlReport,
    code_report,
    compare_reports,
    score_sql_cases,
)
from scorekit.verdicts import UNDETECTABLE

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
    assert there.suite.p_value == pytest.approx(back.suite.rise_p_value)
    swapped = {"regressed": "improved", "improved": "regressed"}
    verdict = there.suite.verdict
    assert back.suite.verdict == swapped.get(verdict, verdict)


@given(st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=30))
def test_paired_t_against_scipy(pairs: list[tuple[float, float]]) -> None:
    """Oracle: scipy's paired t test, its interval cut to what a mean change can be."""
    old, new = (np.array(side) for side in zip(*pairs, strict=True))
    suite = compare_reports(dict(_named(old)), dict(_named(new))).suite
    changes = new - old
    if abs(changes - changes.mean()).max() <= 1.001e-9:
        assert suite.interval.method == "gaffke"
        return
    oracle = stats.ttest_rel(new, old, alternative="less")
    low, high = stats.ttest_rel(new, old).confidence_interval(0.95)
    expected = max(oracle.pvalue, 0.5**old.size)
    assert suite.p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert suite.interval.low == pytest.approx(max(low, -1), rel=1e-6, abs=1e-9)
    assert suite.interval.high == pytest.approx(min(high, 1), rel=1e-6, abs=1e-9)
    reads = {"regressed": suite.adjusted_p_value, "improved": suite.adjusted_rise_p_value}
    for verdict, p_value in reads.items():
        assert (suite.verdict == verdict) == (p_value <= suite.significance_level)


def _named(scores: Any) -> list[tuple[str, Any]]:
    return [(f"case-{i}", score) for i, score in enumerate(scores)]


def test_verdict_tells_nothing_seen_from_nothing_to_be_seen() -> None:
    """Few identical cases prove little; many steady ones rule out a change of the threshold."""
    few = {f"c{i}": i / 10 for i in range(10)}
    assert compare_reports(few, few).suite.verdict == "inconclusive"
    many = {f"c{i}": 1.0 for i in range(200)}
    suite = compare_reports(many, many).suite
    assert (suite.verdict, suite.delta, suite.p_value) == ("no change detected", 0.0, 0.5)
    assert suite.interval.low == pytest.approx(0.025 ** (1 / 200) - 1, rel=1e-6)
    noisy = {f"c{i}": 0.5 + 0.01 * (-1) ** i for i in range(200)}
    assert compare_reports(dict.fromkeys(noisy, 0.5), noisy).suite.verdict == "no change detected"


@pytest.mark.parametrize("n_survivors", [0, 1])
@pytest.mark.parametrize(("n_cases", "verdict"), [(4, "inconclusive"), (5, "regressed")])
def test_a_total_collapse_is_no_less_significant_than_one_survivor(
    n_cases: int, verdict: str, n_survivors: int
) -> None:
    """No variation is no reason to miss it: the p value is as small as so many cases allow."""
    before = {f"c{i}": 1 for i in range(n_cases)}
    after = {f"c{i}": int(i < n_survivors) for i in range(n_cases)}
    suite = compare_reports(before, after).suite
    assert suite.p_value == 0.5**n_cases
    assert suite.verdict == verdict
    assert suite.rise_p_value >= 0.5
    assert (suite.cannot_see is None) == (n_cases == 5)


def test_a_single_case_decides_nothing() -> None:
    """There is no variation over cases to learn from, and the result says so."""
    suite = compare_reports({"a": 0.9}, {"a": 0.2}).suite
    assert (suite.verdict, suite.p_value, suite.minimum_detectable_effect) == (
        "inconclusive",
        0.5,
        None,
    )
    assert (suite.interval.low, suite.interval.high) == (-1.0, 1.0)
    assert (
        "effect (80 % power): none, with so few cases even the largest change may be missed"
        in compare_reports({"a": 0.9}, {"a": 0.2}).to_text()
    )


def test_raise_for_regressions() -> None:
    """What stops a CI job: a worse case, a worse suite, or a case that went missing."""
    before, after = report(a=10, b=10, c=10, d=9), report(a=3, b=10, c=10, d=9)
    compare_reports(before, before).raise_for_regressions(on="cases")
    result = compare_reports(before, after, metrics=["code_score"])
    with pytest.raises(RegressionError) as caught:
        result.raise_for_regressions(on="cases")
    assert str(caught.value).splitlines() == [
        "1 case fell by more than 0.05",
        (
            "  code_score: inconclusive, -0.09 [-0.37, +0.19] "
            "(95 %, paired t, p of a fall = 0.2 at 0.05 one-sided, 4 cases)"
        ),
        "  case  model  metric      baseline  current  change  p (adjusted)",
        "  a     m      code_score     1.000    0.650  -0.350           0.5",
    ]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    for on in ("evidence", "suite"):
        with pytest.raises(CannotSeeError, match=r"^cannot see a loss: too few cases"):
            result.raise_for_regressions(on=on)
        result.raise_for_regressions(on=on, cannot_see="pass")
    worse = compare_reports(
        {f"c{i}": 1.0 - i / 100 for i in range(20)}, {f"c{i}": 0.5 for i in range(20)}
    )
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions(on="suite")
    first, suite, *fallen = str(caught.value).splitlines()
    assert first == "the current run regressed: score -0.405"
    assert suite.startswith("  score: regressed, -0.405 [-0.433, -0.377] (95 %, paired t")
    row = "  c0    score      1.000    0.500  -0.500             1"
    assert (fallen[1], fallen[6]) == (row, "  and 15 more")
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions()
    assert str(caught.value).splitlines() == [first, suite, *fallen]
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions(on="cases")
    assert str(caught.value).splitlines() == ["20 cases fell by more than 0.05", suite, *fallen]


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
    assert one.count("inconclusive") == 1
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
        "inconclusive, +0 [-1, +1] (95 %, no variation over cases: Gaffke's interval, p of a "
        "fall = 0.5 at 0.05 one-sided, 1 case)"
    )


def test_a_notebook_says_what_the_text_says() -> None:
    """Metric, signs, test, level, question; the margin; adjusted p values where there are some."""
    before = {f"c{i:02}": float(i >= 3) for i in range(60)}
    after = {f"c{i:02}": float(i < 52) for i in range(60)}
    page = compare_reports(before, after, margin=0.3)._repr_html_()
    row = (
        "score",
        "inconclusive",
        "-0.08\u00a0[-0.19,\u00a0+0.03]".replace("\u00a0", "&nbsp;"),
        "paired t",
    )
    places = [page.index(f">{cell}<") for cell in row]
    assert places == sorted(places)
    assert ">change (95 %)<" in page
    assert ">minimum detectable effect" in page
    assert ">holds for similar cases<" in page
    assert ">margin 0.3: equivalent [-0." in page
    assert ">p (fall)<" in page
    assert ">p (adjusted)<" not in page.split("Cases that fell")[0]
    assert 'aria-label="-0.08333, from -0.1' in page
    two = [
        code_report(
            CodeSample(case_id=f"{i}", model="m", compiled=True, passed=3 - n, failed=1 + n)
            for i, n in enumerate(column)
        )
        for column in ([0] * 30, [0] * 15 + [1] * 5 + [2] * 10)
    ]
    page = compare_reports(*two)._repr_html_().split("Cases that fell")[0]
    assert ">p (adjusted)<" in page


def test_a_verdict_taken_back_is_explained() -> None:
    """An interval below zero beside "inconclusive" looks like a fault else."""
    steady = [60, 75, 91, 70, 80, 80, 70, 90, 88, 70]
    slower = [47, 78, 80, 71, 71, 79, 63, 87, 75, 73]

    def models(first: list[int]) -> CodeReport:
        return code_report(
            CodeSample(case_id=f"{i}", model=model, compiled=True, passed=n, failed=100 - n)
            for model, column in (("a", first), *((name, steady) for name in "bcdef"))
            for i, n in enumerate(column)
        )

    said = "the interval is not adjusted, the verdict goes by the adjusted p value"
    result = compare_reports(
        models(steady),
        models(slower),
        metrics=["code_score"],
        threshold=0.01,
        confidence_level=0.93,
    )
    suite = result.suites["a"]
    assert (suite.verdict, suite.is_taken_back) == ("inconclusive", True)
    for text in (result.to_text(), result.to_markdown(), result._repr_html_()):
        assert text.count(said) == 1
    alone = compare_reports(
        models(steady), models(slower), metrics=["code_score"], adjustment="none"
    )
    assert alone.suites["a"].verdict == "regressed"
    assert said not in alone.to_text()


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
    assert "Suite, a / pass@1: inconclusive, +0 [" in str(result)
    assert compare_reports({"a": 1}, {"a": 1}).suite_name == "score"
    with pytest.raises(KeyError, match=r"^\"'pass@1' is none of 'a / pass@1', 'b / pass@1', "):
        result.suites["pass@1"]


def test_noise_of_rounding_is_shown_as_none() -> None:
    """Changes that cancel leave 5e-18 or so, which is nothing."""
    suite = compare_reports({"a": 0.25, "b": 0.5}, {"a": 0.5, "b": 0.25}).suite
    noisy = attrs.evolve(suite, delta=-5.55e-18)
    assert str(noisy).startswith("inconclusive, +0 [")
    ends = Interval(low=-5.55e-18, high=0.1, confidence_level=0.95, method="x")
    assert str(ends) == "[0, 0.10]"
    assert "inconclusive, +0 [+0, +0.10] (" in str(attrs.evolve(noisy, interval=ends))


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
    few = "too few cases for the level: compare 5 at least"
    sides = "the current run compared with the baseline"
    more = "make 4 attempts at each case in both runs"
    missing = "1 case missing from the current run"
    effect = f"minimum detectable effect (80 % power): {UNDETECTABLE}"
    listed = "to_text(all=True) lists them"
    said = "95 %, paired t, p of a fall = 0.47 at 0.05 one-sided, 3 cases"
    opening = [
        f"the default gate stops: cannot see a loss: {few}, or {more}; {missing} ({sides})",
        f"Suite: inconclusive, -0.02 [-1, +1.0] ({said})",
        f"       cannot see: {few}; holds for similar cases; {effect}",
    ]
    compared = compare_reports(before, after)
    counts = [
        *opening,
        f"Fell by more than 0.05: 1 (parse -0.400); rose: 1; unchanged: 1; {listed}",
        "New cases: 1 (line\\nbreak)",
        "Missing cases: 1 (gone)",
    ][len(opening) :]
    assert compared.to_text().splitlines() == [*opening, *counts]
    assert compared.to_text(all=True).splitlines()[: -len(counts)] == [
        *opening,
        "Cases that fell by more than 0.05 (no verdict): 1",
        "  case   metric  baseline  current  change  p (adjusted)",
        "  parse  score      0.800    0.400  -0.400             1",
        "Cases that rose by more than 0.05: 1",
        "  case   metric  baseline  current  change  p (adjusted)",
        "  merge  score      0.500    0.900  +0.400             1",
        "New cases: 1",
        "  case         metric  current",
        "  line\\nbreak  score     0.500",
        "Missing cases: 1",
        "  case  metric  baseline",
        "  gone  score      1.000",
    ]


def test_printed_it_is_its_text_and_names_no_model_twice() -> None:
    """One model on both sides is no comparison of models."""
    text = str(compare_reports(report(a=10), report(a=5)))
    assert "(the current run compared with the baseline)\n" in text
    assert "\nFell by more than 0.05: 1 (2 scores) (a / m -1.000); " in text
    text = compare_reports(report(a=10), report(a=5)).to_text(all=True)
    assert "\n  a     m      pass@1         1.000    0.000  -1.000" in text
    assert "\n  a     m      code_score     1.000" in text


def test_markdown_escapes_untrusted_names() -> None:
    """A case name cannot break the table, format it or bring HTML."""
    name = "a|b\n<img src=x>`*_[x](y)"
    text = compare_reports({name: 1.0, "b": 1.0}, {name: 0.0, "b": 1.0}).to_markdown(all=True)
    row = next(line for line in text.splitlines() if "src" in line and "|" in line[:2])
    assert "<img" not in text
    assert row == (
        r"| a\|b\\n&lt;img src=x&gt;\`\*\_\[x](y) | score | 1.000 | 0.000 | -1.000 | 0.5 |"
    )


def test_long_lists_are_counted_not_dropped() -> None:
    """Renderings count them, and list all where that is asked for."""
    before = {f"c{i}": 1.0 for i in range(30)}
    result = compare_reports(before, dict.fromkeys(before, 0.0))
    counts = "Fell by more than 0.05: 30; rose: 0; unchanged: 0"
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
    # q0 falls by 1 and q4 stays; q1 rises by 0 to 1, q2 falls by 0 to 1, q3 may do either
    assert (result.suite.n_cases, result.suite.n_unscored) == (2, 3)
    assert result.suite.delta_bounds == (-3 / 5, 1 / 5)
    words = "3 of 5 cases not scored: between -0.60 and +0.20 whatever they were"
    for text in (str(result), str(result.suite)):
        assert ", known outcomes -0.5 [" in text
        assert words in text
    lines = str(compare_reports(after, before)).splitlines()  # also of a suite that is not worst
    assert lines[1].endswith(
        "; 3 of 5 cases not scored: between -0.20 and +0.60 whatever they were"
    )
    assert ">between -0.60 and +0.20<" in result._repr_html_()
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
