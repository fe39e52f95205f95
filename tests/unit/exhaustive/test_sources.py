"""The source files of every kernel against the syntax trees of its imports."""

from __future__ import annotations

import ast
from pathlib import Path

import schedfarm.core.engine
import schedfarm.core.machines
from schedfarm.core.engine.sources import closure

FOLDERS = [
    Path(package.__file__).parent for package in (schedfarm.core.engine, schedfarm.core.machines)
]
MODULES = sorted(path for folder in FOLDERS for path in folder.rglob("*.py"))


def imported(file: Path) -> set[Path]:
    """Return the files of schedfarm that a module imports, by its syntax tree."""
    root = FOLDERS[0].parents[2]
    names = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    places = [root.joinpath(*name.split(".")) for name in names if name.startswith("schedfarm.")]
    both = [path for place in places for path in (place.with_suffix(".py"), place / "__init__.py")]
    return {path for path in both if path.is_file()}


def test_a_kernels_sources_are_all_that_python_imports() -> None:
    assert len(MODULES) > 80
    trees = {path: imported(path) for path in MODULES}
    for path in MODULES:
        found, ahead = set(), {path}
        while ahead:
            found |= ahead
            known = (trees.get(each) or imported(each) for each in ahead)
            ahead = set().union(*known) - found
        assert closure(path) == found, path
