"""
One grammar for all public functions: the table of docs/grammar.md, held for each parameter.

A function is called as its entry in tests/support/public_register.py says, and a parameter joins
by its name.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from column_types import COLUMN_TYPES, arrow_chunks, polars_series
from public_register import CALLS, REGISTER
from record_types import RECORDS
from refusals import Refusal

import scorekit
from scorekit import (
    InputError,
    judge_from_function,
)

GRAMMAR_EXCEPTIONS: dict[tuple[str, str], str] = {
    ("table_accuracy", "expected_tables"): "names, of which a set holds as many",
    ("column_accuracy", "expected"): "names, of which a set holds as many, or SQL",
    ("code_scores_from_columns", "passed"): "a count of tests",
    ("compare_reports", "clusters"): "a mapping, as reports hold their cases by name",
    ("cost_of_pass_from_columns", "seed"): "at most 2**32 - 1",
    ("rubric_score", "met"): "may be unknown",
}
"""Parameters that differ from the table, and why."""

ONE_FOR_ALL: set[tuple[str, str]] = {
    ("code_report_from_columns", "model"),
    ("sql_cases_from_columns", "dialect"),
}
"""Columns of text that may be one value for all rows."""

SEVERAL_TOO: set[tuple[str, str]] = {
    ("aquery_correctness", "expected"),
    ("query_correctness", "expected"),
    *((name, "k") for name in ("best_at_k", "extrapolate_pass_at_k", "g_pass_at_k")),
}
"""Values that may be several."""


def parameters_of(name: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function by name."""
    return inspect.signature(getattr(scorekit, name)).parameters


def call(name: str, arguments: dict[str, Any]) -> Any:
    """Call a function or make a record, whatever goes by position."""
    parameters = parameters_of(name).values()
    first = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    rest = {key: value for key, value in arguments.items() if key not in first}
    positional = (arguments[key] for key in first if key in arguments)
    result = getattr(scorekit, name)(*positional, **rest)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def same(first: Any, second: Any) -> bool:
    """Compare results, arrays among them."""
    if isinstance(first, np.ndarray):
        return bool(np.array_equal(first, second, equal_nan=True))
    if isinstance(first, tuple) and any(isinstance(one, np.ndarray) for one in first):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def named(*names: str) -> list[tuple[str, str]]:
    """Return the function and the parameter wherever a call has one of these."""
    return [(f, p) for f, arguments in CALLS.items() for p in arguments if p in names]


def test_every_function_is_swept() -> None:
    """A new one has to join, and what is gone to leave; plots take results, not data."""
    functions = {n for n in scorekit.__all__ if inspect.isfunction(getattr(scorekit, n))}
    left_out = {n for n in functions if n.startswith("plot_")}
    assert functions - left_out <= CALLS.keys()
    assert REGISTER.keys() <= {*scorekit.__all__, *RECORDS}
    assert all(CALLS[name].keys() <= parameters_of(name).keys() for name in CALLS)


# Ids.

IDS = named("case_id", "case_ids", "task_id", "run_id", "tier_id", "model")


@pytest.mark.parametrize(("name", "parameter"), IDS)
def test_ids_are_text_or_integers(name: str, parameter: str) -> None:
    """NumPy's too; the name is that text."""
    value = CALLS[name][parameter]
    several = isinstance(value, list)
    names = ["7", "7", "8", "8"] if several and len(value) == 4 else ["7", "8"]
    texts: Any = names if several else "7"
    wanted = call(name, CALLS[name] | {parameter: texts})
    for as_integer in (int, np.int64):
        ids: Any = list(map(as_integer, names)) if several else as_integer(7)
        assert same(call(name, CALLS[name] | {parameter: ids}), wanted)
    for odd in (0.5, "", None, True):
        if odd is None and parameter in ("model", "task_id", "case_ids"):
            continue  # no such name at all
        with pytest.raises((TypeError, InputError), match=parameter):
            call(name, CALLS[name] | {parameter: [odd] * len(names) if several else odd})


# Outcomes.

