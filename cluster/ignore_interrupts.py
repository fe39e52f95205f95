"""Preloaded by local workers: a terminal's Ctrl-C is the coordinator's to act on, not theirs."""

from __future__ import annotations

import signal


def dask_setup(worker: object) -> None:
    """Ignore SIGINT, which a local worker blocks up to here; Dask calls this as a worker starts.

    Importing the module changes nothing: whoever collects or documents it keeps its Ctrl-C.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
