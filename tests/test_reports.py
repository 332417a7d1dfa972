"""code_report: worked values, accounting, JSON round trip, every documented error."""

from __future__ import annotations

import json
import math
import pickle
import re
from collections import defaultdict
from fractions import Fraction
from typing import Any

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from outcomes import ends
from refusals import Refusal, refusals

from scorekit import (
    CodeReport,
    CodeSample,
    InputError,
    code_report,
    code_report_from_columns,
    code_score,
    mean_interval,
    pass_at_k,
)
from scorekit.reports import CaseStatistics

NAMES = st.sampled_from(["a", "b", "naïve | <b>*"])
COUNTS = st.integers(0, 5)
SAMPLES = st.builds(
    CodeSample,
    case_id=NAMES,
    model=NAMES,
    compiled=st.booleans(),
    passed=COUNTS,
    failed=COUNTS,
    warnings=COUNTS,
    cost_usd=st.none() | st.floats(0, 1e6),
    latency_seconds=st.none() | st.floats(0, 1e6),
    input_tokens=st.none() | COUNTS,
    output_tokens=st.none() | COUNTS,
)
SAMPLE_LISTS = st.lists(SAMPLES, min_size=1, max_size=30)


def sample(case_id: str = "case", model: str = "m", **fields: Any) -> CodeSample:
    """Return a sample that compiled, with *fields* on top."""
    return CodeSample(**{"case_id": case_id, "model": model, "compiled": True, **fields})


SUITE = [
    sample("sort", passed=4, cost_usd=0.5, latency_seconds=2.0, output_tokens=10),
    sample("sort", passed=2, failed=2, warnings=1),
    sample("sort", compiled=False),
    sample("parse", passed=1, cost_usd=0.25, latency_seconds=4.0, output_tokens=5),
]


def test_a_small_suite_by_hand() -> None:
    """Three attempts at one case, one at another: each case weighs the same."""
    report = code_report(SUITE)
    (model,) = report.models
    assert [c.scores for c in report.cases] == [(1.0, 0.74, 0.0), (1.0,)]
    assert [(c.n_samples, c.n_correct) for c in report.cases] == [(3, 1), (1, 1)]
    assert report.cases[0].mean_score == pytest.approx(0.58)
    assert model.mean_score == pytest.approx(0.79)
    assert model.compilation_rate == pytest.approx((2 / 3 + 1) / 2)
    assert model.test_pass_rate == pytest.approx((0.5 + 1) / 2)
    assert model.pass_at_k[0].score == pytest.approx((1 / 3 + 1) / 2)
    assert (model.total_cost_usd, model.mean_latency_seconds) == (0.75, 3.0)
    assert model.mean_cost_usd == 0.375
    assert (model.total_input_tokens, model.total_output_tokens) == (None, 15)
    assert (model.n_samples, model.n_cases) == (4, 2)


@pytest.mark.parametrize(("fields", "correct"), [
    ({"passed": 1}, True),
    ({"passed": 1, "warnings": 9}, True),
    ({"passed": 0}, False),
    ({"passed": 3, "failed": 1}, False),
    ({"passed": 3, "compiled": False}, False),
])  # fmt: skip
def test_correct(fields: dict[str, Any], correct: bool) -> None:  # noqa: FBT001 - a table
    """Compiled, at least one test ran, none failed; warnings do not matter."""
    assert sample(**fields).correct is correct


