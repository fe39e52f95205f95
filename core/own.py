"""Plug-ins: orders, rules and metrics of users, named ``module:name``.

A campaign contains the text of the modules that it names. So every worker runs the planned code,
independently of files on its host, and a changed file changes the campaign.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
import sysconfig
import threading
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, reduce
from importlib.abc import SourceLoader
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_loader
from itertools import accumulate
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from schedfarm.core.caches import exposed, remedy
from schedfarm.core.errors import InputError
from schedfarm.core.names import split_outside

T = TypeVar("T")

ORDERS, RULES, METRICS = "schedfarm.orders", "schedfarm.rules", "schedfarm.metrics"
"""Groups of entry points for plug-ins in installed packages."""

_REFERENCE = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Source:
    """Hold the text of a user's module.

    Parameters
    ----------
    module : str
        Name of the module, with dots for folders.
    text : str
        Source code of the module.

    Examples
    --------
    >>> Source("mine", "limit = 3").sha256[:12]
    '3364face7e08'
    """

    module: str
    text: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the text in UTF-8, as 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class RaisedError(InputError):
    """Report an error that a plug-in raised.

    Parameters
    ----------
    what : str
        Kind and name, such as ``order 'mine:widest'``.
    said : str
        The error, and the call if it is known, on one line.

    Examples
    --------
    >>> str(RaisedError.of("rule 'mine:late'", KeyError("queue")))
    "rule 'mine:late' raised KeyError: 'queue'"
    """

    def __init__(self, what: str, said: str) -> None:
        # Workers send the error by `args`, which therefore has both values.
        super().__init__(what, said)
        self.said = said

    @classmethod
    def of(cls, what: str, error: BaseException, call: str = "") -> RaisedError:
        """Describe an error on one line, with the instant and the jobs of the call."""
        why = " ".join(str(error).split()) or "without a message"
        return cls(what, f"raised {type(error).__name__}: {why}" + f" ({call})" * bool(call))

    def __str__(self) -> str:
        return " ".join(self.args)


class NotLoaded(InputError):
    """Report a module or name that cannot be loaded; the module's own error is the cause."""


_given: ContextVar[Mapping[str, Source] | None] = ContextVar("given", default=None)
_distrusting: ContextVar[str] = ContextVar("distrusting", default="")
_compiled: dict[Source, ModuleType] = {}
_compiling = threading.RLock()


def find_source(module: str, folder: Path | None = None) -> Source:
    """Find the text of a module without importing it; a file in `folder` has precedence.

    A missing module, or a file that other users could have written, is refused.

    Examples
    --------
    >>> find_source("schedfarm.core.errors").text.startswith('\"\"\"Exceptions')
    True
    """
    beside = None if folder is None else folder.joinpath(*module.split(".")).with_suffix(".py")
    path = beside if beside and beside.is_file() else _installed(module)
    if path is None:
        where = "" if beside is None else f" at {beside}, nor"
        raise InputError(
            f"there is no module {module!r}{where} among those that can be imported; "
            "name a Python file next to the campaign or an installed module"
        )
    try:
        _check_owned(module, path)
        with tokenize.open(path) as file:
            return Source(module, file.read())
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise InputError(
            f"module {module!r}: {path} is not readable Python text ({error})"
        ) from None


def _installed(module: str) -> Path | None:
    """Find the file that an import would run; this imports parent packages."""
    spec: ModuleSpec | None = None
    for above in accumulate(module.split("."), "{}.{}".format):
        try:
            spec = importlib.util.find_spec(above)
        except (ImportError, AttributeError, ValueError):
            return None
        if spec is not None and spec.has_location and spec.origin is not None:
            _check_owned(above, Path(spec.origin))
    origin = spec.origin if spec is not None and spec.has_location else None
    return None if origin is None else Path(origin)


