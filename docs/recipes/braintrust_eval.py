"""Braintrust: an `Eval` that sends nothing, and what scorekit says of its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from braintrust import Eval, EvalCase, Reporter, Score

import scorekit

QUESTIONS = [
    EvalCase(input="All users?", expected="SELECT * FROM users"),
    EvalCase(input="All orders?", expected="SELECT * FROM orders"),
    EvalCase(input="All items?", expected="SELECT * FROM items"),
    EvalCase(input="Who ordered?", expected="SELECT user_id FROM orders"),
]
QUIET = Reporter("quiet", report_eval=lambda *_, **__: True, report_run=lambda *_: True)


def careful(question: str) -> str:
    """Stand in for a model: put the last word of a question into a query."""
    table = question.removesuffix("?").rpartition(" ")[2]
    return f"SELECT * FROM {table}"  # noqa: S608 - no database runs it


def careless(question: str) -> str:
    """Stand in for a worse one, which knows no orders."""
    return careful(question.replace("orders", "users"))


def ask(request: scorekit.JudgeRequest) -> float:
    """Stand in for a judge: it times out when asked about a user's id."""
    if "user_id" in request.expected:
        raise scorekit.JudgeError("timeout", "no answer")
    return 1.0 if request.generated == request.expected else 0.0


JUDGE = scorekit.judge_from_function(ask, identity="same text")


def right_answer(output: str, expected: str, **_: Any) -> Score:
    """Score a query; no score where the judge failed, which Braintrust shows as skipped."""
    result = scorekit.query_correctness(output, expected, judge=JUDGE)
    failed = result.error is not None and result.error.origin == "instrument"
    return Score(
        name="right_answer",
        score=None if failed else result.score,
        metadata=result.to_dict(),  # plain data, the error in it
    )


def run(model: Callable[[str], str]) -> list[Any]:
    """Ask each question twice; without `no_send_logs` it asks for a key and sends the rows."""
    evaluation = Eval(
        "sql",
        data=QUESTIONS,
        task=model,
        scores=[right_answer],
        trial_count=2,
        no_send_logs=True,
        reporter=QUIET,
    )
    results: list[Any] = evaluation.results
    return results


def attempts(results: list[Any]) -> dict[str, list[float]]:
    """Collect the scores of each question; an attempt that was skipped has none."""
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for result in results:
        if result.error is not None:  # the task raised: they go on without a score
            raise result.error
        score = result.scores["right_answer"]
        if score is not None:
            scores[result.input].append(score)
    return dict(scores)


def main() -> None:
    """Compare two models on the questions that could be judged."""
    baseline, current = run(careful), run(careless)
    before, after = attempts(baseline), attempts(current)
    comparison = scorekit.compare_reports(before, after)
    for change in comparison.regressions:
        print(f"{change.case_id} {change.baseline:g} -> {change.current:g}")
    print(comparison.suite.verdict, f"on {comparison.suite.n_cases} questions")
    print(sum(map(len, after.values())), "of", len(current), "attempts judged")


if __name__ == "__main__":
    main()