@given(SAMPLE_LISTS)
def test_report_agrees_with_single_metrics_and_rationals(samples: list[CodeSample]) -> None:
    """Oracle: the single metrics on each sample, and exact means over cases."""
    report = code_report(samples)
    groups: dict[str, dict[str, list[CodeSample]]] = defaultdict(lambda: defaultdict(list))
    for item in samples:
        groups[item.model][item.case_id].append(item)
    assert {m.model for m in report.models} == set(groups)
    assert len(report.cases) == sum(map(len, groups.values()))
    for case in report.cases:
        own = groups[case.model][case.case_id]
        names = ("compiled", "passed", "failed", "warnings")
        single = [code_score(**{name: getattr(s, name) for name in names}) for s in own]
        assert case.scores == tuple(s.score for s in single)
        n_correct = sum(bool(s.correct) for s in own)
        assert case.pass_at_k == (pass_at_k(n_samples=len(own), n_correct=n_correct),)
    for model in report.models:
        cases = groups[model.model].values()
        rate = sum(Fraction(sum(bool(s.compiled) for s in c), len(c)) for c in cases) / len(cases)
        assert model.compilation_rate == pytest.approx(float(rate), rel=1e-15, abs=0)
        costs = [Fraction(s.cost_usd) for c in cases for s in c if s.cost_usd is not None]
        assert model.total_cost_usd == (float(sum(costs)) if costs else None)
        assert model.mean_cost_usd == (float(sum(costs) / len(costs)) if costs else None)


def test_attempts_may_be_short_where_the_caller_says_so() -> None:
    """``"nan"`` shows the gap, ``"drop"`` leaves the case out of that k and counts it."""
    with_nan = code_report(SUITE, k=(1, 3), insufficient="nan")
    assert math.isnan(with_nan.models[0].pass_at_k[1].score)
    assert [math.isnan(c.pass_at_k[1].score) for c in with_nan.cases] == [False, True]
    dropped = code_report(SUITE, k=(1, 3), insufficient="drop")
    assert [[p.k for p in c.pass_at_k] for c in dropped.cases] == [[1, 3], [1]]
    used = dropped.models[0].pass_at_k[1]
    assert (used.score, used.n_tasks, used.n_tasks_used) == (1.0, 2, 1)


def test_a_model_without_k_attempts_anywhere_is_unknown_at_k() -> None:
    """The error for too few attempts recommends ``"drop"``, which must then not raise."""
    report = code_report_from_columns(
        case_id=["a", "b", "a", "b"],
        model=["x", "x", "y", "y"],
        passed=[[1, 0, 1], [1, 1, 0], [1], [0]],
        k=(1, 3),
        insufficient="drop",
    )
    x, y = report.models
    assert [one.score for one in x.pass_at_k] == pytest.approx([2 / 3, 1.0])
    assert y.pass_at_k[0].score == 0.5
    assert math.isnan(y.pass_at_k[1].score)
    assert (y.pass_at_k[1].n_tasks, y.pass_at_k[1].n_tasks_used) == (2, 0)
    assert y.unknown_bounds["pass@3"] == (0.0, 1.0)
    assert "pass@3 = unknown (0 of 2 tasks, between 0 and 1)" in str(report)


class TaggedSample(CodeSample):
    """A caller's own kind of sample."""


def test_samples_may_be_of_a_subclass() -> None:
    """Embedders extend the record; the report takes what is a sample, whatever its class."""
    own = [TaggedSample(case_id="a", model="m", compiled=True, passed=1)]
    assert code_report(own).cases[0].scores == (1.0,)


def test_rows_are_flat() -> None:
    """A data frame takes them as they are."""
    row = code_report(SUITE, k=(1,)).to_rows()[1]
    columns = ["case_id", "model", "n_samples", "n_correct", "mean_score", "pass_at_1"]
    assert [*row.items()] == [*zip(columns, ("parse", "m", 1, 1, 1.0, 1.0), strict=True)]


def test_printed_it_has_a_line_for_each_model() -> None:
    """The repr of a report of a thousand cases tells nobody anything."""
    text = str(code_report([sample("a", "x\ny", passed=2), sample("b", "x\ny", failed=1)]))
    assert text.startswith(r"x\ny: pass@1 = 0.50 [")
    assert text.endswith("], mean code score 0.75 (95 %, 2 attempts at 2 cases)")


MANY = 2**53 + 1


def test_for_model_narrows_to_one() -> None:
    """The other model's cases are gone, this one's are untouched."""
    report = code_report([*SUITE, sample("sort", "other")])
    narrow = report.for_model("other")
    assert [c.model for c in narrow.cases] == ["other"]
    assert narrow.models == (report.models[1],)
    many = code_report(CodeSample(case_id="a", model=f"m{i}", compiled=True) for i in range(200))
    with pytest.raises(InputError, match=r"^name must be a model of this .*\.\.\.\), got 'x'$"):
        many.for_model("x")


