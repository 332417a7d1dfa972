"""The arguments of a judge, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from scorekit._core.checks import (
    check_choice,
    check_count,
    check_flag,
    check_instance,
    check_text,
)
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._judge.asking import Limits, checked
from scorekit.errors import InputError, refuse
from scorekit.prices import PRICES, ModelPrice, Pricing

EFFORTS = ("low", "medium", "high", "xhigh", "max")


def check_key(name: str, key: object) -> str | None:
    """Return a key that can be sent, or refuse it without showing it."""
    if key is None:
        return None
    if not isinstance(key, str):
        raise TypeError(f"{name} must be a string, got {type(key).__name__}")
    if not key:
        remedy = "a key, or None to let the SDK find one (ANTHROPIC_API_KEY, profiles)"
        raise InputError(f"{name} must be {remedy}, got ''")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(f"{name} must be printable ASCII text without spaces, got something else")
    return key


def _check_api_key(key: object) -> str | None:
    return check_key("api_key", key)


def _check_address(name: str, address: object) -> str:
    text = check_text(name, address)
    if not text.startswith(("http://", "https://")) or "@" in text:
        raise InputError(f"{name} must be an http or https address without a password")
    path = text.rstrip("/")
    if "?" in text or "#" in text or path.endswith("/messages"):
        end = "the address of the service, which ends before /v1/messages, without a query"
        raise InputError(f"{name} must be {end}, got {text!r}")
    return text


def _check_effort(name: str, effort: str) -> str:
    check_choice(name, effort, EFFORTS)
    return effort


def _check_prices(name: str, prices: object) -> FrozenMapping[str, ModelPrice]:
    if not is_mapping(prices):
        refuse(name, "a mapping from model to ModelPrice", prices, TypeError)
    for model, price in prices.items():
        check_instance(f"{name}[{check_text('model', model)!r}]", price, ModelPrice)
    return FrozenMapping(prices)


@attrs.frozen(kw_only=True)
class Settings:
    """The arguments of a judge besides its `Limits` and the client."""

    limits: Limits
    model: str = checked(check_text, "model")
    api_key: str | None = attrs.field(converter=_check_api_key, repr=False)
    base_url: str | None = checked(_check_address, "base_url", optional=True)
    effort: str | None = checked(_check_effort, "effort", optional=True)
    max_tokens: int = checked(check_count, "max_tokens", 1)
    structured_output: bool = checked(check_flag, "structured_output")
    prices: Mapping[str, ModelPrice] | None = checked(_check_prices, "prices", optional=True)
    batch: bool = checked(check_flag, "batch")

    def __attrs_post_init__(self) -> None:
        """Refuse a bound on money where nobody knows what a call costs."""
        if self.limits.max_cost_usd is not None and self.price is None:
            what = f"a ModelPrice for {self.model!r} where max_cost_usd is given"
            raise InputError(f"prices must hold {what}")

    @property
    def price(self) -> ModelPrice | None:
        """The caller's own price of the model, else the list price; None if neither is known."""
        return (self.prices or {}).get(self.model, PRICES.get(self.model))

    @property
    def pricing(self) -> Pricing:
        """What each question costs."""
        return Pricing(
            price=self.price,
            max_tokens=self.max_tokens,
            has_batches=True,
            asks_once=self.batch,
        )

    def price_of(self, answered: object) -> ModelPrice | None:
        """Return the price of an answer by a model: that of another model than was asked."""
        own = self.prices or {}
        is_asked = rf"{re.escape(self.model)}([-@]\d{{8}})?"  # a snapshot has a date
        if not isinstance(answered, str) or self.model in own or re.fullmatch(is_asked, answered):
            return self.price
        return own.get(answered, PRICES.get(answered))

    @property
    def effort_sent(self) -> str | None:
        """The effort, which is a part of the structured output."""
        return self.effort if self.structured_output else None
