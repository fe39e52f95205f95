"""The time that is left to this worker, where a batch system will end its job."""

from __future__ import annotations

import math
import os
import time
from functools import partial

ENDS = "SCHEDFARM_WORKER_ENDS"
"""Environment variable that says when this process begins nothing more, s since 1970: its launcher
knows the walltime of its job."""

TELL_SECONDS = 0.2
"""Time that the answer to a task takes to leave this process, s."""


def left() -> float:
    """Return how long this process goes on beginning blocks, s; infinite where nothing ends it.

    Examples
    --------
    >>> left()
    inf
    """
    try:
        return float(os.environ[ENDS]) - time.time()
    except (KeyError, ValueError):
        return math.inf


def retire() -> bool:
    """Have this worker leave its cluster in peace: its job ends early, and another comes for it.

    Returns
    -------
    bool
        Whether it does. A run in its own process has no other that would go on for it.
    """
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return False
    # What it has done of its task is told first.
    close = partial(worker.close_gracefully, reason="its job ends soon")
    worker.loop.add_callback(worker.loop.call_later, TELL_SECONDS, close)
    return True