@refusals("""
case_id="" -> InputError: case_id must be a non-empty string or an integer, got ''
model=3.5 -> TypeError: model must be a non-empty string or an integer, got 3.5
compiled=2 -> TypeError: compiled must be True or False, got 2
passed=-1 -> InputError: passed must be an integer >= 0, got -1
passed=None, failed=2 -> InputError: failed must be 0 where passed is None, got 2
failed=True -> TypeError: failed must be an integer >= 0, got True
warnings=1.0 -> TypeError: warnings must be an integer >= 0, got 1.0
passed=MANY -> InputError: passed must be an integer of at most 2**53, got {MANY}
failed=MANY -> InputError: failed must be an integer of at most 2**53, got {MANY}
warnings=MANY -> InputError: warnings must be an integer of at most 2**53, got {MANY}
input_tokens=MANY
    -> InputError: input_tokens, None where not measured, must be an integer of at most 2**53,
    got 9007199254740993
input_tokens=-5
    -> InputError: input_tokens, None where not measured, must be an integer >= 0, got -5
cost_usd=-0.1
    -> InputError: cost_usd, None where not measured, must be a finite number >= 0, got -0.1
latency_seconds=math.nan
    -> InputError: latency_seconds, None where not measured, must be a finite number >= 0, got
    nan
""")
def test_sample_errors(wrong: Refusal) -> None:
    """A bad outcome is refused where it enters, under its own name."""
    wrong.by(sample)


SHORT = (
    "k must be at most the attempts at every case, got 3 with fewer at 1 of 2 cases "
    "(first: case 'parse' of model 'm' with 1); "
    'lower k or pass insufficient="nan" or "drop"'
)


NO_SAMPLES = "samples must be a non-empty sequence of CodeSample"
OF_A_TABLE = "(of a table: code_report_from_columns(**table))"


@refusals("""
code_report([]) -> InputError: {NO_SAMPLES}, got ()
code_report({"case_id": ["a"]}) -> TypeError: {NO_SAMPLES} {OF_A_TABLE}, got {'case_id': ['a']}
code_report([SUITE[0], {}]) -> TypeError: samples[1] must be a CodeSample {OF_A_TABLE}, got {}
code_report(SUITE, k=()) -> InputError: k must be a non-empty sequence of integers, got ()
code_report(SUITE, k=(1, 0)) -> InputError: k[1] must be an integer >= 1, got 0
code_report(SUITE, insufficient="skip")
    -> InputError: insufficient must be one of 'raise', 'nan', 'drop', got 'skip'
code_report(SUITE, k=(3,)) -> InputError: {SHORT}
code_report(SUITE, k=(1, 3)) -> InputError: {SHORT}
code_report([*SUITE, sample("sort", "other")]).for_model("third")
    -> InputError: name must be a model of this report ('m', 'other'), got 'third'
code_report([EXTREME, EXTREME]) -> InputError: cost_usd of the samples must be numbers with a...
code_report_from_columns(model="m", passed={"a": 1}, quantiles=[95])
    -> InputError: quantiles[0] must be a number in [0, 1] (a share: 0.95 for 95 %), got 95
CodeReport.from_json({}) -> TypeError: text must be a string, got {}
CodeReport(models=(), cases=TWICE)
    -> InputError: case_id and model of cases[1] must be unlike...
CodeReport(models=(), cases=(3,)) -> TypeError: cases[0] must be a CaseStatistics, got 3
attrs.evolve(TWICE[0], scores=(2.0,) * TWICE[0].n_samples)
    -> InputError: scores must be numbers in [0, 1], got (2.0...
""")
def test_report_errors(wrong: Refusal) -> None:
    """The caller learns which argument, and for short cases which case."""
    wrong.by_itself()


TWICE = (code_report(SUITE).cases[0],) * 2
EXTREME = sample("a", cost_usd=1e308, latency_seconds=1e308)
GOOD = code_report(SUITE).to_json()


