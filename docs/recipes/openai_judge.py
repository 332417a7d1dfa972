"""A judge on any model behind an OpenAI-compatible endpoint, with the pace of `ClaudeJudge`."""

from __future__ import annotations

from openai import AsyncOpenAI

from scorekit import (
    Judge,
    JudgeRequest,
    Verdict,
    judge_from_function,
    judge_prompt,
    verdict_from_text,
)


def openai_judge(client: AsyncOpenAI, model: str) -> Judge:
    """Return a judge that asks *model*; make the client with ``max_retries=0``."""

    async def ask(request: JudgeRequest) -> Verdict:
        prompt = judge_prompt(request)
        answer = await client.chat.completions.create(
            model=model,
            messages=[
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
        )
        return verdict_from_text(answer.choices[0].message.content or "", request=request)

    version = judge_prompt(JudgeRequest(generated="a", expected="b")).prompt_version
    return judge_from_function(ask, identity=f"{model} at {client.base_url}, prompt {version}")
