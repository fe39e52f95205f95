"""Dask's settings for the clusters that schedfarm starts, and why they are not Dask's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORKERS: Mapping[str, Any] = {
    # Results are a few hundred bytes a task: memory is the simulations', which Dask cannot spill.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
}

SCHEDULER: Mapping[str, Any] = {
    "distributed.scheduler.worker-saturation": 1.0,
    # A death is charged to every task that the worker held. A task charged a third time runs
    # again cell by cell in processes of their own, where only the guilty cell fails: few deaths
    # are enough to find it, and an innocent task loses nothing but time.
    "distributed.scheduler.allowed-failures": 2,
}

JOBS: Mapping[str, Any] = {
    **SCHEDULER,
    # Jobs die of walltimes, preemption and nodes, whatever their tasks do: a task that was there
    # by chance is not to be suspected for it. A guilty cell costs so many restarts of a process.
    "distributed.scheduler.allowed-failures": 10,
}

UNWATCHED: Mapping[str, Any] = {
    # What Dask samples for its dashboard and report alone. CPU time of two idle workers, their
    # nannies and the scheduler over 20 s, mean of three, ms a second: 95 by default, 69 without
    # the profiler, 19 with fewer ticks as well, 12 with all three. A busy run hides the difference.
    "distributed.worker.profile.enabled": False,
    # A loop is reported that is late by 3 s, this interval included.
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}

CLOSE_HTTP = "schedfarm.cluster.close_http"
"""Preloaded where nobody watches."""

HEAP: Mapping[str, int] = {
    # What glibc comes to by itself where it is told nothing, and no longer once it is told one of
    # the two: arrays from 128 KiB on are then mapped anew each time. Page faults of 450,000 jobs of
    # KTH-SP2 under EASY: 65,000 where nothing is said, 376,000 with Dask's own threshold of 64 KiB,
    # 304,000 with this one alone, 45,000 with both.
    "MALLOC_TRIM_THRESHOLD_": 64 * 2**20,
    "MALLOC_MMAP_THRESHOLD_": 32 * 2**20,
}
"""Environment variables of a job's processes: freed memory that they keep, and from which size on a
piece of memory is given back at once, bytes."""

UNTOLD: Mapping[str, Any] = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
"""Has glibc come to the same by itself, where Dask's settings reach the nanny of a worker."""


def unset(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of which the user's own configuration of Dask says nothing."""
    import dask

    own = dask.config.collect(dask.config.paths)
    return {
        key: value
        for key, value in settings.items()
        if dask.config.get(key, default=None, config=own) is None
    }


def exports(settings: Mapping[str, Any]) -> list[str]:
    """Return the lines of a shell script that hand settings on to the Dask that it starts.

    Examples
    --------
    >>> exports({"distributed.worker.memory.spill": False})
    ['export DASK_DISTRIBUTED__WORKER__MEMORY__SPILL=False']
    """
    return [
        f"export DASK_{key.upper().replace('.', '__').replace('-', '_')}={value}"
        for key, value in settings.items()
    ]
