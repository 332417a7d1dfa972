"""tool_call_accuracy: worked values, every documented error, properties, brute-force oracles."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit import InputError, tool_call_accuracy
from scorekit.strategies import tool_calls

ORDERS = st.sampled_from(["exact", "in_order", "any_order"])
ARGUMENTS = st.sampled_from(["equal", "subset", "ignored"])
Calls = list[tuple[str, dict[str, Any]]]


def _alike(one: Any, other: Any) -> bool:
    """Compare as JSON does, by what would be written."""
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(_alike, one, other))
    return (type(one) is type(other) and one == other) or (
        isinstance(one, int | float) and isinstance(other, int | float) and one == other
    )


def _fits(made: tuple[str, dict[str, Any]], wanted: tuple[str, dict[str, Any]], how: str) -> bool:
    if made[0] != wanted[0] or how == "ignored":
        return made[0] == wanted[0]
    if how == "equal" and made[1].keys() != wanted[1].keys():
        return False
    return all(k in made[1] and _alike(made[1][k], v) for k, v in wanted[1].items())


def _most_pairs(made: Calls, wanted: Calls, order: str, how: str) -> int:
    """Try all ways to pair calls."""
    for n in range(min(len(made), len(wanted)), 0, -1):
        for some in combinations(wanted, n):
            ways = permutations(made, n) if order == "any_order" else combinations(made, n)
            if any(all(map(_fits, way, some, [how] * n)) for way in ways):
                return n
    return 0


@given(tool_calls().map(lambda c: c[:4]), tool_calls().map(lambda c: c[:4]), ORDERS, ARGUMENTS)
def test_against_all_ways_to_pair(made: Calls, wanted: Calls, order: Any, how: Any) -> None:
    """No other pairing matches more calls, and the score is what the order asks for."""
    result = tool_call_accuracy(made, wanted, order=order, arguments=how)
    assert result.n_matched == _most_pairs(made, wanted, order, how)
    right = result.n_matched == len(wanted)
    if order == "exact":
        right = len(made) == len(wanted) and all(map(_fits, made, wanted, [how] * len(made)))
    assert result.score == float(right)


@given(tool_calls(), tool_calls(), ORDERS, ARGUMENTS)
def test_every_call_is_accounted_for(made: Calls, wanted: Calls, order: Any, how: Any) -> None:
    """Each is matched, wrong, missing or unexpected; NaN equals itself, and JSON says the same."""
    result = tool_call_accuracy(made, wanted, order=order, arguments=how)
    n_wrong = len(result.wrong_arguments)
    assert result.n_matched + n_wrong + len(result.missing) == result.n_expected == len(wanted)
    assert result.n_matched + n_wrong + len(result.unexpected) == result.n_generated == len(made)
    if result.precision + result.recall:
        both = 2 * result.precision * result.recall / (result.precision + result.recall)
        assert result.f1 == pytest.approx(both)
    assert tool_call_accuracy(made, made, order=order, arguments=how).f1 == 1.0
    texts = [(name, json.dumps(arguments)) for name, arguments in made]
    assert tool_call_accuracy(texts, wanted, order=order, arguments=how) == result


@given(tool_calls(), tool_calls(), ARGUMENTS)
def test_orders_and_arguments_from_strict_to_loose(made: Calls, wanted: Calls, how: Any) -> None:
    """What a strict comparison accepts, a looser one accepts too."""
    by_order: list[Any] = ["exact", "in_order", "any_order"]
    strict, ordered, loose = (
        tool_call_accuracy(made, wanted, order=order, arguments=how) for order in by_order
    )
    assert strict.score <= ordered.score <= loose.score
    assert ordered.n_matched <= loose.n_matched
    by_arguments: list[Any] = ["equal", "subset", "ignored"]
    found = [
        tool_call_accuracy(made, wanted, order="any_order", arguments=arguments).n_matched
        for arguments in by_arguments
    ]
    assert found == sorted(found)


def test_an_assignment_not_the_first_that_fits() -> None:
    """The first expected call could take the only generated call that the second needs."""
    made = [("f", {"a": 1, "b": 2}), ("f", {"a": 1})]
    wanted = [("f", {"a": 1}), ("f", {"a": 1, "b": 2})]
    result = tool_call_accuracy(made, wanted, order="any_order", arguments="subset")
    assert (result.score, result.n_matched) == (1.0, 2)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        (0, None, False),
        (np.int64(3), 3, True),
        (np.True_, True, True),
        ([1, 2], (1, 2), True),
        ([1, 2], [2, 1], False),
        ({"x": {"y": [1]}}, {"x": {"y": [1.0]}}, True),
        ({"x": 1, "y": 2}, {"y": 2, "x": 1}, True),
        (10**400, 10**400, True),
        ([10**5000], [10**5000], True),
    ],
)
def test_values_are_compared_as_json(one: Any, other: Any, same: bool) -> None:  # noqa: FBT001
    """Numbers by value, everything else by type and value."""
    result = tool_call_accuracy([("f", {"v": one})], [("f", {"v": other})])
    assert result.score == float(same)


def test_forms_of_a_call() -> None:
    """Pairs, mappings, JSON text and no arguments say the same."""
    made = [{"name": "f", "arguments": '{"q": 1}'}, ("g", None), ("h", "")]
    wanted = [("f", {"q": 1}), {"name": "g", "arguments": {}}, ["h", {}]]
    assert tool_call_accuracy(made, wanted).score == 1.0
    openai = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"q": 1}'}}
    anthropic = {"id": "2", "type": "tool_use", "name": "g", "input": {}}
    assert tool_call_accuracy([openai, anthropic, made[2]], wanted).score == 1.0
    assert tool_call_accuracy([anthropic], [("g", {"q": 1})]).wrong_arguments


@pytest.mark.parametrize(
    "text", ["{", "[1]", "null", "[" * 100_000, '{"a":' * 500 + "1" + "}" * 500]
)
def test_text_that_is_no_object_matches_only_by_name(text: str) -> None:
    """A model that writes broken arguments made a wrong call, and nothing stops."""
    result = tool_call_accuracy([("f", text)], [("f", {})])
    assert (result.score, len(result.wrong_arguments)) == (0.0, 1)
    assert tool_call_accuracy([("f", text)], [("f", {})], arguments="ignored").score == 1.0
    with pytest.raises(InputError, match=r"^expected\[0\] arguments must be a mapping or JSON"):
        tool_call_accuracy([], [("f", text)])


def test_failed_calls_count_unless_told_otherwise() -> None:
    """A retry after an error is a further call."""
    call: dict[str, object] = {"name": "f", "arguments": {}}
    made = [{**call, "failed": True}, call]
    assert tool_call_accuracy(made, [("f", {})]).score == 0.0
    assert tool_call_accuracy(made, [("f", {})], include_failed=False).score == 1.0
    noted = [{**call, "error": "no file"}, {**call, "error": None}]
    assert tool_call_accuracy(noted, [("f", {})], include_failed=False).score == 1.0


def test_no_calls() -> None:
    """Nothing made and nothing expected agree; either alone does not."""
    both = tool_call_accuracy([], [])
    assert (both.score, both.precision, both.recall, both.f1) == (1.0, 1.0, 1.0, 1.0)
    none = tool_call_accuracy([], [("f", {})], order="any_order")
    assert (none.score, none.precision, none.recall, none.f1) == (0.0, 1.0, 0.0, 0.0)
    more = tool_call_accuracy([("f", {})], [], order="in_order")
    assert (more.score, more.precision, more.recall, more.f1) == (1.0, 0.0, 1.0, 0.0)


@pytest.mark.sampled
@pytest.mark.parametrize("order", ["any_order", "in_order", "exact"])
@pytest.mark.parametrize("arguments", ["subset", "equal", "ignored"])
def test_thousands_of_calls(order: Any, arguments: Any) -> None:
    """The same call often, and as many different ones."""
    same = [("f", {"x": 1})] * 10_000
    assert tool_call_accuracy(same, same[1:], order=order, arguments=arguments).n_matched == 9_999
    many = [("f", {"x": i, "y": 0}) for i in range(5_000)]
    assert tool_call_accuracy(many, many, order=order, arguments=arguments).score == 1.0


@refusals("""
order="strict" -> InputError: order must be one of 'exact', 'in_order', 'any_order',...
arguments="exact" -> InputError: arguments must be one of 'equal', 'subset',...
include_failed="no" -> TypeError: include_failed must be True or False, got 'no'...
generated="search" -> TypeError: generated must be a sequence of calls, got 'search'...
generated=["search"] -> TypeError: generated[0] must be a pair (name, arguments) or...
generated=[("", {})] -> InputError: generated[0] name must be a non-empty string...
generated=[("f", 3)] -> TypeError: generated[0] arguments must be a mapping or JSON...
generated=[("f", {1: 2})] -> TypeError: generated[0] arguments must be a mapping whose...
expected=[("f", {"x": {3}})] -> TypeError: expected[0] arguments['x'] must be a JSON...
""")
def test_errors(wrong: Refusal) -> None:
    """Each names the argument, its domain and the value."""
    arguments: dict[str, Any] = {"generated": [("f", {})], "expected": [("f", {})]}
    arguments |= wrong.arguments
    made, wanted = arguments.pop("generated"), arguments.pop("expected")
    wrong.when(lambda: tool_call_accuracy(made, wanted, **arguments))


def test_arguments_without_end_are_refused() -> None:
    """A list that holds itself would be read for ever."""
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InputError, match="nested at most 100 levels deep"):
        tool_call_accuracy([("f", {"x": loop})], [])


def test_decimals_are_the_digits_that_json_writes() -> None:
    """A reader that keeps them as `Decimal` and one that makes floats read the same call."""
    for one, other in ((Decimal("0.1"), 0.1), (Decimal("1.0"), 1), (Decimal("sNaN"), math.nan)):
        assert tool_call_accuracy([("f", {"x": one})], [("f", {"x": other})]).score == 1.0
