"""The decorators of every kernel and its steps, and the sentinels that kernels share."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

NEVER = 2**63 - 1
"""An instant that does not come, s."""

F = TypeVar("F", bound=Callable[..., object])


def _sources() -> str:
    text = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text.update(path.read_bytes())
    return text.hexdigest()


_SOURCES = _sources()


def kernel(function: F) -> F:
    """Compile a function of int64 scalars and arrays, cached on disk where a folder allows it.

    `nogil` lets threads of one worker run side by side. Never `fastmath`: it may flip ties.
    A host without a writable cache folder compiles anew in each process instead of failing.
    Call a kernel with one combination of types only: workers that start together and cache two
    combinations of one kernel may take each other's file.
    """
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:
        return cast(F, numba.njit(nogil=True)(function))
    _watch_sources(compiled)
    return cast(F, compiled)


def verb(function: F) -> F:
    """Compile a step of a kernel into the kernels that call it; it may not make arrays.

    Without inlining and with reference counts for the arrays that it is handed, a call costs
    more than the step: EASY on the KTH log ran at 2.3 M jobs/s instead of 10 M.
    """
    return cast(F, numba.njit(nogil=True, forceinline=True, _nrt=False)(function))


def routine(function: F) -> F:
    """Compile a long step, which kernels call and do not take in; it may not make arrays.

    A kernel counts references to every array of a tuple that it is handed, at each call: the
    copies for fair starts, called once a job with some 50 arrays, took 1.3 times as long.
    """
    return cast(F, numba.njit(nogil=True, _nrt=False)(function))


def _watch_sources(compiled: Any) -> None:
    # A kernel's cache looks at its own file only, and would keep an old step of another file. As
    # part of the version, other sources leave an old index unread: reading it fails where a tuple
    # that a kernel once took has gone to another module.
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if file is not None:
        file._version = f"{file._version} {_SOURCES}"
