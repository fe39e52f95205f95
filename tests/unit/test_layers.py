"""The layering of the four packages, read from their imports."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from schedfarm.core.machines.platform import PLATFORMS
from tests.support.paths import ROOT

PROJECT = "schedfarm"

HOUSE = {
    **{name: ROOT / name for name in ("core", "cluster", "farm", "analysis")},
    "offline": ROOT / "src" / PROJECT / "offline",
    "learning": ROOT / "src" / PROJECT / "learning",
}
"""Folder of each package of `schedfarm`: at the top of the tree, or beside the links to those."""

MAY_IMPORT = {
    "core": {"lazy_loader", "llvmlite", "msgspec", "numba", "numpy", "pyarrow"},
    "offline": {"core", "numpy"},
    "learning": {"core", "gymnasium", "numpy", "sklearn", "threadpoolctl", "xarray"},
    "cluster": {"core", "cryptography", "dask", "distributed", "platformdirs"},
    "farm": {
        "core",
        "cluster",
        "click",
        "cmaes",
        "dask",
        "distributed",
        "google_crc32c",
        "msgspec",
        "numcodecs",
        "numpy",
        "obstore",
        "pandas",
        "platformdirs",
        "pooch",
        "pyarrow",
        "scipy",
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
        "vl_convert",
        "xarray",
        "zarr",
    },
}
"""What the modules of each package may import beside the standard library and themselves."""

COMMAND_LINE = ROOT / "farm" / "cli"
"""The one place where campaigns, clusters and analysis meet."""


def modules() -> list[Path]:
    return [path for _, folder in sorted(HOUSE.items()) for path in sorted(folder.rglob("*.py"))]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def nested(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a statement holds but expressions: most of the tree, and never an import."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


@cache
def imported(path: Path) -> set[str]:
    """Names of modules that a file imports, at the top or inside a function."""
    found = set()
    nodes: list[ast.AST] = [parsed(path)]
    for node in nodes:
        nodes += nested(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: import absolutely"
            whole = {f"{PROJECT}.{alias.name}" for alias in node.names}
            found |= whole if node.module == PROJECT else {str(node.module)}
    return found


def package_of(module: str) -> str:
    """Name what a module belongs to: one of the house's packages, or a distribution's."""
    first, _, rest = module.partition(".")
    return rest.partition(".")[0] if first == PROJECT else first


def outsiders(path: Path) -> set[str]:
    """Packages that a module imports although its own may not.

    A package of the house that is imported without the project's name is one.
    """
    package = next(name for name, folder in HOUSE.items() if path.is_relative_to(folder))
    allowed = MAY_IMPORT[package] | {package}
    if path.is_relative_to(COMMAND_LINE):
        allowed |= {"analysis", "offline"}
    inside = {name for name in imported(path) if name.startswith(f"{PROJECT}.")}
    found = {package_of(name) for name in inside} - allowed
    others = {package_of(name) for name in imported(path) - inside}
    return found | (others - (allowed - set(HOUSE)) - set(sys.stdlib_module_names))


def test_modules_import_only_what_their_package_may() -> None:
    """`core` knows no other package, `cluster` and `analysis` know `core` alone."""
    found = {str(path.relative_to(ROOT)): outsiders(path) for path in files().values()}
    assert {path: packages for path, packages in found.items() if packages} == {}


def test_only_the_command_line_uses_clusters() -> None:
    """Campaigns take any Dask client and do not depend on the cluster behind it."""
    users = {
        str(path.relative_to(ROOT))
        for path in files().values()
        if not path.is_relative_to(COMMAND_LINE)
        and not path.is_relative_to(ROOT / "cluster")
        and any(package_of(name) == "cluster" for name in imported(path))
    }
    assert users == set()


FLOORS = {
    "core": (
        ("errors", "arrays", "caches", "names"),
        (
            "addresses",
            "checks",
            "durations",
            "files",
            "folded",
            "format",
            "numerals",
            "own",
            "philox",
        ),
        ("machines.*.windows",),
        ("machines.hosts.members",),
        ("machines.*.platform", "bootstrap"),
        ("machines.platform",),
        ("workload",),
        ("policy", "schedule", "models"),
        ("logs", "labels", "reference"),
        ("engine",),
        ("machines",),
        ("stepping",),
        ("audit.verdict",),
        ("audit.times",),
        ("machines.*.audit",),
        ("metrics", "audit", "placement"),
        ("explanation",),
    ),
    "offline": (
        ("instance", "knapsack"),
        ("plan", "bounds"),
        ("dual", "list_schedules", "draws", "times_file"),
        ("shelves",),
        ("batches",),
        ("algorithms",),
        ("comparison",),
    ),
    "learning": (
        ("samples",),
        ("views",),
        ("batch",),
        ("environment", "vector"),
        ("evaluation",),
    ),
    "cluster": (
        (
            "close_http",
            "errors",
            "ignore_interrupts",
            "settings",
            "walltime",
            "examples",
        ),
        ("certificates", "encryption", "fork_server", "opening", "queues", "scratch"),
        ("launchers",),
        ("spec",),
        ("local", "existing", "jobs", "kubernetes", "gateway", "ssh", "watching"),
        ("coordinator", "connect"),
    ),
    "farm": (
        ("clock", "shipped"),
        ("store",),
        ("export", "logs", "output", "site.dump", "watching"),
        ("campaign",),
        ("site",),
        ("planning",),
        ("execution",),
        ("search.spec",),
        ("search.orders", "search.split", "search.cells", "search.journal", "search.race"),
        ("search.coefficients", "search.growth", "search.regression"),
        ("search.run",),
        ("search",),
        ("verify",),
        ("cli",),
        ("__main__",),
    ),
    "analysis": (
        ("errors", "intervals", "reading"),
        ("place",),
        ("verified", "starts"),
        ("band_rule", "store"),
        ("axes", "bands", "drawing", "logs", "tables", "unfinished"),
        ("figures", "groups", "notes", "plain", "workloads"),
        ("validation",),
        ("compare", "cells"),
        ("comparison_warnings", "verdicts", "comparison_figure", "plots"),
        ("explanation_figure",),
        ("papers", "report.columns", "report.figures"),
        ("report.contents",),
        ("report",),
    ),
}
"""The rooms of each package from the ground up: each imports only from floors below its own.

