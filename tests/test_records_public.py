"""Every public record, as real calls make it: a value that travels and can be shown."""

from __future__ import annotations

import copy
import json
import math
import pickle
import pickletools
import re
from decimal import Decimal
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from record_types import RECORDS

import scorekit
from scorekit import (
    CachedJudge,
    ClaudeJudge,
    CodeReport,
    CodeSample,
    CodeWeights,
    Interval,
    JudgeRequest,
    ModelPrice,
    Record,
    Run,
    SqlCase,
    Verdict,
    best_at_k,
    bradley_terry,
    calibration_error,
    code_report,
    code_report_from_columns,
    code_score,
    compare_models,
    compare_reports,
    confidence_calibration,
    corrected_difference,
    corrected_mean,
    cost_of_pass_from_columns,
    cross_tier,
    describe,
    extrapolate_pass_at_k,
    g_pass_at_k,
    judge_agreement,
    judge_from_function,
    letter_grade,
    majority_at_k,
    mcnemar_test,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    query_audit,
    query_correctness,
    rater_agreement,
    required_tasks,
    result_accuracy,
    rubric_score,
    safety_summary,
    safety_validation,
    score_run,
    score_sql_cases,
    sql_equivalence,
    table_accuracy,
    tier_statistics,
    time_horizon,
    tool_call_accuracy,
    unpaired_difference,
    validation_accuracy,
    variance_components,
)
from scorekit.records import TableRecord

HOSTILE = '<script>"&\n\x00|`\ud800é'

MODELS = compare_models({"a": {"x": [1, 0], HOSTILE: 1}, HOSTILE: {"x": [0, 0], HOSTILE: 1}})
PILOT = variance_components({"a": [1, 0.5], "b": [0, 0.5], "c": [1]})
NUMBERS: Any = {"low": np.float32(0.5), "high": Decimal(1), "confidence_level": Fraction(1, 2)}
WEIGHTS = CodeWeights(compilation=Decimal("0.5"), tests=Fraction(1, 4), clippy=np.float32(0.25))  # type: ignore[arg-type]
SAMPLES = [
    CodeSample(
        case_id=case + HOSTILE,
        model=model,
        compiled=np.True_,  # type: ignore[arg-type]
        passed=np.int64(n),  # type: ignore[arg-type]
        failed=i,
        cost_usd=Decimal("0.1"),  # type: ignore[arg-type]
        latency_seconds=np.float32(0.5),  # type: ignore[arg-type]
        input_tokens=np.uint8(7),  # type: ignore[arg-type]
    )
    for model in ("a", HOSTILE)
    for case, n in (("sort", 2), ("parse", 0), ("merge", 1))
    for i in range(n + 1)
]
REPORT = code_report(SAMPLES, k=(1, 2), insufficient="nan", weights=WEIGHTS)
LATER = code_report(SAMPLES[:-3] + SAMPLES[:1], k=(1,), weights=WEIGHTS)
FAILED = Run(run_id=HOSTILE, passed=False, impl_rate=0.25, cost_usd=1, duration_seconds=1)
PASSED = Run(run_id="r", passed=np.True_, impl_rate=1, cost_usd=2, duration_seconds=0)  # type: ignore[arg-type]
TIERS = [tier_statistics("T0", [FAILED]), tier_statistics(HOSTILE, [FAILED, PASSED])]
TIERS[0:0] = [tier_statistics("T1", [PASSED])]

