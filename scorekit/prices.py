"""What tokens and judges cost: `token_cost`, `ModelPrice`, `JudgeCost` and `PRICES`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import attrs

from scorekit._core.checks import (
    check_bounded_count,
    check_instance,
    check_number,
    check_text,
    store,
)
from scorekit._core.mappings import FrozenMapping
from scorekit._core.text import as_decimal
from scorekit._sheet.values import counted
from scorekit.errors import refuse
from scorekit.records import Record

TOKENS_PER_PRICE = 1_000_000
"""Prices are quoted for a million tokens."""


@attrs.frozen(kw_only=True)
class ModelPrice(Record):
    """
    What a model's tokens cost, and what they cost where a long prompt costs more.

    Raises:
        InputError: If a price is negative or not finite, or only one of *long_prompt_tokens* and
            *long_prompt_price* is given.
        TypeError: If a price is not a number, *long_prompt_price* no `ModelPrice`, or *source* not
            a string.

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
    """USD for a million input tokens that were neither read from nor written to a cache."""
    output_usd_per_million: float
    """USD for a million output tokens."""
    long_prompt_tokens: int | None = None
    """Input tokens above which *long_prompt_price* holds, for all tokens."""
    long_prompt_price: ModelPrice | None = None
    cache_read_usd_per_million: float | None = None
    """USD for a million tokens read from a prompt cache; None, as the next, where it is not known,
    and such tokens are refused."""
    cache_write_usd_per_million: float | None = None
    """USD for a million tokens written to a prompt cache."""
    source: str | None = None
    """Who states these prices, and of when they are."""

    def __attrs_post_init__(self) -> None:
        """Check the prices."""
        for name in ("input_usd_per_million", "output_usd_per_million"):
            store(self, name, check_number(name, getattr(self, name), 0.0))
        for name in ("cache_read_usd_per_million", "cache_write_usd_per_million"):
            if (value := getattr(self, name)) is not None:
                store(self, name, check_number(name, value, 0.0))
        if self.source is not None:
            check_text("source", self.source)
        if self.long_prompt_price is not None:
            check_instance("long_prompt_price", self.long_prompt_price, ModelPrice)
            check_bounded_count("long_prompt_tokens", self.long_prompt_tokens)
        elif self.long_prompt_tokens is not None:
            refuse("long_prompt_price", "given with long_prompt_tokens", None)


@attrs.frozen(kw_only=True, repr=False)
class JudgeCost(Record):
    """
    What asking a judge about undecided pairs would cost, see `SqlReport.judge_cost`.

    Each bound supposes that every question is answered once; a call that fails may cost more.
    """

    n_pairs: int
    """Undecided pairs that the judge would be asked about."""
    input_tokens: tuple[int, int]
    """At least one for each word of the prompts, and at most one for each byte."""
    usd: tuple[float, float]
    """From short answers, and of several accepted queries the first being right, to answers that
    are as long as they may be, and all queries being asked about."""
    batch_usd: tuple[float, float] | None
    """The same through batches, at half the price; None for a judge that has none."""

    def _line(self) -> str:
        what = counted(self.n_pairs, "undecided pair")
        usd = "{:.2g} to {:.2g} USD"
        batch = "" if self.batch_usd is None else f", in batches {usd.format(*self.batch_usd)}"
        return f"{what}: {usd.format(*self.usd)}{batch}"


BATCH_SHARE: Final = 0.5
"""What a question costs in a batch, as a share of its price."""

LEAST_ANSWER: Final = 5
"""Tokens that an answer with a choice has at least."""

DEFAULT_ANSWER: Final = 4096
"""Tokens that an answer may have unless the caller says otherwise."""

Bounds: TypeAlias = tuple[int, int]
"""The fewest and the most tokens of a prompt."""


@attrs.frozen(kw_only=True)
class Pricing:
    """What the questions to a judge cost: by the tokens, or USD a question."""

    price: ModelPrice | float | None
    """None where it is not known."""
    max_tokens: int = DEFAULT_ANSWER
    """Of an answer."""
    n_votes: int = 1
    """Questions about each pair."""
    has_batches: bool = False
    asks_once: bool = False
    """Whether equal pairs are asked about once."""

    def most(self, input_tokens: int) -> float:
        """Return the highest cost of a question with at most so many tokens."""
        return self._costs((input_tokens, input_tokens))[1]

    def _costs(self, tokens: Bounds) -> tuple[float, float]:
        """Return the bounds on the cost of a question."""
        price = self.price
        if not isinstance(price, ModelPrice):
            usd = float(price or 0.0)
            return usd, usd
        n_out = min(LEAST_ANSWER, self.max_tokens), self.max_tokens
        low, high = (
            token_cost(input_tokens=n, output_tokens=out, price=price)
            for n, out in zip(tokens, n_out, strict=True)
        )
        return low, high

    def cost(self, prompts: Mapping[Any, Sequence[tuple[Bounds, ...]]]) -> JudgeCost:
        """
        Return what asking costs.

        Args:
            prompts: The pairs, those that may be equal under one key; of each pair the bounds for
                each accepted query, in the order in which they are asked about.
        """
        n, n_all = self.n_votes, [pair for pairs in prompts.values() for pair in pairs]
        least = [min(pairs) for pairs in prompts.values()] if self.asks_once else n_all
        first, each = [pair[:1] for pair in least], [*least]
        low, low_of_all, high = (
            [(tokens, *self._costs(tokens)) for pair in some for tokens in pair]
            for some in (first, each, n_all)
        )
        most = n * math.fsum(usd for _, _, usd in high)
        least_in_batch = n * BATCH_SHARE * math.fsum(usd for _, usd, _ in low_of_all)
        return JudgeCost(
            n_pairs=len(n_all),
            input_tokens=(n * sum(t[0] for t, _, _ in low), n * sum(t[1] for t, _, _ in high)),
            usd=(n * math.fsum(usd for _, usd, _ in low), most),
            batch_usd=(least_in_batch, BATCH_SHARE * most) if self.has_batches else None,
        )


