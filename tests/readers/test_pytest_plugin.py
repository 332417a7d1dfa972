"""The pytest plugin, in sessions of its own: what fails them, what is shown and what is kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import scorekit
from scorekit._readers import pytest_plugin

ROOT = Path(__file__).parents[2]
PLUGIN = "scorekit._readers.pytest_plugin"

SUITE = """
import os, pytest

PASSED = int(os.environ.get("PASSED", "3"))
EXTRA = os.environ.get("EXTRA", "")

@pytest.mark.parametrize("attempt", range(4))
@pytest.mark.parametrize("case", "abcdefgh")
def test_case(case, attempt, scorekit_case):
    scorekit_case(case)
    assert attempt < PASSED

@pytest.fixture
def docker():
    raise RuntimeError("no docker")

@pytest.fixture
def closing():
    yield
    raise RuntimeError("not closed")

if EXTRA == "plain":
    def test_plain():
        assert False
if EXTRA == "free crash":
    def test_free(docker):
        pass
if EXTRA == "teardown":
    @pytest.mark.scorekit_case("a")
    def test_closing(closing):
        pass
if EXTRA == "ends":
    @pytest.mark.skip(reason="no key")
    @pytest.mark.scorekit_case("ends", model="m")
    def test_skipped():
        pass

    @pytest.mark.scorekit_case("ends", model="m")
    def test_crash(docker):
        pass

    @pytest.mark.scorekit_case("ends", model="m")
    def test_passed():
        pass

    @pytest.mark.xfail(reason="known")
    @pytest.mark.scorekit_case("ends", model="m")
    def test_expected():
        assert False

    @pytest.mark.xfail(reason="known")
    @pytest.mark.scorekit_case("ends", model="m")
    def test_unexpected():
        pass

    @pytest.mark.xfail(reason="known", strict=True)
    @pytest.mark.scorekit_case("ends", model="m")
    def test_strict():
        pass

    @pytest.mark.xfail(run=False)
    @pytest.mark.scorekit_case("ends", model="m")
    def test_not_run():
        pass

    def test_unnamed(scorekit_case):
        pytest.skip("before it is named")
if EXTRA == "wrong":
    @pytest.mark.scorekit_case("")
    def test_empty():
        pass

    @pytest.mark.scorekit_case
    def test_nothing():
        pass

    def test_twice(scorekit_case):
        scorekit_case("a", model="m")
        scorekit_case("a", model="m")
        scorekit_case(7)
