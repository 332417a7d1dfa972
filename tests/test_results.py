"""Execution accuracy: our comparison of rows, and the field's with the flaws they have."""

from __future__ import annotations

import itertools
import math
import random
import re
import sqlite3
from collections import Counter
from datetime import datetime
from decimal import Decimal
from functools import reduce
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import InputError, result_accuracy
from scorekit._core.rows import same_in_some_column_order
from scorekit.errors import shown
from scorekit.results import Rule, stored_results

NAN = math.nan
LISTS = {"a": [1, None], "b": [{"x": 0.1, "y": ["u"]}]}
NEAR_LISTS = {"b": [{"y": ["u"], "x": 0.1 + 1e-12}], "a": (1, None)}
NEAR_ROWS = [(1.0, 5.0), (1.0 + 1e-12, 3.0)]


def same(generated: Any, expected: Any, **options: Any) -> bool:
    """Return the score as a truth value."""
    return result_accuracy(generated, expected, **options).score == 1.0


# Ours.


@pytest.mark.parametrize(
    ("generated", "expected", "equal"),
    [
        ([], [], True),
        ([(1,)], [], False),
        ([(1, "a")], [[1.0, "a"]], True),
        ([(1,)], [(Decimal("1.00"),)], True),
        ([(0.1,)], [(Decimal("0.1"),)], True),
        ([(True,)], [(1,)], True),
        ([(1,)], [("1",)], False),
        ([(None,)], [(None,)], True),
        ([(None,)], [(0,)], False),
        ([(None,)], [(NAN,)], False),
        ([(NAN,)], [(Decimal("NaN"),)], True),
        ([(math.inf,)], [(Decimal("Infinity"),)], True),
        ([(math.inf,)], [(1e308,)], False),
        ([(0.1 + 0.2,)], [(0.3,)], True),
        ([(1e20,)], [(1e20 * (1 + 1e-12),)], True),
        ([(10**400,)], [(1.5,)], False),
        ([(2**53,)], [(2**53 + 1,)], False),
        ([(Decimal(10) ** 100_000,)], [(1,)], False),
        ([(1,), (1,)], [(1,)], False),
        ([(1,), (2,)], [(2,), (1,)], True),
        ([(1, 2)], [(1,)], False),
        ([("a", 0.1), ("b", 0.2)], [("a", 0.2), ("b", 0.1)], False),
        ([(b"x",)], [("x",)], False),
        # arrays and structs, as their elements do; the order of fields does not count
        ([([1, 2],)], [([2, 1],)], False),
        ([({"a": 1},)], [({"a": 2},)], False),
        ([({"a": 1},)], [([("a", 1)],)], False),
        ([(LISTS,)], [(NEAR_LISTS,)], True),
        # where several columns are near, sorting alone would pair the wrong rows
        (NEAR_ROWS, [(1.0 + 1e-12, 5.0), (1.0, 3.0)], True),
        (NEAR_ROWS, [(1.0, 5.0), (1.0, 5.0)], False),
        # 1.0 equals 1.0, but each row has a partner only if both take another one
        ([(1 + 0.9e-9,), (1.0,)], [(1.0,), (1 - 0.9e-9,)], True),
        ([(1 + 0.9e-9,), (1.0,), (7.0,)], [(1.0,), (1 - 0.9e-9,), (9.0,)], False),
    ],
)
def test_our_rule(generated: Any, expected: Any, *, equal: bool) -> None:
    """Hand-made: values by value, NULL and NaN by themselves, rows as a bag."""
    assert same(generated, expected) is equal
    assert same(expected, generated) is equal


def test_reasons_and_counts() -> None:
    """A result says what the first difference is."""
    reasons: dict[str, Any] = {
        "the same rows": ([(1,), (2,)], [(2,), (1,)], {}),
        "the same rows in another order": ([(1,), (2,)], [(2,), (1,)], {"ordered": True}),
        "1 columns instead of 2": ([(1,)], [(1, 2)], {}),
        "1 rows instead of 2": ([(1,)], [(1,), (2,)], {}),
        "other rows: got (1,), expected (2,)": ([(1,)], [(2,)], {}),
        "other rows: got (3,), expected (2,)": ([(1,), (3,)], [(1,), (2,)], {}),
        "not the same by the rule of bird": ([(1,)], [(2,)], {"rule": "bird"}),
    }
    for reason, (generated, expected, options) in reasons.items():
        result = result_accuracy(generated, expected, **options)
        assert result.reason == reason
        assert (result.n_generated, result.n_expected) == (len(generated), len(expected))