VERDICT = Verdict(score=np.float32(0.5), reasoning=HOSTILE, cost_usd=Decimal("0.1"))  # type: ignore[arg-type]
JUDGE = judge_from_function(lambda _: VERDICT, identity=HOSTILE)
CASES = [
    SqlCase(
        case_id=HOSTILE + str(i),
        generated=sql,
        expected=["SELECT 1", "SELECT 2"],
        expected_tables=np.array(["t"]),
        is_valid=np.True_,  # type: ignore[arg-type]
        safety_valid=np.False_,  # type: ignore[arg-type]
        should_pass=False,
        errors=(HOSTILE,),
        confidence="low",
        schema={HOSTILE: {"a": "int"}},
        question=HOSTILE,
    )
    for i, sql in enumerate(["SELECT a FROM t", "SELECT 1;", HOSTILE])
]
SQL_REPORT = score_sql_cases(CASES, judge=JUDGE)
REFUTED = sql_equivalence(
    f"SELECT a FROM t WHERE a <> '{HOSTILE[:11]}'",
    "SELECT a FROM t",
    schema={"t": {"a": "text"}},
    dialect="sqlite",
)
assert REFUTED.counterexample is not None
AUDITED = query_audit(f"SELECT a, '{HOSTILE[:11]}' FROM t GROUP BY b LIMIT 1")
UNREAD = table_accuracy(HOSTILE, ["t"])
assert UNREAD.error is not None

CALIBRATION = calibration_error([0.5, 0.7, 1], [True, False, np.True_])  # type: ignore[list-item]
MARGIN = compare_reports({"a": 1, "b": 0}, {"a": 1, "b": 1}, margin=0.5).suite
assert MARGIN.within_margin is not None

