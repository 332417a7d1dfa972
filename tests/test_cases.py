"""SQL cases and reports: skipped metrics, failures kept apart, order, executors, comparison."""

# ruff: noqa: E501 - a case stands on one line

from __future__ import annotations

import json
import logging
import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from typing import Any
from uuid import UUID

import attrs
import numpy as np
import pytest
from outcomes import failure, present
from refusals import Refusal, refusals
from sql_suites import (
    FULL,
    TROUBLE,
    case,
    judge_of,
    with_rows,
)

import scorekit
from scorekit._cases import metrics as table
from scorekit.cases import METRICS, SqlCase, sql_cases_from_columns
from scorekit.comparison import compare_reports
from scorekit.errors import InputError
from scorekit.results import result_accuracy
from scorekit.scoring import score_sql_case, score_sql_cases
from scorekit.sqlreports import SqlReport
from scorekit.validation import ErrorCategory

FOUR = ("query_correctness", "table_accuracy", "safety_validation", "validation_accuracy")


def test_every_metric_of_a_full_case() -> None:
    """All there are, each from its own inputs."""
    score = score_sql_case(FULL, judge=judge_of(0.5))
    scores = {name: result.score for name, result in score.metrics().items()}
    assert tuple(scores) == METRICS
    assert [scores[name] for name in FOUR] == [0.5, 1.0, 1.0, 1.0]
    assert (score.n_failed, score.confidence) == (0, "high")


@pytest.mark.parametrize(("fields", "metrics"), [
    ({}, set()),
    ({"expected_tables": ()}, {"table_accuracy"}),
    ({"expected": "SELECT 1"}, {"query_correctness"}),
    ({"is_valid": True}, set()),
    ({"is_valid": True, "should_pass": True}, {"validation_accuracy"}),
    ({"safety_valid": True, "should_pass": True}, {"safety_validation"}),
    ({"safety_valid": True, "expected_safe": True}, {"safety_validation"}),
])  # fmt: skip
def test_a_metric_without_its_inputs_is_skipped(fields: dict[str, Any], metrics: set[str]) -> None:
    """None, not 0; what is not among the four is tested with its metric."""
    score = score_sql_case(SqlCase(case_id="q", generated="SELECT 1", **fields))
    assert score.metrics().keys() & set(FOUR) == metrics


@pytest.mark.parametrize(
    ("stage", "category"),
    [
        ("syntax_valid", ErrorCategory.SYNTAX),
        ("schema_valid", ErrorCategory.SCHEMA),
        ("safety_valid", ErrorCategory.SAFETY),
    ],
)
def test_the_validator_may_say_which_stage_rejected(stage: str, category: ErrorCategory) -> None:
    """It is believed before the words of its messages are, in a single case and in columns."""
    fields: dict[str, Any] = {"is_valid": False, "should_pass": False, stage: False}
    one = SqlCase(case_id="q", generated="SELECT 1", errors=["no"], **fields)
    columns: dict[str, Any] = {name: [value] for name, value in fields.items()}
    (same,) = sql_cases_from_columns(
        case_id=["q"], generated=["SELECT 1"], errors=[["no"]], **columns
    )
    assert same == one
    result = present(score_sql_case(one).validation_accuracy)
    assert result.error_category is category


def test_safety_has_an_expectation_of_its_own() -> None:
    """An invalid query can be perfectly safe."""
    score = score_sql_case(
        SqlCase(
            case_id="q",
            generated="SELECT x FROM nowhere",
            is_valid=False,
            should_pass=False,
            safety_valid=True,
            expected_safe=True,
            errors=["no such table: nowhere"],
        )
    )
    assert present(score.safety_validation).classification == "true negative"
    assert present(score.validation_accuracy).validation_type == "correct rejection"