def test_options() -> None:
    """Each option leaves out what it says and nothing else."""
    assert same([(1,), (1,)], [(1,)], semantics="set")
    assert same([(1.0,), (1.0,)], [(1.0 + 1e-12,)], semantics="set")
    assert not same([(1.0,), (2.0,)], [(1.0 + 1e-12,)], semantics="set")
    assert same([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], column_order="ignored")
    assert not same([(1, "a"), (2, "b")], [("b", 1), ("a", 2)], column_order="ignored")
    assert same([("a", 1), ("b", 2)], [(1, "a"), (2, "b")], column_order="ignored", ordered=True)
    assert same([(1.0,)], [(1.05,)], tolerance=0.1)
    assert not same([(0.1 + 0.2,)], [(0.3,)], tolerance=0)


def test_rows_of_a_driver() -> None:
    """Rows come as sqlite3 returns them, also as an iterator and as `sqlite3.Row`."""
    connection = sqlite3.connect(":memory:")
    rows = connection.execute("SELECT 1, 'a' UNION ALL SELECT NULL, x'00'").fetchall()
    connection.row_factory = sqlite3.Row
    same_rows = connection.execute("SELECT NULL, x'00' UNION ALL SELECT 1.0, 'a'")
    assert same(rows, iter(same_rows.fetchall()))
    connection.close()


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.6, 1.2, 1.8]), st.sampled_from([0.0, 0.9])), max_size=5
    ),
    st.lists(
        st.tuples(st.sampled_from([0.0, 0.7, 1.3, 1.8]), st.sampled_from([0.0, 0.5])), max_size=5
    ),
)
def test_bags_with_a_tolerance_equal_enumeration(a: Any, b: Any) -> None:
    """Oracle: every way to pair the rows off, with a margin that makes nearness intransitive."""

    def near(x: Any, y: Any) -> bool:
        return all(abs(p - q) <= 0.5 * max(1, p, q) for p, q in zip(x, y, strict=True))

    wanted = len(a) == len(b) and any(
        all(map(near, a, order)) for order in itertools.permutations(b)
    )
    assert same(a, b, tolerance=0.5) is wanted
    covered = all(any(near(x, y) for y in b) for x in a) and all(
        any(near(x, y) for x in a) for y in b
    )
    assert same(a, b, tolerance=0.5, semantics="set") is covered


CELLS = st.sampled_from([None, 0, 1, "a", 0.5])
ROWS = st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[CELLS] * n), max_size=4))


@given(ROWS, ROWS)
def test_exact_comparisons_equal_counting(a: Any, b: Any) -> None:
    """Oracles: a Counter for bags, all orders of columns for Spider's rule, sets for BIRD's."""
    width = len(a[0]) == len(b[0]) if a and b else True
    assert same(a, b, tolerance=0) is (Counter(a) == Counter(b) and width)
    assert same(a, b, rule="bird") is (set(a) == set(b))
    orders = itertools.permutations(range(len(b[0]) if b else 0))
    turned = ([tuple(row[i] for i in order) for row in b] for order in orders)
    wanted = width and len(a) == len(b) and any(Counter(a) == Counter(rows) for rows in turned)
    assert same(a, b, rule="spider") is wanted


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns(rows: Any, draw: random.Random) -> None:
    """Shuffled rows are the same bag; shuffled columns too where their order is ignored."""
    shuffled = draw.sample(rows, len(rows))
    assert same(rows, shuffled)
    assert same(rows, rows, ordered=True)
    order = draw.sample(range(len(rows[0])), len(rows[0])) if rows else []
    turned = [tuple(row[i] for i in order) for row in shuffled]
    assert same(rows, turned, column_order="ignored")
    assert same(rows, turned, rule="spider")


# The field's rules, each on the example that shows its flaw.