OUTCOMES = named(
    *("passed", "compiled", "outcomes", "correct", "met", "is_valid", "safety_valid"),
    *("syntax_valid", "schema_valid", "should_pass", "expected_safe"),
)
COUNTED = {"code_score", "code_scores_from_columns", "code_report_from_columns", "CodeSample"}
"""Where *passed* is a number of tests: True says that all passed."""
ANSWERS = {("majority_at_k", "correct")}
"""Not whether, but which answer is correct."""


@pytest.mark.parametrize(("name", "parameter"), [
    (name, parameter)
    for name, parameter in OUTCOMES
    if (name, parameter) not in ANSWERS and not (parameter == "passed" and name in COUNTED)
])  # fmt: skip
def test_outcomes_are_flags_or_one_and_zero(name: str, parameter: str) -> None:
    """As booleans, integers and floats, NumPy's too; words and other numbers are refused."""
    given = CALLS[name][parameter]
    wanted = call(name, CALLS[name])
    for make in (int, float, np.bool_, np.int64, np.float64):
        value: Any = [make(one) for one in given] if isinstance(given, list) else make(given)
        assert same(call(name, CALLS[name] | {parameter: value}), wanted), make
    for odd in ("yes", 2, math.nan):
        value = [odd, *given[1:]] if isinstance(given, list) else odd
        if odd != odd and name in ("sql_cases_from_columns", "rubric_score"):  # noqa: PLR0124
            continue  # a missing entry is not known
        with pytest.raises((TypeError, InputError), match=parameter):
            call(name, CALLS[name] | {parameter: value})


def test_a_judge_may_say_true() -> None:
    """Whatever kind of true, and whatever else a score is written as."""
    for answer in (True, np.True_, np.float32(1.0), np.int64(1), Decimal(1), 1):
        judge = judge_from_function(lambda _, answer=answer: answer, identity="says")  # type: ignore[misc]
        result = scorekit.query_correctness("SELECT a FROM t", "SELECT b FROM t", judge=judge)
        assert (result.score, result.method) == (1.0, "judge")
    assert scorekit.Verdict(score=np.True_).score == 1.0  # type: ignore[arg-type]


# Columns.


OF_TABLES = [name for name in scorekit.__all__ if name.endswith("_from_columns")]


@pytest.mark.parametrize("name", sorted({*OF_TABLES} - {"table_accuracies_from_columns"}))
def test_a_table_by_position_is_told_how_it_is_given(name: str) -> None:
    """Not only that there is no place for it."""
    table = pd.DataFrame({"case_id": ["a"]})
    noted = rf"^{name}\(\) takes columns by name, such as {name}\(\*\*table\), got a DataFrame$"
    with pytest.raises(TypeError, match=noted):
        getattr(scorekit, name)(table)


MAKERS: dict[str, Callable[[list[Any]], Any]] = {
    "nullable": lambda values: pd.Series(values).convert_dtypes(),
    "MultiIndex": lambda values: pd.Series(
        values, index=pd.MultiIndex.from_tuples([(i, "x") for i in range(len(values))])
    ),
    **COLUMN_TYPES,  # what may not be installed comes last
}
NOT_DATA = {"metrics", "quantiles", "generated_rows", "expected_rows", "tiers", "runs", "cases"}
NOT_DATA |= {"samples", "results", "ratings", "items"}
"""Options, records, and rows of rows."""
COLUMNS = [
    (name, parameter)
    for name, arguments in CALLS.items()
    for parameter, value in arguments.items()
    if isinstance(value, list)
    and parameter not in NOT_DATA
    and not isinstance(value[0], list | tuple)
    and "a set holds" not in GRAMMAR_EXCEPTIONS.get((name, parameter), "")
]


@pytest.mark.parametrize(("name", "parameter"), COLUMNS)
def test_columns_are_of_any_library(name: str, parameter: str) -> None:
    """A list, a tuple, an array, a Series: the same result."""
    wanted = call(name, CALLS[name])
    for kind, make in MAKERS.items():
        value = make(CALLS[name][parameter])
        assert same(call(name, CALLS[name] | {parameter: value}), wanted), kind


@pytest.mark.parametrize(("name", "parameter"), COLUMNS)
def test_what_is_no_column_is_named(name: str, parameter: str) -> None:
    """Text, a mapping, a set, a frame: each would be taken apart in a way that nobody meant."""
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    for odd in ({1, 2}, frame):
        with pytest.raises((TypeError, InputError), match=rf"^(row 0: )?{parameter}\b"):
            call(name, CALLS[name] | {parameter: odd})
    if (name, parameter) not in ONE_FOR_ALL:
        with pytest.raises(TypeError, match=rf"^{parameter}\b.* must be .*sequence"):
            call(name, CALLS[name] | {parameter: "ab"})


