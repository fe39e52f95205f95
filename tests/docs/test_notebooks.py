"""The notebooks run as they are, and are kept without outputs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.paths import DOCS, IMPORTED

FOLDER = DOCS / "notebooks"

ANSWERS = {
    "cluster-dump": "min longer",
    "own-policy": "True every one of the 1500 jobs keeps",
    "paper-figure": "spf+easy",
}
"""Part of the text that each notebook prints."""


def printed(cell: Any) -> str:
    """Return the text of a cell's outputs."""
    texts = (out.get("text") or out.get("data", {}).get("text/plain", "") for out in cell.outputs)
    return "".join(texts)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell runs without an error or a warning, in a copy of the notebooks' folder."""
    folder = shutil.copytree(FOLDER, tmp_path / "notebooks")
    monkeypatch.setenv("PYTHONPATH", IMPORTED)
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    book = nbformat.read(folder / f"{name}.ipynb", as_version=4)
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert ANSWERS[name] in "".join(map(printed, cells))
    streams = {out.get("name") for cell in cells for out in cell.outputs}
    assert "stderr" not in streams


def test_notebooks_are_kept_without_outputs_and_shown() -> None:
    """A page lists each of them."""
    files = sorted(FOLDER.glob("*.ipynb"))
    assert [file.stem for file in files] == sorted(ANSWERS)
    page = (DOCS / "notebooks.md").read_text(encoding="utf-8")
    for file in files:
        book = nbformat.read(file, as_version=4)
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in book.cells)
        assert f"](notebooks/{file.name})" in page