@refusals("""
GOOD[:-10] -> InputError: text must be a whole JSON document, not a path to one (...
"" -> InputError: text must be a whole JSON document, not a path to one (...
"[" * 100_000 -> InputError: text must be a whole JSON document, not a path to one (...
"[1]" -> InputError: text must be a JSON object of kind CodeReport, got '[1]'...
"{}" -> InputError: kind of the result must be 'CodeReport', got None...
GOOD.replace('"version": 2', '"version": 7')
    -> InputError: version of the result must be 2 (a newer scorekit wrote it), got 7...
GOOD.replace("CodeReport", "SqlReport")
    -> InputError: kind of the result must be 'CodeReport', got 'SqlReport'...
GOOD.replace("0.74", "NaN")
    -> InputError: text must be a whole JSON document, not a path to one (the number NaN...
GOOD.replace("0.74", "7.4")
    -> InputError: CodeReport.cases.scores[1] must be a number in [0, 1] (a share: 0.074 for
    7.4 %), got 7.4...
GOOD.replace('"n_correct": [1', '"n_correct": [9', 1)
    -> InputError: CodeReport.cases.n_correct[0] must be an integer in [0, n_samples = 3], got
    9...
GOOD.replace('"n_samples": [3', '"n_samples": [4')
    -> InputError: CodeReport.cases.scores must be a list of 5 numbers, got...
GOOD.replace("0.74", '"nan"')
    -> InputError: CodeReport.cases.scores[1] must be a number in [0, 1], got 'nan'...
GOOD.replace("0.74", "1" + 400 * "0")
    -> InputError: CodeReport.cases.scores[1] must be a number in [0, 1], got 1000...
GOOD.replace("0.74", 5000 * "1")
    -> InputError: text must be a whole JSON document, not a path to one (Exceeds the limit...
GOOD.replace('"parse"', '"sort"')
    -> InputError: case_id and model of cases[1] must be unlike those of all others, got
    ('sort', 'm')...
GOOD.replace('"n_samples": [3', '"n_samples": [0')
    -> InputError: CodeReport.cases.n_samples[0] must...
GOOD.replace('"sort"', "null")
    -> InputError: CodeReport.cases.case_id[0] must be a non-empty string...
GOOD.replace('"case_id": ["sort", "parse"]', '"case_id": "sort"')
    -> InputError: CodeReport.cases.case_id must be a list, got 'sort'...
GOOD.replace('"scores": [1.0, 0.74, 0.0, 1.0]', '"scores": 1')
    -> InputError: CodeReport.cases.scores must be a list, got 1...
GOOD.replace('"of_case": [0, 0]', '"of_case": [0, 9]')
    -> InputError: CodeReport.cases.model.of_case must be places among 1 in distinct, got 9...
GOOD.replace('"distinct": ["m"]', '"distinct": "m"')
    -> InputError: CodeReport.cases.model.distinct must be a list, got 'm'...
GOOD.replace('"distinct": ["m"]', '"distinct": [3]')
    -> InputError: CodeReport.cases.model must be a non-empty string, got 3...
GOOD.replace('"distinct": ["m"], ', "")
    -> InputError: CodeReport.cases.model must be a mapping of 'distinct' and 'of_case', got
    {...
GOOD.replace('"mean_score": null, ', "")
    -> InputError: CodeReport.cases must have the key 'mean_score', got...
GOOD.replace('"mean_score": null, ', '"mean": null, ')
    -> InputError: CodeReport.cases must be a mapping with no keys but case_id, model,
    pass_at_k,...
json.dumps(json.loads(GOOD) | {"cases": [1]})
    -> InputError: CodeReport.cases must be a mapping of columns, got [1]...
GOOD.replace('"cases"', '"models": [], "cases"')
    -> InputError: text must be a whole JSON document, not a path to one (the key 'models'
    twice in one...
GOOD.replace('"version": 2', '"version": true')
    -> InputError: version of the result must be 2, got True...
""")
def test_a_damaged_file_says_what_is_wrong(wrong: Refusal) -> None:
    """Truncated, foreign, of another version, edited by hand."""
    wrong.by_value(CodeReport.from_json)


