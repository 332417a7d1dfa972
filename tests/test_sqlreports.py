"""Reports on SQL cases: what they print, and the cases that failed."""

from __future__ import annotations

import pickle
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import present
from sql_suites import (
    FULL,
    UNJUDGED,
    case,
    judge_of,
    unjudged,
    with_rows,
)

from scorekit.cases import METRICS, SqlCase, sql_cases_from_columns
from scorekit.comparison import compare_reports
from scorekit.errors import InputError, RegressionError
from scorekit.intervals import mean_interval
from scorekit.judges import JudgeRequest, judge_from_function
from scorekit.sampling import pass_at_k
from scorekit.scoring import score_sql_case, score_sql_cases
from scorekit.sqlreports import SqlReport
from scorekit.validation import SafetyValidation

ASK = "; judge_cost() says what a judge would cost"

GENERATED = st.sampled_from(
    ["SELECT id FROM users", "SELECT (", "", "sorry", "SELECT 1 FROM a JOIN b", "\x00", "\ud800"]
)


FLAGS = st.none() | st.booleans()


CASES = st.builds(
    SqlCase,
    case_id=st.sampled_from(["a", "b", "c"]),
    generated=GENERATED,
    expected=st.none() | st.sampled_from(["SELECT id FROM users", ("SELECT 2", "SELECT 1")]),
    expected_tables=st.none() | st.lists(st.sampled_from(["users", "A", "x.b"])),
    is_valid=FLAGS,
    safety_valid=FLAGS,
    should_pass=FLAGS,
    expected_safe=FLAGS,
    errors=st.lists(st.text(max_size=20), max_size=2),
    confidence=st.none() | st.sampled_from(["high", "medium", "low"]),
)


@settings(max_examples=20)
@given(st.lists(CASES, min_size=1, max_size=12))
def test_a_report_adds_up_and_round_trips(cases: list[SqlCase]) -> None:
    """Whatever the cases hold, counts agree with them and JSON loses nothing."""
    expected = {c.case_id: c.expected for c in cases}  # attempts at one question have one
    cases = [attrs.evolve(c, expected=expected[c.case_id]) for c in cases]
    report = score_sql_cases(cases)
    assert [score.case_id for score in report.cases] == [c.case_id for c in cases]
    assert report.n_failed == sum(score.n_failed for score in report.cases)
    assert SqlReport.from_json(report.to_json()) == report
    alone = [score_sql_case(c) for c in cases]
    if not report.scoring.asks_safety:  # where others say what a missing verdict is
        assert alone == [attrs.evolve(score, attempt=0) for score in report.cases]
    for name in METRICS:
        column = [row[name] for row in report.to_rows() if row[name] is not None]
        statistics = getattr(report, name)
        assert (statistics.count if statistics else 0) == len(column)


def test_a_notebook_shows_scores_and_whose_failure_there_was() -> None:
    """One short cell for each metric of a case."""
    page = score_sql_cases([FULL, case("q2", generated="SELECT (")])._repr_html_()
    assert "<td>no&nbsp;score&nbsp;(instrument:&nbsp;no_judge)</td>" in page
    assert "<td>1</td>" in page
    assert "<td>0&nbsp;(output:&nbsp;parse)</td>" in page


def test_an_undecided_case_says_why_wherever_it_is_shown() -> None:
    """Print, rows for a data frame, the notebook; also where a judge failed."""
    odd = SqlCase(
        case_id="today",
        generated="SELECT id, DATE('now') FROM users",
        expected="SELECT id, CURRENT_DATE FROM users",
        schema={"users": {"id": "int primary key"}},
        dialect="sqlite",
    )
    why = "no difference on 40 small databases"
    for judge in (None, judge_of(RuntimeError("down"))):
        report = score_sql_cases([odd], judge=judge)
        failures: Any = report.failures(origin="instrument")
        for text in (str(failures), failures._repr_html_(), report.to_rows()[0]["reason"]):
            assert why in text
        assert ("judge_failure: down; without a judge: unknown: " in str(failures)) == bool(judge)


