"""Hear of it when kernels are compiled, which takes seconds the first time and none later."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def compiling(say: Callable[[], None]) -> Iterator[None]:
    """Call a function once, if a kernel is compiled as long as this lasts.

    What is on the disk from an earlier run is no compilation; without the JIT there is none.

    Parameters
    ----------
    say : callable
        Without arguments.

    Examples
    --------
    >>> with compiling(lambda: print("a moment")):
    ...     pass
    """
    from numba.core import event

    class Once(event.Listener):  # type: ignore[misc]
        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                self.said = True
                say()

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Once()):
        yield