def test_cases_read_as_a_tuple() -> None:
    """They are kept as columns, which equal, hash, print, cut and pickle as the tuple does."""
    report = code_report([*SUITE, sample("sort", "other", passed=1)], k=(1, 3), insufficient="nan")
    cases = tuple(report.cases)
    assert all(type(case) is CaseStatistics for case in cases)
    assert report.cases == cases == report.cases
    assert report.cases != list(cases)  # type: ignore[comparison-overlap]
    assert (hash(report.cases), repr(report.cases)) == (hash(cases), repr(cases))
    assert (len(report.cases), report.cases[-1], report.cases[1:]) == (3, cases[-1], cases[1:])
    assert report.cases.index(cases[2]) == 2
    by_hand = CodeReport(models=report.models, cases=cases, ruler=report.ruler)
    assert (by_hand, hash(by_hand)) == (report, hash(report))
    assert by_hand.to_json() == report.to_json()
    assert pickle.loads(pickle.dumps(report)) == report
    assert attrs.evolve(report, models=()).cases == cases
    assert CodeReport(models=(), cases=()).cases == ()
    assert CodeReport.from_json(CodeReport(models=(), cases=()).to_json()).cases == ()
    with pytest.raises(IndexError):
        report.cases[3]


def test_a_mean_by_hand_is_kept() -> None:
    """A report may say of a case what its scores do not."""
    report = code_report(SUITE)
    odd = attrs.evolve(report, cases=[attrs.evolve(c, mean_score=0.125) for c in report.cases])
    assert [case.mean_score for case in odd.cases] == [0.125, 0.125]
    assert CodeReport.from_json(odd.to_json()) == odd
    assert odd != report


def test_costs_and_latencies_near_the_end_of_the_floats() -> None:
    """A mean always lies within."""
    assert code_report([EXTREME]).models[0].total_cost_usd == 1e308
    cheap = attrs.evolve(EXTREME, cost_usd=None)
    assert code_report([cheap, cheap]).models[0].mean_latency_seconds == 1e308


def test_means_of_a_model_have_intervals_over_its_cases() -> None:
    """Oracle: the public interval of the means of cases; of costs, with the cases as clusters."""
    report = code_report_from_columns(
        case_id=["sort", "sort", "parse", "parse", "plan"],
        model="m",
        compiled=[True, True, False, True, True],
        passed=[2, 1, 0, 3, 4],
        failed=[0, 1, 0, 1, 0],
        cost_usd=[0.1, 0.3, None, 0.2, 0.7],
        confidence_level=0.9,
    )
    (model,) = report.models
    assert set(model.intervals) == {"code_score", "compilation_rate", "test_pass_rate", "cost_usd"}
    by_case = {
        "code_score": [case.mean_score for case in report.cases],
        "compilation_rate": [1.0, 0.5, 1.0],
        "test_pass_rate": [0.75, 0.375, 1.0],
    }
    for name, values in by_case.items():
        expected = mean_interval(values, bounds=(0, 1), confidence_level=0.9)
        assert model.intervals[name] == expected
    assert model.intervals["cost_usd"] == mean_interval(
        [0.1, 0.3, 0.2, 0.7],
        bounds=(0, math.inf),
        clusters=["s", "s", "p", "l"],
        weights="attempts",
        confidence_level=0.9,
    )
    (alone,) = code_report([sample()]).models
    assert ends(alone.intervals["code_score"]) == (0, 1)


def test_failures_come_worst_first() -> None:
    """Cases with a wrong attempt, by the share of correct ones, then by their score."""
    report = code_report(
        CodeSample(case_id=case, model="a<b", compiled=n >= 0, passed=max(n, 0), failed=4 - n)
        for case, passed in {"all": [4], "none": [1, 0], "half": [4, 3], "low": [-1]}.items()
        for n in passed
    )
    failures = report.failures()
    assert [case.case_id for case in failures] == ["low", "none", "half"]
    assert str(failures).splitlines()[1:] == [
        "case none, model a<b, correct 0 of 2, mean code score 0.5625, scores 0.5 to 0.625",
        "case half, model a<b, correct 1 of 2, mean code score 0.9375, scores 0.875 to 1",
    ]
    page = report._repr_html_()
    assert "a&lt;b: pass@1 = 0.38 [" in page
    assert "Worst of 3 cases with a wrong attempt" in page
    assert "a<b" not in page
    right = code_report([sample(passed=1)])
    assert right.failures() == ()
    assert "Worst" not in right._repr_html_()