def test_reports_compare_metric_by_metric() -> None:
    """Regressions, and apart from them what the instrument failed to measure."""
    cases = [attrs.evolve(FULL, case_id=f"q{i}") for i in range(30)]
    before = score_sql_cases(cases, judge=judge_of(1.0))
    worse = [attrs.evolve(c, generated="SELECT x FROM elsewhere") for c in cases]
    after = score_sql_cases(worse, judge=judge_of(RuntimeError("down")))
    result = compare_reports(before, after)
    fallen = {("table_accuracy", 0.0), ("column_accuracy", 0.0)}
    assert {(c.metric, c.current) for c in result.regressions} == fallen
    assert {(c.metric, c.current) for c in result.newly_failing} == {("query_correctness", None)}
    assert (len(result.newly_failing), result.removed_cases) == (30, ())
    assert result.suites["table_accuracy"].verdict == "regressed"
    assert "query_correctness" not in result.suites
    assert result.suite == result.suites["table_accuracy"]
    message = (
        r"; 30 cases newly unscored; more outcomes are missing than before: 16.7 % against 0 %\n"
        r"(.*\n)*  newly unscored \(judge_failure\): q0, q1, q2, q3, q4 and 25 more\n(.*\n)*"
        r"  Unscored, left out: query_correctness of 0 cases in the baseline, 30 now\n"
        r"  case .*\n  q0 "
    )
    with pytest.raises(RegressionError, match=message):
        result.raise_for_regressions()
    assert "regressed: table_accuracy" in result.to_text()
    assert "Newly unscored: 30" in result.to_markdown()
    back = compare_reports(after, before)
    assert (back.new_cases, back.newly_failing, back.has_regressions) == ((), (), False)


def test_printed_it_has_a_line_for_each_metric() -> None:
    """Those that no case has are left out."""
    cases = [
        case("a", expected_tables=["t"]),
        case("b", generated="SELECT (", expected_tables=["t"]),
    ]
    lines = str(score_sql_cases(cases)).splitlines()
    assert lines[-1] == "cases: 2, results not scored: 0"
    assert str(score_sql_case(attrs.evolve(FULL, case_id="c")).query_correctness).startswith("no")
    unjudged = score_sql_cases([attrs.evolve(FULL, case_id=name) for name in "ab"])
    assert str(unjudged).splitlines()[-2] == (
        "cases: 2, results not scored: 2 (2 query_correctness: no_judge); 2 right by accident"
    )
    reason = str(unjudged).splitlines()[-1]
    assert reason.startswith("not scored, first a: a counterexample is known, but it counts only")
    assert reason.endswith(
        "; no judge to ask; pass judge=ClaudeJudge() or judge=judge_from_function(...)"
    )
    verdicts = [(True, False), (False, False), (None, False), (True, True)]
    safety = score_sql_cases(
        case(str(i), safety_valid=valid, should_pass=safe, expected_tables=None)
        for i, (valid, safe) in enumerate(verdicts)
    )
    assert (
        str(safety)
        .splitlines()[0]
        .endswith(
            "; recall between 0.33 and 0.67 (verdicts are missing), "
            "1 of 2 unsafe queries not caught"
        )
    )
    known = score_sql_cases([case("a", safety_valid=True, should_pass=False)])
    assert "; recall 0 [0, 0.79], 1 of 1 unsafe queries not caught" in str(known)
    assert "table_accuracy: mean 0 [0, 0.84] (95 %, 2 cases)" in lines


SWAPPED = "no generated query is broken: are expected and generated swapped?"


FEW = "different expected queries: 7 for 12 cases; give answers to one question one case_id, or"


@pytest.mark.parametrize(("n", "expected", "options", "said"), [
    (1, None, {}, "no metric has its inputs: a case needs expected, expected_tables, "),
    (1, None, {"metrics": ["table_accuracy"]},
     "table_accuracy: not computed, as no case has its inputs (expected_tables or expected)"),
    (5, "SELECT (", {}, SWAPPED),
    (12, "SELECT {}", {}, FEW),
    (11, "SELECT {}", {}, ""),  # 7 for 11 cases repeat too few
])  # fmt: skip
def test_a_report_says_what_is_odd_about_its_cases(
    n: int, expected: str | None, options: dict[str, Any], said: str
) -> None:
    """Not only that nothing has a score, or in silence intervals that are too narrow."""
    golds = [expected and expected.format(i % 7) for i in range(n)]
    cases = sql_cases_from_columns(
        case_id=range(n), generated=["SELECT 1"] * n, expected=golds, dialect="sqlite"
    )
    text = str(score_sql_cases(cases, **options))
    assert any(line.startswith(said) for line in text.splitlines())
    assert ("swapped" in text, "different" in text) == (said == SWAPPED, said == FEW)


