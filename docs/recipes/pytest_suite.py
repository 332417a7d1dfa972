"""
pytest: a suite whose tests are the evaluation, each case tried several times.

Save it as ``conftest.py``, and name the case in each test: ``record_property("case", name)``. Run
``pytest --store-baseline`` once and commit the file. Later runs fail if the suite got worse, and
only then: that a test fails is an outcome.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import scorekit

BASELINE = Path(__file__).with_name("suite.json")
OUTCOMES: dict[str, list[bool]] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that stores a baseline."""
    parser.addoption("--store-baseline", action="store_true")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome of each attempt; tests that share a case are attempts at it."""
    case = dict(report.user_properties).get("case")
    if report.when == "call" and case is not None:
        OUTCOMES.setdefault(str(case), []).append(report.passed)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Store the outcomes, or compare them with those of the baseline."""
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if not OUTCOMES or not ended:
        return
    report = scorekit.code_report_from_columns(model="candidate", passed=OUTCOMES)
    session.exitstatus = pytest.ExitCode.OK
    if session.config.getoption("--store-baseline"):
        BASELINE.write_text(report.to_json(), encoding="utf-8")
        return
    before = scorekit.CodeReport.from_json(BASELINE.read_text(encoding="utf-8"))
    comparison = scorekit.compare_reports(before, report)
    print(f"\n{comparison}")
    try:
        comparison.raise_for_regressions()
    except (scorekit.RegressionError, scorekit.CannotSeeError) as error:
        print(str(error).splitlines()[0])
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
