"""Kernels and steps compiled by numba's documented interface only; see `toolchain`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a kernel that releases the GIL."""
    return cast(F, numba.njit(nogil=True)(function))


def step(function: F) -> F:
    """Compile a step that kernels call."""
    return cast(F, numba.njit(function))


def choose(declared: Any) -> None:
    """Make a generic step callable from compiled code, by the type of the first argument."""
    # The import is here because it loads modules of numba that only this function needs.
    from numba.extending import overload

    def implementation(first: Any, *rest: Any) -> Any:
        found = declared.variants.get(getattr(first, "instance_class", None), declared.default)
        return None if found is None else found.py_func

    overload(declared, strict=False)(implementation)
