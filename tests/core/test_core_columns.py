"""Tables of every kind in place of records: the same results, and what is refused."""

from __future__ import annotations

import enum
import math
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from refusals import Refusal, refusals

from scorekit import (
    CodeSample,
    CodeWeights,
    InputError,
    SqlCase,
    best_at_k,
    code_report,
    code_report_from_columns,
    code_scores_from_columns,
    compare_reports,
    map_scores,
    score_sql_cases,
    sql_cases_from_columns,
    table_accuracies_from_columns,
    table_accuracy,
)

FIELDS = [
    *("case_id", "model", "compiled", "passed", "failed", "warnings"),
    *("cost_usd", "latency_seconds", "input_tokens", "output_tokens"),
]

NO_OUTCOME = (
    "passed[1] must be True or False, 1 or 0, or a count of tests (a missing outcome: "
    "leave its row out of all columns; False, then True, bounds how far it could move the result)"
    ", got "
)


TABLES_OF: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "lists": lambda columns: columns,
    "pandas": pd.DataFrame,  # what is missing makes floats of counts
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),  # missing: pd.NA
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "arrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
    "numpy": lambda columns: {name: np.array(values) for name, values in columns.items()},
}
NO_NUMPY = [kind for kind in TABLES_OF if kind != "numpy"]


@pytest.mark.parametrize("kind", TABLES_OF)
def test_a_table_of_any_kind_is_the_same_report(kind: str) -> None:
    """Lists, NumPy, pandas, polars, Arrow; what is missing stays not measured."""
    samples = [
        CodeSample(
            case_id=f"c{i % 5}",
            model="mn"[i % 2],
            compiled=i % 3 > 0,
            passed=i % 4,
            failed=i % 2,
            warnings=i % 6,
            cost_usd=0.1 * i if i % 3 else None,
            latency_seconds=None,
            input_tokens=10 * i if i % 4 else None,
            output_tokens=i,
        )
        for i in range(40)
    ]
    table = TABLES_OF[kind]({name: [getattr(one, name) for one in samples] for name in FIELDS})
    report = code_report_from_columns(**{name: table[name] for name in FIELDS}, k=(1, 2))
    assert report == code_report(samples, k=(1, 2))


def test_columns_that_are_left_out() -> None:
    """They are 0, or not measured, as for a record; one model may name all rows."""
    weights = CodeWeights(compilation=1, tests=1, clippy=0)
    compiled = {"a": True, "b": False}
    report = code_report_from_columns(
        case_id=list(compiled), model="m", compiled=list(compiled.values()), weights=weights
    )
    samples = [CodeSample(case_id=i, model="m", compiled=done) for i, done in compiled.items()]
    assert report == code_report(samples, weights=weights)


NAMED = "strings or integers"


@refusals("""
case_id=[] -> InputError: case_id must be a non-empty sequence of {NAMED}, got ()
case_id=["a", 3.0] -> TypeError: case_id[1] must be a non-empty string or an integer, got 3.0
case_id=["a", ""] -> InputError: case_id[1] must be a non-empty string or an integer, got ''
case_id="ab" -> TypeError: case_id must be a non-empty sequence of {NAMED}, got 'ab'
model="" -> InputError: model must be a non-empty string or an integer, got ''
model=["m"] -> InputError: model and case_id must be equally long, got 1 and 2
compiled=[2, 0] -> TypeError: compiled[0] must be True or False, got 2
passed=[1, -1] -> InputError: passed[1] must be an integer >= 0, got -1
cost_usd=[None, -1.0] -> InputError: cost_usd[1] must be a finite number >= 0, got -1.0
latency_seconds=[float("inf"), None]
    -> InputError: latency_seconds[0] must be a finite number >= 0, got inf
input_tokens=[None, 1.5] -> TypeError: input_tokens[1] must be an integer >= 0, got 1.5
output_tokens=[-1, 1] -> InputError: output_tokens[0] must be an integer >= 0, got -1
k=() -> InputError: k must be a non-empty sequence of integers, got ()
weights=3 -> TypeError: weights must be a CodeWeights, such as CodeWeights(compilation...
""")
def test_column_errors(wrong: Refusal) -> None:
    """The column is named, and the row."""
    call: dict[str, Any] = {"case_id": ["a", "b"], "model": "m", "compiled": [True, True]}
    wrong.by(code_report_from_columns, **call)


SQL = ["SELECT x FROM a", "SELECT x FROM a JOIN b USING (i)", "SELECT (", "SELECT 1"] * 5
TABLES = [["a"], ["A", "c"], ["a"], []] * 5


@pytest.mark.parametrize("kind", NO_NUMPY)
def test_table_accuracy_of_a_table_of_any_kind(kind: str) -> None:
    """Entry i is the score of row i."""
    table = TABLES_OF[kind]({"sql": SQL, "tables": TABLES})
    scores = table_accuracies_from_columns(table["sql"], table["tables"], dialect="sqlite")
    assert scores.dtype == np.float64
    expected = [
        table_accuracy(*row, dialect="sqlite").score for row in zip(SQL, TABLES, strict=True)
    ]
    assert scores.tolist() == expected == [1.0, 1 / 3, 0.0, 1.0] * 5


