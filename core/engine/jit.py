"""The decorators of kernels and steps, and the common sentinels of kernels."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numba

from schedfarm.core.engine.sources import register
from schedfarm.core.engine.toolchain import PLAIN

if PLAIN:
    from schedfarm.core.engine import plain
else:
    from schedfarm.core.engine.bounds import CHECKED
    from schedfarm.core.engine.cache import KernelCache, folder
    from schedfarm.core.engine.compiler import (
        GenericStep,
        KernelCompiler,
        RolledKernelCompiler,
        Step,
    )

NEVER = 2**63 - 1
"""Instant of events that never occur, s."""

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: F) -> F:
    """Compile a function of int64 scalars and arrays; cache it on disk in a writable folder.

    `nogil` lets threads of one worker run in parallel. `fastmath` is never used, because it may
    break ties differently. On a host without a writable cache folder, each process compiles the
    kernel again. If several processes need a kernel at the same time, one compiles it, and the
    others wait. A kernel allocates no arrays, and writes its results to its arguments. For each
    combination of types of generic steps, call a kernel with only one combination of types of all
    arguments: workers that start together and cache two combinations may overwrite each other's
    file. Debug information is never generated, because the cache does not distinguish code with and
    without it.
    """
    return _kernel(function) if PLAIN else _kernel(function, KernelCompiler)


def rolled_kernel(function: F) -> F:
    """Compile a kernel without unrolling its loops; all else is as in `kernel`.

    The loops of a pass are short. Without unrolling, the compilation of four policies took 0.83
    times the CPU time.
    """
    return _kernel(function) if PLAIN else _kernel(function, RolledKernelCompiler)


def _kernel(function: F, compiler: type | None = None) -> F:
    if compiler is None:
        return plain.kernel(function)
    options = {
        "nogil": True,
        "_nrt": False,
        "no_cfunc_wrapper": True,
        "debug": False,
        "pipeline_class": compiler,
    }
    compiled: Any = numba.njit(**options)(function)
    # Source code without a file has no digest, and a cell of a notebook may change it.
    kept = not numba.config.DISABLE_JIT and os.path.isfile(function.__code__.co_filename)
    if kept and (root := folder()) is not None:
        compiled._cache = KernelCache(function, root)
        compiled.compile = compiled._cache.in_turn(compiled.compile)
    return cast(F, compiled)


def verb(function: F) -> F:
    """Compile a step into the kernels that call it; a step allocates no arrays.

    Without inlining and with reference counts for its array arguments, a call costs more than the
    step: EASY on the KTH log ran at 2.3 M jobs/s instead of 10 M. In builds that check bounds, LLVM
    decides on inlining: with forced inlining, the compilation of `fcfs+conservative` was unfinished
    after 116 s, instead of taking 10.
    """
    return _step(function, forceinline=True)


def routine(function: F) -> F:
    """Compile a long step, which kernels call without inlining; a step allocates no arrays.

    A call to a kernel would count references to every array of a tuple argument. The clones for
    fair starts, called once per job with some 50 arrays, then took 1.3 times as long.
    """
    return _step(function)


class generic(Generic[P, R]):  # noqa: N801  A decorator.
    """Declare a step whose implementation is chosen by the type of its first argument.

    The decorated function is the declaration and has no body; ``@NAME.of(KIND)`` adds the verb for
    a type of named tuples. Generic steps separate the machines from the passes. In a
    prototype, generic steps gave the same bits at the same speed as separate passes, and the disk
    cache found the kernels. In contrast, a kernel that takes another kernel as an argument would be
    compiled in every process.
    """

    def __new__(cls, function: Callable[P, R]) -> generic[P, R]:
        """Return the function that compiled code calls, unless the JIT is off."""
        if numba.config.DISABLE_JIT:
            return super().__new__(cls)
        if PLAIN:
            declared = super().__new__(cls)
            plain.choose(declared)
            return declared
        return cast("generic[P, R]", _GenericStep(function))

    def __init__(self, function: Callable[P, R]) -> None:
        self.declared = Path(function.__code__.co_filename)
        self.variants: dict[type, Callable[..., R]] = {}
        self.default: Callable[..., R] | None = None

    def of(self, kind: type) -> Callable[[Callable[..., R]], Callable[..., R]]:
        """Add the implementation for a type of first argument."""

        def add(function: Callable[..., R]) -> Callable[..., R]:
            register(kind, self.declared, Path(function.__code__.co_filename))
            found = verb(function)
            self.variants[kind] = found
            return found

        return add

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the implementation for the type of the first argument."""
        kind = type(args[0])
        found = self.variants.get(kind, self.default)
        if found is None:
            raise KeyError(
                f"a step of {self.declared.name} has no implementation for {kind.__name__}"
            )
        return found(*args, **kwargs)


def optional(function: Callable[P, R]) -> generic[P, R]:
    """Declare a generic step whose body serves all types without an implementation."""
    declared = generic(function)
    declared.default = verb(function)
    return declared


if not PLAIN:

    class _GenericStep(GenericStep):
        """Hold a compiled generic step."""

        of = generic.of


def _step(function: F, *, forceinline: bool = False) -> F:
    if numba.config.DISABLE_JIT:
        return function
    if PLAIN:
        return plain.step(function)
    return cast(F, Step(function, forceinline=forceinline and not CHECKED))
