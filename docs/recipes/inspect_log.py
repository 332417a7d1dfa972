"""inspect_ai: a metric and a reducer of its own, and two logs with epochs to a verdict."""

from __future__ import annotations

import math
import tempfile

from inspect_ai import Epochs, Task, eval  # noqa: A004 - its name for running a task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import (
    Metric,
    MetricProtocol,
    SampleScore,
    Score,
    ScoreReducer,
    match,
    metric,
    score_reducer,
    value_to_float,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

import scorekit

SUMS = {"1+2": 3, "2+2": 4, "4+5": 9, "7+8": 15, "10+1": 11, "6+6": 12}


@score_reducer
def counted() -> ScoreReducer:
    """Reduce the epochs of a sample to their mean, and keep both counts."""
    to_float = value_to_float()

    def reduce(scores: list[Score]) -> Score:
        passed = [to_float(score.value) == 1 for score in scores]
        n, c = len(passed), sum(passed)
        return Score(value=c / n, metadata={"n": n, "c": c})

    return reduce


@metric
def pass_at_2() -> Metric:
    """
    Estimate pass@2 from what the reducer kept.

    Metrics are also computed during a run: a sample without two epochs is left out.
    """

    def compute(scores: list[SampleScore]) -> dict[str, str | int | float | bool | None]:
        every = (one.score.metadata or {"n": 0} for one in scores)
        kept = [counts for counts in every if counts["n"] >= 2]  # noqa: PLR2004 - as in pass@2
        if not kept:
            return {"score": math.nan}
        result = scorekit.pass_at_k(
            n_samples=[one["n"] for one in kept],
            n_correct=[one["c"] for one in kept],
            k=2,
        )
        interval = result.interval
        ends = {} if interval is None else {"low": interval.low, "high": interval.high}
        return {"score": result.score, **ends}

    checked: MetricProtocol = compute
    return checked


@solver
def stand_in(n_right: dict[str, int]) -> Solver:
    """Stand in for a model: the given number of epochs of a sample is right."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate  # nothing is asked of a model
        answer = SUMS[str(state.sample_id)] + (state.epoch > n_right[str(state.sample_id)])
        state.output = ModelOutput.from_content("stand-in", str(answer))
        return state

    return solve


def run(n_right: tuple[int, ...], folder: str) -> str:
    """Run five epochs; return where the log is."""
    samples = [Sample(id=q, input=q, target=str(a)) for q, a in SUMS.items()]
    answers = stand_in(dict(zip(SUMS, n_right, strict=True)))
    task = Task(
        samples, solver=answers, scorer=match(), metrics=[pass_at_2()], epochs=Epochs(5, counted())
    )
    (log,) = eval(task, model="mockllm/model", log_dir=folder, display="none")
    for score in log.results.scores if log.results is not None else []:
        print({name: round(found.value, 3) for name, found in score.metrics.items()})
    return log.location


def main() -> None:
    """Write two logs, and compare them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = run((5, 5, 4, 5, 3, 5), folder), run((5, 1, 4, 0, 3, 2), folder)
        old, new = (scorekit.readers.inspect_ai(read_eval_log(path)) for path in paths)
        print(scorekit.compare_reports(old, new))


if __name__ == "__main__":
    main()
