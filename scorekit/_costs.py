"""What tokens and passes cost: `token_cost` with `ModelPrice` and `PRICES`, `cost_of_pass`."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction

import attrs

from scorekit._checks import check_bounded_count, check_instance, check_number, store
from scorekit._exact import exact_array, sorted_runs, sums_of_runs
from scorekit._records import FrozenMapping, Record
from scorekit.errors import InputError

MANY = 1000
"""Costs above which the exact sums of a column are faster than those of fractions."""

TOKENS_PER_PRICE = 1_000_000
"""Prices are quoted for a million tokens."""


@attrs.frozen(kw_only=True)
class ModelPrice(Record):
    """
    What a model's tokens cost.

    Raises:
        InputError: If a price is negative or not finite.
        TypeError: If a price is not a number.

    Examples:
        >>> ModelPrice(input_usd_per_million=3.0, output_usd_per_million=15.0)
        ModelPrice(input_usd_per_million=3.0, output_usd_per_million=15.0)
        >>> ModelPrice(input_usd_per_million=3.0, output_usd_per_million=-15.0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: output_usd_per_million must be a finite number >= 0, got -15.0

    .. versionadded:: 0.1.0
    """

    input_usd_per_million: float
    """USD for a million input tokens."""
    output_usd_per_million: float
    """USD for a million output tokens."""

    def __attrs_post_init__(self) -> None:
        """Check both prices."""
        for name in ("input_usd_per_million", "output_usd_per_million"):
            store(self, name, check_number(name, getattr(self, name), 0.0))


PRICES = FrozenMapping(
    {
        "claude-opus-4-5": ModelPrice(input_usd_per_million=15.0, output_usd_per_million=75.0),
        "claude-sonnet-4": ModelPrice(input_usd_per_million=3.0, output_usd_per_million=15.0),
        "gpt-4o": ModelPrice(input_usd_per_million=5.0, output_usd_per_million=15.0),
    }
)
"""Prices as the metric's source documents them; vendors change theirs, so pass your own."""


def token_cost(*, input_tokens: int, output_tokens: int, price: ModelPrice) -> float:
    """
    Say what the tokens of a run cost at a model's price.

    The prices count as they are written in decimal, and the result is rounded once.

    Args:
        input_tokens: Tokens sent (count, at most 2**53).
        output_tokens: Tokens received (count, at most 2**53).
        price: The model's price, one of `PRICES` or your own.

    Returns:
        The cost in USD, not rounded to cents.

    Raises:
        InputError: If a count is negative or above 2**53, or the cost too large for a float.
        TypeError: If a count is not an integer or *price* is not a `ModelPrice`.

    Examples:
        >>> token_cost(input_tokens=12_000, output_tokens=800, price=PRICES["claude-sonnet-4"])
        0.048
        >>> token_cost(input_tokens=-1, output_tokens=800, price=PRICES["claude-sonnet-4"])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: input_tokens must be an integer >= 0, got -1

    .. versionadded:: 0.1.0
    """
    n_in = check_bounded_count("input_tokens", input_tokens)
    n_out = check_bounded_count("output_tokens", output_tokens)
    check_instance("price", price, ModelPrice)
    cost = n_in * as_decimal(price.input_usd_per_million)
    cost += n_out * as_decimal(price.output_usd_per_million)
    return check_number("token_cost", cost / TOKENS_PER_PRICE, 0.0)


def cost_of_pass(*, cost_usd: float, pass_rate: float) -> float:
    """
    Say what one pass costs when each attempt costs *cost_usd*: ``cost_usd / pass_rate``.

    Args:
        cost_usd: Cost of one attempt, or the mean cost of several, in USD (>= 0).
        pass_rate: Share of attempts that pass, in [0, 1].

    Returns:
        USD for each pass; ``inf`` where nothing passes, even for free: no money buys a pass.

    Raises:
        InputError: If the cost is negative or not finite, the rate lies outside [0, 1], or a pass
            costs more than a float holds.
        TypeError: If an argument is not a number.

    Examples:
        >>> cost_of_pass(cost_usd=0.5, pass_rate=0.8)
        0.625
        >>> cost_of_pass(cost_usd=-0.5, pass_rate=0.8)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: cost_usd must be a finite number >= 0, got -0.5

    References:
        Erol et al., "Cost-of-Pass: An Economic Framework for Evaluating Language Models",
        arXiv:2504.13359.

    .. versionadded:: 0.1.0
    """
    cost = check_number("cost_usd", cost_usd, 0.0)
    return per_pass([cost], check_number("pass_rate", pass_rate, 0.0, 1.0))


def per_pass(costs: Sequence[float], passes: float) -> float:
    """Divide exactly and round once, so that ``inf`` never comes of an overflow."""
    if not passes:
        return math.inf
    cost = _total(costs) / Fraction(passes)
    if cost > sys.float_info.max:
        raise InputError("cost_of_pass must be a finite number >= 0, got more than 1.797e+308")
    return float(cost)


def _total(costs: Sequence[float]) -> Fraction:
    if len(costs) <= MANY:
        return sum(map(Fraction, costs), Fraction())
    sums = sums_of_runs(sorted_runs(exact_array(costs)))
    return Fraction(sums.total, sums.unit)


def as_decimal(number: float) -> Fraction:
    """Return the decimal number a float is written as: 1/10 for 0.1, not the binary near it."""
    return Fraction(str(number))
