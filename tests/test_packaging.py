"""What strangers install."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


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
