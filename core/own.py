"""Orders, rules and metrics of the user's own: where a module's source is, and what it defines."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from core.errors import InputError


@dataclass(frozen=True)
class Source:
    """Hold the text of a module.

    Parameters
    ----------
    module, text, sha256 : str
        Its dotted name, its source, and the SHA-256 of that in UTF-8.
    """

    module: str
    text: str
    sha256: str


_GIVEN: ContextVar[Mapping[str, str] | None] = ContextVar("sources", default=None)


def find_source(module: str, folder: Path | None = None) -> Source:
    """Return the source of a module: a file in the folder, else one that can be imported.

    Raises
    ------
    InputError
        If there is neither, or it cannot be read.
    """
    beside = None if folder is None else folder / f"{module.replace('.', '/')}.py"
    path = beside if beside is not None and beside.is_file() else _importable(module)
    if path is None:
        raise InputError(f"module {module!r} is neither {beside} nor can it be imported")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"module {module!r}: {path} cannot be read ({error})") from None
    return Source(module, text, hashlib.sha256(text.encode()).hexdigest())


@contextmanager
def sources(given: Mapping[str, str]) -> Iterator[None]:
    """Have `load` take these modules from their texts, whatever could be imported."""
    token = _GIVEN.set(given)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def load(name: str) -> Callable[..., Any]:
    """Return what ``module:name`` means.

    Raises
    ------
    InputError
        If the module cannot be loaded, or has no such thing to call.
    """
    module, _, thing = name.partition(":")
    text = (_GIVEN.get() or {}).get(module)
    try:
        found = importlib.import_module(module) if text is None else _executed(module, text)
    except Exception as error:
        raise InputError(f"{name!r} cannot be loaded ({error!r})") from error
    function: Callable[..., Any] | None = getattr(found, thing, None)
    if not callable(function):
        raise InputError(f"{name!r}: module {module!r} has no function {thing!r}")
    return function


def _executed(module: str, text: str) -> ModuleType:
    made = ModuleType(module)
    exec(compile(text, f"{module}.py", "exec"), made.__dict__)
    return made


def _importable(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.has_location else None
