"""inspect_ai: a scorer for generated SQL, and a metric with an interval."""

from __future__ import annotations

import tempfile

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
    metric,
    scorer,
)
from inspect_ai.solver import TaskState

import scorekit


@metric
def described() -> Metric:
    """Describe the scores, and bound the share of perfect ones."""

    def compute(scores: list[SampleScore]) -> dict[str, str | int | float | bool | None]:
        values = [one.score.as_float() for one in scores]
        summary = scorekit.describe(values)
        share = scorekit.proportion_interval(values.count(1.0), len(values))
        return {"mean": summary.mean, "median": summary.median, "low": share.low}

    checked: MetricProtocol = compute
    return checked


@scorer(metrics=[described()])
def right_tables() -> Scorer:
    """Score whether a query reads the tables that it should."""

    async def score(state: TaskState, target: Target) -> Score:
        result = scorekit.table_accuracy(state.output.completion, list(target))
        return Score(
            value=result.score,
            answer=state.output.completion,
            explanation=str(result),
            metadata=result.to_dict(),  # plain data: it goes into the log
        )

    return score


def main() -> None:
    """Run two samples with a model that needs no network."""
    task = Task(
        dataset=[
            Sample(input="All users?", target=["users"]),
            Sample(input="Users with their orders?", target=["users", "orders"]),
        ],
        scorer=right_tables(),
    )
    answer = ModelOutput.from_content("mockllm/model", "SELECT * FROM users")
    answer.usage = ModelUsage()  # or it would fetch a tokenizer to count
    model = get_model("mockllm/model", custom_outputs=[answer, answer])
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(task, model=model, log_dir=folder, display="none")
    scores = log.results.scores if log.results is not None else []
    for name, value in (item for score in scores for item in score.metrics.items()):
        print(f"{name} {value.value:.3f}")


if __name__ == "__main__":
    main()
