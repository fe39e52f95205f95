"""The layering of the four packages, read from their imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

HOUSE = {"core", "cluster", "farm", "analysis"}

MAY_IMPORT = {
    "core": {"numpy", "numba"},
    "cluster": {"dask", "distributed"},
    "farm": {
        "core",
        "cluster",
        "click",
        "dask",
        "distributed",
        "msgspec",
        "numpy",
        "pandas",
        "platformdirs",
        "pooch",
        "tomli_w",
        "tqdm",
        "xarray",
        "zarr",
    },
    "analysis": {"core", "matplotlib", "numpy", "pandas", "scipy", "xarray"},
}
"""What the modules of each package may import beside the standard library and themselves."""

COMMAND_LINE = ROOT / "farm" / "cli"
"""The one place where campaigns, clusters and analysis meet."""


def modules() -> list[Path]:
    return [path for package in sorted(HOUSE) for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Names of modules that a file imports, at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import absolutely"
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_module_imports_only_what_its_package_may(path: Path) -> None:
    """`core` and `cluster` know no other package, `analysis` knows `core` alone."""
    package = path.relative_to(ROOT).parts[0]
    allowed = MAY_IMPORT[package] | {package} | set(sys.stdlib_module_names)
    if path.is_relative_to(COMMAND_LINE):
        allowed |= {"analysis"}
    roots = {name.partition(".")[0] for name in imported(path)}
    assert roots <= allowed


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_command_line_uses_clusters(path: Path) -> None:
    """Campaigns take any Dask client; which cluster it is of is not their business."""
    inside = path.is_relative_to(COMMAND_LINE) or path.is_relative_to(ROOT / "cluster")
    roots = {name.partition(".")[0] for name in imported(path)}
    assert inside or "cluster" not in roots


HEAVY = {"dask", "distributed", "matplotlib", "numba", "numpy", "pandas", "scipy", "xarray", "zarr"}


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("farm.cli", HEAVY | {"msgspec"}),
        ("farm", HEAVY | {"msgspec"}),
        ("core", HEAVY - {"numpy"}),
        ("cluster", HEAVY),
        ("analysis", {"matplotlib", "scipy", "numba", "distributed"}),
    ],
)
def test_import_is_light(module: str, heavy: set[str]) -> None:
    """Heavy packages are imported where they are used, so that `farm --help` is instant."""
    code = f"import sys, {module}; print(*(m for m in sys.modules if '.' not in m))"
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert not heavy & set(out.stdout.split())
