"""The source files of a kernel: its module and, transitively, the modules that it imports.

A name that a module imports is compiled into its users. The files are read when a kernel is made,
just after its imports. Implementations of generic steps are in modules that the kernel does not
import; they are included if one of its arguments has their type.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


@cache
def digest(file: Path) -> str:
    """Return a digest of a module's source and of all that it imports of its own packages.

    Parameters
    ----------
    file : Path
        The module's file, in the folder of its package.

    Examples
    --------
    >>> from schedfarm.core.engine import clock, jit
    >>> digest(Path(clock.__file__)) == digest(Path(jit.__file__))
    False
    """
    text = hashlib.sha256()
    for source in sorted(closure(file)):
        text.update(f"{source.name}\n".encode())
        text.update(source.read_bytes())
    return text.hexdigest()


def closure(file: Path) -> set[Path]:
    """Return the files of a module and of all that it imports, itself or by others.

    Examples
    --------
    >>> from schedfarm.core.engine import clock
    >>> names = {path.stem for path in closure(Path(clock.__file__))}
    >>> "machine" in names, "planned" in names
    (True, False)
    """
    found, ahead = set[Path](), [file]
    while ahead:
        if (source := ahead.pop()) not in found:
            found.add(source)
            ahead += imports(source)
    return found


@cache
def imports(file: Path) -> tuple[Path, ...]:
    """Return the files of its own top package that a module imports.

    In an installation, the folder around that package contains all other libraries, too: reading
    their imports took 6 to 9 s of CPU in every process.
    """
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    place = file.relative_to(root).parts
    names = _imported(ast.parse(file.read_bytes()), place)
    own = (name for name in names if name[0] == place[0])
    return tuple(path for name in own if (path := _file(root, name)) is not None)


def _imported(tree: ast.Module, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            above = place[: -node.level] if node.level else ()
            package = (*above, *(node.module.split(".") if node.module else ()))
            yield package
            for alias in node.names:
                yield (*package, alias.name)


def _file(root: Path, name: tuple[str, ...]) -> Path | None:
    # The contents of a package's own __init__ count if the import is from the package.
    places = (root.joinpath(*name).with_suffix(".py"), root.joinpath(*name, "__init__.py"))
    return next((place for place in places if place.is_file()), None)


_VARIANTS: dict[type, set[tuple[Path, Path]]] = {}
"""Modules that declare generic steps and those with implementations, by the type they are for."""


def register(kind: type, declared: Path, file: Path) -> None:
    """Register a module that implements, for a type, generic steps of another module."""
    pair = declared, file
    if pair not in _VARIANTS.setdefault(kind, set()):
        _VARIANTS[kind].add(pair)
        digest(file)


def digest_of_variants(source: Path, kinds: Iterable[type]) -> str:
    """Return a digest of the implementations of a kernel's generic steps for some types.

    It is "" without any. Sources were read when the implementations were imported.
    """
    files = closure(source)
    found = {
        f"{kind.__qualname__} {file.name} {digest(file)}"
        for kind in kinds
        for declared, file in _VARIANTS.get(kind, ())
        if declared in files
    }
    return "\n".join(sorted(found))