"""


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the suite above with the recipe of the docs as its ``conftest.py``."""
    recipe = (ROOT / "docs" / "recipes" / "pytest_suite.py").read_text("utf-8")
    (tmp_path / "conftest.py").write_text(recipe, encoding="utf-8")
    (tmp_path / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def run(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        # loaded by name, so that the entry point of an older installation does not matter
        own = ("-p", "no:scorekit", "-p", PLUGIN, "-p", "no:cacheprovider", "-q", "--tb=line")
        command = [sys.executable, "-m", "pytest", *own, *options]
        env = {**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(
            command, cwd=tmp_path, env={**env, **variables}, check=False, capture_output=True,
            text=True,
        )  # fmt: skip

    return run


def _baseline(folder: Path, passed: int = 3) -> None:
    outcomes = {case: [attempt < passed for attempt in range(4)] for case in "abcdefgh"}
    report = scorekit.code_report_from_columns(model="pytest", passed=outcomes)
    (folder / "baseline.json").write_text(report.to_json(), encoding="utf-8")


def _summary(run: subprocess.CompletedProcess[str]) -> str:
    return run.stdout.partition("= scorekit =")[2]


def test_nothing_is_forgiven_without_a_baseline(session: Any, tmp_path: Path) -> None:
    """But the report is handed over, and stored as it is it makes an equal session pass."""
    run = session()
    assert run.returncode == 1, run.stdout + run.stderr
    assert "8 cases, 32 attempts: 24 passed, 8 failed." in _summary(run)
    assert "No baseline, so every failure counts. To store this run" in _summary(run)
    current = tmp_path / "current.json"
    passed = [case.n_correct for case in scorekit.CodeReport.from_json(current.read_text()).cases]
    assert passed == [3] * 8
    current.rename(tmp_path / "baseline.json")
    run = session()
    assert run.returncode == 0, run.stdout + run.stderr
    assert "the gate passes" in _summary(run)
    assert "8 failed, 24 passed" in run.stdout


@pytest.mark.parametrize(
    ("extra", "passed", "expected"),
    [
        ("", "1", (1, "Failed: regressed")),
        ("", "4", (0, "the gate passes")),
        ("plain", "3", (1, "Failed: 1 failure outside the attempts at cases.")),
        ("free crash", "3", (1, "Failed: 1 failure outside the attempts at cases.")),
        ("teardown", "3", (1, "8 cases, 33 attempts: 25 passed, 8 failed.\nFailed: 1 failure")),
    ],
)
def test_the_session_fails_where_the_gate_does(
    extra: str, passed: str, expected: tuple[int, str], session: Any, tmp_path: Path
) -> None:
    """And where a test that carries no case fails; a crash in a tear-down is no outcome."""
    code, text = expected
    _baseline(tmp_path)
    run = session(EXTRA=extra, PASSED=passed)
    assert (run.returncode, text in _summary(run)) == (code, True), run.stdout
    report = scorekit.CodeReport.from_json((tmp_path / "current.json").read_text())
    before = scorekit.CodeReport.from_json((tmp_path / "baseline.json").read_text())
    comparison = scorekit.compare_reports(before, report)
    assert str(comparison).splitlines()[0] in _summary(run)
    if not extra:
        try:
            comparison.raise_for_regressions()
        except scorekit.RegressionError:
            assert code == 1
        else:
            assert code == 0


@pytest.mark.parametrize("options", [(), ("-p", "xdist", "-n", "2")], ids=["one", "workers"])
def test_every_end_of_a_test_is_an_outcome(
    options: tuple[str, ...], session: Any, tmp_path: Path
) -> None:
    """The same over several processes, and the same as the XML says of the same session."""
    if options:
        pytest.importorskip("xdist")
    run = session(*options, "--junitxml=out.xml", EXTRA="ends")
    assert "9 cases, 39 attempts: 27 passed, 9 failed, 3 unknown" in _summary(run), run.stdout
    assert sorted(re.findall(r"(skipped|error) (\d)", _summary(run))) == [
        ("error", "1"), ("skipped", "2"),
    ]  # fmt: skip
    assert "1 test with scorekit_case named no case." in _summary(run)
    report = scorekit.CodeReport.from_json((tmp_path / "current.json").read_text())
    (case,) = (one for one in report.cases if one.case_id == "ends")
    assert (case.model, case.n_correct, case.n_samples) == ("m", 3, 4)
    # the unnamed test has no property, and no model, so that it is taken out
    xml = re.sub(
        r'<testcase [^>]*name="test_unnamed".*?</testcase>', "", (tmp_path / "out.xml").read_text()
    )
    xml = xml.replace('<property name="scorekit_model" value="m" />', "")
    read = scorekit.readers.junit(xml, check=False)
    assert {name: sorted(map(str, own)) for name, own in read.scores().items()} == {
        **{case: ["0.0", "1.0", "1.0", "1.0"] for case in "abcdefgh"},
        "ends": ["0.0", "1.0", "1.0", "1.0", "None", "None", "None"],
    }


def test_a_wrong_name_fails_its_test_alone(session: Any) -> None:
    """By its parameter, its domain and its value."""
    run = session(EXTRA="wrong")
    assert "case_id must be a non-empty string or an integer, got ''" in run.stdout
    assert "scorekit_case() missing 1 required positional argument: 'case_id'" in run.stdout
    assert "case_id must be named once in a test, got 'a', 'm' and '7'" in run.stdout
    assert "Failed: 2 failures outside" in _summary(run)


@pytest.mark.parametrize(
    ("hook", "code", "text"),
    [
        ("return {'sort': [True]}", 1, "Failed: the runs cannot be compared: current must be"),
        ("return json.loads('{')", 3, "Nothing is compared: Expecting property name"),
    ],
)
def test_a_baseline_that_cannot_be_compared_fails_the_session(
    hook: str, code: int, text: str, session: Any, tmp_path: Path
) -> None:
    """And what went wrong stands in the summary."""
    program = f"import json\ndef pytest_scorekit_baseline(config):\n    {hook}\n"
    (tmp_path / "conftest.py").write_text(program, encoding="utf-8")
    run = session()
    assert (run.returncode, text in _summary(run)) == (code, True), run.stdout + run.stderr


def test_a_session_that_was_cut_is_not_compared(session: Any, tmp_path: Path) -> None:
    """It would lack cases; the report is not handed over either."""
    _baseline(tmp_path)
    run = session("-x")
    assert run.returncode == 1
    assert "The session did not come to its end, so nothing is compared." in _summary(run)
    assert not (tmp_path / "current.json").exists()


PROBE = """
import json, sys

def pytest_sessionfinish():
    names = [n for n in sys.modules if n.partition(".")[0] in ("scorekit", "numpy", "attrs")]
    with open("loaded.json", "w") as file:
        json.dump(sorted(names), file)
"""


def test_a_session_without_cases_loads_nothing(session: Any, tmp_path: Path) -> None:
    """No more than the plugin itself, and there is nothing in the summary."""
    (tmp_path / "conftest.py").write_text(PROBE, encoding="utf-8")
    (tmp_path / "test_suite.py").write_text("def test_one(): assert False", encoding="utf-8")
    run = session()
    assert (run.returncode, _summary(run)) == (1, "")
    loaded = json.loads((tmp_path / "loaded.json").read_text())
    assert loaded == ["scorekit", "scorekit._readers", PLUGIN]


def test_pytest_finds_the_plugin_by_its_name() -> None:
    """The entry point names the module, so that ``-p no:scorekit`` leaves it out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"scorekit": PLUGIN}
    assert import_module(PLUGIN) is pytest_plugin


def _report(when: str, outcome: str, **more: Any) -> Any:
    """Return a report as pytest makes it, with what the plugin reads."""
    named = [("scorekit_case", more.pop("case", "sort"))]
    return SimpleNamespace(
        nodeid=more.pop("nodeid", "t"), when=when, outcome=outcome, user_properties=named,
        longrepr=more.pop("longrepr", None), passed=outcome == "passed",
        failed=outcome == "failed", skipped=outcome == "skipped", **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("reports", "passed", "cause", "n_failed"),
    [
        ([("setup", "passed", {})], None, "not run", 0),
        ([("setup", "passed", {}), ("call", "passed", {}), ("teardown", "passed", {})], True, "",
         0),
        ([("setup", "passed", {}), ("call", "failed", {})], False, "", 1),
        ([("setup", "failed", {})], None, "error", 1),
        ([("setup", "skipped", {})], None, "skipped", 0),
        ([("call", "skipped", {"wasxfail": "reason: known"})], False, "", 0),
        ([("call", "passed", {"wasxfail": "known"})], True, "", 0),
        ([("call", "failed", {"longrepr": "[XPASS(strict)] known"})], True, "", 1),
        ([("setup", "skipped", {"wasxfail": "[NOTRUN] known"})], None, "skipped", 0),
        ([("call", "passed", {}), ("teardown", "failed", {})], True, "", 0),
        # a rerun: the last one counts
        ([("call", "rerun", {}), ("call", "passed", {})], True, "", 0),
        # a subtest that failed fails its test, which pytest counts twice
        ([("call", "failed", {}), ("call", "failed", {})], False, "", 2),
    ],
)  # fmt: skip
def test_what_a_test_came_to(
    reports: list[tuple[str, str, dict[str, Any]]], passed: object, cause: str, n_failed: int
) -> None:
    """Phase by phase, as pytest reports it."""
    gathered = pytest_plugin._Session(SimpleNamespace())  # type: ignore[arg-type]
    for when, outcome, more in reports:
        gathered.pytest_runtest_logreport(_report(when, outcome, **more))
    (found,) = gathered.outcomes.values()
    assert (found.passed, found.cause if passed is None else "", gathered.n_failed) == (
        passed, cause, n_failed,
    )  # fmt: skip
