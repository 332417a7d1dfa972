"""Fixtures and Hypothesis profiles for the whole suite."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let .ci/run, which installs every package, lose no test in silence."""
    text = "fail where a test is skipped for want of a package"
    parser.addoption("--all-installed", action="store_true", help=text)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a package was missing that all were said to be there."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    reasons = [str(report.longrepr) for report in reporter.stats.get("skipped", ())]
    is_missing = any("could not import" in reason for reason in reasons)
    if session.config.getoption("all_installed") and is_missing:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from a key or an endpoint that the machine happens to have."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