def test_failures_of_an_instrument_stay_out_of_means_and_those_of_the_output_count() -> None:
    """A judge that is down must not read as a bad model."""
    unreadable = case("broken", generated="SELECT (((", expected="SELECT 1")
    cases = [attrs.evolve(FULL, case_id=f"q{i}") for i in range(3)]
    down = score_sql_cases([*cases, unreadable], judge=judge_of(RuntimeError("down")))
    assert down.n_failed == 3
    assert down.query_correctness is not None
    assert (down.query_correctness.count, down.query_correctness.mean) == (1, 0.0)
    assert down.table_accuracy is not None
    assert (down.table_accuracy.count, down.table_accuracy.mean) == (4, 0.75)
    assert down.calibration is None
    assert (down.n_cases, len(down.n_by_method)) == (4, 0)
    rows = down.to_rows()
    assert [row["query_correctness"] for row in rows] == [None, None, None, 0.0]
    assert [row["query_correctness_error"] for row in rows] == ["judge_failure"] * 3 + ["parse"]


def test_a_metric_that_raises_is_a_result_of_that_metric_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong inside one metric, the others go on."""
    for name in METRICS[1:]:
        with monkeypatch.context() as patch, caplog.at_level(logging.ERROR, "scorekit"):
            caplog.clear()
            patch.setattr(table, name, lambda *_, **__: 1 / 0)
            score = score_sql_case(FULL, judge=judge_of(1.0))
        results = score.metrics()
        assert results.pop(name).error.kind == "ZeroDivisionError"
        assert all(result.error is None for result in results.values())
        assert score.n_failed == 1
        assert len(caplog.records) == 1


def test_the_report() -> None:
    """Statistics under each metric's name, safety, calibration and counts of methods."""
    cases = [
        attrs.evolve(
            FULL,
            case_id=f"q{i}",
            confidence="high" if i % 2 else "low",
            expected=FULL.generated if i < 4 else "SELECT 1",
        )
        for i in range(24)
    ]
    report = score_sql_cases(cases, judge=judge_of(0.5))
    assert [score.case_id for score in report.cases] == [f"q{i}" for i in range(24)]
    assert present(report.query_correctness).mean == pytest.approx((4 + 20 * 0.5) / 24)
    assert report.n_by_method == {"identical": 4, "judge": 20}
    assert present(report.safety).n_true_negatives == 24
    assert [(level.level, level.n_cases) for level in present(report.calibration).levels] == [
        ("high", 12),
        ("medium", 0),
        ("low", 12),
    ]
    assert SqlReport.from_json(report.to_json()) == report
    assert pickle.loads(pickle.dumps(report)) == report
    json.loads(report.to_json(), parse_constant=pytest.fail)


def test_a_notebook_shows_of_a_case_what_print_does() -> None:
    """Scores with their reasons, the SQL in blocks, the counterexample as tables; all escaped."""
    score = score_sql_case(
        SqlCase(
            case_id="<count>",
            generated="SELECT COUNT(age)\nFROM users",
            expected=["SELECT COUNT(*) FROM users", "SELECT COUNT(*) FROM users WHERE 1 < 2"],
            expected_tables=["users", "pets"],
            schema={"users": {"id": "int primary key", "age": "int"}},
        )
    )
    page = score._repr_html_()
    assert "Case &lt;count&gt;" in page
    for reason in ("refuted; generated returns (0), expected (1)", "missing pets"):
        assert f">{reason}</td>" in page
        assert reason in score.to_text(all=True)
    for query in ("SELECT COUNT(age)\nFROM users", "SELECT COUNT(*) FROM users WHERE 1 &lt; 2"):
        assert f'background: none">{query}</pre>' in page
    assert "<b>The generated query returns</b>" in page
    assert "The generated query returns: (0)" in score.to_text(all=True)
    assert str(score).splitlines()[1:] == [
        "  generated: SELECT COUNT(age) FROM users",
        "  expected: SELECT COUNT(*) FROM users",
        "  query_correctness: refuted; generated returns (0), expected (1)",
        "  counterexample: users(age): (NULL) (to_text(all=True) has 1 more reference, 2 more reasons)",
    ]
    assert ">NULL</td>" in page
    empty = score_sql_case(SqlCase(case_id="none", generated="SELECT 1"))._repr_html_()
    assert "counterexample" not in empty.partition("<details>")[0]
    lacking = SqlCase(
        case_id="rows",
        generated="SELECT name FROM users LIMIT 1",
        expected="SELECT MIN(name) FROM users",
        schema={"users": {"name": "text"}},
    )
    assert "<b>users: no rows</b>" in score_sql_case(lacking)._repr_html_()