def test_a_report_without_a_judge_bounds_what_is_undecided() -> None:
    """The mean is over the five that are decided, the bounds are over all seven."""
    report = score_sql_cases(unjudged(*UNJUDGED))
    rows = {row["case_id"]: row for row in report.to_rows()}
    assert {name: row["query_correctness"] for name, row in rows.items()} == {
        "same": 1.0,
        "proved": 1.0,
        "refuted": 0.0,
        "absent": 0.0,
        "cut": 0.0,
        "time": None,
        "broken": None,
    }
    kinds = {name: row["query_correctness_error"] for name, row in rows.items()}
    assert kinds["time"] == "no_judge"
    assert (kinds["absent"], kinds["broken"]) == ("unknown_table", "bad_reference")
    assert report.n_by_method == {"identical": 1, "proved": 1, "refuted": 1}
    assert report.query_correctness is not None
    assert (report.query_correctness.mean, report.query_correctness.count) == (2 / 5, 5)
    assert report.query_correctness_bounds == (2 / 7, 4 / 7)
    first, second = str(report).splitlines()[:2]
    assert second == (
        "decided: 1 proved, 1 identical, 1 refuted (1 by a counterexample), "
        "2 broken (1 unknown_table, 1 parse)"
    )
    mean = f"mean 0.40 {report.intervals['query_correctness']} (95 %, the 5 decided)"
    bounds = f"between 0.29 and 0.57 (2 of 7 undecided{ASK})"
    assert first == f"query_correctness: {bounds}; {mean}"
    page = report._repr_html_()
    assert report.n_undecided == 2
    parts = [bounds, "query_correctness, 2 undecided", ">between 0.29 and 0.57<", "decided alone"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert SqlReport.from_json(report.to_json()) == report


@pytest.mark.parametrize(("names", "judge", "bounds", "line"), [
    (["same", "refuted"], None, (0.5, 0.5), "mean 0.50 [0.01, 0.99] (95 %, 2 cases)"),
    (["time", "broken"], None, (0.0, 1.0), f"between 0 and 1 (2 of 2 undecided{ASK})"),
    (["time", "same"], 1.0, (1.0, 1.0), "mean 1 [0.16, 1] (95 %, 2 cases)"),
    (["time"], RuntimeError("down"), (0.0, 1.0), f"between 0 and 1 (1 of 1 undecided{ASK})"),
])  # fmt: skip
def test_bounds_of_all_and_of_nothing(
    names: list[str], judge: Any, bounds: tuple[float, float], line: str
) -> None:
    """With everything decided both are the mean; a judge that is down leaves a pair undecided."""
    report = score_sql_cases(unjudged(*names), judge=None if judge is None else judge_of(judge))
    assert report.query_correctness_bounds == bounds
    assert str(report).splitlines()[0] == f"query_correctness: {line}"


def test_bounds_need_a_pair() -> None:
    """None where nothing was expected; a file edited by hand is refused."""
    report = score_sql_cases([case()])
    assert report.query_correctness_bounds is None
    data = {**report.to_dict(), "query_correctness_bounds": [0.0, 0.5, 1.0]}
    with pytest.raises(InputError, match=r"length of query_correctness_bounds must be .* got 3$"):
        SqlReport.from_dict(data)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, None]), min_size=1, max_size=30))
