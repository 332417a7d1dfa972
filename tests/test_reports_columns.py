"""code_report_from_columns takes what harnesses write, and refuses it by its row where it must."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import (
    CodeReport,
    CodeSample,
    InputError,
    code_report,
    code_report_from_columns,
    compare_reports,
    sql_cases_from_columns,
)

FLAGS = st.dictionaries(
    st.text(min_size=1, max_size=3) | st.integers(0, 9).map(lambda i: i + 100),
    st.lists(st.booleans(), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
).filter(lambda runs: len({str(key) for key in runs}) == len(runs))


@given(FLAGS)
def test_flags_of_cases_are_samples(runs: dict[Any, list[bool]]) -> None:
    """Oracle: a sample for each flag, however the table has them."""
    wanted = code_report(
        CodeSample(case_id=str(case), model="m", compiled=True, passed=flag)
        for case, flags in runs.items()
        for flag in flags
    )
    rows = [(case, flag) for case, flags in runs.items() for flag in flags]
    ids, flags = map(list, zip(*rows, strict=True))
    for columns in (
        {"passed": runs},
        {"case_id": list(runs), "passed": list(runs.values())},
        {"case_id": ids, "passed": flags},
        {"case_id": pd.Series(ids, dtype=object), "passed": np.array(flags)},
        {"case_id": iter(ids), "passed": iter(flags), "compiled": True, "failed": 0},
    ):
        assert code_report_from_columns(model="m", **columns) == wanted


def test_one_value_stands_for_a_column() -> None:
    """Of every column but that of the cases."""
    single: dict[str, Any] = {"compiled": True, "passed": 3, "failed": 0, "warnings": 1}
    single |= {"cost_usd": 0.5, "input_tokens": 9}
    report = code_report_from_columns(
        case_id=[1, 2, 2], model=7, latency_seconds=math.nan, **single
    )
    columns: Any = {name: [value] * 3 for name, value in single.items()}
    columns |= {"case_id": ["1", "2", "2"], "model": ["7"] * 3, "latency_seconds": [None] * 3}
    assert report == code_report_from_columns(**columns)
    nested = code_report_from_columns(
        case_id=pd.Series([1, 2]),
        model=[7, 7],
        passed=np.array([[1, 0], [2, 2]]),
        failed=[[0, 1], [0, 0]],
        cost_usd=[0.5, None],
    )
    found = [(c.case_id, c.n_correct, c.n_samples) for c in nested.cases]
    assert (found, nested.models[0].total_cost_usd) == ([("1", 1, 2), ("2", 2, 2)], 1.0)


AS_TABLES = ["category", "string[pyarrow]", "object", "str"]


@pytest.mark.parametrize("dtype", AS_TABLES)
def test_frames_of_every_kind(dtype: str) -> None:
    """Categorical and Arrow-backed columns, also with a MultiIndex over the rows."""
    pytest.importorskip("pyarrow")
    names = ["b", "a", "b"]
    wanted = code_report_from_columns(case_id=names, model=names, passed=[True, False, True])
    column, passed = pd.Series(names, dtype=dtype), pd.Series([True, False, True], dtype="boolean")
    frame = pd.DataFrame({"case_id": column, "model": column, "passed": passed})
    frame.index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)])
    for table in (frame, frame.convert_dtypes(dtype_backend="pyarrow")):
        assert code_report_from_columns(**table) == wanted


def test_frames_of_polars() -> None:
    """Categories, and lists of attempts."""
    pl = pytest.importorskip("polars")
    names = ["b", "a", "b"]
    wanted = code_report_from_columns(case_id=names, model="m", passed=[True, False, True])
    frame = pl.DataFrame({"case_id": names, "passed": [True, False, True]})
    categories = frame.with_columns(pl.col("case_id").cast(pl.Categorical))
    nested = pl.DataFrame({"case_id": ["b", "a"], "passed": [[True, True], [False]]})
    for table in (frame, categories, nested):
        assert code_report_from_columns(model="m", **table.to_dict()) == wanted


STAMPS = pd.Series(pd.date_range("2026-01-01", periods=2, tz="Europe/Berlin"))


@refusals("""
case_id=[1, "1"] -> InputError: case_id[1] must be unlike all others, '1' like 1, got '1'...
case_id=["a", None]
    -> InputError: case_id[1] must be a non-empty string or an integer, got None...
case_id=pd.Series([1, None])
    -> InputError: case_id[1] must be a non-empty string or an integer (a missing one makes
    floats of the others), got nan...
case_id=[True, False]
    -> TypeError: case_id[0] must be a non-empty string or an integer, got True...
