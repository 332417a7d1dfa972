"""AutoEvals and Braintrust: a scorer that returns their `Score`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoevals import Score, Scorer

import scorekit


class RightTables(Scorer):  # type: ignore[misc] # it has no types
    """Score whether a query reads the tables that it should."""

    def _run_eval_sync(self, output: str, expected: Sequence[str] = (), **_: Any) -> Score:
        result = scorekit.table_accuracy(output, expected)
        return Score(name="right_tables", score=result.score, metadata=result.to_dict())


def right_answer(output: str, expected: str, **_: Any) -> Score:
    """Score a query; no score where the judge failed, which Braintrust shows as skipped."""
    judge = scorekit.judge_from_function(lambda _: 0.5, identity="always partly right")
    result = scorekit.query_correctness(output, expected, judge=judge)
    failed = result.error is not None and result.error.origin == "instrument"
    return Score(
        name="right_answer",
        score=None if failed else result.score,
        metadata={"reasoning": result.reasoning},
    )


def main() -> None:
    """Score one query as `Eval(..., scores=[RightTables(), right_answer])` would."""
    query = "SELECT id FROM users JOIN orders USING (id)"
    print(RightTables()(query, expected=["users"]).score)
    print(right_answer(query, expected="SELECT id FROM users").score)


if __name__ == "__main__":
    main()
