"""The source files of a kernel against Python's own reading of import statements."""

from pathlib import Path

import pytest

from schedfarm.core.engine.sources import closure, digest


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