@pytest.mark.parametrize(
    ("rule", "generated", "expected", "theirs", "ours"),
    [
        ("spider", [("Ann", "Lee")], [("Lee", "Ann")], True, False),
        ("spider", [(0.1 + 0.2,)], [(0.3,)], False, True),
        ("bird", [(1,), (1,)], [(1,)], True, False),
        ("bird", [(0.1 + 0.2,)], [(0.3,)], False, True),
        ("spider2", [("a", 2), ("b", 1)], [("a", 1), ("b", 2)], True, False),
        ("spider2", [(None,)], [(0,)], True, False),
        ("spider2", [(1.005,)], [(1,)], True, False),
        ("spider2", [(1, "more")], [(1,)], True, False),
        ("spider2", [], [], True, True),
        ("spider2", [(10**400,)], [(10**400,)], True, True),
        ("spider2", [(10**400,)], [(1.5,)], False, False),
        ("row-f1", [(LISTS,)], [(NEAR_LISTS,)], True, True),
        ("bird", [(LISTS,)], [(NEAR_LISTS,)], False, True),
        ("spider2", [(1,)], [], False, False),
        ("spider2", [], [(1,)], False, False),
        ("defog", [(1,), (1,)], [(1,)], True, False),
        ("defog", [(None,)], [(-99999,)], True, False),
        ("defog", [(NAN,)], [(None,)], True, False),
        ("defog", [(1, 2)], [(2, 1)], False, False),
        ("ibm-subset", [(1, "more")], [(1,)], True, False),
        ("ibm-subset", [(1,)], [(1, "more")], True, False),
        ("ibm-subset", [("a", 2), ("b", 1)], [("a", 1), ("b", 2)], True, False),
        ("ibm-subset", [(" 4.0 ",)], [(4,)], True, False),
        ("ibm-subset", [(True,)], [(1,)], False, True),
        ("ibm-subset", [(10**5000,)], [(10**5000,)], True, True),
        ("ibm-subset", [(math.inf, "inf")], [("inf", math.inf)], True, False),
        ("ibm-subset", [], [], False, True),
        ("ibm-subset", [()], [()], False, True),
        ("ibm-subset", [(1,), (1,)], [(1,)], False, False),
        ("subset", [(1,), (2,)], [(2.0,)], True, False),
        ("subset", [(1,), (2,)], [(2,), (2,)], False, False),
        ("subset", [(0.3,), (1,)], [(0.1 + 0.2,)], True, False),
        ("subset", [(1,)], [], False, False),
        ("subset", [], [], True, True),
    ],
)
def test_the_fields_rules(
    rule: Any, generated: Any, expected: Any, *, theirs: bool, ours: bool
) -> None:
    """What each accepts or refuses against ours, as its published code does."""
    assert same(generated, expected, rule=rule) is theirs
    assert same(generated, expected) is ours


@pytest.mark.parametrize("rule", ["spider", "spider2", "defog", "ibm-subset", "column-f1"])
def test_the_fields_rules_in_order(rule: Any) -> None:
    """All but BIRD's heed the order if asked to."""
    assert same([(1,), (2,)], [(2,), (1,)], rule=rule)
    assert not same([(1,), (2,)], [(2,), (1,)], rule=rule, ordered=True)
    assert same([(1,), (2.5,)], [(1.0,), (2.5,)], rule=rule, ordered=True)
    assert same([(1,), (2,)], [(2,), (1,)], rule="bird", ordered=True)


# Partial credit.


@pytest.mark.parametrize(
    ("generated", "expected", "soft", "rows", "columns"),
    [
        ([], [], 1.0, 1.0, 1.0),
        ([(1,)], [], 0.0, 0.0, 0.0),
        ([], [(1,)], 0.0, 0.0, 0.0),
        ([(1, 2), (3, 4)], [(1, 2), (3, 5)], 3 / 4, 1 / 2, 1 / 2),
        ([(2, 1)], [(1, 2)], 1.0, 0.0, 1.0),
        ([(3,), (1,)], [(1,), (3,)], 0.0, 1.0, 1.0),
        ([(1,), (1,)], [(1,)], 1.0, 2 / 3, 0.0),
        ([(1, 9)], [(1,)], 2 / 3, 0.0, 2 / 3),
        ([(1,), (2,), (3,)], [(1,)], 1 / 2, 1 / 2, 0.0),
        ([(None, "a")], [(None, "b")], 1 / 2, 0.0, 1 / 2),
        ([(0.1 + 0.2,)], [(0.3,)], 0.0, 1.0, 1.0),
        ([(Decimal("0.1"),)], [(0.1,)], 0.0, 1.0, 1.0),
        ([(NAN, Decimal("NaN"))], [(NAN, NAN)], 1.0, 1.0, 1.0),
        ([(pd.NA, pd.NaT)], [(None, None)], 1.0, 1.0, 1.0),
        ([()], [()], 0.0, 1.0, 1.0),
    ],
)
def test_partial_credit(
    generated: Any, expected: Any, soft: float, rows: float, columns: float
) -> None:
    """Hand-made; BIRD's rule counts cells by the place of their row, the others rows, columns."""
    rules: list[Any] = ["soft-f1", "row-f1", "column-f1"]
    scores = [result_accuracy(generated, expected, rule=rule).score for rule in rules]
    assert scores == [soft, rows, columns]