_LISTED = "Anthropic's list price, October 2026"
_DOCUMENTED = "documented by ProjectScylla, without a date"

PRICES = FrozenMapping(
    {
        "claude-haiku-5-5": ModelPrice(
            input_usd_per_million=0.1,
            output_usd_per_million=0.5,
            long_prompt_tokens=100_000,
            long_prompt_price=ModelPrice(input_usd_per_million=0.5, output_usd_per_million=2.5),
            source=_LISTED,
        ),
        "claude-sonnet-5-5": ModelPrice(
            input_usd_per_million=2.0, output_usd_per_million=10.0, source=_LISTED
        ),
        "claude-opus-5-5": ModelPrice(
            input_usd_per_million=4.0, output_usd_per_million=20.0, source=_LISTED
        ),
        "claude-opus-4-5": ModelPrice(
            input_usd_per_million=15.0, output_usd_per_million=75.0, source=_DOCUMENTED
        ),
        "claude-sonnet-4": ModelPrice(
            input_usd_per_million=3.0, output_usd_per_million=15.0, source=_DOCUMENTED
        ),
        "gpt-4o": ModelPrice(
            input_usd_per_million=5.0, output_usd_per_million=15.0, source=_DOCUMENTED
        ),
    }
)
"""
Prices as their *source* states them, which need not be what you are charged: the 15 and 75 USD of
Claude Opus 4.5 are three times those of a log of runs. Pass your own `ModelPrice`, and those of
tokens in a prompt cache, which these do not have.
"""


def token_cost(
    *,
    input_tokens: int,
    output_tokens: int,
    price: ModelPrice,
    cache_read_tokens: int = 0,
    cache_write_tokens: int = 0,
) -> float:
    """
    Return the cost of the tokens of a run at a model's price.

    The prices count as they are written in decimal, and the result is rounded once. The three
    counts of input are disjoint, as Anthropic's logs have them, and their sum is the length of the
    prompt. Where a log counts cached tokens among its input, as OpenAI's do, subtract them.

    Args:
        input_tokens: Tokens sent that were neither read from nor written to a cache (count, at
            most 2**53).
        output_tokens: Tokens received (count, at most 2**53).
        price: The model's price, one of `PRICES` or your own.
        cache_read_tokens: Tokens sent that were read from a prompt cache.
        cache_write_tokens: Tokens sent that were written to one.

    Returns:
        The cost in USD, not rounded to cents.

    Raises:
        InputError: If a count is negative or above 2**53, the cost too large for a float, or
            tokens of a cache are given and *price* has no price for them.
        TypeError: If a count is not an integer or *price* is not a `ModelPrice`.

    Examples:
        >>> token_cost(input_tokens=12_000, output_tokens=800, price=PRICES["claude-sonnet-4"])
        0.048
        >>> own = ModelPrice(
        ...     input_usd_per_million=1,
        ...     output_usd_per_million=5,
        ...     cache_read_usd_per_million=0.1,
        ...     cache_write_usd_per_million=1.25,
        ... )
        >>> token_cost(
        ...     input_tokens=17,
        ...     output_tokens=598,
        ...     cache_read_tokens=121_462,
        ...     cache_write_tokens=14_017,
        ...     price=own,
        ... )
        0.03267445
        >>> token_cost(input_tokens=-1, output_tokens=800, price=PRICES["claude-sonnet-4"])
        Traceback (most recent call last):
        ...
        scorekit.errors.InputError: input_tokens must be an integer >= 0, got -1
    """
    counts = {
        "input": check_bounded_count("input_tokens", input_tokens),
        "output": check_bounded_count("output_tokens", output_tokens),
        "cache_read": check_bounded_count("cache_read_tokens", cache_read_tokens),
        "cache_write": check_bounded_count("cache_write_tokens", cache_write_tokens),
    }
    check_instance("price", price, ModelPrice)
    n_prompt = sum(counts.values()) - counts["output"]
    while price.long_prompt_price is not None and n_prompt > (price.long_prompt_tokens or 0):
        price = price.long_prompt_price
    cost = Fraction()
    for kind, count in counts.items():
        name = f"{kind}_usd_per_million"
        usd: float | None = getattr(price, name)
        if usd is None and count:
            domain = f"given for {count} {kind}_tokens (ModelPrice(..., {name}=...))"
            refuse(f"{name} of price", domain, None)
        cost += count * as_decimal(usd or 0.0)
    return check_number("token_cost", cost / TOKENS_PER_PRICE, 0.0)
