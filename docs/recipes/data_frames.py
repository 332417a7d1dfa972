"""pandas and polars: from a table of attempts to a verdict, and back to a table."""

from __future__ import annotations

import pandas as pd
import polars as pl

import scorekit

ATTEMPTS = {
    "model": ["old"] * 4 + ["new"] * 4,
    "task": ["sort", "sort", "parse", "parse"] * 2,
    "passed": [True, False, True, True, False, False, True, True],
}


def report(frame: pd.DataFrame | pl.DataFrame) -> scorekit.CodeReport:
    """Report on every model of a table with a row for each attempt."""
    return scorekit.code_report_from_columns(
        case_id=frame["task"], model=frame["model"], passed=frame["passed"]
    )


def main() -> None:
    """Compare two models in either library, and put their report into a table."""
    for frame in (pd.DataFrame(ATTEMPTS), pl.DataFrame(ATTEMPTS)):
        both = report(frame)
        result = scorekit.compare_reports(both.for_model("old"), both.for_model("new"))
        print(result.suite.verdict, result.suite.delta)
    table = pl.DataFrame(report(pl.DataFrame(ATTEMPTS)).to_rows())
    print(table["pass_at_1"].to_list())


if __name__ == "__main__":
    main()
