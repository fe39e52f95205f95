"""The decorators of every kernel and its steps, and the sentinels that kernels share."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.runtime import rtsys

from core.kernels.bounds import CHECKED
from core.kernels.compiler import KernelCompiler, Step
from core.kernels.sources import digest

NEVER = 2**63 - 1
"""An instant that does not come, s."""

PATIENCE = 300.0
"""Time for which a process waits for another that compiles a kernel, s: the longest takes 30."""

LOOK_SECONDS = 0.05

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function of int64 scalars and arrays, cached on disk where a folder allows it.

    `nogil` lets threads of one worker run side by side. Never `fastmath`: it may flip ties.
    A host without a writable cache folder compiles anew in each process instead of failing. Of
    processes that need a kernel at the same time one compiles it, and the others wait for that.
    It makes no arrays: it is handed those that it writes on.
    Call a kernel with one combination of types only: workers that start together and cache two
    combinations of one kernel may take each other's file.
    """
    options = {
        "nogil": True,
        "_nrt": False,
        "no_cfunc_wrapper": True,
        "pipeline_class": KernelCompiler,
    }
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        return cast(F, numba.njit(**options)(function))
    _compile_in_turn(compiled)
    return cast(F, compiled)


def verb(function: F) -> F:
    """Compile a step of a kernel into the kernels that call it; it makes no arrays either.

    Without inlining and with reference counts for the arrays that it is handed, a call costs
    more than the step: EASY on the KTH log ran at 2.3 M jobs/s instead of 10 M. Where bounds are
    checked, LLVM decides: forced, `fcfs+conservative` had not compiled after 116 s instead of 10.
    """
    return _step(function, forceinline=not CHECKED)


def routine(function: F) -> F:
    """Compile a long step, which kernels call and do not take in; it makes no arrays either.

    A kernel counts references to every array of a tuple that it is handed, at each call: the
    copies for fair starts, called once a job with some 50 arrays, took 1.3 times as long.
    """
    return _step(function)


def _step(function: F, **options: bool) -> F:
    return function if numba.config.DISABLE_JIT else cast(F, Step(function, **options))


def _compile_in_turn(compiled: Any) -> None:
    cache: Any = getattr(compiled, "_cache", None)
    if getattr(cache, "_cache_file", None) is not None:
        turn = _Turn(compiled, cache, Path(compiled.py_func.__code__.co_filename))
        cache.load_overload, compiled.compile = turn.load, turn.compile


class _Turn:
    """Let one process at a time compile a kernel; the others find what it has put on the disk."""

    def __init__(self, compiled: Any, cache: Any, source: Path) -> None:
        self._compile, self._cache = compiled.compile, cache
        file = cache._cache_file
        self._path = Path(cache.cache_path, f"{file._index_name}.lock")
        # The cache looks at the kernel's own file only, and would keep an old step of another one.
        # As part of the version, other sources leave an old index unread: reading it fails where a
        # tuple that a kernel once took has gone to another module. They are read now, when the
        # steps have just been imported: later they may be those of a newer version.
        file._version = f"{file._version} {digest(source)}"
        # One index holds the code that checks bounds and the code that does not.
        key = cache._index_key
        cache._index_key = lambda signature, codegen: (*key(signature, codegen), CHECKED)
        self._handle: int | None = None

    def load(self, signature: Any, context: Any) -> Any:
        """Return what is on the disk, perhaps after another process has put it there."""
        found = self._find(signature, context)
        if found is None and self._take():
            found = self._find(signature, context)
            if found is not None:
                self._leave()
        return found

    def _find(self, signature: Any, context: Any) -> Any:
        """Return what is on the disk; numba would read all of its modules first.

        What a kernel needs of them is in its code, but for what hands it arrays. To do without is
        why later processes take 1.2 s of CPU on KTH, and took 1.7.
        """
        rtsys.initialize(context)
        with self._cache._guard_against_spurious_io_errors():
            return self._cache._load_overload(signature, context)

    def compile(self, signature: Any) -> Any:
        """Compile what is not on the disk and put it there; whoever fails leaves the turn too."""
        try:
            return self._compile(signature)
        finally:
            self._leave()

    def _take(self) -> bool:
        """Wait for the turn; return whether it was had, which a disk may not know of."""
        if self._handle is not None:
            return False
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError:
            return False
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(LOOK_SECONDS)
            except OSError:
                break
            else:
                self._handle = handle
                return True
        os.close(handle)
        return False

    def _leave(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
