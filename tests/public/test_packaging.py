"""What strangers install."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_the_package_alone(tmp_path: Path) -> None:
    """No tests, docs or benchmarks land in site-packages; the type marker does."""
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--wheel-dir",
            str(tmp_path),
            str(ROOT),
        ],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    code = {name for name in names if ".dist-info/" not in name}
    assert code == {
        str(path.relative_to(ROOT))
        for path in (ROOT / "scorekit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "scorekit/py.typed" in code


def test_it_runs_from_a_zip_without_stubs_and_writes_nothing(tmp_path: Path) -> None:
    """Programs are shipped as one file; where no logs are set up, failures are results only."""
    archive = tmp_path / "program.zip"
    with zipfile.ZipFile(archive, "w") as program:
        for path in sorted((ROOT / "scorekit").rglob("*.py")):
            program.write(path, path.relative_to(ROOT))
    code = """
import scorekit

assert ".zip" in scorekit.__file__
names = [getattr(scorekit, name) for name in scorekit.__all__]
cases = [
    scorekit.SqlCase(case_id="a", generated="SELECT (", expected="SELECT 1"),
    scorekit.SqlCase(case_id="b", generated="SELECT x FROM t", expected="SELECT y FROM t"),
]
report = scorekit.score_sql_cases(cases)
assert report.query_correctness.mean == 0.0 and report.n_failed >= 1
"""
    command = [sys.executable, "-c", code]
    run = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(archive)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_the_source_distribution_can_be_tested(tmp_path: Path) -> None:
    """Tests, their data and the docs go along: whoever packages it for others runs them."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"pyproject.toml", "LICENSE", "tests/conftest.py", "docs/tour.py"} <= names
    data = (path for path in (ROOT / "tests" / "data").rglob("*") if path.is_file())
    assert {str(path.relative_to(ROOT)) for path in data} <= names


def test_the_readme_starts_with_exactly_two_commands() -> None:
    """One for the tour, one for the tests."""
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]
    tour, tests = block.strip().splitlines()
    assert tour.endswith("docs/tour.py")
    assert tests.endswith("-m pytest -n auto")
