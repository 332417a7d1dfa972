"""deepeval: a metric for its test cases."""

from __future__ import annotations

import asyncio
import os
from typing import Any

os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "1")  # otherwise it sends usage data

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

import scorekit


class RightAnswer(BaseMetric):  # type: ignore[misc] # it has no types
    """Score a query against the one that was expected."""

    def __init__(self, judge: scorekit.Judge, threshold: float = 0.5) -> None:
        self.judge = judge
        self.threshold = threshold

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Score one test case."""
        return self._keep(
            scorekit.query_correctness(
                test_case.actual_output, test_case.expected_output, judge=self.judge
            )
        )

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Score one test case while others are scored."""
        return self._keep(
            await scorekit.aquery_correctness(
                test_case.actual_output, test_case.expected_output, judge=self.judge
            )
        )

    def _keep(self, result: scorekit.QueryCorrectness) -> float:
        """Put a result where deepeval looks; what could not be judged is an error, not a 0."""
        failed = result.error is not None and result.error.origin == "instrument"
        self.score, self.reason = result.score, result.reasoning
        self.error = str(result) if failed else None
        self.success = not failed and result.score >= self.threshold
        return result.score

    def is_successful(self) -> bool:
        """Say whether the last test case reached the threshold."""
        return bool(self.success)

    @property
    def __name__(self) -> str:
        """Name the metric in deepeval's tables."""
        return "Right answer"


def main() -> None:
    """Measure one test case with a judge that needs no network."""
    judge = scorekit.judge_from_function(lambda _: 0.5, identity="always partly right")
    metric = RightAnswer(judge)
    case = LLMTestCase(
        input="All users?", actual_output="SELECT 1", expected_output="SELECT * FROM users"
    )
    print(metric.measure(case), asyncio.run(metric.a_measure(case)), metric.is_successful())


if __name__ == "__main__":
    main()
