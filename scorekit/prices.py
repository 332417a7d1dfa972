"""What tokens cost: `token_cost`, `ModelPrice` and `PRICES`."""

from __future__ import annotations

import attrs

from scorekit._core.checks import check_bounded_count, check_instance, check_number, store
from scorekit._core.text import as_decimal
from scorekit.errors import refuse
from scorekit.records import FrozenMapping, Record

TOKENS_PER_PRICE = 1_000_000
"""Prices are quoted for a million tokens."""


@attrs.frozen(kw_only=True)
class ModelPrice(Record):
    """
    What a model's tokens cost, and what they cost where a long prompt costs more.

    Raises:
        InputError: If a price is negative or not finite, or only one of *long_prompt_tokens* and
            *long_prompt_price* is given.
        TypeError: If a price is not a number, or *long_prompt_price* no `ModelPrice`.

    Examples:
        >>> price = ModelPrice(input_usd_per_million=3.0, output_usd_per_million=15.0)
        >>> token_cost(input_tokens=1000, output_tokens=100, price=price)
        0.0045
        >>> ModelPrice(input_usd_per_million=3.0, output_usd_per_million=-15.0)
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: output_usd_per_million must be a finite number >= 0, got -15.0
    """

    input_usd_per_million: float
    """USD for a million input tokens."""
    output_usd_per_million: float
    """USD for a million output tokens."""
    long_prompt_tokens: int | None = None
    """Input tokens above which *long_prompt_price* holds, for all tokens."""
    long_prompt_price: ModelPrice | None = None

    def __attrs_post_init__(self) -> None:
        """Check the prices."""
        for name in ("input_usd_per_million", "output_usd_per_million"):
            store(self, name, check_number(name, getattr(self, name), 0.0))
        if self.long_prompt_price is not None:
            check_instance("long_prompt_price", self.long_prompt_price, ModelPrice)
            check_bounded_count("long_prompt_tokens", self.long_prompt_tokens)
        elif self.long_prompt_tokens is not None:
            refuse("long_prompt_price", "given with long_prompt_tokens", None)


PRICES = FrozenMapping(
    {
        "claude-haiku-5-5": ModelPrice(
            input_usd_per_million=0.1,
            output_usd_per_million=0.5,
            long_prompt_tokens=100_000,
            long_prompt_price=ModelPrice(input_usd_per_million=0.5, output_usd_per_million=2.5),
        ),
        "claude-sonnet-5-5": ModelPrice(input_usd_per_million=2.0, output_usd_per_million=10.0),
        "claude-opus-5-5": ModelPrice(input_usd_per_million=4.0, output_usd_per_million=20.0),
        "claude-opus-4-5": ModelPrice(input_usd_per_million=15.0, output_usd_per_million=75.0),
        "claude-sonnet-4": ModelPrice(input_usd_per_million=3.0, output_usd_per_million=15.0),
        "gpt-4o": ModelPrice(input_usd_per_million=5.0, output_usd_per_million=15.0),
    }
)
"""
Claude 5.5 at the list prices of October 2026, and the others as ProjectScylla documents them.
Vendors change their prices, so pass your own.
"""


def token_cost(*, input_tokens: int, output_tokens: int, price: ModelPrice) -> float:
    """
    Return the cost of the tokens of a run at a model's price.

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
    """
    n_in = check_bounded_count("input_tokens", input_tokens)
    n_out = check_bounded_count("output_tokens", output_tokens)
    check_instance("price", price, ModelPrice)
    while price.long_prompt_price is not None and n_in > (price.long_prompt_tokens or 0):
        price = price.long_prompt_price
    cost = n_in * as_decimal(price.input_usd_per_million)
    cost += n_out * as_decimal(price.output_usd_per_million)
    return check_number("token_cost", cost / TOKENS_PER_PRICE, 0.0)
