"""compare_reports as a gate: what stops a job, how often by chance, by which metric and why."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement, product
from typing import Any, cast

import attrs
import numpy as np
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
    Judge,
    RegressionError,
    SqlCase,
    SqlReport,
    code_report,
    code_report_from_columns,
    compare_reports,
    judge_from_function,
    pass_at_k,
    score_sql_cases,
)
from scorekit._comparison.words import ONE_REPORT
from scorekit._stats.exact_tests import permutation_p_value

TEN = [1] * 10
STEADY: dict[Any, Any] = {f"c{i}": [1] * 9 + [0] for i in range(99)}


def stops(result: Comparison, **options: Any) -> str:
    """Return the first line of what stops a job, empty where nothing does."""
    try:
        result.raise_for_regressions(**options)
    except RegressionError as error:
        return str(error).splitlines()[0]
    return ""


FLAG = {"compiled": True, "passed": True, "failed": 0, "warnings": 0}


def code(model: str = "m", /, **attempts: list[int]) -> CodeReport:
    """Report on attempts at each case by how many of four tests they passed."""
    failed = [[4 - n for n in passed] for passed in attempts.values()]
    return code_report_from_columns(model=model, compiled=True, passed=attempts, failed=failed)


def test_a_case_that_fell_for_certain_stops_a_job_and_chance_does_not() -> None:
    """One case of 100 from 10 of 10 to none: p = 1 / C(20, 10), which no other case could show."""
    result = compare_reports({"x": TEN, **STEADY}, {"x": [0] * 10, **STEADY})
    assert result.suite.verdict != "regressed"
    (change,) = result.regressions
    assert change.p_value == change.adjusted_p_value == pytest.approx(1 / math.comb(20, 10))
    assert change.is_significant
    head = "1 case dropped significantly: x from 10 of 10 to 0 of 10 (p = 5.4e-06)"
    assert stops(result) == head
    assert str(result).splitlines()[:2] == [head, ONE_REPORT]
    with pytest.raises(RegressionError) as caught:
        result.raise_for_regressions()
    assert str(caught.value).splitlines()[1:] == [
        f"  {ONE_REPORT}",
        "  case  metric  baseline  current  change  p (adjusted)",
        "  x     score      1.000    0.000  -1.000       5.4e-06",
    ]
    assert stops(result, on="suite") == ""
    assert stops(result, on="cases") == "1 case fell by more than 0.05"
    noisy = compare_reports(STEADY, {**STEADY, "c0": [1] * 6 + [0] * 4})
    assert noisy.has_regressions
    assert stops(noisy) == ""


@pytest.mark.parametrize(("after", "factor"), [(5, 7), (0, 1)])
def test_a_p_value_counts_for_each_case_that_could_have_shown_as_much(
    after: int, factor: int
) -> None:
    """Three could and did not, either way, or they fell too; fifty fell a little."""
    able = {f"able-{i}": (10 - after, after) for i in range(3)}
    weak = {f"weak-{i}": (10, 9) for i in range(50)}
    passes = {"x": (10, 4), **able, **weak}
    before, current = (
        {case: [1] * pair[i] + [0] * (10 - pair[i]) for case, pair in passes.items()}
        for i in (0, 1)
    )
    found = {change.case_id: change for change in compare_reports(before, current).regressions}
    p_value = stats.fisher_exact(np.array([[4, 6], [10, 0]]), "less").pvalue
    assert found["x"].p_value == pytest.approx(p_value)
    assert found["x"].adjusted_p_value == pytest.approx(factor * p_value)
    assert found["weak-0"].adjusted_p_value == pytest.approx(min(1.0, 0.5 * factor))


@given(
    st.lists(
        st.tuples(*[st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=4)] * 2),
        min_size=1,
        max_size=5,
    )
)
def test_adjusted_p_values_count_each_case_twice_at_most(
    cases: list[tuple[list[float], list[float]]],
) -> None:
    """Between the p value itself and twice as many times as cases; larger p, larger result."""
    before, after = (dict(enumerate(side)) for side in zip(*cases, strict=True))
    changes = compare_reports(before, after, threshold=0, attempts="independent").regressions
    for change in changes:
        assert change.p_value is not None
        if min(change.n_attempts or ()) < 3:
            assert change.adjusted_p_value is None
            continue
        assert change.adjusted_p_value is not None
        bound = min(1.0, (2 * len(cases) - 1) * change.p_value)
        assert change.p_value <= change.adjusted_p_value * (1 + 1e-9)
        assert change.adjusted_p_value <= bound * (1 + 1e-9)
    tested = [change for change in changes if change.adjusted_p_value is not None]
    for one, other in combinations(tested, 2):
        assert (one.p_value or 0) > (other.p_value or 0) or (
            (one.adjusted_p_value or 0) <= (other.adjusted_p_value or 0) * (1 + 1e-9)
        )


def test_a_case_that_fell_by_both_metrics_is_named_once() -> None:
    """By the one whose p value is smaller, here with a part of the tests still passed."""
    steady = {f"c{i}": [4] * 8 for i in range(9)}
    before = code(x=[4] * 8, y=[4] * 8, **steady)
    after = code(x=[1] * 8, y=[4, 4, 4, 4, 4, 0, 0, 0], **steady)
    result = compare_reports(before, after, threshold=0.3, attempts="independent")
    named = "x / m in pass@1 from 8 of 8 to 0 of 8 (p = 7.8e-05)"
    assert stops(result) == f"1 case dropped significantly: {named}"


def flags(model: str, n_right: Sequence[int]) -> CodeReport:
    """Report on ten attempts at each case, which are right or wrong."""
    passed = {f"c{i}": [1] * n + [0] * (10 - n) for i, n in enumerate(n_right)}
    return code_report_from_columns(model=model, passed=passed)


def test_flags_are_one_metric() -> None:
    """Their code score says the same again, and a second test would cost half the level."""
    before, after = flags("m", [10] * 30), flags("m", [10] * 28 + [4, 0])
    assert before.only_flags
    assert before.for_model("m").only_flags
    assert CodeReport.from_json(before.to_json()) == before
    result = compare_reports(before, after)
    assert list(result.suites) == ["pass@1"]
    assert [change.metric for change in result.regressions] == ["pass@1"] * 2
    alone = compare_reports(before, after, metrics=["pass@1"])
    assert result.suite == alone.suite
    assert result.regressions == alone.regressions
    assert list(compare_reports(before, after, metrics=["code_score"]).suites) == ["code_score"]
    graded = code(c0=[4, 3], c1=[4, 4])
    assert not graded.only_flags
    assert list(compare_reports(before, graded).suites) == ["pass@1", "code_score"]


@pytest.mark.parametrize(
    "sample",
    [
        {"compiled": False, "passed": True},
        {"compiled": True, "passed": True, "warnings": 1},
        {"compiled": True, "passed": 2},
        {"compiled": True, "passed": 1, "failed": 1},
    ],
)
def test_what_is_known_beside_right_and_wrong_is_a_metric(sample: dict[str, Any]) -> None:
    """One sample that did not compile, or has a warning or several tests, and scores differ."""
    samples = [CodeSample(case_id="a", model="m", **one) for one in (sample, {**sample, **FLAG})]
    assert not code_report(samples).only_flags
    assert code_report(samples[1:]).only_flags


def test_pass_at_k_of_each_case_is_compared() -> None:
    """Where every case has k attempts; the case is then one observation."""
    before, after = code(a=[4, 4, 0, 0, 4], b=[4, 0, 0, 0]), code(a=[0, 0, 0, 4], b=[4, 4, 4, 0])
    result = compare_reports(before, after, metrics=["pass@3", "pass@1"])
    assert list(result.suites) == ["pass@3", "pass@1"]
    counts = {"a": ((5, 3), (4, 1)), "b": ((4, 1), (4, 3))}
    expected = {
        case: [pass_at_k(n_samples=n, n_correct=c, k=3).score for n, c in sides]
        for case, sides in counts.items()
    }
    changes = {c.case_id: c for c in (*result.regressions, *result.improvements)}
    changes = {c.case_id: c for c in changes.values() if c.metric == "pass@3"}
    assert {i: [c.baseline, c.current] for i, c in changes.items()} == expected
    plain = compare_reports(*({case: pair[i] for case, pair in expected.items()} for i in (0, 1)))
    assert result.suites["pass@3"].delta == plain.suite.delta
    assert result.suites["pass@3"].p_value == plain.suite.p_value
    short = r"^metrics\[0\] must be 'pass@1' to 'pass@4', as case 'a' of current has 4 attempts"
    with pytest.raises(
        InputError, match=rf"{short} \(2 of 2 have fewer than 5; make both reports"
    ):
        compare_reports(code(a=[4] * 5), after, metrics=["pass@5"])
    two = code_report(
        CodeSample(case_id="a", model=model, compiled=True, passed=n)
        for model in "xy"
        for n in (1, 1)
    )
    assert list(compare_reports(two, two, metrics=["pass@2"]).suites) == ["x", "y"]
    with pytest.raises(InputError, match=r"^metrics\[0\] must be 'pass@1', as case 'a' of base"):
        compare_reports({"a": 1}, {"a": 1}, metrics=["pass@2"])


def test_single_cases_of_two_models_do_not_stop_a_job() -> None:
    """They differ for other reasons than chance where both models are equally good."""
    n_right = [10] * 42
    other = [10] * 40 + [0, 0]
    same, two = (
        compare_reports(flags("a", n_right), flags(m, other), attempts="independent") for m in "ab"
    )
    assert stops(same).startswith("2 cases dropped significantly: c40 / a from 10 of 10 to 0 of 1")
    assert stops(two) == ""
    assert two.regressions
    assert two.regressions[0].adjusted_p_value == same.regressions[0].adjusted_p_value
    for text in (two.to_text(), two.to_markdown(), two._repr_html_()):
        assert "b compared with a: inconclusive: " in text
        assert "the gate passes, as only the suites of two models count" in text
        assert "Dropped significantly if attempts are independent, look at these first: 2" in text
    assert "two models" not in same.to_text()
    assert stops(two, on="cases") == "b compared with a: 2 cases fell by more than 0.05"
    worse = compare_reports(flags("a", [10] * 20), flags("b", [2] * 20))
    assert stops(worse).startswith("b compared with a: regressed: 1.000 -> 0.200, a loss of 0.800")


@pytest.mark.slow
def test_nothing_changed_stops_few_jobs() -> None:
    """At most 5 % of 400 whole comparisons, however many cases fell; both metrics are in."""
    rng = np.random.default_rng(11)
    n_stopped = n_fallen = 0
    for _ in range(400):
        rates = rng.beta(0.5, 0.5, 20)
        sides = [
            code(
                **{f"c{i}": (4 * (rng.random(4) < rate)).tolist() for i, rate in enumerate(rates)}
            )
            for _ in range(2)
        ]
        result = compare_reports(*sides)
        n_stopped += bool(stops(result))
        n_fallen += result.has_regressions
    assert n_stopped <= 28  # the chance of more is below 1 in 50, were it 5 %
    assert n_fallen > 390


@pytest.mark.parametrize(
    ("confidence_level", "stopped"), [(0.5, True), (0.95, True), (0.999, False)]
)
def test_the_level_of_the_comparison_is_that_of_the_gate(
    confidence_level: float,
    stopped: bool,  # noqa: FBT001 - a table
) -> None:
    """Five of five to none is 1 in 252, times 3 for the case that could: 1 in 20 allows for it."""
    before, after = {"x": [1] * 5, "y": [1] * 5}, {"x": [0] * 5, "y": [1] * 5}
    result = compare_reports(
        before, after, confidence_level=confidence_level, attempts="independent"
    )
    assert bool(stops(result, cannot_see="pass")) == stopped


# By pass and by score.


def test_a_lost_pass_is_seen_though_the_score_rose() -> None:
    """From all tests or none to nearly all: the code score is higher and nothing passes."""
    before = code(**{f"c{i}": [4, 4, 0, i % 2] for i in range(12)})
    after = code(**{f"c{i}": [3, 3, 3, 3] for i in range(12)})
    result = compare_reports(before, after)
    assert {name: suite.verdict for name, suite in result.suites.items()} == {
        "pass@1": "regressed",
        "code_score": "improved",
    }
    assert result.suites["pass@1"].delta == pytest.approx(-0.5)
    assert result.suite == result.suites["pass@1"]
    assert stops(result).startswith("regressed: pass@1 -0.500")
    assert stops(compare_reports(before, after, metrics=["code_score"])) == ""


def test_suites_are_named_by_what_there_are_several_of() -> None:
    """By metric, by model, or by both; no verdict gets lost where names collide."""
    one = code("a", x=[4, 0], y=[4, 4])
    two = code_report(
        CodeSample(case_id=case, model=model, compiled=True, passed=passed, failed=4 - passed)
        for model in ("a", "pass@1")
        for case in "xy"
        for passed in (4, 0)
    )
    assert list(compare_reports(one, one).suites) == ["pass@1", "code_score"]
    assert list(compare_reports(one, one, metrics=["code_score"]).suites) == ["code_score"]
    assert list(compare_reports(two, two, metrics=iter(["pass@1"])).suites) == ["a", "pass@1"]
    assert list(compare_reports(two, two, metrics=["code_score", "pass@1"]).suites) == [
        "a / code_score",
        "pass@1 / code_score",
        "a / pass@1",
        "pass@1 / pass@1",
    ]
    assert compare_reports(two, two).n_unchanged == 8  # cases by metrics by models
    assert "\na / pass@1 " in compare_reports(two, two).to_text()


@refusals("""
() -> InputError: metrics must be a non-empty sequence of metrics, such as ['pass@1'], got ()
"pass@1" -> TypeError: metrics must be a non-empty sequence of metrics, such as ['pass@1'], got...
[["pass@1"]] -> TypeError: metrics[0] must be a non-empty string, got ['pass@1']
["pass@1", "pass@2"]
    -> InputError: metrics[1] must be 'pass@1', as case 'x' of baseline has 1 attempt (1 of 1...
["pass@0"]
    -> InputError: metrics[0] must be one of 'pass@1', 'code_score', or 'pass@k' or 'pass^k' of
    attempts that are right or wrong, such as 'pass@3', got 'pass@0'
""")
def test_metrics_are_named(wrong: Refusal) -> None:
    """A misspelt metric must not pass for one without losses."""
    wrong.when(lambda: compare_reports(code(x=[4]), code(x=[4]), metrics=wrong.value))


def test_metrics_of_mappings_and_sql() -> None:
    """A mapping has one; a metric that only failed can be asked for too."""
    assert list(compare_reports({"a": 1}, {"a": 1}, metrics=["score"]).suites) == ["score"]
    before = sql(q=(False, False))
    result = compare_reports(before, before, metrics=["table_accuracy", "safety_validation"])
    assert list(result.suites) == ["table_accuracy", "safety_validation"]


# Which question.


def test_two_models_are_asked_about_their_suites_alone() -> None:
    """By their names; the verdict on the suite is the same whatever they are."""
    attempts = {f"c{i}": [4, 4, 0, 4 * (i % 2), 4] for i in range(8)} | {"z": [4] * 5}
    worse = {**attempts, "z": [0] * 5}
    only: dict[str, Any] = {"metrics": ["pass@1"]}
    other = compare_reports(code("a", **attempts), code("b", **worse), **only)
    same = compare_reports(code("a", **attempts), code("a", **worse), **only)
    assert (other.single_cases, same.single_cases) == ("two models", "tested")
    sides = (
        {case: [n // 4 for n in own] for case, own in run.items()} for run in (attempts, worse)
    )
    assert compare_reports(*sides).suite == same.suite == other.suite
    few = compare_reports(code("a", x=[4] * 9), code("b", x=[4] * 9))
    with pytest.raises(
        CannotSeeError, match=r"1 case is too few at 95 % in 2 suites: compare 7\n"
    ):
        few.raise_for_regressions()


def test_tables_and_json_are_no_reports_yet() -> None:
    """The message names what makes a report of them, and does not paste the table."""
    words = "baseline must be a CodeReport, a SqlReport or a mapping from case to score"
    text: Any = "{}"
    with pytest.raises(TypeError) as caught:
        compare_reports(text, text)
    assert str(caught.value) == f"{words} (of JSON: CodeReport.from_json), got '{{}}'"
    stored: Any = _of_sql("r").to_json()
    with pytest.raises(TypeError, match=r" \(of JSON: SqlReport\.from_json\), got "):
        compare_reports(stored, stored)
    parsed = json.loads(stored)
    with pytest.raises(TypeError, match=r"must be a report, as SqlReport\.from_json\(text\) retu"):
        compare_reports(parsed, parsed)


def test_a_tag_is_not_yet_the_groups_of_its_cases() -> None:
    """The message says how to make them."""
    report, tag = _of_sql("rr"), cast("Any", "database")
    with pytest.raises(TypeError, match=r'row\["tag_database"\] for row in report.to_rows\(\)\}'):
        compare_reports(report, report, clusters=tag)


def test_the_message_begins_with_the_suite_and_names_five_cases() -> None:
    """Pytest's short summary has the first line, and no one reads a list of hundreds."""
    before, after = (
        code(model, **{f"c{i}": [n] * 9 for i in range(9)}) for model, n in (("v1", 4), ("v2", 0))
    )
    with pytest.raises(RegressionError) as caught:
        compare_reports(before, after, metrics=["pass@1"]).raise_for_regressions()
    first, _, *fell, more = str(caught.value).splitlines()
    assert first.startswith("v2 compared with v1: regressed: 1.000 -> 0.000, a loss of 1.000, ")
    assert [line.split()[0] for line in fell] == ["c0", "c1", "c2", "c3", "c4"]
    assert more == "  and 4 more"


# Safety.


def sql(**safety: tuple[bool, bool]) -> SqlReport:
    """Report on queries, each said to be safe or not, and safe or not."""
    return score_sql_cases(
        SqlCase(
            case_id=case.rstrip("_"),
            generated="SELECT a FROM t",
            expected_tables=["t"],
            safety_valid=valid,
            should_pass=safe,
        )
        for case, (valid, safe) in safety.items()
    )


CAUGHT, MISSED, FINE = (False, False), (True, False), (True, True)


def test_an_unsafe_query_that_is_no_longer_caught_stops_a_job() -> None:
    """One of many, which no test would call a regression; one missed before stops when asked."""
    fine = {f"fine{i}": FINE for i in range(60)}
    before = sql(drop=CAUGHT, old=MISSED, **fine)
    after = sql(drop=MISSED, old=MISSED, new=MISSED, **fine)
    result = compare_reports(before, after)
    assert result.suites["safety_validation"].verdict != "regressed"
    assert result.missed_unsafe == ("drop", "old", "new")
    assert result.newly_missed_unsafe == ("drop",)
    assert stops(result) == "1 unsafe query no longer caught"
    for on in ("suite", "cases"):
        assert "1 unsafe query no longer caught" in stops(result, on=on)
    message = r"^3 unsafe queries not caught\n  not caught: drop, old, new\n"
    with pytest.raises(RegressionError, match=message):
        result.raise_for_regressions(require_safety=True)
    assert "\nno longer caught: drop\n" in result.to_text()
    assert "1 unsafe query no longer caught" in result.to_markdown()
    assert Comparison.from_json(result.to_json()) == result
    unchanged = compare_reports(before, before)
    assert stops(unchanged) == ""
    assert stops(unchanged, require_safety=True) == "1 unsafe query not caught"
    assert "unsafe" not in unchanged.to_text()
    clean = compare_reports(sql(drop=CAUGHT, **fine), sql(drop=CAUGHT, **fine))
    assert (clean.missed_unsafe, clean.newly_missed_unsafe) == ((), ())
    assert stops(clean, require_safety=True) == ""


def test_an_unsafe_query_is_caught_where_every_attempt_at_it_is() -> None:
    """Attempts at a case share its name."""
    both, once = sql(q=CAUGHT, q_=CAUGHT), sql(q=CAUGHT, q_=MISSED)
    assert compare_reports(both, once).newly_missed_unsafe == ("q",)
    assert compare_reports(once, once).newly_missed_unsafe == ()
    assert compare_reports(once, once).missed_unsafe == ("q",)


def test_safety_that_was_not_scored_is_not_safe() -> None:
    """To ask for it where nothing is known is a mistake, not a pass."""
    plain = score_sql_cases([SqlCase(case_id="q", generated="SELECT 1", expected="SELECT 1")])
    for result in (compare_reports({"a": 1}, {"a": 1}), compare_reports(plain, plain)):
        assert result.missed_unsafe is None
        with pytest.raises(InputError) as caught:
            result.raise_for_regressions(require_safety=True)
        message = "require_safety must be False where no safety was scored, got True"
        assert str(caught.value) == message
    with pytest.raises(TypeError, match=r"^require_safety must be True or False, got 2$"):
        result.raise_for_regressions(require_safety=2)  # type: ignore[arg-type]


# What else may come.


def test_integers_name_cases() -> None:
    """NumPy's too, and in clusters; they read as text from then on."""
    before: dict[Any, Any] = {1: 1, 2: 1, np.int64(3): 0.5}
    result = compare_reports(before, {1: 0, "2": 1, 3: 0.5}, clusters={1: 1, "2": 2, 3: 2, 4: 0})
    assert [change.case_id for change in result.regressions] == ["1"]
    assert (result.suite.n_cases, result.suite.n_groups) == (3, 2)


@pytest.mark.parametrize("missing", [math.nan, np.float32("nan")], ids=repr)
def test_missing_scores_are_unknown(missing: Any) -> None:
    """Alone and among attempts; nothing is dropped in silence."""
    for value, lowest in ((missing, -1.0), ([1.0, missing], -0.5)):
        suite = compare_reports({"a": 1}, {"a": value}).suite
        assert suite.delta_bounds == (lowest, 0.0)


@pytest.mark.parametrize("models", [(None, None), ("a", "a"), ("a", "b")])
def test_an_outage_never_raises_but_the_gate_does(models: tuple[str | None, str | None]) -> None:
    """Whichever side it is: the bounds are all there is to say, and nobody passes by an outage."""
    right = SqlCase(case_id="q", generated="SELECT 2 + x", expected="SELECT 2 + x")
    wrong = SqlCase(case_id="q", generated="SELECT 1", expected="SELECT 2 + x")
    first, second = models
    scored, failed = (
        score_sql_cases([attrs.evolve(one, case_id=i) for i in range(9)], model=second)
        for one in (right, wrong)
    )
    baseline = attrs.evolve(scored, model=first)
    result = compare_reports(baseline, failed, metrics=["query_correctness"])
    suite = result.suite
    assert (suite.verdict, suite.n_cases, suite.n_unscored) == ("inconclusive", 0, 9)
    assert suite.delta_bounds == (-1.0, 0.0)
    assert suite.cannot_see == "no case has a score in both runs"
    assert "9 of 9 cases not scored: between -1 and +0 whatever they were" in str(result)
    with pytest.raises(CannotSeeError, match="no case has a score in both runs"):
        result.raise_for_regressions(allow_missing=True)
    assert Comparison.from_json(result.to_json()) == result
    turned = compare_reports(failed, scored, metrics=["query_correctness"])
    assert turned.suite.delta_bounds == (0.0, 1.0)
    nobody = compare_reports({"a": None, "b": [None, None]}, {"a": None, "b": None})
    assert nobody.suite.delta_bounds == (-1.0, 1.0)


@pytest.mark.parametrize("options", [{}, {"allow_missing": True, "cannot_see": "pass"}])
@pytest.mark.parametrize("now", [{}, {"is_valid": True}, {"syntax_valid": True}])
def test_a_validator_that_stops_answering_misses_what_it_caught(
    now: dict[str, Any], options: dict[str, Any]
) -> None:
    """For whatever reason it gives no verdict; also where the metrics leave safety out."""
    known: dict[str, Any] = {"generated": "DROP TABLE t", "should_pass": False}
    caught = SqlCase(case_id="q", is_valid=False, safety_valid=False, **known)
    baseline = score_sql_cases([caught])
    silent = SqlCase(case_id="q", **known, **now, expected_tables=["t"])
    for metrics in (None, ["table_accuracy"]):
        current = score_sql_cases([silent, attrs.evolve(caught, case_id="r")], metrics=metrics)
        result = compare_reports(
            score_sql_cases([attrs.evolve(caught, expected_tables=["t"])]), current
        )
        assert result.newly_missed_unsafe == ("q",)
        with pytest.raises(RegressionError, match="1 unsafe query no longer caught"):
            result.raise_for_regressions(**options)
    assert compare_reports(baseline, baseline).newly_missed_unsafe == ()


def test_each_value_of_a_tag_has_a_verdict() -> None:
    """Oracle: the parts of both reports, compared alone; p counted for all and the whole."""
    wrong = {f"q{i}" for i in range(0, 20, 2)}
    reports: list[SqlReport] = []
    for lost in (set[str](), wrong):
        cases = [
            SqlCase(
                case_id=f"q{i}",
                generated="SELECT 2" if f"q{i}" in lost else "SELECT 1",
                expected="SELECT 1",
                schema="CREATE TABLE t (a int)",
                tags={"db": "shop" if i % 2 == 0 else "bank"} if i < 20 else {},
            )
            for i in range(24)
        ]
        reports.append(score_sql_cases(cases, metrics=["query_correctness"]))
    result = compare_reports(*reports, by="db")
    assert list(result.suites) == ["query_correctness", "bank", "shop", "without db"]
    assert result.groups == ("bank", "shop", "without db")
    parts = [report.by("db") for report in reports]
    for value, name in (("shop", "shop"), ("bank", "bank"), (None, "without db")):
        alone = compare_reports(parts[0][value], parts[1][value]).suite
        suite = result.suites[name]
        assert (suite.delta, suite.n_cases) == (alone.delta, alone.n_cases)
        assert suite.p_value == pytest.approx(min(1.0, 4 * alone.p_value))
    assert result.suites["shop"].verdict == "regressed"
    text = str(result)  # four cases are too few, the others are enough
    assert (
        "\ncannot see a loss of without db (4 cases are too few at 95 % in 4 suites: com" in text
    )
    assert {change.metric for change in result.regressions} == {"query_correctness"}
    by = {f"q{i}": ["shop", "bank"][i % 2] if i < 20 else "without db" for i in range(24)}
    for others in (by, list(by.values()), tuple(by.values())):
        assert compare_reports(*reports, by=others) == result
    with pytest.raises(InputError, match=r"^by must be one of the tags 'db', or a mapping from"):
        compare_reports(*reports, by="database")
    with pytest.raises(InputError, match=r"^by must be a mapping from case to group, or a label"):
        compare_reports({"a": 1}, {"a": 1}, by="db")
    other = [SqlCase(case_id="q0", generated="SELECT 1", expected="SELECT 1", tags={"db": "x"})]
    with pytest.raises(InputError, match=r"^by must be a tag with one value at case 'q0', not"):
        compare_reports(reports[0], score_sql_cases(other), by="db")


def test_groups_of_reports_of_code_and_of_mappings() -> None:
    """Each metric has its groups; a group that fell is named though the whole did not."""
    before = {f"c{i}": 1 for i in range(40)}
    after = before | {f"c{i}": 0 for i in range(9)}
    before |= {f"c{i}": 0 for i in range(31, 40)}
    by = {case: "dates" if i < 10 else "others" for i, case in enumerate(before)}
    result = compare_reports(before, after, by=by)
    assert (result.suites["score"].delta, result.suites["dates"].verdict) == (0.0, "regressed")
    assert "\ndates regressed, and the whole did not\n" in str(result)
    assert stops(result) == "regressed: dates -0.900"
    graded = code(a=[4, 2], b=[4, 4])
    names = list(compare_reports(graded, graded, by={"a": 1, "b": 2}).suites)
    assert names == [
        "pass@1",
        "code_score",
        "pass@1 of 1",
        "code_score of 1",
        "pass@1 of 2",
        "code_score of 2",
    ]


@refusals("""
{"a": 1} -> InputError: by must be a mapping with a group for 'b', got {'a': 1}
{"a": 1, "b": 1.5} -> TypeError: by['b'] must be a string or an integer, got 1.5
["x"] -> InputError: by must be a label for each of the 2 cases of the baseline, in their...
5
    -> TypeError: by must be a tag of SQL cases, a mapping from case to group, or a label
    for each case, got 5
""")
def test_groups_that_are_none(wrong: Refusal) -> None:
    """A case without a group is not left out in silence."""
    wrong.when(lambda: compare_reports({"a": 1, "b": 1}, {"a": 1, "b": 1}, by=wrong.value))


def test_attempts_on_one_side_only() -> None:
    """Oracle: Fisher's test of one attempt against five."""
    result = compare_reports({"a": 1, "b": 1}, {"a": [0] * 5, "b": [1] * 5})
    (change,) = result.regressions
    theirs = stats.fisher_exact(np.array([[0, 5], [1, 0]]), "less").pvalue
    assert change.p_value == pytest.approx(theirs)
    assert stops(result, cannot_see="pass") == ""


@pytest.mark.sampled
@pytest.mark.parametrize(("n_old", "n_new"), [(5, 1), (1, 5), (10, 1), (10, 2), (6, 3)])
def test_unequal_attempts_do_not_raise_the_false_alarm_rate(n_old: int, n_new: int) -> None:
    """Exact, over all outcomes of two cases that nearly always pass."""
    for rate in (0.95, 0.9, 0.5):
        stopped = 0.0
        old, new = (stats.binom.pmf(np.arange(n + 1), n, rate) for n in (n_old, n_new))
        outcomes = list(product(range(n_old + 1), range(n_new + 1)))
        for drawn in combinations_with_replacement(outcomes, 2):
            sides = [
                {i: [1] * c[side] + [0] * (n - c[side]) for i, c in enumerate(drawn)}
                for side, n in enumerate((n_old, n_new))
            ]
            chance = math.prod(old[c[0]] * new[c[1]] for c in drawn) * (1 + (drawn[0] != drawn[1]))
            result = compare_reports(*sides, attempts="independent")
            stopped += chance * bool(stops(result, cannot_see="pass"))
        assert stopped <= 0.05


def test_thousands_of_identical_cases() -> None:
    """Nothing moved, nothing stops, and what could have been seen is small."""
    run: dict[Any, Any] = dict.fromkeys(range(5000), 1)
    result = compare_reports(run, run)
    assert (result.suite.verdict, result.n_unchanged) == ("no change detected", 5000)
    assert stops(result) == ""
    assert result.suite.n_detectable == 7
    assert result.suite.minimum_detectable_effect == pytest.approx(7 / 5000)


def test_a_comparison_of_another_version_is_refused() -> None:
    """It has other fields."""
    data = json.loads(compare_reports({"a": 1}, {"a": 0}).to_json())
    with pytest.raises(InputError, match=r"^version of the result must be 3, got 1$"):
        Comparison.from_json(json.dumps(data | {"version": 1}))


def test_comparing_mappings_loads_no_sql() -> None:
    """A gate on plain scores does not wait for parsers, nor for all of scipy."""
    program = (
        "import scorekit, sys\n"
        "scorekit.compare_reports({'a': [1, 0.5]}, {'a': [0, 0.5]})\n"
        "print(sum(name.startswith('scorekit') for name in sys.modules))\n"
        "print({'sqlglot', 'scipy.stats', 'autoevals'} & {*sys.modules})"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    n_modules, heavy = run.stdout.splitlines()
    assert int(n_modules) <= 48
    assert heavy == "set()"


# Power.


def test_no_change_that_is_possible_has_the_power() -> None:
    """Two cases by t need an effect beyond the scale, and too few repeats have none at all."""
    few = compare_reports({"a": 1.0, "b": 0.5}, {"a": 0.2, "b": 0.5}).suite
    runs: list[dict[Any, Any]] = [{i: i < n for i in range(9)} for n in (4, 5)]
    for suite in (few, compare_reports(runs, runs).suite):
        assert (suite.minimum_detectable_effect, suite.verdict) == (None, "inconclusive")


@pytest.mark.parametrize("n_moved", [0, 2, 10])
@pytest.mark.parametrize("n_cases", [50, 100, 300])
def test_stated_power_is_had_by_single_attempts(n_cases: int, n_moved: int) -> None:
    """Oracle: the exact power of the t test, where so many cases break and others move by chance.

    As many cases rise as fall by chance, the rest passed twice.
    """
    after = {i: i >= n_moved for i in range(n_cases)}
    before = {i: i < n_cases - n_moved for i in range(n_cases)}
    suite = compare_reports(before, after).suite
    assert suite.n_detectable is not None
    assert suite.minimum_detectable_effect is not None
    assert suite.minimum_detectable_effect == pytest.approx(
        suite.n_detectable * (1 - n_moved / (n_cases - n_moved)) / n_cases
    )
    quantile = stats.t.isf(0.025, n_cases - 1)
    broken, share = round(suite.minimum_detectable_effect * n_cases), n_moved / n_cases
    seen = 0.0
    for falls, rises in product(range(min(40, n_cases // 3)), repeat=2):
        mean = (falls + broken - rises) / n_cases
        spread = (falls + broken + rises) / n_cases - mean**2
        error = math.sqrt(max(spread, 0.0) / (n_cases - 1))
        both = (float(stats.poisson.pmf(n, share * n_cases)) for n in (falls, rises))
        seen += math.prod(both) * (mean >= quantile * error)
    assert seen >= 0.72


@pytest.mark.sampled
@pytest.mark.parametrize("n_repeats", [4, 5, 8])
def test_stated_power_is_had_by_repeats(n_repeats: int) -> None:
    """Oracle: simulated means of reports, whose spread is passed to the comparison."""
    rng = np.random.default_rng(8)
    wave = np.linspace(-1, 1, n_repeats)
    means = 0.7 + 0.02 * wave / wave.std(ddof=1)
    runs = [dict.fromkeys(range(200), float(mean)) for mean in means]
    suite = compare_reports(runs, runs[::-1]).suite
    assert suite.minimum_detectable_effect is not None
    assert suite.repeat_spread == pytest.approx(0.02)
    old = rng.normal(0.7, 0.02, (300, n_repeats))
    new = rng.normal(0.7 - suite.minimum_detectable_effect, 0.02, (300, n_repeats))
    seen = np.mean(
        [permutation_p_value(tuple(x), tuple(y)) <= 0.025 for x, y in zip(old, new, strict=True)]
    )
    assert 0.7 <= seen <= 0.9


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_laws_of_the_effect(counts: list[tuple[int, int]]) -> None:
    """More certainty asks for more; it is a change that is possible."""
    sides = [
        {i: [1] * pair[side] + [0] * (3 - pair[side]) for i, pair in enumerate(counts)}
        for side in (0, 1)
    ]
    strict, usual = (
        compare_reports(*sides, confidence_level=level).suite.minimum_detectable_effect
        for level in (0.99, 0.95)
    )
    assert strict is None or (usual is not None and 0 < usual <= strict <= 1)


def _of_sql(
    kinds: str, judge: Judge | None = None, metrics: Sequence[str] = ("query_correctness",)
) -> SqlReport:
    """Report on a pair for each letter: right, wrong or undecided."""
    queries = {
        "r": "SELECT id FROM t",
        "w": "SELECT id + 1 FROM t",
        "u": "SELECT id FROM t ORDER BY RANDOM() LIMIT 1",
    }
    return score_sql_cases(
        (
            SqlCase(
                case_id=f"q{i}",
                generated=queries[kind],
                expected="SELECT id FROM t",
                schema={"t": {"id": "int primary key"}},
                dialect="sqlite",
            )
            for i, kind in enumerate(kinds)
        ),
        judge=judge,
        metrics=metrics,
    )


def test_pairs_that_nobody_can_judge_do_not_stop_a_job() -> None:
    """They may be right or wrong, which the bounds say; a loss stops whatever they are."""
    before = _of_sql("r" * 16 + "w" * 4)
    undecided = compare_reports(before, _of_sql("u" + "r" * 15 + "w" * 3 + "u"))
    undecided.raise_for_regressions()
    assert undecided.newly_failing == ()
    assert undecided.suite.delta_bounds == pytest.approx((-0.05, 0.05))
    many = compare_reports(before, _of_sql("u" + "r" * 15 + "u" * 4))
    assert stops(many) == "more outcomes are missing than before: 25 % against 0 %"
    assert stops(many, allow_missing=True) == ""
    worse = compare_reports(before, _of_sql("u" + "w" * 19))
    with pytest.raises(RegressionError) as caught:
        worse.raise_for_regressions()
    first, *others = str(caught.value).splitlines()
    assert first.startswith("regressed: 0.789 -> 0.000, a loss of 0.789, 95 % interval [-0.")
    assert "  Unscored, left out: query_correctness of 0 cases in the baseline, 1 now" in others


def test_pairs_that_lost_their_judge_stop_a_job() -> None:
    """The baseline asked one, so that its scores say more than evidence can; or none is left."""
    judge = judge_from_function(lambda _: 1.0, identity="1")
    judged, bare = _of_sql("urr", judge=judge), _of_sql("urr")
    assert stops(compare_reports(judged, bare)) == "1 case newly unscored"
    with pytest.raises(RegressionError, match=r"\n  newly unscored \(no_judge\): q0\n"):
        compare_reports(judged, bare).raise_for_regressions()
    assert compare_reports(judged, bare).newly_failing[0].error_kind == "no_judge"
    metrics = ["query_correctness", "column_accuracy"]
    lost = compare_reports(_of_sql("rrr", metrics=metrics), _of_sql("uuu", metrics=metrics))
    assert stops(lost) == "3 cases newly unscored"


def test_a_metric_that_is_not_scored_any_more_is_named() -> None:
    """Its cases are there, and it is the metric that is missing."""
    metrics = ["query_correctness", "column_accuracy"]
    result = compare_reports(_of_sql("rrr", metrics=metrics), _of_sql("rrr"))
    assert result.metrics_only_in_baseline == ("column_accuracy",)
    assert stops(result) == "column_accuracy missing from the current run (3 cases)"
    assert stops(result, allow_missing=True, cannot_see="pass") == ""
    assert Comparison.from_json(result.to_json()) == result


def test_missing_outcomes_move_both_directions_alike() -> None:
    """Where their share changed, the verdict has to hold whatever they were, either way."""
    sides = _of_sql("w" * 2 + "r" * 18), _of_sql("u" * 6 + "w" * 12 + "rr")
    fell, rose = compare_reports(*sides), compare_reports(*reversed(sides))
    assert (fell.missing, rose.missing) == ("rose", "fell")
    assert (fell.suite.verdict, rose.suite.verdict) == ("regressed", "improved")
    assert rose.suite.p_value == pytest.approx(fell.suite.p_value)
    assert rose.suite.interval.low == pytest.approx(-fell.suite.interval.high)
    assert stops(rose) == ""
    for one in (fell, rose):
        assert one.suite.holds_at_bounds
        assert ": verdicts hold whatever they were" in str(one)
