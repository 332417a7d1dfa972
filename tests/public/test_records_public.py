"""Every public record, as real calls make it: a value that travels and can be shown."""
# mypy: disable-error-code="arg-type, list-item, call-overload, dict-item, union-attr"
# What NumPy, `decimal` and `fractions` have for numbers is taken, beyond what the hints say.

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
from scorekit.records import TableRecord

HOSTILE = '<script>"&\n\x00|`\ud800é'

SCORES = {"a": {"x": [1, 0], HOSTILE: 1}, HOSTILE: {"x": [0, 0], HOSTILE: 1}}
MODELS = scorekit.compare_models(SCORES)
PILOT = scorekit.variance_components({"a": [1, 0.5], "b": [0, 0.5], "c": [1]})
NUMBERS: Any = {"low": np.float32(0.5), "high": Decimal(1), "confidence_level": Fraction(1, 2)}
WEIGHTS = scorekit.CodeWeights(
    compilation=Decimal("0.5"), tests=Fraction(1, 4), clippy=np.float32(0.25)
)
MEASURED: Any = {"cost_usd": Decimal("0.1"), "latency_seconds": np.float32(0.5)}
MEASURED |= {"compiled": np.True_, "input_tokens": np.uint8(7)}
SAMPLES = [
    scorekit.CodeSample(
        case_id=case + HOSTILE, model=model, passed=np.int64(n), failed=i, **MEASURED
    )
    for model in ("a", HOSTILE)
    for case, n in (("sort", 2), ("parse", 0), ("merge", 1))
    for i in range(n + 1)
]
REPORT = scorekit.code_report(SAMPLES, k=(1, 2), insufficient="nan", weights=WEIGHTS)
LATER = scorekit.code_report(SAMPLES[:-3] + SAMPLES[:1], k=(1,), weights=WEIGHTS)
FAILED = scorekit.Run(run_id=HOSTILE, passed=False, impl_rate=0.25, cost_usd=1, duration_seconds=1)
PASSED = scorekit.Run(run_id="r", passed=np.True_, impl_rate=1, cost_usd=2, duration_seconds=0)
TIER_RUNS = {"T1": [PASSED], "T0": [FAILED], HOSTILE: [FAILED, PASSED]}
TIERS = [scorekit.tier_statistics(name, runs) for name, runs in TIER_RUNS.items()]

VERDICT = scorekit.Verdict(score=np.float32(0.5), reasoning=HOSTILE, cost_usd=Decimal("0.1"))
JUDGE = scorekit.judge_from_function(lambda _: VERDICT, identity=HOSTILE)
VALIDATED: Any = {"is_valid": np.True_, "safety_valid": np.False_, "should_pass": False}
VALIDATED |= {"errors": (HOSTILE,), "confidence": "low", "schema": {HOSTILE: {"a": "int"}}}
VALIDATED |= {"expected": ["SELECT 1", "SELECT 2"], "expected_tables": np.array(["t"])}
CASES = [
    scorekit.SqlCase(case_id=HOSTILE + str(i), generated=sql, question=HOSTILE, **VALIDATED)
    for i, sql in enumerate(["SELECT a FROM t", "SELECT 1;", HOSTILE])
]
SQL_REPORT = scorekit.score_sql_cases(CASES, judge=JUDGE)
REFUTED = scorekit.sql_equivalence(
    f"SELECT a FROM t WHERE a <> '{HOSTILE[:11]}'",
    "SELECT a FROM t",
    schema={"t": {"a": "text"}},
    dialect="sqlite",
)
assert REFUTED.counterexample is not None
AUDITED = scorekit.query_audit(f"SELECT a, '{HOSTILE[:11]}' FROM t GROUP BY b LIMIT 1")
UNREAD = scorekit.table_accuracy(HOSTILE, ["t"])
assert UNREAD.error is not None

RULED = scorekit.compare_reports(
    dict.fromkeys(range(8), 1),
    dict.fromkeys(range(8), 0.5),
    rulers=({HOSTILE: "a"}, {HOSTILE: "b"}),
    rescored=dict.fromkeys(range(6), 0.5),
).ruler
assert RULED is not None

CALIBRATION = scorekit.calibration_error([0.5, 0.7, 1], [True, False, np.True_])
MARGIN = scorekit.compare_reports({"a": 1, "b": 0}, {"a": 1, "b": 1}, margin=0.5).suite

