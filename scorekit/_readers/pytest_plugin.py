"""
A pytest plugin: tests are attempts at cases, and the session fails where the suite got worse.

pytest loads this module at its start, so it loads nothing but the front page of the package; what
compares is loaded at the end of a session in which a test named a case.  Two hooks of the user's
``conftest.py`` read and write: no file is opened here.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from scorekit.comparison import Comparison
    from scorekit.reports import CodeReport

CASE, MODEL = "scorekit_case", "scorekit_model"
"""Properties of a test that name its case and its model, also in the XML of a run."""

UNNAMED = "scorekit_unnamed"
"""The attribute of a report whose test asked for the fixture and named no case."""

NO_MODEL = "pytest"
"""What the model is called where no test names one, as by `scorekit.readers.junit`."""

STORE = """No baseline, so every failure counts. To store this run as the baseline, write
report.to_json() to a file in the hook pytest_scorekit_finished(config, report, comparison) of
conftest.py, and return scorekit.CodeReport.from_json(text) of that file from the hook
pytest_scorekit_baseline(config)."""


class Hooks:
    """What a ``conftest.py`` may do with the report of a session."""

    @staticmethod
    @pytest.hookspec(firstresult=True)
    def pytest_scorekit_baseline(config: pytest.Config) -> CodeReport | None:
        """Return the report to compare with, or None if there is none yet."""

    @staticmethod
    @pytest.hookspec
    def pytest_scorekit_finished(
        config: pytest.Config, report: CodeReport, comparison: Comparison | None
    ) -> None:
        """Take the report of this session, and its comparison with the baseline, if any."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let pytest know the two hooks."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker, and gather outcomes, but for processes that only run tests."""
    config.addinivalue_line(
        "markers",
        "scorekit_case(case_id, model=None): the test is one attempt at this case; tests of a "
        "case are attempts at it",
    )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Session(config), "scorekit_session")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name the case of a test that is marked, before it can be skipped or a fixture crashes."""
    marker = item.get_closest_marker(CASE)
    if marker is not None:
        _namer(item)(*marker.args, **marker.kwargs)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell a test that asks for the fixture and names no case, which only its process can see."""
    report = yield
    names = [name for name, _ in item.user_properties]
    if call.when == "teardown" and CASE in getattr(item, "fixturenames", ()) and CASE not in names:
        vars(report)[UNNAMED] = True
    return report


@pytest.fixture
def scorekit_case(request: pytest.FixtureRequest) -> Callable[..., None]:
    """
    Name the case that this test is one attempt at: ``scorekit_case(case_id, model=None)``.

    Call it first: a test that is skipped, or fails, before it names a case has none.
    """
    return _namer(request.node)


def _namer(item: pytest.Item) -> Callable[..., None]:
    """Return what adds a case to the properties of a test, with which its outcome travels."""

    def scorekit_case(case_id: str | int, *, model: str | int | None = None) -> None:
        from scorekit._core.columns import check_id
        from scorekit.errors import InputError

        __tracebackhide__ = True
        named = [(CASE, check_id("case_id", case_id))]
        if model is not None:
            named.append((MODEL, check_id("model", model)))
        known = [(name, value) for name, value in item.user_properties if name in (CASE, MODEL)]
        if known and known != named:
            before = ", ".join(map(repr, dict(known).values()))
            message = f"case_id must be named once in a test, got {before} and {named[0][1]!r}"
            raise InputError(message)
        if not known:
            item.user_properties += named

    scorekit_case.__qualname__ = CASE  # which stands in the message of a wrong call
    return scorekit_case


class _CaseOutcome:
    """A test that carries a case: what is known of it so far."""

    def __init__(self, case_id: str, model: str) -> None:
        self.case_id, self.model = case_id, model
        self.passed: bool | None = None
        self.cause = "not run"


class _Session:
    """The outcomes of a session, which also come from other processes."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.outcomes: dict[tuple[str, str], _CaseOutcome] = {}
        self.n_failed = 0
        """Failures and crashes of set-ups of tests that carry a case."""
        self.n_without = 0
        """Tests that ask for the fixture and named no case."""
        self.lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a part of a test came to."""
        properties: dict[str, Any] = dict(report.user_properties)
        if CASE not in properties:
            self.n_without += hasattr(report, UNNAMED)
            return
        # with --dist each every process runs every test, which is an attempt of its own
        key = str(getattr(report, "worker_id", "")), report.nodeid
        if key not in self.outcomes:
            self.outcomes[key] = _CaseOutcome(properties[CASE], properties.get(MODEL, NO_MODEL))
        outcome, is_expected = self.outcomes[key], hasattr(report, "wasxfail")
        if report.when == "teardown":  # leaves the outcome, and the exit status
            return
        self.n_failed += report.failed and not is_expected
        if report.when == "setup" and report.passed:
            return
        outcome.passed, outcome.cause = _outcome(report, is_expected=is_expected)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Compare the outcomes with the baseline, and set the exit status by that."""
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        if not self.outcomes:
            return
        if not ended or session.shouldfail or session.shouldstop:
            self.lines = ["The session did not come to its end, so nothing is compared."]
            return
        try:
            self._finish(session, exitstatus)
        except Exception as error:  # noqa: BLE001 - of a hook of the user's
            self.lines += [*traceback.format_exc().splitlines(), f"Nothing is compared: {error}"]
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def _finish(self, session: pytest.Session, exitstatus: int) -> None:
        report = self._report()
        hooks: Any = self.config.hook
        baseline = hooks.pytest_scorekit_baseline(config=self.config)
        comparison, reason = None, ""
        if baseline is not None:
            comparison, reason = _compared(baseline, report)
            n_others = session.testsfailed - self.n_failed
            if reason or n_others:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            elif session.exitstatus == exitstatus:  # else somebody else failed it
                session.exitstatus = pytest.ExitCode.OK
        self.lines += self._counts(session)
        self.lines += STORE.splitlines() if baseline is None else []
        self.lines += str(comparison).splitlines() if comparison is not None else []
        self.lines += [f"Failed: {reason}"] if reason else []
        hooks.pytest_scorekit_finished(config=self.config, report=report, comparison=comparison)

    def _report(self) -> CodeReport:
        from scorekit.reports import code_report_from_columns

        every = [one for _, one in sorted(self.outcomes.items(), key=lambda item: item[0][::-1])]
        return code_report_from_columns(
            case_id=[one.case_id for one in every],
            model=[one.model for one in every],
            passed=[one.passed for one in every],
        )

    def _counts(self, session: pytest.Session) -> list[str]:
        """Say what the outcomes are, and which failures are none of them."""
        from scorekit._sheet.values import counted

        every = self.outcomes.values()
        n_passed = sum(one.passed is True for one in every)
        n_unknown = sum(one.passed is None for one in every)
        causes = Counter(one.cause for one in every if one.passed is None)
        said = ", ".join(f"{cause} {n}" for cause, n in causes.items())
        unknown = f", {n_unknown} unknown ({said})" if n_unknown else ""
        cases = counted(len({(one.model, one.case_id) for one in every}), "case")
        failed = f"{len(every) - n_passed - n_unknown} failed"
        attempts = counted(len(every), "attempt")
        lines = [f"{cases}, {attempts}: {n_passed} passed, {failed}{unknown}."]
        n_others = session.testsfailed - self.n_failed
        if n_others:
            lines.append(f"Failed: {counted(n_others, 'failure')} outside the attempts at cases.")
        if self.n_without:
            lines.append(f"{counted(self.n_without, 'test')} with scorekit_case named no case.")
        return lines

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show the comparison, or how to get one."""
        if self.lines:
            terminalreporter.section("scorekit")
            for line in self.lines:
                terminalreporter.write_line(line)


def _outcome(report: pytest.TestReport, *, is_expected: bool) -> tuple[bool | None, str]:
    """Return whether an attempt passed, and why that is unknown."""
    if is_expected:  # an expected failure failed, and one that passed passed
        return (None, "skipped") if _is_not_run(report) else (report.passed, "")
    if report.skipped:
        return None, "skipped"
    if report.when == "setup":
        return None, "error"
    if report.failed:
        return str(report.longrepr).startswith("[XPASS(strict)]"), ""
    return True, ""


def _is_not_run(report: pytest.TestReport) -> bool:
    return str(getattr(report, "wasxfail", "")).startswith("[NOTRUN]")


def _compared(baseline: Any, report: CodeReport) -> tuple[Comparison | None, str]:
    """Return the comparison, and what fails the session: what the gate raises for."""
    from scorekit.comparison import compare_reports
    from scorekit.errors import CannotSeeError, InputError, RegressionError

    try:
        comparison = compare_reports(baseline, report)
    except (InputError, TypeError) as error:
        return None, f"the runs cannot be compared: {error}"
    try:
        comparison.raise_for_regressions()
    except (CannotSeeError, RegressionError) as error:
        return comparison, str(error).splitlines()[0]
    return comparison, ""