MADE: list[Record] = [
    corrected_difference([1, 0, 1], [1, 1, 1], human_baseline=[1, 0, None],
        human_current=[1, 1, None]),
    time_horizon([1, 60, 600], [True, True, False]),
    rubric_score([[5, -4], [3]], [[True, None], [False]]),
    tool_call_accuracy([("search", {"q": "a<b>"})], [("search", {})]),
    *CASES,
    VERDICT,
    CachedJudge(JUDGE).stats,
    ClaudeJudge(api_key="k").usage,
    JudgeRequest(generated=HOSTILE, expected=HOSTILE, schema=HOSTILE),
    SQL_REPORT,
    *SQL_REPORT.cases,
    *SQL_REPORT.cases[0].metrics().values(),
    SQL_REPORT.scoring,
    SQL_REPORT.scoring.options,
    compare_reports(SQL_REPORT, SQL_REPORT),
    query_correctness("SELECT a", "SELECT b", judge=JUDGE),
    query_correctness("SELECT a", "SELECT b"),
    table_accuracy("SELECT 1 FROM t", ["u"]),
    AUDITED,
    *AUDITED.findings,
    REFUTED,
    REFUTED.counterexample,
    *REFUTED.counterexample.tables,
    sql_equivalence(HOSTILE, HOSTILE),
    result_accuracy([(HOSTILE, math.nan)], [(b"\xff", None)]),
    UNREAD,
    UNREAD.error,
    safety_validation(safety_valid=np.True_, should_pass=False),  # type: ignore[arg-type]
    safety_summary([safety_validation(safety_valid=True, should_pass=False)]),
    validation_accuracy(is_valid=False, should_pass=True, errors=[HOSTILE]),
    confidence_calibration({"high": (18, 20), "low": (3, 10)}),
    *confidence_calibration({"high": (18, 20), "low": (3, 10)}).levels,
    CALIBRATION,
    *CALIBRATION.bins[-2:],
    judge_agreement([1, 0.5, True], [1, 0, 0.5], weights="quadratic"),
    judge_agreement([1, 1], [True, True]),
    corrected_mean(judge_labeled=[1, 0], human=[1, 1], judge_unlabeled=np.array([1, 0, 0.5])),
    WEIGHTS,
    code_score(compiled=True, passed=1, failed=2, weights=WEIGHTS),
    *SAMPLES[:2],
    REPORT,
    *REPORT.models,
    *REPORT.cases,
    compare_reports(REPORT, LATER),
    compare_reports({"only": 0.5, "gone": 1}, {"only": 0.25, "new": [True, 0]}),
    *compare_reports(REPORT, LATER).removed_cases,
    compare_reports({"only": 0.5}, {"only": 0.25}).suite,
    MARGIN,
    MARGIN.within_margin,
    mcnemar_test(n_pass_to_fail=np.int64(12), n_fail_to_pass=3),  # type: ignore[arg-type]
    mcnemar_test(n_pass_to_fail=0, n_fail_to_pass=0),
    paired_difference([1, np.float64(0.5), True], [0, 0.3, 1], clusters=[1, 1, HOSTILE]),
    paired_difference([1], [0]),
    cost_of_pass_from_columns(cost_usd=[Decimal("0.5"), 1], passed=[np.True_, 0], seed=1),  # type: ignore[list-item]
    cost_of_pass_from_columns(cost_usd=[0.5], passed=[False]),
    *compare_reports({"a": [1, 1]}, {"a": [0, 0]}).regressions,
    Interval(low=-math.inf, high=math.inf, confidence_level=0.5, method="none"),
    Interval(**{**NUMBERS, "method": "by hand"}),
    pass_at_k(n_samples=10, n_correct=3, k=5),
    pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=5, insufficient="nan"),
    pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=5, insufficient="drop"),
    pass_hat_k(n_samples=[10, 4], n_correct=[3, 4], k=4, clusters=[HOSTILE, HOSTILE]),
    best_at_k([[0.5, np.float32(1.0)], [Fraction(1, 3)]], k=2, insufficient="nan"),  # type: ignore[call-overload]
    best_at_k([0.5, Decimal("0.25")], k=2),  # type: ignore[arg-type]
    majority_at_k([HOSTILE, 0, HOSTILE], correct=HOSTILE, k=np.int64(2)),  # type: ignore[call-overload]
    g_pass_at_k(n_samples=np.int64(10), n_correct=3, k=4, tau=Fraction(1, 3)),  # type: ignore[call-overload]
    g_pass_at_k(n_samples=[3], n_correct=[3], k=4, insufficient="nan"),
    *g_pass_at_k(n_samples=[4, 4], n_correct=[3, 2], k=2, tau=[np.float32(0.5), "mean"]),  # type: ignore[list-item]
    extrapolate_pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=50),
    compare_reports({"a": [1, 0.5], "b": 1}, {"a": 0, HOSTILE: 1}, margin=0.5, anytime=True),
    PILOT,
    variance_components({HOSTILE: [[np.float32(0.5), True]], "b": [[1], [Fraction(1, 3)]]}),
    PILOT.plan(prices={"task": Decimal("0.5"), "attempt": np.int64(1)}, budget=20),  # type: ignore[dict-item]
    required_tasks(effect=Fraction(1, 5), anytime=np.True_),  # type: ignore[arg-type]
    describe([Fraction(1, 3), 2**70]),
    letter_grade(0.9, scale=[(HOSTILE, HOSTILE, 0.5), ("b", "", 0)]),
    ModelPrice(input_usd_per_million=Decimal("0.1"), output_usd_per_million=0),  # type: ignore[arg-type]
    FAILED,
    PASSED,
    score_run(FAILED),
    *TIERS,
    cross_tier(TIERS),
    cross_tier(TIERS[1:2]),
    MODELS,
    *MODELS.pairs,
    bradley_terry({("a", HOSTILE): 3, (HOSTILE, "a"): 1}),
    bradley_terry({("a", HOSTILE): 3, (HOSTILE, "a"): 1, (HOSTILE, "last"): 2}),
    rater_agreement([[HOSTILE, "b", None], [HOSTILE, "b", "b"]], scale="nominal"),
    unpaired_difference([np.float32(1), Fraction(1, 2), 0], [True, 0]),  # type: ignore[list-item]
]  # fmt: skip
TOPICS = {f"scorekit.{path.stem}" for path in Path(scorekit.__file__).parent.glob("[!_]*.py")}
IDS = [f"{type(record).__name__}-{i}" for i, record in enumerate(MADE)]


