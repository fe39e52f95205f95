"""Disk cache of compiled kernels, with checks of its owner and a limit on its size.

A process unpickles and executes the files, so the folder must belong to the process's user. The
name of a kernel's folder is a digest of the kernel's sources and of the compiler. So several
versions of the program coexist, and none reads the files of another. The files are not next to the
sources: in an installation they outlived `pip uninstall`, and the remaining folder hid the next
checkout.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.runtime import rtsys

from schedfarm.core.caches import exposed, make_private, remedy, user_folder
from schedfarm.core.engine.bounds import CHECKED
from schedfarm.core.engine.sources import digest, digest_of_variants

LIMIT_BYTES = 256 * 2**20
"""Size above which the least recently used kernels are removed; one version takes 40 MB."""

PATIENCE = 300.0
"""Maximum wait for a kernel that another process compiles, s; the longest compilation takes 30."""

LOOK_SECONDS = 0.05

STAMP = "by folder"
"""Constant stamp of all indices, because the name of their folder identifies the sources."""

_used: set[Path] = set()


def folder() -> Path | None:
    """Return the folder of all compiled kernels; None if it is unusable.

    The folder is `schedfarm` in the folder NUMBA_CACHE_DIR, or by default `kernels` in the user's
    cache folder. A missing folder is made. A read-only folder, as in an image, is usable.

    Warns
    -----
    RuntimeWarning
        If other users could have written files in the folder.

    Examples
    --------
    >>> place = folder()
    >>> place is None or place.is_dir()
    True
    """
    own = user_folder()
    if config.CACHE_DIR:
        return _usable(Path(config.CACHE_DIR, "schedfarm"))
    return None if own is None else _usable(own / "kernels")


def used() -> set[Path]:
    """Return the folders of the kernels that this process has loaded or compiled."""
    return {place for place in _used if place.is_dir()}


def is_writable(place: Path) -> bool:
    """Return whether a folder is writable."""
    try:
        with tempfile.TemporaryFile(dir=place):
            return True
    except OSError:
        return False


@cache
def _usable(place: Path) -> Path | None:
    try:
        make_private(place)
        open_to_others = exposed(place)
    except OSError:
        return None
    if open_to_others is None:
        return place
    warnings.warn(
        f"compiled kernels are neither kept in {place} nor read from it, because "
        f"{remedy(open_to_others)}, or let NUMBA_CACHE_DIR name a folder of your own",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _version(source: Path, variants: str = "") -> str:
    """Return a digest of a kernel's sources, of `variants`, and of the compiler."""
    parts = (digest(source), sys.version, numba.__version__, llvmlite.__version__)
    text = "\n".join((*parts, variants) if variants else parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _kinds(signature: Any) -> Iterator[type]:
    """Yield the classes of the named tuples in a signature, inner ones included."""
    for one in getattr(signature, "args", signature):
        if isinstance(one, types.BaseTuple):  # type: ignore[attr-defined]
            yield from _kinds(one.types)
        if isinstance(one, types.BaseNamedTuple):  # type: ignore[attr-defined]
            yield one.instance_class


class _Locator(UserProvidedCacheLocator):  # type: ignore[misc]
    """Locate the folder of a kernel, as a locator of numba."""

    def __init__(self, function: Any, place: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._lineno = function.__code__.co_firstlineno
        self._cache_path = str(place)

    def ensure_cache_path(self) -> None:
        make_private(Path(self._cache_path))

    def get_source_stamp(self) -> str:
        return STAMP


class _Serialised(CompileResultCacheImpl):  # type: ignore[misc]
    """Serialise and name a kernel, with the locator of this cache."""

    def __init__(self, function: Any, locator: _Locator) -> None:
        self._lineno, self._locator = locator._lineno, locator
        name = f"{Path(locator._py_file).stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, sys.abiflags)


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Cache one kernel on disk; only one process at a time compiles it.

    Parameters
    ----------
    function : callable
        The kernel in Python.
    root : Path
        The folder of all compiled kernels.
    """

    def __init__(self, function: Any, root: Path) -> None:
        # Sources are read now, just after the import of the steps. Later, the files may be those of
        # a newer version.
        self._root, self._source = root, Path(function.__code__.co_filename)
        self._place = root / _version(self._source)
        self._impl_class = lambda given: _Serialised(given, _Locator(given, self._place))
        super().__init__(function)
        self._handle: int | None = None

    def _turn_to(self, signature: Any) -> None:
        """Use the folder for this combination of types; the caller holds numba's compiler lock."""
        variants = digest_of_variants(self._source, _kinds(signature))
        place = self._root / _version(self._source, variants)
        _used.add(place)
        if place != self._place:
            self._place = place
            super().__init__(self._py_func)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return a cached kernel, after waiting for another process that compiles it."""
        self._turn_to(signature)
        found = self._find(signature, context)
        if found is None and self._take():
            found = self._find(signature, context)
            if found is not None:
                self._leave()
        return found

    def save_overload(self, signature: Any, data: Any) -> None:
        """Store a kernel if the folder is writable; remove older kernels above the size limit."""
        with contextlib.suppress(OSError):
            super().save_overload(signature, data)
            prune(self._root, LIMIT_BYTES, self._place)

    def in_turn(self, compiling: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a function that compiles and then releases the lock."""

        def compiled(signature: Any) -> Any:
            try:
                return compiling(signature)
            finally:
                self._leave()

        return compiled

    def _find(self, signature: Any, context: Any) -> Any:
        """Load a kernel from the disk without importing all modules of numba first.

        A kernel's code is self-contained, except for the conversion of arrays. So a later process
        on KTH takes 1.2 s of CPU instead of 1.7.
        """
        rtsys.initialize(context)
        found = self._load_overload(signature, context)
        if found is not None:
            with contextlib.suppress(OSError):
                os.utime(self._place)
        return found

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        # An index has separate keys for code with and without checks of bounds.
        return (*super()._index_key(signature, codegen), CHECKED)

    def _take(self) -> bool:
        """Wait for the lock; return whether it was acquired."""
        if self._handle is not None:
            return False
        self._handle = lock(self._place, self._cache_file._index_name)
        return self._handle is not None

    def _leave(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def lock(place: Path, index: str) -> int | None:
    """Wait for the lock of an index of kernels; return its handle, to close.

    Return None if the wait is too long, or if the file system is read-only or has no locks.

    Parameters
    ----------
    place : Path
        The folder of the index, made if it is missing.
    index : str
        The name of the index.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     os.close(lock(Path(place), "one.nbi"))
    ...     os.listdir(place)
    ['one.nbi.lock']
    """
    try:
        make_private(place)
        handle = os.open(place / f"{index}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOOK_SECONDS)
        except OSError:
            break
        else:
            return handle
    os.close(handle)
    return None


def prune(root: Path, limit: int, kept: Path) -> None:
    """Remove the least recently used folders of kernels until the others fit a size.

    Parameters
    ----------
    root : Path
        The folder of all compiled kernels.
    limit : int
        Maximum total size of the folders, bytes.
    kept : Path
        A folder that is kept in any case.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     for name, used in (("old", 1), ("new", 2)):
    ...         Path(place, name).mkdir()
    ...         size = Path(place, name, "code").write_bytes(bytes(60))
    ...         os.utime(Path(place, name), (used, used))
    ...     prune(Path(place), 100, Path(place, "new"))
    ...     os.listdir(place)
    ['new']
    """
    sizes = {one: _size(one) for one in root.iterdir() if one.is_dir()}
    total = sum(size for size, _ in sizes.values())
    for one, (size, _) in sorted(sizes.items(), key=lambda item: item[1][1]):
        if total > limit and one != kept:
            shutil.rmtree(one, ignore_errors=True)
            total -= size


def _size(place: Path) -> tuple[int, int]:
    """Return the size of a folder, bytes, and its last use; a process may remove it meanwhile."""
    try:
        return sum(one.stat().st_size for one in os.scandir(place)), place.stat().st_mtime_ns
    except OSError:
        return 0, 0
