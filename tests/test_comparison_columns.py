"""One long table to a verdict: the same as of two mappings, and what is no such table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from column_types import COLUMN_TYPES
from hypothesis import given
from hypothesis import strategies as st
from outcomes import ends
from refusals import Refusal, refusals

from scorekit import InputError, compare_from_columns, compare_reports

SCORE = st.none() | st.booleans() | st.sampled_from([0.0, 0.25, 1.0])
ROWS = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from(["v1", "v2"]), SCORE),
    min_size=8,
    max_size=40,
)
CASES = ["a", "b", "c", "d", "e"] * 8
VERSIONS = ["v1"] * 20 + ["v2"] * 20
SCORES = [1.0, 1, 1, 1, 0] * 4 + [0, 1, 0, 1, 0] * 2 + [0, 0, 0, 1, 0] * 2
TABLE: dict[str, Any] = {"case_id": CASES, "version": VERSIONS, "score": SCORES}


def by_case(version: str, scores: list[Any], cases: list[str] | None = None) -> dict[str, Any]:
    """Return the attempts at each case of one version, as users group them by hand."""
    found: dict[str, Any] = {}
    for case, own, score in zip(cases or CASES, VERSIONS, scores, strict=True):
        if own == version:
            found.setdefault(case, []).append(score)
    return found


@given(ROWS)
def test_it_says_what_two_mappings_do(rows: list[tuple[str, str, float | None]]) -> None:
    """Whatever the order of the rows, with unknown outcomes, and where it is refused."""
    cases, versions, scores = map(list, zip(*rows, strict=True))
    sides: dict[str, dict[str, list[Any]]] = {"v1": {}, "v2": {}}
    for case, version, score in rows:
        sides[version].setdefault(case, []).append(score)
    table: dict[str, Any] = {"case_id": cases, "version": versions, "score": scores}
    try:
        wanted = compare_reports(sides["v1"], sides["v2"])
    except InputError:
        with pytest.raises(InputError):
            compare_from_columns(**table, baseline="v1")
        return
    found = compare_from_columns(**table, baseline="v1")
    assert (found.baseline_name, found.current_name) == ("v1", "v2")
    for name in ("verdict", "n_cases", "delta_bounds"):
        assert getattr(found.suite, name) == pytest.approx(getattr(wanted.suite, name))
    ours, theirs = ([one.suite.delta, one.suite.p_value] for one in (found, wanted))
    assert ours == pytest.approx(theirs, nan_ok=True)  # cases come in another order
    assert ends(found.suite.interval) == pytest.approx(ends(wanted.suite.interval))
    for name in ("regressions", "improvements", "new_cases", "removed_cases", "newly_failing"):
        changes = [
            sorted((one.case_id, one.baseline, one.current) for one in getattr(side, name))
            for side in (found, wanted)
        ]
        assert changes[0] == changes[1]
    assert found.has_regressions == wanted.has_regressions


@pytest.mark.parametrize("convert", COLUMN_TYPES.values(), ids=COLUMN_TYPES)
def test_columns_of_any_library(convert: Any) -> None:
    """Also categories, and what is read in chunks."""
    columns = {name: convert(values) for name, values in TABLE.items()}
    wanted = compare_from_columns(**TABLE, baseline="v1")
    assert compare_from_columns(**columns, baseline="v1") == wanted
    numbers = convert([int(one[1]) for one in VERSIONS])
    assert compare_from_columns(**{**TABLE, "version": numbers}, baseline=1).suite == wanted.suite


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA])
def test_missing_scores_are_unknown(missing: Any) -> None:
    """In a column of objects, of floats, and a nullable one."""
    scores = [missing, *SCORES[1:]]
    wanted = compare_reports(by_case("v1", [None, *SCORES[1:]]), by_case("v2", SCORES))
    for column in (scores, pd.Series(scores).astype("Int64"), pd.Series(scores, dtype=object)):
        found = compare_from_columns(**{**TABLE, "score": column}, baseline="v1")
        assert found.suite == wanted.suite


def test_several_metrics() -> None:
    """By columns, or by rows: the same; each is what it is alone, adjusted for the other."""
    half = [score / 2 for score in SCORES]
    columns = compare_from_columns(
        **{**TABLE, "score": {"passed": SCORES, "half": half}}, baseline="v1"
    )
    rows = compare_from_columns(
        case_id=CASES * 2,
        version=VERSIONS * 2,
        score=SCORES + half,
        metric=["passed"] * 40 + ["half"] * 40,
        baseline="v1",
    )
    assert columns == rows
    assert list(columns.suites) == ["passed", "half"]
    assert columns.suites["half"].delta == columns.suites["passed"].delta / 2
    alone = compare_from_columns(**TABLE, baseline="v1")
    assert columns.suites["passed"].delta == alone.suite.delta


def test_options_go_on() -> None:
    """Clusters and labels by row or by case; a third version is named, and left out."""
    first = {"a": "x", "b": "x", "c": "y", "d": "z", "e": "z"}
    labels = [first[case] for case in CASES]
    sides = by_case("v1", SCORES), by_case("v2", SCORES)
    for option in ("clusters", "by"):
        by_row: dict[str, Any] = {option: labels}
        by_name: dict[str, Any] = {option: first}
        wanted = compare_reports(*sides, **by_name).suites
        for labelled in (by_row, by_name):
            assert compare_from_columns(**TABLE, baseline="v1", **labelled).suites == wanted
    back = compare_from_columns(**TABLE, baseline="v2", threshold=0.2, confidence_level=0.9)
    assert back.suite.delta == -compare_reports(*sides).suite.delta
    assert (back.threshold, back.confidence_level) == (0.2, 0.9)
    three = {**TABLE, "version": ["v0", *VERSIONS[1:]]}
    left = compare_from_columns(**three, baseline="v1", current="v2")
    without = by_case("v1", SCORES)
    without["a"] = without["a"][1:]
    assert left.suite == compare_reports(without, sides[1]).suite


def test_an_attempt_that_comes_twice() -> None:
    """Epochs tell the attempts at a case apart."""
    epochs = [i // 5 % 4 for i in range(40)]
    assert compare_from_columns(**TABLE, attempt=epochs, baseline="v1") == (
        compare_from_columns(**TABLE, baseline="v1")
    )
    with pytest.raises(InputError, match=r"^attempt\[5\] must be unlike that of row 0"):
        compare_from_columns(**TABLE, attempt=[0] * 40, baseline="v1")


FRAME = pd.DataFrame(TABLE)


@refusals("""
version="version"
    -> TypeError: version must be a sequence, such as the column table['version'], got 'version'