@pytest.mark.parametrize(("name", "parameter"), COLUMNS)
def test_a_column_without_entries_or_all_missing_is_named(name: str, parameter: str) -> None:
    """Nothing is the score of nothing, unless what is missing is only not known."""
    for odd in ([], [None] * len(CALLS[name][parameter])):
        try:
            call(name, CALLS[name] | {parameter: odd})
        except (TypeError, InputError) as error:
            assert parameter in str(error)  # noqa: PT017 - which of the two is no matter
        else:
            assert odd, f"an empty {parameter}"


# Numbers of attempts, levels, seeds.


@pytest.mark.parametrize("name", [name for name in CALLS if "k" in parameters_of(name)])
def test_k_is_one_number_or_several(name: str) -> None:
    """A result for each, in their order; any sequence or array of them."""
    largest = {"extrapolate_pass_at_k": 20, "code_report_from_columns": 1}.get(name, 2)
    single = [call(name, CALLS[name] | {"k": k}) for k in (1, largest)]
    reports = [call(name, CALLS[name] | {"k": make([1])}) for make in (list, np.array, pd.Series)]
    if hasattr(single[0], "models"):  # one report has them all
        assert all(report == single[0] for report in reports)
        return
    makers: list[Any] = [list, tuple, iter, np.array, pd.Series, polars_series]
    for make in makers:
        ks: Any = make([1, largest])
        found = call(name, CALLS[name] | {"k": ks})
        assert isinstance(found, tuple)
        assert all(map(same, found, single))
    for odd in (0, "2", 1.5, True, [], [0], "12"):
        with pytest.raises((TypeError, InputError), match=r"^k\b"):
            call(name, CALLS[name] | {"k": odd})


@pytest.mark.parametrize("name", [n for n in CALLS if "confidence_level" in parameters_of(n)])
def test_a_level_is_a_share(name: str) -> None:
    """In (0, 1), of any type of number, 0.95 by default; one message."""
    assert parameters_of(name)["confidence_level"].default == 0.95
    wanted = call(name, CALLS[name] | {"confidence_level": 0.75})
    for level in (Decimal("0.75"), np.float32(0.75), Fraction(3, 4)):
        assert same(call(name, CALLS[name] | {"confidence_level": level}), wanted)
    for odd in (0, 1, 95, math.nan, "0.95", None, True):
        share = r" \(a share: 0.95 for 95 %\)" if odd == 95 else ""
        message = rf"^confidence_level must be a number in \(0, 1\){share}, got "
        with pytest.raises((TypeError, InputError), match=message):
            call(name, CALLS[name] | {"confidence_level": odd})


@pytest.mark.parametrize("name", [n for n in CALLS if "seed" in parameters_of(n)])
def test_a_seed_is_an_integer(name: str) -> None:
    """From 0 on, NumPy's too; 0 by default."""
    assert parameters_of(name)["seed"].default == 0
    wanted = call(name, CALLS[name] | {"seed": 3})
    assert same(call(name, CALLS[name] | {"seed": np.int64(3)}), wanted)
    for odd in (-1, 1.5, True, None, "1"):
        domain = r"(>= 0|in \[0, 4294967295\])"
        with pytest.raises((TypeError, InputError), match=rf"^seed must be an integer {domain}, "):
            call(name, CALLS[name] | {"seed": odd})


ONE_TASK = ("best_at_k", "majority_at_k", "rubric_score")  # in CALLS: one task has no clusters