def test_flags_are_shown_without_what_was_not_measured() -> None:
    """No code score, compilation or tests stand beside pass@1, which says it all."""
    report = code_report_from_columns(
        case_id=["a", "a", "b", "c"], model="m", passed=[True, False, False, True], cost_usd=0.5
    )
    assert report.only_flags
    assert re.fullmatch(
        r"m: pass@1 = 0\.50 \[.*\], 0\.5 USD an attempt \(95 %, 4 .* 3 cases\)", str(report)
    )
    timed = attrs.evolve(report.models[0], mean_latency_seconds=2.5)
    assert ", 0.5 USD and 2.5 seconds an attempt (" in str(attrs.evolve(report, models=(timed,)))
    failures: Any = report.failures()
    lines = ["case b, model m, correct 0 of 1", "case a, model m, correct 1 of 2"]
    assert str(failures).splitlines() == lines
    assert str(failures[1:]) == lines[1]
    assert str(failures[:0]) == "none"
    assert failures == tuple(report.cases[i] for i in (1, 0))
    page = report._repr_html_()
    for shown in (page, failures._repr_html_()):
        for word in ("score", "compil", "tests passed", "test_pass"):
            assert word not in shown
    assert ">USD an attempt<" in page.partition("<details>")[0]
    assert ">total_cost_usd<" in page
    assert [*report.to_rows()[0]] == ["case_id", "model", "n_samples", "n_correct", "pass_at_1"]
    free = code_report_from_columns(case_id=["a"], model="m", passed=[True], cost_usd=0)
    assert ">total_cost_usd<" in free._repr_html_()  # measured, if nothing
    assert ">quantiles<" not in code_report_from_columns(model="m", passed={"a": 1})._repr_html_()
    models = tuple(attrs.evolve(one, only_flags=False) for one in report.models)
    graded = attrs.evolve(report, only_flags=False, models=models)
    assert "mean_score" in graded.to_rows()[0]
    assert ">compiled<" in graded._repr_html_()
    assert "mean code score" in str(graded.failures())


def test_quantiles_of_what_was_measured() -> None:
    """Over the attempts of a model; what was not measured is not there, whatever its place."""
    table: dict[str, Any] = {"case_id": list("abca"), "model": ["m", "m", "m", "other"]}
    table |= {"compiled": True, "cost_usd": [0.25, None, 0.75, None]}
    table["input_tokens"] = [10, 30, 20, 5]
    report = code_report_from_columns(**table)
    assert report.models[0].quantiles == {
        "cost_usd": {0.5: 0.5, 0.95: 0.725},
        "input_tokens": {0.5: 20.0, 0.95: 29.0},
    }
    assert report.models[1].quantiles == {"input_tokens": {0.5: 5.0, 0.95: 5.0}}
    assert CodeReport.from_json(report.to_json()) == report
    without = code_report_from_columns(**table, quantiles=())
    assert [model.quantiles for model in without.models] == [{}, {}]


def test_a_model_of_flags_shows_no_score_that_nobody_gave() -> None:
    """As the report itself does; the fields are there."""
    passed: dict[str, list[int]] = {"a": [1, 0], "b": [True]}
    flags = code_report_from_columns(model="m", passed=passed).models[0]
    assert flags.only_flags
    for text in (str(flags), flags._repr_html_()):
        assert "pass@1" in text
        assert "3 attempts at 2 cases" in text
        for name in ("mean_score", "compilation_rate", "test_pass_rate", "code_score", "only_"):
            assert name not in text
    assert "mean code score 0.875" in str(attrs.evolve(flags, only_flags=False))
    paid = code_report_from_columns(
        model="m", case_id=["a", "b"], passed=[True, False], cost_usd=[1, 2]
    )
    assert paid.models[0].quantiles["cost_usd"] == {0.5: 1.5, 0.95: 1.95}
    assert "cost_usd" in paid.models[0]._repr_html_()


