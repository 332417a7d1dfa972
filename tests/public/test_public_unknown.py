"""Unknown is a value at every door: kept and shown, or refused by name, and never dropped."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from public_register import CALLS
from test_public_grammar import COLUMNS, call, same

import scorekit
from scorekit import InputError, SqlCase, judge_from_function, runs_from_columns

COLUMNS_OF_DATA = [
    (name, parameter) for name, parameter in COLUMNS if parameter not in ("expected", "answers")
]
"""A column each; lists of names and answers have no unknown entry."""

OPTIONAL = {"expected", "question", "dialect", "confidence", "expected_safe", "is_valid"}
OPTIONAL |= {"safety_valid", "schema_valid", "should_pass", "syntax_valid"}
"""Columns of `sql_cases_from_columns`: a metric without its inputs is not computed."""


def without_last(arguments: dict[str, Any], length: int) -> dict[str, Any]:
    """Return the arguments without the last entry of each column."""
    return {
        name: value[:-1] if isinstance(value, list) and len(value) == length else value
        for name, value in arguments.items()
    }


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA], ids=["None", "NaN", "NA"])
@pytest.mark.parametrize(("name", "parameter"), COLUMNS_OF_DATA)
def test_no_column_drops_an_unknown_entry(name: str, parameter: str, missing: Any) -> None:
    """The result is another one than without its row, or the column is refused by name."""
    values = CALLS[name][parameter]
    arguments = CALLS[name] | {parameter: [*values[:-1], missing]}
    try:
        found = call(name, arguments)
    except (TypeError, InputError) as error:
        assert parameter in str(error)  # noqa: PT017 - which of the two is no matter
        return
    try:
        dropped = call(name, without_last(CALLS[name], len(values)))
    except InputError:
        return  # too few are left, so that it was not dropped
    assert not same(found, dropped)
    if (name, parameter) != ("sql_cases_from_columns", parameter) or parameter not in OPTIONAL:
        for known in (0, 1):
            try:
                assert not same(found, call(name, arguments | {parameter: [*values[:-1], known]}))
            except (TypeError, InputError):
                continue


def of_models(x: Any) -> dict[str, Any]:
    """Return scores of two models, one attempt of which is x."""
    return {"a": {1: 1, 2: [x, 1], 3: 1}, "b": {1: 0, 2: [1, 0], 3: 0}}


RIGHT, OPEN = "SELECT a FROM t", "SELECT f(a) FROM t"


def suite(queries: list[str]) -> scorekit.SqlReport:
    """Score queries without a judge: one of them is decided by nobody."""
    cases = [SqlCase(case_id=i, generated=q, expected=RIGHT) for i, q in enumerate(queries)]
    return scorekit.score_sql_cases(cases, metrics=["query_correctness"], model="m")


@pytest.mark.parametrize("own", [
    math.nan,
    [1, pd.NA],
    [math.nan, 1],
    pd.Series([1.0, None]),
    pd.array([True, None], dtype="boolean"),
    np.array([math.nan, 1]),
], ids=str)  # fmt: skip
def test_mappings_take_what_data_frames_call_missing(own: Any) -> None:
    """NaN and NA are None in the scores of a case, also beside None."""
    rest: dict[str, Any] = dict.fromkeys("bcdefg", 1) | {"h": [None, 1]}
    same_as = None if isinstance(own, float) else [1, None]
    known, found, wanted = (rest | {"a": one} for one in (1, own, same_as))
    assert scorekit.compare_reports(known, found) == scorekit.compare_reports(known, wanted)
    ranked = [
        scorekit.compare_models({"x": known, "y": y}, bounds=(0, 1)) for y in (found, wanted)
    ]
    assert ranked[0] == ranked[1]


def test_a_model_of_which_nothing_is_known_is_reported() -> None:
    """Beside another, whose numbers stand; a comparison says what is missing."""
    passed: Any = [None, math.nan, 1, 0]
    report = scorekit.code_report_from_columns(
        case_id=["a", "b"] * 2, model=["lost"] * 2 + ["m"] * 2, passed=passed
    )
    lost, known = (report.for_model(name) for name in ("lost", "m"))
    assert str(lost) == (
        "lost: pass@1 = unknown (0 of 2 tasks, between 0 and 1) (95 %, 0 attempts at 0 cases; 2 "
        "more of unknown outcome)\nbetween: all missing outcomes failed, and all passed"
    )
    assert known.models[0].pass_at_k[0].score == 0.5
    for one in (report, lost):
        assert scorekit.CodeReport.from_json(one.to_json()) == one
        assert hash(scorekit.CodeReport.from_json(one.to_json())) == hash(one)
        assert "lost" in one.to_markdown() + one._repr_html_()
    found = scorekit.compare_reports(known, lost)
    assert found.suite.delta_bounds == (-0.5, 0.5)
    assert [change.case_id for change in found.newly_failing] == ["a", "b"]
    named = r"^scores must be those of at least two models with a known outcome, got \['m'\]$"
    with pytest.raises(InputError, match=named):
        scorekit.compare_models({"lost": lost, "m": known})
    other = scorekit.code_report_from_columns(model="n", passed={"a": [1], "b": [1]})
    ranked = scorekit.compare_models({"lost": lost, "m": known, "n": other})
    assert [*ranked.means] == ["n", "m"]
    assert ranked.n_tasks_by_model == {"lost": 0, "m": 2, "n": 2}
    assert "without lost (no known outcome)" in str(ranked)


def test_attempts_that_were_lost_leave_pass_at_k_unknown() -> None:
    """Of all tasks, where one attempt at each was lost, or too few were made."""
    lost: dict[str, Any] = {f"t{i}": [1, 0, None] for i in range(4)}
    for insufficient in ("drop", "nan"):
        given: dict[str, Any] = {"model": "m", "passed": lost, "insufficient": insufficient}
        report = scorekit.code_report_from_columns(k=(1, 3), **given)
        assert str(report.models[0].pass_at_k[1]) == "pass@3 = unknown (95 %, 0 of 4 tasks)"
        assert report.models[0].unknown_bounds["pass@3"] == (1.0, 1.0)
        if insufficient == "drop":  # too few that were made are as unknown
            more = scorekit.code_report_from_columns(k=(1, 4), **given).models[0]
            assert str(more.pass_at_k[1]) == "pass@4 = unknown (95 %, 0 of 4 tasks)"
            assert more.unknown_bounds["pass@4"] == (0.0, 1.0)


def test_metrics_that_only_one_run_has_are_named() -> None:
    """Not the cases, which both have."""
    case = SqlCase(case_id="a", generated=RIGHT, expected=RIGHT, expected_tables=["t"])
    old, new = (
        scorekit.score_sql_cases([case], metrics=[metric])
        for metric in ("query_correctness", "table_accuracy")
    )
    named = r"^current must be a run with a metric of baseline \(query_correctness\), got \['tab"
    with pytest.raises(InputError, match=named):
        scorekit.compare_reports(old, new)


@pytest.mark.parametrize(("known", "text"), [
    (
        lambda x: scorekit.compare_reports(
            dict.fromkeys(range(9), 1), {i: x if i == 8 else 1 for i in range(9)}
        ),
        "1 of 9 cases not scored",
    ),
    (
        lambda x: scorekit.compare_models(of_models(x), bounds=(0, 1)),
        "over 3 tasks, 1 unknown outcome)",
    ),
    (
        lambda x: scorekit.code_report_from_columns(model="m", passed={"a": [1, x], "b": [1]}),
        "between 0.75 and 1",
    ),
    (
        lambda x: scorekit.tier_statistics(
            "T", runs_from_columns(run_id=[1, 2], passed=True, impl_rate=1, cost_usd=[1, x])
        ),
        "1 of 2 costs measured",
    ),
    (
        lambda x: suite([RIGHT, RIGHT, OPEN if x is None else [OPEN[:-1], RIGHT][x]]),
        "1 of 3 undecided",
    ),
], ids=["mappings", "models", "columns", "runs", "SQL"])  # fmt: skip
def test_what_nobody_knows_is_shown(known: Any, text: str) -> None:
    """In the text, and other than if it were known either way."""
    unknown = known(None)
    assert text in str(unknown)
    assert unknown not in (known(0), known(1))


def test_a_judge_that_fails_throughout_is_a_result() -> None:
    """Whatever share fails, reports and comparisons are made."""

    def function(_: Any) -> float:
        raise RuntimeError("down")

    judge = judge_from_function(function, identity="down")
    for n_failed in range(4):
        cases = [
            SqlCase(case_id=i, generated=OPEN if i < n_failed else RIGHT, expected=RIGHT)
            for i in range(3)
        ]
        report = scorekit.score_sql_cases(cases, judge=judge)
        assert report.n_undecided == n_failed
        assert scorekit.compare_reports(report, report).suite.verdict == "inconclusive"
