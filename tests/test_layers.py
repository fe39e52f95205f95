"""The layering of the four packages, read from their imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

HOUSE = {"core", "cluster", "farm", "analysis"}

MAY_IMPORT = {
    "core": {"llvmlite", "numba", "numpy"},
    "cluster": {"core", "cryptography", "dask", "distributed", "platformdirs"},
    "farm": {
        "core",
        "cluster",
        "click",
        "dask",
        "distributed",
        "msgspec",
        "numpy",
        "obstore",
        "pandas",
        "platformdirs",
        "pooch",
        "tomli_w",
        "tqdm",
        "xarray",
        "zarr",
    },
    "analysis": {
        "core",
        "matplotlib",
        "numpy",
        "obstore",
        "pandas",
        "scipy",
        "xarray",
        "zarr",
    },
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
    """`core` knows no other package, `cluster` and `analysis` know `core` alone."""
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


FLOORS = {
    "core": (
        ("errors", "arrays"),
        ("addresses", "checks", "durations", "names", "numerals", "philox", "files", "own"),
        ("platform",),
        ("workload",),
        ("policy", "schedule", "models"),
        ("logs", "kernels", "labels"),
        ("reference",),
        ("simulation", "offline"),
        ("metrics", "audit"),
    ),
    "cluster": (
        ("errors", "open_files", "settings", "walltime", "opening", "quiet", "examples"),
        ("certificates", "encryption", "queues"),
        ("launchers",),
        ("spec",),
        ("local", "existing", "jobs", "kubernetes", "gateway", "ssh", "watching"),
        ("coordinator", "connect"),
    ),
    "farm": (
        ("store",),
        ("logs", "output", "watching"),
        ("campaign",),
        ("planning",),
        ("execution",),
        ("verify",),
        ("cli",),
        ("__main__",),
    ),
    "analysis": (
        ("errors",),
        ("place",),
        ("vouched", "starts"),
        ("band_rule", "store"),
        ("bands", "drawing", "logs", "tables"),
        ("figures", "compare", "explain", "groups", "notes", "plain"),
        ("papers", "report"),
    ),
}
"""The rooms of each package from the ground up: each imports only from floors below its own.

The package's door stands above them all. Imports inside functions count, those for types alone
do not.
"""


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def statements(node: ast.AST, inside_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements that can run, perhaps also those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif is_for_types(child):
            assert isinstance(child, ast.If)
            for other in child.orelse:
                yield from statements(ast.Module([other], []), inside_functions)
        elif inside_functions or not isinstance(
            child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        ):
            yield from statements(child, inside_functions)


@cache
def files() -> dict[str, Path]:
    """Every module of the house by its dotted name; a package is its ``__init__``."""
    found = {}
    for path in modules():
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def house_imports(name: str, inside_functions: bool) -> set[str]:
    """Modules of the house that a module names in its imports."""
    found = set()
    tree = ast.parse(files()[name].read_text(encoding="utf-8"))
    for node in statements(tree, inside_functions):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in files() else str(node.module) for one in whole}
    return (found & set(files())) - {name}


def test_no_module_imports_itself_in_a_circle() -> None:
    """What runs when a module is imported leads back to no module on the way."""
    try:
        TopologicalSorter({name: house_imports(name, False) for name in files()}).prepare()
    except CycleError as error:
        pytest.fail("an import circle: " + " <- ".join(error.args[1]))


def floor_of(name: str) -> int:
    """How high the room of a module lies in its package."""
    package, *inside = name.split(".")
    if not inside:
        return len(FLOORS[package])
    floors = [number for number, rooms in enumerate(FLOORS[package]) if inside[0] in rooms]
    assert len(floors) == 1, f"give {package}.{inside[0]} its floor in FLOORS"
    return floors[0]


def test_rooms_import_only_from_below() -> None:
    """Data flows one way: nothing below knows what is above it, at the top or inside a function."""
    found = {
        (name, other)
        for name in files()
        for other in house_imports(name, True)
        if name.split(".")[0] == other.split(".")[0]
        and name.split(".")[:2] != other.split(".")[:2]
        and floor_of(other) >= floor_of(name)
    }
    assert found == set(), "these imports run upward"


HEAVY = {
    "dask", "distributed", "matplotlib", "numba", "numpy", "obstore", "pandas", "scipy", "xarray",
    "zarr",
}  # fmt: skip


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
