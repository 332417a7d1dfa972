"""pytest: the outcomes of a run as a fixture, and a gate that stops a CI job at a regression."""

from __future__ import annotations

import pytest

import scorekit


@pytest.fixture(scope="session")
def current() -> scorekit.CodeReport:
    """Report on the run: put what your harness measured in place of these samples."""
    return scorekit.code_report(
        scorekit.CodeSample(case_id=case, model="candidate", compiled=True, passed=3, failed=0)
        for case in ("sort", "parse", "merge", "search", "diff", "hash", "join", "rank")
        for _ in range(5)  # attempts: with one each, chance could explain nearly any change
    )


@pytest.fixture(scope="session")
def baseline(pytestconfig: pytest.Config, current: scorekit.CodeReport) -> scorekit.CodeReport:
    """Read the report of an earlier run; the first run stores its own."""
    path = pytestconfig.rootpath / "baseline.json"
    if not path.exists():
        path.write_text(current.to_json(), encoding="utf-8")
    return scorekit.CodeReport.from_json(path.read_text(encoding="utf-8"))


def test_nothing_regressed(baseline: scorekit.CodeReport, current: scorekit.CodeReport) -> None:
    """Fail where there is evidence of a loss, or where cases are missing."""
    scorekit.compare_reports(baseline, current).raise_for_regressions()
