"""AutoEvals' part: its classifier, asked through a client of ours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import anthropic

from scorekit._claude.messages import messages_request
from scorekit._claude.settings import Settings
from scorekit._judge.prompt import CHOICE_SCORES, TEMPLATE
from scorekit.judges import METRIC

_llm: Any = import_module("autoevals.llm")  # they ship no types
_oai: Any = import_module("autoevals.oai")


@dataclass
class _Client(_oai.LLMClient):  # type: ignore[misc]  # an untyped base
    """A client that stays as it was made: the base needs openai, and would replace `complete`."""

    def __post_init__(self) -> None:
        """Keep the arguments."""


async def classified(
    settings: Settings,
    variables: dict[str, str],
    complete: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]],
) -> tuple[float, str]:
    """
    Return score and reasoning on a pair; *complete* answers a Messages request as a chat does.

    Refusals for load do not leave *complete*, so that AutoEvals' own hundred retries never begin.
    """

    async def completion(**call: Any) -> dict[str, Any]:
        effort, is_structured = settings.effort_sent, settings.structured_output
        return await complete(messages_request(call, effort=effort, is_structured=is_structured))

    client = _Client(openai=None, complete=completion, RateLimitError=anthropic.RateLimitError)
    options = {"model": settings.model, "max_tokens": settings.max_tokens, "client": client}
    classifier = _llm.LLMClassifier(METRIC, TEMPLATE, CHOICE_SCORES, **options)
    found = await classifier.eval_async(**variables)
    return float(found.score), str(found.metadata["rationale"])
