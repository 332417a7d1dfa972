"""Token prices and costs: the source's list, sums by hand, an exact oracle, errors."""

from __future__ import annotations

import pickle
from decimal import Decimal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refusals

from scorekit.errors import InputError
from scorekit.prices import PRICES, ModelPrice, token_cost


def test_prices_are_those_of_the_source() -> None:
    """These three are quoted in the cost of a pass; Claude 5.5 stands beside them."""
    quoted = {name: price for name, price in PRICES.items() if "5-5" not in name}
    assert {one.source for one in quoted.values()} == {
        "documented by ProjectScylla, without a date"
    }
    assert all(one.source for one in PRICES.values())
    assert {name: attrs.astuple(price)[:2] for name, price in quoted.items()} == {
        "claude-opus-4-5": (15.0, 75.0),
        "claude-sonnet-4": (3.0, 15.0),
        "gpt-4o": (5.0, 15.0),
    }


@refusals("""
long_prompt_tokens=5
    -> InputError: long_prompt_price must be given with long_prompt_tokens, got None...
long_prompt_price=PRICES["gpt-4o"]
    -> TypeError: long_prompt_tokens must be an integer >= 0, got None...
long_prompt_price=3.0, long_prompt_tokens=5
    -> TypeError: long_prompt_price must be a ModelPrice (see PRICES), got 3.0...
input_usd_per_million=-3.0
    -> InputError: input_usd_per_million must be a finite number >= 0, got -3.0
input_usd_per_million="3"
    -> TypeError: input_usd_per_million must be a finite number >= 0, got '3'
output_usd_per_million=-3.0
    -> InputError: output_usd_per_million must be a finite number >= 0, got -3.0
output_usd_per_million="3"
    -> TypeError: output_usd_per_million must be a finite number >= 0, got '3'
cache_read_usd_per_million=-3.0
    -> InputError: cache_read_usd_per_million must be a finite number >= 0, got -3.0
cache_write_usd_per_million="3"
    -> TypeError: cache_write_usd_per_million must be a finite number >= 0, got '3'
source="" -> InputError: source must be a non-empty string, got ''
""")
def test_price_errors(wrong: Refusal) -> None:
    """Prices are refused where they are made; those of long prompts stand together."""
    wrong.by(ModelPrice, input_usd_per_million=1.0, output_usd_per_million=2.0)


@pytest.mark.parametrize(
    ("tokens", "price", "expected"),
    [
        ((1_000_000, 0), PRICES["claude-opus-4-5"], 15.0),
        ((0, 1_000_000), PRICES["claude-opus-4-5"], 75.0),
        ((12_000, 800), PRICES["claude-sonnet-4"], 0.048),
        ((1234, 567), PRICES["gpt-4o"], 0.014675),
        ((0, 0), PRICES["gpt-4o"], 0.0),
        ((3, 7), ModelPrice(input_usd_per_million=0.1, output_usd_per_million=0.7), 5.2e-6),
    ],
)
def test_token_costs_by_hand(tokens: tuple[int, int], price: ModelPrice, expected: float) -> None:
    """Worked on paper; in floats 3 * 0.1 + 7 * 0.7 is off in the last place."""
    assert token_cost(input_tokens=tokens[0], output_tokens=tokens[1], price=price) == expected


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(0, 10**6))
def test_token_cost_is_rounded_once(n_in: int, n_out: int, cents: int) -> None:
    """Oracle: whole cents for a million tokens, divided once in integers."""
    price = ModelPrice(input_usd_per_million=cents / 100, output_usd_per_million=0.07)
    exact = (n_in * cents + n_out * 7) / 100_000_000
    assert token_cost(input_tokens=n_in, output_tokens=n_out, price=price) == exact


def test_the_list_travels() -> None:
    """It goes to workers with what was priced by it."""
    assert pickle.loads(pickle.dumps(PRICES)) == PRICES
    assert isinstance(hash(PRICES), int)


@refusals("""
input_tokens=-1 -> InputError: input_tokens must be an integer >= 0, got -1
output_tokens=1.5 -> TypeError: output_tokens must be an integer >= 0, got 1.5
price="gpt-4o" -> TypeError: price must be a ModelPrice (see PRICES), got 'gpt-4o'
""")
def test_token_cost_errors(wrong: Refusal) -> None:
    """The name of a model is not its price: look it up in PRICES, or pass your own."""
    wrong.by(token_cost, input_tokens=1, output_tokens=1, price=PRICES["gpt-4o"])


def test_prices_are_kept_as_floats() -> None:
    """Whatever numbers they were."""
    price = ModelPrice(input_usd_per_million=Decimal("0.15"), output_usd_per_million=1)  # type: ignore[arg-type]
    assert repr(attrs.astuple(price)[:2]) == "(0.15, 1.0)"


