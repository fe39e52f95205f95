"""The one decorator of every kernel, and the sentinels that kernels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

NEVER = 2**63 - 1
"""An instant that does not come, s."""

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function of int64 scalars and arrays, cached on disk where a folder allows it.

    `nogil` lets threads of one worker run side by side. Never `fastmath`: it may flip ties.
    A host without a writable cache folder compiles anew in each process instead of failing.
    """
    try:
        return cast(F, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast(F, numba.njit(nogil=True)(function))
