"""Requests and answers of the Messages API: plain data in and out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

import attrs

from scorekit._core.checks import MAX_COUNT
from scorekit._core.mappings import FrozenMapping
from scorekit._judge.prompt import ANSWER_SCHEMA, SYSTEM, TEMPLATE, clean, first_of, read_verdict
from scorekit.errors import JudgeError, one_line, shortened, shown
from scorekit.judges import Verdict
from scorekit.prices import ModelPrice, token_cost

_LAST_LINE = TEMPLATE.rpartition("\n")[2]
"""What ends the question; AutoEvals' own words follow it."""

_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""What the service calls an error, and the status that goes with it."""

_KINDS = {status: type_ for type_, status in _STATUSES.items()} | {
    504: "api_error",
    529: "overloaded",
}
_SERVER_ERROR = 500

CACHE_SHARES = {"cache_read_input_tokens": 0.1, "cache_creation_input_tokens": 1.25}
"""What input costs that the service read from its cache or wrote there, as a share."""


def messages_request(
    call: Mapping[str, Any], *, effort: str | None, is_structured: bool
) -> dict[str, Any]:
    """
    Translate what AutoEvals would send to a chat completion into a Messages request.

    Its one tool gives way to the JSON schema of the answer.
    """
    text = call["messages"][-1]["content"].rpartition(_LAST_LINE)[0] + _LAST_LINE
    request: dict[str, Any] = {
        "model": call["model"],
        "max_tokens": call["max_tokens"],
        "system": SYSTEM,
        "messages": [{"role": "user", "content": text}],
    }
    if is_structured:
        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": ANSWER_SCHEMA}}
        request["output_config"] = output if effort is None else {**output, "effort": effort}
    return request


@attrs.frozen(kw_only=True)
class Answer:
    """What came back for one request."""

    message: dict[str, Any]
    usage: FrozenMapping[str, int]
    cost_usd: float | None

    @classmethod
    def read(
        cls, body: object, price_of: Callable[[object], ModelPrice | None], share: float = 1.0
    ) -> Answer:
        """Take the decoded body of a response, whatever it holds; *share* of the price is paid."""
        if not is_object(body) or not isinstance(body.get("content"), list):
            raise JudgeError("invalid_response", f"the service answered with {shown(body)}")
        usage = _usage(body.get("usage"))
        cost = _cost(usage, price_of(body.get("model")))
        return cls(message=body, usage=usage, cost_usd=None if cost is None else cost * share)

    def verdict(self, score: float, reasoning: str, hide: Callable[[str], str]) -> Verdict:
        """Return the verdict, with all that is known about it; *hide* takes keys out of a text."""
        return Verdict(
            score=score,
            reasoning=reasoning,
            model=self._text("model", hide),
            usage=self.usage,
            cost_usd=self.cost_usd,
            response_id=self._text("id", hide),
        )

    def _text(self, name: str, hide: Callable[[str], str]) -> str | None:
        """Return one field of the message if it is text."""
        value = self.message.get(name)
        return clean(shortened(hide(value))) if isinstance(value, str) else None

    def failure(self, kind: str, message: str) -> JudgeError:
        """Return an error that keeps what was paid."""
        return JudgeError(kind, message, self.usage or None, self.cost_usd)

    def chat_completion(self, quoted: Iterable[str] = ()) -> dict[str, Any]:
        """
        Return the verdict in the form that AutoEvals reads.

        Args:
            quoted: What the model has seen of the pair, see `read_verdict`.

        Raises:
            JudgeError: If there is not exactly one verdict, whole and among the choices.
        """
        stop = self.message.get("stop_reason")
        if stop == "refusal":
            raise self.failure("refusal", "the model refused to answer")
        if stop in {"max_tokens", "model_context_window_exceeded"}:
            raise self.failure("truncated", f"the answer was cut short ({stop})")
        blocks = [block for block in self.message["content"] if is_object(block)]
        texts = [block.get("text") for block in blocks if block.get("type") == "text"]
        text = "".join(text for text in texts if isinstance(text, str))
        try:
            choice, reasons = read_verdict(text, quoted)
        except JudgeError as error:
            message = error.message
            if error.kind == "no_verdict":
                kinds = [one_line(str(block.get("type")), 40) for block in blocks]
                came = f"stop_reason {shown(stop)}, blocks: {', '.join(kinds) or 'none'}"
                message = f"no verdict in the answer ({came}): {first_of(text)}"
            raise self.failure(error.kind, message) from None
        arguments = {"reasons": reasons, "choice": choice}
        call = {"function": {"name": "select_choice", "arguments": json.dumps(arguments)}}
        return {"choices": [{"message": {"tool_calls": [call]}}]}


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _usage(value: object) -> FrozenMapping[str, int]:
    entries = value.items() if is_object(value) else ()
    return FrozenMapping(
        {name: n for name, n in entries if type(n) is int and 0 <= n <= MAX_COUNT}
    )


def _cost(usage: Mapping[str, int], price: ModelPrice | None) -> float | None:
    """Return what an answer cost in USD; None where a price or a count is not known."""
    n_in, n_out = usage.get("input_tokens"), usage.get("output_tokens")
    if price is None or n_in is None or n_out is None:
        return None
    cached = {name: usage.get(name, 0) for name in CACHE_SHARES}
    n_all = n_in + sum(cached.values())
    cost = token_cost(input_tokens=n_all, output_tokens=n_out, price=price)
    if n_all == n_in:
        return cost
    whole = token_cost(input_tokens=n_all, output_tokens=0, price=price)
    share = sum(n * (CACHE_SHARES[name] - 1) for name, n in cached.items()) / n_all
    return cost + whole * share


def error_in(body: object) -> tuple[int, str, str] | None:
    """Return status, type and words of an error that came as an answer; None if none did."""
    if not is_object(body) or body.get("type") != "error":
        return None
    error = body.get("error")
    error = error if is_object(error) else {}
    type_ = str(error.get("type"))
    return _STATUSES.get(type_, 400), type_, str(error.get("message"))


def error_kind(status: int, type_: object) -> str:
    """Return the kind of a refusal: by its status, else by what the service calls it."""
    if status in _KINDS:
        return _KINDS[status]
    if isinstance(type_, str) and re.fullmatch(r"\w{1,40}", type_):
        return "overloaded" if type_ == "overloaded_error" else type_
    return "api_error" if status >= _SERVER_ERROR else f"http_{status}"