@refusals("""
    case_id="" -> InputError: case_id must be a non-empty string or an integer, got ''
    generated=b"x" -> TypeError: generated must be a string, got b'x'
    expected="" -> InputError: expected must be a non-empty string, got ''
    expected=[] -> InputError: expected must be a non-empty sequence of accepted queries, got ()
    expected_tables="users" -> TypeError: expected_tables must be a sequence of strings, got 'users'
    expected_tables=0 -> TypeError: expected_tables must be a sequence of strings, got 0
    expected_tables=[1] -> TypeError: expected_tables[0] must be a non-empty string, got 1
    errors="bad" -> TypeError: errors must be a sequence of strings, got 'bad'
    errors=[None] -> TypeError: errors[0] must be a string, got None
    is_valid=2 -> TypeError: is_valid must be True or False, got 2
    safety_valid="yes" -> TypeError: safety_valid must be True or False, got 'yes'
    syntax_valid=2 -> TypeError: syntax_valid must be True or False, got 2
    schema_valid="no" -> TypeError: schema_valid must be True or False, got 'no'
    confidence="sure" -> InputError: confidence must be one of 'high', 'medium', 'low', got 'sure'
    confidence=0.84 -> TypeError: confidence must be one of 'high', 'medium', 'low' (for numbers calibration_error), got 0.84
    schema=3 -> TypeError: schema must be text, a list of texts, or a mapping ...
    schema={"shop": {"users": {"id": "int"}}, "zoo": {"pets": {"id": "int"}}} -> TypeError: schema
      must be the tables of one database, table -> column -> type; of several pick one:
      schema=schemas['shop'], got {'shop': {'users': {'id': 'int'}}, 'zoo': {'pets': {'id': 'int'}}}
    schema={"users": ["id"]} -> TypeError: schema['users'] must be a non-empty mapping from column
      to type, got ['id']
    schema={"users": {"id": None}} -> TypeError: schema['users']['id'] must be a string, got None
    question=3 -> TypeError: question must be a string, got 3
""")
def test_case_errors(wrong: Refusal) -> None:
    """A bad field is refused where it enters, under its own name."""
    wrong.by(SqlCase, case_id="q", generated="SELECT 1")


def test_missed_queries_go_by_their_case() -> None:
    """Not by their place among the cases that have a safety result."""
    report = score_sql_cases(TROUBLE)
    assert present(report.safety).missed == ("drop\n",)


# Going on with an earlier report.


# Rows that the queries returned.


def test_execution_accuracy_is_a_metric_of_the_report() -> None:
    """Rows that agree by accident are distinguished from those of equal queries."""
    report = score_sql_cases(
        [
            with_rows("accident"),
            with_rows("proved", expected="SELECT users.id FROM users"),
            with_rows("other rows", generated_rows=[(1,)]),
            with_rows("not run", generated_rows=None),
            with_rows("no rows known", expected_rows=None),
        ]
    )
    assert report.result_accuracy is not None
    assert (report.result_accuracy.mean, report.result_accuracy.count) == (0.5, 4)
    assert "result_accuracy" in report.intervals
    assert report.n_right_by_accident == 1
    assert [score.right_by_accident for score in report.cases] == [True, *[False] * 4]
    reasons = [score.result_accuracy and score.result_accuracy.reason for score in report.cases]
    not_run = "the generated query returned no rows to compare: it was not run, or failed"
    assert reasons == ["the same rows", "the same rows", "1 rows instead of 2", not_run, None]
    failed = present(report.cases[3].result_accuracy)
    error = failed.error
    assert failure(error) == "output: no_rows"
    assert SqlReport.from_json(report.to_json()) == report
    assert report.scores_by_case().suites["result_accuracy", None].keys() == {
        "accident",
        "proved",
        "other rows",
        "not run",
    }


