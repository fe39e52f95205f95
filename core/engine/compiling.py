"""Notification of the compilation of kernels, which takes seconds at the first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

COMPILER = "schedfarm.core.engine.compiler"


@contextmanager
def compiling(say: Callable[[], None]) -> Iterator[None]:
    """Call a function once, if a kernel is compiled inside the context.

    A kernel that is loaded from the disk does not count. Without the JIT, no kernel is compiled.

    Parameters
    ----------
    say : callable
        Function without arguments.

    Examples
    --------
    >>> with compiling(lambda: print("a moment")):
    ...     pass
    """
    said = False

    def once() -> None:
        nonlocal said
        if not said:
            said = True
            say()

    with each_compiled(once):
        yield


@contextmanager
def each_compiled(say: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever the compilation of a kernel or of a step begins.

    Parameters
    ----------
    say : callable
        Function without arguments.

    Examples
    --------
    >>> with each_compiled(lambda: print("one more")):
    ...     pass
    """
    from numba.core import event

    class Each(event.Listener):  # type: ignore[misc]
        def on_start(self, event: object) -> None:
            say()

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Each()):
        yield


def is_compiling() -> bool:
    """Return whether a thread of this process is compiling a kernel.

    Examples
    --------
    >>> is_compiling()
    False
    """
    compiler = sys.modules.get(COMPILER)
    return compiler is not None and bool(compiler.at_work)
