"""The source files of a kernel against Python's own reading of import statements."""

import ast
from pathlib import Path

import pytest

import schedfarm.core.engine
import schedfarm.core.machines
from schedfarm.core.engine.sources import closure, digest

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import top.one", {"one"}),
        ("import numpy, top.one as o, top.two  # top.three", {"one", "two"}),
        ("from top import one, two as t", {"one", "two"}),
        ("from top import (\n    one,  # not (three)\n    two as three,\n)", {"one", "two"}),
        ("from top.one import two", {"one"}),
        ("from . import one\nfrom .two import f", {"one", "two"}),
        ("def f():\n    from top.one import g\n    return g", {"one"}),
        ('"""Words.\n\n>>> from top import one\n"""\nx = "import top.two"', set()),
        ("from other import one", set()),
    ],
)
def test_imports(tmp_path: Path, text: str, expected: set[str]) -> None:
    package = tmp_path / "top"
    package.mkdir()
    for name in ("__init__", "one", "two", "three"):
        (package / f"{name}.py").write_text("")
    module = package / "module.py"
    module.write_text(text)
    assert {path.stem for path in closure(module)} - {"__init__"} == expected | {"module"}


def test_a_digest_depends_on_all_sources(tmp_path: Path) -> None:
    digests = set()
    for number, contents in enumerate(("x = 1", "x = 2")):
        package = tmp_path / str(number) / "top"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "one.py").write_text(contents)
        (package / "module.py").write_text("from top.one import x")
        digests.add(digest(package / "module.py"))
    assert len(digests) == 2
