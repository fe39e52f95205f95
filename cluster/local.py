"""A cluster on this machine's loopback interface: one process per core with one thread each."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

from schedfarm.cluster import fork_server
from schedfarm.cluster.errors import ClusterError
from schedfarm.cluster.opening import Opening
from schedfarm.cluster.settings import CLOSE_HTTP, SCHEDULER, UNTOLD, UNWATCHED, WORKERS
from schedfarm.cluster.spec import ClusterSpec

LOOPBACK = "127.0.0.1"

REPLACE_SECONDS = 5.0
"""Interval between two checks for workers to replace, s."""

SETTINGS: dict[str, Any] = {
    **WORKERS,
    **SCHEDULER,
    # A terminal's Ctrl-C reaches the whole process group. If it killed a worker, the block that the
    # run is about to finish would be lost.
    "distributed.worker.preload": ["schedfarm.cluster.ignore_interrupts"],
    **UNTOLD,
    **fork_server.METHOD,
    # Dead workers are detected by their connections and nannies. Heartbeats may be late by any
    # time: during a plug-in order in plain Python, or if the machine was suspended for a night.
    "distributed.scheduler.worker-ttl": None,
}

QUIET: dict[str, Any] = {
    **UNWATCHED,
    "distributed.scheduler.preload": [CLOSE_HTTP],
    "distributed.worker.preload": [*SETTINGS["distributed.worker.preload"], CLOSE_HTTP],
}


@contextmanager
def opened(spec: ClusterSpec, opening: Opening) -> Iterator[Client]:
    """Start the local cluster of a spec, as `local_cluster` does."""
    with local_cluster(spec.workers, opening.imports, watched=opening.watched) as client:
        yield client


@contextmanager
def local_cluster(
    workers: int | None = None, imports: Sequence[str] = (), *, watched: bool = False
) -> Iterator[Client]:
    """Start worker processes on this machine, and yield a client."""
    import dask
    from distributed import Client, LocalCluster
    from distributed.security import Security

    count = workers or len(os.sched_getaffinity(0))
    stack = ExitStack()
    with dask.config.set(SETTINGS if watched else {**SETTINGS, **QUIET}):
        try:
            with _interrupts_held(), _started():
                fork_server.start(imports)
                local = LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    host=LOOPBACK,
                    protocol="tls://",
                    security=Security.temporary(),
                    # None would mean port 8787, with a warning if another cluster uses that port.
                    dashboard_address=f"{LOOPBACK}:0",
                    # Otherwise the scheduler imports bokeh, if it is installed, which takes half a
                    # second.
                    scheduler_kwargs={"dashboard": watched},
                    memory_limit=0,
                    env=fork_server.worker_environment(),
                    # A worker that is stopped during a heartbeat would log a traceback.
                    silence_logs=logging.CRITICAL,
                )
                client = stack.enter_context(Client(stack.enter_context(local)))
                stack.enter_context(_replaced(local, count))
            yield client
        finally:
            # After an interrupt, Dask's exit handlers would take 13 s to close the cluster instead
            # of half a second.
            with _interrupts_held():
                stack.close()


@contextmanager
def _replaced(local: LocalCluster, count: int) -> Iterator[None]:
    """Replace closed nannies within the context.

    A nanny closes if the replacement of a dead worker dies during its start, or takes longer than
    15 s, as on a busy machine. Without a new nanny, the run would wait forever.
    """
    from distributed import Status

    async def watch() -> None:
        while True:
            await asyncio.sleep(REPLACE_SECONDS)
            for name, nanny in [*local.workers.items()]:
                if nanny.status in (Status.closed, Status.failed):
                    del local.workers[name]
            local.scale(count)

    async def begin() -> asyncio.Task[None]:
        return asyncio.create_task(watch())

    async def end() -> None:
        watching.cancel()

    watching = local.sync(begin)
    try:
        yield
    finally:
        local.sync(end)


@contextmanager
def _started() -> Iterator[None]:
    """Report the death of a starting worker in one sentence; later, dead workers are replaced."""
    try:
        yield
    except RuntimeError as error:
        raise ClusterError(f"the local cluster did not start ({error}); run again") from None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Delay SIGINT to the end of the context; new threads and processes block SIGINT.

    Workers and their replacements inherit the mask, from their first instruction on.
    """
    came: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    # The mask applies only to this thread. Another thread may receive the signal, and Python then
    # passes it to the main thread.
    old = signal.signal(signal.SIGINT, lambda number, _: came.append(number)) if in_main else None
    # When Dask's event loop starts, it unblocks SIGINT in its thread, which also starts the
    # workers. An interrupt before this point has already been recorded.
    with fork_server.same_modules():
        resource_tracker.ensure_running()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if in_main:
            signal.signal(signal.SIGINT, old)
    if came:
        signal.raise_signal(signal.SIGINT)
