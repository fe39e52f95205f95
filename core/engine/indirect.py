"""Calls of compiled functions by address, so that kernels are not compiled for each function."""

from __future__ import annotations

from typing import Any

import numba

from schedfarm.core.engine.toolchain import PLAIN


def call_address(address: int, argument: int) -> int:
    """Call a compiled function from int64 to int64 by its address; only kernels can do so."""
    raise NotImplementedError


def _typed(*kinds: Any) -> Any:
    return numba.types.int64(*kinds) if len(kinds) == 2 else None


def _write(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Write an indirect call."""
    from llvmlite import ir

    word = ir.IntType(64)
    function = ir.FunctionType(word, [word]).as_pointer()
    return builder.call(builder.inttoptr(values[0], function), [values[1]])


if not numba.config.DISABLE_JIT and not PLAIN:
    from schedfarm.core.engine.contexts import lowered

    lowered(call_address, _typed, _write)