MADE: list[scorekit.Record] = [
    scorekit.corrected_difference([1, 0, 1], [1, 1, 1], human_baseline=[1, 0, None],
        human_current=[1, 1, None]),
    scorekit.time_horizon([1, 60, 600], [True, True, False]),
    scorekit.review_threshold([0.9] * 80, [True] * 80, max_error=0.05),
    scorekit.rubric_score([[5, -4], [3]], [[True, None], [False]]),
    scorekit.tool_call_accuracy([("search", {"q": "a<b>"})], [("search", {})]),
    *CASES,
    VERDICT,
    scorekit.CachedJudge(JUDGE).stats,
    scorekit.ClaudeJudge(api_key="k").usage,
    scorekit.judge_prompt(scorekit.JudgeRequest(generated=HOSTILE, expected=HOSTILE)),
    scorekit.JudgeRequest(generated=HOSTILE, expected=HOSTILE, schema=HOSTILE),
    SQL_REPORT,
    SQL_REPORT.ruler,
    RULED,
    *RULED.effects.values(),
    *SQL_REPORT.cases,
    *SQL_REPORT.cases[0].metrics().values(),
    SQL_REPORT.scoring,
    SQL_REPORT.scoring.options,
    scorekit.compare_reports(SQL_REPORT, SQL_REPORT),
    scorekit.query_correctness("SELECT a", "SELECT b", judge=JUDGE),
    scorekit.query_correctness("SELECT a", "SELECT b"),
    scorekit.table_accuracy("SELECT 1 FROM t", ["u"]),
    AUDITED,
    *AUDITED.findings,
    REFUTED,
    REFUTED.counterexample,
    *REFUTED.counterexample.tables,
    scorekit.sql_equivalence(HOSTILE, HOSTILE),
    scorekit.result_accuracy([(HOSTILE, math.nan)], [(b"\xff", None)]),
    UNREAD,
    UNREAD.error,
    scorekit.safety_validation(safety_valid=np.True_, should_pass=False),
    scorekit.safety_summary([scorekit.safety_validation(safety_valid=True, should_pass=False)]),
    scorekit.validation_accuracy(is_valid=False, should_pass=True, errors=[HOSTILE]),
    scorekit.confidence_calibration({"high": (18, 20), "low": (3, 10)}),
    *scorekit.confidence_calibration({"high": (18, 20), "low": (3, 10)}).levels,
    CALIBRATION,
    *CALIBRATION.bins[-2:],
    scorekit.judge_agreement([1, 0.5, True], [1, 0, 0.5], weights="quadratic"),
    scorekit.judge_agreement([1, 1], [True, True]),
    scorekit.corrected_mean(judge_labeled=[1, 0], human=[1, 1], judge_unlabeled=np.array([1, 0])),
    WEIGHTS,
    scorekit.code_score(compiled=True, passed=1, failed=2, weights=WEIGHTS),
    *SAMPLES[:2],
    REPORT,
    *REPORT.models,
    *REPORT.cases,
    scorekit.compare_reports(REPORT, LATER),
    scorekit.compare_reports({"only": 0.5, "gone": 1}, {"only": 0.25, "new": [True, 0]}),
    *scorekit.compare_reports(REPORT, LATER).removed_cases,
    scorekit.compare_reports({"only": 0.5}, {"only": 0.25}).suite,
    MARGIN,
    scorekit.mcnemar_test(n_pass_to_fail=np.int64(12), n_fail_to_pass=3),
    scorekit.mcnemar_test(n_pass_to_fail=0, n_fail_to_pass=0),
    scorekit.paired_difference([1, np.float64(0.5), True], [0, 0.3, 1], clusters=[1, 1, HOSTILE]),
    scorekit.paired_difference([1], [0]),
    scorekit.cost_of_pass_from_columns(cost_usd=[Decimal("0.5"), 1], passed=[np.True_, 0], seed=1),
    scorekit.cost_of_pass_from_columns(cost_usd=[0.5], passed=[False]),
    *scorekit.compare_reports({"a": [1, 1]}, {"a": [0, 0]}).regressions,
    scorekit.Interval(low=-math.inf, high=math.inf, confidence_level=0.5, method="none"),
    scorekit.Interval(**{**NUMBERS, "method": "by hand"}),
    scorekit.pass_at_k(n_samples=10, n_correct=3, k=5),
    scorekit.pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=5, insufficient="nan"),
    scorekit.pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=5, insufficient="drop"),
    scorekit.pass_hat_k(n_samples=[10, 4], n_correct=[3, 4], k=4, clusters=[HOSTILE, HOSTILE]),
    scorekit.best_at_k([[0.5, np.float32(1.0)], [Fraction(1, 3)]], k=2, insufficient="nan"),
    scorekit.best_at_k([0.5, Decimal("0.25")], k=2),
    scorekit.majority_at_k([HOSTILE, 0, HOSTILE], correct=HOSTILE, k=np.int64(2)),
    scorekit.g_pass_at_k(n_samples=np.int64(10), n_correct=3, k=4, tau=Fraction(1, 3)),
    scorekit.g_pass_at_k(n_samples=[3], n_correct=[3], k=4, insufficient="nan"),
    *scorekit.g_pass_at_k(n_samples=[4, 4], n_correct=[3, 2], k=2, tau=[np.float32(0.5), "mean"]),
    scorekit.extrapolate_pass_at_k(n_samples=[10, 4], n_correct=[3, 4], k=50),
    scorekit.compare_reports({"a": [1, 0.5], "b": 1}, {"a": 0, HOSTILE: 1}, margin=0.5,
        anytime=True),
    PILOT,
    scorekit.variance_components({HOSTILE: [[np.float32(0.5), 1]], "b": [[1], [Fraction(1, 3)]]}),
    PILOT.plan(prices={"task": Decimal("0.5"), "attempt": np.int64(1)}, budget=20),
    scorekit.required_tasks(effect=Fraction(1, 5), anytime=np.True_),
    scorekit.describe([Fraction(1, 3), 2**70]),
    scorekit.letter_grade(0.9, scale=[(HOSTILE, HOSTILE, 0.5), ("b", "", 0)]),
    scorekit.score_sql_cases([scorekit.SqlCase(case_id=HOSTILE, generated="SELECT a FROM t",
        expected="SELECT b FROM t")]).judge_cost(price=scorekit.PRICES["gpt-4o"]),
    scorekit.ModelPrice(input_usd_per_million=Decimal("0.1"), output_usd_per_million=0),
    FAILED,
    PASSED,
    scorekit.score_run(FAILED),
    *TIERS,
    scorekit.cross_tier(TIERS),
    scorekit.cross_tier(TIERS[1:2]),
    MODELS,
    *MODELS.pairs,
    scorekit.bradley_terry({("a", HOSTILE): 3, (HOSTILE, "a"): 1}),
    scorekit.bradley_terry({("a", HOSTILE): 3, (HOSTILE, "a"): 1, (HOSTILE, "last"): 2}),
    scorekit.rater_agreement([[HOSTILE, "b", None], [HOSTILE, "b", "b"]], scale="nominal"),
    scorekit.unpaired_difference([np.float32(1), Fraction(1, 2), 0], [True, 0]),
    scorekit.readers.json_lines(
        [{"id": HOSTILE, "s": 0.5, "m": HOSTILE}, {"id": "b", "s": None, "m": HOSTILE}],
        case_id="id", score="s", model="m", published={"mean": 0.5},
    ),
]  # fmt: skip
TOPICS = {f"scorekit.{path.stem}" for path in Path(scorekit.__file__).parent.glob("[!_]*.py")}
IDS = [f"{type(record).__name__}-{i}" for i, record in enumerate(MADE)]