def published_soft_f1(predicted: Any, truth: Any) -> float:
    """Compute BIRD's Soft F1 as its evaluator does, share by share."""
    predicted, truth = list(dict.fromkeys(predicted)), list(dict.fromkeys(truth))
    if not predicted and not truth:
        return 1.0
    tp = fp = fn = 0.0
    for i in range(max(len(predicted), len(truth))):
        if i >= len(predicted):
            fn += 1
        elif i >= len(truth):
            fp += 1
        else:
            a, b = predicted[i], truth[i]
            tp += sum(x in b for x in a) / len(b)
            fp += sum(x not in b for x in a) / len(b)
            fn += sum(x not in a for x in b) / len(b)
    precision = tp / (tp + fp) if tp + fp > 0 else 0.0
    recall = tp / (tp + fn) if tp + fn > 0 else 0.0
    both = precision + recall
    return 2 * precision * recall / both if both > 0 else 0.0


@given(ROWS, ROWS)
def test_partial_credit_equals_its_definition(a: Any, b: Any) -> None:
    """Oracles: the published evaluator step by step; Counters for rows and for columns."""
    soft = result_accuracy(a, b, rule="soft-f1").score
    assert soft == pytest.approx(published_soft_f1(a, b), abs=1e-14)

    def f1(ours: Counter[Any], theirs: Counter[Any]) -> float:
        total = ours.total() + theirs.total()
        return 2 * (ours & theirs).total() / total if total else 1.0

    assert result_accuracy(a, b, rule="row-f1").score == f1(Counter(a), Counter(b))
    columns = [
        Counter(frozenset(Counter(c).items()) for c in zip(*r, strict=True)) for r in (a, b)
    ]
    assert result_accuracy(a, b, rule="column-f1").score == f1(*columns)
    assert same(a, b, rule="subset") is (not Counter(b) - Counter(a) and bool(b or not a))
    rules: list[Any] = ["soft-f1", "row-f1", "column-f1"]
    for rule in rules:
        there, back = (result_accuracy(*p, rule=rule).score for p in ((a, b), (b, a)))
        assert 0.0 <= there <= 1.0
        assert rule == "soft-f1" or there == back
        assert result_accuracy(a, a, rule=rule).score == 1.0


def test_near_rows_are_counted_whatever_their_number() -> None:
    """Few are matched by search, many in their order; numbers that are not near stay apart."""
    few = [(i / 7, "a") for i in range(20)]
    many = [(i / 7, "a") for i in range(500)]
    for rows in (few, many):
        near = [(x + 1e-12, name) for x, name in rows[::-1]]
        assert same(near, rows, rule="row-f1")
        assert same(near, rows, rule="column-f1")
        off = [(-5.5, "a"), *near[1:-1], (1e6 + 0.5, "a")]
        n = len(rows)
        assert result_accuracy(off, rows, rule="row-f1").score == (n - 2) / n
        assert result_accuracy(rows, off, rule="row-f1").score == (n - 2) / n
    assert not same([(0.5, "b")], [(0.25, "c")], rule="row-f1")
    assert not same([(1,)], [(2,)], rule="column-f1")
    reason = result_accuracy([(1, 2), (3, 4)], [(1, 2)], rule="row-f1").reason
    assert reason == "1 of 1 rows, and 1 others"


def test_several_databases() -> None:
    """Right only if right on all; the reason names the first where it is not."""
    expected: dict[str, Any] = {"empty": [], "one": [(1,)], "two": [(1,), (2,)]}
    right = result_accuracy(expected, expected)
    assert (right.score, right.n_databases, right.n_expected) == (1.0, 3, 3)
    other: dict[str, Any] = expected | {"two": [(1,), (3,)]}
    wrong = result_accuracy(other, expected)
    reason = "wrong on 1 of 3 databases, first 'two': other rows: got (3,), expected (2,)"
    assert (wrong.score, wrong.n_generated, wrong.reason) == (0.0, 3, reason)
    assert result_accuracy({"a": [(1,)]}, {"a": [(1,)]}).n_databases == 1
    assert result_accuracy(other, expected, rule="row-f1").score == 0.5