The package's door stands above them all. Imports inside functions count, those for types alone
do not. A room inside another one has a dotted name, in which a star stands for any part.
"""


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def statements(node: ast.AST, inside_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements that can run, perhaps also those inside functions."""
    for child in nested(node):
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
        package = next(name for name, folder in HOUSE.items() if path.is_relative_to(folder))
        inside = path.relative_to(HOUSE[package]).with_suffix("").parts
        parts = (PROJECT, package, *inside)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def house_imports(name: str, inside_functions: bool) -> set[str]:
    """Modules of the house that a module names in its imports."""
    found = set()
    for node in statements(parsed(files()[name]), inside_functions):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        else:
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in files() else str(node.module) for one in whole}
    return (found & set(files())) - {name}


def executed(name: str) -> set[str]:
    """Modules that an import of a module executes first: those it names, and their packages.

    Not the packages that the module itself is in: these are being executed already.
    """
    named = house_imports(name, False)
    packages = {one[:end] for one in named for end, c in enumerate(one) if c == "."}
    return (
        (named | packages & set(files()))
        - {name}
        - {package for package in files() if f"{name}.".startswith(f"{package}.")}
    )


def test_no_module_imports_itself_in_a_circle() -> None:
    """What runs when a module is imported leads back to no module on the way."""
    try:
        TopologicalSorter({name: executed(name) for name in files()}).prepare()
    except CycleError as error:
        pytest.fail("an import circle: " + " <- ".join(error.args[1]))


@cache
def room_of(name: str) -> tuple[int, str]:
    """Return the floor and the name of the room that a module is in, the innermost one."""
    _, package, *inside = name.split(".")
    if not inside:
        return len(FLOORS[package]), package
    found = [
        (room.count("."), number, room)
        for number, rooms in enumerate(FLOORS[package])
        for room in rooms
        if fnmatch(".".join(inside[: room.count(".") + 1]), room)
    ]
    assert found, f"give {package}.{inside[0]} its floor in FLOORS"
    return max(found)[1:]


def test_rooms_import_only_from_below() -> None:
    """Data flows one way: nothing below knows what is above it, at the top or inside a function."""
    found = {
        (name, other)
        for name in files()
        for other in house_imports(name, True)
        if name.split(".")[:2] == other.split(".")[:2]
        and room_of(name) != room_of(other)
        and room_of(other)[0] >= room_of(name)[0]
    }
    assert found == set(), "these imports run upward"


NAMED = re.compile(r"schedfarm(?:\.[\w{}]+)+")
"""A module, or an attribute of one, in a string."""


def strings(node: ast.AST) -> Iterator[str]:
    """Yield the strings of a module except its docstrings; parts of an f-string one by one."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            if not isinstance(node, ast.Expr):
                yield child.value
        else:
            yield from strings(child)


def named_in_strings(name: str) -> set[str]:
    """Modules of the house that a module's strings name, for every kind of platform."""
    found = set()
    for text in strings(parsed(files()[name])):
        for named in NAMED.findall(text):
            for kind in PLATFORMS:
                parts = named.replace("{platform}", kind).rstrip(".").split(".")
                prefixes = (".".join(parts[:end]) for end in range(len(parts), 2, -1))
                found |= {next((one for one in prefixes if one in files()), "")}
    return found - {"", name}


UPWARD_STRINGS = {
    "schedfarm.cluster.launchers": {"existing", "gateway", "jobs", "kubernetes", "local", "ssh"},
    "schedfarm.core.policy.orders": {"engine"},
    "schedfarm.core.policy.predictions": {"engine"},
    "schedfarm.core.policy.rules": {"audit", "engine", "machines", "reference"},
}
"""Rooms above a module that its rows name in strings, so that reading a row imports none of them.
Their tests load every reference of every row."""


def test_strings_name_only_declared_rooms_above() -> None:
    """A string that names a module is a dependency: none runs upward but those of rows."""
    found: dict[str, set[str]] = {}
    for name in files():
        for other in named_in_strings(name):
            same = name.split(".")[:2] == other.split(".")[:2]
            if not same or room_of(other)[0] > room_of(name)[0]:
                found.setdefault(name, set()).add(room_of(other)[1])
    assert found == UPWARD_STRINGS