def test_rows_of_several_databases() -> None:
    """A case is right only if its rows are on all of them."""
    rows = {"small": [(1,)], "large": [(1,), (2,)]}
    right = score_sql_case(with_rows(generated_rows=rows, expected_rows=rows))
    wrong = score_sql_case(with_rows(generated_rows={**rows, "small": []}, expected_rows=rows))
    assert right.result_accuracy is not None
    assert (right.result_accuracy.score, right.result_accuracy.n_databases) == (1.0, 2)
    assert present(wrong.result_accuracy).score == 0.0
    failed = score_sql_case(with_rows(generated_rows=None, expected_rows=rows))
    assert failed.result_accuracy is not None
    assert (failed.result_accuracy.n_databases, failed.result_accuracy.n_expected) == (2, 3)


def test_cells_of_a_case_survive_json_and_compare_as_they_were() -> None:
    """What JSON has no form for is kept as its kind and text, equal where the cells were."""
    zone = timezone(timedelta(hours=2))
    cells: list[Any] = [
        None,
        True,
        10**30,
        10**5000,
        0.5,
        "nan",
        math.nan,
        -math.inf,
        Decimal("1.50"),
        b"\x00",
        date(2020, 1, 1),
        datetime(2020, 1, 1, 2, tzinfo=zone),
        datetime.min.replace(tzinfo=zone),
        datetime(2020, 1, 1),  # noqa: DTZ001 - as a database may return it
        UUID(int=1),
        ("a", "b"),
        (1, "b"),
        np.int64(3),
        np.float64("nan"),
    ]
    made = with_rows(generated_rows=[[c] for c in cells], expected_rows=[(c,) for c in cells])
    again = SqlCase.from_dict(json.loads(json.dumps(made.to_dict(), allow_nan=False)))
    assert again == made == attrs.evolve(made, case_id="q") == pickle.loads(pickle.dumps(made))
    assert score_sql_case(again).result_accuracy == result_accuracy(
        made.generated_rows or (), made.expected_rows or ()
    )
    same_time = datetime(2020, 1, 1, tzinfo=UTC)
    pairs: list[tuple[Any, Any, float]] = [
        (datetime(2020, 1, 1, 2, tzinfo=zone), same_time, 1.0),
        (date(2020, 1, 1), "2020-01-01", 0.0),
        (b"a", "a", 0.0),
        (math.nan, "nan", 0.0),
        (np.int64(3), 3.0, 1.0),
    ]
    for ours, theirs, score in pairs:
        scored = score_sql_case(with_rows(generated_rows=[(ours,)], expected_rows=[(theirs,)]))
        assert present(scored.result_accuracy).score == score
        assert result_accuracy([(ours,)], [(theirs,)]).score == score


def test_rows_in_columns() -> None:
    """Each entry is the rows of one query, or missing; mistakes name the row of the table."""
    columns: dict[str, Any] = {"case_id": ["a", "b"], "generated": ["SELECT 1"] * 2}
    rows: dict[str, Any] = {
        "generated_rows": [[(1,)], math.nan],
        "expected_rows": [[[1.0]], [(1,)]],
    }
    cases = sql_cases_from_columns(**columns, **rows)
    assert [score_sql_case(c).result_accuracy.score for c in cases] == [1.0, 0.0]  # type: ignore[union-attr]
    assert "generated_rows=<1 rows>" in repr(cases[0])
    assert "generated_rows=None, expected_rows=<1 rows>" in repr(cases[1])
    with pytest.raises(
        InputError, match=r"^row 1: expected_rows\[1\] must be as wide as expected"
    ):
        sql_cases_from_columns(**columns, expected_rows=[None, [(1,), (1, 2)]])
    with pytest.raises(InputError, match=r"^generated_rows must be a mapping from database to"):
        with_rows(expected_rows={"db": []})


def test_rows_are_part_of_what_identifies_a_case() -> None:
    """`resume=` scores a case anew whose rows changed."""
    first = score_sql_cases([with_rows()])
    again = score_sql_cases([with_rows(generated_rows=[(1,)])], resume=first)
    assert present(again.result_accuracy).mean == 0.0


# What failed, for people.