@refusals("""
result_accuracy({}, {})
    -> InputError: generated_rows must be rows, or a mapping that is not empty, got {}
result_accuracy({"a": []}, {"a": [], "b": []})
    -> InputError: generated_rows must have the databases of expected_rows, got none of 'b'
result_accuracy({"a": [], "b": []}, {"a": []})
    -> InputError: expected_rows must have the databases of generated_rows, got none of 'b'
result_accuracy([], {"a": []})
    -> InputError: generated_rows must be a mapping from database to rows, as expected_rows is,
    got []
result_accuracy({"a": []}, [])
    -> InputError: expected_rows must be a mapping from database to rows, as generated_rows is,
    got []
result_accuracy({"a": [(1,), ()]}, {"a": []})
    -> InputError: generated_rows['a'][1] must be as wide as generated_rows['a'][0], 1, got 0
result_accuracy({"": []}, {"": []})
    -> InputError: each database of generated_rows must be a non-empty string, got ''
""")
def test_databases_that_do_not_pair(wrong: Refusal) -> None:
    """Both sides name the same databases."""
    wrong.by_itself()


def test_many_alike_columns_do_not_hang() -> None:
    """Trying out n! orders of 20 columns would take for ever."""
    rows = [tuple(int(i == j) for j in range(20)) for i in range(20)]
    assert same(rows, rows[::-1], rule="spider")
    assert not same(rows, [*rows[:-1], (2,) * 20], rule="spider")
    alike = [[(0, 1) * 10, (1, 0) * 10], [(0, 1) * 9 + (1, 1), (1, 0) * 9 + (0, 0)]]
    assert not same(*alike, rule="spider")


def test_a_search_without_end_is_given_up() -> None:
    """Columns that look alike until the last one take a bounded number of comparisons."""
    calls = 0

    def look(a: Any, b: Any, tolerance: float) -> bool:
        nonlocal calls
        del b
        calls += 1
        return len(a[0]) < 12 or bool(tolerance)

    rows = [tuple(range(12))]
    assert same_in_some_column_order(rows, rows, 0.0, look, budget=500) is None
    assert calls <= 500


def test_many_rows() -> None:
    """Comparing is a matter of counting, not of pairs; a changed last row is still found."""
    rows = [(i, str(i % 7), i / 8) for i in range(100_000)]
    assert same(rows, rows[::-1])
    assert not same(rows, [*rows[:-1], (0, "0", 0.0)])


ROWS_OF_A_FRAME = "a sequence of rows (pandas: frame.values, polars: frame.rows())"
FRAME = pd.DataFrame({"x": [1, 2]})
FRAME_SHOWN = shown(FRAME)
UNHASHABLE = pd.Series([], dtype=object)


@refusals("""
("a", []) -> TypeError: generated_rows must be a sequence of rows, got 'a'
([], {1}) -> TypeError: expected_rows must be a sequence of rows, got {1}
(FRAME, FRAME) -> TypeError: generated_rows must be {ROWS_OF_A_FRAME}, got {FRAME_SHOWN}
([1], []) -> TypeError: generated_rows[0] must be a sequence of cells, got 1
([], ["ab"]) -> TypeError: expected_rows[0] must be a sequence of cells, got 'ab'
([(1, 2), (1, UNHASHABLE)], [])
    -> TypeError: generated_rows[1][1] must be a value that hashes, got Series([], dtype:
    object)
([], [(1,), (1, 2)])
    -> InputError: expected_rows[1] must be as wide as expected_rows[0], 1, got 2
""")
def test_rows_that_are_none(wrong: Refusal) -> None:
    """A cell that cannot be compared is named by its place."""
    wrong.when(lambda: result_accuracy(*wrong.value))


@refusals("""
rule="x"
    -> InputError: rule must be one of 'scorekit', 'row-f1', 'column-f1', 'subset', 'spider',
    'bird', 'soft-f1', 'spider2', 'defog', 'ibm-subset', got 'x'
semantics="x" -> InputError: semantics must be one of 'bag', 'set', got 'x'
column_order=1 -> TypeError: column_order must be one of 'significant', 'ignored', got 1
ordered=2 -> TypeError: ordered must be True or False, got 2
tolerance=NAN -> InputError: tolerance must be a finite number >= 0, got nan
ordered=True, semantics="set"
    -> InputError: ordered must be False where semantics is 'set', got True
ordered=True, rule="subset"
    -> InputError: ordered must be False where rule is 'subset', got True
""")
def test_options_that_are_none(wrong: Refusal) -> None:
    """Each names the argument, its domain and what it got."""
    wrong.by(result_accuracy, [], [])