@pytest.mark.parametrize("name", [
    name
    for name in CALLS
    if "clusters" in parameters_of(name) and name not in ("compare_reports", *ONE_TASK)
])  # fmt: skip
def test_clusters_are_labels(name: str) -> None:
    """One for each observation: text, integers, tuples, a column of any library."""
    first = next(v for v in CALLS[name].values() if isinstance(v, list))
    labels = ["x", "x", "y", "y" if "case_id" in CALLS[name] else "z"][: len(first)]
    wanted = call(name, CALLS[name] | {"clusters": labels})
    numbers, pairs = [ord(one) for one in labels], [(one, 1) for one in labels]
    makers: list[Any] = [np.array, pd.Series, tuple, polars_series, arrow_chunks]
    for clusters in (numbers, pairs, *(make(labels) for make in makers)):
        found = call(name, CALLS[name] | {"clusters": clusters})
        if name == "cost_of_pass_from_columns":  # it keeps the names, where they are names
            found = attrs.evolve(found, cluster_means=wanted.cluster_means)
        assert same(found, wanted)
    for odd in ("xy", {"x": 1}, [None] * len(first), labels[1:], 3):
        with pytest.raises((TypeError, InputError), match=r"^clusters\b"):
            call(name, CALLS[name] | {"clusters": odd})


@pytest.mark.parametrize("name", [n for n in CALLS if "metrics" in parameters_of(n)])
def test_metrics_are_names(name: str) -> None:
    """In any sequence; a single name is no sequence of them, and an unknown one is refused."""
    metrics = CALLS[name]["metrics"]
    wanted = call(name, CALLS[name])
    for several in (tuple(metrics), iter(metrics), np.array(metrics), pd.Series(metrics)):
        assert same(call(name, CALLS[name] | {"metrics": several}), wanted)
    for odd in (metrics[0], [], ["x"], [3], {"a"}):
        with pytest.raises((TypeError, InputError), match=r"^metrics\b"):
            call(name, CALLS[name] | {"metrics": odd})


# One value, several values.

SINGLE = [
    (name, parameter)
    for name, arguments in CALLS.items()
    for parameter, value in arguments.items()
    if isinstance(value, int | float | str)
]


@pytest.mark.parametrize(("name", "parameter"), SINGLE)
def test_a_list_is_no_single_value(name: str, parameter: str) -> None:
    """It is refused under its name."""
    if (name, parameter) in SEVERAL_TOO:
        return
    with pytest.raises((TypeError, InputError), match=rf"^{parameter}\b"):
        call(name, CALLS[name] | {parameter: [CALLS[name][parameter]]})


@pytest.mark.parametrize("name", ["pass_at_k", "pass_hat_k", "g_pass_at_k"])
def test_text_is_no_count(name: str) -> None:
    """The message says that one number would do."""
    for parameter in ("n_samples", "n_correct"):
        counts = {"n_samples": 10, "n_correct": 3, parameter: "10"}
        with pytest.raises(TypeError, match=rf"^{parameter} must be an integer"):
            call(name, counts)


# What is refused, and what to do.


@pytest.mark.parametrize(("call", "remedy"), [
    ("score_sql_cases([{'case_id': 'a'}])", "sql_cases_from_columns"),
    ("tier_statistics('T0', [{'run_id': 'a'}])", "runs_from_columns"),
    ("code_report([{'case_id': 'a'}])", "code_report_from_columns"),
    ("majority_at_k(['a', None], correct='a')", "leave it out"),
    ("majority_at_k(['a', math.nan], correct='a')", "leave it out"),
    ("extract_tables('SELECT 1', dialect='postgre')", "postgres"),
    ("ClaudeJudge(api_key='')", "ANTHROPIC_API_KEY"),
    ("cost_of_pass_from_columns(cost_usd=[1, None], passed=[True, True])", "leave out"),
    ("Run(run_id=1, passed=1, impl_rate=math.nan, cost_usd=1)", "pass passed instead"),
    ("calibration_error([0.5], ['PASS'])", "x == 'PASS'"),
])  # fmt: skip
def test_what_is_refused_says_what_to_do(call: str, remedy: str) -> None:
    """Not only what it is not."""
    with pytest.raises((TypeError, InputError)) as caught:
        _ = Refusal(call, InputError, "", {}).value
    assert remedy in str(caught.value)


def test_the_page_has_the_exceptions() -> None:
    """Each stands in the table of docs/grammar.md, with its reason."""
    page = (Path(__file__).parents[2] / "docs" / "grammar.md").read_text(encoding="utf-8")
    for name, _ in [*GRAMMAR_EXCEPTIONS, *ONE_FOR_ALL, *SEVERAL_TOO]:
        assert f"`{name}" in page, name
