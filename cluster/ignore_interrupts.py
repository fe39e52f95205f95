"""Dask preload of local workers that ignores Ctrl-C, which the coordinator handles."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Ignore SIGINT; Dask calls this function at the start of a worker, with SIGINT still blocked.

    The import of this module does not change the handling of the signal: other tools may import the
    module and keep their Ctrl-C.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
