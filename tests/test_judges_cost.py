"""What a judge would cost: bounds against sums by hand and what a service then charges."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from anthropic_server import AnthropicServer
from refusals import Refusal, refusals

from scorekit import (
    PRICES,
    CachedJudge,
    ClaudeJudge,
    JudgeCost,
    JudgeRequest,
    ModelPrice,
    SqlCase,
    SqlReport,
    VotingJudge,
    judge_from_function,
    judge_prompt,
    score_sql_cases,
)

pytest.importorskip("anthropic")
pytest.importorskip("autoevals")
PRICE = ModelPrice(input_usd_per_million=1.0, output_usd_per_million=100.0)


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    """Start a service."""
    with AnthropicServer() as running:
        yield running


def suite(seed: int, n: int = 8) -> list[SqlCase]:
    """Return cases of which no one is decided without a judge: odd names, comments, schemas."""
    rng = random.Random(seed)  # noqa: S311 - draws tests
    words = ["naïve", "統計", "order_items", "x", "a1b2c3d4", "customer"]

    def schema(n: int) -> str:
        return "".join(f"CREATE TABLE filler_{j} (a int, b text);\n" for j in range(n))

    def query(i: int) -> str:
        return f"SELECT {rng.choice(words)} -- {rng.choice(words)}\nFROM t{i} WHERE a = {i}"

    return [
        SqlCase(
            case_id=i,
            generated=query(i),
            expected=[query(-1 - i), *([query(99)] if rng.random() < 0.3 else [])],
            schema=rng.choice([None, schema(rng.randrange(1, 30))]),
            question=rng.choice([None, "Wie viele Kunden?"]),
        )
        for i in range(n)
    ]


def tokens(text: str) -> int:
    """Return tokens as of a plausible tokenizer: pieces of words, numbers, signs."""
    return len(re.findall(r"[^\W\d_]{1,5}|\d{1,3}|[^\w\s]|_|\s{3,}", text))


def charge(request: dict[str, Any], rng: random.Random) -> dict[str, int]:
    """Return the usage that a service would count."""
    text = request["system"] + request["messages"][0]["content"]
    return {
        "input_tokens": tokens(text) + rng.randrange(20, 400),
        "output_tokens": rng.randrange(20, request["max_tokens"]),
    }


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("batch", [False, True])
def test_what_is_charged_lies_between_the_bounds(
    server: AnthropicServer, seed: int, *, batch: bool
) -> None:
    """Asked one by one and in batches, with votes and equal pairs in a cache."""
    rng = random.Random(seed)  # noqa: S311 - draws tests

    def answer(request: dict[str, Any], _: int) -> str:
        verdict = json.dumps({"reasons": "", "choice": rng.choice(["equivalent", "partial"])})
        return "charged=" + json.dumps({"usage": charge(request, rng), "text": verdict})

    server.fault = answer
    server.batches.usage = lambda request: charge(request, rng)
    cases = suite(seed)
    twins = [attrs.evolve(case, case_id=f"twin of {case.case_id}") for case in cases]
    report = score_sql_cases([*cases, *twins])
    with ClaudeJudge(base_url=server.url, api_key="k", max_tokens=500, batch=batch) as claude:
        judge = VotingJudge(CachedJudge(claude), n_votes=2)
        found = SqlReport.from_json(report.to_json()).judge_cost(judge)
        asked = score_sql_cases([*cases, *twins], judge=judge, resume=report)
        low, high = (found.batch_usd or found.usd) if batch else found.usd
        assert asked.cost_usd == pytest.approx(claude.usage.cost_usd)
        assert low <= (claude.usage.cost_usd or 0.0) <= high
        assert found.input_tokens[0] <= claude.usage.input_tokens <= found.input_tokens[1]
    assert found.n_pairs == report.n_undecided == 16


def test_the_bounds_are_words_and_bytes() -> None:
    """Sums by hand over the prompts."""
    pair = JudgeRequest(generated="SELECT a FROM t", expected="SELECT é FROM t")
    report = score_sql_cases(
        [SqlCase(case_id=1, generated=pair.generated, expected=pair.expected)]
    )
    prompt = judge_prompt(pair)
    text = prompt.system + prompt.user
    least = len(re.findall(r"[^\W\d_]+", text))
    found = report.judge_cost(price=PRICE, max_tokens=10)
    low, high = found.input_tokens
    assert least - 60 <= low <= least  # the tag is no word, and its letters none in the template
    assert len(text.encode()) <= high <= len(text.encode()) + 2000 + 300
    assert found.usd == pytest.approx((low / 1e6 + 5e-4, high / 1e6 + 1e-3))
    assert found.batch_usd == pytest.approx(tuple(usd / 2 for usd in found.usd))


def test_of_several_accepted_queries_the_first_may_be_right() -> None:
    """Asked one after another, and in a batch all at once."""
    case = SqlCase(case_id=1, generated="SELECT a", expected=["SELECT b", "SELECT c"])
    one = SqlCase(case_id=1, generated="SELECT a", expected="SELECT b")
    both, single = (
        score_sql_cases([each], evidence="judge").judge_cost(price=PRICE) for each in (case, one)
    )
    assert both.usd[0] == pytest.approx(single.usd[0], rel=0.01)
    assert both.usd[1] == pytest.approx(2 * single.usd[1], rel=0.01)
    assert both.batch_usd == pytest.approx((single.usd[0], single.usd[1]), rel=0.01)


def test_the_price_is_the_judges_unless_one_is_given() -> None:
    """USD a question, votes, a cache, and a judge of which nothing is known."""
    report = score_sql_cases(suite(0, 4), evidence="judge")
    cheap = judge_from_function(lambda _: 0.5, identity="x", price=0.25)
    n = sum(len(case.accepted) for case in report.cases)
    assert report.judge_cost(cheap) == JudgeCost(
        n_pairs=4,
        input_tokens=report.judge_cost(price=PRICE).input_tokens,
        usd=(1.0, 0.25 * n),
        batch_usd=None,
    )
    assert report.judge_cost(VotingJudge(cheap)).usd == (4.0, n)
    free = judge_from_function(lambda _: 0.5, identity="x")
    assert report.judge_cost(free, price=PRICE).usd == report.judge_cost(price=PRICE).usd
    claude = ClaudeJudge(api_key="k", model="claude-haiku-5-5", max_tokens=100)
    own = report.judge_cost(price=PRICES["claude-haiku-5-5"], max_tokens=100)
    assert report.judge_cost(CachedJudge(claude)) == own


def test_what_is_decided_or_too_long_costs_nothing() -> None:
    """Also what a judge has decided; a failure of the judge is asked about again."""
    pairs = [("SELECT 1", "SELECT 1"), ("SELECT (", "SELECT 1"), ("SELECT a", "SELECT b" * 40_000)]
    decided = [SqlCase(case_id=i, generated=a, expected=b) for i, (a, b) in enumerate(pairs)]
    report = score_sql_cases(decided, evidence="judge")
    assert report.judge_cost(price=PRICE) == JudgeCost(
        n_pairs=0, input_tokens=(0, 0), usd=(0.0, 0.0), batch_usd=(0.0, 0.0)
    )
    judged = score_sql_cases(suite(0), judge=judge_from_function(lambda _: 0.5, identity="x"))
    assert judged.judge_cost(price=PRICE).n_pairs == 0
    failing = judge_from_function(lambda _: "?", identity="x")
    assert score_sql_cases(suite(0), judge=failing).judge_cost(price=PRICE).n_pairs == 8


@refusals("""
judge=None -> InputError: price must be given: what a question costs is not known
judge="claude" -> TypeError: judge must be a Judge (see judge_from_function), got 'claude'
judge=judge_from_function(len, identity="x")
    -> InputError: price must be given: what a question costs is not known
price=3 -> TypeError: price must be a ModelPrice (see PRICES), got 3
price=PRICE, max_tokens=0 -> InputError: max_tokens must be an integer >= 1, got 0
""")
def test_what_is_refused(wrong: Refusal) -> None:
    """A price that nobody knows, and what is no judge."""
    report = score_sql_cases(suite(0, 1))
    wrong.by(report.judge_cost)