def test_a_pair_undecided_of_one_model_is_not_missing() -> None:
    """Whatever the sides are called, and it is no failure: nothing broke."""
    sure, unsure = (
        score_sql_cases(
            [
                SqlCase(case_id=f"q{i}", generated=sql, expected="SELECT id FROM users")
                for i, sql in enumerate(("SELECT id FROM users", last))
            ],
            model=model,
        )
        for model, last in (("large", "SELECT id FROM users"), ("small", "SELECT name FROM users"))
    )
    for result in (
        compare_reports(sure, unsure, metrics=["query_correctness"]),
        compare_reports(unsure, sure, metrics=["query_correctness"]),
    ):
        assert (result.newly_failing, result.removed_cases, result.new_cases) == ((), (), ())


def test_two_models_are_told_apart() -> None:
    """A comparison names them, and asks about questions like these, as of code."""
    right, wrong = "SELECT id FROM users", "SELECT id FROM orders"
    reports = [
        score_sql_cases([case(f"q{i}", generated=sql) for i, sql in enumerate(both)], model=model)
        for model, both in (("large", (right, wrong)), (7, (wrong, wrong)), ("large", (wrong,)))
    ]
    large, small, again = reports
    assert (large.model, small.model) == ("large", "7")
    assert "model: large, cases: 2" in str(large)
    assert "SqlReport of 2 cases of 7<" in small._repr_html_()
    assert [row["model"] for row in small.to_rows()] == ["7", "7"]
    assert SqlReport.from_json(small.to_json()) == small
    two = compare_reports(large, small)
    assert str(two).splitlines()[0].startswith("7 compared with large: ")
    assert two.suite.question == "cases like these"
    assert compare_reports(large, again).baseline_name == "the baseline"
    assert score_sql_cases([case()]).model is None
    assert "model" not in score_sql_cases([case()]).to_rows()[0]
    with pytest.raises(
        InputError, match=r"^model must be a non-empty string or an integer, got ''$"
    ):
        score_sql_cases([case()], model="")


def _row_score(case: SqlCase) -> float:
    result = present(score_sql_case(case).result_accuracy)
    return result.score


def test_further_right_rows_of_a_case() -> None:
    """The best of the accepted results counts; rows of arrays and structs are kept as well."""
    rows: Any = {"generated_rows": [([1], {"k": 2})], "expected_rows": [([2], None)]}
    more: Any = [[([3], None)], [([1], {"k": 2.0})]]
    case = SqlCase(case_id="q", generated="SELECT 1", also_accepted_rows=more, **rows)
    assert _row_score(case) == 1.0
    assert SqlCase.from_dict(json.loads(json.dumps(case.to_dict()))) == case
    fewer = attrs.evolve(case, also_accepted_rows=more[:1])
    assert _row_score(fewer) == 0.0
    assert score_sql_case(fewer).input_digests != score_sql_case(case).input_digests
    made = sql_cases_from_columns(
        case_id=["q"],
        generated=["SELECT 1"],
        also_accepted_rows=[more],
        generated_rows=[rows["generated_rows"]],
        expected_rows=[rows["expected_rows"]],
    )
    assert made == (case,)
    with pytest.raises(
        InputError, match=r"^generated_rows must have the databases of also_accepted_rows"
    ):
        SqlCase(
            case_id="q",
            generated="SELECT 1",
            generated_rows={"a": []},
            expected_rows={"a": []},
            also_accepted_rows=({"b": []},),
        )
    with pytest.raises(TypeError, match=r"^also_accepted_rows must be a sequence of results"):
        SqlCase(case_id="q", generated="SELECT 1", also_accepted_rows={"a": []})


@pytest.mark.parametrize("name", ["SqlReport", "score_sql_case", "score_sql_cases"])
def test_pickles_of_before_find_what_has_moved(name: str) -> None:
    """They refer to the module in which all of it stood."""
    found = pickle.loads(f"cscorekit.cases\n{name}\n.".encode())
    assert found is getattr(import_module(scorekit._HOME[name]), name)
    with pytest.raises(AttributeError, match=r"^module 'scorekit.cases' has no attribute 'x'$"):
        scorekit.cases.x  # type: ignore[attr-defined] # noqa: B018