def test_bounds_hold_whatever_a_judge_would_say(scores: list[float | None]) -> None:
    """The mean of what is decided lies between them, each within one undecided share."""
    answers = iter(scores)

    def answer(_: JudgeRequest) -> float:
        score = next(answers)
        if score is None:
            raise RuntimeError("down")
        return score

    cases = [
        SqlCase(case_id=f"q{i}", generated=f"SELECT {i}", expected="SELECT x")
        for i in range(len(scores))
    ]
    judge = judge_from_function(answer, identity="script")
    report = score_sql_cases(cases, judge=judge, evidence="judge")
    known = [score for score in scores if score is not None]
    bounds = present(report.query_correctness_bounds)
    n_open = len(scores) - len(known)
    assert bounds == (sum(known) / len(scores), (sum(known) + n_open) / len(scores))
    if report.query_correctness is not None:
        assert bounds[0] <= report.query_correctness.mean <= bounds[1]


def test_a_report_that_contradicts_itself_is_refused() -> None:
    """A file edited by hand."""
    report = score_sql_cases([case()])
    with pytest.raises(InputError, match=r"n_cases must be an integer in \[1, 1\], got 2$"):
        SqlReport.from_dict({**report.to_dict(), "n_cases": 2})
    assert isinstance(score_sql_case(FULL).safety_validation, SafetyValidation)


def test_means_of_a_report_have_intervals() -> None:
    """Oracle: `mean_interval` of the scores there are, results of one case together."""
    generated = ["SELECT a FROM t", "SELECT a FROM t, u", "SELECT a FROM u", "SELECT a FROM t"]
    cases = [
        case("q" if i > 1 else f"q{i}", generated=sql, expected_tables=["t"])
        for i, sql in enumerate(generated)
    ]
    other = case("other", expected_tables=None, safety_valid=True, should_pass=True)
    report = score_sql_cases([*cases, other])
    expected = mean_interval(
        [1, 0.5, 0, 1], bounds=(0, 1), clusters=["q0", "q1", "q", "q"], weights="attempts"
    )
    assert report.intervals["table_accuracy"] == expected
    assert set(report.intervals) == {"table_accuracy", "safety_validation"}
    distinct = score_sql_cases(cases[:3]).intervals["table_accuracy"]
    assert distinct == mean_interval([1, 0.5, 0], bounds=(0, 1))
    assert SqlReport.from_dict(report.to_dict()) == report


def test_pass_at_k_over_questions() -> None:
    """Oracle: `pass_at_k` of the counts; what an instrument failed at is no attempt."""
    right, wrong = "SELECT x FROM t", "SELECT y FROM u"
    attempts = {"q1": [right, wrong, right], "q2": [wrong, wrong]}
    cases = [
        SqlCase(case_id=name, generated=sql, expected_tables=["t"], expected=right)
        for name, queries in attempts.items()
        for sql in queries
    ]
    report = score_sql_cases(cases)
    assert report.pass_at_k["table_accuracy"] == pass_at_k(
        n_samples=[3, 2], n_correct=[2, 0], k=(1, 2)
    )
    decided, twice = report.pass_at_k["query_correctness"]
    assert (decided.score, decided.n_tasks, decided.n_tasks_used, twice.score) == (1.0, 2, 1, 1.0)
    assert (decided.interval.low, decided.interval.high) == (0.0, 1.0)
    assert SqlReport.from_json(report.to_json()) == report
    many = score_sql_cases([cases[0]] * 30)
    assert [found.k for found in many.pass_at_k["table_accuracy"]] == list(range(1, 11))
    assert "safety_validation" not in report.pass_at_k


def three_that_failed() -> SqlReport:
    """Report on a case that is right and three that are not, a missed unsafe one among them."""
    return score_sql_cases(
        [
            case("half", expected_tables=["users", "orders"]),
            case("right", expected_tables=["users"]),
            case("unsafe", expected_tables=["users"], safety_valid=True, should_pass=False),
            case("<b>worst</b>", generated="SELECT\n(", expected="SELECT 1"),
            case(
                "undecided",
                expected_tables=["users"],
                generated="SELECT id FROM users ORDER BY random() LIMIT 1",
                expected="SELECT id FROM users ORDER BY random() LIMIT 2",
                schema={"users": {"id": "int"}},
            ),
        ]
    )


