"""Dask preload of local workers that ignores Ctrl-C, which the coordinator handles."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Ignore SIGINT, which is blocked in a local worker before; Dask calls this at the start.

    An import does not change the handling of the signal, so that tools that import this module keep
    their Ctrl-C.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