def test_table_accuracy_on_workers() -> None:
    """An executor gives the same scores, and the progress is called at the end."""
    noted: list[tuple[int, int | None]] = []
    options: dict[str, Any] = {"progress": lambda *done: noted.append(done)}
    with ThreadPoolExecutor(2) as executor:
        scores = table_accuracies_from_columns(SQL * 15, TABLES * 15, executor=executor, **options)
    assert scores.tolist() == table_accuracies_from_columns(SQL * 15, TABLES * 15).tolist()
    assert noted[-1] == (300, 300)


@refusals("""
table_accuracies_from_columns([], [])
    -> InputError: generated must be a non-empty sequence of strings, got ()
table_accuracies_from_columns("x", [[]])
    -> TypeError: generated must be a non-empty sequence of strings, got 'x'
table_accuracies_from_columns(["x", 1], [[], []])
    -> TypeError: generated[1] must be a string, got 1
table_accuracies_from_columns(["x"], ["users"])
    -> TypeError: expected_tables[0] must be an iterable of strings, got 'users'
table_accuracies_from_columns(["x"], [["a", ""]])
    -> InputError: expected_tables[0][1] must be a non-empty string, got ''
table_accuracies_from_columns(["x"], [[], []])
    -> InputError: expected_tables and generated must be equally long, got 2 and 1
""")
def test_errors_of_columns_of_queries(wrong: Refusal) -> None:
    """The column is named, and the row."""
    wrong.by_itself()


CASES = [
    SqlCase(case_id="a", generated="SELECT 1"),
    SqlCase(
        case_id="b",
        generated="SELECT x FROM t",
        expected="SELECT x FROM t",
        expected_tables=("t", "u"),
        is_valid=True,
        safety_valid=True,
        should_pass=False,
        expected_safe=False,
        errors=("no such table: u",),
        confidence="high",
        dialect="sqlite",
        schema="CREATE TABLE t (x INT)",
        question="Which x?",
    ),
    SqlCase(case_id="c", generated="", is_valid=False, should_pass=True),
]


@pytest.mark.parametrize("kind", NO_NUMPY)
def test_a_table_of_any_kind_becomes_cases(kind: str) -> None:
    """Lists, pandas, polars, Arrow; what is missing stays not known."""
    names = [field.name for field in attrs.fields(SqlCase)]
    lists: dict[str, Any] = {  # as a file would hold them; Arrow and polars know no tuples
        name: [list(v) if isinstance(v := getattr(case, name), tuple) else v for case in CASES]
        for name in names
    }
    lists["tags"] = [{"database": "shop"}, None, {"database": None}]
    table = TABLES_OF[kind](lists)
    cases = sql_cases_from_columns(**{name: table[name] for name in names})
    tags: list[dict[str, str]] = [{"database": "shop"}, {}, {}]
    assert cases == tuple(attrs.evolve(c, tags=own) for c, own in zip(CASES, tags, strict=True))
    assert score_sql_cases(cases).n_cases == 3


def test_what_holds_for_all_cases() -> None:
    """One dialect and one schema, as text or mapping; several accepted queries; no columns."""
    shared: dict[str, Any] = {"dialect": "sqlite", "schema": {"t": {"x": "INT"}}}
    cases = sql_cases_from_columns(
        case_id=["a", "b"],
        generated=np.array(["SELECT 1", "SELECT 2"]),
        expected=["SELECT 1", ["SELECT 2", "SELECT 1 + 1"]],
        **shared,
    )
    two = ("SELECT 2", "SELECT 1 + 1")
    assert cases == (
        SqlCase(case_id="a", generated="SELECT 1", expected="SELECT 1", **shared),
        SqlCase(case_id="b", generated="SELECT 2", expected=two, **shared),
    )
    texts = sql_cases_from_columns(case_id=["a"], generated=["x"], schema="CREATE TABLE t (x)")
    assert texts[0].schema == "CREATE TABLE t (x)"


