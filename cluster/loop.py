"""Dask's event loop, started once, with more patience than Dask's, before anything needs it."""

from __future__ import annotations

from schedfarm.cluster.errors import ClusterError

ATTEMPTS = 6
"""How often a loop is started; Dask waits 10 s for each, and then raises an AssertionError."""


def check_loop() -> None:
    """Start and stop Dask's event loop, whose first start reads its modules from the disk.

    On a disk that others kept busy this took longer than Dask waits, in 2 of 3 runs of the tests.

    Raises
    ------
    ClusterError
        If it does not start in a minute.
    """
    from distributed.utils import LoopRunner

    for _ in range(ATTEMPTS):
        runner = LoopRunner(asynchronous=False)
        try:
            runner.start()
        except AssertionError:
            continue
        runner.stop()
        return
    raise ClusterError(
        f"Dask's event loop did not start in {10 * ATTEMPTS} s; the machine is overloaded, so try "
        "again when it is less busy"
    )
