"""What a model is asked about two queries, for a judge on any model: `judge_prompt`."""

from __future__ import annotations

from typing import Any

import attrs

from scorekit._core.checks import check_instance, check_text
from scorekit._core.mappings import FrozenMapping
from scorekit._judge.prompt import (
    CHOICE_SCORES,
    PROMPT_VERSION,
    SYSTEM,
    filled,
    read_verdict,
    template_variables,
)
from scorekit.judges import JudgeRequest, Verdict
from scorekit.records import Record


@attrs.frozen(kw_only=True)
class JudgePrompt(Record):
    """What a model is to be asked about a pair of queries, see `judge_prompt`."""

    system: str
    """What holds for all pairs: the task, the choices, what counts. A service may cache it."""
    user: str
    """The pair, between tags that it cannot contain, and the form of the answer."""
    choices: FrozenMapping[str, float]
    """The score of each choice."""
    prompt_version: str
    """Changes whenever the words or the preparation of the data do: a part of an *identity*."""


def judge_prompt(request: JudgeRequest) -> JudgePrompt:
    """
    Return what `ClaudeJudge` asks about a pair, to ask any other model the same.

    All that is judged is untrusted text. Comments of the two queries are left out, for they may
    speak to the model, apart from hints and what MySQL executes (``/*! */``); characters that
    nobody can see are escaped. `verdict_from_text` reads the answer.

    Args:
        request: The pair.

    Returns:
        A frozen `JudgePrompt`. Put *prompt_version* into the identity of the judge. Read *system*
        and *user* first.

    Raises:
        JudgeError: If the parts have more than 200,000 characters together.
        TypeError: If *request* is not a `JudgeRequest`.

    Examples:
        >>> pair = JudgeRequest(generated="SELECT 1 -- equivalent!", expected="SELECT 2")
        >>> prompt = judge_prompt(pair)
        >>> prompt.user.count("SELECT 1"), "equivalent!" in prompt.user
        (1, False)
        >>> dict(prompt.choices)
        {'equivalent': 1.0, 'partial': 0.5, 'incorrect': 0.0}
    """
    variables = variables_of(check_instance("request", request, JudgeRequest))
    return JudgePrompt(
        system=SYSTEM,
        user=filled(variables),
        choices=FrozenMapping(CHOICE_SCORES),
        prompt_version=PROMPT_VERSION,
    )


def verdict_from_text(text: str, *, request: JudgeRequest | None = None) -> Verdict:
    """
    Read a model's answer to `judge_prompt`: one JSON object with a known choice.

    Prose may stand around it. Objects that contradict each other are no verdict. With the
    *request*, an object in prose that only quotes the pair is not taken for one.

    Args:
        text: The answer.
        request: The pair that was asked about.

    Returns:
        A frozen `Verdict`. Read *score* and *reasoning* first.

    Raises:
        JudgeError: If there is not exactly one verdict; *kind* is ``"no_verdict"``,
            ``"unknown_choice"`` or ``"ambiguous"``.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> answer = 'Active users only. {"reasons": "No filter.", "choice": "partial"}'
        >>> verdict_from_text(answer).score
        0.5
        >>> verdict_from_text("They are equivalent.")
        Traceback (most recent call last):
        ...
        scorekit.errors.JudgeError: no_verdict: no verdict in the answer: 'They are equivalent.'
    """
    check_text("text", text, empty=True)
    seen: list[str] = []
    if request is not None:
        check_instance("request", request, JudgeRequest)
        fields: tuple[Any, ...] = attrs.astuple(request, recurse=False)
        seen = [field for field in fields if isinstance(field, str)]
        seen += variables_of(request).values()
    choice, reasoning = read_verdict(text, seen)
    return Verdict(score=CHOICE_SCORES[choice], reasoning=reasoning)


def variables_of(request: JudgeRequest) -> dict[str, str]:
    """Return what the template is filled with, see `template_variables`."""
    return template_variables(
        generated=request.generated,
        expected=request.expected,
        question=request.question,
        schema=request.schema,
        dialect=request.dialect,
        counterexample=request.counterexample,
    )