score="score" -> TypeError: score must be a sequence, such as the column table['score'], got...
score=FRAME -> TypeError: score must be a column of a table, not the table, got a DataFrame
score=["87 %"] * 40 -> TypeError: score[0] must be True or False, or a number in [0, 1] (if...
score=[87.0] * 40
    -> InputError: score[0] must be a number in [0, 1] (a share: 0.87 for 87 %), got 87.0
score=[[1, 0]] * 40
    -> TypeError: score must be a score for each row (of lists of attempts: compare_reports, or...
score=SCORES[:5] -> InputError: score and case_id must be equally long, got 5 and 40
score={} -> InputError: score must be a column, or a mapping from metric to column, got {}
score={"x": SCORES[:5]} -> InputError: score['x'] and case_id must be equally long, got 5 and 40
score={"x": SCORES}, metric=CASES
    -> InputError: metric must be None where score is a mapping from metric to column, got...
version=["v1"] * 40
    -> InputError: current must be in the table, whose only version is baseline, got None
version=["v1", "v2", "v3", "v4"] * 10
    -> InputError: current must be one of 'v2', 'v3', 'v4', as there are several, got None
version=["v1", None] * 20
    -> InputError: version[1] must be a non-empty string or an integer, got None
baseline="v0" -> InputError: baseline must be one of 'v1', 'v2', got 'v0'
current="v1" -> InputError: current must be one of 'v2', got 'v1'
case_id=[], version=[], score=[]
    -> InputError: case_id must be a non-empty sequence of strings or integers, got ()
attempt=[0] -> InputError: attempt and case_id must be equally long, got 1 and 40
by=SCORES -> InputError: by[20] must be 1.0, as in another row of case 'a', got 0
""")
def test_what_is_no_table_of_attempts(wrong: Refusal) -> None:
    """Each message names the column and what to do."""
    wrong.by(compare_from_columns, **{**TABLE, "baseline": "v1"})


def test_rows_in_another_order_are_refused() -> None:
    """Columns pair by place, which an index that is turned around would hide."""
    frame = pd.DataFrame(TABLE)
    turned = frame.score.sort_values(kind="stable")
    with pytest.raises(InputError, match=r"^score must have its rows in the order of case_id"):
        compare_from_columns(
            case_id=frame.case_id, version=frame.version, score=turned, baseline="v1"
        )
    assert compare_from_columns(
        case_id=frame.case_id, version=frame.version, score=np.array(SCORES), baseline="v1"
    )
