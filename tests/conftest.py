"""Fixtures and Hypothesis profiles for the whole suite."""

from __future__ import annotations

import itertools
import operator
import os
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=25, deadline=None, print_blob=True, derandomize=True)
settings.register_profile("nightly", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


SKIPPED = "scorekit/skipped"  # where pytest's cache keeps what the last run had no package for


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let .ci/run, which installs every package in the end, lose no test in silence."""
    text = "run the tests that take long, and no others"
    parser.addoption("--slow", action="store_true", help=text)
    text = "run what had no package in the last run, and fail where one is missing"
    parser.addoption("--skipped", action="store_true", help=text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the quick tests, or what the options ask for."""
    slow, skipped = config.getoption("slow"), config.getoption("skipped")
    again = set(config.cache.get(SKIPPED, ())) if skipped and config.cache else set()
    first: dict[str, str] = {}  # of each grid the quick cell

    def is_wanted(item: pytest.Item) -> bool:
        if {item.nodeid, item.nodeid.split("::")[0]} & again:
            return True
        is_slow = item.get_closest_marker("slow") is not None or item.nodeid.startswith("docs/")
        if item.get_closest_marker("sampled") is not None:
            is_slow |= first.setdefault(item.nodeid.partition("[")[0], item.nodeid) != item.nodeid
        return is_slow if slow else not (is_slow or skipped)

    wanted = [is_wanted(item) for item in items]
    config.hook.pytest_deselected(
        items=list(itertools.compress(items, map(operator.not_, wanted)))
    )
    items[:] = itertools.compress(items, wanted)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let a process that has run out of tests take some of another one's."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remember what had no package; with --skipped nothing may be left."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    cache = getattr(session.config, "cache", None)
    if reporter is None or cache is None:  # a worker; -p no:cacheprovider
        return
    reports = reporter.stats.get("skipped", ())
    missing = [report.nodeid for report in reports if "could not import" in str(report.longrepr)]
    if session.config.getoption("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED if missing else session.exitstatus
    elif not session.config.getoption("slow"):
        cache.set(SKIPPED, missing)


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test away from a key or an endpoint that the machine happens to have."""
    for name in [name for name in os.environ if name.startswith("ANTHROPIC_")]:
        monkeypatch.delenv(name)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how examples get the output of today."""
    failed = {report.nodeid for report in terminalreporter.stats.get("failed", ())}
    if any(name.startswith(("README.md", "docs/", "scorekit/")) for name in failed):
        terminalreporter.line("If what examples print now is right: python docs/refresh.py")
