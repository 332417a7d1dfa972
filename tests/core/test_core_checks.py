"""Arguments that look like numbers and are none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refusals import Refusal, refusals

from scorekit import (
    InputError,
    ModelPrice,
    Tally,
    VotingJudge,
    cost_of_pass,
    describe,
    pass_at_k,
    proportion_interval,
    query_correctness,
    token_cost,
)

DURATIONS = [np.timedelta64(5, unit) for unit in ("s", "ns", "D")] + [*np.array([5]).view("m8")]


@pytest.mark.parametrize("value", DURATIONS, ids=repr)
def test_a_numpy_duration_is_no_number(value: Any) -> None:
    """It registers as an integer, and drops its unit when made a float."""
    with pytest.raises(TypeError, match=r"^cost_usd must be a finite number >= 0, got np.timede"):
        cost_of_pass(cost_usd=value, pass_rate=1)
    with pytest.raises(TypeError, match=r"^n_trials must be an integer >= 1, got np.timedelta64"):
        proportion_interval(1, value)
    with pytest.raises(TypeError, match=r"^values\[1\] must be a finite number, got np.timedelta"):
        describe([1, value])


@pytest.mark.parametrize("kind", ["m8[ns]", "M8[ns]", "m8[s]"])
def test_a_column_of_times_holds_no_counts(kind: str) -> None:
    """In nanoseconds NumPy hands them out as plain integers."""
    with pytest.raises(TypeError, match=r"^n_samples must be a sequence of integers rather than "):
        pass_at_k(n_samples=np.array([5], kind), n_correct=np.array([1]))


TINY = Decimal("1e-999999999")


def test_a_decimal_too_small_to_write_out_is_refused() -> None:
    """Its exact ratio has a thousand million digits: to wait for it would be to hang."""
    wanted = "0 or a number of size >= 1e-1000"
    message = rf"^values\[1\] must be {wanted}, got Decimal\('1E-999999999'\)$"
    for take in (describe, Tally().add):
        with pytest.raises(InputError, match=message):
            take([1, TINY])


def test_small_decimals_are_exact_and_zeros_of_any_exponent_are_zeros() -> None:
    """Just above the limit nothing is lost before the one rounding; one number alone has none."""
    small, zero = Decimal("1e-1000"), Decimal("0e-999999999")
    assert describe([small, 1, small, 1]).mean == 0.5
    assert describe([small, Fraction(1, 3)]).min == 0.0
    assert describe([zero, Decimal("-0e999999999")]).mean == 0.0
    for free in (TINY, zero):  # as far as a float can tell
        assert cost_of_pass(cost_usd=free, pass_rate=1) == 0.0  # type: ignore[arg-type]


@refusals("""
np.ones((2, 2), dtype=int) -> InputError: n_samples must be one-dimensional, got shape (2, 2)
np.array([], dtype=int)
    -> InputError: n_samples must be a non-empty sequence of integers, got array([],
    dtype=int64)
""")
def test_an_array_of_another_shape_is_no_column(wrong: Refusal) -> None:
    """Flattening it would pair values that do not belong together."""
    wrong.when(lambda: pass_at_k(n_samples=wrong.value, n_correct=wrong.value))


def test_a_class_is_no_instance_of_itself() -> None:
    """`judge=ClaudeJudge`, without the parentheses, has everything that a judge has but a self."""
    message = r"^judge must be a Judge \(\w*Judge\(...\) makes one\), got <class .*Judge'>$"
    with pytest.raises(TypeError, match=message):
        query_correctness("SELECT a", "SELECT b", judge=VotingJudge)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^price must be a ModelPrice \(see PRICES\), got <class"):
        token_cost(input_tokens=1, output_tokens=1, price=ModelPrice)  # type: ignore[arg-type]