def _check_owned(module: str, path: Path) -> None:
    """Refuse a module's file that other users could have written."""
    place = path.resolve()
    # Write access to these folders also permits replacing this program or its interpreter.
    installed = (sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    for folder in (*map(Path, installed), Path(__file__).parents[1]):
        if place.is_relative_to(folder.resolve()):
            return
    if (open_to_others := exposed(place)) is not None:
        raise InputError(
            f"module {module!r}: {path} is not safe to run, because {remedy(open_to_others)}"
        ) from PermissionError(str(path))


@contextmanager
def sources(given: Mapping[str, str]) -> Iterator[None]:
    """Let `load` take modules from given texts, in this thread and within this context.

    In nested contexts the inner names have precedence. A new thread begins without texts.

    Examples
    --------
    >>> with sources({"mine": "limit = 3"}), sources({"yours": "limit = 5"}):
    ...     load("mine:limit"), load("yours:limit")
    (3, 5)
    """
    here = {name: Source(name, text) for name, text in given.items()}
    token = _given.set({**(_given.get() or {}), **here})
    try:
        yield
    finally:
        _given.reset(token)


@contextmanager
def distrust(who: str) -> Iterator[None]:
    """Refuse every ``module:name`` in this thread and context; `who` is named in messages.

    Examples
    --------
    >>> with distrust("farm plan"):
    ...     brought("order", ORDERS, "mine:oldest")
    Traceback (most recent call last):
    schedfarm.core.errors.InputError: order 'mine:oldest' is Python code, which farm plan runs only
    with \
--trust
    """
    token = _distrusting.set(who)
    try:
        yield
    finally:
        _distrusting.reset(token)


def load(name: str) -> object:
    """Return the object of ``module:name``, from the texts of `sources` or by an import.

    A text is executed once per process, as a module with a unique name. So two texts with the same
    name are never confused, and no installed module is hidden.

    Examples
    --------
    >>> load("schedfarm.core.own:load") is load
    True
    >>> load("schedfarm.core.own:lod")
    Traceback (most recent call last):
    schedfarm.core.own.NotLoaded: 'schedfarm.core.own:lod' cannot be imported (module ...'lod')
    """
    module, _, attribute = name.partition(":")
    source = (_given.get() or {}).get(module)
    try:
        if source is None and module not in sys.modules:
            _installed(module)
        found = importlib.import_module(module) if source is None else _run(source)
    except Exception as error:  # A plug-in module may raise any error.
        raise NotLoaded(f"{name!r} cannot be imported ({_says(error)})") from error
    try:
        return reduce(getattr, attribute.split("."), found)
    except AttributeError:
        raise NotLoaded(
            f"{name!r} cannot be imported (module {module!r} has no {attribute!r})"
        ) from None


def modules_of(names: Iterable[str]) -> list[str]:
    """Return the modules in names of policies and metrics, existing or not.

    Examples
    --------
    >>> modules_of(["mine:widest+easy,backfill=yours.orders:oldest", "saf+easy", "mine:p95_wait"])
    ['mine', 'yours.orders']
    """
    parts = (part for name in names for part in parts_of_name(name))
    return list(dict.fromkeys(found[1] for part in parts if (found := _REFERENCE.fullmatch(part))))


def parts_of_name(name: str) -> list[str]:
    """Return the possible names of plug-ins in a policy's name; an expression is one part.

    Examples
    --------
    >>> parts_of_name("(procs + now)+easy,backfill=mine:widest")
    ['(procs + now)', 'easy', 'backfill', 'mine:widest']
    """
    return split_outside(name, "+,= \t\n")


def source_digest(names: Iterable[str]) -> str:
    """Return a digest of the modules of all plug-ins in policies' names; empty without plug-ins.

    Examples
    --------
    >>> with sources({"mine": "limit = 3"}):
    ...     source_digest(["mine:limit+easy"]), source_digest(["saf+easy"])
    ('a79ce4eabd8f4bde', '')
    """
    names = list(names)
    parts = (part for name in names for part in parts_of_name(name))
    entered = [entry_point(group, part) for part in parts for group in (ORDERS, RULES)]
    known = _given.get() or {}
    lines = [
        f"{module} {(known.get(module) or find_source(module)).sha256}"
        for module in sorted(modules_of([*names, *filter(None, entered)]))
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else ""


def brought(what: str, group: str, name: str) -> object | None:
    """Return the plug-in for a ``module:name`` or an entry point; None if there is none.

    Examples
    --------
    >>> brought("order", ORDERS, "schedfarm.core.own:ORDERS")
    'schedfarm.orders'
    >>> brought("order", ORDERS, "none of this name") is None
    True
    """
    reference = name if ":" in name else entry_point(group, name)
    if reference is None:
        return None
    if ":" in name and (who := _distrusting.get()):
        raise InputError(f"{what} {name!r} is Python code, which {who} runs only with --trust")
    try:
        return load(reference)
    except NotLoaded as error:
        raise NotLoaded(f"{what} {error}") from error.__cause__


def guarded(what: str, function: Callable[..., T]) -> Callable[..., T]:
    """Return a plug-in's function, which raises `RaisedError` for all errors but `InputError`.

    Examples
    --------
    >>> guarded("rule 'mine:late'", [].pop)()
    Traceback (most recent call last):
    schedfarm.core.own.RaisedError: rule 'mine:late' raised IndexError: pop from empty list
    """

    def call(*given: Any, **named: Any) -> T:
        try:
            return function(*given, **named)
        except InputError:
            raise
        except Exception as error:
            raise RaisedError.of(what, error) from error

    return call


def entry_point(group: str, name: str) -> str | None:
    """Return the ``module:name`` of an entry point of an installed package, or None.

    Examples
    --------
    >>> entry_point("schedfarm.orders", "none of this name") is None
    True
    """
    return _entered(tuple(sys.path)).get((group, name))


def entered(group: str) -> tuple[str, ...]:
    """Return the names of the entry points in a group.

    Examples
    --------
    >>> entered("schedfarm.orders")
    ()
    """
    return tuple(sorted(name for of, name in _entered(tuple(sys.path)) if of == group))


@lru_cache(maxsize=1)
def _entered(path: tuple[str, ...]) -> dict[tuple[str, str], str]:
    """Read the entry points of the packages on a path, only once: this takes milliseconds."""
    return {
        (group, entry.name): f"{entry.module}:{entry.attr}"
        for group in (ORDERS, RULES, METRICS)
        for entry in entry_points(group=group)
    }


class _Text(SourceLoader):
    """Load a module for Python's import system from a text without a file."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def get_filename(self, fullname: str) -> str:
        # The name has no angle brackets, which mark code without source, so that tracebacks read
        # lines from the loader.
        return f"{self._source.module}.py@{self._source.sha256[:16]}"

    def get_data(self, path: str | bytes) -> bytes:
        return self._source.text.encode()


def _run(source: Source) -> ModuleType:
    with _compiling:
        if source in _compiled:
            return _compiled[source]
        name = f"{source.module}@{source.sha256[:16]}"
        spec = spec_from_loader(name, _Text(source))
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        # Dataclasses look up their own module by its name.
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        _compiled[source] = module
        return module


def _says(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    plain = isinstance(error, (ImportError, InputError))
    return str(error) if plain else f"{type(error).__name__}: {error}"
