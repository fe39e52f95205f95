"""Opening of a cluster: settings of the run, process limits, Dask's event loop and loggers."""

from __future__ import annotations

import logging
import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from schedfarm.cluster.errors import ClusterError

ATTEMPTS = 6
"""Number of attempts to start Dask's event loop. Dask waits 10 s in each attempt, and then raises
an AssertionError."""


def _silent(text: str) -> None:
    """Ignore a message."""


@dataclass(frozen=True)
class Opening:
    """Hold the settings of a run that opens a cluster.

    Parameters
    ----------
    watched : bool
        Whether Dask's dashboard or report is used.
    folder : Path
        Folder for the output of jobs; created if missing.
    title : str
        Name of the jobs in their batch system.
    say : callable
        Receives messages about jobs.
    note : callable
        Receives the id of each submitted job.
    imports : tuple of str
        Names of modules that are imported once for all workers of a local cluster. Each worker
        imports other modules itself.
    """

    watched: bool = False
    folder: Path = Path("farm.jobs")
    title: str = "farm"
    say: Callable[[str], None] = _silent
    note: Callable[[str], None] = _silent
    imports: tuple[str, ...] = ()


def lift_file_limit() -> None:
    """Raise the limit on open files of this process and its children to the maximum.

    A scheduler needs two or three files per worker. With the usual limit of 1,024, the scheduler
    rejects the 500th worker.

    Examples
    --------
    >>> lift_file_limit()
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems report an unlimited maximum but do not grant it.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def check_loop() -> None:
    """Start and stop Dask's event loop, because the first start loads modules from the disk.

    On a busy disk, the first start took longer than Dask waits in 2 of 3 runs of the tests.
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


@contextmanager
def quiet(names: Iterable[str]) -> Iterator[None]:
    """Silence loggers inside this context.

    Examples
    --------
    >>> with quiet(["asyncio"]):
    ...     logging.getLogger("asyncio").error("Task was destroyed but it is pending!")
    """
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
