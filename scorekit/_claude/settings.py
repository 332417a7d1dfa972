"""The arguments of a judge, checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from scorekit._core.checks import (
    check_choice,
    check_count,
    check_flag,
    check_instance,
    check_number,
    check_text,
)
from scorekit._core.mappings import FrozenMapping, is_mapping
from scorekit._judge.waiting import check_timeout
from scorekit.errors import InputError, refuse
from scorekit.prices import PRICES, ModelPrice

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


def _check_address(name: str, address: object) -> str:
    text = check_text(name, address)
    if not text.startswith(("http://", "https://")) or "@" in text:
        raise InputError(f"{name} must be an http or https address without a password")
    return text


def _check_connections(name: str, value: object) -> int:
    """Return how many of so many connections leave files for everything else."""
    n_connections = check_count(name, value, 1)
    if sys.platform == "win32":
        return n_connections
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    is_enough = most == resource.RLIM_INFINITY
    return n_connections if is_enough else max(1, min(n_connections, most // 2))


def _check_effort(name: str, effort: str) -> str:
    check_choice(name, effort, EFFORTS)
    return effort


def _check_prices(name: str, prices: object) -> FrozenMapping[str, ModelPrice]:
    if not is_mapping(prices):
        refuse(name, "a mapping from model to ModelPrice", prices, TypeError)
    for model, price in prices.items():
        check_instance(f"{name}[{check_text('model', model)!r}]", price, ModelPrice)
    return FrozenMapping(prices)


def _check_seconds(_: str, seconds: object) -> float:
    return check_timeout(seconds)


def _checked(check: Callable[..., Any], name: str, *more: Any, **options: Any) -> Any:
    """Return a field that is checked when it is given; None stands for no bound, or no choice."""

    def converted(value: object) -> Any:
        return None if value is None and name in OPTIONAL else check(name, value, *more, **options)

    field: Callable[..., Any] = attrs.field
    return field(converter=converted, repr=name != "api_key")


OPTIONAL = {
    "base_url",
    "effort",
    "max_calls",
    "max_cost_usd",
    "prices",
    "requests_per_minute",
}


@attrs.frozen(kw_only=True)
class Settings:
    """The arguments of a judge."""

    model: str = _checked(check_text, "model")
    api_key: str | None = _checked(check_key, "api_key")
    base_url: str | None = _checked(_check_address, "base_url")
    timeout_seconds: float = _checked(_check_seconds, "timeout_seconds")
    max_concurrency: int = _checked(_check_connections, "max_concurrency")
    max_retries: int = _checked(check_count, "max_retries")
    effort: str | None = _checked(_check_effort, "effort")
    max_tokens: int = _checked(check_count, "max_tokens", 1)
    max_calls: int | None = _checked(check_count, "max_calls")
    max_cost_usd: float | None = _checked(check_number, "max_cost_usd", 0.0)
    prices: Mapping[str, ModelPrice] | None = _checked(_check_prices, "prices")
    requests_per_minute: float | None = _checked(
        check_number, "requests_per_minute", 0.0, open_ends=True
    )
    max_wait_seconds: float = _checked(check_number, "max_wait_seconds", 0.0)
    batch: bool = _checked(check_flag, "batch")

    def __attrs_post_init__(self) -> None:
        """Refuse a bound on money where nobody knows what a call costs."""
        if self.max_cost_usd is not None and self.price is None:
            what = f"a ModelPrice for {self.model!r} where max_cost_usd is given"
            raise InputError(f"prices must hold {what}")

    @property
    def price(self) -> ModelPrice | None:
        """The caller's own price of the model, else the list price; None if neither is known."""
        return (self.prices or {}).get(self.model, PRICES.get(self.model))
