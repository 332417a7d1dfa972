"""Which client carries a judge, and what is said of one that nobody can read."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from anthropic_server import AnthropicServer, cases, requests

from scorekit import (
    CachedJudge,
    ClaudeJudge,
    InputError,
    JudgeError,
    JudgeRequest,
    SqlReport,
    ascore_sql_cases,
    score_sql_cases,
)

anthropic: Any = pytest.importorskip("anthropic")
httpx2: Any = pytest.importorskip("httpx2")
pytest.importorskip("autoevals")

KEY = "sk-ant+secret/0123"
PAIR = JudgeRequest(generated="SELECT a FROM t", expected="SELECT b FROM t")


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep profiles, keys and proxies of the machine away from the SDK."""
    for name in ("HOME", "XDG_CONFIG_HOME", "APPDATA", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "AWS_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    """Start a service."""
    with AnthropicServer("partial") as running:
        yield running


def bedrock(url: str, prefix: str = "") -> Any:
    """Return a client of AWS; its signature needs botocore."""
    pytest.importorskip("botocore")
    make = getattr(anthropic, f"{prefix}AnthropicBedrock")
    return make(
        aws_access_key="id",
        aws_secret_key=KEY,
        aws_region="eu-west-1",
        base_url=url,
        max_retries=5,
    )


def vertex(url: str, prefix: str = "") -> Any:
    """Return a client of Google's cloud."""
    make = getattr(anthropic, f"{prefix}AnthropicVertex")
    return make(access_token=KEY, region="eu", project_id="p", base_url=f"{url}/v1", max_retries=5)


def foundry(url: str, prefix: str = "") -> Any:
    """Return a client of Azure."""
    make = getattr(anthropic, f"{prefix}AnthropicFoundry")
    return make(api_key=KEY, base_url=f"{url}/anthropic/", max_retries=5)


def gateway(url: str, prefix: str = "") -> Any:
    """Return a client of a gateway that takes a bearer token."""
    make = getattr(anthropic, f"{prefix}Anthropic")
    headers = {"x-route": "eu", "x-gateway-key": KEY}
    return make(auth_token=KEY, base_url=url, default_headers=headers, max_retries=5)


MODELS = "/v1/projects/p/locations/eu/publishers/anthropic/models"
CLOUDS: dict[str, tuple[Callable[..., Any], str]] = {
    "bedrock": (bedrock, "/model/claude-sonnet-5-5/invoke"),
    "vertex": (vertex, f"{MODELS}/claude-sonnet-5-5:rawPredict"),
    "foundry": (foundry, "/anthropic/v1/messages"),
    "gateway": (gateway, "/v1/messages"),
}


@pytest.mark.parametrize("prefix", ["", "Async"])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_any_client_of_the_sdk_carries_a_judge(
    server: AnthropicServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    cloud: str,
    prefix: str,
) -> None:
    """Asked once, cached, and asked again by nobody; no key in any text; open at the end."""
    caplog.set_level(logging.DEBUG, "scorekit")
    make, path = CLOUDS[cloud]
    server.fault = "equivalent"
    client = make(server.url, prefix)
    with ClaudeJudge(client=client, max_retries=0) as judge:
        cached = CachedJudge(judge, directory=tmp_path / "c")
        assert (cached.judge(PAIR).score, cached.judge(PAIR).cached) == (1.0, True)
        server.fault = "api_error"
        with pytest.raises(JudgeError) as caught:
            judge.judge(requests(1)[0])
        server.fault = "equivalent"
        with ClaudeJudge(client=make(server.url, prefix)) as other:
            assert CachedJudge(other, directory=tmp_path / "c").judge(PAIR).cached
            assert other.identity == judge.identity
        identity = json.loads(judge.identity)
        assert identity["base_url"].startswith(server.url)
        assert identity.get("region") == {"bedrock": "eu-west-1", "vertex": "eu"}.get(cloud)
    assert set(server.paths) == {path}
    assert len(server.requests) == 2  # the client's own retries do not multiply
    for text in (repr(judge), judge.identity, str(caught.value), caplog.text):
        assert KEY not in text
    assert not client.is_closed()


@pytest.mark.parametrize("prefix", ["", "Async"])
def test_a_client_may_be_used_within_a_running_loop(server: AnthropicServer, prefix: str) -> None:
    """One that blocks, too, keeps neither the loop nor other questions waiting."""
    server.hold = lambda _: server.most_under_way < 8  # so that eight have to be there at once

    async def cell() -> None:
        n_steps = 0

        async def steps() -> None:
            nonlocal n_steps
            while True:
                await asyncio.sleep(0)
                n_steps += 1

        client = gateway(server.url, prefix)
        with ClaudeJudge(client=client, max_concurrency=8) as judge:
            others = asyncio.create_task(steps())
            verdicts = await asyncio.gather(*map(judge.ajudge, requests(8)))
            assert {verdict.score for verdict in verdicts} == {0.5}
            assert n_steps > 10
            others.cancel()
            assert judge.judge(PAIR).score == 0.5  # as in a cell of a notebook
            assert score_sql_cases(cases(8, 100), judge=judge).n_failed == 0
            assert (await ascore_sql_cases(cases(8, 200), judge=judge)).n_failed == 0

    asyncio.run(cell())
    assert (server.most_under_way, len(server.requests)) == (8, 25)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_batches_need_a_client_that_has_them(server: AnthropicServer, cloud: str) -> None:
    """Clouds have none of this kind."""
    client = CLOUDS[cloud][0](server.url)
    if cloud == "gateway":
        with ClaudeJudge(client=client, batch=True) as judge:
            assert [getattr(found, "score", None) for found in judge.judge_many([PAIR])] == [0.5]
    else:
        with pytest.raises(InputError, match=r"^batch must be False for a client without batches"):
            ClaudeJudge(client=client, batch=True)


def test_what_no_client_can_be(server: AnthropicServer) -> None:
    """Another library's, one that is closed, or one beside a key or an address."""
    client = gateway(server.url)
    with pytest.raises(TypeError, match=r"^client must be a client of the Anthropic SDK .*'x'$"):
        ClaudeJudge(client="x")
    for name in ("api_key", "base_url"):
        given: Any = {name: "http://x"}
        with pytest.raises(InputError, match=rf"^{name} must be None beside client"):
            ClaudeJudge(client=client, **given)
    judge = ClaudeJudge(client=client)
    with pytest.raises(TypeError, match="make it where it is used"):
        pickle.dumps(judge)
    client.close()
    with judge, pytest.raises(JudgeError, match="closed: the client is closed"):
        judge.judge(PAIR)
    with pytest.raises(InputError, match=r"^client must be open"):
        ClaudeJudge(client=client)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_client_of_the_callers_stays_in_its_process(server: AnthropicServer) -> None:
    """Two processes that read from one connection would read each other's answers."""
    with ClaudeJudge(client=gateway(server.url)) as judge:
        assert judge.judge(PAIR).score == 0.5
        child = os.fork()
        if not child:
            code = 1
            try:
                judge.judge(PAIR)
            except JudgeError as error:
                code = 7 if "after a fork; make it where it is used" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert judge.judge(PAIR).score == 0.5


@pytest.mark.parametrize("is_async", [True, False])
def test_the_http_client_of_the_caller_wins(server: AnthropicServer, *, is_async: bool) -> None:
    """Its proxies and headers are used; answers stay bounded, and redirects are refused."""
    kind = httpx2.AsyncClient if is_async else httpx2.Client
    make = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
    http = kind(headers={"x-own": "1"}, follow_redirects=True)
    client = make(api_key=KEY, base_url=server.url, http_client=http)
    with ClaudeJudge(client=client, max_retries=0) as judge:
        assert judge.judge(PAIR).score == 0.5
        assert server.headers[-1]["x-own"] == "1"
        server.fault = "endless"
        with pytest.raises(JudgeError, match="more than 4194304 bytes"):
            judge.judge(PAIR)
        with AnthropicServer() as other:
            server.fault = f"redirect={other.url}/there"
            with pytest.raises(JudgeError, match=f"the service sends to {other.url}/there, "):
                judge.judge(PAIR)
            assert other.paths == []


@pytest.mark.parametrize("is_async", [True, False])
def test_a_connection_that_fails_names_host_and_proxy(*, is_async: bool) -> None:
    """Neither answers."""
    kind = httpx2.AsyncClient if is_async else httpx2.Client
    make = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
    http = kind(proxy="http://user:pass@127.0.0.1:9")
    client = make(api_key=KEY, base_url="http://service.invalid", http_client=http)
    with (
        ClaudeJudge(client=client, max_retries=0) as judge,
        pytest.raises(JudgeError) as caught,
    ):
        judge.judge(PAIR)
    words = "connection to service.invalid by the proxy 127.0.0.1:9 failed: "
    assert caught.value.message.startswith(words)
    assert "pass" not in caught.value.message


@pytest.mark.parametrize("way", ["environment", "client", "http client"])
def test_headers_that_route_make_another_judge(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Keys among them do not, nor do those that the SDK sends by itself."""

    def identity(headers: dict[str, str]) -> str:
        if way == "environment":
            lines = "\n".join(f"{name}: {value}" for name, value in headers.items())
            monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", lines)
            return ClaudeJudge(api_key=KEY, base_url=server.url).identity
        if way == "client":
            return ClaudeJudge(
                client=anthropic.Anthropic(
                    api_key=KEY, base_url=server.url, default_headers=headers
                )
            ).identity
        http = httpx2.Client(headers=headers)
        client = anthropic.Anthropic(api_key=KEY, base_url=server.url, http_client=http)
        return ClaudeJudge(client=client).identity

    plain, first, second, again = (
        identity(headers)
        for headers in (
            {},
            {"x-model": "a", "X-Api-Token": "1"},
            {"x-model": "b", "X-Api-Token": "1"},
            {"X-Api-Token": "2", "X-Model": "a"},
        )
    )
    assert len({plain, first, second}) == 3
    assert again == first
    assert "headers" not in json.loads(plain)


def test_the_environment_is_read_again_before_the_first_question(
    server: AnthropicServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no more afterwards."""
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-model: a")
    with ClaudeJudge(api_key=KEY, base_url=server.url) as judge:
        before = judge.identity
        assert judge.judge(PAIR).score == 0.5
        monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-model: b")
        assert judge.identity == before
    assert server.headers[-1]["x-model"] == "a"


@pytest.mark.parametrize("end", ["/v1/messages", "/v1/messages/", "?route=a", "/v1?x", "#x"])
def test_an_address_that_is_none(end: str) -> None:
    """It would be asked at another path than meant."""
    with pytest.raises(InputError, match=r"^base_url must be the address of the service, which"):
        ClaudeJudge(base_url=f"https://api.anthropic.com{end}")


@pytest.mark.parametrize("options", [{"structured_output": False}, {"effort": None}])
def test_what_is_left_out_for_routes_that_refuse_it(
    server: AnthropicServer, options: dict[str, Any]
) -> None:
    """A part of the identity as well; prose around the answer is read."""
    server.fault = "in_prose"
    with ClaudeJudge(api_key=KEY, base_url=server.url, **options) as judge:
        assert judge.judge(PAIR).score == 0.5
        identity = json.loads(judge.identity)
        assert (identity["effort"], "effort=None" in repr(judge)) == (None, True)
    with ClaudeJudge(api_key=KEY, base_url=server.url) as plain:
        assert plain.identity != judge.identity
    (sent,) = server.requests
    assert "effort" not in sent.get("output_config", {})
    assert ("output_config" in sent) == ("effort" in options)


@pytest.mark.parametrize("n_at_once", [1, 8, 16])
def test_a_route_that_refuses_every_request_is_asked_few_times(
    server: AnthropicServer, n_at_once: int
) -> None:
    """One more than are asked at once, however long each takes; the message names the remedy."""
    server.fault = "invalid_request=output_config: Extra inputs are not permitted"
    server.seconds = 0.1
    with ClaudeJudge(api_key=KEY, base_url=server.url, max_concurrency=n_at_once) as judge:
        report = score_sql_cases(cases(60), judge=judge)
    assert len(server.requests) == n_at_once + 1
    assert report.n_failed == 60
    for case in report.cases:
        assert case.query_correctness is not None
        assert "effort=None, or structured_output=False" in str(case.query_correctness.error)


def test_one_pair_that_is_refused_keeps_nobody_from_the_service(server: AnthropicServer) -> None:
    """Of a hundred, each tenth is too long, one at a time or all at once."""
    too_long = "invalid_request=prompt is too long"
    server.seconds = 0.02
    server.fault = lambda body, _: too_long if "7 FROM t" in str(body) else "partial"
    with ClaudeJudge(api_key=KEY, base_url=server.url) as judge:
        report = score_sql_cases(cases(100), judge=judge)
    assert (report.n_failed, len(server.requests)) == (10, 100)


@pytest.mark.parametrize("answered_by", ["gpt-x", "claude-sonnet-5-5-20260301"])
def test_who_answered_is_said_also_from_the_cache(
    server: AnthropicServer, tmp_path: Path, answered_by: str
) -> None:
    """A gateway may send questions elsewhere, and a name may mean another model in time."""

    def report(n_cases: int) -> SqlReport:
        with ClaudeJudge(api_key=KEY, base_url=server.url) as judge:
            cached = CachedJudge(judge, directory=tmp_path / "c")
            return score_sql_cases(cases(n_cases), judge=cached)

    server.fault = f"echo_model={answered_by}"
    first, again = report(2), report(2)
    assert len(server.requests) == 2
    for one in (first, again):
        (whom,) = {*one.ruler.judges.values()}
        assert whom.startswith("claude-sonnet-5-5 (")
        assert whom.endswith(f"), answered by {answered_by}")
    server.fault = "partial"
    (whom,) = {*report(3).ruler.judges.values()} - {*first.ruler.judges.values()}
    assert whom.startswith("claude-sonnet-5-5 (")
    assert "answered by" not in whom


encode = base64.b64encode
FORMS = {
    "plain": KEY,
    "percent": quote(KEY, safe=""),
    **{
        f"base64 {n}": base64.b64encode(b"x" * n + KEY.encode() + b"yy").decode() for n in range(4)
    },
    "urlsafe": base64.urlsafe_b64encode(KEY.encode() + b"zz").decode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("where", ["echo_model", "echo_id", "reasons", "invalid_key", "text_of"])
def test_a_key_is_hidden_in_every_form_and_place(
    server: AnthropicServer, form: str, where: str
) -> None:
    """Also where a gateway encodes it, and in what it calls the model."""
    server.fault = f"{where}={FORMS[form]}"
    with ClaudeJudge(api_key=KEY, base_url=server.url) as judge:
        try:
            shown = repr(judge.judge(PAIR))
        except JudgeError as error:
            shown = str(error)
    assert FORMS[form] not in shown
    assert FORMS[form][4:20] not in shown
    assert "***" in shown


@pytest.mark.parametrize("key", [KEY, KEY + "4", KEY + "45"])
@pytest.mark.parametrize("before", range(3))
@pytest.mark.parametrize("behind", range(3))
def test_no_end_of_a_key_in_base64_is_left(
    server: AnthropicServer, key: str, before: int, behind: int
) -> None:
    """Wherever it stands among other bytes: no more characters than those need."""
    server.fault = "text_of=" + base64.b64encode(
        b"b" * before + key.encode() + b"e" * behind
    ).decode().rstrip("=")
    with (
        ClaudeJudge(api_key=key, base_url=server.url) as judge,
        pytest.raises(JudgeError, match=r": '(.*)'") as caught,
    ):
        judge.judge(PAIR)
    shown = caught.value.message.rpartition(": '")[2].rstrip("'")
    start, end = shown.split("***")
    assert len(start) <= -(-8 * before // 6)
    assert len(end) <= -(-8 * behind // 6) + 1


def scored(judge: ClaudeJudge, n: int) -> SqlReport:
    """Let a judge decide all of *n* cases."""
    return score_sql_cases(cases(n), judge=judge, evidence="judge")


@pytest.mark.parametrize("n_at_once", [2, 8, 50])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("tool_use", "blocks: tool_use"),
        ("text_only", "They are equivalent."),
        ("refusal", "the model refused to answer"),
        ("truncated", "cut short (max_tokens)"),
        ("html", "(text/html): '<html>please log in"),
    ],
)
def test_a_judge_of_which_nothing_is_ever_read_ends(
    server: AnthropicServer, n_at_once: int, fault: str, words: str
) -> None:
    """After thirty pairs, or three times what is asked at once, and says what came."""
    server.fault = fault
    most = max(30, 3 * n_at_once)
    with ClaudeJudge(api_key=KEY, base_url=server.url, max_concurrency=n_at_once) as judge:
        report = scored(judge, 200)
        assert judge.usage.n_calls == most
    assert (report.n_failed, len(server.requests)) == (200, most)
    messages = [case.query_correctness.error.message for case in report.cases]  # type: ignore[union-attr]
    stop = f"no more calls are made after: {most} pairs were paid for, and no answer could be read"
    assert sum(stop in message for message in messages) == 200 - most
    assert all(words in message for message in messages)


def test_a_judge_of_which_something_was_read_goes_on(server: AnthropicServer) -> None:
    """One in ten will do."""
    server.fault = lambda _, n: "partial" if n % 10 == 0 else "text_only"
    with ClaudeJudge(api_key=KEY, base_url=server.url, max_concurrency=8) as judge:
        report = scored(judge, 200)
    assert (report.n_failed, len(server.requests)) == (180, 200)


def test_one_pair_that_is_never_read_stops_nothing(server: AnthropicServer) -> None:
    """It is the same pair each time."""
    server.fault = lambda _, n: "text_only" if n <= 40 else "partial"
    with ClaudeJudge(api_key=KEY, base_url=server.url) as judge:
        for _ in range(40):
            with pytest.raises(JudgeError):
                judge.judge(PAIR)
        assert judge.judge(PAIR).score == 0.5