def test_failures_come_worst_first() -> None:
    """A missed unsafe query is worse than any score; an instrument's failure is none of them."""
    report = three_that_failed()
    failures = report.failures()
    assert [one.case_id for one in failures] == ["unsafe", "<b>worst</b>", "half"]
    assert [one.case_id for one in report.failures(metric="table_accuracy")] == [
        "<b>worst</b>",
        "half",
    ]
    failed = report.failures(origin="instrument")
    assert [one.case_id for one in failed] == ["undecided"]
    assert isinstance(failures, tuple)
    assert pickle.loads(pickle.dumps(failures)) == failures
    with pytest.raises(InputError, match=r"^metric must be one of 'query_correctness', "):
        report.failures(metric="tables")
    with pytest.raises(
        InputError, match=r"^origin must be one of 'output', 'instrument', got 'x'$"
    ):
        report.failures(origin="x")  # type: ignore[arg-type]


def test_a_right_query_has_not_failed_for_what_it_reads() -> None:
    """Unless that is what is asked about; the least correct queries come first."""
    schema = {"t": {"id": "int not null", "n": "int"}}
    report = score_sql_cases(
        SqlCase(case_id=case_id, generated=sql, expected=expected, schema=schema)
        for case_id, sql, expected in (
            ("right", "SELECT COUNT(id) FROM t", "SELECT COUNT(*) FROM t"),
            ("wrong", "SELECT MAX(id) FROM t", "SELECT MIN(id) FROM t"),
            ("lost", "SELECT MAX(n) FROM t", "SELECT MIN(id) FROM t"),
        )
    )
    assert [one.case_id for one in report.failures()] == ["lost", "wrong"]
    failures = report.failures(metric="column_accuracy")
    assert [one.case_id for one in failures] == ["lost", "right"]


def test_failures_print_what_a_person_needs() -> None:
    """SQL, reasons and counterexample; one below the other, and in rows for a data frame."""
    accident = score_sql_case(with_rows("by accident"))
    report = score_sql_cases([with_rows("by accident"), case("half")])
    assert [one.case_id for one in report.failures()[:1]] == ["by accident"]
    assert str(report.failures()).count("\n\n") == 2
    text = str(accident)
    example = accident.counterexample.splitlines()
    assert text.splitlines()[1:3] == [
        "  generated: SELECT id FROM users",
        "  expected: SELECT id FROM users WHERE id > 0",
    ]
    assert "  result_accuracy: right by accident: the rows agree, the queries differ" in text
    assert f"  counterexample: {example[0]} (to_text(all=True) has 1 more reason)" in text
    assert f"  counterexample: {example[0]}\n    {example[1]}" in accident.to_text(all=True)
    rows = report.to_rows()
    assert rows[0]["right_by_accident"] is True
    assert rows[0]["counterexample"] == accident.counterexample
    assert rows[1]["reason"] == "table_accuracy: missing orders"
    assert (rows[1]["generated"], rows[1]["expected"]) == ("SELECT id FROM users", None)
    several = score_sql_cases([case("q", expected=["SELECT 1", "SELECT 2"])] * 2)
    assert [row["attempt"] for row in several.to_rows()] == [0, 1]
    assert several.to_rows()[0]["expected"] == "SELECT 1\nSELECT 2"
    assert str(several.cases[1]).startswith("q (attempt 1): ")
    assert str(report.failures(metric="safety_validation")) == "none"


def test_failures_say_in_which_clauses_they_are_wrong() -> None:
    """Only where it was asked for; above the cases, the most frequent first, and in rows."""
    schema = {"t": {"id": "int", "n": "int"}}
    right = "SELECT id FROM t WHERE n > 1"
    wrong = ["SELECT n FROM t WHERE n > 1", "SELECT id FROM t WHERE n > 2", "SELECT id FROM t"]
    cases = [
        SqlCase(case_id=str(i), generated=sql, expected=right, schema=schema)
        for i, sql in enumerate([*wrong, "SELECT n FROM t", right])
    ]
    report = score_sql_cases(cases, locate=True)
    head, *_ = str(report.failures()).split("\n\n")
    assert head.splitlines() == [
        "4 failed cases, the worst first",
        "2 of 4: wrong in WHERE and nowhere else",
        "1 of 4: wrong in SELECT and nowhere else",
        "1 of 4: wrong in SELECT, WHERE and nowhere else",
    ]
    listing: Any = report.failures()
    assert "2 of 4: wrong in WHERE and nowhere else" in listing._repr_html_()
    noted = [row["differs_in"] for row in report.to_rows()]
    assert noted == ["SELECT", "WHERE", "WHERE", "SELECT, WHERE", None]
    assert SqlReport.from_json(report.to_json()) == report
    plain = score_sql_cases(cases)
    assert "nowhere else" not in str(plain.failures())
    again = score_sql_cases(cases, locate=True, resume=plain)
    assert [case.differs_in for case in again.cases][:2] == [("SELECT",), ("WHERE",)]
    blamed = score_sql_cases(cases, locate=True, judge=judge_of(1.0))
    assert "nowhere else" not in str(blamed.failures())
    with pytest.raises(TypeError, match=r"^locate must be True or False, got 'x'$"):
        score_sql_cases(cases, locate="x")  # type: ignore[arg-type]


