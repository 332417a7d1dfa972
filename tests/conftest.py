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
    """Let .ci/run, where everything is installed, lose no test in silence."""
    parser.addoption("--no-skips", action="store_true", help="fail where a test is skipped")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that was to skip nothing and did."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("no_skips") and "skipped" in reporter.stats:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from a key or an endpoint that the machine happens to have."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)