def test_none_is_forgotten() -> None:
    """Every public record is among those made here."""
    assert {type(record) for record in MADE} == {*RECORDS.values()}


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_a_copy_is_equal_and_hashes_alike(record: Record) -> None:
    """Workers send records by pickle, files keep them as strict JSON; a NaN is no exception."""
    text = json.dumps(record.to_dict(), allow_nan=False)
    copies = [
        pickle.loads(pickle.dumps(record)),
        copy.deepcopy(record),
        type(record).from_dict(json.loads(text)),
        type(record).from_dict(record.to_dict()),
    ]
    assert copies == [record] * 4
    assert {*copies, record} == {record}
    assert json.dumps(copies[2].to_dict(), allow_nan=False) == text


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_a_pickle_refers_to_public_modules_only(record: Record) -> None:
    """What is stored today must load after the machinery has moved."""
    operations = pickletools.genops(pickle.dumps(record, protocol=2))
    named = [str(value) for operation, value, _ in operations if operation.name == "GLOBAL"]
    ours = {name.split()[0] for name in named if name.startswith("scorekit")}
    assert type(record).__module__ in ours
    assert ours <= TOPICS


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        del attrs
        self.seen.add(tag)
        if tag not in ("br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_table_is_whole_and_holds_no_foreign_markup(record: Record) -> None:
    """A notebook must not run what an evaluation was named."""
    page = record._repr_html_()
    tags = _Tags()
    tags.feed(page)
    assert not tags.open
    tables = {"table", "caption", "tr", "th", "td", "details", "summary"}
    assert tags.seen <= {*tables, "div", "b", "pre", "br", "wbr", "svg", "line", "circle"}


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_it_prints_for_people(record: Record) -> None:
    """Short lines, none of them a raw `repr` of a record."""
    lines = str(record).splitlines()
    assert lines
    assert max(map(len, lines)) < 1200
    assert not any(f"{name}(" in str(record) for name in ("Interval", "Statistics", "MetricError"))


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_json_there_and_back(record: Record) -> None:
    """Any result can be kept in a file; what is written is strict JSON."""
    text = record.to_json()
    data = json.loads(text, parse_constant=pytest.fail)
    assert (data["kind"], data["version"]) == (type(record).__name__, record.version)
    assert type(record).from_json(text) == record


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_markdown_holds_no_foreign_markup(record: Record) -> None:
    """Tables keep their columns, whatever a case or a model is called."""
    text = record.to_markdown()
    assert text.startswith("### ")
    assert "<script" not in re.sub("(?s)^(```+)$.*?^\\1$", "", text, flags=re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        bars = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(bars) == 1
    assert text.isprintable() or all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_tables_are_latex(record: Record) -> None:
    """One cell for each column, everything that LaTeX reads as its own escaped."""
    if not isinstance(record, TableRecord):
        assert not hasattr(record, "to_latex")
        return
    text = record.to_latex()
    json.dumps(record.to_rows(), default=str)
    for kinds, body in re.findall(
        r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL
    ):
        rows = [line for line in body.splitlines() if line.endswith(r" \\")]
        plain = [line for line in rows if not line.startswith(r"\multicolumn")]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in plain} == {len(kinds) - 1}
        for row in rows:
            assert not re.search(r"(?<!\\)[%#_]", row)
            assert row.count("{") - 2 * row.count(r"\{") == row.count("}") - 2 * row.count(r"\}")


LONG = "name" * 2_500
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
AWKWARD = {
    "long": LONG,
    "right to left": HEBREW,
    "lines": "a\nb\r\nc",
    "latex": r"50 % \alpha_{1} & ~x^2 #1 $",
}


@pytest.mark.parametrize("name", AWKWARD.values(), ids=AWKWARD)
def test_awkward_names_break_no_rendering(name: str) -> None:
    """Ten thousand characters, another direction, line breaks, the markup of LaTeX."""
    scores = {"a": 1.0, name: 0.0, name + "2": 0.5}
    report = code_report_from_columns(
        model=name, passed={name: [True, False], "b": [True, True]}, cost_usd=0.5
    )
    run = Run(run_id="r", passed=True, impl_rate=1, cost_usd=2, duration_seconds=0)
    for record in (
        compare_reports({"b": [1, 0] * 5, name: [1] * 10}, {"b": [1, 0] * 5, name: [0] * 10}),
        report,
        compare_models({name: scores, "b": scores}),
        cross_tier([tier_statistics(name, [run])], baseline=name),
        bradley_terry({(name, "b"): 2, ("b", name): 1}),
    ):
        texts = (str(record), record.to_markdown(), record.to_latex())
        for text in texts:
            assert max(map(len, text.splitlines())) < 2_500
            assert all(line.isprintable() for line in text.splitlines())
        shown = name.splitlines()[0][:20]
        assert all(shown in text for text in texts) or "%" in name
        tags = _Tags()
        tags.feed(record._repr_html_())
        assert not tags.open
        assert type(record).from_json(record.to_json()) == record
        for row in record.to_latex().splitlines():
            if row.endswith(r" \\"):
                assert not re.search(r"(?<!\\)[%#_$](?!-\$|\d)", row.replace("$-$", "-"))


def test_several_results_are_a_table_in_a_notebook() -> None:
    """A list, or a mapping, of results is no wall of `repr`, and is a tuple all the same."""
    several = g_pass_at_k(n_samples=[4, 4], n_correct=[3, 2], k=2, tau=[0.5, 1.0])
    model = code_report(SAMPLES[:6], k=(1, 2), insufficient="nan").models[0]
    for found in (several, model.pass_at_k):
        page = found._repr_html_()  # type: ignore[union-attr]
        assert page.count("<tr>") == 1 + len(found)
        assert ">score</th>" in page
        assert found == tuple(found)
        assert str(found).count("\n") == len(found) - 1
        assert pickle.loads(pickle.dumps(found)) == found
    assert "[0," in str(model.intervals._repr_html_()) or "<td>" in str(
        model.intervals._repr_html_()
    )
    assert model.quantiles._repr_html_() is None


def test_a_single_result_says_why() -> None:
    """A score below 1 comes with its reason, whatever the metric."""
    schema = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)"
    wrong = query_correctness("SELECT COUNT(n) FROM t", "SELECT COUNT(*) FROM t", schema=schema)
    for result, text in (
        (wrong, "0 (refuted): generated returns (0), expected (1)"),
        (table_accuracy("SELECT 1 FROM t", ["u"]), "0: missing u; unexpected t"),
        (result_accuracy([(1,)], [(2,)]), "0: "),
        (safety_validation(safety_valid=True, should_pass=False), "0: false negative"),
        (validation_accuracy(is_valid=False, should_pass=True, errors=[]), "0: "),
        (table_accuracy("SELECT (", ["u"]), "0 (output: parse): Incomplete Paren"),
    ):
        assert str(result).startswith(text)
        assert str(result) == str(result).rstrip(": ")
    assert str(table_accuracy("SELECT 1 FROM t", ["t"])) == "1"


def test_no_model_is_crowned_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of several models says what `compare_models` says."""
    close = code_report_from_columns(
        case_id=[*range(40), *range(40)],
        model=["a"] * 40 + ["b"] * 40,
        passed=[True] * 20 + [False] * 20 + [True] * 21 + [False] * 19,
    )
    first = "may be the best in pass@1: b, a (95 %, 2 models over 40 tasks)"
    assert str(close).splitlines()[0] == first
    assert str(compare_models(close)).splitlines()[0] == first
    assert first in close._repr_html_()
    apart = code_report_from_columns(case_id=["x", "y"], model=["a", "b"], passed=[True, False])
    assert str(apart).startswith("2 models without a task in common\n")
    monkeypatch.setattr("scorekit.reports.COMPARED", 79)  # a million cases are left to the caller
    head = "2 models; compare_models() says which may be the best"
    assert str(close).splitlines()[0] == head


def test_reports_travel_whole() -> None:
    """An empty *k*, a NaN and hostile names survive a file."""
    assert "nan" in REPORT.to_json()
    assert CodeReport.from_json(REPORT.to_json()) == REPORT