def test_each_number_says_what_it_stands_on() -> None:
    """Of the tasks given, in every rendering; one task gives no interval over tasks."""
    passed: Any = {"a": [1] * 5, "b": [0, 0, 0, 0, None], "c": [0, 0, 0, 0, None]}
    report = code_report_from_columns(model="m", passed=passed, k=(1, 5), insufficient="drop")
    (one,) = report.models
    first, fifth = one.pass_at_k
    assert (first.n_tasks_used, first.n_tasks, fifth.n_tasks_used, fifth.n_tasks) == (3, 3, 1, 3)
    assert ends(fifth.interval) == (0.0, 1.0)
    assert one.unknown_bounds["pass@5"] == (1 / 3, 1.0)
    two = code_report_from_columns(
        case_id=list("abab"),
        model=list("mmoo"),
        passed=[[1] * 5, [0], [1] * 5, [0] * 5],
        k=(1, 5),
        insufficient="drop",
    )
    said = "1 of 3 tasks, between 0.33 and 1"
    bounds = (
        "between: all missing outcomes failed, and all passed, with pass@k 0 and 1 at tasks with"
    )
    apart = (
        "pass@5 stands on different tasks for each model, 1 task with 5 attempts of all; compare"
    )
    for drawn, words in ((report, said), (report, bounds), (two, bounds), (two, apart)):
        for text in (str(drawn), drawn.to_markdown(), drawn.to_latex(), drawn._repr_html_()):
            assert words in text
    assert "stands on" not in str(report) + str(code_report(SUITE, k=(1, 3), insufficient="nan"))
    assert CodeReport.from_dict(json.loads(report.to_json())) == report


@given(st.lists(st.lists(st.sampled_from([0, 1, None]), min_size=1, max_size=4), min_size=1))
def test_counts_and_bounds_hold_whatever_is_unknown(rows: list[list[int | None]]) -> None:
    """Oracle: every way that unknown outcomes may go, and tasks counted by hand."""
    assume(any(one is not None for row in rows for one in row))
    k = 2
    assume(max(sum(one is not None for one in row) for row in rows) >= k)
    passed = dict(enumerate(rows))
    try:
        report = code_report_from_columns(model="m", passed=passed, k=k, insufficient="drop")
    except InputError as error:
        assume("until the first pass" not in str(error))
        raise
    one = report.models[0].pass_at_k[0]
    known = [[x for x in row if x is not None] for row in rows]
    assert one.n_tasks == len(rows)
    assert one.n_tasks_used == sum(len(row) >= k for row in known)
    if one.n_tasks_used == 1 < len(rows):
        assert ends(one.interval) == (0.0, 1.0)
    for end, found in enumerate(report.models[0].unknown_bounds.get("pass@2", (one.score,) * 2)):
        wrong = [row.count(0) + (1 - end) * row.count(None) for row in rows]
        of_tasks = [
            1 - math.comb(n, k) / math.comb(len(row), k) if len(row) >= k else end
            for n, row in zip(wrong, rows, strict=True)
        ]
        assert found == pytest.approx(sum(of_tasks) / len(rows))


def test_a_mean_of_some_attempts_says_of_how_many() -> None:
    """A cost that was not measured is no 0."""
    report = code_report_from_columns(
        case_id=["a", "b", "c"], model="m", passed=[1, 0, 1], cost_usd=[0.5, None, 0.25]
    )
    assert "0.375 USD (2 of 3 measured) an attempt" in str(report)
    for table, mark in ((report.to_latex(), "$^{a}$"), (report.to_markdown(), "<sup>a</sup>")):
        assert f"0.375{mark}" in table
        assert f"{mark} 2 of 3 measured" in table
    assert report.models[0].n_measured == {"cost_usd": 2}
