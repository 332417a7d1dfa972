"""The notebooks under docs run from the first cell to the last, and show what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("name", "n_pictures", "n_tables"), [("notebook", 4, 8), ("case_study", 1, 7)]
)
@pytest.mark.filterwarnings("default")  # those of Jupyter's own packages
def test_the_notebook_runs(
    name: str, n_pictures: int, n_tables: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every cell ends well; records come out as tables, and figures as pictures."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for variable in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    notebook: Any = nbformat.read(DOCS / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    resources = {"metadata": {"path": str(DOCS)}}
    client = nbclient.NotebookClient(notebook, timeout=600, resources=resources)
    client.execute()
    kinds = [
        kind
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for kind in output.get("data", [])
    ]
    assert kinds.count("image/png") == n_pictures
    assert kinds.count("text/html") == n_tables