def test_none_is_forgotten() -> None:
    """Every public record is among those made here, and a NaN."""
    assert {type(record) for record in MADE} == {*RECORDS.values()}
    assert "nan" in REPORT.to_json()


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_a_copy_is_equal_and_hashes_alike(record: scorekit.Record) -> None:
    """Workers send records by pickle, files keep them as strict JSON; a NaN is no exception."""
    text, kind = json.dumps(record.to_dict(), allow_nan=False), type(record)
    copies = [
        *(pickle.loads(pickle.dumps(record)), copy.deepcopy(record)),
        *map(kind.from_dict, (json.loads(text), record.to_dict())),
        kind.from_json(record.to_json()),
    ]
    assert copies == [record] * 5
    assert {*copies, record} == {record}
    assert json.dumps(copies[2].to_dict(), allow_nan=False) == text
    data = json.loads(record.to_json(), parse_constant=pytest.fail)
    assert (data["kind"], data["version"]) == (kind.__name__, record.version)


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_a_pickle_refers_to_public_modules_only(record: scorekit.Record) -> None:
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
def test_its_table_is_whole_and_holds_no_foreign_markup(record: scorekit.Record) -> None:
    """A notebook must not run what an evaluation was named."""
    page = record._repr_html_()
    tags = _Tags()
    tags.feed(page)
    assert not tags.open
    tables = {"table", "caption", "tr", "th", "td", "details", "summary"}
    assert tags.seen <= {*tables, "div", "b", "pre", "br", "wbr", "svg", "line", "circle"}


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_it_prints_for_people(record: scorekit.Record) -> None:
    """Short lines, none of them a raw `repr` of a record."""
    assert max(map(len, str(record).splitlines())) < 1200
    assert not any(f"{name}(" in str(record) for name in ("Interval", "Statistics", "MetricError"))


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_markdown_holds_no_foreign_markup(record: scorekit.Record) -> None:
    """Tables keep their columns, whatever a case or a model is called."""
    text = record.to_markdown()
    assert text.startswith("### ")
    assert "<script" not in re.sub("(?s)^(```+)$.*?^\\1$", "", text, flags=re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        bars = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
        assert len(bars) == 1
    assert text.isprintable() or all(line.isprintable() for line in text.splitlines())


@pytest.mark.parametrize("record", MADE, ids=IDS)
def test_its_tables_are_latex(record: scorekit.Record) -> None:
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
    report = scorekit.code_report_from_columns(
        model=name, passed={name: [True, False], "b": [True, True]}, cost_usd=0.5
    )
    run = scorekit.Run(run_id="r", passed=True, impl_rate=1, cost_usd=2, duration_seconds=0)
    for record in (
        scorekit.compare_reports(
            {"b": [1, 0] * 5, name: [1] * 10}, {"b": [1, 0] * 5, name: [0] * 10}
        ),
        report,
        scorekit.compare_models({name: scores, "b": scores}),
        scorekit.cross_tier([scorekit.tier_statistics(name, [run])], baseline=name),
        scorekit.bradley_terry({(name, "b"): 2, ("b", name): 1}),
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
    several = scorekit.g_pass_at_k(n_samples=[4, 4], n_correct=[3, 2], k=2, tau=[0.5, 1.0])
    model = scorekit.code_report(SAMPLES[:6], k=(1, 2), insufficient="nan").models[0]
    for found in (several, model.pass_at_k):
        page = found._repr_html_()
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
    wrong = scorekit.query_correctness(
        "SELECT COUNT(n) FROM t", "SELECT COUNT(*) FROM t", schema=schema
    )
    for result, text in (
        (wrong, "0 (refuted): generated returns (0), expected (1)"),
        (scorekit.table_accuracy("SELECT 1 FROM t", ["u"]), "0: missing u; unexpected t"),
        (scorekit.result_accuracy([(1,)], [(2,)]), "0: "),
        (scorekit.safety_validation(safety_valid=True, should_pass=False), "0: false negative"),
        (scorekit.validation_accuracy(is_valid=False, should_pass=True, errors=[]), "0: "),
        (scorekit.table_accuracy("SELECT (", ["u"]), "0 (output: parse): Incomplete Paren"),
    ):
        assert str(result).startswith(text)
        assert str(result) == str(result).rstrip(": ")
    assert str(scorekit.table_accuracy("SELECT 1 FROM t", ["t"])) == "1"


def test_no_model_is_crowned_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report of several models says what `compare_models` says."""
    close = scorekit.code_report_from_columns(
        case_id=[*range(40), *range(40)],
        model=["a"] * 40 + ["b"] * 40,
        passed=[True] * 20 + [False] * 20 + [True] * 21 + [False] * 19,
    )
    first = "best in pass@1: b or a; not told apart (95 %, 2 models over 40 tasks)"
    assert str(close).splitlines()[0] == first
    assert str(scorekit.compare_models(close)).splitlines()[0] == first
    assert first in close._repr_html_()
    apart = scorekit.code_report_from_columns(
        case_id=["x", "y"], model=["a", "b"], passed=[True, False]
    )
    assert str(apart).startswith("2 models without a task in common\n")
    monkeypatch.setattr("scorekit.reports.COMPARED", 79)  # a million cases are left to the caller
    head = "2 models; compare_models() says which may be the best"
    assert str(close).splitlines()[0] == head
