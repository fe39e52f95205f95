"""Dask preload of local workers that ignores Ctrl-C, which the coordinator handles."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Ignore SIGINT, which is blocked in a local worker until now; Dask calls this at the start.

    The signal is not changed on import, so that tools which import the module keep their Ctrl-C.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
