"""Series, frames of two columns and groups: the same scores as a mapping holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refusals import Refusal, refusals

from scorekit import compare_models, compare_reports, required_tasks

OLD = {"a": [1, 1, 1], "b": [1, 1, 1], "c": [1, 0, 1], "d": [0, 0, 1], "e": [1, 1, 1]}
NEW = {"a": [1, 0, 0], "b": [1, 0, 1], "c": [0, 0, 1], "d": [0, 0, 0], "e": [1, 1, 0]}


def frame(scores: dict[str, list[int]]) -> pd.DataFrame:
    """Return a row for each attempt, in the order of the cases."""
    rows = [(case, score) for case, own in scores.items() for score in own]
    return pd.DataFrame(rows, columns=["case", "score"])


def _polars(scores: dict[str, list[int]], form: Callable[[Any], Any]) -> Any:
    polars = pytest.importorskip("polars")
    return form(polars.DataFrame(frame(scores).to_dict("list")))


FORMS: dict[str, Callable[[dict[str, list[int]]], Any]] = {
    "series of lists": pd.Series,
    "groupby with list": lambda scores: frame(scores).groupby("case").score.agg(list),
    "groupby": lambda scores: frame(scores).groupby("case").score,
    "groupby as a frame": lambda scores: (
        frame(scores).groupby("case", as_index=False).score.agg(list)
    ),
    "index that comes again": lambda scores: frame(scores).set_index("case").score,
    "flags": lambda scores: frame(scores).astype({"score": bool}).set_index("case").score,
    "categories, nullable": lambda scores: (
        frame(scores).astype({"case": "category", "score": "Int64"}).set_index("case").score
    ),
    "objects": lambda scores: frame(scores).astype(object).set_index("case").score,
    "two columns": frame,
    "arrays": lambda scores: pd.Series({case: np.array(own) for case, own in scores.items()}),
    "polars": lambda scores: _polars(scores, lambda table: table),
    "polars, grouped": lambda scores: _polars(
        scores, lambda table: table.group_by("case", maintain_order=True).agg("score")
    ),
    "arrow": lambda scores: (
        frame(scores)
        .astype({"score": pd.ArrowDtype(pytest.importorskip("pyarrow").int64())})
        .set_index("case")
        .score
    ),
}

forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@forms
def test_a_table_is_the_mapping_that_it_holds(form: Callable[[dict[str, list[int]]], Any]) -> None:
    """On both sides of a comparison, for models, and for a pilot; also several repeats."""
    old, new = form(OLD), form(NEW)
    wanted = compare_reports(OLD, NEW)
    assert compare_reports(old, new) == compare_reports(OLD, new) == wanted
    again = compare_reports([form(OLD), form(OLD)], [form(NEW), form(NEW)])
    assert again == compare_reports([OLD, OLD], [NEW, NEW])
    assert compare_models({"x": form(OLD), "y": form(NEW)}) == compare_models({"x": OLD, "y": NEW})
    pilot = required_tasks(effect=0.1, pilot=(form(OLD), form(NEW)))
    assert pilot == required_tasks(effect=0.1, pilot=(OLD, NEW))


def test_a_missing_score_is_unknown() -> None:
    """NaN, as a Series has it, and ``pd.NA``."""
    lost = pd.Series({"a": 1.0, "b": np.nan, "c": 0.0, "d": 1.0, "e": 1.0})
    flags = {"a": 1, "b": None, "c": 0, "d": 1, "e": 1}
    whole = dict.fromkeys("abcde", 1)
    assert compare_reports(lost, whole) == compare_reports(flags, whole)
    assert compare_reports(lost.astype("Int64"), whole) == compare_reports(flags, whole)


def test_cases_pair_by_name_whatever_their_order() -> None:
    """An index in another order, with a case more: as mappings pair."""
    old, new = pd.Series(OLD), pd.Series(NEW)[::-1]
    new["f"] = [1, 1, 1]
    found = compare_reports(old, new)
    assert found.suite == compare_reports(OLD, NEW).suite
    assert [change.case_id for change in found.new_cases] == ["f"]


@refusals("""
pd.Series([1, 0]) -> TypeError: baseline must be a Series whose index is the case (set_index),
    or a frame of case and score, got 'a Series with the index 0 to 1'
pd.Series(OLD)[:0] -> InputError: baseline must be a run with at least one case, got {}
frame(OLD).assign(version=1) -> TypeError: baseline must be a frame of two columns, case and score
    (of one with both versions: compare_from_columns(case_id=, version=, score=, baseline=)),
    got ['case', 'score', 'version']
pd.concat([frame(OLD)], keys=["x"]).score -> TypeError: baseline must be a Series whose index is
    the case (one level: droplevel() leaves others out), got [None, None]
pd.Series({"a": "87 %"}) -> TypeError: baseline['a'] must be a score in [0, 1], True, False, or...
pd.Series({"a": 87.0}) -> InputError: baseline['a'] must be a number in [0, 1] (a share: 0.87...
pd.Series({(1, 2): 1.0}) -> TypeError: baseline must be a Series whose index is the case (one...
pd.Series({1.5: 1.0}) -> TypeError: a case of baseline must be a non-empty string or an...
"score" -> TypeError: baseline must be a CodeReport, a SqlReport or a mapping from case to...
""")
def test_what_is_no_table_of_scores(wrong: Refusal) -> None:
    """Rows are never paired by their number, and levels never chosen."""
    wrong.by_value(lambda value: compare_reports(value, OLD))