def test_rows_of_pandas_are_those_of_the_driver() -> None:
    """NaN in a frame is NULL, whatever the type of its column, and numbers are numbers."""
    day = datetime(2024, 1, 2)  # noqa: DTZ001 - as drivers return it
    rows = [(1, 0.5, "a", day), (None, None, None, None)]
    frame = pd.DataFrame(rows, columns=list("nxsd"))
    arrays = (frame.to_numpy(), frame[["n", "x"]].to_numpy())
    for values in (*arrays, list(frame.itertuples(index=False))):
        own = [row[: len(values[0])] for row in rows]
        assert result_accuracy(values, own).score == 1.0
        assert result_accuracy(own, values, rule="bird").score == 1.0
    times = frame[["d"]].to_numpy()
    assert times.dtype.kind == "M"
    assert result_accuracy(times, [row[3:] for row in rows]).score == 1.0
    assert result_accuracy([(NAN,)], [(None,)]).score == 0.0


@pytest.mark.parametrize("rule", get_args(Rule))
@pytest.mark.parametrize(
    "cells",
    [
        ([1, 2], {"k": 1}, {1, 2}),
        ([], {}, bytearray(b"x")),
        (1, "a", None),
        (Decimal("NaN"), Decimal("sNaN"), 10**400),
        (memoryview(b"x"), np.array([1.0, NAN]), np.datetime64("2024-01-02T03:04:05")),
        ([[NAN], [{"a": [None]}]], 10**5000, -(10**400)),
    ],
)
def test_any_cell_that_a_driver_returns_equals_itself(rule: Any, cells: tuple[Any, ...]) -> None:
    """Arrays, structs, bytes, NaN and huge integers compare by every rule, and so in reverse."""
    rows = [cells, cells[::-1], (1.5, "b", 2)]
    assert result_accuracy(rows, rows, rule=rule).score == 1.0
    other = [*rows[:2], (1.5, "c", 2)]
    assert result_accuracy(rows, other, rule=rule).score < 1.0
    assert stored_results("rows", rows) == stored_results("rows", [list(row) for row in rows])


def test_further_right_results() -> None:
    """The best of the accepted results counts, and each stands on all databases."""
    result = result_accuracy([(2,)], [(1,), (3,)], also_accepted=([(2,)], [(4,)]))
    assert (result.score, result.reason, result.n_expected) == (1.0, "the same rows", 1)
    wrong = result_accuracy([(2,)], [(1,), (3,)], also_accepted=([(4,)],))
    assert (wrong.score, wrong.reason) == (0.0, "1 rows instead of 2")
    on = {"a": [(1,)], "b": [(2,)]}
    mixed = {"a": [(1,)], "b": [(3,)]}, {"a": [(0,)], "b": [(2,)]}
    assert result_accuracy(on, mixed[0], also_accepted=mixed[1:]).score == 0.0
    assert result_accuracy(on, mixed[0], also_accepted=(on,)).score == 1.0
    with pytest.raises(InputError, match=r"^also_accepted\[0\] must have the databases of"):
        result_accuracy(on, on, also_accepted=({"a": []},))
    with pytest.raises(TypeError, match=r"^also_accepted\[0\] must be a sequence of rows, got 1$"):
        result_accuracy([], [], also_accepted=(1,))  # type: ignore[arg-type]


def test_cells_beyond_any_depth_are_refused() -> None:
    """A list in a list in a list, as no database returns it."""
    cell: list[Any] = reduce(lambda inner, _: [inner], range(5_000), [])
    message = r"^expected_rows\[0\] must be cells that are nested less"
    with pytest.raises(InputError, match=message):
        result_accuracy([], [(cell,)])


def test_rows_as_mappings_are_named_with_the_remedy() -> None:
    """Cursors that return dicts lose columns of the same name, so that nothing is guessed."""
    why = "must be a sequence of cells, as tuple(row.values()) of a mapping, got {'a': 1}"
    with pytest.raises(TypeError, match=f"^{re.escape(f'generated_rows[0] {why}')}$"):
        result_accuracy([{"a": 1}], [(1,)])
    assert result_accuracy([tuple({"a": 1}.values())], [(1,)]).score == 1.0