def test_a_cost_that_no_float_holds_is_refused() -> None:
    """It is not infinite."""
    price = ModelPrice(input_usd_per_million=1e308, output_usd_per_million=0)
    with pytest.raises(InputError, match=r"^token_cost must be a finite number >= 0, got "):
        token_cost(input_tokens=10**7, output_tokens=0, price=price)


def test_a_long_prompt_has_its_own_price_and_a_longer_one_another() -> None:
    """Above so many input tokens it holds for all tokens; the last step that applies counts."""
    haiku = PRICES["claude-haiku-5-5"]
    costs = [token_cost(input_tokens=n, output_tokens=1000, price=haiku) for n in (10**5, 100_001)]
    assert costs == [0.0105, 0.0525005]
    price = ModelPrice(input_usd_per_million=4, output_usd_per_million=0)
    for dollars, tokens in ((2, 2_000_000), (1, 1_000_000)):
        price = ModelPrice(
            input_usd_per_million=dollars,
            output_usd_per_million=0,
            long_prompt_tokens=tokens,
            long_prompt_price=price,
        )
    costs = [token_cost(input_tokens=n * 10**6, output_tokens=0, price=price) for n in (1, 2, 3)]
    assert costs == [1.0, 4.0, 12.0]


LOGGED = ModelPrice(
    input_usd_per_million=1,
    output_usd_per_million=5,
    cache_read_usd_per_million=0.1,
    cache_write_usd_per_million=1.25,
    source="a log of runs",
)
OPUS = ModelPrice(
    input_usd_per_million=5,
    output_usd_per_million=25,
    cache_read_usd_per_million=0.5,
    cache_write_usd_per_million=6.25,
)


@pytest.mark.parametrize(
    ("tokens", "price", "expected"),
    [
        ((17, 598, 121462, 14017), LOGGED, 0.03267445),
        ((82, 5459, 1336331, 44739), LOGGED, 0.21693385),
        ((21, 552, 149368, 12467), LOGGED, 0.03330155),
        ((53, 1537, 418159, 26562), LOGGED, 0.0827564),
        ((1, 0, 10, 100), OPUS, 0.000635),
    ],
)
def test_tokens_of_a_cache_cost_what_was_logged(
    tokens: tuple[int, ...], price: ModelPrice, expected: float
) -> None:
    """Runs as ProjectScylla logged them, and one worked on paper."""
    names = "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"
    assert token_cost(**dict(zip(names, tokens, strict=True)), price=price) == expected


@given(*[st.integers(0, 10**9)] * 4)
def test_tokens_of_a_cache_add_up(fresh: int, out: int, read: int, written: int) -> None:
    """Oracle: whole ten-thousandths of a cent for a million, divided once in integers."""
    found = token_cost(
        input_tokens=fresh,
        output_tokens=out,
        cache_read_tokens=read,
        cache_write_tokens=written,
        price=LOGGED,
    )
    assert found == (fresh * 100 + out * 500 + read * 10 + written * 125) / 10**8


def test_a_long_prompt_is_all_that_was_sent() -> None:
    """Tokens of the cache make it long, too; then its own prices hold, which must be known."""
    both = attrs.evolve(LOGGED, long_prompt_tokens=100, long_prompt_price=OPUS)
    counts = {"input_tokens": 1, "output_tokens": 0, "cache_read_tokens": 49}
    assert token_cost(**counts, cache_write_tokens=50, price=both) == 68.4e-6
    assert token_cost(**counts, cache_write_tokens=51, price=both) == 348.25e-6
    long = ModelPrice(input_usd_per_million=2, output_usd_per_million=3)
    both = attrs.evolve(both, long_prompt_price=long)
    with pytest.raises(InputError, match=r"^cache_read_usd_per_million of price must be given"):
        token_cost(**counts, cache_write_tokens=51, price=both)


@refusals("""
cache_read_tokens=-1 -> InputError: cache_read_tokens must be an integer >= 0, got -1
cache_write_tokens=1.5 -> TypeError: cache_write_tokens must be an integer >= 0, got 1.5
cache_read_tokens=5 -> InputError: cache_read_usd_per_million of price must be given
    for 5 cache_read_tokens (ModelPrice(..., cache_read_usd_per_million=...)), got None
cache_write_tokens=7 -> InputError: cache_write_usd_per_million of price must be given
    for 7 cache_write_tokens (ModelPrice(..., cache_write_usd_per_million=...)), got None
""")
def test_cache_errors(wrong: Refusal) -> None:
    """What has no price is not free."""
    price = PRICES["claude-sonnet-4"]
    assert token_cost(input_tokens=1, output_tokens=1, cache_read_tokens=0, price=price) == 18e-6
    wrong.by(token_cost, input_tokens=1, output_tokens=1, price=price)
