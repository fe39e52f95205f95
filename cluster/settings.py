"""Dask's settings for the clusters that schedfarm starts, with the reasons for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORKERS: Mapping[str, Any] = {
    # Results have a few hundred bytes per task. Most memory belongs to simulations, which Dask
    # cannot spill.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
}

SCHEDULER: Mapping[str, Any] = {
    "distributed.scheduler.worker-saturation": 1.0,
    # A death counts against every task on the worker. After the third death, a task's cells run in
    # separate processes, where only the faulty cell fails. A low limit finds this cell quickly and
    # costs other tasks only time.
    "distributed.scheduler.allowed-failures": 2,
}

JOBS: Mapping[str, Any] = {
    **SCHEDULER,
    # Jobs die of walltimes, preemption and node failures, which do not depend on their tasks. A
    # higher limit leads to more restarts for a faulty cell.
    "distributed.scheduler.allowed-failures": 10,
}

UNWATCHED: Mapping[str, Any] = {
    # These samples are only for Dask's dashboard and report. CPU time of two idle workers, their
    # nannies and the scheduler over 20 s, mean of three, in ms per second: 95 by default, 69
    # without the profiler, 19 also with fewer ticks, 12 with all three settings. A busy run hides
    # the difference.
    "distributed.worker.profile.enabled": False,
    # Dask reports an event loop that is late by 3 s, this interval included.
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}

CLOSE_HTTP = "schedfarm.cluster.close_http"
"""Preload module for clusters without a dashboard."""

SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable with which Python does not search the current folder for modules."""

HEAP: Mapping[str, int] = {
    # By default glibc adapts both thresholds to similar values; if one threshold is set, glibc
    # adapts neither. Arrays of 128 KiB or more are then mapped again each time. Page faults for
    # 450,000 jobs of KTH-SP2 under EASY: 65,000 by default, 376,000 with Dask's trim threshold of
    # 64 KiB, 304,000 with only our trim threshold, 45,000 with both of ours.
    "MALLOC_TRIM_THRESHOLD_": 64 * 2**20,
    "MALLOC_MMAP_THRESHOLD_": 32 * 2**20,
}
"""Environment variables of a job's processes, bytes: freed memory that they keep, and the size of
arrays from which memory is mapped separately and returned at once."""

UNTOLD: Mapping[str, Any] = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}
"""Setting with which glibc adapts the thresholds, if Dask's settings reach the worker's nanny."""


def unset(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the user's own configuration of Dask lacks."""
    import dask

    own = dask.config.collect(dask.config.paths)
    return {
        key: value
        for key, value in settings.items()
        if dask.config.get(key, default=None, config=own) is None
    }


def exports(settings: Mapping[str, Any]) -> list[str]:
    """Return lines of a shell script that pass settings to Dask processes started by the script.

    Examples
    --------
    >>> exports({"distributed.worker.memory.spill": False})
    ['export DASK_DISTRIBUTED__WORKER__MEMORY__SPILL=False']
    """
    return [
        f"export DASK_{key.upper().replace('.', '__').replace('-', '_')}={value}"
        for key, value in settings.items()
    ]