@refusals("""
case_id="ab"
    -> TypeError: case_id must be a non-empty sequence of strings or integers, got 'ab'
question="Which?" -> TypeError: question must be a non-empty sequence of entries, got 'Which?'
expected=["SELECT 1"] -> InputError: expected and case_id must be equally long, got 1 and 2
generated=["SELECT 1", None]
    -> TypeError: row 1: generated must be a string ('' scores 0: a model without an answer),
    got None
confidence=["high", "sure"]
    -> InputError: row 1: confidence must be one of 'high', 'medium', 'low', got 'sure'
expected_tables=[None, "users"]
    -> TypeError: row 1: expected_tables must be a sequence of strings, got 'users'
""")
def test_errors_of_columns_of_cases(wrong: Refusal) -> None:
    """The column is named, and the row."""
    call: dict[str, Any] = {"case_id": ["a", "b"], "generated": ["SELECT 1", "SELECT 2"]}
    wrong.by(sql_cases_from_columns, **call)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_data_frame_is_no_column(kind: str) -> None:
    """It hands out the names of its columns, which would be scored in place of its rows."""
    table: Any = TABLES_OF[kind]({"q1": ["SELECT x FROM t"]})
    with pytest.raises(InputError, match=r"^case_id must be one-dimensional, got shape"):
        sql_cases_from_columns(case_id=table, generated=["SELECT 1"])
    with pytest.raises(TypeError, match=r"^generated must be a non-empty sequence of strings, g"):
        table_accuracies_from_columns(table, [["t"]])
    with pytest.raises(TypeError, match=r"^items must be an ordered iterable, got "):
        map_scores(len, table)
    numbers: Any = pd.DataFrame([[0.1, 0.2], [0.3, 0.4]])  # whose names are numbers
    with pytest.raises(TypeError, match=r"^scores must be a non-empty sequence of scores, or of "):
        best_at_k(numbers, k=1)


def test_what_a_mask_hides_is_missing() -> None:
    """The values under the mask of a NumPy array are none of the column's."""
    masked: Any = np.ma.masked_array([1, 2], mask=[False, True])
    report = code_report_from_columns(
        case_id=["a", "b"],
        model="m",
        compiled=[True, True],
        cost_usd=masked.astype(float),
        input_tokens=masked,
    )
    assert (report.models[0].total_cost_usd, report.models[0].total_input_tokens) == (1.0, 1)
    with pytest.raises(InputError, match=f"^{re.escape(NO_OUTCOME)}None$"):
        code_scores_from_columns(compiled=[True, True], passed=masked)


def test_small_floats_of_numpy_are_measured_like_any() -> None:
    """Whole numbers beside a NaN are counts in float16 too, and a NaN is missing in any size."""
    for column in (
        np.array([3, np.nan], dtype=np.float16),
        np.array([3, np.float32("nan")], dtype=object),
    ):
        report = code_report_from_columns(
            case_id=["a", "b"], model="m", compiled=[True, True], input_tokens=column
        )
        assert report.models[0].total_input_tokens == 3


@pytest.mark.newest
def test_columns_load_no_module_of_masks() -> None:
    """It takes longer to load than most columns to score, and nothing is masked without it."""
    code = (
        "import sys; from scorekit import code_scores_from_columns as score; "
        "score(compiled=[True, False]); "
        "sys.exit('numpy.ma' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_missing_id_that_made_floats_of_the_others_is_named() -> None:
    """A data frame turns the ids 1 and 2 into 1.0 and 2.0 because of one that is missing."""
    columns: list[Any] = [[1.0, math.nan], pd.Series([1, None])]
    for ids in columns:
        with pytest.raises(InputError, match=r"^case_id\[1\] must be .*makes floats of the oth"):
            code_report_from_columns(case_id=ids, model="m", passed=[1, 0])


def test_a_name_is_plain_text_whatever_text_it_was() -> None:
    """Members of an enum print another name than they are, so they would pair with no JSON."""

    class Model(str, enum.Enum):  # noqa: UP042 - a StrEnum prints its value
        SMALL = "small"

    wanted = code_report_from_columns(case_id=["small"], model="small", passed=[1])
    sample = CodeSample(case_id=Model.SMALL, model=Model.SMALL, compiled=True, passed=1)
    columns = [Model.SMALL]
    for report in (
        code_report([sample]),
        code_report_from_columns(case_id=columns, model=columns, passed=[1]),
    ):
        assert (str(report), repr(report)) == (str(wanted), repr(wanted))
    changed = compare_reports({Model.SMALL: 1}, {"small": 0})
    assert repr(changed) == repr(compare_reports({"small": 1}, {"small": 0}))


def test_an_integer_of_any_size_is_a_name() -> None:
    """Such as a hash, which may be negative; only what Python cannot write is refused."""
    for number in (-(2**63), 2**70):
        assert CodeSample(case_id=number, model="m", compiled=True).case_id == str(number)
    huge = 10**5000
    for use in (
        lambda: CodeSample(case_id=huge, model="m", compiled=True),
        lambda: code_report_from_columns(case_id=[huge], model="m", passed=[1]),
        lambda: compare_reports({huge: 1}, {"a": 1}),
    ):
        with pytest.raises(InputError, match="must be a non-empty string or an integer, got <int"):
            use()


def test_what_is_far_below_a_count_is_named_as_it_is() -> None:
    """As whole floats beside a missing one are counts, these would have become others."""
    call: dict[str, Any] = {"case_id": ["a", "b"], "model": "m", "passed": [1, 1]}
    for value in (-math.inf, -1e300):
        with pytest.raises(InputError, match=rf"^cost_usd\[0\] .* got {re.escape(str(value))}$"):
            code_report_from_columns(**call, cost_usd=[value, math.nan])
