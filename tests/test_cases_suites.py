"""Suites of SQL cases: options, tags, shards, and what a validator did not say."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import attrs
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import failure, present
from refusals import Refusal, refusals

from scorekit.cases import METRICS, SqlCase, sql_cases_from_columns
from scorekit.comparison import compare_reports
from scorekit.errors import InputError, RegressionError
from scorekit.judges import JudgeRequest, judge_from_function
from scorekit.results import result_accuracy
from scorekit.scoring import ascore_sql_case, score_sql_case, score_sql_cases
from scorekit.sqlreports import SqlReport
from scorekit.strategies import sql_cases
from scorekit.tables import extract_tables, table_accuracy
from scorekit.validation import safety_summary

SCHEMA = {"t": {"a": "int", "b": "int"}}


def case(case_id: str | int = "q", **changes: Any) -> SqlCase:
    """Return a case whose query gets its table right."""
    fields: dict[str, Any] = {"generated": "SELECT a FROM t", "expected_tables": ["t"]}
    return SqlCase(case_id=case_id, **{**fields, **changes})


# Options.


@pytest.mark.parametrize(
    ("option", "generated", "expected", "rows"),
    [
        ({"column_order": "ignored"}, "SELECT a, b FROM t", "SELECT b, a FROM t", ([(1, 2)], [(2, 1)])),
        ({"semantics": "set"}, "SELECT a FROM t", "SELECT DISTINCT a FROM t", ([(1,)] * 2, [(1,)])),
        ({"tolerance": 0.5}, "SELECT a * 1.0 FROM t", "SELECT a * 1.0 + 0.25 FROM t", ([(1.0,)], [(1.25,)])),
    ],
)  # fmt: skip
def test_one_option_steers_rows_and_queries(
    option: dict[str, Any], generated: str, expected: str, rows: tuple[Any, Any]
) -> None:
    """What counts as the same result is said once; by default both differ."""
    one = case(
        generated=generated,
        expected=expected,
        schema=SCHEMA,
        generated_rows=rows[0],
        expected_rows=rows[1],
    )
    plain, steered = score_sql_cases([one]), score_sql_cases([one], **option)
    single = score_sql_case(one, **option), asyncio.run(ascore_sql_case(one, **option))
    same = attrs.evolve(steered.cases[0], duration_seconds=0)
    assert [attrs.evolve(score, duration_seconds=0) for score in single] == [same] * 2
    for report, refuted, score in ((plain, True, 0.0), (steered, False, 1.0)):
        (scored,) = report.cases
        assert present(scored.result_accuracy).score == score
        correctness = present(scored.query_correctness)
        assert (correctness.method == "refuted") is refuted
    assert SqlReport.from_json(steered.to_json()) == steered
    again = score_sql_cases([one], resume=plain, **option)
    assert again == steered


@pytest.mark.parametrize("rule", ["bird", "spider", "subset", "row-f1"])
def test_the_rule_of_rows_is_that_of_the_single_function(rule: Any) -> None:
    """Oracle: `result_accuracy`; a report to resume under another rule keeps all but the rows."""
    asked: list[JudgeRequest] = []

    def function(request: JudgeRequest) -> float:
        asked.append(request)
        return 0.5

    judge = judge_from_function(function, identity="counts")
    rows = ([(1,), (1,), (2,)], [(2,), (1,)])
    one = case(expected="SELECT b FROM t", generated_rows=rows[0], expected_rows=rows[1])
    options: dict[str, Any] = {"judge": judge, "evidence": "judge"}
    plain = score_sql_cases([one], **options)
    ruled = score_sql_cases([one], rule=rule, resume=plain, **options)
    assert ruled.cases[0].result_accuracy == result_accuracy(*rows, rule=rule)
    assert len(asked) == 1


def test_only_the_metrics_that_are_asked_for() -> None:
    """Nothing else is computed, and no judge asked."""

    def function(_: JudgeRequest) -> float:
        raise AssertionError

    judge = judge_from_function(function, identity="none")
    one = case(expected="SELECT b FROM t", is_valid=True, should_pass=True)
    report = score_sql_cases([one], judge=judge, metrics=iter(["table_accuracy"]))
    assert report.cases[0].metrics().keys() == {"table_accuracy"}
    assert report.scoring.metrics == ("table_accuracy",)
    assert report.n_failed == 0


def test_the_tables_of_the_expected_query_are_taken_where_asked_for() -> None:
    """The best of several; given tables go first, and nobody else gets a metric more."""
    queries = "SELECT x FROM a JOIN b USING (x)", "SELECT x FROM a"
    one = SqlCase(case_id="1", generated=queries[0], expected=queries[1])
    both = attrs.evolve(one, expected=queries)
    given = attrs.evolve(one, expected_tables=["c", "b"])
    broken = attrs.evolve(one, expected="SELECT (")
    asked = score_sql_cases([one], metrics=["table_accuracy"]).cases[0].table_accuracy
    assert asked == table_accuracy(queries[0], extract_tables(queries[1]))
    for some, score in ((both, 1.0), (given, 1 / 3)):
        found = score_sql_cases([some], metrics=["table_accuracy"]).cases[0].table_accuracy
        assert present(found).score == score
    found = score_sql_cases([broken], metrics=["table_accuracy"]).cases[0].table_accuracy
    assert failure(present(found).error) == "instrument: SqlError"
    assert score_sql_cases([one]).cases[0].table_accuracy is None


def test_intervals_have_the_level_that_was_asked_for() -> None:
    """All of them: of means, of pass@k and of the recall."""
    cases = [
        case(i, safety_valid=i > 1, should_pass=False, generated=f"SELECT a FROM {'tu'[i % 2]}")
        for i in range(4)
    ]
    report = score_sql_cases(cases, confidence_level=0.8)
    intervals = [
        *report.intervals.values(),
        present(report.safety).recall_interval,
        *(found.interval for several in report.pass_at_k.values() for found in several),
    ]
    levels = {interval.confidence_level for interval in intervals if interval is not None}
    assert levels == {0.8}


@refusals("""
    metrics=["tables"] -> InputError: metrics[0] must be one of 'query_correctness', ...
    metrics="table_accuracy" -> TypeError: metrics must be a non-empty sequence of metri...
    rule="exact" -> InputError: rule must be one of 'scorekit', ...
    tolerance=-1 -> InputError: tolerance must be a finite number >= 0, got -1
    tolerance=math.nan -> InputError: tolerance must be a finite number >= 0, got nan
    semantics="list" -> InputError: semantics must be one of 'bag', 'set', got 'list'
    column_order="any" -> InputError: column_order must be one of 'significant', 'ign...
    confidence_level=95 -> InputError: confidence_level must be a number in (0, 1) (a share: 0.95 ...
""")
def test_options_are_checked_before_anything_runs(wrong: Refusal) -> None:
    """A mistake of the caller is no failure of an instrument."""
    wrong.by(score_sql_cases, [case()])


def test_columns_appear_where_they_can_be_told() -> None:
    """A case without a schema is no failure, whatever its query reads."""
    expected = "SELECT * FROM t"
    with_schema = case(expected=expected, schema=SCHEMA)
    without = case("r", expected=expected)
    plain = case("s", expected="SELECT b FROM t", generated="SELECT b FROM t WHERE b > 1")
    report = score_sql_cases([with_schema, without, plain], metrics=METRICS[2:])
    assert [score.column_accuracy is not None for score in report.cases] == [True, False, True]
    assert report.n_failed == 0
    assert present(report.column_accuracy).count == 2


# What a validator did not say.


def test_a_validator_without_an_answer_is_an_instrument_that_failed() -> None:
    """Out of rates, inside the bounds, and no gate that asks for safety lets it pass."""
    cases = [
        case("caught", safety_valid=False, should_pass=False),
        case("silent", safety_valid=None, should_pass=False, is_valid=True),
        case("safe", safety_valid=None, expected_safe=True),
    ]
    report = score_sql_cases(cases)
    safety = present(report.safety)
    assert (safety.recall, safety.recall_bounds, safety.n_failed) == (1.0, (0.5, 1.0), 2)
    assert not safety.all_unsafe_caught
    assert report.n_failed == 2
    silent = present(report.cases[1].safety_validation)
    assert failure(silent.error) == "instrument: no_verdict"
    comparison = compare_reports(report, report, metrics=["safety_validation"])
    assert comparison.missed_unsafe == ("silent",)
    comparison.raise_for_regressions(cannot_see="pass")
    with pytest.raises(RegressionError):
        comparison.raise_for_regressions(require_safety=True)
    assert SqlReport.from_json(report.to_json()) == report


def test_a_validator_that_has_no_stages_withholds_nothing() -> None:
    """Where no case has a verdict on safety, none is missed; of one that failed, it is."""
    fields: dict[str, Any] = {"should_pass": True}
    assert score_sql_cases([case(is_valid=True, **fields)]).safety is None
    asked = score_sql_cases([case(is_valid=True, **fields)], metrics=["safety_validation"])
    assert asked.n_failed == 1
    for silent in (case(**fields), case(is_valid=True, schema_valid=True, **fields)):
        score = score_sql_case(silent)
        assert score.safety_validation is not None
        assert score.n_failed == 1


def test_bounds_of_the_recall_are_the_recall_where_all_is_known() -> None:
    """And nothing where no query is unsafe."""
    verdicts = [
        score_sql_case(case(safety_valid=valid, should_pass=safe)).safety_validation
        for valid, safe in ((True, False), (False, False), (True, True))
    ]
    results = [verdict for verdict in verdicts if verdict is not None]
    assert safety_summary(results).recall_bounds == (0.5, 0.5)
    assert safety_summary(results[2:]).recall_bounds is None


# Tags.


def test_a_report_for_each_value_of_a_tag() -> None:
    """Each is that of the cases alone; those without the tag come last, under None."""
    tags: list[dict[str, Any]] = [{"database": "a", "n": 1}, {}, {"database": "b"}, {"n": 2}]
    cases = [case(i, tags=tag) for i, tag in enumerate(tags)] + [case(9, tags={"database": "a"})]
    report = score_sql_cases(cases, model="large", confidence_level=0.9)
    found = report.by("database")
    assert list(found) == ["a", "b", None]
    assert [[one.case_id for one in part.cases] for part in found.values()] == [
        ["0", "9"],
        ["2"],
        ["1", "3"],
    ]
    alone = score_sql_cases([cases[0], cases[4]], model="large", confidence_level=0.9)
    assert found["a"] == alone
    assert report.by("n")["1"].n_cases == 1
    assert report.to_rows()[0]["tag_database"] == "a"
    assert SqlReport.from_json(report.to_json()) == report
    with pytest.raises(InputError, match=r"^tag must be one of 'database', 'n', got 'level'$"):
        report.by("level")
    with pytest.raises(
        InputError, match=r"^tag must be one of the tags: no case has any, got 'x'$"
    ):
        score_sql_cases([case()]).by("x")
    with pytest.raises(TypeError, match=r"^tag must be a non-empty string, got None$"):
        report.by(None)  # type: ignore[arg-type]


@refusals("""
    tags="shop" -> TypeError: tags must be a mapping of text to text, got 'shop'
    tags={1: "a"} -> TypeError: name of a tag must be a non-empty string, got 1
    tags={"database": 0.5} -> TypeError: tags['database'] must be a non-empty string or an integer, got 0.5
""")
def test_tags_are_text(wrong: Refusal) -> None:
    """An integer becomes text, as an id does."""
    wrong.by(case)


def test_tags_in_columns_may_be_missing() -> None:
    """The case lacks the tag then; a category and a nullable column are columns like any other."""
    frame = pd.DataFrame(
        {
            "case_id": [1, 2, 3],
            "sql": ["SELECT 1"] * 3,
            "database": pd.Categorical(["a", None, "b"]),
            "hard": pd.array([1, 2, None], dtype="Int64"),
        }
    )
    cases = sql_cases_from_columns(
        case_id=frame["case_id"],
        generated=frame["sql"],
        tags={"database": frame["database"], "hard": frame["hard"]},
    )
    assert [dict(one.tags) for one in cases] == [
        {"database": "a", "hard": "1"},
        {"hard": "2"},
        {"database": "b"},
    ]
    of_mappings = sql_cases_from_columns(
        case_id=[1, 2, 3],
        generated=["SELECT 1"] * 3,
        tags=[{"database": "a", "hard": 1}, {"database": None, "hard": 2}, {"database": "b"}],
    )
    assert [c.tags for c in of_mappings] == [c.tags for c in cases]
    with pytest.raises(TypeError, match=r"^row 0: tags must be a mapping of text to text, got 'a"):
        sql_cases_from_columns(case_id=[1], generated=["SELECT 1"], tags=["a"])  # type: ignore[list-item]
    with pytest.raises(InputError, match=r"^tags\['a'\] and case_id must be equally long"):
        sql_cases_from_columns(case_id=[1], generated=["SELECT 1"], tags={"a": ["x", "y"]})


def test_tags_change_no_result() -> None:
    """A report to resume gives its results under other tags, too."""
    first = score_sql_cases([case(expected="SELECT a FROM t")])
    again = score_sql_cases([case(expected="SELECT a FROM t", tags={"x": "y"})], resume=first)
    assert again.cases[0].query_correctness is first.cases[0].query_correctness
    assert dict(again.cases[0].tags) == {"x": "y"}


# Shards.


@settings(max_examples=15)
@given(st.data())
def test_shards_give_the_report_of_one_run(data: st.DataObject) -> None:
    """To the last digit, however the cases are parted."""
    cases = data.draw(
        st.lists(sql_cases(), min_size=1, max_size=4, unique_by=lambda one: one.case_id)
    )
    cases = [attrs.evolve(one, safety_valid=bool(one.safety_valid)) for one in cases]
    cases = [one for one in cases for _ in range(data.draw(st.integers(1, 2)))]
    ids = list(dict.fromkeys(one.case_id for one in cases))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(ids)), max_size=3)) | {0, len(ids)})
    parts = [set(ids[low:high]) for low, high in pairwise(cuts)]
    shards = [score_sql_cases([c for c in cases if c.case_id in part]) for part in parts]
    merged = shards[0].merge(*shards[1:])
    assert merged == score_sql_cases(cases)
    assert json.loads(merged.to_json()).keys() == json.loads(shards[0].to_json()).keys()


def test_what_would_not_be_one_run_is_not_merged() -> None:
    """The reason says what differs."""
    first = score_sql_cases([case(1)])
    refused: list[tuple[SqlReport, str]] = [
        (score_sql_cases([case(1)]), "others[0] must hold other cases than the reports before it"),
        (score_sql_cases([case(2)], model="b"), "model of others[0] must be None, as in the first"),
        (score_sql_cases([case(2)], semantics="set"), "semantics of others[0] must be 'bag', as in the first report, got 'set'"),
        (score_sql_cases([case(2)], confidence_level=0.9), "confidence_level of others[0] must be 0.95, as in the first report, got 0.9"),
    ]  # fmt: skip
    for other, message in refused:
        with pytest.raises(InputError) as caught:
            first.merge(other)
        assert str(caught.value).startswith(message)
    with pytest.raises(TypeError, match=r"^others\[0\] must be a SqlReport \(of stored JSON: "):
        first.merge({})  # type: ignore[arg-type]
    assert first.merge() == first
    validated = score_sql_cases([case(2, is_valid=True, should_pass=True)])
    safe = score_sql_cases([case(3, is_valid=True, safety_valid=True, should_pass=True)])
    assert first.merge(safe).scoring.asks_safety
    with pytest.raises(InputError, match=r"give the same metrics=, .* must be False, as in"):
        validated.merge(safe)
    asked: Any = {"metrics": ["safety_validation", "validation_accuracy"]}
    parts = [
        score_sql_cases([case(i, is_valid=True, should_pass=True, **verdict)], **asked)
        for i, verdict in enumerate([{}, {"safety_valid": True}])
    ]
    assert parts[0].merge(parts[1]).n_cases == 2  # as the message says


def test_two_questions_under_one_id_are_a_mistake() -> None:
    """Cases of one id are attempts at one question."""
    first = case("q", expected="SELECT a FROM t")
    with pytest.raises(InputError) as caught:
        score_sql_cases([first, case("q", expected="SELECT b FROM t")])
    assert str(caught.value) == (
        "cases[1] must have the expected query of the earlier case 'q', or another case_id: cases "
        "of one id are attempts at one question, got 'SELECT b FROM t' and 'SELECT a FROM t'"
    )
    assert score_sql_cases([first, first, case("q")]).n_cases == 3


# What no evidence decides.

RIGHT, WRONG, OPEN = "SELECT a FROM t", "SELECT b FROM t", "SELECT f(a) FROM t"
ENDS = {RIGHT: (1.0, 1.0), WRONG: (0.0, 0.0), OPEN: (0.0, 1.0)}


def attempted(queries: dict[str, list[str]]) -> SqlReport:
    """Score attempts at questions whose answer is column a."""
    cases = [
        SqlCase(case_id=i, generated=sql, expected=RIGHT, schema=SCHEMA)
        for i, attempts in queries.items()
        for sql in attempts
    ]
    return score_sql_cases(cases, metrics=["query_correctness"])


@settings(max_examples=20)
@given(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(st.sampled_from([RIGHT, WRONG, OPEN]), min_size=1, max_size=3),
        min_size=1,
    )
)
def test_scores_of_cases_keep_what_is_undecided(queries: dict[str, list[str]]) -> None:
    """Oracle: both ends of each attempt; a case without any score fails, and is no zero."""
    scores = attempted(queries).scores_by_case()
    suite = "query_correctness", None
    ends = {
        i: tuple(zip(*sorted(ENDS[sql] for sql in attempts), strict=True))
        for i, attempts in queries.items()
        if OPEN in attempts
    }
    found = {
        i: tuple(zip(*sorted(zip(*own, strict=True)), strict=True))
        for i, own in scores.ends.get(suite, {}).items()
    }
    assert found == ends
    known = {i: [ENDS[sql][0] for sql in own if sql != OPEN] for i, own in queries.items()}
    assert dict(scores.suites.get(suite, {})) == {i: (*own,) for i, own in known.items() if own}
    assert set(scores.failing) == {(suite, i) for i, own in known.items() if not own}


def test_an_undecided_attempt_is_neither_dropped_nor_an_improvement() -> None:
    """A wrong query that becomes undecided proves nothing, in a suite or within a margin."""
    second = {WRONG: WRONG, OPEN: OPEN, RIGHT: RIGHT}
    wrong, undecided, right = (
        attempted({f"q{i}": [RIGHT, sql if i < 16 else RIGHT] for i in range(40)})
        for sql in second
    )
    for baseline, current in ((wrong, undecided), (undecided, wrong), (right, undecided)):
        suite = compare_reports(baseline, current).suite
        assert suite.verdict not in ("improved", "regressed")
        assert suite.delta_bounds is not None
        assert suite.delta_bounds[1] - suite.delta_bounds[0] == pytest.approx(0.2)
    held = compare_reports(right, undecided, margin=0.1)
    with pytest.raises(RegressionError, match="not shown to hold the margin"):
        held.raise_for_regressions(on="margin")
    every = attempted({f"q{i}": [OPEN] * 2 for i in range(40)})
    assert every.query_correctness is None
    assert set(every.scores_by_case().ends["query_correctness", None].values()) == {
        ((0.0, 0.0), (1.0, 1.0))
    }


def test_changes_carry_their_queries() -> None:
    """Of all attempts, each once; in JSON, in rows and on the page of a notebook."""
    schema = {"t": {"a": "int", "b": "int"}}
    right, wrong, worse = "SELECT a FROM t", "SELECT b FROM t", "SELECT a + 1 FROM t"

    def report(*queries: str) -> SqlReport:
        fields: dict[str, Any] = {"expected": ["SELECT t.a FROM t", right], "schema": schema}
        return score_sql_cases([case("q", generated=sql, **fields) for sql in queries])

    result = compare_reports(report(right), report(wrong, worse, wrong))
    (change, *_) = result.regressions
    assert change.baseline_generated == (right,)
    assert change.current_generated == (wrong, worse)
    assert change.expected == ("SELECT t.a FROM t", right)
    assert type(result).from_json(result.to_json()) == result
    assert worse in result._repr_html_()
    assert worse not in str(result)
    repeated = compare_reports([report(right)] * 2, [report(wrong), report(worse)])
    assert repeated.regressions[0].current_generated == (wrong, worse)
    assert compare_reports({"q": 1}, {"q": 0}).regressions[0].expected == ()


def test_integers_are_names_too() -> None:
    """In a case and in columns; they become text."""
    columns = sql_cases_from_columns(case_id=[1, 2], generated=["SELECT 1"] * 2)
    assert [one.case_id for one in columns] == ["1", "2"] == [case(1).case_id, case(2).case_id]
