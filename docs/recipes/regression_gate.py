"""
pytest: the outcomes of a run as a fixture, and a gate that stops a CI job at a regression.

The baseline is stored on purpose, never by a test: run ``python regression_gate.py`` and commit
the file.  A job that finds none fails, as one that stored its own run would always be green.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import scorekit

BASELINE = Path(__file__).with_name("baseline.json")


def measured() -> scorekit.CodeReport:
    """Report on the run: put what your harness measured in place of these samples."""
    return scorekit.code_report(
        scorekit.CodeSample(case_id=case, model="candidate", compiled=True, passed=3, failed=0)
        for case in ("sort", "parse", "merge", "split", "count", "rank", "join", "fold")
        for _ in range(5)  # attempts: more of them, and more cases, find smaller losses
    )


@pytest.fixture(scope="session")
def baseline() -> scorekit.CodeReport:
    """Read the report of an earlier run."""
    if not BASELINE.exists():
        pytest.fail(f"no baseline: run python {Path(__file__).name} and commit {BASELINE.name}")
    return scorekit.CodeReport.from_json(BASELINE.read_text(encoding="utf-8"))


def test_nothing_regressed(baseline: scorekit.CodeReport) -> None:
    """Fail where there is evidence of a loss, or where cases are missing."""
    comparison = scorekit.compare_reports(baseline, measured())
    Path("comparison.md").write_text(comparison.to_markdown(), encoding="utf-8")  # the comment
    comparison.raise_for_regressions()


if __name__ == "__main__":
    BASELINE.write_text(measured().to_json(), encoding="utf-8")