case_id=STAMPS
    -> TypeError: case_id[0] must be a non-empty string or an integer, got Timestamp(...
latency_seconds=STAMPS
    -> TypeError: latency_seconds[0] must be a finite number >= 0, got Timestamp(...
passed=[0.5, 1.0]
    -> TypeError: passed[0] must be True or False, 1 or 0, or a count of tests (of a share:
    passed= and failed= as counts; of a score: compare_reports), got 0.5...
passed=[None, "yes"]
    -> TypeError: passed[1] must be True or False, 1 or 0, or a count of tests (if 'yes' stands
    for True: [x == 'yes' if isinstance(x, str) else None for x in passed]), got 'yes'...
passed=None -> InputError: passed must be a column, or a mapping from case, where compiled is...
case_id=None
    -> InputError: case_id must be a column, or passed a mapping from case to its attempts, got
    None...
passed={"a": [True]}
    -> InputError: case_id must be None where passed is a mapping from case, got...
case_id=None, passed={1: True, "1": False}
    -> InputError: case_id[1] must be unlike all others, '1' like 1, got '1'...
case_id=None, passed={} -> InputError: case_id must be a non-empty sequence of...
passed=[[True], []]
    -> InputError: passed[1] must be a non-empty sequence of attempts, got ()...
passed=[[True], True]
    -> TypeError: passed[1] must be a non-empty sequence of attempts, got True...
passed=[[True], [True, False]], failed=[[0], [0]]
    -> InputError: failed[1] must be 2 attempts like passed[1], got 1...
passed=[[1], [0]], failed=[[0], [0], [0]]
    -> InputError: failed and passed must be equally long, got 3 and 2...
passed=[[1], [0]], model=["a"]
    -> InputError: model and passed must be equally long, got 1 and 2...
failed=[0] -> InputError: failed and case_id must be equally long, got 1 and 2...
model=None -> InputError: model must be a non-empty string or an integer, got None...
model=1.5 -> TypeError: model must be a non-empty string or an integer, got 1.5...
""")
def test_what_no_report_can_hold(wrong: Refusal) -> None:
    """Each row that is no sample is named."""
    call: dict[str, Any] = {"case_id": ["a", "b"], "model": "m", "passed": [True, False]}
    wrong.by(code_report_from_columns, **call)


def test_a_model_without_some_tasks_is_compared_on_those_it_has() -> None:
    """What is missing is listed, as a row that is there twice is another attempt."""
    report = code_report_from_columns(case_id=list("abaa"), model=list("xxyy"), passed=[True] * 4)
    result = compare_reports(report.for_model("x"), report.for_model("y"))
    assert [change.case_id for change in result.removed_cases] == ["b"]  # flags: one metric
    assert [case.n_samples for case in report.cases] == [1, 1, 2]


def test_many_models() -> None:
    """As many as there are rows."""
    n = 2000
    report = code_report_from_columns(
        case_id=np.zeros(n, int), model=range(n), passed=np.arange(n) % 2 == 0
    )
    assert len(report.models) == len(report.cases) == n
    assert [m.mean_score for m in report.models[:2]] == [1.0, 0.5]
    assert CodeReport.from_json(report.to_json()) == report
    assert json.loads(report.to_json())["cases"]["case_id"][-1] == "0"


@pytest.mark.parametrize(
    ("passed", "place"),
    [([8, 3], 0), ([1.0, 2.0], 1), ([True, 5], 1), ({"a": [1, 0], "b": [0, 2]}, 3)],
)
def test_counts_of_tests_need_those_that_failed(passed: Any, place: int) -> None:
    """8 of how many tests?  Nobody may read them as all."""
    cases = None if isinstance(passed, dict) else ["a", "b"]
    columns: dict[str, Any] = {"case_id": cases, "passed": passed}
    domain = "True or False, 1 or 0; or a count, with the tests that failed as failed=, a column"
    noted = rf"^passed\[{place}\] must be {domain}, or 0 for none, got"
    with pytest.raises(InputError, match=noted):
        code_report_from_columns(model="m", **columns)
    assert code_report_from_columns(model="m", **columns, failed=0).models[0].n_samples >= 2


@pytest.mark.parametrize("labels", [[1, 2, 1], ["a", "b", "a"], [None, 1, 2]])
def test_a_row_that_comes_twice_is_refused_by_name(labels: list[Any]) -> None:
    """Also with another outcome: which of the two it is, nobody can tell."""
    rows: dict[str, Any] = {"case_id": ["x", "x", "x"], "passed": [1, 0, 0]}
    noted = r"^attempt\[2\] must be unlike that of row 0, which is of 'x' 'm' too, got"
    if labels[0] is None:
        noted = r"^attempt\[0\] must be a label that is not missing, got None$"
    with pytest.raises(InputError, match=noted):
        code_report_from_columns(**rows, model="m", attempt=labels)
    with pytest.raises(InputError, match=noted.replace(" 'm'", "")):
        sql_cases_from_columns(case_id=rows["case_id"], generated=["", "", ""], attempt=labels)
    apart = code_report_from_columns(**rows, model=["m", "m", "n"], attempt=[1, 2, 1])
    assert apart == code_report_from_columns(**rows, model=["m", "m", "n"])
    lists = code_report_from_columns(model="m", passed={"x": [1, 0]}, attempt=[[1, 2]])
    assert lists.models[0].n_samples == 2
    with pytest.raises(InputError, match=r"^attempt\[1\] must be unlike that of row 0"):
        code_report_from_columns(model="m", passed={"x": [1, 0]}, attempt=[["s", "s"]])
