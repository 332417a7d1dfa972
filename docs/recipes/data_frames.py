"""pandas and polars: columns go in as they are, reports come out as rows."""

from __future__ import annotations

import pandas as pd
import polars as pl

import scorekit

OUTCOMES = {
    "case_id": ["sort", "sort", "parse"],
    "compiled": [True, True, False],
    "passed": [2, 1, 0],
    "failed": [0, 1, 0],
}


def main() -> None:
    """Score a frame of each library, and put a report into one."""
    pandas_frame = pd.DataFrame(OUTCOMES)
    pandas_frame["score"] = scorekit.code_scores_from_columns(
        compiled=pandas_frame["compiled"],
        passed=pandas_frame["passed"],
        failed=pandas_frame["failed"],
    )
    polars_frame = pl.DataFrame(OUTCOMES)
    polars_frame = polars_frame.with_columns(
        score=scorekit.code_scores_from_columns(
            compiled=polars_frame["compiled"],
            passed=polars_frame["passed"],
            failed=polars_frame["failed"],
        )
    )
    print(pandas_frame["score"].tolist(), polars_frame["score"].to_list())

    tasks = pandas_frame.assign(correct=pandas_frame["score"] == 1).groupby("case_id")["correct"]
    suite = scorekit.pass_at_k(n_samples=tasks.size(), n_correct=tasks.sum())
    print(suite)

    attempts = pd.DataFrame(
        {
            "model": ["old"] * 4 + ["new"] * 4,
            "task": ["sort", "sort", "parse", "parse"] * 2,
            "passed": [True, False, True, True, False, False, True, True],
        }
    )
    by_model = {
        model: {str(task): list(passed) for task, passed in rows.groupby("task")["passed"]}
        for model, rows in attempts.groupby("model")
    }
    print(scorekit.compare_reports(by_model["old"], by_model["new"]).suite.verdict)

    samples = [
        scorekit.CodeSample(model="m", **row) for row in polars_frame.drop("score").to_dicts()
    ]
    print(pl.DataFrame(scorekit.code_report(samples).to_rows())["pass_at_1"].to_list())


if __name__ == "__main__":
    main()
