"""inspect_ai: a scorer for generated SQL, and a metric that keeps what is undecided."""

from __future__ import annotations

import tempfile
from typing import Literal

from inspect_ai import Task, eval  # noqa: A004 - its name for running a task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import (
    Metric,
    MetricProtocol,
    SampleScore,
    Score,
    Scorer,
    Target,
    mean,
    metric,
    scorer,
)
from inspect_ai.solver import TaskState

import scorekit

SCHEMA = {"users": {"id": "int", "name": "text"}, "orders": {"id": "int", "user_id": "int"}}


@metric
def end(which: Literal["low", "high"]) -> Metric:
    """Return one end of the interval of the mean."""

    def compute(scores: list[SampleScore]) -> float:
        interval = scorekit.mean_interval((one.score.as_float() for one in scores), bounds=(0, 1))
        return interval.low if which == "low" else interval.high

    checked: MetricProtocol = compute
    return checked


@scorer(
    metrics={"lowest": [mean(), end("low")], "highest": [mean(), end("high")], "decided": [mean()]}
)
def right_query() -> Scorer:
    """
    Score whether a query means what it should, by evidence alone.

    A pair that is not decided counts as wrong and as right: inspect_ai leaves out what is NaN.
    """

    async def score(state: TaskState, target: Target) -> Score:
        result = await scorekit.aquery_correctness(
            state.output.completion, list(target), schema=SCHEMA
        )
        is_open = result.error is not None and result.error.origin == "instrument"
        lowest, highest = (0.0, 1.0) if is_open else (result.score, result.score)
        return Score(
            value={"lowest": lowest, "highest": highest, "decided": float(not is_open)},
            answer=state.output.completion,
            explanation=result.reasoning,
            metadata=result.to_dict(),  # plain data: it goes into the log
        )

    return score


def main() -> None:
    """Run three samples with a model that needs no network."""
    task = Task(
        dataset=[
            Sample(input="All users?", target=["SELECT users.* FROM users"]),
            Sample(input="Their ids?", target=["SELECT id FROM users"]),
            Sample(input="Users by a function?", target=["SELECT frobnicate(id) FROM users"]),
        ],
        scorer=right_query(),
    )
    answer = ModelOutput.from_content("mockllm/model", "SELECT * FROM users")
    answer.usage = ModelUsage()  # or it would fetch a tokenizer to count
    model = get_model("mockllm/model", custom_outputs=[answer] * 3)
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(task, model=model, log_dir=folder, display="none")
    scores = log.results.scores if log.results is not None else []
    for score in scores:
        print(score.name, *(f"{name} {one.value:.3f}" for name, one in score.metrics.items()))


if __name__ == "__main__":
    main()