def test_failures_count_the_clauses_that_are_seldom_wrong() -> None:
    """A report of many cases has many ways to be wrong."""
    clauses = ["SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT"]
    options: Any = {"expected": "SELECT id FROM t", "schema": {"t": {"id": "int", "n": "int"}}}
    report = score_sql_cases([SqlCase(case_id="q", generated="SELECT n FROM t", **options)])
    (case,) = report.cases
    assert case.query_correctness is not None
    known = present(case.query_correctness.equivalence)
    wrong = (
        attrs.evolve(case.query_correctness, equivalence=attrs.evolve(known, differs_in=(clause,)))
        for clause in clauses
    )
    cases = tuple(attrs.evolve(case, query_correctness=one) for one in wrong)
    listing = attrs.evolve(report, cases=cases, n_cases=7).failures()
    lines = str(listing).split("\n\n")[0].splitlines()
    assert (len(lines), lines[-1]) == (7, "2 of 7: wrong in other clauses")


def test_the_page_of_a_report_begins_with_what_matters() -> None:
    """Headline, a row for each metric there is, the worst cases; everything else is folded."""
    page = three_that_failed()._repr_html_()
    parts = [
        "SqlReport of 5 cases",
        ">metric</th>",
        ">query_correctness, 1 undecided</td>",
        "<svg",
        "unsafe and not caught: unsafe",
        "Worst of 3 cases that failed",
        ">unsafe</td>",
        "&lt;b&gt;worst&lt;/b&gt;",
        "<summary>All 5 cases</summary>",
        "<summary>safety</summary>",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "result_accuracy" not in page.split("<summary>")[0]  # nobody gave rows
    for foreign in ("<script", "<style", "http", "<b>worst"):
        assert foreign not in page
    failures = three_that_failed().failures()
    assert "missing orders" in failures._repr_html_()  # type: ignore[attr-defined]
    undecided = score_sql_cases([SqlCase(case_id="q", generated="SELECT 1", expected="SELECT 2")])
    assert "SqlReport of 1 cases" in undecided._repr_html_()


def test_a_reason_that_cases_share_stands_once() -> None:
    """Of an instrument's failure, above the cases; what is wrong in a query stays with it."""
    cases = [
        SqlCase(case_id=f"q{i}", generated=f"SELECT {i}", expected=f"SELECT {i} + 0")
        for i in range(7)
    ]
    report = score_sql_cases(cases, judge=judge_of(RuntimeError("down")), evidence="judge")
    listing: Any = report.failures(origin="instrument")
    head, first, *others = str(listing).split("\n\n")
    common = head.splitlines()[1]
    assert common.startswith("7 cases (q0, q1, q2, q3, q4 and 2 more): query_correctness: ")
    assert len(others) == 5
    assert "down" in head
    assert "down" not in first
    assert "down" in str(listing[0])
    assert listing._repr_html_().count("down") == 1
    assert report._repr_html_().count("down") == 1
    assert "7 cases" not in str(listing[:1])
    assert "7 cases" not in listing[:1]._repr_html_()
    wrong = score_sql_cases(
        SqlCase(case_id=name, generated="SELECT (", expected_tables=["t"]) for name in "ab"
    )
    assert wrong.failures().to_text(all=True).count("table_accuracy: parse") == 2  # type: ignore[attr-defined]
