"""The source files of a kernel: its module and, transitively, the modules that it imports.

Code that a kernel's module imports is compiled into the kernel. The files are read when the kernel
is made, just after its imports. Implementations of generic steps are in modules that the kernel
does not import. Such an implementation is included if an argument of the kernel has its type.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\((?:[^)#]|#.*)*\)|.*)|import[ \t]+(.*))$",
    re.MULTILINE,
)
"""Import statement, with groups for its module and names, or for its modules.

Syntax trees took ten times as long, 0.25 s of CPU time in each process.
"""


@cache
def digest(file: Path) -> str:
    """Return a digest of a module's source and of its imports from its own package.

    Parameters
    ----------
    file : Path
        The file of the module, in the folder of its package.

    Examples
    --------
    >>> from schedfarm.core.engine import clock, jit
    >>> digest(Path(clock.__file__)) == digest(Path(jit.__file__))
    False
    """
    text = hashlib.sha256()
    for source in sorted(closure(file)):
        text.update(f"{source.name} {_source(source).digest}\n".encode())
    return text.hexdigest()


def closure(file: Path) -> set[Path]:
    """Return the files of a module and of its direct and indirect imports.

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
            ahead += _source(source).imports
    return found


class _Source(NamedTuple):
    """Hold the digest of a module's file, and the imported files of its own top package."""

    digest: str
    imports: tuple[Path, ...]


@cache
def _source(file: Path) -> _Source:
    """Read a module's file, and follow the imports of its own top package only.

    In an installation, the same folder contains all other libraries; following their imports took 6
    to 9 s of CPU in every process.
    """
    root = file.parent
    while (root / "__init__.py").exists():
        root = root.parent
    place = file.relative_to(root).parts
    contents = file.read_bytes()
    imports = {
        path
        for module, names in _imported(contents.decode(), place)
        if module[0] == place[0]
        for path in _files(root, module, names)
    }
    return _Source(hashlib.sha256(contents).hexdigest(), tuple(imports))


def _imported(text: str, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the modules that a source may import, and the names from each module."""
    for module, names, modules in IMPORT.findall(text):
        if modules:
            yield from ((tuple(name.split(".")), []) for name in _names(modules))
        else:
            dots = len(module) - len(module.lstrip("."))
            package = (*(place[:-dots] if dots else ()), *filter(None, module.split(".")))
            yield package, list(_names(names))


def _names(text: str) -> Iterator[str]:
    """Yield the imported names of an import statement, without their aliases."""
    listed = " ".join(line.partition("#")[0] for line in text.strip("()").splitlines())
    return (words[0] for one in listed.split(",") if (words := one.split()))


def _files(root: Path, module: tuple[str, ...], names: Iterable[str]) -> Iterator[Path]:
    """Yield the files of a module below `root`, and of those of the names that are modules."""
    place = str(root.joinpath(*module))
    if os.path.isfile(single := f"{place}.py"):
        yield Path(single)
        return
    # For an import from a package, the package's __init__ also counts.
    if os.path.isfile(package := f"{place}/__init__.py"):
        yield Path(package)
    for name in names:
        yield from _files(root, (*module, name), ())


_VARIANTS: dict[type, set[tuple[Path, Path]]] = {}
"""Pairs of modules, by type: the declaring module of generic steps, and the implementing module."""


def register(kind: type, declared: Path, file: Path) -> None:
    """Register a module with implementations, for one type, of another module's generic steps."""
    pair = declared, file
    if pair not in _VARIANTS.setdefault(kind, set()):
        _VARIANTS[kind].add(pair)
        digest(file)


def digest_of_variants(source: Path, kinds: Iterable[type]) -> str:
    """Return digests, one per line, of the implementations of a kernel's steps for some types.

    The text is empty without implementations. Sources were read when the implementations were
    imported.
    """
    files = closure(source)
    found = {
        f"{kind.__qualname__} {file.name} {digest(file)}"
        for kind in kinds
        for declared, file in _VARIANTS.get(kind, ())
        if declared in files
    }
    return "\n".join(sorted(found))
